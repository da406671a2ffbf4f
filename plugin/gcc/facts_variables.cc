/* Nouns of variables, struct fields and their types. How they are named: docs/formats/pif-names.md.
 */

#include "facts.h"

/* lto1 speaks no language of its own; what it reads is taken for Fortran when all of it is. */
static bool is_fortran(void)
{
    static int known = -1;
    if (known < 0) {
        bool all = strncmp(lang_hooks.name, "GNU Fortran", 11) == 0;
        unsigned i;
        tree unit;
        if (in_lto_p) {
            all = vec_safe_length(all_translation_units) > 0;
            FOR_EACH_VEC_SAFE_ELT(all_translation_units, i, unit) {
                const char *language = TRANSLATION_UNIT_LANGUAGE(unit);
                all = all && language != NULL && strncmp(language, "GNU Fortran", 11) == 0;
            }
        }
        known = all;
    }
    return known != 0;
}

bool pm_fact_is_fortran(void)
{
    return is_fortran();
}

static bool has_name(tree decl)
{
    return pm_written_name(decl)[0] != 0;
}

/* --- types --- */

static tree without_reference(tree type)
{
    return TREE_CODE(type) == REFERENCE_TYPE || (POINTER_TYPE_P(type) && is_fortran())
               ? TREE_TYPE(type)
               : type;
}

/* gfortran makes arrays of any rank flat; for the debugger it hangs the true type on the flat one's
 * name. */
static tree unflattened(tree type)
{
    tree name = TREE_CODE(type) == ARRAY_TYPE ? TYPE_NAME(type) : NULL_TREE;
    bool hung = name != NULL_TREE && TREE_CODE(name) == TYPE_DECL && DECL_NAME(name) == NULL_TREE &&
                TREE_TYPE(name) != NULL_TREE && TREE_CODE(TREE_TYPE(name)) == ARRAY_TYPE;
    return hung ? TREE_TYPE(name) : type;
}

/* gfortran's descriptor of an allocatable, pointer or assumed-shape array. */
bool pm_fact_is_descriptor(tree type)
{
    if (!is_fortran() || TREE_CODE(type) != RECORD_TYPE || TYPE_NAME(type) == NULL_TREE)
        return false;
    tree name = TYPE_NAME(type);
    if (TREE_CODE(name) == TYPE_DECL)
        name = DECL_NAME(name);
    return name != NULL_TREE && strncmp(IDENTIFIER_POINTER(name), "array", 5) == 0 &&
           ISDIGIT(IDENTIFIER_POINTER(name)[5]);
}

static const char *record_name(tree type)
{
    tree name = TYPE_NAME(type);
    if (name != NULL_TREE && TREE_CODE(name) == TYPE_DECL)
        name = DECL_NAME(name);
    return name != NULL_TREE ? IDENTIFIER_POINTER(name) : "";
}

bool pm_fact_is_of_class(tree type)
{
    return is_fortran() && TREE_CODE(type) == RECORD_TYPE &&
           strncmp(record_name(type), "__class_", 8) == 0;
}

bool pm_fact_in_descriptor(tree t)
{
    for (; handled_component_p(t); t = TREE_OPERAND(t, 0))
        if (TREE_CODE(t) == COMPONENT_REF &&
            (pm_fact_is_descriptor(TREE_TYPE(TREE_OPERAND(t, 0))) ||
             pm_fact_is_of_class(TREE_TYPE(TREE_OPERAND(t, 0)))))
            return true;
    return false;
}

bool pm_fact_is_transfer(tree type)
{
    return is_fortran() && TREE_CODE(type) == RECORD_TYPE &&
           strcmp(record_name(type), "__st_parameter_dt") == 0;
}

/* What the source may point elsewhere: the data of others is "void * restrict". */
bool pm_fact_is_array_pointer(tree type)
{
    return pm_fact_is_descriptor(type) && TYPE_FIELDS(type) != NULL_TREE &&
           POINTER_TYPE_P(TREE_TYPE(TYPE_FIELDS(type))) &&
           !TYPE_RESTRICT(TREE_TYPE(TYPE_FIELDS(type)));
}

static std::string type_name(tree type);
static std::string anonymous_name(tree type, const struct pm_place *place_of_field);

static std::string printed(tree type)
{
    static const struct pm_place nowhere = {NULL, NULL, 0, 0};
    if (RECORD_OR_UNION_TYPE_P(type) && type_name(TYPE_MAIN_VARIANT(type)).empty())
        return anonymous_name(TYPE_MAIN_VARIANT(type), &nowhere);
    bool is_class = RECORD_OR_UNION_TYPE_P(type) && strncmp(lang_hooks.name, "GNU C++", 7) == 0;
    if (is_class && !type_name(TYPE_MAIN_VARIANT(type)).empty())
        return (TYPE_READONLY(type) ? "const " : "") + type_name(TYPE_MAIN_VARIANT(type));
    if (POINTER_TYPE_P(type) && !TYPE_READONLY(type) && RECORD_OR_UNION_TYPE_P(TREE_TYPE(type)))
        return printed(TREE_TYPE(type)) + (TREE_CODE(type) == REFERENCE_TYPE ? " &" : " *");
    char *text = print_generic_expr_to_str(type);
    std::string copy = text;
    free(text);
    return copy;
}

/* lto1 knows the scope of a C++ type only from its mangled name. */
static std::string scoped_name(tree name)
{
    enum { TYPES = 1 | 2 | 16 }; /* DMGL_PARAMS, DMGL_ANSI, DMGL_TYPES of demangle.h */
    char *scoped = DECL_ASSEMBLER_NAME_SET_P(name) && cplus_demangle_v3
                       ? cplus_demangle_v3(pm_linkage_name(name), TYPES)
                       : NULL;
    std::string text = scoped != NULL ? scoped : IDENTIFIER_POINTER(DECL_NAME(name));
    free(scoped);
    return text;
}

/* "ns::S", or "" of a type without a name. */
static std::string type_name(tree type)
{
    tree name = TYPE_NAME(type);
    if (name == NULL_TREE)
        return "";
    tree identifier = TREE_CODE(name) == TYPE_DECL ? DECL_NAME(name) : name;
    if (identifier == NULL_TREE || IDENTIFIER_POINTER(identifier)[0] == '.' ||
        IDENTIFIER_POINTER(identifier)[0] == '<')
        return ""; /* "._anon_3", "<lambda...>": numbered anew by each compiler */
    if (TREE_CODE(name) != TYPE_DECL)
        return IDENTIFIER_POINTER(name);
    return in_lto_p ? scoped_name(name) : lang_hooks.decl_printable_name(name, 2);
}

static std::string bound_text(tree array)
{
    tree domain = TYPE_DOMAIN(array);
    tree low = domain != NULL_TREE ? TYPE_MIN_VALUE(domain) : NULL_TREE;
    tree high = domain != NULL_TREE ? TYPE_MAX_VALUE(domain) : NULL_TREE;
    if (high == NULL_TREE || !tree_fits_shwi_p(high) ||
        (low != NULL_TREE && !tree_fits_shwi_p(low)))
        return "[]";
    HOST_WIDE_INT first = low != NULL_TREE ? tree_to_shwi(low) : 0;
    if (is_fortran())
        return "[" + std::to_string(first) + ":" + std::to_string(tree_to_shwi(high)) + "]";
    return "[" + std::to_string(tree_to_shwi(high) - first + 1) + "]";
}

/* "array02_real(kind=8)" is "real(kind=8) [:][:]". */
static std::string descriptor_text(tree type)
{
    std::string name = printed(TYPE_NAME(type));
    size_t digits = strlen("array"), element = name.find('_');
    int rank = atoi(name.c_str() + digits);
    std::string text = element != std::string::npos ? name.substr(element + 1) + " " : "";
    for (int i = 0; i < rank; i++)
        text += "[:]";
    return text;
}

/* "double [100][50]", "double (*) [50]"; of a Fortran array "real(kind=8) [1:100][1:50]", first
 * dimension first. */
static std::string type_text(tree type)
{
    type = unflattened(without_reference(type));
    if (pm_fact_is_descriptor(type))
        return descriptor_text(type);
    std::string bounds;
    if (POINTER_TYPE_P(type) && TREE_CODE(TREE_TYPE(type)) == ARRAY_TYPE) {
        bounds = "(*) ";
        type = TREE_TYPE(type);
    }
    while (TREE_CODE(type) == ARRAY_TYPE) {
        bounds = is_fortran() ? bound_text(type) + bounds : bounds + bound_text(type);
        type = TREE_TYPE(type);
    }
    return printed(type) + (bounds.empty() ? "" : " ") + bounds;
}

static bool is_array(tree type)
{
    type = without_reference(type);
    if (POINTER_TYPE_P(type)) /* what an array argument of rank 2 or more has become */
        type = TREE_TYPE(type);
    if (TREE_CODE(type) == ARRAY_TYPE) /* text is no array in Fortran */
        return !(is_fortran() && TYPE_STRING_FLAG(type));
    if (pm_fact_is_of_class(type) &&
        TYPE_FIELDS(type) != NULL_TREE) /* of rank 1 or more it holds a descriptor */
        type = TREE_TYPE(TYPE_FIELDS(type));
    return pm_fact_is_descriptor(type);
}

/* --- variables --- */

/* The variable that an artificial one stands for: the data of gfortran's dummy array "a" is "a.0".
 */
static tree stands_for(tree variable, tree context)
{
    const char *name = pm_written_name(variable), *dot = strrchr(name, '.');
    if (dot == NULL || !ISDIGIT(dot[1]) || !POINTER_TYPE_P(TREE_TYPE(variable)))
        return NULL_TREE;
    std::string base(name, dot);
    for (tree parm = DECL_ARGUMENTS(context); parm != NULL_TREE; parm = DECL_CHAIN(parm)) {
        if (has_name(parm) && base == pm_written_name(parm))
            return parm;
    }
    return NULL_TREE;
}

static tree enclosing_function(tree variable)
{
    tree context = DECL_CONTEXT(variable);
    while (context != NULL_TREE && TREE_CODE(context) == BLOCK)
        context = BLOCK_SUPERCONTEXT(context);
    return context != NULL_TREE && TREE_CODE(context) == FUNCTION_DECL ? context : NULL_TREE;
}

/* "sweep::u"; a further variable of that name in the same function has its line added:
 * "sweep::i:42". */
static std::map<std::string, pm_id> taken; /* the first variable with each name, by local_key */

static std::string local_key(const struct pm_source_function *function, const char *name)
{
    return std::to_string((unsigned long long)function->id) + name;
}

static std::string local_name(const struct pm_source_function *function, const char *name,
                              const struct pm_place *place, pm_id id)
{
    std::string full = std::string(function->name) + "::" + name;
    if (taken.insert({local_key(function, name), id}).first->second != id)
        full += ':' + std::to_string(place->line);
    return full;
}

/* What gfortran calls the result of a function that is an array, text or a record. */
static bool is_result(tree variable)
{
    const char *name = pm_written_name(variable);
    if (!is_fortran() || strncmp(name, "__result", 8) != 0)
        return false;
    return TREE_CODE(variable) == PARM_DECL
               ? name[8] == 0
               : VAR_P(variable) && name[8] == '_' && AGGREGATE_TYPE_P(TREE_TYPE(variable));
}

static void describe_local(tree variable, tree function_decl, struct pm_place *place,
                           struct pm_data *data, std::string *name)
{
    const struct pm_source_function *function = pm_source_function_of(function_decl);
    data->id = pm_id_of_local(function->id, pm_written_name(variable), pm_place_point(place));
    data->parent = function->id;
    std::string shown =
        is_result(variable) ? pm_fortran_result_name(function_decl) : pm_written_name(variable);
    *name = local_name(function, shown.c_str(), place, data->id);
}

/* The name with its namespaces or module. */
static std::string global_name(tree variable, const char *linkage)
{
    char *demangled = pm_gcc_demangle(linkage);
    std::string name = demangled != NULL ? demangled : pm_written_name(variable);
    free(demangled);
    const char *module_end = strstr(linkage, "_MOD_");
    if (strncmp(linkage, "__", 2) == 0 && module_end != NULL)
        name = std::string(linkage + 2, module_end) + "::" + name;
    return name;
}

/* The path of the file that keeps a variable to itself; NULL when none does. lto1 makes private
 * what no one else needs, so the compiler before leaves word with the variable, as it does with
 * functions. */
static const char *local_path_of(tree variable, const struct pm_place *place)
{
    static const char mark[] = "perfmap";
    tree attribute = lookup_attribute(mark, DECL_ATTRIBUTES(variable));
    if (in_lto_p)
        return attribute != NULL_TREE ? TREE_STRING_POINTER(TREE_VALUE(TREE_VALUE(attribute)))
                                      : NULL;
    if (TREE_PUBLIC(variable) || place->file == NULL)
        return NULL;
    if (flag_generate_lto && attribute == NULL_TREE) {
        tree path = build_string((int)strlen(place->file) + 1, place->file);
        DECL_ATTRIBUTES(variable) = tree_cons(
            get_identifier(mark), build_tree_list(NULL_TREE, path), DECL_ATTRIBUTES(variable));
    }
    return place->file;
}

static void describe_global(tree variable, struct pm_place *place, struct pm_data *data,
                            std::string *name)
{
    static std::set<std::string> linkages;
    const char *linkage = linkages.insert(pm_source_linkage(variable)).first->c_str();
    data->id = pm_id_of_global(linkage, local_path_of(variable, place));
    data->parent =
        place->file != NULL ? pm_fact_file(pm_facts_early(), place->file, place->shown) : 0;
    *name = global_name(variable, linkage);
    if (*name != linkage)
        data->linkage = linkage;
}

static std::set<pm_id> made_variables;

static pm_id add_data(struct pm_data *data, const struct pm_place *place)
{
    data->shown = place->shown;
    data->line = place->line;
    data->column = place->column;
    return pm_fact_data(pm_facts_early(), data);
}

/* Variables whose initial values are still to be looked at: once they are known themselves, for a
 * list's head may hold its own address, and one after the other, for a list may be long. */
struct initialised {
    tree variable;
    pm_id noun;
    tree context;
};

static std::vector<struct initialised> not_looked_at;

static void look_at_initial_values(void)
{
    static bool is_looking = false;
    if (is_looking)
        return;
    is_looking = true;
    while (!not_looked_at.empty()) {
        struct initialised next = not_looked_at.back();
        not_looked_at.pop_back();
        pm_fact_initial(next.variable, next.noun, next.context);
    }
    is_looking = false;
}

/* What is done with "double &x" is done with what the caller passes; with a scalar pointer of
 * Fortran, or "associate (one => cells(i))", with what it stands for. */
static bool refers_to_one(tree variable)
{
    tree type = TREE_TYPE(variable);
    if (!is_fortran())
        return TREE_CODE(type) == REFERENCE_TYPE;
    return VAR_P(variable) && POINTER_TYPE_P(type) && TREE_CODE(TREE_TYPE(type)) != ARRAY_TYPE &&
           TREE_CODE(TREE_TYPE(type)) != FUNCTION_TYPE;
}

static pm_id make_variable(tree variable, tree context)
{
    struct pm_place place = {NULL, NULL, 0, 0};
    pm_place_of(DECL_SOURCE_LOCATION(variable), &place);
    struct pm_data data = {};
    std::string name, type = type_text(TREE_TYPE(variable));
    tree function_decl = enclosing_function(variable);
    /* A local of an enclosing function (C's nested functions, Fortran's contained ones) keeps that
     * one as parent. */
    if (TREE_CODE(variable) == PARM_DECL && function_decl == NULL_TREE)
        function_decl = context;
    if (function_decl != NULL_TREE && !DECL_EXTERNAL(variable))
        describe_local(variable, function_decl, &place, &data, &name);
    else
        describe_global(variable, &place, &data, &name);
    data.name = name.c_str();
    bool holds = is_array(TREE_TYPE(variable)) || pm_fact_is_container(TREE_TYPE(variable));
    data.kind = holds ? PM_DATA_ARRAY : PM_DATA_VARIABLE;
    if (!holds && refers_to_one(variable))
        type += " &";
    data.type = type.c_str();
    add_data(&data, &place);
    made_variables.insert(data.id);
    if (VAR_P(variable))
        not_looked_at.push_back({variable, data.id, context});
    return data.id;
}

/* "[p = u]": what the lambda's function calls the member __p. */
static bool is_of_closure(tree variable)
{
    tree value =
        VAR_P(variable) && DECL_HAS_VALUE_EXPR_P(variable) ? DECL_VALUE_EXPR(variable) : NULL_TREE;
    return value != NULL_TREE && TREE_CODE(value) == COMPONENT_REF &&
           pm_fact_is_closure(DECL_CONTEXT(TREE_OPERAND(value, 1)));
}

static struct pm_table<unsigned, pm_id>
    known_variables; /* by DECL_UID; 0 for those that are no nouns */

void pm_fact_variable_stands_for(tree artificial, tree variable, tree context)
{
    pm_id id = pm_fact_variable(variable, context);
    *known_variables.add(DECL_UID(artificial), id) = id;
}

void pm_fact_variable_is(tree artificial, pm_id noun)
{
    *known_variables.add(DECL_UID(artificial), noun) = noun;
}

pm_id pm_fact_variable(tree variable, tree context)
{
    const pm_id *known = known_variables.find(DECL_UID(variable));
    if (known != NULL)
        return *known;
    pm_id id = 0;
    tree member =
        VAR_P(variable) && DECL_HAS_VALUE_EXPR_P(variable) ? DECL_VALUE_EXPR(variable) : NULL_TREE;
    if (member != NULL_TREE && pm_fact_block_of(member) != NULL_TREE) {
        id = pm_fact_component(member, context);
        *known_variables.add(DECL_UID(variable), id) = id;
        return id;
    }
    tree source = has_name(variable) ? stands_for(variable, context) : NULL_TREE;
    if (source != NULL_TREE) {
        /* gfortran marks the dummy itself as artificial then */
        id = make_variable(source, context);
        *known_variables.add(DECL_UID(source), id) = id;
    } else if (has_name(variable) &&
               ((!DECL_ARTIFICIAL(variable) && !DECL_IGNORED_P(variable)) || is_result(variable) ||
                is_of_closure(variable)) &&
               !pm_is_system_place(DECL_SOURCE_LOCATION(variable)) &&
               (TREE_CODE(variable) == VAR_DECL || TREE_CODE(variable) == PARM_DECL))
        id = make_variable(variable, context);
    *known_variables.add(DECL_UID(variable), id) = id;
    look_at_initial_values();
    return id;
}

pm_id pm_fact_dummy(tree parameter, tree function_decl)
{
    pm_id id = pm_fact_variable(parameter, function_decl);
    if (id != 0 || !is_fortran() || !has_name(parameter) || !POINTER_TYPE_P(TREE_TYPE(parameter)) ||
        (strncmp(pm_written_name(parameter), "__", 2) == 0 && !is_result(parameter)))
        return id;
    id = make_variable(parameter, function_decl);
    return *known_variables.add(DECL_UID(parameter), id) = id;
}

/* --- variables that other functions reach --- */

/* The records by which the bodies of OpenMP regions and nested functions reach the variables of
 * the function around them. A field has the variable's name and, for the most part, its place. */
static const char frame_mark[] = "FRAME."; /* and the name of the function around */

bool pm_fact_is_frame(tree type)
{
    return strncmp(record_name(type), frame_mark, strlen(frame_mark)) == 0;
}

static bool is_captures(tree type)
{
    return strncmp(record_name(type), ".omp_data", 9) == 0 || pm_fact_is_frame(type);
}

/* The function around context whose variables lie in the frame. */
static tree function_of_frame(tree type, tree context)
{
    const char *name = record_name(type) + strlen(frame_mark);
    tree function = context;
    while (function != NULL_TREE && TREE_CODE(function) == FUNCTION_DECL) {
        function = pm_origin_function(function);
        if (has_name(function) && strcmp(pm_written_name(function), name) == 0)
            return function;
        function = DECL_CONTEXT(function);
    }
    return NULL_TREE;
}

/* Of a NAMELIST's variables there are two: that of the list is ignored. */
static tree declared_in(tree block, tree field)
{
    for (tree variable = BLOCK_VARS(block); variable != NULL_TREE; variable = DECL_CHAIN(variable))
        if (VAR_P(variable) && !DECL_IGNORED_P(variable) &&
            DECL_NAME(variable) == DECL_NAME(field) &&
            DECL_SOURCE_LOCATION(variable) == DECL_SOURCE_LOCATION(field))
            return variable;
    for (tree below = BLOCK_SUBBLOCKS(block); below != NULL_TREE; below = BLOCK_CHAIN(below)) {
        tree found = declared_in(below, field);
        if (found != NULL_TREE)
            return found;
    }
    return NULL_TREE;
}

/* All that the function and those within it do with such a variable, they do with the field: no
 * other code makes its noun. */
static pm_id variable_in_frame(tree field, tree function_decl)
{
    tree source = stands_for(field, function_decl);
    if (source != NULL_TREE)
        return pm_fact_dummy(source, function_decl);
    for (tree parm = DECL_ARGUMENTS(function_decl); parm != NULL_TREE; parm = DECL_CHAIN(parm))
        if (DECL_NAME(parm) == DECL_NAME(field))
            return pm_fact_dummy(parm, function_decl);
    tree block = DECL_INITIAL(function_decl);
    tree variable =
        block != NULL_TREE && TREE_CODE(block) == BLOCK ? declared_in(block, field) : NULL_TREE;
    return variable != NULL_TREE ? pm_fact_variable(variable, function_decl) : 0;
}

static pm_id captured_from(tree field, tree function_decl)
{
    tree origin = pm_origin_function(function_decl);
    struct pm_place place = {NULL, NULL, 0, 0};
    pm_place_of(DECL_SOURCE_LOCATION(field), &place);
    const struct pm_source_function *function = pm_source_function_of(origin);
    pm_id id = pm_id_of_local(function->id, pm_written_name(field), pm_place_point(&place));
    /* lto1 has not made the nouns of the source again: there the name is taken at its word. */
    if (made_variables.count(id) != 0 || (in_lto_p && place.line != 0))
        return id;
    auto by_name = taken.find(local_key(function, pm_written_name(field)));
    return by_name != taken.end() ? by_name->second : 0;
}

static pm_id find_captured(tree field, tree context)
{
    tree type = DECL_CONTEXT(field);
    tree function = pm_fact_is_frame(type) ? function_of_frame(type, context) : NULL_TREE;
    pm_id id = function != NULL_TREE && !in_lto_p ? variable_in_frame(field, function) : 0;
    if (id != 0)
        return id;
    for (function = function != NULL_TREE ? function : context;
         function != NULL_TREE && TREE_CODE(function) == FUNCTION_DECL;
         function = DECL_CONTEXT(pm_origin_function(function))) {
        id = captured_from(field, function);
        if (id != 0)
            return id;
    }
    return 0;
}

pm_id pm_fact_captured(tree field, tree context)
{
    static struct pm_table<unsigned, pm_id> known_in_frames; /* by DECL_UID */
    tree type = DECL_CONTEXT(field);
    if (type == NULL_TREE || !RECORD_OR_UNION_TYPE_P(type) || !is_captures(type) ||
        !has_name(field))
        return 0;
    const pm_id *known = known_in_frames.find(DECL_UID(field));
    if (known != NULL)
        return *known;
    pm_id id = find_captured(field, context);
    if (id != 0 && pm_fact_is_frame(type))
        known_in_frames.add(DECL_UID(field), id);
    return id;
}

/* --- fields --- */

/* Compilers' own: what captures variables, gfortran's descriptors, I/O parameter blocks and
 * method tables. */
static bool is_internal(tree type)
{
    if (is_captures(type))
        return true;
    if (is_fortran() && TYPE_NAME(type) == NULL_TREE) /* COMMON blocks */
        return true;
    std::string name = is_fortran() ? type_name(type) : "";
    return name.compare(0, 2, "__") == 0 || name == "descriptor_dimension" ||
           name == "dtype_type" || pm_fact_is_descriptor(type);
}

static struct pm_place place_of_type(tree type, const struct pm_place *place_of_field)
{
    struct pm_place place = *place_of_field;
    if (TYPE_STUB_DECL(type) != NULL_TREE)
        pm_place_of(DECL_SOURCE_LOCATION(TYPE_STUB_DECL(type)), &place);
    return place;
}

/* "typedef struct { ... } grid": the first such name. */
static const char *typedef_name(tree type)
{
    tree first = NULL_TREE;
    for (tree variant = TYPE_MAIN_VARIANT(type); variant != NULL_TREE;
         variant = TYPE_NEXT_VARIANT(variant)) {
        tree name = TYPE_NAME(variant);
        if (name != NULL_TREE && TREE_CODE(name) == TYPE_DECL && DECL_NAME(name) != NULL_TREE &&
            IDENTIFIER_POINTER(DECL_NAME(name))[0] != '.' &&
            IDENTIFIER_POINTER(DECL_NAME(name))[0] != '<' &&
            (first == NULL_TREE || DECL_SOURCE_LOCATION(name) < DECL_SOURCE_LOCATION(first)))
            first = name;
    }
    return first != NULL_TREE ? IDENTIFIER_POINTER(DECL_NAME(first)) : NULL;
}

/* A type without any name has its place for one. */
static std::string anonymous_name(tree type, const struct pm_place *place_of_field)
{
    if (typedef_name(type) != NULL)
        return typedef_name(type);
    struct pm_place place = place_of_type(type, place_of_field);
    std::string name = TREE_CODE(type) == UNION_TYPE ? "union " : "struct ";
    name += place.shown != NULL ? place.shown : "?";
    return name + ':' + std::to_string(place.line);
}

static pm_id make_type(tree type, const struct pm_place *place_of_field, std::string *ret_name)
{
    struct pm_place place = place_of_type(type, place_of_field);
    const char *path = place.file != NULL ? place.file : "";
    struct pm_data data = {};
    data.kind = PM_DATA_TYPE;
    *ret_name = type_name(type);
    if (!ret_name->empty()) {
        data.id = pm_id_of_type(ret_name->c_str(), path, NULL);
    } else { /* lto1 knows where its fields are, not where it is */
        struct pm_place first = *place_of_field;
        pm_place_of(DECL_SOURCE_LOCATION(TYPE_FIELDS(type)), &first);
        struct pm_text_point point = pm_place_point(&first);
        data.id = pm_id_of_type("", path, &point);
        *ret_name = anonymous_name(type, place_of_field);
    }
    data.name = ret_name->c_str();
    if (place.file != NULL)
        data.parent = pm_fact_file(pm_facts_early(), place.file, place.shown);
    return add_data(&data, &place);
}

static pm_id make_field(tree field, tree type)
{
    struct pm_place place = {NULL, NULL, 0, 0};
    pm_place_of(DECL_SOURCE_LOCATION(field), &place);
    std::string of_type, text = type_text(TREE_TYPE(field));
    if (pm_fact_is_container(TREE_TYPE(field)))
        text += " [:]"; /* of a field only the type says that it has elements */
    struct pm_data data = {};
    data.kind = PM_DATA_FIELD;
    data.parent = make_type(type, &place, &of_type);
    data.id = pm_id_of_field(data.parent, pm_written_name(field));
    std::string name = of_type + "::" + pm_written_name(field);
    data.name = name.c_str();
    data.type = text.c_str();
    if (is_fortran()) /* gfortran says where the module ends */
        place.line = place.column = 0;
    return add_data(&data, &place);
}

pm_id pm_fact_field(tree field)
{
    static struct pm_table<unsigned, pm_id> known;
    const pm_id *found = known.find(DECL_UID(field));
    if (found != NULL)
        return *found;
    tree type = DECL_CONTEXT(field);
    struct pm_place place;
    pm_id id = 0;
    tree captured, function_decl;
    bool written = pm_place_of(DECL_SOURCE_LOCATION(field), &place);
    if (pm_fact_is_capture(field, &captured, &function_decl))
        id = captured != NULL_TREE ? pm_fact_variable(captured, function_decl) : 0;
    else if (written && has_name(field) && !DECL_ARTIFICIAL(field) && type != NULL_TREE &&
             RECORD_OR_UNION_TYPE_P(type) && !is_internal(type) &&
             !pm_is_system_place(DECL_SOURCE_LOCATION(field)))
        id = make_field(field, TYPE_MAIN_VARIANT(type));
    known.add(DECL_UID(field), id);
    return id;
}

/* --- COMMON blocks and EQUIVALENCE of Fortran --- */

/* gfortran makes one variable of a COMMON block ("vmat") or of what EQUIVALENCE joins
 * ("equiv.0"), and a field of each member. Each program unit has a record type of its own for
 * the block, the variable has the longest. */
bool pm_fact_is_block(tree variable)
{
    return VAR_P(variable) && is_fortran() && DECL_IGNORED_P(variable) && has_name(variable) &&
           RECORD_OR_UNION_TYPE_P(TREE_TYPE(variable)) &&
           TYPE_NAME(TREE_TYPE(variable)) == NULL_TREE &&
           (TREE_PUBLIC(variable) || DECL_EXTERNAL(variable) ||
            strchr(pm_written_name(variable), '.') == NULL ||
            strncmp(pm_written_name(variable), "equiv.", 6) == 0);
}

/* In RTL a variable that other files see is MEM[&variable]. */
tree pm_fact_block_of(tree reference)
{
    if (TREE_CODE(reference) != COMPONENT_REF)
        return NULL_TREE;
    tree block = TREE_OPERAND(reference, 0);
    if (TREE_CODE(block) == MEM_REF && TREE_CODE(TREE_OPERAND(block, 0)) == ADDR_EXPR &&
        integer_zerop(TREE_OPERAND(block, 1)))
        block = TREE_OPERAND(TREE_OPERAND(block, 0), 0);
    return pm_fact_is_block(block) ? block : NULL_TREE;
}

static bool is_common(tree block)
{
    return strncmp(pm_written_name(block), "equiv.", 6) != 0;
}

static std::string block_name(tree block)
{
    return strcmp(pm_written_name(block), "__BLNK__") == 0 ? "//" : pm_written_name(block);
}

/* A COMMON block belongs to the whole program: its nouns are those of no file. */
pm_id pm_fact_block(tree block)
{
    static struct pm_table<unsigned, pm_id> known;
    if (!is_common(block))
        return 0;
    bool is_new;
    pm_id *id = known.add(DECL_UID(block), 0, &is_new);
    if (!is_new)
        return *id;
    std::string linkage = pm_source_linkage(block);
    std::string name = block_name(block) == "//" ? "//" : "/" + block_name(block) + "/";
    struct pm_data data = {};
    data.kind = PM_DATA_ARRAY; /* of whatever its members are: for where they cannot be told */
    data.id = *id = pm_id_of_global(linkage.c_str(), NULL);
    data.name = name.c_str();
    data.linkage = linkage.c_str();
    return pm_fact_data(pm_facts_early(), &data);
}

static pm_id make_member(tree block, tree field, tree context)
{
    struct pm_place place = {NULL, NULL, 0, 0};
    pm_place_of(DECL_SOURCE_LOCATION(field), &place);
    struct pm_data data = {};
    std::string name, type = type_text(TREE_TYPE(field));
    tree function_decl = enclosing_function(block);
    if (is_common(block)) {
        data.parent = pm_fact_block(block);
        data.id = pm_id_of_member(data.parent, pm_written_name(field));
        name = block_name(block) + "::" + pm_written_name(field);
    } else {
        describe_local(field, function_decl != NULL_TREE ? function_decl : context, &place, &data,
                       &name);
    }
    data.name = name.c_str();
    data.kind = is_array(TREE_TYPE(field)) ? PM_DATA_ARRAY : PM_DATA_VARIABLE;
    data.type = type.c_str();
    return add_data(&data, &place);
}

struct layout {
    tree type, function;
};
static std::map<unsigned, std::vector<struct layout>> layouts; /* of blocks, by DECL_UID */

static void note_layout(tree block, tree type, tree function)
{
    std::vector<struct layout> &known = layouts[DECL_UID(block)];
    for (const struct layout &layout : known)
        if (layout.type == type)
            return;
    known.push_back({type, function});
}

std::vector<tree> pm_fact_layouts(tree block, tree context)
{
    std::vector<tree> own, all;
    tree function = pm_origin_function(context);
    for (const struct layout &layout : layouts[DECL_UID(block)]) {
        all.push_back(layout.type);
        if (layout.function == function)
            own.push_back(layout.type);
    }
    if (all.empty())
        all.push_back(TREE_TYPE(block));
    return own.empty() ? all : own;
}

pm_id pm_fact_member(tree block, tree field, tree context)
{
    static struct pm_table<unsigned, pm_id> known;
    const pm_id *found = known.find(DECL_UID(field));
    if (found != NULL)
        return *found;
    note_layout(block, DECL_CONTEXT(field), pm_origin_function(context));
    pm_id id = has_name(field) ? make_member(block, field, context) : 0;
    pm_fact_note_overlaps(block, field, id);
    return *known.add(DECL_UID(field), id);
}

pm_id pm_fact_component(tree reference, tree context)
{
    tree field = TREE_OPERAND(reference, 1), block = pm_fact_block_of(reference);
    if (block != NULL_TREE)
        return pm_fact_member(block, field, context);
    pm_id captured = pm_fact_captured(field, context);
    return captured != 0 ? captured : pm_fact_field(field);
}

/* --- which members the source names where --- */

/* By location without its range, which it loses on the way. */
static std::map<std::pair<location_t, unsigned>, std::vector<struct pm_member_touch>>
    member_touches;

void pm_fact_note_member(location_t location, tree reference, pm_id noun, bool writes)
{
    unsigned block = DECL_UID(pm_fact_block_of(reference));
    bool is_scalar = !is_array(TREE_TYPE(TREE_OPERAND(reference, 1)));
    member_touches[{get_pure_location(line_table, location), block}].push_back(
        {noun, writes, is_scalar});
}

const std::vector<struct pm_member_touch> *pm_fact_members_at(location_t location, tree block)
{
    auto found = member_touches.find({get_pure_location(line_table, location), DECL_UID(block)});
    return found != member_touches.end() ? &found->second : NULL;
}
