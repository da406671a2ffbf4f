/* Sentences as calls say them: a sentence and the address that the call returns to are a word of
 * their own, so that each call has its own context. What was asked for lately is found without the
 * lock. */
#include "runtime/words/words.h"
#include "runtime/base/upward.h"
#include "runtime/tree/thread.h"

enum { N_RECENT = 1 << 12 };

/* Read while others write, who may have put another pair there and this one back meanwhile. So the
 * word itself is looked at, which never changes. */
struct recent {
    uint64_t address;
    uint32_t sentence, generation;
    uint32_t number; /* 0: none, or not yet */
};
static struct recent recent[N_RECENT];
static uint32_t n_calls;

static struct recent *recent_of(uint32_t sentence, uintptr_t address)
{
    uint64_t hash = (address ^ (uint64_t)sentence << 40) * 0x9e3779b97f4a7c15u;
    return &recent[hash >> 52 & (N_RECENT - 1)];
}

/* A sentence stands for its own calls where there is no room for more, and for none that is
 * merged. */
static bool is_word_of(uint32_t number, uint32_t sentence, uintptr_t address, uint32_t generation)
{
    if (number == sentence || number > pm_load(pm_words.n)) /* a fork child may have fewer */
        return number == sentence;
    const struct pm_run_word *word = pm_load(pm_words.by_number[number]);
    return word != NULL && word->kind == PM_WORD_CALL && word->address == address &&
           word->b == generation && word->a == pm_words_resolve(sentence);
}

static uint32_t find_recent(const struct recent *r, uint32_t sentence, uintptr_t address,
                            uint32_t generation)
{
    if (pm_load(r->address) != address || pm_load(r->sentence) != sentence ||
        pm_load(r->generation) != generation)
        return 0;
    uint32_t number = __atomic_load_n(&r->number, __ATOMIC_ACQUIRE);
    bool is_it = number != 0 && is_word_of(number, sentence, address, generation);
    return is_it ? number : 0;
}

/* Under the lock. */
static void keep_recent(struct recent *r, uint32_t sentence, uintptr_t address, uint32_t generation,
                        uint32_t number)
{
    pm_store(r->address, address);
    pm_store(r->sentence, sentence);
    pm_store(r->generation, generation);
    __atomic_store_n(&r->number, number, __ATOMIC_RELEASE);
}

/* 0: there is no room. */
static uint32_t find_or_add(uint32_t sentence, uintptr_t address, uint32_t generation)
{
    PM_SHORT_DRAFT(d);
    pm_draft_begin(&d, PM_WORD_CALL, sentence, generation);
    d.word->address = address;
    pm_draft_end(&d);
    uint32_t number = pm_words_find(&d);
    if (number == 0 && n_calls < PM_WORDS_MAX_CALLS && (number = pm_words_add(&d)) != 0) {
        n_calls++;
        pm_words_speak(number);
        pm_words.spoken[number].epoch = pm_words.epoch;
    }
    return number != 0 && pm_words.spoken[number].ready ? number : 0;
}

__attribute__((noinline)) static uint32_t look_up(struct recent *r, uint32_t sentence,
                                                  uintptr_t address, uint32_t generation)
{
    uint64_t mask = pm_words_lock();
    uint32_t said = pm_words_resolve(sentence), number = 0;
    if (pm_words_is(said, PM_WORD_SENTENCE))
        number = find_or_add(said, address, generation);
    number = number != 0 ? number : sentence;
    keep_recent(r, sentence, address, generation, number);
    pm_words_unlock(mask);
    return number;
}

uint32_t pm_words_called_from(uint32_t sentence, const void *return_address)
{
    uintptr_t address = (uintptr_t)return_address;
    if (sentence == 0 || address == 0 || pm_unlikely(!*pm_process.alive_mark))
        return sentence;
    uint32_t generation = pm_load(pm_process.generation);
    struct recent *r = recent_of(sentence, address);
    uint32_t number = find_recent(r, sentence, address, generation);
    return pm_likely(number != 0) ? number : look_up(r, sentence, address, generation);
}
