/* Sentences of a program's own, by threads, nested, left by longjmp, in signal handlers, after fork. Prints what it did: "NAME entries" lines, which
 * the archive must have. */
#include <perfmap.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_THREADS = 8, N_QUERIES = 5, ROUNDS = 2000 };

static struct pm_level level;
static struct pm_verb executes, waits;
static struct pm_metric rows, bytes;
static _Atomic long n_rows, n_bytes_waited;
static _Atomic long entered[N_QUERIES], waited;
static volatile double sink;

static void work(int n)
{
    for (int i = 0; i < n; i++)
        sink += i;
}

/* Every thread defines the same words again: they must be the same. */
static struct pm_sentence query(int i, struct pm_verb verb)
{
    char name[64];
    snprintf(name, sizeof name, "SELECT %d, \"x\" FROM {t}", i);
    struct pm_noun_facts facts = {.name = name, .kind = "query", .file = "queries.sql", .line_no = (uint32_t)i + 1};
    struct pm_noun noun = pm_define_noun_at(level, &facts);
    return pm_define_sentence(verb, &noun, 1);
}

__attribute__((noinline)) static void nested(int depth, unsigned seed)
{
    int i = (int)(seed % N_QUERIES);
    struct pm_sentence s = query(i, executes);
    pm_enter(s);
    entered[i]++;
    pm_cost(rows, seed % 10);
    n_rows += seed % 10;
    work(50);
    if (depth > 0)
        nested(depth - 1, seed * 7 + 1);
    pm_leave(s);
}

static void *thread(void *arg)
{
    for (unsigned i = 0; i < ROUNDS; i++)
        nested(3, i + (unsigned)(size_t)arg);
    return NULL;
}

static jmp_buf out;

__attribute__((noinline)) static void jumps(void)
{
    struct pm_sentence s = query(0, waits);
    pm_enter(s);
    waited++;
    pm_cost(bytes, 4096);
    n_bytes_waited += 4096;
    work(10);
    longjmp(out, 1); /* never left: it ends with this function */
}

static void handler(int number)
{
    (void)number;
    struct pm_sentence s = query(1, executes);
    pm_enter(s);
    entered[1]++;
    pm_cost(rows, 3);
    n_rows += 3;
    work(10);
    pm_leave(s);
}

static void child(void)
{
    struct pm_sentence s = query(2, executes), new_one = query(7, executes);
    pm_enter(s);
    work(1000);
    pm_enter(new_one);
    pm_leave(new_one);
    pm_leave(s);
    exit(0);
}

int main(void)
{
    pthread_t threads[N_THREADS];
    level = pm_define_level("SQL", NULL);
    executes = pm_define_verb(level, "Executes");
    waits = pm_define_verb(level, "Waits");
    rows = pm_define_metric("rows", "rows", "count");
    bytes = pm_define_metric("spilled_bytes", "bytes", "bytes");
    signal(SIGUSR1, handler);
    for (size_t i = 0; i < N_THREADS; i++)
        pthread_create(&threads[i], NULL, thread, (void *)(i * 3));
    for (int i = 0; i < 100; i++) {
        raise(SIGUSR1);
        if (!setjmp(out))
            jumps();
        nested(0, (unsigned)i);
    }
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    /* What makes no sense does no harm. */
    struct pm_sentence wrong = {12345678}, none = {0}, not_a_sentence = {executes.id};
    pm_enter(wrong), pm_enter(none), pm_enter(not_a_sentence);
    pm_leave(wrong), pm_leave(query(3, waits)), pm_leave(none);
    pm_map(wrong, none, 1);
    pm_cost((struct pm_metric){executes.id}, 1), pm_cost((struct pm_metric){999999}, 1), pm_cost((struct pm_metric){0}, 1);
    pm_cost(pm_define_metric("wall_ns", "apples", "count"), 1);
    pm_define_noun(level, "", "query"), pm_define_noun((struct pm_level){99}, "x", NULL), pm_define_verb((struct pm_level){0}, "y");
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        child();
    waitpid(pid, NULL, 0);
    for (int i = 0; i < N_QUERIES; i++)
        printf("SELECT %d,%ld\n", i, entered[i] + (i == 2));
    printf("SELECT 7,1\nwaited,%ld\nrows,%ld\nspilled_bytes,%ld\n", waited, n_rows, n_bytes_waited);
    return 0;
}
