/* Counts the words of files for its clients. What a client is working on comes with its request (wire.h), and what the server does for it is done on
 * behalf of that. */
#include "wire.h"

#include <ctype.h>
#include <fcntl.h>
#include <perfmap.h>

static struct pm_level files;
static struct pm_verb reads;
static struct pm_metric bytes;

/* Reads the whole file, a block at a time. */
static long count_words(const char *name)
{
    struct pm_noun file = pm_define_noun(files, name, "file");
    struct pm_sentence reading = pm_define_sentence(reads, &file, 1);
    char block[4096];
    long n_words = 0, n;
    int in_word = 0, fd = open(name, O_RDONLY);
    if (fd < 0)
        return -1;
    do {
        pm_enter(reading);
        n = read(fd, block, sizeof block);
        if (n > 0)
            pm_cost(bytes, (uint64_t)n);
        pm_leave(reading);
        for (long i = 0; i < n; i++) {
            int is_letter = isalpha((unsigned char)block[i]) != 0;
            n_words += is_letter && !in_word;
            in_word = is_letter;
        }
    } while (n > 0);
    close(fd);
    return n_words;
}

/* False: the last one. */
static int serve(FILE *client)
{
    char header[2048], request[256];
    if (!fgets(header, sizeof header, client) || !fgets(request, sizeof request, client))
        return 1;
    request[strcspn(request, "\n")] = 0;
    struct pm_cause cause = pm_context_import(header, strlen(header));
    pm_adopt(cause);
    if (strncmp(request, "get ", 4) == 0)
        fprintf(client, "%ld\n", count_words(request + 4));
    pm_release(cause);
    return strcmp(request, "end") != 0;
}

int main(int argc, char **argv)
{
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = wire_address(argc > 1 ? argv[1] : "travel.socket");
    unlink(address.sun_path);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 16) != 0)
        wire_fail(address.sun_path);
    files = pm_define_level("Files", "Base");
    reads = pm_define_verb(files, "Reads");
    bytes = pm_define_metric("read_bytes", "bytes", "bytes");
    for (int more = 1; more;) {
        int fd = accept(listener, NULL, NULL);
        FILE *client = fd >= 0 ? fdopen(fd, "r+") : NULL;
        if (!client)
            wire_fail("accept");
        more = serve(client);
        fclose(client);
    }
    return 0;
}
