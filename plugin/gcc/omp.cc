/* OpenMP: what GCC carries out without a call of the library is told to the runtime, where it is.
 *
 * A loop whose iterations GCC divides itself (schedule(static), and none), `master` and `masked`
 * are no call; loops, sections and single constructs that are one have no place in the debug
 * information. So around them stands
 *
 *     if (__builtin_expect(slot.api != NULL, 0))           // the slot of perfmap.h
 *         omp_get_team_size(what, ";file;function;line;column;;", n_iterations, chunk);
 *
 * (format/pm_omp.h). The function is one that each OpenMP library has; with these arguments it does
 * nothing, by OpenMP's own words, so it does not matter whether the adapter is there.
 *
 * The pass runs before regions are expanded: the bounds of a loop are values at its place, and the
 * share of a thread is not computed yet. Only what runs on the host is told: a variable that is not
 * declared for it may not be used in code for a device.
 */
#include "backend.h"
#include "identity.h"
#include "omp.h"

extern "C" {
#include "../../format/pm_omp.h"
#include "../../format/pm_words.h"
#include "../../mapping/base/str.h"
}

/* One construct: where it begins, where its loop goes on, where it ends; NULL: none. By statements,
 * for their blocks are split on the way. */
struct omp_construct {
    gimple *entry, *cont, *exit;
    int outer; /* in the list; -1: none */
    bool is_on_device;
};

/* --- constructs of a function, as GCC's omp-expand.cc finds them --- */

static bool stands_alone(gimple *stmt)
{
    switch (gimple_code(stmt)) {
    case GIMPLE_OMP_TARGET:
        switch (gimple_omp_target_kind(stmt)) {
        case GF_OMP_TARGET_KIND_REGION:
        case GF_OMP_TARGET_KIND_DATA:
            return false;
        default:
            return true;
        }
    case GIMPLE_OMP_ORDERED:
        return omp_find_clause(gimple_omp_ordered_clauses(as_a<gomp_ordered *>(stmt)),
                               PM_GCC_OMP_CLAUSE_DOACROSS) != NULL_TREE;
    case GIMPLE_OMP_TASK:
        return gimple_omp_task_taskwait_p(stmt);
    default:
        return false;
    }
}

static bool is_for_device(gimple *stmt)
{
    return gimple_code(stmt) == GIMPLE_OMP_TARGET &&
           gimple_omp_target_kind(stmt) == GF_OMP_TARGET_KIND_REGION;
}

/* Calls that the front end has made of a directive. */
static bool is_directive(gimple *stmt)
{
    return gimple_call_builtin_p(stmt, BUILT_IN_GOMP_BARRIER) ||
           gimple_call_builtin_p(stmt, BUILT_IN_GOMP_TASKWAIT);
}

static void find_directives(basic_block bb, std::vector<gimple *> *ret_calls)
{
    for (gimple_stmt_iterator at = gsi_start_bb(bb); !gsi_end_p(at); gsi_next(&at))
        if (is_directive(gsi_stmt(at)))
            ret_calls->push_back(gsi_stmt(at));
}

static void find_constructs(basic_block bb, int around, std::vector<struct omp_construct> *list,
                            std::vector<gimple *> *ret_calls)
{
    if (around < 0 || !(*list)[around].is_on_device)
        find_directives(bb, ret_calls);
    gimple_stmt_iterator last = gsi_last_nondebug_bb(bb);
    gimple *stmt = gsi_end_p(last) ? NULL : gsi_stmt(last);
    if (stmt != NULL && is_gimple_omp(stmt)) {
        switch (gimple_code(stmt)) {
        case GIMPLE_OMP_RETURN:
        case GIMPLE_OMP_ATOMIC_STORE:
            if (around >= 0) {
                (*list)[around].exit = stmt;
                around = (*list)[around].outer;
            }
            break;
        case GIMPLE_OMP_CONTINUE:
            if (around >= 0)
                (*list)[around].cont = stmt;
            break;
        case GIMPLE_OMP_SECTIONS_SWITCH:
            break;
        default:
            if (stands_alone(stmt))
                break;
            bool is_on_device =
                is_for_device(stmt) || (around >= 0 && (*list)[around].is_on_device);
            list->push_back({stmt, NULL, NULL, around, is_on_device});
            around = (int)list->size() - 1;
        }
    }
    for (basic_block son = first_dom_son(CDI_DOMINATORS, bb); son != NULL;
         son = next_dom_son(CDI_DOMINATORS, son))
        find_constructs(son, around, list, ret_calls);
}

/* --- the slot of this translation unit --- */

static tree slot, slot_api; /* the variable and its field; NULL: not used yet */
static tree told_to;        /* the function */

static const struct ggc_root_tab omp_roots[] = {
    {&slot, 1, sizeof slot, &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node},
    {&slot_api, 1, sizeof slot_api, &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node},
    {&told_to, 1, sizeof told_to, &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node},
    LAST_GGC_ROOT_TAB};

static tree add_field(tree record, const char *name, tree type, tree next)
{
    tree field = build_decl(BUILTINS_LOCATION, FIELD_DECL, get_identifier(name), type);
    DECL_CONTEXT(field) = record;
    DECL_CHAIN(field) = next;
    return field;
}

/* struct pm_words_slot */
static tree slot_of_unit(void)
{
    if (slot != NULL_TREE)
        return slot;
    tree record = make_node(RECORD_TYPE);
    slot_api = add_field(record, "api", ptr_type_node, NULL_TREE);
    tree bytes = add_field(record, "bytes", uint32_type_node, slot_api);
    tree version = add_field(record, "version", uint32_type_node, bytes);
    tree magic = add_field(record, "magic", uint64_type_node, version);
    TYPE_FIELDS(record) = magic;
    TYPE_NAME(record) = get_identifier("pm_words_slot");
    TYPE_ARTIFICIAL(record) = 1;
    layout_type(record);

    uint64_t text;
    memcpy(&text, PM_WORDS_MAGIC, sizeof text);
    vec<constructor_elt, va_gc> *values = NULL;
    CONSTRUCTOR_APPEND_ELT(values, magic, build_int_cst(uint64_type_node, (HOST_WIDE_INT)text));
    CONSTRUCTOR_APPEND_ELT(values, version, build_int_cst(uint32_type_node, PM_WORDS_VERSION));
    CONSTRUCTOR_APPEND_ELT(values, bytes, fold_convert(uint32_type_node, TYPE_SIZE_UNIT(record)));
    tree variable =
        build_decl(BUILTINS_LOCATION, VAR_DECL, get_identifier("__perfmap_omp_words"), record);
    TREE_STATIC(variable) = TREE_USED(variable) = TREE_ADDRESSABLE(variable) = 1;
    TREE_THIS_VOLATILE(variable) = 1;
    DECL_ARTIFICIAL(variable) = DECL_IGNORED_P(variable) = DECL_PRESERVE_P(variable) = 1;
    DECL_INITIAL(variable) = build_constructor(record, values);
    TREE_CONSTANT(DECL_INITIAL(variable)) = TREE_STATIC(DECL_INITIAL(variable)) = 1;
    set_decl_section_name(variable, PM_WORDS_SECTION);
    varpool_node::finalize_decl(variable);
    varpool_node::get(variable)->no_reorder = false;
    return slot = variable;
}

static tree told_function(void)
{
    if (told_to != NULL_TREE)
        return told_to;
    tree function =
        build_decl(BUILTINS_LOCATION, FUNCTION_DECL, get_identifier(PM_OMP_TOLD_TO),
                   build_function_type_list(integer_type_node, integer_type_node, NULL_TREE));
    TREE_PUBLIC(function) = DECL_EXTERNAL(function) = DECL_ARTIFICIAL(function) = 1;
    TREE_NOTHROW(function) = 1;
    DECL_VISIBILITY(function) = VISIBILITY_DEFAULT;
    DECL_VISIBILITY_SPECIFIED(function) = 1;
    return told_to = function;
}

/* --- telling --- */

/* "ns::sum" of "ns::sum<int>(int)", as regions are called by their symbols. */
static size_t bytes_of_name(const char *name)
{
    return strstr(name, "operator") != NULL ? strlen(name) : strcspn(name, "<(");
}

/* As Clang writes it down in its own calls; NULL_TREE: no place is known. */
static tree source_of(location_t location, tree function_decl)
{
    struct pm_place place;
    const char *name = pm_source_function_of(function_decl)->name;
    if (!pm_place_of(location, &place))
        return NULL_TREE;
    struct pm_buf text = PM_BUF_INIT(PM_OMP_MAX_SOURCE);
    pm_buf_printf(&text, ";%s;%.*s;%u;%u;;", place.shown, (int)bytes_of_name(name), name,
                  place.line, place.column);
    pm_buf_add_byte(&text, 0);
    tree literal = text.failed ? NULL_TREE : build_string_literal((unsigned)text.len, text.data);
    pm_buf_release(&text);
    return literal;
}

/* The product, at the end of the block. Folding it might make it a choice, which is a jump. */
static tree product_of(gimple_stmt_iterator *end, const std::vector<tree> &factors)
{
    if (factors.empty())
        return build_int_cst(long_unsigned_type_node, (HOST_WIDE_INT)PM_OMP_NOT_KNOWN);
    tree product = NULL_TREE;
    for (tree factor : factors) {
        tree value = force_gimple_operand_gsi(end, unshare_expr(factor), true, NULL_TREE, false,
                                              GSI_CONTINUE_LINKING);
        if (product != NULL_TREE) {
            tree both = create_tmp_var(long_unsigned_type_node, "perfmap_n");
            gsi_insert_after(end, gimple_build_assign(both, MULT_EXPR, product, value),
                             GSI_NEW_STMT);
            value = both;
        }
        product = value;
    }
    return product;
}

/* Behind the statement, or (NULL) before all of the block. n: factors of a number, which is only
 * computed when somebody listens; none: it is not known. */
static void tell(basic_block bb, gimple *behind, location_t location, unsigned what, tree source,
                 const std::vector<tree> &n, tree chunk)
{
    tree api = create_tmp_var(ptr_type_node, "perfmap_api");
    tree variable = slot_of_unit();
    tree field = build3(COMPONENT_REF, ptr_type_node, variable, slot_api, NULL_TREE);
    TREE_THIS_VOLATILE(field) = TREE_SIDE_EFFECTS(field) = 1;
    gimple *load = gimple_build_assign(api, field);
    gimple_set_location(load, location);
    gimple_stmt_iterator at = behind != NULL ? gsi_for_stmt(behind) : gsi_after_labels(bb);
    if (behind != NULL)
        gsi_insert_after(&at, load, GSI_NEW_STMT);
    else
        gsi_insert_before(&at, load, GSI_NEW_STMT);
    gcond *guard =
        gimple_build_cond(NE_EXPR, api, build_int_cst(ptr_type_node, 0), NULL_TREE, NULL_TREE);
    basic_block told = insert_cond_bb(bb, load, guard, profile_probability::very_unlikely());

    tree arguments[] = {integer_type_node, const_ptr_type_node, long_unsigned_type_node,
                        long_integer_type_node};
    gimple_stmt_iterator end = gsi_last_bb(told);
    tree product = product_of(&end, n);
    chunk = chunk == NULL_TREE ? build_int_cst(long_integer_type_node, 0)
                               : fold_convert(long_integer_type_node, chunk);
    if (!is_gimple_val(chunk))
        chunk = force_gimple_operand_gsi(&end, unshare_expr(chunk), true, NULL_TREE, false,
                                         GSI_CONTINUE_LINKING);
    gcall *call = gimple_build_call(
        told_function(), 4, build_int_cst(integer_type_node, (HOST_WIDE_INT)(int)what),
        source != NULL_TREE ? source : build_int_cst(const_ptr_type_node, 0), product, chunk);
    gimple_call_set_fntype(call, build_function_type_array(integer_type_node, 4, arguments));
    gimple_call_set_nothrow(call, true);
    gimple_set_location(call, location);
    gsi_insert_after(&end, call, GSI_NEW_STMT);
}

bool pm_omp_is_telling(const gimple *stmt)
{
    tree from = gimple_assign_load_p(stmt) ? gimple_assign_rhs1(stmt) : NULL_TREE;
    return from != NULL_TREE && TREE_CODE(from) == COMPONENT_REF && slot != NULL_TREE &&
           TREE_OPERAND(from, 0) == slot;
}

static void tell_before(gimple *stmt, unsigned what, tree source, const std::vector<tree> &n,
                        tree chunk)
{
    basic_block bb = gimple_bb(stmt);
    gimple_stmt_iterator at = gsi_for_stmt(stmt);
    gsi_prev(&at);
    tell(bb, gsi_end_p(at) ? NULL : gsi_stmt(at), gimple_location(stmt), what, source, n, chunk);
}

static void tell_next(gimple *stmt, tree source)
{
    if (source != NULL_TREE)
        tell_before(stmt, PM_OMP_NEXT, source, {}, NULL_TREE);
}

/* --- loops --- */

/* Of one level of a loop, as unsigned longs. False: not known. */
static bool iterations_of(const struct omp_for_data_loop &level, tree n1, tree n2,
                          std::vector<tree> *factors)
{
    tree type = TREE_TYPE(level.v), result = long_unsigned_type_node;
    if (TYPE_PRECISION(type) > TYPE_PRECISION(result) || level.m1 != NULL_TREE ||
        level.m2 != NULL_TREE || (level.cond_code != LT_EXPR && level.cond_code != GT_EXPR))
        return false;
    bool is_up = level.cond_code == LT_EXPR;
    tree first = fold_convert(result, n1), last = fold_convert(result, n2);
    tree step = fold_convert(result, level.step);
    if (!is_up) {
        std::swap(first, last);
        step = fold_build1(NEGATE_EXPR, result, step);
    }
    tree distance = fold_build2(MINUS_EXPR, result, last, first);
    distance = fold_build2(PLUS_EXPR, result, distance,
                           fold_build2(MINUS_EXPR, result, step, build_int_cst(result, 1)));
    tree is_any = fold_build2(level.cond_code, boolean_type_node, fold_convert(type, n1),
                              fold_convert(type, n2));
    factors->push_back(fold_convert(result, is_any));
    factors->push_back(fold_build2(TRUNC_DIV_EXPR, result, distance, step));
    return true;
}

/* Of all the team's threads, or of the part of a `distribute` construct around it: a product. */
static bool iterations(const struct omp_for_data &fd, std::vector<tree> *factors)
{
    if (gimple_omp_for_combined_into_p(fd.for_stmt)) {
        tree low = omp_find_clause(gimple_omp_for_clauses(fd.for_stmt), OMP_CLAUSE__LOOPTEMP_);
        tree high = low != NULL_TREE ? omp_find_clause(OMP_CLAUSE_CHAIN(low), OMP_CLAUSE__LOOPTEMP_)
                                     : NULL_TREE;
        if (high == NULL_TREE)
            return false;
        struct omp_for_data_loop level = fd.loop;
        level.v = OMP_CLAUSE_DECL(low);
        level.m1 = level.m2 = NULL_TREE;
        return iterations_of(level, OMP_CLAUSE_DECL(low), OMP_CLAUSE_DECL(high), factors);
    }
    if (fd.collapse <= 1)
        return iterations_of(fd.loop, fd.loop.n1, fd.loop.n2, factors);
    for (int i = 0; i < fd.collapse; i++)
        if (!iterations_of(fd.loops[i], fd.loops[i].n1, fd.loops[i].n2, factors))
            return false;
    return true;
}

static bool is_combined_region(const std::vector<struct omp_construct> &list, int outer)
{
    if (outer < 0)
        return false;
    gimple *around = list[outer].entry;
    return gimple_code(around) == GIMPLE_OMP_PARALLEL && gimple_omp_parallel_combined_p(around);
}

/* What a region consists of may begin with it: anything between these two would part them. */
static void tell_work(const std::vector<struct omp_construct> &list, const struct omp_construct &c,
                      gimple *stmt, tree source)
{
    if (!is_combined_region(list, c.outer)) {
        tell_next(stmt, source);
        return;
    }
    tell_before(list[c.outer].entry, PM_OMP_INNER, source, {}, NULL_TREE);
    pm_omp_note_combined(list[c.outer].entry, stmt);
}

/* A loop that is handed out by the library begins with a call. */
static void tell_loop(const std::vector<struct omp_construct> &list, const struct omp_construct &c,
                      gomp_for *stmt, tree source)
{
    struct omp_for_data fd;
    std::vector<struct omp_for_data_loop> loops(gimple_omp_for_collapse(stmt));
    omp_extract_for_data(stmt, &fd, loops.data());
    bool is_static = fd.sched_kind == OMP_CLAUSE_SCHEDULE_STATIC && !fd.have_ordered &&
                     !fd.ordered && c.cont != NULL;
    bool has_call = !is_static || fd.have_reductemp || fd.have_pointer_condtemp;
    if (!is_static) {
        tell_work(list, c, stmt, source);
        return;
    }
    std::vector<tree> n;
    if ((fd.simd_schedule && fd.chunk_size != NULL_TREE) || !iterations(fd, &n))
        n.clear();
    location_t location = gimple_location(stmt);
    if (!has_call)
        tell(FALLTHRU_EDGE(gimple_bb(c.cont))->dest, NULL, location, PM_OMP_END, NULL_TREE, {},
             NULL_TREE);
    unsigned what = fd.have_nowait ? PM_OMP_LOOP_NOWAIT : PM_OMP_LOOP;
    if (has_call)
        what = PM_OMP_SHARE;
    tell_before(stmt, what, source, n, fd.chunk_size);
}

/* --- constructs of one thread --- */

/* The block that only the chosen thread comes to. */
static basic_block chosen_block(basic_block entry)
{
    if (!single_succ_p(entry))
        return NULL;
    basic_block asks = single_succ(entry);
    gimple_stmt_iterator last = gsi_last_nondebug_bb(asks);
    if (gsi_end_p(last) || gimple_code(gsi_stmt(last)) != GIMPLE_COND ||
        gimple_cond_code(gsi_stmt(last)) != EQ_EXPR)
        return NULL;
    edge e;
    edge_iterator i;
    FOR_EACH_EDGE(e, i, asks->succs)
        if (e->flags & EDGE_TRUE_VALUE && single_pred_p(e->dest))
            return e->dest;
    return NULL;
}

static void tell_masked(const struct omp_construct &c, gimple *stmt, unsigned what, tree source)
{
    basic_block chosen = chosen_block(gimple_bb(stmt));
    location_t location = gimple_location(stmt);
    if (chosen == NULL || c.exit == NULL)
        return;
    tell(gimple_bb(c.exit), NULL, location, PM_OMP_END, NULL_TREE, {}, NULL_TREE);
    tell(chosen, NULL, location, what, source, {}, NULL_TREE);
}

static void tell_single(const struct omp_construct &c, gimple *stmt, tree source)
{
    tree clauses = gimple_omp_single_clauses(as_a<gomp_single *>(stmt));
    bool copies = omp_find_clause(clauses, OMP_CLAUSE_COPYPRIVATE) != NULL_TREE;
    bool waits = omp_find_clause(clauses, OMP_CLAUSE_NOWAIT) == NULL_TREE;
    location_t location = gimple_location(stmt);
    if (c.exit == NULL)
        return;
    if (!copies)
        tell(gimple_bb(c.exit), NULL, location, PM_OMP_END, NULL_TREE, {}, NULL_TREE);
    tell_before(stmt, waits ? PM_OMP_NEXT : PM_OMP_NEXT_NOWAIT, source, {}, NULL_TREE);
}

static void tell_construct(const std::vector<struct omp_construct> &list,
                           const struct omp_construct &c, tree function_decl)
{
    gimple *stmt = c.entry;
    tree source = source_of(gimple_location(stmt), function_decl);
    if (source == NULL_TREE)
        return;
    pm_omp_note_construct(stmt);
    switch ((int)gimple_code(stmt)) {
    case GIMPLE_OMP_FOR:
        if (gimple_omp_for_kind(stmt) == GF_OMP_FOR_KIND_FOR)
            tell_loop(list, c, as_a<gomp_for *>(stmt), source);
        break;
    case GIMPLE_OMP_SECTIONS:
        tell_work(list, c, stmt, source);
        break;
    case GIMPLE_OMP_SINGLE:
        tell_single(c, stmt, source);
        break;
    case GIMPLE_OMP_MASTER:
        tell_masked(c, stmt, PM_OMP_MASTER, source);
        break;
    case PM_GCC_OMP_MASKED:
        tell_masked(c, stmt, PM_OMP_MASKED, source);
        break;
    case GIMPLE_OMP_TARGET:
        if (is_for_device(stmt))
            tell_next(stmt, source);
        break;
    case GIMPLE_OMP_ORDERED:
    case GIMPLE_OMP_PARALLEL:
    case GIMPLE_OMP_TASK:
    case GIMPLE_OMP_TASKGROUP:
    case GIMPLE_OMP_TEAMS:
        tell_next(stmt, source);
        break;
    default:
        break;
    }
}

static bool is_host_code(function *fun)
{
    return flag_openmp && pm_function_selected(fun->decl) &&
           !lookup_attribute("omp declare target", DECL_ATTRIBUTES(fun->decl)) &&
           !(fun->curr_properties & PROP_gimple_eomp);
}

static unsigned tell_all(function *fun)
{
    std::vector<struct omp_construct> list;
    calculate_dominance_info(CDI_DOMINATORS);
    std::vector<gimple *> calls;
    find_constructs(ENTRY_BLOCK_PTR_FOR_FN(fun), -1, &list, &calls);
    for (const struct omp_construct &c : list)
        if (!c.is_on_device || is_for_device(c.entry))
            tell_construct(list, c, fun->decl);
    for (gimple *call : calls)
        tell_next(call, source_of(gimple_location(call), fun->decl));
    free_dominance_info(CDI_DOMINATORS);
    return 0;
}

void pm_omp_register(const char *plugin_name)
{
    register_callback(plugin_name, PLUGIN_REGISTER_GGC_ROOTS, NULL, (void *)omp_roots);
    pm_gcc_register_pass(plugin_name,
                         pm_gcc_gimple_pass("perfmap_omp", PROP_cfg, is_host_code, tell_all),
                         "ompexp", 1, PASS_POS_INSERT_BEFORE);
    pm_omp_places_register(plugin_name);
}
