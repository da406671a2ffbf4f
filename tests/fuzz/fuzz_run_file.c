/* Run files, from memory. Whatever the bytes are: no crash, own times add up to the wall time,
 * what has no time of its own has none, and samples, counters and changes of modes name what is
 * there; events of traces nest, and are the same when parts are read on their own. */
#include "tests/run/trace_by_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_trace(const uint8_t *data, size_t size, const struct pm_run_file *file,
                       size_t thread)
{
    struct pm_run_trace_cursor *cursor;
    struct pm_run_trace_event event;
    struct pm_error err = PM_ERROR_INIT;
    bool has_event;
    uint32_t depth[2] = {0, 0};
    if (pm_run_trace_parse(data, size, file, thread, &err, &cursor) == PM_OK) {
        while (pm_run_trace_next(cursor, &err, &event, &has_event) == PM_OK && has_event) {
            uint32_t *open = &depth[event.flags & PM_RUN_TRACE_ON_FOREIGN ? 1 : 0];
            *open -= event.is_leave;
            PM_ASSERT(event.depth == *open);
            *open += !event.is_leave;
            PM_ASSERT(event.noun == PM_RUN_TRACE_NONE || event.noun < pm_run_file_n_nouns(file));
            PM_ASSERT(event.node == PM_RUN_TRACE_NONE ||
                      event.node < pm_run_file_thread(file, thread)->n_nodes);
        }
        PM_ASSERT(depth[0] == 0 && depth[1] == 0);
        pm_run_trace_close(cursor);
    }
    pm_error_release(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pm_run_file *file;
    struct pm_error err = PM_ERROR_INIT;
    if (pm_run_file_parse("fuzz", data, size, NULL, &err, &file) != PM_OK) {
        pm_error_release(&err);
        return 0;
    }
    for (size_t i = 0; i < pm_run_file_n_threads(file); i++) {
        const struct pm_run_file_thread *thread = pm_run_file_thread(file, i);
        uint64_t sum = 0;
        for (size_t k = 0; k < thread->n_nodes; k++) {
            sum += thread->nodes[k].own_ns;
            PM_ASSERT(thread->nodes[k].timing != PM_RUN_FILE_UNTIMED ||
                      thread->nodes[k].own_ns == 0);
        }
        PM_ASSERT(sum == thread->wall_ns);
        for (size_t k = 0; k < thread->n_samples; k++) {
            const struct pm_run_file_sample *sample = &thread->samples[k];
            PM_ASSERT(sample->node < thread->n_nodes && sample->time_ns <= INT64_MAX);
            PM_ASSERT(sample->object == PM_RUN_FILE_NO_OBJECT ||
                      sample->object < pm_run_file_n_objects(file));
        }
    }
    for (size_t i = 0; i < pm_run_file_n_threads(file); i++) {
        read_trace(data, size, file, i);
        (void)trace_by_parts_check(data, size, file, i);
    }
    for (size_t i = 0; i < pm_run_file_n_adapted(file); i++) {
        const struct pm_run_file_adapted *adapted = pm_run_file_adapted(file, i);
        PM_ASSERT(adapted->noun < pm_run_file_n_nouns(file) && adapted->mode <= PM_RUN_MODE_TRACE &&
                  adapted->mode_before <= PM_RUN_MODE_TRACE);
    }
    for (size_t i = 0; i < pm_run_file_n_counts(file); i++) {
        const struct pm_run_file_counts *counts = pm_run_file_counts(file, i);
        PM_ASSERT(counts->thread < pm_run_file_n_threads(file) &&
                  counts->object < pm_run_file_n_objects(file) &&
                  counts->n_counts <= pm_run_file_object(file, counts->object)->n_nouns);
    }
    pm_run_file_free(file);
    return 0;
}
