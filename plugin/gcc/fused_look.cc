/* What the statements of a function's source do, read from its GIMPLE: what they read and write,
 * which values they use and make. */

#include "map.h"
#include "objects.h"
#include "fused.h"

/* What defined an SSA name. */
struct definition {
    int statement;  /* -1: none of those seen so far */
    unsigned order; /* the how-manieth of its statement */
};

struct looking {
    struct pm_fused_look *look;
    bool is_before;
    std::vector<struct definition> definitions; /* by SSA version */
    struct pm_table<location_t, int> known;     /* location -> statement, -1 none */
    hash_map<tree, name_expansion *> *expansions;
};

/* --- keys --- */

bool pm_fused_key_of(location_t location, struct pm_fused_key *ret_key, const char **ret_shown)
{
    struct pm_place place;
    if (!pm_place_of(location, &place))
        return false;
    ret_key->function = pm_source_function_of(pm_text_function(LOCATION_BLOCK(location)));
    ret_key->file = place.file;
    *ret_shown = place.shown;
    const struct pm_statements *statements = pm_statements_of(ret_key->function);
    if (statements == NULL) { /* lto1 has no statements, only lines */
        ret_key->line = place.line;
        ret_key->column = 0;
        return true;
    }
    int at = pm_statement_at(statements, &place);
    if (at < 0)
        return false;
    ret_key->line = statements->list[at].first.line;
    ret_key->column = statements->list[at].first.column;
    return true;
}

static int find_statement(struct pm_fused_look *look, location_t location, int block)
{
    struct pm_fused_key key;
    const char *shown;
    return pm_fused_key_of(location, &key, &shown) ? pm_fused_statement(look, &key, shown, block)
                                                   : -1;
}

static int statement_at(struct looking *looking, location_t location, int block)
{
    bool is_new;
    int *known = looking->known.add(location, -1, &is_new);
    if (is_new)
        *known = find_statement(looking->look, location, block);
    return *known;
}

/* --- values --- */

static uint64_t combine(uint64_t a, uint64_t b)
{
    uint64_t both[2] = {a, b};
    return XXH64(both, sizeof both, 0);
}

/* Versions are given out again: the definition has to be the same, too. */
static uint64_t name_identity(tree name)
{
    gimple *stmt = SSA_NAME_DEF_STMT(name);
    uint64_t identity = combine(SSA_NAME_VERSION(name),
                                SSA_NAME_VAR(name) != NULL_TREE ? DECL_UID(SSA_NAME_VAR(name)) : 0);
    if (SSA_NAME_IS_DEFAULT_DEF(name) || stmt == NULL)
        return identity;
    unsigned operation = is_gimple_assign(stmt) ? gimple_assign_rhs_code(stmt) : 0;
    identity = combine(identity, (uint64_t)gimple_code(stmt) << 16 | operation);
    return combine(identity, LOCATION_LOCUS(gimple_location(stmt)));
}

/* index: the statement whose own intermediate values count by their order; -1 none. */
static uint64_t operand_form(const struct looking *looking, int index, tree t)
{
    if (t == NULL_TREE)
        return 0;
    if (TREE_CODE(t) == SSA_NAME) {
        const struct definition *definition = &looking->definitions[SSA_NAME_VERSION(t)];
        return index >= 0 && definition->statement == index ? definition->order : name_identity(t);
    }
    if (DECL_P(t))
        return combine(1, DECL_UID(t));
    if (CONSTANT_CLASS_P(t)) {
        inchash::hash state;
        inchash::add_expr(t, state);
        return combine(2, state.end());
    }
    uint64_t form = combine(3, TREE_CODE(t));
    for (int i = 0; EXPR_P(t) && i < TREE_OPERAND_LENGTH(t); i++)
        form = combine(form, operand_form(looking, index, TREE_OPERAND(t, i)));
    return form;
}

static bool is_copy(gimple *stmt)
{
    return is_gimple_assign(stmt) && TREE_CODE(gimple_assign_lhs(stmt)) == SSA_NAME &&
           (gimple_assign_rhs_code(stmt) == SSA_NAME || gimple_assign_cast_p(stmt) ||
            get_gimple_rhs_class(gimple_assign_rhs_code(stmt)) == GIMPLE_SINGLE_RHS) &&
           !gimple_assign_load_p(stmt);
}

static uint64_t statement_form(const struct looking *looking, int index, gimple *stmt)
{
    uint64_t form = combine(4, gimple_code(stmt));
    tree lhs = gimple_get_lhs(stmt);
    if (lhs != NULL_TREE && TREE_CODE(lhs) != SSA_NAME)
        form = combine(form, operand_form(looking, index, lhs));
    if (is_gimple_assign(stmt) || gimple_code(stmt) == GIMPLE_COND)
        form = combine(form, gimple_expr_code(stmt));
    if (is_gimple_call(stmt) && gimple_call_internal_p(stmt)) /* GCC 11 does not ask the first */
        form = combine(form, gimple_call_internal_fn(stmt));
    unsigned first = is_gimple_assign(stmt) || is_gimple_call(stmt) ? 1 : 0;
    for (unsigned i = first; i < gimple_num_ops(stmt); i++)
        form = combine(form, operand_form(looking, index, gimple_op(stmt, i)));
    return form;
}

static void read_values(struct looking *looking, int index, gimple *stmt)
{
    struct pm_fused_look *look = looking->look;
    struct pm_fused_statement *statement = &look->statements[index];
    ssa_op_iter iter;
    tree name;
    FOR_EACH_SSA_TREE_OPERAND(name, stmt, iter, SSA_OP_USE)
        pm_fused_value(look, index, PM_FUSED_USES, name_identity(name));
    if (looking->is_before && !is_copy(stmt)) {
        statement->computes = true;
        statement->form = combine(statement->form, statement_form(looking, index, stmt));
    }
    FOR_EACH_SSA_TREE_OPERAND(name, stmt, iter, SSA_OP_DEF) {
        unsigned n = pm_fused_value(look, index, PM_FUSED_DEFINES, name_identity(name));
        looking->definitions[SSA_NAME_VERSION(name)] = {index, n};
    }
}

/* --- memory --- */

/* The address as a sum: what varies in it makes the base. */
static void find_extent(struct looking *looking, tree t, struct pm_fused_reference *reference)
{
    aff_tree sum;
    poly_widest_int size;
    HOST_WIDE_INT begin, n_bytes;
    get_inner_reference_aff(t, &sum, &size);
    aff_combination_expand(&sum, &looking->expansions);
    if (sum.rest != NULL_TREE || !sum.offset.is_constant() || !size.is_constant() ||
        !wi::fits_shwi_p(sum.offset.to_constant()) || !wi::fits_shwi_p(size.to_constant()))
        return;
    begin = sum.offset.to_constant().to_shwi();
    n_bytes = size.to_constant().to_shwi();
    uint64_t base = 1;
    for (unsigned i = 0; i < sum.n; i++)
        base += combine(operand_form(looking, -1, sum.elts[i].val),
                        (uint64_t)sum.elts[i].coef.to_shwi());
    reference->base = base;
    reference->begin = begin;
    reference->size = n_bytes;
}

struct reading {
    struct looking *looking;
    int index;
};

/* Of what GIMPLE is at the end, the extents of wide loads and of stores tell something. */
static void add_reference(struct reading *reading, tree t, bool writes)
{
    struct pm_fused_reference *reference =
        pm_fused_reference(reading->looking->look, reading->index);
    reference->writes = writes;
    reference->is_vector = VECTOR_TYPE_P(TREE_TYPE(t));
    reference->of = t;
    if ((reading->looking->is_before || writes || reference->is_vector) &&
        (handled_component_p(t) || TREE_CODE(t) == MEM_REF || VAR_P(t)))
        find_extent(reading->looking, t, reference);
}

static bool read_load(gimple *, tree, tree t, void *data)
{
    add_reference((struct reading *)data, t, false);
    return false;
}

static bool read_store(gimple *, tree, tree t, void *data)
{
    add_reference((struct reading *)data, t, true);
    return false;
}

static void add_pointer(struct reading *reading, tree pointer, bool writes, bool is_vector)
{
    struct pm_fused_reference *reference =
        pm_fused_reference(reading->looking->look, reading->index);
    reference->writes = writes;
    reference->is_vector = is_vector;
    reference->is_pointer = true;
    reference->of = pointer;
}

/* Memory functions, and the vectoriser's loads and stores under a mask. */
static void read_call(struct reading *reading, gcall *call)
{
    struct pm_fused_statement *statement = &reading->looking->look->statements[reading->index];
    bool reads = gimple_call_builtin_p(call, BUILT_IN_MEMCPY) ||
                 gimple_call_builtin_p(call, BUILT_IN_MEMMOVE);
    if (gimple_call_internal_p(call, IFN_MASK_STORE)) {
        add_pointer(reading, gimple_call_arg(call, 0), true,
                    VECTOR_TYPE_P(TREE_TYPE(gimple_call_arg(call, 3))));
    } else if (gimple_call_internal_p(call, IFN_MASK_LOAD) && gimple_call_lhs(call) != NULL_TREE) {
        add_pointer(reading, gimple_call_arg(call, 0), false,
                    VECTOR_TYPE_P(TREE_TYPE(gimple_call_lhs(call))));
    } else if (reads || gimple_call_builtin_p(call, BUILT_IN_MEMSET)) {
        statement->calls_memory_function = true;
        add_pointer(reading, gimple_call_arg(call, 0), true, false);
        if (reads)
            add_pointer(reading, gimple_call_arg(call, 1), false, false);
    }
}

static void read_statement(struct looking *looking, gimple *stmt)
{
    if (is_gimple_debug(stmt) || gimple_clobber_p(stmt) || gimple_code(stmt) == GIMPLE_LABEL ||
        gimple_code(stmt) == GIMPLE_PREDICT || gimple_nop_p(stmt))
        return;
    int index = statement_at(looking, gimple_location(stmt), gimple_bb(stmt)->index);
    if (index < 0)
        return;
    struct reading reading = {looking, index};
    walk_stmt_load_store_ops(stmt, &reading, read_load, read_store);
    if (is_gimple_call(stmt))
        read_call(&reading, as_a<gcall *>(stmt));
    read_values(looking, index, stmt);
}

/* --- equal statements --- */

enum { WAY_MAX = 8 };

/* Do two blocks lead, without a choice, to one? */
static bool ways_meet(basic_block a, basic_block b)
{
    std::set<basic_block> way;
    for (int i = 0; i < WAY_MAX && single_succ_p(a); i++)
        way.insert(a = single_succ(a));
    for (int i = 0; i < WAY_MAX && single_succ_p(b); i++)
        if (way.count(b = single_succ(b)) != 0)
            return true;
    return false;
}

static enum pm_fused_relation relate(void *fun, int block_a, int block_b)
{
    basic_block a = BASIC_BLOCK_FOR_FN((function *)fun, block_a);
    basic_block b = BASIC_BLOCK_FOR_FN((function *)fun, block_b);
    calculate_dominance_info(CDI_DOMINATORS); /* nothing to do but for the first pair */
    if (dominated_by_p(CDI_DOMINATORS, a, b) || dominated_by_p(CDI_DOMINATORS, b, a))
        return PM_FUSED_IN_ROW;
    return ways_meet(a, b) ? PM_FUSED_MEET : PM_FUSED_APART;
}

static void find_equal(function *fun, struct pm_fused_look *look)
{
    bool had_dominators = dom_info_available_p(CDI_DOMINATORS);
    pm_fused_find_equal(look, relate, fun);
    if (!had_dominators && dom_info_available_p(CDI_DOMINATORS)) /* passes behave as without us */
        free_dominance_info(CDI_DOMINATORS);
}

static void find_objects(struct looking *looking, struct pm_fused_reference *reference)
{
    static std::vector<struct pm_access> objects;
    if (!pm_fused_wants_objects(looking->look, looking->is_before, reference))
        return;
    objects.clear();
    if (reference->is_pointer)
        pm_objects_of_pointer((tree)reference->of, 0, UNKNOWN_LOCATION, &objects);
    else
        pm_objects_of_tree((tree)reference->of, 0, &objects);
    pm_fused_objects(looking->look, reference, objects.data(), objects.size());
}

void pm_fused_look_at(function *fun, bool is_before, struct pm_fused_look *ret_look)
{
    struct looking looking = {};
    basic_block bb;
    looking.look = ret_look;
    looking.is_before = is_before;
    looking.definitions.assign(num_ssa_names, {-1, 0});
    pm_objects_follow(true);
    FOR_EACH_BB_FN(bb, fun)
        for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi))
            read_statement(&looking, gsi_stmt(gsi));
    pm_fused_look_done(ret_look);
    for (uint32_t i = 0; i < ret_look->n_references; i++)
        find_objects(&looking, &ret_look->references[i]);
    pm_objects_follow(false);
    free_affine_expand_cache(&looking.expansions);
    if (is_before)
        find_equal(fun, ret_look);
}
