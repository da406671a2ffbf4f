/* Statements: where each begins and ends, and the facts of what they do. They are those of GCC's
 * back end (plugin/gcc/facts_ranges.cc): an expression, a variable with a value, the parts of a
 * for, the condition of an if, the value of a return. */
#include "reader.h"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/AST/StmtOpenMP.h"

#include <algorithm>

using namespace clang;

/* --- where they are --- */

static void add_place(struct pm_text_reader *reader, struct pm_range *range,
                      SourceLocation location)
{
    struct pm_place place;
    if (location.isValid() && pm_source_place(reader->sources, location, &place))
        pm_range_widen(range, &place);
}

/* False: it is at no place. around: the loop that it lies in, NULL none. */
static bool begin_statement(struct pm_text_reader *reader, SourceLocation begin, SourceLocation end,
                            const Stmt *around)
{
    struct pm_range range = {};
    struct pm_written_statement statement = {};
    if (!begin.isValid() || !pm_source_place(reader->sources, begin, &statement.place))
        return false;
    add_place(reader, &range, begin);
    add_place(reader, &range, end);
    if (!pm_statements_add(&reader->text->ranges, &range))
        pm_no_memory();
    statement.last = range.last;
    if (around)
        pm_source_place(reader->sources, around->getBeginLoc(), &statement.loop_place);
    reader->statement = (int)reader->text->statements.size();
    reader->text->statements.push_back(statement);
    return true;
}

static void read_expression(struct pm_text_reader *reader, const Expr *e, const Stmt *around)
{
    if (!e || !begin_statement(reader, e->getBeginLoc(), e->getEndLoc(), around))
        return;
    reader->discarded = pm_inner(e);
    pm_touch_value(reader, e, SourceLocation());
    reader->discarded = NULL;
}

static void read_variable(struct pm_text_reader *reader, const VarDecl *variable,
                          const Stmt *around)
{
    const auto *sized = dyn_cast<VariableArrayType>(variable->getType().getTypePtr());
    if (sized && begin_statement(reader, variable->getLocation(), variable->getLocation(), around))
        pm_touch_value(reader, sized->getSizeExpr(), SourceLocation());
    if (!variable->getInit())
        return;
    if (!variable->hasLocalStorage()) {
        pm_touch_initial(reader, variable);
        return;
    }
    if (begin_statement(reader, variable->getLocation(), variable->getInit()->getEndLoc(), around))
        pm_touch_initial(reader, variable);
}

static void read_statement(struct pm_text_reader *reader, const Stmt *s, const Stmt *around);

static void read_children(struct pm_text_reader *reader, const Stmt *s, const Stmt *around)
{
    for (const Stmt *child : s->children())
        read_statement(reader, child, around);
}

static void read_point(struct pm_text_reader *reader, SourceLocation place, const Stmt *around)
{
    begin_statement(reader, place, place, around);
}

/* Code of "return x" and "if (x)" is at the keyword, too; the statement begins with x. */
static void add_keyword(struct pm_text_reader *reader, SourceLocation location, const Expr *value)
{
    struct pm_place keyword, begin;
    if (value && location.isValid() && pm_source_place(reader->sources, location, &keyword) &&
        pm_source_place(reader->sources, value->getBeginLoc(), &begin))
        reader->text->keywords.push_back({keyword, pm_place_point(&begin)});
}

static void read_return(struct pm_text_reader *reader, const ReturnStmt *statement,
                        const Stmt *around)
{
    const Expr *value = statement->getRetValue();
    if (!value) {
        read_point(reader, statement->getReturnLoc(), around);
        return;
    }
    add_keyword(reader, statement->getReturnLoc(), value);
    if (!begin_statement(reader, value->getBeginLoc(), value->getEndLoc(), around))
        return;
    if (value->isGLValue())
        pm_touch_address(reader, value);
    else
        pm_touch_value(reader, value, statement->getReturnLoc());
    if (pm_takes_addresses(value->getType()) || value->isGLValue())
        pm_refer(reader, pm_id_of_returned(reader->function->id), value);
}

static void read_for(struct pm_text_reader *reader, const ForStmt *loop, const Stmt *around)
{
    read_point(reader, loop->getForLoc(), around);
    if (loop->getInit())
        read_statement(reader, loop->getInit(), around);
    read_expression(reader, loop->getCond(), loop);
    read_expression(reader, loop->getInc(), loop);
    read_statement(reader, loop->getBody(), loop);
}

/* "for (double x : v)": the variables that it is made of are no statements; each round begins
 * with that of x. */
static void read_range(struct pm_text_reader *reader, const CXXForRangeStmt *loop,
                       const Stmt *around)
{
    read_point(reader, loop->getForLoc(), around);
    if (loop->getInit())
        read_statement(reader, loop->getInit(), around);
    const Expr *range = loop->getRangeInit();
    size_t first = reader->text->touches.size();
    if (begin_statement(reader, range->getBeginLoc(), range->getEndLoc(), around))
        pm_touch_value(reader, range, SourceLocation());
    for (const DeclStmt *made : {loop->getRangeStmt(), loop->getBeginStmt(), loop->getEndStmt()})
        for (const Decl *decl : made->decls())
            if (const auto *variable = dyn_cast<VarDecl>(decl))
                if (variable->getInit() && !pm_note_behind(reader, variable, variable->getInit()))
                    pm_note_behind_touched(reader, variable, first);
    if (begin_statement(reader, loop->getColonLoc(), loop->getColonLoc(), loop)) {
        pm_touch_value(reader, loop->getCond(), SourceLocation());
        pm_touch_value(reader, loop->getInc(), SourceLocation());
    }
    const VarDecl *element = loop->getLoopVariable();
    if (element->getInit() && !pm_note_behind(reader, element, element->getInit()))
        pm_note_behind_touched(reader, element, first);
    read_variable(reader, element, loop);
    read_statement(reader, loop->getBody(), loop);
}

static void read_loop(struct pm_text_reader *reader, const Stmt *s, const Stmt *around)
{
    if (const auto *counting = dyn_cast<ForStmt>(s)) {
        read_for(reader, counting, around);
    } else if (const auto *range = dyn_cast<CXXForRangeStmt>(s)) {
        read_range(reader, range, around);
    } else if (const auto *loop = dyn_cast<WhileStmt>(s)) {
        read_point(reader, loop->getWhileLoc(), around);
        read_expression(reader, loop->getCond(), loop);
        read_statement(reader, loop->getBody(), loop);
    } else if (const auto *backwards = dyn_cast<DoStmt>(s)) {
        read_point(reader, backwards->getDoLoc(), around);
        add_keyword(reader, backwards->getWhileLoc(), backwards->getCond());
        read_statement(reader, backwards->getBody(), backwards);
        read_expression(reader, backwards->getCond(), backwards);
    } else {
        read_point(reader, s->getBeginLoc(), around);
        read_children(reader, s, s);
    }
}

static void read_declarations(struct pm_text_reader *reader, const DeclStmt *s, const Stmt *around)
{
    for (const Decl *decl : s->decls())
        if (const auto *variable = dyn_cast<VarDecl>(decl))
            read_variable(reader, variable, around);
}

static void read_if(struct pm_text_reader *reader, const IfStmt *choice, const Stmt *around)
{
    const std::vector<struct pm_written_statement> &statements = reader->text->statements;
    struct pm_read_ways ways = {-1, 0, -1, 0};
    add_keyword(reader, choice->getIfLoc(), choice->getCond());
    for (const Stmt *child : choice->children()) {
        if (child == choice->getCond())
            ways.condition = (int)statements.size();
        else if (child == choice->getThen())
            ways.first = (int)statements.size();
        else if (child == choice->getElse())
            ways.otherwise = (int)statements.size();
        read_statement(reader, child, around);
    }
    ways.end = (int)statements.size();
    if (!choice->getElse())
        ways.otherwise = ways.end;
    reader->text->ways.push_back(ways);
}

static void read_goto(struct pm_text_reader *reader, const IndirectGotoStmt *s, const Stmt *around)
{
    if (begin_statement(reader, s->getBeginLoc(), s->getEndLoc(), around))
        pm_touch_value(reader, s->getTarget(), s->getBeginLoc());
}

static void read_asm(struct pm_text_reader *reader, const AsmStmt *text, const Stmt *around)
{
    const Stmt *s = text; /* AsmStmt hides its places */
    if (begin_statement(reader, s->getBeginLoc(), s->getEndLoc(), around))
        pm_touch_asm(reader, text);
}

/* What GCC calls the regions of a directive: "parallel for" is a parallel region with a loop. */
static void add_regions(struct pm_text_reader *reader, const OMPExecutableDirective *directive,
                        const Stmt *around)
{
    static const char *const constructs[] = {"target",  "teams",   "parallel",  "task",
                                             "single",  "master",  "masked",    "critical",
                                             "ordered", "section", "taskgroup", "sections"};
    struct pm_read_region region = {};
    std::string words = llvm::omp::getOpenMPDirectiveName(directive->getDirectiveKind()).str();
    if (!pm_source_place(reader->sources, directive->getBeginLoc(), &region.place))
        return;
    if (around)
        pm_source_place(reader->sources, around->getBeginLoc(), &region.loop_place);
    words = " " + words + " ";
    if (words == " taskloop " || words == " taskloop simd ")
        words = " task ";
    for (const char *construct : constructs) {
        if (words.find(std::string(" ") + construct + " ") == std::string::npos)
            continue;
        region.construct = construct;
        reader->text->regions.push_back(region);
    }
}

static void read_directive(struct pm_text_reader *reader, const OMPExecutableDirective *directive,
                           const Stmt *around)
{
    add_regions(reader, directive, around);
    if (!begin_statement(reader, directive->getBeginLoc(), directive->getEndLoc(), around))
        return;
    for (const OMPClause *clause : directive->clauses())
        for (const Stmt *item : const_cast<OMPClause *>(clause)->used_children())
            if (const auto *e = dyn_cast_or_null<Expr>(item))
                e->isGLValue() ? pm_touch_address(reader, e)
                               : pm_touch_value(reader, e, SourceLocation());
    read_statement(reader, pm_body_of_directive(directive), around);
}

static void read_statement(struct pm_text_reader *reader, const Stmt *s, const Stmt *around)
{
    if (!s)
        return;
    if (const auto *directive = dyn_cast<OMPExecutableDirective>(s))
        read_directive(reader, directive, around);
    else if (pm_is_loop(s))
        read_loop(reader, s, around);
    else if (const auto *e = dyn_cast<Expr>(s))
        read_expression(reader, e, around);
    else if (const auto *declaration = dyn_cast<DeclStmt>(s))
        read_declarations(reader, declaration, around);
    else if (const auto *returning = dyn_cast<ReturnStmt>(s))
        read_return(reader, returning, around);
    else if (isa<BreakStmt>(s) || isa<ContinueStmt>(s) || isa<GotoStmt>(s))
        read_point(reader, s->getBeginLoc(), around);
    else if (const auto *to = dyn_cast<IndirectGotoStmt>(s))
        read_goto(reader, to, around);
    else if (const auto *text = dyn_cast<AsmStmt>(s))
        read_asm(reader, text, around);
    else if (const auto *choice = dyn_cast<IfStmt>(s))
        read_if(reader, choice, around);
    else if (const auto *one = dyn_cast<CaseStmt>(s))
        read_statement(reader, one->getSubStmt(), around);
    else {
        if (const auto *table = dyn_cast<SwitchStmt>(s))
            add_keyword(reader, table->getSwitchLoc(), table->getCond());
        read_children(reader, s, around);
    }
}

/* What a constructor writes before its body. */
static void read_members(struct pm_text_reader *reader, const FunctionDecl *decl)
{
    const auto *constructor = dyn_cast<CXXConstructorDecl>(decl);
    if (!constructor)
        return;
    for (const CXXCtorInitializer *one : constructor->inits())
        if (one->isWritten() &&
            begin_statement(reader, one->getSourceLocation(), one->getSourceRange().getEnd(), NULL))
            pm_touch_member(reader, one);
}

/* --- the whole --- */

static bool is_before(const struct pm_touch &a, const struct pm_touch &b)
{
    return pm_text_point_less(pm_place_point(&a.place), pm_place_point(&b.place));
}

struct pm_read_text *pm_text_read(const FunctionDecl *decl,
                                  const struct pm_source_function *function)
{
    auto *text = new pm_read_text();
    struct pm_text_reader reader = {
        decl->getASTContext().getSourceManager(), function, text, -1, pm_compilation.is_cxx, NULL};
    read_members(&reader, decl);
    read_statement(&reader, decl->getBody(), NULL);
    pm_refer_parameters(&reader, decl);
    pm_refer_tables(&reader);
    if (pm_has_this(decl))
        text->parameters.push_back(0);
    for (const ParmVarDecl *parameter : decl->parameters())
        text->parameters.push_back(pm_noun_of_variable(parameter, function));
    if (!pm_statements_sort(&text->ranges))
        pm_no_memory();
    std::stable_sort(text->touches.begin(), text->touches.end(), is_before);
    return text;
}
