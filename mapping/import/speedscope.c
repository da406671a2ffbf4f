/* speedscope's file format (www.speedscope.app/file-format-schema.json), written by py-spy, rbspy
 * and perfmap itself:
 *
 *     {"shared": {"frames": [{"name": "f", "file": "a.c", "line": 3}, ...]},
 *      "profiles": [{"type": "sampled", "name": ..., "unit": "milliseconds",
 *                    "samples": [[0, 1], ...], "weights": [10, ...]},
 *                   {"type": "evented", ..., "events": [{"type": "O", "frame": 0, "at": 1}, ...]}]}
 *
 * Keys come in any order, so the text is gone through more than once: it is read as a whole. Each
 * profile is a thread. Several profiles may be views of the same costs, as speedscope's users show
 * them, and a file does not say so: all of them are taken. */
#include "events.h"
#include "json.h"
#include "reader.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_FRAMES = 1 << 24, MAX_DEPTH = 1 << 14 };

struct speedscope {
    struct import *im;
    struct pm_str text; /* all of it */
    uint32_t *frames, *entered;
    uint32_t n_frames, frames_cap, entered_cap;
    uint32_t process;
    uint32_t *stack;
    uint32_t n_stack, stack_cap;
    struct pm_buf name;
    uint64_t n_profiles, n_costs, n_missing_weights, n_falling;
};

/* One profile: where its parts stand in the text. */
struct profile {
    struct pm_str type, name, unit, start, end;
    const char *samples, *weights, *events; /* NULL: none */
    struct pm_str first_keys;
};

static struct import_json at(const struct speedscope *s, const char *p)
{
    return (struct import_json){.p = p, .end = s->text.p + s->text.len};
}

static enum pm_status refuse(const struct speedscope *s, const char *p, const char *what)
{
    return pm_error_set(s->im->err, PM_ERR_FORMAT, "profile '%s' byte %llu: %s", s->im->path,
                        (unsigned long long)(p - s->text.p), what);
}

/* --- frames --- */

static enum pm_status add_frame(struct speedscope *s, struct import_json *json)
{
    struct pm_str key, name = PM_STR(""), file = PM_STR(""), line = PM_STR("");
    uint64_t line_no = 0;
    if (!import_json_enter(json, '{'))
        return refuse(s, json->p, "a frame is no object");
    while (import_json_key(json, &key)) {
        struct pm_str *place = NULL;
        if (pm_str_is(key, "name"))
            place = &name;
        else if (pm_str_is(key, "file"))
            place = &file;
        else if (pm_str_is(key, "line"))
            place = &line;
        char c = place ? import_json_peek(json) : '{';
        if (c == '{' || c == '[')
            import_json_skip(json);
        else
            import_json_scalar(json, place);
    }
    if (json->is_cut || json->is_bad)
        return refuse(s, json->p, "a frame is damaged");
    uint32_t *frames = pm_grow_array(s->frames, s->n_frames, &s->frames_cap, 256, sizeof *frames);
    if (frames)
        s->frames = frames;
    uint32_t *entered =
        pm_grow_array(s->entered, s->n_frames, &s->entered_cap, 256, sizeof *entered);
    if (entered)
        s->entered = entered;
    if (!frames || !entered)
        return import_no_memory(s->im);
    if (s->n_frames == MAX_FRAMES)
        return refuse(s, json->p, "more than 16777216 frames");
    struct pm_import_frame frame = {.function = import_json_text(name, &s->name)};
    if (!file.len || !memchr(file.p, '\\', file.len))
        frame.file = file;
    if (pm_str_to_u64(line, INT32_MAX, &line_no) && frame.file.len)
        frame.line_no = (uint32_t)line_no;
    enum pm_status status = pm_sink_frame(s->im->sink, &frame, &frames[s->n_frames]);
    if (status != PM_OK)
        return status;
    frame.is_entered = true;
    status = pm_sink_frame(s->im->sink, &frame, &entered[s->n_frames]);
    s->n_frames++;
    return status;
}

static enum pm_status read_shared(struct speedscope *s, const char *p)
{
    struct import_json json = at(s, p);
    struct pm_str key;
    if (!p || !import_json_enter(&json, '{'))
        return refuse(s, p ? p : s->text.p, "no shared frames");
    while (import_json_key(&json, &key)) {
        if (!pm_str_is(key, "frames") || import_json_peek(&json) != '[') {
            import_json_skip(&json);
            continue;
        }
        import_json_enter(&json, '[');
        while (import_json_item(&json)) {
            enum pm_status status = add_frame(s, &json);
            if (status != PM_OK)
                return status;
        }
    }
    return json.is_cut || json.is_bad ? refuse(s, json.p, "the frames are damaged") : PM_OK;
}

/* --- units --- */

/* Values are numbers times 10^decimals: of times in ns, of others as they are. */
static unsigned decimals_of(struct pm_str unit, const char **ret_unit)
{
    static const struct {
        const char *unit;
        unsigned decimals;
    } units[] = {{"nanoseconds", 0}, {"microseconds", 3}, {"milliseconds", 6}, {"seconds", 9}};
    *ret_unit = pm_str_is(unit, "bytes") ? "bytes" : "samples";
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (pm_str_is(unit, units[i].unit)) {
            *ret_unit = "ns";
            return units[i].decimals;
        }
    return 0;
}

/* --- samples --- */

static enum pm_status push_frames(struct speedscope *s, struct import_json *json)
{
    struct pm_str number;
    uint64_t frame;
    s->n_stack = 0;
    if (!import_json_enter(json, '['))
        return refuse(s, json->p, "a sample is no list of frames");
    while (import_json_item(json)) {
        uint32_t *stack = pm_grow_array(s->stack, s->n_stack, &s->stack_cap, 256, sizeof *stack);
        if (!stack)
            return import_no_memory(s->im);
        s->stack = stack;
        if (!import_json_scalar(json, &number) || !pm_str_to_u64(number, UINT32_MAX, &frame) ||
            frame >= s->n_frames)
            return refuse(s, json->p, "a sample names a frame that is not there");
        if (s->n_stack < MAX_DEPTH)
            stack[s->n_stack++] = s->frames[frame];
    }
    return json->is_cut || json->is_bad ? refuse(s, json->p, "a sample is damaged") : PM_OK;
}

/* The next weight; 1 where there are none. */
static enum pm_status next_weight(struct speedscope *s, struct import_json *weights,
                                  unsigned decimals, int64_t *ret)
{
    struct pm_str number;
    *ret = 1;
    if (!weights->p)
        return PM_OK;
    if (!import_json_item(weights)) {
        s->n_missing_weights++;
        *ret = 0;
        weights->p = weights->end; /* none comes any more */
        weights->is_cut = true;
        return PM_OK;
    }
    if (!import_json_scalar(weights, &number) || !import_json_scaled(number, decimals, ret) ||
        *ret < 0)
        return refuse(s, weights->p, "a weight is no sound number");
    return PM_OK;
}

static enum pm_status read_samples(struct speedscope *s, const struct profile *profile,
                                   uint32_t thread)
{
    struct import_json samples = at(s, profile->samples), weights = at(s, profile->weights);
    const char *unit;
    unsigned decimals = decimals_of(profile->unit, &unit);
    uint32_t metric, place = 0;
    uint64_t factor;
    if (!profile->weights)
        unit = "samples";
    enum pm_status status = import_unit_metric(s->im, unit, &metric, &factor);
    if (status != PM_OK)
        return status;
    if (!import_json_enter(&samples, '[') ||
        (profile->weights && !import_json_enter(&weights, '[')))
        return refuse(s, samples.p, "samples are no list");
    while (import_json_item(&samples)) {
        int64_t weight = 0;
        status = push_frames(s, &samples);
        if (status != PM_OK)
            return status;
        status = next_weight(s, &weights, decimals, &weight);
        if (status != PM_OK)
            return status;
        status = pm_sink_place(s->im->sink, s->process, s->stack, s->n_stack, &place);
        if (status != PM_OK)
            return status;
        status = pm_sink_cost(s->im->sink, thread, place, metric, (uint64_t)weight);
        if (status != PM_OK)
            return status;
        s->n_costs++;
    }
    return samples.is_cut || samples.is_bad ? refuse(s, samples.p, "samples are damaged") : PM_OK;
}

/* --- events --- */

static enum pm_status read_event(struct speedscope *s, struct import_json *json, unsigned decimals,
                                 struct import_event *event)
{
    struct pm_str key, type = PM_STR(""), frame = PM_STR(""), when = PM_STR("");
    uint64_t number;
    if (!import_json_enter(json, '{'))
        return refuse(s, json->p, "an event is no object");
    while (import_json_key(json, &key)) {
        if (pm_str_is(key, "type"))
            import_json_scalar(json, &type);
        else if (pm_str_is(key, "frame"))
            import_json_scalar(json, &frame);
        else if (pm_str_is(key, "at"))
            import_json_scalar(json, &when);
        else
            import_json_skip(json);
    }
    bool is_sound = !json->is_cut && !json->is_bad && pm_str_to_u64(frame, UINT32_MAX, &number) &&
                    number < s->n_frames && import_json_scaled(when, decimals, &event->time_ns) &&
                    event->time_ns <= INT64_MAX / 4 && event->time_ns >= -(INT64_MAX / 4);
    if (!is_sound)
        return refuse(s, json->p, "an event has no sound frame or time");
    event->frame = s->entered[number];
    event->kind = pm_str_is(type, "O") ? IMPORT_ENTER : IMPORT_LEAVE;
    return PM_OK;
}

static enum pm_status read_events(struct speedscope *s, const struct profile *profile,
                                  uint32_t thread)
{
    struct import_json json = at(s, profile->events);
    const char *unit;
    unsigned decimals = decimals_of(profile->unit, &unit);
    struct import_event event = {.kind = IMPORT_ENTER};
    uint32_t number;
    if (strcmp(unit, "ns") != 0)
        return refuse(s, json.p, "events are in no unit of time");
    struct import_events *events = import_events_new(s->im, 0);
    if (!events)
        return import_no_memory(s->im);
    enum pm_status status = PM_OK;
    if (!import_json_enter(&json, '['))
        status = refuse(s, json.p, "events are no list");
    while (!status && import_json_item(&json)) {
        status = read_event(s, &json, decimals, &event);
        if (!status)
            status = import_events_add(events, &event);
        s->n_costs++;
    }
    if (!status && (json.is_cut || json.is_bad))
        status = refuse(s, json.p, "events are damaged");
    if (!status)
        status = import_events_begin(events);
    if (!status && import_events_thread(events, &number))
        status = import_events_walk(events, s->process, thread);
    if (!status)
        import_events_tell(events);
    import_events_free(events);
    return status;
}

/* --- profiles --- */

static void find_parts(struct import_json *json, struct profile *profile)
{
    struct pm_str key;
    while (import_json_key(json, &key)) {
        char c = import_json_peek(json);
        if (pm_str_is(key, "samples"))
            profile->samples = json->p;
        else if (pm_str_is(key, "weights"))
            profile->weights = json->p;
        else if (pm_str_is(key, "events"))
            profile->events = json->p;
        if (c == '{' || c == '[')
            import_json_skip(json);
        else if (pm_str_is(key, "type"))
            import_json_scalar(json, &profile->type);
        else if (pm_str_is(key, "name"))
            import_json_scalar(json, &profile->name);
        else if (pm_str_is(key, "unit"))
            import_json_scalar(json, &profile->unit);
        else
            import_json_skip(json);
    }
}

static enum pm_status read_profile(struct speedscope *s, struct import_json *json)
{
    struct profile profile = {.type = PM_STR(""), .name = PM_STR(""), .unit = PM_STR("")};
    uint32_t thread;
    if (!import_json_enter(json, '{'))
        return refuse(s, json->p, "a profile is no object");
    find_parts(json, &profile);
    if (json->is_cut || json->is_bad)
        return refuse(s, json->p, "a profile is damaged, or ends in the middle");
    struct pm_import_thread made = {.process = s->process,
                                    .name = import_json_text(profile.name, &s->name)};
    enum pm_status status = pm_sink_thread(s->im->sink, &made, &thread);
    if (status != PM_OK)
        return status;
    s->n_profiles++;
    if (pm_str_is(profile.type, "sampled") && profile.samples)
        return read_samples(s, &profile, thread);
    if (pm_str_is(profile.type, "evented") && profile.events)
        return read_events(s, &profile, thread);
    return refuse(s, json->p, "a profile is neither 'sampled' nor 'evented'");
}

static enum pm_status read_profiles(struct speedscope *s, const char *p)
{
    struct import_json json = at(s, p);
    if (!p || !import_json_enter(&json, '['))
        return refuse(s, p ? p : s->text.p, "no list of profiles");
    while (import_json_item(&json)) {
        enum pm_status status = read_profile(s, &json);
        if (status != PM_OK)
            return status;
    }
    return json.is_cut || json.is_bad ? refuse(s, json.p, "the profiles are damaged") : PM_OK;
}

/* --- the whole --- */

static enum pm_status read_file(struct speedscope *s)
{
    struct import *im = s->im;
    struct import_json json = at(s, s->text.p);
    const char *shared = NULL, *profiles = NULL;
    struct pm_str key;
    if (!import_json_enter(&json, '{'))
        return refuse(s, s->text.p, "this is no file of speedscope");
    while (import_json_key(&json, &key)) {
        import_json_peek(&json);
        if (pm_str_is(key, "shared"))
            shared = json.p;
        else if (pm_str_is(key, "profiles"))
            profiles = json.p;
        import_json_skip(&json);
    }
    if (json.is_cut || json.is_bad)
        return refuse(s, json.p, "the file ends in the middle, or is no JSON");
    struct pm_import_process process = {.name = pm_str_of(import_base_name(im->path)), .rank = -1};
    enum pm_status status = pm_sink_process(im->sink, &process, &s->process);
    if (status != PM_OK)
        return status;
    status = read_shared(s, shared);
    if (status != PM_OK)
        return status;
    status = read_profiles(s, profiles);
    if (status != PM_OK)
        return status;
    return s->n_costs ? PM_OK : refuse(s, s->text.p, "there are no samples and no events");
}

static void tell(const struct speedscope *s)
{
    if (s->n_profiles > 1)
        pm_sink_note(s->im->sink,
                     "the file has %llu profiles, which are threads here: where some are views of "
                     "the same costs, these count more than once",
                     (unsigned long long)s->n_profiles);
    if (s->n_missing_weights)
        pm_sink_note(s->im->sink, "%llu samples have no weight, and no cost",
                     (unsigned long long)s->n_missing_weights);
}

static enum pm_status read_speedscope(struct import *im)
{
    struct speedscope s = {.im = im, .name = PM_BUF_INIT(1 << 20)};
    if (!import_rest(im->in, &s.text)) {
        enum pm_status status = import_input_status(im->in, im->err);
        return status != PM_OK ? status
                               : import_refuse_byte(im->in, im->err, PM_ERR_LIMIT,
                                                    "a file of speedscope is larger than 64 MiB");
    }
    enum pm_status status = import_input_status(im->in, im->err);
    if (!status)
        status = read_file(&s);
    if (!status)
        tell(&s);
    free(s.frames);
    free(s.entered);
    free(s.stack);
    pm_buf_release(&s.name);
    return status;
}

static bool is_speedscope(struct pm_str head, const char *path)
{
    (void)path;
    return memmem(head.p, head.len, "speedscope.app/file-format-schema", 33) != NULL;
}

const struct import_format import_format_speedscope = {.is = is_speedscope,
                                                       .read = read_speedscope};
