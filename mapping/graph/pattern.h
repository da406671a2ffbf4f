/* What a person means by the name of a construct, wherever a command takes one: NAME, FILE:LINE,
 * KIND:NAME, with * and ?.
 *
 *     struct pm_pattern pattern = pm_pattern_of("line:heat.c:42", NULL, NULL);
 *     if (pm_pattern_fits(&pattern, &graph->nouns[n])) ...
 *
 * --focus, annotate, explain, --exact and the like, `perfmap mode` and questions have their
 * names looked up here, so a name means the same in all of them. The texts must live as long as
 * the pattern. No state; any thread.
 */
#ifndef PM_PATTERN_H
#define PM_PATTERN_H

#include "../base/names.h"
#include "../base/str.h"
#include "graph.h"

enum pm_pattern_kind {
    PM_PATTERN_ANY,
    PM_PATTERN_FUNCTION, /* func: function: symbol: */
    PM_PATTERN_LOOP,
    PM_PATTERN_FILE,
    PM_PATTERN_PROCESS,
    PM_PATTERN_STATEMENT, /* statement: line: */
    PM_PATTERN_ARRAY,
    PM_PATTERN_VARIABLE,
    PM_PATTERN_OTHER /* of a kind of somebody's own: query: */
};

struct pm_pattern {
    enum pm_pattern_kind kind;
    struct pm_str prefix; /* with its colon, as it was written; empty: none */
    struct pm_name_pattern name;
};

/* has_kind: whether a word before a colon is a kind of the archive's nouns, and no part of a
 * name; NULL: none is. */
struct pm_pattern pm_pattern_of(const char *text,
                                bool (*has_kind)(const void *nouns, struct pm_str kind),
                                const void *nouns);
/* As pm_pattern_of, with the kinds of the graph. */
struct pm_pattern pm_pattern_in(const char *text, const struct pm_graph *graph);

/* Whether the noun is of the pattern's kind. Of PM_PATTERN_FILE: files only. */
bool pm_pattern_fits_kind(const struct pm_pattern *pattern, const struct pm_graph_noun *noun);
/* Its name, its linker's name or its place. Statements that are named by their function
 * (PM_FRAME_STATEMENT) are not meant by the function's name alone. */
bool pm_pattern_fits_name(const struct pm_pattern *pattern, const struct pm_graph_noun *noun);
/* Both. */
bool pm_pattern_fits(const struct pm_pattern *pattern, const struct pm_graph_noun *noun);

#endif
