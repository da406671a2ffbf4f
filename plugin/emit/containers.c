/* Which classes of C++ have elements, which refer to others, and what calls do with them. */
#include "containers.h"

#include <string.h>

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

#define IS_ONE_OF(name, names) is_one_of(name, names, sizeof(names) / sizeof *(names))

/* --- classes --- */

unsigned pm_method_traits(const struct pm_method *method)
{
    static const char *const of_elements[] = {"operator[]", "begin", "data"};
    static const char *const of_ends[] = {"top", "front"}; /* queues, stacks */
    if (IS_ONE_OF(method->name, of_elements))
        return PM_HAS_ELEMENTS;
    if (strcmp(method->name, "operator()") == 0)
        return method->gives_reference ? PM_HAS_CALL : 0;
    if (IS_ONE_OF(method->name, of_ends))
        return method->gives_reference ? PM_HAS_ELEMENTS : 0;
    bool is_target = (strcmp(method->name, "operator*") == 0 && method->is_unary) ||
                     strcmp(method->name, "operator->") == 0;
    return is_target ? PM_HAS_TARGET : 0;
}

unsigned pm_member_traits(unsigned traits_of_its_class)
{
    return traits_of_its_class & (PM_HAS_ELEMENTS | PM_HAS_TARGET) ? PM_HAS_STORAGE : 0;
}

/* std::get() gives what is in a variant, get() of a reference_wrapper what it refers to. */
unsigned pm_class_name_traits(const char *name)
{
    if (strcmp(name, "reference_wrapper") == 0)
        return PM_HAS_TARGET;
    if (strcmp(name, "pair") == 0 || strcmp(name, "tuple") == 0)
        return PM_HAS_PARTS;
    return strcmp(name, "variant") == 0 ? PM_HAS_ELEMENTS : 0;
}

bool pm_is_container(unsigned traits)
{
    return (traits & (PM_HAS_ELEMENTS | PM_HAS_TARGET)) ||
           ((traits & PM_HAS_STORAGE) && (traits & (PM_HAS_CALL | PM_HAS_PARTS)));
}

bool pm_class_refers(const char *name, unsigned traits)
{
    static const char *const names[] = {"span", "basic_string_view", "_Bit_reference"};
    return ((traits & PM_HAS_TARGET) && !strstr(name, "_ptr")) || IS_ONE_OF(name, names);
}

bool pm_is_view(const struct pm_class_shape *shape)
{
    enum { PARTS_MAX = 4 };
    return shape->has_pointer && !shape->has_aggregate &&
           (shape->traits & (PM_HAS_ELEMENTS | PM_HAS_CALL)) && !shape->is_passed_in_memory &&
           shape->n_pointers <= PARTS_MAX;
}

bool pm_is_view_of_ranges(const char *name)
{
    static const char end[] = "_view";
    size_t bytes = strcspn(name, "<"), n_end = strlen(end);
    return bytes > n_end && strncmp(name + bytes - n_end, end, n_end) == 0 &&
           strncmp(name, "basic_string", strlen("basic_string")) != 0;
}

bool pm_is_std_function(const char *name)
{
    static const char word[] = "function";
    size_t len = strlen(word);
    return strncmp(name, word, len) == 0 && (name[len] == 0 || name[len] == '<');
}

bool pm_is_execution_policy(const char *name)
{
    static const char *const names[] = {"sequenced_policy", "parallel_policy",
                                        "parallel_unsequenced_policy", "unsequenced_policy"};
    return IS_ONE_OF(name, names);
}

/* --- calls --- */

static bool gives_access(const struct pm_cxx_call *call)
{
    static const char *const of_pointers[] = {"get_if", "any_cast", "to_address", "launder",
                                              "assume_aligned"};
    switch (call->result) {
    case PM_RESULT_REFERENCE:
        return true;
    case PM_RESULT_POINTER:
        return call->is_method || call->is_placement ||
               (call->is_library &&
                (call->first_is_reference || IS_ONE_OF(call->name, of_pointers)));
    case PM_RESULT_REFERRING:
        return call->is_method || call->is_library;
    default:
        return false;
    }
}

unsigned pm_call_sources(const struct pm_cxx_call *call, unsigned leading)
{
    if (!gives_access(call))
        return 0;
    if (call->is_placement)
        return 2; /* its place is the second argument */
    if (call->is_method)
        return call->n_arguments > 0 ? 1 : 0;
    return leading & 3u;
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
static bool is_algorithm(const struct pm_cxx_call *call)
{
    return call->n_leading >= 2 && !call->is_method;
}

/* What a method of the library does with its own object. */
static unsigned use_of_object(const struct pm_cxx_call *call, bool assigns)
{
    if (call->object_is_const || is_destructor(call->name))
        return PM_USE_READS;
    if (call->object_refers && !assigns)
        return PM_USE_READS; /* ++it changes the iterator */
    bool is_compound = assigns && strcmp(call->name, "operator=") != 0;
    return PM_USE_WRITES | (is_compound ? (unsigned)PM_USE_READS : 0);
}

/* What lies between iterators is handed to a function object, which may write it. */
static unsigned use_by_algorithm(const struct pm_cxx_call *call, unsigned index)
{
    static const char word[] = "for_each";
    unsigned n_before = call->has_policy;
    if (index < n_before)
        return PM_USE_READS;
    if (strncmp(call->name, word, strlen(word)) != 0)
        return pm_algorithm_use(call->name, call->n_arguments - n_before, index - n_before);
    return PM_USE_READS | (call->last_takes_to_write ? (unsigned)PM_USE_WRITES : 0);
}

/* Where a range stands for two iterators, arguments have other numbers than those of the algorithm
 * with iterators. The function object comes before them. */
static unsigned place_in_algorithm(const struct pm_cxx_call *call, unsigned index)
{
    return index > 1 ? index - 1 + call->gets_range : index - 1;
}

/* std::ranges::sort(v) */
static unsigned use_by_ranges(const struct pm_cxx_call *call, unsigned index)
{
    if (strcmp(call->algorithm, "for_each") == 0)
        return PM_USE_READS | (call->last_takes_to_write ? (unsigned)PM_USE_WRITES : 0);
    return pm_algorithm_use(call->algorithm, call->n_arguments - 1 + call->gets_range,
                            place_in_algorithm(call, index));
}

/* Methods whose result says where, after a change: "it = v.erase(it)". */
static bool changes_elements(const struct pm_cxx_call *call)
{
    static const char *const names[] = {"insert",       "erase",         "emplace",
                                        "emplace_back", "emplace_front", "emplace_hint",
                                        "try_emplace",  "insert_after",  "insert_or_assign",
                                        "erase_after",  "append",        "replace"};
    return call->is_library && call->is_method && IS_ONE_OF(call->name, names);
}

unsigned pm_call_use(const struct pm_cxx_call *call, unsigned index)
{
    bool assigns = is_assignment(call->name);
    if (index == 0 && changes_elements(call))
        return use_of_object(call, assigns);
    if (call->is_library && is_algorithm(call))
        return use_by_algorithm(call, index);
    if (!assigns && (call->sources >> index & 1))
        return 0; /* what is done with the result says it */
    if (!call->is_library)
        return PM_USE_READS;
    if (call->passes_to_write)
        return PM_USE_READS | PM_USE_WRITES;
    if (!call->is_method)
        return use_by_algorithm(call, index);
    if (call->algorithm[0] && index > 0)
        return use_by_ranges(call, index);
    return index == 0 ? use_of_object(call, assigns) : (unsigned)PM_USE_READS;
}

/* Methods that make, copy or move elements of their object. */
static unsigned whole_use_of_object(const struct pm_cxx_call *call)
{
    static const char *const makers[] = {"push_back", "push_front",    "push",   "emplace_back",
                                         "emplace",   "emplace_front", "assign", "resize",
                                         "fill",      "operator=",     "append"};
    static const char *const movers[] = {"insert", "erase", "sort", "reverse"};
    if (call->object_is_const || call->object_refers)
        return 0;
    if (call->constructs)
        return call->n_arguments > 1 ? PM_USE_WRITES : 0;
    if (IS_ONE_OF(call->name, movers))
        return call->moves_elements ? PM_USE_READS | PM_USE_WRITES : 0;
    return IS_ONE_OF(call->name, makers) ? PM_USE_WRITES : 0;
}

bool pm_algorithm_of_class(const char *class_name, struct pm_cxx_call *call)
{
    static const char begin[] = "__", end[] = "_fn";
    size_t n_begin = strlen(begin), n_end = strlen(end), len = strlen(class_name);
    if (len <= n_begin + n_end || len - n_begin - n_end >= sizeof call->algorithm ||
        strncmp(class_name, begin, n_begin) != 0 || strcmp(class_name + len - n_end, end) != 0)
        return false;
    memcpy(call->algorithm, class_name + n_begin, len - n_begin - n_end);
    call->algorithm[len - n_begin - n_end] = 0;
    return true;
}

static unsigned whole_use_of_ranges(const struct pm_cxx_call *call, unsigned index)
{
    unsigned n = call->n_arguments - 1 + call->gets_range;
    return index == 0 ? 0
                      : pm_algorithm_whole_use(call->algorithm, n, place_in_algorithm(call, index));
}

unsigned pm_call_whole_use(const struct pm_cxx_call *call, unsigned index)
{
    unsigned n_before = call->has_policy;
    if (!call->is_library)
        return 0;
    if (call->algorithm[0])
        return whole_use_of_ranges(call, index);
    if (!call->is_method)
        return index < n_before ? 0
                                : pm_algorithm_whole_use(call->name, call->n_arguments - n_before,
                                                         index - n_before);
    unsigned use = whole_use_of_object(call);
    if (index == 0)
        return use;
    return use != 0 ? PM_USE_READS : 0;
}

bool pm_moves_elements(const char *class_name)
{
    static const char *const names[] = {"vector", "deque"};
    return IS_ONE_OF(class_name, names);
}

/* --- what objects of the library keep --- */

static bool keeps_any(const struct pm_keeping *call)
{
    static const char *const functions[] = {"ref", "cref", "tie", "forward_as_tuple"};
    return strcmp(call->class_name, "reference_wrapper") == 0 ||
           IS_ONE_OF(call->function, functions);
}

bool pm_object_keeps(const struct pm_keeping *call, enum pm_passed_as as)
{
    switch (as) {
    case PM_PASSED_OTHER:
        return false;
    case PM_PASSED_POINTER:
        return ((call->traits & PM_HAS_TARGET) || call->has_addresses) && !call->refers;
    case PM_PASSED_ITERATOR:
        return call->has_addresses && !call->refers;
    case PM_PASSED_OBJECT:
        return keeps_any(call);
    default:
        return !call->refers;
    }
}

bool pm_method_looks(const char *name)
{
    static const char *const names[] = {"find",        "count",       "erase",
                                        "at",          "contains",    "lower_bound",
                                        "upper_bound", "equal_range", "remove"};
    return IS_ONE_OF(name, names) || is_destructor(name);
}

const char *pm_element_type_name(unsigned index, unsigned *ret_n_before)
{
    static const char *const names[] = {"value_type", "element_type", "mapped_type"};
    enum { N_NAMES = sizeof names / sizeof *names };
    *ret_n_before = index == N_NAMES - 1;
    return index < N_NAMES ? names[index] : NULL;
}
