#include "wrap_roles.h"

#include <ctype.h>

/* NULL: there is none. */
static const struct pdt_parameter *parameter_of(const struct pdt_function *function,
                                                const char *argument)
{
    uint64_t position;
    if (pm_str_to_u64(pm_str_of(argument), function->n_parameters, &position))
        return position ? &function->parameters[position - 1] : NULL;
    for (uint32_t i = 0; i < function->n_parameters; i++)
        if (!strcmp(function->parameters[i].name, argument))
            return &function->parameters[i];
    return NULL;
}

/* --- does it fit the header? --- */

struct checking {
    const struct pdt_roles *roles;
    const struct pdt_role *role;
    const struct pdt_function *function;
    struct pm_error *err;
};

/* NULL: it is of the kind that the term needs. */
static const char *misfit(const struct pdt_parameter *parameter, const struct pdt_term *term,
                          bool is_handle)
{
    switch (term->kind) {
    case PDT_TERM_PLAIN:
        if (is_handle)
            return parameter->is_pointer ? NULL : "is no pointer";
        return parameter->is_number ? NULL : "is no whole number";
    case PDT_TERM_POINTED:
        if (is_handle)
            return parameter->is_pointer ? NULL : "is no pointer";
        return parameter->points_to_number ? NULL : "does not point to a whole number";
    default:
        return parameter->is_pointer ? NULL : "is no pointer";
    }
}

static enum pm_status check_term(const struct checking *checking, const struct pdt_term *term,
                                 bool is_handle)
{
    const struct pdt_function *function = checking->function;
    if (term->kind == PDT_TERM_ONE)
        return PM_OK;
    if (term->kind == PDT_TERM_RETURN)
        return function->returns_number
                   ? PM_OK
                   : pdt_role_error(checking->roles, checking->role, checking->err,
                                    "'%s' returns no whole number", function->name);
    const struct pdt_parameter *parameter = parameter_of(function, term->argument);
    if (!parameter)
        return pdt_role_error(checking->roles, checking->role, checking->err,
                              "'%s' has no argument '%s'", function->name, term->argument);
    const char *why = misfit(parameter, term, is_handle);
    return why ? pdt_role_error(checking->roles, checking->role, checking->err,
                                "argument '%s' of '%s' %s", term->argument, function->name, why)
               : PM_OK;
}

static enum pm_status check_forward(const struct checking *checking,
                                    const struct pdt_header *header)
{
    const struct pdt_function *function = checking->function,
                              *list = pdt_header_find(header, checking->role->forward);
    if (!list)
        return pdt_role_error(checking->roles, checking->role, checking->err,
                              "the header has no function '%s'", checking->role->forward);
    if (!function->is_variadic || !function->n_parameters || list->is_variadic ||
        list->n_parameters != function->n_parameters + 1)
        return pdt_role_error(checking->roles, checking->role, checking->err,
                              "'%s' does not take as a list what '%s' takes one by one", list->name,
                              function->name);
    return PM_OK;
}

static enum pm_status check_role(const struct checking *checking, const struct pdt_header *header)
{
    const struct pdt_role *role = checking->role;
    enum pm_status status = role->forward ? check_forward(checking, header) : PM_OK;
    if (status != PM_OK)
        return status;
    status = role->has_handle ? check_term(checking, &role->handle, true) : PM_OK;
    if (status != PM_OK)
        return status;
    if (role->when_operator && !strcmp(checking->function->result, "void"))
        return pdt_role_error(checking->roles, role, checking->err, "'%s' returns nothing",
                              checking->function->name);
    for (uint32_t i = 0; i < role->n_metrics; i++)
        for (uint32_t k = 0; k < role->metrics[i].n_terms; k++) {
            status = check_term(checking, &role->metrics[i].terms[k], false);
            if (status != PM_OK)
                return status;
        }
    return PM_OK;
}

enum pm_status wrap_roles_check(const struct pdt_roles *roles, const struct pdt_header *header,
                                struct pm_error *err)
{
    for (uint32_t i = 0; i < roles->n_roles; i++) {
        const struct pdt_role *role = &roles->roles[i];
        const struct checking checking = {roles, role, pdt_header_find(header, role->function),
                                          err};
        if (!checking.function && role->is_optional)
            continue;
        if (!checking.function)
            return pdt_role_error(roles, role, err, "the header has no function '%s'",
                                  role->function);
        enum pm_status status = check_role(&checking, header);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* --- text --- */

static unsigned position_of(const struct pdt_function *function, const char *argument)
{
    return (unsigned)(parameter_of(function, argument) - function->parameters);
}

/* As it is where the text stands. */
static void add_now(struct pm_buf *out, const struct pdt_function *function,
                    const struct pdt_term *term)
{
    unsigned at = term->argument ? position_of(function, term->argument) : 0;
    switch (term->kind) {
    case PDT_TERM_PLAIN:
        pm_buf_printf(out, "(int64_t)a%u", at);
        break;
    case PDT_TERM_POINTED:
        pm_buf_printf(out, "(a%u ? (int64_t)*a%u : 0)", at, at);
        break;
    case PDT_TERM_FIELD:
        pm_buf_printf(out, "(a%u ? (int64_t)a%u->%s : 0)", at, at, term->field);
        break;
    case PDT_TERM_LENGTH:
        pm_buf_printf(out, "(a%u ? (int64_t)strlen((const char *)a%u) : 0)", at, at);
        break;
    case PDT_TERM_RETURN:
        pm_buf_add_str(out, "(int64_t)result");
        break;
    case PDT_TERM_ONE:
        pm_buf_add_str(out, "1");
        break;
    }
}

/* The type's name without what makes a pointer of it. */
static void add_type_name(struct pm_buf *out, const char *type)
{
    static const char *const words[] = {"const", "struct", "restrict", "volatile"};
    pm_buf_add_byte(out, '"');
    for (bool is_first = true; *type; is_first = false) {
        size_t len = 0;
        while (isalnum((unsigned char)type[len]) || type[len] == '_')
            len++;
        bool is_dropped = len == 0;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            is_dropped |= pm_str_is((struct pm_str){type, len}, words[i]);
        if (!is_dropped && !is_first && out->data && out->data[out->len - 1] != '"')
            pm_buf_add_byte(out, ' ');
        if (!is_dropped)
            pm_buf_add(out, type, len);
        type += len ? len : 1;
    }
    pm_buf_add_byte(out, '"');
}

void wrap_roles_enter(struct pm_buf *out, const struct pdt_function *function,
                      const struct pdt_role *role)
{
    if (!role || !role->has_handle)
        return;
    unsigned at = position_of(function, role->handle.argument);
    if (role->handle.kind == PDT_TERM_POINTED)
        pm_buf_printf(out, "    const void *handle = a%u ? (const void *)*a%u : NULL;\n", at, at);
    else
        pm_buf_printf(out, "    const void *handle = (const void *)a%u;\n", at);
    pm_buf_add_str(out, "    struct pm_sentence serves = wrap_enter_handle(");
    add_type_name(out, function->parameters[at].type);
    pm_buf_add_str(out, ", handle);\n");
}

/* Strings may be gone after the call. */
static bool is_kept(const struct pdt_term *term)
{
    return term->is_growth || term->kind == PDT_TERM_LENGTH;
}

void wrap_roles_begin(struct pm_buf *out, const struct pdt_function *function,
                      const struct pdt_role *role)
{
    if (!role || (!role->n_metrics && !role->has_handle))
        return;
    pm_buf_add_str(
        out, "    __attribute__((cleanup(wrap_end))) int is_outermost = wrap_begin(sentence);\n");
    for (uint32_t i = 0; i < role->n_metrics; i++)
        for (uint32_t k = 0; k < role->metrics[i].n_terms; k++) {
            const struct pdt_term *term = &role->metrics[i].terms[k];
            if (!is_kept(term))
                continue;
            pm_buf_printf(out, "    int64_t before%u_%u = ", i, k);
            add_now(out, function, term);
            pm_buf_add_str(out, ";\n");
        }
}

static void add_metric(struct pm_buf *out, const struct pdt_function *function,
                       const struct pdt_metric *metric, uint32_t i)
{
    const char *unit = metric->is_bytes ? "bytes" : "count";
    pm_buf_printf(out,
                  "        static struct wrap_metric metric%u = {{0}, \"%s\", \"%s\", \"%s\"};\n"
                  "        wrap_cost(&metric%u, ",
                  i, metric->name, unit, unit, i);
    for (uint32_t k = 0; k < metric->n_terms; k++)
        pm_buf_add_str(out, "wrap_times(");
    pm_buf_add_str(out, "1");
    for (uint32_t k = 0; k < metric->n_terms; k++) {
        const struct pdt_term *term = &metric->terms[k];
        pm_buf_add_str(out, ", ");
        if (term->kind != PDT_TERM_LENGTH)
            add_now(out, function, term);
        if (is_kept(term))
            pm_buf_printf(out, term->is_growth ? " - before%u_%u" : "before%u_%u", i, k);
        pm_buf_add_str(out, ")");
    }
    pm_buf_add_str(out, ");\n");
}

void wrap_roles_end(struct pm_buf *out, const struct pdt_function *function,
                    const struct pdt_role *role)
{
    if (!role || !role->n_metrics)
        return;
    pm_buf_add_str(out, "    if (is_outermost");
    if (role->when_operator)
        pm_buf_printf(out, " && result %s (%lld)", role->when_operator,
                      (long long)role->when_number);
    pm_buf_add_str(out, ") {\n");
    for (uint32_t i = 0; i < role->n_metrics; i++)
        add_metric(out, function, &role->metrics[i], i);
    pm_buf_add_str(out, "    }\n");
}

void wrap_roles_leave(struct pm_buf *out, const struct pdt_role *role)
{
    if (!role || !role->has_handle)
        return;
    pm_buf_add_str(out, "    wrap_leave(serves);\n");
    if (role->is_closed)
        pm_buf_add_str(out, "    wrap_close_handle(handle);\n");
}
