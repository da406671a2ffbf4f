/* Sentences that are begun and ended, against a model: random calls, loops and returns with
 * invented stack pointers, frames that vanish, other stacks, and signal handlers at any
 * instruction of a begin or end. What counts is the calls of each path below each set. */
#include "mapping/run/run_file.h"
#include "made_process.h"
#include "runtime/sample/sample.h"
#include "runtime/words/words.h"
#include "format/pm_words.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

void pm_wrap_resolve(void) {}

/* --- the model --- */

enum { N_NOUNS = 8, N_SENTENCES = 6, MAX_NODES = 400000, MAX_FRAMES = 60 };

struct model_node {
    uint64_t n_calls;
    uint32_t child[N_NOUNS];
};
static struct model_node *model;
static uint32_t n_model;
static uint32_t roots[1 << N_SENTENCES]; /* of each set: a node, 0 none */
static uint32_t sentences[N_SENTENCES];
static unsigned begun[2][N_SENTENCES]; /* by the thread, by the process */
static uint64_t n_begun[N_SENTENCES];

struct frame {
    uint32_t noun;
    uint8_t loop_depth; /* 0: function */
    uint64_t sp;
};
static struct frame frames[MAX_FRAMES];
static unsigned n_frames;
static uint64_t stack_start;

static uint32_t state = 1;

static uint32_t random_below(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)state * n) >> 32);
}

static uint32_t new_node(void)
{
    assert_true(n_model < MAX_NODES);
    return n_model++;
}

static unsigned set_now(void)
{
    unsigned set = 0;
    for (unsigned i = 0; i < N_SENTENCES; i++)
        set |= (begun[0][i] != 0 || begun[1][i] != 0) << i;
    return set;
}

/* The node of the frames that are open, below a set. */
static uint32_t node_in(unsigned set)
{
    if (roots[set] == 0)
        roots[set] = new_node();
    uint32_t node = roots[set];
    for (unsigned i = 0; i < n_frames; i++) {
        uint32_t *child = &model[node].child[frames[i].noun];
        if (*child == 0)
            *child = new_node();
        node = *child;
    }
    return node;
}

static void send(enum pm_sled_kind kind, uint32_t noun, uint8_t loop_depth, uint64_t sp)
{
    struct pm_probe probe = {.mode = (uint8_t)pm_process.mode,
                             .noun = noun,
                             .kind = (uint8_t)kind,
                             .loop_depth = loop_depth};
    pm_slow(&probe, sp, pm_tsc());
}

static void enter(uint32_t noun, uint8_t loop_depth, unsigned set)
{
    uint64_t sp = n_frames != 0 ? frames[n_frames - 1].sp : stack_start;
    sp -= loop_depth != 0 ? 16 : 64;
    frames[n_frames++] = (struct frame){noun, loop_depth, sp};
    model[node_in(set)].n_calls++;
    send(loop_depth != 0 ? PM_SLED_LOOP_ENTER : PM_SLED_ENTRY, noun, loop_depth, sp);
}

static void leave(void)
{
    const struct frame *f = &frames[n_frames - 1];
    send(f->loop_depth != 0 ? PM_SLED_LOOP_LEAVE : PM_SLED_RETURN, f->noun, f->loop_depth, f->sp);
    n_frames--;
}

/* Nouns 0..4 are functions, 5..7 loops, whose depth is that many. */
static void call_something(unsigned set)
{
    unsigned loops = 0;
    if (n_frames >= MAX_FRAMES - 2)
        return;
    while (loops < n_frames && frames[n_frames - 1 - loops].loop_depth != 0)
        loops++;
    if (n_frames != 0 && loops < 3 && random_below(3) == 0)
        enter(5 + loops, (uint8_t)(loops + 1), set);
    else
        enter(random_below(5), 0, set);
}

/* --- beginning and ending --- */

static void begin_or_end(bool whole, unsigned i, bool begins)
{
    if (begins) {
        begun[whole][i]++;
        n_begun[i]++;
        pm_words_api.begin(sentences[i], whole);
    } else {
        begun[whole][i] -= begun[whole][i] != 0;
        pm_words_api.end(sentences[i], whole);
    }
}

/* Left by a jump: all from some function on. The next event shows it. */
static void jump_out(void)
{
    unsigned to = random_below(n_frames);
    while (to < n_frames && frames[to].loop_depth != 0)
        to++;
    n_frames = to;
}

static void do_something(void)
{
    uint32_t what = random_below(20);
    if (what < 7)
        call_something(set_now());
    else if (what < 13 && n_frames != 0)
        leave();
    else if (what == 13 && n_frames != 0)
        jump_out();
    else if (what < 17)
        begin_or_end(false, random_below(N_SENTENCES), random_below(2));
    else if (what == 17)
        begin_or_end(true, random_below(N_SENTENCES), random_below(2));
    else if (what == 18 && n_frames != 0) { /* a handler on another stack */
        send(PM_SLED_ENTRY, 0, 0, UINT64_MAX - 4095);
        if (random_below(2))
            begin_or_end(false, random_below(N_SENTENCES), random_below(2));
        send(PM_SLED_RETURN, 0, 0, UINT64_MAX - 4095);
    }
}

/* --- what the runtime has --- */

static unsigned set_of(const struct pm_node *node)
{
    const uint32_t *members = NULL;
    unsigned set = 0;
    uint32_t n = pm_words_members(node->set, &members);
    for (uint32_t k = 0; k < n; k++)
        for (unsigned i = 0; i < N_SENTENCES; i++)
            set |= (members[k] == sentences[i]) << i;
    return set;
}

static uint64_t n_found[N_SENTENCES];

static void compare(const struct pm_node *node, uint32_t in_model)
{
    for (const struct pm_node *child = node->first_child; child != NULL;
         child = child->next_sibling) {
        if (child->kind == PM_RUN_AMBIENT_SET) {
            compare(child, roots[set_of(child)]); /* 0: nothing was entered meanwhile */
            continue;
        }
        if (child->flags & PM_RUN_NODE_BEGUN) {
            for (unsigned i = 0; i < N_SENTENCES; i++) {
                struct pm_probe probe;
                assert_true(pm_words_probe(sentences[i], &probe));
                n_found[i] += probe.noun == child->noun ? child->n_calls : 0;
            }
            continue;
        }
        uint32_t twin = model[in_model].child[child->noun];
        assert_true(twin != 0 || child->n_calls == 0);
        assert_int_equal(child->n_calls, twin != 0 ? model[twin].n_calls : 0);
        model[twin].n_calls = 0; /* found */
        compare(child, twin);
    }
}

static void compare_all(void)
{
    memset(n_found, 0, sizeof n_found);
    uint32_t n_foreign = 0;
    compare(pm_tls.slot->root, roots[0]);
    for (uint32_t i = 1; i < n_model; i++)
        n_foreign += model[i].n_calls != 0;
    assert_int_equal(n_foreign, 0);
    if (pm_tls.slot->foreign_root == NULL) /* else some were begun there */
        for (unsigned i = 0; i < N_SENTENCES; i++)
            assert_int_equal(n_found[i], n_begun[i]);
    assert_int_equal(pm_process.file.header->n_unmatched, 0);
    assert_int_equal(pm_process.file.header->n_lost_contexts, 0);
}

static uint64_t times_nest(const struct pm_node *node)
{
    uint64_t sum = 0;
    for (const struct pm_node *child = node->first_child; child != NULL;
         child = child->next_sibling) {
        if (child->flags & PM_RUN_NODE_FOLDED)
            continue;
        times_nest(child);
        assert_int_equal(child->sp, 0);
        sum += child->inclusive_tsc;
    }
    if (node->parent != NULL)
        assert_true(sum <= node->inclusive_tsc);
    return sum;
}

/* --- the run file --- */

static void start(enum pm_run_mode mode)
{
    made_process("ambient", mode);
    pm_process.max_depth = MAX_FRAMES;
    pm_process.max_nouns = 1u << 16;
    pm_process.next_noun = N_NOUNS;
    assert_true(pm_file_create());
    model = calloc(MAX_NODES, sizeof *model);
    assert_non_null(model);
    n_model = 1;
    node_in(0);
    stack_start = (uint64_t)__builtin_frame_address(0);
    assert_true(pm_thread_begin(&pm_tls, pm_tsc()));
    uint32_t level = pm_words_api.level("Test", NULL), verb = pm_words_api.verb(level, "Runs");
    for (unsigned i = 0; i < N_SENTENCES; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%u", i);
        uint32_t noun =
            pm_words_api.noun(level, &(struct pmr_noun_facts){.name = name, .kind = "test"});
        sentences[i] = pm_words_api.sentence(verb, &noun, 1);
        assert_int_not_equal(sentences[i], 0);
    }
}

static void end(void)
{
    unlink(pm_process.file.path);
    rmdir(pm_process.run_dir);
}

static struct pm_run_file *read_back(void)
{
    struct pm_run_file *file = NULL;
    struct pm_error err = {0};
    assert_int_equal(pm_run_file_open(pm_process.file.path, NULL, &err, &file), PM_OK);
    return file;
}

/* --- tests --- */

static void random_calls(enum pm_run_mode mode)
{
    start(mode);
    for (int i = 0; i < 60000; i++)
        do_something();
    struct pm_run_file *file = read_back();
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    uint64_t own_ns = 0;
    for (size_t i = 0; i < thread->n_nodes; i++)
        own_ns += thread->nodes[i].own_ns;
    assert_true(thread->has_sets);
    assert_int_equal(own_ns, thread->wall_ns);
    pm_run_file_free(file);
    compare_all();
    end();
}

static void each_path_and_set_has_its_calls(void **unused)
{
    (void)unused;
    random_calls(PM_RUN_MODE_ACTIVE);
}

static void so_it_has_with_times(void **unused)
{
    (void)unused;
    random_calls(PM_RUN_MODE_EXACT);
}

/* Without other stacks, and frames that vanish: those are in the times of what comes then. */
static void times_are_split_where_sets_change(void **unused)
{
    (void)unused;
    start(PM_RUN_MODE_EXACT);
    uint64_t start_tsc = pm_tsc();
    for (int i = 0; i < 60000; i++) {
        uint32_t what = random_below(8);
        if (what < 2)
            call_something(set_now());
        else if (what < 4 && n_frames != 0)
            leave();
        else if (what < 7)
            begin_or_end(false, random_below(N_SENTENCES), random_below(2));
        else
            begin_or_end(true, random_below(N_SENTENCES), random_below(2));
    }
    uint64_t end_tsc = pm_tsc();
    pm_close_all(pm_own_current(&pm_tls), end_tsc);
    assert_true(times_nest(pm_tls.slot->root) <= end_tsc - start_tsc);
    compare_all();
    end();
}

/* A set that is left and come back to, with a piece of known length in each: the pieces are
 * where they belong, to the tick. */
static void times_are_exact(void **unused)
{
    (void)unused;
    start(PM_RUN_MODE_EXACT);
    enter(1, 0, 0);
    uint64_t within = 0, without = 0, before = pm_tsc();
    for (int i = 0; i < 1000; i++) {
        pm_words_api.begin(sentences[0], 0);
        uint64_t after = pm_tsc();
        without += after - before;
        pm_words_api.end(sentences[0], 0);
        before = pm_tsc();
        within += before - after;
    }
    uint64_t in_set = 0, in_none = 0;
    leave();
    for (const struct pm_node *node = pm_tls.slot->root->first_child; node != NULL;
         node = node->next_sibling)
        if (node->kind == PM_RUN_AMBIENT_SET) {
            in_set = node->first_child->inclusive_tsc;
            assert_int_equal(in_set, node->inclusive_tsc);
        } else
            in_none = node->inclusive_tsc;
    /* A begin's clock is read between two of ours, and an end's. */
    assert_true(in_set <= within + without && in_none <= within + without + (pm_tsc() - before));
    assert_true(in_set + in_none >= within);
    end();
}

static void what_is_not_begun_cannot_be_ended(void **unused)
{
    (void)unused;
    start(PM_RUN_MODE_ACTIVE);
    pm_words_api.end(sentences[0], 0);
    pm_words_api.end(sentences[0], 1);
    pm_words_api.begin(0, 0);
    pm_words_api.begin(1, 0); /* a level */
    pm_words_api.begin(UINT32_MAX, 1);
    pm_words_api.end(UINT32_MAX, 0);
    pm_words_api.begin(sentences[0], 0);
    pm_words_api.end(sentences[0], 1); /* that is the thread's */
    assert_int_equal(set_of(pm_own_current(&pm_tls)), 1);
    pm_words_api.begin(pm_own_current(&pm_tls)->set, 0); /* a set is no sentence */
    pm_words_api.begin(sentences[0], 0);
    pm_words_api.end(sentences[0], 0);
    assert_int_equal(set_of(pm_own_current(&pm_tls)), 1);
    pm_words_api.end(sentences[0], 0);
    assert_int_equal(pm_own_current(&pm_tls)->set, 0);
    struct pm_run_file *file = read_back();
    assert_int_equal(pm_run_file_n_messages(file), 1);
    assert_int_equal(pm_run_file_n_complaints(file), 0);
    pm_run_file_free(file);
    end();
}

static void beyond_64_they_do_not_count(void **unused)
{
    (void)unused;
    start(PM_RUN_MODE_ACTIVE);
    uint32_t level = pm_words_api.level("Test", NULL), verb = pm_words_api.verb(level, "Runs");
    uint32_t all[70];
    for (unsigned i = 0; i < 70; i++) {
        char name[16];
        snprintf(name, sizeof name, "more %u", i);
        uint32_t noun =
            pm_words_api.noun(level, &(struct pmr_noun_facts){.name = name, .kind = "test"});
        all[i] = pm_words_api.sentence(verb, &noun, 1);
        pm_words_api.begin(all[i], 0);
    }
    const uint32_t *members;
    assert_int_equal(pm_words_members(pm_own_current(&pm_tls)->set, &members), 64);
    pm_words_api.begin(sentences[0], 1); /* of the process: no room in this thread */
    assert_int_equal(pm_words_members(pm_own_current(&pm_tls)->set, &members), 64);
    for (unsigned i = 0; i < 64; i++)
        pm_words_api.end(all[i], 0);
    assert_int_equal(set_of(pm_own_current(&pm_tls)), 1);
    pm_words_api.end(sentences[0], 1);
    assert_int_equal(pm_own_current(&pm_tls)->set, 0);
    struct pm_run_file *file = read_back();
    assert_int_equal(pm_run_file_n_messages(file), 1);
    pm_run_file_free(file);
    end();
}

/* Another thread may merge a noun while this one begins a sentence of it. */
static void what_is_merged_meanwhile_can_be_ended(void **unused)
{
    (void)unused;
    start(PM_RUN_MODE_ACTIVE);
    pm_words_api.begin(sentences[0], 0);
    pm_words_api.begin(sentences[1], 1);
    pm_words.spoken[sentences[0]].merged = pm_words.spoken[sentences[1]].merged = sentences[2];
    pm_words_api.begin(sentences[0], 0); /* the other */
    assert_int_equal(set_of(pm_own_current(&pm_tls)), 7);
    pm_words_api.end(sentences[0], 0);
    pm_words_api.end(sentences[0], 0);
    assert_int_equal(set_of(pm_own_current(&pm_tls)), 2);
    pm_words_api.end(sentences[1], 1);
    assert_int_equal(pm_own_current(&pm_tls)->set, 0);
    struct pm_run_file *file = read_back();
    assert_int_equal(pm_run_file_n_messages(file), 0);
    pm_run_file_free(file);
    end();
}

/* --- other threads --- */

static struct pm_slot *other_slot;
static int may_go;

static void *waits(void *unused)
{
    assert_true(pm_thread_begin(&pm_tls, pm_tsc()));
    __atomic_store_n(&other_slot, pm_tls.slot, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&may_go, __ATOMIC_ACQUIRE))
        sched_yield();
    bool is_poked = *pm_tls.ring_head != pm_tls.ring_seen;
    send(PM_SLED_ENTRY, 1, 0, (uintptr_t)__builtin_frame_address(0));
    assert_int_equal(set_of(pm_own_current(&pm_tls)), is_poked ? 1 : -1);
    return unused;
}

static void others_are_poked(void **unused)
{
    (void)unused;
    pthread_t thread;
    start(PM_RUN_MODE_ACTIVE);
    assert_int_equal(pthread_create(&thread, NULL, waits, NULL), 0);
    while (__atomic_load_n(&other_slot, __ATOMIC_ACQUIRE) == NULL)
        sched_yield();
    pm_words_api.begin(sentences[0], 1);
    __atomic_store_n(&may_go, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    pm_words_api.end(sentences[0], 1);
    end();
}

#ifndef __SANITIZE_THREAD__ /* which wants threads to end as it knows it */
static void *leaves_barely(void *unused)
{
    assert_true(pm_thread_begin(&pm_tls, pm_tsc()));
    other_slot = pm_tls.slot;
    syscall(SYS_exit, 0);
    return unused;
}

/* Its block was on its stack, which the program unmaps; its number is another thread's by now. */
static void one_that_is_gone_is_not_poked(void **unused)
{
    (void)unused;
    enum { STACK_BYTES = 1 << 18 };
    pthread_t thread;
    pthread_attr_t how;
    start(PM_RUN_MODE_ACTIVE);
    for (int i = 0; i < 2; i++) {
        char *stack =
            mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_int_equal(pthread_attr_init(&how), 0);
        assert_int_equal(pthread_attr_setstack(&how, stack, STACK_BYTES), 0);
        assert_int_equal(pthread_create(&thread, &how, leaves_barely, NULL), 0);
        pthread_join(thread, NULL);
        other_slot->tid = (uint32_t)getpid();
        if (i == 0) {
            munmap(stack, STACK_BYTES);
        } else {
            memset(stack, 0, STACK_BYTES); /* something of the program's */
        }
        assert_false(pm_thread_is_there(other_slot));
        pm_words_api.begin(sentences[0], 1);
        pm_words_api.end(sentences[0], 1);
        for (int k = 0; i == 1 && k < STACK_BYTES; k++)
            assert_int_equal(stack[k], 0);
    }
    end();
}
#endif

/* --- handlers at any instruction --- */

#if defined(__x86_64__)
static volatile int steps_until_handler = -1;
static volatile sig_atomic_t handled;
static unsigned set_before, set_after, toggled; /* toggled: N_SENTENCES none */
static bool toggle_begins;

/* The thread sanitizer takes a lock of its thread now and then, and what it adds to a handler
 * may want it, too: the handler would wait for what it has interrupted, and one that jumps out
 * would leave it locked. So nothing is added to what runs at each step, and handlers interrupt
 * the code that is tested, not the sanitizer's. */
#ifdef __SANITIZE_THREAD__
#define NOT_SANITIZED __attribute__((no_sanitize("thread"), noinline))
enum { MOST_STEPS = 4000, N_STEPPED = 300 }; /* most are in the sanitizer, and each costs more */
extern const char __executable_start, etext;

NOT_SANITIZED static bool is_tested(const uint8_t *code)
{
    return (uintptr_t)code - (uintptr_t)&__executable_start <
           (uintptr_t)&etext - (uintptr_t)&__executable_start;
}
#else
#define NOT_SANITIZED
enum { MOST_STEPS = 600, N_STEPPED = 1000 };

static bool is_tested(const uint8_t *code)
{
    return code != NULL;
}
#endif

/* Is it time for the handler? */
NOT_SANITIZED static bool is_time(void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    return steps_until_handler-- <= 0 && is_tested((const uint8_t *)registers[REG_RIP]);
}

/* About to block all signals? No handler can come then, nor a step. */
NOT_SANITIZED static bool stops_stepping(void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uint8_t *code = (const uint8_t *)registers[REG_RIP];
    if (code[0] != 0x0f || code[1] != 0x05 || registers[REG_RAX] != SYS_rt_sigprocmask)
        return false;
    registers[REG_EFL] &= ~(greg_t)0x100;
    return true;
}

static void handle(void)
{
    handled = 1;
    unsigned set = set_of(pm_own_current(&pm_tls)), n = n_frames;
    assert_true(set == set_before || set == set_after);
    enter(random_below(5), 0, set);
    enter(random_below(5), 0, set);
    leave();
    leave();
    assert_int_equal(n, n_frames);
    if (toggled < N_SENTENCES)
        begin_or_end(false, toggled, toggle_begins);
}

NOT_SANITIZED static void on_step(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    if (stops_stepping(context) || !is_time(context))
        return;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)0x100;
    handle();
}

static void one_with_handler(void)
{
    unsigned i = random_below(N_SENTENCES);
    bool begins = random_below(2);
    set_before = set_now();
    begun[0][i] += begins;
    bool ends = !begins && begun[0][i] != 0;
    begun[0][i] -= ends;
    n_begun[i] += begins;
    set_after = set_now();
    toggled = random_below(2 * N_SENTENCES);
    toggle_begins = random_below(2);
    if (toggled == i && !(begins && toggle_begins))
        toggled = N_SENTENCES; /* whether it has begun by then is not known */
    handled = 0;
    steps_until_handler = (int)random_below(MOST_STEPS);
    __asm__ volatile("pushfq\norq $0x100, (%%rsp)\npopfq" ::: "memory", "cc");
    if (begins)
        pm_words_api.begin(sentences[i], 0);
    else
        pm_words_api.end(sentences[i], 0);
    __asm__ volatile("pushfq\nandq $~0x100, (%%rsp)\npopfq" ::: "memory", "cc");
    assert_int_equal(set_of(pm_own_current(&pm_tls)), set_now());
}

static void handlers(enum pm_run_mode mode)
{
    unsigned n_handled = 0;
    start(mode);
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
    for (int i = 0; i < N_STEPPED; i++) {
        if (random_below(2) && n_frames < MAX_FRAMES / 2)
            call_something(set_now());
        else if (n_frames != 0)
            leave();
        one_with_handler();
        n_handled += (unsigned)handled;
    }
    assert_true(n_handled > N_STEPPED / 10);
    compare_all();
    end();
}

static void handlers_at_any_instruction_count_right(void **unused)
{
    (void)unused;
    handlers(PM_RUN_MODE_ACTIVE);
}

static void so_they_do_with_times(void **unused)
{
    (void)unused;
    handlers(PM_RUN_MODE_EXACT);
}

/* --- handlers that jump out --- */

static sigjmp_buf out;

NOT_SANITIZED static void on_step_jump(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    if (stops_stepping(context) || !is_time(context))
        return;
    handled = 1;
    siglongjmp(out, 1);
}

/* What was being begun may have been or not; all that comes then is right. */
static void handlers_that_jump_out_leave_it_sound(void **unused)
{
    (void)unused;
    start(PM_RUN_MODE_EXACT);
    struct sigaction action = {.sa_sigaction = on_step_jump, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
    for (volatile int i = 0; i < N_STEPPED; i++) {
        if (random_below(2) && n_frames < MAX_FRAMES / 2)
            call_something(set_of(pm_own_current(&pm_tls)));
        else if (n_frames != 0)
            leave();
        unsigned sentence = random_below(N_SENTENCES);
        steps_until_handler = (int)random_below(MOST_STEPS);
        if (sigsetjmp(out, 1) == 0) {
            __asm__ volatile("pushfq\norq $0x100, (%%rsp)\npopfq" ::: "memory", "cc");
            if (random_below(2))
                pm_words_api.begin(sentences[sentence], 0);
            else
                pm_words_api.end(sentences[sentence], 0);
            __asm__ volatile("pushfq\nandq $~0x100, (%%rsp)\npopfq" ::: "memory", "cc");
        }
        pm_words_api.begin(sentences[sentence], 0);
        pm_words_api.end(sentences[sentence], 0);
        assert_int_equal(pm_tls.moving, 0);
    }
    while (n_frames != 0)
        leave();
    memset(n_found, 0, sizeof n_found);
    compare(pm_tls.slot->root, roots[0]);
    assert_int_equal(pm_process.file.header->n_unmatched, 0);
    end();
}
#endif

/* Each in a process of its own: what is begun in one would still be so in the next. */
static int run_alone(const struct CMUnitTest *test)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        const struct CMUnitTest tests[] = {*test};
        int n_failed = cmocka_run_group_tests_name(test->name, tests, NULL, NULL);
        fflush(NULL);
        _exit(n_failed != 0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    return status != 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_path_and_set_has_its_calls),
        cmocka_unit_test(so_it_has_with_times),
        cmocka_unit_test(times_are_split_where_sets_change),
        cmocka_unit_test(times_are_exact),
        cmocka_unit_test(what_is_not_begun_cannot_be_ended),
        cmocka_unit_test(beyond_64_they_do_not_count),
        cmocka_unit_test(what_is_merged_meanwhile_can_be_ended),
        cmocka_unit_test(others_are_poked),
#ifndef __SANITIZE_THREAD__
        cmocka_unit_test(one_that_is_gone_is_not_poked),
#endif
#if defined(__x86_64__)
        cmocka_unit_test(handlers_at_any_instruction_count_right),
        cmocka_unit_test(so_they_do_with_times),
        cmocka_unit_test(handlers_that_jump_out_leave_it_sound),
#endif
    };
    int n_failed = 0;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (argc < 2 || strcmp(argv[1], tests[i].name) == 0)
            n_failed += run_alone(&tests[i]);
    return n_failed;
}
