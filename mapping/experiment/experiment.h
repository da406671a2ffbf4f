/* An experiment: archives that belong together, with what tells them apart. It refers to them and
 * never changes them.
 *
 *     struct pm_experiment *experiment;
 *     if (pm_experiment_open("exp.perfexp", &err, &experiment) == PM_OK &&
 *         pm_experiment_select(experiment, "build=new&ranks>=8", &err, &chosen) == PM_OK)
 *         for (uint32_t i = 0; i < chosen.n; i++)
 *             use(experiment->members[chosen.items[i]].path);
 *     free(chosen.items);
 *     pm_experiment_close(experiment);
 *
 *   experiment  the file (schema.sql)           add       what is read of an archive
 *   select      which members: "key=value&..."  members   list of them, attributes, states
 *   cells       from an archive to cells        kept      from cells to numbers of members
 *   compare     comparisons of what is kept
 *
 * Each change is in the file for certain when its function returns. Several processes may use one
 * file. One thread at a time per object. Nothing here prints.
 */
#ifndef PM_EXPERIMENT_H
#define PM_EXPERIMENT_H

#include "mapping/archive/database.h"
#include "mapping/base/arena.h"
#include "mapping/compare/compare.h"

#define PM_EXPERIMENT_APPLICATION_ID 0x50464d58 /* "PFMX" */
#define PM_EXPERIMENT_VERSION 1

extern const struct pm_database_kind pm_experiment_kind;

enum pm_member_state {
    PM_MEMBER_OK,
    PM_MEMBER_MISSING, /* there is no such file */
    PM_MEMBER_CHANGED, /* another archive, or something else, has its place */
};

enum pm_attribute_origin { PM_BY_RUN, PM_BY_BINARY, PM_BY_USER };

struct pm_member_attribute {
    const char *key, *value; /* printable */
    enum pm_attribute_origin origin;
};

struct pm_experiment_member {
    int64_t id;
    const char *path;           /* as this process can open it */
    const char *name;           /* as the file has it, printable */
    uint32_t build;             /* equal: the same binaries */
    const char *poor;           /* how it was measured badly, printable; NULL: well */
    enum pm_member_state state; /* by size and time of the file, as make does */
    int64_t sum;
    const struct pm_member_attribute *attributes; /* by key */
    uint32_t n_attributes;
};

struct pm_experiment {
    const char *path;                     /* as given */
    struct pm_experiment_member *members; /* in the order in which they were added */
    uint32_t n_members;
    struct pm_experiment_private *own;
};

/* PM_ERR_USAGE: there is something of that name. */
PM_MUST_CHECK enum pm_status pm_experiment_create(const char *path, struct pm_error *err);
/* With its members. Errors: database.h. */
PM_MUST_CHECK enum pm_status pm_experiment_open(const char *path, struct pm_error *err,
                                                struct pm_experiment **ret);
void pm_experiment_close(struct pm_experiment *experiment); /* NULL is fine */
/* Members as the file has them now: after changes. Those before are gone. */
PM_MUST_CHECK enum pm_status pm_experiment_reload(struct pm_experiment *experiment,
                                                  struct pm_error *err);

/* Positions of members. */
struct pm_experiment_selection {
    uint32_t *items; /* to be freed */
    uint32_t n;
};

/* --- what belongs to it --- */

struct pm_experiment_set {
    const char *key, *value; /* value "": none any more */
};
/* "key=value", in a copy that the caller frees (ret->key is it). PM_ERR_USAGE. */
PM_MUST_CHECK enum pm_status pm_experiment_set_of(const char *text, struct pm_error *err,
                                                  struct pm_experiment_set *ret);

enum pm_added {
    PM_ADDED,
    PM_ADDED_AGAIN, /* it had changed */
    PM_NOT_ADDED    /* it is a member as it is */
};
/* Reads an archive, and makes it a member with these attributes by the user. PM_ERR_USAGE: the same
 * archive is a member by another name; other errors: it cannot be read. */
PM_MUST_CHECK enum pm_status pm_experiment_add(struct pm_experiment *experiment, const char *path,
                                               const struct pm_experiment_set *sets, uint32_t n,
                                               struct pm_error *err, enum pm_added *ret_added);
/* By all bytes of the archive: damage, too. PM_ERR_SYSTEM: it cannot be read. */
PM_MUST_CHECK enum pm_status pm_experiment_check(const struct pm_experiment_member *member,
                                                 struct pm_error *err,
                                                 enum pm_member_state *ret_state);
/* Whether it is one, and has not changed. */
bool pm_experiment_has(const struct pm_experiment *experiment, const char *path);
/* All of it or nothing: attributes of the chosen members; members that go. */
PM_MUST_CHECK enum pm_status pm_experiment_set(struct pm_experiment *experiment,
                                               const struct pm_experiment_selection *chosen,
                                               const struct pm_experiment_set *sets, uint32_t n,
                                               struct pm_error *err);
PM_MUST_CHECK enum pm_status pm_experiment_remove(struct pm_experiment *experiment,
                                                  const struct pm_experiment_selection *chosen,
                                                  struct pm_error *err);
/* NULL: it has none of that key. */
const char *pm_member_value(const struct pm_experiment_member *member, const char *key);

/* --- selections --- */

/* "opt=O2&ranks>=8&host!=a*|b": conditions that all hold. = and != take patterns (* ? []), with |
 * between several; < <= > >= compare numbers; a key alone: it has one; !key: it has none. "": all
 * members. PM_ERR_USAGE: what is wrong with it. */
PM_MUST_CHECK enum pm_status pm_experiment_select(const struct pm_experiment *experiment,
                                                  const char *text, struct pm_error *err,
                                                  struct pm_experiment_selection *ret);
/* --- what it keeps of archives --- */

/* A comparison of members without their archives: by function, loop, statement and array, at the
 * level of the source, of what reports show by themselves. *ret NULL: it keeps nothing of that for
 * some member, or one is on both sides; pm_compare reads their archives. Others than those of state
 * OK are left out. */
PM_MUST_CHECK enum pm_status pm_experiment_compare(const struct pm_experiment *experiment,
                                                   const struct pm_compare_options *options,
                                                   const struct pm_experiment_selection chosen[2],
                                                   struct pm_error *err,
                                                   struct pm_comparison **ret);
bool pm_experiment_keeps(const struct pm_compare_options *options);

/* "E?SELECTION" or "E", where E is an experiment, or is not there and E.perfexp is: its path, to be
 * freed, and what stands behind '?' (lent; "" nothing). NULL: it is something else, or memory
 * ended. */
char *pm_experiment_named(const char *operand, const char **ret_selection);

#endif
