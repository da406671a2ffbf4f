/* Keys of rows: they name the same construct of the source in views of two archives.
 *
 *     struct pm_view_keys old = {0}, new = {0};
 *     if (pm_view_keys_make(&before, NULL, &err, &old) == PM_OK &&
 *         pm_view_keys_make(&after, NULL, &err, &new) == PM_OK)
 *         for (uint32_t r = 0; r < after.n_rows; r++)
 *             use(&after.rows[r], pm_view_keys_find(&old, new.items[r].hash));   // PM_NONE: new
 *     pm_view_keys_release(&old);
 *     pm_view_keys_release(&new);
 *
 * A key is made of what the construct is: its level and kind, file, function by the linker's name,
 * and name. It has no position, id or address of an archive. Both views must be asked for in the
 * same way, metrics too: those that a view takes by itself depend on how the program was measured.
 * Names are made of the first n_shown rows; pm_view_name_row makes one of another. Within a view
 * no two rows have one key. Of two archives of one program all keys are equal. When the program
 * has changed:
 *
 *   function, file, global data    the key stays while name and file do; f.isra.0 is f
 *   loop, statement, local data    lines count from the function's first, so the key stays while
 *                                  nothing within the function has moved
 *   --by line                      the line counts from the file's first
 *   machine code                   a symbol and what of the source it implements
 *   set                            the keys of its members
 *   tree                           the row's own and those above it
 *
 * Whoever knows more of how two builds belong together (mapping/compare/build.h) gives names: keys
 * are then those that the constructs have in the other build.
 *
 * What nothing tells apart (loops of one macro, blocks of one line's code) is counted in the order
 * of the source: such keys move when one of them has no costs. A program that was renamed has the
 * same keys if it is the only executable with sleds in its archive. Any number of threads, with
 * views of their own.
 */
#ifndef PM_VIEW_KEYS_H
#define PM_VIEW_KEYS_H

#include "view.h"

#include "mapping/base/map.h"

struct pm_view_key {
    uint64_t hash; /* of the text, and in a tree of the keys above: compare this */
    /* For people: "Source loop +4:5 in function sweep (heat.c)". In a tree the row's own part. */
    const char *text;
};

struct pm_view_keys {
    struct pm_view_key *items; /* [n_rows] of the view, in its order */
    uint32_t n;
    struct pm_map row_of; /* hash to 1 + row */
    struct pm_arena arena;
};

/* Where a loop, a statement or local data is in the other build. */
struct pm_view_key_place {
    enum { PM_KEY_PLACE_AS_HERE, PM_KEY_PLACE_OTHER, PM_KEY_PLACE_NONE } kind;
    uint32_t line_no; /* from the function's first, 0 */
    uint32_t column_no;
};

/* What another build calls the constructs of this one. */
struct pm_view_key_names {
    const struct pm_view_key_place *places; /* per noun of the graph; NONE: it is not there */
    /* per noun: pm_view_function_text of a function with another name there; NULL: as here */
    const char *const *functions;
    const char *const *files;       /* [n_files] as here */
    const char *const *other_files; /* [n_files] as there; what is in no list: as here */
    uint32_t n_files;
};

/* Of a view that was made. names: NULL: its own. PM_ERR_MEMORY. */
PM_MUST_CHECK enum pm_status pm_view_keys_make(const struct pm_view *view,
                                               const struct pm_view_key_names *names,
                                               struct pm_error *err, struct pm_view_keys *ret_keys);
/* Path of the one executable with sleds, which may have another name elsewhere; "": none, or
 * several. */
const char *pm_view_program_of(const struct pm_archive_data *data);
/* Of a construct, whether it has costs or not. 0: memory ended. */
uint64_t pm_view_noun_key(const struct pm_view *view, const struct pm_view_key_names *names,
                          pm_index noun);
/* "f (heat.c)": what stands for a function in keys. */
void pm_view_function_text(const struct pm_view *view, const struct pm_view_key_names *names,
                           pm_index noun, struct pm_buf *out);
/* "u" of "main::u" and of "main::u:57", data of a function, whose line may move; of others the
 * name. Lent. */
const char *pm_view_bare_name(const struct pm_view *view, pm_index noun, size_t *ret_length);
/* The row of that key; PM_NONE: there is none. */
uint32_t pm_view_keys_find(const struct pm_view_keys *keys, uint64_t hash);
void pm_view_keys_release(struct pm_view_keys *keys);

#endif
