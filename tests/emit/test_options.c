#include "plugin/emit/options.h"
#include "mapping/base/selection.h"

#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static int setup(void **state)
{
    struct pm_options *options = calloc(1, sizeof *options);
    *state = options;
    return options && pm_options_init(options, NULL) == PM_OK ? 0 : -1;
}

static int teardown(void **state)
{
    pm_options_release(*state);
    free(*state);
    return 0;
}

static bool fits(const struct pm_options *options, const char *name)
{
    return pm_selection_fits(options->selection,
                             &(struct pm_selection_subject){"a.c", NULL, name, name});
}

/* Refused, with a message that holds text. */
static void expect_refusal(struct pm_options *options, const char *key, const char *value,
                           const char *text)
{
    struct pm_error err = PM_ERROR_INIT;
    assert_int_not_equal(pm_options_set(options, key, value, &err), PM_OK);
    if (strstr(pm_error_text(&err), text) == NULL)
        fail_msg("'%s' is not in: %s", text, pm_error_text(&err));
    pm_error_release(&err);
}

static void functions_and_outermost_loops_are_the_default(void **state)
{
    struct pm_options *o = *state;
    assert_true(o->functions && o->loops && o->section && o->map);
    assert_false(o->search_loops || o->all_loops || o->portable || o->verbose || o->pif_none);
    assert_null(o->pif_dir);
    assert_true(fits(o, "f"));
}

static void constructs_replace_the_default(void **state)
{
    struct pm_options *o = *state;
    assert_int_equal(pm_options_set(o, "constructs", "functions", NULL), PM_OK);
    assert_true(o->functions && !o->loops && !o->all_loops);
    assert_int_equal(pm_options_set(o, "constructs", "all-loops", NULL), PM_OK);
    assert_true(!o->functions && o->loops && o->search_loops && o->all_loops);
    assert_int_equal(pm_options_set(o, "constructs", "functions,search-loops", NULL), PM_OK);
    assert_true(o->functions && o->loops && o->search_loops && !o->all_loops);
    assert_int_equal(pm_options_set(o, "constructs", "loops,functions", NULL), PM_OK);
    assert_true(o->functions && o->loops && !o->search_loops && !o->all_loops);
    assert_int_equal(pm_options_set(o, "constructs", "none", NULL), PM_OK);
    assert_false(o->functions || o->loops || o->search_loops || o->all_loops);
}

static void a_wrong_word_gets_a_suggestion(void **state)
{
    struct pm_options *o = *state;
    expect_refusal(o, "constructs", "function", "did you mean 'functions'?");
    expect_refusal(o, "constructs", "functions,", "construct ''");
    expect_refusal(o, "exlude", "x", "option 'exlude' does not exist; did you mean 'exclude'?");
    expect_refusal(o, "PORTABLE_PLEASE", NULL, "there are: constructs, include, exclude");
    expect_refusal(o, "", NULL, "option ''");
}

static void a_very_long_word_is_refused_too(void **state)
{
    char word[500];
    memset(word, 'x', sizeof word);
    word[sizeof word - 1] = 0;
    expect_refusal(*state, word, NULL, "does not exist; there are");
}

static void a_value_is_asked_for_or_refused(void **state)
{
    struct pm_options *o = *state;
    expect_refusal(o, "include", NULL, "option 'include' needs a value: include=PATTERN");
    expect_refusal(o, "include", "", "needs a value");
    expect_refusal(o, "portable", "yes", "option 'portable' takes no value, but 'yes'");
    assert_false(o->portable);
    assert_int_equal(pm_options_set(o, "portable", NULL, NULL), PM_OK);
    assert_int_equal(pm_options_set(o, "verbose", NULL, NULL), PM_OK);
    assert_true(o->portable && o->verbose);
}

static void patterns_reach_the_selection(void **state)
{
    struct pm_options *o = *state;
    assert_int_equal(pm_options_set(o, "include", "f*", NULL), PM_OK);
    assert_int_equal(pm_options_set(o, "exclude", "func:fat", NULL), PM_OK);
    assert_true(fits(o, "fit"));
    assert_false(fits(o, "fat"));
    expect_refusal(o, "select", "/no/such/file", "/no/such/file");
}

static void the_environment_says_where_pif_goes(void **state)
{
    (void)state;
    struct pm_error err = PM_ERROR_INIT;
    struct pm_options o;
    setenv("PERFMAP_PIF", "no", 1);
    assert_int_equal(pm_options_init(&o, &err), PM_OK);
    assert_true(o.pif_none);
    assert_int_equal(pm_options_set(&o, "pif", "auto", NULL), PM_OK); /* the command line wins */
    assert_false(o.pif_none);
    pm_options_release(&o);
    setenv("PERFMAP_PIF", "/tmp", 1);
    assert_int_equal(pm_options_init(&o, &err), PM_OK);
    assert_string_equal(o.pif_dir, "/tmp");
    pm_options_release(&o);
    setenv("PERFMAP_PIF", "/no/such/folder", 1);
    assert_int_equal(pm_options_init(&o, &err), PM_ERR_USAGE);
    pm_error_release(&err);
    setenv("PERFMAP_PIF", "", 1);
    assert_int_equal(pm_options_init(&o, &err), PM_OK);
    assert_true(!o.pif_none && !o.pif_dir);
    pm_options_release(&o);
    unsetenv("PERFMAP_PIF");
}

static void pdb_makes_its_folder(void **state)
{
    struct pm_options *o = *state;
    (void)rmdir("facts-of-a-test");
    assert_int_equal(pm_options_set(o, "pdb", "facts-of-a-test", NULL), PM_OK);
    assert_string_equal(o->pdb_dir, "facts-of-a-test");
    assert_int_equal(pm_options_set(o, "pdb", "facts-of-a-test", NULL), PM_OK);
    assert_int_equal(rmdir("facts-of-a-test"), 0);
    expect_refusal(o, "pdb", "/no/such/folder", "cannot make the folder: No such file");
    expect_refusal(o, "pdb", "/dev/null", "is not a folder");
    expect_refusal(o, "pdb", NULL, "option 'pdb' needs a value: pdb=DIR");
    assert_string_equal(o->pdb_dir, "facts-of-a-test");
}

static void pif_goes_to_a_folder_that_exists(void **state)
{
    struct pm_options *o = *state;
    assert_int_equal(pm_options_set(o, "pif", "none", NULL), PM_OK);
    assert_true(o->pif_none);
    assert_int_equal(pm_options_set(o, "pif", "/tmp", NULL), PM_OK);
    assert_false(o->pif_none);
    assert_string_equal(o->pif_dir, "/tmp");
    expect_refusal(o, "pif", "/no/such/folder", "is not auto, none or a folder");
    expect_refusal(o, "pif", "/dev/null", "is not auto, none or a folder");
    assert_string_equal(o->pif_dir, "/tmp");
    assert_int_equal(pm_options_set(o, "pif", "auto", NULL), PM_OK);
    assert_null(o->pif_dir);
    assert_int_equal(pm_options_set(o, "section", "no", NULL), PM_OK);
    assert_false(o->section);
    expect_refusal(o, "section", "maybe", "neither yes nor no");
    assert_int_equal(pm_options_set(o, "map", "no", NULL), PM_OK);
    assert_false(o->map);
    assert_int_equal(pm_options_set(o, "map", "yes", NULL), PM_OK);
    assert_true(o->map);
    expect_refusal(o, "map", "on", "option 'map=on' is neither yes nor no");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(functions_and_outermost_loops_are_the_default),
        TEST(constructs_replace_the_default),
        TEST(a_wrong_word_gets_a_suggestion),
        TEST(a_very_long_word_is_refused_too),
        TEST(a_value_is_asked_for_or_refused),
        TEST(patterns_reach_the_selection),
        TEST(the_environment_says_where_pif_goes),
        TEST(pdb_makes_its_folder),
        TEST(pif_goes_to_a_folder_that_exists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
