/* Processes: forks of all kinds, and what follows them. */
#define _GNU_SOURCE
#define NAMES(x) x(leaf) x(work) x(child_work) x(in_handler)
#include "counts.h"
#include "work.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;
static char *self;

SEPARATE static long child_work(long n)
{
    COUNT(child_work);
    return work(n);
}

static void expect(pid_t child, int status)
{
    int got = -1;
    CHECK(child > 0);
    while (waitpid(child, &got, 0) < 0)
        CHECK(errno == EINTR);
    CHECK(WIFEXITED(got) && WEXITSTATUS(got) == status);
}

static void *busy(void *stop)
{
    for (int i = 0; !__atomic_load_n((int *)stop, __ATOMIC_RELAXED) || i < 20; i++)
        work(100);
    return NULL;
}

/* Children of a program whose other threads are anywhere, also in the middle of an event. */
static int fork_beside_threads(void)
{
    pthread_t threads[4];
    int stop = 0;
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, busy, &stop) == 0);
    for (int i = 0; i < 12; i++) {
        pid_t child = fork();
        if (child == 0) {
            child_work(50);
            if (i % 2)
                exit(3);
            _exit(3);
        }
        expect(child, 3);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static void *forks_itself(void *unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0) {
            child_work(10);
            pthread_exit(NULL); /* the last thread: the process ends with 0 */
        }
        expect(child, 0);
    }
    return NULL;
}

static int fork_in_threads(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, forks_itself, NULL) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static int tree_of_forks(int depth)
{
    for (int i = 0; i < 3 && depth > 0; i++) {
        pid_t child = fork();
        if (child == 0) {
            child_work(depth);
            exit(tree_of_forks(depth - 1));
        }
        expect(child, 0);
    }
    return 0;
}

static int fork_tree(void)
{
    return tree_of_forks(3);
}

static int vfork_then_exec(void)
{
    char *argv[] = {self, "leaves", NULL};
    for (volatile int i = 0; i < 10; i = i + 1) {
        pid_t child = vfork();
        if (child == 0) {
            leaf(i); /* counts in the parent, whose memory this is */
            if (i % 3 == 0)
                execv(self, argv);
            if (i % 3 == 1)
                execve("/does/not/exist", argv, environ);
            _exit(7);
        }
        expect(child, i % 3 ? 7 : 0);
        work(5);
    }
    return 0;
}

static int leaves(void)
{
    child_work(20);
    return 0;
}

static int spawns(void)
{
    char *argv[] = {self, "leaves", NULL};
    for (int i = 0; i < 4; i++) {
        pid_t child;
        CHECK(posix_spawn(&child, self, NULL, NULL, argv, environ) == 0);
        work(5);
        expect(child, 0);
    }
    return 0;
}

/* Children with no environment but where to count. */
static int alone(void)
{
    char counts[4200], *argv[] = {self, "leaves", NULL}, *environment[] = {counts, NULL};
    snprintf(counts, sizeof counts, "MANNERS_COUNTS=%s", getenv("MANNERS_COUNTS"));
    work(5);
    pid_t child = fork();
    if (child == 0) {
        execve(self, argv, environment);
        _exit(1);
    }
    expect(child, 0);
    CHECK(posix_spawn(&child, self, NULL, NULL, argv, environment) == 0);
    expect(child, 0);
    return 0;
}

static int starts_a_static_one(void)
{
    char *argv[] = {"./static", NULL};
    pid_t child;
    CHECK(posix_spawn(&child, argv[0], NULL, NULL, argv, environ) == 0);
    work(5);
    expect(child, 0);
    return 0;
}

/* By way of a shell. */
static int shells(void)
{
    char command[4200];
    snprintf(command, sizeof command, "'%s' leaves; exit 5", self);
    int status = system(command);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    FILE *stream = popen(command, "r");
    CHECK(stream != NULL && WEXITSTATUS(pclose(stream)) == 5);
    return 0;
}

/* Twice removed. Its parent, init or not, is no part of the run: whose child it was is. */
static int daemons(void)
{
    int ends[2];
    char c;
    CHECK(pipe(ends) == 0);
    work(3);
    pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() != 0)
            _exit(0);
        close(ends[0]);
        usleep(20000); /* until its parent is gone */
        child_work(30);
        char *argv[] = {self, "leaves", NULL};
        if (fork() == 0)
            execv(self, argv);
        while (wait(NULL) > 0)
            ;
        exit(0);
    }
    expect(child, 0);
    close(ends[1]);
    CHECK(read(ends[0], &c, 1) == 0);
    return 0;
}

/* The parent ends within libc. */
static int daemon_of_libc(void)
{
    int ends[2];
    char c;
    CHECK(pipe(ends) == 0);
    work(3);
    pid_t child = fork();
    if (child == 0) {
        work(5);
        CHECK(daemon(1, 1) == 0);
        child_work(30);
        exit(0);
    }
    expect(child, 0);
    close(ends[1]);
    CHECK(read(ends[0], &c, 1) == 0);
    return 0;
}

/* Each in another way. */
static int chain(int left)
{
    char number[12], *argv[] = {self, "chain", number, NULL};
    snprintf(number, sizeof number, "%d", left - 1);
    work(left);
    switch (left) {
    case 6:
        return execv(self, argv);
    case 5:
        return execve(self, argv, environ);
    case 4:
        return execvp(self, argv);
    case 3:
        return execl(self, self, "chain", number, (char *)NULL);
    case 2: {
        int fd = open(self, O_RDONLY | O_CLOEXEC);
        return fexecve(fd, argv, environ);
    }
    case 1:
        return execlp(self, self, "chain", number, (char *)NULL);
    default:
        return 5;
    }
}

/* exec while other threads run. */
static int exec_beside_threads(void)
{
    static int stop;
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, busy, &stop) == 0);
    }
    usleep(20000);
    return execl(self, self, "leaves", (char *)NULL);
}

static volatile int n_handled;

static void on_signal(int number)
{
    (void)number;
    COUNT(in_handler);
    pid_t child = fork();
    if (child == 0) {
        child_work(2);
        _exit(4);
    }
    expect(child, 4);
    n_handled = n_handled + 1;
}

static void in_handler(int number)
{
    on_signal(number);
}

static int fork_in_handlers(void)
{
    signal(SIGUSR1, in_handler);
    for (int i = 0; i < 5; i++) {
        work(3);
        raise(SIGUSR1);
    }
    CHECK(n_handled == 5);
    return 0;
}

/* No handler of ours sees this one. */
static int bare_clone(void)
{
    for (int i = 0; i < 5; i++) {
        pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
        if (child == 0) {
            child_work(10);
            syscall(SYS_exit_group, 6);
        }
        expect(child, 6);
    }
    return 0;
}

static int on_other_stack(void *unused)
{
    (void)unused;
    child_work(10);
    return 6;
}

/* libc's, with a stack of its own, without shared memory. */
static int clone_with_stack(void)
{
    static char stack[262144] __attribute__((aligned(64)));
    for (int i = 0; i < 5; i++) {
        work(2);
        expect(clone(on_other_stack, stack + sizeof stack, SIGCHLD, NULL), 6);
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct a_case cases[] = {
        {"fork_beside_threads", fork_beside_threads},
        {"fork_in_threads", fork_in_threads},
        {"fork_tree", fork_tree},
        {"vfork_then_exec", vfork_then_exec},
        {"leaves", leaves},
        {"spawns", spawns},
        {"alone", alone},
        {"starts_a_static_one", starts_a_static_one},
        {"shells", shells},
        {"daemons", daemons},
        {"daemon_of_libc", daemon_of_libc},
        {"exec_beside_threads", exec_beside_threads},
        {"fork_in_handlers", fork_in_handlers},
        {"bare_clone", bare_clone},
        {"clone_with_stack", clone_with_stack},
    };
    self = argv[0];
    if (argc > 2 && strcmp(argv[1], "chain") == 0)
        return chain(atoi(argv[2]));
    return RUN_CASE(cases, argc, argv);
}
