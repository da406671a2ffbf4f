/* What words.c and merge.c share: words by number, and how they are made. All of it under
 * the lock, but for what is said to be looked at without. */
#ifndef PM_RUNTIME_WORDS_H
#define PM_RUNTIME_WORDS_H

#include "runtime/words/api.h"

/* A word, by number: a sentence or set as the context tree has it, and what is needed to merge
 * nouns. The first six are read without the lock. */
struct pm_spoken {
    uint32_t noun, counter;
    uint32_t merged; /* what it counts as; 0: itself */
    uint16_t bank;
    bool ready;
    bool is_set;   /* a set of sentences (ambient.c) */
    uint8_t epoch; /* in which it was entered or, a noun, defined last */
    bool pinned;   /* others refer to it: it is not merged */
};

struct pm_words {
    uint32_t lock;
    uint32_t n, max; /* words; the last one's number; room */
    uint32_t table_mask;
    bool said_limit;
    const struct pm_run_word **by_number;
    uint32_t *table;            /* numbers, by what the words are */
    struct pm_spoken *spoken;   /* by number */
    struct pm_run_chunk *chunk; /* with room from `used` on */
    uint32_t used;
    struct pm_object *object; /* nouns of sentences are appended here */
    uint32_t n_in_object, n_in_objects;
    /* merge.c: nouns that may be merged, and sentences, both in the order in which they
     * were defined. */
    uint32_t *nouns, *sentences, n_nouns, n_sentences;
    uint32_t n_in_epoch; /* new nouns */
    uint8_t epoch;
    uint32_t countable[4]; /* levels whose sentences may be counted only; 0: no more */
};
extern struct pm_words pm_words;

/* A word as bytes, in memory of its maker. */
struct pm_draft {
    struct pm_run_word *word;
    uint32_t bytes, room;
    bool is_cut; /* no room for all of it */
};
enum {
    PM_LARGEST_WORD =
        (int)sizeof(struct pm_run_word) + 4 * PM_WORDS_MAX_SET + 3 * PM_WORDS_MAX_TEXT + 8,
};
/* A draft with room for any word, in memory that is there once: under the lock, for a thread may
 * have a small stack. */
#define PM_DRAFT(d)                                      \
    static uint64_t d##_memory[PM_LARGEST_WORD / 8 + 1]; \
    struct pm_draft d = {.word = (struct pm_run_word *)d##_memory, .room = sizeof d##_memory}
/* One with room for most. */
#define PM_SHORT_DRAFT(d)    \
    uint64_t d##_memory[64]; \
    struct pm_draft d = {.word = (struct pm_run_word *)d##_memory, .room = sizeof d##_memory}
void pm_draft_begin(struct pm_draft *d, enum pm_word_kind kind, uint32_t a, uint32_t b);
void pm_draft_noun(struct pm_draft *d, uint32_t noun);
void pm_draft_text(struct pm_draft *d, const char *text);
void pm_draft_end(struct pm_draft *d);

/* The number of that word; 0: there is none. add: it is made; 0: no room. */
uint32_t pm_words_find(const struct pm_draft *d);
uint32_t pm_words_add(const struct pm_draft *d);
/* Gives a sentence, a call of one or a set a noun in the context tree. */
void pm_words_speak(uint32_t sentence);
bool pm_words_is(uint32_t number, enum pm_word_kind kind);

/* --- calls.c --- */
/* A sentence as a call says it. Takes the lock when it is new. */
uint32_t pm_words_called_from(uint32_t sentence, const void *return_address);
void pm_words_calls_fork_child(void);

/* --- merge.c --- */
/* A noun that is not there yet, as a word; or as what it is counted as. */
uint32_t pm_words_new_noun(const struct pm_draft *d);
/* Nouns of a sentence, as what they count as; two that have become one are one. */
void pm_words_draft_nouns(struct pm_draft *d, const uint32_t *nouns, uint32_t n_nouns);
/* A sentence that was added. */
void pm_words_new_sentence(uint32_t number);
/* What a noun or sentence counts as: mostly itself. Also without the lock. */
static inline uint32_t pm_words_resolve(uint32_t number)
{
    if (number == 0 || number > pm_words.max || pm_words.spoken == NULL)
        return number;
    uint32_t merged = pm_load(pm_words.spoken[number].merged);
    return pm_unlikely(merged != 0) ? merged : number;
}
/* Refers to others, which are not merged from now on. */
void pm_words_pin(const struct pm_run_word *word);

#endif
