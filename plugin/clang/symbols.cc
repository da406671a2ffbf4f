/* Symbols of functions, and what functions are called.
 *
 * A lambda of a file's own has a number in its symbols ("$_0"). Clang gives them in the order in
 * which symbols are made: here it is another one than when it makes code (functions.cc knows which
 * is which). So no name and no id has it: lambdas are called as GCC calls them,
 * "main::{lambda(int)#1}".
 */
#include "source.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/Mangle.h"

#include <map>

using namespace clang;

/* One for all, so that a lambda has one number. */
static ASTNameGenerator &generator(const ASTContext &context)
{
    static thread_local const ASTContext *of;
    static thread_local std::unique_ptr<ASTNameGenerator> names;
    if (of != &context)
        names = std::make_unique<ASTNameGenerator>(const_cast<ASTContext &>(context));
    of = &context;
    return *names;
}

std::vector<std::string> pm_symbols_of(const FunctionDecl *decl)
{
    ASTNameGenerator &names = generator(decl->getASTContext());
    std::vector<std::string> symbols;
    if (isa<CXXConstructorDecl>(decl) || isa<CXXDestructorDecl>(decl))
        symbols = names.getAllManglings(decl);
    if (symbols.empty())
        symbols.push_back(names.getName(decl));
    return symbols;
}

/* The name that stands for all bodies of a constructor or destructor, as GCC calls it: "C4" or "D4"
 * for "C1", "D0". */
static std::string abstract_name(const std::vector<std::string> &symbols)
{
    std::string name = symbols[0];
    for (size_t i = 0; symbols.size() > 1 && i < name.size() && i < symbols[1].size(); i++)
        if (name[i] != symbols[1][i]) {
            name[i] = '4';
            break;
        }
    return name;
}

/* --- lambdas --- */

static const CXXMethodDecl *instance_of_call(const CXXRecordDecl *lambda)
{
    if (const FunctionTemplateDecl *generic = lambda->getDependentLambdaCallOperator()) {
        for (const FunctionDecl *instance : generic->specializations())
            return dyn_cast<CXXMethodDecl>(instance);
        return NULL;
    }
    return lambda->getLambdaCallOperator();
}

/* "main::$_7" of its symbols; "": it has none. */
static std::string numbered_name_of(const CXXRecordDecl *lambda)
{
    static const char call_name[] = "::operator()";
    const CXXMethodDecl *call = instance_of_call(lambda);
    std::string name = call ? pm_declared_name(pm_symbols_of(call)[0]) : "";
    for (const struct pm_lambda_name &one : pm_numbered_lambdas(name))
        if (one.begin == 0 && name.compare(one.end, strlen(call_name), call_name) == 0 &&
            name.find(call_name, one.end + 1) == std::string::npos)
            return name.substr(0, one.end);
    return "";
}

/* "(int, auto:2)" */
static std::string parameters_of(const CXXRecordDecl *lambda)
{
    const FunctionTemplateDecl *generic = lambda->getDependentLambdaCallOperator();
    const FunctionDecl *call =
        generic ? generic->getTemplatedDecl() : lambda->getLambdaCallOperator();
    PrintingPolicy policy(lambda->getASTContext().getPrintingPolicy());
    std::string list;
    unsigned n = 0;
    policy.SuppressTagKeyword = true;
    for (const ParmVarDecl *parameter : call->parameters()) {
        QualType type = parameter->getType();
        n++;
        list += list.empty() ? "" : ", ";
        list += type->isDependentType() ? "auto:" + std::to_string(n)
                                        : type.getCanonicalType().getAsString(policy);
    }
    return "(" + list + ")";
}

/* All of one context are named at once: their numbers are those of the text. */
static void name_lambdas_in(const DeclContext *context,
                            std::map<const CXXRecordDecl *, std::string> *names)
{
    std::map<std::string, unsigned> numbers;
    for (const Decl *decl : context->noload_decls()) {
        const auto *record = dyn_cast<CXXRecordDecl>(decl);
        if (!record || !record->isLambda() || !record->getLambdaCallOperator())
            continue;
        std::string head = "{lambda" + parameters_of(record) + "#";
        (*names)[record] = head + std::to_string(++numbers[head]) + "}";
    }
}

static std::string name_of_lambda(const CXXRecordDecl *lambda)
{
    static thread_local std::map<const CXXRecordDecl *, std::string> names;
    if (!names.count(lambda))
        name_lambdas_in(lambda->getDeclContext(), &names);
    return names[lambda];
}

namespace
{
using lambda_names = std::map<std::string, std::string>; /* by "main::$_0" */
}

static void find_lambdas(const Decl *decl, lambda_names *found, unsigned depth);

static void find_in_argument(const TemplateArgument &argument, lambda_names *found, unsigned depth)
{
    if (argument.getKind() == TemplateArgument::Pack)
        for (const TemplateArgument &one : argument.pack_elements())
            find_in_argument(one, found, depth);
    if (argument.getKind() != TemplateArgument::Type)
        return;
    QualType type = argument.getAsType().getNonReferenceType();
    while (!type->getPointeeType().isNull())
        type = type->getPointeeType();
    if (const CXXRecordDecl *record = type->getAsCXXRecordDecl())
        find_lambdas(record, found, depth + 1);
}

static void find_in_arguments(const TemplateArgumentList *arguments, lambda_names *found,
                              unsigned depth)
{
    for (unsigned i = 0; arguments && i < arguments->size(); i++)
        find_in_argument(arguments->get(i), found, depth);
}

/* Those that are part of a name: it lies in them, or has them as arguments of templates. */
static void find_lambdas(const Decl *decl, lambda_names *found, unsigned depth)
{
    enum { MAX_DEPTH = 8 };
    for (; decl && depth < MAX_DEPTH; decl = dyn_cast_or_null<Decl>(decl->getDeclContext())) {
        if (const auto *function = dyn_cast<FunctionDecl>(decl))
            find_in_arguments(function->getTemplateSpecializationArgs(), found, depth);
        if (const auto *instance = dyn_cast<ClassTemplateSpecializationDecl>(decl))
            find_in_arguments(&instance->getTemplateArgs(), found, depth);
        const auto *record = dyn_cast<CXXRecordDecl>(decl);
        std::string numbered = record && record->isLambda() ? numbered_name_of(record) : "";
        std::string name = !numbered.empty() ? name_of_lambda(record) : "";
        if (!name.empty())
            (*found)[numbered] = name;
    }
}

/* "main::{lambda(int)#1}::operator()(int) const" of "main::$_0::operator()(int) const". */
static std::string with_lambdas(const FunctionDecl *decl, const std::string &demangled)
{
    lambda_names found;
    std::string name;
    size_t at = 0;
    find_lambdas(decl, &found, 0);
    for (const struct pm_lambda_name &one : pm_numbered_lambdas(demangled)) {
        auto lambda = found.find(demangled.substr(one.begin, one.end - one.begin));
        name += demangled.substr(at, one.number - at);
        name += lambda != found.end() ? lambda->second
                                      : demangled.substr(one.number, one.end - one.number);
        at = one.end;
    }
    return name + demangled.substr(at);
}

/* --- names --- */

struct pm_function_names pm_names_of(const FunctionDecl *decl)
{
    struct pm_function_names names;
    const auto symbols = pm_symbols_of(decl);
    /* What asm() names is taken as it is. */
    std::string first = symbols[0][0] == '\1' ? symbols[0].substr(1) : symbols[0];
    names.shown = pm_declared_name(first);
    names.linkage = abstract_name(symbols);
    names.is_abstract = symbols.size() > 1;
    if (names.linkage[0] == '\1')
        names.linkage = first;
    if (pm_has_lambda_number(first))
        names.shown = names.linkage = with_lambdas(decl, names.shown);
    return names;
}
