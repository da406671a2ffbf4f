/* Annotations of `perfmap wrap`: any bytes. What is understood has a function and a role. */
#include "../../pdt/roles.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pdt_roles *roles = NULL;
    struct pm_str text = {(const char *)data, size};
    if (pdt_roles_read(text, "fuzz", &err, &roles) == PM_OK) {
        for (uint32_t i = 0; i < roles->n_roles; i++) {
            const struct pdt_role *role = &roles->roles[i];
            PM_ASSERT(pdt_roles_find(roles, role->function) == role && role->line_no > 0);
            PM_ASSERT(role->is_skipped || role->has_handle || role->n_metrics || role->forward);
            for (uint32_t k = 0; k < role->n_metrics; k++)
                PM_ASSERT(*role->metrics[k].name && role->metrics[k].n_terms > 0);
        }
    } else {
        PM_ASSERT(strstr(pm_error_text(&err), "annotations 'fuzz'"));
    }
    pm_error_release(&err);
    pdt_roles_free(roles);
    return 0;
}
