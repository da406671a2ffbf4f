/* Causes: what was active where work was handed over, adopted where it is done (perfmap.h,
 * docs/words.md).
 *
 *     id = pm_cause_capture(sp);          // a few nanoseconds, no lock
 *     // in any thread: a context of kind PM_RUN_CAUSE_ENTER, until
 *     pm_cause_adopt(id, sp);
 *     pm_cause_release(id, sp);
 *
 * An id is checked whenever it comes back: the upper half tells the process, the lower half the
 * context. Below ordinary calls only, in any thread and in signal handlers. */
#ifndef PM_CAUSES_H
#define PM_CAUSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The calls of perfmap.h. */
uint64_t pm_cause_capture(uintptr_t sp);
void pm_cause_adopt(uint64_t id, uintptr_t sp);
void pm_cause_release(uint64_t id, uintptr_t sp);
size_t pm_cause_export(uint64_t id, char *text, size_t text_bytes);
uint64_t pm_cause_import(const char *text, size_t text_bytes);

/* What is active in the thread that makes another one; 0: nothing that could be told. */
uint64_t pm_cause_of_thread(void);
/* In the new thread, before its first event: it begins within that. */
void pm_cause_thread_begins(uint64_t id);
void pm_causes_fork_child(void); /* after the words are in the new run file */

/* What causes.c has for causes_text.c; words' lock is held. */
struct pm_node;
struct pmr_cause {
    uint32_t noun, start_noun; /* 1 + that of the context tree; start_noun 0: not needed yet */
    uint32_t word, place;
    uint64_t key, process; /* process: pm_run_identity */
    uint32_t n_links;
    uint64_t links[16];
};
/* Are contexts kept? In a child that nobody has seen yet (a bare clone) its own file is begun:
 * before anything is written down. */
bool pm_causes_are_on(void);
uint64_t pm_cause_identity(void); /* of this process; 0: it has no run file */
/* A cause that is known: imported, or adopted from another process or by an ancestor of this
 * one. NULL: none, or it is a context of this one. */
const struct pmr_cause *pm_cause_foreign(uint64_t id);
/* The cause that a context adopts. NULL: it is none, or that of another kind of context. */
const struct pmr_cause *pm_cause_of_node(const struct pm_node *node);
/* The place that an id tells of when it is of this process; 0: it is not. */
uint32_t pm_cause_own_place(uint64_t id);
/* The id of what another process told; text: its sentences. */
uint64_t pm_cause_imported(uint64_t process, uint32_t place, const char *text);

#endif
