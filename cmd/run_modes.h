/* Modes that differ from noun to noun: patterns of the command line, and which nouns they mean.
 *
 *     struct mode_rules rules = {0};
 *     mode_rules_add(&rules, PM_RUN_MODE_EXACT, "loop:heat.c:*");
 *     struct mode_names *names = mode_names_new();
 *     status = mode_names_add_file(names, "./heat", err);             // again for its libraries
 *     status = mode_names_check(names, &rules, err);                  // PM_ERR_USAGE: one matches nothing
 *     status = mode_names_write_plan(names, &rules, PM_RUN_MODE_ACTIVE, run_dir, err);
 *
 * Patterns: func:NAME, loop:FILE:LINE, file:FILE, or any of these without the word; * ? [] as in file names. What several
 * match, the last one decides. One thread.
 */
#ifndef PM_CMD_RUN_MODES_H
#define PM_CMD_RUN_MODES_H

#include "cmd.h"

#include "format/pm_control.h"

enum { MODE_RULES_MAX = 1000 };

struct mode_rule {
    enum pm_run_mode mode;
    char *pattern; /* owned */
};
struct mode_rules {
    struct mode_rule *items;
    size_t n;
};
/* False: memory, or more than MODE_RULES_MAX. */
bool mode_rules_add(struct mode_rules *rules, enum pm_run_mode mode, const char *pattern);
void mode_rules_release(struct mode_rules *rules);
/* A pattern of a kind that has modes: NULL, or what is wrong with it (static text). */
const char *mode_pattern_problem(const char *pattern);

/* "active", "exact", ...; NULL ends. In the order of enum pm_run_mode. */
extern const char *const mode_words[];

struct mode_names;
struct mode_names *mode_names_new(void); /* NULL: memory */
void mode_names_free(struct mode_names *names);
/* The nouns of a file that was compiled with the plugin. A file without is passed over; one that was added before, too. */
PM_MUST_CHECK enum pm_status mode_names_add_file(struct mode_names *names, const char *path,
                                                 struct pm_error *err);
/* The program and the libraries that the loader would load with it (it is asked as ldd(1) does). */
PM_MUST_CHECK enum pm_status mode_names_add_program(struct mode_names *names, const char *path,
                                                    struct pm_error *err);
/* Does each pattern match something? PM_ERR_USAGE names the one that does not, and what is near. */
PM_MUST_CHECK enum pm_status mode_names_check(const struct mode_names *names,
                                              const struct mode_rules *rules, struct pm_error *err);
/* The mode of a noun by its id; otherwise: of nouns that no pattern matches. ret_named (may be NULL): a pattern other than * says it. */
enum pm_run_mode mode_names_of(const struct mode_names *names, const struct mode_rules *rules,
                               enum pm_run_mode otherwise, uint64_t id, bool *ret_named);
/* Writes the file `plan` in the run's folder. fix: the budget leaves alone what patterns name. */
PM_MUST_CHECK enum pm_status mode_names_write_plan(const struct mode_names *names,
                                                   const struct mode_rules *rules,
                                                   enum pm_run_mode otherwise, bool fix,
                                                   const char *run_dir, struct pm_error *err);

#endif
