/* Portable mode: guarded calls in place of sleds, for machines without sleds and for comparison.
 *
 * Each translation unit (each part of an LTO link) has one struct pm_portable_hook in the section
 * __perfmap_hooks. At each point of interest stands
 *
 *     if (__builtin_expect (hook.event != 0, 0))
 *         hook.event (kind, id, __builtin_dwarf_cfa (), depth);
 *
 * The pass runs after "optimized", the last one before RTL: tail calls are marked already and stay
 * what they are, inlining is done. Loops are marked early by the same pass as in sled mode, with an
 * empty asm whose text is only the mark; here each mark becomes a call.
 *
 * A slot and not a call of a weak function: in an executable that is linked at a fixed address, an
 * undefined weak function is the constant 0, and a library that is preloaded later cannot change
 * that.
 */
#include "sleds.h"

extern "C" {
#include "../emit/sled_text.h"
}

static tree hook_variable; /* of this translation unit; NULL before its first use */
static tree hook_event_field;

static tree hook_event_type(void)
{
    tree arguments[] = {unsigned_type_node, uint64_type_node, const_ptr_type_node,
                        unsigned_type_node};
    return build_pointer_type(build_function_type_array(void_type_node, 4, arguments));
}

static tree hook_field(tree record, const char *name, tree type, tree next)
{
    tree field = build_decl(BUILTINS_LOCATION, FIELD_DECL, get_identifier(name), type);
    DECL_CONTEXT(field) = record;
    DECL_CHAIN(field) = next;
    return field;
}

/* struct pm_portable_hook of format/pm_sled.h */
static tree hook_initial(tree record, tree version, tree size)
{
    vec<constructor_elt, va_gc> *values = NULL;
    CONSTRUCTOR_APPEND_ELT(values, version, build_int_cst(unsigned_type_node, PM_HOOK_VERSION));
    CONSTRUCTOR_APPEND_ELT(values, size, fold_convert(unsigned_type_node, TYPE_SIZE_UNIT(record)));
    tree initial = build_constructor(record, values);
    TREE_CONSTANT(initial) = TREE_STATIC(initial) = 1;
    return initial;
}

static tree hook_variable_get(void)
{
    if (hook_variable)
        return hook_variable;
    tree record = make_node(RECORD_TYPE);
    hook_event_field = hook_field(record, "event", hook_event_type(), NULL_TREE);
    tree size = hook_field(record, "size", unsigned_type_node, hook_event_field);
    tree version = hook_field(record, "version", unsigned_type_node, size);
    TYPE_FIELDS(record) = version;
    TYPE_NAME(record) = get_identifier("pm_portable_hook");
    TYPE_ARTIFICIAL(record) = 1;
    layout_type(record);

    tree variable =
        build_decl(BUILTINS_LOCATION, VAR_DECL, get_identifier("__perfmap_hook"), record);
    TREE_STATIC(variable) = TREE_USED(variable) = TREE_ADDRESSABLE(variable) = 1;
    TREE_THIS_VOLATILE(variable) = 1;
    DECL_ARTIFICIAL(variable) = DECL_IGNORED_P(variable) = 1;
    DECL_PRESERVE_P(variable) = 1;
    DECL_INITIAL(variable) = hook_initial(record, version, size);
    set_decl_section_name(variable, PM_HOOK_SECTION);
    varpool_node::finalize_decl(variable);
    /* -fno-toplevel-reorder puts out, before any function, the variables that it knows by then:
     * this one is later. */
    varpool_node::get(variable)->no_reorder = false;
    return hook_variable = variable;
}

/* __builtin_dwarf_cfa: names the frame and asks for no frame pointer. Not every front end declares
 * it. */
static tree cfa_function(void)
{
    tree function = builtin_decl_explicit(BUILT_IN_DWARF_CFA);
    if (function)
        return function;
    function = build_decl(BUILTINS_LOCATION, FUNCTION_DECL, get_identifier("__builtin_dwarf_cfa"),
                          build_function_type_list(ptr_type_node, NULL_TREE));
    TREE_PUBLIC(function) = DECL_EXTERNAL(function) = DECL_ARTIFICIAL(function) = 1;
    TREE_NOTHROW(function) = 1;
    set_decl_built_in_function(function, BUILT_IN_NORMAL, BUILT_IN_DWARF_CFA);
    set_builtin_decl(BUILT_IN_DWARF_CFA, function, false);
    return function;
}

/* The guarded call right before `at`'s statement. The block is split; `at` stays with its
 * statement. */
static void put_call(gimple_stmt_iterator *at, unsigned kind, unsigned depth, pm_id id)
{
    tree hook = hook_variable_get();
    tree event = make_ssa_name(TREE_TYPE(hook_event_field));
    tree slot =
        build3(COMPONENT_REF, TREE_TYPE(hook_event_field), hook, hook_event_field, NULL_TREE);
    TREE_THIS_VOLATILE(slot) = TREE_SIDE_EFFECTS(slot) = 1;
    gsi_insert_before(at, gimple_build_assign(event, slot), GSI_SAME_STMT);
    gimple *guard =
        gimple_build_cond(NE_EXPR, event, build_int_cst(TREE_TYPE(event), 0), NULL_TREE, NULL_TREE);
    gsi_insert_before(at, guard, GSI_SAME_STMT);

    basic_block before = gsi_bb(*at);
    edge past = split_block(before, guard);
    basic_block after = past->dest, call_block = create_empty_bb(before);
    past->flags = (past->flags & ~EDGE_FALLTHRU) | EDGE_FALSE_VALUE;
    edge into = make_edge(before, call_block, EDGE_TRUE_VALUE);
    into->probability = profile_probability::very_unlikely();
    past->probability = into->probability.invert();
    call_block->count = into->count();
    make_single_succ_edge(call_block, after, EDGE_FALLTHRU);
    if (current_loops)
        add_bb_to_loop(call_block, before->loop_father);

    tree frame = make_ssa_name(ptr_type_node);
    gcall *get_frame = gimple_build_call(cfa_function(), 0);
    gimple_call_set_lhs(get_frame, frame);
    gcall *call = gimple_build_call(event, 4, build_int_cst(unsigned_type_node, kind),
                                    build_int_cst(uint64_type_node, (HOST_WIDE_INT)id), frame,
                                    build_int_cst(unsigned_type_node, depth));
    gimple_call_set_nothrow(call, true);
    gimple_stmt_iterator end = gsi_last_bb(call_block);
    gsi_insert_after(&end, get_frame, GSI_NEW_STMT);
    gsi_insert_after(&end, call, GSI_NEW_STMT);
    pm_sleds_stats.n_hook_calls++;
}

struct mark {
    gimple *statement;
    unsigned kind, depth;
    pm_id id;
};

static bool mark_of(gimple *statement, struct mark *ret_mark)
{
    const gasm *assembly = dyn_cast<gasm *>(statement);
    ret_mark->statement = statement;
    return assembly && pm_sled_text_parse(gimple_asm_string(assembly), &ret_mark->kind,
                                          &ret_mark->depth, &ret_mark->id);
}

/* A return that follows a tail call in its block is not reached, or is part of it. */
static bool exit_of(gimple *statement, gimple *previous, unsigned *ret_kind)
{
    if (is_gimple_call(statement) && gimple_call_tail_p(as_a<gcall *>(statement)))
        return *ret_kind = PM_SLED_TAIL, true;
    *ret_kind = PM_SLED_RETURN;
    return gimple_code(statement) == GIMPLE_RETURN &&
           !(previous && is_gimple_call(previous) && gimple_call_tail_p(as_a<gcall *>(previous)));
}

/* Where the function goes on after calls that threw; 0: the block is no landing pad. */
static int landing_pad_of(basic_block bb)
{
    for (gimple_stmt_iterator at = gsi_start_bb(bb); !gsi_end_p(at); gsi_next(&at)) {
        glabel *label = dyn_cast<glabel *>(gsi_stmt(at));
        if (label == NULL)
            return 0;
        if (EH_LANDING_PAD_NR(gimple_label_label(label)) > 0)
            return EH_LANDING_PAD_NR(gimple_label_label(label));
    }
    return 0;
}

static void add_landing(basic_block bb, pm_id symbol, std::vector<struct mark> *points)
{
    int pad = landing_pad_of(bb);
    gimple_stmt_iterator at = gsi_after_labels(bb);
    if (pad != 0 && !gsi_end_p(at))
        points->push_back({gsi_stmt(at), PM_SLED_LAND, pm_sleds_landing_depth(pad), symbol});
}

static std::vector<struct mark> find_points(function *fun, bool with_exits, pm_id symbol)
{
    std::vector<struct mark> points;
    basic_block bb;
    FOR_EACH_BB_FN(bb, fun) {
        gimple *previous = NULL;
        if (with_exits)
            add_landing(bb, symbol, &points);
        for (gimple_stmt_iterator at = gsi_start_nondebug_bb(bb); !gsi_end_p(at);
             gsi_next_nondebug(&at)) {
            struct mark point = {gsi_stmt(at), 0, 0, symbol};
            if (mark_of(gsi_stmt(at), &point) ||
                (with_exits && exit_of(gsi_stmt(at), previous, &point.kind)))
                points.push_back(point);
            previous = gsi_stmt(at);
        }
    }
    return points;
}

static void put_entry_call(function *fun, pm_id symbol)
{
    basic_block first = split_edge(single_succ_edge(ENTRY_BLOCK_PTR_FOR_FN(fun)));
    gimple_stmt_iterator at = gsi_start_bb(first);
    gimple *place = gimple_build_nop();
    gsi_insert_before(&at, place, GSI_NEW_STMT);
    put_call(&at, PM_SLED_ENTRY, 0, symbol);
    at = gsi_for_stmt(place);
    gsi_remove(&at, true);
}

static bool gate_calls(function *)
{
    return !pm_sleds_possible();
}

static unsigned put_calls(function *fun)
{
    bool is_selected = pm_options.functions && pm_function_selected(fun->decl);
    pm_id symbol = pm_symbol_id(fun->decl);
    std::vector<struct mark> points = find_points(fun, is_selected, symbol);
    if (!is_selected && points.empty())
        return 0;
    for (const struct mark &point : points) {
        gimple_stmt_iterator at = gsi_for_stmt(point.statement);
        put_call(&at, point.kind, point.depth, point.id);
        at = gsi_for_stmt(point.statement);
        struct mark mark;
        if (point.kind >= PM_SLED_LOOP_ENTER && mark_of(point.statement, &mark) &&
            mark.kind == point.kind)
            gsi_remove(&at, true);
    }
    if (is_selected) {
        put_entry_call(fun, symbol);
        pm_sleds_stats.n_functions++;
        pm_late_symbol(fun->decl);
    }
    free_dominance_info(CDI_DOMINATORS);
    free_dominance_info(CDI_POST_DOMINATORS);
    mark_virtual_operands_for_renaming(fun);
    return TODO_update_ssa_only_virtuals;
}

static const struct ggc_root_tab roots[] = {
    {&hook_variable, 1, sizeof hook_variable, &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node},
    {&hook_event_field, 1, sizeof hook_event_field, &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node},
    LAST_GGC_ROOT_TAB};

void pm_sleds_portable_register(const char *plugin_name)
{
    register_callback(plugin_name, PLUGIN_REGISTER_GGC_ROOTS, NULL, (void *)roots);
    pm_gcc_register_pass(
        plugin_name,
        pm_gcc_gimple_pass("perfmap_portable", PROP_cfg | PROP_ssa, gate_calls, put_calls),
        "optimized", 1, PASS_POS_INSERT_AFTER);
}
