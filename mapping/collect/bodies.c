/* The destructor that frees memory (D0) calls that of whole objects (D1), and with Clang that the
 * one of bases (D2). All are one function, and its calls are those that none of the others made.
 * Contexts show it: D1 stands below D0 (pm_graph_continues_call). Counters have no paths, but the
 * machine code of a body says which other one it calls, and each of its calls makes one of that:
 *
 *     mode count, Clang, 100 deletions and 100 ends of scopes     counted    continued
 *     D0                                                          100        0
 *     D1, which D0 calls                                          200        100
 *     D2, which D1 calls                                          200        200
 *
 * So of each thread, the calls of an upper body whose lower one does not stand below it are calls
 * in counters: those of the lower body first; where that has contexts instead (the budget counts
 * functions for a while), those of the upper one. Where the lower body was off for a while less is
 * known to be counted twice than was: at most what is there of both, so the sum is at least.
 *
 * A body that was inlined into another has no calls of its own there.
 */
#include "bodies.h"

#include "binaries.h"
#include "call_paths.h"
#include "collector.h"
#include "debug.h"
#include "run_names.h"

#include "format/pm_id.h"
#include "format/pm_sled.h"
#include "mapping/base/cxx_name.h"
#include "mapping/code/blame.h"
#include "mapping/code/code_map.h"
#include "mapping/pif/pif.h"
#include "mapping/run/run_file.h"

#include <stdlib.h>

/* A noun with events that may be one of several bodies. Of equal names the next one is linked. */
struct body {
    const char *name;
    uint32_t noun, next;           /* next: position + 1 */
    uint32_t lower;                /* which it calls: position + 1; 0: none that has events */
    uint64_t n_counted, n_entered; /* of a thread: calls in its counter, and in contexts */
    uint64_t n_below, n_joined;    /* calls of the lower one below it; what is not for others */
    uint64_t n_continued;
};

struct finding {
    struct collector *c;
    const struct pm_run_file *file;
    const struct collect_names *names;
    struct collect_bodies *ret;
    bool *is_used;     /* by noun: has it events? */
    uint32_t *of_noun; /* position + 1 */
    struct body *list;
    uint32_t n, cap;
    struct pm_map by_name; /* hash -> position of the first + 1 */
    /* Counters by thread, and the next ones of the same thread: positions + 1. */
    uint32_t *first, *next;
};

/* --- which body calls which --- */

static bool is_digit_of_body(const char *name, size_t i)
{
    return i > 2 && name[i] >= '0' && name[i] <= '4' && (name[i - 1] == 'C' || name[i - 1] == 'D');
}

/* May it be one of several? */
static bool is_body(const char *name)
{
    bool is = false;
    for (size_t i = 0; strncmp(name, "_Z", 2) == 0 && name[i]; i++)
        is |= is_digit_of_body(name, i);
    return is;
}

/* Of the name with another digit at `at`; 0: as it is. LTO's marks are left out. */
static uint64_t hash_of(const char *name, size_t at, char digit)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "body");
    for (size_t i = 0; name[i] && name[i] != '.'; i++) {
        char letter[] = {at && i == at ? digit : name[i], 0};
        pm_id_hash_string(&hash, letter);
    }
    return pm_id_hash_done(&hash);
}

/* Of call and jmp with a distance, and of those through the dynamic linker's table. */
static const struct branch {
    unsigned char bytes[2], n_bytes, n_distance;
} branches[] = {
    {{0xe8}, 1, 4}, {{0xe9}, 1, 4}, {{0xeb}, 1, 1}, {{0xff, 0x15}, 2, 4}, {{0xff, 0x25}, 2, 4}};

static bool is_prefix(unsigned char byte)
{
    return byte == 0xf2 || byte == 0x48 || byte == 0x67 || byte == 0x3e;
}

/* Where the instruction leads to, or that table's place; 0: it is another one. */
static uint64_t target_of(const unsigned char *code, uint64_t address, uint64_t left)
{
    enum { MAX_PREFIXES = 3 };
    size_t at = 0;
    while (at < MAX_PREFIXES && at < left && is_prefix(code[at]))
        at++;
    for (size_t i = 0; i < sizeof branches / sizeof *branches; i++) {
        const struct branch *b = &branches[i];
        if (at + b->n_bytes + b->n_distance > left || memcmp(code + at, b->bytes, b->n_bytes) != 0)
            continue;
        const unsigned char *p = code + at + b->n_bytes;
        int32_t distance = *(const signed char *)p;
        if (b->n_distance == sizeof distance)
            memcpy(&distance, p, sizeof distance);
        return address + at + b->n_bytes + b->n_distance + (uint64_t)(int64_t)distance;
    }
    return 0;
}

/* Is what is called that lower body, or leads to it? One symbol stands for D1 and D2 where they
 * have the same code. Behind the name may stand "@plt", of a stub. */
static bool is_meant(const char *called, const struct body *lower, const struct body *upper)
{
    size_t len = strcspn(called, "@");
    char *name = pm_strndup(called, len);
    bool is = name && pm_cxx_is_lower_body(name, upper->name) &&
              (strcmp(name, lower->name) == 0 || pm_cxx_is_lower_body(lower->name, name));
    free(name);
    return is;
}

static enum pm_status leads_to(struct finding *f, struct collect_binary *binary, uint64_t address,
                               const struct body *lower, const struct body *upper, bool *ret)
{
    struct pm_pif_noun noun;
    const char *name;
    uint64_t offset;
    const struct pm_code_range *range = pm_code_map_find(binary->map, address);
    for (; range && !*ret; range = pm_code_map_next_same(binary->map, range, address))
        *ret = range->block->address == address &&
               pm_pif_find_noun(binary->pif, range->block->symbol, &noun) && noun.name &&
               is_meant(noun.name, lower, upper);
    if (*ret || pm_code_map_find(binary->map, address))
        return PM_OK;
    enum pm_status status = collect_symbol_at(f->c, binary, address, &name, &offset);
    if (status != PM_OK)
        return status;
    *ret = name && offset == 0 && is_meant(name, lower, upper);
    return PM_OK;
}

static enum pm_status list_blocks(struct finding *f, struct collect_binary *binary)
{
    size_t n;
    const struct pm_code_block *blocks = pm_code_map_blocks(binary->map, &n);
    struct collect_body_calls *calls = binary->body_calls;
    for (size_t i = 0; !calls->is_listed && i < n; i++)
        if (!blocks[i].is_cold && !pm_map_put(&calls->blocks, blocks[i].symbol, (uint32_t)i + 1))
            return collect_no_memory(f->c);
    calls->is_listed = true;
    return PM_OK;
}

static enum pm_status look_for_call(struct finding *f, struct collect_binary *binary,
                                    const struct pm_code_block *block, const struct body *lower,
                                    const struct body *upper, bool *ret)
{
    uint64_t low = block->address, n = block->size_bytes, at = low;
    const unsigned char *code = pm_blame_code(binary->blame, low, n);
    for (; code && !*ret && pm_blame_next_call(binary->blame, low, n, &at); at++) {
        uint64_t to = target_of(code + (at - low), at, low + n - at);
        enum pm_status status = to ? leads_to(f, binary, to, lower, upper, ret) : PM_OK;
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

enum { DOES_NOT = 1, DOES };

static enum pm_status look_up_call(struct finding *f, struct collect_binary *binary, pm_id symbol,
                                   const struct body *lower, const struct body *upper, bool *ret)
{
    size_t n;
    enum pm_status status = list_blocks(f, binary);
    if (status != PM_OK)
        return status;
    uint32_t block = pm_map_get(&binary->body_calls->blocks, symbol);
    uint64_t key = symbol ^ hash_of(lower->name, 0, 0);
    uint32_t known = pm_map_get(&binary->body_calls->known, key);
    *ret = known == DOES;
    if (!block || known)
        return PM_OK;
    status = look_for_call(f, binary, &pm_code_map_blocks(binary->map, &n)[block - 1], lower, upper,
                           ret);
    if (status != PM_OK)
        return status;
    if (!pm_map_put(&binary->body_calls->known, key, *ret ? DOES : DOES_NOT))
        return collect_no_memory(f->c);
    return PM_OK;
}

/* Whether its code calls the other one. */
static enum pm_status does_call(struct finding *f, const struct body *upper,
                                const struct body *lower, bool *ret)
{
    const struct pm_run_file_noun *noun = pm_run_file_noun(f->file, upper->noun);
    struct collect_binary *binary = f->names->binaries[noun->object];
    enum pm_status status = collect_need_calls(f->c, binary);
    if (status != PM_OK || !binary->map || !binary->blame)
        return status;
    return look_up_call(f, binary, noun->id, lower, upper, ret);
}

/* The body of the name that the upper one's binary has, else the first: the dynamic linker takes
 * one for all. */
static uint32_t choose(const struct finding *f, const struct body *upper, uint64_t hash)
{
    uint32_t first = pm_map_get(&f->by_name, hash), at = first;
    uint32_t object = pm_run_file_noun(f->file, upper->noun)->object;
    while (at && pm_run_file_noun(f->file, f->list[at - 1].noun)->object != object)
        at = f->list[at - 1].next;
    return at ? at : first;
}

static enum pm_status find_lower(struct finding *f, struct body *upper)
{
    static const char digits[] = "124";
    for (size_t i = 0; upper->name[i]; i++)
        for (size_t k = 0; is_digit_of_body(upper->name, i) && digits[k]; k++) {
            uint32_t at = digits[k] > upper->name[i]
                              ? choose(f, upper, hash_of(upper->name, i, digits[k]))
                              : 0;
            bool calls = false;
            if (!at || upper->lower || !pm_cxx_is_lower_body(f->list[at - 1].name, upper->name))
                continue;
            enum pm_status status = does_call(f, upper, &f->list[at - 1], &calls);
            if (status != PM_OK)
                return status;
            upper->lower = calls ? at : 0;
        }
    return PM_OK;
}

/* --- calls of them --- */

static enum pm_status add_body(struct finding *f, uint32_t noun)
{
    const struct pm_run_file_noun *of = pm_run_file_noun(f->file, noun);
    struct pm_pif_noun pif;
    struct collect_binary *binary =
        of->object == PM_RUN_FILE_NO_OBJECT ? NULL : f->names->binaries[of->object];
    if (!binary || !binary->pif || of->kind == PM_SLED_LOOP_ENTER ||
        !pm_pif_find_noun(binary->pif, of->id, &pif) || !pif.name || !is_body(pif.name))
        return PM_OK;
    struct body *list = pm_grow_array(f->list, f->n, &f->cap, 64, sizeof *list);
    if (!list)
        return collect_no_memory(f->c);
    f->list = list;
    uint32_t *first = pm_map_at(&f->by_name, hash_of(pif.name, 0, 0));
    if (!first)
        return collect_no_memory(f->c);
    list[f->n] = (struct body){.name = pif.name, .noun = noun, .next = *first};
    *first = f->of_noun[noun] = ++f->n;
    return PM_OK;
}

static void note_counters(struct finding *f)
{
    for (size_t i = 0; i < pm_run_file_n_counts(f->file); i++) {
        const struct pm_run_file_counts *counts = pm_run_file_counts(f->file, i);
        uint32_t first_noun = pm_run_file_object(f->file, counts->object)->first_noun;
        for (size_t k = 0; k < counts->n_counts; k++)
            f->is_used[first_noun + k] |= counts->counts[k] != 0;
    }
}

/* What has a context of its own: sets and sentences are no code. */
static bool is_of_code(const struct pm_run_file_node *node)
{
    return node->parent != PM_RUN_FILE_NO_PARENT && !node->is_set;
}

static void note_contexts(struct finding *f)
{
    for (size_t t = 0; t < pm_run_file_n_threads(f->file); t++) {
        const struct pm_run_file_thread *thread = pm_run_file_thread(f->file, t);
        for (size_t i = 0; i < thread->n_nodes; i++)
            if (is_of_code(&thread->nodes[i]))
                f->is_used[thread->nodes[i].noun] = true;
    }
}

static enum pm_status find_bodies(struct finding *f)
{
    size_t n = pm_run_file_n_nouns(f->file);
    f->is_used = pm_alloc_array(n, sizeof *f->is_used);
    f->of_noun = pm_alloc_array(n, sizeof *f->of_noun);
    if (!f->is_used || !f->of_noun)
        return collect_no_memory(f->c);
    note_counters(f);
    note_contexts(f);
    for (size_t i = 0; i < n; i++) {
        enum pm_status status = f->is_used[i] ? add_body(f, (uint32_t)i) : PM_OK;
        if (status != PM_OK)
            return status;
    }
    for (uint32_t i = 0; i < f->n; i++) {
        enum pm_status status = find_lower(f, &f->list[i]);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* --- what is counted twice --- */

static struct body *body_of(const struct finding *f, uint32_t noun)
{
    return noun != PM_RUN_NOUN_ROOT && f->of_noun[noun] ? &f->list[f->of_noun[noun] - 1] : NULL;
}

static void add_contexts(struct finding *f, const struct pm_run_file_thread *thread)
{
    for (size_t i = 0; i < thread->n_nodes; i++) {
        const struct pm_run_file_node *node = &thread->nodes[i];
        struct body *body = is_of_code(node) ? body_of(f, node->noun) : NULL;
        if (!body)
            continue;
        body->n_entered += node->n_calls;
        const struct pm_run_file_node *above = &thread->nodes[node->parent];
        struct body *upper = is_of_code(above) ? body_of(f, above->noun) : NULL;
        if (upper && upper->lower && body == &f->list[upper->lower - 1]) {
            upper->n_below += node->n_calls;
            body->n_joined += node->n_calls;
        }
    }
}

static void add_counters(struct finding *f, const struct pm_run_file_counts *counts)
{
    uint32_t first_noun = pm_run_file_object(f->file, counts->object)->first_noun;
    for (uint32_t k = 0; k < f->n; k++) {
        size_t at = f->list[k].noun - first_noun; /* a large number: of objects before it */
        if (f->list[k].noun >= first_noun && at < counts->n_counts)
            f->list[k].n_counted += counts->counts[at];
    }
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Each call of the upper body that has none below it made one of the lower body that is counted
 * elsewhere, unless that was off. */
static void join(struct body *upper, struct body *lower)
{
    uint64_t n_lower = lower->n_counted + lower->n_entered;
    uint64_t n = least(upper->n_counted + upper->n_entered - upper->n_below,
                       n_lower - least(n_lower, lower->n_joined));
    uint64_t n_of_lower = least(n, lower->n_counted - lower->n_continued);
    lower->n_joined += n;
    lower->n_continued += n_of_lower;
    upper->n_continued += least(n - n_of_lower, upper->n_counted - upper->n_continued);
}

static enum pm_status keep(struct finding *f, uint32_t thread, const struct body *body)
{
    struct collect_bodies *ret = f->ret;
    if (!body->n_continued)
        return PM_OK;
    uint64_t *continued = pm_grow_array(ret->continued, ret->n, &ret->cap, 64, sizeof *continued);
    if (!continued)
        return collect_no_memory(f->c);
    ret->continued = continued;
    continued[ret->n++] = body->n_continued;
    return pm_map_put(&ret->places, (uint64_t)thread << 32 | body->noun, ret->n)
               ? PM_OK
               : collect_no_memory(f->c);
}

static void forget_calls(struct finding *f)
{
    for (uint32_t i = 0; i < f->n; i++) {
        struct body *body = &f->list[i];
        body->n_counted = body->n_entered = body->n_below = body->n_joined = body->n_continued = 0;
    }
}

static enum pm_status join_thread(struct finding *f, uint32_t thread)
{
    forget_calls(f);
    add_contexts(f, pm_run_file_thread(f->file, thread));
    for (uint32_t at = f->first[thread]; at; at = f->next[at - 1])
        add_counters(f, pm_run_file_counts(f->file, at - 1));
    for (uint32_t i = 0; i < f->n; i++)
        if (f->list[i].lower)
            join(&f->list[i], &f->list[f->list[i].lower - 1]);
    for (uint32_t i = 0; i < f->n; i++) {
        enum pm_status status = keep(f, thread, &f->list[i]);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status join_threads(struct finding *f)
{
    size_t n = pm_run_file_n_threads(f->file), n_counts = pm_run_file_n_counts(f->file);
    f->first = pm_alloc_array(n, sizeof *f->first);
    f->next = pm_alloc_array(n_counts, sizeof *f->next);
    if (!f->first || !f->next)
        return collect_no_memory(f->c);
    for (size_t i = 0; i < n_counts; i++) {
        uint32_t *head = &f->first[pm_run_file_counts(f->file, i)->thread];
        f->next[i] = *head;
        *head = (uint32_t)i + 1;
    }
    for (size_t t = 0; t < n; t++) {
        enum pm_status status = f->first[t] ? join_thread(f, (uint32_t)t) : PM_OK;
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static bool has_pairs(const struct finding *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (f->list[i].lower)
            return true;
    return false;
}

static enum pm_status find_continued(struct finding *f)
{
    enum pm_status status = find_bodies(f);
    if (status != PM_OK || !has_pairs(f))
        return status;
    return join_threads(f);
}

void collect_bodies_release(struct collect_bodies *bodies)
{
    pm_map_release(&bodies->places);
    free(bodies->continued);
}

enum pm_status collect_bodies_find(struct collector *c, const struct pm_run_file *file,
                                   const struct collect_names *names,
                                   struct collect_bodies *ret_bodies)
{
    struct finding f = {.c = c, .file = file, .names = names, .ret = ret_bodies};
    if (!pm_run_file_n_counts(file))
        return PM_OK;
    enum pm_status status = find_continued(&f);
    free(f.is_used);
    free(f.of_noun);
    free(f.first);
    free(f.next);
    free(f.list);
    pm_map_release(&f.by_name);
    if (status != PM_OK)
        collect_bodies_release(ret_bodies);
    return status;
}

uint64_t collect_bodies_continued(const struct collect_bodies *bodies, uint32_t thread,
                                  uint32_t noun)
{
    uint32_t at = pm_map_get(&bodies->places, (uint64_t)thread << 32 | noun);
    return at ? bodies->continued[at - 1] : 0;
}

void collect_body_calls_release(struct collect_binary *binary)
{
    pm_map_release(&binary->body_calls->blocks);
    pm_map_release(&binary->body_calls->known);
}
