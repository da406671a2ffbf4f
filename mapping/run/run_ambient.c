/* Sets of sentences that were begun and not ended. Which contexts are below one; and threads
 * that had no event after something was begun or ended in the whole process: what they do is
 * split at its time here, as they would have done themselves. */
#include "run_internal.h"

#include <stdlib.h>

/* Numbers by key, without ends. */
struct pairs {
    struct pair {
        uint64_t key;
        uint32_t value; /* 1 + the number; 0: free */
    } * list;
    size_t n, size; /* a power of two */
};

/* What all threads share. */
struct sets {
    struct pairs nouns, words; /* by the set's number; by its members */
    uint32_t object;           /* of sets' nouns */
    uint32_t nouns_cap;        /* of the file's */
    bool has_nouns, has_words;
};

/* One thread that is behind, and the path that is open on its own stack. */
struct laggard {
    struct pm_run_file *file;
    struct pm_run_file_thread *thread;
    struct run_thread_load *load;
    struct sets *sets;
    struct pairs children; /* nodes by parent and noun */
    uint32_t *path;        /* below the set or root, outermost first */
    size_t n_path;
    size_t cap; /* of the nodes */
    /* The set's node and what is below, where they were found: for each set that came up. */
    struct stand {
        uint32_t set;
        uint32_t *path; /* the set's node first, unless set is 0 */
    } * stands;
    uint32_t n_stands, cap_stands;
    struct pairs stand_of; /* by set */
};

/* --- pairs --- */

static struct pair *place_of(const struct pairs *p, uint64_t key)
{
    size_t at = (size_t)((key * 0x9e3779b97f4a7c15u) >> 20) & (p->size - 1);
    while (p->list[at].value != 0 && p->list[at].key != key)
        at = (at + 1) & (p->size - 1);
    return &p->list[at];
}

static bool grow(struct pairs *p)
{
    struct pairs larger = {.n = p->n, .size = p->size ? 2 * p->size : 64};
    larger.list = pm_alloc_array(larger.size, sizeof *larger.list);
    if (!larger.list)
        return false;
    memset(larger.list, 0, larger.size * sizeof *larger.list);
    for (size_t i = 0; i < p->size; i++)
        if (p->list[i].value != 0)
            *place_of(&larger, p->list[i].key) = p->list[i];
    free(p->list);
    *p = larger;
    return true;
}

/* False: there is none. */
static bool find_pair(const struct pairs *p, uint64_t key, uint32_t *ret_number)
{
    const struct pair *pair = p->size ? place_of(p, key) : NULL;
    if (!pair || pair->value == 0)
        return false;
    *ret_number = pair->value - 1;
    return true;
}

/* Of several numbers with one key the first stays. False: memory. */
static bool add_pair(struct pairs *p, uint64_t key, uint32_t number)
{
    if (2 * p->n >= p->size && !grow(p))
        return false;
    struct pair *pair = place_of(p, key);
    if (pair->value != 0)
        return true;
    *pair = (struct pair){key, number + 1};
    p->n++;
    return true;
}

/* Damaged words are 0. */
static const struct pm_run_file_word *set_word(const struct pm_run_file *file, uint64_t number)
{
    const struct pm_run_file_word *word =
        number > 0 && number <= file->n_words ? &file->words[number - 1] : NULL;
    return word && word->kind == PM_WORD_SET ? word : NULL;
}

/* --- which contexts are below which set --- */

static void mark_sets(struct pm_run_file *file, size_t index, uint32_t *sets)
{
    struct pm_run_file_thread *thread = &file->threads[index];
    struct run_thread_load *load = &file->loads[index];
    for (size_t i = 1; i < thread->n_nodes; i++) {
        struct pm_run_file_node *node = &load->nodes[i];
        if (node->parent == PM_RUN_FILE_NO_PARENT)
            continue;
        const struct pm_run_file_noun *noun = &file->nouns[node->noun];
        node->is_set = noun->kind == PM_RUN_AMBIENT_SET &&
                       load->nodes[node->parent].parent == PM_RUN_FILE_NO_PARENT &&
                       !(node->flags & PM_RUN_NODE_FOLDED) && set_word(file, noun->id);
        sets[i] = node->is_set ? (uint32_t)noun->id : sets[node->parent];
        thread->has_sets |= node->is_set;
        node->open &= sets[i] == load->ambient_set;
    }
}

/* --- who is behind --- */

static uint64_t child_key(const struct pm_run_file_node *node)
{
    return (uint64_t)node->parent << 32 | node->noun;
}

static bool note_children(struct laggard *l)
{
    bool good = true;
    for (size_t i = 1; good && i < l->thread->n_nodes; i++) {
        const struct pm_run_file_node *node = &l->load->nodes[i];
        if (!(node->flags & PM_RUN_NODE_FOLDED))
            good = add_pair(&l->children, child_key(node), (uint32_t)i);
    }
    return good;
}

static bool add_node(struct laggard *l, struct pm_run_file_node node, uint64_t start_tsc,
                     uint32_t *ret_at)
{
    size_t n = l->thread->n_nodes;
    if (n == l->cap) {
        size_t cap = n + n / 2 + 16;
        struct pm_run_file_node *nodes = pm_realloc_array(l->load->nodes, cap, sizeof *nodes);
        if (nodes)
            l->thread->nodes = l->load->nodes = nodes;
        struct run_raw_node *raw = pm_realloc_array(l->load->raw, cap, sizeof *raw);
        if (raw)
            l->load->raw = raw;
        if (!nodes || !raw)
            return false;
        l->cap = cap;
    }
    l->load->nodes[n] = node;
    l->load->raw[n] = (struct run_raw_node){start_tsc, 0};
    *ret_at = (uint32_t)n;
    l->thread->n_nodes++;
    return (node.flags & PM_RUN_NODE_FOLDED) || add_pair(&l->children, child_key(&node), *ret_at);
}

static bool need_child(struct laggard *l, uint32_t parent, struct pm_run_file_node like,
                       uint32_t *ret_at)
{
    like.parent = parent;
    if (find_pair(&l->children, child_key(&like), ret_at))
        return true;
    like.open = false;
    like.n_calls = 0;
    like.place = 0; /* no cause can name it */
    return add_node(l, like, 0, ret_at);
}

static bool note_nouns(const struct pm_run_file *file, struct sets *sets)
{
    bool good = true;
    sets->object = PM_RUN_FILE_NO_OBJECT;
    sets->nouns_cap = (uint32_t)file->n_nouns;
    for (size_t i = 0; good && i < file->n_nouns; i++)
        if (file->nouns[i].kind == PM_RUN_AMBIENT_SET) {
            good = add_pair(&sets->nouns, file->nouns[i].id, (uint32_t)i);
            sets->object = file->nouns[i].object;
        }
    return sets->has_nouns = good;
}

/* The noun of a set, made when no thread had that. */
static bool noun_of_set(struct pm_run_file *file, struct sets *sets, uint32_t set,
                        uint32_t *ret_noun)
{
    if (!sets->has_nouns && !note_nouns(file, sets))
        return false;
    if (find_pair(&sets->nouns, set, ret_noun))
        return true;
    struct pm_run_file_noun *nouns =
        pm_grow_array(file->nouns, (uint32_t)file->n_nouns, &sets->nouns_cap, 64, sizeof *nouns);
    if (!nouns)
        return false;
    file->nouns = nouns;
    *ret_noun = (uint32_t)file->n_nouns;
    nouns[file->n_nouns++] = (struct pm_run_file_noun){.id = set,
                                                       .object = sets->object,
                                                       .kind = PM_RUN_AMBIENT_SET,
                                                       .mode = pm_run_file_mode(file)};
    return add_pair(&sets->nouns, set, *ret_noun);
}

/* Where the open path stands below a set; made as far as it is not there. NULL: memory. */
static uint32_t *path_in(struct laggard *l, uint32_t set)
{
    uint32_t at, noun;
    if (find_pair(&l->stand_of, set, &at))
        return l->stands[at].path;
    struct stand *stands = pm_grow_array(l->stands, l->n_stands, &l->cap_stands, 8, sizeof *stands);
    uint32_t *path = pm_alloc_array(l->n_path + 1, sizeof *path);
    if (stands)
        l->stands = stands;
    bool good = stands && path && add_pair(&l->stand_of, set, l->n_stands);
    if (good)
        stands[l->n_stands++] = (struct stand){set, path};
    else
        free(path);
    bool timed = pm_run_file_mode(l->file) >= PM_RUN_MODE_EXACT;
    struct pm_run_file_node top = {.is_set = true,
                                   .timing = timed ? PM_RUN_FILE_TIMED : PM_RUN_FILE_UNTIMED};
    if (good && set != 0)
        good = noun_of_set(l->file, l->sets, set, &noun) &&
               (top.noun = noun, need_child(l, 0, top, path));
    for (size_t i = 0; good && i < l->n_path; i++)
        good = need_child(l, path[i], l->load->nodes[l->path[i]], &path[i + 1]);
    return good ? path : NULL;
}

static void hand_over(struct laggard *l, uint32_t from, uint32_t to, uint64_t tsc)
{
    struct pm_run_file_node *nodes = l->load->nodes;
    struct run_raw_node *raw = l->load->raw;
    uint64_t start = raw[from].start_tsc;
    if (from == to)
        return;
    nodes[from].open = false;
    nodes[to].open = true;
    raw[to].start_tsc = start == 0 || start > tsc ? start : tsc;
    if (start != 0 && tsc > start)
        raw[from].inclusive_tsc += tsc - start;
}

static bool move(struct laggard *l, uint32_t from_set, uint32_t to_set, uint64_t tsc)
{
    const uint32_t *from = path_in(l, from_set), *to = from ? path_in(l, to_set) : NULL;
    if (!to)
        return false;
    for (size_t i = 1; i <= l->n_path; i++)
        hand_over(l, from[i], to[i], tsc);
    struct pm_run_file_node *nodes = l->load->nodes;
    struct run_raw_node *raw = l->load->raw;
    if (from_set != 0) {
        uint64_t start = raw[from[0]].start_tsc;
        nodes[from[0]].open = false;
        raw[from[0]].inclusive_tsc += start != 0 && tsc > start ? tsc - start : 0;
    }
    if (to_set != 0) {
        nodes[to[0]].open = true;
        raw[to[0]].start_tsc = nodes[to[0]].timing == PM_RUN_FILE_UNTIMED ? 0 : tsc;
        nodes[to[0]].n_calls++;
    }
    return true;
}

/* --- sets of two --- */

static bool same_members(const struct pm_run_file_word *word, const uint32_t *members, uint32_t n)
{
    return word->kind == PM_WORD_SET && word->n_members == n &&
           memcmp(word->members, members, n * sizeof *members) == 0;
}

static uint64_t key_of(const uint32_t *members, uint32_t n)
{
    uint64_t key = n;
    for (uint32_t i = 0; i < n; i++) {
        key = (key ^ members[i]) * 0xd6e8feb86659fd93u;
        key ^= key >> 32;
    }
    return key;
}

/* False: there is none; *key is where it would be. */
static bool find_set(const struct pm_run_file *file, const struct sets *sets,
                     const uint32_t *members, uint32_t n, uint64_t *key, uint32_t *ret_at)
{
    for (*key = key_of(members, n); find_pair(&sets->words, *key, ret_at); ++*key)
        if (same_members(&file->words[*ret_at], members, n))
            return true;
    return false;
}

static bool note_words(const struct pm_run_file *file, struct sets *sets)
{
    bool good = true;
    for (size_t i = 0; good && i < file->n_words; i++) {
        const struct pm_run_file_word *word = &file->words[i];
        uint64_t key;
        uint32_t at;
        if (word->kind == PM_WORD_SET &&
            !find_set(file, sets, word->members, word->n_members, &key, &at))
            good = add_pair(&sets->words, key, (uint32_t)i);
    }
    return sets->has_words = good;
}

static bool add_set(struct pm_run_file *file, const uint32_t *members, uint32_t n, uint32_t *ret_at)
{
    uint32_t *kept = pm_arena_alloc(&file->arena, n * sizeof *kept);
    struct pm_run_file_word *words =
        pm_grow_array(file->words, (uint32_t)file->n_words, &file->words_cap, 64, sizeof *words);
    if (words)
        file->words = words;
    if (!kept || !words)
        return false;
    memcpy(kept, members, n * sizeof *kept);
    struct pm_run_file_word *word = &words[ *ret_at = (uint32_t)file->n_words++];
    *word = (struct pm_run_file_word){.kind = PM_WORD_SET, .members = kept, .n_members = n};
    for (size_t i = 0; i < PM_RUN_FILE_WORD_TEXTS; i++)
        word->texts[i] = PM_STR("");
    return true;
}

/* What a thread's own set and the process's are together; a word is made when there is none. */
static bool join(struct pm_run_file *file, struct sets *sets, uint32_t own, uint32_t process,
                 uint32_t *ret_set)
{
    const struct pm_run_file_word *a = set_word(file, own), *b = set_word(file, process);
    *ret_set = b ? process : 0;
    if (a)
        *ret_set = own;
    if (!a || !b || own == process)
        return true;
    uint32_t members[PM_WORDS_MAX_SET], n = 0, at;
    for (uint32_t i = 0, k = 0; n < PM_WORDS_MAX_SET && (i < a->n_members || k < b->n_members);) {
        uint32_t x = i < a->n_members ? a->members[i] : UINT32_MAX;
        uint32_t y = k < b->n_members ? b->members[k] : UINT32_MAX;
        members[n++] = x < y ? x : y;
        i += x <= y;
        k += y <= x;
    }
    if (!sets->has_words && !note_words(file, sets))
        return false;
    uint64_t key;
    if (!find_set(file, sets, members, n, &key, &at) &&
        (!add_set(file, members, n, &at) || !add_pair(&sets->words, key, at)))
        return false;
    *ret_set = at + 1;
    return true;
}

static bool catch_up(struct laggard *l, const struct pm_run_ambient *log, size_t n_log)
{
    uint32_t now = l->load->ambient_set, before = 0, joined = 0;
    for (size_t i = l->load->n_ambient; i < n_log; i++) {
        if ((i == l->load->n_ambient || log[i].set != before) &&
            !join(l->file, l->sets, l->load->own_set, log[i].set, &joined))
            return false;
        before = log[i].set;
        if (joined != now && !move(l, now, joined, log[i].tsc))
            return false;
        now = joined;
    }
    return true;
}

/* The path that is open on the thread's own stack. */
static bool find_open(struct laggard *l)
{
    const struct pm_run_file_node *nodes = l->load->nodes;
    uint32_t at = 0;
    l->path = pm_alloc_array(l->thread->n_nodes, sizeof *l->path);
    for (size_t i = 1; l->path && i < l->thread->n_nodes; i++)
        if (nodes[i].open && nodes[i].parent == at) {
            at = (uint32_t)i;
            if (!nodes[i].is_set)
                l->path[l->n_path++] = at;
        }
    return l->path != NULL;
}

static enum pm_status follow(struct pm_run_file *file, struct sets *sets, size_t index,
                             const struct pm_run_ambient *log, size_t n_log, struct pm_error *err)
{
    struct laggard l = {.file = file,
                        .thread = &file->threads[index],
                        .load = &file->loads[index],
                        .sets = sets,
                        .cap = file->threads[index].n_nodes};
    const struct run_thread_load *load = l.load;
    bool has_set = load->ambient_set == 0 || set_word(file, load->ambient_set);
    if (load->end_tsc != 0 || load->n_ambient >= n_log || !has_set || !load->nodes[0].open)
        return PM_OK;
    bool good = find_open(&l) && note_children(&l) && catch_up(&l, log, n_log);
    l.thread->has_sets = true;
    for (uint32_t i = 0; i < l.n_stands; i++)
        free(l.stands[i].path);
    free(l.stands);
    free(l.stand_of.list);
    free(l.children.list);
    free(l.path);
    return good ? PM_OK : run_no_memory(file, err);
}

/* --- the log --- */

static enum pm_status load_log(struct pm_run_file *file, const struct run_source *source,
                               const struct run_chunk *chunk, struct pm_error *err,
                               struct pm_run_ambient **log, size_t *n_log)
{
    uint64_t n =
        run_fit_items(file, chunk, PM_RUN_AMBIENT_DATA, sizeof **log, "changes of what is begun");
    struct pm_run_ambient *more = pm_realloc_array(*log, *n_log + n, sizeof *more);
    if (!more)
        return run_no_memory(file, err);
    *log = more;
    if (!run_read_at(source, chunk->offset + PM_RUN_AMBIENT_DATA, more + *n_log,
                     n * sizeof *more)) {
        run_complain(file, chunk->offset, "changes of what is begun cannot be read");
        return PM_OK;
    }
    for (uint64_t i = 0; i < n; i++) {
        run_note_tsc(file, more[*n_log + i].tsc);
        if (more[*n_log + i].set && !set_word(file, more[*n_log + i].set)) {
            run_complain(file, chunk->offset, "word %u is no set of sentences",
                         more[*n_log + i].set);
            more[*n_log + i].set = 0;
        }
    }
    *n_log += n;
    return PM_OK;
}

enum pm_status run_load_ambient(struct pm_run_file *file, const struct run_source *source,
                                const struct run_chunks *list, struct pm_error *err)
{
    struct pm_run_ambient *log = NULL;
    struct sets all = {0};
    size_t n_log = 0;
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < list->n; i++) {
        if (list->chunks[i].kind != PM_RUN_CHUNK_AMBIENT)
            continue;
        status = load_log(file, source, &list->chunks[i], err, &log, &n_log);
        if (status != PM_OK)
            goto out;
    }
    for (size_t i = 0; i < file->n_threads; i++) {
        uint32_t *sets = pm_alloc_array(file->threads[i].n_nodes, sizeof *sets);
        if (!sets) {
            status = run_no_memory(file, err);
            goto out;
        }
        mark_sets(file, i, sets);
        free(sets);
        if (n_log)
            status = follow(file, &all, i, log, n_log, err);
        if (status != PM_OK)
            goto out;
    }
out:
    free(all.nouns.list);
    free(all.words.list);
    free(log);
    return status;
}
