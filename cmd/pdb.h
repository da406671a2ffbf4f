/* Parts of `perfmap pdb`. */
#ifndef PM_CMD_PDB_H
#define PM_CMD_PDB_H

#include "cmd/core/cmd.h"

#include "pdt/pdb.h"
#include "pdt/query.h"
#include "pdt/tree.h"

/* pdb_show.c. Rows as a table, or as JSON; a tree with its marks. */
PM_MUST_CHECK enum pm_status pdb_show_rows(const struct pdt_rows *rows, bool json,
                                           struct pm_error *err);
void pdb_show_tree(const struct pdt_tree *tree, enum pdt_direction direction, bool json);
/* Paths below the folder at hand are shown from there. Lent. */
const char *pdb_short_path(const char *path);

#endif
