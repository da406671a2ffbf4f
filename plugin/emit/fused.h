/* Statements of the source that own no instruction any more, though other code implements them.
 *
 * A back end looks at each function twice, by place of statement: "before" as the interprocedural
 * optimisers leave it, "after" when all optimisers are done. A statement that does something
 * before and has no instruction in the end is lost. What implements it now is found by the first
 * of these that holds; where there is none, it is taken for removed:
 *
 *   STORES_MERGED, VECTORISED  one store of another statement covers the bytes that it stored:
 *       certain. In a loop, where addresses are rewritten: a vector store (or load) of another
 *       statement of that loop touches what it touched; certain when the two had addresses that
 *       differ by a constant, else inferred
 *   LOOP_TO_CALL  a memory function is called at a statement of the same loop that called none
 *       before. Certain when the call touches what the statement did or when it only counted the
 *       loop
 *   COMMON_TAIL  a statement of equal form is left on another way that leads to the same block:
 *       inferred
 *   COMBINED  a statement of equal form is left on the same way (its value is used), or the values
 *       it was made from are now operands of the statement that used its value, or that
 *       statement's instructions hold its operation (addresses, fused multiply and add): inferred
 *
 * A statement that kept other code of its own but whose store is in another one's wide store
 * counts, too, for the first of these.
 *
 *     struct pm_fused *fused = pm_fused_new();                // once
 *     struct pm_fused_look *look = pm_fused_before(fused);    // for each function: empty
 *     int at = pm_fused_statement(look, &key, shown, block);
 *     pm_fused_reference(look, at)->writes = true;
 *     pm_fused_value(look, at, PM_FUSED_USES, value);
 *     pm_fused_look_done(look);                               // lists by statement
 *     pm_fused_find_equal(look, relation, context);           // of "before"
 *     look = pm_fused_after(fused);                           // the same without the last
 *     pm_fused_has_code(fused, &key);                         // for all in the emitted code
 *     for (uint32_t i = 0; (also = pm_fused_with(fused, function, &place, &i)) != NULL;)
 *         add(also);
 *
 * When memory ends, pm_fused_failed says so once and for all; what is returned is still good to
 * write to. One thread at a time.
 */
#ifndef PM_FUSED_H
#define PM_FUSED_H

#include "map_block.h"

/* A statement of the source: where it begins, as far as this process knows. Files are compared by
 * pointer. */
struct pm_fused_key {
    const struct pm_source_function *function;
    const char *file;
    unsigned line, column;
};

struct pm_fused_reference {
    uint64_t base;       /* what the address is made of besides a constant; 0: none can be told */
    int64_t begin, size; /* bytes from base */
    bool writes, is_vector;
    bool is_pointer; /* of: the back end's own, while looking: the memory, or a pointer to it */
    void *of;
    int statement;                    /* index */
    uint32_t first_object, n_objects; /* in look->objects */
};

/* Lists of a statement: values are what the back end tells them apart by. */
enum pm_fused_list { PM_FUSED_DEFINES, PM_FUSED_USES, PM_FUSED_N_LISTS };

struct pm_fused_span {
    uint32_t first, n;
};

struct pm_fused_statement {
    struct pm_fused_key key;
    const char *shown; /* the file as the user spelt it */
    int loop;          /* index of its innermost source loop, -1 none */
    int block;         /* where it begins; the back end's number */
    bool computes;     /* more than copies and constants */
    bool calls_memory_function;
    uint64_t form; /* equal for statements that compute the same from the same values; 0: nothing */
    /* From pm_fused_look_done on: in look->references, look->values[list]. */
    struct pm_fused_span references, values[PM_FUSED_N_LISTS];
};

struct pm_fused_value {
    uint64_t value;
    int statement;
};

struct pm_fused_pair {
    int a, b;         /* statements of equal form */
    bool is_parallel; /* on different ways to one block; else one comes after the other */
};

struct pm_fused_look {
    struct pm_fused_statement *statements;
    uint32_t n, cap;
    uint32_t *slots, n_slots; /* index + 1 of a statement by its key, 0 free */
    /* As they come; the second is by statement, and written by pm_fused_look_done. */
    struct pm_fused_reference *come_references, *references;
    uint32_t n_references, come_cap, references_cap;
    struct pm_fused_value *come_values[PM_FUSED_N_LISTS];
    uint64_t *values[PM_FUSED_N_LISTS]; /* of each statement sorted, each once */
    uint32_t n_values[PM_FUSED_N_LISTS], come_values_cap[PM_FUSED_N_LISTS],
        values_cap[PM_FUSED_N_LISTS];
    struct pm_access *objects;
    uint32_t n_objects, objects_cap;
    struct pm_fused_pair *equal;
    uint32_t n_equal, equal_cap;
    bool failed;
};

struct pm_fused;
struct pm_fused *pm_fused_new(void); /* NULL: memory */
void pm_fused_free(struct pm_fused *fused);
bool pm_fused_failed(const struct pm_fused *fused);
/* The next function begins: there are no looks at it. */
void pm_fused_clear(struct pm_fused *fused);
/* Both empty what was there. The second needs the first. */
struct pm_fused_look *pm_fused_before(struct pm_fused *fused);
struct pm_fused_look *pm_fused_after(struct pm_fused *fused);
bool pm_fused_has_before(const struct pm_fused *fused);

/* The statement with a key, which is added when it is not there: its index. */
int pm_fused_statement(struct pm_fused_look *look, const struct pm_fused_key *key,
                       const char *shown, int block);
/* A further reference of a statement, lent until the next one: to be filled in. */
struct pm_fused_reference *pm_fused_reference(struct pm_fused_look *look, int statement);
/* A further value; returns how many values of that list the statement has now. */
uint32_t pm_fused_value(struct pm_fused_look *look, int statement, enum pm_fused_list list,
                        uint64_t value);
/* All statements are read: their lists are there, references in the order in which they came. */
void pm_fused_look_done(struct pm_fused_look *look);
/* Must the back end find out what the reference touches? After pm_fused_look_done. */
bool pm_fused_wants_objects(const struct pm_fused_look *look, bool is_before,
                            const struct pm_fused_reference *reference);
void pm_fused_objects(struct pm_fused_look *look, struct pm_fused_reference *reference,
                      const struct pm_access *objects, size_t n);

/* How two blocks lie: one is always run before the other; both lead, without a choice, to one. */
enum pm_fused_relation { PM_FUSED_APART, PM_FUSED_IN_ROW, PM_FUSED_MEET };
typedef enum pm_fused_relation pm_fused_relate(void *context, int block_a, int block_b);
/* Pairs of statements that compute the same. */
void pm_fused_find_equal(struct pm_fused_look *look, pm_fused_relate *relate, void *context);

/* When both looks are there: is it known who has code, or is the back end to say it? */
bool pm_fused_wants_code(struct pm_fused *fused);
/* The statement has instructions in the emitted code. */
void pm_fused_has_code(struct pm_fused *fused, const struct pm_fused_key *key);
/* What the code of the statement that begins at the place implements too, one after the other: *at
 * is 0 at first. NULL: no more. Lent until the next function. */
const struct pm_map_also *pm_fused_with(struct pm_fused *fused, pm_id function,
                                        const struct pm_place *place, uint32_t *at);

#endif
