/* Objects that are copied, cleared or passed as a whole, "p[i] = q", "memset(&job, 0, sizeof job)":
 * each of their fields is read or written.
 */
#include "facts_reader.h"

extern "C" {
#include "../emit/arguments.h"
#include "../emit/whole.h"
}

static void map_fields(struct pm_reader *reader, tree type, enum pm_access_way access,
                       struct pm_whole *whole)
{
    while (TREE_CODE(type) == ARRAY_TYPE)
        type = TREE_TYPE(type);
    if (!RECORD_OR_UNION_TYPE_P(type) || pm_fact_is_closure(type))
        return;
    for (tree field = TYPE_FIELDS(type); field != NULL_TREE; field = DECL_CHAIN(field)) {
        if (TREE_CODE(field) != FIELD_DECL)
            continue;
        pm_id noun = pm_fact_field(field);
        if (pm_whole_takes(whole, pm_facts_early(), noun))
            pm_reader_map_to(reader, noun, (enum pm_fact_verb)access);
        map_fields(reader, TREE_TYPE(field), access, whole);
    }
}

static void touch_fields(struct pm_reader *reader, tree type, enum pm_access_way access)
{
    struct pm_whole whole = {0};
    if (reader->referred == NULL)
        map_fields(reader, TYPE_MAIN_VARIANT(type), access, &whole);
}

/* A temporary of the compiler's is no object of the source. */
void pm_reader_touch_whole(struct pm_reader *reader, tree object, enum pm_access_way access)
{
    tree base = pm_base_of(object);
    bool is_temporary = VAR_P(base) && DECL_ARTIFICIAL(base);
    bool is_object = DECL_P(base) || TREE_CODE(base) == MEM_REF || TREE_CODE(base) == INDIRECT_REF;
    if (AGGREGATE_TYPE_P(TREE_TYPE(object)) && is_object && !is_temporary)
        touch_fields(reader, TREE_TYPE(object), access);
}

/* The object that a pointer leads to, whatever it was made of: "(void *)&job". */
static tree pointed_type(tree pointer)
{
    enum { STEPS_MAX = 8 };
    tree type = void_type_node;
    for (int step = 0; step < STEPS_MAX && VOID_TYPE_P(type); step++) {
        STRIP_NOPS(pointer);
        gimple *definition = pm_definition_of(pointer);
        type = TREE_TYPE(TREE_TYPE(pointer));
        if (definition == NULL || !POINTER_TYPE_P(TREE_TYPE(gimple_assign_rhs1(definition))))
            break;
        pointer = gimple_assign_rhs1(definition);
    }
    return type;
}

/* Is the constant number of bytes, which is the last argument, less than the whole? free() reads
 * and writes none. */
static bool is_part_of(gcall *call, tree type)
{
    tree n_bytes = gimple_call_arg(call, gimple_call_num_args(call) - 1);
    tree whole = TYPE_SIZE_UNIT(type);
    if (gimple_call_num_args(call) < 2)
        return true;
    return TREE_CODE(n_bytes) == INTEGER_CST && whole != NULL_TREE &&
           TREE_CODE(whole) == INTEGER_CST && tree_int_cst_lt(n_bytes, whole);
}

void pm_reader_touch_whole_target(struct pm_reader *reader, gcall *call, unsigned index,
                                  enum pm_access_way access)
{
    tree type = pointed_type(gimple_call_arg(call, index));
    if (RECORD_OR_UNION_TYPE_P(type) && !is_part_of(call, type))
        touch_fields(reader, type, access);
}

void pm_reader_touch_whole_passed(struct pm_reader *reader, gcall *call, unsigned index,
                                  enum pm_access_way access)
{
    tree callee = gimple_call_fndecl(call), type = pm_reader_type_of_parameter(call, index);
    bool is_passed = callee != NULL_TREE && type != NULL_TREE &&
                     TREE_CODE(type) == REFERENCE_TYPE && pm_fact_is_cxx_library(callee) &&
                     !pm_is_method_type(callee);
    if (is_passed && !pm_fact_is_container(TREE_TYPE(type)))
        touch_fields(reader, TREE_TYPE(type), access);
}

void pm_reader_touch_whole_elements(struct pm_reader *reader, gcall *call, unsigned index)
{
    unsigned use = pm_fact_call_whole_use(call, index);
    tree element =
        use != 0 ? pm_fact_element_type(TREE_TYPE(gimple_call_arg(call, index))) : NULL_TREE;
    if (use & PM_USE_READS)
        touch_fields(reader, element, PM_READS);
    if (use & PM_USE_WRITES)
        touch_fields(reader, element, PM_WRITES);
}

/* The field at the offset, as pointers to members have it; NULL_TREE: none. */
static tree field_at(tree record, tree offset)
{
    for (tree field = TYPE_FIELDS(record); field != NULL_TREE; field = DECL_CHAIN(field))
        if (TREE_CODE(field) == FIELD_DECL && !DECL_BIT_FIELD(field) && !DECL_ARTIFICIAL(field) &&
            tree_int_cst_equal(byte_position(field), offset))
            return field;
    return NULL_TREE;
}

void pm_reader_touch_projected(struct pm_reader *reader, gcall *call, unsigned index)
{
    tree callee = gimple_call_fndecl(call), argument = gimple_call_arg(call, index);
    if (TREE_CODE(TREE_TYPE(argument)) != OFFSET_TYPE || TREE_CODE(argument) != INTEGER_CST ||
        callee == NULL_TREE || !pm_fact_is_cxx_library(callee))
        return;
    tree field = field_at(TYPE_OFFSET_BASETYPE(TREE_TYPE(argument)), argument);
    if (field != NULL_TREE)
        pm_reader_map_to(reader, pm_fact_field(field), PM_SOURCE_READS);
}

/* Those of bases, too. */
static void leave_out_fields(tree record, tree type)
{
    for (tree field = TYPE_FIELDS(record); field != NULL_TREE; field = DECL_CHAIN(field)) {
        if (TREE_CODE(field) != FIELD_DECL)
            continue;
        if (DECL_ARTIFICIAL(field) && RECORD_OR_UNION_TYPE_P(TREE_TYPE(field)))
            leave_out_fields(TREE_TYPE(field), type);
        else if (TYPE_MAIN_VARIANT(TREE_TYPE(field)) == type)
            pm_fact_left_out(pm_facts_early(), pm_fact_field(field));
    }
}

void pm_reader_note_member_pointer(gimple *assign)
{
    tree type = TREE_TYPE(gimple_assign_rhs1(assign));
    if (gimple_assign_cast_p(assign) && TREE_CODE(type) == OFFSET_TYPE &&
        TREE_CODE(TREE_TYPE(gimple_assign_lhs(assign))) != OFFSET_TYPE)
        leave_out_fields(TYPE_OFFSET_BASETYPE(type), TYPE_MAIN_VARIANT(TREE_TYPE(type)));
}
