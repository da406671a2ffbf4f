/* What a reader of an export should know beside its numbers: warnings, and how many of them are
 * bounds or likely only. */
#include "export.h"

#include "cmd/show/columns.h"

#include <stdlib.h>

static bool add_note(struct export_notes *notes, const char *text)
{
    const char **items = pm_realloc_array(notes->items, notes->n + 1, sizeof *items);
    if (items)
        notes->items = items;
    const char *kept = items ? pm_arena_strndup(&notes->arena, text, strlen(text)) : NULL;
    if (kept)
        notes->items[notes->n++] = kept;
    return kept;
}

/* The value's name: "cpu_ns" of "own_cpu_ns". */
static const char *value_key(const struct pm_view_column *column)
{
    return strncmp(column->key, "own_", 4) == 0 ? column->key + 4 : column->key;
}

/* Columns of own costs and calls, by which values are known. */
static bool is_of_value(const struct pm_profile *profile, const struct pm_view_column *column)
{
    const char *key = value_key(column);
    for (uint32_t v = 0; v < profile->n_values; v++)
        if (!strcmp(key, profile->values[v].name))
            return true;
    return false;
}

static bool add_marked(const struct pm_profile *profile, const struct pm_view_column *column,
                       bool uncertain, struct export_notes *notes)
{
    const struct pm_view *tree = &profile->tree;
    uint32_t n = 0;
    for (uint32_t i = 0; i < profile->n_nodes; i++) {
        struct pm_view_number number =
            pm_view_number_of(tree, column, profile->nodes[i].row, PM_VIEW_PART_ROW);
        n += uncertain ? number.is_uncertain : number.is_at_least;
    }
    if (!n)
        return true;
    struct pm_buf text = PM_BUF_INIT(4096);
    pm_buf_printf(&text, "%s: %s in %u of %u call paths (perfmap report --tree marks them)",
                  column->key, uncertain ? "uncertain" : "at least, not all was followed,", n,
                  profile->n_nodes);
    bool ok = !text.failed && add_note(notes, text.data);
    pm_buf_release(&text);
    return ok;
}

static bool add_counted(const struct pm_profile *profile, struct export_notes *notes,
                        bool (*is_so)(const struct pm_profile_node *node,
                                      const struct pm_profile_frame *frame),
                        const char *meaning)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < profile->n_nodes; i++)
        n += is_so(&profile->nodes[i], &profile->frames[profile->nodes[i].frame]);
    struct pm_buf text = PM_BUF_INIT(4096);
    pm_buf_printf(&text, "%u of %u call paths %s", n, profile->n_nodes, meaning);
    bool ok = !n || (!text.failed && add_note(notes, text.data));
    pm_buf_release(&text);
    return ok;
}

static bool is_sampled(const struct pm_profile_node *node, const struct pm_profile_frame *frame)
{
    (void)frame;
    return node->row->traits.is_sampled;
}

static bool is_inferred(const struct pm_profile_node *node, const struct pm_profile_frame *frame)
{
    (void)frame;
    return node->row->traits.is_mostly_inferred;
}

static bool is_unmapped(const struct pm_profile_node *node, const struct pm_profile_frame *frame)
{
    (void)node;
    return frame->is_unmapped;
}

/* Costs of threads are read again, each of its own: should they not be what the view has of them
 * together, nobody may think that they are. */
static bool add_differences(const struct pm_profile *profile, struct export_notes *notes)
{
    for (uint32_t v = 0; v < profile->n_values; v++) {
        int64_t sum = 0;
        for (uint32_t i = 0; i < profile->n_cells; i++)
            sum += profile->cells[i].values[v];
        if (sum == profile->values[v].total)
            continue;
        struct pm_buf text = PM_BUF_INIT(4096);
        pm_buf_printf(&text, "%s: by thread it adds up to %lld, and perfmap report has %lld in all",
                      profile->values[v].name, (long long)sum, (long long)profile->values[v].total);
        bool ok = !text.failed && add_note(notes, text.data);
        pm_buf_release(&text);
        if (!ok)
            return false;
    }
    return true;
}

static bool add_all(const struct pm_profile *profile, struct export_notes *notes)
{
    const struct pm_view *tree = &profile->tree;
    struct show_columns columns = show_columns_of(tree);
    bool ok = true;
    for (int i = 0; i < tree->n_warnings && ok; i++)
        ok = add_note(notes, tree->warnings[i]);
    for (uint32_t c = 0; c < columns.n && ok; c++)
        for (int uncertain = 0; uncertain < 2 && ok; uncertain++)
            if (is_of_value(profile, &columns.items[c]))
                ok = add_marked(profile, &columns.items[c], uncertain, notes);
    return ok && add_differences(profile, notes) &&
           add_counted(profile, notes, is_sampled,
                       "were found by samples: callers may be missing above them") &&
           add_counted(profile, notes, is_inferred, "have callers that are likely, not certain") &&
           add_counted(profile, notes, is_unmapped,
                       "are code that nothing maps to the level: [unmapped]");
}

enum pm_status export_notes_make(const struct pm_profile *profile, struct pm_error *err,
                                 struct export_notes *notes)
{
    *notes = (struct export_notes){0};
    return add_all(profile, notes) ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

void export_notes_release(struct export_notes *notes)
{
    free(notes->items);
    pm_arena_release(&notes->arena);
}

void export_add_marks(const struct pm_profile *profile, uint32_t node, struct pm_buf *out)
{
    struct show_columns columns = show_columns_of(&profile->tree);
    for (uint32_t c = 0; c < columns.n; c++) {
        const struct pm_view_column *column = &columns.items[c];
        struct pm_view_number number =
            pm_view_number_of(&profile->tree, column, profile->nodes[node].row, PM_VIEW_PART_ROW);
        if (!number.is_at_least || !is_of_value(profile, column))
            continue;
        if (out->len)
            pm_buf_add_byte(out, ' ');
        pm_buf_add_str(out, value_key(column));
    }
}
