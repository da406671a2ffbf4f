/* Statements of the source that own no instruction any more, though other code implements them.
 *
 * Two looks at a function, both by place of statement: "before" as the interprocedural passes leave it, "after" when GIMPLE is done. A
 * statement that does something before and has no instruction in the function's RTL is lost. What implements it now is found by
 * the first of these that holds; where there is none, it is taken for removed:
 *
 *   STORES_MERGED, VECTORISED  one store of another statement covers the bytes that it stored: certain. In a loop, where addresses are
 *       rewritten: a vector store (or load) of another statement of that loop touches what it touched; certain when the two had
 *       addresses that differ by a constant, else inferred
 *   LOOP_TO_CALL  a memory function is called at a statement of the same loop that called none before. Certain when the call touches
 *       what the statement did or when it only counted the loop
 *   COMMON_TAIL  a statement of equal form is left on another way that leads to the same block: inferred
 *   COMBINED  a statement of equal form is left on the same way (its value is used), or the values it was made from are now operands of
 *       the statement that used its value, or that statement's instructions hold its operation (addresses, fused multiply and
 *       add): inferred
 *
 * A statement that kept other code of its own but whose store is in another one's wide store counts, too, for the first of these.
 *
 * SSA names are told apart by more than their version, since freed versions are given out again.
 */
#include "map.h"
#include "objects.h"
#include "fused.h"

static struct pm_fused_look before, after;
static bool before_is_known, resolved;
static std::map<int, std::vector<struct pm_fused>>
    found; /* by statement of "after" that has the code */

static const struct pm_fused_statement *find(const struct pm_fused_look *look,
                                             const struct pm_fused_key &key)
{
    auto at = look->index.find(key);
    return at != look->index.end() ? &look->statements[(size_t)at->second] : NULL;
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
static bool had_neighbour(const struct pm_fused_reference *part,
                          const struct pm_fused_statement *other)
{
    const struct pm_fused_statement *was = find(&before, other->key);
    if (was == NULL || part->base == 0)
        return false;
    for (const struct pm_fused_reference &reference : was->references)
        if (reference.base == part->base && reference.writes == part->writes)
            return true;
    return false;
}

static bool touched_before(const struct pm_fused_statement *other,
                           const struct pm_fused_reference *part)
{
    const struct pm_fused_statement *was = find(&before, other->key);
    if (was != NULL)
        for (const struct pm_fused_reference &reference : was->references)
            if (reference.writes == part->writes && share_object(&reference, part))
                return true;
    return false;
}

/* A store that covers others since ever did not take them in: they were dead. */
static bool was_as_wide(const struct pm_fused_reference *wide,
                        const struct pm_fused_statement *other)
{
    const struct pm_fused_statement *was = find(&before, other->key);
    if (was != NULL)
        for (const struct pm_fused_reference &reference : was->references)
            if (reference.base == wide->base && reference.writes == wide->writes &&
                reference.begin <= wide->begin && reference.size >= wide->size)
                return true;
    return false;
}

static bool joined(const struct pm_fused_reference *part, const struct pm_fused_reference *wide,
                   const struct pm_fused_statement *lost, const struct pm_fused_statement *other,
                   struct answer *ret_answer)
{
    if (part->writes != wide->writes)
        return false;
    ret_answer->reason = wide->is_vector ? PM_MAP_VECTORISED : PM_MAP_STORES_MERGED;
    ret_answer->inferred = false;
    if (covers(wide, part))
        return (wide->is_vector || wide->writes) && !was_as_wide(wide, other);
    if (!wide->is_vector || part->is_vector || !same_loop(lost, other) ||
        !share_object(part, wide) || !touched_before(other, part))
        return false;
    ret_answer->inferred = !had_neighbour(part, other);
    return lost->loop >= 0 || !ret_answer->inferred;
}

static bool became_joined(const struct pm_fused_statement *lost,
                          const struct pm_fused_statement *other, struct answer *ret_answer)
{
    for (const struct pm_fused_reference &part : lost->references)
        for (const struct pm_fused_reference &wide : other->references)
            if (joined(&part, &wide, lost, other, ret_answer))
                return true;
    return false;
}

static bool became_call(const struct pm_fused_statement *lost,
                        const struct pm_fused_statement *other, struct answer *ret_answer)
{
    const struct pm_fused_statement *was = find(&before, other->key);
    if (!other->calls_memory_function || was == NULL || was->calls_memory_function ||
        was->loop < 0 || !same_loop(lost, was))
        return false;
    ret_answer->reason = PM_MAP_LOOP_TO_CALL;
    ret_answer->inferred = !lost->references.empty();
    for (const struct pm_fused_reference &part : lost->references)
        for (const struct pm_fused_reference &whole : other->references)
            if (part.writes == whole.writes && share_object(&part, &whole))
                ret_answer->inferred = false;
    return true;
}

static bool has_any(const std::set<uint64_t> &names, const std::set<uint64_t> &of)
{
    for (uint64_t name : names)
        if (of.count(name) != 0)
            return true;
    return false;
}

static bool became_operand(const struct pm_fused_statement *lost,
                           const struct pm_fused_statement *other, struct answer *ret_answer)
{
    *ret_answer = {PM_MAP_COMBINED, true};
    const struct pm_fused_statement *still = find(&after, lost->key);
    if (still != NULL) /* it came as far as RTL: its operation is in the instructions of its user */
        return has_any(still->defines, other->uses);
    const struct pm_fused_statement *user = find(&before, other->key);
    return user != NULL && has_any(lost->defines, user->uses) && has_any(lost->uses, other->uses);
}

static bool is_equal(const struct pm_fused_statement *lost, const struct pm_fused_statement *other,
                     struct answer *ret_answer)
{
    const struct pm_fused_statement *was = find(&before, other->key);
    if (was == NULL)
        return false;
    for (const struct pm_fused_pair &pair : before.equal) {
        const struct pm_fused_statement *a = &before.statements[(size_t)pair.a];
        const struct pm_fused_statement *b = &before.statements[(size_t)pair.b];
        if (!((a == lost && b == was) || (b == lost && a == was)))
            continue;
        *ret_answer = {pair.is_parallel ? PM_MAP_COMMON_TAIL : PM_MAP_COMBINED, true};
        return true;
    }
    return false;
}

typedef bool explanation(const struct pm_fused_statement *, const struct pm_fused_statement *,
                         struct answer *);
static explanation *const explanations[] = {became_joined, became_call, is_equal, became_operand};

/* Should many statements answer, it is the nature of the code (a switch's common value) and says little. */
enum { ANSWERS_MAX = 4 };

static void explain(const struct pm_fused_statement *lost, const std::set<int> &owners,
                    explanation *const *explains, size_t n_explains)
{
    struct pm_fused fused = {lost->key.function,
                             {lost->key.file, lost->shown, lost->key.line, lost->key.column},
                             PM_MAP_COMBINED,
                             true};
    for (size_t i = 0; i < n_explains; i++) {
        int n_answers = 0;
        for (int owner : owners) {
            const struct pm_fused_statement *other = &after.statements[(size_t)owner];
            struct answer answer;
            if (n_answers >= ANSWERS_MAX || !(other->key < lost->key || lost->key < other->key) ||
                !explains[i](lost, other, &answer))
                continue;
            fused.reason = answer.reason;
            fused.inferred = answer.inferred;
            found[owner].push_back(fused);
            n_answers++;
        }
        if (n_answers > 0)
            return;
    }
}

/* --- who has instructions --- */

static bool has_code(const rtx_insn *insn)
{
    return NONDEBUG_INSN_P(insn) && GET_CODE(PATTERN(insn)) != USE &&
           GET_CODE(PATTERN(insn)) != CLOBBER;
}

static void find_owners(std::set<int> *owners)
{
    location_t last = UNKNOWN_LOCATION;
    struct pm_fused_key key;
    const char *shown;
    for (rtx_insn *insn = get_insns(); insn != NULL; insn = NEXT_INSN(insn)) {
        if (!has_code(insn) || INSN_LOCATION(insn) == last ||
            !pm_fused_key_of(INSN_LOCATION(insn), &key, &shown))
            continue;
        last = INSN_LOCATION(insn);
        auto at = after.index.find(key);
        if (at != after.index.end())
            owners->insert(at->second);
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

static void resolve(void)
{
    std::set<int> owners;
    resolved = true;
    find_owners(&owners);
    for (const struct pm_fused_statement &statement : before.statements) {
        auto at = after.index.find(statement.key);
        bool lost = at == after.index.end() || owners.count(at->second) == 0;
        if (lost && does_something(&statement))
            explain(&statement, owners, explanations, ARRAY_SIZE(explanations));
        else if (!lost && has_lost_store(&statement, &after.statements[(size_t)at->second]))
            explain(&statement, owners, explanations, 1);
    }
}

void pm_fused_with(pm_id function, const struct pm_place *place, pm_id,
                   std::vector<struct pm_fused> *out)
{
    if (!before_is_known)
        return;
    if (!resolved)
        resolve();
    for (const auto &entry : found) {
        const struct pm_fused_key &key = after.statements[(size_t)entry.first].key;
        if (key.function->id == function && key.line == place->line && key.file == place->file &&
            (key.column == place->column || key.column == 0))
            out->insert(out->end(), entry.second.begin(), entry.second.end());
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
