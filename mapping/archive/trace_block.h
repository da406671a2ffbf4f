/* Blocks of traces in an archive (docs/formats/archive.md, table trace_blocks): events of one
 * thread, compressed.
 *
 *     struct pm_trace_block *block = pm_trace_block_new();
 *     for (uint32_t i = 0; i < n; i++)
 *         pm_trace_block_add(block, &events[i]);
 *     pm_trace_block_hand_over(block, done);           // calls that are open begin the next block
 *     pm_trace_block_pack(done, packer, &err, &data, &len);
 *
 *     pm_trace_block_read(block, data, len, &err);
 *     while (pm_trace_block_next(block, &err, &event, &has_event) == PM_OK && has_event)
 *         use(event);
 *
 * A block holds all that is needed to read it: sentences by their row ids, the frames that are
 * open when it begins. What is not sound is refused. One thread at a time per object.
 *
 * What is open where a block begins is only needed when it is complete. So several threads may
 * write blocks of one trace: each adds calls to a block of its own, and then the blocks are
 * joined, in order, to the one that keeps what is open.
 *
 * Data: 4 bytes (little-endian): length n of what follows when it is unpacked; a Zstandard frame
 * of n bytes (in archives of version 5 and before a zlib stream). Unpacked, numbers as LEB128:
 *
 *     the clock before the first event, in ticks since the process's start
 *     ticks that the thread had spent on foreign stacks; when it went there last, + 1, or 0 when
 *         it is not there
 *     n sentences, then the row id of each: a sentence's number is its place here
 *     n frames, then for each, oldest first: number << 2 | foreign << 1 | cut; ticks when it was
 *         entered; ticks on foreign stacks up to then
 *     n bytes of tags, the tags, the times
 *
 * Tags: 0 a leave, 2 + number an enter; 1: flags follow (1 cut, 2 on a foreign stack, 4 the time
 * goes back, 8 no call: it waits, or goes on, for the thread goes to another stack), then the
 * tag. Times: ticks since the event before, one for each tag. A leave ends the youngest frame of
 * its stack.
 */
#ifndef PM_TRACE_BLOCK_H
#define PM_TRACE_BLOCK_H

#include "../base/str.h"

enum { PM_TRACE_CUT = 1, PM_TRACE_FOREIGN = 2, PM_TRACE_SWITCHED = 8 };

struct pm_trace_tick {
    bool is_leave;
    unsigned flags;       /* PM_TRACE_* */
    uint32_t sentence;    /* row id; of leaves too, when read */
    uint32_t depth;       /* when read: frames below it on its stack */
    uint64_t ticks;       /* since the process's start */
    uint64_t enter_ticks; /* leaves, when read */
    uint64_t spent_ticks; /* leaves, when read: without foreign stacks */
};

struct pm_trace_block;
struct pm_trace_block *pm_trace_block_new(void); /* NULL: memory */
void pm_trace_block_free(struct pm_trace_block *block);

/* --- writing: the events of a thread, from its first one on; frames are kept from block to
 * block --- */
PM_MUST_CHECK bool pm_trace_block_add(struct pm_trace_block *block,
                                      const struct pm_trace_tick *event); /* false: memory */

/* What a block has so far. */
struct pm_trace_block_about {
    uint32_t n_events;
    uint32_t n_open;         /* frames that were open where it begins */
    uint64_t n_cut, n_calls; /* events that were made up; enters of calls, those not counted */
    uint64_t first_ticks, latest_ticks; /* of the first event; the largest */
    uint64_t before_ticks;              /* the largest of the blocks before; 0: there is none */
};
struct pm_trace_block_about pm_trace_block_about(const struct pm_trace_block *block);

/* The events that were added become those of `done`, which is empty or was packed, and the next
 * block begins. False: memory. */
PM_MUST_CHECK bool pm_trace_block_hand_over(struct pm_trace_block *block,
                                            struct pm_trace_block *done);

/* Calls of a thread's own stack, without flags, to a block that may begin anywhere: leaves that
 * have no enter in it end what was open before. */
struct pm_trace_call {
    uint64_t ticks;
    uint32_t sentence; /* row id; 0: a leave */
};
void pm_trace_block_begin_apart(struct pm_trace_block *done);
PM_MUST_CHECK bool pm_trace_block_add_calls(struct pm_trace_block *done,
                                            const struct pm_trace_call *calls,
                                            size_t n); /* false: memory */
/* False: the thread is on a foreign stack there, or the calls leave more than is open. */
bool pm_trace_block_may_join(const struct pm_trace_block *block, const struct pm_trace_block *done);
/* As if the calls had been added to `block`, which has no events now, and handed over. False:
 * memory. */
PM_MUST_CHECK bool pm_trace_block_join(struct pm_trace_block *block, struct pm_trace_block *done);

/* Memory to pack with, for one thread. */
struct pm_trace_packer;
struct pm_trace_packer *pm_trace_packer_new(void); /* NULL: memory */
void pm_trace_packer_free(struct pm_trace_packer *packer);
/* The bytes of a block that was handed over or joined, and is empty then. data is lent until the
 * packer packs the next one. */
PM_MUST_CHECK enum pm_status pm_trace_block_pack(struct pm_trace_block *done,
                                                 struct pm_trace_packer *packer,
                                                 struct pm_error *err, const void **ret_data,
                                                 size_t *ret_len);
/* What it packed last, as it is unpacked: for trace_shares.h. Lent likewise. */
void pm_trace_packer_bytes(const struct pm_trace_packer *packer, const void **ret_bytes,
                           size_t *ret_len);

/* --- reading --- */
/* PM_ERR_FORMAT, PM_ERR_MEMORY. */
PM_MUST_CHECK enum pm_status pm_trace_block_read(struct pm_trace_block *block, const void *data,
                                                 size_t len, struct pm_error *err);
PM_MUST_CHECK enum pm_status pm_trace_block_next(struct pm_trace_block *block, struct pm_error *err,
                                                 struct pm_trace_tick *ret_event,
                                                 bool *ret_has_event);
/* All of it, unpacked: for trace_shares.h. Lent until the next one is read. */
void pm_trace_block_bytes(const struct pm_trace_block *block, const void **ret_bytes,
                          size_t *ret_len);
/* When the next event is; false: there is none, or it is damaged. */
bool pm_trace_block_peek(const struct pm_trace_block *block, uint64_t *ret_ticks);
/* What is open now, oldest first, the thread's own stack before the others; as enters. i from 0;
 * false: no more. */
bool pm_trace_block_open_frame(const struct pm_trace_block *block, size_t i,
                               struct pm_trace_tick *ret_enter);

#endif
