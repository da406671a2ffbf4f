/* Source loops: found in GIMPLE before it is lowered, where a loop is still a run of statements
 * that ends in a jump back to its first label, or the body of an OpenMP loop. That label has the
 * place of the for, while or do (C, C++); where it has none (Fortran) the jump has it. */

#include "facts.h"

extern "C" {
#include "../emit/loop_runs.h"
}

static void linearise_parts(gimple *stmt, std::vector<struct pm_linear> *out)
{
    switch (gimple_code(stmt)) {
    case GIMPLE_BIND:
        pm_linearise(gimple_bind_body(as_a<gbind *>(stmt)), out);
        break;
    case GIMPLE_TRY:
        pm_linearise(gimple_try_eval(stmt), out);
        pm_linearise(gimple_try_cleanup(stmt), out);
        break;
    case GIMPLE_CATCH:
        pm_linearise(gimple_catch_handler(as_a<gcatch *>(stmt)), out);
        break;
    case GIMPLE_EH_FILTER:
        pm_linearise(gimple_eh_filter_failure(stmt), out);
        break;
    case GIMPLE_EH_ELSE:
        pm_linearise(gimple_eh_else_n_body(as_a<geh_else *>(stmt)), out);
        pm_linearise(gimple_eh_else_e_body(as_a<geh_else *>(stmt)), out);
        break;
    case GIMPLE_WITH_CLEANUP_EXPR:
        pm_linearise(gimple_wce_cleanup(stmt), out);
        break;
    case GIMPLE_TRANSACTION:
        pm_linearise(gimple_transaction_body(as_a<gtransaction *>(stmt)), out);
        break;
    case GIMPLE_OMP_FOR:
        pm_linearise(gimple_omp_for_pre_body(stmt), out);
        pm_linearise(gimple_omp_body(stmt), out);
        break;
    default:
        if (is_gimple_omp(stmt) && gimple_has_substatements(stmt))
            pm_linearise(gimple_omp_body(stmt), out);
        break;
    }
}

void pm_linearise(gimple_seq body, std::vector<struct pm_linear> *out)
{
    for (gimple_stmt_iterator gsi = gsi_start(body); !gsi_end_p(gsi); gsi_next(&gsi)) {
        size_t index = out->size();
        out->push_back({gsi_stmt(gsi), 0, -1});
        linearise_parts(gsi_stmt(gsi), out);
        (*out)[index].end = (unsigned)out->size();
    }
}

static void add_jump(const std::map<tree, unsigned> &labels,
                     std::map<unsigned, struct pm_loop_run> *runs, tree label, unsigned at,
                     location_t jump)
{
    auto found = labels.find(label);
    if (found == labels.end()) /* defined later: not a way back */
        return;
    struct pm_loop_run *run = &(*runs)[found->second];
    run->first = found->second;
    run->end = at + 1;
    run->levels = 1;
    if (run->place.line == 0 && !pm_place_of(DECL_SOURCE_LOCATION(label), &run->place))
        pm_place_of(jump, &run->place);
}

/* A loop over what collapse joins, and where threads take chunks one around it. */
static int omp_levels(gimple *stmt)
{
    int levels = (int)gimple_omp_for_collapse(stmt);
    for (tree clause = gimple_omp_for_clauses(stmt); clause != NULL_TREE;
         clause = OMP_CLAUSE_CHAIN(clause)) {
        if (OMP_CLAUSE_CODE(clause) == OMP_CLAUSE_ORDERED)
            return levels + 1;
        if (OMP_CLAUSE_CODE(clause) == OMP_CLAUSE_SCHEDULE &&
            ((OMP_CLAUSE_SCHEDULE_KIND(clause) & OMP_CLAUSE_SCHEDULE_MASK) !=
                 OMP_CLAUSE_SCHEDULE_STATIC ||
             OMP_CLAUSE_SCHEDULE_CHUNK_EXPR(clause) != NULL_TREE))
            return levels + 1;
    }
    return levels;
}

/* Where the loop of an OpenMP directive stands. In C its increment, where that has a place, is
 * written there; Fortran has nothing but the text. */
static struct pm_loop_run omp_run(gimple *stmt, unsigned at, unsigned end)
{
    struct pm_loop_run run = {at, end, {}, omp_levels(stmt), {}, 0};
    tree increment = gimple_omp_for_incr(stmt, 0);
    struct pm_place pragma = {NULL, NULL, 0, 0};
    bool has_pragma = pm_place_of(gimple_location(stmt), &pragma);
    if (pm_ranges_omp_loop(gimple_location(stmt), &run.place))
        return run;
    if (increment == NULL_TREE || !EXPR_HAS_LOCATION(increment) ||
        !pm_place_of(EXPR_LOCATION(increment), &run.place))
        run.place = pragma;
    if (has_pragma && run.place.file != pragma.file)
        run.place = pragma;
    struct pm_place directive = run.place;
    if (pm_fact_is_fortran() && directive.line != 0)
        pm_fortran_omp_loop(&directive, &run.place);
    return run;
}

static std::vector<struct pm_loop_run> find_runs(const std::vector<struct pm_linear> &code)
{
    std::map<tree, unsigned> labels; /* those seen so far */
    std::map<unsigned, struct pm_loop_run> runs;
    for (unsigned at = 0; at < code.size(); at++) {
        gimple *stmt = code[at].stmt;
        switch (gimple_code(stmt)) {
        case GIMPLE_LABEL:
            labels[gimple_label_label(as_a<glabel *>(stmt))] = at;
            break;
        case GIMPLE_GOTO:
            add_jump(labels, &runs, gimple_goto_dest(stmt), at, gimple_location(stmt));
            break;
        case GIMPLE_COND:
            add_jump(labels, &runs, gimple_cond_true_label(as_a<gcond *>(stmt)), at,
                     gimple_location(stmt));
            add_jump(labels, &runs, gimple_cond_false_label(as_a<gcond *>(stmt)), at,
                     gimple_location(stmt));
            break;
        case GIMPLE_OMP_FOR:
            runs[at] = omp_run(stmt, at, code[at].end);
            break;
        default:
            break;
        }
    }
    std::vector<struct pm_loop_run> found;
    for (auto &entry : runs) {
        if (entry.second.place.line != 0)
            found.push_back(entry.second);
    }
    return found; /* by first statement */
}

static bool has_own_place(gimple *stmt)
{
    return gimple_code(stmt) != GIMPLE_BIND && gimple_code(stmt) != GIMPLE_TRY &&
           gimple_code(stmt) != GIMPLE_LABEL;
}

/* gfortran gives the loops of a DO CONCURRENT the place of a statement in it. */
static void find_constructs(std::vector<struct pm_loop_run> *runs)
{
    if (!pm_fact_is_fortran())
        return;
    for (struct pm_loop_run &run : *runs)
        if (!pm_fortran_concurrent_at(&run.place, &run.construct, &run.n_indices))
            run.construct = {};
}

static void add_loops(struct pm_source_function *function, std::vector<struct pm_loop_run> *runs,
                      std::vector<struct pm_linear> *code)
{
    std::vector<struct pm_run_statement> statements;
    for (const struct pm_linear &item : *code) {
        struct pm_run_statement statement = {{}, -1};
        if (!has_own_place(item.stmt) || !pm_place_of(gimple_location(item.stmt), &statement.place))
            statement.place = {};
        statements.push_back(statement);
    }
    find_constructs(runs);
    if (!pm_loop_runs_add(function, runs->data(), (uint32_t)runs->size(), statements.data(),
                          (uint32_t)statements.size(), pm_fact_is_fortran()))
        pm_no_memory();
    for (size_t i = 0; i < statements.size(); i++)
        (*code)[i].loop = statements[i].loop;
}

void pm_scan_loops(tree function_decl, std::vector<struct pm_linear> *code)
{
    struct pm_source_function *function = pm_source_function_of(function_decl);
    std::vector<struct pm_loop_run> runs = find_runs(*code);
    /* A loop at the function's own place is the compiler's (how a coroutine finds where to go on),
     * or else of a macro. */
    const struct pm_place &head = function->place;
    bool in_macro = function->in_macro;
    runs.erase(std::remove_if(runs.begin(), runs.end(),
                              [&head, in_macro](const struct pm_loop_run &run) {
                                  return !in_macro && run.place.line == head.line &&
                                         run.place.column == head.column &&
                                         run.place.file == head.file;
                              }),
               runs.end());
    if (!runs.empty())
        add_loops(function, &runs, code);
    pm_source_function_done(function, function_decl);
}
