/* Run files, from memory. Whatever the bytes are: no crash, own times add up to the wall time, what has no time of its own has none, and
 * samples, counters and changes of modes name what is there. */
#include "mapping/run/run_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
