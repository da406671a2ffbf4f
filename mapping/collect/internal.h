/* What the parts of collect share: collect.c reads run folders, process.c writes what is
 * known of processes, model.c keeps nouns, verbs, sentences and mappings, pif.c
 * and binaries.c read facts, places.c and code.c (with debug.c)
 * say what code implements, costs.c and samples.c make contexts and costs,
 * causes.c which of them were done on behalf of others. Row ids are given out here, from
 * 1, in the order of writing. */
#ifndef PM_COLLECT_INTERNAL_H
#define PM_COLLECT_INTERNAL_H

#include "collect.h"
#include "contexts.h"

#include "mapping/archive/archive.h"
#include "mapping/base/arena.h"
#include "mapping/base/map.h"
#include "mapping/code/binary.h"
#include "mapping/code/blame.h"
#include "mapping/code/code_map.h"
#include "mapping/debuginfo/debuginfo.h"
#include "mapping/pif/pif.h"
#include "mapping/run/run_file.h"
#include "format/pm_sled.h"

enum collect_statement {
    INSERT_EXECUTION,
    INSERT_ATTRIBUTE,
    ADD_ATTRIBUTE, /* a number, to what is there */
    INSERT_PROCESS,
    INSERT_OVERHEAD,
    UPDATE_ADDED,
    INSERT_PROBE_COSTS,
    INSERT_SAMPLING,
    INSERT_NOUN_MODE,
    INSERT_THREAD,
    INSERT_BINARY,
    INSERT_LEVEL,
    INSERT_NOUN,
    INSERT_NOUN_ATTRIBUTE,
    INSERT_VERB,
    INSERT_SENTENCE_NOUN,
    INSERT_METRIC,
    INSERT_MESSAGE,
    INSERT_RANK,
    INSERT_POINT,
    INSERT_COST_LIST,
    N_COLLECT_STATEMENTS
};

/* Tables that are written many rows at a time. */
enum collect_table {
    TABLE_SENTENCES,
    TABLE_MAPPINGS,
    TABLE_CONTEXTS,
    TABLE_COST_ROWS,
    TABLE_CAUSES,
    N_COLLECT_TABLES
};

struct collect_value {
    enum { COLLECT_NULL, COLLECT_INTEGER, COLLECT_REAL, COLLECT_TEXT } kind;
    union {
        int64_t integer;
        double real;
        const char *text; /* interned */
    };
};

enum { COLLECT_ROWS = 32, COLLECT_MAX_COLUMNS = 5 };
struct collect_rows {
    sqlite3_stmt *insert; /* of COLLECT_ROWS rows; NULL: not needed yet */
    int n;
    struct collect_value values[COLLECT_ROWS * COLLECT_MAX_COLUMNS];
};

/* The type of nouns of loops that nothing but the machine code tells of. */
#define COLLECT_LOOP_OF_CODE "machine code"

/* As in table metrics; further ones are made as costs name them. */
enum {
    METRIC_N_CALLS = 1,
    METRIC_WALL_NS,
    METRIC_CPU_NS,
    METRIC_N_SAMPLES,
    METRIC_OFF_CPU_NS,
    METRIC_SAMPLED_WALL_NS,
    METRIC_WAITING_NS,
    METRIC_PREEMPTED_NS,
    N_OWN_METRICS = METRIC_PREEMPTED_NS
};

struct collect_level {
    const char *name, *above; /* interned; above NULL: not stated */
};

struct collect_verb {
    const char *name, *description; /* interned; description NULL: none */
    uint32_t level;
};

/* A statement of the early facts. */
struct collect_source_statement {
    pm_id function, parent;
    const char *file; /* interned, as the facts spell it; NULL not known */
    uint32_t line_no, column_no, end_line_no;
    uint32_t row;  /* of its noun */
    bool is_there; /* some code implements it */
};

/* A call instruction in code with a late map. callee 0: not a symbol of the same binary, or
 * bytes that only look so. */
struct collect_call {
    pm_id caller, callee;
    const struct pm_code_range *range;
    pm_id loop; /* collect_loop_of it */
    uint64_t address;
};

/* An OpenMP construct of the early facts. */
struct collect_region {
    pm_id function;
    const char *file; /* interned, as the facts spell it */
    uint32_t line_no, column_no;
    uint32_t row;
    bool is_outlined; /* its body is a symbol of its own */
    bool is_taken;    /* some symbol is known to be that */
};

/* Code at the granularity of what it implements: a noun of kind code. */
struct collect_code {
    struct collect_binary *binary;
    const struct pm_code_range *range; /* NULL: no late map covers it */
    uint32_t noun, sentence;           /* rows; sentence: {code Executes} */
    uint32_t whole;  /* noun of all of its function, when it is one of its lines; else its own */
    uint32_t region; /* row of the OpenMP region whose body the symbol is; 0: none */
    uint32_t symbol; /* row of the noun of its symbol; 0: without sleds and facts */
    pm_id symbol_id; /* 0 with symbol 0 */
    size_t first_mapping, n_mappings; /* of the sentence, in the collector's mappings */
    /* arena: sentences of the functions that it was inlined through, outermost first */
    uint32_t *inlines;
    const struct pm_code_site **sites; /* arena: of inlines; NULL: from debug information */
    uint32_t n_inlines;
    bool is_perfmap;
};

/* By the facts a statement writes a variable, or reads it. */
struct collect_access {
    uint32_t statement; /* row */
    bool is_read;
    pm_id variable;
};

struct collect_binary {
    const char *path; /* interned */
    struct pm_str build_id;
    uint64_t file_bytes, mtime_ns;
    uint32_t n_sleds, n_bad_sleds;
    bool has_nouns;          /* it has code that the run names: what is missing is told */
    struct pm_pif *pif;      /* NULL: not read */
    struct pm_map nouns;     /* pif id -> row */
    bool same, debug_tried;  /* same: the file is the one that ran */
    bool is_runtime;         /* PerfMap's own code */
    struct pm_code_map *map; /* NULL: it has none */
    struct pm_debug *debug;  /* NULL: not opened yet, or cannot be */
    struct pm_blame *blame;  /* NULL: not opened yet, or cannot be */
    bool blame_tried;
    const char *pif_state, *map_state;
    char *debug_problem;                         /* owned; why it could not be opened */
    struct collect_source_statement *statements; /* by function, file, line, column */
    size_t n_statements;
    struct collect_region *regions; /* by function, file, line, column */
    uint32_t n_regions;
    struct pm_map outlined; /* symbol -> 2 + position in regions; 1: which one is not known */
    pm_id *loops;           /* of loopcodes: the loop of the source */
    pm_id *loop_functions;  /* likewise: the function whose loop it is */
    struct pm_map loops_with_sleds; /* loop -> 1 */
    struct pm_map loopcodes;        /* pif id -> position in loop_functions + 1 */
    struct pm_map implements; /* symbol, loopcode -> position of its mapping in the facts + 1 */
    struct pm_map functions,
        symbol_names; /* hash of linkage name -> row, and position of the noun + 1 */
    struct pm_map by_address, by_tuple; /* ELF address, tuple -> position in codes + 1 */
    struct pm_map inlines;              /* symbol, function -> sentence */
    /* address of a loop's first instruction -> row of its noun, or 1 less: none */
    struct pm_map code_loops;
    struct collect_access *accesses; /* what statements write and read; by statement */
    size_t n_accesses;
    bool has_accesses;
    struct collect_call *call_list; /* by caller and callee */
    struct collect_call_path **path_list;
    struct pm_map call_paths; /* caller, active loop, callee -> position in path_list + 1 */
    struct collect_next_path *next_paths; /* what was looked up behind which path */
    uint32_t last_path;
    uint32_t n_calls, calls_cap, n_paths, paths_cap;
    bool has_call_list, has_hidden, has_ways;
    struct pm_map lacking;  /* functions and loops whose contexts lack some callees -> 1 */
    struct pm_map hidden;   /* symbols whose address is to be had -> 1 */
    struct pm_map followed; /* symbols that had contexts all the time, in this process -> 1 */
    struct pm_map ever_followed, ever_left;   /* had contexts in some process; had none, in some */
    uint64_t followed_sum, next_followed_sum; /* of that set; 0: none yet */
    struct collect_way *ways;                 /* by callee */
    struct collect_route *route_list;
    struct pm_map routes; /* symbol -> position in route_list + 1 */
    uint32_t n_ways, ways_cap, n_routes, routes_cap;
    struct pm_map n_writers; /* variable -> statements that write it */
    struct pm_map heaps;     /* id -> position in the collector's heaps + 1 */
    uint32_t row;            /* 0: not in the archive (yet) */
    struct collect_binary *next;
};

/* A sentence of more than one noun. */
struct collect_sentence {
    uint32_t row, verb, n_nouns, nouns[PM_PIF_MAX_NOUNS];
    struct collect_sentence *next_same_hash;
};

struct collect_mapping {
    uint32_t source, destination;
    const char *origin; /* interned */
    const char *reason; /* lasting; NULL: not stated */
    double weight;
};

/* What code of this run reads or writes. */
struct collect_touched {
    const struct collect_binary *binary;
    pm_id id;
    uint32_t row;
    unsigned access; /* PM_MAP_READS, PM_MAP_WRITES: not in the list before */
};

/* Code of a method touches a member of its object. */
struct collect_member {
    const struct collect_binary *binary;
    uint32_t sentence;
    pm_id object, field; /* object: the id of the method's `this`, which is no noun */
    pm_id only;          /* 0, or of all that the method is called for what the code is known for */
    unsigned access;
    bool is_array; /* the member, which rows of arrays name */
};

struct collect_cost {
    uint32_t context, thread, metric;
    uint64_t value;
};

struct collect_metric {
    const char *name, *unit, *kind, *description; /* interned or constant */
    bool is_used;
    const char *aggregation; /* NULL: sum */
};

/* What the nouns and objects of one run file have become. */
struct collect_names {
    uint32_t root;                    /* {program Executes} */
    struct collect_binary **binaries; /* by object */
    uint32_t *nouns, *sentences;      /* by noun: its row, {noun Executes} */
    uint32_t *heaps;                  /* by place of allocations: position, COLLECT_NO_HEAP */
    uint32_t *metrics;                /* by word less one: row of a metric, 0: it is none */
    uint32_t *words;                  /* by word less one: row of what it defines; 0: none */
    uint32_t *causes;                 /* by noun: 1 + position of a cause, 0: it is none */
    struct collect_located *located;  /* by sample, over all threads */
    uint32_t *heap_codes; /* by place of allocations: number of its code; 0: not known */
};

struct collector {
    struct pm_archive *archive;
    sqlite3_stmt *statements[N_COLLECT_STATEMENTS];
    struct collect_rows rows[N_COLLECT_TABLES];
    struct pm_error *err;
    struct pm_collect_result *result;
    struct pm_arena arena;
    struct pm_intern *strings;

    struct collect_level *levels;
    size_t n_levels;
    struct collect_verb *verbs;
    size_t n_verbs;
    struct collect_binary *binaries;
    struct pm_map processes; /* pif id of a process noun -> row */
    struct pm_map user;      /* pif id in the user's PIF -> row */
    uint32_t n_binaries, n_nouns, n_sentences, n_executions, n_processes, n_threads;
    uint32_t unknown_noun;         /* row; 0: not there yet */
    uint32_t base_level, executes; /* rows */
    uint32_t source_level, source_executes, source_reads,
        source_writes;      /* rows, 0: not needed yet */
    uint32_t first_program; /* sentence of the first process; 0: there is none */
    uint32_t kernel_noun, perfmap_noun, lost_noun, stray_noun; /* rows, 0: not there yet */
    struct pm_map execs; /* PID -> 1 + position in exec_cpu, of images that ended by exec */
    struct collect_cpu {
        uint64_t user_ns, system_ns;
    } * exec_cpu;
    uint32_t n_execs, execs_cap;
    uint32_t n_rests;          /* of n_processes: what was not sampled */
    struct collect_cpu before; /* what the images before this one have spent, in the same process */
    /* CPU time that has been charged to contexts, of all processes of the execution */
    uint64_t sampled_cpu_ns;
    uint64_t own_code_ns;    /* CPU time of this process in PerfMap's own code, by samples */
    struct pm_map sentences; /* verb row, noun row -> row */
    bool has_all_calls;      /* some process was run in mode exact, trace or count */
    struct pm_map lacking;   /* rows of functions and loops whose contexts lack some callees -> 1 */
    struct collect_sentence **long_sentences; /* by hash */
    struct collect_mapping *mappings;
    uint32_t n_mappings, mappings_cap;
    struct collect_touched *touches;
    uint32_t n_touches, touches_cap;
    struct pm_map touched; /* noun row -> access */
    struct collect_member *members;
    uint32_t n_members, members_cap;

    uint32_t allocates, source_allocates; /* verbs, 0: not needed yet */
    struct collect_heap *heaps;
    uint32_t n_heaps, heaps_cap;

    struct collect_code *codes;
    uint32_t n_codes, codes_cap;
    /* sentences of called code that have their mappings -> 1 inferred, 2 sure */
    struct pm_map calls;
    struct pm_map by_noun; /* rows of nouns of ours, by id */

    struct collect_contexts contexts;
    struct collect_metric *metrics; /* the row's number less one */
    size_t n_metrics;
    struct collect_cost *costs;
    uint32_t n_costs, costs_cap;

    struct collect_causes *causes; /* NULL: none yet */
    struct collect_kernel *kernel; /* NULL: this run has nothing of that */
    bool joins;                    /* several run files: causes of one may be contexts of another */
    bool has_words;                /* some run file may name causes */
};

/* --- collect.c --- */
void collect_warn(struct collector *c, const char *format, ...) PM_PRINTF(2, 3);
PM_MUST_CHECK enum pm_status collect_no_memory(struct collector *c);
/* One row: bind to the statement, then this. */
PM_MUST_CHECK enum pm_status collect_insert(struct collector *c, enum collect_statement which);
void bind_text(sqlite3_stmt *statement, int at, const char *text); /* NULL: NULL */
void bind_str(sqlite3_stmt *statement, int at, struct pm_str text);
void bind_number(sqlite3_stmt *statement, int at, uint64_t number); /* above INT64_MAX: INT64_MAX */
void bind_number_or_null(sqlite3_stmt *statement, int at, uint64_t number); /* 0: NULL */

/* --- rows.c --- */
/* One row more; written when there are enough. values: one per column. */
PM_MUST_CHECK enum pm_status collect_add_row(struct collector *c, enum collect_table table,
                                             const struct collect_value *values);
PM_MUST_CHECK enum pm_status collect_rows_end(struct collector *c);
void collect_rows_release(struct collector *c);
static inline struct collect_value collect_integer(uint64_t number) /* above INT64_MAX: that */
{
    return (struct collect_value){COLLECT_INTEGER,
                                  {.integer = number > INT64_MAX ? INT64_MAX : (int64_t)number}};
}
static inline struct collect_value collect_integer_or_null(uint64_t number) /* 0: NULL */
{
    return number ? collect_integer(number) : (struct collect_value){COLLECT_NULL, {0}};
}

/* As a shell would have to be given it. */
void collect_add_quoted(struct pm_buf *out, const char *word, size_t len);

/* --- process.c --- */
/* Rows of the process c->n_processes and its threads, messages, sampling. start_tsc: the
 * execution's. */
PM_MUST_CHECK enum pm_status collect_process_rows(struct collector *c, uint32_t execution,
                                                  uint64_t start_tsc, uint32_t image,
                                                  const struct pm_run_file *file);
/* Before the rows of a process image: what the images before it have spent. Images come in the
 * order of their starts. */
PM_MUST_CHECK enum pm_status collect_image_begins(struct collector *c,
                                                  const struct pm_run_file_process *process);
/* Without that. */
struct collect_cpu collect_own_cpu(const struct collector *c,
                                   const struct pm_run_file_process *process);
/* What the image spent before its samples began, as its root's own. */
PM_MUST_CHECK enum pm_status collect_start_cpu(struct collector *c, const struct pm_run_file *file,
                                               uint32_t thread, uint32_t root_sentence);
/* A message of the process c->n_processes, as its own are. code: PM_RUN_MSG_*. */
PM_MUST_CHECK enum pm_status collect_message(struct collector *c, int64_t code, const char *text);
/* What measuring cost it, when its samples are placed (own_code_ns). */
PM_MUST_CHECK enum pm_status collect_overhead(struct collector *c, uint32_t execution,
                                              const struct pm_run_file *file);
/* Nouns that were in another mode than their process. nouns: rows, by noun of the file. */
PM_MUST_CHECK enum pm_status collect_noun_modes(struct collector *c, uint64_t start_tsc,
                                                const struct pm_run_file *file,
                                                const uint32_t *nouns);
const char *collect_mode_name(uint32_t mode);
/* Whether some code ran without its sleds, so that contexts may lack callers. */
bool collect_has_gaps(const struct pm_run_file *file);
/* A process in which nothing was measured has one thread all the same, whose root has its time. */
PM_MUST_CHECK enum pm_status collect_only_thread(struct collector *c, uint32_t tid,
                                                 uint64_t start_ns, uint64_t end_ns,
                                                 uint64_t cpu_ns);
uint64_t collect_start_ns(uint64_t start_tsc, const struct pm_run_file *file);

/* --- model.c --- */
PM_MUST_CHECK enum pm_status collect_model_start(struct collector *c);
const char *collect_intern(struct collector *c, const char *text); /* NULL: memory */
const char *collect_base_name(const char *path);
/* Row of a level by name; NULL is "". */
PM_MUST_CHECK enum pm_status collect_level_row(struct collector *c, const char *name,
                                               uint32_t *ret_level);
PM_MUST_CHECK enum pm_status collect_verb_row(struct collector *c, const char *level_name,
                                              const char *name, const char *description,
                                              uint32_t *ret_verb);
/* Level Source and its verbs, for what we add there. */
PM_MUST_CHECK enum pm_status collect_need_source(struct collector *c);
/* binary, parent: rows, 0 none. */
PM_MUST_CHECK enum pm_status collect_write_noun(struct collector *c, uint32_t row,
                                                const struct pm_pif_noun *noun, uint32_t level,
                                                uint32_t binary, uint32_t parent);
/* A noun of ours, at level Base. */
PM_MUST_CHECK enum pm_status collect_add_noun(struct collector *c, pm_id id, const char *name,
                                              const char *kind, const char *description,
                                              uint32_t binary, uint32_t *ret_row);
PM_MUST_CHECK enum pm_status collect_write_attribute(struct collector *c, uint32_t row,
                                                     const char *key, const char *value);
PM_MUST_CHECK enum pm_status collect_write_attributes(struct collector *c, const struct pm_pif *pif,
                                                      uint32_t row, const struct pm_pif_noun *noun);
PM_MUST_CHECK enum pm_status collect_short_sentence(struct collector *c, uint32_t verb,
                                                    uint32_t noun, uint32_t *ret_sentence);
PM_MUST_CHECK enum pm_status collect_long_sentence(struct collector *c, uint32_t verb,
                                                   const uint32_t *nouns, uint32_t n_nouns,
                                                   uint32_t *ret_sentence);
PM_MUST_CHECK enum pm_status collect_process_sentence(struct collector *c, struct pm_str exe,
                                                      uint32_t *ret_sentence);
/* origin, reason (NULL: none): lasting strings. */
PM_MUST_CHECK enum pm_status collect_add_mapping(struct collector *c,
                                                 const struct collect_mapping *mapping);
PM_MUST_CHECK enum pm_status collect_model_end(struct collector *c); /* levels, verbs, mappings */
void collect_model_release(struct collector *c);

/* --- pif.c --- */
/* All of a PIF whose nouns have got their rows; those from row `first` on are written. */
PM_MUST_CHECK enum pm_status collect_import(struct collector *c, const struct pm_pif *pif,
                                            const struct pm_map *nouns, uint32_t first,
                                            uint32_t binary, const char *name);
/* Names to rows, whatever wrote the nouns. The statement lives until the archive is finished:
 * finalize it before. */
PM_MUST_CHECK enum pm_status collect_prepare_names(struct collector *c, sqlite3_stmt **ret_by_name);
/* level_name NULL: any. file: for the warning when there are several. *ret_row 0: none. */
PM_MUST_CHECK enum pm_status collect_noun_named(struct collector *c, sqlite3_stmt *by_name,
                                                const char *file, const char *level_name,
                                                const char *name, uint32_t *ret_row);
PM_MUST_CHECK enum pm_status collect_user_pif(struct collector *c, const char *path);

/* --- binaries.c --- */
/* The binary of an object; nothing is read yet. */
PM_MUST_CHECK enum pm_status collect_binary(struct collector *c,
                                            const struct pm_run_file_object *object,
                                            struct collect_binary **ret_binary);
/* The facts of a file that nothing ran of. One that is not there, or has none, adds nothing. */
PM_MUST_CHECK enum pm_status collect_binary_file(struct collector *c, const char *path);
/* Gives it a row and reads facts and late map, once. */
PM_MUST_CHECK enum pm_status collect_binary_read(struct collector *c,
                                                 struct collect_binary *binary);
/* Row of a noun of a run file. binary NULL: it belongs to none. */
PM_MUST_CHECK enum pm_status collect_code_noun(struct collector *c, struct collect_binary *binary,
                                               const struct pm_run_file_noun *noun,
                                               uint32_t *ret_row);
PM_MUST_CHECK enum pm_status collect_binaries_end(struct collector *c); /* rows of binaries */
void collect_binaries_release(struct collector *c);

/* --- words.c --- */
/* Rows of the program's own words, and what the nouns of its objects of words are in names. */
PM_MUST_CHECK enum pm_status collect_words(struct collector *c, const struct pm_run_file *file,
                                           struct collect_names *names);
struct collect_told_noun {
    const char *name, *kind; /* interned */
};
/* A sentence of words that another process told. The same as if this one had defined them. */
PM_MUST_CHECK enum pm_status collect_told_sentence(struct collector *c, const char *level,
                                                   const char *verb,
                                                   const struct collect_told_noun *nouns,
                                                   uint32_t n_nouns, uint32_t *ret_sentence);
/* Is the noun of a run file a sentence that the program entered itself? */
/* Down from a context by one for each member of the set that the noun stands for, by their rows. */
PM_MUST_CHECK enum pm_status collect_ambient_context(struct collector *c,
                                                     const struct pm_run_file *file, uint32_t noun,
                                                     const struct collect_names *names,
                                                     unsigned flags, uint32_t *context);
bool collect_is_spoken(const struct pm_run_file *file, const struct pm_run_file_noun *noun);

/* --- places.c: which noun of the facts stands for a place --- */
PM_MUST_CHECK enum pm_status collect_places_make(struct collector *c,
                                                 struct collect_binary *binary);
/* The source's loop of a loopcode; 0: not known. */
pm_id collect_loop_of_code(const struct collect_binary *binary, pm_id loopcode);
/* The facts' own function of a loopcode; 0: not known. */
pm_id collect_loop_function(const struct collect_binary *binary, pm_id loopcode);
/* What a function or loop with sleds (a symbol or loopcode) called at a line that nobody knows:
 * a statement of it without a line; 0: which function or loop it is of is not known. */
PM_MUST_CHECK enum pm_status collect_map_unknown_line(struct collector *c,
                                                      struct collect_binary *binary, pm_id code,
                                                      uint32_t *ret_row);
/* Rows of functions and positions of symbols by their linkage name; 0: none, or several. */
uint32_t collect_function_named(const struct collect_binary *binary, const char *linkage);
bool collect_symbol_named(const struct collect_binary *binary, const char *name,
                          struct pm_pif_noun *ret_noun);
/* Rows of nouns that the late map names, made when the facts do not have them. name NULL: not
 * known. */
PM_MUST_CHECK enum pm_status collect_map_noun(struct collector *c, struct collect_binary *binary,
                                              pm_id id, const char *kind, const char *name,
                                              uint32_t *ret_row);
/* The statement or region at a place; where the facts have none, one that is made, or `frame`
 * (0: the function's own) where the function is entered and left. 0: a place without a line. */
PM_MUST_CHECK enum pm_status collect_map_statement(struct collector *c,
                                                   struct collect_binary *binary,
                                                   const struct pm_code_place *place,
                                                   uint32_t frame, uint32_t *ret_row);
/* The loop that code belongs to: the one that it lies in or, of the peeled round of a loop
 * within that one, and of what was moved out of it, that of the statement. What leaves a loop
 * for good (a return within it) has no code in it. 0: none. */
pm_id collect_loop_of(struct collector *c, const struct collect_binary *binary,
                      const struct pm_code_range *range, enum pm_status *status);
/* The loop that the statement at exactly this place stands in; 0: none, or no such statement. */
pm_id collect_statement_loop(struct collector *c, const struct collect_binary *binary,
                             const struct pm_code_place *place, enum pm_status *status);
/* The file's name as the facts of statements spell it; NULL: they do not have the file. */
const char *collect_place_file(struct collector *c, const struct collect_binary *binary, pm_id file,
                               enum pm_status *status);
/* The function around a noun; 0: not in these facts. */
pm_id collect_function_around(const struct pm_pif *pif, const struct pm_pif_noun *noun);
/* Entering and leaving a function: a statement that stands at its head. */
PM_MUST_CHECK enum pm_status collect_map_frame(struct collector *c, struct collect_binary *binary,
                                               pm_id function, uint32_t *ret_row);
/* Statements of which nothing is left get the attribute `removed`. */
PM_MUST_CHECK enum pm_status collect_mark_removed(struct collector *c,
                                                  struct collect_binary *binary);
void collect_places_release(struct collect_binary *binary);

/* --- touches.c: what statements write and read, and so what code is for that does not
 * say it itself --- */
/* Once per binary. */
PM_MUST_CHECK enum pm_status collect_accesses_make(struct collector *c,
                                                   struct collect_binary *binary);
/* Position of the first access of a statement, if it has any. */
size_t collect_first_access(const struct collect_binary *binary, uint32_t statement);
/* The innermost place that is not in the compiler's or the system's headers, where one calls the
 * other. */
struct pm_code_place collect_user_place(const struct collect_binary *binary,
                                        const struct pm_code_tuple *tuple, bool *ret_in_header);
/* Is it code of a function that a system header holds: of C++'s library? What the compiler made
 * of it has facts and no sleds. */
bool collect_is_library(const struct collect_code *code);
/* Maps a sentence to all that statements of a function or loop touch, as possible: it does
 * something for them, and which is not known. */
PM_MUST_CHECK enum pm_status collect_map_any_of(struct collector *c, struct collect_binary *binary,
                                                pm_id of, uint32_t sentence);
/* Maps a sentence of code that the caller called in C++'s library to what the call passes there. */
PM_MUST_CHECK enum pm_status collect_map_passed(struct collector *c,
                                                const struct collect_code *caller,
                                                uint32_t sentence);
/* Maps code to what it touches: first what the map says, then what is inferred of it. */
PM_MUST_CHECK enum pm_status collect_map_objects(struct collector *c, struct collect_code *code,
                                                 const struct pm_code_range *range,
                                                 const char *reason);

/* --- references.c: what parameters, pointers and fields refer to --- */
PM_MUST_CHECK enum pm_status collect_note_touch(struct collector *c,
                                                const struct collect_binary *binary, pm_id id,
                                                uint32_t row, unsigned access);
/* Code of a method touches a field: if that is of its object, it touches what the method is
 * called for. */
PM_MUST_CHECK enum pm_status collect_note_member(struct collector *c,
                                                 const struct collect_member *member,
                                                 pm_id function);
/* Are elements of the object records that have the field? */
bool collect_may_hold(const struct collect_binary *binary, pm_id object, pm_id field);
/* When all code is known. */
PM_MUST_CHECK enum pm_status collect_references_end(struct collector *c);
void collect_references_release(struct collector *c);

/* --- regions.c: bodies of OpenMP regions, which are symbols --- */
/* first_mapping: of the binary's facts. */
PM_MUST_CHECK enum pm_status collect_regions_make(struct collector *c,
                                                  struct collect_binary *binary,
                                                  size_t first_mapping);
/* Rows: the region that begins at a place (outlined: only one whose body is a symbol), and the
 * one whose body a symbol is. 0: none. */
uint32_t collect_region_at(const struct collect_binary *binary, const struct pm_code_place *place,
                           const char *file, bool outlined);
uint32_t collect_region_of(const struct collect_binary *binary, pm_id symbol);

/* --- code.c: code nouns and what they map to --- */
/* The number of the code at an address of the binary's ELF file, from 1; the binary is opened and
 * the code becomes nouns and mappings when it was not met before. binary NULL: of no file. */
PM_MUST_CHECK enum pm_status collect_code_at(struct collector *c, struct collect_binary *binary,
                                             uint64_t address, uint32_t *ret_code);
/* The code of that number, lent until the next collect_code_at; 0: one about which nothing is
 * known. */
const struct collect_code *collect_code(const struct collector *c, uint32_t code);
/* binary->blame, when it can be had. */
PM_MUST_CHECK enum pm_status collect_need_blame(struct collector *c, struct collect_binary *binary);
/* The address of the instruction whose time a sample at this address is (../code/blame.h);
 * address itself when it is not code with a late map. */
PM_MUST_CHECK enum pm_status collect_blamed(struct collector *c, struct collect_binary *binary,
                                            uint64_t address, uint64_t *ret_address);
/* Row of {code caller Executes}: of code of C++'s library, which maps to what it is, and to the
 * data that the caller passes. */
PM_MUST_CHECK enum pm_status collect_library_sentence(struct collector *c,
                                                      const struct collect_code *code,
                                                      const struct collect_code *caller,
                                                      uint32_t *ret_sentence);
/* Row of {called caller Executes}, which maps to what the caller maps to. */
PM_MUST_CHECK enum pm_status collect_called_sentence(struct collector *c, uint32_t called_noun,
                                                     const struct collect_code *caller,
                                                     bool is_sure, uint32_t *ret_sentence);
/* The same where only the context is known: noun and sentence of its innermost code with sleds. */
PM_MUST_CHECK enum pm_status collect_called_from(struct collector *c, uint32_t called_noun,
                                                 uint32_t noun, uint32_t sentence,
                                                 uint32_t *ret_sentence);

/* Row of {inlined function, or loop without sleds, within the block's symbol Executes}. kind:
 * function, loop. */
PM_MUST_CHECK enum pm_status collect_inline_sentence(struct collector *c,
                                                     struct collect_binary *binary,
                                                     const struct pm_code_block *block,
                                                     pm_id inlined, const char *kind,
                                                     uint32_t *ret_sentence);

/* That, if it is there; 0. */
uint32_t collect_known_inline(const struct collect_binary *binary,
                              const struct pm_code_block *block, pm_id inlined);

/* --- call_paths.c: inlined functions and inner loops that lie around calls --- */
/* Down from the context of the symbol `caller`, or of one of its loops (0: none is active), to
 * what its calls of `callee` lie in. callee 0: of another binary. flags: of the contexts. */
PM_MUST_CHECK enum pm_status collect_call_path(struct collector *c, struct collect_binary *binary,
                                               pm_id caller, pm_id loopcode, pm_id callee,
                                               unsigned flags, uint32_t *context);
/* The symbol whose code is active: a loop may be followed where its function is not, and is
 * active below another one then. */
pm_id collect_symbol_around(const struct collect_binary *binary, pm_id symbol, pm_id loopcode);
/* Opens what the rest needs of a binary that was read; without it no calls are known. */
PM_MUST_CHECK enum pm_status collect_need_calls(struct collector *c, struct collect_binary *binary);
/* Whether that has anything to do. */
bool collect_lacks_calls(const struct collect_binary *binary);
/* All calls in the code of a binary, by caller and callee. Lent. */
PM_MUST_CHECK enum pm_status collect_list_calls(struct collector *c, struct collect_binary *binary,
                                                const struct collect_call **ret_calls,
                                                size_t *ret_n);
/* Whether it is one: of what is not known, the bytes may only look so. */
bool collect_is_call(const struct collect_binary *binary, const struct collect_call *call);
/* Where the symbol jumps to code that has no late map: its last call there. 0: nowhere, or at
 * several places. */
PM_MUST_CHECK enum pm_status collect_jump_out(struct collector *c, struct collect_binary *binary,
                                              pm_id symbol, uint64_t *ret_address);
/* What the call in the symbol that ends at the address calls; 0: nobody knows. */
PM_MUST_CHECK enum pm_status collect_called_at(struct collector *c, struct collect_binary *binary,
                                               pm_id symbol, uint64_t address, pm_id *ret_callee);
/* Functions and loops that calls could not be brought to; when all contexts are there. */
PM_MUST_CHECK enum pm_status collect_lacking_end(struct collector *c);
/* Functions that were inlined wherever they were called get a context in code that was entered,
 * where all calls are expected, or when they lack callees. */
PM_MUST_CHECK enum pm_status collect_inlined_end(struct collector *c);
void collect_call_paths_release(struct collect_binary *binary);

/* --- routes.c: in what other ways a function may be entered below a context --- */
struct collect_route;
/* A process begins: which functions are followed in it. */
PM_MUST_CHECK enum pm_status collect_routes_begin(struct collector *c,
                                                  const struct pm_run_file *file,
                                                  const struct collect_names *names);
/* All processes are there: from here on, only what was followed in each of them is. */
PM_MUST_CHECK enum pm_status collect_routes_join(struct collector *c);
/* What leads to the symbol without a context of its own. callee 0: to other binaries. Lent until
 * the next call. */
PM_MUST_CHECK enum pm_status collect_route(struct collector *c, struct collect_binary *binary,
                                           pm_id callee, const struct collect_route **ret_route);
/* Whether a call of it may become one of the route's end. callee 0: of what is not known. */
bool collect_leads(const struct collect_route *route, pm_id callee);
void collect_routes_release(struct collect_binary *binary);

/* --- sites.c: which statements code was called from, and inlined at --- */
PM_MUST_CHECK enum pm_status collect_inlined_at(struct collector *c,
                                                const struct collect_code *code);
/* When all contexts are there. */
PM_MUST_CHECK enum pm_status collect_calls_end(struct collector *c);

/* --- debug.c: the same for code without late map --- */
/* The symbol that holds an address and the offset in it; *ret_name NULL: none is known. Lent. */
PM_MUST_CHECK enum pm_status collect_symbol_at(struct collector *c, struct collect_binary *binary,
                                               uint64_t address, const char **ret_name,
                                               uint64_t *ret_offset);
PM_MUST_CHECK enum pm_status collect_debug_code(struct collector *c, struct collect_binary *binary,
                                                uint64_t address, struct collect_code *ret_code);

/* Code of which a tool told function and line, not the address, in a binary that was read. frame:
 * its strings are kept. */
PM_MUST_CHECK enum pm_status collect_named_code(struct collector *c, struct collect_binary *binary,
                                                const struct pm_debug_frame *frame,
                                                struct collect_code *ret_code);

/* --- import.c --- */
/* Costs that were measured elsewhere: a thread of their own. name: of the execution that is made
 * when there is none; NULL: the file's. */
PM_MUST_CHECK enum pm_status collect_cost_file(struct collector *c, const char *path,
                                               const char *name);

/* --- costs.c --- */
PM_MUST_CHECK enum pm_status collect_costs_start(struct collector *c);
/* Opens the binaries that contexts of a file are calls in. */
PM_MUST_CHECK enum pm_status collect_locate_calls(struct collector *c,
                                                  const struct pm_run_file *file,
                                                  const struct collect_names *names);
/* Contexts and costs of all threads of a file, whose rows are first_thread and on. */
PM_MUST_CHECK enum pm_status collect_costs_add(struct collector *c, const struct pm_run_file *file,
                                               uint32_t first_thread,
                                               const struct collect_names *names);
/* Of a thread whose file has none of it: all time is its root's. */
PM_MUST_CHECK enum pm_status collect_costs_add_time(struct collector *c, uint32_t thread,
                                                    uint32_t root_sentence, uint64_t wall_ns);
/* Folded contexts stand for their parent. */
uint32_t collect_unfolded(const struct pm_run_file_thread *thread, uint32_t node);
/* Where a node's own time goes: *context, the node's own, but for a sentence that the program
 * entered itself, which is no code. */
PM_MUST_CHECK enum pm_status collect_own_context(struct collector *c,
                                                 const struct pm_run_file *file,
                                                 const struct pm_run_file_thread *thread,
                                                 size_t node, const struct collect_names *names,
                                                 unsigned flags, uint32_t *context);
PM_MUST_CHECK enum pm_status collect_cost(struct collector *c, uint32_t context, uint32_t thread,
                                          uint32_t metric, uint64_t value); /* 0 is left out */
PM_MUST_CHECK enum pm_status collect_metric(struct collector *c,
                                            const struct collect_metric *metric,
                                            uint32_t *ret_metric);
PM_MUST_CHECK enum pm_status collect_costs_end(struct collector *c);
/* cost_lists.c: writes what is in memory. No thread has costs before and after. */
PM_MUST_CHECK enum pm_status collect_write_costs(struct collector *c);
void collect_costs_release(struct collector *c);

/* --- causes.c --- */
/* The cause that a word of a run file tells. *ret_cause: 1 + its position. */
PM_MUST_CHECK enum pm_status collect_cause(struct collector *c, const struct pm_run_file_word *word,
                                           uint32_t *ret_cause);
/* A context below `parent` in which a cause is adopted. sentence: of the code around it. */
PM_MUST_CHECK enum pm_status collect_cause_context(struct collector *c, uint32_t parent,
                                                   uint32_t cause, uint32_t sentence,
                                                   unsigned flags, uint32_t *ret_context);
/* What the contexts of a thread have become, for causes that name them. nodes: as for
 * collect_samples. */
PM_MUST_CHECK enum pm_status collect_cause_places(struct collector *c,
                                                  const struct pm_run_file *file,
                                                  const struct pm_run_file_thread *thread,
                                                  const struct collect_node *nodes);
/* when all contexts are there */
PM_MUST_CHECK enum pm_status collect_causes_end(struct collector *c);
void collect_causes_release(struct collector *c);

/* --- kernel.c: what the kernel wrote of a run's files, on behalf of who wrote them --- */
/* Has the run folder a file of that? */
PM_MUST_CHECK enum pm_status collect_kernel_start(struct collector *c, const char *run_dir);
/* The inodes that a run file names; when its words have their rows. */
PM_MUST_CHECK enum pm_status collect_kernel_words(struct collector *c,
                                                  const struct pm_run_file *file,
                                                  const struct collect_names *names);
/* A cost that was said at a node. nodes: as for collect_samples; context: that of the cost. */
PM_MUST_CHECK enum pm_status collect_kernel_cost(
    struct collector *c, const struct pm_run_file *file, const struct pm_run_file_thread *thread,
    const struct pm_run_file_sample *sample, const struct collect_names *names,
    const struct collect_node *nodes, uint32_t context, uint32_t thread_row);
PM_MUST_CHECK enum pm_status collect_kernel_end(struct collector *c); /* of the run */
void collect_kernel_release(struct collector *c);

/* --- samples.c --- */
/* Numbers of the code of a sample, of what called it, and of what has likely jumped there; 0: not
 * known, or not needed. */
struct collect_located {
    uint32_t code, caller, jump;
};
/* Finds the code of all samples of a file, in names->located: opens binaries, and makes nouns. */
PM_MUST_CHECK enum pm_status collect_locate_samples(struct collector *c,
                                                    const struct pm_run_file *file,
                                                    struct collect_names *names);
/* Places the samples of a thread; no file is opened any more. located: of its samples; nodes: what
 * its contexts have become. */
PM_MUST_CHECK enum pm_status collect_samples(struct collector *c, const struct pm_run_file *file,
                                             const struct pm_run_file_thread *thread,
                                             uint32_t thread_row, const struct collect_names *names,
                                             const struct collect_located *located,
                                             const struct collect_node *nodes);

/* A context of the run file, and the one it has become. */
struct collect_where {
    const struct pm_run_file *file;
    const struct pm_run_file_thread *thread;
    uint32_t node;
    struct collect_node context;
    uint32_t thread_row;
    const struct collect_names *names;
};
/* Opens what collect_code_context needs. */
PM_MUST_CHECK enum pm_status collect_locate_context(struct collector *c,
                                                    const struct collect_where *where,
                                                    const struct collect_code *code);
/* The context of a sentence of code, below that: its symbol and inlined functions between. */
PM_MUST_CHECK enum pm_status collect_code_context(struct collector *c,
                                                  const struct collect_where *where,
                                                  const struct collect_code *code,
                                                  uint32_t sentence, uint32_t *ret_context);

/* --- trace.c --- */
/* Events of all threads of a file, path, whose rows are first_thread and on. */
PM_MUST_CHECK enum pm_status collect_trace(struct collector *c, uint64_t start_tsc,
                                           const char *path, const struct pm_run_file *file,
                                           uint32_t first_thread,
                                           const struct collect_names *names);

/* --- heap.c --- */
#define COLLECT_NO_HEAP UINT32_MAX
/* Finds the code that allocated, of all places of a file, in names->heap_codes. */
PM_MUST_CHECK enum pm_status collect_locate_heap(struct collector *c,
                                                 const struct pm_run_file *file,
                                                 struct collect_names *names);
/* Costs of what was allocated at one place. code: its number. ret_heap: position of its noun,
 * COLLECT_NO_HEAP: it has none. */
PM_MUST_CHECK enum pm_status collect_heap_site(struct collector *c, uint32_t code,
                                               const struct pm_run_file_heap_site *site,
                                               const struct collect_where *where,
                                               uint32_t *ret_heap);
/* heaps: position for each site of the file. */
PM_MUST_CHECK enum pm_status collect_heap_blocks(struct collector *c, uint64_t start_tsc,
                                                 const struct pm_run_file *file,
                                                 const uint32_t *heaps);
PM_MUST_CHECK enum pm_status collect_heap_end(struct collector *c); /* attributes, pointers */
void collect_heap_release(struct collector *c);
void collect_heap_binary_release(struct collect_binary *binary);

#endif
