/* Changing code while threads run it: sleds that jump over an increment when armed. Whatever
 * happens, nothing crashes and no thread sees half a change. */
#include "runtime/code/arch.h"
#include "runtime/code/patch.h"
#include "runtime/guest/guest.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void pm_wrap_resolve(void) {}

enum { N_SLEDS = 40, N_THREADS = 4 };

/* Forty sleds at all alignments; armed, each is a jump to the next one, past the increment behind
 * it. Returns in rax how many were dormant. */
__asm__(".text\n"
        ".p2align 6\n"
        "patched_code:\n"
        "xor %eax, %eax\n"
        ".rept 40\n"
        ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
        "inc %rax\n"
        "nop\n"
        ".endr\n"
        "ret\n");
extern long patched_code(void) __attribute__((visibility("hidden")));

enum {
    SLED_STEP = 9
}; /* a sled, an increment of three bytes, a byte so that all alignments occur */

static uintptr_t first_sled(void)
{
    return (uintptr_t)patched_code + 2;
}

static struct pm_patch patches[N_SLEDS];

static void make_patches(bool arm)
{
    static const uint8_t jump[5] = {0xe9, 4, 0, 0, 0};
    for (int i = 0; i < N_SLEDS; i++) {
        patches[i].address = first_sled() + (uintptr_t)(SLED_STEP * i);
        memcpy(patches[i].bytes, arm ? jump : pm_arch_nop, 5);
    }
}

static atomic_bool stop;
static atomic_long n_runs, n_wrong;

static void *run(void *unused)
{
    (void)unused;
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        long n = patched_code();
        if (n < 0 || n > N_SLEDS)
            atomic_fetch_add(&n_wrong, 1);
        atomic_fetch_add_explicit(&n_runs, 1, memory_order_relaxed);
    }
    return NULL;
}

/* The thread sanitizer has a thread of its own that blocks all signals: exactly what live changes
 * are refused for. */
static void need_no_foreign_threads(void)
{
#if defined(__SANITIZE_THREAD__)
    skip();
#endif
}

/* A thread that is just being made has all signals blocked for a moment. */
static bool apply_soon(void)
{
    bool good = false;
    for (int i = 0; i < 200 && !good; i++) {
        good = pm_patch_apply(patches, N_SLEDS, PROT_READ | PROT_EXEC, false);
        if (!good)
            usleep(1000);
    }
    return good;
}

static void code_changes_while_threads_run_it(void **unused)
{
    (void)unused;
    need_no_foreign_threads();
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run, NULL), 0);
    for (int i = 0; i < 400; i++) {
        make_patches(i % 2 == 0);
        assert_true(apply_soon());
        assert_int_equal(patched_code(), i % 2 == 0 ? 0 : N_SLEDS);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&n_wrong), 0);
    assert_true(atomic_load(&n_runs) > 0);
}

static void *sleep_with_traps_blocked(void *unused)
{
    (void)unused;
    sigset_t set;
    sigfillset(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    while (!atomic_load(&stop))
        usleep(1000);
    return NULL;
}

static void a_thread_that_blocks_traps_is_not_put_at_risk(void **unused)
{
    (void)unused;
    need_no_foreign_threads();
    pthread_t thread;
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&thread, NULL, sleep_with_traps_blocked, NULL), 0);
    usleep(20000);
    make_patches(true);
    assert_false(pm_patch_apply(patches, N_SLEDS, PROT_READ | PROT_EXEC, false));
    assert_int_equal(patched_code(), N_SLEDS);
    /* nobody else runs it */
    assert_true(pm_patch_apply(patches, N_SLEDS, PROT_READ | PROT_EXEC, true));
    assert_int_equal(patched_code(), 0);
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
}

static volatile sig_atomic_t n_traps;

static void count_trap(int number)
{
    (void)number;
    n_traps = n_traps + 1;
}

static void the_programs_own_trap_handler_gets_its_own_traps(void **unused)
{
    (void)unused;
    need_no_foreign_threads();
    struct sigaction own = {.sa_handler = count_trap};
    sigaction(SIGTRAP, &own, NULL);
    make_patches(false);
    assert_true(pm_patch_apply(patches, N_SLEDS, PROT_READ | PROT_EXEC, false));
    raise(SIGTRAP);
    assert_int_equal(n_traps, 1);
#if defined(__x86_64__)
    __asm__ volatile("int3");
    assert_int_equal(n_traps, 2);
#endif
    sigaction(SIGTRAP, &own, NULL); /* set anew meanwhile: found at the next change */
    assert_true(pm_patch_apply(patches, N_SLEDS, PROT_READ | PROT_EXEC, false));
    raise(SIGTRAP);
    assert_int_equal(n_traps, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_changes_while_threads_run_it),
        cmocka_unit_test(a_thread_that_blocks_traps_is_not_put_at_risk),
        cmocka_unit_test(the_programs_own_trap_handler_gets_its_own_traps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
