/* Which variables and fields an expression reads and writes.
 *
 * What users mean by "p[i] = x" is that what p points to is written: p is not counted as read
 * where it only gives an address, and the access through it counts as one to p (or to the field
 * that p was loaded from). plugin/gcc/facts_touch.cc does the same in GIMPLE.
 *
 * For the code there is one touch for each value that Clang loads or stores, with the place that
 * Clang gives to that code: Expr::getExprLoc() of the object for what is read, of the operator
 * for what is written.
 */
#include "reader.h"

extern "C" {
#include "../emit/arguments.h"
}

using namespace clang;

/* --- objects --- */

namespace
{
/* Fields around the innermost one are not named. */
struct gathering {
    struct pm_text_reader *reader;
    unsigned use;
    bool has_field;
    pm_accesses *out;
};
} // namespace

static void gather_lvalue(gathering *into, const Expr *e);
static void gather_pointer(gathering *into, const Expr *e);

static void add(gathering *into, pm_id noun)
{
    if (noun != 0)
        into->out->push_back({noun, into->use});
}

static void gather_through(gathering *into, const Expr *pointer)
{
    gathering through = *into;
    through.use |= PM_MAP_THROUGH;
    through.has_field = false;
    gather_pointer(&through, pointer);
}

static void gather_member(gathering *into, const MemberExpr *member)
{
    const auto *field = dyn_cast<FieldDecl>(member->getMemberDecl());
    if (const auto *variable = dyn_cast<VarDecl>(member->getMemberDecl())) {
        add(into, pm_noun_of_variable(variable, into->reader->function));
        return;
    }
    pm_id noun = field && !into->has_field ? pm_noun_of_field(field) : 0;
    add(into, noun);
    gathering around = *into;
    around.has_field |= noun != 0;
    if (member->isArrow())
        gather_through(&around, member->getBase());
    else
        gather_lvalue(&around, member->getBase());
}

static void gather_binary(gathering *into, const BinaryOperator *operation)
{
    if (operation->isAssignmentOp())
        gather_lvalue(into, operation->getLHS());
    else if (operation->getOpcode() == BO_Comma)
        gather_lvalue(into, operation->getRHS());
}

static void gather_lvalue(gathering *into, const Expr *e)
{
    e = e->IgnoreParens();
    if (const auto *name = dyn_cast<DeclRefExpr>(e)) {
        if (const auto *variable = dyn_cast<VarDecl>(name->getDecl()))
            add(into, pm_noun_of_variable(variable, into->reader->function));
    } else if (const auto *member = dyn_cast<MemberExpr>(e)) {
        gather_member(into, member);
    } else if (const auto *element = dyn_cast<ArraySubscriptExpr>(e)) {
        const Expr *base = element->getBase()->IgnoreParens();
        const auto *decay = dyn_cast<ImplicitCastExpr>(base);
        if (decay && decay->getCastKind() == CK_ArrayToPointerDecay)
            gather_lvalue(into, decay->getSubExpr());
        else
            gather_through(into, base);
    } else if (const auto *unary = dyn_cast<UnaryOperator>(e)) {
        if (unary->getOpcode() == UO_Deref)
            gather_through(into, unary->getSubExpr());
        else
            gather_lvalue(into, unary->getSubExpr());
    } else if (const auto *binary = dyn_cast<BinaryOperator>(e)) {
        gather_binary(into, binary);
    } else if (const auto *cast = dyn_cast<CastExpr>(e)) {
        gather_lvalue(into, cast->getSubExpr());
    } else if (const auto *choice = dyn_cast<AbstractConditionalOperator>(e)) {
        gather_lvalue(into, choice->getTrueExpr());
        gather_lvalue(into, choice->getFalseExpr());
    } else if (const auto *temporary = dyn_cast<MaterializeTemporaryExpr>(e)) {
        gather_lvalue(into, temporary->getSubExpr());
    }
}

/* A pointer that was loaded: from a field, which stands for what it leads to, or from a variable
 * or memory, whose nouns do. */
static void gather_loaded(gathering *into, const Expr *from)
{
    size_t before = into->out->size();
    gathering holder = *into;
    holder.has_field = false;
    gather_lvalue(&holder, from);
    const Expr *e = from->IgnoreParens();
    while (const auto *element = dyn_cast<ArraySubscriptExpr>(e))
        e = element->getBase()->IgnoreParenImpCasts();
    if (isa<MemberExpr>(e) && into->out->size() > before + 1)
        into->out->resize(before + 1);
}

static void gather_sum(gathering *into, const BinaryOperator *operation)
{
    if (operation->getOpcode() == BO_Comma)
        gather_pointer(into, operation->getRHS());
    else if (operation->isAssignmentOp())
        gather_loaded(into, operation->getLHS());
    else
        for (const Expr *side : {operation->getLHS(), operation->getRHS()})
            if (side->getType()->isPointerType())
                gather_pointer(into, side);
}

static void gather_cast(gathering *into, const CastExpr *cast)
{
    const Expr *from = cast->getSubExpr();
    gathering object = *into;
    switch (cast->getCastKind()) {
    case CK_LValueToRValue:
        gather_loaded(into, from);
        break;
    case CK_ArrayToPointerDecay:
        object.use &= ~(unsigned)PM_MAP_THROUGH;
        gather_lvalue(&object, from);
        break;
    case CK_FunctionToPointerDecay:
    case CK_NullToPointer:
        break;
    default:
        if (from->getType()->isPointerType())
            gather_pointer(into, from);
        break;
    }
}

static void gather_pointer(gathering *into, const Expr *e)
{
    e = e->IgnoreParens();
    if (const auto *cast = dyn_cast<CastExpr>(e)) {
        gather_cast(into, cast);
    } else if (const auto *unary = dyn_cast<UnaryOperator>(e)) {
        gathering object = *into;
        object.use &= ~(unsigned)PM_MAP_THROUGH;
        if (unary->getOpcode() == UO_AddrOf)
            gather_lvalue(&object, unary->getSubExpr());
        else if (unary->isIncrementDecrementOp())
            gather_loaded(into, unary->getSubExpr());
    } else if (const auto *binary = dyn_cast<BinaryOperator>(e)) {
        gather_sum(into, binary);
    } else if (const auto *choice = dyn_cast<AbstractConditionalOperator>(e)) {
        gather_pointer(into, choice->getTrueExpr());
        gather_pointer(into, choice->getFalseExpr());
    }
}

void pm_objects_of_lvalue(struct pm_text_reader *reader, const Expr *e, unsigned use,
                          pm_accesses *out)
{
    gathering into = {reader, use, false, out};
    gather_lvalue(&into, e);
}

void pm_objects_of_pointer(struct pm_text_reader *reader, const Expr *e, unsigned use,
                           pm_accesses *out)
{
    gathering into = {reader, use, false, out};
    gather_through(&into, e);
}

/* --- touches --- */

static struct pm_touch *add_touch(struct pm_text_reader *reader, SourceLocation place,
                                  SourceLocation outer, unsigned use, const pm_accesses &objects)
{
    struct pm_read_text *text = reader->text;
    struct pm_touch touch = {};
    touch.use = use;
    touch.statement = reader->statement;
    touch.first = (uint32_t)text->accesses.size();
    touch.n = (uint32_t)objects.size();
    pm_source_place(reader->sources, place, &touch.place);
    if (!outer.isValid() || !pm_source_place(reader->sources, outer, &touch.outer))
        touch.outer = touch.place;
    text->accesses.insert(text->accesses.end(), objects.begin(), objects.end());
    text->touches.push_back(touch);
    return &text->touches.back();
}

static struct pm_touch *touch_object(struct pm_text_reader *reader, const Expr *object,
                                     SourceLocation place, SourceLocation outer, unsigned use)
{
    pm_accesses objects;
    pm_objects_of_lvalue(reader, object, use, &objects);
    return add_touch(reader, place, outer, use, objects);
}

static void touch_parts(struct pm_text_reader *reader, const Expr *e);

static void touch_load(struct pm_text_reader *reader, const Expr *object, SourceLocation outer)
{
    touch_parts(reader, object);
    touch_object(reader, object, object->getExprLoc(), outer, PM_MAP_READS);
}

/* The pointer is read, but what it is about comes later. */
static void touch_pointer(struct pm_text_reader *reader, const Expr *pointer, SourceLocation outer)
{
    size_t before = reader->text->touches.size();
    pm_touch_value(reader, pointer, outer);
    const Expr *e = pointer->IgnoreParens();
    while (const auto *cast = dyn_cast<CastExpr>(e)) {
        if (cast->getCastKind() == CK_LValueToRValue && reader->text->touches.size() > before)
            reader->text->touches.back().gives_address = true;
        e = cast->getSubExpr()->IgnoreParens();
    }
    const auto *sum = dyn_cast<BinaryOperator>(e);
    if (sum && sum->isAdditiveOp())
        for (size_t i = before; i < reader->text->touches.size(); i++) {
            struct pm_touch *touch = &reader->text->touches[i];
            const Expr *side =
                sum->getLHS()->getType()->isPointerType() ? sum->getLHS() : sum->getRHS();
            struct pm_place place;
            if (pm_source_place(reader->sources, side->getExprLoc(), &place) &&
                pm_text_point_same(pm_place_point(&place), pm_place_point(&touch->place)))
                touch->gives_address = true;
        }
}

/* Subscripts and pointers within a reference to an object are values. */
static void touch_parts(struct pm_text_reader *reader, const Expr *e)
{
    e = e->IgnoreParens();
    if (const auto *element = dyn_cast<ArraySubscriptExpr>(e)) {
        pm_touch_value(reader, element->getIdx(), element->getExprLoc());
        const auto *decay = dyn_cast<ImplicitCastExpr>(element->getBase()->IgnoreParens());
        if (decay && decay->getCastKind() == CK_ArrayToPointerDecay)
            touch_parts(reader, decay->getSubExpr());
        else
            touch_pointer(reader, element->getBase(), element->getExprLoc());
    } else if (const auto *member = dyn_cast<MemberExpr>(e)) {
        if (member->isArrow())
            touch_pointer(reader, member->getBase(), member->getExprLoc());
        else
            touch_parts(reader, member->getBase());
    } else if (const auto *unary = dyn_cast<UnaryOperator>(e)) {
        if (unary->getOpcode() == UO_Deref)
            touch_pointer(reader, unary->getSubExpr(), unary->getExprLoc());
        else if (unary->getOpcode() == UO_Extension)
            touch_parts(reader, unary->getSubExpr());
        else
            pm_touch_value(reader, e, e->getExprLoc());
    } else if (const auto *cast = dyn_cast<CastExpr>(e)) {
        touch_parts(reader, cast->getSubExpr());
    } else if (!isa<DeclRefExpr>(e)) {
        pm_touch_value(reader, e, e->getExprLoc());
    }
}

/* Only facts: "f(a)" says that f gets a. */
static void touch_address(struct pm_text_reader *reader, const Expr *object)
{
    touch_parts(reader, object);
    touch_object(reader, object, object->getExprLoc(), SourceLocation(), 0);
}

/* --- operations --- */

static void touch_assignment(struct pm_text_reader *reader, const BinaryOperator *assign)
{
    unsigned use = assign->isCompoundAssignmentOp() ? PM_MAP_READS | PM_MAP_WRITES : PM_MAP_WRITES;
    pm_touch_value(reader, assign->getRHS(), assign->getExprLoc());
    touch_parts(reader, assign->getLHS());
    touch_object(reader, assign->getLHS(), assign->getExprLoc(), assign->getLHS()->getExprLoc(),
                 use);
    if (assign->getOpcode() == BO_Assign)
        pm_refer_assigned(reader, assign->getLHS(), assign->getRHS());
}

static void touch_known_argument(struct pm_text_reader *reader, const CallExpr *call,
                                 const Expr *argument, unsigned use)
{
    unsigned access = (use & PM_USE_READS ? (unsigned)PM_MAP_READS : 0) |
                      (use & PM_USE_WRITES ? (unsigned)PM_MAP_WRITES : 0);
    pm_accesses objects;
    pm_objects_of_pointer(reader, argument, access, &objects);
    add_touch(reader, call->getExprLoc(), argument->getExprLoc(), access, objects);
}

static const char *known_arguments(const FunctionDecl *callee)
{
    bool has_name = callee && callee->getIdentifier() && callee->isExternallyVisible();
    return has_name ? pm_memory_arguments(pm_builtin_free_name(
                          pm_lasting(callee->getIdentifier()->getName().str())))
                    : NULL;
}

static void note_passed(struct pm_text_reader *reader, const CallExpr *call, unsigned index)
{
    pm_accesses objects;
    struct pm_place place;
    const Expr *argument = call->getArg(index);
    if (!argument->getType()->isPointerType())
        return;
    pm_objects_of_pointer(reader, argument, 0, &objects);
    if (!objects.empty() && !(objects.back().access & PM_MAP_THROUGH) &&
        pm_source_place(reader->sources, call->getExprLoc(), &place))
        reader->text->passed.push_back({place, index, objects.back().noun});
}

static void touch_call(struct pm_text_reader *reader, const CallExpr *call)
{
    const FunctionDecl *callee = call->getDirectCallee();
    const char *known = known_arguments(callee);
    if (!callee)
        pm_touch_value(reader, call->getCallee(), call->getExprLoc());
    for (unsigned i = 0; i < call->getNumArgs(); i++) {
        const Expr *argument = call->getArg(i);
        unsigned use = known && i < strlen(known) ? pm_argument_use(known, i) : 0;
        size_t before = reader->text->touches.size();
        note_passed(reader, call, i);
        pm_touch_value(reader, argument, call->getExprLoc());
        for (size_t k = before; use != 0 && k < reader->text->touches.size(); k++)
            reader->text->touches[k].gives_address = true;
        if (use != 0)
            touch_known_argument(reader, call, argument, use);
    }
    if (callee)
        reader->text->calls.push_back({reader->statement, pm_noun_of_called(callee)});
    pm_refer_arguments(reader, call);
}

static void touch_unary(struct pm_text_reader *reader, const UnaryOperator *unary,
                        SourceLocation outer)
{
    if (unary->getOpcode() == UO_AddrOf) {
        touch_address(reader, unary->getSubExpr());
    } else if (unary->isIncrementDecrementOp()) {
        touch_parts(reader, unary->getSubExpr());
        touch_object(reader, unary->getSubExpr(), unary->getExprLoc(),
                     unary->getSubExpr()->getExprLoc(), PM_MAP_READS | PM_MAP_WRITES);
    } else {
        pm_touch_value(reader, unary->getSubExpr(),
                       unary->getOpcode() == UO_Plus ? outer : unary->getExprLoc());
    }
}

static void touch_cast(struct pm_text_reader *reader, const CastExpr *cast, SourceLocation outer)
{
    const Expr *from = cast->getSubExpr();
    if (cast->getCastKind() == CK_LValueToRValue)
        touch_load(reader, from, outer);
    else if (cast->getCastKind() == CK_ArrayToPointerDecay && !isa<StringLiteral>(from))
        touch_address(reader, from);
    else
        pm_touch_value(reader, from, outer);
}

void pm_touch_asm(struct pm_text_reader *reader, const AsmStmt *s)
{
    SourceLocation place = s->getBeginLoc();
    const auto *text = dyn_cast<GCCAsmStmt>(s);
    for (unsigned i = 0; text && i < text->getNumOutputs(); i++) {
        unsigned read = text->isOutputPlusConstraint(i) ? (unsigned)PM_MAP_READS : 0;
        touch_parts(reader, text->getOutputExpr(i));
        touch_object(reader, text->getOutputExpr(i), place, place, PM_MAP_WRITES | read);
    }
    for (unsigned i = 0; text && i < text->getNumInputs(); i++)
        pm_touch_value(reader, text->getInputExpr(i), place);
}

/* Statements within an expression, "({ ... })", are part of that one's statement. */
static void touch_within(struct pm_text_reader *reader, const Stmt *s, SourceLocation outer)
{
    if (!s)
        return;
    if (const auto *e = dyn_cast<Expr>(s)) {
        pm_touch_value(reader, e, outer);
        return;
    }
    if (const auto *text = dyn_cast<AsmStmt>(s)) {
        pm_touch_asm(reader, text);
        return;
    }
    if (const auto *declaration = dyn_cast<DeclStmt>(s)) {
        for (const Decl *decl : declaration->decls())
            if (const auto *variable = dyn_cast<VarDecl>(decl))
                pm_touch_initial(reader, variable);
        return;
    }
    for (const Stmt *child : s->children())
        touch_within(reader, child, outer);
}

void pm_touch_value(struct pm_text_reader *reader, const Expr *e, SourceLocation outer)
{
    e = e->IgnoreParens();
    if (isa<UnaryExprOrTypeTraitExpr>(e) || isa<LambdaExpr>(e) || isa<BlockExpr>(e))
        return;
    if (const auto *binary = dyn_cast<BinaryOperator>(e)) {
        if (binary->isAssignmentOp()) {
            touch_assignment(reader, binary);
            return;
        }
        pm_touch_value(reader, binary->getLHS(), binary->getExprLoc());
        pm_touch_value(reader, binary->getRHS(), binary->getExprLoc());
    } else if (const auto *unary = dyn_cast<UnaryOperator>(e)) {
        touch_unary(reader, unary, outer);
    } else if (const auto *cast = dyn_cast<CastExpr>(e)) {
        touch_cast(reader, cast, outer);
    } else if (const auto *call = dyn_cast<CallExpr>(e)) {
        touch_call(reader, call);
    } else if (isa<MemberExpr>(e) || isa<ArraySubscriptExpr>(e)) {
        touch_parts(reader, e);
    } else {
        for (const Stmt *child : e->children())
            touch_within(reader, child, outer);
    }
}

/* --- initial values --- */

/* "struct grid g = {table, 256}" writes g and its fields: of nested ones the innermost. */
static void touch_fields(pm_accesses *objects, const Expr *value, pm_id field)
{
    const auto *list = dyn_cast<InitListExpr>(value);
    if (!list) {
        if (field != 0 && !isa<ImplicitValueInitExpr>(value))
            objects->push_back({field, PM_MAP_WRITES});
        return;
    }
    std::vector<pm_id> fields;
    if (const RecordDecl *record = list->getType()->getAsRecordDecl())
        for (const FieldDecl *one : record->fields())
            fields.push_back(pm_noun_of_field(one));
    for (unsigned i = 0; i < list->getNumInits(); i++)
        touch_fields(objects, list->getInit(i), i < fields.size() ? fields[i] : field);
}

void pm_touch_initial(struct pm_text_reader *reader, const VarDecl *variable)
{
    pm_id noun = pm_noun_of_variable(variable, reader->function);
    const Expr *value = variable->getInit();
    if (!value || noun == 0)
        return;
    pm_refer_initial(reader, noun, value);
    if (!variable->hasLocalStorage())
        return; /* it is there before the program runs */
    pm_touch_value(reader, value, variable->getLocation());
    pm_accesses objects = {{noun, PM_MAP_WRITES}};
    touch_fields(&objects, value, 0);
    add_touch(reader, variable->getLocation(), value->getExprLoc(), PM_MAP_WRITES, objects);
}
