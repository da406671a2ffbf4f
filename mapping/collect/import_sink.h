/* Profiles and traces of other tools (mapping/import): each file becomes processes of one
 * execution. */
#ifndef PM_COLLECT_IMPORT_SINK_H
#define PM_COLLECT_IMPORT_SINK_H

#include "mapping/base/status.h"

struct collector;
struct pm_import_options;

PM_MUST_CHECK enum pm_status collect_profiles(struct collector *c, const char *const *paths,
                                              size_t n, const char *name,
                                              const struct pm_import_options *options);

#endif
