/* Sleds on x86-64: generated trampolines.
 *
 * An armed sled is `jmp trampoline`; the trampoline ends with a jump behind the sled. It may use
 * the flags, and of the general registers those that the record calls free (the compiler declared
 * them clobbered); others it saves first, in free ones, else on the stack, below the red zone when
 * there may be one. Registers within: rax the clock, rdx S (the stack pointer at the sled), R the
 * context (any caller-saved one but these two). With nothing to save, entry is 12 and exit 11
 * instructions beside rdtsc.
 *
 *     entry: rax = clock; R = current; S = rsp + adjustment
 *            R->sp <= S ? slow (loops: R->sp < S, or equal and R is a loop as deep or deeper)
 *            R = R->cached_child; R->noun != noun ? hash
 *     found: R->n_calls++; current = R; R->start = rax; R->sp = S
 *     hash:  slot (R >> 4 ^ noun's constant) & mask; its noun and parent must match, else slow
 *     exit:  R->sp != S || R->noun != noun ? slow;  rax -= R->start; current = R->parent; R->sp = 0;
 *            R->inclusive += rax
 *     count: R = bank; R == 0 ? slow; R[k]++
 *     slow:  push index of the probe; call the thunk, which saves all caller-saved registers and
 *            calls pm_slow
 *
 * Mode active leaves out the clock, and with it all registers but R: S is the stack pointer itself when
 * nothing had to be pushed, and the exit clears R->sp before it moves current, as R is then gone (a
 * handler in between sees a half-open frame, as within the entry). Entry and exit of both modes begin
 * (exact: after the clock is read) with
 *
 *     ring:  *ring_head != ring_seen ? slow
 *
 * so that samples are charged to the context in which they were taken.
 *
 * All of an object's trampolines, their probes and the thunk lie in one region within 2 GiB of it,
 * written first and then made executable. What an event runs when all is as expected lies close together,
 * the ways by the hash table and to the thunk behind it: seldom events pay for each cache line.
 */
#include "internal.h"
#include "sys.h"

#include <string.h>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

const bool pm_arch_has_sleds = true;
const uint8_t pm_arch_nop[5] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

enum { RAX = 0, RCX = 1, RDX = 2, RSP = 4, RSI = 6, RDI = 7, R8 = 8, R9 = 9, R10 = 10, R11 = 11 };
enum {
    RED_ZONE = 128,
    LARGEST_FAST = 192, /* of a trampoline: what nearly every event runs, and the rest of it */
    LARGEST_COLD = 256,
    THUNK_BYTES = 192,
};

uint64_t pm_tsc(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

uintptr_t pm_thread_pointer(void)
{
    uintptr_t pointer;
    __asm__("mov %%fs:0, %0" : "=r"(pointer));
    return pointer;
}

/* --- machine code --- */

struct code {
    uint8_t *p;
};

static void byte(struct code *c, unsigned b)
{
    *c->p++ = (uint8_t)b;
}

static void word32(struct code *c, uint32_t value)
{
    __builtin_memcpy(c->p, &value, 4);
    c->p += 4;
}

#define BYTES(c, text) \
    (__builtin_memcpy((c)->p, text, sizeof(text) - 1), (void)((c)->p += sizeof(text) - 1))

static void word64(struct code *c, uint64_t value)
{
    __builtin_memcpy(c->p, &value, 8);
    c->p += 8;
}

/* opcode reg, displacement(base); base is neither rsp nor r12. 64 bits wide or 32. */
static void memory_op(struct code *c, bool wide, unsigned opcode, unsigned reg, unsigned base,
                      int displacement)
{
    unsigned rex = (wide ? 8u : 0u) | (reg >> 3 & 1u) << 2 | (base >> 3 & 1u);
    if (rex != 0)
        byte(c, 0x40 | rex);
    byte(c, opcode);
    bool small = displacement >= -128 && displacement < 128;
    byte(c, (small ? 0x40u : 0x80u) | (reg & 7u) << 3 | (base & 7u));
    if (small)
        byte(c, (unsigned)displacement & 0xffu);
    else
        word32(c, (uint32_t)displacement);
}

static void move(struct code *c, unsigned from, unsigned to)
{
    byte(c, 0x48u | (from >> 3) << 2 | to >> 3);
    byte(c, 0x89);
    byte(c, 0xc0u | (from & 7u) << 3 | (to & 7u));
}

/* opcode reg, %fs:displacement */
static void thread_op(struct code *c, unsigned opcode, unsigned reg, int32_t displacement)
{
    byte(c, 0x64);
    byte(c, 0x48u | (reg >> 3) << 2);
    byte(c, opcode);
    byte(c, 0x04u | (reg & 7u) << 3);
    byte(c, 0x25);
    word32(c, (uint32_t)displacement);
}

static void push_register(struct code *c, unsigned reg)
{
    if (reg >= 8)
        byte(c, 0x41);
    byte(c, 0x50u | (reg & 7u));
}

static void pop_register(struct code *c, unsigned reg)
{
    if (reg >= 8)
        byte(c, 0x41);
    byte(c, 0x58u | (reg & 7u));
}

/* lea displacement(%rsp), reg */
static void stack_address(struct code *c, int displacement, unsigned reg)
{
    if (displacement == 0) {
        move(c, 4, reg);
        return;
    }
    byte(c, 0x48u | (reg >> 3) << 2);
    byte(c, 0x8d);
    bool small = displacement >= -128 && displacement < 128;
    byte(c, (small ? 0x44u : 0x84u) | (reg & 7u) << 3);
    byte(c, 0x24);
    if (small)
        byte(c, (unsigned)displacement & 0xffu);
    else
        word32(c, (uint32_t)displacement);
}

static void jump(struct code *c, const uint8_t *to)
{
    byte(c, 0xe9);
    word32(c, (uint32_t)(to - (c->p + 4)));
}

/* Conditional jump forward, its distance filled in later. */
static uint8_t *jump_if(struct code *c, unsigned condition)
{
    byte(c, 0x0f);
    byte(c, 0x80u | condition);
    word32(c, 0);
    return c->p;
}

static uint8_t *short_jump_if(struct code *c, unsigned condition)
{
    byte(c, 0x70u | condition);
    byte(c, 0);
    return c->p;
}

static void land_short(const struct code *c, uint8_t *from)
{
    from[-1] = (uint8_t)(c->p - from);
}

static void land(const struct code *c, uint8_t *from)
{
    uint32_t distance = (uint32_t)(c->p - from);
    __builtin_memcpy(from - 4, &distance, 4);
}
enum {
    IF_BELOW = 2,
    IF_ABOVE_EQUAL = 3,
    IF_EQUAL = 4,
    IF_NOT_EQUAL = 5,
    IF_BELOW_EQUAL = 6,
    IF_ABOVE = 7
};

/* --- what a trampoline may use --- */

struct frame {
    uint8_t context; /* R */
    uint8_t n_kept;  /* registers saved in others */
    uint8_t kept[3], in[3];
    uint8_t n_pushed;
    uint8_t pushed[3];
    bool red_zone;  /* there may be one */
    bool skipped;   /* and we are below it */
    int adjustment; /* S - rsp */
};

static bool is_free(uint16_t must_save, unsigned reg)
{
    return (must_save >> reg & 1) == 0;
}

static const uint8_t order[] = {RCX, R11, R10, R9, R8, RSI, RDI, RAX, RDX};

/* fixed: registers that are needed beside R. */
static struct frame plan_frame(uint16_t must_save, uint8_t sled_flags, bool loop, unsigned n_fixed,
                               const uint8_t *fixed)
{
    struct frame f = {.context = RCX, .red_zone = loop || !(sled_flags & PM_SLED_SP_AT_CFA)};
    uint16_t available = 0;
    for (size_t i = 0; i < sizeof order; i++)
        if (is_free(must_save, order[i]))
            available |= (uint16_t)(1u << order[i]);
    for (unsigned i = 0; i < n_fixed; i++)
        available &= (uint16_t) ~(1u << fixed[i]);
    uint8_t wanted[3], n_wanted = 0;
    for (unsigned i = 0; i < n_fixed; i++)
        if (!is_free(must_save, fixed[i]))
            wanted[n_wanted++] = fixed[i];
    bool found = false;
    for (size_t i = 0; i < sizeof order && !found; i++)
        if (available >> order[i] & 1) {
            f.context = order[i];
            available &= (uint16_t) ~(1u << order[i]);
            found = true;
        }
    if (!found)
        wanted[n_wanted++] = RCX;
    for (unsigned w = 0; w < n_wanted; w++) {
        size_t i = 0;
        while (i < sizeof order && !(available >> order[i] & 1))
            i++;
        if (i < sizeof order) {
            f.kept[f.n_kept] = wanted[w];
            f.in[f.n_kept++] = order[i];
            available &= (uint16_t) ~(1u << order[i]);
        } else {
            f.pushed[f.n_pushed++] = wanted[w];
        }
    }
    f.skipped = f.red_zone && f.n_pushed != 0;
    f.adjustment = f.n_pushed * 8 + (f.skipped ? RED_ZONE : 0);
    return f;
}

/* One that is free and not R; RSP: none. */
static unsigned another_free(uint16_t must_save, unsigned r)
{
    for (size_t i = 0; i < sizeof order; i++)
        if (order[i] != r && is_free(must_save, order[i]))
            return order[i];
    return RSP;
}

static void save(struct code *c, const struct frame *f)
{
    for (unsigned i = 0; i < f->n_kept; i++)
        move(c, f->kept[i], f->in[i]);
    if (f->skipped)
        BYTES(c, "\x48\x8d\x64\x24\x80"); /* lea -128(%rsp), %rsp */
    for (unsigned i = 0; i < f->n_pushed; i++)
        push_register(c, f->pushed[i]);
}

static void restore(struct code *c, const struct frame *f)
{
    for (unsigned i = f->n_pushed; i-- > 0;)
        pop_register(c, f->pushed[i]);
    if (f->skipped)
        BYTES(c, "\x48\x8d\xa4\x24\x80\x00\x00\x00"); /* lea 128(%rsp), %rsp */
    for (unsigned i = 0; i < f->n_kept; i++)
        move(c, f->in[i], f->kept[i]);
}

/* Within the thread block, relative to the thread pointer: the same in all threads. */
static int32_t thread_offset(const void *field)
{
    return (int32_t)((uintptr_t)field - pm_thread_pointer());
}

struct sites {
    uint8_t *from[8];
    unsigned n;
};

static void slow_if(struct code *c, struct sites *slow, unsigned condition)
{
    slow->from[slow->n++] = jump_if(c, condition);
}

static void read_clock(struct code *c)
{
    BYTES(c, "\x0f\x31"         /* rdtsc */
             "\x48\xc1\xe2\x20" /* shl $32, %rdx */
             "\x48\x09\xd0");   /* or %rdx, %rax */
}

/* Has anything come into the thread's ring? */
static void check_ring(struct code *c, unsigned r, struct sites *slow)
{
    thread_op(c, 0x8b, r, thread_offset(&pm_tls.ring_head));
    memory_op(c, true, 0x8b, r, r, 0);
    thread_op(c, 0x3b, r, thread_offset(&pm_tls.ring_seen)); /* cmp ring_seen, R */
    slow_if(c, slow, IF_NOT_EQUAL);
}

/* save_s: rdx, which tells the thunk S, belongs to the program. */
static void slow_tail(struct code *c, const struct frame *f, bool save_s, const struct sites *slow,
                      uint32_t index, const uint8_t *thunk, const uint8_t *back)
{
    for (unsigned i = 0; i < slow->n; i++)
        land(c, slow->from[i]);
    bool skip_now = f->red_zone && !f->skipped;
    if (skip_now)
        BYTES(c, "\x48\x8d\x64\x24\x80");
    if (save_s)
        push_register(c, RDX);
    stack_address(c, f->adjustment + (skip_now ? RED_ZONE : 0) + (save_s ? 8 : 0), RDX);
    byte(c, 0x68); /* push $index */
    word32(c, index);
    byte(c, 0xe8); /* call thunk */
    word32(c, (uint32_t)(thunk - (c->p + 4)));
    if (save_s)
        pop_register(c, RDX);
    if (skip_now)
        BYTES(c, "\x48\x8d\xa4\x24\x80\x00\x00\x00");
    restore(c, f);
    jump(c, back);
}

/* Is the youngest frame alive, from register `s` seen? Else slow. Flags only. */
static void check_entry(struct code *c, unsigned r, unsigned s, const struct pm_probe *probe,
                        struct sites *slow)
{
    memory_op(c, true, 0x39, s, r, offsetof(struct pm_node, sp)); /* cmp s, sp(R) */
    if (probe->loop_depth == 0) {
        slow_if(c, slow, IF_BELOW_EQUAL);
        return;
    }
    uint8_t *good = short_jump_if(c, IF_ABOVE);
    slow_if(c, slow, IF_BELOW);
    memory_op(c, false, 0x83, 7, r,
              offsetof(struct pm_node, loop_depth)); /* cmpl $depth, loop_depth(R) */
    byte(c, probe->loop_depth);
    slow_if(c, slow, IF_ABOVE_EQUAL);
    land_short(c, good);
}

static void compare_noun(struct code *c, unsigned r, const struct pm_probe *probe)
{
    memory_op(c, false, 0x81, 7, r, offsetof(struct pm_node, noun)); /* cmpl $noun, noun(R) */
    word32(c, probe->noun);
}

/* `at` = the hash table's entry for current and the noun, which becomes R and current's cached child when
 * it is the right one, else slow. */
static void look_up(struct code *c, unsigned r, unsigned at, const struct pm_probe *probe,
                    struct sites *slow)
{
    thread_op(c, 0x8b, r, thread_offset(&pm_tls.current));
    move(c, r, at);
    byte(c, 0x48u | at >> 3); /* shr $4, at */
    byte(c, 0xc1);
    byte(c, 0xe8u | (at & 7u));
    byte(c, 4);
    for (int i = 0; i < 2; i++) { /* xor $noun's constant, at; and $mask, at: 32 bits */
        if (at >= 8)
            byte(c, 0x41);
        byte(c, 0x81);
        byte(c, (i == 0 ? 0xf0u : 0xe0u) | (at & 7u));
        word32(c, i == 0 ? probe->noun * 0x9e3779b1u >> 12 << 3 : (uint32_t)PM_HASH_MASK);
    }
    thread_op(c, 0x03, at, thread_offset(&pm_tls.hash)); /* add */
    memory_op(c, true, 0x8b, at, at, 0);
    byte(c, 0x48u | at >> 3 << 2 | at >> 3); /* test at, at */
    byte(c, 0x85);
    byte(c, 0xc0u | (at & 7u) << 3 | (at & 7u));
    slow_if(c, slow, IF_EQUAL);
    compare_noun(c, at, probe);
    slow_if(c, slow, IF_NOT_EQUAL);
    memory_op(c, true, 0x39, r, at, offsetof(struct pm_node, parent)); /* cmp R, parent(at) */
    slow_if(c, slow, IF_NOT_EQUAL);
    memory_op(c, true, 0x89, at, r, offsetof(struct pm_node, cached_child));
    move(c, at, r);
}

static void exact_entry(struct code *c, struct code *cold, const struct pm_sled *sled,
                        const struct pm_probe *probe, uint32_t index, const uint8_t *thunk)
{
    static const uint8_t fixed[] = {RAX, RDX};
    const uint8_t *back = (const uint8_t *)sled->address + 5;
    struct frame f = plan_frame(sled->must_save, sled->flags, probe->loop_depth != 0, 2, fixed);
    struct sites slow = {.n = 0};
    unsigned r = f.context;
    save(c, &f);
    read_clock(c);
    check_ring(c, r, &slow);
    thread_op(c, 0x8b, r, thread_offset(&pm_tls.current));
    stack_address(c, f.adjustment, RDX);
    check_entry(c, r, RDX, probe, &slow);
    memory_op(c, true, 0x8b, r, r, offsetof(struct pm_node, cached_child));
    compare_noun(c, r, probe);
    uint8_t *miss = jump_if(c, IF_NOT_EQUAL);
    uint8_t *found = c->p;
    memory_op(c, true, 0xff, 0, r, offsetof(struct pm_node, n_calls)); /* incq */
    thread_op(c, 0x89, r, thread_offset(&pm_tls.current));
    memory_op(c, true, 0x89, RAX, r, offsetof(struct pm_node, start_tsc));
    memory_op(c, true, 0x89, RDX, r, offsetof(struct pm_node, sp));
    restore(c, &f);
    jump(c, back);

    land(cold, miss);
    look_up(cold, r, RDX, probe, &slow);
    stack_address(cold, f.adjustment, RDX);
    jump(cold, found);
    slow_tail(cold, &f, false, &slow, index, thunk, back);
}

static void exact_exit(struct code *c, struct code *cold, const struct pm_sled *sled,
                       const struct pm_probe *probe, uint32_t index, const uint8_t *thunk)
{
    static const uint8_t fixed[] = {RAX, RDX};
    const uint8_t *back = (const uint8_t *)sled->address + 5;
    struct frame f = plan_frame(sled->must_save, sled->flags, probe->loop_depth != 0, 2, fixed);
    struct sites slow = {.n = 0};
    unsigned r = f.context;
    save(c, &f);
    read_clock(c);
    check_ring(c, r, &slow);
    thread_op(c, 0x8b, r, thread_offset(&pm_tls.current));
    stack_address(c, f.adjustment, RDX);
    memory_op(c, true, 0x39, RDX, r, offsetof(struct pm_node, sp));
    slow_if(c, &slow, IF_NOT_EQUAL);
    compare_noun(c, r, probe);
    slow_if(c, &slow, IF_NOT_EQUAL);
    memory_op(c, true, 0x2b, RAX, r, offsetof(struct pm_node, start_tsc));
    memory_op(c, true, 0x8b, RDX, r, offsetof(struct pm_node, parent));
    thread_op(c, 0x89, RDX, thread_offset(&pm_tls.current));
    memory_op(c, true, 0xc7, 0, r, offsetof(struct pm_node, sp)); /* movq $0 */
    word32(c, 0);
    memory_op(c, true, 0x01, RAX, r, offsetof(struct pm_node, inclusive_tsc));
    restore(c, &f);
    jump(c, back);
    slow_tail(cold, &f, false, &slow, index, thunk, back);
}

/* Without pushed registers S is rsp. With them it takes a register of its own, pushed too. */
static struct frame plan_active(const struct pm_sled *sled, const struct pm_probe *probe,
                                unsigned *ret_s)
{
    static const uint8_t fixed[] = {RDX};
    bool loop = probe->loop_depth != 0;
    struct frame f = plan_frame(sled->must_save, sled->flags, loop, 0, NULL);
    *ret_s = RSP;
    if (f.adjustment != 0) {
        f = plan_frame(sled->must_save, sled->flags, loop, 1, fixed);
        *ret_s = RDX;
    }
    return f;
}

static void active_entry(struct code *c, struct code *cold, const struct pm_sled *sled,
                         const struct pm_probe *probe, uint32_t index, const uint8_t *thunk)
{
    const uint8_t *back = (const uint8_t *)sled->address + 5;
    unsigned s;
    struct frame f = plan_active(sled, probe, &s);
    struct sites slow = {.n = 0}, slow_kept = {.n = 0};
    unsigned r = f.context;
    save(c, &f);
    check_ring(c, r, &slow);
    thread_op(c, 0x8b, r, thread_offset(&pm_tls.current));
    if (s != RSP)
        stack_address(c, f.adjustment, s);
    check_entry(c, r, s, probe, &slow);
    memory_op(c, true, 0x8b, r, r, offsetof(struct pm_node, cached_child));
    compare_noun(c, r, probe);
    uint8_t *miss = jump_if(c, IF_NOT_EQUAL);
    uint8_t *found = c->p;
    memory_op(c, true, 0xff, 0, r, offsetof(struct pm_node, n_calls)); /* incq */
    thread_op(c, 0x89, r, thread_offset(&pm_tls.current));
    memory_op(c, true, 0x89, s, r, offsetof(struct pm_node, sp));
    restore(c, &f);
    jump(c, back);

    /* Another register, for a moment: a free one, S's, or one that is pushed (below the red zone). */
    land(cold, miss);
    unsigned at = s != RSP ? s : another_free(sled->must_save, r);
    bool pushed = at == RSP;
    if (pushed) {
        at = r == RCX ? RSI : RCX;
        if (f.red_zone)
            BYTES(cold, "\x48\x8d\x64\x24\x80");
        push_register(cold, at);
    }
    look_up(cold, r, at, probe, pushed ? &slow_kept : &slow);
    if (pushed) {
        pop_register(cold, at);
        if (f.red_zone)
            BYTES(cold, "\x48\x8d\xa4\x24\x80\x00\x00\x00");
    }
    if (s != RSP)
        stack_address(cold, f.adjustment, s);
    jump(cold, found);
    if (pushed) {
        for (unsigned i = 0; i < slow_kept.n; i++)
            land(cold, slow_kept.from[i]);
        pop_register(cold, at);
        if (f.red_zone)
            BYTES(cold, "\x48\x8d\xa4\x24\x80\x00\x00\x00");
    }
    slow_tail(cold, &f, s == RSP && !is_free(sled->must_save, RDX), &slow, index, thunk, back);
}

static void active_exit(struct code *c, struct code *cold, const struct pm_sled *sled,
                        const struct pm_probe *probe, uint32_t index, const uint8_t *thunk)
{
    const uint8_t *back = (const uint8_t *)sled->address + 5;
    unsigned s;
    struct frame f = plan_active(sled, probe, &s);
    struct sites slow = {.n = 0};
    unsigned r = f.context;
    save(c, &f);
    check_ring(c, r, &slow);
    thread_op(c, 0x8b, r, thread_offset(&pm_tls.current));
    if (s != RSP)
        stack_address(c, f.adjustment, s);
    memory_op(c, true, 0x39, s, r, offsetof(struct pm_node, sp));
    slow_if(c, &slow, IF_NOT_EQUAL);
    compare_noun(c, r, probe);
    slow_if(c, &slow, IF_NOT_EQUAL);
    memory_op(c, true, 0xc7, 0, r, offsetof(struct pm_node, sp)); /* movq $0 */
    word32(c, 0);
    memory_op(c, true, 0x8b, r, r, offsetof(struct pm_node, parent));
    thread_op(c, 0x89, r, thread_offset(&pm_tls.current));
    restore(c, &f);
    jump(c, back);
    slow_tail(cold, &f, s == RSP && !is_free(sled->must_save, RDX), &slow, index, thunk, back);
}

static void count_entry(struct code *c, struct code *cold, const struct pm_sled *sled,
                        const struct pm_probe *probe, uint32_t index, const uint8_t *thunk)
{
    const uint8_t *back = (const uint8_t *)sled->address + 5;
    struct frame f = plan_frame(sled->must_save, sled->flags, probe->loop_depth != 0, 0, NULL);
    struct sites slow = {.n = 0};
    unsigned r = f.context;
    save(c, &f);
    thread_op(c, 0x8b, r, thread_offset(&pm_tls.bank[probe->bank]));
    byte(c, 0x48u | (r >> 3) << 2 | r >> 3); /* test R, R */
    byte(c, 0x85);
    byte(c, 0xc0u | (r & 7u) << 3 | (r & 7u));
    slow_if(c, &slow, IF_EQUAL);
    memory_op(c, true, 0xff, 0, r, (int)(probe->counter * 8));
    restore(c, &f);
    jump(c, back);
    slow_tail(cold, &f, !is_free(sled->must_save, RDX), &slow, index, thunk, back);
}

/* On the stack: return address, index. rdx S, rax clock; all caller-saved registers come back
 * unchanged. */
static void make_thunk(struct code *c, const struct pm_probe *probes)
{
    static const uint8_t saved[] = {RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11, 3};
    for (size_t i = 0; i < sizeof saved; i++)
        push_register(c, saved[i]);
    BYTES(c, "\x48\x89\xe3"     /* mov %rsp, %rbx */
             "\x8b\x7b\x58"     /* mov 88(%rbx), %edi */
             "\x48\xc1\xe7\x04" /* shl $4, %rdi */
             "\x48\x89\xd6"     /* mov %rdx, %rsi */
             "\x48\x89\xc2"     /* mov %rax, %rdx */
             "\x48\xb9");       /* movabs $probes, %rcx */
    uint64_t address = (uint64_t)probes;
    word64(c, address);
    BYTES(c, "\x48\x01\xcf"     /* add %rcx, %rdi */
             "\xfc"             /* cld */
             "\x48\x83\xe4\xf0" /* and $-16, %rsp */
             "\x48\xb8");       /* movabs $pm_slow, %rax */
    address = (uint64_t)&pm_slow;
    word64(c, address);
    BYTES(c, "\xff\xd0"       /* call *%rax */
             "\x48\x89\xdc"); /* mov %rbx, %rsp */
    for (size_t i = sizeof saved; i-- > 0;)
        pop_register(c, saved[i]);
    BYTES(c, "\xc2\x08\x00"); /* ret $8 */
}

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

static void make_trampoline(struct code *c, struct code *cold, const struct pm_sled *sled,
                            const struct pm_probe *probe, uint32_t index, enum pm_run_mode mode,
                            const uint8_t *thunk)
{
    bool entry = sled->kind == PM_SLED_ENTRY || sled->kind == PM_SLED_LOOP_ENTER;
    if (mode == PM_RUN_MODE_COUNT)
        count_entry(c, cold, sled, probe, index, thunk);
    else if (mode == PM_RUN_MODE_ACTIVE)
        (entry ? active_entry : active_exit)(c, cold, sled, probe, index, thunk);
    else
        (entry ? exact_entry : exact_exit)(c, cold, sled, probe, index, thunk);
}

static struct pm_probe probe_of(const struct pm_object *object, const struct pm_sled *sled)
{
    bool loop = sled->kind == PM_SLED_LOOP_ENTER || sled->kind == PM_SLED_LOOP_LEAVE;
    uint8_t depth = sled->flags & PM_SLED_DEPTH_MASK;
    return (struct pm_probe){.noun = object->first_noun + sled->noun,
                             .kind = sled->kind,
                             .loop_depth = loop ? (depth != 0 ? depth : 1) : 0,
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
    size_t head = THUNK_BYTES + n * sizeof(struct pm_probe);
    size_t cold_at = whole_pages(head + n * LARGEST_FAST);
    size_t size = whole_pages(cold_at + n * LARGEST_COLD);
    uint8_t *region = pm_map_near(object->low, object->high, size);
    if (region == NULL)
        return false;
    struct pm_probe *probes = (struct pm_probe *)(region + THUNK_BYTES);
    struct code c = {region}, cold = {region + cold_at};
    make_thunk(&c, probes);
    c.p = region + head;
    uint32_t index = 0;
    for (uint32_t i = 0; i < object->n_sleds; i++) {
        struct pm_sled *sled = &object->sleds[i];
        sled->trampoline = 0;
        if (!is_wanted(sled, mode))
            continue;
        while (((uintptr_t)c.p & 15) != 0)
            byte(&c, 0xcc);
        sled->trampoline = (uint32_t)(c.p - region);
        probes[index] = probe_of(object, sled);
        make_trampoline(&c, &cold, sled, &probes[index], index, mode, region);
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
    struct code c = {region};
    BYTES(&c, "\x48\xb8"); /* movabs $replacement, %rax; jmp *%rax */
    uint64_t address = (uint64_t)replacement;
    word64(&c, address);
    BYTES(&c, "\xff\xe0");
    struct pm_patch patch = {.address = function, .bytes = {0xe9}};
    int32_t distance = (int32_t)((uintptr_t)region - (function + 5));
    __builtin_memcpy(patch.bytes + 1, &distance, 4);
    return pm_sys(SYS_mprotect, region, PM_RUN_PAGE, PROT_READ | PROT_EXEC) == 0 &&
           pm_patch_apply(&patch, 1, PROT_READ | PROT_EXEC, true);
}
