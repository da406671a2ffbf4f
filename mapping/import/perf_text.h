/* Lines of what `perf script` prints. */
#ifndef PM_IMPORT_PERF_TEXT_H
#define PM_IMPORT_PERF_TEXT_H

#include "../base/str.h"

/* "COMM PID/TID [CPU] TIME: PERIOD EVENT: ...", of which most may be missing. */
struct perf_head {
    struct pm_str comm, event; /* event: with its modifiers, "cycles:u" */
    uint32_t pid, tid;
    bool has_pid; /* else the one number is tid */
    bool has_period;
    uint64_t time_ns, period;
    struct pm_str rest; /* behind the event: of samples without call chain their frame */
};
bool perf_read_head(struct pm_str line, struct perf_head *ret_head);

/* "  IP SYMBOL+0xOFFSET (DSO)" */
struct perf_frame {
    uint64_t ip, offset;
    struct pm_str symbol, dso; /* empty: [unknown] */
    bool has_offset, is_inlined;
};
bool perf_read_frame(struct pm_str line, struct perf_frame *ret_frame);

/* "PERF_RECORD_MMAP2 PID/TID: [0xSTART(0xLEN) @ OFFSET ...]: r-xp PATH" */
struct perf_mapping {
    uint32_t pid;
    uint64_t start, len, offset;
    struct pm_str path, build_id; /* build_id: hex; empty: none */
    bool is_code;
};
bool perf_read_mapping(struct pm_str record, struct perf_mapping *ret_mapping);

#endif
