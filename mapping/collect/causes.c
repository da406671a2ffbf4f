/* Work that was done on behalf of other contexts: of this process, or of others in the archive,
 * or of those of which only a text tells. Causes name contexts by process and place in its run
 * file, which may be read later, so all are looked up at the end. */
#include "causes.h"

#include "collector.h"
#include "contexts.h"
#include "model.h"
#include "process.h"
#include "words.h"
#include "writer.h"

#include "format/pm_id.h"
#include "format/pm_words.h"
#include "mapping/base/arena.h"
#include "mapping/base/map.h"
#include "mapping/run/run_file.h"

#include <stdlib.h>

struct cause {
    uint64_t process; /* identity; 0: only the text tells */
    uint32_t place;
    bool is_alone;
    const char *text; /* interned */
    /* Found at the end: the context, 0: none; the innermost cause on its path. */
    uint32_t context, near;
};

/* A context of flag CAUSE. near: 1 + position of the innermost such context on its path but for
 * itself, 0: none. */
struct link {
    uint32_t context, cause, near;
};

struct place {
    uint32_t place, context, near;
};

struct process {
    uint64_t identity;
    struct place *places;
    uint32_t n, cap;
};

struct collect_causes {
    struct cause *causes;
    uint32_t n_causes, causes_cap;
    struct link *links;
    uint32_t n_links, links_cap;
    struct process *processes;
    uint32_t n_processes, processes_cap;
    struct pm_map by_cause;    /* hash -> 1 + position */
    struct pm_map by_identity; /* -> 1 + position in processes */
    /* parent row, cause; own stack and foreign -> 1 + position in links */
    struct pm_map by_link[2];
    struct pm_map by_row; /* context row -> 1 + position in links */
    struct pm_map told;   /* parent row, sentence row -> row */
};

static struct collect_causes *need_causes(struct collector *c)
{
    if (!c->causes)
        c->causes = pm_alloc(sizeof *c->causes);
    return c->causes;
}

void collect_causes_release(struct collector *c)
{
    struct collect_causes *all = c->causes;
    if (!all)
        return;
    for (uint32_t i = 0; i < all->n_processes; i++)
        free(all->processes[i].places);
    free(all->processes);
    free(all->causes);
    free(all->links);
    struct pm_map *maps[] = {&all->by_cause,   &all->by_identity, &all->by_link[0],
                             &all->by_link[1], &all->by_row,      &all->told};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        pm_map_release(maps[i]);
    free(all);
    c->causes = NULL;
}

/* --- while run files are read --- */

enum pm_status collect_cause(struct collector *c, const struct pm_run_file_word *word,
                             uint32_t *ret_cause)
{
    struct collect_causes *all = need_causes(c);
    const char *text = pm_intern_add(c->strings, word->texts[0].p, word->texts[0].len);
    if (!all || !text)
        return collect_no_memory(c);
    struct cause cause = {word->address, word->a, word->b & 1, text, 0, 0};
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "cause");
    pm_id_hash_id(&hash, cause.process);
    pm_id_hash_number(&hash, cause.place);
    pm_id_hash_number(&hash, cause.is_alone);
    pm_id_hash_string(&hash, text);
    pm_id key = pm_id_hash_done(&hash);
    *ret_cause = pm_map_get(&all->by_cause, key);
    if (*ret_cause)
        return PM_OK;
    struct cause *causes =
        pm_grow_array(all->causes, all->n_causes, &all->causes_cap, 64, sizeof *causes);
    if (!causes)
        return collect_no_memory(c);
    all->causes = causes;
    causes[all->n_causes++] = cause;
    *ret_cause = all->n_causes;
    return pm_map_put(&all->by_cause, key, all->n_causes) ? PM_OK : collect_no_memory(c);
}

enum pm_status collect_cause_context(struct collector *c, uint32_t parent, uint32_t cause,
                                     uint32_t sentence, unsigned flags, uint32_t *ret_context)
{
    struct collect_causes *all = c->causes;
    struct pm_map *map = &all->by_link[(flags & CONTEXT_FOREIGN_STACK) != 0];
    uint64_t key = (uint64_t)parent << 32 | cause;
    uint32_t known = pm_map_get(map, key);
    if (known) {
        *ret_context = all->links[known - 1].context;
        return PM_OK;
    }
    struct link *links =
        pm_grow_array(all->links, all->n_links, &all->links_cap, 64, sizeof *links);
    if (!links)
        return collect_no_memory(c);
    all->links = links;
    flags |= CONTEXT_CAUSE | (all->causes[cause - 1].is_alone ? CONTEXT_CAUSE_ALONE : 0);
    enum pm_status status = collect_new_context(c, parent, sentence, flags, ret_context);
    if (status != PM_OK)
        return status;
    links[all->n_links++] = (struct link){*ret_context, cause, 0};
    return pm_map_put(map, key, all->n_links) &&
                   pm_map_put(&all->by_row, *ret_context, all->n_links)
               ? PM_OK
               : collect_no_memory(c);
}

static struct process *process_of(struct collect_causes *all, uint64_t identity)
{
    uint32_t known = pm_map_get(&all->by_identity, identity);
    if (known)
        return &all->processes[known - 1];
    struct process *processes =
        pm_grow_array(all->processes, all->n_processes, &all->processes_cap, 16, sizeof *processes);
    if (!processes || !pm_map_put(&all->by_identity, identity, all->n_processes + 1))
        return NULL;
    all->processes = processes;
    processes[all->n_processes] = (struct process){.identity = identity};
    return &processes[all->n_processes++];
}

static bool add_place(struct process *process, const struct place *place)
{
    struct place *places =
        pm_grow_array(process->places, process->n, &process->cap, 256, sizeof *places);
    if (!places)
        return false;
    process->places = places;
    places[process->n++] = *place;
    return true;
}

/* Without causes there is nothing to look for: with one run file none was met before, with
 * several no file has words. (Places of 600 processes, 200 of them with 45 000 contexts, took
 * 300 MB.) */
enum pm_status collect_cause_places(struct collector *c, const struct pm_run_file *file,
                                    const struct pm_run_file_thread *thread,
                                    const struct collect_node *nodes)
{
    if (!c->causes && !(c->joins && c->has_words))
        return PM_OK;
    struct collect_causes *all = need_causes(c);
    struct process *process = all ? process_of(all, pm_run_file_process(file)->identity) : NULL;
    uint32_t *near = pm_alloc_array(thread->n_nodes, sizeof *near);
    bool good = process && near;
    for (size_t i = 0; i < thread->n_nodes && good; i++) {
        const struct pm_run_file_node *node = &thread->nodes[i];
        uint32_t link = pm_map_get(&all->by_row, nodes[i].row);
        near[i] = node->parent == PM_RUN_FILE_NO_PARENT ? 0 : near[node->parent];
        if (link && pm_run_file_cause(file, node->noun)) {
            all->links[link - 1].near = near[i];
            near[i] = link;
        }
        if (node->place)
            good = add_place(process, &(struct place){node->place, nodes[i].row, near[i]});
    }
    free(near);
    return good ? PM_OK : collect_no_memory(c);
}

/* --- what only a text tells --- */

enum { MAX_NAMES = 1 + 1 + PM_WORDS_MAX_NOUNS };

static unsigned digit_of(char c)
{
    return c >= '0' && c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 32) - 'a' + 10) & 15;
}

/* Up to `end` without the escapes, which the runtime has looked at. NULL: memory. */
static const char *decode(struct collector *c, const char *p, const char *end)
{
    struct pm_buf out = PM_BUF_INIT(PM_WORDS_MAX_TEXT);
    for (; p < end; p++)
        if (*p == '%' && end - p >= 3) {
            pm_buf_add_byte(&out, (unsigned char)(digit_of(p[1]) << 4 | digit_of(p[2])));
            p += 2;
        } else {
            pm_buf_add_byte(&out, (unsigned char)*p);
        }
    const char *text =
        out.failed ? NULL : pm_intern_add(c->strings, out.data ? out.data : "", out.len);
    pm_buf_release(&out);
    return text;
}

/* level:verb:noun[@kind]... Row 0: it is no sentence. */
static enum pm_status told_sentence(struct collector *c, const char *p, const char *end,
                                    uint32_t *ret_sentence)
{
    struct collect_told_noun nouns[PM_WORDS_MAX_NOUNS];
    const char *names[MAX_NAMES];
    uint32_t n = 0;
    *ret_sentence = 0;
    for (const char *next; p < end && n < MAX_NAMES; p = next + (next < end)) {
        const char *kind;
        for (next = p; next < end && *next != ':';)
            next++;
        for (kind = p; kind < next && *kind != '@';)
            kind++;
        names[n] = decode(c, p, kind);
        const char *kind_name = decode(c, kind + (kind < next), next);
        if (!names[n] || !kind_name)
            return collect_no_memory(c);
        if (n >= 2)
            nouns[n - 2] = (struct collect_told_noun){names[n], kind_name};
        n++;
    }
    return n < 3 ? PM_OK : collect_told_sentence(c, names[0], names[1], nouns, n - 2, ret_sentence);
}

static enum pm_status told_step(struct collector *c, uint32_t sentence, uint32_t *context)
{
    uint64_t key = (uint64_t)*context << 32 | sentence;
    uint32_t known = pm_map_get(&c->causes->told, key), parent = *context;
    *context = known;
    if (known)
        return PM_OK;
    enum pm_status status = collect_new_context(c, parent, sentence, CONTEXT_TOLD, context);
    return status != PM_OK || pm_map_put(&c->causes->told, key, *context) ? status
                                                                          : collect_no_memory(c);
}

static enum pm_status told_context(struct collector *c, const char *text, uint32_t *ret_context)
{
    uint32_t sentence;
    *ret_context = 0;
    enum pm_status status = collect_process_sentence(c, PM_STR("(not in this archive)"), &sentence);
    if (status == PM_OK)
        status = told_step(c, sentence, ret_context);
    while (*text && status == PM_OK) {
        const char *end = text + 1 + strcspn(text + 1, "!");
        status = told_sentence(c, text + 1, end, &sentence);
        if (status == PM_OK && sentence)
            status = told_step(c, sentence, ret_context);
        text = end;
    }
    return status;
}

/* --- at the end --- */

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

static bool is_before(const void *place, const void *wanted)
{
    return ((const struct place *)place)->place < *(const uint32_t *)wanted;
}

struct problems {
    uint32_t n_told, n_nowhere, n_circles;
};

static enum pm_status find_cause(struct collector *c, struct cause *cause,
                                 struct problems *problems)
{
    struct collect_causes *all = c->causes;
    uint32_t known = cause->process ? pm_map_get(&all->by_identity, cause->process) : 0;
    if (!known) {
        problems->n_told++;
        return told_context(c, cause->text, &cause->context);
    }
    const struct process *process = &all->processes[known - 1];
    size_t at = pm_lower_bound(process->places, process->n, sizeof *process->places, &cause->place,
                               is_before);
    if (at == process->n || process->places[at].place != cause->place) {
        problems->n_nowhere++;
        return PM_OK;
    }
    cause->context = process->places[at].context;
    cause->near = cause->is_alone ? 0 : process->places[at].near;
    return PM_OK;
}

/* Depth first over what each link leans on: the link around it, and that around its cause. In a
 * sound run nothing leans on itself, for what is captured was there before. The innermost link
 * of a circle that got there by its cause loses that. */
static bool cut_circles(struct collect_causes *all, struct problems *problems)
{
    enum { NEW, OPEN, DONE };
    uint32_t *stack = pm_alloc_array(all->n_links + 1u, sizeof *stack), n = 0;
    uint8_t *state = pm_alloc_array(all->n_links + 1u, sizeof *state);
    uint8_t *edge = pm_alloc_array(all->n_links + 1u, sizeof *edge);
    bool good = stack && state && edge;
    for (uint32_t first = 1; first <= all->n_links && good; first++) {
        if (state[first] == NEW)
            stack[n++] = first;
        while (n) {
            uint32_t at = stack[n - 1];
            struct link *link = &all->links[at - 1];
            state[at] = OPEN;
            if (edge[at] == 2) {
                state[at] = DONE;
                n--;
                continue;
            }
            bool is_cause = edge[at]++ == 1; /* edge 2: the cause was followed last */
            uint32_t next = !is_cause     ? link->near
                            : link->cause ? all->causes[link->cause - 1].near
                                          : 0;
            if (next && state[next] == NEW) {
                stack[n++] = next;
            } else if (next && state[next] == OPEN) {
                uint32_t k = n;
                while (edge[stack[--k]] != 2) /* some was, for links around links end */
                    ;
                all->links[stack[k] - 1].cause = 0;
                problems->n_circles++;
            }
        }
    }
    free(stack);
    free(state);
    free(edge);
    return good;
}

static enum pm_status mark(struct collector *c, const struct problems *problems)
{
    enum pm_status status = PM_OK;
    if (problems->n_nowhere)
        status = collect_mark(
            c,
            "work was handed over from %u contexts that the run files lack, so it is not known on "
            "whose behalf it was done",
            problems->n_nowhere);
    if (problems->n_circles && status == PM_OK)
        status = collect_mark(
            c,
            "%u contexts are done on behalf of themselves, in a circle: their causes are left out",
            problems->n_circles);
    if (problems->n_told && status == PM_OK)
        status = collect_mark(
            c,
            "work came from %u contexts of processes of another run, of which only the names sent "
            "along are known: 'perfmap collect RUN OTHER_RUN -o ARCHIVE' joins runs",
            problems->n_told);
    return status;
}

enum pm_status collect_causes_end(struct collector *c)
{
    struct collect_causes *all = c->causes;
    struct problems problems = {0};
    enum pm_status status = PM_OK;
    if (!all)
        return PM_OK;
    for (uint32_t i = 0; i < all->n_processes; i++)
        if (all->processes[i].n)
            qsort(all->processes[i].places, all->processes[i].n, sizeof(struct place),
                  compare_places);
    for (uint32_t i = 0; i < all->n_causes && status == PM_OK; i++)
        status = find_cause(c, &all->causes[i], &problems);
    if (status == PM_OK && !cut_circles(all, &problems))
        status = collect_no_memory(c);
    for (uint32_t i = 0; i < all->n_links && status == PM_OK; i++) {
        const struct link *link = &all->links[i];
        uint32_t cause = link->cause ? all->causes[link->cause - 1].context : 0;
        struct collect_value values[] = {collect_integer(link->context), collect_integer(cause)};
        if (cause)
            status = collect_add_row(c, TABLE_CAUSES, values);
    }
    return status == PM_OK ? mark(c, &problems) : status;
}
