/* Memory for what dies together.
 *
 *     struct pm_arena arena = {0};
 *     char *name = pm_arena_strndup(&arena, p, len);    // NULL when memory is at its end
 *     pm_arena_release(&arena);
 *
 * Also interns strings: equal strings give one pointer. One thread at a time.
 */
#ifndef PM_ARENA_H
#define PM_ARENA_H

#include <stddef.h>

struct pm_arena_block;
struct pm_arena {
    struct pm_arena_block *blocks;
    size_t total_bytes;
};

void *pm_arena_alloc(struct pm_arena *arena, size_t size_bytes); /* zeroed, aligned to 16 */
char *pm_arena_strndup(struct pm_arena *arena, const char *p, size_t len);
void pm_arena_release(struct pm_arena *arena);

struct pm_intern; /* a set of strings that live as long as it */
struct pm_intern *pm_intern_new(void);
void pm_intern_free(struct pm_intern *set);
/* One zero-ended copy per distinct byte string; NULL when memory is at its end. */
const char *pm_intern_add(struct pm_intern *set, const char *p, size_t len);

#endif
