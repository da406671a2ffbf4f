// The programs of tests/system/runtime: one case each, with hand-made sleds, so that they need no plugin. What each must leave in its
// run file stands in `run` beside this file.
#include "../../runtime/sleds.h"

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

extern "C" {
// calls(f, x): a function with sleds that calls f(x).
typedef long callee(long);
#define CALLS(name, id)                                                                                                \
    PM_TEST_FUNCTION(name, id);                                                                                        \
    long name(callee *f, long x);                                                                                      \
    long name##_body(callee *f, long x)                                                                                \
    {                                                                                                                  \
        return f != nullptr ? f(x) : x;                                                                                \
    }
CALLS(fa, 0xa)
CALLS(fb, 0xb)
CALLS(fc, 0xc)
CALLS(fd, 0xd)
CALLS(fe, 0xe)

PM_TEST_FUNCTION(recurse, 0x20);
long recurse(long depth, callee *last);
long recurse_body(long depth, callee *last)
{
    if (depth > 0)
        return recurse(depth - 1, last) + 1;
    return last != nullptr ? last(0) : 0;
}

// Mutual tail recursion of n jumps.
long ping(long n);
__asm__(".text\n.globl ping\nping:\n" PM_TEST_SLED(".Lping", 1, 0x80, 0xf3ff, 0x30) "dec %rdi\njs 1f\n" //
        PM_TEST_SLED(".Lping_tail", 3, 0x80, 0xf3ff, 0x30) "jmp pong\n1:xor %eax, %eax\n"            //
        PM_TEST_SLED(".Lping_return", 2, 0x80, 0xf3ff, 0x30) "ret\n"                                 //
        "pong:\n" PM_TEST_SLED(".Lpong", 1, 0x80, 0xf3ff, 0x31) "dec %rdi\njs 2f\n"                     //
        PM_TEST_SLED(".Lpong_tail", 3, 0x80, 0xf3ff, 0x31) "jmp ping\n2:mov $1, %eax\n"              //
        PM_TEST_SLED(".Lpong_return", 2, 0x80, 0xf3ff, 0x31) "ret\n");

// A leaf that keeps values in its red zone, with a loop in it: the loop's stack pointer is the function's.
long red_leaf(long n);
__asm__(".text\n.globl red_leaf\nred_leaf:\n" PM_TEST_SLED(".Lred", 1, 0x80, 0xf3ff, 0x40)    //
        "mov %rdi, -8(%rsp)\nmovq $0, -16(%rsp)\n"                                             //
        PM_TEST_SLED(".Lred_enter", 4, 1, 0xffff, 0x41)                                        //
        "1: add $3, %rdi\nincq -16(%rsp)\ndecq -8(%rsp)\njnz 1b\n"                              //
        PM_TEST_SLED(".Lred_leave", 5, 1, 0xffff, 0x41) "mov -16(%rsp), %rax\n"                //
        PM_TEST_SLED(".Lred_return", 2, 0x80, 0xf3fd, 0x40) "ret\n");

// A loop entered while arguments of the call before it are still on the stack (-fdefer-pop).
long late_pop(long n);
__asm__(".text\n.globl late_pop\nlate_pop:\n" PM_TEST_SLED(".Llate", 1, 0x80, 0xf3fe, 0x42) //
        "push %rbx\nmov %rdi, %rbx\nsub $32, %rsp\n"                                        //
        PM_TEST_SLED(".Llate_enter", 4, 1, 0xffff, 0x43) "add $32, %rsp\n"                    //
        "1: xor %edi, %edi\nmov $1, %esi\ncall fa\ndec %rbx\njnz 1b\n"                     //
        PM_TEST_SLED(".Llate_leave", 5, 1, 0xffff, 0x43) "xor %edi, %edi\ncall fb\npop %rbx\n" //
        PM_TEST_SLED(".Llate_return", 2, 0x80, 0xf3fd, 0x42) "ret\n");
}

static void check(bool good, const char *what)
{
    if (!good) {
        printf("wrong: %s\n", what);
        exit(1);
    }
}

static long throws(long x)
{
    if (x % 2 == 0)
        throw x;
    PM_TEST_LOOP_ENTER(1, 0x50);
    for (long i = 0; i < 4; i++) {
        PM_TEST_LOOP_ENTER(2, 0x51);
        for (long k = 0; k < 4; k++)
            if (i + k == 5)
                throw x;
        PM_TEST_LOOP_LEAVE(2, 0x51);
    }
    PM_TEST_LOOP_LEAVE(1, 0x50);
    return x;
}

struct guard {
    ~guard() { fe(nullptr, 1); }
};

static long through_guard(long x)
{
    guard g;
    return fc(throws, x);
}

static int case_exceptions()
{
    long caught = 0;
    for (long i = 0; i < 1000; i++)
        try {
            fa([](long x) { return fb(through_guard, x); }, i);
        } catch (long) {
            caught++;
            fd(nullptr, 0);
        }
    check(caught == 1000, "exceptions");
    return 0;
}

static jmp_buf place;

static int case_longjmp()
{
    for (volatile int i = 0; i < 500; i++)
        if (setjmp(place) == 0)
            fa([](long) { return recurse(6, [](long) -> long { longjmp(place, 1); }); }, 0);
        else
            fb(nullptr, 0);
    return 0;
}

static int case_deep()
{
    for (int i = 0; i < 3; i++)
        check(recurse(5000, [](long) { return fa(nullptr, 0); }) == 5000, "depth");
    fb([](long) { return fc(nullptr, 0); }, 0);
    return 0;
}

static int case_tail()
{
    check(ping(20000000) == 0, "ping");
    fa(nullptr, 0);
    return 0;
}

static int case_leaf()
{
    for (int i = 0; i < 10; i++)
        check(red_leaf(7) == 7, "red zone");
    fa([](long x) { return red_leaf(x); }, 5);
    return 0;
}

static int case_late_pop()
{
    for (int i = 0; i < 10; i++)
        late_pop(4);
    return 0;
}

static int case_alloca()
{
    for (int i = 1; i < 20; i++) {
        PM_TEST_LOOP_ENTER(1, 0x60);
        for (int k = 0; k < i; k++) {
            char *memory = static_cast<char *>(alloca(static_cast<size_t>(k) * 48 + 16));
            memset(memory, k, 16);
            fa(nullptr, memory[3]);
        }
        PM_TEST_LOOP_LEAVE(1, 0x60);
    }
    return 0;
}

static int case_breaks() // out of both loops at once; the inner one's exit comes first
{
    for (int i = 0; i < 100; i++) {
        PM_TEST_LOOP_ENTER(1, 0x61);
        for (int k = 0; k < 10; k++) {
            PM_TEST_LOOP_ENTER(2, 0x62);
            for (int j = 0; j < 10; j++)
                if (fa(nullptr, k * j) == 12) {
                    PM_TEST_LOOP_LEAVE(2, 0x62);
                    goto out;
                }
            PM_TEST_LOOP_LEAVE(2, 0x62);
        }
    out:
        PM_TEST_LOOP_LEAVE(1, 0x61);
    }
    return 0;
}

static void *worker(void *)
{
    for (int i = 0; i < 100000; i++)
        fa([](long x) { return fb(nullptr, x); }, i);
    return nullptr;
}

static int case_threads()
{
    pthread_t threads[8];
    for (pthread_t &t : threads)
        pthread_create(&t, nullptr, worker, nullptr);
    for (pthread_t &t : threads)
        pthread_join(t, nullptr);
    return 0;
}

static int case_many_threads()
{
    for (int i = 0; i < 3000; i++) {
        pthread_t t;
        check(pthread_create(&t, nullptr, [](void *) -> void * { fa(nullptr, 0); return nullptr; }, nullptr) == 0, "thread");
        pthread_join(t, nullptr);
    }
    return 0;
}

static int case_pthread_exit()
{
    pthread_t t;
    pthread_create(&t, nullptr, [](void *) -> void * {
        fa([](long) -> long { pthread_exit(nullptr); }, 0);
        return nullptr;
    }, nullptr);
    pthread_join(t, nullptr);
    pthread_create(&t, nullptr, [](void *) -> void * {
        fa([](long) -> long { for (;;) { fb(nullptr, 0); usleep(100); } }, 0);
        return nullptr;
    }, nullptr);
    usleep(20000);
    pthread_cancel(t);
    pthread_join(t, nullptr);
    fc(nullptr, 0);
    return 0;
}

static long forks(long raw)
{
    fb(nullptr, 0);
    pid_t child = raw == 1 ? static_cast<pid_t>(syscall(SYS_fork)) : fork();
    if (child == 0) {
        for (int i = 0; i < 5; i++)
            fc(nullptr, 0);
        return 1;
    }
    for (int i = 0; i < 3; i++)
        fd(nullptr, 0);
    int status;
    waitpid(child, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 7, "child");
    return 0;
}

static int case_fork()
{
    if (fa(forks, 0) == 1) {
        fe(nullptr, 0);
        _exit(7);
    }
    return 0;
}

static int case_raw_fork()
{
    if (fa(forks, 1) == 1)
        _exit(7);
    return 0;
}

static int case_fork_in_thread()
{
    pthread_t t, other;
    pthread_create(&other, nullptr, worker, nullptr);
    pthread_create(&t, nullptr, [](void *) -> void * {
        if (fa(forks, 0) == 1)
            exit(7);
        return nullptr;
    }, nullptr);
    pthread_join(t, nullptr);
    pthread_join(other, nullptr);
    return 0;
}

static int case_vfork()
{
    for (volatile int i = 0; i < 20; i = i + 1) {
        pid_t child = vfork();
        if (child == 0) {
            fa(nullptr, 0);
            if (i % 2 == 0)
                execl("/bin/true", "true", static_cast<char *>(nullptr));
            _exit(0);
        }
        waitpid(child, nullptr, 0);
        fb(nullptr, 0);
    }
    return 0;
}

static char *self;

static int case_exec(const char *left)
{
    int n = left != nullptr ? atoi(left) : 3;
    fa(nullptr, 0);
    if (execl("/does/not/exist", "no", static_cast<char *>(nullptr)) == -1)
        fb(nullptr, 0);
    if (n == 0)
        return 0;
    std::string next = std::to_string(n - 1);
    fc([](long text) -> long {
        char *arguments[] = {self, const_cast<char *>("exec"), reinterpret_cast<char *>(text), nullptr};
        return execv(self, arguments);
    }, reinterpret_cast<long>(next.c_str()));
    return 1;
}

static int loads(const char *name)
{
    std::string path = std::string(self) + name;
    for (int i = 0; i < 50; i++) {
        void *library = dlopen(path.c_str(), RTLD_NOW);
        check(library != nullptr, dlerror());
        callee *f = reinterpret_cast<callee *>(dlsym(library, "library_function"));
        check(f != nullptr && f(i) == i + 1, "library_function");
        dlclose(library);
        fa(nullptr, 0);
    }
    return 0;
}

static int case_dlopen()
{
    return loads(".so");
}

static int case_dlopen_portable()
{
    return loads("-portable.so");
}

static int case_forever()
{
    for (long i = 0;; i++)
        fa([](long x) { return recurse(x % 50, nullptr); }, i);
}

static int case_abort()
{
    fa([](long) -> long { abort(); }, 0);
    return 0;
}

static int case_exit()
{
    atexit([] { fe(nullptr, 0); });
    fa([](long) -> long { fb([](long) -> long { exit(5); }, 0); return 0; }, 0);
    return 0;
}

// Contexts enough to make the file grow several times.
static long grow(long seed)
{
    static callee *const next = [](long x) -> long {
        static long (*const f[])(callee *, long) = {fa, fb, fc, fd, fe};
        return x < 5 ? 0 : f[x % 5](next, x / 5);
    };
    for (long i = 0; i < seed; i++)
        next(i * 7919);
    return 0;
}

static int case_closed()
{
    fa(nullptr, 0);
    check(syscall(SYS_close_range, 3, ~0u, 0) == 0 && chdir("/") == 0, "close_range");
    for (int i = 0; i < 40; i++) // somebody else's file under our number
        check(open("/dev/zero", O_RDWR) >= 0, "open");
    check(fcntl(3, F_DUPFD, 1000) >= 0, "dup");
    grow(3000);
    return 0;
}

static int case_grow()
{
    grow(3000);
    return 0;
}

static int case_file_limit()
{
    fa(nullptr, 0);
    struct rlimit limit = {200000, 200000};
    setrlimit(RLIMIT_FSIZE, &limit);
    grow(3000);
    return 0;
}

static volatile sig_atomic_t n_handled;

static void on_alarm(int)
{
    n_handled = n_handled + 1;
    fa([](long x) { return fb(nullptr, x); }, 0);
}

static int signals(bool other_stack, char *stack)
{
    struct sigaction action = {};
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART | (other_stack ? SA_ONSTACK : 0);
    if (other_stack) {
        stack_t s = {};
        s.ss_sp = stack;
        s.ss_size = 65536;
        sigaltstack(&s, nullptr);
    }
    sigaction(SIGALRM, &action, nullptr);
    struct itimerval timer = {{0, 30}, {0, 30}};
    setitimer(ITIMER_REAL, &timer, nullptr);
    long calls = 0;
    while (n_handled < 3000) {
        fa([](long x) { return fb(nullptr, x); }, 0);
        fc([](long x) { return recurse(x % 9, nullptr); }, calls++);
    }
    timer = {};
    setitimer(ITIMER_REAL, &timer, nullptr);
    printf("handled %d calls %ld\n", static_cast<int>(n_handled), calls);
    return 0;
}

static int case_signals()
{
    return signals(false, nullptr);
}

// Both the program and its handlers make new contexts all the time.
static long n_own[5];

static long count_and_go(long x)
{
    static long (*const f[])(callee *, long) = {fa, fb, fc, fd, fe};
    if (x < 5)
        return 0;
    __atomic_fetch_add(&n_own[x % 5], 1, __ATOMIC_RELAXED);
    return f[x % 5](count_and_go, x / 5);
}

static int case_signals_and_new_contexts()
{
    struct sigaction action = {};
    action.sa_handler = [](int) {
        n_handled = n_handled + 1;
        count_and_go(n_handled % 100 * 104729L);
    };
    sigaction(SIGALRM, &action, nullptr);
    struct itimerval timer = {{0, 20}, {0, 20}};
    setitimer(ITIMER_REAL, &timer, nullptr);
    for (long i = 0; n_handled < 3000; i = (i + 1) % 4000)
        count_and_go(i * 7919);
    timer = {};
    setitimer(ITIMER_REAL, &timer, nullptr);
    printf("%ld %ld %ld %ld %ld\n", n_own[0], n_own[1], n_own[2], n_own[3], n_own[4]);
    return 0;
}

static int case_signal_stack_below()
{
    static char stack[65536];
    return signals(true, stack);
}

static int case_signal_stack_above() // a thread's stack lies below a mapping that was there before
{
    static char *stack = static_cast<char *>(mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_t t;
    pthread_create(&t, nullptr, [](void *) -> void * { signals(true, stack); return nullptr; }, nullptr);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    pthread_join(t, nullptr);
    return 0;
}

static ucontext_t contexts[3];

static void coroutine()
{
    for (int i = 0; i < 100; i++)
        fb([](long) -> long { swapcontext(&contexts[1], &contexts[0]); return fc(nullptr, 0); }, 0);
}

static void *switches(void *stack)
{
    getcontext(&contexts[1]);
    contexts[1].uc_stack.ss_sp = stack;
    contexts[1].uc_stack.ss_size = 65536;
    contexts[1].uc_link = &contexts[0];
    makecontext(&contexts[1], coroutine, 0);
    for (int i = 0; i < 101; i++)
        fa([](long) -> long { swapcontext(&contexts[0], &contexts[1]); return fd(nullptr, 0); }, 0);
    return nullptr;
}

static int case_contexts_below()
{
    static char stack[65536];
    switches(stack);
    fe(nullptr, 0);
    return 0;
}

static int case_contexts_above()
{
    void *stack = mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t t;
    pthread_create(&t, nullptr, switches, stack);
    pthread_join(t, nullptr);
    fe(nullptr, 0);
    return 0;
}

static int case_trap()
{
    static volatile int trapped;
    signal(SIGTRAP, [](int) { trapped = 1; });
    fa([](long) -> long { __asm__ volatile("int3"); return fb(nullptr, 0); }, 0);
    check(trapped == 1, "own trap");
    return 0;
}

static int case_quick_exit()
{
    fa([](long) -> long { quick_exit(0); }, 0);
    return 1;
}

static int case_closed_stderr() // whose number then belongs to a data file
{
    fa(nullptr, 0);
    close(2);
    int fd = open("data", O_RDWR | O_CREAT | O_TRUNC, 0644);
    check(fd == 2, "number 2");
    struct rlimit limit = {200000, 200000};
    setrlimit(RLIMIT_FSIZE, &limit);
    grow(3000);
    check(lseek(2, 0, SEEK_END) == 0, "nothing written to a file of the program");
    return 0;
}

static int case_chroot()
{
    fa(nullptr, 0);
    if (mkdir("jail", 0755) != 0 && errno != EEXIST)
        return 1;
    if (chroot("jail") != 0)
        return 77;
    check(chdir("/") == 0, "chdir");
    grow(3000);
    return 0;
}

static int case_setuid()
{
    fa(nullptr, 0);
    if (setgid(65534) != 0 || setuid(65534) != 0)
        return 77;
    grow(3000);
    return 0;
}

static int case_no_more_descriptors()
{
    fa(nullptr, 0);
    struct rlimit limit = {0, 0};
    setrlimit(RLIMIT_NOFILE, &limit);
    grow(3000);
    return 0;
}

static int case_address_limit()
{
    fa(nullptr, 0);
    struct rlimit limit = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_AS, &limit);
    grow(3000);
    return 0;
}

static int case_blocked_signals()
{
    sigset_t set;
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    pthread_t t;
    pthread_create(&t, nullptr, worker, nullptr);
    int result = case_dlopen();
    pthread_join(t, nullptr);
    return result;
}

static int case_spawn()
{
    fa([](long) -> long {
        for (int i = 0; i < 5; i++) {
            pid_t child;
            char *arguments[] = {self, const_cast<char *>("grow"), nullptr};
            int status;
            check(posix_spawn(&child, self, nullptr, nullptr, arguments, environ) == 0, "spawn");
            check(waitpid(child, &status, 0) == child && status == 0, "child");
            fb(nullptr, 0);
        }
        return 0;
    }, 0);
    return 0;
}

static int case_daemon() // twice removed; its parent waits for the end of the pipe
{
    int ends[2];
    check(pipe(ends) == 0, "pipe");
    fa(nullptr, 0);
    if (fork() == 0) {
        fb(nullptr, 0);
        setsid();
        if (fork() != 0)
            _exit(0);
        for (int i = 0; i < 7; i++)
            fc(nullptr, 0);
        exit(0);
    }
    close(ends[1]);
    char c;
    check(read(ends[0], &c, 1) == 0, "end of the pipe");
    return 0;
}

static int case_libc_daemon()
{
    int ends[2];
    check(pipe(ends) == 0, "pipe");
    fa(nullptr, 0);
    if (fork() == 0) {
        fb(nullptr, 0);
        check(daemon(1, 1) == 0, "daemon");
        fc(nullptr, 0);
        exit(0);
    }
    close(ends[1]);
    char c;
    check(read(ends[0], &c, 1) == 0, "end of the pipe");
    return 0;
}

static volatile long n_begun;

static int case_jump_out_of_handler()
{
    static sigjmp_buf back;
    signal(SIGALRM, [](int) { fd([](long) -> long { siglongjmp(back, 1); }, 0); });
    for (volatile int i = 0; i < 1000; i = i + 1)
        if (sigsetjmp(back, 1) == 0) {
            struct itimerval timer = {{0, 0}, {0, 40 + i % 7}};
            setitimer(ITIMER_REAL, &timer, nullptr);
            for (;;) {
                n_begun = n_begun + 1;
                fa([](long x) { return fb(nullptr, x); }, 0);
            }
        } else {
            fe(nullptr, 0);
        }
    printf("%ld\n", n_begun);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)();
    } cases[] = {
#define CASE(name) {#name, case_##name}
        CASE(exceptions), CASE(longjmp), CASE(deep), CASE(tail), CASE(leaf), CASE(alloca), CASE(late_pop), CASE(breaks), CASE(threads),
        CASE(many_threads), CASE(pthread_exit), CASE(fork), CASE(raw_fork), CASE(fork_in_thread), CASE(vfork), CASE(dlopen), CASE(dlopen_portable),
        CASE(forever), CASE(abort), CASE(exit), CASE(closed), CASE(grow), CASE(file_limit), CASE(signals), CASE(signals_and_new_contexts),
        CASE(signal_stack_below), CASE(signal_stack_above), CASE(contexts_below), CASE(contexts_above), CASE(trap),
        CASE(quick_exit), CASE(closed_stderr), CASE(chroot), CASE(setuid), CASE(no_more_descriptors), CASE(address_limit),
        CASE(blocked_signals), CASE(spawn), CASE(daemon), CASE(libc_daemon), CASE(jump_out_of_handler),
    };
    self = argv[0];
    if (argc < 2)
        return 2;
    if (strcmp(argv[1], "exec") == 0)
        return case_exec(argc > 2 ? argv[2] : nullptr);
    for (const auto &c : cases)
        if (strcmp(c.name, argv[1]) == 0)
            return c.run();
    return 2;
}
