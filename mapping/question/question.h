/* Performance questions: which costs were incurred while these sentences were active?
 *
 *     struct pm_question *question;
 *     if (pm_question_parse("{A Sum} then {? Send}", &err, &question) == PM_OK &&
 *         pm_question_ask(question, &run, &err, &answer) == PM_OK) // run.graph
 *         use(answer->n_active_contexts, answer->rows, answer->n_rows);
 *     pm_answer_free(answer);
 *     pm_question_free(question);
 *
 * The language is in docs/questions.md. A sentence is active while a cost is incurred when it is
 * on the path of the cost's context, or is reached by mappings from one that is. So:
 *
 *   {n V}       a sentence whose nouns and verb fit is active
 *   a, b        both are; `or`: one of them is; `not a`: it is not
 *   a then b    b became active inside a: a further out on the path than b. What was begun and not
 *               ended (pm_begin) has no place there: it is further out than all that is entered,
 *               and no two of it are in order
 *   a during p  a, while a phase, or anything that was begun, of that name is active; `outside`:
 *               while none is
 *
 * Where the graph has causes (contexts of flag PM_CONTEXT_CAUSE), what was active at the cause
 * is active below them, too: it is further out than all that is below, neither further out nor
 * in than what is above. A cost is deferred when a sentence of its row was active by a cause
 * only.
 *
 * One thread at a time per question; a parsed question may be asked of any number of graphs.
 * Source: Irvin and Miller, "Mapping Performance Data for High-Level and Data Views of Parallel
 * Program Performance" (1996), sections 4 and 6.
 */
#ifndef PM_QUESTION_H
#define PM_QUESTION_H

#include "../base/arena.h"
#include "../base/str.h"
#include "../graph/lift.h"
#include "../graph/sets.h"

enum {
    PM_QUESTION_MAX_BYTES = 65536, /* of text */
    PM_QUESTION_MAX_NODES = 1000,  /* sentences and words between them */
    PM_QUESTION_MAX_NOTES = 16,
};

/* A word of a sentence as it was written: `*` and `?` are wild unless quoted. */
struct pm_question_word {
    const char *pattern; /* for fnmatch(3), without the level's name */
    const char *level;   /* what stood before `::`; NULL: nothing */
    const char *whole;   /* pattern with that, for names that have `::` in them */
    const char *text;    /* as written, for messages */
    uint32_t column;     /* in the question, from 1 */
    bool any;            /* `?` */
};

enum pm_question_kind {
    PM_QUESTION_SENTENCE,
    PM_QUESTION_AND,
    PM_QUESTION_OR,
    PM_QUESTION_NOT,
    PM_QUESTION_THEN
};

/* Children's positions are smaller than their parent's; the last node is the whole question. */
struct pm_question_node {
    enum pm_question_kind kind;
    uint32_t left, right; /* nodes; NOT: left only. SENTENCE: left is its position in sentences */
    bool denied;          /* below an odd number of `not` */
};

struct pm_question_sentence {
    struct pm_question_word *nouns, verb;
    uint32_t n_nouns;
    const char *text; /* as written */
    bool is_ambient;  /* during, outside: only what was begun and not ended fits */
};

enum pm_question_where {
    PM_QUESTION_ON_THREAD,
    PM_QUESTION_ON_PROCESS,
    PM_QUESTION_ON_RANK,
    PM_QUESTION_ON_NODE
};

/* Costs of some threads, processes, ranks, nodes only. */
struct pm_question_limit {
    enum pm_question_where where;
    struct pm_question_word word;
};

struct pm_question {
    struct pm_question_node *nodes;
    struct pm_question_sentence *sentences;
    struct pm_question_limit *limits;
    uint32_t n_nodes, n_sentences, n_limits;
    const char *text;
    struct pm_arena arena;
};

/* PM_ERR_USAGE: not a question; the text points at the character. PM_ERR_LIMIT: too long. */
PM_MUST_CHECK enum pm_status pm_question_parse(const char *text, struct pm_error *err,
                                               struct pm_question **ret_question);
void pm_question_free(struct pm_question *question);

/* --- asking a run that is over --- */

/* What is asked. threads_in: [number of the costs' threads], true where costs count; NULL: all.
 * The graph must be sealed. */
struct pm_question_run {
    const struct pm_graph *graph;
    const bool *threads_in;
    uint32_t n_threads;
    pm_index calls_metric; /* PM_NONE: none; then nothing is known of how often */
};

/* What matched one sentence of the question in a row: classes of its pm_question_matches. */
struct pm_answer_match {
    const uint32_t *classes; /* rising; lent by the answer */
    uint32_t n_classes;      /* 0: it was not active (or, not) */
};

struct pm_answer_row {
    struct pm_answer_match *matches; /* [n_asked] */
    struct pm_amount *amounts;       /* [graph->n_metrics] */
    /* [graph->n_metrics]: part of amounts (sums only) that the same code does for others, too */
    struct pm_amount *shared;
    /* [graph->n_metrics]: part of amounts (sums only) for which a match was active by a cause
     * only */
    struct pm_amount *deferred;
    int64_t n_times;                   /* how often it became active; as far as calls tell */
    bool times_known;                  /* some of it began at a call */
    bool times_at_least;               /* the caller's: some calls were not followed */
    bool costs_at_least;               /* the caller's: some of what was called is missing */
    bool times_at_most, costs_at_most; /* the caller's: there is too much, perhaps: `not` */
    bool wall_at_least, wall_at_most;  /* the caller's: the same of wall time only */
    bool is_folded; /* the caller's: of equal functions, so perhaps all of it is another's */
};

/* Why a sentence of the question matches nothing. */
struct pm_answer_note {
    uint32_t sentence; /* of the question */
    const char *text;
};

struct pm_answer {
    uint32_t *asked; /* sentences of the question that are not denied, in order */
    uint32_t n_asked;
    uint32_t *asked_at; /* [n_sentences] of the question: its place there; PM_NONE: denied */
    uint32_t n_sentences;
    struct pm_question_matches *matches; /* per sentence of the question */
    struct pm_answer_row *rows;          /* in no order */
    uint32_t n_rows;
    struct pm_amount *amounts,
        *totals; /* [graph->n_metrics]: of the answer; of the run (or of the threads asked for) */
    struct pm_amount *deferred; /* [graph->n_metrics]: of the answer */
    /* Of data: what is certain, and all of the statements that do what was asked for, by metrics
     * that are sums. */
    bool has_bounds;
    int64_t *least, *most; /* [graph->n_metrics] */
    bool *active;          /* [graph->n_contexts] */
    uint32_t n_active_contexts;
    struct pm_answer_note notes[PM_QUESTION_MAX_NOTES];
    uint32_t n_notes;
    /* by the caller: wall time of which a part that is not known well was taken out */
    bool is_doubtful;
    /* by the caller: something that matches was not followed all the time, no row does not mean
     * never */
    bool is_partial;
    /* by the caller: what is denied was not followed all the time, so some of it is in here */
    bool is_at_most;
    /* by the caller: the same of times by samples only, for samples are missing */
    bool samples_are_at_least, samples_are_at_most;
    /* by the caller: the same of counted events, bits by position among the metrics shown */
    uint32_t counts_at_least, counts_at_most;
    /* by the caller: costs that are missing may be of it, so `most` is no bound */
    bool is_open;
    /* by the caller: samples meet it by chance only, so no row means that it was rare, or never
     * true */
    bool is_by_chance;
    struct pm_arena arena;
    struct pm_answer_private *own;
};

/* A sentence that nothing in the graph can match gets a note with near names; the answer stands
 * all the same. Errors: PM_ERR_MEMORY, PM_ERR_LIMIT. */
PM_MUST_CHECK enum pm_status pm_question_ask(const struct pm_question *question,
                                             const struct pm_question_run *run,
                                             struct pm_error *err, struct pm_answer **ret_answer);
/* The classes of a sentence of the question that a context itself makes active; lent. */
const uint32_t *pm_answer_reached(const struct pm_answer *answer, const struct pm_graph *graph,
                                  uint32_t sentence, pm_index context, uint32_t *ret_n);
void pm_answer_free(struct pm_answer *answer);

/* Does the text (a thread's number or name, say) fit the word? */
bool pm_question_word_fits(const struct pm_question_word *word, const char *text);

/* --- match.c: which sentences of a graph fit one of a question --- */

/* Those that count as one are a class: a part of a named noun counts as the noun that was named,
 * copies of a construct in several binaries as one. */
struct pm_question_class {
    pm_index verb;
    const pm_index *nouns;
    uint32_t n_nouns;
};

struct pm_question_matches {
    uint32_t *class_of; /* per sentence of the graph; PM_NONE: does not fit */
    /* per sentence: of loops and statements of a function that was named; entering them is not
     * entering it */
    bool *is_inner;
    bool *is_lower; /* per level of the graph: something fits, but a level above counts */
    struct pm_question_class *classes;
    uint32_t n_classes;
    struct pm_sets sets;
};

/* Where several levels have what fits, the highest counts, unless the question names one.
 * ret_matches is to be released, whatever comes back. */
PM_MUST_CHECK enum pm_status pm_question_match(const struct pm_question_sentence *sentence,
                                               const struct pm_graph *graph, struct pm_error *err,
                                               struct pm_question_matches *ret_matches);
void pm_question_matches_release(struct pm_question_matches *matches);
/* Why nothing fits, with near names; arena memory, NULL: memory. */
const char *pm_question_why_nothing(const struct pm_question_sentence *sentence,
                                    const struct pm_graph *graph, struct pm_arena *arena);

/* --- need.c: what has to be measured for a question --- */

/* Code is followed when its entries and exits are noticed: symbols and code of loops, level
 * Base. What is not needed may be off, and the answer is the same: a context matters only where
 * it matches a sentence of the question. */
struct pm_question_need {
    bool *followed; /* [graph->n_nouns]: code that has to be followed */
    bool *by_name;  /* [graph->n_nouns]: of that, what some sentence names (not just `?`) */
    bool *is_known; /* per sentence of the question: the graph has what fits */
    bool samples;   /* some sentence has what fits, and no followed code tells all of it */
    /* [graph->n_nouns]: followed code with `inside` matters only where a context above is of
     * code that has one of its bits in `terms`. 0: anywhere. Holds where the program says no
     * words of its own. */
    uint8_t *terms, *inside;
    uint32_t n_inside;
    uint32_t n_followed;
};

/* graph: the facts of the program and its libraries, nothing measured; sealed. has_probes:
 * [graph->n_nouns] whose entries can be noticed, NULL: those of all code. */
PM_MUST_CHECK enum pm_status pm_question_find_need(const struct pm_question *question,
                                                   const struct pm_graph *graph,
                                                   const bool *has_probes, struct pm_error *err,
                                                   struct pm_question_need *ret_need);
void pm_question_need_release(struct pm_question_need *need);

#endif
