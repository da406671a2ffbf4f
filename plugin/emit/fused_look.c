/* What a look at a function's statements holds, and which of them compute the same. */
#include "fused_look.h"

#include <stdlib.h>

enum { FIRST_ITEMS = 64, EQUAL_MAX = 6, SMALL_MAX = 16, SLOTS_KEPT_MAX = 4096 };

/* --- statements by key --- */

static bool is_key(const struct pm_fused_key *a, const struct pm_fused_key *b)
{
    return a->line == b->line && a->column == b->column && a->function == b->function &&
           a->file == b->file;
}

/* The upper bits of the product are the good ones (Knuth, TAOCP 3, 6.4). */
static uint32_t hash_of(const struct pm_fused_key *key)
{
    uint64_t hash = (uint64_t)(uintptr_t)key->function * 31 + (uint64_t)(uintptr_t)key->file;
    hash = hash * 31 + ((uint64_t)key->line << 16 ^ key->column);
    return (uint32_t)((hash * 0x9e3779b97f4a7c15u) >> 32);
}

static uint32_t *slot_of(const struct pm_fused_look *look, const struct pm_fused_key *key)
{
    uint32_t mask = look->n_slots - 1, at = hash_of(key) & mask;
    while (look->slots[at] != 0 && !is_key(&look->statements[look->slots[at] - 1].key, key))
        at = (at + 1) & mask;
    return &look->slots[at];
}

int pm_fused_look_find(const struct pm_fused_look *look, const struct pm_fused_key *key)
{
    return look->n != 0 && look->n_slots != 0 ? (int)*slot_of(look, key) - 1 : -1;
}

static bool grow_slots(struct pm_fused_look *look)
{
    uint32_t n_slots = look->n_slots != 0 ? look->n_slots * 2 : FIRST_ITEMS * 2;
    uint32_t *slots = n_slots != 0 ? pm_alloc_array(n_slots, sizeof *slots) : NULL;
    if (!slots)
        return false;
    free(look->slots);
    look->slots = slots;
    look->n_slots = n_slots;
    for (uint32_t i = 0; i < look->n; i++)
        *slot_of(look, &look->statements[i].key) = i + 1;
    return true;
}

static bool make_room(struct pm_fused_look *look)
{
    if ((look->n + 1) * 2 > look->n_slots && !grow_slots(look))
        return false;
    struct pm_fused_statement *statements =
        pm_grow_array(look->statements, look->n, &look->cap, FIRST_ITEMS, sizeof *statements);
    if (statements)
        look->statements = statements;
    return statements != NULL;
}

int pm_fused_statement(struct pm_fused_look *look, const struct pm_fused_key *key,
                       const char *shown, int block)
{
    int found = pm_fused_look_find(look, key);
    if (found >= 0)
        return found;
    if (!make_room(look)) {
        look->failed = true;
        return -1;
    }
    *slot_of(look, key) = look->n + 1;
    struct pm_text_point point = {key->line, key->column};
    look->statements[look->n] =
        (struct pm_fused_statement){.key = *key,
                                    .shown = shown,
                                    .block = block,
                                    .loop = pm_source_loop_at(key->function, key->file, point)};
    return (int)look->n++;
}

/* --- what they touch and use, as it comes --- */

struct pm_fused_reference *pm_fused_reference(struct pm_fused_look *look, int statement)
{
    static struct pm_fused_reference spare; /* memory ended */
    struct pm_fused_reference *references = pm_grow_array(
        look->come_references, look->n_references, &look->come_cap, FIRST_ITEMS, sizeof spare);
    if (!references) {
        look->failed = true;
        return &spare;
    }
    look->come_references = references;
    look->statements[statement].references.n++;
    references[look->n_references] = (struct pm_fused_reference){.statement = statement};
    return &references[look->n_references++];
}

uint32_t pm_fused_value(struct pm_fused_look *look, int statement, enum pm_fused_list list,
                        uint64_t value)
{
    uint32_t *n = &look->n_values[list];
    struct pm_fused_value *come = pm_grow_array(
        look->come_values[list], *n, &look->come_values_cap[list], FIRST_ITEMS, sizeof *come);
    if (!come) {
        look->failed = true;
        return 0;
    }
    look->come_values[list] = come;
    come[(*n)++] = (struct pm_fused_value){value, statement};
    return ++look->statements[statement].values[list].n;
}

void pm_fused_objects(struct pm_fused_look *look, struct pm_fused_reference *reference,
                      const struct pm_access *objects, size_t n)
{
    if (n == 0)
        return;
    struct pm_access *all = pm_fused_reserve(look->objects, look->n_objects + (uint32_t)n,
                                             &look->objects_cap, sizeof *all);
    if (!all) {
        look->failed = true;
        return;
    }
    look->objects = all;
    memcpy(all + look->n_objects, objects, n * sizeof *objects);
    reference->first_object = look->n_objects;
    reference->n_objects = (uint32_t)n;
    look->n_objects += (uint32_t)n;
}

/* Where GIMPLE is at its end, only those of vectors and around memory functions are asked for. */
bool pm_fused_wants_objects(const struct pm_fused_look *look, bool is_before,
                            const struct pm_fused_reference *reference)
{
    return is_before || reference->is_vector ||
           look->statements[reference->statement].calls_memory_function;
}

/* --- by statement --- */

static int compare_values(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return one < other ? -1 : one > other;
}

/* Most lists have a few values. */
static void sort_values(uint64_t *values, uint32_t n)
{
    if (n > SMALL_MAX) {
        qsort(values, n, sizeof *values, compare_values);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        uint64_t value = values[i];
        uint32_t at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

/* Sorted, each once; returns how many are left. */
static uint32_t unique_values(uint64_t *values, uint32_t n)
{
    uint32_t left = 0;
    sort_values(values, n);
    for (uint32_t i = 0; i < n; i++)
        if (left == 0 || values[left - 1] != values[i])
            values[left++] = values[i];
    return left;
}

static bool spread_values(struct pm_fused_look *look, enum pm_fused_list list)
{
    uint32_t n = look->n_values[list], first = 0;
    uint64_t *values =
        pm_fused_reserve(look->values[list], n, &look->values_cap[list], sizeof *values);
    if (!values)
        return n == 0;
    look->values[list] = values;
    for (uint32_t i = 0; i < look->n; i++) {
        struct pm_fused_span *span = &look->statements[i].values[list];
        span->first = first;
        first += span->n;
        span->n = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct pm_fused_value *come = &look->come_values[list][i];
        struct pm_fused_span *span = &look->statements[come->statement].values[list];
        values[span->first + span->n++] = come->value;
    }
    for (uint32_t i = 0; i < look->n; i++) {
        struct pm_fused_span *span = &look->statements[i].values[list];
        span->n = unique_values(values + span->first, span->n);
    }
    return true;
}

static bool spread_references(struct pm_fused_look *look)
{
    uint32_t n = look->n_references, first = 0;
    struct pm_fused_reference *references =
        pm_fused_reserve(look->references, n, &look->references_cap, sizeof *references);
    if (!references)
        return n == 0;
    look->references = references;
    for (uint32_t i = 0; i < look->n; i++) {
        struct pm_fused_span *span = &look->statements[i].references;
        span->first = first;
        first += span->n;
        span->n = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct pm_fused_span *span =
            &look->statements[look->come_references[i].statement].references;
        references[span->first + span->n++] = look->come_references[i];
    }
    return true;
}

void pm_fused_look_done(struct pm_fused_look *look)
{
    bool done = !look->failed && spread_references(look);
    for (enum pm_fused_list list = 0; done && list < PM_FUSED_N_LISTS; list++)
        done = spread_values(look, list);
    if (done)
        return;
    look->failed = true;
    look->n = look->n_references = 0; /* no list is to be read */
}

void pm_fused_look_clear(struct pm_fused_look *look)
{
    if (look->n_slots > SLOTS_KEPT_MAX) {
        free(look->slots);
        look->slots = NULL;
        look->n_slots = 0;
    } else if (look->n != 0 || look->failed) {
        memset(look->slots, 0, look->n_slots * sizeof *look->slots);
    }
    look->n = look->n_references = look->n_objects = look->n_equal = 0;
    memset(look->n_values, 0, sizeof look->n_values);
}

void pm_fused_look_release(struct pm_fused_look *look)
{
    free(look->statements);
    free(look->slots);
    free(look->come_references);
    free(look->references);
    for (int list = 0; list < PM_FUSED_N_LISTS; list++) {
        free(look->come_values[list]);
        free(look->values[list]);
    }
    free(look->objects);
    free(look->equal);
}

/* --- equal statements --- */

struct form {
    uint64_t form;
    int statement;
};

static int compare_forms(const void *a, const void *b)
{
    const struct form *one = a, *other = b;
    if (one->form != other->form)
        return one->form < other->form ? -1 : 1;
    return one->statement < other->statement ? -1 : one->statement > other->statement;
}

static bool writes_memory(const struct pm_fused_look *look, int statement)
{
    const struct pm_fused_span *span = &look->statements[statement].references;
    for (uint32_t i = 0; i < span->n; i++)
        if (look->references[span->first + i].writes)
            return true;
    return false;
}

static void add_pair(struct pm_fused_look *look, struct pm_fused_pair pair)
{
    struct pm_fused_pair *equal =
        pm_grow_array(look->equal, look->n_equal, &look->equal_cap, FIRST_ITEMS, sizeof *equal);
    if (!equal) {
        look->failed = true;
        return;
    }
    look->equal = equal;
    equal[look->n_equal++] = pair;
}

static void pair_up(struct pm_fused_look *look, const struct form *forms, uint32_t n,
                    pm_fused_relate *relate, void *context)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n; j++) {
            int a = forms[i].statement, b = forms[j].statement;
            enum pm_fused_relation relation =
                relate(context, look->statements[a].block, look->statements[b].block);
            bool counts =
                relation == PM_FUSED_IN_ROW ? !writes_memory(look, a) : relation == PM_FUSED_MEET;
            if (counts)
                add_pair(look, (struct pm_fused_pair){a, b, relation == PM_FUSED_MEET});
        }
}

void pm_fused_find_equal(struct pm_fused_look *look, pm_fused_relate *relate, void *context)
{
    uint32_t n = 0;
    struct form *forms = pm_alloc_array(look->n + 1, sizeof *forms);
    if (!forms) {
        look->failed = true;
        return;
    }
    for (uint32_t i = 0; i < look->n; i++)
        if (look->statements[i].form != 0)
            forms[n++] = (struct form){look->statements[i].form, (int)i};
    qsort(forms, n, sizeof *forms, compare_forms);
    for (uint32_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && forms[end].form == forms[begin].form;)
            end++;
        if (end - begin <= EQUAL_MAX)
            pair_up(look, forms + begin, end - begin, relate, context);
    }
    free(forms);
}
