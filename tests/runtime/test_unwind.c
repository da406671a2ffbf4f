/* Frames that are unwound in a copy of the stack, against those that the compiler's own unwinder
 * finds (backtrace): through libc's functions that call back, a signal handler, frames of
 * unknown size, frames that are aligned; and tables that lie. */
#include "runtime/sample/sample.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FRAMES_ARE_AS_WRITTEN \
    1 /* sanitizers put frames of their own, and other stacks, in between */
#else
#define FRAMES_ARE_AS_WRITTEN 0
#endif

enum { MAX_FRAMES = 64, STACK_BYTES = 16384 };

/* --- tables of loaded code --- */

struct search {
    uint64_t address;
    struct pm_tables tables;
};

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct search *s = data;
    const ElfW(Phdr) *eh = NULL, *holds_eh = NULL;
    bool is_here = false;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        is_here |= p->p_type == PT_LOAD && s->address - info->dlpi_addr - p->p_vaddr < p->p_memsz;
        eh = p->p_type == PT_GNU_EH_FRAME ? p : eh;
    }
    for (unsigned i = 0; eh && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && eh->p_vaddr - p->p_vaddr < p->p_filesz)
            holds_eh = p;
    }
    if (!is_here || !holds_eh)
        return is_here;
    const uint8_t *low = (const uint8_t *)(info->dlpi_addr + holds_eh->p_vaddr);
    s->tables = (struct pm_tables){(const uint8_t *)(info->dlpi_addr + eh->p_vaddr), low,
                                   low + holds_eh->p_filesz};
    return 1;
}

static struct pm_tables tables_at(uint64_t address)
{
    struct search s = {.address = address};
    dl_iterate_phdr(visit, &s);
    return s.tables;
}

/* --- a sample of this very place --- */

static struct pm_unwind unwinder;
static uint8_t stack[STACK_BYTES];
static uint64_t stack_low;
static void *expected[MAX_FRAMES];
static int n_expected;
static uint64_t found[MAX_FRAMES];
static int n_found;
static enum pm_unwind_result last;

#if FRAMES_ARE_AS_WRITTEN
extern char *stack_top; /* the test's own, of which all is memory */
char *stack_top;

static void sample(struct pm_taken *taken, const ucontext_t *context, uint64_t stack_bytes)
{
    static const uint8_t saved[PM_TAKEN_REGISTERS] = {REG_RBX, REG_RBP, REG_R12,
                                                      REG_R13, REG_R14, REG_R15};
    const greg_t *registers = context->uc_mcontext.gregs;
    *taken = (struct pm_taken){.address = (uint64_t)registers[REG_RIP],
                               .sp = (uint64_t)registers[REG_RSP],
                               .has_registers = true};
    for (unsigned i = 0; i < PM_TAKEN_REGISTERS; i++)
        taken->registers[i] = (uint64_t)registers[saved[i]];
    uint64_t there = (uint64_t)stack_top - taken->sp;
    taken->stack_bytes = there < stack_bytes ? there : stack_bytes;
    memcpy(stack, (const void *)taken->sp, taken->stack_bytes);
    taken->stack = stack;
    stack_low = taken->sp;
}

static void unwind(const struct pm_taken *taken)
{
    n_found = 0;
    last = PM_UNWIND_LOST;
    assert_true(pm_unwind_begin(&unwinder, taken));
    while (n_found < MAX_FRAMES) {
        struct pm_tables tables = tables_at(pm_unwind_lookup(&unwinder));
        last = pm_unwind_step(&unwinder, &tables);
        if (last != PM_UNWIND_FRAME)
            break;
        found[n_found++] = pm_unwind_ip(&unwinder);
    }
}

/* The first that backtrace finds is this function's own. */
static __attribute__((noinline)) void look(void)
{
    ucontext_t context;
    struct pm_taken taken;
    n_expected = backtrace(expected, MAX_FRAMES);
    getcontext(&context);
    sample(&taken, &context, STACK_BYTES);
    unwind(&taken);
}

/* All of our functions are found, in order, from the caller of look to the test. */
static void assert_found(int least)
{
    assert_true(n_expected > least);
    for (int i = 1; i < n_expected && i - 1 < n_found; i++)
        assert_int_equal((uint64_t)expected[i], found[i - 1]);
    assert_true(n_found >= least);
}

static int compare(const void *a, const void *b)
{
    if (n_found == 0)
        look();
    return *(const int *)a - *(const int *)b;
}

static void comparisons_are_called_by_qsort(void **unused)
{
    (void)unused;
    int numbers[100];
    for (int i = 0; i < 100; i++)
        numbers[i] = 100 - i;
    n_found = 0;
    qsort(numbers, 100, sizeof numbers[0], compare);
    assert_found(3);
}

static ssize_t take(void *cookie, const char *text, size_t bytes)
{
    (void)cookie;
    (void)text;
    look();
    return (ssize_t)bytes;
}

static void written_text_comes_from_printf(void **unused)
{
    (void)unused;
    cookie_io_functions_t functions = {.write = take};
    FILE *file = fopencookie(NULL, "w", functions);
    assert_non_null(file);
    setvbuf(file, NULL, _IONBF, 0); /* printf's own buffer then is on the stack, 8 KiB */
    n_found = 0;
    fprintf(file, "%.30e %s\n", 1.0 / 3, "text");
    assert_found(5);
    fclose(file);
}

static __attribute__((noinline)) void with_room(int n)
{
    char *room = __builtin_alloca((size_t)n);
    memset(room, 0, (size_t)n);
    look();
    __asm__ volatile("" ::"r"(room) : "memory");
}

static __attribute__((noinline)) void with_aligned(int n)
{
    __attribute__((aligned(128))) char room[256];
    char *more = __builtin_alloca((size_t)n);
    memset(room, 0, sizeof room);
    __asm__ volatile("" ::"r"(room), "r"(more) : "memory");
    with_room(n + 8);
    __asm__ volatile("" ::"r"(room), "r"(more) : "memory");
}

static void frames_of_any_size_are_left(void **unused)
{
    (void)unused;
    for (int n = 0; n < 3000; n += 500) {
        with_aligned(n);
        assert_found(3);
    }
}

static void on_signal(int number)
{
    (void)number;
    look();
}

static void a_handler_leads_to_what_it_interrupts(void **unused)
{
    (void)unused;
    void (*before)(int) = signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    signal(SIGUSR1, before);
    assert_found(5);
}

/* As a sample finds it: in the middle of libc. */
static ucontext_t interrupted;
static struct pm_taken interrupted_taken;
static void on_interrupt(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    n_expected = backtrace(expected, MAX_FRAMES);
    interrupted = *(const ucontext_t *)context;
    sample(&interrupted_taken, context, STACK_BYTES);
}

static void assert_interrupted_found(void)
{
    unwind(&interrupted_taken);
    /* expected: the handler, its frame, where it interrupted, who called that */
    int skipped = 0;
    while (skipped < n_expected &&
           (uint64_t)expected[skipped] != (uint64_t)interrupted.uc_mcontext.gregs[REG_RIP])
        skipped++;
    assert_true(skipped + 3 < n_expected && n_found >= 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal((uint64_t)expected[skipped + 1 + i], found[i]);
}

static void what_a_signal_interrupts_is_where_it_starts(void **unused)
{
    (void)unused;
    struct sigaction action = {.sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO}, before;
    sigaction(SIGUSR1, &action, &before);
    raise(SIGUSR1);
    sigaction(SIGUSR1, &before, NULL);
    assert_interrupted_found();
}

#if FRAMES_ARE_AS_WRITTEN
/* As functions without optimisation end: the table says where the return address is, and not
 * that rbp has been fetched back. */
void before_return(void);
__asm__(".text\n.type before_return, @function\nbefore_return:\n\t.cfi_startproc\n\t"
        "push %rbp\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset 6, -16\n\t"
        "mov %rsp, %rbp\n\t.cfi_def_cfa_register 6\n\t"
        "sub $16, %rsp\n\tleave\n\t.cfi_def_cfa 7, 8\n\tint3\n\tret\n\t.cfi_endproc\n\t"
        ".size before_return, .-before_return");

static __attribute__((noinline, optimize("no-omit-frame-pointer"))) int with_frame(int n)
{
    before_return();
    return n + 1;
}

static void what_was_fetched_back_is_known_before_the_return(void **unused)
{
    (void)unused;
    struct sigaction action = {.sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO}, before;
    sigaction(SIGTRAP, &action, &before);
    assert_int_equal(with_frame(1), 2);
    sigaction(SIGTRAP, &before, NULL);
    assert_interrupted_found();
}
#endif

/* A part of the stack: the frames that are in it, and then that more is needed. */
static void what_is_not_there_is_said(void **unused)
{
    (void)unused;
    with_aligned(2000);
    int n_all = n_found;
    assert_true(n_all >= 3);
    struct pm_taken taken = {.has_registers = true, .stack = stack, .sp = stack_low};
    ucontext_t context;
    getcontext(&context);
    sample(&taken, &context, STACK_BYTES);
    for (uint64_t bytes = 0; bytes < 512; bytes += 8) {
        taken.stack_bytes = bytes;
        if (bytes == 0) {
            assert_false(pm_unwind_begin(&unwinder, &taken));
            continue;
        }
        unwind(&taken);
        if (n_found == 0)
            assert_int_equal(last, PM_UNWIND_SHORT);
    }
}

/* Run with a stack whose end is known. */
static int on_own_stack(const struct CMUnitTest *tests, size_t n)
{
    (void)n;
    extern char **environ;
    stack_top = (char *)environ;
    return _cmocka_run_group_tests("unwind", tests, n, NULL, NULL);
}
#endif

#if defined(__x86_64__)
static uint32_t state = 7;

static uint32_t random_below(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)state * n) >> 32);
}

/* A copy of libc's tables in which bits are flipped, around those of one function at a time. All
 * in them is relative, so the copy is as good. */
static void tables_that_lie_are_not_followed_out(void **unused)
{
    (void)unused;
    struct pm_taken taken = {
        .has_registers = true, .sp = 1 << 20, .stack = stack, .stack_bytes = sizeof stack};
    for (size_t i = 0; i < PM_TAKEN_REGISTERS; i++)
        taken.registers[i] = taken.sp + 64 * i;
    for (size_t i = 0; i < sizeof stack; i += 8)
        memcpy(stack + i, &(uint64_t){taken.sp + i + 8}, 8);
    struct pm_tables real = tables_at((uint64_t)&qsort);
    size_t bytes = (size_t)(real.high - real.low), n_frames = 0;
    assert_non_null(real.header);
    uint8_t *copy = malloc(bytes);
    memcpy(copy, real.low, bytes);
    struct pm_tables tables = {copy + (real.header - real.low), copy, copy + bytes};
    uint64_t distance = (uint64_t)copy - (uint64_t)real.low;
    for (int i = 0; i < 30000; i++) {
        uint64_t address = (uint64_t)&qsort + random_below(4000);
        size_t at = (size_t)(real.header - real.low), flipped[4];
        if (i % 2) /* .eh_frame comes behind the header */
            at += random_below((uint32_t)(bytes - at - 64));
        for (int k = 0; k < 4; k++) {
            flipped[k] = at + random_below(i % 2 ? 64 : 12);
            copy[flipped[k]] ^= (uint8_t)(1u << random_below(8));
        }
        uint64_t function = pm_unwind_function(&tables, address + distance);
        taken.address = i % 2 && function ? function + random_below(64) : address + distance;
        assert_true(pm_unwind_begin(&unwinder, &taken));
        n_frames += pm_unwind_step(&unwinder, &tables) == PM_UNWIND_FRAME;
        for (int k = 0; k < 4; k++)
            copy[flipped[k]] = real.low[flipped[k]];
    }
    assert_true(n_frames > 100);
    free(copy);
}

static uint64_t frame_bytes;

/* *ret_frame: from the stack pointer behind the call of this up to the CFA of who calls. */
static __attribute__((noinline)) void measure(const char *cfa_of_caller, uint64_t *ret_frame)
{
    uint64_t here = (uint64_t)__builtin_return_address(0);
    struct pm_tables tables = tables_at(here);
    *ret_frame = (uint64_t)(cfa_of_caller - (const char *)__builtin_dwarf_cfa());
    frame_bytes = pm_unwind_frame_bytes(&tables, here);
}

__attribute__((noinline, optimize("O2", "omit-frame-pointer"))) static uint64_t fixed(uint64_t n)
{
    volatile char room[200];
    uint64_t frame;
    room[n] = 1;
    measure(__builtin_dwarf_cfa(), &frame);
    return frame * (uint64_t)room[n];
}

__attribute__((noinline)) static uint64_t moving(uint64_t n)
{
    volatile char *room = __builtin_alloca(n);
    uint64_t frame;
    room[0] = 1;
    measure(__builtin_dwarf_cfa(), &frame);
    return frame * (uint64_t)room[0];
}

static void frames_of_fixed_size_are_known(void **unused)
{
    (void)unused;
    uint64_t frame = fixed(3);
    assert_true(frame > 200);
    assert_int_equal(frame_bytes, frame);
    static const struct pm_tables none;
    assert_int_equal(pm_unwind_frame_bytes(&none, (uint64_t)&fixed + 1), 0);
    assert_true(moving(random_below(64) + 16) > 16);
    assert_int_equal(frame_bytes, 0); /* it is found by rbp, which nobody gave */
}

/* A function whose table says nothing of what it pushes: after none, one, two and all three of
 * its pushes, and behind them. */
static void pushes_are_left_behind(void **unused)
{
    (void)unused;
    struct {
        uint8_t header[12];
        int32_t start, record;
        uint8_t code[8];
    } made = {.header = {1, 0x1b, 0x03, 0x3b, [8] = 1},
              .start = 20,
              .code = {0x53, 0x55, 0x41, 0x54, 0x90}}; /* push rbx, rbp, r12; nop */
    const uint8_t *low = (const uint8_t *)&made;
    struct pm_tables tables = {low, low, low + sizeof made};
    static const struct {
        unsigned offset, n_pushed;
    } places[] = {{0, 0}, {1, 1}, {2, 2}, {4, 3}, {5, 3}};
    static const unsigned pushed[] = {3, 6, 12};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        uint64_t words[8];
        for (uint64_t k = 0; k < 8; k++)
            words[k] = 0x1000 + k;
        struct pm_taken taken = {.has_registers = true,
                                 .address = (uint64_t)made.code + places[i].offset,
                                 .sp = 1 << 20,
                                 .stack = (const uint8_t *)words,
                                 .stack_bytes = sizeof words};
        unsigned n = places[i].n_pushed;
        assert_true(pm_unwind_by_pushes(&unwinder, &taken, &tables));
        assert_int_equal(pm_unwind_ip(&unwinder), 0x1000 + n);
        assert_int_equal(unwinder.registers[PM_UNWIND_SP], taken.sp + 8 * (n + 1));
        for (unsigned k = 0; k < 3; k++) /* the last that was pushed is the first on the stack */
            assert_int_equal(unwinder.registers[pushed[k]], k < n ? 0x1000 + n - 1 - k : 0);
        taken.stack_bytes = 8ull * n;
        assert_false(pm_unwind_by_pushes(&unwinder, &taken, &tables));
    }
}
#endif

static void without_registers_nothing_is_unwound(void **unused)
{
    (void)unused;
    struct pm_taken taken = {.stack = stack, .stack_bytes = sizeof stack, .sp = 1 << 20};
    assert_false(pm_unwind_begin(&unwinder, &taken));
    (void)stack_low;
    (void)expected;
    (void)n_expected;
    (void)found;
    (void)n_found;
    (void)last;
    (void)tables_at;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#if FRAMES_ARE_AS_WRITTEN
        cmocka_unit_test(comparisons_are_called_by_qsort),
        cmocka_unit_test(written_text_comes_from_printf),
        cmocka_unit_test(frames_of_any_size_are_left),
        cmocka_unit_test(a_handler_leads_to_what_it_interrupts),
        cmocka_unit_test(what_a_signal_interrupts_is_where_it_starts),
        cmocka_unit_test(what_was_fetched_back_is_known_before_the_return),
        cmocka_unit_test(what_is_not_there_is_said),
#endif
#if defined(__x86_64__)
        cmocka_unit_test(tables_that_lie_are_not_followed_out),
        cmocka_unit_test(frames_of_fixed_size_are_known),
        cmocka_unit_test(pushes_are_left_behind),
#endif
        cmocka_unit_test(without_registers_nothing_is_unwound),
    };
#if FRAMES_ARE_AS_WRITTEN
    return on_own_stack(tests, sizeof tests / sizeof *tests);
#else
    return cmocka_run_group_tests(tests, NULL, NULL);
#endif
}
