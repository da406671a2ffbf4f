/* What is sampled, one case each, with hand-made sleds. Most print how much CPU time the thread's own clock counted, in nanoseconds. */
#include "../../runtime/sleds.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define CHECK(x)                                                        \
    do {                                                                \
        if (!(x)) {                                                     \
            fprintf(stderr, "guest: line %d: %s: %s\n", __LINE__, #x, strerror(errno)); \
            _exit(70);                                                  \
        }                                                               \
    } while (0)

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t cpu_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static volatile uint64_t sink;

static void spin(uint64_t n)
{
    for (volatile uint64_t i = 0; i < n; i++)
        ;
}

/* a and b: burn so many steps. */
PM_TEST_FUNCTION(burn_a, 0xa);
void burn_a(uint64_t n);
void burn_a_body(uint64_t n);
void burn_a_body(uint64_t n)
{
    spin(n);
}
PM_TEST_FUNCTION(burn_b, 0xb);
void burn_b(uint64_t n);
void burn_b_body(uint64_t n);
void burn_b_body(uint64_t n)
{
    spin(n);
}

/* c calls what it is given; d too. */
PM_TEST_FUNCTION(call_c, 0xc);
void call_c(void (*f)(void *), void *data);
void call_c_body(void (*f)(void *), void *data);
void call_c_body(void (*f)(void *), void *data)
{
    f(data);
    sink++;
}
PM_TEST_FUNCTION(call_d, 0xd);
void call_d(void (*f)(void *), void *data);
void call_d_body(void (*f)(void *), void *data);
void call_d_body(void (*f)(void *), void *data)
{
    f(data);
    sink++;
}

static uint64_t steps_per_ms(void)
{
    uint64_t start = cpu_ns();
    spin(4000000);
    return 4000000 * 1000000ull / (cpu_ns() - start);
}

static void print(const char *name, uint64_t value)
{
    printf("%s %llu\n", name, (unsigned long long)value);
    fflush(stdout);
}

/* Bursts of a and b at 1:3, and what each took by the thread's clock. Of changing length: equal ones would keep step with the samples. */
static void shares(const char *ms)
{
    uint32_t random = 1;
    uint64_t step = steps_per_ms(), a = 0, b = 0, end = cpu_ns() + strtoull(ms, NULL, 10) * 1000000u;
    for (uint64_t now = cpu_ns(), then; now < end; now = then) {
        random = random * 1103515245u + 12345u;
        uint64_t burst = step / 10 * (1 + (random >> 16) % 9);
        burn_a(burst);
        uint64_t middle = cpu_ns();
        burn_b(burst * 3);
        then = cpu_ns();
        a += middle - now;
        b += then - middle;
    }
    print("a", a);
    print("b", b);
    print("cpu", cpu_ns());
}

static void one_long_call(const char *ms)
{
    uint64_t n = steps_per_ms() * strtoull(ms, NULL, 10), start = cpu_ns();
    burn_a(n);
    uint64_t end = cpu_ns();
    print("a", end - start);
    print("cpu", end);
}

static uint64_t waited;

static void pause_ms(void *ms)
{
    struct timespec t = {0, *(int *)ms * 1000000L};
    uint64_t start = clock_ns(CLOCK_MONOTONIC_RAW), cpu = cpu_ns();
    while (nanosleep(&t, &t) != 0)
        ;
    waited += clock_ns(CLOCK_MONOTONIC_RAW) - start - (cpu_ns() - cpu);
}

static void sleeps(const char *unused)
{
    (void)unused;
    int ms = 30;
    uint64_t step = steps_per_ms(), start = clock_ns(CLOCK_MONOTONIC_RAW), cpu = cpu_ns();
    for (int i = 0; i < 10; i++) {
        burn_a(step * 20);
        call_c(pause_ms, &ms);
        burn_b(step * 20);
    }
    print("waited", waited);
    uint64_t end = cpu_ns();
    print("wall", clock_ns(CLOCK_MONOTONIC_RAW) - start + cpu);
    print("cpu", end);
}

static void system_calls(void *data)
{
    static char buffer[1 << 16];
    int zero = open("/dev/zero", O_RDONLY);
    CHECK(zero >= 0);
    uint64_t end = cpu_ns() + *(uint64_t *)data * 1000000u;
    while (cpu_ns() < end)
        for (int i = 0; i < 50; i++)
            CHECK(read(zero, buffer, sizeof buffer) == sizeof buffer);
    close(zero);
}

static void in_kernel(const char *ms)
{
    uint64_t n = strtoull(ms, NULL, 10);
    call_c(system_calls, &n);
    print("cpu", cpu_ns());
}

static char *big_from, *big_to;
static void copy_much(void *data)
{
    for (uint64_t i = 0; i < *(uint64_t *)data; i++) {
        memcpy(big_to, big_from, 1 << 20);
        __asm__ volatile("" ::: "memory");
    }
}

static void library_code(const char *unused)
{
    (void)unused;
    uint64_t n = 3000;
    big_from = malloc(1 << 20);
    big_to = malloc(1 << 20);
    memset(big_from, 1, 1 << 20);
    call_c(copy_much, &n);
    print("low", (uint64_t)(uintptr_t)copy_much);
    print("high", (uint64_t)(uintptr_t)copy_much + 200);
}

/* --- threads --- */

static void *thread_burn(void *data)
{
    burn_b(*(uint64_t *)data);
    return (void *)(uintptr_t)cpu_ns();
}

static void threads(const char *count)
{
    uint64_t step = steps_per_ms() * 100, total = 0;
    int n = atoi(count);
    pthread_t ids[64];
    for (int i = 0; i < n; i++)
        CHECK(pthread_create(&ids[i], NULL, thread_burn, &step) == 0);
    for (int i = 0; i < n; i++) {
        void *ns;
        CHECK(pthread_join(ids[i], &ns) == 0);
        total += (uintptr_t)ns;
    }
    print("threads", total);
    print("cpu", cpu_ns());
}

static pthread_barrier_t all_there;

static void *thread_with_others(void *data)
{
    pthread_barrier_wait(&all_there);
    return thread_burn(data);
}

static void many_at_once(const char *count)
{
    uint64_t step = steps_per_ms() * 10;
    int n = atoi(count);
    pthread_t ids[64];
    pthread_barrier_init(&all_there, NULL, (unsigned)n);
    for (int i = 0; i < n; i++)
        CHECK(pthread_create(&ids[i], NULL, thread_with_others, &step) == 0);
    for (int i = 0; i < n; i++)
        CHECK(pthread_join(ids[i], NULL) == 0);
}

static int descriptors(void)
{
    int n = 0;
    for (int i = 0; i < 4096; i++)
        n += fcntl(i, F_GETFD) >= 0;
    return n;
}

static long mappings(void)
{
    FILE *in = fopen("/proc/self/maps", "r");
    long n = 0;
    for (int c; (c = getc(in)) != EOF;)
        n += c == '\n';
    fclose(in);
    return n;
}

static void short_threads(const char *count)
{
    uint64_t step = 20000;
    int n = atoi(count), before = 0;
    long maps = 0;
    for (int i = 0; i < n; i++) {
        pthread_t id;
        if (i == n / 2) {
            before = descriptors();
            maps = mappings();
        }
        CHECK(pthread_create(&id, NULL, thread_burn, &step) == 0);
        CHECK(pthread_join(id, NULL) == 0);
    }
    CHECK(descriptors() == before);
    print("maps", (uint64_t)(mappings() > maps ? mappings() - maps : 0));
}

static void *cancelled(void *data)
{
    (void)data;
    for (;;) {
        burn_a(1000);
        pthread_testcancel();
    }
    return NULL;
}

/* Made by pthread_create with attributes and names, cancelled, refused: as ever. */
static void thread_manners(const char *unused)
{
    (void)unused;
    pthread_attr_t attr;
    size_t bytes;
    uint64_t step = 1000;
    pthread_t id;
    pthread_attr_init(&attr);
    CHECK(pthread_attr_setstacksize(&attr, 16384) == 0);
    for (int i = 0; i < 2000; i++) { /* more than places for what a thread shall do */
        void *result;
        CHECK(pthread_create(&id, &attr, cancelled, NULL) == 0);
        if (i == 0) {
            pthread_attr_t got;
            CHECK(pthread_getattr_np(id, &got) == 0 && pthread_attr_getstacksize(&got, &bytes) == 0 &&
                  bytes == 16384);
            CHECK(pthread_setname_np(id, "my-name") == 0);
        }
        CHECK(pthread_cancel(id) == 0 && pthread_join(id, &result) == 0 && result == PTHREAD_CANCELED);
    }
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    CHECK(pthread_create(&id, &attr, thread_burn, &step) == 0);
    struct rlimit none = {0, 0}, before;
    getrlimit(RLIMIT_AS, &before);
    none.rlim_max = before.rlim_max;
    pthread_attr_setstacksize(&attr, 1ul << 40);
    setrlimit(RLIMIT_AS, &none);
    for (int i = 0; i < 1000; i++)
        CHECK(pthread_create(&id, &attr, thread_burn, &step) == EAGAIN);
    setrlimit(RLIMIT_AS, &before);
    print("ok", 1);
}

/* --- children --- */

static void burn_some(const char *what)
{
    burn_a(steps_per_ms() * 100);
    print(what, cpu_ns());
}

static void child_of_fork(const char *how)
{
    burn_some("parent");
    pid_t child = strcmp(how, "raw") == 0 ? (pid_t)syscall(SYS_fork) : strcmp(how, "_Fork") == 0 ? _Fork() : fork();
    if (child == 0) {
        burn_b(1000); /* the first event of this child reads the parent's ring */
        burn_b(steps_per_ms() * 100);
        print("child", cpu_ns());
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    burn_a(steps_per_ms() * 50);
    print("cpu", cpu_ns());
}

static void child_of_vfork(const char *unused)
{
    (void)unused;
    uint64_t step = steps_per_ms();
    for (int i = 0; i < 20; i++) {
        pid_t child = vfork();
        if (child == 0) {
            burn_b(step * 10);
            execl("/bin/true", "true", (char *)NULL);
            _exit(1);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
        burn_a(step * 10);
    }
    print("cpu", cpu_ns());
}

static void forks_in_threads(const char *unused)
{
    (void)unused;
    pthread_t ids[4];
    uint64_t step = steps_per_ms() * 300;
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&ids[i], NULL, thread_burn, &step) == 0);
    for (int i = 0; i < 50; i++) {
        pid_t child = i % 2 ? fork() : (pid_t)syscall(SYS_fork);
        if (child == 0) {
            burn_b(100000);
            _exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(ids[i], NULL) == 0);
}

static void exec_again(const char *n)
{
    burn_some("cpu");
    if (atoi(n) > 0) {
        char less[2] = {(char)(n[0] - 1), 0};
        CHECK(execl("/proc/self/exe", "guest", "exec_again", less, (char *)NULL) == -2);
    }
}

/* --- manners of programs --- */

static void closes_all(const char *unused)
{
    (void)unused;
    if (syscall(SYS_close_range, 3, ~0u, 0) != 0)
        for (int i = 3; i < 70000; i++)
            close(i);
    uint64_t step = steps_per_ms() * 100;
    for (int i = 0; i < 4; i++) {
        pthread_t id;
        burn_a(step);
        CHECK(pthread_create(&id, NULL, thread_burn, &step) == 0);
        CHECK(pthread_join(id, NULL) == 0);
    }
    print("cpu", cpu_ns());
}

static void *with_no_signals(void *data)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    burn_a(*(uint64_t *)data);
    print("thread", cpu_ns());
    return NULL;
}

static void blocks_signals(const char *ms)
{
    uint64_t step = steps_per_ms() * strtoull(ms, NULL, 10);
    pthread_t id;
    CHECK(pthread_create(&id, NULL, with_no_signals, &step) == 0);
    CHECK(pthread_join(id, NULL) == 0);
}

/* All handlers back to their default: none of our signals may end the program. */
static void resets_handlers(const char *ms)
{
    for (int i = 1; i < 65; i++)
        signal(i, SIG_DFL);
    one_long_call(ms);
}

static volatile int n_profile, n_urgent;
static void on_profile(int number)
{
    (void)number;
    n_profile++;
}
static void on_urgent(int number)
{
    (void)number;
    n_urgent++;
}

static void own_timers(const char *ms)
{
    struct itimerval every = {{0, 10000}, {0, 10000}};
    signal(SIGPROF, on_profile);
    CHECK(setitimer(ITIMER_PROF, &every, NULL) == 0);
    uint64_t start = cpu_ns();
    one_long_call(ms);
    uint64_t due = (cpu_ns() - start) / 10000000u;
    CHECK(n_profile > (int)due / 4 && n_profile < (int)due * 2); /* the kernel counts it by its ticks */
}

static void own_urgent(const char *ms)
{
    struct sigaction action = {.sa_handler = on_urgent};
    CHECK(sigaction(SIGURG, &action, NULL) == 0);
    CHECK(raise(SIGURG) == 0 && n_urgent >= 1);
    one_long_call(ms);
}

/* Waits that a signal would end, beside bursts of work without any sled, so that the bell rings. */
static void no_interrupted_calls(const char *unused)
{
    (void)unused;
    int fds[2];
    struct timespec ten = {0, 10000000};
    CHECK(pipe(fds) == 0);
    uint64_t step = steps_per_ms(), end = clock_ns(CLOCK_MONOTONIC) + 3000000000u;
    while (clock_ns(CLOCK_MONOTONIC) < end) {
        spin(step * 7 / 2);
        CHECK(nanosleep(&ten, NULL) == 0);
        struct pollfd wait = {fds[0], POLLIN, 0};
        spin(step * 7 / 2);
        CHECK(poll(&wait, 1, 5) == 0);
        sigset_t none;
        sigemptyset(&none);
        CHECK(ppoll(&wait, 1, &ten, &none) == 0);
    }
    print("cpu", cpu_ns());
}

static jmp_buf back;
static volatile int n_jumps;
static void jump(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

/* Jumps out of whatever a signal interrupts, also out of drains: sampling goes on. */
static void jumps(const char *ms)
{
    struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    signal(SIGALRM, jump);
    uint64_t end = cpu_ns() + strtoull(ms, NULL, 10) * 1000000u;
    if (sigsetjmp(back, 1) != 0)
        n_jumps++;
    setitimer(ITIMER_REAL, &every, NULL);
    while (cpu_ns() < end)
        burn_a(2000);
    setitimer(ITIMER_REAL, &never, NULL);
    burn_b(steps_per_ms() * 200);
    print("cpu", cpu_ns());
}

static void on_own_stack(int number)
{
    (void)number;
    burn_b(3000000);
}

/* Signal handlers on a stack above the thread's own and on one below. */
static void signal_stacks(const char *unused)
{
    (void)unused;
    static char below[65536];
    stack_t stack = {.ss_sp = below, .ss_size = sizeof below};
    struct sigaction action = {.sa_handler = on_own_stack, .sa_flags = SA_ONSTACK};
    CHECK(sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    uint64_t step = steps_per_ms() * 2;
    for (int i = 0; i < 20; i++) {
        burn_a(step);
        raise(SIGUSR1);
    }
    print("cpu", cpu_ns());
}

static void forever(const char *unused)
{
    (void)unused;
    for (;;) {
        burn_a(10000000);
        burn_b(10000000);
    }
}

static void deep_throw(int n)
{
    if (n == 0)
        longjmp(back, 1);
    deep_throw(n - 1);
}

static void leave_by_jump(void *data)
{
    (void)data;
    deep_throw(10);
}

/* What a jump leaves behind has no time: its frames are dead. */
static void after_jump(const char *ms)
{
    if (setjmp(back) == 0)
        call_c(leave_by_jump, NULL);
    spin(steps_per_ms() * strtoull(ms, NULL, 10));
    print("cpu", cpu_ns());
}

/* Two libraries by turns at the same place: an address means the one or the other. */
static void by_turns(const char *rounds)
{
    static const char *const names[] = {"./one.so", "./two.so"};
    uintptr_t places[2] = {0, 0};
    uint64_t step = steps_per_ms() * 60;
    for (int i = 0; i < 2 * atoi(rounds); i++) {
        void *library = dlopen(names[i % 2], RTLD_NOW);
        CHECK(library != NULL);
        void (*burn)(uint64_t) = (void (*)(uint64_t))dlsym(library, "library_burn");
        CHECK(burn != NULL);
        places[i % 2] = (uintptr_t)burn;
        burn(step);
        CHECK(dlclose(library) == 0);
    }
    print("same", places[0] == places[1]);
    print("cpu", cpu_ns());
}

static void *burn_always(void *data)
{
    for (;;) {
        copy_much(data);
        pthread_testcancel();
    }
    return NULL;
}

/* Libraries come and go while other threads look for callers. */
static void comes_and_goes(const char *rounds)
{
    uint64_t n = 1;
    pthread_t ids[2];
    big_from = malloc(1 << 20);
    big_to = malloc(1 << 20);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&ids[i], NULL, burn_always, &n) == 0);
    for (int i = 0; i < atoi(rounds); i++) {
        void *library = dlopen(i % 3 ? "./one.so" : "./two.so", RTLD_NOW);
        CHECK(library != NULL);
        ((void (*)(uint64_t))dlsym(library, "library_burn"))(1000);
        CHECK(dlclose(library) == 0);
    }
    for (int i = 0; i < 2; i++)
        CHECK(pthread_cancel(ids[i]) == 0 && pthread_join(ids[i], NULL) == 0);
}

static const struct {
    const char *name;
    void (*run)(const char *argument);
} cases[] = {{"shares", shares},
             {"one_long_call", one_long_call},
             {"sleeps", sleeps},
             {"in_kernel", in_kernel},
             {"library_code", library_code},
             {"threads", threads},
             {"many_at_once", many_at_once},
             {"short_threads", short_threads},
             {"thread_manners", thread_manners},
             {"fork", child_of_fork},
             {"vfork", child_of_vfork},
             {"forks_in_threads", forks_in_threads},
             {"exec_again", exec_again},
             {"closes_all", closes_all},
             {"blocks_signals", blocks_signals},
             {"resets_handlers", resets_handlers},
             {"own_timers", own_timers},
             {"own_urgent", own_urgent},
             {"no_interrupted_calls", no_interrupted_calls},
             {"jumps", jumps},
             {"signal_stacks", signal_stacks},
             {"forever", forever},
             {"after_jump", after_jump},
             {"by_turns", by_turns},
             {"comes_and_goes", comes_and_goes}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run(argc > 2 ? argv[2] : "0");
            return 0;
        }
    fprintf(stderr, "guest: no case '%s'\n", argc > 1 ? argv[1] : "");
    return 71;
}
