/* The run file of this process: growth by chunks, messages.
 *
 *     uint64_t offset;
 *     struct pm_run_counts *counts = pm_file_chunk(PM_RUN_CHUNK_COUNTS, bytes, owner, &offset);
 *
 * Any thread, below probes too, but for create, leave and drop. */
#ifndef PM_RUNTIME_FILE_H
#define PM_RUNTIME_FILE_H

#include "format/pm_run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool pm_file_create(void); /* the run file; true when there is one */
/* The header's cost of a probe, as pm_process has it. */
void pm_file_put_pair_costs(struct pm_run_header *header);
/* In a forked child: leave the parent's file, whose chunks stay readable until they are dropped. */
void pm_file_leave(void);
void pm_file_drop_parent(void);
/* A new chunk, zeroed and really allocated on disk, its header complete but for n_items. NULL: the
 * file cannot grow. */
void *pm_file_chunk(enum pm_run_chunk_kind kind, uint64_t size_bytes, uint64_t owner,
                    uint64_t *ret_offset);
/* The i-th chunk that is mapped, NULL: none there (yet). i < pm_file_n_chunks(). */
const struct pm_run_chunk *pm_file_chunk_at(uint32_t i);
uint32_t pm_file_n_chunks(void);
/* The header's pair of clocks, if it is old. Below probes. */
void pm_file_renew_clock(uint64_t tsc);
void pm_file_message(enum pm_run_message_code code, const char *text, const char *subject);
/* A new chunk that is not mapped, allocated on disk; its file offset, 0: the file cannot grow.
 * What is behind its first page is at a multiple of alignment, itself one of pages. */
uint64_t pm_file_space(enum pm_run_chunk_kind kind, uint64_t size_bytes, uint64_t n_items,
                       uint64_t alignment);
/* Within such a chunk. False: not or not wholly done. */
struct iovec;
bool pm_file_put(uint64_t offset, const struct iovec *pieces, int n_pieces);

#endif
