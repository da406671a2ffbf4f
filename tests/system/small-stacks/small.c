/* Threads with the smallest stacks that there are, which use little of them themselves: what PerfMap does there has room as well. */
#include <perfmap.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static char text[256];

static void check(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(1);
}

static void *files(void *name)
{
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    check(fd >= 0 && write(fd, "x", 1) == 1, name);
    close(fd);
    check(open("no/such/file", O_RDONLY) < 0, "no file");
    return NULL;
}

static void *sockets(void *unused)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof here;
    int to = socket(AF_INET, SOCK_DGRAM, 0), from = socket(AF_INET, SOCK_DGRAM, 0);
    char c;
    check(bind(to, (struct sockaddr *)&here, bytes) == 0, "bind");
    check(getsockname(to, (struct sockaddr *)&here, &bytes) == 0, "getsockname");
    check(sendto(from, "x", 1, 0, (struct sockaddr *)&here, bytes) == 1, "sendto");
    check(connect(from, (struct sockaddr *)&here, bytes) == 0, "connect");
    check(send(from, "y", 1, 0) == 1 && recv(to, &c, 1, 0) == 1 && c == 'x', "send");
    close(from);
    close(to);
    return unused;
}

static void *locks(void *unused)
{
    static pthread_mutex_t known = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_t mine;
    sem_t semaphore;
    pthread_mutex_init(&mine, NULL);
    sem_init(&semaphore, 0, 1);
    pthread_mutex_lock(&known);
    pthread_mutex_lock(&mine);
    sem_wait(&semaphore);
    pthread_mutex_unlock(&mine);
    pthread_mutex_unlock(&known);
    return unused;
}

static void *words(void *unused)
{
    struct pm_level level = pm_define_level("Small", NULL);
    struct pm_noun noun = pm_define_noun(level, "stack", "memory");
    struct pm_sentence sentence = pm_define_sentence(pm_define_verb(level, "Grows"), &noun, 1);
    pm_enter(sentence);
    struct pm_cause cause = pm_capture();
    pm_context_export(cause, text, sizeof text);
    pm_leave(sentence);
    cause = pm_context_import(text, strlen(text));
    pm_adopt(cause);
    pm_release(cause);
    return unused;
}

static void in_small_stack(void *(*what)(void *), void *argument)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    check(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN) == 0, "stack size");
    check(pthread_create(&thread, &attributes, what, argument) == 0, "thread");
    pthread_join(thread, NULL);
}

/* The name is longer than what is kept on a stack. */
static void into_long_name(void)
{
    char part[201] = "";
    memset(part, 'n', sizeof part - 1);
    for (int i = 0; i < 5; i++)
        check(mkdir(part, 0700) == 0 && chdir(part) == 0, "folder");
}

int main(void)
{
    in_small_stack(words, NULL);
    in_small_stack(files, "short.txt");
    in_small_stack(sockets, NULL);
    in_small_stack(locks, NULL);
    into_long_name();
    in_small_stack(files, "long.txt");
    printf("done%s\n", strstr(text, "!Small:Grows:stack@memory") ? ", and told" : "");
    return 0;
}
