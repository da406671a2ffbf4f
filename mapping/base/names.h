/* Names of a program's elements as people write them: with * and ?, without the folders of a
 * file, without a function's parameters and what it lies in.
 *
 *     struct pm_name_pattern pattern = {.text = "sweep"};
 *     bool is_sweep = pm_name_fits_part(&pattern, "heat::sweep(int)", "(");     // true
 *     pattern.text = "heat.c:4?";
 *     bool is_there = pm_name_fits_place(&pattern, "/home/me/heat.c", 42, 9);   // true
 *
 * Used wherever a command takes a name: --focus, explain, --exact and the like, questions. No
 * state; any thread.
 */
#ifndef PM_NAMES_H
#define PM_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct pm_name_pattern {
    const char *text;  /* for fnmatch(3) */
    int flags;         /* of fnmatch */
    bool is_plain_too; /* the text itself counts as well: operator[] */
};

bool pm_name_fits(const struct pm_name_pattern *pattern, const char *text); /* "" fits nothing */
/* A path, its last part, or any run of its last parts: src/heat.c of /home/me/src/heat.c. */
bool pm_name_fits_path(const struct pm_name_pattern *pattern, const char *path);
/* FILE:LINE or FILE:LINE:COLUMN, the file as above. line_no 0: no place; column_no 0: none. */
bool pm_name_fits_place(const struct pm_name_pattern *pattern, const char *file, uint32_t line_no,
                        uint32_t column_no);
/* u of sweep::u: what follows any `::`, and what stands before the first of the characters of
 * ends. */
bool pm_name_fits_part(const struct pm_name_pattern *pattern, const char *name, const char *ends);
/* Names of functions and data: the last parts of a qualified name, each with or without
 * arguments of templates and parameters. A part that the pattern has them of must have equal
 * ones; (...) and <...> are any. `sum` finds "int ns::sum<int>(int*)", and so do ns::sum,
 * sum<int>, sum(int*). Nothing that stands within <> or () is found by a name alone. Patterns
 * with * and ? are of the name as a whole; an operator's name means itself. Nameless namespaces
 * may be left out; `lambda` is any, of which operator() may be left out. */
bool pm_name_fits_code(const struct pm_name_pattern *pattern, const char *name);
/* Is the file a header of the system or of a compiler, and so not the program's own? By its path
 * alone. */
bool pm_name_is_of_system(const char *file);

#endif
