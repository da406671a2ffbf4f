/* Blocks of traces: the input is what a block holds, before it is deflated, for the checksum
 * behind it would refuse nearly everything. Whatever the bytes are: no crash, and leaves have
 * enters. */
#include "mapping/archive/trace_block.h"

#include <stdlib.h>
#include <zlib.h>

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
    uLong bound = compressBound(size);
    unsigned char *out = malloc(bound + 4);
    if (!out)
        return 0;
    for (unsigned i = 0; i < 4; i++)
        out[i] = (unsigned char)(size >> 8 * i);
    if (compress2(out + 4, &bound, data, size, 0) == Z_OK)
        read_block(out, bound + 4);
    free(out);
    return 0;
}
