/* Libraries that count (counter_libraries.h). */
#include "counter_libraries.h"
#include "trial.h"

#include "format/pm_papi.h"
#include "mapping/base/str.h"
#include "runtime/include/perfmap_metric.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>

/* Cuts the next field of a line off; at its end it is "". */
static char *next_field(char **at, char end)
{
    char *field = *at, *stop = strchr(field, end);
    *at = stop ? stop + 1 : field + strlen(field);
    if (stop)
        *stop = 0;
    return field;
}

/* Fields end with tabs, and lines with line ends. */
static void print_field(FILE *out, const char *text, size_t most)
{
    for (size_t i = 0; text && i < most && text[i]; i++)
        fputc(iscntrl((unsigned char)text[i]) ? ' ' : text[i], out);
    fputc('\t', out);
}

/* --- of users --- */

enum { MOST_NAME = 40 };

static bool is_name(const char *name)
{
    size_t n = 0;
    while (name && (isalnum((unsigned char)name[n]) || name[n] == '_'))
        n++;
    return n != 0 && !name[n] && n <= MOST_NAME;
}

static bool is_unit(const char *unit)
{
    size_t n = 0;
    while (unit && isgraph((unsigned char)unit[n]) && !strchr("|;", unit[n]))
        n++;
    return n != 0 && !unit[n] && n < PM_COUNTER_UNIT_BYTES;
}

static const struct pm_metric_info *info_of(const struct pm_metric_source *source, uint32_t i)
{
    return (const struct pm_metric_info *)((const char *)source->metrics +
                                           (size_t)i * source->info_bytes);
}

/* True: it can be used; else out is told why not. */
static bool check_source(const struct pm_metric_source *source, FILE *out)
{
    if (!source)
        fprintf(out, "!its pm_metric_offer returns no source");
    else if (source->abi != PM_METRIC_ABI)
        fprintf(out,
                "!it was compiled for version %u of perfmap_metric.h, and this PerfMap has version "
                "%u: compile it again",
                source->abi, PM_METRIC_ABI);
    else if (source->bytes < sizeof *source || source->info_bytes < sizeof *source->metrics)
        fprintf(out,
                "!its source has %u bytes, and needs %zu: use PM_METRIC_SOURCE, or set bytes "
                "and info_bytes",
                source->bytes, sizeof *source);
    else if (!source->metrics || source->n_metrics == 0 || source->n_metrics > PM_COUNTERS_MAX)
        fprintf(out, "!it has %u metrics, and may have 1 to %d", source->n_metrics,
                PM_COUNTERS_MAX);
    else if (!source->read)
        fprintf(out, "!it has no function read");
    else
        return true;
    return false;
}

static bool check_metric(const struct pm_metric_info *info, uint32_t i, FILE *out)
{
    if (!is_name(info->name))
        fprintf(out, "!metric %u has no name of 1 to %d letters, digits and _", i, MOST_NAME);
    else if (!is_unit(info->unit))
        fprintf(out, "!metric '%s' has no unit of 1 to %d letters", info->name,
                PM_COUNTER_UNIT_BYTES - 1);
    else if (info->scope > PM_METRIC_OF_PROCESS || info->kind > PM_METRIC_LEVEL)
        fprintf(out, "!metric '%s' has scope %u and kind %u, which are none", info->name,
                info->scope, info->kind);
    else if (info->kind == PM_METRIC_LEVEL && info->scope != PM_METRIC_OF_PROCESS)
        fprintf(out,
                "!metric '%s' is a level, which only whole processes have: set its scope to "
                "PM_METRIC_OF_PROCESS",
                info->name);
    else
        return true;
    return false;
}

/* Begins it, and reads it as a thread does. */
static bool check_reading(const struct pm_metric_source *source, FILE *out)
{
    char reason[160] = "";
    uint64_t values[PM_COUNTERS_MAX];
    void *state = NULL;
    int error = source->begin ? source->begin(reason, sizeof reason) : 0;
    reason[sizeof reason - 1] = 0;
    if (error)
        fprintf(out, "!it cannot begin: %s", *reason ? reason : strerror(error));
    if (!error && source->thread_begin && (error = source->thread_begin(&state)) != 0)
        fprintf(out, "!it cannot begin in a thread: %s", strerror(error));
    if (error)
        return false;
    error = source->read(state, values);
    if (error)
        fprintf(out, "!it cannot be read: %s", strerror(error));
    if (!error && source->thread_end)
        source->thread_end(state);
    return !error;
}

static int flags_of(const struct pm_metric_info *info)
{
    static const int of_scopes[] = {
        [PM_METRIC_SHARED] = PM_COUNTER_SHARED, [PM_METRIC_OF_PROCESS] = PM_COUNTER_OF_PROCESS};
    return of_scopes[info->scope] | (info->kind == PM_METRIC_LEVEL ? PM_COUNTER_LAST : 0);
}

static void try_library(void *context, FILE *out)
{
    void *handle = dlopen(context, RTLD_NOW | RTLD_LOCAL);
    void *symbol = handle ? dlsym(handle, "pm_metric_offer") : NULL;
    pm_metric_offer_function *find;
    memcpy(&find, &symbol, sizeof find);
    if (!handle)
        fprintf(out, "!it cannot be loaded: %s", dlerror());
    else if (!find)
        fprintf(out, "!it has no function pm_metric_offer: define one with PM_METRIC_SOURCE of "
                     "perfmap_metric.h, and export it");
    const struct pm_metric_source *source = find ? find() : NULL;
    if (!find || !check_source(source, out))
        return;
    for (uint32_t i = 0; i < source->n_metrics; i++)
        if (!check_metric(info_of(source, i), i, out))
            return;
    if (!check_reading(source, out))
        return;
    for (uint32_t i = 0; i < source->n_metrics; i++) {
        const struct pm_metric_info *info = info_of(source, i);
        print_field(out, info->name, MOST_NAME);
        print_field(out, info->unit, PM_COUNTER_UNIT_BYTES);
        fprintf(out, "%d\t", flags_of(info));
        print_field(out, info->what, sizeof((struct session_library_metric *)NULL)->what - 1);
        fputc('\n', out);
    }
}

static void take_metrics(char *text, struct session_library *library)
{
    while (*text && library->n < PM_COUNTERS_MAX) {
        char *line = next_field(&text, '\n');
        struct session_library_metric *metric = &library->metrics[library->n++];
        snprintf(metric->name, sizeof metric->name, "%.47s", next_field(&line, '\t'));
        snprintf(metric->unit, sizeof metric->unit, "%.23s", next_field(&line, '\t'));
        metric->flags = strtoull(next_field(&line, '\t'), NULL, 10);
        snprintf(metric->what, sizeof metric->what, "%.199s", next_field(&line, '\t'));
    }
}

enum pm_status session_library_try(const char *path, struct pm_error *err,
                                   struct session_library *ret_library)
{
    struct session_library library = {.n = 0};
    char *whole = realpath(path, NULL), *text = NULL, what[600];
    snprintf(what, sizeof what, "library '%.512s'", path);
    if (!whole)
        return pm_error_set(err, PM_ERR_USAGE, "%s: %s", what, strerror(errno));
    bool fits = strlen(whole) < sizeof library.path && !strpbrk(whole, "|;");
    snprintf(library.path, sizeof library.path, "%.511s", whole);
    free(whole);
    if (!fits)
        return pm_error_set(err, PM_ERR_USAGE,
                            "%s: its path has more than %d bytes, '|' or ';': move it", what,
                            PM_COUNTER_FILE_BYTES - 1);
    enum pm_status status = session_trial_run(try_library, library.path, what, err, &text);
    if (status != PM_OK)
        return status == PM_ERR_SYSTEM ? (err->status = PM_ERR_USAGE) : status;
    if (*text == '!') {
        status = pm_error_set(err, PM_ERR_USAGE, "%s: %s", what, text + 1);
    } else {
        take_metrics(text, &library);
        *ret_library = library;
    }
    free(text);
    return status;
}

/* --- of PAPI --- */

const char *session_papi_name(const char *text)
{
    if (!strncasecmp(text, "papi:", 5))
        return text[5] ? text + 5 : NULL;
    return !strncasecmp(text, "PAPI_", 5) || strstr(text, "::") ? text : NULL;
}

bool session_papi_is_late(const char *name)
{
    return !strncmp(name, "sde:::", 6);
}

/* What is to be tried; names NULL: all. */
struct papi_trial {
    const char *const *names;
    size_t n;
    bool takes_turns;
    const char *pattern;
    struct pm_papi papi;
};

static void ignore(int set, void *address, long long overflow, void *context)
{
    (void)set;
    (void)address;
    (void)overflow;
    (void)context;
}

/* 0, or PAPI's error number: the event alone in a set, started and read. */
static int try_event(const struct pm_papi *papi, int event, bool is_sampled)
{
    enum { THRESHOLD = 1000003 };
    long long value[16];
    int set = PM_PAPI_NULL, component = papi->get_event_component(event);
    int error = component < 0 ? component : papi->create_eventset(&set);
    if (error)
        return error;
    error = papi->assign_eventset_component(set, component);
    if (!error)
        error = papi->add_event(set, event);
    if (!error && is_sampled)
        error = papi->overflow(set, event, THRESHOLD, 0, ignore);
    if (!error)
        error = papi->start(set);
    bool is_started = !error;
    if (!error)
        error = papi->read(set, value);
    if (is_started)
        papi->stop(set, value);
    if (is_sampled)
        papi->overflow(set, event, 0, 0, ignore);
    papi->cleanup_eventset(set);
    papi->destroy_eventset(&set);
    return error;
}

static const char *what_of(const struct pm_papi *papi, int event)
{
    static char info[PM_PAPI_INFO_BYTES];
    return papi->get_event_info(event, info) == 0 ? info + PM_PAPI_DESCRIPTION_AT : "";
}

/* Why a component is off says more than that it is. */
static const char *why_of(const struct pm_papi *papi, int event, int error)
{
    enum { DISABLED = -25 };
    int component = error == DISABLED ? papi->get_event_component(event) : -1;
    const char *info = component >= 0 ? papi->get_component_info(component) : NULL;
    const char *why = info && info[PM_PAPI_REASON_AT] ? info + PM_PAPI_REASON_AT : NULL;
    return why ? why : papi->strerror(error);
}

/* name, state (m missing, c counts, s samples too, l late), shared, reason, what */
static void print_event(const struct pm_papi *papi, const char *name, int event, int error,
                        FILE *out)
{
    if (session_papi_is_late(name)) {
        fprintf(out, "%s\tl\t1\t\t\t\n", name);
        return;
    }
    print_field(out, name, PM_PAPI_NAME_BYTES);
    int sampled = error ? error : try_event(papi, event, true);
    bool is_shared = !error && pm_papi_is_shared(papi, papi->get_event_component(event));
    if (error)
        fputs("m\t", out);
    else
        fputs(sampled ? "c\t" : "s\t", out);
    fputs(is_shared ? "1\t" : "0\t", out);
    print_field(out, sampled ? why_of(papi, event, sampled) : "", 200);
    print_field(out, error == PM_PAPI_NO_EVENT ? "" : what_of(papi, event), 400);
    fputc('\n', out);
}

static bool fits(const char *pattern, const char *name)
{
    return !pattern || fnmatch(pattern, name, FNM_CASEFOLD) == 0 || strcasestr(name, pattern);
}

static void print_if_fits(const struct papi_trial *trial, int event, FILE *out)
{
    char name[PM_PAPI_NAME_BYTES] = "";
    if (trial->papi.event_code_to_name(event, name) == 0 && fits(trial->pattern, name))
        print_event(&trial->papi, name, event, try_event(&trial->papi, event, false), out);
}

static void print_all(const struct papi_trial *trial, FILE *out)
{
    const struct pm_papi *papi = &trial->papi;
    int event = INT_MIN; /* PAPI_PRESET_MASK */
    for (int more = papi->enum_event(&event, PM_PAPI_ENUM_FIRST); more == 0;
         more = papi->enum_event(&event, PM_PAPI_ENUM_EVENTS))
        print_if_fits(trial, event, out);
    for (int c = 0; c < papi->num_components(); c++) {
        const char *name = papi->get_component_info(c);
        event = 0x40000000; /* PAPI_NATIVE_MASK */
        if (!name || !strcmp(name, "sde"))
            continue;
        for (int more = papi->enum_cmp_event(&event, PM_PAPI_ENUM_FIRST, c); more == 0;
             more = papi->enum_cmp_event(&event, PM_PAPI_ENUM_EVENTS, c))
            print_if_fits(trial, event, out);
    }
}

/* Those of a component that count one by one, together. 0, or PAPI's error number. */
static int try_together(const struct papi_trial *trial, int component, bool in_turns,
                        const int *events, const int *errors)
{
    const struct pm_papi *papi = &trial->papi;
    long long values[PM_COUNTERS_MAX];
    int set = PM_PAPI_NULL, error = papi->create_eventset(&set), n = 0;
    if (!error)
        error = papi->assign_eventset_component(set, component);
    if (!error && in_turns)
        error = papi->set_multiplex(set);
    for (size_t i = 0; i < trial->n && !error; i++)
        if (!errors[i] && papi->get_event_component(events[i]) == component) {
            error = papi->add_event(set, events[i]);
            n++;
        }
    if (!error && n) {
        error = papi->start(set);
        if (!error)
            papi->stop(set, values);
    }
    papi->cleanup_eventset(set);
    papi->destroy_eventset(&set);
    return error;
}

/* Which components the events are of, that are counted by thread. */
static bool has_events(const struct papi_trial *trial, int component, const int *events,
                       const int *errors)
{
    bool has = false;
    for (size_t i = 0; i < trial->n; i++)
        has |= !errors[i] && trial->papi.get_event_component(events[i]) == component;
    return has && !pm_papi_is_shared(&trial->papi, component);
}

/* Whether they have to take turns, and why they cannot. */
static void print_turns(const struct papi_trial *trial, const int *events, const int *errors,
                        FILE *out)
{
    const struct pm_papi *papi = &trial->papi;
    bool needs = trial->takes_turns;
    int begun = 0, problem = 0;
    for (int c = 0; c < papi->num_components(); c++) {
        if (!has_events(trial, c, events, errors))
            continue;
        int error = try_together(trial, c, false, events, errors);
        needs |=
            error == PM_PAPI_CONFLICT || error == PM_PAPI_TOO_MANY || error == PM_PAPI_MANY_PASSES;
        if (!needs || problem)
            continue;
        problem = begun ? 0 : papi->multiplex_init();
        begun = 1;
        problem = problem ? problem : try_together(trial, c, true, events, errors);
    }
    fprintf(out, "%d\t", needs);
    print_field(out, problem ? papi->strerror(problem) : "", 200);
    fputc('\n', out);
}

static void try_papi(void *context, FILE *out)
{
    struct papi_trial *trial = context;
    int events[PM_COUNTERS_MAX] = {0}, errors[PM_COUNTERS_MAX];
    const char *why = pm_papi_load(&trial->papi);
    if (why) {
        fprintf(out, "!%s", why);
        return;
    }
    if (!trial->names) {
        fprintf(out, "0\t\t\n");
        print_all(trial, out);
        return;
    }
    for (size_t i = 0; i < trial->n; i++) {
        bool is_late = session_papi_is_late(trial->names[i]);
        errors[i] = is_late ? PM_PAPI_NO_EVENT
                            : trial->papi.event_name_to_code(trial->names[i], &events[i]);
        if (!errors[i])
            errors[i] = try_event(&trial->papi, events[i], false);
    }
    print_turns(trial, events, errors, out);
    for (size_t i = 0; i < trial->n; i++)
        print_event(&trial->papi, trial->names[i], events[i], errors[i], out);
}

static enum pm_status take_events(struct pm_error *err, struct session_papi *papi)
{
    size_t n = 0;
    char *at = papi->text;
    for (const char *p = at; *p; p++)
        n += *p == '\n';
    papi->events = pm_alloc_array(n + 1, sizeof *papi->events);
    if (!papi->events)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    char *first = next_field(&at, '\n');
    papi->takes_turns = *next_field(&first, '\t') == '1';
    papi->turns_problem = next_field(&first, '\t');
    while (*at) {
        char *line = next_field(&at, '\n');
        struct session_papi_event *event = &papi->events[papi->n++];
        event->name = next_field(&line, '\t');
        char state = *next_field(&line, '\t');
        event->counts = state == 'c' || state == 's' || state == 'l';
        event->samples = state == 's' || state == 'l';
        event->is_late = state == 'l';
        event->is_shared = *next_field(&line, '\t') == '1';
        event->reason = next_field(&line, '\t');
        event->what = next_field(&line, '\t');
    }
    return PM_OK;
}

enum pm_status session_papi_try(const char *const *names, size_t n, bool takes_turns,
                                const char *pattern, struct pm_error *err,
                                struct session_papi *ret_papi)
{
    struct papi_trial trial = {
        .names = names, .n = n, .takes_turns = takes_turns, .pattern = pattern};
    struct session_papi papi = {.reason = "", .turns_problem = ""};
    PM_ASSERT(n <= PM_COUNTERS_MAX);
    enum pm_status status = session_trial_run(try_papi, &trial, "PAPI", err, &papi.text);
    if (status != PM_OK)
        return status;
    if (*papi.text == '!')
        papi.reason = papi.text + 1;
    else
        status = take_events(err, &papi);
    if (status != PM_OK) {
        session_papi_release(&papi);
        return status;
    }
    *ret_papi = papi;
    return PM_OK;
}

void session_papi_release(struct session_papi *papi)
{
    free(papi->events);
    free(papi->text);
}
