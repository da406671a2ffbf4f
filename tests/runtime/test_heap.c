/* The table of live blocks of libperfmap-heap.so: against a plain model, and from several
 * threads at once. */
#include "runtime/heap/live.c"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void pm_wrap_resolve(void);
void pm_wrap_resolve(void) {} /* of libc nothing is wrapped */

enum { N_ADDRESSES = 3000, N_STEPS = 200000 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Neighbours, as allocators give them, and addresses far away. */
static uint64_t address_of(uint64_t i)
{
    return i % 3 ? 0x10000 + i * 16 : 0x7f0000000000u + i * 0x1000;
}

static void what_was_put_in_is_taken_out_once(void **unused)
{
    (void)unused;
    static uint64_t model[N_ADDRESSES]; /* size; 0 not there */
    uint64_t state = 88172645463325252u;
    for (int step = 0; step < N_STEPS; step++) {
        uint64_t i = next_random(&state) % N_ADDRESSES;
        bool grows = step % 40000 < 20000; /* mostly in, then mostly out */
        if (next_random(&state) % 100 < (grows ? 70u : 30u)) {
            struct heap_live old,
                live = {.address = address_of(i), .size_bytes = (uint64_t)step + 1};
            assert_true(heap_live_put(&live, &old));
            assert_int_equal(old.address ? old.size_bytes : 0, model[i]);
            assert_int_equal(old.address, model[i] ? live.address : 0);
            model[i] = live.size_bytes;
        } else {
            struct heap_live taken = heap_live_take(address_of(i));
            assert_int_equal(taken.address, model[i] ? address_of(i) : 0);
            assert_int_equal(taken.address ? taken.size_bytes : 0, model[i]);
            model[i] = 0;
        }
    }
    for (uint64_t i = 0; i < N_ADDRESSES; i++) {
        struct heap_live taken = heap_live_take(address_of(i));
        assert_int_equal(taken.address ? taken.size_bytes : 0, model[i]);
        assert_int_equal(heap_live_take(address_of(i)).address, 0);
    }
    for (unsigned i = 0; i < N_PARTS; i++)
        assert_int_equal(parts[i].n, 0);
}

enum { N_THREADS = 4, N_EACH = 20000 };

/* Each thread puts its own in, and takes out what the thread before it has put in. */
static uint64_t n_put[N_THREADS];
static void *work(void *argument)
{
    uint64_t mine = (uint64_t)(uintptr_t)argument, other = (mine + N_THREADS - 1) % N_THREADS;
    uint64_t n_wrong = 0;
    for (uint64_t i = 1; i <= N_EACH; i++) {
        struct heap_live old, live = {.address = (i * N_THREADS + mine) * 16, .size_bytes = i};
        n_wrong += !heap_live_put(&live, &old) || old.address != 0;
        __atomic_store_n(&n_put[mine], i, __ATOMIC_RELEASE);
        while (__atomic_load_n(&n_put[other], __ATOMIC_ACQUIRE) < i)
            pm_sys(SYS_sched_yield);
        n_wrong += heap_live_take((i * N_THREADS + other) * 16).size_bytes != i;
    }
    return (void *)(uintptr_t)n_wrong;
}

static void threads_take_out_what_others_put_in(void **unused)
{
    (void)unused;
    pthread_t threads[N_THREADS];
    for (uintptr_t i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)i), 0);
    for (int i = 0; i < N_THREADS; i++) {
        void *n_wrong;
        assert_int_equal(pthread_join(threads[i], &n_wrong), 0);
        assert_null(n_wrong);
    }
    for (unsigned i = 0; i < N_PARTS; i++)
        assert_int_equal(parts[i].n, 0);
}

static void a_child_that_does_not_know_forgets_all(void **unused)
{
    (void)unused;
    struct heap_live old, live = {.address = 0x4000, .size_bytes = 9};
    assert_true(heap_live_put(&live, &old));
    heap_live_forget();
    assert_int_equal(heap_live_take(0x4000).address, 0);
    assert_true(heap_live_put(&live, &old));
    assert_int_equal(old.address, 0);
    assert_int_equal(heap_live_take(0x4000).size_bytes, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_in_is_taken_out_once),
        cmocka_unit_test(threads_take_out_what_others_put_in),
        cmocka_unit_test(a_child_that_does_not_know_forgets_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
