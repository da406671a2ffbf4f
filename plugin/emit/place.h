/* Places in source text, as compilers give them.
 *
 *     struct pm_place place = {.file = "/src/heat.c", .shown = "heat.c", .line = 42, .column = 5};
 *     struct pm_text_point point = pm_place_point(&place);
 *     if (pm_text_point_less(point, (struct pm_text_point){43, 1}))
 *         ...
 *
 * Lines and columns count from 1; 0 is unknown. Header-only; nothing is allocated.
 */
#ifndef PM_PLACE_H
#define PM_PLACE_H

#include <stdbool.h>

/* A point of one source text. */
struct pm_text_point {
    unsigned line, column;
};

/* A point of a source file. Both names live until the compiler ends, and equal files have one
 * pointer: names are compared by pointer. */
struct pm_place {
    const char *file;      /* absolute, after -ffile-prefix-map */
    const char *shown;     /* as the user spelt it */
    unsigned line, column; /* line 0: no place known */
};

static inline struct pm_text_point pm_place_point(const struct pm_place *place)
{
    struct pm_text_point point = {place->line, place->column};
    return point;
}

static inline bool pm_text_point_less(struct pm_text_point a, struct pm_text_point b)
{
    return a.line != b.line ? a.line < b.line : a.column < b.column;
}

static inline bool pm_text_point_same(struct pm_text_point a, struct pm_text_point b)
{
    return a.line == b.line && a.column == b.column;
}

#endif
