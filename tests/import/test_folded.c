/* Collapsed stacks. */
#include "record.h"

#define UNKNOWN_UNIT "do not say what their numbers are"

static void stacks_are_paths_and_the_last_word_their_number(void **state)
{
    (void)state;
    assert_import(NULL, "main;f;g 3\nmain 1\n", "main;f;g n_samples 3\nmain n_samples 1\n",
                  UNKNOWN_UNIT);
}

static void names_may_have_blanks(void **state)
{
    (void)state;
    assert_import(NULL, "main;operator new(unsigned long);f 1 2\n",
                  "main;operator new(unsigned long);f 1 n_samples 2\n", UNKNOWN_UNIT);
}

static void marks_of_frames_are_no_part_of_their_names(void **state)
{
    (void)state;
    assert_import(NULL, "main;f_[i];write_[k] 3\nmain;g_[x] 1\n",
                  "main;f~;write n_samples 3\nmain;g_[x] n_samples 1\n", UNKNOWN_UNIT);
}

static void lines_end_in_cr_lf_and_comments_are_passed_over(void **state)
{
    (void)state;
    assert_import(NULL, "# made by hand\r\n\r\nmain;f 3\r\n  \nmain 5",
                  "main;f n_samples 3\nmain n_samples 5\n", UNKNOWN_UNIT);
}

static void a_unit_makes_times(void **state)
{
    (void)state;
    assert_import_bytes(NULL, "us", PM_STR("main 3\n"), "main cpu_ns 3000\n", NULL);
    assert_import_bytes(NULL, "ns", PM_STR("main 3\n"), "main cpu_ns 3\n", NULL);
    assert_import_bytes(NULL, "faults", PM_STR("main 3\n"), "main faults 3\n", NULL);
}

static void a_number_alone_is_the_process_itself(void **state)
{
    (void)state;
    assert_import("folded", "main 2\n;; 5\n", "main n_samples 2\n n_samples 5\n", UNKNOWN_UNIT);
}

static void what_is_no_stack_is_refused(void **state)
{
    (void)state;
    assert_refused("folded", "main;f 3\nmain;f\n",
                   "line 2: 'main;f' does not end in a whole number");
    assert_refused("folded", "main;f 1.5\n", "line 1: 'main;f 1.5' does not end in a whole number");
    assert_refused("folded", "main;f -1\n", "does not end in a whole number");
    assert_refused(NULL, "hello\n", "in no format that perfmap import knows");
    assert_refused(NULL, "", "in no format that perfmap import knows");
}

static void values_too_large_are_refused(void **state)
{
    (void)state;
    assert_refused("folded", "main 18446744073709551615\n", "is too large");
    assert_refused("folded", "main 18446744073709551616\n", "does not end in a whole number");
}

/* gzip of "main;f 3\n" */
static const char packed[] =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\xcb\x4d\xcc\xcc\xb3\x4e\x53\x30"
    "\xe6\x02\x00\xe2\x5e\xfb\x9f\x09\x00\x00\x00";

static void packed_files_are_unpacked(void **state)
{
    (void)state;
    struct pm_str bytes = {packed, sizeof packed - 1};
    assert_import_bytes("folded", NULL, bytes, "main;f n_samples 3\n", UNKNOWN_UNIT);
    bytes.len -= 12;
    assert_refused_bytes("folded", bytes, "the packed data end before they are complete");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_are_paths_and_the_last_word_their_number),
        cmocka_unit_test(names_may_have_blanks),
        cmocka_unit_test(marks_of_frames_are_no_part_of_their_names),
        cmocka_unit_test(lines_end_in_cr_lf_and_comments_are_passed_over),
        cmocka_unit_test(a_unit_makes_times),
        cmocka_unit_test(a_number_alone_is_the_process_itself),
        cmocka_unit_test(what_is_no_stack_is_refused),
        cmocka_unit_test(values_too_large_are_refused),
        cmocka_unit_test(packed_files_are_unpacked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
