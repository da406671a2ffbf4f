/* Reading the statements of one function, Clang's trees. Private to these: */
/* clang-format off */
/*   reading.cc    where statements begin and end; facts
 *   touching.cc   which variables and fields their expressions read and write
 *   referring.cc  what pointers refer to
 */
/* clang-format on */
#ifndef PM_CLANG_READER_H
#define PM_CLANG_READER_H

#include "reading.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Stmt.h"
#include "clang/Basic/SourceManager.h"

struct pm_text_reader {
    const clang::SourceManager &sources;
    const struct pm_source_function *function;
    struct pm_read_text *text;
    int statement; /* that is being read */
};

using pm_accesses = std::vector<struct pm_access>;

/* --- touching.cc --- */

/* An expression's value is worked out. outer: the operation that it is for. */
void pm_touch_value(struct pm_text_reader *reader, const clang::Expr *e,
                    clang::SourceLocation outer);
void pm_touch_asm(struct pm_text_reader *reader, const clang::AsmStmt *s);
/* A variable begins its life with a value. */
void pm_touch_initial(struct pm_text_reader *reader, const clang::VarDecl *variable);
/* What an object or what a pointer leads to is made of, the innermost first; nothing is noted. */
void pm_objects_of_lvalue(struct pm_text_reader *reader, const clang::Expr *e, unsigned use,
                          pm_accesses *out);
void pm_objects_of_pointer(struct pm_text_reader *reader, const clang::Expr *e, unsigned use,
                           pm_accesses *out);

/* --- referring.cc --- */

/* What is done through the pointer is done with what the value refers to. */
void pm_refer(struct pm_text_reader *reader, pm_id pointer, const clang::Expr *value);
void pm_refer_assigned(struct pm_text_reader *reader, const clang::Expr *to,
                       const clang::Expr *value);
void pm_refer_initial(struct pm_text_reader *reader, pm_id noun, const clang::Expr *value);
void pm_refer_arguments(struct pm_text_reader *reader, const clang::CallExpr *call);
void pm_refer_parameters(struct pm_text_reader *reader, const clang::FunctionDecl *decl);

#endif
