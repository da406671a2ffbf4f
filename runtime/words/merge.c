/* More nouns than are kept (`perfmap run --max-nouns`): those that were not entered for longest
 * are merged into what they are a part of, or into "(other nouns of kind K)" of their level, and
 * count as that from then on. So do the costs that they had: the noun's word in the run file
 * says into which, and collect reads it so. Contexts stay where they are; what is entered later
 * gets none of its own.
 *
 * Who was entered is known by epochs, of which one ends whenever an eighth of the nouns that are
 * kept is new: entering a sentence costs one comparison. Nouns that others refer to (parts,
 * mappings, sentences that were begun) are not merged. Numbers are not given out again, for the
 * program may have kept them: when 16 times as many words as nouns are kept have been made,
 * further nouns are counted as others at once.
 */
#include "runtime/base/file.h"
#include "runtime/words/words.h"

#include <string.h>

enum { RESERVE = 1 << 16, N_EPOCHS = 256, OLD = 200, KIND_BYTES = 256 };

/* Texts of a noun: name, kind, file. */
static const char *kind_of(const struct pm_run_word *noun)
{
    const char *text = (const char *)(noun + 1);
    return text + strlen(text) + 1;
}

/* What a noun is counted as when it is merged; 0: no room for that. */
static uint32_t target_of(const struct pm_run_word *noun)
{
    PM_DRAFT(d);
    if (noun->b != 0)
        return pm_words_resolve(noun->b);
    char name[KIND_BYTES + 32] = "(other nouns";
    size_t n = strlen(name), len = strlen(kind_of(noun));
    if (len != 0 && len < KIND_BYTES) {
        memcpy(name + n, " of kind ", 9);
        memcpy(name + n + 9, kind_of(noun), len);
        n += 9 + len;
    }
    memcpy(name + n, ")", 2);
    pm_draft_begin(&d, PM_WORD_NOUN, noun->a, 0);
    pm_draft_text(&d, name);
    pm_draft_text(&d, kind_of(noun));
    pm_draft_text(&d, "");
    pm_draft_end(&d);
    uint32_t number = pm_words_find(&d);
    if (number == 0 && (number = pm_words_add(&d)) != 0)
        pm_words.spoken[number].pinned = true;
    return number;
}

static uint8_t age(uint32_t number)
{
    return (uint8_t)(pm_words.epoch - pm_load(pm_words.spoken[number].epoch));
}

void pm_words_pin(const struct pm_run_word *word)
{
    const uint32_t *nouns = (const uint32_t *)(word + 1);
    if (word->kind == PM_WORD_MAPPING)
        pm_words.spoken[word->a].pinned = pm_words.spoken[word->b].pinned = true;
    else if (word->kind == PM_WORD_CALL)
        pm_words.spoken[word->a].pinned = true;
    else if (word->kind == PM_WORD_NOUN && word->b != 0)
        pm_words.spoken[word->b].pinned = true;
    else if (word->kind != PM_WORD_SENTENCE)
        for (uint32_t i = 0; i < word->n_nouns; i++)
            pm_words.spoken[nouns[i]].pinned = true;
}

/* --- sentences --- */

void pm_words_draft_nouns(struct pm_draft *d, const uint32_t *nouns, uint32_t n_nouns)
{
    for (uint32_t i = 0; i < n_nouns; i++)
        if (i == 0 || nouns[i] == nouns[i - 1] ||
            pm_words_resolve(nouns[i]) != pm_words_resolve(nouns[i - 1]))
            pm_draft_noun(d, pm_words_resolve(nouns[i]));
}

/* A sentence with what its nouns are merged into; 0: no room for it. */
static uint32_t sentence_for(const struct pm_run_word *word)
{
    PM_DRAFT(d);
    pm_draft_begin(&d, PM_WORD_SENTENCE, word->a, 0);
    pm_words_draft_nouns(&d, (const uint32_t *)(word + 1), word->n_nouns);
    pm_draft_end(&d);
    uint32_t number = pm_words_find(&d);
    if (number == 0 && (number = pm_words_add(&d)) != 0)
        pm_words_new_sentence(number);
    return number;
}

void pm_words_new_sentence(uint32_t number)
{
    pm_words_speak(number);
    pm_words.spoken[number].epoch = pm_words.epoch;
    if (pm_words.n_sentences < pm_words.max)
        pm_words.sentences[pm_words.n_sentences++] = number;
}

static bool has_merged(const struct pm_run_word *word)
{
    const uint32_t *nouns = (const uint32_t *)(word + 1);
    for (uint32_t i = 0; i < word->n_nouns; i++)
        if (pm_words.spoken[nouns[i]].merged != 0)
            return true;
    return false;
}

/* From now on entering it enters the other. */
static void merge_sentences(void)
{
    uint32_t n = pm_words.n_sentences, kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t number = pm_words.sentences[i];
        const struct pm_run_word *word = pm_words.by_number[number];
        uint32_t target = has_merged(word) ? sentence_for(word) : 0;
        if (target != 0 && pm_words.spoken[target].ready)
            pm_store(pm_words.spoken[number].merged, target);
        else
            pm_words.sentences[kept++] = number;
    }
    for (uint32_t i = n; i < pm_words.n_sentences; i++) /* made meanwhile */
        pm_words.sentences[kept++] = pm_words.sentences[i];
    pm_words.n_sentences = kept;
}

/* --- nouns --- */

/* Nouns are as young, and as much in use, as their sentences. */
static void look_at_sentences(void)
{
    for (uint32_t i = 0; i < pm_words.n_sentences; i++) {
        uint32_t number = pm_words.sentences[i];
        const struct pm_run_word *word = pm_words.by_number[number];
        const uint32_t *nouns = (const uint32_t *)(word + 1);
        for (uint32_t k = 0; k < word->n_nouns; k++) {
            struct pm_spoken *noun = &pm_words.spoken[nouns[k]];
            if (age(number) < age(nouns[k]))
                noun->epoch = pm_words.spoken[number].epoch;
            noun->pinned |= pm_words.spoken[number].pinned;
        }
        if (age(number) > OLD)
            pm_words.spoken[number].epoch = (uint8_t)(pm_words.epoch - OLD);
    }
}

/* From which age on there are so many. */
static unsigned age_of_oldest(uint32_t wanted)
{
    static uint32_t n[N_EPOCHS]; /* under the lock, for a thread may have a small stack */
    uint32_t sum = 0;
    memset(n, 0, sizeof n);
    for (uint32_t i = 0; i < pm_words.n_nouns; i++)
        if (!pm_words.spoken[pm_words.nouns[i]].pinned)
            n[age(pm_words.nouns[i])]++;
    unsigned oldest = N_EPOCHS;
    while (oldest > 0 && sum < wanted)
        sum += n[--oldest];
    return oldest;
}

/* Its word says so in the run file: first into what. */
static bool merge_noun(uint32_t number)
{
    struct pm_run_word *word = (struct pm_run_word *)(uintptr_t)pm_words.by_number[number];
    uint64_t target = target_of(word);
    if (target == 0 || target == number)
        return false;
    memcpy(&word->weight, &target, sizeof target);
    pm_barrier();
    pm_store(word->kind, PM_WORD_NOUN | PM_WORD_MERGED);
    pm_store(pm_words.spoken[number].merged, (uint32_t)target);
    return true;
}

static void merge_oldest(uint32_t wanted)
{
    look_at_sentences();
    unsigned oldest = age_of_oldest(wanted);
    uint32_t kept = 0, merged = 0;
    for (uint32_t i = 0; i < pm_words.n_nouns; i++) {
        uint32_t number = pm_words.nouns[i];
        if (pm_words.spoken[number].pinned)
            continue; /* for ever */
        if (merged < wanted && age(number) >= oldest && merge_noun(number)) {
            merged++;
            continue;
        }
        if (age(number) > OLD)
            pm_words.spoken[number].epoch = (uint8_t)(pm_words.epoch - OLD);
        pm_words.nouns[kept++] = number;
    }
    pm_words.n_nouns = kept;
    merge_sentences();
}

static bool has_room(void)
{
    return pm_words.n < pm_words.max - RESERVE && !pm_load(pm_process.file.full) &&
           pm_load(pm_process.n_contexts) < pm_process.max_contexts;
}

static uint32_t no_room(const struct pm_draft *d)
{
    if (!pm_words.said_limit)
        pm_file_message(
            PM_RUN_MSG_LIMIT,
            "the program defined so many nouns of its own that later ones count as what "
            "they are a part of, or as other nouns of their kind, at once",
            NULL);
    pm_words.said_limit = true;
    return target_of(d->word);
}

uint32_t pm_words_new_noun(const struct pm_draft *d)
{
    uint32_t limit = pm_process.max_nouns;
    if (!has_room())
        return no_room(d);
    if (pm_words.n_nouns >= limit)
        merge_oldest(limit / 8 + 1);
    uint32_t number = has_room() ? pm_words_add(d) : 0;
    if (number == 0)
        return no_room(d);
    pm_words.spoken[number].epoch = pm_words.epoch;
    if (pm_words.n_nouns < limit)
        pm_words.nouns[pm_words.n_nouns++] = number;
    if (++pm_words.n_in_epoch > limit / 8) {
        pm_words.n_in_epoch = 0;
        pm_words.epoch++;
    }
    return number;
}
