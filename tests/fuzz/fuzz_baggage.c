/* Any bytes as a baggage header: what is found lies within them and is written again as it was
 * read. */
#include "runtime/words/baggage.c" /* the runtime is not a library that a test could link */

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size ? size : 1); /* of exactly that size: who reads beyond is caught */
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    struct pm_baggage found, again;
    bool is_found = pm_baggage_find(text, size, &found);
    demand(!(is_found && pm_baggage_is_spoilt(text, size)));
    if (is_found) {
        char copy[PM_BAGGAGE_HEAD_BYTES + PM_BAGGAGE_SENTENCES_BYTES];
        struct pm_baggage_text to = {copy, 0, sizeof copy};
        demand(found.process != 0 && found.place != 0);
        demand(found.sentences >= text && found.sentences + found.sentences_bytes <= text + size);
        demand(pm_baggage_put_head(&to, found.process, found.place));
        demand(pm_baggage_put(&to, found.sentences, found.sentences_bytes));
        demand(pm_baggage_find(copy, to.n, &again));
        demand(again.process == found.process && again.place == found.place &&
               again.sentences_bytes == found.sentences_bytes);
    }
    char name[64], encoded[512];
    size_t n = size < sizeof name - 1 ? size : sizeof name - 1;
    memcpy(name, text, n);
    name[n] = 0;
    struct pm_baggage_text to = {encoded, 0, sizeof encoded};
    demand(!*name ||
           (pm_baggage_put_name(&to, '!', "Level") && pm_baggage_put_name(&to, ':', "Does") &&
            pm_baggage_put_name(&to, ':', name)));
    for (size_t i = 0; i < to.n; i++)
        demand(encoded[i] > ' ' && encoded[i] < 127 && !strchr("\",;\\", encoded[i]));
    free(text);
    return 0;
}
