/* Any bytes as a question, asked of a small run. */
#include "mapping/question/question.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct pm_graph *small_run(void)
{
    struct pm_graph *g = pm_graph_new();
    pm_index base = pm_graph_level(g, "Base"), source = pm_graph_level(g, "Source");
    g->levels[source].above = base;
    pm_index f = pm_graph_noun(
        g, &(struct pm_graph_noun){
               .name = "main", .kind = "function", .level = source, .parent = PM_NONE});
    pm_index a = pm_graph_noun(g, &(struct pm_graph_noun){.name = "main::A",
                                                          .kind = "array",
                                                          .level = source,
                                                          .parent = f,
                                                          .file = "/s/heat.c",
                                                          .line_no = 22});
    pm_index code = pm_graph_noun(
        g, &(struct pm_graph_noun){
               .name = "main+0x40", .kind = "code", .level = base, .parent = PM_NONE});
    pm_index executes = pm_graph_verb(g, "Executes", source), sum = pm_graph_verb(g, "Sum", source);
    pm_index runs = pm_graph_sentence(g, executes, &f, 1),
             sums = pm_graph_sentence(g, sum, (pm_index[]){a, f}, 2);
    pm_index codes = pm_graph_sentence(g, pm_graph_verb(g, "Executes", base), &code, 1);
    pm_graph_mapping(g, codes, sums, 0, "compiler");
    pm_graph_metric(g, &(struct pm_graph_metric){.name = "wall_ns", .unit = "ns", .kind = "time"});
    pm_index root = pm_graph_context(g, PM_NONE, runs, 0),
             leaf = pm_graph_context(g, root, codes, 0);
    pm_graph_cost(g, &(struct pm_cost){.context = root, .value = 3});
    pm_graph_cost(g, &(struct pm_cost){.context = leaf, .value = 4});
    return pm_graph_seal(g) ? g : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pm_graph *graph;
    struct pm_error err = PM_ERROR_INIT;
    struct pm_question *question;
    struct pm_answer *answer;
    char *text = pm_strndup((const char *)data, size);
    if (!graph)
        graph = small_run();
    if (text && pm_question_parse(text, &err, &question) == PM_OK) {
        if (pm_question_ask(question,
                            &(struct pm_question_run){.graph = graph, .calls_metric = PM_NONE},
                            &err, &answer) == PM_OK) {
            if (answer->amounts[0].value > answer->totals[0].value)
                abort();
            pm_answer_free(answer);
        }
        pm_question_free(question);
    }
    pm_error_release(&err);
    free(text);
    return 0;
}
