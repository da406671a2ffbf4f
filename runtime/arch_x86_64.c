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
 * Mode active leaves out the clock, and with it all registers but R and one for the hash table: S is the stack pointer
 * itself when nothing had to be pushed. It always goes by the hash table: which child comes next is hard for processors to predict
 * (SQLite: a pair takes 5.9 ns with the cached child, 5.5 without), and there is no clock to wait for meanwhile. The exit
 * clears R->sp before it moves current, as R is then gone (a handler in between sees a half-open frame, as within the
 * entry). Entry and exit of both modes begin
 * (exact: after the clock is read) with
 *
 *     ring:  *ring_head != ring_seen ? slow
 *
 * so that samples are charged to the context in which they were taken.
 *
 * A noun may have a flag, a byte near the code: while it is 0, entries go on at once, and exits too unless the youngest
 * context is their own (it was entered before).
 *
 * A noun may be followed inside others only (`perfmap run --ask '{a ?} then {b ?}'`): then all begin with
 *
 *     inside: R = current; R->terms & the probe's == 0 ? go on behind the sled
 *
 * A context has the terms of all above it, a dead one at least those of the living ones, so nothing that is inside is missed.
 *
 * Nouns of different modes meet in one tree, and a noun's mode may change while contexts of it are open: an active entry
 * leaves start 0 behind, with which an exact exit goes the slow way.
 */
#include "arch_x86_64_emit.h"

const bool pm_arch_has_sleds = true;
const uint8_t pm_arch_nop[5] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

PM_EXPORT uint64_t pm_stopped_tsc;

uint64_t pm_tsc(void)
{
    if (pm_unlikely(pm_stopped_tsc != 0))
        return pm_stopped_tsc;
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

/* What is only followed inside others (struct pm_plan_noun) goes on at once elsewhere. The sentinel is inside all. */
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
    if (records)
        x86_reserve_event(c);
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

/* missed: the youngest context is not this call's. That is nothing to look into where entries do nothing for the flag. */
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
    if (probe->kind == PM_SLED_TAIL) /* the context stays: tree.c */
        x86_slow_if(c, &slow, IF_EQUAL);
    x86_memory_op(c, true, 0x8b, RDX, r, offsetof(struct pm_node, start_tsc));
    x86_test(c, RDX); /* it began without a time */
    x86_slow_if(c, &slow, IF_EQUAL);
    if (records) {
        x86_trace_leave(c, r, probe);
    } else {
        X86_BYTES(c, "\x48\x29\xd0"); /* sub %rdx, %rax */
        x86_memory_op(c, true, 0x8b, RDX, r, offsetof(struct pm_node, parent));
        x86_thread_op(c, 0x89, RDX, x86_thread_offset(&pm_tls.current));
        x86_memory_op(c, true, 0xc7, 0, r, offsetof(struct pm_node, sp)); /* movq $0 */
        x86_word32(c, 0);
        x86_memory_op(c, true, 0x01, RAX, r, offsetof(struct pm_node, inclusive_tsc));
    }
    x86_restore(c, &f);
    x86_jump(c, back);
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
    x86_memory_op(c, true, 0xc7, 0, r, offsetof(struct pm_node, sp)); /* movq $0 */
    x86_word32(c, 0);
    x86_memory_op(c, true, 0x8b, r, r, offsetof(struct pm_node, parent));
    x86_thread_op(c, 0x89, r, x86_thread_offset(&pm_tls.current));
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

void x86_trampoline(struct x86_code *c, struct x86_code *cold, const struct pm_sled *sled,
                    const struct pm_probe *probe, uint32_t index, const uint8_t *thunk)
{
    bool entry = sled->kind == PM_SLED_ENTRY || sled->kind == PM_SLED_LOOP_ENTER;
    if (entry && c->flag != NULL) {
        x86_test_flag(c);
        x86_jump_to_if(c, IF_EQUAL, (const uint8_t *)sled->address + 5);
    }
    if (probe->mode == PM_RUN_MODE_COUNT)
        count_entry(c, cold, sled, probe, index, thunk);
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
