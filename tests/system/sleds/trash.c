/* A preloaded library that arms every sled of every loaded object, as unfriendly as the sled record
 * allows: each trampoline writes garbage into all registers that the record calls free, into the
 * flags, and below the stack pointer where no red zone is promised; then it counts. A program that
 * behaves under it tells its callers, and the compiler, the truth about its registers.
 *
 * Portable hooks are armed too: their event is a counting function.
 *
 * At exit one line for each id goes to the file named by TRASH_OUT: "ID ENTRIES RETURNS TAILS
 * ENTERS LEAVES".
 */
#define _GNU_SOURCE
#include "../../../format/pm_sled.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRAMPOLINE_BYTES = 192, MAX_SLEDS = 1 << 20 };

static struct counter {
    uint64_t id, n;
    unsigned kind;
} * counters;
static size_t n_counters;

static unsigned char *put(unsigned char *p, const void *bytes, size_t len)
{
    memcpy(p, bytes, len);
    return p + len;
}
#define PUT(p, ...) \
    put(p, (const unsigned char[]){__VA_ARGS__}, sizeof((unsigned char[]){__VA_ARGS__}))

static unsigned char *put_32(unsigned char *p, long value)
{
    int32_t v = (int32_t)value;
    if (v != value)
        abort();
    return put(p, &v, 4);
}

static void make_trampoline(unsigned char *p, const struct pm_sled_record *record,
                            struct counter *counter, unsigned char *sled)
{
    uint64_t garbage = 0xdeadbeefcafe0001;
    if (!(record->flags & PM_SLED_SP_AT_CFA))
        p = PUT(p, 0x48, 0x8d, 0x64, 0x24, 0x80);         /* lea -128(%rsp), %rsp */
    p = PUT(p, 0x6a, 0xff, 0x48, 0x8d, 0x64, 0x24, 0x08); /* push $-1; lea 8(%rsp), %rsp */
    for (unsigned reg = 0; reg < 16; reg++)
        if (!(record->must_save & (1u << reg))) { /* movabs $garbage, %reg */
            p = PUT(p, (unsigned char)(0x48 | (reg >> 3)), (unsigned char)(0xb8 | (reg & 7)));
            p = put(p, &garbage, 8);
        }
    p = PUT(p, 0xf0, 0x48, 0xff, 0x05); /* lock incq counter(%rip): changes the flags too */
    p = put_32(p, (long)&counter->n - (long)(p + 4));
    if (!(record->flags & PM_SLED_SP_AT_CFA))
        p = PUT(p, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0); /* lea 128(%rsp), %rsp */
    p = PUT(p, 0xe9);
    put_32(p, (long)(sled + 5) - (long)(p + 4));
}

static void arm(const struct pm_sled_record *record, unsigned char *trampoline,
                struct counter *counter)
{
    unsigned char *sled = (unsigned char *)&record->offset + record->offset;
    unsigned char *page = (unsigned char *)((uintptr_t)sled & ~(uintptr_t)4095);
    if (memcmp(sled, "\x0f\x1f\x44\x00\x00", 5) != 0)
        abort();
    *counter = (struct counter){.id = record->id, .kind = record->kind};
    make_trampoline(trampoline, record, counter, sled);
    mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
    sled[0] = 0xe9;
    put_32(sled + 1, (long)trampoline - (long)(sled + 5));
}

/* Trampolines and counters near the object. */
static unsigned char *near_memory(uintptr_t above, size_t len)
{
    for (uintptr_t at = (above + 0xffff) & ~(uintptr_t)0xffff;; at += 1 << 20) {
        void *got = mmap((void *)at, len, PROT_READ | PROT_WRITE | PROT_EXEC,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (got != MAP_FAILED)
            return got;
    }
}

/* Portable events: an open hash of all (id, kind) seen. */
enum { MAX_EVENTS = 4096 };
static struct counter events[MAX_EVENTS];

static void count_event(unsigned kind, uint64_t id, const void *frame, unsigned depth)
{
    bool is_loop = kind == PM_SLED_LOOP_ENTER || kind == PM_SLED_LOOP_LEAVE;
    if (frame == NULL || kind < PM_SLED_ENTRY || kind > PM_SLED_LAND || depth > PM_SLED_DEPTH_MASK)
        abort();
    if (kind != PM_SLED_LAND && is_loop != (depth > 0))
        abort();
    for (size_t i = id % MAX_EVENTS;; i = (i + 1) % MAX_EVENTS) {
        uint64_t none = 0;
        uint64_t key = id * 8 + kind;
        if (__atomic_compare_exchange_n(&events[i].id, &none, key, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            none == key) {
            __atomic_add_fetch(&events[i].n, 1, __ATOMIC_RELAXED);
            return;
        }
    }
}

static void arm_hooks(struct pm_portable_hook *hooks, size_t size)
{
    if (size % sizeof *hooks)
        abort();
    for (size_t i = 0; i < size / sizeof *hooks; i++) {
        if (hooks[i].version != PM_HOOK_VERSION || hooks[i].size != sizeof *hooks || hooks[i].event)
            abort();
        hooks[i].event = count_event;
    }
}

static void arm_object(const unsigned char *file, uintptr_t bias, uintptr_t end)
{
    const Elf64_Ehdr *header = (const void *)file;
    const Elf64_Shdr *sections = (const void *)(file + header->e_shoff);
    const char *names = (const char *)file + sections[header->e_shstrndx].sh_offset;
    for (int i = 0; i < header->e_shnum; i++) {
        if (strcmp(names + sections[i].sh_name, PM_HOOK_SECTION) == 0)
            arm_hooks((void *)(bias + sections[i].sh_addr), sections[i].sh_size);
        if (strcmp(names + sections[i].sh_name, PM_SLED_SECTION) != 0)
            continue;
        const struct pm_sled_record *records = (const void *)(bias + sections[i].sh_addr);
        size_t n = sections[i].sh_size / sizeof *records;
        unsigned char *memory =
            near_memory(end, n * (TRAMPOLINE_BYTES + sizeof(struct counter)) + 4096);
        struct counter *own = (struct counter *)(memory + n * TRAMPOLINE_BYTES);
        for (size_t r = 0; r < n; r++) {
            arm(&records[r], memory + r * TRAMPOLINE_BYTES, &own[r]);
            counters = realloc(counters, (n_counters + 1) * sizeof *counters);
            counters[n_counters++] = (struct counter){.n = (uintptr_t)&own[r]};
        }
    }
}

static int visit(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    uintptr_t end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    struct stat st;
    int fd = open(info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe", O_RDONLY);
    if (fd < 0 || fstat(fd, &st) != 0)
        return 0;
    unsigned char *file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    arm_object(file, info->dlpi_addr, end);
    munmap(file, (size_t)st.st_size);
    return 0;
}

__attribute__((constructor)) static void arm_all(void)
{
    dl_iterate_phdr(visit, NULL);
}

static int by_id(const void *a, const void *b)
{
    const struct counter *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Sleds' counters lie beside their trampolines. The key of an event is its id without the upper
 * three bits, and its kind. */
static void gather(void)
{
    for (size_t i = 0; i < n_counters; i++)
        counters[i] = *(struct counter *)counters[i].n;
    for (size_t i = 0; i < MAX_EVENTS; i++) {
        if (events[i].id == 0)
            continue;
        counters = realloc(counters, (n_counters + 1) * sizeof *counters);
        counters[n_counters++] =
            (struct counter){.id = events[i].id >> 3, .kind = events[i].id & 7, .n = events[i].n};
    }
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("TRASH_OUT");
    FILE *out = path ? fopen(path, "w") : NULL;
    if (out == NULL)
        return;
    gather();
    qsort(counters, n_counters, sizeof *counters, by_id);
    uint64_t n[PM_SLED_LAND + 1] = {0};
    for (size_t i = 0; i < n_counters; i++) {
        n[counters[i].kind] += counters[i].n;
        if (i + 1 < n_counters && counters[i + 1].id == counters[i].id)
            continue;
        fprintf(out, "%016lx %lu %lu %lu %lu %lu\n", counters[i].id, n[1], n[2], n[3], n[4], n[5]);
        memset(n, 0, sizeof n);
    }
    fclose(out);
}
