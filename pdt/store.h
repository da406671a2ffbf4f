/* Groups to the tables of a database that is being made (schema.sql). Of this room only.
 *
 *     struct pdt_store *store;
 *     if (pdt_store_new(pdb, &err, &store) == PM_OK)
 *         pdt_store_group(store, data, hash, &err, &id);   // once for each different one, in order
 *     pdt_store_unit(store, &unit, ids, n_ids, &err);
 *     pdt_store_end(store, now_ns, "19", &err);  // what could be told only now
 *     pdt_store_free(store);
 *
 * Groups are looked at until pdt_store_end, and must live so long. Each item is kept once, however
 * many groups have it: by its key, and definitions by their place as well.
 */
#ifndef PDT_STORE_H
#define PDT_STORE_H

#include "unit.h"

#include "mapping/archive/database.h"

struct pdt_store;

PM_MUST_CHECK enum pm_status pdt_store_new(struct pm_database *pdb, struct pm_error *err,
                                           struct pdt_store **ret_store);
void pdt_store_free(struct pdt_store *store);
/* Bytes of groups may come from a file: PM_ERR_FORMAT when they are damaged. */
PM_MUST_CHECK enum pm_status pdt_store_group(struct pdt_store *store, struct pm_str data,
                                             const uint8_t hash[16], struct pm_error *err,
                                             int64_t *ret_id);
PM_MUST_CHECK enum pm_status pdt_store_unit(struct pdt_store *store, const struct pdt_unit *unit,
                                            const int64_t *groups, uint32_t n_groups,
                                            struct pm_error *err);
/* began_ns: files that changed since are read again next time. */
PM_MUST_CHECK enum pm_status pdt_store_end(struct pdt_store *store, int64_t began_ns,
                                           const char *libclang, struct pm_error *err);
uint64_t pdt_store_n(const struct pdt_store *store,
                     char what); /* 'r'outines, 'l'oops, 'c'alls, 'a'ccesses */

/* size and, when contents are asked for, their XXH3; false: it cannot be read. */
bool pdt_file_state(const char *path, bool with_hash, int64_t *ret_size, int64_t *ret_mtime_ns,
                    int64_t *ret_hash);

#endif
