/* What the plugins of compilers wrote of a program (option pdb=DIR), to the tables of a database.
 * Of this room only. docs/formats/pif-names.md says what their nouns are called.
 *
 * pdt_facts_read first. Then pdt_facts_store, behind all groups and before pdt_store_end. At last
 * pdt_facts_release, for pdt_store_end looks at its texts.
 *
 * What libclang read itself stays as it is: nothing of a file of one of its units is taken.
 */
#ifndef PDT_FACTS_H
#define PDT_FACTS_H

#include "store.h"

#include "mapping/base/arena.h"
#include "mapping/pif/pif.h"

struct pdt_facts {
    struct pm_pif **items; /* one for each file */
    uint32_t n, cap, n_damaged;
    uint32_t n_stale, n_old; /* left out, for their sources are gone; older than their sources */
    struct pm_arena arena;   /* texts that are made of theirs */
};

/* All files *.pif of the folder, in the order of their names. note, which may be NULL, is told of
 * stale ones, and of damaged ones, of which the records before the damage are kept.
 * PM_ERR_NOT_FOUND: no folder, or nothing in it. PM_ERR_FORMAT: all are damaged. */
PM_MUST_CHECK enum pm_status pdt_facts_read(const char *dir,
                                            void (*note)(void *context, const char *text),
                                            void *context, struct pm_error *err,
                                            struct pdt_facts *ret_facts);
PM_MUST_CHECK enum pm_status pdt_facts_store(struct pdt_facts *facts, struct pdt_store *store,
                                             struct pm_error *err);
void pdt_facts_release(struct pdt_facts *facts);

#endif
