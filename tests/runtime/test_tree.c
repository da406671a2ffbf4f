/* The context tree against a model: random calls, returns, tail calls, loops, and frames that
 * vanish, with invented stack pointers. What the runtime leaves is read back with the reader of
 * mapping/run. */
#include "mapping/run/run_file.h"
#include "made_process.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void pm_wrap_resolve(void) {}

/* --- the model --- */

enum { N_NOUNS = 12, MAX_NODES = 200000, MAX_FRAMES = 400 };

struct model_node {
    uint32_t noun, parent;
    uint64_t n_calls;
    uint32_t child[N_NOUNS];
};
static struct model_node *model;
static uint32_t n_model;

struct frame {
    uint32_t noun, node;
    uint8_t loop_depth; /* 0: function */
    uint64_t sp, body_sp;
};
static struct frame frames[MAX_FRAMES];
static unsigned n_frames;
static uint64_t stack_start;
static bool after_jump;

static uint32_t model_enter(uint32_t parent, uint32_t noun)
{
    uint32_t node = model[parent].child[noun];
    if (node == 0) {
        assert_true(n_model < MAX_NODES);
        node = n_model++;
        model[node].noun = noun;
        model[node].parent = parent;
        model[parent].child[noun] = node;
    }
    model[node].n_calls++;
    return node;
}

static uint32_t state = 1;

static uint32_t random_below(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)state * n) >> 32);
}

static uint8_t own_modes[N_NOUNS]; /* 0: the process's */

static void send(enum pm_sled_kind kind, uint32_t noun, uint8_t loop_depth, uint64_t sp)
{
    struct pm_probe probe = {.mode = own_modes[noun] ? own_modes[noun] : (uint8_t)pm_process.mode,
                             .noun = noun,
                             .kind = (uint8_t)kind,
                             .loop_depth = loop_depth};
    pm_slow(&probe, sp, pm_tsc());
}

static struct frame *function_frame(void)
{
    for (unsigned i = n_frames; i-- > 0;)
        if (frames[i].loop_depth == 0)
            return &frames[i];
    return NULL;
}

/* Nouns 0..5 are functions, 6..8 loops of depth 1, 9..11 loops of depth 2. */
static void call(uint64_t sp, uint32_t noun)
{
    uint32_t parent = n_frames != 0 ? frames[n_frames - 1].node : 0;
    frames[n_frames++] = (struct frame){.noun = noun,
                                        .node = model_enter(parent, noun),
                                        .sp = sp,
                                        .body_sp = sp - 8 * random_below(6)};
    send(PM_SLED_ENTRY, noun, 0, sp);
}

static void call_something(void)
{
    const struct frame *caller = function_frame();
    uint64_t sp = caller != NULL ? caller->body_sp : stack_start;
    if (n_frames < MAX_FRAMES - 4)
        call(sp - 8 - (after_jump ? 0 : 8 * random_below(4)), random_below(6));
    after_jump = false;
}

static void leave_function(bool by_tail_call)
{
    const struct frame *f = function_frame();
    if (f == NULL)
        return;
    uint64_t sp = f->sp;
    send(by_tail_call ? PM_SLED_TAIL : PM_SLED_RETURN, f->noun, 0, sp);
    n_frames = (unsigned)(f - frames);
    after_jump = false;
    if (by_tail_call)
        call(sp, random_below(6));
}

/* Sometimes with the arguments of a call still on the stack: then the loop's sp is lower than that
 * of the calls in it. */
static void enter_loop(void)
{
    const struct frame *f = function_frame();
    if (f == NULL || n_frames == MAX_FRAMES)
        return;
    uint8_t depth = (uint8_t)(frames[n_frames - 1].loop_depth + 1);
    if (depth > 2)
        return;
    uint64_t sp = f->body_sp - (!after_jump && random_below(4) == 0 ? 32 : 0);
    uint32_t noun = (depth == 1 ? 6 : 9) + random_below(3);
    frames[n_frames] = (struct frame){.noun = noun,
                                      .node = model_enter(frames[n_frames - 1].node, noun),
                                      .loop_depth = depth,
                                      .sp = sp};
    n_frames++;
    send(PM_SLED_LOOP_ENTER, noun, depth, sp);
    after_jump = false;
}

static void leave_loop(void)
{
    if (n_frames == 0 || frames[n_frames - 1].loop_depth == 0)
        return;
    const struct frame *loop = &frames[--n_frames];
    send(PM_SLED_LOOP_LEAVE, loop->noun, loop->loop_depth, function_frame()->body_sp);
    after_jump = false;
}

/* Out of some of the innermost function's loops, where it has said that it goes on. */
static void land(void)
{
    const struct frame *f = function_frame();
    uint8_t depth = (uint8_t)random_below(frames[n_frames - 1].loop_depth + 1u);
    n_frames = (unsigned)(f - frames) + 1 + depth;
    send(PM_SLED_LAND, f->noun, depth, f->body_sp);
    after_jump = false;
}

/* longjmp or an exception: some functions vanish with their loops, without an event but that of
 * the function that goes on. */
static void jump_out(void)
{
    unsigned n = 1 + random_below(4);
    while (n-- > 0 && function_frame() > frames) {
        n_frames = (unsigned)(function_frame() - frames);
        after_jump = true;
    }
    if (function_frame() != NULL && random_below(2))
        land();
}

static void do_something(void)
{
    uint32_t what = random_below(100);
    if (what < 38)
        call_something();
    else if (what < 68)
        leave_function(false);
    else if (what < 73)
        leave_function(true);
    else if (what < 85)
        enter_loop();
    else if (what < 98)
        leave_loop();
    else
        jump_out();
}

/* --- the run file --- */

static int begin(void **unused)
{
    (void)unused;
    made_process("tree", PM_RUN_MODE_EXACT);
    pm_process.max_depth = MAX_FRAMES;
    pm_process.next_noun = N_NOUNS;
    assert_true(pm_file_create());
    model = calloc(MAX_NODES, sizeof *model);
    n_model = 1;
    memset(own_modes, 0, sizeof own_modes);
    n_frames = 0;
    after_jump = false;
    stack_start = (uint64_t)__builtin_frame_address(0);
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    made_process_end();
    pm_thread_drop(&pm_tls);
    memset(&pm_tls, 0, sizeof pm_tls);
    pm_tls.current = &pm_sentinel;
    pm_tls.ring_head = &pm_no_ring;
    free(model);
    return 0;
}

static struct pm_run_file *read_back(void)
{
    struct pm_run_file *file = NULL;
    struct pm_error err = {0};
    assert_int_equal(pm_run_file_open(pm_process.file.path, NULL, &err, &file), PM_OK);
    return file;
}

/* The tree in memory, for the reader joins nouns that no object declares. */
static void compare(const struct pm_node *node, uint32_t in_model, uint32_t *n_compared)
{
    for (const struct pm_node *child = node->first_child; child != NULL;
         child = child->next_sibling) {
        assert_true(child->noun < N_NOUNS);
        uint32_t twin = model[in_model].child[child->noun];
        assert_int_not_equal(twin, 0);
        assert_int_equal(child->n_calls, model[twin].n_calls);
        assert_int_equal(child->depth, node->depth + 1);
        ++*n_compared;
        compare(child, twin, n_compared);
    }
}

static void random_calls_give_the_tree_of_the_model(void **unused)
{
    (void)unused;
    for (int i = 0; i < 100000; i++)
        do_something();
    uint32_t n_compared = 0;
    compare(pm_tls.slot->root, 0, &n_compared);
    assert_int_equal(n_compared, n_model - 1);
    assert_int_equal(pm_process.file.header->n_unmatched, 0);
    assert_int_equal(pm_process.file.header->n_lost_contexts, 0);

    uint64_t n_calls = 0;
    for (uint32_t i = 1; i < n_model; i++)
        n_calls += model[i].n_calls;
    struct pm_run_file *file = read_back();
    assert_int_equal(pm_run_file_n_threads(file), 1);
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    uint64_t read_calls = 0;
    for (size_t i = 0; i < thread->n_nodes; i++)
        if (thread->nodes[i].noun != PM_RUN_NOUN_ROOT)
            read_calls += thread->nodes[i].n_calls;
    assert_int_equal(thread->n_nodes, n_model);
    assert_int_equal(read_calls, n_calls);
    pm_run_file_free(file);
}

static uint8_t active_or_exact(void)
{
    return (uint8_t)(random_below(2) ? PM_RUN_MODE_ACTIVE : PM_RUN_MODE_EXACT);
}

static void check_times(const struct pm_node *node, uint64_t most)
{
    for (const struct pm_node *child = node->first_child; child != NULL;
         child = child->next_sibling) {
        bool timed = own_modes[child->noun] == PM_RUN_MODE_EXACT;
        assert_int_equal((child->flags & PM_RUN_NODE_TIMED) != 0, timed);
        assert_true(timed ? child->inclusive_tsc <= most : child->inclusive_tsc == 0);
        check_times(child, most);
    }
}

static void nouns_of_different_modes_share_the_tree(void **unused)
{
    (void)unused;
    uint64_t start = pm_tsc();
    for (unsigned i = 0; i < N_NOUNS; i++)
        own_modes[i] = active_or_exact();
    for (int i = 0; i < 100000; i++)
        do_something();
    uint32_t n_compared = 0;
    compare(pm_tls.slot->root, 0, &n_compared);
    assert_int_equal(n_compared, n_model - 1);
    assert_int_equal(pm_process.file.header->n_unmatched, 0);
    check_times(pm_tls.slot->root, pm_tsc() - start);
}

static void check_most(const struct pm_node *node, uint64_t most)
{
    for (const struct pm_node *child = node->first_child; child != NULL;
         child = child->next_sibling) {
        assert_true(child->inclusive_tsc <= most);
        check_most(child, most);
    }
}

/* An activation that began without a time ends without one. */
static void modes_that_change_meanwhile_keep_the_calls(void **unused)
{
    (void)unused;
    uint64_t start = pm_tsc();
    for (int i = 0; i < 100000; i++) {
        own_modes[random_below(N_NOUNS)] = active_or_exact();
        do_something();
    }
    uint32_t n_compared = 0;
    compare(pm_tls.slot->root, 0, &n_compared);
    assert_int_equal(n_compared, n_model - 1);
    assert_int_equal(pm_process.file.header->n_unmatched, 0);
    check_most(pm_tls.slot->root, pm_tsc() - start);
}

static uint64_t calls_in(const struct pm_node *node)
{
    uint64_t n = 0;
    for (const struct pm_node *child = node->first_child; child != NULL;
         child = child->next_sibling)
        n += child->n_calls + calls_in(child);
    return n;
}

static void limits_lose_no_call(void **unused)
{
    (void)unused;
    pm_process.max_contexts = 300;
    pm_process.max_depth = 9;
    for (int i = 0; i < 50000; i++)
        do_something();
    uint64_t n_calls = 0;
    for (uint32_t i = 1; i < n_model; i++)
        n_calls += model[i].n_calls;
    assert_int_equal(calls_in(pm_tls.slot->root), n_calls);
    assert_true(pm_tls.slot->thread->n_events_folded > 0);
    assert_int_equal(pm_tls.slot->thread->n_events_folded, pm_process.file.header->n_lost_contexts);
}

static void inclusive_time_of_children_stays_below_their_parents(const struct pm_node *node)
{
    uint64_t sum = 0;
    for (const struct pm_node *child = node->first_child; child != NULL;
         child = child->next_sibling) {
        sum += child->inclusive_tsc;
        inclusive_time_of_children_stays_below_their_parents(child);
    }
    if (node->parent != NULL)
        assert_true(sum <= node->inclusive_tsc);
}

static void times_nest(void **unused)
{
    (void)unused;
    for (int i = 0; i < 20000; i++)
        do_something();
    pm_close_all(pm_own_current(&pm_tls), pm_tsc());
    inclusive_time_of_children_stays_below_their_parents(pm_tls.slot->root);
}

static void an_exit_without_an_entry_is_counted(void **unused)
{
    (void)unused;
    call(stack_start - 64, 1);
    send(PM_SLED_RETURN, 2, 0, stack_start - 128);
    assert_int_equal(pm_process.file.header->n_unmatched, 1);
    send(PM_SLED_LOOP_LEAVE, 6, 1, stack_start - 128);
    assert_int_equal(pm_process.file.header->n_unmatched, 2);
    assert_int_equal(pm_own_current(&pm_tls)->noun, 1);
    send(PM_SLED_RETURN, 1, 0, stack_start - 64);
    assert_ptr_equal(pm_own_current(&pm_tls), pm_tls.slot->root);
}

static void a_higher_stack_has_a_tree_of_its_own(void **unused)
{
    (void)unused;
    call(stack_start - 64, 1);
    send(PM_SLED_ENTRY, 2, 0, UINT64_MAX - 4095);
    send(PM_SLED_ENTRY, 3, 0, UINT64_MAX - 8191);
    send(PM_SLED_ENTRY, 4, 0, stack_start - 128);
    send(PM_SLED_RETURN, 4, 0, stack_start - 128);
    send(PM_SLED_RETURN, 3, 0, UINT64_MAX - 8191);
    send(PM_SLED_RETURN, 1, 0, stack_start - 64);
    assert_ptr_equal(pm_own_current(&pm_tls), pm_tls.slot->root);
    const struct pm_node *foreign = pm_tls.slot->foreign_root;
    assert_int_equal(foreign->first_child->noun, 2);
    assert_int_equal(foreign->first_child->first_child->noun, 3);
    assert_int_equal(pm_tls.slot->root->first_child->first_child->noun, 4);
    assert_int_equal(pm_process.file.header->n_unmatched, 0);
}

/* --- tail calls, on a stack of return addresses --- */

static _Alignas(16) uint64_t fake_stack[64];

static uint64_t fake_sp(unsigned depth)
{
    return (uint64_t)(uintptr_t)&fake_stack[61 - 2 * depth];
}

static void enter_at(uint32_t noun, unsigned depth, uint64_t return_address)
{
    fake_stack[61 - 2 * depth] = return_address;
    send(PM_SLED_ENTRY, noun, 0, fake_sp(depth));
}

static void leave_at(uint32_t noun, unsigned depth)
{
    send(PM_SLED_RETURN, noun, 0, fake_sp(depth));
}

static void jump_at(uint32_t noun, unsigned depth, enum pm_tail tail, uint32_t to)
{
    struct pm_probe probe = {.mode = own_modes[noun] ? own_modes[noun] : (uint8_t)pm_process.mode,
                             .noun = noun,
                             .kind = PM_SLED_TAIL,
                             .tail = (uint8_t)tail,
                             .counter = to};
    pm_slow(&probe, fake_sp(depth), pm_tsc());
}

static void path_is(unsigned n, ...)
{
    va_list nouns;
    const struct pm_node *node = pm_own_current(&pm_tls);
    va_start(nouns, n);
    for (unsigned i = 0; i < n; i++, node = node->parent)
        assert_int_equal(node->noun, va_arg(nouns, unsigned));
    va_end(nouns);
    assert_ptr_equal(node, pm_tls.slot->root);
}

static void what_is_jumped_to_is_below_what_jumped(void **unused)
{
    (void)unused;
    enter_at(1, 0, 10);
    enter_at(2, 1, 20);
    jump_at(2, 1, PM_TAIL_TO_SLED, 3);
    enter_at(3, 1, 20);
    path_is(3, 3, 2, 1);
    jump_at(3, 1, PM_TAIL_ANYWHERE, 0);
    enter_at(4, 1, 20);
    enter_at(5, 2, 30);
    path_is(5, 5, 4, 3, 2, 1);
    leave_at(5, 2);
    leave_at(4, 1);
    path_is(1, 1);
    inclusive_time_of_children_stays_below_their_parents(
        pm_tls.slot->root->first_child->first_child);
    assert_int_equal(pm_process.file.header->n_unmatched, 0);
    assert_int_equal(pm_process.file.header->n_healed, 0);
}

static void functions_that_jump_to_each_other_are_in_the_chain_once(void **unused)
{
    (void)unused;
    enter_at(1, 0, 10);
    enter_at(2, 1, 20);
    for (int i = 0; i < 1000; i++) {
        jump_at(2, 1, PM_TAIL_TO_SLED, 3);
        enter_at(3, 1, 20);
        jump_at(3, 1, PM_TAIL_TO_SLED, 2);
        enter_at(2, 1, 20);
        path_is(2, 2, 1);
    }
    const struct pm_node *two = pm_own_current(&pm_tls);
    assert_int_equal(two->n_calls, 1001);
    assert_int_equal(two->first_child->n_calls, 1000);
    leave_at(2, 1);
    path_is(1, 1);
}

static void after_a_jump_to_code_without_sleds_calls_are_the_callers(void **unused)
{
    (void)unused;
    enter_at(1, 0, 10);
    own_modes[2] = PM_RUN_MODE_ACTIVE;
    enter_at(2, 1, 20);
    jump_at(2, 1, PM_TAIL_TO_OTHER, 0); /* samples may follow */
    path_is(2, 2, 1);
    enter_at(6, 2, 50); /* that code calls back */
    path_is(3, 6, 2, 1);
    leave_at(6, 2);
    enter_at(3, 1, 21);
    path_is(2, 3, 1);
    leave_at(3, 1);
    for (int i = 0; i < 3; i++) { /* a loop: by the same call */
        enter_at(2, 1, 22);
        path_is(2, 2, 1);
        jump_at(2, 1, PM_TAIL_ANYWHERE, 0);
    }
    enter_at(3, 1, 23);
    path_is(2, 3, 1);
    leave_at(3, 1);
    enter_at(2, 1, 24);
    jump_at(2, 1, PM_TAIL_TO_SLED, 4); /* that is left by longjmp */
    enter_at(4, 1, 24);
    enter_at(3, 1, 25);
    path_is(2, 3, 1);
    enter_at(5, 2, 60);
    jump_at(5, 2, PM_TAIL_ENDS, 0);
    path_is(2, 3, 1);
    own_modes[2] = 0;
}

static void what_was_jumped_to_has_returned_when_there_is_another_return_address(void **unused)
{
    (void)unused;
    enter_at(1, 0, 10);
    own_modes[2] = own_modes[3] = PM_RUN_MODE_ACTIVE;
    for (unsigned tail = PM_TAIL_TO_OTHER; tail <= PM_TAIL_ANYWHERE; tail++) {
        enter_at(2, 2, 20);
        jump_at(2, 2, (enum pm_tail)tail, 0);
        enter_at(3, 5, 50); /* that code calls back, */
        jump_at(3, 5, (enum pm_tail)tail, 0);
        enter_at(3, 9, 90); /* from deeper, where the one before still is */
        path_is(4, 3, 3, 2, 1);
        jump_at(3, 9, (enum pm_tail)tail, 0);
        fake_stack[61 - 2 * 5] = 51; /* and from deeper, where it is no more */
        enter_at(3, 8, 80);
        path_is(3, 3, 2, 1);
        jump_at(3, 8, (enum pm_tail)tail, 0);
        fake_stack[61 - 2 * 2] = 21;
        enter_at(6, 4, 40);
        path_is(2, 6, 1);
        leave_at(6, 4);
    }
    leave_at(1, 0);
    path_is(0);
    own_modes[2] = own_modes[3] = 0;
}

/* The mark that trampolines make (test_jumps.c) holds for what is entered at once only. */
static void a_mark_that_something_came_behind_is_looked_at(void **unused)
{
    (void)unused;
    enter_at(1, 0, 10);
    for (uint64_t there = 20; there < 22; there++) {
        enter_at(2, 1, 20);
        pm_tls.current->sp++;
        enter_at(6, 2, 50);
        path_is(3, 6, 2, 1);
        leave_at(6, 2);
        path_is(2, 2, 1);
        assert_int_equal(pm_tls.current->sp, fake_sp(1) - 1);
        enter_at(3, 1, there);
        if (there == 20)
            path_is(3, 3, 2, 1);
        else
            path_is(2, 3, 1);
        leave_at(3, 1);
        path_is(1, 1);
    }
    leave_at(1, 0);
}

/* Nothing tells when it returns: nobody may have the time until the next event. */
static void a_timed_context_ends_with_a_jump_to_code_without_sleds(void **unused)
{
    (void)unused;
    enter_at(1, 0, 10);
    enter_at(2, 1, 20);
    jump_at(2, 1, PM_TAIL_TO_OTHER, 0);
    path_is(1, 1);
    enter_at(3, 1, 21);
    jump_at(3, 1, PM_TAIL_ANYWHERE, 0);
    const struct pm_node *three = pm_own_current(&pm_tls);
    uint64_t after = pm_tsc();
    while (pm_tsc() - after < 1000000)
        ;
    leave_at(1, 0);
    path_is(0);
    assert_true(three->inclusive_tsc < 900000);
}

/* --- threads --- */

static void *in_a_thread(void *body)
{
    ((void (*)(void))(uintptr_t)body)();
    for (int i = 0; i < 4; i++) /* as the thread's key does when it ends */
        pm_thread_ended(&pm_tls);
    return NULL;
}

static void run_thread(void (*body)(void))
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, in_a_thread, (void *)(uintptr_t)body), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static struct pm_slot *slot_of_last;

static void call_once_at(uint64_t tsc)
{
    struct pm_probe probe = {.mode = PM_RUN_MODE_EXACT, .noun = 1, .kind = PM_SLED_ENTRY};
    uint64_t sp = (uint64_t)__builtin_frame_address(0);
    pm_slow(&probe, sp, tsc);
    slot_of_last = pm_tls.slot;
    probe.kind = PM_SLED_RETURN;
    pm_slow(&probe, sp, pm_tsc());
}

static void call_once(void)
{
    call_once_at(pm_tsc());
}

/* It was held up between its first event's time and the search for a slot. */
static void begin_before_another_ends(void)
{
    uint64_t tsc = pm_tsc();
    run_thread(call_once);
    const struct pm_slot *of_other = slot_of_last;
    call_once_at(tsc);
    assert_ptr_not_equal(slot_of_last, of_other);
    assert_true(slot_of_last->thread->n_threads > 1);
}

static void event_at(uint32_t kind, uint32_t noun, const void *frame)
{
    struct pm_probe probe = {
        .mode = PM_RUN_MODE_ACTIVE, .noun = noun, .kind = (uint8_t)kind, .tail = PM_TAIL_TO_OTHER};
    pm_slow(&probe, (uint64_t)(uintptr_t)frame, 0);
}

/* More than a page of stack lies between what jumped away and what is entered. */
static void call_below_jumps(void)
{
    static const uint64_t known[] = {1 << 20, 0};
    _Alignas(16) uint64_t words[4096] = {0};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        pm_tls.stack_bytes = known[i];
        words[4001] = 1;
        event_at(PM_SLED_ENTRY, 2, &words[4001]);
        event_at(PM_SLED_TAIL, 2, &words[4001]);
        event_at(PM_SLED_ENTRY, 3, &words[101]);
        path_is(2, 3, 2);
        event_at(PM_SLED_RETURN, 3, &words[101]);
        words[4001] = 2; /* it has returned, and its caller has called again */
        event_at(PM_SLED_ENTRY, 3, &words[101]);
        path_is(1, 3);
        event_at(PM_SLED_RETURN, 3, &words[101]);
    }
}

/* The kernel may have room above the thread's stack, too, and takes a wish for what it is. */
static uint64_t *map_below_stack(size_t n_bytes, uint64_t stack_bytes)
{
    uint64_t limit = pm_thread_pointer() - stack_bytes;
    for (uint64_t below = 1 << 24; below < UINT64_C(1) << 36; below *= 2) {
        void *wish = (void *)(uintptr_t)((limit - below) & ~UINT64_C(0xffff));
        void *words =
            mmap(wish, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(words, MAP_FAILED);
        if ((uint64_t)(uintptr_t)words < limit)
            return words;
        munmap(words, n_bytes);
    }
    fail_msg("no room below the stack of a thread");
    return NULL;
}

/* As of a coroutine's stack that was left for ever. */
static void call_below_a_jump_on_a_stack_that_is_gone(void)
{
    enum { BYTES = 1 << 16, STACK_BYTES = 1 << 20 };
    uint64_t *words = map_below_stack(BYTES, STACK_BYTES);
    pm_tls.stack_bytes = STACK_BYTES;
    event_at(PM_SLED_ENTRY, 2, &words[8001]);
    event_at(PM_SLED_TAIL, 2, &words[8001]);
    munmap(words, BYTES);
    event_at(PM_SLED_ENTRY, 3, &words[1]);
    path_is(2, 3, 2);
}

static void a_jump_has_returned_when_the_stack_says_so_in_any_thread(void **unused)
{
    (void)unused;
    run_thread(call_below_jumps);
    run_thread(call_below_a_jump_on_a_stack_that_is_gone);
}

static void threads_that_overlap_share_no_memory(void **unused)
{
    (void)unused;
    call_once();
    for (int i = 0; i < PM_REUSE_AFTER + 2; i++)
        run_thread(call_once);
    run_thread(begin_before_another_ends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_calls_give_the_tree_of_the_model, begin, end),
        cmocka_unit_test_setup_teardown(nouns_of_different_modes_share_the_tree, begin, end),
        cmocka_unit_test_setup_teardown(modes_that_change_meanwhile_keep_the_calls, begin, end),
        cmocka_unit_test_setup_teardown(limits_lose_no_call, begin, end),
        cmocka_unit_test_setup_teardown(times_nest, begin, end),
        cmocka_unit_test_setup_teardown(an_exit_without_an_entry_is_counted, begin, end),
        cmocka_unit_test_setup_teardown(a_higher_stack_has_a_tree_of_its_own, begin, end),
        cmocka_unit_test_setup_teardown(what_is_jumped_to_is_below_what_jumped, begin, end),
        cmocka_unit_test_setup_teardown(functions_that_jump_to_each_other_are_in_the_chain_once,
                                        begin, end),
        cmocka_unit_test_setup_teardown(
            what_was_jumped_to_has_returned_when_there_is_another_return_address, begin, end),
        cmocka_unit_test_setup_teardown(after_a_jump_to_code_without_sleds_calls_are_the_callers,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_mark_that_something_came_behind_is_looked_at, begin, end),
        cmocka_unit_test_setup_teardown(a_timed_context_ends_with_a_jump_to_code_without_sleds,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_jump_has_returned_when_the_stack_says_so_in_any_thread,
                                        begin, end),
        cmocka_unit_test_setup_teardown(threads_that_overlap_share_no_memory, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
