/* Events that do not fit into memory. */
#include "record.h"

#include "mapping/import/events.h"

/* The tree and the trace of 3 threads' random events. */
static struct record *walk(uint32_t most_in_memory)
{
    struct record *r = record_new();
    struct pm_error err = PM_ERROR_INIT;
    struct import im = {.path = "test", .sink = &r->calls, .err = &err};
    uint32_t frames[4], process, row, thread, random = 1;
    struct import_events *events = import_events_new(&im, most_in_memory);
    assert_non_null(events);
    struct pm_import_process made = {.name = PM_STR("test"), .rank = -1};
    assert_int_equal(pm_sink_process(&r->calls, &made, &process), PM_OK);
    for (int i = 0; i < 4; i++) {
        struct pm_import_frame frame = {.function = {"fghi" + i, 1}};
        assert_int_equal(pm_sink_frame(&r->calls, &frame, &frames[i]), PM_OK);
    }
    for (int i = 0; i < 500; i++) {
        random = random * 1103515245 + 12345;
        struct import_event event = {.time_ns = random >> 16 & 0xff,
                                     .thread = random >> 8 & 1,
                                     .frame = frames[random >> 24 & 3],
                                     .kind = (enum import_event_kind)(random >> 28) % 3};
        if (event.kind == IMPORT_WHOLE)
            event.duration_ns = random >> 4 & 31;
        assert_int_equal(import_events_add(events, &event), PM_OK);
    }
    assert_int_equal(import_events_begin(events), PM_OK);
    while (import_events_thread(events, &thread)) {
        struct pm_import_thread one = {.process = process, .tid = thread + 1};
        assert_int_equal(pm_sink_thread(&r->calls, &one, &row), PM_OK);
        assert_int_equal(import_events_walk(events, process, row), PM_OK);
    }
    import_events_tell(events);
    import_events_free(events);
    return r;
}

static void a_temporary_file_changes_nothing(void **state)
{
    (void)state;
    struct record *whole = walk(0);
    const uint32_t sizes[] = {1, 7, 100, 499, 500};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct record *parts = walk(sizes[i]);
        assert_string_equal(parts->out.data, whole->out.data);
        assert_string_equal(parts->notes.data, whole->notes.data);
        record_free(parts);
    }
    record_free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_temporary_file_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
