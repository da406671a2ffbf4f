/* Which mode each noun has, and changing it while the program runs.
 *
 * At start a noun has the mode that the plan names (format/pm_control.h), else the process's.
 * Changes come from the budget (adapt.c) and from `perfmap mode` (control.c): both set targets
 * and have them applied together, for a change of code costs the same for one sled and for
 * thousands. Trampolines are generated when a noun first goes to a mode.
 *
 * A noun that comes to have no contexts (mode count or off) may have open ones that get no exit
 * any more. Nobody can know whether their frame still lives, so they are closed from outside:
 * gone, with sp 0, which brings the next event that finds one as the youngest to the slow path,
 * and that takes it off (tree.c). A thread that is just entering such a context sets sp after
 * that; adapt.c closes those at the next looks, and without a look its stack pointer ends it as
 * any frame that was left without an exit. Likewise the other way: an exit whose entry was not
 * armed finds no frame, and is not missed.
 *
 * Numbers of nouns are given out before their nouns are made (object.c, words.c, hooks.c), so a
 * change may meet some that are all zeros, or become something while it looks: zeros are no
 * target, and what has none is not touched.
 *
 * The order within a change: what events must no longer do is written to the table before the
 * code changes (contexts that are timed all the time, frames that are missed), what they may do
 * after it.
 */
#include "runtime/code/modes.h"
#include "format/pm_control.h"
#include "runtime/base/file.h"
#include "runtime/base/sys.h"
#include "runtime/base/upward.h"
#include "runtime/code/arch.h"
#include "runtime/code/patch.h"

#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { ITEMS_PER_CHUNK = 400, MAX_ITEMS = 1 << 16 };

static bool inside;

static uint32_t held; /* 1: code is being changed, or must not be */
static bool held_by_loader;

/* Kept for ever: a thread that comes late from an int3 may look at it. */
static struct pm_patch *patches;
static uint32_t *changing, *of_mode; /* lists of sleds, as many */
static size_t patches_capacity;

static struct pm_run_chunk *adapted; /* ADAPTED chunk with room */

bool pm_modes_are_inside(void)
{
    return pm_load(inside);
}

bool pm_modes_differ(void)
{
    return pm_load(pm_nouns.differ);
}

/* --- the plan --- */

/* Mapped; NULL: there is none, or it is not one. */
static const struct pm_plan *open_plan(size_t *ret_bytes)
{
    char path[sizeof pm_process.run_dir + sizeof PM_PLAN_NAME + 1];
    size_t n = strlen(pm_process.run_dir);
    memcpy(path, pm_process.run_dir, n);
    path[n] = '/';
    memcpy(path + n + 1, PM_PLAN_NAME, sizeof PM_PLAN_NAME);
    long fd = pm_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    struct stat info;
    const struct pm_plan *plan = NULL;
    if (pm_sys(SYS_newfstatat, fd, "", &info, AT_EMPTY_PATH) == 0 &&
        (size_t)info.st_size >= sizeof *plan) {
        long address = pm_sys(SYS_mmap, 0, info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        plan = address < 0 && address > -4096 ? NULL : (const struct pm_plan *)address;
    }
    pm_sys(SYS_close, fd);
    if (plan == NULL)
        return NULL;
    *ret_bytes = (size_t)info.st_size;
    if (memcmp(plan->magic, PM_PLAN_MAGIC, sizeof plan->magic) == 0 &&
        plan->version == PM_PLAN_VERSION && plan->mode < PM_N_MODES &&
        plan->n_nouns <= (*ret_bytes - sizeof *plan) / sizeof(struct pm_plan_noun))
        return plan;
    pm_sys(SYS_munmap, plan, *ret_bytes);
    return NULL;
}

/* What is planned for the noun. Of code that the plan does not know it is not known either which
 * terms it is. */
static struct pm_plan_noun planned_for(const struct pm_plan *plan, uint64_t id)
{
    struct pm_plan_noun unknown = {.mode = pm_process.mode};
    if (plan == NULL)
        return unknown;
    const struct pm_plan_noun *planned = (const struct pm_plan_noun *)(plan + 1);
    uint32_t low = 0, high = plan->n_nouns;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (planned[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    unknown.mode = plan->mode;
    unknown.terms = PM_NODE_TERMS >> PM_NODE_TERMS_SHIFT;
    bool is_known = low < plan->n_nouns && planned[low].id == id && planned[low].mode < PM_N_MODES;
    return is_known ? planned[low] : unknown;
}

/* For all nouns that there are, here and where their calls are counted. */
static void make_room(void)
{
    enum { STEP = 4096, MAX_TIGHT = 1 << 16 };
    uint32_t max = pm_memory_is_tight ? MAX_TIGHT : PM_MAX_NOUNS;
    uint32_t n = pm_load(pm_process.next_noun);
    uint32_t room = n < max ? (n + STEP - 1) / STEP * STEP : max;
    if (room <= pm_load(pm_nouns.n))
        return;
    if (pm_nouns.list == NULL)
        pm_store(pm_nouns.list, pm_reserve(max * sizeof *pm_nouns.list));
    if (pm_nouns.list != NULL && pm_make_room(pm_nouns.list, room * sizeof *pm_nouns.list) &&
        pm_adapt_make_room(max, room))
        pm_store(pm_nouns.n, room);
}

void pm_modes_begin(struct pm_object *o, uint32_t first, struct pm_run_noun *list, uint32_t n)
{
    if (pm_process.mode == PM_RUN_MODE_OFF)
        return;
    make_room();
    size_t bytes = 0;
    const struct pm_plan *plan = open_plan(&bytes);
    for (uint32_t i = 0; i < n; i++) {
        struct pm_plan_noun planned = planned_for(plan, list[i].id);
        uint8_t mode = (uint8_t)planned.mode;
        struct pmr_noun *noun = pm_noun_at(o->first_noun + first + i);
        if (noun == NULL)
            break;
        *noun = (struct pmr_noun){.mode = mode,
                                  .before = mode,
                                  .wanted = mode,
                                  .start = mode,
                                  .flags = planned.fixed ? PM_NOUN_FIXED : 0,
                                  .terms = planned.terms,
                                  .inside = planned.inside};
        list[i].own_mode = mode != pm_process.mode ? (uint8_t)(1 + mode) : 0;
        if (planned.inside != 0)
            pm_store(inside, true);
        if (mode != pm_process.mode)
            pm_store(pm_nouns.differ, true);
    }
    if (plan != NULL)
        pm_sys(SYS_munmap, plan, bytes);
}

/* By what a plan has followed, what it jumps to is followed, too (struct pm_jump): without its
 * exit nobody can know when it returns. Within it only, where the plan gives it terms. The budget
 * may leave it out where it may leave out the other one: nobody has asked for either. */
void pm_modes_follow_jumps(struct pm_object *o, struct pm_run_noun *list)
{
    enum { MAX_ROUNDS = 8 };
    bool more = pm_load(pm_nouns.differ);
    for (int round = 0; more && round < MAX_ROUNDS; round++) {
        more = false;
        for (uint32_t i = 0; i < o->n_sleds; i++) {
            const struct pm_sled *sled = &o->sleds[i];
            uint32_t target;
            if (sled->kind != PM_SLED_TAIL || sled->noun >= o->n_nouns ||
                pm_arch_tail(o, sled, &target) != PM_TAIL_TO_SLED)
                continue;
            const struct pmr_noun *from = pm_noun_at(o->first_noun + sled->noun);
            struct pmr_noun *to = pm_noun_at(target);
            if (from == NULL || to == NULL || from->mode < PM_RUN_MODE_ACTIVE ||
                to->mode >= PM_RUN_MODE_ACTIVE)
                continue;
            to->mode = to->before = to->wanted = to->start = from->mode;
            to->inside = from->terms != 0 ? from->terms : from->inside;
            to->flags = (uint8_t)((to->flags & ~PM_NOUN_FIXED) | (from->flags & PM_NOUN_FIXED));
            if (to->inside != 0)
                pm_store(inside, true);
            list[target - o->first_noun].own_mode =
                to->mode != pm_process.mode ? (uint8_t)(1 + to->mode) : 0;
            more = true;
        }
    }
}

/* --- changing code --- */

static struct pmr_noun *noun_of(const struct pm_object *o, const struct pm_sled *sled)
{
    return sled->noun < o->n_nouns ? pm_noun_at(o->first_noun + sled->noun) : NULL;
}

/* Of one that has a target. */
static enum pm_run_mode target_of(const struct pmr_noun *noun)
{
    return (enum pm_run_mode)(noun->target_plus_1 - 1);
}

/* Else the table says it all. */
static bool has_code(const struct pm_object *o)
{
    return o->loaded && !o->portable && o->sleds != NULL;
}

static bool room_for(size_t n)
{
    if (n <= patches_capacity)
        return true;
    size_t capacity = n < 1024 ? 1024 : n * 2;
    struct pm_patch *memory =
        pm_private_memory(capacity * (sizeof *memory + sizeof *changing + sizeof *of_mode));
    if (memory == NULL)
        return false;
    patches = memory;
    changing = (uint32_t *)(memory + capacity);
    of_mode = changing + capacity;
    patches_capacity = capacity;
    return true;
}

/* Is it, or should it be, something else than it is? */
static bool is_to_change(const struct pm_object *o, const struct pm_sled *sled,
                         struct pm_patch *ret_patch, uint8_t *ret_mode)
{
    const struct pmr_noun *noun = noun_of(o, sled);
    if (noun == NULL || noun->target_plus_1 == 0)
        return false;
    bool jumps = pm_arch_jump(o, sled, target_of(noun), ret_patch->bytes);
    *ret_mode = jumps ? (uint8_t)target_of(noun) : PM_RUN_MODE_OFF;
    ret_patch->address = sled->address;
    return *ret_mode != sled->armed;
}

/* Those in one segment, of n that change. */
static bool change_segment(struct pm_object *o, const ElfW(Phdr) * segment, uint32_t n,
                           uint32_t *n_sleds)
{
    uintptr_t low = o->bias + segment->p_vaddr, high = low + segment->p_memsz;
    uint64_t n_armed = 0;
    uint32_t n_patches = 0;
    uint8_t mode;
    for (uint32_t i = 0; i < n; i++) {
        const struct pm_sled *sled = &o->sleds[changing[i]];
        if (sled->address >= low && sled->address < high &&
            is_to_change(o, sled, &patches[n_patches], &mode))
            of_mode[n_patches++] = changing[i];
    }
    int prot = PROT_EXEC | (segment->p_flags & PF_R ? PROT_READ : 0) |
               (segment->p_flags & PF_W ? PROT_WRITE : 0);
    if (!pm_patch_apply(patches, n_patches, prot, false))
        return false;
    for (uint32_t i = 0; i < n_patches; i++) {
        struct pm_sled *sled = &o->sleds[of_mode[i]];
        struct pm_patch now;
        is_to_change(o, sled, &now, &mode);
        n_armed += (uint64_t)(mode != PM_RUN_MODE_OFF) - (sled->armed != PM_RUN_MODE_OFF);
        sled->armed = mode;
    }
    pm_add_shared(pm_process.file.header->n_armed, n_armed);
    *n_sleds += n_patches;
    return true;
}

/* Of the nouns that have a target. */
static uint32_t list_changing(const struct pm_object *o, uint32_t *ret_modes)
{
    uint32_t n = 0;
    *ret_modes = 0;
    for (uint32_t i = 0; i < o->n_sleds; i++) {
        const struct pmr_noun *noun = noun_of(o, &o->sleds[i]);
        if (noun == NULL || noun->target_plus_1 == 0)
            continue;
        changing[n++] = i;
        *ret_modes |= 1u << target_of(noun);
    }
    return n;
}

/* Trampolines for what changes. */
static bool prepare(struct pm_object *o, uint32_t n, uint32_t modes)
{
    bool good = !(modes >> PM_RUN_MODE_COUNT & 1) || o->bank != PM_MAX_BANKS;
    for (unsigned mode = PM_RUN_MODE_COUNT; mode < PM_N_MODES && good; mode++) {
        uint32_t n_of_mode = 0;
        for (uint32_t i = 0; i < n && modes >> mode & 1; i++)
            if (target_of(noun_of(o, &o->sleds[changing[i]])) == mode)
                of_mode[n_of_mode++] = changing[i];
        good = n_of_mode == 0 || pm_arch_generate(o, (enum pm_run_mode)mode, of_mode, n_of_mode);
    }
    return good;
}

static bool change_object(struct pm_object *o, uint32_t *n_sleds)
{
    const ElfW(Phdr) *p = o->phdr;
    uint32_t modes;
    if (!room_for(o->n_sleds + 1))
        return false;
    uint32_t n = list_changing(o, &modes);
    bool good = prepare(o, n, modes);
    for (unsigned i = 0; i < o->n_phdr && good; i++)
        if (p[i].p_type == PT_LOAD && (p[i].p_flags & PF_X))
            good = change_segment(o, &p[i], n, n_sleds);
    return good;
}

/* --- what is written down of a change --- */

/* Ends the stays of all nouns that have just been changed. */
static void end_stays(uint64_t tsc)
{
    for (uint32_t i = 0; i < pm_file_n_chunks(); i++) {
        struct pm_run_chunk *c = (struct pm_run_chunk *)(uintptr_t)pm_file_chunk_at(i);
        if (c == NULL || c->magic != PM_RUN_CHUNK_MAGIC || c->kind != PM_RUN_CHUNK_ADAPTED)
            continue;
        struct pm_run_adapted *items = (struct pm_run_adapted *)(c + 1);
        for (uint64_t k = 0; k < c->n_items; k++) {
            const struct pmr_noun *noun = pm_noun_at(items[k].noun);
            if (items[k].armed_tsc == 0 && noun != NULL && noun->mode != items[k].mode)
                pm_store(items[k].armed_tsc, tsc);
        }
    }
}

static uint32_t n_items;

static bool room_for_item(void)
{
    uint64_t offset;
    if (adapted != NULL && adapted->n_items < ITEMS_PER_CHUNK)
        return true;
    if (n_items == MAX_ITEMS) {
        n_items++;
        pm_file_message(PM_RUN_MSG_LIMIT,
                        "modes were changed more than 65536 times: later changes are made, and not "
                        "told one by one",
                        NULL);
    }
    adapted = n_items > MAX_ITEMS
                  ? NULL
                  : pm_file_chunk(PM_RUN_CHUNK_ADAPTED,
                                  sizeof *adapted + ITEMS_PER_CHUNK * sizeof(struct pm_run_adapted),
                                  0, &offset);
    return adapted != NULL;
}

/* A change that cannot be written down is not made: calls would be missing, and nobody would
 * know. */
static bool room_for_changes(uint32_t n)
{
    if (n == 0 || n_items > MAX_ITEMS ||
        (adapted != NULL && adapted->n_items + n <= ITEMS_PER_CHUNK))
        return true;
    return !pm_load(pm_process.file.full) && room_for_item();
}

/* The noun's stay in its mode begins. */
static void record(uint32_t number, enum pm_run_adapted_reason reason, uint64_t tsc,
                   uint64_t n_events)
{
    const struct pmr_noun *noun = pm_noun_at(number);
    if (noun->mode == noun->start || noun->flags & PM_NOUN_SPARE || !room_for_item())
        return;
    struct pm_run_adapted *item = (struct pm_run_adapted *)(adapted + 1) + adapted->n_items;
    *item = (struct pm_run_adapted){.noun = number,
                                    .mode = noun->mode,
                                    .reason = (uint8_t)reason,
                                    .mode_before = (uint8_t)(1 + noun->before),
                                    .disarmed_tsc = tsc,
                                    .n_events = n_events};
    pm_barrier();
    pm_store(adapted->n_items, adapted->n_items + 1);
    n_items++;
}

/* --- contexts of nouns that have changed --- */

static void settle_node(struct pm_node *node)
{
    const struct pmr_noun *noun = pm_noun_at(pm_load(node->noun));
    if (noun == NULL || node->kind == 0)
        return;
    if (node->flags & PM_RUN_NODE_TIMED && !pm_mode_is_timed(noun->mode))
        pm_store(node->flags, node->flags & ~(uint32_t)PM_RUN_NODE_TIMED);
    if (noun->mode < PM_RUN_MODE_ACTIVE && pm_load(node->sp) != 0)
        pm_node_close_from_outside(node);
}

static void settle_nodes(void)
{
    for (uint32_t i = 0; i < pm_file_n_chunks(); i++) {
        const struct pm_run_chunk *c = pm_file_chunk_at(i);
        bool first = c != NULL && c->kind == PM_RUN_CHUNK_THREAD;
        if (c == NULL || pm_load(c->magic) != PM_RUN_CHUNK_MAGIC ||
            (!first && c->kind != PM_RUN_CHUNK_NODES))
            continue;
        uintptr_t at = (uintptr_t)c + (first ? PM_RUN_THREAD_NODES : PM_RUN_NODES_DATA);
        for (uint64_t k = 0, n = pm_load(c->n_items); k < n; k++)
            settle_node((struct pm_node *)at + k);
    }
}

/* --- changing --- */

/* Before the code changes. */
static void begin_change(struct pmr_noun *noun)
{
    if (noun->mode >= PM_RUN_MODE_ACTIVE && target_of(noun) < PM_RUN_MODE_ACTIVE)
        pm_store(noun->flags, noun->flags | PM_NOUN_LEAVING); /* for ever: its exits may be late */
    if (noun->flags & PM_NOUN_ADAPTER)
        pm_store(pm_nouns.adapters_differ, 1);
    bool arrives = noun->mode < PM_RUN_MODE_ACTIVE && target_of(noun) >= PM_RUN_MODE_ACTIVE;
    bool loses_time = pm_mode_is_timed(noun->mode) && !pm_mode_is_timed(target_of(noun));
    if (arrives)
        pm_store(noun->flags, noun->flags | PM_NOUN_LEAVING);
    if (arrives || (loses_time && target_of(noun) >= PM_RUN_MODE_ACTIVE))
        pm_store(noun->mode, (uint8_t)target_of(noun));
}

static bool is_changing(uint32_t number)
{
    const struct pmr_noun *noun = pm_noun_at(number);
    return noun != NULL && noun->target_plus_1 != 0;
}

static bool any_is_changing(const struct pm_object *o)
{
    for (uint32_t i = 0; i < o->n_nouns; i++)
        if (is_changing(o->first_noun + i))
            return true;
    return false;
}

static void change(struct pm_changed *changed)
{
    uint32_t n = pm_load(pm_n_objects);
    for (uint32_t i = 0; i < n && i < PM_MAX_OBJECTS; i++) {
        struct pm_object *o = pm_load(pm_objects[i]);
        if (o == NULL || !any_is_changing(o))
            continue;
        bool good = !has_code(o) || change_object(o, &changed->n_sleds);
        for (uint32_t k = o->first_noun; k < o->first_noun + o->n_nouns; k++)
            if (is_changing(k)) {
                pm_store(pm_nouns.list[k].mode,
                         good ? (uint8_t)target_of(&pm_nouns.list[k]) : pm_nouns.list[k].before);
                *(good ? &changed->n_nouns : &changed->n_refused) += 1;
            }
    }
}

/* Everything but the code. */
static void settle(enum pm_run_adapted_reason reason, uint64_t tsc)
{
    uint32_t n = pm_n_nouns();
    bool closes = false;
    end_stays(tsc);
    for (uint32_t i = 0; i < n; i++) {
        struct pmr_noun *noun = &pm_nouns.list[i];
        if (noun->target_plus_1 == 0)
            continue;
        if (noun->mode != noun->before)
            record(i, reason, tsc, pm_adapt_n_calls(i));
        closes = closes || noun->mode < PM_RUN_MODE_ACTIVE || pm_mode_is_timed(noun->before);
        pm_store(noun->before, noun->mode);
        pm_store(noun->target_plus_1, 0);
    }
    if (closes)
        settle_nodes();
}

/* --- the lock --- */

static bool try_hold(void)
{
    uint32_t idle = 0;
    return __atomic_compare_exchange_n(&held, &idle, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static void make_changes(enum pm_run_adapted_reason reason, uint64_t tsc,
                         struct pm_changed *ret_changed)
{
    pm_store(pm_nouns.differ, true);
    for (uint32_t i = 0, n = pm_n_nouns(); i < n; i++)
        if (pm_nouns.list[i].target_plus_1 != 0)
            begin_change(&pm_nouns.list[i]);
    change(ret_changed);
    settle(reason, tsc);
}

static void forget_targets(void)
{
    for (uint32_t i = 0, n = pm_n_nouns(); i < n; i++)
        pm_nouns.list[i].target_plus_1 = 0;
}

/* The loader says first what it is about to do and then holds (dl.c), so one of the two sees the
 * other. */
bool pm_modes_apply(enum pm_run_adapted_reason reason, uint64_t tsc, struct pm_changed *ret_changed)
{
    *ret_changed = (struct pm_changed){0};
    if (!try_hold())
        return false;
    bool quiet = _r_debug.r_state == RT_CONSISTENT;
    if (quiet) {
        uint32_t n_targets = 0;
        for (uint32_t i = 0, n = pm_n_nouns(); i < n; i++) {
            if (pm_nouns.list[i].target_plus_1 == 1 + pm_nouns.list[i].mode)
                pm_nouns.list[i].target_plus_1 = 0;
            n_targets += pm_nouns.list[i].target_plus_1 != 0;
        }
        if (room_for_changes(n_targets)) {
            make_changes(reason, tsc, ret_changed);
        } else {
            ret_changed->n_refused = n_targets;
            forget_targets();
        }
    }
    __atomic_store_n(&held, 0, __ATOMIC_SEQ_CST);
    return quiet;
}

void pm_modes_hold(void)
{
    if (held_by_loader)
        return;
    while (!try_hold())
        pm_sys(SYS_sched_yield);
    held_by_loader = true;
}

void pm_modes_release(void)
{
    if (!held_by_loader)
        return;
    held_by_loader = false;
    __atomic_store_n(&held, 0, __ATOMIC_SEQ_CST);
}

/* --- fork --- */

/* The parent may have been forked while another thread was changing code: what the code is tells
 * how far that came. */
static void finish_change(struct pm_object *o)
{
    for (uint32_t i = 0; i < o->n_sleds; i++) {
        struct pm_patch patch;
        uint8_t mode;
        if (is_to_change(o, &o->sleds[i], &patch, &mode) &&
            memcmp((const void *)patch.address, patch.bytes, sizeof patch.bytes) == 0) {
            pm_process.file.header->n_armed +=
                (uint64_t)(mode != PM_RUN_MODE_OFF) - (o->sleds[i].armed != PM_RUN_MODE_OFF);
            o->sleds[i].armed = mode;
        }
    }
}

/* A change that was under way in the parent is made here once more, which is easy with one
 * thread. */
void pm_modes_fork_child(void)
{
    struct pm_changed changed;
    held = 0;
    held_by_loader = false;
    adapted = NULL;
    n_items = 0;
    if (!pm_load(pm_nouns.differ) || pm_process.file.header == NULL)
        return;
    for (uint32_t i = 0; i < pm_n_objects; i++)
        if (pm_objects[i] != NULL && has_code(pm_objects[i]))
            finish_change(pm_objects[i]);
    for (uint32_t i = 0, n = pm_n_nouns(); i < n; i++) {
        pm_nouns.list[i].mode = pm_nouns.list[i].before;
        pm_nouns.list[i].before = pm_nouns.list[i].start;
        record(i, PM_RUN_ADAPTED_BUDGET, pm_process.start_tsc, 0);
        pm_nouns.list[i].before = pm_nouns.list[i].mode;
    }
    if (!pm_modes_apply(PM_RUN_ADAPTED_BUDGET, pm_process.start_tsc, &changed))
        for (uint32_t i = 0, n = pm_n_nouns(); i < n; i++)
            pm_nouns.list[i].target_plus_1 = 0;
}
