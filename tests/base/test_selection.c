#include "mapping/base/selection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A selection of patterns, each with '+' or '-' before it; NULL ends. */
static struct pm_selection *make(const char *first, ...)
{
    struct pm_selection *select = pm_selection_new();
    va_list args;
    assert_non_null(select);
    va_start(args, first);
    for (const char *p = first; p; p = va_arg(args, const char *))
        assert_int_equal(pm_selection_add(select, *p == '+', p + 1, NULL), PM_OK);
    va_end(args);
    return select;
}

static bool match(struct pm_selection *select, const char *file, const char *name,
                  const char *linkage)
{
    return pm_selection_fits(select, &(struct pm_selection_subject){file, NULL, name, linkage});
}

static void no_pattern_selects_everything(void **state)
{
    (void)state;
    struct pm_selection *s = make(NULL, NULL);
    assert_true(match(s, "a.c", "f", "f"));
    assert_true(match(s, "", "", ""));
    assert_true(pm_selection_is_everything(s));
    assert_int_equal(pm_selection_add(s, false, "g", NULL), PM_OK);
    assert_false(pm_selection_is_everything(s));
    pm_selection_free(s);
}

static void an_include_pattern_selects_nothing_else(void **state)
{
    (void)state;
    struct pm_selection *s = make("+func:tiny_*", NULL);
    assert_true(match(s, "a.c", "tiny_one", "tiny_one"));
    assert_false(match(s, "a.c", "big", "big"));
    assert_false(match(s, "tiny_file.c", "big", "big"));
    pm_selection_free(s);
}

static void exclude_wins_over_include_in_any_order(void **state)
{
    (void)state;
    struct pm_selection *s = make("-f", "+f", NULL), *t = make("+f", "-f", NULL);
    assert_false(match(s, "a.c", "f", "f"));
    assert_false(match(t, "a.c", "f", "f"));
    pm_selection_free(s);
    pm_selection_free(t);
}

static void a_bare_pattern_is_tried_on_functions_and_files(void **state)
{
    (void)state;
    struct pm_selection *s = make("+heat*", NULL);
    assert_true(match(s, "x.c", "heat_step", "heat_step"));
    assert_true(match(s, "heat.c", "main", "main"));
    assert_false(match(s, "x.c", "main", "main"));
    pm_selection_free(s);
}

static void a_name_matches_as_declared_or_as_linked(void **state)
{
    (void)state;
    struct pm_selection *s = make("+func:ns::f", "+func:_ZN2ns1gEv", NULL);
    assert_true(match(s, "a.cc", "ns::f", "_ZN2ns1fEv"));
    assert_true(match(s, "a.cc", "ns::g", "_ZN2ns1gEv"));
    assert_false(match(s, "a.cc", "ns::h", "_ZN2ns1hEv"));
    assert_false(match(s, "a.cc", NULL, NULL));
    pm_selection_free(s);
}

static void a_file_matches_whole_or_any_tail_after_a_slash(void **state)
{
    (void)state;
    struct pm_selection *s = make("+file:src/*.c", NULL);
    assert_true(match(s, "src/a.c", "f", "f"));
    assert_true(match(s, "/home/me/src/a.c", "f", "f"));
    assert_true(match(s, "../src/deep/a.c", "f", "f"));
    assert_false(match(s, "mysrc/a.c", "f", "f"));
    assert_false(match(s, "src/a.cc", "f", "f"));
    assert_false(match(s, "", "f", "f"));
    pm_selection_free(s);
}

static void an_empty_pattern_is_refused_by_name(void **state)
{
    (void)state;
    struct pm_selection *s = make(NULL, NULL);
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_selection_add(s, true, "file:", &err), PM_ERR_USAGE);
    assert_non_null(strstr(pm_error_text(&err), "'file:'"));
    pm_error_release(&err);
    pm_selection_free(s);
}

static enum pm_status read_text(struct pm_selection *s, const void *text, size_t len,
                                struct pm_error *err)
{
    char path[] = "/tmp/perfmap-select-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, len) == (ssize_t)len);
    close(fd);
    enum pm_status status = pm_selection_read_file(s, path, err);
    unlink(path);
    return status;
}

static void a_file_has_one_pattern_a_line(void **state)
{
    (void)state;
    struct pm_selection *s = make(NULL, NULL);
    static const char text[] = "# comment\n\n+func:a*\r\n  -func:ab \t\n+file:x y.c";
    assert_int_equal(read_text(s, text, sizeof text - 1, NULL), PM_OK);
    assert_true(match(s, "z.c", "aa", "aa"));
    assert_false(match(s, "z.c", "ab", "ab"));
    assert_true(match(s, "d/x y.c", "q", "q"));
    assert_false(match(s, "z.c", "q", "q"));
    pm_selection_free(s);
}

static void an_empty_file_selects_everything(void **state)
{
    (void)state;
    struct pm_selection *s = make(NULL, NULL);
    assert_int_equal(read_text(s, "", 0, NULL), PM_OK);
    assert_true(match(s, "z.c", "aa", "aa"));
    pm_selection_free(s);
}

static void a_bad_line_is_named_with_its_number(void **state)
{
    (void)state;
    struct pm_selection *s = make(NULL, NULL);
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(read_text(s, "+a\n\nmain\n", 9, &err), PM_ERR_FORMAT);
    assert_non_null(strstr(pm_error_text(&err), "'main' does not begin with"));
    assert_non_null(strstr(pm_error_text(&err), "line 3"));
    pm_error_release(&err);
    assert_int_equal(read_text(s, "+a\0b\n", 5, &err), PM_ERR_FORMAT);
    assert_non_null(strstr(pm_error_text(&err), "zero byte"));
    pm_error_release(&err);
    assert_int_equal(pm_selection_read_file(s, "/no/such/file", &err), PM_ERR_SYSTEM);
    assert_non_null(strstr(pm_error_text(&err), "/no/such/file"));
    pm_error_release(&err);
    pm_selection_free(s);
}

static struct pm_selection *read_whole(const char *text)
{
    struct pm_selection *s = pm_selection_new();
    struct pm_error err = PM_ERROR_INIT;
    assert_non_null(s);
    if (pm_selection_read(s, pm_str_of(text), "list", &err) != PM_OK)
        fail_msg("%s", pm_error_text(&err));
    return s;
}

static void expect_error(const char *text, const char *expected)
{
    struct pm_selection *s = pm_selection_new();
    struct pm_error err = PM_ERROR_INIT;
    enum pm_status status = pm_selection_read(s, pm_str_of(text), "list", &err);
    assert_true(status == PM_ERR_FORMAT || status == PM_ERR_USAGE);
    assert_non_null(strstr(pm_error_text(&err), expected));
    pm_error_release(&err);
    pm_selection_free(s);
}

static void in_a_file_the_last_line_that_fits_decides(void **state)
{
    (void)state;
    struct pm_selection *s = read_whole("+*\n-func:a*\n+func:ab\n-func:abc\n");
    assert_true(match(s, "f.c", "b", "b"));
    assert_false(match(s, "f.c", "a", "a"));
    assert_true(match(s, "f.c", "ab", "ab"));
    assert_false(match(s, "f.c", "abc", "abc"));
    pm_selection_free(s);
    s = read_whole("+func:f\n-f\n");
    assert_false(match(s, "f.c", "f", "f"));
    pm_selection_free(s);
}

static void each_section_has_to_select(void **state)
{
    (void)state;
    struct pm_selection *s = read_whole("+file:a.c\n+file:b.c\n&\n-func:f\n");
    assert_true(match(s, "a.c", "g", "g"));
    assert_false(match(s, "a.c", "f", "f"));
    assert_false(match(s, "c.c", "g", "g"));
    assert_int_equal(pm_selection_add(s, true, "func:h", NULL), PM_OK);
    assert_false(match(s, "a.c", "g", "g"));
    assert_true(match(s, "a.c", "h", "h"));
    pm_selection_free(s);
}

static void a_symbol_is_exactly_one(void **state)
{
    (void)state;
    struct pm_selection *s = read_whole("+symbol:_ZN2ns1fEi\n+symbol:init in src/a.c\n");
    assert_true(match(s, "x.cc", "ns::f", "_ZN2ns1fEi"));
    assert_false(match(s, "x.cc", "ns::f", "_ZN2ns1fEv"));
    assert_true(match(s, "/home/me/src/a.c", "init", "init"));
    assert_true(match(s, "../src/a.c", "init", "init"));
    assert_true(match(s, "a.c", "init", "init")); /* compiled where it lies */
    assert_false(match(s, "lib/a.c", "init", "init"));
    assert_false(match(s, "data.c", "init", "init"));
    assert_true(pm_selection_fits(
        s, &(struct pm_selection_subject){"a.c", "/home/me/src/a.c", "init", "init"}));
    assert_false(pm_selection_fits(
        s, &(struct pm_selection_subject){"a.c", "/home/me/lib/a.c", "init", "init"}));
    pm_selection_free(s);
    expect_error("+symbol:f of a.c\n", "'in FILE' may stand");
    struct pm_error err = PM_ERROR_INIT;
    s = pm_selection_new();
    assert_int_equal(pm_selection_read(s, PM_STR("+a\n+symbol:\n"), "list", &err), PM_ERR_USAGE);
    assert_non_null(
        strstr(pm_error_text(&err), "'symbol:' is empty / selection file 'list' line 2"));
    pm_error_release(&err);
    pm_selection_free(s);
}

/* GCC names a constructor C4 or C2, libclang C1. */
static void symbols_of_one_constructor_are_one(void **state)
{
    (void)state;
    struct pm_selection *s =
        read_whole("+symbol:_ZN2C1C1Ev\n+symbol:_ZN1TIiED0Ev\n+symbol:_Z2C1v\n");
    assert_true(match(s, "x.cc", "C1::C1", "_ZN2C1C4Ev"));
    assert_true(match(s, "x.cc", "C1::C1", "_ZN2C1C2Ev"));
    assert_false(match(s, "x.cc", "C2::C2", "_ZN2C2C1Ev"));
    assert_true(match(s, "x.cc", "T<int>::~T", "_ZN1TIiED4Ev"));
    assert_false(match(s, "x.cc", "T<int>::T", "_ZN1TIiEC1Ev"));
    assert_false(match(s, "x.cc", "C2", "_Z2C2v"));
    pm_selection_free(s);
}

static void many_names_are_found_by_their_own(void **state)
{
    (void)state;
    enum { N = 50000 };
    struct pm_buf text = PM_BUF_INIT(1 << 24);
    char name[40];
    for (int i = 0; i < N; i += 2)
        pm_buf_printf(&text, "+symbol:f%d\n+func:g%d\n", i, i);
    struct pm_selection *s = read_whole(text.data);
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "f%d", i);
        assert_int_equal(match(s, "a.c", name, name), i % 2 == 0);
        *name = 'g';
        assert_int_equal(match(s, "a.c", name, name), i % 2 == 0);
    }
    pm_selection_free(s);
    pm_buf_release(&text);
}

/* The example of Score-P's manual, with its comments, and what it says of it. */
static void a_filter_of_score_p_is_read_as_its_manual_says(void **state)
{
    (void)state;
    struct pm_selection *s = read_whole("SCOREP_FILE_NAMES_BEGIN # This is a comment\n"
                                        "  EXCLUDE */filtering/filter*\n"
                                        "  INCLUDE */filter_test.c\n"
                                        "SCOREP_FILE_NAMES_END\n"
                                        "SCOREP_REGION_NAMES_BEGIN\n"
                                        "  EXCLUDE *\n"
                                        "  INCLUDE bar foo\n"
                                        "          baz\n"
                                        "          main\n"
                                        "  EXCLUDE MANGLED _Z3bazi # one\n"
                                        "SCOREP_REGION_NAMES_END\n");
    assert_string_equal(pm_selection_source(s), "filter file of Score-P");
    assert_true(match(s, "/p/filtering/filter_test.c", "bar", "bar"));
    assert_false(match(s, "/p/filtering/filter_other.c", "bar", "bar"));
    assert_true(match(s, "filter_test.c", "bar", "bar")); /* compiled where it lies */
    assert_true(match(s, "/p/x.c", "main", "main"));
    assert_false(match(s, "/p/x.c", "other", "other"));
    assert_true(match(s, "/p/x.c", "baz", "_Z3bazv"));
    assert_false(match(s, "/p/x.c", "baz", "_Z3bazi"));
    pm_selection_free(s);
}

static void names_of_score_p_have_types_and_blanks(void **state)
{
    (void)state;
    struct pm_selection *s = read_whole("SCOREP_REGION_NAMES_BEGIN\n"
                                        "EXCLUDE bool\\ is_prime(int) void\\ ns::f(int,\\ char)\n"
                                        "EXCLUDE g\\#1 tiny?\n"
                                        "SCOREP_REGION_NAMES_END\n");
    assert_false(match(s, "a.c", "is_prime", "is_prime"));
    assert_false(match(s, "a.cc", "is_prime(int)", "_Z8is_primei"));
    assert_true(match(s, "a.cc", "is_prime(long)", "_Z8is_primel"));
    assert_false(match(s, "a.cc", "ns::f(int, char)", "_ZN2ns1fEic"));
    assert_true(match(s, "a.cc", "ns::f(int)", "_ZN2ns1fEi"));
    assert_false(match(s, "a.cc", "tiny1", "tiny1"));
    assert_true(match(s, "a.cc", "tiny", "tiny"));
    pm_selection_free(s);
}

static void a_wrong_filter_of_score_p_is_refused_with_its_line(void **state)
{
    (void)state;
    expect_error("SCOREP_REGION_NAMES_BEGIN\n foo\n",
                 "'foo': expected EXCLUDE or INCLUDE before the first pattern / selection file "
                 "'list' line 2");
    expect_error("SCOREP_REGION_NAMES_BEGIN\nEXCLUDE\nINCLUDE a\nSCOREP_REGION_NAMES_END\n",
                 "line 3");
    expect_error("SCOREP_REGION_NAMES_BEGIN\nEXCLUDE a\n",
                 "the file ends before SCOREP_REGION_NAMES_END");
    expect_error("SCOREP_REGION_NAMES_BEGIN\nEXCLUDE a\nSCOREP_FILE_NAMES_BEGIN\n",
                 "the block before is not ended");
    expect_error("SCOREP_REGION_NAMES_END\n", "expected SCOREP_FILE_NAMES_BEGIN");
    expect_error("SCOREP_FILE_NAMES_BEGIN\nEXCLUDE\nSCOREP_FILE_NAMES_END\n", "has no pattern");
}

/* The example of TAU's manual. */
static void a_filter_of_tau_is_read_as_its_manual_says(void **state)
{
    (void)state;
    struct pm_selection *s = read_whole("#Tell tau to not profile these functions\n"
                                        "BEGIN_EXCLUDE_LIST\n\n"
                                        "void quicksort(int *, int, int)\n"
                                        "# The next line excludes all functions beginning with\n"
                                        "void sort_#\n"
                                        "void interchange(int *, int *) C\n\n"
                                        "\"#helper\"\n"
                                        "MATMUL\n"
                                        "END_EXCLUDE_LIST\n\n"
                                        "BEGIN_FILE_INCLUDE_LIST\nmain.c\nfoo?.cpp\n"
                                        "END_FILE_INCLUDE_LIST\n");
    assert_string_equal(pm_selection_source(s), "filter file of TAU");
    assert_false(match(s, "main.c", "quicksort", "quicksort"));
    assert_false(match(s, "main.c", "quicksort(int*, int, int)", "_Z9quicksortPiii"));
    assert_true(match(s, "main.c", "quicksort(long*, int, int)", "_Z9quicksortPlii"));
    assert_false(match(s, "main.c", "interchange", "interchange"));
    assert_true(match(s, "main.c", "interchange(int*, int*)", "_Z11interchangePiS_"));
    assert_false(match(s, "main.c", "interchange(size_t *, int *)", "interchange"));
    assert_false(match(s, "main.c", "sort_up", "sort_up"));
    assert_true(match(s, "main.c", "sorted", "sorted"));
    assert_false(match(s, "main.c", "my_helper", "my_helper"));
    assert_false(match(s, "main.c", "matmul", "matmul_"));
    assert_true(match(s, "main.c", "matmul", "matmul"));
    assert_true(match(s, "/src/foo1.cpp", "f", "f"));
    assert_false(match(s, "/src/other.c", "f", "f"));
    assert_null(pm_selection_note(s, 0));
    pm_selection_free(s);
}

static void lists_of_tau_are_joined(void **state)
{
    (void)state;
    struct pm_selection *s = read_whole("BEGIN_INCLUDE_LIST\nint main(int, char **) C "
                                        "[{main.c} {3,1}-{9,1}]\nwork\nEND_INCLUDE_LIST\n"
                                        "BEGIN_EXCLUDE_LIST\nwork\nEND_EXCLUDE_LIST\n"
                                        "BEGIN_INSTRUMENT_SECTION\nloops routine=\"#\"\n"
                                        "END_INSTRUMENT_SECTION\n");
    assert_true(match(s, "main.c", "main", "main"));
    assert_false(match(s, "main.c", "work", "work"));
    assert_false(match(s, "main.c", "rest", "rest"));
    assert_non_null(strstr(pm_selection_note(s, 0), "line 8"));
    assert_null(pm_selection_note(s, 1));
    pm_selection_free(s);
}

static void a_wrong_filter_of_tau_is_refused_with_its_line(void **state)
{
    (void)state;
    expect_error("BEGIN_EXCLUDE_LIST\nf\n", "the file ends before END_EXCLUDE_LIST");
    expect_error(
        "BEGIN_EXCLUDE_LIST\nBEGIN_INCLUDE_LIST\n",
        "'BEGIN_INCLUDE_LIST': the list before is not ended / selection file 'list' line 2");
    expect_error("BEGIN_EXCLUDE_LIST\nEND_EXCLUDE_LIST\nf\n", "'f': expected BEGIN_EXCLUDE_LIST");
    expect_error("BEGIN_EXCLUDE_LIST\n\"\"\nEND_EXCLUDE_LIST\n", "names no routine");
}

static void what_is_written_reads_the_same(void **state)
{
    static const char *const texts[] = {
        "+a\n-func:b*\n+symbol:f in a b.c\n&\n-file:x.c\n+fortran:M\n-c:f(int)\n-mangled:_Z*\n",
        "BEGIN_EXCLUDE_LIST\nint *f(char *)\nG#\nEND_EXCLUDE_LIST\n",
        "SCOREP_FILE_NAMES_BEGIN EXCLUDE a\\ b SCOREP_FILE_NAMES_END "
        "SCOREP_REGION_NAMES_BEGIN EXCLUDE MANGLED _Z* SCOREP_REGION_NAMES_END"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pm_buf once = PM_BUF_INIT(1 << 20), twice = PM_BUF_INIT(1 << 20);
        struct pm_selection *s = read_whole(texts[i]);
        pm_selection_write(s, &once);
        struct pm_selection *again = read_whole(once.data);
        pm_selection_write(again, &twice);
        assert_string_equal(once.data, twice.data);
        pm_selection_free(again);
        pm_selection_free(s);
        pm_buf_release(&once);
        pm_buf_release(&twice);
    }
}

static void each_allocation_may_fail(void **state)
{
    static const char text[] = "BEGIN_EXCLUDE_LIST\nint f(char *)\nG#\nEND_EXCLUDE_LIST\n"
                               "BEGIN_INSTRUMENT_SECTION\nEND_INSTRUMENT_SECTION\n";
    (void)state;
    for (long n = 1;; n++) {
        struct pm_error err = PM_ERROR_INIT;
        pm_alloc_fail_at(n);
        struct pm_selection *s = pm_selection_new();
        enum pm_status status =
            s ? pm_selection_read(s, PM_STR("+a\n-symbol:b in c\n"), "list", &err) : PM_ERR_MEMORY;
        if (status == PM_OK)
            status = pm_selection_read(s, pm_str_of(text), "list", &err);
        bool ended = pm_alloc_fail_pending();
        pm_alloc_fail_at(0);
        assert_int_equal(status, ended ? PM_OK : PM_ERR_MEMORY);
        pm_error_release(&err);
        pm_selection_free(s);
        if (ended)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pattern_selects_everything),
        cmocka_unit_test(an_include_pattern_selects_nothing_else),
        cmocka_unit_test(exclude_wins_over_include_in_any_order),
        cmocka_unit_test(a_bare_pattern_is_tried_on_functions_and_files),
        cmocka_unit_test(a_name_matches_as_declared_or_as_linked),
        cmocka_unit_test(a_file_matches_whole_or_any_tail_after_a_slash),
        cmocka_unit_test(an_empty_pattern_is_refused_by_name),
        cmocka_unit_test(a_file_has_one_pattern_a_line),
        cmocka_unit_test(an_empty_file_selects_everything),
        cmocka_unit_test(a_bad_line_is_named_with_its_number),
        cmocka_unit_test(in_a_file_the_last_line_that_fits_decides),
        cmocka_unit_test(each_section_has_to_select),
        cmocka_unit_test(a_symbol_is_exactly_one),
        cmocka_unit_test(symbols_of_one_constructor_are_one),
        cmocka_unit_test(many_names_are_found_by_their_own),
        cmocka_unit_test(a_filter_of_score_p_is_read_as_its_manual_says),
        cmocka_unit_test(names_of_score_p_have_types_and_blanks),
        cmocka_unit_test(a_wrong_filter_of_score_p_is_refused_with_its_line),
        cmocka_unit_test(a_filter_of_tau_is_read_as_its_manual_says),
        cmocka_unit_test(lists_of_tau_are_joined),
        cmocka_unit_test(a_wrong_filter_of_tau_is_refused_with_its_line),
        cmocka_unit_test(what_is_written_reads_the_same),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
