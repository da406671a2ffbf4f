/* Which construct is this? See identity.h for how loops are known again after the optimisers. */

#include "identity.h"

extern "C" {
#include "../emit/loop_votes.h"
#include "../emit/paths.h"
#include "../../mapping/base/cxx_name.h"
#include "../../mapping/base/names.h"
}

/* --- places --- */

static void set_file(struct pm_place *place, const char *spelt)
{
    static struct pm_paths *paths = pm_paths_new(remap_debug_filename);
    if (paths == NULL || !pm_paths_set_file(paths, spelt, get_src_pwd(), place))
        pm_no_memory();
}

static bool expand_place(location_t location, struct pm_place *ret_place)
{
    expanded_location expanded = expand_location(location);
    if (expanded.file == NULL || expanded.line <= 0 || expanded.file[0] == '<')
        return false;
    static const char *last_spelt;
    static struct pm_place last;
    if (expanded.file != last_spelt) {
        set_file(&last, expanded.file);
        last_spelt = expanded.file;
    }
    *ret_place = last;
    ret_place->line = (unsigned)expanded.line;
    ret_place->column = expanded.column > 0 ? (unsigned)expanded.column : 0;
    return true;
}

bool pm_place_of(location_t location, struct pm_place *ret_place)
{
    enum { RECENT_MAX = 1024 };
    static struct recent {
        location_t location;
        bool good;
        struct pm_place place;
    } recents[RECENT_MAX];
    location = LOCATION_LOCUS(location);
    if (location <= BUILTINS_LOCATION)
        return false;
    struct recent *recent = &recents[pm_hash(location) >> 54];
    if (recent->location != location) {
        recent->location = location;
        recent->good = expand_place(location, &recent->place);
    }
    if (recent->good)
        *ret_place = recent->place;
    return recent->good;
}

bool pm_is_in_macro(location_t location)
{
    return linemap_location_from_macro_expansion_p(line_table, location);
}

/* "-I/usr/include/eigen3" (pkg-config) names a system header no less than -isystem. */
bool pm_is_system_place(location_t location)
{
    location_t written =
        linemap_resolve_location(line_table, location, LRK_MACRO_EXPANSION_POINT, NULL);
    struct pm_place place;
    return in_system_header_at(written) ||
           (pm_place_of(written, &place) && pm_name_is_of_system(place.file));
}

/* --- functions --- */

const char *pm_linkage_name(tree decl)
{
    const char *name = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(decl));
    return name[0] == '*' ? name + 1 : name;
}

static struct pm_table<unsigned, struct pm_source_function *> by_uid;
static std::map<std::string, tree>
    scanned_by_name; /* only declarations that the symbol table holds too */

/* "sweep" of "sweep._omp_fn.0" and other bodies that the compiler cut out; empty when it is none.
 * What LTO appends is cut as well. */
static std::string outlined_parent(const char *linkage)
{
    static const char *const marks[] = {"._omp_fn.", "._omp_cpyfn.", "._loopfn."};
    for (const char *mark : marks) {
        const char *found = strstr(linkage, mark);
        if (found != NULL)
            return std::string(linkage, (size_t)(found - linkage));
    }
    return std::string();
}

static tree abstract_origin(tree decl)
{
    for (int i = 0; i < 16; i++) {
        tree origin = DECL_ABSTRACT_ORIGIN(decl);
        if (origin == NULL_TREE || origin == decl || TREE_CODE(origin) != FUNCTION_DECL)
            break;
        decl = origin;
    }
    return decl;
}

tree pm_origin_function(tree function_decl)
{
    tree decl = abstract_origin(function_decl);
    std::string parent = outlined_parent(pm_linkage_name(decl));
    if (parent.empty())
        return decl;
    auto found = scanned_by_name.find(parent);
    if (found != scanned_by_name.end())
        return abstract_origin(found->second);
    symtab_node *node = symtab_node::get_for_asmname(get_identifier(parent.c_str()));
    if (node != NULL && TREE_CODE(node->decl) == FUNCTION_DECL)
        return abstract_origin(node->decl);
    return decl;
}

/* The bodies of a destructor, or constructor, by whom they call: the one that frees memory, that
 * of whole objects, that of bases, and with -Os (-fdeclone-ctor-dtor) one that all of them call. */
static unsigned body_rank(tree decl)
{
    static const char *const names[] = {"__dt ",     "__ct ",     "__dt_base", "__ct_base",
                                        "__dt_comp", "__ct_comp", "__dt_del"};
    for (int depth = 0; depth < 4 && decl != NULL_TREE; depth++, decl = DECL_ABSTRACT_ORIGIN(decl))
        for (unsigned i = 0; i < sizeof names / sizeof *names && DECL_NAME(decl) != NULL_TREE; i++)
            if (strncmp(IDENTIFIER_POINTER(DECL_NAME(decl)), names[i], strlen(names[i])) == 0)
                return 1 + i / 2;
    return 0;
}

bool pm_is_lower_body(tree decl, tree of)
{
    return pm_origin_function(decl) == pm_origin_function(of) && body_rank(decl) != 0 &&
           body_rank(decl) < body_rank(of);
}

static tree context_of(tree t)
{
    if (DECL_P(t))
        return DECL_CONTEXT(t);
    return TYPE_P(t) ? TYPE_CONTEXT(t) : NULL_TREE;
}

/* In lto1 the unit tells. */
static bool is_c(tree decl)
{
    const char *language = lang_hooks.name;
    if (in_lto_p) {
        tree unit = decl;
        while (unit != NULL_TREE && TREE_CODE(unit) != TRANSLATION_UNIT_DECL)
            unit = context_of(unit);
        language = unit != NULL_TREE ? TRANSLATION_UNIT_LANGUAGE(unit) : NULL;
    }
    return language != NULL && strncmp(language, "GNU C", 5) == 0 && language[5] != '+';
}

/* The result is declared where the definition begins, the body begins at its brace. */
location_t pm_definition_place(tree function_decl)
{
    location_t place = DECL_SOURCE_LOCATION(function_decl);
    struct function *body = DECL_STRUCT_FUNCTION(function_decl);
    if (!pm_is_system_place(place) || !is_c(function_decl))
        return place;
    tree result = DECL_RESULT(function_decl);
    location_t others[] = {UNKNOWN_LOCATION, UNKNOWN_LOCATION};
    if (result != NULL_TREE)
        others[0] = DECL_SOURCE_LOCATION(result);
    if (body != NULL)
        others[1] = body->function_start_locus;
    for (location_t other : others)
        if (other > BUILTINS_LOCATION && !pm_is_system_place(other))
            return other;
    return place;
}

const char *pm_written_name(tree decl)
{
    return DECL_NAME(decl) != NULL_TREE ? IDENTIFIER_POINTER(DECL_NAME(decl)) : "";
}

std::string pm_source_linkage(tree decl)
{
    std::string name = pm_linkage_name(decl);
    size_t mark = name.find(".lto_priv.");
    return mark == std::string::npos ? name : name.substr(0, mark);
}

/* The common body of a procedure with entries is "master.0.f"; f and they only call it. */
static std::string without_master(const char *name)
{
    static const char mark[] = "master.";
    size_t digits = strlen(mark);
    if (strncmp(name, mark, digits) != 0 || !ISDIGIT(name[digits]))
        return name;
    const char *rest = strchr(name + digits, '.');
    return rest != NULL ? std::string(rest + 1) + ".entries" : name;
}

/* "ns::f(int)", "module::sub", "outer::inner". */
static std::string declared_name(tree decl, const char *linkage)
{
    enum {
        DEMANGLE = 1 | 2 | 64
    }; /* DMGL_PARAMS, DMGL_ANSI, DMGL_RET_DROP of demangle.h, which no plugin may include */
    char *demangled = cplus_demangle_v3 ? cplus_demangle_v3(linkage, DEMANGLE) : NULL;
    if (demangled != NULL) {
        std::string name = demangled;
        struct pm_buf coroutine = PM_BUF_INIT(1 << 20);
        if (pm_cxx_name_coroutine(demangled, &coroutine))
            name.assign(coroutine.data, coroutine.len);
        pm_buf_release(&coroutine);
        free(demangled);
        return name;
    }
    std::string name = without_master(
        DECL_NAME(decl) != NULL_TREE ? IDENTIFIER_POINTER(DECL_NAME(decl)) : linkage);
    const char *module_end = strstr(linkage, "_MOD_");
    if (strncmp(linkage, "__", 2) == 0 && module_end != NULL)
        return std::string(linkage + 2, module_end) + "::" + name;
    tree outer = DECL_CONTEXT(decl);
    if (outer != NULL_TREE && TREE_CODE(outer) == FUNCTION_DECL)
        return declared_name(outer, pm_linkage_name(outer)) + "::" + name;
    return name;
}

static tree first_placed(tree *t, int *, void *)
{
    return EXPR_P(*t) && LOCATION_LOCUS(EXPR_LOCATION(*t)) > BUILTINS_LOCATION ? *t : NULL_TREE;
}

/* Where the text of a body begins that gfortran declares elsewhere. */
static bool body_place(tree decl, struct pm_place *ret_place)
{
    tree body = DECL_SAVED_TREE(decl);
    tree first =
        body != NULL_TREE ? walk_tree_without_duplicates(&body, first_placed, NULL) : NULL_TREE;
    if (first != NULL_TREE)
        return pm_place_of(EXPR_LOCATION(first), ret_place);
    gimple_seq code = gimple_body(decl);
    gimple_stmt_iterator at = gsi_start(code);
    while (!gsi_end_p(at) && !pm_place_of(gimple_location(gsi_stmt(at)), ret_place)) {
        gimple *stmt = gsi_stmt(at);
        gimple_seq inner =
            gimple_code(stmt) == GIMPLE_BIND ? gimple_bind_body(as_a<gbind *>(stmt)) : NULL;
        if (inner != NULL)
            at = gsi_start(inner);
        else
            gsi_next(&at);
    }
    return !gsi_end_p(at);
}

/* The procedure that a common body ("master.0.f") is of: f of that file, in whichever module, that
 * begins last before the body's text. NULL_TREE: it is no such body. */
static tree procedure_of_entries(tree master)
{
    tree found = NULL_TREE;
    struct pm_place body = {}, place, best = {};
    std::string name = pm_written_name(master);
    std::string suffix = without_master(name.c_str());
    if (suffix == name || !body_place(master, &body))
        return NULL_TREE;
    struct cgraph_node *node;
    FOR_EACH_FUNCTION(node) {
        tree other = node->decl;
        if (other == master || DECL_NAME(other) == NULL_TREE || DECL_EXTERNAL(other) ||
            suffix != std::string(IDENTIFIER_POINTER(DECL_NAME(other))) + ".entries" ||
            !pm_place_of(DECL_SOURCE_LOCATION(other), &place) || place.file != body.file ||
            place.line > body.line || place.line < best.line)
            continue;
        found = other;
        best = place;
    }
    return found;
}

static struct pm_source_function *function_from_declaration(tree decl)
{
    struct pm_place place = {};
    tree procedure = procedure_of_entries(decl), shown = procedure != NULL_TREE ? procedure : decl;
    if (!pm_place_of(pm_definition_place(shown), &place)) {
        set_file(&place, main_input_filename != NULL ? main_input_filename : "");
    }
    const char *linkage = xstrdup(pm_source_linkage(decl).c_str());
    std::string declared = declared_name(shown, pm_linkage_name(shown));
    if (procedure != NULL_TREE)
        declared += ".entries";
    const char *name = xstrdup(declared.c_str());
    struct pm_source_function *function =
        pm_source_function_new(linkage, name, !TREE_PUBLIC(decl) ? place.file : NULL, &place);
    if (function == NULL)
        pm_no_memory();
    function->abstract = DECL_ABSTRACT_P(decl);
    function->in_macro = pm_is_in_macro(DECL_SOURCE_LOCATION(decl));
    return function;
}

/* --- the table that travels to lto1 --- */

static const char attribute_name[] = "perfmap";

static struct pm_source_function *function_from_attribute(tree decl)
{
    tree attribute = lookup_attribute(attribute_name, DECL_ATTRIBUTES(decl));
    if (attribute == NULL_TREE || TREE_VALUE(attribute) == NULL_TREE)
        return NULL;
    static struct pm_intern *strings;
    if (strings == NULL)
        strings = pm_intern_new();
    const char *text = TREE_STRING_POINTER(TREE_VALUE(TREE_VALUE(attribute)));
    struct pm_source_function *function =
        strings != NULL ? pm_source_function_read(text, strings) : NULL;
    if (function == NULL)
        pm_no_memory();
    return function;
}

static void set_attribute(tree decl, const struct pm_buf *text)
{
    if (lookup_attribute(attribute_name, DECL_ATTRIBUTES(decl)) != NULL_TREE)
        DECL_ATTRIBUTES(decl) = remove_attribute(attribute_name, DECL_ATTRIBUTES(decl));
    tree value = build_string((int)text->len + 1, text->data);
    DECL_ATTRIBUTES(decl) = tree_cons(get_identifier(attribute_name),
                                      build_tree_list(NULL_TREE, value), DECL_ATTRIBUTES(decl));
}

struct pm_source_function *pm_source_function_of(tree function_decl)
{
    struct pm_source_function **found = by_uid.find(DECL_UID(function_decl));
    if (found != NULL)
        return *found;
    tree origin = pm_origin_function(function_decl);
    struct pm_source_function *function = NULL;
    found = by_uid.find(DECL_UID(origin));
    if (found != NULL)
        function = *found;
    if (function == NULL && in_lto_p)
        function = function_from_attribute(function_decl);
    if (function == NULL && in_lto_p)
        function = function_from_attribute(origin);
    if (function == NULL)
        function = function_from_declaration(origin);
    by_uid.add(DECL_UID(function_decl), function);
    by_uid.add(DECL_UID(origin), function);
    return function;
}

pm_id pm_function_id(tree function_decl)
{
    return pm_source_function_of(function_decl)->id;
}

pm_id pm_symbol_id(tree function_decl)
{
    const char *local_path =
        !TREE_PUBLIC(function_decl) ? pm_source_function_of(function_decl)->place.file : NULL;
    return pm_id_of_symbol(pm_linkage_name(function_decl), local_path);
}

/* --- loops of the source --- */

void pm_source_function_done(struct pm_source_function *function, tree function_decl)
{
    struct pm_place end;
    struct function *body = DECL_STRUCT_FUNCTION(function_decl);
    if (body != NULL && pm_place_of(body->function_end_locus, &end) &&
        end.file == function->place.file)
        function->end_line = end.line;
    function->scanned = true;
    if (!pm_source_loops_sort(function))
        pm_no_memory();
    scanned_by_name[pm_linkage_name(function_decl)] = function_decl;
    if (!flag_generate_lto || in_lto_p)
        return;
    struct pm_buf text = PM_BUF_INIT(INT_MAX - 1);
    pm_source_function_write(function, &text);
    if (text.failed)
        pm_no_memory();
    set_attribute(function_decl, &text);
    tree origin = abstract_origin(function_decl);
    if (origin != function_decl)
        set_attribute(origin, &text);
    pm_buf_release(&text);
}

/* --- natural loops --- */

/* Where code is: copies are known by their BLOCKs. */
static tree copy_of(const struct pm_loop_position &position)
{
    return static_cast<tree>(position.copy);
}

static tree function_of(const struct pm_loop_position &position)
{
    tree scope = copy_of(position);
    return scope != NULL_TREE ? block_ultimate_origin(scope) : current_function_decl;
}

tree pm_inlined_scope(tree block)
{
    while (block != NULL_TREE && TREE_CODE(block) == BLOCK &&
           !inlined_function_outer_scope_p(block))
        block = BLOCK_SUPERCONTEXT(block);
    return block != NULL_TREE && TREE_CODE(block) == BLOCK ? block : NULL_TREE;
}

tree pm_text_function(tree block)
{
    tree scope = pm_inlined_scope(block);
    tree origin = scope != NULL_TREE ? block_ultimate_origin(scope) : NULL_TREE;
    return origin != NULL_TREE && TREE_CODE(origin) == FUNCTION_DECL ? origin
                                                                     : current_function_decl;
}

/* The innermost source loop around a place that lies in a copy, or else around the call that was
 * inlined, and so on outwards. */
static struct pm_loop_position position_at(location_t locus, tree block)
{
    for (;;) {
        tree scope = pm_inlined_scope(block);
        struct pm_loop_position position = {NULL, -1, scope};
        tree decl = function_of(position);
        struct pm_place place;
        if (decl != NULL_TREE && TREE_CODE(decl) == FUNCTION_DECL && pm_place_of(locus, &place)) {
            position.function = pm_source_function_of(decl);
            position.index =
                pm_source_loop_at(position.function, place.file, pm_place_point(&place));
        }
        if (position.index >= 0 || scope == NULL_TREE)
            return position;
        locus = BLOCK_SOURCE_LOCATION(scope);
        block = BLOCK_SUPERCONTEXT(scope);
    }
}

static struct pm_loop_position position_up(struct pm_loop_position position)
{
    tree scope = copy_of(position);
    position.index = position.function->loops[position.index].parent;
    if (position.index >= 0 || scope == NULL_TREE)
        return position;
    return position_at(BLOCK_SOURCE_LOCATION(scope), BLOCK_SUPERCONTEXT(scope));
}

struct votes {
    struct pm_loop_votes loops;
    location_t last;
    struct pm_place lowest; /* of all statements, should there be no table */

    ~votes() { pm_loop_votes_release(&loops); }
};

static void vote(struct votes *votes, location_t location)
{
    if (LOCATION_LOCUS(location) <= BUILTINS_LOCATION)
        return;
    if (location == votes->last) {
        pm_loop_votes_repeat(&votes->loops);
        return;
    }
    struct pm_loop_position position = position_at(location, LOCATION_BLOCK(location));
    votes->last = location;
    pm_loop_votes_add(&votes->loops, &position, position_up);
    if (votes->loops.failed)
        pm_no_memory();
}

static void vote_lowest(struct votes *votes, location_t location)
{
    struct pm_place place;
    tree scope = pm_inlined_scope(LOCATION_BLOCK(location));
    if (scope == NULL_TREE && pm_place_of(location, &place) &&
        (votes->lowest.line == 0 || pm_text_point_less({place.line, place.column},
                                                       {votes->lowest.line, votes->lowest.column})))
        votes->lowest = place;
}

static void vote_rtl(basic_block bb, struct votes *votes)
{
    rtx_insn *insn;
    FOR_BB_INSNS(bb, insn) {
        if (!NONDEBUG_INSN_P(insn) || prologue_epilogue_contains(insn))
            continue;
        vote(votes, INSN_LOCATION(insn));
        vote_lowest(votes, INSN_LOCATION(insn));
    }
}

static void vote_gimple(basic_block bb, struct votes *votes)
{
    for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
        gimple *stmt = gsi_stmt(gsi);
        if (is_gimple_debug(stmt) || gimple_code(stmt) == GIMPLE_LABEL)
            continue;
        vote(votes, gimple_location(stmt));
        vote_lowest(votes, gimple_location(stmt));
    }
}

/* The statements of a loop that lie in none of its inner loops. */
static void vote_all(class loop *loop, struct votes *votes)
{
    for (basic_block bb : pm_loop_blocks(loop)) {
        if (bb->loop_father != loop)
            continue;
        if (bb->flags & BB_RTL)
            vote_rtl(bb, votes);
        else
            vote_gimple(bb, votes);
        edge e;
        edge_iterator ei;
        FOR_EACH_EDGE(e, ei, bb->succs) {
            if (e->dest == loop->header)
                vote(votes, e->goto_locus);
        }
    }
}

/* Does it compare and exchange memory atomically? */
static bool exchanges(const rtx_insn *insn)
{
    subrtx_iterator::array_type array;
    FOR_EACH_SUBRTX(at, array, PATTERN(insn), NONCONST)
        if (pm_gcc_is_compare_and_swap(*at))
            return true;
    return false;
}

static bool exchanges(const gimple *stmt)
{
    if (!is_gimple_call(stmt))
        return false;
    if (gimple_call_internal_p(stmt))
        return gimple_call_internal_fn(stmt) == IFN_ATOMIC_COMPARE_EXCHANGE;
    tree callee = gimple_call_fndecl(stmt);
    return callee != NULL_TREE && fndecl_built_in_p(callee, BUILT_IN_NORMAL) &&
           DECL_FUNCTION_CODE(callee) >= BUILT_IN_SYNC_VAL_COMPARE_AND_SWAP_N &&
           DECL_FUNCTION_CODE(callee) <= BUILT_IN_SYNC_VAL_COMPARE_AND_SWAP_16;
}

static bool block_exchanges(basic_block bb)
{
    if (bb->flags & BB_RTL) {
        rtx_insn *insn;
        FOR_BB_INSNS(bb, insn)
            if (NONDEBUG_INSN_P(insn) && exchanges(insn))
                return true;
        return false;
    }
    for (gimple_stmt_iterator at = gsi_start_bb(bb); !gsi_end_p(at); gsi_next(&at))
        if (exchanges(gsi_stmt(at)))
            return true;
    return false;
}

static location_t branch_location(basic_block bb)
{
    if (bb->flags & BB_RTL)
        return JUMP_P(BB_END(bb)) ? INSN_LOCATION(BB_END(bb)) : UNKNOWN_LOCATION;
    gimple_stmt_iterator last = gsi_last_bb(bb);
    return !gsi_end_p(last) ? gimple_location(gsi_stmt(last)) : UNKNOWN_LOCATION;
}

/* "omp atomic" of what the processor cannot add is a loop of the compiler's: again until nobody
 * else was there meanwhile. One that the source has has a place for its condition. */
static bool is_of_atomic(class loop *loop)
{
    if (!flag_openmp || loop->inner != NULL)
        return false;
    bool found = false;
    basic_block *body = get_loop_body(loop);
    for (unsigned i = 0; i < loop->num_nodes && !found; i++)
        found = block_exchanges(body[i]);
    for (unsigned i = 0; i < loop->num_nodes; i++) {
        edge e;
        edge_iterator ei;
        FOR_EACH_EDGE(e, ei, body[i]->succs)
            if (!flow_bb_inside_loop_p(loop, e->dest))
                found &= LOCATION_LOCUS(branch_location(body[i])) <= BUILTINS_LOCATION;
    }
    free(body);
    return found;
}

/* How many natural loops, one in the other and this one included, have this position? */
static int nest_of(class loop *loop, const struct pm_loop_position &position);

static bool natural_position(class loop *loop, struct pm_loop_position *ret_position)
{
    struct votes votes = {};
    if (is_of_atomic(loop))
        return false;
    vote_all(loop, &votes);
    enum pm_loop_verdict verdict = pm_loop_votes_count(&votes.loops, ret_position);
    if (verdict == PM_VOTES_NONE) {
        /* Nothing of its own is left: it is the loop around an inner one. */
        for (class loop *inner = loop->inner; inner != NULL && votes.loops.n_outside == 0;
             inner = inner->next) {
            struct pm_loop_position position;
            if (pm_loop_outer(inner) != loop || !natural_position(inner, &position))
                continue;
            int nest = position.function->loops[position.index].nest;
            *ret_position = nest_of(inner, position) < nest ? position : position_up(position);
            return ret_position->index >= 0;
        }
        return false;
    }
    if (verdict == PM_VOTES_OUTSIDE)
        return false;
    int nest = ret_position->function->loops[ret_position->index].nest;
    if (nest_of(loop, *ret_position) > nest)
        *ret_position = position_up(*ret_position);
    return ret_position->index >= 0;
}

static int nest_of(class loop *loop, const struct pm_loop_position &position)
{
    int deepest = 0;
    for (class loop *inner = loop->inner; inner != NULL; inner = inner->next) {
        struct pm_loop_position of_inner;
        if (pm_loop_outer(inner) == loop && natural_position(inner, &of_inner) &&
            pm_loop_position_same(&of_inner, &position))
            deepest = std::max(deepest, nest_of(inner, position));
    }
    return deepest + 1;
}

/* Without a table (the file was compiled without the plugin and is linked with it): the first
 * statement stands for the loop. */
static bool identity_without_table(class loop *loop, struct pm_loop_identity *ret_identity)
{
    struct pm_source_function *function = pm_source_function_of(current_function_decl);
    if (function->scanned)
        return false;
    struct votes votes = {};
    vote_all(loop, &votes);
    if (votes.lowest.line == 0)
        return false;
    *ret_identity = {};
    ret_identity->function = pm_origin_function(current_function_decl);
    ret_identity->place = votes.lowest;
    ret_identity->id =
        pm_id_of_loop(function->id, votes.lowest.file, pm_place_point(&votes.lowest));
    return true;
}

static void identity_at(const struct pm_loop_position &position,
                        struct pm_loop_identity *ret_identity)
{
    const struct pm_source_loop *source = &position.function->loops[position.index];
    ret_identity->function = pm_origin_function(function_of(position));
    ret_identity->place.file = source->file;
    ret_identity->place.shown = source->shown;
    ret_identity->place.line = source->place.line;
    ret_identity->place.column = source->place.column;
    ret_identity->id = source->id;
    ret_identity->copy = copy_of(position);
    ret_identity->is_split = source->is_split;
}

bool pm_loop_identity_of(class loop *loop, struct pm_loop_identity *ret_identity)
{
    struct pm_loop_position position;
    if (!natural_position(loop, &position))
        return identity_without_table(loop, ret_identity);
    identity_at(position, ret_identity);
    return true;
}

/* --- loops of the source without a natural loop --- */

static std::vector<struct pm_loop_position> natural; /* of the function at hand */

void pm_natural_loops_find(function *fun)
{
    natural.clear();
    PM_FOR_EACH_LOOP(fun, loop)
    {
        struct pm_loop_position position;
        if (natural_position(loop, &position))
            natural.push_back(position);
    }
}

static bool is_natural(const struct pm_loop_position &position)
{
    for (const struct pm_loop_position &known : natural)
        if (pm_loop_position_same(&known, &position))
            return true;
    return false;
}

bool pm_missing_loop_at(location_t location, pm_id around, bool returns,
                        struct pm_loop_identity *ret_identity)
{
    if (LOCATION_LOCUS(location) <= BUILTINS_LOCATION)
        return false;
    struct pm_loop_position position = position_at(location, LOCATION_BLOCK(location));
    for (; position.index >= 0; position = position_up(position)) {
        if (position.function->loops[position.index].id == around)
            return false;
        if (!returns || !is_natural(position)) {
            identity_at(position, ret_identity);
            return true;
        }
    }
    return false;
}

struct missing {
    struct pm_loop_position position;
    bool has_calls;
};

/* Is it at the loop's directive ("omp parallel for"), before the loop? What the function around
 * hands to the threads' part stands there. A do-while, whose place is its end, begins so, too. */
static bool is_of_directive(const struct pm_loop_position &position, location_t location)
{
    const struct pm_source_loop *loop = &position.function->loops[position.index];
    struct pm_place place;
    if (copy_of(position) != pm_inlined_scope(LOCATION_BLOCK(location)) ||
        !pm_place_of(location, &place))
        return false;
    struct pm_text_point point = pm_place_point(&place);
    return !pm_text_point_less(loop->first, point) && pm_text_point_less(point, loop->place);
}

static bool calls_function(const gimple *stmt)
{
    return is_gimple_call(stmt) && !gimple_call_internal_p(stmt);
}

/* All loops around a place that are not there. calls: a function is called there. */
static void add_missing(std::vector<struct missing> *list, location_t location, bool calls)
{
    struct pm_loop_position position = position_at(location, LOCATION_BLOCK(location));
    for (; position.index >= 0; position = position_up(position)) {
        auto known = std::find_if(list->begin(), list->end(), [&](const struct missing &loop) {
            return pm_loop_position_same(&loop.position, &position);
        });
        if (known != list->end())
            known->has_calls |= calls;
        else if (!is_natural(position) && !is_of_directive(position, location))
            list->push_back({position, calls});
    }
}

void pm_loops_missing(function *fun, std::vector<struct pm_missing_loop> *ret_missing)
{
    std::vector<struct missing> list;
    std::set<std::pair<location_t, bool>> seen; /* many statements have one place */
    basic_block bb;
    pm_natural_loops_find(fun);
    FOR_EACH_BB_FN(bb, fun)
        for (gimple_stmt_iterator at = gsi_start_bb(bb); !gsi_end_p(at); gsi_next(&at)) {
            gimple *stmt = gsi_stmt(at);
            location_t location = gimple_location(stmt);
            bool has_place = !is_gimple_debug(stmt) && gimple_code(stmt) != GIMPLE_LABEL &&
                             LOCATION_LOCUS(location) > BUILTINS_LOCATION;
            if (has_place && seen.insert({location, calls_function(stmt)}).second)
                add_missing(&list, location, calls_function(stmt));
        }
    for (const struct missing &loop : list) {
        struct pm_missing_loop missing = {{}, loop.has_calls};
        identity_at(loop.position, &missing.identity);
        if (pm_function_selected(function_of(loop.position)))
            ret_missing->push_back(missing);
    }
}
