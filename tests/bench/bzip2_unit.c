/* How long does bzip2's library take for a small piece of work: compress 12 000 bytes of text and
 * back? The same piece many times in one process; prints the shortest in nanoseconds.
 *
 *     bzip2_unit [SECONDS [REPETITIONS]]
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int BZ2_bzBuffToBuffCompress(char *to, unsigned *n_to, char *from, unsigned n_from, int block,
                             int verbosity, int work_factor);
int BZ2_bzBuffToBuffDecompress(char *to, unsigned *n_to, char *from, unsigned n_from, int small,
                               int verbosity);

enum { TEXT_BYTES = 12000 };

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Words in no order: neither all the same nor noise. */
static void write_text(char *text)
{
    static const char *const words[] = {"the ",  "cost ", "of ",    "every ", "loop ",  "array ",
                                        "and ",  "call ", "is ",    "shown ", "where ", "it ",
                                        "was\n", "paid ", "twice ", "over "};
    unsigned state = 1;
    for (size_t n = 0; n < TEXT_BYTES;) {
        state = state * 1103515245 + 12345;
        const char *word = words[state >> 20 & 15];
        size_t length = strlen(word);
        if (length > TEXT_BYTES - n)
            length = TEXT_BYTES - n;
        memcpy(text + n, word, length);
        n += length;
    }
}

static int unit(char *text, char *packed, char *back)
{
    unsigned n_packed = 2 * TEXT_BYTES, n_back = TEXT_BYTES;
    if (BZ2_bzBuffToBuffCompress(packed, &n_packed, text, TEXT_BYTES, 1, 0, 0) != 0 ||
        BZ2_bzBuffToBuffDecompress(back, &n_back, packed, n_packed, 0, 0) != 0)
        return -1;
    return n_back == TEXT_BYTES && memcmp(text, back, TEXT_BYTES) == 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    static char text[TEXT_BYTES], packed[2 * TEXT_BYTES], back[TEXT_BYTES];
    long long end = now_ns() + (long long)((argc > 1 ? atof(argv[1]) : 1) * 1e9);
    long n_left = argc > 2 ? atol(argv[2]) : LONG_MAX;
    write_text(text);
    long long best = -1;
    for (long long start; n_left-- > 0 && (start = now_ns()) < end;) {
        if (unit(text, packed, back) != 0)
            return 1;
        long long ns = now_ns() - start;
        if (best < 0 || ns < best)
            best = ns;
    }
    printf("%lld\n", best);
    return 0;
}
