/* Nouns of the source's data that are not facts yet, and those of LLVM's global variables. */
#include "nouns.h"

static thread_local std::map<pm_id, pm_described> all;

bool pm_noun_state(pm_id noun)
{
    auto found = all.find(noun);
    if (found == all.end() || found->second.is_stated)
        return found != all.end() && !found->second.is_unknown;
    struct pm_facts *facts = pm_unit_facts();
    pm_described &one = found->second;
    one.is_stated = true;
    if (one.called) {
        one.is_unknown = !pm_fact_called(facts, one.called, one.called->linkage, one.is_library);
        return !one.is_unknown;
    }
    if (one.function)
        one.data.parent = pm_fact_function(facts, one.function);
    else if (one.file)
        one.data.parent = pm_fact_file(facts, one.file, one.data.shown);
    else
        pm_noun_state(one.data.parent);
    pm_fact_data(facts, &one.data);
    return true;
}

void pm_noun_describe(const struct pm_described &noun)
{
    all.emplace(noun.data.id, noun);
}

static thread_local std::map<std::string, pm_id> by_symbol;

pm_id pm_noun_of_symbol(const std::string &symbol)
{
    auto found = by_symbol.find(symbol);
    return found != by_symbol.end() ? found->second : 0;
}

void pm_noun_add_symbol(const std::string &symbol, pm_id noun)
{
    by_symbol[symbol] = noun;
}

const std::map<std::string, pm_id> &pm_noun_symbols(void)
{
    return by_symbol;
}

void pm_noun_forget_symbols(void)
{
    by_symbol.clear();
}
