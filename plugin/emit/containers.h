/* Containers of C++: std::vector, unique_ptr<T[]>, a class of the user's with operator[] and the
 * like. Whoever writes "v[i] = x" thinks of v as an array. For a compiler it is a call that
 * returns a reference, and what is written is what the reference refers to.
 *
 * A back end says what members a class has and what types a call has; here is what that means.
 *
 *     struct pm_method begin = {.name = "begin"};
 *     unsigned traits = pm_class_name_traits("vector") | pm_method_traits(&begin);
 *     bool is_array = pm_is_container(traits);                       // of the class's noun
 *     bool is_iterator = pm_class_refers("__normal_iterator", PM_HAS_TARGET);
 *     struct pm_cxx_call call = {.name = "operator[]", .n_arguments = 2, .is_method = true,
 *                                .result = PM_RESULT_REFERENCE};
 *     call.sources = pm_call_sources(&call, 3);                      // v of "v[i]": bit 0
 *     unsigned uses = pm_call_use(&call, 0);                         // 0: its result says it
 *
 * Names are plain: without scopes and template arguments. Any thread; nothing is allocated,
 * nothing fails.
 */
#ifndef PM_CONTAINERS_H
#define PM_CONTAINERS_H

#include "arguments.h"

#include <stdint.h>

/* --- classes --- */

/* Of a class: what its members and its bases have, joined. */
enum pm_class_traits {
    PM_HAS_ELEMENTS = 1, /* operator[], begin(), data(); top(), front() */
    PM_HAS_TARGET = 2,   /* unary operator*, operator-> */
    PM_HAS_CALL = 4,     /* operator() that returns a reference */
    PM_HAS_STORAGE = 8,  /* a member that points to elements or holds them */
    PM_HAS_PARTS = 16    /* members that the source names, as those of a pair */
};

struct pm_method {
    const char *name;
    bool is_unary;        /* a method, not static, with `this` and no parameter more */
    bool gives_reference; /* its result is a reference: it is not the next number of a generator */
};

unsigned pm_method_traits(const struct pm_method *method);
/* A data member of a class with a name of its own, by the traits of its class; a pointer or an
 * array is PM_HAS_STORAGE as it is. */
unsigned pm_member_traits(unsigned traits_of_its_class);
/* What is known by the name alone. */
unsigned pm_class_name_traits(const char *name);

/* Has an object of the class elements, to whoever reads the source? Closures have not, whatever
 * their members. */
bool pm_is_container(unsigned traits);
/* Is what such an object refers to another's: iterators, spans? What is done with the object is
 * then done with the other one. */
bool pm_class_refers(const char *name, unsigned traits);

/* A class of the user's that is a pointer with operator[], and perhaps a size: a row of a matrix,
 * a window. Nothing is freed with it. Such a one refers, too. */
struct pm_class_shape {
    bool has_pointer, has_aggregate; /* among its data members */
    bool is_passed_in_memory;        /* it has a destructor, or a copy constructor, of its own */
    unsigned traits;
    uint64_t n_pointers; /* how many pointers have its size, rounded up */
};
bool pm_is_view(const struct pm_class_shape *shape);

/* Of std::ranges: filter_view. name: with or without "<...>"; of a class that a system header
 * declares. */
bool pm_is_view_of_ranges(const char *name);

/* A pointer to a function, to whoever reads the source. name: with or without "<...>"; of a class
 * that a system header declares. */
bool pm_is_std_function(const char *name);
/* std::execution::par and its like: algorithms may have one before all else. */
bool pm_is_execution_policy(const char *name);

/* --- calls --- */

enum pm_call_result {
    PM_RESULT_OTHER, /* also when nobody uses the result */
    PM_RESULT_REFERENCE,
    PM_RESULT_POINTER,
    PM_RESULT_REFERRING /* an object of a class that refers */
};

struct pm_cxx_call {
    const char *name;     /* of the function called */
    unsigned n_arguments; /* with `this` */
    unsigned n_leading;   /* arguments that are pointers (not references) or refer */
    unsigned sources;     /* pm_call_sources */
    enum pm_call_result result;
    bool is_method, is_library;          /* library: a system header declares it */
    bool first_is_reference;             /* the function's first parameter is a reference */
    bool object_is_const, object_refers; /* of a method's */
    bool is_placement;                   /* operator new of "new (place) T" */
    bool last_takes_to_write;            /* the operator() of what an algorithm calls has a `T &` */
    bool passes_to_write; /* of a std::function, std::visit(): this argument is for a `T &` */
    bool has_policy;      /* the first argument is an execution policy */
    bool constructs;      /* a constructor */
    bool moves_elements;  /* pm_moves_elements of a method's class */
    /* of an algorithm of std::ranges, which is a function object: its name; else "" */
    char algorithm[32];
    bool gets_range; /* and it gets a range, not two iterators */
};

/* Bits of the arguments whose objects the call's result refers into: of v[i], v.begin(), *it. 0:
 * none. leading: bits of the arguments (the first two count) that are pointers, references, or
 * refer. */
unsigned pm_call_sources(const struct pm_cxx_call *call, unsigned leading);
/* How the call uses the object of an argument: PM_USE_READS, PM_USE_WRITES. 0: it gives access to
 * it, and what is done with its result says the rest. */
unsigned pm_call_use(const struct pm_cxx_call *call, unsigned index);
/* The same of whole elements, with all of their fields: "std::sort(...)", "v.push_back(x)", "v =
 * w". Not of "v.size()", nor what is handed to a function object. */
unsigned pm_call_whole_use(const struct pm_cxx_call *call, unsigned index);
/* "sort" of __sort_fn, the class of std::ranges::sort in GCC's library. False: of another class. */
bool pm_algorithm_of_class(const char *class_name, struct pm_cxx_call *call);
/* Do elements of such an object move when others come or go? */
bool pm_moves_elements(const char *class_name);

/* --- what objects of the library keep --- */

/* How a call passes an address, or what may hold some. */
enum pm_passed_as {
    PM_PASSED_OTHER,
    PM_PASSED_POINTER,              /* by value */
    PM_PASSED_ITERATOR,             /* an object by value that leads to others */
    PM_PASSED_POINTER_BY_REFERENCE, /* or an array */
    PM_PASSED_LIST,                 /* std::initializer_list */
    PM_PASSED_TEMPORARY,            /* an object without a name that was given addresses */
    PM_PASSED_CONTAINER,            /* by `T &&` or value: its elements go with it */
    PM_PASSED_OBJECT                /* any other, by reference */
};

/* A call of C++'s library that makes an object or may change one: a method that is not const, a
 * constructor, a function whose result is an object. */
struct pm_keeping {
    const char *function; /* its name */
    const char *class_name;
    unsigned traits; /* of the object's class */
    bool refers;     /* is it a way to the elements of another? */
    /* are its elements addresses: pointers, std::reference_wrapper? */
    bool has_addresses;
};

/* Does the object keep it, so that what is done with its elements is done with that? "v.push_back(
 * p)", "std::make_pair(p, n)", "std::unique_ptr<T>(p)", "std::ref(x)". Not "v.assign(p, p + n)",
 * unless v's elements are addresses. */
bool pm_object_keeps(const struct pm_keeping *call, enum pm_passed_as as);

/* A method's name: does it look only, whatever its object is? find(), count(), erase(). */
bool pm_method_looks(const char *name);

/* The member type of a class that says of what class its elements are; NULL behind the last. The
 * library may construct them of what a call passes, behind n_before arguments. */
const char *pm_element_type_name(unsigned index, unsigned *ret_n_before);

#endif
