/* The program's own words (perfmap.h): levels, nouns, verbs, sentences, mappings that it defines while it runs, and sentences that it enters
 * and leaves.
 *
 * Words are kept once, in WORDS chunks of the run file, numbered in their order; a table finds them there. Definitions take a lock, with
 * all signals blocked, for a handler may define words too. Entering takes none: a sentence's number leads to its noun of the context
 * tree. Those nouns belong to objects of kind WORDS, which are made as they are needed.
 */
#include "internal.h"
#include "scan.h"
#include "sys.h"

#include "../format/pm_words.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum {
    MAX_WORDS = 1 << 20,
    TABLE_ENTRIES = 1 << 21,
    CHUNK_BYTES = 1 << 18,
    NOUNS_PER_OBJECT = 4096,
    LARGEST_WORD =
        (int)sizeof(struct pm_run_word) + 4 * PM_WORDS_MAX_NOUNS + 3 * PM_WORDS_MAX_TEXT + 8,
};

/* A sentence as the context tree has it. */
struct spoken {
    uint32_t noun, counter;
    uint16_t bank;
    bool ready;
};

static struct {
    uint32_t lock;
    uint32_t n; /* words; the last one's number */
    bool said_limit;
    const struct pm_run_word **words; /* by number */
    uint32_t *table;                  /* numbers, by what the words are */
    struct spoken *spoken;            /* by number of a sentence */
    struct pm_run_chunk *chunk;       /* with room from `used` on */
    uint32_t used;
    struct pm_object *object; /* nouns of sentences are appended here */
    uint32_t n_in_object;
} words;

static bool open_tables(void)
{
    if (words.words == NULL)
        words.words = pm_private_memory((size_t)(MAX_WORDS + 1) * sizeof *words.words);
    if (words.table == NULL)
        words.table = pm_private_memory((size_t)TABLE_ENTRIES * sizeof *words.table);
    if (words.spoken == NULL)
        words.spoken = pm_private_memory((size_t)(MAX_WORDS + 1) * sizeof *words.spoken);
    return words.words != NULL && words.table != NULL && words.spoken != NULL;
}

static uint64_t lock(void)
{
    uint64_t all = UINT64_MAX, mask = 0;
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask, sizeof all);
    uint32_t idle = 0;
    while (!__atomic_compare_exchange_n(&words.lock, &idle, 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
        idle = 0;
        pm_sys(SYS_sched_yield);
    }
    return mask;
}

static void unlock(uint64_t mask)
{
    __atomic_store_n(&words.lock, 0, __ATOMIC_RELEASE);
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
}

/* --- a word as bytes --- */

struct draft {
    union {
        struct pm_run_word word;
        uint64_t aligned[LARGEST_WORD / 8 + 1];
    };
    uint32_t bytes;
};

static void draft_begin(struct draft *d, enum pm_word_kind kind, uint32_t a, uint32_t b)
{
    d->word = (struct pm_run_word){.kind = (uint16_t)kind, .a = a, .b = b};
    d->bytes = sizeof d->word;
}

static void draft_noun(struct draft *d, uint32_t noun)
{
    memcpy((char *)d->aligned + d->bytes, &noun, sizeof noun);
    d->bytes += sizeof noun;
    d->word.n_nouns++;
}

static void draft_text(struct draft *d, const char *text)
{
    char *to = (char *)d->aligned + d->bytes;
    uint32_t n = 0;
    for (; text != NULL && text[n] != 0 && n < PM_WORDS_MAX_TEXT - 1; n++)
        to[n] = text[n];
    to[n++] = 0;
    d->bytes += n;
    d->word.n_text_bytes += n;
}

static void draft_end(struct draft *d)
{
    while (d->bytes % 8 != 0)
        ((char *)d->aligned)[d->bytes++] = 0;
    d->word.bytes = d->bytes;
}

static uint32_t place_of(const struct pm_run_word *word)
{
    const unsigned char *p = (const unsigned char *)word;
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t i = 0; i < word->bytes; i++)
        hash = (hash ^ p[i]) * 0x100000001b3u;
    return (uint32_t)(hash >> 20) % TABLE_ENTRIES;
}

/* --- writing down --- */

static const struct pm_run_word *write_down(const struct pm_run_word *word)
{
    if (words.chunk == NULL || word->bytes > CHUNK_BYTES - words.used) {
        uint64_t offset;
        struct pm_run_chunk *chunk = pm_file_chunk(PM_RUN_CHUNK_WORDS, CHUNK_BYTES, 0, &offset);
        if (chunk == NULL)
            return NULL;
        words.chunk = chunk;
        words.used = PM_RUN_WORDS_DATA;
    }
    struct pm_run_word *at = (struct pm_run_word *)((char *)words.chunk + words.used);
    memcpy((char *)at + sizeof at->bytes, (const char *)word + sizeof word->bytes,
           word->bytes - sizeof word->bytes);
    pm_barrier();
    pm_store(at->bytes, word->bytes);
    words.used += word->bytes;
    return at;
}

static void say_limit(void)
{
    if (!words.said_limit)
        pm_file_message(PM_RUN_MSG_LIMIT,
                        "the program defined more than 1048576 words of its own: further nouns "
                        "count as what they are a part of, or not at all",
                        NULL);
    words.said_limit = true;
}

/* The number of that word, which is written down when it is new; 0: no room. */
static uint32_t number_of(const struct draft *d)
{
    if (!open_tables())
        return 0;
    uint32_t at = place_of(&d->word);
    for (; words.table[at] != 0; at = (at + 1) % TABLE_ENTRIES) {
        const struct pm_run_word *known = words.words[words.table[at]];
        if (known->bytes == d->word.bytes && memcmp(known, &d->word, known->bytes) == 0)
            return words.table[at];
    }
    if (words.n == MAX_WORDS) {
        say_limit();
        return 0;
    }
    const struct pm_run_word *word = write_down(&d->word);
    if (word == NULL)
        return 0;
    words.words[words.n + 1] = word;
    words.table[at] = ++words.n;
    return words.n;
}

static bool is_kind(uint32_t number, enum pm_word_kind kind)
{
    return number != 0 && number <= words.n && words.words[number]->kind == kind;
}

/* --- definitions --- */

static bool is_on(void)
{
    if (pm_unlikely(!*pm_process.alive_mark))
        pm_fork_child();
    return pm_process.file.header != NULL;
}

static uint32_t define_level(const char *name, const char *above)
{
    struct draft d;
    if (name == NULL || *name == 0 || !is_on())
        return 0;
    draft_begin(&d, PM_WORD_LEVEL, 0, 0);
    draft_text(&d, name);
    draft_text(&d, above != NULL && *above != 0 ? above : "Source");
    draft_end(&d);
    uint64_t mask = lock();
    uint32_t number = number_of(&d);
    unlock(mask);
    return number;
}

static uint32_t define_noun(uint32_t level, const struct pm_noun_facts *facts)
{
    struct draft d;
    if (facts == NULL || facts->name == NULL || *facts->name == 0 || !is_on())
        return 0;
    draft_begin(&d, PM_WORD_NOUN, level, facts->parent);
    d.word.line_no = facts->line_no;
    d.word.address = facts->address;
    d.word.size_bytes = facts->size_bytes;
    draft_text(&d, facts->name);
    draft_text(&d, facts->kind);
    draft_text(&d, facts->file);
    draft_end(&d);
    uint64_t mask = lock();
    bool good = is_kind(level, PM_WORD_LEVEL) &&
                (facts->parent == 0 || is_kind(facts->parent, PM_WORD_NOUN));
    uint32_t number = good ? number_of(&d) : 0;
    if (good && number == 0)
        number = facts->parent;
    unlock(mask);
    return number;
}

static uint32_t define_verb(uint32_t level, const char *name)
{
    struct draft d;
    if (name == NULL || *name == 0 || !is_on())
        return 0;
    draft_begin(&d, PM_WORD_VERB, level, 0);
    draft_text(&d, name);
    draft_end(&d);
    uint64_t mask = lock();
    uint32_t number = is_kind(level, PM_WORD_LEVEL) ? number_of(&d) : 0;
    unlock(mask);
    return number;
}

/* --- nouns of the context tree --- */

static bool next_object(void)
{
    static const struct stat none;
    struct pm_object *o = pm_private_memory(sizeof *o);
    if (o == NULL)
        return false;
    memcpy(o->path, "[words]", sizeof "[words]");
    o->portable = true;
    if (!pm_object_record(o, &none, NULL, 0, NOUNS_PER_OBJECT)) {
        pm_sys(SYS_munmap, o, sizeof *o);
        return false;
    }
    pm_store(o->chunk->kind, PM_RUN_OBJECT_WORDS);
    pm_modes_begin(o, 0, NULL, 0);
    for (uint32_t i = 0; i < NOUNS_PER_OBJECT;
         i++) { /* asked for by the program: not the budget's */
        uint8_t mode = (uint8_t)pm_process.mode;
        struct pm_noun *noun = pm_noun_at(o->first_noun + i);
        if (noun != NULL)
            *noun = (struct pm_noun){.mode = mode,
                                     .before = mode,
                                     .wanted = mode,
                                     .start = mode,
                                     .flags = PM_NOUN_FIXED,
                                     .target = PM_NO_TARGET};
    }
    o->loaded = true;
    words.object = o;
    words.n_in_object = 0;
    return true;
}

static void make_spoken(uint32_t sentence)
{
    struct spoken *s = &words.spoken[sentence];
    if (s->ready ||
        ((words.object == NULL || words.n_in_object == NOUNS_PER_OBJECT) && !next_object()))
        return;
    const struct pm_object *o = words.object;
    struct pm_run_noun *list = (struct pm_run_noun *)((char *)o->chunk + o->chunk->nouns_offset);
    list[words.n_in_object].id = sentence;
    list[words.n_in_object].kind = PM_RUN_SENTENCE_ENTER;
    pm_barrier();
    s->noun = o->first_noun + words.n_in_object;
    s->counter = words.n_in_object;
    s->bank = o->bank;
    pm_store(o->chunk->chunk.n_items, ++words.n_in_object);
    pm_barrier();
    pm_store(s->ready, true);
}

static uint32_t define_sentence(uint32_t verb, const uint32_t *nouns, uint32_t n_nouns)
{
    struct draft d;
    if (n_nouns == 0 || n_nouns > PM_WORDS_MAX_NOUNS || nouns == NULL || !is_on())
        return 0;
    draft_begin(&d, PM_WORD_SENTENCE, verb, 0);
    for (uint32_t i = 0; i < n_nouns; i++)
        draft_noun(&d, nouns[i]);
    draft_end(&d);
    uint64_t mask = lock();
    bool good = is_kind(verb, PM_WORD_VERB);
    for (uint32_t i = 0; i < n_nouns; i++)
        good = good && is_kind(nouns[i], PM_WORD_NOUN);
    uint32_t number = good ? number_of(&d) : 0;
    if (number != 0)
        make_spoken(number);
    unlock(mask);
    return number;
}

/* The flag of each mapping point stays where it is, for the program keeps its address. Never more than PM_WORDS_MAX_POINTS. */
static struct {
    uint32_t number;
    uint8_t is_on;
} points[PM_WORDS_MAX_POINTS];
static uint32_t n_points;

static uint32_t define_point(const char *name, const uint8_t **ret_is_on)
{
    struct draft d;
    if (name == NULL || *name == 0 || !is_on())
        return 0;
    draft_begin(&d, PM_WORD_POINT, pm_words_point_is_asked(name), 0);
    draft_text(&d, name);
    draft_end(&d);
    uint64_t mask = lock();
    uint32_t number = number_of(&d), i = 0;
    while (i < n_points && points[i].number != number)
        i++;
    if (number != 0 && i == n_points && n_points < PM_WORDS_MAX_POINTS) {
        points[i].number = number;
        points[i].is_on = (uint8_t)d.word.a;
        n_points++;
    }
    if (number != 0 && i < n_points && ret_is_on != NULL)
        *ret_is_on = &points[i].is_on;
    unlock(mask);
    return number;
}

/* The runtime has no registers for floating point. */
static void define_mapping_at(uint32_t point, uint32_t source, uint32_t destination,
                              const double *weight)
{
    struct draft d;
    if (weight == NULL || !is_on())
        return;
    draft_begin(&d, PM_WORD_MAPPING, source, destination);
    d.word.line_no = point;
    memcpy(&d.word.weight, weight, sizeof *weight);
    draft_end(&d);
    uint64_t mask = lock();
    if (is_kind(source, PM_WORD_SENTENCE) && is_kind(destination, PM_WORD_SENTENCE) &&
        is_kind(point, PM_WORD_POINT))
        number_of(&d);
    unlock(mask);
}

static void define_mapping(uint32_t source, uint32_t destination, const double *weight)
{
    const uint8_t *is_asked = NULL;
    uint32_t point = define_point("default", &is_asked);
    if (is_asked != NULL && *is_asked)
        define_mapping_at(point, source, destination, weight);
}

static uint32_t define_metric(const char *name, const char *unit, const char *kind)
{
    struct draft d;
    if (name == NULL || *name == 0 || !is_on())
        return 0;
    draft_begin(&d, PM_WORD_METRIC, 0, 0);
    draft_text(&d, name);
    draft_text(&d, unit);
    draft_text(&d, kind);
    draft_end(&d);
    uint64_t mask = lock();
    uint32_t number = number_of(&d);
    unlock(mask);
    return number;
}

/* A metric's word never changes, so its kind is looked at without the lock. */
static void cost(uint32_t metric, uint64_t value, uintptr_t sp)
{
    struct pm_tls *t = &pm_tls;
    if (metric == 0 || metric > MAX_WORDS || words.words == NULL || !is_on())
        return;
    const struct pm_run_word *word = pm_load(words.words[metric]);
    if (word == NULL || word->kind != PM_WORD_METRIC || value > INT64_MAX)
        return;
    if (pm_unlikely(t->state != PM_THREAD_READY) && !pm_thread_begin(t, pm_tsc()))
        return;
    if (!pm_word_cost(t, metric, value, sp))
        pm_add_shared(pm_process.file.header->n_lost_contexts, 1);
}

/* --- entering and leaving --- */

static void event(uint32_t sentence, uintptr_t sp, uint8_t kind)
{
    uint64_t tsc = pm_mode_is_timed(pm_process.mode) ? pm_tsc() : 0;
    if (sentence == 0 || sentence > MAX_WORDS || words.spoken == NULL || !is_on())
        return;
    const struct spoken *s = &words.spoken[sentence];
    if (!pm_load(s->ready) || (pm_process.mode == PM_RUN_MODE_COUNT &&
                               (s->bank >= PM_MAX_BANKS || kind != PM_RUN_SENTENCE_ENTER)))
        return;
    struct pm_probe probe = {.mode = (uint8_t)pm_process.mode,
                             .noun = s->noun,
                             .kind = kind,
                             .loop_depth = PM_SLED_DEPTH_MASK,
                             .bank = s->bank,
                             .counter = s->counter};
    pm_slow(&probe, sp, tsc);
}

/* What the trampolines of loops do (arch_x86_64.c), in C. False: the slow way. */
static bool enter_quickly(const struct spoken *s, uintptr_t sp, uint64_t tsc)
{
    struct pm_tls *t = &pm_tls;
    struct pm_node *node = pm_load(t->current), *child;
    if (*t->ring_head != t->ring_seen || node->sp < sp ||
        (node->sp == sp && node->loop_depth == PM_SLED_DEPTH_MASK && node->noun == s->noun))
        return false;
    child = pm_load(node->cached_child);
    if (child->noun != s->noun)
        return false;
    pm_add_own(&child->n_calls, 1);
    pm_store(t->current, child);
    if (tsc != 0)
        pm_store(child->start_tsc, tsc);
    pm_store(child->sp, sp);
    return true;
}

static bool leave_quickly(const struct spoken *s, uintptr_t sp, uint64_t tsc)
{
    struct pm_tls *t = &pm_tls;
    struct pm_node *node = pm_load(t->current);
    if (*t->ring_head != t->ring_seen || node->noun != s->noun || node->sp != sp)
        return false;
    uint64_t start_tsc = node->start_tsc;
    pm_store(t->current, node->parent);
    pm_store(node->sp, 0);
    if (tsc != 0)
        pm_add_own(&node->inclusive_tsc, tsc - start_tsc);
    return true;
}

static bool is_quick(uint32_t sentence)
{
    return sentence != 0 && sentence <= MAX_WORDS && words.spoken != NULL &&
           pm_load(words.spoken[sentence].ready) && *pm_process.alive_mark;
}

static void enter(uint32_t sentence, uintptr_t sp)
{
    uint32_t mode = pm_process.mode;
    bool quick = mode == PM_RUN_MODE_ACTIVE || mode == PM_RUN_MODE_EXACT;
    if (!quick || !is_quick(sentence) ||
        !enter_quickly(&words.spoken[sentence], sp, mode == PM_RUN_MODE_EXACT ? pm_tsc() : 0))
        event(sentence, sp, PM_RUN_SENTENCE_ENTER);
}

static void leave(uint32_t sentence, uintptr_t sp)
{
    uint32_t mode = pm_process.mode;
    bool quick = mode == PM_RUN_MODE_ACTIVE || mode == PM_RUN_MODE_EXACT;
    if (!quick || !is_quick(sentence) ||
        !leave_quickly(&words.spoken[sentence], sp, mode == PM_RUN_MODE_EXACT ? pm_tsc() : 0))
        event(sentence, sp, PM_RUN_SENTENCE_LEAVE);
}

/* --- the program's slots --- */

const struct pm_words_api pm_words_api = {
    .version = PM_WORDS_VERSION,
    .bytes = sizeof pm_words_api,
    .level = define_level,
    .noun = define_noun,
    .verb = define_verb,
    .sentence = define_sentence,
    .map = define_mapping,
    .enter = enter,
    .leave = leave,
    .metric = define_metric,
    .cost = cost,
    .enter_here = pm_words_enter_here,
    .leave_here = pm_words_leave_here,
    .cost_here = pm_words_cost_here,
    .capture_here = pm_words_capture_here,
    .adopt_here = pm_words_adopt_here,
    .release_here = pm_words_release_here,
    .activate = pm_words_activate,
    .adopt_in = pm_words_adopt_in,
    .point = define_point,
    .map_at = define_mapping_at,
};

/* Slots of one size follow each other, where a compiler aligned them to 16 bytes with zeros between; what is none ends the work. */
void pm_words_open(const struct pm_object *object, uintptr_t section, size_t bytes)
{
    uintptr_t end = section + bytes;
    while (end - section >= sizeof(struct pm_words_slot)) {
        struct pm_words_slot *slot = (struct pm_words_slot *)section;
        if (*(const uint64_t *)section == 0) {
            section += sizeof(uint64_t);
            continue;
        }
        section += sizeof *slot;
        if (memcmp(slot->magic, PM_WORDS_MAGIC, sizeof slot->magic) != 0 || slot->version == 0 ||
            slot->version > PM_WORDS_VERSION || slot->bytes != sizeof *slot) {
            pm_file_message(PM_RUN_MSG_BAD_SLEDS,
                            "words of another version (perfmap.h): ", object->path);
            return;
        }
        if (pm_process.mode != PM_RUN_MODE_OFF)
            pm_store(slot->api, &pm_words_api);
    }
}

/* For programs without a section of slots, by dlsym: perfmap.f90. What the first object with slots would begin begins now. */
__attribute__((visibility("default"))) const struct pm_words_api *pm_words_of_process(
    uint32_t version)
{
    if (version == 0 || version > PM_WORDS_VERSION || !pm_process.on ||
        pm_process.mode == PM_RUN_MODE_OFF)
        return NULL;
    if (pm_unlikely(!*pm_process.alive_mark))
        pm_fork_child();
    uint64_t mask = lock();
    bool had_file = pm_process.file.header != NULL, has_file = pm_file_create();
    if (has_file && !had_file) {
        pm_control_begin();
        pm_sample_process_begin();
    }
    unlock(mask);
    return has_file ? &pm_words_api : NULL;
}

/* The words again, in the new run file. */
void pm_words_fork_child(void)
{
    words.lock = 0;
    words.chunk = NULL;
    for (uint32_t i = 1; i <= words.n; i++) {
        const struct pm_run_word *word = write_down(words.words[i]);
        if (word == NULL) {
            words.n = i - 1;
            break;
        }
        words.words[i] = word;
    }
}
