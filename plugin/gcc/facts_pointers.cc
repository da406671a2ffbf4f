/* What the pointers of a function refer to: what is done through one is done with the other. */
#include "facts_reader.h"

/* The variables and fields that an address leads into. */
std::vector<pm_id> pm_reader_objects_behind(struct pm_reader *reader, tree pointer)
{
    std::vector<pm_id> objects;
    reader->referred = &objects;
    STRIP_NOPS(pointer);
    if (handled_component_p(pointer) || TREE_CODE(pointer) == MEM_REF)
        pm_reader_touch_loaded(reader, pointer, PM_READS);
    else
        pm_reader_touch_target(reader, pointer, PM_READS);
    reader->referred = NULL;
    return objects;
}

/* The functions whose address a pointer is. */
void pm_reader_find_functions(const struct pm_reader *reader, tree t, unsigned depth,
                              std::vector<tree> *out)
{
    enum { DEPTH_MAX = 8 };
    STRIP_NOPS(t);
    if (depth == DEPTH_MAX)
        return;
    if (TREE_CODE(t) == ADDR_EXPR && TREE_CODE(TREE_OPERAND(t, 0)) == FUNCTION_DECL) {
        out->push_back(TREE_OPERAND(t, 0));
    } else if (TREE_CODE(t) == ADDR_EXPR) {
        pm_reader_find_functions(reader, TREE_OPERAND(t, 0), depth + 1, out);
    } else if (VAR_P(t)) {
        auto given = reader->given.find(DECL_UID(t));
        if (given != reader->given.end())
            for (tree from : given->second)
                pm_reader_find_functions(reader, from, depth + 1, out);
    } else if (gimple *definition = pm_definition_of(t)) {
        pm_reader_find_functions(reader, gimple_assign_rhs1(definition), depth + 1, out);
    }
}

bool pm_is_method_type(tree function_decl)
{
    return TREE_CODE(TREE_TYPE(function_decl)) == METHOD_TYPE;
}

/* What is done through the pointer is done with what the value refers to, and calls through it
 * are of the functions that the value holds. */
void pm_reader_refer(struct pm_reader *reader, pm_id pointer, tree value)
{
    std::vector<tree> functions;
    for (pm_id found : pm_reader_objects_behind(reader, value)) {
        pm_id object = found != pointer ? found : pm_fact_named(pointer);
        pm_fact_refers(pointer, object);
        pm_fact_holds_pointer(pointer, object, TREE_TYPE(value));
    }
    pm_reader_find_functions(reader, value, 0, &functions);
    unsigned before = pm_fact_is_std_function(TREE_TYPE(value)) ? 1 : 0;
    for (tree function_decl : functions)
        pm_fact_holds_function(pointer, function_decl,
                               pm_is_method_type(function_decl) ? 0 : before);
}

/* In Fortran also the data of a dummy array. */
static bool is_pointer_of_source(struct pm_reader *reader, tree t)
{
    return TREE_CODE(t) != FUNCTION_DECL &&
           (pm_reader_loaded_from_frame(reader, t) != NULL_TREE || !DECL_ARTIFICIAL(t) ||
            reader->given.count(DECL_UID(t)) != 0 ||
            (pm_fact_is_fortran() && pm_fact_variable(t, reader->decl) != 0));
}

/* An address, or the value of a pointer of the source, perhaps with a distance added. */
static bool is_address(struct pm_reader *reader, tree t)
{
    STRIP_NOPS(t);
    if (handled_component_p(t))
        return true;
    if (DECL_P(t)) {
        bool is_pointer = is_pointer_of_source(reader, t);
        if (is_pointer || pm_temporary_definition(t) == NULL)
            return is_pointer;
    }
    if (TREE_CODE(t) == ADDR_EXPR)
        return TREE_CODE(TREE_OPERAND(t, 0)) != STRING_CST;
    if (TREE_CODE(t) == MEM_REF) /* "rows[k]" of pointers */
        return is_address(reader, TREE_OPERAND(t, 0));
    if (gcall *call = pm_call_of(t))
        return pm_fact_call_sources(call) != 0 || pm_returning_function(call) != NULL_TREE ||
               pm_reader_leads_on(call);
    gimple *definition = pm_definition_of(t);
    bool steps = definition != NULL &&
                 (gimple_assign_single_p(definition) || gimple_assign_cast_p(definition) ||
                  gimple_assign_rhs_code(definition) == POINTER_PLUS_EXPR);
    return steps && is_address(reader, gimple_assign_rhs1(definition));
}

/* "i ? a : b", and what is returned: temporaries that the compiler gives a value in several
 * places. */
static void note_given(struct pm_reader *reader, tree to, tree from)
{
    if (VAR_P(to) && !pm_fact_is_fortran() && is_address(reader, from))
        reader->given[DECL_UID(to)].push_back(from);
}

/* The address goes where it is not followed. */
static void lose(struct pm_reader *reader, tree value)
{
    for (pm_id object : pm_reader_objects_behind(reader, value))
        pm_fact_refers(pm_id_of_elsewhere(), object);
}

static void refer_what(struct pm_reader *reader, tree holder, tree value)
{
    std::vector<pm_id> holders;
    reader->referred = &holders;
    pm_reader_touch(reader, holder, PM_WRITES);
    reader->referred = NULL;
    if (!holders.empty())
        pm_reader_refer(reader, holders[0], value);
    else
        lose(reader, value);
}

/* "(uintptr_t)u": whoever makes a pointer of it again is not known. */
void pm_reader_note_number(struct pm_reader *reader, gimple *assign)
{
    tree to = gimple_assign_lhs(assign), from = gimple_assign_rhs1(assign);
    if (gimple_assign_cast_p(assign) && INTEGRAL_TYPE_P(TREE_TYPE(to)) &&
        POINTER_TYPE_P(TREE_TYPE(from)) && !pm_fact_is_fortran())
        lose(reader, from);
}

/* The pointer that a call gets by reference; NULL: it is none. */
static tree pointer_of_argument(gcall *call, unsigned index)
{
    tree argument = gimple_call_arg(call, index);
    STRIP_NOPS(argument);
    tree pointer = TREE_CODE(argument) == ADDR_EXPR ? TREE_OPERAND(argument, 0) : NULL_TREE;
    return pointer != NULL_TREE && POINTER_TYPE_P(TREE_TYPE(pointer)) ? pointer : NULL_TREE;
}

/* Of a function of the library: "std::swap(a, b)" of pointers, "a = std::exchange(b, c)". Each
 * refers to what the other does. */
void pm_reader_note_exchanged(struct pm_reader *reader, gcall *call)
{
    tree callee = gimple_call_fndecl(call);
    if (gimple_call_num_args(call) != 2)
        return;
    const char *name = pm_written_name(callee);
    bool swaps = strcmp(name, "swap") == 0;
    tree first = pointer_of_argument(call, 0), second = pointer_of_argument(call, 1);
    if ((!swaps && strcmp(name, "exchange") != 0) || first == NULL_TREE || second == NULL_TREE)
        return;
    refer_what(reader, first, second);
    if (swaps)
        refer_what(reader, second, first);
}

/* A variable of gfortran's in the blocks of "select rank" and "select type". */
static bool is_of_block(tree variable)
{
    return DECL_NAME(variable) != NULL_TREE &&
           strncmp(IDENTIFIER_POINTER(DECL_NAME(variable)), "__tmp_", 6) == 0;
}

/* "select type (q => job%p)": a block's own pointer is q. */
static void note_of_block(struct pm_reader *reader, tree to, tree from)
{
    std::vector<pm_id> objects;
    if (pm_fact_is_fortran() && VAR_P(to) && is_of_block(to))
        objects = pm_reader_objects_behind(reader, from);
    if (!objects.empty())
        pm_fact_variable_is(to, objects[0]);
}

/* "write (text, *)": the record for the library stands for the text. "iostat=", "iomsg=" and
 * "size=" are written. */
static void note_transfer(struct pm_reader *reader, tree to, tree from)
{
    static const char *const written[] = {"iostat", "iomsg", "size"};
    const char *part = pm_written_name(TREE_OPERAND(to, 1));
    if (strcmp(part, "internal_unit") == 0)
        for (pm_id text : pm_reader_objects_behind(reader, from))
            pm_fact_note_behind(pm_base_of(to), text);
    for (const char *name : written)
        if (strcmp(part, name) == 0)
            pm_reader_touch_target(reader, from, PM_WRITES);
}

/* "job.data = u", "p = rows[k]", "rows[i] = u + i * n": what is done through the first is done
 * with the second. */
void pm_reader_note_pointed(struct pm_reader *reader, gimple *assign)
{
    tree to = gimple_assign_lhs(assign), from = gimple_assign_rhs1(assign);
    if (TREE_CODE(to) == SSA_NAME || !POINTER_TYPE_P(TREE_TYPE(to)))
        return;
    if (DECL_P(to) && DECL_ARTIFICIAL(to)) {
        note_given(reader, to, from);
        note_of_block(reader, to, from);
        return;
    }
    if (!is_address(reader, from))
        return;
    tree base = pm_base_of(to);
    if (TREE_CODE(to) == COMPONENT_REF && VAR_P(base) && pm_fact_is_transfer(TREE_TYPE(base))) {
        note_transfer(reader, to, from);
        return;
    }
    if (base != to && VAR_P(base) &&
        DECL_ARTIFICIAL(base)) { /* a descriptor, a view, or an object for a call */
        bool is_way = pm_fact_is_way(base);
        std::vector<pm_id> objects = pm_reader_objects_behind(reader, from);
        if (objects.size() == 1 && (is_way || pm_fact_is_fortran()))
            pm_fact_note_behind(base, objects[0]);
        else if (pm_fact_is_fortran()) { /* an array that is a component of an element */
            reader->given[DECL_UID(base)].push_back(from);
            pm_fact_note_made(base, objects);
        }
        if (!pm_fact_is_fortran())
            reader->given[DECL_UID(base)].push_back(from);
        else if (!is_way)
            return;
    }
    refer_what(reader, to, from);
}

/* gfortran copies descriptors: of what has assumed rank in the blocks of "select rank", of what
 * has any type in those of "select type", and into the objects that are passed for such dummies.
 * What is done with the copy is done with the array. */
static void note_descriptor(struct pm_reader *reader, tree to, tree from)
{
    to = pm_base_of(to);
    if (!VAR_P(to) || !DECL_ARTIFICIAL(to) || !RECORD_OR_UNION_TYPE_P(TREE_TYPE(to)))
        return;
    std::vector<pm_id> objects = pm_reader_objects_behind(reader, from);
    for (pm_id object : objects)
        if (object != objects[0])
            return;
    if (!objects.empty() && is_of_block(to))
        pm_fact_variable_is(to, objects[0]);
    else if (!objects.empty())
        pm_fact_note_behind(to, objects[0]);
}

/* "p => q" of what has a descriptor itself. */
static void note_array_pointer(struct pm_reader *reader, tree to, tree from)
{
    refer_what(reader, to, build_fold_addr_expr(from));
}

/* "associate (f => field)" of an allocatable array: f has a descriptor, too. */
static bool is_associated(tree to)
{
    return VAR_P(to) && !DECL_ARTIFICIAL(to) && pm_fact_is_descriptor(TREE_TYPE(to));
}

/* "self = object" of CLASS, which gfortran makes for a call of what is bound to a name. */
static bool is_object_of_call(tree to, tree from)
{
    return TREE_CODE(from) == VIEW_CONVERT_EXPR && VAR_P(to) && DECL_ARTIFICIAL(to) &&
           RECORD_OR_UNION_TYPE_P(TREE_TYPE(to));
}

/* "class.1._data = list": what a dummy of CLASS is given, for a call. */
static bool is_data_of_class(tree to, tree from)
{
    tree base = pm_base_of(to);
    return TREE_CODE(to) == COMPONENT_REF && VAR_P(base) && DECL_ARTIFICIAL(base) &&
           pm_fact_is_of_class(TREE_TYPE(base)) && pm_fact_is_descriptor(TREE_TYPE(from));
}

void pm_reader_note_descriptor(struct pm_reader *reader, gimple *stmt)
{
    tree callee = is_gimple_call(stmt) ? gimple_call_fndecl(stmt) : NULL_TREE;
    if (!pm_fact_is_fortran())
        return;
    if (callee != NULL_TREE && fndecl_built_in_p(callee, BUILT_IN_MEMCPY)) {
        tree to = gimple_call_arg(stmt, 0);
        if (TREE_CODE(to) == ADDR_EXPR)
            note_descriptor(reader, TREE_OPERAND(to, 0), gimple_call_arg(stmt, 1));
    } else if (is_gimple_assign(stmt) && gimple_assign_single_p(stmt)) {
        tree from = gimple_assign_rhs1(stmt);
        bool is_made = VAR_P(from) && DECL_ARTIFICIAL(from) && AGGREGATE_TYPE_P(TREE_TYPE(from));
        if (is_made || is_data_of_class(gimple_assign_lhs(stmt), from))
            note_descriptor(reader, gimple_assign_lhs(stmt), build_fold_addr_expr(from));
        if (is_object_of_call(gimple_assign_lhs(stmt), from))
            reader->given[DECL_UID(gimple_assign_lhs(stmt))].push_back(
                build_fold_addr_expr(TREE_OPERAND(from, 0)));
        if (pm_fact_is_array_pointer(TREE_TYPE(from)) || is_associated(gimple_assign_lhs(stmt)))
            note_array_pointer(reader, gimple_assign_lhs(stmt), from);
    }
}

/* "return rows[i]", "return v": who works on what the function returns works on rows, and on what
 * v holds. */
void pm_reader_note_value_returned(struct pm_reader *reader, gimple *stmt)
{
    tree value = gimple_return_retval(as_a<greturn *>(stmt));
    if (value == NULL_TREE || pm_fact_is_fortran())
        return;
    bool is_object = TREE_CODE(value) == RESULT_DECL || pm_fact_is_container(TREE_TYPE(value));
    if (is_object || (POINTER_TYPE_P(TREE_TYPE(value)) && is_address(reader, value)))
        pm_reader_refer(reader, pm_fact_returned(reader->decl), value);
}
