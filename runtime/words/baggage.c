/* Reading and writing the text of causes. What is read comes from anywhere: every byte is looked
 * at once, nothing is copied. */
#include "runtime/words/baggage.h"

#include <string.h>

/* --- reading --- */

struct piece {
    const char *p;
    size_t n;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct piece trim(struct piece s)
{
    for (; s.n > 0 && is_blank(s.p[0]); s.p++)
        s.n--;
    while (s.n > 0 && is_blank(s.p[s.n - 1]))
        s.n--;
    return s;
}

/* What stands before the first `c`, which is taken off with it. */
static struct piece take_until(struct piece *rest, char c)
{
    struct piece head = {rest->p, 0};
    while (head.n < rest->n && rest->p[head.n] != c)
        head.n++;
    size_t taken = head.n + (head.n < rest->n);
    rest->p += taken;
    rest->n -= taken;
    return head;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Lower-case hexadecimal; 0: none, or it is 0. */
static uint64_t take_number(struct piece *rest, size_t most)
{
    uint64_t number = 0;
    size_t n = 0;
    for (; n < rest->n && digit_of(rest->p[n]) >= 0; n++) {
        if (n == most)
            return 0;
        number = number << 4 | (uint64_t)digit_of(rest->p[n]);
    }
    rest->p += n;
    rest->n -= n;
    return number;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '~' || c == '*' || c == '/';
}

static int any_digit_of(char c)
{
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : digit_of(c);
}

/* Level, verb, nouns: at least three names, none of them empty, each of plain bytes and escapes;
 * a noun may have a kind. */
static bool is_sentence(struct piece s)
{
    size_t n_names = 1, n_bytes = 0;
    bool has_kind = false;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == ':' || s.p[i] == '@') {
            bool is_kind = s.p[i] == '@';
            if (n_bytes == 0 || (is_kind && (n_names < 3 || has_kind)))
                return false;
            has_kind = is_kind;
            n_names += !is_kind;
            n_bytes = 0;
            continue;
        }
        if (s.p[i] == '%') {
            if (s.n - i < 3 || any_digit_of(s.p[i + 1]) < 0 || any_digit_of(s.p[i + 2]) < 0 ||
                (s.p[i + 1] == '0' && s.p[i + 2] == '0'))
                return false;
            i += 2;
        } else if (!is_plain(s.p[i])) {
            return false;
        }
        n_bytes++;
    }
    return n_names >= 3 && n_names <= 2 + 8 && n_bytes != 0;
}

static bool read_value(struct piece value, struct pm_baggage *ret_baggage)
{
    struct pm_baggage found = {0};
    if (value.n < 2 || value.p[0] != '1' || value.p[1] != '.')
        return false;
    value.p += 2;
    value.n -= 2;
    found.process = take_number(&value, 16);
    if (found.process == 0 || value.n == 0 || value.p[0] != '.')
        return false;
    value.p++;
    value.n--;
    found.place = (uint32_t)take_number(&value, 8);
    found.sentences = value.p;
    found.sentences_bytes = value.n;
    if (found.place == 0 || value.n >= PM_BAGGAGE_SENTENCES_BYTES ||
        (value.n != 0 && value.p[0] != '!'))
        return false;
    take_until(&value, '!');
    for (unsigned n = 0; value.n != 0; n++)
        if (n == PM_BAGGAGE_MAX_SENTENCES || !is_sentence(take_until(&value, '!')))
            return false;
    if (found.sentences_bytes != 0 && found.sentences[found.sentences_bytes - 1] == '!')
        return false;
    *ret_baggage = found;
    return true;
}

static bool is_name(struct piece s, const char *name)
{
    return s.n == strlen(name) && memcmp(s.p, name, s.n) == 0;
}

/* The field's own name, when the header was given with it. */
static void drop_field_name(struct piece *rest)
{
    static const char name[] = "baggage:";
    *rest = trim(*rest);
    for (size_t i = 0; i < sizeof name - 1; i++)
        if (i >= rest->n || (rest->p[i] | (i < 7 ? 32 : 0)) != name[i])
            return;
    rest->p += sizeof name - 1;
    rest->n -= sizeof name - 1;
}

static bool find(const char *text, size_t bytes, struct pm_baggage *ret_baggage, bool *ret_spoilt)
{
    struct piece rest = {text, bytes < PM_BAGGAGE_MAX_BYTES ? bytes : PM_BAGGAGE_MAX_BYTES};
    *ret_spoilt = false;
    if (text == NULL)
        return false;
    drop_field_name(&rest);
    while (rest.n != 0) {
        struct piece member = take_until(&rest, ','), properties = member;
        struct piece value = take_until(&properties, ';');
        if (!is_name(trim(take_until(&value, '=')), "perfmap"))
            continue;
        if (read_value(trim(value), ret_baggage))
            return true;
        *ret_spoilt = true;
    }
    return false;
}

bool pm_baggage_find(const char *text, size_t bytes, struct pm_baggage *ret_baggage)
{
    bool spoilt;
    return find(text, bytes, ret_baggage, &spoilt);
}

bool pm_baggage_is_spoilt(const char *text, size_t bytes)
{
    struct pm_baggage ignored;
    bool spoilt;
    return !find(text, bytes, &ignored, &spoilt) && spoilt;
}

/* --- writing --- */

bool pm_baggage_put(struct pm_baggage_text *to, const char *bytes, size_t n)
{
    if (n > to->room - to->n)
        return false;
    memcpy(to->p + to->n, bytes, n);
    to->n += n;
    return true;
}

static size_t put_hex(char *to, uint64_t number, unsigned n_digits)
{
    for (unsigned i = 0; i < n_digits; i++)
        to[i] = "0123456789abcdef"[number >> 4 * (n_digits - 1 - i) & 15];
    return n_digits;
}

bool pm_baggage_put_head(struct pm_baggage_text *to, uint64_t process, uint32_t place)
{
    char head[PM_BAGGAGE_HEAD_BYTES] = "perfmap=1.";
    size_t n = 10;
    n += put_hex(head + n, process, 16);
    head[n++] = '.';
    n += put_hex(head + n, place, 8);
    return pm_baggage_put(to, head, n);
}

/* How much of a name is taken: whole characters of UTF-8. */
static size_t fitting(const char *name)
{
    size_t n = 0;
    while (n <= PM_BAGGAGE_NAME_BYTES && name[n] != 0)
        n++;
    if (n <= PM_BAGGAGE_NAME_BYTES)
        return n;
    for (n = PM_BAGGAGE_NAME_BYTES; n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80;)
        n--;
    return n;
}

bool pm_baggage_put_name(struct pm_baggage_text *to, char before, const char *name)
{
    size_t start = to->n, n = fitting(name);
    bool good = n != 0 && pm_baggage_put(to, &before, 1);
    for (size_t i = 0; i < n && good; i++) {
        unsigned char c = (unsigned char)name[i];
        char escape[3] = {'%', "0123456789ABCDEF"[c >> 4], "0123456789ABCDEF"[c & 15]};
        good = is_plain(name[i]) ? pm_baggage_put(to, name + i, 1) : pm_baggage_put(to, escape, 3);
    }
    if (good && name[n] != 0)
        good = pm_baggage_put(to, "...", 3);
    if (!good)
        to->n = start;
    return good;
}
