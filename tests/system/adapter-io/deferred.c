/* Who fills a buffer, and who writes it: another function, another thread, the end of the program. */
#include <pthread.h>
#include <stdio.h>

static FILE *file;

__attribute__((noinline)) void step(int i)
{
    fprintf(file, "line %d of the text\n", i);
    __asm__ volatile("");
}

__attribute__((noinline)) void other(int i)
{
    fputs("0123456789", file);
    putc('0' + i % 10, file);
    __asm__ volatile("");
}

__attribute__((noinline)) void flush(void)
{
    fflush(file);
    __asm__ volatile("");
}

static void *thread(void *data)
{
    flush();
    return data;
}

int main(void)
{
    pthread_t id;
    file = fopen("deferred.txt", "w");
    for (int i = 0; i < 50; i++) {
        step(i);
        if (i % 5 == 0)
            other(i);
    }
    pthread_create(&id, NULL, thread, NULL);
    pthread_join(id, NULL);
    for (int i = 0; i < 1000; i++)
        step(i);
    other(1);
    return 0;
}
