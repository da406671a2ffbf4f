/* Calls against the order of the folders (docs/ARCHITECTURE.md): what a part asks of one above it,
 * which defines the function. There are no others. */
#ifndef PM_RUNTIME_UPWARD_H
#define PM_RUNTIME_UPWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_object;
struct pm_probe;
struct pm_slot;
struct pm_tls;

/* --- by base/signals.c --- */
/* budget/control.c: is there a request to this process? */
bool pm_control_is_asked(void);
/* code/patch.c: installs the handler that live changes need. */
bool pm_patch_take_traps(void);

/* --- by tree/ --- */
/* guest/fork.c: in a child, also of a clone() that no handler saw. */
void pm_fork_child(void);
/* code/object.c: counters of one object for this thread; NULL: no memory, and the event that wanted
 * them is lost. */
uint64_t *pm_bank_open(struct pm_tls *t, unsigned bank);
/* code/object.c: is this the runtime's own code, or a trampoline? */
bool pm_code_is_ours(uint64_t address);
/* budget/control.c: a word that moves when there is a request: ring_head of threads without a
 * ring. */
const volatile uint64_t *pm_control_word(void);
/* budget/adapt.c: so much CPU time took the start or the end of a thread; all up to now that of the
 * process. */
void pm_adapt_started(uint64_t cpu_ns);
/* Where no samples are taken, a timer on each thread's CPU clock calls pm_adapt_tick. */
void pm_adapt_thread_begin(struct pm_slot *slot);
void pm_adapt_thread_end(struct pm_slot *slot);
/* sample/sample.c: opens the calling thread's ring (or timer); again after fork. By
 * pm_thread_begin, so at an ordinary call for most threads, else at the thread's first event. Its
 * times run since since_ns (CLOCK_MONOTONIC_RAW; 0: not known), when its CPU clock said
 * since_cpu_ns: what others had of the CPU until the kernel notes switches is charged as
 * preempted. */
void pm_sample_thread_begin(struct pm_tls *t, uint64_t since_ns, uint64_t since_cpu_ns);
void pm_sample_thread_end(struct pm_tls *t); /* drains, closes */
/* Charges what came into the ring to the context that is current. Below probes and in the signal
 * handler. Returns the time stamp counter when the ring was read: what happened later is charged
 * by the next call. */
uint64_t pm_sample_drain(struct pm_tls *t);
/* Behind an event of a thread that reads counters, whose drain has read them: what they have
 * counted since is PerfMap's own. */
void pm_sample_resume(struct pm_tls *t);
/* What came before that time (CLOCK_MONOTONIC_RAW) only. */
void pm_sample_drain_until(struct pm_tls *t, uint64_t time_ns);
void pm_sample_process_end(void); /* drains all threads' rings */
/* words/words.c: all signals are blocked while the lock is held; what is returned is for
 * unlock. */
uint64_t pm_words_lock(void);
void pm_words_unlock(uint64_t mask);
/* The set of these sentences (rising numbers); 0: of none, or there is no room. The lock is
 * held. */
uint32_t pm_words_set(const uint32_t *sentences, uint32_t n);
/* Its members, at most PM_MAX_AMBIENT. 0: no set. Below probes. */
uint32_t pm_words_members(uint32_t set, const uint32_t **ret_sentences);
/* The noun of a sentence or set. False: it has none. Below probes. */
bool pm_words_probe(uint32_t number, struct pm_probe *ret_probe);

/* --- by code/ --- */
/* words/words.c: fills in the slots of perfmap.h in a section of the object, which is in memory
 * that can be written. */
void pm_words_open(const struct pm_object *object, uintptr_t section, size_t bytes);
/* budget/adapt.c: for calls of so many nouns, of at most `max` ever. */
bool pm_adapt_make_room(uint32_t max, uint32_t n);
uint64_t pm_adapt_n_calls(uint32_t noun); /* as of the last look */
void pm_sample_calibrated(void);          /* sample/sample.c: what a pair costs is known now */

#endif
