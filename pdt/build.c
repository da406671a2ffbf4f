/* All units, read in threads, and then one database of them. */
#include "facts.h"
#include "pdb.h"
#include "previous.h"
#include "reader.h"
#include "store.h"

#include "mapping/base/map.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STACK_BYTES = 64 << 20, MAX_THREADS = 256 };

struct building {
    struct pdt_build *build;
    const struct pdt_clang *clang;
    struct pdt_commands commands;
    struct pdt_facts facts;
    struct pdt_previous *previous;
    struct pdt_unit *units;
    uint32_t n_units;
    pthread_mutex_t lock;
    uint32_t next, n_done, n_to_read; /* under the lock */
    const char *directory;            /* whose units are read now */
    struct pm_map pooled;             /* first half of a group's hash: its id in the new database */
};

static void note(const struct pdt_build *build, const char *text)
{
    if (build->note)
        build->note(build->context, text);
}

/* Everything that says what a unit's groups are, but for its files. */
static uint64_t unit_key(const struct building *building, const struct pdt_command *command)
{
    static const char reader[] = "6 " PERFMAP_VERSION;
    uint64_t key = pdt_key(reader, sizeof reader, PDT_VERSION);
    key = pdt_key(building->clang->version, strlen(building->clang->version), key);
    key = pdt_key(command->directory, strlen(command->directory) + 1, key);
    key = pdt_key(command->file, strlen(command->file) + 1, key);
    for (uint32_t i = 0; i < command->n_arguments; i++)
        key = pdt_key(command->arguments[i], strlen(command->arguments[i]) + 1, key);
    return key | 1;
}

/* --- threads --- */

static struct pdt_unit *take(struct building *building)
{
    struct pdt_unit *unit = NULL;
    pthread_mutex_lock(&building->lock);
    while (building->next < building->n_units && !unit) {
        unit = &building->units[building->next++];
        if (unit->is_kept || strcmp(unit->command->directory, building->directory) != 0)
            unit = NULL;
    }
    pthread_mutex_unlock(&building->lock);
    return unit;
}

static void *read_units(void *context)
{
    struct building *building = context;
    struct pdt_build *build = building->build;
    for (struct pdt_unit *unit; (unit = take(building));) {
        pdt_read_unit(building->clang, unit);
        pthread_mutex_lock(&building->lock);
        building->n_done++;
        if (build->progress)
            build->progress(build->context, building->n_done, building->n_to_read,
                            unit->command->file);
        pthread_mutex_unlock(&building->lock);
    }
    return NULL;
}

static unsigned thread_count(const struct building *building)
{
    long n = building->build->n_threads ? (long)building->build->n_threads
                                        : sysconf(_SC_NPROCESSORS_ONLN);
    if (n > (long)building->n_to_read)
        n = (long)building->n_to_read;
    if (n < 1)
        return 1;
    return n > MAX_THREADS ? MAX_THREADS : (unsigned)n;
}

/* Deep expressions need deep stacks. A thread that cannot be had is missed by nobody. */
static enum pm_status read_directory(struct building *building, struct pm_error *err)
{
    pthread_t threads[MAX_THREADS];
    pthread_attr_t attributes;
    unsigned n = thread_count(building), begun = 0;
    int errnum = 0;
    building->next = 0;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    while (begun < n &&
           (errnum = pthread_create(&threads[begun], &attributes, read_units, building)) == 0)
        begun++;
    for (unsigned i = 0; i < begun; i++)
        pthread_join(threads[i], NULL);
    pthread_attr_destroy(&attributes);
    return begun ? PM_OK : pm_error_system(err, errnum, "cannot start a thread");
}

static bool is_first_of_directory(const struct building *building, uint32_t unit)
{
    const char *directory = building->units[unit].command->directory;
    if (building->units[unit].is_kept)
        return false;
    for (uint32_t i = 0; i < unit; i++)
        if (!building->units[i].is_kept &&
            !strcmp(building->units[i].command->directory, directory))
            return false;
    return true;
}

/* Relative names are meant from the command's folder, and clang 14 takes its own option for that
 * as the process's. So folders come one after the other. */
static enum pm_status read_all(struct building *building, struct pm_error *err)
{
    enum pm_status status = PM_OK;
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (here < 0)
        return pm_error_system(err, errno, "cannot open the folder at hand");
    for (uint32_t i = 0; status == PM_OK && i < building->n_units; i++) {
        if (!is_first_of_directory(building, i))
            continue;
        building->directory = building->units[i].command->directory;
        if (chdir(building->directory) == 0)
            status = read_directory(building, err);
        else
            for (uint32_t k = i; k < building->n_units; k++)
                if (!strcmp(building->units[k].command->directory, building->directory))
                    pdt_unit_fail(&building->units[k], "its folder is not there (any more)");
    }
    if (fchdir(here) != 0 && status == PM_OK)
        status = pm_error_system(err, errno, "cannot go back to the folder at hand");
    close(here);
    return status;
}

/* --- one database of all --- */

static enum pm_status store_one_group(struct building *building, struct pdt_store *store,
                                      struct pm_str data, const uint8_t hash[16],
                                      struct pm_error *err, int64_t *ret_id)
{
    uint64_t key;
    memcpy(&key, hash, sizeof key);
    uint32_t *slot = pm_map_at(&building->pooled, key);
    if (!slot)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (*slot) {
        *ret_id = *slot;
        return PM_OK;
    }
    enum pm_status status = pdt_store_group(store, data, hash, err, ret_id);
    if (status != PM_OK)
        return status;
    *slot = (uint32_t)*ret_id;
    return PM_OK;
}

/* The n-th group of a unit; false past the last. */
static bool nth_group(const struct building *building, const struct pdt_unit *unit, uint32_t n,
                      struct pm_str *ret_data, const uint8_t **ret_hash)
{
    if (unit->is_kept) {
        const struct pdt_pooled *old = pdt_previous_group(building->previous, unit->key, n);
        if (!old)
            return false;
        *ret_data = old->data;
        *ret_hash = old->hash;
        return true;
    }
    if (!unit->is_read || n >= unit->n_groups)
        return false;
    *ret_data = (struct pm_str){unit->groups[n].data.data, unit->groups[n].data.len};
    *ret_hash = unit->groups[n].hash;
    return true;
}

static enum pm_status store_groups(struct building *building, struct pdt_store *store,
                                   const struct pdt_unit *unit, int64_t *ids, uint32_t *ret_n,
                                   struct pm_error *err)
{
    struct pm_str data;
    const uint8_t *hash;
    for (uint32_t n = 0; nth_group(building, unit, n, &data, &hash); n++) {
        enum pm_status status = store_one_group(building, store, data, hash, err, &ids[n]);
        if (status != PM_OK)
            return status;
        *ret_n = n + 1;
    }
    return PM_OK;
}

static uint32_t count_groups(const struct building *building, const struct pdt_unit *unit)
{
    uint32_t n = unit->n_groups;
    while (unit->is_kept && pdt_previous_group(building->previous, unit->key, n))
        n++;
    return n;
}

static enum pm_status store_unit(struct building *building, struct pdt_store *store,
                                 const struct pdt_unit *unit, struct pm_error *err)
{
    uint32_t most = count_groups(building, unit), n = 0;
    int64_t *ids = pm_alloc_array(most + 1u, sizeof *ids);
    if (!ids)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    enum pm_status status = store_groups(building, store, unit, ids, &n, err);
    if (status != PM_OK)
        goto out;
    status = pdt_store_unit(store, unit, ids, n, err);
out:
    free(ids);
    return status;
}

static enum pm_status store_units(struct building *building, struct pdt_store *store,
                                  struct pm_error *err)
{
    for (uint32_t i = 0; i < building->n_units; i++) {
        enum pm_status status = store_unit(building, store, &building->units[i], err);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static void count(struct building *building, const struct pdt_store *store)
{
    struct pdt_build *build = building->build;
    build->n_routines = pdt_store_n(store, 'r');
    build->n_loops = pdt_store_n(store, 'l');
    build->n_calls = pdt_store_n(store, 'c');
    build->n_accesses = pdt_store_n(store, 'a');
}

static enum pm_status write_all(struct building *building, int64_t began_ns, struct pm_error *err)
{
    struct pm_database *pdb;
    struct pdt_store *store = NULL;
    enum pm_status status = pm_database_create(&pdt_kind, building->build->output, err, &pdb);
    if (status != PM_OK)
        return status;
    status = pdt_store_new(pdb, err, &store);
    if (status != PM_OK)
        goto out;
    status = store_units(building, store, err);
    if (status != PM_OK)
        goto out;
    status = pdt_facts_store(&building->facts, store, err);
    if (status != PM_OK)
        goto out;
    status = pdt_store_end(store, began_ns, building->clang ? building->clang->version : "", err);
    if (status != PM_OK)
        goto out;
    count(building, store);
    pdt_store_free(store);
    return pm_database_finish(pdb, err);
out:
    pdt_store_free(store);
    pm_database_discard(pdb);
    return status;
}

/* --- before and after --- */

/* Each command once, and what is known of it already. */
static enum pm_status make_units(struct building *building, struct pm_error *err)
{
    struct pm_map seen = {0};
    building->units = pm_alloc_array(building->commands.n + 1u, sizeof *building->units);
    bool good = building->units != NULL;
    for (uint32_t i = 0; good && i < building->commands.n; i++) {
        struct pdt_unit *unit = &building->units[building->n_units];
        *unit = (struct pdt_unit){.command = &building->commands.items[i]};
        unit->key = unit_key(building, unit->command);
        uint32_t *slot = pm_map_at(&seen, unit->key);
        if (!slot)
            good = false;
        else if (!*slot) {
            *slot = ++building->n_units;
            building->n_to_read += !pdt_previous_keep(building->previous, unit);
        }
    }
    pm_map_release(&seen);
    return good ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* What is no program database is not overwritten; one that cannot be used is, and is told of. */
static enum pm_status load_previous(struct building *building, struct pm_error *err)
{
    struct pdt_build *build = building->build;
    struct pm_error problem = PM_ERROR_INIT;
    struct stat st;
    if (stat(build->output, &st) != 0 || st.st_size == 0)
        return PM_OK;
    enum pm_status status = pdt_previous_load(build->output, &problem, &building->previous);
    if (status != PM_OK && strstr(pm_error_text(&problem), "is not a program database"))
        status = pm_error_set(err, PM_ERR_USAGE,
                              "'%s' exists and is no program database: it is "
                              "not replaced",
                              build->output);
    else if (status == PM_ERR_MEMORY)
        pm_error_set(err, status, "%s", pm_error_text(&problem));
    else if (status != PM_OK) {
        struct pm_buf text = PM_BUF_INIT(8192);
        pm_buf_printf(&text, "%s; all units are read again", pm_error_text(&problem));
        note(build, text.data ? text.data : "all units are read again");
        pm_buf_release(&text);
        status = PM_OK;
    }
    pm_error_release(&problem);
    if (status != PM_OK)
        return status;
    if (build->is_anew) {
        pdt_previous_free(building->previous);
        building->previous = NULL;
    }
    return status;
}

static const char *what_befell(const struct pdt_unit *unit)
{
    if (!unit->is_read)
        return "was not read";
    return unit->n_errors ? "does not compile, what was understood is kept" : "was read in part";
}

static void tell_problems(struct building *building)
{
    struct pdt_build *build = building->build;
    build->n_units = building->n_units;
    for (uint32_t i = 0; i < building->n_units; i++) {
        const struct pdt_unit *unit = &building->units[i];
        struct pm_buf text = PM_BUF_INIT(8192);
        build->n_kept += unit->is_kept;
        build->n_read += unit->is_read && !unit->is_kept;
        build->n_failed += !unit->is_read;
        build->n_with_errors += unit->is_read && unit->n_errors > 0;
        if (unit->problem) {
            pm_buf_printf(&text, "'%s' %s: %s", unit->command->file, what_befell(unit),
                          unit->problem);
            if (unit->n_errors > 1)
                pm_buf_printf(&text, " (and %u more)", unit->n_errors - 1);
            note(build, text.data ? text.data : "");
        }
        pm_buf_release(&text);
    }
}

static void tell_left_out(const struct building *building)
{
    const struct pdt_commands *commands = &building->commands;
    char text[400];
    if (commands->n_fortran && !building->build->facts) {
        snprintf(text, sizeof text, "left out: %u of Fortran. %s", commands->n_fortran,
                 PDT_FORTRAN_HINT);
        note(building->build, text);
    }
    if (commands->n_assembler + commands->n_other) {
        snprintf(text, sizeof text,
                 "left out: %u of assembler, %u of other languages than C and C++",
                 commands->n_assembler, commands->n_other);
        note(building->build, text);
    }
}

/* A tree of Fortran alone has commands, too; with facts that is no mistake. */
static enum pm_status read_commands(struct building *building, struct pm_error *err)
{
    const struct pdt_build *build = building->build;
    struct pm_error problem = PM_ERROR_INIT;
    if (!build->commands)
        return PM_OK;
    enum pm_status status = pdt_commands_read(build->commands, &problem, &building->commands);
    const struct pdt_commands *commands = &building->commands;
    bool is_foreign = build->facts && status == PM_ERR_FORMAT && !commands->n &&
                      commands->n_fortran + commands->n_assembler + commands->n_other > 0;
    if (status != PM_OK && !is_foreign)
        pm_error_set(err, status, "%s", pm_error_text(&problem));
    pm_error_release(&problem);
    if (is_foreign)
        return PM_OK;
    if (status != PM_OK)
        return status;
    return pdt_clang_load(err, &building->clang);
}

static enum pm_status read_facts(struct building *building, struct pm_error *err)
{
    struct pdt_build *build = building->build;
    if (!build->facts)
        return PM_OK;
    enum pm_status status =
        pdt_facts_read(build->facts, build->note, build->context, err, &building->facts);
    build->n_facts = building->facts.n;
    build->n_damaged = building->facts.n_damaged;
    return status;
}

static enum pm_status build_all(struct building *building, struct pm_error *err)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t began_ns = now.tv_sec * 1000000000 + now.tv_nsec;
    enum pm_status status = read_commands(building, err);
    if (status != PM_OK)
        return status;
    status = read_facts(building, err);
    if (status != PM_OK)
        return status;
    status = load_previous(building, err);
    if (status != PM_OK)
        return status;
    status = make_units(building, err);
    if (status != PM_OK)
        return status;
    status = read_all(building, err);
    if (status != PM_OK)
        return status;
    tell_problems(building);
    tell_left_out(building);
    if (!building->facts.n && building->build->n_failed == building->n_units)
        return pm_error_set(err, PM_ERR_FORMAT, "none of %u files could be read",
                            building->n_units);
    return write_all(building, began_ns, err);
}

enum pm_status pdt_build(struct pdt_build *build, struct pm_error *err)
{
    struct building building = {.build = build};
    pthread_mutex_init(&building.lock, NULL);
    enum pm_status status = build_all(&building, err);
    for (uint32_t i = 0; i < building.n_units; i++)
        pdt_unit_release(&building.units[i]);
    free(building.units);
    pdt_previous_free(building.previous);
    pdt_facts_release(&building.facts);
    pdt_commands_release(&building.commands);
    pm_map_release(&building.pooled);
    pthread_mutex_destroy(&building.lock);
    return status;
}
