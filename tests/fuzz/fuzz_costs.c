/* Cost files, callgrind's and PerfMap's text: once as they are, and once with callgrind's first
 * line before them. */
#include "mapping/costs/costs.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_costs(const char *text, size_t len)
{
    struct pm_costs *costs;
    struct pm_error err = PM_ERROR_INIT;
    enum pm_status status = pm_costs_read("fuzz", text, len, &err, &costs);
    PM_ASSERT((status == PM_OK) == !*pm_error_text(&err));
    pm_error_release(&err);
    if (status != PM_OK)
        return;
    for (size_t i = 0; i < pm_costs_n(costs); i++) {
        const struct pm_imported_cost *cost = pm_costs_get(costs, i);
        PM_ASSERT(cost->value >= 0 && cost->metric < pm_costs_n_metrics(costs));
        PM_ASSERT(cost->n_references <= PM_PIF_MAX_NOUNS + 1);
    }
    pm_costs_free(costs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char head[] = "# callgrind format\nevents: Ir Dr\npositions: instr line\n";
    read_costs((const char *)data, size);
    char *text = malloc(size + sizeof head);
    if (!text)
        return 0;
    memcpy(text, head, sizeof head - 1);
    if (size)
        memcpy(text + sizeof head - 1, data, size);
    read_costs(text, size + sizeof head - 1);
    free(text);
    return 0;
}
