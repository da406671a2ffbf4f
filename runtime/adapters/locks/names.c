/* What a lock is called. Nothing here takes a lock, for the caller may hold any: objects are
 * found by _dl_find_object, names in the symbol tables of their files. Locks that are no
 * variables are called after the function that made them, or that used them first; these are so
 * many that only the first have nouns of their own, below one for all of that function. */
#include "locks.h"

#include <ctype.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    MAX_LOCKS = 4096, /* that are told apart */
    TABLE_ENTRIES = 4 * MAX_LOCKS,
    MAX_OBJECTS = 64,
    MAX_SYMBOLS = 1 << 20,
    MAX_NESTED = 64, /* symbols within a symbol that are looked through */
    NAME_BYTES = 512,
};

static struct lock table[TABLE_ENTRIES], others;
static uint32_t n_locks;
static struct pm_level base;
static struct pm_verb verbs[N_LOCK_VERBS];
struct pm_metric lock_wait_ns;

bool locks_are_measured(void)
{
    static const char *const names[N_LOCK_VERBS] = {PM_LOCKS_VERBS(PM_ADAPTER_WORD)};
    static uint32_t ready;
    if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
        return true;
    if (!pm_words_of_runtime())
        return false;
    base = pm_define_level(PM_BASE_LEVEL, NULL);
    for (int i = 0; i < N_LOCK_VERBS; i++)
        verbs[i] = pm_define_verb(base, names[i]);
    lock_wait_ns = pm_define_metric("wait_ns", "ns", "time");
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
    return true;
}

/* --- symbols --- */

/* Of one object's file, mapped for ever. */
struct symbols {
    const struct link_map *map;
    uintptr_t start, end, bias; /* where the object is */
    const Elf64_Sym *list;
    size_t n;
    const char *strings;
    size_t n_strings;
    uint32_t *sorted[2]; /* variables, functions: numbers in the list, by place */
    size_t n_sorted[2];
    char name[64]; /* of the file */
};
static struct symbols objects[MAX_OBJECTS];
static uint32_t n_objects, objects_busy;

static const char *map_file(const char *path, size_t *ret_bytes)
{
    struct stat status;
    void *memory = MAP_FAILED;
    if (!pm_adapter_may(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC) ||
        !pm_adapter_may(SYS_mmap, 0, 4096, PROT_READ) || !pm_adapter_may(SYS_close, 0, 0, 0))
        return NULL;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && status.st_size > (off_t)sizeof(Elf64_Ehdr)) {
        *ret_bytes = (size_t)status.st_size;
        memory = mmap(NULL, *ret_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    syscall(SYS_close, fd);
    return memory == MAP_FAILED ? NULL : memory;
}

static bool is_within(uint64_t offset, uint64_t n, size_t bytes)
{
    return offset <= bytes && n <= bytes - offset;
}

/* .symtab, else .dynsym. */
static void read_symbols(const char *file, size_t bytes, struct symbols *o)
{
    const Elf64_Ehdr *head = (const void *)file;
    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        head->e_shentsize != sizeof(Elf64_Shdr) || head->e_shoff % 8 != 0 ||
        !is_within(head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr), bytes))
        return;
    const Elf64_Shdr *sections = (const void *)(file + head->e_shoff);
    for (unsigned i = 0; i < head->e_shnum; i++) {
        const Elf64_Shdr *s = &sections[i];
        bool is_better = s->sh_type == SHT_SYMTAB || (s->sh_type == SHT_DYNSYM && o->n == 0);
        if (!is_better || s->sh_link >= head->e_shnum || s->sh_offset % 8 != 0 ||
            !is_within(s->sh_offset, s->sh_size, bytes))
            continue;
        const Elf64_Shdr *strings = &sections[s->sh_link];
        if (strings->sh_type != SHT_STRTAB || strings->sh_size == 0 ||
            !is_within(strings->sh_offset, strings->sh_size, bytes) ||
            file[strings->sh_offset + strings->sh_size - 1] != 0 ||
            s->sh_size / sizeof(Elf64_Sym) > MAX_SYMBOLS)
            continue;
        o->list = (const void *)(file + s->sh_offset);
        o->n = s->sh_size / sizeof(Elf64_Sym);
        o->strings = file + strings->sh_offset;
        o->n_strings = strings->sh_size;
    }
}

static uint32_t *words_of_memory(size_t n)
{
    size_t bytes = n * sizeof(uint32_t);
    if (n == 0 || !pm_adapter_may(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE))
        return NULL;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* By bytes of the place, the lowest first; equal ones stay in the list's order. */
static void sort_by_place(const Elf64_Sym *list, uint32_t *numbers, uint32_t *other, size_t n)
{
    for (unsigned shift = 0; shift < 32; shift += 8) {
        uint32_t begin[257] = {0};
        for (size_t i = 0; i < n; i++)
            begin[1 + (list[numbers[i]].st_value >> shift & 0xff)]++;
        for (unsigned b = 1; b < 256; b++)
            begin[b] += begin[b - 1];
        for (size_t i = 0; i < n; i++)
            other[begin[list[numbers[i]].st_value >> shift & 0xff]++] = numbers[i];
        uint32_t *swapped = numbers;
        numbers = other;
        other = swapped;
    }
}

static bool is_wanted(const struct symbols *o, const Elf64_Sym *s, bool functions)
{
    unsigned type = ELF64_ST_TYPE(s->st_info);
    return s->st_size != 0 && s->st_value >> 32 == 0 && s->st_name < o->n_strings &&
           (functions ? type == STT_FUNC || type == STT_GNU_IFUNC : type == STT_OBJECT);
}

static void sort_symbols(struct symbols *o, bool functions)
{
    size_t n = 0, k = 0;
    for (size_t i = 0; i < o->n; i++)
        n += is_wanted(o, &o->list[i], functions);
    uint32_t *numbers = words_of_memory(n), *other = words_of_memory(n);
    for (size_t i = 0; numbers && other && i < o->n; i++)
        if (is_wanted(o, &o->list[i], functions))
            numbers[k++] = (uint32_t)i;
    if (k > 0)
        sort_by_place(o->list, numbers, other, k);
    if (other && pm_adapter_may(SYS_munmap, 0, 0, 0))
        munmap(other, n * sizeof *other);
    o->sorted[functions] = numbers;
    o->n_sorted[functions] = k;
}

/* The innermost that has the place; NULL: none, or one that begins far before many others. */
static const Elf64_Sym *symbol_at(const struct symbols *o, uintptr_t at, bool functions)
{
    const uint32_t *sorted = o->sorted[functions];
    const Elf64_Sym *found = NULL;
    size_t low = 0, end = o->n_sorted[functions];
    while (low < end) { /* the first behind the place */
        size_t middle = low + (end - low) / 2;
        if (o->list[sorted[middle]].st_value <= at)
            low = middle + 1;
        else
            end = middle;
    }
    for (size_t i = low; i > 0 && low - i < MAX_NESTED; i--) {
        const Elf64_Sym *s = &o->list[sorted[i - 1]];
        if (found && s->st_value != found->st_value)
            break;
        if (at - s->st_value < s->st_size)
            found = s; /* of aliases the list's first */
    }
    return found;
}

/* One at a time, but for handlers that come while their thread looks; and nobody waits for a
 * thread that is none any more (in a child). */
static __thread bool looks __attribute__((tls_model("initial-exec")));

static bool begin_look(void)
{
    static bool is_stuck;
    if (looks)
        return false;
    for (int i = 0; __atomic_exchange_n(&objects_busy, 1, __ATOMIC_ACQUIRE); i++) {
        if (is_stuck || i == 100000) {
            is_stuck = true;
            return false;
        }
        sched_yield();
    }
    looks = true;
    return true;
}

static void end_look(void)
{
    looks = false;
    __atomic_store_n(&objects_busy, 0, __ATOMIC_RELEASE);
}

/* Another library may lie where one was. */
static const struct symbols *known_object(const struct dl_find_object *found)
{
    uint32_t n = __atomic_load_n(&n_objects, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n; i++)
        if (objects[i].map == found->dlfo_link_map &&
            objects[i].start == (uintptr_t)found->dlfo_map_start &&
            objects[i].end == (uintptr_t)found->dlfo_map_end)
            return &objects[i];
    return NULL;
}

static void add_object(const struct dl_find_object *found)
{
    const char *path = found->dlfo_link_map->l_name, *slash = strrchr(path, '/');
    size_t bytes = 0;
    struct symbols *o = &objects[n_objects];
    *o = (struct symbols){.map = found->dlfo_link_map,
                          .start = (uintptr_t)found->dlfo_map_start,
                          .end = (uintptr_t)found->dlfo_map_end,
                          .bias = found->dlfo_link_map->l_addr};
    snprintf(o->name, sizeof o->name, "%s", *path ? slash ? slash + 1 : path : "program");
    const char *file = map_file(*path ? path : "/proc/self/exe", &bytes);
    if (file) {
        read_symbols(file, bytes, o);
        sort_symbols(o, false);
        sort_symbols(o, true);
    }
    __atomic_store_n(&n_objects, n_objects + 1, __ATOMIC_RELEASE);
}

/* The object that has the address; NULL: none, or nobody can tell. */
static const struct symbols *object_of(uintptr_t address)
{
    struct dl_find_object found;
    if (_dl_find_object((void *)address, &found) != 0)
        return NULL;
    const struct symbols *known = known_object(&found);
    if (known || !begin_look())
        return known;
    if (!known_object(&found) && n_objects < MAX_OBJECTS)
        add_object(&found);
    end_look();
    return known_object(&found);
}

/* "_ZN4heat5queue4lockE" is heat::queue::lock, "_ZZ4mainE4lock" main::lock, "_Z4workPv" work;
 * others stay as they are. */
static void demangle(const char *symbol, char name[NAME_BYTES])
{
    size_t n = 0;
    const char *p = strncmp(symbol, "_Z", 2) == 0 ? symbol + 2 : "";
    p += strspn(p, "ZNLKV");
    while (isdigit((unsigned char)*p)) {
        char *end;
        size_t bytes = strtoul(p, &end, 10);
        if (bytes == 0 || bytes > strlen(end) || n + bytes + 3 > NAME_BYTES)
            break;
        n += (size_t)snprintf(name + n, NAME_BYTES - n, "%s%.*s", n ? "::" : "", (int)bytes, end);
        p = end + bytes;
        p +=
            *p == 'L' || (*p == 'E' && isdigit((unsigned char)p[1])); /* of a file; in a function */
    }
    if (n == 0)
        snprintf(name, NAME_BYTES, "%s", symbol);
}

/* The variable or function that has the address, else "libx.so+0x123". False: in no object. */
static bool name_of(uintptr_t address, bool is_function, char name[NAME_BYTES])
{
    const struct symbols *o = address ? object_of(address) : NULL;
    if (!o)
        return false;
    uintptr_t at = address - o->bias;
    const Elf64_Sym *s = symbol_at(o, at, is_function);
    if (!s) {
        snprintf(name, NAME_BYTES, "%s+0x%lx", o->name, (unsigned long)at);
        return true;
    }
    demangle(o->strings + s->st_name, name);
    size_t n = strlen(name);
    if (!is_function && at > s->st_value && n < NAME_BYTES - 24) /* an element, a member */
        snprintf(name + n, NAME_BYTES - n, "+%lu", (unsigned long)(at - s->st_value));
    return true;
}

/* --- locks --- */

static const char *const kinds[] = {"mutex",     "rwlock",    "spinlock",
                                    "condition", "semaphore", "barrier"};

static uint32_t define(const struct lock *lock, enum lock_kind kind)
{
    char name[NAME_BYTES], whole[NAME_BYTES + 32];
    struct pm_noun_facts facts = {.name = name, .kind = kinds[kind], .address = lock->address};
    if (name_of(lock->address, false, name))
        return pm_define_noun_at(base, &facts).id;
    if (!name_of(lock->site, true, name))
        snprintf(name, sizeof name, "unknown code");
    snprintf(whole, sizeof whole, "%s of %s", kinds[kind], name);
    facts.name = whole;
    facts.parent = pm_define_noun(base, whole, kinds[kind]).id;
    return pm_define_noun_at(base, &facts).id;
}

/* NULL: there is no room. */
static struct lock *entry_of(uintptr_t address)
{
    size_t first = (address * 0x9e3779b97f4a7c15u) >> 40;
    for (size_t i = first; i < first + TABLE_ENTRIES; i++) {
        struct lock *lock = &table[i % TABLE_ENTRIES];
        uintptr_t found = __atomic_load_n(&lock->address, __ATOMIC_RELAXED);
        if (found == address)
            return lock;
        if (found != 0)
            continue;
        if (__atomic_load_n(&n_locks, __ATOMIC_RELAXED) >= MAX_LOCKS)
            return NULL;
        if (__atomic_compare_exchange_n(&lock->address, &found, address, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            __atomic_fetch_add(&n_locks, 1, __ATOMIC_RELAXED);
            return lock;
        }
        if (found == address)
            return lock;
    }
    return NULL;
}

/* Of several threads that name it at once the first decides. */
struct lock *lock_at(const void *address, enum lock_kind kind, const void *site)
{
    struct lock *lock = entry_of((uintptr_t)address);
    if (!lock)
        lock = &others;
    if (__builtin_expect(__atomic_load_n(&lock->noun, __ATOMIC_ACQUIRE) != 0, 1))
        return lock;
    uintptr_t none = 0; /* the code of the call, not what follows it */
    __atomic_compare_exchange_n(&lock->site, &none, (uintptr_t)site - 1, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
    uint32_t unnamed = 0, noun = lock == &others ? pm_define_noun(base, "(other locks)", "lock").id
                                                 : define(lock, kind);
    __atomic_compare_exchange_n(&lock->noun, &unnamed, noun, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
    return lock;
}

void lock_made(const void *address, const void *site)
{
    struct lock *lock = entry_of((uintptr_t)address);
    if (!lock)
        return;
    for (int i = 0; i < N_LOCK_VERBS; i++)
        __atomic_store_n(&lock->sentences[i], 0, __ATOMIC_RELAXED);
    lock->site = site ? (uintptr_t)site - 1 : 0;
    __atomic_store_n(&lock->noun, 0, __ATOMIC_RELEASE);
}

struct pm_sentence lock_sentence(struct lock *lock, enum lock_verb verb)
{
    uint32_t sentence = __atomic_load_n(&lock->sentences[verb], __ATOMIC_RELAXED);
    if (__builtin_expect(sentence == 0, 0)) {
        struct pm_noun noun = {lock->noun};
        sentence = pm_define_sentence(verbs[verb], &noun, 1).id;
        __atomic_store_n(&lock->sentences[verb], sentence, __ATOMIC_RELAXED);
    }
    return (struct pm_sentence){sentence};
}
