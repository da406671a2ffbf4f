/* Events that a run counts (counters.h). */
#include "counters.h"
#include "counter_libraries.h"

#include "mapping/base/suggest.h"

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { UNIT_EVENT_BYTES = 128 }; /* "unit/event/" */

/* --- which there are --- */

#define SOFTWARE(name, alias, unit, config, period, flags, what)                           \
    {                                                                                      \
        name, alias, unit, what, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config, period, flags \
    }
#define HARDWARE(name, alias, unit, config, period, what)                              \
    {                                                                                  \
        name, alias, unit, what, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config, period, 0 \
    }
#define CACHE(name, id, op, result, what)                                 \
    {                                                                     \
        name, NULL, "events", what, PERF_TYPE_HW_CACHE,                   \
            PERF_COUNT_HW_CACHE_##id | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
                PERF_COUNT_HW_CACHE_RESULT_##result << 16,                \
            100003, 0                                                     \
    }
/* clang-format off */
static const struct session_event events[] = {
    SOFTWARE("page-faults", "faults", "faults", PAGE_FAULTS, 1, PM_COUNTER_PRECISE,
             "pages that had to be found when they were touched"),
    SOFTWARE("minor-faults", NULL, "faults", PAGE_FAULTS_MIN, 1, PM_COUNTER_PRECISE,
             "of these, without reading from a disk"),
    SOFTWARE("major-faults", NULL, "faults", PAGE_FAULTS_MAJ, 1, PM_COUNTER_PRECISE,
             "of these, that waited for a disk"),
    SOFTWARE("context-switches", "cs", "switches", CONTEXT_SWITCHES, 1, PM_COUNTER_IN_KERNEL,
             "times that the thread lost its processor, waiting or preempted"),
    SOFTWARE("cpu-migrations", "migrations", "migrations", CPU_MIGRATIONS, 1, PM_COUNTER_IN_KERNEL,
             "times that it went on on another processor"),
    SOFTWARE("alignment-faults", NULL, "faults", ALIGNMENT_FAULTS, 1, PM_COUNTER_PRECISE,
             "accesses that the kernel had to do, for they were not aligned (not on x86)"),
    SOFTWARE("emulation-faults", NULL, "faults", EMULATION_FAULTS, 1, PM_COUNTER_PRECISE,
             "instructions that the kernel had to do"),
    SOFTWARE("task-clock", NULL, "ns", TASK_CLOCK, 1000003, 0, "CPU time of the thread"),
    SOFTWARE("cpu-clock", NULL, "ns", CPU_CLOCK, 1000003, 0, "CPU time, by another clock"),
    HARDWARE("cycles", "cpu-cycles", "cycles", CPU_CYCLES, 1000003, "cycles of the processor"),
    HARDWARE("instructions", NULL, "instructions", INSTRUCTIONS, 1000003,
             "instructions that were completed"),
    HARDWARE("cache-references", NULL, "events", CACHE_REFERENCES, 100003,
             "accesses that went to the last cache, mostly"),
    HARDWARE("cache-misses", NULL, "misses", CACHE_MISSES, 100003,
             "of these, that were not found there"),
    HARDWARE("branches", "branch-instructions", "branches", BRANCH_INSTRUCTIONS, 100003,
             "jumps and calls"),
    HARDWARE("branch-misses", NULL, "misses", BRANCH_MISSES, 100003,
             "of these, that went elsewhere than predicted"),
    HARDWARE("bus-cycles", NULL, "cycles", BUS_CYCLES, 100003, "cycles of the bus"),
    HARDWARE("stalled-cycles-frontend", NULL, "cycles", STALLED_CYCLES_FRONTEND, 1000003,
             "cycles in which no instruction could be fetched"),
    HARDWARE("stalled-cycles-backend", NULL, "cycles", STALLED_CYCLES_BACKEND, 1000003,
             "cycles in which none could go on"),
    HARDWARE("ref-cycles", NULL, "cycles", REF_CPU_CYCLES, 1000003,
             "cycles at the processor's nominal frequency"),
    CACHE("L1-dcache-loads", L1D, READ, ACCESS, "reads from the first cache"),
    CACHE("L1-dcache-load-misses", L1D, READ, MISS, "reads that it did not have"),
    CACHE("L1-dcache-stores", L1D, WRITE, ACCESS, "writes to the first cache"),
    CACHE("L1-icache-load-misses", L1I, READ, MISS, "code that its cache did not have"),
    CACHE("LLC-loads", LL, READ, ACCESS, "reads from the last cache"),
    CACHE("LLC-load-misses", LL, READ, MISS, "reads that it did not have"),
    CACHE("LLC-stores", LL, WRITE, ACCESS, "writes to the last cache"),
    CACHE("LLC-store-misses", LL, WRITE, MISS, "writes that it did not have"),
    CACHE("dTLB-loads", DTLB, READ, ACCESS, "addresses of data that were looked up to read"),
    CACHE("dTLB-load-misses", DTLB, READ, MISS, "of these, that the table did not have"),
    CACHE("dTLB-stores", DTLB, WRITE, ACCESS, "the same, to write"),
    CACHE("dTLB-store-misses", DTLB, WRITE, MISS, "of these, that the table did not have"),
    CACHE("iTLB-load-misses", ITLB, READ, MISS, "addresses of code that it did not have"),
    {0}};
/* clang-format on */
#undef SOFTWARE
#undef HARDWARE
#undef CACHE

#define RUSAGE(name, unit, word, worth, flags, what)                       \
    {                                                                      \
        name, unit, what, PM_COUNTER_OF_RUSAGE, "", "", word, worth, flags \
    }
static const struct session_source sources[] = {
    RUSAGE("voluntary-switches", "switches", 12, 1, 0,
           "of the whole process, PerfMap's own included: times that a thread waited"),
    RUSAGE("involuntary-switches", "switches", 13, 1, 0,
           "the same: times that a thread was preempted"),
    RUSAGE("peak-rss-bytes", "bytes", 0, 1024, PM_COUNTER_LAST, "the same: most memory in use"),
    {"peak-vm-bytes", "bytes", "the same: most addresses", PM_COUNTER_OF_FILE, "/proc/self/status",
     "VmPeak", 0, 1024, PM_COUNTER_LAST},
    {0}};
#undef RUSAGE

const struct session_source *session_counter_sources(void)
{
    return sources;
}

const struct session_event *session_counter_events(void)
{
    return events;
}

static const struct session_event *find_event(const char *name)
{
    for (const struct session_event *e = events; e->name; e++)
        if (!strcasecmp(e->name, name) || (e->alias && !strcasecmp(e->alias, name)))
            return e;
    return NULL;
}

static const struct session_source *find_source(const char *name)
{
    for (const struct session_source *s = sources; s->name; s++)
        if (!strcasecmp(s->name, name))
            return s;
    return NULL;
}

static const char *near_event(const char *name)
{
    const char *words[sizeof events / sizeof *events + sizeof sources / sizeof *sources];
    size_t n = 0;
    for (const struct session_source *s = sources; s->name; s++)
        words[n++] = s->name;
    for (const struct session_event *e = events; e->name; e++)
        words[n++] = e->name;
    words[n] = NULL;
    return pm_suggest(name, words);
}

/* --- names --- */

/* "L1-dcache-loads": l1_dcache_loads. What would be twice the same is one. */
static bool metric_name(const char *event, const char *unit, char name[PM_COUNTER_NAME_BYTES])
{
    size_t n = 0;
    for (const char *p = event; *p; p++) {
        char c = isalnum((unsigned char)*p) ? (char)tolower((unsigned char)*p) : '_';
        if (c == '_' && (n == 0 || name[n - 1] == '_'))
            continue;
        if (n + 4 >= PM_COUNTER_NAME_BYTES)
            return false;
        name[n++] = c;
    }
    while (n && name[n - 1] == '_')
        n--;
    name[n] = 0;
    if (!strcmp(unit, "ns"))
        strncat(name, "_ns", PM_COUNTER_NAME_BYTES - n - 1);
    return n != 0;
}

/* One line of a file of the kernel's. */
static bool read_line(const char *path, char *line, size_t size)
{
    FILE *in = fopen(path, "re");
    bool is_read = in && fgets(line, (int)size, in);
    if (in)
        fclose(in);
    if (is_read)
        line[strcspn(line, "\n")] = 0;
    return is_read;
}

/* Puts a value into the bits that "config1:0-7,32-35" names. */
static bool put_bits(const char *format, uint64_t value, struct pm_counter_setting *setting)
{
    uint64_t *words[] = {&setting->config, &setting->config1, &setting->config2};
    const char *colon = strchr(format, ':');
    if (!colon || strncmp(format, "config", 6) != 0)
        return false;
    int which = format[6] == ':' ? 0 : format[6] - '0';
    if (which < 0 || which > 2)
        return false;
    for (const char *p = colon; *p == ':' || *p == ',';) {
        char *end;
        unsigned long first = strtoul(p + 1, &end, 10), last = first;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        if (first > last || last > 63)
            return false;
        for (unsigned long bit = first; bit <= last; bit++, value >>= 1)
            *words[which] |= (value & 1) << bit;
        p = end;
    }
    return value == 0;
}

/* "event=0x3c", "umask=1", "inv" (1) of the unit. */
static bool add_term(const char *unit, const char *term, struct pm_counter_setting *setting)
{
    char path[512], format[128] = "", name[64];
    const char *equals = strchr(term, '=');
    size_t len = equals ? (size_t)(equals - term) : strlen(term);
    if (len == 0 || len >= sizeof name || strchr(term, '.') == term)
        return false;
    memcpy(name, term, len);
    name[len] = 0;
    errno = 0;
    char *end = NULL;
    uint64_t value = equals ? strtoull(equals + 1, &end, 0) : 1;
    if (errno || (equals && (end == equals + 1 || *end)))
        return false;
    snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/format/%s", unit, name);
    return read_line(path, format, sizeof format) && put_bits(format, value, setting);
}

static bool add_terms(const char *unit, char *terms, struct pm_counter_setting *setting)
{
    char *rest = NULL;
    for (char *term = strtok_r(terms, ",", &rest); term; term = strtok_r(NULL, ",", &rest))
        if (!add_term(unit, term, setting))
            return false;
    return true;
}

/* Does the unit refuse to leave out what the kernel does (PERF_PMU_CAP_NO_EXCLUDE), as msr? That of
 * the processor does not, and users may only count their own part of it. */
static bool refuses_to_exclude(const struct pm_counter_setting *setting)
{
    struct perf_event_attr attr = {
        .type = (uint32_t)setting->type,
        .size = sizeof attr,
        .config = setting->config,
        .config1 = setting->config1,
        .config2 = setting->config2,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    bool refuses = fd < 0 && errno == EINVAL;
    if (fd >= 0)
        close(fd);
    return refuses;
}

/* "msr/tsc/", "cpu/event=0x3c,umask=0x0/" */
static bool find_in_unit(const char *text, struct pm_counter_setting *setting)
{
    char unit[64], terms[256], path[512], line[256] = "";
    const char *slash = strchr(text, '/');
    size_t len = slash ? strlen(slash + 1) : 0;
    if (!slash || slash == text || (size_t)(slash - text) >= sizeof unit || len < 2 ||
        len > sizeof terms || slash[len] != '/' || strchr(text, '.'))
        return false;
    memcpy(unit, text, (size_t)(slash - text));
    unit[slash - text] = 0;
    memcpy(terms, slash + 1, len - 1);
    terms[len - 1] = 0;
    snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/type", unit);
    if (strchr(terms, '/') || !read_line(path, line, sizeof line))
        return false;
    setting->type = strtoull(line, NULL, 10);
    snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/events/%s", unit, terms);
    bool is_named = !strchr(terms, '=') && read_line(path, line, sizeof line);
    if (!add_terms(unit, is_named ? line : terms, setting))
        return false;
    setting->flags = refuses_to_exclude(setting) ? PM_COUNTER_NO_EXCLUDE : 0;
    return true;
}

/* "r1a8" */
static bool find_raw(const char *text, struct pm_counter_setting *setting)
{
    char *end;
    if (text[0] != 'r' || !isxdigit((unsigned char)text[1]) || strlen(text) > 17)
        return false;
    setting->type = PERF_TYPE_RAW;
    setting->config = strtoull(text + 1, &end, 16);
    return *end == 0;
}

static bool take_source(const struct session_source *source, struct pm_counter_setting *ret)
{
    *ret = (struct pm_counter_setting){.type = source->type,
                                       .config = source->worth,
                                       .config1 = source->word,
                                       .flags = source->flags};
    snprintf(ret->file, sizeof ret->file, "%s", source->file);
    snprintf(ret->field, sizeof ret->field, "%s", source->field);
    snprintf(ret->unit, sizeof ret->unit, "%s", source->unit);
    return metric_name(source->name, source->unit, ret->name);
}

/* "PAPI_TOT_INS", "perf::TASK-CLOCK": which there are, the trial tells. */
static bool find_papi(const char *text, struct pm_counter_setting *ret)
{
    const char *name = session_papi_name(text);
    size_t len = name ? strlen(name) : 0;
    if (!len || len >= sizeof ret->field || strpbrk(name, "|;") ||
        !metric_name(name, "", ret->name))
        return false;
    ret->type = PM_COUNTER_OF_PAPI;
    ret->flags = session_papi_is_late(name) ? PM_COUNTER_SHARED : 0;
    snprintf(ret->field, sizeof ret->field, "%s", name);
    if (!strncasecmp(name, "PAPI_", 5))
        for (char *p = ret->field; *p; p++)
            *p = (char)toupper((unsigned char)*p);
    const char *unit = "events";
    if (!strcmp(ret->field, "PAPI_TOT_INS"))
        unit = "instructions";
    else if (!strncmp(ret->field, "PAPI_", 5) && strstr(ret->field, "CYC"))
        unit = "cycles";
    snprintf(ret->unit, sizeof ret->unit, "%s", unit);
    return true;
}

/* The period is that of samples where none is given. */
static bool find_setting(const char *text, struct pm_counter_setting *ret)
{
    *ret = (struct pm_counter_setting){.period = 100003};
    const struct session_source *source = find_source(text);
    if (source)
        return take_source(source, ret);
    const struct session_event *event = find_event(text);
    const char *unit = event ? event->unit : "events";
    if (!event && find_papi(text, ret))
        return true;
    if (event) {
        ret->type = event->type;
        ret->config = event->config;
        ret->period = event->period;
        ret->flags = event->flags;
    } else if (!find_raw(text, ret) && !find_in_unit(text, ret)) {
        return false;
    }
    snprintf(ret->unit, sizeof ret->unit, "%s", unit);
    return metric_name(event ? event->name : text, unit, ret->name);
}

bool session_is_event(const char *text)
{
    struct pm_counter_setting setting;
    return find_setting(text, &setting);
}

/* --- what is asked for --- */

static enum pm_status unknown(const char *text, struct pm_error *err)
{
    const char *near = near_event(text);
    return pm_error_set(err, PM_ERR_USAGE,
                        near ? "there is no event '%s' (did you mean '%s'?)"
                             : "there is no event '%s'; 'perfmap metrics' lists them",
                        text, near);
}

/* Cuts ":PERIOD" off. */
static enum pm_status take_period(char *text, uint64_t *ret_period, struct pm_error *err)
{
    enum { MOST_DIGITS = 18 };
    char *colon = strrchr(text, ':'), *end;
    if (!colon)
        return PM_OK;
    bool is_number = colon[1] >= '0' && colon[1] <= '9' && strlen(colon + 1) <= MOST_DIGITS;
    if (session_papi_name(text) && strspn(colon + 1, "0123456789") != strlen(colon + 1))
        return PM_OK; /* a part of its name */
    uint64_t period = strtoull(colon + 1, &end, 10);
    if (!is_number || *end || period == 0)
        return pm_error_set(err, PM_ERR_USAGE,
                            "'%s': a sample is taken for a number of events, from 1, not '%s'",
                            text, colon + 1);
    *ret_period = period;
    *colon = 0;
    return PM_OK;
}

/* The same number, whether or not samples are taken by it. */
static bool is_same(const struct pm_counter_setting *a, const struct pm_counter_setting *b)
{
    return a->type == b->type && a->config == b->config && a->config1 == b->config1 &&
           a->config2 == b->config2 && a->flags == b->flags && !strcmp(a->unit, b->unit) &&
           !strcmp(a->file, b->file) && !strcmp(a->field, b->field);
}

static enum pm_status add(struct session_counters *counters, const char *name,
                          const struct pm_counter_setting *setting, struct pm_error *err)
{
    struct pm_counter_settings *all = &counters->settings;
    if (pm_counter_is_taken(setting->name, strlen(setting->name)))
        return pm_error_set(err, PM_ERR_USAGE,
                            "'%s' would be the metric '%s', which PerfMap has already: choose "
                            "another name",
                            name, setting->name);
    for (uint32_t i = 0; i < all->n; i++)
        if (!strcmp(all->items[i].name, setting->name)) {
            if (!is_same(&all->items[i], setting))
                return pm_error_set(err, PM_ERR_USAGE,
                                    "'%s' would be the metric '%s', which '%s' is already, and "
                                    "they count different things",
                                    name, setting->name, counters->names[i]);
            if (setting->period)
                all->items[i] = *setting;
            return PM_OK;
        }
    if (all->n == PM_COUNTERS_MAX)
        return pm_error_set(err, PM_ERR_USAGE, "'%s': at most %d events are counted in one run",
                            name, PM_COUNTERS_MAX);
    char *copy = pm_strndup(name, strlen(name));
    if (!copy)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    counters->names[all->n] = copy;
    all->items[all->n++] = *setting;
    return PM_OK;
}

/* Is it counted already, by a metric of that name: of a file, or of a library? */
static bool is_counted(const struct session_counters *counters, const char *text)
{
    char metric[PM_COUNTER_NAME_BYTES];
    for (uint32_t i = 0; i < counters->settings.n; i++) {
        const struct pm_counter_setting *setting = &counters->settings.items[i];
        if ((metric_name(text, "", metric) && !strcmp(metric, setting->name)) ||
            (metric_name(text, setting->unit, metric) && !strcmp(metric, setting->name)))
            return true;
    }
    return false;
}

enum pm_status session_counters_add(struct session_counters *counters, const char *text,
                                    bool is_sampled, struct pm_error *err)
{
    struct pm_counter_setting setting;
    uint64_t period = 0;
    char *name = pm_strndup(text, strlen(text));
    if (!name)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    enum pm_status status = is_sampled ? take_period(name, &period, err) : PM_OK;
    if (status != PM_OK)
        goto out;
    if (!find_setting(name, &setting)) {
        status = !is_sampled && is_counted(counters, name) ? PM_OK : unknown(name, err);
        goto out;
    }
    if (is_sampled && pm_counter_is_source(&setting)) {
        status =
            pm_error_set(err, PM_ERR_USAGE,
                         "'%s' is of whole processes, and no samples can be taken by it: count "
                         "it (--metric)",
                         name);
        goto out;
    }
    if (period || !is_sampled)
        setting.period = period;
    status = add(counters, name, &setting, err);
out:
    free(name);
    return status;
}

/* The event or source whose metric has that name, with its unit or without; NULL: there is none. */
static const char *find_by_metric(struct pm_str name)
{
    char metric[PM_COUNTER_NAME_BYTES];
    for (const struct session_event *e = events; e->name; e++)
        if ((metric_name(e->name, "", metric) && pm_str_is(name, metric)) ||
            (metric_name(e->name, e->unit, metric) && pm_str_is(name, metric)))
            return e->name;
    for (const struct session_source *s = sources; s->name; s++)
        if (metric_name(s->name, s->unit, metric) && pm_str_is(name, metric))
            return s->name;
    return NULL;
}

/* The event "unit/event/" of that metric, of those that the kernel has names for: "msr_tsc". */
static bool find_in_units(struct pm_str name, char event[UNIT_EVENT_BYTES])
{
    char metric[PM_COUNTER_NAME_BYTES];
    const char *top = "/sys/bus/event_source/devices/";
    glob_t found;
    bool is_found = false;
    if (glob("/sys/bus/event_source/devices/*/events/*", 0, NULL, &found) != 0)
        return false;
    for (size_t i = 0; i < found.gl_pathc && !is_found; i++) {
        const char *unit = found.gl_pathv[i] + strlen(top), *slash = strchr(unit, '/');
        int n = snprintf(event, UNIT_EVENT_BYTES, "%.*s/%s/", (int)(slash - unit), unit,
                         slash + strlen("/events/"));
        is_found = n > 0 && n < UNIT_EVENT_BYTES && metric_name(event, "", metric) &&
                   pm_str_is(name, metric);
    }
    globfree(&found);
    return is_found;
}

static enum pm_status add_named(struct session_counters *counters, struct pm_str name,
                                struct pm_error *err)
{
    char text[UNIT_EVENT_BYTES];
    struct pm_counter_setting setting;
    const char *event = find_by_metric(name);
    if (!event && name.len < sizeof text) {
        snprintf(text, sizeof text, "%.*s", (int)name.len, name.p);
        bool is_papi = !strncasecmp(text, "PAPI_", 5);
        event = is_papi || find_raw(text, &setting) || find_in_units(name, text) ? text : NULL;
    }
    return event ? session_counters_add(counters, event, false, err) : PM_OK;
}

enum pm_status session_counters_add_formula(struct session_counters *counters,
                                            struct pm_str formula, struct pm_error *err)
{
    const char *equals = memchr(formula.p, '=', formula.len), *end = formula.p + formula.len;
    for (const char *p = equals ? equals : end; p < end;) {
        const char *word = p;
        while (p < end && (isalnum((unsigned char)*p) || *p == '_'))
            p++;
        struct pm_str name = {word, (size_t)(p - word)};
        bool is_name = name.len && !isdigit((unsigned char)*word); /* else a number, as 1e6 */
        enum pm_status status = is_name ? add_named(counters, name, err) : PM_OK;
        if (status != PM_OK)
            return status;
        p += p == word;
    }
    return PM_OK;
}

/* One word of a line that is no longer than `size` allows; it moves on. */
static bool next_word(char **at, char *word, size_t size)
{
    *at += strspn(*at, " \t");
    size_t len = strcspn(*at, " \t\n");
    if (len == 0 || len >= size)
        return false;
    memcpy(word, *at, len);
    word[len] = 0;
    *at += len;
    return !strpbrk(word, "|;");
}

static enum pm_status add_line(struct session_counters *counters, char *line, const char *where,
                               struct pm_error *err)
{
    char name[PM_COUNTER_NAME_BYTES], last[8] = "";
    struct pm_counter_setting setting = {.type = PM_COUNTER_OF_FILE, .config = 1};
    char *at = line;
    bool is_good = next_word(&at, name, sizeof name) &&
                   next_word(&at, setting.unit, sizeof setting.unit) &&
                   next_word(&at, setting.file, sizeof setting.file) &&
                   next_word(&at, setting.field, sizeof setting.field);
    bool has_last = is_good && next_word(&at, last, sizeof last);
    at += strspn(at, " \t\n");
    is_good &= *at == 0 && (!has_last || !strcmp(last, "last"));
    if (!is_good || *setting.file != '/' || !metric_name(name, setting.unit, setting.name))
        return pm_error_set(err, PM_ERR_USAGE,
                            "%s: expected NAME UNIT FILE FIELD, and perhaps last: words without "
                            "blanks, '|' and ';', FILE with its whole path",
                            where);
    setting.flags = has_last ? PM_COUNTER_LAST : 0;
    return add(counters, name, &setting, err);
}

enum pm_status session_counters_add_file(struct session_counters *counters, const char *path,
                                         struct pm_error *err)
{
    char line[512], where[512];
    enum pm_status status = PM_OK;
    FILE *in = fopen(path, "re");
    if (!in)
        return pm_error_system(err, errno, "cannot read '%s'", path);
    for (unsigned n = 1; fgets(line, sizeof line, in); n++) {
        line[strcspn(line, "#\n")] = 0;
        snprintf(where, sizeof where, "'%.400s' line %u", path, n);
        if (!line[strspn(line, " \t")])
            continue;
        status = add_line(counters, line, where, err);
        if (status != PM_OK)
            break;
    }
    fclose(in);
    return status;
}

enum pm_status session_counters_take_library(struct session_counters *counters,
                                             const struct session_library *library,
                                             struct pm_error *err)
{
    for (uint32_t i = 0; i < library->n; i++) {
        const struct session_library_metric *metric = &library->metrics[i];
        enum pm_status status;
        struct pm_counter_setting setting = {.type = PM_COUNTER_OF_PLUGIN, .flags = metric->flags};
        snprintf(setting.unit, sizeof setting.unit, "%s", metric->unit);
        snprintf(setting.file, sizeof setting.file, "%s", library->path);
        snprintf(setting.field, sizeof setting.field, "%s", metric->name);
        if (!metric_name(metric->name, metric->unit, setting.name))
            status =
                pm_error_set(err, PM_ERR_USAGE, "metric '%s' has no letter or digit", metric->name);
        else
            status = add(counters, metric->name, &setting, err);
        if (status == PM_ERR_USAGE)
            (void)pm_error_add(err, "library '%s'", library->path);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

enum pm_status session_counters_add_library(struct session_counters *counters, const char *path,
                                            struct pm_error *err)
{
    struct session_library library;
    enum pm_status status = session_library_try(path, err, &library);
    if (status != PM_OK)
        return status;
    return session_counters_take_library(counters, &library, err);
}

bool session_counters_need_libraries(const struct session_counters *counters)
{
    for (uint32_t i = 0; i < counters->settings.n; i++)
        if (pm_counter_is_of_library(&counters->settings.items[i]))
            return true;
    return false;
}

/* --- what the runtime is told --- */

enum pm_status session_counters_text(const struct session_counters *counters, struct pm_error *err,
                                     char **ret_text)
{
    struct pm_buf text = PM_BUF_INIT(PM_COUNTERS_TEXT_BYTES - 1);
    *ret_text = NULL;
    if (!counters->settings.n)
        return PM_OK;
    for (uint32_t i = 0; i < counters->settings.n; i++) {
        const struct pm_counter_setting *s = &counters->settings.items[i];
        pm_buf_printf(&text, "%s|%s|%s|%s|%llx|%llx|%llx|%llx|%llx|%llx;", s->name, s->unit,
                      s->file, s->field, (unsigned long long)s->type, (unsigned long long)s->config,
                      (unsigned long long)s->config1, (unsigned long long)s->config2,
                      (unsigned long long)s->period, (unsigned long long)s->flags);
    }
    *ret_text = text.failed ? NULL : pm_buf_take(&text);
    pm_buf_release(&text);
    return *ret_text ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

void session_counters_release(struct session_counters *counters)
{
    for (uint32_t i = 0; i < counters->settings.n; i++)
        free(counters->names[i]);
    *counters = (struct session_counters){0};
}
