/* Numbers of a fixed size in the byte order of an object, through the cursor that trusts
 * nothing. */
#ifndef PM_DEBUG_BYTES_H
#define PM_DEBUG_BYTES_H

#include "../base/str.h"

/* n: 1 to 8 */
static inline bool pm_cursor_fixed(struct pm_cursor *cursor, unsigned n, bool is_big_endian,
                                   uint64_t *ret_value)
{
    struct pm_str bytes;
    if (n < 1 || n > 8 || !pm_cursor_bytes(cursor, n, &bytes))
        return false;
    uint64_t value = 0;
    for (unsigned i = 0; i < n; i++)
        value = value << 8 | (unsigned char)bytes.p[is_big_endian ? i : n - 1 - i];
    *ret_value = value;
    return true;
}

/* DWARF's signed LEB128: two's complement (pm_cursor_sleb reads PIF's, zig-zag). */
static inline bool pm_cursor_sleb128(struct pm_cursor *cursor, int64_t *ret_value)
{
    uint64_t value = 0, byte = 0x80;
    unsigned shift = 0;
    for (; byte & 0x80; shift += 7) {
        if (!pm_cursor_fixed(cursor, 1, false, &byte))
            return false;
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
    }
    if (shift < 64 && byte & 0x40)
        value |= UINT64_MAX << shift;
    *ret_value = (int64_t)value;
    return true;
}

/* One read of n bytes at an offset. */
static inline bool pm_fixed_at(const unsigned char *p, size_t len, uint64_t offset, unsigned n,
                               bool is_big_endian, uint64_t *ret_value)
{
    struct pm_cursor cursor;
    if (offset >= len)
        return false;
    pm_cursor_init(&cursor, p + offset, len - offset);
    return pm_cursor_fixed(&cursor, n, is_big_endian, ret_value);
}

#endif
