/* perfmap experiment list */
#include "experiment.h"

#include "mapping/base/json.h"

#include <libsmartcols/libsmartcols.h>
#include <unistd.h>

enum { MOST_KEYS = 64 };

/* Keys of attributes, in the order of their names. */
struct keys {
    const char *items[MOST_KEYS];
    bool differs[MOST_KEYS];
    uint32_t n;
};

struct list {
    const struct pm_experiment *experiment;
    struct pm_experiment_selection chosen;
    struct keys keys;
};

static const struct pm_experiment_member *member_of(const struct list *list, uint32_t i)
{
    return &list->experiment->members[list->chosen.items[i]];
}

/* Each run has its own: they tell nothing apart. */
static bool is_of_each(const char *key)
{
    static const char *const keys[] = {"date", "load_start", "load_end", "cpu_ns"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!strcmp(key, keys[i]))
            return true;
    return false;
}

static void add_key(struct keys *keys, const char *key)
{
    uint32_t at = 0;
    while (at < keys->n && strcmp(keys->items[at], key) < 0)
        at++;
    if (keys->n == MOST_KEYS || (at < keys->n && !strcmp(keys->items[at], key)))
        return;
    memmove(keys->items + at + 1, keys->items + at, (keys->n - at) * sizeof *keys->items);
    keys->items[at] = key;
    keys->n++;
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static void find_keys(struct list *list)
{
    struct keys *keys = &list->keys;
    for (uint32_t i = 0; i < list->chosen.n; i++)
        for (uint32_t k = 0; k < member_of(list, i)->n_attributes; k++)
            add_key(keys, member_of(list, i)->attributes[k].key);
    for (uint32_t k = 0; k < keys->n; k++)
        for (uint32_t i = 1; i < list->chosen.n && !is_of_each(keys->items[k]); i++)
            keys->differs[k] |= !is_same(pm_member_value(member_of(list, 0), keys->items[k]),
                                         pm_member_value(member_of(list, i), keys->items[k]));
}

/* --- text --- */

static bool add_columns(struct libscols_table *table, const struct keys *keys)
{
    bool good = scols_table_new_column(table, "MEMBER", 0, SCOLS_FL_RIGHT) &&
                scols_table_new_column(table, "STATE", 0, 0);
    for (uint32_t k = 0; k < keys->n && good; k++)
        if (keys->differs[k])
            good = scols_table_new_column(table, keys->items[k], 0, SCOLS_FL_TRUNC) != NULL;
    return good && scols_table_new_column(table, "ARCHIVE", 0, 0);
}

static bool add_line(struct libscols_table *table, const struct keys *keys,
                     const struct pm_experiment_member *member)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    char number[24];
    size_t at = 2;
    snprintf(number, sizeof number, "%lld", (long long)member->id);
    bool good = line && scols_line_set_data(line, 0, number) == 0 &&
                scols_line_set_data(line, 1, experiment_state_word(member)) == 0;
    for (uint32_t k = 0; k < keys->n && good; k++) {
        const char *value = pm_member_value(member, keys->items[k]);
        if (keys->differs[k])
            good = scols_line_set_data(line, at++, value ? value : "") == 0;
    }
    return good && scols_line_set_data(line, at, member->name) == 0;
}

/* What all of them have. */
static void print_common(const struct list *list)
{
    const char *word = "all: ";
    for (uint32_t k = 0; k < list->keys.n; k++) {
        const char *key = list->keys.items[k];
        if (list->keys.differs[k] || is_of_each(key))
            continue;
        printf("%s%s=%s", word, key, pm_member_value(member_of(list, 0), key));
        word = ", ";
    }
    if (*word == ',')
        putchar('\n');
}

static bool print_table(const struct list *list, const struct show_look *look)
{
    struct show_term term = show_term_of(stdout, look);
    struct libscols_table *table = scols_new_table();
    bool good = table && add_columns(table, &list->keys);
    for (uint32_t i = 0; i < list->chosen.n && good; i++)
        good = add_line(table, &list->keys, member_of(list, i));
    if (good && list->chosen.n) {
        scols_table_set_stream(table, stdout);
        scols_table_enable_noencoding(table, 1); /* cells are printable already */
        scols_table_set_termforce(table, SCOLS_TERMFORCE_ALWAYS);
        scols_table_set_termwidth(table, term.width ? (size_t)term.width : 100000);
        good = scols_print_table(table) == 0;
    }
    scols_unref_table(table);
    if (good)
        print_common(list);
    if (list->chosen.n != list->experiment->n_members || !list->chosen.n)
        printf("%u of %u members\n", list->chosen.n, list->experiment->n_members);
    return good;
}

/* --- JSON --- */

static void print_member(const struct pm_experiment_member *member, struct pm_json *json)
{
    static const char *const origins[] = {"run", "binary", "user"};
    pm_json_object(json, NULL);
    pm_json_i64(json, "member", member->id);
    pm_json_string(json, "archive", member->path);
    pm_json_string(json, "state", experiment_state_word(member));
    pm_json_string(json, "poor", member->poor);
    pm_json_u64(json, "build", member->build);
    pm_json_array(json, "attributes");
    for (uint32_t k = 0; k < member->n_attributes; k++) {
        pm_json_object(json, NULL);
        pm_json_string(json, "key", member->attributes[k].key);
        pm_json_string(json, "value", member->attributes[k].value);
        pm_json_string(json, "origin", origins[member->attributes[k].origin]);
        pm_json_end(json);
    }
    pm_json_end(json);
    pm_json_end(json);
}

static void print_json(const struct list *list)
{
    struct pm_json json;
    pm_json_init(&json, stdout);
    pm_json_object(&json, NULL);
    pm_json_string(&json, "format", "perfmap-experiment");
    pm_json_u64(&json, "version", 1);
    pm_json_string(&json, "experiment", list->experiment->path);
    pm_json_u64(&json, "n_members", list->experiment->n_members);
    pm_json_array(&json, "members");
    for (uint32_t i = 0; i < list->chosen.n; i++)
        print_member(member_of(list, i), &json);
    pm_json_end(&json);
    pm_json_end(&json);
    (void)pm_json_done(&json); /* cmd_stdout_done tells */
}

int experiment_list(struct cmd_parse *parse, const struct experiment_request *request)
{
    struct list list = {0};
    struct pm_error err = PM_ERROR_INIT;
    struct pm_experiment *experiment;
    const char *text;
    int end;
    if (!experiment_open(parse, &text, &experiment, &end))
        return end;
    list.experiment = experiment;
    enum pm_status status = pm_experiment_select(experiment, text, &err, &list.chosen);
    if (!status)
        find_keys(&list);
    if (!status && parse->json)
        print_json(&list);
    else if (!status && !print_table(&list, &request->look))
        status = pm_error_set(&err, PM_ERR_MEMORY, "out of memory");
    free(list.chosen.items);
    pm_experiment_close(experiment);
    if (!status)
        return cmd_stdout_done(parse, CMD_DONE);
    end = cmd_fail(parse, &err);
    return status == PM_ERR_USAGE ? CMD_USAGE : end;
}
