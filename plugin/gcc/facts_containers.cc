/* Containers of C++: std::vector, unique_ptr<T[]>, a class of the user's with operator[] and the
 * like. Whoever writes "v[i] = x" thinks of v as an array. For the compiler it is a call that
 * returns a reference, and what is written is what the reference refers to.
 */
#include "facts.h"
#include "table.h"

static bool is_cplusplus(void)
{
    static int known = -1;
    if (known < 0)
        known = strncmp(lang_hooks.name, "GNU C++", 7) == 0;
    return known != 0;
}

static const char *name_of(tree decl)
{
    return DECL_NAME(decl) != NULL_TREE ? IDENTIFIER_POINTER(DECL_NAME(decl)) : "";
}

/* --- types --- */

enum traits {
    HAS_ELEMENTS = 1, /* operator[], begin(), data(); top(), front() */
    HAS_TARGET = 2,   /* unary operator*, operator-> */
    HAS_CALL = 4,     /* operator() that returns a reference */
    HAS_STORAGE = 8   /* a member that points to elements or holds them */
};

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
    const char *name = name_of(member);
    if (TREE_CODE(member) == FIELD_DECL) {
        tree type = TREE_TYPE(member);
        bool holds = POINTER_TYPE_P(type) || TREE_CODE(type) == ARRAY_TYPE ||
                     (RECORD_OR_UNION_TYPE_P(type) && name[0] != 0 &&
                      (traits_of(type) & (HAS_ELEMENTS | HAS_TARGET)));
        return holds ? HAS_STORAGE : 0;
    }
    if (TREE_CODE(member) == TYPE_DECL || TREE_CODE(member) == VAR_DECL)
        return 0;
    if (strcmp(name, "operator[]") == 0 || strcmp(name, "begin") == 0 || strcmp(name, "data") == 0)
        return HAS_ELEMENTS;
    if (strcmp(name, "operator()") == 0)
        return gives_reference(member) ? HAS_CALL : 0;
    if (strcmp(name, "top") == 0 || strcmp(name, "front") == 0) /* queues, stacks */
        return gives_reference(member) ? HAS_ELEMENTS : 0;
    bool is_target =
        (strcmp(name, "operator*") == 0 && is_unary(member)) || strcmp(name, "operator->") == 0;
    return is_target ? HAS_TARGET : 0;
}

static const char *name_of_type(tree type)
{
    tree name = TYPE_NAME(TYPE_MAIN_VARIANT(type));
    return name != NULL_TREE && TREE_CODE(name) == TYPE_DECL ? name_of(name) : "";
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
    /* std::get() gives what is in it */
    unsigned traits = strcmp(name_of_type(type), "variant") == 0 ? HAS_ELEMENTS : 0;
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
    if (!RECORD_OR_UNION_TYPE_P(type) || pm_fact_is_closure(type))
        return false;
    unsigned traits = traits_of(type);
    return (traits & (HAS_ELEMENTS | HAS_TARGET)) ||
           (traits & (HAS_CALL | HAS_STORAGE)) == (HAS_CALL | HAS_STORAGE);
}

/* A class of the user's that is a pointer with operator[], and perhaps a size: a row of a
 * matrix, a window. Nothing is freed with it. */
static bool is_view(tree type)
{
    enum { PARTS_MAX = 4 };
    bool points = false, holds = false;
    for (tree field = TYPE_FIELDS(type); field != NULL_TREE; field = DECL_CHAIN(field))
        if (TREE_CODE(field) == FIELD_DECL) {
            points |= POINTER_TYPE_P(TREE_TYPE(field));
            holds |= AGGREGATE_TYPE_P(TREE_TYPE(field));
        }
    return points && !holds && (traits_of(type) & (HAS_ELEMENTS | HAS_CALL)) &&
           !TREE_ADDRESSABLE(type) && tree_fits_uhwi_p(TYPE_SIZE_UNIT(type)) &&
           tree_to_uhwi(TYPE_SIZE_UNIT(type)) <= PARTS_MAX * POINTER_SIZE_UNITS;
}

/* What such an object refers to is another's: iterators, spans. */
static bool refers(tree type)
{
    if (!RECORD_OR_UNION_TYPE_P(type))
        return false;
    const char *text = name_of_type(type);
    unsigned traits = traits_of(type);
    return ((traits & HAS_TARGET) && !strstr(text, "_ptr")) || is_view(type) ||
           strcmp(text, "span") == 0 || strcmp(text, "basic_string_view") == 0 ||
           strcmp(text, "_Bit_reference") == 0;
}

bool pm_fact_type_refers(tree type)
{
    return is_cplusplus() && refers(type);
}

/* std::function: a pointer to a function, to whoever reads the source. */
bool pm_fact_is_std_function(tree type)
{
    if (type != NULL_TREE && POINTER_TYPE_P(type))
        type = TREE_TYPE(type);
    if (type == NULL_TREE || !is_cplusplus() || !RECORD_OR_UNION_TYPE_P(type))
        return false;
    tree name = TYPE_NAME(TYPE_MAIN_VARIANT(type));
    return name != NULL_TREE && TREE_CODE(name) == TYPE_DECL &&
           strncmp(name_of(name), "function", 8) == 0 &&
           (name_of(name)[8] == 0 || name_of(name)[8] == '<') &&
           in_system_header_at(DECL_SOURCE_LOCATION(name));
}

bool pm_fact_calls_std_function(tree callee)
{
    return strcmp(name_of(callee), "operator()") == 0 &&
           pm_fact_is_std_function(DECL_CONTEXT(callee));
}

/* A temporary of the compiler's: "v.begin()" where it is passed. */
bool pm_fact_is_way(tree variable)
{
    return VAR_P(variable) && DECL_ARTIFICIAL(variable) && pm_fact_type_refers(TREE_TYPE(variable));
}

/* --- calls --- */

static bool is_of_library(tree callee)
{
    return callee != NULL_TREE && in_system_header_at(DECL_SOURCE_LOCATION(callee));
}

bool pm_fact_is_cxx_library(tree function_decl)
{
    return is_cplusplus() && is_of_library(function_decl);
}

static bool first_is_reference(tree function_type)
{
    tree arguments = TYPE_ARG_TYPES(function_type);
    return arguments != NULL_TREE && TREE_CODE(TREE_VALUE(arguments)) == REFERENCE_TYPE;
}

static bool gives_access(gcall *call)
{
    tree type = gimple_call_fntype(call), callee = gimple_call_fndecl(call);
    if (type == NULL_TREE || gimple_call_lhs(call) == NULL_TREE)
        return false;
    bool is_method = TREE_CODE(type) == METHOD_TYPE;
    tree result = TREE_TYPE(type);
    if (TREE_CODE(result) == REFERENCE_TYPE)
        return true;
    if (POINTER_TYPE_P(result))
        return is_method || (is_of_library(callee) && first_is_reference(type));
    return (is_method || is_of_library(callee)) && refers(result);
}

unsigned pm_fact_call_sources(gcall *call)
{
    if (!is_cplusplus() || !gives_access(call))
        return 0;
    if (TREE_CODE(gimple_call_fntype(call)) == METHOD_TYPE)
        return gimple_call_num_args(call) > 0 ? 1 : 0;
    unsigned sources = 0;
    for (unsigned i = 0; i < gimple_call_num_args(call) && i < 2; i++) {
        tree type = TREE_TYPE(gimple_call_arg(call, i));
        if (POINTER_TYPE_P(type) || refers(type))
            sources |= 1u << i;
    }
    return sources;
}

/* Algorithms of the library, by their arguments: r reads, w writes, b both. */
static const struct {
    const char *name, *arguments;
} algorithms[] = {
    {"fill", "ww"},
    {"fill_n", "w"},
    {"iota", "ww"},
    {"generate", "ww"},
    {"sort", "bb"},
    {"copy", "rrw"},
    {"copy_n", "r-w"},
    {"stable_sort", "bb"},
    {"reverse", "bb"},
    {"swap", "bb"},
    {"shuffle", "bb"},
    {"partial_sort", "bbb"},
    {"nth_element", "bbb"},
    {"rotate", "bbb"},
    {"move", "rrw"},
    {"partial_sum", "rrw"},
    {"make_heap", "bb"},
    {"unique", "bb"},
    {"remove", "bb"},
    {"adjacent_difference", "rrw"},
    {"inclusive_scan", "rrw"},
};

static unsigned access_of_letter(char letter)
{
    switch (letter) {
    case 'w':
        return PM_CALL_WRITES;
    case 'b':
        return PM_CALL_READS | PM_CALL_WRITES;
    default:
        return PM_CALL_READS;
    }
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

/* A function object that is called with elements: does it take them to write? */
static bool takes_to_write(tree type)
{
    if (POINTER_TYPE_P(type))
        type = TREE_TYPE(type);
    if (!RECORD_OR_UNION_TYPE_P(type))
        return false;
    for (tree member = TYPE_FIELDS(type); member != NULL_TREE; member = DECL_CHAIN(member))
        if (TREE_CODE(member) == FUNCTION_DECL && strcmp(name_of(member), "operator()") == 0 &&
            TREE_CODE(TREE_TYPE(member)) == METHOD_TYPE && is_to_write(member, 1))
            return true;
    return false;
}

static unsigned access_by_algorithm(gcall *call, tree callee, unsigned index)
{
    if (strncmp(name_of(callee), "for_each", 8) == 0) {
        unsigned n_arguments = gimple_call_num_args(call);
        bool writes = takes_to_write(TREE_TYPE(gimple_call_arg(call, n_arguments - 1)));
        return PM_CALL_READS | (writes ? PM_CALL_WRITES : 0);
    }
    unsigned n = gimple_call_num_args(call), last_of_transform = n == 4 ? 2 : 3;
    if (strcmp(name_of(callee), "transform") == 0)
        return index == last_of_transform ? PM_CALL_WRITES : PM_CALL_READS;
    for (const auto &algorithm : algorithms)
        if (strcmp(algorithm.name, name_of(callee)) == 0 && index < strlen(algorithm.arguments))
            return access_of_letter(algorithm.arguments[index]);
    return PM_CALL_READS;
}

/* operator=, operator+= and the like. */
static bool is_assignment(const char *name)
{
    static const char word[] = "operator";
    size_t before = strlen(word), len = strlen(name);
    if (strncmp(name, word, before) != 0 || len == before || name[len - 1] != '=')
        return false;
    return len != before + 2 || strchr("=!<>", name[before]) == NULL;
}

static bool is_destructor(const char *name)
{
    return name[0] == '~' || strncmp(name, "__dt", 4) == 0;
}

/* A function with two iterators or pointers works on what lies between them, even if it returns
 * one. */
static bool is_algorithm(gcall *call)
{
    unsigned n_ways = 0;
    for (unsigned i = 0; i < gimple_call_num_args(call); i++) {
        tree type = TREE_TYPE(gimple_call_arg(call, i));
        n_ways += TREE_CODE(type) == POINTER_TYPE || refers(type);
    }
    return n_ways >= 2 && TREE_CODE(gimple_call_fntype(call)) != METHOD_TYPE;
}

unsigned pm_fact_call_access(gcall *call, unsigned index)
{
    tree callee = gimple_call_fndecl(call), type = gimple_call_fntype(call);
    if (!is_cplusplus() || callee == NULL_TREE || type == NULL_TREE)
        return PM_CALL_READS;
    bool assigns = is_assignment(name_of(callee)), is_library = is_of_library(callee);
    if (is_library && is_algorithm(call))
        return access_by_algorithm(call, callee, index);
    if (!assigns && (pm_fact_call_sources(call) >> index & 1))
        return 0; /* what is done with the result says it */
    if (!is_library)
        return PM_CALL_READS;
    if (pm_fact_calls_std_function(callee) && is_to_write(callee, index))
        return PM_CALL_READS | PM_CALL_WRITES;
    if (TREE_CODE(type) != METHOD_TYPE)
        return access_by_algorithm(call, callee, index);
    tree object = TREE_VALUE(TYPE_ARG_TYPES(type));
    if (index != 0 || TYPE_READONLY(TREE_TYPE(object)) || is_destructor(name_of(callee)))
        return PM_CALL_READS;
    if (refers(TREE_TYPE(object)) && !assigns)
        return PM_CALL_READS; /* ++it changes the iterator */
    bool is_compound = assigns && strcmp(name_of(callee), "operator=") != 0;
    return PM_CALL_WRITES | (is_compound ? PM_CALL_READS : 0);
}

/* --- captured variables --- */

static tree named_in(tree block, const char *name)
{
    for (tree variable = BLOCK_VARS(block); variable != NULL_TREE; variable = DECL_CHAIN(variable))
        if (VAR_P(variable) && strcmp(name_of(variable), name) == 0)
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
        if (strcmp(name_of(parm), name) == 0)
            return parm;
    tree block = DECL_INITIAL(function_decl);
    return block != NULL_TREE && TREE_CODE(block) == BLOCK ? named_in(block, name) : NULL_TREE;
}

/* A lambda's member "__v" is the variable v of the function around it. */
bool pm_fact_is_capture(tree field, tree *ret_variable, tree *ret_function)
{
    tree type = DECL_CONTEXT(field);
    *ret_variable = NULL_TREE;
    if (!is_cplusplus() || type == NULL_TREE || !RECORD_OR_UNION_TYPE_P(type) ||
        !pm_fact_is_closure(type) || strncmp(name_of(field), "__", 2) != 0)
        return false;
    tree around = TYPE_CONTEXT(type);
    for (int depth = 0; around != NULL_TREE && depth < 8; depth++) {
        if (TYPE_P(around)) {
            around = TYPE_CONTEXT(around);
            continue;
        }
        if (TREE_CODE(around) != FUNCTION_DECL)
            break;
        *ret_variable = variable_named(around, name_of(field) + 2);
        *ret_function = around;
        if (*ret_variable != NULL_TREE)
            break;
        around = DECL_CONTEXT(around);
    }
    return true;
}

/* --- variables that refer into containers --- */

static struct pm_table<unsigned, pm_id> behind; /* by DECL_UID; 0: several */

void pm_fact_note_behind(tree variable, pm_id noun)
{
    bool is_new;
    pm_id *known = behind.add(DECL_UID(variable), noun, &is_new);
    if (!is_new && *known != noun)
        *known = 0;
}

pm_id pm_fact_behind(tree variable)
{
    const pm_id *found = behind.find(DECL_UID(variable));
    return found != NULL ? *found : 0;
}
