#include "json.h"

#include <math.h>

static bool cut(struct import_json *json)
{
    json->is_cut = !json->is_bad;
    return false;
}

static bool bad(struct import_json *json)
{
    json->is_bad = !json->is_cut;
    return false;
}

char import_json_peek(struct import_json *json)
{
    while (json->p < json->end &&
           (*json->p == ' ' || *json->p == '\n' || *json->p == '\t' || *json->p == '\r'))
        json->p++;
    if (json->p < json->end && !json->is_cut && !json->is_bad)
        return *json->p;
    cut(json);
    return 0;
}

bool import_json_enter(struct import_json *json, char bracket)
{
    char c = import_json_peek(json);
    if (c != bracket)
        return c ? bad(json) : false;
    json->p++;
    return true;
}

/* p is behind the opening quote. */
static bool find_quote(struct import_json *json, struct pm_str *ret_text)
{
    const char *start = json->p, *at = start;
    for (;;) {
        at = memchr(at, '"', (size_t)(json->end - at));
        if (!at)
            return cut(json);
        const char *back = at;
        while (back > start && back[-1] == '\\')
            back--;
        if ((at - back) % 2 == 0)
            break;
        at++;
    }
    *ret_text = (struct pm_str){start, (size_t)(at - start)};
    json->p = at + 1;
    return true;
}

bool import_json_string(struct import_json *json, struct pm_str *ret_text)
{
    char c = import_json_peek(json);
    if (c != '"')
        return c ? bad(json) : false;
    json->p++;
    return find_quote(json, ret_text);
}

static bool is_of_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.';
}

bool import_json_scalar(struct import_json *json, struct pm_str *ret_text)
{
    char c = import_json_peek(json);
    if (c == '"')
        return import_json_string(json, ret_text);
    const char *start = json->p;
    while (json->p < json->end && is_of_word(*json->p))
        json->p++;
    if (!c || json->p == json->end)
        return cut(json);
    *ret_text = (struct pm_str){start, (size_t)(json->p - start)};
    return ret_text->len ? true : bad(json);
}

bool import_json_key(struct import_json *json, struct pm_str *ret_key)
{
    char c = import_json_peek(json);
    if (c == ',') {
        json->p++;
        c = import_json_peek(json);
    }
    if (c == '}') {
        json->p++;
        return false;
    }
    if (!import_json_string(json, ret_key))
        return false;
    c = import_json_peek(json);
    if (c != ':')
        return c ? bad(json) : false;
    json->p++;
    return true;
}

bool import_json_item(struct import_json *json)
{
    char c = import_json_peek(json);
    if (c == ',') {
        json->p++;
        c = import_json_peek(json);
    }
    if (c != ']')
        return c != 0;
    json->p++;
    return false;
}

/* Brackets are counted, not matched: what is skipped is of no use. */
void import_json_skip(struct import_json *json)
{
    struct pm_str unused;
    uint64_t depth = 0;
    do {
        char c = import_json_peek(json);
        if (!c)
            return;
        if (c == '{' || c == '[') {
            depth++;
            json->p++;
        } else if (c == '}' || c == ']') {
            if (!depth) {
                bad(json);
                return;
            }
            depth--;
            json->p++;
        } else if (depth && (c == ',' || c == ':')) {
            json->p++;
        } else if (!import_json_scalar(json, &unused)) {
            return;
        }
    } while (depth);
}

/* --- values --- */

static bool read_hex4(struct pm_str raw, size_t at, uint32_t *ret)
{
    uint32_t value = 0;
    if (raw.len - at < 4)
        return false;
    for (size_t i = at; i < at + 4; i++) {
        unsigned char c = (unsigned char)raw.p[i], low = c | 32;
        if (c >= '0' && c <= '9')
            value = value << 4 | (c - '0');
        else if (low >= 'a' && low <= 'f')
            value = value << 4 | (low - 'a' + 10u);
        else
            return false;
    }
    *ret = value;
    return true;
}

static void add_utf8(struct pm_buf *buf, uint32_t c)
{
    if (c < 0x80) {
        pm_buf_add_byte(buf, (unsigned char)c);
        return;
    }
    if (c < 0x800) {
        pm_buf_add_byte(buf, (unsigned char)(0xc0 | c >> 6));
    } else if (c < 0x10000) {
        pm_buf_add_byte(buf, (unsigned char)(0xe0 | c >> 12));
        pm_buf_add_byte(buf, (unsigned char)(0x80 | (c >> 6 & 0x3f)));
    } else {
        pm_buf_add_byte(buf, (unsigned char)(0xf0 | c >> 18));
        pm_buf_add_byte(buf, (unsigned char)(0x80 | (c >> 12 & 0x3f)));
        pm_buf_add_byte(buf, (unsigned char)(0x80 | (c >> 6 & 0x3f)));
    }
    pm_buf_add_byte(buf, (unsigned char)(0x80 | (c & 0x3f)));
}

/* "u00e9" behind the backslash at `at`; how many characters it takes. */
static size_t add_unicode(struct pm_buf *buf, struct pm_str raw, size_t at)
{
    uint32_t c, low;
    if (!read_hex4(raw, at + 1, &c)) {
        pm_buf_add_byte(buf, 'u');
        return 1;
    }
    bool is_pair = c >= 0xd800 && c < 0xdc00 && raw.len - at > 10 && raw.p[at + 5] == '\\' &&
                   raw.p[at + 6] == 'u' && read_hex4(raw, at + 7, &low) && low >= 0xdc00 &&
                   low < 0xe000;
    if (is_pair)
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    else if (c >= 0xd800 && c < 0xe000)
        c = 0xfffd;
    add_utf8(buf, c ? c : 0xfffd);
    return is_pair ? 11 : 5;
}

struct pm_str import_json_text(struct pm_str raw, struct pm_buf *buf)
{
    static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
    if (!raw.len || !memchr(raw.p, '\\', raw.len))
        return raw;
    pm_buf_clear(buf);
    for (size_t i = 0; i < raw.len; i++) {
        if (raw.p[i] != '\\' || i + 1 == raw.len) {
            pm_buf_add_byte(buf, (unsigned char)raw.p[i]);
            continue;
        }
        char c = raw.p[++i];
        const char *letter = memchr(letters, c, sizeof letters - 1);
        if (c == 'u')
            i += add_unicode(buf, raw, i) - 1;
        else
            pm_buf_add_byte(buf, (unsigned char)(letter ? meant[letter - letters] : c));
    }
    return (struct pm_str){buf->data, buf->len};
}

static bool scaled_double(struct pm_str number, unsigned decimals, int64_t *ret_value)
{
    double value;
    if (!pm_str_to_double(number, &value))
        return false;
    value = round(value * pow(10, decimals));
    if (!(fabs(value) < 9e18))
        return false;
    *ret_value = (int64_t)value;
    return true;
}

/* Digits are kept to the last: times in microseconds have more of them than a double. */
bool import_json_scaled(struct pm_str number, unsigned decimals, int64_t *ret_value)
{
    size_t i = number.len && number.p[0] == '-';
    bool is_negative = i != 0, has_point = false;
    int64_t value = 0;
    unsigned n_behind = 0;
    if (i == number.len)
        return false;
    for (; i < number.len; i++) {
        char c = number.p[i];
        if (c == '.' && !has_point) {
            has_point = true;
            continue;
        }
        if (c < '0' || c > '9')
            return scaled_double(number, decimals, ret_value);
        if (has_point && n_behind == decimals) { /* the first digit that is too many rounds */
            value += c >= '5';
            break;
        }
        n_behind += has_point;
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, c - '0', &value))
            return false;
    }
    for (; n_behind < decimals; n_behind++)
        if (__builtin_mul_overflow(value, 10, &value))
            return false;
    *ret_value = is_negative ? -value : value;
    return true;
}
