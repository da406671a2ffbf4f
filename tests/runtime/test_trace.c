/* Full heads of traces: emptied when all events are there, left alone for an event that is still
 * to come. */
#include "made_process.h"
#include "runtime/tree/trace.h"

#include <string.h>

void pm_wrap_resolve(void) {}

static int begin(void **unused)
{
    (void)unused;
    made_process("trace", PM_RUN_MODE_TRACE);
    pm_process.trace_limit_bytes = 4 << 20;
    assert_true(pm_file_create());
    pm_tls = (struct pm_tls){.current = &pm_sentinel, .ring_head = &pm_no_ring};
    assert_true(pm_thread_begin(&pm_tls, pm_tsc()));
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    pm_trace_fork_child(); /* nothing is left of this file's parts */
    made_process_end();
    pm_thread_drop(&pm_tls);
    return 0;
}

/* Fills the head but for the hole-th event (none when that is beyond), and asks for room. What
 * was filled. */
static struct pm_run_trace *filled(uint64_t hole)
{
    pm_trace_room(&pm_tls, 1000);
    struct pm_run_trace *head = pm_tls.slot->trace;
    uint64_t n = (uint64_t)(pm_tls.trace_end - pm_tls.trace_at);
    for (uint64_t i = 0; i < n; i++) {
        static const uint32_t kinds[] = {PM_RUN_TRACE_ENTER, PM_RUN_TRACE_LEAVE};
        uint64_t *place = pm_trace_reserve(&pm_tls);
        if (i == hole)
            continue;
        if (i % 5 == 4)
            *place = (uint64_t)1 << 62; /* a clock, with the lowest bits that there are */
        else
            pm_trace_fill(place, kinds[i & 1], i % 3 == 0 ? 0 : UINT64_MAX);
    }
    pm_trace_room(&pm_tls, 2000);
    return head;
}

static const uint64_t *events_of(const struct pm_run_trace *head)
{
    return (const uint64_t *)((uintptr_t)head + PM_RUN_TRACE_DATA);
}

static void a_full_head_is_emptied(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 20; i++) {
        struct pm_run_trace *head = filled(UINT64_MAX);
        assert_ptr_equal(pm_tls.slot->trace, head);
        assert_int_equal(head->number, i + 1);
        assert_ptr_equal(pm_tls.trace_at, events_of(head));
        for (const uint64_t *event = events_of(head); event < pm_tls.trace_end; event++)
            if (*event != 0)
                fail_msg("event %td is still there", event - events_of(head));
    }
}

/* Wherever it is: at the begin, in each place of a group that is looked at together, at the end. */
static void a_head_with_a_hole_is_left_for_the_event_to_come(void **unused)
{
    (void)unused;
    pm_trace_room(&pm_tls, 1000);
    uint64_t n = (uint64_t)(pm_tls.trace_end - pm_tls.trace_at), middle = n / 2;
    for (unsigned i = 0; i < 36; i++) {
        uint64_t hole = i < 12 ? i : i < 24 ? middle + i : n - 1 - (i - 24);
        struct pm_run_trace *head = filled(hole);
        if (pm_tls.slot->trace == head)
            fail_msg("event %lu of %lu is missing, and the head was emptied", hole, n);
        assert_int_equal(head->number, i);
        assert_int_equal(events_of(head)[hole], 0);
        assert_true(events_of(head)[hole == 0 ? 1 : 0] >> 62 != 0);
        assert_int_equal(pm_tls.slot->trace->number, i + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_full_head_is_emptied, begin, end),
        cmocka_unit_test_setup_teardown(a_head_with_a_hole_is_left_for_the_event_to_come, begin,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
