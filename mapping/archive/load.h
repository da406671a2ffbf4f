/* Archive to memory: the mapping graph with contexts and costs, and what is known about the run.
 *
 *     struct pm_archive_data *data;
 *     if (pm_archive_load("heat.perfmap", 0, &err, &data) != PM_OK) ...
 *     use(data->graph->n_contexts, data->executions[0].command);
 *     pm_archive_data_free(data);
 *
 * Only what costs need is read: sentences of contexts, the mappings that start there and the
 * sentences these reach, nouns of those with their ancestors. Nothing in the file is trusted: what
 * does not fit together is refused with its place. The file is opened read-only. Schema:
 * schema.sql, docs/formats/archive.md. One thread at a time.
 */
#ifndef PM_ARCHIVE_LOAD_H
#define PM_ARCHIVE_LOAD_H

#include "../graph/graph.h"
#include "../../format/pm_run.h"

enum {
    /* all sentences and mappings, measured or not (for questions that go down) */
    PM_ARCHIVE_LOAD_ALL = 1,
    /* contexts with what they were done on behalf of; without it those of flag CAUSE are not
     * there, what is below them is merged with what is below their parents, and what was only
     * told of other runs is left out */
    PM_ARCHIVE_LOAD_CAUSES = 2,
    /* sentences of what was off or counted only, measured or not */
    PM_ARCHIVE_LOAD_LEFT_OUT = 4,
    /* one cost for all processes of one program in one execution, of the first of their threads:
     * for whoever does not tell processes and threads apart. Times and `preempted_ns` stay apart
     * where a thread was preempted */
    PM_ARCHIVE_LOAD_MERGED = 8,
    /* the file stays open, for pm_archive_each_cost and pm_archive_load_rest */
    PM_ARCHIVE_LOAD_KEPT = 16,
    /* all functions, also those that no sentence has: what no code was found of */
    PM_ARCHIVE_LOAD_FUNCTIONS = 32,
    /* Alone: what the source consists of, and nothing of what happened. All nouns, without
     * attributes; sentences of one noun; mappings of the compiler. For whoever compares builds:
     * whole tables in the order of the file, three times as fast as one by one */
    PM_ARCHIVE_LOAD_FACTS = 64,
    /* Alone: what is known of runs, processes, binaries, and nothing of the graph. */
    PM_ARCHIVE_LOAD_TABLES = 128,
};

/* Numbers that the archive does not state are PM_UNKNOWN, strings "". */
#define PM_UNKNOWN INT64_MIN

struct pm_execution {
    const char *name, *command, *cwd, *host, *mode;
    int64_t start_realtime_ns, wall_ns, user_cpu_ns, system_cpu_ns, max_rss_bytes, exit_status,
        exit_signal;
    /* what events cost is by samples in PerfMap's own code, in some process */
    bool events_by_samples;
    bool events_at_most; /* what they cost is a bound, in some process */
    /* that only what it needs was followed for (perfmap run --ask); "" none */
    const char *question;
    int64_t n_question_sleds, n_all_sleds;
    int64_t fixed_ns;  /* of what events cost: what the budget leaves alone, over its processes */
    int64_t starts_ns; /* of it: starts of processes and threads, and their ends */
};

/* What else is known of an execution: cpu_model, compiler, ... (docs/formats/archive.md). */
struct pm_attribute {
    uint32_t execution;      /* position */
    const char *key, *value; /* printable */
};

/* What following one call cost, picoseconds; 0: not known. */
struct pm_pair_costs {
    double exact_ps, inner_ps; /* inner: the part that is in the time of what is called */
    double active_ps;
};

struct pm_process {
    uint32_t execution; /* position */
    /* the process whose threads have its costs: itself, unless they are merged */
    uint32_t merged_into;
    int64_t pid, parent_pid, image, rank; /* rank: of MPI */
    const char *node;                     /* the machine; "": not known */
    uint32_t first_member, n_members;     /* in data->members */
    uint32_t node_no;                     /* equal for all processes of a node; by name, from 0 */
    const char *exe, *argv, *end_kind;
    int64_t start_ns, end_ns, user_cpu_ns, system_cpu_ns, max_rss_bytes, n_sleds, n_events,
        added_ns, n_lost_contexts, n_unmatched, n_healed;
    int64_t exact_pair_ps, exact_inner_ps; /* table probe_costs */
    int64_t budget_ppm, events_ns, samples_ns, active_pair_ps, count_pair_ps; /* table overheads */
    /* of its costs: with LOAD_MERGED the mean over the merged ones' calls */
    struct pm_pair_costs pair;
};

/* Which rank a process has in a communicator of MPI. */
struct pm_member {
    uint32_t process;
    const char *communicator;
    int64_t rank, size;
};

struct pm_thread {
    uint32_t process;
    int64_t tid, n_threads, start_ns, end_ns, cpu_ns;
    const char *name;
};

struct pm_binary {
    const char *path, *build_id, *pif_state, *map_state, *debug_file, *debug_problem;
    int64_t n_sleds, n_bad_sleds;
};

/* How a process was sampled; what was not has none. */
struct pm_sampling {
    uint32_t process;
    const char *source, *clock, *problem; /* source: perf, timer, none; clock: cpu, wall */
    int64_t period_ns, n_samples, n_lost;
    bool has_kernel, has_switches;
};

/* An event that processes counted, over all of them: table counters. No number is negative; a sum
 * that is too large is the largest there is. */
struct pm_event_counter {
    const char *metric, *problem; /* problem: of the last that has one; "" none */
    bool is_throttled;            /* the kernel stopped it in some thread */
    int64_t period;               /* the largest; 0: it was read everywhere */
    int64_t n_threads, n_threads_failed, n_closed, enabled_ns, running_ns;
    int64_t most_threads; /* of n_threads, those of one process */
    bool is_read;         /* somewhere */
    bool is_user_only;    /* somewhere */
    bool is_starved; /* somewhere it was to count, and the processor never had a counter for it */
};

/* A noun that was in another mode than its process. */
struct pm_noun_mode {
    uint32_t process;
    pm_index noun;
    /* off: its calls of that time are missing; count: they have no contexts */
    enum pm_run_mode mode;
    bool is_asked;                       /* not to keep the budget */
    int64_t from_ns, until_ns, n_events; /* until_ns PM_UNKNOWN: to the end */
};

struct pm_message {
    uint32_t process; /* PM_NONE: of the whole run */
    int64_t code;     /* enum pm_run_message_code */
    const char *text;
};

/* Where the program says what maps to what. */
struct pm_mapping_point {
    const char *name;
    bool is_on;
    int64_t n_mappings;
};

/* A call of a symbol, or code that was inlined. */
struct pm_call_site {
    pm_index noun,
        caller; /* caller: the symbol that the call is in; PM_NONE: code of the caller, inlined */
    uint32_t first, n; /* in call_places */
};

/* Of loops: some code has no sleds, calls and times that were measured are not all; and it calls
 * functions. The same of functions, whose code without sleds are copies that were inlined. */
enum { PM_BARE_CODE = 1, PM_BARE_CALLS = 2, PM_BARE_COPIES = 4, PM_BARE_COPIES_CALL = 8 };
/* Beside them, of symbols: their times end with a jump to code that tells no return. */
enum { PM_BARE_JUMPS = 16 };
/* Of functions, loops and code: what some inlined copies, a loop without sleds or code without the
 * plugin called is not below them. */
enum { PM_BARE_LACKS = 32 };
/* Of variables and arrays: their addresses are passed to functions that are not known. */
enum { PM_BARE_PASSED_ON = 64 };
/* Of loops: not all entries are counted. */
enum { PM_BARE_ENTRIES = 128 };
/* Of fields: copies of whole objects are not counted for them. */
enum { PM_BARE_LEFT_OUT = 256 };
/* Data that more is done with than is known. */
enum { PM_BARE_OPEN = PM_BARE_PASSED_ON | PM_BARE_LEFT_OUT };
/* Code without sleds: it makes numbers of calls at least. */
enum { PM_BARE_OF_CALLS = PM_BARE_CODE | PM_BARE_CALLS | PM_BARE_COPIES | PM_BARE_COPIES_CALL };

/* Of the run's time, from the execution's start (each, where an archive has several). */
struct pm_time_span {
    int64_t from_ns, until_ns; /* INT64_MIN, INT64_MAX: open */
};
#define PM_ALL_TIME ((struct pm_time_span){INT64_MIN, INT64_MAX})

struct pm_archive_data_private;
struct pm_archive_data {
    struct pm_graph *graph; /* sealed; pm_cost.thread is a position in threads */
    struct pm_execution *executions;
    struct pm_process *processes;
    struct pm_thread *threads;
    struct pm_binary *binaries;
    struct pm_message *messages;
    struct pm_sampling *samplings;
    struct pm_event_counter *counters;       /* by metric */
    struct pm_noun_mode *noun_modes;         /* by process and time */
    struct pm_mapping_point *mapping_points; /* by name */
    struct pm_member *members;               /* by process, then in the order of communicators */
    struct pm_attribute *attributes;         /* by execution and key */
    /* [graph->n_nouns] attribute `address` of machine code: ranges, hex ELF addresses; "" not
     * stated */
    const char **addresses;
    const char **paths; /* [graph->n_nouns] attribute `path` of files; "" not stated */
    /* [graph->n_nouns] PM_BARE_... of functions, loops and their code, attributes `bare`,
     * `bare calls` and `uncounted entries`; of data `passed on`, `left out` */
    uint16_t *bare;
    uint32_t n_executions, n_processes, n_threads, n_binaries, n_messages, n_samplings,
        n_noun_modes, n_mapping_points, n_members, n_counters, n_attributes;
    uint32_t n_nodes; /* machines, those without a name as one */
    /* [graph->n_metrics]: it is known when costs of it were, of some at least; NULL: the archive
     * was collected by a PerfMap that kept no times */
    bool *has_times;
    struct pm_time_span interval;    /* whose costs these are; all time, as they are loaded */
    bool has_interval;               /* they were chosen by time: what has none is left out */
    struct pm_call_site *call_sites; /* by noun */
    /* sentences of statements: where the call is, then where the function around that was
     * inlined, ... */
    pm_index *call_places;
    uint32_t n_call_sites, n_call_places;
    struct pm_archive_data_private *own;
};

/* flags: PM_ARCHIVE_LOAD_*. Errors: PM_ERR_SYSTEM (cannot be opened), PM_ERR_FORMAT (not an
 * archive, damaged), PM_ERR_VERSION, PM_ERR_MEMORY. All name the file. */
PM_MUST_CHECK enum pm_status pm_archive_load(const char *path, unsigned flags, struct pm_error *err,
                                             struct pm_archive_data **ret_data);
/* Where a noun of machine code was inlined or called; *ret_n 0: not known. Lent. */
const struct pm_call_site *pm_archive_call_sites(const struct pm_archive_data *data, pm_index noun,
                                                 uint32_t *ret_n);
/* Reads all costs again, each of its own thread, in the order of the file, and keeps none: with
 * PM_ARCHIVE_LOAD_KEPT. For whoever tells processes and threads apart: merged costs are few,
 * these may be millions. threads_in: [data->n_threads], whose costs to visit; NULL: all. visit
 * returns false when there is no memory. */
typedef bool (*pm_cost_visitor)(void *context, const struct pm_cost *cost);
PM_MUST_CHECK enum pm_status pm_archive_each_cost(const struct pm_archive_data *data,
                                                  const bool *threads_in, pm_cost_visitor visit,
                                                  void *context, struct pm_error *err);
/* The same, of costs that have times: parts[i] is how much of it was from edges_ns[i] to
 * edges_ns[i + 1], i < n, which follow each other (INT64_MIN first, INT64_MAX last: all). With
 * data->interval, of its costs. A cost that has no time is not visited; of one that has it in part,
 * the rest is in no part. */
typedef bool (*pm_cost_parts_visitor)(void *context, const struct pm_cost *cost,
                                      const int64_t *parts);
PM_MUST_CHECK enum pm_status pm_archive_each_part(const struct pm_archive_data *data,
                                                  const bool *threads_in, const int64_t *edges_ns,
                                                  uint32_t n, pm_cost_parts_visitor visit,
                                                  void *context, struct pm_error *err);
/* The same, of costs that have times, each with how it lies in time (cost_times.h): whole, so not
 * for data with an interval. */
struct pm_cost_times;
struct pm_cost_times_list;
typedef bool (*pm_cost_times_visitor)(void *context, const struct pm_cost *cost,
                                      const struct pm_cost_times *times,
                                      const struct pm_cost_times_list *list);
PM_MUST_CHECK enum pm_status pm_archive_each_times(const struct pm_archive_data *data,
                                                   pm_cost_times_visitor visit, void *context,
                                                   struct pm_error *err);
/* Leaves of the costs those of the interval, as far as they have times; also for each of the
 * functions above. data: a copy of what was loaded with PM_ARCHIVE_LOAD_KEPT, with a graph of its
 * own (pm_graph_copy); all else is lent and stays as it is. */
PM_MUST_CHECK enum pm_status pm_archive_keep_interval(struct pm_archive_data *data,
                                                      struct pm_time_span interval,
                                                      struct pm_error *err);
/* Adds what PM_ARCHIVE_LOAD_ALL would have read, to what was loaded with PM_ARCHIVE_LOAD_KEPT:
 * positions stay, arrays may move. For the owner, while nobody else reads. After an error the data
 * can only be freed. Nothing is done when all is there. */
PM_MUST_CHECK enum pm_status pm_archive_load_rest(struct pm_archive_data *data,
                                                  struct pm_error *err);
/* When nouns were added to the graph, which had n_before: they have no attributes. No rest can be
 * loaded then, so load with PM_ARCHIVE_LOAD_ALL where one may be wanted. False: memory ended. */
PM_MUST_CHECK bool pm_archive_data_grow(struct pm_archive_data *data, uint32_t n_before);
void pm_archive_data_free(struct pm_archive_data *data);

#endif
