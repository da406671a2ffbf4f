/* What parameters, pointers and fields refer to. */
#ifndef PM_COLLECT_REFERENCES_H
#define PM_COLLECT_REFERENCES_H

#include "arguments.h"

#include "format/pm_id.h"
#include "mapping/base/map.h"
#include "mapping/base/status.h"

struct collect_binary;
struct collector;
struct pm_code_site;
struct pm_pif;

/* What code of this run reads or writes. */
struct collect_touched {
    const struct collect_binary *binary;
    pm_id id;
    uint32_t row;
    unsigned access; /* PM_MAP_READS, PM_MAP_WRITES: not in the list before */
};

/* Code of a method touches a member of its object. Of all code of an accessor field is 0: it is
 * there for what its caller does with an element. */
struct collect_member {
    const struct collect_binary *binary;
    uint32_t sentence;
    pm_id object, field; /* object: the id of the method's `this`, which is no noun */
    pm_id only;          /* 0, or of all that the method is called for what the code is known for */
    /* of a method that was inlined: it is called by the functions around it, up to `outermost` */
    const struct pm_code_site *callers; /* of the binary's map; NULL: `outermost` calls it */
    pm_id outermost;                    /* 0: callers are not known */
    uint32_t holder; /* of an accessor: what it touches, and callers through what it returns; 0 */
    unsigned access;
    bool is_array; /* the member, which rows of arrays name */
    bool is_named; /* the code's statement names the field, its code does not touch it */
};

struct collect_references {
    struct collect_touched *touches;
    uint32_t n_touches, touches_cap;
    struct pm_map touched; /* noun row -> access */
    struct pm_map shown;   /* the same without what statements only name */
    struct collect_member *members;
    uint32_t n_members, members_cap;
    struct collect_arguments arguments;
};

/* A fact: {from Refers} maps to {to Refers}. */
struct collect_reference {
    pm_id from, to;
    const struct collect_binary *binary; /* whose fact it is */
};

/* Of all binaries, in no order; to be freed. */
PM_MUST_CHECK enum pm_status collect_read_references(struct collector *c,
                                                     struct collect_reference **ret_list,
                                                     size_t *ret_n);
/* The function that data is of; 0: none, as of a field or a global variable, or it is no noun. */
pm_id collect_function_of_data(const struct pm_pif *pif, pm_id id);
/* The id is one that units give a parameter of another unit's function. */
bool collect_is_parameter_of(pm_id id, pm_id function);

/* The code touches the noun (PM_MAP_READS, PM_MAP_WRITES): what it refers to is touched, too. */
PM_MUST_CHECK enum pm_status collect_note_touch(struct collector *c,
                                                const struct collect_binary *binary, pm_id id,
                                                uint32_t row, unsigned access);
/* The same where the code's statement names it, and the code itself does not show it. */
PM_MUST_CHECK enum pm_status collect_note_named(struct collector *c,
                                                const struct collect_binary *binary, pm_id id,
                                                uint32_t row, unsigned access);
/* Code of a method touches a field: if that is of its object, it touches what the method is
 * called for. */
PM_MUST_CHECK enum pm_status collect_note_member(struct collector *c,
                                                 const struct collect_member *member,
                                                 pm_id function);
/* Are elements of the object records that have the field? */
bool collect_may_hold(const struct collect_binary *binary, pm_id object, pm_id field);
/* When all code is known. */
PM_MUST_CHECK enum pm_status collect_references_end(struct collector *c);
void collect_references_release(struct collector *c);

#endif
