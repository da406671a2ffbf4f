/* Where trampolines live on x86-64: regions near the code, and the loader's hook. An object has
 * one region with room for the trampolines of all modes; those of a mode are written when it is first wanted, and stay: threads may be in
 * them, and a noun that goes back and forth between modes costs no more memory. What an event runs when all is as expected lies close
 * together, the ways by the hash table and to the thunk behind it: seldom events pay for each cache line.
 */
#include "arch_x86_64_emit.h"
#include "sys.h"

#include <string.h>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { FILL_BYTES = 32 * 1024 };

/* --- regions --- */

static void *map_at(uintptr_t address, size_t size, int prot)
{
    long result = pm_sys(SYS_mmap, address, size, prot,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (result < 0 && result > -4096)
        return NULL;
    if ((uintptr_t)result != address) { /* kernels before 4.17 take the address for a wish */
        pm_sys(SYS_munmap, result, size);
        return NULL;
    }
    return (void *)result;
}

static size_t whole_pages(size_t bytes)
{
    return (bytes + PM_RUN_PAGE - 1) & ~(size_t)(PM_RUN_PAGE - 1);
}

/* Below first: above the main program its heap wants to grow. The steps are coarse, for a search
 * costs a system call each. */
static void *map_near(uintptr_t low, uintptr_t high, size_t size, int prot)
{
    const uintptr_t reach = 0x7ff00000u, step = 0x100000u, lowest = 0x10000u;
    size = whole_pages(size);
    low &= ~(uintptr_t)(PM_RUN_PAGE - 1);
    high = whole_pages(high);
    for (uintptr_t at = low - size; at >= lowest && at < low && high - at < reach; at -= step) {
        void *memory = map_at(at, size, prot);
        if (memory != NULL)
            return memory;
    }
    /* The heap starts within 32 MiB behind a small-address program and may start within 1 GiB
     * behind others. */
    for (uintptr_t at = high + 0x60000000u; at > high; at -= step) {
        void *memory = at + size - low < reach ? map_at(at, size, prot) : NULL;
        if (memory != NULL)
            return memory;
    }
    return NULL;
}

void *pm_map_near(uintptr_t low, uintptr_t high, size_t size)
{
    return map_near(low, high, size, PROT_READ | PROT_WRITE);
}

/* --- the trampolines of one object and mode --- */

/* Where things lie in it: thunk; for each sled of the object where its trampoline begins (uint32_t, 0: none); probes; what
 * trampolines run nearly always; the rest of them. */
struct layout {
    size_t places, probes, fast, cold, end;
};

static bool is_entry(const struct pm_sled *sled)
{
    return sled->kind == PM_SLED_ENTRY || sled->kind == PM_SLED_LOOP_ENTER;
}

static bool is_wanted(const struct pm_sled *sled, enum pm_run_mode mode)
{
    return sled->noun != UINT32_MAX && (mode != PM_RUN_MODE_COUNT || is_entry(sled));
}

/* With so many trampolines. */
static struct layout lay_out(const struct pm_object *object, size_t n)
{
    struct layout l = {.places = X86_THUNK_BYTES};
    l.probes = (l.places + object->n_sleds * sizeof(uint32_t) + 15) & ~(size_t)15;
    l.fast = l.probes + n * sizeof(struct pm_probe);
    l.cold = whole_pages(l.fast + n * X86_LARGEST_FAST);
    l.end = whole_pages(l.cold + n * X86_LARGEST_COLD);
    return l;
}

static size_t n_wanted(const struct pm_object *object, enum pm_run_mode mode)
{
    size_t n = 0;
    for (uint32_t i = 0; i < object->n_sleds; i++)
        n += is_wanted(&object->sleds[i], mode);
    return n;
}

static void fill_probe(struct pm_probe *probe, const struct pm_object *object,
                       const struct pm_sled *sled, enum pm_run_mode mode)
{
    bool loop = sled->kind == PM_SLED_LOOP_ENTER || sled->kind == PM_SLED_LOOP_LEAVE;
    uint8_t depth = sled->flags & PM_SLED_DEPTH_MASK;
    probe->noun = object->first_noun + sled->noun;
    probe->kind = sled->kind;
    probe->loop_depth = loop ? (depth != 0 ? depth : 1) : 0;
    probe->mode = (uint8_t)mode;
    probe->bank = object->bank;
    probe->counter = sled->noun;
    const struct pm_noun *noun = pm_noun_at(probe->noun);
    probe->inside = noun != NULL && mode != PM_RUN_MODE_COUNT ? noun->inside : 0;
}

/* Memory for what is about to be written, without a fault for each page. */
static void fill_ahead(const uint8_t *at, uint8_t **filled, const uint8_t *end)
{
    while (at + X86_LARGEST_FAST > *filled && *filled < end) {
        size_t bytes = (size_t)(end - *filled) < FILL_BYTES ? (size_t)(end - *filled) : FILL_BYTES;
        pm_sys(SYS_madvise, *filled, bytes, MADV_POPULATE_WRITE); /* since Linux 5.14 */
        *filled += bytes;
    }
}

/* Returns the end. */
static size_t generate(struct pm_object *object, enum pm_run_mode mode, uint8_t *part,
                       const struct layout *l)
{
    uint32_t *places = (uint32_t *)(part + l->places), index = 0;
    struct pm_probe *probes = (struct pm_probe *)(part + l->probes);
    struct x86_code c = {.p = part}, cold = {.p = part + l->cold};
    uint8_t *filled = part, *cold_filled = part + l->cold;
    fill_ahead(part + l->fast, &filled, part + l->cold);
    x86_thunk(&c, probes);
    x86_templates_begin();
    c.p = part + l->fast;
    for (uint32_t i = 0; i < object->n_sleds; i++) {
        struct pm_sled *sled = &object->sleds[i];
        if (!is_wanted(sled, mode))
            continue;
        while (((uintptr_t)c.p & 15) != 0)
            x86_byte(&c, 0xcc);
        fill_ahead(c.p, &filled, part + l->cold);
        fill_ahead(cold.p, &cold_filled, part + l->end);
        places[i] = (uint32_t)(c.p - part);
        fill_probe(&probes[index], object, sled, mode);
        c.flag = cold.flag = object->flags != NULL ? object->flags + sled->noun : NULL;
        x86_trampoline_again(&c, &cold, sled, &probes[index], index, part);
        index++;
    }
    return (size_t)(cold.p - part);
}

/* Room for all modes at once, without memory: places.c and the jumps need one region near the code. */
static bool reserve(struct pm_object *object)
{
    if (object->code != NULL)
        return true;
    size_t size = 0;
    for (unsigned mode = PM_RUN_MODE_COUNT; mode < PM_N_MODES; mode++)
        size += lay_out(object, n_wanted(object, (enum pm_run_mode)mode)).end;
    size_t flags_bytes = object->has_flags ? whole_pages(object->n_nouns) : 0;
    object->code = map_near(object->low, object->high, size + flags_bytes, PROT_NONE);
    if (object->code == NULL)
        return false;
    object->code_bytes = size + flags_bytes;
    if (flags_bytes != 0 &&
        pm_sys(SYS_mprotect, object->code + size, flags_bytes, PROT_READ | PROT_WRITE) == 0) {
        object->flags = object->code + size;
        memset(object->flags, 1, flags_bytes);
    }
    return true;
}

bool pm_arch_generate(struct pm_object *object, enum pm_run_mode mode)
{
    if (mode == PM_RUN_MODE_OFF || object->parts[mode] != NULL)
        return true;
    if (!reserve(object))
        return false;
    uint8_t *part = object->code;
    struct layout l = lay_out(object, n_wanted(object, mode));
    for (unsigned before = PM_RUN_MODE_COUNT; before < mode; before++)
        part += lay_out(object, n_wanted(object, (enum pm_run_mode)before)).end;
    if (pm_sys(SYS_mprotect, part, l.end, PROT_READ | PROT_WRITE) != 0)
        return false;
    size_t used = whole_pages(generate(object, mode, part, &l));
    if (used < l.end)
        pm_sys(SYS_mprotect, part + used, l.end - used, PROT_NONE);
    if (pm_sys(SYS_mprotect, part, used, PROT_READ | PROT_EXEC) != 0)
        return false;
    pm_store(object->parts[mode], part);
    return true;
}

void pm_arch_release(struct pm_object *object)
{
    if (object->code != NULL)
        pm_sys(SYS_munmap, object->code, object->code_bytes);
    object->code = NULL;
    object->flags = NULL;
    object->code_bytes = 0;
    memset(object->parts, 0, sizeof object->parts);
}

bool pm_arch_jump(const struct pm_object *object, const struct pm_sled *sled, enum pm_run_mode mode,
                  uint8_t ret_bytes[5])
{
    const uint8_t *part = object->parts[mode];
    uint32_t place =
        part != NULL ? ((const uint32_t *)(part + X86_THUNK_BYTES))[sled - object->sleds] : 0;
    if (place == 0) {
        __builtin_memcpy(ret_bytes, pm_arch_nop, sizeof pm_arch_nop);
        return false;
    }
    int32_t distance = (int32_t)((uintptr_t)part + place - (sled->address + 5));
    ret_bytes[0] = 0xe9;
    __builtin_memcpy(ret_bytes + 1, &distance, 4);
    return true;
}

/* --- ld.so's hook --- */

/* A function that is only a return and padding to 16 bytes (with or without endbr64). */
static bool is_empty_function(const uint8_t *p)
{
    static const uint8_t endbr[4] = {0xf3, 0x0f, 0x1e, 0xfa};
    const uint8_t *end = p + 16;
    if (((uintptr_t)p & 15) != 0)
        return false;
    if (memcmp(p, endbr, sizeof endbr) == 0)
        p += sizeof endbr;
    if (*p++ != 0xc3)
        return false;
    for (; p < end; p++) /* bytes of the assembler's long no-operations, int3 */
        if (*p != 0x66 && *p != 0x2e && *p != 0x0f && *p != 0x1f && *p != 0x84 && *p != 0x90 &&
            *p != 0x00 && *p != 0x40 && *p != 0x44 && *p != 0x80 && *p != 0xcc)
            return false;
    return true;
}

bool pm_arch_hook_function(uintptr_t function, void (*replacement)(void))
{
    if (!is_empty_function((const uint8_t *)function))
        return false;
    uint8_t *region = pm_map_near(function, function + 16, PM_RUN_PAGE);
    if (region == NULL)
        return false;
    struct x86_code c = {.p = region};
    X86_BYTES(&c, "\x48\xb8"); /* movabs $replacement, %rax; jmp *%rax */
    uint64_t address = (uint64_t)replacement;
    x86_word64(&c, address);
    X86_BYTES(&c, "\xff\xe0");
    struct pm_patch patch = {.address = function, .bytes = {0xe9}};
    int32_t distance = (int32_t)((uintptr_t)region - (function + 5));
    __builtin_memcpy(patch.bytes + 1, &distance, 4);
    return pm_sys(SYS_mprotect, region, PM_RUN_PAGE, PROT_READ | PROT_EXEC) == 0 &&
           pm_patch_apply(&patch, 1, PROT_READ | PROT_EXEC, true);
}
