/* Clang's trees: which functions the source has, their loops, and which of them are selected. */
#include "reading.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/AST/StmtOpenMP.h"
#include "clang/Basic/SourceManager.h"

#include <map>
#include <set>

using namespace clang;

/* Macros: where they are used. Later Clangs say of code in their arguments where it is written. */
bool pm_source_place(const SourceManager &sources, SourceLocation location,
                     struct pm_place *ret_place)
{
    PresumedLoc at = sources.getPresumedLoc(pm_compilation.sees_macro_arguments
                                                ? sources.getFileLoc(location)
                                                : sources.getExpansionLoc(location));
    if (at.isInvalid() || at.getFilename()[0] == '<')
        return false;
    pm_place_set_file(ret_place, at.getFilename(), pm_working_folder());
    ret_place->line = at.getLine();
    ret_place->column = at.getColumn();
    return true;
}

/* --- loops --- */

/* Does a loop do nothing but look through memory until it has found what it looks for? As
 * plugin/gcc/sleds_search.cc, which says why such loops get no sleds; here by the text. */
class search_visitor : public RecursiveASTVisitor<search_visitor>
{
    static constexpr unsigned max_operations = 12;
    unsigned n_operations = 0;
    bool does_more = false, reads = false;

    static bool is_local_scalar(const Expr *target)
    {
        const auto *name = dyn_cast<DeclRefExpr>(target->IgnoreParenImpCasts());
        const auto *variable = name ? dyn_cast<VarDecl>(name->getDecl()) : NULL;
        return variable && variable->hasLocalStorage() && !target->getType().isVolatileQualified();
    }

  public:
    bool VisitExpr(Expr *e)
    {
        does_more |= e->getType()->isFloatingType() || e->getType()->isVectorType() ||
                     isa<CallExpr>(e) || isa<CXXConstructExpr>(e) || isa<CXXNewExpr>(e) ||
                     isa<CXXDeleteExpr>(e) || isa<CXXThrowExpr>(e) ||
                     isa<CoroutineSuspendExpr>(e) || isa<LambdaExpr>(e);
        return !does_more;
    }
    bool VisitStmt(Stmt *s)
    {
        does_more |= isa<ForStmt>(s) || isa<WhileStmt>(s) || isa<DoStmt>(s) ||
                     isa<CXXForRangeStmt>(s) || isa<AsmStmt>(s) || isa<CXXTryStmt>(s);
        return !does_more;
    }
    bool VisitBinaryOperator(BinaryOperator *operation)
    {
        n_operations++;
        does_more |= operation->isAssignmentOp() && !is_local_scalar(operation->getLHS());
        return !does_more;
    }
    bool VisitUnaryOperator(UnaryOperator *operation)
    {
        n_operations++;
        reads |= operation->getOpcode() == UO_Deref;
        does_more |=
            operation->isIncrementDecrementOp() && !is_local_scalar(operation->getSubExpr());
        return !does_more;
    }
    bool VisitArraySubscriptExpr(ArraySubscriptExpr *)
    {
        reads = true;
        n_operations++;
        return true;
    }
    bool VisitMemberExpr(MemberExpr *member)
    {
        reads |= member->isArrow();
        n_operations++;
        return true;
    }
    bool only_looks() const { return reads && !does_more && n_operations <= max_operations; }
};

/* Ways out of a loop besides its condition. */
class exit_visitor : public RecursiveASTVisitor<exit_visitor>
{
  public:
    bool found = false;
    bool VisitStmt(Stmt *s)
    {
        found |= isa<BreakStmt>(s) || isa<ReturnStmt>(s) || isa<GotoStmt>(s);
        return !found;
    }
};

/* An integer or pointer that grows by the same amount in each round. */
static const VarDecl *counter_of(const Expr *increment)
{
    increment = increment ? increment->IgnoreParenImpCasts() : NULL;
    const Expr *target = NULL;
    if (const auto *unary = dyn_cast_or_null<UnaryOperator>(increment))
        target = unary->isIncrementDecrementOp() ? unary->getSubExpr() : NULL;
    else if (const auto *binary = dyn_cast_or_null<CompoundAssignOperator>(increment))
        target = binary->isAdditiveOp() || binary->getOpcode() == BO_AddAssign ||
                         binary->getOpcode() == BO_SubAssign
                     ? binary->getLHS()
                     : NULL;
    const auto *name =
        target ? dyn_cast<DeclRefExpr>(target->IgnoreParenImpCasts()) : (const DeclRefExpr *)NULL;
    return name ? dyn_cast<VarDecl>(name->getDecl()) : NULL;
}

static bool names(const Expr *side, const VarDecl *variable)
{
    const auto *name = dyn_cast<DeclRefExpr>(side->IgnoreParenImpCasts());
    return name && name->getDecl() == variable;
}

/* Is the number of rounds known when the loop is entered? */
static bool is_counted(const Stmt *loop)
{
    const auto *counting = dyn_cast<ForStmt>(loop);
    if (!counting || !counting->getCond())
        return false;
    const auto *condition = dyn_cast<BinaryOperator>(counting->getCond()->IgnoreParenImpCasts());
    const VarDecl *counter = counter_of(counting->getInc());
    exit_visitor exits;
    exits.TraverseStmt(const_cast<Stmt *>(counting->getBody()));
    return condition && condition->isComparisonOp() && counter && !exits.found &&
           (names(condition->getLHS(), counter) || names(condition->getRHS(), counter));
}

static bool is_search(const Stmt *loop)
{
    search_visitor visitor;
    for (const Stmt *part : loop->children())
        if (part)
            visitor.TraverseStmt(const_cast<Stmt *>(part));
    return visitor.only_looks() && !is_counted(loop);
}

/* "do { ... } while (0)", as macros have it, is none. */
static bool is_once(const DoStmt *loop)
{
    const Expr *condition = loop->getCond()->IgnoreParenImpCasts();
    if (const auto *number = dyn_cast<IntegerLiteral>(condition))
        return number->getValue() == 0;
    const auto *truth = dyn_cast<CXXBoolLiteralExpr>(condition);
    return truth && !truth->getValue();
}

const Stmt *pm_body_of_directive(const OMPExecutableDirective *directive)
{
    const Stmt *body = directive->hasAssociatedStmt() ? directive->getRawStmt() : NULL;
    while (const auto *captured = dyn_cast_or_null<CapturedStmt>(body))
        body = captured->getCapturedStmt();
    return body;
}

bool pm_is_loop(const Stmt *s)
{
    if (const auto *backwards = dyn_cast<DoStmt>(s))
        return !is_once(backwards);
    return isa<ForStmt>(s) || isa<WhileStmt>(s) || isa<CXXForRangeStmt>(s);
}

static void add_loops(const SourceManager &sources, struct pm_read_function *function,
                      const Stmt *s, int parent);

/* The code of "#pragma omp for" is at the directive. */
static void add_loops_of_directive(const SourceManager &sources, struct pm_read_function *function,
                                   const OMPExecutableDirective *directive, int parent)
{
    struct pm_place place, begin;
    const Stmt *body = pm_body_of_directive(directive);
    if (!body)
        return;
    add_loops(sources, function, body, parent);
    if (!isa<OMPLoopDirective>(directive) || !pm_is_loop(body) ||
        !pm_source_place(sources, directive->getBeginLoc(), &place) ||
        !pm_source_place(sources, body->getBeginLoc(), &begin))
        return;
    pm_id loop = pm_id_of_loop(function->source->id, begin.file, pm_place_point(&begin));
    function->directives.push_back({pm_place_point(&place), loop});
}

/* Adds the loops below a statement; bodies of lambdas and of classes are functions of their
 * own. */
static void add_loops(const SourceManager &sources, struct pm_read_function *function,
                      const Stmt *s, int parent)
{
    struct pm_place begin, end;
    if (!s || isa<LambdaExpr>(s))
        return;
    if (const auto *directive = dyn_cast<OMPExecutableDirective>(s)) {
        add_loops_of_directive(sources, function, directive, parent);
        return;
    }
    if (pm_is_loop(s) && pm_source_place(sources, s->getBeginLoc(), &begin)) {
        parent = pm_source_loop_add(function->source, &begin, parent);
        if (parent < 0)
            pm_no_memory();
        struct pm_source_loop *loop = &function->source->loops[parent];
        if (pm_source_place(sources, s->getEndLoc(), &end) && end.file == begin.file &&
            pm_text_point_less(loop->last, pm_place_point(&end)))
            loop->last = pm_place_point(&end);
        function->searches.resize(function->source->n_loops);
        function->searches[(size_t)parent] = is_search(s);
    }
    for (const Stmt *child : s->children())
        add_loops(sources, function, child, parent);
}

/* --- functions --- */

static bool is_instrumentable(const FunctionDecl *decl)
{
    return !decl->hasAttr<NoInstrumentFunctionAttr>() && !decl->hasAttr<NakedAttr>();
}

static bool is_of_selection(const struct pm_source_function *function)
{
    const struct pm_selection_subject subject = {function->place.shown, function->place.file,
                                                 function->name, function->linkage};
    return pm_selection_fits(pm_compilation.options.selection, &subject);
}

/* One for all that is said of a function: it may be called before it is read. */
static struct pm_source_function *source_of(const FunctionDecl *decl)
{
    static std::map<const FunctionDecl *, struct pm_source_function *> known;
    auto entry = known.insert({decl->getCanonicalDecl(), NULL});
    if (!entry.second)
        return entry.first->second;
    if (const FunctionDecl *definition = decl->getDefinition())
        decl = definition;
    struct pm_place place = {NULL, NULL, 0, 0};
    pm_source_place(decl->getASTContext().getSourceManager(), decl->getLocation(), &place);
    const struct pm_function_names names = pm_names_of(decl);
    struct pm_source_function *source =
        pm_source_function_new(pm_lasting(names.linkage), pm_lasting(names.shown),
                               decl->isExternallyVisible() ? NULL : place.file, &place);
    if (!source)
        pm_no_memory();
    source->abstract = names.is_abstract;
    return known[decl->getCanonicalDecl()] = source;
}

const struct pm_source_function *pm_source_of_decl(const FunctionDecl *decl)
{
    return source_of(decl);
}

static void read_function(const SourceManager &sources, const FunctionDecl *decl)
{
    struct pm_place place, begin, end;
    const auto symbols = pm_symbols_of(decl);
    if (symbols[0].empty() || pm_function_is_read(symbols[0]) ||
        !pm_source_place(sources, decl->getLocation(), &place))
        return;
    auto *function = new pm_read_function{source_of(decl), false, false, {}, {}, NULL};
    function->source->scanned = true;
    if (pm_source_place(sources, decl->getBody()->getEndLoc(), &end) &&
        end.file == function->source->place.file &&
        pm_source_place(sources, decl->getBody()->getBeginLoc(), &begin)) {
        function->source->end_line = end.line;
        if (!decl->isDefaulted()) /* a lambda's own constructor */
            pm_function_add_body(function, &begin, pm_place_point(&end));
    }
    add_loops(sources, function, decl->getBody(), -1);
    if (!pm_source_loops_sort(function->source))
        pm_no_memory();
    bool is_of_system = pm_is_of_system(decl);
    function->mapped =
        is_instrumentable(decl) && (is_of_system || is_of_selection(function->source));
    function->selected = function->mapped && !is_of_system;
    if (function->selected)
        function->text = pm_text_read(decl, function->source);
    for (const std::string &symbol : symbols)
        pm_function_add(symbol, function);
}

class function_reader : public RecursiveASTVisitor<function_reader>
{
    const SourceManager &sources;
    std::set<const FunctionDecl *> seen; /* lambdas: by their expression, and as functions */

  public:
    explicit function_reader(ASTContext &given) : sources(given.getSourceManager()) {}
    bool shouldVisitTemplateInstantiations() const { return true; }
    bool shouldVisitImplicitCode() const { return true; }
    bool VisitFunctionDecl(FunctionDecl *decl)
    {
        bool is_first = decl->getBody() != NULL && seen.insert(decl).second;
        if (is_first && decl->doesThisDeclarationHaveABody() && !decl->isDependentContext())
            read_function(sources, decl);
        return true;
    }
    /* A lambda's body. */
    bool VisitLambdaExpr(LambdaExpr *lambda)
    {
        if (FunctionDecl *call = lambda->getCallOperator())
            VisitFunctionDecl(call);
        return true;
    }
};

void pm_source_read(ASTContext &context)
{
    function_reader(context).TraverseDecl(context.getTranslationUnitDecl());
}
