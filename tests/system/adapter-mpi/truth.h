/* What a rank knows that it did, by verb: "verb calls messages sent received" on standard output. */
#include <stdio.h>
#include <string.h>

static struct {
    const char *verb;
    long calls, messages, sent, received;
} truth[64];

/* What a wait completes is received by it, and on behalf of who asked for it. */
static void is_true(const char *verb, long messages, long sent, long received)
{
    int i = 0;
    while (truth[i].verb && strcmp(truth[i].verb, verb) != 0)
        i++;
    truth[i].verb = verb;
    truth[i].calls++;
    truth[i].messages += messages;
    truth[i].sent += sent;
    truth[i].received += received;
}

static void tell_truth(void)
{
    for (int i = 0; truth[i].verb; i++)
        printf("%s %ld %ld %ld %ld\n", truth[i].verb, truth[i].calls, truth[i].messages,
               truth[i].sent, truth[i].received);
    fflush(stdout);
}
