/* Work that is handed to other threads: the paper's example (writes on behalf of func() that another thread does later), chains of hand-overs, threads
 * that begin on behalf of who made them, children, and ids that are no good. It counts for itself, and prints what the archive must answer:
 * "QUESTION|METRIC|ALL|DEFERRED". */
#include <perfmap.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

enum { ROUNDS = 500, QUEUE = 64 };

static struct pm_sentence writes, polishes;
static struct pm_metric bytes;
static int out;

static void tell(const char *question, const char *metric, long all, long deferred)
{
    printf("%s|%s|%ld|%ld\n", question, metric, all, deferred);
}

/* --- a queue --- */

struct item {
    struct pm_cause cause;
    char text[64];
    size_t n; /* 0: the end */
    int stage;
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    struct item items[QUEUE];
    unsigned first, n;
};

static void put(struct queue *q, const struct item *item)
{
    pthread_mutex_lock(&q->lock);
    while (q->n == QUEUE)
        pthread_cond_wait(&q->moved, &q->lock);
    q->items[(q->first + q->n++) % QUEUE] = *item;
    pthread_cond_broadcast(&q->moved);
    pthread_mutex_unlock(&q->lock);
}

static struct item get(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->n == 0)
        pthread_cond_wait(&q->moved, &q->lock);
    struct item item = q->items[q->first++ % QUEUE];
    q->n--;
    pthread_cond_broadcast(&q->moved);
    pthread_mutex_unlock(&q->lock);
    return item;
}

static struct queue to_writer = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {{{0}, "", 0, 0}}, 0, 0};
static struct queue to_polisher = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {{{0}, "", 0, 0}}, 0, 0};

/* --- who writes --- */

__attribute__((noinline)) static void flush_one(const struct item *item)
{
    pm_enter(writes);
    pm_cost(bytes, item->n);
    if (write(out, item->text, item->n) != (ssize_t)item->n)
        abort();
    pm_leave(writes);
}

static void *writer(void *unused)
{
    for (;;) {
        struct item item = get(&to_writer);
        if (item.n == 0)
            return unused;
        pm_adopt(item.cause);
        flush_one(&item);
        pm_release(item.cause);
    }
}

/* Passes on what it has made better: the writes are on behalf of both. */
__attribute__((noinline)) static void polish(struct item *item)
{
    pm_enter(polishes);
    item->text[item->n++] = '.';
    item->cause = pm_capture();
    put(&to_writer, item);
    pm_leave(polishes);
}

static void *polisher(void *unused)
{
    for (;;) {
        struct item item = get(&to_polisher);
        if (item.n == 0)
            return unused;
        struct pm_cause cause = item.cause;
        pm_adopt(cause);
        polish(&item);
        pm_release(cause);
    }
}

/* --- who has something to be written --- */

static _Atomic long func_n, func_bytes, other_n, other_bytes, direct_n, direct_bytes, polished_n, polished_bytes;

__attribute__((noinline)) static void func(struct queue *q, int i)
{
    struct item item = {.cause = pm_capture()};
    item.n = (size_t)snprintf(item.text, sizeof item.text, "func %d\n", i);
    bool is_polished = q == &to_polisher;
    func_n++;
    func_bytes += (long)item.n + is_polished;
    polished_n += is_polished;
    polished_bytes += is_polished ? (long)item.n + 1 : 0;
    put(q, &item);
}

__attribute__((noinline)) static void other(struct queue *q, int i)
{
    struct item item = {.cause = pm_capture()};
    item.n = (size_t)snprintf(item.text, sizeof item.text, "the other one %d\n", i);
    other_n++;
    other_bytes += (long)item.n;
    put(q, &item);
}

/* Writes itself, now. */
__attribute__((noinline)) static void direct(int i)
{
    struct item item = {.n = 0};
    item.n = (size_t)snprintf(item.text, sizeof item.text, "directly %d\n", i);
    direct_n++;
    direct_bytes += (long)item.n;
    flush_one(&item);
}

static void *funcs(void *unused)
{
    for (int i = 0; i < ROUNDS; i++)
        func(i % 3 == 0 ? &to_polisher : &to_writer, i);
    return unused;
}

static void *others(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        other(&to_writer, i);
        if (i % 5 == 0)
            direct(i);
    }
    return unused;
}

__attribute__((noinline)) static void paper(void)
{
    pthread_t threads[4];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, polisher, NULL);
    pthread_create(&threads[2], NULL, funcs, NULL);
    pthread_create(&threads[3], NULL, others, NULL);
    pthread_join(threads[2], NULL);
    put(&to_polisher, &(struct item){.n = 0});
    pthread_join(threads[1], NULL);
    pthread_join(threads[3], NULL);
    put(&to_writer, &(struct item){.n = 0});
    pthread_join(threads[0], NULL);
    tell("{func Executes}, {IO::? Writes}", "io_bytes", func_bytes, func_bytes);
    tell("{func Executes}, {IO::? Writes}", "times", func_n, -1);
    tell("{other Executes}, {IO::? Writes}", "io_bytes", other_bytes, other_bytes);
    tell("{other Executes}, {IO::? Writes}", "times", other_n, -1);
    tell("{direct Executes}, {IO::? Writes}", "io_bytes", direct_bytes, 0);
    tell("{func Executes}, {other Executes}, {IO::? Writes}", "io_bytes", 0, 0);
    tell("{IO::? Writes}", "io_bytes", func_bytes + other_bytes + direct_bytes, 0);
    tell("{IO::? Writes}, not {func Executes}", "io_bytes", other_bytes + direct_bytes, 0);
    tell("{IO::? Polishes}, {IO::? Writes}", "io_bytes", polished_bytes, polished_bytes);
    tell("{IO::? Polishes}, {IO::? Writes}", "times", polished_n, -1);
    /* What was active at the cause is outside of what is done on its behalf, and what that was done on behalf of is further out. */
    tell("{func Executes} then {IO::? Writes}", "io_bytes", func_bytes, func_bytes);
    tell("{IO::? Writes} then {func Executes}", "io_bytes", 0, 0);
    tell("{func Executes} then {IO::? Polishes} then {IO::? Writes}", "io_bytes", polished_bytes, polished_bytes);
    tell("{IO::? Polishes} then {func Executes}", "io_bytes", 0, 0);
    tell("{func Executes} then {flush_one Executes}", "io_bytes", func_bytes, func_bytes);
    tell("{writer Executes}, {func Executes}", "io_bytes", func_bytes, func_bytes);
    tell("{writer Executes} then {func Executes}", "io_bytes", 0, 0);
    /* All four threads were made by paper(). */
    tell("{paper Executes}, {IO::? Writes}", "io_bytes", func_bytes + other_bytes + direct_bytes, func_bytes + other_bytes + direct_bytes);
    tell("{paper Executes} then {writer Executes} then {IO::? Writes}", "io_bytes", func_bytes + other_bytes, func_bytes + other_bytes);
}

/* --- threads begin on behalf of who makes them --- */

static _Atomic long made_n, inner_n;

__attribute__((noinline)) static void step(void)
{
    pm_cost(bytes, 1);
    __asm__ volatile(""); /* no tail call, which would be after this function */
}

static void *made(void *unused)
{
    for (int i = 0; i < 10; i++, made_n++)
        step();
    return unused;
}

static int made_c11(void *unused)
{
    (void)unused;
    for (int i = 0; i < 7; i++, inner_n++)
        step();
    return 0;
}

/* A thread that makes a thread. */
static void *makes(void *unused)
{
    thrd_t inner;
    thrd_create(&inner, made_c11, NULL);
    thrd_join(inner, NULL);
    return unused;
}

__attribute__((noinline)) static void starter(void)
{
    pthread_t threads[20];
    for (int i = 0; i < 20; i++)
        pthread_create(&threads[i], NULL, i % 4 ? made : makes, NULL);
    for (int i = 0; i < 20; i++)
        pthread_join(threads[i], NULL);
    tell("{starter Executes}, {step Executes}", "io_bytes", made_n + inner_n, made_n + inner_n);
    tell("{starter Executes}, {step Executes}", "times", made_n + inner_n, -1);
    tell("{makes Executes}, {step Executes}", "io_bytes", inner_n, inner_n);
    tell("{starter Executes} then {makes Executes} then {made_c11 Executes}", "io_bytes", inner_n, inner_n);
    tell("{paper Executes}, {step Executes}", "io_bytes", 0, 0);
}

/* --- back and forth --- */

/* One by one first, then many by each in turn, for who waits on a busy machine waits long. */
enum { HAND_OVERS = 1000000, ONE_BY_ONE = 500, AT_A_TIME = 4995 };
static _Atomic(uint64_t) ball;
static _Atomic int turn;
static struct pm_sentence plays[2];

/* Each adopts what the other handed over, and hands that over. */
static void play(int me)
{
    uint64_t others = 0;
    for (int i = 0; i < HAND_OVERS / 2; i++) {
        bool is_one_by_one = i < ONE_BY_ONE, begins = is_one_by_one || i % AT_A_TIME == ONE_BY_ONE % AT_A_TIME;
        while (begins && turn != me)
            sched_yield();
        others = begins ? ball : others;
        struct pm_cause cause = {others};
        pm_adopt(cause);
        pm_enter(plays[me]);
        pm_cost(bytes, 1);
        ball = pm_capture().id;
        pm_leave(plays[me]);
        pm_release(cause);
        if (is_one_by_one || i % AT_A_TIME == (ONE_BY_ONE - 1) % AT_A_TIME || i == HAND_OVERS / 2 - 1)
            turn = !me;
    }
}

static void *play_second(void *unused)
{
    play(1);
    return unused;
}

__attribute__((noinline)) static void ping_pong(void)
{
    pthread_t second;
    pthread_create(&second, NULL, play_second, NULL);
    play(0);
    pthread_join(second, NULL);
    tell("{Game::* Plays}", "io_bytes", HAND_OVERS, 0);
    tell("{Game::first Plays}, {Game::second Plays}", "io_bytes", HAND_OVERS - 1, HAND_OVERS - 1);
}

/* --- ids that are no good --- */

__attribute__((noinline)) static void misuse(void)
{
    struct pm_cause good = pm_capture();
    long n = 0;
    for (unsigned i = 0; i < 2000; i++) {
        struct pm_cause bad = {good.id ^ (uint64_t)rand() << (i % 48)};
        bad.id = i % 3 == 0 ? (uint64_t)rand() << 33 ^ (uint64_t)rand() : bad.id;
        bad.id = i % 7 == 0 ? (uint64_t)i : bad.id;
        if (bad.id == good.id)
            continue;
        pm_adopt(bad);
        step(), n++;
        pm_release(bad);
        pm_release(bad);
        pm_release(good); /* was not adopted */
    }
    char text[PM_EXPORT_BYTES];
    if (pm_context_export((struct pm_cause){12345}, text, sizeof text) != 0 ||
        pm_context_export(good, text, 20) != 0 || pm_context_import("perfmap=1.nonsense", 18).id != 0)
        abort();
    tell("{misuse Executes}, {step Executes}", "io_bytes", n, 0);
}

__attribute__((noinline)) static void within(struct pm_cause cause)
{
    pm_adopt(cause);
    pm_adopt(cause); /* again: one */
    step();
    pm_release(cause);
    pm_release(cause);
    step();
}

__attribute__((noinline)) static void nested(void)
{
    struct pm_cause none = {0};
    within(none);
    within(pm_capture()); /* its own */
    tell("{nested Executes}, {step Executes}", "io_bytes", 4, 0);
}

/* --- children --- */

__attribute__((noinline)) static struct pm_cause before_fork(void)
{
    return pm_capture();
}

__attribute__((noinline)) static void parent_of(struct pm_cause cause)
{
    pid_t pid = fork();
    if (pid == 0) {
        pm_adopt(cause);
        step();
        step();
        pm_release(cause);
        struct pm_cause own = pm_capture();
        pm_adopt(own);
        step();
        pm_release(own);
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    tell("{before_fork Executes}, {step Executes}", "io_bytes", 2, 2);
    tell("{parent_of Executes}, {step Executes}", "io_bytes", 3, 0);
}

int main(int argc, char **argv)
{
    struct pm_level io = pm_define_level("IO", "Base"), game = pm_define_level("Game", "Source");
    struct pm_noun file = pm_define_noun(io, "out.txt", "file");
    struct pm_noun players[] = {pm_define_noun(game, "first", "player"), pm_define_noun(game, "second", "player")};
    writes = pm_define_sentence(pm_define_verb(io, "Writes"), &file, 1);
    polishes = pm_define_sentence(pm_define_verb(io, "Polishes"), &file, 1);
    for (int i = 0; i < 2; i++)
        plays[i] = pm_define_sentence(pm_define_verb(game, "Plays"), &players[i], 1);
    bytes = pm_define_metric("io_bytes", "bytes", "bytes");
    out = open("out.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    setvbuf(stdout, NULL, _IONBF, 0);
    paper();
    starter();
    misuse();
    nested();
    parent_of(before_fork());
    if (argc > 1 && strcmp(argv[1], "play") == 0)
        ping_pong();
    return 0;
}
