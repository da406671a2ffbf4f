/* The program's own words (perfmap.h): levels, nouns, verbs, sentences and mappings that it made
 * while it ran. */
#include "words.h"

#include "binaries.h"
#include "causes.h"
#include "collector.h"
#include "contexts.h"
#include "costs.h"
#include "debug.h"
#include "kernel.h"
#include "model.h"
#include "process.h"
#include "run_names.h"
#include "writer.h"

#include "format/pm_id.h"
#include "format/pm_words.h"
#include "mapping/archive/archive.h"
#include "mapping/base/arena.h"
#include "mapping/base/map.h"
#include "mapping/pif/pif.h"
#include "mapping/run/run_file.h"

#include <stdlib.h>

/* Rows by number less one: of levels, nouns, verbs, sentences; 0: none. */
/* An object whose binary is known. max_high: of it and of those that begin before. */
struct words_object {
    uint64_t low, high, max_high;
    uint32_t number;
};

struct words {
    struct collector *c;
    const struct pm_run_file *file;
    uint32_t *rows;
    struct collect_binary *const *binaries; /* of the file's objects */
    struct words_object *objects;           /* by low */
    size_t n_objects;
};

static const char *intern(struct collector *c, struct pm_str text)
{
    return pm_intern_add(c->strings, text.p, text.len);
}

/* Would it lie above itself? */
static bool is_below(const struct collector *c, const char *name, const char *other)
{
    for (size_t steps = 0; other && steps <= c->model->n_levels; steps++) {
        const char *next = NULL;
        if (strcmp(name, other) == 0)
            return true;
        for (size_t i = 0; i < c->model->n_levels; i++)
            if (strcmp(c->model->levels[i].name, other) == 0)
                next = c->model->levels[i].above;
        other = next;
    }
    return false;
}

static enum pm_status add_level(struct words *w, const struct pm_run_file_word *word, uint32_t *row)
{
    struct collector *c = w->c;
    const char *name = intern(c, word->texts[0]), *above = intern(c, word->texts[1]);
    if (!name || !above)
        return collect_no_memory(c);
    enum pm_status status = collect_need_source(c);
    if (status == PM_OK)
        status = collect_level_row(c, name, row);
    if (status != PM_OK || c->model->levels[*row - 1].above || *row == c->model->base_level)
        return status;
    if (is_below(c, name, above))
        return collect_mark(c, "level '%s' would be above itself, through '%s'", name, above);
    c->model->levels[*row - 1].above = above;
    return PM_OK;
}

static void hash_str(struct pm_id_hash *hash, struct pm_str text)
{
    XXH64_update(&hash->state, text.p, text.len);
    pm_id_hash_string(hash, "");
}

/* Equal nouns of several processes are one, unless they have an address: that is of one process. */
static pm_id id_of(const struct words *w, const struct pm_run_file_word *word)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "word");
    pm_id_hash_number(&hash, w->rows[word->a - 1]);
    pm_id_hash_number(&hash, word->b ? w->rows[word->b - 1] : 0);
    for (size_t i = 0; i < PM_RUN_FILE_WORD_TEXTS; i++)
        hash_str(&hash, word->texts[i]);
    pm_id_hash_number(&hash, word->line_no);
    pm_id_hash_id(&hash, word->address);
    if (word->address)
        pm_id_hash_number(&hash, w->c->processes->n);
    return pm_id_hash_done(&hash);
}

static enum pm_status add_attributes(struct collector *c, uint32_t row,
                                     const struct pm_run_file_word *word)
{
    char text[64];
    enum pm_status status = PM_OK;
    if (word->address) {
        snprintf(text, sizeof text, "%llx", (unsigned long long)word->address);
        status = collect_write_attribute(c, row, "memory_address", text);
    }
    if (word->size_bytes && status == PM_OK) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)word->size_bytes);
        status = collect_write_attribute(c, row, "size_bytes", text);
    }
    return status;
}

enum { SEVERAL_VARIABLES = UINT32_MAX };

/* Those with a place in the source, by the addresses of their interned names. */
static enum pm_status know_variables(struct collector *c, struct collect_binary *binary)
{
    if (!binary->pif || binary->variables_known)
        return PM_OK;
    size_t n = pm_pif_n_nouns(binary->pif);
    for (size_t i = 0; i < n; i++) {
        struct pm_pif_noun noun;
        pm_pif_get_noun(binary->pif, i, &noun);
        bool is_variable = noun.kind && noun.name && noun.file && noun.line &&
                           (!strcmp(noun.kind, "variable") || !strcmp(noun.kind, "array"));
        if (!is_variable)
            continue;
        const char *name = collect_intern(c, noun.name);
        uint32_t *number = name ? pm_map_at(&binary->variables, (uintptr_t)name) : NULL;
        if (!number)
            return collect_no_memory(c);
        *number = *number ? SEVERAL_VARIABLES : (uint32_t)i + 1;
    }
    binary->variables_known = true;
    return PM_OK;
}

/* Of the only variable of that name that the facts have; a part of it ("pool+64") is there, too. */
static enum pm_status place_of_variable(struct collector *c, struct collect_binary *binary,
                                        struct pm_run_file_word *word)
{
    struct pm_str text = word->texts[0];
    const char *part = memchr(text.p, '+', text.len);
    if (part)
        text.len = (size_t)(part - text.p);
    enum pm_status status = know_variables(c, binary);
    if (status != PM_OK)
        return status;
    const char *name = intern(c, text);
    if (!name)
        return collect_no_memory(c);
    uint32_t number = pm_map_get(&binary->variables, (uintptr_t)name);
    if (number == 0 || number == SEVERAL_VARIABLES)
        return PM_OK;
    struct pm_pif_noun found;
    pm_pif_get_noun(binary->pif, number - 1, &found);
    const char *file = collect_intern(c, found.file);
    if (!file)
        return collect_no_memory(c);
    word->texts[2] = pm_str_of(file);
    word->line_no = found.line;
    return PM_OK;
}

static int compare_objects(const void *a, const void *b)
{
    const struct words_object *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* False: memory. */
static bool order_objects(struct words *w)
{
    size_t n = w->binaries ? pm_run_file_n_objects(w->file) : 0;
    uint64_t max_high = 0;
    w->objects = pm_arena_alloc(&w->c->arena, (n + 1) * sizeof *w->objects);
    if (!w->objects)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct pm_run_file_object *object = pm_run_file_object(w->file, i);
        if (w->binaries[i])
            w->objects[w->n_objects++] =
                (struct words_object){object->low, object->high, 0, (uint32_t)i};
    }
    qsort(w->objects, w->n_objects, sizeof *w->objects, compare_objects);
    for (size_t i = 0; i < w->n_objects; i++) {
        max_high = w->objects[i].high > max_high ? w->objects[i].high : max_high;
        w->objects[i].max_high = max_high;
    }
    return true;
}

static bool begins_at_or_before(const void *object, const void *address)
{
    return ((const struct words_object *)object)->low <= *(const uint64_t *)address;
}

/* Of several that lay there one after the other the file's first; PM_RUN_FILE_NO_OBJECT: none. */
static uint32_t object_at(const struct words *w, uint64_t address)
{
    uint32_t found = PM_RUN_FILE_NO_OBJECT;
    size_t i =
        pm_lower_bound(w->objects, w->n_objects, sizeof *w->objects, &address, begins_at_or_before);
    for (; i > 0 && w->objects[i - 1].max_high > address; i--)
        if (address < w->objects[i - 1].high && w->objects[i - 1].number < found)
            found = w->objects[i - 1].number;
    return found;
}

static enum pm_status place_of_address(struct words *w, struct pm_run_file_word *word)
{
    uint32_t at = object_at(w, word->address);
    if (at == PM_RUN_FILE_NO_OBJECT)
        return PM_OK;
    uint64_t address = word->address - pm_run_file_object(w->file, at)->load_bias;
    const char *file = NULL;
    enum pm_status status = collect_line_of(w->c, w->binaries[at], address, &file, &word->line_no);
    if (status != PM_OK)
        return status;
    if (!file)
        return place_of_variable(w->c, w->binaries[at], word);
    word->texts[2] = pm_str_of(file);
    return PM_OK;
}

/* An instruction of its own has a line only if one begins with it; else its name tells enough. */
static enum pm_status need_begin(struct words *w, struct pm_run_file_word *word)
{
    struct pm_run_file_word before = *word;
    before.address--;
    before.texts[2] = PM_STR("");
    enum pm_status status = place_of_address(w, &before);
    if (before.line_no == word->line_no && pm_str_eq(before.texts[2], word->texts[2])) {
        word->texts[2] = PM_STR("");
        word->line_no = 0;
    }
    word->address = word->size_bytes = 0;
    return status;
}

/* What is told by an address of code, or of a variable, is where that stands in the source. Then it
 * is one noun in all processes and copies of the code. Other memory (a lock that was allocated) is
 * where that stands which it is a part of (what has made it). */
static enum pm_status find_place(struct words *w, struct pm_run_file_word *word)
{
    if (!word->address || word->size_bytes > 1 || word->texts[2].len || !w->binaries)
        return PM_OK;
    enum pm_status status = place_of_address(w, word);
    if (status != PM_OK)
        return status;
    if (word->size_bytes)
        return need_begin(w, word);
    if (word->texts[2].len) {
        word->address = 0;
        return PM_OK;
    }
    if (!word->b)
        return PM_OK;
    struct pm_run_file_word whole = *pm_run_file_word(w->file, word->b - 1);
    if (whole.address && !whole.size_bytes)
        status = place_of_address(w, &whole);
    word->texts[2] = whole.texts[2];
    word->line_no = whole.line_no;
    return status;
}

static enum pm_status add_noun(struct words *w, const struct pm_run_file_word *told, uint32_t *row)
{
    struct collector *c = w->c;
    struct pm_run_file_word placed = *told, *word = &placed;
    enum pm_status found = find_place(w, word);
    if (found != PM_OK)
        return found;
    pm_id id = id_of(w, word);
    *row = pm_map_get(&c->model->by_noun, id);
    if (*row)
        return PM_OK;
    struct pm_pif_noun noun = {.id = id,
                               .name = intern(c, word->texts[0]),
                               .kind = intern(c, word->texts[1]),
                               .file = intern(c, word->texts[2]),
                               .line = word->line_no};
    if (!noun.name || !noun.kind || !noun.file)
        return collect_no_memory(c);
    noun.kind = *noun.kind ? noun.kind : NULL;
    noun.file = *noun.file ? noun.file : NULL;
    *row = ++c->model->n_nouns;
    if (!pm_map_put(&c->model->by_noun, id, *row))
        return collect_no_memory(c);
    enum pm_status status = collect_write_noun(c, *row, &noun, w->rows[word->a - 1], 0,
                                               word->b ? w->rows[word->b - 1] : 0);
    return status == PM_OK ? add_attributes(c, *row, word) : status;
}

static enum pm_status add_verb(struct words *w, const struct pm_run_file_word *word, uint32_t *row)
{
    struct collector *c = w->c;
    const char *name = intern(c, word->texts[0]);
    if (!name)
        return collect_no_memory(c);
    return collect_verb_row(c, c->model->levels[w->rows[word->a - 1] - 1].name, name, NULL, row);
}

static enum pm_status add_sentence(struct words *w, const struct pm_run_file_word *word,
                                   uint32_t *row)
{
    uint32_t nouns[PM_WORDS_MAX_NOUNS];
    for (uint32_t i = 0; i < word->n_nouns; i++)
        nouns[i] = w->rows[word->nouns[i] - 1];
    return word->n_nouns == 1
               ? collect_short_sentence(w->c, w->rows[word->a - 1], nouns[0], row)
               : collect_long_sentence(w->c, w->rows[word->a - 1], nouns, word->n_nouns, row);
}

static enum pm_status add_mapping(struct words *w, const struct pm_run_file_word *word)
{
    struct collect_mapping mapping = {.source = w->rows[word->a - 1],
                                      .destination = w->rows[word->b - 1],
                                      .origin = "run",
                                      .weight = word->weight};
    return collect_add_mapping(w->c, &mapping);
}

/* A name that is taken for something else counts nothing, and that is said. */
static enum pm_status add_metric(struct words *w, const struct pm_run_file_word *word,
                                 uint32_t *row)
{
    struct collector *c = w->c;
    struct collect_metric metric = {.name = intern(c, word->texts[0]),
                                    .unit = intern(c, word->texts[1]),
                                    .kind = intern(c, word->texts[2]),
                                    .description = "said by the program itself (perfmap.h)"};
    if (!metric.name || !metric.unit || !metric.kind)
        return collect_no_memory(c);
    if (strcmp(metric.kind, "bytes") != 0 && strcmp(metric.kind, "time") != 0)
        metric.kind = "count";
    size_t n_known = c->costs->n_metrics;
    enum pm_status status = collect_metric(c, &metric, row);
    if (status != PM_OK || c->costs->n_metrics > n_known)
        return status;
    const struct collect_metric *known = &c->costs->metrics[*row - 1];
    if (*row > N_OWN_METRICS && strcmp(known->unit, metric.unit) == 0)
        return PM_OK;
    *row = 0;
    return collect_mark(
        c, "the program counts '%s' in '%s', which is a metric of another kind: left out",
        metric.name, metric.unit);
}

/* A call is the sentence that it says. */
static enum pm_status add_call(struct words *w, const struct pm_run_file_word *word, uint32_t *row)
{
    *row = w->rows[word->a - 1];
    return PM_OK;
}

static enum pm_status add_word(struct words *w, const struct pm_run_file_word *word, uint32_t *row)
{
    switch (word->kind) {
    case PM_WORD_LEVEL:
        return add_level(w, word, row);
    case PM_WORD_NOUN:
        return add_noun(w, word, row);
    case PM_WORD_VERB:
        return add_verb(w, word, row);
    case PM_WORD_SENTENCE:
        return add_sentence(w, word, row);
    case PM_WORD_CALL:
        return add_call(w, word, row);
    case PM_WORD_MAPPING:
        return add_mapping(w, word);
    case PM_WORD_METRIC:
        return add_metric(w, word, row);
    default:
        return PM_OK;
    }
}

static const struct pm_run_file_word *word_at(const struct pm_run_file *file, uint64_t number)
{
    return number > 0 && number <= pm_run_file_n_words(file) ? pm_run_file_word(file, number - 1)
                                                             : NULL;
}

enum pm_status collect_told_sentence(struct collector *c, const char *level, const char *verb,
                                     const struct collect_told_noun *nouns, uint32_t n_nouns,
                                     uint32_t *ret_sentence)
{
    uint32_t rows[2 + PM_WORDS_MAX_NOUNS + 1] = {0}; /* level, verb, nouns, sentence */
    struct words w = {.c = c, .rows = rows};
    struct pm_run_file_word word = {.kind = PM_WORD_LEVEL,
                                    .texts = {pm_str_of(level), PM_STR("Source"), PM_STR("")}};
    enum pm_status status = add_level(&w, &word, &rows[0]);
    word = (struct pm_run_file_word){
        .kind = PM_WORD_VERB, .a = 1, .texts = {pm_str_of(verb), PM_STR(""), PM_STR("")}};
    if (status == PM_OK)
        status = add_verb(&w, &word, &rows[1]);
    struct pm_run_file_word sentence = {.kind = PM_WORD_SENTENCE, .a = 2, .n_nouns = n_nouns};
    for (uint32_t i = 0; i < n_nouns && status == PM_OK; i++) {
        word = (struct pm_run_file_word){
            .kind = PM_WORD_NOUN,
            .a = 1,
            .texts = {pm_str_of(nouns[i].name), pm_str_of(nouns[i].kind), PM_STR("")}};
        status = add_noun(&w, &word, &rows[2 + i]);
        sentence.nouns[i] = 3 + i;
    }
    return status == PM_OK ? add_sentence(&w, &sentence, ret_sentence) : status;
}

/* A noun of an object of words: its id is the number of a sentence, or of a set of some, of
 * which the first has to stand for it; or of a cause. */
static enum pm_status name_sentence(struct words *w, const struct pm_run_file_noun *noun,
                                    uint32_t *ret_noun, uint32_t *ret_sentence, uint32_t *ret_cause)
{
    uint64_t number = noun->id;
    const struct pm_run_file_word *word = word_at(w->file, number);
    if (word && word->kind == PM_WORD_SET)
        word = word_at(w->file, number = word->members[0]);
    if (word && word->kind == PM_WORD_CALL)
        word = word_at(w->file, number = word->a);
    if (word && word->kind == PM_WORD_SENTENCE) {
        *ret_sentence = w->rows[number - 1];
        *ret_noun = word->n_nouns ? w->rows[word->nouns[0] - 1] : 0;
        return PM_OK;
    }
    if (word && word->kind == PM_WORD_CAUSE)
        return collect_cause(w->c, word, ret_cause);
    enum pm_status status = collect_code_noun(w->c, NULL, noun, ret_noun);
    return status == PM_OK
               ? collect_short_sentence(w->c, w->c->model->executes, *ret_noun, ret_sentence)
               : status;
}

static int compare_rows(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

enum pm_status collect_ambient_context(struct collector *c, const struct pm_run_file *file,
                                       uint32_t noun, const struct collect_names *names,
                                       unsigned flags, uint32_t *context)
{
    const struct pm_run_file_word *word = word_at(file, pm_run_file_noun(file, noun)->id);
    uint32_t rows[PM_WORDS_MAX_SET], n = 0;
    for (; word && n < word->n_members; n++)
        rows[n] = names->words[word->members[n] - 1];
    qsort(rows, n, sizeof *rows, compare_rows);
    enum pm_status status = PM_OK;
    for (uint32_t i = 0; i < n && status == PM_OK; i++)
        if (i == 0 || rows[i] != rows[i - 1])
            status = collect_context(c, *context, rows[i], flags | CONTEXT_AMBIENT, context);
    return status;
}

const struct pm_run_file_word *collect_said_call(const struct pm_run_file *file,
                                                 const struct pm_run_file_noun *noun)
{
    const struct pm_run_file_word *word =
        collect_is_spoken(file, noun) ? word_at(file, noun->id) : NULL;
    return word && word->kind == PM_WORD_CALL && word->object != PM_RUN_FILE_NO_OBJECT ? word
                                                                                       : NULL;
}

bool collect_is_spoken(const struct pm_run_file *file, const struct pm_run_file_noun *noun)
{
    return noun->object != PM_RUN_FILE_NO_OBJECT &&
           pm_run_file_object(file, noun->object)->kind == PM_RUN_OBJECT_WORDS;
}

/* Sentences and what refers to them. */
static bool refers_to_names(const struct pm_run_file_word *word)
{
    return word->kind == PM_WORD_SENTENCE || word->kind == PM_WORD_MAPPING ||
           word->kind == PM_WORD_CALL;
}

/* First all that sentences are made of: a noun that was merged is the one that it counts as,
 * which may come later. */
static enum pm_status add_names(struct words *w, size_t n)
{
    enum pm_status status = PM_OK;
    uint64_t n_merged = 0;
    for (size_t i = 0; i < n && status == PM_OK; i++) {
        const struct pm_run_file_word *word = pm_run_file_word(w->file, i);
        if (word->merged)
            n_merged++;
        else if (!refers_to_names(word))
            status = add_word(w, word, &w->rows[i]);
    }
    for (size_t i = 0; i < n; i++)
        if (pm_run_file_word(w->file, i)->merged)
            w->rows[i] = w->rows[pm_run_file_word(w->file, i)->merged - 1];
    if (n_merged == 0 || status != PM_OK)
        return status;
    char text[200];
    snprintf(text, sizeof text,
             "%llu nouns of the program's own that were not used for longest count as what they "
             "are a part of, or as other nouns of their kind ('perfmap run --max-nouns')",
             (unsigned long long)n_merged);
    return collect_message(w->c, PM_RUN_MSG_LIMIT, text);
}

/* Mapping points with the number of their mappings. */
static enum pm_status add_points(struct words *w, size_t n)
{
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < n; i++) {
        const struct pm_run_file_word *word = pm_run_file_word(w->file, i);
        if (word->kind == PM_WORD_MAPPING && word->line_no)
            w->rows[word->line_no - 1]++;
    }
    for (size_t i = 0; i < n && status == PM_OK; i++) {
        const struct pm_run_file_word *word = pm_run_file_word(w->file, i);
        if (word->kind != PM_WORD_POINT)
            continue;
        sqlite3_stmt *insert = w->c->writer->statements[INSERT_POINT];
        bind_str(insert, 1, word->texts[0]);
        sqlite3_bind_int(insert, 2, word->a != 0);
        bind_number(insert, 3, w->rows[i]);
        status = collect_insert(w->c, INSERT_POINT);
    }
    return status;
}

enum pm_status collect_words(struct collector *c, const struct pm_run_file *file,
                             struct collect_names *names)
{
    size_t n = pm_run_file_n_words(file);
    struct words w = {.c = c, .file = file, .binaries = names->binaries};
    if (order_objects(&w))
        w.rows = pm_alloc_array(n + 1, sizeof *w.rows);
    if (!w.rows)
        return collect_no_memory(c);
    enum pm_status status = add_names(&w, n);
    for (size_t i = 0; i < n && status == PM_OK; i++)
        if (refers_to_names(pm_run_file_word(file, i)))
            status = add_word(&w, pm_run_file_word(file, i), &w.rows[i]);
    for (size_t i = 0; i < pm_run_file_n_nouns(file) && status == PM_OK; i++)
        if (collect_is_spoken(file, pm_run_file_noun(file, i)))
            status = name_sentence(&w, pm_run_file_noun(file, i), &names->nouns[i],
                                   &names->sentences[i], &names->causes[i]);
    if (status == PM_OK)
        status = add_points(&w, n);
    names->words = w.rows;
    if (status == PM_OK)
        status = collect_kernel_words(c, file, names);
    names->metrics = pm_alloc_array(n + 1, sizeof *names->metrics);
    if (!names->metrics)
        return collect_no_memory(c);
    for (size_t i = 0; i < n; i++)
        if (pm_run_file_word(file, i)->kind == PM_WORD_METRIC)
            names->metrics[i] = w.rows[i];
    return status;
}
