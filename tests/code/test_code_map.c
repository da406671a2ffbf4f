#include "mapping/code/code_map.h"
#include "mapping/base/str.h"

#include <fcntl.h>
#include <gelf.h>
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* --- a small writer of blocks --- */

static void fixed(struct pm_buf *out, uint64_t number, int n_bytes)
{
    for (int i = 0; i < n_bytes; i++)
        pm_buf_add_byte(out, (unsigned char)(number >> 8 * i));
}

static void numbers(struct pm_buf *out, const uint64_t *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pm_buf_add_uleb(out, list[i]);
}
#define NUMBERS(out, ...)                         \
    numbers(out, (const uint64_t[]){__VA_ARGS__}, \
            sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void ids(struct pm_buf *out, const pm_id *list, size_t n)
{
    pm_buf_add_uleb(out, n);
    for (size_t i = 0; i < n; i++)
        fixed(out, list[i], 8);
}
#define IDS(out, ...) \
    ids(out, (const pm_id[]){__VA_ARGS__}, sizeof((const pm_id[]){__VA_ARGS__}) / sizeof(pm_id))

/* A signed number's written form. */
static uint64_t s(int64_t number)
{
    return ((uint64_t)number << 1) ^ (number < 0 ? UINT64_MAX : 0);
}

/* Returns where the block begins, for end_block. */
static size_t begin_block(struct pm_buf *out, unsigned flags, uint64_t address, pm_id symbol)
{
    size_t begin = out->len;
    pm_buf_add(out, PM_MAP_MAGIC, 4);
    fixed(out, PM_MAP_VERSION, 2);
    fixed(out, flags, 2);
    fixed(out, 0, 4);
    fixed(out, address, 8);
    fixed(out, symbol, 8);
    return begin;
}

static void end_block(struct pm_buf *out, size_t begin)
{
    assert_false(out->failed);
    for (int i = 0; i < 4; i++)
        out->data[begin + 8 + (size_t)i] = (char)((out->len - begin) >> 8 * i);
}

enum { SYMBOL = 0x51, FUNCTION = 0xf0, INLINED = 0xf1, DEEPER = 0xf2, FILE_A = 0xa, FILE_B = 0xb };
enum { LOOP = 0x100, INNER = 0x101, ARRAY = 0xd0, FIELD = 0xd1 };

/* One block with every flag, kind and table in use. */
static void write_every_flag(struct pm_buf *out)
{
    size_t begin = begin_block(out, 0, 0x1000, SYMBOL);
    IDS(out, FUNCTION, INLINED, DEEPER);
    IDS(out, FILE_A, FILE_B);
    IDS(out, LOOP, INNER);
    IDS(out, ARRAY, FIELD);
    NUMBERS(out, 2, 0, 1, 0, s(42), 5, 1, 2, 1, s(-32), 3); /* sites */
    NUMBERS(out, 4, 0, PM_MAP_FRAME << 8);
    NUMBERS(out, 8, 0, PM_MAP_PLACE, s(41), 3);
    NUMBERS(out, 16, 0, PM_MAP_PLACE | PM_MAP_LOOP | PM_MAP_OBJECTS, s(1), 5, 1, 2,
            0 << 3 | PM_MAP_READS, 1 << 3 | PM_MAP_WRITES | PM_MAP_THROUGH);
    NUMBERS(out, 300, 0,
            PM_MAP_SITE | PM_MAP_FILE | PM_MAP_PLACE | PM_MAP_LOOP | PM_MAP_ALSO | PM_MAP_UNNAMED,
            2, s(-35), 9, 1, 2, 2, PM_MAP_VECTORISED << 1, 1, 0, s(-2), 1,
            PM_MAP_LOOP_TO_CALL << 1 | 1, 0, 1, s(30), 0);
    NUMBERS(out, 4, 2);                                    /* the one before the newest */
    NUMBERS(out, 2, 0, PM_MAP_SPILL << 8);                 /* place, site, loop as before */
    NUMBERS(out, 5, 0, PM_MAP_CALL << 8 | PM_MAP_SITE, 1); /* in the first site */
    NUMBERS(out, 5, 0, PM_MAP_SLED << 8 | PM_MAP_SITE | PM_MAP_LOOP | PM_MAP_PLACE, 0, 0, s(-7), 0);
    NUMBERS(out, 3, 0, PM_MAP_PADDING << 8);
    NUMBERS(out, 0, 3); /* covers nothing */
    end_block(out, begin);
    begin = begin_block(out, PM_MAP_BLOCK_COLD, 0x900, SYMBOL);
    IDS(out, FUNCTION);
    IDS(out, FILE_A);
    NUMBERS(out, 0, 0, 0);
    NUMBERS(out, 12, 0, PM_MAP_PLACE, s(50), 2);
    end_block(out, begin);
}

/* A block of ranges of 8 bytes, each with its line. */
static void write_plain(struct pm_buf *out, uint64_t address, pm_id symbol, unsigned n_ranges)
{
    size_t begin = begin_block(out, 0, address, symbol);
    IDS(out, FUNCTION);
    IDS(out, FILE_A);
    NUMBERS(out, 0, 0, 0);
    for (unsigned i = 0; i < n_ranges; i++)
        NUMBERS(out, 8, 0, PM_MAP_PLACE, s(1), 1);
    end_block(out, begin);
}

/* --- a map as text --- */

static void add_place(struct pm_buf *out, const struct pm_code_place *place)
{
    pm_buf_printf(out, "%llx/%llx:%u:%u", (unsigned long long)place->function,
                  (unsigned long long)place->file, place->line_no, place->column_no);
}

static void add_tuple(struct pm_buf *out, const struct pm_code_tuple *tuple)
{
    pm_buf_printf(out, "tuple %u kind %d%s ", tuple->number, (int)tuple->kind,
                  tuple->unnamed ? " unnamed" : "");
    add_place(out, &tuple->place);
    pm_buf_printf(out, " loop %llx", (unsigned long long)tuple->loop);
    for (const struct pm_code_site *site = tuple->site; site; site = site->parent) {
        pm_buf_printf(out, " %llx inlined at ", (unsigned long long)site->function);
        add_place(out, &site->call);
    }
    for (uint32_t i = 0; i < tuple->n_objects; i++)
        pm_buf_printf(out, " object %llx access %u", (unsigned long long)tuple->objects[i].noun,
                      tuple->objects[i].access);
    for (uint32_t i = 0; i < tuple->n_also; i++) {
        pm_buf_add_str(out, " also ");
        add_place(out, &tuple->also[i].place);
        pm_buf_printf(out, " %s%s", pm_map_reason_text(tuple->also[i].reason),
                      tuple->also[i].inferred ? " (inferred)" : "");
    }
}

static char *dump(const struct pm_code_map *map)
{
    struct pm_buf out = PM_BUF_INIT(1 << 24);
    size_t n, n_damaged;
    const struct pm_code_range *ranges = pm_code_map_ranges(map, &n);
    pm_buf_add_str(&out, "");
    for (size_t i = 0; i < n; i++) {
        const struct pm_code_block *block = ranges[i].block;
        if (i == 0 || block != ranges[i - 1].block)
            pm_buf_printf(&out, "block %llx+%llu symbol %llx function %llx%s tuples %u\n",
                          (unsigned long long)block->address, (unsigned long long)block->size_bytes,
                          (unsigned long long)block->symbol, (unsigned long long)block->function,
                          block->is_cold ? " cold" : "", block->n_tuples);
        pm_buf_printf(&out, "%llx+%u ", (unsigned long long)ranges[i].address,
                      ranges[i].size_bytes);
        add_tuple(&out, ranges[i].tuple);
        pm_buf_add_str(&out, "\n");
        assert_ptr_equal(ranges[i].tuple, &block->tuples[ranges[i].tuple->number]);
    }
    const char *problem = pm_code_map_problem(map, &n_damaged);
    if (problem)
        pm_buf_printf(&out, "%zu damaged: %s\n", n_damaged, problem);
    return pm_buf_take(&out);
}

static struct pm_code_map *read_map(const void *bytes, size_t len)
{
    struct pm_code_map *map = NULL;
    struct pm_error err = PM_ERROR_INIT;
    if (pm_code_map_read("a.out", bytes, len, &err, &map) != PM_OK)
        fail_msg("%s", pm_error_text(&err));
    return map;
}

/* Reads what was written and empties it. */
static struct pm_code_map *read_written(struct pm_buf *written)
{
    struct pm_code_map *map = read_map(written->data, written->len);
    pm_buf_release(written);
    return map;
}

static char *golden(const char *name, size_t *ret_len)
{
    char path[4096], *data;
    snprintf(path, sizeof path, "%s/%s", PM_TEST_DATA, name);
    assert_int_equal(pm_file_read(path, 1 << 20, NULL, &data, ret_len), PM_OK);
    return data;
}

/* --- what is right --- */

static void a_section_of_version_1_is_read(void **state)
{
    (void)state;
    size_t len, expected_len;
    char *section = golden("every_flag_1.map", &len),
         *expected = golden("every_flag_1.txt", &expected_len);
    struct pm_code_map *map = read_map(section, len);
    char *text = dump(map);
    assert_string_equal(text, expected);
    free(text);
    pm_code_map_free(map);
    free(expected);
    free(section);
}

/* The golden file is what this file's writer makes, so that one can be read with the other. */
static void the_golden_file_is_what_the_format_says(void **state)
{
    (void)state;
    size_t len;
    struct pm_buf out = PM_BUF_INIT(1 << 20);
    write_every_flag(&out);
    if (getenv("PERFMAP_UPDATE")) {
        assert_int_equal(pm_file_write(PM_TEST_DATA "/every_flag_1.map", out.data, out.len, NULL),
                         PM_OK);
        struct pm_code_map *map = read_map(out.data, out.len);
        char *text = dump(map);
        assert_int_equal(pm_file_write(PM_TEST_DATA "/every_flag_1.txt", text, strlen(text), NULL),
                         PM_OK);
        free(text);
        pm_code_map_free(map);
    }
    char *section = golden("every_flag_1.map", &len);
    assert_int_equal(len, out.len);
    assert_memory_equal(section, out.data, len);
    free(section);
    pm_buf_release(&out);
}

static void an_address_leads_to_its_range(void **state)
{
    (void)state;
    struct pm_buf out = PM_BUF_INIT(1 << 20);
    write_plain(&out, 0x5000, 2, 100);
    write_plain(&out, 0x1000, 1, 10);
    struct pm_code_map *map = read_written(&out);
    for (uint64_t address = 0; address < 0x6000; address++) {
        const struct pm_code_range *range = pm_code_map_find(map, address);
        bool in_one = address >= 0x1000 && address < 0x1050;
        bool in_two = address >= 0x5000 && address < 0x5320;
        assert_true(!range == !(in_one || in_two));
        if (!range)
            continue;
        assert_true(range->block->symbol == (in_one ? 1 : 2));
        assert_true(range->address == (address & ~(uint64_t)7) && range->size_bytes == 8);
        assert_int_equal(range->tuple->place.line_no, 1 + (address - range->block->address) / 8);
        assert_null(pm_code_map_next_same(map, range, address));
    }
    assert_null(pm_code_map_find(map, UINT64_MAX));
    pm_code_map_free(map);
}

static void overlapping_blocks_are_all_found(void **state)
{
    (void)state;
    struct pm_buf out = PM_BUF_INIT(1 << 20);
    write_plain(&out, 0x1000, 1, 100);
    write_plain(&out, 0x1010, 2, 1);
    write_plain(&out, 0x1020, 3, 2);
    write_plain(&out, 0x1020, 4, 2);
    struct pm_code_map *map = read_written(&out);
    const struct pm_code_range *range = pm_code_map_find(map, 0x1029);
    for (pm_id symbol = 1; symbol <= 4; symbol++) {
        if (symbol == 2)
            continue;
        assert_non_null(range);
        assert_true(range->block->symbol == symbol && range->address == 0x1028);
        range = pm_code_map_next_same(map, range, 0x1029);
    }
    assert_null(range);
    range = pm_code_map_find(map, 0x1300); /* behind those that lie inside */
    assert_true(range && range->block->symbol == 1);
    pm_code_map_free(map);
}

static void equal_tuples_of_a_block_are_one(void **state)
{
    (void)state;
    enum { N = 3000 };
    struct pm_buf out = PM_BUF_INIT(1 << 20);
    size_t begin = begin_block(&out, 0, 0x1000, SYMBOL);
    IDS(&out, FUNCTION);
    IDS(&out, FILE_A);
    NUMBERS(&out, 0);
    IDS(&out, ARRAY);
    NUMBERS(&out, 0);
    for (int i = 0; i < N; i++) /* lines 1 to N and back to 1 again, the second time all known */
        NUMBERS(&out, 1, 0, PM_MAP_PLACE | PM_MAP_OBJECTS, s(1), 1, 1, PM_MAP_READS);
    for (int i = 0; i < N; i++)
        NUMBERS(&out, 1, 0, PM_MAP_PLACE | PM_MAP_OBJECTS, s(i ? -1 : 0), 1, 1, PM_MAP_READS);
    NUMBERS(&out, 1, N + 7);                               /* counted as written */
    NUMBERS(&out, 1, 0, PM_MAP_OBJECTS, 1, PM_MAP_WRITES); /* not equal */
    end_block(&out, begin);
    struct pm_code_map *map = read_written(&out);
    assert_null(pm_code_map_problem(map, NULL));
    size_t n;
    const struct pm_code_block *block = pm_code_map_blocks(map, &n);
    assert_int_equal(n, 1);
    assert_int_equal(block->n_tuples, N + 1);
    const struct pm_code_range *ranges = pm_code_map_ranges(map, &n);
    assert_int_equal(n, 2 * N + 2);
    assert_ptr_equal(ranges[0].tuple, ranges[2 * N - 1].tuple);
    assert_int_equal(ranges[2 * N].tuple->place.line_no, N - 6);
    assert_int_equal(ranges[2 * N + 1].tuple->place.line_no, 1);
    assert_int_equal(ranges[2 * N + 1].tuple->objects[0].access, PM_MAP_WRITES);
    pm_code_map_free(map);
}

static void code_that_the_linker_dropped_is_left_out(void **state)
{
    (void)state;
    struct pm_buf out = PM_BUF_INIT(1 << 20);
    write_plain(&out, 0, 1, 4);
    write_plain(&out, UINT64_MAX, 2, 4);
    write_plain(&out, 0x1000, 3, 4);
    write_plain(&out, 0x2000, 4, 0);
    struct pm_code_map *map = read_written(&out);
    size_t n;
    assert_true(pm_code_map_blocks(map, &n)->symbol == 3);
    assert_int_equal(n, 1);
    assert_null(pm_code_map_problem(map, &n));
    assert_int_equal(n, 0);
    pm_code_map_free(map);
    map = read_map("", 0);
    assert_null(pm_code_map_find(map, 0));
    pm_code_map_free(map);
}

/* --- what is wrong --- */

/* A damaged block between two sound ones. */
static void assert_damage(const char *expected, void (*write)(struct pm_buf *out))
{
    struct pm_buf out = PM_BUF_INIT(1 << 20);
    write_plain(&out, 0x1000, 1, 1);
    size_t offset = out.len, n_damaged, n;
    write(&out);
    write_plain(&out, 0x3000, 3, 1);
    struct pm_code_map *map = read_written(&out);
    char problem[200];
    snprintf(problem, sizeof problem, "block at byte %zu: %s", offset, expected);
    assert_non_null(pm_code_map_problem(map, &n_damaged));
    assert_string_equal(pm_code_map_problem(map, NULL), problem);
    assert_int_equal(n_damaged, 1);
    (void)pm_code_map_blocks(map, &n);
    assert_int_equal(n, 2);
    assert_non_null(pm_code_map_find(map, 0x1000));
    assert_non_null(pm_code_map_find(map, 0x3007));
    assert_null(pm_code_map_find(map, 0x2000));
    pm_code_map_free(map);
}

/* Tables: a function, a file, a loop, an object, a site; then what is given. */
static void write_with(struct pm_buf *out, const uint64_t *list, size_t n)
{
    size_t begin = begin_block(out, 0, 0x2000, 2);
    IDS(out, FUNCTION);
    IDS(out, FILE_A);
    IDS(out, LOOP);
    IDS(out, ARRAY);
    NUMBERS(out, 1, 0, 0, 0, s(1), 1);
    numbers(out, list, n);
    end_block(out, begin);
}
#define WRITER(name, ...)                                                       \
    static void name(struct pm_buf *out)                                        \
    {                                                                           \
        write_with(out, (const uint64_t[]){__VA_ARGS__},                        \
                   sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)); \
    }

WRITER(write_no_such_site, 8, 0, PM_MAP_SITE, 2)
WRITER(write_no_such_loop, 8, 0, PM_MAP_LOOP, 2)
WRITER(write_no_such_file, 8, 0, PM_MAP_FILE, 1)
WRITER(write_no_such_object, 8, 0, PM_MAP_OBJECTS, 1, 1 << 3)
WRITER(write_too_many_objects, 8, 0, PM_MAP_OBJECTS, UINT64_MAX)
WRITER(write_too_many_others, 8, 0, PM_MAP_ALSO, 2, 2, 0, 0, 0, 0)
WRITER(write_no_such_reason, 8, 0, PM_MAP_ALSO, 1, (PM_MAP_COMBINED + 1) << 1, 0, 0, 0, 0)
WRITER(write_reason_0, 8, 0, PM_MAP_ALSO, 1, 1, 0, 0, 0, 0)
WRITER(write_no_such_function, 8, 0, PM_MAP_ALSO, 1, 2, 1, 0, 0, 0)
WRITER(write_no_such_kind, 8, 0, (PM_MAP_PADDING + 1) << 8)
WRITER(write_no_such_flag, 8, 0, 0x80)
WRITER(write_negative_line, 8, 0, PM_MAP_PLACE, 1, 1)
WRITER(write_huge_line, 8, 0, PM_MAP_PLACE, UINT64_MAX - 1, 1)
WRITER(write_huge_column, 8, 0, PM_MAP_PLACE, 2, (uint64_t)1 << 32)
WRITER(write_early_ref, 8, 1)
WRITER(write_huge_range, (uint64_t)1 << 32, 0, 0)
WRITER(write_half_a_range, 8)
WRITER(write_half_a_tuple, 8, 0)

static void write_wrong_parent(struct pm_buf *out)
{
    size_t begin = begin_block(out, 0, 0x2000, 2);
    IDS(out, FUNCTION);
    NUMBERS(out, 0, 0, 0, 1, 1, 0, 0, 0, 0);
    end_block(out, begin);
}

static void write_too_many_ids(struct pm_buf *out)
{
    size_t begin = begin_block(out, 0, 0x2000, 2);
    NUMBERS(out, 3);
    fixed(out, 1, 8);
    end_block(out, begin);
}

static void write_no_room(struct pm_buf *out)
{
    size_t begin = begin_block(out, 0, UINT64_MAX - 3, 2);
    NUMBERS(out, 0, 0, 0, 0, 0, 4, 0, 0);
    end_block(out, begin);
}

static void write_long_number(struct pm_buf *out)
{
    size_t begin = begin_block(out, 0, 0x2000, 2);
    pm_buf_add(out, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10);
    end_block(out, begin);
}

static void write_other_bytes(struct pm_buf *out)
{
    pm_buf_add_str(out, "PMmq and so on until the next block begins");
}

static void write_small_size(struct pm_buf *out)
{
    size_t begin = begin_block(out, 0, 0x2000, 2);
    out->data[begin + 8] = PM_MAP_BLOCK_HEADER - 1;
}

static void write_large_size(struct pm_buf *out)
{
    size_t begin = begin_block(out, 0, 0x2000, 2);
    out->data[begin + 11] = 0x7f;
}

static void write_other_version(struct pm_buf *out)
{
    size_t begin = out->len;
    write_plain(out, 0x2000, 2, 1);
    out->data[begin + 4] = 2;
}

static void damaged_blocks_are_left_out_and_told(void **state)
{
    (void)state;
    assert_damage("a site is not in its table", write_no_such_site);
    assert_damage("a loop is not in its table", write_no_such_loop);
    assert_damage("a file is not in its table", write_no_such_file);
    assert_damage("an object is not in its table", write_no_such_object);
    assert_damage("it holds fewer items than it states", write_too_many_objects);
    assert_damage("it holds fewer items than it states", write_too_many_others);
    assert_damage("a reason is not known", write_no_such_reason);
    assert_damage("a reason is not known", write_reason_0);
    assert_damage("a function is not in its table", write_no_such_function);
    assert_damage("a kind is not known", write_no_such_kind);
    assert_damage("a flag is not known", write_no_such_flag);
    assert_damage("a line number is out of range", write_negative_line);
    assert_damage("a line number is out of range", write_huge_line);
    assert_damage("a column is out of range", write_huge_column);
    assert_damage("a range refers to a tuple before the first", write_early_ref);
    assert_damage("a range is longer than 4 GiB", write_huge_range);
    assert_damage("it ends in the middle of a number", write_half_a_range);
    assert_damage("it ends in the middle of a number", write_half_a_tuple);
    assert_damage("a site's parent does not come before it", write_wrong_parent);
    assert_damage("it holds fewer items than it states", write_too_many_ids);
    assert_damage("it ends beyond the last address", write_no_room);
    assert_damage("it ends in the middle of a number", write_long_number);
    assert_damage("it does not begin with PMmp", write_other_bytes);
    assert_damage("its size does not fit", write_small_size);
    assert_damage("its size does not fit", write_large_size);
    assert_damage("it has another version than 1, which this perfmap reads", write_other_version);
}

static void a_map_of_another_version_is_refused(void **state)
{
    (void)state;
    struct pm_buf out = PM_BUF_INIT(1 << 20);
    struct pm_error err = PM_ERROR_INIT;
    struct pm_code_map *map;
    write_other_version(&out);
    assert_int_equal(pm_code_map_read("a.out", out.data, out.len, &err, &map), PM_ERR_VERSION);
    assert_string_equal(pm_error_text(&err),
                        "'a.out': late map (.perfmap.map): block at byte 0: it has another version "
                        "than 1, which this perfmap reads");
    pm_error_release(&err);
    pm_buf_release(&out);
}

static void any_damage_is_survived(void **state)
{
    (void)state;
    struct pm_buf out = PM_BUF_INIT(1 << 20);
    write_every_flag(&out);
    size_t n_noticed = 0;
    for (size_t i = 0; i < out.len; i++) {
        char saved = out.data[i];
        for (int bit = 0; bit < 8; bit++) {
            out.data[i] = (char)(saved ^ 1 << bit);
            struct pm_code_map *map = NULL;
            if (pm_code_map_read("a.out", out.data, out.len, NULL, &map) == PM_OK)
                n_noticed += pm_code_map_problem(map, NULL) != NULL;
            pm_code_map_free(map);
        }
        out.data[i] = saved;
    }
    assert_true(n_noticed > 200);
    for (size_t len = 0; len < out.len; len++)
        pm_code_map_free(read_map(out.data, len));
    pm_buf_release(&out);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct pm_buf out = PM_BUF_INIT(1 << 20);
    write_every_flag(&out);
    write_plain(&out, 0x7000, 1, 1000);
    size_t n_failed = 0;
    for (long n = 1;; n++) {
        struct pm_code_map *map = NULL;
        pm_alloc_fail_at(n);
        enum pm_status status = pm_code_map_read("a.out", out.data, out.len, NULL, &map);
        bool done = pm_alloc_fail_pending();
        pm_alloc_fail_at(0);
        assert_int_equal(status, done ? PM_OK : PM_ERR_MEMORY);
        pm_code_map_free(map);
        if (done)
            break;
        n_failed++;
    }
    assert_true(n_failed > 20);
    pm_buf_release(&out);
}

/* --- ELF files --- */

static char path[64];
static const char names[] = "\0.shstrtab\0" PM_MAP_SECTION;

static void add_section(Elf *elf, unsigned name, unsigned type, const void *bytes, size_t len,
                        bool packed)
{
    Elf_Scn *section = elf_newscn(elf);
    Elf_Data *data = elf_newdata(section);
    GElf_Shdr header;
    data->d_buf = (void *)(uintptr_t)bytes;
    data->d_size = len;
    data->d_align = 1;
    assert_non_null(gelf_getshdr(section, &header));
    header.sh_name = name;
    header.sh_type = type;
    assert_true(gelf_update_shdr(section, &header));
    if (packed) {
        assert_true(elf_update(elf, ELF_C_NULL) > 0);
        assert_int_equal(elf_compress(section, ELFCOMPRESS_ZLIB, ELF_CHF_FORCE), 1);
    }
}

static void make_elf(unsigned type, bool has_map, bool packed)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0 && elf_version(EV_CURRENT) != EV_NONE);
    Elf *elf = elf_begin(fd, ELF_C_WRITE, NULL);
    GElf_Ehdr header;
    assert_true(gelf_newehdr(elf, ELFCLASS64) && gelf_getehdr(elf, &header));
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = (GElf_Half)type;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_shstrndx = 1;
    assert_true(gelf_update_ehdr(elf, &header));
    add_section(elf, 1, SHT_STRTAB, names, sizeof names, false);
    struct pm_buf map = PM_BUF_INIT(1 << 20);
    write_every_flag(&map);
    write_plain(&map, 0x7000, 1, 100);
    if (has_map)
        add_section(elf, 11, SHT_PROGBITS, map.data, map.len, packed);
    assert_true(elf_update(elf, ELF_C_WRITE) > 0);
    elf_end(elf);
    close(fd);
    pm_buf_release(&map);
}

static void programs_are_read_packed_or_not(void **state)
{
    (void)state;
    for (int packed = 0; packed < 2; packed++) {
        make_elf(ET_DYN, true, packed);
        struct pm_code_map *map;
        struct pm_error err = PM_ERROR_INIT;
        if (pm_code_map_read_elf(path, &err, &map) != PM_OK)
            fail_msg("%s", pm_error_text(&err));
        assert_null(pm_code_map_problem(map, NULL));
        assert_non_null(pm_code_map_find(map, 0x7008));
        pm_code_map_free(map);
    }
}

static void assert_refused(enum pm_status status, const char *text)
{
    struct pm_code_map *map;
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_code_map_read_elf(path, &err, &map), status);
    assert_non_null(strstr(pm_error_text(&err), path));
    assert_non_null(strstr(pm_error_text(&err), text));
    pm_error_release(&err);
}

static void other_files_are_told(void **state)
{
    (void)state;
    make_elf(ET_EXEC, false, false);
    assert_refused(PM_ERR_NOT_FOUND, "has no section .perfmap.map");
    make_elf(ET_REL, true, false);
    assert_refused(PM_ERR_UNSUPPORTED, "is an object file: its code has no addresses");
    assert_int_equal(pm_file_write(path, "#!/bin/sh\n", 10, NULL), PM_OK);
    assert_refused(PM_ERR_FORMAT, "is not an ELF file");
    unlink(path);
    assert_refused(PM_ERR_SYSTEM, "No such file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_golden_file_is_what_the_format_says),
        cmocka_unit_test(a_section_of_version_1_is_read),
        cmocka_unit_test(an_address_leads_to_its_range),
        cmocka_unit_test(overlapping_blocks_are_all_found),
        cmocka_unit_test(equal_tuples_of_a_block_are_one),
        cmocka_unit_test(code_that_the_linker_dropped_is_left_out),
        cmocka_unit_test(damaged_blocks_are_left_out_and_told),
        cmocka_unit_test(a_map_of_another_version_is_refused),
        cmocka_unit_test(any_damage_is_survived),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(programs_are_read_packed_or_not),
        cmocka_unit_test(other_files_are_told),
    };
    snprintf(path, sizeof path, "/tmp/perfmap-test-code-map-%ld", (long)getpid());
    int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return n_failed;
}
