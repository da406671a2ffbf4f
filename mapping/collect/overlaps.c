/* The facts give a member of a COMMON block the attribute "block bytes": BEGIN-END. Each unit has
 * names of its own for them, and a compiler sees those of one file. */
#include "overlaps.h"

#include "binaries.h"
#include "collector.h"

#include "mapping/base/str.h"
#include "mapping/pif/pif.h"

#include <stdlib.h>
#include <string.h>

struct member {
    pm_id block, noun;
    uint64_t begin, end;
};

struct members {
    struct member *list;
    uint32_t n, cap;
};

struct overlaps {
    struct collect_overlap *list;
    uint32_t n, cap;
};

static int compare(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->noun > y->noun) - (x->noun < y->noun);
}

/* "0-800" */
static bool read_range(const char *text, struct member *ret)
{
    const char *minus = strchr(text, '-');
    return minus &&
           pm_str_to_u64((struct pm_str){text, (size_t)(minus - text)}, UINT64_MAX, &ret->begin) &&
           pm_str_to_u64((struct pm_str){minus + 1, strlen(minus + 1)}, UINT64_MAX, &ret->end);
}

static enum pm_status list_members(struct collector *c, const struct collect_binary *binary,
                                   struct members *members)
{
    size_t n = binary->pif ? pm_pif_n_nouns(binary->pif) : 0;
    for (size_t i = 0; i < n; i++) {
        struct pm_pif_noun noun;
        pm_pif_get_noun(binary->pif, i, &noun);
        const char *bytes =
            noun.parent ? pm_pif_get_attribute(binary->pif, noun.id, "block bytes") : NULL;
        struct member member = {.block = noun.parent, .noun = noun.id};
        if (!bytes || !read_range(bytes, &member))
            continue;
        struct member *list =
            pm_grow_array(members->list, members->n, &members->cap, 64, sizeof *list);
        if (!list)
            return collect_no_memory(c);
        members->list = list;
        list[members->n++] = member;
    }
    if (members->n)
        qsort(members->list, members->n, sizeof *members->list, compare);
    return PM_OK;
}

/* By where they begin: those behind a member overlap it until one begins at its end. */
static enum pm_status add_overlaps(struct collector *c, const struct collect_binary *binary,
                                   const struct members *members, struct overlaps *out)
{
    for (uint32_t i = 0; i < members->n; i++) {
        const struct member *one = &members->list[i];
        for (const struct member *other = one + 1;
             other < members->list + members->n && other->block == one->block &&
             other->begin < one->end;
             other++) {
            struct collect_overlap *list =
                pm_grow_array(out->list, out->n, &out->cap, 64, sizeof *list);
            if (!list)
                return collect_no_memory(c);
            out->list = list;
            list[out->n++] = (struct collect_overlap){one->noun, other->noun, binary};
        }
    }
    return PM_OK;
}

static enum pm_status find_in(struct collector *c, const struct collect_binary *binary,
                              struct overlaps *out)
{
    struct members members = {0};
    enum pm_status status = list_members(c, binary, &members);
    if (!status)
        status = add_overlaps(c, binary, &members, out);
    free(members.list);
    return status;
}

enum pm_status collect_overlaps_find(struct collector *c, struct collect_overlap **ret_list,
                                     size_t *ret_n)
{
    struct overlaps found = {0};
    for (const struct collect_binary *binary = c->binaries->first; binary; binary = binary->next) {
        enum pm_status status = find_in(c, binary, &found);
        if (status != PM_OK) {
            free(found.list);
            return status;
        }
    }
    *ret_list = found.list;
    *ret_n = found.n;
    return PM_OK;
}
