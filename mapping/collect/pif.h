/* PIF of binaries and of the user, as rows. */
#ifndef PM_COLLECT_PIF_H
#define PM_COLLECT_PIF_H

#include "mapping/archive/archive.h"
#include "mapping/base/str.h"

struct collector;
struct pm_map;
struct pm_pif;

/* All of a PIF whose nouns have got their rows; those from row `first` on are written. */
PM_MUST_CHECK enum pm_status collect_import(struct collector *c, const struct pm_pif *pif,
                                            const struct pm_map *nouns, uint32_t first,
                                            uint32_t binary, const char *name);
/* Names to rows, whatever wrote the nouns. The statement lives until the archive is finished:
 * finalize it before. */
PM_MUST_CHECK enum pm_status collect_prepare_names(struct collector *c, sqlite3_stmt **ret_by_name);
/* level_name NULL: any. file: for the warning when there are several. *ret_row 0: none. */
PM_MUST_CHECK enum pm_status collect_noun_named(struct collector *c, sqlite3_stmt *by_name,
                                                const char *file, const char *level_name,
                                                const char *name, uint32_t *ret_row);
PM_MUST_CHECK enum pm_status collect_user_pif(struct collector *c, const char *path);

#endif
