/* Which code lies where, and when: for each address of a sample the run file must tell the
 * object, so all of them are written down while samples are taken: libraries without sleds, the
 * vdso, our own library and trampolines.
 *
 * Generations. When something is loaded where something else was before, one address has two
 * meanings. From then on samples carry the next generation, and each object the first and the
 * last one in which it was there. What is loaded again at its old place, which nothing had
 * meanwhile, simply goes on.
 *
 * Below probes, only a sorted table of code is read. There are two, written by turns; a reader
 * looks whether its own was still the valid one when it was done.
 */
#include "runtime/code/places.h"
#include "runtime/code/object.h"
#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "runtime/base/sys.h"
#include "runtime/tree/tree.h"
#include "runtime/code/scan.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum {
    FIRST_PLAIN_INDEX = 1 << 16, /* above those of objects with nouns */
    FIRST_PLACES = 256,
    N_STARTS = 16,
};

struct place {
    struct pm_object *object; /* with nouns: it owns the chunk; NULL: others */
    struct pm_run_object *chunk;
    uintptr_t low, high, bias;
    const ElfW(Phdr) * phdr; /* NULL: all of it is code */
    uint16_t n_phdr;
    bool loaded, present, permanent, has_sleds, is_language, is_cxx;
    uint8_t kind;
};
static struct place *places;
static uint32_t n_places, max_places, n_plain;
static bool started; /* the libraries of the start stay for ever */

static uint64_t starts_ns[N_STARTS]; /* of the last generations */

bool pm_places_are_on(void)
{
    return pm_sample_is_on() || pm_process.heap;
}

/* --- the table --- */

struct range {
    uintptr_t low, high;
    /* calls: samples in libraries that it calls are its. Code with sleds; where no object has
     * any, all but the languages' libraries. */
    bool calls, permanent, own;
    struct pm_tables tables;
};
struct table {
    uint32_t n, capacity;
    struct range ranges[];
};
static struct table *tables[2];
static uint32_t published;           /* the valid one is tables[published & 1] */
static uint32_t unstable, n_readers; /* of code that may go */
static uint8_t has_cxx;

static bool find_range(uint64_t address, struct range *ret_range)
{
    for (int i = 0; i < 3; i++) {
        uint32_t number = __atomic_load_n(&published, __ATOMIC_ACQUIRE);
        const struct table *table = pm_load(tables[number & 1]);
        if (table == NULL)
            return false;
        uint32_t low = 0, high = pm_load(table->n);
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (table->ranges[middle].high <= address)
                low = middle + 1;
            else
                high = middle;
        }
        bool found = low < pm_load(table->n) && table->ranges[low].low <= address;
        if (found)
            *ret_range = table->ranges[low];
        if (__atomic_load_n(&published, __ATOMIC_ACQUIRE) == number)
            return found;
    }
    return false;
}

static void insert_range(struct table *table, struct range range)
{
    uint32_t i = table->n++;
    for (; i > 0 && table->ranges[i - 1].low > range.low; i--)
        table->ranges[i] = table->ranges[i - 1];
    table->ranges[i] = range;
}

/* PT_GNU_EH_FRAME, and the segment that it is in, which has .eh_frame, too. */
static struct pm_tables tables_of(const struct place *place)
{
    struct pm_tables tables = {0};
    uintptr_t header = 0;
    for (unsigned i = 0; place->phdr != NULL && i < place->n_phdr; i++)
        if (place->phdr[i].p_type == PT_GNU_EH_FRAME)
            header = place->bias + place->phdr[i].p_vaddr;
    for (unsigned i = 0; header != 0 && i < place->n_phdr; i++) {
        const ElfW(Phdr) *p = &place->phdr[i];
        uintptr_t low = place->bias + p->p_vaddr, high = low + p->p_filesz;
        if (p->p_type == PT_LOAD && (p->p_flags & PF_R) && header >= low && header < high)
            tables = (struct pm_tables){(const uint8_t *)header, (const uint8_t *)low,
                                        (const uint8_t *)high};
    }
    return tables;
}

static void add_ranges(struct table *table, const struct place *place, bool any_sleds)
{
    bool own = place->kind == PM_RUN_OBJECT_RUNTIME;
    bool calls = any_sleds ? place->has_sleds : !own && !place->is_language;
    struct range range = {place->low, place->high, calls, place->permanent, own, tables_of(place)};
    if (place->phdr == NULL && table->n < table->capacity)
        insert_range(table, range);
    for (unsigned i = 0; place->phdr != NULL && i < place->n_phdr && table->n < table->capacity;
         i++) {
        const ElfW(Phdr) *p = &place->phdr[i];
        range.low = place->bias + p->p_vaddr;
        range.high = range.low + p->p_memsz;
        if (p->p_type == PT_LOAD && (p->p_flags & PF_X))
            insert_range(table, range);
    }
}

/* A table that became too small stays: someone may be reading it. */
static void publish(void)
{
    uint32_t n = 0, next = published + 1;
    bool any_sleds = false, any_cxx = false;
    for (uint32_t i = 0; i < n_places; i++) {
        n += places[i].loaded ? 4 : 0;
        any_cxx |= places[i].loaded && places[i].is_cxx;
        any_sleds |= places[i].loaded && places[i].has_sleds;
    }
    struct table *table = tables[next & 1];
    if (table == NULL || table->capacity < n) {
        uint32_t capacity = n * 2;
        table = pm_private_memory(sizeof *table + capacity * sizeof(struct range));
        if (table == NULL)
            return;
        table->capacity = capacity;
        pm_store(tables[next & 1], table);
    }
    table->n = 0;
    for (uint32_t i = 0; i < n_places; i++)
        if (places[i].loaded)
            add_ranges(table, &places[i], any_sleds);
    pm_store(has_cxx, any_cxx);
    __atomic_store_n(&published, next, __ATOMIC_RELEASE);
    __atomic_store_n(&unstable, 0, __ATOMIC_RELEASE);
}

/* --- generations --- */

static bool overlaps(const struct place *p, uintptr_t low, uintptr_t high)
{
    return p->low < high && low < p->high;
}

static bool covers(const struct place *p, uintptr_t low, uintptr_t high)
{
    return p->chunk != NULL && overlaps(p, low, high);
}

static void next_generation(void)
{
    uint16_t next = (uint16_t)(pm_process.generation + 1);
    if (next == 0) { /* addresses stay ambiguous */
        static bool said;
        if (!said)
            pm_file_message(PM_RUN_MSG_LIMIT,
                            "libraries were loaded at each other's addresses more than 65535 "
                            "times: samples in later ones may have the name of another library",
                            NULL);
        said = true;
        return;
    }
    starts_ns[next % N_STARTS] = pm_monotonic_ns();
    pm_barrier();
    pm_store(pm_process.generation, next);
}

/* Before something new comes to lie there. */
static void make_room(uintptr_t low, uintptr_t high)
{
    for (uint32_t i = 0; i < n_places; i++)
        if (covers(&places[i], low, high) && !places[i].loaded &&
            places[i].chunk->unloaded_generation == pm_process.generation) {
            next_generation();
            return;
        }
}

/* Has nothing been where it was, since it went? */
static bool can_go_on(const struct place *p)
{
    for (uint32_t i = 0; i < n_places; i++)
        if (&places[i] != p && covers(&places[i], p->low, p->high) &&
            places[i].chunk->loaded_generation > p->chunk->unloaded_generation)
            return false;
    return true;
}

uint16_t pm_places_generation(uint64_t time_ns)
{
    uint16_t generation = pm_load(pm_process.generation);
    for (unsigned i = 1; i < N_STARTS && generation > 1; i++, generation--)
        if (time_ns == 0 || starts_ns[generation % N_STARTS] <= time_ns)
            break;
    return generation;
}

/* --- places --- */

static struct place *new_place(void)
{
    if (n_places == max_places) {
        uint32_t grown = max_places != 0 ? max_places * 2 : FIRST_PLACES;
        struct place *old = places, *more = pm_private_memory(grown * sizeof *more);
        if (more == NULL)
            return NULL;
        if (old != NULL)
            memcpy(more, old, n_places * sizeof *old);
        pm_store(places, more);
        if (old != NULL)
            pm_sys(SYS_munmap, old, max_places * sizeof *old);
        max_places = grown;
    }
    places[n_places] = (struct place){.loaded = true, .present = true, .permanent = !started};
    return &places[n_places++];
}

static void begin_life(struct place *p)
{
    p->loaded = p->present = true;
    p->chunk->kind = p->kind;
    p->chunk->loaded_generation = pm_process.generation;
    pm_store(p->chunk->unloaded_generation, 0);
    pm_store(p->chunk->unloaded_tsc, 0);
}

static void end_life(struct place *p)
{
    p->loaded = false;
    pm_store(p->chunk->unloaded_generation, pm_process.generation);
    pm_store(p->chunk->unloaded_tsc, pm_tsc());
}

/* A chunk without nouns. */
static struct pm_run_object *record(const struct pm_object *o, const struct stat *info)
{
    uint64_t bytes;
    struct pm_run_object *chunk = pm_object_chunk(o, info, 0, &bytes);
    if (chunk != NULL)
        chunk->index = FIRST_PLAIN_INDEX + n_plain++;
    return chunk;
}

static void add_region(uintptr_t low, uintptr_t high)
{
    static const struct stat nothing;
    static struct pm_object region = {.path = "[perfmap]"};
    for (uint32_t i = 0; i < n_places; i++) {
        struct place *p = &places[i];
        if (p->phdr == NULL && p->low == low && p->high == high && !p->loaded && can_go_on(p)) {
            uint32_t since = p->chunk->loaded_generation;
            begin_life(p);
            p->chunk->loaded_generation = since;
            return;
        }
    }
    make_room(low, high);
    region.low = low;
    region.high = high;
    struct place *p = new_place();
    if (p == NULL)
        return;
    p->low = low;
    p->high = high;
    p->kind = PM_RUN_OBJECT_RUNTIME;
    p->chunk = record(&region, &nothing);
    if (p->chunk == NULL)
        n_places--;
    else
        begin_life(p);
}

static struct place *place_of(const struct pm_object *object)
{
    for (uint32_t i = 0; i < n_places; i++)
        if (places[i].object == object)
            return &places[i];
    return NULL;
}

/* May a chunk whose object was unloaded stand for the object that is loaded now? Where samples
 * may mean the old place, that one is written down anew. */
bool pm_places_continue(const struct pm_object *twin, const struct pm_object *now)
{
    struct place *p = pm_places_are_on() ? place_of(twin) : NULL;
    if (p == NULL || (p->bias == now->bias && p->low == now->low && can_go_on(p)))
        return true;
    struct pm_run_object *chunk = pm_object_copy(twin->chunk, FIRST_PLAIN_INDEX + n_plain++);
    struct place *old = chunk != NULL ? new_place() : NULL;
    if (old == NULL)
        return false;
    p = place_of(twin); /* it may have moved */
    *old = *p;
    old->object = NULL;
    old->chunk = chunk;
    p->low = p->high = 0; /* until it is added */
    return true;
}

void pm_places_add_object(struct pm_object *o)
{
    if (!pm_places_are_on() || o->chunk == NULL)
        return;
    struct place *p = place_of(o);
    bool goes_on = p != NULL && p->bias == o->bias && p->low == o->low && can_go_on(p);
    uint32_t since = goes_on ? p->chunk->loaded_generation : 0;
    if (!goes_on)
        make_room(o->low, o->high);
    if (p == NULL && (p = new_place()) == NULL)
        return;
    p->object = o;
    p->chunk = o->chunk;
    p->low = o->low;
    p->high = o->high;
    p->bias = o->bias;
    p->phdr = o->phdr;
    p->n_phdr = o->n_phdr;
    p->has_sleds = true;
    begin_life(p);
    if (goes_on)
        p->chunk->loaded_generation = since;
    if (o->code != NULL)
        add_region((uintptr_t)o->code, (uintptr_t)o->code + o->code_bytes);
}

void pm_places_drop_object(struct pm_object *o)
{
    for (uint32_t i = 0; i < n_places; i++) {
        struct place *p = &places[i];
        bool trampolines = o->code != NULL && p->phdr == NULL && p->low == (uintptr_t)o->code;
        if (p->loaded && (p->object == o || trampolines))
            end_life(p);
    }
}

/* --- all other objects --- */

static bool same_file(const struct pm_run_object *chunk, const struct pm_object *o,
                      const struct stat *info)
{
    size_t bytes = strlen(o->path);
    return chunk->inode == info->st_ino && chunk->device == info->st_dev &&
           chunk->file_bytes == (uint64_t)info->st_size && chunk->path_bytes == bytes &&
           memcmp((const char *)chunk + chunk->strings_offset, o->path, bytes) == 0;
}

static struct place *unloaded_before(const struct pm_object *o, const struct stat *info)
{
    for (uint32_t i = 0; i < n_places; i++) {
        struct place *p = &places[i];
        if (!p->loaded && p->object == NULL && p->phdr != NULL && p->bias == o->bias &&
            p->low == o->low && p->high == o->high && same_file(p->chunk, o, info) && can_go_on(p))
            return p;
    }
    return NULL;
}

/* The runtime, what follows the heap, adapters. */
static bool is_own(const struct pm_object *o)
{
    static const char ours[] = "libperfmap-";
    uintptr_t own = (uintptr_t)&pm_slow;
    const char *name = o->path, *end = name + strlen(name);
    for (const char *p = name; p < end; p++)
        if (*p == '/')
            name = p + 1;
    return (own >= o->low && own < o->high) ||
           ((size_t)(end - name) >= sizeof ours && memcmp(name, ours, sizeof ours - 1) == 0);
}

static bool begins_with_any(const struct pm_object *o, const char *const *names, size_t n_names)
{
    const char *name = o->path;
    for (const char *p = name; *p != 0; p++)
        if (*p == '/')
            name = p + 1;
    for (size_t i = 0; i < n_names; i++) {
        size_t n = 0;
        while (names[i][n] != 0 && name[n] == names[i][n])
            n++;
        if (names[i][n] == 0)
            return true;
    }
    return false;
}

/* What programs of a language call without knowing: its library is not where a user looks for
 * time. */
static bool is_language(const struct pm_object *o)
{
    static const char *const names[] = {
        "libc.so",        "libc-2",         "libm.so",    "libm-2",       "libmvec",
        "ld-linux",       "ld-2",           "libpthread", "libstdc++.so", "libgcc_s.so",
        "libgfortran.so", "libquadmath.so", "libgomp.so", "libc++.so",    "[vdso]"};
    return begins_with_any(o, names, sizeof names / sizeof *names);
}

static bool is_cxx(const struct pm_object *o)
{
    static const char *const names[] = {"libstdc++.so", "libc++.so"};
    return begins_with_any(o, names, sizeof names / sizeof *names);
}

static void add_plain(const struct pm_object *o, const struct stat *info)
{
    struct place *p = unloaded_before(o, info);
    uint32_t since = p != NULL ? p->chunk->loaded_generation : 0;
    if (p == NULL) {
        make_room(o->low, o->high);
        if ((p = new_place()) == NULL)
            return;
        p->chunk = record(o, info);
        if (p->chunk == NULL) {
            n_places--;
            return;
        }
        since = pm_process.generation;
    }
    p->low = o->low;
    p->high = o->high;
    p->bias = o->bias;
    p->phdr = o->phdr;
    p->n_phdr = o->n_phdr;
    p->kind = is_own(o) ? PM_RUN_OBJECT_RUNTIME : PM_RUN_OBJECT_ELF;
    p->is_language = is_language(o);
    p->is_cxx = is_cxx(o);
    begin_life(p);
    p->chunk->loaded_generation = since;
}

static bool is_known(const struct dl_phdr_info *info)
{
    for (uint32_t i = 0; i < n_places; i++)
        if (places[i].loaded && places[i].phdr == info->dlpi_phdr &&
            places[i].bias == info->dlpi_addr) {
            places[i].present = true;
            return true;
        }
    return false;
}

static bool has_folder(const char *path)
{
    for (; path != NULL && *path != 0; path++)
        if (*path == '/')
            return true;
    return false;
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct {
        bool first, sweep;
    } *walk = data;
    bool is_program = walk->first;
    walk->first = false;
    if (is_known(info) || walk->sweep)
        return 0;
    static struct pm_object o;
    o = (struct pm_object){.bias = info->dlpi_addr,
                           .phdr = info->dlpi_phdr,
                           .n_phdr = info->dlpi_phnum,
                           .file_bytes = UINT64_MAX,
                           .path = "[vdso]"};
    struct stat file = {0};
    const char *path = is_program ? "/proc/self/exe" : info->dlpi_name;
    long fd = is_program || has_folder(path)
                  ? pm_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC)
                  : -1;
    if (fd >= 0) {
        if (pm_sys(SYS_newfstatat, fd, "", &file, AT_EMPTY_PATH) == 0)
            o.file_bytes = (uint64_t)file.st_size;
        pm_object_set_path(&o, (int)fd);
        pm_sys(SYS_close, fd);
    } else if (has_folder(path)) { /* cannot be read (any more) */
        size_t bytes = strlen(path);
        memcpy(o.path, path, bytes < sizeof o.path ? bytes + 1 : 1);
        o.file_bytes = 0;
    }
    pm_object_extent(&o);
    if (o.low < o.high)
        add_plain(&o, &file);
    return 0;
}

/* First what went, then what came: it may lie where that was. */
void pm_places_update(void)
{
    if (!pm_places_are_on() || pm_process.file.header == NULL) {
        started = true;
        return;
    }
    struct {
        bool first, sweep;
    } walk = {true, true};
    for (uint32_t i = 0; i < n_places; i++)
        places[i].present = places[i].object != NULL || places[i].phdr == NULL;
    pm_objects_walk(visit, &walk);
    for (uint32_t i = 0; i < n_places; i++)
        if (places[i].loaded && !places[i].present)
            end_life(&places[i]);
    walk.first = true;
    walk.sweep = false;
    pm_objects_walk(visit, &walk);
    publish();
    started = true;
}

void pm_places_rewrite(void)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n_places; i++) {
        struct place p = places[i];
        if (p.object != NULL) {
            p.chunk = p.object->chunk;
        } else if (!p.loaded) {
            continue; /* no sample of ours is in it */
        } else {
            struct pm_run_object *chunk = pm_object_copy(p.chunk, p.chunk->index);
            if (chunk == NULL)
                continue;
            p.chunk = chunk;
        }
        places[kept++] = p;
    }
    n_places = kept;
}

void pm_places_unstable(void)
{
    __atomic_store_n(&unstable, 1, __ATOMIC_SEQ_CST);
    for (unsigned i = 0; i < 1000 && __atomic_load_n(&n_readers, __ATOMIC_SEQ_CST) != 0; i++)
        pm_sys(SYS_sched_yield);
}

/* --- who called --- */

bool pm_places_is_foreign(uint64_t address)
{
    struct range range;
    return !find_range(address, &range) || !(range.calls || range.own);
}

bool pm_places_is_own(uint64_t address)
{
    struct range range;
    return find_range(address, &range) && range.own;
}

/* Trampolines go with their object, as its code does: see is_return_address. */
bool pm_places_probe(uint64_t address, struct pm_probe_place *ret_place)
{
    struct range range;
    bool found = false;
    if (!find_range(address, &range) || !range.own)
        return false;
    if (pm_places_hold())
        for (uint32_t i = 0; i < pm_load(pm_n_objects) && !found; i++) {
            const struct pm_object *o = pm_load(pm_objects[i]);
            uintptr_t code = o != NULL && o->loaded ? (uintptr_t)o->code : 0;
            found = code != 0 && address >= code && address - code < o->code_bytes &&
                    pm_arch_probe_at(o, address, ret_place);
        }
    pm_places_release();
    return found;
}

bool pm_places_find(uint64_t address, struct pmr_place *ret_place)
{
    struct range range;
    if (!find_range(address, &range))
        return false;
    *ret_place = (struct pmr_place){range.calls, range.own, range.tables};
    return true;
}

static const struct pm_object *object_with(uint64_t address)
{
    for (uint32_t i = 0; i < pm_load(pm_n_objects); i++) {
        const struct pm_object *o = pm_load(pm_objects[i]);
        if (o != NULL && o->loaded && address >= o->low && address < o->high)
            return o;
    }
    return NULL;
}

bool pm_places_have_cxx(void)
{
    return pm_load(has_cxx);
}

/* The first sled from its start on is its own, or that of a function behind it. */
bool pm_places_lacks_sled(uint64_t address, const struct pm_tables *tables)
{
    const struct pm_object *o = object_with(address);
    uint64_t start = o != NULL && !o->portable ? pm_unwind_function(tables, address) : 0;
    if (start == 0 || o->sleds == NULL)
        return false;
    uint32_t low = 0, high = o->n_sleds;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (o->sleds[middle].address < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low == o->n_sleds || pm_unwind_function(tables, o->sleds[low].address) != start;
}

bool pm_places_hold(void)
{
    __atomic_fetch_add(&n_readers, 1, __ATOMIC_SEQ_CST);
    return __atomic_load_n(&unstable, __ATOMIC_SEQ_CST) == 0;
}

void pm_places_release(void)
{
    __atomic_fetch_sub(&n_readers, 1, __ATOMIC_RELEASE);
}

/* Is there a call in front of this address? Direct calls are told from data by where they lead;
 * of calls through registers and memory (ff /2) all lengths are tried. */
static bool is_behind_call(const uint8_t *p)
{
    if (p[-5] == 0xe8) {
        int32_t distance;
        struct range target;
        __builtin_memcpy(&distance, p - 4, sizeof distance);
        if (find_range((uint64_t)p + (uint64_t)(int64_t)distance, &target))
            return true;
    }
    unsigned last = p[-1], near = p[-2];
    return (p[-2] == 0xff && ((last & 0xf8) == 0xd0 || /* register */
                              ((last & 0xf8) == 0x10 && last != 0x14 && last != 0x15))) ||
           (p[-3] == 0xff && (((near & 0xf8) == 0x50 && near != 0x54) || near == 0x14)) ||
           (p[-4] == 0xff && p[-3] == 0x54) ||
           (p[-6] == 0xff && (p[-5] == 0x15 || ((p[-5] & 0xf8) == 0x90 && p[-5] != 0x94))) ||
           (p[-7] == 0xff && p[-6] == 0x94);
}

/* Code of a library that may be unloaded is read only while the loader is not at it: it waits
 * for those that drain a sampler (pm_places_unstable, then pm_sample_wait), and for readers. */
static bool is_return_address(uint64_t word, const struct range *range)
{
    if (range->permanent)
        return is_behind_call((const uint8_t *)word);
    bool found = pm_places_hold() && is_behind_call((const uint8_t *)word);
    pm_places_release();
    return found;
}

bool pm_places_is_return(uint64_t address)
{
    struct range range;
    return find_range(address, &range) && address - range.low >= 8 &&
           is_return_address(address, &range);
}

uint64_t pm_places_next_caller(const uint8_t *stack, uint64_t bytes, uint64_t *at)
{
    for (; *at + 8 <= bytes; *at += 8) {
        uint64_t word;
        struct range range;
        __builtin_memcpy(&word, stack + *at, sizeof word);
        if (word >= 4096 && find_range(word, &range) && range.calls && word - range.low >= 8 &&
            is_return_address(word, &range)) {
            *at += 8;
            return word;
        }
    }
    return 0;
}

uint64_t pm_places_caller(const uint8_t *stack, uint64_t bytes)
{
    uint64_t at = 0;
    return pm_places_next_caller(stack, bytes, &at);
}
