/* A target (target.h) that is a child of ours: the program is started, with the runtime preloaded,
 * and what it leaves behind becomes ours to wait for.
 *
 *     struct session_child child;
 *     request.target = session_child_target(&child);
 */
#ifndef PM_SESSION_CHILD_H
#define PM_SESSION_CHILD_H

#include "environment.h"
#include "target.h"

struct session_child {
    struct session_target target;
    /* --- private --- */
    const char *program; /* lent */
    struct session_preload preload;
    struct sigaction on_child; /* as it was */
    int go_fd;                 /* a byte tells the child to start; closed: it leaves; -1 none */
    int failed_fd;             /* errno of the child, when it could not start; -1 none */
    bool is_alone;   /* we have no children but those of the run: else only itself is waited for */
    bool is_started; /* and not yet waited for */
};
struct session_target *session_child_target(struct session_child *child);

#endif
