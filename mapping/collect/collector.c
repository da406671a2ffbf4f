#include "collector.h"

#include "collect.h"

#include "mapping/base/arena.h"

enum { MAX_WARNINGS = 1000 };

enum pm_status collect_no_memory(struct collector *c)
{
    return pm_error_set(c->err, PM_ERR_MEMORY, "out of memory");
}

void collect_warn(struct collector *c, const char *format, ...)
{
    struct pm_collect_result *result = c->result;
    if (result->n_warnings == MAX_WARNINGS)
        return;
    struct pm_buf text = PM_BUF_INIT(16384);
    char line[8192];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    pm_buf_add_str(&text, line);
    char **warnings = pm_realloc_array(result->warnings, result->n_warnings + 1, sizeof *warnings);
    if (warnings)
        result->warnings = warnings;
    if (warnings && !text.failed)
        warnings[result->n_warnings++] = pm_buf_take(&text);
    /* without memory the warning is lost; the collection is about to fail as well */
    pm_buf_release(&text);
}

void collect_add_quoted(struct pm_buf *out, const char *word, size_t len)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:=@%,";
    bool is_plain = len > 0;
    for (size_t i = 0; i < len; i++)
        is_plain &= word[i] != 0 && strchr(plain, word[i]) != NULL;
    if (is_plain) {
        pm_buf_add(out, word, len);
        return;
    }
    pm_buf_add_byte(out, '\'');
    for (size_t i = 0; i < len; i++) {
        if (word[i] == '\'')
            pm_buf_add_str(out, "'\\''");
        else
            pm_buf_add_byte(out, (unsigned char)word[i]);
    }
    pm_buf_add_byte(out, '\'');
}

const char *collect_intern(struct collector *c, const char *text)
{
    return pm_intern_add(c->strings, text, strlen(text));
}

const char *collect_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}
