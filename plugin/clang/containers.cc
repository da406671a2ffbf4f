/* Containers of C++, read from Clang's types and calls: plugin/emit/containers.h says what is one,
 * and what calls do with it. plugin/gcc/facts_containers.cc reads the same in GCC's trees. */
#include "reader.h"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"

#include <map>

extern "C" {
#include "../emit/arguments.h"
#include "../emit/containers.h"
}

using namespace clang;

/* --- types --- */

/* The class of an object, or of what is referred to; NULL: it is none, or not whole. */
static const CXXRecordDecl *class_of(QualType type)
{
    const CXXRecordDecl *record = type.getNonReferenceType()->getAsCXXRecordDecl();
    return record && record->hasDefinition() ? record->getDefinition() : NULL;
}

static unsigned traits_of(const CXXRecordDecl *record);

static unsigned traits_of_field(const FieldDecl *field)
{
    if (pm_is_pointer(field->getType()))
        return PM_HAS_STORAGE;
    const CXXRecordDecl *record = class_of(field->getType());
    return record && field->getIdentifier() ? pm_member_traits(traits_of(record)) : 0;
}

static unsigned traits_of_member(const Decl *member)
{
    if (const auto *field = dyn_cast<FieldDecl>(member))
        return traits_of_field(field);
    const auto *named = dyn_cast<NamedDecl>(member);
    if (!named || isa<TypeDecl>(member) || isa<VarDecl>(member))
        return 0;
    const auto *method = dyn_cast<CXXMethodDecl>(member);
    std::string name = named->getNameAsString();
    struct pm_method read = {name.c_str(),
                             method && method->isInstance() && method->getNumParams() == 0,
                             method && method->getReturnType()->isReferenceType()};
    return pm_method_traits(&read);
}

static std::string name_of_class(const CXXRecordDecl *record)
{
    return record->getIdentifier() ? record->getName().str() : "";
}

static unsigned traits_of(const CXXRecordDecl *record)
{
    static std::map<const CXXRecordDecl *, unsigned> known;
    auto entry = known.insert({record, 0});
    if (!entry.second)
        return entry.first->second;
    unsigned traits = pm_class_name_traits(name_of_class(record).c_str());
    for (const Decl *member : record->decls())
        traits |= traits_of_member(member);
    for (const CXXBaseSpecifier &base : record->bases())
        if (const CXXRecordDecl *of_base = class_of(base.getType()))
            traits |= traits_of(of_base);
    return known[record] = traits;
}

unsigned pm_traits_of_class(const CXXRecordDecl *record)
{
    return record->hasDefinition() ? traits_of(record->getDefinition()) : 0;
}

bool pm_is_container_type(QualType type)
{
    const CXXRecordDecl *record = class_of(type);
    return record && !record->isLambda() && pm_is_container(traits_of(record));
}

static bool is_view(const CXXRecordDecl *record, unsigned traits)
{
    const ASTContext &context = record->getASTContext();
    struct pm_class_shape shape = {false, false, !record->canPassInRegisters(), traits, UINT64_MAX};
    if (record->isInvalidDecl() || record->isDependentType())
        return false;
    for (const FieldDecl *field : record->fields()) {
        QualType type = field->getType();
        shape.has_pointer |= type->isPointerType() || type->isReferenceType();
        shape.has_aggregate |= type->isRecordType() || type->isArrayType();
    }
    for (const CXXBaseSpecifier &base : record->bases())
        if (const CXXRecordDecl *of_base = class_of(base.getType()))
            shape.has_aggregate |= !of_base->isEmpty();
    uint64_t bits = context.getTypeSize(pm_type_of_record(record));
    uint64_t of_pointer = context.getTypeSize(context.VoidPtrTy);
    shape.n_pointers = (bits + of_pointer - 1) / of_pointer;
    return pm_is_view(&shape);
}

bool pm_type_refers(QualType type)
{
    const CXXRecordDecl *record = type->isReferenceType() ? NULL : class_of(type);
    if (!record)
        return false;
    unsigned traits = traits_of(record);
    return pm_class_refers(name_of_class(record).c_str(), traits) || is_view(record, traits);
}

bool pm_is_std_function_type(QualType type)
{
    if (type->isPointerType())
        type = type->getPointeeType();
    const CXXRecordDecl *record = class_of(type);
    return record && pm_is_of_system(record) && pm_is_std_function(name_of_class(record).c_str());
}

/* --- calls --- */

static void add_arguments(struct pm_called *call, llvm::ArrayRef<const Expr *> arguments)
{
    for (const Expr *argument : arguments)
        call->arguments.push_back(isa<CXXDefaultArgExpr>(argument) ? NULL : argument);
}

bool pm_read_call(const Expr *e, struct pm_called *ret)
{
    *ret = {};
    ret->e = e;
    if (const auto *made = dyn_cast<CXXConstructExpr>(e)) {
        ret->callee = made->getConstructor();
        ret->is_method = true;
        ret->arguments.push_back(NULL);
        add_arguments(ret, llvm::ArrayRef<const Expr *>(made->getArgs(), made->getNumArgs()));
        return true;
    }
    const auto *call = dyn_cast<CallExpr>(e);
    if (!call)
        return false;
    ret->callee = call->getDirectCallee();
    if (const auto *of_object = dyn_cast<CXXMemberCallExpr>(call)) {
        ret->is_method = true;
        ret->arguments.push_back(of_object->getImplicitObjectArgument());
    } else {
        const auto *method = dyn_cast_or_null<CXXMethodDecl>(ret->callee);
        ret->is_method = isa<CXXOperatorCallExpr>(call) && method && method->isInstance();
    }
    add_arguments(ret, llvm::ArrayRef<const Expr *>(call->getArgs(), call->getNumArgs()));
    return true;
}

const char *pm_name_in_c(const FunctionDecl *callee)
{
    bool has_name = callee && callee->getIdentifier() && callee->isExternallyVisible() &&
                    !isa<CXXMethodDecl>(callee);
    return has_name ? pm_builtin_free_name(callee->getIdentifier()->getNameStart()) : "";
}

bool pm_leads_into(const struct pm_called *call, unsigned argument)
{
    return pm_result_leads_into(pm_name_in_c(call->callee), argument);
}

QualType pm_type_of_parameter(const struct pm_called *call, unsigned index)
{
    unsigned before = call->is_method ? 1 : 0;
    if (!call->callee || index < before || index - before >= call->callee->getNumParams())
        return QualType();
    return call->callee->getParamDecl(index - before)->getType();
}

static enum pm_call_result result_of(const struct pm_called *call)
{
    const auto *e = dyn_cast<CallExpr>(call->e);
    if (!e)
        return PM_RESULT_OTHER;
    QualType type = e->getCallReturnType(call->callee->getASTContext());
    if (type->isReferenceType())
        return PM_RESULT_REFERENCE;
    if (type->isPointerType())
        return PM_RESULT_POINTER;
    return pm_type_refers(type) ? PM_RESULT_REFERRING : PM_RESULT_OTHER;
}

static bool is_leading(const struct pm_called *call, unsigned index)
{
    QualType type = pm_type_of_parameter(call, index);
    return !type.isNull() &&
           (type->isPointerType() || type->isReferenceType() || pm_type_refers(type));
}

/* The name is lent by the call. */
static struct pm_cxx_call shape_of(struct pm_called *call, bool is_used)
{
    struct pm_cxx_call read = {};
    if (call->callee)
        call->name = call->callee->getNameAsString();
    read.name = call->name.c_str();
    read.n_arguments = (unsigned)call->arguments.size();
    read.result = is_used ? result_of(call) : PM_RESULT_OTHER;
    read.is_method = call->is_method;
    read.is_library = call->callee && pm_is_of_system(call->callee);
    QualType first = pm_type_of_parameter(call, 0);
    read.first_is_reference = !first.isNull() && first->isReferenceType();
    unsigned leading = 0;
    for (unsigned i = 0; i < 2 && i < call->arguments.size() && !call->is_method; i++)
        leading |= is_leading(call, i) ? 1u << i : 0;
    if (read.result != PM_RESULT_OTHER)
        read.sources = pm_call_sources(&read, leading);
    return read;
}

unsigned pm_sources_of_call(struct pm_called *call)
{
    return call->callee ? shape_of(call, true).sources : 0;
}

bool pm_is_written_through(QualType type)
{
    return !type.isNull() && type->isReferenceType() && !type->getPointeeType().isConstQualified();
}

/* A function object that is called with elements: does it take them to write? */
static bool takes_to_write(QualType type)
{
    std::vector<const FunctionDecl *> operators;
    pm_call_operators(type, &operators);
    for (const FunctionDecl *one : operators)
        if (one->getNumParams() > 0 && pm_is_written_through(one->getParamDecl(0)->getType()))
            return true;
    return false;
}

/* "std::visit([](auto &x) { ... }, v)" hands out what v holds. */
static bool visits_to_write(const struct pm_called *call)
{
    const Expr *first = call->arguments.size() > 1 ? call->arguments[0] : NULL;
    return first && !call->is_method && call->callee->getIdentifier() &&
           call->callee->getName() == "visit" && call->callee->isInStdNamespace() &&
           takes_to_write(first->getType());
}

static bool is_policy(const Expr *argument)
{
    const CXXRecordDecl *record = argument ? class_of(argument->getType()) : NULL;
    return record && pm_is_execution_policy(name_of_class(record).c_str());
}

static unsigned count_leading(const struct pm_called *call)
{
    unsigned n = 0;
    for (const Expr *argument : call->arguments) {
        const Expr *e = argument ? pm_inner(argument) : NULL;
        n +=
            e && !e->isGLValue() && (e->getType()->isPointerType() || pm_type_refers(e->getType()));
    }
    return n;
}

/* An algorithm of std::ranges takes iterators by value; a range, which may be a span, it does not.
 */
static bool gets_range(const struct pm_called *call)
{
    return call->callee->getNumParams() > 0 &&
           call->callee->getParamDecl(0)->getType()->isReferenceType();
}

/* The function object that an algorithm calls: the last argument, or that before the projection. */
static void read_function_object(const struct pm_called *call, struct pm_cxx_call *read)
{
    const auto *method = dyn_cast<CXXMethodDecl>(call->callee);
    size_t at = call->arguments.size() - 1;
    if (method && method->getOverloadedOperator() == OO_Call &&
        pm_algorithm_of_class(name_of_class(method->getParent()).c_str(), read)) {
        read->gets_range = gets_range(call);
        at = std::min(at, (size_t)(read->gets_range ? 2 : 3));
    }
    if (const Expr *object = call->arguments[at])
        read->last_takes_to_write = takes_to_write(object->getType());
}

/* Of a call whose function is known. */
static struct pm_cxx_call whole_shape_of(struct pm_called *call, unsigned index, bool is_used)
{
    struct pm_cxx_call read = shape_of(call, is_used);
    const auto *method = dyn_cast<CXXMethodDecl>(call->callee);
    if (pm_calls_std_function(call->callee) || visits_to_write(call))
        read.passes_to_write = pm_is_written_through(pm_type_of_parameter(call, index));
    if (read.is_library && !call->arguments.empty())
        read_function_object(call, &read);
    if (read.is_library && read.is_method && method) {
        const Expr *object = call->arguments[0];
        read.object_is_const = method->isConst();
        read.object_refers = object && pm_type_refers(pm_type_of_record(method->getParent()));
        read.constructs = isa<CXXConstructorDecl>(method);
        read.moves_elements = pm_moves_elements(name_of_class(method->getParent()).c_str());
    } else if (read.is_library) {
        read.n_leading = count_leading(call);
        read.has_policy = !call->arguments.empty() && is_policy(call->arguments[0]);
    }
    return read;
}

unsigned pm_use_of_argument(struct pm_called *call, unsigned index, bool is_used)
{
    if (!call->callee)
        return PM_USE_READS;
    struct pm_cxx_call read = whole_shape_of(call, index, is_used);
    return pm_call_use(&read, index);
}

unsigned pm_whole_use_of_argument(struct pm_called *call, unsigned index)
{
    if (!call->callee || !pm_is_of_system(call->callee))
        return 0;
    struct pm_cxx_call read = whole_shape_of(call, index, true);
    return pm_call_whole_use(&read, index);
}

static QualType value_type_of(const CXXRecordDecl *record)
{
    record = record->getDefinition();
    if (!record)
        return QualType();
    for (const Decl *member : record->decls()) {
        const auto *type = dyn_cast<TypedefNameDecl>(member);
        if (type && type->getName() == "value_type")
            return type->getUnderlyingType();
    }
    for (const CXXBaseSpecifier &base : record->bases())
        if (const CXXRecordDecl *of_base = class_of(base.getType())) {
            QualType found = value_type_of(of_base);
            if (!found.isNull())
                return found;
        }
    return QualType();
}

QualType pm_element_type(QualType type)
{
    type = type.getNonReferenceType();
    if (type->isArrayType())
        return type->getAsArrayTypeUnsafe()->getElementType();
    if (type->isPointerType())
        return type->getPointeeType();
    const CXXRecordDecl *record = type->getAsCXXRecordDecl();
    QualType element = record && pm_is_of_system(record) ? value_type_of(record) : QualType();
    return element.isNull() ? type : element;
}

bool pm_calls_std_function(const FunctionDecl *callee)
{
    const auto *method = dyn_cast<CXXMethodDecl>(callee);
    return method && method->getOverloadedOperator() == OO_Call &&
           pm_is_std_function_type(pm_type_of_record(method->getParent()));
}

void pm_call_operators(QualType type, std::vector<const FunctionDecl *> *out)
{
    const CXXRecordDecl *record = class_of(type);
    if (!record || pm_is_of_system(record))
        return;
    for (const Decl *member : record->decls()) {
        const auto *made = dyn_cast<FunctionTemplateDecl>(member);
        const auto *method = dyn_cast<CXXMethodDecl>(member);
        if (method && method->getOverloadedOperator() == OO_Call)
            out->push_back(method);
        if (!made || made->getTemplatedDecl()->getOverloadedOperator() != OO_Call)
            continue;
        for (const FunctionDecl *one : const_cast<FunctionTemplateDecl *>(made)->specializations())
            out->push_back(one);
    }
}
