/* Settings of this process (format/pm_settings.h): read from an environment, and put into effect.
 * Only pm_settings_read knows where they come from. */
#include "runtime/guest/guest.h"
#include "format/pm_settings.h"
#include "runtime/base/file.h"
#include "runtime/base/process.h"

#include <string.h>

/* True: the process cannot be measured at all. */
static bool tell_fault(const struct pm_setting *setting, enum pm_setting_fault fault,
                       const char *text)
{
    switch (fault) {
    case PM_SETTING_BAD_PATH:
        pm_say("not measured, " PM_SETTING_RUN_DIR " is not an absolute path of reasonable length:",
               text, 0);
        return true;
    case PM_SETTING_BAD_WORD: /* others than the mode have a default */
        if (setting->offset != offsetof(struct pm_settings, mode))
            return false;
        pm_say("not measured, " PM_SETTING_MODE " is none of active, exact, trace, count, off:",
               text, 0);
        return true;
    case PM_SETTING_BAD_NUMBER:
        pm_say("ignored a setting that is not a number in its range", setting->name, 0);
        return false;
    case PM_SETTING_TOO_LONG:
        pm_say("ignored a setting that is too long", setting->name, 0);
        return false;
    default:
        return false;
    }
}

bool pm_settings_read(char **environment, struct pm_settings *ret_settings)
{
    const char *texts[PM_N_SETTINGS] = {NULL};
    for (char **e = environment; e != NULL && *e != NULL; e++)
        pm_settings_find(*e, texts);
    for (size_t i = 0; i < PM_N_SETTINGS; i++) {
        const struct pm_setting *setting = &pm_setting_table[i];
        enum pm_setting_fault fault = pm_setting_parse(setting, texts[i], ret_settings);
        if (fault != PM_SETTING_GOOD && tell_fault(setting, fault, texts[i]))
            return false;
        if (ret_settings->run_dir == NULL) /* the first of the table: nobody measures */
            return false;
    }
    return true;
}

/* Samples belong to contexts. */
static bool has_contexts(const struct pm_settings *settings)
{
    return settings->mode >= PM_RUN_MODE_ACTIVE;
}

bool pm_settings_takes_samples(const struct pm_settings *settings)
{
    return has_contexts(settings) && settings->rate_hz != 0;
}

/* Which mapping points are on: "all" is "*", "none" is nothing, and there are names. */
static void apply_points(const char *names)
{
    if (names == NULL || (strlen(names) == 3 && memcmp(names, "all", 3) == 0))
        names = "*";
    if (strlen(names) == 4 && memcmp(names, "none", 4) == 0)
        names = "";
    memcpy(pm_process.mapping_points, names, strlen(names) + 1);
}

static uint32_t source_of(uint64_t samples)
{
    switch (samples) {
    case PM_SETTING_SAMPLES_PERF:
        return PM_RUN_SAMPLES_PERF;
    case PM_SETTING_SAMPLES_TIMER:
        return PM_RUN_SAMPLES_TIMER;
    default:
        return PM_RUN_SAMPLES_NONE;
    }
}

static void apply_sampling(const struct pm_settings *settings)
{
    bool samples = pm_settings_takes_samples(settings) && !pm_process.in_valgrind &&
                   settings->samples != PM_SETTING_SAMPLES_NOT;
    pm_process.sample_period_ns = samples ? 1000000000u / settings->rate_hz : 0;
    pm_process.sample_clock = settings->clock == PM_SETTING_CLOCK_WALL;
    pm_process.sample_force = source_of(settings->samples);
}

/* Events are counted where samples are taken; sources always. */
static void apply_counters(const char *text)
{
    struct pm_counter_settings *events = &pm_process.counters, *sources = &pm_process.sources;
    if (!pm_counters_parse(text, sources))
        pm_say("ignored a setting that is damaged", "PERFMAP_COUNTERS", 0);
    uint32_t n = sources->n;
    events->n = sources->n = 0;
    for (uint32_t i = 0; i < n; i++)
        if (pm_counter_is_source(&sources->items[i]))
            sources->items[sources->n++] = sources->items[i];
        else if (pm_sample_is_on())
            events->items[events->n++] = sources->items[i];
}

bool pm_settings_apply(const struct pm_settings *settings)
{
    if (settings->run_dir == NULL || strlen(settings->run_dir) >= sizeof pm_process.run_dir)
        return false;
    memcpy(pm_process.run_dir, settings->run_dir, strlen(settings->run_dir) + 1);
    pm_process.mode = (uint32_t)settings->mode;
    pm_process.tsc_hz = settings->tsc_hz;
    pm_process.max_contexts = (uint32_t)settings->max_contexts;
    pm_process.max_nouns = (uint32_t)settings->max_nouns;
    pm_process.max_depth = (uint32_t)settings->max_depth;
    apply_points(settings->mapping_points);
    apply_sampling(settings);
    apply_counters(settings->counters);
    pm_process.heap = has_contexts(settings) && settings->heap != 0;
    pm_process.heap_block_bytes = settings->heap_min_bytes;
    pm_process.trace_limit_bytes = settings->trace_limit_bytes;
    pm_process.trace_keep_oldest = settings->trace_keep == PM_SETTING_KEEP_OLDEST;
    pm_process.run_pid = (uint32_t)settings->run_pid;
    pm_process.first_pid = (uint32_t)settings->first_pid;
    pm_process.budget_ppm = (uint32_t)settings->budget_ppm;
    return true;
}
