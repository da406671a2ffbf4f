/* Compact PIF, the reading side: docs/formats/pif-section.md.
 *
 * A chunk is decoded as a whole before anything of it is added, so that a damaged one leaves no
 * trace. Every number is checked against the count that it is an index to, and every count against
 * the bytes that are left. */
#include "pif_chunk.h"

#include <math.h>
#include <stdlib.h>
#include <zlib.h>

struct noun_class {
    const char *level, *kind, *file, *path, *prefix, *suffix; /* NULL: not stated */
    uint32_t facts;
};

struct decoded_noun {
    struct pm_pif_noun noun;
    uint32_t parent_number; /* PIF_NONE: parent is an id or not stated */
    bool mentioned;
};

struct decoded_sentence {
    uint32_t verb, n_nouns, first_noun; /* in sentence_nouns */
};

struct reader {
    struct pm_pif *pif;
    const char *name;
    struct pm_error *err;
    const char *section;                   /* its first byte: offsets in messages count from it */
    size_t chunk_at;                       /* offset of the chunk */
    const char *blocks_begin, *blocks_end; /* decompressed, NULL: the section's own */
    size_t n_shared_max;
    enum pm_status status;
    struct pm_str blocks[PIF_N_BLOCKS];
    struct pm_cursor c; /* in the block that is read */

    const char **strings; /* of number 1 and on; [0] is NULL */
    struct noun_class *classes;
    struct decoded_noun *nouns;
    struct pm_pif_verb *verbs;
    const char **verb_extras;
    bool *verb_mentioned;
    pm_id *foreign;
    size_t n_strings, n_classes, n_nouns, n_verbs, n_foreign_nouns, n_foreign_verbs;
    size_t n_shared_bytes, n_stated_bytes; /* of strings */
    PIF_VEC(struct decoded_sentence) sentences;
    PIF_VEC(uint32_t) sentence_nouns;
    PIF_VEC(uint32_t) touched;
};

/* --- damage --- */

/* The one place where damage is reported: a handy breakpoint. False. */
static bool PM_PRINTF(4, 5)
    damaged(struct reader *r, enum pm_status status, const void *at, const char *format, ...)
{
    if (r->status != PM_OK)
        return false;
    r->status = status;
    struct pm_buf text = PM_BUF_INIT(4096);
    va_list args;
    va_start(args, format);
    pm_buf_vprintf(&text, format, args);
    va_end(args);
    const char *where = at, *what = text.data ? text.data : "";
    if (r->blocks_begin && where >= r->blocks_begin && where <= r->blocks_end)
        pm_error_set(r->err, status, "PIF section of '%s' byte %zu, decompressed byte %zu: %s",
                     r->name, r->chunk_at, (size_t)(where - r->blocks_begin), what);
    else
        pm_error_set(r->err, status, "PIF section of '%s' byte %zu: %s", r->name,
                     (size_t)(where - r->section), what);
    pm_buf_release(&text);
    return false;
}

static bool no_memory(struct reader *r)
{
    r->pif->failed = true;
    return damaged(r, PM_ERR_MEMORY, r->section, "no memory for its records");
}

/* --- numbers --- */

static bool number(struct reader *r, uint64_t max, const char *what, uint64_t *ret_number)
{
    const void *at = r->c.p;
    if (!pm_cursor_uleb(&r->c, ret_number))
        return damaged(r, PM_ERR_FORMAT, at, "%s is cut off or too long", what);
    if (*ret_number > max)
        return damaged(r, PM_ERR_FORMAT, at, "%s is %llu, at most %llu is possible", what,
                       (unsigned long long)*ret_number, (unsigned long long)max);
    return true;
}

static bool number32(struct reader *r, const char *what, uint32_t *ret_number)
{
    uint64_t value;
    if (!number(r, UINT32_MAX, what, &value))
        return false;
    *ret_number = (uint32_t)value;
    return true;
}

/* base + a signed difference, from 0 to max. */
static bool difference(struct reader *r, uint64_t base, uint64_t max, const char *what,
                       uint32_t *ret_number)
{
    const void *at = r->c.p;
    int64_t less;
    if (!pm_cursor_sleb(&r->c, &less))
        return damaged(r, PM_ERR_FORMAT, at, "%s is cut off or too long", what);
    uint64_t value = base + (uint64_t)less; /* modulo 2^64: a negative sum is above max */
    if (value > max)
        return damaged(r, PM_ERR_FORMAT, at, "%s is out of range", what);
    *ret_number = (uint32_t)value;
    return true;
}

static bool fixed(struct reader *r, const char *what, uint64_t *ret_value)
{
    const void *at = r->c.p;
    struct pm_str bytes;
    if (!pm_cursor_bytes(&r->c, 8, &bytes))
        return damaged(r, PM_ERR_FORMAT, at, "%s is cut off", what);
    *ret_value = 0;
    for (int i = 0; i < 8; i++)
        *ret_value |= (uint64_t)(unsigned char)bytes.p[i] << (8 * i);
    return true;
}

static bool fixed_id(struct reader *r, const char *what, pm_id *ret_id)
{
    const void *at = r->c.p;
    if (!fixed(r, what, ret_id))
        return false;
    return *ret_id ? true : damaged(r, PM_ERR_FORMAT, at, "%s is zero", what);
}

static bool string(struct reader *r, const char *what, const char **ret_text)
{
    uint64_t n;
    if (!number(r, r->n_strings, what, &n))
        return false;
    *ret_text = r->strings[n];
    return true;
}

/* A count of items that take at least one byte each; room for them, one more than asked. */
static bool items(struct reader *r, const char *what, size_t item_bytes, size_t *ret_n,
                  void **ret_items)
{
    uint64_t n;
    if (!number(r, (uint64_t)(r->c.end - r->c.p), what, &n))
        return false;
    *ret_items = pm_alloc_array((size_t)n + 1, item_bytes);
    if (!*ret_items)
        return no_memory(r);
    *ret_n = (size_t)n;
    return true;
}

static bool block_begin(struct reader *r, enum pif_block kind)
{
    pm_cursor_init(&r->c, r->blocks[kind].p, r->blocks[kind].len);
    return r->blocks[kind].len > 0;
}

static bool block_end(struct reader *r, const char *what)
{
    if (r->status != PM_OK)
        return false;
    if (r->c.p == r->c.end)
        return true;
    return damaged(r, PM_ERR_FORMAT, r->c.p, "%zu bytes behind the %s", (size_t)(r->c.end - r->c.p),
                   what);
}

/* --- strings, classes, nouns --- */

/* text: the string before, and then this one. */
static bool read_string(struct reader *r, struct pm_buf *text, const char **ret_string)
{
    const void *at = r->c.p;
    uint64_t n_shared, len;
    struct pm_str bytes;
    size_t most = pif_shared_max(r->n_shared_bytes, r->n_stated_bytes);
    if (!number(r, text->len < most ? text->len : most, "shared part of a string", &n_shared) ||
        !number(r, (uint64_t)(r->c.end - r->c.p), "length of a string", &len))
        return false;
    if (!pm_cursor_bytes(&r->c, (size_t)len, &bytes))
        return damaged(r, PM_ERR_FORMAT, at, "a string is cut off");
    if (memchr(bytes.p, 0, bytes.len))
        return damaged(r, PM_ERR_FORMAT, at, "a string holds a zero byte");
    r->n_shared_bytes += (size_t)n_shared;
    if (r->n_shared_bytes > r->n_shared_max)
        return damaged(r, PM_ERR_LIMIT, at, "the strings unfold to too much");
    r->n_stated_bytes += bytes.len;
    text->len = (size_t)n_shared;
    pm_buf_add(text, bytes.p, bytes.len);
    *ret_string = text->failed ? NULL : pif_intern(r->pif, (struct pm_str){text->data, text->len});
    return *ret_string ? true : no_memory(r);
}

static bool read_strings(struct reader *r)
{
    void *room;
    if (!block_begin(r, PIF_BLOCK_STRINGS)) {
        r->strings = pm_alloc_array(1, sizeof *r->strings);
        return r->strings ? true : no_memory(r);
    }
    if (!items(r, "number of strings", sizeof *r->strings, &r->n_strings, &room))
        return false;
    r->strings = room;
    struct pm_buf text = PM_BUF_INIT(SIZE_MAX / 2);
    bool sound = true;
    for (size_t i = 1; sound && i <= r->n_strings; i++)
        sound = read_string(r, &text, &r->strings[i]);
    pm_buf_release(&text);
    return sound && block_end(r, "strings");
}

static size_t length_of(const char *text)
{
    return text ? strlen(text) : 0;
}

static bool read_class(struct reader *r, struct noun_class *class)
{
    const void *at = r->c.p;
    uint64_t facts;
    if (!string(r, "level", &class->level) || !string(r, "kind", &class->kind) ||
        !string(r, "file", &class->file) || !string(r, "path", &class->path) ||
        !string(r, "prefix", &class->prefix) || !string(r, "suffix", &class->suffix) ||
        !number(r, PIF_FACTS_ALL, "set of facts", &facts))
        return false;
    class->facts = (uint32_t)facts;
    unsigned made_id = class->facts & (PIF_FACT_ID | PIF_FACT_ID_LOOP | PIF_FACT_ID_STATEMENT);
    unsigned made_name = class->facts & (PIF_FACT_NAME_LINE | PIF_FACT_NAME_COLUMN);
    unsigned parents = class->facts & (PIF_FACT_PARENT | PIF_FACT_PARENT_ID);
    if ((made_id & (made_id - 1)) || (made_name & (made_name - 1)) || (parents & (parents - 1)))
        return damaged(r, PM_ERR_FORMAT, at, "a class states one fact in two ways");
    if (!class->path && (made_id & (PIF_FACT_ID_LOOP | PIF_FACT_ID_STATEMENT)))
        return damaged(r, PM_ERR_FORMAT, at, "a class makes ids without a path");
    if (made_name && length_of(class->prefix) + length_of(class->suffix) > PIF_AFFIX_MAX_BYTES)
        return damaged(r, PM_ERR_LIMIT, at, "prefix and suffix of a class have more than %d bytes",
                       PIF_AFFIX_MAX_BYTES);
    return true;
}

static bool read_classes(struct reader *r)
{
    void *room;
    if (!block_begin(r, PIF_BLOCK_CLASSES))
        return true;
    if (!items(r, "number of classes", sizeof *r->classes, &r->n_classes, &room))
        return false;
    r->classes = room;
    for (size_t i = 0; i < r->n_classes; i++)
        if (!read_class(r, &r->classes[i]))
            return false;
    return block_end(r, "classes");
}

/* A name such as "heat.c:42:7". */
static bool make_name(struct reader *r, const struct noun_class *class, struct pm_pif_noun *noun)
{
    char text[PIF_AFFIX_MAX_BYTES + 32];
    int len = snprintf(text, sizeof text, "%s%u", class->prefix ? class->prefix : "", noun->line);
    if (class->facts & PIF_FACT_NAME_COLUMN)
        len += snprintf(text + len, sizeof text - (size_t)len, ":%u", noun->column);
    len +=
        snprintf(text + len, sizeof text - (size_t)len, "%s", class->suffix ? class->suffix : "");
    noun->name = pif_intern(r->pif, (struct pm_str){text, (size_t)len});
    return noun->name ? true : no_memory(r);
}

/* The id of a statement or loop; the function that it is made from is an ancestor that came before.
 */
static bool make_id(struct reader *r, const struct noun_class *class, size_t index)
{
    struct decoded_noun *item = &r->nouns[index];
    size_t at = index;
    for (int step = 0; step < PIF_ANCESTORS_MAX; step++) {
        uint32_t parent = r->nouns[at].parent_number;
        if (parent == PIF_NONE || parent >= at)
            break;
        at = parent;
        if (r->nouns[at].noun.kind && !strcmp(r->nouns[at].noun.kind, "function")) {
            item->noun.id = pif_place_id(class->facts & PIF_FACT_ID_LOOP, r->nouns[at].noun.id,
                                         class->path, item->noun.line, item->noun.column);
            return true;
        }
    }
    return damaged(r, PM_ERR_FORMAT, r->c.p, "noun %zu has no function to make its id from", index);
}

struct noun_state {
    uint32_t class, parent, line;
};

static bool read_noun(struct reader *r, struct noun_state *state, size_t index)
{
    struct decoded_noun *item = &r->nouns[index];
    struct pm_pif_noun *noun = &item->noun;
    const void *at = r->c.p;
    uint64_t code;
    if (!number(r, r->n_classes, "class of a noun", &code))
        return false;
    state->class = code ? (uint32_t)code - 1 : state->class;
    if (state->class >= r->n_classes)
        return damaged(r, PM_ERR_FORMAT, at, "the first noun states no class");
    const struct noun_class *class = &r->classes[state->class];
    unsigned facts = class->facts;
    noun->level = class->level ? class->level : "";
    noun->kind = class->kind;
    noun->file = class->file;
    item->mentioned = facts & PIF_FACT_MENTIONED;
    item->parent_number = PIF_NONE;
    bool made_name = facts & (PIF_FACT_NAME_LINE | PIF_FACT_NAME_COLUMN);
    if (((facts & PIF_FACT_ID) && !fixed_id(r, "id of a noun", &noun->id)) ||
        (!made_name && !string(r, "name of a noun", &noun->name)))
        return false;
    if (facts & PIF_FACT_PARENT) {
        if (!difference(r, state->parent, r->n_nouns - 1, "parent of a noun", &item->parent_number))
            return false;
        state->parent = item->parent_number;
    }
    if ((facts & PIF_FACT_PARENT_ID) && !fixed_id(r, "parent of a noun", &noun->parent))
        return false;
    if (facts & PIF_FACT_LINE) {
        if (!difference(r, state->line, UINT32_MAX, "line of a noun", &noun->line))
            return false;
        state->line = noun->line;
    }
    if (((facts & PIF_FACT_COLUMN) && !number32(r, "column of a noun", &noun->column)) ||
        ((facts & PIF_FACT_END_LINE) &&
         !difference(r, noun->line, UINT32_MAX, "end line of a noun", &noun->end_line)) ||
        ((facts & PIF_FACT_TYPE) && !string(r, "type of a noun", &noun->type)) ||
        ((facts & PIF_FACT_LINKAGE) && !string(r, "linkage of a noun", &noun->linkage)) ||
        ((facts & PIF_FACT_DESCRIPTION) &&
         !string(r, "description of a noun", &noun->description)) ||
        ((facts & PIF_FACT_ADDRESS) && !string(r, "address of a noun", &noun->address)) ||
        (made_name && !make_name(r, class, noun)))
        return false;
    noun->name = noun->name ? noun->name : "";
    if (facts & (PIF_FACT_ID_LOOP | PIF_FACT_ID_STATEMENT))
        return make_id(r, class, index);
    noun->id = noun->id ? noun->id : pm_pif_name_id(noun->level, noun->name);
    return true;
}

static bool read_nouns(struct reader *r)
{
    struct noun_state state = {.class = PIF_NONE};
    void *room;
    if (!block_begin(r, PIF_BLOCK_NOUNS))
        return true;
    if (!items(r, "number of nouns", sizeof *r->nouns, &r->n_nouns, &room))
        return false;
    r->nouns = room;
    for (size_t i = 0; i < r->n_nouns; i++)
        if (!read_noun(r, &state, i))
            return false;
    for (size_t i = 0; i < r->n_nouns; i++)
        if (r->nouns[i].parent_number != PIF_NONE)
            r->nouns[i].noun.parent = r->nouns[r->nouns[i].parent_number].noun.id;
    return block_end(r, "nouns");
}

/* --- verbs, foreign ids --- */

static bool read_verbs(struct reader *r)
{
    size_t n_max = r->blocks[PIF_BLOCK_VERBS].len / 5; /* a verb takes at least five bytes */
    if (!block_begin(r, PIF_BLOCK_VERBS))
        return true;
    r->verbs = pm_alloc_array(n_max + 1, sizeof *r->verbs);
    r->verb_extras = pm_alloc_array(n_max + 1, sizeof *r->verb_extras);
    r->verb_mentioned = pm_alloc_array(n_max + 1, sizeof *r->verb_mentioned);
    if (!r->verbs || !r->verb_extras || !r->verb_mentioned)
        return no_memory(r);
    for (; r->c.p < r->c.end; r->n_verbs++) {
        struct pm_pif_verb *verb = &r->verbs[r->n_verbs];
        uint64_t flags;
        if (!number(r, PIF_VERB_ID | PIF_VERB_MENTIONED, "flags of a verb", &flags) ||
            !string(r, "level of a verb", &verb->level) ||
            !string(r, "name of a verb", &verb->name) ||
            !string(r, "description of a verb", &verb->description) ||
            !string(r, "keys of a verb", &r->verb_extras[r->n_verbs]) ||
            ((flags & PIF_VERB_ID) && !fixed_id(r, "id of a verb", &verb->id)))
            return false;
        verb->level = verb->level ? verb->level : "";
        verb->name = verb->name ? verb->name : "";
        verb->id = verb->id ? verb->id : pm_pif_verb_id(verb->level, verb->name);
        r->verb_mentioned[r->n_verbs] = flags & PIF_VERB_MENTIONED;
    }
    return true;
}

static bool read_foreign(struct reader *r)
{
    if (!block_begin(r, PIF_BLOCK_FOREIGN))
        return true;
    uint64_t n_nouns;
    if (!number(r, r->blocks[PIF_BLOCK_FOREIGN].len / 8, "number of ids", &n_nouns))
        return false;
    size_t left = (size_t)(r->c.end - r->c.p);
    if (left % 8 || left / 8 < n_nouns)
        return damaged(r, PM_ERR_FORMAT, r->c.p, "%llu ids of 8 bytes do not fit into %zu bytes",
                       (unsigned long long)n_nouns, left);
    r->n_foreign_nouns = (size_t)n_nouns;
    r->n_foreign_verbs = left / 8 - r->n_foreign_nouns;
    r->foreign = pm_alloc_array(left / 8 + 1, sizeof *r->foreign);
    if (!r->foreign)
        return no_memory(r);
    for (size_t i = 0; i < left / 8; i++)
        if (!fixed_id(r, "an id", &r->foreign[i]))
            return false;
    return true;
}

static pm_id noun_id(const struct reader *r, uint32_t number)
{
    return number < r->n_nouns ? r->nouns[number].noun.id : r->foreign[number - r->n_nouns];
}

static pm_id verb_id(const struct reader *r, uint32_t number)
{
    return number < r->n_verbs ? r->verbs[number].id
                               : r->foreign[r->n_foreign_nouns + number - r->n_verbs];
}

/* --- mappings --- */

/* Lines of "key = value" with keys that are words: what the text writer puts out as they are. */
static bool extra_is_sound(const char *extra)
{
    while (extra && *extra) {
        const char *equals = strchr(extra, '='), *end = strchr(extra, '\n');
        if (!equals || !end || equals > end)
            return false;
        const char *key = extra + strspn(extra, " \t"), *key_end = equals;
        while (key_end > key && (key_end[-1] == ' ' || key_end[-1] == '\t'))
            key_end--;
        if (!pif_key_is_valid((struct pm_str){key, (size_t)(key_end - key)}))
            return false;
        extra = end + 1;
    }
    return true;
}

static bool check_extras(struct reader *r, const char *extra)
{
    return extra_is_sound(extra)
               ? true
               : damaged(r, PM_ERR_FORMAT, r->c.p, "keys that are not 'key = value'");
}

struct mapping_state {
    bool adding; /* the second time, when all is known to be sound */
    uint32_t last[2];
    uint32_t last_nouns[2][PM_PIF_MAX_NOUNS];
};

static bool new_sentence(struct reader *r, struct mapping_state *state, int side, uint64_t shape,
                         const void *at)
{
    uint64_t verb = shape / (PM_PIF_MAX_NOUNS + 1);
    struct decoded_sentence sentence = {.verb = (uint32_t)verb,
                                        .n_nouns = (uint32_t)(shape % (PM_PIF_MAX_NOUNS + 1)),
                                        .first_noun = (uint32_t)r->sentence_nouns.n};
    size_t n_nouns = r->n_nouns + r->n_foreign_nouns;
    if (verb >= r->n_verbs + r->n_foreign_verbs)
        return damaged(r, PM_ERR_FORMAT, at, "verb %llu is not declared (%zu verbs)",
                       (unsigned long long)verb, r->n_verbs + r->n_foreign_verbs);
    if (sentence.n_nouns && !n_nouns)
        return damaged(r, PM_ERR_FORMAT, at, "a sentence has nouns, the chunk has none");
    for (uint32_t i = 0; i < sentence.n_nouns; i++) {
        uint32_t *last = &state->last_nouns[side][i];
        if (!difference(r, *last, n_nouns - 1, "noun of a sentence", last))
            return false;
        if (!PIF_PUSH(r->pif, &r->sentence_nouns, *last))
            return no_memory(r);
    }
    state->last[side] = (uint32_t)r->sentences.n;
    return PIF_PUSH(r->pif, &r->sentences, sentence) ? true : no_memory(r);
}

static bool read_sentence(struct reader *r, struct mapping_state *state, int side,
                          struct pm_pif_sentence *ret_sentence)
{
    const void *at = r->c.p;
    uint64_t code;
    if (!number(r, UINT64_MAX, "a sentence", &code))
        return false;
    if (code % 2) {
        if (!new_sentence(r, state, side, code / 2, at))
            return false;
    } else if (code) {
        if (code / 2 > r->sentences.n)
            return damaged(r, PM_ERR_FORMAT, at, "sentence %llu before the first",
                           (unsigned long long)(code / 2));
        state->last[side] = (uint32_t)(r->sentences.n - code / 2);
    } else if (state->last[side] == PIF_NONE) {
        return damaged(r, PM_ERR_FORMAT, at, "the first mapping repeats a sentence");
    }
    const struct decoded_sentence *sentence = &r->sentences.items[state->last[side]];
    *ret_sentence =
        (struct pm_pif_sentence){.verb = verb_id(r, sentence->verb), .n_nouns = sentence->n_nouns};
    for (uint32_t i = 0; i < sentence->n_nouns; i++)
        ret_sentence->nouns[i] = noun_id(r, r->sentence_nouns.items[sentence->first_noun + i]);
    return true;
}

/* Mappings that share weight, origin and unknown keys. */
static bool read_run(struct reader *r, struct mapping_state *state)
{
    struct pm_pif_mapping mapping = {0};
    const char *extra;
    const void *at = r->c.p;
    uint64_t n, weighted;
    if (!number(r, (uint64_t)(r->c.end - r->c.p), "number of mappings", &n) ||
        !string(r, "origin of mappings", &mapping.origin) ||
        !string(r, "keys of mappings", &extra) || !check_extras(r, extra) ||
        !number(r, 1, "flag of a weight", &weighted))
        return false;
    if (weighted) {
        uint64_t bits;
        if (!fixed(r, "weight of mappings", &bits))
            return false;
        memcpy(&mapping.weight, &bits, sizeof bits);
        if (!isfinite(mapping.weight) || mapping.weight <= 0)
            return damaged(r, PM_ERR_FORMAT, at, "a weight is not a number above 0");
    }
    for (; n; n--) {
        if (!read_sentence(r, state, 0, &mapping.source) ||
            !read_sentence(r, state, 1, &mapping.destination))
            return false;
        uint32_t index = state->adding ? pif_add_mapping(r->pif, &mapping, extra) : PIF_NONE;
        if (index != PIF_NONE)
            (void)PIF_PUSH(r->pif, &r->pif->order, (struct pif_order){PIF_ORDER_MAPPING, index});
        if (r->pif->failed)
            return no_memory(r);
    }
    return true;
}

static bool read_mappings(struct reader *r, bool adding)
{
    struct mapping_state state = {.adding = adding, .last = {PIF_NONE, PIF_NONE}};
    r->sentences.n = r->sentence_nouns.n = 0;
    if (block_begin(r, PIF_BLOCK_MAPPINGS))
        while (r->c.p < r->c.end)
            if (!read_run(r, &state))
                return false;
    return true;
}

/* --- levels, attributes, unknown records: decoded twice, as mappings --- */

static bool read_levels(struct reader *r, bool adding)
{
    if (!block_begin(r, PIF_BLOCK_LEVELS))
        return true;
    while (r->c.p < r->c.end) {
        const char *name, *above, *extra;
        if (!string(r, "name of a level", &name) || !string(r, "level below", &above) ||
            !string(r, "keys of a level", &extra) || !check_extras(r, extra))
            return false;
        if (!adding)
            continue;
        uint32_t index = pif_add_level(r->pif, name ? name : "", above);
        if (index == PIF_NONE)
            return no_memory(r);
        struct pif_level *level = &r->pif->levels.items[index];
        level->extra = level->extra ? level->extra : extra;
    }
    return true;
}

static bool read_attributes(struct reader *r, bool adding)
{
    uint32_t noun = 0;
    if (!block_begin(r, PIF_BLOCK_ATTRIBUTES))
        return true;
    while (r->c.p < r->c.end) {
        const void *at = r->c.p;
        const char *key, *value;
        uint64_t more;
        if (!number(r, r->n_nouns, "noun of an attribute", &more) ||
            !string(r, "key of an attribute", &key) || !string(r, "value of an attribute", &value))
            return false;
        if (noun + more >= r->n_nouns || !key || !pif_key_is_valid(pm_str_of(key)) ||
            pif_key_is_own(pm_str_of(key)))
            return damaged(r, PM_ERR_FORMAT, at, "an attribute without a noun or a key");
        noun += (uint32_t)more;
        if (adding)
            pm_pif_noun_attribute(r->pif, r->nouns[noun].noun.id, key, value);
    }
    return true;
}

static bool read_producer(struct reader *r, bool adding)
{
    const char *producer;
    if (!block_begin(r, PIF_BLOCK_PRODUCER))
        return true;
    if (!string(r, "producer", &producer))
        return false;
    if (adding && !r->pif->producer)
        r->pif->producer = producer;
    return block_end(r, "producer");
}

/* --- a chunk --- */

static bool add_verbs(struct reader *r)
{
    for (size_t i = 0; i < r->n_verbs; i++) {
        if (r->verb_mentioned[i] ? pif_add_verb(r->pif, &r->verbs[i], false) == PIF_NONE
                                 : !pm_pif_verb(r->pif, &r->verbs[i]))
            return no_memory(r);
        struct pif_verb *verb =
            &r->pif->verbs.items[pif_map_get(&r->pif->verb_by_id, r->verbs[i].id)];
        verb->extra = verb->extra ? verb->extra : r->verb_extras[i];
    }
    return true;
}

static bool add_nouns(struct reader *r)
{
    for (size_t i = 0; i < r->n_nouns; i++) {
        const struct decoded_noun *item = &r->nouns[i];
        if (item->mentioned ? pif_add_noun(r->pif, &item->noun, false) == PIF_NONE
                            : !pm_pif_noun(r->pif, &item->noun))
            return no_memory(r);
        if (item->noun.parent &&
            !PIF_PUSH(r->pif, &r->touched, pif_map_get(&r->pif->noun_by_id, item->noun.id)))
            return no_memory(r);
    }
    uint32_t circle = pif_cut_circle(r->pif, r->touched.items, r->touched.n);
    if (circle != PIF_NONE)
        return damaged(r, PM_ERR_FORMAT, r->blocks[PIF_BLOCK_NOUNS].p,
                       "noun '%.60s' is its own ancestor", r->pif->nouns.items[circle].noun.name);
    return true;
}

static bool find_blocks(struct reader *r, const char *payload, size_t len)
{
    pm_cursor_init(&r->c, payload, len);
    while (r->c.p < r->c.end) {
        const void *at = r->c.p;
        uint64_t kind, size;
        struct pm_str bytes;
        if (!number(r, UINT64_MAX, "kind of a block", &kind) ||
            !number(r, (uint64_t)(r->c.end - r->c.p), "length of a block", &size))
            return false;
        if (!pm_cursor_bytes(&r->c, (size_t)size, &bytes))
            return damaged(r, PM_ERR_FORMAT, at, "a block is cut off");
        if (kind == 0 || kind >= PIF_N_BLOCKS)
            continue; /* of a later minor version */
        if (r->blocks[kind].p)
            return damaged(r, PM_ERR_FORMAT, at, "block %llu comes twice",
                           (unsigned long long)kind);
        r->blocks[kind] = bytes;
    }
    return true;
}

/* What needs no table of its own. First without adding, to know that it is sound. */
static bool read_before_nouns(struct reader *r, bool adding)
{
    return read_producer(r, adding) && read_levels(r, adding);
}

static bool read_after_nouns(struct reader *r, bool adding)
{
    return read_attributes(r, adding) && read_mappings(r, adding);
}

static bool read_raw(struct reader *r)
{
    struct pm_str raw = r->blocks[PIF_BLOCK_RAW];
    if (!raw.len)
        return true;
    struct pm_error err = PM_ERROR_INIT;
    enum pm_status status = pm_pif_read_text(r->pif, r->name, raw.p, raw.len, &err);
    if (status != PM_OK)
        damaged(r, status, raw.p, "%s", pm_error_text(&err));
    pm_error_release(&err);
    return status == PM_OK;
}

static void read_payload(struct reader *r, const char *payload, size_t len)
{
    bool sound = find_blocks(r, payload, len) && read_strings(r) && read_classes(r) &&
                 read_nouns(r) && read_verbs(r) && read_foreign(r) && read_before_nouns(r, false) &&
                 read_after_nouns(r, false);
    for (size_t i = 0; sound && i < r->n_verbs; i++)
        sound = check_extras(r, r->verb_extras[i]);
    if (sound && read_before_nouns(r, true) && add_verbs(r) && add_nouns(r) &&
        read_after_nouns(r, true))
        read_raw(r);
    free(r->strings);
    free(r->classes);
    free(r->nouns);
    free(r->verbs);
    free(r->verb_extras);
    free(r->verb_mentioned);
    free(r->foreign);
    free(r->sentences.items);
    free(r->sentence_nouns.items);
    free(r->touched.items);
}

static uint32_t little_endian(const char *p, int n_bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < n_bytes; i++)
        value |= (uint32_t)(unsigned char)p[i] << (8 * i);
    return value;
}

static void read_compressed(struct reader *r, const char *payload, size_t len)
{
    size_t size = 0, stream_len = 0;
    if (len >= 4) {
        size = little_endian(payload, 4);
        stream_len = len - 4;
    }
    if (!size || size > PIF_COMPRESSED_MAX * stream_len) {
        damaged(r, PM_ERR_FORMAT, payload, "the chunk would decompress from %zu bytes to %zu",
                stream_len, size);
        return;
    }
    char *blocks = pm_alloc_array(size, 1);
    uLongf decompressed = size;
    uLong used = stream_len;
    if (!blocks) {
        no_memory(r);
        return;
    }
    if (uncompress2((Bytef *)blocks, &decompressed, (const Bytef *)payload + 4, &used) != Z_OK ||
        decompressed != size || used != stream_len) {
        damaged(r, PM_ERR_FORMAT, payload, "the chunk's %zu bytes do not decompress to %zu",
                stream_len, size);
    } else {
        r->blocks_begin = blocks;
        r->blocks_end = blocks + size;
        r->n_shared_max = pif_compressed_shared_max(stream_len);
        read_payload(r, blocks, size);
    }
    free(blocks);
}

/* One chunk at p; ret_len: its whole length. */
static enum pm_status read_chunk(struct reader *r, const char *p, size_t left, size_t *ret_len)
{
    if (left < PIF_CHUNK_HEADER_BYTES || memcmp(p, PIF_CHUNK_MAGIC, 4)) {
        damaged(r, PM_ERR_FORMAT, p,
                "no chunk begins here ('" PIF_CHUNK_MAGIC "' and %d bytes of header were expected)",
                PIF_CHUNK_HEADER_BYTES);
        return r->status;
    }
    uint32_t major = little_endian(p + 4, 2), size = little_endian(p + 8, 4),
             sum = little_endian(p + 12, 4);
    const char *payload = p + PIF_CHUNK_HEADER_BYTES;
    if (major != PIF_CHUNK_MAJOR && major != PIF_CHUNK_MAJOR_COMPRESSED)
        damaged(r, PM_ERR_VERSION, p,
                "this chunk is of version %u, this program reads versions %d and %d", major,
                PIF_CHUNK_MAJOR, PIF_CHUNK_MAJOR_COMPRESSED);
    else if (size > left - PIF_CHUNK_HEADER_BYTES)
        damaged(r, PM_ERR_FORMAT, p, "the chunk has %u bytes, only %zu are there", size,
                left - PIF_CHUNK_HEADER_BYTES);
    else if (XXH32(payload, size, 0) != sum)
        damaged(r, PM_ERR_FORMAT, p, "the checksum of the chunk's %u bytes is wrong", size);
    else
        (major == PIF_CHUNK_MAJOR ? read_payload : read_compressed)(r, payload, size);
    *ret_len = PIF_CHUNK_HEADER_BYTES + (size_t)size;
    return r->status;
}

enum pm_status pm_pif_read_compact(struct pm_pif *pif, const char *name, const void *bytes,
                                   size_t len, struct pm_error *err)
{
    const char *p = len ? bytes : "", *end = p + len;
    if (pif->failed)
        return pm_error_set(err, PM_ERR_MEMORY, "PIF section of '%s': no memory for its records",
                            name);
    while (p < end) {
        if (*p == 0) {
            p++;
            continue;
        }
        struct reader r = {.pif = pif,
                           .name = name,
                           .err = err,
                           .section = bytes,
                           .chunk_at = (size_t)(p - (const char *)bytes),
                           .n_shared_max = SIZE_MAX};
        size_t chunk_len = 0;
        enum pm_status status = read_chunk(&r, p, (size_t)(end - p), &chunk_len);
        if (status != PM_OK)
            return status;
        p += chunk_len;
    }
    return PM_OK;
}
