/* perfmap metrics */
#include "cmd/core/cmd.h"
#include "cmd/session/counters.h"

#include "mapping/base/json.h"

#include <fnmatch.h>
#include <libsmartcols/libsmartcols.h>

struct row {
    const char *name, *source, *unit, *what;
    uint64_t period;
    struct pm_counter_setting setting;
    struct session_trial trial;
};

struct list {
    struct row *rows;
    size_t n;
};

static bool fits_name(const char *pattern, const char *name)
{
    return !pattern || fnmatch(pattern, name, FNM_CASEFOLD) == 0 || strcasestr(name, pattern);
}

static bool fits(const char *pattern, const struct session_event *event)
{
    return fits_name(pattern, event->name) || (event->alias && fits_name(pattern, event->alias));
}

static const char *source_word(const struct session_source *source)
{
    return source->type == PM_COUNTER_OF_FILE ? source->file : "getrusage";
}

/* Tries each that fits, and one that is no name in the table: rHEX, unit/event/. */
static enum pm_status fill(const char *pattern, struct pm_error *err, struct list *list)
{
    size_t n = 0, n_sources = 0;
    const struct session_event *events = session_counter_events();
    const struct session_source *sources = session_counter_sources();
    while (events[n].name)
        n++;
    while (sources[n_sources].name)
        n_sources++;
    list->rows = pm_alloc_array(n + n_sources + 1, sizeof *list->rows);
    if (!list->rows)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < n; i++)
        if (fits(pattern, &events[i]))
            list->rows[list->n++] = (struct row){.name = events[i].name,
                                                 .source = "perf",
                                                 .unit = events[i].unit,
                                                 .what = events[i].what,
                                                 .period = events[i].period};
    for (size_t i = 0; i < n_sources; i++)
        if (fits_name(pattern, sources[i].name))
            list->rows[list->n++] = (struct row){.name = sources[i].name,
                                                 .source = source_word(&sources[i]),
                                                 .unit = sources[i].unit,
                                                 .what = sources[i].what};
    if (!list->n && pattern && session_is_event(pattern))
        list->rows[list->n++] = (struct row){
            .name = pattern, .source = "perf", .unit = "events", .what = "an event of that unit"};
    for (size_t i = 0; i < list->n; i++) {
        struct session_counters one = {0};
        if (session_counters_add(&one, list->rows[i].name, !strcmp(list->rows[i].source, "perf"),
                                 err) != PM_OK)
            return PM_ERR_MEMORY;
        list->rows[i].setting = one.settings.items[0];
        list->rows[i].period = one.settings.items[0].period;
        list->rows[i].trial = session_counter_try(&one.settings.items[0]);
        session_counters_release(&one);
    }
    if (!list->n)
        return pm_error_set(err, PM_ERR_USAGE, "no event fits '%s'", pattern);
    return PM_OK;
}

static const char *state_of(const struct session_trial *trial)
{
    if (!trial->counts)
        return "missing";
    return trial->samples ? "counts, samples" : "counts";
}

static void print_json(const struct list *list)
{
    struct pm_json json;
    pm_json_init(&json, stdout);
    pm_json_object(&json, NULL);
    pm_json_array(&json, "metrics");
    for (size_t i = 0; i < list->n; i++) {
        const struct row *row = &list->rows[i];
        pm_json_object(&json, NULL);
        pm_json_string(&json, "event", row->name);
        pm_json_string(&json, "metric", row->setting.name);
        pm_json_string(&json, "unit", row->unit);
        pm_json_string(&json, "source", row->source);
        pm_json_string(&json, "description", row->what);
        pm_json_u64(&json, "period", row->period);
        pm_json_bool(&json, "counts", row->trial.counts);
        pm_json_bool(&json, "samples", row->trial.samples);
        pm_json_bool(&json, "is_user_only", row->trial.is_user_only);
        pm_json_string(&json, "reason", *row->trial.reason ? row->trial.reason : NULL);
        pm_json_string(&json, "advice", *row->trial.advice ? row->trial.advice : NULL);
        pm_json_end(&json);
    }
    pm_json_end(&json);
    pm_json_end(&json);
    (void)pm_json_done(&json);
}

/* Each piece of advice once. */
static void print_advice(const struct list *list)
{
    bool headed = false;
    for (size_t i = 0; i < list->n; i++) {
        const struct session_trial *trial = &list->rows[i].trial;
        bool is_said = !*trial->advice;
        for (size_t k = 0; k < i && !is_said; k++)
            is_said = !strcmp(list->rows[k].trial.advice, trial->advice);
        if (is_said)
            continue;
        if (!headed)
            puts("\nwhat to do:");
        headed = true;
        printf("  %s: %s\n", trial->reason, trial->advice);
    }
}

static bool print_table(const struct list *list)
{
    struct libscols_table *table = scols_new_table();
    bool ok = table && scols_table_new_column(table, "EVENT", 0, 0) &&
              scols_table_new_column(table, "PERIOD", 0, SCOLS_FL_RIGHT) &&
              scols_table_new_column(table, "STATE", 0, 0) &&
              scols_table_new_column(table, "WHAT", 0, SCOLS_FL_WRAP);
    for (size_t i = 0; ok && i < list->n; i++) {
        const struct row *row = &list->rows[i];
        const char *what = row->trial.counts ? row->what : row->trial.reason;
        char period[24];
        snprintf(period, sizeof period, "%llu", (unsigned long long)row->period);
        if (!row->trial.samples)
            *period = 0;
        struct libscols_line *line = scols_table_new_line(table, NULL);
        ok = line && scols_line_set_data(line, 0, row->name) == 0 &&
             scols_line_set_data(line, 1, period) == 0 &&
             scols_line_set_data(line, 2, state_of(&row->trial)) == 0 &&
             scols_line_set_data(line, 3, what) == 0;
    }
    if (ok) {
        scols_table_set_stream(table, stdout);
        ok = scols_print_table(table) == 0;
    }
    scols_unref_table(table);
    if (ok)
        print_advice(list);
    return ok;
}

static bool print(const struct cmd_parse *parse, const struct list *list, struct pm_error *err)
{
    if (parse->json)
        print_json(list);
    else if (!print_table(list))
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory") == PM_OK;
    return true;
}

static int metrics_main(struct cmd_parse *parse)
{
    while (cmd_next(parse) != CMD_END)
        ;
    if (parse->failed)
        return CMD_USAGE;
    if (parse->n_operands > 1)
        return cmd_usage_error(parse, "unexpected argument '%s'", parse->operands[1]);
    const char *pattern = parse->n_operands != 0 ? parse->operands[0] : NULL;
    struct pm_error err = PM_ERROR_INIT;
    struct list list = {0};
    bool is_done = fill(pattern, &err, &list) == PM_OK && print(parse, &list, &err);
    free(list.rows);
    return is_done ? cmd_stdout_done(parse, CMD_DONE) : cmd_fail(parse, &err);
}

static const struct cmd_option metrics_options[] = {{CMD_KEY_JSON, "json", NULL, "as JSON"}, {0}};

static const struct cmd_example metrics_examples[] = {
    {"perfmap metrics", "which events this machine can count"},
    {"perfmap metrics '*cache*'", "of these, those with cache in their name"},
    {"perfmap run --metric instructions,page-faults -- ./heat", "count two of them"},
    {"perfmap run --sample-by page-faults:1 -- ./heat", "and show where one happens"},
    {NULL, NULL}};

const struct cmd cmd_metrics = {
    .name = "metrics",
    .summary = "list the events that can be counted on this machine",
    .usage = (const char *const[]){"metrics [--json] [PATTERN]", NULL},
    .description =
        "Events that 'perfmap run --metric' counts and '--sample-by' takes samples by: those of "
        "the kernel (page-faults) and of the processor (cache-misses), as perf(1) names them. Each "
        "is tried: opened, started and read. Behind them are numbers of whole processes, from "
        "getrusage "
        "and /proc, which are read when a process begins and when it ends. PATTERN is a part of "
        "the name, or with * and ? all of "
        "it.\n\nStates: counts (--metric), samples (--sample-by too), missing (with the reason). "
        "PERIOD is that of --sample-by where none is given.\n\nFurther events have no names here: "
        "rHEX is a raw one of the processor, as r1a8; UNIT/EVENT/ and UNIT/KEY=VALUE,.../ are "
        "those "
        "of a unit in /sys/bus/event_source/devices, as msr/tsc/. Given as PATTERN, such an event "
        "is tried.",
    .options = metrics_options,
    .examples = metrics_examples,
    .main = metrics_main};
