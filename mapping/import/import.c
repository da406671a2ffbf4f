#include "reader.h"

#include <stdlib.h>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define FORMAT(word) extern const struct import_format import_format_##word;
#include "formats.def"
#undef FORMAT

static const struct {
    const char *word;
    const struct import_format *format;
} formats[] = {
#define FORMAT(word) {#word, &import_format_##word},
#include "formats.def"
#undef FORMAT
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

/* --- helpers --- */

enum pm_status import_no_memory(const struct import *im)
{
    return pm_error_set(im->err, PM_ERR_MEMORY, "out of memory");
}

void pm_sink_note(struct pm_import_sink *sink, const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sink->note(sink, text);
}

uint64_t import_hash(const void *bytes, size_t len, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, len, seed);
}

struct pm_str import_trimmed(struct pm_str text)
{
    while (text.len && (text.p[0] == ' ' || text.p[0] == '\t'))
        text.p++, text.len--;
    while (text.len && (text.p[text.len - 1] == ' ' || text.p[text.len - 1] == '\t'))
        text.len--;
    return text;
}

bool import_begins(struct pm_str text, const char *with)
{
    size_t len = strlen(with);
    return text.len >= len && !memcmp(text.p, with, len);
}

struct pm_str import_word(struct pm_str *rest)
{
    while (rest->len && (rest->p[0] == ' ' || rest->p[0] == '\t'))
        rest->p++, rest->len--;
    struct pm_str word = {rest->p, 0};
    while (word.len < rest->len && rest->p[word.len] != ' ' && rest->p[word.len] != '\t')
        word.len++;
    rest->p += word.len;
    rest->len -= word.len;
    return word;
}

bool import_number(struct pm_str text, uint64_t *ret_number)
{
    return pm_str_to_u64(import_trimmed(text), UINT64_MAX, ret_number);
}

bool import_hex(struct pm_str text, uint64_t *ret_number)
{
    uint64_t number = 0;
    if (import_begins(text, "0x"))
        text = (struct pm_str){text.p + 2, text.len - 2};
    if (text.len == 0 || text.len > 16)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned c = (unsigned char)text.p[i], low = c | 32;
        if (c >= '0' && c <= '9')
            number = number << 4 | (c - '0');
        else if (low >= 'a' && low <= 'f')
            number = number << 4 | (low - 'a' + 10);
        else
            return false;
    }
    *ret_number = number;
    return true;
}

const char *import_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

void import_metric_name(struct pm_str text, char *out, size_t max)
{
    size_t n = text.len < max - 1 ? text.len : max - 1;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text.p[i], low = c | 32;
        bool is_word = (c >= '0' && c <= '9') || (low >= 'a' && low <= 'z') || strchr("_-.", c);
        out[i] = is_word && c ? (char)c : '_';
        if (c == ':')
            out[i] = '.';
    }
    out[n] = 0;
    if (n == 0)
        snprintf(out, max, "value");
}

enum pm_status import_unit_metric(struct import *im, const char *unit, uint32_t *ret_metric,
                                  uint64_t *ret_factor)
{
    static const struct {
        const char *unit, *name, *shown, *kind, *description;
        uint64_t factor;
    } units[] = {
        {"samples", "n_samples", "samples", "count", "samples taken", 1},
        {"count", "n_samples", "samples", "count", "samples taken", 1},
        {"none", "n_samples", "samples", "count", "samples taken", 1},
        {"ns", "cpu_ns", "ns", "time", "", 1},
        {"nanoseconds", "cpu_ns", "ns", "time", "", 1},
        {"us", "cpu_ns", "ns", "time", "", 1000},
        {"microseconds", "cpu_ns", "ns", "time", "", 1000},
        {"ms", "cpu_ns", "ns", "time", "", 1000000},
        {"milliseconds", "cpu_ns", "ns", "time", "", 1000000},
        {"s", "cpu_ns", "ns", "time", "", 1000000000},
        {"seconds", "cpu_ns", "ns", "time", "", 1000000000},
        {"bytes", "bytes", "bytes", "bytes", "bytes, as the imported profile has them", 1},
    };
    struct pm_import_metric metric = {
        .name = unit,
        .unit = unit,
        .kind = "count",
        .description = "values of the imported profile, in the unit that was given"};
    *ret_factor = 1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(unit, units[i].unit) != 0)
            continue;
        metric = (struct pm_import_metric){units[i].name, units[i].shown, units[i].kind,
                                           units[i].description};
        *ret_factor = units[i].factor;
    }
    return pm_sink_metric(im->sink, &metric, ret_metric);
}

enum pm_status import_scaled(struct import *im, uint64_t value, uint64_t factor,
                             uint64_t *ret_value)
{
    if (!__builtin_mul_overflow(value, factor, ret_value) && *ret_value <= INT64_MAX)
        return PM_OK;
    return import_refuse_line(im->in, im->err, PM_ERR_LIMIT, "the value %llu is too large",
                              (unsigned long long)value);
}

/* --- which format --- */

static enum pm_status unknown_format(struct import *im)
{
    struct pm_buf words = PM_BUF_INIT(4096);
    for (size_t i = 0; i < N_FORMATS; i++)
        pm_buf_printf(&words, "%s%s", i ? ", " : "", formats[i].word);
    if (im->options->format)
        pm_error_set(im->err, PM_ERR_USAGE, "there is no format '%s' (%s)", im->options->format,
                     words.data ? words.data : "");
    else
        pm_error_set(im->err, PM_ERR_FORMAT,
                     "'%s' is in no format that perfmap import knows by its beginning (%s; "
                     "--format says which)",
                     im->path, words.data ? words.data : "");
    pm_buf_release(&words);
    return im->options->format ? PM_ERR_USAGE : PM_ERR_FORMAT;
}

static const struct import_format *find_format(const struct import *im, struct pm_str head)
{
    const char *word = im->options->format;
    for (size_t i = 0; i < N_FORMATS; i++)
        if (word ? !strcmp(word, formats[i].word) : formats[i].format->is(head, im->path))
            return formats[i].format;
    return NULL;
}

static enum pm_status read_all(struct import *im)
{
    struct pm_str head = im->in ? import_peek(im->in, IMPORT_HEAD_BYTES) : PM_STR("");
    head.len = head.len < IMPORT_HEAD_BYTES ? head.len : IMPORT_HEAD_BYTES;
    const struct import_format *format = find_format(im, head);
    enum pm_status status = im->in ? import_input_status(im->in, im->err) : PM_OK;
    if (status != PM_OK)
        return status;
    if (!format)
        return unknown_format(im);
    if (!format->opens_itself && !im->in)
        return pm_error_set(im->err, PM_ERR_FORMAT, "'%s' is a folder", im->path);
    status = format->read(im);
    if (status != PM_OK || !im->in || format->opens_itself)
        return status;
    return import_input_status(im->in, im->err);
}

static struct pm_import_options known_options(const struct pm_import_options *options)
{
    struct pm_import_options known = {0};
    if (options)
        memcpy(&known, options, options->size < sizeof known ? options->size : sizeof known);
    return known;
}

enum pm_status pm_import_file(const char *path, const struct pm_import_options *options,
                              struct pm_import_sink *sink, struct pm_error *err)
{
    struct pm_import_options known = known_options(options);
    struct import im = {.path = path, .options = &known, .sink = sink, .err = err};
    struct stat info;
    bool is_folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    enum pm_status status = PM_OK;
    if (!is_folder)
        status = import_input_open(path, err, &im.in);
    if (status != PM_OK)
        return status;
    status = read_all(&im);
    import_input_free(im.in);
    return status;
}

enum pm_status pm_import_bytes(const char *name, const void *bytes, size_t len,
                               const struct pm_import_options *options, struct pm_import_sink *sink,
                               struct pm_error *err)
{
    struct pm_import_options known = known_options(options);
    struct import im = {.path = name, .options = &known, .sink = sink, .err = err};
    enum pm_status status = import_input_of_bytes(name, bytes, len, err, &im.in);
    if (status != PM_OK)
        return status;
    status = read_all(&im);
    import_input_free(im.in);
    return status;
}
