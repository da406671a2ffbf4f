/* Names of Fortran for the same memory: what EQUIVALENCE joins, and members of a COMMON block that
 * have other names in other program units. What is done with one is done with the other.
 */
#include "facts.h"

struct member_range {
    pm_id noun;
    HOST_WIDE_INT begin, end; /* bytes of the block */
};
/* Of blocks, by DECL_UID. */
static std::map<unsigned, std::vector<struct member_range>> member_ranges;

static bool range_of(tree field, struct member_range *ret)
{
    if (!tree_fits_shwi_p(bit_position(field)) || DECL_SIZE_UNIT(field) == NULL_TREE ||
        !tree_fits_shwi_p(DECL_SIZE_UNIT(field)))
        return false;
    ret->begin = int_byte_position(field);
    ret->end = ret->begin + tree_to_shwi(DECL_SIZE_UNIT(field));
    return true;
}

/* Units in other files have names of their own for the same bytes, or some of them: collect sees
 * all names of a program (mapping/collect/overlaps.c), and ids go between libraries. */
static void share_range(pm_id block, const struct member_range *range)
{
    pm_id shared =
        pm_id_of_range(block, (uint64_t)range->begin, (uint64_t)(range->end - range->begin));
    pm_fact_refers(range->noun, shared);
    pm_fact_refers(shared, range->noun);
    std::string bytes = std::to_string(range->begin) + "-" + std::to_string(range->end);
    pm_pif_noun_attribute(pm_facts_early()->pif, range->noun, "block bytes", bytes.c_str());
}

void pm_fact_note_overlaps(tree block, tree field, pm_id noun)
{
    struct member_range range = {noun, 0, 0};
    if (noun == 0 || !range_of(field, &range))
        return;
    std::vector<struct member_range> &known = member_ranges[DECL_UID(block)];
    for (const struct member_range &other : known)
        if (other.begin < range.end && range.begin < other.end) {
            pm_fact_refers(noun, other.noun);
            pm_fact_refers(other.noun, noun);
        }
    known.push_back(range);
    if (pm_id id = pm_fact_block(block))
        share_range(id, &range);
}
