/* The late map, the reading side: format/pm_map.h.
 *
 * A block is decoded into vectors that the next one reuses, and becomes part of the map when all
 * of it is sound. Counts are bounded by the bytes that their items need at least, so that memory
 * grows with the section and not with what it claims. */
#include "code_map.h"

#include "../base/arena.h"
#include "../base/elf.h"

#include <endian.h>
#include <stdlib.h>

enum {
    SECTION_MAX_BYTES = 1 << 28,
    PROBLEM_BYTES = 200,
    ID_BYTES = 8,
    SITE_MIN_BYTES = 5,
    ALSO_MIN_BYTES = 5,
    KNOWN_FLAGS = PM_MAP_SITE | PM_MAP_PLACE | PM_MAP_FILE | PM_MAP_LOOP | PM_MAP_OBJECTS |
                  PM_MAP_ALSO | PM_MAP_UNNAMED,
};
#define NONE UINT32_MAX

struct pm_code_map {
    struct pm_arena arena;
    struct pm_code_block *blocks; /* by address, equal ones as they came */
    struct pm_code_range *ranges; /* block by block, each block's by address */
    uint64_t *reach;              /* of each block: where it and all before it end */
    size_t n_blocks, n_ranges;
    size_t n_damaged;
    char problem[PROBLEM_BYTES];
};

/* --- vectors --- */

struct vector {
    void *items;
    size_t n, max;
};

/* The new last item, zeroed; NULL: memory. Items have one size in each vector. */
static void *add_item(struct vector *vector, size_t item_bytes)
{
    if (vector->n == vector->max) {
        size_t max = vector->max ? vector->max * 2 : 64;
        void *items = pm_realloc_array(vector->items, max, item_bytes);
        if (!items)
            return NULL;
        vector->items = items;
        vector->max = max;
    }
    return memset((char *)vector->items + vector->n++ * item_bytes, 0, item_bytes);
}

/* --- one block --- */

/* A tuple that is being made: its lists lie in the decoder's vectors. */
struct draft {
    struct pm_code_tuple tuple;
    size_t first_object, first_also;
    uint32_t hash, next; /* next of the same bucket */
};

struct draft_range {
    uint32_t size_bytes, tuple;
};

struct decoder {
    struct pm_code_map *map;
    struct vector blocks,
        ranges; /* of the map, as they come: struct pm_code_block, pm_code_range */
    bool no_memory;
    size_t n_other_versions;

    /* of the block */
    struct pm_cursor in;
    const char *why; /* it is damaged */
    struct pm_code_block block;
    struct pm_str shared; /* the ids that its tables refer to; p NULL: they hold ids */
    struct vector functions, files, loops, object_ids; /* pm_id */
    struct pm_code_site *sites;
    uint32_t n_sites;
    struct vector drafts, draft_ranges, objects, also;
    struct vector written; /* uint32_t: draft of each new tuple as it came, for repetitions */
    uint32_t *buckets;     /* of drafts by hash: NONE, or the first */
    size_t n_buckets;      /* a power of two */
    struct {
        uint64_t site, file, loop;
        uint32_t line_no, column_no;
    } before; /* the new tuple before */
};

static bool bad(struct decoder *d, const char *why)
{
    if (!d->why)
        d->why = why;
    return false;
}

static bool no_memory(struct decoder *d)
{
    d->no_memory = true;
    return false;
}

static size_t bytes_left(const struct decoder *d)
{
    return (size_t)(d->in.end - d->in.p);
}

static bool read_number(struct decoder *d, uint64_t max, const char *why, uint64_t *ret_number)
{
    uint64_t number;
    if (!pm_cursor_uleb(&d->in, &number))
        return bad(d, "it ends in the middle of a number");
    if (number > max)
        return bad(d, why);
    *ret_number = number;
    return true;
}

/* A line, written as its distance from another one. */
static bool read_line(struct decoder *d, uint32_t from, uint32_t *ret_line_no)
{
    int64_t line_no;
    if (!pm_cursor_sleb(&d->in, &line_no))
        return bad(d, "it ends in the middle of a number");
    if (__builtin_add_overflow(line_no, from, &line_no) || line_no < 0 || line_no > UINT32_MAX)
        return bad(d, "a line number is out of range");
    *ret_line_no = (uint32_t)line_no;
    return true;
}

static bool read_column(struct decoder *d, uint32_t *ret_column_no)
{
    uint64_t column_no;
    if (!read_number(d, UINT32_MAX, "a column is out of range", &column_no))
        return false;
    *ret_column_no = (uint32_t)column_no;
    return true;
}

/* A count of items that take at least so many bytes each. */
static bool read_count(struct decoder *d, size_t item_min_bytes, uint32_t *ret_n)
{
    uint64_t n;
    if (!read_number(d, UINT64_MAX, "", &n))
        return false;
    if (n > bytes_left(d) / item_min_bytes || n >= NONE)
        return bad(d, "it holds fewer items than it states");
    *ret_n = (uint32_t)n;
    return true;
}

static uint64_t fixed64(const char *p)
{
    uint64_t number;
    memcpy(&number, p, sizeof number);
    return le64toh(number);
}

static uint32_t fixed32(const char *p)
{
    uint32_t number;
    memcpy(&number, p, sizeof number);
    return le32toh(number);
}

static uint16_t fixed16(const char *p)
{
    uint16_t number;
    memcpy(&number, p, sizeof number);
    return le16toh(number);
}

/* --- tables --- */

static bool read_id(struct decoder *d, pm_id *ret_id)
{
    struct pm_str bytes;
    uint64_t position;
    if (!d->shared.p) {
        if (!pm_cursor_bytes(&d->in, ID_BYTES, &bytes))
            return bad(d, "it ends in an id");
        *ret_id = fixed64(bytes.p);
        return true;
    }
    if (!read_number(d, UINT64_MAX, "", &position))
        return false;
    if (position >= d->shared.len / ID_BYTES)
        return bad(d, "an id is not among the shared ones");
    *ret_id = fixed64(d->shared.p + position * ID_BYTES);
    return true;
}

static bool read_ids(struct decoder *d, struct vector *ids)
{
    uint32_t n;
    ids->n = 0;
    if (!read_count(d, d->shared.p ? 1 : ID_BYTES, &n))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        pm_id id, *kept_id;
        if (!read_id(d, &id))
            return false;
        kept_id = add_item(ids, sizeof *kept_id);
        if (!kept_id)
            return no_memory(d);
        *kept_id = id;
    }
    return true;
}

/* The ids that blocks share; rest begins with the block that refers to them. */
static bool find_shared_ids(struct decoder *d, struct pm_str rest)
{
    struct pm_str bytes;
    struct pm_cursor in;
    uint64_t n;
    if (!pm_cursor_bytes(&d->in, 4, &bytes))
        return bad(d, "it ends in its header");
    size_t at = fixed32(bytes.p);
    if (at > rest.len || rest.len - at < PM_MAP_BLOCK_HEADER ||
        memcmp(rest.p + at, PM_MAP_MAGIC, 4) || fixed16(rest.p + at + 4) != PM_MAP_VERSION ||
        !(fixed16(rest.p + at + 6) & PM_MAP_BLOCK_IDS))
        return bad(d, "its ids should be in a block that is not there");
    size_t size = fixed32(rest.p + at + 8);
    if (size < PM_MAP_BLOCK_HEADER || size > rest.len - at)
        return bad(d, "the block of its ids has a size that does not fit");
    pm_cursor_init(&in, rest.p + at + PM_MAP_BLOCK_HEADER, size - PM_MAP_BLOCK_HEADER);
    if (!pm_cursor_uleb(&in, &n) || n > (size_t)(in.end - in.p) / ID_BYTES)
        return bad(d, "the block of its ids holds fewer than it states");
    d->shared = (struct pm_str){(const char *)in.p, (size_t)n * ID_BYTES};
    return true;
}

/* 0 where the table is empty and the position the one that stands for "not stated". */
static pm_id id_at(const struct vector *ids, uint64_t position)
{
    return position < ids->n ? ((const pm_id *)ids->items)[position] : 0;
}

static bool read_file(struct decoder *d, uint32_t line_no, pm_id *ret_file, uint64_t *ret_position)
{
    if (!read_number(d, UINT64_MAX, "", ret_position))
        return false;
    if (*ret_position >= d->files.n && (line_no || *ret_position))
        return bad(d, "a file is not in its table");
    *ret_file = id_at(&d->files, *ret_position);
    return true;
}

static bool read_function(struct decoder *d, pm_id *ret_function)
{
    uint64_t position;
    if (!read_number(d, UINT64_MAX, "", &position))
        return false;
    if (position >= d->functions.n)
        return bad(d, "a function is not in its table");
    *ret_function = id_at(&d->functions, position);
    return true;
}

/* The function that a site's text is of; NULL: the symbol's own. */
static pm_id function_of(const struct decoder *d, const struct pm_code_site *site)
{
    return site ? site->function : d->block.function;
}

static bool read_site(struct decoder *d, uint32_t index, uint32_t line_before)
{
    struct pm_code_site *site = &d->sites[index];
    uint64_t parent, file;
    if (!read_number(d, index, "a site's parent does not come before it", &parent) ||
        !read_function(d, &site->function) ||
        !read_number(d, UINT32_MAX, "a file is not in its table", &file) ||
        !read_line(d, line_before, &site->call.line_no) || !read_column(d, &site->call.column_no))
        return false;
    if (file >= d->files.n && (file || site->call.line_no))
        return bad(d, "a file is not in its table");
    site->parent = parent ? &d->sites[parent - 1] : NULL;
    site->call.file = id_at(&d->files, file);
    site->call.function = function_of(d, site->parent);
    return true;
}

static bool read_sites(struct decoder *d)
{
    if (!read_count(d, SITE_MIN_BYTES, &d->n_sites))
        return false;
    d->sites = pm_arena_alloc(&d->map->arena, d->n_sites * sizeof *d->sites);
    if (!d->sites)
        return no_memory(d);
    for (uint32_t i = 0; i < d->n_sites; i++)
        if (!read_site(d, i, i ? d->sites[i - 1].call.line_no : 0))
            return false;
    return true;
}

/* --- tuples --- */

static bool read_objects(struct decoder *d, struct draft *draft)
{
    if (!read_count(d, 1, &draft->tuple.n_objects))
        return false;
    for (uint32_t i = 0; i < draft->tuple.n_objects; i++) {
        uint64_t number;
        if (!read_number(d, UINT64_MAX, "", &number))
            return false;
        if (number >> 3 >= d->object_ids.n)
            return bad(d, "an object is not in its table");
        struct pm_code_object *object = add_item(&d->objects, sizeof *object);
        if (!object)
            return no_memory(d);
        object->noun = id_at(&d->object_ids, number >> 3);
        object->access = number & (PM_MAP_READS | PM_MAP_WRITES | PM_MAP_THROUGH);
    }
    return true;
}

static bool read_also(struct decoder *d, struct draft *draft)
{
    if (!read_count(d, ALSO_MIN_BYTES, &draft->tuple.n_also))
        return false;
    for (uint32_t i = 0; i < draft->tuple.n_also; i++) {
        uint64_t reason, file;
        struct pm_code_also *also = add_item(&d->also, sizeof *also);
        if (!also)
            return no_memory(d);
        if (!read_number(d, (PM_MAP_COMBINED << 1) + 1, "a reason is not known", &reason) ||
            !read_function(d, &also->place.function) ||
            !read_file(d, 1, &also->place.file, &file) ||
            !read_line(d, draft->tuple.place.line_no, &also->place.line_no) ||
            !read_column(d, &also->place.column_no))
            return false;
        if (reason >> 1 == 0)
            return bad(d, "a reason is not known");
        also->reason = (enum pm_map_reason)(reason >> 1);
        also->inferred = reason & 1;
    }
    return true;
}

/* What is not written is as in the tuple before. */
static bool read_place(struct decoder *d, uint64_t flags, struct pm_code_tuple *tuple)
{
    if (flags & PM_MAP_SITE &&
        !read_number(d, d->n_sites, "a site is not in its table", &d->before.site))
        return false;
    if (flags & PM_MAP_PLACE && (!read_line(d, d->before.line_no, &d->before.line_no) ||
                                 !read_column(d, &d->before.column_no)))
        return false;
    pm_id file = id_at(&d->files, d->before.file);
    if (flags & PM_MAP_FILE && !read_file(d, 1, &file, &d->before.file))
        return false;
    if (flags & PM_MAP_LOOP &&
        !read_number(d, d->loops.n, "a loop is not in its table", &d->before.loop))
        return false;
    if (d->before.line_no && d->before.file >= d->files.n)
        return bad(d, "a place has no file");
    tuple->site = d->before.site ? &d->sites[d->before.site - 1] : NULL;
    tuple->place = (struct pm_code_place){function_of(d, tuple->site), file, d->before.line_no,
                                          d->before.column_no};
    tuple->loop = d->before.loop ? id_at(&d->loops, d->before.loop - 1) : 0;
    return true;
}

static bool read_draft(struct decoder *d, struct draft *draft)
{
    uint64_t flags;
    draft->first_object = d->objects.n;
    draft->first_also = d->also.n;
    if (!read_number(d, PM_MAP_PADDING << PM_MAP_KIND_SHIFT | 0xff, "a kind is not known", &flags))
        return false;
    if (flags & 0xff & ~(unsigned)KNOWN_FLAGS)
        return bad(d, "a flag is not known");
    draft->tuple.kind = (enum pm_map_kind)(flags >> PM_MAP_KIND_SHIFT);
    draft->tuple.unnamed = flags & PM_MAP_UNNAMED;
    return read_place(d, flags, &draft->tuple) &&
           (!(flags & PM_MAP_OBJECTS) || read_objects(d, draft)) &&
           (!(flags & PM_MAP_ALSO) || read_also(d, draft));
}

/* --- equal tuples are one --- */

static const struct pm_code_object *objects_of(const struct decoder *d, const struct draft *draft)
{
    return (const struct pm_code_object *)d->objects.items + draft->first_object;
}

static const struct pm_code_also *also_of(const struct decoder *d, const struct draft *draft)
{
    return (const struct pm_code_also *)d->also.items + draft->first_also;
}

/* After Fibonacci hashing (Knuth, volume 3, 6.4): a product spreads, its upper half is kept. */
static uint64_t mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

static uint32_t hash_of(const struct decoder *d, const struct draft *draft)
{
    const struct pm_code_tuple *tuple = &draft->tuple;
    uint64_t hash = mixed((uint64_t)tuple->kind << 1 | tuple->unnamed,
                          tuple->site ? (uint64_t)(tuple->site - d->sites) + 1 : 0);
    hash = mixed(hash, (uint64_t)tuple->place.line_no << 32 | tuple->place.column_no);
    hash = mixed(mixed(hash, tuple->place.file), tuple->loop);
    for (uint32_t i = 0; i < tuple->n_objects; i++)
        hash = mixed(hash, objects_of(d, draft)[i].noun + objects_of(d, draft)[i].access);
    for (uint32_t i = 0; i < tuple->n_also; i++)
        hash = mixed(hash, also_of(d, draft)[i].place.line_no);
    return (uint32_t)hash;
}

static bool same_place(const struct pm_code_place *a, const struct pm_code_place *b)
{
    return a->function == b->function && a->file == b->file && a->line_no == b->line_no &&
           a->column_no == b->column_no;
}

static bool same_draft(const struct decoder *d, const struct draft *a, const struct draft *b)
{
    const struct pm_code_tuple *x = &a->tuple, *y = &b->tuple;
    if (x->kind != y->kind || x->unnamed != y->unnamed || x->site != y->site ||
        !same_place(&x->place, &y->place) || x->loop != y->loop || x->n_objects != y->n_objects ||
        x->n_also != y->n_also)
        return false;
    for (uint32_t i = 0; i < x->n_objects; i++) {
        const struct pm_code_object *one = &objects_of(d, a)[i], *other = &objects_of(d, b)[i];
        if (one->noun != other->noun || one->access != other->access)
            return false;
    }
    for (uint32_t i = 0; i < x->n_also; i++) {
        const struct pm_code_also *one = &also_of(d, a)[i], *other = &also_of(d, b)[i];
        if (!same_place(&one->place, &other->place) || one->reason != other->reason ||
            one->inferred != other->inferred)
            return false;
    }
    return true;
}

static void put_in_bucket(struct decoder *d, uint32_t number)
{
    struct draft *draft = (struct draft *)d->drafts.items + number;
    uint32_t *bucket = &d->buckets[draft->hash & (d->n_buckets - 1)];
    draft->next = *bucket;
    *bucket = number;
}

/* Room for one more, at most one draft a bucket on average. */
static bool grow_buckets(struct decoder *d)
{
    if (d->drafts.n <= d->n_buckets && d->n_buckets)
        return true;
    size_t n = d->n_buckets ? d->n_buckets * 2 : 256;
    uint32_t *buckets = pm_realloc_array(d->buckets, n, sizeof *buckets);
    if (!buckets)
        return no_memory(d);
    d->buckets = buckets;
    d->n_buckets = n;
    memset(buckets, 0xff, n * sizeof *buckets);
    for (size_t i = 0; i + 1 < d->drafts.n; i++)
        put_in_bucket(d, (uint32_t)i);
    return true;
}

/* The last draft stays, or goes when there is an equal one. */
static bool settle_draft(struct decoder *d, uint32_t *ret_number)
{
    uint32_t number = (uint32_t)d->drafts.n - 1;
    struct draft *drafts = d->drafts.items, *draft = &drafts[number];
    draft->hash = hash_of(d, draft);
    if (!grow_buckets(d))
        return false;
    for (uint32_t i = d->buckets[draft->hash & (d->n_buckets - 1)]; i != NONE; i = drafts[i].next)
        if (drafts[i].hash == draft->hash && same_draft(d, &drafts[i], draft)) {
            d->objects.n = draft->first_object;
            d->also.n = draft->first_also;
            d->drafts.n--;
            *ret_number = i;
            return true;
        }
    draft->tuple.number = number;
    put_in_bucket(d, number);
    *ret_number = number;
    return true;
}

static bool read_new_tuple(struct decoder *d, uint32_t *ret_number)
{
    struct draft *draft = add_item(&d->drafts, sizeof *draft);
    if (!draft)
        return no_memory(d);
    if (!read_draft(d, draft) || !settle_draft(d, ret_number))
        return false;
    uint32_t *written = add_item(&d->written, sizeof *written);
    if (!written)
        return no_memory(d);
    *written = *ret_number;
    return true;
}

/* --- ranges --- */

static bool read_range(struct decoder *d)
{
    uint64_t size_bytes, ref, end;
    uint32_t number;
    if (!read_number(d, UINT32_MAX, "a range is longer than 4 GiB", &size_bytes) ||
        !read_number(d, d->written.n, "a range refers to a tuple before the first", &ref))
        return false;
    if (ref)
        number = ((const uint32_t *)d->written.items)[d->written.n - ref];
    else if (!read_new_tuple(d, &number))
        return false;
    if (size_bytes == 0)
        return true;
    if (__builtin_add_overflow(d->block.size_bytes, size_bytes, &d->block.size_bytes) ||
        __builtin_add_overflow(d->block.address, d->block.size_bytes, &end))
        return bad(d, "it ends beyond the last address");
    struct draft_range *range = add_item(&d->draft_ranges, sizeof *range);
    if (!range)
        return no_memory(d);
    *range = (struct draft_range){(uint32_t)size_bytes, number};
    return true;
}

/* Empties the buckets one by one: most blocks have far fewer tuples than the largest had. */
static void forget_block(struct decoder *d)
{
    for (size_t i = 0; d->n_buckets && i < d->drafts.n; i++)
        d->buckets[((struct draft *)d->drafts.items)[i].hash & (d->n_buckets - 1)] = NONE;
    d->drafts.n = d->draft_ranges.n = d->objects.n = d->also.n = d->written.n = 0;
    memset(&d->before, 0, sizeof d->before);
    d->why = NULL;
}

/* --- a sound block goes into the map --- */

static void *kept(struct decoder *d, const void *items, size_t n, size_t item_bytes)
{
    void *copy = pm_arena_alloc(&d->map->arena, n * item_bytes);
    if (copy && n)
        memcpy(copy, items, n * item_bytes);
    d->no_memory |= !copy;
    return copy;
}

static struct pm_code_tuple *keep_tuples(struct decoder *d)
{
    const struct draft *drafts = d->drafts.items;
    struct pm_code_tuple *tuples = pm_arena_alloc(&d->map->arena, d->drafts.n * sizeof *tuples);
    const struct pm_code_object *objects =
        kept(d, d->objects.items, d->objects.n, sizeof(struct pm_code_object));
    const struct pm_code_also *also =
        kept(d, d->also.items, d->also.n, sizeof(struct pm_code_also));
    d->no_memory |= !tuples;
    for (size_t i = 0; !d->no_memory && i < d->drafts.n; i++) {
        tuples[i] = drafts[i].tuple;
        tuples[i].objects = tuples[i].n_objects ? objects + drafts[i].first_object : NULL;
        tuples[i].also = tuples[i].n_also ? also + drafts[i].first_also : NULL;
    }
    return d->no_memory ? NULL : tuples;
}

static bool keep_block(struct decoder *d)
{
    const struct draft_range *ranges = d->draft_ranges.items;
    if (d->draft_ranges.n == 0)
        return true;
    if (d->draft_ranges.n > NONE - d->ranges.n)
        return bad(d, "there are more than 4294967295 ranges");
    const struct pm_code_tuple *tuples = keep_tuples(d);
    struct pm_code_block *block = tuples ? add_item(&d->blocks, sizeof *block) : NULL;
    if (!block)
        return no_memory(d);
    *block = d->block;
    block->tuples = tuples;
    block->n_tuples = (uint32_t)d->drafts.n;
    block->first_range = (uint32_t)d->ranges.n;
    block->n_ranges = (uint32_t)d->draft_ranges.n;
    uint64_t address = block->address;
    for (size_t i = 0; i < d->draft_ranges.n; i++) {
        struct pm_code_range *range = add_item(&d->ranges, sizeof *range);
        if (!range)
            return no_memory(d);
        *range =
            (struct pm_code_range){address, ranges[i].size_bytes, &tuples[ranges[i].tuple], NULL};
        address += range->size_bytes;
    }
    return true;
}

static bool read_block(struct decoder *d)
{
    if (!read_ids(d, &d->functions) || !read_ids(d, &d->files) || !read_ids(d, &d->loops) ||
        !read_ids(d, &d->object_ids))
        return false;
    d->block.function = id_at(&d->functions, 0);
    if (!read_sites(d))
        return false;
    while (d->in.p != d->in.end)
        if (!read_range(d))
            return false;
    return keep_block(d);
}

/* --- the section --- */

/* The one place where damage is told. */
static void note_damage(struct pm_code_map *map, size_t offset, const char *what)
{
    if (map->n_damaged++ == 0)
        snprintf(map->problem, sizeof map->problem, "block at byte %zu: %s", offset, what);
}

/* Why the header is of no use, or NULL and the block's size. */
static const char *header_problem(struct decoder *d, struct pm_str rest, size_t *ret_size)
{
    if (rest.len < PM_MAP_BLOCK_HEADER)
        return "it ends in its header";
    if (memcmp(rest.p, PM_MAP_MAGIC, 4))
        return "it does not begin with " PM_MAP_MAGIC;
    size_t size = fixed32(rest.p + 8);
    if (size < PM_MAP_BLOCK_HEADER || size > rest.len)
        return "its size does not fit";
    *ret_size = size;
    if (fixed16(rest.p + 4) == PM_MAP_VERSION)
        return NULL;
    d->n_other_versions++;
    return "it has another version than 1, which this perfmap reads";
}

/* Where the next block may begin after one that has no size. */
static size_t next_magic(struct pm_str rest)
{
    const char *next = rest.len > 4 ? memmem(rest.p + 1, rest.len - 1, PM_MAP_MAGIC, 4) : NULL;
    return next ? (size_t)(next - rest.p) : rest.len;
}

/* Reads the block that rest begins with, and tells how many bytes it took. */
static size_t take_block(struct decoder *d, struct pm_str rest, size_t offset)
{
    size_t size = 0;
    const char *problem = header_problem(d, rest, &size);
    if (problem) {
        note_damage(d->map, offset, problem);
        return size ? size : next_magic(rest);
    }
    d->block = (struct pm_code_block){.symbol = fixed64(rest.p + 20),
                                      .address = fixed64(rest.p + 12),
                                      .is_cold = fixed16(rest.p + 6) & PM_MAP_BLOCK_COLD};
    if (d->block.address == 0 || d->block.address == UINT64_MAX)
        return size; /* the linker dropped the code */
    pm_cursor_init(&d->in, rest.p + PM_MAP_BLOCK_HEADER, size - PM_MAP_BLOCK_HEADER);
    d->shared = (struct pm_str){NULL, 0};
    bool is_shared = fixed16(rest.p + 6) & PM_MAP_BLOCK_SHARED;
    if (((is_shared && !find_shared_ids(d, rest)) || !read_block(d)) && !d->no_memory)
        note_damage(d->map, offset, d->why ? d->why : "it ends too early");
    forget_block(d);
    return size;
}

static enum pm_status read_section(struct decoder *d, const char *name, struct pm_str bytes,
                                   struct pm_error *err)
{
    for (size_t at = 0; at < bytes.len && !d->no_memory;)
        at += take_block(d, (struct pm_str){bytes.p + at, bytes.len - at}, at);
    if (d->no_memory)
        return pm_error_set(err, PM_ERR_MEMORY, "'%s': no memory for its late map", name);
    return PM_OK;
}

static int by_address(const void *a, const void *b)
{
    const struct pm_code_block *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x->first_range < y->first_range ? -1 : x->first_range > y->first_range;
}

/* Puts blocks and their ranges in order. */
static bool sort_map(struct decoder *d)
{
    struct pm_code_map *map = d->map;
    struct pm_code_range *ranges = pm_alloc_array(d->ranges.n, sizeof *ranges);
    map->reach = pm_alloc_array(d->blocks.n, sizeof *map->reach);
    map->ranges = ranges;
    if (!ranges || !map->reach)
        return false;
    map->blocks = d->blocks.items;
    map->n_blocks = d->blocks.n;
    d->blocks.items = NULL;
    if (map->n_blocks)
        qsort(map->blocks, map->n_blocks, sizeof *map->blocks, by_address);
    uint64_t reach = 0;
    for (size_t i = 0; i < map->n_blocks; i++) {
        struct pm_code_block *block = &map->blocks[i];
        const struct pm_code_range *from =
            (const struct pm_code_range *)d->ranges.items + block->first_range;
        block->first_range = (uint32_t)map->n_ranges;
        for (uint32_t k = 0; k < block->n_ranges; k++) {
            ranges[map->n_ranges] = from[k];
            ranges[map->n_ranges++].block = block;
        }
        uint64_t end = block->address + block->size_bytes;
        map->reach[i] = reach = end > reach ? end : reach;
    }
    return true;
}

static enum pm_status complete(struct decoder *d, const char *name, struct pm_error *err)
{
    if (d->blocks.n == 0 && d->n_other_versions)
        return pm_error_set(err, PM_ERR_VERSION, "'%s': late map (" PM_MAP_SECTION "): %s", name,
                            d->map->problem);
    if (!sort_map(d))
        return pm_error_set(err, PM_ERR_MEMORY, "'%s': no memory for its late map", name);
    return PM_OK;
}

/* Releases all but the map, and the map too when it is not sound. */
static enum pm_status finish(struct decoder *d, const char *name, enum pm_status status,
                             struct pm_error *err)
{
    if (status == PM_OK)
        status = complete(d, name, err);
    struct vector *const vectors[] = {&d->blocks, &d->ranges,  &d->functions,    &d->files,
                                      &d->loops,  &d->drafts,  &d->draft_ranges, &d->object_ids,
                                      &d->also,   &d->objects, &d->written};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        free(vectors[i]->items);
    free(d->buckets);
    if (status != PM_OK)
        pm_code_map_free(d->map);
    return status;
}

enum pm_status pm_code_map_read(const char *name, const void *bytes, size_t len,
                                struct pm_error *err, struct pm_code_map **ret_map)
{
    struct decoder d = {.map = pm_alloc(sizeof *d.map)};
    if (!d.map)
        return pm_error_set(err, PM_ERR_MEMORY, "'%s': no memory for its late map", name);
    enum pm_status status = read_section(&d, name, (struct pm_str){bytes, len}, err);
    status = finish(&d, name, status, err);
    if (status != PM_OK)
        return status;
    *ret_map = d.map;
    return PM_OK;
}

/* --- ELF files --- */

struct search {
    struct decoder d;
    size_t n_sections;
};

static enum pm_status read_elf_section(void *context, const struct pm_elf_found *found,
                                       struct pm_error *err)
{
    struct search *s = context;
    struct pm_str bytes;
    if (!found->has_bytes)
        return PM_OK;
    if (!found->is_linked)
        return pm_error_set(
            err, PM_ERR_UNSUPPORTED,
            "'%s' is an object file: its code has no addresses before it is linked; "
            "name the program or library that it was linked into",
            found->path);
    enum pm_status status = pm_elf_load(found, SECTION_MAX_BYTES, err, &bytes);
    s->n_sections++;
    return status != PM_OK ? status : read_section(&s->d, found->path, bytes, err);
}

enum pm_status pm_code_map_read_elf(const char *path, struct pm_error *err,
                                    struct pm_code_map **ret_map)
{
    static const char *const names[] = {PM_MAP_SECTION, NULL};
    struct search s = {.d.map = pm_alloc(sizeof *s.d.map)};
    if (!s.d.map)
        return pm_error_set(err, PM_ERR_MEMORY, "'%s': no memory for its late map", path);
    enum pm_status status = pm_elf_visit(path, names, read_elf_section, &s, err);
    if (status == PM_OK && s.n_sections == 0)
        status = pm_error_set(err, PM_ERR_NOT_FOUND, "'%s' has no section " PM_MAP_SECTION, path);
    status = finish(&s.d, path, status, err);
    if (status != PM_OK)
        return status;
    *ret_map = s.d.map;
    return PM_OK;
}

void pm_code_map_free(struct pm_code_map *map)
{
    if (!map)
        return;
    pm_arena_release(&map->arena);
    free(map->blocks);
    free(map->ranges);
    free(map->reach);
    free(map);
}

/* --- looking at it --- */

const char *pm_code_map_problem(const struct pm_code_map *map, size_t *ret_n_damaged)
{
    if (ret_n_damaged)
        *ret_n_damaged = map->n_damaged;
    return map->n_damaged ? map->problem : NULL;
}

/* How many blocks begin at the address or before it. */
static size_t n_blocks_up_to(const struct pm_code_map *map, uint64_t address)
{
    size_t low = 0, high = map->n_blocks;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map->blocks[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool covers(const struct pm_code_block *block, uint64_t address)
{
    return address >= block->address && address - block->address < block->size_bytes;
}

static const struct pm_code_range *range_in(const struct pm_code_map *map,
                                            const struct pm_code_block *block, uint64_t address)
{
    size_t low = block->first_range, high = low + block->n_ranges;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (map->ranges[middle].address <= address)
            low = middle;
        else
            high = middle;
    }
    return &map->ranges[low];
}

/* Back from the last block that begins before, as far as any may reach: one step where blocks do
 * not overlap. */
const struct pm_code_range *pm_code_map_find(const struct pm_code_map *map, uint64_t address)
{
    const struct pm_code_block *first = NULL;
    for (size_t i = n_blocks_up_to(map, address); i > 0 && map->reach[i - 1] > address; i--)
        if (covers(&map->blocks[i - 1], address))
            first = &map->blocks[i - 1];
    return first ? range_in(map, first, address) : NULL;
}

const struct pm_code_range *pm_code_map_next_same(const struct pm_code_map *map,
                                                  const struct pm_code_range *range,
                                                  uint64_t address)
{
    const struct pm_code_block *end = map->blocks + map->n_blocks;
    for (const struct pm_code_block *block = range->block + 1;
         block < end && block->address <= address; block++)
        if (covers(block, address))
            return range_in(map, block, address);
    return NULL;
}

const struct pm_code_range *pm_code_map_ranges(const struct pm_code_map *map, size_t *ret_n)
{
    *ret_n = map->n_ranges;
    return map->ranges;
}

const struct pm_code_block *pm_code_map_blocks(const struct pm_code_map *map, size_t *ret_n)
{
    *ret_n = map->n_blocks;
    return map->blocks;
}

const char *pm_map_reason_text(enum pm_map_reason reason)
{
    static const char *const texts[] = {
        [PM_MAP_VECTORISED] = "vectorised together",
        [PM_MAP_STORES_MERGED] = "stores merged",
        [PM_MAP_LOOP_TO_CALL] = "loop became a call",
        [PM_MAP_FOLDED] = "equal functions folded",
        [PM_MAP_COMMON_TAIL] = "common end of several ways",
        [PM_MAP_LOOPS_FUSED] = "loops fused",
        [PM_MAP_COMBINED] = "computed together",
    };
    size_t i = (size_t)reason;
    return i < sizeof texts / sizeof *texts && texts[i] ? texts[i] : "unknown reason";
}
