/* Threads allocate and others free; a child of fork goes on in its own file. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_THREADS = 4, N_BLOCKS = 20000 };
static void *blocks[N_THREADS][N_BLOCKS];
static void *volatile sink; /* what goes there is not optimised away */

static void *allocate(void *mine)
{
    void **to = mine;
    for (int i = 0; i < N_BLOCKS; i++)
        to[i] = malloc(16 + (size_t)i % 100); /* mark: threads */
    return NULL;
}

/* The neighbour's. */
static void *release(void *others)
{
    void **from = others;
    for (int i = 0; i < N_BLOCKS; i++)
        free(from[i]);
    return NULL;
}

static void all(void *(*work)(void *), int shift)
{
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++)
        pthread_create(&threads[i], NULL, work, blocks[(i + shift) % N_THREADS]);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void *churn(void *unused)
{
    (void)unused;
    for (int i = 0; i < 20000; i++) {
        void *block = malloc(100); /* mark: churn */
        sink = block;
        free(block);
    }
    return NULL;
}

int main(void)
{
    all(allocate, 0);
    all(release, 1);
    char *before = malloc(1000); /* mark: before */
    sink = before;
    pthread_t thread;
    pthread_create(&thread, NULL, churn, NULL);
    for (int i = 0; i < 50; i++) { /* while another thread has its locks */
        pid_t child = fork();
        if (child == 0) {
            free(before); /* the parent's: no place of this process */
            for (int k = 0; k < 10; k++) {
                void *block = malloc(50); /* mark: child */
                sink = block;
                free(block);
            }
            char *lost = malloc(77); /* mark: lost */
            sink = lost;
            _exit(lost == NULL);
        }
        int status = 1;
        waitpid(child, &status, 0);
        if (status != 0)
            return 1;
    }
    pthread_join(thread, NULL);
    free(before);
    puts("done");
    return 0;
}
