#include "unit.h"

#include <stdlib.h>

void pdt_unit_fail(struct pdt_unit *unit, const char *text)
{
    free(unit->problem);
    unit->problem = pm_strndup(text, strlen(text));
    unit->n_errors++;
}

void pdt_unit_release(struct pdt_unit *unit)
{
    for (uint32_t i = 0; i < unit->n_groups; i++) {
        free(unit->groups[i].path);
        pm_buf_release(&unit->groups[i].data);
    }
    for (uint32_t i = 0; i < unit->n_files; i++)
        free(unit->files[i].path);
    free(unit->groups);
    free(unit->files);
    free(unit->problem);
}
