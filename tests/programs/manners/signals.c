/* Signals: handlers with sleds wherever they may come, jumps out of them, a program's own use of the signals that PerfMap uses too. */
#define _GNU_SOURCE
#define NAMES(x) x(leaf) x(work) x(handler) x(inner) x(on_trap) x(on_prof) x(on_urg)
#include "counts.h"
#include "work.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

static volatile sig_atomic_t n_handled;

/* With a frame of some size, as printf's. */
SEPARATE static long inner(long n)
{
    COUNT(inner);
    volatile char frame[512];
    frame[n % 512] = 1;
    return work(n % 5) + frame[n % 512];
}

SEPARATE static void handler(int number)
{
    COUNT(handler);
    inner(number);
    n_handled = n_handled + 1;
}

static void handle(int number)
{
    handler(number);
}

static void alarms(int microseconds)
{
    struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void install(int number, void (*function)(int), int flags)
{
    struct sigaction action = {.sa_handler = function, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    CHECK(sigaction(number, &action, NULL) == 0);
}

static int normal_stack(void)
{
    install(SIGALRM, handle, SA_RESTART);
    alarms(50);
    while (n_handled < 2000)
        work(20);
    alarms(0);
    return 0;
}

/* Handlers within handlers. */
static int nested(void)
{
    install(SIGALRM, handle, SA_RESTART | SA_NODEFER);
    install(SIGUSR1, handle, SA_NODEFER);
    alarms(200); /* more than a signal ever takes: without end, they need all of the stack */
    while (n_handled < 2000) {
        work(20);
        raise(SIGUSR1);
    }
    alarms(0);
    return 0;
}

/* Of the size that programs use, by default. */
static int alternate_stack(void)
{
    static char memory[8192] __attribute__((aligned(64)));
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    CHECK(sigaltstack(&stack, NULL) == 0);
    install(SIGALRM, handle, SA_RESTART | SA_ONSTACK);
    alarms(50);
    while (n_handled < 2000)
        work(20);
    alarms(0);
    return 0;
}

/* Signals come on a small stack only, all of them; whatever measures must get along with it. */
static void *in_thread(void *memory)
{
    stack_t stack = {.ss_sp = memory, .ss_size = 8192};
    CHECK(sigaltstack(&stack, NULL) == 0);
    for (int i = 0; i < 1000; i++) {
        work(200);
        pthread_kill(pthread_self(), SIGUSR1);
    }
    return NULL;
}

static int alternate_stacks_above(void)
{
    char *above = mmap(NULL, 8 * 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t threads[4];
    install(SIGUSR1, handle, SA_RESTART | SA_ONSTACK);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, in_thread, above + i * 8192) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static sigjmp_buf back;

static void jumps(int number)
{
    handler(number);
    siglongjmp(back, 1);
}

static int handler_jumps(void)
{
    install(SIGUSR1, jumps, 0);
    for (volatile int i = 0; i < 1000; i = i + 1) {
        if (sigsetjmp(back, 1) == 0) {
            work(3);
            raise(SIGUSR1);
            work(100000);
        }
        leaf(i);
    }
    return 0;
}

/* From another stack. */
static int handler_jumps_from_alternate_stack(void)
{
    static char memory[16384] __attribute__((aligned(64)));
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    CHECK(sigaltstack(&stack, NULL) == 0);
    install(SIGUSR1, jumps, SA_ONSTACK);
    for (volatile int i = 0; i < 1000; i = i + 1) {
        if (sigsetjmp(back, 1) == 0) {
            work(3);
            raise(SIGUSR1);
            work(100000);
        }
        leaf(i);
    }
    return 0;
}

/* A fault that is mended by a jump, as interpreters and collectors do. */
static int faults(void)
{
    install(SIGSEGV, jumps, SA_NODEFER);
    char *nothing = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (volatile int i = 0; i < 500; i = i + 1)
        if (sigsetjmp(back, 1) == 0) {
            work(3);
            *(volatile char *)nothing = 1;
            CHECK(0);
        }
    return 0;
}

SEPARATE static void on_trap(int number)
{
    COUNT(on_trap);
    (void)number;
}

SEPARATE static void on_prof(int number)
{
    COUNT(on_prof);
    (void)number;
}

SEPARATE static void on_urg(int number)
{
    COUNT(on_urg);
    (void)number;
}

static volatile double spent;

static void spend(double seconds)
{
    struct timespec start, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    do {
        for (int i = 0; i < 1000; i++)
            spent += i;
        work(3);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) * 1e-9 < seconds);
}

/* A program with a breakpoint of its own, a profiler of its own, and urgent data. */
static int own_handlers(void)
{
    struct sigaction old;
    install(SIGTRAP, on_trap, SA_RESTART);
    install(SIGPROF, on_prof, SA_RESTART);
    install(SIGURG, on_urg, SA_RESTART);
    struct itimerval timer = {{0, 10000}, {0, 10000}};
    setitimer(ITIMER_PROF, &timer, NULL);
    for (int i = 0; i < 10; i++) {
        spend(0.015);
        __asm__ volatile("int3");
        raise(SIGTRAP);
        raise(SIGURG);
    }
    /* they come at the kernel's ticks, which others may have on a busy machine */
    for (int i = 0; i < 2000 && counts[count_of_on_prof].n == 0; i++)
        spend(0.005);
    timer = (struct itimerval){0};
    setitimer(ITIMER_PROF, &timer, NULL);
    CHECK(sigaction(SIGTRAP, NULL, &old) == 0 && old.sa_handler == on_trap);
    CHECK(sigaction(SIGPROF, NULL, &old) == 0 && old.sa_handler == on_prof);
    CHECK(sigaction(SIGURG, NULL, &old) == 0 && old.sa_handler == on_urg);
    CHECK(counts[count_of_on_prof].n > 0);
    printf("own traps %ld urgent %ld\n", counts[count_of_on_trap].n, counts[count_of_on_urg].n);
    return 0;
}

/* What a program sees that asks which signals are handled: shells, service managers. */
static int handlers_as_inherited(void)
{
    for (int number = 1; number < 65; number++) {
        struct sigaction old;
        if (sigaction(number, NULL, &old) == 0)
            printf("%d %s\n", number, old.sa_handler == SIG_DFL ? "default" : old.sa_handler == SIG_IGN ? "ignored" : "handled");
    }
    sigset_t set;
    sigprocmask(SIG_BLOCK, NULL, &set);
    for (int number = 1; number < 65; number++)
        if (sigismember(&set, number) == 1)
            printf("%d blocked\n", number);
    work(10);
    return 0;
}

static int dies_of_trap(void)
{
    work(10);
    __asm__ volatile("int3");
    return 0;
}

static int urgent_data_ignored(void)
{
    signal(SIGURG, SIG_DFL);
    spend(0.1);
    CHECK(signal(SIGURG, SIG_IGN) == SIG_DFL);
    spend(0.1);
    work(10);
    CHECK(signal(SIGURG, SIG_DFL) == SIG_IGN);
    return 0;
}

static void *blocked_life(void *unused)
{
    for (int i = 0; i < 2000; i++)
        work(100);
    return unused;
}

static int all_blocked(void)
{
    sigset_t all;
    pthread_t threads[4];
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, blocked_life, NULL) == 0);
    blocked_life(NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    sigpending(&all);
    for (int number = 1; number < 65; number++)
        if (number != SIGURG && sigismember(&all, number) == 1)
            printf("pending %d\n", number);
    return 0;
}

/* A thread for all signals, as servers have: no signal is there but those that were sent. */
static volatile int n_taken;

static void *takes_signals(void *unused)
{
    sigset_t all;
    sigfillset(&all);
    for (int number; sigwait(&all, &number) == 0 && number != SIGTERM;) {
        printf("signal %d\n", number);
        if (number == SIGUSR1)
            spend(0.1);
        n_taken = n_taken + 1;
    }
    return unused;
}

static int signal_thread(void)
{
    sigset_t all;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    CHECK(pthread_create(&thread, NULL, takes_signals, NULL) == 0);
    for (int i = 0; i < 3; i++) {
        kill(getpid(), SIGUSR1);
        while (n_taken <= i)
            spend(0.01);
    }
    kill(getpid(), SIGTERM);
    pthread_join(thread, NULL);
    return 0;
}

static char state_of(pid_t pid)
{
    char path[64], text[512], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (file != NULL && fgets(text, sizeof text, file) != NULL && strrchr(text, ')') != NULL)
        state = strrchr(text, ')')[2];
    if (file != NULL)
        fclose(file);
    return state;
}

/* What PerfMap has started stops and goes on, beside a thread of its own. */
static int stops_itself(void)
{
    pid_t self = getpid(), child = fork();
    pthread_t thread;
    while (child == 0) {
        if (state_of(self) == 'T')
            kill(self, SIGCONT);
        usleep(500);
    }
    CHECK(pthread_create(&thread, NULL, blocked_life, NULL) == 0);
    for (int i = 0; i < 10; i++) {
        work(100);
        CHECK(raise(SIGSTOP) == 0);
    }
    pthread_join(thread, NULL);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    return 0;
}

static int stopped(void)
{
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 3000; i++)
            work(100);
        _exit(3);
    }
    int status = 0;
    for (int i = 0; i < 20; i++) {
        kill(child, SIGSTOP);
        if (waitpid(child, &status, WUNTRACED) == child && !WIFSTOPPED(status))
            break;
        usleep(3000);
        kill(child, SIGCONT);
        usleep(1000);
    }
    if (!WIFEXITED(status))
        CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct a_case cases[] = {
        {"normal_stack", normal_stack},
        {"nested", nested},
        {"alternate_stack", alternate_stack},
        {"alternate_stacks_above", alternate_stacks_above},
        {"handler_jumps", handler_jumps},
        {"handler_jumps_from_alternate_stack", handler_jumps_from_alternate_stack},
        {"faults", faults},
        {"own_handlers", own_handlers},
        {"handlers_as_inherited", handlers_as_inherited},
        {"dies_of_trap", dies_of_trap},
        {"urgent_data_ignored", urgent_data_ignored},
        {"all_blocked", all_blocked},
        {"signal_thread", signal_thread},
        {"stopped", stopped},
        {"stops_itself", stops_itself},
    };
    return RUN_CASE(cases, argc, argv);
}
