/* Modes that differ from noun to noun: patterns of the command line, and which nouns they mean.
 *
 *     struct mode_rules rules = {0};
 *     mode_rules_add(&rules, PM_RUN_MODE_EXACT, "loop:heat.c:*");
 *     struct mode_names *names = mode_names_new();
 *     status = mode_names_add_file(names, "./heat", err);             // again for its libraries
 *     // PM_ERR_USAGE: one matches nothing
 *     status = mode_names_check(names, &rules, err);
 *     struct mode_choice choice = {.mode = PM_RUN_MODE_ACTIVE, .rules = rules};
 *     status = mode_names_write_plan(names, &choice, true, run_dir, err);
 *
 * Patterns: func:NAME, loop:FILE:LINE, file:FILE, or any of these without the word; * ? [] as in
 * file names. What several match, the last one decides. One thread.
 */
#ifndef PM_SESSION_PLAN_H
#define PM_SESSION_PLAN_H

#include "mapping/base/selection.h"
#include "mapping/base/status.h"
#include "mapping/base/str.h"

#include "format/pm_control.h"
#include "format/pm_mode.h"

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

/* Modes of single nouns by their ids, as a question needs them. */
struct mode_need {
    uint64_t id;
    enum pm_run_mode mode;
    bool fixed;            /* the budget leaves it alone */
    uint8_t terms, inside; /* struct pm_plan_noun */
};
struct mode_needs {
    struct mode_need *items; /* by id, each once, when sorted */
    size_t n, capacity;
};
bool mode_needs_add(struct mode_needs *needs, const struct mode_need *need);
void mode_needs_sort(struct mode_needs *needs); /* of equal ids the higher mode counts */
const struct mode_need *mode_needs_find(const struct mode_needs *needs, uint64_t id);
void mode_needs_release(struct mode_needs *needs);

/* All that says which mode a noun is to have: the question that the run was started with, else
 * the run's mode; off for what is not selected; patterns; questions that are asked of it meanwhile,
 * which only raise it. */
struct mode_choice {
    enum pm_run_mode mode;                /* of nouns of which nothing is said */
    const struct pm_selection *selection; /* lent; NULL: everything is selected */
    struct mode_needs question;
    bool question_has_terms; /* some noun is entered inside others only */
    struct mode_rules rules;
    const struct mode_needs **live; /* lent; no more than n_live */
    size_t n_live;
};
/* A pattern of a kind that has modes: NULL, or what is wrong with it (static text). */
const char *mode_pattern_problem(const char *pattern);

struct mode_names;
struct mode_names *mode_names_new(void); /* NULL: memory */
void mode_names_free(struct mode_names *names);
/* The nouns of a file that was compiled with the plugin. A file without is passed over; one that
 * was added before, too. */
PM_MUST_CHECK enum pm_status mode_names_add_file(struct mode_names *names, const char *path,
                                                 struct pm_error *err);
/* The program and the libraries that the loader would load with it (it is asked as ldd(1) does). */
PM_MUST_CHECK enum pm_status mode_names_add_program(struct mode_names *names, const char *path,
                                                    struct pm_error *err);
/* Does each pattern match something? PM_ERR_USAGE names the one that does not, and what is near. */
PM_MUST_CHECK enum pm_status mode_names_check(const struct mode_names *names,
                                              const struct mode_rules *rules, struct pm_error *err);
/* How many functions have sleds, and how many of them are selected. */
void mode_names_count(const struct mode_names *names, const struct pm_selection *selection,
                      size_t *ret_n, size_t *ret_selected);
/* "'sum' names 2: sum<int> (a.cc:3), sum<long> (a.cc:3)"; false, and nothing is added: it names
 * one, or has wild cards. */
bool mode_names_add_several(const struct mode_names *names, const struct mode_rule *rule,
                            struct pm_buf *out);
/* The mode of a noun by its id. ret_fixed (may be NULL): the budget is to leave it alone, for
 * something other than * names it. */
enum pm_run_mode mode_names_of(const struct mode_names *names, const struct mode_choice *choice,
                               uint64_t id, bool *ret_fixed);
/* Writes the file `plan` in the run's folder. fix: the budget leaves alone what is named. */
PM_MUST_CHECK enum pm_status mode_names_write_plan(const struct mode_names *names,
                                                   const struct mode_choice *choice, bool fix,
                                                   const char *run_dir, struct pm_error *err);

#endif
