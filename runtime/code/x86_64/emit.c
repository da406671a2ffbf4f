/* Machine code for x86-64, and what trampolines have in common. */
#include "runtime/code/x86_64/emit.h"
#include "runtime/base/clock.h"

/* --- machine code --- */

/* Instructions are put together in a register and written by one store, of which the bytes
 * behind c->p are overwritten by what follows: 7000 trampolines are generated at the start of
 * SQLite. */
static void put(struct x86_code *c, uint64_t bytes, unsigned n)
{
    __builtin_memcpy(c->p, &bytes, 8);
    c->p += n;
}

void x86_byte(struct x86_code *c, unsigned b)
{
    *c->p++ = (uint8_t)b;
}

void x86_word32(struct x86_code *c, uint32_t value)
{
    __builtin_memcpy(c->p, &value, 4);
    c->p += 4;
}

void x86_word64(struct x86_code *c, uint64_t value)
{
    __builtin_memcpy(c->p, &value, 8);
    c->p += 8;
}

void x86_memory_op(struct x86_code *c, bool wide, unsigned opcode, unsigned reg, unsigned base,
                   int displacement)
{
    unsigned rex = (wide ? 8u : 0u) | (reg >> 3 & 1u) << 2 | (base >> 3 & 1u);
    bool small = displacement >= -128 && displacement < 128;
    uint64_t bytes = opcode | ((small ? 0x40u : 0x80u) | (reg & 7u) << 3 | (base & 7u)) << 8 |
                     (uint64_t)(uint32_t)displacement << 16;
    unsigned n = small ? 3 : 6;
    if (rex != 0) {
        bytes = bytes << 8 | 0x40u | rex;
        n++;
    }
    put(c, bytes, n);
}

void x86_move(struct x86_code *c, unsigned from, unsigned to)
{
    put(c, 0xc08948u | (from >> 3) << 2 | to >> 3 | (from & 7u) << 19 | (to & 7u) << 16, 3);
}

void x86_test(struct x86_code *c, unsigned reg)
{
    put(c, 0xc08548u | (reg >> 3) << 2 | reg >> 3 | (reg & 7u) << 19 | (reg & 7u) << 16, 3);
}

void x86_thread_op(struct x86_code *c, unsigned opcode, unsigned reg, int32_t displacement)
{
    uint64_t bytes = 0x2504004864u | (reg >> 3) << 10 | opcode << 16 | (uint64_t)(reg & 7u) << 27;
    put(c, bytes, 5);
    x86_word32(c, (uint32_t)displacement);
}

void x86_push_register(struct x86_code *c, unsigned reg)
{
    if (reg >= 8)
        x86_byte(c, 0x41);
    x86_byte(c, 0x50u | (reg & 7u));
}

void x86_pop_register(struct x86_code *c, unsigned reg)
{
    if (reg >= 8)
        x86_byte(c, 0x41);
    x86_byte(c, 0x58u | (reg & 7u));
}

void x86_stack_address(struct x86_code *c, int displacement, unsigned reg)
{
    if (displacement == 0) {
        x86_move(c, 4, reg);
        return;
    }
    bool small = displacement >= -128 && displacement < 128;
    uint64_t bytes = 0x24048d48u | (reg >> 3) << 2 | (small ? 0x40u : 0x80u) << 16 |
                     (reg & 7u) << 19 | (uint64_t)(uint32_t)displacement << 32;
    put(c, bytes, small ? 5 : 8);
}

void x86_jump(struct x86_code *c, const uint8_t *to)
{
    x86_note_distance(c->p + 1, to);
    put(c, 0xe9u | (uint64_t)(uint32_t)(to - (c->p + 5)) << 8, 5);
}

uint8_t *x86_jump_if(struct x86_code *c, unsigned condition)
{
    put(c, 0x800fu | condition << 8, 6);
    return c->p;
}

void x86_jump_to_if(struct x86_code *c, unsigned condition, const uint8_t *to)
{
    x86_note_distance(c->p + 2, to);
    put(c, 0x800fu | condition << 8 | (uint64_t)(uint32_t)(to - (c->p + 6)) << 16, 6);
}

uint8_t *x86_short_jump_if(struct x86_code *c, unsigned condition)
{
    x86_byte(c, 0x70u | condition);
    x86_byte(c, 0);
    return c->p;
}

void x86_land_short(const struct x86_code *c, uint8_t *from)
{
    from[-1] = (uint8_t)(c->p - from);
}

void x86_land(const struct x86_code *c, uint8_t *from)
{
    uint32_t distance = (uint32_t)(c->p - from);
    x86_note_distance(from - 4, c->p);
    __builtin_memcpy(from - 4, &distance, 4);
}

/* --- what a trampoline may use --- */

bool x86_is_free(uint16_t must_save, unsigned reg)
{
    return (must_save >> reg & 1) == 0;
}

static const uint8_t order[] = {RCX, R11, R10, R9, R8, RSI, RDI, RAX, RDX};

struct x86_frame x86_plan_frame(uint16_t must_save, uint8_t sled_flags, bool loop, unsigned n_fixed,
                                const uint8_t *fixed)
{
    struct x86_frame f = {.context = RCX, .red_zone = loop || !(sled_flags & PM_SLED_SP_AT_CFA)};
    uint16_t available = 0;
    for (size_t i = 0; i < sizeof order; i++)
        if (x86_is_free(must_save, order[i]))
            available |= (uint16_t)(1u << order[i]);
    for (unsigned i = 0; i < n_fixed; i++)
        available &= (uint16_t) ~(1u << fixed[i]);
    uint8_t wanted[3], n_wanted = 0;
    for (unsigned i = 0; i < n_fixed; i++)
        if (!x86_is_free(must_save, fixed[i]))
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
    f.adjustment = f.n_pushed * 8 + (f.skipped ? X86_RED_ZONE : 0);
    return f;
}

unsigned x86_another_free(uint16_t must_save, unsigned r)
{
    for (size_t i = 0; i < sizeof order; i++)
        if (order[i] != r && x86_is_free(must_save, order[i]))
            return order[i];
    return RSP;
}

void x86_save(struct x86_code *c, const struct x86_frame *f)
{
    for (unsigned i = 0; i < f->n_kept; i++)
        x86_move(c, f->kept[i], f->in[i]);
    if (f->skipped)
        X86_BYTES(c, "\x48\x8d\x64\x24\x80"); /* lea -128(%rsp), %rsp */
    for (unsigned i = 0; i < f->n_pushed; i++)
        x86_push_register(c, f->pushed[i]);
}

void x86_restore(struct x86_code *c, const struct x86_frame *f)
{
    for (unsigned i = f->n_pushed; i-- > 0;)
        x86_pop_register(c, f->pushed[i]);
    if (f->skipped)
        X86_BYTES(c, "\x48\x8d\xa4\x24\x80\x00\x00\x00"); /* lea 128(%rsp), %rsp */
    for (unsigned i = 0; i < f->n_kept; i++)
        x86_move(c, f->in[i], f->kept[i]);
}

int32_t x86_thread_offset(const void *field)
{
    return (int32_t)((uintptr_t)field - pm_thread_pointer());
}

void x86_slow_if(struct x86_code *c, struct x86_sites *slow, unsigned condition)
{
    slow->from[slow->n++] = x86_jump_if(c, condition);
}

void x86_read_clock(struct x86_code *c)
{
    X86_BYTES(c, "\x0f\x31"         /* rdtsc */
                 "\x48\xc1\xe2\x20" /* shl $32, %rdx */
                 "\x48\x09\xd0");   /* or %rdx, %rax */
}

void x86_check_ring(struct x86_code *c, unsigned r, struct x86_sites *slow)
{
    x86_thread_op(c, 0x8b, r, x86_thread_offset(&pm_tls.ring_head));
    x86_memory_op(c, true, 0x8b, r, r, 0);
    x86_thread_op(c, 0x3b, r, x86_thread_offset(&pm_tls.ring_seen)); /* cmp ring_seen, R */
    x86_slow_if(c, slow, IF_NOT_EQUAL);
}

void x86_test_flag(struct x86_code *c)
{
    x86_byte(c, 0x80);
    x86_byte(c, 0x3d);
    x86_note(c->p, X86_NOTE_FLAG);
    x86_word32(c, (uint32_t)(c->flag - (c->p + 5)));
    x86_byte(c, 0);
}

void x86_slow_tail(struct x86_code *c, const struct x86_frame *f, bool save_s,
                   const struct x86_sites *slow, uint32_t index, const uint8_t *thunk,
                   const uint8_t *back)
{
    for (unsigned i = 0; i < slow->n; i++)
        x86_land(c, slow->from[i]);
    bool skip_now = f->red_zone && !f->skipped;
    if (skip_now)
        X86_BYTES(c, "\x48\x8d\x64\x24\x80");
    if (save_s)
        x86_push_register(c, RDX);
    x86_stack_address(c, f->adjustment + (skip_now ? X86_RED_ZONE : 0) + (save_s ? 8 : 0), RDX);
    x86_note(c->p + 1, X86_NOTE_INDEX);
    put(c, 0x68u | (uint64_t)index << 8, 5); /* push $index */
    x86_note(c->p + 1, X86_NOTE_THUNK);
    put(c, 0xe8u | (uint64_t)(uint32_t)(thunk - (c->p + 5)) << 8, 5); /* call thunk */
    if (save_s)
        x86_pop_register(c, RDX);
    if (skip_now)
        X86_BYTES(c, "\x48\x8d\xa4\x24\x80\x00\x00\x00");
    x86_restore(c, f);
    x86_jump(c, back);
}

void x86_check_entry(struct x86_code *c, unsigned r, unsigned s, const struct pm_probe *probe,
                     struct x86_sites *slow)
{
    x86_memory_op(c, true, 0x39, s, r, offsetof(struct pm_node, sp)); /* cmp s, sp(R) */
    if (probe->loop_depth == 0) {
        x86_slow_if(c, slow, IF_BELOW_EQUAL);
        return;
    }
    uint8_t *good = x86_short_jump_if(c, IF_ABOVE);
    x86_slow_if(c, slow, IF_BELOW);
    x86_memory_op(c, false, 0x83, 7, r,
                  offsetof(struct pm_node, loop_depth)); /* cmpl $depth, loop_depth(R) */
    x86_byte(c, probe->loop_depth);
    x86_slow_if(c, slow, IF_ABOVE_EQUAL);
    x86_land_short(c, good);
}

void x86_compare_noun(struct x86_code *c, unsigned r, const struct pm_probe *probe)
{
    x86_memory_op(c, false, 0x81, 7, r, offsetof(struct pm_node, noun)); /* cmpl $noun, noun(R) */
    x86_note(c->p, X86_NOTE_NOUN);
    x86_word32(c, probe->noun);
}

void x86_look_up(struct x86_code *c, unsigned r, unsigned at, const struct pm_probe *probe,
                 struct x86_sites *slow)
{
    x86_thread_op(c, 0x8b, r, x86_thread_offset(&pm_tls.current));
    x86_move(c, r, at);
    x86_byte(c, 0x48u | at >> 3); /* shr $4, at */
    x86_byte(c, 0xc1);
    x86_byte(c, 0xe8u | (at & 7u));
    x86_byte(c, 4);
    for (int i = 0; i < 2; i++) { /* xor $noun's constant, at; and $mask, at: 32 bits */
        if (at >= 8)
            x86_byte(c, 0x41);
        x86_byte(c, 0x81);
        x86_byte(c, (i == 0 ? 0xf0u : 0xe0u) | (at & 7u));
        if (i == 0)
            x86_note(c->p, X86_NOTE_HASH);
        x86_word32(c, i == 0 ? x86_noun_hash(probe->noun) : (uint32_t)PM_HASH_MASK);
    }
    x86_thread_op(c, 0x03, at, x86_thread_offset(&pm_tls.hash)); /* add */
    x86_memory_op(c, true, 0x8b, at, at, 0);
    x86_test(c, at);
    x86_slow_if(c, slow, IF_EQUAL);
    x86_compare_noun(c, at, probe);
    x86_slow_if(c, slow, IF_NOT_EQUAL);
    x86_memory_op(c, true, 0x39, r, at, offsetof(struct pm_node, parent)); /* cmp R, parent(at) */
    x86_slow_if(c, slow, IF_NOT_EQUAL);
    x86_memory_op(c, true, 0x89, at, r, offsetof(struct pm_node, cached_child));
    x86_move(c, at, r);
}
