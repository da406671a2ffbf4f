/* The parts of `perfmap run`. */
#ifndef PM_CMD_RUN_H
#define PM_CMD_RUN_H

#include "cmd.h"

#include "mapping/run/manifest.h"

struct run_control;

#include <sys/types.h>

/* As env(1), timeout(1), nice(1): our own failures must not look like the program's. */
enum { RUN_FAILED = 125, RUN_CANNOT_EXECUTE = 126, RUN_NOT_FOUND = 127 };

/* --- run_check.c --- */

/* Can this program be started, and can the runtime be preloaded into it? Looks it up as execvp(3)
 * does. ret_exit is set on failure. Refusals that `force` turns into a warning: static, setuid,
 * other machine. */
PM_MUST_CHECK enum pm_status run_check_program(const char *program, bool force,
                                               struct pm_error *err, int *ret_exit);

/* Where execvp(3) finds it. NULL: nowhere, or memory. The caller frees. */
char *run_find_program(const char *program);

/* Does the program's own file hold sleds? */
bool run_has_sleds(const char *program);

/* --- run_output.c --- */

/* Where the run goes. */
struct run_output {
    char *name;    /* what was asked for: archive, or run folder when `collect` is off */
    char *run_dir; /* absolute, exists */
    bool collect;
    bool own_run_dir; /* run_dir is a temporary of ours */
};

/* Checks that name can be (re)placed, and makes the run folder. An existing archive or run folder
 * is replaced, anything else refused. Nothing that exists is touched before run_output_make. */
PM_MUST_CHECK enum pm_status run_output_check(const char *name, bool collect, struct pm_error *err);
PM_MUST_CHECK enum pm_status run_output_make(const char *name, bool collect, struct pm_error *err,
                                             struct run_output *ret_output);
/* Removes a run folder: its manifest, its run files, itself. Other files in it stay, and then it
 * stays too. */
PM_MUST_CHECK enum pm_status run_folder_remove(const char *run_dir, struct pm_error *err);
/* An archive that a run is about to replace is kept as NAME.old, as perf does. In pairs: before
 * the new one is made, and afterwards. */
struct run_kept {
    char *old, *spare; /* NULL: none */
};
void run_output_keep(const char *name, struct run_kept *ret_kept);
void run_output_kept(struct run_kept *kept, bool is_replaced);
void run_output_release(struct run_output *output);

/* --- run_clock.c --- */

struct run_instant {
    uint64_t tsc, monotonic_ns; /* CLOCK_MONOTONIC_RAW */
};
struct run_instant run_instant_now(void);
uint64_t run_realtime_ns(void);
/* Ticks a second between two instants; 0: cannot be told. */
uint64_t run_ticks_hz(struct run_instant from, struct run_instant to);
/* Ticks a second, measured for 10 ms; 10^9 where the clock is nanoseconds. */
uint64_t run_calibrate(struct run_instant *ret_from);

/* --- run_libraries.c --- */

/* True: the program needs only libraries of the compiler and its C library, so the loader need
 * not be asked, which takes a process, and half as long as all else before the program starts. */
bool run_needs_only_basics(const char *path);
/* What the loader says of a program's libraries, as text; nothing when it is none of the
 * loader's. */
PM_MUST_CHECK enum pm_status run_list_libraries(const char *path, struct pm_error *err,
                                                struct pm_buf *text);
/* The path of the next library in that text, which is taken apart; NULL: that was all. rest: the
 * text at first. */
char *run_next_library(char **rest);

/* --- run_adapters.c --- */

enum { RUN_MAX_ADAPTERS = 8 };
struct run_adapters {
    char *paths[RUN_MAX_ADAPTERS]; /* of libraries to be preloaded */
    size_t n;
    bool memory;         /* one of them needs settings.heap */
    const char *offered; /* would show the program, and is dear; NULL: none */
};
struct pm_question;
/* choice: "auto" (those of libraries that the program is started with; with a question those
 * whose words it asks for, or that may have what fits), "none", or names separated by commas.
 * program, question NULL: not known, none. */
PM_MUST_CHECK enum pm_status run_find_adapters(const char *choice, const char *program,
                                               const struct pm_question *question,
                                               struct pm_error *err,
                                               struct run_adapters *ret_adapters);
/* And that one, when it is not among them. */
PM_MUST_CHECK enum pm_status run_need_adapter(const char *name, struct pm_error *err,
                                              struct run_adapters *adapters);
/* Which sentences name words of these adapters. ret_said[n_sentences]; names: of the adapters
 * that have them, separated by commas. */
void run_adapters_for(const struct run_adapters *adapters, const struct pm_question *question,
                      bool *ret_said, struct pm_buf *names);
void run_release_adapters(struct run_adapters *adapters);
/* The adapter whose words are of that level; NULL: none is known. */
const char *run_adapter_of_level(const char *level);

/* --- run_start.c --- */

struct run_settings {
    const char *mode, *clock;
    uint64_t rate_hz, budget_ppm;                /* 0: no samples; no budget */
    uint64_t max_contexts, max_depth, max_nouns; /* 0: the runtime's own */
    const char *mapping_points;                  /* NULL: all */
    bool heap;                                   /* blocks of the heap are followed */
    uint64_t heap_min_bytes;                     /* 0: the runtime's own */
    uint64_t trace_limit_bytes;                  /* 0: the runtime's own */
    bool kernel_writes;                          /* what the kernel writes is followed */
    const char *trace_keep;                      /* NULL: the runtime's own */
    struct run_adapters adapters;
    bool wait_for_all; /* for all processes of the run, not only for the program itself */
};

/* How it ended. */
struct run_end {
    /* status of the program, 128 + signal, or 126/127 with an error when it could not be started */
    int exit;
    bool is_alive;       /* something of the run still runs */
    uint32_t living_pid; /* one of these; 0: not known */
};

/* Starts the program, waits for it, completes the manifest and writes it. control: served
 * meanwhile. */
PM_MUST_CHECK enum pm_status run_program(char *const *argv, const char *run_dir,
                                         const struct run_settings *settings,
                                         struct run_control *control, struct pm_manifest *manifest,
                                         struct pm_error *err, struct run_end *ret_end);

/* --- run_ask.c: perfmap run --ask --- */

struct mode_needs;

/* What was asked, and what it comes to for this program. */
struct run_question {
    const char *text, *metrics; /* lent; text NULL: nothing was asked */
    struct pm_question *question;
    uint64_t n_sleds, n_all_sleds;
    bool samples; /* it cannot be answered without */
};
/* Wrong usage (with the character that is wrong) is PM_ERR_USAGE. */
PM_MUST_CHECK enum pm_status run_question_parse(struct run_question *asked, struct pm_error *err);
/* What of the program, its libraries and the files of --look-in has to be followed. Says what is
 * armed. PM_ERR_USAGE: names that nothing has. */
PM_MUST_CHECK enum pm_status run_question_look(struct run_question *asked, const char *program,
                                               const char *const *look_in, size_t n_look_in,
                                               const struct run_settings *settings,
                                               struct pm_error *err, struct mode_needs *ret_modes);
/* Prints the answer; what is wrong with it is told. False: it could not be told. */
bool run_question_answer(const struct run_question *asked, const char *archive);
void run_question_release(struct run_question *asked);

/* --- run_after.c --- */

struct run_findings {
    size_t n_processes; /* run files */
    uint64_t n_sleds;   /* over all of them */
    size_t n_sampled;   /* processes of which samples were taken */
    uint64_t n_calls;
    size_t n_damaged;     /* run files that cannot be read, or not all of them */
    bool is_running;      /* a process has not ended, or has not even begun */
    uint32_t running_pid; /* one of these; 0: none is known */
    /* of n_sleds those of compiled code; the others stand for a program's own words */
    uint64_t n_code_sleds;
    char level[64]; /* the first level of such words that sentences were made of; "" none */
};

/* Looks through the run files and prints the runtime's messages once each; with tell_damage also
 * what is damaged (collecting says that too). */
void run_findings_print(const char *run_dir, const struct pm_manifest *manifest, bool tell_damage,
                        struct run_findings *ret_findings);

#endif
