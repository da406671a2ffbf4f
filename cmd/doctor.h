/* The parts of `perfmap doctor`. */
#ifndef PM_CMD_DOCTOR_H
#define PM_CMD_DOCTOR_H

#include "cmd/core/cmd.h"

enum doctor_state {
    DOCTOR_WORKS,   /* tried, works */
    DOCTOR_FAILS,   /* there, and tried in vain */
    DOCTOR_MISSING, /* not there */
    DOCTOR_UNUSED,  /* there, but this version of PerfMap does nothing with it */
    DOCTOR_UNTRIED, /* something else has to work first */
};

struct doctor_check {
    char *group; /* compiler, runtime, machine, counters, mpi */
    char *name;
    enum doctor_state state;
    char *finding; /* what was seen */
    char *advice;  /* what to do; NULL: nothing */
};

struct doctor {
    struct doctor_check *checks; /* owned */
    size_t n_checks, cap;
    bool failed;   /* memory */
    char *folder;  /* for trials; removed at the end */
    char *program; /* a test program with sleds that a working compiler made; NULL: none yet */
};

/* Adds a row; finding and advice are taken over (free()d), advice NULL or "": none. */
void doctor_add(struct doctor *doctor, const char *group, const char *name, enum doctor_state state,
                char *finding, char *advice);
/* printf into memory that doctor_add takes; NULL: memory. */
char *doctor_text(const char *format, ...) PM_PRINTF(1, 2);

/* Runs a command in a folder with nothing on standard input; at most 60 s. What it writes goes to
 * ret_output (at most 64 KiB, may be NULL). Returns its exit status, 128 + signal, or -1 when it
 * cannot be started. */
int doctor_command(const char *folder, char *const *argv, struct pm_buf *ret_output);
/* The first line of a command's output that says "error", else its first line; a copy. */
char *doctor_first_error(const struct pm_buf *output);

void doctor_compilers(struct doctor *doctor);
void doctor_runtime(struct doctor *doctor);
void doctor_machine(struct doctor *doctor);

#endif
