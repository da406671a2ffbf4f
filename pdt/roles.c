#include "roles.h"

#include <ctype.h>
#include <stdlib.h>

enum { MAX_ROLES = 1 << 12, MAX_LINE_BYTES = 1 << 12, MAX_TEXT_BYTES = 1 << 22 };

struct reading {
    struct pdt_roles *roles;
    struct pdt_role *role;
    struct pm_error *err;
    const char *at, *end; /* of the word at hand */
};

enum pm_status pdt_role_error(const struct pdt_roles *roles, const struct pdt_role *role,
                              struct pm_error *err, const char *format, ...)
{
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return pm_error_set(err, PM_ERR_FORMAT, "annotations '%s' line %u: %s", roles->name,
                        role->line_no, text);
}

static enum pm_status no_memory(const struct reading *reading)
{
    return pm_error_set(reading->err, PM_ERR_MEMORY, "out of memory for annotations");
}

/* --- words --- */

static bool take(struct reading *reading, const char *text)
{
    size_t len = strlen(text);
    if ((size_t)(reading->end - reading->at) < len || memcmp(reading->at, text, len) != 0)
        return false;
    reading->at += len;
    return true;
}

static struct pm_str rest_of(const struct reading *reading)
{
    return (struct pm_str){reading->at, (size_t)(reading->end - reading->at)};
}

/* A name of C, or digits where they may be; empty: there is none. */
static struct pm_str take_name(struct reading *reading, bool may_be_number)
{
    const char *from = reading->at;
    bool is_number = may_be_number && from < reading->end && isdigit((unsigned char)*from);
    for (; reading->at < reading->end; reading->at++) {
        unsigned char c = (unsigned char)*reading->at;
        if (!(isdigit(c) && (is_number || reading->at > from)) &&
            !(!is_number && (isalpha(c) || c == '_')))
            break;
    }
    return (struct pm_str){from, (size_t)(reading->at - from)};
}

static enum pm_status wrong(const struct reading *reading, const char *expected)
{
    struct pm_str rest = rest_of(reading);
    if (!rest.len)
        return pdt_role_error(reading->roles, reading->role, reading->err,
                              "%s expected at the end of a word", expected);
    return pdt_role_error(reading->roles, reading->role, reading->err, "%s expected at '%.*s'",
                          expected, rest.len < 80 ? (int)rest.len : 80, rest.p);
}

static enum pm_status take_kept(struct reading *reading, bool may_be_number, const char *expected,
                                const char **ret_name)
{
    struct pm_str name = take_name(reading, may_be_number);
    if (!name.len)
        return wrong(reading, expected);
    *ret_name = pm_arena_strndup(&reading->roles->arena, name.p, name.len);
    return *ret_name ? PM_OK : no_memory(reading);
}

/* --- values --- */

/* ARG, *ARG, ARG->FIELD, length(ARG), return, one */
static enum pm_status read_plain(struct reading *reading, struct pdt_term *term)
{
    bool is_length = take(reading, "length("), is_pointed = !is_length && take(reading, "*");
    const char *name;
    enum pm_status status = take_kept(reading, true, "the name or position of an argument", &name);
    if (status != PM_OK)
        return status;
    term->argument = name;
    if (is_length)
        term->kind = PDT_TERM_LENGTH;
    else if (is_pointed)
        term->kind = PDT_TERM_POINTED;
    else if (!strcmp(name, "return"))
        *term = (struct pdt_term){.kind = PDT_TERM_RETURN};
    else if (!strcmp(name, "one"))
        *term = (struct pdt_term){.kind = PDT_TERM_ONE};
    if (is_length)
        return take(reading, ")") ? PM_OK : wrong(reading, "')'");
    if (term->kind != PDT_TERM_PLAIN || !take(reading, "->"))
        return PM_OK;
    term->kind = PDT_TERM_FIELD;
    return take_kept(reading, false, "the name of a field", &term->field);
}

static enum pm_status read_term(struct reading *reading, struct pdt_term *term)
{
    *term = (struct pdt_term){0};
    bool is_growth = take(reading, "growth(");
    enum pm_status status = read_plain(reading, term);
    if (status != PM_OK || !is_growth)
        return status;
    if (term->kind != PDT_TERM_POINTED && term->kind != PDT_TERM_FIELD)
        return wrong(reading, "*ARGUMENT or ARGUMENT->FIELD within growth()");
    term->is_growth = true;
    return take(reading, ")") ? PM_OK : wrong(reading, "')'");
}

static enum pm_status read_metric(struct reading *reading, struct pm_str name, bool is_bytes)
{
    struct pdt_role *role = reading->role;
    for (uint32_t i = 0; i < role->n_metrics; i++)
        if (pm_str_is(name, role->metrics[i].name))
            return pdt_role_error(reading->roles, role, reading->err, "'%.*s' comes twice",
                                  (int)name.len, name.p);
    if (role->n_metrics == PDT_MAX_METRICS)
        return pdt_role_error(reading->roles, role, reading->err, "more than %d metrics",
                              PDT_MAX_METRICS);
    struct pdt_metric *metric = &role->metrics[role->n_metrics++];
    *metric = (struct pdt_metric){.is_bytes = is_bytes};
    metric->name = pm_arena_strndup(&reading->roles->arena, name.p, name.len);
    if (!metric->name)
        return no_memory(reading);
    do {
        if (metric->n_terms == PDT_MAX_TERMS)
            return wrong(reading, "a product of at most 4 numbers");
        enum pm_status status = read_term(reading, &metric->terms[metric->n_terms++]);
        if (status != PM_OK)
            return status;
    } while (take(reading, "*"));
    return PM_OK;
}

static enum pm_status read_handle(struct reading *reading)
{
    struct pdt_role *role = reading->role;
    if (role->has_handle)
        return wrong(reading, "one handle");
    role->has_handle = true;
    enum pm_status status = read_plain(reading, &role->handle);
    if (status != PM_OK)
        return status;
    return role->handle.kind == PDT_TERM_PLAIN || role->handle.kind == PDT_TERM_POINTED
               ? PM_OK
               : wrong(reading, "ARGUMENT or *ARGUMENT before");
}

/* return==0 */
static enum pm_status read_when(struct reading *reading)
{
    static const char *const operators[] = {"==", "!=", "<=", ">=", "<", ">"};
    struct pdt_role *role = reading->role;
    if (role->when_operator || !take(reading, "return"))
        return wrong(reading, "one condition on return");
    for (size_t i = 0; i < sizeof operators / sizeof *operators && !role->when_operator; i++)
        if (take(reading, operators[i]))
            role->when_operator = operators[i];
    if (!role->when_operator)
        return wrong(reading, "== != < <= > or >=");
    bool is_negative = take(reading, "-");
    uint64_t number;
    if (!pm_str_to_u64(rest_of(reading), INT32_MAX, &number))
        return wrong(reading, "a whole number of at most 31 bits");
    role->when_number = is_negative ? -(int64_t)number : (int64_t)number;
    reading->at = reading->end;
    return PM_OK;
}

/* --- roles --- */

static enum pm_status read_word(struct reading *reading)
{
    struct pdt_role *role = reading->role;
    if (pm_str_is(rest_of(reading), "skip") && !role->is_skipped) {
        role->is_skipped = true;
        reading->at = reading->end;
        return PM_OK;
    }
    if (pm_str_is(rest_of(reading), "closes") && !role->is_closed) {
        role->is_closed = true;
        reading->at = reading->end;
        return PM_OK;
    }
    if (take(reading, "bytes_in="))
        return read_metric(reading, PM_STR("bytes_in"), true);
    if (take(reading, "bytes_out="))
        return read_metric(reading, PM_STR("bytes_out"), true);
    if (take(reading, "handle="))
        return read_handle(reading);
    if (take(reading, "when="))
        return read_when(reading);
    if (take(reading, "forward=") && !role->forward)
        return take_kept(reading, false, "the name of a function", &role->forward);
    if (!take(reading, "count:"))
        return wrong(reading, "bytes_in= bytes_out= count:NAME= handle= closes when= forward= or "
                              "skip, each once,");
    struct pm_str name = take_name(reading, false);
    if (!name.len || !take(reading, "="))
        return wrong(reading, "NAME=");
    if (pm_str_is(name, "bytes_in") || pm_str_is(name, "bytes_out"))
        return wrong(reading, "another name");
    return read_metric(reading, name, false);
}

static enum pm_status check_role(const struct reading *reading)
{
    const struct pdt_role *role = reading->role;
    const char *why = NULL;
    bool has_others = role->has_handle || role->n_metrics || role->forward;
    if (role->is_skipped && (has_others || role->is_closed || role->when_operator))
        why = "what is skipped has no other roles";
    else if (role->is_closed && !role->has_handle)
        why = "'closes' without 'handle='";
    else if (role->when_operator && !role->n_metrics)
        why = "'when=' without a metric";
    else if (!role->is_skipped && !has_others)
        why = "a function without a role";
    return why ? pdt_role_error(reading->roles, role, reading->err, "'%s': %s", role->function, why)
               : PM_OK;
}

static enum pm_status begin_role(struct reading *reading, uint32_t line_no)
{
    struct pdt_roles *roles = reading->roles;
    if (roles->n_roles == MAX_ROLES)
        return pm_error_set(reading->err, PM_ERR_LIMIT, "annotations '%s': more than %d functions",
                            roles->name, MAX_ROLES);
    void *grown =
        pm_grow_array(roles->roles, roles->n_roles, &roles->cap_roles, 64, sizeof *roles->roles);
    if (!grown)
        return no_memory(reading);
    roles->roles = grown;
    reading->role = &roles->roles[roles->n_roles];
    *reading->role = (struct pdt_role){.line_no = line_no};
    reading->role->is_optional = take(reading, "?");
    enum pm_status status =
        take_kept(reading, false, "the name of a function", &reading->role->function);
    if (status != PM_OK)
        return status;
    if (reading->at != reading->end)
        return wrong(reading, "a blank");
    const struct pdt_role *before = pdt_roles_find(roles, reading->role->function);
    if (before)
        return pdt_role_error(roles, reading->role, reading->err, "'%s' is in line %u already",
                              before->function, before->line_no);
    roles->n_roles++;
    return PM_OK;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The next word of a line; false: there is none. */
static bool next_word(struct reading *reading, const char *line_end)
{
    const char *from = reading->end;
    while (from < line_end && is_blank(*from))
        from++;
    reading->at = reading->end = from;
    while (reading->end < line_end && !is_blank(*reading->end))
        reading->end++;
    return reading->at < reading->end;
}

static enum pm_status read_line(struct reading *reading, struct pm_str line, uint32_t line_no)
{
    const char *line_end = line.p + line.len;
    struct pdt_role here = {.line_no = line_no};
    reading->end = line.p;
    reading->role = &here;
    if (line.len > MAX_LINE_BYTES)
        return pdt_role_error(reading->roles, &here, reading->err, "longer than %d bytes",
                              MAX_LINE_BYTES);
    for (size_t i = 0; i < line.len; i++)
        if (iscntrl((unsigned char)line.p[i]) && line.p[i] != '\t')
            return pdt_role_error(reading->roles, &here, reading->err, "control characters");
    if (!next_word(reading, line_end) || *reading->at == '#')
        return PM_OK;
    enum pm_status status = begin_role(reading, line_no);
    if (status != PM_OK)
        return status;
    while (next_word(reading, line_end)) {
        status = read_word(reading);
        if (status != PM_OK)
            return status;
        if (reading->at != reading->end)
            return wrong(reading, "a blank");
    }
    return check_role(reading);
}

static enum pm_status read_lines(struct reading *reading, struct pm_str text)
{
    const char *at = text.p, *end = text.p + text.len;
    for (uint32_t line_no = 1; at < end; line_no++) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        line_end = line_end ? line_end : end;
        enum pm_status status =
            read_line(reading, (struct pm_str){at, (size_t)(line_end - at)}, line_no);
        if (status != PM_OK)
            return status;
        at = line_end + 1;
    }
    return PM_OK;
}

enum pm_status pdt_roles_read(struct pm_str text, const char *name, struct pm_error *err,
                              struct pdt_roles **ret_roles)
{
    struct reading reading = {.roles = pm_alloc(sizeof *reading.roles), .err = err};
    if (!reading.roles || !(reading.roles->name = pm_strndup(name, strlen(name)))) {
        pdt_roles_free(reading.roles);
        return no_memory(&reading);
    }
    enum pm_status status =
        text.len > MAX_TEXT_BYTES
            ? pm_error_set(err, PM_ERR_LIMIT, "annotations '%s': more than 4 MiB", name)
            : read_lines(&reading, text);
    if (status != PM_OK) {
        pdt_roles_free(reading.roles);
        return status;
    }
    *ret_roles = reading.roles;
    return PM_OK;
}

void pdt_roles_free(struct pdt_roles *roles)
{
    if (!roles)
        return;
    free(roles->name);
    free(roles->roles);
    pm_arena_release(&roles->arena);
    free(roles);
}

const struct pdt_role *pdt_roles_find(const struct pdt_roles *roles, const char *function)
{
    for (uint32_t i = 0; roles && i < roles->n_roles; i++)
        if (!strcmp(roles->roles[i].function, function))
            return &roles->roles[i];
    return NULL;
}
