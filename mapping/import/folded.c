/* Collapsed stacks, as flame graphs are made of: "main;f;g 12", the outermost frame first. Written
 * by FlameGraph's stackcollapse scripts, pprof (--collapsed), uftrace (--flame-graph), py-spy,
 * async-profiler and many others.
 *
 * Frames may end in a mark of whose code it is: _[k] the kernel's, _[i] inlined, _[j] made at run
 * time, _[w] waiting. What the numbers are no file says: --unit does. */
#include "reader.h"

#include "../base/map.h"

#include <stdlib.h>

enum { MAX_FRAMES = 1 << 16 };

struct folded {
    struct import *im;
    struct pm_map frames; /* hash of the name -> its frame */
    uint32_t process, thread, metric;
    uint64_t factor;
    uint32_t *stack;
    uint32_t n, cap;
};

/* The last word of the line is its number; the rest, without blanks at its end, is the stack. */
static bool split_line(struct pm_str line, struct pm_str *ret_stack, uint64_t *ret_value)
{
    line = import_trimmed(line);
    size_t at = line.len;
    while (at && line.p[at - 1] != ' ' && line.p[at - 1] != '\t')
        at--;
    *ret_stack = import_trimmed((struct pm_str){line.p, at});
    return at && import_number((struct pm_str){line.p + at, line.len - at}, ret_value);
}

static bool is_folded(struct pm_str head, const char *path)
{
    (void)path;
    while (head.len) {
        const char *end = memchr(head.p, '\n', head.len);
        struct pm_str line = {head.p, end ? (size_t)(end - head.p) : head.len}, stack;
        size_t taken = line.len + (end != NULL);
        uint64_t value;
        if (line.len && line.p[line.len - 1] == '\r')
            line.len--;
        if (line.len && line.p[0] != '#') /* a line that is cut off by the head may be long */
            return !memchr(line.p, 0, line.len) &&
                   (split_line(line, &stack, &value) || (!end && memchr(line.p, ';', line.len)));
        head = (struct pm_str){head.p + taken, head.len - taken};
    }
    return false;
}

static enum pm_status frame_of(struct folded *f, struct pm_str name, uint32_t *ret_frame)
{
    uint32_t *at = pm_map_at(&f->frames, import_hash(name.p, name.len, 0));
    if (!at)
        return import_no_memory(f->im);
    *ret_frame = *at;
    if (*at)
        return PM_OK;
    struct pm_import_frame frame = {.function = name};
    bool is_marked = name.len > 4 && name.p[name.len - 4] == '_' && name.p[name.len - 3] == '[' &&
                     strchr("kijw", name.p[name.len - 2]) && name.p[name.len - 1] == ']';
    if (is_marked) {
        frame.is_inlined = name.p[name.len - 2] == 'i';
        frame.function.len -= 4;
    }
    enum pm_status status = pm_sink_frame(f->im->sink, &frame, ret_frame);
    *at = *ret_frame;
    return status;
}

static enum pm_status push(struct folded *f, struct pm_str name)
{
    uint32_t *stack = pm_grow_array(f->stack, f->n, &f->cap, 256, sizeof *stack);
    if (!stack)
        return import_no_memory(f->im);
    f->stack = stack;
    if (f->n == MAX_FRAMES)
        return import_refuse_line(f->im->in, f->im->err, PM_ERR_LIMIT,
                                  "a stack has more than %d frames", MAX_FRAMES);
    return frame_of(f, name, &f->stack[f->n++]);
}

static enum pm_status read_stack(struct folded *f, struct pm_str stack)
{
    f->n = 0;
    while (stack.len) {
        const char *end = memchr(stack.p, ';', stack.len);
        struct pm_str name = {stack.p, end ? (size_t)(end - stack.p) : stack.len};
        size_t taken = name.len + (end != NULL);
        stack = (struct pm_str){stack.p + taken, stack.len - taken};
        enum pm_status status = name.len ? push(f, name) : PM_OK;
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status read_line(struct folded *f, struct pm_str line)
{
    struct pm_str stack;
    uint64_t value;
    uint32_t place;
    if (import_trimmed(line).len == 0 || line.p[0] == '#')
        return PM_OK;
    if (!split_line(line, &stack, &value))
        return import_refuse_line(f->im->in, f->im->err, PM_ERR_FORMAT,
                                  "'%.*s' does not end in a whole number, so it is no collapsed "
                                  "stack",
                                  IMPORT_SHOWN(line));
    enum pm_status status = import_scaled(f->im, value, f->factor, &value);
    if (status != PM_OK)
        return status;
    status = read_stack(f, stack);
    if (status != PM_OK)
        return status;
    status = pm_sink_place(f->im->sink, f->process, f->stack, f->n, &place);
    if (status != PM_OK)
        return status;
    return pm_sink_cost(f->im->sink, f->thread, place, f->metric, value);
}

static enum pm_status begin(struct folded *f)
{
    struct import *im = f->im;
    const char *unit = im->options->unit ? im->options->unit : "samples";
    struct pm_import_process process = {.name = pm_str_of(import_base_name(im->path)), .rank = -1};
    enum pm_status status = pm_sink_process(im->sink, &process, &f->process);
    struct pm_import_thread thread = {.process = f->process};
    if (status != PM_OK)
        return status;
    status = pm_sink_thread(im->sink, &thread, &f->thread);
    if (status != PM_OK)
        return status;
    if (!im->options->unit)
        pm_sink_note(im->sink,
                     "collapsed stacks do not say what their numbers are: they are taken "
                     "for samples (--unit ns, us, ms, s, bytes or a name says otherwise)");
    return import_unit_metric(im, unit, &f->metric, &f->factor);
}

static enum pm_status read_folded(struct import *im)
{
    struct folded f = {.im = im};
    struct pm_str line;
    enum pm_status status = begin(&f);
    if (status != PM_OK)
        goto out;
    while (import_line(im->in, &line))
        if ((status = read_line(&f, line)) != PM_OK)
            break;
out:
    pm_map_release(&f.frames);
    free(f.stack);
    return status;
}

const struct import_format import_format_folded = {.is = is_folded, .read = read_folded};
