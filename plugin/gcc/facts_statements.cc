/* Statements: one noun for each statement of the source, and which variables, fields and functions
 * it reads, writes and calls (facts_reader.h: who finds out what). */
#include "facts_reader.h"

extern "C" {
#include "../emit/arguments.h"
}

/* --- which statement --- */

/* The source statement that a location belongs to; NULL when it has no place. */
static struct pm_read_statement *find_statement(struct pm_reader *reader, location_t location)
{
    struct pm_place place;
    if (!pm_place_of(location, &place))
        return NULL;
    struct pm_text_point last;
    if (!pm_statement_begin(reader->function, reader->ranges, &place, &last))
        return NULL;
    struct pm_read_statement *statement =
        &reader->statements[{place.line, reader->ranges != NULL ? place.column : 0}];
    if (statement->place.line == 0) {
        statement->place = place;
        statement->last = last;
    }
    return statement;
}

/* What follows each other is mostly of one place. */
static struct pm_read_statement *statement_of(struct pm_reader *reader, gimple *stmt)
{
    location_t location = LOCATION_LOCUS(gimple_location(stmt));
    if (location != reader->last_location) {
        reader->last = find_statement(reader, location);
        reader->last_location = location;
    }
    return reader->last;
}

static pm_id parent_now(const struct pm_reader *reader)
{
    return reader->loop_now >= 0 ? reader->function->loops[reader->loop_now].id
                                 : reader->function->id;
}

/* The noun is made when something is known about it. */
pm_id pm_reader_statement_noun(struct pm_reader *reader)
{
    struct pm_read_statement *statement = reader->now;
    if (statement->id != 0)
        return statement->id;
    statement->id = pm_fact_statement(pm_facts_early(), reader->function, &statement->place,
                                      statement->last.line, parent_now(reader));
    return statement->id;
}

/* --- reading them --- */

static bool keep_from_frame(struct pm_reader *reader, gimple *stmt)
{
    tree to = gimple_assign_lhs(stmt), from = gimple_assign_rhs1(stmt);
    if (!gimple_assign_single_p(stmt) || !VAR_P(to) || !DECL_ARTIFICIAL(to) ||
        !POINTER_TYPE_P(TREE_TYPE(to)) || TREE_CODE(from) != COMPONENT_REF ||
        pm_fact_captured(TREE_OPERAND(from, 1), reader->decl) == 0)
        return false;
    reader->from_frames[DECL_UID(to)] = from;
    return true;
}

static void read_assign(struct pm_reader *reader, gimple *stmt)
{
    if (gimple_clobber_p(stmt) || keep_from_frame(reader, stmt))
        return;
    pm_reader_note_kept(reader, stmt);
    pm_reader_note_reference(reader, stmt);
    pm_reader_note_descriptor(reader, stmt);
    pm_reader_note_copied(reader, stmt);
    pm_reader_note_number(reader, stmt);
    if (gimple_assign_single_p(stmt) || gimple_assign_cast_p(stmt) ||
        gimple_assign_rhs_code(stmt) == POINTER_PLUS_EXPR)
        pm_reader_note_pointed(reader, stmt);
    if (pm_reader_makes_address(reader, stmt) || pm_reader_fills_descriptor(stmt)) {
        pm_reader_read_address(reader, stmt);
        return;
    }
    for (unsigned i = 1; i < gimple_num_ops(stmt); i++)
        pm_reader_touch(reader, gimple_op(stmt, i), PM_READS);
    pm_reader_touch_result(reader, gimple_assign_lhs(stmt));
    pm_reader_note_member_pointer(stmt);
    if (TREE_CODE(gimple_assign_rhs1(stmt)) == CONSTRUCTOR)
        return; /* the values of an initialiser follow */
    pm_reader_touch_whole(reader, gimple_assign_rhs1(stmt), PM_READS);
    pm_reader_touch_whole(reader, gimple_assign_lhs(stmt), PM_WRITES);
}

/* Of a function of C's library: PM_USE_..., 0 also where it is none. */
static unsigned library_use(gcall *call, unsigned index)
{
    const char *known = pm_library_arguments(pm_reader_name_in_c(call));
    return known != NULL ? pm_argument_use(known, index) : 0;
}

static void touch_argument(struct pm_reader *reader, gcall *call, unsigned index)
{
    tree argument = gimple_call_arg(call, index);
    unsigned access = pm_fact_call_use(call, index);
    tree callee = gimple_call_fndecl(call);
    unsigned use = POINTER_TYPE_P(TREE_TYPE(argument)) ? library_use(call, index) : 0;
    if (use != 0)
        access = use;
    else if (callee != NULL_TREE && pm_fact_is_fortran() && pm_fortran_works_on_data(callee))
        access = pm_fortran_argument_use(callee, index);
    if (access == 0)
        pm_reader_touch_indices(reader, TREE_CODE(argument) == ADDR_EXPR ? TREE_OPERAND(argument, 0)
                                                                         : argument);
    bool is_object = POINTER_TYPE_P(TREE_TYPE(argument)) && access != PM_USE_READS;
    for (enum pm_access_way way : {PM_READS, PM_WRITES}) {
        unsigned bit = way == PM_WRITES ? (unsigned)PM_USE_WRITES : (unsigned)PM_USE_READS;
        if ((access & bit) == 0)
            continue;
        if (is_object)
            pm_reader_touch_target(reader, argument, way);
        else
            pm_reader_touch(reader, argument, way);
        if (use != 0)
            pm_reader_touch_whole_target(reader, call, index, way);
        else
            pm_reader_touch_whole_passed(reader, call, index, way);
    }
    pm_reader_touch_whole(reader, argument, PM_READS);
    pm_reader_touch_whole_elements(reader, call, index);
    pm_reader_touch_projected(reader, call, index);
}

/* Of a function that this unit defines. */
static void note_call_within(struct pm_reader *reader, tree callee)
{
    if (pm_options.pdb_dir != NULL && reader->referred == NULL &&
        (DECL_STRUCT_FUNCTION(callee) != NULL || DECL_INITIAL(callee) != NULL_TREE))
        pm_fact_call_within(pm_facts_early(), pm_reader_statement_noun(reader),
                            pm_source_function_of(callee)->id);
}

static void read_call(struct pm_reader *reader, gimple *stmt)
{
    tree callee = gimple_call_fndecl(stmt);
    for (unsigned i = 0; i < gimple_call_num_args(stmt); i++)
        touch_argument(reader, as_a<gcall *>(stmt), i);
    if (!gimple_call_internal_p(stmt))
        for (unsigned i = 0; i < gimple_call_num_args(stmt); i++)
            pm_reader_note_passed(reader, as_a<gcall *>(stmt), i);
    pm_reader_note_descriptor(reader, stmt);
    pm_reader_note_callbacks(reader, as_a<gcall *>(stmt));
    pm_reader_note_results(reader, as_a<gcall *>(stmt));
    if (!gimple_call_internal_p(stmt))
        pm_reader_note_held(reader, as_a<gcall *>(stmt));
    pm_reader_note_result(reader, as_a<gcall *>(stmt));
    pm_reader_note_constructed(reader, as_a<gcall *>(stmt));
    if (callee != NULL_TREE) {
        pm_reader_map_to(reader, pm_fact_external(callee), PM_SOURCE_CALLS);
        note_call_within(reader, callee);
    } else if (!gimple_call_internal_p(stmt))
        pm_reader_touch(reader, gimple_call_fn(stmt), PM_READS);
    if (gimple_call_lhs(stmt) != NULL_TREE) {
        pm_reader_touch_result(reader, gimple_call_lhs(stmt));
        pm_reader_touch_whole(reader, gimple_call_lhs(stmt), PM_WRITES);
    }
    pm_reader_note_returned(reader, stmt);
}

/* A procedure with ENTRY is two for gfortran: "master.0.name" has its body, and each of its names
 * is one that calls it, at no place of the source. */
static void read_entry(struct pm_reader *reader, gimple *stmt)
{
    tree callee = is_gimple_call(stmt) ? gimple_call_fndecl(stmt) : NULL_TREE;
    if (callee == NULL_TREE || !pm_fact_is_fortran() || DECL_NAME(callee) == NULL_TREE ||
        strncmp(IDENTIFIER_POINTER(DECL_NAME(callee)), "master.", 7) != 0)
        return;
    for (unsigned i = 0; i < gimple_call_num_args(stmt); i++) {
        tree argument = gimple_call_arg(stmt, i);
        if (TREE_CODE(argument) == PARM_DECL && POINTER_TYPE_P(TREE_TYPE(argument)))
            pm_fact_refers(pm_fact_parameter(callee, i), pm_fact_dummy(argument, reader->decl));
    }
}

static void read_omp_loop(struct pm_reader *reader, gimple *stmt)
{
    for (unsigned i = 0; i < gimple_omp_for_collapse(stmt); i++) {
        pm_reader_touch(reader, gimple_omp_for_index(stmt, i), PM_WRITES);
        pm_reader_touch(reader, gimple_omp_for_initial(stmt, i), PM_READS);
        pm_reader_touch(reader, gimple_omp_for_final(stmt, i), PM_READS);
    }
}

static void read_operands(struct pm_reader *reader, gimple *stmt)
{
    for (unsigned i = 0; i < gimple_num_ops(stmt); i++)
        pm_reader_touch(reader, gimple_op(stmt, i), PM_READS);
}

static void read_asm(struct pm_reader *reader, gasm *stmt)
{
    for (unsigned i = 0; i < gimple_asm_noutputs(stmt); i++)
        pm_reader_touch(reader, TREE_VALUE(gimple_asm_output_op(stmt, i)), PM_WRITES);
    for (unsigned i = 0; i < gimple_asm_ninputs(stmt); i++)
        pm_reader_touch(reader, TREE_VALUE(gimple_asm_input_op(stmt, i)), PM_READS);
}

static tree pointer_or_self(tree t)
{
    return TREE_CODE(t) == INDIRECT_REF || TREE_CODE(t) == MEM_REF ? TREE_OPERAND(t, 0) : t;
}

/* An array with a size of run time is "*u.0", where "u" is the variable of the source; what C++
 * makes where the caller wants it is "*<retval>". */
static void read_bind(struct pm_reader *reader, gbind *bind)
{
    for (tree variable = gimple_bind_vars(bind); variable != NULL_TREE;
         variable = DECL_CHAIN(variable)) {
        if (TREE_CODE(variable) != VAR_DECL || !DECL_HAS_VALUE_EXPR_P(variable) ||
            DECL_ARTIFICIAL(variable))
            continue;
        tree value = DECL_VALUE_EXPR(variable), result = DECL_RESULT(reader->decl);
        if (result != NULL_TREE && pointer_or_self(value) == result)
            pm_fact_variable_stands_for(result, variable, reader->decl);
        tree pointer = TREE_CODE(value) == INDIRECT_REF || TREE_CODE(value) == MEM_REF
                           ? TREE_OPERAND(value, 0)
                           : NULL_TREE;
        if (pointer != NULL_TREE && TREE_CODE(pointer) == VAR_DECL && DECL_ARTIFICIAL(pointer))
            pm_fact_variable_stands_for(pointer, variable, reader->decl);
    }
}

/* A parallel region, a task, a critical section, ...: "heat.c:34 omp parallel". */
static void read_region(struct pm_reader *reader, gimple *stmt)
{
    static const char mark[] = "gimple_omp_";
    const char *what = gimple_code_name[gimple_code(stmt)];
    struct pm_place place;
    if (strncmp(what, mark, strlen(mark)) != 0 || !pm_place_of(gimple_location(stmt), &place))
        return;
    pm_fact_region(pm_facts_early(), reader->function, &place, what + strlen(mark),
                   parent_now(reader));
}

static bool makes_code(gimple *stmt)
{
    switch (gimple_code(stmt)) {
    case GIMPLE_ASSIGN:
        return !gimple_clobber_p(stmt);
    case GIMPLE_CALL:
    case GIMPLE_COND:
    case GIMPLE_SWITCH:
    case GIMPLE_GOTO:
    case GIMPLE_RETURN:
    case GIMPLE_ASM:
        return true;
    default:
        return false;
    }
}

/* "frame->p = p": a coroutine keeps its parameters in a record of the compiler's. */
static bool is_kept_parameter(tree t)
{
    if (TREE_CODE(t) != COMPONENT_REF || !POINTER_TYPE_P(TREE_TYPE(t)))
        return false;
    tree name = TYPE_NAME(DECL_CONTEXT(TREE_OPERAND(t, 1)));
    if (name != NULL_TREE && TREE_CODE(name) == TYPE_DECL)
        name = DECL_NAME(name);
    return name != NULL_TREE && strcasestr(IDENTIFIER_POINTER(name), ".frame") != NULL;
}

/* It is in no statement of the source: what a coroutine does before its body. gfortran says of
 * "q => job%p" in "select type (q => job%p)" that it is where the procedure begins. */
static void read_between(struct pm_reader *reader, gimple *stmt)
{
    if (!is_gimple_assign(stmt) || !gimple_assign_single_p(stmt))
        return;
    bool is_association = pm_fact_is_fortran() && TREE_CODE(gimple_assign_rhs1(stmt)) == ADDR_EXPR;
    if (is_association || is_kept_parameter(gimple_assign_lhs(stmt)))
        pm_reader_note_pointed(reader, stmt);
}

static void read_statement(struct pm_reader *reader, const struct pm_linear &item)
{
    gimple *stmt = item.stmt;
    reader->loop_now = item.loop;
    if (gimple_code(stmt) == GIMPLE_BIND)
        read_bind(reader, as_a<gbind *>(stmt));
    else if (is_gimple_omp(stmt) && gimple_has_substatements(stmt) &&
             gimple_code(stmt) != GIMPLE_OMP_FOR)
        read_region(reader, stmt);
    reader->now = statement_of(reader, stmt);
    read_entry(reader, stmt);
    if (reader->now == NULL) {
        read_between(reader, stmt);
        return;
    }
    if (makes_code(stmt)) /* samples may find it, whether or not it touches anything */
        pm_reader_statement_noun(reader);
    switch (gimple_code(stmt)) {
    case GIMPLE_ASSIGN:
        read_assign(reader, stmt);
        break;
    case GIMPLE_CALL:
        read_call(reader, stmt);
        break;
    case GIMPLE_RETURN:
        pm_reader_note_value_returned(reader, stmt);
        read_operands(reader, stmt);
        break;
    case GIMPLE_COND:
    case GIMPLE_SWITCH:
        read_operands(reader, stmt);
        break;
    case GIMPLE_ASM:
        read_asm(reader, as_a<gasm *>(stmt));
        break;
    case GIMPLE_OMP_FOR:
        read_omp_loop(reader, stmt);
        break;
    case GIMPLE_OMP_ATOMIC_LOAD: /* its store has no address of its own */
        pm_reader_touch_target(reader, gimple_omp_atomic_load_rhs(as_a<gomp_atomic_load *>(stmt)),
                               PM_READS);
        pm_reader_touch_target(reader, gimple_omp_atomic_load_rhs(as_a<gomp_atomic_load *>(stmt)),
                               PM_WRITES);
        break;
    default:
        break;
    }
}

/* --- what the late passes ask --- */

/* 24 bytes a statement: 2 MB for SQLite. */
static struct pm_table<const struct pm_source_function *, struct pm_statements *>
    statements_by_function;

static void keep_statements(const struct pm_reader *reader)
{
    struct pm_statements **entry = statements_by_function.add(reader->function, NULL);
    if (*entry == NULL)
        *entry = new pm_statements();
    struct pm_statements *kept = *entry;
    kept->by_line = reader->ranges == NULL;
    kept->n = 0;
    for (const auto &entry : reader->statements) {
        const struct pm_read_statement &statement = entry.second;
        struct pm_range range = {statement.place.file, pm_place_point(&statement.place),
                                 statement.last};
        if (statement.id != 0 && !pm_statements_add(kept, &range))
            pm_no_memory();
    }
}

const struct pm_statements *pm_statements_of(const struct pm_source_function *function)
{
    struct pm_statements **found = statements_by_function.find(function);
    return found != NULL ? *found : NULL;
}

void pm_fact_statements(tree function_decl, const std::vector<struct pm_linear> &code)
{
    struct pm_reader reader = {};
    reader.decl = function_decl;
    reader.function = pm_source_function_of(function_decl);
    reader.ranges = pm_ranges_of(function_decl);
    pm_temporaries_of(code);
    for (const struct pm_linear &item : code)
        read_statement(&reader, item);
    pm_fact_parameters(function_decl);
    keep_statements(&reader);
}
