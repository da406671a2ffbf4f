/* ask_many ARCHIVE METRIC... <questions: answers one question a line with a line of sums, one
 * for each metric, then what of them is deferred: what ten thousand times `perfmap ask` would
 * say. A line that is no question, or sums of rows that are not the answer's, end it. */
#include "mapping/archive/load.h"
#include "mapping/question/question.h"

#include <stdlib.h>

enum { MAX_METRICS = 8 };

static int fail(struct pm_error *err)
{
    pm_error_print(err, stderr);
    pm_error_release(err);
    return 1;
}

static bool rows_add_up(const struct pm_answer *answer, pm_index metric)
{
    int64_t sum = 0, deferred = 0;
    for (uint32_t r = 0; r < answer->n_rows; r++) {
        sum += answer->rows[r].amounts[metric].value;
        deferred += answer->rows[r].deferred[metric].value;
    }
    return sum == answer->amounts[metric].value && deferred == answer->deferred[metric].value;
}

static enum pm_status answer_one(const struct pm_graph *graph, const char *text,
                                 const pm_index *metrics, int n, struct pm_error *err)
{
    struct pm_question *question = NULL;
    struct pm_answer *answer = NULL;
    struct pm_question_run run = {.graph = graph, .calls_metric = PM_NONE};
    enum pm_status status = pm_question_parse(text, err, &question);
    if (status == PM_OK)
        status = pm_question_ask(question, &run, err, &answer);
    for (int m = 0; m < n && status == PM_OK; m++) {
        printf("%lld ", (long long)answer->amounts[metrics[m]].value);
        if (!rows_add_up(answer, metrics[m]))
            status = pm_error_set(err, PM_ERR_FORMAT, "rows of '%s' are not the answer", text);
    }
    for (int m = 0; m < n && status == PM_OK; m++)
        printf("%lld%c", (long long)answer->deferred[metrics[m]].value, m + 1 < n ? ' ' : '\n');
    pm_answer_free(answer);
    pm_question_free(question);
    return status;
}

int main(int argc, char **argv)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_archive_data *data = NULL;
    pm_index metrics[MAX_METRICS];
    int n = argc - 2;
    if (n < 1 || n > MAX_METRICS) {
        fputs("usage: ask_many ARCHIVE METRIC...\n", stderr);
        return 2;
    }
    if (pm_archive_load(argv[1], PM_ARCHIVE_LOAD_CAUSES, &err, &data) != PM_OK)
        return fail(&err);
    for (int m = 0; m < n; m++) {
        metrics[m] = pm_graph_find_metric(data->graph, argv[2 + m]);
        if (metrics[m] == PM_NONE) {
            fprintf(stderr, "no metric %s\n", argv[2 + m]);
            return 1;
        }
    }
    char *line = NULL;
    size_t room = 0;
    enum pm_status status = PM_OK;
    for (ssize_t len; status == PM_OK && (len = getline(&line, &room, stdin)) > 0;) {
        line[len - (line[len - 1] == '\n')] = 0;
        status = answer_one(data->graph, line, metrics, n, &err);
    }
    free(line);
    pm_archive_data_free(data);
    return status == PM_OK ? 0 : fail(&err);
}
