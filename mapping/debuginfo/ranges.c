#include "ranges.h"

#include "bytes.h"

struct reading {
    struct pm_ranges *ranges;
    struct pm_cursor at;
    bool is_big_endian;
    uint64_t base;
    pm_range_found *found;
    void *ctx;
};

static uint64_t address_mask(const struct pm_ranges *ranges)
{
    return ranges->address_bytes == 4 ? UINT32_MAX : UINT64_MAX;
}

static bool indexed(const struct pm_ranges *ranges, uint64_t index, uint64_t *ret_address)
{
    struct pm_bytes bytes = pm_dwarf_bytes(ranges->addresses, PM_DWARF_ADDR);
    if (index > bytes.len || ranges->addr_base > bytes.len)
        return false;
    return pm_fixed_at(bytes.p, bytes.len, ranges->addr_base + index * ranges->address_bytes,
                       ranges->address_bytes, pm_dwarf_is_big_endian(ranges->addresses),
                       ret_address);
}

bool pm_ranges_address(const struct pm_ranges *ranges, struct pm_dwarf_value value,
                       uint64_t *ret_address)
{
    if (value.form == PM_DWARF_ADDRESS_INDEX)
        return indexed(ranges, value.value, ret_address);
    *ret_address = value.value;
    return value.form == PM_DWARF_ADDRESS;
}

static void tell(struct reading *r, uint64_t low, uint64_t high)
{
    low &= address_mask(r->ranges);
    high &= address_mask(r->ranges);
    if (low < high)
        r->found(r->ctx, low, high);
}

static bool begin(struct reading *r, enum pm_dwarf_section section, uint64_t offset,
                  const struct pm_dwarf *dwarf)
{
    struct pm_bytes bytes = pm_dwarf_bytes(dwarf, section);
    if (offset >= bytes.len)
        return false;
    r->is_big_endian = pm_dwarf_is_big_endian(dwarf);
    pm_cursor_init(&r->at, bytes.p + offset, bytes.len - offset);
    return true;
}

/* Pairs of addresses relative to the base; a largest address first sets the base; two zeros end
 * the list. */
static void read_ranges(struct reading *r)
{
    struct pm_ranges *ranges = r->ranges;
    for (uint64_t low, high; ranges->n_entries_left > 0; ranges->n_entries_left--) {
        if (!pm_cursor_fixed(&r->at, ranges->address_bytes, r->is_big_endian, &low) ||
            !pm_cursor_fixed(&r->at, ranges->address_bytes, r->is_big_endian, &high) ||
            (low == 0 && high == 0))
            return;
        if (low == address_mask(ranges))
            r->base = high;
        else
            tell(r, r->base + low, r->base + high);
    }
}

enum {
    RLE_END = 0,
    RLE_BASE_INDEX = 1,
    RLE_START_END_INDEX = 2,
    RLE_START_INDEX_LENGTH = 3,
    RLE_OFFSET_PAIR = 4,
    RLE_BASE = 5,
    RLE_START_END = 6,
    RLE_START_LENGTH = 7
};

static bool fixed_address(struct reading *r, uint64_t *ret_address)
{
    return pm_cursor_fixed(&r->at, r->ranges->address_bytes, r->is_big_endian, ret_address);
}

static bool indexed_address(struct reading *r, uint64_t *ret_address)
{
    uint64_t index;
    return pm_cursor_uleb(&r->at, &index) && indexed(r->ranges, index, ret_address);
}

/* false: the list ends */
static bool read_rnglist_entry(struct reading *r, unsigned kind)
{
    uint64_t a, b;
    switch (kind) {
    case RLE_BASE_INDEX:
        return indexed_address(r, &r->base);
    case RLE_START_END_INDEX:
        if (!indexed_address(r, &a) || !indexed_address(r, &b))
            return false;
        tell(r, a, b);
        return true;
    case RLE_START_INDEX_LENGTH:
        if (!indexed_address(r, &a) || !pm_cursor_uleb(&r->at, &b))
            return false;
        tell(r, a, a + b);
        return true;
    case RLE_OFFSET_PAIR:
        if (!pm_cursor_uleb(&r->at, &a) || !pm_cursor_uleb(&r->at, &b))
            return false;
        tell(r, r->base + a, r->base + b);
        return true;
    case RLE_BASE:
        return fixed_address(r, &r->base);
    case RLE_START_END:
        if (!fixed_address(r, &a) || !fixed_address(r, &b))
            return false;
        tell(r, a, b);
        return true;
    case RLE_START_LENGTH:
        if (!fixed_address(r, &a) || !pm_cursor_uleb(&r->at, &b))
            return false;
        tell(r, a, a + b);
        return true;
    default:
        return false;
    }
}

static void read_rnglist(struct reading *r)
{
    for (uint64_t kind; r->ranges->n_entries_left > 0; r->ranges->n_entries_left--)
        if (!pm_cursor_fixed(&r->at, 1, r->is_big_endian, &kind) || kind == RLE_END ||
            !read_rnglist_entry(r, (unsigned)kind))
            return;
}

/* Where the list with this index begins: offsets stand behind the header, counted from there. */
static bool list_offset(const struct pm_ranges *ranges, uint64_t index, uint64_t *ret_offset)
{
    struct pm_bytes bytes = pm_dwarf_bytes(ranges->lists, PM_DWARF_RNGLISTS);
    uint64_t offset;
    if (index > bytes.len || ranges->rnglists_base > bytes.len ||
        !pm_fixed_at(bytes.p, bytes.len, ranges->rnglists_base + index * ranges->offset_bytes,
                     ranges->offset_bytes, pm_dwarf_is_big_endian(ranges->lists), &offset) ||
        offset > bytes.len)
        return false;
    *ret_offset = ranges->rnglists_base + offset;
    return true;
}

static void read_list(struct reading *r, struct pm_dwarf_value value)
{
    struct pm_ranges *ranges = r->ranges;
    uint64_t offset = value.value;
    if (ranges->version < 5) {
        if (value.form == PM_DWARF_NUMBER &&
            begin(r, PM_DWARF_RANGES, offset + ranges->ranges_base, ranges->addresses))
            read_ranges(r);
        return;
    }
    if (value.form == PM_DWARF_LIST_INDEX && !list_offset(ranges, value.value, &offset))
        return;
    if (begin(r, PM_DWARF_RNGLISTS, offset, ranges->lists))
        read_rnglist(r);
}

void pm_ranges_of(struct pm_ranges *ranges, const struct pm_dwarf_die *die, pm_range_found *found,
                  void *ctx)
{
    struct reading r = {.ranges = ranges, .base = ranges->base, .found = found, .ctx = ctx};
    uint64_t low, high;
    if (die->ranges.form != PM_DWARF_ABSENT) {
        read_list(&r, die->ranges);
        return;
    }
    if (die->high.form == PM_DWARF_ABSENT || !pm_ranges_address(ranges, die->low, &low))
        return;
    if (die->high.form == PM_DWARF_NUMBER)
        tell(&r, low, low + die->high.value);
    else if (pm_ranges_address(ranges, die->high, &high))
        tell(&r, low, high);
}
