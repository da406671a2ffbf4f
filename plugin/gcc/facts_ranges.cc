/* Where each statement of C and C++ begins and ends. In GIMPLE a statement has become many, each
 * with a place of its own; the front ends' trees (PLUGIN_PRE_GENERICIZE) still hold it whole. Only
 * the tree of statements is walked, into expressions hardly ever. */

#include "facts.h"

static std::map<unsigned, struct pm_statements> ranges_by_uid;
static std::map<location_t, location_t> omp_loops;

/* False: it is no place. */
static bool widen(struct pm_range *range, location_t location)
{
    struct pm_place place;
    if (!pm_place_of(location, &place))
        return false;
    pm_range_widen(range, &place);
    return true;
}

static void widen_by(struct pm_range *range, tree t);

/* "{a, b}" has no place of its own. */
static void widen_by_elements(struct pm_range *range, tree constructor)
{
    enum { ELEMENTS_MAX = 1000 };
    unsigned i;
    tree element;
    FOR_EACH_CONSTRUCTOR_VALUE(CONSTRUCTOR_ELTS(constructor), i, element)
        if (i < ELEMENTS_MAX)
            widen_by(range, element);
}

/* g++ splits "{a, b}" into a list where its values are not constant. */
static void widen_by_list(struct pm_range *range, tree list)
{
    for (tree_stmt_iterator i = tsi_start(list); !tsi_end_p(i); tsi_next(&i)) {
        tree t = tsi_stmt(i);
        while (TREE_CODE(t) == CLEANUP_POINT_EXPR || TREE_CODE(t) == EXPR_STMT)
            t = TREE_OPERAND(t, 0);
        if (TREE_CODE(t) == INIT_EXPR)
            widen_by(range, t);
    }
}

/* "point p = {x, y}", where p was declared */
static void widen_by_initialised(struct pm_range *range, tree init)
{
    tree variable = get_base_address(TREE_OPERAND(init, 0));
    if (variable != NULL_TREE && VAR_P(variable) && !DECL_ARTIFICIAL(variable))
        widen(range, DECL_SOURCE_LOCATION(variable));
}

/* Is the location that of one operand, perhaps? "return s + p.mass" is where p.mass is. */
static bool is_elsewhere(tree t)
{
    return TREE_CODE(t) == DECL_EXPR || TREE_CODE(t) == INIT_EXPR || TREE_CODE(t) == RETURN_EXPR;
}

/* The text of an expression is told by its location. What wraps one, initialisers, and expressions
 * that were folded have only a point: there the operands tell more. */
static void widen_by(struct pm_range *range, tree t)
{
    if (t != NULL_TREE && TREE_CODE(t) == CONSTRUCTOR)
        widen_by_elements(range, t);
    if (t != NULL_TREE && TREE_CODE(t) == STATEMENT_LIST)
        widen_by_list(range, t);
    if (t == NULL_TREE || !EXPR_P(t) || TREE_CODE(t) == BIND_EXPR)
        return;
    if (EXPR_HAS_LOCATION(t)) {
        source_range text = get_range_from_loc(line_table, EXPR_LOCATION(t));
        bool begins = widen(range, text.m_start), ends = widen(range, text.m_finish);
        if (!begins) /* "v[i] = x" with a class's operator[]: where v stands is not known */
            widen(range, EXPR_LOCATION(t));
        if (begins && ends && text.m_start != text.m_finish && !is_elsewhere(t))
            return;
    }
    if (TREE_CODE(t) == DECL_EXPR) {
        widen(range, DECL_SOURCE_LOCATION(DECL_EXPR_DECL(t)));
        widen_by(range, DECL_INITIAL(DECL_EXPR_DECL(t)));
        return;
    }
    if (TREE_CODE(t) == TARGET_EXPR) { /* its clean-up lies at the end of the block */
        widen_by(range, TARGET_EXPR_INITIAL(t));
        return;
    }
    if (TREE_CODE(t) == INIT_EXPR)
        widen_by_initialised(range, t);
    for (int i = 0; i < TREE_OPERAND_LENGTH(t); i++)
        widen_by(range, TREE_OPERAND(t, i));
}

static void note_statements(tree t, struct pm_statements *ranges);

static void note_omp_loop(tree t)
{
    tree inits = OMP_FOR_INIT(t);
    tree init =
        inits != NULL_TREE && TREE_VEC_LENGTH(inits) > 0 ? TREE_VEC_ELT(inits, 0) : NULL_TREE;
    if (init == NULL_TREE)
        return;
    location_t place = DECL_P(init) ? DECL_SOURCE_LOCATION(init) : EXPR_LOCATION(init);
    if (!DECL_P(init) && EXPR_HAS_LOCATION(init))
        place = get_range_from_loc(line_table, place).m_start;
    omp_loops[EXPR_LOCATION(t)] = place;
}

static void note_operands(tree t, struct pm_statements *ranges)
{
    for (int i = 0; i < TREE_OPERAND_LENGTH(t); i++)
        note_statements(TREE_OPERAND(t, i), ranges);
}

static void note_leaf(tree t, struct pm_statements *ranges)
{
    struct pm_range range = {};
    widen_by(&range, t);
    if (range.file != NULL && !pm_statements_add(ranges, &range))
        pm_no_memory();
}

/* A flat switch over the kinds of statement. */
static void note_statements(tree t, struct pm_statements *ranges)
{
    if (t == NULL_TREE)
        return;
    switch ((int)TREE_CODE(t)) {
    case STATEMENT_LIST:
        for (tree_stmt_iterator i = tsi_start(t); !tsi_end_p(i); tsi_next(&i))
            note_statements(tsi_stmt(i), ranges);
        break;
    case BIND_EXPR:
        note_statements(BIND_EXPR_BODY(t), ranges);
        break;
    case OMP_FOR:
    case OMP_SIMD:
    case OMP_DISTRIBUTE:
    case OMP_TASKLOOP:
    case OMP_LOOP:
    case OACC_LOOP:
        note_omp_loop(t);
        note_statements(OMP_FOR_BODY(t), ranges);
        break;
    case OMP_PARALLEL:
    case OMP_TASK:
    case OMP_SINGLE:
    case OMP_MASTER:
    case OMP_CRITICAL:
    case OMP_ORDERED:
    case OMP_SECTIONS:
    case OMP_SECTION:
    case OMP_TEAMS:
    case OMP_TARGET:
    case OMP_TARGET_DATA:
    case OMP_TASKGROUP:
        note_statements(OMP_BODY(t), ranges);
        break;
    case COND_EXPR:
        VOID_TYPE_P(TREE_TYPE(t)) ? note_operands(t, ranges) : note_leaf(t, ranges);
        break;
    case FOR_STMT:
    case WHILE_STMT:
    case DO_STMT:
    case IF_STMT:
    case SWITCH_STMT:
    case SWITCH_EXPR:
    case TRY_BLOCK:
    case HANDLER:
    case EH_SPEC_BLOCK:
    case MUST_NOT_THROW_EXPR:
        note_operands(t, ranges);
        break;
    case CLEANUP_STMT:
    case TRY_FINALLY_EXPR:
    case TRY_CATCH_EXPR:
        /* The clean-up is the compiler's. GCC 15 lets that of a handler reach over all of it. */
        note_statements(TREE_OPERAND(t, 0), ranges);
        break;
    case CLEANUP_POINT_EXPR:
        /* Around a whole statement, which may be of several, as one of a condition is not. */
        TREE_CODE(TREE_OPERAND(t, 0)) == STATEMENT_LIST ? note_operands(t, ranges)
                                                        : note_leaf(t, ranges);
        break;
    default:
        if (EXPR_P(t) && TREE_CODE(t) != LABEL_EXPR && TREE_CODE(t) != CASE_LABEL_EXPR)
            note_leaf(t, ranges);
        break;
    }
}

static void note_function(void *function_decl, void *)
{
    tree decl = (tree)function_decl;
    if (TREE_CODE(decl) != FUNCTION_DECL || pm_is_system_place(pm_definition_place(decl)))
        return;
    struct pm_statements *ranges = &ranges_by_uid[DECL_UID(decl)];
    struct pm_place name;
    note_statements(DECL_SAVED_TREE(decl), ranges);
    if (pm_place_of(DECL_SOURCE_LOCATION(decl), &name))
        pm_statements_cut_coroutine(ranges, &name);
    if (!pm_statements_sort(ranges))
        pm_no_memory();
}

const struct pm_statements *pm_ranges_of(tree function_decl)
{
    auto found = ranges_by_uid.find(DECL_UID(function_decl));
    if (found == ranges_by_uid.end() &&
        DECL_ABSTRACT_ORIGIN(function_decl) != NULL_TREE) /* constructors */
        found = ranges_by_uid.find(DECL_UID(DECL_ABSTRACT_ORIGIN(function_decl)));
    return found != ranges_by_uid.end() ? &found->second : NULL;
}

void pm_ranges_drop(tree function_decl)
{
    auto found = ranges_by_uid.find(DECL_UID(function_decl));
    if (found == ranges_by_uid.end())
        return;
    pm_statements_release(&found->second);
    ranges_by_uid.erase(found);
}

bool pm_ranges_omp_loop(location_t directive, struct pm_place *ret_place)
{
    auto found = omp_loops.find(directive);
    return found != omp_loops.end() && pm_place_of(found->second, ret_place);
}

void pm_ranges_register(const char *plugin_name)
{
    register_callback(plugin_name, PLUGIN_PRE_GENERICIZE, note_function, NULL);
}
