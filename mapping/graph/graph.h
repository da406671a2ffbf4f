/* The noun-verb model in memory: levels, nouns, verbs, sentences, mappings, contexts, metrics and
 * costs, as arrays.
 *
 *     struct pm_graph *graph = pm_graph_new();
 *     pm_index base = pm_graph_level(graph, "Base"), source = pm_graph_level(graph, "Source");
 *     struct pm_graph_noun noun = {.name = "sweep", .level = source, .parent = PM_NONE};
 *     pm_index f = pm_graph_noun(graph, &noun);
 *     pm_index executes = pm_graph_verb(graph, "Executes", source);
 *     pm_index s = pm_graph_sentence(graph, executes, &f, 1);
 *     pm_graph_mapping(graph, code, s, 0, "compiler");
 *     if (!pm_graph_seal(graph)) ...              // memory ended somewhere on the way
 *     pm_graph_free(graph);
 *
 * Things are named by their position (pm_index) in the arrays below. The arrays may be read
 * directly; they grow only through the functions. A function that runs out of memory returns
 * PM_NONE and sets `failed`, which stays: check once, or let pm_graph_seal check. Strings are
 * copied. Arguments that are positions must exist already (asserted): what comes from files is
 * checked by the loader. One thread at a time while it grows, any number of readers after that.
 *
 * Source of the model: Irvin and Miller, "Mapping Performance Data for High-Level and Data Views of
 * Parallel Program Performance" (1996); design.md section 1.
 */
#ifndef PM_GRAPH_H
#define PM_GRAPH_H

#include "../base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef uint32_t pm_index;
#define PM_NONE UINT32_MAX

struct pm_graph_level {
    const char *name;
    pm_index above; /* the level that this one lies above; PM_NONE */
};

/* Nouns of a level form trees by parent: its where axis. `parent` may be set later by
 * pm_graph_set_parent. */
struct pm_graph_noun {
    const char *name;
    const char *kind;    /* function, loop, file, symbol, loopcode, process, ...; "" not stated */
    const char *linkage; /* "" where it is the name */
    const char *file;    /* "" not stated */
    const char *type;    /* "" not stated */
    const char *binary;  /* path of the program or library it belongs to; "" all */
    pm_index level, parent;
    /* of PIF; 0 not stated. Equal ones in several binaries are copies of one construct */
    int64_t id;
    uint32_t line_no, column_no, end_line_no; /* 0 not stated */
};

struct pm_graph_verb {
    const char *name;
    pm_index level;
};

/* One verb and its nouns. The level of a sentence is its verb's. */
struct pm_graph_sentence {
    pm_index verb;
    uint32_t first_noun, n_nouns; /* in sentence_nouns */
};

struct pm_mapping {
    pm_index source, destination;
    double weight;      /* relative among the mappings of one source; 0: not stated */
    const char *origin; /* compiler, debug, run, user, inferred */
    const char *reason; /* why its source has several destinations; "" not stated */
};

enum pm_context_flag {
    PM_CONTEXT_FOLDED = 1,
    PM_CONTEXT_FOREIGN_STACK = 2,
    PM_CONTEXT_SAMPLED = 4, /* found by samples: callers between it and its parent may be missing */
    PM_CONTEXT_INLINED = 8, /* inlined into its parent */
    PM_CONTEXT_COUNTED = 16, /* calls that were counted without their callers */
    /* Begun and not ended: active with all that is below it, in no order. With FOLDED: how often
     * it was begun in its parent. */
    PM_CONTEXT_AMBIENT = 32,
    /* a cause is adopted; the sentence is that of the code around it, which is active already */
    PM_CONTEXT_CAUSE = 64,
    PM_CONTEXT_TOLD = 128, /* of a run that is not here: by a text that came with the work */
    PM_CONTEXT_CAUSE_ALONE =
        256, /* a cause that was done on behalf of nothing, whatever was adopted there */
    PM_CONTEXT_CONTINUED = 512, /* counted, and the rest of calls that are counted already */
};

/* The positions of a parent and of a cause are always smaller than that of the context. */
struct pm_context {
    pm_index parent; /* PM_NONE: root */
    pm_index sentence;
    uint32_t flags; /* enum pm_context_flag */
    /* what is below is done on behalf of that context, of any thread or process; PM_NONE */
    pm_index cause;
};

enum pm_aggregation { PM_SUM, PM_AVERAGE, PM_MINIMUM, PM_MAXIMUM };

struct pm_graph_metric {
    const char *name, *unit, *kind, *description; /* kind: count, time, bytes */
    enum pm_aggregation aggregation;
};

struct pm_cost {
    pm_index context, thread, metric; /* thread: the caller's own numbering */
    bool is_merged;                   /* of several threads: `thread` is the first of them */
    int64_t value;
};

struct pm_graph_private;
struct pm_graph {
    struct pm_graph_level *levels;
    struct pm_graph_noun *nouns;
    struct pm_graph_verb *verbs;
    struct pm_graph_sentence *sentences;
    pm_index *sentence_nouns;
    struct pm_mapping *mappings;
    struct pm_context *contexts;
    struct pm_graph_metric *metrics;
    struct pm_cost *costs;
    uint32_t n_levels, n_nouns, n_verbs, n_sentences, n_sentence_nouns, n_mappings, n_contexts,
        n_metrics, n_costs;
    /* Made by pm_graph_seal. Mappings out of sentence s: mappings[out[i]] for i in [out_first[s],
     * out_first[s + 1]); into it: the same with in_first and in. */
    uint32_t *out_first, *out, *in_first, *in;
    bool failed;
    struct pm_graph_private *own;
};

struct pm_graph *pm_graph_new(void); /* NULL: memory */
void pm_graph_free(struct pm_graph *graph);

/* The same once more, with arrays of its own, for whoever changes it. Of a sealed graph. Its
 * strings are lent from the original, which has to live longer. NULL: memory. */
struct pm_graph *pm_graph_copy(const struct pm_graph *graph);

/* The level of that name, made when it is new. */
pm_index pm_graph_level(struct pm_graph *graph, const char *name);
pm_index pm_graph_find_level(const struct pm_graph *graph,
                             const char *name); /* PM_NONE: there is none */

pm_index pm_graph_noun(struct pm_graph *graph,
                       const struct pm_graph_noun *noun); /* NULL strings count as "" */
/* Circles are refused: false, and the parent stays as it was. */
bool pm_graph_set_parent(struct pm_graph *graph, pm_index noun, pm_index parent);
pm_index pm_graph_verb(struct pm_graph *graph, const char *name, pm_index level);
pm_index pm_graph_sentence(struct pm_graph *graph, pm_index verb, const pm_index *nouns,
                           uint32_t n_nouns);
/* weight: not stated unless above 0 and finite. */
pm_index pm_graph_mapping(struct pm_graph *graph, pm_index source, pm_index destination,
                          double weight, const char *origin);
/* reason: copied; NULL is "". */
void pm_graph_set_reason(struct pm_graph *graph, pm_index mapping, const char *reason);
pm_index pm_graph_context(struct pm_graph *graph, pm_index parent, pm_index sentence,
                          uint32_t flags);
void pm_graph_set_cause(struct pm_graph *graph, pm_index context, pm_index cause);
pm_index pm_graph_metric(struct pm_graph *graph, const struct pm_graph_metric *metric);
pm_index pm_graph_find_metric(const struct pm_graph *graph, const char *name);
void pm_graph_cost(struct pm_graph *graph, const struct pm_cost *cost);
/* Others in place of all costs; from malloc, and the graph's from now on. */
void pm_graph_take_costs(struct pm_graph *graph, struct pm_cost *costs, uint32_t n);

/* For each sentence of one noun of the kind, one with the same verb of its parent, when that is
 * of the kind too; made where it is not there. So what lies around a measured construct can be
 * spoken of. False: memory ended. */
PM_MUST_CHECK bool pm_graph_add_outer(struct pm_graph *graph, const char *kind);

/* Makes the edge lists (again, after additions). False when memory ended, now or in any addition.
 */
PM_MUST_CHECK bool pm_graph_seal(struct pm_graph *graph);

static inline pm_index pm_graph_sentence_level(const struct pm_graph *graph, pm_index sentence)
{
    return graph->verbs[graph->sentences[sentence].verb].level;
}

/* The first noun of a sentence, PM_NONE when it has none. */
static inline pm_index pm_graph_first_noun(const struct pm_graph *graph, pm_index sentence)
{
    const struct pm_graph_sentence *s = &graph->sentences[sentence];
    return s->n_nouns ? graph->sentence_nouns[s->first_noun] : PM_NONE;
}

/* May the calls of a context be the rest of ones that are counted already? GCC cuts the rest of
 * a function off (`f.part.0`, -fpartial-inlining), and calls it from copies of its begin,
 * inlined elsewhere, and from the function itself. The former have a mark: of those no call is
 * known. And a destructor that frees memory calls the one that does not, that of whole objects
 * with virtual bases the one of bases, and with -Os all of them a common one. Counters have no
 * paths: they have a flag. An array statement of Fortran is a loop, and the rest of it. */
bool pm_graph_continues_call(const struct pm_graph *graph, pm_index context);

/* Data of the program: arrays, variables, fields, COMMON blocks, heap blocks. */
bool pm_noun_is_data(const struct pm_graph_noun *noun);
/* What `array` means wherever a person names one: also a variable that points, which is one for
 * its users (double *u). */
bool pm_noun_is_array(const struct pm_graph_noun *noun);

/* The noun itself or its nearest ancestor of that kind; PM_NONE when there is none. */
pm_index pm_graph_ancestor(const struct pm_graph *graph, pm_index noun, const char *kind);

#endif
