/* Metrics that are made of others (formula.h). */
#include "formula.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

enum { MAX_DEPTH = 32 };

struct parser {
    const char *at, *end;
    const char *name; /* of the formula, for errors */
    pm_formula_find *find;
    void *context;
    struct pm_error *err;
    struct pm_formula *formula;
    int depth;
};

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static void skip_blanks(struct parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t'))
        p->at++;
}

static bool take(struct parser *p, char c)
{
    skip_blanks(p);
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static bool fail(struct parser *p, const char *expected)
{
    pm_error_set(p->err, PM_ERR_USAGE, "formula '%s': expected %s at '%.*s'", p->name, expected,
                 (int)(p->end - p->at), p->at);
    return false;
}

static bool add_step(struct parser *p, struct pm_formula_step step)
{
    if (p->formula->n == PM_FORMULA_MAX_STEPS)
        return fail(p, "fewer operations");
    p->formula->steps[p->formula->n++] = step;
    return true;
}

static bool parse_number(struct parser *p)
{
    char text[32], *end;
    size_t n = 0;
    while (p->at + n < p->end && n < sizeof text - 1 &&
           (isalnum((unsigned char)p->at[n]) || strchr(".", p->at[n]) ||
            (n && strchr("+-", p->at[n]) && strchr("eE", p->at[n - 1]))))
        n++;
    memcpy(text, p->at, n);
    text[n] = 0;
    double number = strtod(text, &end);
    if (*end || !isfinite(number))
        return fail(p, "a number");
    p->at += n;
    return add_step(p, (struct pm_formula_step){.what = 'n', .number = number});
}

static bool parse_metric(struct parser *p)
{
    struct pm_str name = {p->at, 0};
    while (p->at < p->end && is_name_byte(*p->at))
        p->at++;
    name.len = (size_t)(p->at - name.p);
    struct pm_formula_step step = {.what = 'm'};
    return p->find(p->context, name, p->err, &step.m) && add_step(p, step);
}

static bool parse_sum(struct parser *p);

static bool parse_unsigned(struct parser *p)
{
    if (take(p, '(')) {
        if (++p->depth > MAX_DEPTH)
            return fail(p, "fewer parentheses");
        bool is_good = parse_sum(p) && (take(p, ')') || fail(p, "')'"));
        p->depth--;
        return is_good;
    }
    if (p->at < p->end && (isdigit((unsigned char)*p->at) || *p->at == '.'))
        return parse_number(p);
    if (p->at < p->end && is_name_byte(*p->at))
        return parse_metric(p);
    return fail(p, "a metric, a number or '('");
}

/* Any number of signs, without recursion. */
static bool parse_factor(struct parser *p)
{
    bool is_negative = false;
    while (take(p, '-'))
        is_negative = !is_negative;
    return parse_unsigned(p) &&
           (!is_negative || add_step(p, (struct pm_formula_step){.what = '~'}));
}

static bool parse_product(struct parser *p)
{
    if (!parse_factor(p))
        return false;
    for (;;) {
        char what = take(p, '*') ? '*' : '/';
        if (what == '/' && !take(p, '/'))
            return true;
        if (!parse_factor(p) || !add_step(p, (struct pm_formula_step){.what = what}))
            return false;
    }
}

static bool parse_sum(struct parser *p)
{
    if (!parse_product(p))
        return false;
    for (;;) {
        char what = take(p, '+') ? '+' : '-';
        if (what == '-' && !take(p, '-'))
            return true;
        if (!parse_product(p) || !add_step(p, (struct pm_formula_step){.what = what}))
            return false;
    }
}

bool pm_formula_is_one(struct pm_str text)
{
    size_t n = 0;
    while (n < text.len && !strchr("=/:,", text.p[n]))
        n++;
    return n < text.len && text.p[n] == '=';
}

struct pm_str pm_formula_next(const char **list)
{
    struct pm_str item = {*list, 0};
    bool divides = pm_formula_is_one((struct pm_str){*list, strlen(*list)}), is_inside = false;
    for (; item.p[item.len] && (is_inside || item.p[item.len] != ','); item.len++)
        is_inside ^= item.p[item.len] == '/' && !divides;
    *list += item.len + (item.p[item.len] == ',');
    return item;
}

enum pm_status pm_formula_parse(struct pm_str text, pm_formula_find *find, void *context,
                                struct pm_error *err, struct pm_formula *ret_formula)
{
    struct parser p = {.at = text.p,
                       .end = text.p + text.len,
                       .find = find,
                       .context = context,
                       .err = err,
                       .formula = ret_formula,
                       .name = ret_formula->name};
    *ret_formula = (struct pm_formula){0};
    skip_blanks(&p);
    size_t n = 0;
    while (p.at < p.end && is_name_byte(*p.at) && n + 1 < sizeof ret_formula->name)
        ret_formula->name[n++] = *p.at++;
    if (n == 0 || isdigit((unsigned char)ret_formula->name[0]) || !take(&p, '='))
        return pm_error_set(err, PM_ERR_USAGE,
                            "'%.*s' is no formula: NAME = EXPRESSION, with a name of letters, "
                            "digits and _",
                            (int)text.len, text.p);
    skip_blanks(&p);
    if (!parse_sum(&p))
        return PM_ERR_USAGE;
    skip_blanks(&p);
    if (p.at != p.end)
        return fail(&p, "an operator"), PM_ERR_USAGE;
    return PM_OK;
}

double pm_formula_value(const struct pm_formula *formula, const double *values)
{
    double stack[PM_FORMULA_MAX_STEPS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < formula->n; i++) {
        const struct pm_formula_step *step = &formula->steps[i];
        double right = n ? stack[n - 1] : 0;
        switch (step->what) {
        case 'n':
            stack[n++] = step->number;
            continue;
        case 'm':
            stack[n++] = values[step->m];
            continue;
        case '~':
            stack[n - 1] = -right;
            continue;
        default:
            n--;
        }
        double *left = &stack[n - 1];
        if (step->what == '+')
            *left += right;
        else if (step->what == '-')
            *left -= right;
        else if (step->what == '*')
            *left *= right;
        else
            *left = right == 0 ? NAN : *left / right;
    }
    return n == 1 ? stack[0] : NAN;
}

bool pm_formula_uses(const struct pm_formula *formula, uint32_t m)
{
    for (uint32_t i = 0; i < formula->n; i++)
        if (formula->steps[i].what == 'm' && formula->steps[i].m == m)
            return true;
    return false;
}
