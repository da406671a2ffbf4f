/* pprof's protocol buffers. */
#define RECORD_KNOWN "all"
#include "record.h"

/* --- bytes --- */

static void add_number(struct pm_buf *out, unsigned field, uint64_t value)
{
    pm_buf_add_uleb(out, (uint64_t)field << 3);
    pm_buf_add_uleb(out, value);
}

static void add_bytes(struct pm_buf *out, unsigned field, struct pm_str bytes)
{
    pm_buf_add_uleb(out, (uint64_t)field << 3 | 2);
    pm_buf_add_uleb(out, bytes.len);
    pm_buf_add(out, bytes.p, bytes.len);
}

/* A message of numbers: pairs of field and value. */
static void add_message(struct pm_buf *out, unsigned field, size_t n, const uint64_t *pairs)
{
    struct pm_buf message = PM_BUF_INIT(4096);
    for (size_t i = 0; i < n; i += 2)
        add_number(&message, (unsigned)pairs[i], pairs[i + 1]);
    add_bytes(out, field, (struct pm_str){message.data, message.len});
    pm_buf_release(&message);
}
#define ADD(out, field, ...)                                                      \
    add_message(out, field, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), \
                (uint64_t[]){__VA_ARGS__})

enum {
    S_EMPTY,
    S_SAMPLES,
    S_COUNT,
    S_CPU,
    S_NANOSECONDS,
    S_MAIN,
    S_LEAF,
    S_FILE,
    S_EXE,
    S_KEY,
    S_VALUE
};

static void add_strings(struct pm_buf *out)
{
    static const char *const strings[] = {"",     "samples", "count", "cpu",      "nanoseconds",
                                          "main", "leaf",    "w.go",  "/tmp/exe", "who",
                                          "me"};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        add_bytes(out, 6, pm_str_of(strings[i]));
}

static void add_line_location(struct pm_buf *out, uint64_t id, uint64_t mapping, uint64_t address,
                              size_t n, const uint64_t *functions)
{
    struct pm_buf message = PM_BUF_INIT(4096);
    add_number(&message, 1, id);
    add_number(&message, 2, mapping);
    add_number(&message, 3, address);
    for (size_t i = 0; i < n; i++)
        ADD(&message, 4, 1, functions[i], 2, 10 * functions[i]);
    add_bytes(out, 4, (struct pm_str){message.data, message.len});
    pm_buf_release(&message);
}

static void add_tables(struct pm_buf *out, uint64_t mapping)
{
    ADD(out, 3, 1, 7, 2, 0x1000, 3, 0x2000, 4, 0x500, 5, S_EXE);
    add_line_location(out, 100, mapping, 0x1010, 1, (uint64_t[]){1});
    add_line_location(out, 200, mapping, 0x1020, 2, (uint64_t[]){2, 1});
    ADD(out, 5, 1, 1, 2, S_MAIN, 3, S_MAIN, 4, S_FILE);
    ADD(out, 5, 1, 2, 2, S_LEAF, 4, S_FILE);
    add_strings(out);
}

static struct pm_str bytes_of(const struct pm_buf *out)
{
    return (struct pm_str){out->data, out->len};
}

/* --- tests --- */

static void strings_may_stand_behind_their_users(void **state)
{
    (void)state;
    struct pm_buf out = PM_BUF_INIT(1 << 16);
    add_number(&out, 9, 12345);
    ADD(&out, 1, 1, S_SAMPLES, 2, S_COUNT);
    ADD(&out, 1, 1, S_CPU, 2, S_NANOSECONDS);
    ADD(&out, 2, 1, 200, 1, 100, 2, 3, 2, 4000);
    add_tables(&out, 0);
    assert_import_bytes(NULL, NULL, bytes_of(&out),
                        "main:10!;main:10;leaf:20~ n_samples 3\n"
                        "main:10!;main:10;leaf:20~ cpu_ns 4000\n",
                        NULL);
    pm_buf_release(&out);
}

static void lists_may_be_packed(void **state)
{
    (void)state;
    struct pm_buf out = PM_BUF_INIT(1 << 16), sample = PM_BUF_INIT(100), list = PM_BUF_INIT(100);
    ADD(&out, 1, 1, S_CPU, 2, S_NANOSECONDS);
    pm_buf_add_uleb(&list, 200);
    pm_buf_add_uleb(&list, 100);
    add_bytes(&sample, 1, bytes_of(&list));
    add_number(&sample, 2, 5);
    add_bytes(&out, 2, bytes_of(&sample));
    add_tables(&out, 0);
    assert_import_bytes("pprof", NULL, bytes_of(&out), "main:10!;main:10;leaf:20~ cpu_ns 5\n",
                        NULL);
    pm_buf_release(&out);
    pm_buf_release(&sample);
    pm_buf_release(&list);
}

/* What was inlined at the address our own facts tell. */
static void addresses_of_known_binaries_are_one_frame(void **state)
{
    (void)state;
    struct pm_buf out = PM_BUF_INIT(1 << 16);
    ADD(&out, 1, 1, S_CPU, 2, S_NANOSECONDS);
    ADD(&out, 2, 1, 200, 1, 100, 2, 5);
    add_tables(&out, 7);
    assert_import_bytes("pprof", NULL, bytes_of(&out),
                        "main@510:10(/tmp/exe)!;main@520:10(/tmp/exe) cpu_ns 5\n", NULL);
    pm_buf_release(&out);
}

static void labels_hold_for_all_below_them(void **state)
{
    (void)state;
    struct pm_buf out = PM_BUF_INIT(1 << 16), sample = PM_BUF_INIT(100);
    ADD(&out, 1, 1, S_CPU, 2, S_NANOSECONDS);
    add_number(&sample, 1, 100);
    add_number(&sample, 2, 5);
    ADD(&sample, 3, 1, S_KEY, 2, S_VALUE);
    ADD(&sample, 3, 1, S_CPU, 3, 12);
    add_bytes(&out, 2, bytes_of(&sample));
    add_tables(&out, 0);
    assert_import_bytes("pprof", NULL, bytes_of(&out), "who=me;cpu=12;main:10 cpu_ns 5\n", NULL);
    pm_buf_release(&out);
    pm_buf_release(&sample);
}

static void differences_are_refused(void **state)
{
    (void)state;
    struct pm_buf out = PM_BUF_INIT(1 << 16);
    ADD(&out, 1, 1, S_CPU, 2, S_NANOSECONDS);
    ADD(&out, 2, 1, 100, 2, (uint64_t)-5);
    add_tables(&out, 0);
    assert_refused_bytes("pprof", bytes_of(&out), "it is a difference of two profiles");
    pm_buf_release(&out);
}

static void damage_is_told(void **state)
{
    (void)state;
    struct pm_buf out = PM_BUF_INIT(1 << 16);
    ADD(&out, 1, 1, S_CPU, 2, S_NANOSECONDS);
    ADD(&out, 2, 1, 100, 2, 5, 2, 6);
    add_tables(&out, 0);
    assert_refused_bytes("pprof", bytes_of(&out), "more numbers than types");
    struct pm_str cut = bytes_of(&out);
    cut.len -= 3;
    assert_refused_bytes("pprof", cut, "ends in the middle");
    pm_buf_clear(&out);
    ADD(&out, 1, 1, S_CPU, 2, 99);
    ADD(&out, 2, 1, 300, 2, 5);
    add_tables(&out, 0);
    assert_refused_bytes("pprof", bytes_of(&out), "names string 99, and has 11");
    pm_buf_clear(&out);
    ADD(&out, 1, 1, S_CPU, 2, S_NANOSECONDS);
    ADD(&out, 2, 1, 300, 2, 5);
    add_tables(&out, 0);
    assert_refused_bytes("pprof", bytes_of(&out), "has no location 300");
    assert_refused("pprof", "", "has no samples");
    assert_refused("pprof", "hello, this is text", "damaged");
    pm_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_may_stand_behind_their_users),
        cmocka_unit_test(lists_may_be_packed),
        cmocka_unit_test(addresses_of_known_binaries_are_one_frame),
        cmocka_unit_test(labels_hold_for_all_below_them),
        cmocka_unit_test(differences_are_refused),
        cmocka_unit_test(damage_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
