/* What samples.c (what a sample's time is of), active.c (the way down to code) and said.c (words
 * that calls say) share. */
#ifndef PM_SAMPLES_INTERNAL_H
#define PM_SAMPLES_INTERNAL_H

#include "active.h"

#include "format/pm_id.h"

struct collect_code;
struct collect_times;
struct pm_run_file_node;
struct pm_run_file_sample;

/* One thread while its samples are placed. */
struct sampler {
    struct collector *c;
    const struct pm_run_file *file;
    const struct pm_run_file_thread *thread;
    uint32_t thread_row;
    const struct collect_names *names;
    const struct collect_node *nodes;
    bool *has_below;             /* of the thread's nodes: something was called there */
    struct collect_times *times; /* of the thread's costs; NULL: none are kept */
    uint32_t sample;             /* position of the one that is placed */
};

/* The innermost code with sleds that was active: a function's node, and a loop's within it. */
struct innermost {
    const struct pm_run_file_node *function, *loop; /* NULL: none */
    const struct collect_code *said; /* the code in it that has said a word; NULL: none is known */
};

/* --- active.c --- */
struct sampler sampler_of(struct collector *c, const struct collect_where *where);
/* Without `said`. */
struct innermost sampler_active(const struct sampler *s, uint32_t node);
struct innermost sampler_innermost(const struct sampler *s, uint32_t node);
/* Is it code of an object with the plugin? */
bool sampler_has_facts(const struct collect_code *code);
/* In a process without sleds: code that debug information or symbols tell of. A caller is in no
 * library of a language. */
bool sampler_is_plain(const struct innermost *innermost, const struct collect_code *code);
/* Whether the code is that of the active function, or of the one whose loop is active, or lies
 * around the word that is active there. */
bool sampler_is_active(const struct sampler *s, const struct innermost *innermost,
                       const struct collect_code *code);

/* First pass. interrupted: the address is where a timer's interrupt left the program, not what
 * called. */
PM_MUST_CHECK enum pm_status sampler_code_at(const struct sampler *s, uint32_t object,
                                             uint64_t address, bool interrupted,
                                             uint32_t *ret_code);
/* The code that has likely jumped to a library, of the active function; 0: none. */
PM_MUST_CHECK enum pm_status sampler_active_jump(const struct sampler *s,
                                                 const struct innermost *innermost,
                                                 uint32_t *ret_code);
/* The same of what is called at that address of the object, the code `caller`. */
PM_MUST_CHECK enum pm_status sampler_called_jump(const struct sampler *s, uint32_t object,
                                                 uint64_t address,
                                                 const struct collect_code *caller,
                                                 uint32_t *ret_code);
/* What sampler_to_code will look up. code: NULL does nothing. */
PM_MUST_CHECK enum pm_status sampler_open_around(const struct sampler *s,
                                                 const struct innermost *innermost,
                                                 const struct collect_code *code);

/* Second pass. A place is where a sample goes while it is led down. */
PM_MUST_CHECK enum pm_status sampler_step_down(struct sampler *s, struct collect_node *place,
                                               uint32_t sentence, unsigned flags);
/* Down from the context to what holds the code: its symbol, and the functions inlined there. */
PM_MUST_CHECK enum pm_status sampler_to_code(struct sampler *s, const struct innermost *innermost,
                                             const struct collect_code *code,
                                             struct collect_node *place);

/* --- said.c --- */
/* What was said first, of the words between the node and the code that is active; NULL: nothing, or
 * it is not known where. */
const struct collect_code *sampler_said(const struct sampler *s, const struct innermost *active,
                                        uint32_t node);

#endif
