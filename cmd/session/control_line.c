/* The line of a request: words separated by blanks, values with %XX. */
#include "control.h"

#include <limits.h>

enum { PROTOCOL_VERSION = 1, DEFAULT_WAIT_MS = 2000 };

void control_add_word(struct pm_buf *line, const char *key, const char *value)
{
    pm_buf_printf(line, " %s=", key);
    for (const char *p = value; *p; p++)
        if ((unsigned char)*p <= 0x20 || (unsigned char)*p >= 0x7f || *p == '%')
            pm_buf_printf(line, "%%%02X", (unsigned)(unsigned char)*p);
        else
            pm_buf_add_byte(line, (unsigned char)*p);
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

void control_decode(char *value)
{
    char *to = value;
    for (const char *p = value; *p; p++) {
        int high = *p == '%' ? digit_of(p[1]) : -1, low = high >= 0 ? digit_of(p[2]) : -1;
        bool is_code = low >= 0 && (high | low) != 0;
        *to++ = is_code ? (char)(high * 16 + low) : *p;
        p += is_code ? 2 : 0;
    }
    *to = 0;
}

static enum pm_status add_rule(struct control_request *request, enum pm_run_mode mode,
                               const char *pattern, struct pm_error *err)
{
    const char *problem = mode_pattern_problem(pattern);
    if (problem)
        return pm_error_set(err, PM_ERR_USAGE, "pattern '%s': %s", pattern, problem);
    return mode_rules_add(&request->rules, mode, pattern)
               ? PM_OK
               : pm_error_set(err, PM_ERR_LIMIT, "more than %d patterns", MODE_RULES_MAX);
}

/* "id,id,...": 16 hexadecimal digits each; with '!' in front the budget leaves it alone. */
static enum pm_status add_needs(struct control_request *request, const char *text,
                                struct pm_error *err)
{
    for (const char *p = text; *p; p += *p == ',') {
        bool fixed = *p == '!';
        uint64_t id = 0;
        p += fixed;
        for (int i = 0; i < 16; i++, p++) {
            int digit = digit_of(*p);
            if (digit < 0)
                return pm_error_set(err, PM_ERR_USAGE, "'%.20s' is no noun's id", p - i);
            id = id << 4 | (unsigned)digit;
        }
        if (*p && *p != ',')
            return pm_error_set(err, PM_ERR_USAGE, "'%.20s' does not end a noun's id", p);
        if (!mode_needs_add(&request->needs,
                            &(struct mode_need){.id = id, .mode = request->mode, .fixed = fixed}))
            return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    return PM_OK;
}

static const struct {
    const char *word;
    unsigned takes;
} verbs[] = {
#define VERB(NAME, word, takes) [CONTROL_##NAME] = {#word, takes},
    CONTROL_VERBS(VERB)
#undef VERB
};

static bool find_verb(const char *word, enum control_verb *ret_verb)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (!strcmp(word, verbs[i].word)) {
            *ret_verb = (enum control_verb)i;
            return true;
        }
    return false;
}

static enum pm_status no_verb(const char *word, struct pm_error *err)
{
    char known[256] = "";
    for (size_t i = 0, at = 0; i < sizeof verbs / sizeof *verbs && at < sizeof known; i++)
        at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", i ? ", " : "", verbs[i].word);
    return pm_error_set(err, PM_ERR_USAGE, "unknown request '%.60s' (known: %s)", word, known);
}

/* key=value behind the verb. */
static enum pm_status read_option(struct control_request *request, char *word, struct pm_error *err)
{
    char *value = strchr(word, '=');
    unsigned takes = verbs[request->verb].takes;
    uint64_t number;
    enum pm_run_mode mode;
    if (!value)
        return pm_error_set(err, PM_ERR_USAGE, "'%.60s' is not key=value", word);
    *value++ = 0;
    control_decode(value);
    if (!strcmp(word, "pid") && pm_str_to_u64(pm_str_of(value), INT_MAX, &number) &&
        request->n_only < sizeof request->only / sizeof *request->only) {
        request->only[request->n_only++] = (uint32_t)number;
        return PM_OK;
    }
    if (!strcmp(word, "wait_ms") && pm_str_to_u64(pm_str_of(value), UINT32_MAX, &number)) {
        request->wait_ms = number;
        return PM_OK;
    }
    if (!strcmp(word, "more") && takes & CONTROL_TAKES_IDS) {
        request->has_more = !strcmp(value, "1");
        return PM_OK;
    }
    if (!strcmp(word, "ids") && takes & CONTROL_TAKES_IDS)
        return add_needs(request, value, err);
    if (!strcmp(word, "set") && takes & CONTROL_TAKES_SET && pm_mode_of(value, &mode)) {
        request->has_mode = true;
        request->mode = mode;
        return PM_OK;
    }
    if (takes & CONTROL_TAKES_PATTERN && pm_mode_of(word, &mode))
        return add_rule(request, mode, value, err);
    return pm_error_set(err, PM_ERR_USAGE, "unknown or wrong option '%.60s=%.60s'", word, value);
}

static enum pm_status read_words(struct control_request *request, char *text, struct pm_error *err)
{
    char *rest = NULL, *name = strtok_r(text, " ", &rest), *version = strtok_r(NULL, " ", &rest),
         *verb = strtok_r(NULL, " ", &rest);
    uint64_t number;
    if (!verb || strcmp(name, "perfmap") != 0 ||
        !pm_str_to_u64(pm_str_of(version), UINT32_MAX, &number))
        return pm_error_set(err, PM_ERR_USAGE, "a request begins with 'perfmap VERSION VERB'");
    if (number != PROTOCOL_VERSION)
        return pm_error_set(err, PM_ERR_VERSION,
                            "the request is of version %llu, this is version %d",
                            (unsigned long long)number, PROTOCOL_VERSION);
    if (!find_verb(verb, &request->verb))
        return no_verb(verb, err);
    request->mode = PM_RUN_MODE_ACTIVE;
    enum pm_status status = PM_OK;
    for (char *word; status == PM_OK && (word = strtok_r(NULL, " ", &rest)) != NULL;)
        status = read_option(request, word, err);
    return status;
}

enum pm_status control_request_parse(struct pm_str line, struct pm_error *err,
                                     struct control_request *ret_request)
{
    struct control_request request = {.wait_ms = DEFAULT_WAIT_MS};
    if (line.len >= CONTROL_LINE_MAX || memchr(line.p, 0, line.len))
        return pm_error_set(err, PM_ERR_USAGE, "the line is too long, or holds a zero byte");
    char *text = pm_strndup(line.p, line.len);
    if (!text)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (line.len && text[line.len - 1] == '\r')
        text[line.len - 1] = 0;
    enum pm_status status = read_words(&request, text, err);
    free(text);
    if (status != PM_OK)
        control_request_release(&request);
    else
        *ret_request = request;
    return status;
}

void control_request_release(struct control_request *request)
{
    mode_rules_release(&request->rules);
    mode_needs_release(&request->needs);
}
