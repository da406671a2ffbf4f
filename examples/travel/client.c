/* Asks the server for the words of some chapters, on behalf of two queries. Each request carries what is active here as a W3C baggage header. */
#include "wire.h"

#include <perfmap.h>

static const char *path;

/* The answer to one request; -1: there is none. */
static long ask(const char *request)
{
    char member[PM_EXPORT_BYTES] = "";
    struct sockaddr_un address = wire_address(path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    for (int i = 0; connect(fd, (struct sockaddr *)&address, sizeof address) != 0; i++) {
        if (i == 200)
            wire_fail(path);
        usleep(50000); /* the server begins at the same time */
    }
    FILE *server = fdopen(fd, "r+");
    if (!server)
        wire_fail("fdopen");
    pm_context_export(pm_capture(), member, sizeof member);
    fprintf(server, "baggage: user=anna%s%s\n%s\n", *member ? "," : "", member, request);
    fflush(server);
    long answer = -1;
    if (fscanf(server, "%ld", &answer) != 1)
        answer = -1;
    fclose(server);
    return answer;
}

static void query(const char *name, int first, int last)
{
    struct pm_level level = pm_define_level("Client", "Source");
    struct pm_noun noun = pm_define_noun(level, name, "query");
    struct pm_sentence sentence = pm_define_sentence(pm_define_verb(level, "Executes"), &noun, 1);
    long n_words = 0;
    pm_enter(sentence);
    for (int i = first; i <= last; i++) {
        char request[64];
        snprintf(request, sizeof request, "get chapter-%d", i);
        n_words += ask(request);
    }
    pm_leave(sentence);
    printf("%s: %ld words\n", name, n_words);
}

int main(int argc, char **argv)
{
    path = argc > 1 ? argv[1] : "travel.socket";
    query("how long is the preface?", 1, 1);
    query("how long is the book?", 1, 9);
    query("how long is the preface?", 1, 1);
    ask("end");
    return 0;
}
