/* Selection lists: which functions are measured (docs/formats/selection.md). Filter files of
 * Score-P and TAU are read, too.
 *
 *     struct pm_selection *s = pm_selection_new();
 *     if (pm_selection_add(s, false, "func:tiny_*", &err) == PM_OK &&
 *         pm_selection_read_file(s, "list.txt", &err) == PM_OK)
 *         use(pm_selection_fits(s, &(struct pm_selection_subject){
 *             .file = "src/heat.c", .name = "sweep", .linkage = "sweep"}));
 *     pm_selection_free(s);
 *
 * A list has sections; a function has to be selected by each. Within one the last line that fits
 * decides. When none does, a section without a line that includes selects everything. Names mean
 * what they mean in all commands (names.h); lines `symbol:` are found by a hash, so lists of many
 * thousands of names cost no more than short ones. One thread at a time; pm_selection_fits any.
 */
#ifndef PM_SELECTION_H
#define PM_SELECTION_H

#include "str.h"

struct pm_selection;
struct pm_selection *pm_selection_new(void); /* NULL: memory */
void pm_selection_free(struct pm_selection *selection);

/* One pattern, as behind '+' or '-' in a list. Those that include are a section, those that exclude
 * are another: what is excluded so is out, whatever includes it. */
PM_MUST_CHECK enum pm_status pm_selection_add(struct pm_selection *selection, bool include,
                                              const char *pattern, struct pm_error *err);
/* The sections of a file. What it is of, its first line says: SCOREP_..., BEGIN_..., else ours.
 * Errors name the file and the line. After one nothing but pm_selection_free may follow. */
PM_MUST_CHECK enum pm_status pm_selection_read_file(struct pm_selection *selection,
                                                    const char *path, struct pm_error *err);
/* The same of text in memory, called `name` in errors. */
PM_MUST_CHECK enum pm_status pm_selection_read(struct pm_selection *selection, struct pm_str text,
                                               const char *name, struct pm_error *err);

/* No pattern at all: everything is selected, and nobody need find out names. */
bool pm_selection_is_everything(const struct pm_selection *selection);

struct pm_selection_subject {
    const char *file;    /* as spelt, or absolute; NULL or "": not known */
    const char *path;    /* absolute; NULL: not known */
    const char *name;    /* as declared; with parameters or without */
    const char *linkage; /* the linker's name; NULL: not known */
};
bool pm_selection_fits(const struct pm_selection *selection,
                       const struct pm_selection_subject *subject);

/* What was read and has no meaning here, as printable sentences: notes of TAU's sections that say
 * what to put into code. NULL: that was all. */
const char *pm_selection_note(const struct pm_selection *selection, size_t n);

/* What was read last: "selection list", "filter file of Score-P", "filter file of TAU". */
const char *pm_selection_source(const struct pm_selection *selection);

/* The lines of all sections, in our format. */
void pm_selection_write(const struct pm_selection *selection, struct pm_buf *out);
/* "symbol:NAME in FILE" or "symbol:NAME": exactly this function. file may be NULL. False, and
 * nothing is added: a list cannot have it (blanks in the name, line ends). */
bool pm_selection_add_symbol_text(struct pm_buf *out, const char *linkage, const char *file);

/* Symbols of one function: equal, or of one constructor or destructor. Equal ones have one key. */
bool pm_selection_same_symbol(const char *a, const char *b);
uint64_t pm_selection_symbol_key(const char *symbol);
/* One path is the end of the other, by whole parts; . and .. in front are of no account. */
bool pm_selection_same_file(const char *a, const char *b);

#endif
