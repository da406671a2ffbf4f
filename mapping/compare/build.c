/* What a build consists of, as hashes. */
#include "build.h"

#include "format/pm_id.h"
#include "mapping/base/statement_names.h"

#include <stdlib.h>

/* A statement, a loop, or data of a function, while the graph is there. */
struct found {
    pm_index noun, function;
    uint64_t signature, rough;
};

struct founds {
    struct found *list; /* by function, line, column */
    uint32_t n;
};

uint64_t pm_build_hash(const struct pm_archive_data *data)
{
    uint64_t of_facts = 0, of_all = 0;
    for (uint32_t i = 0; i < data->n_binaries; i++) {
        const struct pm_binary *binary = &data->binaries[i];
        struct pm_id_hash hash;
        pm_id_hash_init(&hash, "binary");
        pm_id_hash_string(&hash, *binary->build_id ? binary->build_id : binary->path);
        of_all += pm_id_hash_done(&hash);
        of_facts += strcmp(binary->pif_state, "read") ? 0 : pm_id_hash_done(&hash);
    }
    return of_facts ? of_facts : of_all;
}

/* --- files --- */

/* How many letters both paths have in common at their ends, up to a slash or a beginning; 0:
 * another file name. */
static size_t common_end(const char *a, const char *b)
{
    size_t n_a = strlen(a), n_b = strlen(b), n = 0, whole = 0;
    for (; n < n_a && n < n_b && a[n_a - 1 - n] == b[n_b - 1 - n]; n++)
        if (a[n_a - 1 - n] == '/')
            whole = n;
    bool ends = (n == n_a || a[n_a - 1 - n] == '/') && (n == n_b || b[n_b - 1 - n] == '/');
    return ends ? n : whole;
}

/* Distinct files of a graph's nouns, in order of appearance. */
static bool find_files(const struct pm_graph *graph, struct pm_build *build)
{
    struct pm_map seen = {0};
    uint32_t cap = 0;
    bool good = true;
    const char *last = NULL;
    for (pm_index i = 0; good && i < graph->n_nouns; i++) {
        const char *file = graph->nouns[i].file;
        if (file == last || !*file)
            continue;
        last = file;
        struct pm_id_hash hash;
        pm_id_hash_init(&hash, "file");
        pm_id_hash_string(&hash, file);
        uint32_t *at = pm_map_at(&seen, pm_id_hash_done(&hash));
        if (at && *at)
            continue;
        const char **files =
            pm_grow_array(build->files, build->n_files, &cap, 64, sizeof *build->files);
        if (files)
            build->files = files;
        good = at && files &&
               (files[build->n_files] = pm_arena_strndup(&build->arena, file, strlen(file)));
        if (good)
            *at = ++build->n_files;
    }
    pm_map_release(&seen);
    return good;
}

static bool is_among(const char *const *files, uint32_t n, const char *file)
{
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(files[i], file))
            return true;
    return false;
}

/* The one of `others` that ends most like it; NULL: none, or several do. */
static const char *closest(const char *file, const char *const *others, uint32_t n)
{
    const char *found = NULL;
    size_t most = 0;
    for (uint32_t i = 0; i < n; i++) {
        size_t length = common_end(file, others[i]);
        if (length && length == most)
            found = NULL;
        if (length > most) {
            most = length;
            found = others[i];
        }
    }
    return found;
}

/* A file that the reference has, too, keeps its name; another one is the closest. */
static bool rename_files(const struct pm_build *reference, struct pm_build *build)
{
    build->here = pm_alloc_array((size_t)build->n_files + 1, sizeof *build->here);
    build->there = pm_alloc_array((size_t)build->n_files + 1, sizeof *build->there);
    if (!build->here || !build->there)
        return false;
    for (uint32_t i = 0; i < build->n_files; i++) {
        const char *own = build->files[i];
        const char *other = is_among(reference->files, reference->n_files, own)
                                ? NULL
                                : closest(own, reference->files, reference->n_files);
        if (!other || is_among(build->files, build->n_files, other))
            continue;
        build->here[build->n_renamed_files] = own;
        build->there[build->n_renamed_files] =
            pm_arena_strndup(&build->arena, other, strlen(other));
        if (!build->there[build->n_renamed_files++])
            return false;
    }
    return true;
}

/* --- what is in functions --- */

static bool is_fine(const struct pm_view *view, pm_index noun)
{
    const struct pm_graph_noun *n = &view->data->graph->nouns[noun];
    if (!n->line_no || !*n->file || n->parent == PM_NONE)
        return false;
    return pm_view_noun_is_loop(view, noun) || pm_noun_is_data(n) ||
           (pm_view_noun_is_statement(view, noun) && !pm_is_named_by_function(n->name));
}

static unsigned depth_of(const struct pm_view *view, pm_index noun)
{
    const struct pm_graph *graph = view->data->graph;
    unsigned depth = 0;
    for (pm_index at = graph->nouns[noun].parent; at != PM_NONE; at = graph->nouns[at].parent)
        depth += pm_view_noun_is_loop(view, at);
    return depth;
}

static void hash_bare_name(struct pm_id_hash *hash, const struct pm_view *view, pm_index noun)
{
    size_t length;
    const char *name = pm_view_bare_name(view, noun, &length);
    XXH64_update(&hash->state, name, length);
    pm_id_hash_string(hash, "");
}

/* What statements read and write, as the compiler's facts say: in no order, so it is added up. */
static void add_uses(const struct pm_view *view, const uint32_t *found_of, struct found *list)
{
    const struct pm_graph *graph = view->data->graph;
    for (uint32_t i = 0; i < graph->n_mappings; i++) {
        const struct pm_mapping *mapping = &graph->mappings[i];
        pm_index from = pm_graph_first_noun(graph, mapping->source);
        pm_index to = pm_graph_first_noun(graph, mapping->destination);
        if (strcmp(mapping->origin, "compiler") != 0)
            continue;
        if (from == PM_NONE || to == PM_NONE || !found_of[from] ||
            !pm_noun_is_data(&graph->nouns[to]))
            continue;
        struct pm_id_hash hash;
        pm_id_hash_init(&hash, "uses");
        pm_id_hash_string(&hash, graph->verbs[graph->sentences[mapping->destination].verb].name);
        hash_bare_name(&hash, view, to);
        list[found_of[from] - 1].signature += pm_id_hash_done(&hash);
    }
}

/* A loop is known by what is in it, too. */
static void add_contents(const struct pm_view *view, const uint32_t *found_of, struct founds *all)
{
    const struct pm_graph_noun *nouns = view->data->graph->nouns;
    for (uint32_t i = 0; i < all->n; i++) {
        pm_index parent = nouns[all->list[i].noun].parent;
        bool is_in_loop = found_of[parent] && pm_view_noun_is_loop(view, parent);
        if (is_in_loop && !pm_view_noun_is_loop(view, all->list[i].noun))
            all->list[found_of[parent] - 1].signature += all->list[i].signature | 1;
    }
}

static void sign(const struct pm_view *view, struct found *fine)
{
    const struct pm_graph_noun *n = &view->data->graph->nouns[fine->noun];
    struct pm_id_hash hash;
    if (pm_noun_is_data(n)) { /* its name says it */
        pm_id_hash_init(&hash, "data");
        hash_bare_name(&hash, view, fine->noun);
        fine->signature = fine->rough = pm_id_hash_done(&hash);
        return;
    }
    pm_id_hash_init(&hash, n->kind);
    pm_id_hash_number(&hash, n->column_no);
    fine->rough = pm_id_hash_done(&hash);
    pm_id_hash_number(&hash, n->end_line_no > n->line_no ? n->end_line_no - n->line_no : 0);
    pm_id_hash_number(&hash, depth_of(view, fine->noun));
    fine->signature = pm_id_hash_done(&hash);
}

static int compare_founds(const void *a_pointer, const void *b_pointer, void *context)
{
    const struct pm_graph *graph = context;
    const struct found *a = a_pointer, *b = b_pointer;
    const struct pm_graph_noun *x = &graph->nouns[a->noun], *y = &graph->nouns[b->noun];
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (x->line_no != y->line_no)
        return x->line_no < y->line_no ? -1 : 1;
    if (x->column_no != y->column_no)
        return x->column_no < y->column_no ? -1 : 1;
    int by_kind = strcmp(x->kind, y->kind);
    return by_kind ? by_kind : strcmp(x->name, y->name);
}

static bool find_founds(const struct pm_view *view, struct founds *ret)
{
    struct pm_graph *graph = view->data->graph;
    uint32_t *found_of = pm_alloc_array((size_t)graph->n_nouns + 1, sizeof *found_of);
    ret->list = pm_alloc_array((size_t)graph->n_nouns + 1, sizeof *ret->list);
    bool good = found_of && ret->list;
    for (pm_index noun = 0; good && noun < graph->n_nouns; noun++) {
        pm_index function = is_fine(view, noun)
                                ? pm_graph_ancestor(graph, graph->nouns[noun].parent, "function")
                                : (pm_index)PM_NONE;
        if (function == PM_NONE ||
            strcmp(graph->nouns[function].file, graph->nouns[noun].file) != 0)
            continue;
        ret->list[ret->n] = (struct found){.noun = noun, .function = function};
        sign(view, &ret->list[ret->n++]);
        found_of[noun] = ret->n;
    }
    if (good) {
        add_uses(view, found_of, ret->list);
        add_contents(view, found_of, ret);
    }
    if (good && ret->n)
        qsort_r(ret->list, ret->n, sizeof *ret->list, compare_founds, graph);
    free(found_of);
    return good;
}

/* --- what is kept --- */

static struct pm_view_key_names names_of(const struct pm_build *build)
{
    return (struct pm_view_key_names){
        .files = build->here, .other_files = build->there, .n_files = build->n_renamed_files};
}

static bool keep_function(const struct pm_view *view, pm_index noun, uint32_t first,
                          struct pm_build *build)
{
    const struct pm_view_key_names names = names_of(build);
    const char *name = view->data->graph->nouns[noun].name;
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    pm_view_function_text(view, &names, noun, &text);
    struct pm_build_function function = {
        .key = pm_view_noun_key(view, &names, noun),
        .first = first,
        .text = text.failed ? NULL : pm_arena_strndup(&build->arena, text.data, text.len),
        .name = pm_arena_strndup(&build->arena, name, strlen(name))};
    pm_buf_release(&text);
    build->functions[build->n_functions++] = function;
    return function.key && function.text && function.name;
}

static bool keep_fines(const struct pm_view *view, const struct founds *founds,
                       struct pm_build *build)
{
    const struct pm_graph_noun *nouns = view->data->graph->nouns;
    const struct pm_view_key_names names = names_of(build);
    build->fines = pm_alloc_array((size_t)founds->n + 1, sizeof *build->fines);
    if (!build->fines)
        return false;
    for (uint32_t i = 0; i < founds->n; i++) {
        const struct found *found = &founds->list[i];
        bool is_first = !i || found->function != founds->list[i - 1].function;
        if (is_first && !keep_function(view, found->function, i, build))
            return false;
        build->functions[build->n_functions - 1].n++;
        build->fines[i] = (struct pm_build_fine){
            pm_view_noun_key(view, &names, found->noun), found->signature, found->rough,
            nouns[found->noun].line_no - nouns[found->function].line_no,
            nouns[found->noun].column_no};
        build->n_fines++;
        if (!build->fines[i].key)
            return false;
    }
    return true;
}

static bool is_function(const struct pm_graph_noun *noun)
{
    return !strcmp(noun->kind, "function") && noun->line_no;
}

static bool keep_functions(const struct pm_view *view, struct pm_build *build)
{
    const struct pm_graph *graph = view->data->graph;
    for (pm_index noun = 0; noun < graph->n_nouns; noun++)
        if (is_function(&graph->nouns[noun]) && graph->nouns[noun].level == view->level &&
            !keep_function(view, noun, 0, build))
            return false;
    return true;
}

static bool keep_all(const struct pm_view *view, bool in_functions, struct founds *founds,
                     struct pm_build *build)
{
    build->functions =
        pm_alloc_array((size_t)view->data->graph->n_nouns + 1, sizeof *build->functions);
    if (!build->functions)
        return false;
    return in_functions ? find_founds(view, founds) && keep_fines(view, founds, build)
                        : keep_functions(view, build);
}

/* Copies of a function that GCC changed come behind the function itself. */
static bool index_functions(struct pm_build *build)
{
    for (uint32_t f = 0; f < build->n_functions; f++) {
        uint32_t *at = pm_map_at(&build->function_of, build->functions[f].key);
        if (!at)
            return false;
        *at = *at ? *at : f + 1;
    }
    return true;
}

static bool index_fines(struct pm_build *build)
{
    if (!pm_map_reserve(&build->fine_of, build->n_fines))
        return false;
    for (uint32_t i = 0; i < build->n_fines; i++) {
        uint32_t *at = pm_map_at(&build->fine_of, build->fines[i].key);
        if (!at)
            return false;
        *at = *at ? *at : i + 1;
    }
    return true;
}

/* What does not lie in functions. */
static bool add_others(const struct pm_view *view, const struct founds *founds,
                       struct pm_build *build)
{
    const struct pm_graph *graph = view->data->graph;
    const struct pm_view_key_names names = names_of(build);
    bool *is_fine = pm_alloc_array((size_t)graph->n_nouns + 1, sizeof *is_fine);
    bool good = is_fine;
    for (uint32_t i = 0; good && i < founds->n; i++)
        is_fine[founds->list[i].noun] = true;
    for (pm_index noun = 0; good && noun < graph->n_nouns; noun++) {
        if (is_fine[noun] || graph->nouns[noun].level != view->level)
            continue;
        uint64_t key = pm_view_noun_key(view, &names, noun);
        good = key && pm_map_put(&build->constructs, key, 1);
    }
    free(is_fine);
    return good;
}

static bool note_matched(const struct pm_build *reference, struct pm_build *build)
{
    build->is_matched = pm_alloc_array((size_t)reference->n_fines + 1, sizeof *build->is_matched);
    for (uint32_t i = 0; build->is_matched && i < build->n_fines; i++)
        if (build->partner[i] != PM_NONE)
            build->is_matched[build->partner[i]] = true;
    return build->is_matched;
}

bool pm_build_has(const struct pm_build *build, const struct pm_build *reference, uint64_t key)
{
    if (pm_map_get(&build->constructs, key))
        return true;
    uint32_t theirs = pm_map_get(&reference->fine_of, key);
    if (build == reference)
        return theirs;
    if (theirs && build->is_matched[theirs - 1])
        return true;
    uint32_t own = pm_map_get(&build->fine_of, key);
    return own && build->is_apart[own - 1];
}

/* What the reference calls a renamed function. */
static bool add_renamed(const struct pm_build *reference, struct pm_build *build)
{
    for (uint32_t f = 0; f < build->n_functions; f++) {
        uint32_t theirs = build->renamed_to[f];
        if (theirs && !pm_map_put(&build->constructs, reference->functions[theirs - 1].key, 1))
            return false;
    }
    return true;
}

static bool find_own(const struct pm_view *view, const struct pm_build *reference,
                     bool in_functions, struct founds *founds, struct pm_build *build)
{
    if (!find_files(view->data->graph, build) || (reference && !rename_files(reference, build)) ||
        !keep_all(view, in_functions, founds, build) || !index_fines(build) ||
        !index_functions(build))
        return false;
    /* Nouns of other levels, and machine code, are there where something happened only. */
    return !pm_view_is_at_source(view) || add_others(view, founds, build);
}

static enum pm_status find_all(const struct pm_view *view, const struct pm_build *reference,
                               const struct pm_build_request *request, struct pm_error *err,
                               struct pm_build *build)
{
    struct founds founds = {0};
    bool good = find_own(view, reference, request->in_functions, &founds, build);
    free(founds.list);
    enum pm_status status = good ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (status != PM_OK || !reference)
        return status;
    status = pm_build_find_renames(build, reference, request->maps, request->n_maps, err);
    if (status != PM_OK)
        return status;
    good = pm_build_align(build, reference) && note_matched(reference, build) &&
           add_renamed(reference, build);
    return good ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

enum pm_status pm_build_make(const struct pm_view *view, const struct pm_build *reference,
                             const struct pm_build_request *request, struct pm_error *err,
                             struct pm_build *ret_build)
{
    *ret_build = (struct pm_build){.hash = pm_build_hash(view->data)};
    enum pm_status status = find_all(view, reference, request, err, ret_build);
    if (status != PM_OK)
        pm_build_release(ret_build);
    return status;
}

static uint32_t n_lacking(const struct pm_build *a, const struct pm_build *b)
{
    uint32_t n = 0;
    for (uint32_t f = 0; f < a->n_functions; f++)
        n += !pm_map_get(&b->function_of, a->functions[f].key);
    return n;
}

bool pm_build_may_have_renames(const struct pm_build *build, const struct pm_build *reference)
{
    return n_lacking(build, reference) && n_lacking(reference, build);
}

void pm_build_release(struct pm_build *build)
{
    free(build->files);
    free(build->fines);
    free(build->functions);
    free(build->partner);
    free(build->is_apart);
    free(build->is_matched);
    free(build->renamed_to);
    free(build->is_users);
    free(build->here);
    free(build->there);
    pm_map_release(&build->constructs);
    pm_map_release(&build->function_of);
    pm_map_release(&build->fine_of);
    pm_arena_release(&build->arena);
    *build = (struct pm_build){0};
}

/* --- a run of it --- */

static struct pm_view_key_place place_of(const struct pm_build *build,
                                         const struct pm_build *reference, uint64_t key)
{
    uint32_t at = pm_map_get(&build->fine_of, key);
    if (!at || build->is_apart[at - 1])
        return (struct pm_view_key_place){PM_KEY_PLACE_AS_HERE, 0, 0};
    uint32_t partner = build->partner[at - 1];
    if (partner == PM_NONE)
        return (struct pm_view_key_place){PM_KEY_PLACE_NONE, 0, 0};
    const struct pm_build_fine *other = &reference->fines[partner];
    return (struct pm_view_key_place){PM_KEY_PLACE_OTHER, other->line_no, other->column_no};
}

/* Of a function of a run: 1 + that of the build; 0: it is no function of it. */
static uint32_t function_of(const struct pm_build *build, const struct pm_view *view, pm_index noun)
{
    const struct pm_view_key_names names = names_of(build);
    return is_function(&view->data->graph->nouns[noun])
               ? pm_map_get(&build->function_of, pm_view_noun_key(view, &names, noun))
               : 0;
}

static bool find_names(const struct pm_build *build, const struct pm_build *reference,
                       const struct pm_view *view, struct pm_view_key_place *places,
                       const char **functions)
{
    const struct pm_view_key_names names = names_of(build);
    for (pm_index noun = 0; noun < view->data->graph->n_nouns; noun++) {
        uint32_t own = build->n_renamed_functions ? function_of(build, view, noun) : 0;
        uint32_t theirs = own ? build->renamed_to[own - 1] : 0;
        if (theirs)
            functions[noun] = reference->functions[theirs - 1].text;
        if (!is_fine(view, noun))
            continue;
        uint64_t key = pm_view_noun_key(view, &names, noun);
        places[noun] = place_of(build, reference, key);
        if (!key)
            return false;
    }
    return true;
}

enum pm_status pm_build_names(const struct pm_build *build, const struct pm_build *reference,
                              const struct pm_view *view, struct pm_error *err,
                              struct pm_view_key_names *ret_names)
{
    size_t n = (size_t)view->data->graph->n_nouns + 1;
    struct pm_view_key_place *places = pm_alloc_array(n, sizeof *places);
    const char **functions = pm_alloc_array(n, sizeof *functions);
    bool good = places && functions && find_names(build, reference, view, places, functions);
    *ret_names = names_of(build);
    ret_names->places = places;
    ret_names->functions = functions;
    if (good)
        return PM_OK;
    pm_build_names_release(ret_names);
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

void pm_build_names_release(struct pm_view_key_names *names)
{
    free((void *)names->places);
    free((void *)names->functions);
    *names = (struct pm_view_key_names){0};
}

const char *pm_build_old_name(const struct pm_build *build, const struct pm_build *reference,
                              const struct pm_view *view, pm_index function, bool *ret_is_likely)
{
    uint32_t own = build->n_renamed_functions ? function_of(build, view, function) : 0;
    uint32_t theirs = own ? build->renamed_to[own - 1] : 0;
    *ret_is_likely = theirs && !build->is_users[own - 1];
    return theirs ? reference->functions[theirs - 1].name : NULL;
}
