/* The program's own words, as the rest of the runtime and the words' callers see them. */
#ifndef PM_RUNTIME_WORDS_API_H
#define PM_RUNTIME_WORDS_API_H

#include "format/pm_words.h"
#include "runtime/code/object.h"
#include "runtime/tree/thread.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void pm_words_fork_child(void); /* after the new run file has its objects */
extern const struct pmr_words_api pm_words_api;
const struct pmr_words_api *pm_words_of_process(uint32_t version); /* exported */
/* points.c: is this mapping point asked for, by the setting's names? */
bool pm_words_point_is_asked(const char *name);
/* The word of a cause; 0: no room. The lock is held, as for the three that follow. */
uint32_t pm_words_cause(uint64_t process, uint32_t place, bool is_alone, const char *text);
bool pm_words_noun(uint32_t number, uint16_t kind, uint32_t *ret_noun);
const struct pm_run_word *pm_words_at(uint32_t number); /* NULL: there is none */
uint32_t pm_words_number(uint32_t noun); /* that a noun of the context tree stands for; 0: none */
/* costs.c: adds to the context that is active at this stack pointer. The thread is ready.
 * False: no room. */
bool pm_word_cost(struct pm_tls *t, uint32_t metric, uint64_t value, uint64_t sp);
/* The same where it costs least: of a sentence that this frame has entered, and a metric that it
 * had before. False: nothing was added. */
bool pm_word_cost_at_once(struct pm_tls *t, uint32_t metric, uint64_t value, uint64_t sp);
void pm_word_costs_fork_child(void);

#endif
