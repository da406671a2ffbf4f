/* Stable 64-bit ids of nouns.
 *
 * The compiler side and the readers must agree on the id of a construct without talking to each
 * other: under parallel builds, LTO (where another compiler process emits the code) and for
 * inlined copies. An id is therefore a hash of what the construct is, never a counter:
 *
 *     file            "file",      path
 *     function        "func",      linkage name [, path, when it is local to its file]
 *     loop            "loop",      function id in 16 hex digits, path, line, column
 *     code symbol     "symbol",    emitted symbol name [, path, when local]          (level Base)
 *     loop code       "loopcode",  symbol id, loop id (16 hex digits each)           (level Base)
 *     rest of a loop  "looprest",  symbol id, loop id                                (level Base)
 *     statement       "stmt",      function id, path, line, column
 *     variable        "var",       function id, name, line, column;  or, when global:  linkage name
 *                                  [, path, when local]
 *     type, field     "type",      name, path;   "field", type id, name
 *     region          "region",    function id, path, line, column, construct
 *
 * `path` is the source path made absolute with the compiler's working directory and then mapped
 * by -ffile-prefix-map. The hash is XXH64 (seed 0) over all parts, each followed by one zero
 * byte. 0 is never a valid id (a hash of 0 becomes 1). Ids are unique per loaded object, not
 * over objects: two programs may both have "main".
 *
 * Header-only; thread and signal safe; no allocation.
 */
#ifndef PM_ID_H
#define PM_ID_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

typedef uint64_t pm_id;

struct pm_id_hash {
    XXH64_state_t state;
};

static inline void pm_id_hash_init(struct pm_id_hash *hash, const char *kind)
{
    XXH64_reset(&hash->state, 0);
    XXH64_update(&hash->state, kind, strlen(kind) + 1);
}

/* Adds one part, with its ending zero byte. */
static inline void pm_id_hash_string(struct pm_id_hash *hash, const char *part)
{
    XXH64_update(&hash->state, part, strlen(part) + 1);
}

/* Adds an id (16 lower-case hex digits) or a line or column number (decimal) as one part. */
static inline void pm_id_hash_id(struct pm_id_hash *hash, pm_id id)
{
    char text[17];
    for (int i = 0; i < 16; i++)
        text[i] = "0123456789abcdef"[(id >> (60 - 4 * i)) & 15];
    text[16] = 0;
    pm_id_hash_string(hash, text);
}

static inline void pm_id_hash_number(struct pm_id_hash *hash, unsigned number)
{
    char text[12], *p = text + sizeof text;
    *--p = 0;
    do
        *--p = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    pm_id_hash_string(hash, p);
}

static inline pm_id pm_id_hash_done(const struct pm_id_hash *hash)
{
    pm_id id = XXH64_digest(&hash->state);
    return id ? id : 1;
}

#endif
