/* perfmap ask, between its files. */
#ifndef PM_CMD_ASK_H
#define PM_CMD_ASK_H

#include "cmd/core/cmd.h"
#include "cmd/show/answer.h"

/* ask_live.c: perfmap ask --live. */
struct ask_live {
    uint64_t pid, every_ms, for_ms; /* 0: only once; to the end */
    const char *mode;               /* NULL: the run's */
};
int ask_live(struct cmd_parse *parse, const struct ask_live *live,
             const struct show_answer_options *options, const struct pm_view_options *report);

#endif
