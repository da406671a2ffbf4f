/* PIF text, the writing side. The quoting rules and how equal names are told apart:
 * docs/formats/pif.md. */
#include "pif_model.h"

#include <stdlib.h>

enum { ID_DIGITS = 16 };

/* --- values --- */

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Does it end like "name#0123456789abcdef"? */
static bool ends_like_id(const char *name, size_t len)
{
    if (len < ID_DIGITS + 1 || name[len - ID_DIGITS - 1] != '#')
        return false;
    for (size_t i = len - ID_DIGITS; i < len; i++)
        if (!is_hex(name[i]))
            return false;
    return true;
}

/* What bytes of values and names ask for. */
enum { BYTE_QUOTES = 1, BYTE_UTF8 = 2, BYTE_OF_NAMES = 4 };
static const uint8_t byte_class[256] = {
    [0x01 ... 0x1f] = BYTE_QUOTES, [0x7f] = BYTE_QUOTES,  [0x80 ... 0xff] = BYTE_UTF8,
    [','] = BYTE_OF_NAMES,         ['{'] = BYTE_OF_NAMES, ['}'] = BYTE_OF_NAMES,
    ['"'] = BYTE_OF_NAMES,         [':'] = BYTE_OF_NAMES, ['#'] = BYTE_OF_NAMES};

static bool is_utf8(const char *text, size_t len)
{
    for (size_t i = 0, n; i < len; i += n) {
        n = (unsigned char)text[i] < 0x80 ? 1 : pm_utf8_length(text + i, len - i);
        if (n == 0)
            return false;
    }
    return true;
}

/* All of a file's strings come by here: one look at each byte. ret_bytes: the classes that it
 * has. */
static bool is_bare(const char *text, size_t len, unsigned *ret_bytes)
{
    unsigned bytes = 0;
    for (size_t i = 0; i < len; i++)
        bytes |= byte_class[(unsigned char)text[i]];
    *ret_bytes = bytes;
    return len != 0 && text[0] != '"' && text[0] != ' ' && text[len - 1] != ' ' &&
           !(bytes & BYTE_QUOTES) && (!(bytes & BYTE_UTF8) || is_utf8(text, len));
}

static bool value_is_bare(const char *text, size_t len)
{
    unsigned bytes;
    return is_bare(text, len, &bytes);
}

static bool name_is_bare(const char *name, size_t len)
{
    unsigned bytes;
    if (!is_bare(name, len, &bytes))
        return false;
    return !(bytes & BYTE_OF_NAMES) ||
           (!strpbrk(name, ",{}\"") && !strstr(name, "::") && name[0] != ':' &&
            name[len - 1] != ':' && !ends_like_id(name, len));
}

bool pif_name_is_bare(const char *name)
{
    return name_is_bare(name, strlen(name));
}

static void add_quoted(struct pm_buf *out, const char *text)
{
    size_t len = strlen(text);
    pm_buf_add_byte(out, '"');
    for (size_t i = 0, n; i < len; i += n) {
        unsigned char byte = (unsigned char)text[i];
        n = pm_utf8_length(text + i, len - i);
        if (byte == '"' || byte == '\\')
            pm_buf_printf(out, "\\%c", byte);
        else if (byte == '\n')
            pm_buf_add_str(out, "\\n");
        else if (byte == '\t')
            pm_buf_add_str(out, "\\t");
        else if (n == 0 || byte < 0x20 || byte == 0x7f)
            pm_buf_printf(out, "\\x%02x", byte);
        else
            pm_buf_add(out, text + i, n);
        n = n ? n : 1;
    }
    pm_buf_add_byte(out, '"');
}

#define ADD_LITERAL(out, literal) pm_buf_add((out), "" literal, sizeof(literal) - 1)

static void add_name(struct pm_buf *out, const char *name)
{
    size_t len = strlen(name);
    if (name_is_bare(name, len))
        pm_buf_add(out, name, len);
    else
        add_quoted(out, name);
}

/* Also ends the line. */
static void add_value(struct pm_buf *out, const char *value)
{
    size_t len = strlen(value);
    if (value_is_bare(value, len))
        pm_buf_add(out, value, len);
    else
        add_quoted(out, value);
    pm_buf_add_byte(out, '\n');
}

/* The beginning of a line. */
#define KEY(name) ((struct pm_str){"  " name " = ", sizeof("  " name " = ") - 1})

static void key_text(struct pm_buf *out, struct pm_str key, const char *value)
{
    if (!value)
        return;
    pm_buf_add(out, key.p, key.len);
    add_value(out, value);
}

static void key_name(struct pm_buf *out, struct pm_str key, const char *name)
{
    pm_buf_add(out, key.p, key.len);
    add_name(out, name);
    pm_buf_add_byte(out, '\n');
}

static void key_number(struct pm_buf *out, struct pm_str key, uint32_t number)
{
    if (!number)
        return;
    pm_buf_add(out, key.p, key.len);
    pm_buf_add_u64(out, number);
    pm_buf_add_byte(out, '\n');
}

static void add_attribute(struct pm_buf *out, const char *key, const char *value)
{
    ADD_LITERAL(out, "  ");
    pm_buf_add_str(out, key);
    ADD_LITERAL(out, " = ");
    add_value(out, value);
}

static void add_id(struct pm_buf *out, pm_id id)
{
    char digits[ID_DIGITS];
    for (int i = 0; i < ID_DIGITS; i++)
        digits[i] = "0123456789abcdef"[(id >> (60 - 4 * i)) & 15];
    pm_buf_add(out, digits, sizeof digits);
}

/* --- names that lead to nouns and verbs --- */

static pm_id id_of_name(bool is_verb, struct pif_named named)
{
    return is_verb ? pm_pif_verb_id(named.level, named.name)
                   : pm_pif_name_id(named.level, named.name);
}

/* Writes the shortest of `name`, `level::name`, `level::name#id` and `#id` that leads the reader to
 * this one. near: the level that is tried first where the reference stands (parents), or NULL. */
static void add_reference(struct pm_buf *out, const struct pm_pif *pif, bool is_verb, pm_id id,
                          const char *near)
{
    uint32_t index = pif_map_get(is_verb ? &pif->verb_by_id : &pif->noun_by_id, id);
    if (index == PIF_NONE) {
        pm_buf_add_byte(out, '#');
        add_id(out, id);
        return;
    }
    struct pif_named named = pif_named(pif, is_verb, index);
    bool same_level = false, other_level = false;
    uint32_t at = pif_map_get(is_verb ? &pif->verb_by_name : &pif->noun_by_name,
                              (uint64_t)(uintptr_t)named.name);
    while (at != PIF_NONE && !same_level) {
        struct pif_named other = pif_named(pif, is_verb, at);
        if (at != index)
            *(other.level == named.level ? &same_level : &other_level) = true;
        at = other.next_same_name;
    }
    bool with_id = same_level || (!named.declared && id != id_of_name(is_verb, named));
    bool with_level = named.declared ? !with_id && other_level && near != named.level
                                     : *named.level || other_level;
    if (with_level) {
        if (*named.level)
            add_name(out, named.level);
        ADD_LITERAL(out, "::");
    }
    add_name(out, named.name);
    if (with_id) {
        pm_buf_add_byte(out, '#');
        add_id(out, id);
    }
}

/* Where a sentence was written first: the next time it is copied. Without memory for this, all are
 * made anew. */
struct written {
    size_t at, len;
};

static void add_sentence(struct pm_buf *out, const struct pm_pif *pif, uint32_t index,
                         struct written *written)
{
    const struct pif_sentence *sentence = &pif->sentences.items[index];
    char copy[512];
    if (written && written[index].len && written[index].len <= sizeof copy) {
        memcpy(copy, out->data + written[index].at, written[index].len); /* the buffer may move */
        pm_buf_add(out, copy, written[index].len);
        return;
    }
    size_t at = out->len;
    pm_buf_add_byte(out, '{');
    for (uint32_t i = 0; i < sentence->n_nouns; i++) {
        add_reference(out, pif, false, pif->sentence_nouns.items[sentence->first_noun + i], NULL);
        ADD_LITERAL(out, ", ");
    }
    add_reference(out, pif, true, sentence->verb, NULL);
    ADD_LITERAL(out, "}\n");
    if (written)
        written[index] = (struct written){at, out->len - at};
}

/* --- records --- */

static void write_noun(struct pm_buf *out, const struct pm_pif *pif, uint32_t index)
{
    const struct pif_noun *item = &pif->nouns.items[index];
    const struct pm_pif_noun *noun = &item->noun;
    ADD_LITERAL(out, "NOUN\n");
    key_name(out, KEY("name"), noun->name);
    if (*noun->level)
        key_name(out, KEY("abstraction"), noun->level);
    key_text(out, KEY("description"), noun->description);
    key_text(out, KEY("kind"), noun->kind);
    if (noun->parent) {
        ADD_LITERAL(out, "  parent = ");
        add_reference(out, pif, false, noun->parent, noun->level);
        pm_buf_add_byte(out, '\n');
    }
    key_text(out, KEY("file"), noun->file);
    key_number(out, KEY("line"), noun->line);
    key_number(out, KEY("column"), noun->column);
    key_number(out, KEY("end_line"), noun->end_line);
    key_text(out, KEY("type"), noun->type);
    key_text(out, KEY("linkage"), noun->linkage);
    key_text(out, KEY("address"), noun->address);
    if (noun->id != pm_pif_name_id(noun->level, noun->name)) {
        ADD_LITERAL(out, "  id = ");
        add_id(out, noun->id);
        pm_buf_add_byte(out, '\n');
    }
    for (uint32_t at = item->first_attribute; at != PIF_NONE; at = pif->attributes.items[at].next)
        add_attribute(out, pif->attributes.items[at].key, pif->attributes.items[at].value);
}

static void write_verb(struct pm_buf *out, const struct pm_pif *pif, uint32_t index)
{
    const struct pif_verb *item = &pif->verbs.items[index];
    ADD_LITERAL(out, "VERB\n");
    key_name(out, KEY("name"), item->verb.name);
    if (*item->verb.level)
        key_name(out, KEY("abstraction"), item->verb.level);
    key_text(out, KEY("description"), item->verb.description);
    if (item->verb.id != pm_pif_verb_id(item->verb.level, item->verb.name)) {
        ADD_LITERAL(out, "  id = ");
        add_id(out, item->verb.id);
        pm_buf_add_byte(out, '\n');
    }
    if (item->extra)
        pm_buf_add_str(out, item->extra);
}

static void write_level(struct pm_buf *out, const struct pm_pif *pif, uint32_t index)
{
    const struct pif_level *level = &pif->levels.items[index];
    ADD_LITERAL(out, "LEVEL\n");
    key_name(out, KEY("name"), level->name);
    if (level->above)
        key_name(out, KEY("above"), level->above);
    if (level->extra)
        pm_buf_add_str(out, level->extra);
}

static void write_mapping(struct pm_buf *out, const struct pm_pif *pif, uint32_t index,
                          struct written *written)
{
    const struct pif_mapping *mapping = &pif->mappings.items[index];
    ADD_LITERAL(out, "MAPPING\n");
    ADD_LITERAL(out, "  source = ");
    add_sentence(out, pif, mapping->source, written);
    ADD_LITERAL(out, "  destination = ");
    add_sentence(out, pif, mapping->destination, written);
    if (mapping->weight > 0) {
        ADD_LITERAL(out, "  weight = ");
        pm_buf_add_double(out, mapping->weight);
        pm_buf_add_byte(out, '\n');
    }
    key_text(out, KEY("origin"), mapping->origin);
    if (mapping->extra)
        pm_buf_add_str(out, mapping->extra);
}

void pm_pif_write_text(const struct pm_pif *pif, struct pm_buf *out)
{
    if (pif->producer) {
        ADD_LITERAL(out, "PIF 1 ");
        add_value(out, pif->producer);
    }
    struct written *written = pm_alloc_array(pif->sentences.n, sizeof *written);
    for (size_t i = 0; i < pif->order.n && !out->failed; i++) {
        uint32_t index = pif->order.items[i].index;
        switch ((enum pif_order_kind)pif->order.items[i].kind) {
        case PIF_ORDER_NOUN:
            write_noun(out, pif, index);
            break;
        case PIF_ORDER_VERB:
            write_verb(out, pif, index);
            break;
        case PIF_ORDER_LEVEL:
            write_level(out, pif, index);
            break;
        case PIF_ORDER_MAPPING:
            write_mapping(out, pif, index, written);
            break;
        case PIF_ORDER_RAW:
            pm_buf_add_str(out, pif->raw.items[index]);
            break;
        case PIF_ORDER_PENDING:
            break;
        }
    }
    free(written);
}
