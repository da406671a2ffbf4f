/* The machine code behind armed sleds: run with every must-save mask, on every path, and then
 * one instruction at a time, with a signal handler that enters and leaves instrumented code
 * after each of them. Registers that must be saved, the stack and the red zone come back
 * unchanged; no call is lost, none is counted twice. */
#include "made_process.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

void pm_wrap_resolve(void) {}

/* --- running one sled --- */

enum { RSP = 4, N_REGISTERS = 16, TRAP_FLAG = 0x100 };

uint64_t sled_in[N_REGISTERS], sled_out[N_REGISTERS], sled_target, sled_step;
uint64_t sled_own_stack;

/* Loads all registers, jumps to the target, and stores all registers where that comes back. */
__asm__(".pushsection .text\n"
        "run_sled:\n"
        "push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, sled_own_stack(%rip)\n"
        "mov sled_step(%rip), %rax\npushfq\nor %rax, (%rsp)\npopfq\n"
        "mov sled_in+32(%rip), %rsp\n"
        "mov sled_in(%rip), %rax\nmov sled_in+8(%rip), %rcx\nmov sled_in+16(%rip), %rdx\n"
        "mov sled_in+24(%rip), %rbx\nmov sled_in+40(%rip), %rbp\nmov sled_in+48(%rip), %rsi\n"
        "mov sled_in+56(%rip), %rdi\nmov sled_in+64(%rip), %r8\nmov sled_in+72(%rip), %r9\n"
        "mov sled_in+80(%rip), %r10\nmov sled_in+88(%rip), %r11\nmov sled_in+96(%rip), %r12\n"
        "mov sled_in+104(%rip), %r13\nmov sled_in+112(%rip), %r14\nmov sled_in+120(%rip), %r15\n"
        "jmp *sled_target(%rip)\n"
        "sled_back:\n"
        "mov %rsp, sled_out+32(%rip)\n"
        "mov %rax, sled_out(%rip)\nmov %rcx, sled_out+8(%rip)\nmov %rdx, sled_out+16(%rip)\n"
        "mov %rbx, sled_out+24(%rip)\nmov %rbp, sled_out+40(%rip)\nmov %rsi, sled_out+48(%rip)\n"
        "mov %rdi, sled_out+56(%rip)\nmov %r8, sled_out+64(%rip)\nmov %r9, sled_out+72(%rip)\n"
        "mov %r10, sled_out+80(%rip)\nmov %r11, sled_out+88(%rip)\nmov %r12, sled_out+96(%rip)\n"
        "mov %r13, sled_out+104(%rip)\nmov %r14, sled_out+112(%rip)\nmov %r15, sled_out+120(%rip)\n"
        "mov sled_own_stack(%rip), %rsp\n"
        "pushfq\nandq $~0x100, (%rsp)\npopfq\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\nret\n.popsection\n");
extern void run_sled(void) __attribute__((visibility("hidden")));
extern const char sled_back[] __attribute__((visibility("hidden")));

/* --- the sleds --- */

enum variant { FUNCTION, LATE_FUNCTION, LOOP, N_VARIANTS }; /* late: stack pointer not at the CFA */
enum { N_MASKS = 512, N_CASES = N_VARIANTS * N_MASKS, SLEDS_PER_CASE = 4 };
enum { SLOT_BYTES = 64, CALLED_AT = 40, OTHER = 7 };

/* A case's code: entry sled, jump back; exit sled, jump back; a function with sleds of this
 * noun. */
static uint8_t *code;
static struct pm_object object;
static struct pm_sled sleds[N_CASES * SLEDS_PER_CASE];
static uint64_t n_expected[N_CASES + 1];
enum { N_OUTER = N_CASES };

static uint16_t mask_of(unsigned n)
{
    static const uint8_t offered[] = {0, 1, 2, 6, 7, 8, 9, 10, 11};
    uint16_t mask = 0xffff;
    for (unsigned i = 0; i < sizeof offered; i++)
        if (n >> i & 1)
            mask &= (uint16_t) ~(1u << offered[i]);
    return mask;
}

static uint8_t *put_sled(uint8_t *p, unsigned number, unsigned which, bool entry, uint16_t mask)
{
    enum variant variant = number / N_MASKS;
    memcpy(p, pm_arch_nop, sizeof pm_arch_nop);
    sleds[number * SLEDS_PER_CASE + which] =
        (struct pm_sled){.address = (uintptr_t)p,
                         .noun = number,
                         .must_save = mask,
                         .kind = variant == LOOP ? (entry ? PM_SLED_LOOP_ENTER : PM_SLED_LOOP_LEAVE)
                                                 : (entry ? PM_SLED_ENTRY : PM_SLED_RETURN),
                         .flags = variant == LOOP       ? 1
                                  : variant == FUNCTION ? PM_SLED_SP_AT_CFA
                                                        : 0};
    return p + sizeof pm_arch_nop;
}

static uint8_t *put_way_back(uint8_t *p)
{
    static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0}; /* jmp *0(%rip) */
    uint64_t back = (uint64_t)sled_back;
    memcpy(p, jump, sizeof jump);
    memcpy(p + sizeof jump, &back, sizeof back);
    return p + sizeof jump + sizeof back;
}

static void make_code(void)
{
    static const uint8_t body[] = {0x48, 0x83, 0xec, 8, 0x48, 0x83, 0xc4, 8}; /* sub, add 8, rsp */
    code = mmap(NULL, N_CASES * SLOT_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(code, MAP_FAILED);
    for (unsigned i = 0; i < N_CASES; i++) {
        uint8_t *p = code + i * SLOT_BYTES;
        p = put_way_back(put_sled(p, i, 0, true, mask_of(i % N_MASKS)));
        p = put_way_back(put_sled(p, i, 1, false, mask_of(i % N_MASKS)));
        p = put_sled(p + 2, i, 2, true, 0xffff);
        memcpy(p, body, sizeof body);
        p = put_sled(p + sizeof body, i, 3, false, 0xffff);
        *p++ = 0xc3;
    }
}

/* A trampoline for each sled that the mode wants, none longer than what was set aside for it. */
static bool with_flags;

static void arm(enum pm_run_mode mode)
{
    object = (struct pm_object){.has_flags = with_flags,
                                .low = (uintptr_t)code,
                                .high = (uintptr_t)code + N_CASES * SLOT_BYTES,
                                .sleds = sleds,
                                .n_sleds = N_CASES * SLEDS_PER_CASE,
                                .n_nouns = N_CASES};
    pm_objects[0] = &object;
    assert_true(pm_arch_generate(&object, mode, NULL, 0));
    for (unsigned i = 0; i < N_CASES * SLEDS_PER_CASE; i++) {
        uint8_t *p = (uint8_t *)sleds[i].address;
        pm_arch_jump(&object, &sleds[i], mode, p);
    }
}

static void call_case(unsigned number)
{
    /* The function stands 40 bytes into the slot; its stack pointer is aligned as at any call. */
    ((void (*)(void))(uintptr_t)(code + number * SLOT_BYTES + CALLED_AT))();
    n_expected[number]++;
}

/* --- single steps --- */

static unsigned stepped_case, calls_per_step; /* bit 0: the same function, bit 1: another one */
static uint64_t n_steps, only_step;           /* not 0: no other than this one */

static void on_step(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    n_steps++;
    if (only_step != 0 && n_steps < only_step)
        return;
    if (only_step != 0) { /* what comes then is not looked at: half of all signals */
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
        sled_step = 0;
    }
    if (calls_per_step & 1)
        call_case(stepped_case);
    if (calls_per_step & 2)
        call_case((stepped_case + OTHER) % N_CASES);
}

/* --- checks --- */

enum { STACK_BYTES = 1 << 17, S_AT = STACK_BYTES - 4096, RED_ZONE = 128 };

static void fail_case(unsigned number, const char *what, unsigned which)
{
    fail_msg("case %u, mask %#x: %s %u changed", number, mask_of(number % N_MASKS), what, which);
}

static void run_one(uint8_t *stack, unsigned number, bool entry, int lower)
{
    uint8_t *s = stack + S_AT - lower;
    bool red_zone = number / N_MASKS != FUNCTION;
    for (unsigned i = 0; i < N_REGISTERS; i++)
        sled_in[i] = 0x0123456789abcdefu * (i + 3) + number;
    sled_in[RSP] = (uint64_t)s;
    memset(s - RED_ZONE, 0x5a, 2 * RED_ZONE);
    sled_target = sleds[number * SLEDS_PER_CASE + !entry].address;
    stepped_case = number;
    n_expected[number] += entry;
    run_sled();
    for (unsigned i = 0; i < N_REGISTERS; i++)
        if (sled_in[i] != sled_out[i] && (mask_of(number % N_MASKS) >> i & 1))
            fail_case(number, "register", i);
    for (int i = red_zone ? -RED_ZONE : 0; i < RED_ZONE; i++)
        if (s[i] != 0x5a)
            fail_case(number, "stack byte", (unsigned)(i + RED_ZONE));
}

enum path { KNOWN, BY_HASH, BY_INDEX, N_PATHS };

static void choose_path(struct pm_node *parent, enum path path)
{
    if (path != KNOWN)
        parent->cached_child = &pm_sentinel;
    if (path == BY_INDEX)
        memset(pm_tls.hash, 0, PM_HASH_ENTRIES * sizeof *pm_tls.hash);
}

static void run_case(uint8_t *stack, unsigned number, enum path path)
{
    struct pm_node *parent = pm_tls.current;
    choose_path(parent, path);
    run_one(stack, number, true, 0);
    assert_int_equal(pm_tls.current->noun, number);
    assert_ptr_equal(pm_tls.current->parent, parent);
    assert_int_equal(pm_tls.current->sp, (uint64_t)stack + S_AT);
    int lower = number / N_MASKS == LOOP && path == BY_INDEX ? 32 : 0;
    run_one(stack, number, false, lower);
    assert_ptr_equal(pm_tls.current, parent);
}

static void add_calls(const struct pm_node *node, uint64_t *n_calls)
{
    for (const struct pm_node *child = node->first_child; child != NULL;
         child = child->next_sibling) {
        assert_in_range(child->noun, 0, N_OUTER);
        assert_int_equal(child->sp, 0);
        n_calls[child->noun] += child->n_calls;
        add_calls(child, n_calls);
    }
}

static void check_calls(void)
{
    static uint64_t n_calls[N_CASES + 1];
    memset(n_calls, 0, sizeof n_calls);
    assert_ptr_equal(pm_tls.current, pm_tls.slot->root);
    add_calls(pm_tls.slot->root, n_calls);
    for (unsigned i = 0; i <= N_CASES; i++)
        assert_int_equal(n_calls[i], n_expected[i]);
    const struct pm_run_header *h = pm_process.file.header;
    assert_int_equal(h->n_unmatched, 0);
    assert_int_equal(h->n_healed, 0);
    assert_int_equal(h->n_lost_contexts, 0);
    assert_int_equal(h->n_foreign_stack, 0);
}

static void outer(uint8_t *stack, enum pm_sled_kind kind)
{
    struct pm_probe probe = {
        .mode = (uint8_t)pm_process.mode, .noun = N_OUTER, .kind = (uint8_t)kind};
    n_expected[N_OUTER] += kind == PM_SLED_ENTRY;
    pm_slow(&probe, (uint64_t)stack + S_AT + 1024, pm_tsc());
}

/* --- the run file --- */

static int begin(void **mode)
{
    made_process("trampolines", *(const enum pm_run_mode *)*mode);
    pm_process.next_noun = N_OUTER + 1;
    assert_true(pm_file_create());
    if (code == NULL)
        make_code();
    memset(n_expected, 0, sizeof n_expected);
    arm(pm_process.mode);
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    char path[4096];
    snprintf(path, sizeof path, "%s", pm_process.file.path);
    sled_step = 0;
    pm_arch_release(&object);
    made_process_end();
    pm_thread_drop(&pm_tls);
    memset(&pm_tls, 0, sizeof pm_tls);
    pm_tls.current = &pm_sentinel;
    pm_tls.ring_head = &pm_no_ring;
    return 0;
}

/* --- tests --- */

static void every_mask_keeps_what_it_must(void **unused)
{
    (void)unused;
    static uint8_t *stack;
    stack = __builtin_alloca(STACK_BYTES);
    call_case(0); /* the thread's first event */
    for (enum path path = 0; path < N_PATHS; path++)
        for (unsigned i = 0; i < N_CASES; i++) {
            run_case(stack, i, path);
            run_case(stack, i, path);
        }
    check_calls();
}

/* Every event of an armed sled sees that the ring has moved, whatever registers it has. */
static void a_ring_that_moved_is_drained_first(void **unused)
{
    (void)unused;
    static uint64_t head;
    uint8_t *stack = __builtin_alloca(STACK_BYTES);
    call_case(0);
    pm_tls.ring_head = &head;
    for (unsigned i = 0; i < N_CASES; i++) {
        for (int entry = 1; entry >= 0; entry--) {
            head++;
            run_one(stack, i, entry != 0, 0);
            assert_int_equal(pm_tls.ring_seen, head);
        }
        run_case(stack, i, KNOWN);
    }
    pm_tls.ring_head = &pm_no_ring;
    pm_tls.ring_seen = 0;
    check_calls();
}

/* Entries in one mode and exits in the other, as when a noun's mode changes while it is open. */
static void run_across(uint8_t *stack, unsigned number, enum pm_run_mode from, enum pm_run_mode to)
{
    const struct pm_sled *sled = &sleds[number * SLEDS_PER_CASE];
    struct pm_node *parent = pm_tls.current;
    pm_arch_jump(&object, sled, from, (uint8_t *)sled->address);
    pm_arch_jump(&object, sled + 1, to, (uint8_t *)sled[1].address);
    run_one(stack, number, true, 0);
    struct pm_node *node = pm_tls.current;
    assert_int_equal(node->start_tsc != 0, from == PM_RUN_MODE_EXACT);
    uint64_t before = node->inclusive_tsc;
    run_one(stack, number, false, 0);
    assert_ptr_equal(pm_tls.current, parent);
    assert_int_equal(node->sp, 0);
    assert_int_equal(node->inclusive_tsc, before);
}

static void a_mode_that_changes_within_a_call_gives_no_time(void **unused)
{
    (void)unused;
    uint8_t *stack = __builtin_alloca(STACK_BYTES);
    call_case(0);
    assert_true(pm_arch_generate(&object, PM_RUN_MODE_ACTIVE, NULL, 0));
    for (unsigned i = 0; i < N_CASES; i++) {
        run_across(stack, i, PM_RUN_MODE_EXACT, PM_RUN_MODE_ACTIVE);
        run_across(stack, i, PM_RUN_MODE_ACTIVE, PM_RUN_MODE_EXACT);
    }
    check_calls();
}

/* Each batch begins with pages of its own, and leaves all before as it was; the last that may be
 * takes all the rest. */
static void trampolines_come_in_batches(void **unused)
{
    (void)unused;
    enum { N = N_CASES * SLEDS_PER_CASE, EACH = 40 };
    uint8_t *stack = __builtin_alloca(STACK_BYTES), before[5];
    const struct pm_part *part = &object.parts[PM_RUN_MODE_ACTIVE];
    assert_true(N > 40 * EACH);
    call_case(0);
    assert_false(pm_arch_jump(&object, &sleds[0], PM_RUN_MODE_ACTIVE, before));
    for (uint32_t from = 0; part->n_probes != part->n_wanted; from += EACH) {
        uint32_t list[EACH + 1], n = 0, end = part->end;
        uint8_t copy[64];
        const uint8_t *first = part->at + (end != 0 ? ((const uint32_t *)part->at)[0] : 0);
        if (end != 0)
            memcpy(copy, first, sizeof copy);
        for (uint32_t i = 0; i < EACH; i++)
            list[n++] = from + i;
        list[n++] = 0; /* once more, when it is there */
        assert_true(pm_arch_generate(&object, PM_RUN_MODE_ACTIVE, list, end != 0 ? n : n - 1));
        assert_true(part->end > end && part->end % PM_RUN_PAGE == 0);
        assert_true(end == 0 || memcmp(copy, first, sizeof copy) == 0);
        assert_true(pm_arch_jump(&object, &sleds[from], PM_RUN_MODE_ACTIVE, before));
        bool whole = part->n_probes == part->n_wanted;
        assert_int_equal(pm_arch_jump(&object, &sleds[N - 1], PM_RUN_MODE_ACTIVE, before), whole);
        assert_true(whole || part->n_probes == from + EACH);
    }
    assert_true(part->n_batches > 2);
    uint32_t again[] = {0}, end = part->end;
    assert_true(pm_arch_generate(&object, PM_RUN_MODE_ACTIVE, again, 1));
    assert_int_equal(part->end, end);
    for (unsigned i = 0; i < N_CASES; i++) {
        run_across(stack, i, PM_RUN_MODE_EXACT, PM_RUN_MODE_ACTIVE);
        run_across(stack, i, PM_RUN_MODE_ACTIVE, PM_RUN_MODE_EXACT);
    }
    check_calls();
}

static int begin_with_flags(void **mode)
{
    with_flags = true;
    int result = begin(mode);
    with_flags = false;
    return result;
}

/* Nothing happens while its flag is 0, but that what was entered before is left. */
static void flags_decide_what_is_seen(void **unused)
{
    (void)unused;
    uint8_t *stack = __builtin_alloca(STACK_BYTES);
    call_case(0);
    assert_non_null(object.flags);
    for (unsigned i = 0; i < N_CASES; i++) {
        const struct pm_node *parent = pm_tls.current;
        run_case(stack, i, i % N_PATHS);
        run_one(stack, i, true, 0);
        object.flags[i] = 0;
        run_one(stack, i, false, 0);
        assert_ptr_equal(pm_tls.current, parent);
        for (int k = 0; k < 2; k++) {
            run_one(stack, i, true, 0);
            n_expected[i]--;
            assert_ptr_equal(pm_tls.current, parent);
            run_one(stack, i, false, 0);
            assert_ptr_equal(pm_tls.current, parent);
        }
        object.flags[i] = 1;
    }
    check_calls();
}

/* All free, all saved, all but one, only one, and some between. */
static bool is_stepped(unsigned mask)
{
    int n = __builtin_popcount(mask);
    return n <= 1 || n >= 8 || mask % 61 == 5;
}

static void need_plain_signals(void)
{
#if defined(__SANITIZE_THREAD__)
    skip(); /* it delivers signals later */
#endif
}

static void handlers_after_every_instruction(void **unused)
{
    (void)unused;
    need_plain_signals();
    uint8_t *stack = __builtin_alloca(STACK_BYTES);
    call_case(0);
    sled_step = TRAP_FLAG;
    for (unsigned i = 0; i < N_CASES; i++) {
        if (!is_stepped(i % N_MASKS))
            continue;
        calls_per_step = i % 3 + 1;
        for (enum path path = 0; path < N_PATHS; path++)
            run_case(stack, i, path);
        outer(stack, PM_SLED_ENTRY);
        run_case(stack, i, i % N_PATHS);
        outer(stack, PM_SLED_RETURN);
    }
    assert_true(n_steps > 10000);
    check_calls();
}

/* All instructions in mode exact, every fifth in the others, which have the same slow way. */
static unsigned stride(void)
{
#if defined(__OPTIMIZE__)
    return pm_process.mode == PM_RUN_MODE_EXACT ? 1 : 5;
#else /* ten times as many instructions, a signal for each */
    return 29;
#endif
}

/* One call that is folded, and a handler whose calls are folded too after its step `only_step`. */
static void fold_once(uint8_t *stack, unsigned number)
{
    outer(stack, PM_SLED_ENTRY);
    struct pm_node *parent = pm_tls.current;
    n_steps = 0;
    run_one(stack, number, true, 0);
    run_one(stack, number, false, 0);
    assert_ptr_equal(pm_own_current(&pm_tls), parent);
    outer(stack, PM_SLED_RETURN);
    assert_ptr_equal(pm_tls.current, pm_tls.slot->root);
}

static void handlers_that_fold_while_the_program_does(void **unused)
{
    (void)unused;
    need_plain_signals();
    static const unsigned cases[] = {FUNCTION * N_MASKS, LATE_FUNCTION * N_MASKS + 66,
                                     LOOP * N_MASKS + 511};
    uint8_t *stack = __builtin_alloca(STACK_BYTES);
    call_case(0);
    pm_process.max_depth = 1;
    calls_per_step = 3;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        sled_step = 0;
        fold_once(stack, cases[i]); /* makes the folded contexts */
        call_case((cases[i] + OTHER) % N_CASES);
        only_step = 0;
        do {
            only_step += stride();
            sled_step = TRAP_FLAG;
            fold_once(stack, cases[i]);
        } while (n_steps >= only_step);
        assert_true(only_step > 100);
    }
    only_step = 0;
    uint64_t n_calls[N_CASES + 1] = {0};
    add_calls(pm_tls.slot->root, n_calls);
    for (unsigned i = 0; i <= N_CASES; i++)
        assert_int_equal(n_calls[i], n_expected[i]);
    assert_int_equal(pm_process.file.header->n_unmatched, 0);
}

/* Counters of all COUNTS chunks of the file. */
static void read_counts(uint64_t *n_calls)
{
    uint64_t offset = PM_RUN_PAGE;
    struct pm_run_counts counts;
    while (offset < pm_process.file.header->used_bytes &&
           pread(pm_process.file.fd, &counts, sizeof counts, (off_t)offset) ==
               (ssize_t)sizeof counts) {
        assert_int_equal(counts.chunk.magic, PM_RUN_CHUNK_MAGIC);
        uint64_t counters[N_CASES];
        if (counts.chunk.kind == PM_RUN_CHUNK_COUNTS) {
            assert_int_equal(pread(pm_process.file.fd, counters, sizeof counters,
                                   (off_t)(offset + sizeof counts)),
                             sizeof counters);
            for (unsigned i = 0; i < N_CASES; i++)
                n_calls[i] += counters[i];
        }
        offset += counts.chunk.size_bytes;
    }
}

static void counting_keeps_registers_and_counts(void **unused)
{
    (void)unused;
    uint8_t *stack = __builtin_alloca(STACK_BYTES);
    call_case(0);
    for (unsigned i = 0; i < N_CASES; i++) {
        run_one(stack, i, true, 0);
        run_one(stack, i, false, 0); /* not armed */
    }
#if !defined(__SANITIZE_THREAD__)
    sled_step = TRAP_FLAG;
#endif
    for (unsigned i = 0; i < N_CASES; i++) {
        if (!is_stepped(i % N_MASKS))
            continue;
        calls_per_step = i % 3 + 1;
        run_one(stack, i, true, 0);
        pm_tls.bank[0] = NULL; /* the slow path */
        run_one(stack, i, true, 0);
    }
    static uint64_t n_calls[N_CASES];
    read_counts(n_calls);
    for (unsigned i = 0; i < N_CASES; i++)
        assert_int_equal(n_calls[i], n_expected[i]);
}

/* As portable mode does: an event without a trampoline. */
__attribute__((noinline)) static void step_through_slow(unsigned number, enum pm_sled_kind kind,
                                                        uint64_t sp)
{
    struct pm_probe probe = {
        .mode = (uint8_t)pm_process.mode, .noun = number, .kind = (uint8_t)kind, .counter = number};
    stepped_case = number;
    n_expected[number] += kind == PM_SLED_ENTRY;
    uint64_t tsc = pm_tsc();
    __asm__ volatile("pushfq\norq $0x100, (%%rsp)\npopfq" ::: "memory", "cc");
    pm_slow(&probe, sp, tsc);
    __asm__ volatile("pushfq\nandq $~0x100, (%%rsp)\npopfq" ::: "memory", "cc");
}

static void portable_events_lose_nothing_to_handlers(void **unused)
{
    (void)unused;
    need_plain_signals();
    uint64_t sp = (uint64_t)__builtin_frame_address(0);
    call_case(0);
    calls_per_step = 3;
    only_step = 0;
    for (unsigned i = 0; i < 20; i++) {
        step_through_slow(i, PM_SLED_ENTRY, sp);
        if (pm_process.mode != PM_RUN_MODE_COUNT)
            step_through_slow(i, PM_SLED_RETURN, sp);
    }
    if (pm_process.mode != PM_RUN_MODE_COUNT) {
        check_calls();
        return;
    }
    static uint64_t n_calls[N_CASES];
    memset(n_calls, 0, sizeof n_calls);
    read_counts(n_calls);
    for (unsigned i = 0; i < N_CASES; i++)
        assert_int_equal(n_calls[i], n_expected[i]);
}

int main(void)
{
    static enum pm_run_mode exact = PM_RUN_MODE_EXACT, active = PM_RUN_MODE_ACTIVE,
                            count = PM_RUN_MODE_COUNT, trace = PM_RUN_MODE_TRACE;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate_setup_teardown(every_mask_keeps_what_it_must, begin, end, &exact),
        cmocka_unit_test_prestate_setup_teardown(handlers_after_every_instruction, begin, end,
                                                 &exact),
        cmocka_unit_test_prestate_setup_teardown(handlers_that_fold_while_the_program_does, begin,
                                                 end, &exact),
        cmocka_unit_test_prestate_setup_teardown(a_ring_that_moved_is_drained_first, begin, end,
                                                 &exact),
        cmocka_unit_test_prestate_setup_teardown(a_mode_that_changes_within_a_call_gives_no_time,
                                                 begin, end, &exact),
        cmocka_unit_test_prestate_setup_teardown(trampolines_come_in_batches, begin, end, &exact),
        cmocka_unit_test_prestate_setup_teardown(flags_decide_what_is_seen, begin_with_flags, end,
                                                 &exact),
        cmocka_unit_test_prestate_setup_teardown(flags_decide_what_is_seen, begin_with_flags, end,
                                                 &active),
        cmocka_unit_test_prestate_setup_teardown(every_mask_keeps_what_it_must, begin, end, &trace),
        cmocka_unit_test_prestate_setup_teardown(handlers_after_every_instruction, begin, end,
                                                 &trace),
        cmocka_unit_test_prestate_setup_teardown(handlers_that_fold_while_the_program_does, begin,
                                                 end, &trace),
        cmocka_unit_test_prestate_setup_teardown(a_ring_that_moved_is_drained_first, begin, end,
                                                 &trace),
        cmocka_unit_test_prestate_setup_teardown(flags_decide_what_is_seen, begin_with_flags, end,
                                                 &trace),
        cmocka_unit_test_prestate_setup_teardown(every_mask_keeps_what_it_must, begin, end,
                                                 &active),
        cmocka_unit_test_prestate_setup_teardown(handlers_after_every_instruction, begin, end,
                                                 &active),
        cmocka_unit_test_prestate_setup_teardown(handlers_that_fold_while_the_program_does, begin,
                                                 end, &active),
        cmocka_unit_test_prestate_setup_teardown(a_ring_that_moved_is_drained_first, begin, end,
                                                 &active),
        cmocka_unit_test_prestate_setup_teardown(counting_keeps_registers_and_counts, begin, end,
                                                 &count),
        cmocka_unit_test_prestate_setup_teardown(portable_events_lose_nothing_to_handlers, begin,
                                                 end, &exact),
        cmocka_unit_test_prestate_setup_teardown(portable_events_lose_nothing_to_handlers, begin,
                                                 end, &active),
        cmocka_unit_test_prestate_setup_teardown(portable_events_lose_nothing_to_handlers, begin,
                                                 end, &count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
