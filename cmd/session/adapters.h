/* Adapters: libraries of ours that say in the words of another library what it does
 * (docs/ADAPTERS.md). Which of them a program, or a question, needs.
 *
 *     struct session_adapters found;
 *     struct pm_buf texts = PM_BUF_INIT(1 << 20);
 *     if (session_find_adapters("auto", "./heat", NULL, err, &found) == PM_OK)
 *         preload(found.paths, found.n);
 *     session_add_adapter_options(&found, &texts);                    // what the child is told
 *     session_release_adapters(&found);
 */
#ifndef PM_SESSION_ADAPTERS_H
#define PM_SESSION_ADAPTERS_H

#include "mapping/base/status.h"
#include "mapping/base/str.h"

struct pm_question;

enum { SESSION_MAX_ADAPTERS = 8, SESSION_MAX_ADAPTER_OPTIONS = 8 };
struct session_adapters {
    char *paths[SESSION_MAX_ADAPTERS]; /* of libraries to be preloaded; owned */
    size_t n;
    bool options[SESSION_MAX_ADAPTER_OPTIONS]; /* as PM_ADAPTER_OPTIONS: those asked for */
    bool memory;                               /* one of them needs settings.heap */
    /* would show the program, and is dear: its name, and what it costs; NULL: none */
    const char *offered, *offered_cost;
};
/* choice: "auto" (those of libraries that the program is started with; with a question those
 * whose words it asks for, or that may have what fits), "none", or names separated by commas, each
 * with its options, "lua:lines,locks:hold". program, question NULL: not known, none. PM_ERR_USAGE:
 * there is no such adapter, or option of it. */
PM_MUST_CHECK enum pm_status session_find_adapters(const char *choice, const char *program,
                                                   const struct pm_question *question,
                                                   struct pm_error *err,
                                                   struct session_adapters *ret_adapters);
/* And that one, when it is not among them. */
PM_MUST_CHECK enum pm_status session_need_adapter(const char *name, struct pm_error *err,
                                                  struct session_adapters *adapters);
/* Which sentences name words of these adapters. ret_said[n_sentences]; names: of the adapters
 * that have them, separated by commas. */
void session_adapters_for(const struct session_adapters *adapters,
                          const struct pm_question *question, bool *ret_said, struct pm_buf *names);
void session_release_adapters(struct session_adapters *adapters);
/* Adds the variables that tell adapters of their options: NAME=VALUE, each with a zero behind. */
void session_add_adapter_options(const struct session_adapters *adapters, struct pm_buf *texts);
/* The adapter whose words are of that level; NULL: none is known. */
const char *session_adapter_of_level(const char *level);

#endif
