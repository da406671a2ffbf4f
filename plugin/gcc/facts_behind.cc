/* Which containers iterators and references of a function refer into, and which variables keep
 * what its calls returned. */
#include "facts_reader.h"

/* --- what refers into containers --- */

/* "auto &name = v": what is done through it is done with v, and with what the source calls it. */
static bool is_name(tree variable)
{
    tree type = TREE_TYPE(variable);
    return VAR_P(variable) && !DECL_ARTIFICIAL(variable) && TREE_CODE(type) == REFERENCE_TYPE &&
           (pm_fact_is_container(type) || TREE_CODE(TREE_TYPE(type)) == ARRAY_TYPE);
}

/* The container (or the array) that an address leads into; 0: none, or not one. */
static pm_id noun_behind(struct pm_reader *reader, tree t)
{
    enum { DEPTH_MAX = 20 };
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        STRIP_NOPS(t);
        tree component;
        pm_id noun = handled_component_p(t) ? pm_reader_field_of(reader, t, &component) : 0;
        if (noun != 0)
            return noun;
        if (TREE_CODE(t) == ADDR_EXPR) {
            t = TREE_OPERAND(t, 0);
        } else if (handled_component_p(t)) {
            t = pm_base_of(t);
        } else if (TREE_CODE(t) == MEM_REF || TREE_CODE(t) == INDIRECT_REF) {
            t = TREE_OPERAND(t, 0);
        } else if (DECL_P(t)) {
            pm_id further = is_name(t) ? 0 : pm_fact_behind(t);
            return further != 0 ? further : pm_fact_variable(t, reader->decl);
        } else if (gcall *call = pm_call_of(t)) {
            if (pm_fact_call_sources(call) != 1)
                return 0;
            t = gimple_call_arg(call, 0);
        } else if (gimple *definition = pm_definition_of(t)) {
            t = gimple_assign_rhs1(definition);
        } else {
            return 0;
        }
    }
    return 0;
}

/* A reference to a constant address may be left in no other statement. */
static void note_name(struct pm_reader *reader, tree to, tree from, pm_id noun)
{
    pm_id name = pm_fact_variable(to, reader->decl);
    pm_fact_note_name(name, noun);
    pm_fact_refers(name, noun);
    if (TREE_CODE(from) == ADDR_EXPR && TREE_CONSTANT(from))
        reader->names[noun] = name;
}

/* The compiler's own iterators and references are the container itself. */
static void note_behind(struct pm_reader *reader, tree to, tree from)
{
    if (!VAR_P(to) || pm_fact_is_fortran())
        return;
    pm_id noun = noun_behind(reader, from);
    if (noun == 0)
        return;
    if (DECL_ARTIFICIAL(to)) {
        pm_fact_variable_is(to, noun);
        if (pm_fact_named(noun) != 0)
            pm_fact_note_behind(to, pm_fact_named(noun));
    } else if (pm_fact_variable(to, reader->decl) != noun) {
        pm_fact_note_behind(to, noun);
        if (is_name(to))
            note_name(reader, to, from, noun);
    }
}

/* __for_range, __for_begin, __for_end */
bool pm_is_range_name(tree variable)
{
    return DECL_ARTIFICIAL(variable) && DECL_NAME(variable) != NULL_TREE &&
           strncmp(IDENTIFIER_POINTER(DECL_NAME(variable)), "__for_", 6) == 0;
}

static bool is_range_iterator(tree t)
{
    STRIP_NOPS(t);
    if (TREE_CODE(t) == ADDR_EXPR)
        t = TREE_OPERAND(t, 0);
    return VAR_P(t) && pm_is_range_name(t);
}

/* "for (double x : v)": x is what v holds. */
static bool is_element_of_range(tree from)
{
    if (TREE_CODE(from) != MEM_REF && TREE_CODE(from) != INDIRECT_REF)
        return false;
    tree pointer = TREE_OPERAND(from, 0);
    gcall *call = pm_call_of(pointer);
    if (call != NULL && gimple_call_num_args(call) > 0)
        pointer = gimple_call_arg(call, 0);
    else if (gimple *definition = pm_definition_of(pointer))
        pointer = gimple_assign_rhs1(definition);
    return is_range_iterator(pointer);
}

void pm_reader_note_reference(struct pm_reader *reader, gimple *assign)
{
    tree to = gimple_assign_lhs(assign), from = gimple_assign_rhs1(assign);
    if (!VAR_P(to) || !gimple_assign_single_p(assign))
        return;
    bool refers = TREE_CODE(TREE_TYPE(to)) == REFERENCE_TYPE ||
                  (POINTER_TYPE_P(TREE_TYPE(to)) && pm_is_range_name(to)) ||
                  (POINTER_TYPE_P(TREE_TYPE(to)) && pm_call_of(from) != NULL) ||
                  (!DECL_ARTIFICIAL(to) && is_element_of_range(from));
    if (refers)
        note_behind(reader, to, from);
}

/* "v | std::views::filter(f)": what the view leads into. NULL: it is another call. */
static tree viewed_by(gcall *call)
{
    if (!pm_fact_is_view_of_ranges(TREE_TYPE(gimple_call_lhs(call))))
        return NULL_TREE;
    for (unsigned i = 0; i < gimple_call_num_args(call); i++) {
        tree argument = gimple_call_arg(call, i), type = TREE_TYPE(argument);
        if (POINTER_TYPE_P(type))
            type = TREE_TYPE(type);
        if (pm_fact_is_container(type) || pm_fact_is_view_of_ranges(type))
            return argument;
    }
    return NULL_TREE;
}

void pm_reader_note_result(struct pm_reader *reader, gcall *call)
{
    tree to = gimple_call_lhs(call), component;
    tree viewed = to != NULL_TREE && VAR_P(to) ? viewed_by(call) : NULL_TREE;
    if (viewed != NULL_TREE)
        note_behind(reader, to, viewed);
    if (viewed != NULL_TREE || to == NULL_TREE || pm_fact_call_sources(call) != 1)
        return;
    if (VAR_P(to))
        note_behind(reader, to, gimple_call_arg(call, 0));
    else if (TREE_CODE(to) == COMPONENT_REF) /* "job.at = v.begin()"; variables of coroutines */
        pm_reader_refer(reader, pm_reader_field_of(reader, to, &component),
                        gimple_call_arg(call, 0));
}

/* "span part(v)": what is done through part is done with v. */
void pm_reader_note_constructed(struct pm_reader *reader, gcall *call)
{
    tree callee = gimple_call_fndecl(call);
    if (callee == NULL_TREE || !DECL_CXX_CONSTRUCTOR_P(callee) || gimple_call_num_args(call) < 2)
        return;
    tree object = gimple_call_arg(call, 0), from = gimple_call_arg(call, 1);
    if (TREE_CODE(object) != ADDR_EXPR || !POINTER_TYPE_P(TREE_TYPE(from)) ||
        !pm_fact_type_refers(TREE_TYPE(TREE_OPERAND(object, 0))))
        return;
    note_behind(reader, TREE_OPERAND(object, 0), from);
}

/* --- descriptors that gfortran makes for a call --- */

static std::map<unsigned, std::vector<pm_id>> made; /* by DECL_UID */

void pm_fact_note_made(tree descriptor, const std::vector<pm_id> &objects)
{
    std::vector<pm_id> &known = made[DECL_UID(descriptor)];
    for (pm_id object : objects)
        if (std::find(known.begin(), known.end(), object) == known.end())
            known.push_back(object);
}

std::vector<pm_id> pm_fact_made_for(tree descriptor)
{
    auto found = made.find(DECL_UID(descriptor));
    if (found != made.end())
        return found->second;
    pm_id behind = pm_fact_behind(descriptor);
    return behind != 0 ? std::vector<pm_id>{behind} : std::vector<pm_id>();
}

/* --- who keeps what a call returned --- */

/* Copies are propagated before code is optimised much: "temporary = malloc(n); own = temporary"
 * leaves no trace of "own", unless it is noted here. By the place of the call, without its range,
 * which it loses on the way (gfortran 15 has ranges); 0: several variables. */
static std::map<location_t, pm_id> keepers;

pm_id pm_fact_keeper(location_t call)
{
    auto found = keepers.find(get_pure_location(line_table, call));
    return found != keepers.end() ? found->second : 0;
}

static unsigned temporary_key(tree t)
{
    return TREE_CODE(t) == SSA_NAME ? SSA_NAME_VERSION(t) * 2 + 1 : DECL_UID(t) * 2;
}

static bool is_temporary(tree t)
{
    return t != NULL_TREE && POINTER_TYPE_P(TREE_TYPE(t)) &&
           (TREE_CODE(t) == SSA_NAME || (VAR_P(t) && DECL_ARTIFICIAL(t)));
}

static void add_keeper(location_t call, pm_id noun)
{
    auto entry = keepers.insert({call, noun});
    if (entry.first->second != noun)
        entry.first->second = 0;
}

/* The variable, or the one whose part (the data of an allocatable array) it is: parts may become
 * variables of their own. */
static pm_id keeping_noun(struct pm_reader *reader, tree to)
{
    tree component;
    if (VAR_P(to))
        return pm_fact_variable(to, reader->decl);
    if (TREE_CODE(to) != COMPONENT_REF || !VAR_P(pm_base_of(to)))
        return 0;
    pm_id noun = pm_reader_field_of(reader, to, &component);
    return noun != 0 ? noun : pm_fact_variable(pm_base_of(to), reader->decl);
}

void pm_reader_note_returned(struct pm_reader *reader, gimple *call)
{
    tree to = gimple_call_lhs(call);
    if (to == NULL_TREE || !POINTER_TYPE_P(TREE_TYPE(to)) || !gimple_has_location(call))
        return;
    location_t location = get_pure_location(line_table, gimple_location(call));
    pm_id noun = is_temporary(to) ? 0 : keeping_noun(reader, to);
    if (is_temporary(to))
        reader->returned[temporary_key(to)] = location;
    else if (noun != 0)
        add_keeper(location, noun);
}

void pm_reader_note_kept(struct pm_reader *reader, gimple *assign)
{
    tree from = gimple_assign_rhs1(assign), to = gimple_assign_lhs(assign);
    if (!is_temporary(from) || !(gimple_assign_single_p(assign) || gimple_assign_cast_p(assign)))
        return;
    auto returned = reader->returned.find(temporary_key(from));
    if (returned == reader->returned.end())
        return;
    pm_id noun = keeping_noun(reader, to);
    if (noun != 0)
        add_keeper(returned->second, noun);
    else if (is_temporary(to))
        reader->returned[temporary_key(to)] = returned->second;
}
