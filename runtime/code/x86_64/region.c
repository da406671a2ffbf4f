/* Where trampolines live on x86-64: regions near the code, and the loader's hook. An object has
 * one region with room for the trampolines of all modes; those of a mode are written when some
 * noun first wants it, and stay: threads may be in them, and a noun that goes back and forth
 * between modes costs no more memory. They come in batches, of the nouns that are changed
 * together: each begins with pages of its own, for those of others cannot be written while
 * threads run in them. What an event runs when all is as expected lies close together, the way
 * to the thunk (of timed ones also that by the hash table) behind it: seldom events pay for each
 * cache line.
 */
#include "runtime/base/sys.h"
#include "runtime/code/modes.h"
#include "runtime/code/patch.h"
#include "runtime/code/x86_64/emit.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum {
    FILL_BYTES = 32 * 1024,
    USUAL_BYTES = 64,
    MAX_BATCHES = 16,
    CACHE_LINE = 64,
    NEAR_SLEDS = 32
};

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
    return pm_mapped(result, size);
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

/* Where things lie in it: for each sled of the object where its trampoline begins (uint32_t, 0:
 * none); probes; the thunk, and behind it the batches, each with what its trampolines run nearly
 * always and then the rest of them. */
struct layout {
    size_t probes, code, end;
};

static bool is_entry(const struct pm_sled *sled)
{
    return sled->kind == PM_SLED_ENTRY || sled->kind == PM_SLED_LOOP_ENTER;
}

static bool is_wanted(const struct pm_sled *sled, enum pm_run_mode mode)
{
    return sled->noun != UINT32_MAX && (mode != PM_RUN_MODE_COUNT || is_entry(sled));
}

/* Of a batch with so many trampolines, at most. */
static size_t batch_bytes(size_t n)
{
    return whole_pages(X86_THUNK_BYTES + n * X86_LARGEST_FAST) + whole_pages(n * X86_LARGEST_COLD);
}

static struct layout lay_out(const struct pm_object *object, size_t n)
{
    struct layout l;
    l.probes = (object->n_sleds * sizeof(uint32_t) + 15) & ~(size_t)15;
    l.code = whole_pages(l.probes + n * sizeof(struct pm_probe));
    l.end = l.code + batch_bytes(n) + MAX_BATCHES * 2 * PM_RUN_PAGE;
    return l;
}

/* 0: there is none, or it was never completed (a thread of the parent was at it). */
static uint32_t place_of(const struct pm_part *part, size_t sled)
{
    uint32_t place = part->end != 0 ? ((const uint32_t *)part->at)[sled] : 0;
    return place < part->end ? place : 0;
}

/* The entry's sled of the function at the address, behind an endbr64 if there is one; NULL: it
 * has none. */
static const struct pm_sled *entry_at(const struct pm_object *object, uintptr_t address)
{
    for (uint32_t low = 0, high = object->n_sleds; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        const struct pm_sled *sled = &object->sleds[middle];
        if (sled->address == address || sled->address == address + 4)
            return sled->kind == PM_SLED_ENTRY && sled->noun < object->n_nouns ? sled : NULL;
        if (sled->address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

uintptr_t x86_jump_target(const uint8_t *jump)
{
    int32_t distance;
    if (jump[0] == 0xeb)
        return (uintptr_t)jump + 2 + (uintptr_t)(intptr_t)(int8_t)jump[1];
    if (jump[0] != 0xe9)
        return 0;
    __builtin_memcpy(&distance, jump + 1, 4);
    return (uintptr_t)jump + 5 + (uintptr_t)(intptr_t)distance;
}

static const uint8_t *past_endbr(const uint8_t *p)
{
    return p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e && p[3] == 0xfa ? p + 4 : p;
}

const uint8_t *x86_stub_jump(const uint8_t *stub)
{
    stub = past_endbr(stub);
    stub += stub[0] == 0xf2; /* bnd */
    return stub[0] == 0xff && stub[1] == 0x25 ? stub : NULL;
}

static bool others_have_sleds(const struct pm_object *object)
{
    for (uint32_t i = 0; i < pm_n_objects; i++)
        if (pm_objects[i] != NULL && pm_objects[i] != object && pm_objects[i]->loaded &&
            pm_objects[i]->n_sleds != 0)
            return true;
    return false;
}

static bool has_sleds_at(uintptr_t address)
{
    for (uint32_t i = 0; i < pm_n_objects; i++)
        if (pm_objects[i] != NULL && pm_objects[i]->loaded && pm_objects[i]->n_sleds != 0 &&
            address >= pm_objects[i]->low && address < pm_objects[i]->high)
            return true;
    return false;
}

/* A jump through the procedure linkage table: to code with sleds? As long as nothing was called
 * through the stub its slot leads to the loader, which finds a function of any object; one of the
 * program's own is not called through stubs of the program, and objects that come later do not
 * stand in for those that it was linked with. dlopen() shows us a library before its slots are
 * relocated: they are 0, or lead to the stub as if the library lay at address 0. */
static bool may_lead_to_sled(const struct pm_object *object, const uint8_t *stub_jump)
{
    int32_t distance;
    uintptr_t to;
    __builtin_memcpy(&distance, stub_jump + 2, 4);
    uintptr_t slot = (uintptr_t)stub_jump + 6 + (uintptr_t)(intptr_t)distance;
    if (slot % sizeof to != 0 || slot < object->low || slot > object->high - sizeof to)
        return true;
    __builtin_memcpy(&to, (const void *)slot, sizeof to);
    if (to < object->high - object->low)
        return true;
    if (to < object->low || to >= object->high)
        return has_sleds_at(to);
    return object->phdr != (const void *)getauxval(AT_PHDR) || others_have_sleds(object);
}

/* Behind one instruction of those with which a thunk of C++ adjusts `this`; NULL: it is another.
 * Reads no byte behind the instruction. */
static const uint8_t *past_adjustment(const uint8_t *p)
{
    if (past_endbr(p) != p)
        return past_endbr(p);
    if (p[0] == 0x48 && (p[1] == 0x83 || p[1] == 0x81) && (p[2] == 0xef || p[2] == 0xc7))
        return p + (p[1] == 0x83 ? 4 : 7); /* sub or add $n, %rdi */
    if (p[0] == 0x4c && p[1] == 0x8b && p[2] == 0x17)
        return p + 3; /* mov (%rdi), %r10: its table of virtual functions */
    if (p[0] == 0x49 && p[1] == 0x03 && (p[2] == 0x7a || p[2] == 0xba))
        return p + (p[2] == 0x7a ? 4 : 7); /* add n(%r10), %rdi */
    return NULL;
}

/* The function to which a thunk at the address jumps; 0: there is no thunk. */
static uintptr_t past_thunk(uintptr_t address)
{
    const int longest = 4;
    const uint8_t *p = (const uint8_t *)address, *next = p;
    for (int i = 0; i <= longest && next != NULL; i++) {
        p = next;
        next = past_adjustment(p);
    }
    return (uintptr_t)p != address ? x86_jump_target(p) : 0;
}

/* Behind the sled of a tail call stands the jump. */
static enum pm_tail tail_of(const struct pm_object *object, const struct pm_sled *sled,
                            const struct pm_sled **ret_entry)
{
    uintptr_t to = x86_jump_target((const uint8_t *)sled->address + 5);
    if (to == 0)
        return PM_TAIL_ANYWHERE;
    *ret_entry = entry_at(object, to);
    if (*ret_entry != NULL)
        return PM_TAIL_TO_SLED;
    if (to < object->low || to >= object->high)
        return PM_TAIL_TO_OTHER;
    const uint8_t *by_memory = x86_stub_jump((const uint8_t *)to);
    if (by_memory != NULL)
        return may_lead_to_sled(object, by_memory) ? PM_TAIL_ANYWHERE : PM_TAIL_TO_OTHER;
    *ret_entry = entry_at(object, past_thunk(to));
    /* Code that has no sleds may jump on to code that has some. */
    return *ret_entry != NULL ? PM_TAIL_TO_SLED : PM_TAIL_ANYWHERE;
}

enum pm_tail pm_arch_tail(const struct pm_object *object, const struct pm_sled *sled,
                          uint32_t *ret_noun)
{
    const struct pm_sled *entry;
    enum pm_tail tail = tail_of(object, sled, &entry);
    if (tail == PM_TAIL_TO_SLED)
        *ret_noun = object->first_noun + entry->noun;
    return tail;
}

/* ret_target: of a tail call, the sled that it leads to; NULL: none, or one that is followed
 * within others only. */
static void fill_probe(struct pm_probe *probe, const struct pm_object *object,
                       const struct pm_sled *sled, enum pm_run_mode mode,
                       const uint8_t **ret_target)
{
    bool loop = sled->kind == PM_SLED_LOOP_ENTER || sled->kind == PM_SLED_LOOP_LEAVE;
    uint8_t depth = sled->flags & PM_SLED_DEPTH_MASK;
    probe->noun = object->first_noun + sled->noun;
    probe->kind = sled->kind;
    probe->loop_depth = loop ? (depth != 0 ? depth : 1) : sled->kind == PM_SLED_LAND ? depth : 0;
    probe->by_setjmp = sled->kind == PM_SLED_LAND && (sled->flags & PM_SLED_BY_SETJMP) != 0;
    probe->mode = (uint8_t)mode;
    probe->bank = object->bank;
    probe->counter = sled->noun;
    const struct pmr_noun *noun = pm_noun_at(probe->noun);
    probe->inside = noun != NULL && mode != PM_RUN_MODE_COUNT ? noun->inside : 0;
    probe->tail = PM_TAIL_ENDS;
    *ret_target = NULL;
    if (sled->kind != PM_SLED_TAIL || mode == PM_RUN_MODE_COUNT)
        return;
    const struct pm_sled *entry;
    probe->tail = (uint8_t)tail_of(object, sled, &entry);
    if (probe->tail != PM_TAIL_TO_SLED)
        return;
    probe->counter = object->first_noun + entry->noun;
    *ret_target = (const uint8_t *)entry->address;
}

/* Memory for what is about to be written, without a fault for each page. bytes: at a time. */
static void fill_ahead(const uint8_t *at, uint8_t **filled, const uint8_t *end, size_t bytes)
{
    while (at + X86_LARGEST_FAST > *filled && *filled < end) {
        size_t left = (size_t)(end - *filled);
        bytes = left < bytes ? left : bytes;
        pm_sys(SYS_madvise, *filled, bytes, MADV_POPULATE_WRITE); /* since Linux 5.14 */
        *filled += bytes;
    }
}

/* What is to be made. */
struct batch {
    enum pm_run_mode mode;
    const uint32_t *list; /* of sleds, some of which may be there; NULL: all */
    uint32_t n_list;
    size_t n;             /* that are not */
    uint32_t begin, cold; /* from the part's begin */
};

/* The sled, if it is to have one. ret_number: its number. */
static struct pm_sled *new_one(const struct pm_object *object, const struct batch *batch,
                               uint32_t i, uint32_t *ret_number)
{
    uint32_t number = *ret_number = batch->list != NULL ? batch->list[i] : i;
    struct pm_sled *sled = &object->sleds[number];
    return is_wanted(sled, batch->mode) && place_of(&object->parts[batch->mode], number) == 0
               ? sled
               : NULL;
}

/* Where the next trampolines go. */
struct generation {
    struct pm_object *object;
    uint8_t *at; /* of the part */
    const uint8_t *thunk, *middle, *end;
    struct pm_probe *probes;
    uint32_t n_probes; /* with those before */
    struct x86_code c, cold;
    uint8_t *filled, *cold_filled;
    size_t fill_bytes;
};

static void make_one(struct generation *g, const struct pm_sled *sled, uint32_t number,
                     enum pm_run_mode mode)
{
    struct pm_object *object = g->object;
    uint32_t index = g->n_probes++;
    /* That hardly any handler comes between two neighbours of mode trace (x86_64/trace.c)
     * was measured of such. */
    while (mode != PM_RUN_MODE_ACTIVE && (uintptr_t)g->c.p % 16 != 0)
        x86_byte(&g->c, 0xcc);
    fill_ahead(g->c.p, &g->filled, g->middle, g->fill_bytes);
    fill_ahead(g->cold.p, &g->cold_filled, g->end, g->fill_bytes);
    ((uint32_t *)g->at)[number] = (uint32_t)(g->c.p - g->at);
    fill_probe(&g->probes[index], object, sled, mode, &g->c.target);
    g->c.flag = g->cold.flag = object->flags != NULL ? object->flags + sled->noun : NULL;
    x86_trampoline_again(&g->c, &g->cold, sled, &g->probes[index], index, g->thunk);
}

static const struct pm_sled *sled_at(const struct pm_object *object, const struct batch *batch,
                                     uint32_t i)
{
    return &object->sleds[batch->list != NULL ? batch->list[i] : i];
}

/* The entry that the i-th of the batch, an exit, belongs to; i: none is near, and in the same
 * function. */
static uint32_t entry_before(const struct pm_object *object, const struct batch *batch, uint32_t i)
{
    uint32_t number, last = i > NEAR_SLEDS ? i - NEAR_SLEDS : 0;
    uint32_t noun = sled_at(object, batch, i)->noun;
    for (uint32_t j = i; j-- > last;) {
        const struct pm_sled *sled = sled_at(object, batch, j);
        if (sled->noun == noun && is_entry(sled) && new_one(object, batch, j, &number) != NULL)
            return j;
        if (sled->kind == PM_SLED_ENTRY)
            break;
    }
    return i;
}

/* An entry with its exits behind it, from the begin of a cache line on: lines of code are what
 * calls cost in large programs. Entries of mode count are short. */
static void make_group(struct generation *g, const struct batch *batch, uint32_t i)
{
    uint32_t number;
    const struct pm_sled *sled = new_one(g->object, batch, i, &number);
    if (sled == NULL || (!is_entry(sled) && entry_before(g->object, batch, i) != i))
        return;
    while (batch->mode != PM_RUN_MODE_COUNT && (uintptr_t)g->c.p % CACHE_LINE != 0)
        x86_byte(&g->c, 0xcc);
    make_one(g, sled, number, batch->mode);
    if (!is_entry(sled))
        return;
    for (uint32_t j = i + 1; j < batch->n_list && j - i <= NEAR_SLEDS; j++) {
        const struct pm_sled *exit = sled_at(g->object, batch, j);
        if (exit->kind == PM_SLED_ENTRY)
            break;
        if (exit->noun == sled->noun && !is_entry(exit) &&
            new_one(g->object, batch, j, &number) != NULL && entry_before(g->object, batch, j) == i)
            make_one(g, exit, number, batch->mode);
    }
}

/* Returns where they end. ret_n_probes: with those before. */
static uint32_t generate(struct pm_object *object, const struct layout *l,
                         const struct batch *batch, uint32_t *ret_n_probes)
{
    const struct pm_part *part = &object->parts[batch->mode];
    uint8_t *at = part->at, *thunk = at + l->code;
    const uint8_t *first = object->parts[PM_RUN_MODE_ACTIVE].at;
    size_t usual = whole_pages(batch->n * USUAL_BYTES);
    struct generation g = {
        .object = object,
        .at = at,
        .thunk = thunk,
        .middle = at + batch->cold,
        .end = at + batch->begin + batch_bytes(batch->n),
        .probes = (struct pm_probe *)(at + l->probes),
        .n_probes = part->n_probes,
        .c = {.p = at + batch->begin,
              .region = pm_modes_are_inside() ? NULL : first,
              .region_bytes = (uint32_t)(object->code + object->code_bytes - first)},
        .cold = {.p = at + batch->cold},
        .filled = at + batch->begin,
        .cold_filled = at + batch->cold,
        .fill_bytes = usual < FILL_BYTES ? usual : FILL_BYTES};
    if (g.c.p == thunk) {
        fill_ahead(g.c.p, &g.filled, g.middle, g.fill_bytes);
        x86_thunk(&g.c, g.probes);
        g.c.p = thunk + X86_THUNK_BYTES;
    }
    x86_templates_begin();
    for (uint32_t i = 0; i < batch->n_list; i++)
        make_group(&g, batch, i);
    *ret_n_probes = g.n_probes;
    return (uint32_t)(g.cold.p - at);
}

/* Room for all modes at once, without memory: places.c and the jumps need one region near the
 * code. */
static bool reserve(struct pm_object *object)
{
    if (object->code != NULL)
        return true;
    uint32_t n_entries = 0, n_all = 0;
    for (uint32_t i = 0; i < object->n_sleds; i++) {
        n_entries += is_wanted(&object->sleds[i], PM_RUN_MODE_COUNT);
        n_all += is_wanted(&object->sleds[i], PM_RUN_MODE_ACTIVE);
    }
    size_t size = 0, at[PM_N_MODES];
    for (unsigned mode = PM_RUN_MODE_COUNT; mode < PM_N_MODES; mode++) {
        struct pm_part *part = &object->parts[mode];
        part->n_wanted = mode == PM_RUN_MODE_COUNT ? n_entries : n_all;
        at[mode] = size;
        size += lay_out(object, part->n_wanted).end;
    }
    size_t flags_bytes = object->has_flags ? whole_pages(object->n_nouns) : 0;
    object->code = map_near(object->low, object->high, size + flags_bytes, PROT_NONE);
    if (object->code == NULL)
        return false;
    object->code_bytes = size + flags_bytes;
    for (unsigned mode = PM_RUN_MODE_COUNT; mode < PM_N_MODES; mode++)
        object->parts[mode].at = object->code + at[mode];
    if (flags_bytes != 0 &&
        pm_sys(SYS_mprotect, object->code + size, flags_bytes, PROT_READ | PROT_WRITE) == 0) {
        object->flags = object->code + size;
        memset(object->flags, 1, flags_bytes);
    }
    return true;
}

/* Its trampolines count from the moment that all of it is as it should be. */
static bool make_batch(struct pm_object *object, struct batch *batch)
{
    struct pm_part *part = &object->parts[batch->mode];
    struct layout l = lay_out(object, part->n_wanted);
    batch->begin = part->end != 0 ? part->end : (uint32_t)l.code;
    batch->cold =
        batch->begin + (uint32_t)whole_pages(X86_THUNK_BYTES + batch->n * X86_LARGEST_FAST);
    uint8_t *begin = part->at + batch->begin;
    size_t bytes = batch_bytes(batch->n);
    uint8_t *from = part->end != 0 ? begin : part->at;
    if (pm_sys(SYS_mprotect, from, begin + bytes - from, PROT_READ | PROT_WRITE) != 0)
        return false;
    uint32_t n_probes, end = (uint32_t)whole_pages(generate(object, &l, batch, &n_probes));
    size_t used = end - batch->begin;
    if (used < bytes)
        pm_sys(SYS_mprotect, begin + used, bytes - used, PROT_NONE);
    if (pm_sys(SYS_mprotect, begin, used, PROT_READ | PROT_EXEC) != 0)
        return false;
    part->n_probes = n_probes;
    part->n_batches++;
    pm_barrier();
    pm_store(part->end, end);
    return true;
}

bool pm_arch_generate(struct pm_object *object, enum pm_run_mode mode, const uint32_t *list,
                      uint32_t n)
{
    if (mode == PM_RUN_MODE_OFF)
        return true;
    if (!reserve(object))
        return false;
    const struct pm_part *part = &object->parts[mode];
    struct batch batch = {.mode = mode, .list = list, .n_list = n};
    if (list == NULL || part->n_batches == MAX_BATCHES - 1) {
        batch.list = NULL;
        batch.n_list = object->n_sleds;
        batch.n = part->n_wanted - part->n_probes;
    }
    for (uint32_t i = 0, number; i < n && batch.list != NULL; i++)
        batch.n += new_one(object, &batch, i, &number) != NULL;
    return batch.n == 0 || make_batch(object, &batch);
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
    const struct pm_part *part = &object->parts[mode];
    uint32_t place = place_of(part, (size_t)(sled - object->sleds));
    if (place == 0) {
        __builtin_memcpy(ret_bytes, pm_arch_nop, sizeof pm_arch_nop);
        return false;
    }
    int32_t distance = (int32_t)((uintptr_t)part->at + place - (sled->address + 5));
    ret_bytes[0] = 0xe9;
    __builtin_memcpy(ret_bytes + 1, &distance, 4);
    return true;
}

/* Where the jump back to the program begins; 0: there is none. */
static uint32_t find_jump_back(const uint8_t *code, const struct pm_sled *sled)
{
    for (uint32_t i = 0; i < X86_LARGEST_FAST; i++) {
        int32_t distance;
        if (code[i] != 0xe9)
            continue;
        __builtin_memcpy(&distance, code + i + 1, sizeof distance);
        if ((uintptr_t)(code + i + 5) + (uintptr_t)(intptr_t)distance == sled->address + 5)
            return i;
    }
    return 0;
}

/* An interrupt comes when an instruction is done: what is found right behind the read of the
 * clock has waited for it, and for the work before. */
static bool is_behind_clock(const uint8_t *code, uint64_t offset)
{
    for (uint64_t i = 0; i + 2 < offset; i++)
        if (code[i] == 0x0f && code[i + 1] == 0x31)
            return true;
    return false;
}

/* In what nearly every event runs; what lies behind that belongs to many. */
bool pm_arch_probe_at(const struct pm_object *object, uint64_t address,
                      struct pm_probe_place *ret_place)
{
    for (unsigned mode = PM_RUN_MODE_COUNT; mode < PM_N_MODES; mode++) {
        const struct pm_part *part = &object->parts[mode];
        uint32_t end = pm_load(part->end);
        uint64_t offset = address - (uintptr_t)part->at;
        if (end == 0 || address < (uintptr_t)part->at || offset >= end)
            continue;
        const uint32_t *starts = (const uint32_t *)part->at;
        uint32_t best = 0, sled_number = 0;
        for (uint32_t i = 0; i < object->n_sleds; i++)
            if (starts[i] <= offset && starts[i] > best) {
                best = starts[i];
                sled_number = i;
            }
        const struct pm_sled *sled = &object->sleds[sled_number];
        const uint8_t *code = part->at + best;
        if (best == 0 || offset - best > find_jump_back(code, sled))
            return false;
        bool timed = pm_mode_is_timed((enum pm_run_mode)mode);
        ret_place->noun = object->first_noun + sled->noun;
        ret_place->inner = timed && is_behind_clock(code, offset - best) == is_entry(sled);
        return true;
    }
    return false;
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
