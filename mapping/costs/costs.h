/* Costs that were measured elsewhere: callgrind's output files, and PerfMap's own text form
 * (docs/formats/costs.md).
 *
 *     struct pm_costs *costs;
 *     // names file and line
 *     if (pm_costs_read_file("callgrind.out.7", &err, &costs) != PM_OK) ...
 *     for (size_t i = 0; i < pm_costs_n(costs); i++) {
 *         const struct pm_imported_cost *cost = pm_costs_get(costs, i);
 *         if (cost->n_references) ...   // of a sentence: its names are still to be looked up
 *         else ...                      // of code: cost->object, cost->address
 *         use(pm_costs_metric(costs, cost->metric)->name, cost->value);
 *     }
 *     pm_costs_free(costs);
 *
 * Costs are exclusive. Those of one place and metric are one, added up. Nothing in the file is
 * trusted. Any number of readers once it is read.
 */
#ifndef PM_COSTS_H
#define PM_COSTS_H

#include "../base/status.h"
#include "../pif/pif.h"

struct pm_cost_metric {
    const char *name;
    const char *unit; /* of the values as they are kept: "0.1 %" when they are tenths of "%" */
    const char *kind; /* "count", "time", "bytes", as in the archive */
    const char *aggregation;
    const char *description;
    unsigned decimals; /* values are the file's numbers times this power of ten */
};

struct pm_imported_cost {
    /* Of code: where it lies. Strings may be NULL: not known. */
    const char *object;   /* path of the ELF file, as the tool loaded it */
    uint64_t address;     /* ELF address in it; only with has_address */
    const char *function; /* as the tool writes it (demangled or not) */
    const char *file;     /* of the line: other than the function's where another one is inlined */
    uint32_t line_no;     /* 0: not known */
    bool has_address;

    /* Of a sentence: names of its nouns, then of its verb. */
    const struct pm_pif_reference *references;
    unsigned n_references; /* 0: of code */

    uint32_t metric;
    uint32_t text_line_no; /* in the file read, of its first mention */
    int64_t value;
};

/* Calls of one function by another, of callgrind's files: the inclusive cost of a metric. */
struct pm_imported_arc {
    const char *object, *file, *function; /* that calls; strings as above */
    /* object, file: NULL when they are the caller's, too */
    const char *called_object, *called_file, *called_function;
    uint32_t metric;
    uint64_t n_calls; /* of the first metric; 0 in the others */
    int64_t value;
};

struct pm_costs;

/* PM_ERR_SYSTEM, PM_ERR_FORMAT, PM_ERR_VERSION, PM_ERR_LIMIT, PM_ERR_MEMORY. */
PM_MUST_CHECK enum pm_status pm_costs_read_file(const char *path, struct pm_error *err,
                                                struct pm_costs **ret_costs);
/* The same from memory; name is for messages. */
PM_MUST_CHECK enum pm_status pm_costs_read(const char *name, const char *text, size_t len,
                                           struct pm_error *err, struct pm_costs **ret_costs);
void pm_costs_free(struct pm_costs *costs);

/* Code before sentences; code by object, address, function, file, line; sentences as they come
 * in the file. */
size_t pm_costs_n(const struct pm_costs *costs);
const struct pm_imported_cost *pm_costs_get(const struct pm_costs *costs, size_t index);
/* As they come in the file, and as often. */
size_t pm_costs_n_arcs(const struct pm_costs *costs);
const struct pm_imported_arc *pm_costs_arc(const struct pm_costs *costs, size_t index);
size_t pm_costs_n_metrics(const struct pm_costs *costs);
const struct pm_cost_metric *pm_costs_metric(const struct pm_costs *costs, size_t index);
/* "callgrind-3.19.0", or "user" for the text form. */
const char *pm_costs_producer(const struct pm_costs *costs);

#endif
