/* Perfetto's protobuf: TrackEvent packets, names written once. Calls are slices; their level is the
 * category, what was said (nouns, verb) are debug annotations, and messages are flows.
 * https://perfetto.dev/docs/reference/synthetic-track-event; numbers of fields:
 * https://github.com/google/perfetto/tree/main/protos/perfetto/trace */
#include "export_counters.h"
#include "export_events.h"
#include "export_proto.h"

#include "mapping/archive/trace_messages.h"

#include <stdlib.h>

enum { PACKET = 1 }; /* of Trace */
enum {               /* of TracePacket */
       TIMESTAMP = 8,
       SEQUENCE_ID = 10,
       TRACK_EVENT = 11,
       INTERNED_DATA = 12,
       SEQUENCE_FLAGS = 13,
       TRACK_DESCRIPTOR = 60,
};
enum { /* of TrackEvent */
       CATEGORY_IIDS = 3,
       DEBUG_ANNOTATIONS = 4,
       TYPE = 9,
       NAME_IID = 10,
       TRACK_UUID = 11,
       EVENT_NAME = 23,
       COUNTER_VALUE = 30,
       SOURCE_LOCATION_IID = 34,
       FLOW_IDS = 47,
};
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };
enum { NOTES_TRACK = 1, FIRST_TRACK = 2, TRACKS = 3 }; /* of a thread: process, thread, others */
enum { MAX_BYTES = 1 << 26 };

struct perfetto {
    FILE *out;
    struct pm_buf packet, event, inner, interned;
    uint32_t *category_of; /* per name: the number of its level */
    const char *levels[256];
    uint32_t n_names, cap_names, n_levels;
    bool has_foreign, has_begun, failed;
    struct pm_trace *trace;
    struct pm_trace_messages *messages;
    const char *left_out; /* why messages have no flows; NULL: they have */
};

static uint64_t track_of(size_t index, unsigned which)
{
    return FIRST_TRACK + (uint64_t)index * TRACKS + which;
}

/* All packets are of one sequence, whose first one says that nothing came before. */
static void write_packet(struct perfetto *p)
{
    proto_u64(&p->packet, SEQUENCE_ID, 1);
    proto_u64(&p->packet, SEQUENCE_FLAGS, p->has_begun ? NEEDS_STATE : STATE_CLEARED | NEEDS_STATE);
    p->has_begun = true;
    p->failed |= !proto_write(p->out, PACKET, &p->packet);
}

/* --- tracks --- */

static void add_printable(struct pm_buf *message, uint32_t field, const char *text)
{
    struct pm_buf printable = PM_BUF_INIT(MAX_BYTES);
    pm_buf_add_printable(&printable, text, strlen(text));
    proto_bytes(message, field, printable.data ? printable.data : "", printable.len);
    message->failed |= printable.failed;
    pm_buf_release(&printable);
}

static void write_process(struct perfetto *p, size_t index, const struct pm_trace_thread *thread)
{
    proto_u64(&p->event, 1, track_of(index, 0));
    proto_i64(&p->inner, 1, thread->pid);
    add_printable(&p->inner, 6, pm_view_base_name(thread->exe));
    proto_message(&p->event, 3, &p->inner);
    proto_message(&p->packet, TRACK_DESCRIPTOR, &p->event);
    write_packet(p);
}

/* The first thread of a process that is in the trace has its track. */
static size_t process_index(const struct perfetto *p, size_t index)
{
    int64_t row = pm_trace_thread(p->trace, index)->process_row;
    for (size_t i = 0; i < index; i++)
        if (pm_trace_thread(p->trace, i)->process_row == row)
            return i;
    return index;
}

static void begin_thread(void *context, size_t index, const struct pm_trace_thread *thread)
{
    struct perfetto *p = context;
    size_t process = process_index(p, index);
    p->has_foreign = false;
    write_process(p, process, thread); /* again is no harm: --thread may have left out the first */
    proto_u64(&p->event, 1, track_of(index, 1));
    proto_u64(&p->event, 5, track_of(process, 0));
    proto_i64(&p->inner, 1, thread->pid);
    proto_i64(&p->inner, 2, thread->tid);
    add_printable(&p->inner, 5, thread->name);
    proto_message(&p->event, 4, &p->inner);
    proto_message(&p->packet, TRACK_DESCRIPTOR, &p->event);
    write_packet(p);
}

/* Calls on other stacks need not nest in those on the thread's own. */
static void begin_foreign(struct perfetto *p, size_t index)
{
    proto_u64(&p->event, 1, track_of(index, 2));
    proto_u64(&p->event, 5, track_of(index, 1));
    proto_text(&p->event, 2, "on other stacks");
    proto_message(&p->packet, TRACK_DESCRIPTOR, &p->event);
    write_packet(p);
    p->has_foreign = true;
}

/* --- names, once each --- */

static uint32_t number_of_level(struct perfetto *p, const char *level)
{
    for (uint32_t i = 0; i < p->n_levels; i++)
        if (!strcmp(p->levels[i], level))
            return i + 1;
    if (p->n_levels == sizeof p->levels / sizeof *p->levels)
        return p->n_levels;
    p->levels[p->n_levels++] = level;
    proto_u64(&p->inner, 1, p->n_levels);
    proto_text(&p->inner, 2, *level ? level : "-");
    proto_message(&p->interned, 1, &p->inner);
    return p->n_levels;
}

/* Levels live as long as the walk's names. Names come in the order of their ids. */
static void intern_name(struct perfetto *p, const struct export_name *name)
{
    if (name->id <= p->n_names)
        return;
    uint32_t *categories =
        pm_grow_array(p->category_of, p->n_names, &p->cap_names, 64, sizeof *categories);
    if (!categories) {
        p->failed = true;
        return;
    }
    p->category_of = categories;
    p->category_of[p->n_names++] = number_of_level(p, name->level);
    proto_u64(&p->inner, 1, name->id);
    proto_text(&p->inner, 2, name->name);
    proto_message(&p->interned, 2, &p->inner);
    if (*name->file) {
        proto_u64(&p->inner, 1, name->id);
        proto_text(&p->inner, 2, name->file);
        proto_u64(&p->inner, 4, (uint64_t)name->line_no);
        proto_message(&p->interned, 4, &p->inner);
    }
}

/* --- events --- */

static void annotate(struct perfetto *p, const char *key, const char *value)
{
    proto_text(&p->inner, 10, key);
    proto_text(&p->inner, 6, value);
    proto_message(&p->event, DEBUG_ANNOTATIONS, &p->inner);
}

/* Both ends have the same number: where a send begins, and where a receive ends, which is later. */
static void add_message(struct perfetto *p, size_t index, const struct export_event *event)
{
    struct pm_trace_message message;
    if (p->left_out || !event->name->n_nouns ||
        event->flags & (PM_TRACE_CUT | PM_TRACE_BEFORE | PM_TRACE_SWITCHED) ||
        pm_trace_message_end(p->messages, event->sentence) !=
            (event->is_leave ? PM_TRACE_RECEIVE : PM_TRACE_SEND) ||
        !pm_trace_message(p->messages, index, event->sentence, &message))
        return;
    proto_fixed64(&p->event, FLOW_IDS, message.id);
}

static void begin_slice(struct perfetto *p, const struct export_event *event)
{
    const struct export_name *name = event->name;
    intern_name(p, name);
    proto_u64(&p->event, NAME_IID, name->id);
    if (name->id <= p->n_names)
        proto_u64(&p->event, CATEGORY_IIDS, p->category_of[name->id - 1]);
    if (*name->file)
        proto_u64(&p->event, SOURCE_LOCATION_IID, name->id);
    if (name->n_nouns)
        annotate(p, "verb", name->verb);
    for (uint32_t i = 0; i < name->n_nouns; i++)
        annotate(p, name->nouns[i].kind, name->nouns[i].name);
    if (name->n_others)
        annotate(p, "note", "or others: this code implements several");
    if (event->flags & PM_TRACE_CUT)
        annotate(p, "note", "its begin is not known");
    if (event->flags & PM_TRACE_SWITCHED)
        annotate(p, "note", "goes on after it waited");
}

static void write_event(void *context, size_t index, const struct pm_trace_thread *thread,
                        const struct export_event *event)
{
    struct perfetto *p = context;
    (void)thread;
    if (event->is_foreign && !p->has_foreign)
        begin_foreign(p, index);
    proto_u64(&p->packet, TIMESTAMP, event->time_ns);
    proto_u64(&p->event, TYPE, event->is_leave ? SLICE_END : SLICE_BEGIN);
    proto_u64(&p->event, TRACK_UUID, track_of(index, event->is_foreign ? 2 : 1));
    if (!event->is_leave)
        begin_slice(p, event);
    add_message(p, index, event);
    if (p->interned.len)
        proto_message(&p->packet, INTERNED_DATA, &p->interned);
    proto_message(&p->packet, TRACK_EVENT, &p->event);
    write_packet(p);
}

static void write_note(void *context, const char *text)
{
    struct perfetto *p = context;
    proto_u64(&p->event, 1, NOTES_TRACK);
    proto_text(&p->event, 2, "PerfMap: notes");
    proto_message(&p->packet, TRACK_DESCRIPTOR, &p->event);
    write_packet(p);
    proto_u64(&p->packet, TIMESTAMP, 0);
    proto_u64(&p->event, TYPE, INSTANT);
    proto_u64(&p->event, TRACK_UUID, NOTES_TRACK);
    proto_text(&p->event, EVENT_NAME, text);
    proto_message(&p->packet, TRACK_EVENT, &p->event);
    write_packet(p);
}

/* --- counter tracks --- */

enum { UNIT_TIME_NS = 1, UNIT_COUNT = 2, UNIT_SIZE_BYTES = 3 };

static uint64_t unit_of(const char *unit)
{
    if (!strcmp(unit, "ns"))
        return UNIT_TIME_NS;
    return strcmp(unit, "bytes") == 0 ? UNIT_SIZE_BYTES : UNIT_COUNT;
}

static void write_value(struct perfetto *p, uint64_t track, int64_t at_ns, int64_t value)
{
    proto_i64(&p->packet, TIMESTAMP, at_ns);
    proto_u64(&p->event, TYPE, COUNTER);
    proto_u64(&p->event, TRACK_UUID, track);
    proto_i64(&p->event, COUNTER_VALUE, value);
    proto_message(&p->packet, TRACK_EVENT, &p->event);
    write_packet(p);
}

/* What a thread has of a metric in each stretch: a value holds until the next one. */
static void write_counter(void *context, const struct export_counter *counter)
{
    struct perfetto *p = context;
    size_t n_threads = pm_trace_n_threads(p->trace);
    uint64_t track =
        track_of(n_threads, 0) + (uint64_t)counter->number * n_threads + counter->thread;
    struct pm_buf name = PM_BUF_INIT(1 << 20);
    double stretch_ms = (double)(counter->edges_ns[1] - counter->edges_ns[0]) / 1e6;
    pm_buf_printf(&name, "%s in each %.3f ms", counter->metric, stretch_ms);
    proto_u64(&p->event, 1, track);
    proto_u64(&p->event, 5, track_of(counter->thread, 1));
    add_printable(&p->event, 2, name.data ? name.data : "");
    proto_u64(&p->inner, 3, unit_of(counter->unit));
    proto_message(&p->event, 8, &p->inner);
    proto_message(&p->packet, TRACK_DESCRIPTOR, &p->event);
    write_packet(p);
    for (uint32_t i = 0; i < EXPORT_STRETCHES; i++)
        write_value(p, track, counter->edges_ns[i], counter->amounts[i]);
    write_value(p, track, counter->edges_ns[EXPORT_STRETCHES], 0);
    p->failed |= name.failed;
    pm_buf_release(&name);
}

static bool goes_on(void *context)
{
    struct perfetto *p = context;
    return !p->failed && !ferror_unlocked(p->out);
}

static enum pm_status write_all(struct perfetto *p, const struct export_request *request,
                                struct pm_error *err)
{
    struct export_walk walk = {
        .begin = begin_thread, .event = write_event, .goes_on = goes_on, .context = p};
    p->left_out = pm_trace_messages_left_out(p->messages);
    if (!p->left_out && pm_trace_messages_any(p->messages) &&
        (request->from_ns || request->depth < UINT32_MAX))
        p->left_out = "messages are not matched in a part of a trace (--from, --depth)";
    export_each_dropped(p->trace, write_note, p);
    if (p->left_out)
        write_note(p, p->left_out);
    enum pm_status status = export_walk_trace(p->trace, request, &walk, err);
    if (status != PM_OK)
        return status;
    return export_each_counter(p->trace, request, write_counter, p, err);
}

static enum pm_status write_perfetto(struct pm_trace *trace, const struct export_request *request,
                                     FILE *out, struct pm_error *err)
{
    struct perfetto p = {.out = out,
                         .trace = trace,
                         .packet = PM_BUF_INIT(MAX_BYTES),
                         .event = PM_BUF_INIT(MAX_BYTES),
                         .inner = PM_BUF_INIT(MAX_BYTES),
                         .interned = PM_BUF_INIT(MAX_BYTES)};
    enum pm_status status = pm_trace_messages_open(trace, request->open_archive, err, &p.messages);
    if (status != PM_OK)
        return status;
    status = write_all(&p, request, err);
    pm_trace_messages_free(p.messages);
    free(p.category_of);
    pm_buf_release(&p.packet);
    pm_buf_release(&p.event);
    pm_buf_release(&p.inner);
    pm_buf_release(&p.interned);
    return p.failed ? pm_error_set(err, PM_ERR_MEMORY, "out of memory") : status;
}

const struct export_format export_format_perfetto = {
    .word = "perfetto", .has_notes = true, .is_binary = true, .trace = write_perfetto};
