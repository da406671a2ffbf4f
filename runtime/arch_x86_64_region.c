/* Where trampolines live on x86-64: regions near the code, and the loader's hook. All trampolines of a region, their probes
 * and the thunk are written first and then made executable. What an event runs when all is as expected lies close
 * together, the ways by the hash table and to the thunk behind it: seldom events pay for each cache line.
 */
#include "arch_x86_64_emit.h"
#include "sys.h"

#include <string.h>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* --- regions --- */

static void *map_at(uintptr_t address, size_t size)
{
    long result = pm_sys(SYS_mmap, address, size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (result < 0 && result > -4096)
        return NULL;
    if ((uintptr_t)result != address) { /* kernels before 4.17 take the address for a wish */
        pm_sys(SYS_munmap, result, size);
        return NULL;
    }
    return (void *)result;
}

/* Below first: above the main program its heap wants to grow. The steps are coarse, for a search
 * costs a system call each. */
void *pm_map_near(uintptr_t low, uintptr_t high, size_t size)
{
    const uintptr_t reach = 0x7ff00000u, step = 0x100000u, lowest = 0x10000u;
    size = (size + PM_RUN_PAGE - 1) & ~(size_t)(PM_RUN_PAGE - 1);
    low &= ~(uintptr_t)(PM_RUN_PAGE - 1);
    high = (high + PM_RUN_PAGE - 1) & ~(uintptr_t)(PM_RUN_PAGE - 1);
    for (uintptr_t at = low - size; at >= lowest && at < low && high - at < reach; at -= step) {
        void *memory = map_at(at, size);
        if (memory != NULL)
            return memory;
    }
    /* The heap starts within 32 MiB behind a small-address program and may start within 1 GiB
     * behind others. */
    for (uintptr_t at = high + 0x60000000u; at > high; at -= step) {
        void *memory = at + size - low < reach ? map_at(at, size) : NULL;
        if (memory != NULL)
            return memory;
    }
    return NULL;
}

static bool is_wanted(const struct pm_sled *sled, enum pm_run_mode mode)
{
    if (sled->noun == UINT32_MAX)
        return false;
    return mode != PM_RUN_MODE_COUNT || sled->kind == PM_SLED_ENTRY ||
           sled->kind == PM_SLED_LOOP_ENTER;
}

static struct pm_probe probe_of(const struct pm_object *object, const struct pm_sled *sled,
                                enum pm_run_mode mode)
{
    bool loop = sled->kind == PM_SLED_LOOP_ENTER || sled->kind == PM_SLED_LOOP_LEAVE;
    uint8_t depth = sled->flags & PM_SLED_DEPTH_MASK;
    return (struct pm_probe){.noun = object->first_noun + sled->noun,
                             .kind = sled->kind,
                             .loop_depth = loop ? (depth != 0 ? depth : 1) : 0,
                             .mode = (uint8_t)mode,
                             .bank = object->bank,
                             .counter = sled->noun};
}

static size_t whole_pages(size_t bytes)
{
    return (bytes + PM_RUN_PAGE - 1) & ~(size_t)(PM_RUN_PAGE - 1);
}

/* Region: thunk, probes, what trampolines run nearly always, the rest of them. The room between that is not
 * needed is never touched, so it costs no memory. */
bool pm_arch_generate(struct pm_object *object, enum pm_run_mode mode)
{
    size_t n = 0;
    for (uint32_t i = 0; i < object->n_sleds; i++)
        n += is_wanted(&object->sleds[i], mode);
    size_t head = X86_THUNK_BYTES + n * sizeof(struct pm_probe);
    size_t cold_at = whole_pages(head + n * X86_LARGEST_FAST);
    size_t size = whole_pages(cold_at + n * X86_LARGEST_COLD);
    uint8_t *region = pm_map_near(object->low, object->high, size);
    if (region == NULL)
        return false;
    struct pm_probe *probes = (struct pm_probe *)(region + X86_THUNK_BYTES);
    struct x86_code c = {region}, cold = {region + cold_at};
    x86_thunk(&c, probes);
    c.p = region + head;
    uint32_t index = 0;
    for (uint32_t i = 0; i < object->n_sleds; i++) {
        struct pm_sled *sled = &object->sleds[i];
        sled->trampoline = 0;
        if (!is_wanted(sled, mode))
            continue;
        while (((uintptr_t)c.p & 15) != 0)
            x86_byte(&c, 0xcc);
        sled->trampoline = (uint32_t)(c.p - region);
        probes[index] = probe_of(object, sled, mode);
        x86_trampoline(&c, &cold, sled, &probes[index], index, region);
        index++;
    }
    size_t used = whole_pages((size_t)(cold.p - region));
    if (used < size)
        pm_sys(SYS_munmap, region + used, size - used);
    object->code = region;
    object->code_bytes = used;
    if (pm_sys(SYS_mprotect, region, used, PROT_READ | PROT_EXEC) != 0) {
        pm_arch_release(object);
        return false;
    }
    pm_adapt_armed(object);
    return true;
}

void pm_arch_release(struct pm_object *object)
{
    if (object->code != NULL)
        pm_sys(SYS_munmap, object->code, object->code_bytes);
    object->code = NULL;
    object->code_bytes = 0;
}

void pm_arch_jump(const struct pm_object *object, const struct pm_sled *sled, uint8_t ret_bytes[5])
{
    int32_t distance = (int32_t)((uintptr_t)object->code + sled->trampoline - (sled->address + 5));
    ret_bytes[0] = 0xe9;
    __builtin_memcpy(ret_bytes + 1, &distance, 4);
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
    struct x86_code c = {region};
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
