/* Sentences as calls say them: a sentence and the address that the call returns to are a word of
 * their own, so that each call has its own context. What was asked for lately is found without the
 * lock. */
#include "runtime/words/words.h"
#include "runtime/base/upward.h"
#include "runtime/tree/thread.h"

enum { N_RECENT = 1 << 12 };

/* Numbers of words, read while others write: what such a word is tells whether it is the one that
 * is looked for, for words do not change. 0: none. */
static uint32_t recent[N_RECENT];
static uint32_t n_calls;

static uint32_t *recent_of(uint32_t sentence, uintptr_t address)
{
    uint64_t hash = (address ^ (uint64_t)sentence << 40) * 0x9e3779b97f4a7c15u;
    return &recent[hash >> 52 & (N_RECENT - 1)];
}

/* Where there is no room for more, a sentence stands for its calls. */
static bool is_word_of(uint32_t number, uint32_t sentence, uintptr_t address, uint32_t generation)
{
    if (number == 0 || number > pm_words.max)
        return false;
    if (number == sentence)
        return __atomic_load_n(&n_calls, __ATOMIC_RELAXED) == PM_WORDS_MAX_CALLS;
    const struct pm_run_word *word = pm_words.by_number[number];
    return word->kind == PM_WORD_CALL && word->address == address && word->b == generation &&
           word->a == pm_words_resolve(sentence);
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
        __atomic_store_n(&n_calls, n_calls + 1, __ATOMIC_RELAXED);
        pm_words_speak(number);
        pm_words.spoken[number].epoch = pm_words.epoch;
    }
    return number != 0 && pm_words.spoken[number].ready ? number : 0;
}

__attribute__((noinline)) static uint32_t look_up(uint32_t *place, uint32_t sentence,
                                                  uintptr_t address, uint32_t generation)
{
    uint64_t mask = pm_words_lock();
    uint32_t said = pm_words_resolve(sentence), number = 0;
    if (pm_words_is(said, PM_WORD_SENTENCE))
        number = find_or_add(said, address, generation);
    number = number != 0 ? number : sentence;
    __atomic_store_n(place, number, __ATOMIC_RELEASE);
    pm_words_unlock(mask);
    return number;
}

uint32_t pm_words_called_from(uint32_t sentence, const void *return_address)
{
    uintptr_t address = (uintptr_t)return_address;
    if (sentence == 0 || address == 0 || pm_unlikely(!*pm_process.alive_mark))
        return sentence;
    uint32_t generation = pm_load(pm_process.generation);
    uint32_t *place = recent_of(sentence, address);
    uint32_t number = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    return pm_likely(is_word_of(number, sentence, address, generation))
               ? number
               : look_up(place, sentence, address, generation);
}

/* Its file may have no room for all words. */
void pm_words_calls_fork_child(void)
{
    for (uint32_t i = 0; i < N_RECENT; i++)
        recent[i] = 0;
}
