/* Loaded objects: which have sleds, what are their nouns, arming. Runs at start, and within dlopen
 * and dlclose under the loader's lock: one thread at a time. */
#include "runtime/code/object.h"
#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "runtime/base/sys.h"
#include "runtime/base/upward.h"
#include "runtime/tree/thread.h"
#include "runtime/code/calibration.h"
#include "runtime/code/hooks.h"
#include "runtime/code/modes.h"
#include "runtime/code/namespaces.h"
#include "runtime/code/patch.h"
#include "runtime/code/places.h"
#include "runtime/code/scan.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct pm_object *pm_objects[PM_MAX_OBJECTS];
uint32_t pm_n_objects;

enum { MAX_SEEN = 8192 };

/* What is loaded, with or without sleds, so that nothing is read twice. */
static struct seen {
    uintptr_t bias;
    const void *phdr;
    struct pm_object *object; /* NULL: none of interest */
    bool present, is_new;     /* is_new: its sleds are not armed yet */
} seen[MAX_SEEN];
static uint32_t n_seen;

/* --- in the run file --- */

/* The same file as an object that was unloaded, with the same nouns: its chunk is used again. */
static struct pm_object *unloaded_twin(const struct pm_object *o, const struct stat *info,
                                       const struct pm_scan *scan)
{
    for (uint32_t i = 0; i < pm_n_objects; i++) {
        struct pm_object *twin = pm_objects[i];
        if (twin == NULL || twin->loaded || twin->portable != o->portable || twin->chunk == NULL ||
            (!o->portable && twin->n_nouns != scan->n_nouns) ||
            twin->chunk->inode != info->st_ino || twin->chunk->device != info->st_dev ||
            twin->chunk->file_bytes != (uint64_t)info->st_size ||
            strlen(twin->path) != strlen(o->path) ||
            memcmp(twin->path, o->path, strlen(o->path)) != 0)
            continue;
        const struct pm_run_noun *nouns =
            (const struct pm_run_noun *)((const char *)twin->chunk + twin->chunk->nouns_offset);
        bool same = true;
        for (uint32_t k = 0; !o->portable && k < scan->n_nouns && same; k++)
            same = nouns[k].id == scan->nouns[k].id;
        if (same)
            return twin;
    }
    return NULL;
}

static void update_totals(const struct pm_object *o, int sign)
{
    struct pm_run_header *h = pm_process.file.header;
    h->n_sleds += (uint64_t)((int64_t)o->n_sleds * sign);
    pm_store(h->flags, h->flags & ~(uint32_t)PM_RUN_FLAG_NO_SLEDS);
}

struct pm_run_object *pm_object_chunk(const struct pm_object *o, const struct stat *info,
                                      uint32_t capacity, uint64_t *ret_bytes)
{
    uint32_t id_bytes;
    const uint8_t *build_id = pm_object_build_id(o, &id_bytes);
    uint32_t path_bytes = (uint32_t)strlen(o->path);
    uint32_t nouns_offset =
        ((uint32_t)sizeof(struct pm_run_object) + path_bytes + id_bytes + 7u) & ~7u;
    uint64_t bytes = nouns_offset + (uint64_t)capacity * sizeof(struct pm_run_noun), offset;
    struct pm_run_object *chunk = pm_file_chunk(PM_RUN_CHUNK_OBJECT, bytes, 0, &offset);
    if (chunk == NULL)
        return NULL;
    chunk->load_bias = o->bias;
    chunk->low = o->low;
    chunk->high = o->high;
    chunk->loaded_tsc = pm_tsc();
    chunk->inode = info->st_ino;
    chunk->device = info->st_dev;
    chunk->file_bytes = (uint64_t)info->st_size;
    chunk->mtime_ns =
        (uint64_t)info->st_mtim.tv_sec * 1000000000u + (uint64_t)info->st_mtim.tv_nsec;
    chunk->n_sleds = o->n_sleds;
    chunk->n_bad_sleds = o->n_bad;
    chunk->strings_offset = sizeof *chunk;
    chunk->nouns_offset = nouns_offset;
    memcpy((char *)(chunk + 1), o->path, path_bytes);
    if (id_bytes != 0)
        memcpy((char *)(chunk + 1) + path_bytes, build_id, id_bytes);
    chunk->path_bytes = path_bytes;
    chunk->build_id_bytes = id_bytes;
    *ret_bytes = bytes;
    return chunk;
}

struct pm_run_object *pm_object_copy(const struct pm_run_object *old, uint32_t index)
{
    uint64_t offset;
    struct pm_run_object *chunk = pm_file_chunk(PM_RUN_CHUNK_OBJECT, old->nouns_offset, 0, &offset);
    if (chunk == NULL)
        return NULL;
    memcpy((char *)chunk + sizeof chunk->chunk, (const char *)old + sizeof old->chunk,
           old->nouns_offset - sizeof old->chunk);
    chunk->index = index;
    return chunk;
}

/* Gives the object its number and nouns and writes it down, with room for `capacity` nouns. Signal
 * safe: portable objects grow. */
bool pm_object_record(struct pm_object *o, const struct stat *info, const struct pm_run_noun *nouns,
                      uint32_t n_nouns, uint32_t capacity)
{
    o->index = pm_add_shared(pm_n_objects, 1);
    if (o->index >= PM_MAX_OBJECTS) {
        pm_store(pm_n_objects, PM_MAX_OBJECTS);
        return false;
    }
    o->bank = (uint16_t)(o->index < PM_MAX_BANKS ? o->index : PM_MAX_BANKS);
    o->first_noun = pm_add_shared(pm_process.next_noun, capacity);
    o->n_nouns = capacity;
    uint64_t bytes;
    struct pm_run_object *chunk = pm_object_chunk(o, info, capacity, &bytes);
    if (chunk == NULL)
        return false;
    chunk->index = o->index;
    chunk->first_noun = o->first_noun;
    struct pm_run_noun *list = (struct pm_run_noun *)((char *)chunk + chunk->nouns_offset);
    if (n_nouns != 0)
        memcpy(list, nouns, (size_t)n_nouns * sizeof *nouns);
    pm_modes_begin(o, 0, list, n_nouns);
    pm_modes_follow_jumps(o, list);
    pm_barrier();
    pm_store(chunk->chunk.n_items, n_nouns);
    o->chunk = chunk;
    o->chunk_bytes = bytes;
    pm_store(pm_objects[o->index], o);
    return true;
}

static struct pm_object *take_over(struct pm_object *o, struct pm_object *twin)
{
    twin->bias = o->bias;
    twin->low = o->low;
    twin->high = o->high;
    twin->file_bytes = o->file_bytes;
    twin->phdr = o->phdr;
    twin->n_phdr = o->n_phdr;
    twin->n_sleds = o->n_sleds;
    twin->n_bad = o->n_bad;
    twin->sleds = o->sleds;
    twin->sleds_bytes = o->sleds_bytes;
    twin->chunk->load_bias = twin->bias;
    twin->chunk->low = twin->low;
    twin->chunk->high = twin->high;
    pm_store(twin->chunk->unloaded_tsc, 0);
    return twin;
}

static struct pm_object *record_object(struct pm_object *o, const struct stat *info,
                                       const struct pm_found *f, struct pm_scan *scan)
{
    if (o->n_sleds == 0 && o->n_bad == 0 && f->n_hooks == 0)
        return NULL;
    o->portable = o->n_sleds == 0 && f->n_hooks != 0; /* its nouns come as they show themselves */
    struct pm_object *twin = unloaded_twin(o, info, scan);
    if (twin != NULL && pm_places_continue(twin, o))
        return take_over(o, twin);
    if (!o->portable && !pm_object_record(o, info, scan->nouns, scan->n_nouns, scan->n_nouns))
        return NULL;
    return o;
}

/* --- arming --- */

static unsigned mode_of(const struct pm_object *o, uint32_t noun)
{
    const struct pmr_noun *n = noun < o->n_nouns ? pm_noun_at(o->first_noun + noun) : NULL;
    return n != NULL ? n->mode : pm_process.mode;
}

/* Each sled as its noun's mode says, if there are trampolines. */
static size_t collect_patches(struct pm_object *o, const ElfW(Phdr) * segment,
                              struct pm_patch *patches)
{
    uintptr_t low = o->bias + segment->p_vaddr, high = low + segment->p_memsz;
    size_t n = 0;
    for (uint32_t i = 0; i < o->n_sleds; i++) {
        struct pm_sled *sled = &o->sleds[i];
        unsigned mode = mode_of(o, sled->noun);
        if (sled->address < low || sled->address >= high ||
            !pm_arch_jump(o, sled, (enum pm_run_mode)mode, patches[n].bytes))
            continue;
        sled->armed = (uint8_t)mode;
        patches[n++].address = sled->address;
    }
    return n;
}

/* No thread can be running this code. */
static bool arm_fresh(struct pm_object *o)
{
    size_t bytes = (size_t)o->n_sleds * sizeof(struct pm_patch);
    struct pm_patch *patches = bytes != 0 ? pm_private_memory(bytes) : NULL;
    if (patches == NULL)
        return bytes == 0;
    const ElfW(Phdr) *p = o->phdr;
    bool good = true;
    for (unsigned i = 0; i < o->n_phdr; i++) {
        if (p[i].p_type != PT_LOAD || !(p[i].p_flags & PF_X))
            continue;
        int prot = PROT_EXEC | (p[i].p_flags & PF_R ? PROT_READ : 0) |
                   (p[i].p_flags & PF_W ? PROT_WRITE : 0);
        size_t n = collect_patches(o, &p[i], patches);
        if (pm_patch_apply(patches, n, prot, true))
            pm_process.file.header->n_armed += n;
        else
            good = false;
    }
    pm_sys(SYS_munmap, patches, bytes);
    return good;
}

/* One bit for each mode that some noun has. */
static uint32_t modes_of(const struct pm_object *o)
{
    uint32_t modes = 0;
    for (uint32_t i = 0; i < o->n_nouns; i++)
        modes |= 1u << mode_of(o, i);
    return modes;
}

/* Only for the nouns that have the mode. */
static bool generate_some(struct pm_object *o, enum pm_run_mode mode)
{
    size_t bytes = (size_t)o->n_sleds * sizeof(uint32_t);
    uint32_t *list = pm_private_memory(bytes), n = 0;
    if (list == NULL)
        return false;
    for (uint32_t i = 0; i < o->n_sleds; i++)
        if (mode_of(o, o->sleds[i].noun) == mode)
            list[n++] = i;
    bool good = pm_arch_generate(o, mode, list, n);
    pm_sys(SYS_munmap, list, bytes);
    return good;
}

static bool generate(struct pm_object *o, uint32_t modes)
{
    bool good = true, one = (modes & (modes - 1)) == 0;
    for (unsigned mode = PM_RUN_MODE_COUNT; mode < PM_N_MODES; mode++)
        if (modes >> mode & 1)
            good = (one ? pm_arch_generate(o, (enum pm_run_mode)mode, NULL, 0)
                        : generate_some(o, (enum pm_run_mode)mode)) &&
                   good;
    return good;
}

static void arm(struct pm_object *o)
{
    if (o->portable || o->n_sleds == 0 || pm_process.mode == PM_RUN_MODE_OFF)
        return;
    uint32_t modes = modes_of(o);
    if (modes >> PM_RUN_MODE_COUNT & 1 && o->bank == PM_MAX_BANKS) {
        pm_file_message(PM_RUN_MSG_LIMIT,
                        "not counted, more than 256 objects have sleds: ", o->path);
        return;
    }
    const char *why = NULL;
    if (!generate(o, modes))
        why = "not measured, no executable memory within 2 GiB of ";
    else if (!arm_fresh(o))
        why = "not wholly measured, its code cannot be changed: ";
    if (why == NULL)
        return;
    pm_file_message(PM_RUN_MSG_DISARMED, why, o->path);
    pm_say(why, o->path, 0);
}

/* --- what is loaded --- */

void pm_object_set_path(struct pm_object *o, int fd)
{
    char link[48] = "/proc/self/fd/";
    size_t n = strlen(link);
    char digits[12];
    size_t k = 0;
    unsigned number = (unsigned)fd;
    do
        digits[k++] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    while (k > 0)
        link[n++] = digits[--k];
    link[n] = 0;
    long len = pm_sys(SYS_readlinkat, AT_FDCWD, link, o->path, sizeof o->path - 1);
    o->path[len > 0 ? len : 0] = 0;
}

static struct pm_object *open_object(const struct dl_phdr_info *info, int fd)
{
    struct pm_found found;
    struct pm_source source = {.fd = fd};
    struct stat file = {0};
    if (pm_sys(SYS_newfstatat, fd, "", &file, AT_EMPTY_PATH) != 0 ||
        !pm_found_read(&source, &found) || !pm_file_create())
        return NULL;
    pm_calibrate();
    struct pm_object *o = pm_private_memory(sizeof *o);
    if (o == NULL)
        return NULL;
    o->bias = info->dlpi_addr;
    o->phdr = info->dlpi_phdr;
    o->n_phdr = info->dlpi_phnum;
    o->file_bytes = (uint64_t)file.st_size;
    pm_object_set_path(o, fd);
    pm_object_extent(o);
    for (unsigned i = 0; i < found.n_words; i++)
        if (pm_object_holds(o, o->bias + found.words[i].address, found.words[i].bytes, PF_R | PF_W))
            pm_words_open(o, o->bias + found.words[i].address, found.words[i].bytes);
    struct pm_scan scan = {0};
    struct pm_object *result = NULL;
    if (!pm_arch_has_sleds)
        found.n_sleds = 0;
    if (pm_scan_sleds(o, &found, &scan))
        result = record_object(o, &file, &found, &scan);
    if (found.n_sleds == 0 && found.n_hooks == 0 && found.has_pif)
        pm_file_message(PM_RUN_MSG_OBJECT_WITHOUT_SLEDS, "", o->path);
    if (result == o && o->n_bad != 0)
        pm_file_message(PM_RUN_MSG_BAD_SLEDS, "", o->path);
    if (scan.nouns != NULL)
        pm_sys(SYS_munmap, scan.nouns, scan.bytes);
    if (result == NULL && o->sleds != NULL)
        pm_sys(SYS_munmap, o->sleds, o->sleds_bytes);
    if (result != o)
        pm_sys(SYS_munmap, o, sizeof *o);
    if (result == NULL)
        return NULL;
    result->loaded = true;
    update_totals(result, 1);
    for (unsigned i = 0; i < found.n_hooks; i++)
        if (pm_object_holds(result, result->bias + found.hooks[i].address, found.hooks[i].bytes,
                            PF_R | PF_W))
            pm_hooks_open(result, &file, result->bias + found.hooks[i].address,
                          found.hooks[i].bytes, i == 0);
    return result;
}

static bool is_seen(const struct dl_phdr_info *info)
{
    for (uint32_t i = 0; i < n_seen; i++)
        if (seen[i].phdr == info->dlpi_phdr && seen[i].bias == info->dlpi_addr) {
            seen[i].present = true;
            return true;
        }
    return false;
}

static int visit_old(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    is_seen(info);
    return 0;
}

static int visit_new(struct dl_phdr_info *info, size_t size, void *first)
{
    (void)size;
    bool is_program = *(bool *)first;
    *(bool *)first = false;
    if (is_seen(info))
        return 0;
    if (n_seen == MAX_SEEN)
        return 1;
    const char *path = is_program ? "/proc/self/exe" : info->dlpi_name;
    bool has_folder = false;
    for (const char *p = path; p != NULL && *p != 0 && !has_folder; p++)
        has_folder = *p == '/';
    struct seen *s = &seen[n_seen++];
    *s = (struct seen){.bias = info->dlpi_addr, .phdr = info->dlpi_phdr, .present = true};
    long fd = has_folder ? pm_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0 && is_program) /* no /proc here */
        fd = pm_sys(SYS_openat, AT_FDCWD, getauxval(AT_EXECFN), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0; /* the kernel's own */
    s->object = open_object(info, (int)fd);
    s->is_new = s->object != NULL;
    pm_sys(SYS_close, fd);
    return 0;
}

/* Its code is gone, and with it every frame. */
static void unload(struct pm_object *o)
{
    o->loaded = false;
    for (uint32_t i = 0; i < o->n_sleds; i++)
        if (o->sleds[i].armed != PM_RUN_MODE_OFF)
            pm_process.file.header->n_armed--;
    update_totals(o, -1);
    pm_places_drop_object(o);
    pm_arch_release(o);
    if (o->sleds != NULL)
        pm_sys(SYS_munmap, o->sleds, o->sleds_bytes);
    o->sleds = NULL;
    o->n_sleds = 0;
    if (o->chunk != NULL)
        pm_store(o->chunk->unloaded_tsc, pm_tsc());
}

/* Not by a sanitizer that is linked into the program, and may not have begun yet. */
int pm_objects_walk(pm_object_visitor *visit, void *data)
{
    static int (*of_libc)(pm_object_visitor *, void *);
    if (of_libc == NULL)
        *(void **)&of_libc = dlsym(RTLD_NEXT, "dl_iterate_phdr");
    int result = (of_libc != NULL ? of_libc : dl_iterate_phdr)(visit, data);
    return result != 0 ? result : pm_namespaces_walk(visit, data);
}

/* First what went, then what came: it may lie where that was. */
void pm_objects_update(void)
{
    if (!pm_process.on)
        return;
    for (uint32_t i = 0; i < n_seen; i++)
        seen[i].present = false;
    pm_objects_walk(visit_old, NULL);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n_seen; i++) {
        if (!seen[i].present && seen[i].object != NULL)
            unload(seen[i].object);
        if (seen[i].present)
            seen[kept++] = seen[i];
    }
    n_seen = kept;
    bool first = true;
    pm_objects_walk(visit_new, &first);
    for (uint32_t i = 0; i < n_seen; i++) { /* when all are known: one may jump to another */
        if (!seen[i].is_new)
            continue;
        seen[i].is_new = false;
        arm(seen[i].object);
        pm_places_add_object(seen[i].object);
    }
    pm_places_update();
}

void pm_objects_rewrite(void)
{
    for (uint32_t i = 0; i < pm_n_objects; i++) {
        struct pm_object *o = pm_objects[i];
        if (o == NULL)
            continue;
        const struct pm_run_object *old = o->chunk;
        uint64_t offset;
        struct pm_run_object *chunk =
            pm_file_chunk(PM_RUN_CHUNK_OBJECT, o->chunk_bytes, 0, &offset);
        if (chunk == NULL)
            return;
        memcpy((char *)chunk + sizeof chunk->chunk, (const char *)old + sizeof old->chunk,
               o->chunk_bytes - sizeof old->chunk);
        pm_barrier();
        pm_store(chunk->chunk.n_items, old->chunk.n_items);
        o->chunk = chunk;
        if (o->loaded) {
            update_totals(o, 1);
            for (uint32_t k = 0; k < o->n_sleds; k++)
                pm_process.file.header->n_armed += o->sleds[k].armed != PM_RUN_MODE_OFF;
        }
    }
    pm_places_rewrite();
}

uint64_t *pm_bank_open(struct pm_tls *t, unsigned bank)
{
    struct pm_slot *slot = t->slot;
    uint64_t offset;
    uint32_t n_nouns = pm_objects[bank]->n_nouns;
    struct pm_run_counts *counts =
        slot->has_no_bank[bank]
            ? NULL
            : pm_file_chunk(PM_RUN_CHUNK_COUNTS,
                            sizeof *counts + (uint64_t)n_nouns * sizeof(uint64_t),
                            slot->thread_offset, &offset);
    if (counts == NULL) {
        slot->has_no_bank[bank] = true; /* else each event would ask the kernel */
        pm_add_shared(pm_process.file.header->n_lost_contexts, 1);
        return NULL;
    }
    counts->object = pm_objects[bank]->index;
    pm_store(counts->chunk.n_items, n_nouns);
    slot->bank[bank] = (uint64_t *)(counts + 1);
    pm_store(t->bank[bank], slot->bank[bank]);
    return slot->bank[bank];
}

bool pm_code_is_ours(uint64_t address)
{
    extern const char __ehdr_start[] __attribute__((visibility("hidden"))),
        _etext[] __attribute__((visibility("hidden")));
    if (address >= (uintptr_t)__ehdr_start && address < (uintptr_t)_etext)
        return true;
    for (uint32_t i = 0; i < pm_n_objects; i++) {
        const struct pm_object *o = pm_objects[i];
        if (o != NULL && address - (uintptr_t)o->code < o->code_bytes)
            return true;
    }
    return false;
}
