/* perfmap metrics */
#include "cmd/core/cmd.h"
#include "cmd/session/counter_libraries.h"
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
    struct session_papi papi; /* that rows are lent from */
    char papi_problem[200];   /* why there is no event of it */
    size_t n_papi_missing; /* events that are not listed: without a pattern, those that count are */
    struct session_library *libraries; /* --metric-source */
    size_t n_libraries;
};

/* The arguments. */
struct asked {
    const char *pattern; /* NULL: all */
    const char *paths[8];
    size_t n_paths;
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

static bool add_row(struct list *list, const struct row *row)
{
    struct row *rows = pm_realloc_array(list->rows, list->n + 1, sizeof *rows);
    if (!rows)
        return false;
    list->rows = rows;
    rows[list->n++] = *row;
    return true;
}

/* Tries it, too. */
static bool add_tried(struct list *list, struct row row, struct pm_error *err)
{
    struct session_counters one = {0};
    if (session_counters_add(&one, row.name, !strcmp(row.source, "perf"), err) != PM_OK)
        return false;
    row.setting = one.settings.items[0];
    row.period = row.setting.period;
    row.trial = session_counter_try(&row.setting);
    session_counters_release(&one);
    return add_row(list, &row);
}

/* Those of the kernel and of the processor, and of whole processes. */
static bool add_known(const char *pattern, struct list *list, struct pm_error *err)
{
    for (const struct session_event *e = session_counter_events(); e->name; e++) {
        struct row row = {.name = e->name, .source = "perf", .unit = e->unit, .what = e->what};
        if (fits(pattern, e) && !add_tried(list, row, err))
            return false;
    }
    for (const struct session_source *s = session_counter_sources(); s->name; s++) {
        struct row row = {
            .name = s->name, .source = source_word(s), .unit = s->unit, .what = s->what};
        if (fits_name(pattern, s->name) && !add_tried(list, row, err))
            return false;
    }
    return true;
}

/* One that has been tried. Names that are too long for a metric are none. */
static bool add_papi_event(const struct session_papi_event *event, struct list *list)
{
    char name[PM_COUNTER_FIELD_BYTES + 8];
    struct session_counters one = {0};
    snprintf(name, sizeof name, "papi:%.127s", event->name);
    if (session_counters_add(&one, name, false, NULL) != PM_OK)
        return true;
    struct row row = {
        .name = event->name,
        .source = "PAPI",
        .unit = one.settings.items[0].unit,
        .what = *event->what ? event->what : "an event of PAPI",
        .setting = one.settings.items[0],
        .period = 100003,
        .trial = {.counts = event->counts, .samples = event->samples, .is_late = event->is_late}};
    snprintf(row.trial.reason, sizeof row.trial.reason, "%s%s", *event->reason ? "PAPI: " : "",
             event->reason);
    session_counters_release(&one);
    return add_row(list, &row);
}

/* PAPI that crashes is as good as none. */
static bool add_papi(const char *pattern, struct list *list)
{
    struct pm_error err = PM_ERROR_INIT;
    const char *late = pattern ? session_papi_name(pattern) : NULL;
    bool is_late = late && session_papi_is_late(late), is_done = true;
    if (session_papi_try(is_late ? &late : NULL, is_late, false, pattern, &err, &list->papi) !=
        PM_OK)
        list->papi = (struct session_papi){.reason = pm_error_text(&err)};
    snprintf(list->papi_problem, sizeof list->papi_problem, "%s", list->papi.reason);
    for (size_t i = 0; i < list->papi.n && is_done; i++) {
        const struct session_papi_event *event = &list->papi.events[i];
        if (pattern || event->counts)
            is_done = add_papi_event(event, list);
        else
            list->n_papi_missing++;
    }
    pm_error_release(&err);
    return is_done;
}

static bool add_library(const struct asked *asked, const struct session_library *library,
                        struct list *list, struct pm_error *err)
{
    struct session_counters all = {0};
    bool is_done = session_counters_take_library(&all, library, err) == PM_OK;
    for (uint32_t k = 0; k < library->n && is_done; k++) {
        const struct session_library_metric *metric = &library->metrics[k];
        struct row row = {.name = metric->name,
                          .source = library->path,
                          .unit = metric->unit,
                          .what = *metric->what ? metric->what : "a metric of that library",
                          .setting = all.settings.items[k],
                          .trial = {.counts = true}};
        if (fits_name(asked->pattern, metric->name))
            is_done = add_row(list, &row);
    }
    session_counters_release(&all);
    return is_done;
}

static bool add_libraries(const struct asked *asked, struct list *list, struct pm_error *err)
{
    list->libraries = pm_alloc_array(asked->n_paths + 1, sizeof *list->libraries);
    for (size_t i = 0; list->libraries && i < asked->n_paths; i++) {
        struct session_library *library = &list->libraries[list->n_libraries++];
        if (session_library_try(asked->paths[i], err, library) != PM_OK ||
            !add_library(asked, library, list, err))
            return false;
    }
    return list->libraries != NULL;
}

/* Tries each that fits, and one that is no name in the table: rHEX, unit/event/. */
static enum pm_status fill(const struct asked *asked, struct pm_error *err, struct list *list)
{
    const char *pattern = asked->pattern;
    bool is_done =
        add_known(pattern, list, err) && add_papi(pattern, list) && add_libraries(asked, list, err);
    bool is_of_papi = pattern && session_papi_name(pattern);
    if (is_done && !list->n && pattern && !is_of_papi && session_is_event(pattern))
        is_done = add_tried(list,
                            (struct row){.name = pattern,
                                         .source = "perf",
                                         .unit = "events",
                                         .what = "an event of that unit"},
                            err);
    if (!is_done)
        return err->status != PM_OK ? err->status
                                    : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (!list->n && is_of_papi && *list->papi_problem)
        return pm_error_set(err, PM_ERR_USAGE, "no event fits '%s': %s", pattern,
                            list->papi_problem);
    if (!list->n)
        return pm_error_set(err, PM_ERR_USAGE, "no event fits '%s'", pattern);
    return PM_OK;
}

static void list_release(struct list *list)
{
    session_papi_release(&list->papi);
    free(list->libraries);
    free(list->rows);
}

static const char *state_of(const struct session_trial *trial)
{
    if (!trial->counts)
        return "missing";
    if (trial->is_late)
        return "in the program";
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
        pm_json_bool(&json, "is_late", row->trial.is_late);
        pm_json_string(&json, "reason", *row->trial.reason ? row->trial.reason : NULL);
        pm_json_string(&json, "advice", *row->trial.advice ? row->trial.advice : NULL);
        pm_json_end(&json);
    }
    pm_json_end(&json);
    pm_json_string(&json, "papi_problem", *list->papi_problem ? list->papi_problem : NULL);
    pm_json_u64(&json, "n_papi_missing", list->n_papi_missing);
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

static void print_papi(const struct list *list)
{
    if (*list->papi_problem)
        printf("\nevents of PAPI: %s\n", list->papi_problem);
    else if (list->n_papi_missing)
        printf("\nevents of PAPI: %zu that do not count here are not listed; 'perfmap metrics "
               "PAPI_' says why\n",
               list->n_papi_missing);
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
    if (ok)
        print_papi(list);
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

enum { OPT_SOURCE = CMD_KEY_FIRST };

static int metrics_main(struct cmd_parse *parse)
{
    struct asked asked = {0};
    for (int key; (key = cmd_next(parse)) != CMD_END;) {
        if (key != OPT_SOURCE)
            continue;
        if (asked.n_paths == sizeof asked.paths / sizeof *asked.paths)
            return cmd_usage_error(parse, "option '--metric-source': more than 8 libraries");
        asked.paths[asked.n_paths++] = parse->value;
    }
    if (parse->failed)
        return CMD_USAGE;
    if (parse->n_operands > 1)
        return cmd_usage_error(parse, "unexpected argument '%s'", parse->operands[1]);
    asked.pattern = parse->n_operands != 0 ? parse->operands[0] : NULL;
    struct pm_error err = PM_ERROR_INIT;
    struct list list = {0};
    bool is_done = fill(&asked, &err, &list) == PM_OK && print(parse, &list, &err);
    list_release(&list);
    return is_done ? cmd_stdout_done(parse, CMD_DONE) : cmd_fail(parse, &err);
}

static const struct cmd_option metrics_options[] = {
    {OPT_SOURCE, "metric-source", "LIBRARY",
     "list the metrics of this library, too (perfmap_metric.h)"},
    {CMD_KEY_JSON, "json", NULL, "as JSON"},
    {0}};

static const struct cmd_example metrics_examples[] = {
    {"perfmap metrics", "which events this machine can count"},
    {"perfmap metrics '*cache*'", "of these, those with cache in their name"},
    {"perfmap metrics PAPI_", "PAPI's presets, and why they are missing"},
    {"perfmap run --metric instructions,page-faults -- ./heat", "count two of them"},
    {"perfmap run --sample-by page-faults:1 -- ./heat", "and show where one happens"},
    {NULL, NULL}};

const struct cmd cmd_metrics = {
    .name = "metrics",
    .summary = "list the events that can be counted on this machine",
    .usage = (const char *const[]){"metrics [--metric-source LIBRARY] [--json] [PATTERN]", NULL},
    .description =
        "Events that 'perfmap run --metric' counts and '--sample-by' takes samples by: those of "
        "the kernel (page-faults) and of the processor (cache-misses), as perf(1) names them. Each "
        "is tried: opened, started and read. Behind them are numbers of whole processes, from "
        "getrusage "
        "and /proc, which are read when a process begins and when it ends. PATTERN is a part of "
        "the name, or with * and ? all of "
        "it.\n\nStates: counts (--metric), samples (--sample-by too), missing (with the reason). "
        "PERIOD is that of --sample-by where none is given.\n\nWhere PAPI is installed, its "
        "presets "
        "(PAPI_TOT_INS) and events (perf::TASK-CLOCK) are tried, too. Without PATTERN, those that "
        "count are listed. Software-defined ones (sde:::LIBRARY::NAME) are known in the program "
        "only, and are tried there.\n\nFurther events have no names here: "
        "rHEX is a raw one of the processor, as r1a8; UNIT/EVENT/ and UNIT/KEY=VALUE,.../ are "
        "those "
        "of a unit in /sys/bus/event_source/devices, as msr/tsc/. Given as PATTERN, such an event "
        "is tried.",
    .options = metrics_options,
    .examples = metrics_examples,
    .main = metrics_main};
