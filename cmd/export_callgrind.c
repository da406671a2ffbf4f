/* Callgrind's format, as callgrind_annotate and KCachegrind take it: costs of functions by line,
 * and calls with what they cost inclusively. https://valgrind.org/docs/manual/cl-format.html
 *
 * Recursion: what a function does within itself is a function of its own, "f'2", as callgrind's
 * --separate-recs=2 has it. So the inclusive cost of f is right: recursion counts once. */
#include "export.h"

#include "mapping/base/map.h"

#include <inttypes.h>
#include <stdlib.h>

/* Functions are frames: number 2 * frame, and 2 * frame + 1 for what is called within itself. */
struct self {
    uint32_t function, line; /* line: of profile->lines, PM_NONE */
};

struct call {
    uint32_t from, to;
    int64_t n_calls;
};

struct callgrind {
    const struct pm_profile *profile;
    FILE *out;
    uint32_t *function_of; /* per node */
    struct self *selves;
    struct call *calls;
    int64_t *self_values, *call_values; /* [n * n_values] */
    uint32_t n_selves, n_calls, cap_selves, cap_calls, n_events;
    uint32_t events[PM_PROFILE_MAX_VALUES]; /* values that are columns */
    uint32_t calls_at;                      /* the value that is the number of calls; PM_NONE */
    bool *is_named;                         /* per function, and then per file: its number is out */
    struct pm_intern *files;
    struct pm_map file_number; /* by address: number from 1 */
    uint32_t n_files;
    bool failed, overflow;
};

static void choose_events(struct callgrind *c)
{
    c->calls_at = PM_NONE;
    for (uint32_t v = 0; v < c->profile->n_values; v++)
        if (!strcmp(c->profile->values[v].name, "n_calls"))
            c->calls_at = v;
        else
            c->events[c->n_events++] = v;
    if (!c->n_events) /* of a run that was counted only */
        c->events[c->n_events++] = c->calls_at;
}

static bool find_functions(struct callgrind *c)
{
    const struct pm_profile *profile = c->profile;
    c->function_of = pm_alloc_array((size_t)profile->n_nodes + 1, sizeof *c->function_of);
    for (uint32_t i = 0; c->function_of && i < profile->n_nodes; i++) {
        uint32_t frame = profile->nodes[i].frame, up = profile->nodes[i].parent;
        while (up != PM_NONE && profile->nodes[up].frame != frame)
            up = profile->nodes[up].parent;
        c->function_of[i] = 2 * frame + (up != PM_NONE);
    }
    return c->function_of;
}

/* Is the same call above on the path, so that it has this one's cost already? Only within
 * recursion. */
static bool is_within(const struct callgrind *c, uint32_t node)
{
    const struct pm_profile_node *nodes = c->profile->nodes;
    uint32_t to = c->function_of[node], from = c->function_of[nodes[node].parent];
    if (!(to & 1))
        return false;
    for (uint32_t up = nodes[node].parent; nodes[up].parent != PM_NONE; up = nodes[up].parent)
        if (c->function_of[up] == to && c->function_of[nodes[up].parent] == from)
            return true;
    return false;
}

static void add_values(struct callgrind *c, int64_t *to, const int64_t *from)
{
    for (uint32_t v = 0; v < c->profile->n_values; v++)
        c->overflow |= __builtin_add_overflow(to[v], from[v], &to[v]);
}

static bool sum_selves(struct callgrind *c)
{
    const struct pm_profile *profile = c->profile;
    struct pm_map at = {0};
    c->selves = pm_alloc_array((size_t)profile->n_cells + 1, sizeof *c->selves);
    c->self_values =
        pm_alloc_array((size_t)profile->n_cells + 1, profile->n_values * sizeof *c->self_values);
    bool ok = c->selves && c->self_values;
    for (uint32_t i = 0; ok && i < profile->n_cells; i++) {
        const struct pm_profile_cell *cell = &profile->cells[i];
        uint32_t function = c->function_of[cell->node];
        uint32_t *number = pm_map_at(&at, (uint64_t)function << 32 | cell->line);
        ok = number;
        if (ok && !*number) {
            c->selves[c->n_selves] = (struct self){function, cell->line};
            *number = ++c->n_selves;
        }
        if (ok)
            add_values(c, c->self_values + (size_t)(*number - 1) * profile->n_values, cell->values);
    }
    pm_map_release(&at);
    return ok;
}

static bool sum_calls(struct callgrind *c, const int64_t *inclusive)
{
    const struct pm_profile *profile = c->profile;
    struct pm_map at = {0};
    uint32_t n = profile->n_values;
    c->calls = pm_alloc_array((size_t)profile->n_nodes + 1, sizeof *c->calls);
    c->call_values = pm_alloc_array((size_t)profile->n_nodes + 1, n * sizeof *c->call_values);
    bool ok = c->calls && c->call_values;
    for (uint32_t i = 0; ok && i < profile->n_nodes; i++) {
        uint32_t parent = profile->nodes[i].parent;
        if (parent == PM_NONE)
            continue;
        uint32_t from = c->function_of[parent], to = c->function_of[i];
        uint32_t *number = pm_map_at(&at, (uint64_t)from << 32 | to);
        ok = number;
        if (ok && !*number) {
            c->calls[c->n_calls] = (struct call){from, to, 0};
            *number = ++c->n_calls;
        }
        if (!ok)
            break;
        c->calls[*number - 1].n_calls += profile->nodes[i].row->n_calls;
        if (!is_within(c, i))
            add_values(c, c->call_values + (size_t)(*number - 1) * n, inclusive + (size_t)i * n);
    }
    pm_map_release(&at);
    return ok;
}

/* "(3) heat.c" for the first time, then "(3)": a name is defined once. */
static void write_file(struct callgrind *c, const char *key, const char *file)
{
    const char *name = *file ? file : "???";
    const char *kept = pm_intern_add(c->files, name, strlen(name));
    uint32_t *number = kept ? pm_map_at(&c->file_number, (uint64_t)(uintptr_t)kept) : NULL;
    c->failed |= !number;
    if (number && *number) {
        fprintf(c->out, "%s=(%u)\n", key, *number);
    } else if (number) {
        *number = ++c->n_files;
        fprintf(c->out, "%s=(%u) %s\n", key, *number, name);
    }
}

static void write_function(struct callgrind *c, const char *key, uint32_t function)
{
    const struct pm_profile_frame *frame = &c->profile->frames[function / 2];
    if (c->is_named[function]) {
        fprintf(c->out, "%s=(%u)\n", key, function + 1);
        return;
    }
    fprintf(c->out, "%s=(%u) %s", key, function + 1, frame->name);
    if (*frame->place && strcmp(frame->kind, "function") != 0)
        fprintf(c->out, " %s", frame->place);
    fputs(function & 1 ? "'2\n" : "\n", c->out);
    c->is_named[function] = true;
}

static void write_costs(struct callgrind *c, uint32_t line_no, const int64_t *values)
{
    fprintf(c->out, "%u", line_no);
    for (uint32_t e = 0; e < c->n_events; e++)
        fprintf(c->out, " %" PRId64, values[c->events[e]]);
    fputc('\n', c->out);
}

static bool has_cost(const struct callgrind *c, const int64_t *values)
{
    for (uint32_t e = 0; e < c->n_events; e++)
        if (values[c->events[e]])
            return true;
    return false;
}

static void write_head(struct callgrind *c, const struct export_notes *notes)
{
    const struct pm_archive_data *data = c->profile->tree.data;
    fprintf(c->out, "# callgrind format\nversion: 1\ncreator: perfmap %s\n", PERFMAP_VERSION);
    if (data->n_executions) {
        struct pm_buf text = PM_BUF_INIT(1 << 20);
        pm_buf_add_printable(&text, data->executions[0].command,
                             strlen(data->executions[0].command));
        fprintf(c->out, "cmd: %s\n", text.data ? text.data : "");
        c->failed |= text.failed;
        pm_buf_release(&text);
    }
    for (uint32_t i = 0; i < notes->n; i++)
        fprintf(c->out, "desc: Note: %s\n", notes->items[i]);
    fputs("positions: line\nevents:", c->out);
    for (uint32_t e = 0; e < c->n_events; e++)
        fprintf(c->out, " %s", c->profile->values[c->events[e]].name);
    fputs("\nsummary:", c->out);
    for (uint32_t e = 0; e < c->n_events; e++)
        fprintf(c->out, " %" PRId64, c->profile->values[c->events[e]].total);
    fputs("\n", c->out);
}

/* Lines of other files are inlined there: fi and fe. */
static void write_self(struct callgrind *c, uint32_t first, uint32_t last)
{
    const struct pm_profile *profile = c->profile;
    const char *home = profile->frames[c->selves[first].function / 2].file, *now = home;
    for (uint32_t s = first; s < last; s++) {
        const int64_t *values = c->self_values + (size_t)s * profile->n_values;
        uint32_t line = c->selves[s].line;
        const char *file = line == PM_NONE ? home : profile->lines[line].file;
        if (!has_cost(c, values))
            continue;
        if (strcmp(file, now) != 0)
            write_file(c, strcmp(file, home) == 0 ? "fe" : "fi", file);
        now = file;
        write_costs(c, line == PM_NONE ? 0 : profile->lines[line].line_no, values);
    }
    if (strcmp(now, home) != 0)
        write_file(c, "fe", home);
}

static void write_call(struct callgrind *c, const struct call *call, const int64_t *values)
{
    const struct pm_profile_frame *to = &c->profile->frames[call->to / 2];
    write_file(c, "cfi", to->file);
    write_function(c, "cfn", call->to);
    /* 0 is none, and then readers take the next line for the caller's own cost: what nobody
     * counted is one call */
    fprintf(c->out, "calls=%" PRId64 " %u\n", call->n_calls > 0 ? call->n_calls : 1, to->line_no);
    write_costs(c, 0, values);
}

/* selves and calls by function: their first ones, + 1, and the next of the same. */
struct lists {
    uint32_t *first_call, *next_call;
};

static bool make_lists(const struct callgrind *c, struct lists *lists)
{
    size_t n = (size_t)c->profile->n_frames * 2 + 1;
    lists->first_call = pm_alloc_array(n, sizeof *lists->first_call);
    lists->next_call = pm_alloc_array((size_t)c->n_calls + 1, sizeof *lists->next_call);
    if (!lists->first_call || !lists->next_call)
        return false;
    for (uint32_t i = c->n_calls; i-- > 0;) {
        lists->next_call[i] = lists->first_call[c->calls[i].from];
        lists->first_call[c->calls[i].from] = i + 1;
    }
    return true;
}

static void write_calls(struct callgrind *c, const struct lists *lists, uint32_t function)
{
    for (uint32_t i = lists->first_call[function]; i; i = lists->next_call[i - 1]) {
        const int64_t *values = c->call_values + (size_t)(i - 1) * c->profile->n_values;
        if (has_cost(c, values) || c->calls[i - 1].n_calls)
            write_call(c, &c->calls[i - 1], values);
    }
}

/* selves lie by function, for cells lie by node: not so. They are sorted here. */
struct order {
    uint32_t function, line, at;
};

static int compare_order(const void *a_pointer, const void *b_pointer)
{
    const struct order *a = a_pointer, *b = b_pointer;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static bool sort_selves(struct callgrind *c)
{
    uint32_t n = c->n_selves, n_values = c->profile->n_values;
    struct order *order = pm_alloc_array((size_t)n + 1, sizeof *order);
    int64_t *values = pm_alloc_array((size_t)n + 1, n_values * sizeof *values);
    bool ok = order && values;
    for (uint32_t i = 0; ok && i < n; i++)
        order[i] = (struct order){c->selves[i].function, c->selves[i].line, i};
    if (ok)
        qsort(order, n, sizeof *order, compare_order);
    for (uint32_t i = 0; ok && i < n; i++) {
        c->selves[i] = (struct self){order[i].function, order[i].line};
        memcpy(values + (size_t)i * n_values, c->self_values + (size_t)order[i].at * n_values,
               n_values * sizeof *values);
    }
    free(order);
    if (!ok) {
        free(values);
        return false;
    }
    free(c->self_values);
    c->self_values = values;
    return true;
}

static void write_functions(struct callgrind *c, const struct lists *lists)
{
    uint32_t s = 0;
    for (uint32_t f = 0; f < c->profile->n_frames * 2 && !ferror(c->out); f++) {
        uint32_t first = s;
        while (s < c->n_selves && c->selves[s].function == f)
            s++;
        if (s == first && !lists->first_call[f])
            continue;
        fputc('\n', c->out);
        write_file(c, "fl", c->profile->frames[f / 2].file);
        write_function(c, "fn", f);
        if (s > first)
            write_self(c, first, s);
        write_calls(c, lists, f);
    }
}

static bool write_all(struct callgrind *c, const struct export_notes *notes)
{
    struct lists lists = {0};
    int64_t *inclusive = pm_profile_inclusive(c->profile);
    c->is_named = pm_alloc_array((size_t)c->profile->n_frames * 2 + 1, sizeof *c->is_named);
    c->files = pm_intern_new();
    choose_events(c);
    bool ok = inclusive && c->is_named && c->files && find_functions(c) && sum_selves(c) &&
              sort_selves(c) && sum_calls(c, inclusive) && make_lists(c, &lists);
    if (ok) {
        write_head(c, notes);
        write_functions(c, &lists);
    }
    free(inclusive);
    free(lists.first_call);
    free(lists.next_call);
    return ok && !c->failed;
}

static enum pm_status write_callgrind(struct pm_profile *profile, const struct export_notes *notes,
                                      FILE *out, struct pm_error *err)
{
    struct callgrind c = {.profile = profile, .out = out};
    bool ok = write_all(&c, notes);
    free(c.function_of);
    free(c.selves);
    free(c.calls);
    free(c.self_values);
    free(c.call_values);
    free(c.is_named);
    pm_intern_free(c.files);
    pm_map_release(&c.file_number);
    if (c.overflow)
        return pm_error_set(err, PM_ERR_LIMIT, "costs add up to more than 64 bits hold");
    return ok ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

const struct export_format export_format_callgrind = {
    .word = "callgrind",
    .parts = PM_PROFILE_LINES,
    .by_function = true,
    .has_notes = true,
    .profile = write_callgrind,
};
