/* Which threads a question is about. */
#include "question_parts.h"

#include "mapping/base/banned.h"

#include <stdlib.h>

static const enum pm_runner runner_of[] = {
    [PM_QUESTION_ON_THREAD] = PM_RUNNER_THREAD,
    [PM_QUESTION_ON_PROCESS] = PM_RUNNER_PROCESS,
    [PM_QUESTION_ON_RANK] = PM_RUNNER_RANK,
    [PM_QUESTION_ON_NODE] = PM_RUNNER_NODE,
};

static bool word_fits(const void *word, const char *text)
{
    return pm_question_word_fits(word, text);
}

static enum pm_status nothing_there(const struct pm_archive_data *data,
                                    const struct pm_question_limit *limit, struct pm_error *err)
{
    struct pm_buf text = PM_BUF_INIT(4096);
    pm_runner_add_missing(data, runner_of[limit->where], limit->word.text, &text);
    pm_error_set(err, PM_ERR_NOT_FOUND, "question column %u: %s", limit->word.column,
                 text.data ? text.data : "");
    pm_buf_release(&text);
    return PM_ERR_NOT_FOUND;
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
        enum pm_runner kind = runner_of[limit->where];
        bool any = false;
        for (uint32_t t = 0; t < data->n_threads; t++) {
            bool fits = pm_runner_fits(data, kind, t, word_fits, &limit->word);
            any |= fits;
            in[t] &= fits;
        }
        if (!any)
            return nothing_there(data, limit, err);
    }
    return PM_OK;
}
