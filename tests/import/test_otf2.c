/* Records of traces (mapping/import/otf2_records.h), made by hand: what each becomes. Traces that
 * others write are read in tests/system/import. */
#include "otf2_reader.h"

#define RECORD_READ read_otf2_records
#include "record.h"

static char records[1 << 16];
static size_t n_records;

static void add_bytes(const void *bytes, size_t len)
{
    assert_true(n_records + len <= sizeof records);
    if (len)
        memcpy(records + n_records, bytes, len);
    n_records += len;
}

static void add(char tag, size_t n, const uint64_t *numbers)
{
    add_bytes(&tag, 1);
    add_bytes(numbers, n * sizeof *numbers);
}

#define ADD(tag, ...)                                                       \
    add(RECORD_##tag, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), \
        (uint64_t[]){__VA_ARGS__})

static void add_string(uint64_t ref, const char *text)
{
    ADD(STRING, ref, strlen(text));
    add_bytes(text, strlen(text));
}

/* Two regions, main and leaf, on two processes of which the first has two threads. Names come
 * behind those who use them, and the region leaf first as another. */
static void begin(void)
{
    n_records = 0;
    ADD(REGION, 1, 11, RECORD_NONE, RECORD_NONE, 0);
    ADD(REGION, 1, 12, RECORD_NONE, 14, 7);
    ADD(REGION, 0, 11, 13, 14, 0);
    ADD(LOCATION, 5, 20, 1, 0);
    ADD(LOCATION, 6, 21, 1, 0);
    ADD(LOCATION, 7, 22, 1, 1);
    ADD(RANK, 1, 7);
    ADD(RANK, 0, 6);
    ADD(GROUP, 0, 30, 1, 2);
    ADD(GROUP, 1, 31, 1, 3);
    add_string(11, "main");
    add_string(12, "leaf");
    add_string(13, "aka");
    add_string(14, "work.c");
    ADD(CLOCK, 2000000000, 100, 1000);
}

static void end(void)
{
    add(RECORD_END, 0, NULL);
}

static void assert_records(const char *expected, const char *note)
{
    assert_import_bytes(NULL, NULL, (struct pm_str){records, n_records}, expected, note);
}

static void assert_records_refused(const char *why)
{
    assert_refused_bytes(NULL, (struct pm_str){records, n_records}, why);
}

static void ticks_become_times_and_calls_of_contexts(void **state)
{
    (void)state;
    begin();
    ADD(BEGIN, 7);
    ADD(ENTER, 100, 0);
    ADD(ENTER, 106, 1);
    ADD(LEAVE, 126, 1);
    ADD(LEAVE, 130, 0);
    end();
    assert_records("rank 1\n"
                   "main n_calls 1\n0 in main\n"
                   "main wall_ns 3\n"
                   "main;leaf:7 n_calls 1\n3 in main;leaf:7\n"
                   "main;leaf:7 wall_ns 10\n13 out \n"
                   "main wall_ns 2\n15 out \n",
                   NULL);
}

static void all_locations_of_a_group_have_its_rank(void **state)
{
    (void)state;
    begin();
    ADD(BEGIN, 5);
    ADD(BEGIN, 6);
    ADD(BEGIN, 7);
    end();
    assert_records("rank 0\nrank 1\n", NULL);
}

static void what_is_open_at_the_end_ends_there(void **state)
{
    (void)state;
    begin();
    ADD(BEGIN, 5);
    ADD(ENTER, 100, 0);
    ADD(ENTER, 104, 1);
    ADD(BEGIN, 6);
    end();
    assert_records("rank 0\nmain n_calls 1\n0 in main\nmain wall_ns 2\nmain;leaf:7 n_calls 1\n"
                   "2 in main;leaf:7\n2 out \n2 out \n",
                   "regions still open when their location ended, which end there: 2");
}

static void leaves_that_do_not_match_are_told(void **state)
{
    (void)state;
    begin();
    ADD(BEGIN, 5);
    ADD(ENTER, 100, 0);
    ADD(LEAVE, 100, 1);
    ADD(ENTER, 100, 1);
    ADD(LEAVE, 100, 0);
    ADD(LEAVE, 100, 1);
    end();
    assert_records("rank 0\nmain n_calls 1\n0 in main\nmain;leaf:7 n_calls 1\n0 in main;leaf:7\n"
                   "0 out \n0 out \n",
                   "regions left by the leave of one around them: 1\n"
                   "leaves of regions that were not open, left out: 2");
}

static void times_that_go_back_are_told(void **state)
{
    (void)state;
    begin();
    ADD(BEGIN, 5);
    ADD(ENTER, 110, 0);
    ADD(LEAVE, 104, 0);
    end();
    assert_records("rank 0\nmain n_calls 1\n5 in main\n5 out \n",
                   "events earlier than the one before them, taken to be then: 1");
}

static void messages_are_costs_of_the_open_region(void **state)
{
    (void)state;
    begin();
    ADD(BEGIN, 5);
    ADD(ENTER, 100, 0);
    ADD(SENT, 1, 400, 0);
    ADD(SENT, 0, 8, 16);
    ADD(LEAVE, 100, 0);
    ADD(SENT, 1, 0, 0);
    ADD(OTHER, 1);
    end();
    assert_records("rank 0\nmain n_calls 1\n0 in main\nmain messages 1\nmain message_bytes 400\n"
                   "main message_bytes 8\nmain received_bytes 16\n0 out \n",
                   "samples and entered calling contexts, left out: 1\n"
                   "values and messages outside of all regions, left out: 1");
}

/* A class of four: a counter that grows, one of differences, a state, and one in thousandths. */
static void define_metrics(void)
{
    add_string(40, "PAPI TOT:CYC");
    add_string(41, "diff");
    add_string(42, "power");
    add_string(43, "J");
    add_string(44, "energy");
    ADD(CLASS, 3, 0, 0);
    ADD(CLASS, 3, 1, 1);
    ADD(CLASS, 3, 2, 2);
    ADD(CLASS, 3, 3, 3);
    ADD(INSTANCE, 9, 3);
    ADD(MEMBER, 0, 40, RECORD_NONE, RECORD_NONE, RECORD_HOW_ACCUMULATED, 10, 0);
    ADD(MEMBER, 1, 41, RECORD_NONE, RECORD_NONE, RECORD_HOW_RELATIVE, 2, 10);
    ADD(MEMBER, 2, 42, RECORD_NONE, RECORD_NONE, RECORD_HOW_ABSOLUTE, 10, 0);
    ADD(MEMBER, 3, 44, RECORD_NONE, 43, RECORD_HOW_RELATIVE, 10, (uint64_t)-3);
}

static void counters_count_by_their_mode(void **state)
{
    double real = 2600.0;
    uint64_t bits;
    (void)state;
    memcpy(&bits, &real, sizeof bits);
    begin();
    define_metrics();
    ADD(BEGIN, 5);
    ADD(VALUE, 100, 3, 0, RECORD_KIND_UNSIGNED, 1000);
    ADD(ENTER, 100, 0);
    ADD(VALUE, 100, 9, 1, RECORD_KIND_SIGNED, 3);
    ADD(VALUE, 100, 3, 2, RECORD_KIND_SIGNED, 3);
    ADD(VALUE, 100, 3, 3, RECORD_KIND_DOUBLE, bits);
    ADD(VALUE, 100, 3, 0, RECORD_KIND_UNSIGNED, 1500);
    ADD(VALUE, 100, 3, 0, RECORD_KIND_UNSIGNED, 1400);
    ADD(VALUE, 100, 3, 0, RECORD_KIND_UNSIGNED, 1401);
    ADD(VALUE, 100, 8, 0, RECORD_KIND_UNSIGNED, 1);
    ADD(LEAVE, 100, 0);
    ADD(BEGIN, 6); /* begins anew */
    ADD(ENTER, 100, 0);
    ADD(VALUE, 100, 3, 0, RECORD_KIND_UNSIGNED, 9999);
    ADD(LEAVE, 100, 0);
    end();
    assert_records("rank 0\nmain n_calls 1\n0 in main\nmain diff 3072\nmain energy 3\n"
                   "main PAPI_TOT.CYC 500\nmain PAPI_TOT.CYC 1\n0 out \n"
                   "2: main n_calls 1\n0 in main\n0 out \n",
                   "counters that fell, and are taken to begin anew: 1\n"
                   "values that are states and no costs, left out: 1\n"
                   "values of metrics, rounded to whole units: 1");
}

static void a_failure_of_the_library_is_the_error(void **state)
{
    (void)state;
    begin();
    ADD(FAILED, 6);
    add_bytes("no use", 6);
    assert_records_refused("trace 'test' cannot be read: no use");
}

static void records_that_end_early_are_refused(void **state)
{
    (void)state;
    begin();
    ADD(BEGIN, 5);
    assert_records_refused("trace 'test': it ends before it is complete");
    n_records -= 3;
    assert_records_refused("trace 'test': it ends before it is complete");
}

static void records_out_of_place_are_refused(void **state)
{
    (void)state;
    begin();
    ADD(ENTER, 1, 1);
    assert_records_refused("an event without a location");
    begin();
    ADD(BEGIN, 99);
    assert_records_refused("a location that is not defined");
    begin();
    ADD(BEGIN, 5);
    ADD(NODE, 0, 0, 0, 0);
    assert_records_refused("a definition behind events");
    begin();
    ADD(CLOCK, 0, 0, 0);
    assert_records_refused("its clock has no ticks");
}

static void regions_without_definition_have_no_name(void **state)
{
    (void)state;
    n_records = 0;
    ADD(LOCATION, 5, 20, 1, 0);
    ADD(LOCATION, 6, 20, 0, 0); /* of metrics only */
    ADD(BEGIN, 5);
    ADD(ENTER, 3, 77);
    ADD(LEAVE, 5, 77);
    ADD(BEGIN, 6);
    ADD(ENTER, 3, 77);
    end();
    assert_records(" n_calls 1\n3 in \n wall_ns 2\n5 out \n",
                   "the trace does not say how long a tick is: it is taken for 1 ns");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_become_times_and_calls_of_contexts),
        cmocka_unit_test(all_locations_of_a_group_have_its_rank),
        cmocka_unit_test(what_is_open_at_the_end_ends_there),
        cmocka_unit_test(leaves_that_do_not_match_are_told),
        cmocka_unit_test(times_that_go_back_are_told),
        cmocka_unit_test(messages_are_costs_of_the_open_region),
        cmocka_unit_test(counters_count_by_their_mode),
        cmocka_unit_test(a_failure_of_the_library_is_the_error),
        cmocka_unit_test(records_that_end_early_are_refused),
        cmocka_unit_test(records_out_of_place_are_refused),
        cmocka_unit_test(regions_without_definition_have_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
