/* pprof's profile.proto, packed: a sample for each call path, thread, line and array, with all
 * metrics as its values. Nouns and who ran it are labels.
 * https://github.com/google/pprof/blob/main/proto/profile.proto has the numbers of the fields. */
#include "export_proto.h"
#include "export.h"

#include "mapping/base/map.h"

#include <stdlib.h>

enum { /* of Profile */
       SAMPLE_TYPE = 1,
       SAMPLE = 2,
       MAPPING = 3,
       LOCATION = 4,
       FUNCTION = 5,
       STRING_TABLE = 6,
       TIME_NANOS = 9,
       DURATION_NANOS = 10,
       COMMENT = 13,
       DEFAULT_SAMPLE_TYPE = 14,
};
enum { MAX_BYTES = 1 << 30 };

struct pprof {
    const struct pm_profile *profile;
    FILE *out;
    struct pm_intern *texts;
    struct pm_map number_of; /* by the address of an interned text */
    const char **strings;    /* in the order of their numbers */
    uint32_t n_strings, cap_strings;
    struct pm_map location_of; /* by frame and line: its id */
    uint32_t n_locations;
    struct pm_buf message, inner, innermost, ids; /* while they are built */
    bool failed;
};

/* The number of a text in the table of strings, 0 for "". */
static uint32_t string_of(struct pprof *p, const char *text)
{
    const char *kept = pm_intern_add(p->texts, text, strlen(text));
    uint32_t *at = kept ? pm_map_at(&p->number_of, (uint64_t)(uintptr_t)kept) : NULL;
    if (at && *at)
        return *at - 1;
    const char **grown =
        at ? pm_grow_array(p->strings, p->n_strings, &p->cap_strings, 256, sizeof *grown) : NULL;
    if (!grown) {
        p->failed = true;
        return 0;
    }
    p->strings = grown;
    p->strings[p->n_strings] = kept;
    *at = ++p->n_strings;
    return p->n_strings - 1;
}

static void write_message(struct pprof *p, uint32_t field)
{
    p->failed |= !proto_write(p->out, field, &p->message);
}

static const char *unit_word(const char *unit)
{
    return !strcmp(unit, "ns") ? "nanoseconds" : unit;
}

static void write_types(struct pprof *p)
{
    for (uint32_t v = 0; v < p->profile->n_values; v++) {
        proto_u64(&p->message, 1, string_of(p, p->profile->values[v].name));
        proto_u64(&p->message, 2, string_of(p, unit_word(p->profile->values[v].unit)));
        write_message(p, SAMPLE_TYPE);
    }
}

/* Of a frame, at a line of its file. Functions are frames, by their numbers from 1. */
static uint64_t location_of(struct pprof *p, uint32_t frame, uint32_t line)
{
    uint32_t *at = pm_map_at(&p->location_of, (uint64_t)frame << 32 | line);
    if (!at) {
        p->failed = true;
        return 0;
    }
    if (!*at) {
        *at = ++p->n_locations;
        proto_u64(&p->inner, 1, frame + 1u);
        proto_i64(&p->inner, 2, line);
        proto_u64(&p->innermost, 1, p->n_locations);
        proto_u64(&p->innermost, 2, 1);
        proto_message(&p->innermost, 4, &p->inner);
        p->failed |= !proto_write(p->out, LOCATION, &p->innermost);
    }
    return *at;
}

static void add_label(struct pprof *p, const char *key, const char *text)
{
    if (!*text)
        return;
    proto_u64(&p->inner, 1, string_of(p, key));
    proto_u64(&p->inner, 2, string_of(p, text));
    proto_message(&p->message, 3, &p->inner);
}

static void add_number(struct pprof *p, const char *key, int64_t number)
{
    if (number == PM_UNKNOWN)
        return;
    proto_u64(&p->inner, 1, string_of(p, key));
    proto_i64(&p->inner, 3, number);
    proto_message(&p->message, 3, &p->inner);
}

static void add_named(struct pprof *p, const char *key, const char *name, int64_t number)
{
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    pm_buf_add_printable(&text, name, strlen(name));
    if (number > 0) /* what was not sampled is of nobody */
        pm_buf_printf(&text, "%s%lld", text.len ? " " : "", (long long)number);
    add_label(p, key, text.data ? text.data : "");
    p->failed |= text.failed;
    pm_buf_release(&text);
}

static void add_runner(struct pprof *p, uint32_t thread)
{
    const struct pm_archive_data *data = p->profile->tree.data;
    const struct pm_thread *t = &data->threads[thread];
    const struct pm_process *process = &data->processes[t->process];
    add_named(p, "thread", t->name, t->tid);
    add_named(p, "process", pm_view_base_name(process->exe), process->pid);
    add_number(p, "rank", process->rank);
    add_named(p, "node", process->node, PM_UNKNOWN);
}

/* What was said above: of each kind of noun the innermost one, and the innermost verb. */
static void add_words(struct pprof *p, uint32_t node)
{
    enum { MAX_KINDS = 32 };
    const struct pm_profile *profile = p->profile;
    const char *kinds[MAX_KINDS];
    uint32_t n = 0;
    bool has_verb = false;
    for (; node != PM_NONE; node = profile->nodes[node].parent) {
        const struct pm_profile_frame *frame = &profile->frames[profile->nodes[node].frame];
        if (frame->is_word && !has_verb) {
            add_label(p, "verb", frame->verb);
            has_verb = true;
        }
        for (uint32_t i = 0; i < frame->n_nouns; i++) {
            const char *kind = *frame->nouns[i].kind ? frame->nouns[i].kind : "noun";
            bool is_new = n < MAX_KINDS;
            for (uint32_t k = 0; k < n && is_new; k++)
                is_new = strcmp(kinds[k], kind) != 0;
            if (!is_new)
                continue;
            kinds[n++] = kind;
            add_label(p, kind, frame->nouns[i].name);
        }
    }
}

static void add_labels(struct pprof *p, const struct pm_profile_cell *cell)
{
    const struct pm_profile *profile = p->profile;
    const struct pm_profile_frame *frame = &profile->frames[profile->nodes[cell->node].frame];
    struct pm_buf marks = PM_BUF_INIT(4096);
    add_label(p, "level", frame->level);
    if (cell->array != PM_NONE)
        add_label(p, "array", profile->arrays[cell->array]);
    add_words(p, cell->node);
    if (cell->thread != PM_NONE)
        add_runner(p, cell->thread);
    export_add_marks(profile, cell->node, &marks);
    add_label(p, "at_least", marks.data ? marks.data : "");
    p->failed |= marks.failed;
    pm_buf_release(&marks);
    const struct pm_view_traits *traits = &profile->nodes[cell->node].row->traits;
    if (frame->is_unmapped)
        add_label(p, "mapped", "no");
    if (traits->is_mostly_inferred)
        add_label(p, "caller", "likely");
    if (traits->is_sampled)
        add_label(p, "found_by", "samples");
}

/* Lines of other files than the frame's (what was inlined) have no place in it: 0. */
static uint32_t line_in(const struct pm_profile *profile, const struct pm_profile_frame *frame,
                        const struct pm_profile_cell *cell)
{
    if (cell->line == PM_NONE || strcmp(profile->lines[cell->line].file, frame->file) != 0)
        return 0;
    return profile->lines[cell->line].line_no;
}

static void write_sample(struct pprof *p, const struct pm_profile_cell *cell)
{
    const struct pm_profile *profile = p->profile;
    struct pm_buf values = PM_BUF_INIT(4096);
    pm_buf_clear(&p->ids);
    for (uint32_t node = cell->node; node != PM_NONE; node = profile->nodes[node].parent) {
        uint32_t frame = profile->nodes[node].frame;
        uint32_t line = node == cell->node ? line_in(profile, &profile->frames[frame], cell) : 0;
        pm_buf_add_uleb(&p->ids, location_of(p, frame, line));
    }
    for (uint32_t v = 0; v < profile->n_values; v++)
        pm_buf_add_uleb(&values, (uint64_t)cell->values[v]);
    proto_message(&p->message, 1, &p->ids);
    proto_message(&p->message, 2, &values);
    add_labels(p, cell);
    write_message(p, SAMPLE);
    p->failed |= values.failed;
    pm_buf_release(&values);
}

static void write_functions(struct pprof *p)
{
    for (uint32_t f = 0; f < p->profile->n_frames; f++) {
        const struct pm_profile_frame *frame = &p->profile->frames[f];
        struct pm_buf name = PM_BUF_INIT(1 << 24);
        bool is_named = !strcmp(frame->kind, "function") || !strcmp(frame->kind, "symbol");
        pm_buf_add_str(&name, frame->name);
        if (*frame->place && !is_named)
            pm_buf_printf(&name, " %s", frame->place);
        proto_u64(&p->message, 1, f + 1u);
        proto_u64(&p->message, 2, string_of(p, name.data ? name.data : ""));
        proto_u64(&p->message, 3, string_of(p, *frame->linkage ? frame->linkage : frame->name));
        proto_u64(&p->message, 4, string_of(p, frame->file));
        proto_i64(&p->message, 5, frame->line_no);
        write_message(p, FUNCTION);
        p->failed |= name.failed;
        pm_buf_release(&name);
    }
}

/* One mapping, which says that names, files and lines are here: pprof looks for none then. */
static void write_about(struct pprof *p, const struct export_notes *notes)
{
    const struct pm_archive_data *data = p->profile->tree.data;
    const struct pm_execution *execution = data->n_executions ? &data->executions[0] : NULL;
    struct pm_buf exe = PM_BUF_INIT(1 << 20);
    if (data->n_processes)
        pm_buf_add_printable(&exe, data->processes[0].exe, strlen(data->processes[0].exe));
    proto_u64(&p->message, 1, 1);
    proto_u64(&p->message, 5, string_of(p, exe.data ? exe.data : ""));
    p->failed |= exe.failed;
    pm_buf_release(&exe);
    for (uint32_t field = 7; field <= 10; field++)
        proto_u64(&p->message, field, 1);
    write_message(p, MAPPING);
    for (uint32_t i = 0; i < notes->n; i++) {
        pm_buf_clear(&p->message);
        proto_u64(&p->message, COMMENT, string_of(p, notes->items[i]));
        fwrite_unlocked(p->message.data, 1, p->message.len, p->out);
    }
    pm_buf_clear(&p->message);
    if (execution && execution->start_realtime_ns != PM_UNKNOWN)
        proto_i64(&p->message, TIME_NANOS, execution->start_realtime_ns);
    if (execution && execution->wall_ns != PM_UNKNOWN)
        proto_i64(&p->message, DURATION_NANOS, execution->wall_ns);
    proto_u64(&p->message, DEFAULT_SAMPLE_TYPE, string_of(p, p->profile->values[0].name));
    fwrite_unlocked(p->message.data, 1, p->message.len, p->out);
    pm_buf_clear(&p->message);
}

static void write_strings(struct pprof *p)
{
    for (uint32_t i = 0; i < p->n_strings; i++) {
        pm_buf_add_str(&p->message, p->strings[i]);
        write_message(p, STRING_TABLE);
    }
}

static enum pm_status write_pprof(struct pm_profile *profile, const struct export_notes *notes,
                                  FILE *out, struct pm_error *err)
{
    struct pprof p = {.profile = profile,
                      .out = out,
                      .texts = pm_intern_new(),
                      .message = PM_BUF_INIT(MAX_BYTES),
                      .inner = PM_BUF_INIT(MAX_BYTES),
                      .innermost = PM_BUF_INIT(MAX_BYTES),
                      .ids = PM_BUF_INIT(MAX_BYTES)};
    p.failed = !p.texts || string_of(&p, "") != 0;
    if (!p.failed) {
        write_types(&p);
        for (uint32_t i = 0; i < profile->n_cells && !p.failed && !ferror(out); i++)
            write_sample(&p, &profile->cells[i]);
        write_functions(&p);
        write_about(&p, notes);
        write_strings(&p);
    }
    pm_buf_release(&p.message);
    pm_buf_release(&p.inner);
    pm_buf_release(&p.innermost);
    pm_buf_release(&p.ids);
    pm_intern_free(p.texts);
    pm_map_release(&p.number_of);
    pm_map_release(&p.location_of);
    free(p.strings);
    return p.failed ? pm_error_set(err, PM_ERR_MEMORY, "out of memory") : PM_OK;
}

const struct export_format export_format_pprof = {
    .word = "pprof",
    .parts = PM_PROFILE_THREADS | PM_PROFILE_LINES | PM_PROFILE_ARRAYS,
    .has_notes = true,
    .is_binary = true,
    .is_gzip = true,
    .profile = write_pprof,
};
