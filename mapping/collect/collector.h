/* What all of collect is given: where errors, warnings and what lives as long as the collection
 * go, and the parts, each of which its own header explains. */
#ifndef PM_COLLECT_COLLECTOR_H
#define PM_COLLECT_COLLECTOR_H

#include "mapping/base/arena.h"
#include "mapping/base/str.h"

struct collect_binaries;
struct collect_causes;
struct collect_codes;
struct collect_contexts;
struct collect_costs;
struct collect_heaps;
struct collect_kernel;
struct collect_meetings;
struct collect_model;
struct collect_processes;
struct collect_references;
struct collect_writer;
struct pm_collect_result;

struct collector {
    struct pm_error *err;
    struct pm_collect_result *result;
    struct pm_arena arena;
    struct pm_intern *strings;
    struct collect_writer *writer;         /* writer.h: rows of the archive */
    struct collect_model *model;           /* model.h: nouns, verbs, sentences, mappings */
    struct collect_binaries *binaries;     /* binaries.h */
    struct collect_codes *codes;           /* code.h: machine code as nouns */
    struct collect_references *references; /* references.h: what code touches */
    struct collect_processes *processes;   /* process.h */
    struct collect_contexts *contexts;     /* contexts.h */
    struct collect_costs *costs;           /* costs.h */
    struct collect_heaps *heaps;           /* heap.h */
    struct collect_causes *causes;         /* causes.h; NULL: none yet */
    struct collect_kernel *kernel;         /* kernel.h; NULL: this run has nothing of that */
    struct collect_meetings *meetings;     /* meetings.h; NULL: none yet */
    unsigned n_threads;                    /* to work with; 0: one for each processor */
    uint32_t n_sampled_threads;            /* of the run, roughly: who share the room for times */
    bool joins;      /* several run files: causes of one may be contexts of another */
    bool has_stacks; /* imported: what code without facts calls is below it, too */
    bool has_words;  /* some run file may name causes */
};

/* For who collects. What numbers of the archive lack is for its readers: collect_mark. */
void collect_warn(struct collector *c, const char *format, ...) PM_PRINTF(2, 3);
PM_MUST_CHECK enum pm_status collect_no_memory(struct collector *c);
const char *collect_intern(struct collector *c, const char *text); /* NULL: memory */
const char *collect_base_name(const char *path);
/* As a shell would have to be given it. */
void collect_add_quoted(struct pm_buf *out, const char *word, size_t len);

#endif
