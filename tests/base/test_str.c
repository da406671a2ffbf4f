#include "mapping/base/str.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void a_buffer_never_grows_above_its_largest_size(void **state)
{
    (void)state;
    struct pm_buf buf = PM_BUF_INIT(5);
    pm_buf_add_str(&buf, "abc");
    pm_buf_add_str(&buf, "de");
    assert_false(buf.failed);
    pm_buf_add_byte(&buf, 'f');
    assert_true(buf.failed);
    assert_string_equal(buf.data, "abcde");
    pm_buf_clear(&buf);
    pm_buf_printf(&buf, "%d", 12345);
    assert_string_equal(buf.data, "12345");
    assert_false(buf.failed);
    pm_buf_printf(&buf, "%d", 6);
    assert_true(buf.failed);
    assert_null(pm_buf_take(&buf));
}

static void a_buffer_hands_its_bytes_over(void **state)
{
    (void)state;
    struct pm_buf buf = PM_BUF_INIT(1 << 20);
    assert_null(pm_buf_take(&buf));
    for (int i = 0; i < 1000; i++)
        pm_buf_add(&buf, "0123456789", 10);
    char *data = pm_buf_take(&buf);
    assert_int_equal(strlen(data), 10000);
    assert_null(buf.data);
    free(data);
}

static void varints_read_back(void **state)
{
    (void)state;
    static const uint64_t values[] = {
        0, 1, 127, 128, 16383, 16384, UINT32_MAX, INT64_MAX, (uint64_t)1 << 63, UINT64_MAX};
    struct pm_buf buf = PM_BUF_INIT(1000);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        pm_buf_add_uleb(&buf, values[i]);
        pm_buf_add_sleb(&buf, (int64_t)values[i]);
        pm_buf_add_sleb(&buf, (int64_t)(0 - values[i]));
    }
    struct pm_cursor c;
    pm_cursor_init(&c, buf.data, buf.len);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        uint64_t u;
        int64_t s;
        assert_true(pm_cursor_uleb(&c, &u) && u == values[i]);
        assert_true(pm_cursor_sleb(&c, &s) && s == (int64_t)values[i]);
        assert_true(pm_cursor_sleb(&c, &s) && s == (int64_t)(0 - values[i]));
    }
    assert_ptr_equal(c.p, c.end);
    pm_buf_release(&buf);
}

static void short_and_overlong_varints_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "\x80", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
                                      "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pm_cursor c;
        struct pm_str bytes;
        uint64_t value = 7;
        pm_cursor_init(&c, bad[i], strlen(bad[i]));
        assert_false(pm_cursor_uleb(&c, &value));
        assert_int_equal(value, 7);
        assert_true(c.failed);
        assert_false(pm_cursor_bytes(&c, 0, &bytes));
    }
    struct pm_cursor c;
    struct pm_str bytes;
    pm_cursor_init(&c, "abc", 3);
    assert_true(pm_cursor_bytes(&c, 3, &bytes) && pm_str_is(bytes, "abc"));
    pm_cursor_init(&c, "abc", 3);
    assert_false(pm_cursor_bytes(&c, SIZE_MAX, &bytes));
}

static void numbers_have_a_maximum(void **state)
{
    (void)state;
    uint64_t value;
    assert_true(pm_str_to_u64(PM_STR("0"), 0, &value) && value == 0);
    assert_true(pm_str_to_u64(PM_STR("18446744073709551615"), UINT64_MAX, &value) &&
                value == UINT64_MAX);
    assert_false(pm_str_to_u64(PM_STR("18446744073709551616"), UINT64_MAX, &value));
    assert_true(pm_str_to_u64(PM_STR("255"), 255, &value));
    assert_false(pm_str_to_u64(PM_STR("256"), 255, &value));
    assert_false(pm_str_to_u64(PM_STR("9"), 5, &value));
    assert_false(pm_str_to_u64(PM_STR(""), 9, &value));
    assert_false(pm_str_to_u64(PM_STR("-1"), 9, &value));
    assert_false(pm_str_to_u64(PM_STR(" 1"), 9, &value));
    assert_false(pm_str_to_u64(PM_STR("1x"), 9, &value));
}

static void doubles_read_back_in_any_locale(void **state)
{
    (void)state;
    static const double values[] = {0.1, 1.0 / 3, 1e300, 5e-324, -2.5, 123456789.125, 0};
    /* With a decimal comma where the machine has such a locale; the text must not depend on it. */
    static const char *const locales[] = {"C", "de_DE.UTF-8", "fr_FR.UTF-8"};
    for (size_t l = 0; l < sizeof locales / sizeof *locales; l++) {
        setlocale(LC_NUMERIC, locales[l]);
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            struct pm_buf buf = PM_BUF_INIT(100);
            double value;
            pm_buf_add_double(&buf, values[i]);
            assert_null(strchr(buf.data, ','));
            assert_true(pm_str_to_double((struct pm_str){buf.data, buf.len}, &value));
            assert_true(value == values[i]);
            pm_buf_release(&buf);
        }
    }
    setlocale(LC_NUMERIC, "C");
    double value;
    assert_false(pm_str_to_double(PM_STR("nan"), &value));
    assert_false(pm_str_to_double(PM_STR("1e999"), &value));
    assert_false(pm_str_to_double(PM_STR("0x1p3"), &value));
    assert_false(pm_str_to_double(PM_STR("1 "), &value));
    assert_false(pm_str_to_double(PM_STR(""), &value));
}

static void only_shortest_utf8_counts(void **state)
{
    (void)state;
    assert_int_equal(pm_utf8_length("a", 1), 1);
    assert_int_equal(pm_utf8_length("\xc3\xa4", 2), 2);
    assert_int_equal(pm_utf8_length("\xe2\x82\xac", 3), 3);
    assert_int_equal(pm_utf8_length("\xf0\x9f\x98\x80", 4), 4);
    assert_int_equal(pm_utf8_length("\xc3\xa4", 1), 0);         /* cut */
    assert_int_equal(pm_utf8_length("\xc0\x80", 2), 0);         /* not shortest */
    assert_int_equal(pm_utf8_length("\xe0\x80\x80", 3), 0);     /* not shortest */
    assert_int_equal(pm_utf8_length("\xed\xa0\x80", 3), 0);     /* surrogate */
    assert_int_equal(pm_utf8_length("\xf4\x90\x80\x80", 4), 0); /* above U+10FFFF */
    assert_int_equal(pm_utf8_length("\xff", 1), 0);
    assert_int_equal(pm_utf8_length("", 0), 0);
}

static void allocation_checks_the_product(void **state)
{
    (void)state;
    size_t half = SIZE_MAX / 2;
    __asm__("" : "+r"(half)); /* the compiler shall not foresee the overflow */
    assert_null(pm_alloc_array(half, 3));
    assert_null(pm_realloc_array(NULL, half, 3));
    pm_alloc_fail_at(2);
    void *first = pm_alloc(1), *second = pm_alloc(1), *third = pm_alloc(0);
    assert_non_null(first);
    assert_null(second);
    assert_non_null(third);
    assert_false(pm_alloc_fail_pending());
    free(first);
    free(third);
}

static void a_file_is_written_whole_and_read_back(void **state)
{
    (void)state;
    char folder[] = "/tmp/perfmap-test-XXXXXX", path[64], link_path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    snprintf(link_path, sizeof link_path, "%s/link", folder);
    assert_int_equal(symlink(path, link_path), 0);
    assert_int_equal(pm_file_write(path, "old", 3, NULL), PM_OK);
    assert_int_equal(pm_file_write(link_path, "a\0b", 3, NULL), PM_OK);
    struct stat st;
    assert_true(lstat(link_path, &st) == 0 && S_ISLNK(st.st_mode));
    char *data;
    size_t len;
    assert_int_equal(pm_file_read(path, 3, NULL, &data, &len), PM_OK);
    assert_int_equal(len, 3);
    assert_memory_equal(data, "a\0b\0", 4);
    free(data);
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_file_read(path, 2, &err, &data, &len), PM_ERR_LIMIT);
    pm_error_release(&err);
    unlink(link_path);
    unlink(path);
    assert_int_equal(pm_file_read(path, 2, &err, &data, &len), PM_ERR_SYSTEM);
    pm_error_release(&err);
    assert_int_equal(pm_file_read(folder, 2, &err, &data, &len), PM_ERR_FORMAT);
    pm_error_release(&err);
    /* What is no regular file is not opened: a pipe would wait. What the user names is. */
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pm_file_read(path, 2, &err, &data, &len), PM_ERR_FORMAT);
    assert_non_null(strstr(pm_error_text(&err), "is not a regular file"));
    pm_error_release(&err);
    unlink(path);
    assert_int_equal(pm_file_read("/dev/zero", 2, &err, &data, &len), PM_ERR_FORMAT);
    pm_error_release(&err);
    assert_int_equal(pm_file_read_named("/dev/zero", 2, &err, &data, &len), PM_ERR_LIMIT);
    pm_error_release(&err);
    assert_int_equal(pm_file_read_named("/dev/null", 2, &err, &data, &len), PM_OK);
    assert_int_equal(len, 0);
    free(data);
    assert_int_equal(rmdir(folder), 0); /* no temporary stayed */
    assert_int_equal(pm_file_write(path, "x", 1, &err), PM_ERR_SYSTEM);
    pm_error_release(&err);
    assert_int_equal(pm_file_write("/dev/null", "x", 1, &err), PM_OK);
    assert_int_equal(pm_file_write("/dev/full", "x", 1, &err), PM_ERR_SYSTEM);
    assert_string_equal(pm_error_text(&err), "cannot write '/dev/full': No space left on device");
    pm_error_release(&err);
    assert_true(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
}

static bool number_is_less(const void *item, const void *key)
{
    return *(const int *)item < *(const int *)key;
}

static void a_lower_bound_is_where_the_key_would_be(void **state)
{
    (void)state;
    static const int numbers[] = {2, 4, 4, 4, 9};
    static const struct {
        int key;
        size_t at;
    } expected[] = {{1, 0}, {2, 0}, {3, 1}, {4, 1}, {5, 4}, {9, 4}, {10, 5}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(
            pm_lower_bound(numbers, 5, sizeof *numbers, &expected[i].key, number_is_less),
            expected[i].at);
    assert_int_equal(pm_lower_bound(NULL, 0, sizeof *numbers, &expected[0].key, number_is_less), 0);
}

static void an_array_doubles_and_stays_as_it_is_without_memory(void **state)
{
    (void)state;
    uint32_t cap = 0, n = 0;
    int *numbers = NULL;
    for (; n < 100; n++) {
        int *grown = pm_grow_array(numbers, n, &cap, 3, sizeof *numbers);
        assert_non_null(grown);
        numbers = grown;
        numbers[n] = (int)n;
        assert_true(cap > n && cap <= 2 * n + 3);
    }
    uint32_t full = cap;
    pm_alloc_fail_at(1);
    assert_null(pm_grow_array(numbers, full, &cap, 3, sizeof *numbers));
    pm_alloc_fail_at(0);
    assert_int_equal(cap, full);
    assert_int_equal(numbers[99], 99);
    uint32_t most = UINT32_C(1) << 31;
    assert_null(pm_grow_array(NULL, most, &most, 3, 1));
    free(numbers);
}

static void printable_is(const char *text, const char *expected)
{
    struct pm_buf buf = PM_BUF_INIT(1000);
    pm_buf_add_printable(&buf, text, strlen(text));
    assert_string_equal(buf.data, expected);
    pm_buf_release(&buf);
}

static void text_from_files_cannot_drive_a_terminal(void **state)
{
    (void)state;
    printable_is("heat, sweep\xc3\xa9 \xe2\x89\xa5", "heat, sweep\xc3\xa9 \xe2\x89\xa5");
    printable_is("a\033]0;P\007\033[31m\n", "a\\x1b]0;P\\x07\\x1b[31m\\x0a");
    printable_is("\xc2\x9b"
                 "31m \x9b \x7f",
                 "\\xc2\\x9b31m \\x9b \\x7f"); /* CSI as one character */
    printable_is("\xe2\x80\xae"
                 "c.exe",
                 "\\xe2\\x80\\xae"
                 "c.exe");
    printable_is("\xe2\x81\xa6\xc3", "\\xe2\\x81\\xa6\\xc3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_never_grows_above_its_largest_size),
        cmocka_unit_test(a_lower_bound_is_where_the_key_would_be),
        cmocka_unit_test(an_array_doubles_and_stays_as_it_is_without_memory),
        cmocka_unit_test(a_buffer_hands_its_bytes_over),
        cmocka_unit_test(varints_read_back),
        cmocka_unit_test(short_and_overlong_varints_are_refused),
        cmocka_unit_test(numbers_have_a_maximum),
        cmocka_unit_test(doubles_read_back_in_any_locale),
        cmocka_unit_test(only_shortest_utf8_counts),
        cmocka_unit_test(allocation_checks_the_product),
        cmocka_unit_test(a_file_is_written_whole_and_read_back),
        cmocka_unit_test(text_from_files_cannot_drive_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
