/* Which addresses objects of C++'s library keep: "rows.push_back(u)", "auto job =
 * std::make_pair(u, n)", "std::make_unique<task>(u)". What is done with the object's elements is
 * done with u. plugin/emit/containers.h says which calls keep what.
 *
 * An object without a name ("v.push_back({u, n})") is given what it keeps, and hands it on.
 */
#include "facts_reader.h"

/* The variable of the compiler's that an address is of: "&D.1". */
static tree temporary_of(tree address)
{
    STRIP_NOPS(address);
    tree t = TREE_CODE(address) == ADDR_EXPR ? pm_base_of(TREE_OPERAND(address, 0)) : NULL_TREE;
    return t != NULL_TREE && VAR_P(t) && DECL_ARTIFICIAL(t) ? t : NULL_TREE;
}

/* "{u, v}" of globals is a constant. */
static bool was_given(const struct pm_reader *reader, tree temporary)
{
    return reader->given.count(DECL_UID(temporary)) != 0 || pm_fact_has_addresses(temporary);
}

static enum pm_passed_as passed_by_reference(const struct pm_reader *reader, tree target,
                                             tree argument)
{
    if (POINTER_TYPE_P(target) || TREE_CODE(target) == ARRAY_TYPE)
        return PM_PASSED_POINTER_BY_REFERENCE;
    if (!RECORD_OR_UNION_TYPE_P(target))
        return PM_PASSED_OTHER;
    tree temporary = temporary_of(argument);
    if (temporary != NULL_TREE && was_given(reader, temporary))
        return PM_PASSED_TEMPORARY;
    return !TYPE_READONLY(target) && pm_fact_is_container(target) ? PM_PASSED_CONTAINER
                                                                  : PM_PASSED_OBJECT;
}

static enum pm_passed_as passed_as(const struct pm_reader *reader, gcall *call, unsigned index)
{
    tree type = pm_reader_type_of_parameter(call, index);
    if (type == NULL_TREE || type == void_type_node)
        return PM_PASSED_OTHER;
    if (TREE_CODE(type) == REFERENCE_TYPE)
        return passed_by_reference(reader, TREE_TYPE(type), gimple_call_arg(call, index));
    if (POINTER_TYPE_P(type))
        return PM_PASSED_POINTER;
    if (pm_fact_is_initializer_list(type))
        return PM_PASSED_LIST;
    return pm_fact_type_refers(type) ? PM_PASSED_ITERATOR : PM_PASSED_OTHER;
}

/* What is passed, by reference or not, as an address. */
static tree value_of(gcall *call, unsigned index)
{
    tree argument = gimple_call_arg(call, index);
    if (!POINTER_TYPE_P(TREE_TYPE(argument)))
        return DECL_P(argument) ? build_fold_addr_expr(argument) : argument;
    STRIP_NOPS(argument);
    tree target = TREE_CODE(argument) == ADDR_EXPR ? TREE_OPERAND(argument, 0) : NULL_TREE;
    return target != NULL_TREE && POINTER_TYPE_P(TREE_TYPE(target)) ? target : argument;
}

void pm_reader_give(struct pm_reader *reader, tree holder, tree value)
{
    tree temporary = temporary_of(holder);
    if (temporary != NULL_TREE && pm_fact_variable(temporary, reader->decl) == 0) {
        reader->given[DECL_UID(temporary)].push_back(value);
        return;
    }
    std::vector<pm_id> holders = pm_reader_objects_behind(reader, holder);
    if (holders.empty())
        return;
    pm_reader_refer(reader, holders[0], value);
    if (tree of_value = temporary_of(value))
        pm_fact_refers_to_initial(of_value, holders[0], reader->decl);
}

/* --- constructors of elements --- */

static tree element_class(tree type, const char *name)
{
    for (tree member = TYPE_FIELDS(type); member != NULL_TREE; member = DECL_CHAIN(member))
        if (TREE_CODE(member) == TYPE_DECL && strcmp(pm_written_name(member), name) == 0)
            return RECORD_OR_UNION_TYPE_P(TREE_TYPE(member)) ? TREE_TYPE(member) : NULL_TREE;
    return NULL_TREE;
}

static unsigned n_with_this(tree constructor)
{
    unsigned n = 0;
    for (tree of = TYPE_ARG_TYPES(TREE_TYPE(constructor));
         of != NULL_TREE && TREE_VALUE(of) != void_type_node; of = TREE_CHAIN(of))
        n++;
    return n;
}

/* "v.emplace_back(u, n)" constructs an element of u and n: behind n_before arguments. */
static void hand_to_constructors(struct pm_reader *reader, gcall *call, unsigned first, tree type)
{
    unsigned n = gimple_call_num_args(call) - first;
    for (tree member = TYPE_FIELDS(type); member != NULL_TREE; member = DECL_CHAIN(member)) {
        if (TREE_CODE(member) != FUNCTION_DECL || !DECL_CXX_CONSTRUCTOR_P(member) ||
            DECL_ARTIFICIAL(member) || n_with_this(member) != n + 1)
            continue;
        for (unsigned i = 0; i < n; i++)
            if (passed_as(reader, call, first + i) != PM_PASSED_OTHER)
                pm_reader_refer(reader, pm_fact_parameter(member, i + 1),
                                value_of(call, first + i));
    }
}

static void hand_on(struct pm_reader *reader, gcall *call, unsigned first, tree type)
{
    const char *name;
    unsigned n_before;
    for (unsigned i = 0; (name = pm_element_type_name(i, &n_before)) != NULL; i++) {
        tree element = element_class(type, name);
        if (element != NULL_TREE && !pm_fact_is_of_library(element) &&
            first + n_before < gimple_call_num_args(call))
            hand_to_constructors(reader, call, first + n_before, element);
    }
}

/* --- calls --- */

static void keep(struct pm_reader *reader, gcall *call, tree holder, tree type)
{
    unsigned first = TREE_CODE(gimple_call_fntype(call)) == METHOD_TYPE;
    struct pm_keeping keeping = pm_fact_keeping(type, gimple_call_fndecl(call));
    for (unsigned i = first; i < gimple_call_num_args(call); i++)
        if (pm_object_keeps(&keeping, passed_as(reader, call, i)))
            pm_reader_give(reader, holder, value_of(call, i));
    hand_on(reader, call, first, type);
}

void pm_reader_note_held(struct pm_reader *reader, gcall *call)
{
    tree callee = gimple_call_fndecl(call), type = gimple_call_fntype(call);
    tree result = gimple_call_lhs(call);
    if (callee == NULL_TREE || type == NULL_TREE || !pm_fact_is_cxx_library(callee))
        return;
    if (TREE_CODE(type) == METHOD_TYPE && gimple_call_num_args(call) > 1) {
        tree object = TREE_TYPE(TREE_VALUE(TYPE_ARG_TYPES(type)));
        if (!TYPE_READONLY(object) && !pm_method_looks(pm_written_name(callee)))
            keep(reader, call, gimple_call_arg(call, 0), object);
    } else if (result != NULL_TREE && RECORD_OR_UNION_TYPE_P(TREE_TYPE(result))) {
        keep(reader, call, build_fold_addr_expr(result), TREE_TYPE(result));
    }
}

/* "job = D.1" */
void pm_reader_note_copied(struct pm_reader *reader, gimple *assign)
{
    tree to = gimple_assign_lhs(assign), from = gimple_assign_rhs1(assign);
    if (pm_fact_is_fortran() || !gimple_assign_single_p(assign) || !VAR_P(from) ||
        !DECL_ARTIFICIAL(from) || !AGGREGATE_TYPE_P(TREE_TYPE(from)) || !was_given(reader, from))
        return;
    pm_reader_give(reader, build_fold_addr_expr(to), build_fold_addr_expr(from));
}
