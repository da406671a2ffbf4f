/* Loaded objects: which have sleds, what are their nouns, arming. Runs at start, and within dlopen
 * and dlclose under the loader's lock: one thread at a time. */
#include "internal.h"
#include "sys.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct pm_object *pm_objects[PM_MAX_OBJECTS];
uint32_t pm_n_objects;

enum { MAX_SEEN = 8192, MAX_SECTIONS = 16 };

/* What is loaded, with or without sleds, so that nothing is read twice. */
static struct seen {
    uintptr_t bias;
    const void *phdr;
    struct pm_object *object; /* NULL: none of interest */
    bool present;
} seen[MAX_SEEN];
static uint32_t n_seen;

static void *private_memory(size_t bytes)
{
    long address =
        pm_sys(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return address < 0 && address > -4096 ? NULL : (void *)address;
}

/* --- the file's section headers --- */

struct found {
    struct {
        uint64_t address, bytes;
    } sleds[MAX_SECTIONS], hooks[MAX_SECTIONS];
    unsigned n_sleds, n_hooks;
    bool has_pif;
};

static bool read_exactly(int fd, void *to, uint64_t bytes, uint64_t offset)
{
    for (uint64_t done = 0; done < bytes;) {
        long n = pm_sys(SYS_pread64, fd, (char *)to + done, bytes - done, offset + done);
        if (n <= 0)
            return false;
        done += (uint64_t)n;
    }
    return true;
}

static bool is_named(const char *names, uint64_t names_bytes, uint32_t offset, const char *name)
{
    size_t len = strlen(name) + 1;
    return offset < names_bytes && len <= names_bytes - offset &&
           memcmp(names + offset, name, len) == 0;
}

static void look_at_section(const ElfW(Shdr) * s, const char *names, uint64_t names_bytes,
                            struct found *f)
{
    if (is_named(names, names_bytes, s->sh_name, PM_PIF_SECTION))
        f->has_pif = true;
    if (!(s->sh_flags & SHF_ALLOC) || s->sh_size == 0)
        return;
    if (is_named(names, names_bytes, s->sh_name, PM_SLED_SECTION) && f->n_sleds < MAX_SECTIONS) {
        f->sleds[f->n_sleds].address = s->sh_addr;
        f->sleds[f->n_sleds++].bytes = s->sh_size;
    }
    if (is_named(names, names_bytes, s->sh_name, PM_HOOK_SECTION) && f->n_hooks < MAX_SECTIONS) {
        f->hooks[f->n_hooks].address = s->sh_addr;
        f->hooks[f->n_hooks++].bytes = s->sh_size;
    }
}

static void look_at_sections(int fd, const ElfW(Ehdr) * header, struct found *f)
{
    ElfW(Shdr) first;
    uint64_t n = header->e_shnum, names_index = header->e_shstrndx;
    if (header->e_shoff == 0 || header->e_shentsize != sizeof first)
        return;
    if (!read_exactly(fd, &first, sizeof first, header->e_shoff))
        return;
    if (n == 0)
        n = first.sh_size;
    if (names_index == SHN_XINDEX)
        names_index = first.sh_link;
    if (n > 1u << 20 || names_index >= n)
        return;
    size_t table_bytes = (size_t)n * sizeof first;
    ElfW(Shdr) *table = private_memory(table_bytes);
    if (table == NULL)
        return;
    if (read_exactly(fd, table, table_bytes, header->e_shoff) &&
        table[names_index].sh_size < 1u << 26 && table[names_index].sh_size > 0) {
        uint64_t names_bytes = table[names_index].sh_size;
        char *names = private_memory(names_bytes);
        if (names != NULL) {
            if (read_exactly(fd, names, names_bytes, table[names_index].sh_offset))
                for (uint64_t i = 1; i < n; i++)
                    look_at_section(&table[i], names, names_bytes, f);
            pm_sys(SYS_munmap, names, names_bytes);
        }
    }
    pm_sys(SYS_munmap, table, table_bytes);
}

static bool look_at_file(int fd, struct found *f)
{
    ElfW(Ehdr) header;
    memset(f, 0, sizeof *f);
    if (!read_exactly(fd, &header, sizeof header, 0) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return false;
    look_at_sections(fd, &header, f);
    return f->n_sleds != 0 || f->n_hooks != 0 || f->has_pif;
}

/* --- segments in memory --- */

static const ElfW(Phdr) *
    segment_of(const struct pm_object *o, uintptr_t address, size_t bytes, uint32_t flags)
{
    const ElfW(Phdr) *p = o->phdr;
    for (unsigned i = 0; i < o->n_phdr; i++)
        if (p[i].p_type == PT_LOAD && (p[i].p_flags & flags) == flags &&
            address >= o->bias + p[i].p_vaddr &&
            address - (o->bias + p[i].p_vaddr) <= p[i].p_memsz &&
            bytes <= p[i].p_memsz - (address - (o->bias + p[i].p_vaddr)))
            return &p[i];
    return NULL;
}

static void find_extent(struct pm_object *o)
{
    const ElfW(Phdr) *p = o->phdr;
    o->low = UINTPTR_MAX;
    o->high = 0;
    for (unsigned i = 0; i < o->n_phdr; i++) {
        if (p[i].p_type != PT_LOAD)
            continue;
        uintptr_t low = o->bias + p[i].p_vaddr, high = low + p[i].p_memsz;
        o->low = low < o->low ? low : o->low;
        o->high = high > o->high ? high : o->high;
    }
}

static const uint8_t *find_build_id(const struct pm_object *o, uint32_t *ret_bytes)
{
    const ElfW(Phdr) *p = o->phdr;
    for (unsigned i = 0; i < o->n_phdr; i++) {
        if (p[i].p_type != PT_NOTE ||
            segment_of(o, o->bias + p[i].p_vaddr, p[i].p_memsz, PF_R) == NULL)
            continue;
        const uint8_t *note = (const uint8_t *)(o->bias + p[i].p_vaddr), *end = note + p[i].p_memsz;
        while ((size_t)(end - note) >= sizeof(ElfW(Nhdr))) {
            const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)note;
            size_t name_bytes = (n->n_namesz + 3u) & ~3u, value_bytes = (n->n_descsz + 3u) & ~3u;
            if (name_bytes > 64 || value_bytes > (size_t)(end - note) ||
                sizeof *n + name_bytes + value_bytes > (size_t)(end - note))
                break;
            if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && memcmp(n + 1, "GNU", 4) == 0) {
                *ret_bytes = n->n_descsz < 64 ? n->n_descsz : 64;
                return (const uint8_t *)(n + 1) + name_bytes;
            }
            note += sizeof *n + name_bytes + value_bytes;
        }
    }
    *ret_bytes = 0;
    return NULL;
}

/* --- sleds and nouns --- */

typedef bool less_fn(const void *a, const void *b);

/* Sizes are multiples of 8. */
static void swap(char *a, char *b, size_t size)
{
    uint64_t *p = (uint64_t *)a, *q = (uint64_t *)b;
    for (size_t i = 0; i < size / 8; i++) {
        uint64_t word = p[i];
        p[i] = q[i];
        q[i] = word;
    }
}
_Static_assert(sizeof(struct pm_sled) % 8 == 0 && sizeof(struct pm_run_noun) % 8 == 0,
               "sorted by words");

/* Heap sort: qsort of libc allocates. */
static void sift(char *base, size_t root, size_t n, size_t size, less_fn *less)
{
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && less(base + child * size, base + (child + 1) * size))
            child++;
        if (!less(base + root * size, base + child * size))
            return;
        swap(base + root * size, base + child * size, size);
    }
}

static void sort(void *items, size_t n, size_t size, less_fn *less)
{
    size_t in_order = 1;
    while (in_order < n &&
           !less((char *)items + in_order * size, (char *)items + (in_order - 1) * size))
        in_order++;
    if (in_order >= n)
        return; /* as linkers leave records */
    for (size_t i = n / 2; i-- > 0;)
        sift(items, i, n, size, less);
    for (size_t i = n; i-- > 1;) {
        swap(items, (char *)items + i * size, size);
        sift(items, 0, i, size, less);
    }
}

static bool sled_less(const void *a, const void *b)
{
    return ((const struct pm_sled *)a)->address < ((const struct pm_sled *)b)->address;
}

static bool noun_less(const void *a, const void *b)
{
    const struct pm_run_noun *p = a, *q = b;
    return p->id != q->id ? p->id < q->id : p->address < q->address;
}

static bool is_entry(unsigned kind)
{
    return kind == PM_SLED_ENTRY || kind == PM_SLED_LOOP_ENTER;
}

static bool is_sound(const struct pm_object *o, const struct pm_sled_record *record,
                     uintptr_t address)
{
    return record->kind >= PM_SLED_ENTRY && record->kind <= PM_SLED_LOOP_LEAVE && record->id != 0 &&
           segment_of(o, address, sizeof pm_arch_nop, PF_X) != NULL &&
           memcmp((const void *)address, pm_arch_nop, sizeof pm_arch_nop) == 0;
}

/* Distinct ids of the entries, sorted by id. */
static uint32_t collect_nouns(struct pm_run_noun *nouns, uint32_t n)
{
    sort(nouns, n, sizeof *nouns, noun_less);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (kept > 0 && nouns[kept - 1].id == nouns[i].id)
            nouns[kept - 1].n_sleds++;
        else
            nouns[kept++] = nouns[i];
    }
    return kept;
}

static uint32_t find_noun(const struct pm_run_noun *nouns, uint32_t n, uint64_t id)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (nouns[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && nouns[low].id == id ? low : UINT32_MAX;
}

struct scan {
    struct pm_run_noun *nouns; /* temporary */
    uint64_t *ids;             /* of the sleds, in their order before sorting */
    uint32_t n_nouns;
    size_t bytes;
};

/* Reads all records of one section. */
static void read_records(struct pm_object *o, struct scan *scan, uintptr_t section, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes / sizeof(struct pm_sled_record); i++) {
        struct pm_sled_record copy, *record = &copy; /* linkers need not align the section */
        uintptr_t place = section + i * sizeof copy;
        __builtin_memcpy(record, (const void *)place, sizeof copy);
        uintptr_t address = place + (uintptr_t)(intptr_t)record->offset;
        if (!is_sound(o, record, address)) {
            o->n_bad++;
            continue;
        }
        scan->ids[o->n_sleds] = record->id;
        o->sleds[o->n_sleds++] = (struct pm_sled){.address = address,
                                                  .must_save = record->must_save,
                                                  .kind = record->kind,
                                                  .flags = record->flags};
        if (is_entry(record->kind))
            scan->nouns[scan->n_nouns++] = (struct pm_run_noun){
                .id = record->id, .kind = record->kind, .n_sleds = 1, .address = address - o->bias};
    }
}

static void bind_sleds(struct pm_object *o, struct scan *scan)
{
    scan->n_nouns = collect_nouns(scan->nouns, scan->n_nouns);
    for (uint32_t i = 0; i < o->n_sleds; i++) {
        struct pm_sled *sled = &o->sleds[i];
        sled->noun = find_noun(scan->nouns, scan->n_nouns, scan->ids[i]);
        bool loop = sled->kind == PM_SLED_LOOP_ENTER || sled->kind == PM_SLED_LOOP_LEAVE;
        if (sled->noun == UINT32_MAX)
            continue;
        if (loop != (scan->nouns[sled->noun].kind == PM_SLED_LOOP_ENTER))
            sled->noun = UINT32_MAX; /* one id for two things: nothing good comes of it */
        else if (!is_entry(sled->kind))
            scan->nouns[sled->noun].n_sleds++;
    }
    sort(o->sleds, o->n_sleds, sizeof *o->sleds, sled_less);
    uint32_t kept = 0; /* two records for one place */
    for (uint32_t i = 0; i < o->n_sleds; i++) {
        if (kept > 0 && o->sleds[i].address < o->sleds[kept - 1].address + sizeof pm_arch_nop)
            o->n_bad++;
        else
            o->sleds[kept++] = o->sleds[i];
    }
    o->n_sleds = kept;
}

static bool scan_sleds(struct pm_object *o, const struct found *f, struct scan *scan)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < f->n_sleds; i++)
        if (segment_of(o, o->bias + f->sleds[i].address, f->sleds[i].bytes, PF_R) != NULL)
            n += f->sleds[i].bytes / sizeof(struct pm_sled_record);
    if (n == 0 || n > 1u << 26)
        return n == 0;
    o->sleds_bytes = n * sizeof(struct pm_sled);
    scan->bytes = n * (sizeof(struct pm_run_noun) + sizeof(uint64_t));
    o->sleds = private_memory(o->sleds_bytes);
    scan->nouns = private_memory(scan->bytes);
    if (o->sleds == NULL || scan->nouns == NULL)
        return false;
    scan->ids = (uint64_t *)(scan->nouns + n);
    for (unsigned i = 0; i < f->n_sleds; i++)
        if (segment_of(o, o->bias + f->sleds[i].address, f->sleds[i].bytes, PF_R) != NULL)
            read_records(o, scan, o->bias + f->sleds[i].address, f->sleds[i].bytes);
    bind_sleds(o, scan);
    return true;
}

/* --- in the run file --- */

/* The same file as an object that was unloaded, with the same nouns: its chunk is used again. */
static struct pm_object *unloaded_twin(const struct pm_object *o, const struct stat *info,
                                       const struct scan *scan)
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
    uint32_t id_bytes;
    const uint8_t *build_id = find_build_id(o, &id_bytes);
    uint32_t path_bytes = (uint32_t)strlen(o->path);
    uint32_t nouns_offset =
        ((uint32_t)sizeof(struct pm_run_object) + path_bytes + id_bytes + 7u) & ~7u;
    uint64_t bytes = nouns_offset + (uint64_t)capacity * sizeof *nouns, offset;
    struct pm_run_object *chunk = pm_file_chunk(PM_RUN_CHUNK_OBJECT, bytes, 0, &offset);
    if (chunk == NULL)
        return false;
    chunk->index = o->index;
    chunk->first_noun = o->first_noun;
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
    chunk->path_bytes = path_bytes;
    chunk->build_id_bytes = id_bytes;
    chunk->nouns_offset = nouns_offset;
    memcpy((char *)(chunk + 1), o->path, path_bytes);
    if (id_bytes != 0)
        memcpy((char *)(chunk + 1) + path_bytes, build_id, id_bytes);
    if (n_nouns != 0)
        memcpy((char *)chunk + nouns_offset, nouns, (size_t)n_nouns * sizeof *nouns);
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
                                       const struct found *f, struct scan *scan)
{
    if (o->n_sleds == 0 && o->n_bad == 0 && f->n_hooks == 0)
        return NULL;
    o->portable = o->n_sleds == 0 && f->n_hooks != 0; /* its nouns come as they show themselves */
    struct pm_object *twin = unloaded_twin(o, info, scan);
    if (twin != NULL)
        return take_over(o, twin);
    if (!o->portable && !pm_object_record(o, info, scan->nouns, scan->n_nouns, scan->n_nouns))
        return NULL;
    return o;
}

/* --- arming --- */

static void collect_patches(struct pm_object *o, const ElfW(Phdr) * segment, bool arm,
                            struct pm_patch *patches, size_t *ret_n)
{
    uintptr_t low = o->bias + segment->p_vaddr, high = low + segment->p_memsz;
    size_t n = 0;
    for (uint32_t i = 0; i < o->n_sleds; i++) {
        struct pm_sled *sled = &o->sleds[i];
        if (sled->address < low || sled->address >= high || sled->trampoline == 0 ||
            sled->armed == arm)
            continue;
        patches[n].address = sled->address;
        if (arm)
            pm_arch_jump(o, sled, patches[n].bytes);
        else
            __builtin_memcpy(patches[n].bytes, pm_arch_nop, sizeof pm_arch_nop);
        n++;
    }
    *ret_n = n;
}

static void mark_sleds(struct pm_object *o, const struct pm_patch *patches, size_t n, bool arm)
{
    uint32_t i = 0;
    for (size_t k = 0; k < n; k++) {
        while (o->sleds[i].address != patches[k].address)
            i++;
        o->sleds[i].armed = arm;
    }
    pm_process.file.header->n_armed += arm ? n : (uint64_t)0 - n;
}

/* Switches all sleds that have trampolines. */
static bool switch_sleds(struct pm_object *o, bool arm, bool fresh)
{
    size_t bytes = (size_t)o->n_sleds * sizeof(struct pm_patch);
    struct pm_patch *patches = bytes != 0 ? private_memory(bytes) : NULL;
    if (patches == NULL)
        return bytes == 0;
    const ElfW(Phdr) *p = o->phdr;
    bool good = true;
    for (unsigned i = 0; i < o->n_phdr; i++) {
        if (p[i].p_type != PT_LOAD || !(p[i].p_flags & PF_X))
            continue;
        size_t n;
        int prot = PROT_EXEC | (p[i].p_flags & PF_R ? PROT_READ : 0) |
                   (p[i].p_flags & PF_W ? PROT_WRITE : 0);
        collect_patches(o, &p[i], arm, patches, &n);
        if (pm_patch_apply(patches, n, prot, fresh))
            mark_sleds(o, patches, n, arm);
        else
            good = false;
    }
    pm_sys(SYS_munmap, patches, bytes);
    o->armed = arm;
    return good;
}

static bool arm(struct pm_object *o, enum pm_run_mode mode, bool fresh)
{
    if (o->portable || o->n_sleds == 0 || mode == PM_RUN_MODE_OFF)
        return true;
    if (mode == PM_RUN_MODE_COUNT && o->bank == PM_MAX_BANKS) {
        pm_file_message(PM_RUN_MSG_LIMIT,
                        "not counted, more than 256 objects have sleds: ", o->path);
        return false;
    }
    const char *why = NULL;
    if (!pm_arch_generate(o, mode))
        why = "not measured, no executable memory within 2 GiB of ";
    else if (!switch_sleds(o, true, fresh))
        why = "not wholly measured, its code cannot be changed: ";
    if (why == NULL)
        return true;
    pm_file_message(PM_RUN_MSG_DISARMED, why, o->path);
    pm_say(why, o->path, 0);
    return false;
}

bool pm_arm(struct pm_object *object, enum pm_run_mode mode)
{
    return arm(object, mode, false);
}

/* Threads may still be inside the trampolines: they stay. */
void pm_disarm(struct pm_object *object)
{
    if (object->armed)
        switch_sleds(object, false, false);
}

/* --- what is loaded --- */

static void set_path(struct pm_object *o, int fd)
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
    struct found found;
    struct stat file = {0};
    if (pm_sys(SYS_newfstatat, fd, "", &file, AT_EMPTY_PATH) != 0 || !look_at_file(fd, &found) ||
        !pm_file_create())
        return NULL;
    struct pm_object *o = private_memory(sizeof *o);
    if (o == NULL)
        return NULL;
    o->bias = info->dlpi_addr;
    o->phdr = info->dlpi_phdr;
    o->n_phdr = info->dlpi_phnum;
    set_path(o, fd);
    find_extent(o);
    struct scan scan = {0};
    struct pm_object *result = NULL;
    if (!pm_arch_has_sleds)
        found.n_sleds = 0;
    if (scan_sleds(o, &found, &scan))
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
        if (segment_of(result, result->bias + found.hooks[i].address, found.hooks[i].bytes,
                       PF_R | PF_W) != NULL)
            pm_hooks_open(result, &file, result->bias + found.hooks[i].address,
                          found.hooks[i].bytes, i == 0);
    arm(result, pm_process.mode, true);
    return result;
}

static int visit(struct dl_phdr_info *info, size_t size, void *first)
{
    (void)size;
    bool is_program = *(bool *)first;
    *(bool *)first = false;
    for (uint32_t i = 0; i < n_seen; i++)
        if (seen[i].phdr == info->dlpi_phdr && seen[i].bias == info->dlpi_addr) {
            seen[i].present = true;
            return 0;
        }
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
    pm_sys(SYS_close, fd);
    return 0;
}

/* Its code is gone, and with it every frame. */
static void unload(struct pm_object *o)
{
    o->loaded = o->armed = false;
    for (uint32_t i = 0; i < o->n_sleds; i++)
        if (o->sleds[i].armed)
            pm_process.file.header->n_armed--;
    update_totals(o, -1);
    pm_arch_release(o);
    if (o->sleds != NULL)
        pm_sys(SYS_munmap, o->sleds, o->sleds_bytes);
    o->sleds = NULL;
    o->n_sleds = 0;
    if (o->chunk != NULL)
        pm_store(o->chunk->unloaded_tsc, pm_tsc());
}

void pm_objects_update(void)
{
    if (!pm_process.on)
        return;
    for (uint32_t i = 0; i < n_seen; i++)
        seen[i].present = false;
    bool first = true;
    dl_iterate_phdr(visit, &first);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n_seen; i++) {
        if (!seen[i].present && seen[i].object != NULL)
            unload(seen[i].object);
        if (seen[i].present)
            seen[kept++] = seen[i];
    }
    n_seen = kept;
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
                pm_process.file.header->n_armed += o->sleds[k].armed;
        }
    }
}
