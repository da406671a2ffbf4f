/* Objects that are copied, cleared or passed as a whole, "p[i] = q": each of their fields is read
 * or written. Of large objects only the first fields get facts. The others are marked, so that what
 * is said of them is a bound.
 *
 *     struct pm_whole whole = {0};
 *     for (size_t i = 0; i < n_fields; i++) // those of fields, too
 *         if (pm_whole_takes(&whole, facts, fields[i]))
 *             pm_fact_mapping(facts, statement, PM_SOURCE_EXECUTES, fields[i], PM_SOURCE_WRITES);
 *
 * One thread at a time.
 */
#ifndef PM_WHOLE_H
#define PM_WHOLE_H

#include "facts.h"

struct pm_whole {
    unsigned n_fields;
    bool is_full; /* further fields are marked: the facts have to have their nouns */
};

/* 0 is no field. False: no fact is made for it. */
bool pm_whole_takes(struct pm_whole *whole, struct pm_facts *facts, pm_id field);

#endif
