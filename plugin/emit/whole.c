/* Objects that are copied as a whole: which of their fields get facts. */
#include "whole.h"

#include "../../mapping/base/banned.h"

/* The mapper takes two objects of so many in a statement (TOUCHES_MAX in mapping/collect). */
enum { FIELDS_MAX = 40 };

bool pm_whole_takes(struct pm_whole *whole, struct pm_facts *facts, pm_id field)
{
    if (field == 0)
        return false;
    if (whole->is_full)
        pm_fact_left_out(facts, field);
    bool takes = !whole->is_full;
    whole->is_full = ++whole->n_fields >= FIELDS_MAX;
    return takes;
}
