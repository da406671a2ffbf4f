/* What is said above rows, as facts that any format can show (header_facts.c), and how text shows
 * them (header.c).
 *
 *     // tell(out, SHOW_FACT_WARNING, "samples were lost") prints one
 *     show_tell_facts(&report, true, tell, stdout);
 */
#ifndef PM_SHOW_HEADER_H
#define PM_SHOW_HEADER_H

#include "show.h"

/* In the order in which they are told; those of a run, warnings and notes may be several. */
enum show_fact_kind {
    SHOW_FACT_COMMAND,   /* "./heat 100" */
    SHOW_FACT_RUN,       /* "wall 2.345 s", "4 threads", "1 144 samples" */
    SHOW_FACT_BAD_END,   /* among them: "exit status 3" */
    SHOW_FACT_MORE_RUNS, /* "and 2 more runs, added up" */
    SHOW_FACT_SAMPLING,  /* how, with --details */
    SHOW_FACT_MACHINE,   /* on what, and what compiled it, with --details */
    SHOW_FACT_MEASURING, /* what it cost, where that is much */
    SHOW_FACT_PREEMPTED,
    SHOW_FACT_MODES, /* what was in other modes than the run */
    SHOW_FACT_WARNING,
    SHOW_FACT_VIEW, /* "Source level, loops and functions" */
    SHOW_FACT_FOLDED,
    SHOW_FACT_FOCUS, /* "focus main: 99.1 % of the whole run" */
    SHOW_FACT_NOTE,
    SHOW_N_FACT_KINDS
};

/* The text is lent for the call. */
typedef void show_fact_teller(void *context, enum show_fact_kind kind, const char *text);
/* utf8: of separators and units. */
void show_tell_facts(struct pm_view *report, bool utf8, show_fact_teller *teller, void *context);
/* What measuring cost, to be freed; NULL: nothing, or that is not known. */
char *show_measuring_text(struct pm_view *report, bool utf8);
/* What costs over locations leave out, likewise. */
char *show_left_out_text(const struct pm_view *report, bool utf8);

#endif
