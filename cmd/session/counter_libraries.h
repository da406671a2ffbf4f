/* Libraries that count: those that users write (runtime/include/perfmap_metric.h), and PAPI. What
 * they have, as a trial in a child tells (trial.h).
 *
 *     struct session_library library;
 *     if (session_library_try("./pool.so", err, &library) == PM_OK)
 *         for (uint32_t i = 0; i < library.n; i++)
 *             puts(library.metrics[i].name);
 *
 *     struct session_papi papi;
 *     if (session_papi_try(names, 2, false, NULL, err, &papi) == PM_OK) // names NULL: all
 *         for (size_t i = 0; i < papi.n; i++)
 *             puts(papi.events[i].name);
 *     session_papi_release(&papi);
 */
#ifndef PM_SESSION_COUNTER_LIBRARIES_H
#define PM_SESSION_COUNTER_LIBRARIES_H

#include "format/pm_counters.h"
#include "mapping/base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct session_library_metric {
    char name[PM_COUNTER_NAME_BYTES], unit[PM_COUNTER_UNIT_BYTES], what[200];
    uint64_t flags; /* PM_COUNTER_* */
};

struct session_library {
    char path[PM_COUNTER_FILE_BYTES]; /* the whole of it */
    uint32_t n;
    struct session_library_metric metrics[PM_COUNTERS_MAX];
};

/* Loads, begins and reads it. PM_ERR_USAGE: it is no source of metrics, or fails, or crashes; err
 * says what is wrong with it and what to do. Nothing to release. */
PM_MUST_CHECK enum pm_status session_library_try(const char *path, struct pm_error *err,
                                                 struct session_library *ret_library);

struct session_papi_event {
    const char *name, *what; /* what: "" PAPI does not say */
    const char *reason;      /* why it does not count, or takes no samples; "" none */
    bool counts, samples;
    bool is_shared; /* it counts what the whole process does */
    bool is_late;   /* only the program has it (sde): it is tried there */
};

struct session_papi {
    struct session_papi_event *events; /* as names; or presets, then others */
    size_t n;
    bool takes_turns;          /* asked for, or they count one by one, and not all together */
    const char *turns_problem; /* why they cannot take turns; "" they can, or need not */
    const char *reason;        /* why there is no PAPI, and no event; "": there is */
    char *text;                /* that names lie in */
};

/* takes_turns: they are to be multiplexed. names NULL: all; with a pattern as fnmatch(3)'s, or a
 * part of the name. sde's are in no list. Release when PM_OK. */
PM_MUST_CHECK enum pm_status session_papi_try(const char *const *names, size_t n, bool takes_turns,
                                              const char *pattern, struct pm_error *err,
                                              struct session_papi *ret_papi);
void session_papi_release(struct session_papi *papi);

/* Does the text look like an event of PAPI: PAPI_TOT_INS, perf::TASK-CLOCK, sde:::LIB::NAME, or any
 * behind "papi:"? Returns its name there; NULL: it does not. Lent. */
const char *session_papi_name(const char *text);
/* Is it software-defined, so that only the program has it? */
bool session_papi_is_late(const char *name);

#endif
