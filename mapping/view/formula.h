/* Metrics that are made of others, row by row: "ipc = instructions / cycles".
 *
 *     static const double values[] = {2000, 1000}; // as find numbers the names
 *     struct pm_formula formula;
 *     if (pm_formula_parse(PM_STR("ipc = instructions / cycles"), find, NULL, err, &formula) ==
 *         PM_OK)
 *         printf("%g", pm_formula_value(&formula, values)); // 2; NAN: not known
 *
 * NAME = EXPRESSION, with + - * / ( ), numbers, and names of metrics: letters, digits and _.
 */
#ifndef PM_VIEW_FORMULA_H
#define PM_VIEW_FORMULA_H

#include "mapping/base/status.h"
#include "mapping/base/str.h"

enum { PM_FORMULA_MAX_STEPS = 64, PM_FORMULA_NAME_BYTES = 48 };

struct pm_formula_step {
    char what;     /* 'n' number, 'm' metric; + - * / take the two before, ~ turns one's sign */
    double number; /* 'n' */
    uint32_t m;    /* 'm': what find said */
};

struct pm_formula {
    char name[PM_FORMULA_NAME_BYTES];
    struct pm_formula_step steps[PM_FORMULA_MAX_STEPS]; /* reverse Polish */
    uint32_t n;
};

/* Where a name's value will be; false: there is none, and err says so. */
typedef bool pm_formula_find(void *context, struct pm_str name, struct pm_error *err,
                             uint32_t *ret_m);

/* Is it "NAME = ...", and not an event as "cpu/event=0x3c/" or "skx::CYCLES:cpu=0"? */
bool pm_formula_is_one(struct pm_str text);
/* The first item of a list of metrics and formulas; the list goes on behind it, at its zero in the
 * end. Commas separate them, but for those within "unit/.../" of an event; in formulas '/'
 * divides. */
struct pm_str pm_formula_next(const char **list);
/* PM_ERR_USAGE: it is wrong, or a name is. Nothing to release. */
PM_MUST_CHECK enum pm_status pm_formula_parse(struct pm_str text, pm_formula_find *find,
                                              void *context, struct pm_error *err,
                                              struct pm_formula *ret_formula);
/* values: by what find said; NAN where one is not known. */
double pm_formula_value(const struct pm_formula *formula, const double *values);
bool pm_formula_uses(const struct pm_formula *formula, uint32_t m);

#endif
