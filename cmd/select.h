/* Parts of `perfmap select`. */
#ifndef PM_CMD_SELECT_H
#define PM_CMD_SELECT_H

#include "cmd/core/cmd.h"

#include "mapping/view/view.h"
#include "pdt/select.h"

/* The functions of an archive (select_run.c). */
struct select_run {
    struct pm_view view; /* names are its */
    struct pdt_run run;
};
PM_MUST_CHECK enum pm_status select_run_load(const char *path, struct pm_error *err,
                                             struct select_run *ret_run);
void select_run_release(struct select_run *run);

#endif
