/* Statements of the source that own no instruction any more, though other code implements them.
 *
 * Two looks at a function, both by place of statement: "before" as the interprocedural passes
 * leave it, "after" when GIMPLE is done. A statement that does something before and has no
 * instruction in the function's RTL is lost. What implements it now is found by the first of
 * these that holds; where there is none, it is taken for removed:
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
 * SSA names are told apart by more than their version, since freed versions are given out again.
 */
#include "map.h"
#include "objects.h"
#include "fused.h"

static struct pm_fused_look before, after;
static bool before_is_known, resolved;

/* What was found: a statement of "after" that has the code, and one that it implements too. In
 * the order of found, by line and owner. */
struct finding {
    unsigned line; /* of the owner */
    int owner;
    struct pm_map_also fused;
};
static std::vector<struct finding> found;

/* A statement of "after" that has instructions in RTL. */
struct owner {
    int index;
    const struct pm_fused_statement *now, *was; /* was: NULL none */
};

/* The owners by what makes them answers to a question, so that not each is asked about each lost
 * statement: by number in owners. */
typedef std::pair<uint64_t, int> by_value;
static struct {
    std::vector<struct owner> list;          /* by index */
    std::vector<int> number_of;              /* by index; -1: no owner */
    std::vector<int> with_vectors;           /* that load or store vectors */
    std::vector<int> with_memory_calls;      /* new ones */
    std::vector<by_value> by_base;           /* of stores and vectors; sorted */
    std::vector<by_value> by_use;            /* the values they use; sorted */
    std::vector<std::vector<int>> equals_of; /* statement of "before" -> pairs of before.equal */
} owners;

static int find(struct pm_fused_look *look, const struct pm_fused_key &key)
{
    const int *at = look->index.find(key);
    return at != NULL ? *at : -1;
}

static bool same_loop(const struct pm_fused_statement *a, const struct pm_fused_statement *b)
{
    return a->loop == b->loop && (a->loop < 0 || a->key.function == b->key.function);
}

/* --- which code it is now --- */

struct answer {
    enum pm_map_reason reason;
    bool inferred;
};

static bool share_object(const struct pm_fused_reference *a, const struct pm_fused_reference *b)
{
    for (const struct pm_access &one : a->objects)
        for (const struct pm_access &other : b->objects)
            if (one.noun == other.noun)
                return true;
    return false;
}

static bool covers(const struct pm_fused_reference *wide, const struct pm_fused_reference *part)
{
    return wide->base == part->base && wide->base != 0 && wide->begin <= part->begin &&
           part->begin + part->size <= wide->begin + wide->size && wide->size > part->size;
}

/* Had the two addresses a constant difference? */
static bool had_neighbour(const struct pm_fused_reference *part, const struct owner *other)
{
    if (other->was == NULL || part->base == 0)
        return false;
    for (const struct pm_fused_reference &reference : other->was->references)
        if (reference.base == part->base && reference.writes == part->writes)
            return true;
    return false;
}

static bool touched_before(const struct owner *other, const struct pm_fused_reference *part)
{
    if (other->was != NULL)
        for (const struct pm_fused_reference &reference : other->was->references)
            if (reference.writes == part->writes && share_object(&reference, part))
                return true;
    return false;
}

/* A store that covers others since ever did not take them in: they were dead. */
static bool was_as_wide(const struct pm_fused_reference *wide, const struct owner *other)
{
    if (other->was != NULL)
        for (const struct pm_fused_reference &reference : other->was->references)
            if (reference.base == wide->base && reference.writes == wide->writes &&
                reference.begin <= wide->begin && reference.size >= wide->size)
                return true;
    return false;
}

static bool joined(const struct pm_fused_reference *part, const struct pm_fused_reference *wide,
                   const struct pm_fused_statement *lost, const struct owner *other,
                   struct answer *ret_answer)
{
    if (part->writes != wide->writes)
        return false;
    ret_answer->reason = wide->is_vector ? PM_MAP_VECTORISED : PM_MAP_STORES_MERGED;
    ret_answer->inferred = false;
    if (covers(wide, part))
        return (wide->is_vector || wide->writes) && !was_as_wide(wide, other);
    if (!wide->is_vector || part->is_vector || !same_loop(lost, other->now) ||
        !share_object(part, wide) || !touched_before(other, part))
        return false;
    ret_answer->inferred = !had_neighbour(part, other);
    return lost->loop >= 0 || !ret_answer->inferred;
}

static bool became_joined(const struct pm_fused_statement *lost, const struct owner *other,
                          struct answer *ret_answer)
{
    for (const struct pm_fused_reference &part : lost->references)
        for (const struct pm_fused_reference &wide : other->now->references)
            if (joined(&part, &wide, lost, other, ret_answer))
                return true;
    return false;
}

static bool became_call(const struct pm_fused_statement *lost, const struct owner *other,
                        struct answer *ret_answer)
{
    if (!same_loop(lost, other->was))
        return false;
    ret_answer->reason = PM_MAP_LOOP_TO_CALL;
    ret_answer->inferred = !lost->references.empty();
    for (const struct pm_fused_reference &part : lost->references)
        for (const struct pm_fused_reference &whole : other->now->references)
            if (part.writes == whole.writes && share_object(&part, &whole))
                ret_answer->inferred = false;
    return true;
}

static bool is_equal(const struct pm_fused_statement *lost, const struct owner *other,
                     struct answer *ret_answer)
{
    for (int number : owners.equals_of[(size_t)(lost - before.statements.data())]) {
        const struct pm_fused_pair *pair = &before.equal[(size_t)number];
        const struct pm_fused_statement *a = &before.statements[(size_t)pair->a];
        const struct pm_fused_statement *b = &before.statements[(size_t)pair->b];
        if (a != other->was && b != other->was)
            continue;
        *ret_answer = {pair->is_parallel ? PM_MAP_COMMON_TAIL : PM_MAP_COMBINED, true};
        return true;
    }
    return false;
}

/* Sorted values. */
static bool has_any(const std::vector<uint64_t> &names, const std::vector<uint64_t> &of)
{
    for (uint64_t name : names)
        if (std::binary_search(of.begin(), of.end(), name))
            return true;
    return false;
}

static bool became_operand(const struct pm_fused_statement *lost, const struct owner *other,
                           struct answer *ret_answer)
{
    *ret_answer = {PM_MAP_COMBINED, true};
    int still = find(&after, lost->key);
    if (still >= 0) /* it came as far as RTL: its operation is in the instructions of its user */
        return has_any(after.statements[(size_t)still].defines, other->now->uses);
    return other->was != NULL && has_any(lost->defines, other->was->uses) &&
           has_any(lost->uses, other->now->uses);
}

/* --- which owners to ask --- */

static void add_with_value(const std::vector<by_value> &sorted, uint64_t value,
                           std::vector<int> *out)
{
    for (auto at = std::lower_bound(sorted.begin(), sorted.end(), by_value(value, 0));
         at != sorted.end() && at->first == value; ++at)
        out->push_back(at->second);
}

static void ask_joined(const struct pm_fused_statement *lost, std::vector<int> *ret_owners)
{
    if (!lost->references.empty())
        *ret_owners = owners.with_vectors;
    for (const struct pm_fused_reference &part : lost->references)
        if (part.base != 0)
            add_with_value(owners.by_base, part.base, ret_owners);
}

static void ask_call(const struct pm_fused_statement *, std::vector<int> *ret_owners)
{
    *ret_owners = owners.with_memory_calls;
}

static void ask_equal(const struct pm_fused_statement *lost, std::vector<int> *ret_owners)
{
    int index = (int)(lost - before.statements.data());
    for (int number : owners.equals_of[(size_t)index]) {
        const struct pm_fused_pair *pair = &before.equal[(size_t)number];
        int other = pair->a == index ? pair->b : pair->a;
        int still = find(&after, before.statements[(size_t)other].key);
        if (still >= 0 && owners.number_of[(size_t)still] >= 0)
            ret_owners->push_back(owners.number_of[(size_t)still]);
    }
}

static void ask_operand(const struct pm_fused_statement *lost, std::vector<int> *ret_owners)
{
    int still = find(&after, lost->key);
    const std::vector<uint64_t> &values =
        still >= 0 ? after.statements[(size_t)still].defines : lost->uses;
    for (uint64_t value : values)
        add_with_value(owners.by_use, value, ret_owners);
}

/* ask: those of which one may be the explanation; the others are none. */
struct explanation {
    void (*ask)(const struct pm_fused_statement *, std::vector<int> *);
    bool (*holds)(const struct pm_fused_statement *, const struct owner *, struct answer *);
};
static const struct explanation explanations[] = {{ask_joined, became_joined},
                                                  {ask_call, became_call},
                                                  {ask_equal, is_equal},
                                                  {ask_operand, became_operand}};

/* Should many statements answer, it is the nature of the code (a switch's common value) and says
 * little. */
enum { ANSWERS_MAX = 4 };

static bool explain_by(const struct explanation *explanation, const struct pm_fused_statement *lost)
{
    static std::vector<int> asked;
    int n_answers = 0;
    asked.clear();
    explanation->ask(lost, &asked);
    std::sort(asked.begin(), asked.end());
    asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
    for (int number : asked) {
        const struct owner *other = &owners.list[(size_t)number];
        struct answer answer;
        if (other->now->key == lost->key || !explanation->holds(lost, other, &answer))
            continue;
        found.push_back({other->now->key.line,
                         other->index,
                         {lost->key.function,
                          {lost->key.file, lost->shown, lost->key.line, lost->key.column},
                          answer.reason,
                          answer.inferred}});
        if (++n_answers == ANSWERS_MAX)
            break;
    }
    return n_answers > 0;
}

static void explain(const struct pm_fused_statement *lost, size_t n_explanations)
{
    for (size_t i = 0; i < n_explanations; i++)
        if (explain_by(&explanations[i], lost))
            return;
}

/* --- who has instructions --- */

static bool has_code(const rtx_insn *insn)
{
    return NONDEBUG_INSN_P(insn) && GET_CODE(PATTERN(insn)) != USE &&
           GET_CODE(PATTERN(insn)) != CLOBBER;
}

/* Sets number_of to 0 or -1. */
static void find_owners(void)
{
    struct pm_table<location_t, int> seen;
    struct pm_fused_key key;
    const char *shown;
    owners.number_of.assign(after.statements.size(), -1);
    for (rtx_insn *insn = get_insns(); insn != NULL; insn = NEXT_INSN(insn)) {
        if (!has_code(insn))
            continue;
        bool is_new;
        seen.add(INSN_LOCATION(insn), 0, &is_new);
        int at =
            is_new && pm_fused_key_of(INSN_LOCATION(insn), &key, &shown) ? find(&after, key) : -1;
        if (at >= 0)
            owners.number_of[(size_t)at] = 0;
    }
}

static void sort_owner(int number)
{
    const struct owner *owner = &owners.list[(size_t)number];
    bool has_vector = false;
    for (const struct pm_fused_reference &reference : owner->now->references) {
        has_vector |= reference.is_vector;
        if ((reference.is_vector || reference.writes) && reference.base != 0)
            owners.by_base.push_back({reference.base, number});
    }
    if (has_vector)
        owners.with_vectors.push_back(number);
    if (owner->now->calls_memory_function && owner->was != NULL &&
        !owner->was->calls_memory_function && owner->was->loop >= 0)
        owners.with_memory_calls.push_back(number);
    for (uint64_t value : owner->now->uses)
        owners.by_use.push_back({value, number});
}

static void sort_owners(void)
{
    owners = {{}, std::move(owners.number_of), {}, {}, {}, {}, {}};
    for (size_t i = 0; i < after.statements.size(); i++) {
        if (owners.number_of[i] < 0)
            continue;
        const struct pm_fused_statement *now = &after.statements[i];
        int was = find(&before, now->key), number = (int)owners.list.size();
        owners.number_of[i] = number;
        owners.list.push_back({(int)i, now, was >= 0 ? &before.statements[(size_t)was] : NULL});
        sort_owner(number);
    }
    std::sort(owners.by_base.begin(), owners.by_base.end());
    std::sort(owners.by_use.begin(), owners.by_use.end());
    owners.equals_of.resize(before.statements.size());
    for (size_t i = 0; i < before.equal.size(); i++) {
        owners.equals_of[(size_t)before.equal[i].a].push_back((int)i);
        owners.equals_of[(size_t)before.equal[i].b].push_back((int)i);
    }
}

/* A statement that kept its code, but whose store is now another's. */
static bool has_lost_store(const struct pm_fused_statement *statement,
                           const struct pm_fused_statement *still)
{
    bool lost = false;
    for (const struct pm_fused_reference &part : statement->references) {
        if (!part.writes)
            continue;
        lost = true;
        for (const struct pm_fused_reference &reference : still->references)
            if (reference.writes)
                return false;
    }
    return lost;
}

static bool does_something(const struct pm_fused_statement *statement)
{
    return statement->computes || !statement->references.empty();
}

static bool owner_before(const struct finding &a, const struct finding &b)
{
    return a.line != b.line ? a.line < b.line : a.owner < b.owner;
}

static void resolve(void)
{
    resolved = true;
    find_owners();
    sort_owners();
    for (const struct pm_fused_statement &statement : before.statements) {
        int at = find(&after, statement.key);
        bool lost = at < 0 || owners.number_of[(size_t)at] < 0;
        if (lost && does_something(&statement))
            explain(&statement, ARRAY_SIZE(explanations));
        else if (!lost && has_lost_store(&statement, &after.statements[(size_t)at]))
            explain(&statement, 1);
    }
    std::stable_sort(found.begin(), found.end(), owner_before);
}

void pm_fused_with(pm_id function, const struct pm_place *place, pm_id,
                   std::vector<struct pm_map_also> *out)
{
    if (!before_is_known)
        return;
    if (!resolved)
        resolve();
    auto entry = std::lower_bound(
        found.begin(), found.end(), place->line,
        [](const struct finding &finding, unsigned line) { return finding.line < line; });
    for (; entry != found.end() && entry->line == place->line; ++entry) {
        const struct pm_fused_key &key = after.statements[(size_t)entry->owner].key;
        if (key.function->id == function && key.file == place->file &&
            (key.column == place->column || key.column == 0))
            out->push_back(entry->fused);
    }
}

/* --- the two passes --- */

static bool gate(function *fun)
{
    before_is_known = false;
    return optimize > 0 && !seen_error() && pm_function_selected(fun->decl);
}

static unsigned look_before(function *fun)
{
    pm_fused_look_at(fun, true, &before);
    before_is_known = true;
    resolved = false;
    found.clear();
    return 0;
}

static bool gate_after(function *)
{
    return before_is_known;
}

static unsigned look_after(function *fun)
{
    pm_fused_look_at(fun, false, &after);
    return 0;
}

void pm_fused_register(const char *plugin_name)
{
    pm_gcc_register_pass(
        plugin_name,
        pm_gcc_gimple_pass("perfmap_fused_before", PROP_cfg | PROP_ssa, gate, look_before),
        "adjust_alignment", 1, PASS_POS_INSERT_AFTER);
    pm_gcc_register_pass(
        plugin_name,
        pm_gcc_gimple_pass("perfmap_fused_after", PROP_cfg | PROP_ssa, gate_after, look_after),
        "optimized", 1, PASS_POS_INSERT_AFTER);
}
