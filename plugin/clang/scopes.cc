/* What places of LLVM's code are in the source. Debug information describes the function that a
 * place lies in, also where it was inlined and is gone: which one that is gets noted while all
 * functions are there. */
#include "map.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

using namespace llvm;

static thread_local std::map<const DISubprogram *, const struct pm_read_function *> by_description;

static thread_local std::map<pm_id, const struct pm_read_function *> by_id;

/* LLVM copies a description with its function. Without full debug information there is no linkage
 * name in it. */
using words = std::tuple<const DIFile *, unsigned, std::string, std::string>;
static thread_local std::map<words, const struct pm_read_function *> by_words; /* NULL: several */

static words words_of(const DISubprogram *described)
{
    return {described->getFile(), described->getLine(), described->getName().str(),
            described->getLinkageName().str()};
}

static void add(const DISubprogram *described, const struct pm_read_function *read)
{
    by_description[described] = read;
    by_id[read->source->id] = read;
    auto entry = by_words.insert({words_of(described), read});
    if (entry.first->second != read)
        entry.first->second = NULL;
}

const struct pm_read_function *pm_scopes_find(const DISubprogram *described)
{
    auto found = by_description.find(described);
    if (found != by_description.end())
        return found->second;
    auto same = by_words.find(words_of(described));
    return same != by_words.end() ? same->second : NULL;
}

const struct pm_read_function *pm_scopes_with_id(pm_id function)
{
    auto found = by_id.find(function);
    return found != by_id.end() ? found->second : NULL;
}

void pm_scopes_begin(const Module &module)
{
    by_description.clear();
    by_id.clear();
    by_words.clear();
    for (const Function &function : module)
        pm_read_function_of(function); /* some are known when others are */
    if (!pm_compilation.is_taken_over)
        pm_lambdas_by_order(module);
    for (const Function &function : module)
        if (const DISubprogram *described = function.getSubprogram())
            if (const struct pm_read_function *read = pm_read_function_of(function))
                add(described, read);
}

static thread_local std::set<const DISubprogram *> inner;

void pm_scopes_inner(const Module &module)
{
    for (const Function &function : module)
        if (function.getSubprogram() && function.hasFnAttribute(PM_ATTRIBUTE_INNER))
            inner.insert(function.getSubprogram());
}

bool pm_is_inner(const DISubprogram *described)
{
    return inner.count(described) != 0;
}

/* --- for another process, and from it --- */

std::vector<struct pm_scope> pm_scopes_list(void)
{
    std::vector<struct pm_scope> list;
    for (const auto &scope : by_description)
        if (scope.second->mapped || scope.second->text)
            list.push_back({scope.first, scope.second, pm_is_inner(scope.first)});
    return list;
}

void pm_scopes_take_over(const std::vector<struct pm_scope> &list)
{
    for (const struct pm_scope &scope : list) {
        add(scope.described, scope.read);
        if (scope.is_inner)
            inner.insert(scope.described);
    }
}

const struct pm_read_function *pm_scopes_taken_over(const DISubprogram *described)
{
    const struct pm_read_function *read = described ? pm_scopes_find(described) : NULL;
    return read && read->mapped ? read : NULL;
}

/* --- places --- */

namespace
{
struct names {
    const char *path, *shown;
};
} // namespace

static thread_local std::unordered_map<const DIFile *, names> known;

/* Each place asks: strings are made once for a file. */
static const names &names_of(const DIFile *file)
{
    auto entry = known.insert({file, {"", ""}});
    if (entry.second && file)
        entry.first->second = {
            pm_absolute_path(file->getFilename().str(), file->getDirectory().str()),
            pm_lasting(file->getFilename().str())};
    return entry.first->second;
}

/* Fortran's symbols are no names. */
static const char *declared_name(const DISubprogram *described, const char *symbol)
{
    StringRef name = described->getName();
    bool is_cxx = strncmp(symbol, "_Z", 2) == 0 || name.empty();
    return pm_lasting(is_cxx ? pm_declared_name(symbol) : name.str());
}

struct pm_read_function *pm_function_of_description(const DISubprogram *described)
{
    struct pm_place place = {names_of(described->getFile()).path,
                             names_of(described->getFile()).shown, described->getLine(), 0};
    StringRef linkage = described->getLinkageName();
    const char *name = pm_lasting((linkage.empty() ? described->getName() : linkage).str());
    struct pm_source_function *source =
        pm_source_function_new(name, declared_name(described, name),
                               described->isLocalToUnit() ? place.file : NULL, &place);
    if (!source)
        pm_no_memory();
    return new pm_read_function{source, false, false, {}, {}, NULL};
}

const struct pm_read_function *pm_read_function_in(const DISubprogram *described)
{
    const struct pm_read_function *read = pm_scopes_find(described);
    if (!read)
        read = pm_function_of_description(described);
    return by_description[described] = read;
}

bool pm_written_place_of(const DILocation *location, struct pm_written_place *ret_place)
{
    const DISubprogram *described =
        location && location->getLine() != 0 ? location->getScope()->getSubprogram() : NULL;
    if (!described)
        return false;
    ret_place->read = pm_read_function_in(described);
    struct pm_place *place = &ret_place->place;
    const struct pm_place *own = &ret_place->read->source->place;
    const names &file = names_of(location->getFile());
    place->file = file.path;
    place->shown = file.path == own->file ? own->shown : file.shown;
    place->line = location->getLine();
    place->column = location->getColumn();
    return true;
}

void pm_scopes_forget(void)
{
    by_description.clear();
    by_id.clear();
    by_words.clear();
    inner.clear();
    known.clear();
}
