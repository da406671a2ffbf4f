/* "did you mean": the word that is most like another one.
 *
 *     // "report"
 *     const char *near = pm_suggest("repotr", (const char *const[]){"report", "run", NULL});
 */
#ifndef PM_SUGGEST_H
#define PM_SUGGEST_H

/* One of the NULL-ended words, or NULL when none is near. */
const char *pm_suggest(const char *word, const char *const *words);

#endif
