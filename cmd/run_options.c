/* The options of `perfmap run`. */
#include "run_request.h"

#include "format/pm_adapters.h"
#include "mapping/view/formula.h"

#include <errno.h>

enum {
    OPT_NO_COLLECT = CMD_KEY_FIRST,
    OPT_MODE,
    OPT_RATE,
    OPT_CLOCK,
    OPT_BUDGET,
    OPT_MAX_CONTEXTS,
    OPT_MAX_DEPTH,
    OPT_MAX_NOUNS,
    OPT_MAPPING_POINTS,
    OPT_HEAP,
    OPT_HEAP_MIN,
    OPT_TRACE_LIMIT,
    OPT_TRACE_KEEP,
    OPT_ADAPTER,
    OPT_KERNEL_WRITES,
    OPT_FORCE,
    OPT_WAIT,
    OPT_LOOK_IN,
    OPT_SAME_AS,
    OPT_SELECT,
    OPT_ASK,
    OPT_METRIC,
    OPT_METRIC_SOURCE,
    OPT_MULTIPLEX,
    OPT_SAMPLE_BY,
    OPT_METRIC_FILE,
    OPT_OFF, /* and the other modes, in the order of enum pm_run_mode */
    OPT_COUNT,
    OPT_ACTIVE,
    OPT_EXACT,
    OPT_TRACE,
};

static const enum pm_run_mode modes[] = {PM_RUN_MODE_ACTIVE, PM_RUN_MODE_EXACT, PM_RUN_MODE_TRACE,
                                         PM_RUN_MODE_COUNT, PM_RUN_MODE_OFF};

/* Not a divisor of the kernel's tick rate, nor of much else: what happens at regular times must
 * not be seen always or never. */
enum { DEFAULT_RATE_HZ = 401, SENSIBLE_RATE_HZ = 4000 };
/* Samples and events together. The default rate takes about half of it. */
enum { DEFAULT_BUDGET_PPM = 20000 };

void run_request_init(struct run_request *ret_request)
{
    *ret_request =
        (struct run_request){.adapters = "auto",
                             .session = {.collect = true,
                                         .settings.runtime = {.mode = PM_RUN_MODE_ACTIVE,
                                                              .rate_hz = DEFAULT_RATE_HZ,
                                                              .budget_ppm = DEFAULT_BUDGET_PPM}}};
}

void run_request_release(struct run_request *request)
{
    mode_rules_release(&request->session.rules);
    pm_selection_free(request->session.selection);
    session_question_release(&request->session.asked);
    session_counters_release(&request->counters);
    free(request->counters_text);
    free(request->look_in);
    free(request->same_as);
}

static void parse_max_nouns(struct cmd_parse *parse, uint64_t *ret_number)
{
    uint64_t number;
    if (!cmd_number(parse, PM_SETTING_MOST_NOUNS, &number))
        return;
    if (number > 0 && number < PM_SETTING_LEAST_NOUNS)
        (void)cmd_usage_error(parse, "option '--max-nouns' takes at least 16, or 0, not '%s'",
                              parse->value);
    *ret_number = number;
}

enum { MAX_POINTS_BYTES = PM_SETTING_POINTS_BYTES - 1 };

static void parse_points(struct cmd_parse *parse, const char **ret_names)
{
    if (*parse->value == 0 || strlen(parse->value) > MAX_POINTS_BYTES)
        (void)cmd_usage_error(parse,
                              "option '--mapping-points' takes names separated by commas, "
                              "up to %d bytes, or all, or none",
                              MAX_POINTS_BYTES);
    *ret_names = parse->value;
}

/* "none", or percent with at most four decimals, as millionths. */
static void parse_budget(struct cmd_parse *parse, uint64_t *ret_ppm)
{
    const char *text = parse->value;
    uint64_t ppm = 0, unit = 0;
    if (strcmp(text, "none") == 0) {
        *ret_ppm = 0;
        return;
    }
    bool ok = *text >= '0' && *text <= '9';
    for (const char *p = text; ok && *p && strcmp(p, "%") != 0; p++)
        if (*p == '.' && !unit) {
            unit = 10000;
        } else if (*p < '0' || *p > '9' || unit == 1 || ppm > 1000000) {
            ok = false;
        } else if (unit) {
            unit /= 10;
            ppm += (uint64_t)(*p - '0') * unit;
        } else {
            ppm = ppm * 10 + (uint64_t)(*p - '0') * 10000;
        }
    if (ok && ppm > 0 && ppm <= 1000000) {
        *ret_ppm = ppm;
        return;
    }
    (void)cmd_usage_error(
        parse, "option '--budget' takes a percentage from 0.0001 to 100, or none, not '%s'", text);
    parse->failed = true;
}

/* Bytes, with K, M, G or T for 2^10, 2^20, ... of them. */
static void parse_trace_limit(struct cmd_parse *parse, uint64_t *ret_bytes)
{
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    unsigned long long number = strtoull(parse->value, &end, 10);
    const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    bool ok = *parse->value >= '0' && *parse->value <= '9' && errno == 0 &&
              (*end == 0 || (unit && end[1] == 0)) && number >> (63 - shift) == 0;
    if (ok && number << shift >= 1 << 20) {
        *ret_bytes = number << shift;
        return;
    }
    (void)cmd_usage_error(
        parse, "option '--trace-limit' takes a size of at least 1M, such as 500M or 2G, not '%s'",
        parse->value);
    parse->failed = true;
}

/* Samples belong to contexts. */
static void check_sampling(struct cmd_parse *parse, const struct session_settings *settings,
                           bool rate_given)
{
    if (!session_has_contexts(settings) && rate_given && settings->runtime.rate_hz) {
        (void)cmd_usage_error(parse, "option '--rate': mode %s takes no samples",
                              pm_mode_name(settings->runtime.mode));
        parse->failed = true;
    } else if (settings->runtime.rate_hz > SENSIBLE_RATE_HZ) {
        cmd_talk("warning: a sample costs about 10 us, so %llu a second slow the program by about "
                 "%llu %%: use 4000 or less",
                 (unsigned long long)settings->runtime.rate_hz,
                 (unsigned long long)(settings->runtime.rate_hz / 1000));
    }
}

static void add_pattern(struct cmd_parse *parse, struct run_request *request, enum pm_run_mode mode)
{
    const char *problem = mode_pattern_problem(parse->value);
    if (problem || !mode_rules_add(&request->session.rules, mode, parse->value)) {
        (void)cmd_usage_error(parse, "option '--%s', pattern '%s': %s", parse->option, parse->value,
                              problem ? problem : "too many");
        parse->failed = true;
    }
}

/* One more of several, in both arrays, which are one. */
static void add_file(struct cmd_parse *parse, const char ***owned, const char *const **ret_files,
                     size_t *n)
{
    const char **files = pm_realloc_array(*owned, *n + 1, sizeof *files);
    if (!files) {
        parse->failed = true;
        return;
    }
    *owned = files;
    *ret_files = files;
    files[(*n)++] = parse->value;
}

/* A function has to be selected by each of several lists. */
static void add_selection(struct cmd_parse *parse, struct run_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_selection *selection = request->session.selection;
    if (!selection)
        request->session.selection = selection = pm_selection_new();
    if (!selection) {
        (void)cmd_usage_error(parse, "option '--select': out of memory");
        parse->failed = true;
    } else if (pm_selection_read_file(selection, parse->value, &err) != PM_OK) {
        (void)cmd_usage_error(parse, "option '--select': %s", pm_error_text(&err));
        parse->failed = true;
    }
    pm_error_release(&err);
}

static enum pm_status add_counter(struct run_request *request, struct pm_str text, bool is_sampled,
                                  struct pm_error *err)
{
    enum pm_status status = PM_OK;
    bool is_formula = pm_formula_is_one(text);
    if (is_formula && request->session.asked.text && !is_sampled)
        return session_counters_add_formula(&request->counters, text, err);
    if (is_formula)
        return pm_error_set(err, PM_ERR_USAGE,
                            "'%.*s' is a formula: name the events that it needs here, and give it "
                            "to 'perfmap report --metric'",
                            (int)text.len, text.p);
    char *name = pm_strndup(text.p, text.len);
    if (!name)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (is_sampled || !request->session.asked.text || session_is_event(name))
        status = session_counters_add(&request->counters, name, is_sampled, err);
    free(name);
    return status;
}

/* A list of events. With --ask, others are metrics of the answer, and formulas count the events
 * that they name. */
static void add_counters(struct cmd_parse *parse, struct run_request *request, bool is_sampled)
{
    struct pm_error err = PM_ERROR_INIT;
    const char *list = is_sampled ? parse->value : request->metrics;
    for (bool is_last = false; !is_last && !parse->failed;) {
        struct pm_str text = pm_formula_next(&list);
        if (add_counter(request, text, is_sampled, &err) != PM_OK) {
            (void)cmd_usage_error(parse, "option '--%s': %s", is_sampled ? "sample-by" : "metric",
                                  pm_error_text(&err));
            parse->failed = true;
        }
        is_last = text.p[text.len] == 0;
    }
    pm_error_release(&err);
}

static void add_metric_file(struct cmd_parse *parse, struct run_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    if (session_counters_add_file(&request->counters, parse->value, &err) != PM_OK) {
        (void)cmd_usage_error(parse, "option '--metric-file': %s", pm_error_text(&err));
        parse->failed = true;
    }
    pm_error_release(&err);
}

static void add_metric_source(struct cmd_parse *parse, struct run_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    if (session_counters_add_library(&request->counters, parse->value, &err) != PM_OK) {
        (void)cmd_usage_error(parse, "option '--metric-source': %s", pm_error_text(&err));
        parse->failed = true;
    }
    pm_error_release(&err);
}

/* What was said beside the settings themselves. */
struct given {
    bool rate, budget;
};

/* What of the settings has a value that is taken as it is. */
static bool take_setting(struct cmd_parse *parse, int key, struct pm_settings *settings)
{
    switch (key) {
    case OPT_MODE:
        settings->mode = modes[parse->choice];
        return true;
    case OPT_CLOCK:
        settings->clock = (uint64_t)parse->choice; /* as enum pm_setting_clock */
        return true;
    case OPT_MAX_CONTEXTS:
        cmd_number(parse, PM_SETTING_MOST_CONTEXTS, &settings->max_contexts);
        return true;
    case OPT_MAX_DEPTH:
        cmd_number(parse, PM_SETTING_MOST_DEPTH, &settings->max_depth);
        return true;
    case OPT_MAX_NOUNS:
        parse_max_nouns(parse, &settings->max_nouns);
        return true;
    case OPT_MAPPING_POINTS:
        parse_points(parse, &settings->mapping_points);
        return true;
    case OPT_HEAP:
        settings->heap = true;
        return true;
    case OPT_HEAP_MIN:
        settings->heap |= cmd_number(parse, PM_SETTING_MOST_BYTES, &settings->heap_min_bytes);
        return true;
    case OPT_TRACE_LIMIT:
        parse_trace_limit(parse, &settings->trace_limit_bytes);
        return true;
    case OPT_TRACE_KEEP: /* as enum pm_setting_keep */
        settings->trace_keep = PM_SETTING_KEEP_NEWEST + (uint64_t)parse->choice;
        return true;
    case OPT_KERNEL_WRITES:
        settings->kernel_writes = true;
        return true;
    default:
        return false;
    }
}

static void take_option(struct cmd_parse *parse, int key, struct run_request *request,
                        struct given *given)
{
    switch (key) {
    case 'o':
        request->session.output = parse->value;
        break;
    case OPT_NO_COLLECT:
        request->session.collect = false;
        break;
    case OPT_RATE:
        given->rate =
            cmd_number(parse, PM_SETTING_MOST_RATE_HZ, &request->session.settings.runtime.rate_hz);
        break;
    case OPT_BUDGET:
        parse_budget(parse, &request->session.settings.runtime.budget_ppm);
        given->budget = true;
        break;
    case OPT_WAIT:
        request->session.settings.wait_for_all = true;
        break;
    case OPT_ADAPTER:
        request->adapters = parse->value;
        break;
    case OPT_FORCE:
        request->session.force = true;
        break;
    case OPT_LOOK_IN:
        add_file(parse, &request->look_in, &request->session.look_in, &request->session.n_look_in);
        break;
    case OPT_SAME_AS:
        add_file(parse, &request->same_as, &request->session.same_as, &request->session.n_same_as);
        break;
    case OPT_SELECT:
        add_selection(parse, request);
        break;
    case OPT_ASK:
        request->session.asked.text = parse->value;
        break;
    case OPT_METRIC:
        request->metrics = parse->value;
        break;
    case OPT_SAMPLE_BY:
        add_counters(parse, request, true);
        break;
    case OPT_METRIC_FILE:
        add_metric_file(parse, request);
        break;
    case OPT_METRIC_SOURCE:
        add_metric_source(parse, request);
        break;
    case OPT_MULTIPLEX:
        request->counters.takes_turns = true;
        break;
    default: /* OPT_OFF and on */
        add_pattern(parse, request, (enum pm_run_mode)(key - OPT_OFF));
    }
}

static void check_question(struct cmd_parse *parse, struct run_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    if (request->session.asked.text)
        request->session.asked.metrics = request->metrics;
    if (request->session.asked.text && request->session.settings.runtime.mode == PM_RUN_MODE_OFF) {
        (void)cmd_usage_error(parse, "option '--ask': mode off measures nothing");
        parse->failed = true;
    } else if (request->session.asked.text &&
               session_question_parse(&request->session.asked, &err) != PM_OK) {
        (void)cmd_usage_error(parse, "%s", pm_error_text(&err));
        parse->failed = true;
    }
    pm_error_release(&err);
}

/* How many are events, and how many of these are counted, not sampled. */
static uint32_t n_events(const struct session_counters *counters, uint32_t *ret_n_read)
{
    uint32_t n = 0;
    *ret_n_read = 0;
    for (uint32_t i = 0; i < counters->settings.n; i++) {
        const struct pm_counter_setting *setting = &counters->settings.items[i];
        n += !pm_counter_is_source(setting);
        *ret_n_read += !pm_counter_is_source(setting) && !setting->period;
    }
    return n;
}

/* They are read where samples are taken, and belong to contexts. */
static void check_counters(struct cmd_parse *parse, const struct session_settings *settings,
                           bool rate_given)
{
    if (!session_has_contexts(settings))
        (void)cmd_usage_error(parse, "events are counted along call paths, and mode %s has none",
                              pm_mode_name(settings->runtime.mode));
    else if (rate_given && !settings->runtime.rate_hz)
        (void)cmd_usage_error(parse, "option '--rate 0': events are only counted where samples are "
                                     "taken, too");
    else
        return;
    parse->failed = true;
}

/* What cannot be together. */
static void check_options(struct cmd_parse *parse, struct run_request *request, struct given given)
{
    struct session_settings *settings = &request->session.settings;
    if (!parse->failed)
        check_sampling(parse, settings, given.rate);
    if (settings->runtime.heap && !session_has_contexts(settings) && !parse->failed) {
        (void)cmd_usage_error(parse, "option '--heap' needs call paths, and mode %s has none",
                              pm_mode_name(settings->runtime.mode));
        parse->failed = true;
    }
    if (settings->runtime.kernel_writes && !session_has_contexts(settings) && !parse->failed) {
        (void)cmd_usage_error(parse,
                              "option '--kernel-writes' needs call paths, and mode %s has none",
                              pm_mode_name(settings->runtime.mode));
        parse->failed = true;
    }
    if (!parse->failed && request->metrics)
        add_counters(parse, request, false);
    uint32_t n_read, n = n_events(&request->counters, &n_read);
    if (request->session.asked.text && n_read && settings->runtime.mode == PM_RUN_MODE_ACTIVE)
        settings->runtime.mode = PM_RUN_MODE_EXACT; /* the few sleds of a question read them */
    if (!parse->failed && n)
        check_counters(parse, settings, given.rate);
    request->session.fix = !given.budget || request->session.n_same_as;
    if (request->session.asked.text && request->session.n_same_as && !parse->failed) {
        (void)cmd_usage_error(parse, "option '--same-as': '--ask' has its own modes");
        parse->failed = true;
    }
    request->session.rate_given = given.rate || n;
    if (!parse->failed)
        check_question(parse, request);
    if (settings->runtime.mode == PM_RUN_MODE_OFF && request->session.selection && !parse->failed) {
        (void)cmd_usage_error(parse, "option '--select': mode off measures nothing");
        parse->failed = true;
    }
    if (settings->runtime.mode == PM_RUN_MODE_OFF && request->session.rules.n && !parse->failed) {
        (void)cmd_usage_error(parse, "option '--mode': mode off measures nothing, whatever the "
                                     "patterns say: use --off '*' before them instead");
        parse->failed = true;
    }
    if (settings->runtime.mode != PM_RUN_MODE_ACTIVE && !given.budget)
        settings->runtime.budget_ppm = 0; /* exact is exact */
}

void run_take_options(struct cmd_parse *parse, struct run_request *request)
{
    struct given given = {false, false};
    for (int key; (key = cmd_next(parse)) != CMD_END;)
        if (!take_setting(parse, key, &request->session.settings.runtime))
            take_option(parse, key, request, &given);
    check_options(parse, request, given);
}

/* "sql (libsqlite3: statements, tables), " */
#define HELP_OF_ADAPTER(name, library, symbol, cost, level, verbs, what) #name " (" what "), "

const struct cmd_option run_options[] = {
    {'o', "output", "NAME",
     "name of the archive, or of the run folder with --no-collect (default: the program's name "
     "with .perfmap or .run, in the current folder)"},
    {OPT_NO_COLLECT, "no-collect", NULL,
     "leave the run folder as it is, for `perfmap collect` later or elsewhere"},
    {OPT_MODE, "mode", "active|exact|trace|count|off",
     "active: samples with their call paths, and calls (default; at most 2 % slower). exact: also "
     "the time of each call, at some ten nanoseconds a call. trace: as exact, and keeps every call "
     "with its begin and end, for `perfmap trace`. count: calls only. off: the runtime is loaded "
     "and measures nothing"},
    {OPT_RATE, "rate", "HZ",
     "samples for each second of a thread's CPU time (default: 401; use at most 4000; 0: none)"},
    {OPT_CLOCK, "clock", "cpu|wall",
     "what reports show first: the time that threads ran (cpu, default), or that and the time that "
     "they waited (wall)"},
    {OPT_BUDGET, "budget", "PERCENT",
     "share of the run's time that measuring may take, samples included. Functions and loops with "
     "too many calls are only counted, then no longer followed, and their samples count for their "
     "callers. They come back when there is room, and reports name them. The default is 2 in mode "
     "active, and functions and loops named by a pattern then keep their modes. It is none in "
     "other modes: nothing is left out"},
    {OPT_EXACT, "exact", "PATTERN",
     "measure these functions and loops in mode exact, whatever --mode says: func:NAME, "
     "loop:FILE:LINE, file:FILE, with * ? [...] as in file names. May be given several times, like "
     "--trace, --active, --count and --off; the last pattern that matches decides"},
    {OPT_TRACE, "trace", "PATTERN", "the same for mode trace"},
    {OPT_ACTIVE, "active", "PATTERN", "the same for mode active"},
    {OPT_COUNT, "count", "PATTERN", "the same for mode count: no call paths, no times"},
    {OPT_OFF, "off", "PATTERN", "the same for mode off: their time counts for their callers"},
    {OPT_SELECT, "select", "FILE",
     "measure only the functions that this list selects, with their loops; the time of others "
     "counts for their callers. 'perfmap select' writes such lists; filter files of Score-P and "
     "TAU "
     "are read, too. Of several lists each has to select a function. --exact and the like come "
     "after it"},
    {OPT_LOOK_IN, "look-in", "FILE",
     "look patterns up in this file too: a library that the program loads later, or a program that "
     "it starts"},
    {OPT_SAME_AS, "same-as", "ARCHIVE",
     "functions and loops begin, and stay, in the lowest mode that they had in this run: what its "
     "budget left out for a while is left out from the start, so calls of runs that are measured "
     "so can be compared. May be given several times"},
    {OPT_ASK, "ask", "QUESTION",
     "measure only what this question needs, and answer it when the program has ended, as 'perfmap "
     "ask' does. Functions and loops that it names, or that do what it names, are followed. "
     "Samples are taken if they help to answer it. Patterns of modes come first"},
    {OPT_METRIC, "metric", "NAMES",
     "count these events, too: page-faults, context-switches, instructions and others that "
     "'perfmap metrics' lists, separated by commas. Their numbers are known for each process and "
     "thread; in mode exact also for each call path, at some 3 us for each event and call. With "
     "--ask: metrics of the answer; samples are only taken if one of them, or the question, needs "
     "samples"},
    {OPT_METRIC_FILE, "metric-file", "FILE",
     "read further numbers when each process begins and when it ends: lines NAME UNIT FILE FIELD, "
     "as 'interrupts count /proc/stat intr'; add 'last' to report the value at the end instead of "
     "the "
     "increase"},
    {OPT_METRIC_SOURCE, "metric-source", "LIBRARY",
     "count the metrics that this library offers (perfmap_metric.h; docs/counters.md has an "
     "example). May be given several times"},
    {OPT_MULTIPLEX, "multiplex", NULL,
     "let PAPI's events take turns, also where there are enough counters. Their numbers are "
     "estimates then, and carry ~"},
    {OPT_SAMPLE_BY, "sample-by", "EVENT[:PERIOD]",
     "take a sample also for each PERIOD of these events, as cache-misses:100003 or "
     "page-faults:1. A report then shows the event by function, loop, statement and array, as it "
     "shows CPU time. Without PERIOD each event has a default; 'perfmap metrics' "
     "lists it"},
    {OPT_MAX_CONTEXTS, "max-contexts", "NUMBER",
     "keep at most this many call paths in a process; further calls are counted in their caller. "
     "0: the runtime's own limit"},
    {OPT_MAX_DEPTH, "max-depth", "NUMBER",
     "keep call paths up to this depth; deeper calls are counted in their caller. 0: the runtime's "
     "own limit"},
    {OPT_MAX_NOUNS, "max-nouns", "NUMBER",
     "keep at most this many nouns of the program's own (perfmap.h, adapters) in a process "
     "(default: 131072). Those not used for longest then count as what they are part of, or as "
     "other nouns of their kind"},
    {OPT_MAPPING_POINTS, "mapping-points", "NAMES",
     "mapping points at which libraries and adapters report what maps to what: names, separated by "
     "commas, with * in them; all (default); none. 'perfmap points' lists those of a run"},
    {OPT_HEAP, "heap", NULL,
     "follow the blocks of the heap: how many blocks and bytes each place allocates, for which "
     "variable, and how long they live. A pair of malloc and free then takes about 80 ns more"},
    {OPT_HEAP_MIN, "heap-min", "BYTES",
     "implies --heap: list blocks of at least this size one by one, the first 4096 of them "
     "(default: 65536)"},
    {OPT_TRACE_LIMIT, "trace-limit", "SIZE",
     "mode trace: room for events in each process's run file, 16 bytes a call (default: 2G). What "
     "does not fit is dropped, and the report says how much. Calls and times are complete all the "
     "same"},
    {OPT_TRACE_KEEP, "trace-keep", "newest|oldest",
     "what to keep of a trace that reaches its limit: the newest events (the default), or the "
     "oldest"},
    {OPT_ADAPTER, "adapter", "NAMES",
     "adapters that report what a library does, separated by commas: " PM_ADAPTERS(
         HELP_OF_ADAPTER) "or the file of your own, with a slash in it ('perfmap wrap' makes one); "
                          "auto (default): those "
                          "of a library that the program is started with, where they cost little; "
                          "none"},
    {OPT_KERNEL_WRITES, "kernel-writes", NULL,
     "count what the kernel writes to disk of the program's files, even later and in its own "
     "threads. The metric is block_bytes_written, of the code that wrote the bytes. It implies "
     "--adapter io, needs root, tracefs and ext4, and syncs the program's files at the end"},
    {OPT_FORCE, "force", NULL, "also start a program that the runtime cannot be loaded into"},
    {OPT_WAIT, "wait", NULL,
     "wait until all processes of the run have ended, also daemons. Without this option, the "
     "archive is made when the program itself has ended, and the run folder is kept while others "
     "still run. SIGTERM ends the waiting"},
    {0}};
