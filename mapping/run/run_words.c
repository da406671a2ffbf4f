/* The program's own words in a run file. Every reference is checked here. */
#include "run_internal.h"

#include <stdlib.h>

/* What a word may refer to, by kind. */
static bool refers_well(const struct pm_run_file *file, const struct pm_run_word *raw)
{
    uint32_t n = (uint32_t)file->n_words;
    const struct pm_run_file_word *words = file->words;
#define IS(number, what) ((number) > 0 && (number) <= n && words[(number)-1].kind == (what))
    switch (raw->kind & ~PM_WORD_MERGED) {
    case PM_WORD_LEVEL:
    case PM_WORD_METRIC:
    case PM_WORD_POINT:
    case PM_WORD_CAUSE:
        return true;
    case PM_WORD_NOUN:
        return IS(raw->a, PM_WORD_LEVEL) && (raw->b == 0 || IS(raw->b, PM_WORD_NOUN));
    case PM_WORD_VERB:
        return IS(raw->a, PM_WORD_LEVEL);
    case PM_WORD_SENTENCE:
        return IS(raw->a, PM_WORD_VERB) && raw->n_nouns > 0;
    case PM_WORD_CALL:
        return IS(raw->a, PM_WORD_SENTENCE) && raw->n_nouns == 0 &&
               (raw->line_no == 0 || IS(raw->line_no, PM_WORD_FRAME));
    case PM_WORD_FRAME:
        return raw->n_nouns == 0 && (raw->a == 0 || IS(raw->a, PM_WORD_FRAME));
    case PM_WORD_SET:
        return raw->n_nouns > 0;
    case PM_WORD_MAPPING:
        return IS(raw->a, PM_WORD_SENTENCE) && IS(raw->b, PM_WORD_SENTENCE) &&
               (raw->line_no == 0 || IS(raw->line_no, PM_WORD_POINT));
    default:
        return false;
    }
#undef IS
}

/* The strings of a word: those that are missing are empty. */
static void take_texts(const char *text, size_t len, struct pm_run_file_word *word)
{
    for (size_t i = 0; i < PM_RUN_FILE_WORD_TEXTS; i++) {
        const char *end = len ? memchr(text, 0, len) : NULL;
        size_t n = end ? (size_t)(end - text) : len;
        word->texts[i] = (struct pm_str){len ? text : "", n};
        n += end != NULL;
        text += n;
        len -= n;
    }
}

/* A word that is no good keeps its number, as one of kind 0. bytes: the record with all that
 * belongs to it. */
static bool take_word(struct pm_run_file *file, const char *bytes, const struct pm_run_word *raw)
{
    struct pm_run_file_word *words =
        pm_grow_array(file->words, (uint32_t)file->n_words, &file->words_cap, 64, sizeof *words);
    if (!words)
        return false;
    file->words = words;
    uint64_t nouns_bytes = 4u * (uint64_t)raw->n_nouns;
    bool is_merged = raw->kind == (PM_WORD_NOUN | PM_WORD_MERGED),
         is_set = raw->kind == PM_WORD_SET;
    uint32_t max_nouns = is_set ? PM_WORDS_MAX_SET : PM_WORDS_MAX_NOUNS;
    bool good = (raw->kind < PM_WORD_MERGED || is_merged) && raw->n_nouns <= max_nouns &&
                refers_well(file, raw) &&
                sizeof *raw + nouns_bytes + raw->n_text_bytes <= raw->bytes;
    struct pm_run_file_word word = {.kind = good ? raw->kind & ~(uint32_t)PM_WORD_MERGED : 0,
                                    .object = PM_RUN_FILE_NO_OBJECT};
    if (good) {
        bool has_b = word.kind == PM_WORD_NOUN || raw->kind == PM_WORD_MAPPING ||
                     raw->kind == PM_WORD_CAUSE || raw->kind == PM_WORD_CALL ||
                     raw->kind == PM_WORD_FRAME;
        bool has_a = raw->kind != PM_WORD_LEVEL && raw->kind != PM_WORD_METRIC && !is_set;
        word.a = has_a ? raw->a : 0;
        word.b = has_b ? raw->b : 0;
        word.line_no = raw->line_no;
        word.address = raw->address;
        word.size_bytes = raw->size_bytes;
        if (is_merged)
            memcpy(&word.merged, &raw->weight, sizeof word.merged);
        word.weight = !is_merged && raw->weight > 0 && raw->weight < 1e300 ? raw->weight : 0;
        if (is_set) {
            word.members = (const uint32_t *)(const void *)(bytes + sizeof *raw);
            word.n_members = raw->n_nouns;
        } else {
            word.n_nouns = raw->n_nouns;
            memcpy(word.nouns, bytes + sizeof *raw, nouns_bytes);
        }
        take_texts(bytes + sizeof *raw + nouns_bytes, raw->n_text_bytes, &word);
    }
    for (uint32_t i = 0; i < word.n_nouns && good; i++)
        good = word.nouns[i] > 0 && word.nouns[i] <= file->n_words &&
               words[word.nouns[i] - 1].kind == PM_WORD_NOUN;
    for (uint32_t i = 0; i < word.n_members && good; i++)
        good = word.members[i] > (i ? word.members[i - 1] : 0) &&
               word.members[i] <= file->n_words &&
               words[word.members[i] - 1].kind == PM_WORD_SENTENCE;
    if (!good)
        word = (struct pm_run_file_word){.kind = 0, .object = PM_RUN_FILE_NO_OBJECT};
    words[file->n_words++] = word;
    file->n_bad_words += !good;
    return true;
}

/* False in *ret_go_on: what comes after cannot be numbered. */
static enum pm_status load_chunk(struct pm_run_file *file, const struct run_source *source,
                                 const struct run_chunk *chunk, struct pm_error *err,
                                 bool *ret_go_on)
{
    size_t size = chunk->size_bytes > PM_RUN_WORDS_DATA ? chunk->size_bytes - PM_RUN_WORDS_DATA : 0;
    char *bytes = size ? pm_arena_alloc(&file->arena, size) : NULL;
    if (size && !bytes)
        return run_no_memory(file, err);
    if (!size || !run_read_at(source, chunk->offset + PM_RUN_WORDS_DATA, bytes, size)) {
        run_complain(file, chunk->offset, "words cannot be read");
        *ret_go_on = false;
        return PM_OK;
    }
    struct pm_run_word raw;
    for (size_t at = 0; at + sizeof raw <= size; at += raw.bytes) {
        memcpy(&raw, bytes + at, sizeof raw);
        if (raw.bytes == 0)
            break;
        if (raw.bytes % 8 != 0 || raw.bytes < sizeof raw || raw.bytes > size - at ||
            file->n_words == PM_RUN_FILE_MAX_WORDS) {
            run_complain(file, chunk->offset + PM_RUN_WORDS_DATA + at,
                         "word %zu is of %u bytes; it and those after it are left out",
                         file->n_words + 1, raw.bytes);
            *ret_go_on = false;
            return PM_OK;
        }
        if (!take_word(file, bytes + at, &raw))
            return run_no_memory(file, err);
    }
    return PM_OK;
}

/* A noun may be merged into one that was defined later, but that is not merged itself. */
static void check_merged(struct pm_run_file *file)
{
    for (size_t i = 0; i < file->n_words; i++) {
        struct pm_run_file_word *word = &file->words[i];
        if (word->merged == 0)
            continue;
        if (word->merged <= file->n_words && word->merged != i + 1 &&
            file->words[word->merged - 1].kind == PM_WORD_NOUN &&
            file->words[word->merged - 1].merged == 0)
            continue;
        word->merged = 0;
        file->n_bad_words++;
    }
}

static bool has_place(const struct pm_run_file_word *word)
{
    return word->kind == PM_WORD_CALL || word->kind == PM_WORD_FRAME;
}

/* A return address is behind the instruction that calls. */
static enum pm_status place_calls(struct pm_run_file *file, struct pm_error *err)
{
    struct run_object_order order = {0};
    size_t first = 0;
    while (first < file->n_words && !has_place(&file->words[first]))
        first++;
    if (first == file->n_words)
        return PM_OK;
    bool is_ordered = run_order_objects(file, &order);
    for (size_t i = first; i < file->n_words && is_ordered; i++) {
        struct pm_run_file_word *word = &file->words[i];
        if (has_place(word))
            run_take_place(file, &order, word->address ? word->address - 1 : 0, word->b,
                           &word->object, &word->address);
        if (word->kind == PM_WORD_FRAME && !run_find_noun(file, word->line_no, &word->line_no))
            word->line_no = PM_RUN_NOUN_ROOT;
    }
    run_order_release(&order);
    return is_ordered ? PM_OK : run_no_memory(file, err);
}

enum pm_status run_load_words(struct pm_run_file *file, const struct run_source *source,
                              const struct run_chunks *list, struct pm_error *err)
{
    enum pm_status status = PM_OK;
    bool go_on = true;
    uint64_t first = 0;
    for (size_t i = 0; i < list->n && go_on; i++) {
        if (list->chunks[i].kind != PM_RUN_CHUNK_WORDS)
            continue;
        first = first ? first : list->chunks[i].offset;
        status = load_chunk(file, source, &list->chunks[i], err, &go_on);
        if (status != PM_OK)
            break;
    }
    check_merged(file);
    if (file->n_bad_words)
        run_complain(file, first,
                     "%zu words refer to words that are not there, or are of unknown kind",
                     file->n_bad_words);
    return status != PM_OK ? status : place_calls(file, err);
}

size_t pm_run_file_n_words(const struct pm_run_file *file)
{
    return file->n_words;
}

const struct pm_run_file_word *pm_run_file_word(const struct pm_run_file *file, size_t i)
{
    return &file->words[i];
}

const struct pm_run_file_word *pm_run_file_cause(const struct pm_run_file *file, uint32_t noun)
{
    if (noun == PM_RUN_NOUN_ROOT)
        return NULL;
    const struct pm_run_file_noun *n = &file->nouns[noun];
    bool is_spoken =
        n->object != PM_RUN_FILE_NO_OBJECT && file->objects[n->object].kind == PM_RUN_OBJECT_WORDS;
    const struct pm_run_file_word *word =
        is_spoken && n->id > 0 && n->id <= file->n_words ? &file->words[n->id - 1] : NULL;
    return word && word->kind == PM_WORD_CAUSE ? word : NULL;
}
