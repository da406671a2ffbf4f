#include "json.h"

#include "str.h"

#include <inttypes.h>
#include <math.h>

/* Whatever the caller does, what comes out is one well-formed value: a mistake (no key in an
 * object, a second value at the top, an end too many, too deep) sets failed and leaves out what
 * would break it. has_item[0] is the top. */

void pm_json_init(struct pm_json *json, FILE *out)
{
    *json = (struct pm_json){.out = out};
}

/* One thread writes at a time: to lock the stream for each piece took a third of the time. */
static void raw(struct pm_json *json, const char *text, size_t len)
{
    if (fwrite_unlocked(text, 1, len, json->out) != len)
        json->failed = true;
}

static void raw_string(struct pm_json *json, const char *p, size_t len)
{
    static const char hex[] = "0123456789abcdef";
    size_t plain = 0; /* bytes before p[i] that are still to be written as they are */
    raw(json, "\"", 1);
    for (size_t i = 0; i < len;) {
        unsigned char byte = (unsigned char)p[i];
        size_t n = pm_utf8_length(p + i, len - i);
        if (n && byte >= 0x20 && byte != '"' && byte != '\\' && byte != 0x7f) {
            i += n;
            plain += n;
            continue;
        }
        raw(json, p + i - plain, plain);
        plain = 0;
        if (n == 0)
            raw(json, "\xef\xbf\xbd", 3);
        else if (byte == '"' || byte == '\\')
            raw(json, (char[]){'\\', (char)byte}, 2);
        else if (byte == '\n')
            raw(json, "\\n", 2);
        else if (byte == '\t')
            raw(json, "\\t", 2);
        else
            raw(json, (char[]){'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]}, 6);
        i++;
    }
    raw(json, p + len - plain, plain);
    raw(json, "\"", 1);
}

static void new_line(struct pm_json *json, int depth)
{
    char line[1 + 2 * PM_JSON_MAX_DEPTH];
    if (json->is_compact)
        return;
    memset(line, ' ', sizeof line);
    line[0] = '\n';
    raw(json, line, 1 + 2 * (size_t)depth);
}

/* Comma, line, key: everything before a value. False: the value must be left out. */
static bool before_value(struct pm_json *json, const char *key)
{
    if (json->n_skipped)
        return false;
    if (json->depth == 0) {
        json->failed |= json->has_item[0] || key;
        if (json->has_item[0])
            return false;
        json->has_item[0] = true;
        return true;
    }
    bool is_array = json->is_array[json->depth];
    if (is_array == (key != NULL))
        json->failed = true;
    if (json->has_item[json->depth])
        raw(json, ",", 1);
    json->has_item[json->depth] = true;
    new_line(json, json->depth);
    if (!is_array) {
        key = key ? key : "";
        raw_string(json, key, strlen(key));
        raw(json, ": ", json->is_compact ? 1 : 2);
    }
    return true;
}

static void begin(struct pm_json *json, const char *key, bool is_array)
{
    if (json->depth == PM_JSON_MAX_DEPTH)
        json->failed = true;
    if (json->depth == PM_JSON_MAX_DEPTH || !before_value(json, key)) {
        json->n_skipped++;
        return;
    }
    raw(json, is_array ? "[" : "{", 1);
    json->depth++;
    json->is_array[json->depth] = is_array;
    json->has_item[json->depth] = false;
}

void pm_json_object(struct pm_json *json, const char *key)
{
    begin(json, key, false);
}

void pm_json_array(struct pm_json *json, const char *key)
{
    begin(json, key, true);
}

void pm_json_end(struct pm_json *json)
{
    if (json->n_skipped) {
        json->n_skipped--;
        return;
    }
    if (json->depth == 0) {
        json->failed = true;
        return;
    }
    int depth = json->depth--;
    if (json->has_item[depth])
        new_line(json, depth - 1);
    raw(json, json->is_array[depth] ? "]" : "}", 1);
}

static void word(struct pm_json *json, const char *key, const char *text)
{
    if (before_value(json, key))
        raw(json, text, strlen(text));
}

void pm_json_string(struct pm_json *json, const char *key, const char *value)
{
    if (value)
        pm_json_string_n(json, key, value, strlen(value));
    else
        pm_json_null(json, key);
}

void pm_json_string_n(struct pm_json *json, const char *key, const char *value, size_t len)
{
    if (before_value(json, key))
        raw_string(json, value, len);
}

void pm_json_u64(struct pm_json *json, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    word(json, key, text);
}

void pm_json_i64(struct pm_json *json, const char *key, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    word(json, key, text);
}

void pm_json_thousandths(struct pm_json *json, const char *key, uint64_t value)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%" PRIu64 ".%03u", value / 1000, (unsigned)(value % 1000));
    while (text[n - 1] == '0')
        n--;
    text[text[n - 1] == '.' ? n - 1 : n] = 0;
    word(json, key, text);
}

void pm_json_double(struct pm_json *json, const char *key, double value)
{
    char text[PM_DOUBLE_BYTES];
    if (isfinite(value))
        pm_double_text(value, text);
    word(json, key, isfinite(value) ? text : "null");
}

void pm_json_bool(struct pm_json *json, const char *key, bool value)
{
    word(json, key, value ? "true" : "false");
}

void pm_json_null(struct pm_json *json, const char *key)
{
    word(json, key, "null");
}

bool pm_json_done(struct pm_json *json)
{
    if (json->depth || json->n_skipped || !json->has_item[0])
        json->failed = true;
    while (json->depth || json->n_skipped)
        pm_json_end(json);
    if (!json->has_item[0])
        pm_json_null(json, NULL);
    raw(json, "\n", 1);
    if (fflush(json->out) != 0 || ferror(json->out))
        json->failed = true;
    return !json->failed;
}
