/* Events that a run counts, as `perfmap run` tells the runtime of them: a text of items, one after
 * the other, that knows no names of events, but numbers of perf_event_open(2) and the name of the
 * metric.
 *
 * An item is "NAME|UNIT|FILE|FIELD|TYPE|CONFIG|CONFIG1|CONFIG2|PERIOD|FLAGS;", with hexadecimal
 * numbers: "page_faults|faults|||1|2|0|0|1|1;". FILE and FIELD are those of sources, which are
 * read when a process begins and when it ends, and of libraries that count.
 *
 *     struct pm_counter_settings all;
 *     if (pm_counters_parse(text, &all)) // else it is no such text
 *         for (uint32_t i = 0; i < all.n; i++)
 *             open_event(&all.items[i]);
 *
 * Nothing here allocates, prints or calls the system.
 */
#ifndef PM_COUNTERS_H
#define PM_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PM_COUNTERS_MAX = 16,
    PM_COUNTER_NAME_BYTES = 48, /* with the zero, of the unit too */
    PM_COUNTER_UNIT_BYTES = 24,
    PM_COUNTER_FILE_BYTES = 512,
    PM_COUNTER_FIELD_BYTES = 128,
    PM_COUNTERS_TEXT_BYTES = 16384, /* of all, with the zero */
    PM_COUNTER_READ_BYTES = 16384,  /* so much of a file is looked at */
};

enum {
    /* The address of a sample is that of the instruction that did it, not of one behind it. */
    PM_COUNTER_PRECISE = 1,
    /* What it counts happens in the kernel, of which nobody who may not measure that sees any. */
    PM_COUNTER_IN_KERNEL = 2,
    /* The unit that counts it cannot leave out what the kernel does. */
    PM_COUNTER_NO_EXCLUDE = 4,
    /* Of sources: what is there at the end, not how much more than at the beginning. */
    PM_COUNTER_LAST = 8,
    /* Of libraries: it is read when a process begins and when it ends, as a source. */
    PM_COUNTER_OF_PROCESS = 16,
    /* Of libraries: each thread may read it, and reads what all of them have counted. */
    PM_COUNTER_SHARED = 32,
    /* Of PAPI: events take turns, and their numbers are scaled up. */
    PM_COUNTER_MULTIPLEXED = 64,
};

/* Types of sources; struct perf_event_attr has none of these. config: what one of the number is
 * worth. */
enum {
    PM_COUNTER_OF_FILE = 0x7f000001,   /* a number in a file */
    PM_COUNTER_OF_RUSAGE = 0x7f000002, /* config1: word of struct rusage behind its two times */
    /* Of libraries, which libperfmap-sources.so asks (pm_counter_library.h): */
    PM_COUNTER_OF_PLUGIN = 0x7f000003, /* metric `field` of the library `file` (perfmap_metric.h) */
    PM_COUNTER_OF_PAPI = 0x7f000004,   /* event `field` of PAPI */
};

struct pm_counter_setting {
    char name[PM_COUNTER_NAME_BYTES]; /* of the metric: [a-z0-9_] */
    char unit[PM_COUNTER_UNIT_BYTES];
    char file[PM_COUNTER_FILE_BYTES], field[PM_COUNTER_FIELD_BYTES]; /* "" of events */
    uint64_t type, config, config1, config2;                         /* of struct perf_event_attr */
    uint64_t period;   /* a sample for so many events; 0: none, counted */
    uint64_t flags;    /* PM_COUNTER_* */
    uint32_t position; /* in the text, from 0 on */
};

struct pm_counter_settings {
    uint32_t n;
    struct pm_counter_setting items[PM_COUNTERS_MAX];
};

/* A word up to '|', at most n - 1 bytes. NULL: it is longer, or there is no '|'. */
static inline const char *pm_counters_word(const char *text, char *word, unsigned n)
{
    unsigned i = 0;
    for (; text[i] != '|' && text[i] != 0 && text[i] != ';'; i++) {
        if (i + 1 >= n)
            return 0;
        word[i] = text[i];
    }
    word[i] = 0;
    return text[i] == '|' ? text + i + 1 : 0;
}

/* A hexadecimal number up to `end`. NULL: it is none. */
static inline const char *pm_counters_number(const char *text, char end, uint64_t *number)
{
    uint64_t value = 0;
    unsigned n = 0;
    for (; *text != end; text++, n++) {
        bool is_digit = *text >= '0' && *text <= '9', is_letter = *text >= 'a' && *text <= 'f';
        if ((!is_digit && !is_letter) || n == 16)
            return 0;
        value = value << 4 | (uint64_t)(is_digit ? *text - '0' : *text - 'a' + 10);
    }
    *number = value;
    return n != 0 ? text + 1 : 0;
}

/* Whether PerfMap itself, or an adapter of its own, has a metric of that name, or reports take it
 * for one: neither an event nor a source may have it. */
static inline bool pm_counter_is_taken(const char *name, unsigned long len)
{
    static const char *const taken[] = {"calls",          "time",
                                        "n_calls",        "n_samples",
                                        "wall_ns",        "cpu_ns",
                                        "off_cpu_ns",     "sampled_wall_ns",
                                        "waiting_ns",     "preempted_ns",
                                        "n_allocations",  "allocated_bytes",
                                        "peak_bytes",     "live_bytes",
                                        "freed_bytes",    "block_bytes_written",
                                        "messages",       "message_bytes",
                                        "mpi_ns",         "received_bytes",
                                        "mpi_wait_ns",    "coarray_bytes",
                                        "wait_ns",        "omp_wait_ns",
                                        "omp_chunks",     "omp_iterations",
                                        "bytes_read",     "bytes_written",
                                        "bytes_received", "bytes_sent",
                                        "rows",           "io_ns",
                                        "io_errors",      "lua_instructions"};
    for (unsigned i = 0; i < sizeof taken / sizeof *taken; i++) {
        unsigned long n = 0;
        while (n < len && taken[i][n] != 0 && taken[i][n] == name[n])
            n++;
        if (n == len && taken[i][n] == 0)
            return true;
    }
    return false;
}

/* Is it a library's, and no event of perf_event_open(2) or number of the kernel's? */
static inline bool pm_counter_is_of_library(const struct pm_counter_setting *setting)
{
    return setting->type == PM_COUNTER_OF_PLUGIN || setting->type == PM_COUNTER_OF_PAPI;
}

/* Is it read when a process begins and when it ends? */
static inline bool pm_counter_is_source(const struct pm_counter_setting *setting)
{
    return setting->type == PM_COUNTER_OF_FILE || setting->type == PM_COUNTER_OF_RUSAGE ||
           (pm_counter_is_of_library(setting) && (setting->flags & PM_COUNTER_OF_PROCESS) != 0);
}

/* The number behind a word at the beginning of a line ("voluntary_ctxt_switches:\t12"), or, for a
 * field "3", the third number of the file. False: there is none, it is not whole ("1.5"), it is too
 * large, or it may go on behind the PM_COUNTER_READ_BYTES that were read. */
static inline bool pm_counters_look_up(const char *text, unsigned long len, const char *field,
                                       uint64_t *ret_number)
{
    unsigned long at = 0, n = 0, words = 0, which = 0;
    while (field[n] >= '0' && field[n] <= '9' && n < 9)
        which = which * 10 + (unsigned long)(field[n++] - '0');
    bool by_number = n != 0 && field[n] == 0;
    for (n = 0; field[n] != 0;)
        n++;
    for (bool is_first = true; at < len && !by_number; at++) {
        bool is_it = is_first && len - at > n;
        for (unsigned long i = 0; i < n && is_it; i++)
            is_it = text[at + i] == field[i];
        is_first = text[at] == '\n' || (is_first && (text[at] == ' ' || text[at] == '\t'));
        if (is_it && (text[at + n] == ':' || text[at + n] == ' ' || text[at + n] == '\t'))
            break;
    }
    at += by_number ? 0 : n;
    for (which = by_number ? which : 1; at < len && (by_number || text[at] != '\n'); at++) {
        bool is_digit = text[at] >= '0' && text[at] <= '9';
        bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '\t' ||
                      text[at - 1] == '\n' || text[at - 1] == ':';
        if (!is_digit || !begins || ++words != which)
            continue;
        uint64_t number = 0;
        for (; at < len && text[at] >= '0' && text[at] <= '9'; at++)
            if (__builtin_mul_overflow(number, 10, &number) ||
                __builtin_add_overflow(number, (uint64_t)(text[at] - '0'), &number))
                return false;
        *ret_number = number;
        return at < len ? text[at] != '.' : len < PM_COUNTER_READ_BYTES;
    }
    return false;
}

/* text NULL: there are none. False: it is not such a text, and *ret is empty. */
static inline bool pm_counters_parse(const char *text, struct pm_counter_settings *ret)
{
    ret->n = 0;
    while (text != 0 && *text != 0) {
        struct pm_counter_setting *item = &ret->items[ret->n];
        uint64_t *const numbers[] = {&item->type,    &item->config, &item->config1,
                                     &item->config2, &item->period, &item->flags};
        if (ret->n == PM_COUNTERS_MAX)
            text = 0;
        text = text != 0 ? pm_counters_word(text, item->name, sizeof item->name) : 0;
        text = text != 0 ? pm_counters_word(text, item->unit, sizeof item->unit) : 0;
        text = text != 0 ? pm_counters_word(text, item->file, sizeof item->file) : 0;
        text = text != 0 ? pm_counters_word(text, item->field, sizeof item->field) : 0;
        for (unsigned i = 0; i < 6 && text != 0; i++)
            text = pm_counters_number(text, i < 5 ? '|' : ';', numbers[i]);
        if (text == 0) {
            ret->n = 0;
            return false;
        }
        item->position = ret->n++;
    }
    return true;
}

#endif
