/* Libraries that users write (perfmap_metric.h). `perfmap run` has tried them; what is wrong here
 * all the same is said once. */
#include "runtime/adapters/adapter.h"
#include "runtime/adapters/sources/sources.h"
#include "runtime/include/perfmap_metric.h"

#include <errno.h>
#include <stdlib.h>

struct plugin {
    const char *file; /* of the items; lent */
    void *handle;     /* NULL: it could not be loaded */
    const struct pm_metric_source *source;
    uint32_t n;
    uint32_t positions[PM_COUNTERS_MAX], indices[PM_COUNTERS_MAX]; /* items: which metric */
    bool is_process[PM_COUNTERS_MAX];
};

static struct plugin plugins[PM_COUNTERS_MAX];
static uint32_t n_plugins;
static const struct pm_counter_runtime *runtime;

struct states {
    void *of[PM_COUNTERS_MAX]; /* by plug-in */
    uint32_t is_begun;         /* bits by plug-in */
};

static void say(const char *text, const char *file, const char *why)
{
    char subject[300];
    snprintf(subject, sizeof subject, "'%.150s': %.120s", file, why);
    runtime->note(text, subject);
}

static const struct pm_metric_info *info_of(const struct pm_metric_source *source, uint32_t i)
{
    return (const struct pm_metric_info *)((const char *)source->metrics +
                                           (size_t)i * source->info_bytes);
}

static struct plugin *load(const char *file)
{
    for (uint32_t i = 0; i < n_plugins; i++)
        if (!strcmp(plugins[i].file, file))
            return &plugins[i];
    struct plugin *plugin = &plugins[n_plugins++];
    *plugin = (struct plugin){.file = file, .handle = dlopen(file, RTLD_NOW | RTLD_LOCAL)};
    pm_metric_offer_function *find = NULL;
    void *symbol = plugin->handle ? dlsym(plugin->handle, "pm_metric_offer") : NULL;
    memcpy(&find, &symbol, sizeof find);
    const struct pm_metric_source *source = find ? find() : NULL;
    if (source && source->abi == PM_METRIC_ABI && source->bytes >= sizeof *source && source->read)
        plugin->source = source;
    else
        say("its metrics are not counted: library ", file,
            plugin->handle ? "it is no source of metrics any more" : dlerror());
    return plugin;
}

static void begin_one(struct plugin *plugin)
{
    char reason[100] = "";
    int error =
        plugin->source && plugin->source->begin ? plugin->source->begin(reason, sizeof reason) : 0;
    reason[sizeof reason - 1] = 0;
    if (!error)
        return;
    say("its metrics are not counted: library ", plugin->file, *reason ? reason : strerror(error));
    plugin->source = NULL;
}

static uint32_t begin(const struct pm_counter_settings *items,
                      const struct pm_counter_runtime *found)
{
    uint32_t known = 0;
    runtime = found;
    for (uint32_t i = 0; i < n_plugins; i++) /* in a child, they are loaded already */
        plugins[i].n = 0;
    for (uint32_t i = 0; i < items->n; i++) {
        const struct pm_counter_setting *item = &items->items[i];
        if (item->type != PM_COUNTER_OF_PLUGIN)
            continue;
        struct plugin *plugin = load(item->file);
        const struct pm_metric_source *source = plugin->source;
        for (uint32_t k = 0; source && k < source->n_metrics && k < PM_COUNTERS_MAX; k++)
            if (!strcmp(info_of(source, k)->name, item->field)) {
                plugin->positions[plugin->n] = i;
                plugin->is_process[plugin->n] = (item->flags & PM_COUNTER_OF_PROCESS) != 0;
                plugin->indices[plugin->n++] = k;
                known |= 1u << i;
            }
    }
    for (uint32_t i = 0; i < n_plugins; i++)
        begin_one(&plugins[i]);
    return known;
}

static uint32_t items_of(const struct plugin *plugin)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < plugin->n; i++)
        mask |= plugin->is_process[i] ? 0 : 1u << plugin->positions[i];
    return mask;
}

static uint32_t thread_begin(void **ret_state)
{
    uint32_t mask = 0;
    struct states *states = calloc(1, sizeof *states);
    for (uint32_t i = 0; i < n_plugins && states; i++) {
        const struct pm_metric_source *source = plugins[i].source;
        int error = source && source->thread_begin ? source->thread_begin(&states->of[i]) : 0;
        if (error)
            say("a thread is not counted: library ", plugins[i].file, strerror(error));
        if (!source || error)
            continue;
        states->is_begun |= 1u << i;
        mask |= items_of(&plugins[i]);
    }
    *ret_state = states;
    return mask;
}

static uint32_t read_all(void *state, uint64_t *values)
{
    const struct states *states = state;
    uint32_t known = 0;
    for (uint32_t i = 0; i < n_plugins && states; i++) {
        uint64_t own[PM_COUNTERS_MAX];
        const struct plugin *plugin = &plugins[i];
        uint32_t mask = items_of(plugin);
        if (!(states->is_begun & 1u << i) || !mask || plugin->source->read(states->of[i], own) != 0)
            continue;
        for (uint32_t k = 0; k < plugin->n; k++)
            values[plugin->positions[k]] = own[plugin->indices[k]];
        known |= mask;
    }
    return known;
}

static void thread_end(void *state)
{
    struct states *states = state;
    for (uint32_t i = 0; i < n_plugins && states; i++)
        if (states->is_begun & 1u << i && plugins[i].source->thread_end)
            plugins[i].source->thread_end(states->of[i]);
    free(states);
}

static bool read_process(uint32_t position, uint64_t *ret_number)
{
    for (uint32_t i = 0; i < n_plugins; i++)
        for (uint32_t k = 0; k < plugins[i].n; k++) {
            uint64_t own[PM_COUNTERS_MAX];
            if (plugins[i].positions[k] != position || !plugins[i].is_process[k])
                continue;
            if (!plugins[i].source || plugins[i].source->read(NULL, own) != 0)
                return false;
            *ret_number = own[plugins[i].indices[k]];
            return true;
        }
    return false;
}

const struct source_kind source_plugins = {.begin = begin,
                                           .thread_begin = thread_begin,
                                           .read = read_all,
                                           .thread_end = thread_end,
                                           .read_process = read_process};
