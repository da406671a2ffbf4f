/* The plugin's options, the same for every compiler: -fplugin-arg-perfmap-KEY[=VALUE].
 *
 *   constructs=LIST    which constructs get sleds: functions, loops (outermost, but none that only
 *                      searches memory in a few instructions; the default is functions,loops),
 *                      search-loops (loops with those that search), all-loops (inner ones, too),
 *                      none
 *   include=PATTERN    only functions or files that match ("file:PATTERN", "func:PATTERN", or both
 *                      tried); may repeat
 *   exclude=PATTERN    not those; may repeat; wins over include
 *   select=FILE        a selection list (docs/formats/selection.md), of `perfmap select` too; or a
 *                      filter file of Score-P or TAU
 *   pif=DIR|auto|none  where NAME.pif goes; auto: beside the object when one is kept. The
 *                      environment variable PERFMAP_PIF (DIR, no) says it for a whole build
 *   pdb=DIR            the facts for `perfmap pdb build --facts DIR`: one file for each object, by
 *                      its absolute path. The folder is made if its parent is there
 *   section=yes|no     compact PIF in the object
 *   map=yes|no         the late map in the object (format/pm_map.h)
 *   portable           guarded calls instead of sleds
 *   verbose            one line per translation unit on standard error
 *
 * An unknown key or a bad value is one error that names it and lists or suggests what there is.
 */
#ifndef PM_EMIT_OPTIONS_H
#define PM_EMIT_OPTIONS_H

#include "../../mapping/base/status.h"

struct pm_selection; /* mapping/base/selection.h */

struct pm_options {
    bool functions, loops, search_loops, all_loops;
    bool section, map, portable, verbose;
    bool pif_none;
    char *pif_dir;                  /* NULL: auto */
    char *pdb_dir;                  /* NULL: none */
    struct pm_selection *selection; /* never NULL after pm_options_init */
};

PM_MUST_CHECK enum pm_status pm_options_init(struct pm_options *options,
                                             struct pm_error *err); /* the defaults */
/* One option. value NULL: none was given. */
PM_MUST_CHECK enum pm_status pm_options_set(struct pm_options *options, const char *key,
                                            const char *value, struct pm_error *err);
void pm_options_release(struct pm_options *options);

#endif
