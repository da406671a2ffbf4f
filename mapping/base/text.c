/* Text for people: what a terminal may have of it, and how many columns it takes. */
#include "text.h"

#include "str.h"

#include <string.h>

const char *pm_text_printable(struct pm_arena *arena, const char *text)
{
    size_t len = strlen(text), i = 0;
    while (i < len && (unsigned char)text[i] >= 0x20 && (unsigned char)text[i] < 0x7f)
        i++;
    if (i == len)
        return text;
    struct pm_buf buf = PM_BUF_INIT(1 << 24);
    pm_buf_add_printable(&buf, text, len);
    char *copy = buf.failed ? NULL : pm_arena_strndup(arena, buf.data, buf.len);
    pm_buf_release(&buf);
    return copy;
}

/* Wide ones: the East Asian blocks and most emoji. */
size_t pm_text_next(const char *p, int *ret_columns)
{
    unsigned char byte = (unsigned char)*p;
    size_t n = byte < 0x80 ? 1 : pm_utf8_length(p, strlen(p));
    if (n == 0)
        n = 1;
    static const unsigned char first_bits[] = {0, 0xff, 0x1f, 0x0f, 0x07}; /* by length */
    uint32_t c = byte & first_bits[n];
    for (size_t i = 1; i < n; i++)
        c = c << 6 | ((unsigned char)p[i] & 0x3f);
    bool combining =
        (c >= 0x300 && c < 0x370) || (c >= 0x200b && c < 0x2010) || (c >= 0xfe00 && c < 0xfe10);
    bool wide = (c >= 0x1100 && c < 0x1160) || (c >= 0x2e80 && c < 0xa4d0) ||
                (c >= 0xac00 && c < 0xd7a4) || (c >= 0xf900 && c < 0xfb00) ||
                (c >= 0xfe30 && c < 0xfe70) || (c >= 0xff00 && c < 0xff61) ||
                (c >= 0x1f300 && c < 0x1fb00) || (c >= 0x20000 && c < 0x40000);
    *ret_columns = wide ? 2 : 1;
    if (combining)
        *ret_columns = 0;
    return n;
}

int pm_text_width_n(const char *printable, size_t len)
{
    int width = 0, columns;
    for (const char *p = printable; p < printable + len; width += columns)
        p += pm_text_next(p, &columns);
    return width;
}

int pm_text_width(const char *printable)
{
    return pm_text_width_n(printable, strlen(printable));
}
