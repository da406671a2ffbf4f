/* A reader of mapping/import against any bytes: what it gives the sink has to be what sink.h asks
 * for. Define FORMAT before; FUZZ_READ, where no format of files has it. */
#include "mapping/import/import.h"

#ifndef FUZZ_READ
#define FUZZ_READ pm_import_bytes
#endif

#ifndef EXE
#define EXE NULL
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct counting {
    struct pm_import_sink calls; /* first */
    uint32_t n_objects, n_processes, n_threads, n_metrics, n_frames, n_paths;
};

static struct counting *counting(struct pm_import_sink *sink)
{
    return (struct counting *)sink;
}

static enum pm_status object(struct pm_import_sink *sink, const struct pm_import_object *object,
                             uint32_t *ret, bool *ret_is_known)
{
    PM_ASSERT(object->path.len != 0);
    *ret_is_known = object->path.len % 2;
    *ret = ++counting(sink)->n_objects;
    return PM_OK;
}

static enum pm_status process(struct pm_import_sink *sink, const struct pm_import_process *process,
                              uint32_t *ret)
{
    (void)process;
    *ret = ++counting(sink)->n_processes;
    return PM_OK;
}

static enum pm_status thread(struct pm_import_sink *sink, const struct pm_import_thread *thread,
                             uint32_t *ret)
{
    PM_ASSERT(thread->process && thread->process <= counting(sink)->n_processes);
    *ret = ++counting(sink)->n_threads;
    return PM_OK;
}

static enum pm_status metric(struct pm_import_sink *sink, const struct pm_import_metric *metric,
                             uint32_t *ret)
{
    PM_ASSERT(metric->name && metric->unit && metric->kind && metric->description);
    *ret = ++counting(sink)->n_metrics;
    return PM_OK;
}

static enum pm_status frame(struct pm_import_sink *sink, const struct pm_import_frame *frame,
                            uint32_t *ret)
{
    PM_ASSERT(frame->object <= counting(sink)->n_objects);
    *ret = ++counting(sink)->n_frames;
    return PM_OK;
}

static enum pm_status path(struct pm_import_sink *sink, uint32_t process, uint32_t parent,
                           uint32_t frame, uint32_t *ret)
{
    struct counting *c = counting(sink);
    PM_ASSERT(process && process <= c->n_processes && parent <= c->n_paths && frame <= c->n_frames);
    *ret = ++c->n_paths;
    return PM_OK;
}

static enum pm_status label(struct pm_import_sink *sink, uint32_t process, uint32_t above,
                            struct pm_str key, struct pm_str value, uint32_t *ret)
{
    struct counting *c = counting(sink);
    PM_ASSERT(process && process <= c->n_processes && above <= c->n_paths && key.len && value.len);
    *ret = ++c->n_paths;
    return PM_OK;
}

static enum pm_status place(struct pm_import_sink *sink, uint32_t process, uint32_t above,
                            const uint32_t *frames, size_t n, uint32_t *ret)
{
    struct counting *c = counting(sink);
    PM_ASSERT(process && process <= c->n_processes && above <= c->n_paths);
    for (size_t i = 0; i < n; i++)
        PM_ASSERT(frames[i] && frames[i] <= c->n_frames);
    *ret = ++c->n_paths;
    return PM_OK;
}

static enum pm_status cost(struct pm_import_sink *sink, uint32_t thread, uint32_t place,
                           uint32_t metric, uint64_t value)
{
    const struct counting *c = counting(sink);
    PM_ASSERT(thread && thread <= c->n_threads && place && place <= c->n_paths && metric &&
              metric <= c->n_metrics && value <= INT64_MAX);
    return PM_OK;
}

static enum pm_status arc(struct pm_import_sink *sink, const struct pm_import_arc *arc,
                          uint32_t metric, uint64_t value)
{
    const struct counting *c = counting(sink);
    PM_ASSERT(arc->thread && arc->thread <= c->n_threads && arc->caller <= c->n_frames &&
              arc->callee && arc->callee <= c->n_frames && metric <= c->n_metrics &&
              value <= INT64_MAX && arc->n_calls <= INT64_MAX);
    return PM_OK;
}

static enum pm_status event(struct pm_import_sink *sink, uint32_t thread, uint64_t time_ns,
                            uint32_t path)
{
    const struct counting *c = counting(sink);
    (void)time_ns;
    PM_ASSERT(thread && thread <= c->n_threads && path <= c->n_paths);
    return PM_OK;
}

static void now(struct pm_import_sink *sink, uint64_t time_ns)
{
    (void)sink, (void)time_ns;
}

static void span(struct pm_import_sink *sink, uint64_t start_ns, uint64_t end_ns)
{
    (void)sink;
    PM_ASSERT(start_ns <= end_ns);
}

static void attribute(struct pm_import_sink *sink, const char *key, struct pm_str value)
{
    (void)sink;
    PM_ASSERT(key && (value.p || !value.len));
}

static void note(struct pm_import_sink *sink, const char *text)
{
    (void)sink;
    PM_ASSERT(*text != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pm_error err = PM_ERROR_INIT;
    struct counting sink = {.calls = {.object = object,
                                      .process = process,
                                      .thread = thread,
                                      .metric = metric,
                                      .frame = frame,
                                      .path = path,
                                      .label = label,
                                      .place = place,
                                      .cost = cost,
                                      .arc = arc,
                                      .event = event,
                                      .now = now,
                                      .span = span,
                                      .attribute = attribute,
                                      .note = note}};
    struct pm_import_options options = {.size = sizeof options, .format = FORMAT, .exe = EXE};
    enum pm_status status = FUZZ_READ("fuzz", data, size, &options, &sink.calls, &err);
    PM_ASSERT((status == PM_OK) == !*pm_error_text(&err));
    pm_error_release(&err);
    return 0;
}
