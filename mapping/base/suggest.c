/* "did you mean": the word that is most like another one. */
#include "suggest.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

enum { MAX_WORD = 64 };

static bool same_letter(char a, char b, bool in_any_case)
{
    if (a == b)
        return true;
    char letter = (char)(a | 32);
    return in_any_case && letter == (b | 32) && letter >= 'a' && letter <= 'z';
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned pm_word_distance(const char *a, const char *b, bool in_any_case)
{
    size_t a_len = strlen(a), b_len = strlen(b);
    if (a_len > MAX_WORD || b_len > MAX_WORD)
        return UINT_MAX;
    unsigned rows[3][MAX_WORD + 1];
    unsigned *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= b_len; j++)
        last[j] = (unsigned)j;
    for (size_t i = 1; i <= a_len; i++) {
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= b_len; j++) {
            bool same = same_letter(a[i - 1], b[j - 1], in_any_case);
            unsigned best = least(last[j - 1] + !same, least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2], in_any_case) &&
                same_letter(a[i - 2], b[j - 1], in_any_case))
                best = least(best, before[j - 2] + 1);
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
    if (len < 3)
        return 0;
    if (len < 6)
        return 1;
    return len < 12 ? 2 : 3;
}

const char *pm_suggest(const char *word, const char *const *words)
{
    size_t len = strlen(word);
    if (len == 0 || len > MAX_WORD)
        return NULL;
    const char *best = NULL;
    unsigned best_distance = near_distance(len) + 1;
    for (; *words; words++) {
        unsigned distance = pm_word_distance(word, *words, false);
        if (len >= 3 && strncmp(word, *words, len) == 0)
            distance = 1; /* the beginning of a word */
        if (distance < best_distance) {
            best_distance = distance;
            best = *words;
        }
    }
    return best;
}
