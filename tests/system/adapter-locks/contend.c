/* Locks whose use is known: by name how often each is acquired, and which of them are waited for. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 20000, ITEMS = 500 };

static pthread_mutex_t counter_lock = PTHREAD_MUTEX_INITIALIZER, quiet_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t slow_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t start_line;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
static sem_t tokens;
static long counter, spun, n_waits;

struct account {
    long balance;
    pthread_mutex_t lock;
};

__attribute__((noinline)) struct account *open_account(void)
{
    struct account *account = calloc(1, sizeof *account);
    pthread_mutex_init(&account->lock, NULL);
    return account;
}

static void *count(void *data)
{
    (void)data;
    pthread_barrier_wait(&start_line);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&counter_lock);
        counter++;
        pthread_mutex_unlock(&counter_lock);
        pthread_spin_lock(&spin);
        spun++;
        pthread_spin_unlock(&spin);
    }
    return NULL;
}

static volatile int tries;

/* Until the main thread sleeps in its attempt, and 100 ms more. */
static void *hold(void *data)
{
    sem_t *held = data;
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    pthread_mutex_lock(&slow_lock);
    sem_post(held);
    while (!tries || state != 'S') {
        nanosleep(&(struct timespec){0, 5000000}, NULL);
        FILE *file = fopen(path, "r");
        if (file == NULL || fscanf(file, "%*d (contend) %c", &state) != 1)
            state = 'S';
        if (file != NULL)
            fclose(file);
    }
    nanosleep(&(struct timespec){0, 100000000}, NULL);
    pthread_mutex_unlock(&slow_lock);
    return NULL;
}

static void *consume(void *data)
{
    int *n = data;
    pthread_mutex_lock(&queue_lock);
    for (int left = ITEMS; left > 0; left--) {
        while (*n == 0) {
            n_waits++;
            pthread_cond_wait(&queue_filled, &queue_lock);
        }
        --*n;
    }
    pthread_mutex_unlock(&queue_lock);
    return NULL;
}

static void *read_table(void *data)
{
    (void)data;
    for (int i = 0; i < 1000; i++) {
        pthread_rwlock_rdlock(&table_lock);
        pthread_rwlock_unlock(&table_lock);
    }
    return NULL;
}

static void need(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

/* What the functions answer is what they answer without anybody looking. */
__attribute__((noinline)) static void answers(void)
{
    pthread_mutex_t lock;
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&lock, &how);
    need(pthread_mutex_lock(&lock) == 0 && pthread_mutex_lock(&lock) == EDEADLK && pthread_mutex_trylock(&lock) == EBUSY, "errorcheck");
    struct timespec past = {1, 0};
    need(pthread_mutex_timedlock(&lock, &past) == EDEADLK && pthread_mutex_unlock(&lock) == 0 && pthread_mutex_unlock(&lock) == EPERM, "unlock");
    pthread_mutex_destroy(&lock);
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &how);
    need(pthread_mutex_lock(&lock) == 0 && pthread_mutex_lock(&lock) == 0 && pthread_mutex_unlock(&lock) == 0 && pthread_mutex_unlock(&lock) == 0,
         "recursive");
    pthread_mutex_destroy(&lock);
    sem_t none;
    sem_init(&none, 0, 0);
    errno = 0;
    need(sem_trywait(&none) == -1 && errno == EAGAIN && sem_timedwait(&none, &past) == -1 && errno == ETIMEDOUT, "semaphore");
    sem_post(&none);
    errno = 77;
    need(sem_wait(&none) == 0 && errno == 77, "errno");
    need(pthread_rwlock_wrlock(&table_lock) == 0 && pthread_rwlock_tryrdlock(&table_lock) == EBUSY && pthread_rwlock_unlock(&table_lock) == 0,
         "rwlock");
}

int main(void)
{
    pthread_t ids[THREADS];
    sem_t held;
    int n_items = 0;
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_barrier_init(&start_line, NULL, THREADS);
    sem_init(&held, 0, 0);
    sem_init(&tokens, 0, 3);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&ids[i], NULL, count, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    pthread_create(&ids[0], NULL, hold, &held);
    sem_wait(&held);
    tries = 1;
    pthread_mutex_lock(&slow_lock); /* the one wait, of about 100 ms */
    pthread_mutex_unlock(&slow_lock);
    pthread_join(ids[0], NULL);
    pthread_create(&ids[0], NULL, consume, &n_items);
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&queue_lock);
        n_items++;
        pthread_cond_signal(&queue_filled);
        pthread_mutex_unlock(&queue_lock);
    }
    pthread_join(ids[0], NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&ids[i], NULL, read_table, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], NULL);
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&quiet_lock);
        pthread_mutex_unlock(&quiet_lock);
    }
    for (int i = 0; i < 3; i++)
        sem_wait(&tokens);
    for (int i = 0; i < 30; i++) {
        struct account *account = open_account();
        pthread_mutex_lock(&account->lock);
        account->balance = counter;
        pthread_mutex_unlock(&account->lock); /* never destroyed */
    }
    answers();
    printf("%ld %ld\n", counter, spun);
    printf("%ld waits\n", n_waits);
    return 0;
}
