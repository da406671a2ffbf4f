/* Settings as texts: what is written is read back, and what is wrong is named. */
#include "format/pm_settings.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *texts[PM_N_SETTINGS];

static void forget_texts(void)
{
    for (size_t i = 0; i < PM_N_SETTINGS; i++)
        texts[i] = NULL;
}

static const struct pm_setting *setting_named(const char *name)
{
    for (size_t i = 0; i < PM_N_SETTINGS; i++)
        if (strcmp(pm_setting_table[i].name, name) == 0)
            return &pm_setting_table[i];
    fail_msg("no setting '%s'", name);
    return NULL;
}

static enum pm_setting_fault fault_of(const char *name, const char *text,
                                      struct pm_settings *settings)
{
    return pm_setting_parse(setting_named(name), text, settings);
}

/* All that are given, as one allocated NAME=VALUE each. */
static size_t write_all(const struct pm_settings *settings, char *lines[PM_N_SETTINGS])
{
    size_t n = 0;
    char room[PM_SETTING_TEXT_BYTES];
    for (size_t i = 0; i < PM_N_SETTINGS; i++)
        if (pm_setting_is_given(&pm_setting_table[i], settings))
            assert_true(asprintf(&lines[n++], "%s=%s", pm_setting_table[i].name,
                                 pm_setting_text(&pm_setting_table[i], settings, room)) > 0);
    return n;
}

static void read_back(const struct pm_settings *settings, size_t n_expected,
                      struct pm_settings *ret_settings)
{
    char *lines[PM_N_SETTINGS];
    size_t n = write_all(settings, lines);
    assert_int_equal(n, n_expected);
    forget_texts();
    for (size_t i = n; i-- > 0;)
        pm_settings_find(lines[i], texts);
    for (size_t i = 0; i < PM_N_SETTINGS; i++)
        assert_int_equal(pm_setting_parse(&pm_setting_table[i], texts[i], ret_settings),
                         PM_SETTING_GOOD);
    assert_string_equal(ret_settings->run_dir, settings->run_dir);
    if (settings->mapping_points)
        assert_string_equal(ret_settings->mapping_points, settings->mapping_points);
    if (settings->counters)
        assert_string_equal(ret_settings->counters, settings->counters);
    ret_settings->counters = settings->counters;
    ret_settings->run_dir = settings->run_dir;
    ret_settings->mapping_points = settings->mapping_points;
    for (size_t i = 0; i < n; i++)
        free(lines[i]);
}

static void every_member_is_in_the_table_once(void **state)
{
    (void)state;
    bool seen[sizeof(struct pm_settings) / sizeof(uint64_t)] = {false};
    assert_int_equal(sizeof(struct pm_settings), PM_N_SETTINGS * sizeof(uint64_t));
    for (size_t i = 0; i < PM_N_SETTINGS; i++) {
        size_t at = pm_setting_table[i].offset / sizeof(uint64_t);
        assert_false(seen[at]);
        seen[at] = true;
        assert_memory_equal(pm_setting_table[i].name, "PERFMAP_", 8);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(pm_setting_table[i].name, pm_setting_table[k].name);
    }
}

static void all_that_is_written_is_read_back(void **state)
{
    (void)state;
    const struct pm_settings given = {.run_dir = "/a run",
                                      .mode = PM_RUN_MODE_TRACE,
                                      .tsc_hz = 100000000000u,
                                      .max_contexts = 1,
                                      .max_nouns = PM_SETTING_MOST_NOUNS,
                                      .max_depth = 77,
                                      .mapping_points = "sql-*,own",
                                      .rate_hz = 401,
                                      .clock = PM_SETTING_CLOCK_WALL,
                                      .samples = PM_SETTING_SAMPLES_TIMER,
                                      .heap = 1,
                                      .heap_min_bytes = PM_SETTING_MOST_BYTES,
                                      .trace_limit_bytes = 1 << 20,
                                      .trace_keep = PM_SETTING_KEEP_OLDEST,
                                      .run_pid = UINT32_MAX,
                                      .first_pid = 2,
                                      .budget_ppm = 1000000,
                                      .kernel_writes = 1,
                                      .counters = "page_faults|faults|||1|2|0|0|1|0;"};
    struct pm_settings back;
    read_back(&given, PM_N_SETTINGS, &back);
    assert_memory_equal(&back, &given, sizeof given);
}

static void what_is_not_given_has_its_default(void **state)
{
    (void)state;
    const struct pm_settings given = {.run_dir = "/run", .mode = PM_RUN_MODE_OFF};
    struct pm_settings back;
    read_back(&given, 7, &back); /* folder, mode, rate, clock, two processes, budget */
    assert_int_equal(back.mode, PM_RUN_MODE_OFF);
    assert_int_equal(back.max_contexts, 1 << 20);
    assert_int_equal(back.max_nouns, 1 << 17);
    assert_int_equal(back.max_depth, 1000);
    assert_int_equal(back.heap_min_bytes, 65536);
    assert_int_equal(back.trace_limit_bytes, (uint64_t)2 << 30);
    assert_int_equal(back.heap + back.kernel_writes + back.rate_hz + back.tsc_hz, 0);
    assert_int_equal(fault_of("PERFMAP_MODE", NULL, &back), PM_SETTING_GOOD);
    assert_int_equal(back.mode, PM_RUN_MODE_EXACT);
}

static void what_is_wrong_is_named_and_leaves_the_default(void **state)
{
    (void)state;
    char longest[PM_SETTING_DIR_BYTES + 1];
    struct pm_settings s;
    memset(longest, '/', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_int_equal(fault_of("PERFMAP_MAX_DEPTH", "1000001", &s), PM_SETTING_BAD_NUMBER);
    assert_int_equal(s.max_depth, 1000);
    assert_int_equal(fault_of("PERFMAP_MAX_NOUNS", "15", &s), PM_SETTING_BAD_NUMBER);
    assert_int_equal(fault_of("PERFMAP_RATE_HZ", "4x", &s), PM_SETTING_BAD_NUMBER);
    assert_int_equal(fault_of("PERFMAP_HEAP_MIN", "99999999999999999999999", &s),
                     PM_SETTING_BAD_NUMBER);
    assert_int_equal(fault_of("PERFMAP_RATE_HZ", "", &s), PM_SETTING_GOOD);
    assert_int_equal(fault_of("PERFMAP_MODE", "fast", &s), PM_SETTING_BAD_WORD);
    assert_int_equal(s.mode, PM_RUN_MODE_EXACT);
    assert_int_equal(fault_of("PERFMAP_MODE", "", &s), PM_SETTING_BAD_WORD);
    assert_int_equal(fault_of("PERFMAP_CLOCK", "sun", &s), PM_SETTING_BAD_WORD);
    assert_int_equal(s.clock, PM_SETTING_CLOCK_CPU);
    assert_int_equal(fault_of("PERFMAP_RUN_DIR", "relative", &s), PM_SETTING_BAD_PATH);
    assert_null(s.run_dir);
    assert_int_equal(fault_of("PERFMAP_RUN_DIR", longest, &s), PM_SETTING_BAD_PATH);
    assert_int_equal(fault_of("PERFMAP_RUN_DIR", longest + 1, &s), PM_SETTING_GOOD);
    assert_int_equal(fault_of("PERFMAP_RUN_DIR", "", &s), PM_SETTING_GOOD);
    assert_null(s.run_dir);
    assert_int_equal(fault_of("PERFMAP_MAPPING_POINTS", longest, &s), PM_SETTING_TOO_LONG);
    assert_null(s.mapping_points);
}

static void only_whole_names_count_and_the_first_of_them(void **state)
{
    (void)state;
    size_t heap = (size_t)(setting_named("PERFMAP_HEAP") - pm_setting_table);
    size_t min = (size_t)(setting_named("PERFMAP_HEAP_MIN") - pm_setting_table);
    forget_texts();
    static const char *const others[] = {"PERFMAP_HEAP",   "PERFMAP_HEA=1", "PERFMAP_HEAPS=1",
                                         "XPERFMAP_HEAP=", "PERF",          "",
                                         "perfmap_heap=1"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        pm_settings_find(others[i], texts);
    assert_null(texts[heap]);
    pm_settings_find("PERFMAP_HEAP_MIN=7", texts);
    assert_null(texts[heap]);
    pm_settings_find("PERFMAP_HEAP=", texts);
    pm_settings_find("PERFMAP_HEAP_MIN=8", texts);
    assert_string_equal(texts[heap], "");
    assert_string_equal(texts[min], "7");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_is_in_the_table_once),
        cmocka_unit_test(all_that_is_written_is_read_back),
        cmocka_unit_test(what_is_not_given_has_its_default),
        cmocka_unit_test(what_is_wrong_is_named_and_leaves_the_default),
        cmocka_unit_test(only_whole_names_count_and_the_first_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
