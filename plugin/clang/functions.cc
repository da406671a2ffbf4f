/* Which function of the source a function of LLVM's code is. */
#include "map.h"
#include "source.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <algorithm>
#include <map>
#include <set>

extern "C" {
#include "../../mapping/base/names.h"
}

using namespace llvm;

static thread_local std::map<std::string, const struct pm_read_function *> by_linkage;

/* --- by the places of the code --- */

/* Functions with the text of their bodies. */
struct body {
    struct pm_place begin;
    struct pm_text_point last;
    const struct pm_read_function *function;
};
static thread_local std::vector<body> bodies;

static bool holds(const body &outer, const char *file, struct pm_text_point point)
{
    return file == outer.begin.file && !pm_text_point_less(point, pm_place_point(&outer.begin)) &&
           !pm_text_point_less(outer.last, point);
}

/* A place of the function's own code; NULL: it has none. */
static const DILocation *own_place(const Function &function)
{
    for (const Instruction &instruction : instructions(function)) {
        const DILocation *place = instruction.getDebugLoc().get();
        if (place && place->getLine() != 0 && place->getColumn() != 0 &&
            !isa<DbgInfoIntrinsic>(instruction)) /* parameters are not in the body */
            return place;
    }
    return NULL;
}

/* The innermost functions whose bodies hold the place: instances of a template have one text. */
static std::vector<const struct pm_read_function *> functions_at(const DILocation *place)
{
    std::vector<const struct pm_read_function *> found;
    const char *file = pm_absolute_path(place->getFilename().str(), place->getDirectory().str());
    struct pm_text_point point = {place->getLine(), place->getColumn()};
    const body *innermost = NULL;
    for (const body &one : bodies) {
        if (!holds(one, file, point))
            continue;
        struct pm_text_point begin = pm_place_point(&one.begin);
        if (!innermost || pm_text_point_less(pm_place_point(&innermost->begin), begin)) {
            innermost = &one;
            found.clear();
        }
        if (pm_text_point_same(pm_place_point(&innermost->begin), begin))
            found.push_back(one.function);
    }
    return found;
}

/* --- lambdas of a file's own --- */

/* Symbols with numbers of lambdas, as the trees number them, by the symbol without them. Which
 * lambda of the code is which of the trees is learnt from symbols that only one function can be
 * of. */
namespace
{
struct numbered {
    std::vector<std::string> lambdas; /* "main::$_0" */
    const struct pm_read_function *function;
};
} // namespace
static thread_local std::multimap<std::string, numbered> by_shape;
static thread_local std::map<std::string, std::string> lambda_of_trees; /* by that of the code */
static thread_local std::set<std::string> numbered_symbols;

bool pm_has_lambda_number(StringRef symbol)
{
    return symbol.find("$_") != StringRef::npos;
}

/* "_ZZ4mainENK$_clEi" of "_ZZ4mainENK4$_10clEi" */
static std::string shape_of(StringRef symbol, std::vector<std::string> *ret_lambdas)
{
    static const char digits[] = "0123456789";
    std::string shape, name = pm_declared_name(symbol.str());
    for (const struct pm_lambda_name &one : pm_numbered_lambdas(name))
        ret_lambdas->push_back(name.substr(one.begin, one.end - one.begin));
    while (!symbol.empty()) {
        size_t at = symbol.find("$_");
        if (at == StringRef::npos)
            return shape + symbol.str();
        size_t end = symbol.find_first_not_of(digits, at + 2);
        shape += symbol.substr(0, at).rtrim(digits).str() + "$_";
        symbol = symbol.substr(end != StringRef::npos ? end : symbol.size());
    }
    return shape;
}

static bool may_be(const numbered &one, const std::vector<std::string> &lambdas)
{
    if (one.lambdas.size() != lambdas.size())
        return false;
    for (size_t i = 0; i < lambdas.size(); i++) {
        auto known = lambda_of_trees.find(lambdas[i]);
        if (known != lambda_of_trees.end() && known->second != one.lambdas[i])
            return false;
    }
    return true;
}

static std::vector<numbered> candidates_of(const Function &function,
                                           const std::vector<std::string> &lambdas,
                                           const std::string &shape)
{
    std::vector<numbered> all, here;
    auto range = by_shape.equal_range(shape);
    for (auto one = range.first; one != range.second; ++one)
        if (may_be(one->second, lambdas))
            all.push_back(one->second);
    const DILocation *place = all.size() > 1 ? own_place(function) : NULL;
    if (!place)
        return all;
    const auto functions = functions_at(place);
    for (const numbered &one : all)
        if (std::count(functions.begin(), functions.end(), one.function))
            here.push_back(one);
    return here;
}

static const struct pm_read_function *learn(const std::vector<std::string> &lambdas,
                                            const numbered &one)
{
    for (size_t i = 0; i < lambdas.size(); i++)
        lambda_of_trees[lambdas[i]] = one.lambdas[i];
    return one.function;
}

/* NULL: several would do, as far as is known yet. */
static const struct pm_read_function *function_with_lambda(const Function &function)
{
    std::vector<std::string> lambdas;
    std::string shape = shape_of(function.getName(), &lambdas);
    const auto candidates = candidates_of(function, lambdas, shape);
    return candidates.size() == 1 ? learn(lambdas, candidates[0]) : NULL;
}

/* Of "main::$_7": 7. */
static unsigned long number_of(const std::string &lambda)
{
    return strtoul(lambda.c_str() + lambda.rfind('_') + 1, NULL, 10);
}

namespace
{
/* Lambdas that only their numbers tell apart, in the code and in the trees. */
struct alike {
    std::vector<std::vector<std::string>> code;
    std::vector<numbered> trees;
};
} // namespace

static void learn_by_order(alike *group)
{
    if (group->code.size() != group->trees.size())
        return; /* some have no code */
    std::sort(group->code.begin(), group->code.end(), [](const auto &a, const auto &b) {
        return number_of(a.back()) < number_of(b.back());
    });
    std::sort(group->trees.begin(), group->trees.end(), [](const numbered &a, const numbered &b) {
        return number_of(a.lambdas.back()) < number_of(b.lambdas.back());
    });
    for (size_t i = 0; i < group->code.size(); i++)
        learn(group->code[i], group->trees[i]);
}

void pm_lambdas_by_order(const Module &module)
{
    std::map<std::vector<const struct pm_read_function *>, alike> groups;
    for (const Function &function : module) {
        std::vector<std::string> lambdas;
        if (function.isDeclaration() || !pm_has_lambda_number(function.getName()) ||
            pm_read_function_of(function))
            continue;
        std::string shape = shape_of(function.getName(), &lambdas);
        if (shape.find("$_cl") == std::string::npos) /* known when the lambdas are */
            continue;
        const auto candidates = candidates_of(function, lambdas, shape);
        std::vector<const struct pm_read_function *> which;
        for (const numbered &one : candidates)
            which.push_back(one.function);
        groups[which].code.push_back(lambdas);
        groups[which].trees = candidates;
    }
    for (auto &group : groups)
        learn_by_order(&group.second);
}

/* --- bodies of OpenMP regions --- */

bool pm_is_outlined(StringRef symbol)
{
    return symbol.find("omp_outlined") != StringRef::npos ||
           symbol.find("omp_task_entry") != StringRef::npos;
}

/* Functions that refer to it. */
static void find_users(const Value *value, std::set<const Function *> *users)
{
    for (const User *user : value->users()) {
        if (const auto *instruction = dyn_cast<Instruction>(user))
            users->insert(instruction->getFunction());
        else if (isa<ConstantExpr>(user))
            find_users(user, users);
    }
}

/* They have no name in the source: they are of the one function that passes them on. */
static const struct pm_read_function *function_with_region(const Function &outlined)
{
    std::set<const Function *> users;
    std::set<const struct pm_read_function *> found;
    find_users(&outlined, &users);
    users.erase(&outlined);
    for (const Function *user : users)
        found.insert(pm_read_function_of(*user));
    if (found.size() == 1 && *found.begin())
        return *found.begin();
    const DILocation *place = own_place(outlined);
    const auto functions = place ? functions_at(place) : std::vector<const pm_read_function *>();
    return functions.size() == 1 ? functions[0] : NULL;
}

/* --- others --- */

/* What runs before main() for objects of the file: no tree is of these functions. */
static bool is_initialiser(StringRef symbol)
{
    return symbol.find("_GLOBAL__") == 0 || symbol.find("__cxx_global_") == 0;
}

static const struct pm_read_function *new_initialiser(const Function &function)
{
    struct pm_place place = {};
    pm_place_set_file(&place, pm_compilation.input, pm_working_folder());
    if (const DISubprogram *described = function.getSubprogram())
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
static const struct pm_read_function *function_by_description(const Function &function)
{
    const DISubprogram *described = function.getSubprogram();
    if (!described)
        return NULL;
    StringRef linkage = described->getLinkageName();
    auto found = by_linkage.find((linkage.empty() ? described->getName() : linkage).str());
    if (found != by_linkage.end())
        return found->second;
    found = by_linkage.find(linkage.substr(0, linkage.find('.')).str()); /* "axpy.avx2.0" */
    return found != by_linkage.end() && found->second->source->place.line == described->getLine()
               ? found->second
               : pm_scopes_find(described);
}

/* Nobody has read the source: there is what debug information says. */
static const struct pm_read_function *function_without_trees(const Function &function)
{
    const DISubprogram *described = function.getSubprogram();
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

const struct pm_read_function *pm_read_function_of(const Function &function)
{
    StringRef symbol = function.getName();
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
    const struct pm_read_function *read;
    if (pm_is_outlined(symbol))
        read = function_with_region(function);
    else if (pm_has_lambda_number(symbol))
        read = function_with_lambda(function);
    else
        read = function_by_description(function);
    if (read)
        by_linkage[symbol.str()] = read;
    return read;
}

bool pm_function_is_read(const std::string &symbol)
{
    return by_linkage.count(symbol) != 0 || numbered_symbols.count(symbol) != 0;
}

void pm_function_add(const std::string &symbol, const struct pm_read_function *function)
{
    if (!pm_has_lambda_number(symbol)) {
        by_linkage[symbol] = function;
        return;
    }
    numbered one = {{}, function};
    std::string shape = shape_of(symbol, &one.lambdas);
    by_shape.insert({shape, one});
    numbered_symbols.insert(symbol);
}

void pm_function_add_body(const struct pm_read_function *function, const struct pm_place *begin,
                          struct pm_text_point last)
{
    bodies.push_back({*begin, last, function});
}
