/* Tail calls in the machine code behind armed sleds: what jumped stays open until what it jumped
 * to returns, whichever instruction jumps, in every mode; also with a signal handler that enters
 * and leaves instrumented code after each instruction. */
#include "made_process.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

void pm_wrap_resolve(void) {}

/* Functions, each with its sleds, and nouns of these numbers. P is made of probes. */
enum { P, LEAF, OTHER_LEAF, HANDLER, JUMPING_HANDLER, MIDDLE, FIRST };
enum kind { DIRECT, BY_RAX, BY_R10, BY_RIP, BY_FIELD, BY_INDEX, TO_MIDDLE, TO_PLAIN, N_KINDS };
enum { N_NOUNS = FIRST + N_KINDS, SLOT_BYTES = 64, PLAIN = N_NOUNS, TABLE, N_SLOTS };
enum { TRAP_FLAG = 0x100 };

static uint8_t *code;
static struct pm_sled sleds[2 * N_NOUNS];
static uint32_t n_sleds;
static struct pm_object object;
static uint64_t n_calls[N_NOUNS];

static uint8_t *slot(unsigned number)
{
    return code + number * SLOT_BYTES;
}

static uint8_t *put(uint8_t *p, const char *bytes, size_t n)
{
    memcpy(p, bytes, n);
    return p + n;
}
#define PUT(p, text) put(p, text, sizeof(text) - 1)

static uint8_t *put_sled(uint8_t *p, unsigned noun, enum pm_sled_kind kind)
{
    enum { ALL = 0xffff, BUT_THREE = 0xffff & ~(1u << 11 | 1u << 1 | 1u << 9) };
    sleds[n_sleds++] = (struct pm_sled){.address = (uintptr_t)p,
                                        .noun = noun,
                                        .must_save = kind == PM_SLED_TAIL ? BUT_THREE : ALL,
                                        .kind = (uint8_t)kind,
                                        .flags = PM_SLED_SP_AT_CFA};
    memcpy(p, pm_arch_nop, sizeof pm_arch_nop);
    return p + sizeof pm_arch_nop;
}

static uint8_t *put_jump(uint8_t *p, const uint8_t *to)
{
    int32_t distance = (int32_t)(to - (p + 5));
    *p = 0xe9;
    memcpy(p + 1, &distance, sizeof distance);
    return p + 5;
}

static void look(void);

static uint8_t *put_look(uint8_t *p)
{
    uint64_t address = (uint64_t)&look;
    p = PUT(p, "\x48\x83\xec\x08\x48\xb8"); /* sub $8, %rsp; movabs $look, %rax */
    memcpy(p, &address, sizeof address);
    return PUT(p + sizeof address, "\xff\xd0\x48\x83\xc4\x08"); /* call *%rax; add $8, %rsp */
}

/* rdi: the table, whose second word is the leaf; rsi: 1. */
static void make_first(enum kind kind)
{
    unsigned noun = FIRST + kind;
    uint8_t *p = put_sled(slot(noun), noun, PM_SLED_ENTRY);
    p = PUT(p, "\x48\x8b\x47\x08\x4c\x8b\x57\x08"); /* mov 8(%rdi), %rax; mov 8(%rdi), %r10 */
    p = put_sled(p, noun, PM_SLED_TAIL);
    int32_t distance = (int32_t)(slot(TABLE) + 8 - (p + 6));
    switch (kind) {
    case BY_RAX:
        PUT(p, "\xff\xe0");
        break;
    case BY_R10:
        PUT(p, "\x41\xff\xe2");
        break;
    case BY_RIP:
        memcpy(PUT(p, "\xff\x25"), &distance, sizeof distance);
        break;
    case BY_FIELD:
        PUT(p, "\xff\x67\x08"); /* jmp *8(%rdi) */
        break;
    case BY_INDEX:
        PUT(p, "\xff\x24\xf7"); /* jmp *(%rdi, %rsi, 8) */
        break;
    default:
        put_jump(p, slot(kind == DIRECT ? LEAF : kind == TO_MIDDLE ? MIDDLE : PLAIN));
    }
}

static void make_leaf(unsigned noun)
{
    uint8_t *p = put_sled(slot(noun), noun, PM_SLED_ENTRY);
    if (noun != HANDLER)
        p = put_look(p);
    p = put_sled(p, noun, PM_SLED_RETURN);
    *p = 0xc3;
}

static void make_jump(unsigned noun, unsigned to)
{
    uint8_t *p = put_sled(slot(noun), noun, PM_SLED_ENTRY);
    put_jump(put_sled(p, noun, PM_SLED_TAIL), slot(to));
}

static void make_code(void)
{
    code = mmap(NULL, N_SLOTS * SLOT_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(code, MAP_FAILED);
    for (unsigned noun = LEAF; noun <= HANDLER; noun++)
        make_leaf(noun);
    make_jump(MIDDLE, LEAF);
    make_jump(JUMPING_HANDLER, HANDLER);
    for (enum kind kind = 0; kind < N_KINDS; kind++)
        make_first(kind);
    *put_look(slot(PLAIN)) = 0xc3;
    uint64_t leaf = (uint64_t)slot(LEAF);
    memcpy(slot(TABLE) + 8, &leaf, sizeof leaf);
}

static void arm(void)
{
    object = (struct pm_object){.low = (uintptr_t)code,
                                .high = (uintptr_t)slot(PLAIN), /* which is another object's */
                                .sleds = sleds,
                                .n_sleds = n_sleds,
                                .n_nouns = N_NOUNS};
    pm_objects[0] = &object;
    assert_true(pm_arch_generate(&object, pm_process.mode, NULL, 0));
    for (unsigned i = 0; i < n_sleds; i++)
        assert_true(pm_arch_jump(&object, &sleds[i], pm_process.mode, (uint8_t *)sleds[i].address));
}

static void disarm(unsigned noun)
{
    for (unsigned i = 0; i < n_sleds; i++)
        if (sleds[i].noun == noun)
            memcpy((uint8_t *)sleds[i].address, pm_arch_nop, sizeof pm_arch_nop);
}

/* --- what is seen within --- */

static struct {
    unsigned n, nouns[8];
    uint64_t sp[8];
} seen;

static void look(void)
{
    seen.n = 0;
    for (const struct pm_node *node = pm_own_current(&pm_tls); node->parent != NULL && seen.n < 8;
         node = node->parent) {
        seen.sp[seen.n] = node->sp;
        seen.nouns[seen.n++] = node->noun;
    }
}

static void saw(unsigned n, ...)
{
    va_list nouns;
    va_start(nouns, n);
    assert_int_equal(seen.n, n);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(seen.nouns[i], va_arg(nouns, unsigned));
    va_end(nouns);
}

/* --- running it --- */

static bool steps;
static unsigned handler, n_handlers, max_handlers; /* that run, one within another, and may */

static void run(unsigned noun)
{
    typedef void function(const uint8_t *table, uint64_t one);
    n_calls[noun]++;
    n_calls[LEAF] += noun >= FIRST && noun != FIRST + TO_PLAIN;
    n_calls[MIDDLE] += noun == FIRST + TO_MIDDLE;
    n_calls[HANDLER] += noun == JUMPING_HANDLER;
    if (steps)
        __asm__ volatile("pushfq\norq $0x100, (%%rsp)\npopfq" ::: "memory", "cc");
    ((function *)(uintptr_t)slot(noun))(slot(TABLE), 1);
    if (steps)
        __asm__ volatile("pushfq\nandq $~0x100, (%%rsp)\npopfq" ::: "memory", "cc");
}

/* From another place: only that tells the next call from one that was jumped to by register. */
static void run_other(void)
{
    n_calls[OTHER_LEAF]++;
    ((void (*)(void))(uintptr_t)slot(OTHER_LEAF))();
}

static void on_step(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    bool before = steps;
    steps = ++n_handlers < max_handlers;
    run(handler);
    n_handlers--;
    steps = before;
}

static void outer(enum pm_sled_kind kind, uint64_t sp)
{
    struct pm_probe probe = {.mode = (uint8_t)pm_process.mode, .noun = P, .kind = (uint8_t)kind};
    n_calls[P] += kind == PM_SLED_ENTRY;
    pm_slow(&probe, sp, pm_tsc());
}

static void add_calls(const struct pm_node *node, uint64_t *sums)
{
    for (const struct pm_node *child = node->first_child; child; child = child->next_sibling) {
        assert_int_equal(child->sp, 0);
        sums[child->noun] += child->n_calls;
        add_calls(child, sums);
    }
}

static void check_calls(void)
{
    uint64_t sums[N_NOUNS] = {0};
    assert_ptr_equal(pm_tls.current, pm_tls.slot->root);
    add_calls(pm_tls.slot->root, sums);
    for (unsigned i = 0; i < N_NOUNS; i++)
        assert_int_equal(sums[i], n_calls[i]);
    assert_int_equal(pm_process.file.header->n_unmatched, 0);
    assert_int_equal(pm_process.file.header->n_healed, 0);
}

static int begin(void **mode)
{
    made_process("jumps", *(const enum pm_run_mode *)*mode);
    pm_process.next_noun = N_NOUNS;
    assert_true(pm_file_create());
    if (code == NULL)
        make_code();
    memset(n_calls, 0, sizeof n_calls);
    arm();
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGTRAP, &action, NULL);
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    pm_arch_release(&object);
    made_process_end();
    pm_thread_drop(&pm_tls);
    memset(&pm_tls, 0, sizeof pm_tls);
    pm_tls.current = &pm_sentinel;
    pm_tls.ring_head = &pm_no_ring;
    return 0;
}

/* --- tests --- */

static void sees_what_jumped(enum kind kind, bool quickly)
{
    unsigned first = FIRST + kind;
    run(first);
    if (kind == TO_MIDDLE)
        saw(4, LEAF, MIDDLE, first, P);
    else
        saw(3, LEAF, first, P);
    assert_int_equal(pm_tls.current->noun, P);
    for (unsigned i = 1; quickly && i + 1 < seen.n; i++)
        assert_true(pm_sp_jumps(seen.sp[i]));
    run_other();
    saw(2, OTHER_LEAF, P);
}

static void what_is_jumped_to_is_below_what_jumped(void **unused)
{
    (void)unused;
    uint64_t sp = (uint64_t)__builtin_frame_address(0);
    outer(PM_SLED_ENTRY, sp);
    for (enum kind kind = 0; kind < TO_PLAIN; kind++) {
        sees_what_jumped(kind, false); /* new contexts are made the slow way */
        bool timed_middle = kind == TO_MIDDLE && pm_process.mode != PM_RUN_MODE_ACTIVE;
        sees_what_jumped(kind, !timed_middle);
        sees_what_jumped(kind, !timed_middle);
    }
    outer(PM_SLED_RETURN, sp);
    check_calls();
}

/* Samples of another object's code without sleds belong to what jumped there; where there are
 * times, it has had its own. */
static void a_jump_to_code_without_sleds_ends_with_the_next_event(void **unused)
{
    (void)unused;
    uint64_t sp = (uint64_t)__builtin_frame_address(0);
    bool stays = pm_process.mode == PM_RUN_MODE_ACTIVE;
    outer(PM_SLED_ENTRY, sp);
    for (int i = 0; i < 3; i++) {
        run(FIRST + TO_PLAIN);
        if (stays)
            saw(2, FIRST + TO_PLAIN, P);
        else
            saw(1, P);
        run_other();
        saw(2, OTHER_LEAF, P);
    }
    run(FIRST + TO_PLAIN);
    outer(PM_SLED_RETURN, sp);
    check_calls();
}

/* That has no sleds (any more): what its caller calls next is the caller's. */
static void what_is_not_armed_is_not_waited_for(void **unused)
{
    (void)unused;
    uint64_t sp = (uint64_t)__builtin_frame_address(0);
    outer(PM_SLED_ENTRY, sp);
    for (enum kind kind = 0; kind < TO_MIDDLE; kind++)
        sees_what_jumped(kind, false);
    disarm(LEAF);
    for (enum kind kind = 0; kind < TO_MIDDLE; kind++) {
        run(FIRST + kind);
        n_calls[LEAF]--;
        run_other();
        saw(2, OTHER_LEAF, P);
    }
    outer(PM_SLED_RETURN, sp);
    check_calls();
}

/* Under the thread sanitizer steps come within its own locks, which the handler's code takes,
 * too: it hangs. */
static void lose_nothing(enum kind first, enum kind end, int n_rounds)
{
#if defined __SANITIZE_THREAD__
    skip();
#endif
    uint64_t sp = (uint64_t)__builtin_frame_address(0);
    outer(PM_SLED_ENTRY, sp);
    run(handler);
    for (int round = 0; round < n_rounds; round++)
        for (enum kind kind = first; kind < end; kind++) {
            steps = true;
            run(FIRST + kind);
            steps = false;
            if (handler == HANDLER && kind == TO_MIDDLE)
                saw(4, LEAF, MIDDLE, FIRST + kind, P);
            else if (handler == HANDLER)
                saw(3, LEAF, FIRST + kind, P);
            assert_int_equal(pm_tls.current->noun, P);
        }
    outer(PM_SLED_RETURN, sp);
    check_calls();
}

static void no_call_is_lost_whenever_a_handler_comes(void **unused)
{
    (void)unused;
    handler = HANDLER;
    max_handlers = 1;
    lose_nothing(0, TO_PLAIN, 3);
}

/* Its return sees two contexts that have jumped: its own, and the one that it interrupted. Where
 * the stack happens to give both the same place of pm_jump_at, what was interrupted is over for
 * the tree, and what it jumps to is not below it: so only calls are compared. */
static void no_call_is_lost_whenever_a_handler_comes_that_jumps(void **unused)
{
    (void)unused;
    handler = JUMPING_HANDLER;
    max_handlers = 1;
    lose_nothing(0, TO_PLAIN, 3);
}

/* Each step of each step: under sanitizers, whose code is stepped through, too, that takes
 * minutes. */
static void no_call_is_lost_whenever_a_handler_is_interrupted(void **unused)
{
    (void)unused;
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    skip();
#endif
    handler = JUMPING_HANDLER;
    max_handlers = 2;
    lose_nothing(DIRECT, DIRECT + 1, 1);
}

int main(void)
{
    static enum pm_run_mode active = PM_RUN_MODE_ACTIVE, exact = PM_RUN_MODE_EXACT;
#define IN(function, mode)                               \
    {                                                    \
#function " " #mode, function, begin, end, &mode \
    }
    const struct CMUnitTest tests[] = {
        IN(what_is_jumped_to_is_below_what_jumped, active),
        IN(what_is_jumped_to_is_below_what_jumped, exact),
        IN(a_jump_to_code_without_sleds_ends_with_the_next_event, active),
        IN(a_jump_to_code_without_sleds_ends_with_the_next_event, exact),
        IN(what_is_not_armed_is_not_waited_for, active),
        IN(what_is_not_armed_is_not_waited_for, exact),
        IN(no_call_is_lost_whenever_a_handler_comes, active),
        IN(no_call_is_lost_whenever_a_handler_comes, exact),
        IN(no_call_is_lost_whenever_a_handler_comes_that_jumps, active),
        IN(no_call_is_lost_whenever_a_handler_comes_that_jumps, exact),
        IN(no_call_is_lost_whenever_a_handler_is_interrupted, active),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
