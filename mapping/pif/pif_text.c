/* PIF text, the reading side: docs/formats/pif.md.
 *
 * One pass over the lines makes nouns, verbs and levels and puts mappings and parents aside, for
 * they may name what comes later; when the file ends, or at the first malformed record, the names
 * are resolved. */
#include "pif_model.h"

#include <stdlib.h>

enum {
    LINE_MAX_BYTES = 1 << 20,
    FILE_MAX_BYTES = 1 << 30,
    SHOWN_BYTES = 60, /* of the input, in a message */
    ID_DIGITS = 16,
};

enum key {
    KEY_NAME,
    KEY_ABSTRACTION,
    KEY_DESCRIPTION,
    KEY_KIND,
    KEY_PARENT,
    KEY_FILE,
    KEY_LINE,
    KEY_COLUMN,
    KEY_END_LINE,
    KEY_TYPE,
    KEY_LINKAGE,
    KEY_ADDRESS,
    KEY_ID,
    KEY_SOURCE,
    KEY_DESTINATION,
    KEY_WEIGHT,
    KEY_ORIGIN,
    KEY_ABOVE,
    N_KEYS /* any other */
};

static const struct pm_str key_names[N_KEYS] = {
    {"name", 4},    {"abstraction", 11}, {"description", 11}, {"kind", 4},     {"parent", 6},
    {"file", 4},    {"line", 4},         {"column", 6},       {"end_line", 8}, {"type", 4},
    {"linkage", 7}, {"address", 7},      {"id", 2},           {"source", 6},   {"destination", 11},
    {"weight", 6},  {"origin", 6},       {"above", 5},
};

static enum key key_of(struct pm_str text)
{
    int key = 0;
    while (key < N_KEYS && !pm_str_eq(text, key_names[key]))
        key++;
    return (enum key)key;
}

struct field {
    struct pm_str key, value;
    enum key key_no;
    struct pm_str line; /* whole, without its end */
    unsigned line_no;
};

/* A name in a mapping or a parent, still to be resolved. */
struct pending_mapping {
    struct field source, destination;
    double weight;
    const char *origin, *extra;
};
struct pending_parent {
    uint32_t noun;
    struct field field;
};

struct reader {
    struct pm_pif *pif;
    const char *name; /* for messages */
    struct pm_error *err;
    struct pm_str record; /* its header word; empty before the first */
    unsigned record_line_no;
    bool started;                 /* something other than comments was read */
    PIF_VEC(struct field) fields; /* of the record */
    PIF_VEC(struct pending_mapping) mappings;
    PIF_VEC(struct pending_parent) parents;
    PIF_VEC(uint32_t) touched; /* nouns declared here */
    struct pm_buf scratch;
};

#define SHOWN(text) (int)((text).len < SHOWN_BYTES ? (text).len : SHOWN_BYTES), (text).p

static enum pm_status PM_PRINTF(4, 5)
    refuse(struct reader *r, unsigned line_no, enum pm_status status, const char *format, ...)
{
    struct pm_buf text = PM_BUF_INIT(4096);
    va_list args;
    va_start(args, format);
    pm_buf_vprintf(&text, format, args);
    va_end(args);
    pm_error_set(r->err, status, "PIF file '%s' line %u: %s", r->name, line_no,
                 text.data ? text.data : "");
    pm_buf_release(&text);
    return status;
}

static enum pm_status no_memory(struct reader *r)
{
    r->pif->failed = true;
    return pm_error_set(r->err, PM_ERR_MEMORY, "PIF file '%s': no memory for its records", r->name);
}

/* --- values --- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct pm_str trimmed(struct pm_str text)
{
    while (text.len && is_blank(text.p[0]))
        text.p++, text.len--;
    while (text.len && is_blank(text.p[text.len - 1]))
        text.len--;
    return text;
}

/* Of \n, \t and \r. */
static char letter_meant(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    default:
        return '\r';
    }
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static bool parse_id(struct pm_str text, pm_id *ret_id)
{
    pm_id id = 0;
    if (text.len != ID_DIGITS)
        return false;
    for (size_t i = 0; i < ID_DIGITS; i++) {
        int digit = hex_digit(text.p[i]);
        if (digit < 0)
            return false;
        id = id << 4 | (unsigned)digit;
    }
    *ret_id = id;
    return id != 0;
}

/* Decodes what stands between quotes; at begins with the opening one and is moved behind the
 * closing one. False with the reason. */
static bool parse_quoted(struct reader *r, struct pm_str *at, const char **ret_text,
                         const char **ret_why)
{
    pm_buf_clear(&r->scratch);
    pm_buf_add(&r->scratch, "", 0);
    size_t i = 1;
    for (; i < at->len && at->p[i] != '"'; i++) {
        char c = at->p[i];
        if (c == '\\' && i + 1 < at->len) {
            c = at->p[++i];
            if (c == 'x' && i + 2 < at->len && hex_digit(at->p[i + 1]) >= 0 &&
                hex_digit(at->p[i + 2]) >= 0) {
                c = (char)(hex_digit(at->p[i + 1]) * 16 + hex_digit(at->p[i + 2]));
                i += 2;
            } else if (c == 'n' || c == 't' || c == 'r') {
                c = letter_meant(c);
            } else if (c != '"' && c != '\\') {
                *ret_why =
                    "after a backslash, one of \\ \" n t r or x and two hex digits was expected";
                return false;
            }
        }
        if (c == 0) {
            *ret_why = "a zero byte cannot be in a name or value";
            return false;
        }
        pm_buf_add_byte(&r->scratch, (unsigned char)c);
    }
    if (i >= at->len) {
        *ret_why = "the closing quote is missing";
        return false;
    }
    at->p += i + 1;
    at->len -= i + 1;
    *ret_text = r->scratch.failed
                    ? NULL
                    : pif_intern(r->pif, (struct pm_str){r->scratch.data, r->scratch.len});
    r->pif->failed |= !*ret_text;
    return true;
}

/* A text value: bare as it is, or all of it in quotes. A value that only begins with a quote is
 * bare, as in the paper. Interned. */
static const char *text_value(struct reader *r, const struct field *field)
{
    if (field->value.len >= 2 && field->value.p[0] == '"') {
        struct pm_str at = field->value;
        const char *text, *why;
        if (parse_quoted(r, &at, &text, &why) && at.len == 0)
            return text;
    }
    return pif_intern(r->pif, field->value);
}

/* A name or level that stands alone: bare or in quotes. */
static enum pm_status name_value(struct reader *r, const struct field *field, const char **ret_name)
{
    struct pm_str at = field->value;
    const char *why = "expected nothing after the closing quote";
    if (at.len == 0)
        return refuse(r, field->line_no, PM_ERR_FORMAT, "'%.*s' is empty", SHOWN(field->key));
    if (at.p[0] == '"') {
        if (!parse_quoted(r, &at, ret_name, &why) || at.len)
            return refuse(r, field->line_no, PM_ERR_FORMAT, "%s '%.*s': %s", "quoted name",
                          SHOWN(field->value), why);
    } else {
        *ret_name = pif_intern(r->pif, at);
    }
    return r->pif->failed ? no_memory(r) : PM_OK;
}

static enum pm_status number_value(struct reader *r, const struct field *field,
                                   uint32_t *ret_number)
{
    uint64_t number;
    if (!pm_str_to_u64(field->value, UINT32_MAX, &number))
        return refuse(r, field->line_no, PM_ERR_FORMAT,
                      "%.*s '%.*s' is not a whole number up to 4294967295", SHOWN(field->key),
                      SHOWN(field->value));
    *ret_number = (uint32_t)number;
    return PM_OK;
}

static enum pm_status id_value(struct reader *r, const struct field *field, pm_id *ret_id)
{
    if (!parse_id(field->value, ret_id))
        return refuse(r, field->line_no, PM_ERR_FORMAT,
                      "id '%.*s' is not 16 hex digits other than zero", SHOWN(field->value));
    return PM_OK;
}

/* --- names that lead to nouns and verbs --- */

/* Moves at over a bare word up to a comma, brace, quote or "::". */
static struct pm_str bare_part(struct pm_str *at)
{
    struct pm_str part = {at->p, 0};
    while (part.len < at->len && !strchr(",{}\"", at->p[part.len]) &&
           !(at->p[part.len] == ':' && part.len + 1 < at->len && at->p[part.len + 1] == ':'))
        part.len++;
    at->p += part.len;
    at->len -= part.len;
    return trimmed(part);
}

static bool skip(struct pm_str *at, const char *text)
{
    size_t len = strlen(text);
    if (at->len < len || memcmp(at->p, text, len))
        return false;
    at->p += len;
    at->len -= len;
    return true;
}

/* [level::]name[#id] or #id; at is moved behind it and the blanks that follow. NULL, or why it is
 * none. */
static const char *parse_reference(struct reader *r, struct pm_str *at,
                                   struct pm_pif_reference *ret_reference)
{
    struct pm_pif_reference reference = {0};
    const char *why;
    bool more = true;
    *at = trimmed(*at);
    while (more) {
        const char *text = NULL;
        struct pm_str bare = {0};
        bool quoted = at->len && at->p[0] == '"';
        if (quoted) {
            if (!parse_quoted(r, at, &text, &why))
                return why;
            if (at->len > ID_DIGITS && at->p[0] == '#' &&
                parse_id((struct pm_str){at->p + 1, ID_DIGITS}, &reference.id)) {
                at->p += ID_DIGITS + 1;
                at->len -= ID_DIGITS + 1;
            }
        } else {
            bare = bare_part(at);
            size_t before_id = bare.len > ID_DIGITS ? bare.len - ID_DIGITS : 0;
            struct pm_str id = {bare.p + before_id, bare.len - before_id};
            if (before_id && bare.p[before_id - 1] == '#' && parse_id(id, &reference.id))
                bare.len = before_id - 1;
            text = pif_intern(r->pif, bare);
        }
        more = !reference.level && !reference.id && skip(at, "::");
        if (more)
            reference.level = text;
        else if (quoted || bare.len)
            reference.name = text;
        else if (!reference.id)
            return "a name was expected";
    }
    *at = trimmed(*at);
    if (at->len && at->p[0] == '"')
        return "a name with quotes must be in quotes";
    if (at->len && at->p[0] == ':')
        return "a name with '::' must be in quotes";
    *ret_reference = reference;
    return NULL;
}

/* Counts those of the chain of equal names that fit; ret_index: the last of them. At most 2 are
 * counted. level NULL: any. */
static int n_fitting(struct reader *r, bool is_verb, const char *name, const char *level, bool here,
                     uint32_t *ret_index)
{
    const struct pm_pif *pif = r->pif;
    int n = 0;
    uint32_t at =
        pif_map_get(is_verb ? &pif->verb_by_name : &pif->noun_by_name, (uint64_t)(uintptr_t)name);
    while (at != PIF_NONE && n < 2) {
        struct pif_named named = pif_named(pif, is_verb, at);
        if ((!level || level == named.level) &&
            (!here || (named.declared && named.read_no == pif->read_no))) {
            *ret_index = at;
            n++;
        }
        at = named.next_same_name;
    }
    return n;
}

/* The order of trying: the id; here at level `near`; here; anywhere; else a noun or verb that is
 * only mentioned. */
static enum pm_status resolve(struct reader *r, bool is_verb, struct pm_pif_reference reference,
                              const char *near, unsigned line_no, pm_id *ret_id)
{
    if (r->pif->failed)
        return no_memory(r);
    if (reference.id && !reference.name) {
        *ret_id = reference.id;
        return PM_OK;
    }
    uint32_t index = PIF_NONE;
    int n = 0;
    if (!reference.id) {
        if (near && !reference.level)
            n = n_fitting(r, is_verb, reference.name, near, true, &index);
        if (n == 0)
            n = n_fitting(r, is_verb, reference.name, reference.level, true, &index);
        if (n == 0)
            n = n_fitting(r, is_verb, reference.name, reference.level, false, &index);
    }
    if (n > 1)
        return refuse(r, line_no, PM_ERR_FORMAT,
                      "more than one %s has the name '%.*s': write 'level::name' or 'name#id'",
                      is_verb ? "verb" : "noun", SHOWN(pm_str_of(reference.name)));
    if (n == 0)
        index = is_verb ? pif_mention_verb(r->pif, reference.id, reference.level, reference.name)
                        : pif_mention_noun(r->pif, reference.id, reference.level, reference.name);
    if (index == PIF_NONE)
        return no_memory(r);
    *ret_id = pif_named(r->pif, is_verb, index).id;
    return PM_OK;
}

static const char too_many_nouns[] = "a sentence has at most 8 nouns";
_Static_assert(PM_PIF_MAX_NOUNS == 8, "the message says 8");

/* {noun, noun, verb}; at is moved behind it. NULL, or why it is none. */
static const char *parse_sentence(struct reader *r, struct pm_str *at, unsigned *ret_n,
                                  struct pm_pif_reference references[PM_PIF_MAX_NOUNS + 1])
{
    unsigned n = 0;
    if (!skip(at, "{"))
        return "'{' was expected";
    for (;;) {
        if (n == PM_PIF_MAX_NOUNS + 1)
            return too_many_nouns;
        const char *why = parse_reference(r, at, &references[n++]);
        if (why)
            return why;
        *ret_n = n;
        if (skip(at, "}"))
            return NULL;
        if (!skip(at, ","))
            return "',' or '}' was expected";
    }
}

const char *pm_pif_read_references(struct pm_pif *pif, struct pm_str *text, unsigned *ret_n,
                                   struct pm_pif_reference ret_references[PM_PIF_MAX_NOUNS + 1])
{
    struct reader r = {.pif = pif, .scratch = PM_BUF_INIT(LINE_MAX_BYTES)};
    const char *why = parse_sentence(&r, text, ret_n, ret_references);
    pm_buf_release(&r.scratch);
    if (why)
        return why;
    return pif->failed ? "there is no memory for its names" : NULL;
}

static enum pm_status resolve_sentence(struct reader *r, const struct field *field,
                                       struct pm_pif_sentence *ret_sentence)
{
    struct pm_pif_reference references[PM_PIF_MAX_NOUNS + 1];
    unsigned n = 0;
    struct pm_str at = field->value;
    const char *why = parse_sentence(r, &at, &n, references);
    if (why == too_many_nouns)
        return refuse(r, field->line_no, PM_ERR_LIMIT, "%s", why);
    if (!why && trimmed(at).len)
        why = "expected nothing after '}'";
    if (why)
        return refuse(r, field->line_no, PM_ERR_FORMAT, "sentence '%.*s': %s", SHOWN(field->value),
                      why);
    *ret_sentence = (struct pm_pif_sentence){.n_nouns = n - 1};
    for (unsigned i = 0; i < n; i++) {
        pm_id *id = i == n - 1 ? &ret_sentence->verb : &ret_sentence->nouns[i];
        enum pm_status status = resolve(r, i == n - 1, references[i], NULL, field->line_no, id);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* --- records --- */

enum record_kind { RECORD_NOUN, RECORD_VERB, RECORD_LEVEL, RECORD_MAPPING, N_RECORDS };

#define BIT(key) (1u << (key))
static const struct {
    const char *name;
    unsigned keys;
} records[N_RECORDS] = {
    {"NOUN", BIT(KEY_ID + 1) - 1},
    {"VERB", BIT(KEY_NAME) | BIT(KEY_ABSTRACTION) | BIT(KEY_DESCRIPTION) | BIT(KEY_ID)},
    {"LEVEL", BIT(KEY_NAME) | BIT(KEY_ABOVE)},
    {"MAPPING", BIT(KEY_SOURCE) | BIT(KEY_DESTINATION) | BIT(KEY_WEIGHT) | BIT(KEY_ORIGIN)},
};

static enum record_kind kind_of(struct pm_str word)
{
    for (int kind = 0; kind < N_RECORDS; kind++)
        if (pm_str_is(word, records[kind].name))
            return (enum record_kind)kind;
    return N_RECORDS;
}

static bool is_known(unsigned keys, const struct field *field)
{
    return field->key_no != N_KEYS && (keys & BIT(field->key_no));
}

/* Sorts the record's fields by key; known[key] NULL: not stated. */
static enum pm_status known_fields(struct reader *r, unsigned keys,
                                   const struct field *known[N_KEYS])
{
    memset(known, 0, N_KEYS * sizeof *known);
    for (size_t i = 0; i < r->fields.n; i++) {
        const struct field *field = &r->fields.items[i];
        if (!is_known(keys, field))
            continue;
        if (known[field->key_no])
            return refuse(r, field->line_no, PM_ERR_FORMAT,
                          "'%.*s' is stated twice (first in line %u)", SHOWN(field->key),
                          known[field->key_no]->line_no);
        known[field->key_no] = field;
    }
    return PM_OK;
}

/* Unknown keys of the record as one text, NULL none. */
static const char *unknown_fields(struct reader *r, unsigned keys)
{
    const char *extra = NULL;
    for (size_t i = 0; i < r->fields.n; i++)
        if (!is_known(keys, &r->fields.items[i]))
            extra = pif_extra_add(r->pif, extra, r->fields.items[i].line);
    return extra;
}

static enum pm_status missing(struct reader *r, enum key key)
{
    return refuse(r, r->record_line_no, PM_ERR_FORMAT, "%.*s record without '%s'", SHOWN(r->record),
                  key_names[key].p);
}

static enum pm_status stated_text(struct reader *r, const struct field *field,
                                  const char **ret_text)
{
    if (field)
        *ret_text = text_value(r, field);
    return r->pif->failed ? no_memory(r) : PM_OK;
}

static enum pm_status stated_number(struct reader *r, const struct field *field,
                                    uint32_t *ret_number)
{
    return field ? number_value(r, field, ret_number) : PM_OK;
}

/* name, abstraction and id, which nouns and verbs share. */
static enum pm_status stated_names(struct reader *r, const struct field *const known[N_KEYS],
                                   const char **ret_name, const char **ret_level, pm_id *ret_id)
{
    if (!known[KEY_NAME])
        return missing(r, KEY_NAME);
    enum pm_status status = name_value(r, known[KEY_NAME], ret_name);
    if (status != PM_OK)
        return status;
    if (known[KEY_ABSTRACTION])
        status = name_value(r, known[KEY_ABSTRACTION], ret_level);
    if (status != PM_OK || !known[KEY_ID])
        return status;
    return id_value(r, known[KEY_ID], ret_id);
}

static enum pm_status end_noun(struct reader *r)
{
    const struct field *known[N_KEYS];
    struct pm_pif_noun noun = {0};
    enum pm_status status = known_fields(r, records[RECORD_NOUN].keys, known);
    if (status != PM_OK ||
        (status = stated_names(r, known, &noun.name, &noun.level, &noun.id)) != PM_OK ||
        (status = stated_text(r, known[KEY_DESCRIPTION], &noun.description)) != PM_OK ||
        (status = stated_text(r, known[KEY_KIND], &noun.kind)) != PM_OK ||
        (status = stated_text(r, known[KEY_FILE], &noun.file)) != PM_OK ||
        (status = stated_text(r, known[KEY_TYPE], &noun.type)) != PM_OK ||
        (status = stated_text(r, known[KEY_LINKAGE], &noun.linkage)) != PM_OK ||
        (status = stated_text(r, known[KEY_ADDRESS], &noun.address)) != PM_OK ||
        (status = stated_number(r, known[KEY_LINE], &noun.line)) != PM_OK ||
        (status = stated_number(r, known[KEY_COLUMN], &noun.column)) != PM_OK ||
        (status = stated_number(r, known[KEY_END_LINE], &noun.end_line)) != PM_OK)
        return status;
    pm_id id = pm_pif_noun(r->pif, &noun);
    if (!id)
        return no_memory(r);
    uint32_t index = pif_map_get(&r->pif->noun_by_id, id);
    r->pif->nouns.items[index].read_no = r->pif->read_no;
    if (!PIF_PUSH(r->pif, &r->touched, index) ||
        (known[KEY_PARENT] &&
         !PIF_PUSH(r->pif, &r->parents, (struct pending_parent){index, *known[KEY_PARENT]})))
        return no_memory(r);
    for (size_t i = 0; i < r->fields.n; i++) {
        const struct field *field = &r->fields.items[i];
        if (is_known(records[RECORD_NOUN].keys, field))
            continue;
        const char *key = pif_intern(r->pif, field->key), *value = text_value(r, field);
        if (!r->pif->failed)
            pm_pif_noun_attribute(r->pif, id, key, value);
    }
    return r->pif->failed ? no_memory(r) : PM_OK;
}

static enum pm_status end_verb(struct reader *r)
{
    const struct field *known[N_KEYS];
    struct pm_pif_verb verb = {0};
    enum pm_status status = known_fields(r, records[RECORD_VERB].keys, known);
    if (status != PM_OK ||
        (status = stated_names(r, known, &verb.name, &verb.level, &verb.id)) != PM_OK ||
        (status = stated_text(r, known[KEY_DESCRIPTION], &verb.description)) != PM_OK)
        return status;
    pm_id id = pm_pif_verb(r->pif, &verb);
    const char *extra = unknown_fields(r, records[RECORD_VERB].keys);
    if (!id || r->pif->failed)
        return no_memory(r);
    struct pif_verb *item = &r->pif->verbs.items[pif_map_get(&r->pif->verb_by_id, id)];
    item->read_no = r->pif->read_no;
    item->extra = item->extra ? item->extra : extra;
    return PM_OK;
}

static enum pm_status end_level(struct reader *r)
{
    const struct field *known[N_KEYS];
    const char *name, *above = NULL;
    enum pm_status status = known_fields(r, records[RECORD_LEVEL].keys, known);
    if (status != PM_OK)
        return status;
    if (!known[KEY_NAME])
        return missing(r, KEY_NAME);
    if ((status = name_value(r, known[KEY_NAME], &name)) != PM_OK ||
        (known[KEY_ABOVE] && (status = name_value(r, known[KEY_ABOVE], &above)) != PM_OK))
        return status;
    uint32_t index = pif_add_level(r->pif, name, above);
    const char *extra = unknown_fields(r, records[RECORD_LEVEL].keys);
    if (r->pif->failed)
        return no_memory(r);
    struct pif_level *level = &r->pif->levels.items[index];
    level->extra = level->extra ? level->extra : extra;
    return PM_OK;
}

static enum pm_status end_mapping(struct reader *r)
{
    const struct field *known[N_KEYS];
    struct pending_mapping pending = {0};
    enum pm_status status = known_fields(r, records[RECORD_MAPPING].keys, known);
    if (status != PM_OK)
        return status;
    if (!known[KEY_SOURCE])
        return missing(r, KEY_SOURCE);
    if (!known[KEY_DESTINATION])
        return missing(r, KEY_DESTINATION);
    pending.source = *known[KEY_SOURCE];
    pending.destination = *known[KEY_DESTINATION];
    if (known[KEY_WEIGHT] &&
        (!pm_str_to_double(known[KEY_WEIGHT]->value, &pending.weight) || pending.weight < 0))
        return refuse(r, known[KEY_WEIGHT]->line_no, PM_ERR_FORMAT,
                      "weight '%.*s' is not a number of 0 or more",
                      SHOWN(known[KEY_WEIGHT]->value));
    if ((status = stated_text(r, known[KEY_ORIGIN], &pending.origin)) != PM_OK)
        return status;
    pending.extra = unknown_fields(r, records[RECORD_MAPPING].keys);
    uint32_t index = (uint32_t)r->mappings.n;
    if (!PIF_PUSH(r->pif, &r->mappings, pending) ||
        !PIF_PUSH(r->pif, &r->pif->order, (struct pif_order){PIF_ORDER_PENDING, index}))
        return no_memory(r);
    return PM_OK;
}

static enum pm_status end_unknown(struct reader *r)
{
    struct pm_buf text = PM_BUF_INIT(FILE_MAX_BYTES);
    pm_buf_add(&text, r->record.p, r->record.len);
    pm_buf_add_byte(&text, '\n');
    for (size_t i = 0; i < r->fields.n; i++) {
        pm_buf_add(&text, r->fields.items[i].line.p, r->fields.items[i].line.len);
        pm_buf_add_byte(&text, '\n');
    }
    const char *copy =
        text.failed ? NULL : pif_intern(r->pif, (struct pm_str){text.data, text.len});
    pm_buf_release(&text);
    uint32_t index = (uint32_t)r->pif->raw.n;
    if (!copy || !PIF_PUSH(r->pif, &r->pif->raw, copy) ||
        !PIF_PUSH(r->pif, &r->pif->order, (struct pif_order){PIF_ORDER_RAW, index}))
        return no_memory(r);
    return PM_OK;
}

static enum pm_status end_record(struct reader *r)
{
    enum pm_status status = PM_OK;
    if (r->record.len) {
        switch (kind_of(r->record)) {
        case RECORD_NOUN:
            status = end_noun(r);
            break;
        case RECORD_VERB:
            status = end_verb(r);
            break;
        case RECORD_LEVEL:
            status = end_level(r);
            break;
        case RECORD_MAPPING:
            status = end_mapping(r);
            break;
        case N_RECORDS:
            status = end_unknown(r);
            break;
        }
    }
    r->fields.n = 0;
    r->record.len = 0;
    return status;
}

/* --- lines --- */

/* One letter more, less or other, or two swapped: most likely meant. */
static bool is_near(struct pm_str word, const char *meant)
{
    size_t len = strlen(meant), head = 0, tail = 0;
    size_t shorter = word.len < len ? word.len : len, longer = word.len + len - shorter;
    while (head < shorter && word.p[head] == meant[head])
        head++;
    while (tail < shorter - head && word.p[word.len - 1 - tail] == meant[len - 1 - tail])
        tail++;
    size_t differing = longer - head - tail;
    return differing <= 1 || (differing == 2 && word.len == len &&
                              word.p[head] == meant[head + 1] && word.p[head + 1] == meant[head]);
}

static enum pm_status begin_record(struct reader *r, struct pm_str line, unsigned line_no)
{
    struct pm_str word = trimmed(line);
    for (size_t i = 0; i < word.len; i++)
        if (!((word.p[i] >= 'A' && word.p[i] <= 'Z') ||
              (i && (word.p[i] == '_' || (word.p[i] >= '0' && word.p[i] <= '9')))))
            return refuse(
                r, line_no, PM_ERR_FORMAT,
                "'%.*s' is neither a record (NOUN, VERB, MAPPING, LEVEL) nor 'key = value'",
                SHOWN(word));
    if (kind_of(word) == N_RECORDS)
        for (int kind = 0; kind < N_RECORDS; kind++)
            if (is_near(word, records[kind].name))
                return refuse(r, line_no, PM_ERR_FORMAT,
                              "'%.*s' is not a record; did you mean '%s'?", SHOWN(word),
                              records[kind].name);
    r->record = word;
    r->record_line_no = line_no;
    return PM_OK;
}

static enum pm_status add_field(struct reader *r, struct pm_str line, const char *equals,
                                unsigned line_no)
{
    struct field field = {.line = line, .line_no = line_no};
    if (!r->record.len)
        return refuse(r, line_no, PM_ERR_FORMAT, "'%.*s' comes before the first record",
                      SHOWN(trimmed(line)));
    if (equals) {
        field.key = trimmed((struct pm_str){line.p, (size_t)(equals - line.p)});
        field.value =
            trimmed((struct pm_str){equals + 1, (size_t)(line.p + line.len - equals - 1)});
    }
    field.key_no = key_of(field.key);
    if (field.key_no == N_KEYS && !pif_key_is_valid(field.key) && kind_of(r->record) != N_RECORDS)
        return refuse(r, line_no, PM_ERR_FORMAT, "'%.*s' is not 'key = value'",
                      SHOWN(trimmed(line)));
    return PIF_PUSH(r->pif, &r->fields, field) ? PM_OK : no_memory(r);
}

/* "PIF 1 producer", but not "PIF = x" or "  PIF = x", which are fields. */
static bool is_version_line(struct pm_str line, struct pm_str *ret_rest)
{
    if (!skip(&line, "PIF") || (line.len && !is_blank(line.p[0])))
        return false;
    *ret_rest = trimmed(line);
    return !ret_rest->len || ret_rest->p[0] != '=';
}

static enum pm_status version_line(struct reader *r, struct pm_str rest, unsigned line_no)
{
    size_t len = 0;
    while (len < rest.len && !is_blank(rest.p[len]))
        len++;
    struct pm_str version = {rest.p, len};
    if (!pm_str_is(version, "1"))
        return refuse(r, line_no, PM_ERR_VERSION,
                      "this is PIF version '%.*s', this program reads version 1", SHOWN(version));
    struct field producer = {.value = trimmed((struct pm_str){rest.p + len, rest.len - len})};
    if (producer.value.len && !r->pif->producer)
        r->pif->producer = text_value(r, &producer);
    return r->pif->failed ? no_memory(r) : PM_OK;
}

static enum pm_status read_line(struct reader *r, struct pm_str line, unsigned line_no)
{
    while (line.len && line.p[line.len - 1] == '\r')
        line.len--; /* all of them, for the line may be kept and be read again */
    if (line.len > LINE_MAX_BYTES)
        return refuse(r, line_no, PM_ERR_LIMIT, "the line has %zu bytes, at most %d are read",
                      line.len, LINE_MAX_BYTES);
    if (memchr(line.p, 0, line.len))
        return refuse(r, line_no, PM_ERR_FORMAT, "a zero byte is not text");
    struct pm_str text = trimmed(line);
    if (text.len == 0 || text.p[0] == '#')
        return PM_OK;
    bool is_first = !r->started;
    r->started = true;
    struct pm_str rest;
    if (is_version_line(line, &rest))
        return is_first
                   ? version_line(r, rest, line_no)
                   : refuse(r, line_no, PM_ERR_FORMAT, "'%.*s' may only come first", SHOWN(line));
    const char *equals = memchr(line.p, '=', line.len);
    if (is_blank(line.p[0]) || equals)
        return add_field(r, line, equals, line_no);
    enum pm_status status = end_record(r);
    return status != PM_OK ? status : begin_record(r, line, line_no);
}

static enum pm_status read_lines(struct reader *r, const char *text, size_t len)
{
    const char *end = text + len;
    unsigned line_no = 0;
    if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
        text += 3;
    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        line_end = line_end ? line_end : end;
        enum pm_status status =
            read_line(r, (struct pm_str){text, (size_t)(line_end - text)}, ++line_no);
        if (status != PM_OK)
            return status;
        text = line_end < end ? line_end + 1 : end;
    }
    return end_record(r);
}

/* --- the end of the file: names --- */

static enum pm_status resolve_parents(struct reader *r)
{
    for (size_t i = 0; i < r->parents.n; i++) {
        const struct pending_parent *pending = &r->parents.items[i];
        struct pm_str at = pending->field.value;
        struct pm_pif_reference reference;
        const char *why = parse_reference(r, &at, &reference);
        if (!why && at.len)
            why = "a name with commas or braces must be in quotes";
        if (why)
            return refuse(r, pending->field.line_no, PM_ERR_FORMAT, "parent '%.*s': %s",
                          SHOWN(pending->field.value), why);
        pm_id parent;
        enum pm_status status =
            resolve(r, false, reference, r->pif->nouns.items[pending->noun].noun.level,
                    pending->field.line_no, &parent);
        if (status != PM_OK)
            return status;
        struct pm_pif_noun *noun = &r->pif->nouns.items[pending->noun].noun;
        noun->parent = noun->parent ? noun->parent : parent;
    }
    return PM_OK;
}

static enum pm_status resolve_mapping(struct reader *r, const struct pending_mapping *pending,
                                      uint32_t *ret_index)
{
    struct pm_pif_mapping mapping = {.weight = pending->weight, .origin = pending->origin};
    enum pm_status status = resolve_sentence(r, &pending->source, &mapping.source);
    if (status != PM_OK)
        return status;
    status = resolve_sentence(r, &pending->destination, &mapping.destination);
    if (status != PM_OK)
        return status;
    *ret_index = pif_add_mapping(r->pif, &mapping, pending->extra);
    return r->pif->failed ? no_memory(r) : PM_OK;
}

/* Puts each mapping into the order where it was read; what is not resolved, all of it when status
 * is an error, falls out of it. */
static enum pm_status resolve_mappings(struct reader *r, size_t first_order, enum pm_status status)
{
    struct pif_order *items = r->pif->order.items;
    size_t kept = first_order;
    for (size_t i = first_order; i < r->pif->order.n; i++) {
        struct pif_order item = items[i];
        if (item.kind == PIF_ORDER_PENDING) {
            uint32_t index = PIF_NONE;
            if (status == PM_OK)
                status = resolve_mapping(r, &r->mappings.items[item.index], &index);
            if (status != PM_OK || index == PIF_NONE)
                continue;
            item = (struct pif_order){PIF_ORDER_MAPPING, index};
        }
        items[kept++] = item;
    }
    r->pif->order.n = kept;
    return status;
}

static enum pm_status resolve_all(struct reader *r, size_t first_order)
{
    enum pm_status status = resolve_parents(r);
    if (status != PM_OK)
        return resolve_mappings(r, first_order, status);
    uint32_t circle = pif_cut_circle(r->pif, r->touched.items, r->touched.n);
    if (circle != PIF_NONE)
        status =
            pm_error_set(r->err, PM_ERR_FORMAT, "PIF file '%s': noun '%.*s' is its own ancestor",
                         r->name, SHOWN(pm_str_of(r->pif->nouns.items[circle].noun.name)));
    return resolve_mappings(r, first_order, status);
}

enum pm_status pm_pif_read_text(struct pm_pif *pif, const char *name, const char *text, size_t len,
                                struct pm_error *err)
{
    struct reader r = {
        .pif = pif, .name = name, .err = err, .scratch = PM_BUF_INIT(LINE_MAX_BYTES)};
    if (pif->failed)
        return no_memory(&r);
    if (len > FILE_MAX_BYTES)
        return pm_error_set(err, PM_ERR_LIMIT, "PIF file '%s' has %zu bytes, at most %d are read",
                            name, len, FILE_MAX_BYTES);
    pif->read_no++;
    size_t first_order = pif->order.n;
    enum pm_status status = read_lines(&r, text, len);
    if (status != PM_OK)
        r.err =
            NULL; /* the first error is the one to tell; what came before it is still resolved */
    enum pm_status resolved = resolve_all(&r, first_order);
    free(r.fields.items);
    free(r.mappings.items);
    free(r.parents.items);
    free(r.touched.items);
    pm_buf_release(&r.scratch);
    return status != PM_OK ? status : resolved;
}

enum pm_status pm_pif_read_file(struct pm_pif *pif, const char *path, struct pm_error *err)
{
    char *text;
    size_t len;
    enum pm_status status = pm_file_read_named(path, FILE_MAX_BYTES, err, &text, &len);
    if (status != PM_OK)
        return status;
    status = pm_pif_read_text(pif, path, text, len, err);
    free(text);
    return status;
}
