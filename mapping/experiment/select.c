/* Which members: "opt=O2&ranks>=8". */
#include "experiment_internal.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_BYTES = 4096 };

enum operator{ HAS, HAS_NOT, EQUAL, OTHER, LESS, LESS_OR_EQUAL, MORE, MORE_OR_EQUAL };

struct condition {
    struct pm_str key;
    enum operator operator;
    struct pm_str value;
};

static const struct {
    const char *text;
    enum operator operator;
} operators[] = {{"!=", OTHER}, {"<=", LESS_OR_EQUAL}, {">=", MORE_OR_EQUAL},
                 {"=", EQUAL},  {"<", LESS},           {">", MORE}};

/* Where the key ends: at an operator, or at the end. */
static size_t key_length(struct pm_str text)
{
    size_t n = 0;
    while (n < text.len && !strchr("=<>!", text.p[n]))
        n++;
    return n;
}

static enum pm_status read_operator(struct pm_str text, struct pm_error *err, struct condition *ret)
{
    size_t at = key_length(text);
    *ret = (struct condition){{text.p, at}, HAS, {"", 0}};
    for (size_t i = 0; i < sizeof operators / sizeof *operators && at < text.len; i++) {
        size_t len = strlen(operators[i].text);
        if (text.len - at < len || memcmp(text.p + at, operators[i].text, len) != 0)
            continue;
        ret->operator= operators[i].operator;
        ret->value = (struct pm_str){text.p + at + len, text.len - at - len};
        return PM_OK;
    }
    if (at == text.len)
        return PM_OK;
    return pm_error_set(err, PM_ERR_USAGE,
                        "selection '%.*s': expected =, !=, <, <=, > or >=", (int)text.len, text.p);
}

static enum pm_status read_condition(struct pm_str text, struct pm_error *err,
                                     struct condition *ret)
{
    double number;
    if (text.len > 1 && text.p[0] == '!' &&
        key_length((struct pm_str){text.p + 1, text.len - 1}) == text.len - 1) {
        *ret = (struct condition){{text.p + 1, text.len - 1}, HAS_NOT, {"", 0}};
        return PM_OK;
    }
    enum pm_status status = read_operator(text, err, ret);
    if (status != PM_OK)
        return status;
    if (!ret->key.len)
        return pm_error_set(err, PM_ERR_USAGE,
                            "selection '%.*s': expected KEY=VALUE, KEY>=NUMBER, "
                            "KEY or !KEY, with & between several",
                            (int)text.len, text.p);
    if (ret->operator>= LESS && !pm_str_to_double(ret->value, &number))
        return pm_error_set(err, PM_ERR_USAGE, "selection '%.*s': '%.*s' is no number",
                            (int)text.len, text.p, (int)ret->value.len, ret->value.p);
    return PM_OK;
}

static bool fits_one(struct pm_str pattern, const char *value)
{
    char *text = pm_strndup(pattern.p, pattern.len);
    bool fits = text && fnmatch(text, value, 0) == 0;
    free(text);
    return fits;
}

/* One of the patterns between '|'. */
static bool fits_any(struct pm_str patterns, const char *value)
{
    for (size_t at = 0; at <= patterns.len;) {
        const char *bar = memchr(patterns.p + at, '|', patterns.len - at);
        size_t end = bar ? (size_t)(bar - patterns.p) : patterns.len;
        if (fits_one((struct pm_str){patterns.p + at, end - at}, value))
            return true;
        at = end + 1;
    }
    return false;
}

static bool compares(enum operator operator, double value, double with)
{
    switch (operator) {
    case LESS:
        return value < with;
    case LESS_OR_EQUAL:
        return value <= with;
    case MORE:
        return value > with;
    default:
        return value >= with;
    }
}

/* "member" is its number, "state" whether its archive is as it was. */
static const char *value_of(const struct pm_experiment_member *member, struct pm_str key,
                            char room[24])
{
    static const char *const states[] = {"ok", "missing", "changed"};
    if (pm_str_is(key, "state"))
        return member->poor && !member->state ? "poor" : states[member->state];
    if (pm_str_is(key, "member")) {
        snprintf(room, 24, "%lld", (long long)member->id);
        return room;
    }
    for (uint32_t i = 0; i < member->n_attributes; i++)
        if (pm_str_is(key, member->attributes[i].key))
            return member->attributes[i].value;
    return NULL;
}

static bool holds(const struct condition *condition, const struct pm_experiment_member *member)
{
    char room[24];
    double number = 0, with = 0;
    const char *value = value_of(member, condition->key, room);
    switch (condition->operator) {
    case HAS:
        return value != NULL;
    case HAS_NOT:
        return !value;
    case EQUAL:
        return value && fits_any(condition->value, value);
    case OTHER:
        return !value || !fits_any(condition->value, value);
    default:
        return value && pm_str_to_double(pm_str_of(value), &number) &&
               pm_str_to_double(condition->value, &with) &&
               compares(condition->operator, number, with);
    }
}

/* Leaves those of the selection that fit. */
static void keep(const struct pm_experiment *experiment, const struct condition *condition,
                 struct pm_experiment_selection *selection)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < selection->n; i++)
        if (holds(condition, &experiment->members[selection->items[i]]))
            selection->items[n++] = selection->items[i];
    selection->n = n;
}

/* A key that no member has is more likely mistyped than meant. */
static enum pm_status check_key(const struct pm_experiment *experiment,
                                const struct condition *condition, struct pm_error *err)
{
    char room[24];
    for (uint32_t i = 0; i < experiment->n_members; i++)
        if (value_of(&experiment->members[i], condition->key, room))
            return PM_OK;
    if (!experiment->n_members)
        return PM_OK;
    return pm_error_set(err, PM_ERR_USAGE,
                        "no member of '%s' has an attribute '%.*s': 'perfmap experiment list' "
                        "shows what they have",
                        experiment->path, (int)condition->key.len, condition->key.p);
}

enum pm_status pm_experiment_select(const struct pm_experiment *experiment, const char *text,
                                    struct pm_error *err, struct pm_experiment_selection *ret)
{
    struct pm_experiment_selection selection = {.n = experiment->n_members};
    enum pm_status status = PM_OK;
    if (strlen(text) > MOST_BYTES)
        return pm_error_set(err, PM_ERR_USAGE, "the selection is longer than %d bytes", MOST_BYTES);
    selection.items = pm_alloc_array((size_t)selection.n + 1, sizeof *selection.items);
    if (!selection.items)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < selection.n; i++)
        selection.items[i] = i;
    for (const char *p = text; *text && p && !status;) {
        size_t len = strcspn(p, "&");
        struct condition condition;
        status = read_condition((struct pm_str){p, len}, err, &condition);
        if (!status)
            status = check_key(experiment, &condition, err);
        if (!status)
            keep(experiment, &condition, &selection);
        p = p[len] ? p + len + 1 : NULL;
    }
    if (status != PM_OK)
        free(selection.items);
    else
        *ret = selection;
    return status;
}

/* --- names --- */

static bool is_experiment(const char *path)
{
    unsigned char head[72];
    struct pm_error unused = PM_ERROR_INIT;
    uint64_t size_bytes;
    int fd;
    bool is = false;
    if (pm_file_open(path, INT64_MAX, &unused, &fd, &size_bytes) == PM_OK) {
        is = pm_file_read_at(fd, head, sizeof head, 0) && !memcmp(head + 68, "PFMX", 4);
        close(fd);
    }
    pm_error_release(&unused);
    return is;
}

char *pm_experiment_named(const char *operand, const char **ret_selection)
{
    size_t len = strcspn(operand, "?");
    struct pm_buf path = PM_BUF_INIT(1 << 16);
    pm_buf_add(&path, operand, len);
    if (len && !path.failed && access(path.data, F_OK) != 0)
        pm_buf_add_str(&path, pm_experiment_kind.usual_suffix);
    *ret_selection = operand[len] ? operand + len + 1 : "";
    bool is_called_so = pm_str_ends_with(path.data ? path.data : "", ".perfexp");
    if (len && !path.failed &&
        (is_experiment(path.data) || (is_called_so && access(path.data, F_OK) == 0)))
        return pm_buf_take(&path);
    pm_buf_release(&path);
    return NULL;
}
