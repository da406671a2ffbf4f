/* Between the files of this folder. */
#ifndef PM_COSTS_INTERNAL_H
#define PM_COSTS_INTERNAL_H

#include "costs.h"

#include "../base/arena.h"

#define COSTS_VALUE_MAX INT64_MAX

struct costs_list {
    void *items;
    size_t n, max;
};

struct pm_costs {
    struct pm_pif *pif; /* holds the strings of sentences */
    struct pm_intern *strings;
    struct pm_arena arena;
    struct costs_list costs;   /* struct pm_imported_cost */
    struct costs_list arcs;    /* struct pm_imported_arc */
    struct costs_list metrics; /* struct pm_cost_metric */
    const char *producer;
};

/* A file being read, line by line. */
struct costs_reader {
    struct pm_costs *costs;
    const char *name; /* for messages */
    struct pm_error *err;
    struct pm_str rest, line;
    uint32_t line_no;
};

/* False at the end. The line is without its end. */
bool costs_next_line(struct costs_reader *r);
enum pm_status costs_refuse(struct costs_reader *r, enum pm_status status, const char *format, ...)
    PM_PRINTF(3, 4);
enum pm_status costs_no_memory(struct costs_reader *r);
/* The new last item, zeroed; NULL: memory. */
void *costs_add(struct costs_list *list, size_t item_bytes);
/* NULL: memory. */
const char *costs_string(struct costs_reader *r, struct pm_str text);
struct pm_str costs_trimmed(struct pm_str text);
#define COSTS_SHOWN(text) (int)((text).len < 60 ? (text).len : 60), (text).p

bool costs_is_callgrind(struct pm_str text);
enum pm_status costs_read_callgrind(struct costs_reader *r);
enum pm_status costs_read_text(struct costs_reader *r);

#endif
