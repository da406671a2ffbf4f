/* The compiler's own registers before code has SSA form.
 *
 * Most temporaries of GIMPLE are SSA names from the start. In the body of an OpenMP region, and
 * where the front end made them (gfortran), they are variables without a name of the source. One
 * that has one value only ("D.1 = u + D.2") is looked through like an SSA name. The gimplifier
 * uses one for the same expression again and again, so it may be given that value several times.
 */
#include "facts_reader.h"

struct temporary {
    gimple *definition; /* NULL: it has several values */
};

static struct pm_table<unsigned, struct temporary> temporaries; /* by DECL_UID, of one function */

/* "D.3142", "u.0", and not "__for_begin" of C++. */
static bool is_of_compiler(tree t)
{
    return VAR_P(t) && DECL_ARTIFICIAL(t) && is_gimple_reg_type(TREE_TYPE(t)) &&
           !TREE_ADDRESSABLE(t) && !TREE_STATIC(t) && !DECL_EXTERNAL(t) &&
           (DECL_NAME(t) == NULL_TREE || strchr(IDENTIFIER_POINTER(DECL_NAME(t)), '.') != NULL);
}

static bool is_same_value(gimple *a, gimple *b)
{
    if (a == NULL || !is_gimple_assign(a) || !is_gimple_assign(b) ||
        gimple_assign_rhs_code(a) != gimple_assign_rhs_code(b))
        return false;
    for (unsigned i = 1; i < gimple_num_ops(a); i++)
        if (!operand_equal_p(gimple_op(a, i), gimple_op(b, i), 0))
            return false;
    return true;
}

/* What is followed from a value: "D.2" of "D.2 + 8" and of "D.2->data". */
static tree followed(gimple *definition)
{
    tree t = gimple_assign_rhs1(definition);
    while (handled_component_p(t) || TREE_CODE(t) == MEM_REF || TREE_CODE(t) == ADDR_EXPR)
        t = TREE_OPERAND(t, 0);
    return t;
}

/* Nobody shall go round in circles: "D.1 = D.1 + 8". */
static bool follows_later(gimple *definition)
{
    if (!is_gimple_assign(definition))
        return false;
    tree from = followed(definition);
    return is_of_compiler(from) && temporaries.find(DECL_UID(from)) == NULL;
}

void pm_temporaries_of(const std::vector<struct pm_linear> &code)
{
    temporaries.clear();
    for (const struct pm_linear &item : code) {
        tree to = is_gimple_assign(item.stmt) || is_gimple_call(item.stmt)
                      ? gimple_get_lhs(item.stmt)
                      : NULL_TREE;
        if (to == NULL_TREE || !is_of_compiler(to) || gimple_clobber_p(item.stmt))
            continue;
        bool is_new;
        gimple *definition = follows_later(item.stmt) ? NULL : item.stmt;
        struct temporary *known = temporaries.add(DECL_UID(to), {definition}, &is_new);
        if (!is_new && !is_same_value(known->definition, item.stmt))
            known->definition = NULL;
    }
}

gimple *pm_temporary_definition(tree t)
{
    if (TREE_CODE(t) == SSA_NAME)
        return SSA_NAME_DEF_STMT(t);
    const struct temporary *known = VAR_P(t) ? temporaries.find(DECL_UID(t)) : NULL;
    return known != NULL ? known->definition : NULL;
}
