/* Objects that are copied, cleared or passed as a whole, "p[i] = q", "memset(&job, 0, sizeof job)":
 * each of their fields is read or written. plugin/gcc/facts_whole.cc reads the same in GCC's trees.
 */
#include "reader.h"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/RecordLayout.h"

extern "C" {
#include "../emit/whole.h"
}

using namespace clang;

/* False: the object has too many, and the field is marked. */
static bool takes_field(struct pm_whole *whole, pm_id field)
{
    if (whole->is_full)
        pm_noun_state(field);
    return pm_whole_takes(whole, pm_unit_facts(), field);
}

static void add_fields_of(struct pm_gathered *objects, QualType type, unsigned use,
                          struct pm_whole *whole)
{
    const RecordDecl *record = type->getBaseElementTypeUnsafe()->getAsRecordDecl();
    record = record ? record->getDefinition() : NULL;
    if (!record || record->isLambda())
        return;
    if (const auto *of_class = dyn_cast<CXXRecordDecl>(record))
        for (const CXXBaseSpecifier &base : of_class->bases())
            add_fields_of(objects, base.getType(), use, whole);
    for (const FieldDecl *field : record->fields()) {
        pm_id noun = pm_noun_of_field(field);
        if (takes_field(whole, noun))
            objects->accesses.push_back({noun, use});
        add_fields_of(objects, field->getType(), use, whole);
    }
}

void pm_objects_whole(struct pm_gathered *objects, QualType type, unsigned use)
{
    struct pm_whole whole = {};
    if (use != 0)
        add_fields_of(objects, type, use, &whole);
}

/* Is the constant number of bytes, which is the last argument, less than the whole? free() reads
 * and writes none. */
static bool is_part_of(const CallExpr *call, QualType type)
{
    Expr::EvalResult result;
    const ASTContext &context = call->getDirectCallee()->getASTContext();
    if (call->getNumArgs() < 2 || type->isIncompleteType())
        return true;
    const Expr *n_bytes = call->getArg(call->getNumArgs() - 1);
    return n_bytes->getType()->isIntegerType() && !n_bytes->isValueDependent() &&
           n_bytes->EvaluateAsInt(result, context) &&
           result.Val.getInt().getExtValue() < context.getTypeSizeInChars(type).getQuantity();
}

void pm_objects_whole_target(struct pm_gathered *objects, const CallExpr *call,
                             const Expr *argument, unsigned use)
{
    QualType type = pm_inner(argument->IgnoreParenCasts())->getType();
    if (type->isArrayType())
        type = type->getAsArrayTypeUnsafe()->getElementType();
    else if (type->isPointerType())
        type = type->getPointeeType();
    if (type->isRecordType() && !is_part_of(call, type))
        pm_objects_whole(objects, type, use);
}

/* Code that copies an object of C has the place of what is copied, and so have the two ways of a
 * choice. */
void pm_touch_copied(struct pm_text_reader *reader, const Expr *to, const Expr *value,
                     SourceLocation outer)
{
    const Expr *e = pm_inner(value);
    if (const auto *choice = dyn_cast<AbstractConditionalOperator>(e)) {
        pm_touch_copied(reader, to, choice->getTrueExpr(), outer);
        pm_touch_copied(reader, to, choice->getFalseExpr(), outer);
        return;
    }
    const auto *load = dyn_cast<ImplicitCastExpr>(e);
    struct pm_gathered objects = {};
    pm_objects_of_lvalue(reader, to, PM_MAP_WRITES, &objects);
    pm_objects_whole(&objects, to->getType(), PM_MAP_WRITES);
    pm_touch_add(reader, (load ? load->getSubExpr() : e)->getExprLoc(), outer, PM_MAP_WRITES,
                 objects);
}

/* Those of bases, too. */
static void leave_out_fields(const CXXRecordDecl *record, QualType type)
{
    record = record ? record->getDefinition() : NULL;
    if (!record)
        return;
    for (const CXXBaseSpecifier &base : record->bases())
        leave_out_fields(base.getType()->getAsCXXRecordDecl(), type);
    for (const FieldDecl *field : record->fields()) {
        QualType own = field->getType().getCanonicalType().getUnqualifiedType();
        pm_id noun = own == type ? pm_noun_of_field(field) : 0;
        if (noun != 0 && pm_noun_state(noun))
            pm_fact_left_out(pm_unit_facts(), noun);
    }
}

void pm_note_member_pointer(const BinaryOperator *access)
{
    const auto *pointer = access->getRHS()->getType()->getAs<MemberPointerType>();
    const auto *record = access->getLHS()->getType()->getPointeeOrArrayElementType();
    if (pointer && pointer->isMemberDataPointer())
        leave_out_fields(record->getAsCXXRecordDecl(),
                         pointer->getPointeeType().getCanonicalType().getUnqualifiedType());
}
