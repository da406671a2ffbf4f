/* Functions some of whose calls run no entry sled: copies of them were inlined, a call of
 * themselves became a jump to their begin, or calls were taken away. What their sleds count and
 * time then is not all of it.
 *
 * Blocks do not tell at -g0, where those of a copy that was optimised away are gone. So the call
 * graph is watched: an inlined copy is a clone with inlined_to. (A function all of whose calls
 * are inlined gives its own node away and is not cloned for the last of them; it has no sleds
 * then.) LTO inlines in three processes: in the first two the mark travels as an attribute of
 * the declaration, in the last one the copies are in the call graph that is read.
 */
#include "facts.h"

static const char mark_name[] = "perfmap copies";
enum { HAS_COPIES = 1, COPIES_CALL = 2 };

static unsigned marks_of(tree decl)
{
    tree attribute = lookup_attribute(mark_name, DECL_ATTRIBUTES(decl));
    if (attribute == NULL_TREE)
        return 0;
    return (unsigned)TREE_INT_CST_LOW(TREE_VALUE(TREE_VALUE(attribute)));
}

static void set_marks(tree decl, unsigned marks)
{
    DECL_ATTRIBUTES(decl) = remove_attribute(mark_name, DECL_ATTRIBUTES(decl));
    tree value = build_int_cst(unsigned_type_node, (HOST_WIDE_INT)marks);
    DECL_ATTRIBUTES(decl) = tree_cons(get_identifier(mark_name), build_tree_list(NULL_TREE, value),
                                      DECL_ATTRIBUTES(decl));
}

static void write_marks(tree origin, unsigned marks)
{
    struct pm_facts *facts = pm_facts_late();
    pm_id function = pm_fact_function(facts, pm_source_function_of(origin));
    pm_fact_bare(facts, function, marks & COPIES_CALL);
}

static void note_copy(tree decl, bool calls)
{
    tree origin = pm_origin_function(decl);
    unsigned known = marks_of(origin),
             marks = known | HAS_COPIES | (calls ? (unsigned)COPIES_CALL : 0);
    if (marks == known || !pm_function_selected(origin))
        return;
    set_marks(origin, marks);
    if (!flag_wpa)
        write_marks(origin, marks);
}

/* Is anything called that may have sleds, or words, of its own? */
static bool calls_others(const struct cgraph_node *node)
{
    if (node->indirect_calls != NULL)
        return true;
    for (const struct cgraph_edge *e = node->callees; e != NULL; e = e->next_callee)
        if (e->inline_failed ? !fndecl_built_in_p(e->callee->decl) : calls_others(e->callee))
            return true;
    return false;
}

static void node_copied(struct cgraph_node *from, struct cgraph_node *to, void *)
{
    if (to->inlined_to != NULL && !pm_is_lower_body(from->decl, to->inlined_to->decl))
        note_copy(from->decl, calls_others(from));
}

/* In LTO's last process copies are read, not made. */
static void note_read_copies(void *, void *)
{
    static bool looked;
    struct cgraph_node *node;
    if (looked || !in_lto_p || flag_wpa)
        return;
    looked = true;
    FOR_EACH_FUNCTION(node)
        if (node->inlined_to != NULL)
            note_copy(node->decl, calls_others(node));
}

void pm_copies_emitted(tree function_decl)
{
    tree origin = pm_origin_function(function_decl);
    unsigned marks = in_lto_p ? marks_of(origin) : 0;
    if (marks != 0)
        write_marks(origin, marks);
}

/* --- calls of itself that become jumps --- */

static unsigned n_calls_before;

static unsigned count_own_calls(function *fun)
{
    unsigned n = 0;
    basic_block bb;
    FOR_EACH_BB_FN(bb, fun)
        for (gimple_stmt_iterator at = gsi_start_bb(bb); !gsi_end_p(at); gsi_next(&at))
            n += is_gimple_call(gsi_stmt(at)) && gimple_call_fndecl(gsi_stmt(at)) == fun->decl;
    return n;
}

static unsigned before_tail_recursion(function *fun)
{
    n_calls_before = count_own_calls(fun);
    return 0;
}

/* What was called within is called as before: it still is below the function. */
static unsigned after_tail_recursion(function *fun)
{
    if (count_own_calls(fun) < n_calls_before)
        note_copy(fun->decl, false);
    n_calls_before = 0;
    return 0;
}

/* --- calls that are taken away --- */

/* Of functions that only compute: calls whose results nobody needs, or that are known by then. */
typedef std::map<tree, unsigned> call_counts;

static call_counts pure_calls_before;

static call_counts count_pure_calls(function *fun)
{
    call_counts counts;
    basic_block bb;
    FOR_EACH_BB_FN(bb, fun)
        for (gimple_stmt_iterator at = gsi_start_bb(bb); !gsi_end_p(at); gsi_next(&at)) {
            gimple *stmt = gsi_stmt(at);
            tree decl = is_gimple_call(stmt) ? gimple_call_fndecl(stmt) : NULL_TREE;
            struct cgraph_node *node = decl != NULL_TREE ? cgraph_node::get(decl) : NULL;
            if (node != NULL && node->definition &&
                (gimple_call_flags(stmt) & (ECF_CONST | ECF_PURE)))
                counts[decl]++;
        }
    return counts;
}

static unsigned before_calls_go(function *fun)
{
    pure_calls_before = count_pure_calls(fun);
    return 0;
}

static unsigned after_calls_went(function *fun)
{
    call_counts left = count_pure_calls(fun);
    for (const auto &before : pure_calls_before)
        if (left[before.first] < before.second)
            note_copy(before.first, false);
    pure_calls_before.clear();
    return 0;
}

/* --- */

/* Instance 0, any: these passes are early and among the late ones. */
static void watch_pass(const char *plugin_name, const char *pass, pm_gcc_body *before,
                       pm_gcc_body *after)
{
    const unsigned properties = PROP_cfg | PROP_ssa;
    pm_gcc_register_pass(plugin_name,
                         pm_gcc_gimple_pass("perfmap_before_calls", properties, NULL, before), pass,
                         0, PASS_POS_INSERT_BEFORE);
    pm_gcc_register_pass(plugin_name,
                         pm_gcc_gimple_pass("perfmap_after_calls", properties, NULL, after), pass,
                         0, PASS_POS_INSERT_AFTER);
}

void pm_copies_register(const char *plugin_name)
{
    static const char *const takers[] = {"cddce", "dce", "fre", "pre"};
    watch_pass(plugin_name, "tailr", before_tail_recursion, after_tail_recursion);
    for (const char *pass : takers)
        watch_pass(plugin_name, pass, before_calls_go, after_calls_went);
    register_callback(plugin_name, PLUGIN_ALL_PASSES_START, note_read_copies, NULL);
    symtab->add_cgraph_duplication_hook(node_copied, NULL);
}
