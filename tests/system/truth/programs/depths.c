/* Libraries that are called deep: a pattern that is compiled, one that is matched, a number of 4000 digits, a stream that calls back. */
#define _GNU_SOURCE
#include "truth.h"

#include <regex.h>
#include <string.h>

static long n_taken;

static ssize_t take(void *cookie, const char *text, size_t n_bytes)
{
    (void)cookie;
    n_taken += text[0] != 0;
    return (ssize_t)n_bytes;
}

NOINLINE static double compiling(regex_t *pattern)
{
    double start = THREAD_MS();
    for (int i = 0; i < 40; i++) {
        regcomp(pattern, "((a|b)*c(d|e)+){2,5}(x[0-9]*|y)+$", REG_EXTENDED); /* @compile */
        if (i != 39)
            regfree(pattern);
    }
    return THREAD_MS() - start;
}

int main(void)
{
    double compile = 0, match = 0, digits = 0, stream = 0, start, all = THREAD_MS();
    cookie_io_functions_t functions = {.write = take};
    FILE *file = fopencookie(NULL, "w", functions);
    static char text[9000];
    long sum = 0;
    setvbuf(file, NULL, _IONBF, 0);
    while (THREAD_MS() - all < 500) {
        regex_t pattern;
        compile += compiling(&pattern);
        start = THREAD_MS();
        for (int i = 0; i < 300; i++)
            sum += regexec(&pattern, "abababcdeabcddabcexx11yx2", 0, NULL, 0); /* @match */
        match += THREAD_MS() - start;
        regfree(&pattern);
        start = THREAD_MS();
        for (int i = 0; i < 30; i++)
            sum += snprintf(text, sizeof text, "%.4000f", 1e300 / (i + 1)); /* @digits */
        digits += THREAD_MS() - start;
        start = THREAD_MS();
        for (int i = 0; i < 1000; i++)
            sum += fprintf(file, "%.17g %d\n", i / 3.0, i); /* @stream */
        stream += THREAD_MS() - start;
    }
    all = THREAD_MS() - all;
    truth("match", 100 * match / all);
    truth("digits", 100 * digits / all);
    truth("stream", 100 * stream / all);
    truth("compile", 100 * compile / all);
    truth("cpu_ms", PROCESS_MS());
    return n_taken + sum == 0;
}
