/* What calls of C++ do with their arguments, and what a constructor gives its members. Calls of
 * methods, of operators and of constructors are calls; what the library does with its containers
 * is known (containers.cc), what functions of the program do is said by their own text. */
#include "reader.h"

#include "clang/AST/DeclCXX.h"

extern "C" {
#include "../emit/arguments.h"
}

using namespace clang;

/* It is done with what the expression is made of: facts say so, and the code of the call is that
 * of the function called. */
static void touch_handed(struct pm_text_reader *reader, const struct pm_called *call,
                         const Expr *argument, unsigned use)
{
    struct pm_gathered objects = {};
    unsigned access = pm_access_of_use(use);
    pm_objects_of_any(reader, argument, access, &objects);
    if (access == 0 || objects.accesses.empty())
        return;
    QualType type = argument->getType();
    bool is_whole = call->callee && pm_is_of_system(call->callee) && !call->is_method &&
                    pm_inner(argument)->isGLValue() && !pm_is_container_type(type);
    if (is_whole) /* std::swap(a[i], a[k]) */
        pm_objects_whole(&objects, type, access);
    pm_touch_add(reader, call->e->getExprLoc(), SourceLocation(), 0, objects)->says = access;
}

/* std::sort(p, p + n), v.push_back(x) */
static void touch_elements(struct pm_text_reader *reader, struct pm_called *call, unsigned index)
{
    struct pm_gathered objects = {};
    unsigned access = pm_access_of_use(pm_whole_use_of_argument(call, index));
    if (access == 0)
        return;
    pm_objects_whole(&objects, pm_element_type(pm_inner(call->arguments[index])->getType()),
                     access);
    if (!objects.accesses.empty())
        pm_touch_add(reader, call->e->getExprLoc(), SourceLocation(), 0, objects)->says = access;
}

/* "max_element(people, {}, &person::height)": the library reads the field. */
static void touch_projected(struct pm_text_reader *reader, const struct pm_called *call,
                            const Expr *argument)
{
    const auto *address = dyn_cast<UnaryOperator>(argument->IgnoreParenImpCasts());
    const auto *named = address && address->getType()->isMemberDataPointerType()
                            ? dyn_cast<DeclRefExpr>(address->getSubExpr())
                            : NULL;
    const auto *field = named ? dyn_cast<FieldDecl>(named->getDecl()) : NULL;
    if (!field || !call->callee || !pm_is_of_system(call->callee))
        return;
    struct pm_gathered objects = {};
    objects.accesses.push_back({pm_noun_of_field(field), PM_MAP_READS});
    pm_touch_add(reader, call->e->getExprLoc(), SourceLocation(), 0, objects)->says = PM_MAP_READS;
}

/* May an object of that type lead to others, as closures and what the library makes of
 * expressions do? */
static bool leads_on(QualType type)
{
    const CXXRecordDecl *record = type.getNonReferenceType()->getAsCXXRecordDecl();
    if (!record || !record->hasDefinition())
        return false;
    if (pm_is_container_type(type))
        return true;
    for (const FieldDecl *field : record->fields())
        if (pm_is_pointer(field->getType()) || leads_on(field->getType()))
            return true;
    return false;
}

static void note_handed(struct pm_text_reader *reader, const struct pm_called *call)
{
    struct pm_place place;
    if (!call->callee || !pm_is_of_system(call->callee) ||
        !pm_source_place(reader->sources, call->e->getExprLoc(), &place))
        return;
    for (const Expr *argument : call->arguments) {
        struct pm_gathered objects = {};
        if (!argument)
            continue;
        pm_objects_of_any(reader, argument, 0, &objects);
        for (const struct pm_access &object : objects.accesses)
            reader->text->handed.push_back({place, object.noun});
        if (objects.accesses.empty() && leads_on(argument->getType()))
            reader->text->handed.push_back({place, 0});
    }
}

static void note_passed_cxx(struct pm_text_reader *reader, const struct pm_called *call,
                            unsigned index)
{
    struct pm_gathered objects = {};
    struct pm_place place;
    const Expr *argument = call->arguments[index];
    QualType type = pm_type_of_parameter(call, index);
    bool is_object = index == 0 && call->is_method;
    bool is_address = is_object || (!type.isNull() && pm_refers(type));
    if (!is_address || !pm_source_place(reader->sources, call->e->getExprLoc(), &place))
        return;
    pm_objects_of_any(reader, argument, 0, &objects);
    const std::vector<struct pm_access> &list = objects.accesses;
    bool is_lvalue = pm_inner(argument)->isGLValue() || type.isNull() || type->isPointerType();
    if (!list.empty() && is_lvalue && !(list.back().access & PM_MAP_THROUGH))
        reader->text->passed.push_back({place, index, list.back().noun});
}

static void touch_argument(struct pm_text_reader *reader, struct pm_called *call, unsigned index)
{
    const Expr *argument = call->arguments[index];
    unsigned use = pm_use_of_argument(call, index, reader->discarded != call->e);
    size_t before = reader->text->touches.size();
    note_passed_cxx(reader, call, index);
    if (pm_inner(argument)->isGLValue())
        pm_touch_parts(reader, argument);
    else
        pm_touch_value(reader, argument, call->e->getExprLoc());
    bool is_own = call->callee && !pm_is_of_system(call->callee);
    bool is_value = !pm_inner(argument)->isGLValue() && argument->getType()->isPointerType();
    bool is_given = isa<CallExpr>(pm_inner(argument->IgnoreParenCasts())); /* "f->step()" */
    if (is_own && is_value && !is_given)
        return; /* the pointer is read; what it leads to is the callee's matter */
    for (size_t i = before; use != 0 && is_value && i < reader->text->touches.size(); i++)
        reader->text->touches[i].gives_address = true;
    touch_handed(reader, call, argument, use);
    touch_elements(reader, call, index);
    touch_projected(reader, call, argument);
}

/* "point p = q", "p = q" of what is copied as memory is: there is no call. */
static bool copies_memory(const struct pm_called *call)
{
    if (const auto *made = dyn_cast_or_null<CXXConstructorDecl>(call->callee))
        return made->isCopyOrMoveConstructor() && made->isTrivial();
    const auto *method = dyn_cast_or_null<CXXMethodDecl>(call->callee);
    return method && method->isTrivial() &&
           (method->isCopyAssignmentOperator() || method->isMoveAssignmentOperator());
}

static void touch_copy(struct pm_text_reader *reader, const struct pm_called *call)
{
    SourceLocation place = call->e->getExprLoc();
    const Expr *to = call->arguments[0], *from = call->arguments[1];
    pm_touch_parts(reader, from);
    pm_touch_object(reader, from, place, from->getExprLoc(), PM_MAP_READS);
    if (!to)
        return;
    pm_touch_parts(reader, to);
    pm_touch_object(reader, to, place, to->getExprLoc(), PM_MAP_WRITES);
}

void pm_note_call(struct pm_text_reader *reader, const FunctionDecl *callee)
{
    reader->text->calls.push_back({reader->statement, pm_noun_of_called(callee)});
    if (callee->hasBody() && (pm_compilation.options.pdb_dir || pm_compilation.optimizes))
        reader->text->calls_within.push_back({reader->statement, pm_id_of_callee(callee)});
}

void pm_touch_cxx_call(struct pm_text_reader *reader, const Expr *e)
{
    struct pm_called call;
    if (!pm_read_call(e, &call))
        return;
    if (copies_memory(&call) && call.arguments.size() > 1 && call.arguments[1]) {
        touch_copy(reader, &call);
        return;
    }
    if (const auto *through = dyn_cast<CallExpr>(e))
        if (!call.callee)
            pm_touch_value(reader, through->getCallee(), e->getExprLoc());
    for (unsigned i = 0; i < call.arguments.size(); i++)
        if (call.arguments[i])
            touch_argument(reader, &call, i);
    note_handed(reader, &call);
    if (call.callee)
        pm_note_call(reader, call.callee);
    pm_refer_arguments(reader, &call);
}

void pm_touch_member(struct pm_text_reader *reader, const CXXCtorInitializer *member)
{
    const Expr *value = member->getInit();
    const FieldDecl *field = member->getAnyMember();
    struct pm_gathered objects = {};
    pm_id noun = field ? pm_noun_of_field(field) : 0;
    pm_touch_value(reader, value, member->getMemberLocation());
    pm_touch_given(reader, value);
    if (noun == 0)
        return;
    if (pm_takes_addresses(field->getType()))
        pm_refer_initial(reader, noun, value);
    objects.accesses.push_back({noun, PM_MAP_WRITES});
    pm_touch_fields(&objects, value, 0);
    objects.goes_through = true;
    pm_touch_add(reader, member->getMemberLocation(), value->getExprLoc(), PM_MAP_WRITES, objects);
}
