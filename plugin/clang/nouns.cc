/* Nouns of variables, fields and types. How they are named: docs/formats/pif-names.md. */
#include "nouns.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/Mangle.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/Config/llvm-config.h"

#include <map>

extern "C" {
#include "../../mapping/base/names.h"
}

using namespace clang;

static pm_id add(pm_described &one, const struct pm_place &place)
{
    one.data.shown = place.shown;
    one.data.line = place.line;
    one.data.column = place.column;
    pm_noun_describe(one);
    return one.data.id;
}

static struct pm_place place_of_decl(const Decl *decl)
{
    struct pm_place place = {NULL, NULL, 0, 0};
    pm_source_place(decl->getASTContext().getSourceManager(), decl->getLocation(), &place);
    return place;
}

/* "-I/usr/include/eigen3" (pkg-config) names a system header no less than -isystem. */
bool pm_is_of_system(const Decl *decl)
{
    const SourceManager &sources = decl->getASTContext().getSourceManager();
    struct pm_place place;
    return sources.isInSystemHeader(sources.getExpansionLoc(decl->getLocation())) ||
           (pm_source_place(sources, decl->getLocation(), &place) &&
            pm_name_is_of_system(place.file));
}

/* --- types --- */

static std::string printed(QualType type, const ASTContext &context)
{
    PrintingPolicy policy = context.getPrintingPolicy();
    policy.SuppressTagKeyword = context.getLangOpts().CPlusPlus;
    policy.AnonymousTagLocations = false;
    return type.getAsString(policy);
}

/* "char * *", as GCC writes it. */
static std::string scalar_text(QualType type, const ASTContext &context)
{
    const auto *pointer = type->getAs<PointerType>();
    if (!pointer || type->getAs<TypedefType>() || pointer->getPointeeType()->isFunctionType())
        return printed(type, context);
    std::string text = scalar_text(pointer->getPointeeType(), context) + " *";
    return type.isConstQualified() ? text + " const" : text;
}

static QualType element_of(QualType type, const ASTContext &context, std::string *bounds)
{
    while (const ArrayType *array = context.getAsArrayType(type)) {
        const auto *fixed = dyn_cast<ConstantArrayType>(array);
        std::string size = fixed ? std::to_string(fixed->getSize().getZExtValue()) : "";
        *bounds += "[" + size + "]";
        type = array->getElementType();
    }
    return type;
}

/* "double [100][50]", "double (*) [50]" */
static std::string type_text(QualType type, const ASTContext &context)
{
    std::string bounds, head;
    type = type.getNonReferenceType();
    if (const auto *pointer = type->getAs<PointerType>())
        if (context.getAsArrayType(pointer->getPointeeType())) {
            head = "(*) ";
            type = pointer->getPointeeType();
        }
    type = element_of(type, context, &bounds);
    return scalar_text(type, context) + (bounds.empty() ? "" : " " + head + bounds);
}

static bool is_array(QualType type)
{
    type = type.getNonReferenceType();
    if (const auto *pointer = type->getAs<PointerType>())
        type = pointer->getPointeeType();
    return type->isArrayType();
}

/* --- variables --- */

/* "sweep::u"; a further variable of that name in the same function has its line added:
 * "sweep::i:42". */
static std::string local_name(const struct pm_source_function *function, const std::string &name,
                              const struct pm_place &place, pm_id id)
{
    static std::map<std::pair<pm_id, std::string>, pm_id> taken;
    std::string full = std::string(function->name) + "::" + name;
    if (taken.insert({{function->id, name}, id}).first->second != id)
        full += ':' + std::to_string(place.line);
    return full;
}

static std::string linkage_of(const NamedDecl *decl)
{
    ASTNameGenerator names(decl->getASTContext());
    std::string linkage = names.getName(decl);
    return linkage[0] == '\1' ? linkage.substr(1) : linkage;
}

static void describe_global(const VarDecl *variable, const struct pm_place &place,
                            pm_described *one)
{
    std::string linkage = linkage_of(variable);
    const char *local_path = variable->isExternallyVisible() ? NULL : place.file;
    one->data.id = pm_id_of_global(linkage.c_str(), local_path);
    pm_noun_add_symbol(linkage, one->data.id);
    one->file = place.file;
    one->data.name = pm_lasting(pm_declared_name(linkage));
    if (linkage != one->data.name)
        one->data.linkage = pm_lasting(linkage);
}

static std::vector<const VarDecl *> named;

std::vector<const VarDecl *> pm_named_variables(void)
{
    std::vector<const VarDecl *> list;
    list.swap(named);
    return list;
}

static pm_id make_variable(const VarDecl *variable, const struct pm_source_function *function)
{
    struct pm_place place = place_of_decl(variable);
    pm_described one = {};
    bool is_local = variable->getParentFunctionOrMethod() && !variable->hasExternalStorage();
    if (place.file == NULL || (is_local && !function))
        return 0;
    if (is_local) {
        std::string name = variable->getNameAsString();
        one.data.id = pm_id_of_local(function->id, name.c_str(), pm_place_point(&place));
        one.function = function;
        one.data.name = pm_lasting(local_name(function, name, place, one.data.id));
    } else {
        describe_global(variable, place, &one);
        if (variable->getInit())
            named.push_back(variable);
    }
    std::string type = type_text(variable->getType(), variable->getASTContext());
    bool holds = is_array(variable->getType()) || pm_is_container_type(variable->getType());
    one.data.kind = holds ? PM_DATA_ARRAY : PM_DATA_VARIABLE;
    if (one.data.kind == PM_DATA_VARIABLE && variable->getType()->isReferenceType())
        type += " &";
    one.data.type = pm_lasting(type);
    return add(one, place);
}

/* A lambda names variables of the function around it. */
static const struct pm_source_function *function_around(const VarDecl *variable,
                                                        const struct pm_source_function *being_read)
{
    const auto *around = dyn_cast_or_null<FunctionDecl>(variable->getParentFunctionOrMethod());
    if (!pm_compilation.is_cxx || !being_read || !around || around->isDependentContext())
        return being_read;
    return pm_source_of_decl(around);
}

pm_id pm_noun_of_variable(const VarDecl *variable, const struct pm_source_function *function)
{
    /* By the function, too: instances of a template that share a variable's tree. */
    static std::map<std::pair<const VarDecl *, const struct pm_source_function *>, pm_id> known;
    if (const VarDecl *definition = variable->getDefinition())
        variable = definition;
    function = variable->getParentFunctionOrMethod() ? function_around(variable, function) : NULL;
    auto entry = known.insert({{variable, function}, 0});
    if (entry.second && !variable->isImplicit() && variable->getIdentifier() &&
        !pm_is_of_system(variable))
        entry.first->second = make_variable(variable, function);
    return entry.first->second;
}

/* --- fields --- */

/* A type without any name has its place for one. */
static std::string anonymous_name(const RecordDecl *type, const struct pm_place &place)
{
    std::string name = type->isUnion() ? "union " : "struct ";
    name += place.shown != NULL ? place.shown : "?";
    return name + ':' + std::to_string(place.line);
}

QualType pm_type_of_record(const RecordDecl *record)
{
#if LLVM_VERSION_MAJOR < 22
    return record->getASTContext().getRecordType(record);
#else
    return record->getASTContext().getCanonicalTagType(record);
#endif
}

static std::string type_name(const RecordDecl *type)
{
    if (!type->getIdentifier())
        return "";
    const ASTContext &context = type->getASTContext();
    PrintingPolicy policy = context.getPrintingPolicy();
    policy.SuppressTagKeyword = true;
    return pm_type_of_record(type).getAsString(policy);
}

static pm_id make_type(const RecordDecl *type, const struct pm_place &first_field,
                       std::string *ret_name)
{
    struct pm_place place = place_of_decl(type);
    const char *path = place.file != NULL ? place.file : "";
    pm_described one = {};
    one.data.kind = PM_DATA_TYPE;
    *ret_name = type_name(type);
    if (!ret_name->empty()) {
        one.data.id = pm_id_of_type(ret_name->c_str(), path, NULL);
    } else {
        struct pm_text_point point = pm_place_point(&first_field);
        one.data.id = pm_id_of_type("", path, &point);
        const TypedefNameDecl *other = type->getTypedefNameForAnonDecl();
        *ret_name = other ? other->getNameAsString() : anonymous_name(type, place);
    }
    one.data.name = pm_lasting(*ret_name);
    one.file = place.file;
    return add(one, place);
}

static pm_id make_field(const FieldDecl *field)
{
    const RecordDecl *type = field->getParent();
    struct pm_place place = place_of_decl(field), first = place_of_decl(*type->field_begin());
    std::string of_type, text = type_text(field->getType(), field->getASTContext());
    if (pm_is_container_type(field->getType()))
        text += " [:]"; /* of a field only the type says that it has elements */
    pm_described one = {};
    one.data.kind = PM_DATA_FIELD;
    one.data.parent = make_type(type, first, &of_type);
    std::string name = field->getNameAsString();
    one.data.id = pm_id_of_field(one.data.parent, name.c_str());
    one.data.name = pm_lasting(of_type + "::" + name);
    one.data.type = pm_lasting(text);
    return add(one, place);
}

pm_id pm_noun_of_field(const FieldDecl *field)
{
    static std::map<const FieldDecl *, pm_id> known;
    auto entry = known.insert({field, 0});
    if (entry.second && field->getIdentifier() && !pm_is_of_system(field) &&
        !field->getParent()->isLambda())
        entry.first->second = make_field(field);
    return entry.first->second;
}

/* --- functions --- */

bool pm_has_this(const FunctionDecl *function)
{
    const auto *method = dyn_cast<CXXMethodDecl>(function);
    return method && method->isInstance();
}

bool pm_refers(QualType type)
{
    return type->isPointerType() || type->isReferenceType() || pm_type_refers(type);
}

bool pm_takes_addresses(QualType type)
{
    return pm_refers(type) || pm_is_container_type(type);
}

pm_id pm_id_of_callee(const FunctionDecl *callee)
{
    return pm_source_of_decl(callee)->id;
}

pm_id pm_noun_of_called(const FunctionDecl *callee)
{
    if (!callee->isExternallyVisible() || callee->hasBody() || callee->isDefaulted())
        return 0;
    pm_described one = {};
    one.called = pm_source_of_decl(callee);
    one.data.id = one.called->id;
    one.is_library = callee->getBuiltinID() != 0 || pm_is_of_system(callee);
    pm_noun_describe(one);
    return one.data.id;
}

/* Of the library's methods nobody asks what they work on. */
static pm_id noun_of_this(const FunctionDecl *method)
{
    return pm_is_of_system(method) ? 0 : pm_id_of_parameter(pm_id_of_callee(method), 0);
}

pm_id pm_noun_of_parameter(const FunctionDecl *callee, unsigned index)
{
    const FunctionDecl *definition = NULL;
    if (pm_has_this(callee) && index == 0)
        return noun_of_this(callee);
    if (!callee->hasBody(definition))
        return callee->isExternallyVisible() ? pm_id_of_parameter(pm_id_of_callee(callee), index)
                                             : 0;
    index -= pm_has_this(callee) ? 1 : 0;
    if (index >= definition->getNumParams())
        return 0;
    const ParmVarDecl *parameter = definition->getParamDecl(index);
    return pm_takes_addresses(parameter->getType())
               ? pm_noun_of_variable(parameter, pm_source_of_decl(definition))
               : 0;
}
