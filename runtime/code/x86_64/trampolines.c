/* Sleds on x86-64: generated trampolines.
 *
 * An armed sled is `jmp trampoline`; the trampoline ends with a jump behind the sled. It may use
 * the flags, and of the general registers those that the record calls free (the compiler
 * declared them clobbered); others it saves first, in free ones, else on the stack, below the
 * red zone when there may be one. Registers within: rax the clock, rdx S (the stack pointer at
 * the sled), R the context (any caller-saved one but these two). With nothing to save, entry is
 * 12 and exit 11 instructions beside rdtsc.
 *
 *     entry: rax = clock; R = current; S = rsp + adjustment
 *            R->sp <= S ? slow (loops: R->sp < S, or equal and R is a loop as deep or deeper)
 *            R = R->cached_child; R->noun != noun ? hash
 *     found: R->n_calls++; R->start = rax; R->sp = S; current = R; R->start = rax; R->sp = S
 *     hash:  slot (R >> 4 ^ noun's constant) & mask; its noun and parent must match, else slow
 *     exit:  R->sp != S || R->noun != noun ? slow;  rax -= R->start; current = R->parent; R->sp =
 *                                                   0;
 *            R->inclusive += rax
 *     count: R = bank; R == 0 ? slow; R[k]++
 *     slow:  push index of the probe; call the thunk, which saves all caller-saved registers and
 *            calls pm_slow
 *
 * Mode active leaves out the clock, and with it all registers but R and one for the hash table:
 * S is the stack pointer itself when nothing had to be pushed. It always goes by the hash table:
 * which child comes next is hard for processors to predict (SQLite: a pair takes 5.9 ns with the
 * cached child, 5.5 without), and there is no clock to wait for meanwhile. Where no other register
 * is free, the exit clears R->sp before it moves current, as R is then gone (tree/frame.h has the
 * order of stores). Entry and exit of both modes begin (exact: after the clock is read) with
 *
 *     ring:  *ring_head != ring_seen ? slow
 *
 * so that samples are charged to the context in which they were taken.
 *
 * A noun may have a flag, a byte near the code: while it is 0, entries go on at once, and exits
 * too unless the youngest context is their own (it was entered before).
 *
 * A noun may be followed inside others only (`perfmap run --ask '{a ?} then {b ?}'`): then all
 * begin with
 *
 *     inside: R = current; R->terms & the probe's == 0 ? go on behind the sled
 *
 * A context has the terms of all above it, a dead one at least those of the living ones, so
 * nothing that is inside is missed.
 *
 * A tail call begins with what needs no clock and no ring, for current stays what it is (struct
 * pm_jump), where three registers are free:
 *
 *     jump:  R = current; R->sp != S || R->noun != noun ? as an exit
 *            R's parent is marked, and its parent, or it is what is jumped to ? as an exit
 *            T = where the jump leads; no armed sled at T ? as an exit;  R->sp = S + 1
 *            (mode active, to code without sleds: R->paused = the return address;  R->sp = S / 2)
 *
 * and a return ends the parent with itself that has this mark:
 *
 *     chain: T = R->parent (which exits of mode active load anyway); T->sp == S + 1 ? both end
 *
 * A chain of three goes the slow way, as does a return whose parent was interrupted while it
 * jumped.
 *
 * Nouns of different modes meet in one tree, and a noun's mode may change while contexts of it
 * are open: an active entry leaves start 0 behind, with which an exact exit goes the slow way.
 */
#include "runtime/tree/trace.h"
#include "runtime/tree/tree.h"
#include "runtime/code/x86_64/emit.h"

const bool pm_arch_has_sleds = true;
const uint8_t pm_arch_nop[5] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

/* What is only followed inside others (struct pm_plan_noun) goes on at once elsewhere. The
 * sentinel is inside all. */
static void test_inside(struct x86_code *c, unsigned r, const struct pm_probe *probe,
                        struct x86_sites *outside)
{
    if (probe->inside == 0)
        return;
    x86_thread_op(c, 0x8b, r, x86_thread_offset(&pm_tls.current));
    x86_memory_op(c, false, 0xf6, 0, r, /* testb $inside, terms(R) */
                  offsetof(struct pm_node, flags) + PM_NODE_TERMS_SHIFT / 8);
    x86_byte(c, probe->inside);
    x86_slow_if(c, outside, IF_EQUAL);
}

static void leave_outside(struct x86_code *cold, const struct x86_frame *f,
                          const struct x86_sites *outside, const uint8_t *back)
{
    for (unsigned i = 0; i < outside->n; i++) {
        x86_land(cold, outside->from[i]);
        x86_restore(cold, f);
        x86_jump(cold, back);
    }
}

/* --- tail calls --- */

/* T = where the jump behind the sled leads, one by register or memory, in the same registers, or
 * the stub that it jumps to. False: it is none that we know. */
static bool load_jump(struct x86_code *c, const struct pm_sled *sled, unsigned t)
{
    const uint8_t *p = (const uint8_t *)sled->address + 5;
    unsigned rex = 0, displacement = 0;
    uintptr_t stub = x86_jump_target(p);
    if (stub != 0 && (p = x86_stub_jump((const uint8_t *)stub)) == NULL)
        return false;
    p += *p == 0x3e; /* notrack */
    if ((*p & 0xf0) == 0x40)
        rex = *p++;
    unsigned modrm = p[1], mode = modrm >> 6, base = modrm & 7;
    if (*p != 0xff || (modrm >> 3 & 7) != 4)
        return false;
    p += 2;
    if (mode == 3) {
        x86_move(c, base | (rex & 1) << 3, t);
        return true;
    }
    bool rip = mode == 0 && base == 5, sib = base == 4;
    if (mode == 2 || rip || (mode == 0 && sib && (*p & 7) == 5))
        displacement = 4;
    else if (mode == 1)
        displacement = 1;
    int32_t word;
    __builtin_memcpy(&word, p, 4);
    int64_t distance = (int64_t)((uintptr_t)p + 4 - ((uintptr_t)c->p + 7)) + word;
    if (rip && distance != (int32_t)distance)
        return false;
    x86_byte(c, 0x48u | (t >> 3) << 2 | (rex & 3));
    x86_byte(c, 0x8b);
    x86_byte(c, (modrm & 0xc7) | (t & 7) << 3);
    if (sib)
        x86_byte(c, *p++);
    if (rip) {
        x86_word32(c, (uint32_t)distance);
        return true;
    }
    for (unsigned i = 0; i < displacement; i++)
        x86_byte(c, p[i]);
    return true;
}

/* Is a jump to one of our trampolines at T? Else goes on at a site. U is lost, and T. */
static void test_armed(struct x86_code *c, unsigned t, unsigned u, struct x86_sites *other)
{
    x86_memory_op(c, false, 0x80, 7, t, 0); /* cmpb $0xe9, (T) */
    x86_byte(c, 0xe9);
    other->from[other->n++] = x86_short_jump_if(c, IF_NOT_EQUAL);
    x86_memory_op(c, true, 0x63, u, t, 1);       /* movslq 1(T), U */
    x86_byte(c, 0x48u | (u >> 3) << 2 | t >> 3); /* add U, T */
    x86_byte(c, 0x01);
    x86_byte(c, 0xc0u | (u & 7u) << 3 | (t & 7u));
    x86_byte(c, 0x48u | u >> 3); /* movabs $region - 5, U */
    x86_byte(c, 0xb8u | (u & 7u));
    x86_word64(c, (uint64_t)(uintptr_t)c->region - 5);
    x86_byte(c, 0x48u | (u >> 3) << 2 | t >> 3); /* sub U, T */
    x86_byte(c, 0x29);
    x86_byte(c, 0xc0u | (u & 7u) << 3 | (t & 7u));
    x86_byte(c, 0x48u | t >> 3); /* cmp $bytes, T */
    x86_byte(c, 0x81);
    x86_byte(c, 0xf8u | (t & 7u));
    x86_word32(c, c->region_bytes);
    other->from[other->n++] = x86_short_jump_if(c, IF_ABOVE_EQUAL);
}

/* Registers that a tail call may use at once. Returns how many there are. */
static unsigned free_registers(const struct pm_sled *sled, unsigned ret_free[3])
{
    static const uint8_t some[] = {R11, R10, RCX, R9, R8, RSI, RDI, RAX, RDX};
    unsigned n = 0;
    for (size_t i = 0; i < sizeof some && n < 3; i++)
        if (x86_is_free(sled->must_save, some[i]))
            ret_free[n++] = some[i];
    return n;
}

/* R = current, when that is this call's context; else goes on at a site. */
static void test_own(struct x86_code *c, unsigned r, const struct pm_probe *probe,
                     struct x86_sites *other)
{
    x86_thread_op(c, 0x8b, r, x86_thread_offset(&pm_tls.current));
    x86_memory_op(c, true, 0x39, RSP, r, offsetof(struct pm_node, sp));
    other->from[other->n++] = x86_short_jump_if(c, IF_NOT_EQUAL);
    x86_compare_noun(c, r, probe);
    other->from[other->n++] = x86_short_jump_if(c, IF_NOT_EQUAL);
}

static void clear_sp(struct x86_code *c, unsigned r)
{
    x86_memory_op(c, true, 0xc7, 0, r, offsetof(struct pm_node, sp)); /* movq $0 */
    x86_word32(c, 0);
}

static void compare_zero(struct x86_code *c, unsigned r, int field)
{
    x86_memory_op(c, true, 0x83, 7, r, field); /* cmpq $0 */
    x86_byte(c, 0);
}

static void test_sp(struct x86_code *c, unsigned r, unsigned bits)
{
    x86_memory_op(c, false, 0xf6, 0, r, offsetof(struct pm_node, sp)); /* testb $bits, sp(R) */
    x86_byte(c, bits);
}

/* T is the parent, and has some bit set. Third of a chain at most, of what is not in it yet, and
 * without times: else the slow way. */
static void jump_again(struct x86_code *cold, const struct pm_probe *probe, unsigned t,
                       uint8_t *from, const uint8_t *on, const uint8_t *other)
{
    x86_land(cold, from);
    test_sp(cold, t, 6);
    x86_jump_to_if(cold, IF_NOT_EQUAL, other);
    compare_zero(cold, t, offsetof(struct pm_node, start_tsc));
    x86_jump_to_if(cold, IF_NOT_EQUAL, other);
    if (probe->tail == PM_TAIL_TO_SLED) {
        x86_memory_op(cold, false, 0x81, 7, t, offsetof(struct pm_node, noun));
        x86_note(cold->p, X86_NOTE_TARGET_NOUN);
        x86_word32(cold, probe->counter);
        x86_jump_to_if(cold, IF_EQUAL, other);
    }
    x86_memory_op(cold, true, 0x8b, t, t, offsetof(struct pm_node, parent));
    test_sp(cold, t, 7);
    x86_jump_to_if(cold, IF_NOT_EQUAL, other);
    x86_jump(cold, on);
}

/* What a tail call does that leads to an armed sled of the object; else as before. */
static void jump_to_sled(struct x86_code *c, struct x86_code *cold, const struct pm_sled *sled,
                         const struct pm_probe *probe)
{
    struct x86_sites other = {.n = 0};
    unsigned free[3];
    if (free_registers(sled, free) < 3 || c->region == NULL ||
        (probe->tail == PM_TAIL_TO_SLED && (c->target == NULL || probe->counter == probe->noun)))
        return;
    unsigned r = free[0], t = free[1], u = free[2];
    uint8_t *begin = c->p;
    test_own(c, r, probe, &other);
    x86_memory_op(c, true, 0x8b, t, r, offsetof(struct pm_node, parent));
    test_sp(c, t, 7);
    uint8_t *again = x86_jump_if(c, IF_NOT_EQUAL), *on = c->p;
    if (probe->tail == PM_TAIL_TO_SLED) {
        x86_byte(c, 0x48u | (t >> 3) << 2); /* lea target(%rip), T */
        x86_byte(c, 0x8d);
        x86_byte(c, 0x05u | (t & 7u) << 3);
        x86_note(c->p, X86_NOTE_TARGET);
        x86_word32(c, (uint32_t)(c->target - (c->p + 4)));
    } else if (!load_jump(c, sled, t)) {
        c->p = begin;
        return;
    }
    test_armed(c, t, u, &other);
    x86_memory_op(c, true, 0xff, 0, r, offsetof(struct pm_node, sp)); /* incq */
    x86_jump(c, (const uint8_t *)sled->address + 5);
    for (unsigned i = 0; i < other.n; i++)
        x86_land_short(c, other.from[i]);
    jump_again(cold, probe, t, again, on, c->p);
}

/* pm_jump_at's entry with the offset T in the thread's is none of S. */
static void forget_jump(struct x86_code *c, unsigned t)
{
    x86_byte(c, 0x64);
    x86_byte(c, 0x48u | t >> 3);
    x86_byte(c, 0xc7); /* movq $0, sp(T) */
    x86_byte(c, 0x80u | (t & 7u));
    x86_word32(c,
               (uint32_t)(x86_thread_offset(pm_tls.jumps) + (int32_t)offsetof(struct pm_jump, sp)));
    x86_word32(c, 0);
}

/* The same to code without sleds, in mode active: what pm_jump_away does. */
static void jump_to_other(struct x86_code *c, const struct pm_sled *sled,
                          const struct pm_probe *probe)
{
    struct x86_sites other = {.n = 0};
    unsigned free[3];
    if (free_registers(sled, free) < 2 || !(sled->flags & PM_SLED_SP_AT_CFA) ||
        probe->mode != PM_RUN_MODE_ACTIVE)
        return;
    unsigned r = free[0], t = free[1];
    test_own(c, r, probe, &other);
    compare_zero(c, r, offsetof(struct pm_node, start_tsc));
    other.from[other.n++] = x86_short_jump_if(c, IF_NOT_EQUAL);
    X86_BYTES(c, "\x40\xf6\xc4\x07"); /* test $7, %spl */
    other.from[other.n++] = x86_short_jump_if(c, IF_NOT_EQUAL);
    X86_BYTES(c, "\x40\xf6\xc4\x08"); /* test $8, %spl */
    other.from[other.n++] = x86_short_jump_if(c, IF_EQUAL);
    x86_stack_address(c, 0, t);
    x86_byte(c, 0x48u | (t >> 3) << 2 | t >> 3); /* add T, T */
    x86_byte(c, 0x01);
    x86_byte(c, 0xc0u | (t & 7u) << 3 | (t & 7u));
    if (t >= 8)
        x86_byte(c, 0x41);
    x86_byte(c, 0x81); /* and $mask, T */
    x86_byte(c, 0xe0u | (t & 7u));
    x86_word32(c, (PM_MAX_JUMPS - 1) * sizeof(struct pm_jump));
    forget_jump(c, t);            /* no entry at S is what was jumped to */
    X86_BYTES(c, "\xff\x34\x24"); /* pushq (%rsp) */
    x86_pop_register(c, t);
    x86_memory_op(c, false, 0x89, t, r, offsetof(struct pm_node, paused));
    x86_memory_op(c, true, 0xd1, 5, r, offsetof(struct pm_node, sp)); /* shrq */
    x86_jump(c, (const uint8_t *)sled->address + 5);
    for (unsigned i = 0; i < other.n; i++)
        x86_land_short(c, other.from[i]);
}

static void quick_jump(struct x86_code *c, struct x86_code *cold, const struct pm_sled *sled,
                       const struct pm_probe *probe)
{
    if (probe->inside != 0 || c->flag != NULL)
        return;
    if (probe->tail == PM_TAIL_TO_OTHER)
        jump_to_other(c, sled, probe);
    else if (probe->tail != PM_TAIL_ENDS)
        jump_to_sled(c, cold, sled, probe);
}

/* Is the context in register r what the one that returns was jumped to from? Else goes on there.
 * Only what has its mark goes the slow way. */
static uint8_t *test_chain(struct x86_code *c, unsigned r)
{
    test_sp(c, r, 7);
    return x86_jump_if(c, IF_NOT_EQUAL);
}

/* Ambient sets and other stacks' roots have other bits set. */
static void leave_unless_marked(struct x86_code *cold, unsigned r, const uint8_t *on)
{
    test_sp(cold, r, 6);
    x86_jump_to_if(cold, IF_NOT_EQUAL, on);
}

/* Modes exact and trace. */
static void timed_entry(struct x86_code *c, struct x86_code *cold, const struct pm_sled *sled,
                        const struct pm_probe *probe, uint32_t index, const uint8_t *thunk)
{
    static const uint8_t fixed[] = {RAX, RDX};
    const uint8_t *back = (const uint8_t *)sled->address + 5;
    struct x86_frame f =
        x86_plan_frame(sled->must_save, sled->flags, probe->loop_depth != 0, 2, fixed);
    bool records = probe->mode == PM_RUN_MODE_TRACE;
    struct x86_sites outside = {.n = 0}, slow = {.n = 0};
    unsigned r = f.context;
    x86_save(c, &f);
    test_inside(c, r, probe, &outside);
    x86_read_clock(c);
    x86_check_ring(c, r, &slow);
    if (records)
        x86_check_trace_room(c, r, &slow);
    x86_thread_op(c, 0x8b, r, x86_thread_offset(&pm_tls.current));
    x86_stack_address(c, f.adjustment, RDX);
    x86_check_entry(c, r, RDX, probe, &slow);
    x86_memory_op(c, true, 0x8b, r, r, offsetof(struct pm_node, cached_child));
    x86_compare_noun(c, r, probe);
    uint8_t *miss = x86_jump_if(c, IF_NOT_EQUAL);
    uint8_t *found = c->p;
    x86_memory_op(c, true, 0xff, 0, r, offsetof(struct pm_node, n_calls)); /* incq */
    if (records) {
        x86_reserve_event(c);
    } else {
        x86_memory_op(c, true, 0x89, RAX, r, offsetof(struct pm_node, start_tsc));
        x86_memory_op(c, true, 0x89, RDX, r, offsetof(struct pm_node, sp));
    }
    x86_thread_op(c, 0x89, r, x86_thread_offset(&pm_tls.current));
    x86_memory_op(c, true, 0x89, RAX, r, offsetof(struct pm_node, start_tsc));
    if (records) {
        x86_record_event(c, PM_RUN_TRACE_ENTER | pm_trace_noun(probe->noun));
        x86_stack_address(c, f.adjustment, RDX);
    }
    x86_memory_op(c, true, 0x89, RDX, r, offsetof(struct pm_node, sp));
    x86_restore(c, &f);
    x86_jump(c, back);

    x86_land(cold, miss);
    x86_look_up(cold, r, RDX, probe, &slow);
    if (!records)
        x86_stack_address(cold, f.adjustment, RDX);
    x86_jump(cold, found);
    x86_slow_tail(cold, &f, false, &slow, index, thunk, back);
    leave_outside(cold, &f, &outside, back);
}

/* missed: the youngest context is not this call's. That is nothing to look into where entries do
 * nothing for the flag. */
void x86_exit_tail(struct x86_code *c, const struct x86_frame *f, bool save_s,
                   const struct x86_sites *slow, const struct x86_sites *missed, uint32_t index,
                   const uint8_t *thunk, const uint8_t *back)
{
    uint8_t *out = NULL;
    for (unsigned i = 0; i < missed->n; i++)
        x86_land(c, missed->from[i]);
    if (c->flag != NULL) {
        x86_test_flag(c);
        out = x86_jump_if(c, IF_EQUAL);
    }
    x86_slow_tail(c, f, save_s, slow, index, thunk, back);
    if (out == NULL)
        return;
    x86_land(c, out);
    x86_restore(c, f);
    x86_jump(c, back);
}

static void timed_exit(struct x86_code *c, struct x86_code *cold, const struct pm_sled *sled,
                       const struct pm_probe *probe, uint32_t index, const uint8_t *thunk)
{
    static const uint8_t fixed[] = {RAX, RDX};
    const uint8_t *back = (const uint8_t *)sled->address + 5;
    struct x86_frame f =
        x86_plan_frame(sled->must_save, sled->flags, probe->loop_depth != 0, 2, fixed);
    bool records = probe->mode == PM_RUN_MODE_TRACE;
    struct x86_sites outside = {.n = 0}, slow = {.n = 0}, missed = {.n = 0};
    unsigned r = f.context;
    x86_save(c, &f);
    test_inside(c, r, probe, &outside);
    x86_read_clock(c);
    x86_check_ring(c, r, &slow);
    if (records)
        x86_check_trace_room(c, r, &slow);
    x86_thread_op(c, 0x8b, r, x86_thread_offset(&pm_tls.current));
    x86_stack_address(c, f.adjustment, RDX);
    x86_memory_op(c, true, 0x39, RDX, r, offsetof(struct pm_node, sp));
    x86_slow_if(c, &missed, IF_NOT_EQUAL);
    x86_compare_noun(c, r, probe);
    x86_slow_if(c, &missed, IF_NOT_EQUAL);
    if (probe->kind == PM_SLED_TAIL) /* the context stays: tree/jump.h */
        x86_slow_if(c, &slow, IF_EQUAL);
    uint8_t *chain = NULL, *single = NULL;
    if (probe->kind == PM_SLED_RETURN) {
        x86_memory_op(c, true, 0x8b, RDX, r, offsetof(struct pm_node, parent));
        chain = test_chain(c, RDX);
        single = c->p;
    }
    x86_memory_op(c, true, 0x8b, RDX, r, offsetof(struct pm_node, start_tsc));
    x86_test(c, RDX); /* it began without a time */
    x86_slow_if(c, &slow, IF_EQUAL);
    if (records) {
        x86_trace_leave(c, r, probe);
    } else {
        X86_BYTES(c, "\x48\x29\xd0"); /* sub %rdx, %rax */
        x86_memory_op(c, true, 0x8b, RDX, r, offsetof(struct pm_node, parent));
        x86_thread_op(c, 0x89, RDX, x86_thread_offset(&pm_tls.current));
        clear_sp(c, r);
        x86_memory_op(c, true, 0x01, RAX, r, offsetof(struct pm_node, inclusive_tsc));
    }
    x86_restore(c, &f);
    x86_jump(c, back);
    if (chain != NULL) {
        x86_land(cold, chain);
        leave_unless_marked(cold, RDX, single);
        x86_slow_if(cold, &slow, IF_EQUAL);
    }
    x86_exit_tail(cold, &f, false, &slow, &missed, index, thunk, back);
    leave_outside(cold, &f, &outside, back);
}

/* Without pushed registers S is rsp. With them it takes a register of its own, pushed too. */
static struct x86_frame plan_active(const struct pm_sled *sled, const struct pm_probe *probe,
                                    unsigned *ret_s)
{
    static const uint8_t fixed[] = {RDX};
    bool loop = probe->loop_depth != 0;
    struct x86_frame f = x86_plan_frame(sled->must_save, sled->flags, loop, 0, NULL);
    *ret_s = RSP;
    if (f.adjustment != 0) {
        f = x86_plan_frame(sled->must_save, sled->flags, loop, 1, fixed);
        *ret_s = RDX;
    }
    return f;
}

/* Another register, for a moment: below the red zone. */
static void borrow(struct x86_code *c, const struct x86_frame *f, unsigned reg)
{
    if (f->red_zone)
        X86_BYTES(c, "\x48\x8d\x64\x24\x80"); /* lea -128(%rsp), %rsp */
    x86_push_register(c, reg);
}

static void give_back(struct x86_code *c, const struct x86_frame *f, unsigned reg)
{
    x86_pop_register(c, reg);
    if (f->red_zone)
        X86_BYTES(c, "\x48\x8d\xa4\x24\x80\x00\x00\x00"); /* lea 128(%rsp), %rsp */
}

static void active_entry(struct x86_code *c, struct x86_code *cold, const struct pm_sled *sled,
                         const struct pm_probe *probe, uint32_t index, const uint8_t *thunk)
{
    const uint8_t *back = (const uint8_t *)sled->address + 5;
    unsigned s;
    struct x86_frame f = plan_active(sled, probe, &s);
    struct x86_sites outside = {.n = 0}, slow = {.n = 0}, slow_kept = {.n = 0};
    unsigned r = f.context;
    unsigned at = s != RSP ? s : x86_another_free(sled->must_save, r);
    bool borrowed = at == RSP;
    if (borrowed)
        at = r == RCX ? RSI : RCX;
    x86_save(c, &f);
    test_inside(c, r, probe, &outside);
    x86_check_ring(c, r, &slow);
    x86_thread_op(c, 0x8b, r, x86_thread_offset(&pm_tls.current));
    if (s != RSP)
        x86_stack_address(c, f.adjustment, s);
    x86_check_entry(c, r, s, probe, &slow);
    if (borrowed)
        borrow(c, &f, at);
    x86_look_up(c, r, at, probe, borrowed ? &slow_kept : &slow);
    if (borrowed)
        give_back(c, &f, at);
    if (s != RSP)
        x86_stack_address(c, f.adjustment, s);
    x86_memory_op(c, true, 0xff, 0, r, offsetof(struct pm_node, n_calls)); /* incq */
    x86_memory_op(c, true, 0x89, s, r, offsetof(struct pm_node, sp));
    x86_thread_op(c, 0x89, r, x86_thread_offset(&pm_tls.current));
    x86_memory_op(c, true, 0xc7, 0, r, offsetof(struct pm_node, start_tsc)); /* movq $0 */
    x86_word32(c, 0);
    x86_memory_op(c, true, 0x89, s, r, offsetof(struct pm_node, sp));
    x86_restore(c, &f);
    x86_jump(c, back);

    for (unsigned i = 0; i < slow_kept.n; i++)
        x86_land(cold, slow_kept.from[i]);
    if (borrowed)
        give_back(cold, &f, at);
    x86_slow_tail(cold, &f, s == RSP && !x86_is_free(sled->must_save, RDX), &slow, index, thunk,
                  back);
    leave_outside(cold, &f, &outside, back);
}

/* T: the parent, which bears a mark, of the context that ends; R, T: registers. Nothing has been
 * changed yet, for handlers come between any two instructions, and the slow path needs the
 * context that ends. Goes on at `single` where T is not what has jumped here, or has ended the
 * innermost itself. */
static void end_chain(struct x86_code *cold, unsigned r, unsigned t, uint8_t *chain,
                      const uint8_t *single, struct x86_sites *slow)
{
    x86_land(cold, chain);
    leave_unless_marked(cold, t, single);
    compare_zero(cold, t, offsetof(struct pm_node, start_tsc));
    x86_slow_if(cold, slow, IF_NOT_EQUAL);
    x86_memory_op(cold, true, 0x8b, r, t, offsetof(struct pm_node, parent));
    test_sp(cold, r, 6);
    uint8_t *unmarked = x86_short_jump_if(cold, IF_NOT_EQUAL);
    test_sp(cold, r, 1);
    x86_slow_if(cold, slow, IF_NOT_EQUAL); /* a third one, or what a handler interrupted */
    x86_land_short(cold, unmarked);
    x86_thread_op(cold, 0x8b, r, x86_thread_offset(&pm_tls.current));
    x86_memory_op(cold, true, 0x8b, r, r, offsetof(struct pm_node, sp));
    x86_byte(cold, 0x48u | r >> 3); /* inc R */
    x86_byte(cold, 0xff);
    x86_byte(cold, 0xc0u | (r & 7u));
    x86_memory_op(cold, true, 0x39, r, t, offsetof(struct pm_node, sp));
    x86_slow_if(cold, slow, IF_NOT_EQUAL); /* of another frame */
    x86_thread_op(cold, 0x8b, r, x86_thread_offset(&pm_tls.current));
    x86_thread_op(cold, 0x89, t, x86_thread_offset(&pm_tls.current));
    clear_sp(cold, r);
    x86_move(cold, t, r);
    x86_memory_op(cold, true, 0x8b, t, t, offsetof(struct pm_node, parent));
    x86_jump(cold, single);
}

/* current = the parent of R, whose sp becomes 0. T: another register; RSP: none. */
static void end_context(struct x86_code *c, struct x86_code *cold, unsigned r, unsigned t,
                        const struct pm_probe *probe, struct x86_sites *slow)
{
    bool returns = probe->kind == PM_SLED_RETURN;
    uint8_t *chain = NULL;
    if (returns) {
        unsigned parent = t != RSP ? t : r;
        x86_memory_op(c, true, 0x8b, parent, r, offsetof(struct pm_node, parent));
        chain = test_chain(c, parent);
    }
    const uint8_t *single = c->p;
    if (t != RSP) {
        if (!returns)
            x86_memory_op(c, true, 0x8b, t, r, offsetof(struct pm_node, parent));
        x86_thread_op(c, 0x89, t, x86_thread_offset(&pm_tls.current));
        clear_sp(c, r);
    } else {
        if (returns)
            x86_thread_op(c, 0x8b, r, x86_thread_offset(&pm_tls.current));
        clear_sp(c, r);
        x86_memory_op(c, true, 0x8b, r, r, offsetof(struct pm_node, parent));
        x86_thread_op(c, 0x89, r, x86_thread_offset(&pm_tls.current));
    }
    if (returns && t != RSP) {
        end_chain(cold, r, t, chain, single, slow);
    } else if (returns) {
        x86_land(cold, chain);
        leave_unless_marked(cold, r, single);
        x86_slow_if(cold, slow, IF_EQUAL);
    }
}

static void active_exit(struct x86_code *c, struct x86_code *cold, const struct pm_sled *sled,
                        const struct pm_probe *probe, uint32_t index, const uint8_t *thunk)
{
    const uint8_t *back = (const uint8_t *)sled->address + 5;
    unsigned s;
    struct x86_frame f = plan_active(sled, probe, &s);
    struct x86_sites outside = {.n = 0}, slow = {.n = 0}, missed = {.n = 0};
    unsigned r = f.context;
    x86_save(c, &f);
    test_inside(c, r, probe, &outside);
    x86_check_ring(c, r, &slow);
    x86_thread_op(c, 0x8b, r, x86_thread_offset(&pm_tls.current));
    if (s != RSP)
        x86_stack_address(c, f.adjustment, s);
    x86_memory_op(c, true, 0x39, s, r, offsetof(struct pm_node, sp));
    x86_slow_if(c, &missed, IF_NOT_EQUAL);
    x86_compare_noun(c, r, probe);
    x86_slow_if(c, &missed, IF_NOT_EQUAL);
    if (probe->kind == PM_SLED_TAIL)
        x86_slow_if(c, &slow, IF_EQUAL);
    unsigned t = s != RSP ? s : x86_another_free(sled->must_save, r);
    end_context(c, cold, r, t, probe, &slow);
    x86_restore(c, &f);
    x86_jump(c, back);
    x86_exit_tail(cold, &f, s == RSP && !x86_is_free(sled->must_save, RDX), &slow, &missed, index,
                  thunk, back);
    leave_outside(cold, &f, &outside, back);
}

static void count_entry(struct x86_code *c, struct x86_code *cold, const struct pm_sled *sled,
                        const struct pm_probe *probe, uint32_t index, const uint8_t *thunk)
{
    const uint8_t *back = (const uint8_t *)sled->address + 5;
    struct x86_frame f =
        x86_plan_frame(sled->must_save, sled->flags, probe->loop_depth != 0, 0, NULL);
    struct x86_sites slow = {.n = 0};
    unsigned r = f.context;
    x86_save(c, &f);
    x86_thread_op(c, 0x8b, r, x86_thread_offset(&pm_tls.bank[probe->bank]));
    x86_test(c, r);
    x86_slow_if(c, &slow, IF_EQUAL);
    x86_memory_op(c, true, 0xff, 0, r, (int)(probe->counter * 8));
    x86_note(c->p - 4, X86_NOTE_COUNTER);
    x86_restore(c, &f);
    x86_jump(c, back);
    x86_slow_tail(cold, &f, !x86_is_free(sled->must_save, RDX), &slow, index, thunk, back);
}

/* Rare: always the slow way. */
static void landing(struct x86_code *c, const struct pm_sled *sled, uint32_t index,
                    const uint8_t *thunk)
{
    static const uint8_t fixed[] = {RAX, RDX};
    struct x86_frame f = x86_plan_frame(sled->must_save, sled->flags, true, 2, fixed);
    struct x86_sites none = {.n = 0};
    x86_save(c, &f);
    x86_read_clock(c);
    x86_slow_tail(c, &f, false, &none, index, thunk, (const uint8_t *)sled->address + 5);
}

void x86_trampoline(struct x86_code *c, struct x86_code *cold, const struct pm_sled *sled,
                    const struct pm_probe *probe, uint32_t index, const uint8_t *thunk)
{
    bool entry = sled->kind == PM_SLED_ENTRY || sled->kind == PM_SLED_LOOP_ENTER;
    if (entry && c->flag != NULL) {
        x86_test_flag(c);
        x86_jump_to_if(c, IF_EQUAL, (const uint8_t *)sled->address + 5);
    }
    if (sled->kind == PM_SLED_TAIL && probe->mode != PM_RUN_MODE_COUNT)
        quick_jump(c, cold, sled, probe);
    if (probe->mode == PM_RUN_MODE_COUNT)
        count_entry(c, cold, sled, probe, index, thunk);
    else if (sled->kind == PM_SLED_LAND)
        landing(c, sled, index, thunk);
    else if (probe->mode == PM_RUN_MODE_ACTIVE)
        (entry ? active_entry : active_exit)(c, cold, sled, probe, index, thunk);
    else
        (entry ? timed_entry : timed_exit)(c, cold, sled, probe, index, thunk);
}

/* On the stack: return address, index. rdx S, rax clock; all caller-saved registers come back
 * unchanged. */
void x86_thunk(struct x86_code *c, const struct pm_probe *probes)
{
    static const uint8_t saved[] = {RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11, 3};
    for (size_t i = 0; i < sizeof saved; i++)
        x86_push_register(c, saved[i]);
    X86_BYTES(c, "\x48\x89\xe3"     /* mov %rsp, %rbx */
                 "\x8b\x7b\x58"     /* mov 88(%rbx), %edi */
                 "\x48\xc1\xe7\x04" /* shl $4, %rdi */
                 "\x48\x89\xd6"     /* mov %rdx, %rsi */
                 "\x48\x89\xc2"     /* mov %rax, %rdx */
                 "\x48\xb9");       /* movabs $probes, %rcx */
    uint64_t address = (uint64_t)probes;
    x86_word64(c, address);
    X86_BYTES(c, "\x48\x01\xcf"     /* add %rcx, %rdi */
                 "\xfc"             /* cld */
                 "\x48\x83\xe4\xf0" /* and $-16, %rsp */
                 "\x48\xb8");       /* movabs $pm_slow, %rax */
    address = (uint64_t)&pm_slow;
    x86_word64(c, address);
    X86_BYTES(c, "\xff\xd0"       /* call *%rax */
                 "\x48\x89\xdc"); /* mov %rbx, %rsp */
    for (size_t i = sizeof saved; i-- > 0;)
        x86_pop_register(c, saved[i]);
    X86_BYTES(c, "\xc2\x08\x00"); /* ret $8 */
}
