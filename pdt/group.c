#define XXH_INLINE_ALL
#include "group.h"

#include <xxhash.h>

const char *const pdt_routine_kinds[] = {"function", "method", "constructor", "destructor",
                                         "conversion"};
const char *const pdt_linkages[] = {"external", "internal", "none"};
const char *const pdt_storages[] = {"none", "extern", "static"};
const char *const pdt_accesses[] = {"none", "public", "protected", "private"};
const char *const pdt_loop_kinds[] = {"for", "while", "do", "range"};
const char *const pdt_call_kinds[] = {"direct", "virtual", "pointer", "dependent"};
const char *const pdt_variable_kinds[] = {"global", "static", "local", "parameter", "field"};
const char *const pdt_reaches[] = {"subscript", "dereference", "member", "whole"};
const char *const pdt_modes[] = {"read", "write", "update", "address", "unknown"};

void pdt_put_text(struct pm_buf *buf, const char *text, size_t len)
{
    pm_buf_add_uleb(buf, len);
    pm_buf_add(buf, text, len);
}

void pdt_put_key(struct pm_buf *buf, uint64_t key)
{
    pm_buf_add(buf, &key, sizeof key);
}

bool pdt_get_text(struct pm_cursor *cursor, struct pm_str *ret_text)
{
    uint64_t len;
    return pm_cursor_uleb(cursor, &len) && len <= (size_t)(cursor->end - cursor->p) &&
           pm_cursor_bytes(cursor, len, ret_text);
}

bool pdt_get_key(struct pm_cursor *cursor, uint64_t *ret_key)
{
    struct pm_str bytes;
    if (!pm_cursor_bytes(cursor, sizeof *ret_key, &bytes))
        return false;
    memcpy(ret_key, bytes.p, sizeof *ret_key);
    return true;
}

bool pdt_get_below(struct pm_cursor *cursor, uint64_t n, unsigned *ret_number)
{
    uint64_t number;
    if (!pm_cursor_uleb(cursor, &number))
        return false;
    cursor->failed |= number >= n;
    *ret_number = (unsigned)number;
    return !cursor->failed;
}

bool pdt_get_line(struct pm_cursor *cursor, uint32_t *ret_number)
{
    unsigned number;
    if (!pdt_get_below(cursor, INT32_MAX, &number))
        return false;
    *ret_number = number;
    return true;
}

uint64_t pdt_key(const void *bytes, size_t len, uint64_t seed)
{
    uint64_t key = XXH3_64bits_withSeed(bytes, len, seed);
    return key ? key : 1;
}

void pdt_sum(struct pm_str data, uint8_t ret_hash[16])
{
    XXH128_hash_t sum = XXH3_128bits(data.p, data.len);
    memcpy(ret_hash, &sum.low64, 8);
    memcpy(ret_hash + 8, &sum.high64, 8);
}

void pdt_group_sum(struct pdt_group *group)
{
    pdt_sum((struct pm_str){group->data.data, group->data.len}, group->hash);
}
