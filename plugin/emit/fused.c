/* What became of lost statements: fused.h says by which rules. */
#include "fused_look.h"

#include <stdlib.h>

enum { FIRST_ITEMS = 16 };

/* What was found: a statement of "after" that has the code, and one that it implements too. In
 * the order of found, by line and owner. */
struct finding {
    unsigned line; /* of the owner */
    int owner;
    uint32_t order; /* as it was found */
    struct pm_map_also fused;
};

/* A statement of "after" that has instructions. */
struct owner {
    int index;
    const struct pm_fused_statement *now, *was; /* was: NULL none */
};

struct by_value {
    uint64_t value;
    int owner; /* in list */
};

/* The owners by what makes them answers to a question, so that not each is asked about each lost
 * statement: by number in list. */
struct owners {
    struct owner *list; /* by index */
    int *number_of;     /* by index; -1: no owner */
    int *with_vectors;  /* that load or store vectors */
    int *with_calls;    /* new ones of memory functions */
    uint32_t n, n_with_vectors, n_with_calls;
    uint32_t list_cap, number_cap, vectors_cap, calls_cap;
    struct by_value *by_base; /* of stores and vectors; sorted */
    struct by_value *by_use;  /* the values they use; sorted */
    uint32_t n_by_base, n_by_use, base_cap, use_cap;
    /* Statement of "before" -> pairs of before.equal, ascending: [first_equal[i], first_equal[i +
     * 1]) of equals. */
    uint32_t *first_equal, *equals;
    uint32_t first_cap, equals_cap;
};

struct pm_fused {
    struct pm_fused_look before, after;
    bool before_is_known, resolved, owners_are_known, failed;
    struct owners owners;
    struct finding *found;
    uint32_t n_found, found_cap;
    int *asked; /* owners, by number */
    uint32_t n_asked, asked_cap;
};

struct pm_fused *pm_fused_new(void)
{
    return pm_alloc(sizeof(struct pm_fused));
}

void pm_fused_free(struct pm_fused *fused)
{
    if (!fused)
        return;
    struct owners *owners = &fused->owners;
    void *const blocks[] = {owners->list,        owners->number_of, owners->with_vectors,
                            owners->with_calls,  owners->by_base,   owners->by_use,
                            owners->first_equal, owners->equals,    fused->found,
                            fused->asked};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
    pm_fused_look_release(&fused->before);
    pm_fused_look_release(&fused->after);
    free(fused);
}

bool pm_fused_failed(const struct pm_fused *fused)
{
    return fused->failed || fused->before.failed || fused->after.failed;
}

void pm_fused_clear(struct pm_fused *fused)
{
    fused->before_is_known = fused->owners_are_known = false;
}

struct pm_fused_look *pm_fused_before(struct pm_fused *fused)
{
    pm_fused_look_clear(&fused->before);
    pm_fused_look_clear(&fused->after);
    fused->before_is_known = true;
    fused->resolved = fused->owners_are_known = false;
    fused->n_found = 0;
    return &fused->before;
}

struct pm_fused_look *pm_fused_after(struct pm_fused *fused)
{
    pm_fused_look_clear(&fused->after);
    return &fused->after;
}

bool pm_fused_has_before(const struct pm_fused *fused)
{
    return fused->before_is_known;
}

static bool same_loop(const struct pm_fused_statement *a, const struct pm_fused_statement *b)
{
    return a->loop == b->loop && (a->loop < 0 || a->key.function == b->key.function);
}

static bool same_key(const struct pm_fused_key *a, const struct pm_fused_key *b)
{
    return a->function == b->function && a->file == b->file && a->line == b->line &&
           a->column == b->column;
}

/* A statement's references or values, with their number. */
static const struct pm_fused_reference *references_of(const struct pm_fused_look *look,
                                                      const struct pm_fused_statement *statement,
                                                      uint32_t *ret_n)
{
    *ret_n = statement->references.n;
    return *ret_n != 0 ? look->references + statement->references.first : NULL;
}

static const uint64_t *values_of(const struct pm_fused_look *look,
                                 const struct pm_fused_statement *statement,
                                 enum pm_fused_list list, uint32_t *ret_n)
{
    *ret_n = statement->values[list].n;
    return *ret_n != 0 ? look->values[list] + statement->values[list].first : NULL;
}

/* --- which code it is now --- */

/* A lost statement (of "before"), and one of the owners. */
struct question {
    const struct pm_fused *fused;
    const struct pm_fused_statement *lost;
    const struct owner *other;
};

struct answer {
    enum pm_map_reason reason;
    bool inferred;
};

/* a of "before", b of the look. */
static bool share_object(const struct pm_fused *fused, const struct pm_fused_reference *a,
                         const struct pm_fused_look *look, const struct pm_fused_reference *b)
{
    for (uint32_t i = 0; i < a->n_objects; i++)
        for (uint32_t j = 0; j < b->n_objects; j++)
            if (fused->before.objects[a->first_object + i].noun ==
                look->objects[b->first_object + j].noun)
                return true;
    return false;
}

static bool covers(const struct pm_fused_reference *wide, const struct pm_fused_reference *part)
{
    return wide->base == part->base && wide->base != 0 && wide->begin <= part->begin &&
           part->begin + part->size <= wide->begin + wide->size && wide->size > part->size;
}

static const struct pm_fused_reference *references_before(const struct question *question,
                                                          uint32_t *ret_n)
{
    *ret_n = 0;
    return question->other->was
               ? references_of(&question->fused->before, question->other->was, ret_n)
               : NULL;
}

/* Had the two addresses a constant difference? */
static bool had_neighbour(const struct question *question, const struct pm_fused_reference *part)
{
    uint32_t n;
    const struct pm_fused_reference *references = references_before(question, &n);
    for (uint32_t i = 0; part->base != 0 && i < n; i++)
        if (references[i].base == part->base && references[i].writes == part->writes)
            return true;
    return false;
}

static bool touched_before(const struct question *question, const struct pm_fused_reference *part)
{
    uint32_t n;
    const struct pm_fused_reference *references = references_before(question, &n);
    for (uint32_t i = 0; i < n; i++)
        if (references[i].writes == part->writes &&
            share_object(question->fused, &references[i], &question->fused->before, part))
            return true;
    return false;
}

/* A store that covers others since ever did not take them in: they were dead. */
static bool was_as_wide(const struct question *question, const struct pm_fused_reference *wide)
{
    uint32_t n;
    const struct pm_fused_reference *references = references_before(question, &n);
    for (uint32_t i = 0; i < n; i++)
        if (references[i].base == wide->base && references[i].writes == wide->writes &&
            references[i].begin <= wide->begin && references[i].size >= wide->size)
            return true;
    return false;
}

static bool joined(const struct question *question, const struct pm_fused_reference *part,
                   const struct pm_fused_reference *wide, struct answer *ret_answer)
{
    if (part->writes != wide->writes)
        return false;
    ret_answer->reason = wide->is_vector ? PM_MAP_VECTORISED : PM_MAP_STORES_MERGED;
    ret_answer->inferred = false;
    if (covers(wide, part))
        return (wide->is_vector || wide->writes) && !was_as_wide(question, wide);
    if (!wide->is_vector || part->is_vector || !same_loop(question->lost, question->other->now) ||
        !share_object(question->fused, part, &question->fused->after, wide) ||
        !touched_before(question, part))
        return false;
    ret_answer->inferred = !had_neighbour(question, part);
    return question->lost->loop >= 0 || !ret_answer->inferred;
}

static bool became_joined(const struct question *question, struct answer *ret_answer)
{
    uint32_t n_parts, n_wide;
    const struct pm_fused_reference *parts =
        references_of(&question->fused->before, question->lost, &n_parts);
    const struct pm_fused_reference *wide =
        references_of(&question->fused->after, question->other->now, &n_wide);
    for (uint32_t i = 0; i < n_parts; i++)
        for (uint32_t j = 0; j < n_wide; j++)
            if (joined(question, &parts[i], &wide[j], ret_answer))
                return true;
    return false;
}

static bool became_call(const struct question *question, struct answer *ret_answer)
{
    uint32_t n_parts, n_whole;
    if (!same_loop(question->lost, question->other->was))
        return false;
    const struct pm_fused_reference *parts =
        references_of(&question->fused->before, question->lost, &n_parts);
    const struct pm_fused_reference *whole =
        references_of(&question->fused->after, question->other->now, &n_whole);
    *ret_answer = (struct answer){PM_MAP_LOOP_TO_CALL, n_parts != 0};
    for (uint32_t i = 0; i < n_parts; i++)
        for (uint32_t j = 0; j < n_whole; j++)
            if (parts[i].writes == whole[j].writes &&
                share_object(question->fused, &parts[i], &question->fused->after, &whole[j]))
                ret_answer->inferred = false;
    return true;
}

static bool is_equal(const struct question *question, struct answer *ret_answer)
{
    const struct pm_fused_look *before = &question->fused->before;
    const struct owners *owners = &question->fused->owners;
    size_t index = (size_t)(question->lost - before->statements);
    for (uint32_t i = owners->first_equal[index]; i < owners->first_equal[index + 1]; i++) {
        const struct pm_fused_pair *pair = &before->equal[owners->equals[i]];
        if (&before->statements[pair->a] != question->other->was &&
            &before->statements[pair->b] != question->other->was)
            continue;
        *ret_answer =
            (struct answer){pair->is_parallel ? PM_MAP_COMMON_TAIL : PM_MAP_COMBINED, true};
        return true;
    }
    return false;
}

/* Both sorted. */
static bool has_any(const uint64_t *a, uint32_t n_a, const uint64_t *b, uint32_t n_b)
{
    for (uint32_t i = 0, j = 0; i < n_a && j < n_b;) {
        if (a[i] == b[j])
            return true;
        if (a[i] < b[j])
            i++;
        else
            j++;
    }
    return false;
}

/* Does a statement of one look make, or use, what one of the other uses? */
static bool gives(const struct pm_fused_look *look, const struct pm_fused_statement *statement,
                  enum pm_fused_list list, const struct pm_fused_look *other_look,
                  const struct pm_fused_statement *other)
{
    uint32_t n, n_other;
    const uint64_t *values = values_of(look, statement, list, &n);
    const uint64_t *used = values_of(other_look, other, PM_FUSED_USES, &n_other);
    return has_any(values, n, used, n_other);
}

static bool became_operand(const struct question *question, struct answer *ret_answer)
{
    const struct pm_fused_look *before = &question->fused->before, *after = &question->fused->after;
    const struct owner *other = question->other;
    *ret_answer = (struct answer){PM_MAP_COMBINED, true};
    int still = pm_fused_look_find(after, &question->lost->key);
    if (still >= 0) /* it came to the end: its operation is in the instructions of its user */
        return gives(after, &after->statements[still], PM_FUSED_DEFINES, after, other->now);
    return other->was && gives(before, question->lost, PM_FUSED_DEFINES, before, other->was) &&
           gives(before, question->lost, PM_FUSED_USES, after, other->now);
}

/* --- which owners to ask --- */

static void ask(struct pm_fused *fused, int owner)
{
    int *asked =
        pm_grow_array(fused->asked, fused->n_asked, &fused->asked_cap, FIRST_ITEMS, sizeof *asked);
    if (!asked) {
        fused->failed = true;
        return;
    }
    fused->asked = asked;
    asked[fused->n_asked++] = owner;
}

static void ask_all(struct pm_fused *fused, const int *owners, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        ask(fused, owners[i]);
}

static bool value_before(const void *item, const void *value)
{
    return ((const struct by_value *)item)->value < *(const uint64_t *)value;
}

static void ask_with_value(struct pm_fused *fused, const struct by_value *sorted, uint32_t n,
                           uint64_t value)
{
    size_t at = n != 0 ? pm_lower_bound(sorted, n, sizeof *sorted, &value, value_before) : 0;
    for (; at < n && sorted[at].value == value; at++)
        ask(fused, sorted[at].owner);
}

static void ask_joined(struct pm_fused *fused, const struct pm_fused_statement *lost)
{
    const struct owners *owners = &fused->owners;
    uint32_t n;
    const struct pm_fused_reference *parts = references_of(&fused->before, lost, &n);
    if (n != 0)
        ask_all(fused, owners->with_vectors, owners->n_with_vectors);
    for (uint32_t i = 0; i < n; i++)
        if (parts[i].base != 0)
            ask_with_value(fused, owners->by_base, owners->n_by_base, parts[i].base);
}

static void ask_call(struct pm_fused *fused, const struct pm_fused_statement *lost)
{
    (void)lost;
    ask_all(fused, fused->owners.with_calls, fused->owners.n_with_calls);
}

static void ask_equal(struct pm_fused *fused, const struct pm_fused_statement *lost)
{
    const struct owners *owners = &fused->owners;
    int index = (int)(lost - fused->before.statements);
    for (uint32_t i = owners->first_equal[index]; i < owners->first_equal[index + 1]; i++) {
        const struct pm_fused_pair *pair = &fused->before.equal[owners->equals[i]];
        int other = pair->a == index ? pair->b : pair->a;
        int still = pm_fused_look_find(&fused->after, &fused->before.statements[other].key);
        if (still >= 0 && owners->number_of[still] >= 0)
            ask(fused, owners->number_of[still]);
    }
}

static void ask_operand(struct pm_fused *fused, const struct pm_fused_statement *lost)
{
    int still = pm_fused_look_find(&fused->after, &lost->key);
    uint32_t n;
    const uint64_t *values =
        still >= 0 ? values_of(&fused->after, &fused->after.statements[still], PM_FUSED_DEFINES, &n)
                   : values_of(&fused->before, lost, PM_FUSED_USES, &n);
    for (uint32_t i = 0; i < n; i++)
        ask_with_value(fused, fused->owners.by_use, fused->owners.n_by_use, values[i]);
}

static int compare_numbers(const void *a, const void *b)
{
    int one = *(const int *)a, other = *(const int *)b;
    return one < other ? -1 : one > other;
}

/* Ascending, each once. */
static void sort_asked(struct pm_fused *fused)
{
    uint32_t n = 0;
    if (fused->n_asked > 1)
        qsort(fused->asked, fused->n_asked, sizeof *fused->asked, compare_numbers);
    for (uint32_t i = 0; i < fused->n_asked; i++)
        if (n == 0 || fused->asked[n - 1] != fused->asked[i])
            fused->asked[n++] = fused->asked[i];
    fused->n_asked = n;
}

/* ask: those of which one may be the explanation; the others are none. */
static const struct explanation {
    void (*ask)(struct pm_fused *, const struct pm_fused_statement *);
    bool (*holds)(const struct question *, struct answer *);
} explanations[] = {{ask_joined, became_joined},
                    {ask_call, became_call},
                    {ask_equal, is_equal},
                    {ask_operand, became_operand}};

/* Should many statements answer, it is the nature of the code (a switch's common value) and says
 * little. */
enum { ANSWERS_MAX = 4, N_EXPLANATIONS = sizeof explanations / sizeof *explanations };

static void add_finding(struct pm_fused *fused, const struct question *question,
                        struct answer answer)
{
    struct finding *found =
        pm_grow_array(fused->found, fused->n_found, &fused->found_cap, FIRST_ITEMS, sizeof *found);
    if (!found) {
        fused->failed = true;
        return;
    }
    fused->found = found;
    const struct pm_fused_statement *lost = question->lost;
    found[fused->n_found] =
        (struct finding){question->other->now->key.line,
                         question->other->index,
                         fused->n_found,
                         {lost->key.function,
                          {lost->key.file, lost->shown, lost->key.line, lost->key.column},
                          answer.reason,
                          answer.inferred}};
    fused->n_found++;
}

static bool explain_by(struct pm_fused *fused, const struct explanation *explanation,
                       const struct pm_fused_statement *lost)
{
    int n_answers = 0;
    fused->n_asked = 0;
    explanation->ask(fused, lost);
    sort_asked(fused);
    for (uint32_t i = 0; i < fused->n_asked && n_answers < ANSWERS_MAX; i++) {
        struct question question = {fused, lost, &fused->owners.list[fused->asked[i]]};
        struct answer answer;
        if (same_key(&question.other->now->key, &lost->key) ||
            !explanation->holds(&question, &answer))
            continue;
        add_finding(fused, &question, answer);
        n_answers++;
    }
    return n_answers > 0;
}

static void explain(struct pm_fused *fused, const struct pm_fused_statement *lost,
                    size_t n_explanations)
{
    for (size_t i = 0; i < n_explanations; i++)
        if (explain_by(fused, &explanations[i], lost))
            return;
}

/* --- who has code --- */

/* Room for n items; where memory ends there is none. */
static void *room(struct pm_fused *fused, void *items, uint32_t n, uint32_t *cap, size_t item_bytes)
{
    void *grown = pm_fused_reserve(items, n, cap, item_bytes);
    if (grown || n == 0)
        return grown;
    fused->failed = true;
    return items;
}

bool pm_fused_wants_code(struct pm_fused *fused)
{
    struct owners *owners = &fused->owners;
    uint32_t n = fused->after.n;
    if (!fused->before_is_known || fused->owners_are_known)
        return false;
    fused->owners_are_known = true;
    owners->number_of =
        room(fused, owners->number_of, n, &owners->number_cap, sizeof *owners->number_of);
    for (uint32_t i = 0; !fused->failed && i < n; i++)
        owners->number_of[i] = -1;
    return !fused->failed;
}

void pm_fused_has_code(struct pm_fused *fused, const struct pm_fused_key *key)
{
    int at = pm_fused_look_find(&fused->after, key);
    if (at >= 0)
        fused->owners.number_of[at] = 0;
}

static void reserve_owners(struct pm_fused *fused)
{
    struct owners *o = &fused->owners;
    const struct pm_fused_look *after = &fused->after;
    uint32_t n = after->n;
    o->list = room(fused, o->list, n, &o->list_cap, sizeof *o->list);
    o->with_vectors = room(fused, o->with_vectors, n, &o->vectors_cap, sizeof *o->with_vectors);
    o->with_calls = room(fused, o->with_calls, n, &o->calls_cap, sizeof *o->with_calls);
    o->by_base = room(fused, o->by_base, after->n_references, &o->base_cap, sizeof *o->by_base);
    o->by_use =
        room(fused, o->by_use, after->n_values[PM_FUSED_USES], &o->use_cap, sizeof *o->by_use);
    o->first_equal =
        room(fused, o->first_equal, fused->before.n + 2, &o->first_cap, sizeof *o->first_equal);
    o->equals =
        room(fused, o->equals, fused->before.n_equal * 2, &o->equals_cap, sizeof *o->equals);
    o->n = o->n_with_vectors = o->n_with_calls = o->n_by_base = o->n_by_use = 0;
}

static bool calls_newly(const struct owner *owner)
{
    return owner->now->calls_memory_function && owner->was && !owner->was->calls_memory_function &&
           owner->was->loop >= 0;
}

static void sort_owner(struct pm_fused *fused, int number)
{
    struct owners *owners = &fused->owners;
    const struct owner *owner = &owners->list[number];
    bool has_vector = false;
    uint32_t n;
    const struct pm_fused_reference *references = references_of(&fused->after, owner->now, &n);
    for (uint32_t i = 0; i < n; i++) {
        has_vector |= references[i].is_vector;
        if ((references[i].is_vector || references[i].writes) && references[i].base != 0)
            owners->by_base[owners->n_by_base++] = (struct by_value){references[i].base, number};
    }
    if (has_vector)
        owners->with_vectors[owners->n_with_vectors++] = number;
    if (calls_newly(owner))
        owners->with_calls[owners->n_with_calls++] = number;
    const uint64_t *values = values_of(&fused->after, owner->now, PM_FUSED_USES, &n);
    for (uint32_t i = 0; i < n; i++)
        owners->by_use[owners->n_by_use++] = (struct by_value){values[i], number};
}

static int compare_by_value(const void *a, const void *b)
{
    const struct by_value *one = a, *other = b;
    if (one->value != other->value)
        return one->value < other->value ? -1 : 1;
    return one->owner < other->owner ? -1 : one->owner > other->owner;
}

/* The pairs that each statement of "before" is in. */
static void sort_equals(struct pm_fused *fused)
{
    const struct pm_fused_look *before = &fused->before;
    uint32_t *first = fused->owners.first_equal;
    memset(first, 0, (before->n + 2) * sizeof *first);
    for (uint32_t i = 0; i < before->n_equal; i++) {
        first[before->equal[i].a + 2]++;
        first[before->equal[i].b + 2]++;
    }
    for (uint32_t i = 2; i < before->n + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < before->n_equal; i++) { /* first[k + 1] moves from k's first on */
        fused->owners.equals[first[before->equal[i].a + 1]++] = i;
        fused->owners.equals[first[before->equal[i].b + 1]++] = i;
    }
}

static void sort_owners(struct pm_fused *fused)
{
    struct owners *owners = &fused->owners;
    const struct pm_fused_look *after = &fused->after;
    for (uint32_t i = 0; i < after->n; i++) {
        if (owners->number_of[i] < 0)
            continue;
        const struct pm_fused_statement *now = &after->statements[i];
        int was = pm_fused_look_find(&fused->before, &now->key), number = (int)owners->n++;
        owners->number_of[i] = number;
        owners->list[number] =
            (struct owner){(int)i, now, was >= 0 ? &fused->before.statements[was] : NULL};
        sort_owner(fused, number);
    }
    if (owners->n_by_base > 1)
        qsort(owners->by_base, owners->n_by_base, sizeof *owners->by_base, compare_by_value);
    if (owners->n_by_use > 1)
        qsort(owners->by_use, owners->n_by_use, sizeof *owners->by_use, compare_by_value);
    sort_equals(fused);
}

/* A statement that kept its code, but whose store is now another's. */
static bool has_lost_store(const struct pm_fused *fused, const struct pm_fused_statement *statement,
                           const struct pm_fused_statement *still)
{
    uint32_t n, n_still;
    const struct pm_fused_reference *parts = references_of(&fused->before, statement, &n);
    const struct pm_fused_reference *left = references_of(&fused->after, still, &n_still);
    bool wrote = false;
    for (uint32_t i = 0; i < n; i++)
        wrote |= parts[i].writes;
    for (uint32_t i = 0; wrote && i < n_still; i++)
        if (left[i].writes)
            return false;
    return wrote;
}

static bool does_something(const struct pm_fused_statement *statement)
{
    return statement->computes || statement->references.n != 0;
}

static int compare_findings(const void *a, const void *b)
{
    const struct finding *one = a, *other = b;
    if (one->line != other->line)
        return one->line < other->line ? -1 : 1;
    if (one->owner != other->owner)
        return one->owner < other->owner ? -1 : 1;
    return one->order < other->order ? -1 : one->order > other->order;
}

static void resolve_statement(struct pm_fused *fused, const struct pm_fused_statement *statement)
{
    int at = pm_fused_look_find(&fused->after, &statement->key);
    bool lost = at < 0 || fused->owners.number_of[at] < 0;
    if (lost && does_something(statement))
        explain(fused, statement, N_EXPLANATIONS);
    else if (!lost && has_lost_store(fused, statement, &fused->after.statements[at]))
        explain(fused, statement, 1);
}

static void resolve(struct pm_fused *fused)
{
    fused->resolved = true;
    reserve_owners(fused);
    if (pm_fused_failed(fused))
        return;
    sort_owners(fused);
    for (uint32_t i = 0; i < fused->before.n; i++)
        resolve_statement(fused, &fused->before.statements[i]);
    if (fused->n_found > 1)
        qsort(fused->found, fused->n_found, sizeof *fused->found, compare_findings);
}

static bool line_before(const void *item, const void *line)
{
    return ((const struct finding *)item)->line < *(const unsigned *)line;
}

static bool is_owner(const struct pm_fused_key *key, pm_id function, const struct pm_place *place)
{
    return key->function->id == function && key->file == place->file &&
           (key->column == place->column || key->column == 0);
}

const struct pm_map_also *pm_fused_with(struct pm_fused *fused, pm_id function,
                                        const struct pm_place *place, uint32_t *at)
{
    if (!fused->owners_are_known)
        return NULL;
    if (!fused->resolved)
        resolve(fused);
    if (*at == 0 && fused->n_found != 0)
        *at = (uint32_t)pm_lower_bound(fused->found, fused->n_found, sizeof *fused->found,
                                       &place->line, line_before);
    for (; *at < fused->n_found && fused->found[*at].line == place->line; ++*at) {
        const struct finding *finding = &fused->found[*at];
        if (is_owner(&fused->after.statements[finding->owner].key, function, place)) {
            ++*at;
            return &finding->fused;
        }
    }
    return NULL;
}
