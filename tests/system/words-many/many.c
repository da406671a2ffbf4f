/* More nouns than are kept: each of N requests is served once, by two threads, half of them as parts of one of 50 customers; 25 hot ones again and
 * again. Prints what it did: "NAME entries" lines, which the archive must have. argv[1]: N. */
#include <perfmap.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { N_HOT = 25, N_CUSTOMERS = 50, N_THREADS = 2 };

static struct pm_level level;
static struct pm_verb serves, reads;
static struct pm_metric bytes;
static struct pm_noun customers[N_CUSTOMERS];
static struct pm_sentence hot[N_HOT];
static long n_requests, hot_entries[N_THREADS][N_HOT], n_bytes[N_THREADS], n_reads[N_THREADS],
    n_served[N_THREADS];

static struct pm_noun request(long i)
{
    char name[48];
    snprintf(name, sizeof name, "request %ld", i);
    struct pm_noun_facts facts = {.name = name, .kind = "request"};
    if (i % 2)
        facts.parent = customers[i / 2 % N_CUSTOMERS].id;
    return pm_define_noun_at(level, &facts);
}

static void *serve(void *arg)
{
    long me = (long)(size_t)arg;
    for (long i = me; i < n_requests; i += N_THREADS) {
        struct pm_noun noun = request(i);
        struct pm_sentence s = pm_define_sentence(serves, &noun, 1);
        pm_enter(s);
        pm_cost(bytes, (uint64_t)i % 7);
        if (i % 16 == 5) {
            struct pm_noun both[2] = {noun, customers[3]};
            struct pm_sentence r = pm_define_sentence(reads, both, 2);
            pm_enter(r);
            pm_leave(r);
            n_reads[me]++;
        }
        pm_leave(s);
        n_served[me]++;
        n_bytes[me] += i % 7;
        if (i / N_THREADS % 4 == 0) {
            long h = i / N_THREADS / 4 % N_HOT;
            pm_enter(hot[h]);
            pm_leave(hot[h]);
            hot_entries[me][h]++;
        }
    }
    return NULL;
}

/* Older than all others, and still active when those are merged. */
static void active_for_long(void)
{
    struct pm_noun noun = pm_define_noun(level, "everything", "request");
    struct pm_sentence s = pm_define_sentence(serves, &noun, 1);
    pthread_t threads[N_THREADS];
    pm_enter(s);
    for (size_t i = 0; i < N_THREADS; i++)
        pthread_create(&threads[i], NULL, serve, (void *)i);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    pm_leave(s);
    pm_enter(s); /* merged long ago */
    pm_enter(s);
    pm_leave(s);
}

int main(int argc, char **argv)
{
    n_requests = argc > 1 ? atol(argv[1]) : 1000;
    level = pm_define_level("Service", NULL);
    serves = pm_define_verb(level, "Serves");
    reads = pm_define_verb(level, "Reads");
    bytes = pm_define_metric("answered_bytes", "bytes", "bytes");
    for (int i = 0; i < N_CUSTOMERS; i++) {
        char name[32];
        snprintf(name, sizeof name, "customer %d", i);
        customers[i] = pm_define_noun(level, name, "customer");
        /* What has parts is not merged. */
        struct pm_noun_facts account = {.name = "account", .parent = customers[i].id};
        pm_define_noun_at(level, &account);
    }
    for (int i = 0; i < N_HOT; i++) {
        struct pm_noun noun;
        char name[32];
        snprintf(name, sizeof name, "hot %d", i);
        noun = pm_define_noun(level, name, "request");
        hot[i] = pm_define_sentence(serves, &noun, 1);
    }
    active_for_long();
    for (int i = 0; i < N_HOT; i++)
        printf("hot %d,%ld\n", i, hot_entries[0][i] + hot_entries[1][i]);
    printf("serves,%ld\nreads,%ld\nanswered_bytes,%ld\n", n_served[0] + n_served[1] + 3,
           n_reads[0] + n_reads[1], n_bytes[0] + n_bytes[1]);
    return 0;
}
