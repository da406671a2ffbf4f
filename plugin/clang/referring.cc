/* What pointers of the source refer to: which variables callers pass to which parameter, which
 * addresses are put into which pointers and fields. plugin/gcc/facts_references.cc says what for.
 */
#include "reader.h"

#include "clang/AST/DeclCXX.h"

extern "C" {
#include "../emit/arguments.h"
}

using namespace clang;

static void add(struct pm_text_reader *reader, pm_id pointer, pm_id object)
{
    if (pointer != 0 && object != 0 && pointer != object)
        reader->text->referrals.push_back({pointer, object});
}

/* --- functions that pointers hold --- */

/* before: parameters of the pointer that come before those of the function. */
static void hold_function(struct pm_text_reader *reader, pm_id pointer, const FunctionDecl *callee,
                          unsigned before)
{
    unsigned n_own = pm_has_this(callee) ? 1 : 0;
    before -= before != 0 && n_own != 0 ? 1 : 0;
    for (unsigned i = 0; pointer != 0 && i < callee->getNumParams(); i++)
        if (pm_refers(callee->getParamDecl(i)->getType()) ||
            callee->getParamDecl(i)->getType()->isArrayType())
            add(reader, pm_noun_of_parameter(callee, i + n_own),
                pm_id_of_pointed(pointer, i + n_own + before));
}

static unsigned n_parameters(QualType type)
{
    enum { STD_FUNCTION_MAX = 6 };
    if (pm_is_std_function_type(type))
        return STD_FUNCTION_MAX;
    const auto *pointer = type->getAs<PointerType>();
    const auto *function = pointer ? pointer->getPointeeType()->getAs<FunctionProtoType>() : NULL;
    return function ? function->getNumParams() : 0;
}

/* What another pointer of the type holds. */
static void hold_pointer(struct pm_text_reader *reader, pm_id pointer, pm_id other, QualType type)
{
    for (unsigned i = 0; i < n_parameters(type); i++)
        add(reader, pm_id_of_pointed(other, i), pm_id_of_pointed(pointer, i));
}

static void find_functions(const Expr *e, std::vector<const FunctionDecl *> *out)
{
    e = pm_inner(e->IgnoreParenCasts())->IgnoreParenCasts();
    const auto *made = dyn_cast<CXXConstructExpr>(e);
    if (made && made->getNumArgs() > 0 && pm_is_std_function_type(made->getType())) {
        find_functions(made->getArg(0), out);
        pm_call_operators(pm_inner(made->getArg(0))->getType(), out);
    }
    if (const auto *unary = dyn_cast<UnaryOperator>(e))
        e = unary->getOpcode() == UO_AddrOf ? unary->getSubExpr()->IgnoreParenCasts() : e;
    if (const auto *choice = dyn_cast<AbstractConditionalOperator>(e)) {
        find_functions(choice->getTrueExpr(), out);
        find_functions(choice->getFalseExpr(), out);
    }
    if (const auto *name = dyn_cast<DeclRefExpr>(e))
        if (const auto *callee = dyn_cast<FunctionDecl>(name->getDecl()))
            out->push_back(callee);
}

/* --- what a value refers to --- */

static const FunctionDecl *returning_function(const Expr *value)
{
    const auto *call = dyn_cast<CallExpr>(pm_inner(pm_inner(value)->IgnoreParenCasts()));
    const FunctionDecl *callee = call ? call->getDirectCallee() : NULL;
    if (callee && pm_result_is_remembered(pm_name_in_c(callee)))
        return callee;
    bool is_own = callee && callee->getBuiltinID() == 0 && !pm_is_of_system(callee);
    return is_own && pm_takes_addresses(callee->getReturnType()) ? callee : NULL;
}

/* Does an address lead to the object of the method that is being read? */
static bool leads_to_this(const Expr *value)
{
    for (const Expr *e = value;;) {
        e = pm_inner(e);
        if (isa<CXXThisExpr>(e))
            return true;
        if (const auto *member = dyn_cast<MemberExpr>(e))
            e = member->getBase();
        else if (const auto *cast = dyn_cast<CastExpr>(e))
            e = cast->getSubExpr();
        else if (const auto *unary = dyn_cast<UnaryOperator>(e))
            e = unary->getSubExpr();
        else
            return false;
    }
}

static std::vector<struct pm_access> objects_behind(struct pm_text_reader *reader,
                                                    const Expr *value)
{
    struct pm_gathered objects = {};
    pm_objects_of_any(reader, value, 0, &objects);
    pm_objects_kept(reader, value, &objects);
    if (const FunctionDecl *callee = returning_function(value))
        objects.accesses.push_back({pm_id_of_returned(pm_id_of_callee(callee)), 0});
    if (isa<VAArgExpr>(pm_inner(pm_inner(value)->IgnoreParenCasts())))
        objects.accesses.push_back({pm_id_of_variable_arguments(reader->function->id), 0});
    if (objects.accesses.empty() && leads_to_this(value))
        objects.accesses.push_back({pm_id_of_parameter(reader->function->id, 0), 0});
    return objects.accesses;
}

void pm_refer(struct pm_text_reader *reader, pm_id pointer, const Expr *value)
{
    std::vector<const FunctionDecl *> functions;
    for (const struct pm_access &object : objects_behind(reader, value)) {
        add(reader, pointer, object.noun);
        hold_pointer(reader, pointer, object.noun, value->getType());
    }
    find_functions(value, &functions);
    for (const FunctionDecl *callee : functions)
        hold_function(reader, pointer, callee, pm_is_std_function_type(value->getType()) ? 1 : 0);
}

void pm_refer_assigned(struct pm_text_reader *reader, const Expr *to, const Expr *value)
{
    struct pm_gathered holders = {};
    if (!value->getType()->isPointerType())
        return;
    pm_objects_of_lvalue(reader, to, 0, &holders);
    bool is_known = !holders.accesses.empty();
    pm_refer(reader, is_known ? holders.accesses[0].noun : pm_id_of_elsewhere(), value);
}

static bool holds_address(QualType type)
{
    return pm_is_pointer(type) || pm_type_refers(type) || pm_is_std_function_type(type) ||
           (type->isRecordType() && pm_is_of_system(type->getAsRecordDecl()));
}

/* n_left: large tables say no more than their beginning. */
static void refer_initial(struct pm_text_reader *reader, pm_id noun, const Expr *value,
                          unsigned *n_left)
{
    const auto *list = dyn_cast<InitListExpr>(pm_inner(value));
    if (*n_left == 0)
        return;
    (*n_left)--;
    if (!list) {
        if (holds_address(value->getType()) || value->isGLValue())
            pm_refer(reader, noun, value);
        return;
    }
    const RecordDecl *record = list->getType()->getAsRecordDecl();
    std::vector<pm_id> fields;
    if (record)
        for (const FieldDecl *field : record->fields())
            fields.push_back(holds_address(field->getType()) ? pm_noun_of_field(field) : 0);
    for (unsigned i = 0; i < list->getNumInits(); i++) {
        pm_id field = i < fields.size() ? fields[i] : 0;
        refer_initial(reader, field != 0 ? field : noun, list->getInit(i), n_left);
    }
}

/* "double *const rows[] = {a, b}", "struct job job = {.data = u}" */
void pm_refer_initial(struct pm_text_reader *reader, pm_id noun, const Expr *value)
{
    unsigned n_left = 1000;
    refer_initial(reader, noun, value, &n_left);
}

void pm_refer_tables(struct pm_text_reader *reader)
{
    for (;;) {
        std::vector<const VarDecl *> named = pm_named_variables();
        if (named.empty())
            return;
        for (const VarDecl *variable : named) {
            QualType type = variable->getType();
            while (const ArrayType *array = variable->getASTContext().getAsArrayType(type))
                type = array->getElementType();
            if (type->isPointerType() || type->isRecordType())
                pm_refer_initial(reader, pm_noun_of_variable(variable, NULL), variable->getInit());
        }
    }
}

/* --- calls --- */

static std::vector<pm_id> parameters_of(struct pm_text_reader *reader, const struct pm_called *call,
                                        unsigned index)
{
    std::vector<pm_id> parameters;
    const FunctionDecl *callee = call->callee;
    const auto *method = dyn_cast_or_null<CXXMethodDecl>(callee);
    if (callee && pm_calls_std_function(callee)) {
        for (const struct pm_access &holder : objects_behind(reader, call->arguments[0]))
            parameters.push_back(pm_id_of_pointed(holder.noun, index));
    } else if (method && method->isVirtual()) {
        parameters.push_back(pm_id_of_parameter(pm_id_of_callee(method), index));
    } else if (callee && callee->isVariadic() && !pm_is_of_system(callee) &&
               index >= callee->getNumParams() + (pm_has_this(callee) ? 1 : 0)) {
        parameters.push_back(pm_id_of_variable_arguments(pm_id_of_callee(callee)));
    } else if (callee) {
        if (callee->getBuiltinID() == 0)
            parameters.push_back(pm_noun_of_parameter(callee, index));
    } else if (const auto *through = dyn_cast<CallExpr>(call->e)) {
        for (const struct pm_access &holder : objects_behind(reader, through->getCallee()))
            parameters.push_back(pm_id_of_pointed(holder.noun, index));
    }
    return parameters;
}

/* What the library is passed for nothing but the functions that it calls: void *, in C++'s
 * algorithms iterators and pointers. */
static bool is_passed_on(const struct pm_text_reader *reader, const Expr *argument)
{
    QualType type = argument->getType();
    if (!reader->is_cxx)
        return type->isVoidPointerType();
    const Expr *inner = pm_inner(argument);
    return !type->isFunctionPointerType() &&
           (pm_refers(type) || (inner->isGLValue() && pm_is_container_type(type)));
}

static bool reaches(const struct pm_text_reader *reader, const char *linkage, unsigned argument,
                    unsigned parameter, const Expr *value)
{
    enum pm_passing passing = pm_passes_argument(linkage, argument, parameter);
    return passing == PM_PASSES || (passing == PM_PASSES_UNKNOWN && is_passed_on(reader, value));
}

/* "qsort(keys, n, size, compare)", "std::sort(v.begin(), v.end(), compare)". Elements that are
 * passed by value are what the function works for all the same. */
static void refer_called_back(struct pm_text_reader *reader, const struct pm_called *call,
                              const FunctionDecl *called)
{
    const char *linkage = pm_lasting(call->callee->getNameAsString());
    unsigned before = pm_has_this(called) ? 1 : 0;
    for (unsigned parameter = 0; parameter < called->getNumParams(); parameter++) {
        QualType type = called->getParamDecl(parameter)->getType();
        bool is_value = !pm_refers(type);
        if (is_value && !before)
            continue;
        pm_id noun = is_value ? pm_noun_of_parameter(called, 0)
                              : pm_noun_of_parameter(called, parameter + before);
        for (unsigned i = 0; i < call->arguments.size(); i++)
            if (call->arguments[i] && reaches(reader, linkage, i, parameter, call->arguments[i]))
                pm_refer(reader, noun, call->arguments[i]);
    }
}

/* "std::swap(a, b)" of pointers, "a = std::exchange(b, c)": each refers to what the other does. */
static void refer_exchanged(struct pm_text_reader *reader, const struct pm_called *call)
{
    const IdentifierInfo *name = call->callee->getIdentifier();
    bool swaps = name && name->isStr("swap");
    if (!swaps && !(name && name->isStr("exchange")))
        return;
    if (call->arguments.size() != 2 || !call->arguments[0] || !call->arguments[1])
        return;
    pm_refer_assigned(reader, call->arguments[0], call->arguments[1]);
    if (swaps)
        pm_refer_assigned(reader, call->arguments[1], call->arguments[0]);
}

/* "get(&r)", "get(r)" of a reference: what the function makes its parameter's target lead into, r
 * leads into. */
static void refer_pointer(struct pm_text_reader *reader, const Expr *argument, pm_id parameter)
{
    const Expr *e = pm_inner(argument->IgnoreParenCasts());
    const auto *address = dyn_cast<UnaryOperator>(e);
    if (address && address->getOpcode() == UO_AddrOf)
        e = pm_inner(address->getSubExpr());
    if (!e->isGLValue() || !e->getType()->isPointerType() ||
        (!address && !pm_inner(argument)->isGLValue()))
        return;
    struct pm_gathered holders = {};
    pm_objects_of_lvalue(reader, e, 0, &holders);
    if (!holders.accesses.empty())
        add(reader, holders.accesses[0].noun, parameter);
}

/* "strtol(text, &end, 10)", "strtok(line, " ")" */
static void refer_by_library(struct pm_text_reader *reader, const struct pm_called *call)
{
    unsigned pointer, into;
    const char *name = pm_name_in_c(call->callee);
    if (pm_result_is_remembered(name) && !call->arguments.empty())
        pm_refer(reader, pm_id_of_returned(pm_id_of_callee(call->callee)), call->arguments[0]);
    if (!pm_fills_pointer(name, &pointer, &into) || pointer >= call->arguments.size() ||
        into >= call->arguments.size())
        return;
    struct pm_gathered holders = {};
    pm_objects_of_pointer(reader, call->arguments[pointer], 0, &holders);
    if (!holders.accesses.empty())
        pm_refer(reader, holders.accesses[0].noun, call->arguments[into]);
}

void pm_refer_arguments(struct pm_text_reader *reader, const struct pm_called *call)
{
    bool is_of_system = call->callee && pm_is_of_system(call->callee);
    for (unsigned i = 0; i < call->arguments.size(); i++) {
        const Expr *argument = call->arguments[i];
        std::vector<const FunctionDecl *> functions;
        if (!argument)
            continue;
        QualType declared = pm_type_of_parameter(call, i);
        bool is_address = argument->getType()->isPointerType() || (call->is_method && i == 0) ||
                          (!declared.isNull() && pm_takes_addresses(declared));
        if (is_address)
            for (pm_id parameter : parameters_of(reader, call, i))
                if (parameter != 0) {
                    pm_refer(reader, parameter, argument);
                    refer_pointer(reader, argument, parameter);
                }
        if (is_of_system)
            find_functions(argument, &functions);
        if (is_of_system && reader->is_cxx)
            pm_call_operators(pm_inner(argument)->getType(), &functions);
        for (const FunctionDecl *called : functions)
            refer_called_back(reader, call, called);
    }
    if (call->callee)
        refer_by_library(reader, call);
    if (is_of_system)
        refer_exchanged(reader, call);
    pm_refer_kept(reader, call);
}

/* --- parameters --- */

/* Who calls a method of a base class may mean this one. */
static void refer_to_overridden(struct pm_text_reader *reader, const CXXMethodDecl *method,
                                const CXXMethodDecl *of)
{
    for (const CXXMethodDecl *other : of->overridden_methods()) {
        for (unsigned i = 0; i < method->getNumParams() + 1; i++)
            add(reader, pm_id_of_parameter(reader->function->id, i),
                pm_id_of_parameter(pm_id_of_callee(other), i));
        refer_to_overridden(reader, method, other);
    }
}

/* Parameters of functions that no other unit calls, or that each has itself, are known by name. */
static bool is_known_by_name(const FunctionDecl *decl)
{
    const auto *method = dyn_cast<CXXMethodDecl>(decl);
    if (method && method->isVirtual())
        return false;
    return !decl->isExternallyVisible() ||
           (decl->getASTContext().getLangOpts().CPlusPlus &&
            decl->getASTContext().GetGVALinkageForFunction(decl) != GVA_StrongExternal);
}

void pm_refer_parameters(struct pm_text_reader *reader, const FunctionDecl *decl)
{
    unsigned before = pm_has_this(decl) ? 1 : 0;
    if (const auto *method = dyn_cast<CXXMethodDecl>(decl))
        refer_to_overridden(reader, method, method);
    for (unsigned i = 0; !is_known_by_name(decl) && i < decl->getNumParams(); i++) {
        const ParmVarDecl *parameter = decl->getParamDecl(i);
        if (!pm_takes_addresses(parameter->getType()))
            continue;
        pm_id place = pm_id_of_parameter(reader->function->id, i + before);
        pm_id noun = pm_noun_of_variable(parameter, reader->function);
        add(reader, noun, place);
        hold_pointer(reader, noun, place, parameter->getType());
    }
}
