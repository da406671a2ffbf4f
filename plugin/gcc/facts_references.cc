/* What pointers and references refer to in the source: which variables callers pass to which
 * parameter, which addresses are put into which pointers and fields.
 *
 * "sum(weights)" runs code that reads through sum's parameter w. Who asks for weights means that
 * code, too. Only the mapper knows which code ran, so the facts say no more than {sum::w Refers}
 * -> {main::weights Refers}, once for each pair.
 */
#include "facts.h"

extern "C" {
#include "../emit/arguments.h"
#include "../emit/library.h"
}

void pm_fact_refers(pm_id pointer, pm_id object)
{
    if (pointer != 0 && object != 0 && pointer != object)
        pm_fact_mapping(pm_facts_early(), pointer, PM_SOURCE_REFERS, object, PM_SOURCE_REFERS);
}

/* Does the unit have the function's body? */
static bool is_defined(tree function_decl)
{
    return DECL_STRUCT_FUNCTION(function_decl) != NULL || DECL_INITIAL(function_decl) != NULL_TREE;
}

/* The same in all units: no noun, only what two mappings have in common. */
static pm_id place_of_parameter(tree function_decl, unsigned index)
{
    return pm_id_of_parameter(pm_source_function_of(function_decl)->id, index);
}

static bool type_refers(tree type)
{
    return POINTER_TYPE_P(type) || pm_fact_type_refers(type) || pm_fact_is_container(type);
}

static bool parameter_refers(tree parameter)
{
    return type_refers(TREE_TYPE(parameter));
}

static bool is_method(tree function_decl)
{
    return TREE_CODE(TREE_TYPE(function_decl)) == METHOD_TYPE;
}

/* `this` is no noun, for the source does not name it. Of the library's methods nobody asks what
 * they work on. */
pm_id pm_fact_this(tree function_decl)
{
    return is_method(function_decl) && !pm_fact_is_cxx_library(function_decl)
               ? place_of_parameter(function_decl, 0)
               : 0;
}

bool pm_fact_leads_to_this(tree t, tree function_decl)
{
    enum { STEPS_MAX = 20 };
    for (int step = 0; step < STEPS_MAX && is_method(function_decl); step++) {
        STRIP_NOPS(t);
        if (TREE_CODE(t) == PARM_DECL)
            return t == DECL_ARGUMENTS(function_decl);
        if (TREE_CODE(t) == SSA_NAME && SSA_NAME_DEF_STMT(t) != NULL &&
            is_gimple_assign(SSA_NAME_DEF_STMT(t)))
            t = gimple_assign_rhs1(SSA_NAME_DEF_STMT(t));
        else if (TREE_CODE(t) == ADDR_EXPR || TREE_CODE(t) == MEM_REF ||
                 TREE_CODE(t) == INDIRECT_REF || handled_component_p(t))
            t = TREE_OPERAND(t, 0);
        else
            return false;
    }
    return false;
}

pm_id pm_fact_parameter(tree function_decl, unsigned index)
{
    if (index == 0 && is_method(function_decl))
        return pm_fact_this(function_decl);
    if (!is_defined(function_decl)) {
        bool is_known = TREE_PUBLIC(function_decl) && /* not __cxa_atexit() of an object */
                        !pm_library_is_internal(pm_linkage_name(function_decl));
        return is_known ? place_of_parameter(function_decl, index) : 0;
    }
    tree parameter = DECL_ARGUMENTS(function_decl);
    for (unsigned i = 0; i < index && parameter != NULL_TREE; i++)
        parameter = DECL_CHAIN(parameter);
    return parameter != NULL_TREE && parameter_refers(parameter)
               ? pm_fact_dummy(parameter, function_decl)
               : 0;
}

/* --- calls through pointers --- */

pm_id pm_fact_returned(tree function_decl)
{
    return pm_id_of_returned(pm_source_function_of(function_decl)->id);
}

/* The type of the function that a pointer leads to; NULL_TREE: to none. */
static tree pointed_function(tree type)
{
    return POINTER_TYPE_P(type) && FUNC_OR_METHOD_TYPE_P(TREE_TYPE(type)) ? TREE_TYPE(type)
                                                                          : NULL_TREE;
}

static unsigned n_parameters(tree function_type)
{
    unsigned n = 0;
    for (tree of = TYPE_ARG_TYPES(function_type); of != NULL_TREE && of != void_list_node;
         of = TREE_CHAIN(of))
        n++;
    return n;
}

void pm_fact_holds_function(pm_id pointer, tree function_decl, unsigned before)
{
    if (pointer == 0 || fndecl_built_in_p(function_decl))
        return;
    unsigned index = 0;
    for (tree of = TYPE_ARG_TYPES(TREE_TYPE(function_decl)); of != NULL_TREE;
         of = TREE_CHAIN(of), index++)
        if (type_refers(TREE_VALUE(of)))
            pm_fact_refers(pm_fact_parameter(function_decl, index),
                           pm_id_of_pointed(pointer, index + before));
}

void pm_fact_holds_pointer(pm_id pointer, pm_id other, tree type)
{
    enum { STD_FUNCTION_MAX = 6 };
    tree function_type = pointed_function(type);
    unsigned n = 0;
    if (function_type != NULL_TREE)
        n = n_parameters(function_type);
    else if (pm_fact_is_std_function(type))
        n = STD_FUNCTION_MAX;
    for (unsigned i = 0; i < n && pointer != 0 && other != 0; i++)
        pm_fact_refers(pm_id_of_pointed(other, i), pm_id_of_pointed(pointer, i));
}

/* What the library is passed for nothing but the functions that it calls: void *, in C++'s
 * algorithms iterators and pointers. */
static bool is_passed_on(tree library_function, tree argument)
{
    tree type = TREE_TYPE(argument);
    if (pm_fact_is_cxx_library(library_function))
        return type_refers(type) && pointed_function(type) == NULL_TREE;
    STRIP_NOPS(argument);
    return POINTER_TYPE_P(type) && VOID_TYPE_P(TREE_TYPE(type)) && !integer_zerop(argument);
}

/* Of all functions that a lambda is: one, or those made of a template ("auto x"). */
pm_id pm_fact_handed(tree type)
{
    if (POINTER_TYPE_P(type))
        type = TREE_TYPE(type);
    if (!pm_fact_is_closure(type) || TYPE_STUB_DECL(type) == NULL_TREE)
        return 0;
    struct pm_place place = {NULL, NULL, 0, 0};
    pm_place_of(DECL_SOURCE_LOCATION(TYPE_STUB_DECL(type)), &place);
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "handed");
    pm_id_hash_string(&hash, place.file != NULL ? place.file : "");
    pm_id_hash_number(&hash, place.line);
    pm_id_hash_number(&hash, place.column);
    tree around = TYPE_CONTEXT(type);
    if (around != NULL_TREE && TREE_CODE(around) == FUNCTION_DECL)
        pm_id_hash_string(&hash, pm_linkage_name(around));
    return pm_id_hash_done(&hash);
}

bool pm_fact_hands_elements(gcall *call, unsigned argument)
{
    return pm_fact_is_cxx_library(gimple_call_fndecl(call)) &&
           is_passed_on(gimple_call_fndecl(call), gimple_call_arg(call, argument));
}

bool pm_fact_is_called_back_with(gcall *call, tree called, unsigned parameter, unsigned argument)
{
    tree library_function = gimple_call_fndecl(call);
    enum pm_passing passing =
        pm_passes_argument(pm_linkage_name(library_function), argument, parameter);
    if (passing != PM_PASSES_UNKNOWN)
        return passing == PM_PASSES;
    return pm_fact_parameter(called, parameter) != 0 &&
           is_passed_on(library_function, gimple_call_arg(call, argument));
}

/* --- virtual functions --- */

static tree method_of_slot(tree type, tree slot)
{
    unsigned HOST_WIDE_INT left = tree_to_uhwi(slot);
    tree entry = TYPE_BINFO(type) != NULL_TREE ? BINFO_VIRTUALS(TYPE_BINFO(type)) : NULL_TREE;
    while (entry != NULL_TREE && left-- > 0)
        entry = TREE_CHAIN(entry);
    return entry != NULL_TREE && TREE_CODE(TREE_VALUE(entry)) == FUNCTION_DECL ? TREE_VALUE(entry)
                                                                               : NULL_TREE;
}

pm_id pm_fact_virtual_parameter(tree reference, unsigned index)
{
    tree type = obj_type_ref_class(reference), slot = OBJ_TYPE_REF_TOKEN(reference);
    tree method = type != NULL_TREE && RECORD_OR_UNION_TYPE_P(type) && tree_fits_uhwi_p(slot)
                      ? method_of_slot(TYPE_MAIN_VARIANT(type), slot)
                      : NULL_TREE;
    return method != NULL_TREE ? place_of_parameter(method, index) : 0;
}

/* As C++ asks of one that overrides another: the same name and parameters, `this` apart. */
static bool overrides(tree method, tree other)
{
    if (TREE_CODE(other) != FUNCTION_DECL || !DECL_VIRTUAL_P(other) ||
        DECL_NAME(other) != DECL_NAME(method) || !is_method(other))
        return false;
    tree a = TREE_CHAIN(TYPE_ARG_TYPES(TREE_TYPE(method)));
    tree b = TREE_CHAIN(TYPE_ARG_TYPES(TREE_TYPE(other)));
    for (; a != NULL_TREE && b != NULL_TREE; a = TREE_CHAIN(a), b = TREE_CHAIN(b))
        if (TYPE_MAIN_VARIANT(TREE_VALUE(a)) != TYPE_MAIN_VARIANT(TREE_VALUE(b)))
            return false;
    return a == b;
}

/* Who calls a method of a base class may mean this one. */
static void refer_to_overridden(tree method, tree type, unsigned n)
{
    tree binfo = TYPE_BINFO(type), base;
    for (unsigned i = 0; binfo != NULL_TREE && BINFO_BASE_ITERATE(binfo, i, base); i++) {
        for (tree member = TYPE_FIELDS(BINFO_TYPE(base)); member != NULL_TREE;
             member = DECL_CHAIN(member))
            for (unsigned k = 0; overrides(method, member) && k < n; k++)
                pm_fact_refers(place_of_parameter(method, k), place_of_parameter(member, k));
        refer_to_overridden(method, BINFO_TYPE(base), n);
    }
}

/* "[](auto &e)": it has no type yet where it is handed to the library. */
static void refer_to_handed(tree function_decl)
{
    tree type = DECL_CONTEXT(function_decl);
    pm_id handed = pm_fact_handed(type);
    pm_fact_refers(pm_fact_this(function_decl), handed);
    if (handed == 0 || pm_fact_call_operator(type) != NULL_TREE)
        return;
    tree object = DECL_ARGUMENTS(function_decl);
    for (tree parameter = object != NULL_TREE ? DECL_CHAIN(object) : NULL_TREE;
         parameter != NULL_TREE; parameter = DECL_CHAIN(parameter))
        if (parameter_refers(parameter))
            pm_fact_refers(pm_fact_dummy(parameter, function_decl), handed);
}

void pm_fact_parameters(tree function_decl)
{
    unsigned index = 0;
    bool is_virtual = is_method(function_decl) && DECL_VIRTUAL_P(function_decl);
    if (is_method(function_decl))
        refer_to_handed(function_decl);
    if (is_virtual)
        refer_to_overridden(function_decl, DECL_CONTEXT(function_decl),
                            n_parameters(TREE_TYPE(function_decl)));
    /* Of others that no unit sees, or each has itself, the parameters are known by name. */
    if (!is_virtual && (!TREE_PUBLIC(function_decl) || DECL_COMDAT(function_decl)))
        return;
    for (tree parameter = DECL_ARGUMENTS(function_decl); parameter != NULL_TREE;
         parameter = DECL_CHAIN(parameter), index++) {
        if (!parameter_refers(parameter))
            continue;
        pm_id place = place_of_parameter(function_decl, index);
        pm_id dummy = pm_fact_dummy(parameter, function_decl);
        pm_fact_refers(dummy, place);
        pm_fact_holds_pointer(dummy, place, TREE_TYPE(parameter));
    }
}

/* --- procedures bound to types of Fortran --- */

/* gfortran keeps the bindings of a type in a record of type "__vtype_module_Type", and the only
 * such record in "__vtab_module_Type". */
static const char *bindings_name(tree type)
{
    static const char prefix[] = "__vtype_";
    tree name = RECORD_OR_UNION_TYPE_P(type) ? TYPE_IDENTIFIER(type) : NULL_TREE;
    return name != NULL_TREE && strncmp(IDENTIFIER_POINTER(name), prefix, strlen(prefix)) == 0
               ? IDENTIFIER_POINTER(name)
               : NULL;
}

/* Not _copy, _final. */
static bool is_binding_of_source(tree field)
{
    return DECL_NAME(field) != NULL_TREE && IDENTIFIER_POINTER(DECL_NAME(field))[0] != '_';
}

pm_id pm_fact_bound_parameter(tree component, unsigned index)
{
    if (!pm_fact_is_fortran() || TREE_CODE(component) != COMPONENT_REF)
        return 0;
    tree field = TREE_OPERAND(component, 1);
    const char *type = bindings_name(DECL_CONTEXT(field));
    return type != NULL && is_binding_of_source(field)
               ? pm_id_of_bound(type, IDENTIFIER_POINTER(DECL_NAME(field)), index)
               : 0;
}

/* The bindings of the type that this one extends; NULL: it extends none. */
static const char *parent_bindings(tree table)
{
    unsigned i;
    tree field, value;
    FOR_EACH_CONSTRUCTOR_ELT(CONSTRUCTOR_ELTS(table), i, field, value) {
        if (DECL_NAME(field) == NULL_TREE ||
            strcmp(IDENTIFIER_POINTER(DECL_NAME(field)), "_extends") != 0)
            continue;
        STRIP_NOPS(value);
        return TREE_CODE(value) == ADDR_EXPR ? bindings_name(TREE_TYPE(TREE_OPERAND(value, 0)))
                                             : NULL;
    }
    return NULL;
}

/* Who calls what the parent has bound to the name may mean this one. */
static void bind(const char *type, const char *parent, tree field, tree function_decl)
{
    const char *binding = IDENTIFIER_POINTER(DECL_NAME(field));
    unsigned index = 0;
    for (tree of = TYPE_ARG_TYPES(TREE_TYPE(function_decl)); of != NULL_TREE;
         of = TREE_CHAIN(of), index++) {
        if (!type_refers(TREE_VALUE(of)))
            continue;
        pm_id bound = pm_id_of_bound(type, binding, index);
        pm_fact_refers(pm_fact_parameter(function_decl, index), bound);
        if (parent != NULL)
            pm_fact_refers(bound, pm_id_of_bound(parent, binding, index));
    }
}

static void bind_all(tree variable)
{
    unsigned i;
    tree field, value, table = DECL_INITIAL(variable);
    const char *type = bindings_name(TREE_TYPE(variable)), *parent = parent_bindings(table);
    FOR_EACH_CONSTRUCTOR_ELT(CONSTRUCTOR_ELTS(table), i, field, value) {
        STRIP_NOPS(value);
        if (is_binding_of_source(field) && TREE_CODE(value) == ADDR_EXPR &&
            TREE_CODE(TREE_OPERAND(value, 0)) == FUNCTION_DECL)
            bind(type, parent, field, TREE_OPERAND(value, 0));
    }
}

static bool is_bindings(tree variable)
{
    tree value = DECL_INITIAL(variable);
    return pm_fact_is_fortran() && value != NULL_TREE && value != error_mark_node &&
           TREE_CODE(value) == CONSTRUCTOR && bindings_name(TREE_TYPE(variable)) != NULL;
}

/* --- initial values --- */

struct initial {
    tree context;
    unsigned n_left; /* large tables say no more than their beginning */
};

static void add_initial(struct initial *initial, pm_id holder, tree value)
{
    unsigned i;
    tree index, element;
    STRIP_NOPS(value);
    if (initial->n_left == 0)
        return;
    initial->n_left--;
    if (TREE_CODE(value) == CONSTRUCTOR) {
        FOR_EACH_CONSTRUCTOR_ELT(CONSTRUCTOR_ELTS(value), i, index, element) {
            pm_id field = index != NULL_TREE && TREE_CODE(index) == FIELD_DECL &&
                                  POINTER_TYPE_P(strip_array_types(TREE_TYPE(index)))
                              ? pm_fact_field(index)
                              : 0;
            add_initial(initial, field != 0 ? field : holder, element);
        }
    } else if (TREE_CODE(value) == POINTER_PLUS_EXPR) {
        add_initial(initial, holder, TREE_OPERAND(value, 0));
    } else if (TREE_CODE(value) == ADDR_EXPR) {
        tree base = TREE_OPERAND(value, 0);
        while (handled_component_p(base))
            base = TREE_OPERAND(base, 0);
        if (VAR_P(base))
            pm_fact_refers(holder, pm_fact_variable(base, initial->context));
        else if (TREE_CODE(base) == FUNCTION_DECL)
            pm_fact_holds_function(holder, base, 0);
    }
}

void pm_fact_initial(tree variable, pm_id noun, tree context)
{
    enum { ELEMENTS_MAX = 1000 };
    tree type = TREE_TYPE(variable);
    while (TREE_CODE(type) == ARRAY_TYPE)
        type = TREE_TYPE(type);
    struct initial initial = {context, ELEMENTS_MAX};
    if (VAR_P(variable) && DECL_INITIAL(variable) != NULL_TREE &&
        DECL_INITIAL(variable) != error_mark_node &&
        (POINTER_TYPE_P(type) || RECORD_OR_UNION_TYPE_P(type)))
        add_initial(&initial, noun, DECL_INITIAL(variable));
}

void pm_fact_refers_to_initial(tree variable, pm_id noun, tree context)
{
    enum { ELEMENTS_MAX = 1000 };
    struct initial initial = {context, ELEMENTS_MAX};
    if (pm_fact_has_addresses(variable))
        add_initial(&initial, noun, DECL_INITIAL(variable));
}

static bool has_addresses(tree value, unsigned depth)
{
    enum { DEPTH_MAX = 8 };
    unsigned i;
    tree element;
    STRIP_NOPS(value);
    if (TREE_CODE(value) == ADDR_EXPR)
        return TREE_CODE(TREE_OPERAND(value, 0)) != STRING_CST;
    if (TREE_CODE(value) == CONSTRUCTOR && depth < DEPTH_MAX)
        FOR_EACH_CONSTRUCTOR_VALUE(CONSTRUCTOR_ELTS(value), i, element)
            if (has_addresses(element, depth + 1))
                return true;
    return false;
}

bool pm_fact_has_addresses(tree variable)
{
    tree value = TREE_STATIC(variable) ? DECL_INITIAL(variable) : NULL_TREE;
    return value != NULL_TREE && value != error_mark_node && has_addresses(value, 0);
}

static bool holds_functions(tree value)
{
    unsigned i;
    tree element;
    STRIP_NOPS(value);
    if (TREE_CODE(value) == ADDR_EXPR)
        return TREE_CODE(TREE_OPERAND(value, 0)) == FUNCTION_DECL;
    if (TREE_CODE(value) == CONSTRUCTOR)
        FOR_EACH_CONSTRUCTOR_VALUE(CONSTRUCTOR_ELTS(value), i, element)
            if (holds_functions(element))
                return true;
    return false;
}

void pm_fact_tables(void)
{
    varpool_node *node;
    FOR_EACH_VARIABLE(node) {
        tree value = DECL_INITIAL(node->decl);
        if (TREE_PUBLIC(node->decl) && !DECL_ARTIFICIAL(node->decl) && value != NULL_TREE &&
            value != error_mark_node && holds_functions(value))
            pm_fact_variable(node->decl, NULL_TREE);
        if (is_bindings(node->decl))
            bind_all(node->decl);
    }
}
