/* Which member of a COMMON block (or of what EQUIVALENCE joins) an address lies in, where the
 * optimisers left no COMPONENT_REF.
 *
 * They compute with the block's address: MEM[0B + 240000B + ivtmp_37 + ivtmp_67 * 2], where the
 * induction variables begin with -4800 - &vmat and &vmat + 2400. So the address is made a sum
 * again: constants, the block, names times factors. Of each PHI of a loop's header the value on
 * entry is taken, of others the first: that is the address in the first iteration on one way
 * through the function. When nothing but the block and a constant is left, the member is there.
 * Else (a loop that begins at k) it is one of those that the statement names in the source;
 * where that is not known either (lto1), the whole block.
 */
#include "map.h"
#include "objects.h"
#include "table.h"

enum { STEPS_MAX = 400, MEMBERS_MAX = 4 };

struct term {
    tree what; /* a block, or a name whose definition says nothing */
    uint64_t factor;
};

/* Modulo 2^64, as the machine counts. */
struct sum {
    uint64_t constant;
    std::vector<struct term> terms;
    tree member; /* a reference to a member with an index that varies */
    unsigned n_steps;
};

static void add_term(struct sum *sum, tree what, uint64_t factor)
{
    for (struct term &term : sum->terms) {
        if (term.what == what) {
            term.factor += factor;
            return;
        }
    }
    sum->terms.push_back({what, factor});
}

static void add_value(struct sum *sum, tree value, uint64_t factor);

static uint64_t constant_of(tree number)
{
    return cst_and_fits_in_hwi(number) ? (uint64_t)int_cst_value(number) : 0;
}

tree pm_member_within(tree t)
{
    for (; handled_component_p(t); t = TREE_OPERAND(t, 0))
        if (pm_fact_block_of(t) != NULL_TREE)
            return t;
    return NULL_TREE;
}

static void add_address(struct sum *sum, tree reference, uint64_t factor)
{
    poly_int64 offset;
    HOST_WIDE_INT constant;
    tree base = get_addr_base_and_unit_offset(reference, &offset);
    if (base == NULL_TREE || !offset.is_constant(&constant)) {
        sum->member = pm_member_within(reference);
        add_term(sum, reference, factor);
        return;
    }
    sum->constant += (uint64_t)constant * factor;
    if (TREE_CODE(base) == MEM_REF) {
        add_value(sum, TREE_OPERAND(base, 0), factor);
        sum->constant += constant_of(TREE_OPERAND(base, 1)) * factor;
    } else if (TREE_CODE(base) == TARGET_MEM_REF) {
        add_value(sum, TMR_BASE(base), factor);
        sum->constant += constant_of(TMR_OFFSET(base)) * factor;
        uint64_t step = TMR_STEP(base) != NULL_TREE ? constant_of(TMR_STEP(base)) : 1;
        if (TMR_INDEX(base) != NULL_TREE)
            add_value(sum, TMR_INDEX(base), factor * step);
        if (TMR_INDEX2(base) != NULL_TREE)
            add_value(sum, TMR_INDEX2(base), factor);
    } else {
        add_term(sum, base, factor);
    }
}

static void add_phi(struct sum *sum, gphi *phi, uint64_t factor)
{
    class loop *loop = gimple_bb(phi)->loop_father;
    bool is_header = loop != NULL && loop->header == gimple_bb(phi);
    for (unsigned i = 0; i < gimple_phi_num_args(phi); i++) {
        if (is_header && flow_bb_inside_loop_p(loop, gimple_phi_arg_edge(phi, i)->src))
            continue;
        add_value(sum, gimple_phi_arg_def(phi, i), factor);
        return;
    }
    add_term(sum, gimple_phi_result(phi), factor);
}

/* False: says nothing. */
static bool add_assigned(struct sum *sum, gimple *stmt, uint64_t factor)
{
    tree first = gimple_assign_rhs1(stmt), second = gimple_assign_rhs2(stmt);
    switch (gimple_assign_rhs_code(stmt)) {
    case PLUS_EXPR:
    case POINTER_PLUS_EXPR:
        add_value(sum, first, factor);
        add_value(sum, second, factor);
        return true;
    case MINUS_EXPR:
    case POINTER_DIFF_EXPR:
        add_value(sum, first, factor);
        add_value(sum, second, -factor);
        return true;
    case NEGATE_EXPR:
        add_value(sum, first, -factor);
        return true;
    case MULT_EXPR:
        if (TREE_CODE(second) != INTEGER_CST)
            return false;
        add_value(sum, first, factor * constant_of(second));
        return true;
    case LSHIFT_EXPR:
        if (TREE_CODE(second) != INTEGER_CST || constant_of(second) > 63)
            return false;
        add_value(sum, first, factor << constant_of(second));
        return true;
    CASE_CONVERT:
    case SSA_NAME:
    case ADDR_EXPR:
    case INTEGER_CST:
        add_value(sum, first, factor);
        return true;
    default:
        return false;
    }
}

static void add_value(struct sum *sum, tree value, uint64_t factor)
{
    STRIP_NOPS(value);
    if (TREE_CODE(value) == INTEGER_CST) {
        sum->constant += constant_of(value) * factor;
    } else if (TREE_CODE(value) == ADDR_EXPR) {
        add_address(sum, TREE_OPERAND(value, 0), factor);
    } else if (TREE_CODE(value) != SSA_NAME || sum->n_steps++ >= STEPS_MAX ||
               SSA_NAME_IS_DEFAULT_DEF(value) || SSA_NAME_DEF_STMT(value) == NULL) {
        add_term(sum, value, factor);
    } else if (gphi *phi = dyn_cast<gphi *>(SSA_NAME_DEF_STMT(value))) {
        add_phi(sum, phi, factor);
    } else if (!is_gimple_assign(SSA_NAME_DEF_STMT(value)) ||
               !add_assigned(sum, SSA_NAME_DEF_STMT(value), factor)) {
        add_term(sum, value, factor);
    }
}

/* Is it the block and a constant? */
static bool is_exact(const struct sum *sum, tree block)
{
    bool found = false;
    for (const struct term &term : sum->terms) {
        if (term.factor != 0 && (term.what != block || term.factor != 1))
            return false;
        found |= term.factor != 0;
    }
    return found;
}

static void add_noun(std::vector<pm_id> *nouns, pm_id noun)
{
    if (noun != 0 && std::find(nouns->begin(), nouns->end(), noun) == nouns->end())
        nouns->push_back(noun);
}

static void members_between(tree block, HOST_WIDE_INT begin, HOST_WIDE_INT end,
                            std::vector<pm_id> *out)
{
    for (tree type : pm_fact_layouts(block, current_function_decl))
        for (tree field = TYPE_FIELDS(type); field != NULL_TREE; field = DECL_CHAIN(field)) {
            if (TREE_CODE(field) != FIELD_DECL || !tree_fits_shwi_p(bit_position(field)) ||
                DECL_SIZE_UNIT(field) == NULL_TREE || !tree_fits_shwi_p(DECL_SIZE_UNIT(field)))
                continue;
            HOST_WIDE_INT at = int_byte_position(field);
            if (at < end && at + tree_to_shwi(DECL_SIZE_UNIT(field)) > begin)
                add_noun(out, pm_fact_member(block, field, current_function_decl));
        }
}

/* Of the members that the source names at this place those that can be meant. */
static void members_named(const std::vector<struct pm_member_touch> *touches, bool writes,
                          std::vector<pm_id> *out)
{
    bool has_arrays = false;
    for (const struct pm_member_touch &touch : *touches)
        has_arrays |= touch.writes == writes && !touch.is_scalar;
    for (const struct pm_member_touch &touch : *touches)
        if (touch.writes == writes && !(has_arrays && touch.is_scalar))
            add_noun(out, touch.noun);
}

/* The equivalent ones among them differ in what is read and what is written. False: none is
 * named. */
static bool keep_named(const std::vector<struct pm_member_touch> *touches, bool writes,
                       std::vector<pm_id> *nouns)
{
    std::vector<pm_id> kept, kept_so;
    for (const struct pm_member_touch &touch : *touches)
        if (std::find(nouns->begin(), nouns->end(), touch.noun) != nouns->end())
            add_noun(touch.writes == writes ? &kept_so : &kept, touch.noun);
    if (kept.empty() && kept_so.empty())
        return false;
    nouns->swap(kept_so.empty() ? kept : kept_so);
    return true;
}

static void find_members(const struct sum *sum, tree block, HOST_WIDE_INT size, location_t location,
                         bool writes, std::vector<pm_id> *out)
{
    const std::vector<struct pm_member_touch> *touches = pm_fact_members_at(location, block);
    HOST_WIDE_INT offset = (HOST_WIDE_INT)sum->constant;
    if (is_exact(sum, block))
        members_between(block, offset, offset + size, out);
    if (!out->empty() && (touches == NULL || keep_named(touches, writes, out)))
        return;
    std::vector<pm_id> at;
    at.swap(*out);
    if (sum->member != NULL_TREE && pm_fact_block_of(sum->member) == block)
        add_noun(out, pm_fact_component(sum->member, current_function_decl));
    else if (touches != NULL)
        members_named(touches, writes, out);
    if (out->empty())
        out->swap(at); /* nothing better is known */
}

static void add_found(tree block, std::vector<pm_id> *found, std::vector<struct pm_access> *out)
{
    if (found->size() > MEMBERS_MAX || found->empty()) {
        found->clear();
        add_noun(found, pm_fact_block(block));
        if (found->empty())
            members_between(block, 0, HOST_WIDE_INT_MAX, found);
    }
    for (pm_id noun : *found)
        pm_access_add(out, noun, 0);
}

void pm_objects_in_block(tree block, tree t, bool is_pointer, location_t location, bool writes,
                         std::vector<struct pm_access> *out)
{
    struct sum sum = {};
    std::vector<pm_id> found;
    tree size = !is_pointer ? TYPE_SIZE_UNIT(TREE_TYPE(t)) : NULL_TREE;
    if (is_pointer)
        add_value(&sum, t, 1);
    else
        add_address(&sum, t, 1);
    find_members(&sum, block, size != NULL_TREE && tree_fits_shwi_p(size) ? tree_to_shwi(size) : 1,
                 location, writes, &found);
    add_found(block, &found, out);
}

void pm_objects_at_offset(tree block, HOST_WIDE_INT offset, HOST_WIDE_INT size,
                          std::vector<struct pm_access> *out)
{
    std::vector<pm_id> found;
    if (size != 0)
        members_between(block, offset, offset + size, &found);
    add_found(block, &found, out);
}

/* --- what GIMPLE told is kept for RTL --- */

struct reference_key {
    unsigned block, base, index, index2;
    uint64_t offset, step;
    bool writes;
};

static inline bool operator==(const struct reference_key &a, const struct reference_key &b)
{
    return a.block == b.block && a.base == b.base && a.index == b.index && a.index2 == b.index2 &&
           a.offset == b.offset && a.step == b.step && a.writes == b.writes;
}

static inline uint64_t pm_hash(const struct reference_key &key)
{
    uint64_t hash = pm_hash_join(pm_hash((uint64_t)key.block), key.base);
    hash = pm_hash_join(pm_hash_join(hash, key.index), key.index2);
    return pm_hash_join(pm_hash_join(hash, key.offset), key.step * 2 + key.writes);
}

static struct pm_table<struct reference_key, std::vector<struct pm_access>> known_references;

void pm_objects_blocks_of(void)
{
    known_references.clear();
}

static unsigned version_of(tree name)
{
    return name != NULL_TREE && TREE_CODE(name) == SSA_NAME ? SSA_NAME_VERSION(name) : 0;
}

static struct reference_key key_of(tree block, tree base, bool writes)
{
    struct reference_key key = {DECL_UID(block), 0, 0, 0, 0, 0, writes};
    key.base = version_of(TREE_OPERAND(base, 0));
    key.offset = constant_of(TREE_OPERAND(base, 1));
    if (TREE_CODE(base) == TARGET_MEM_REF) {
        key.index = version_of(TMR_INDEX(base));
        key.index2 = version_of(TMR_INDEX2(base));
        key.step = TMR_STEP(base) != NULL_TREE ? constant_of(TMR_STEP(base)) : 0;
    }
    return key;
}

void pm_objects_keep_in_block(tree block, tree base, location_t location, bool writes)
{
    std::vector<struct pm_access> found;
    pm_objects_in_block(block, base, false, location, writes, &found);
    std::vector<struct pm_access> *kept = known_references.add(key_of(block, base, writes), {});
    for (const struct pm_access &access : found)
        pm_access_add(kept, access.noun, 0);
}

bool pm_objects_kept_in_block(tree block, tree base, bool writes,
                              std::vector<struct pm_access> *out)
{
    if (TREE_CODE(base) != MEM_REF && TREE_CODE(base) != TARGET_MEM_REF)
        return false;
    const std::vector<struct pm_access> *kept = known_references.find(key_of(block, base, writes));
    if (kept != NULL)
        *out = *kept;
    return kept != NULL;
}
