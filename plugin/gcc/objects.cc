/* Which variable, array or field a piece of code touches.
 *
 * RTL knows of a memory reference the tree that it was made of (MEM_EXPR). Where that is a
 * variable or a field, it says what is touched. But loops run over pointers that the optimisers
 * made (vectp_a.61, ivtmp.7, names without a variable): what these stand for is found in GIMPLE,
 * while definitions can still be followed, just before it becomes RTL, and is kept by the
 * version of the SSA name, which MEM_EXPR goes on using.
 *
 * What is named, as in docs/formats/pif-names.md:
 *   - p[i] through a declared pointer p: p, and the variable behind it where definitions or
 *   points-to sets tell it; - through a pointer loaded from a field, a variable or memory: that
 *   field, or what it was loaded from (rows in rows[i][j]); - through a value that a call returned:
 *   where the function keeps it ("grid->data = malloc(n)"); - s.f, s->f: the field f and s.
 * Pointers that compilers make for the language are the thing itself: references, descriptors of
 * Fortran's arrays, shared variables of OpenMP regions, variables of enclosing functions.
 */
#include "map.h"
#include "objects.h"
#include "table.h"

void pm_access_add(std::vector<struct pm_access> *out, pm_id noun, unsigned access)
{
    for (struct pm_access &known : *out) {
        if (known.noun == noun && (known.access & PM_MAP_THROUGH) == (access & PM_MAP_THROUGH)) {
            known.access |= access;
            return;
        }
    }
    out->push_back({noun, access});
}

/* What one pointer or reference stands for, while it is being found out. access: PM_MAP_THROUGH
 * or 0 only. */
struct search {
    std::vector<struct pm_access> objects;
    bool is_own; /* memory that the compiler made: literals, tables of methods, the frame */
    std::vector<tree> blocks; /* COMMON blocks: the member is found by the whole reference */
};

/* Some functions have webs of thousands of pointers; what is further away tells little. */
enum { VISITED_MAX = 200, BEHIND_MAX = 4, FIELDS_MAX = 4 };

struct pointee {
    bool known;
    struct search search;
};
static std::vector<struct pointee> pointees; /* by SSA version of the function at hand */
static bool searching;                       /* definitions may be followed */

/* The SSA versions that one search and those within it have come by: their entry is the search's
 * number. */
static struct {
    std::vector<unsigned> by_version;
    unsigned search, n;
} visits;

static void begin_search(void)
{
    visits.search++;
    visits.n = 0;
}

/* False: it was here before, or has come far enough. */
static bool visit(unsigned version)
{
    if (version >= visits.by_version.size())
        visits.by_version.resize(MAX(num_ssa_names, version + 1));
    if (visits.n >= VISITED_MAX || visits.by_version[version] == visits.search)
        return false;
    visits.by_version[version] = visits.search;
    visits.n++;
    return true;
}

/* What each pseudo register was set to, by its number before registers were allocated; NULL:
 * several things. Found when it is first asked for in a function: references of which two were
 * made one have lost their trees. */
static struct pm_table<unsigned, const_rtx> pseudo_values;
static bool pseudo_values_known;

static void search_pointer(struct search *search, tree pointer, bool named);
static void search_reference(struct search *search, tree t, bool as_holder);

/* --- variables and fields --- */

static pm_id variable_noun(tree variable)
{
    if (!VAR_P(variable) && TREE_CODE(variable) != PARM_DECL)
        return 0;
    tree origin = DECL_ORIGIN(variable);
    tree context = DECL_CONTEXT(origin);
    bool in_function = context != NULL_TREE && TREE_CODE(context) == FUNCTION_DECL;
    return pm_fact_variable(origin,
                            pm_origin_function(in_function ? context : current_function_decl));
}

/* Is the memory behind the variable another thing than the variable, for the one who wrote it?
 * In Fortran never. */
static unsigned through_of(tree variable)
{
    tree type = TREE_TYPE(variable);
    bool is_pointer = POINTER_TYPE_P(type) && TREE_CODE(type) != REFERENCE_TYPE;
    return is_pointer && !DECL_ARTIFICIAL(variable) && !pm_fact_is_fortran() ? PM_MAP_THROUGH : 0;
}

static pm_id field_noun(tree field)
{
    pm_id noun = pm_fact_captured(field, current_function_decl);
    return noun != 0 ? noun : pm_fact_field(field);
}

/* The innermost field with a name of the source: "data" of s->data[i], "u" of grid.u.data (a
 * descriptor). */
static pm_id named_field(tree t, tree *ret_field)
{
    for (; handled_component_p(t); t = TREE_OPERAND(t, 0)) {
        bool is_field = TREE_CODE(t) == COMPONENT_REF && pm_fact_block_of(t) == NULL_TREE;
        pm_id noun = is_field ? field_noun(TREE_OPERAND(t, 1)) : 0;
        if (noun != 0) {
            *ret_field = TREE_OPERAND(t, 1);
            return noun;
        }
    }
    return 0;
}

/* Of the compiler's own: pointers to tables of methods. */
static bool is_own_field(tree t)
{
    return TREE_CODE(t) == COMPONENT_REF && DECL_VIRTUAL_P(TREE_OPERAND(t, 1));
}

static tree base_of(tree t)
{
    while (handled_component_p(t))
        t = TREE_OPERAND(t, 0);
    return t;
}

static void add_block(struct search *search, tree block)
{
    if (std::find(search->blocks.begin(), search->blocks.end(), block) == search->blocks.end())
        search->blocks.push_back(block);
}

static void search_variable(struct search *search, tree variable, unsigned access)
{
    if (pm_fact_is_block(variable)) {
        add_block(search, variable);
        return;
    }
    pm_id noun = variable_noun(variable);
    if (noun != 0) {
        pm_access_add(&search->objects, noun, access);
        pm_id behind = pm_fact_behind(variable); /* auto &e = v[i] */
        if (behind != 0)
            pm_access_add(&search->objects, behind, 0);
        if (behind != 0 && pm_fact_named(behind) != 0) /* auto &v = data */
            pm_access_add(&search->objects, pm_fact_named(behind), 0);
    } else if (VAR_P(variable) &&
               DECL_HAS_DEBUG_EXPR_P(variable)) /* a part of one, made a variable of its own */
        search_reference(search, DECL_DEBUG_EXPR(variable), access != 0);
    else
        search->is_own = true;
}

static void search_base(struct search *search, tree base, unsigned access)
{
    switch (TREE_CODE(base)) {
    case VAR_DECL:
    case PARM_DECL:
        search_variable(search, base, access);
        return;
    case SSA_NAME:
        if (SSA_NAME_VAR(base) != NULL_TREE)
            search_variable(search, SSA_NAME_VAR(base), access);
        return;
    case MEM_REF:
        search_pointer(search, TREE_OPERAND(base, 0), false);
        return;
    /* the induction variables' optimiser puts the pointer into any of its parts */
    case TARGET_MEM_REF:
        search_pointer(search, TMR_BASE(base), false);
        if (search->objects.empty() && TMR_INDEX2(base) != NULL_TREE)
            search_pointer(search, TMR_INDEX2(base), false);
        if (search->objects.empty() && TMR_INDEX(base) != NULL_TREE)
            search_pointer(search, TMR_INDEX(base), false);
        return;
    default: /* literals, results */
        search->is_own = true;
    }
}

/* The record that a pointer points to, as its variable was declared. */
static tree record_behind(tree pointer)
{
    tree type = NULL_TREE;
    STRIP_NOPS(pointer);
    if (TREE_CODE(pointer) == ADDR_EXPR)
        type = TREE_TYPE(TREE_OPERAND(pointer, 0));
    else if (TREE_CODE(pointer) == SSA_NAME)
        type = TREE_TYPE(SSA_NAME_VAR(pointer) != NULL_TREE ? SSA_NAME_VAR(pointer) : pointer);
    if (type != NULL_TREE && POINTER_TYPE_P(type))
        type = TREE_TYPE(type);
    return type != NULL_TREE && TREE_CODE(type) == RECORD_TYPE ? type : NULL_TREE;
}

struct bytes_key {
    tree record;
    HOST_WIDE_INT offset, size;
};

static inline bool operator==(const struct bytes_key &a, const struct bytes_key &b)
{
    return a.record == b.record && a.offset == b.offset && a.size == b.size;
}

static inline uint64_t pm_hash(const struct bytes_key &key)
{
    return pm_hash_join(pm_hash_join(pm_hash(key.record), (uint64_t)key.offset),
                        (uint64_t)key.size);
}

/* Records that were looked into for the same bytes: virtual bases lie in each class that has
 * them, so there may be very many ways to one. */
typedef struct pm_table<struct bytes_key, bool> seen_records;

/* Offset and size are in bytes. The names of fields that the source does not have (base classes)
 * are those of their parts. */
static void fields_within(const struct bytes_key &at, seen_records *seen, std::vector<tree> *out)
{
    if (seen->find(at) != NULL)
        return;
    seen->add(at, true);
    for (tree field = TYPE_FIELDS(at.record); field != NULL_TREE; field = DECL_CHAIN(field)) {
        if (TREE_CODE(field) != FIELD_DECL || !tree_fits_shwi_p(bit_position(field)) ||
            DECL_SIZE_UNIT(field) == NULL_TREE || !tree_fits_shwi_p(DECL_SIZE_UNIT(field)))
            continue;
        HOST_WIDE_INT begin = int_byte_position(field);
        HOST_WIDE_INT end = begin + tree_to_shwi(DECL_SIZE_UNIT(field));
        if (begin >= at.offset + at.size || end <= at.offset)
            continue;
        if (field_noun(field) != 0)
            out->push_back(field);
        else if (TREE_CODE(TREE_TYPE(field)) == RECORD_TYPE)
            fields_within({TREE_TYPE(field), at.offset - begin, at.size}, seen, out);
    }
}

/* What fields_within found. */
static struct pm_table<struct bytes_key, std::vector<tree>>
    known_fields; /* of the function at hand */

/* Of a reference by a pointer and a number of bytes, in which the optimisers left no fields. */
static void fields_at_offset(tree base, std::vector<tree> *out)
{
    tree record = TREE_CODE(base) == MEM_REF ? record_behind(TREE_OPERAND(base, 0)) : NULL_TREE;
    tree size = TYPE_SIZE_UNIT(TREE_TYPE(base));
    if (record == NULL_TREE || size == NULL_TREE || !tree_fits_shwi_p(size) ||
        !tree_fits_shwi_p(TREE_OPERAND(base, 1)) ||
        TYPE_MAIN_VARIANT(TREE_TYPE(base)) == TYPE_MAIN_VARIANT(record))
        return;
    struct bytes_key key = {record, tree_to_shwi(TREE_OPERAND(base, 1)), tree_to_shwi(size)};
    const std::vector<tree> *known = known_fields.find(key);
    if (known != NULL) {
        *out = *known;
        return;
    }
    seen_records seen;
    fields_within(key, &seen, out);
    if (out->size() > FIELDS_MAX)
        out->clear();
    known_fields.add(key, *out);
}

static void add_field(struct search *search, tree field, bool as_holder)
{
    bool captured = pm_fact_captured(field, current_function_decl) != 0;
    tree type = TREE_TYPE(field);
    bool is_pointer = POINTER_TYPE_P(type) && !pm_fact_is_fortran() &&
                      (!captured || TREE_CODE(TREE_TYPE(type)) != ARRAY_TYPE);
    pm_access_add(&search->objects, field_noun(field),
                  as_holder && is_pointer ? PM_MAP_THROUGH : 0);
}

/* The memory behind a pointer that lies in memory behind a pointer: rows in rows[i][j]. */
static void search_through(struct search *search, tree base)
{
    struct search rows = {};
    search_base(&rows, base, 0);
    for (const struct pm_access &object : rows.objects)
        pm_access_add(&search->objects, object.noun,
                      object.access | (pm_fact_is_fortran() ? 0 : PM_MAP_THROUGH));
}

/* Of a COMMON block. */
static void search_member(struct search *search, tree t, tree member, bool as_holder)
{
    tree field;
    if (named_field(t, &field) != 0)
        add_field(search, field, as_holder);
    pm_id noun = pm_fact_component(member, current_function_decl);
    if (noun != 0)
        pm_access_add(&search->objects, noun, 0);
}

/* The record of the function around that the reference lies in. */
static pm_id captured_record(tree t)
{
    for (; handled_component_p(t); t = TREE_OPERAND(t, 0)) {
        pm_id noun = TREE_CODE(t) == COMPONENT_REF
                         ? pm_fact_captured(TREE_OPERAND(t, 1), current_function_decl)
                         : 0;
        if (noun != 0)
            return noun;
    }
    return 0;
}

/* The memory that a reference names; as_holder: the memory behind the pointer that it holds. */
static void search_reference(struct search *search, tree t, bool as_holder)
{
    tree field, base = base_of(t), member = pm_member_within(t);
    if (member != NULL_TREE) {
        search_member(search, t, member, as_holder);
        return;
    }
    std::vector<tree> fields;
    if (named_field(t, &field) != 0)
        fields.push_back(field);
    else
        fields_at_offset(base, &fields);
    bool captured = false;
    for (tree each : fields) {
        add_field(search, each, as_holder);
        captured |= pm_fact_captured(each, current_function_decl) != 0;
    }
    if (is_own_field(t))
        search->is_own = true;
    pm_id record = captured || as_holder ? 0 : captured_record(t);
    if (record != 0)
        pm_access_add(&search->objects, record, 0);
    if (captured || record != 0 || (as_holder && (!fields.empty() || is_own_field(t))))
        return;
    if (as_holder && TREE_CODE(base) == MEM_REF && TREE_CODE(t) != COMPONENT_REF)
        search_through(search, base);
    else
        search_base(search, base, as_holder && DECL_P(base) ? through_of(base) : 0);
}

/* --- pointers --- */

/* Nothing else is known of the value: what it is put into names it, or (with -g) the variable
 * that had it in the source. */
static void search_keepers(struct search *search, tree name)
{
    use_operand_p use;
    imm_use_iterator uses;
    tree debugged = NULL_TREE;
    /* -fcompare-debug wants equal code and labels without debug information. */
    bool compares = flag_dump_final_insns != NULL || flag_compare_debug;
    FOR_EACH_IMM_USE_FAST(use, uses, name) {
        gimple *stmt = USE_STMT(use);
        if (gimple_assign_single_p(stmt) && gimple_assign_rhs1(stmt) == name &&
            TREE_CODE(gimple_assign_lhs(stmt)) != SSA_NAME) {
            search_reference(search, gimple_assign_lhs(stmt), true);
            return;
        }
        if (!compares && gimple_debug_bind_p(stmt) && gimple_debug_bind_has_value_p(stmt) &&
            gimple_debug_bind_get_value(stmt) == name && VAR_P(gimple_debug_bind_get_var(stmt)))
            debugged = gimple_debug_bind_get_var(stmt);
    }
    /* a variable of the source, or a part of one (the data of a descriptor) */
    if (debugged != NULL_TREE && (variable_noun(debugged) != 0 || DECL_HAS_DEBUG_EXPR_P(debugged)))
        search_variable(search, debugged, through_of(debugged));
}

static void search_assign(struct search *search, gimple *stmt, bool named)
{
    tree from = gimple_assign_rhs1(stmt);
    switch (gimple_assign_rhs_code(stmt)) {
    case PLUS_EXPR:
    case MIN_EXPR:
    case MAX_EXPR:
        search_pointer(search, from, named);
        search_pointer(search, gimple_assign_rhs2(stmt), named);
        return;
    case COND_EXPR:
        search_pointer(search, gimple_assign_rhs2(stmt), named);
        search_pointer(search, gimple_assign_rhs3(stmt), named);
        return;
    case POINTER_PLUS_EXPR:
    case MINUS_EXPR:
    case BIT_AND_EXPR:
    case BIT_IOR_EXPR:
    CASE_CONVERT:
    case SSA_NAME:
    case ADDR_EXPR:
    case INTEGER_CST:
        search_pointer(search, from, named);
        return;
    default:
        if (gimple_assign_load_p(stmt) && POINTER_TYPE_P(TREE_TYPE(gimple_assign_lhs(stmt))) &&
            !named)
            search_reference(search, from, true);
    }
}

/* Of C++: what the reference, pointer or iterator that a function returned refers into. */
static void search_sources(struct search *search, gcall *call, bool named)
{
    unsigned sources = pm_fact_call_sources(call);
    for (unsigned i = 0; sources >> i != 0; i++) {
        tree argument = gimple_call_arg(call, i);
        if ((sources >> i & 1) == 0)
            continue;
        if (POINTER_TYPE_P(TREE_TYPE(argument)))
            search_pointer(search, argument, named);
        else
            search_reference(search, argument, true);
    }
}

static void search_call(struct search *search, gcall *call, bool named)
{
    unsigned flags = (unsigned)gimple_call_return_flags(call);
    unsigned argument = flags & ERF_RETURN_ARG_MASK;
    bool returns_argument =
        (flags & ERF_RETURNS_ARG) != 0 || gimple_call_builtin_p(call, BUILT_IN_ASSUME_ALIGNED);
    if (returns_argument && argument < gimple_call_num_args(call))
        search_pointer(search, gimple_call_arg(call, argument), named);
    else if (pm_fact_call_sources(call) != 0)
        search_sources(search, call, named);
    else if (!named && pm_fact_keeper(gimple_location(call)) != 0)
        pm_access_add(&search->objects, pm_fact_keeper(gimple_location(call)),
                      pm_fact_is_fortran() ? 0 : PM_MAP_THROUGH);
    else if (!named)
        search_keepers(search, gimple_call_lhs(call));
}

static void search_definition(struct search *search, tree name, bool named)
{
    gimple *stmt = SSA_NAME_DEF_STMT(name);
    if (stmt == NULL || SSA_NAME_IS_DEFAULT_DEF(name))
        return;
    if (gphi *phi = dyn_cast<gphi *>(stmt)) {
        for (unsigned i = 0; i < gimple_phi_num_args(phi); i++)
            search_pointer(search, gimple_phi_arg_def(phi, i), named);
    } else if (is_gimple_assign(stmt)) {
        search_assign(search, stmt, named);
    } else if (is_gimple_call(stmt)) {
        search_call(search, as_a<gcall *>(stmt), named);
    }
}

static bool may_hold_address(tree name)
{
    tree type = TREE_TYPE(name);
    return POINTER_TYPE_P(type) ||
           (INTEGRAL_TYPE_P(type) && TYPE_PRECISION(type) >= TYPE_PRECISION(ptr_type_node));
}

static void search_name(struct search *search, tree name, bool named)
{
    unsigned version = SSA_NAME_VERSION(name);
    if (!searching) {
        if (version < pointees.size() && pointees[version].known) {
            const struct search &found = pointees[version].search;
            for (const struct pm_access &object : found.objects)
                pm_access_add(&search->objects, object.noun, object.access);
            search->is_own |= found.is_own;
            for (tree block : found.blocks)
                add_block(search, block);
        }
        return;
    }
    if (!may_hold_address(name) || !visit(version))
        return;
    tree variable = SSA_NAME_VAR(name);
    if (variable != NULL_TREE && !named && POINTER_TYPE_P(TREE_TYPE(name))) {
        pm_id noun = variable_noun(variable);
        if (noun != 0)
            search_variable(search, variable, through_of(variable));
        else if (VAR_P(variable) && DECL_HAS_DEBUG_EXPR_P(variable))
            search_reference(search, DECL_DEBUG_EXPR(variable), true);
        named = noun != 0 || (VAR_P(variable) && DECL_HAS_DEBUG_EXPR_P(variable));
    }
    search_definition(search, name, named);
}

/* "&FRAME.1 + distance": one of the variables that lie in it. */
static bool is_within_frame(tree pointer)
{
    return TREE_CODE(pointer) == ADDR_EXPR && VAR_P(TREE_OPERAND(pointer, 0)) &&
           pm_fact_is_frame(TREE_TYPE(TREE_OPERAND(pointer, 0)));
}

/* named: a declared pointer on the way here has been named, only variables behind it are of
 * interest. */
static void search_pointer(struct search *search, tree pointer, bool named)
{
    STRIP_NOPS(pointer);
    if (is_within_frame(pointer))
        return;
    if (TREE_CODE(pointer) == ADDR_EXPR && pm_fact_is_block(base_of(TREE_OPERAND(pointer, 0))))
        add_block(search, base_of(TREE_OPERAND(pointer, 0)));
    else if (TREE_CODE(pointer) == ADDR_EXPR)
        search_reference(search, TREE_OPERAND(pointer, 0), false);
    else if (TREE_CODE(pointer) == SSA_NAME)
        search_name(search, pointer, named);
    else if (TREE_CODE(pointer) == VAR_DECL || TREE_CODE(pointer) == PARM_DECL)
        search_variable(search, pointer, through_of(pointer));
}

/* --- points-to sets --- */

/* By DECL_PT_UID. Those of the function are looked up when they are first asked for. */
static struct pm_table<unsigned, tree> globals_by_uid, locals_by_uid;
static bool locals_known;

static tree variable_with(unsigned uid)
{
    varpool_node *node;
    unsigned i;
    tree variable;
    if (!locals_known) {
        locals_known = true;
        if (globals_by_uid.n == 0)
            FOR_EACH_VARIABLE(node)
                *globals_by_uid.add(DECL_PT_UID(node->decl), NULL_TREE) = node->decl;
        FOR_EACH_LOCAL_DECL(cfun, i, variable)
            *locals_by_uid.add(DECL_PT_UID(variable), NULL_TREE) = variable;
    }
    tree *found = locals_by_uid.find(uid);
    if (found == NULL)
        found = globals_by_uid.find(uid);
    return found != NULL ? *found : NULL_TREE;
}

static bool names_variable(const struct search *search)
{
    for (const struct pm_access &object : search->objects)
        if ((object.access & PM_MAP_THROUGH) == 0)
            return true;
    return false;
}

/* The variables that a pointer can refer to, where these are few and all known. */
static void search_points_to(struct search *search, tree name)
{
    struct ptr_info_def *info = POINTER_TYPE_P(TREE_TYPE(name)) ? SSA_NAME_PTR_INFO(name) : NULL;
    std::vector<pm_id> behind;
    unsigned uid;
    bitmap_iterator bits;
    if (info == NULL || info->pt.anything || info->pt.nonlocal || info->pt.escaped ||
        info->pt.ipa_escaped || info->pt.vars == NULL)
        return;
    EXECUTE_IF_SET_IN_BITMAP(info->pt.vars, 0, uid, bits)
    {
        tree variable = variable_with(uid);
        pm_id noun = variable != NULL_TREE ? variable_noun(variable) : 0;
        if (noun == 0 || behind.size() >= BEHIND_MAX)
            return;
        behind.push_back(noun);
    }
    for (pm_id noun : behind)
        pm_access_add(&search->objects, noun, 0);
}

/* --- the pass --- */

static void know_pointer(tree name)
{
    if (TREE_CODE(name) != SSA_NAME || !may_hold_address(name))
        return;
    unsigned version = SSA_NAME_VERSION(name);
    if (version >= pointees.size())
        pointees.resize(num_ssa_names);
    struct pointee *pointee = &pointees[version];
    if (pointee->known)
        return;
    begin_search();
    search_pointer(&pointee->search, name, false);
    if (!names_variable(&pointee->search))
        search_points_to(&pointee->search, name);
    pointee->known = true;
}

static void know_pointers(tree base)
{
    if (TREE_CODE(base) == MEM_REF) {
        know_pointer(TREE_OPERAND(base, 0));
    } else if (TREE_CODE(base) == TARGET_MEM_REF) {
        know_pointer(TMR_BASE(base));
        if (TMR_INDEX(base) != NULL_TREE)
            know_pointer(TMR_INDEX(base));
        if (TMR_INDEX2(base) != NULL_TREE)
            know_pointer(TMR_INDEX2(base));
    }
}

/* writes: of a store. */
static void know_reference(gimple *stmt, tree base, bool writes)
{
    know_pointers(base);
    if (!pm_fact_is_fortran() || (TREE_CODE(base) != MEM_REF && TREE_CODE(base) != TARGET_MEM_REF))
        return;
    struct search search = {};
    begin_search();
    search_base(&search, base, 0);
    for (tree block : search.blocks)
        pm_objects_keep_in_block(block, base, gimple_location(stmt), writes);
}

static bool know_load(gimple *stmt, tree base, tree, void *)
{
    know_reference(stmt, base, false);
    return false;
}

static bool know_store(gimple *stmt, tree base, tree, void *)
{
    know_reference(stmt, base, true);
    return false;
}

/* A masked load or store has its address computed before. */
static void know_address(gimple *stmt)
{
    if (gimple_assign_single_p(stmt) && TREE_CODE(gimple_assign_rhs1(stmt)) == ADDR_EXPR)
        know_pointers(base_of(TREE_OPERAND(gimple_assign_rhs1(stmt), 0)));
}

/* Memory functions may become code in line, so their arguments count as references. */
static void know_statement(gimple *stmt)
{
    walk_stmt_load_store_ops(stmt, NULL, know_load, know_store);
    know_address(stmt);
    if (!is_gimple_call(stmt))
        return;
    for (unsigned i = 0; i < gimple_call_num_args(stmt); i++)
        know_pointer(gimple_call_arg(stmt, i));
    pm_objects_note_call(as_a<gcall *>(stmt));
}

static unsigned know_function(function *fun)
{
    basic_block bb;
    pointees.clear();
    pseudo_values.clear();
    pseudo_values_known = false;
    pm_objects_note_calls_of(fun);
    pm_objects_blocks_of();
    locals_by_uid.clear();
    locals_known = false;
    known_fields.clear();
    searching = true;
    FOR_EACH_BB_FN(bb, fun)
        for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi))
            if (!is_gimple_debug(gsi_stmt(gsi)))
                know_statement(gsi_stmt(gsi));
    searching = false;
    return 0;
}

static bool gate_objects(function *fun)
{
    return !seen_error() && pm_function_mapped(fun->decl);
}

/* --- what others ask --- */

void pm_objects_follow(bool follow)
{
    known_fields.clear();
    searching = follow;
}

static bool take_found(const struct search *search, unsigned access,
                       std::vector<struct pm_access> *out)
{
    for (const struct pm_access &object : search->objects)
        pm_access_add(out, object.noun, object.access | access);
    return !search->objects.empty() || search->is_own;
}

/* t: the reference, or the pointer to what is touched. */
static void take_members(struct search *search, tree t, bool is_pointer, unsigned access,
                         location_t location)
{
    bool writes = (access & PM_MAP_WRITES) != 0;
    for (tree block : search->blocks) {
        std::vector<struct pm_access> members;
        if (is_pointer || !pm_objects_kept_in_block(block, base_of(t), writes, &members))
            pm_objects_in_block(block, t, is_pointer, location, writes, &members);
        for (const struct pm_access &member : members)
            pm_access_add(&search->objects, member.noun, 0);
    }
}

bool pm_objects_of_pointer(tree pointer, unsigned access, location_t location,
                           std::vector<struct pm_access> *out)
{
    struct search search = {};
    begin_search();
    search_pointer(&search, pointer, false);
    take_members(&search, pointer, true, access, location);
    return take_found(&search, access, out);
}

/* What gfortran passes by reference: code that loads the address finds what its statement reads or
 * writes. So does code that reads a descriptor. */
static bool finds_data(tree reference)
{
    bool is_dummy = pm_fact_is_fortran() && TREE_CODE(reference) == PARM_DECL &&
                    POINTER_TYPE_P(TREE_TYPE(reference)) &&
                    !VOID_TYPE_P(TREE_TYPE(TREE_TYPE(reference)));
    return is_dummy || pm_fact_in_descriptor(reference);
}

/* "for (double x : v)", "auto it = v.begin()": what is stored in these is not stored in v. */
static bool is_copy_of_element(tree variable)
{
    return VAR_P(variable) && !POINTER_TYPE_P(TREE_TYPE(variable)) && !DECL_ARTIFICIAL(variable) &&
           pm_fact_behind(variable) != 0;
}

bool pm_objects_of_tree(tree reference, unsigned access, std::vector<struct pm_access> *out)
{
    struct search search = {};
    if (access == PM_MAP_WRITES && is_copy_of_element(base_of(reference))) {
        pm_access_add(out, variable_noun(base_of(reference)), access);
        return true;
    }
    begin_search();
    search_reference(&search, reference, false);
    take_members(&search, reference, false, access, UNKNOWN_LOCATION);
    bool finds_only = access == PM_MAP_READS && finds_data(reference);
    return take_found(&search, finds_only ? 0 : access, out);
}

/* The frame's parts that are nothing of the source: saved registers, arguments of calls,
 * temporaries. */
static bool is_frame_address(const_rtx address)
{
    return reg_mentioned_p(stack_pointer_rtx, address) ||
           (frame_pointer_needed && reg_mentioned_p(hard_frame_pointer_rtx, address)) ||
           (crtl->drap_reg != NULL_RTX && reg_mentioned_p(crtl->drap_reg, address));
}

static bool objects_of_symbol(const_rtx symbol, unsigned access, std::vector<struct pm_access> *out)
{
    tree decl = CONSTANT_POOL_ADDRESS_P(symbol) ? NULL_TREE : SYMBOL_REF_DECL(symbol);
    pm_id noun = decl != NULL_TREE && VAR_P(decl) ? variable_noun(decl) : 0;
    if (noun == 0 && decl != NULL_TREE && pm_fact_is_block(decl))
        noun = pm_fact_block(decl);
    if (noun != 0)
        pm_access_add(out, noun, access);
    return true; /* without a variable it is a literal or code */
}

static void know_pseudo_values(void)
{
    pseudo_values_known = true;
    for (rtx_insn *insn = get_insns(); insn != NULL; insn = NEXT_INSN(insn)) {
        const_rtx set = NONDEBUG_INSN_P(insn) ? single_set(insn) : NULL_RTX;
        if (set == NULL_RTX || !REG_P(SET_DEST(set)) ||
            ORIGINAL_REGNO(SET_DEST(set)) < FIRST_PSEUDO_REGISTER)
            continue;
        rtx note = find_reg_equal_equiv_note(insn);
        const_rtx value = note != NULL_RTX ? XEXP(note, 0) : SET_SRC(set);
        bool is_new;
        const_rtx *known = pseudo_values.add(ORIGINAL_REGNO(SET_DEST(set)), value, &is_new);
        if (!is_new && *known != NULL_RTX && !rtx_equal_p(*known, value))
            *known = NULL_RTX;
    }
}

static bool objects_of_symbol(const_rtx symbol, unsigned access,
                              std::vector<struct pm_access> *out);

/* The symbol whose address a value is, also when it comes out of the global offset table. */
static const_rtx symbol_within(const_rtx value)
{
    if (MEM_P(value) && MEM_EXPR(value) == NULL_TREE)
        value = XEXP(value, 0);
    if (GET_CODE(value) == CONST)
        value = XEXP(value, 0);
    if (GET_CODE(value) == PLUS)
        value = XEXP(value, 0);
    if (GET_CODE(value) == UNSPEC && XVECLEN(value, 0) > 0)
        value = XVECEXP(value, 0, 0);
    return SYMBOL_REF_P(value) ? value : NULL_RTX;
}

static bool objects_of_register(const_rtx reg, unsigned access, std::vector<struct pm_access> *out)
{
    tree expression = REG_EXPR(reg);
    if (expression != NULL_TREE && POINTER_TYPE_P(TREE_TYPE(expression)) &&
        pm_objects_of_pointer(expression, access, UNKNOWN_LOCATION, out))
        return true;
    if (!pseudo_values_known)
        know_pseudo_values();
    const const_rtx *found = pseudo_values.find(ORIGINAL_REGNO(reg));
    const_rtx value = found != NULL ? *found : NULL_RTX;
    if (value == NULL_RTX)
        return false;
    if (symbol_within(value) != NULL_RTX)
        return objects_of_symbol(symbol_within(value), access, out);
    if (!MEM_P(value) || MEM_EXPR(value) == NULL_TREE ||
        !POINTER_TYPE_P(TREE_TYPE(MEM_EXPR(value))))
        return false;
    struct search search = {};
    search_reference(&search, MEM_EXPR(value), true);
    return take_found(&search, access, out);
}

/* A reference that lost its tree: to a symbol, or through a register that a pointer lives in. */
static bool objects_of_address(const_rtx address, unsigned access,
                               std::vector<struct pm_access> *out)
{
    subrtx_iterator::array_type array;
    FOR_EACH_SUBRTX(iter, array, address, ALL) {
        const_rtx x = *iter;
        if (SYMBOL_REF_P(x))
            return objects_of_symbol(x, access, out);
        if (LABEL_REF_P(x) || (GET_CODE(x) == UNSPEC && MEM_P(address)))
            return true;
        if (REG_P(x) && objects_of_register(x, access, out))
            return true;
    }
    return false;
}

/* The block itself is what is left of references whose offset RTL keeps, if it is one. */
static void objects_of_block(const_rtx mem, tree block, unsigned access,
                             std::vector<struct pm_access> *out)
{
    HOST_WIDE_INT offset = 0, size = 0;
    bool known = MEM_OFFSET_KNOWN_P(mem) && MEM_OFFSET(mem).is_constant(&offset) &&
                 MEM_SIZE_KNOWN_P(mem) && MEM_SIZE(mem).is_constant(&size);
    std::vector<struct pm_access> members;
    pm_objects_at_offset(block, offset, known ? size : 0, &members);
    for (const struct pm_access &member : members)
        pm_access_add(out, member.noun, access);
}

bool pm_objects_of_memory(const_rtx mem, bool writes, std::vector<struct pm_access> *out,
                          bool *ret_is_frame)
{
    unsigned access = writes ? PM_MAP_WRITES : PM_MAP_READS;
    tree expression = MEM_EXPR(mem);
    size_t n_before = out->size();
    if (expression != NULL_TREE && pm_fact_is_block(expression)) {
        *ret_is_frame = false;
        objects_of_block(mem, expression, access, out);
        return true;
    }
    if (expression != NULL_TREE && pm_fact_is_way(base_of(expression))) {
        *ret_is_frame = true;
        return true;
    }
    bool is_known = expression != NULL_TREE && pm_objects_of_tree(expression, access, out);
    *ret_is_frame = out->size() == n_before && is_frame_address(XEXP(mem, 0));
    if (is_known || *ret_is_frame)
        return true;
    /* A barrier touches nothing; what is constant and has no tree is a table of jumps. */
    if (GET_CODE(XEXP(mem, 0)) == SCRATCH || (expression == NULL_TREE && MEM_READONLY_P(mem)))
        return true;
    return objects_of_address(XEXP(mem, 0), access, out);
}

void pm_objects_register(const char *plugin_name)
{
    pm_gcc_register_pass(
        plugin_name,
        pm_gcc_gimple_pass("perfmap_objects", PROP_cfg | PROP_ssa, gate_objects, know_function),
        "optimized", 1, PASS_POS_INSERT_AFTER);
}
