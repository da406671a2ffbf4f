/* "did you mean": the word that is most like another one. */
#include "suggest.h"

#include <stddef.h>
#include <string.h>

/* Words longer than this are no typing errors. */
enum { MAX_WORD = 40 };

/* Edit distance with swaps of neighbours (optimal string alignment). Both at most MAX_WORD long. */
static unsigned word_distance(const char *a, const char *b)
{
    size_t a_len = strlen(a), b_len = strlen(b);
    unsigned rows[3][MAX_WORD + 1];
    unsigned *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= b_len; j++)
        last[j] = (unsigned)j;
    for (size_t i = 1; i <= a_len; i++) {
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= b_len; j++) {
            unsigned best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
        unsigned *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[b_len];
}

/* How many mistakes a typing error has at most: two in five letters make another word. */
static unsigned near_distance(size_t len)
{
    return len < 3 ? 0 : len < 6 ? 1 : len < 12 ? 2 : 3;
}

const char *pm_suggest(const char *word, const char *const *words)
{
    size_t len = strlen(word);
    if (len == 0 || len > MAX_WORD)
        return NULL;
    const char *best = NULL;
    unsigned best_distance = near_distance(len) + 1;
    for (; *words; words++) {
        if (strlen(*words) > MAX_WORD)
            continue;
        unsigned distance = word_distance(word, *words);
        if (len >= 3 && strncmp(word, *words, len) == 0)
            distance = 1; /* the beginning of a word */
        if (distance < best_distance) {
            best_distance = distance;
            best = *words;
        }
    }
    return best;
}
