/* perfmap ask, nouns, verbs, sentences, levels: between their files. */
#ifndef PM_CMD_ASK_H
#define PM_CMD_ASK_H

#include "report.h"

#include "mapping/question/question.h"

struct ask_options {
    const char *text; /* of the question */
    uint64_t limit;   /* rows; 0: all */
};

/* ask.c: asks an archive and prints the answer as a table. metrics NULL: the time that was measured. */
PM_MUST_CHECK enum pm_status ask_archive(const char *question, const char *archive,
                                         const char *metrics, struct pm_error *err);

/* ask_print.c. The report has the archive's data, its metrics and its time; false: memory. */
bool ask_print_table(struct report *report, const struct pm_question *question,
                     const struct pm_answer *answer, const struct ask_options *options, FILE *out);
void ask_print_json(struct report *report, const struct pm_question *question,
                    const struct pm_answer *answer, const struct ask_options *options, FILE *out);
void ask_print_csv(struct report *report, const struct pm_question *question,
                   const struct pm_answer *answer, const struct ask_options *options, FILE *out);

/* ask_names.c: names as a question has them, quoted where they must be. */
void ask_add_noun(struct pm_buf *out, const struct pm_graph *graph, pm_index noun);
/* With names of C++ as tables have them: std::string, f(...). */
void ask_add_brief_sentence(struct pm_buf *out, struct report *report, pm_index verb,
                            const pm_index *nouns, uint32_t n_nouns);
void ask_add_sentence(struct pm_buf *out, const struct pm_graph *graph, pm_index verb,
                      const pm_index *nouns, uint32_t n_nouns);
/* A question that fits this sentence and only those of the same words. */
void ask_add_exact_sentence(struct pm_buf *out, const struct pm_graph *graph, pm_index sentence);
/* "heat.c:22"; "" for nouns that have no place or bear it in their name. */
void ask_add_place(struct pm_buf *out, const struct report *report, pm_index noun);

#endif
