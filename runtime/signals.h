/* The bell, a signal that PerfMap shares with the program (PM_BELL_SIGNAL). */
#ifndef PM_RUNTIME_SIGNALS_H
#define PM_RUNTIME_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* Its address is the value of our timers' signals. */
extern const char pm_signal_mark;

/* From now on `handler` gets those signals that are ours, the program the others. Again: another handler. */
bool pm_signal_take(void (*handler)(int number, siginfo_t *info, void *context));
bool pm_signal_is_taken(void);
bool pm_signal_is_ours(const siginfo_t *info);
void pm_signal_fork_child(void);

/* sigaction(2) as the program sees it, when the signal is shared. */
bool pm_signal_is_shared(int number);
int pm_signal_change(const struct sigaction *new, struct sigaction *old);

#endif
