/* Profiles of TAU, written by hand from the format's description: TAU is in no distribution. */
#include "mapping/import/tau_text.h"
#include "record.h"

static const char columns[] = "# Name Calls Subrs Excl Incl ProfileCalls # <metadata></metadata>\n";

static void assert_tau(const char *head, const char *rows, const char *expected, const char *note)
{
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    pm_buf_printf(&text, "%s\n%s%s", head, columns, rows);
    pm_buf_printf(&text, "%s", "");
    struct pm_buf told = PM_BUF_INIT(1 << 12);
    pm_buf_printf(&told, "producer=TAU\n%s", note);
    assert_import(NULL, text.data, expected, told.data);
    pm_buf_release(&told);
    pm_buf_release(&text);
}

static const char paths[] = "\"main\" 1 2 10.5 110.5 0 GROUP=\"TAU_USER\"\n"
                            "\"main => f\" 2 4 60 100 0 GROUP=\"TAU_USER|TAU_CALLPATH\"\n"
                            "\"main  => f  => g [{a b.c} {12,1}-{20,1}]\" 4 0 4E+01 40 0 "
                            "GROUP=\"TAU_USER|TAU_CALLPATH\"\n"
                            "\"f\" 2 4 60 100 0 GROUP=\"TAU_USER\"\n"
                            "\"g [{a b.c} {12,1}-{20,1}]\" 4 0 40 40 0 GROUP=\"TAU_USER\"\n"
                            "0 aggregates\n";

static void paths_count_and_rows_of_their_functions_do_not(void **state)
{
    (void)state;
    assert_tau("5 templated_functions_MULTI_TIME", paths,
               "main;f wall_ns 60000\nmain;f n_calls 2\n"
               "main;f;g:12 wall_ns 40000\nmain;f;g:12 n_calls 4\n"
               "main wall_ns 10500\nmain n_calls 1\n",
               "");
}

static void counters_are_no_times(void **state)
{
    (void)state;
    assert_tau("1 templated_functions_MULTI_PAPI_TOT_CYC",
               "\"main\" 1 0 1.5E+05 150000 0 GROUP=\"TAU_USER\"\n0 aggregates\n",
               "main PAPI_TOT_CYC 150000\nmain n_calls 1\n", "");
    assert_tau("1 templated_functions_MULTI_CPU_TIME", "\"main\" 1 0 0.5 1 0 GROUP=\"TAU_USER\"\n",
               "main cpu_ns 500\nmain n_calls 1\n", "");
    assert_tau("1 templated_functions", "\"main\" 1 0 2 2 0 GROUP=\"TAU_USER\"\n",
               "main wall_ns 2000\nmain n_calls 1\n", "");
}

static void profiles_without_paths_say_so(void **state)
{
    (void)state;
    assert_tau("2 templated_functions_MULTI_TIME",
               "\"main\" 1 1 1 5 0 GROUP=\"TAU_USER\"\n\"f \" 1 0 4 4 0 \"TAU_USER\"\n",
               "main wall_ns 1000\nmain n_calls 1\nf wall_ns 4000\nf n_calls 1\n",
               "files without call paths, of which only exclusive costs are taken: 1");
}

static void paths_that_were_cut_are_told(void **state)
{
    (void)state;
    assert_tau("5 templated_functions_MULTI_TIME",
               "\"main\" 1 1 1 9 0 GROUP=\"TAU_USER\"\n"
               "\"main => f\" 1 1 3 8 0 GROUP=\"TAU_USER|TAU_CALLPATH\"\n"
               "\"f => g\" 1 0 5 5 0 GROUP=\"TAU_USER|TAU_CALLPATH\"\n"
               "\"f\" 1 1 3 8 0 GROUP=\"TAU_USER\"\n"
               "\"g\" 1 0 5 5 0 GROUP=\"TAU_USER\"\n",
               "main;f wall_ns 3000\nmain;f n_calls 1\nf;g wall_ns 5000\nf;g n_calls 1\n"
               "main wall_ns 1000\nmain n_calls 1\n",
               "call paths that begin inside (TAU_CALLPATH_DEPTH), whose callers are not known: 1");
}

static void a_function_that_also_begins_paths_keeps_both(void **state)
{
    (void)state;
    assert_tau("3 templated_functions_MULTI_TIME",
               "\"f => f\" 2 0 3 3 0 GROUP=\"TAU_USER|TAU_CALLPATH\"\n"
               "\"f\" 3 2 10 10 0 GROUP=\"TAU_USER\"\n"
               "\"unseen => f\" 0 0 0 0 0 GROUP=\"TAU_USER|TAU_CALLPATH\"\n",
               "f;f wall_ns 3000\nf;f n_calls 2\nf wall_ns 7000\nf n_calls 1\n", "");
}

static void samples_are_metrics_of_their_own(void **state)
{
    (void)state;
    assert_tau(
        "9 templated_functions_MULTI_TIME",
        "\"main\" 1 0 100 100 0 GROUP=\"TAU_USER\"\n"
        "\"[CONTEXT] main\" 3 0 0 90 0 GROUP=\"TAU_SAMPLE_CONTEXT\"\n"
        "\"main => [CONTEXT] main\" 3 0 0 90 0 GROUP=\"TAU_SAMPLE_CONTEXT|TAU_CALLPATH\"\n"
        "\"main => [CONTEXT] main => [UNWIND] f [{a.c} {7}]\" 2 0 0 60 0 GROUP=\"TAU_UNWIND\"\n"
        "\"main => [CONTEXT] main => [UNWIND] f [{a.c} {7}] => [SAMPLE] g [{a.c} {15}]\" 2 0 60 60 "
        "0 GROUP=\"TAU_SAMPLE|TAU_CALLPATH\"\n"
        "\"main => [CONTEXT] main => [SUMMARY] g [{a.c}] => [SAMPLE] g [{a.c} {16}]\" 1 0 30 30 0 "
        "GROUP=\"TAU_SAMPLE|TAU_CALLPATH\"\n"
        "\"[UNWIND] f [{a.c} {7}]\" 2 0 0 60 0 GROUP=\"TAU_UNWIND\"\n"
        "\"[SAMPLE] g [{a.c} {15}]\" 2 0 60 60 0 GROUP=\"TAU_SAMPLE\"\n"
        "\"[SAMPLE] g [{a.c} {16}]\" 1 0 30 30 0 GROUP=\"TAU_SAMPLE\"\n",
        "main;f:7;g:15 sampled_wall_ns 60000\nmain;f:7;g:15 n_samples 2\n"
        "main;g:16 sampled_wall_ns 30000\nmain;g:16 n_samples 1\n"
        "main wall_ns 100000\nmain n_calls 1\n",
        "");
}

static void events_of_the_user_are_sums(void **state)
{
    (void)state;
    assert_tau("1 templated_functions_MULTI_TIME",
               "\"main\" 1 0 1 1 0 GROUP=\"TAU_USER\"\n0 aggregates\n3 userevents\n"
               "# eventname numevents max min mean sumsqr\n"
               "\"Message size\" 4 8 4 6 80\n"
               "\"Message size : main => MPI_Send()\" 2 8 8 8 64\n"
               "\"Heap (KB)\" 1 2.5 2.5 2.5 6\n",
               "main wall_ns 1000\nmain n_calls 1\n"
               "main;MPI_Send() Message_size 16\n Message_size 8\n Heap__KB_ 3\n",
               "files without call paths, of which only exclusive costs are taken: 1\n"
               "events of the user, of which only sums are taken: 3");
}

static void values_below_zero_are_told(void **state)
{
    (void)state;
    assert_tau("1 templated_functions_MULTI_TIME", "\"main\" 1 0 -5 1 0 GROUP=\"TAU_USER\"\n",
               "main n_calls 1\n",
               "files without call paths, of which only exclusive costs are taken: 1\n"
               "values less than 0, taken for 0: 1");
}

static void names_end_where_the_numbers_begin(void **state)
{
    struct tau_row row;
    (void)state;
    assert_true(tau_read_row(PM_STR("\"say(\"a\" 1) \" 1 2 3 4.5 0 GROUP=\"A | B\""), 5, &row));
    assert_true(pm_str_is(row.name, "say(\"a\" 1)") && pm_str_is(row.groups, "A | B"));
    assert_true(row.numbers[3] == 4.5);
    assert_false(tau_read_row(PM_STR("\"f\" 1 2 3 4"), 5, &row));
    assert_false(tau_read_row(PM_STR("\"f\" 1 2 3 4 nan"), 5, &row));
    assert_false(tau_read_row(PM_STR("f 1 2 3 4 5"), 5, &row));
    assert_false(tau_read_row(PM_STR("\"f"), 5, &row));
    assert_false(tau_read_row(PM_STR(""), 5, &row));
}

static void assert_name(const char *text, enum tau_kind kind, const char *function,
                        const char *file, uint32_t line_no)
{
    struct tau_name name = tau_read_name(pm_str_of(text));
    assert_int_equal(name.kind, kind);
    assert_true(pm_str_is(name.function, function) && pm_str_is(name.file, file));
    assert_int_equal(name.line_no, line_no);
}

static void names_have_places(void **state)
{
    (void)state;
    assert_name("int main(int, char **) C [{/x/a b.c} {20,1}-{30,1}]", TAU_TIMER,
                "int main(int, char **)", "/x/a b.c", 20);
    assert_name("[SAMPLE] f [{a.c} {15}]", TAU_SAMPLED, "f", "a.c", 15);
    assert_name("[CONTEXT] .TAU application", TAU_NOTHING, ".TAU application", "", 0);
    assert_name("f [{a.c", TAU_TIMER, "f", "", 0);
    assert_name("f [{a.c}", TAU_TIMER, "f", "a.c", 0);
    assert_name("f [{a.c} {", TAU_TIMER, "f", "a.c", 0);
    assert_name("f [{a.c} {99999999999}]", TAU_TIMER, "f", "a.c", 0);
    assert_name("[{", TAU_TIMER, "", "", 0);
}

static void what_is_no_profile_is_refused(void **state)
{
    (void)state;
    assert_refused("tau", "", "the file ends behind 0 of 1 heads");
    assert_refused("tau", "hello\n", "'hello' does not begin a profile of TAU");
    assert_refused(NULL, "1 templated_functions_MULTI_TIME\nhello\n",
                   "line 2: 'hello' are not the columns of a profile of TAU");
    assert_refused(NULL,
                   "2 templated_functions_MULTI_TIME\n# Name Calls Subrs Excl Incl ProfileCalls\n"
                   "\"main\" 1 0 1 1 0 GROUP=\"TAU_USER\"\n",
                   "line 3: the file ends behind 1 of 2 functions");
    assert_refused(NULL,
                   "1 templated_functions_MULTI_TIME\n# Name Calls Subrs Excl Incl ProfileCalls\n"
                   "main 1 0 1 1 0\n",
                   "line 3: 'main 1 0 1 1 0' is no name in quotes and 5 numbers");
    assert_refused(NULL,
                   "0 templated_functions_MULTI_TIME\n# Name Calls Subrs Excl Incl ProfileCalls\n"
                   "0 aggregates\n2 userevents\n# eventname numevents max min mean sumsqr\n",
                   "line 5: the file ends behind 0 of 2 events");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_count_and_rows_of_their_functions_do_not),
        cmocka_unit_test(counters_are_no_times),
        cmocka_unit_test(profiles_without_paths_say_so),
        cmocka_unit_test(paths_that_were_cut_are_told),
        cmocka_unit_test(a_function_that_also_begins_paths_keeps_both),
        cmocka_unit_test(samples_are_metrics_of_their_own),
        cmocka_unit_test(events_of_the_user_are_sums),
        cmocka_unit_test(values_below_zero_are_told),
        cmocka_unit_test(names_end_where_the_numbers_begin),
        cmocka_unit_test(names_have_places),
        cmocka_unit_test(what_is_no_profile_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
