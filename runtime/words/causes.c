/* Causes: contexts that other contexts are done on behalf of.
 *
 * An id has, from the top, a bit that says imported, 31 bits of the identity of the process that
 * gave it out, and 32 bits: the context's place in the run file, or the number of an imported
 * cause. Capturing so reads two words. Adopting looks the place up in a table of single words,
 * without a lock; what is not there is described, under the lock of the words, and becomes a
 * noun of the context tree.
 *
 * Contexts stay few, and never make a circle, because causes are equal when what is active by
 * them is: each has a list of links, hashes of the paths without causes - its own, then those
 * that it was done on behalf of, from the nearest on, no one twice. Work that two threads hand
 * to each other has two or three lists. Lists that grow beyond MAX_LINKS, and all new ones when
 * there are very many causes, begin anew: what was captured counts, what that had adopted itself
 * does not. */
#include "runtime/words/causes.h"
#include "runtime/base/file.h"
#include "runtime/base/sys.h"
#include "runtime/base/upward.h"
#include "runtime/tree/ambient.h"
#include "runtime/tree/tree.h"
#include "runtime/sample/sample.h"
#include "runtime/words/api.h"
#include "runtime/words/quick.h"

#include <string.h>
#include <sys/mman.h>

enum {
    MAX_LINKS = 16,
    MAX_CAUSES = 1 << 16,
    MAX_CAUSES_LIMITED = 1 << 12, /* where memory has a limit */
    /* of that identity and place; further ones are told apart by their text */
    MAX_IMPORTED = MAX_CAUSES / 4,
    ENTRIES_PER_CAUSE = 4,
    QUICK_ENTRIES = 1 << 16,
    FAR_ENTRIES = 1 << 10,
    START_ENTRIES = 1 << 6,
    MAX_ANCESTORS = 64,
    NO_EFFECT = 0xffffffff, /* in place of 1 + a noun */
};
#define IMPORTED ((uint64_t)1 << 63)
#define NOTHING 0x51ed270b3a1fULL /* hash of a path on which nothing is active */
#define ALONE 0xa10ea10eULL
_Static_assert(MAX_LINKS == sizeof((struct pmr_cause *)0)->links / sizeof(uint64_t),
               "room for all");

static struct {
    uint64_t identity; /* of this process */
    uint32_t tag;      /* part of it, in ids; 0: not known yet */
    uint32_t n, n_imported;
    uint32_t max, n_entries; /* causes; of by_key and by_noun, a power of two */
    bool said_unknown, said_limit, said_imported;
    uint64_t *quick; /* place << 32 | 1 + noun, by place: what was adopted last */
    struct far {
        uint64_t id; /* 0 while it is written */
        uint32_t noun;
        /* ids that are not this process's own, by id: captured before a fork, or never given out */
    } * far;
    /* place << 32 | start_noun, by place: of threads that began last */
    uint64_t starts[START_ENTRIES];
    struct pmr_cause *list;     /* from number 1 on */
    uint32_t *by_key, *by_noun; /* numbers */
    struct ancestor {
        uint64_t identity;
        uint32_t tag, n; /* causes when it forked */
    } ancestors[MAX_ANCESTORS];
    uint32_t n_ancestors;
} causes;

/* Of equal numbers, too: what was captured right where it had been adopted has the path of the
 * adoption. */
static uint64_t mix(uint64_t h, uint64_t value)
{
    h = (h * 0xd6e8feb86659fd93u ^ value) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

/* --- ids --- */

static uint32_t tag_of(uint64_t identity)
{
    return (uint32_t)(identity >> 33) | 1;
}

uint64_t pm_cause_identity(void)
{
    const struct pm_run_header *h = pm_process.file.header;
    if (pm_unlikely(pm_load(causes.tag) == 0) && h != NULL) {
        pm_store(causes.identity, pm_run_identity(h->pid, h->start_tsc, h->start_realtime_ns));
        pm_barrier();
        pm_store(causes.tag, tag_of(causes.identity));
    }
    return causes.identity;
}

static uint32_t id_tag(uint64_t id)
{
    return (uint32_t)(id >> 32) & 0x7fffffff;
}

uint32_t pm_cause_own_place(uint64_t id)
{
    return id_tag(id) == causes.tag && !(id & IMPORTED) ? (uint32_t)id : 0;
}

static const struct ancestor *ancestor_of(uint64_t id)
{
    for (uint32_t i = 0; i < causes.n_ancestors; i++)
        if (causes.ancestors[i].tag == id_tag(id))
            return &causes.ancestors[i];
    return NULL;
}

bool pm_causes_are_on(void)
{
    if (pm_unlikely(!*pm_process.alive_mark))
        pm_fork_child();
    return pm_process.file.header != NULL && pm_process.mode >= PM_RUN_MODE_ACTIVE;
}

/* --- tables, under the lock --- */

static bool open_tables(void)
{
    if (causes.max == 0) {
        causes.max = pm_memory_is_limited() ? MAX_CAUSES_LIMITED : MAX_CAUSES;
        causes.n_entries = ENTRIES_PER_CAUSE * causes.max;
    }
    if (causes.list == NULL)
        causes.list = pm_private_memory((causes.max + 1u) * sizeof *causes.list);
    if (causes.by_key == NULL)
        causes.by_key = pm_private_memory(causes.n_entries * sizeof *causes.by_key);
    if (causes.by_noun == NULL)
        causes.by_noun = pm_private_memory(causes.n_entries * sizeof *causes.by_noun);
    if (causes.quick == NULL)
        pm_store(causes.quick, pm_private_memory(QUICK_ENTRIES * sizeof *causes.quick));
    if (causes.far == NULL)
        pm_store(causes.far, pm_private_memory(FAR_ENTRIES * sizeof *causes.far));
    return causes.list != NULL && causes.by_key != NULL && causes.by_noun != NULL &&
           causes.quick != NULL && causes.far != NULL;
}

/* The table's entry for a key, or the free one where it would be. */
static uint32_t *entry_of_key(uint64_t key)
{
    uint32_t at = (uint32_t)(key >> 20) & (causes.n_entries - 1);
    while (causes.by_key[at] != 0 && causes.list[causes.by_key[at]].key != key)
        at = (at + 1) & (causes.n_entries - 1);
    return &causes.by_key[at];
}

static bool has_noun(const struct pmr_cause *cause, uint32_t noun)
{
    return cause->noun == noun + 1 || cause->start_noun == noun + 1;
}

static uint32_t *entry_of_noun(uint32_t noun)
{
    uint32_t at = noun * 0x9e3779b1u >> 8 & (causes.n_entries - 1);
    while (causes.by_noun[at] != 0 && !has_noun(&causes.list[causes.by_noun[at]], noun))
        at = (at + 1) & (causes.n_entries - 1);
    return &causes.by_noun[at];
}

static bool is_cause(const struct pm_node *node)
{
    return node->kind == PM_RUN_CAUSE_ENTER || node->kind == PM_RUN_CAUSE_START;
}

const struct pmr_cause *pm_cause_of_node(const struct pm_node *node)
{
    if (!is_cause(node) || causes.by_noun == NULL)
        return NULL;
    uint32_t number = *entry_of_noun(node->noun);
    return number != 0 ? &causes.list[number] : NULL;
}

static void say_limit(void)
{
    if (causes.said_limit)
        return;
    const char *text =
        causes.n < causes.max
            ? "the run file, or the table of the program's words, has no room for further contexts "
              "that hand over work: what is adopted from them is not counted for them"
        : causes.max == MAX_CAUSES
            ? "work was handed over from more than 65536 contexts: what is adopted from further "
              "ones is not counted for them"
            : "work was handed over from more than 4096 contexts, which is all that is kept where "
              "memory is limited (RLIMIT_AS): what is adopted from further ones is not counted for "
              "them";
    pm_file_message(PM_RUN_MSG_LIMIT, text, NULL);
    causes.said_limit = true;
}

/* Number of the new cause, 0: no room. Its links are the caller's to fill. */
static uint32_t add_cause(uint64_t key, uint64_t process, uint32_t place, bool is_alone,
                          const char *text)
{
    uint32_t noun, number = causes.n + 1;
    uint32_t word = causes.n < causes.max ? pm_words_cause(process, place, is_alone, text) : 0;
    if (word == 0 || !pm_words_noun(word, PM_RUN_CAUSE_ENTER, &noun)) {
        say_limit();
        return 0;
    }
    struct pmr_cause *cause = &causes.list[number];
    *cause = (struct pmr_cause){
        .noun = noun + 1, .word = word, .place = place, .key = key, .process = process};
    *entry_of_key(key) = number;
    *entry_of_noun(noun) = number;
    __atomic_store_n(&causes.n, number, __ATOMIC_RELEASE);
    return number;
}

/* --- what is active by a cause --- */

struct chain {
    uint64_t links[MAX_LINKS];
    uint32_t n, n_causes; /* n_causes: on the path itself */
    uint64_t key;
    bool too_long;
    const struct pmr_cause *last; /* outermost on the path */
};

static bool add_link(struct chain *chain, uint64_t link)
{
    for (uint32_t i = 0; i < chain->n; i++)
        if (chain->links[i] == link)
            return false;
    chain->too_long |= chain->n == MAX_LINKS;
    if (chain->n < MAX_LINKS)
        chain->links[chain->n++] = link;
    return true;
}

/* The path without causes. */
static uint64_t plain_path(const struct pm_node *node)
{
    uint64_t h = NOTHING;
    for (; node->parent != NULL; node = node->parent)
        if (!is_cause(node))
            h = mix(h, node->noun);
    return h;
}

/* Where on the path a cause was adopted is a part of the key, for `then`. */
static void add_cause_of(struct chain *chain, const struct pm_node *node)
{
    const struct pmr_cause *cause = pm_cause_of_node(node);
    bool any = false;
    if (cause == NULL)
        return;
    chain->n_causes++;
    chain->last = cause;
    for (uint32_t i = 0; i < cause->n_links; i++) {
        if (!add_link(chain, cause->links[i]))
            continue;
        if (!any)
            chain->key = mix(chain->key, plain_path(node->parent));
        any = true;
        chain->key = mix(chain->key, cause->links[i]);
    }
}

static void begin_anew(struct chain *chain)
{
    chain->n = 1;
    chain->key = mix(chain->links[0], ALONE);
}

static void describe(const struct pm_node *node, struct chain *chain)
{
    chain->n = chain->n_causes = 0;
    chain->too_long = false;
    add_link(chain, plain_path(node));
    chain->key = chain->links[0];
    for (; node->parent != NULL; node = node->parent)
        if (is_cause(node))
            add_cause_of(chain, node);
    if (chain->too_long)
        begin_anew(chain);
}

/* --- from ids to causes, under the lock --- */

static struct pmr_cause *own_cause(uint32_t place)
{
    struct chain chain;
    const struct pm_node *node = pm_node_at(place);
    if (node == NULL)
        return NULL;
    describe(node, &chain);
    if (chain.links[0] == NOTHING && chain.n_causes <= 1)
        return chain.n_causes == 1 ? (struct pmr_cause *)(uintptr_t)chain.last : NULL;
    uint32_t number = *entry_of_key(chain.key);
    bool are_many = causes.n >= causes.max / 2; /* new ones have one link */
    if (number == 0 && chain.n > 1 && are_many) {
        begin_anew(&chain);
        number = *entry_of_key(chain.key);
    }
    if (number == 0) {
        bool is_alone = chain.n == 1 && chain.n_causes != 0;
        number = add_cause(chain.key, causes.identity, place, is_alone, "");
        if (number == 0)
            return NULL;
        causes.list[number].n_links = chain.n;
        memcpy(causes.list[number].links, chain.links, chain.n * sizeof *chain.links);
    }
    return &causes.list[number];
}

/* Of another process: nothing is known of its path, so it is one link. */
static struct pmr_cause *foreign_cause(uint64_t key, uint64_t process, uint32_t place,
                                       const char *text)
{
    uint32_t number = *entry_of_key(key);
    if (number == 0) {
        number = add_cause(key, process, place, false, text);
        if (number == 0)
            return NULL;
        causes.list[number].n_links = 1;
        causes.list[number].links[0] = key;
    }
    return &causes.list[number];
}

static uint64_t foreign_key(uint64_t process, uint32_t place)
{
    return mix(mix(NOTHING, process), place);
}

const struct pmr_cause *pm_cause_foreign(uint64_t id)
{
    const struct ancestor *ancestor = ancestor_of(id);
    bool is_own = id_tag(id) == causes.tag;
    if ((!is_own && ancestor == NULL) || !open_tables())
        return NULL;
    if (id & IMPORTED) {
        uint32_t number = (uint32_t)id;
        return number != 0 && number <= (is_own ? causes.n : ancestor->n) ? &causes.list[number]
                                                                          : NULL;
    }
    if (is_own || (uint32_t)id == 0)
        return NULL;
    return foreign_cause(foreign_key(ancestor->identity, (uint32_t)id), ancestor->identity,
                         (uint32_t)id, "");
}

static struct pmr_cause *cause_of(uint64_t id)
{
    uint32_t place = pm_cause_own_place(id);
    if (place == 0)
        return (struct pmr_cause *)(uintptr_t)pm_cause_foreign(id);
    return own_cause(place);
}

/* False: an id that this process never gave out. */
static bool is_known(uint64_t id)
{
    uint32_t place = pm_cause_own_place(id);
    return place != 0 ? pm_node_at(place) != NULL : pm_cause_foreign(id) != NULL;
}

static void say_unknown(void)
{
    if (!causes.said_unknown)
        pm_file_message(PM_RUN_MSG_NOTE,
                        "a cause was adopted that this process neither captured nor imported: it "
                        "has no effect (docs/words.md, causes)",
                        NULL);
    causes.said_unknown = true;
}

static uint64_t *quick_entry(uint32_t place)
{
    return &causes.quick[place / 2 % QUICK_ENTRIES];
}

static struct far *far_entry(uint64_t id)
{
    return &causes.far[mix(NOTHING, id) >> 22 & (FAR_ENTRIES - 1)];
}

/* Under the lock. What an id stands for does not change until there is another process. */
static void note_far(uint64_t id, uint32_t noun)
{
    struct far *far = far_entry(id);
    pm_store(far->id, 0);
    pm_fence();
    pm_store(far->noun, noun);
    __atomic_store_n(&far->id, id, __ATOMIC_RELEASE);
}

static uint32_t look_up_far(uint64_t id)
{
    if (pm_load(causes.far) == NULL)
        return 0;
    const struct far *far = far_entry(id);
    if (__atomic_load_n(&far->id, __ATOMIC_ACQUIRE) != id)
        return 0;
    uint32_t noun = pm_load(far->noun);
    pm_fence();
    return pm_load(far->id) == id ? noun : 0;
}

/* 1 + noun, or NO_EFFECT. */
static uint32_t look_up(uint64_t id)
{
    uint32_t noun = NO_EFFECT, place;
    uint64_t mask = pm_words_lock();
    pm_cause_identity();
    const struct pmr_cause *cause = open_tables() ? cause_of(id) : NULL;
    if (cause != NULL)
        noun = cause->noun;
    place = pm_cause_own_place(id);
    if (cause == NULL && causes.quick != NULL && !is_known(id))
        say_unknown();
    else if (place != 0 && causes.quick != NULL)
        pm_store(*quick_entry(place), (uint64_t)place << 32 | noun);
    if (causes.far != NULL && id_tag(id) != causes.tag)
        note_far(id, noun);
    pm_words_unlock(mask);
    return noun;
}

/* The same without the lock; 0: not known so quickly. */
static uint32_t look_up_quickly(uint64_t id)
{
    const uint64_t *quick = pm_load(causes.quick);
    uint32_t low = (uint32_t)id;
    if (quick == NULL)
        return 0;
    if (id_tag(id) != pm_load(causes.tag))
        return look_up_far(id);
    if (id & IMPORTED)
        return low != 0 && low <= __atomic_load_n(&causes.n, __ATOMIC_ACQUIRE)
                   ? causes.list[low].noun
                   : 0;
    uint64_t entry = pm_load(quick[low / 2 % QUICK_ENTRIES]);
    return entry >> 32 == low ? (uint32_t)entry : 0;
}

/* --- the calls --- */

uint64_t pm_cause_capture(uintptr_t sp)
{
    struct pm_tls *t = &pm_tls;
    const struct pm_node *node = pm_load(t->current);
    uint32_t tag = pm_load(causes.tag);
    if (pm_unlikely(node->sp < sp || *t->ring_head != t->ring_seen || tag == 0 ||
                    !*pm_process.alive_mark)) {
        if (!pm_causes_are_on() || pm_cause_identity() == 0 ||
            (t->state != PM_THREAD_READY && !pm_thread_begin(t, pm_tsc())))
            return 0;
        tag = causes.tag;
        pm_ambient_look(t);
        node = pm_context_at(t, t->slot, sp);
    }
    return (uint64_t)tag << 32 | node->place;
}

static void event(uint32_t noun, uintptr_t sp, uint8_t kind)
{
    uint64_t tsc = pm_mode_is_timed(pm_process.mode) ? pm_tsc() : 0;
    struct pm_probe probe = {.mode = (uint8_t)pm_process.mode,
                             .noun = noun,
                             .kind = kind,
                             .loop_depth = PM_SLED_DEPTH_MASK};
    pm_slow(&probe, sp, tsc);
}

/* False: it is to be left alone. */
static bool noun_of(uint64_t id, uint32_t *ret_noun)
{
    if (id == 0 || !pm_causes_are_on())
        return false;
    uint32_t noun = look_up_quickly(id);
    if (pm_unlikely(noun == 0))
        noun = look_up(id);
    *ret_noun = noun - 1;
    return noun != NO_EFFECT;
}

static bool is_quick(void)
{
    return pm_process.mode == PM_RUN_MODE_ACTIVE || pm_process.mode == PM_RUN_MODE_EXACT;
}

static uint64_t quick_tsc(void)
{
    return pm_process.mode == PM_RUN_MODE_EXACT ? pm_tsc() : 0;
}

void pm_cause_adopt(uint64_t id, uintptr_t sp)
{
    uint32_t noun;
    if (noun_of(id, &noun) && !(is_quick() && pm_enter_quickly(noun, sp, quick_tsc())))
        event(noun, sp, PM_RUN_CAUSE_ENTER);
}

/* What was not adopted has no context to be left. */
void pm_cause_release(uint64_t id, uintptr_t sp)
{
    uint32_t noun;
    if (noun_of(id, &noun) && !(is_quick() && pm_leave_quickly(noun, sp, quick_tsc())))
        event(noun, sp, PM_RUN_CAUSE_LEAVE);
}

uint64_t pm_cause_imported(uint64_t process, uint32_t place, const char *text)
{
    if (process == causes.identity)
        return (uint64_t)causes.tag << 32 | place;
    if (!open_tables())
        return 0;
    uint64_t key = foreign_key(process, place);
    if (*entry_of_key(key) == 0 && causes.n_imported >= MAX_IMPORTED) {
        if (!causes.said_imported)
            pm_file_message(PM_RUN_MSG_LIMIT,
                            "more than 16384 causes were imported: further ones are told apart by "
                            "the names in their text only",
                            NULL);
        causes.said_imported = true;
        process = place = 0;
        key = NOTHING;
        for (const char *p = text; *p != 0; p++)
            key = mix(key, (unsigned char)*p);
        if (*entry_of_key(key) == 0 && causes.n_imported >= 2 * MAX_IMPORTED)
            return 0;
    }
    uint32_t n_before = causes.n;
    const struct pmr_cause *cause = foreign_cause(key, process, place, text);
    causes.n_imported += causes.n - n_before;
    return cause != NULL ? IMPORTED | (uint64_t)causes.tag << 32 | (uint64_t)(cause - causes.list)
                         : 0;
}

/* --- threads and children --- */

uint64_t pm_cause_of_thread(void)
{
    return pm_tls.state == PM_THREAD_READY ? pm_cause_capture((uintptr_t)__builtin_frame_address(0))
                                           : 0;
}

static uint64_t *start_entry(uint32_t place)
{
    return &causes.starts[place / 2 % START_ENTRIES];
}

/* The noun is another one than that of adopting, so that what begins with the thread ends with
 * it only. */
void pm_cause_thread_begins(uint64_t id)
{
    uint32_t noun;
    if (id == 0 || !pm_causes_are_on() || pm_tls.state != PM_THREAD_NEW)
        return;
    uint32_t place = pm_cause_own_place(id);
    uint64_t known = place != 0 ? pm_load(*start_entry(place)) : 0;
    if (known != 0 && known >> 32 == place) {
        pm_tls.start_noun = (uint32_t)known;
        return;
    }
    uint64_t mask = pm_words_lock();
    struct pmr_cause *cause = open_tables() ? cause_of(id) : NULL;
    if (cause != NULL && cause->start_noun == 0 &&
        pm_words_noun(cause->word, PM_RUN_CAUSE_ENTER, &noun)) {
        *entry_of_noun(noun) = (uint32_t)(cause - causes.list);
        cause->start_noun = noun + 1;
    }
    pm_tls.start_noun = cause != NULL ? cause->start_noun : 0;
    if (place != 0 && pm_tls.start_noun != 0)
        pm_store(*start_entry(place), (uint64_t)place << 32 | pm_tls.start_noun);
    pm_words_unlock(mask);
}

/* Places are those of the new run file from now on. What the parent captured is another
 * process's, found by identity and place. */
void pm_causes_fork_child(void)
{
    if (causes.tag == 0)
        return;
    if (causes.n_ancestors < MAX_ANCESTORS)
        causes.ancestors[causes.n_ancestors++] =
            (struct ancestor){causes.identity, causes.tag, causes.n};
    causes.tag = 0;
    memset(causes.starts, 0, sizeof causes.starts);
    pm_cause_identity();
    if (!open_tables())
        return;
    pm_sys(SYS_madvise, causes.quick, QUICK_ENTRIES * sizeof *causes.quick, MADV_DONTNEED);
    pm_sys(SYS_madvise, causes.far, FAR_ENTRIES * sizeof *causes.far, MADV_DONTNEED);
    pm_sys(SYS_madvise, causes.by_key, causes.n_entries * sizeof *causes.by_key, MADV_DONTNEED);
    for (uint32_t i = 1; i <= causes.n; i++) {
        struct pmr_cause *cause = &causes.list[i];
        if (cause->place != 0)
            cause->key = foreign_key(cause->process, cause->place);
        *entry_of_key(cause->key) = i;
    }
}
