/* Where the reader of a thread's trace stands: what run_trace.c and run_trace_part.c share. */
#ifndef PM_RUN_TRACE_CURSOR_H
#define PM_RUN_TRACE_CURSOR_H

#include "run_internal.h"
#include "run_trace.h"

/* The context of a frame is not looked up yet: run_trace_node does, when it is asked for. */
#define RUN_TRACE_LATER 0xfffffffeu

struct run_trace_frame {
    uint32_t code;                 /* as in events */
    uint32_t noun, node;           /* node: or RUN_TRACE_LATER */
    uint32_t last_code, last_node; /* the child that was entered last */
    uint64_t tsc, away_tsc;        /* when it was entered; the cursor's away_tsc then */
};

enum { RUN_TRACE_OWN, RUN_TRACE_FOREIGN, RUN_TRACE_N_STACKS };
struct run_trace_stack {
    struct run_trace_frame *frames; /* the first is the root */
    size_t n, cap;
    size_t keep;    /* frames from here on have ended at close_tsc */
    size_t n_exact; /* of these, one that an event ended: its position; 0: none */
    uint32_t *path; /* nodes that are open and not entered yet, from path_at on */
    size_t n_path, path_at, path_cap;
    struct run_trace_frame
        *again; /* frames that are moved, or have waited, to be entered from again_at on */
    size_t n_again, again_at, again_cap;
    unsigned changing; /* frames are moved: PM_RUN_TRACE_MOVED, or wait and go on: _SWITCHED */
};

/* What waits on one of the stacks that the thread goes between. */
struct run_trace_tree {
    uint32_t root;
    bool is_known;
    struct run_trace_frame *frames;
    size_t n, cap;
};

struct run_trace_child {
    uint32_t parent, noun, node;
};

struct run_trace_placed {
    uint32_t place, node;
};

struct pm_run_trace_cursor {
    const struct pm_run_file *file;
    const struct pm_run_file_thread *thread;
    struct run_source source;
    int fd;
    const struct run_piece *pieces;
    size_t n_pieces, piece;
    struct run_trace_child *children; /* contexts by parent and noun */
    size_t n_children;
    struct run_trace_tree *trees; /* by root */
    size_t n_trees;
    struct run_trace_placed *placed; /* as many as nodes; NULL: not needed so far */
    uint64_t *events;                /* of the piece at hand */
    size_t n_events, event, events_cap;
    struct run_trace_stack stacks[RUN_TRACE_N_STACKS];
    int on;
    uint64_t away_tsc; /* spent on foreign stacks so far */
    uint64_t left_tsc; /* when the thread went there; on == RUN_TRACE_FOREIGN */
    uint64_t clock, last_tsc, close_tsc, end_tsc;
    size_t last_piece; /* no event of this piece or later ones comes out, nor the end */
    bool close_is_cut, finished;
    bool nodes_later; /* contexts of frames are only looked up where they matter */
};

PM_MUST_CHECK bool run_trace_push(struct run_trace_stack *stack,
                                  const struct run_trace_frame *frame);
/* The context of the i-th frame, looked up if need be. */
uint32_t run_trace_node(const struct pm_run_trace_cursor *c, struct run_trace_stack *stack,
                        size_t i);
/* What is entered and left by this code like a call; PM_RUN_TRACE_NONE: nothing is, or it has to
 * be looked at. */
static inline uint32_t run_trace_plain_noun(const struct pm_run_file *file, uint32_t code)
{
    return code < file->n_trace_nouns ? file->trace_nouns[code] - 1 : PM_RUN_TRACE_NONE;
}

#endif
