/* Compact PIF. Once as it is, and once with the first chunk's length and checksum set right, for
 * else nothing would get past them. */
#include "mapping/pif/pif.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is read can be written in both forms, and the compact one is read again. */
static void read_section(const uint8_t *data, size_t size)
{
    struct pm_pif *pif = pm_pif_new(), *again = pm_pif_new();
    struct pm_error err = PM_ERROR_INIT;
    struct pm_buf chunk = PM_BUF_INIT(1 << 26), text = PM_BUF_INIT(1 << 28);
    if (pm_pif_read_compact(pif, "fuzz", data, size, &err) == PM_OK) {
        pm_pif_write_text(pif, &text);
        pm_pif_write_compact(pif, &chunk);
        PM_ASSERT(!chunk.failed);
        PM_ASSERT(pm_pif_read_compact(again, "written", chunk.data, chunk.len, NULL) == PM_OK);
        PM_ASSERT(pm_pif_n_nouns(pif) == pm_pif_n_nouns(again) &&
                  pm_pif_n_mappings(pif) == pm_pif_n_mappings(again));
    }
    pm_buf_release(&chunk);
    pm_buf_release(&text);
    pm_error_release(&err);
    pm_pif_free(pif);
    pm_pif_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_section(data, size);
    uint8_t *copy = size >= 16 ? malloc(size) : NULL;
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    memcpy(copy, "PIFc\1\0\0\0", 8);
    uint32_t numbers[] = {(uint32_t)(size - 16), XXH32(copy + 16, size - 16, 0)};
    memcpy(copy + 8, numbers, sizeof numbers);
    read_section(copy, size);
    free(copy);
    return 0;
}
