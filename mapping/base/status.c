#include "status.h"

#include "str.h"

#include <stdlib.h>
#include <string.h>

/* causes has room for n_causes + 1: behind the causes stands the joined text, made anew by each
 * addition, so that pm_error_text can lend it from a const object. When memory ends, status still
 * tells. */

enum { ERROR_TEXT_MAX = 1 << 16 };

static char *joined(const struct pm_error *err, const char *last)
{
    struct pm_buf buf = PM_BUF_INIT(4 * ERROR_TEXT_MAX);
    if (err->n_causes) {
        pm_buf_add_str(&buf, pm_error_text(err));
        pm_buf_add_str(&buf, " / ");
    }
    pm_buf_add_str(&buf, last);
    return pm_buf_take(&buf);
}

/* Takes cause. */
static void push(struct pm_error *err, char *cause)
{
    char *text = cause ? joined(err, cause) : NULL;
    char **causes =
        text ? pm_realloc_array(err->causes, (size_t)err->n_causes + 2, sizeof *causes) : NULL;
    if (!causes) {
        free(cause);
        free(text);
        return;
    }
    if (err->causes)
        free(causes[err->n_causes]);
    err->causes = causes;
    causes[err->n_causes++] = cause;
    causes[err->n_causes] = text;
}

static char *formatted(const char *tail, const char *format, va_list args)
{
    struct pm_buf raw = PM_BUF_INIT(ERROR_TEXT_MAX), shown = PM_BUF_INIT(4 * ERROR_TEXT_MAX);
    pm_buf_vprintf(&raw, format, args);
    if (tail) {
        pm_buf_add_str(&raw, ": ");
        pm_buf_add_str(&raw, tail);
    }
    if (raw.data)
        pm_buf_add_printable(&shown, raw.data, strlen(raw.data));
    pm_buf_release(&raw);
    return pm_buf_take(&shown);
}

enum pm_status pm_error_set(struct pm_error *err, enum pm_status status, const char *format, ...)
{
    if (!err)
        return status;
    if (err->status == PM_OK)
        err->status = status;
    va_list args;
    va_start(args, format);
    char *cause = formatted(NULL, format, args);
    va_end(args);
    push(err, cause);
    return status;
}

enum pm_status pm_error_system(struct pm_error *err, int errnum, const char *format, ...)
{
    if (!err)
        return PM_ERR_SYSTEM;
    if (err->status == PM_OK)
        err->status = PM_ERR_SYSTEM;
    char room[256];
    va_list args;
    va_start(args, format);
    char *cause = formatted(strerror_r(errnum, room, sizeof room), format, args);
    va_end(args);
    push(err, cause);
    return PM_ERR_SYSTEM;
}

enum pm_status pm_error_add(struct pm_error *err, const char *format, ...)
{
    if (!err)
        return PM_OK;
    va_list args;
    va_start(args, format);
    char *cause = formatted(NULL, format, args);
    va_end(args);
    push(err, cause);
    return err->status;
}

const char *pm_error_text(const struct pm_error *err)
{
    if (!err || (err->n_causes == 0 && err->status == PM_OK))
        return "";
    return err->n_causes ? err->causes[err->n_causes] : "out of memory";
}

void pm_error_print(const struct pm_error *err, FILE *out)
{
    fprintf(out, "perfmap: %s\n", pm_error_text(err));
}

void pm_error_release(struct pm_error *err)
{
    if (err->causes)
        for (int i = 0; i <= err->n_causes; i++)
            free(err->causes[i]);
    free(err->causes);
    *err = (struct pm_error)PM_ERROR_INIT;
}

_Noreturn void pm_assert_failed(const char *condition, const char *file, int line_no)
{
    fprintf(stderr, "perfmap: our own mistake at %s:%d: %s does not hold; please report it\n", file,
            line_no, condition);
    abort();
}
