/* The other end of control.h: commands that ask a run which goes on.
 *
 *     char run_dir[PATH_MAX];
 *     if (session_client_find(4711, err, run_dir) == PM_OK &&
 *         session_client_ask(run_dir, &line, err, &reply) == PM_OK)
 *         use(reply.data);
 *
 * One thread.
 */
#ifndef PM_SESSION_CLIENT_H
#define PM_SESSION_CLIENT_H

#include "mapping/base/status.h"
#include "mapping/base/str.h"

#include <limits.h>

/* The run folder of a process. PM_ERR_NOT_FOUND: there is no such process, or it is not
 * measured. */
PM_MUST_CHECK enum pm_status session_client_find(uint64_t pid, struct pm_error *err,
                                                 char ret_dir[PATH_MAX]);
PM_MUST_CHECK enum pm_status session_client_connect(const char *run_dir, struct pm_error *err,
                                                    int *ret_fd);
/* Sends a line (with its end), and takes all that comes until the connection is closed. */
PM_MUST_CHECK enum pm_status session_client_ask(const char *run_dir, const struct pm_buf *line,
                                                struct pm_error *err, struct pm_buf *reply);
/* Value of key= in a line of words, decoded; "" none. */
void session_client_value(const char *line, const char *key, char *ret_value, size_t bytes);

#endif
