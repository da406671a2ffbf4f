/* How a process is measured: one struct, and one table that says for each member its name, its
 * type, its bounds and its default. `perfmap run` writes settings, the runtime reads them.
 *
 * They travel as texts NAME=VALUE: today in the environment, and in whatever else can carry them.
 * Nothing here allocates, prints or calls the system.
 *
 *     const struct pm_setting *table = pm_setting_table;
 *     for (size_t i = 0; i < PM_N_SETTINGS; i++) // writes
 *         if (pm_setting_is_given(&table[i], &settings))
 *             setenv(table[i].name, pm_setting_text(&table[i], &settings, room), 1);
 *
 *     const char *texts[PM_N_SETTINGS] = {NULL};
 *     pm_settings_find("PERFMAP_RATE_HZ=401", texts); // reads, all that there are
 *     for (size_t i = 0; i < PM_N_SETTINGS; i++)
 *         fault = pm_setting_parse(&table[i], texts[i], &settings);
 */
#ifndef PM_SETTINGS_H
#define PM_SETTINGS_H

#include "pm_counters.h"
#include "pm_mode.h"

#include <stddef.h>
#include <stdint.h>

/* What all names begin with, and names that others need, too. */
#define PM_SETTING_PREFIX "PERFMAP_"
#define PM_SETTING_RUN_DIR "PERFMAP_RUN_DIR"
#define PM_SETTING_MODE "PERFMAP_MODE"
#define PM_SETTING_KERNEL_WRITES "PERFMAP_KERNEL_WRITES"
#define PM_SETTING_COUNTERS "PERFMAP_COUNTERS"

enum {
    PM_SETTING_DIR_BYTES = 3072,   /* with the zero */
    PM_SETTING_POINTS_BYTES = 256, /* the same */
    PM_SETTING_MOST_CONTEXTS = 1 << 28,
    PM_SETTING_LEAST_NOUNS = 16,
    PM_SETTING_MOST_NOUNS = 1 << 21,
    PM_SETTING_MOST_DEPTH = 1000000,
    PM_SETTING_MOST_RATE_HZ = 10000,
    PM_SETTING_TEXT_BYTES = 24, /* any number, with the zero */
};
#define PM_SETTING_MOST_BYTES ((uint64_t)1 << 62)

enum pm_setting_clock { PM_SETTING_CLOCK_CPU, PM_SETTING_CLOCK_WALL };
enum pm_setting_samples {
    PM_SETTING_SAMPLES_ANY, /* what works */
    PM_SETTING_SAMPLES_NOT,
    PM_SETTING_SAMPLES_PERF,
    PM_SETTING_SAMPLES_TIMER,
};
enum pm_setting_keep {
    PM_SETTING_KEEP_ANY,
    PM_SETTING_KEEP_NEWEST,
    PM_SETTING_KEEP_OLDEST,
};

/* Texts are lent. Where the table has a default other than 0, a writer's 0 is "the default". */
struct pm_settings {
    const char *run_dir;        /* absolute; NULL: not measured at all */
    uint64_t mode;              /* enum pm_run_mode */
    uint64_t tsc_hz;            /* 0: not known */
    uint64_t max_contexts;      /* then contexts are folded */
    uint64_t max_nouns;         /* of a program's own words */
    uint64_t max_depth;         /* of a call path */
    const char *mapping_points; /* names, "all" or "none"; NULL: all */
    uint64_t rate_hz;           /* of samples; 0: none */
    uint64_t clock;             /* enum pm_setting_clock: of samples */
    uint64_t samples;           /* enum pm_setting_samples: where they come from */
    uint64_t heap;              /* 1: blocks of the heap are followed */
    uint64_t heap_min_bytes;    /* of blocks that have records of their own */
    uint64_t trace_limit_bytes; /* of a process */
    uint64_t trace_keep;        /* enum pm_setting_keep: at that limit */
    uint64_t run_pid;           /* of `perfmap run`; 0: not known */
    uint64_t first_pid;         /* of its program; the same */
    uint64_t budget_ppm;        /* of the run's time, for measuring; 0: no limit */
    uint64_t kernel_writes;     /* 1: what the kernel writes is followed; for adapters */
    const char *counters;       /* events (pm_counters.h); NULL: none */
};

enum pm_setting_type {
    PM_SETTING_PATH,   /* absolute, shorter than `most` bytes; it may be "", which is none */
    PM_SETTING_NAMES,  /* text, shorter than `most` bytes */
    PM_SETTING_NUMBER, /* decimal, from `least` to `most` */
    PM_SETTING_WORD,   /* one of `words`, of which `most` is the last */
    PM_SETTING_FLAG,   /* 1 when it is there, whatever it says */
};

struct pm_setting {
    const char *name;
    size_t offset; /* in struct pm_settings */
    enum pm_setting_type type;
    bool is_always; /* written, even when it is 0 */
    uint64_t least, most;
    uint64_t otherwise; /* the default: not given, or wrong */
    const char *const *words;
};

static const char *const pm_setting_clocks[] = {"cpu", "wall"};
static const char *const pm_setting_sources[] = {"", "none", "perf", "timer"};
static const char *const pm_setting_keeps[] = {"", "newest", "oldest"};

/* What is wrong is told in this order. */
/* clang-format off */
#define PM_TEXT(member, name, type, is_always, most) \
    {name, offsetof(struct pm_settings, member), type, is_always, 0, most, 0, NULL}
#define PM_NUMBER(member, name, is_always, least, most, otherwise) \
    {name, offsetof(struct pm_settings, member), PM_SETTING_NUMBER, is_always, least, most, \
     otherwise, NULL}
#define PM_WORD(member, name, is_always, words, most, otherwise) \
    {name, offsetof(struct pm_settings, member), PM_SETTING_WORD, is_always, 0, most, \
     otherwise, words}
#define PM_FLAG(member, name) \
    {name, offsetof(struct pm_settings, member), PM_SETTING_FLAG, false, 0, 1, 0, NULL}
static const struct pm_setting pm_setting_table[] = {
    PM_TEXT(run_dir, PM_SETTING_RUN_DIR, PM_SETTING_PATH, true, PM_SETTING_DIR_BYTES),
    PM_WORD(mode, PM_SETTING_MODE, true, pm_mode_words, PM_RUN_MODE_TRACE, PM_RUN_MODE_EXACT),
    PM_NUMBER(tsc_hz, "PERFMAP_TSC_HZ", false, 1, 100000000000u, 0),
    PM_NUMBER(max_contexts, "PERFMAP_MAX_CONTEXTS", false, 1, PM_SETTING_MOST_CONTEXTS, 1u << 20),
    PM_NUMBER(max_nouns, "PERFMAP_MAX_NOUNS", false, PM_SETTING_LEAST_NOUNS, PM_SETTING_MOST_NOUNS,
              1u << 17),
    PM_NUMBER(max_depth, "PERFMAP_MAX_DEPTH", false, 1, PM_SETTING_MOST_DEPTH, 1000),
    PM_TEXT(mapping_points, "PERFMAP_MAPPING_POINTS", PM_SETTING_NAMES, false,
            PM_SETTING_POINTS_BYTES),
    PM_NUMBER(rate_hz, "PERFMAP_RATE_HZ", true, 0, PM_SETTING_MOST_RATE_HZ, 0),
    PM_WORD(clock, "PERFMAP_CLOCK", true, pm_setting_clocks, PM_SETTING_CLOCK_WALL,
            PM_SETTING_CLOCK_CPU),
    PM_WORD(samples, "PERFMAP_SAMPLES", false, pm_setting_sources, PM_SETTING_SAMPLES_TIMER,
            PM_SETTING_SAMPLES_ANY),
    PM_FLAG(heap, "PERFMAP_HEAP"),
    PM_NUMBER(heap_min_bytes, "PERFMAP_HEAP_MIN", false, 1, PM_SETTING_MOST_BYTES, 65536),
    PM_NUMBER(trace_limit_bytes, "PERFMAP_TRACE_LIMIT", false, 1, PM_SETTING_MOST_BYTES,
              (uint64_t)2 << 30),
    PM_WORD(trace_keep, "PERFMAP_TRACE_KEEP", false, pm_setting_keeps, PM_SETTING_KEEP_OLDEST,
            PM_SETTING_KEEP_ANY),
    PM_NUMBER(run_pid, "PERFMAP_RUN_PID", true, 0, UINT32_MAX, 0),
    PM_NUMBER(first_pid, "PERFMAP_FIRST_PID", true, 0, UINT32_MAX, 0),
    PM_NUMBER(budget_ppm, "PERFMAP_BUDGET", true, 0, 1000000, 0),
    PM_FLAG(kernel_writes, PM_SETTING_KERNEL_WRITES),
    PM_TEXT(counters, PM_SETTING_COUNTERS, PM_SETTING_NAMES, false, PM_COUNTERS_TEXT_BYTES),
};
#undef PM_TEXT
#undef PM_NUMBER
#undef PM_WORD
#undef PM_FLAG
/* clang-format on */
enum { PM_N_SETTINGS = sizeof pm_setting_table / sizeof *pm_setting_table };

static inline bool pm_setting_is_text(const struct pm_setting *setting)
{
    return setting->type == PM_SETTING_PATH || setting->type == PM_SETTING_NAMES;
}

static inline uint64_t *pm_setting_number_of(const struct pm_setting *setting,
                                             struct pm_settings *settings)
{
    return (uint64_t *)((char *)settings + setting->offset);
}

static inline const char **pm_setting_text_of(const struct pm_setting *setting,
                                              struct pm_settings *settings)
{
    return (const char **)((char *)settings + setting->offset);
}

/* --- written --- */

static inline bool pm_setting_is_given(const struct pm_setting *setting,
                                       const struct pm_settings *settings)
{
    const char *member = (const char *)settings + setting->offset;
    return pm_setting_is_text(setting) ? *(const char *const *)member != NULL
                                       : setting->is_always || *(const uint64_t *)member != 0;
}

/* The value of one that is given. room: for numbers. */
static inline const char *pm_setting_text(const struct pm_setting *setting,
                                          const struct pm_settings *settings,
                                          char room[PM_SETTING_TEXT_BYTES])
{
    const char *member = (const char *)settings + setting->offset;
    if (pm_setting_is_text(setting))
        return *(const char *const *)member;
    uint64_t number = *(const uint64_t *)member;
    if (setting->type == PM_SETTING_WORD)
        return setting->words[number <= setting->most ? number : setting->otherwise];
    char *p = room + PM_SETTING_TEXT_BYTES - 1;
    for (*p = 0; p == room + PM_SETTING_TEXT_BYTES - 1 || number != 0; number /= 10)
        *--p = (char)('0' + number % 10);
    return p;
}

/* --- read --- */

enum pm_setting_fault {
    PM_SETTING_GOOD,
    PM_SETTING_BAD_PATH,
    PM_SETTING_BAD_NUMBER, /* or one beyond its bounds */
    PM_SETTING_BAD_WORD,
    PM_SETTING_TOO_LONG,
};

/* Puts the value of NAME=VALUE into texts, when it is one of ours and the first of that name. */
static inline void pm_settings_find(const char *assignment, const char *texts[PM_N_SETTINGS])
{
    static const char prefix[] = PM_SETTING_PREFIX;
    for (size_t i = 0; prefix[i] != 0; i++)
        if (assignment[i] != prefix[i])
            return;
    for (size_t k = 0; k < PM_N_SETTINGS; k++) {
        const char *name = pm_setting_table[k].name;
        size_t n = sizeof prefix - 1;
        while (name[n] != 0 && assignment[n] == name[n])
            n++;
        if (name[n] != 0 || assignment[n] != '=')
            continue;
        if (texts[k] == NULL)
            texts[k] = assignment + n + 1;
        return;
    }
}

static inline enum pm_setting_fault pm_setting_parse_text(const struct pm_setting *setting,
                                                          const char *text, const char **ret_text)
{
    bool is_path = setting->type == PM_SETTING_PATH;
    *ret_text = NULL;
    if (is_path && *text == 0)
        return PM_SETTING_GOOD;
    if (strlen(text) >= setting->most)
        return is_path ? PM_SETTING_BAD_PATH : PM_SETTING_TOO_LONG;
    if (is_path && *text != '/')
        return PM_SETTING_BAD_PATH;
    *ret_text = text;
    return PM_SETTING_GOOD;
}

static inline enum pm_setting_fault pm_setting_parse_number(const struct pm_setting *setting,
                                                            const char *text, uint64_t *number)
{
    uint64_t value = 0;
    if (*text == 0)
        return PM_SETTING_GOOD;
    for (const char *p = text; *p != 0; p++) {
        if (*p < '0' || *p > '9' || value > setting->most / 10)
            return PM_SETTING_BAD_NUMBER;
        value = value * 10 + (uint64_t)(*p - '0');
    }
    if (value < setting->least || value > setting->most)
        return PM_SETTING_BAD_NUMBER;
    *number = value;
    return PM_SETTING_GOOD;
}

static inline enum pm_setting_fault pm_setting_parse_word(const struct pm_setting *setting,
                                                          const char *text, uint64_t *number)
{
    size_t len = strlen(text);
    for (uint64_t i = 0; i <= setting->most; i++)
        if (strlen(setting->words[i]) == len && memcmp(text, setting->words[i], len) == 0) {
            *number = i;
            return PM_SETTING_GOOD;
        }
    return PM_SETTING_BAD_WORD;
}

/* text NULL: not given. What is wrong leaves the default there. */
static inline enum pm_setting_fault pm_setting_parse(const struct pm_setting *setting,
                                                     const char *text, struct pm_settings *settings)
{
    if (pm_setting_is_text(setting)) {
        const char **to = pm_setting_text_of(setting, settings);
        *to = NULL;
        return text != NULL ? pm_setting_parse_text(setting, text, to) : PM_SETTING_GOOD;
    }
    uint64_t *to = pm_setting_number_of(setting, settings);
    *to = setting->otherwise;
    if (text == NULL)
        return PM_SETTING_GOOD;
    if (setting->type == PM_SETTING_NUMBER)
        return pm_setting_parse_number(setting, text, to);
    if (setting->type == PM_SETTING_WORD)
        return pm_setting_parse_word(setting, text, to);
    *to = 1;
    return PM_SETTING_GOOD;
}

#endif
