/* Verbs of Fortran's array statements. For the compiler `s = sum(a)` is a loop like others; that
 * it is a sum stands in the text of the statement (plugin/emit/fortran.h), and which arrays it
 * touches in the facts. Both together are sentences of level Fortran, {m::work::a Sum}, that the
 * statement and its loops are mapped to; each of them is mapped to what kind of operation it is,
 * at level Fortran Operations. */
#include "facts.h"

extern "C" {
#include "../emit/arguments.h"
#include "../emit/fortran.h"
}

static const char level_fortran[] = "Fortran", level_operations[] = "Fortran Operations";
enum { MAX_OPERATIONS = 16, MAX_SOURCE_BYTES = 64 << 20 };

/* _gfortran_matmul_r8, _gfortran_cshift0_4, _gfortran_mmaxval_r8, ...: not the library's other
 * helpers in the same statements. */
bool pm_fortran_is_array_operation(tree function_decl)
{
    static const char prefix[] = "_gfortran_";
    static const char *const operations[] = {
        "matmul", "cshift", "eoshift", "transpose", "reshape", "spread",  "pack",    "unpack",
        "maxloc", "minloc", "findloc", "maxval",    "minval",  "sum",     "product", "norm2",
        "count",  "any",    "all",     "iall",      "iany",    "iparity", "parity",  "dot_product",
    };
    if (function_decl == NULL_TREE || DECL_NAME(function_decl) == NULL_TREE)
        return false;
    const char *name = IDENTIFIER_POINTER(DECL_NAME(function_decl));
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return false;
    name += sizeof prefix - 1;
    for (const char *operation : operations) {
        size_t n = strlen(operation);
        /* With a mask, or a mask of one value: mmaxval, smaxval. */
        if (strncmp(name, operation, n) == 0 ||
            ((*name == 'm' || *name == 's') && strncmp(name + 1, operation, n) == 0))
            return true;
    }
    return false;
}

unsigned pm_fortran_argument_use(tree function_decl, unsigned index)
{
    if (pm_fortran_is_array_operation(function_decl))
        return index == 0 ? PM_USE_WRITES : PM_USE_READS;
    return pm_fortran_library_use(IDENTIFIER_POINTER(DECL_NAME(function_decl)), index);
}

bool pm_fortran_works_on_data(tree function_decl)
{
    return pm_fortran_is_array_operation(function_decl) ||
           (DECL_NAME(function_decl) != NULL_TREE &&
            pm_fortran_library_works_on_data(IDENTIFIER_POINTER(DECL_NAME(function_decl))));
}

struct array_name {
    std::string name; /* as in the text, lower case */
    pm_id noun;
    bool is_array;
};

struct fortran_reader {
    struct pm_pif *pif;
    std::map<std::string, struct pm_fortran *> sources; /* by file as spelt; NULL: cannot be read */
    std::map<pm_id, std::vector<struct array_name>> touched; /* by statement */
    std::map<std::tuple<std::string, unsigned, unsigned>, std::vector<pm_id>> loops; /* by place */
};

/* "m::work::a" is a in the text, and so is "m::work::a:57". */
static std::string name_in_text(const char *name)
{
    const char *last = name;
    for (const char *p = strstr(name, "::"); p != NULL; p = strstr(p + 2, "::"))
        last = p + 2;
    std::string text(last, strcspn(last, ":"));
    for (char &c : text)
        c = TOLOWER(c);
    return text;
}

static bool is_touch(const struct pm_pif_mapping *mapping)
{
    return mapping->source.n_nouns == 1 && mapping->destination.n_nouns == 1 &&
           mapping->source.verb == pm_verb_id(PM_SOURCE_EXECUTES) &&
           (mapping->destination.verb == pm_verb_id(PM_SOURCE_READS) ||
            mapping->destination.verb == pm_verb_id(PM_SOURCE_WRITES));
}

static void read_touched(struct fortran_reader *reader)
{
    for (size_t i = 0; i < pm_pif_n_mappings(reader->pif); i++) {
        struct pm_pif_mapping mapping;
        struct pm_pif_noun noun;
        pm_pif_get_mapping(reader->pif, i, &mapping);
        if (!is_touch(&mapping) ||
            !pm_pif_find_noun(reader->pif, mapping.destination.nouns[0], &noun))
            continue;
        bool is_array = (noun.kind != NULL && strcmp(noun.kind, "array") == 0) ||
                        (noun.type != NULL && strchr(noun.type, '[') != NULL);
        reader->touched[mapping.source.nouns[0]].push_back(
            {name_in_text(noun.name), noun.id, is_array});
    }
}

/* By its name, or, of a file that has another (INCLUDE 'loop.inc'), as the file that includes it;
 * before either, as the command line says. */
static bool is_fixed_form(const char *file)
{
    for (unsigned i = save_decoded_options_count; !in_lto_p && i-- > 0;) {
        size_t option = save_decoded_options[i].opt_index;
        if (option == OPT_ffixed_form || option == OPT_ffree_form)
            return option == OPT_ffixed_form;
    }
    bool has_form = pm_fortran_is_source(file) || main_input_filename == NULL;
    return pm_fortran_is_fixed_form(has_form ? file : main_input_filename);
}

/* INCLUDE gives files the name that the text has: looked for beside the file that is compiled, and
 * in folders of -I. */
static std::vector<std::string> names_of(const char *file)
{
    std::vector<std::string> names = {file};
    const char *slash = main_input_filename != NULL ? strrchr(main_input_filename, '/') : NULL;
    if (slash != NULL && file[0] != '/')
        names.push_back(std::string(main_input_filename, slash + 1) + file);
    for (unsigned i = 0; file[0] != '/' && i < save_decoded_options_count; i++)
        if (save_decoded_options[i].opt_index == OPT_I && save_decoded_options[i].arg != NULL)
            names.push_back(std::string(save_decoded_options[i].arg) + "/" + file);
    return names;
}

static struct pm_fortran *read_source(const char *file)
{
    char *text;
    size_t len;
    for (const std::string &name : names_of(file)) {
        struct pm_error err = PM_ERROR_INIT;
        bool is_read = pm_file_read(name.c_str(), MAX_SOURCE_BYTES, &err, &text, &len) == PM_OK;
        pm_error_release(&err);
        if (!is_read)
            continue;
        struct pm_fortran *source = pm_fortran_new(text, len, is_fixed_form(file));
        free(text);
        return source;
    }
    return NULL;
}

/* Kept until the compiler ends. NULL: cannot be read. */
static struct pm_fortran *source_of(const char *file)
{
    static std::map<std::string, struct pm_fortran *> sources; /* by file as spelt */
    auto found = sources.find(file);
    if (found != sources.end())
        return found->second;
    return sources[file] = read_source(file);
}

static pm_id verb_of(struct pm_pif *pif, const char *level, const char *name)
{
    struct pm_pif_verb verb = {};
    verb.name = name;
    verb.level = level;
    verb.description = "units are seconds";
    return pm_pif_verb(pif, &verb);
}

static pm_id group_noun(struct pm_pif *pif, const char *name, const char *above)
{
    struct pm_pif_noun noun = {};
    noun.name = name;
    noun.level = level_operations;
    noun.kind = "operation";
    noun.parent = above != NULL ? group_noun(pif, above, NULL) : 0;
    return pm_pif_noun(pif, &noun);
}

/* The arrays that the operation's text names, or the statement itself when it names none (a
 * function's result). False: the intrinsic's name is a variable here, or what is assigned to is
 * no array. */
static bool nouns_of(const struct pm_fortran_operation *operation,
                     const std::vector<struct array_name> &touched, pm_id statement,
                     struct pm_pif_sentence *ret_sentence)
{
    struct pm_str name;
    ret_sentence->n_nouns = 0;
    for (const struct array_name &array : touched)
        if (array.name == std::string(operation->intrinsic.p, operation->intrinsic.len))
            return false;
    for (size_t at = 0; pm_fortran_next_name(operation->arguments, &at, &name);)
        for (const struct array_name &array : touched) {
            bool known = std::find(ret_sentence->nouns, ret_sentence->nouns + ret_sentence->n_nouns,
                                   array.noun) != ret_sentence->nouns + ret_sentence->n_nouns;
            if (array.is_array && !known && ret_sentence->n_nouns < PM_PIF_MAX_NOUNS &&
                array.name.size() == name.len && memcmp(array.name.data(), name.p, name.len) == 0)
                ret_sentence->nouns[ret_sentence->n_nouns++] = array.noun;
        }
    if (ret_sentence->n_nouns == 0 && operation->intrinsic.len == 0)
        return false;
    if (ret_sentence->n_nouns == 0)
        ret_sentence->nouns[ret_sentence->n_nouns++] = statement;
    return true;
}

static void map_all(struct pm_pif *pif, pm_id statement, const std::vector<pm_id> *loops,
                    const struct pm_pif_sentence *destination)
{
    struct pm_pif_mapping mapping = {};
    mapping.origin = "compiler";
    mapping.source.verb = pm_verb_id(PM_SOURCE_EXECUTES);
    mapping.source.n_nouns = 1;
    mapping.source.nouns[0] = statement;
    mapping.destination = *destination;
    pm_pif_mapping(pif, &mapping);
    for (size_t i = 0; loops != NULL && i < loops->size(); i++) {
        mapping.source.nouns[0] = (*loops)[i];
        pm_pif_mapping(pif, &mapping);
    }
}

static void add_verbs(struct fortran_reader *reader, pm_id statement,
                      const struct pm_fortran_statement *text, const std::vector<pm_id> *loops)
{
    struct pm_fortran_operation operations[MAX_OPERATIONS];
    size_t n = pm_fortran_operations(text, operations, MAX_OPERATIONS);
    for (size_t i = 0; i < n; i++) {
        struct pm_pif_sentence sentence = {};
        if (!nouns_of(&operations[i], reader->touched[statement], statement, &sentence))
            continue;
        pm_pif_level(reader->pif, level_fortran, pm_level_source);
        pm_pif_level(reader->pif, level_operations, level_fortran);
        sentence.verb = verb_of(reader->pif, level_fortran, operations[i].verb);
        map_all(reader->pif, statement, loops, &sentence);
        struct pm_pif_mapping mapping = {};
        mapping.origin = "compiler";
        mapping.source = sentence;
        mapping.destination.verb = verb_of(reader->pif, level_operations, "Executes");
        mapping.destination.n_nouns = 1;
        mapping.destination.nouns[0] =
            group_noun(reader->pif, operations[i].group, operations[i].group_above);
        pm_pif_mapping(reader->pif, &mapping);
    }
}

static bool is_kind(const struct pm_pif_noun *noun, const char *kind)
{
    return noun->kind != NULL && strcmp(noun->kind, kind) == 0 && noun->file != NULL;
}

void pm_fortran_facts(struct pm_pif *pif)
{
    if (strncmp(lang_hooks.name, "GNU Fortran", 11) != 0)
        return;
    struct fortran_reader reader = {};
    reader.pif = pif;
    read_touched(&reader);
    size_t n_nouns = pm_pif_n_nouns(pif); /* before there are more */
    struct pm_pif_noun noun;
    for (size_t i = 0; i < n_nouns; i++) {
        pm_pif_get_noun(pif, i, &noun);
        if (is_kind(&noun, "loop"))
            reader.loops[std::make_tuple(std::string(noun.file), noun.line, noun.column)].push_back(
                noun.id);
    }
    for (size_t i = 0; i < n_nouns; i++) {
        pm_pif_get_noun(pif, i, &noun);
        struct pm_fortran *source = is_kind(&noun, "statement") ? source_of(noun.file) : NULL;
        const struct pm_fortran_statement *text =
            source != NULL ? pm_fortran_at(source, noun.line, noun.column) : NULL;
        if (text == NULL)
            continue;
        unsigned n_indices;
        const struct pm_fortran_statement *head = pm_fortran_concurrent(source, text, &n_indices);
        if (head != NULL) { /* the loops of the construct are at its head */
            noun.line = head->first_line;
            noun.column = head->first_column;
        }
        auto loops =
            reader.loops.find(std::make_tuple(std::string(noun.file), noun.line, noun.column));
        add_verbs(&reader, noun.id, text, loops != reader.loops.end() ? &loops->second : NULL);
    }
}

/* Statement -> code of its calls, one for each copy of the procedure. */
static std::map<pm_id, std::vector<pm_id>> calls_of_statements(struct pm_pif *pif)
{
    std::map<pm_id, std::vector<pm_id>> calls;
    for (size_t i = 0; i < pm_pif_n_mappings(pif); i++) {
        struct pm_pif_mapping mapping;
        struct pm_pif_noun noun;
        pm_pif_get_mapping(pif, i, &mapping);
        if (mapping.source.n_nouns == 1 && mapping.destination.n_nouns == 1 &&
            mapping.source.verb == pm_verb_id(PM_BASE_EXECUTES) &&
            pm_pif_find_noun(pif, mapping.source.nouns[0], &noun) &&
            strcmp(noun.kind, "callcode") == 0)
            calls[mapping.destination.nouns[0]].push_back(mapping.source.nouns[0]);
    }
    return calls;
}

/* What the library does for a statement it does to the statement's arrays. */
void pm_fortran_call_facts(struct pm_pif *pif)
{
    std::vector<struct pm_pif_mapping> found;
    if (strncmp(lang_hooks.name, "GNU Fortran", 11) != 0)
        return;
    const std::map<pm_id, std::vector<pm_id>> calls = calls_of_statements(pif);
    for (size_t i = 0; i < pm_pif_n_mappings(pif); i++) {
        struct pm_pif_mapping mapping;
        struct pm_pif_noun noun;
        pm_pif_get_mapping(pif, i, &mapping);
        auto of = is_touch(&mapping) ? calls.find(mapping.source.nouns[0]) : calls.end();
        if (of == calls.end() || !pm_pif_find_noun(pif, mapping.destination.nouns[0], &noun) ||
            strcmp(noun.kind, "array") != 0)
            continue;
        mapping.source.verb = pm_verb_id(PM_BASE_EXECUTES);
        mapping.origin = "inferred";
        for (pm_id call : of->second) {
            mapping.source.nouns[0] = call;
            found.push_back(mapping);
        }
    }
    for (const struct pm_pif_mapping &mapping : found)
        pm_pif_mapping(pif, &mapping);
}

/* NULL: it is no text of Fortran, as far as one knows (by its name, in lto1 of C, too), or it
 * cannot be read. */
static struct pm_fortran *source_at(const struct pm_place *place)
{
    bool is_source = pm_fact_is_fortran() || pm_fortran_is_source(place->file);
    return is_source ? source_of(place->shown) : NULL;
}

static const struct pm_fortran_statement *statement_at(const struct pm_place *place,
                                                       struct pm_fortran **ret_source)
{
    *ret_source = source_at(place);
    return *ret_source != NULL ? pm_fortran_at(*ret_source, place->line, place->column) : NULL;
}

bool pm_fortran_is_array_statement(const struct pm_place *place)
{
    struct pm_fortran_operation operation;
    struct pm_fortran *source;
    unsigned n_indices;
    const struct pm_fortran_statement *text = statement_at(place, &source);
    return text != NULL && (pm_fortran_operations(text, &operation, 1) != 0 ||
                            pm_fortran_concurrent(source, text, &n_indices) == text);
}

static void place_at(const struct pm_fortran_statement *statement, const struct pm_place *near,
                     struct pm_place *ret_place)
{
    *ret_place = *near;
    ret_place->line = statement->first_line;
    ret_place->column = statement->first_column;
}

bool pm_fortran_omp_loop(const struct pm_place *directive, struct pm_place *ret_place)
{
    struct pm_fortran *source = source_at(directive);
    if (source == NULL || pm_fortran_at(source, directive->line, 0) != NULL)
        return false; /* a statement of WORKSHARE */
    const struct pm_fortran_statement *loop = pm_fortran_do_behind(source, directive->line);
    if (loop != NULL)
        place_at(loop, directive, ret_place);
    return loop != NULL;
}

/* --- WORKSHARE --- */

static const struct pm_fortran_statement *workshared_at(location_t location, unsigned *ret_block,
                                                        bool *ret_is_first)
{
    struct pm_place place;
    struct pm_fortran *source = pm_place_of(location, &place) ? source_at(&place) : NULL;
    return source != NULL ? pm_fortran_workshared(source, place.line, ret_block, ret_is_first)
                          : NULL;
}

/* The place in the same file; UNKNOWN_LOCATION: the line table does not reach there. */
static location_t location_of(const struct pm_fortran_statement *statement, location_t near)
{
    near = get_pure_location(line_table, near);
    const line_map_ordinary *map = linemap_check_ordinary(linemap_lookup(line_table, near));
    bool is_one_line = statement->first_line == statement->last_line;
    if (map == NULL || statement->first_line < ORDINARY_MAP_STARTING_LINE_NUMBER(map))
        return UNKNOWN_LOCATION;
    location_t location = linemap_position_for_line_and_column(
        line_table, map, statement->first_line,
        is_one_line ? statement->last_column : statement->first_column);
    return LOCATION_LINE(location) == (int)statement->first_line ? location : UNKNOWN_LOCATION;
}

static void mend_place(gimple *stmt)
{
    unsigned block;
    bool is_first;
    const struct pm_fortran_statement *meant =
        workshared_at(gimple_location(stmt), &block, &is_first);
    location_t location =
        meant != NULL ? location_of(meant, gimple_location(stmt)) : UNKNOWN_LOCATION;
    if (location == UNKNOWN_LOCATION)
        return;
    gimple_set_location(stmt, location);
    for (unsigned i = 0; gimple_code(stmt) == GIMPLE_OMP_FOR && i < gimple_omp_for_collapse(stmt);
         i++)
        if (EXPR_P(gimple_omp_for_incr(stmt, i)))
            SET_EXPR_LOCATION(gimple_omp_for_incr(stmt, i), location);
}

/* What the statements of a WORKSHARE block become. */
static bool is_unit(gimple *stmt)
{
    return gimple_code(stmt) == GIMPLE_OMP_FOR || gimple_code(stmt) == GIMPLE_OMP_SINGLE;
}

void pm_fortran_mend_workshare(const std::vector<struct pm_linear> &code)
{
    std::set<unsigned> blocks; /* of compilers that have the fault: something is at the directive */
    unsigned block;
    bool is_first;
    if (!pm_fact_is_fortran() || !flag_openmp)
        return;
    for (const struct pm_linear &item : code)
        if (is_unit(item.stmt) &&
            workshared_at(gimple_location(item.stmt), &block, &is_first) != NULL && is_first)
            blocks.insert(block);
    for (size_t i = 0; i < code.size() && !blocks.empty(); i++) {
        if (!is_unit(code[i].stmt) ||
            workshared_at(gimple_location(code[i].stmt), &block, &is_first) == NULL ||
            blocks.count(block) == 0)
            continue;
        unsigned end = code[i].end;
        for (; i < end; i++)
            mend_place(code[i].stmt);
        i--;
    }
}

bool pm_fortran_concurrent_at(const struct pm_place *place, struct pm_place *ret_place,
                              unsigned *ret_n_indices)
{
    struct pm_fortran *source;
    const struct pm_fortran_statement *text = statement_at(place, &source);
    const struct pm_fortran_statement *head =
        text != NULL ? pm_fortran_concurrent(source, text, ret_n_indices) : NULL;
    if (head != NULL)
        place_at(head, place, ret_place);
    return head != NULL;
}

/* "function f(n) result(list)": list; without such a clause, f. */
std::string pm_fortran_result_name(tree function_decl)
{
    std::string result = IDENTIFIER_POINTER(DECL_NAME(function_decl));
    struct pm_place place;
    struct pm_fortran *source =
        pm_place_of(DECL_SOURCE_LOCATION(function_decl), &place) ? source_at(&place) : NULL;
    const struct pm_fortran_statement *statement =
        source != NULL ? pm_fortran_at(source, place.line, 0) : NULL;
    if (statement == NULL)
        return result;
    struct pm_str text = statement->text, name;
    bool is_next = false;
    for (size_t at = 0; pm_fortran_next_name(text, &at, &name);) {
        if (is_next)
            result.assign(name.p, name.len);
        while (at < text.len && text.p[at] == ' ')
            at++;
        is_next = name.len == strlen("result") && memcmp(name.p, "result", name.len) == 0 &&
                  at < text.len && text.p[at] == '(' &&
                  result.compare(0, name.len, name.p, name.len) != 0;
    }
    return result;
}
