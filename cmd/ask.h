/* perfmap ask, nouns, verbs, sentences, levels: between their files. */
#ifndef PM_CMD_ASK_H
#define PM_CMD_ASK_H

#include "cmd/core/cmd.h"
#include "report.h"

#include "mapping/question/question.h"
#include "mapping/view/question.h"

/* A part of a run that goes on. */
struct ask_interval {
    uint64_t pid;
    double from_s, to_s; /* since the question was asked */
};

struct ask_options {
    const char *text; /* of the question */
    uint64_t limit;   /* rows; 0: all */
    bool json, csv;
    struct report_look look;
    const struct pm_ask_cost *cost;      /* NULL: not told */
    const struct ask_interval *interval; /* NULL: the whole run, which is over */
};

PM_MUST_CHECK enum pm_status ask_print(struct pm_view *report, const struct pm_question *question,
                                       const struct pm_answer *answer,
                                       const struct ask_options *options, struct pm_error *err);

/* ask_live.c: perfmap ask --live. */
struct ask_live {
    uint64_t pid, every_ms, for_ms; /* 0: only once; to the end */
    const char *mode;               /* NULL: the run's */
};
int ask_live(struct cmd_parse *parse, const struct ask_live *live,
             const struct ask_options *options, const struct pm_view_options *report);

/* ask.c: asks an archive and prints the answer as a table. metrics NULL: the time that was
 * measured. */
PM_MUST_CHECK enum pm_status ask_archive(const char *question, const char *archive,
                                         const char *metrics, struct pm_error *err);

/* ask_print.c. The report has the archive's data, its metrics and its time; false: memory. */
bool ask_print_table(struct pm_view *report, const struct pm_question *question,
                     const struct pm_answer *answer, const struct ask_options *options, FILE *out);
void ask_print_json(struct pm_view *report, const struct pm_question *question,
                    const struct pm_answer *answer, const struct ask_options *options, FILE *out);
void ask_print_csv(struct pm_view *report, const struct pm_question *question,
                   const struct pm_answer *answer, const struct ask_options *options, FILE *out);

#endif
