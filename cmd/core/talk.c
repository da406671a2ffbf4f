#include "cmd.h"

#include "mapping/base/json.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <unistd.h>

static void print_line(struct pm_str text)
{
    struct pm_buf line = PM_BUF_INIT(1 << 20);
    pm_buf_add_printable(&line, text.p, text.len);
    fprintf(stderr, "perfmap: %s\n", line.data ? line.data : "");
    pm_buf_release(&line);
}

static void format_text(struct pm_buf *text, const char *format, va_list args) PM_PRINTF(2, 0);
static void format_text(struct pm_buf *text, const char *format, va_list args)
{
    char *made = NULL;
    int len = vasprintf(&made, format, args);
    pm_buf_add(text, len < 0 ? "out of memory" : made, len < 0 ? 13 : (size_t)len);
    if (len >= 0)
        free(made);
}

void cmd_talk(const char *format, ...)
{
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    va_list args;
    va_start(args, format);
    format_text(&text, format, args);
    va_end(args);
    print_line((struct pm_str){text.data, text.len});
    pm_buf_release(&text);
}

static const char *status_word(enum pm_status status)
{
    static const char *const words[] = {
        [PM_OK] = "failed",
        [PM_ERR_MEMORY] = "memory",
        [PM_ERR_SYSTEM] = "system",
        [PM_ERR_FORMAT] = "format",
        [PM_ERR_VERSION] = "version",
        [PM_ERR_LIMIT] = "limit",
        [PM_ERR_NOT_FOUND] = "not_found",
        [PM_ERR_USAGE] = "usage",
        [PM_ERR_UNSUPPORTED] = "unsupported",
    };
    return (size_t)status < sizeof words / sizeof *words ? words[status] : "failed";
}

static void print_json_error(enum pm_status status, char *const *causes, int n_causes)
{
    struct pm_json json;
    pm_json_init(&json, stdout);
    pm_json_object(&json, NULL);
    pm_json_object(&json, "error");
    pm_json_string(&json, "status", status_word(status));
    pm_json_array(&json, "causes");
    for (int i = 0; i < n_causes; i++)
        pm_json_string(&json, NULL, causes[i]);
    pm_json_end(&json);
    pm_json_end(&json);
    pm_json_end(&json);
    (void)pm_json_done(&json);
}

int cmd_usage_error(struct cmd_parse *parse, const char *format, ...)
{
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    va_list args;
    va_start(args, format);
    format_text(&text, format, args);
    va_end(args);
    parse->failed = true;
    if (parse->json) {
        print_json_error(PM_ERR_USAGE, &text.data, text.data ? 1 : 0);
        (void)cmd_stdout_done(parse, CMD_USAGE);
    } else {
        print_line((struct pm_str){text.data, text.len});
        cmd_talk("try 'perfmap %s%s--help'", parse->cmd->name, *parse->cmd->name ? " " : "");
    }
    pm_buf_release(&text);
    return CMD_USAGE;
}

int cmd_fail(const struct cmd_parse *parse, struct pm_error *err)
{
    if (parse->json) {
        print_json_error(err->status, err->causes, err->n_causes);
        (void)cmd_stdout_done(parse, CMD_FAILED);
    } else {
        pm_error_print(err, stderr);
    }
    pm_error_release(err);
    return CMD_FAILED;
}

int cmd_refuse(struct cmd_parse *parse, enum pm_status status, struct pm_error *err)
{
    if (status != PM_ERR_USAGE)
        return cmd_fail(parse, err);
    (void)cmd_usage_error(parse, "%s", pm_error_text(err));
    pm_error_release(err);
    return CMD_USAGE;
}

/* The reader of our pipe is gone. */
static bool reader_is_gone(void)
{
    struct pollfd stdout_fd = {STDOUT_FILENO, POLLOUT, 0};
    return poll(&stdout_fd, 1, 0) == 1 && (stdout_fd.revents & POLLERR) != 0;
}

int cmd_stdout_done(const struct cmd_parse *parse, int status)
{
    (void)parse;
    bool failed_before = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) == 0 && !failed_before)
        return status;
    int errnum = failed_before ? 0 : errno; /* an earlier reason is not known any more */
    clearerr(stdout);
    if (errnum != EPIPE && !reader_is_gone()) /* a reader that had enough is no news for anybody */
        cmd_talk("cannot write the result to standard output%s%s", errnum ? ": " : "",
                 errnum ? strerror(errnum) : "");
    return status == CMD_DONE ? CMD_FAILED : status;
}

char *cmd_shell_quote(const char *text)
{
    struct pm_buf word = PM_BUF_INIT(1 << 24);
    bool plain = *text != 0, control = false;
    for (const char *c = text; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        plain = plain && (byte >= 0x80 || isalnum(byte) || strchr("%+,-./:=@_", byte));
        control = control || byte < 0x20 || byte == 0x7f;
    }
    if (plain) {
        pm_buf_add_str(&word, text);
        return pm_buf_take(&word);
    }
    pm_buf_add_str(&word, control ? "$'" : "'");
    for (const char *c = text; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        if (control && (byte < 0x20 || byte == 0x7f))
            pm_buf_printf(&word, "\\%03o", byte);
        else if (control && (byte == '\'' || byte == '\\'))
            pm_buf_printf(&word, "\\%c", byte);
        else if (byte == '\'')
            pm_buf_add_str(&word, "'\\''");
        else
            pm_buf_add_byte(&word, byte);
    }
    pm_buf_add_byte(&word, '\'');
    return pm_buf_take(&word);
}

char *cmd_shell_quote_file(const char *name)
{
    if (*name != '-')
        return cmd_shell_quote(name);
    struct pm_buf path = PM_BUF_INIT(1 << 20);
    pm_buf_printf(&path, "./%s", name);
    char *quoted = path.failed ? NULL : cmd_shell_quote(path.data);
    pm_buf_release(&path);
    return quoted;
}
