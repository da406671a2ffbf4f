/* Ways to an array that go through functions, memory and text: each array has a part of its own. */
#include "parts.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4096, TEXT = 6000 };
static double row_of[N], out_of[N], varied[N], kept_of[N], viewed[N], made_of[N], fluent[N], numbered[N];
static double copied[N], filled[N], source[N];
static char words[TEXT], found[TEXT], master[TEXT];

#define STEP(to, n)                                                                                \
    for (long i_ = 0; i_ < (long)(n); i_++)                                                        \
        (to)[i_] = (to)[i_] * 0.5 + 1

NOINLINE static double *row(int i)
{
    return row_of + (i & 7);
}

NOINLINE static void step_row(int k)
{
    double *r = row(k);
    STEP(r, N - 8);
}

NOINLINE static void get(double **ret)
{
    *ret = out_of;
}

NOINLINE static void step_out(void)
{
    double *r;
    get(&r);
    STEP(r, N);
}

NOINLINE static void step_varied(int n, ...)
{
    va_list list;
    va_start(list, n);
    double *r = va_arg(list, double *);
    va_end(list);
    STEP(r, n);
}

struct vector {
    void *data;
    size_t n, size;
};
static struct vector kept;

NOINLINE static void *at(struct vector *v, size_t i)
{
    return (char *)v->data + i * v->size;
}

NOINLINE static void step_kept(void)
{
    kept = (struct vector){kept_of, N, sizeof(double)};
    double *r = at(&kept, 0);
    STEP(r, kept.n);
}

struct view {
    double *p;
    int n;
};

NOINLINE static void step_view(struct view v)
{
    STEP(v.p, v.n);
}

struct made {
    double *of;
    int n;
};

NOINLINE static struct made make(double *p, int n)
{
    return (struct made){p, n};
}

NOINLINE static void step_made(void)
{
    struct made m = make(made_of, N);
    STEP(m.of, m.n);
}

NOINLINE static double *prepared(double *p)
{
    p[0] = 1;
    return p;
}

NOINLINE static void step_fluent(void)
{
    double *r = prepared(fluent);
    STEP(r, N);
}

NOINLINE static void step_number(uintptr_t p)
{
    double *r = (double *)(p & ~(uintptr_t)7);
    STEP(r, N);
}

NOINLINE static long count_words(char *text)
{
    long n = 0;
    char *rest;
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        for (; *word; word++)
            n += *word;
    return n;
}

NOINLINE static long count_found(void)
{
    long n = 0;
    char *begin = strchr(found, '=');
    for (char *p = begin; *p; p++)
        n += *p ^ n;
    return n;
}

int main(void)
{
    long n = 0;
    for (int i = 0; i < TEXT - 1; i++)
        master[i] = i % 50 == 49 ? ' ' : 'a';
    memset(found, 'b', TEXT - 1);
    found[3] = '=';
    PART("row", 40, step_row((int)n));
    PART("out", 40, step_out());
    PART("varied", 40, step_varied(N, varied));
    PART("kept", 40, step_kept());
    PART("view", 40, step_view((struct view){viewed, N}));
    PART("made", 40, step_made());
    PART("fluent", 40, step_fluent());
    PART("number", 40, step_number((uintptr_t)numbered | 3));
    PART("copy", 40, memcpy(copied, source, sizeof copied));
    PART("fill", 40, memset(filled, 1, sizeof filled));
    PART("found", 40, n += count_found());
    PART("words", 40, memcpy(words, master, TEXT); n += count_words(words));
    print_parts();
    return n == 7;
}
