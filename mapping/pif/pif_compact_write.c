/* Compact PIF, the writing side: docs/formats/pif-section.md.
 *
 * What repeats is said once: strings, and for nouns a class (level, kind, file, how the name is
 * made, which facts follow). Names like "heat.c:42:7" and the ids of statements and loops are
 * made again by the reader, so a statement takes about five bytes. Names of templates are most
 * of a chunk of C++, and zlib makes a seventh of them. */
#include "pif_chunk.h"

#include <stdlib.h>
#include <zlib.h>

enum { CHUNK_MAX_BYTES = 1 << 30, TEMPLATE_MIN_USES = 3 };

/* How a name could be made from its place: affixes key bytes are interned, so equal templates are
 * one pointer. */
struct template
{
    const char *affixes; /* NULL: it cannot */
    uint8_t prefix_bytes, suffix_bytes;
    bool with_column;
};

struct class_key {
    uint32_t level, kind, file, path, prefix, suffix, facts; /* string numbers but for facts */
};

struct writer {
    const struct pm_pif *pif;
    struct pm_intern *own; /* strings that are not in pif, and keys */
    struct pif_map string_numbers, class_numbers, template_uses;
    struct template *templates; /* one for each noun */
    struct pm_buf strings, classes, block;
    const char *last_string;
    size_t n_shared_bytes, n_stated_bytes; /* of strings */
    uint32_t n_strings, n_classes;
    const char *path_tried; /* the path that made the last id */
    struct pif_map foreign_noun_numbers, foreign_verb_numbers;
    bool failed;
};

static void add_fixed(struct pm_buf *buf, uint64_t value, unsigned n_bytes)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < n_bytes; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    pm_buf_add(buf, bytes, n_bytes);
}

static void number_put(struct writer *w, struct pif_map *map, uint64_t key, uint32_t value)
{
    w->failed |= !pif_map_put(map, key, value);
}

/* Numbers of strings begin at 1; 0 is "not stated". text is interned, here or in pif. */
static uint32_t string_number(struct writer *w, const char *text)
{
    if (!text)
        return 0;
    uint64_t key = (uint64_t)(uintptr_t)text;
    uint32_t number = pif_map_get(&w->string_numbers, key);
    if (number != PIF_NONE)
        return number;
    size_t n_shared = 0, most = pif_shared_max(w->n_shared_bytes, w->n_stated_bytes);
    while (w->last_string && n_shared < most && text[n_shared] &&
           text[n_shared] == w->last_string[n_shared])
        n_shared++;
    w->last_string = text;
    size_t len = strlen(text + n_shared);
    w->n_shared_bytes += n_shared;
    w->n_stated_bytes += len;
    pm_buf_add_uleb(&w->strings, n_shared);
    pm_buf_add_uleb(&w->strings, len);
    pm_buf_add(&w->strings, text + n_shared, len);
    number_put(w, &w->string_numbers, key, ++w->n_strings);
    return w->n_strings;
}

static uint32_t slice_number(struct writer *w, const char *p, size_t len)
{
    const char *text = pm_intern_add(w->own, p, len);
    w->failed |= !text;
    return text && len ? string_number(w, text) : 0;
}

/* Takes what stands in block and puts it out under kind; nothing when it is empty. */
static void end_block(struct writer *w, struct pm_buf *out, enum pif_block kind)
{
    if (w->block.len) {
        pm_buf_add_uleb(out, kind);
        pm_buf_add_uleb(out, w->block.len);
        pm_buf_add(out, w->block.data, w->block.len);
    }
    w->failed |= w->block.failed;
    pm_buf_clear(&w->block);
}

/* --- nouns --- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Decimal digits, zero-ended; returns how many. */
static size_t put_digits(char out[12], uint32_t number)
{
    char digits[10];
    size_t n = 0;
    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    for (size_t i = 0; i < n; i++)
        out[i] = digits[n - 1 - i];
    out[n] = 0;
    return n;
}

/* Finds the line in the name, from its end, as a whole number, and the column behind it. */
static struct template template_of(struct writer *w, const struct pm_pif_noun *noun)
{
    struct template template = {0};
    char line[12], column[13];
    size_t len = strlen(noun->name), digits, column_len;
    if (!noun->line || len > 2 * PIF_AFFIX_MAX_BYTES)
        return template;
    digits = put_digits(line, noun->line);
    column[0] = ':';
    column_len = 1 + put_digits(column + 1, noun->column);
    for (size_t at = len >= digits ? len - digits + 1 : 0; at-- > 0;) {
        const char *p = noun->name + at;
        if (*p != line[0] || memcmp(p, line, digits) || is_digit(p[digits]) ||
            (at && is_digit(p[-1])))
            continue;
        size_t end = at + digits;
        if (noun->column && !strncmp(noun->name + end, column, column_len) &&
            !is_digit(noun->name[end + column_len])) {
            template.with_column = true;
            end += column_len;
        }
        if (at + (len - end) > PIF_AFFIX_MAX_BYTES)
            return (struct template){0};
        template.prefix_bytes = (uint8_t)at;
        template.suffix_bytes = (uint8_t)(len - end);
        char key[PIF_AFFIX_MAX_BYTES + 2];
        key[0] = (char)template.prefix_bytes;
        key[1] = (char)template.with_column;
        memcpy(key + 2, noun->name, at);
        memcpy(key + 2 + at, noun->name + end, len - end);
        template.affixes = pm_intern_add(w->own, key, 2 + at + (len - end));
        w->failed |= !template.affixes;
        return template;
    }
    return template;
}

/* A name is made only where enough names are made alike. */
static void find_templates(struct writer *w)
{
    const struct pm_pif *pif = w->pif;
    w->templates = pm_alloc_array(pif->nouns.n, sizeof *w->templates);
    if (!w->templates) {
        w->failed = true;
        return;
    }
    for (size_t i = 0; i < pif->nouns.n && !w->failed; i++) {
        w->templates[i] = template_of(w, &pif->nouns.items[i].noun);
        uint64_t key = (uint64_t)(uintptr_t)w->templates[i].affixes;
        uint32_t n_uses = key ? pif_map_get(&w->template_uses, key) : 0;
        if (key && (n_uses == PIF_NONE || n_uses < TEMPLATE_MIN_USES))
            number_put(w, &w->template_uses, key, n_uses == PIF_NONE ? 1 : n_uses + 1);
    }
    for (size_t i = 0; i < pif->nouns.n && !w->failed; i++)
        if (w->templates[i].affixes &&
            pif_map_get(&w->template_uses, (uint64_t)(uintptr_t)w->templates[i].affixes) <
                TEMPLATE_MIN_USES)
            w->templates[i].affixes = NULL;
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names that are stated, and linkage names, come sorted: those of templates have hundreds of
 * bytes in common, and so have a function and its variables. */
static void number_names(struct writer *w)
{
    const struct pm_pif *pif = w->pif;
    const char **names = pm_alloc_array(2 * pif->nouns.n + 1, sizeof *names);
    size_t n = 0;
    w->failed |= !names;
    for (size_t i = 0; i < pif->nouns.n && !w->failed; i++) {
        const struct pm_pif_noun *noun = &pif->nouns.items[i].noun;
        if (!w->templates[i].affixes && noun->name)
            names[n++] = noun->name;
        if (noun->linkage)
            names[n++] = noun->linkage;
    }
    if (n)
        qsort(names, n, sizeof *names, compare_text);
    for (size_t i = 0; i < n && !w->failed; i++)
        string_number(w, names[i]);
    free(names);
}

/* The nearest ancestor of a kind, over nouns that all come before (so that the reader has them
 * already); PIF_NONE: none. */
static uint32_t ancestor(const struct pm_pif *pif, uint32_t index, const char *kind)
{
    for (int step = 0; step < PIF_ANCESTORS_MAX; step++) {
        pm_id parent = pif->nouns.items[index].noun.parent;
        uint32_t at = parent ? pif_map_get(&pif->noun_by_id, parent) : PIF_NONE;
        if (at == PIF_NONE || at >= index)
            return PIF_NONE;
        const char *have = pif->nouns.items[at].noun.kind;
        if (have && !strcmp(have, kind))
            return at;
        index = at;
    }
    return PIF_NONE;
}

/* The path from which a statement's or loop's id was made, NULL when it was not made so. */
static const char *path_of_id(struct writer *w, uint32_t index, bool is_loop)
{
    const struct pm_pif *pif = w->pif;
    const struct pm_pif_noun *noun = &pif->nouns.items[index].noun;
    uint32_t function = ancestor(pif, index, "function"), file = ancestor(pif, index, "file");
    if (function == PIF_NONE)
        return NULL;
    const char *tried[4] = {w->path_tried, noun->file};
    if (file != PIF_NONE) {
        tried[2] = pif->nouns.items[file].noun.file;
        tried[3] = pif->nouns.items[file].noun.name;
    }
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
        if (tried[i] && pif_place_id(is_loop, pif->nouns.items[function].noun.id, tried[i],
                                     noun->line, noun->column) == noun->id)
            return w->path_tried = tried[i];
    return NULL;
}

static struct class_key class_of(struct writer *w, uint32_t index)
{
    const struct pm_pif *pif = w->pif;
    const struct pif_noun *item = &pif->nouns.items[index];
    const struct pm_pif_noun *noun = &item->noun;
    const struct template *template = &w->templates[index];
    struct class_key key = {.level = *noun->level ? string_number(w, noun->level) : 0,
                            .kind = string_number(w, noun->kind),
                            .file = string_number(w, noun->file)};
    bool is_loop = noun->kind && !strcmp(noun->kind, "loop");
    bool is_statement = noun->kind && !strcmp(noun->kind, "statement");
    const char *path = is_loop || is_statement ? path_of_id(w, index, is_loop) : NULL;
    if (path) {
        key.facts |= is_loop ? PIF_FACT_ID_LOOP : PIF_FACT_ID_STATEMENT;
        key.path = string_number(w, path);
    } else if (noun->id != pm_pif_name_id(noun->level, noun->name)) {
        key.facts |= PIF_FACT_ID;
    }
    if (template->affixes) {
        key.facts |= template->with_column ? PIF_FACT_NAME_COLUMN : PIF_FACT_NAME_LINE;
        key.prefix = slice_number(w, noun->name, template->prefix_bytes);
        key.suffix = slice_number(w, noun->name + strlen(noun->name) - template->suffix_bytes,
                                  template->suffix_bytes);
    }
    if (noun->parent)
        key.facts |= pif_map_get(&pif->noun_by_id, noun->parent) == PIF_NONE ? PIF_FACT_PARENT_ID
                                                                             : PIF_FACT_PARENT;
    const struct {
        bool is_stated;
        unsigned fact;
    } facts[] = {{noun->line != 0, PIF_FACT_LINE},
                 {noun->column != 0, PIF_FACT_COLUMN},
                 {noun->end_line != 0, PIF_FACT_END_LINE},
                 {noun->type != NULL, PIF_FACT_TYPE},
                 {noun->linkage != NULL, PIF_FACT_LINKAGE},
                 {noun->description != NULL, PIF_FACT_DESCRIPTION},
                 {noun->address != NULL, PIF_FACT_ADDRESS},
                 {!item->declared, PIF_FACT_MENTIONED}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (facts[i].is_stated)
            key.facts |= facts[i].fact;
    return key;
}

static uint32_t class_number(struct writer *w, struct class_key key)
{
    const char *bytes = pm_intern_add(w->own, (const char *)&key, sizeof key);
    w->failed |= !bytes;
    uint32_t number = bytes ? pif_map_get(&w->class_numbers, (uint64_t)(uintptr_t)bytes) : 0;
    if (number != PIF_NONE)
        return number;
    uint32_t members[] = {key.level,  key.kind,   key.file, key.path,
                          key.prefix, key.suffix, key.facts};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        pm_buf_add_uleb(&w->classes, members[i]);
    number_put(w, &w->class_numbers, (uint64_t)(uintptr_t)bytes, w->n_classes);
    return w->n_classes++;
}

static void write_nouns(struct writer *w)
{
    const struct pm_pif *pif = w->pif;
    struct pm_buf *b = &w->block;
    uint32_t last_class = PIF_NONE;
    int64_t last_parent = 0, last_line = 0;
    if (pif->nouns.n)
        pm_buf_add_uleb(b, pif->nouns.n);
    for (uint32_t i = 0; i < pif->nouns.n && !w->failed; i++) {
        const struct pm_pif_noun *noun = &pif->nouns.items[i].noun;
        struct class_key class = class_of(w, i);
        uint32_t number = class_number(w, class);
        pm_buf_add_uleb(b, number == last_class ? 0 : (uint64_t)number + 1);
        last_class = number;
        if (class.facts & PIF_FACT_ID)
            add_fixed(b, noun->id, 8);
        if (!(class.facts & (PIF_FACT_NAME_LINE | PIF_FACT_NAME_COLUMN)))
            pm_buf_add_uleb(b, *noun->name ? string_number(w, noun->name) : 0);
        if (class.facts & PIF_FACT_PARENT) {
            int64_t parent = pif_map_get(&pif->noun_by_id, noun->parent);
            pm_buf_add_sleb(b, parent - last_parent);
            last_parent = parent;
        }
        if (class.facts & PIF_FACT_PARENT_ID)
            add_fixed(b, noun->parent, 8);
        if (class.facts & PIF_FACT_LINE) {
            pm_buf_add_sleb(b, noun->line - last_line);
            last_line = noun->line;
        }
        if (class.facts & PIF_FACT_COLUMN)
            pm_buf_add_uleb(b, noun->column);
        if (class.facts & PIF_FACT_END_LINE)
            pm_buf_add_sleb(b, (int64_t)noun->end_line - noun->line);
        const char *const texts[] = {noun->type, noun->linkage, noun->description, noun->address};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            if (texts[k])
                pm_buf_add_uleb(b, string_number(w, texts[k]));
    }
}

/* --- the rest --- */

static void write_levels(struct writer *w)
{
    for (size_t i = 0; i < w->pif->levels.n; i++) {
        const struct pif_level *level = &w->pif->levels.items[i];
        pm_buf_add_uleb(&w->block, *level->name ? string_number(w, level->name) : 0);
        pm_buf_add_uleb(&w->block, string_number(w, level->above));
        pm_buf_add_uleb(&w->block, string_number(w, level->extra));
    }
}

static void write_verbs(struct writer *w)
{
    for (size_t i = 0; i < w->pif->verbs.n; i++) {
        const struct pif_verb *item = &w->pif->verbs.items[i];
        bool with_id = item->verb.id != pm_pif_verb_id(item->verb.level, item->verb.name);
        unsigned flags = with_id ? PIF_VERB_ID : 0u;
        if (!item->declared)
            flags |= PIF_VERB_MENTIONED;
        pm_buf_add_uleb(&w->block, flags);
        pm_buf_add_uleb(&w->block, *item->verb.level ? string_number(w, item->verb.level) : 0);
        pm_buf_add_uleb(&w->block, *item->verb.name ? string_number(w, item->verb.name) : 0);
        pm_buf_add_uleb(&w->block, string_number(w, item->verb.description));
        pm_buf_add_uleb(&w->block, string_number(w, item->extra));
        if (with_id)
            add_fixed(&w->block, item->verb.id, 8);
    }
}

static void write_attributes(struct writer *w)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < w->pif->nouns.n; i++) {
        uint32_t at = w->pif->nouns.items[i].first_attribute;
        for (; at != PIF_NONE; at = w->pif->attributes.items[at].next) {
            const struct pif_attribute *attribute = &w->pif->attributes.items[at];
            pm_buf_add_uleb(&w->block, i - last);
            pm_buf_add_uleb(&w->block, string_number(w, attribute->key));
            pm_buf_add_uleb(&w->block, *attribute->value ? string_number(w, attribute->value) : 0);
            last = i;
        }
    }
}

static uint32_t noun_number(struct writer *w, pm_id id)
{
    uint32_t index = pif_map_get(&w->pif->noun_by_id, id);
    if (index != PIF_NONE)
        return index;
    index = pif_map_get(&w->foreign_noun_numbers, id);
    return (uint32_t)w->pif->nouns.n + (index == PIF_NONE ? 0 : index);
}

static uint32_t verb_number(struct writer *w, pm_id id)
{
    uint32_t index = pif_map_get(&w->pif->verb_by_id, id);
    if (index != PIF_NONE)
        return index;
    index = pif_map_get(&w->foreign_verb_numbers, id);
    return (uint32_t)w->pif->verbs.n + (index == PIF_NONE ? 0 : index);
}

static uint32_t list_foreign(struct writer *w, struct pm_buf *list, struct pif_map *numbers,
                             uint32_t n, pm_id id)
{
    if (pif_map_get(numbers, id) != PIF_NONE)
        return n;
    add_fixed(list, id, 8);
    number_put(w, numbers, id, n);
    return n + 1;
}

/* Ids in sentences that no noun or verb of this chunk has. */
static void write_foreign(struct writer *w)
{
    const struct pm_pif *pif = w->pif;
    struct pm_buf nouns = PM_BUF_INIT(CHUNK_MAX_BYTES), verbs = PM_BUF_INIT(CHUNK_MAX_BYTES);
    uint32_t n_nouns = 0, n_verbs = 0;
    for (size_t i = 0; i < pif->sentence_nouns.n; i++)
        if (pif_map_get(&pif->noun_by_id, pif->sentence_nouns.items[i]) == PIF_NONE)
            n_nouns = list_foreign(w, &nouns, &w->foreign_noun_numbers, n_nouns,
                                   pif->sentence_nouns.items[i]);
    for (size_t i = 0; i < pif->sentences.n; i++)
        if (pif_map_get(&pif->verb_by_id, pif->sentences.items[i].verb) == PIF_NONE)
            n_verbs = list_foreign(w, &verbs, &w->foreign_verb_numbers, n_verbs,
                                   pif->sentences.items[i].verb);
    if (n_nouns || n_verbs) {
        pm_buf_add_uleb(&w->block, n_nouns);
        pm_buf_add(&w->block, nouns.data, nouns.len);
        pm_buf_add(&w->block, verbs.data, verbs.len);
    }
    w->failed |= nouns.failed || verbs.failed;
    pm_buf_release(&nouns);
    pm_buf_release(&verbs);
}

/* Sentences are numbered by first use; last_nouns: by side and position. */
struct sentence_state {
    struct pif_map numbers;
    uint32_t n, last_source, last_destination;
    int64_t last_nouns[2][PM_PIF_MAX_NOUNS];
};

/* 0: the sentence last used on this side; even 2k: k-th last of all; odd: a new one with shape code
 * / 2 = verb * 9 + n_nouns. */
static uint32_t write_sentence(struct writer *w, struct sentence_state *state, int side,
                               uint32_t last, uint32_t index)
{
    const struct pif_sentence *sentence = &w->pif->sentences.items[index];
    uint32_t number = pif_map_get(&state->numbers, index);
    if (number != PIF_NONE) {
        pm_buf_add_uleb(&w->block, number == last ? 0 : 2 * (uint64_t)(state->n - number));
        return number;
    }
    uint64_t shape =
        (uint64_t)verb_number(w, sentence->verb) * (PM_PIF_MAX_NOUNS + 1) + sentence->n_nouns;
    pm_buf_add_uleb(&w->block, 2 * shape + 1);
    for (uint32_t i = 0; i < sentence->n_nouns; i++) {
        int64_t noun = noun_number(w, w->pif->sentence_nouns.items[sentence->first_noun + i]);
        pm_buf_add_sleb(&w->block, noun - state->last_nouns[side][i]);
        state->last_nouns[side][i] = noun;
    }
    number_put(w, &state->numbers, index, state->n);
    return state->n++;
}

static bool same_facts(const struct pif_mapping *a, const struct pif_mapping *b)
{
    return a->weight == b->weight && a->origin == b->origin && a->extra == b->extra;
}

static void write_run(struct writer *w, struct sentence_state *state, const struct pif_mapping *run,
                      size_t n)
{
    pm_buf_add_uleb(&w->block, n);
    pm_buf_add_uleb(&w->block, string_number(w, run->origin));
    pm_buf_add_uleb(&w->block, string_number(w, run->extra));
    pm_buf_add_uleb(&w->block, run->weight > 0);
    if (run->weight > 0) {
        uint64_t bits;
        memcpy(&bits, &run->weight, sizeof bits);
        add_fixed(&w->block, bits, 8);
    }
    for (size_t i = 0; i < n; i++) {
        state->last_source = write_sentence(w, state, 0, state->last_source, run[i].source);
        state->last_destination =
            write_sentence(w, state, 1, state->last_destination, run[i].destination);
    }
}

static void write_mappings(struct writer *w)
{
    struct sentence_state state = {.last_source = PIF_NONE, .last_destination = PIF_NONE};
    const struct pif_mapping *items = w->pif->mappings.items;
    for (size_t i = 0, n; i < w->pif->mappings.n && !w->failed; i += n) {
        for (n = 1; i + n < w->pif->mappings.n && same_facts(&items[i], &items[i + n]); n++)
            ;
        write_run(w, &state, items + i, n);
    }
    pif_map_release(&state.numbers);
}

/* Blocks of counted items: the strings and classes come first in the chunk, but are known last. */
static void add_counted(struct pm_buf *out, enum pif_block kind, uint32_t n,
                        const struct pm_buf *items)
{
    struct pm_buf count = PM_BUF_INIT(16);
    pm_buf_add_uleb(&count, n);
    pm_buf_add_uleb(out, kind);
    pm_buf_add_uleb(out, count.len + items->len);
    pm_buf_add(out, count.data, count.len);
    pm_buf_add(out, items->data, items->len);
    out->failed |= count.failed || items->failed;
    pm_buf_release(&count);
}

static void write_blocks(struct writer *w, struct pm_buf *out)
{
    find_templates(w);
    if (!w->failed)
        number_names(w);
    if (w->failed)
        return;
    struct pm_buf blocks = PM_BUF_INIT(CHUNK_MAX_BYTES);
    pm_buf_add_uleb(&w->block, string_number(w, w->pif->producer));
    end_block(w, &blocks, PIF_BLOCK_PRODUCER);
    write_levels(w);
    end_block(w, &blocks, PIF_BLOCK_LEVELS);
    write_nouns(w);
    end_block(w, &blocks, PIF_BLOCK_NOUNS);
    write_verbs(w);
    end_block(w, &blocks, PIF_BLOCK_VERBS);
    write_foreign(w);
    end_block(w, &blocks, PIF_BLOCK_FOREIGN);
    write_mappings(w);
    end_block(w, &blocks, PIF_BLOCK_MAPPINGS);
    write_attributes(w);
    end_block(w, &blocks, PIF_BLOCK_ATTRIBUTES);
    for (size_t i = 0; i < w->pif->raw.n; i++)
        pm_buf_add_str(&w->block, w->pif->raw.items[i]);
    end_block(w, &blocks, PIF_BLOCK_RAW);
    add_counted(out, PIF_BLOCK_STRINGS, w->n_strings, &w->strings);
    add_counted(out, PIF_BLOCK_CLASSES, w->n_classes, &w->classes);
    pm_buf_add(out, blocks.data, blocks.len);
    w->failed |= blocks.failed;
    pm_buf_release(&blocks);
}

/* --- chunks --- */

/* Small chunks gain little, and what is not names (statements, mappings) has little to compress. */
static bool worth_compressing(const struct writer *w, const struct pm_buf *payload)
{
    enum { COMPRESS_MIN_BYTES = 4096 };
    return payload->len >= COMPRESS_MIN_BYTES && w->strings.len > payload->len / 2;
}

/* Payload of a compressed chunk; false when the chunk is better left as it is. */
static bool compress_payload(const struct writer *w, const struct pm_buf *payload,
                             struct pm_buf *ret_compressed)
{
    /* nlohmann-json's unit-readme.cpp, 1 155 kB: level 1 177 kB in 4.9 ms, 4 165 in 6.7, 6 158
     * in 9.6. */
    enum { COMPRESS_LEVEL = 4 };
    uLongf len = compressBound(payload->len);
    Bytef *stream = pm_alloc_array(len, 1);
    bool compressed = stream && compress2(stream, &len, (const Bytef *)payload->data, payload->len,
                                          COMPRESS_LEVEL) == Z_OK;
    compressed = compressed && len < payload->len / 2 && payload->len <= PIF_COMPRESSED_MAX * len &&
                 w->n_shared_bytes <= pif_compressed_shared_max(len);
    if (compressed) {
        add_fixed(ret_compressed, payload->len, 4);
        pm_buf_add(ret_compressed, stream, len);
    }
    free(stream);
    return compressed && !ret_compressed->failed;
}

static void add_chunk(struct pm_buf *out, unsigned major, const struct pm_buf *payload)
{
    pm_buf_add_str(out, PIF_CHUNK_MAGIC);
    add_fixed(out, major, 2);
    add_fixed(out, PIF_CHUNK_MINOR, 2);
    add_fixed(out, payload->len, 4);
    add_fixed(out, XXH32(payload->data, payload->len, 0), 4);
    pm_buf_add(out, payload->data, payload->len);
}

static void write_chunk(const struct pm_pif *pif, bool may_compress, struct pm_buf *out)
{
    struct writer w = {.pif = pif,
                       .own = pm_intern_new(),
                       .strings = PM_BUF_INIT(CHUNK_MAX_BYTES),
                       .classes = PM_BUF_INIT(CHUNK_MAX_BYTES),
                       .block = PM_BUF_INIT(CHUNK_MAX_BYTES)};
    struct pm_buf payload = PM_BUF_INIT(CHUNK_MAX_BYTES), compressed = PM_BUF_INIT(CHUNK_MAX_BYTES);
    w.failed = !w.own || pif->failed;
    if (!w.failed)
        write_blocks(&w, &payload);
    if (w.failed || payload.failed)
        out->failed = true;
    else if (may_compress && worth_compressing(&w, &payload) &&
             compress_payload(&w, &payload, &compressed))
        add_chunk(out, PIF_CHUNK_MAJOR_COMPRESSED, &compressed);
    else
        add_chunk(out, PIF_CHUNK_MAJOR, &payload);
    pm_buf_release(&payload);
    pm_buf_release(&compressed);
    pm_buf_release(&w.strings);
    pm_buf_release(&w.classes);
    pm_buf_release(&w.block);
    pif_map_release(&w.string_numbers);
    pif_map_release(&w.class_numbers);
    pif_map_release(&w.template_uses);
    pif_map_release(&w.foreign_noun_numbers);
    pif_map_release(&w.foreign_verb_numbers);
    free(w.templates);
    pm_intern_free(w.own);
}

void pm_pif_write_compact(const struct pm_pif *pif, struct pm_buf *out)
{
    write_chunk(pif, false, out);
}

void pm_pif_write_compressed(const struct pm_pif *pif, struct pm_buf *out)
{
    write_chunk(pif, true, out);
}
