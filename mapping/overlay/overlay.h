/* Overlays: a level of words from a text file, into which what an archive has is put by patterns.
 *
 *     struct pm_overlay *overlay;
 *     struct pm_overlay_use found;
 *     if (pm_overlay_read("parts.overlay", &err, &overlay) == PM_OK &&
 *         pm_overlay_apply(overlay, graph, &err, &found) == PM_OK) // before anybody else reads it
 *         use(found.n_matched, found.n_dropped);
 *     pm_overlay_free(overlay);
 *
 * Each of its nouns whose patterns match becomes a noun of a new level, and what is matched maps to
 * it by the same verb, so lifting, questions and comparing need to know nothing of it. The file:
 * docs/overlays.md. Nothing in it is trusted.
 *
 * Source: Hansen, Towards Comparative Profiling of Parallel Applications with PPerfDB (2001):
 * bridging, collating, renaming.
 */
#ifndef PM_OVERLAY_H
#define PM_OVERLAY_H

#include "mapping/base/arena.h"
#include "mapping/graph/graph.h"

#include <stdbool.h>

struct pm_buf;

enum {
    PM_OVERLAY_MOST_BYTES = 1 << 24,
    PM_OVERLAY_MOST_NOUNS = 1 << 16,
    /* that are looked for in all nouns, so all but exact:NAME */
    PM_OVERLAY_MOST_PATTERNS = 1024,
    PM_OVERLAY_MOST_DEPTH = 32
};

struct pm_overlay_noun {
    const char *name, *kind;
    uint32_t parent, depth;             /* parent: a position, smaller; PM_NONE: top */
    uint32_t first_pattern, n_patterns; /* 0: it groups others */
};

/* "time = wall_ns | incl_func_duration * 1000" */
struct pm_overlay_metric {
    const char *name, *value;
};

struct pm_overlay {
    const char *name; /* of the file, for messages */
    const char *level;
    struct pm_overlay_noun *nouns; /* parents before their parts */
    const char **patterns;
    struct pm_overlay_metric *metrics;
    uint32_t n_nouns, n_patterns, n_metrics;
    struct pm_arena arena;
};

/* Errors name the file: PM_ERR_SYSTEM, PM_ERR_FORMAT (nouns in a circle, no level or several, ...),
 * PM_ERR_LIMIT, PM_ERR_MEMORY. */
PM_MUST_CHECK enum pm_status pm_overlay_read(const char *path, struct pm_error *err,
                                             struct pm_overlay **ret_overlay);
PM_MUST_CHECK enum pm_status pm_overlay_read_text(const char *name, const char *text, size_t len,
                                                  struct pm_error *err,
                                                  struct pm_overlay **ret_overlay);
void pm_overlay_free(struct pm_overlay *overlay);

struct pm_overlay_use {
    uint32_t n_matched;        /* nouns of the overlay that match something */
    uint32_t n_dropped;        /* that match nothing */
    const char *first_dropped; /* lent from the overlay; NULL: none */
};

/* apply.c: adds the level, nouns, sentences and mappings; the graph is sealed again, and its
 * strings are copies. PM_ERR_USAGE: it has such a level; PM_ERR_NOT_FOUND: nothing matches. */
PM_MUST_CHECK enum pm_status pm_overlay_apply(const struct pm_overlay *overlay,
                                              struct pm_graph *graph, struct pm_error *err,
                                              struct pm_overlay_use *ret_use);

/* A list of metrics and formulas, in which names of the overlay stand for what it says: the first
 * of its alternatives whose metrics the graph has. PM_ERR_NOT_FOUND: it has none of them. */
PM_MUST_CHECK enum pm_status pm_overlay_expand(const struct pm_overlay *overlay,
                                               const struct pm_graph *graph, const char *metrics,
                                               struct pm_error *err, struct pm_buf *out);

/* write.c: an overlay of the files and functions of the source that the graph has. */
PM_MUST_CHECK enum pm_status pm_overlay_write(const struct pm_graph *graph, const char *level,
                                              struct pm_error *err, struct pm_buf *out);

#endif
