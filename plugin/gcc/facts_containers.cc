/* Containers of C++, read from GCC's types and calls: plugin/emit/containers.h says what is one,
 * and what calls do with it. */
#include "facts.h"
#include "table.h"

static bool is_cplusplus(void)
{
    static int known = -1;
    if (known < 0)
        known = strncmp(lang_hooks.name, "GNU C++", 7) == 0;
    return known != 0;
}

/* --- types --- */

static unsigned traits_of(tree type);

static bool is_unary(tree method)
{
    return TREE_CODE(method) == FUNCTION_DECL && TREE_CODE(TREE_TYPE(method)) == METHOD_TYPE &&
           list_length(TYPE_ARG_TYPES(TREE_TYPE(method))) == 2; /* this, and no more */
}

/* Not the next number of a generator. */
static bool gives_reference(tree method)
{
    return TREE_CODE(method) == FUNCTION_DECL &&
           TREE_CODE(TREE_TYPE(TREE_TYPE(method))) == REFERENCE_TYPE;
}

static unsigned traits_of_member(tree member)
{
    const char *name = pm_written_name(member);
    if (TREE_CODE(member) == FIELD_DECL) {
        tree type = TREE_TYPE(member);
        if (POINTER_TYPE_P(type) || TREE_CODE(type) == ARRAY_TYPE)
            return PM_HAS_STORAGE;
        return RECORD_OR_UNION_TYPE_P(type) && name[0] != 0 ? pm_member_traits(traits_of(type)) : 0;
    }
    if (TREE_CODE(member) == TYPE_DECL || TREE_CODE(member) == VAR_DECL)
        return 0;
    struct pm_method method = {name, is_unary(member), gives_reference(member)};
    return pm_method_traits(&method);
}

static const char *name_of_type(tree type)
{
    tree name = TYPE_NAME(TYPE_MAIN_VARIANT(type));
    return name != NULL_TREE && TREE_CODE(name) == TYPE_DECL ? pm_written_name(name) : "";
}

static unsigned traits_of(tree type)
{
    static struct pm_table<unsigned, unsigned> known;
    type = TYPE_MAIN_VARIANT(type);
    if (!RECORD_OR_UNION_TYPE_P(type) || !COMPLETE_TYPE_P(type))
        return 0;
    bool is_new;
    unsigned *entry = known.add(TYPE_UID(type), 0, &is_new);
    if (!is_new)
        return *entry;
    unsigned traits = pm_class_name_traits(name_of_type(type));
    for (tree member = TYPE_FIELDS(type); member != NULL_TREE; member = DECL_CHAIN(member))
        if (DECL_P(member))
            traits |= traits_of_member(member);
    tree binfo = TYPE_BINFO(type), base;
    for (unsigned i = 0; binfo != NULL_TREE && BINFO_BASE_ITERATE(binfo, i, base); i++)
        traits |= traits_of(BINFO_TYPE(base));
    return *known.add(TYPE_UID(type), 0) = traits;
}

bool pm_fact_is_closure(tree type)
{
    tree name = TYPE_NAME(type);
    if (name != NULL_TREE && TREE_CODE(name) == TYPE_DECL)
        name = DECL_NAME(name);
    const char *text = name != NULL_TREE ? IDENTIFIER_POINTER(name) : "";
    return strncmp(text, "._anon", 6) == 0 || strncmp(text, "<lambda", 7) == 0;
}

bool pm_fact_is_container(tree type)
{
    if (!is_cplusplus())
        return false;
    if (TREE_CODE(type) == REFERENCE_TYPE)
        type = TREE_TYPE(type);
    return RECORD_OR_UNION_TYPE_P(type) && !pm_fact_is_closure(type) &&
           pm_is_container(traits_of(type));
}

static bool is_view(tree type, unsigned traits)
{
    struct pm_class_shape shape = {false, false, (bool)TREE_ADDRESSABLE(type), traits, UINT64_MAX};
    for (tree field = TYPE_FIELDS(type); field != NULL_TREE; field = DECL_CHAIN(field))
        if (TREE_CODE(field) == FIELD_DECL) {
            shape.has_pointer |= POINTER_TYPE_P(TREE_TYPE(field));
            shape.has_aggregate |= AGGREGATE_TYPE_P(TREE_TYPE(field));
        }
    if (tree_fits_uhwi_p(TYPE_SIZE_UNIT(type)))
        shape.n_pointers =
            (tree_to_uhwi(TYPE_SIZE_UNIT(type)) + POINTER_SIZE_UNITS - 1) / POINTER_SIZE_UNITS;
    return pm_is_view(&shape);
}

static bool refers(tree type)
{
    if (!RECORD_OR_UNION_TYPE_P(type))
        return false;
    unsigned traits = traits_of(type);
    return pm_class_refers(name_of_type(type), traits) || is_view(type, traits);
}

bool pm_fact_type_refers(tree type)
{
    return is_cplusplus() && refers(type);
}

bool pm_fact_is_std_function(tree type)
{
    if (type != NULL_TREE && POINTER_TYPE_P(type))
        type = TREE_TYPE(type);
    if (type == NULL_TREE || !is_cplusplus() || !RECORD_OR_UNION_TYPE_P(type))
        return false;
    tree name = TYPE_NAME(TYPE_MAIN_VARIANT(type));
    return name != NULL_TREE && TREE_CODE(name) == TYPE_DECL &&
           pm_is_std_function(pm_written_name(name)) &&
           pm_is_system_place(DECL_SOURCE_LOCATION(name));
}

bool pm_fact_calls_std_function(tree callee)
{
    return strcmp(pm_written_name(callee), "operator()") == 0 &&
           pm_fact_is_std_function(DECL_CONTEXT(callee));
}

/* A temporary of the compiler's: "v.begin()" where it is passed, "v | filter(f)". */
bool pm_fact_is_way(tree variable)
{
    return VAR_P(variable) && DECL_ARTIFICIAL(variable) &&
           (pm_fact_type_refers(TREE_TYPE(variable)) ||
            pm_fact_is_view_of_ranges(TREE_TYPE(variable)));
}

/* --- calls --- */

static bool is_of_library(tree callee)
{
    return callee != NULL_TREE && pm_is_system_place(DECL_SOURCE_LOCATION(callee));
}

bool pm_fact_is_cxx_library(tree function_decl)
{
    return is_cplusplus() && is_of_library(function_decl);
}

bool pm_fact_is_of_library(tree type)
{
    tree name = TYPE_NAME(TYPE_MAIN_VARIANT(type));
    return name != NULL_TREE && TREE_CODE(name) == TYPE_DECL &&
           pm_is_system_place(DECL_SOURCE_LOCATION(name));
}

bool pm_fact_is_initializer_list(tree type)
{
    return RECORD_OR_UNION_TYPE_P(type) && strcmp(name_of_type(type), "initializer_list") == 0 &&
           pm_fact_is_of_library(type);
}

bool pm_fact_is_view_of_ranges(tree type)
{
    return is_cplusplus() && RECORD_OR_UNION_TYPE_P(type) &&
           pm_is_view_of_ranges(name_of_type(type)) && pm_fact_is_of_library(type);
}

/* Are the class's elements pointers, or such as std::reference_wrapper? */
static bool has_addresses(tree type)
{
    for (tree member = TYPE_FIELDS(type); member != NULL_TREE; member = DECL_CHAIN(member))
        if (TREE_CODE(member) == TYPE_DECL && strcmp(pm_written_name(member), "value_type") == 0)
            return POINTER_TYPE_P(TREE_TYPE(member)) || refers(TREE_TYPE(member));
    return false;
}

struct pm_keeping pm_fact_keeping(tree type, tree callee)
{
    return {pm_written_name(callee), name_of_type(type), traits_of(type), refers(type),
            has_addresses(type)};
}

static bool first_is_reference(tree function_type)
{
    tree arguments = TYPE_ARG_TYPES(function_type);
    return arguments != NULL_TREE && TREE_CODE(TREE_VALUE(arguments)) == REFERENCE_TYPE;
}

static enum pm_call_result result_of(gcall *call)
{
    tree result = TREE_TYPE(gimple_call_fntype(call));
    if (gimple_call_lhs(call) == NULL_TREE)
        return PM_RESULT_OTHER;
    if (TREE_CODE(result) == REFERENCE_TYPE)
        return PM_RESULT_REFERENCE;
    if (POINTER_TYPE_P(result))
        return PM_RESULT_POINTER;
    return refers(result) ? PM_RESULT_REFERRING : PM_RESULT_OTHER;
}

/* Bits of the first two arguments. */
static unsigned leading_arguments(gcall *call)
{
    unsigned leading = 0;
    for (unsigned i = 0; i < gimple_call_num_args(call) && i < 2; i++) {
        tree type = TREE_TYPE(gimple_call_arg(call, i));
        if (POINTER_TYPE_P(type) || refers(type))
            leading |= 1u << i;
    }
    return leading;
}

/* "operator new (size, place)" of <new>; not that with std::nothrow. */
static bool is_placement(gcall *call, tree callee)
{
    static const char name[] = "operator new";
    return callee != NULL_TREE && gimple_call_num_args(call) == 2 &&
           strncmp(pm_written_name(callee), name, strlen(name)) == 0 &&
           TREE_CODE(TREE_TYPE(gimple_call_arg(call, 1))) == POINTER_TYPE && is_of_library(callee);
}

/* The call's function has a type. Whether the library declares it is looked up where it counts. */
static struct pm_cxx_call read_call(gcall *call)
{
    tree type = gimple_call_fntype(call), callee = gimple_call_fndecl(call);
    struct pm_cxx_call read = {};
    read.name = callee != NULL_TREE ? pm_written_name(callee) : "";
    read.n_arguments = gimple_call_num_args(call);
    read.result = result_of(call);
    read.is_method = TREE_CODE(type) == METHOD_TYPE;
    read.is_library = !read.is_method && read.result > PM_RESULT_REFERENCE && is_of_library(callee);
    read.first_is_reference = first_is_reference(type);
    read.is_placement = read.result == PM_RESULT_POINTER && is_placement(call, callee);
    if (read.result != PM_RESULT_OTHER)
        read.sources = pm_call_sources(&read, read.is_method ? 0 : leading_arguments(call));
    return read;
}

unsigned pm_fact_call_sources(gcall *call)
{
    return is_cplusplus() && gimple_call_fntype(call) != NULL_TREE ? read_call(call).sources : 0;
}

static unsigned count_leading(gcall *call)
{
    unsigned n = 0;
    for (unsigned i = 0; i < gimple_call_num_args(call); i++) {
        tree type = TREE_TYPE(gimple_call_arg(call, i));
        n += TREE_CODE(type) == POINTER_TYPE || refers(type);
    }
    return n;
}

/* Parameter of a method, "double &x"? Index 0 is `this`. */
static bool is_to_write(tree method, unsigned index)
{
    tree arguments = TYPE_ARG_TYPES(TREE_TYPE(method));
    while (arguments != NULL_TREE && index-- > 0)
        arguments = TREE_CHAIN(arguments);
    tree type = arguments != NULL_TREE ? TREE_VALUE(arguments) : void_type_node;
    return TREE_CODE(type) == REFERENCE_TYPE && !TYPE_READONLY(TREE_TYPE(type));
}

/* A method, or a template of one: "[](auto &x)". */
static bool is_call_operator(tree member)
{
    return (TREE_CODE(member) == FUNCTION_DECL || TREE_CODE(member) == TEMPLATE_DECL) &&
           strcmp(pm_written_name(member), "operator()") == 0 && TREE_TYPE(member) != NULL_TREE &&
           TREE_CODE(TREE_TYPE(member)) == METHOD_TYPE;
}

/* A function object that is called with elements: does it take them to write? */
static bool takes_to_write(tree type)
{
    if (POINTER_TYPE_P(type))
        type = TREE_TYPE(type);
    if (!RECORD_OR_UNION_TYPE_P(type))
        return false;
    for (tree member = TYPE_FIELDS(type); member != NULL_TREE; member = DECL_CHAIN(member))
        if (is_call_operator(member) && is_to_write(member, 1))
            return true;
    return false;
}

static bool is_policy(tree argument)
{
    tree type = TREE_TYPE(argument);
    return pm_is_execution_policy(name_of_type(POINTER_TYPE_P(type) ? TREE_TYPE(type) : type));
}

/* "std::visit([](auto &x) { ... }, v)" hands out what v holds. */
static bool visits_to_write(gcall *call, tree callee)
{
    return gimple_call_num_args(call) > 1 && strcmp(pm_written_name(callee), "visit") == 0 &&
           takes_to_write(TREE_TYPE(gimple_call_arg(call, 0)));
}

/* An algorithm of std::ranges takes iterators by value; a range, which may be a span, it does not.
 */
static bool gets_range(gcall *call)
{
    tree parameters = TYPE_ARG_TYPES(gimple_call_fntype(call)); /* the first is "this" */
    tree second = parameters != NULL_TREE ? TREE_CHAIN(parameters) : NULL_TREE;
    return second != NULL_TREE && TREE_CODE(TREE_VALUE(second)) == REFERENCE_TYPE;
}

/* The function object that an algorithm calls: the last argument, or that before the projection. */
static void read_function_object(gcall *call, struct pm_cxx_call *read)
{
    tree callee = gimple_call_fndecl(call);
    unsigned at = read->n_arguments - 1;
    if (read->is_method && strcmp(read->name, "operator()") == 0 &&
        pm_algorithm_of_class(name_of_type(DECL_CONTEXT(callee)), read)) {
        read->gets_range = gets_range(call);
        at = MIN(at, read->gets_range ? 2 : 3);
    }
    read->last_takes_to_write = takes_to_write(TREE_TYPE(gimple_call_arg(call, at)));
}

/* Of a call whose function is known. */
static struct pm_cxx_call read_whole_call(gcall *call, unsigned index)
{
    tree type = gimple_call_fntype(call), callee = gimple_call_fndecl(call);
    struct pm_cxx_call read = read_call(call);
    read.is_library = is_of_library(callee);
    read.passes_to_write = is_to_write(callee, index) &&
                           (pm_fact_calls_std_function(callee) || visits_to_write(call, callee));
    if (read.is_library && read.n_arguments > 0)
        read_function_object(call, &read);
    if (read.is_library && read.is_method) {
        tree object = TREE_TYPE(TREE_VALUE(TYPE_ARG_TYPES(type)));
        read.object_is_const = TYPE_READONLY(object);
        read.object_refers = refers(object);
        read.constructs = DECL_CXX_CONSTRUCTOR_P(callee);
        read.moves_elements = pm_moves_elements(name_of_type(object));
    } else if (read.is_library) {
        read.n_leading = count_leading(call);
        read.has_policy = read.n_arguments > 0 && is_policy(gimple_call_arg(call, 0));
    }
    return read;
}

static bool is_known_call(gcall *call)
{
    return is_cplusplus() && gimple_call_fndecl(call) != NULL_TREE &&
           gimple_call_fntype(call) != NULL_TREE;
}

unsigned pm_fact_call_use(gcall *call, unsigned index)
{
    if (!is_known_call(call))
        return PM_USE_READS;
    struct pm_cxx_call read = read_whole_call(call, index);
    return pm_call_use(&read, index);
}

unsigned pm_fact_call_whole_use(gcall *call, unsigned index)
{
    if (!is_known_call(call) || !is_of_library(gimple_call_fndecl(call)))
        return 0;
    struct pm_cxx_call read = read_whole_call(call, index);
    return pm_call_whole_use(&read, index);
}

static tree value_type_of(tree type)
{
    for (tree member = TYPE_FIELDS(type); member != NULL_TREE; member = DECL_CHAIN(member))
        if (TREE_CODE(member) == TYPE_DECL && strcmp(pm_written_name(member), "value_type") == 0)
            return TREE_TYPE(member);
    tree binfo = TYPE_BINFO(type), base;
    for (unsigned i = 0; binfo != NULL_TREE && BINFO_BASE_ITERATE(binfo, i, base); i++)
        if (tree found = value_type_of(BINFO_TYPE(base)))
            return found;
    return NULL_TREE;
}

tree pm_fact_element_type(tree type)
{
    if (POINTER_TYPE_P(type))
        type = TREE_TYPE(type);
    tree element =
        RECORD_OR_UNION_TYPE_P(type) && pm_fact_is_of_library(type) ? value_type_of(type) : NULL;
    return element != NULL_TREE ? element : type;
}

/* --- captured variables --- */

static tree named_in(tree block, const char *name)
{
    for (tree variable = BLOCK_VARS(block); variable != NULL_TREE; variable = DECL_CHAIN(variable))
        if (VAR_P(variable) && strcmp(pm_written_name(variable), name) == 0)
            return variable;
    for (tree below = BLOCK_SUBBLOCKS(block); below != NULL_TREE; below = BLOCK_CHAIN(below)) {
        tree found = named_in(below, name);
        if (found != NULL_TREE)
            return found;
    }
    return NULL_TREE;
}

static tree variable_named(tree function_decl, const char *name)
{
    for (tree parm = DECL_ARGUMENTS(function_decl); parm != NULL_TREE; parm = DECL_CHAIN(parm))
        if (strcmp(pm_written_name(parm), name) == 0)
            return parm;
    tree block = DECL_INITIAL(function_decl);
    return block != NULL_TREE && TREE_CODE(block) == BLOCK ? named_in(block, name) : NULL_TREE;
}

/* "[v = u]": the variable v is one of the lambda's own function. */
static tree own_variable(tree closure, const char *name, tree *ret_function)
{
    tree function_decl = pm_fact_call_operator(closure);
    if (function_decl == NULL_TREE || TREE_CODE(function_decl) != FUNCTION_DECL)
        return NULL_TREE;
    *ret_function = function_decl;
    return variable_named(function_decl, name);
}

/* A lambda's member "__v" is the variable v of the function around it. */
bool pm_fact_is_capture(tree field, tree *ret_variable, tree *ret_function)
{
    tree type = DECL_CONTEXT(field);
    *ret_variable = NULL_TREE;
    if (!is_cplusplus() || type == NULL_TREE || !RECORD_OR_UNION_TYPE_P(type) ||
        !pm_fact_is_closure(type) || strncmp(pm_written_name(field), "__", 2) != 0)
        return false;
    tree around = TYPE_CONTEXT(type);
    for (int depth = 0; around != NULL_TREE && depth < 8; depth++) {
        if (TYPE_P(around)) {
            around = TYPE_CONTEXT(around);
            continue;
        }
        if (TREE_CODE(around) != FUNCTION_DECL)
            break;
        *ret_variable = variable_named(around, pm_written_name(field) + 2);
        *ret_function = around;
        if (*ret_variable != NULL_TREE)
            break;
        around = DECL_CONTEXT(around);
    }
    if (*ret_variable == NULL_TREE)
        *ret_variable = own_variable(type, pm_written_name(field) + 2, ret_function);
    return true;
}

/* --- variables that refer into containers --- */

static struct pm_table<unsigned, pm_id> behind; /* by DECL_UID; 0: several */
static struct pm_table<pm_id, pm_id> names;     /* of containers; 0: of several */

template <class Key> static void note(struct pm_table<Key, pm_id> *table, Key key, pm_id noun)
{
    bool is_new;
    pm_id *known = table->add(key, noun, &is_new);
    if (!is_new && *known != noun)
        *known = 0;
}

void pm_fact_note_behind(tree variable, pm_id noun)
{
    note(&behind, DECL_UID(variable), noun);
}

void pm_fact_note_name(pm_id name, pm_id noun)
{
    note(&names, name, noun);
}

pm_id pm_fact_named(pm_id name)
{
    const pm_id *found = names.find(name);
    return found != NULL ? *found : 0;
}

pm_id pm_fact_behind(tree variable)
{
    const pm_id *found = behind.find(DECL_UID(variable));
    return found != NULL ? *found : 0;
}
