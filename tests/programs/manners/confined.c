/* Programs that give up rights: seccomp, chroot, user, descriptors. */
#define _GNU_SOURCE
#define NAMES(x) x(leaf) x(work) x(branch)
#include "counts.h"

#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

SEPARATE static long leaf(long n)
{
    COUNT(leaf);
    return n + 1;
}

/* Contexts enough to make what is kept of them grow several times. */
SEPARATE static long branch(long way)
{
    COUNT(branch);
    long sum = leaf(way);
    for (long i = 0; i < 2 && way > 3; i++)
        sum += way % 2 ? branch(way / 2) : leaf(way);
    return sum;
}

SEPARATE static long work(long n)
{
    COUNT(work);
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += branch(i * 7919 % 65536);
    return sum;
}

static void finish(void)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%ld\n", counts[count_of_leaf].n);
    CHECK(write(1, text, (size_t)n) == n);
}

/* read, write, exit and nothing else. */
static int strict(void)
{
    work(100);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
        return 77; /* a filter is in force already: in a container */
    work(20000);
    finish();
    syscall(SYS_exit, 7);
    return 1;
}

static int strict_by_syscall(void)
{
    work(100);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL) != 0)
        return 77;
    work(20000);
    finish();
    syscall(SYS_exit, 7);
    return 1;
}

/* What the program itself needs from then on; all else ends it. */
static void confine(bool by_syscall, unsigned verdict, bool may_end, bool may_handle)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 7),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 6, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, may_handle ? SYS_rt_sigreturn : SYS_exit, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, may_end ? SYS_exit_group : SYS_exit, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x40000000, 0, 0),
        BPF_STMT(BPF_RET | BPF_K, verdict),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    if (by_syscall)
        CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0);
    else
        CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
}

static int filter_kills(void)
{
    work(100);
    confine(false, SECCOMP_RET_KILL_PROCESS, true, true);
    work(20000);
    finish();
    return 7;
}

static int filter_kills_by_syscall(void)
{
    work(100);
    confine(true, SECCOMP_RET_KILL_PROCESS, true, true);
    work(20000);
    finish();
    return 7;
}

/* A program that handles no signals may forbid that handlers return. */
static int filter_of_handlers(void)
{
    work(100);
    confine(false, SECCOMP_RET_KILL_PROCESS, true, false);
    work(20000);
    finish();
    return 7;
}

static int filter_refuses(void)
{
    work(100);
    confine(false, SECCOMP_RET_ERRNO | EPERM, true, true);
    work(20000);
    finish();
    return 7;
}

static volatile int n_trapped;

static void on_sys(int number)
{
    (void)number;
    n_trapped = n_trapped + 1;
}

/* A sandbox that emulates what is not allowed, and counts. */
static int filter_traps(void)
{
    signal(SIGSYS, on_sys);
    work(100);
    confine(false, SECCOMP_RET_TRAP, true, true);
    work(20000);
    syscall(SYS_getppid);
    finish();
    return 10 + n_trapped;
}

/* The second one is refused by the kernel; the program goes on without it. */
static int filter_is_wrong(void)
{
    struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), BPF_STMT(0xffff, 0)};
    struct sock_fprog filter = {2, code};
    work(100);
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == -1 && errno == EINVAL);
    CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == -1 && errno == EINVAL);
    work(5000);
    finish();
    return 7;
}

/* No memory that is writable and executable, as hardened services have it: by what the arguments are. */
static int filter_by_arguments(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    work(100);
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, (void *(*)(void *))(void *)work, (void *)5000) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    pid_t child = fork();
    if (child == 0) {
        work(500);
        _exit(4);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 4);
    finish();
    return 7;
}

/* A worker thread that may do nothing but work. */
static void *confined_worker(void *unused)
{
    work(100);
    confine(false, SECCOMP_RET_KILL_THREAD, false, true);
    work(5000);
    syscall(SYS_exit, 0);
    return unused;
}

static int confined_thread(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, confined_worker, NULL) == 0);
    for (int i = 0; i < 200; i++)
        work(100);
    usleep(100000);
    finish();
    return 7;
}

static int no_descriptors(void)
{
    work(100);
    CHECK(syscall(SYS_close_range, 3, ~0u, 0) == 0);
    for (int i = 0; i < 20; i++) /* files of the program have the numbers of ours */
        CHECK(open("/dev/zero", O_RDWR) >= 0);
    CHECK(fcntl(3, F_DUPFD, 1000) >= 0 && fcntl(3, F_DUPFD, 900) >= 0);
    work(20000);
    for (int fd = 3; fd < 500; fd++) {
        struct stat info;
        CHECK(fstat(fd, &info) != 0 || !S_ISREG(info.st_mode));
        close(fd);
    }
    CHECK(open("/dev/null", O_RDWR) == 3);
    finish();
    return 7;
}

/* Faults at whoever reads the time-stamp counter, us included. */
static int no_counter(void)
{
    work(1000);
    CHECK(prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0);
    work(5000);
    finish();
    CHECK(prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0) == 0);
    work(1000);
    return 7;
}

/* The lowest number that is free is the one that it would be without PerfMap, at any time. */
static int lowest_descriptor(void)
{
    for (int i = 0; i < 50; i++) {
        int fd = open("/dev/null", O_RDONLY);
        printf("%d\n", fd);
        work(200);
        if (i % 5)
            close(fd);
    }
    return 7;
}

static int other_root(void)
{
    work(100);
    char folder[] = "jail.XXXXXX";
    CHECK(mkdtemp(folder) != NULL);
    if (chroot(folder) != 0)
        return 77;
    CHECK(chdir("/") == 0);
    work(20000);
    finish();
    return 7;
}

/* A child that finds no folder for its run file. */
static int other_root_then_fork(void)
{
    char folder[] = "jail.XXXXXX";
    int status;
    CHECK(mkdtemp(folder) != NULL);
    if (chroot(folder) != 0)
        return 77;
    CHECK(chdir("/") == 0);
    pid_t child = fork();
    if (child == 0) {
        work(100);
        _exit(3);
    }
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
    work(100);
    finish();
    return 7;
}

static int other_user(void)
{
    work(100);
    if (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0)
        return 77;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, (void *(*)(void *))(void *)work, (void *)5000) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    finish();
    return 7;
}

static int few_descriptors(void)
{
    struct rlimit limit = {4, 4};
    work(100);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, (void *(*)(void *))(void *)work, (void *)5000) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    finish();
    return 7;
}

/* A launcher: what it forbids is in force in what it starts, and ends it. With `more`, so is what files are made with. */
static void forbid(bool more)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_timer_create, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, more ? SYS_pwritev : SYS_membarrier, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, more ? SYS_fallocate : SYS_membarrier, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0);
}

static int executed(void)
{
    work(2000);
    finish();
    return 7;
}

static int launches(void)
{
    forbid(false);
    execl("/proc/self/exe", "confined", "executed", NULL);
    return 1;
}

static int launches_in_child(void)
{
    int status;
    forbid(false);
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "confined", "executed", NULL);
        _exit(1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int launches_without_files(void)
{
    forbid(true);
    execl("/proc/self/exe", "confined", "executed", NULL);
    return 1;
}

int main(int argc, char **argv)
{
    static const struct a_case cases[] = {
        {"executed", executed},
        {"launches", launches},
        {"launches_in_child", launches_in_child},
        {"launches_without_files", launches_without_files},
        {"strict", strict},
        {"strict_by_syscall", strict_by_syscall},
        {"filter_kills", filter_kills},
        {"filter_kills_by_syscall", filter_kills_by_syscall},
        {"filter_of_handlers", filter_of_handlers},
        {"filter_refuses", filter_refuses},
        {"filter_traps", filter_traps},
        {"filter_is_wrong", filter_is_wrong},
        {"filter_by_arguments", filter_by_arguments},
        {"confined_thread", confined_thread},
        {"no_counter", no_counter},
        {"no_descriptors", no_descriptors},
        {"lowest_descriptor", lowest_descriptor},
        {"other_root", other_root},
        {"other_root_then_fork", other_root_then_fork},
        {"other_user", other_user},
        {"few_descriptors", few_descriptors},
    };
    return RUN_CASE(cases, argc, argv);
}
