/* Late facts: which symbols and loop codes got sleds, and what they implement. Made in the process
 * that emits code, so they also stand in for early facts that never came here (lto1, or objects
 * whose facts were switched off): nouns of the same id are one noun. */

#include "facts.h"

static const char *symbol_name(tree decl)
{
    return pm_linkage_name(decl);
}

static pm_id symbol_noun(struct pm_facts *facts, tree decl)
{
    return pm_fact_symbol(facts, pm_symbol_id(decl), symbol_name(decl));
}

/* Functions that -fipa-icf made names of this one: their callers run this code too. An alias that
 * the source declares has no body of its own and is no function of the source. */
std::vector<const struct pm_source_function *> pm_late_folded_into(tree decl)
{
    std::vector<const struct pm_source_function *> folded;
    struct cgraph_node *node = cgraph_node::get(decl);
    struct ipa_ref *ref;
    if (node == NULL)
        return folded;
    FOR_EACH_ALIAS(node, ref) {
        tree other = ref->referring->decl;
        if (TREE_CODE(other) != FUNCTION_DECL || DECL_EXTERNAL(other))
            continue;
        const struct pm_source_function *function = pm_source_function_of(other);
        if (function->scanned && function != pm_source_function_of(decl))
            folded.push_back(function);
    }
    return folded;
}

void pm_late_symbol(tree function_decl)
{
    struct pm_facts *facts = pm_facts_late();
    pm_id symbol = symbol_noun(facts, function_decl);
    pm_id function = pm_fact_function(facts, pm_source_function_of(function_decl));
    pm_fact_mapping(facts, symbol, PM_BASE_EXECUTES, function, PM_SOURCE_EXECUTES);
    for (const struct pm_source_function *folded : pm_late_folded_into(function_decl))
        pm_fact_mapping(facts, symbol, PM_BASE_EXECUTES, pm_fact_function(facts, folded),
                        PM_SOURCE_EXECUTES);
    pm_copies_emitted(function_decl);
}

pm_id pm_late_source_loop(const struct pm_loop_identity *identity)
{
    return pm_fact_loop_of(pm_facts_late(), pm_source_function_of(identity->function), identity->id,
                           &identity->place, NULL);
}

static void late_loop(tree function_decl, const struct pm_loop_identity *identity,
                      pm_id (*add)(struct pm_facts *facts, pm_id symbol, const char *symbol_name,
                                   pm_id loop, const char *loop_name))
{
    struct pm_facts *facts = pm_facts_late();
    struct pm_buf loop_name = PM_BUF_INIT((size_t)1 << 20);
    pm_id loop = pm_fact_loop_of(facts, pm_source_function_of(identity->function), identity->id,
                                 &identity->place, &loop_name);
    if (loop_name.failed)
        pm_no_memory();
    pm_id code = add(facts, symbol_noun(facts, function_decl), symbol_name(function_decl), loop,
                     loop_name.data);
    pm_buf_release(&loop_name);
    /* Folded functions are equal, so their loops are: the first is the first. */
    for (const struct pm_source_function *folded : pm_late_folded_into(function_decl))
        pm_fact_folded_loop(facts, code, pm_source_function_of(function_decl), loop, folded);
}

void pm_late_loop(tree function_decl, const struct pm_loop_identity *identity)
{
    late_loop(function_decl, identity, pm_fact_loopcode);
}

void pm_late_loop_rest(tree function_decl, const struct pm_loop_identity *identity,
                       bool may_be_first)
{
    late_loop(function_decl, identity, pm_fact_loop_rest);
    if (may_be_first)
        pm_fact_uncounted(pm_facts_late(), pm_late_source_loop(identity));
}

/* The loop's code in the symbol is a noun when another copy there has sleds. */
void pm_late_bare_loop(const struct pm_loop_identity *identity, pm_id loopcode, bool has_calls)
{
    struct pm_facts *facts = pm_facts_late();
    struct pm_pif_noun noun;
    pm_fact_bare(facts, pm_late_source_loop(identity), has_calls);
    if (pm_pif_find_noun(facts->pif, loopcode, &noun))
        pm_fact_bare(facts, loopcode, has_calls);
}

pm_id pm_late_call(tree function_decl, tree text_function, const struct pm_place *place)
{
    return pm_fact_callcode(pm_facts_late(), pm_symbol_id(function_decl),
                            symbol_name(function_decl), pm_source_function_of(text_function),
                            place);
}

void pm_late_register(const char *)
{
    /* Everything comes through the two functions above; facts_out.cc writes it. */
}
