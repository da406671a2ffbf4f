/* What filters of seccomp the program has set. */
#ifndef PM_RUNTIME_CONFINE_H
#define PM_RUNTIME_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

struct sock_fprog;
struct pm_confinement {
    bool was_strict, was_confined, had_left;
    uint32_t index;
};

/* Notes a filter (or strict mode) before it comes into force: the sample's signal may come right
 * after. */
struct pm_confinement pm_confine(bool strict, const struct sock_fprog *filter);
/* Before that: what is exec'ed under it shall know it. */
void pm_confine_list(const struct sock_fprog *filter);
/* At start: those that were set before an exec. True: there are some. */
bool pm_confine_inherited(void);
/* Once, in the run file. */
void pm_confine_say(void);
/* The kernel has not taken it. */
void pm_confine_not(struct pm_confinement noted);

#endif
