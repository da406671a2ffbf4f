/* Coarser steps of traces (docs/formats/archive.md, table trace_steps): whose time it was, so that
 * a picture of a long stretch need not read every event of it.
 *
 *     struct pm_trace_steps_writer *writer = pm_trace_steps_writer_new(&clock, put, context);
 *     status = pm_trace_steps_add(writer, &piece, &shares, &err); // each block, in order
 *     status = pm_trace_steps_end(writer, &err);
 *     pm_trace_steps_writer_free(writer);
 *
 *     struct pm_trace_steps_row row = {0};
 *     status = pm_trace_steps_read(&row, data, len, &err);
 *     use(row.pieces[i], &row.shares.steps[row.pieces[i].first_step]);
 *     pm_trace_steps_row_release(&row);
 *
 * Steps are those of trace_shares.h, and as exact. There are two kinds:
 *
 * - The steps of a block, of the level at which it has 4 to 8 of them. A block is what of the
 *   trace is read at once, so finer steps are counted from its events. Where two blocks meet, each
 *   has its own part of the step.
 * - Steps of several blocks, at that level and above: the sums of all steps within. They are there
 *   if all blocks that they touch have steps of that level or a finer one. Where one is missing,
 *   the steps and events of the blocks tell.
 *
 * Levels end where all of the thread is one step. A thread of one block has none. So there are
 * some 8 steps for each block, of what ran in them, which is 2 to 5 % of a trace; and whatever is
 * asked for takes at most as many steps and events as some dozens of blocks have for each
 * hundred steps of the answer.
 *
 * Data of a row: 4 bytes (little-endian), the length of what follows when it is unpacked; a
 * Zstandard frame of it. Unpacked, numbers as LEB128:
 *
 *     n sentences, then their rows, rising: each less the one before
 *     n pieces, for each:
 *         level
 *         ticks from the end of the piece before to its begin; ticks that it is long
 *         n events
 *         n steps, for each:
 *             number, less that of the step before (the first: itself)
 *             n shares, for each:
 *                 position of the sentence, less that of the share before (the first: itself)
 *                 ticks
 *
 * Rows of level 0 have a piece for each block; others have one piece, which begins and ends at 0.
 */
#ifndef PM_TRACE_STEPS_H
#define PM_TRACE_STEPS_H

#include "trace_shares.h"

enum {
    PM_TRACE_OF_BLOCKS = 0,       /* the level of rows with the steps of blocks */
    PM_TRACE_PIECES_PER_ROW = 64, /* blocks of such a row */
    PM_TRACE_STEPS_PER_ROW = 128, /* of other rows, at most */
};

/* Of a block. */
struct pm_trace_piece {
    unsigned level;
    uint64_t begin_ticks, end_ticks; /* the latest time before its first event, and in it */
    uint64_t n_events;
    uint32_t first_step, n_steps; /* of a row's shares, when read */
};

/* The level for a block of that length. */
unsigned pm_trace_level_of(const struct pm_trace_clock *clock, uint64_t ticks);

/* --- writing --- */

struct pm_trace_steps_writer;

/* A row of the table: level, first (number of the block or of the step), when it begins and ends,
 * data. */
typedef enum pm_status pm_trace_steps_put(void *context, unsigned level, uint64_t first,
                                          uint64_t start_ns, uint64_t end_ns, const void *data,
                                          size_t len, struct pm_error *err);

/* Of a thread. NULL: memory. */
struct pm_trace_steps_writer *pm_trace_steps_writer_new(const struct pm_trace_clock *clock,
                                                        pm_trace_steps_put *put, void *context);
void pm_trace_steps_writer_free(struct pm_trace_steps_writer *writer);
/* A block's piece and its steps, which are all of shares and of the piece's level. */
PM_MUST_CHECK enum pm_status pm_trace_steps_add(struct pm_trace_steps_writer *writer,
                                                const struct pm_trace_piece *piece,
                                                const struct pm_trace_shares *shares,
                                                struct pm_error *err);
PM_MUST_CHECK enum pm_status pm_trace_steps_end(struct pm_trace_steps_writer *writer,
                                                struct pm_error *err);

/* --- reading --- */

struct pm_trace_steps_row {
    struct pm_trace_piece *pieces;
    uint32_t n_pieces, pieces_cap;
    struct pm_trace_shares shares;
    uint32_t *sentences, sentences_cap;
    unsigned char *bytes;
    size_t bytes_cap;
};

/* Trusts nothing. What was in the row goes. PM_ERR_FORMAT, PM_ERR_MEMORY. */
PM_MUST_CHECK enum pm_status pm_trace_steps_read(struct pm_trace_steps_row *row, const void *data,
                                                 size_t len, struct pm_error *err);
void pm_trace_steps_row_release(struct pm_trace_steps_row *row);

#endif
