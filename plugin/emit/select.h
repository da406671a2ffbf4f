/* Selection lists: which functions and files are instrumented.
 *
 *     struct pm_select *s = pm_select_new();
 *     pm_select_add(s, false, "func:tiny_*", &err);
 *     if (pm_select_match(s, "heat.c", "sweep", "sweep")) ...
 */
#ifndef PM_EMIT_SELECT_H
#define PM_EMIT_SELECT_H

#include "../../mapping/base/status.h"

struct pm_select;
struct pm_select *pm_select_new(void); /* NULL: memory */
void pm_select_free(struct pm_select *select);
PM_MUST_CHECK enum pm_status pm_select_add(struct pm_select *select, bool include,
                                           const char *pattern, struct pm_error *err);
PM_MUST_CHECK enum pm_status pm_select_read_file(struct pm_select *select, const char *path,
                                                 struct pm_error *err);
/* No pattern at all: everything matches, and nobody need find out names. */
bool pm_select_is_everything(const struct pm_select *select);
/* file: source path as spelt; name: declared name; linkage: linkage name. A file pattern matches
 * the whole path or any tail of it that begins after a '/'. No include pattern: everything is
 * included. */
bool pm_select_match(const struct pm_select *select, const char *file, const char *name,
                     const char *linkage);

#endif
