/* What the parts of the run file reader share: run_file.c walks over a file, run_load.c checks what
 * its chunks hold, run_samples.c those of samples, run_times.c makes times. */
#ifndef PM_RUN_INTERNAL_H
#define PM_RUN_INTERNAL_H

#include "run_file.h"
#include "../base/arena.h"

enum { RUN_MAX_COMPLAINTS = 32 };

/* The clock fields of a node, needed only until times are made. */
struct run_raw_node {
    uint64_t start_tsc, inclusive_tsc;
};

/* Nodes that lie one after the other in a chunk. */
struct run_stretch {
    uint64_t owner, offset; /* of the thread's chunk; of the first node */
    uint64_t n_nodes;
    size_t first_index; /* in the thread's nodes */
};

struct run_chunk {
    uint64_t offset, size_bytes; /* what of it lies within the file */
    uint32_t kind;
    uint64_t owner, n_items;
};

struct run_thread_load {
    uint64_t chunk_offset, start_tsc, end_tsc; /* end 0: unknown */
    uint64_t last_tsc; /* end_tsc, or, later than the process's, its last event */
    uint32_t ambient_set, own_set, n_ambient; /* as in struct pm_run_thread */
    struct pm_run_file_node *nodes;      /* owned; the thread's nodes while they may still change */
    struct run_raw_node *raw;            /* owned */
    const struct run_stretch *stretches; /* lent: its part of the file's */
    size_t n_stretches;
    uint32_t *places; /* owned: where each node of the file has come to; NULL: nowhere else */
    struct pm_run_file_sample *samples; /* owned */
    size_t samples_cap;
    struct run_numbered *numbered; /* owned; by number */
    size_t n_numbered, cap_numbered;
    struct run_chunk when;          /* that has its times, or the part of a chunk that has them */
    uint32_t when_serial;           /* 0: there is none */
    struct pm_run_file_time *times; /* owned */
};

/* Samples that times name by number, and which they are. */
struct run_numbered {
    uint64_t first_number;
    size_t first_sample, n;
};

/* Where the bytes come from. */
struct run_source {
    int fd; /* -1: memory */
    const unsigned char *bytes;
    uint64_t size_bytes;
};

struct run_chunks {
    struct run_chunk *chunks;
    size_t n, cap;
    struct run_stretch *stretches;
    size_t n_stretches;
};

/* Process-wide noun indices of one object, and where its nouns are kept. */
struct run_noun_range {
    uint32_t first_raw, n, first;
};

struct run_object_index {
    uint32_t index, object;
};

struct run_raw_adapted {
    uint64_t disarmed_tsc, armed_tsc;
};

/* A part or head of a thread's trace. */
struct run_piece {
    uint64_t offset, number, first_tsc;
    uint32_t thread, n_places;
    uint32_t node, foreign_node; /* positions in the thread's nodes; UINT32_MAX: none */
    uint32_t flags;
    bool is_head;
};

struct pm_run_file {
    char *name; /* for complaints */
    bool is_packed;
    struct pm_arena arena;
    struct pm_run_header header;
    struct pm_run_clock clock;
    struct pm_run_file_process process;
    struct pm_run_file_object *objects; /* in file order; owned, like all arrays here */
    struct run_noun_range *ranges;      /* one per object, sorted by first_raw */
    struct run_object_index *indices;   /* one per object, sorted by index */
    size_t n_objects;
    bool has_unknown;
    uint32_t unknown; /* the noun for what is not described */
    struct pm_run_file_noun *nouns;
    size_t n_nouns;
    struct pm_run_file_thread *threads;
    struct run_thread_load *loads; /* one per thread */
    size_t n_threads;
    struct pm_run_file_counts *counts;
    size_t n_counts;
    struct pm_run_file_sampling sampling;
    bool has_sampling;
    struct pm_run_file_counter *counters;
    size_t n_counters;
    struct pm_run_file_overhead overhead;
    bool has_overhead;
    struct pm_run_file_adapted *adapted;
    struct run_raw_adapted *raw_adapted; /* one per item, until there are times */
    size_t n_adapted;
    struct pm_run_file_heap_site *heap_sites;
    uint32_t *heap_numbers; /* one per site, while blocks are read */
    size_t n_heap_sites;
    struct pm_run_file_heap_block *heap_blocks;
    size_t n_heap_blocks;
    struct pm_run_meeting *meetings;
    size_t n_meetings;
    struct pm_run_file_word *words; /* by number less one */
    size_t n_words, n_bad_words;
    uint32_t words_cap;
    struct run_piece *pieces; /* by thread and number */
    size_t n_pieces;
    /* by code of an event: 1 + the noun of what is entered and left like a call; 0: others */
    uint32_t *trace_nouns;
    uint32_t n_trace_nouns;
    struct pm_run_file_message *messages;
    size_t n_messages;
    char *complaints[RUN_MAX_COMPLAINTS]; /* in the arena */
    size_t n_complaints;
    uint64_t last_tsc; /* latest time seen anywhere but in nodes */
};

enum pm_status run_no_memory(const struct pm_run_file *file, struct pm_error *err);
PM_MUST_CHECK bool run_read_at(const struct run_source *source, uint64_t offset, void *buf,
                               size_t len);

/* The one place that damage passes through: a handy breakpoint. */
void run_complain(struct pm_run_file *file, uint64_t offset, const char *format, ...)
    PM_PRINTF(3, 4);

PM_MUST_CHECK enum pm_status run_load_objects(struct pm_run_file *file,
                                              const struct run_source *source,
                                              const struct run_chunks *list, struct pm_error *err);
PM_MUST_CHECK enum pm_status run_load_threads(struct pm_run_file *file,
                                              const struct run_source *source,
                                              struct run_chunks *list, struct pm_error *err);
PM_MUST_CHECK enum pm_status run_load_rest(struct pm_run_file *file,
                                           const struct run_source *source,
                                           const struct run_chunks *list, struct pm_error *err);

/* Which events were counted; before the samples. */
PM_MUST_CHECK enum pm_status run_load_counters(struct pm_run_file *file,
                                               const struct run_source *source,
                                               const struct run_chunks *list, struct pm_error *err);

/* Samples, how they were taken, and what was disarmed. */
PM_MUST_CHECK enum pm_status run_load_samples(struct pm_run_file *file,
                                              const struct run_source *source,
                                              const struct run_chunks *list, struct pm_error *err);
void run_make_adapted_times(struct pm_run_file *file);
/* When they were taken; after them. */
PM_MUST_CHECK enum pm_status run_load_when(struct pm_run_file *file,
                                           const struct run_source *source,
                                           const struct run_chunks *list, struct pm_error *err);

/* --- what run_samples.c has for run_heap.c --- */
/* Objects by address; several may have had one address, one after the other. */
struct run_object_order {
    uint32_t *objects;  /* positions, by low */
    uint64_t *max_high; /* of an object and all before it */
    size_t n;
};
PM_MUST_CHECK bool run_order_objects(const struct pm_run_file *file,
                                     struct run_object_order *ret_order);
void run_order_release(struct run_object_order *order);
/* The object that had an address of the process, and the ELF address there. */
void run_take_place(const struct pm_run_file *file, const struct run_object_order *order,
                    uint64_t address, uint32_t generation, uint32_t *ret_object,
                    uint64_t *ret_address);
uint64_t run_since_start(const struct pm_run_file *file, uint64_t tsc); /* within the run */

/* Blocks of the heap. */
PM_MUST_CHECK enum pm_status run_load_heap(struct pm_run_file *file,
                                           const struct run_source *source,
                                           const struct run_chunks *list, struct pm_error *err);
enum pm_status run_load_meetings(struct pm_run_file *file, const struct run_source *source,
                                 const struct run_chunks *list, struct pm_error *err);
void run_make_heap_times(struct pm_run_file *file);

/* The program's own words. */
PM_MUST_CHECK enum pm_status run_load_words(struct pm_run_file *file,
                                            const struct run_source *source,
                                            const struct run_chunks *list, struct pm_error *err);

/* Sets of sentences that were begun; after the words, before there are times. */
PM_MUST_CHECK enum pm_status run_load_ambient(struct pm_run_file *file,
                                              const struct run_source *source,
                                              const struct run_chunks *list, struct pm_error *err);

/* Where the parts of the trace are. */
PM_MUST_CHECK enum pm_status run_load_trace(struct pm_run_file *file,
                                            const struct run_source *source,
                                            const struct run_chunks *list, struct pm_error *err);

/* The parts of one thread's trace, in order. NULL: none. */
const struct run_piece *run_trace_pieces(const struct pm_run_file *file, size_t thread,
                                         size_t *ret_n);

/* --- what run_load.c has for run_samples.c --- */
/* How many of a chunk's items lie within it. */
uint64_t run_fit_items(struct pm_run_file *file, const struct run_chunk *chunk, uint64_t start,
                       size_t item_bytes, const char *what);
size_t run_count_kind(const struct run_chunks *list, uint32_t kind);
void run_note_tsc(struct pm_run_file *file, uint64_t tsc);
/* Position of a process-wide noun index; false: no object has it. */
bool run_find_noun(const struct pm_run_file *file, uint32_t raw, uint32_t *ret_noun);
/* Position in the thread, as it is now, of the node at a file offset; false: there is none. */
bool run_find_node(const struct run_thread_load *load, uint64_t offset, uint32_t *ret_index);
bool run_find_thread(const struct pm_run_file *file, uint64_t chunk_offset, uint32_t *ret_thread);

/* Settles the clock and the process's end, and fills all *_ns of threads and nodes. */
PM_MUST_CHECK enum pm_status run_make_times(struct pm_run_file *file, struct pm_error *err);

#endif
