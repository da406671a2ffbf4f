/* Names of addresses. Nothing here takes a lock, for the caller may hold any: objects are found by
 * _dl_find_object, names in the symbol tables of their files. */
#include "symbols.h"
#include "runtime/adapters/adapter.h"

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
    MAX_OBJECTS = 64,
    MAX_SYMBOLS = 1 << 20,
    MAX_NESTED = 64, /* symbols within a symbol that are looked through */
};

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
    bool has_fortran;
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

static bool is_of_fortran(const char *name)
{
    return strncmp(name, "_gfortran_", 10) == 0 || strncmp(name, "_FortranA", 9) == 0 ||
           strcmp(name, "MAIN__") == 0 ||
           (strncmp(name, "__", 2) == 0 && strstr(name, "_MOD_") != NULL);
}

static void look_for_fortran(struct symbols *o)
{
    for (size_t i = 0; i < o->n && !o->has_fortran; i++)
        o->has_fortran =
            o->list[i].st_name < o->n_strings && is_of_fortran(o->strings + o->list[i].st_name);
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
        look_for_fortran(o);
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
static void demangle(const char *symbol, char name[PM_ADAPTER_NAME_BYTES])
{
    size_t n = 0;
    const char *p = strncmp(symbol, "_Z", 2) == 0 ? symbol + 2 : "";
    p += strspn(p, "ZNLKV");
    while (isdigit((unsigned char)*p)) {
        char *end;
        size_t bytes = strtoul(p, &end, 10);
        if (bytes == 0 || bytes > strlen(end) || n + bytes + 3 > PM_ADAPTER_NAME_BYTES)
            break;
        n += (size_t)snprintf(name + n, PM_ADAPTER_NAME_BYTES - n, "%s%.*s", n ? "::" : "",
                              (int)bytes, end);
        p = end + bytes;
        p +=
            *p == 'L' || (*p == 'E' && isdigit((unsigned char)p[1])); /* of a file; in a function */
    }
    if (n == 0)
        snprintf(name, PM_ADAPTER_NAME_BYTES, "%s", symbol);
}

bool pm_adapter_name_of(uintptr_t address, bool is_function, char name[PM_ADAPTER_NAME_BYTES])
{
    const struct symbols *o = address ? object_of(address) : NULL;
    if (!o)
        return false;
    uintptr_t at = address - o->bias;
    const Elf64_Sym *s = symbol_at(o, at, is_function);
    if (!s) {
        snprintf(name, PM_ADAPTER_NAME_BYTES, "%s+0x%lx", o->name, (unsigned long)at);
        return true;
    }
    demangle(o->strings + s->st_name, name);
    size_t n = strlen(name);
    if (!is_function && at > s->st_value &&
        n < PM_ADAPTER_NAME_BYTES - 24) /* an element, a member */
        snprintf(name + n, PM_ADAPTER_NAME_BYTES - n, "+%lu", (unsigned long)(at - s->st_value));
    return true;
}

bool pm_adapter_has_fortran(uintptr_t address)
{
    const struct symbols *o = address ? object_of(address) : NULL;
    return o && o->has_fortran;
}

void pm_adapter_source_name(char name[PM_ADAPTER_NAME_BYTES])
{
    char text[PM_ADAPTER_NAME_BYTES];
    size_t n = strlen(name);
    memcpy(text, name, n + 1);
    char *variable = strncmp(text, "__", 2) == 0 ? strstr(text, "_MOD_") : NULL;
    if (variable)
        snprintf(name, PM_ADAPTER_NAME_BYTES, "%.*s::%s", (int)(variable - text - 2), text + 2,
                 variable + 5);
    else if (strcmp(text, "MAIN__") == 0)
        snprintf(name, PM_ADAPTER_NAME_BYTES, "the main program");
    else if (n > 1 && text[n - 1] == '_')
        name[n - 1] = 0;
}
