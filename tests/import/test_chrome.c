/* Chrome's Trace Event Format. */
#include "record.h"

#define X(name, ts, dur) \
    "{\"name\":\"" name "\",\"ph\":\"X\",\"ts\":" ts ",\"dur\":" dur ",\"pid\":1,\"tid\":2},"
#define BE(name, ph, ts) \
    "{\"name\":\"" name "\",\"ph\":\"" ph "\",\"ts\":" ts ",\"pid\":1,\"tid\":2},"
#define WHO "process 1 test\nthread 2 \n"

static void begins_and_ends_are_calls_with_times(void **state)
{
    (void)state;
#define HEAD "{\"displayTimeUnit\":\"ns\",\"traceEvents\":["
#define F BE("f", "B", "1")
#define G BE("g", "B", "2.5") BE("g", "E", "3.0005")
    static const char text[] = HEAD F G BE("f", "E", "5") "]}";
    assert_import(NULL, text,
                  WHO "f n_calls 1\n0 in f\n"
                      "f wall_ns 1500\nf;g n_calls 1\n1500 in f;g\n"
                      "f;g wall_ns 501\n2001 out \n"
                      "f wall_ns 1999\n4000 out \n",
                  NULL);
}

/* Of two that begin at once the longer one is around the other, in whatever order they come. */
static void whole_events_nest_by_their_times(void **state)
{
    (void)state;
    assert_import(NULL, "[" X("g", "1", "2") X("f", "1", "5") X("h", "4", "0"),
                  WHO "f n_calls 1\n0 in f\nf;g n_calls 1\n0 in f;g\n"
                      "f;g wall_ns 2000\n2000 out \nf wall_ns 1000\n"
                      "f;h n_calls 1\n3000 in f;h\n3000 out \nf wall_ns 2000\n5000 out \n",
                  NULL);
}

static void events_come_in_any_order(void **state)
{
    (void)state;
    assert_import(NULL, "[" BE("f", "E", "9") X("h", "20", "1") BE("f", "B", "1") "]",
                  WHO "f n_calls 1\n0 in f\nf wall_ns 8000\n8000 out \n"
                      "h n_calls 1\n19000 in h\nh wall_ns 1000\n20000 out \n",
                  NULL);
}

static void ends_without_a_beginning_are_left_out_and_told(void **state)
{
    (void)state;
    assert_import(NULL, "[" BE("f", "E", "1") BE("f", "B", "2") BE("g", "E", "3") "]",
                  WHO "f n_calls 1\n1000 in f\nf wall_ns 1000\n2000 out \n",
                  "2 ends of calls have no beginning");
}

static void an_end_further_out_closes_what_is_inside(void **state)
{
    (void)state;
    assert_import(NULL, "[" BE("f", "B", "1") BE("g", "B", "2") BE("f", "E", "3") "]",
                  WHO "f n_calls 1\n0 in f\nf wall_ns 1000\nf;g n_calls 1\n1000 in f;g\n"
                      "f;g wall_ns 1000\n2000 out \n2000 out \n",
                  "1 calls have no end of their own");
}

static void overlapping_whole_events_are_cut_off(void **state)
{
    (void)state;
    assert_import(NULL, "[" X("f", "1", "4") X("g", "3", "9") "]",
                  WHO "f n_calls 1\n0 in f\nf wall_ns 2000\nf;g n_calls 1\n2000 in f;g\n"
                      "f;g wall_ns 2000\n4000 out \n4000 out \n",
                  "1 calls end later than the call that they begin in");
}

static void processes_and_threads_have_their_names(void **state)
{
    (void)state;
    assert_import(NULL,
                  "[" X("f", "1", "2") "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":"
                                       "{\"name\":\"he\\\"at\"}},"
                                       "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,"
                                       "\"args\":{\"x\":[1,{}],"
                                       "\"name\":\"wor\\u006ber\"}}]",
                  "process 1 he\"at\nthread 2 worker\n"
                  "f n_calls 1\n0 in f\nf wall_ns 2000\n2000 out \n",
                  NULL);
}

static void a_main_thread_may_have_no_number(void **state)
{
    (void)state;
    assert_import(NULL, "[{\"name\":\"f\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":7}]",
                  "process 7 test\nthread 7 \nf n_calls 1\n0 in f\nf wall_ns 2000\n2000 out \n",
                  NULL);
}

static void what_is_no_call_is_counted(void **state)
{
    (void)state;
    assert_import(NULL,
                  "[{\"ph\":\"C\",\"name\":\"mem\",\"ts\":1,\"pid\":1,\"args\":{\"a\":3}},"
                  "{\"ph\":\"s\",\"id\":3,\"ts\":1,\"pid\":1,\"tid\":1}," X("f", "1", "2") "]",
                  WHO "f n_calls 1\n0 in f\nf wall_ns 2000\n2000 out \n",
                  "1 values of counters (C) are left out\n1 arrows (s, t, f) are left out");
}

static void a_file_that_is_cut_off_has_what_came_before(void **state)
{
    (void)state;
    assert_import(NULL, "[" X("f", "1", "2") "{\"name\":\"g\",\"ph\":\"X",
                  WHO "f n_calls 1\n0 in f\nf wall_ns 2000\n2000 out \n",
                  "ends in the middle of an event");
}

static void times_keep_their_digits(void **state)
{
    (void)state;
    assert_import(NULL, "[" X("f", "1700000000000001.125", "0.001") X("g", "1.7e15", "2e-3") "]",
                  WHO "g n_calls 1\n0 in g\ng wall_ns 2\n2 out \n"
                      "f n_calls 1\n1125 in f\nf wall_ns 1\n1126 out \n",
                  NULL);
}

static void what_is_no_trace_is_refused(void **state)
{
    (void)state;
    assert_refused("chrome", "[]", "has no calls");
    assert_refused("chrome", "hello", "is no JSON of a trace event");
    assert_refused("chrome", "[{\"ph\":}]", "is no JSON of a trace event");
    assert_refused("chrome", "", "is no JSON of a trace event");
    assert_refused(NULL, "{\"a\":1}", "in no format");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_and_ends_are_calls_with_times),
        cmocka_unit_test(whole_events_nest_by_their_times),
        cmocka_unit_test(events_come_in_any_order),
        cmocka_unit_test(ends_without_a_beginning_are_left_out_and_told),
        cmocka_unit_test(an_end_further_out_closes_what_is_inside),
        cmocka_unit_test(overlapping_whole_events_are_cut_off),
        cmocka_unit_test(processes_and_threads_have_their_names),
        cmocka_unit_test(a_main_thread_may_have_no_number),
        cmocka_unit_test(what_is_no_call_is_counted),
        cmocka_unit_test(a_file_that_is_cut_off_has_what_came_before),
        cmocka_unit_test(times_keep_their_digits),
        cmocka_unit_test(what_is_no_trace_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
