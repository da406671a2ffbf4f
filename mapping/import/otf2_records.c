/* An OTF2 trace, as the child tells it (otf2_records.h): definitions, and then the events of one
 * location after the other. Enters and leaves become contexts with wall_ns and n_calls; messages,
 * one-sided and collective calls the metrics that our own MPI adapter has; counters that only
 * grow, metrics of their own. */
#include "otf2_records.h"

#include "reader.h"

#include "../base/map.h"

#include <endian.h>
#include <math.h>
#include <stdlib.h>

enum { MAX_DEPTH = 1 << 16, MAX_DEFINITIONS = 1 << 24, MAX_HOST_STEPS = 64 };

/* Definitions by their reference: in any order, and a later one of the same reference counts. */
struct table {
    struct pm_map rows;
    uint64_t (*numbers)[RECORD_MAX_NUMBERS];
    uint32_t n, cap;
};

struct open_region {
    uint64_t region;
    uint32_t path;
};

struct metric {
    uint32_t row; /* 0: is no cost */
    uint64_t how;
    long double factor;
};

struct otf2 {
    struct import *im;
    struct table nodes, groups, locations, regions, members, classes, instances;
    struct pm_map string_at, frame_of, process_of, metric_of, rank_of, rank_at;
    struct pm_buf *strings;
    struct metric *metrics;
    uint32_t n_strings, strings_cap, n_metrics, metrics_cap, n_ranks;
    uint64_t hz, first_tick;
    bool has_clock, has_events, has_end;
    uint32_t wall, calls, messages, taken, received; /* metrics; 0: not made yet */
    /* the location at hand */
    bool has_stack, has_time;
    uint32_t process, thread;
    struct open_region *stack;
    uint32_t depth, stack_cap;
    uint64_t now_ns;
    struct pm_map last_at; /* class and place -> its number in lasts, + 1 */
    uint64_t *lasts;
    uint32_t n_lasts, lasts_cap;
    /* of all of them */
    uint64_t from_ns, to_ns;
    uint64_t n_open, n_unmatched, n_forced, n_back, n_other, n_outside, n_fallen, n_absolute,
        n_rounded;
};

/* --- definitions --- */

static enum pm_status refuse(struct otf2 *o, const char *what)
{
    return pm_error_set(o->im->err, PM_ERR_FORMAT, "trace '%s': %s", o->im->path, what);
}

static enum pm_status table_set(struct otf2 *o, struct table *t, uint64_t key,
                                const uint64_t *numbers)
{
    uint32_t *at = pm_map_at(&t->rows, key);
    if (!at)
        return import_no_memory(o->im);
    if (!*at) {
        if (t->n == MAX_DEFINITIONS)
            return pm_error_set(o->im->err, PM_ERR_LIMIT, "trace '%s' has too many definitions",
                                o->im->path);
        void *grown = pm_grow_array(t->numbers, t->n, &t->cap, 64, sizeof *t->numbers);
        if (!grown)
            return import_no_memory(o->im);
        t->numbers = grown;
        *at = ++t->n;
    }
    memcpy(t->numbers[*at - 1], numbers, sizeof *t->numbers);
    return PM_OK;
}

/* NULL: it was never defined. */
static const uint64_t *table_get(const struct table *t, uint64_t key)
{
    uint32_t row = pm_map_get(&t->rows, key);
    return row ? t->numbers[row - 1] : NULL;
}

static void table_release(struct table *t)
{
    pm_map_release(&t->rows);
    free(t->numbers);
}

static enum pm_status add_string(struct otf2 *o, uint64_t self, struct pm_str text)
{
    uint32_t *at = pm_map_at(&o->string_at, self);
    if (!at)
        return import_no_memory(o->im);
    if (!*at) {
        if (o->n_strings == MAX_DEFINITIONS)
            return pm_error_set(o->im->err, PM_ERR_LIMIT, "trace '%s' has too many names",
                                o->im->path);
        struct pm_buf *strings =
            pm_grow_array(o->strings, o->n_strings, &o->strings_cap, 256, sizeof *strings);
        if (!strings)
            return import_no_memory(o->im);
        o->strings = strings;
        strings[o->n_strings] = (struct pm_buf)PM_BUF_INIT(RECORD_MAX_TEXT + 1);
        *at = ++o->n_strings;
    }
    struct pm_buf *string = &o->strings[*at - 1];
    pm_buf_clear(string);
    pm_buf_add(string, text.p, text.len);
    return string->failed ? import_no_memory(o->im) : PM_OK;
}

/* "": there is none. */
static struct pm_str string_of(const struct otf2 *o, uint64_t ref)
{
    uint32_t row = ref == RECORD_NONE ? 0 : pm_map_get(&o->string_at, ref);
    if (!row || !o->strings[row - 1].len)
        return PM_STR("");
    return (struct pm_str){o->strings[row - 1].data, o->strings[row - 1].len};
}

static uint64_t place_key(uint64_t class, uint64_t place)
{
    return class << 8 | (place & 255);
}

static enum pm_status add_rank(struct otf2 *o, uint64_t rank, uint64_t location)
{
    if (rank >= MAX_DEFINITIONS)
        return refuse(o, "a rank is too large");
    o->n_ranks = o->n_ranks > rank + 1 ? o->n_ranks : (uint32_t)rank + 1;
    return pm_map_put(&o->rank_at, location, (uint32_t)rank + 1) ? PM_OK : import_no_memory(o->im);
}

static enum pm_status define(struct otf2 *o, int tag, const uint64_t *numbers, struct pm_str text)
{
    switch (tag) {
    case RECORD_CREATOR:
        pm_sink_attribute(o->im->sink, "producer", text);
        return PM_OK;
    case RECORD_CLOCK:
        o->hz = numbers[0];
        o->first_tick = numbers[1];
        o->has_clock = true;
        return o->hz ? PM_OK : refuse(o, "its clock has no ticks");
    case RECORD_STRING:
        return add_string(o, numbers[0], text);
    case RECORD_NODE:
        return table_set(o, &o->nodes, numbers[0], numbers);
    case RECORD_GROUP:
        return table_set(o, &o->groups, numbers[0], numbers);
    case RECORD_LOCATION:
        return table_set(o, &o->locations, numbers[0], numbers);
    case RECORD_REGION:
        return table_set(o, &o->regions, numbers[0], numbers);
    case RECORD_MEMBER:
        return table_set(o, &o->members, numbers[0], numbers);
    case RECORD_CLASS:
        return table_set(o, &o->classes, place_key(numbers[0], numbers[1]), numbers);
    case RECORD_INSTANCE:
        return table_set(o, &o->instances, numbers[0], numbers);
    default:
        return add_rank(o, numbers[0], numbers[1]);
    }
}

/* --- metrics --- */

static enum pm_status known_metric(struct otf2 *o, const struct pm_import_metric *metric,
                                   uint32_t *ret_metric)
{
    return *ret_metric ? PM_OK : pm_sink_metric(o->im->sink, metric, ret_metric);
}

static const struct pm_import_metric wall_ns = {"wall_ns", "ns", "time", ""},
                                     n_calls = {"n_calls", "calls", "count", ""},
                                     n_messages = {"messages", "messages", "count",
                                                   "messages that were sent"},
                                     taken_bytes = {"message_bytes", "B", "bytes",
                                                    "bytes that MPI's calls take"},
                                     received_bytes = {"received_bytes", "B", "bytes",
                                                       "bytes that MPI's calls put"};

/* "#" is the unit of numbers without one. */
static void word_of(const struct otf2 *o, uint64_t ref, const char *otherwise, char *out,
                    size_t max)
{
    struct pm_str text = string_of(o, ref);
    bool is_word = text.len && !pm_str_is(text, "#");
    import_metric_name(is_word ? text : pm_str_of(otherwise), out, max);
}

static enum pm_status make_metric(struct otf2 *o, const uint64_t *member, struct metric *ret_made)
{
    char name[128], unit[64], description[256];
    struct pm_str about = string_of(o, member[2]);
    int64_t exponent = (int64_t)member[6];
    word_of(o, member[1], "unnamed", name, sizeof name);
    word_of(o, member[3], "count", unit, sizeof unit);
    snprintf(description, sizeof description, "%.*s", IMPORT_SHOWN(about));
    struct pm_import_metric metric = {name, unit, "count", description};
    *ret_made = (struct metric){.how = member[4]};
    ret_made->factor = powl((long double)member[5], (long double)exponent);
    if (member[4] == RECORD_HOW_ABSOLUTE || !isfinite(ret_made->factor))
        return PM_OK;
    return pm_sink_metric(o->im->sink, &metric, &ret_made->row);
}

/* NULL: nothing is known of it. Instances have the members of their class. */
static const uint64_t *member_of(const struct otf2 *o, uint64_t class, uint64_t place)
{
    const uint64_t *instance = table_get(&o->instances, class);
    const uint64_t *at = table_get(&o->classes, place_key(instance ? instance[1] : class, place));
    return at ? table_get(&o->members, at[2]) : NULL;
}

/* *ret_metric NULL: nothing is known of it. */
static enum pm_status find_metric(struct otf2 *o, uint64_t class, uint64_t place,
                                  const struct metric **ret_metric)
{
    const uint64_t *member = member_of(o, class, place);
    *ret_metric = NULL;
    if (!member)
        return PM_OK;
    uint32_t *row = pm_map_at(&o->metric_of, member[0]);
    struct metric *metrics =
        pm_grow_array(o->metrics, o->n_metrics, &o->metrics_cap, 16, sizeof *metrics);
    if (metrics)
        o->metrics = metrics;
    if (!row || !metrics)
        return import_no_memory(o->im);
    if (!*row) {
        enum pm_status status = make_metric(o, member, &metrics[o->n_metrics]);
        if (status != PM_OK)
            return status;
        *row = ++o->n_metrics;
    }
    *ret_metric = &metrics[*row - 1];
    return PM_OK;
}

static long double number_of(uint64_t kind, uint64_t bits)
{
    double real;
    if (kind == RECORD_KIND_SIGNED)
        return (long double)(int64_t)bits;
    if (kind == RECORD_KIND_UNSIGNED)
        return (long double)bits;
    memcpy(&real, &bits, sizeof real);
    return isfinite(real) ? (long double)real : 0;
}

/* In whole units; a long double has 64 bits of them. */
static uint64_t whole(struct otf2 *o, long double value)
{
    long double rounded = roundl(value);
    o->n_rounded += rounded != value;
    if (rounded <= 0)
        return 0;
    return rounded >= 0x1p63L ? INT64_MAX : (uint64_t)rounded;
}

/* What came to a growing counter since it was read last in this location; the first value is where
 * it begins. */
static enum pm_status growth(struct otf2 *o, uint64_t key, uint64_t value, uint64_t *ret_more)
{
    uint32_t *at = pm_map_at(&o->last_at, key);
    uint64_t *lasts = pm_grow_array(o->lasts, o->n_lasts, &o->lasts_cap, 16, sizeof *lasts);
    *ret_more = 0;
    if (lasts)
        o->lasts = lasts;
    if (!at || !lasts)
        return import_no_memory(o->im);
    if (!*at) {
        lasts[o->n_lasts] = value;
        *at = ++o->n_lasts;
        return PM_OK;
    }
    uint64_t *last = &lasts[*at - 1];
    o->n_fallen += value < *last;
    if (value > *last)
        *ret_more = value - *last;
    *last = value;
    return PM_OK;
}

/* --- who runs --- */

/* The machine: the innermost node of class "node", else the innermost. */
static struct pm_str host_of(const struct otf2 *o, uint64_t node)
{
    struct pm_str host = string_of(o, RECORD_NONE);
    for (int i = 0; i < MAX_HOST_STEPS && node != RECORD_NONE; i++) {
        const uint64_t *at = table_get(&o->nodes, node);
        if (!at)
            break;
        if (!host.len || pm_str_is(string_of(o, at[2]), "node"))
            host = string_of(o, at[1]);
        if (pm_str_is(string_of(o, at[2]), "node"))
            break;
        node = at[3];
    }
    return host;
}

/* Any location of a process may be the one that stands for its rank. One process alone has none. */
static enum pm_status find_ranks(struct otf2 *o)
{
    for (uint32_t i = 0; o->n_ranks > 1 && i < o->locations.n; i++) {
        const uint64_t *location = o->locations.numbers[i];
        uint32_t rank = pm_map_get(&o->rank_at, location[0]);
        if (rank && !pm_map_put(&o->rank_of, location[3], rank))
            return import_no_memory(o->im);
    }
    return PM_OK;
}

static enum pm_status find_process(struct otf2 *o, uint64_t ref, uint32_t *ret_process)
{
    uint32_t *at = pm_map_at(&o->process_of, ref);
    if (!at)
        return import_no_memory(o->im);
    *ret_process = *at;
    if (*at)
        return PM_OK;
    const uint64_t *group = table_get(&o->groups, ref);
    struct pm_str name = group ? string_of(o, group[1]) : PM_STR("");
    struct pm_import_process process = {.name = name.len ? name : PM_STR("process"),
                                        .rank = (int64_t)pm_map_get(&o->rank_of, ref) - 1};
    if (group)
        process.host = host_of(o, group[3]);
    enum pm_status status = pm_sink_process(o->im->sink, &process, ret_process);
    *at = *ret_process;
    return status;
}

static enum pm_status leave_all(struct otf2 *o)
{
    o->n_open += o->depth;
    for (; o->depth; o->depth--) {
        enum pm_status status = pm_sink_event(o->im->sink, o->thread, o->now_ns, 0);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status begin_location(struct otf2 *o, uint64_t ref)
{
    const uint64_t *location = table_get(&o->locations, ref);
    enum pm_status status = leave_all(o);
    if (status != PM_OK)
        return status;
    if (!location)
        return refuse(o, "events of a location that is not defined");
    if (!o->has_events && (status = find_ranks(o)) != PM_OK)
        return status;
    o->has_events = true;
    o->has_stack = location[2];
    o->has_time = false;
    pm_map_release(&o->last_at);
    o->last_at = (struct pm_map){0};
    o->n_lasts = 0;
    if (!o->has_stack)
        return PM_OK;
    status = find_process(o, location[3], &o->process);
    if (status != PM_OK)
        return status;
    struct pm_import_thread thread = {.process = o->process, .name = string_of(o, location[1])};
    return pm_sink_thread(o->im->sink, &thread, &o->thread);
}

/* --- events --- */

static uint64_t ns_of(const struct otf2 *o, uint64_t tick)
{
    unsigned __int128 ticks = tick < o->first_tick ? 0 : tick - o->first_tick;
    unsigned __int128 ns = ticks * 1000000000u / o->hz;
    return ns > INT64_MAX ? INT64_MAX : (uint64_t)ns;
}

static enum pm_status top_cost(struct otf2 *o, uint32_t metric, uint64_t value)
{
    if (!value)
        return PM_OK;
    o->n_outside += !o->depth;
    if (!o->depth)
        return PM_OK;
    return pm_sink_cost(o->im->sink, o->thread, o->stack[o->depth - 1].path, metric, value);
}

/* Until then it was in what is open. */
static enum pm_status go_on(struct otf2 *o, uint64_t tick)
{
    uint64_t ns = ns_of(o, tick), before = o->now_ns;
    if (!o->has_time) {
        bool is_first = o->from_ns == o->to_ns;
        o->from_ns = is_first || ns < o->from_ns ? ns : o->from_ns;
        before = ns;
    }
    o->n_back += ns < before;
    o->now_ns = ns < before ? before : ns;
    o->has_time = true;
    o->to_ns = o->now_ns > o->to_ns ? o->now_ns : o->to_ns;
    if (!o->depth || o->now_ns == before)
        return PM_OK;
    enum pm_status status = known_metric(o, &wall_ns, &o->wall);
    return status != PM_OK ? status : top_cost(o, o->wall, o->now_ns - before);
}

/* A name of C++ as the linker has it, else the one to be shown. */
static enum pm_status find_frame(struct otf2 *o, uint64_t ref, uint32_t *ret_frame)
{
    uint32_t *at = pm_map_at(&o->frame_of, ref);
    if (!at)
        return import_no_memory(o->im);
    *ret_frame = *at;
    if (*at)
        return PM_OK;
    const uint64_t *region = table_get(&o->regions, ref);
    struct pm_import_frame frame = {.is_entered = true};
    if (region) {
        struct pm_str linkage = string_of(o, region[2]);
        frame.function = import_begins(linkage, "_Z") ? linkage : string_of(o, region[1]);
        frame.line_no = region[4] <= INT32_MAX ? (uint32_t)region[4] : 0;
        if (frame.line_no) /* eztrace's file of line 0 is the program */
            frame.file = string_of(o, region[3]);
    }
    enum pm_status status = pm_sink_frame(o->im->sink, &frame, ret_frame);
    *at = *ret_frame;
    return status;
}

static enum pm_status enter(struct otf2 *o, uint64_t tick, uint64_t region)
{
    uint32_t frame, path;
    enum pm_status status = go_on(o, tick);
    if (status != PM_OK)
        return status;
    struct open_region *stack = pm_grow_array(o->stack, o->depth, &o->stack_cap, 64, sizeof *stack);
    if (!stack)
        return import_no_memory(o->im);
    o->stack = stack;
    if (o->depth == MAX_DEPTH)
        return pm_error_set(o->im->err, PM_ERR_LIMIT, "trace '%s': more than %d regions are open",
                            o->im->path, MAX_DEPTH);
    status = find_frame(o, region, &frame);
    if (status != PM_OK)
        return status;
    status = pm_sink_path(o->im->sink, o->process, o->depth ? stack[o->depth - 1].path : 0, frame,
                          &path);
    if (status != PM_OK)
        return status;
    stack[o->depth++] = (struct open_region){region, path};
    status = known_metric(o, &n_calls, &o->calls);
    if (status != PM_OK)
        return status;
    status = pm_sink_cost(o->im->sink, o->thread, path, o->calls, 1);
    return status != PM_OK ? status : pm_sink_event(o->im->sink, o->thread, o->now_ns, path);
}

/* What is open above it ends with it; what is not open at all is passed over. */
static enum pm_status leave(struct otf2 *o, uint64_t tick, uint64_t region)
{
    uint32_t at = o->depth;
    enum pm_status status = go_on(o, tick);
    if (status != PM_OK)
        return status;
    while (at && o->stack[at - 1].region != region)
        at--;
    o->n_unmatched += !at;
    if (!at)
        return PM_OK;
    o->n_forced += o->depth - at;
    for (; o->depth >= at; o->depth--)
        if ((status = pm_sink_event(o->im->sink, o->thread, o->now_ns, 0)) != PM_OK)
            return status;
    return PM_OK;
}

static enum pm_status add_value(struct otf2 *o, const uint64_t *numbers)
{
    const struct metric *metric;
    enum pm_status status = go_on(o, numbers[0]);
    if (status != PM_OK)
        return status;
    status = find_metric(o, numbers[1], numbers[2], &metric);
    if (status != PM_OK || !metric)
        return status;
    o->n_absolute += !metric->row;
    if (!metric->row)
        return PM_OK;
    uint64_t value = whole(o, number_of(numbers[3], numbers[4]) * metric->factor);
    uint32_t row = metric->row;
    if (metric->how == RECORD_HOW_ACCUMULATED)
        status = growth(o, place_key(numbers[1], numbers[2]), value, &value);
    return status != PM_OK ? status : top_cost(o, row, value);
}

static enum pm_status add_message(struct otf2 *o, const uint64_t *numbers)
{
    const struct pm_import_metric *const metrics[] = {&n_messages, &taken_bytes, &received_bytes};
    uint32_t *const rows[] = {&o->messages, &o->taken, &o->received};
    for (int i = 0; i < 3; i++) {
        if (!numbers[i])
            continue;
        enum pm_status status = known_metric(o, metrics[i], rows[i]);
        if (status != PM_OK)
            return status;
        status = top_cost(o, *rows[i], numbers[i] > INT64_MAX ? INT64_MAX : numbers[i]);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status take_event(struct otf2 *o, int tag, const uint64_t *numbers)
{
    if (!o->has_events)
        return refuse(o, "an event without a location");
    if (!o->has_stack)
        return PM_OK;
    switch (tag) {
    case RECORD_ENTER:
        return enter(o, numbers[0], numbers[1]);
    case RECORD_LEAVE:
        return leave(o, numbers[0], numbers[1]);
    case RECORD_VALUE:
        return add_value(o, numbers);
    case RECORD_SENT:
        return add_message(o, numbers);
    default:
        o->n_other += numbers[0];
        return PM_OK;
    }
}

/* --- records --- */

static bool shape_of(int tag, size_t *ret_n, bool *ret_has_text)
{
    switch (tag) {
#define TAG(name, letter, n, has_text) \
    case letter:                       \
        *ret_n = n;                    \
        *ret_has_text = has_text;      \
        return true;
        RECORD_TAGS(TAG)
#undef TAG
    default:
        return false;
    }
}

static bool take_record(struct import_input *in, int tag, uint64_t *numbers, struct pm_str *text)
{
    size_t n;
    bool has_text;
    struct pm_str bytes;
    *text = PM_STR("");
    if (!shape_of(tag, &n, &has_text) || !import_take(in, n * 8, &bytes))
        return false;
    for (size_t i = 0; i < n; i++) {
        memcpy(&numbers[i], bytes.p + i * 8, 8);
        numbers[i] = le64toh(numbers[i]);
    }
    return !has_text ||
           (numbers[n - 1] <= RECORD_MAX_TEXT && import_take(in, numbers[n - 1], text));
}

static enum pm_status use_record(struct otf2 *o, int tag, const uint64_t *numbers,
                                 struct pm_str text)
{
    switch (tag) {
    case RECORD_FAILED:
        return pm_error_set(o->im->err, PM_ERR_FORMAT, "trace '%s' cannot be read: %.*s",
                            o->im->path, (int)(text.len < 1000 ? text.len : 1000), text.p);
    case RECORD_END:
        o->has_end = true;
        return leave_all(o);
    case RECORD_BEGIN:
        return begin_location(o, numbers[0]);
    case RECORD_ENTER:
    case RECORD_LEAVE:
    case RECORD_VALUE:
    case RECORD_SENT:
    case RECORD_OTHER:
        return take_event(o, tag, numbers);
    default: /* a trace defines all before its events, which refer to it */
        return o->has_events ? refuse(o, "a definition behind events")
                             : define(o, tag, numbers, text);
    }
}

static enum pm_status read_records(struct otf2 *o)
{
    uint64_t numbers[RECORD_MAX_NUMBERS] = {0};
    struct pm_str text;
    while (!o->has_end) {
        int tag = import_byte(o->im->in);
        enum pm_status status = import_input_status(o->im->in, o->im->err);
        if (status != PM_OK)
            return status;
        if (tag < 0 || !take_record(o->im->in, tag, numbers, &text))
            return refuse(o, "it ends before it is complete");
        status = use_record(o, tag, numbers, text);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static void tell(struct otf2 *o)
{
    const struct {
        uint64_t n;
        const char *text;
    } notes[] = {
        {o->n_open, "regions still open when their location ended, which end there"},
        {o->n_forced, "regions left by the leave of one around them"},
        {o->n_unmatched, "leaves of regions that were not open, left out"},
        {o->n_back, "events earlier than the one before them, taken to be then"},
        {o->n_other, "samples and entered calling contexts, left out"},
        {o->n_outside, "values and messages outside of all regions, left out"},
        {o->n_fallen, "counters that fell, and are taken to begin anew"},
        {o->n_absolute, "values that are states and no costs, left out"},
        {o->n_rounded, "values of metrics, rounded to whole units"},
    };
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (notes[i].n)
            pm_sink_note(o->im->sink, "%s: %llu", notes[i].text, (unsigned long long)notes[i].n);
    if (!o->has_clock)
        pm_sink_note(o->im->sink,
                     "the trace does not say how long a tick is: it is taken for 1 ns");
    if (o->to_ns > o->from_ns)
        pm_sink_span(o->im->sink, o->from_ns, o->to_ns);
}

static void release(struct otf2 *o)
{
    struct table *const tables[] = {&o->nodes,   &o->groups,  &o->locations, &o->regions,
                                    &o->members, &o->classes, &o->instances};
    struct pm_map *const maps[] = {&o->string_at, &o->frame_of, &o->process_of, &o->metric_of,
                                   &o->rank_of,   &o->rank_at,  &o->last_at};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        table_release(tables[i]);
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        pm_map_release(maps[i]);
    for (uint32_t i = 0; i < o->n_strings; i++)
        pm_buf_release(&o->strings[i]);
    free(o->strings);
    free(o->metrics);
    free(o->stack);
    free(o->lasts);
}

enum pm_status otf2_read_records(struct import *im)
{
    struct otf2 o = {.im = im, .hz = 1000000000};
    enum pm_status status = read_records(&o);
    if (!status)
        tell(&o);
    release(&o);
    return status;
}
