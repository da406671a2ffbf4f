/* Reading the statements of one function, Clang's trees. Private to these: */
/* clang-format off */
/*   reading.cc     where statements begin and end; facts
 *   touching.cc    which variables and fields their expressions read and write
 *   calling.cc     C++: what calls do with their arguments
 *   gathering.cc   of which of them an object or an address is made
 *   containers.cc  C++: what calls do with containers, and with what refers into them
 *   referring.cc   what pointers refer to
 *   keeping.cc     C++: what objects of the library keep
 *   whole.cc       objects that are copied as a whole: their fields
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
    bool is_cxx;
    const clang::Expr *discarded; /* its value is for nothing */
};

/* What an object or an address is made of, the innermost first. */
struct pm_gathered {
    std::vector<struct pm_access> accesses;
    bool goes_through; /* `this`, or what a call gave */
};

/* --- touching.cc --- */

/* An expression's value is worked out. outer: the operation that it is for. */
void pm_touch_value(struct pm_text_reader *reader, const clang::Expr *e,
                    clang::SourceLocation outer);
/* A reference to an object is made: what is done with it is said elsewhere. */
void pm_touch_address(struct pm_text_reader *reader, const clang::Expr *object);
void pm_touch_asm(struct pm_text_reader *reader, const clang::AsmStmt *s);
/* A variable begins its life with a value. */
void pm_touch_initial(struct pm_text_reader *reader, const clang::VarDecl *variable);
/* Notes a touch of the statement. place: of the code; outer: of an operation that it may become
 * part of, invalid none; use 0: only the facts say it. Lent until the next one. */
struct pm_touch *pm_touch_add(struct pm_text_reader *reader, clang::SourceLocation place,
                              clang::SourceLocation outer, unsigned use,
                              const struct pm_gathered &objects);
struct pm_touch *pm_touch_object(struct pm_text_reader *reader, const clang::Expr *object,
                                 clang::SourceLocation place, clang::SourceLocation outer,
                                 unsigned use);
/* Subscripts and pointers within a reference to an object are read. */
void pm_touch_parts(struct pm_text_reader *reader, const clang::Expr *e);
/* A pointer that a call gave becomes part of an object. */
void pm_touch_given(struct pm_text_reader *reader, const clang::Expr *value);
/* Appends the fields that an initial value writes. field: that the value is for, 0 none. */
void pm_touch_fields(struct pm_gathered *objects, const clang::Expr *value, pm_id field);
/* PM_MAP_* of PM_USE_*. */
unsigned pm_access_of_use(unsigned use);

/* --- calling.cc --- */

/* The statement calls the function. */
void pm_note_call(struct pm_text_reader *reader, const clang::FunctionDecl *callee);
/* A call of any kind, in C++. */
void pm_touch_cxx_call(struct pm_text_reader *reader, const clang::Expr *e);
/* A member of an object that is being made gets a value. */
void pm_touch_member(struct pm_text_reader *reader, const clang::CXXCtorInitializer *member);

/* --- gathering.cc --- */

/* The expression without what only wraps it. */
const clang::Expr *pm_inner(const clang::Expr *e);
/* Of "new (place) T"; NULL: it makes its object in memory of its own. */
const clang::Expr *pm_place_of_new(const clang::CXXNewExpr *made);
/* A pointer, a reference, or an array. */
bool pm_is_pointer(clang::QualType type);
/* Appends what an object, what a pointer leads to, or what any value refers into is made of. */
void pm_objects_of_lvalue(struct pm_text_reader *reader, const clang::Expr *e, unsigned use,
                          struct pm_gathered *out);
void pm_objects_of_pointer(struct pm_text_reader *reader, const clang::Expr *e, unsigned use,
                           struct pm_gathered *out);
void pm_objects_of_any(struct pm_text_reader *reader, const clang::Expr *e, unsigned use,
                       struct pm_gathered *out);
/* What is done with the variable is done with what the value refers into, too. False: that is not
 * known. */
bool pm_note_behind(struct pm_text_reader *reader, const clang::VarDecl *variable,
                    const clang::Expr *value);
/* Then it is all that was touched since that touch ("v | std::views::filter(f)"). */
void pm_note_behind_touched(struct pm_text_reader *reader, const clang::VarDecl *variable,
                            size_t first);

/* --- containers.cc --- */

/* A call of any kind. Arguments are those of the machine's function: of a method's the object
 * comes first. NULL: one that the source does not write, or the object that is made. */
struct pm_called {
    const clang::Expr *e;
    const clang::FunctionDecl *callee; /* NULL: through a pointer */
    std::vector<const clang::Expr *> arguments;
    bool is_method;
    std::string name; /* when it was asked what the call does */
};
/* False: it is none. */
bool pm_read_call(const clang::Expr *e, struct pm_called *ret);
/* Null: the function has no such parameter, or it is `this`. */
clang::QualType pm_type_of_parameter(const struct pm_called *call, unsigned index);
/* The name of a function that C's library may have; "": it is none. Lent until the call ends. */
const char *pm_name_in_c(const clang::FunctionDecl *callee);
/* Does the result of a function of C's library lead into what an argument leads to? */
bool pm_leads_into(const struct pm_called *call, unsigned argument);
/* Bits of the arguments that the result refers into. */
unsigned pm_sources_of_call(struct pm_called *call);
/* PM_USE_* of plugin/emit/arguments.h; is_used: the result is. */
unsigned pm_use_of_argument(struct pm_called *call, unsigned index, bool is_used);
/* The same of whole elements: pm_call_whole_use of plugin/emit/containers.h. What a container has,
 * or an iterator or a pointer leads to. */
unsigned pm_whole_use_of_argument(struct pm_called *call, unsigned index);
clang::QualType pm_element_type(clang::QualType type);
bool pm_is_std_function_type(clang::QualType type);
bool pm_calls_std_function(const clang::FunctionDecl *callee);
/* "T &" */
bool pm_is_written_through(clang::QualType type);
/* The functions that an object of the program's own is called as: a lambda's, of "auto x" all. */
void pm_call_operators(clang::QualType type, std::vector<const clang::FunctionDecl *> *out);

/* enum pm_class_traits of plugin/emit/containers.h. */
unsigned pm_traits_of_class(const clang::CXXRecordDecl *record);

/* --- keeping.cc --- */

/* Appends what an object that is no variable keeps. */
void pm_objects_kept(struct pm_text_reader *reader, const clang::Expr *value,
                     struct pm_gathered *out);
/* "rows.push_back(u)": rows keeps u. */
void pm_refer_kept(struct pm_text_reader *reader, const struct pm_called *call);

/* --- whole.cc --- */

/* An object is read or written as a whole: appends its fields. The same of what an argument of a
 * memory function leads to. */
void pm_objects_whole(struct pm_gathered *objects, clang::QualType type, unsigned use);
void pm_objects_whole_target(struct pm_gathered *objects, const clang::CallExpr *call,
                             const clang::Expr *argument, unsigned use);
/* "object.*which" may be any field of that type: they are marked. */
void pm_note_member_pointer(const clang::BinaryOperator *access);
/* "to = value" of objects in C: to is written. */
void pm_touch_copied(struct pm_text_reader *reader, const clang::Expr *to, const clang::Expr *value,
                     clang::SourceLocation outer);

/* --- referring.cc --- */

/* What is done through the pointer is done with what the value refers to. */
void pm_refer(struct pm_text_reader *reader, pm_id pointer, const clang::Expr *value);
void pm_refer_assigned(struct pm_text_reader *reader, const clang::Expr *to,
                       const clang::Expr *value);
void pm_refer_initial(struct pm_text_reader *reader, pm_id noun, const clang::Expr *value);
void pm_refer_arguments(struct pm_text_reader *reader, const struct pm_called *call);
/* Of variables that were there before the program ran: addresses in their initial values. */
void pm_refer_tables(struct pm_text_reader *reader);
void pm_refer_parameters(struct pm_text_reader *reader, const clang::FunctionDecl *decl);

#endif
