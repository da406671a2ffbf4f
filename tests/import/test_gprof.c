/* gmon.out */
#define RECORD_EXE "/no/such/heat"
#include "record.h"

static void add(struct pm_buf *out, uint64_t value, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        pm_buf_add_byte(out, (unsigned char)(value >> 8 * i));
}

static void add_head(struct pm_buf *out, unsigned version)
{
    pm_buf_add_str(out, "gmon");
    add(out, version, 4);
    for (int i = 0; i < 12; i++)
        pm_buf_add_byte(out, 0);
}

static void add_histogram(struct pm_buf *out, uint64_t low, uint64_t high, const unsigned *bins,
                          size_t n)
{
    add(out, 0, 1);
    add(out, low, 8);
    add(out, high, 8);
    add(out, n, 4);
    add(out, 100, 4);
    pm_buf_add(out, "seconds\0\0\0\0\0\0\0\0s", 16);
    for (size_t i = 0; i < n; i++)
        add(out, bins[i], 2);
}

static void add_arc(struct pm_buf *out, uint64_t from, uint64_t to, unsigned n)
{
    add(out, 1, 1);
    add(out, from, 8);
    add(out, to, 8);
    add(out, n, 4);
}

static struct pm_str bytes_of(const struct pm_buf *out)
{
    return (struct pm_str){out->data, out->len};
}

#define WHO(address) "@elf:" address "(/no/such/heat)"

/* 20 bytes in 5 bins of 4, then 10 bytes in 3 bins of 3.33. */
static void samples_are_in_the_middle_of_their_bins(void **state)
{
    (void)state;
    struct pm_buf out = PM_BUF_INIT(1 << 16);
    add_head(&out, 1);
    add_histogram(&out, 0x1000, 0x1014, (const unsigned[]){0, 3, 0, 0, 1}, 5);
    add_histogram(&out, 0x2000, 0x200a, (const unsigned[]){0, 0, 2}, 3);
    assert_import_bytes(NULL, NULL, bytes_of(&out),
                        WHO("1006") " n_samples 3\n" WHO("1006") " cpu_ns 30000000\n" //
                        WHO("1012") " n_samples 1\n" WHO("1012") " cpu_ns 10000000\n" //
                        WHO("2008") " n_samples 2\n" WHO("2008") " cpu_ns 20000000\n",
                        NULL);
    pm_buf_release(&out);
}

static void calls_are_arcs(void **state)
{
    (void)state;
    struct pm_buf out = PM_BUF_INIT(1 << 16);
    add_head(&out, 1);
    add_arc(&out, 0x1050, 0x1000, 5994);
    add(&out, 2, 1); /* basic blocks */
    add(&out, 1, 4);
    add(&out, 0x1000, 8);
    add(&out, 7, 8);
    add_arc(&out, 0x1060, 0x1000, 0);
    assert_import_bytes(NULL, NULL, bytes_of(&out),
                        WHO("1050") " -> " WHO("1000") " 5994 arc_calls 5994\n",
                        "with several threads there were more than are told");
    pm_buf_release(&out);
}

static void bins_that_are_full_are_told(void **state)
{
    (void)state;
    struct pm_buf out = PM_BUF_INIT(1 << 16);
    add_head(&out, 1);
    add_histogram(&out, 0, 4, (const unsigned[]){65535}, 1);
    assert_import_bytes(NULL, NULL, bytes_of(&out),
                        WHO("2") " n_samples 65535\n" WHO("2") " cpu_ns 655350000000\n",
                        "1 places have as many samples as gmon.out can count");
    pm_buf_release(&out);
}

static void damage_is_refused(void **state)
{
    (void)state;
    struct pm_buf out = PM_BUF_INIT(1 << 16);
    add_head(&out, 2);
    assert_refused_bytes(NULL, bytes_of(&out), "of version 2, this perfmap reads version 1");
    pm_buf_clear(&out);
    add_head(&out, 1);
    add_arc(&out, 1, 2, 3);
    struct pm_str cut = {out.data, out.len - 1};
    assert_refused_bytes(NULL, cut, "ends in the middle of a record");
    add(&out, 3, 1);
    assert_refused_bytes(NULL, bytes_of(&out), "records of kinds 0 to 2, not 3");
    assert_refused("gprof", "gmo", "this is no gmon.out");
    pm_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_in_the_middle_of_their_bins),
        cmocka_unit_test(calls_are_arcs),
        cmocka_unit_test(bins_that_are_full_are_told),
        cmocka_unit_test(damage_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
