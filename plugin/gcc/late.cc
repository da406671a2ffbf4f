/* Late facts: which symbols and loop codes got sleds, and what they implement. Made in the process
 * that emits code, so they also stand in for early facts that never came here (lto1, or objects
 * whose facts were switched off): nouns of the same id are one noun. */

#include "facts.h"

static const char *symbol_name(tree decl)
{
    return pm_linkage_name(decl);
}

static pm_id symbol_noun(struct pm_pif *pif, tree decl)
{
    struct pm_pif_noun noun = {};
    noun.id = pm_symbol_id(decl);
    noun.name = symbol_name(decl);
    noun.level = pm_level_base;
    noun.kind = "symbol";
    pm_pif_noun(pif, &noun);
    return noun.id;
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
    FOR_EACH_ALIAS(node, ref)
    {
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
    struct pm_pif *pif = pm_facts_late();
    pm_id symbol = symbol_noun(pif, function_decl);
    pm_id function = pm_fact_function(pif, pm_source_function_of(function_decl));
    pm_fact_mapping(pif, symbol, PM_BASE_EXECUTES, function, PM_SOURCE_EXECUTES);
    for (const struct pm_source_function *folded : pm_late_folded_into(function_decl))
        pm_fact_mapping(pif, symbol, PM_BASE_EXECUTES, pm_fact_function(pif, folded),
                        PM_SOURCE_EXECUTES);
    pm_copies_emitted(function_decl);
}

/* The loop's noun; from the identity alone when there is no table of the function's loops. */
static pm_id loop_noun(struct pm_pif *pif, const struct pm_loop_identity *identity,
                       std::string *ret_name)
{
    struct pm_source_function *function = pm_source_function_of(identity->function);
    int index = pm_source_loop_with(function, identity->id);
    if (index >= 0) {
        *ret_name = pm_loop_name(&function->loops[(size_t)index]);
        return pm_fact_loop(pif, function, index);
    }
    struct pm_pif_noun noun = {};
    std::string name =
        std::string(identity->place.shown) + ':' + std::to_string(identity->place.line);
    noun.id = identity->id;
    noun.name = name.c_str();
    *ret_name = name;
    noun.level = pm_level_source;
    noun.kind = "loop";
    noun.file = identity->place.shown;
    noun.line = identity->place.line;
    noun.column = identity->place.column;
    noun.parent = pm_fact_function(pif, function);
    pm_pif_noun(pif, &noun);
    return noun.id;
}

/* Folded functions are equal, so their loops are: the first is the first. */
static void map_folded_loops(struct pm_pif *pif, tree decl, pm_id loopcode, pm_id loop)
{
    struct pm_source_function *function = pm_source_function_of(decl);
    int index = pm_source_loop_with(function, loop);
    if (index < 0)
        return;
    for (const struct pm_source_function *folded : pm_late_folded_into(decl)) {
        if (folded->loops.size() == function->loops.size())
            pm_fact_mapping(pif, loopcode, PM_BASE_EXECUTES, pm_fact_loop(pif, folded, index),
                            PM_SOURCE_EXECUTES);
    }
}

pm_id pm_late_source_loop(const struct pm_loop_identity *identity)
{
    std::string name;
    return loop_noun(pm_facts_late(), identity, &name);
}

void pm_late_loop(tree function_decl, const struct pm_loop_identity *identity, unsigned)
{
    struct pm_pif *pif = pm_facts_late();
    std::string loop_name;
    pm_id loop = loop_noun(pif, identity, &loop_name);
    struct pm_pif_noun noun = {};
    noun.parent = symbol_noun(pif, function_decl);
    std::string name = std::string(symbol_name(function_decl)) + '/' + loop_name;
    noun.id = pm_loopcode_id(noun.parent, loop);
    noun.name = name.c_str();
    noun.level = pm_level_base;
    noun.kind = "loopcode";
    pm_pif_noun(pif, &noun);
    pm_fact_mapping(pif, noun.id, PM_BASE_EXECUTES, loop, PM_SOURCE_EXECUTES);
    map_folded_loops(pif, function_decl, noun.id, loop);
}

static void mark_bare(struct pm_pif *pif, pm_id noun, bool has_calls)
{
    pm_pif_noun_attribute(pif, noun, "bare", "yes");
    if (has_calls)
        pm_pif_noun_attribute(pif, noun, "bare calls", "yes");
}

/* The loop's code in the symbol is a noun when another copy there has sleds. */
void pm_late_bare_loop(const struct pm_loop_identity *identity, pm_id loopcode, bool has_calls)
{
    struct pm_pif *pif = pm_facts_late();
    struct pm_pif_noun noun;
    mark_bare(pif, pm_late_source_loop(identity), has_calls);
    if (pm_pif_find_noun(pif, loopcode, &noun))
        mark_bare(pif, loopcode, has_calls);
}

/* Its noun stands for the calls that one statement makes in one symbol; mapped to that
 * statement, and to what is around it. */
pm_id pm_late_call(tree function_decl, tree text_function, const struct pm_place *place)
{
    struct pm_pif *pif = pm_facts_late();
    const struct pm_source_function *function = pm_source_function_of(text_function);
    std::string shown = std::string(place->shown) + ':' + std::to_string(place->line);
    std::string statement_name = shown + ':' + std::to_string(place->column);
    std::string name = std::string(symbol_name(function_decl)) + "/call " + shown;
    struct pm_pif_noun statement = {}, noun = {};
    statement.id = pm_statement_id(function->id, place);
    statement.name = statement_name.c_str();
    statement.level = pm_level_source;
    statement.kind = "statement";
    statement.file = place->shown;
    statement.line = place->line;
    statement.column = place->column;
    int loop = pm_source_loop_at(function, place->file, {place->line, place->column});
    pm_id around = loop >= 0 ? pm_fact_loop(pif, function, loop) : pm_fact_function(pif, function);
    statement.parent = around;
    pm_pif_noun(pif, &statement);
    noun.parent = symbol_noun(pif, function_decl);
    noun.id = pm_loopcode_id(noun.parent, statement.id);
    noun.name = name.c_str();
    noun.level = pm_level_base;
    noun.kind = "callcode";
    pm_pif_noun(pif, &noun);
    pm_fact_mapping(pif, noun.id, PM_BASE_EXECUTES, statement.id, PM_SOURCE_EXECUTES);
    pm_fact_mapping(pif, noun.id, PM_BASE_EXECUTES, around, PM_SOURCE_EXECUTES);
    return noun.id;
}

void pm_late_register(const char *)
{
    /* Everything comes through the two functions above; facts_out.cc writes it. */
}
