/* The program's own words (perfmap.h): levels, nouns, verbs, sentences, mappings that it defines
 * while it runs, and sentences that it enters and leaves.
 *
 * Words are kept once, in WORDS chunks of the run file, numbered in their order; a table finds
 * them there. Definitions take a lock, with all signals blocked, for a handler may define words
 * too. Entering takes none: a sentence's number leads to its noun of the context tree. Those
 * nouns belong to objects of kind WORDS, which are made as they are needed.
 */
#include "runtime/words/words.h"
#include "runtime/base/file.h"
#include "runtime/base/sys.h"
#include "runtime/base/upward.h"
#include "runtime/tree/ambient.h"
#include "runtime/tree/fold.h"
#include "runtime/tree/tree.h"
#include "runtime/code/calibration.h"
#include "runtime/code/modes.h"
#include "runtime/budget/control.h"
#include "runtime/sample/sample.h"
#include "runtime/words/causes.h"
#include "runtime/words/here.h"
#include "runtime/words/meetings.h"
#include "runtime/words/quick.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { CHUNK_BYTES = 1 << 18, NOUNS_OF_FIRST = 1 << 12, NOUNS_PER_OBJECT = 1 << 16 };

struct pm_words pm_words;
#define words pm_words /* short in this file */

enum { MAX_NOUNS_LIMITED = 1 << 9 }; /* where memory has a limit: 200 MB of addresses become 7 */

/* Room for words is 16 times that for nouns: each has sentences, and numbers are not given out
 * again (merge.c). */
static bool open_tables(void)
{
    if (words.table != NULL)
        return true;
    if (pm_memory_is_limited() && pm_process.max_nouns > MAX_NOUNS_LIMITED)
        pm_process.max_nouns = MAX_NOUNS_LIMITED;
    uint32_t max = pm_process.max_nouns < PM_WORDS_MAX / 32 ? 16 * pm_process.max_nouns + (1 << 17)
                                                            : PM_WORDS_MAX;
    uint32_t n_entries = 1 << 18;
    while (n_entries < 2 * max)
        n_entries *= 2;
    words.by_number = pm_private_memory((size_t)(max + 1) * sizeof *words.by_number);
    words.spoken = pm_private_memory((size_t)(max + 1) * sizeof *words.spoken);
    words.nouns = pm_private_memory((size_t)pm_process.max_nouns * sizeof *words.nouns);
    words.sentences = pm_private_memory((size_t)max * sizeof *words.sentences);
    uint32_t *table = pm_private_memory((size_t)n_entries * sizeof *table);
    if (words.by_number == NULL || words.spoken == NULL || words.nouns == NULL ||
        words.sentences == NULL || table == NULL)
        return false;
    words.table_mask = n_entries - 1;
    pm_store(words.max, max);
    __atomic_store_n(&words.table, table, __ATOMIC_RELEASE);
    return true;
}

uint64_t pm_words_lock(void)
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

void pm_words_unlock(uint64_t mask)
{
    __atomic_store_n(&words.lock, 0, __ATOMIC_RELEASE);
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
}

/* --- a word as bytes --- */

void pm_draft_begin(struct pm_draft *d, enum pm_word_kind kind, uint32_t a, uint32_t b)
{
    *d->word = (struct pm_run_word){.kind = (uint16_t)kind, .a = a, .b = b};
    d->bytes = sizeof *d->word;
}

static char *draft_room(struct pm_draft *d, uint32_t bytes)
{
    d->is_cut |= bytes > d->room - d->bytes;
    return d->is_cut ? NULL : (char *)d->word + d->bytes;
}

void pm_draft_noun(struct pm_draft *d, uint32_t noun)
{
    char *to = draft_room(d, sizeof noun);
    if (to == NULL)
        return;
    memcpy(to, &noun, sizeof noun);
    d->bytes += sizeof noun;
    d->word->n_nouns++;
}

void pm_draft_text(struct pm_draft *d, const char *text)
{
    uint32_t n = 0;
    while (text != NULL && text[n] != 0 && n < PM_WORDS_MAX_TEXT - 1)
        n++;
    char *to = draft_room(d, n + 1);
    if (to == NULL)
        return;
    if (n != 0)
        memcpy(to, text, n);
    to[n++] = 0;
    d->bytes += n;
    d->word->n_text_bytes += n;
}

void pm_draft_end(struct pm_draft *d)
{
    uint32_t padding = -d->bytes % 8;
    char *to = draft_room(d, padding);
    if (to == NULL)
        return;
    memset(to, 0, padding);
    d->bytes += padding;
    d->word->bytes = d->bytes;
}

static uint32_t place_of(const struct pm_run_word *word)
{
    const uint64_t *p = (const uint64_t *)word;
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t i = 0; i < word->bytes / 8; i++) {
        hash = (hash ^ p[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return (uint32_t)(hash >> 20) & words.table_mask;
}

/* --- writing down --- */

static const struct pm_run_word *write_down(const struct pm_run_word *word)
{
    if (words.chunk == NULL || word->bytes > CHUNK_BYTES - words.used) {
        uint64_t offset;
        struct pm_run_chunk *chunk = pm_file_chunk(PM_RUN_CHUNK_WORDS, CHUNK_BYTES, 0, &offset);
        if (chunk == NULL)
            return NULL;
        if (words.chunk != NULL) /* seldom looked at again: not the program's memory */
            pm_sys(SYS_madvise, words.chunk, CHUNK_BYTES, MADV_DONTNEED);
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

/* A noun that is merged keeps what it was, but for kind and weight. */
static bool is_word(const struct pm_run_word *known, const struct pm_run_word *word)
{
    return known->bytes == word->bytes &&
           (known->kind == word->kind || known->kind == (word->kind | PM_WORD_MERGED)) &&
           memcmp(&known->n_nouns, &word->n_nouns,
                  offsetof(struct pm_run_word, weight) - offsetof(struct pm_run_word, n_nouns)) ==
               0 &&
           (known->kind != word->kind || memcmp(&known->weight, &word->weight, 8) == 0) &&
           memcmp(known + 1, word + 1, word->bytes - sizeof *word) == 0;
}

/* Where its number is, or would be. Also without the lock: entries are made complete before they
 * are there, and stay. */
static uint32_t *entry_of(const struct pm_run_word *word)
{
    for (uint32_t at = place_of(word);; at = (at + 1) & words.table_mask) {
        uint32_t number = __atomic_load_n(&words.table[at], __ATOMIC_ACQUIRE);
        if (number == 0 || is_word(words.by_number[number], word))
            return &words.table[at];
    }
}

uint32_t pm_words_find(const struct pm_draft *d)
{
    return open_tables() ? *entry_of(d->word) : 0;
}

/* Most words that are defined are there already, and found without the lock; 0: perhaps not. A
 * word that is being merged may be missed. */
static uint32_t known(const struct pm_draft *d)
{
    if (d->is_cut || __atomic_load_n(&words.table, __ATOMIC_ACQUIRE) == NULL)
        return 0;
    return *entry_of(d->word);
}

uint32_t pm_words_add(const struct pm_draft *d)
{
    if (!open_tables() || words.n == words.max)
        return 0;
    const struct pm_run_word *word = write_down(d->word);
    if (word == NULL)
        return 0;
    words.by_number[words.n + 1] = word;
    words.n++;
    __atomic_store_n(entry_of(d->word), words.n, __ATOMIC_RELEASE);
    pm_words_pin(word);
    return words.n;
}

static uint32_t number_of(const struct pm_draft *d)
{
    uint32_t number = pm_words_find(d);
    return number != 0 ? number : pm_words_add(d);
}

bool pm_words_is(uint32_t number, enum pm_word_kind kind)
{
    return number != 0 && number <= words.n &&
           (words.by_number[number]->kind & ~PM_WORD_MERGED) == (int)kind;
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
    PM_DRAFT(d);
    if (name == NULL || *name == 0 || !is_on())
        return 0;
    uint64_t mask = pm_words_lock();
    pm_draft_begin(&d, PM_WORD_LEVEL, 0, 0);
    pm_draft_text(&d, name);
    pm_draft_text(&d, above != NULL && *above != 0 ? above : "Source");
    pm_draft_end(&d);
    uint32_t number = number_of(&d);
    pm_words_unlock(mask);
    return number;
}

static void draft_noun(struct pm_draft *d, uint32_t level, const struct pmr_noun_facts *facts)
{
    pm_draft_begin(d, PM_WORD_NOUN, level, pm_words_resolve(facts->parent));
    d->word->line_no = facts->line_no;
    d->word->address = facts->address;
    d->word->size_bytes = facts->size_bytes;
    pm_draft_text(d, facts->name);
    pm_draft_text(d, facts->kind);
    pm_draft_text(d, facts->file);
    pm_draft_end(d);
}

static uint32_t define_noun(uint32_t level, const struct pmr_noun_facts *facts)
{
    PM_DRAFT(d);
    PM_SHORT_DRAFT(s);
    if (facts == NULL || facts->name == NULL || *facts->name == 0 || !is_on())
        return 0;
    draft_noun(&s, level, facts);
    uint32_t number = known(&s);
    if (number != 0)
        return number;
    uint64_t mask = pm_words_lock();
    draft_noun(&d, level, facts);
    bool good = pm_words_is(level, PM_WORD_LEVEL) &&
                (facts->parent == 0 || pm_words_is(facts->parent, PM_WORD_NOUN));
    number = good ? pm_words_find(&d) : 0;
    if (good && number == 0)
        number = pm_words_new_noun(&d);
    pm_words_unlock(mask);
    return number;
}

static uint32_t define_verb(uint32_t level, const char *name)
{
    PM_DRAFT(d);
    if (name == NULL || *name == 0 || !is_on())
        return 0;
    uint64_t mask = pm_words_lock();
    pm_draft_begin(&d, PM_WORD_VERB, level, 0);
    pm_draft_text(&d, name);
    pm_draft_end(&d);
    uint32_t number = pm_words_is(level, PM_WORD_LEVEL) ? number_of(&d) : 0;
    pm_words_unlock(mask);
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
    uint32_t n_nouns = words.n_in_objects; /* few objects, for counters are by object */
    n_nouns = n_nouns < NOUNS_OF_FIRST     ? NOUNS_OF_FIRST
              : n_nouns > NOUNS_PER_OBJECT ? NOUNS_PER_OBJECT
                                           : n_nouns;
    if (!pm_object_record(o, &none, NULL, 0, n_nouns)) {
        pm_sys(SYS_munmap, o, sizeof *o);
        return false;
    }
    pm_store(o->chunk->kind, PM_RUN_OBJECT_WORDS);
    pm_modes_begin(o, 0, NULL, 0);
    for (uint32_t i = 0; i < n_nouns; i++) { /* asked for by the program: not the budget's */
        uint8_t mode = (uint8_t)pm_process.mode;
        struct pmr_noun *noun = pm_noun_at(o->first_noun + i);
        if (noun != NULL)
            *noun = (struct pmr_noun){.mode = mode,
                                      .before = mode,
                                      .wanted = mode,
                                      .start = mode,
                                      .flags = PM_NOUN_FIXED | PM_NOUN_WORD | PM_NOUN_SPARE};
    }
    o->loaded = true;
    words.object = o;
    words.n_in_objects += n_nouns;
    words.n_in_object = 0;
    return true;
}

static bool is_countable(uint32_t number)
{
    const struct pm_run_word *word = words.by_number[number];
    if (word->kind == PM_WORD_CALL)
        word = words.by_number[word->a];
    uint32_t level = word->kind == PM_WORD_SENTENCE ? words.by_number[word->a]->a : 0;
    for (unsigned i = 0; i < sizeof words.countable / sizeof *words.countable; i++)
        if (level != 0 && words.countable[i] == level)
            return true;
    return false;
}

/* In the mode that its room has come to. Returns the own_mode. */
static uint8_t begin_noun(uint32_t number, bool may_be_lowered)
{
    struct pmr_noun *noun = pm_noun_at(number);
    if (noun == NULL)
        return 0;
    unsigned flags = noun->flags & ~(unsigned)PM_NOUN_SPARE;
    if (may_be_lowered)
        flags = (flags & ~(unsigned)PM_NOUN_FIXED) | PM_NOUN_ADAPTER;
    pm_store(noun->flags, (uint8_t)flags);
    noun->start = pm_load(noun->mode);
    return noun->start != pm_process.mode ? (uint8_t)(1 + noun->start) : 0;
}

bool pm_words_noun(uint32_t number, uint16_t kind, uint32_t *ret_noun)
{
    if ((words.object == NULL || words.n_in_object == words.object->n_nouns) && !next_object())
        return false;
    const struct pm_object *o = words.object;
    struct pm_run_noun *list = (struct pm_run_noun *)((char *)o->chunk + o->chunk->nouns_offset);
    list[words.n_in_object].id = number;
    list[words.n_in_object].kind = kind;
    *ret_noun = o->first_noun + words.n_in_object;
    pm_barrier();
    pm_store(o->chunk->chunk.n_items, ++words.n_in_object);
    pm_barrier(); /* no change of it is written down before it is */
    list[words.n_in_object - 1].own_mode = begin_noun(*ret_noun, is_countable(number));
    return true;
}

void pm_words_speak(uint32_t sentence)
{
    struct pm_spoken *s = &words.spoken[sentence];
    bool is_set = words.by_number[sentence]->kind == PM_WORD_SET;
    if (s->ready ||
        !pm_words_noun(sentence, is_set ? PM_RUN_AMBIENT_SET : PM_RUN_SENTENCE_ENTER, &s->noun))
        return;
    s->counter = words.n_in_object - 1;
    s->bank = words.object->bank;
    s->is_set = is_set;
    pm_barrier();
    pm_store(s->ready, true);
}

/* --- what causes.c needs --- */

uint32_t pm_words_cause(uint64_t process, uint32_t place, bool is_alone, const char *text)
{
    PM_DRAFT(d);
    pm_draft_begin(&d, PM_WORD_CAUSE, place, is_alone);
    d.word->address = process;
    pm_draft_text(&d, text);
    pm_draft_end(&d);
    return number_of(&d);
}

const struct pm_run_word *pm_words_at(uint32_t number)
{
    return number != 0 && number <= words.n ? words.by_number[number] : NULL;
}

uint32_t pm_words_number(uint32_t noun)
{
    uint32_t n = pm_load(pm_n_objects) < PM_MAX_OBJECTS ? pm_load(pm_n_objects) : PM_MAX_OBJECTS;
    for (uint32_t i = 0; i < n; i++) {
        const struct pm_object *o = pm_load(pm_objects[i]);
        if (o == NULL || o->chunk == NULL || noun - o->first_noun >= o->n_nouns)
            continue;
        const struct pm_run_noun *list =
            (const struct pm_run_noun *)((const char *)o->chunk + o->chunk->nouns_offset);
        return o->chunk->kind == PM_RUN_OBJECT_WORDS ? (uint32_t)list[noun - o->first_noun].id : 0;
    }
    return 0;
}

uint32_t pm_words_set(const uint32_t *sentences, uint32_t n)
{
    PM_DRAFT(d);
    if (n == 0 || n > PM_WORDS_MAX_SET)
        return 0;
    pm_draft_begin(&d, PM_WORD_SET, 0, 0);
    for (uint32_t i = 0; i < n; i++)
        pm_draft_noun(&d, sentences[i]);
    pm_draft_end(&d);
    uint32_t number = number_of(&d);
    if (number == 0)
        return 0;
    pm_words_speak(number);
    return words.spoken[number].ready ? number : 0;
}

uint32_t pm_words_members(uint32_t set, const uint32_t **ret_sentences)
{
    if (set == 0 || set > words.max)
        return 0;
    const struct pm_run_word *word = pm_load(words.by_number[set]);
    if (word == NULL || word->kind != PM_WORD_SET)
        return 0;
    *ret_sentences = (const uint32_t *)(word + 1);
    return word->n_nouns;
}

static void draft_sentence(struct pm_draft *d, uint32_t verb, const uint32_t *nouns,
                           uint32_t n_nouns)
{
    pm_draft_begin(d, PM_WORD_SENTENCE, verb, 0);
    pm_words_draft_nouns(d, nouns, n_nouns);
    pm_draft_end(d);
}

static uint32_t define_sentence(uint32_t verb, const uint32_t *nouns, uint32_t n_nouns)
{
    PM_DRAFT(d);
    PM_SHORT_DRAFT(s);
    if (n_nouns == 0 || n_nouns > PM_WORDS_MAX_NOUNS || nouns == NULL || !is_on())
        return 0;
    draft_sentence(&s, verb, nouns, n_nouns);
    uint32_t number = known(&s);
    if (number != 0 && pm_load(words.spoken[number].ready)) /* else another thread is at it */
        return number;
    uint64_t mask = pm_words_lock();
    draft_sentence(&d, verb, nouns, n_nouns);
    bool good = pm_words_is(verb, PM_WORD_VERB);
    for (uint32_t i = 0; i < n_nouns; i++)
        good = good && pm_words_is(nouns[i], PM_WORD_NOUN);
    number = good ? pm_words_find(&d) : 0;
    if (good && number == 0 && (number = pm_words_add(&d)) != 0)
        pm_words_new_sentence(number);
    pm_words_unlock(mask);
    return number;
}

/* The flag of each mapping point stays where it is, for the program keeps its address. Never
 * more than PM_WORDS_MAX_POINTS. */
static struct {
    uint32_t number;
    uint8_t is_on;
} points[PM_WORDS_MAX_POINTS];
static uint32_t n_points;

static uint32_t define_point(const char *name, const volatile uint8_t **ret_is_on)
{
    PM_DRAFT(d);
    if (name == NULL || *name == 0 || !is_on())
        return 0;
    uint64_t mask = pm_words_lock();
    pm_draft_begin(&d, PM_WORD_POINT, pm_words_point_is_asked(name), 0);
    pm_draft_text(&d, name);
    pm_draft_end(&d);
    uint32_t number = number_of(&d), i = 0;
    while (i < n_points && points[i].number != number)
        i++;
    if (number != 0 && i == n_points && n_points < PM_WORDS_MAX_POINTS) {
        points[i].number = number;
        points[i].is_on = (uint8_t)d.word->a;
        n_points++;
    }
    if (number != 0 && i < n_points && ret_is_on != NULL)
        *ret_is_on = &points[i].is_on;
    pm_words_unlock(mask);
    return number;
}

/* The runtime has no registers for floating point. */
static void draft_mapping(struct pm_draft *d, uint32_t point, uint32_t source, uint32_t destination,
                          const double *weight)
{
    pm_draft_begin(d, PM_WORD_MAPPING, source, destination);
    d->word->line_no = point;
    memcpy(&d->word->weight, weight, sizeof *weight);
    pm_draft_end(d);
}

static void define_mapping_at(uint32_t point, uint32_t source, uint32_t destination,
                              const double *weight)
{
    PM_DRAFT(d);
    PM_SHORT_DRAFT(s);
    if (weight == NULL || !is_on())
        return;
    source = pm_words_resolve(source);
    destination = pm_words_resolve(destination);
    draft_mapping(&s, point, source, destination, weight);
    if (known(&s) != 0)
        return;
    uint64_t mask = pm_words_lock();
    draft_mapping(&d, point, source, destination, weight);
    if (pm_words_is(source, PM_WORD_SENTENCE) && pm_words_is(destination, PM_WORD_SENTENCE) &&
        pm_words_is(point, PM_WORD_POINT))
        number_of(&d);
    pm_words_unlock(mask);
}

/* The point of all that name none is looked up once. */
static void define_mapping(uint32_t source, uint32_t destination, const double *weight)
{
    static const volatile uint8_t *is_asked;
    static uint32_t point;
    if (pm_load(point) == 0) {
        const volatile uint8_t *found = NULL;
        uint32_t number = define_point("default", &found);
        pm_store(is_asked, found);
        pm_barrier();
        pm_store(point, found != NULL ? number : 0);
    }
    if (pm_load(point) != 0 && *pm_load(is_asked))
        define_mapping_at(pm_load(point), source, destination, weight);
}

static uint32_t define_metric(const char *name, const char *unit, const char *kind)
{
    PM_DRAFT(d);
    if (name == NULL || *name == 0 || !is_on())
        return 0;
    uint64_t mask = pm_words_lock();
    pm_draft_begin(&d, PM_WORD_METRIC, 0, 0);
    pm_draft_text(&d, name);
    pm_draft_text(&d, unit);
    pm_draft_text(&d, kind);
    pm_draft_end(&d);
    uint32_t number = number_of(&d);
    pm_words_unlock(mask);
    return number;
}

/* What was not left ends with its frame, which a cost in the caller's frame shows as well as
 * entering there would: the next function that is called may stand where the gone one stood. */
static void see_gone_frames(struct pm_tls *t, uintptr_t sp)
{
    if (pm_likely(pm_load(t->current)->sp >= sp) || pm_process.mode == PM_RUN_MODE_COUNT)
        return;
    struct pm_probe probe = {.mode = (uint8_t)pm_process.mode,
                             .noun = PM_RUN_NOUN_ROOT, /* which nothing leaves */
                             .kind = PM_RUN_SENTENCE_LEAVE,
                             .loop_depth = PM_SLED_DEPTH_MASK};
    pm_slow(&probe, sp, pm_mode_is_timed(pm_process.mode) ? pm_tsc() : 0);
}

/* A metric's word never changes, so its kind is looked at without the lock. */
__attribute__((noinline)) static void cost_any(uint32_t metric, uint64_t value, uintptr_t sp)
{
    struct pm_tls *t = &pm_tls;
    if (metric == 0 || metric > words.max || words.by_number == NULL || !is_on())
        return;
    const struct pm_run_word *word = pm_load(words.by_number[metric]);
    if (word == NULL || word->kind != PM_WORD_METRIC || value > INT64_MAX)
        return;
    if (pm_unlikely(t->state != PM_THREAD_READY) && !pm_thread_begin(t, pm_tsc()))
        return;
    pm_ambient_look(t);
    see_gone_frames(t, sp);
    if (!pm_word_cost(t, metric, value, sp))
        pm_add_shared(pm_process.file.header->n_lost_contexts, 1);
}

static void cost(uint32_t metric, uint64_t value, uintptr_t sp)
{
    struct pm_tls *t = &pm_tls;
    bool is_ready = pm_likely(t->state == PM_THREAD_READY && *pm_process.alive_mark &&
                              value <= INT64_MAX && !pm_ambient_is_behind(t));
    if (!is_ready || !pm_word_cost_at_once(t, metric, value, sp))
        cost_any(metric, value, sp);
}

/* --- entering and leaving --- */

/* NULL: it is none. */
static struct pm_spoken *spoken_of(uint32_t sentence)
{
    if (sentence == 0 || sentence > words.max || words.spoken == NULL)
        return NULL;
    struct pm_spoken *s = &words.spoken[sentence];
    return pm_load(s->ready) && !s->is_set ? s : NULL;
}

bool pm_words_probe(uint32_t number, struct pm_probe *ret_probe)
{
    if (number == 0 || number > words.max || words.spoken == NULL)
        return false;
    const struct pm_spoken *s = &words.spoken[number];
    if (!pm_load(s->ready))
        return false;
    *ret_probe = (struct pm_probe){.mode = (uint8_t)pm_process.mode,
                                   .noun = s->noun,
                                   .kind = s->is_set ? PM_RUN_AMBIENT_SET : PM_RUN_SENTENCE_ENTER,
                                   .loop_depth = s->is_set ? 1 : PM_SLED_DEPTH_MASK,
                                   .bank = s->bank,
                                   .counter = s->is_set ? number : s->counter};
    return true;
}

static void event(const struct pm_spoken *s, uintptr_t sp, uint8_t kind)
{
    uint64_t tsc = pm_mode_is_timed(pm_process.mode) ? pm_tsc() : 0;
    if (!is_on() || (pm_process.mode == PM_RUN_MODE_COUNT &&
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

static bool is_quick(uint32_t mode)
{
    return (mode == PM_RUN_MODE_ACTIVE || mode == PM_RUN_MODE_EXACT) && *pm_process.alive_mark;
}

/* In mode active, of a sentence that was not merged, and used lately: what costs least. */
static bool is_at_once(const struct pm_spoken *s)
{
    return pm_likely(s != NULL && pm_process.mode == PM_RUN_MODE_ACTIVE && *pm_process.alive_mark &&
                     pm_load(s->merged) == 0 && s->epoch == words.epoch);
}

__attribute__((noinline)) static void enter_any(uint32_t sentence, uintptr_t sp)
{
    uint32_t mode = pm_process.mode;
    struct pm_spoken *s = spoken_of(sentence);
    if (pm_unlikely(s == NULL))
        return;
    if (pm_unlikely(pm_load(s->merged) != 0))
        s = &words.spoken[s->merged];
    if (pm_unlikely(s->epoch != words.epoch))
        pm_store(s->epoch, words.epoch);
    if (!is_quick(mode) || !pm_enter_quickly(s->noun, sp, mode == PM_RUN_MODE_EXACT ? pm_tsc() : 0))
        event(s, sp, PM_RUN_SENTENCE_ENTER);
}

__attribute__((noinline)) static void enter_another(const struct pm_spoken *s, uintptr_t sp)
{
    if (!pm_enter_quickly(s->noun, sp, 0))
        event(s, sp, PM_RUN_SENTENCE_ENTER);
}

static void enter(uint32_t sentence, uintptr_t sp)
{
    const struct pm_spoken *s = spoken_of(sentence);
    if (!is_at_once(s))
        enter_any(sentence, sp);
    else if (!pm_enter_at_once(s->noun, sp))
        enter_another(s, sp);
}

/* Of a sentence that was merged: it may have been entered before or after that. The innermost of
 * both is left. */
static const struct pm_spoken *entered_of(const struct pm_spoken *own,
                                          const struct pm_spoken *merged)
{
    const struct pm_tls *t = &pm_tls;
    if (t->state != PM_THREAD_READY)
        return merged;
    const struct pm_node *node = pm_own_current(t);
    if (t->current == &pm_sentinel && t->where == PM_WHERE_FOREIGN)
        node = t->foreign_current;
    for (; node != NULL; node = node->parent)
        if (node->noun == own->noun || node->noun == merged->noun)
            return node->noun == own->noun ? own : merged;
    return merged;
}

__attribute__((noinline)) static void leave_any(uint32_t sentence, uintptr_t sp)
{
    uint32_t mode = pm_process.mode;
    const struct pm_spoken *s = spoken_of(sentence);
    if (pm_unlikely(s == NULL))
        return;
    if (pm_unlikely(pm_load(s->merged) != 0))
        s = entered_of(s, &words.spoken[s->merged]);
    if (!is_quick(mode) || !pm_leave_quickly(s->noun, sp, mode == PM_RUN_MODE_EXACT ? pm_tsc() : 0))
        event(s, sp, PM_RUN_SENTENCE_LEAVE);
}

static void leave(uint32_t sentence, uintptr_t sp)
{
    const struct pm_spoken *s = spoken_of(sentence);
    if (!is_at_once(s) || !pm_leave_quickly(s->noun, sp, 0))
        leave_any(sentence, sp);
}

/* --- counting --- */

static const volatile uint8_t *may_be_counted(uint32_t level)
{
    uint64_t mask = pm_words_lock();
    for (unsigned i = 0; i < sizeof words.countable / sizeof *words.countable; i++)
        if (pm_words_is(level, PM_WORD_LEVEL) &&
            (words.countable[i] == 0 || words.countable[i] == level)) {
            words.countable[i] = level;
            break;
        }
    if (pm_process.mode == PM_RUN_MODE_COUNT)
        pm_store(pm_nouns.adapters_differ, 1);
    pm_words_unlock(mask);
    return &pm_nouns.adapters_differ;
}

static uint32_t counted(uint32_t sentence, uint32_t n)
{
    struct pm_spoken *s = spoken_of(sentence);
    if (s == NULL)
        return 0;
    if (pm_unlikely(pm_load(s->merged) != 0))
        s = &words.spoken[s->merged];
    const struct pmr_noun *noun = pm_noun_at(s->noun);
    if (noun == NULL || pm_load(noun->mode) != PM_RUN_MODE_COUNT || s->bank >= PM_MAX_BANKS ||
        !is_on())
        return 0;
    if (pm_unlikely(s->epoch != words.epoch))
        pm_store(s->epoch, words.epoch);
    const struct pm_probe probe = {.mode = PM_RUN_MODE_COUNT,
                                   .noun = s->noun,
                                   .kind = PM_RUN_SENTENCE_ENTER,
                                   .bank = s->bank,
                                   .counter = s->counter};
    struct pm_tls *t = &pm_tls;
    if (pm_likely(t->state == PM_THREAD_READY && t->bank[s->bank] != NULL))
        pm_add_own(&t->bank[s->bank][s->counter], n);
    else
        for (uint32_t i = 0; i < n; i++)
            pm_slow(&probe, 0, 0);
    return 1;
}

/* --- beginning and ending (ambient.c) --- */

/* One that is begun is a member of a set and not merged any more. */
static void begin(uint32_t sentence, uint32_t whole_process)
{
    struct pm_spoken *s = spoken_of(sentence);
    if (s == NULL)
        return;
    if (pm_unlikely(pm_load(s->merged) != 0))
        s = &words.spoken[sentence = s->merged];
    if (pm_unlikely(s->epoch != words.epoch))
        pm_store(s->epoch, words.epoch);
    struct pm_probe probe;
    if (pm_process.mode == PM_RUN_MODE_COUNT)
        event(s, 0, PM_RUN_SENTENCE_ENTER); /* without contexts there are no sets */
    else if (is_on() && pm_words_probe(sentence, &probe))
        pm_ambient_begin(sentence, &probe, whole_process != 0);
}

static void end(uint32_t sentence, uint32_t whole_process)
{
    const struct pm_spoken *s = spoken_of(sentence);
    if (s == NULL || pm_process.mode == PM_RUN_MODE_COUNT || !is_on())
        return;
    /* It may have been merged before it was begun, or between the look of `begin` and its set. */
    uint32_t merged = pm_load(s->merged);
    if (!pm_ambient_end(sentence, whole_process != 0) &&
        (merged == 0 || !pm_ambient_end(merged, whole_process != 0)))
        pm_ambient_say_not_begun();
}

/* --- the program's slots --- */

const struct pmr_words_api pm_words_api = {
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
    .begin = begin,
    .end = end,
    .capture = pm_cause_capture,
    .adopt = pm_cause_adopt,
    .release = pm_cause_release,
    .export_cause = pm_cause_export,
    .import_cause = pm_cause_import,
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
    .meet = pm_meet,
    .called_from = pm_words_called_from,
    .may_be_counted = may_be_counted,
    .counted = counted,
};

/* Slots of one size follow each other, where a compiler aligned them to 16 bytes with zeros
 * between; what is none ends the work. */
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

/* For programs without a section of slots, by dlsym: perfmap.f90. What the first object with
 * slots would begin begins now. */
__attribute__((visibility("default"))) const struct pmr_words_api *pm_words_of_process(
    uint32_t version)
{
    if (version == 0 || version > PM_WORDS_VERSION || !pm_process.on ||
        pm_process.mode == PM_RUN_MODE_OFF)
        return NULL;
    if (pm_unlikely(!*pm_process.alive_mark))
        pm_fork_child();
    uint64_t mask = pm_words_lock();
    bool had_file = pm_process.file.header != NULL, has_file = pm_file_create();
    if (has_file)
        pm_calibrate();
    if (has_file && !had_file) {
        pm_control_begin();
        pm_sample_process_begin();
    }
    pm_words_unlock(mask);
    return has_file ? &pm_words_api : NULL;
}

/* The words again, in the new run file. */
void pm_words_fork_child(void)
{
    words.lock = 0;
    words.chunk = NULL;
    pm_meetings_fork_child();
    pm_words_calls_fork_child();
    for (uint32_t i = 1; i <= words.n; i++) {
        const struct pm_run_word *word = write_down(words.by_number[i]);
        if (word == NULL) {
            words.n = i - 1;
            break;
        }
        words.by_number[i] = word;
    }
}
