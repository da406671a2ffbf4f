/* Which function of the source a function of LLVM's code is. */
#include "map.h"
#include "source.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#include <map>

extern "C" {
#include "../../mapping/base/names.h"
}

static thread_local std::map<std::string, const struct pm_read_function *> by_linkage;

/* Functions with the text of their bodies, for those whose symbols the trees do not tell. */
struct body {
    struct pm_place begin;
    struct pm_text_point last;
    const struct pm_read_function *function;
};
static thread_local std::vector<body> bodies;

static bool holds(const body &outer, struct pm_text_point point)
{
    return !pm_text_point_less(point, pm_place_point(&outer.begin)) &&
           !pm_text_point_less(outer.last, point);
}

/* The innermost function whose body holds the place. */
static const struct pm_read_function *function_at(const char *file, struct pm_text_point point)
{
    const body *innermost = NULL;
    for (const body &one : bodies)
        if (file == one.begin.file && holds(one, point) &&
            (!innermost || holds(*innermost, pm_place_point(&one.begin))))
            innermost = &one;
    return innermost ? innermost->function : NULL;
}

/* A lambda of a file's own is numbered in the order in which symbols are made ("$_0"), and bodies
 * of OpenMP regions have no name in the source: both are known by the places of their code. */
bool pm_is_known_by_place(llvm::StringRef symbol)
{
    return symbol.find("$_") != llvm::StringRef::npos || pm_is_outlined(symbol);
}

bool pm_is_outlined(llvm::StringRef symbol)
{
    return symbol.find("omp_outlined") != llvm::StringRef::npos ||
           symbol.find("omp_task_entry") != llvm::StringRef::npos;
}

static const struct pm_read_function *function_by_place(const llvm::Function &function)
{
    for (const llvm::Instruction &instruction : llvm::instructions(function)) {
        const llvm::DILocation *place = instruction.getDebugLoc().get();
        if (place && place->getLine() != 0 && place->getColumn() != 0 &&
            !llvm::isa<llvm::DbgInfoIntrinsic>(instruction)) /* parameters are not in the body */
            return function_at(
                pm_absolute_path(place->getFilename().str(), place->getDirectory().str()),
                {place->getLine(), place->getColumn()});
    }
    return NULL;
}

/* What runs before main() for objects of the file: no tree is of these functions. */
static bool is_initialiser(llvm::StringRef symbol)
{
    return symbol.find("_GLOBAL__") == 0 || symbol.find("__cxx_global_") == 0;
}

static const struct pm_read_function *new_initialiser(const llvm::Function &function)
{
    struct pm_place place = {};
    pm_place_set_file(&place, pm_compilation.input, pm_working_folder());
    if (const llvm::DISubprogram *described = function.getSubprogram())
        place.line = described->getLine();
    const char *name = pm_lasting(function.getName().str());
    struct pm_source_function *source = pm_source_function_new(name, name, place.file, &place);
    if (!source)
        pm_no_memory();
    const struct pm_selection_subject subject = {place.shown, place.file, name, name};
    bool selected = pm_selection_fits(pm_compilation.options.selection, &subject);
    return new pm_read_function{source, selected, selected, {}, {}, NULL};
}

/* LLVM's own copy of a function, for callers that pass constants: its description is that of the
 * function. */
static const struct pm_read_function *function_by_description(const llvm::Function &function)
{
    const llvm::DISubprogram *described = function.getSubprogram();
    if (!described)
        return NULL;
    llvm::StringRef linkage = described->getLinkageName();
    auto found = by_linkage.find((linkage.empty() ? described->getName() : linkage).str());
    return found == by_linkage.end() ? pm_scopes_find(described) : found->second;
}

/* Nobody has read the source: there is what debug information says. */
static const struct pm_read_function *function_without_trees(const llvm::Function &function)
{
    const llvm::DISubprogram *described = function.getSubprogram();
    if (!described || described->isArtificial())
        return NULL;
    struct pm_read_function *read = pm_function_of_description(described);
    const struct pm_source_function *source = read->source;
    const struct pm_selection_subject subject = {source->place.shown, source->place.file,
                                                 source->name, source->linkage};
    read->selected = !pm_name_is_of_system(source->place.file) &&
                     pm_selection_fits(pm_compilation.options.selection, &subject);
    read->mapped = read->selected;
    return read;
}

const struct pm_read_function *pm_read_function_of(const llvm::Function &function)
{
    llvm::StringRef symbol = function.getName();
    if (pm_compilation.is_taken_over)
        return pm_scopes_taken_over(function.getSubprogram());
    auto found = by_linkage.find(symbol.str());
    if (found != by_linkage.end())
        return found->second;
    if (function.isDeclaration())
        return NULL;
    if (is_initialiser(symbol))
        return by_linkage[symbol.str()] = new_initialiser(function);
    if (!pm_compilation.has_source)
        return by_linkage[symbol.str()] = function_without_trees(function);
    const struct pm_read_function *read = pm_is_known_by_place(symbol)
                                              ? function_by_place(function)
                                              : function_by_description(function);
    if (read)
        by_linkage[symbol.str()] = read;
    return read;
}

bool pm_function_is_read(const std::string &symbol)
{
    return by_linkage.count(symbol) != 0;
}

void pm_function_add(const std::string &symbol, const struct pm_read_function *function)
{
    by_linkage[symbol] = function;
}

void pm_function_add_body(const struct pm_read_function *function, const struct pm_place *begin,
                          struct pm_text_point last)
{
    bodies.push_back({*begin, last, function});
}
