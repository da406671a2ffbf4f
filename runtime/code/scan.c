/* What an object's file and memory say about sleds and hooks. Reads only, trusts nothing: a record
 * is read where the loader has put bytes of the file, and believed when it points at a sled. Needs
 * no live object: tests/fuzz/fuzz_sled_section.c calls it on arbitrary bytes. */
#include "runtime/code/scan.h"
#include "format/pm_words.h"
#include "runtime/base/sys.h"
#include "runtime/code/arch.h"

#include <string.h>
#include <sys/mman.h>

/* --- the file's section headers --- */

static bool read_exactly(const struct pm_source *from, void *to, uint64_t bytes, uint64_t offset)
{
    if (from->bytes != NULL) {
        if (offset > from->size_bytes || bytes > from->size_bytes - offset)
            return false;
        memcpy(to, from->bytes + offset, bytes);
        return true;
    }
    for (uint64_t done = 0; done < bytes;) {
        long n = pm_sys(SYS_pread64, from->fd, (char *)to + done, bytes - done, offset + done);
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
                            struct pm_found *f)
{
    if (is_named(names, names_bytes, s->sh_name, PM_PIF_SECTION))
        f->has_pif = true;
    if (!(s->sh_flags & SHF_ALLOC) || s->sh_size == 0)
        return;
    if (is_named(names, names_bytes, s->sh_name, PM_SLED_SECTION) && f->n_sleds < PM_MAX_SECTIONS) {
        f->sleds[f->n_sleds].address = s->sh_addr;
        f->sleds[f->n_sleds++].bytes = s->sh_size;
    }
    if (is_named(names, names_bytes, s->sh_name, PM_WORDS_SECTION) &&
        f->n_words < PM_MAX_SECTIONS) {
        f->words[f->n_words].address = s->sh_addr;
        f->words[f->n_words++].bytes = s->sh_size;
    }
    if (is_named(names, names_bytes, s->sh_name, PM_HOOK_SECTION) && f->n_hooks < PM_MAX_SECTIONS) {
        f->hooks[f->n_hooks].address = s->sh_addr;
        f->hooks[f->n_hooks++].bytes = s->sh_size;
    }
}

/* Most libraries have 30 to 60 sections. Objects are looked at one after the other: at start,
 * and under the loader's lock. */
static struct room {
    uint64_t words[4096 / sizeof(uint64_t)];
} table_room, names_room;

static void *borrow(struct room *room, size_t bytes)
{
    return bytes <= sizeof *room ? room : pm_private_memory(bytes);
}

static void give_back(const struct room *room, void *memory, size_t bytes)
{
    if (memory != room)
        pm_sys(SYS_munmap, memory, bytes);
}

static void look_at_sections(const struct pm_source *from, const ElfW(Ehdr) * header,
                             struct pm_found *f)
{
    ElfW(Shdr) first;
    uint64_t n = header->e_shnum, names_index = header->e_shstrndx;
    if (header->e_shoff == 0 || header->e_shentsize != sizeof first)
        return;
    if (!read_exactly(from, &first, sizeof first, header->e_shoff))
        return;
    if (n == 0)
        n = first.sh_size;
    if (names_index == SHN_XINDEX)
        names_index = first.sh_link;
    if (n > 1u << 20 || names_index >= n)
        return;
    size_t table_bytes = (size_t)n * sizeof first;
    ElfW(Shdr) *table = borrow(&table_room, table_bytes);
    if (table == NULL)
        return;
    if (read_exactly(from, table, table_bytes, header->e_shoff) &&
        table[names_index].sh_size < 1u << 26 && table[names_index].sh_size > 0) {
        uint64_t names_bytes = table[names_index].sh_size;
        char *names = borrow(&names_room, names_bytes);
        if (names != NULL) {
            if (read_exactly(from, names, names_bytes, table[names_index].sh_offset))
                for (uint64_t i = 1; i < n; i++)
                    look_at_section(&table[i], names, names_bytes, f);
            give_back(&names_room, names, names_bytes);
        }
    }
    give_back(&table_room, table, table_bytes);
}

bool pm_found_read(const struct pm_source *from, struct pm_found *f)
{
    ElfW(Ehdr) header;
    memset(f, 0, sizeof *f);
    if (!read_exactly(from, &header, sizeof header, 0) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return false;
    look_at_sections(from, &header, f);
    return f->n_sleds != 0 || f->n_hooks != 0 || f->n_words != 0 || f->has_pif;
}

/* --- segments in memory --- */

/* The part of a segment that comes from the file: behind the file's end there is no memory, though
 * it is mapped. */
static uint64_t backed_bytes(const struct pm_object *o, const ElfW(Phdr) * p)
{
    uint64_t bytes = p->p_filesz < p->p_memsz ? p->p_filesz : p->p_memsz;
    uint64_t there = p->p_offset < o->file_bytes ? o->file_bytes - p->p_offset : 0;
    return bytes < there ? bytes : there;
}

bool pm_object_holds(const struct pm_object *o, uintptr_t address, uint64_t bytes, uint32_t flags)
{
    const ElfW(Phdr) *p = o->phdr;
    for (unsigned i = 0; i < o->n_phdr; i++) {
        if (p[i].p_type != PT_LOAD || (p[i].p_flags & flags) != flags)
            continue;
        uint64_t backed = backed_bytes(o, &p[i]), at = address - (o->bias + p[i].p_vaddr);
        if (address >= o->bias + p[i].p_vaddr && at <= backed && bytes <= backed - at)
            return true;
    }
    return false;
}

void pm_object_extent(struct pm_object *o)
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

const uint8_t *pm_object_build_id(const struct pm_object *o, uint32_t *ret_bytes)
{
    const ElfW(Phdr) *p = o->phdr;
    for (unsigned i = 0; i < o->n_phdr; i++) {
        if (p[i].p_type != PT_NOTE ||
            !pm_object_holds(o, o->bias + p[i].p_vaddr, p[i].p_memsz, PF_R))
            continue;
        const uint8_t *note = (const uint8_t *)(o->bias + p[i].p_vaddr), *end = note + p[i].p_memsz;
        while ((size_t)(end - note) >= sizeof(ElfW(Nhdr))) {
            ElfW(Nhdr) n;
            __builtin_memcpy(&n, note, sizeof n); /* nothing says that it is aligned */
            size_t name_bytes = ((size_t)n.n_namesz + 3) & ~(size_t)3,
                   value_bytes = ((size_t)n.n_descsz + 3) & ~(size_t)3;
            if (name_bytes > 64 || value_bytes > (size_t)(end - note) ||
                sizeof n + name_bytes + value_bytes > (size_t)(end - note))
                break;
            const uint8_t *name = note + sizeof n;
            if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
                *ret_bytes = n.n_descsz < 64 ? n.n_descsz : 64;
                return name + name_bytes;
            }
            note = name + name_bytes + value_bytes;
        }
    }
    *ret_bytes = 0;
    return NULL;
}

/* --- sleds and nouns --- */

/* What is read needs for each record. */
enum { RECORD_BYTES = sizeof(struct pm_run_noun) + sizeof(uint64_t) };

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

static bool is_nop(const uint8_t *p)
{
    uint32_t now, expected;
    __builtin_memcpy(&now, p, sizeof now);
    __builtin_memcpy(&expected, pm_arch_nop, sizeof expected);
    return now == expected && p[4] == pm_arch_nop[4];
}

/* text: code of the object that holds the address, if the last one did. */
struct text {
    uintptr_t low, high;
};

static bool is_in_text(const struct pm_object *o, uintptr_t address, struct text *text)
{
    if (address >= text->low && address < text->high)
        return true;
    if (!pm_object_holds(o, address, sizeof pm_arch_nop, PF_R | PF_X))
        return false;
    const uintptr_t near = 1 << 14; /* most records are of one segment */
    *text = (struct text){address, address + 1};
    if (pm_object_holds(o, address, near, PF_R | PF_X))
        text->high = address + near - sizeof pm_arch_nop;
    return true;
}

static bool is_sound(const struct pm_object *o, const struct pm_sled_record *record,
                     uintptr_t address, struct text *text)
{
    return record->kind >= PM_SLED_ENTRY && record->kind <= PM_SLED_LAND && record->id != 0 &&
           is_in_text(o, address, text) && is_nop((const uint8_t *)address);
}

enum { BUCKET_BITS = 10, N_BUCKETS = 1 << BUCKET_BITS, LARGE_BUCKET = 64 };

/* Ids are hashes, so their first bits are as good as random. */
static uint32_t bucket_of(uint64_t id)
{
    return (uint32_t)(id >> (64 - BUCKET_BITS));
}

static void sort_bucket(struct pm_run_noun *nouns, uint32_t n)
{
    if (n > LARGE_BUCKET) { /* not of our making */
        sort(nouns, n, sizeof *nouns, noun_less);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        struct pm_run_noun noun = nouns[i];
        uint32_t k = i;
        for (; k > 0 && noun_less(&noun, &nouns[k - 1]); k--)
            nouns[k] = nouns[k - 1];
        nouns[k] = noun;
    }
}

/* free: room for as many again; end: of N_BUCKETS, zeros. */
static void sort_nouns(struct pm_run_noun *nouns, uint32_t n, struct pm_run_noun *free,
                       uint32_t *end)
{
    uint32_t begin = 0;
    for (uint32_t i = 0; i < n; i++)
        end[bucket_of(nouns[i].id)]++;
    for (uint32_t i = 0, at = 0; i < N_BUCKETS; i++) {
        uint32_t size = end[i];
        end[i] = at;
        at += size;
    }
    for (uint32_t i = 0; i < n; i++)
        free[end[bucket_of(nouns[i].id)]++] = nouns[i];
    for (uint32_t i = 0; i < N_BUCKETS; begin = end[i++])
        sort_bucket(free + begin, end[i] - begin);
    memcpy(nouns, free, n * sizeof *nouns);
}

/* Distinct ids of the entries, sorted by id. capacity: of the array, of which nothing is used
 * behind the first n. */
static uint32_t collect_nouns(struct pm_run_noun *nouns, uint32_t n, uint64_t capacity,
                              uint32_t *buckets)
{
    if (capacity - n >= n)
        sort_nouns(nouns, n, nouns + n, buckets);
    else
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

/* Where those of each bucket begin. */
static void index_nouns(const struct pm_run_noun *nouns, uint32_t n, uint32_t *begin)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i <= N_BUCKETS; i++) {
        while (at < n && bucket_of(nouns[at].id) < i)
            at++;
        begin[i] = at;
    }
}

/* Without branches that depend on the ids: half of all guesses would be wrong. */
static uint32_t find_noun(const struct pm_run_noun *nouns, const uint32_t *begin, uint64_t id)
{
    uint32_t low = begin[bucket_of(id)], end = begin[bucket_of(id) + 1];
    for (uint32_t left = end - low; left > 1;) {
        uint32_t half = left / 2;
        low += half & -(uint32_t)(nouns[low + half].id <= id);
        left -= half;
    }
    return low < end && nouns[low].id == id ? low : UINT32_MAX;
}

/* Reads all records of one section. */
static void read_records(struct pm_object *o, struct pm_scan *scan, uintptr_t section,
                         uint64_t bytes)
{
    struct text text = {0, 0};
    for (uint64_t i = 0; i < bytes / sizeof(struct pm_sled_record); i++) {
        struct pm_sled_record copy, *record = &copy; /* linkers need not align the section */
        uintptr_t place = section + i * sizeof copy;
        __builtin_memcpy(record, (const void *)place, sizeof copy);
        uintptr_t address = place + (uintptr_t)(intptr_t)record->offset;
        if (!is_sound(o, record, address, &text)) {
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

static void bind_sleds(struct pm_object *o, struct pm_scan *scan)
{
    uint32_t *begin = scan->buckets + N_BUCKETS, previous = UINT32_MAX;
    uint64_t capacity = ((uintptr_t)scan->ids - (uintptr_t)scan->nouns) / sizeof *scan->nouns;
    scan->n_nouns = collect_nouns(scan->nouns, scan->n_nouns, capacity, scan->buckets);
    index_nouns(scan->nouns, scan->n_nouns, begin);
    for (uint32_t i = 0; i < o->n_sleds; i++) {
        struct pm_sled *sled = &o->sleds[i];
        sled->noun = i > 0 && scan->ids[i] == scan->ids[i - 1] /* entry and exit */
                         ? previous
                         : find_noun(scan->nouns, begin, scan->ids[i]);
        previous = sled->noun;
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

bool pm_scan_sleds(struct pm_object *o, const struct pm_found *f, struct pm_scan *scan)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < f->n_sleds; i++)
        if (pm_object_holds(o, o->bias + f->sleds[i].address, f->sleds[i].bytes, PF_R))
            n += f->sleds[i].bytes / sizeof(struct pm_sled_record);
    if (n == 0 || n > 1u << 26)
        return n == 0;
    o->sleds_bytes = n * sizeof(struct pm_sled);
    scan->bytes = n * RECORD_BYTES + (2 * N_BUCKETS + 1) * sizeof *scan->buckets;
    o->sleds = pm_private_memory(o->sleds_bytes);
    scan->nouns = pm_private_memory(scan->bytes);
    if (o->sleds == NULL || scan->nouns == NULL)
        return false;
    scan->ids = (uint64_t *)(scan->nouns + n);
    scan->buckets = (uint32_t *)(scan->ids + n);
    for (unsigned i = 0; i < f->n_sleds; i++)
        if (pm_object_holds(o, o->bias + f->sleds[i].address, f->sleds[i].bytes, PF_R))
            read_records(o, scan, o->bias + f->sleds[i].address, f->sleds[i].bytes);
    bind_sleds(o, scan);
    return true;
}

/* --- hooks --- */

bool pm_hooks_fill(uintptr_t section, uint64_t bytes, pm_hook_fn *event)
{
    struct pm_portable_hook *hook = (struct pm_portable_hook *)section;
    if (section % _Alignof(struct pm_portable_hook) != 0)
        return false;
    bool known = bytes % sizeof *hook == 0;
    for (uint64_t i = 0; i < bytes / sizeof *hook; i++) {
        bool sound = hook[i].version == PM_HOOK_VERSION && hook[i].size == sizeof *hook;
        known = known && sound;
        if (sound && event != NULL)
            pm_store(hook[i].event, event);
    }
    return known;
}
