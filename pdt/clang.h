/* libclang, loaded when it is needed.
 *
 *     const struct pdt_clang *clang;
 *     if (pdt_clang_load(&err, &clang) == PM_OK)
 *         use(clang->createIndex(0, 0));
 *
 * The headers are those of one version and the library is of any from 14 on: its functions never
 * changed, but values of CXCursor_TranslationUnit and of all that is called First or Last did, so
 * none of these may be compared with. Functions that later versions added are NULL where they are
 * missing. Loaded once and never unloaded; any thread.
 */
#ifndef PDT_CLANG_H
#define PDT_CLANG_H

#include "mapping/base/status.h"

#include <clang-c/Index.h>

/* clang-format off */
#define PDT_CLANG_FUNCTIONS(X)                                                                     \
    X(createIndex) X(disposeIndex) X(parseTranslationUnit2FullArgv)                                \
    X(disposeTranslationUnit) X(getTranslationUnitCursor)                                          \
    X(visitChildren) X(getCursorReferenced) X(getCanonicalCursor) X(equalCursors) X(hashCursor)    \
    X(getCursorUSR) X(getCursorSpelling) X(getCursorType) X(getTypeSpelling) X(getCanonicalType)   \
    X(equalTypes) X(getPointeeType) X(getTypeKindSpelling) X(Type_getNamedType)                    \
    X(Type_getSizeOf) X(getNumElements)                                                            \
    X(isFunctionTypeVariadic) X(getArgType) X(isConstQualifiedType) X(getCursorLocation)           \
    X(getCursorExtent) X(getRangeStart) X(getRangeEnd) X(getExpansionLocation)                     \
    X(getTypeDeclaration) X(getCursorDefinition) X(getPresumedLocation) X(getFileLocation)         \
    X(getSpellingLocation) X(getOverriddenCursors) X(disposeOverriddenCursors)                     \
    X(Location_isInSystemHeader) X(getFileName) X(getFileContents) X(getCString) X(disposeString)  \
    X(isStatement) X(isExpression) X(isDeclaration) X(isCursorDefinition) X(getCursorLinkage)      \
    X(Cursor_getStorageClass) X(getCursorSemanticParent) X(Cursor_isFunctionInlined)               \
    X(Cursor_getNumArguments) X(Cursor_isDynamicCall) X(Cursor_isMacroFunctionLike)                \
    X(CXXMethod_isVirtual) X(CXXMethod_isPureVirtual) X(CXXMethod_isStatic) X(CXXMethod_isConst)   \
    X(getCXXAccessSpecifier) X(isVirtualBase) X(getTemplateCursorKind)                             \
    X(getEnumConstantDeclValue) X(Cursor_getOffsetOfField) X(getTypedefDeclUnderlyingType)         \
    X(getIncludedFile) X(getInclusions) X(getSkippedRanges) X(disposeSourceRangeList)              \
    X(getNumDiagnostics) X(getDiagnostic) X(disposeDiagnostic) X(getDiagnosticSeverity)            \
    X(getDiagnosticSpelling) X(getDiagnosticLocation) X(Cursor_getMangling)                        \
    X(getSpecializedCursorTemplate) X(getClangVersion) X(Cursor_getArgument) X(getResultType)   \
    X(getFunctionTypeCallingConv) X(getCursorPrettyPrinted) X(Type_visitFields)                    \
    X(getArrayElementType)
/* clang-format on */

struct pdt_clang {
#define X(name) __typeof__(clang_##name) *name;
    PDT_CLANG_FUNCTIONS(X)
#undef X
    /* From 17 on; the values of enum CXBinaryOperatorKind and CXUnaryOperatorKind. */
    int (*binary_operator)(CXCursor cursor), (*unary_operator)(CXCursor cursor);
    char version[64];
};

/* PERFMAP_LIBCLANG names another library. PM_ERR_UNSUPPORTED: there is none; the error names the
 * package. */
PM_MUST_CHECK enum pm_status pdt_clang_load(struct pm_error *err,
                                            const struct pdt_clang **ret_clang);

/* The type as the program writes it; the caller disposes of it. Where libclang has a name of its
 * own (22: __size_t, in the types of built-in functions), the canonical type. */
CXString pdt_type_spelling(const struct pdt_clang *clang, CXType type);

#endif
