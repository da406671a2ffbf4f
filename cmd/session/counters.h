/* Events that a run counts, by the names that perf(1) has for them: which there are, whether this
 * machine can count them, and what the runtime is told of them (format/pm_counters.h).
 *
 *     struct session_counters counters = {0};
 *     enum pm_status status = session_counters_add(&counters, "page-faults:10", true, err);
 *     if (status == PM_OK)
 *         status = session_counters_text(&counters, err, &text);
 *     free(text);
 *
 * Names: those of the table (session_counter_events), rHEX for a raw event of the processor, and
 * PMU/NAME/ or PMU/KEY=VALUE,.../ for what the kernel lists below /sys/bus/event_source/devices.
 * PAPI's are PAPI_TOT_INS and the like, names with "::", and any behind "papi:".
 * The metric has the same name with _ for all that is no letter or digit, in small letters.
 */
#ifndef PM_SESSION_COUNTERS_H
#define PM_SESSION_COUNTERS_H

#include "format/pm_counters.h"
#include "mapping/base/status.h"
#include "mapping/base/str.h"

struct session_counters {
    struct pm_counter_settings settings;
    char *names[PM_COUNTERS_MAX]; /* of the events, as they were given; owned */
    bool takes_turns;             /* those of PAPI are asked to (multiplexing) */
};

/* An event that has a name here. */
struct session_event {
    const char *name, *alias; /* alias: NULL none */
    const char *unit, *what;
    uint32_t type; /* of struct perf_event_attr */
    uint64_t config;
    uint64_t period; /* that --sample-by takes where none is given */
    uint64_t flags;  /* PM_COUNTER_* */
};
/* Ends with an event without a name. */
const struct session_event *session_counter_events(void);

/* A number of the whole process, read when it begins and when it ends. What PerfMap itself has of
 * it is in it: so there is none of bytes that are read and written. */
struct session_source {
    const char *name, *unit, *what;
    uint32_t type;            /* PM_COUNTER_OF_... */
    const char *file, *field; /* of files */
    uint64_t word;            /* of rusage */
    uint64_t worth;           /* what one of it is worth in units */
    uint64_t flags;
};
/* The same. */
const struct session_source *session_counter_sources(void);

/* How an event can be had here, as a trial tells: opened, started, read. */
struct session_trial {
    bool counts;       /* it can be counted */
    bool samples;      /* and samples can be taken by it */
    bool is_user_only; /* only what the program's own code does */
    bool is_late;      /* only the program has it, and tries it again */
    char reason[200];  /* why not, or why not all of it; "" none */
    char advice[200];  /* what to do; "" nothing */
};
struct session_trial session_counter_try(const struct pm_counter_setting *setting);

/* Adds EVENT, or with is_sampled EVENT or EVENT:PERIOD. What is counted already is not added again,
 * but is sampled then. PM_ERR_USAGE: there is no such event (a near one is named), the period is
 * wrong, or they are too many. */
PM_MUST_CHECK enum pm_status session_counters_add(struct session_counters *counters,
                                                  const char *text, bool is_sampled,
                                                  struct pm_error *err);
/* Adds those that a file of a user's describes, one a line: NAME UNIT FILE FIELD, and perhaps last.
 * '#' begins a comment. FIELD is the word before the number, at the beginning of its line, or which
 * number of the file it is; last: what is there at the end. PM_ERR_SYSTEM: it cannot be read;
 * PM_ERR_USAGE: a line is wrong, which err names. */
PM_MUST_CHECK enum pm_status session_counters_add_file(struct session_counters *counters,
                                                       const char *path, struct pm_error *err);
/* Tries a library of a user's (runtime/include/perfmap_metric.h), and counts all metrics of it.
 * PM_ERR_USAGE: it is none, or a metric's name is taken. */
PM_MUST_CHECK enum pm_status session_counters_add_library(struct session_counters *counters,
                                                          const char *path, struct pm_error *err);
struct session_library;
/* The same of one that has been tried (counter_libraries.h). */
PM_MUST_CHECK enum pm_status session_counters_take_library(struct session_counters *counters,
                                                           const struct session_library *library,
                                                           struct pm_error *err);
/* Is one of them counted by a library, for which libperfmap-sources.so is preloaded? */
bool session_counters_need_libraries(const struct session_counters *counters);
/* Is it the name of an event, known here? */
bool session_is_event(const char *text);
/* Counts what a formula of metrics (mapping/view/formula.h) names that is an event or a source;
 * what else it names is no matter of counters. */
PM_MUST_CHECK enum pm_status session_counters_add_formula(struct session_counters *counters,
                                                          struct pm_str formula,
                                                          struct pm_error *err);
/* Tries each, and notes what the trial tells of them. PM_ERR_SYSTEM: one cannot be had here; the
 * error says why and what to do. */
PM_MUST_CHECK enum pm_status session_counters_check(struct session_counters *counters,
                                                    struct pm_error *err);
/* What the runtime is told, to be freed; NULL: there are none. */
PM_MUST_CHECK enum pm_status session_counters_text(const struct session_counters *counters,
                                                   struct pm_error *err, char **ret_text);
void session_counters_release(struct session_counters *counters);

#endif
