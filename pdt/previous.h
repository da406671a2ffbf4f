/* What the last build knew: units whose command and files are as they were need not be read again.
 *
 *     struct pdt_previous *previous;
 *     pdt_previous_load("app.pdb", &err, &previous);        // PM_OK and NULL: there is none
 *     if (pdt_previous_keep(previous, &unit)) ...      // the unit is as it was
 *     pdt_previous_free(previous);                          // groups of kept units are lent by it
 */
#ifndef PDT_PREVIOUS_H
#define PDT_PREVIOUS_H

#include "unit.h"

struct pdt_previous;

struct pdt_pooled {
    struct pm_str data; /* lent */
    uint8_t hash[16];
    int64_t id; /* below 0: damaged */
};

PM_MUST_CHECK enum pm_status pdt_previous_load(const char *path, struct pm_error *err,
                                               struct pdt_previous **ret_previous);
void pdt_previous_free(struct pdt_previous *previous);
/* Fills in files, errors and problem of the unit when it is as it was. previous may be NULL. */
bool pdt_previous_keep(struct pdt_previous *previous, struct pdt_unit *unit);
/* The n-th group of a kept unit, in order; NULL past the last. */
const struct pdt_pooled *pdt_previous_group(const struct pdt_previous *previous, uint64_t unit_key,
                                            uint32_t n);

#endif
