/* Files, functions, and what is in them. */
#include "align.h"

#include "format/pm_id.h"
#include "mapping/base/map.h"
#include "mapping/base/statement_names.h"

#include <stdlib.h>

enum { ALIGN_MOST_EDITS = 2000 };

/* A statement, a loop, or data of a function. */
struct fine {
    pm_index noun, function;
    uint64_t signature, rough;
};

struct fines {
    struct fine *list; /* by function, line, column */
    uint32_t n;
};

/* --- the longest common subsequence --- */

struct walk {
    const uint64_t *a, *b;
    int64_t n_a, n_b;
    int32_t *far; /* per diagonal from -max to max: how far in a */
    int64_t max;
    int32_t **kept; /* per number d of edits: far before it, from -d - 1 to d + 1 */
};

/* The end of the way on diagonal k with d edits. */
static int64_t step(const struct walk *w, int64_t d, int64_t k)
{
    const int32_t *far = w->far + w->max + 1;
    bool is_down = k == -d || (k != d && far[k - 1] < far[k + 1]);
    int64_t x = is_down ? far[k + 1] : far[k - 1] + 1;
    while (x < w->n_a && x - k < w->n_b && w->a[x] == w->b[x - k])
        x++;
    return x;
}

static void walk_back(const struct walk *w, int64_t d, uint32_t *ret_partner)
{
    int64_t x = w->n_a, y = w->n_b;
    for (; d >= 0; d--) {
        const int32_t *far = w->kept[d] + d + 1;
        int64_t k = x - y;
        bool is_down = k == -d || (k != d && far[k - 1] < far[k + 1]);
        int64_t from_x = is_down ? far[k + 1] : far[k - 1];
        int64_t from_y = from_x - (is_down ? k + 1 : k - 1);
        while (x > from_x && y > from_y)
            ret_partner[--x] = (uint32_t)--y;
        x = from_x;
        y = from_y;
    }
}

static enum pm_lcs walk(struct walk *w, uint32_t *ret_partner)
{
    int32_t *far = w->far + w->max + 1;
    for (int64_t d = 0; d <= w->max; d++) {
        w->kept[d] = pm_alloc_array((size_t)(2 * d + 3), sizeof **w->kept);
        if (!w->kept[d])
            return PM_LCS_NO_MEMORY;
        memcpy(w->kept[d], far - d - 1, (size_t)(2 * d + 3) * sizeof *far);
        for (int64_t k = -d; k <= d; k += 2) {
            int64_t x = step(w, d, k);
            far[k] = (int32_t)x;
            if (x < w->n_a || x - k < w->n_b)
                continue;
            walk_back(w, d, ret_partner);
            return PM_LCS_FOUND;
        }
    }
    return PM_LCS_TOO_FAR;
}

enum pm_lcs pm_lcs(const uint64_t *a, uint32_t n_a, const uint64_t *b, uint32_t n_b,
                   uint32_t max_edits, uint32_t *ret_partner)
{
    int64_t all = (int64_t)n_a + n_b;
    struct walk w = {
        .a = a, .b = b, .n_a = n_a, .n_b = n_b, .max = max_edits < all ? max_edits : all};
    w.far = pm_alloc_array((size_t)(2 * w.max + 3), sizeof *w.far);
    w.kept = pm_alloc_array((size_t)w.max + 1, sizeof *w.kept);
    for (uint32_t i = 0; i < n_a; i++)
        ret_partner[i] = PM_NONE;
    enum pm_lcs result = w.far && w.kept ? walk(&w, ret_partner) : PM_LCS_NO_MEMORY;
    for (int64_t d = 0; w.kept && d <= w.max; d++)
        free(w.kept[d]);
    free(w.kept);
    free(w.far);
    return result;
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

/* Distinct files of a graph's nouns, in order of appearance. NULL: memory. */
static const char **files_of(const struct pm_graph *graph, uint32_t *ret_n)
{
    struct pm_map seen = {0};
    const char **files = pm_alloc_array((size_t)graph->n_nouns + 1, sizeof *files);
    uint32_t n = 0;
    for (pm_index i = 0; files && i < graph->n_nouns; i++) {
        struct pm_id_hash hash;
        pm_id_hash_init(&hash, "file");
        pm_id_hash_string(&hash, graph->nouns[i].file);
        uint32_t *at = pm_map_at(&seen, pm_id_hash_done(&hash));
        if (!at) {
            free(files);
            files = NULL;
        } else if (!*at && *graph->nouns[i].file) {
            files[n++] = graph->nouns[i].file;
            *at = n;
        }
    }
    pm_map_release(&seen);
    *ret_n = n;
    return files;
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
static bool align_files(const struct pm_graph *reference, const struct pm_graph *graph,
                        struct pm_view_key_names *names)
{
    uint32_t n_theirs = 0, n_own = 0;
    const char **theirs = files_of(reference, &n_theirs), **own = files_of(graph, &n_own);
    const char **here = pm_alloc_array((size_t)n_own + 1, sizeof *here);
    const char **there = pm_alloc_array((size_t)n_own + 1, sizeof *there);
    bool good = theirs && own && here && there;
    for (uint32_t i = 0; good && i < n_own; i++) {
        const char *other =
            is_among(theirs, n_theirs, own[i]) ? NULL : closest(own[i], theirs, n_theirs);
        if (!other || is_among(own, n_own, other))
            continue;
        here[names->n_files] = own[i];
        there[names->n_files++] = other;
    }
    free(theirs);
    free(own);
    names->files = here;
    names->other_files = there;
    return good;
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

/* "u" of "main::u" and of "main::u:57", whose line may have moved. */
static void hash_bare_name(struct pm_id_hash *hash, const char *name)
{
    const char *behind = strrchr(name, ':');
    size_t len =
        behind && behind[1] >= '0' && behind[1] <= '9' ? (size_t)(behind - name) : strlen(name);
    XXH64_update(&hash->state, name, len);
    pm_id_hash_string(hash, "");
}

/* What statements read and write, as the compiler's facts say: in no order, so it is added up. */
static void add_uses(const struct pm_view *view, const uint32_t *fine_of, struct fine *list)
{
    const struct pm_graph *graph = view->data->graph;
    for (uint32_t i = 0; i < graph->n_mappings; i++) {
        const struct pm_mapping *mapping = &graph->mappings[i];
        pm_index from = pm_graph_first_noun(graph, mapping->source);
        pm_index to = pm_graph_first_noun(graph, mapping->destination);
        if (strcmp(mapping->origin, "compiler") != 0)
            continue;
        if (from == PM_NONE || to == PM_NONE || !fine_of[from] ||
            !pm_noun_is_data(&graph->nouns[to]))
            continue;
        struct pm_id_hash hash;
        pm_id_hash_init(&hash, "uses");
        pm_id_hash_string(&hash, graph->verbs[graph->sentences[mapping->destination].verb].name);
        hash_bare_name(&hash, graph->nouns[to].name);
        list[fine_of[from] - 1].signature += pm_id_hash_done(&hash);
    }
}

/* A loop is known by what is in it, too. */
static void add_contents(const struct pm_view *view, const uint32_t *fine_of, struct fines *all)
{
    const struct pm_graph_noun *nouns = view->data->graph->nouns;
    for (uint32_t i = 0; i < all->n; i++) {
        pm_index parent = nouns[all->list[i].noun].parent;
        bool is_in_loop = fine_of[parent] && pm_view_noun_is_loop(view, parent);
        if (is_in_loop && !pm_view_noun_is_loop(view, all->list[i].noun))
            all->list[fine_of[parent] - 1].signature += all->list[i].signature | 1;
    }
}

static void sign(const struct pm_view *view, struct fine *fine)
{
    const struct pm_graph_noun *n = &view->data->graph->nouns[fine->noun];
    struct pm_id_hash hash;
    if (pm_noun_is_data(n)) { /* its name says it */
        pm_id_hash_init(&hash, "data");
        hash_bare_name(&hash, n->name);
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

static int compare_fines(const void *a_pointer, const void *b_pointer, void *context)
{
    const struct pm_graph *graph = context;
    const struct fine *a = a_pointer, *b = b_pointer;
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

static bool find_fines(const struct pm_view *view, struct fines *ret)
{
    struct pm_graph *graph = view->data->graph;
    uint32_t *fine_of = pm_alloc_array((size_t)graph->n_nouns + 1, sizeof *fine_of);
    ret->list = pm_alloc_array((size_t)graph->n_nouns + 1, sizeof *ret->list);
    bool good = fine_of && ret->list;
    for (pm_index noun = 0; good && noun < graph->n_nouns; noun++) {
        pm_index function = is_fine(view, noun)
                                ? pm_graph_ancestor(graph, graph->nouns[noun].parent, "function")
                                : (pm_index)PM_NONE;
        if (function == PM_NONE ||
            strcmp(graph->nouns[function].file, graph->nouns[noun].file) != 0)
            continue;
        ret->list[ret->n] = (struct fine){.noun = noun, .function = function};
        sign(view, &ret->list[ret->n++]);
        fine_of[noun] = ret->n;
    }
    if (good) {
        add_uses(view, fine_of, ret->list);
        add_contents(view, fine_of, ret);
    }
    if (good && ret->n)
        qsort_r(ret->list, ret->n, sizeof *ret->list, compare_fines, graph);
    free(fine_of);
    return good;
}

/* --- one function --- */

struct sides {
    const struct pm_view *reference, *view;
    const struct fine *theirs, *own; /* of one function */
    uint32_t n_theirs, n_own;
    uint32_t *partner; /* per own */
    uint64_t *of_theirs, *of_own;
};

static uint32_t offset_of(const struct pm_view *view, const struct fine *fine)
{
    const struct pm_graph_noun *nouns = view->data->graph->nouns;
    return nouns[fine->noun].line_no - nouns[fine->function].line_no;
}

/* Nothing moved: each is where it was. */
static bool is_equal(const struct sides *s)
{
    bool equal = s->n_theirs == s->n_own;
    for (uint32_t i = 0; equal && i < s->n_own; i++)
        equal = s->own[i].rough == s->theirs[i].rough &&
                offset_of(s->view, &s->own[i]) == offset_of(s->reference, &s->theirs[i]);
    return equal;
}

/* Of a part of both, by the numbers in of_theirs and of_own. */
static enum pm_lcs align_part(struct sides *s, uint32_t own, uint32_t n_own, uint32_t theirs,
                              uint32_t n_theirs)
{
    enum pm_lcs result = pm_lcs(s->of_own + own, n_own, s->of_theirs + theirs, n_theirs,
                                ALIGN_MOST_EDITS, s->partner + own);
    for (uint32_t i = own; result == PM_LCS_FOUND && i < own + n_own; i++)
        s->partner[i] += s->partner[i] == PM_NONE ? 0 : theirs;
    return result;
}

/* What lies between two that are sure, by the column alone. */
static enum pm_lcs align_gaps(struct sides *s)
{
    enum pm_lcs result = PM_LCS_FOUND;
    for (uint32_t i = 0; i < s->n_theirs; i++)
        s->of_theirs[i] = s->theirs[i].rough;
    for (uint32_t i = 0; i < s->n_own; i++)
        s->of_own[i] = s->own[i].rough;
    for (uint32_t i = 0, end, from = 0; i < s->n_own && result == PM_LCS_FOUND; i = end) {
        end = i + 1;
        if (s->partner[i] != PM_NONE) {
            from = s->partner[i] + 1;
            continue;
        }
        while (end < s->n_own && s->partner[end] == PM_NONE)
            end++;
        uint32_t until = end < s->n_own ? s->partner[end] : s->n_theirs;
        if (until > from)
            result = align_part(s, i, end - i, from, until - from);
    }
    return result == PM_LCS_TOO_FAR ? PM_LCS_FOUND : result;
}

/* Are the two as good a pair as those of `own` and `old`? */
static bool fits(const struct sides *s, uint32_t own, uint32_t theirs, uint32_t own_now,
                 uint32_t theirs_now)
{
    bool was_equal = s->own[own_now].signature == s->theirs[theirs_now].signature;
    return s->own[own].signature == s->theirs[theirs].signature ||
           (!was_equal && s->own[own].rough == s->theirs[theirs].rough);
}

/* Of several that are alike the one that stands before what follows is meant: the head of a loop
 * before its body, though another such loop was put before it. */
static void slide(struct sides *s)
{
    uint32_t next = PM_NONE; /* the pair behind */
    for (uint32_t i = s->n_own; i-- > 0;) {
        if (s->partner[i] == PM_NONE)
            continue;
        uint32_t partner = s->partner[i], own = i;
        if (next != PM_NONE && own + 1 < next && partner + 1 == s->partner[next] &&
            fits(s, next - 1, partner, own, partner)) {
            s->partner[own] = PM_NONE;
            own = next - 1;
            s->partner[own] = partner;
        } else if (next == own + 1 && partner + 1 < s->partner[next] &&
                   fits(s, own, s->partner[next] - 1, own, partner)) {
            s->partner[own] = s->partner[next] - 1;
        }
        next = own;
    }
}

static enum pm_lcs align_function(struct sides *s)
{
    for (uint32_t i = 0; i < s->n_theirs; i++)
        s->of_theirs[i] = s->theirs[i].signature;
    for (uint32_t i = 0; i < s->n_own; i++)
        s->of_own[i] = s->own[i].signature;
    enum pm_lcs result = align_part(s, 0, s->n_own, 0, s->n_theirs);
    if (result == PM_LCS_FOUND)
        result = align_gaps(s);
    if (result == PM_LCS_FOUND)
        slide(s);
    return result;
}

static void note(const struct sides *s, struct pm_view_key_place *places,
                 struct pm_alignment *alignment)
{
    for (uint32_t i = 0; i < s->n_own; i++) {
        struct pm_view_key_place *place = &places[s->own[i].noun];
        place->kind = PM_KEY_PLACE_NONE;
        if (s->partner[i] == PM_NONE)
            continue;
        const struct fine *other = &s->theirs[s->partner[i]];
        *place =
            (struct pm_view_key_place){PM_KEY_PLACE_OTHER, offset_of(s->reference, other),
                                       s->reference->data->graph->nouns[other->noun].column_no};
        alignment->n_matched++;
    }
}

/* --- all functions --- */

/* Key of a function of the reference -> 1 + where its fines begin. */
static bool index_functions(const struct pm_view *reference, const struct fines *theirs,
                            struct pm_map *ret_map)
{
    for (uint32_t i = 0; i < theirs->n; i++) {
        if (i && theirs->list[i].function == theirs->list[i - 1].function)
            continue;
        uint64_t key = pm_view_noun_key(reference, NULL, theirs->list[i].function);
        uint32_t *at = key ? pm_map_at(ret_map, key) : NULL;
        if (!at)
            return false;
        if (!*at) /* copies that GCC changed come behind the function itself */
            *at = i + 1;
    }
    return true;
}

static uint32_t end_of_function(const struct fines *all, uint32_t first)
{
    uint32_t end = first + 1;
    while (end < all->n && all->list[end].function == all->list[first].function)
        end++;
    return end;
}

static bool align_one(struct sides *s, struct pm_view_key_place *places,
                      struct pm_alignment *alignment)
{
    alignment->n_fine += s->n_own;
    if (is_equal(s)) {
        alignment->n_matched += s->n_own;
        return true;
    }
    enum pm_lcs result = align_function(s);
    if (result == PM_LCS_FOUND)
        note(s, places, alignment);
    alignment->n_functions_left_out += result == PM_LCS_TOO_FAR;
    return result != PM_LCS_NO_MEMORY;
}

static bool align_functions(struct sides *s, const struct fines *theirs, const struct fines *own,
                            struct pm_view_key_place *places, struct pm_alignment *alignment)
{
    struct pm_map functions = {0};
    bool good = index_functions(s->reference, theirs, &functions);
    for (uint32_t i = 0, end; good && i < own->n; i = end) {
        end = end_of_function(own, i);
        uint64_t key = pm_view_noun_key(s->view, &alignment->names, own->list[i].function);
        uint32_t first = pm_map_get(&functions, key);
        good = key != 0;
        if (!first || !key)
            continue;
        s->own = own->list + i;
        s->n_own = end - i;
        s->theirs = theirs->list + first - 1;
        s->n_theirs = end_of_function(theirs, first - 1) - (first - 1);
        good = align_one(s, places, alignment);
    }
    pm_map_release(&functions);
    return good;
}

enum pm_status pm_align(const struct pm_view *reference, const struct pm_view *view,
                        bool in_functions, struct pm_error *err, struct pm_alignment *ret_alignment)
{
    struct pm_alignment alignment = {0};
    struct fines theirs = {0}, own = {0};
    struct sides s = {.reference = reference, .view = view};
    struct pm_view_key_place *places =
        pm_alloc_array((size_t)view->data->graph->n_nouns + 1, sizeof *places);
    bool good = places &&
                align_files(reference->data->graph, view->data->graph, &alignment.names) &&
                (!in_functions || (find_fines(reference, &theirs) && find_fines(view, &own)));
    alignment.names.places = places;
    s.partner = pm_alloc_array((size_t)own.n + 1, sizeof *s.partner);
    s.of_own = pm_alloc_array((size_t)own.n + 1, sizeof *s.of_own);
    s.of_theirs = pm_alloc_array((size_t)theirs.n + 1, sizeof *s.of_theirs);
    good = good && s.partner && s.of_own && s.of_theirs &&
           align_functions(&s, &theirs, &own, places, &alignment);
    free(s.partner);
    free(s.of_own);
    free(s.of_theirs);
    free(theirs.list);
    free(own.list);
    *ret_alignment = alignment;
    if (good)
        return PM_OK;
    pm_alignment_release(ret_alignment);
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

void pm_alignment_release(struct pm_alignment *alignment)
{
    free((void *)alignment->names.places);
    free((void *)alignment->names.files);
    free((void *)alignment->names.other_files);
    *alignment = (struct pm_alignment){0};
}
