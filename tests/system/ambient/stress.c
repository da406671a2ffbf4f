/* Eight threads enter, leave, begin and end at random, in themselves and in the process; each keeps a plain model beside. Prints how often each path
 * was entered below each set, as "SET|PATH|n": sets are names joined by +. The process changes only while all threads wait at a barrier, for
 * else nobody could say which came first. */
#include <perfmap.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_THREADS = 8, N_ENTERED = 4, N_BEGUN = 5, MAX_DEPTH = 5, ROUNDS = 20, STEPS = 1000, MAX_LINES = 60000 };

static struct pm_sentence entered[N_ENTERED], begun[N_BEGUN];
static unsigned in_process[N_BEGUN];
static pthread_barrier_t barrier;

/* Counts by key: set (a bit for each), then the path, a digit for each step. */
struct line {
    unsigned set;
    char path[MAX_DEPTH + 1];
    long n;
};
struct model {
    struct line lines[MAX_LINES];
    unsigned begun[N_BEGUN];
    char path[MAX_DEPTH + 1];
    unsigned depth, seed;
};
static struct model *models;

static unsigned pick(struct model *m, unsigned n)
{
    m->seed = m->seed * 1664525u + 1013904223u;
    return (unsigned)(((unsigned long)m->seed * n) >> 32);
}

static void count(struct model *m, unsigned set, const char *path)
{
    unsigned hash = set * 2654435761u;
    for (const char *p = path; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 16777619u;
    for (unsigned at = hash % MAX_LINES;; at = (at + 1) % MAX_LINES) {
        struct line *line = &m->lines[at];
        if (line->n == 0) {
            line->set = set;
            strcpy(line->path, path);
        }
        if (line->set == set && strcmp(line->path, path) == 0) {
            line->n++;
            return;
        }
    }
}

static unsigned set_of(const struct model *m)
{
    unsigned set = 0;
    for (unsigned i = 0; i < N_BEGUN; i++)
        set |= (m->begun[i] || in_process[i] ? 1u : 0u) << i;
    return set;
}

/* Within the frame that leaves it. */
__attribute__((always_inline)) static inline void enter(struct model *m, unsigned i)
{
    pm_enter(entered[i]);
    m->path[m->depth++] = (char)('0' + i);
    m->path[m->depth] = 0;
    count(m, set_of(m), m->path);
}

/* A frame for each sentence, as programs have it, and compilers do not make one of. */
static void step(struct model *m, int *n_left);
static void (*volatile step_again)(struct model *m, int *n_left) = step;

static void step(struct model *m, int *n_left)
{
    while (--*n_left > 0) {
        unsigned what = pick(m, 10), i = pick(m, N_BEGUN);
        if (what < 3 && m->depth < MAX_DEPTH) {
            unsigned sentence = pick(m, N_ENTERED);
            enter(m, sentence);
            step_again(m, n_left);
            pm_leave(entered[sentence]);
            m->path[--m->depth] = 0;
        } else if (what < 6 && m->depth > 0)
            return;
        else if (what < 8) {
            pm_begin(begun[i]);
            m->begun[i]++;
        } else {
            pm_end(begun[i]);
            m->begun[i] -= m->begun[i] != 0;
        }
    }
}

static void *thread(void *arg)
{
    struct model *m = arg;
    m->seed = (unsigned)(m - models) * 977 + 1;
    for (int round = 0; round < ROUNDS; round++) {
        int n_left = STEPS;
        step(m, &n_left);
        pthread_barrier_wait(&barrier);
        if (round % N_THREADS == m - models) { /* any of them */
            unsigned i = pick(m, N_BEGUN);
            if (pick(m, 2)) {
                pm_begin_process(begun[i]);
                in_process[i]++;
            } else {
                pm_end_process(begun[i]);
                in_process[i] -= in_process[i] != 0;
            }
        }
        pthread_barrier_wait(&barrier);
    }
    return NULL; /* what it has begun ends with it */
}

/* Slots of finished threads are used again: nothing of what they had begun. */
static void *short_lived(void *arg)
{
    struct model *m = arg;
    memset(m->begun, 0, sizeof m->begun);
    enter(m, 0);
    pm_leave(entered[0]);
    m->depth = 0;
    pm_begin(begun[1]);
    m->begun[1] = 1;
    enter(m, 1);
    pm_leave(entered[1]);
    m->depth = 0;
    return NULL;
}

static void print_all(unsigned n)
{
    for (unsigned k = 0; k < n; k++)
        for (unsigned i = 0; i < MAX_LINES; i++) {
            const struct line *line = &models[k].lines[i];
            if (!line->n)
                continue;
            const char *between = "";
            for (unsigned b = 0; b < N_BEGUN; b++)
                if (line->set >> b & 1) {
                    printf("%sb%u", between, b);
                    between = "+";
                }
            printf("|%s|%ld\n", line->path, line->n);
        }
}


/* While what is begun is interrupted at any place: it enters, and begins and ends something of its own. */
static void handler(int number)
{
    (void)number;
    pm_begin(begun[4]);
    pm_end(begun[4]);
    pm_enter(entered[3]);
    pm_leave(entered[3]);
}

static void children(struct model *m)
{
    memset(m->begun, 0, sizeof m->begun);
    pm_begin(begun[0]);
    m->begun[0] = 1;
    pm_begin_process(begun[2]);
    in_process[2]++;
    enter(m, 2);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        memset(models, 0, (N_THREADS + 2) * sizeof *models);
        strcpy(m->path, "2"); /* that is open still */
        m->depth = 1;
        m->begun[0] = 1;
        for (int i = 0; i < 10; i++) {
            enter(m, 1);
            pm_leave(entered[1]);
            m->path[--m->depth] = 0;
        }
        pm_end(begun[0]);
        m->begun[0] = 0;
        enter(m, 3);
        pm_leave(entered[3]);
        print_all(N_THREADS + 2);
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    pm_leave(entered[2]);
    m->path[--m->depth] = 0;
    pm_end(begun[0]);
    pm_end_process(begun[2]);
    in_process[2]--;
    m->begun[0] = 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[N_THREADS];
    struct pm_level level = pm_define_level("Stress", "Source");
    struct pm_verb does = pm_define_verb(level, "Does");
    char name[8];
    for (unsigned i = 0; i < N_ENTERED + N_BEGUN; i++) {
        bool is_begun = i >= N_ENTERED;
        snprintf(name, sizeof name, "%c%u", is_begun ? 'b' : 'e', is_begun ? i - N_ENTERED : i);
        struct pm_noun noun = pm_define_noun(level, name, "thing");
        *(is_begun ? &begun[i - N_ENTERED] : &entered[i]) = pm_define_sentence(does, &noun, 1);
    }
    models = calloc(N_THREADS + 2, sizeof *models);
    if (argc > 1 && strcmp(argv[1], "signals") == 0) { /* nobody knows what is counted, but the sums must be sane */
        struct model *m = &models[0];
        struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
        sigaction(SIGALRM, &action, NULL);
        ualarm(200, 200);
        for (int i = 0; i < 200; i++) {
            int n_left = 4000;
            step(m, &n_left);
        }
        ualarm(0, 0);
        return 0;
    }
    pthread_barrier_init(&barrier, NULL, N_THREADS);
    for (int i = 0; i < N_THREADS; i++)
        pthread_create(&threads[i], NULL, thread, &models[i]);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < N_BEGUN; i++)
        for (; in_process[i]; in_process[i]--)
            pm_end_process(begun[i]);
    for (int i = 0; i < 1200; i++) {
        pthread_create(&threads[0], NULL, short_lived, &models[N_THREADS]);
        pthread_join(threads[0], NULL);
    }
    children(&models[N_THREADS + 1]);
    print_all(N_THREADS + 2);
    return 0;
}
