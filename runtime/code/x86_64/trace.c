/* What trampolines of mode trace have beside those of mode exact (trampolines.c): the event is
 * recorded.
 *
 *     room:   trace_at >= trace_end or clock > trace_until ? slow
 *     entry:  rdx = trace_at, trace_at += 8 (one instruction); current = R; ...; (rdx)
 *             = event; R->sp = S
 *     exit:   R->sp = 0; R->inclusive += time; rdx = trace_at, trace_at += 8; current = R->parent;
 *             (rdx) = event
 *
 * So the order of a trace is that in which the tree changed, but for handlers that come between
 * these two neighbours (processors take interrupts before the slower one, xadd; with two
 * instructions before it a byte shorter, some 10 handlers in a run came between: system/trace
 * tells). What a handler jumps out of leaves a place without an event: of an entry that means
 * that there was none, and the frame, which the tree has half-open, ends without one; after an
 * exit the frame seems open until the one around it ends.
 */
#include "runtime/tree/trace.h"
#include "runtime/code/x86_64/emit.h"

void x86_check_trace_room(struct x86_code *c, unsigned r, struct x86_sites *slow)
{
    x86_thread_op(c, 0x8b, r, x86_thread_offset(&pm_tls.trace_at));
    x86_thread_op(c, 0x3b, r, x86_thread_offset(&pm_tls.trace_end)); /* cmp trace_end, R */
    x86_slow_if(c, slow, IF_ABOVE_EQUAL);
    x86_thread_op(c, 0x3b, RAX, x86_thread_offset(&pm_tls.trace_until));
    x86_slow_if(c, slow, IF_ABOVE);
}

void x86_reserve_event(struct x86_code *c)
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
    x86_note(c->p, X86_NOTE_EVENT);
    x86_word32(c, head);
    X86_BYTES(c, "\x48\xc1\xc8\x18"); /* ror $24, %rax */
}

void x86_record_event(struct x86_code *c, uint32_t head)
{
    make_event(c, head);
    x86_memory_op(c, true, 0x89, RAX, RDX, 0);
}

void x86_trace_leave(struct x86_code *c, unsigned r, const struct pm_probe *probe)
{
    X86_BYTES(c, "\x48\xf7\xda"                                       /* neg %rdx */
                 "\x48\x01\xc2");                                     /* add %rax, %rdx */
    x86_memory_op(c, true, 0xc7, 0, r, offsetof(struct pm_node, sp)); /* movq $0 */
    x86_word32(c, 0);
    x86_memory_op(c, true, 0x01, RDX, r, offsetof(struct pm_node, inclusive_tsc));
    x86_memory_op(c, true, 0x8b, r, r, offsetof(struct pm_node, parent));
    make_event(c, PM_RUN_TRACE_LEAVE | pm_trace_noun(probe->noun));
    x86_reserve_event(c);
    x86_thread_op(c, 0x89, r, x86_thread_offset(&pm_tls.current));
    x86_memory_op(c, true, 0x89, RAX, RDX, 0);
}
