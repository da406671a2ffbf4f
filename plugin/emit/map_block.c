/* The late map of one emitted function as assembler text. */
#include "map_block.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* The blocks of one section of code, and the ids that they share. */
struct pm_map_section {
    unsigned number;
    bool shares;
    char *label, *anchor, *anchor_label;
    struct pm_positions ids;
};

struct pm_map_encoder {
    struct pm_facts *facts;
    pm_map_label *add_label;
    unsigned n_blocks;
    /* --- the block that is being written --- */
    const struct pm_map_function *map;
    const struct pm_map_part *part;
    /* What its tables hold, in the order of first use. */
    struct pm_positions functions, files, loops, objects;
    struct pm_positions sites; /* indices of map->sites */
    struct pm_buf ranges;
    bool failed;
    /* The newest tuple written, as the next one refers to it. */
    unsigned n_tuples;
    uint32_t *written; /* by tuple: its number in the block, from 1; 0: not yet */
    int site;
    struct pm_text_point place;
    unsigned file, loop;
};

enum { MAX_TEXT_BYTES = INT_MAX };

struct pm_map_encoder *pm_map_encoder_new(struct pm_facts *facts, pm_map_label *add_label)
{
    struct pm_map_encoder *encoder = pm_alloc(sizeof *encoder);
    if (!encoder)
        return NULL;
    encoder->facts = facts;
    encoder->add_label = add_label;
    encoder->ranges = (struct pm_buf)PM_BUF_INIT(MAX_TEXT_BYTES);
    return encoder;
}

void pm_map_encoder_free(struct pm_map_encoder *encoder)
{
    if (!encoder)
        return;
    pm_positions_release(&encoder->functions);
    pm_positions_release(&encoder->files);
    pm_positions_release(&encoder->loops);
    pm_positions_release(&encoder->objects);
    pm_positions_release(&encoder->sites);
    pm_buf_release(&encoder->ranges);
    free(encoder);
}

struct pm_map_section *pm_map_section_new(unsigned number, const char *label, const char *anchor,
                                          const char *anchor_label, bool shares)
{
    struct pm_map_section *section = pm_alloc(sizeof *section);
    if (!section)
        return NULL;
    section->number = number;
    section->shares = shares;
    section->label = pm_strndup(label, strlen(label));
    section->anchor = pm_strndup(anchor, strlen(anchor));
    section->anchor_label = pm_strndup(anchor_label, strlen(anchor_label));
    if (section->label && section->anchor && section->anchor_label)
        return section;
    pm_map_section_free(section);
    return NULL;
}

void pm_map_section_free(struct pm_map_section *section)
{
    if (!section)
        return;
    free(section->label);
    free(section->anchor);
    free(section->anchor_label);
    pm_positions_release(&section->ids);
    free(section);
}

void pm_map_anchor_name(pm_id symbol, bool is_cold, const char *folder, const char *options,
                        char ret_name[PM_MAP_ANCHOR_BYTES])
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, is_cold ? "cold" : "hot");
    pm_id_hash_id(&hash, symbol);
    if (folder) {
        pm_id_hash_string(&hash, folder);
        pm_id_hash_string(&hash, options);
    }
    snprintf(ret_name, PM_MAP_ANCHOR_BYTES, "__perfmap_code_%016llx",
             (unsigned long long)pm_id_hash_done(&hash));
}

/* Of no size, not the function's that the label is: debuggers show the symbol that has one. */
void pm_map_anchor_write(const char *name, const char *label, struct pm_buf *out)
{
    pm_buf_printf(out, "\t.weak %s\n\t.hidden %s\n\t.set %s,%s\n", name, name, name, label);
    pm_buf_printf(out, "\t.type %s,@notype\n\t.size %s,0\n", name, name);
}

/* --- accesses --- */

static int compare_accesses(const void *a, const void *b)
{
    const struct pm_access *one = a, *other = b;
    if (one->noun != other->noun)
        return one->noun < other->noun ? -1 : 1;
    return (int)(one->access & PM_MAP_THROUGH) - (int)(other->access & PM_MAP_THROUGH);
}

size_t pm_accesses_sort(struct pm_access *accesses, size_t n)
{
    size_t kept = 0;
    if (n > 1)
        qsort(accesses, n, sizeof *accesses, compare_accesses);
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && compare_accesses(&accesses[kept - 1], &accesses[i]) == 0)
            accesses[kept - 1].access |= accesses[i].access;
        else
            accesses[kept++] = accesses[i];
    }
    return kept;
}

/* --- numbers: each behind a comma --- */

static void add_number(struct pm_buf *out, uint64_t number)
{
    char digits[24], *p = digits + sizeof digits;
    do
        *--p = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    *--p = ',';
    pm_buf_add(out, p, (size_t)(digits + sizeof digits - p));
}

static uint64_t zigzag(int64_t number)
{
    return number < 0 ? ((uint64_t) - (number + 1) << 1) + 1 : (uint64_t)number << 1;
}

static void add_difference(struct pm_buf *out, unsigned line, unsigned from)
{
    add_number(out, zigzag((int64_t)line - (int64_t)from));
}

/* --- nouns, which the facts must hold --- */

static unsigned function_position(struct pm_map_encoder *encoder,
                                  const struct pm_source_function *function)
{
    uint32_t n = encoder->functions.n;
    uint32_t position = pm_positions_add(&encoder->functions, function->id);
    if (position == n)
        pm_fact_function(encoder->facts, function);
    return position;
}

static unsigned file_position(struct pm_map_encoder *encoder, const struct pm_place *place)
{
    return pm_positions_add(&encoder->files,
                            pm_fact_file(encoder->facts, place->file, place->shown));
}

/* --- sites --- */

/* 0 the function itself, else the number of the site and one. */
static unsigned site_number(struct pm_map_encoder *encoder, int site)
{
    return site >= 0 ? pm_positions_add(&encoder->sites, (uint64_t)site) + 1 : 0;
}

struct ordered_site {
    unsigned depth, line;
    int site;
};

static int compare_sites(const void *a, const void *b)
{
    const struct ordered_site *one = a, *other = b;
    if (one->depth != other->depth)
        return one->depth < other->depth ? -1 : 1;
    if (one->line != other->line)
        return one->line < other->line ? -1 : 1;
    return one->site < other->site ? -1 : one->site > other->site;
}

static unsigned site_depth(const struct pm_map_function *map, int site)
{
    unsigned depth = 0;
    for (; site >= 0; site = map->sites[site].parent)
        depth++;
    return depth;
}

/* Those that the part needs, and those around them. */
static size_t used_sites(const struct pm_map_function *map, const struct pm_map_part *part,
                         bool *used, struct ordered_site *ret_sites)
{
    size_t n = 0;
    for (uint32_t i = 0; i < part->n_ranges; i++) {
        int site = map->tuples[part->ranges[i].tuple].site;
        for (; site >= 0 && !used[site]; site = map->sites[site].parent) {
            used[site] = true;
            ret_sites[n++] =
                (struct ordered_site){site_depth(map, site), map->sites[site].call.line, site};
        }
    }
    return n;
}

/* Those around a site come before it; then by line, for their lines are written as differences. */
static bool number_sites(struct pm_map_encoder *encoder)
{
    size_t n_sites = encoder->map->n_sites;
    if (n_sites == 0)
        return true;
    bool *used = pm_alloc_array(n_sites, sizeof *used);
    struct ordered_site *order = pm_alloc_array(n_sites, sizeof *order);
    bool done = used && order;
    if (done) {
        size_t n = used_sites(encoder->map, encoder->part, used, order);
        qsort(order, n, sizeof *order, compare_sites);
        for (size_t i = 0; i < n; i++)
            site_number(encoder, order[i].site);
    }
    free(used);
    free(order);
    return done;
}

/* The table of sites. */
static void add_sites(struct pm_map_encoder *encoder, struct pm_buf *out)
{
    unsigned line_before = 0;
    for (uint32_t i = 0; i < encoder->sites.n; i++) {
        const struct pm_map_site *site = &encoder->map->sites[encoder->sites.items[i]];
        pm_buf_add_str(out, "\t.uleb128 ");
        pm_buf_add_u64(out, site_number(encoder, site->parent));
        add_number(out, function_position(encoder, site->function));
        add_number(out, site->call.line != 0 ? file_position(encoder, &site->call) : 0);
        add_difference(out, site->call.line, line_before);
        add_number(out, site->call.column);
        pm_buf_add_byte(out, '\n');
        line_before = site->call.line;
    }
}

/* --- objects --- */

struct counted_noun {
    uint32_t count;
    pm_id noun;
};

static int compare_counts(const void *a, const void *b)
{
    const struct counted_noun *one = a, *other = b;
    if (one->count != other->count)
        return one->count > other->count ? -1 : 1;
    return one->noun < other->noun ? -1 : one->noun > other->noun;
}

static uint32_t most_objects(const struct pm_map_function *map, const struct pm_map_part *part)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < part->n_ranges; i++)
        n += map->objects[map->tuples[part->ranges[i].tuple].objects].n;
    return n;
}

/* In how many tuples of the part each noun is. Positions of nouns are indices of ret_counts. */
static void count_objects(struct pm_map_encoder *encoder, bool *seen, struct pm_positions *nouns,
                          struct counted_noun *ret_counts)
{
    const struct pm_map_function *map = encoder->map;
    for (uint32_t i = 0; i < encoder->part->n_ranges; i++) {
        int tuple = encoder->part->ranges[i].tuple;
        if (seen[tuple])
            continue;
        seen[tuple] = true;
        struct pm_map_objects set = map->objects[map->tuples[tuple].objects];
        for (uint32_t k = 0; k < set.n && !nouns->failed; k++) {
            pm_id noun = map->accesses[set.first + k].noun;
            uint32_t position = pm_positions_add(nouns, noun);
            if (nouns->failed)
                return;
            ret_counts[position].noun = noun;
            ret_counts[position].count++;
        }
    }
}

/* What is touched by most tuples gets the small numbers: 1 % of the whole. */
static bool number_objects(struct pm_map_encoder *encoder)
{
    uint32_t most = most_objects(encoder->map, encoder->part);
    if (most == 0)
        return true;
    bool *seen = pm_alloc_array(encoder->map->n_tuples, sizeof *seen);
    struct counted_noun *counts = pm_alloc_array(most, sizeof *counts);
    struct pm_positions nouns = {0};
    bool done = seen && counts;
    if (done) {
        count_objects(encoder, seen, &nouns, counts);
        qsort(counts, nouns.n, sizeof *counts, compare_counts);
        for (uint32_t i = 0; i < nouns.n; i++)
            pm_positions_add(&encoder->objects, counts[i].noun);
        done = !nouns.failed;
    }
    pm_positions_release(&nouns);
    free(seen);
    free(counts);
    return done;
}

/* --- tuples --- */

/* What sleds and padding would say of place and loop means nothing: it stays what it was. */
static bool has_place(const struct pm_map_tuple *tuple)
{
    return tuple->kind != PM_MAP_SLED && tuple->kind != PM_MAP_PADDING;
}

static void add_objects(struct pm_map_encoder *encoder, struct pm_map_objects set)
{
    const struct pm_access *accesses = encoder->map->accesses + set.first;
    add_number(&encoder->ranges, set.n);
    for (uint32_t i = 0; i < set.n; i++)
        add_number(&encoder->ranges, (uint64_t)pm_positions_add(&encoder->objects, accesses[i].noun)
                                             << 3 |
                                         accesses[i].access);
}

/* A function of a system header that lost all its code has no noun yet. */
static void add_also(struct pm_map_encoder *encoder, const struct pm_map_tuple *tuple)
{
    struct pm_buf *out = &encoder->ranges;
    add_number(out, tuple->n_also);
    for (uint32_t i = 0; i < tuple->n_also; i++) {
        const struct pm_map_also *also = &encoder->map->also[tuple->first_also + i];
        add_number(out, (uint64_t)also->reason << 1 | also->inferred);
        add_number(out, function_position(encoder, also->function));
        add_number(out, file_position(encoder, &also->place));
        add_difference(out, also->place.line, tuple->place.line);
        add_number(out, also->place.column);
    }
}

static unsigned flags_of(const struct pm_map_encoder *encoder, const struct pm_map_tuple *tuple,
                         unsigned file, unsigned loop)
{
    unsigned flags = (unsigned)tuple->kind << PM_MAP_KIND_SHIFT;
    if (tuple->site != encoder->site)
        flags |= PM_MAP_SITE;
    if (!pm_text_point_same(pm_place_point(&tuple->place), encoder->place))
        flags |= PM_MAP_PLACE;
    if (file != encoder->file)
        flags |= PM_MAP_FILE;
    if (loop != encoder->loop)
        flags |= PM_MAP_LOOP;
    if (encoder->map->objects[tuple->objects].n != 0)
        flags |= PM_MAP_OBJECTS;
    if (tuple->n_also != 0)
        flags |= PM_MAP_ALSO;
    if (tuple->unnamed)
        flags |= PM_MAP_UNNAMED;
    return flags;
}

static void add_tuple(struct pm_map_encoder *encoder, const struct pm_map_tuple *tuple)
{
    struct pm_buf *out = &encoder->ranges;
    if (!has_place(tuple)) {
        add_number(out, (unsigned)tuple->kind << PM_MAP_KIND_SHIFT);
        return;
    }
    unsigned file = tuple->place.line != 0 ? file_position(encoder, &tuple->place) : encoder->file;
    unsigned loop = tuple->loop != 0 ? pm_positions_add(&encoder->loops, tuple->loop) + 1 : 0;
    unsigned flags = flags_of(encoder, tuple, file, loop);
    add_number(out, flags);
    if (flags & PM_MAP_SITE)
        add_number(out, site_number(encoder, tuple->site));
    if (flags & PM_MAP_PLACE) {
        add_difference(out, tuple->place.line, encoder->place.line);
        add_number(out, tuple->place.column);
    }
    if (flags & PM_MAP_FILE)
        add_number(out, file);
    if (flags & PM_MAP_LOOP)
        add_number(out, loop);
    if (flags & PM_MAP_OBJECTS)
        add_objects(encoder, encoder->map->objects[tuple->objects]);
    if (flags & PM_MAP_ALSO)
        add_also(encoder, tuple);
    encoder->site = tuple->site;
    encoder->place = pm_place_point(&tuple->place);
    encoder->file = file;
    encoder->loop = loop;
}

/* --- ranges --- */

/* Which tuple: a new one is written behind it. */
static void add_reference(struct pm_map_encoder *encoder, int tuple)
{
    uint32_t *written = &encoder->written[tuple];
    if (*written != 0) {
        add_number(&encoder->ranges, encoder->n_tuples - *written + 1);
        return;
    }
    *written = ++encoder->n_tuples;
    add_number(&encoder->ranges, 0);
    add_tuple(encoder, &encoder->map->tuples[tuple]);
}

/* Of each range its length, and which tuple. */
static bool add_ranges(struct pm_map_encoder *encoder)
{
    enum { RANGES_IN_LINE = 16 };
    const struct pm_map_part *part = encoder->part;
    struct pm_buf *out = &encoder->ranges;
    encoder->written = pm_alloc_array(encoder->map->n_tuples, sizeof *encoder->written);
    if (!encoder->written)
        return false;
    for (uint32_t i = 0; i < part->n_ranges; i++) {
        const struct pm_map_range *range = &part->ranges[i];
        if (i % RANGES_IN_LINE != 0)
            pm_buf_add_byte(out, ',');
        else
            pm_buf_add_str(out, i == 0 ? "\t.uleb128 " : "\n\t.uleb128 ");
        encoder->add_label(out, i + 1 < part->n_ranges ? range[1].label : part->end);
        pm_buf_add_byte(out, '-');
        encoder->add_label(out, range->label);
        add_reference(encoder, range->tuple);
    }
    pm_buf_add_byte(out, '\n');
    free(encoder->written);
    encoder->written = NULL;
    return true;
}

/* --- text --- */

/* "o" ties it to the code, "?" puts it into the code's group. */
static void open_section(struct pm_buf *out, const struct pm_map_section *section,
                         const char *flags)
{
    pm_buf_printf(out, "\t.pushsection " PM_MAP_SECTION ",\"%s\",@progbits,", flags);
    pm_buf_add_str(out, section->label);
    pm_buf_add_byte(out, '\n');
}

/* Up to the address. */
static void begin_header(struct pm_buf *out, const char *name, unsigned number, unsigned flags)
{
    pm_buf_printf(out, ".Lpm_%s%u:\n\t.ascii \"" PM_MAP_MAGIC "\"\n\t.2byte %u,%u\n", name, number,
                  PM_MAP_VERSION, flags);
    pm_buf_printf(out, "\t.4byte .Lpm_%s_end%u-.Lpm_%s%u\n\t.8byte ", name, number, name, number);
}

static void end_header(struct pm_buf *out, pm_id symbol)
{
    pm_buf_printf(out, ",0x%llx\n", (unsigned long long)symbol);
}

static void end_block(struct pm_buf *out, const char *name, unsigned number)
{
    pm_buf_printf(out, ".Lpm_%s_end%u:\n\t.popsection\n", name, number);
}

static void add_ids(struct pm_buf *out, const struct pm_positions *ids)
{
    pm_buf_printf(out, "\t.uleb128 %u\n", ids->n);
    for (uint32_t i = 0; i < ids->n; i++)
        pm_buf_printf(out, "\t.8byte 0x%llx\n", (unsigned long long)ids->items[i]);
}

static void add_table(struct pm_buf *out, struct pm_map_section *section,
                      const struct pm_positions *ids)
{
    if (!section->shares) {
        add_ids(out, ids);
        return;
    }
    pm_buf_add_str(out, "\t.uleb128 ");
    pm_buf_add_u64(out, ids->n);
    for (uint32_t i = 0; i < ids->n; i++)
        add_number(out, pm_positions_add(&section->ids, ids->items[i]));
    pm_buf_add_byte(out, '\n');
}

/* gold refuses references from here to local symbols of code that it has dropped, to global ones
 * it does not. So the addresses of a section are distances from one global symbol. */
static void add_address(struct pm_map_encoder *encoder, const struct pm_map_section *section,
                        struct pm_buf *out)
{
    pm_buf_add_str(out, section->anchor);
    pm_buf_add_str(out, "+(");
    encoder->add_label(out, encoder->part->begin);
    pm_buf_add_byte(out, '-');
    pm_buf_add_str(out, section->anchor_label);
    pm_buf_add_byte(out, ')');
}

static void begin(struct pm_map_encoder *encoder, const struct pm_map_function *map,
                  const struct pm_map_part *part)
{
    encoder->map = map;
    encoder->part = part;
    pm_positions_clear(&encoder->functions);
    pm_positions_clear(&encoder->files);
    pm_positions_clear(&encoder->loops);
    pm_positions_clear(&encoder->objects);
    pm_positions_clear(&encoder->sites);
    pm_buf_clear(&encoder->ranges);
    encoder->n_tuples = 0;
    encoder->site = -1;
    encoder->place = (struct pm_text_point){0, 0};
    encoder->file = encoder->loop = 0;
}

static bool has_failed(const struct pm_map_encoder *encoder, const struct pm_map_section *section)
{
    return encoder->functions.failed || encoder->files.failed || encoder->loops.failed ||
           encoder->objects.failed || encoder->sites.failed || encoder->ranges.failed ||
           section->ids.failed;
}

/* The ranges are worked out first: they say what is in the tables. */
static void add_block(struct pm_map_encoder *encoder, struct pm_map_section *section,
                      const struct pm_buf *sites, struct pm_buf *out)
{
    unsigned number = encoder->n_blocks++;
    unsigned flags = encoder->part->is_cold ? PM_MAP_BLOCK_COLD : 0;
    if (section->shares)
        flags |= PM_MAP_BLOCK_SHARED;
    open_section(out, section, "o?");
    begin_header(out, "map", number, flags);
    add_address(encoder, section, out);
    end_header(out, encoder->map->symbol);
    if (section->shares)
        pm_buf_printf(out, "\t.4byte .Lpm_ids%u-.Lpm_map%u\n", section->number, number);
    add_table(out, section, &encoder->functions);
    add_table(out, section, &encoder->files);
    add_table(out, section, &encoder->loops);
    add_table(out, section, &encoder->objects);
    pm_buf_printf(out, "\t.uleb128 %u\n", encoder->sites.n);
    pm_buf_add(out, sites->data, sites->len);
    pm_buf_add(out, encoder->ranges.data, encoder->ranges.len);
    end_block(out, "map", number);
}

void pm_map_block_write(struct pm_map_encoder *encoder, const struct pm_map_function *map,
                        const struct pm_map_part *part, struct pm_map_section *section,
                        struct pm_buf *out)
{
    struct pm_buf sites = PM_BUF_INIT(MAX_TEXT_BYTES);
    begin(encoder, map, part);
    function_position(encoder, map->function);
    bool done = number_sites(encoder) && number_objects(encoder) && add_ranges(encoder);
    add_sites(encoder, &sites);
    if (done)
        add_block(encoder, section, &sites, out);
    if (!done || sites.failed || has_failed(encoder, section))
        out->failed = true;
    pm_buf_release(&sites);
}

void pm_map_ids_write(const struct pm_map_section *section, struct pm_buf *out)
{
    if (section->ids.n == 0)
        return;
    open_section(out, section, "o");
    begin_header(out, "ids", section->number, PM_MAP_BLOCK_IDS);
    pm_buf_add_byte(out, '0');
    end_header(out, 0);
    add_ids(out, &section->ids);
    end_block(out, "ids", section->number);
}
