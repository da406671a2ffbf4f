/* Steps of traces: the input is what a row holds, before it is packed; and as a block, of which
 * steps are made. Whatever the bytes are: no crash, steps rise, and what comes of them is written
 * and read back. */
#include "mapping/archive/trace_steps.h"

#include <stdlib.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct pm_trace_shares *shares, uint32_t first, uint32_t n)
{
    for (uint32_t i = first; i < first + n; i++) {
        const struct pm_trace_step *step = &shares->steps[i];
        PM_ASSERT(step->n > 0 && step->first + step->n <= shares->n_shares);
        PM_ASSERT(i == first || step->number > shares->steps[i - 1].number);
    }
}

static enum pm_status read_back(void *context, unsigned level, uint64_t first, uint64_t start_ns,
                                uint64_t end_ns, const void *data, size_t len, struct pm_error *err)
{
    struct pm_trace_steps_row *row = context;
    (void)level;
    (void)first;
    PM_ASSERT(start_ns <= end_ns && pm_trace_steps_read(row, data, len, err) == PM_OK);
    return PM_OK;
}

static void read_row(const unsigned char *data, size_t len)
{
    struct pm_trace_steps_row row = {0};
    struct pm_error err = PM_ERROR_INIT;
    if (pm_trace_steps_read(&row, data, len, &err) == PM_OK)
        for (uint32_t i = 0; i < row.n_pieces; i++)
            check(&row.shares, row.pieces[i].first_step, row.pieces[i].n_steps);
    pm_error_release(&err);
    pm_trace_steps_row_release(&row);
}

/* That block, and one in which nothing ran. */
static void write_steps(const struct pm_trace_stretch *stretch,
                        const struct pm_trace_shares *shares, uint64_t latest)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_trace_steps_row row = {0};
    const struct pm_trace_shares nothing = {0};
    struct pm_trace_piece piece = {
        .level = stretch->level, .begin_ticks = 0, .end_ticks = latest, .n_events = 1};
    struct pm_trace_steps_writer *writer =
        pm_trace_steps_writer_new(&stretch->clock, read_back, &row);
    enum pm_status status = writer ? PM_OK : PM_ERR_MEMORY;
    if (status == PM_OK)
        status = pm_trace_steps_add(writer, &piece, shares, &err);
    piece.begin_ticks = latest;
    if (status == PM_OK)
        status = pm_trace_steps_add(writer, &piece, &nothing, &err);
    if (status == PM_OK)
        status = pm_trace_steps_end(writer, &err);
    pm_trace_steps_writer_free(writer);
    pm_trace_steps_row_release(&row);
    pm_error_release(&err);
}

static void read_block(const uint8_t *data, size_t size)
{
    struct pm_trace_shares shares = {0};
    struct pm_error err = PM_ERROR_INIT;
    struct pm_trace_stretch stretch = {
        {size, 1000000007}, 1 + size % 40, size % 3, size % 3 + 1000, size % 5 ? 0 : size};
    uint64_t latest;
    if (pm_trace_block_shares(data, size, &stretch, &err, &shares, &latest) == PM_OK) {
        check(&shares, 0, shares.n_steps);
        write_steps(&stretch, &shares, latest);
    }
    pm_error_release(&err);
    pm_trace_shares_release(&shares);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t bound = ZSTD_compressBound(size);
    unsigned char *out = malloc(bound + 4);
    if (!out)
        return 0;
    for (unsigned i = 0; i < 4; i++)
        out[i] = (unsigned char)(size >> 8 * i);
    read_row(out, 4 + ZSTD_compress(out + 4, bound, data, size, 1));
    free(out);
    read_block(data, size);
    return 0;
}
