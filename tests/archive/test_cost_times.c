/* Costs over time: what is written comes back, parts add up, and damage is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "mapping/archive/cost_times.h"

static uint32_t seed = 1;

static uint32_t random_below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)seed * n) >> 32);
}

enum { N = 2048, BUCKET_NS = 1000 };

static double made_cell(unsigned shape)
{
    if (shape == 0) /* few */
        return random_below(100) == 0 ? 1 + random_below(1000) : 0;
    if (shape == 1) /* waits: full ones */
        return 1000;
    return random_below(1u << random_below(20));
}

/* Up to the end of each bucket, to 1/127 of the fullest one; exactly at both ends. */
static void what_was_before_is_known(void **state)
{
    (void)state;
    for (int round = 0; round < 60; round++) {
        struct pm_buf data = PM_BUF_INIT(1 << 20);
        double *cells = calloc(N, sizeof *cells), sum = 0, most = 0, before = 0;
        for (int i = 0; i < N; i++) {
            cells[i] = i % 7 < round % 8 ? made_cell((unsigned)round % 3) : 0;
            sum += cells[i];
            most = cells[i] > most ? cells[i] : most;
        }
        uint64_t timed = (uint64_t)sum;
        pm_cost_times_put(&data, 5, 77, (const double[]){0, 0, 1}, 3);
        pm_cost_times_put(&data, 12, timed, cells, N);
        struct pm_cost_times times;
        assert_int_equal(pm_cost_times_parse(data.data, data.len, -500, BUCKET_NS, &times), PM_OK);
        assert_null(pm_cost_times_find(&times, 12));
        const struct pm_cost_times_list *list = pm_cost_times_find(&times, 17);
        if (timed == 0) {
            assert_null(list);
        } else {
            int64_t last = 0;
            for (int i = 0; i < N; i++) {
                before += cells[i];
                int64_t got = pm_cost_times_before(&times, list, -500 + (i + 1) * BUCKET_NS);
                assert_true(got >= last);
                assert_true((double)got > before - most / 127 - 2 &&
                            (double)got < before + most / 127 + 2);
                last = got;
            }
            assert_int_equal(last, timed);
            assert_int_equal(pm_cost_times_before(&times, list, INT64_MIN), 0);
            assert_int_equal(pm_cost_times_before(&times, list, -500), 0);
            assert_int_equal(pm_cost_times_before(&times, list, INT64_MAX), timed);
        }
        pm_cost_times_release(&times);
        pm_buf_release(&data);
        free(cells);
    }
}

static void a_wait_of_many_buckets_is_short(void **state)
{
    (void)state;
    struct pm_buf data = PM_BUF_INIT(1 << 20);
    double cells[N];
    for (int i = 0; i < N; i++)
        cells[i] = BUCKET_NS;
    pm_cost_times_put(&data, 1, (uint64_t)N * BUCKET_NS, cells, N);
    assert_in_range(data.len, 5, 12);
    struct pm_cost_times times;
    assert_int_equal(pm_cost_times_parse(data.data, data.len, 0, BUCKET_NS, &times), PM_OK);
    assert_int_equal(pm_cost_times_before(&times, times.lists, 1234567), 1234567);
    pm_cost_times_release(&times);
    pm_buf_release(&data);
}

static void refused(const char *bytes, size_t len, int64_t bucket_ns)
{
    struct pm_cost_times times;
    assert_int_equal(pm_cost_times_parse(bytes, len, 0, bucket_ns, &times), PM_ERR_FORMAT);
}

static void damaged_times_are_refused(void **state)
{
    (void)state;
    struct pm_cost_times times;
    assert_int_equal(pm_cost_times_parse("\1\1\1\0\1", 5, 0, 1, &times), PM_OK);
    pm_cost_times_release(&times);
    assert_int_equal(pm_cost_times_parse("", 0, 0, 1, &times), PM_OK);
    pm_cost_times_release(&times);
    refused("\1\1\1\0\1", 5, 0);
    refused("\1\1\1\0\1", 5, INT64_MAX / 2);
    refused("\0\1\1\0\1", 5, 1);               /* the context before it */
    refused("\1\0\1\0\1", 5, 1);               /* nothing has a time */
    refused("\1\1\0\0\1", 5, 1);               /* no run */
    refused("\1\1\1\0\0", 5, 1);               /* no weight */
    refused("\1\1\2\0\1", 5, 1);               /* a run is missing */
    refused("\1\1\1\1\1", 5, 1);               /* the weight is missing */
    refused("\1\1\1\xff\xff\x7f\1", 7, 1);     /* beyond all buckets */
    refused("\1\1\1\0\xff\xff\xff\x7f", 8, 1); /* a weight that is too large */
    refused("\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\1\0\1", 14, 1); /* more than 63 bits */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_before_is_known),
        cmocka_unit_test(a_wait_of_many_buckets_is_short),
        cmocka_unit_test(damaged_times_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
