/* Which variables and fields an object or an address of the source is made of.
 *
 * "p[i].x" is the field x and what p points to; "v[i]" of a container is v, whose method gives a
 * reference into it. A reference, an iterator, or a view of the source is itself and what it was
 * made of.
 */
#include "reader.h"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclOpenMP.h"

#include <map>

using namespace clang;

namespace
{
struct gathering {
    struct pm_text_reader *reader;
    unsigned use;
    struct pm_gathered *out;
};
} // namespace

/* What only wraps an expression. */
const Expr *pm_inner(const Expr *e)
{
    for (;;) {
        const Expr *outer = e;
        e = e->IgnoreParens();
        if (const auto *whole = dyn_cast<FullExpr>(e))
            e = whole->getSubExpr();
        else if (const auto *made = dyn_cast<MaterializeTemporaryExpr>(e))
            e = made->getSubExpr();
        else if (const auto *bound = dyn_cast<CXXBindTemporaryExpr>(e))
            e = bound->getSubExpr();
        else if (const auto *given = dyn_cast<SubstNonTypeTemplateParmExpr>(e))
            e = given->getReplacement();
        else if (const auto *named = dyn_cast<OpaqueValueExpr>(e))
            e = named->getSourceExpr() ? named->getSourceExpr() : e;
        else if (const auto *rewritten = dyn_cast<CXXRewrittenBinaryOperator>(e))
            e = rewritten->getSemanticForm();
        if (e == outer)
            return e;
    }
}

const Expr *pm_place_of_new(const CXXNewExpr *made)
{
    const FunctionDecl *callee = made->getOperatorNew();
    bool is_given =
        callee && callee->isReservedGlobalPlacementOperator() && made->getNumPlacementArgs() == 1;
    return is_given ? made->getPlacementArg(0) : NULL;
}

bool pm_is_pointer(QualType type)
{
    return type->isPointerType() || type->isReferenceType() || type->isArrayType();
}

static void gather_lvalue(gathering *into, const Expr *e);
static void gather_pointer(gathering *into, const Expr *e);
static void gather_any(gathering *into, const Expr *e);

static void add(gathering *into, pm_id noun)
{
    if (noun != 0)
        into->out->accesses.push_back({noun, into->use});
}

static void gather_through(gathering *into, const Expr *pointer)
{
    gathering through = *into;
    through.use |= PM_MAP_THROUGH;
    gather_pointer(&through, pointer);
}

/* --- what variables were made of --- */

static std::map<const VarDecl *, struct pm_gathered> behind;

/* A copy of an element only has the element's value. */
static bool is_copy(const VarDecl *variable)
{
    QualType type = variable->getType();
    return !variable->isImplicit() && !pm_is_pointer(type) && !pm_type_refers(type);
}

static void gather_behind(gathering *into, const VarDecl *variable)
{
    auto found = behind.find(variable);
    unsigned use = into->use;
    if (found == behind.end())
        return;
    if (is_copy(variable))
        use &= ~(unsigned)PM_MAP_WRITES;
    if (use == 0 && into->use != 0)
        return;
    for (const struct pm_access &access : found->second.accesses)
        into->out->accesses.push_back({access.noun, use | PM_MAP_THROUGH});
    into->out->goes_through = true;
}

static void gather_variable(gathering *into, const VarDecl *variable)
{
    gathering own = *into;
    if (variable->getType()->isReferenceType())
        own.use |= PM_MAP_THROUGH;
    add(&own, pm_noun_of_variable(variable, into->reader->function));
    gather_behind(into, variable);
}

static void add_behind(const VarDecl *variable, const std::vector<struct pm_access> &made_of)
{
    std::vector<struct pm_access> &known = behind[variable].accesses;
    known.insert(known.end(), made_of.begin(), made_of.end());
    known.resize(pm_accesses_sort(known.data(), known.size()));
}

bool pm_note_behind(struct pm_text_reader *reader, const VarDecl *variable, const Expr *value)
{
    struct pm_gathered made_of = {};
    bool is_loaded = !pm_is_pointer(value->getType()) && !value->getType()->isRecordType();
    pm_objects_of_any(reader, is_loaded ? value->IgnoreParenImpCasts() : value, 0, &made_of);
    if (!made_of.accesses.empty())
        add_behind(variable, made_of.accesses);
    return !made_of.accesses.empty();
}

void pm_note_behind_touched(struct pm_text_reader *reader, const VarDecl *variable, size_t first)
{
    const struct pm_read_text *text = reader->text;
    std::vector<struct pm_access> made_of;
    for (size_t i = first; i < text->touches.size(); i++)
        for (uint32_t k = 0; k < text->touches[i].n; k++)
            made_of.push_back({text->accesses[text->touches[i].first + k].noun, 0});
    if (!made_of.empty())
        add_behind(variable, made_of);
}

/* --- calls --- */

/* Of strchr(text, c): text. */
static void gather_led_into(gathering *into, const struct pm_called *call)
{
    for (unsigned i = 0; i < call->arguments.size(); i++)
        if (call->arguments[i] && pm_leads_into(call, i)) {
            into->out->goes_through = true;
            gather_any(into, call->arguments[i]);
        }
}

/* Of v[i], v.begin(), *it: what the result refers into. */
static void gather_call(gathering *into, const Expr *e)
{
    struct pm_called call;
    gathering through = *into;
    if (!pm_read_call(e, &call))
        return;
    through.use |= PM_MAP_THROUGH;
    gather_led_into(&through, &call);
    if (!into->reader->is_cxx)
        return;
    unsigned sources = pm_sources_of_call(&call);
    into->out->goes_through |= sources != 0;
    for (unsigned i = 0; sources >> i != 0 && i < call.arguments.size(); i++)
        if ((sources >> i & 1) && call.arguments[i])
            gather_any(&through, call.arguments[i]);
}

/* "span part(v)", an iterator that becomes a const one. */
static void gather_made(gathering *into, const CXXConstructExpr *made)
{
    bool is_copied =
        made->getConstructor()->isCopyOrMoveConstructor() || pm_type_refers(made->getType());
    if (is_copied && made->getNumArgs() > 0 && !isa<CXXDefaultArgExpr>(made->getArg(0)))
        gather_any(into, made->getArg(0));
}

/* An object of a class that is no variable. */
static void gather_record(gathering *into, const Expr *e)
{
    if (isa<CallExpr>(e)) {
        gather_call(into, e);
    } else if (const auto *made = dyn_cast<CXXConstructExpr>(e)) {
        gather_made(into, made);
    } else if (const auto *cast = dyn_cast<CastExpr>(e)) {
        gather_any(into, cast->getSubExpr());
    } else if (const auto *choice = dyn_cast<AbstractConditionalOperator>(e)) {
        gather_any(into, choice->getTrueExpr());
        gather_any(into, choice->getFalseExpr());
    } else if (const auto *list = dyn_cast<InitListExpr>(e)) {
        for (unsigned i = 0; i < list->getNumInits() && pm_type_refers(e->getType()); i++)
            if (pm_is_pointer(list->getInit(i)->getType()))
                gather_any(into, list->getInit(i));
    }
}

static void gather_any(gathering *into, const Expr *e)
{
    e = pm_inner(e);
    if (e->isGLValue())
        gather_lvalue(into, e);
    else if (e->getType()->isPointerType())
        gather_through(into, e);
    else if (e->getType()->isRecordType())
        gather_record(into, e);
}

/* --- objects --- */

static void gather_member(gathering *into, const MemberExpr *member)
{
    const auto *field = dyn_cast<FieldDecl>(member->getMemberDecl());
    if (const auto *variable = dyn_cast<VarDecl>(member->getMemberDecl())) {
        gather_variable(into, variable);
        return;
    }
    add(into, field ? pm_noun_of_field(field) : 0);
    if (member->isArrow())
        gather_through(into, member->getBase());
    else
        gather_lvalue(into, member->getBase());
}

static void gather_binary(gathering *into, const BinaryOperator *operation)
{
    if (operation->isAssignmentOp())
        gather_lvalue(into, operation->getLHS());
    else if (operation->getOpcode() == BO_Comma)
        gather_lvalue(into, operation->getRHS());
    else if (operation->isPtrMemOp())
        pm_note_member_pointer(operation);
}

/* "auto [x, y] = point": a field of it, or of a tuple what std::get() gives. */
static void gather_bound(gathering *into, const BindingDecl *bound)
{
    const VarDecl *holder = bound->getHoldingVar();
    if (holder && holder->getInit())
        gather_any(into, holder->getInit());
    else if (!holder && bound->getBinding())
        gather_lvalue(into, bound->getBinding());
}

static void gather_name(gathering *into, const DeclRefExpr *name)
{
    if (const auto *captured = dyn_cast<OMPCapturedExprDecl>(name->getDecl()))
        gather_any(into, captured->getInit());
    else if (const auto *variable = dyn_cast<VarDecl>(name->getDecl()))
        gather_variable(into, variable);
    else if (const auto *bound = dyn_cast<BindingDecl>(name->getDecl()))
        gather_bound(into, bound);
}

static void gather_lvalue(gathering *into, const Expr *e)
{
    e = pm_inner(e);
    if (const auto *name = dyn_cast<DeclRefExpr>(e)) {
        gather_name(into, name);
    } else if (isa<CallExpr>(e)) {
        gather_call(into, e);
    } else if (const auto *member = dyn_cast<MemberExpr>(e)) {
        gather_member(into, member);
    } else if (const auto *element = dyn_cast<ArraySubscriptExpr>(e)) {
        const Expr *base = pm_inner(element->getBase());
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
    } else if (e->getType()->isRecordType()) { /* a temporary object */
        gather_record(into, e);
    }
}

/* A pointer that was loaded: from a field, which stands for what it leads to, or from a variable
 * or memory, whose nouns do. */
static void gather_loaded(gathering *into, const Expr *from)
{
    std::vector<struct pm_access> *out = &into->out->accesses;
    size_t before = out->size();
    gathering holder = *into;
    gather_lvalue(&holder, from);
    const Expr *e = pm_inner(from);
    while (const auto *element = dyn_cast<ArraySubscriptExpr>(e))
        e = element->getBase()->IgnoreParenImpCasts();
    if (isa<MemberExpr>(e) && out->size() > before + 1)
        out->resize(before + 1);
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

/* "new (place) T" */
static void gather_new(gathering *into, const CXXNewExpr *made)
{
    if (const Expr *place = pm_place_of_new(made)) {
        into->out->goes_through = true;
        gather_pointer(into, place);
    }
}

static void gather_pointer(gathering *into, const Expr *e)
{
    e = pm_inner(e);
    if (const auto *cast = dyn_cast<CastExpr>(e)) {
        gather_cast(into, cast);
    } else if (isa<CXXThisExpr>(e)) {
        into->out->goes_through = true;
    } else if (isa<CallExpr>(e)) {
        gather_call(into, e);
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
    } else if (const auto *made = dyn_cast<CXXNewExpr>(e)) {
        gather_new(into, made);
    }
}

void pm_objects_of_lvalue(struct pm_text_reader *reader, const Expr *e, unsigned use,
                          struct pm_gathered *out)
{
    gathering into = {reader, use, out};
    gather_lvalue(&into, e);
}

void pm_objects_of_pointer(struct pm_text_reader *reader, const Expr *e, unsigned use,
                           struct pm_gathered *out)
{
    gathering into = {reader, use, out};
    gather_through(&into, e);
}

void pm_objects_of_any(struct pm_text_reader *reader, const Expr *e, unsigned use,
                       struct pm_gathered *out)
{
    gathering into = {reader, use, out};
    gather_any(&into, e);
}
