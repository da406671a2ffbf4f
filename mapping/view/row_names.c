/* What rows are called, and where in the source they are. */
#include "groupings.h"

#include "mapping/base/reasons.h"
#include "mapping/base/statement_names.h"
#include "mapping/debuginfo/debuginfo.h"
#include "mapping/graph/index_map.h"

#include <stdlib.h>

enum { MAX_MEMBERS = 8 }; /* of a set, by name */

bool pm_view_noun_is(const struct pm_view *view, pm_index noun, const char *kind)
{
    return !strcmp(view->data->graph->nouns[noun].kind, kind);
}

bool pm_view_noun_is_code(const struct pm_view *view, pm_index noun)
{
    return pm_view_noun_is(view, noun, "function") || pm_view_noun_is(view, noun, "symbol");
}

bool pm_view_noun_is_loop(const struct pm_view *view, pm_index noun)
{
    return pm_view_noun_is(view, noun, "loop") || pm_view_noun_is(view, noun, "loopcode");
}

pm_index pm_view_row_noun(const struct pm_view *view, const struct pm_view_row *row, uint32_t n)
{
    if (row->kind == PM_VIEW_ROW_UNMAPPED)
        return pm_graph_first_noun(view->data->graph, row->source);
    return n < row->n_groups ? view->groups[row->groups[n]].noun : PM_NONE;
}

/* Heap blocks that a pointer was assigned. */
struct heap_blocks {
    pm_index first;
    uint32_t n; /* places that allocate them */
};

struct pm_view_naming {
    struct pm_view *view;
    struct pm_intern *base_names;  /* for counting files of one name */
    struct pm_index_map files;     /* interned path to 0 (by address): seen */
    struct pm_index_map n_of_base; /* interned base name (by address) to position in counts */
    uint32_t *counts;
    uint32_t n_counts;
    /* file and line to how many loops stand there (position: count, last wins) */
    struct pm_index_map loops_at;
    struct heap_blocks *heaps; /* by noun, by array and variable; else NULL */
    bool failed;
};

const char *pm_view_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static int64_t address_key(const char *interned)
{
    return (int64_t)(uintptr_t)interned;
}

/* Counts the files of each base name among the nouns that rows may show. */
static bool count_base_names(struct pm_view_naming *naming)
{
    const struct pm_graph *graph = naming->view->data->graph;
    naming->base_names = pm_intern_new();
    naming->counts = pm_alloc_array(graph->n_nouns, sizeof *naming->counts);
    if (!naming->base_names || !naming->counts)
        return false;
    for (pm_index n = 0; n < graph->n_nouns; n++) {
        const char *file = graph->nouns[n].file;
        if (!*file || pm_index_map_get(&naming->files, address_key(file)) != PM_NONE)
            continue;
        const char *base = pm_view_base_name(file),
                   *interned = pm_intern_add(naming->base_names, base, strlen(base));
        if (!interned || !pm_index_map_add(&naming->files, address_key(file), 0))
            return false;
        pm_index at = pm_index_map_get(&naming->n_of_base, address_key(interned));
        if (at == PM_NONE &&
            !pm_index_map_add(&naming->n_of_base, address_key(interned), at = naming->n_counts++))
            return false;
        naming->counts[at]++;
    }
    return true;
}

/* The shortest name that tells a file from the others: its last part, else what follows the folder
 * of the run, else all. */
const char *pm_view_short_file(const struct pm_view *view, const char *file)
{
    const struct pm_view_naming *naming = view->naming;
    const char *base = pm_view_base_name(file),
               *interned = pm_intern_add(naming->base_names, base, strlen(base));
    pm_index at = interned ? pm_index_map_get(&naming->n_of_base, address_key(interned)) : PM_NONE;
    if (at != PM_NONE && naming->counts[at] == 1)
        return base;
    const char *cwd = naming->view->data->executions[0].cwd;
    size_t len = strlen(cwd);
    return len > 1 && !strncmp(file, cwd, len) && file[len] == '/' ? file + len + 1 : file;
}

static const char *finish_text(struct pm_view_naming *naming, struct pm_str text)
{
    if (!text.len)
        return "";
    const char *copy = pm_arena_strndup(&naming->view->arena, text.p, text.len);
    copy = copy ? pm_text_printable(&naming->view->arena, copy) : NULL;
    naming->failed |= !copy;
    return copy ? copy : "";
}

static const char *finish(struct pm_view_naming *naming, struct pm_buf *buf)
{
    naming->failed |= buf->failed;
    const char *text = buf->failed ? "" : finish_text(naming, (struct pm_str){buf->data, buf->len});
    pm_buf_release(buf);
    return text;
}

/* By statement, statements on one line are told apart, too. */
static bool is_told_by_column(const struct pm_view *view, pm_index noun)
{
    return pm_view_grouping(view)->shares_lines(view, noun);
}

/* Several loops on one line are told apart by column. */
static void add_place(const struct pm_view_naming *naming, pm_index noun, struct pm_buf *out)
{
    const struct pm_graph_noun *n = &naming->view->data->graph->nouns[noun];
    if (!*n->file) {
        bool is_named = pm_view_noun_is_machine_code(naming->view, noun) &&
                        strstr(n->name, pm_view_base_name(n->binary));
        if (*n->binary && !is_named) /* memcpy (libc.so.6) */
            pm_buf_printf(out, "(%s)", pm_view_base_name(n->binary));
        return;
    }
    pm_buf_add_str(out, pm_view_short_file(naming->view, n->file));
    if (!n->line_no)
        return;
    pm_buf_printf(out, ":%u", n->line_no);
    int64_t key = (int64_t)(((uint64_t)(uintptr_t)n->file << 20) ^ n->line_no);
    if (n->column_no && is_told_by_column(naming->view, noun) &&
        pm_index_map_get(&naming->loops_at, ~key) != PM_NONE)
        pm_buf_printf(out, ":%u", n->column_no);
}

/* Notes lines with more than one loop: key ~k is there when k was met twice. */
static bool count_loops(struct pm_view_naming *naming)
{
    const struct pm_view *view = naming->view;
    for (uint32_t g = 0; g < view->n_groups; g++) {
        const struct pm_view_group *group = &view->groups[g];
        pm_index noun = group->place != PM_NONE ? group->place : group->noun;
        if (noun == PM_NONE || !is_told_by_column(view, noun))
            continue;
        const struct pm_graph_noun *n = &view->data->graph->nouns[noun];
        int64_t key = (int64_t)(((uint64_t)(uintptr_t)n->file << 20) ^ n->line_no);
        if (pm_index_map_get(&naming->loops_at, key) != PM_NONE)
            key = ~key;
        if (pm_index_map_get(&naming->loops_at, key) == PM_NONE &&
            !pm_index_map_add(&naming->loops_at, key, 0))
            return false;
    }
    return true;
}

/* Mappings lead from accesses of a pointer to those of its heap blocks. */
static bool find_heaps(struct pm_view_naming *naming)
{
    const struct pm_view *view = naming->view;
    const struct pm_graph *graph = view->data->graph;
    if (!pm_view_grouping(view)->is_object)
        return true;
    naming->heaps = pm_alloc_array(graph->n_nouns, sizeof *naming->heaps);
    for (uint32_t m = 0; naming->heaps && m < graph->n_mappings; m++) {
        pm_index from = pm_graph_first_noun(graph, graph->mappings[m].source),
                 to = pm_graph_first_noun(graph, graph->mappings[m].destination);
        if (from == PM_NONE || to == PM_NONE || !pm_view_noun_is(view, to, "heap") ||
            !pm_view_noun_is_object(view, from))
            continue;
        struct heap_blocks *heap = &naming->heaps[from];
        heap->n += heap->n == 0 || heap->first != to; /* reading and writing is one */
        heap->first = heap->n == 1 ? to : heap->first;
    }
    return naming->heaps != NULL;
}

static pm_index function_of(const struct pm_view *view, pm_index noun)
{
    while (noun != PM_NONE && !pm_view_noun_is_code(view, noun))
        noun = view->data->graph->nouns[noun].parent;
    return noun;
}

void pm_view_add_code_name(const char *name, struct pm_buf *out)
{
    size_t len = strcspn(name, "+/ ");
    if (*name == '#' &&
        strspn(name + 1, "0123456789abcdef") == 16) { /* an id, for want of a name */
        pm_buf_printf(out, "code without a name%s", name + 17);
        return;
    }
    char *symbol = strncmp(name, "_Z", 2) == 0 ? pm_strndup(name, len) : NULL;
    char *shown = symbol ? pm_debug_demangle(symbol) : NULL;
    pm_buf_add_str(out, shown ? shown : "");
    pm_buf_add_str(out, shown ? name + len : name);
    free(symbol);
    free(shown);
}

/* "u@heat.c:12" is the heap block that u was assigned at heat.c:12, "u@heat.c:12#3" a large one;
 * "heat.c:12" was assigned to nothing that is known. The place stands beside it. */
static void add_heap_name(const char *name, struct pm_buf *out)
{
    const char *at = strrchr(name, '@'), *number = strrchr(at ? at : name, '#');
    if (at)
        pm_buf_printf(out, "%.*s, ", (int)(at - name), name);
    pm_buf_printf(out, "heap block%s%s", number ? " " : "s", number ? number + 1 : "");
}

/* has_place: where it is stands beside it, so its function is name enough. */
static void add_noun(const struct pm_view_naming *naming, pm_index noun, bool has_place,
                     struct pm_buf *out)
{
    const struct pm_view *view = naming->view;
    const struct pm_graph *graph = view->data->graph;
    if (pm_view_noun_is(view, noun, "loopcode") && !has_place) { /* "sweep/heat.c:42" */
        pm_buf_printf(out, "loop %s", graph->nouns[noun].name);
    } else if (pm_view_is_unknown_line(view, noun) && graph->nouns[noun].parent != PM_NONE) {
        pm_buf_add_str(out, PM_UNKNOWN_LINE_STATEMENT);
        add_noun(naming, graph->nouns[noun].parent, true, out);
    } else if (strncmp(graph->nouns[noun].name, PM_FRAME_STATEMENT, strlen(PM_FRAME_STATEMENT)) ==
               0) {
        pm_buf_add_str(out, graph->nouns[noun].name);
    } else if (pm_view_noun_is_loop(view, noun) || pm_view_noun_is_statement(view, noun)) {
        pm_index function = function_of(view, noun);
        const char *kind = pm_view_noun_is_loop(view, noun) ? "loop" : graph->nouns[noun].kind;
        const char *omp = pm_view_noun_is(view, noun, "region")
                              ? strstr(graph->nouns[noun].name, " omp ") /* heat.c:34 omp task */
                              : NULL;
        kind = omp ? omp + 1 : kind;
        bool is_code =
            !strcmp(kind, "line") && /* by debug information; those of scripts are lines */
            !strcmp(graph->levels[graph->nouns[noun].level].name, "Base");
        pm_buf_printf(out, "%s in %s", is_code ? "code" : kind,
                      function == PM_NONE ? graph->nouns[noun].name : graph->nouns[function].name);
        if (pm_view_noun_is(view, noun, "loop") && !strcmp(graph->nouns[noun].type, "machine code"))
            pm_buf_add_str(out, ", found in machine code");
    } else if (pm_view_grouping(view)->where && pm_view_noun_is(view, noun, "file")) {
        pm_buf_add_str(out, pm_view_short_file(view, graph->nouns[noun].name));
    } else if (pm_view_noun_is(view, noun, "heap")) {
        add_heap_name(graph->nouns[noun].name, out);
    } else if (pm_view_noun_is(view, noun, "kernel")) {
        pm_buf_add_str(out, "(kernel)");
    } else if (pm_view_noun_is(view, noun, "perfmap")) {
        pm_buf_add_str(out, "PerfMap itself");
    } else if (pm_view_noun_is(view, noun, "lost")) {
        pm_buf_add_str(out, "(not located)");
    } else if (pm_view_noun_is(view, noun, "unsampled")) {
        pm_buf_add_str(out, "(not sampled)");
    } else {
        pm_view_add_code_name(graph->nouns[noun].name, out);
    }
}

/* The verb is said unless it is the usual one. */
static void add_verb(const struct pm_view_naming *naming, pm_index verb, struct pm_buf *out)
{
    if (verb == PM_NONE) /* of a where axis */
        return;
    const char *name = naming->view->data->graph->verbs[verb].name;
    if (strcmp(name, "Executes") != 0 && strcmp(name, "Reads") != 0 && strcmp(name, "Writes") != 0)
        pm_buf_printf(out, " %s", name);
}

/* "main+0x184 calls sum, called by ...": a call that is under way (mapping/collect/frames.c). "task
 * of a library: sum+0x8": who called it is not known. */
const char *pm_view_code_separator(const struct pm_graph *graph, pm_index sentence, uint32_t at)
{
    const struct pm_graph_sentence *s = &graph->sentences[sentence];
    if (at == 0)
        return "";
    bool is_call = !strcmp(graph->verbs[s->verb].name, "Calls");
    if (!strcmp(graph->nouns[graph->sentence_nouns[s->first_noun]].name, PM_TASK_OF_LIBRARY))
        return ": ";
    return is_call && at == 1 ? " calls " : ", called by ";
}

/* Machine code with what called it, "memcpy (libc.so.6), called by sweep+0x40"; of others all
 * nouns: "a, b Sum". */
static void add_nouns(const struct pm_view_naming *naming, pm_index sentence, bool called,
                      struct pm_buf *out)
{
    const struct pm_graph *graph = naming->view->data->graph;
    const struct pm_graph_sentence *s = &graph->sentences[sentence];
    for (uint32_t i = 1; i < s->n_nouns; i++) {
        pm_buf_add_str(out, called ? pm_view_code_separator(graph, sentence, i) : ", ");
        pm_view_add_code_name(graph->nouns[graph->sentence_nouns[s->first_noun + i]].name, out);
    }
}

static bool has_caller(const struct pm_view *view, const struct pm_view_group *group)
{
    return group->sentence != PM_NONE && group->noun != PM_NONE &&
           pm_view_noun_is_machine_code(view, group->noun);
}

static void add_group(const struct pm_view_naming *naming, uint32_t g, struct pm_buf *out)
{
    const struct pm_view_group *group = &naming->view->groups[g];
    static const char *const special[] = {
        [PM_VIEW_OUTSIDE] = "(outside instrumented code)",
        [PM_VIEW_KERNEL] = "(kernel)",
        [PM_VIEW_PERFMAP] = "PerfMap itself",
        [PM_VIEW_NOT_LOCATED] = "(not located)",
        [PM_VIEW_NOT_SAMPLED] = "(not sampled)",
    };
    if (group->special == PM_VIEW_NO_OBJECT)
        pm_buf_add_str(out, pm_view_grouping(naming->view)->no_object);
    else if (group->special == PM_VIEW_OBJECT_NOT_KNOWN)
        pm_buf_add_str(out, pm_view_grouping(naming->view)->not_known);
    else if (group->special)
        pm_buf_add_str(out, special[group->special]);
    else if (group->file)
        pm_buf_add_str(out, group->file);
    else if (group->noun == PM_NONE)
        pm_buf_add_str(out, "(no noun)");
    else
        add_noun(naming, group->noun, group->place != PM_NONE, out);
    bool called = has_caller(naming->view, group);
    if (group->sentence != PM_NONE)
        add_nouns(naming, group->sentence, called, out);
    bool is_heap = group->noun != PM_NONE && pm_view_noun_is(naming->view, group->noun, "heap");
    if (!group->special && !called && !is_heap)
        add_verb(naming, group->verb, out);
    if (group->has_loops && !naming->view->options.tree)
        pm_buf_add_str(out, ", outside its loops");
}

static bool is_listed(const char *list, uint32_t n, const char *text)
{
    for (uint32_t i = 0; i < n; i++, list += strlen(list) + 1)
        if (!strcmp(list, text))
            return true;
    return false;
}

/* Members of a set, each text once: {a, b}; one text alone needs no braces. */
static void add_set(const struct pm_view_naming *naming, const struct pm_view_row *row, bool places,
                    struct pm_buf *out)
{
    struct pm_buf list = PM_BUF_INIT(1 << 20), one = PM_BUF_INIT(1 << 20);
    uint32_t n_listed = 0, n_left = 0;
    for (uint32_t i = 0; i < row->n_groups; i++) {
        const struct pm_view_group *group = &naming->view->groups[row->groups[i]];
        pm_index place = group->place != PM_NONE ? group->place : group->noun;
        pm_buf_clear(&one);
        if (!places)
            add_group(naming, row->groups[i], &one);
        else if (!group->special && place != PM_NONE)
            add_place(naming, place, &one);
        out->failed |= one.failed;
        if (!one.len || is_listed(list.data, n_listed, one.data))
            continue;
        if (n_listed == MAX_MEMBERS) {
            n_left++;
            continue;
        }
        pm_buf_add(&list, one.data, one.len + 1); /* with its zero */
        if (list.failed)
            break;
        n_listed++;
    }
    if (list.failed) /* what is in it is not known */
        n_listed = 0;
    if (n_listed > 1)
        pm_buf_add_byte(out, '{');
    const char *p = list.data;
    for (uint32_t i = 0; i < n_listed; i++, p += strlen(p) + 1)
        pm_buf_printf(out, "%s%s", i ? ", " : "", p);
    if (n_left)
        pm_buf_printf(out, ", %u more", n_left);
    if (n_listed > 1)
        pm_buf_add_byte(out, '}');
    out->failed |= list.failed;
    pm_buf_release(&list);
    pm_buf_release(&one);
}

/* What is known of the processes that are one noun, for they ran one program. */
struct processes {
    const char *exe;
    int64_t cpu_ns; /* PM_UNKNOWN where one does not tell */
};

static struct processes processes_of(const struct pm_view *view, pm_index noun)
{
    const struct pm_archive_data *data = view->data;
    const struct pm_graph *graph = data->graph;
    struct processes found = {.exe = ""};
    bool *are_that = pm_alloc_array(data->n_processes, sizeof *are_that);
    for (uint32_t i = 0; are_that && i < graph->n_costs; i++)
        if (pm_graph_first_noun(graph, graph->contexts[graph->costs[i].context].sentence) == noun)
            are_that[data->threads[graph->costs[i].thread].process] = true;
    for (uint32_t i = 0; are_that && i < data->n_processes; i++) {
        const struct pm_process *process = &data->processes[i];
        if (!are_that[process->merged_into])
            continue;
        found.exe = process->exe;
        if (process->user_cpu_ns == PM_UNKNOWN || process->system_cpu_ns == PM_UNKNOWN ||
            found.cpu_ns == PM_UNKNOWN ||
            __builtin_add_overflow(found.cpu_ns, process->user_cpu_ns, &found.cpu_ns) ||
            __builtin_add_overflow(found.cpu_ns, process->system_cpu_ns, &found.cpu_ns))
            found.cpu_ns = PM_UNKNOWN;
    }
    if (!are_that)
        found.cpu_ns = PM_UNKNOWN;
    free(are_that);
    return found;
}

/* Programs of one name are told apart by their paths. */
static const char *process_name(const struct pm_view_naming *naming, pm_index noun)
{
    const struct pm_view *view = naming->view;
    const struct pm_graph *graph = view->data->graph;
    const char *name = graph->nouns[noun].name;
    for (uint32_t g = 0; g < view->n_groups; g++) {
        pm_index other =
            view->groups[g].special == PM_VIEW_OUTSIDE ? view->groups[g].noun : PM_NONE;
        if (other != PM_NONE && other != noun && !strcmp(graph->nouns[other].name, name)) {
            const char *exe = processes_of(view, noun).exe;
            return *exe ? exe : name;
        }
    }
    return name;
}

/* The tree's top is the process itself; what is its own there is outside instrumented code. */
static void name_outside(const struct pm_view_naming *naming, const struct pm_view_row *row,
                         struct pm_buf *what, struct pm_buf *place)
{
    const struct pm_view *view = naming->view;
    pm_index noun = view->groups[row->groups[0]].noun;
    if (noun != PM_NONE && view->options.tree) {
        pm_buf_printf(what, "%s (process)", process_name(naming, noun));
        return;
    }
    add_group(naming, row->groups[0], what);
    if (noun == PM_NONE)
        return;
    int64_t cpu_ns = processes_of(view, noun).cpu_ns;
    if (cpu_ns != PM_UNKNOWN && cpu_ns >= 1000000000)
        pm_buf_printf(what, ", CPU %.3f s", (double)cpu_ns / 1e9);
    else if (cpu_ns != PM_UNKNOWN)
        pm_buf_printf(what, ", CPU %.3f ms", (double)cpu_ns / 1e6);
    pm_buf_printf(place, "(%s)", process_name(naming, noun));
}

/* An array on the heap is where its blocks were allocated. */
static void add_heap_of(const struct pm_view_naming *naming, const struct pm_view_row *row,
                        struct pm_buf *out)
{
    pm_index noun = pm_view_row_noun(naming->view, row, 0);
    if (!naming->heaps || row->kind != PM_VIEW_ROW_NOUN || noun == PM_NONE ||
        !naming->heaps[noun].n)
        return;
    pm_buf_add_str(out, PM_VIEW_HEAP_OF);
    if (naming->heaps[noun].n == 1)
        add_place(naming, naming->heaps[noun].first, out);
    else
        pm_buf_add_str(out, "several places");
}

static void add_traits(const struct pm_view_row *row, struct pm_buf *out)
{
    const struct pm_view_traits *traits = &row->traits;
    for (int i = 0; row->kind == PM_VIEW_ROW_SET && i < PM_VIEW_MAX_REASONS && traits->reasons[i];
         i++)
        pm_buf_printf(out, "%s %s%s", i ? " and" : ",", traits->is_inferred[i] ? "probably " : "",
                      traits->reasons[i]);
}

/* What a table has letters for. */
static void add_marks(const struct pm_view *view, const struct pm_view_row *row, struct pm_buf *out)
{
    if (row->traits.is_inlined)
        pm_buf_add_str(out, ", inlined");
    if (view->options.tree && row->traits.is_sampled)
        pm_buf_add_str(out, ", by samples");
    if (view->options.tree && row->traits.is_counted)
        pm_buf_add_str(out, ", counted: callers not known");
}

/* Its place is that of what it implements at another level, if there is any. A word of a higher
 * level, which a tree shows where it was active, is no code whose mapping is missing. */
static void name_unmapped(const struct pm_view_naming *naming, pm_index sentence,
                          struct pm_buf *what, struct pm_buf *place)
{
    const struct pm_view *view = naming->view;
    const struct pm_graph *graph = view->data->graph;
    pm_index noun = pm_graph_first_noun(graph, sentence);
    bool is_word = pm_view_lies_above(graph, pm_graph_sentence_level(graph, sentence), view->level);
    pm_buf_add_str(what, is_word ? "" : "[unmapped] ");
    if (noun == PM_NONE)
        return;
    pm_index at = *graph->nouns[noun].file ? PM_NONE : pm_view_find_place(view, sentence);
    add_noun(naming, noun, at != PM_NONE, what);
    add_nouns(naming, sentence, pm_view_noun_is_machine_code(view, noun), what);
    if (is_word)
        add_verb(naming, graph->sentences[sentence].verb, what);
    if (pm_view_grouping(view)->key != PM_VIEW_GROUP_BY_FILE)
        add_place(naming, at != PM_NONE ? at : noun, place);
}

/* Its name is its place. */
static bool is_file_of_axis(const struct pm_view *view, const struct pm_view_row *row)
{
    pm_index noun = pm_view_row_noun(view, row, 0);
    return pm_view_grouping(view)->where && noun != PM_NONE && pm_view_noun_is(view, noun, "file");
}

void pm_view_name_row(struct pm_view *view, struct pm_view_row *row)
{
    if (row->what)
        return;
    struct pm_view_naming *naming = view->naming;
    struct pm_buf what = PM_BUF_INIT(1 << 20), place = PM_BUF_INIT(1 << 20);
    size_t name_len = SIZE_MAX;
    switch (row->kind) {
    case PM_VIEW_ROW_OUTSIDE:
        name_outside(naming, row, &what, &place);
        break;
    case PM_VIEW_ROW_UNMAPPED:
        name_unmapped(naming, row->source, &what, &place);
        break;
    case PM_VIEW_ROW_RUNNER:
        pm_view_name_runner(view, row, &what, &place);
        break;
    case PM_VIEW_ROW_BRANCH:
        pm_buf_add_str(&what, pm_view_base_name(row->branch));
        break;
    case PM_VIEW_ROW_SPECIAL:
    case PM_VIEW_ROW_NOUN:
    case PM_VIEW_ROW_SET:
        add_set(naming, row, false, &what);
        add_heap_of(naming, row, &what);
        add_traits(row, &what);
        name_len = what.len;
        add_marks(view, row, &what);
        if (pm_view_grouping(view)->key != PM_VIEW_GROUP_BY_FILE && !is_file_of_axis(view, row))
            add_set(naming, row, true, &place);
        break;
    }
    row->name =
        name_len < what.len ? finish_text(naming, (struct pm_str){what.data, name_len}) : NULL;
    row->what = finish(naming, &what);
    if (!row->name)
        row->name = row->what;
    row->place = finish(naming, &place);
}

enum pm_status pm_view_naming_start(struct pm_view *view, struct pm_error *err)
{
    struct pm_view_naming *naming = view->naming = pm_alloc(sizeof *naming);
    if (naming) {
        naming->view = view;
        naming->failed = !count_base_names(naming) || !count_loops(naming) || !find_heaps(naming);
    }
    return pm_view_naming_status(view, err);
}

enum pm_status pm_view_naming_status(const struct pm_view *view, struct pm_error *err)
{
    return view->naming && !view->naming->failed
               ? PM_OK
               : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

void pm_view_naming_free(struct pm_view_naming *naming)
{
    if (!naming)
        return;
    pm_intern_free(naming->base_names);
    pm_index_map_release(&naming->files);
    pm_index_map_release(&naming->n_of_base);
    pm_index_map_release(&naming->loops_at);
    free(naming->counts);
    free(naming->heaps);
    free(naming);
}
