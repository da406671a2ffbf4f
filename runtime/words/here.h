/* Words of languages that cannot say where their stack is. */
#ifndef PM_RUNTIME_HERE_H
#define PM_RUNTIME_HERE_H

#include <stdint.h>

struct pm_words_held;
void pm_words_enter_here(uint32_t sentence);
void pm_words_leave_here(uint32_t sentence);
void pm_words_cost_here(uint32_t metric, uint64_t value);
uint64_t pm_words_capture_here(void);
void pm_words_adopt_here(uint64_t cause);
void pm_words_release_here(uint64_t cause);
void pm_words_activate(struct pm_words_held *held, const uint32_t *sentence);
void pm_words_adopt_in(struct pm_words_held *held, const uint64_t *cause);

#endif
