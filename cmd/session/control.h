/* The run's end of the control channel: a Unix socket in the run folder, by which `perfmap mode`
 * (and what comes later) asks, and the control chunks of the run files, by which the processes
 * are told. docs/formats/control.md.
 *
 *     // takes names and choice
 *     struct session_control *control = session_control_new(run_dir, names, &choice);
 *     session_control_listen(control, err);                 // failure: the run goes on without
 *     while (is_running)
 *         session_control_wait(control, wake_fd);         // serves until wake_fd can be read
 *     // the program has ended: those who ask questions are told
 *     session_control_end(control);
 *     session_control_wait_for_askers(control, 30000);      // before the run folder goes away
 *     session_control_free(control);
 *
 * A request that is malformed, endless or slow is answered with an error or dropped; it cannot
 * hold up the run. One thread.
 */
#ifndef PM_SESSION_CONTROL_H
#define PM_SESSION_CONTROL_H

#include "plan.h"

#include "format/pm_control.h"

#define CONTROL_SOCKET_NAME "control.sock"

struct session_control;
struct session_control *session_control_new(const char *run_dir, struct mode_names *names,
                                            struct mode_choice *choice);
PM_MUST_CHECK enum pm_status session_control_listen(struct session_control *control,
                                                    struct pm_error *err);
struct session_kernel;
/* From now on the kernel's events are read while it waits; NULL: no longer. */
void session_control_watch(struct session_control *control, struct session_kernel *kernel);
void session_control_wait(struct session_control *control, int wake_fd);
void session_control_end(struct session_control *control);
void session_control_wait_for_askers(struct session_control *control, unsigned most_ms);
void session_control_free(struct session_control *control);

/* --- one request, apart from the socket --- */
enum { CONTROL_LINE_MAX = 1 << 16 };
/* All that can be asked of a run: a line each, with the options that it takes beside pid= and
 * wait_ms=. What is done is do_WORD in control.c. */
#define CONTROL_VERBS(X)                                     \
    X(SHOW, show, 0)                                         \
    X(MODE, mode, CONTROL_TAKES_SET | CONTROL_TAKES_PATTERN) \
    X(NEED, need, CONTROL_TAKES_SET | CONTROL_TAKES_IDS)
enum {
    CONTROL_TAKES_SET = 1,     /* set=MODE */
    CONTROL_TAKES_PATTERN = 2, /* MODE=PATTERN */
    CONTROL_TAKES_IDS = 4,     /* ids=, more= */
};
#define CONTROL_VERB(NAME, word, takes) CONTROL_##NAME,
enum control_verb { CONTROL_VERBS(CONTROL_VERB) };
#undef CONTROL_VERB
struct control_request {
    enum control_verb verb;
    struct mode_rules rules; /* in the order given */
    struct mode_needs needs; /* need: nouns, and the mode that each should have at least */
    bool has_more;           /* need: other lines follow, nothing changes yet */
    bool has_mode;           /* mode: of everything, before the rules */
    enum pm_run_mode mode;
    uint32_t only[64]; /* processes; n_only 0: all */
    size_t n_only;
    uint64_t wait_ms;
};
/* Reads one line, without its end. Nothing in it is trusted. */
PM_MUST_CHECK enum pm_status control_request_parse(struct pm_str line, struct pm_error *err,
                                                   struct control_request *ret_request);
void control_request_release(struct control_request *request);
/* Adds " key=value", the value with %XX for what is not printable, blank or '%'. */
void control_add_word(struct pm_buf *line, const char *key, const char *value);
/* A value back, in place. */
void control_decode(char *value);

/* --- the processes of the run (control_page.c) --- */
enum { CONTROL_BY_BUDGET = 0x80 };
enum control_answer { ANSWER_DONE, ANSWER_WAITING, ANSWER_REFUSED, ANSWER_UNKNOWN, ANSWER_ENDED };
struct control_process {
    uint32_t pid;
    int fd;                  /* of the run file */
    uint64_t control_offset; /* of its control chunk; 0: none */
    bool ended;
    /* for an earlier request, when it was opened: its modes are those of before */
    bool was_waiting;
    uint32_t mode;
    /* nouns: by process-wide index */
    uint64_t *ids;
    uint8_t *modes; /* now; CONTROL_BY_BUDGET is added to those that the budget chose */
    uint32_t n_nouns, capacity;
    uint32_t n_lowered; /* nouns that the budget has in another mode now */
    /* of the last request */
    enum control_answer answer;
    uint32_t n_changed, n_sleds, n_refused;
    uint64_t spent_ns;
};
/* Reads what is there now. visit_object is called with the path of each object. False: no run
 * file, or not one that can be used. */
bool control_process_open(const char *path, void (*visit_object)(void *context, const char *path),
                          void *context, struct control_process *ret_process);
void control_process_close(struct control_process *process);
/* Once more what is there now, when an earlier request is done. */
bool control_process_refresh(struct control_process *process,
                             void (*visit_object)(void *context, const char *path), void *context);
/* Hands over a request of format/pm_control.h, with at most PM_CONTROL_MAX_CHANGES words; then
 * looks whether it is answered, and rings if not. */
bool control_process_ask(struct control_process *process, enum pm_control_verb verb,
                         const uint32_t *words, uint32_t n);
bool control_process_poll(struct control_process *process);

#endif
