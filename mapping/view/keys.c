/* What names a row in two archives. */
#include "keys.h"

#include "groupings.h"

#include "format/pm_id.h"

#include <ctype.h>
#include <stdlib.h>

struct making {
    const struct pm_view *view;
    const struct pm_graph *graph;
    const struct pm_view_key_names *names; /* NULL: as here */
    struct pm_view_keys *keys;
    const char *program; /* path of the one executable with sleds; "": none, or several */
    uint64_t *base;      /* per row: its key before those that are equal are counted */
    uint32_t *position;  /* per id of a row: where it is */
    uint32_t *order;     /* rows by depth, then by base */
};

/* --- texts: made for each construct of a build, so without formats --- */

static void add_number(struct pm_buf *out, const char *before, uint32_t number)
{
    pm_buf_add_str(out, before);
    pm_buf_add_u64(out, number);
}

static void add_word(struct pm_buf *out, const char *word)
{
    pm_buf_add_byte(out, ' ');
    pm_buf_add_str(out, word);
}

static void add_in_brackets(struct pm_buf *out, const char *text)
{
    pm_buf_add_str(out, " (");
    pm_buf_add_str(out, text);
    pm_buf_add_byte(out, ')');
}

/* --- what a noun is --- */

static void add_noun(const struct making *k, pm_index noun, pm_index place, struct pm_buf *out);

static bool has_sleds(const struct pm_archive_data *data, const char *exe)
{
    for (uint32_t i = 0; i < data->n_binaries; i++)
        if (data->binaries[i].n_sleds > 0 && !strcmp(data->binaries[i].path, exe))
            return true;
    return false;
}

const char *pm_view_program_of(const struct pm_archive_data *data)
{
    const char *program = "";
    for (uint32_t i = 0; i < data->n_processes; i++) {
        const char *exe = data->processes[i].exe;
        if (!strcmp(exe, program) || !has_sleds(data, exe))
            continue;
        if (*program)
            return "";
        program = exe;
    }
    return program;
}

static bool is_program(const struct making *k, const char *binary)
{
    return *k->program && !strcmp(k->program, binary);
}

/* The program itself may have another name, or lie elsewhere. */
static void add_binary(const struct making *k, pm_index noun, struct pm_buf *out)
{
    const char *binary = k->graph->nouns[noun].binary;
    if (*binary && !is_program(k, binary))
        add_in_brackets(out, pm_view_base_name(binary));
}

/* As the other build spells it. */
static const char *file_of(const struct making *k, const char *file)
{
    for (uint32_t i = 0; k->names && i < k->names->n_files; i++)
        if (!strcmp(k->names->files[i], file))
            return k->names->other_files[i];
    return file;
}

/* Without what GCC adds to copies that it changed: another level of optimisation has none. */
static size_t length_without_clone(const char *name)
{
    static const char *const endings[] = {".constprop", ".isra", ".part", ".cold", ".lto_priv"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const char *at = strstr(name, endings[i]);
        if (at && at > name && (size_t)(at - name) < length)
            length = (size_t)(at - name);
    }
    return length;
}

static void add_function(const struct making *k, pm_index noun, struct pm_buf *out)
{
    const struct pm_graph_noun *n = &k->graph->nouns[noun];
    const char *name = *n->linkage ? n->linkage : n->name;
    if (k->names && k->names->functions && k->names->functions[noun]) {
        pm_buf_add_str(out, k->names->functions[noun]);
        return;
    }
    pm_buf_add(out, name, length_without_clone(name));
    if (*n->file)
        add_in_brackets(out, file_of(k, n->file));
    else
        add_binary(k, noun, out);
}

/* false: it is where it is here. */
static bool add_other_place(const struct making *k, pm_index noun, struct pm_buf *out)
{
    const struct pm_view_key_place *place =
        k->names && k->names->places ? &k->names->places[noun] : NULL;
    if (!place || place->kind == PM_KEY_PLACE_AS_HERE)
        return false;
    if (place->kind == PM_KEY_PLACE_NONE)
        pm_buf_add_str(out, " elsewhere");
    else
        add_number(out, " +", place->line_no);
    if (place->kind == PM_KEY_PLACE_OTHER && place->column_no)
        add_number(out, ":", place->column_no);
    return place->kind == PM_KEY_PLACE_OTHER;
}

/* Lines count from the function's first: what is put before it moves nothing in it. */
static void add_place(const struct making *k, pm_index noun, pm_index function, struct pm_buf *out)
{
    if (add_other_place(k, noun, out))
        return;
    const struct pm_graph_noun *n = &k->graph->nouns[noun];
    const struct pm_graph_noun *f = function == PM_NONE ? NULL : &k->graph->nouns[function];
    if (!n->line_no)
        return;
    if (f && f->line_no && f->line_no <= n->line_no && !strcmp(f->file, n->file)) {
        add_number(out, " +", n->line_no - f->line_no);
    } else {
        add_word(out, file_of(k, n->file));
        add_number(out, ":", n->line_no);
    }
    if (n->column_no)
        add_number(out, ":", n->column_no);
}

/* " omp task" of "heat.c:34 omp task", "" of "heat.c:34:5"; all of it where no place is. */
static const char *behind_place(const char *name)
{
    const char *p = strchr(name, ':');
    while (p && !isdigit((unsigned char)p[1]))
        p = strchr(p + 1, ':');
    if (!p)
        return name;
    while (*p == ':' && isdigit((unsigned char)p[1]))
        p += 1 + strspn(p + 1, "0123456789");
    return p;
}

/* A heap block's name has the place of what it was assigned to: u@heat.c:12#3. */
static void add_heap_name(const char *name, struct pm_buf *out)
{
    const char *at = strrchr(name, '@'), *number = strrchr(at ? at : name, '#');
    if (at)
        pm_buf_printf(out, " %.*s", (int)(at - name), name);
    if (number)
        pm_buf_add_str(out, number);
}

const char *pm_view_bare_name(const struct pm_view *view, pm_index noun, size_t *ret_length)
{
    const struct pm_graph *graph = view->data->graph;
    const struct pm_graph_noun *n = &graph->nouns[noun];
    const char *name = n->name, *last = strrchr(name, ':'), *colons = NULL;
    bool is_local = pm_noun_is_data(n) && n->parent != PM_NONE &&
                    pm_graph_ancestor(graph, n->parent, "function") != PM_NONE;
    *ret_length = strlen(name);
    if (!is_local)
        return name;
    if (last && isdigit((unsigned char)last[1]))
        *ret_length = (size_t)(last - name);
    for (const char *p = name; (p = strstr(p, "::")) && p < name + *ret_length; p += 2)
        colons = p + 2;
    *ret_length -= colons ? (size_t)(colons - name) : 0;
    return colons ? colons : name;
}

static void add_own_name(const struct making *k, pm_index noun, struct pm_buf *out)
{
    const struct pm_graph_noun *n = &k->graph->nouns[noun];
    size_t length;
    if (pm_view_noun_is_loop(k->view, noun) || pm_view_noun_is_statement(k->view, noun)) {
        const char *rest = n->line_no ? behind_place(n->name) : n->name;
        pm_buf_add_str(out, *rest && *rest != ' ' ? " " : "");
        pm_buf_add_str(out, rest);
    } else if (!strcmp(n->kind, "heap") && n->line_no) {
        add_heap_name(n->name, out);
    } else {
        const char *name = *n->linkage ? n->linkage : pm_view_bare_name(k->view, noun, &length);
        pm_buf_add_byte(out, ' ');
        pm_buf_add(out, name, *n->linkage ? strlen(name) : length);
    }
}

/* A construct of the source, or of a level of the program's own. */
static void add_construct(const struct making *k, pm_index noun, struct pm_buf *out)
{
    const struct pm_graph_noun *n = &k->graph->nouns[noun];
    pm_index function = n->parent == PM_NONE ? (pm_index)PM_NONE
                                             : pm_graph_ancestor(k->graph, n->parent, "function");
    bool is_fine = pm_view_noun_is_loop(k->view, noun) || pm_view_noun_is_statement(k->view, noun);
    if (is_fine || function != PM_NONE || !strcmp(n->kind, "heap"))
        add_place(k, noun, function, out);
    add_own_name(k, noun, out);
    if (function != PM_NONE) {
        pm_buf_add_str(out, " in function ");
        add_function(k, function, out);
    } else if (*n->file) {
        add_in_brackets(out, file_of(k, n->file));
    } else {
        add_binary(k, noun, out);
    }
}

/* Machine code is its symbol's, without the offset, and what of the source it implements. */
static void add_code(const struct making *k, pm_index noun, pm_index place, struct pm_buf *out)
{
    const char *name = k->graph->nouns[noun].name, *rest = strchr(name, '/');
    bool is_named = *name != '#'; /* an id, for want of a name */
    if (is_named)
        pm_buf_printf(out, " %.*s", (int)strcspn(name, "+/ "), name);
    add_binary(k, noun, out);
    if (place != PM_NONE) {
        pm_buf_add_str(out, " at ");
        add_noun(k, place, PM_NONE, out);
    } else if (rest && is_named) {
        pm_buf_add_str(out, rest);
    }
}

static void add_noun(const struct making *k, pm_index noun, pm_index place, struct pm_buf *out)
{
    const struct pm_graph_noun *n = &k->graph->nouns[noun];
    bool is_code = !*n->file && (pm_view_noun_is_machine_code(k->view, noun) ||
                                 !strcmp(n->kind, "loopcode") || !strcmp(n->kind, "inline"));
    pm_buf_add_str(out, k->graph->levels[n->level].name);
    add_word(out, n->kind);
    if (is_code) {
        add_code(k, noun, place, out);
    } else if (!strcmp(n->kind, "function")) {
        pm_buf_add_byte(out, ' ');
        add_function(k, noun, out);
    } else if (!strcmp(n->kind, "process")) {
        if (strcmp(pm_view_base_name(k->program), n->name) != 0)
            pm_buf_printf(out, " %s", n->name);
    } else {
        add_construct(k, noun, out);
    }
}

/* --- what a row is --- */

static void add_verb(const struct making *k, pm_index verb, bool is_object, struct pm_buf *out)
{
    if (verb == PM_NONE)
        return;
    const char *name = k->graph->verbs[verb].name;
    bool accesses = is_object && (!strcmp(name, "Reads") || !strcmp(name, "Writes"));
    if (!accesses && strcmp(name, "Executes") != 0)
        pm_buf_printf(out, " %s", name);
}

/* place: of its first noun. */
static void add_sentence(const struct making *k, pm_index sentence, pm_index place,
                         struct pm_buf *out)
{
    const struct pm_graph_sentence *s = &k->graph->sentences[sentence];
    for (uint32_t i = 0; i < s->n_nouns; i++) {
        pm_buf_add_str(out, i ? ", " : "");
        add_noun(k, k->graph->sentence_nouns[s->first_noun + i], i ? (pm_index)PM_NONE : place,
                 out);
    }
    add_verb(k, s->verb, false, out);
}

static void add_group(const struct making *k, const struct pm_view_group *group, struct pm_buf *out)
{
    const struct pm_graph_noun *n = group->noun == PM_NONE ? NULL : &k->graph->nouns[group->noun];
    if (group->special) {
        pm_buf_printf(out, "%s%s", pm_view_special_word(group->special), n ? " " : "");
        if (n)
            add_noun(k, group->noun, PM_NONE, out);
    } else if (group->file) {
        pm_buf_printf(out, "file %s", file_of(k, group->file));
        add_verb(k, group->verb, false, out);
    } else if (group->sentence != PM_NONE) {
        add_sentence(k, group->sentence, group->place, out);
    } else if (pm_view_grouping(k->view)->key == PM_VIEW_GROUP_BY_LINE && n && *n->file &&
               n->line_no) {
        pm_buf_printf(out, "line %s:%u", file_of(k, n->file), n->line_no);
    } else if (n) {
        add_noun(k, group->noun, group->place, out);
        add_verb(k, group->verb, pm_view_noun_is_object(k->view, group->noun), out);
    }
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In the order of their texts, for the archive's is by chance. */
static void add_set(const struct making *k, const struct pm_view_row *row, struct pm_buf *out)
{
    char **texts = pm_alloc_array(row->n_groups, sizeof *texts);
    out->failed |= !texts;
    for (uint32_t i = 0; texts && i < row->n_groups; i++) {
        struct pm_buf one = PM_BUF_INIT(1 << 20);
        add_group(k, &k->view->groups[row->groups[i]], &one);
        if (!one.failed)
            texts[i] = pm_strndup(one.len ? one.data : "", one.len);
        out->failed |= !texts[i];
        pm_buf_release(&one);
    }
    if (!out->failed)
        qsort(texts, row->n_groups, sizeof *texts, compare_texts);
    for (uint32_t i = 0; texts && i < row->n_groups; i++) {
        pm_buf_add_str(out, i ? " | " : "");
        pm_buf_add_str(out, texts[i] ? texts[i] : "");
        free(texts[i]);
    }
    free(texts);
}

/* Numbers of processes and threads are other ones in each run; those of ranks are not. */
static void add_runner(const struct making *k, const struct pm_view_row *row, struct pm_buf *out)
{
    const struct pm_archive_data *data = k->view->data;
    const struct pm_runner_kind *kind = pm_runner_kind(row->runner);
    struct pm_runner_names names = kind->names(data, row->source);
    const char *exe = pm_view_process_of(k->view, row)->exe;
    pm_buf_add_str(out, kind->word);
    if (kind->is_place) {
        pm_buf_printf(out, " %s", names.names[0]);
        return;
    }
    if (kind->why_none && names.number == PM_UNKNOWN)
        pm_buf_add_str(out, " none");
    else if (kind->why_none)
        pm_buf_printf(out, " %lld", (long long)names.number);
    else if (kind->is_thread)
        pm_buf_printf(out, " %s", names.names[0]);
    if (!kind->why_none && !is_program(k, exe))
        pm_buf_printf(out, " (%s)", pm_view_base_name(exe));
}

static void add_row(const struct making *k, const struct pm_view_row *row, struct pm_buf *out)
{
    if (row->kind == PM_VIEW_ROW_RUNNER) {
        add_runner(k, row, out);
    } else if (row->kind == PM_VIEW_ROW_BRANCH) {
        pm_buf_printf(out, "branch %s", is_program(k, row->branch) ? "" : row->branch);
    } else if (row->kind == PM_VIEW_ROW_UNMAPPED) {
        pm_buf_add_str(out, "unmapped ");
        add_sentence(k, row->source, pm_view_find_place(k->view, row->source), out);
    } else {
        add_set(k, row, out);
    }
}

/* --- all of a view --- */

static uint64_t hash_of(const struct making *k, const struct pm_view_row *row, const char *text)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "row");
    pm_id_hash_string(&hash, text);
    if (row->parent_id != PM_NONE)
        pm_id_hash_id(&hash, k->keys->items[k->position[row->parent_id]].hash);
    return pm_id_hash_done(&hash);
}

/* The noun that tells where in the source a row is; NULL: nowhere. */
static const struct pm_graph_noun *noun_of(const struct making *k, const struct pm_view_row *row)
{
    pm_index noun =
        row->kind == PM_VIEW_ROW_RUNNER ? (pm_index)PM_NONE : pm_view_row_noun(k->view, row, 0);
    return noun == PM_NONE ? NULL : &k->graph->nouns[noun];
}

/* Of two rows with one key, which comes first in the source. */
static int compare_in_source(const struct making *k, const struct pm_view_row *a,
                             const struct pm_view_row *b)
{
    const struct pm_graph_noun *x = noun_of(k, a), *y = noun_of(k, b);
    if (x && y && x->line_no != y->line_no)
        return x->line_no < y->line_no ? -1 : 1;
    if (x && y && x->column_no != y->column_no)
        return x->column_no < y->column_no ? -1 : 1;
    int by_name = x && y ? strcmp(x->name, y->name) : 0;
    if (!by_name && x && y)
        by_name = strcmp(pm_view_base_name(x->binary), pm_view_base_name(y->binary));
    return by_name ? by_name : (a->id > b->id) - (a->id < b->id);
}

static int compare_rows(const void *a_pointer, const void *b_pointer, void *context)
{
    const struct making *k = context;
    uint32_t a = *(const uint32_t *)a_pointer, b = *(const uint32_t *)b_pointer;
    const struct pm_view_row *x = &k->view->rows[a], *y = &k->view->rows[b];
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    if (k->base[a] != k->base[b])
        return k->base[a] < k->base[b] ? -1 : 1;
    return compare_in_source(k, x, y);
}

/* The key of a row that has the number among equal ones; false: memory ended. */
static bool count_key(const struct making *k, uint32_t row, unsigned number,
                      struct pm_view_key *ret_key)
{
    struct pm_buf text = PM_BUF_INIT(1 << 24);
    pm_buf_printf(&text, "%s #%u", k->keys->items[row].text, number);
    const char *counted =
        text.failed ? NULL : pm_arena_strndup(&k->keys->arena, text.data, text.len);
    pm_buf_release(&text);
    if (!counted)
        return false;
    *ret_key = (struct pm_view_key){hash_of(k, &k->view->rows[row], counted), counted};
    return true;
}

/* Several with one key, and what two different ones have by chance, are counted. */
static bool enter(const struct making *k, uint32_t row, unsigned *number)
{
    struct pm_view_key key = {k->base[row], k->keys->items[row].text};
    if (*number > 1 && !count_key(k, row, *number, &key))
        return false;
    while (pm_map_get(&k->keys->row_of, key.hash))
        if (!count_key(k, row, ++*number, &key))
            return false;
    k->keys->items[row] = key;
    return pm_map_put(&k->keys->row_of, key.hash, row + 1);
}

/* Rows of one depth, whose parents have keys. */
static bool enter_depth(struct making *k, uint32_t *order, uint32_t n)
{
    unsigned number = 0;
    for (uint32_t i = 0; i < n; i++)
        k->base[order[i]] = hash_of(k, &k->view->rows[order[i]], k->keys->items[order[i]].text);
    qsort_r(order, n, sizeof *order, compare_rows, k);
    for (uint32_t i = 0; i < n; i++) {
        number = i && k->base[order[i]] == k->base[order[i - 1]] ? number + 1 : 1;
        if (!enter(k, order[i], &number))
            return false;
    }
    return true;
}

static bool enter_all(struct making *k)
{
    uint32_t n = k->view->n_rows, end;
    for (uint32_t r = 0; r < n; r++) {
        k->position[k->view->rows[r].id] = r;
        k->order[r] = r;
    }
    if (n) /* by depth: base is 0 yet */
        qsort_r(k->order, n, sizeof *k->order, compare_rows, k);
    for (uint32_t first = 0; first < n; first = end) {
        uint32_t depth = k->view->rows[k->order[first]].depth;
        for (end = first + 1; end < n && k->view->rows[k->order[end]].depth == depth;)
            end++;
        if (!enter_depth(k, k->order + first, end - first))
            return false;
    }
    return true;
}

static bool make_texts(struct making *k)
{
    struct pm_buf text = PM_BUF_INIT(1 << 24);
    bool good = true;
    for (uint32_t r = 0; good && r < k->keys->n; r++) {
        pm_buf_clear(&text);
        add_row(k, &k->view->rows[r], &text);
        pm_buf_add_byte(&text, 0);
        const char *kept =
            text.failed ? NULL : pm_arena_strndup(&k->keys->arena, text.data, text.len - 1);
        k->keys->items[r].text = kept;
        good = kept != NULL;
    }
    pm_buf_release(&text);
    return good;
}

enum pm_status pm_view_keys_make(const struct pm_view *view, const struct pm_view_key_names *names,
                                 struct pm_error *err, struct pm_view_keys *ret_keys)
{
    uint32_t n = view->n_rows, n_ids = 0;
    for (uint32_t r = 0; r < n; r++)
        n_ids = view->rows[r].id >= n_ids ? view->rows[r].id + 1 : n_ids;
    struct pm_view_keys keys = {.items = pm_alloc_array(n, sizeof *keys.items), .n = n};
    struct making k = {.view = view,
                       .graph = view->data->graph,
                       .names = names,
                       .keys = &keys,
                       .program = pm_view_program_of(view->data),
                       .base = pm_alloc_array(n, sizeof *k.base),
                       .position = pm_alloc_array(n_ids, sizeof *k.position),
                       .order = pm_alloc_array(n, sizeof *k.order)};
    bool good = keys.items && k.base && k.position && k.order && make_texts(&k) && enter_all(&k);
    free(k.base);
    free(k.position);
    free(k.order);
    if (!good) {
        pm_view_keys_release(&keys);
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    *ret_keys = keys;
    return PM_OK;
}

void pm_view_function_text(const struct pm_view *view, const struct pm_view_key_names *names,
                           pm_index noun, struct pm_buf *out)
{
    struct making k = {.view = view,
                       .graph = view->data->graph,
                       .names = names,
                       .program = pm_view_program_of(view->data)};
    add_function(&k, noun, out);
}

uint64_t pm_view_noun_key(const struct pm_view *view, const struct pm_view_key_names *names,
                          pm_index noun)
{
    struct making k = {.view = view,
                       .graph = view->data->graph,
                       .names = names,
                       .program = pm_view_program_of(view->data)};
    struct pm_buf text = PM_BUF_INIT(1 << 24);
    struct pm_id_hash hash;
    add_noun(&k, noun, PM_NONE, &text);
    pm_id_hash_init(&hash, "noun");
    pm_id_hash_string(&hash, text.failed ? "" : text.data);
    uint64_t key = text.failed ? 0 : pm_id_hash_done(&hash);
    pm_buf_release(&text);
    return key;
}

uint32_t pm_view_keys_find(const struct pm_view_keys *keys, uint64_t hash)
{
    return pm_map_get(&keys->row_of, hash) - 1;
}

void pm_view_keys_release(struct pm_view_keys *keys)
{
    free(keys->items);
    pm_map_release(&keys->row_of);
    pm_arena_release(&keys->arena);
    *keys = (struct pm_view_keys){0};
}
