/* What the calls of perfmap.h cost, a pair each: many short repetitions, the shortest counts.
 * Run it alone, and with the runtime preloaded:
 *
 *     PERFMAP_RUN_DIR=/tmp/x PERFMAP_MODE=active LD_PRELOAD=.../libperfmap-rt.so ./words
 *
 * Prints nanoseconds as key=value, the loop around taken off. */
#include "../../runtime/include/perfmap.h"

#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { CALLS = 1000, REPETITIONS = 2000, DEPTH = 10 };

static struct pm_sentence sentences[4], outer[DEPTH];
static struct pm_cause causes[4];
static volatile uint64_t sink;

static inline uint64_t clock_tsc(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

#define REPEAT(what)                  \
    uint64_t start = clock_tsc();     \
    for (int i = 0; i < CALLS; i++) { \
        what;                         \
        __asm__ volatile("");         \
    }                                 \
    return clock_tsc() - start

static uint64_t nothing(void)
{
    REPEAT((void)i);
}

static uint64_t enter(void)
{
    REPEAT(pm_enter(sentences[0]); pm_leave(sentences[0]));
}

static uint64_t enter_in_turn(void)
{
    REPEAT(pm_enter(sentences[i % 4]); pm_leave(sentences[i % 4]));
}

static uint64_t begin(void)
{
    REPEAT(pm_begin(sentences[0]); pm_end(sentences[0]));
}

static uint64_t capture(void)
{
    REPEAT(sink = pm_capture().id);
}

static uint64_t adopt(void)
{
    REPEAT(pm_adopt(causes[0]); pm_release(causes[0]));
}

static uint64_t adopt_in_turn(void)
{
    REPEAT(pm_adopt(causes[i % 4]); pm_release(causes[i % 4]));
}

static double ticks_per_ns(void)
{
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC_RAW, &a);
    uint64_t start = clock_tsc();
    int64_t ns;
    do {
        clock_gettime(CLOCK_MONOTONIC_RAW, &b);
        ns = (b.tv_sec - a.tv_sec) * 1000000000 + (b.tv_nsec - a.tv_nsec);
    } while (ns < 20000000);
    return (double)(clock_tsc() - start) / (double)ns;
}

static struct pm_sentence define(const char *name, int i)
{
    char text[32];
    snprintf(text, sizeof text, "%s %d", name, i);
    struct pm_level level = pm_define_level("Bench", "Source");
    struct pm_noun noun = pm_define_noun(level, text, "request");
    return pm_define_sentence(pm_define_verb(level, "Serves"), &noun, 1);
}

int main(void)
{
    static const struct {
        const char *name;
        uint64_t (*run)(void);
    } kinds[] = {{"nothing_ns", nothing},
                 {"enter_ns", enter},
                 {"enter_in_turn_ns", enter_in_turn},
                 {"begin_ns", begin},
                 {"capture_ns", capture},
                 {"adopt_ns", adopt},
                 {"adopt_in_turn_ns", adopt_in_turn}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    uint64_t shortest[KINDS];
    for (int i = 0; i < 4; i++) {
        struct pm_sentence handed_over = define("handed over", i);
        sentences[i] = define("sentence", i);
        pm_enter(handed_over);
        causes[i] = pm_capture();
        pm_leave(handed_over);
    }
    for (int i = 0; i < DEPTH; i++)
        pm_enter(outer[i] = define("outer", i));
    for (int k = 0; k < KINDS; k++)
        shortest[k] = UINT64_MAX;
    for (int i = 0; i < REPETITIONS; i++)
        for (int k = 0; k < KINDS; k++) {
            uint64_t took = kinds[k].run();
            shortest[k] = took < shortest[k] ? took : shortest[k];
        }
    double unit = ticks_per_ns() * CALLS;
    for (int k = 1; k < KINDS; k++)
        printf("%s=%.2f ", kinds[k].name, ((double)shortest[k] - (double)shortest[0]) / unit);
    putchar('\n');
    return 0;
}
