/* Which variables and fields a statement reads and writes.
 *
 * In GIMPLE a pointer is followed in steps (_1 = i * 8; _2 = p + _1; *_2 = x). What users mean by
 * "p[i] = x" is that what p points to is written: p is not counted as read where it only gives an
 * address, and the access through it counts as one to p (or to the field that p was loaded from).
 */
#include "facts_reader.h"

void pm_reader_map_to(struct pm_reader *reader, pm_id noun, enum pm_fact_verb verb)
{
    if (noun == 0)
        return;
    auto name = reader->names.find(noun);
    if (reader->referred != NULL) {
        reader->referred->push_back(name != reader->names.end() ? name->second : noun);
        return;
    }
    pm_id statement = pm_reader_statement_noun(reader);
    pm_fact_mapping(pm_facts_early(), statement, PM_SOURCE_EXECUTES, noun, verb);
    if (name != reader->names.end())
        pm_fact_mapping(pm_facts_early(), statement, PM_SOURCE_EXECUTES, name->second, verb);
}

/* The innermost field that the source has: not the parts of a descriptor or of a library's
 * class. */
pm_id pm_reader_field_of(struct pm_reader *reader, tree t, tree *ret_component)
{
    for (; handled_component_p(t); t = TREE_OPERAND(t, 0)) {
        pm_id noun = TREE_CODE(t) == COMPONENT_REF ? pm_fact_component(t, reader->decl) : 0;
        if (noun != 0) {
            *ret_component = t;
            return noun;
        }
    }
    return 0;
}

/* Unlike get_base_address() never NULL. */
tree pm_base_of(tree t)
{
    while (handled_component_p(t))
        t = TREE_OPERAND(t, 0);
    return t;
}

void pm_reader_touch_indices(struct pm_reader *reader, tree t)
{
    if (reader->referred != NULL)
        return;
    for (; handled_component_p(t); t = TREE_OPERAND(t, 0)) {
        if (TREE_CODE(t) == ARRAY_REF || TREE_CODE(t) == ARRAY_RANGE_REF)
            pm_reader_touch(reader, TREE_OPERAND(t, 1), PM_READS);
    }
}

/* "lambda.__v = v" where the lambda is made: nothing of v is written. */
static bool makes_capture(tree t, enum pm_access_way access)
{
    tree variable, function_decl;
    return access == PM_WRITES && TREE_CODE(t) == COMPONENT_REF &&
           pm_fact_is_capture(TREE_OPERAND(t, 1), &variable, &function_decl) &&
           DECL_P(TREE_OPERAND(t, 0));
}

/* "[p = u]" */
static bool is_own_variable(tree field)
{
    tree variable, function_decl;
    return pm_fact_is_capture(field, &variable, &function_decl) && variable != NULL_TREE &&
           function_decl == pm_fact_call_operator(DECL_CONTEXT(field));
}

/* The fields that it lies in: points of "one.points[i].x". */
static void touch_around(struct pm_reader *reader, tree component, enum pm_access_way access)
{
    for (tree t = TREE_OPERAND(component, 0); handled_component_p(t); t = TREE_OPERAND(t, 0))
        if (TREE_CODE(t) == COMPONENT_REF && pm_fact_block_of(t) == NULL_TREE)
            pm_reader_map_to(reader, pm_fact_field(TREE_OPERAND(t, 1)), (enum pm_fact_verb)access);
}

static void touch_component(struct pm_reader *reader, tree t, enum pm_access_way access)
{
    pm_reader_touch_indices(reader, t);
    tree component;
    if (access == PM_READS && !POINTER_TYPE_P(TREE_TYPE(t)) && pm_fact_in_descriptor(t))
        return; /* bounds, strides, offset */
    if (makes_capture(t, access)) {
        if (reader->referred != NULL && is_own_variable(TREE_OPERAND(t, 1)))
            pm_reader_map_to(reader, pm_fact_field(TREE_OPERAND(t, 1)), PM_SOURCE_WRITES);
        pm_reader_touch(reader, pm_base_of(t), access);
        return;
    }
    pm_id noun = pm_reader_field_of(reader, t, &component);
    tree of_source = noun != 0 ? component : NULL_TREE;
    pm_reader_map_to(reader, noun, (enum pm_fact_verb)access);
    if (noun != 0 && pm_fact_block_of(component) != NULL_TREE) {
        pm_fact_note_member(reader->last_location, component, noun, access == PM_WRITES);
        return;
    }
    if (noun != 0 && reader->referred == NULL)
        touch_around(reader, component, access);
    for (component = t; handled_component_p(component); component = TREE_OPERAND(component, 0)) {
        if (TREE_CODE(component) == COMPONENT_REF && component != of_source &&
            (pm_fact_block_of(component) !=
                 NULL_TREE || /* a record in a COMMON block, or of the function around */
             pm_fact_captured(TREE_OPERAND(component, 1), reader->decl) != 0)) {
            pm_reader_map_to(reader, pm_fact_component(component, reader->decl),
                             (enum pm_fact_verb)access);
            return;
        }
    }
    pm_reader_touch(reader, pm_base_of(t), access);
}

gimple *pm_definition_of(tree t)
{
    gimple *definition = pm_temporary_definition(t);
    return definition != NULL && is_gimple_assign(definition) ? definition : NULL;
}

/* "field%b(j)" of an allocatable component: its elements are the record's own. Records behind
 * pointers, as those in objects of CLASS, are variants without "restrict". */
static bool is_allocatable_part(tree t)
{
    for (; handled_component_p(t); t = TREE_OPERAND(t, 0))
        if (TREE_CODE(t) == COMPONENT_REF && pm_fact_is_descriptor(TREE_TYPE(t)))
            return !pm_fact_is_array_pointer(TYPE_MAIN_VARIANT(TREE_TYPE(t)));
    return false;
}

/* Access through a pointer that was loaded from a field: to that field. From a descriptor's data:
 * to the array. */
void pm_reader_touch_loaded(struct pm_reader *reader, tree t, enum pm_access_way access)
{
    tree component;
    pm_id noun = pm_reader_field_of(reader, t, &component);
    if (noun == 0) {
        pm_reader_touch(reader, t, access);
        return;
    }
    pm_reader_map_to(reader, noun, (enum pm_fact_verb)access);
    if (is_allocatable_part(t))
        pm_reader_touch(reader, pm_base_of(t), access);
}

gcall *pm_call_of(tree t)
{
    gimple *definition = pm_temporary_definition(t);
    return definition != NULL ? dyn_cast<gcall *>(definition) : NULL;
}

/* What the call's result refers into. */
static void touch_sources(struct pm_reader *reader, gcall *call, enum pm_access_way access)
{
    unsigned sources = pm_fact_call_sources(call);
    for (unsigned i = 0; sources >> i != 0; i++) {
        tree argument = gimple_call_arg(call, i);
        if ((sources >> i & 1) == 0)
            continue;
        if (POINTER_TYPE_P(TREE_TYPE(argument)))
            pm_reader_touch_target(reader, argument, access);
        else
            pm_reader_touch(reader, argument, access);
    }
}

/* Of a function of C's library, "strchr(text, c)". */
static void touch_led_into(struct pm_reader *reader, gcall *call, enum pm_access_way access)
{
    for (unsigned i = 0; i < gimple_call_num_args(call); i++)
        if (pm_reader_leads_into(call, i))
            pm_reader_touch_target(reader, gimple_call_arg(call, i), access);
}

/* What a temporary of the compiler may refer to. */
static void touch_given(struct pm_reader *reader, tree variable, enum pm_access_way access)
{
    enum { DEPTH_MAX = 8 };
    auto given = reader->given.find(DECL_UID(variable));
    bool follows = reader->referred != NULL || pm_fact_is_descriptor(TREE_TYPE(variable));
    if (!follows || given == reader->given.end() || reader->depth >= DEPTH_MAX)
        return;
    reader->depth++;
    for (tree from : given->second)
        pm_reader_touch_target(reader, from, access);
    reader->depth--;
}

/* A function of the program's own that returns a pointer. */
tree pm_returning_function(gcall *call)
{
    tree callee = gimple_call_internal_p(call) ? NULL_TREE : gimple_call_fndecl(call);
    bool is_of_compiler = /* __cxa_allocate_exception() */
        callee != NULL_TREE && DECL_ARTIFICIAL(callee) && !pm_is_method_type(callee);
    return callee != NULL_TREE && !is_of_compiler && !pm_fact_is_fortran() &&
                   !fndecl_built_in_p(callee) &&
                   !pm_is_system_place(DECL_SOURCE_LOCATION(callee)) &&
                   (POINTER_TYPE_P(TREE_TYPE(TREE_TYPE(callee))) ||
                    pm_fact_is_container(TREE_TYPE(TREE_TYPE(callee))))
               ? callee
               : NULL_TREE;
}

static void touch_returned(struct pm_reader *reader, gcall *call)
{
    tree callee = reader->referred != NULL ? pm_returning_function(call) : NULL_TREE;
    if (callee != NULL_TREE)
        reader->referred->push_back(pm_fact_returned(callee));
}

static void touch_pointed(struct pm_reader *reader, tree pointer, enum pm_access_way access)
{
    if (gcall *call = pm_call_of(pointer)) {
        touch_sources(reader, call, access);
        touch_led_into(reader, call, access);
        touch_returned(reader, call);
    } else if (gimple *definition = pm_definition_of(pointer)) {
        tree from = gimple_assign_rhs1(definition);
        if (TREE_CODE(from) == SSA_NAME || DECL_P(from) || TREE_CODE(from) == ADDR_EXPR)
            pm_reader_touch_target(reader, from, access);
        else if (handled_component_p(from) || TREE_CODE(from) == MEM_REF)
            pm_reader_touch_loaded(reader, from, access);
    }
}

/* A variable of the compiler's that holds an address, and is none of the source's. */
static bool is_pointer_temporary(struct pm_reader *reader, tree t)
{
    return POINTER_TYPE_P(TREE_TYPE(t)) && pm_temporary_definition(t) != NULL &&
           (TREE_CODE(t) == SSA_NAME || pm_fact_variable(t, reader->decl) == 0);
}

/* What the variable refers into, under each name: auto &name = v; auto it = name.begin(). Who asks
 * what is referred to gets one name: that refers to the next. */
static void map_behind(struct pm_reader *reader, tree variable, enum pm_fact_verb verb)
{
    enum { NAMES_MAX = 8 };
    pm_id noun = pm_fact_behind(variable);
    if (reader->referred != NULL) {
        bool is_name = noun != 0 && pm_fact_named(pm_fact_variable(variable, reader->decl)) != 0;
        pm_reader_map_to(reader, is_name ? 0 : noun, verb);
        return;
    }
    for (int i = 0; i < NAMES_MAX && noun != 0; i++, noun = pm_fact_named(noun))
        pm_reader_map_to(reader, noun, verb);
}

static void touch_behind(struct pm_reader *reader, tree variable, enum pm_access_way access)
{
    pm_reader_touch(reader, variable, access);
    if (DECL_P(variable))
        map_behind(reader, variable, (enum pm_fact_verb)access);
    if (VAR_P(variable) && DECL_ARTIFICIAL(variable))
        touch_given(reader, variable, access);
    auto pointed = reader->pointed_by_call.find(DECL_P(variable) ? DECL_UID(variable) : 0);
    if (reader->referred != NULL && pointed != reader->pointed_by_call.end())
        for (pm_id parameter : pointed->second)
            reader->referred->push_back(parameter);
}

/* "D.1 = CHAIN->u; *D.1 = x": no variable of the function around is in a register here. NULL: it
 * holds no such pointer. */
tree pm_reader_loaded_from_frame(const struct pm_reader *reader, tree t)
{
    auto found = VAR_P(t) ? reader->from_frames.find(DECL_UID(t)) : reader->from_frames.end();
    return found != reader->from_frames.end() ? found->second : NULL_TREE;
}

void pm_reader_touch_target(struct pm_reader *reader, tree pointer, enum pm_access_way access)
{
    STRIP_NOPS(pointer);
    if (pm_reader_loaded_from_frame(reader, pointer) != NULL_TREE) {
        pm_reader_touch_loaded(reader, pm_reader_loaded_from_frame(reader, pointer), access);
    } else if (TREE_CODE(pointer) == ADDR_EXPR) {
        touch_behind(reader, TREE_OPERAND(pointer, 0), access);
    } else if (is_pointer_temporary(reader, pointer)) {
        touch_pointed(reader, pointer, access);
    } else if (DECL_P(pointer)) {
        touch_behind(reader, pointer, access);
    } else if (TREE_CODE(pointer) == POINTER_PLUS_EXPR) {
        pm_reader_touch_target(reader, TREE_OPERAND(pointer, 0), access);
        if (reader->referred == NULL)
            pm_reader_touch(reader, TREE_OPERAND(pointer, 1), PM_READS);
    }
}

void pm_reader_touch(struct pm_reader *reader, tree t, enum pm_access_way access)
{
    if (t == NULL_TREE || CONSTANT_CLASS_P(t) || TYPE_P(t))
        return;
    switch (TREE_CODE(t)) {
    case VAR_DECL:
    case PARM_DECL:
    case RESULT_DECL:
        if (pm_reader_loaded_from_frame(reader, t) != NULL_TREE) {
            pm_reader_touch(reader, pm_reader_loaded_from_frame(reader, t), access);
            return;
        }
        if (is_pointer_temporary(reader, t)) {
            if (access == PM_READS)
                pm_reader_touch_target(reader, t, PM_READS);
            return;
        }
        pm_reader_map_to(reader, pm_fact_variable(t, reader->decl), (enum pm_fact_verb)access);
        if (!POINTER_TYPE_P(TREE_TYPE(t)) && access == PM_READS) /* an element of a range, copied */
            map_behind(reader, t, PM_SOURCE_READS);
        if (pm_fact_is_fortran() && DECL_ARTIFICIAL(t) && !POINTER_TYPE_P(TREE_TYPE(t)))
            touch_given(reader, t, access); /* a descriptor made for a call */
        return;
    case SSA_NAME:
        if (access == PM_READS && POINTER_TYPE_P(TREE_TYPE(t)))
            pm_reader_touch_target(reader, t, PM_READS);
        return;
    case MEM_REF:
    case TARGET_MEM_REF:
    case INDIRECT_REF:
        pm_reader_touch_target(reader, TREE_OPERAND(t, 0), access);
        return;
    case ADDR_EXPR:
        pm_reader_touch(reader, TREE_OPERAND(t, 0), access);
        return;
    case CONSTRUCTOR: {
        unsigned i;
        tree value;
        FOR_EACH_CONSTRUCTOR_VALUE(CONSTRUCTOR_ELTS(t), i, value)
            pm_reader_touch(reader, value, PM_READS);
        return;
    }
    default:
        break;
    }
    if (handled_component_p(t)) {
        touch_component(reader, t, access);
    } else if (EXPR_P(t)) {
        for (int i = 0; i < TREE_OPERAND_LENGTH(t); i++)
            pm_reader_touch(reader, TREE_OPERAND(t, i), PM_READS);
    }
}

/* Only the address is worked out here: the access through it comes later. */
bool pm_reader_makes_address(struct pm_reader *reader, gimple *stmt)
{
    tree lhs = gimple_assign_lhs(stmt);
    return POINTER_TYPE_P(TREE_TYPE(lhs)) &&
           (TREE_CODE(lhs) == SSA_NAME || is_pointer_temporary(reader, lhs));
}

/* "parm.1.data = &a[0]": the call that gets the descriptor says what it does with a. */
bool pm_reader_fills_descriptor(gimple *stmt)
{
    tree lhs = gimple_assign_lhs(stmt);
    tree base = pm_base_of(lhs);
    return lhs != base && pm_fact_is_fortran() && POINTER_TYPE_P(TREE_TYPE(lhs)) && VAR_P(base) &&
           DECL_ARTIFICIAL(base) && pm_fact_is_descriptor(TREE_TYPE(base));
}

void pm_reader_read_address(struct pm_reader *reader, gimple *stmt)
{
    tree from = gimple_assign_rhs1(stmt);
    if (gimple_assign_rhs_code(stmt) == POINTER_PLUS_EXPR) {
        pm_reader_touch(reader, gimple_assign_rhs2(stmt), PM_READS);
    } else if (TREE_CODE(from) == ADDR_EXPR) {
        pm_reader_touch_indices(reader, TREE_OPERAND(from, 0));
    } else if (handled_component_p(from)) {
        pm_reader_touch_indices(reader, from);
        tree base = pm_base_of(from), component;
        /* The pointer's own holder is read, but a descriptor's array is what the pointer is about.
         */
        if (pm_reader_field_of(reader, from, &component) != 0 && !is_allocatable_part(from))
            pm_reader_touch(reader, base, PM_READS);
    } else if (TREE_CODE(from) == MEM_REF) {
        pm_reader_touch(reader, from, PM_READS);
    }
}

/* An iterator of the compiler's stands for its container, which is not written when the iterator
 * is. Nor is a dummy array of Fortran when the address of its data is worked out. */
void pm_reader_touch_result(struct pm_reader *reader, tree to)
{
    bool is_data_of_array =
        VAR_P(to) && DECL_ARTIFICIAL(to) && POINTER_TYPE_P(TREE_TYPE(to)) && pm_fact_is_fortran();
    if (!(VAR_P(to) && (pm_is_range_name(to) || pm_fact_is_way(to))) && !is_data_of_array)
        pm_reader_touch(reader, to, PM_WRITES);
}
