/* Start, end, children of the process, and what of libc is wrapped. At ordinary calls; libc with
 * care, never malloc. */
#ifndef PM_RUNTIME_GUEST_H
#define PM_RUNTIME_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* runtime.c */
/* Measures from now on, as the settings that were applied say. Of the program its arguments and
 * its environment, as far as they are known. main_thread_pointer is the caller's to set. */
void pm_process_begin(int argc, char **argv, char **environment);
void pm_process_end(uint32_t flags); /* fills the end_ fields */
void pm_process_unend(void);         /* exec failed */

/* settings.c: how the process is measured, from wherever the settings come. False: it is not. */
struct pm_settings;
bool pm_settings_read(char **environment, struct pm_settings *ret_settings);
bool pm_settings_takes_samples(const struct pm_settings *settings);
bool pm_settings_apply(const struct pm_settings *settings);

/* sources.c */
void pm_sources_begin(void);
/* Makes a run file where there is none. A process that is killed has no numbers, and that is in it.
 */
void pm_sources_place(void);
void pm_sources_end(void);
void pm_sources_unend(void); /* it goes on, for an exec failed */
void pm_sources_fork_child(void);

void pm_dl_watch(void);
void pm_fork_watch(void);
void pm_wrap_resolve(void);
/* Also of wrap_signals.c and wrap_calls.c. */
void pm_wrap_signals_resolve(void);
bool pm_wrap_blocks_traps(void); /* as the thread believes */
void pm_wrap_inherit_traps(bool blocks);
void pm_wrap_calls_resolve(void);
void pm_wrap_contexts_resolve(void);
void pm_unmeasured_resolve(void);
/* A program is about to be started with that environment. Signal safe. */
void pm_unmeasured_note(const char *path, char *const environment[]);

/* heap_link.c: what libperfmap-heap.so (heap/) has to do around fork. */
void pm_heap_before_fork(void);
void pm_heap_in_parent(void);
void pm_heap_fork_child(void);

#endif
