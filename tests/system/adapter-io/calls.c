/* Input and output in many ways; what the kernel was asked is known to strace. Single-threaded parts in order, so that two runs ask the same. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

static char bytes[100000];

static void need(int good, const char *what)
{
    if (!good) {
        perror(what);
        exit(1);
    }
}

__attribute__((noinline)) static void system_calls(void)
{
    struct iovec parts[2] = {{bytes, 300}, {bytes + 300, 50}};
    int fd = open("raw.bin", O_RDWR | O_CREAT | O_TRUNC, 0644);
    for (int i = 0; i < 10; i++)
        need(write(fd, bytes, 1000) == 1000, "write");
    need(pwrite(fd, bytes, 77, 5) == 77 && writev(fd, parts, 2) == 350 && pwritev(fd, parts, 2, 9) == 350 &&
             pwritev2(fd, parts, 1, 9, 0) == 300,
         "writes");
    need(fsync(fd) == 0 && fdatasync(fd) == 0 && ftruncate(fd, 9000) == 0, "fsync");
    lseek(fd, 0, SEEK_SET);
    while (read(fd, bytes, 700) > 0)
        ;
    need(pread(fd, bytes, 66, 0) == 66 && preadv(fd, parts, 2, 0) == 350 && preadv2(fd, parts, 1, 0, 0) == 300, "reads");
    int copy = openat(AT_FDCWD, "copy.bin", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    off_t from = 0;
    need(sendfile(copy, fd, &from, 4000) == 4000, "sendfile");
    loff_t at = 100;
    need(copy_file_range(fd, &at, copy, NULL, 500, 0) >= 0, "copy_file_range");
    close(copy);
    close(fd);
    need(read(fd, bytes, 1) < 0, "a closed descriptor");
    for (int i = 0; i < 3; i++) { /* one number, three files, and by dup2 a fourth */
        char name[32];
        snprintf(name, sizeof name, "reused%d.bin", i);
        fd = creat(name, 0600);
        need(write(fd, bytes, (size_t)(100 + i)) > 0, "reused");
        close(fd);
    }
    fd = open("dup.bin", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int other = open("other.bin", O_WRONLY | O_CREAT | O_TRUNC, 0600), third = dup(other), fourth = fcntl(other, F_DUPFD, 20);
    need(write(fd, bytes, 11) == 11 && dup2(other, fd) == fd && write(fd, bytes, 22) == 22 && write(third, bytes, 33) == 33 &&
             write(fourth, bytes, 44) == 44,
         "dup");
    close(fd), close(other), close(third), close(fourth);
    fd = open("no/such/file", O_RDONLY);
}

__attribute__((noinline)) static void step(FILE *file, int i)
{
    fprintf(file, "line %d of the text\n", i);
}

__attribute__((noinline)) static void streams(void)
{
    FILE *file = fopen("printed.txt", "w+");
    for (int i = 0; i < 3000; i++)
        step(file, i);
    fwrite(bytes, 1, 50000, file);
    fputs("more", file);
    for (int i = 0; i < 9000; i++)
        putc('x', file);
    for (int i = 0; i < 9000; i++)
        putc_unlocked('y', file);
    fseek(file, 100, SEEK_SET);
    char text[200], *line = NULL;
    size_t room = 0;
    need(fgets(text, sizeof text, file) != NULL, "fgets");
    fseek(file, 0, SEEK_END);
    fputs("at the end", file);
    fflush(file);
    rewind(file);
    int n = 0, number;
    while (n < 3000 && getline(&line, &room, file) > 0)
        n++;
    while (getc(file) != EOF)
        n++;
    free(line);
    fclose(file);

    file = fopen("printed.txt", "r");
    need(fscanf(file, "line %d of", &number) == 1 && fread(bytes, 1, 30000, file) == 30000, "fread");
    ungetc('u', file);
    need(getc(file) == 'u', "ungetc");
    freopen("reopened.txt", "w", file);
    for (int i = 0; i < 100; i++)
        step(file, i);
    fclose(file);

    file = fopen("unbuffered.txt", "w");
    setvbuf(file, NULL, _IONBF, 0);
    for (int i = 0; i < 50; i++)
        step(file, i);
    putc('c', file);
    fclose(file);
    file = fopen("lines.txt", "w");
    setvbuf(file, NULL, _IOLBF, 300);
    for (int i = 0; i < 50; i++)
        step(file, i), fputs(i % 3 ? "no end " : "an end\nand more", file);
    fclose(file);
    file = fopen("wide.txt", "w");
    for (int i = 0; i < 2000; i++)
        fwprintf(file, L"wide %d\n", i);
    fclose(file);
    int fd = open("mixed.txt", O_RDWR | O_CREAT | O_TRUNC, 0600);
    file = fdopen(fd, "w");
    fputs("first ", file);
    need(write(fd, "second ", 7) == 7, "write beside");
    fclose(file);
}

static FILE *shared;

static void *print_many(void *data)
{
    for (int i = 0; i < 2000; i++)
        fprintf(shared, "%s\n", (char *)data);
    return NULL;
}

static void threads(void)
{
    pthread_t ids[3];
    shared = fopen("shared.txt", "w");
    for (int i = 0; i < 3; i++)
        pthread_create(&ids[i], NULL, print_many, "thirty-two bytes in each line ..");
    for (int i = 0; i < 3; i++)
        pthread_join(ids[i], NULL);
    fclose(shared);
}

static void *client(void *address)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    need(connect(fd, address, sizeof(struct sockaddr_in)) == 0, "connect");
    need(send(fd, bytes, 5000, 0) == 5000 && recv(fd, bytes + 50000, 300, MSG_WAITALL) == 300, "client");
    close(fd);
    return NULL;
}

static void sockets(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof address;
    int listening = socket(AF_INET, SOCK_STREAM, 0), ends[2], pair[2];
    need(bind(listening, (struct sockaddr *)&address, n) == 0 && listen(listening, 1) == 0 &&
             getsockname(listening, (struct sockaddr *)&address, &n) == 0,
         "listen");
    pthread_t id;
    pthread_create(&id, NULL, client, &address);
    int fd = accept(listening, NULL, NULL);
    need(recv(fd, bytes, 5000, MSG_WAITALL) == 5000 && write(fd, bytes, 300) == 300, "server");
    pthread_join(id, NULL);
    close(fd), close(listening);
    need(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0, "socketpair");
    struct iovec part = {bytes, 123};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    struct mmsghdr messages[2] = {{.msg_hdr = message}, {.msg_hdr = message}};
    need(sendmsg(ends[0], &message, 0) == 123 && recvmsg(ends[1], &message, 0) == 123 && sendmmsg(ends[0], messages, 2, 0) == 2 &&
             recvmmsg(ends[1], messages, 2, 0, NULL) == 2 && recv(ends[1], bytes, 9, MSG_DONTWAIT) < 0,
         "messages");
    close(ends[0]), close(ends[1]);
    need(pipe(pair) == 0 && write(pair[1], bytes, 999) == 999, "pipe");
    struct pollfd waited = {pair[0], POLLIN, 0};
    need(poll(&waited, 1, 1000) == 1 && read(pair[0], bytes, 2000) == 999, "pipe");
    close(pair[0]), close(pair[1]);
}

int main(void)
{
    memset(bytes, 'b', sizeof bytes);
    printf("what waits when the program forks is written twice\n");
    system_calls();
    streams();
    threads();
    sockets();
    if (fork() == 0) {
        FILE *file = fopen("child.txt", "w");
        fputs("of the child\n", file);
        exit(0); /* which writes both */
    }
    wait(NULL);
    FILE *last = fopen("last.txt", "w");
    step(last, 1); /* written when the program ends */
    return 0;
}
