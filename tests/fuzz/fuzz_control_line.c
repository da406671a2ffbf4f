/* What comes in by the control socket of a run: any bytes as a request. Values come back as they
 * were written. */
#include "../../cmd/session/control_line.c"
#include "../../cmd/session/plan.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of the command, for what is not called here. */
const char *pm_suggest(const char *word, const char *const *words)
{
    (void)word, (void)words;
    return NULL;
}

enum pm_status session_list_libraries(const char *path, struct pm_error *err, struct pm_buf *text)
{
    (void)text;
    return pm_error_set(err, PM_ERR_NOT_FOUND, "no '%s' here", path);
}

char *session_next_library(char **rest)
{
    (void)rest;
    return NULL;
}

static void check_value(const uint8_t *data, size_t size)
{
    struct pm_buf line = PM_BUF_INIT(1 << 20);
    char *value = pm_strndup((const char *)data, size);
    if (value) {
        control_add_word(&line, "key", value);
        if (!line.failed) {
            PM_ASSERT(!memchr(line.data, '\n', line.len) && !strncmp(line.data, " key=", 5));
            control_decode(line.data + 5);
            PM_ASSERT(!strcmp(line.data + 5, value));
        }
    }
    free(value);
    pm_buf_release(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct control_request request;
    struct pm_error err = PM_ERROR_INIT;
    if (control_request_parse((struct pm_str){(const char *)data, size}, &err, &request) == PM_OK) {
        PM_ASSERT(request.n_only <= sizeof request.only / sizeof *request.only &&
                  request.rules.n <= MODE_RULES_MAX);
        for (size_t i = 0; i < request.rules.n; i++)
            PM_ASSERT(!mode_pattern_problem(request.rules.items[i].pattern));
        control_request_release(&request);
    }
    pm_error_release(&err);
    check_value(data, size);
    return 0;
}
