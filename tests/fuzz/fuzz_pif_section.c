/* Compact PIF. Once as it is, once with the first chunk's length and checksum set right, for
 * else nothing would get past them, and once as what a compressed chunk holds. */
#include "mapping/pif/pif.h"

#include <stdlib.h>
#include <zlib.h>

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

/* chunk: room for the header, and len bytes behind it. */
static void read_chunk(uint8_t *chunk, uint8_t version, size_t len)
{
    const uint8_t begin[] = {'P', 'I', 'F', 'c', version, 0, 0, 0};
    uint32_t numbers[] = {(uint32_t)len, XXH32(chunk + 16, len, 0)};
    memcpy(chunk, begin, sizeof begin);
    memcpy(chunk + 8, numbers, sizeof numbers);
    read_section(chunk, 16 + len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_section(data, size);
    if (size < 16)
        return 0;
    uint32_t payload_len = (uint32_t)(size - 16);
    uLongf compressed_len = compressBound(payload_len);
    uint8_t *chunk = malloc(20 + compressed_len + size);
    if (!chunk)
        return 0;
    memcpy(chunk + 16, data + 16, payload_len);
    read_chunk(chunk, 1, payload_len);
    memcpy(chunk + 16, &payload_len, 4);
    if (compress2(chunk + 20, &compressed_len, data + 16, payload_len, 1) == Z_OK)
        read_chunk(chunk, 2, 4 + compressed_len);
    free(chunk);
    return 0;
}
