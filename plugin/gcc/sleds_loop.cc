/* Loop sleds: where a loop is entered from outside, and on each edge that leaves it.
 *
 * A GIMPLE pass just before "fix_loops", that is, before the loop optimizers: the loops are
 * still those of the source, inlining is done, and loop headers are already copied, so a sled
 * runs only when the loop's body will run. At -O0 and -Og that pass is not there;
 * "adjust_alignment" is the last one before the late passes. An asm in the preheader of an
 * outermost loop costs no vectorisation (TSVC: 127 of 127 loops), one inside a nest does: that
 * is why outermost loops are the default.
 *
 * Small loops that search get none unless asked for (sleds_search.cc). Of the several loops of one
 * statement the first is entered, the others go on (sleds_split.cc).
 *
 * Edges of exceptions and other abnormal edges get no sled of their loop: what goes on there has
 * one of the function (PM_SLED_LAND), which says how deep in loops that is. After setjmp, and at
 * labels that nested functions jump to, it is put here; at landing pads, which are still
 * optimised, only in RTL (sleds_function.cc), or, of portable calls, at the end of GIMPLE
 * (sleds_portable.cc).
 */
#include "sleds.h"
#include "facts.h"

extern "C" {
#include "../emit/sled_text.h"
}

/* Is a loop chosen that encloses this one, with the same id (or any, for any_id)? ids: by loop
 * number, 0 = not chosen. */
static bool encloser_chosen(const std::vector<pm_id> &ids, class loop *loop, pm_id id, bool any_id)
{
    for (class loop *outer = pm_loop_outer(loop); outer; outer = pm_loop_outer(outer))
        if (ids[outer->num] != 0 && (any_id || ids[outer->num] == id))
            return true;
    return false;
}

static bool outer_first(class loop *a, class loop *b)
{
    return loop_depth(a) != loop_depth(b) ? loop_depth(a) < loop_depth(b) : a->num < b->num;
}

static bool is_number_of_lanes(tree value)
{
    return TREE_CODE(value) == SSA_NAME &&
           gimple_call_internal_p(SSA_NAME_DEF_STMT(value), IFN_GOMP_SIMD_VF);
}

/* What OpenMP adds to a simd loop, before and behind it: a turn for each element of a vector. */
static bool is_over_lanes(class loop *loop)
{
    for (edge e : get_loop_exit_edges(loop)) {
        gimple *last = gsi_stmt(gsi_last_bb(e->src));
        if (last != NULL && gimple_code(last) == GIMPLE_COND &&
            (is_number_of_lanes(gimple_cond_lhs(last)) ||
             is_number_of_lanes(gimple_cond_rhs(last))))
            return true;
    }
    return false;
}

static bool is_left_out(class loop *loop, const struct pm_loop_identity &identity)
{
    if (pm_options.search_loops || pm_fortran_is_array_statement(&identity.place) ||
        !pm_sleds_is_search_loop(loop))
        return false;
    pm_sleds_stats.n_search_loops++;
    return true;
}

/* A source loop that the compiler split into a nest (MATMUL, array copies) is one loop: its
 * outermost level stands for it. Array statements of Fortran are marked within other loops too:
 * they are sentences of their own ({a Sum}), active while they run. The others are bare: another
 * copy of the same loop, inlined elsewhere, may have sleds. */
void pm_sleds_choose_loops(function *fun, std::vector<struct pm_marked_loop> *ret_loops,
                           std::vector<struct pm_marked_loop> *ret_bare)
{
    pm_id symbol = pm_symbol_id(fun->decl);
    std::vector<pm_id> ids(number_of_loops(fun));
    std::vector<class loop *> loops;
    PM_FOR_EACH_LOOP(fun, loop)
    loops.push_back(loop);
    std::sort(loops.begin(), loops.end(), outer_first);
    for (class loop *loop : loops) {
        struct pm_marked_loop marked = {loop, {}, 0, pm_loop_depth(loop), false, false};
        if (!pm_loop_identity_of(loop, &marked.identity) || is_over_lanes(loop) ||
            !pm_function_selected(marked.identity.function))
            continue;
        marked.id = pm_id_of_loopcode(symbol, marked.identity.id);
        bool any_id =
            !pm_options.all_loops && !pm_fortran_is_array_statement(&marked.identity.place);
        if (encloser_chosen(ids, loop, marked.id, false))
            continue;
        if ((any_id && encloser_chosen(ids, loop, marked.id, true)) ||
            is_left_out(loop, marked.identity)) {
            ret_bare->push_back(marked);
            continue;
        }
        ids[loop->num] = marked.id;
        ret_loops->push_back(marked);
    }
    pm_sleds_find_rests(fun, ret_loops);
}

/* No register and no "memory" clobber: nothing that the optimizers could mind. The flags register
 * is clobbered by every asm on x86. */
gasm *pm_sled_asm(unsigned kind, unsigned depth, pm_id id)
{
    struct pm_buf text = PM_BUF_INIT(PM_SLED_TEXT_MAX);
    if (pm_sleds_possible())
        pm_sled_text(&text, "%=", NULL, true, kind, depth, 0xffff, id);
    else
        pm_sled_text_mark(&text, kind, depth, id);
    if (text.failed)
        fatal_error(UNKNOWN_LOCATION, "perfmap: no memory for a sled");
    gasm *statement = gimple_build_asm_vec(ggc_strdup(text.data), NULL, NULL, NULL, NULL);
    gimple_asm_set_volatile(statement, true);
    gimple_asm_set_inline(statement, true);
    pm_buf_release(&text);
    pm_sleds_stats.n_loop_sleds++;
    return statement;
}

/* Does the way from here end in a call that does not return, without a fork? Unlike for
 * pm_ends_without_return(), a call that may leap goes on: back into the function. */
static bool ends_without_return(basic_block bb)
{
    while (single_succ_p(bb) && single_pred_p(single_succ(bb)))
        bb = single_succ(bb);
    return EDGE_COUNT(bb->succs) == 0 && bb != EXIT_BLOCK_PTR_FOR_FN(cfun);
}

static void put_loop_sleds(const struct pm_marked_loop &marked)
{
    gsi_insert_on_edge(loop_preheader_edge(marked.loop),
                       pm_sled_asm(PM_SLED_LOOP_ENTER, marked.depth, marked.id));
    for (edge e : pm_loop_exits(marked.loop))
        if (!ends_without_return(e->dest))
            gsi_insert_on_edge(e, pm_sled_asm(PM_SLED_LOOP_LEAVE, marked.depth, marked.id));
    pm_sleds_stats.n_loops++;
}

/* Is anything called that may have sleds, or words, of its own? */
static bool has_calls(class loop *loop)
{
    bool found = false;
    for (basic_block bb : pm_loop_blocks(loop))
        for (gimple_stmt_iterator at = gsi_start_bb(bb); !gsi_end_p(at); gsi_next(&at))
            found |= is_gimple_call(gsi_stmt(at)) && !gimple_call_internal_p(gsi_stmt(at));
    return found;
}

/* Code in transactions (-fgnu-tm) is still to be copied and rewritten by passes that know no asm:
 * such functions get no loop sleds. */
static bool has_transactions(function *fun)
{
    basic_block bb;
    if (!flag_tm)
        return false;
    if (cgraph_node::get(fun->decl)->tm_clone)
        return true;
    FOR_EACH_BB_FN(bb, fun) {
        gimple_stmt_iterator last = gsi_last_bb(bb);
        if (!gsi_end_p(last) && gimple_code(gsi_stmt(last)) == GIMPLE_TRANSACTION)
            return true;
    }
    return false;
}

static unsigned depth_of(basic_block bb)
{
    return pm_loop_depth(pm_loop_around(bb));
}

static std::map<int, unsigned> landing_depths;

unsigned pm_sleds_landing_depth(int landing_pad)
{
    auto found = landing_depths.find(landing_pad);
    return found != landing_depths.end() ? found->second : (unsigned)PM_SLED_DEPTH_MASK;
}

static void note_landing_depths(function *fun)
{
    eh_landing_pad pad;
    landing_depths.clear();
    if (fun->eh == NULL)
        return;
    for (unsigned i = 1; vec_safe_iterate(fun->eh->lp_array, i, &pad); i++)
        if (pad != NULL && pad->post_landing_pad != NULL_TREE) {
            basic_block bb = label_to_block(fun, pad->post_landing_pad);
            if (bb != NULL)
                landing_depths[pad->index] = depth_of(bb);
        }
}

/* What comes after setjmp, where longjmp leads. */
static void put_setjmp_sleds(function *fun)
{
    basic_block bb;
    unsigned flag = pm_sleds_possible() ? PM_SLED_BY_SETJMP : 0;
    if (!fun->calls_setjmp || !pm_options.functions || !pm_function_selected(fun->decl))
        return;
    FOR_EACH_BB_FN(bb, fun) {
        gimple *last = gsi_stmt(gsi_last_nondebug_bb(bb)); /* GCC 14 has no last_stmt() */
        edge e = find_fallthru_edge(bb->succs);
        if (last != NULL && e != NULL && is_gimple_call(last) &&
            gimple_call_flags(last) & ECF_RETURNS_TWICE)
            gsi_insert_on_edge(
                e, pm_sled_asm(PM_SLED_LAND, depth_of(bb) | flag, pm_symbol_id(fun->decl)));
    }
}

static bool is_nonlocal(basic_block bb)
{
    gimple_stmt_iterator first = gsi_start_bb(bb);
    return !gsi_end_p(first) && gimple_code(gsi_stmt(first)) == GIMPLE_LABEL &&
           DECL_NONLOCAL(gimple_label_label(as_a<glabel *>(gsi_stmt(first))));
}

/* At labels that nested functions jump to. */
static void put_nonlocal_sleds(function *fun)
{
    basic_block bb;
    if (!fun->has_nonlocal_label || !pm_options.functions || !pm_function_selected(fun->decl))
        return;
    FOR_EACH_BB_FN(bb, fun)
        if (is_nonlocal(bb)) {
            gimple_stmt_iterator at = gsi_after_labels(bb);
            gsi_insert_before(&at, pm_sled_asm(PM_SLED_LAND, depth_of(bb), pm_symbol_id(fun->decl)),
                              GSI_SAME_STMT);
        }
}

static bool gate_loop_sleds(function *fun)
{
    return !has_transactions(fun);
}

/* The place for functions that do not come by "fix_loops": its list of passes runs at -O1 and up,
 * but not at -Og. */
static bool gate_unoptimized(function *fun)
{
    return (!optimize || optimize_debug) && gate_loop_sleds(fun);
}

static unsigned put_all_loop_sleds(function *fun)
{
    calculate_dominance_info(CDI_DOMINATORS);
    loop_optimizer_init(LOOPS_NORMAL | LOOPS_HAVE_RECORDED_EXITS);
    std::vector<struct pm_marked_loop> loops, bare;
    std::vector<struct pm_missing_loop> missing;
    scev_initialize();
    pm_sleds_choose_loops(fun, &loops, &bare);
    scev_finalize();
    pm_loops_missing(fun, &missing);
    std::vector<bool> calls;
    for (const struct pm_marked_loop &loop : bare)
        calls.push_back(has_calls(loop.loop));
    /* Inner loops first: on an edge that leaves several loops their sleds then come in the order
     * inner, outer. */
    for (auto marked = loops.rbegin(); marked != loops.rend(); ++marked)
        put_loop_sleds(*marked);
    pm_sleds_put_calls(fun);
    note_landing_depths(fun);
    put_setjmp_sleds(fun);
    put_nonlocal_sleds(fun);
    loop_optimizer_finalize();
    gsi_commit_edge_inserts();
    for (const struct pm_marked_loop &marked : loops)
        marked.is_rest ? pm_late_loop_rest(fun->decl, &marked.identity, marked.may_be_first)
                       : pm_late_loop(fun->decl, &marked.identity);
    for (size_t i = 0; i < bare.size(); i++)
        pm_late_bare_loop(&bare[i].identity, bare[i].id, calls[i]);
    pm_id symbol = pm_symbol_id(fun->decl);
    for (const struct pm_missing_loop &loop : missing)
        pm_late_bare_loop(&loop.identity, pm_id_of_loopcode(symbol, loop.identity.id),
                          loop.has_calls);
    return TODO_update_ssa_only_virtuals;
}

void pm_sleds_loop_register(const char *plugin_name)
{
    pm_gcc_register_pass(plugin_name,
                         pm_gcc_gimple_pass("perfmap_loops", PROP_cfg | PROP_ssa, gate_loop_sleds,
                                            put_all_loop_sleds),
                         "fix_loops", 1, PASS_POS_INSERT_BEFORE);
    pm_gcc_register_pass(plugin_name,
                         pm_gcc_gimple_pass("perfmap_loops_O0", PROP_cfg | PROP_ssa,
                                            gate_unoptimized, put_all_loop_sleds),
                         "adjust_alignment", 1, PASS_POS_INSERT_AFTER);
}
