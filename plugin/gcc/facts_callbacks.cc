/* What calls pass to the parameters of whatever function they call, also to those that a library
 * calls back. */
#include "facts_reader.h"

tree pm_reader_type_of_parameter(gcall *call, unsigned index)
{
    tree function_type = gimple_call_fntype(call);
    tree of = function_type != NULL_TREE ? TYPE_ARG_TYPES(function_type) : NULL_TREE;
    for (; of != NULL_TREE && index > 0; index--)
        of = TREE_CHAIN(of);
    return of != NULL_TREE ? TREE_VALUE(of) : NULL_TREE;
}

/* Behind the parameters that have a name: "set(n, u, v)" of set(int n, ...). */
static bool is_variable_argument(gcall *call, unsigned index)
{
    tree type = gimple_call_fntype(call), callee = gimple_call_fndecl(call);
    return type != NULL_TREE && stdarg_p(type) && !fndecl_built_in_p(callee) &&
           !pm_is_system_place(DECL_SOURCE_LOCATION(callee)) &&
           pm_reader_type_of_parameter(call, index) == NULL_TREE;
}

/* "object%binding()" of Fortran: the parameter of what is bound to the name. 0: it is another
 * call. */
static pm_id bound_parameter(tree pointer, unsigned index)
{
    gimple *definition = pm_definition_of(pointer);
    return definition != NULL ? pm_fact_bound_parameter(gimple_assign_rhs1(definition), index) : 0;
}

/* The parameter of whatever function is called. */
static std::vector<pm_id> parameters_of(struct pm_reader *reader, gcall *call, unsigned index)
{
    tree callee = gimple_call_fndecl(call), pointer = gimple_call_fn(call);
    std::vector<pm_id> parameters;
    if (callee != NULL_TREE && pm_fact_calls_std_function(callee)) {
        for (pm_id holder : pm_reader_objects_behind(reader, gimple_call_arg(call, 0)))
            parameters.push_back(pm_id_of_pointed(holder, index));
    } else if (callee != NULL_TREE && is_variable_argument(call, index)) {
        parameters.push_back(pm_id_of_variable_arguments(pm_source_function_of(callee)->id));
    } else if (callee != NULL_TREE) {
        if (!fndecl_built_in_p(callee))
            parameters.push_back(pm_fact_parameter(callee, index));
    } else if (TREE_CODE(pointer) == OBJ_TYPE_REF) {
        parameters.push_back(pm_fact_virtual_parameter(pointer, index));
    } else if (pm_id bound = bound_parameter(pointer, index)) {
        parameters.push_back(bound);
    } else {
        std::vector<tree> functions; /* a constant table that the front end has looked into */
        pm_reader_find_functions(reader, pointer, 0, &functions);
        for (tree function_decl : functions)
            parameters.push_back(pm_fact_parameter(function_decl, index));
        for (pm_id holder : pm_reader_objects_behind(reader, pointer))
            parameters.push_back(pm_id_of_pointed(holder, index));
    }
    return parameters;
}

/* "call find(p)", "p => find()": a Fortran procedure may point what it is passed elsewhere. (It
 * gets others as "struct array01 & restrict".) */
static void note_pointed_by_call(struct pm_reader *reader, gcall *call, unsigned index,
                                 pm_id parameter)
{
    tree argument = gimple_call_arg(call, index), type = pm_reader_type_of_parameter(call, index);
    tree variable = TREE_CODE(argument) == ADDR_EXPR ? TREE_OPERAND(argument, 0) : argument;
    if (!pm_fact_is_fortran() || type == NULL_TREE || TREE_CODE(type) != REFERENCE_TYPE ||
        TYPE_RESTRICT(type) || !pm_fact_is_array_pointer(TREE_TYPE(type)) || !DECL_P(variable))
        return;
    if (DECL_ARTIFICIAL(variable))
        reader->pointed_by_call[DECL_UID(variable)].push_back(parameter);
    else
        pm_fact_refers(pm_fact_variable(variable, reader->decl), parameter);
}

void pm_reader_note_passed(struct pm_reader *reader, gcall *call, unsigned index)
{
    tree argument = gimple_call_arg(call, index);
    tree type = TREE_TYPE(argument);
    bool refers = POINTER_TYPE_P(type) || pm_fact_type_refers(type) || pm_fact_is_container(type);
    if (!refers || integer_zerop(argument))
        return;
    for (pm_id parameter : parameters_of(reader, call, index)) {
        if (parameter == 0)
            continue;
        note_pointed_by_call(reader, call, index, parameter);
        pm_reader_refer(reader, parameter, argument);
        pm_reader_note_passed_pointer(reader, argument, parameter);
        if (pm_fact_leads_to_this(argument, reader->decl) &&
            pm_reader_objects_behind(reader, argument).empty())
            pm_fact_refers(parameter, pm_fact_this(reader->decl));
    }
}

tree pm_fact_call_operator(tree type)
{
    if (POINTER_TYPE_P(type))
        type = TREE_TYPE(type);
    if (!RECORD_OR_UNION_TYPE_P(type))
        return NULL_TREE;
    for (tree member = TYPE_FIELDS(type); member != NULL_TREE; member = DECL_CHAIN(member))
        if (TREE_CODE(member) == FUNCTION_DECL &&
            strcmp(IDENTIFIER_POINTER(DECL_NAME(member)), "operator()") == 0)
            return member;
    return NULL_TREE;
}

/* "[k](double &x)": its parameters alone tell what it gets. (A template is not known here.) */
static bool takes_references_only(tree called)
{
    if (called == NULL_TREE || pm_is_system_place(DECL_SOURCE_LOCATION(called)))
        return false;
    for (tree of = TYPE_ARG_TYPES(TREE_TYPE(called)); of != NULL_TREE; of = TREE_CHAIN(of))
        if (!POINTER_TYPE_P(TREE_VALUE(of)) && TREE_VALUE(of) != void_type_node)
            return false;
    return true;
}

/* By value, too: "[k](auto x) { return x * k; }" works for what the elements lie in. */
static void note_handed(struct pm_reader *reader, gcall *call, tree type)
{
    if (takes_references_only(pm_fact_call_operator(type)))
        return;
    pm_id handed = pm_fact_handed(type);
    for (unsigned i = 0; i < gimple_call_num_args(call) && handed != 0; i++)
        if (pm_fact_hands_elements(call, i))
            pm_reader_refer(reader, handed, gimple_call_arg(call, i));
}

static void note_called_back(struct pm_reader *reader, gcall *call, tree called)
{
    bool is_method = pm_is_method_type(called);
    unsigned parameter = is_method; /* what a lambda captured is known */
    tree of = TYPE_ARG_TYPES(TREE_TYPE(called));
    for (of = is_method ? TREE_CHAIN(of) : of; of != NULL_TREE; of = TREE_CHAIN(of), parameter++) {
        if (!POINTER_TYPE_P(TREE_VALUE(of)))
            continue;
        for (unsigned i = 0; i < gimple_call_num_args(call); i++)
            if (pm_fact_is_called_back_with(call, called, parameter, i))
                pm_reader_refer(reader, pm_fact_parameter(called, parameter),
                                gimple_call_arg(call, i));
    }
}

/* "std::function<...> f = compare": calls through f are of compare. */
static void note_held(struct pm_reader *reader, gcall *call, tree function_decl)
{
    tree object = gimple_call_arg(call, 0);
    STRIP_NOPS(object);
    if (TREE_CODE(object) == ADDR_EXPR && VAR_P(TREE_OPERAND(object, 0)) &&
        DECL_ARTIFICIAL(TREE_OPERAND(object, 0)))
        reader->given[DECL_UID(TREE_OPERAND(object, 0))].push_back(
            build_fold_addr_expr(function_decl));
    for (pm_id holder : pm_reader_objects_behind(reader, object))
        pm_fact_holds_function(holder, function_decl, pm_is_method_type(function_decl) ? 0 : 1);
}

static bool gives_function(gcall *call)
{
    tree callee = gimple_call_fndecl(call);
    return gimple_call_num_args(call) > 1 && pm_fact_is_std_function(DECL_CONTEXT(callee)) &&
           (DECL_CXX_CONSTRUCTOR_P(callee) ||
            strcmp(IDENTIFIER_POINTER(DECL_NAME(callee)), "operator=") == 0);
}

/* "qsort(keys, n, size, compare)", "std::sort(v.begin(), v.end(), compare)" */
void pm_reader_note_callbacks(struct pm_reader *reader, gcall *call)
{
    tree callee = gimple_call_fndecl(call);
    if (callee == NULL_TREE || !pm_is_system_place(DECL_SOURCE_LOCATION(callee)))
        return;
    pm_reader_note_exchanged(reader, call);
    for (unsigned i = 0; i < gimple_call_num_args(call); i++) {
        tree argument = gimple_call_arg(call, i),
             called = pm_fact_call_operator(TREE_TYPE(argument));
        std::vector<tree> functions;
        note_handed(reader, call, TREE_TYPE(argument));
        pm_reader_find_functions(reader, argument, 0, &functions);
        if (called != NULL_TREE)
            functions.push_back(called);
        for (tree function_decl : functions)
            if (gives_function(call))
                note_held(reader, call, function_decl);
            else
                note_called_back(reader, call, function_decl);
    }
}
