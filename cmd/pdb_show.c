/* Rows and trees of program databases, for people and as JSON. */
#include "pdb.h"

#include "mapping/base/json.h"
#include "mapping/base/text.h"

#include <ctype.h>
#include <libsmartcols/libsmartcols.h>
#include <unistd.h>

enum { PLACE_BYTES = 8192 };

const char *pdb_short_path(const char *path)
{
    static char here[4096];
    if (!*here && !getcwd(here, sizeof here))
        return path;
    size_t len = strlen(here);
    return !strncmp(path, here, len) && path[len] == '/' ? path + len + 1 : path;
}

/* --- JSON --- */

static void json_cell(struct pm_json *json, const char *name, const char *text)
{
    if (!text)
        pm_json_null(json, name);
    else if (!strncmp(name, "is_", 3))
        pm_json_bool(json, name, *text == '1');
    else if (pdt_column_is_number(name))
        pm_json_i64(json, name, strtoll(text, NULL, 10));
    else
        pm_json_string(json, name, text);
}

static void show_json(const struct pdt_rows *rows)
{
    struct pm_json json;
    pm_json_init(&json, stdout);
    pm_json_object(&json, NULL);
    pm_json_array(&json, "rows");
    for (uint64_t r = 0; r < rows->n_rows; r++) {
        pm_json_object(&json, NULL);
        for (int i = 0; i < rows->n_columns; i++)
            json_cell(&json, rows->columns[i], pdt_cell(rows, r, i));
        pm_json_end(&json);
    }
    pm_json_end(&json);
    pm_json_u64(&json, "n_hidden", rows->n_hidden);
    pm_json_end(&json);
    (void)pm_json_done(&json); /* a failed write shows on the stream */
}

/* --- tables --- */

/* File and line are one column of a table. */
static bool is_place(const struct pdt_rows *rows, int column)
{
    return !strcmp(rows->columns[column], "file") && column + 1 < rows->n_columns &&
           !strcmp(rows->columns[column + 1], "line");
}

static bool add_columns(struct libscols_table *table, const struct pdt_rows *rows)
{
    for (int i = 0; i < rows->n_columns; i++) {
        const char *name = rows->columns[i];
        char head[64];
        bool is_number = pdt_column_is_number(name), place = is_place(rows, i);
        int skip = 0;
        if (!strncmp(name, "n_", 2) || !strncmp(name, "is_", 3))
            skip = *name == 'n' ? 2 : 3;
        snprintf(head, sizeof head, "%s", place ? "place" : name + skip);
        for (char *p = head; *p; p++)
            *p = *p == '_' ? ' ' : (char)toupper((unsigned char)*p);
        if (!scols_table_new_column(table, head, 0, is_number ? SCOLS_FL_RIGHT : 0))
            return false;
        i += place;
    }
    return true;
}

static const char *cell_text(const struct pdt_rows *rows, uint64_t row, int column,
                             char place[PLACE_BYTES])
{
    const char *text = pdt_cell(rows, row, column);
    if (!strncmp(rows->columns[column], "is_", 3))
        return text && *text == '1' ? "yes" : "";
    if (!is_place(rows, column) || !text)
        return text ? text : "";
    const char *line = pdt_cell(rows, row, column + 1);
    snprintf(place, PLACE_BYTES, "%s:%s", pdb_short_path(text), line ? line : "?");
    return place;
}

static bool add_rows(struct libscols_table *table, const struct pdt_rows *rows,
                     struct pm_arena *arena)
{
    char place[PLACE_BYTES];
    for (uint64_t r = 0; r < rows->n_rows; r++) {
        struct libscols_line *line = scols_table_new_line(table, NULL);
        if (!line)
            return false;
        size_t at = 0;
        for (int i = 0; i < rows->n_columns; i++) {
            const char *text = pm_text_printable(arena, cell_text(rows, r, i, place));
            if (!text || scols_line_set_data(line, at++, text) != 0)
                return false;
            i += is_place(rows, i);
        }
    }
    return true;
}

enum pm_status pdb_show_rows(const struct pdt_rows *rows, bool json, struct pm_error *err)
{
    struct pm_arena arena = {0};
    struct libscols_table *table = json ? NULL : scols_new_table();
    bool good = json || table;
    if (json) {
        show_json(rows);
        return PM_OK;
    }
    good = good && add_columns(table, rows) && add_rows(table, rows, &arena);
    if (good && rows->n_rows) {
        scols_table_set_stream(table, stdout);
        scols_table_enable_noencoding(table, 1); /* cells are printable already */
        if (!isatty(STDOUT_FILENO))
            scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
        good = scols_print_table(table) == 0;
    }
    if (good && !rows->n_rows)
        puts("nothing fits");
    if (good && rows->n_hidden)
        printf("and %llu more (--limit 0 shows all)\n", (unsigned long long)rows->n_hidden);
    scols_unref_table(table);
    pm_arena_release(&arena);
    return good ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* --- trees --- */

static void show_node(const struct pdt_tree_node *node, struct pm_arena *arena)
{
    const char *name = pm_text_printable(arena, node->name);
    const char *file = node->file ? pm_text_printable(arena, pdb_short_path(node->file)) : NULL;
    printf("%*s%s", 2 * (int)node->depth, "", name ? name : "?");
    if (node->n_calls > 1)
        printf(" (%u calls)", node->n_calls);
    if (node->is_virtual)
        printf(" virtual");
    if (node->is_pointer && node->n_targets == 1)
        printf(" by pointer");
    else if (node->is_pointer)
        printf(" by pointer, one of %u", node->n_targets);
    if (node->is_recursive)
        printf(" recursive");
    if (node->is_repeated)
        printf(" see above");
    if (node->is_cut)
        printf(" ...");
    if (file && node->is_defined)
        printf("  %s:%u", file, node->line);
    putchar('\n');
}

static void json_node(struct pm_json *json, const struct pdt_tree_node *node)
{
    pm_json_object(json, NULL);
    pm_json_u64(json, "depth", node->depth);
    pm_json_string(json, "name", node->name);
    pm_json_string(json, "file", node->file);
    if (node->line)
        pm_json_u64(json, "line", node->line);
    pm_json_u64(json, "n_calls", node->n_calls);
    pm_json_u64(json, "n_targets", node->n_targets);
    pm_json_bool(json, "is_defined", node->is_defined);
    pm_json_bool(json, "is_virtual", node->is_virtual);
    pm_json_bool(json, "is_pointer", node->is_pointer);
    pm_json_bool(json, "is_recursive", node->is_recursive);
    pm_json_bool(json, "is_repeated", node->is_repeated);
    pm_json_bool(json, "is_cut", node->is_cut);
    pm_json_end(json);
}

void pdb_show_tree(const struct pdt_tree *tree, enum pdt_direction direction, bool json)
{
    struct pm_arena arena = {0};
    struct pm_json out;
    if (json) {
        pm_json_init(&out, stdout);
        pm_json_object(&out, NULL);
        pm_json_string(&out, "direction", direction == PDT_CALLS_FROM ? "calls_from" : "calls_to");
        pm_json_array(&out, "nodes");
    }
    for (uint32_t i = 0; i < tree->n_nodes; i++)
        if (json)
            json_node(&out, &tree->nodes[i]);
        else
            show_node(&tree->nodes[i], &arena);
    if (json) {
        pm_json_end(&out);
        pm_json_end(&out);
        (void)pm_json_done(&out);
    }
    pm_arena_release(&arena);
}
