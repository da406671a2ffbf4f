#include "line_check.h"

#include "bytes.h"

struct header {
    struct pm_cursor at;
    bool is_big_endian;
    unsigned offset_bytes;
    uint64_t version;
};

static bool fixed(struct header *h, unsigned n, uint64_t *ret_value)
{
    return pm_cursor_fixed(&h->at, n, h->is_big_endian, ret_value);
}

/* unit_length: 4 bytes, or 0xffffffff and 8. Cuts the cursor to the unit. */
static bool enter_unit(struct header *h)
{
    uint64_t length;
    h->offset_bytes = 4;
    if (!fixed(h, 4, &length))
        return false;
    if (length == 0xffffffff) {
        h->offset_bytes = 8;
        if (!fixed(h, 8, &length))
            return false;
    }
    if (length > (uint64_t)(h->at.end - h->at.p))
        return false;
    h->at.end = h->at.p + length;
    return true;
}

enum { /* forms that line tables of DWARF 5 use */
       FORM_BLOCK = 0x09,
       FORM_DATA1 = 0x0b,
       FORM_DATA2 = 0x05,
       FORM_DATA4 = 0x06,
       FORM_DATA8 = 0x07,
       FORM_DATA16 = 0x1e,
       FORM_STRING = 0x08,
       FORM_UDATA = 0x0f,
       FORM_STRP = 0x0e,
       FORM_LINE_STRP = 0x1f,
       FORMATS_MAX = 16
};

static bool skip_string(struct header *h)
{
    const void *end = memchr(h->at.p, 0, (size_t)(h->at.end - h->at.p));
    if (!end)
        return false;
    h->at.p = (const unsigned char *)end + 1;
    return true;
}

static bool skip_form(struct header *h, uint64_t form)
{
    struct pm_str bytes;
    uint64_t value;
    switch (form) {
    case FORM_DATA1:
        return pm_cursor_bytes(&h->at, 1, &bytes);
    case FORM_DATA2:
        return pm_cursor_bytes(&h->at, 2, &bytes);
    case FORM_DATA4:
        return pm_cursor_bytes(&h->at, 4, &bytes);
    case FORM_DATA8:
        return pm_cursor_bytes(&h->at, 8, &bytes);
    case FORM_DATA16:
        return pm_cursor_bytes(&h->at, 16, &bytes);
    case FORM_STRP:
    case FORM_LINE_STRP:
        return pm_cursor_bytes(&h->at, h->offset_bytes, &bytes);
    case FORM_UDATA:
        return pm_cursor_uleb(&h->at, &value);
    case FORM_BLOCK:
        return pm_cursor_uleb(&h->at, &value) && value <= (uint64_t)(h->at.end - h->at.p) &&
               pm_cursor_bytes(&h->at, value, &bytes);
    case FORM_STRING:
        return skip_string(h);
    default:
        return false;
    }
}

/* Formats, then entries: folders or files of DWARF 5. Every entry takes at least one byte, so a count is bounded by what is left. */
static bool skip_table(struct header *h)
{
    uint64_t n_formats, n_entries, forms[FORMATS_MAX], content;
    if (!fixed(h, 1, &n_formats) || n_formats > FORMATS_MAX)
        return false;
    for (uint64_t i = 0; i < n_formats; i++)
        if (!pm_cursor_uleb(&h->at, &content) || !pm_cursor_uleb(&h->at, &forms[i]))
            return false;
    if (!pm_cursor_uleb(&h->at, &n_entries) || n_entries > (uint64_t)(h->at.end - h->at.p) ||
        (n_formats == 0 && n_entries != 0))
        return false;
    for (uint64_t i = 0; i < n_entries; i++)
        for (uint64_t k = 0; k < n_formats; k++)
            if (!skip_form(h, forms[k]))
                return false;
    return true;
}

/* Names up to an empty one; files have three numbers more. */
static bool skip_names(struct header *h, unsigned n_numbers)
{
    while (h->at.p < h->at.end && *h->at.p != 0) {
        uint64_t value;
        if (!skip_string(h))
            return false;
        for (unsigned i = 0; i < n_numbers; i++)
            if (!pm_cursor_uleb(&h->at, &value))
                return false;
    }
    return h->at.p < h->at.end && ++h->at.p;
}

bool pm_line_header_is_sane(struct pm_bytes section, uint64_t offset, bool is_big_endian)
{
    struct header h = {.is_big_endian = is_big_endian};
    if (offset >= section.len)
        return false;
    pm_cursor_init(&h.at, section.p + offset, section.len - offset);
    uint64_t value, header_length, line_range, opcode_base;
    if (!enter_unit(&h) || !fixed(&h, 2, &h.version) || h.version < 2 || h.version > 5)
        return false;
    if (h.version == 5 && (!fixed(&h, 1, &value) || (value != 4 && value != 8) ||
                           !fixed(&h, 1, &value) || value != 0))
        return false;
    if (!fixed(&h, h.offset_bytes, &header_length) || header_length > (uint64_t)(h.at.end - h.at.p))
        return false;
    h.at.end = h.at.p + header_length;
    if (!fixed(&h, 1, &value) || (h.version >= 4 && (!fixed(&h, 1, &value) || value == 0)) ||
        !fixed(&h, 1, &value) || !fixed(&h, 1, &value) || !fixed(&h, 1, &line_range) ||
        !fixed(&h, 1, &opcode_base) || line_range == 0 || opcode_base == 0)
        return false;
    for (uint64_t i = 1; i < opcode_base; i++)
        if (!fixed(&h, 1, &value))
            return false;
    return h.version == 5 ? skip_table(&h) && skip_table(&h)
                          : skip_names(&h, 0) && skip_names(&h, 3);
}
