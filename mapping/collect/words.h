/* The program's own words: what it defined while it ran. */
#ifndef PM_COLLECT_WORDS_H
#define PM_COLLECT_WORDS_H

#include "mapping/base/str.h"

struct collect_names;
struct collector;
struct pm_run_file;
struct pm_run_file_noun;
struct pm_run_file_word;

/* Rows of the program's own words, and what the nouns of its objects of words are in names. */
PM_MUST_CHECK enum pm_status collect_words(struct collector *c, const struct pm_run_file *file,
                                           struct collect_names *names);
struct collect_told_noun {
    const char *name, *kind; /* interned */
};
/* A sentence of words that another process told. The same as if this one had defined them. */
PM_MUST_CHECK enum pm_status collect_told_sentence(struct collector *c, const char *level,
                                                   const char *verb,
                                                   const struct collect_told_noun *nouns,
                                                   uint32_t n_nouns, uint32_t *ret_sentence);
/* Down from a context by one for each member of the set that the noun stands for, by their rows. */
PM_MUST_CHECK enum pm_status collect_ambient_context(struct collector *c,
                                                     const struct pm_run_file *file, uint32_t noun,
                                                     const struct collect_names *names,
                                                     unsigned flags, uint32_t *context);
/* Is the noun of a run file a sentence that the program entered itself? */
bool collect_is_spoken(const struct pm_run_file *file, const struct pm_run_file_noun *noun);
/* The call that the noun of a run file is said by, in some object; NULL: none is known. */
const struct pm_run_file_word *collect_said_call(const struct pm_run_file *file,
                                                 const struct pm_run_file_noun *noun);

#endif
