/* Between fused.cc (what became of lost statements) and fused_look.cc (what the statements of a
 * function do). */
#ifndef PM_GCC_FUSED_H
#define PM_GCC_FUSED_H

#include "map.h"
#include "table.h"

/* A statement of the source: where it begins, as far as this process knows. */
struct pm_fused_key {
    const struct pm_source_function *function;
    const char *file;
    unsigned line, column;
};

static inline bool operator==(const struct pm_fused_key &a, const struct pm_fused_key &b)
{
    return a.function == b.function && a.file == b.file && a.line == b.line && a.column == b.column;
}

static inline uint64_t pm_hash(const struct pm_fused_key &key)
{
    uint64_t hash = pm_hash_join(pm_hash(key.function), (uint64_t)(uintptr_t)key.file);
    return pm_hash_join(hash, (uint64_t)key.line << 32 | key.column);
}

struct pm_fused_reference {
    uint64_t base;       /* what the address is made of besides a constant; 0: none can be told */
    int64_t begin, size; /* bytes from base */
    bool writes, is_vector;
    std::vector<struct pm_access> objects; /* of "after" only where they are asked for */
    tree memory, pointer;                  /* while looking: what it is of, one of the two */
};

struct pm_fused_statement {
    struct pm_fused_key key;
    const char *shown; /* the file as the user spelt it */
    int loop;          /* index of its innermost source loop, -1 none */
    int block;         /* where it begins */
    bool computes;     /* more than copies and constants */
    bool calls_memory_function;
    std::vector<struct pm_fused_reference> references;
    std::vector<uint64_t> defines, uses; /* SSA names; sorted */
    uint64_t form; /* equal for statements that compute the same from the same values */
};

struct pm_fused_pair {
    int a, b;         /* statements of equal form */
    bool is_parallel; /* on different ways to one block; else one comes after the other */
};

struct pm_fused_look {
    std::vector<struct pm_fused_statement> statements;
    struct pm_table<struct pm_fused_key, int> index;
    std::vector<struct pm_fused_pair> equal;
};

/* The statement that a location belongs to; false: to none. */
bool pm_fused_key_of(location_t location, struct pm_fused_key *ret_key, const char **ret_shown);

/* The statements of a function in GIMPLE with SSA names. is_before: also what only the first
 * look is asked for: forms, pairs of equal form, whether something is computed, extents and
 * objects of all references. */
void pm_fused_look_at(function *fun, bool is_before, struct pm_fused_look *ret_look);

#endif
