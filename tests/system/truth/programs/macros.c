/* Functions that a macro writes: all of their code is at the place where the macro is used. */
#include "truth.h"

enum { N = 2048 };

double from[N], scaled[N], summed[N], one[N], other[N], plain[N];
static volatile double sink;

/* One loop, two after each other, one within another, and none. */
#define DEFINE_SCALE(name, to, by)                                                                 \
    NOINLINE static void name(int times)                                                           \
    {                                                                                              \
        for (; times > 0; times--) {                                                               \
            AGAIN();                                                                               \
            for (int i = 0; i < N; i++)                                                            \
                to[i] = from[i] * by;                                                              \
        }                                                                                          \
    }
#define DEFINE_SUM(type, name, array)                                                              \
    NOINLINE static type name(int times)                                                           \
    {                                                                                              \
        type sum = 0;                                                                              \
        for (; times > 0; times--) {                                                               \
            AGAIN();                                                                               \
            for (int i = 0; i < N; i++)                                                            \
                sum += array[i];                                                                   \
        }                                                                                          \
        return sum;                                                                                \
    }
#define DEFINE_STEP(name, first, second)                                                           \
    NOINLINE static void name(int i)                                                               \
    {                                                                                              \
        first[i % N] += second[(i + 7) % N];                                                       \
        BURN(2);                                                                                   \
    }
/* Only the head is a macro's. */
#define TEST(name) NOINLINE static void test_##name(int times)

DEFINE_SCALE(scale, scaled, 1.5) // @scale
DEFINE_SUM(double, sum, summed)  // @sum
DEFINE_STEP(step, one, other)    // @step

TEST(plain) // @head
{
    for (; times > 0; times--) {
        AGAIN();
        for (int i = 0; i < N; i++) plain[i] += 0.5; // @body
    }
}

static void add_up(int times)
{
    sink = sum(times);
}

static void walk(int times)
{
    for (int i = 0; i < times; i++)
        step(i);
}

static double measured(void (*function)(int), int times)
{
    double begin = THREAD_MS();
    function(times);
    return THREAD_MS() - begin;
}

int main(void)
{
    for (int i = 0; i < N; i++)
        from[i] = other[i] = summed[i] = i;
    double scaling = measured(scale, 150000), summing = measured(add_up, 50000);
    double stepping = measured(walk, 20000), testing = measured(test_plain, 150000);
    double percent = 100 / (scaling + summing + stepping + testing);
    truth("scaling", scaling * percent);
    truth("summing", summing * percent);
    truth("stepping", stepping * percent);
    truth("testing", testing * percent);
    return 0;
}
