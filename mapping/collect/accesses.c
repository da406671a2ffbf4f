/* What statements write and read. */
#include "accesses.h"

#include "binaries.h"
#include "collector.h"

#include "format/pm_id.h"
#include "mapping/base/map.h"
#include "mapping/pif/pif.h"

#include <stdlib.h>
#include <string.h>

static int compare_accesses(const void *a, const void *b)
{
    const struct collect_access *x = a, *y = b;
    if (x->statement != y->statement)
        return x->statement < y->statement ? -1 : 1;
    if (x->is_read != y->is_read)
        return x->is_read ? 1 : -1;
    return x->variable < y->variable ? -1 : x->variable > y->variable;
}

static bool is_object(const struct pm_pif_noun *noun)
{
    return noun->kind && (strcmp(noun->kind, "variable") == 0 || strcmp(noun->kind, "array") == 0 ||
                          strcmp(noun->kind, "field") == 0);
}

/* The facts' {statement Executes} -> {variable Writes} and Reads. */
enum pm_status collect_accesses_make(struct collector *c, struct collect_binary *binary)
{
    size_t n = pm_pif_n_mappings(binary->pif), n_found = 0;
    pm_id reads = pm_pif_verb_id("Source", "Reads"), writes = pm_pif_verb_id("Source", "Writes");
    if (binary->accesses->is_made)
        return PM_OK;
    binary->accesses->is_made = true;
    binary->accesses->list = pm_alloc_array(n + 1, sizeof *binary->accesses->list);
    if (!binary->accesses->list)
        return collect_no_memory(c);
    for (size_t i = 0; i < n; i++) {
        struct pm_pif_mapping mapping;
        struct pm_pif_noun from, to;
        pm_pif_get_mapping(binary->pif, i, &mapping);
        bool is_read = mapping.destination.verb == reads;
        if (mapping.source.n_nouns != 1 || mapping.destination.n_nouns != 1 ||
            (!is_read && mapping.destination.verb != writes) ||
            !pm_pif_find_noun(binary->pif, mapping.source.nouns[0], &from) || !from.kind ||
            strcmp(from.kind, "statement") != 0 ||
            !pm_pif_find_noun(binary->pif, mapping.destination.nouns[0], &to) || !is_object(&to))
            continue;
        uint64_t count = is_read ? 0 : pm_map_get(&binary->accesses->n_writers, to.id) + 1;
        if (count && !pm_map_put(&binary->accesses->n_writers, to.id, (uint32_t)count))
            return collect_no_memory(c);
        binary->accesses->list[n_found++] =
            (struct collect_access){pm_map_get(&binary->nouns, from.id), is_read, to.id};
    }
    binary->accesses->n = n_found;
    if (n_found)
        qsort(binary->accesses->list, n_found, sizeof *binary->accesses->list, compare_accesses);
    return PM_OK;
}

static bool is_of_earlier(const void *access, const void *statement)
{
    return ((const struct collect_access *)access)->statement < *(const uint32_t *)statement;
}

size_t collect_first_access(const struct collect_binary *binary, uint32_t statement)
{
    return pm_lower_bound(binary->accesses->list, binary->accesses->n,
                          sizeof *binary->accesses->list, &statement, is_of_earlier);
}
