#include "manifest.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    MANIFEST_MAX_BYTES = 64 << 20
}; /* a command line may be 2 MiB, each byte written as three */

/* Which member of the struct a numeric key fills. */
struct number_key {
    const char *key;
    size_t offset;
};
#define NUMBER(member)                                \
    {                                                 \
#member, offsetof(struct pm_manifest, member) \
    }
static const struct number_key number_keys[] = {
    NUMBER(start_realtime_ns), NUMBER(start_monotonic_ns),
    NUMBER(start_tsc),         NUMBER(tsc_hz),
    NUMBER(end_monotonic_ns),  NUMBER(end_tsc),
    NUMBER(user_cpu_ns),       NUMBER(system_cpu_ns),
    NUMBER(max_rss_bytes),     NUMBER(n_question_sleds),
    NUMBER(n_all_sleds),
};
static const struct number_key text_keys[] = {NUMBER(cwd), NUMBER(host), NUMBER(perfmap),
                                              NUMBER(mode), NUMBER(question)};
#undef NUMBER
#define N_ITEMS(array) (sizeof(array) / sizeof *(array))

void pm_manifest_init(struct pm_manifest *manifest)
{
    *manifest = (struct pm_manifest){.exit_status = -1, .exit_signal = -1};
}

static void free_strings(char **strings, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(strings[i]);
    free(strings);
}

void pm_manifest_release(struct pm_manifest *manifest)
{
    free_strings(manifest->argv, manifest->n_args);
    free_strings(manifest->other, manifest->n_other);
    free(manifest->cwd);
    free(manifest->host);
    free(manifest->perfmap);
    free(manifest->mode);
    free(manifest->question);
    pm_manifest_init(manifest);
}

bool pm_manifest_set_text(char **member, const char *value)
{
    char *copy = pm_strndup(value, strlen(value));
    if (!copy)
        return false;
    free(*member);
    *member = copy;
    return true;
}

bool pm_manifest_set_argv(struct pm_manifest *manifest, char *const *argv, size_t n_args)
{
    char **copy = pm_alloc_array(n_args + 1, sizeof *copy);
    if (!copy)
        return false;
    for (size_t i = 0; i < n_args; i++) {
        copy[i] = pm_strndup(argv[i], strlen(argv[i]));
        if (!copy[i]) {
            free_strings(copy, i);
            return false;
        }
    }
    free_strings(manifest->argv, manifest->n_args);
    manifest->argv = copy;
    manifest->n_args = n_args;
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

/* A decoded copy in ret_text. Zero bytes cannot be meant: no string of a process holds one. */
static enum pm_status decode(struct pm_str text, char **ret_text)
{
    char *out = pm_strndup(text.p, text.len);
    if (!out)
        return PM_ERR_MEMORY;
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        int byte = (unsigned char)text.p[i];
        if (byte == '%') {
            int high = i + 2 < text.len ? hex_digit(text.p[i + 1]) : -1;
            int low = high >= 0 ? hex_digit(text.p[i + 2]) : -1;
            byte = low >= 0 ? high * 16 + low : 0;
            i += 2;
        }
        if (byte == 0) {
            free(out);
            return PM_ERR_FORMAT;
        }
        out[n++] = (char)byte;
    }
    out[n] = 0;
    *ret_text = out;
    return PM_OK;
}

static void add_encoded(struct pm_buf *out, const char *text, bool space_too)
{
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte < 0x20 || byte > 0x7e || byte == '%' || (byte == ' ' && space_too))
            pm_buf_printf(out, "%%%02X", byte);
        else
            pm_buf_add_byte(out, byte);
    }
}

static enum pm_status parse_command(struct pm_str value, struct pm_manifest *manifest)
{
    size_t n = 1;
    for (size_t i = 0; i < value.len; i++)
        n += value.p[i] == ' ';
    char **argv = pm_alloc_array(n + 1, sizeof *argv);
    if (!argv)
        return PM_ERR_MEMORY;
    const char *p = value.p, *end = value.p + value.len;
    for (size_t n_done = 0; n_done < n; n_done++) {
        const char *space = memchr(p, ' ', (size_t)(end - p));
        struct pm_str one = {p, (size_t)((space ? space : end) - p)};
        enum pm_status status = decode(one, &argv[n_done]);
        if (status != PM_OK) {
            free_strings(argv, n_done);
            return status;
        }
        p = space ? space + 1 : end;
    }
    free_strings(manifest->argv, manifest->n_args);
    manifest->argv = argv;
    manifest->n_args = n;
    return PM_OK;
}

static enum pm_status keep_other(struct pm_str line, struct pm_manifest *manifest)
{
    char **more = pm_realloc_array(manifest->other, manifest->n_other + 1, sizeof *more);
    if (!more)
        return PM_ERR_MEMORY;
    manifest->other = more;
    more[manifest->n_other] = pm_strndup(line.p, line.len);
    if (!more[manifest->n_other])
        return PM_ERR_MEMORY;
    manifest->n_other++;
    return PM_OK;
}

bool pm_manifest_add_attribute(struct pm_manifest *manifest, const char *key, const char *value)
{
    struct pm_buf line = PM_BUF_INIT(MANIFEST_MAX_BYTES);
    pm_buf_printf(&line, "%s=%s", key, value);
    bool added =
        !line.failed && keep_other((struct pm_str){line.data, line.len}, manifest) == PM_OK;
    pm_buf_release(&line);
    return added;
}

static enum pm_status parse_small(struct pm_str value, uint64_t max, int *ret_number)
{
    uint64_t number;
    if (!pm_str_to_u64(value, max, &number))
        return PM_ERR_FORMAT;
    *ret_number = (int)number;
    return PM_OK;
}

/* One line, already split. PM_ERR_FORMAT: the value is malformed. */
static enum pm_status parse_pair(struct pm_str line, struct pm_str key, struct pm_str value,
                                 struct pm_manifest *manifest)
{
    for (size_t i = 0; i < N_ITEMS(number_keys); i++) {
        if (!pm_str_is(key, number_keys[i].key))
            continue;
        if (strstr(number_keys[i].key, "cpu_ns"))
            manifest->has_usage = true;
        uint64_t *member = (uint64_t *)((char *)manifest + number_keys[i].offset);
        return pm_str_to_u64(value, UINT64_MAX, member) ? PM_OK : PM_ERR_FORMAT;
    }
    for (size_t i = 0; i < N_ITEMS(text_keys); i++) {
        if (!pm_str_is(key, text_keys[i].key))
            continue;
        char *text, **member = (char **)((char *)manifest + text_keys[i].offset);
        enum pm_status status = decode(value, &text);
        if (status != PM_OK)
            return status;
        free(*member);
        *member = text;
        return PM_OK;
    }
    if (pm_str_is(key, "command"))
        return parse_command(value, manifest);
    if (pm_str_is(key, "exit_status"))
        return parse_small(value, 255, &manifest->exit_status);
    if (pm_str_is(key, "exit_signal"))
        return parse_small(value, 128, &manifest->exit_signal);
    if (pm_str_is(key, "pid")) {
        uint64_t pid;
        if (!pm_str_to_u64(value, INT32_MAX, &pid))
            return PM_ERR_FORMAT;
        manifest->pid = (uint32_t)pid;
        return PM_OK;
    }
    return keep_other(line, manifest);
}

static enum pm_status parse_version(const char *name, struct pm_str value, int line_no,
                                    struct pm_error *err)
{
    uint64_t version;
    if (!pm_str_to_u64(value, UINT32_MAX, &version) || version == 0)
        return pm_error_set(err, PM_ERR_FORMAT,
                            "manifest '%s' line %d: version is not a number from 1", name, line_no);
    if (version > PM_MANIFEST_VERSION)
        return pm_error_set(err, PM_ERR_VERSION,
                            "manifest '%s' has version %llu, this perfmap reads up to %u", name,
                            (unsigned long long)version, PM_MANIFEST_VERSION);
    return PM_OK;
}

enum pm_status pm_manifest_parse(const char *name, const char *text, size_t len,
                                 struct pm_manifest *manifest, struct pm_error *err)
{
    bool has_version = false;
    const char *p = text, *end = text + len;
    for (int line_no = 1; p < end; line_no++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        struct pm_str line = {p, (size_t)((newline ? newline : end) - p)};
        p = newline ? newline + 1 : end;
        if (line.len == 0)
            continue;
        const char *equals = memchr(line.p, '=', line.len);
        if (!equals)
            return pm_error_set(err, PM_ERR_FORMAT, "manifest '%s' line %d: no '='", name, line_no);
        struct pm_str key = {line.p, (size_t)(equals - line.p)};
        struct pm_str value = {equals + 1, line.len - key.len - 1};
        enum pm_status status;
        if (pm_str_is(key, "version")) {
            status = parse_version(name, value, line_no, err);
            if (status != PM_OK)
                return status;
            has_version = true;
            continue;
        }
        if (!has_version)
            return pm_error_set(err, PM_ERR_FORMAT,
                                "manifest '%s' line %d: does not begin with a version", name,
                                line_no);
        status = parse_pair(line, key, value, manifest);
        if (status == PM_ERR_MEMORY)
            return pm_error_set(err, status, "no memory for manifest '%s'", name);
        if (status != PM_OK)
            return pm_error_set(err, status, "manifest '%s' line %d: value of '%.*s' is malformed",
                                name, line_no, (int)(key.len > 100 ? 100 : key.len), key.p);
    }
    if (!has_version)
        return pm_error_set(err, PM_ERR_FORMAT, "manifest '%s' is empty", name);
    return PM_OK;
}

static char *manifest_path(const char *run_dir)
{
    struct pm_buf path = PM_BUF_INIT(PATH_MAX);
    pm_buf_printf(&path, "%s/%s", run_dir, PM_MANIFEST_NAME);
    if (path.failed) {
        pm_buf_release(&path);
        return NULL;
    }
    return pm_buf_take(&path);
}

enum pm_status pm_manifest_read(const char *run_dir, struct pm_manifest *manifest,
                                struct pm_error *err)
{
    char *path = manifest_path(run_dir);
    if (!path)
        return pm_error_set(err, PM_ERR_MEMORY, "no memory for the name of a manifest");
    char *text = NULL;
    size_t len = 0;
    enum pm_status status;
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        status = pm_error_set(err, PM_ERR_NOT_FOUND, "run folder '%s' has no manifest", run_dir);
        goto out;
    }
    status = pm_file_read(path, MANIFEST_MAX_BYTES, err, &text, &len);
    if (status != PM_OK)
        goto out;
    status = pm_manifest_parse(path, text, len, manifest, err);
out:
    free(text);
    free(path);
    return status;
}

static void add_text(struct pm_buf *out, const char *key, const char *value)
{
    if (!value)
        return;
    pm_buf_printf(out, "%s=", key);
    add_encoded(out, value, false);
    pm_buf_add_byte(out, '\n');
}

static void add_number(struct pm_buf *out, const char *key, uint64_t value)
{
    if (value)
        pm_buf_printf(out, "%s=%llu\n", key, (unsigned long long)value);
}

static void format_manifest(const struct pm_manifest *manifest, struct pm_buf *out)
{
    pm_buf_printf(out, "version=%u\n", PM_MANIFEST_VERSION);
    if (manifest->argv) {
        pm_buf_add_str(out, "command=");
        for (size_t i = 0; i < manifest->n_args; i++) {
            if (i)
                pm_buf_add_byte(out, ' ');
            add_encoded(out, manifest->argv[i], true);
        }
        pm_buf_add_byte(out, '\n');
    }
    for (size_t i = 0; i < N_ITEMS(text_keys); i++)
        add_text(out, text_keys[i].key,
                 *(char *const *)((const char *)manifest + text_keys[i].offset));
    add_number(out, "pid", manifest->pid);
    for (size_t i = 0; i < N_ITEMS(number_keys); i++) {
        uint64_t value = *(const uint64_t *)((const char *)manifest + number_keys[i].offset);
        if (manifest->has_usage && value == 0 && strstr(number_keys[i].key, "cpu_ns"))
            pm_buf_printf(out, "%s=0\n", number_keys[i].key);
        add_number(out, number_keys[i].key, value);
    }
    if (manifest->exit_status >= 0)
        pm_buf_printf(out, "exit_status=%d\n", manifest->exit_status);
    if (manifest->exit_signal >= 0)
        pm_buf_printf(out, "exit_signal=%d\n", manifest->exit_signal);
    for (size_t i = 0; i < manifest->n_other; i++) {
        pm_buf_add_str(out, manifest->other[i]);
        pm_buf_add_byte(out, '\n');
    }
}

enum pm_status pm_manifest_write(const char *run_dir, const struct pm_manifest *manifest,
                                 struct pm_error *err)
{
    struct pm_buf text = PM_BUF_INIT(MANIFEST_MAX_BYTES);
    char *path = manifest_path(run_dir);
    format_manifest(manifest, &text);
    enum pm_status status =
        path && !text.failed
            ? pm_file_write_unsynced(path, text.data, text.len, err)
            : pm_error_set(err, PM_ERR_MEMORY, "no memory for the manifest of '%s'", run_dir);
    free(path);
    pm_buf_release(&text);
    return status;
}
