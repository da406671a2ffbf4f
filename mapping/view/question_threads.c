/* Which threads a question is about. */
#include "question_parts.h"

#include "mapping/base/banned.h"

#include <stdlib.h>

static bool thread_fits(const struct pm_archive_data *data, const struct pm_question_limit *limit,
                        uint32_t thread)
{
    const struct pm_thread *t = &data->threads[thread];
    const struct pm_process *p = &data->processes[t->process];
    char number[32];
    if (limit->where == PM_QUESTION_ON_THREAD) {
        snprintf(number, sizeof number, "%lld", (long long)t->tid);
        return pm_question_word_fits(&limit->word, number) ||
               pm_question_word_fits(&limit->word, t->name);
    }
    if (limit->where == PM_QUESTION_ON_RANK) {
        snprintf(number, sizeof number, "%lld", (long long)p->rank);
        return p->rank != PM_UNKNOWN && pm_question_word_fits(&limit->word, number);
    }
    const char *slash = strrchr(p->exe, '/');
    snprintf(number, sizeof number, "%lld", (long long)p->pid);
    return pm_question_word_fits(&limit->word, number) ||
           pm_question_word_fits(&limit->word, p->exe) ||
           (slash && pm_question_word_fits(&limit->word, slash + 1));
}

static enum pm_status nothing_there(const struct pm_archive_data *data,
                                    const struct pm_question_limit *limit, struct pm_error *err)
{
    bool is_thread = limit->where == PM_QUESTION_ON_THREAD;
    struct pm_buf list = PM_BUF_INIT(4096);
    uint32_t n = is_thread ? data->n_threads : data->n_processes;
    for (uint32_t i = 0; i < n && i < 8; i++) {
        const char *name = is_thread ? data->threads[i].name : data->processes[i].exe;
        int64_t number = is_thread ? data->threads[i].tid : data->processes[i].pid;
        pm_buf_printf(&list, "%s%lld%s%s%s", i ? ", " : "", (long long)number, *name ? " (" : "",
                      name, *name ? ")" : "");
    }
    pm_error_set(err, PM_ERR_NOT_FOUND,
                 "question column %u: no %s '%s' in this archive; there are %s%s",
                 limit->word.column, is_thread ? "thread" : "process", limit->word.text,
                 list.data ? list.data : "none", n > 8 ? ", ..." : "");
    pm_buf_release(&list);
    return PM_ERR_NOT_FOUND;
}

static enum pm_status no_such_rank(const struct pm_archive_data *data,
                                   const struct pm_question_limit *limit, struct pm_error *err)
{
    int64_t low = INT64_MAX, high = -1;
    for (uint32_t i = 0; i < data->n_processes; i++) {
        int64_t rank = data->processes[i].rank;
        low = rank != PM_UNKNOWN && rank < low ? rank : low;
        high = rank != PM_UNKNOWN && rank > high ? rank : high;
    }
    if (high < 0)
        return pm_error_set(err, PM_ERR_NOT_FOUND,
                            "question column %u: this archive knows no ranks: its processes were "
                            "not started by mpirun or the like",
                            limit->word.column);
    return pm_error_set(
        err, PM_ERR_NOT_FOUND,
        "question column %u: no rank '%s' in this archive; there are ranks %lld to %lld",
        limit->word.column, limit->word.text, (long long)low, (long long)high);
}

enum pm_status pm_ask_find_threads(const struct pm_question *question,
                                   const struct pm_archive_data *data, struct pm_error *err,
                                   bool **ret_in)
{
    *ret_in = NULL;
    if (question->n_limits == 0)
        return PM_OK;
    bool *in = pm_alloc_array(data->n_threads + 1u, sizeof *in);
    if (!in)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    memset(in, 1, data->n_threads * sizeof *in);
    *ret_in = in;
    for (uint32_t l = 0; l < question->n_limits; l++) {
        const struct pm_question_limit *limit = &question->limits[l];
        bool any = false;
        for (uint32_t t = 0; t < data->n_threads; t++) {
            bool fits = thread_fits(data, limit, t);
            any |= fits;
            in[t] &= fits;
        }
        if (!any && limit->where == PM_QUESTION_ON_RANK)
            return no_such_rank(data, limit, err);
        if (!any)
            return nothing_there(data, limit, err);
    }
    return PM_OK;
}
