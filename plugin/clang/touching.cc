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

#include "clang/AST/DeclCXX.h"

extern "C" {
#include "../emit/arguments.h"
}

using namespace clang;

/* --- touches --- */

struct pm_touch *pm_touch_add(struct pm_text_reader *reader, SourceLocation place,
                              SourceLocation outer, unsigned use, const struct pm_gathered &objects)
{
    struct pm_read_text *text = reader->text;
    struct pm_touch touch = {};
    touch.use = use;
    touch.says = use != 0 ? use : (unsigned)PM_MAP_READS;
    touch.statement = reader->statement;
    touch.first = (uint32_t)text->accesses.size();
    touch.n = (uint32_t)objects.accesses.size();
    touch.goes_through = objects.goes_through;
    pm_source_place(reader->sources, place, &touch.place);
    if (!outer.isValid() || !pm_source_place(reader->sources, outer, &touch.outer))
        touch.outer = touch.place;
    for (const struct pm_access &access : objects.accesses) {
        touch.goes_through |= (access.access & PM_MAP_THROUGH) != 0;
        text->accesses.push_back(access);
    }
    text->touches.push_back(touch);
    return &text->touches.back();
}

struct pm_touch *pm_touch_object(struct pm_text_reader *reader, const Expr *object,
                                 SourceLocation place, SourceLocation outer, unsigned use)
{
    struct pm_gathered objects = {};
    pm_objects_of_lvalue(reader, object, use, &objects);
    pm_objects_whole(&objects, object->getType(), use);
    return pm_touch_add(reader, place, outer, use, objects);
}

static void touch_load(struct pm_text_reader *reader, const Expr *object, SourceLocation outer)
{
    pm_touch_parts(reader, object);
    pm_touch_object(reader, object, object->getExprLoc(), outer, PM_MAP_READS);
}

/* The pointer is read, but what it is about comes later. */
static void touch_pointer(struct pm_text_reader *reader, const Expr *pointer, SourceLocation outer)
{
    size_t before = reader->text->touches.size();
    pm_touch_value(reader, pointer, outer);
    const Expr *e = pm_inner(pointer);
    while (const auto *cast = dyn_cast<CastExpr>(e)) {
        if (cast->getCastKind() == CK_LValueToRValue && reader->text->touches.size() > before)
            reader->text->touches.back().gives_address = true;
        e = pm_inner(cast->getSubExpr());
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
void pm_touch_parts(struct pm_text_reader *reader, const Expr *e)
{
    e = pm_inner(e);
    if (const auto *element = dyn_cast<ArraySubscriptExpr>(e)) {
        pm_touch_value(reader, element->getIdx(), element->getExprLoc());
        const auto *decay = dyn_cast<ImplicitCastExpr>(pm_inner(element->getBase()));
        if (decay && decay->getCastKind() == CK_ArrayToPointerDecay)
            pm_touch_parts(reader, decay->getSubExpr());
        else
            touch_pointer(reader, element->getBase(), element->getExprLoc());
    } else if (const auto *member = dyn_cast<MemberExpr>(e)) {
        if (member->isArrow())
            touch_pointer(reader, member->getBase(), member->getExprLoc());
        else
            pm_touch_parts(reader, member->getBase());
    } else if (const auto *unary = dyn_cast<UnaryOperator>(e)) {
        if (unary->getOpcode() == UO_Deref)
            touch_pointer(reader, unary->getSubExpr(), unary->getExprLoc());
        else if (unary->getOpcode() == UO_Extension)
            pm_touch_parts(reader, unary->getSubExpr());
        else
            pm_touch_value(reader, e, e->getExprLoc());
    } else if (const auto *cast = dyn_cast<CastExpr>(e)) {
        pm_touch_parts(reader, cast->getSubExpr());
    } else if (!isa<DeclRefExpr>(e)) {
        pm_touch_value(reader, e, e->getExprLoc());
    }
}

/* Only facts: "f(a)" says that f gets a. */
void pm_touch_address(struct pm_text_reader *reader, const Expr *object)
{
    pm_touch_parts(reader, object);
    pm_touch_object(reader, object, object->getExprLoc(), SourceLocation(), 0);
}

/* --- operations --- */

static void touch_assignment(struct pm_text_reader *reader, const BinaryOperator *assign)
{
    unsigned use = assign->isCompoundAssignmentOp() ? PM_MAP_READS | PM_MAP_WRITES : PM_MAP_WRITES;
    pm_touch_value(reader, assign->getRHS(), assign->getExprLoc());
    pm_touch_parts(reader, assign->getLHS());
    if (assign->getType()->isRecordType())
        pm_touch_copied(reader, assign->getLHS(), assign->getRHS(), assign->getExprLoc());
    else
        pm_touch_object(reader, assign->getLHS(), assign->getExprLoc(),
                        assign->getLHS()->getExprLoc(), use);
    if (assign->getOpcode() == BO_Assign)
        pm_refer_assigned(reader, assign->getLHS(), assign->getRHS());
}

unsigned pm_access_of_use(unsigned use)
{
    return (use & PM_USE_READS ? (unsigned)PM_MAP_READS : 0) |
           (use & PM_USE_WRITES ? (unsigned)PM_MAP_WRITES : 0);
}

static void touch_known_argument(struct pm_text_reader *reader, const CallExpr *call,
                                 const Expr *argument, unsigned use)
{
    unsigned access = pm_access_of_use(use);
    struct pm_gathered objects = {};
    pm_objects_of_pointer(reader, argument, access, &objects);
    pm_objects_whole_target(&objects, call, argument, access);
    pm_touch_add(reader, call->getExprLoc(), argument->getExprLoc(), access, objects);
}

static const char *known_arguments(const FunctionDecl *callee)
{
    return pm_library_arguments(pm_name_in_c(callee));
}

static void note_passed(struct pm_text_reader *reader, const CallExpr *call, unsigned index)
{
    struct pm_gathered objects = {};
    struct pm_place place;
    const Expr *argument = call->getArg(index);
    if (!argument->getType()->isPointerType())
        return;
    pm_objects_of_pointer(reader, argument, 0, &objects);
    const std::vector<struct pm_access> &list = objects.accesses;
    if (!list.empty() && !(list.back().access & PM_MAP_THROUGH) &&
        pm_source_place(reader->sources, call->getExprLoc(), &place))
        reader->text->passed.push_back({place, index, list.back().noun});
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
        pm_note_call(reader, callee);
    struct pm_called read;
    pm_read_call(call, &read);
    pm_refer_arguments(reader, &read);
}

static void touch_unary(struct pm_text_reader *reader, const UnaryOperator *unary,
                        SourceLocation outer)
{
    if (unary->getOpcode() == UO_AddrOf) {
        pm_touch_address(reader, unary->getSubExpr());
    } else if (unary->isIncrementDecrementOp()) {
        pm_touch_parts(reader, unary->getSubExpr());
        pm_touch_object(reader, unary->getSubExpr(), unary->getExprLoc(),
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
        pm_touch_address(reader, from);
    else
        pm_touch_value(reader, from, outer);
    if (cast->getCastKind() == CK_PointerToIntegral)
        pm_refer(reader, pm_id_of_elsewhere(), from);
}

void pm_touch_asm(struct pm_text_reader *reader, const AsmStmt *s)
{
    SourceLocation place = static_cast<const Stmt *>(s)->getBeginLoc(); /* AsmStmt's own: none */
    const auto *text = dyn_cast<GCCAsmStmt>(s);
    for (unsigned i = 0; text && i < text->getNumOutputs(); i++) {
        unsigned read = text->isOutputPlusConstraint(i) ? (unsigned)PM_MAP_READS : 0;
        pm_touch_parts(reader, text->getOutputExpr(i));
        pm_touch_object(reader, text->getOutputExpr(i), place, place, PM_MAP_WRITES | read);
    }
    for (unsigned i = 0; text && i < text->getNumInputs(); i++) {
        const Expr *input = text->getInputExpr(i);
        if (!input->isGLValue()) {
            pm_touch_value(reader, input, place);
            continue;
        }
        pm_touch_parts(reader, input); /* "m": memory is read */
        pm_touch_object(reader, input, place, place, PM_MAP_READS);
    }
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

/* "window{v.data(), n}": a view is made of v. */
void pm_touch_given(struct pm_text_reader *reader, const Expr *value)
{
    struct pm_called call;
    struct pm_gathered objects = {};
    const Expr *e = pm_inner(value->IgnoreParenCasts());
    if (!reader->is_cxx || !value->getType()->isPointerType() || !pm_read_call(e, &call) ||
        pm_sources_of_call(&call) == 0)
        return;
    pm_objects_of_any(reader, e, PM_MAP_READS, &objects);
    if (!objects.accesses.empty())
        pm_touch_add(reader, e->getExprLoc(), SourceLocation(), 0, objects);
}

static void touch_items(struct pm_text_reader *reader, const InitListExpr *list,
                        SourceLocation outer)
{
    for (const Expr *item : list->inits()) {
        pm_touch_value(reader, item, outer);
        pm_touch_given(reader, item);
    }
}

/* An object that is no variable. */
static void touch_list(struct pm_text_reader *reader, const InitListExpr *list,
                       SourceLocation outer)
{
    struct pm_gathered objects = {};
    touch_items(reader, list, outer);
    pm_touch_fields(&objects, list, 0);
    if (objects.accesses.empty())
        return;
    pm_refer_initial(reader, 0, list);
    pm_touch_add(reader, list->getExprLoc(), outer, PM_MAP_WRITES, objects);
}

/* A reference, a view, an iterator, what a call gave: the facts say at once that what is done with
 * the variable is done with what it refers into. Of other pointers only the mapper knows. */
static bool is_made_of(const VarDecl *variable, const Expr *value)
{
    QualType type = variable->getType();
    if (type->isPointerType())
        return isa<CallExpr>(pm_inner(value));
    return type->isReferenceType() || pm_type_refers(type) || isa<DecompositionDecl>(variable);
}

/* "[p = u]": the variable is one of the lambda's body. */
static void refer_captured(struct pm_text_reader *reader, const LambdaExpr *lambda,
                           const VarDecl *variable)
{
    const FunctionDecl *body = lambda->getCallOperator();
    if (!body || !variable || !variable->getInit())
        return;
    if (reader->is_cxx && is_made_of(variable, variable->getInit()))
        pm_note_behind(reader, variable, variable->getInit());
    if (pm_id noun = pm_noun_of_variable(variable, pm_source_of_decl(body)))
        pm_refer_initial(reader, noun, variable->getInit());
}

/* "new (place) T(x)": a constructor works there, or the value is stored there. */
static void touch_new(struct pm_text_reader *reader, const CXXNewExpr *made, SourceLocation outer)
{
    const Expr *place = pm_place_of_new(made);
    const CXXConstructExpr *constructs = made->getConstructExpr();
    struct pm_gathered objects = {};
    for (const Stmt *child : made->children())
        touch_within(reader, child, outer);
    if (place && constructs) {
        pm_refer(reader, pm_noun_of_parameter(constructs->getConstructor(), 0), place);
    } else if (place && made->hasInitializer()) {
        pm_objects_of_pointer(reader, place, PM_MAP_WRITES, &objects);
        pm_touch_add(reader, made->getExprLoc(), outer, PM_MAP_WRITES, objects);
    }
}

void pm_touch_value(struct pm_text_reader *reader, const Expr *e, SourceLocation outer)
{
    e = pm_inner(e);
    if (isa<UnaryExprOrTypeTraitExpr>(e) || isa<BlockExpr>(e) || isa<CXXTypeidExpr>(e) ||
        isa<CXXNoexceptExpr>(e) || isa<CXXDefaultArgExpr>(e))
        return;
    if (const auto *lambda = dyn_cast<LambdaExpr>(e)) {
        for (const Expr *captured : lambda->capture_inits())
            if (captured)
                pm_touch_value(reader, captured, outer);
        for (const LambdaCapture &capture : lambda->captures())
            if (lambda->isInitCapture(&capture))
                refer_captured(reader, lambda, dyn_cast<VarDecl>(capture.getCapturedVar()));
        return;
    }
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
        if (!reader->is_cxx || known_arguments(call->getDirectCallee()))
            touch_call(reader, call);
        else
            pm_touch_cxx_call(reader, e);
    } else if (isa<CXXConstructExpr>(e)) {
        pm_touch_cxx_call(reader, e);
    } else if (const auto *list = dyn_cast<InitListExpr>(e)) {
        touch_list(reader, list, outer);
    } else if (const auto *made = dyn_cast<CXXNewExpr>(e)) {
        touch_new(reader, made, outer);
    } else if (isa<MemberExpr>(e) || isa<ArraySubscriptExpr>(e)) {
        pm_touch_parts(reader, e);
    } else {
        for (const Stmt *child : e->children())
            touch_within(reader, child, outer);
    }
}

/* --- initial values --- */

/* "struct grid g = {table, 256}" writes g and its fields: of nested ones the innermost. */
void pm_touch_fields(struct pm_gathered *objects, const Expr *value, pm_id field)
{
    const auto *list = dyn_cast<InitListExpr>(pm_inner(value));
    if (!list) {
        if (field != 0 && !isa<ImplicitValueInitExpr>(value)) {
            objects->accesses.push_back({field, PM_MAP_WRITES});
            pm_objects_whole(objects, value->getType(), PM_MAP_WRITES);
        }
        return;
    }
    if (field != 0 && list->getNumInits() > 0)
        objects->accesses.push_back({field, PM_MAP_WRITES});
    std::vector<pm_id> fields;
    if (const RecordDecl *record = list->getType()->getAsRecordDecl())
        for (const FieldDecl *one : record->fields())
            fields.push_back(pm_noun_of_field(one));
    for (unsigned i = 0; i < list->getNumInits(); i++)
        pm_touch_fields(objects, list->getInit(i), i < fields.size() ? fields[i] : field);
}

void pm_touch_initial(struct pm_text_reader *reader, const VarDecl *variable)
{
    pm_id noun = pm_noun_of_variable(variable, reader->function);
    const Expr *value = variable->getInit();
    if (!value)
        return;
    if (reader->is_cxx && is_made_of(variable, value))
        pm_note_behind(reader, variable, value);
    if (noun == 0) {
        pm_touch_value(reader, value, variable->getLocation());
        return;
    }
    pm_refer_initial(reader, noun, value);
    if (!variable->hasLocalStorage())
        return; /* it is there before the program runs */
    if (const auto *list = dyn_cast<InitListExpr>(pm_inner(value)))
        touch_items(reader, list, variable->getLocation());
    else
        pm_touch_value(reader, value, variable->getLocation());
    struct pm_gathered objects = {};
    objects.accesses.push_back({noun, PM_MAP_WRITES});
    pm_touch_fields(&objects, value, 0);
    if (!isa<InitListExpr>(pm_inner(value)))
        pm_objects_whole(&objects, variable->getType(), PM_MAP_WRITES);
    pm_touch_add(reader, variable->getLocation(), value->getExprLoc(), PM_MAP_WRITES, objects);
}
