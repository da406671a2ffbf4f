/* What calls of memory functions touch, and which objects calls of C++'s library are for (access
 * 0: what it does with them is another matter, and is done in the library's code). In GIMPLE the
 * arguments are there; in RTL only the call instruction, which is known again by its place (with
 * inlined blocks) and by the function called. Calls of one place and function count as one: the
 * objects of all. */

#include "objects.h"

extern "C" {
#include "../emit/arguments.h"
}

struct noted {
    location_t location;
    std::string function;
    bool known;
    std::vector<struct pm_access> objects;
};
static std::vector<struct noted> noted_calls;

static const char *plain_name(tree callee)
{
    return pm_builtin_free_name(pm_linkage_name(callee));
}

void pm_objects_note_calls_of(function *)
{
    noted_calls.clear();
}

static unsigned access_of_use(unsigned use)
{
    unsigned access = 0;
    if (use & PM_USE_WRITES)
        access |= PM_MAP_WRITES;
    if (use & PM_USE_READS)
        access |= PM_MAP_READS;
    return access;
}

static void note_argument(struct noted *noted, tree argument, unsigned use)
{
    unsigned access = access_of_use(use);
    if (access != 0 && !integer_zerop(argument))
        noted->known &= pm_objects_of_pointer(argument, access, noted->location, &noted->objects);
}

/* May an object of that type lead to others, as closures and what the library makes of
 * expressions do? */
static bool leads_on(tree type)
{
    if (!RECORD_OR_UNION_TYPE_P(type) || !COMPLETE_TYPE_P(type))
        return false;
    if (pm_fact_is_container(type))
        return true;
    for (tree field = TYPE_FIELDS(type); field != NULL_TREE; field = DECL_CHAIN(field))
        if (TREE_CODE(field) == FIELD_DECL &&
            (POINTER_TYPE_P(TREE_TYPE(field)) || leads_on(TREE_TYPE(field))))
            return true;
    return false;
}

/* "v[i]", "std::sort(first, last)". */
static void note_library_call(gcall *call, tree callee)
{
    struct noted noted = {gimple_location(call), plain_name(callee), true, {}};
    for (unsigned i = 0; i < gimple_call_num_args(call); i++) {
        tree argument = gimple_call_arg(call, i), type = TREE_TYPE(argument);
        bool is_pointer = POINTER_TYPE_P(type);
        if (!is_pointer && !RECORD_OR_UNION_TYPE_P(type))
            continue;
        std::vector<struct pm_access> objects;
        if (is_pointer)
            pm_objects_of_pointer(argument, 0, noted.location, &objects);
        else
            pm_objects_of_tree(argument, 0, &objects);
        noted.known &= !objects.empty() || !leads_on(is_pointer ? TREE_TYPE(type) : type);
        for (const struct pm_access &object : objects)
            pm_access_add(&noted.objects, object.noun, object.access);
    }
    if (!noted.objects.empty())
        noted_calls.push_back(noted);
}

/* The variable whose address an argument is, also by way of a temporary (-O0). */
static tree made_for_call(tree argument)
{
    gimple *definition = TREE_CODE(argument) == SSA_NAME ? SSA_NAME_DEF_STMT(argument) : NULL;
    if (definition != NULL && gimple_assign_single_p(definition))
        argument = gimple_assign_rhs1(definition);
    return TREE_CODE(argument) == ADDR_EXPR ? TREE_OPERAND(argument, 0) : NULL_TREE;
}

/* Descriptors are made for the call, or are the arrays' own. */
static void note_fortran_argument(struct noted *noted, tree argument, unsigned use)
{
    if (use == 0 || !POINTER_TYPE_P(TREE_TYPE(argument)) || integer_zerop(argument))
        return;
    tree made = made_for_call(argument);
    std::vector<pm_id> described;
    if (made != NULL_TREE && VAR_P(made))
        described = pm_fact_made_for(DECL_ORIGIN(made));
    for (pm_id object : described)
        pm_access_add(&noted->objects, object, access_of_use(use));
    if (described.empty())
        note_argument(noted, argument, use);
}

/* "z = matmul(x, y)", "read *, x". */
static void note_fortran_library(gcall *call, tree callee)
{
    struct noted noted = {gimple_location(call), plain_name(callee), true, {}};
    for (unsigned i = 0; i < gimple_call_num_args(call); i++)
        note_fortran_argument(&noted, gimple_call_arg(call, i), pm_fortran_argument_use(callee, i));
    noted_calls.push_back(noted);
}

void pm_objects_note_call(gcall *call)
{
    tree callee = gimple_call_fndecl(call);
    const char *arguments = callee != NULL_TREE ? pm_data_arguments(plain_name(callee)) : NULL;
    if (arguments == NULL && callee != NULL_TREE && pm_fact_is_cxx_library(callee))
        note_library_call(call, callee);
    if (callee != NULL_TREE && pm_fact_is_fortran() && pm_fortran_works_on_data(callee))
        note_fortran_library(call, callee);
    if (arguments == NULL)
        return;
    struct noted noted = {gimple_location(call), plain_name(callee), true, {}};
    for (unsigned i = 0; arguments[i] != 0 && i < gimple_call_num_args(call); i++) {
        unsigned use = pm_argument_use(arguments, i);
        if (pm_fact_is_fortran())
            note_fortran_argument(&noted, gimple_call_arg(call, i), use);
        else
            note_argument(&noted, gimple_call_arg(call, i), use);
    }
    noted_calls.push_back(noted);
}

/* The function's name; NULL when it is called through a pointer. */
static const char *called_name(const rtx_insn *call)
{
    rtx x = get_call_rtx_from(call);
    rtx target = x != NULL_RTX && MEM_P(XEXP(x, 0)) ? XEXP(XEXP(x, 0), 0) : NULL_RTX;
    if (target == NULL_RTX || !SYMBOL_REF_P(target))
        return NULL;
    if (SYMBOL_REF_DECL(target) != NULL_TREE && TREE_CODE(SYMBOL_REF_DECL(target)) == FUNCTION_DECL)
        return plain_name(SYMBOL_REF_DECL(target));
    return XSTR(target, 0)[0] == '*' ? XSTR(target, 0) + 1 : XSTR(target, 0);
}

static bool take_noted(location_t location, bool any_block, const char *function, bool *ret_known,
                       std::vector<struct pm_access> *out)
{
    bool found = false;
    for (const struct noted &noted : noted_calls) {
        location_t place = any_block ? LOCATION_LOCUS(noted.location) : noted.location;
        if (place != location || noted.function != function)
            continue;
        found = true;
        *ret_known &= noted.known;
        for (const struct pm_access &object : noted.objects)
            pm_access_add(out, object.noun, object.access);
    }
    return found;
}

bool pm_objects_of_call(const rtx_insn *call, std::vector<struct pm_access> *out)
{
    const char *function = called_name(call);
    bool known = true;
    location_t location = INSN_LOCATION(call);
    if (function == NULL) /* the memory is the callee's matter */
        return true;
    if (pm_data_arguments(function) == NULL) {
        take_noted(location, false, function, &known, out);
        return known;
    }
    return (take_noted(location, false, function, &known, out) ||
            take_noted(LOCATION_LOCUS(location), true, function, &known, out)) &&
           known;
}
