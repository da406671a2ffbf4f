/* What pointers of the source refer to: which variables callers pass to which parameter, which
 * addresses are put into which pointers and fields. plugin/gcc/facts_references.cc says what for.
 */
#include "reader.h"

extern "C" {
#include "../emit/arguments.h"
}

using namespace clang;

static void add(struct pm_text_reader *reader, pm_id pointer, pm_id object)
{
    if (pointer != 0 && object != 0 && pointer != object)
        reader->text->referrals.push_back({pointer, object});
}

static bool is_pointer(QualType type)
{
    return type->isPointerType() || type->isReferenceType() || type->isArrayType();
}

/* --- functions that pointers hold --- */

static void hold_function(struct pm_text_reader *reader, pm_id pointer, const FunctionDecl *callee)
{
    for (unsigned i = 0; pointer != 0 && i < callee->getNumParams(); i++)
        if (is_pointer(callee->getParamDecl(i)->getType()))
            add(reader, pm_noun_of_parameter(callee, i), pm_id_of_pointed(pointer, i));
}

static unsigned n_parameters(QualType type)
{
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
    e = e->IgnoreParenCasts();
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
    const auto *call = dyn_cast<CallExpr>(value->IgnoreParenCasts());
    const FunctionDecl *callee = call ? call->getDirectCallee() : NULL;
    bool is_own =
        callee && callee->getBuiltinID() == 0 &&
        !callee->getASTContext().getSourceManager().isInSystemHeader(callee->getLocation());
    return is_own && callee->getReturnType()->isPointerType() ? callee : NULL;
}

static pm_accesses objects_behind(struct pm_text_reader *reader, const Expr *value)
{
    pm_accesses objects;
    if (value->getType()->isPointerType())
        pm_objects_of_pointer(reader, value, 0, &objects);
    else if (value->isGLValue())
        pm_objects_of_lvalue(reader, value, 0, &objects);
    if (const FunctionDecl *callee = returning_function(value))
        objects.push_back({pm_id_of_returned(pm_id_of_callee(callee)), 0});
    return objects;
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
        hold_function(reader, pointer, callee);
}

void pm_refer_assigned(struct pm_text_reader *reader, const Expr *to, const Expr *value)
{
    pm_accesses holders;
    if (!value->getType()->isPointerType())
        return;
    pm_objects_of_lvalue(reader, to, 0, &holders);
    if (!holders.empty())
        pm_refer(reader, holders[0].noun, value);
}

/* "double *const rows[] = {a, b}", "struct job job = {.data = u}" */
void pm_refer_initial(struct pm_text_reader *reader, pm_id noun, const Expr *value)
{
    const auto *list = dyn_cast<InitListExpr>(value);
    if (!list) {
        if (is_pointer(value->getType()))
            pm_refer(reader, noun, value);
        return;
    }
    const RecordDecl *record = list->getType()->getAsRecordDecl();
    std::vector<pm_id> fields;
    if (record)
        for (const FieldDecl *field : record->fields())
            fields.push_back(is_pointer(field->getType()) ? pm_noun_of_field(field) : 0);
    for (unsigned i = 0; i < list->getNumInits(); i++) {
        pm_id field = i < fields.size() ? fields[i] : 0;
        pm_refer_initial(reader, field != 0 ? field : noun, list->getInit(i));
    }
}

/* --- calls --- */

static std::vector<pm_id> parameters_of(struct pm_text_reader *reader, const CallExpr *call,
                                        unsigned index)
{
    std::vector<pm_id> parameters;
    if (const FunctionDecl *callee = call->getDirectCallee()) {
        if (callee->getBuiltinID() == 0)
            parameters.push_back(pm_noun_of_parameter(callee, index));
        return parameters;
    }
    for (const struct pm_access &holder : objects_behind(reader, call->getCallee()))
        parameters.push_back(pm_id_of_pointed(holder.noun, index));
    return parameters;
}

/* "qsort(keys, n, size, compare)" */
static void refer_called_back(struct pm_text_reader *reader, const CallExpr *call,
                              const FunctionDecl *called)
{
    const char *linkage = pm_lasting(call->getDirectCallee()->getNameAsString());
    for (unsigned parameter = 0; parameter < called->getNumParams(); parameter++) {
        if (!called->getParamDecl(parameter)->getType()->isPointerType())
            continue;
        for (unsigned i = 0; i < call->getNumArgs(); i++) {
            enum pm_passing passing = pm_passes_argument(linkage, i, parameter);
            const Expr *argument = call->getArg(i);
            bool may = passing == PM_PASSES_UNKNOWN && argument->getType()->isVoidPointerType();
            if (passing == PM_PASSES || may)
                pm_refer(reader, pm_noun_of_parameter(called, parameter), argument);
        }
    }
}

void pm_refer_arguments(struct pm_text_reader *reader, const CallExpr *call)
{
    const FunctionDecl *callee = call->getDirectCallee();
    for (unsigned i = 0; i < call->getNumArgs(); i++) {
        const Expr *argument = call->getArg(i);
        if (argument->getType()->isPointerType())
            for (pm_id parameter : parameters_of(reader, call, i))
                if (parameter != 0)
                    pm_refer(reader, parameter, argument);
        std::vector<const FunctionDecl *> functions;
        bool is_of_system = callee && reader->sources.isInSystemHeader(callee->getLocation());
        if (is_of_system)
            find_functions(argument, &functions);
        for (const FunctionDecl *called : functions)
            refer_called_back(reader, call, called);
    }
}

void pm_refer_parameters(struct pm_text_reader *reader, const FunctionDecl *decl)
{
    for (unsigned i = 0; decl->isExternallyVisible() && i < decl->getNumParams(); i++) {
        const ParmVarDecl *parameter = decl->getParamDecl(i);
        if (!parameter->getType()->isPointerType())
            continue;
        pm_id place = pm_id_of_parameter(reader->function->id, i);
        pm_id noun = pm_noun_of_variable(parameter, reader->function);
        add(reader, noun, place);
        hold_pointer(reader, noun, place, parameter->getType());
    }
}
