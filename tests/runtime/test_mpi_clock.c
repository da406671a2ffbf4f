/* The clock of the mpi adapter (adapters/mpi/clock.c): it keeps to CLOCK_MONOTONIC and never goes
 * back, whatever comes between a look at one clock and a look at the other. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#define clock_gettime late_clock /* of the adapter only */
#include "runtime/adapters/mpi/clock.c"
#undef clock_gettime

#include <setjmp.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

enum { LATE_EVERY = 3, LATE_US = 3000, RUN_MS = 400 };
static int n_looks, late_every;

/* As if another had the processor before it was read, and then behind it. */
int late_clock(clockid_t clock, struct timespec *ret_now)
{
    bool is_late = late_every != 0 && ++n_looks % late_every == 0;
    if (is_late && n_looks % 2 == 0)
        usleep(LATE_US);
    int result = (int)syscall(SYS_clock_gettime, clock, ret_now);
    if (is_late && n_looks % 2 != 0)
        usleep(LATE_US);
    return result;
}

static uint64_t real_ns(void)
{
    struct timespec now;
    assert_int_equal(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now), 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Between the real times before and after, but for what extrapolation may be off. */
static void keeps_time(int every)
{
    enum { TOLERANCE_NS = 200000 };
    uint64_t last = 0, end_ns = real_ns() + RUN_MS * 1000000ull;
    late_every = every;
    for (uint64_t before; (before = real_ns()) < end_ns;) {
        uint64_t ns = mpi_now_ns(), after = real_ns();
        assert_true(ns >= last);
        assert_true(ns + TOLERANCE_NS > before && ns < after + TOLERANCE_NS);
        last = ns;
    }
    assert_true(n_looks > 5 || every == 0);
}

static void it_keeps_to_the_real_one(void **state)
{
    (void)state;
    keeps_time(0);
}

static void it_may_be_preempted_between_two_looks(void **state)
{
    (void)state;
    keeps_time(LATE_EVERY);
}

static void it_may_be_preempted_at_each_look(void **state)
{
    (void)state;
    keeps_time(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_keeps_to_the_real_one),
        cmocka_unit_test(it_may_be_preempted_between_two_looks),
        cmocka_unit_test(it_may_be_preempted_at_each_look),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
