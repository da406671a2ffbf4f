/* Between fused.cc (what became of lost statements) and fused_look.cc (what the statements of a function do). */
#ifndef PM_GCC_FUSED_H
#define PM_GCC_FUSED_H

#include "map.h"

/* A statement of the source: where it begins, as far as this process knows. */
struct pm_fused_key {
    const struct pm_source_function *function;
    const char *file;
    unsigned line, column;
};

static inline bool operator<(const struct pm_fused_key &a, const struct pm_fused_key &b)
{
    if (a.function != b.function)
        return a.function < b.function;
    if (a.file != b.file)
        return a.file < b.file;
    return a.line != b.line ? a.line < b.line : a.column < b.column;
}

struct pm_fused_reference {
    uint64_t base;       /* what the address is made of besides a constant; 0: none can be told */
    int64_t begin, size; /* bytes from base */
    bool writes, is_vector;
    std::vector<struct pm_access> objects;
};

struct pm_fused_statement {
    struct pm_fused_key key;
    const char *shown; /* the file as the user spelt it */
    int loop;          /* index of its innermost source loop, -1 none */
    int block;         /* where it begins */
    bool computes;     /* more than copies and constants */
    bool calls_memory_function;
    std::vector<struct pm_fused_reference> references;
    std::set<uint64_t> defines, uses; /* SSA names */
    uint64_t form; /* equal for statements that compute the same from the same values */
};

struct pm_fused_pair {
    int a, b;         /* statements of equal form */
    bool is_parallel; /* on different ways to one block; else one comes after the other */
};

struct pm_fused_look {
    std::vector<struct pm_fused_statement> statements;
    std::map<struct pm_fused_key, int> index;
    std::vector<struct pm_fused_pair> equal;
};

/* The statement that a location belongs to; false: to none. */
bool pm_fused_key_of(location_t location, struct pm_fused_key *ret_key, const char **ret_shown);

/* The statements of a function in GIMPLE with SSA names. with_equal: also finds those of equal form. */
void pm_fused_look_at(function *fun, bool with_equal, struct pm_fused_look *ret_look);

#endif
