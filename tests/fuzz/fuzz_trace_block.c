/* Blocks of traces: the input is what a block holds, before it is packed, for the checksum
 * behind it would refuse nearly everything. Whatever the bytes are: no crash, and leaves have
 * enters. */
#include "mapping/archive/trace_block.h"

#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_block(const unsigned char *data, size_t len)
{
    struct pm_trace_block *block = pm_trace_block_new();
    struct pm_trace_tick tick;
    struct pm_error err = PM_ERROR_INIT;
    bool has_event = true;
    size_t n_open[2] = {0, 0};
    if (!block)
        return;
    enum pm_status status = pm_trace_block_read(block, data, len, &err);
    for (size_t i = 0; status == PM_OK && pm_trace_block_open_frame(block, i, &tick); i++)
        n_open[tick.flags & PM_TRACE_FOREIGN ? 1 : 0]++;
    while (status == PM_OK &&
           (status = pm_trace_block_next(block, &err, &tick, &has_event)) == PM_OK && has_event) {
        size_t *open = &n_open[tick.flags & PM_TRACE_FOREIGN ? 1 : 0];
        *open -= tick.is_leave;
        PM_ASSERT(tick.depth == *open && tick.sentence != 0);
        *open += !tick.is_leave;
    }
    pm_error_release(&err);
    pm_trace_block_free(block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uLong n = compressBound(size);
    size_t bound = ZSTD_compressBound(size) > n ? ZSTD_compressBound(size) : n;
    unsigned char *out = malloc(bound + 4);
    if (!out)
        return 0;
    for (unsigned i = 0; i < 4; i++)
        out[i] = (unsigned char)(size >> 8 * i);
    if (size % 2 == 0) {
        read_block(out, 4 + ZSTD_compress(out + 4, bound, data, size, 1));
    } else if (compress2(out + 4, &n, data, size, 0) == Z_OK) {
        read_block(out, n + 4);
    }
    free(out);
    return 0;
}
