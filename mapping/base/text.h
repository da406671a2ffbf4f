/* Text for people: what a terminal may have of it, and how many columns it takes.
 *
 *     const char *name = pm_text_printable(&arena, noun->name); // NULL: out of memory
 *     int columns = pm_text_width(name);
 */
#ifndef PM_TEXT_H
#define PM_TEXT_H

#include "arena.h"

#include <stddef.h>

/* Control bytes and what is not UTF-8 as \xNN. Arena memory, or the text itself; NULL: out of
 * memory. */
const char *pm_text_printable(struct pm_arena *arena, const char *text);

/* Columns of printable text. */
int pm_text_width(const char *printable);
int pm_text_width_n(const char *printable, size_t len);

/* The bytes of the first character (at least 1), and its columns. Not of "". */
size_t pm_text_next(const char *printable, int *ret_columns);

#endif
