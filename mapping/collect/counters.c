/* Events that processes counted: their metrics, and how each process counted them. */
#include "counters.h"

#include "collector.h"
#include "costs.h"
#include "process.h"
#include "run_names.h"
#include "writer.h"

#include "format/pm_counters.h"
#include "mapping/archive/archive.h"
#include "mapping/run/run_file.h"

#include <math.h>

/* Of struct perf_event_attr. */
enum { TYPE_SOFTWARE = 1 };

static const char *of_papi(const struct pm_run_file_counter *counter)
{
    if (counter->is_estimated)
        return "events (PAPI)" PM_IN_TURNS;
    return counter->period ? "events (PAPI)" PM_BY_OVERFLOW : "events (PAPI)";
}

static const char *description_of(const struct pm_run_file_counter *counter)
{
    if (counter->is_source && counter->type == PM_COUNTER_OF_PLUGIN)
        return PM_OF_PROCESSES ", by a library of the user's";
    if (counter->is_source)
        return PM_OF_PROCESSES ", PerfMap's own part included";
    if (counter->type == PM_COUNTER_OF_PLUGIN)
        return counter->is_shared ? PM_OF_ALL_THREADS ", by a library of the user's"
                                  : "counted by a library of the user's";
    if (counter->type == PM_COUNTER_OF_PAPI && counter->is_shared)
        return PM_OF_ALL_THREADS " (PAPI)";
    if (counter->type == PM_COUNTER_OF_PAPI)
        return of_papi(counter);
    if (counter->type == TYPE_SOFTWARE)
        return "events of the kernel (perf)";
    return "events of the processor (perf)";
}

static const char *or_sum(const char *aggregation)
{
    return aggregation ? aggregation : "sum";
}

/* Run files are not trusted: a name that is taken for something else counts nothing. */
static enum pm_status add_known(struct collector *c, const struct collect_metric *metric,
                                uint32_t *ret_metric)
{
    *ret_metric = 0;
    bool is_taken = pm_counter_is_taken(metric->name, strlen(metric->name));
    enum pm_status status = is_taken ? PM_OK : collect_metric(c, metric, ret_metric);
    if (status != PM_OK)
        return status;
    const struct collect_metric *known = is_taken ? NULL : &c->costs->metrics[*ret_metric - 1];
    if (!is_taken && !strcmp(known->unit, metric->unit) &&
        !strcmp(known->description, metric->description) &&
        !strcmp(or_sum(known->aggregation), or_sum(metric->aggregation)))
        return PM_OK;
    *ret_metric = 0;
    return collect_mark(c,
                        "a process counted '%s' (%s), which is a metric of another kind: left out",
                        metric->name, metric->description);
}

/* The unit of a metric; its name ends with it where it is a time. 0: it is left out. */
static enum pm_status add_metric(struct collector *c, const struct pm_run_file_counter *counter,
                                 uint32_t *ret_metric)
{
    struct pm_buf text = PM_BUF_INIT(4096);
    pm_buf_printf(&text, "%.*s%c%.*s%c", (int)counter->name.len, counter->name.p, 0,
                  (int)counter->unit.len, counter->unit.p, 0);
    if (text.failed) {
        pm_buf_release(&text);
        return collect_no_memory(c);
    }
    const char *kind = pm_str_is(counter->unit, "ns") ? "time" : "count";
    if (pm_str_is(counter->unit, "bytes"))
        kind = "bytes";
    const char *unit = counter->unit.len ? text.data + counter->name.len + 1 : "events";
    const char *description = description_of(counter);
    struct collect_metric metric = {.name = collect_intern(c, text.data),
                                    .unit = collect_intern(c, unit),
                                    .kind = kind,
                                    .aggregation = counter->is_last ? "maximum" : NULL,
                                    .description = description};
    pm_buf_release(&text);
    return metric.name && metric.unit ? add_known(c, &metric, ret_metric) : collect_no_memory(c);
}

/* Why it could not be had in some thread; then, whether it was stopped in some. "": neither. */
static void write_problem(const struct pm_run_file_counter *counter, char *ret, size_t size)
{
    const char *why = counter->error_no ? strerror(counter->error_no) : "";
    if (counter->error_no && counter->type == PM_COUNTER_OF_PAPI)
        why = "PAPI refused it (the run's notes say why)";
    else if (counter->error_no && counter->type == PM_COUNTER_OF_PLUGIN)
        why = "its library refused (the run's notes say why)";
    snprintf(ret, size, "%s", why);
    if (counter->n_throttled)
        snprintf(ret, size, "%s%s" PM_THROTTLED, why, *why ? "; " : "");
}

static enum pm_status write_counter(struct collector *c, const struct pm_run_file_counter *counter)
{
    sqlite3_stmt *insert = c->writer->statements[INSERT_COUNTER];
    sqlite3_clear_bindings(insert);
    bind_number(insert, 1, c->processes->n);
    bind_str(insert, 2, counter->name);
    bind_number_or_null(insert, 3, counter->period);
    bind_number(insert, 4, counter->n_threads);
    bind_number(insert, 5, counter->n_threads_failed);
    bind_number(insert, 6, counter->n_closed);
    bind_number(insert, 7, counter->count);
    bind_number(insert, 8, counter->enabled_ns);
    bind_number(insert, 9, counter->running_ns);
    bind_number(insert, 10, counter->is_user_only);
    char problem[200];
    write_problem(counter, problem, sizeof problem);
    if (*problem)
        bind_text(insert, 11, problem);
    return collect_insert(c, INSERT_COUNTER);
}

enum pm_status collect_counters(struct collector *c, const struct pm_run_file *file,
                                struct collect_names *names)
{
    for (size_t i = 0; i < pm_run_file_n_counters(file); i++) {
        const struct pm_run_file_counter *counter = pm_run_file_counter(file, i);
        enum pm_status status = add_metric(c, counter, &names->counters[i]);
        if (status != PM_OK)
            return status;
        status = names->counters[i] ? write_counter(c, counter) : PM_OK;
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

uint64_t collect_scaled_count(const struct pm_run_file_counter *counter,
                              struct collect_scaled *scaled, uint64_t count)
{
    if (counter->running_ns == 0 || counter->running_ns >= counter->enabled_ns)
        return count;
    scaled->seen += (double)count;
    double now = round(scaled->seen * ((double)counter->enabled_ns / (double)counter->running_ns)) -
                 scaled->given;
    scaled->given += now;
    return now < (double)INT64_MAX ? (uint64_t)now : INT64_MAX;
}
