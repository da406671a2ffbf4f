/* Events by name, and what the runtime is told of them. */
#include "cmd/session/counters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct pm_counter_setting added(const char *text, bool is_sampled)
{
    struct session_counters counters = {0};
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(session_counters_add(&counters, text, is_sampled, &err), PM_OK);
    assert_int_equal(counters.settings.n, 1);
    struct pm_counter_setting setting = counters.settings.items[0];
    session_counters_release(&counters);
    return setting;
}

static void expect_refused(const char *text, const char *part)
{
    struct session_counters counters = {0};
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(session_counters_add(&counters, text, true, &err), PM_ERR_USAGE);
    assert_non_null(strstr(pm_error_text(&err), part));
    assert_int_equal(counters.settings.n, 0);
    pm_error_release(&err);
    session_counters_release(&counters);
}

static void events_have_the_names_of_perf(void **state)
{
    (void)state;
    struct pm_counter_setting faults = added("page-faults", false);
    assert_string_equal(faults.name, "page_faults");
    assert_int_equal(faults.period, 0);
    assert_int_equal(added("faults:7", true).period, 7);
    assert_int_equal(added("page-faults", true).period, 1);
    assert_string_equal(added("L1-dcache-load-misses", false).name, "l1_dcache_load_misses");
    assert_int_equal(added("L1-dcache-load-misses", false).config, 0x10000);
    assert_string_equal(added("TASK-CLOCK", false).name, "task_clock_ns");
}

static void raw_events_are_numbers(void **state)
{
    (void)state;
    struct pm_counter_setting raw = added("r1a8:1000", true);
    assert_int_equal(raw.type, 4);
    assert_int_equal(raw.config, 0x1a8);
    assert_int_equal(raw.period, 1000);
    assert_string_equal(raw.name, "r1a8");
}

/* What they are of, PAPI itself tells, when they are tried. */
static void events_of_papi_have_its_names(void **state)
{
    (void)state;
    struct pm_counter_setting preset = added("papi_tot_ins", false);
    assert_int_equal(preset.type, PM_COUNTER_OF_PAPI);
    assert_string_equal(preset.field, "PAPI_TOT_INS");
    assert_string_equal(preset.name, "papi_tot_ins");
    assert_string_equal(preset.unit, "instructions");
    struct pm_counter_setting native = added("skx::INST_RETIRED:ANY", true);
    assert_string_equal(native.field, "skx::INST_RETIRED:ANY");
    assert_int_equal(native.period, 100003);
    assert_int_equal(native.flags, 0);
    struct pm_counter_setting sde = added("sde:::TOY::stones:7", true);
    assert_string_equal(sde.field, "sde:::TOY::stones");
    assert_string_equal(sde.name, "sde_toy_stones");
    assert_int_equal(sde.period, 7);
    assert_int_equal(sde.flags, PM_COUNTER_SHARED);
    assert_string_equal(added("papi:CYCLES_OF_IT", false).field, "CYCLES_OF_IT");
}

static void wrong_ones_are_refused(void **state)
{
    (void)state;
    expect_refused("page-fault", "did you mean 'page-faults'?");
    expect_refused("", "there is no event ''");
    expect_refused("page-faults:", "from 1");
    expect_refused("page-faults:0", "from 1");
    expect_refused("page-faults:-1", "from 1");
    expect_refused("page-faults:1x", "from 1");
    expect_refused("page-faults:99999999999999999999", "from 1");
    expect_refused("r1a8z", "there is no event");
    expect_refused("no/such/", "there is no event");
    expect_refused("../../x/", "there is no event");
    expect_refused("cpu/", "there is no event");
}

static void one_that_is_given_twice_is_sampled(void **state)
{
    (void)state;
    struct session_counters counters = {0};
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(session_counters_add(&counters, "faults", false, &err), PM_OK);
    assert_int_equal(session_counters_add(&counters, "page-faults:3", true, &err), PM_OK);
    assert_int_equal(session_counters_add(&counters, "page-faults", false, &err), PM_OK);
    assert_int_equal(counters.settings.n, 1);
    assert_int_equal(counters.settings.items[0].period, 3);
    session_counters_release(&counters);
}

static void what_is_told_is_read_back(void **state)
{
    (void)state;
    static const char *const names[] = {"page-faults:1", "cycles", "r1ffffffffffffff8",
                                        "dTLB-store-misses:100003"};
    struct session_counters counters = {0};
    struct pm_counter_settings read;
    struct pm_error err = PM_ERROR_INIT;
    char *text;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(session_counters_add(&counters, names[i], true, &err), PM_OK);
    assert_int_equal(session_counters_text(&counters, &err, &text), PM_OK);
    assert_true(pm_counters_parse(text, &read));
    assert_int_equal(read.n, 4);
    for (uint32_t i = 0; i < 4; i++) {
        const struct pm_counter_setting *a = &read.items[i], *b = &counters.settings.items[i];
        assert_string_equal(a->name, b->name);
        assert_string_equal(a->unit, b->unit);
        assert_true(a->type == b->type && a->config == b->config && a->config1 == b->config1);
        assert_true(a->period == b->period && a->flags == b->flags);
    }
    free(text);
    session_counters_release(&counters);
}

static void the_most_that_there_may_be_are_told(void **state)
{
    (void)state;
    struct session_counters counters = {0};
    struct pm_counter_settings read;
    struct pm_error err = PM_ERROR_INIT;
    char *text, name[32];
    for (unsigned i = 0; i < PM_COUNTERS_MAX; i++) {
        snprintf(name, sizeof name, "rfffffffffffff%03x", i);
        assert_int_equal(session_counters_add(&counters, name, true, &err), PM_OK);
    }
    assert_int_equal(session_counters_add(&counters, "cycles", true, &err), PM_ERR_USAGE);
    pm_error_release(&err);
    assert_int_equal(session_counters_text(&counters, &err, &text), PM_OK);
    assert_true(pm_counters_parse(text, &read));
    assert_int_equal(read.n, PM_COUNTERS_MAX);
    free(text);
    session_counters_release(&counters);
}

static void add_from(const char *lines, const char *event, enum pm_status expected,
                     const char *part)
{
    char path[] = "/tmp/test_counters.XXXXXX";
    struct session_counters counters = {0};
    struct pm_error err = PM_ERROR_INIT;
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, lines, strlen(lines)) == (ssize_t)strlen(lines));
    close(fd);
    enum pm_status status = session_counters_add_file(&counters, path, &err);
    if (status == PM_OK && event)
        status = session_counters_add(&counters, event, false, &err);
    assert_int_equal(status, expected);
    if (part)
        assert_non_null(strstr(pm_error_text(&err), part));
    pm_error_release(&err);
    session_counters_release(&counters);
    unlink(path);
}

static void formulas_count_the_events_that_they_name(void **state)
{
    (void)state;
    static const struct {
        const char *formula, *names;
    } formulas[] = {{"ipc = instructions / cycles", "instructions cycles "},
                    {"page_faults = 1e6 * page_faults/calls - page_faults", "page_faults "},
                    {"x = (task_clock + task_clock_ns) / r1a8", "task_clock_ns r1a8 "},
                    {"x = peak_rss_bytes - mine", "peak_rss_bytes "},
                    {"x = cpu_ns / 2", ""},
                    {"cycles", ""}};
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++) {
        struct session_counters counters = {0};
        struct pm_error err = PM_ERROR_INIT;
        char names[256] = "";
        size_t len = 0;
        assert_int_equal(
            session_counters_add_formula(&counters, pm_str_of(formulas[i].formula), &err), PM_OK);
        for (uint32_t n = 0; n < counters.settings.n; n++) {
            len += (size_t)snprintf(names + len, sizeof names - len, "%s ",
                                    counters.settings.items[n].name);
            assert_int_equal(counters.settings.items[n].period, 0);
        }
        assert_string_equal(names, formulas[i].names);
        session_counters_release(&counters);
    }
}

static void names_of_sources_are_their_own(void **state)
{
    (void)state;
    static const char *const taken[] = {"cpu ns",  "wall-ns ms", "n_calls x", "Allocated.Bytes b",
                                        "wait ns", "calls count"};
    char line[128];
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        snprintf(line, sizeof line, "%s /proc/self/schedstat 1\n", taken[i]);
        add_from(line, NULL, PM_ERR_USAGE, "which PerfMap has already");
    }
    add_from("\ncpu ns /a 1\n", NULL, PM_ERR_USAGE, "'cpu' would be the metric 'cpu_ns'");
    add_from("cpu2 ns /a 1\n", NULL, PM_OK, NULL);
    add_from("a x /a 1\nb x /a 2\na x /a 1\n", NULL, PM_OK, NULL);
    add_from("a x /a 1\na x /a 2\n", NULL, PM_ERR_USAGE, "which 'a' is already");
    add_from("a x /a 1\na x /a 1 last\n", NULL, PM_ERR_USAGE, "which 'a' is already");
    add_from("page_faults faults /a 1\n", "faults", PM_ERR_USAGE,
             "'faults' would be the metric 'page_faults', which 'page_faults' is already");
}

static void fields_of_files_are_found(void **state)
{
    (void)state;
    static const char text[] = "Name:\tx 7\nVmPeak:\t   12 kB\n  rchar: 345\nVmPeakX: 9\n5 6";
    static const struct {
        const char *field;
        uint64_t number;
    } found[] = {{"VmPeak", 12}, {"rchar", 345}, {"VmPeakX", 9}, {"1", 7}, {"2", 12}, {"6", 6}};
    static const char *const missing[] = {"Vm", "Peak", "x", "7x", "0", "99", "VmPeakXX"};
    uint64_t number;
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        assert_true(pm_counters_look_up(text, strlen(text), found[i].field, &number));
        assert_int_equal(number, found[i].number);
    }
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        assert_false(pm_counters_look_up(text, strlen(text), missing[i], &number));
    assert_false(pm_counters_look_up("", 0, "x", &number));
    assert_false(pm_counters_look_up("x:", 2, "x", &number));
}

static void numbers_that_are_not_whole_are_none(void **state)
{
    (void)state;
    static const char *const bad[] = {"x: 1.5", "x: 18446744073709551616",
                                      "x: 99999999999999999999999"};
    static char text[PM_COUNTER_READ_BYTES];
    uint64_t number;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(pm_counters_look_up(bad[i], strlen(bad[i]), "x", &number));
        assert_false(pm_counters_look_up(bad[i], strlen(bad[i]), "1", &number));
    }
    assert_true(pm_counters_look_up("x: 18446744073709551615", 23, "x", &number));
    assert_true(number == UINT64_MAX);
    assert_true(pm_counters_look_up("1.5 3\n", 6, "2", &number));
    assert_int_equal(number, 3);
    /* cut at the end of what is read: it may go on */
    memset(text, '\n', sizeof text);
    memcpy(text + sizeof text - 5, "x: 12", 5);
    assert_false(pm_counters_look_up(text, sizeof text, "x", &number));
    assert_true(pm_counters_look_up(text, sizeof text - 1, "x", &number));
    memcpy(text + sizeof text - 5, "x: 1\n", 5);
    assert_true(pm_counters_look_up(text, sizeof text, "x", &number));
    assert_int_equal(number, 1);
}

static void damaged_texts_are_no_events(void **state)
{
    (void)state;
    static const char *const bad[] = {
        ";",
        "a",
        "a|b|||1|2|0|0|1|0",
        "a|b|||1|2|0|0|1;",
        "a|b|||1|2|0|0|1|g;",
        "a|b|||1|2|0|0|1|;",
        "a|b|||1|2|0|0|1|0;x",
        "a|b|||11111111111111111|2|0|0|1|0;",
        "a234567890123456789012345678901234567890123456789|b|||1|2|0|0|1|0;"};
    struct pm_counter_settings read;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(pm_counters_parse(bad[i], &read));
        assert_int_equal(read.n, 0);
    }
    assert_true(pm_counters_parse(NULL, &read) && read.n == 0);
    assert_true(pm_counters_parse("", &read) && read.n == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_have_the_names_of_perf),
        cmocka_unit_test(raw_events_are_numbers),
        cmocka_unit_test(events_of_papi_have_its_names),
        cmocka_unit_test(wrong_ones_are_refused),
        cmocka_unit_test(one_that_is_given_twice_is_sampled),
        cmocka_unit_test(what_is_told_is_read_back),
        cmocka_unit_test(the_most_that_there_may_be_are_told),
        cmocka_unit_test(formulas_count_the_events_that_they_name),
        cmocka_unit_test(names_of_sources_are_their_own),
        cmocka_unit_test(fields_of_files_are_found),
        cmocka_unit_test(numbers_that_are_not_whole_are_none),
        cmocka_unit_test(damaged_texts_are_no_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
