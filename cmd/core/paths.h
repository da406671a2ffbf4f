/* Where PerfMap's own parts lie: absolute paths, found from where this executable is (build tree,
 * install tree) or PERFMAP_LIBDIR. PM_ERR_NOT_FOUND names the places that were tried. The caller
 * frees what is returned. Nothing is printed.
 */
#ifndef PM_CMD_PATHS_H
#define PM_CMD_PATHS_H

#include "mapping/base/status.h"
#include "mapping/base/str.h"

PM_MUST_CHECK enum pm_status cmd_find_plugin(struct pm_error *err,
                                             char **ret_path); /* perfmap.so */
PM_MUST_CHECK enum pm_status cmd_find_runtime(struct pm_error *err,
                                              char **ret_path); /* libperfmap-rt.so */
/* Another one beside libperfmap-rt.so. */
PM_MUST_CHECK enum pm_status cmd_find_library(const char *name, struct pm_error *err,
                                              char **ret_path);
/* Another file beside perfmap.so ("gcc-12.so"); NULL when it is not there. */
char *cmd_find_beside_plugin(const char *name);

/* The folder of perfmap.h, for -I. */
PM_MUST_CHECK enum pm_status cmd_find_include(struct pm_error *err, char **ret_path);

/* Annotations of a library for `perfmap wrap` ("zlib"); NULL: there are none. */
char *cmd_find_annotations(const char *library);

#endif
