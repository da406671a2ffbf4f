/* What PerfMap calls of PAPI (https://icl.utk.edu/papi), which is loaded at run time where somebody
 * asks for its events, by `perfmap run` and in the program: nothing of PerfMap needs it. PAPI 6 and
 * 7 have this interface; papi.h says what the functions do.
 *
 *     struct pm_papi papi;
 *     const char *why = pm_papi_load(&papi); // NULL: it is there, and has begun
 *     if (!why)
 *         papi.create_eventset(&set);
 *
 * Threads: load once; then as PAPI says, after thread_init.
 */
#ifndef PM_PAPI_H
#define PM_PAPI_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    PM_PAPI_NULL = -1,
    PM_PAPI_NO_EVENT = -7,     /* PAPI_ENOEVNT */
    PM_PAPI_CONFLICT = -8,     /* PAPI_ECNFLCT: not together with the others */
    PM_PAPI_TOO_MANY = -23,    /* PAPI_ECOUNT */
    PM_PAPI_DELAYED = -26,     /* PAPI_EDELAY_INIT: a component begins when it is first used */
    PM_PAPI_MANY_PASSES = -27, /* PAPI_EMULPASS */
    PM_PAPI_LIB_VERSION = 21,
    PM_PAPI_ENUM_EVENTS = 0,
    PM_PAPI_ENUM_FIRST = 1,
    PM_PAPI_NAME_BYTES = 1024, /* PAPI_HUGE_STR_LEN */
    /* Of PAPI_component_info_t; what is behind them differs between versions. */
    PM_PAPI_REASON_AT = 512,
    PM_PAPI_DISABLED_AT = 512 + 1024,
    /* Of PAPI_event_info_t. */
    PM_PAPI_DESCRIPTION_AT = 4 + 1024 + 64,
    PM_PAPI_INFO_BYTES = 1 << 18, /* more than it has in any version */
};

typedef void pm_papi_handler(int set, void *address, long long overflow, void *context);

struct pm_papi {
    void *library;
    int (*library_init)(int version);
    int (*get_opt)(int option, void *ret);
    int (*thread_init)(unsigned long (*self)(void));
    int (*register_thread)(void);
    int (*unregister_thread)(void);
    int (*create_eventset)(int *set);
    int (*assign_eventset_component)(int set, int component);
    int (*add_event)(int set, int event);
    int (*cleanup_eventset)(int set);
    int (*destroy_eventset)(int *set);
    int (*start)(int set);
    int (*stop)(int set, long long *values);
    int (*read)(int set, long long *values);
    int (*multiplex_init)(void);
    int (*set_multiplex)(int set);
    int (*overflow)(int set, int event, int threshold, int flags, pm_papi_handler *handler);
    int (*get_overflow_event_index)(int set, long long overflow, int *indices, int *n);
    int (*event_name_to_code)(const char *name, int *event);
    int (*event_code_to_name)(int event, char *name);
    int (*get_event_component)(int event);
    int (*get_event_info)(int event, void *info);
    int (*enum_event)(int *event, int which);
    int (*enum_cmp_event)(int *event, int which, int component);
    int (*num_components)(void);
    const char *(*get_component_info)(int component); /* its first member is its name */
    char *(*strerror)(int error);
};

static inline bool pm_papi_find(struct pm_papi *papi)
{
    const struct {
        const char *name;
        void *function;
    } all[] = {{"PAPI_library_init", &papi->library_init},
               {"PAPI_get_opt", &papi->get_opt},
               {"PAPI_thread_init", &papi->thread_init},
               {"PAPI_register_thread", &papi->register_thread},
               {"PAPI_unregister_thread", &papi->unregister_thread},
               {"PAPI_create_eventset", &papi->create_eventset},
               {"PAPI_assign_eventset_component", &papi->assign_eventset_component},
               {"PAPI_add_event", &papi->add_event},
               {"PAPI_cleanup_eventset", &papi->cleanup_eventset},
               {"PAPI_destroy_eventset", &papi->destroy_eventset},
               {"PAPI_start", &papi->start},
               {"PAPI_stop", &papi->stop},
               {"PAPI_read", &papi->read},
               {"PAPI_multiplex_init", &papi->multiplex_init},
               {"PAPI_set_multiplex", &papi->set_multiplex},
               {"PAPI_overflow", &papi->overflow},
               {"PAPI_get_overflow_event_index", &papi->get_overflow_event_index},
               {"PAPI_event_name_to_code", &papi->event_name_to_code},
               {"PAPI_event_code_to_name", &papi->event_code_to_name},
               {"PAPI_get_event_component", &papi->get_event_component},
               {"PAPI_get_event_info", &papi->get_event_info},
               {"PAPI_enum_event", &papi->enum_event},
               {"PAPI_enum_cmp_event", &papi->enum_cmp_event},
               {"PAPI_num_components", &papi->num_components},
               {"PAPI_get_component_info", &papi->get_component_info},
               {"PAPI_strerror", &papi->strerror}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        void *found = dlsym(papi->library, all[i].name);
        memcpy(all[i].function, &found, sizeof found);
        if (!found)
            return false;
    }
    return true;
}

/* NULL, or why it is not there: a constant text. */
static inline const char *pm_papi_load(struct pm_papi *papi)
{
    static const char *const names[] = {"libpapi.so.7", "libpapi.so.6", "libpapi.so"};
    papi->library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !papi->library; i++)
        papi->library = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL); /* libsde looks for it */
    if (!papi->library)
        return "PAPI is not installed, or the loader does not find libpapi.so.7 or .6";
    if (!pm_papi_find(papi))
        return "the PAPI that the loader finds lacks functions of PAPI 6 and 7";
    int version = papi->get_opt(PM_PAPI_LIB_VERSION, NULL);
    int begun = papi->library_init((int)((unsigned)version & 0xffff0000u));
    return begun > 0 ? NULL : "PAPI is there, and refuses to begin (PAPI_library_init)";
}

/* Events of some components are counted for each thread; of others, as sde, for all of them. */
static inline bool pm_papi_is_shared(const struct pm_papi *papi, int component)
{
    static const char *const of_threads[] = {"perf_event", "appio"};
    const char *name = component >= 0 ? papi->get_component_info(component) : NULL;
    for (size_t i = 0; name && i < sizeof of_threads / sizeof *of_threads; i++)
        if (!strcmp(name, of_threads[i]))
            return false;
    return true;
}

#endif
