/* Which addresses objects of C++'s library keep: "rows.push_back(u)", "auto job =
 * std::make_pair(u, n)", "std::make_unique<task>(u)". What is done with the object's elements is
 * done with u. plugin/emit/containers.h says which calls keep what; plugin/gcc/facts_kept.cc reads
 * the same in GCC's trees.
 */
#include "reader.h"

#include "clang/AST/DeclCXX.h"

extern "C" {
#include "../emit/containers.h"
}

using namespace clang;

enum { DEPTH_MAX = 8 };

/* --- how arguments are passed --- */

static bool is_list(QualType type)
{
    const CXXRecordDecl *record = type->getAsCXXRecordDecl();
    return record && record->getIdentifier() && record->getName() == "initializer_list" &&
           pm_is_of_system(record);
}

static enum pm_passed_as passed_as(const struct pm_called *call, unsigned index)
{
    QualType type = pm_type_of_parameter(call, index);
    if (type.isNull())
        return PM_PASSED_OTHER;
    QualType target = type.getNonReferenceType();
    if (is_list(target))
        return PM_PASSED_LIST;
    if (target->isRecordType()) {
        if (!type->isReferenceType() && pm_type_refers(target))
            return PM_PASSED_ITERATOR;
        if (!pm_inner(call->arguments[index])->isGLValue())
            return PM_PASSED_TEMPORARY;
        if (!type->isReferenceType())
            return PM_PASSED_OTHER;
        return !target.isConstQualified() && pm_is_container_type(target) ? PM_PASSED_CONTAINER
                                                                          : PM_PASSED_OBJECT;
    }
    if (target->isPointerType() || target->isArrayType())
        return type->isReferenceType() ? PM_PASSED_POINTER_BY_REFERENCE : PM_PASSED_POINTER;
    return PM_PASSED_OTHER;
}

/* The class of the object that a call of the library makes or changes; NULL: it does neither. */
static const CXXRecordDecl *class_changed(const struct pm_called *call)
{
    const FunctionDecl *callee = call->callee;
    if (!callee || !pm_is_of_system(callee))
        return NULL;
    const auto *method = dyn_cast<CXXMethodDecl>(callee);
    if (!call->is_method || !method)
        return callee->getReturnType()->getAsCXXRecordDecl();
    bool looks = method->isConst() || pm_method_looks(callee->getNameAsString().c_str());
    return looks ? NULL : method->getParent();
}

/* Are the class's elements pointers, or such as std::reference_wrapper? */
static bool has_addresses(const CXXRecordDecl *record)
{
    for (const Decl *member : record->decls()) {
        const auto *type = dyn_cast<TypedefNameDecl>(member);
        if (type && type->getName() == "value_type")
            return type->getUnderlyingType()->isPointerType() ||
                   pm_type_refers(type->getUnderlyingType());
    }
    return false;
}

/* Calls what with each argument that the object keeps. */
template <class What>
static void each_kept(const struct pm_called *call, const CXXRecordDecl *record, What what)
{
    std::string function = call->callee->getNameAsString();
    QualType type = pm_type_of_record(record);
    struct pm_keeping keeping = {
        function.c_str(), record->getIdentifier() ? pm_lasting(record->getName().str()) : "",
        pm_traits_of_class(record), pm_type_refers(type), has_addresses(record)};
    for (unsigned i = call->is_method ? 1 : 0; i < call->arguments.size(); i++)
        if (call->arguments[i] && pm_object_keeps(&keeping, passed_as(call, i)))
            what(call->arguments[i]);
}

/* --- objects without a name --- */

static void gather_kept(struct pm_text_reader *reader, const Expr *value, unsigned depth,
                        struct pm_gathered *out)
{
    const Expr *e = pm_inner(pm_inner(value)->IgnoreImplicit());
    if (depth == DEPTH_MAX)
        return;
    if (const auto *of_library = dyn_cast<CXXStdInitializerListExpr>(e)) {
        gather_kept(reader, of_library->getSubExpr(), depth + 1, out);
        return;
    }
    if (const auto *cast = dyn_cast<CastExpr>(e))
        if (e->getType()->isRecordType()) {
            gather_kept(reader, cast->getSubExpr(), depth + 1, out);
            return;
        }
    if (const auto *list = dyn_cast<InitListExpr>(e)) {
        for (const Expr *item : list->inits())
            gather_kept(reader, item, depth + 1, out);
        return;
    }
    if (e->isGLValue() || !e->getType()->isRecordType()) {
        if (pm_is_pointer(e->getType()) || pm_is_container_type(e->getType()))
            pm_objects_of_any(reader, value, 0, out);
        return;
    }
    struct pm_called call;
    const CXXRecordDecl *record = pm_read_call(e, &call) ? class_changed(&call) : NULL;
    size_t n_before = out->accesses.size();
    if (record)
        each_kept(&call, record,
                  [&](const Expr *argument) { gather_kept(reader, argument, depth + 1, out); });
    if (depth != 0 && out->accesses.size() == n_before && pm_type_refers(e->getType()))
        pm_objects_of_any(reader, value, 0, out); /* "u.begin()" */
}

void pm_objects_kept(struct pm_text_reader *reader, const Expr *value, struct pm_gathered *out)
{
    if (reader->is_cxx && value->getType()->isRecordType() && !pm_inner(value)->isGLValue())
        gather_kept(reader, value, 0, out);
}

/* --- constructors of elements --- */

static const CXXRecordDecl *element_class(const CXXRecordDecl *record, const char *name)
{
    for (const Decl *member : record->decls()) {
        const auto *type = dyn_cast<TypedefNameDecl>(member);
        if (type && type->getName() == name)
            return type->getUnderlyingType()->getAsCXXRecordDecl();
    }
    return NULL;
}

/* "v.emplace_back(u, n)" constructs an element of u and n: behind n_before arguments. */
static void hand_to_constructors(struct pm_text_reader *reader, const struct pm_called *call,
                                 unsigned first, const CXXRecordDecl *element)
{
    size_t n = call->arguments.size() - first;
    for (const CXXConstructorDecl *one : element->ctors()) {
        if (one->isImplicit() || one->getNumParams() != n)
            continue;
        for (unsigned i = 0; i < n; i++)
            if (call->arguments[first + i] && passed_as(call, first + i) != PM_PASSED_OTHER)
                pm_refer(reader, pm_noun_of_parameter(one, i + 1), call->arguments[first + i]);
    }
}

static void hand_on(struct pm_text_reader *reader, const struct pm_called *call,
                    const CXXRecordDecl *record)
{
    const char *name;
    unsigned n_before, first = call->is_method ? 1 : 0;
    for (unsigned i = 0; (name = pm_element_type_name(i, &n_before)) != NULL; i++) {
        const CXXRecordDecl *element = element_class(record, name);
        if (element && element->hasDefinition() && !pm_is_of_system(element) &&
            first + n_before < call->arguments.size())
            hand_to_constructors(reader, call, first + n_before, element->getDefinition());
    }
}

/* --- calls --- */

void pm_refer_kept(struct pm_text_reader *reader, const struct pm_called *call)
{
    const CXXRecordDecl *record = reader->is_cxx ? class_changed(call) : NULL;
    if (!record || !record->hasDefinition())
        return;
    record = record->getDefinition();
    hand_on(reader, call, record);
    if (!call->is_method || call->arguments.empty() || !call->arguments[0])
        return;
    struct pm_gathered holders = {};
    pm_objects_of_any(reader, call->arguments[0], 0, &holders);
    if (holders.accesses.empty())
        return;
    pm_id holder = holders.accesses[0].noun;
    each_kept(call, record, [&](const Expr *argument) { pm_refer(reader, holder, argument); });
}
