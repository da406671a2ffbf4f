#include "tau_text.h"

#include "reader.h"

#include <math.h>
#include <stdio.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Infinity and what is no number are refused. */
static bool read_numbers(struct pm_str *rest, size_t n, double *numbers)
{
    for (size_t i = 0; i < n; i++)
        if (!pm_str_to_double(import_word(rest), &numbers[i]) || !isfinite(numbers[i]))
            return false;
    return true;
}

static struct pm_str groups_of(struct pm_str rest)
{
    rest = import_trimmed(rest);
    if (import_begins(rest, "GROUP="))
        rest = (struct pm_str){rest.p + 6, rest.len - 6};
    if (rest.len >= 2 && rest.p[0] == '"' && rest.p[rest.len - 1] == '"')
        rest = (struct pm_str){rest.p + 1, rest.len - 2};
    return rest;
}

/* A name may hold quotes: it ends at the first one that the numbers follow. */
bool tau_read_row(struct pm_str line, size_t n_numbers, struct tau_row *ret_row)
{
    if (!line.len || line.p[0] != '"')
        return false;
    for (size_t i = 1; i + 1 < line.len; i++) {
        struct pm_str rest = {line.p + i + 1, line.len - i - 1};
        if (line.p[i] != '"' || !is_blank(line.p[i + 1]) ||
            !read_numbers(&rest, n_numbers, ret_row->numbers))
            continue;
        ret_row->name = import_trimmed((struct pm_str){line.p + 1, i - 1});
        ret_row->groups = groups_of(rest);
        return true;
    }
    return false;
}

/* --- names --- */

static struct pm_str behind(struct pm_str text, size_t n)
{
    return import_trimmed((struct pm_str){text.p + n, text.len - n});
}

/* Where "[{" begins; text.len: nowhere. */
static size_t place_at(struct pm_str text)
{
    for (size_t i = 0; i + 1 < text.len; i++)
        if (text.p[i] == '[' && text.p[i + 1] == '{')
            return i;
    return text.len;
}

/* "[{FILE} {12,3}-{20,1}]" */
static void read_place(struct pm_str text, struct tau_name *name)
{
    size_t file = 0, line = 0;
    uint64_t number = 0;
    while (file + 2 < text.len && text.p[file + 2] != '}')
        file++;
    if (file + 2 >= text.len)
        return;
    name->file = (struct pm_str){text.p + 2, file};
    text = behind(text, file + 3);
    while (line + 1 < text.len && text.p[line + 1] >= '0' && text.p[line + 1] <= '9')
        line++;
    if (text.len && text.p[0] == '{' && import_number((struct pm_str){text.p + 1, line}, &number) &&
        number <= INT32_MAX)
        name->line_no = (uint32_t)number;
}

struct tau_name tau_read_name(struct pm_str text)
{
    static const struct {
        const char *mark;
        enum tau_kind kind;
    } marks[] = {{"[SAMPLE] ", TAU_SAMPLED},
                 {"[UNWIND] ", TAU_SAMPLED},
                 {"[CONTEXT] ", TAU_NOTHING},
                 {"[SUMMARY] ", TAU_NOTHING}};
    struct tau_name name = {.kind = TAU_TIMER};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (!import_begins(text, marks[i].mark))
            continue;
        name.kind = marks[i].kind;
        text = behind(text, strlen(marks[i].mark));
        break;
    }
    size_t place = place_at(text);
    name.function = import_trimmed((struct pm_str){text.p, place});
    read_place((struct pm_str){text.p + place, text.len - place}, &name);
    /* what TAU's instrumenter of C puts behind names */
    if (name.function.len > 2 && !memcmp(name.function.p + name.function.len - 2, " C", 2))
        name.function = import_trimmed((struct pm_str){name.function.p, name.function.len - 2});
    return name;
}

bool tau_next_part(struct pm_str *rest, struct pm_str *ret_part)
{
    size_t n = 0;
    if (!rest->len)
        return false;
    while (n + 4 <= rest->len && memcmp(rest->p + n, " => ", 4) != 0)
        n++;
    bool is_last = n + 4 > rest->len;
    n = is_last ? rest->len : n;
    *ret_part = import_trimmed((struct pm_str){rest->p, n});
    n += is_last ? 0 : 4;
    *rest = (struct pm_str){rest->p + n, rest->len - n};
    return true;
}

/* --- files --- */

bool tau_read_file_name(const char *name, struct tau_place *ret_place)
{
    int end = 0;
    return sscanf(name, "profile.%9u.%9u.%9u%n", &ret_place->node, &ret_place->context,
                  &ret_place->thread, &end) == 3 &&
           !name[end];
}

bool tau_read_head(struct pm_str line, uint64_t *ret_n, struct pm_str *ret_metric)
{
    static const char word[] = "templated_functions", multi[] = "_MULTI_";
    struct pm_str number = import_word(&line);
    line = import_trimmed(line);
    if (!import_number(number, ret_n) || !import_begins(line, word))
        return false;
    line = behind(line, sizeof word - 1);
    *ret_metric = import_begins(line, multi) ? behind(line, sizeof multi - 1) : PM_STR("");
    return !line.len || ret_metric->len;
}

struct pm_str tau_metadata(struct pm_str line, const char *key)
{
    char begin[128];
    int len = snprintf(begin, sizeof begin, "<name>%s</name><value>", key);
    const char *at = memmem(line.p, line.len, begin, (size_t)len);
    if (!at)
        return PM_STR("");
    at += len;
    size_t left = (size_t)(line.p + line.len - at);
    const char *end = memchr(at, '<', left);
    return end ? (struct pm_str){at, (size_t)(end - at)} : PM_STR("");
}
