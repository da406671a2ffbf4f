/* The calls of a program's own words for languages that cannot say where their stack is
 * (runtime/include/perfmap.f90): the frame that calls is the one in which the sentence lives, as
 * if it had called pm_enter of perfmap.h.
 */
#include "runtime/words/here.h"
#include "runtime/words/api.h"

/* Where the stack pointer of our caller is, before the call put its return address there. */
#define CALLERS_SP ((uintptr_t)__builtin_dwarf_cfa())

void pm_words_enter_here(uint32_t sentence)
{
    pm_words_api.enter(sentence, CALLERS_SP);
}

void pm_words_leave_here(uint32_t sentence)
{
    pm_words_api.leave(sentence, CALLERS_SP);
}

void pm_words_cost_here(uint32_t metric, uint64_t value)
{
    pm_words_api.cost(metric, value, CALLERS_SP);
}

uint64_t pm_words_capture_here(void)
{
    return pm_words_api.capture != NULL ? pm_words_api.capture(CALLERS_SP) : 0;
}

void pm_words_adopt_here(uint64_t cause)
{
    if (pm_words_api.adopt != NULL)
        pm_words_api.adopt(cause, CALLERS_SP);
}

void pm_words_release_here(uint64_t cause)
{
    if (pm_words_api.release != NULL)
        pm_words_api.release(cause, CALLERS_SP);
}

/* What was held before ends. */
void pm_words_activate(struct pm_words_held *held, const uint32_t *sentence)
{
    if (held->what != 0)
        pm_words_api.leave((uint32_t)held->what, held->sp);
    *held = (struct pm_words_held){*sentence, CALLERS_SP};
    pm_words_api.enter(*sentence, held->sp);
}

void pm_words_adopt_in(struct pm_words_held *held, const uint64_t *cause)
{
    if (pm_words_api.adopt == NULL)
        return;
    if (held->sp != 0)
        pm_words_api.release(held->what, held->sp);
    *held = (struct pm_words_held){*cause, CALLERS_SP};
    pm_words_api.adopt(*cause, held->sp);
}
