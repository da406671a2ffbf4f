/* Trampolines of mode trace: those of mode exact (arch_x86_64.c), with the event recorded beside.
 *
 *     room:   trace_at >= trace_end or clock > trace_until ? slow
 *     entry:  rdx = trace_at, trace_at += 8 (one instruction: internal.h); current = R; ...; (rdx) = event; R->sp = S
 *     exit:   R->sp = 0; R->inclusive += time; rdx = trace_at, trace_at += 8; current = R->parent; (rdx) = event
 *
 * So the order of a trace is that in which the tree changed, but for handlers that come between these two neighbours (processors take
 * interrupts before the slower one, xadd). What a handler jumps out of leaves a place without an event: of an entry that means that there
 * was none, and the frame, which the tree has half-open, ends without one; after an exit the frame seems open until the one around it ends.
 */
#include "arch_x86_64_emit.h"

static void check_room(struct x86_code *c, unsigned r, struct x86_sites *slow)
{
    x86_thread_op(c, 0x8b, r, x86_thread_offset(&pm_tls.trace_at));
    x86_thread_op(c, 0x3b, r, x86_thread_offset(&pm_tls.trace_end)); /* cmp trace_end, R */
    x86_slow_if(c, slow, IF_ABOVE_EQUAL);
    x86_thread_op(c, 0x3b, RAX, x86_thread_offset(&pm_tls.trace_until));
    x86_slow_if(c, slow, IF_ABOVE);
}

/* rdx = a place for an event. */
static void reserve(struct x86_code *c)
{
    int32_t at = x86_thread_offset(&pm_tls.trace_at);
    X86_BYTES(c, "\xba\x08\x00\x00\x00"       /* mov $8, %edx */
                 "\x64\x48\x0f\xc1\x14\x25"); /* xadd %rdx, %fs:trace_at */
    x86_word32(c, (uint32_t)at);
}

/* rax: clock, becomes the event. */
static void make_event(struct x86_code *c, uint32_t head)
{
    X86_BYTES(c, "\x48\xc1\xe0\x18" /* shl $24, %rax */
                 "\x48\x0d");       /* or $head, %rax */
    x86_word32(c, head);
    X86_BYTES(c, "\x48\xc1\xc8\x18"); /* ror $24, %rax */
}

void x86_trace_entry(struct x86_code *c, struct x86_code *cold, const struct pm_sled *sled,
                     const struct pm_probe *probe, uint32_t index, const uint8_t *thunk)
{
    static const uint8_t fixed[] = {RAX, RDX};
    const uint8_t *back = (const uint8_t *)sled->address + 5;
    struct x86_frame f =
        x86_plan_frame(sled->must_save, sled->flags, probe->loop_depth != 0, 2, fixed);
    struct x86_sites slow = {.n = 0};
    unsigned r = f.context;
    x86_save(c, &f);
    x86_read_clock(c);
    x86_check_ring(c, r, &slow);
    check_room(c, r, &slow);
    x86_thread_op(c, 0x8b, r, x86_thread_offset(&pm_tls.current));
    x86_stack_address(c, f.adjustment, RDX);
    x86_check_entry(c, r, RDX, probe, &slow);
    x86_memory_op(c, true, 0x8b, r, r, offsetof(struct pm_node, cached_child));
    x86_compare_noun(c, r, probe);
    uint8_t *miss = x86_jump_if(c, IF_NOT_EQUAL);
    uint8_t *found = c->p;
    x86_memory_op(c, true, 0xff, 0, r, offsetof(struct pm_node, n_calls)); /* incq */
    reserve(c);
    x86_thread_op(c, 0x89, r, x86_thread_offset(&pm_tls.current));
    x86_memory_op(c, true, 0x89, RAX, r, offsetof(struct pm_node, start_tsc));
    make_event(c, PM_RUN_TRACE_ENTER | pm_trace_noun(probe->noun));
    x86_memory_op(c, true, 0x89, RAX, RDX, 0);
    x86_stack_address(c, f.adjustment, RDX);
    x86_memory_op(c, true, 0x89, RDX, r, offsetof(struct pm_node, sp));
    x86_restore(c, &f);
    x86_jump(c, back);

    x86_land(cold, miss);
    x86_look_up(cold, r, RDX, probe, &slow);
    x86_jump(cold, found);
    x86_slow_tail(cold, &f, false, &slow, index, thunk, back);
}

void x86_trace_exit(struct x86_code *c, struct x86_code *cold, const struct pm_sled *sled,
                    const struct pm_probe *probe, uint32_t index, const uint8_t *thunk)
{
    static const uint8_t fixed[] = {RAX, RDX};
    const uint8_t *back = (const uint8_t *)sled->address + 5;
    struct x86_frame f =
        x86_plan_frame(sled->must_save, sled->flags, probe->loop_depth != 0, 2, fixed);
    struct x86_sites slow = {.n = 0}, missed = {.n = 0};
    unsigned r = f.context;
    x86_save(c, &f);
    x86_read_clock(c);
    x86_check_ring(c, r, &slow);
    check_room(c, r, &slow);
    x86_thread_op(c, 0x8b, r, x86_thread_offset(&pm_tls.current));
    x86_stack_address(c, f.adjustment, RDX);
    x86_memory_op(c, true, 0x39, RDX, r, offsetof(struct pm_node, sp));
    x86_slow_if(c, &missed, IF_NOT_EQUAL);
    x86_compare_noun(c, r, probe);
    x86_slow_if(c, &missed, IF_NOT_EQUAL);
    x86_memory_op(c, true, 0x8b, RDX, r, offsetof(struct pm_node, start_tsc));
    x86_test(c, RDX); /* it began without a time */
    x86_slow_if(c, &slow, IF_EQUAL);
    X86_BYTES(c, "\x48\xf7\xda"                                       /* neg %rdx */
                 "\x48\x01\xc2");                                     /* add %rax, %rdx */
    x86_memory_op(c, true, 0xc7, 0, r, offsetof(struct pm_node, sp)); /* movq $0 */
    x86_word32(c, 0);
    x86_memory_op(c, true, 0x01, RDX, r, offsetof(struct pm_node, inclusive_tsc));
    x86_memory_op(c, true, 0x8b, r, r, offsetof(struct pm_node, parent));
    make_event(c, PM_RUN_TRACE_LEAVE | pm_trace_noun(probe->noun));
    reserve(c);
    x86_thread_op(c, 0x89, r, x86_thread_offset(&pm_tls.current));
    x86_memory_op(c, true, 0x89, RAX, RDX, 0);
    x86_restore(c, &f);
    x86_jump(c, back);
    x86_exit_tail(cold, &f, false, &slow, &missed, index, thunk, back);
}
