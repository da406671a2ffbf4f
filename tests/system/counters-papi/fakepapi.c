/* A libpapi.so.7 for machines whose processor has no counters: what PerfMap calls of PAPI, with the program's own numbers as events. Like a
 * processor with two counters, it refuses a third event but in turns; like PAPI, it counts by thread, and reads the numbers of the thread that
 * started the set. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_EVENTS = 3, N_SETS = 64, MISSING = -7, CONFLICT = -8 };
static const char *const names[N_EVENTS + 1] = {"PAPI_TOT_INS", "PAPI_TOT_CYC", "PAPI_L1_DCM", "PAPI_FP_OPS"};

static struct set {
    int used, n, in_turns, started, events[8];
    long long *counts, before[N_EVENTS];
} sets[N_SETS];

/* The program's: what the calling thread has counted. */
static long long *counts_of_thread(void)
{
    static long long none[N_EVENTS];
    long long *(*find)(void) = (long long *(*)(void))dlsym(RTLD_DEFAULT, "fake_counts");
    return find ? find() : none;
}

#define EXPORT __attribute__((visibility("default")))
#define FAKE(type, name, parameters) \
    EXPORT type name parameters;     \
    EXPORT type name parameters

FAKE(int, PAPI_library_init, (int version))
{
    return version == 7 << 24 ? version : -1;
}
FAKE(int, PAPI_get_opt, (int option, void *ret))
{
    (void)ret;
    return option == 21 ? (7 << 24 | 3) : -1;
}
FAKE(int, PAPI_thread_init, (unsigned long (*self)(void)))
{
    return self() != 0 ? 0 : -1;
}
FAKE(int, PAPI_register_thread, (void))
{
    return 0;
}
FAKE(int, PAPI_unregister_thread, (void))
{
    return 0;
}
FAKE(int, PAPI_create_eventset, (int *set))
{
    for (int i = 0; i < N_SETS; i++)
        if (!__atomic_exchange_n(&sets[i].used, 1, __ATOMIC_SEQ_CST)) {
            sets[i] = (struct set){.used = 1};
            *set = i;
            return 0;
        }
    return -2;
}
FAKE(int, PAPI_assign_eventset_component, (int set, int component))
{
    return set >= 0 && component == 0 ? 0 : -17;
}
FAKE(int, PAPI_add_event, (int set, int event))
{
    struct set *s = &sets[set];
    int e = event & 0xff;
    if (e >= N_EVENTS)
        return MISSING;
    if (s->n == 2 && !s->in_turns)
        return CONFLICT;
    s->events[s->n++] = e;
    return 0;
}
FAKE(int, PAPI_cleanup_eventset, (int set))
{
    sets[set].n = 0;
    return 0;
}
FAKE(int, PAPI_destroy_eventset, (int *set))
{
    sets[*set].used = 0;
    *set = -1;
    return 0;
}
FAKE(int, PAPI_start, (int set))
{
    sets[set].counts = counts_of_thread();
    memcpy(sets[set].before, sets[set].counts, sizeof sets[set].before);
    sets[set].started = 1;
    return 0;
}
FAKE(int, PAPI_read, (int set, long long *values))
{
    const struct set *s = &sets[set];
    for (int i = 0; i < s->n; i++)
        values[i] = s->counts[s->events[i]] - s->before[s->events[i]];
    return s->started ? 0 : -9;
}
FAKE(int, PAPI_stop, (int set, long long *values))
{
    int error = PAPI_read(set, values);
    sets[set].started = 0;
    return error;
}
FAKE(int, PAPI_multiplex_init, (void))
{
    return 0;
}
FAKE(int, PAPI_set_multiplex, (int set))
{
    sets[set].in_turns = 1;
    return 0;
}
FAKE(int, PAPI_overflow, (int set, int event, int threshold, int flags, void *handler))
{
    (void)set, (void)event, (void)threshold, (void)flags, (void)handler;
    return -18;
}
FAKE(int, PAPI_get_overflow_event_index, (int set, long long overflow, int *indices, int *n))
{
    (void)set, (void)overflow, (void)indices, (void)n;
    return -1;
}
FAKE(int, PAPI_event_name_to_code, (const char *name, int *event))
{
    for (int e = 0; e <= N_EVENTS; e++)
        if (!strcmp(names[e], name)) {
            *event = (int)(0x80000000u | (unsigned)e);
            return 0;
        }
    return MISSING;
}
FAKE(int, PAPI_event_code_to_name, (int event, char *name))
{
    strcpy(name, names[event & 0xff]);
    return 0;
}
FAKE(int, PAPI_get_event_component, (int event))
{
    (void)event;
    return 0;
}
FAKE(int, PAPI_get_event_info, (int event, void *info))
{
    memset(info, 0, 4096);
    strcpy((char *)info + 4 + 1024 + 64, (event & 0xff) == 0 ? "Instructions completed" : "Another event");
    return 0;
}
FAKE(int, PAPI_enum_event, (int *event, int which))
{
    int e = which == 1 ? 0 : (*event & 0xff) + 1;
    *event = (int)(0x80000000u | (unsigned)e);
    return e <= N_EVENTS ? 0 : MISSING;
}
FAKE(int, PAPI_enum_cmp_event, (int *event, int which, int component))
{
    (void)event, (void)which, (void)component;
    return MISSING;
}
FAKE(int, PAPI_num_components, (void))
{
    return 1;
}
FAKE(const char *, PAPI_get_component_info, (int component))
{
    static char info[4096] = "perf_event";
    return component == 0 ? info : NULL;
}
FAKE(char *, PAPI_strerror, (int error))
{
    return error == MISSING ? "Event does not exist" : error == CONFLICT ? "Event exists, but cannot be counted" : "Some error";
}
