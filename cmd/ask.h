/* perfmap ask, nouns, verbs, sentences, levels: between their files. */
#ifndef PM_CMD_ASK_H
#define PM_CMD_ASK_H

#include "report.h"

#include "mapping/question/question.h"

struct ask_cost {
    int64_t n_calls,
        events_ns;      /* of the code that the question needs, and what following it cost */
    int64_t samples_ns; /* all samples */
    double share_pct;   /* of the CPU time that the program took; NAN: not known */
};

/* A part of a run that goes on. */
struct ask_interval {
    uint64_t pid;
    double from_s, to_s; /* since the question was asked */
};

struct ask_options {
    const char *text; /* of the question */
    uint64_t limit;   /* rows; 0: all */
    bool json, csv;
    const struct ask_cost *cost;         /* NULL: not told */
    const struct ask_interval *interval; /* NULL: the whole run, which is over */
};

/* ask.c: the answer of the archive in the report's options. is_live: what it has not may come. */
PM_MUST_CHECK enum pm_status ask_make(struct report *report, const struct pm_question *question,
                                      bool is_live, struct pm_error *err,
                                      struct pm_answer **ret_answer);
PM_MUST_CHECK enum pm_status ask_print(struct report *report, const struct pm_question *question,
                                       const struct pm_answer *answer,
                                       const struct ask_options *options, struct pm_error *err);

/* ask_cost.c: what the question itself cost the program, estimated: the calls of the code that it needs, and samples. */
PM_MUST_CHECK enum pm_status ask_find_cost(const struct pm_archive_data *data,
                                           const struct pm_question *question, struct pm_error *err,
                                           struct ask_cost *ret_cost);

/* ask_live.c: perfmap ask --live. */
struct ask_live {
    uint64_t pid, every_ms, for_ms; /* 0: only once; to the end */
    const char *mode;               /* NULL: the run's */
};
int ask_live(struct cmd_parse *parse, const struct ask_live *live,
             const struct ask_options *options, const struct report_options *report);

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
/* A word of a question, quoted where it must be. */
void ask_add_word(struct pm_buf *out, const struct pm_graph *graph, const char *name);
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
