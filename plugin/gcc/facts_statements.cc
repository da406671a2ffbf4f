/* Statements: one noun for each statement of the source, and which variables, fields and functions
 * it reads, writes and calls.
 *
 * In GIMPLE a pointer is followed in steps (_1 = i * 8; _2 = p + _1; *_2 = x). What users mean by
 * "p[i] = x" is that what p points to is written: p is not counted as read where it only gives an
 * address, and the access through it counts as one to p (or to the field that p was loaded from).
 */
#include "facts.h"

struct statement {
    pm_id id; /* 0: no noun yet */
    struct pm_place place;
    struct pm_text_point last;
};

struct reader {
    tree decl;
    const struct pm_source_function *function;
    const std::vector<struct pm_range> *ranges;
    std::map<std::pair<unsigned, unsigned>, struct statement>
        statements;               /* by first line and column (0: languages without ranges) */
    struct statement *now, *last; /* last: of last_location */
    location_t last_location;
    int loop_now;                            /* innermost source loop, -1 none */
    std::map<unsigned, location_t> returned; /* temporaries that hold what a call returned */
    std::map<unsigned, tree> from_frames; /* and pointers of the function around: what was loaded */
    std::vector<pm_id> *referred; /* else NULL: what is touched is put there, and is no fact */
    std::map<unsigned, std::vector<tree>>
        given;      /* pointers that temporaries are given: "i ? a : b" */
    unsigned depth; /* of temporaries that are given others */
};

/* --- which statement --- */

/* "(" of if, while and switch: the front end's places are before the condition's text by so
 * much. */
enum { MAX_PARENTHESES = 1 };

static const struct pm_range *range_at(const std::vector<struct pm_range> &ranges,
                                       const struct pm_place &place)
{
    struct pm_text_point point = {place.line, place.column};
    auto after = std::upper_bound(ranges.begin(), ranges.end(), point,
                                  [](struct pm_text_point p, const struct pm_range &range) {
                                      return pm_text_point_less(p, range.first);
                                  });
    if (after == ranges.begin())
        return NULL;
    const struct pm_range *range = &*(after - 1);
    return range->file == place.file && !pm_text_point_less(range->last, point) ? range : NULL;
}

/* The source statement that a location belongs to; NULL when it has no place. */
static struct statement *find_statement(struct reader *reader, location_t location)
{
    struct pm_place place;
    if (!pm_place_of(location, &place))
        return NULL;
    const struct pm_place *head = &reader->function->place;
    if (place.line == head->line && place.column == head->column && place.file == head->file)
        return NULL; /* what the compiler does for the arguments */
    struct pm_text_point last = {place.line, place.column};
    const struct pm_range *range = reader->ranges != NULL ? range_at(*reader->ranges, place) : NULL;
    struct pm_place inside = place;
    for (int i = 0; i < MAX_PARENTHESES && range == NULL && reader->ranges != NULL; i++) {
        inside.column++;
        range = range_at(*reader->ranges, inside);
    }
    if (range != NULL) {
        place.line = range->first.line;
        place.column = range->first.column;
        last = range->last;
    }
    struct statement *statement =
        &reader->statements[{place.line, reader->ranges != NULL ? place.column : 0}];
    if (statement->place.line == 0) {
        statement->place = place;
        statement->last = last;
    }
    return statement;
}

/* What follows each other is mostly of one place. */
static struct statement *statement_of(struct reader *reader, gimple *stmt)
{
    location_t location = LOCATION_LOCUS(gimple_location(stmt));
    if (location != reader->last_location) {
        reader->last = find_statement(reader, location);
        reader->last_location = location;
    }
    return reader->last;
}

static pm_id parent_now(const struct reader *reader)
{
    return reader->loop_now >= 0 ? reader->function->loops[reader->loop_now].id
                                 : reader->function->id;
}

/* The noun is made when something is known about it. */
static pm_id statement_noun(struct reader *reader)
{
    struct statement *statement = reader->now;
    if (statement->id != 0)
        return statement->id;
    statement->id = pm_fact_statement(pm_facts_early(), reader->function, &statement->place,
                                      statement->last.line, parent_now(reader));
    return statement->id;
}

/* --- what it does --- */

enum access { READS = PM_SOURCE_READS, WRITES = PM_SOURCE_WRITES };

static void map_to(struct reader *reader, pm_id noun, enum pm_fact_verb verb)
{
    if (noun == 0)
        return;
    if (reader->referred != NULL)
        reader->referred->push_back(noun);
    else
        pm_fact_mapping(pm_facts_early(), statement_noun(reader), PM_SOURCE_EXECUTES, noun, verb);
}

static void touch(struct reader *reader, tree t, enum access access);
static void touch_target(struct reader *reader, tree pointer, enum access access);

/* The innermost field that the source has: not the parts of a descriptor or of a library's
 * class. */
static pm_id field_of(struct reader *reader, tree t, tree *ret_component)
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
static tree base_of(tree t)
{
    while (handled_component_p(t))
        t = TREE_OPERAND(t, 0);
    return t;
}

static void touch_indices(struct reader *reader, tree t)
{
    if (reader->referred != NULL)
        return;
    for (; handled_component_p(t); t = TREE_OPERAND(t, 0)) {
        if (TREE_CODE(t) == ARRAY_REF || TREE_CODE(t) == ARRAY_RANGE_REF)
            touch(reader, TREE_OPERAND(t, 1), READS);
    }
}

/* "lambda.__v = v" where the lambda is made: nothing of v is written. */
static bool makes_capture(tree t, enum access access)
{
    tree variable, function_decl;
    return access == WRITES && TREE_CODE(t) == COMPONENT_REF &&
           pm_fact_is_capture(TREE_OPERAND(t, 1), &variable, &function_decl) &&
           DECL_P(TREE_OPERAND(t, 0));
}

static void touch_component(struct reader *reader, tree t, enum access access)
{
    touch_indices(reader, t);
    tree component;
    if (makes_capture(t, access)) {
        touch(reader, base_of(t), access);
        return;
    }
    pm_id noun = field_of(reader, t, &component);
    tree of_source = noun != 0 ? component : NULL_TREE;
    map_to(reader, noun, (enum pm_fact_verb)access);
    if (noun != 0 && pm_fact_block_of(component) != NULL_TREE) {
        pm_fact_note_member(reader->last_location, component, noun, access == WRITES);
        return;
    }
    for (component = t; handled_component_p(component); component = TREE_OPERAND(component, 0)) {
        if (TREE_CODE(component) == COMPONENT_REF && component != of_source &&
            (pm_fact_block_of(component) !=
                 NULL_TREE || /* a record in a COMMON block, or of the function around */
             pm_fact_captured(TREE_OPERAND(component, 1), reader->decl) != 0)) {
            map_to(reader, pm_fact_component(component, reader->decl), (enum pm_fact_verb)access);
            return;
        }
    }
    touch(reader, base_of(t), access);
}

static gimple *definition_of(tree t)
{
    if (TREE_CODE(t) != SSA_NAME || SSA_NAME_DEF_STMT(t) == NULL ||
        !is_gimple_assign(SSA_NAME_DEF_STMT(t)))
        return NULL;
    return SSA_NAME_DEF_STMT(t);
}

/* Access through a pointer that was loaded from a field: to that field. From a descriptor's data:
 * to the array. */
static void touch_loaded(struct reader *reader, tree t, enum access access)
{
    tree component;
    pm_id noun = field_of(reader, t, &component);
    if (noun != 0)
        map_to(reader, noun, (enum pm_fact_verb)access);
    else
        touch(reader, t, access);
}

static gcall *call_of(tree t)
{
    if (TREE_CODE(t) != SSA_NAME || SSA_NAME_DEF_STMT(t) == NULL)
        return NULL;
    return dyn_cast<gcall *>(SSA_NAME_DEF_STMT(t));
}

/* What the call's result refers into. */
static void touch_sources(struct reader *reader, gcall *call, enum access access)
{
    unsigned sources = pm_fact_call_sources(call);
    for (unsigned i = 0; sources >> i != 0; i++) {
        tree argument = gimple_call_arg(call, i);
        if ((sources >> i & 1) == 0)
            continue;
        if (POINTER_TYPE_P(TREE_TYPE(argument)))
            touch_target(reader, argument, access);
        else
            touch(reader, argument, access);
    }
}

/* What a temporary of the compiler may refer to. */
static void touch_given(struct reader *reader, tree variable, enum access access)
{
    enum { DEPTH_MAX = 8 };
    auto given = reader->given.find(DECL_UID(variable));
    if (reader->referred == NULL || given == reader->given.end() || reader->depth >= DEPTH_MAX)
        return;
    reader->depth++;
    for (tree from : given->second)
        touch_target(reader, from, access);
    reader->depth--;
}

/* A function of the program's own that returns a pointer. */
static tree returning_function(gcall *call)
{
    tree callee = gimple_call_internal_p(call) ? NULL_TREE : gimple_call_fndecl(call);
    return callee != NULL_TREE && !pm_fact_is_fortran() && !fndecl_built_in_p(callee) &&
                   !in_system_header_at(DECL_SOURCE_LOCATION(callee)) &&
                   POINTER_TYPE_P(TREE_TYPE(TREE_TYPE(callee)))
               ? callee
               : NULL_TREE;
}

static void touch_returned(struct reader *reader, gcall *call)
{
    tree callee = reader->referred != NULL ? returning_function(call) : NULL_TREE;
    if (callee != NULL_TREE)
        reader->referred->push_back(pm_fact_returned(callee));
}

static void touch_behind(struct reader *reader, tree variable, enum access access)
{
    touch(reader, variable, access);
    if (DECL_P(variable))
        map_to(reader, pm_fact_behind(variable), (enum pm_fact_verb)access);
    if (VAR_P(variable) && DECL_ARTIFICIAL(variable))
        touch_given(reader, variable, access);
}

/* "D.1 = CHAIN->u; *D.1 = x": no variable of the function around is in a register here. NULL: it
 * holds no such pointer. */
static tree loaded_from_frame(const struct reader *reader, tree t)
{
    auto found = VAR_P(t) ? reader->from_frames.find(DECL_UID(t)) : reader->from_frames.end();
    return found != reader->from_frames.end() ? found->second : NULL_TREE;
}

static void touch_target(struct reader *reader, tree pointer, enum access access)
{
    STRIP_NOPS(pointer);
    if (loaded_from_frame(reader, pointer) != NULL_TREE) {
        touch_loaded(reader, loaded_from_frame(reader, pointer), access);
    } else if (TREE_CODE(pointer) == ADDR_EXPR) {
        touch_behind(reader, TREE_OPERAND(pointer, 0), access);
    } else if (DECL_P(pointer)) {
        touch_behind(reader, pointer, access);
    } else if (gcall *call = call_of(pointer)) {
        touch_sources(reader, call, access);
        touch_returned(reader, call);
    } else if (gimple *definition = definition_of(pointer)) {
        tree from = gimple_assign_rhs1(definition);
        if (TREE_CODE(from) == SSA_NAME || DECL_P(from) || TREE_CODE(from) == ADDR_EXPR)
            touch_target(reader, from, access);
        else if (handled_component_p(from) || TREE_CODE(from) == MEM_REF)
            touch_loaded(reader, from, access);
    } else if (TREE_CODE(pointer) == POINTER_PLUS_EXPR) {
        touch_target(reader, TREE_OPERAND(pointer, 0), access);
        if (reader->referred == NULL)
            touch(reader, TREE_OPERAND(pointer, 1), READS);
    }
}

static void touch(struct reader *reader, tree t, enum access access)
{
    if (t == NULL_TREE || CONSTANT_CLASS_P(t) || TYPE_P(t))
        return;
    switch (TREE_CODE(t)) {
    case VAR_DECL:
    case PARM_DECL:
        if (loaded_from_frame(reader, t) != NULL_TREE) {
            touch(reader, loaded_from_frame(reader, t), access);
            return;
        }
        map_to(reader, pm_fact_variable(t, reader->decl), (enum pm_fact_verb)access);
        if (!POINTER_TYPE_P(TREE_TYPE(t))) /* an element of a range, copied */
            map_to(reader, access == READS ? pm_fact_behind(t) : 0, PM_SOURCE_READS);
        return;
    case SSA_NAME:
        if (access == READS && POINTER_TYPE_P(TREE_TYPE(t)))
            touch_target(reader, t, READS);
        return;
    case MEM_REF:
    case TARGET_MEM_REF:
    case INDIRECT_REF:
        touch_target(reader, TREE_OPERAND(t, 0), access);
        return;
    case ADDR_EXPR:
        touch(reader, TREE_OPERAND(t, 0), access);
        return;
    case CONSTRUCTOR: {
        unsigned i;
        tree value;
        FOR_EACH_CONSTRUCTOR_VALUE(CONSTRUCTOR_ELTS(t), i, value)
        touch(reader, value, READS);
        return;
    }
    default:
        break;
    }
    if (handled_component_p(t)) {
        touch_component(reader, t, access);
    } else if (EXPR_P(t)) {
        for (int i = 0; i < TREE_OPERAND_LENGTH(t); i++)
            touch(reader, TREE_OPERAND(t, i), READS);
    }
}

/* Only the address is worked out here: the access through it comes later. */
static bool makes_address(gimple *stmt)
{
    tree lhs = gimple_assign_lhs(stmt);
    return TREE_CODE(lhs) == SSA_NAME && POINTER_TYPE_P(TREE_TYPE(lhs));
}

static void read_address(struct reader *reader, gimple *stmt)
{
    tree from = gimple_assign_rhs1(stmt);
    if (gimple_assign_rhs_code(stmt) == POINTER_PLUS_EXPR) {
        touch(reader, gimple_assign_rhs2(stmt), READS);
    } else if (TREE_CODE(from) == ADDR_EXPR) {
        touch_indices(reader, TREE_OPERAND(from, 0));
    } else if (handled_component_p(from)) {
        touch_indices(reader, from);
        tree base = base_of(from), component;
        /* The pointer's own holder is read, but a descriptor's array is what the pointer is about.
         */
        if (field_of(reader, from, &component) != 0)
            touch(reader, base, READS);
    } else if (TREE_CODE(from) == MEM_REF) {
        touch(reader, from, READS);
    }
}

/* --- what refers into containers --- */

/* The container (or the array) that an address leads into; 0: none, or not one. */
static pm_id noun_behind(struct reader *reader, tree t)
{
    enum { DEPTH_MAX = 20 };
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        STRIP_NOPS(t);
        tree component;
        pm_id noun = handled_component_p(t) ? field_of(reader, t, &component) : 0;
        if (noun != 0)
            return noun;
        if (TREE_CODE(t) == ADDR_EXPR) {
            t = TREE_OPERAND(t, 0);
        } else if (handled_component_p(t)) {
            t = base_of(t);
        } else if (TREE_CODE(t) == MEM_REF || TREE_CODE(t) == INDIRECT_REF) {
            t = TREE_OPERAND(t, 0);
        } else if (DECL_P(t)) {
            pm_id further = pm_fact_behind(t);
            return further != 0 ? further : pm_fact_variable(t, reader->decl);
        } else if (gcall *call = call_of(t)) {
            if (pm_fact_call_sources(call) != 1)
                return 0;
            t = gimple_call_arg(call, 0);
        } else if (gimple *definition = definition_of(t)) {
            t = gimple_assign_rhs1(definition);
        } else {
            return 0;
        }
    }
    return 0;
}

/* The compiler's own iterators and references are the container itself. */
static void note_behind(struct reader *reader, tree to, tree from)
{
    if (!VAR_P(to) || pm_fact_is_fortran())
        return;
    pm_id noun = noun_behind(reader, from);
    if (noun == 0)
        return;
    if (DECL_ARTIFICIAL(to))
        pm_fact_variable_is(to, noun);
    else if (pm_fact_variable(to, reader->decl) != noun)
        pm_fact_note_behind(to, noun);
}

/* __for_range, __for_begin, __for_end */
static bool is_range_name(tree variable)
{
    return DECL_ARTIFICIAL(variable) && DECL_NAME(variable) != NULL_TREE &&
           strncmp(IDENTIFIER_POINTER(DECL_NAME(variable)), "__for_", 6) == 0;
}

static bool is_range_iterator(tree t)
{
    STRIP_NOPS(t);
    if (TREE_CODE(t) == ADDR_EXPR)
        t = TREE_OPERAND(t, 0);
    return VAR_P(t) && is_range_name(t);
}

/* "for (double x : v)": x is what v holds. */
static bool is_element_of_range(tree from)
{
    if (TREE_CODE(from) != MEM_REF && TREE_CODE(from) != INDIRECT_REF)
        return false;
    tree pointer = TREE_OPERAND(from, 0);
    gcall *call = call_of(pointer);
    if (call != NULL && gimple_call_num_args(call) > 0)
        pointer = gimple_call_arg(call, 0);
    else if (gimple *definition = definition_of(pointer))
        pointer = gimple_assign_rhs1(definition);
    return is_range_iterator(pointer);
}

static void note_reference(struct reader *reader, gimple *assign)
{
    tree to = gimple_assign_lhs(assign), from = gimple_assign_rhs1(assign);
    if (!VAR_P(to) || !gimple_assign_single_p(assign))
        return;
    bool refers = TREE_CODE(TREE_TYPE(to)) == REFERENCE_TYPE ||
                  (POINTER_TYPE_P(TREE_TYPE(to)) && is_range_name(to)) ||
                  (POINTER_TYPE_P(TREE_TYPE(to)) && call_of(from) != NULL) ||
                  (!DECL_ARTIFICIAL(to) && is_element_of_range(from));
    if (refers)
        note_behind(reader, to, from);
}

static void note_result(struct reader *reader, gcall *call)
{
    tree to = gimple_call_lhs(call);
    if (to != NULL_TREE && VAR_P(to) && pm_fact_call_sources(call) == 1)
        note_behind(reader, to, gimple_call_arg(call, 0));
}

/* "span part(v)": what is done through part is done with v. */
static void note_constructed(struct reader *reader, gcall *call)
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

/* --- who keeps what a call returned --- */

/* Copies are propagated before code is optimised much: "temporary = malloc(n); own = temporary"
 * leaves no trace of "own", unless it is noted here. By the place of the call; 0: several
 * variables. */
static std::map<location_t, pm_id> keepers;

pm_id pm_fact_keeper(location_t call)
{
    auto found = keepers.find(LOCATION_LOCUS(call));
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
static pm_id keeping_noun(struct reader *reader, tree to)
{
    tree component;
    if (VAR_P(to))
        return pm_fact_variable(to, reader->decl);
    if (TREE_CODE(to) != COMPONENT_REF || !VAR_P(base_of(to)))
        return 0;
    pm_id noun = field_of(reader, to, &component);
    return noun != 0 ? noun : pm_fact_variable(base_of(to), reader->decl);
}

static void note_returned(struct reader *reader, gimple *call)
{
    tree to = gimple_call_lhs(call);
    if (to == NULL_TREE || !POINTER_TYPE_P(TREE_TYPE(to)) || !gimple_has_location(call))
        return;
    location_t location = LOCATION_LOCUS(gimple_location(call));
    pm_id noun = is_temporary(to) ? 0 : keeping_noun(reader, to);
    if (is_temporary(to))
        reader->returned[temporary_key(to)] = location;
    else if (noun != 0)
        add_keeper(location, noun);
}

static void note_kept(struct reader *reader, gimple *assign)
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

/* An iterator of the compiler's stands for its container, which is not written when the iterator
 * is. */
static void touch_result(struct reader *reader, tree to)
{
    if (!(VAR_P(to) && (is_range_name(to) || pm_fact_is_way(to))))
        touch(reader, to, WRITES);
}

/* --- what pointers refer to --- */

/* The variables and fields that an address leads into. */
static std::vector<pm_id> objects_behind(struct reader *reader, tree pointer)
{
    std::vector<pm_id> objects;
    reader->referred = &objects;
    STRIP_NOPS(pointer);
    if (handled_component_p(pointer))
        touch_loaded(reader, pointer, READS);
    else
        touch_target(reader, pointer, READS);
    reader->referred = NULL;
    return objects;
}

/* The functions whose address a pointer is. */
static void find_functions(const struct reader *reader, tree t, unsigned depth,
                           std::vector<tree> *out)
{
    enum { DEPTH_MAX = 8 };
    STRIP_NOPS(t);
    if (depth == DEPTH_MAX)
        return;
    if (TREE_CODE(t) == ADDR_EXPR && TREE_CODE(TREE_OPERAND(t, 0)) == FUNCTION_DECL) {
        out->push_back(TREE_OPERAND(t, 0));
    } else if (TREE_CODE(t) == ADDR_EXPR) {
        find_functions(reader, TREE_OPERAND(t, 0), depth + 1, out);
    } else if (VAR_P(t)) {
        auto given = reader->given.find(DECL_UID(t));
        if (given != reader->given.end())
            for (tree from : given->second)
                find_functions(reader, from, depth + 1, out);
    } else if (gimple *definition = definition_of(t)) {
        find_functions(reader, gimple_assign_rhs1(definition), depth + 1, out);
    }
}

static bool is_method_type(tree function_decl)
{
    return TREE_CODE(TREE_TYPE(function_decl)) == METHOD_TYPE;
}

/* What is done through the pointer is done with what the value refers to, and calls through it
 * are of the functions that the value holds. */
static void refer(struct reader *reader, pm_id pointer, tree value)
{
    std::vector<tree> functions;
    for (pm_id object : objects_behind(reader, value)) {
        pm_fact_refers(pointer, object);
        pm_fact_holds_pointer(pointer, object, TREE_TYPE(value));
    }
    find_functions(reader, value, 0, &functions);
    unsigned before = pm_fact_is_std_function(TREE_TYPE(value)) ? 1 : 0;
    for (tree function_decl : functions)
        pm_fact_holds_function(pointer, function_decl, is_method_type(function_decl) ? 0 : before);
}

/* An address, or the value of a pointer of the source, perhaps with a distance added. */
static bool is_address(struct reader *reader, tree t)
{
    STRIP_NOPS(t);
    if (handled_component_p(t))
        return true;
    if (DECL_P(t)) /* in Fortran also the data of a dummy array */
        return TREE_CODE(t) != FUNCTION_DECL &&
               (loaded_from_frame(reader, t) != NULL_TREE || !DECL_ARTIFICIAL(t) ||
                reader->given.count(DECL_UID(t)) != 0 ||
                (pm_fact_is_fortran() && pm_fact_variable(t, reader->decl) != 0));
    if (TREE_CODE(t) == ADDR_EXPR)
        return TREE_CODE(TREE_OPERAND(t, 0)) != STRING_CST;
    if (gcall *call = call_of(t))
        return pm_fact_call_sources(call) != 0 || returning_function(call) != NULL_TREE;
    gimple *definition = definition_of(t);
    bool steps = definition != NULL &&
                 (gimple_assign_single_p(definition) || gimple_assign_cast_p(definition) ||
                  gimple_assign_rhs_code(definition) == POINTER_PLUS_EXPR);
    return steps && is_address(reader, gimple_assign_rhs1(definition));
}

/* "i ? a : b", and what is returned: temporaries that the compiler gives a value in several
 * places. */
static void note_given(struct reader *reader, tree to, tree from)
{
    if (VAR_P(to) && !pm_fact_is_fortran() && is_address(reader, from))
        reader->given[DECL_UID(to)].push_back(from);
}

/* "job.data = u", "p = rows[k]", "rows[i] = u + i * n": what is done through the first is done
 * with the second. */
static void note_pointed(struct reader *reader, gimple *assign)
{
    tree to = gimple_assign_lhs(assign), from = gimple_assign_rhs1(assign);
    if (TREE_CODE(to) == SSA_NAME || !POINTER_TYPE_P(TREE_TYPE(to)))
        return;
    if (DECL_P(to) && DECL_ARTIFICIAL(to)) {
        note_given(reader, to, from);
        return;
    }
    if (!is_address(reader, from))
        return;
    std::vector<pm_id> holders;
    tree base = base_of(to);
    if (base != to && VAR_P(base) &&
        DECL_ARTIFICIAL(base)) { /* a descriptor, or a view, for a call */
        bool is_way = pm_fact_is_way(base);
        std::vector<pm_id> objects = objects_behind(reader, from);
        if (objects.size() == 1 && (is_way || pm_fact_is_fortran()))
            pm_fact_note_behind(base, objects[0]);
        if (!is_way)
            return;
    }
    reader->referred = &holders;
    touch(reader, to, WRITES);
    reader->referred = NULL;
    if (!holders.empty())
        refer(reader, holders[0], from);
}

/* "return rows[i]": who works on what the function returns works on rows. */
static void note_value_returned(struct reader *reader, gimple *stmt)
{
    tree value = gimple_return_retval(as_a<greturn *>(stmt));
    if (value != NULL_TREE && !pm_fact_is_fortran() && POINTER_TYPE_P(TREE_TYPE(value)) &&
        is_address(reader, value))
        refer(reader, pm_fact_returned(reader->decl), value);
}

/* The parameter of whatever function is called. */
static std::vector<pm_id> parameters_of(struct reader *reader, gcall *call, unsigned index)
{
    tree callee = gimple_call_fndecl(call), pointer = gimple_call_fn(call);
    std::vector<pm_id> parameters;
    if (callee != NULL_TREE && pm_fact_calls_std_function(callee)) {
        for (pm_id holder : objects_behind(reader, gimple_call_arg(call, 0)))
            parameters.push_back(pm_id_of_pointed(holder, index));
    } else if (callee != NULL_TREE) {
        if (!fndecl_built_in_p(callee))
            parameters.push_back(pm_fact_parameter(callee, index));
    } else if (TREE_CODE(pointer) == OBJ_TYPE_REF) {
        parameters.push_back(pm_fact_virtual_parameter(pointer, index));
    } else {
        std::vector<tree> functions; /* a constant table that the front end has looked into */
        find_functions(reader, pointer, 0, &functions);
        for (tree function_decl : functions)
            parameters.push_back(pm_fact_parameter(function_decl, index));
        for (pm_id holder : objects_behind(reader, pointer))
            parameters.push_back(pm_id_of_pointed(holder, index));
    }
    return parameters;
}

static void note_passed(struct reader *reader, gcall *call, unsigned index)
{
    tree argument = gimple_call_arg(call, index);
    bool refers = POINTER_TYPE_P(TREE_TYPE(argument)) || pm_fact_type_refers(TREE_TYPE(argument));
    if (!refers || integer_zerop(argument))
        return;
    for (pm_id parameter : parameters_of(reader, call, index)) {
        if (parameter == 0)
            continue;
        refer(reader, parameter, argument);
        if (pm_fact_leads_to_this(argument, reader->decl) &&
            objects_behind(reader, argument).empty())
            pm_fact_refers(parameter, pm_fact_this(reader->decl));
    }
}

/* A lambda's or a function object's own function; NULL_TREE: it is none, or a template. */
static tree call_operator(tree type)
{
    if (POINTER_TYPE_P(type))
        type = TREE_TYPE(type);
    if (!RECORD_OR_UNION_TYPE_P(type))
        return NULL_TREE;
    for (tree member = TYPE_FIELDS(type); member != NULL_TREE; member = DECL_CHAIN(member))
        if (TREE_CODE(member) == FUNCTION_DECL &&
            strcmp(IDENTIFIER_POINTER(DECL_NAME(member)), "operator()") == 0)
            return member;
    return NULL_TREE;
}

static void note_called_back(struct reader *reader, gcall *call, tree called)
{
    bool is_method = is_method_type(called);
    unsigned parameter = is_method; /* what a lambda captured is known */
    tree of = TYPE_ARG_TYPES(TREE_TYPE(called));
    for (of = is_method ? TREE_CHAIN(of) : of; of != NULL_TREE; of = TREE_CHAIN(of), parameter++) {
        if (!POINTER_TYPE_P(TREE_VALUE(of)))
            continue;
        for (unsigned i = 0; i < gimple_call_num_args(call); i++)
            if (pm_fact_is_called_back_with(call, called, parameter, i))
                refer(reader, pm_fact_parameter(called, parameter), gimple_call_arg(call, i));
    }
}

/* "std::function<...> f = compare": calls through f are of compare. */
static void note_held(struct reader *reader, gcall *call, tree function_decl)
{
    tree object = gimple_call_arg(call, 0);
    STRIP_NOPS(object);
    if (TREE_CODE(object) == ADDR_EXPR && VAR_P(TREE_OPERAND(object, 0)) &&
        DECL_ARTIFICIAL(TREE_OPERAND(object, 0)))
        reader->given[DECL_UID(TREE_OPERAND(object, 0))].push_back(
            build_fold_addr_expr(function_decl));
    for (pm_id holder : objects_behind(reader, object))
        pm_fact_holds_function(holder, function_decl, is_method_type(function_decl) ? 0 : 1);
}

static bool gives_function(gcall *call)
{
    tree callee = gimple_call_fndecl(call);
    return gimple_call_num_args(call) > 1 && pm_fact_is_std_function(DECL_CONTEXT(callee)) &&
           (DECL_CXX_CONSTRUCTOR_P(callee) ||
            strcmp(IDENTIFIER_POINTER(DECL_NAME(callee)), "operator=") == 0);
}

/* "qsort(keys, n, size, compare)", "std::sort(v.begin(), v.end(), compare)" */
static void note_callbacks(struct reader *reader, gcall *call)
{
    tree callee = gimple_call_fndecl(call);
    if (callee == NULL_TREE || !in_system_header_at(DECL_SOURCE_LOCATION(callee)))
        return;
    for (unsigned i = 0; i < gimple_call_num_args(call); i++) {
        tree argument = gimple_call_arg(call, i), called = call_operator(TREE_TYPE(argument));
        std::vector<tree> functions;
        find_functions(reader, argument, 0, &functions);
        if (called != NULL_TREE)
            functions.push_back(called);
        for (tree function_decl : functions)
            if (gives_function(call))
                note_held(reader, call, function_decl);
            else
                note_called_back(reader, call, function_decl);
    }
}

static bool keep_from_frame(struct reader *reader, gimple *stmt)
{
    tree to = gimple_assign_lhs(stmt), from = gimple_assign_rhs1(stmt);
    if (!gimple_assign_single_p(stmt) || !VAR_P(to) || !DECL_ARTIFICIAL(to) ||
        !POINTER_TYPE_P(TREE_TYPE(to)) || TREE_CODE(from) != COMPONENT_REF ||
        pm_fact_captured(TREE_OPERAND(from, 1), reader->decl) == 0)
        return false;
    reader->from_frames[DECL_UID(to)] = from;
    return true;
}

static void read_assign(struct reader *reader, gimple *stmt)
{
    if (gimple_clobber_p(stmt) || keep_from_frame(reader, stmt))
        return;
    note_kept(reader, stmt);
    note_reference(reader, stmt);
    if (gimple_assign_single_p(stmt) || gimple_assign_cast_p(stmt) ||
        gimple_assign_rhs_code(stmt) == POINTER_PLUS_EXPR)
        note_pointed(reader, stmt);
    if (makes_address(stmt)) {
        read_address(reader, stmt);
        return;
    }
    for (unsigned i = 1; i < gimple_num_ops(stmt); i++)
        touch(reader, gimple_op(stmt, i), READS);
    touch_result(reader, gimple_assign_lhs(stmt));
}

static bool writes_first_argument(tree callee)
{
    if (callee != NULL_TREE && pm_fact_is_fortran() && pm_fortran_is_array_operation(callee))
        return true;
    if (callee == NULL_TREE || !fndecl_built_in_p(callee, BUILT_IN_NORMAL))
        return false;
    switch (DECL_FUNCTION_CODE(callee)) {
    case BUILT_IN_MEMCPY:
    case BUILT_IN_MEMMOVE:
    case BUILT_IN_MEMSET:
    case BUILT_IN_STRCPY:
    case BUILT_IN_STRNCPY:
        return true;
    default:
        return false;
    }
}

static void touch_argument(struct reader *reader, gcall *call, unsigned index, bool writes_first)
{
    tree argument = gimple_call_arg(call, index);
    unsigned access = pm_fact_call_access(call, index);
    if (index == 0 && writes_first)
        access = PM_CALL_WRITES;
    if (access == 0)
        touch_indices(reader,
                      TREE_CODE(argument) == ADDR_EXPR ? TREE_OPERAND(argument, 0) : argument);
    bool is_object = POINTER_TYPE_P(TREE_TYPE(argument)) && access != PM_CALL_READS;
    for (enum access way : {READS, WRITES}) {
        unsigned bit = way == WRITES ? (unsigned)PM_CALL_WRITES : (unsigned)PM_CALL_READS;
        if ((access & bit) == 0)
            continue;
        if (is_object)
            touch_target(reader, argument, way);
        else
            touch(reader, argument, way);
    }
}

static void read_call(struct reader *reader, gimple *stmt)
{
    tree callee = gimple_call_fndecl(stmt);
    bool writes_first = writes_first_argument(callee);
    for (unsigned i = 0; i < gimple_call_num_args(stmt); i++)
        touch_argument(reader, as_a<gcall *>(stmt), i, writes_first);
    if (!gimple_call_internal_p(stmt))
        for (unsigned i = 0; i < gimple_call_num_args(stmt); i++)
            note_passed(reader, as_a<gcall *>(stmt), i);
    note_callbacks(reader, as_a<gcall *>(stmt));
    note_result(reader, as_a<gcall *>(stmt));
    note_constructed(reader, as_a<gcall *>(stmt));
    if (callee != NULL_TREE)
        map_to(reader, pm_fact_external(callee), PM_SOURCE_CALLS);
    else if (!gimple_call_internal_p(stmt))
        touch(reader, gimple_call_fn(stmt), READS);
    if (gimple_call_lhs(stmt) != NULL_TREE)
        touch_result(reader, gimple_call_lhs(stmt));
    note_returned(reader, stmt);
}

static void read_omp_loop(struct reader *reader, gimple *stmt)
{
    for (unsigned i = 0; i < gimple_omp_for_collapse(stmt); i++) {
        touch(reader, gimple_omp_for_index(stmt, i), WRITES);
        touch(reader, gimple_omp_for_initial(stmt, i), READS);
        touch(reader, gimple_omp_for_final(stmt, i), READS);
    }
}

static void read_operands(struct reader *reader, gimple *stmt)
{
    for (unsigned i = 0; i < gimple_num_ops(stmt); i++)
        touch(reader, gimple_op(stmt, i), READS);
}

static void read_asm(struct reader *reader, gasm *stmt)
{
    for (unsigned i = 0; i < gimple_asm_noutputs(stmt); i++)
        touch(reader, TREE_VALUE(gimple_asm_output_op(stmt, i)), WRITES);
    for (unsigned i = 0; i < gimple_asm_ninputs(stmt); i++)
        touch(reader, TREE_VALUE(gimple_asm_input_op(stmt, i)), READS);
}

/* An array with a size of run time is "*u.0", where "u" is the variable of the source. */
static void read_bind(struct reader *reader, gbind *bind)
{
    for (tree variable = gimple_bind_vars(bind); variable != NULL_TREE;
         variable = DECL_CHAIN(variable)) {
        if (TREE_CODE(variable) != VAR_DECL || !DECL_HAS_VALUE_EXPR_P(variable) ||
            DECL_ARTIFICIAL(variable))
            continue;
        tree value = DECL_VALUE_EXPR(variable);
        tree pointer = TREE_CODE(value) == INDIRECT_REF || TREE_CODE(value) == MEM_REF
                           ? TREE_OPERAND(value, 0)
                           : NULL_TREE;
        if (pointer != NULL_TREE && TREE_CODE(pointer) == VAR_DECL && DECL_ARTIFICIAL(pointer))
            pm_fact_variable_stands_for(pointer, variable, reader->decl);
    }
}

/* A parallel region, a task, a critical section, ...: "heat.c:34 omp parallel". */
static void read_region(struct reader *reader, gimple *stmt)
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

static void read_statement(struct reader *reader, const struct pm_linear &item)
{
    gimple *stmt = item.stmt;
    reader->loop_now = item.loop;
    if (gimple_code(stmt) == GIMPLE_BIND)
        read_bind(reader, as_a<gbind *>(stmt));
    else if (is_gimple_omp(stmt) && gimple_has_substatements(stmt) &&
             gimple_code(stmt) != GIMPLE_OMP_FOR)
        read_region(reader, stmt);
    reader->now = statement_of(reader, stmt);
    if (reader->now == NULL)
        return;
    if (makes_code(stmt)) /* samples may find it, whether or not it touches anything */
        statement_noun(reader);
    switch (gimple_code(stmt)) {
    case GIMPLE_ASSIGN:
        read_assign(reader, stmt);
        break;
    case GIMPLE_CALL:
        read_call(reader, stmt);
        break;
    case GIMPLE_RETURN:
        note_value_returned(reader, stmt);
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
        touch_target(reader, gimple_omp_atomic_load_rhs(as_a<gomp_atomic_load *>(stmt)), READS);
        touch_target(reader, gimple_omp_atomic_load_rhs(as_a<gomp_atomic_load *>(stmt)), WRITES);
        break;
    default:
        break;
    }
}

/* --- what the late passes ask --- */

/* 24 bytes a statement: 2 MB for SQLite. */
static struct pm_table<const struct pm_source_function *, struct pm_statements *>
    statements_by_function;

static void keep_statements(const struct reader *reader)
{
    struct pm_statements **entry = statements_by_function.add(reader->function, NULL);
    if (*entry == NULL)
        *entry = new pm_statements();
    struct pm_statements *kept = *entry;
    kept->by_line = reader->ranges == NULL;
    kept->list.clear();
    kept->list.reserve(reader->statements.size());
    for (const auto &entry : reader->statements) {
        const struct statement &statement = entry.second;
        if (statement.id != 0)
            kept->list.push_back({statement.place.file,
                                  {statement.place.line, statement.place.column},
                                  statement.last});
    }
}

const struct pm_statements *pm_statements_of(const struct pm_source_function *function)
{
    struct pm_statements **found = statements_by_function.find(function);
    return found != NULL ? *found : NULL;
}

static int statement_holding(const struct pm_statements *statements, const struct pm_place *place)
{
    struct pm_text_point point = {place->line, statements->by_line ? UINT_MAX : place->column};
    auto after = std::upper_bound(statements->list.begin(), statements->list.end(), point,
                                  [](struct pm_text_point p, const struct pm_range &range) {
                                      return pm_text_point_less(p, range.first);
                                  });
    if (after == statements->list.begin())
        return -1;
    const struct pm_range *range = &*(after - 1);
    bool holds = statements->by_line ? range->first.line == place->line
                                     : !pm_text_point_less(range->last, point);
    return holds && range->file == place->file ? (int)(after - 1 - statements->list.begin()) : -1;
}

int pm_statement_at(const struct pm_statements *statements, const struct pm_place *place)
{
    struct pm_place inside = *place;
    int at = statement_holding(statements, &inside);
    for (int i = 0; i < MAX_PARENTHESES && at < 0 && !statements->by_line; i++) {
        inside.column++;
        at = statement_holding(statements, &inside);
    }
    return at;
}

void pm_fact_statements(tree function_decl, const std::vector<struct pm_linear> &code)
{
    struct reader reader = {};
    reader.decl = function_decl;
    reader.function = pm_source_function_of(function_decl);
    reader.ranges = pm_ranges_of(function_decl);
    for (const struct pm_linear &item : code)
        read_statement(&reader, item);
    pm_fact_parameters(function_decl);
    keep_statements(&reader);
}
