/* The signals that PerfMap shares with the program: the bell (PM_BELL_SIGNAL), and traps while
 * code is changed (patch.c). */
#ifndef PM_RUNTIME_SIGNALS_H
#define PM_RUNTIME_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define PM_BELL_SIGNAL SIGURG /* sample/sample.h says why */

/* Its address is the value of our timers' signals. */
extern const char pm_signal_mark;
/* Of the bell's. */
bool pm_signal_is_ours(const siginfo_t *info);

/* False: that signal is not ours, the program shall have it. */
typedef bool pm_signal_fn(siginfo_t *info, void *context);
/* From now on `handler` gets the signal first. Again: another handler. Below probes, too. */
bool pm_signal_take(int number, pm_signal_fn *handler);
bool pm_signal_is_taken(int number);
void pm_signal_fork_child(void);
/* No handler can return any more: the bell is not heard, and nothing is taken. False: not so. */
void pm_signal_leave(bool left);
bool pm_signal_has_left(void);

/* sigaction(2) as the program sees it, when the signal is shared. */
bool pm_signal_is_shared(int number);
int pm_signal_change(int number, const struct sigaction *new, struct sigaction *old);

#endif
