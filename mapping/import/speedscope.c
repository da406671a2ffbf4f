/* speedscope's JSON, of py-spy, rbspy, perfmap and speedscope itself.
 *
 *     {"shared": {"frames": [{"name": "main", "file": "a.c", "line": 3}, ...]},
 *      "profiles": [
 *         {"type": "sampled", "name": "thread 1", "unit": "seconds", "startValue": 0,
 *          "endValue": 9, "samples": [[0, 1], ...], "weights": [0.01, ...]},
 *         {"type": "evented", "name": "thread 2", "unit": "nanoseconds", ...,
 *          "events": [{"type": "O", "frame": 0, "at": 12}, {"type": "C", "frame": 0, "at": 15}]}]}
 *
 * Members come in any order; many writers have the frames behind the profiles. So stacks are kept,
 * each once, and of each sample a number until its weight is known.
 * https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources */
#include "events.h"
#include "json.h"
#include "reader.h"

#include "../base/map.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_BYTES = 1 << 16, MAX_STACK = 1 << 16, MAX_LIST = 1 << 28 };

enum unit { UNIT_MISSING, UNIT_COUNT, UNIT_BYTES, UNIT_NS, UNIT_US, UNIT_MS, UNIT_S };

struct named {
    char *name, *file; /* owned */
    uint32_t line_no;
};

struct stack {
    uint32_t first, n; /* in pool */
};

struct profile {
    char *name; /* owned; NULL: none */
    enum unit unit;
    bool has_weights, is_evented;
};

struct cost {
    uint32_t profile, stack;
    long double value;
};

struct speedscope {
    struct import *im;
    struct import_events *events;
    struct pm_buf text;
    struct profile *profiles;
    uint32_t n_profiles, profiles_cap;
    struct named *frames; /* by their index in the file */
    uint32_t n_frames, frames_cap;
    uint32_t *entered, *sampled; /* frames of the sink, likewise */
    uint32_t most_frame;         /* that is used, + 1 */
    struct pm_map stack_of;      /* by hash */
    struct stack *stacks;
    uint32_t *pool;
    uint32_t n_stacks, stacks_cap, n_pool, pool_cap;
    struct cost *costs;
    uint32_t n_costs, costs_cap;
    /* of the profile at hand */
    struct pm_map cost_of; /* stack + 1 -> its cost + 1 */
    uint32_t *samples;     /* their costs */
    double *weights;       /* that came before their samples */
    uint32_t n_samples, samples_cap, n_weights, weights_cap;
    /* of the value at hand */
    uint32_t *stack;
    uint32_t depth;
    double number;
    int64_t last_ns; /* of the profile's events */
    struct pm_str key, name, file, line, kind, at, frame;
    bool is_ours, has_shared;
    uint32_t all; /* thread of all threads' costs in files of ours; 0: none yet */
    uint64_t n_unweighted, n_negative, n_falling, n_no_time, n_parts;
};

/* --- JSON in windows --- */

typedef bool piece(struct speedscope *s, struct import_json *json);

static enum pm_status refuse(struct speedscope *s, const char *what)
{
    return import_refuse_byte(s->im->in, s->im->err, PM_ERR_FORMAT, "%s", what);
}

static enum pm_status bad_json(struct speedscope *s, const struct import_json *json)
{
    struct pm_str shown = {json->p, (size_t)(json->end - json->p)};
    return import_refuse_byte(s->im->in, s->im->err, PM_ERR_FORMAT,
                              "'%.*s' is no JSON of speedscope", IMPORT_SHOWN(shown));
}

/* The next piece, whole; read again with more bytes where the window cuts it. What it left in s is
 * lent until the next one. *ret_found: what it returned. */
static enum pm_status step(struct speedscope *s, piece *read, bool *ret_found)
{
    struct pm_str unused;
    for (size_t n = LEAST_BYTES;; n *= 4) {
        struct pm_str window = import_peek(s->im->in, n);
        struct import_json json = {.p = window.p, .end = window.p + window.len};
        *ret_found = read(s, &json);
        if (json.is_bad)
            return bad_json(s, &json);
        if (json.is_cut && window.len < n)
            return refuse(s, "the file ends before it is complete");
        if (json.is_cut && n >= IMPORT_MAX_TAKE)
            return import_refuse_byte(s->im->in, s->im->err, PM_ERR_LIMIT,
                                      "a value is longer than 64 MiB");
        if (json.is_cut)
            continue;
        (void)import_take(s->im->in, (size_t)(json.p - window.p), &unused);
        return PM_OK;
    }
}

static bool enter_object(struct speedscope *s, struct import_json *json)
{
    (void)s;
    return import_json_enter(json, '{');
}

static bool enter_array(struct speedscope *s, struct import_json *json)
{
    (void)s;
    return import_json_enter(json, '[');
}

static bool read_key(struct speedscope *s, struct import_json *json)
{
    return import_json_key(json, &s->key);
}

static bool read_item(struct speedscope *s, struct import_json *json)
{
    (void)s;
    return import_json_item(json);
}

static bool skip(struct speedscope *s, struct import_json *json)
{
    (void)s;
    import_json_skip(json);
    return true;
}

static bool read_word(struct speedscope *s, struct import_json *json)
{
    return import_json_scalar(json, &s->name);
}

static bool read_number(struct speedscope *s, struct import_json *json)
{
    struct pm_str text;
    if (!import_json_scalar(json, &text))
        return false;
    if (!pm_str_to_double(text, &s->number) || !isfinite(s->number))
        json->is_bad = !json->is_cut;
    return true;
}

static bool take_index(struct speedscope *s, struct pm_str text, uint32_t *ret_index)
{
    uint64_t number;
    if (!pm_str_to_u64(text, MAX_LIST, &number))
        return false;
    *ret_index = (uint32_t)number;
    if (number + 1 > s->most_frame)
        s->most_frame = (uint32_t)number + 1;
    return true;
}

/* "[0, 1, 5]" */
static bool read_stack(struct speedscope *s, struct import_json *json)
{
    struct pm_str text;
    s->depth = 0;
    if (!import_json_enter(json, '['))
        return false;
    while (import_json_item(json) && import_json_scalar(json, &text)) {
        if (s->depth == MAX_STACK || !take_index(s, text, &s->stack[s->depth++])) {
            json->is_bad = true;
            return false;
        }
    }
    return true;
}

/* The members of a frame or of an event that mean something. */
static bool read_members(struct speedscope *s, struct import_json *json)
{
    s->name = s->file = s->line = s->kind = s->at = s->frame = PM_STR("");
    const struct {
        const char *key;
        struct pm_str *value;
    } members[] = {{"name", &s->name}, {"file", &s->file}, {"line", &s->line},
                   {"type", &s->kind}, {"at", &s->at},     {"frame", &s->frame}};
    struct pm_str key;
    if (!import_json_enter(json, '{'))
        return false;
    while (import_json_key(json, &key)) {
        struct pm_str *value = NULL;
        for (size_t i = 0; i < sizeof members / sizeof *members; i++)
            if (pm_str_is(key, members[i].key))
                value = members[i].value;
        char c = import_json_peek(json);
        if (value && c != '{' && c != '[')
            import_json_scalar(json, value);
        else
            import_json_skip(json);
    }
    return true;
}

/* Calls take for each item of the list that comes next. read: NULL: take reads it itself. */
static enum pm_status each_item(struct speedscope *s, piece *read,
                                enum pm_status (*take)(struct speedscope *))
{
    bool found;
    enum pm_status status = step(s, enter_array, &found);
    if (status != PM_OK)
        return status;
    for (;;) {
        status = step(s, read_item, &found);
        if (status != PM_OK || !found)
            return status;
        if (read)
            status = step(s, read, &found);
        if (status != PM_OK)
            return status;
        status = take(s);
        if (status != PM_OK)
            return status;
    }
}

/* Calls take for each member of the object that comes next; its key is s->key, and it reads the
 * value. */
static enum pm_status each_member(struct speedscope *s, enum pm_status (*take)(struct speedscope *))
{
    bool found;
    enum pm_status status = step(s, enter_object, &found);
    if (status != PM_OK)
        return status;
    for (;;) {
        status = step(s, read_key, &found);
        if (status != PM_OK || !found)
            return status;
        status = take(s);
        if (status != PM_OK)
            return status;
    }
}

static enum pm_status pass_value(struct speedscope *s)
{
    bool found;
    return step(s, skip, &found);
}

/* --- frames --- */

static enum pm_status take_frame(struct speedscope *s)
{
    uint64_t line_no = 0;
    struct named *frames =
        pm_grow_array(s->frames, s->n_frames, &s->frames_cap, 256, sizeof *frames);
    if (!frames)
        return import_no_memory(s->im);
    s->frames = frames;
    if (s->n_frames == MAX_LIST)
        return refuse(s, "it has too many frames");
    struct pm_str name = import_json_text(s->name, &s->text);
    struct named *made = &frames[s->n_frames++];
    *made = (struct named){.name = pm_strndup(name.len ? name.p : "", name.len)};
    struct pm_str file = import_json_text(s->file, &s->text);
    if (pm_str_is(file, "null"))
        file = PM_STR("");
    made->file = pm_strndup(file.len ? file.p : "", file.len);
    if (pm_str_to_u64(s->line, INT32_MAX, &line_no))
        made->line_no = (uint32_t)line_no;
    return made->name && made->file ? PM_OK : import_no_memory(s->im);
}

/* What was entered, and what samples found, are frames of different kinds. */
static enum pm_status make_frames(struct speedscope *s, bool is_entered, uint32_t **ret_frames)
{
    *ret_frames = pm_alloc_array(s->n_frames + 1u, sizeof **ret_frames);
    if (!*ret_frames)
        return import_no_memory(s->im);
    for (uint32_t i = 0; i < s->n_frames; i++) {
        struct pm_import_frame frame = {.function = pm_str_of(s->frames[i].name),
                                        .file = pm_str_of(s->frames[i].file),
                                        .line_no = s->frames[i].line_no,
                                        .is_entered = is_entered};
        enum pm_status status = pm_sink_frame(s->im->sink, &frame, &(*ret_frames)[i]);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status take_shared(struct speedscope *s)
{
    if (!pm_str_is(s->key, "frames"))
        return pass_value(s);
    if (s->has_shared)
        return refuse(s, "it has frames twice");
    s->has_shared = true;
    return each_item(s, read_members, take_frame);
}

/* --- samples --- */

static enum pm_status find_stack(struct speedscope *s, uint32_t *ret_stack)
{
    uint64_t hash = import_hash(s->stack, s->depth * sizeof *s->stack, s->depth);
    uint32_t *at = pm_map_at(&s->stack_of, hash);
    struct stack *stacks =
        pm_grow_array(s->stacks, s->n_stacks, &s->stacks_cap, 256, sizeof *stacks);
    if (stacks)
        s->stacks = stacks;
    if (!at || !stacks)
        return import_no_memory(s->im);
    *ret_stack = *at;
    if (*at)
        return PM_OK;
    if (s->n_pool > MAX_LIST)
        return refuse(s, "it has too many stacks");
    stacks[s->n_stacks] = (struct stack){s->n_pool, s->depth};
    for (uint32_t i = 0; i < s->depth; i++) {
        uint32_t *pool = pm_grow_array(s->pool, s->n_pool, &s->pool_cap, 1024, sizeof *pool);
        if (!pool)
            return import_no_memory(s->im);
        s->pool = pool;
        pool[s->n_pool++] = s->stack[i];
    }
    *ret_stack = *at = ++s->n_stacks;
    return PM_OK;
}

/* Where a stack's costs of the profile at hand are added up. */
static enum pm_status find_cost(struct speedscope *s, uint32_t stack, uint32_t *ret_cost)
{
    uint32_t *at = pm_map_at(&s->cost_of, stack);
    struct cost *costs = pm_grow_array(s->costs, s->n_costs, &s->costs_cap, 256, sizeof *costs);
    if (costs)
        s->costs = costs;
    if (!at || !costs)
        return import_no_memory(s->im);
    if (!*at) {
        costs[s->n_costs] = (struct cost){s->n_profiles - 1, stack, 0};
        *at = ++s->n_costs;
    }
    *ret_cost = *at - 1;
    return PM_OK;
}

static void add_weight(struct speedscope *s, uint32_t sample, double weight)
{
    s->n_negative += weight < 0;
    if (weight > 0)
        s->costs[s->samples[sample]].value += weight;
}

static enum pm_status take_sample(struct speedscope *s)
{
    uint32_t stack = 0, cost = 0;
    enum pm_status status = find_stack(s, &stack);
    if (status != PM_OK)
        return status;
    status = find_cost(s, stack, &cost);
    if (status != PM_OK)
        return status;
    uint32_t *samples =
        pm_grow_array(s->samples, s->n_samples, &s->samples_cap, 1024, sizeof *samples);
    if (!samples || s->n_samples == MAX_LIST)
        return import_no_memory(s->im);
    s->samples = samples;
    samples[s->n_samples++] = cost;
    if (s->n_samples <= s->n_weights)
        add_weight(s, s->n_samples - 1, s->weights[s->n_samples - 1]);
    return PM_OK;
}

static enum pm_status take_weight(struct speedscope *s)
{
    if (s->n_weights < s->n_samples) {
        add_weight(s, s->n_weights++, s->number);
        return PM_OK;
    }
    double *weights =
        pm_grow_array(s->weights, s->n_weights, &s->weights_cap, 1024, sizeof *weights);
    if (!weights || s->n_weights == MAX_LIST)
        return import_no_memory(s->im);
    s->weights = weights;
    weights[s->n_weights++] = s->number;
    return PM_OK;
}

/* --- events --- */

static struct profile *profile_of(struct speedscope *s)
{
    return &s->profiles[s->n_profiles - 1];
}

static long double ns_of(enum unit unit, long double value)
{
    static const long double factors[] = {
        [UNIT_NS] = 1, [UNIT_US] = 1e3L, [UNIT_MS] = 1e6L, [UNIT_S] = 1e9L};
    return unit >= UNIT_NS ? value * factors[unit] : value;
}

static enum pm_status take_event(struct speedscope *s)
{
    double at;
    uint32_t frame;
    bool is_open = pm_str_is(s->kind, "O");
    const struct profile *profile = profile_of(s);
    if ((!is_open && !pm_str_is(s->kind, "C")) || !take_index(s, s->frame, &frame) ||
        !pm_str_to_double(s->at, &at) || !isfinite(at))
        return refuse(s, "an event has no type O or C, frame and time");
    if (profile->unit < UNIT_NS) {
        s->n_no_time++;
        return PM_OK;
    }
    long double ns = roundl(ns_of(profile->unit, at));
    if (ns < 0 || ns > 0x1p62L)
        return refuse(s, "the time of an event is out of range");
    bool is_falling = ns < (long double)s->last_ns;
    s->n_falling += is_falling;
    if (!is_falling)
        s->last_ns = (int64_t)ns;
    struct import_event event = {.time_ns = s->last_ns,
                                 .thread = s->n_profiles - 1,
                                 .frame = frame + 1,
                                 .kind = is_open ? IMPORT_ENTER : IMPORT_LEAVE};
    return import_events_add(s->events, &event);
}

/* --- profiles --- */

static enum pm_status take_unit(struct speedscope *s)
{
    static const struct {
        const char *word;
        enum unit unit;
    } units[] = {{"none", UNIT_COUNT},      {"bytes", UNIT_BYTES},     {"nanoseconds", UNIT_NS},
                 {"microseconds", UNIT_US}, {"milliseconds", UNIT_MS}, {"seconds", UNIT_S}};
    bool found;
    enum pm_status status = step(s, read_word, &found);
    if (status != PM_OK)
        return status;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (pm_str_is(s->name, units[i].word))
            profile_of(s)->unit = units[i].unit;
    return profile_of(s)->unit ? PM_OK : refuse(s, "a profile has an unknown unit");
}

static enum pm_status take_name(struct speedscope *s)
{
    bool found;
    enum pm_status status = step(s, read_word, &found);
    if (status != PM_OK)
        return status;
    struct pm_str text = import_json_text(s->name, &s->text);
    struct profile *profile = profile_of(s);
    free(profile->name);
    profile->name = pm_strndup(text.len ? text.p : "", text.len);
    return profile->name ? PM_OK : import_no_memory(s->im);
}

static enum pm_status take_events(struct speedscope *s)
{
    profile_of(s)->is_evented = true;
    if (!profile_of(s)->unit)
        return refuse(s, "a profile has its unit behind its events");
    return each_item(s, read_members, take_event);
}

static enum pm_status take_member(struct speedscope *s)
{
    if (pm_str_is(s->key, "unit"))
        return take_unit(s);
    if (pm_str_is(s->key, "name"))
        return take_name(s);
    if (pm_str_is(s->key, "samples"))
        return each_item(s, read_stack, take_sample);
    if (pm_str_is(s->key, "events"))
        return take_events(s);
    if (!pm_str_is(s->key, "weights"))
        return pass_value(s);
    profile_of(s)->has_weights = true;
    return each_item(s, read_number, take_weight);
}

/* Samples without weights count 1. */
static enum pm_status end_profile(struct speedscope *s)
{
    struct profile *profile = profile_of(s);
    if (profile->has_weights && s->n_weights < s->n_samples)
        s->n_unweighted += s->n_samples - s->n_weights;
    if (s->n_weights > s->n_samples)
        return import_refuse_byte(s->im->in, s->im->err, PM_ERR_FORMAT,
                                  "a profile has %u samples and %u weights", s->n_samples,
                                  s->n_weights);
    if (profile->has_weights)
        return PM_OK;
    if (!profile->is_evented)
        profile->unit = UNIT_COUNT;
    for (uint32_t i = 0; i < s->n_samples; i++)
        add_weight(s, i, 1);
    return PM_OK;
}

static enum pm_status read_profile(struct speedscope *s)
{
    struct profile *profiles =
        pm_grow_array(s->profiles, s->n_profiles, &s->profiles_cap, 16, sizeof *profiles);
    if (!profiles)
        return import_no_memory(s->im);
    s->profiles = profiles;
    profiles[s->n_profiles++] = (struct profile){0};
    pm_map_release(&s->cost_of);
    s->cost_of = (struct pm_map){0};
    s->n_samples = s->n_weights = 0;
    s->last_ns = 0;
    enum pm_status status = each_member(s, take_member);
    return status != PM_OK ? status : end_profile(s);
}

static enum pm_status take_top(struct speedscope *s)
{
    bool found;
    if (pm_str_is(s->key, "shared"))
        return each_member(s, take_shared);
    if (pm_str_is(s->key, "profiles"))
        return each_item(s, NULL, read_profile);
    if (!pm_str_is(s->key, "exporter"))
        return pass_value(s);
    enum pm_status status = step(s, read_word, &found);
    if (status != PM_OK)
        return status;
    s->is_ours = import_begins(s->name, "perfmap ");
    pm_sink_attribute(s->im->sink, "producer", import_json_text(s->name, &s->text));
    return PM_OK;
}

/* --- what it is made of --- */

static bool is_of_all(const struct profile *profile)
{
    return profile->name && import_begins(pm_str_of(profile->name), "all: ");
}

/* perfmap export writes the costs of each metric of all threads, and then the first one's parts of
 * each thread: these are in it already. */
static bool is_part(const struct speedscope *s, const struct profile *profile)
{
    return s->is_ours && !profile->is_evented && !is_of_all(profile);
}

static enum pm_status find_metric(struct speedscope *s, const struct profile *profile,
                                  uint32_t *ret_metric)
{
    static const char *const units[] = {"samples", "samples", "bytes", "ns"};
    static const char *const own_units[] = {"count", "count", "bytes", "ns"};
    static const char *const kinds[] = {"count", "count", "bytes", "time"};
    enum unit unit = profile->unit < UNIT_NS ? profile->unit : UNIT_NS;
    char name[128];
    uint64_t factor;
    if (!s->is_ours || !is_of_all(profile))
        return import_unit_metric(s->im, units[unit], ret_metric, &factor);
    import_metric_name(pm_str_of(profile->name + strlen("all: ")), name, sizeof name);
    struct pm_import_metric metric = {name, own_units[unit], kinds[unit], "as perfmap exported it"};
    return pm_sink_metric(s->im->sink, &metric, ret_metric);
}

static enum pm_status add_cost(struct speedscope *s, const struct cost *cost, uint32_t process,
                               uint32_t thread, uint32_t metric)
{
    const struct stack *stack = &s->stacks[cost->stack - 1];
    long double value = roundl(ns_of(s->profiles[cost->profile].unit, cost->value));
    uint32_t place;
    if (value > 0x1p62L)
        return pm_error_set(s->im->err, PM_ERR_LIMIT, "profile '%s': a value is too large",
                            s->im->path);
    for (uint32_t i = 0; i < stack->n; i++)
        s->stack[i] = s->sampled[s->pool[stack->first + i]];
    enum pm_status status = pm_sink_place(s->im->sink, process, s->stack, stack->n, &place);
    if (status != PM_OK || value < 1)
        return status;
    return pm_sink_cost(s->im->sink, thread, place, metric, (uint64_t)value);
}

/* Costs are in the order of their profiles. */
static enum pm_status make_profile(struct speedscope *s, uint32_t number, uint32_t process,
                                   uint32_t *next)
{
    const struct profile *profile = &s->profiles[number];
    uint32_t thread = 0, metric = 0;
    bool is_left_out = is_part(s, profile);
    s->n_parts += is_left_out;
    enum pm_status status = PM_OK;
    struct pm_import_thread made = {.process = process,
                                    .name = pm_str_of(profile->name ? profile->name : "")};
    if (is_of_all(profile))
        made.name = PM_STR("all");
    bool is_of_same = s->is_ours && !profile->is_evented && s->all;
    if (is_of_same)
        thread = s->all;
    else if (!is_left_out)
        status = pm_sink_thread(s->im->sink, &made, &thread);
    if (status != PM_OK)
        return status;
    if (s->is_ours && !profile->is_evented)
        s->all = thread;
    if (!is_left_out && *next < s->n_costs && s->costs[*next].profile == number)
        status = find_metric(s, profile, &metric);
    for (; *next < s->n_costs && s->costs[*next].profile == number; (*next)++) {
        if (status != PM_OK)
            return status;
        if (!is_left_out)
            status = add_cost(s, &s->costs[*next], process, thread, metric);
    }
    if (status != PM_OK || !profile->is_evented || is_left_out)
        return status;
    uint32_t with_events;
    if (!import_events_thread(s->events, &with_events) || with_events != number)
        return PM_OK;
    return import_events_walk(s->events, process, thread);
}

static enum pm_status make_all(struct speedscope *s)
{
    struct pm_import_process made = {.name = pm_str_of(import_base_name(s->im->path)), .rank = -1};
    uint32_t process, next = 0;
    if (!s->n_profiles)
        return refuse(s, "it has no profiles");
    if (s->most_frame > s->n_frames)
        return import_refuse_byte(s->im->in, s->im->err, PM_ERR_FORMAT,
                                  "frame %u is used, and there are %u", s->most_frame - 1,
                                  s->n_frames);
    enum pm_status status = pm_sink_process(s->im->sink, &made, &process);
    if (status != PM_OK)
        return status;
    uint32_t with_events;
    status = import_events_begin(s->events);
    if (!status && import_events_thread(s->events, &with_events))
        status = make_frames(s, true, &s->entered);
    if (!status && s->n_costs)
        status = make_frames(s, false, &s->sampled);
    import_events_frames(s->events, s->entered);
    for (uint32_t i = 0; i < s->n_profiles && !status; i++)
        status = make_profile(s, i, process, &next);
    return status;
}

static void tell(const struct speedscope *s)
{
    const struct {
        uint64_t n;
        const char *text;
    } notes[] = {
        {s->n_unweighted, "samples that have no weight, left out"},
        {s->n_negative, "weights less than 0, left out"},
        {s->n_falling, "events earlier than the one before them, taken to be then"},
        {s->n_no_time, "events of profiles whose unit is no time, left out"},
        {s->n_parts, "profiles of single threads, which are part of those of all, left out"},
    };
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (notes[i].n)
            pm_sink_note(s->im->sink, "%s: %llu", notes[i].text, (unsigned long long)notes[i].n);
    if (s->n_profiles > 1 && !s->is_ours)
        pm_sink_note(s->im->sink,
                     "the file has %u profiles, which are threads here: where some are views of "
                     "the same costs, these count more than once",
                     s->n_profiles);
    import_events_tell(s->events);
}

static void release(struct speedscope *s)
{
    for (uint32_t i = 0; i < s->n_profiles; i++)
        free(s->profiles[i].name);
    for (uint32_t i = 0; i < s->n_frames; i++) {
        free(s->frames[i].name);
        free(s->frames[i].file);
    }
    void *const lists[] = {s->profiles, s->frames, s->entered, s->sampled, s->stacks,
                           s->pool,     s->costs,  s->samples, s->weights, s->stack};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]);
    pm_map_release(&s->stack_of);
    pm_map_release(&s->cost_of);
    pm_buf_release(&s->text);
    import_events_free(s->events);
}

static enum pm_status read_speedscope(struct import *im)
{
    struct speedscope s = {.im = im,
                           .events = import_events_new(im, 0),
                           .stack = pm_alloc_array(MAX_STACK, sizeof *s.stack),
                           .text = PM_BUF_INIT(1 << 20)};
    enum pm_status status = s.events && s.stack ? each_member(&s, take_top) : import_no_memory(im);
    if (!status)
        status = make_all(&s);
    if (!status)
        tell(&s);
    release(&s);
    return status;
}

static bool has_word(struct pm_str head, const char *word)
{
    return memmem(head.p, head.len, word, strlen(word)) != NULL;
}

static bool is_speedscope(struct pm_str head, const char *path)
{
    struct import_json json = {.p = head.p, .end = head.p + head.len};
    (void)path;
    if (import_json_peek(&json) != '{')
        return false;
    bool has_kind = has_word(head, "\"evented\"") || has_word(head, "\"sampled\"");
    return has_word(head, "speedscope.app/file-format-schema") ||
           (has_word(head, "\"shared\"") && has_word(head, "\"frames\"")) ||
           (has_word(head, "\"profiles\"") && has_kind);
}

const struct import_format import_format_speedscope = {.is = is_speedscope,
                                                       .read = read_speedscope};
