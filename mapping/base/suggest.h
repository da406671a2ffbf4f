/* "did you mean": the word that is most like another one.
 *
 *     // "report"
 *     const char *near = pm_suggest("repotr", (const char *const[]){"report", "run", NULL});
 */
#ifndef PM_SUGGEST_H
#define PM_SUGGEST_H

#include <stdbool.h>

/* How many letters to change, add, leave out or swap with a neighbour make b of a (optimal string
 * alignment). in_any_case: A and a are the same letter. Words of more than 64 bytes are no typing
 * errors: UINT_MAX. */
unsigned pm_word_distance(const char *a, const char *b, bool in_any_case);

/* One of the NULL-ended words, or NULL when none is near. */
const char *pm_suggest(const char *word, const char *const *words);

#endif
