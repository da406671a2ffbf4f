#include "mapping/run/run_file.h"
#include "make_run.h"

#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

static const struct pm_run_noun three_nouns[] = {
    {.id = 11, .kind = PM_SLED_ENTRY, .n_sleds = 2, .address = 0x10},
    {.id = 12, .kind = PM_SLED_ENTRY, .n_sleds = 2, .address = 0x20},
    {.id = 13, .kind = PM_SLED_LOOP_ENTER, .n_sleds = 2, .address = 0x30},
};

static struct pm_run_file *parse(const struct make_run *run, const struct pm_run_clock *clock)
{
    struct pm_run_file *file = NULL;
    struct pm_error err = PM_ERROR_INIT;
    enum pm_status status = pm_run_file_parse("x.pmr", run->data, run->len, clock, &err, &file);
    if (status != PM_OK)
        fail_msg("%s", pm_error_text(&err));
    return file;
}

static void no_complaints(const struct pm_run_file *file)
{
    if (pm_run_file_n_complaints(file))
        fail_msg("%s", pm_run_file_complaint(file, 0));
}

/* Sum of own times over the thread's own tree; checks what every thread must hold. */
static uint64_t checked_sum(const struct pm_run_file *file, const struct pm_run_file_thread *thread)
{
    uint64_t sum = 0, foreign = 0;
    uint64_t *children = calloc(thread->n_nodes, sizeof *children);
    bool *is_foreign = calloc(thread->n_nodes, sizeof *is_foreign);
    for (size_t i = 0; i < thread->n_nodes; i++) {
        const struct pm_run_file_node *node = &thread->nodes[i];
        if (node->parent == PM_RUN_FILE_NO_PARENT) {
            is_foreign[i] = i > 0;
            assert_int_equal(node->noun, PM_RUN_NOUN_ROOT);
        } else {
            assert_true(node->parent < i);
            is_foreign[i] = is_foreign[node->parent];
            children[node->parent] += node->inclusive_ns;
            assert_true(node->noun < pm_run_file_n_nouns(file));
        }
        *(is_foreign[i] ? &foreign : &sum) += node->own_ns;
    }
    for (size_t i = 0; i < thread->n_nodes; i++)
        assert_true(thread->nodes[i].inclusive_ns == children[i] + thread->nodes[i].own_ns);
    assert_true(foreign == thread->foreign_ns);
    free(children);
    free(is_foreign);
    return sum;
}

static void a_process_that_ended_is_read_as_written(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    make_run_object(&run, "/bin/heat", "\x01\x02", 2, three_nouns, 3);
    make_run_thread(&run, 100, 1100, 2100, 8);
    uint64_t root = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1100, 0, 1000);
    uint64_t main_node = make_run_node(&run, root, 0, 0, 1200, 1, 800);
    make_run_node(&run, main_node, 2, 0, 1300, 5, 300);
    uint64_t folded = make_run_node(&run, main_node, 1, 0, 0, 44, 0);
    make_run_node_at(&run, folded)->flags = PM_RUN_NODE_FOLDED;
    make_run_message(&run, PM_RUN_MSG_NOTE, 1500, "hello");
    make_run_end(&run, 3000);
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    const struct pm_run_file_process *process = pm_run_file_process(file);
    assert_int_equal(process->pid, 100);
    assert_int_equal(process->end_kind, PM_RUN_FILE_EXIT);
    assert_int_equal(process->end_ns, 2000);
    assert_int_equal(process->n_calls, 50);
    assert_true(pm_str_is(process->exe, "/bin/heat"));
    assert_true(pm_str_is(process->cwd, "/tmp"));
    assert_int_equal(process->argv.len, 10);
    assert_int_equal(pm_run_file_n_objects(file), 1);
    assert_true(pm_str_is(pm_run_file_object(file, 0)->path, "/bin/heat"));
    assert_true(pm_str_eq(pm_run_file_object(file, 0)->build_id, PM_STR("\x01\x02")));
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    assert_int_equal(thread->start_ns, 100);
    assert_int_equal(thread->end_ns, 1100);
    assert_int_equal(thread->wall_ns, 1000);
    assert_true(pm_str_is(thread->name, "worker"));
    assert_int_equal(thread->n_nodes, 4);
    assert_int_equal(thread->nodes[0].own_ns, 200);
    assert_int_equal(thread->nodes[1].own_ns, 500);
    assert_int_equal(thread->nodes[2].own_ns, 300);
    assert_int_equal(pm_run_file_noun(file, thread->nodes[2].noun)->id, 13);
    assert_int_equal(thread->nodes[3].n_calls, 44);
    assert_int_equal(thread->nodes[3].flags, PM_RUN_NODE_FOLDED);
    assert_int_equal(thread->nodes[3].own_ns, 0);
    assert_int_equal(checked_sum(file, thread), 1000);
    assert_true(pm_str_is(pm_run_file_message(file, 0)->text, "hello"));
    pm_run_file_free(file);
    make_run_release(&run);
}

static void many_contexts_spread_over_chunks(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    make_run_object(&run, "/a", "", 0, three_nouns, 3);
    make_run_object(&run, "/b", "", 0, three_nouns, 2);
    make_run_thread(&run, 100, 1000, 0, 4);
    uint64_t node = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 1, 1000, 0, 0);
    for (uint32_t i = 0; i < 3000; i++)
        node = make_run_node(&run, node, i % 5, 0, 0, 1, 5000 - i);
    make_run_end(&run, 7000);
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    assert_int_equal(thread->n_nodes, 3001);
    for (uint32_t i = 0; i < 3000; i++) {
        assert_int_equal(thread->nodes[i + 1].parent, i);
        assert_int_equal(thread->nodes[i + 1].noun, i % 5);
        assert_int_equal(thread->nodes[i + 1].own_ns, i == 2999 ? 5000 - i : 1);
    }
    assert_int_equal(pm_run_file_noun(file, 3)->object, 1);
    assert_int_equal(checked_sum(file, thread), 6000);
    pm_run_file_free(file);
    make_run_release(&run);
}

/* main (open since 1200) -> f (open since 1500, 100 before) -> loop (ended, 60). */
static void make_killed(struct make_run *run)
{
    make_run_init(run, 100);
    make_run_object(run, "/bin/heat", "", 0, three_nouns, 3);
    make_run_thread(run, 100, 1000, 0, 8);
    uint64_t root = make_run_node(run, 0, PM_RUN_NOUN_ROOT, 1, 1000, 0, 0);
    uint64_t main_node = make_run_node(run, root, 0, 0x7000, 1200, 1, 0);
    uint64_t f = make_run_node(run, main_node, 1, 0x6000, 1500, 2, 100);
    make_run_node(run, f, 2, 0, 1600, 3, 60);
}

static void open_frames_end_with_what_is_known(void **state)
{
    (void)state;
    struct make_run run;
    make_killed(&run);
    make_run_header(&run)->last_tsc = 1800;
    struct pm_run_clock clock = {.end_tsc = 2000, .first_pid = 100};

    struct pm_run_file *file = parse(&run, NULL); /* nothing but the file: last_tsc */
    no_complaints(file);
    assert_int_equal(pm_run_file_process(file)->end_kind, PM_RUN_FILE_KILLED);
    assert_int_equal(pm_run_file_process(file)->end_ns, 800);
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    assert_true(thread->nodes[2].open);
    assert_int_equal(thread->nodes[1].inclusive_ns, 600);
    assert_int_equal(thread->nodes[2].inclusive_ns, 100 + 300);
    assert_int_equal(thread->nodes[2].own_ns, 340);
    assert_int_equal(checked_sum(file, thread), 800);
    pm_run_file_free(file);

    file = parse(&run, &clock); /* `perfmap run` saw it end */
    assert_int_equal(pm_run_file_process(file)->end_kind, PM_RUN_FILE_KILLED);
    assert_int_equal(pm_run_file_process(file)->end_ns, 1000);
    assert_int_equal(pm_run_file_thread(file, 0)->nodes[1].inclusive_ns, 800);
    assert_int_equal(checked_sum(file, pm_run_file_thread(file, 0)), 1000);
    pm_run_file_free(file);

    clock.first_pid = 99; /* another process's end says nothing */
    file = parse(&run, &clock);
    assert_int_equal(pm_run_file_process(file)->end_ns, 800);
    pm_run_file_free(file);

    make_run_end(&run, 3000); /* _exit: the process knows its end, the thread does not */
    file = parse(&run, &clock);
    assert_int_equal(pm_run_file_process(file)->end_kind, PM_RUN_FILE_EXIT);
    assert_int_equal(pm_run_file_thread(file, 0)->nodes[1].inclusive_ns, 1800);
    assert_int_equal(checked_sum(file, pm_run_file_thread(file, 0)), 2000);
    pm_run_file_free(file);

    make_run_header(&run)->flags |= PM_RUN_FLAG_EXEC;
    file = parse(&run, &clock);
    assert_int_equal(pm_run_file_process(file)->end_kind, PM_RUN_FILE_EXEC);
    pm_run_file_free(file);
    make_run_release(&run);
}

static void without_any_later_time_the_last_start_is_the_end(void **state)
{
    (void)state;
    struct make_run run;
    make_killed(&run);
    struct pm_run_file *file = parse(&run, NULL);
    assert_int_equal(pm_run_file_process(file)->end_ns, 600);
    assert_int_equal(checked_sum(file, pm_run_file_thread(file, 0)), 600);
    pm_run_file_free(file);
    make_run_release(&run);
}

static void the_end_of_a_killed_process_fits_all_times_in_its_file(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    make_run_object(&run, "/bin/heat", "", 0, three_nouns, 3);
    make_run_thread(&run, 100, 1000, 0, 8);
    uint64_t root = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 1, 1000, 1, 0);
    uint64_t main_node = make_run_node(&run, root, 0, 0x7000, 1100, 1, 0);
    make_run_node(&run, main_node, 1, 0, 1500, 3, 600); /* in all three activations */
    make_run_node(&run, main_node, 2, 0, 1250, 1, 100);
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    /* Within main, since 1100: 600 and 100. */
    assert_int_equal(pm_run_file_process(file)->end_ns, 800);
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    assert_int_equal(thread->nodes[1].inclusive_ns, 700);
    assert_int_equal(thread->nodes[1].own_ns, 0);
    assert_int_equal(checked_sum(file, thread), 800);
    pm_run_file_free(file);
    make_run_release(&run);
}

static void an_activation_not_yet_counted_raises_its_parent(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    make_run_object(&run, "/bin/heat", "", 0, three_nouns, 3);
    make_run_thread(&run, 100, 1000, 0, 8);
    uint64_t root = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 1, 1000, 0, 0);
    /* Killed when main had left its frame and had not yet added its 900. */
    uint64_t main_node = make_run_node(&run, root, 0, 0, 1050, 1, 0);
    uint64_t f = make_run_node(&run, main_node, 1, 0, 1100, 1, 850);
    make_run_node(&run, f, 2, 0, 1600, 3, 60);
    make_run_header(&run)->last_tsc = 2000;
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    assert_int_equal(thread->nodes[0].own_ns, 150);
    assert_int_equal(thread->nodes[1].inclusive_ns, 850);
    assert_int_equal(thread->nodes[1].own_ns, 0);
    assert_int_equal(thread->nodes[2].own_ns, 790);
    assert_int_equal(checked_sum(file, thread), 1000);
    pm_run_file_free(file);
    make_run_release(&run);
}

static void more_than_the_wall_time_is_shared_out(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    make_run_object(&run, "/bin/heat", "", 0, three_nouns, 3);
    make_run_thread(&run, 100, 1000, 2000, 8);
    uint64_t root = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000);
    uint64_t a = make_run_node(&run, root, 0, 0, 1000, 1, 900);
    make_run_node(&run, root, 1, 0, 1000, 1, 600);
    make_run_node(&run, a, 2, 0, 1000, 1, 450);
    uint64_t damaged = make_run_node(&run, root, 2, 0, 1000, 1, UINT64_MAX);
    make_run_end(&run, 2000);
    struct pm_run_file *file = parse(&run, NULL);
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    assert_int_equal(pm_run_file_n_complaints(file), 1);
    assert_string_equal(pm_run_file_complaint(file, 0),
                        "run file 'x.pmr' byte 8192: 1 contexts of thread 100 have more time than "
                        "the thread, 1000 ns");
    assert_int_equal(thread->nodes[0].own_ns, 0);
    assert_int_equal(thread->nodes[1].inclusive_ns, 600);
    assert_int_equal(thread->nodes[1].own_ns, 150);
    assert_int_equal(thread->nodes[2].own_ns, 400);
    assert_int_equal(thread->nodes[3].own_ns, 450);
    assert_int_equal(thread->nodes[4].own_ns, 0);
    assert_int_equal(checked_sum(file, thread), 1000);
    (void)damaged;
    pm_run_file_free(file);
    make_run_release(&run);
}

static void a_frame_that_waited_to_be_healed_adds_nothing(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    make_run_object(&run, "/bin/heat", "", 0, three_nouns, 3);
    make_run_thread(&run, 100, 1000, 0, 8);
    uint64_t root = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 1, 1000, 0, 0);
    uint64_t main_node = make_run_node(&run, root, 0, 0x7000, 1700, 2, 400); /* entered again */
    make_run_node(&run, main_node, 1, 0x6000, 1200, 2, 100); /* left by longjmp, older than it */
    uint64_t closed = make_run_node(&run, root, 2, 0, 1100, 1, 50);
    make_run_node(&run, closed, 1, 0x6000, 1120, 1, 20); /* its parent is gone */
    make_run_header(&run)->last_tsc = 2000;
    struct pm_run_file *file = parse(&run, NULL);
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    assert_int_equal(thread->nodes[1].inclusive_ns, 700);
    assert_int_equal(thread->nodes[2].inclusive_ns, 100);
    assert_int_equal(thread->nodes[4].inclusive_ns, 20);
    assert_int_equal(checked_sum(file, thread), 1000);
    pm_run_file_free(file);
    make_run_release(&run);
}

static void foreign_stacks_have_roots_of_their_own(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    make_run_object(&run, "/bin/heat", "", 0, three_nouns, 3);
    make_run_thread(&run, 100, 1000, 2000, 8);
    uint64_t root = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000);
    make_run_node(&run, root, 0, 0, 1000, 1, 1000);
    uint64_t other = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 0, 0, 0);
    make_run_node_at(&run, other)->flags = PM_RUN_NODE_FOREIGN_STACK;
    make_run_node(&run, other, 1, 0, 1000, 4, 250);
    make_run_end(&run, 2000);
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    assert_int_equal(thread->foreign_ns, 250);
    assert_int_equal(thread->nodes[2].flags, PM_RUN_NODE_FOREIGN_STACK);
    assert_int_equal(thread->nodes[3].own_ns, 250);
    assert_int_equal(checked_sum(file, thread), 1000);
    pm_run_file_free(file);
    make_run_release(&run);
}

static void threads_that_shared_a_slot_leave_gaps_out(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    make_run_object(&run, "/bin/heat", "", 0, three_nouns, 3);
    uint64_t thread_at = make_run_thread(&run, 100, 1000, 0, 8);
    ((struct pm_run_thread *)make_run_at(&run, thread_at))->n_threads = 3;
    uint64_t root =
        make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 1, 1900, 0, 500); /* two ended, one since 1900 */
    make_run_node(&run, root, 0, 0x7000, 1950, 3, 450);
    make_run_end(&run, 2000);
    struct pm_run_file *file = parse(&run, NULL);
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    assert_int_equal(thread->n_threads, 3);
    assert_int_equal(thread->wall_ns, 600);
    assert_int_equal(thread->nodes[1].inclusive_ns, 500);
    assert_int_equal(checked_sum(file, thread), 600);
    pm_run_file_free(file);
    make_run_release(&run);
}

static void rounding_loses_no_time(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    make_run_header(&run)->tsc_hz = 2596000000;
    make_run_object(&run, "/bin/heat", "", 0, three_nouns, 3);
    for (uint64_t i = 0; i < 20; i++) {
        make_run_thread(&run, 100, 1001 + i, 9999 + 7 * i, 8);
        uint64_t root = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1001 + i, 0, 8998 + 6 * i);
        uint64_t all = make_run_node(&run, root, 0, 0, 1001 + i, 1, 8998 + 6 * i);
        make_run_node(&run, all, 1, 0, 1001, 1, 1001 + i);
        make_run_node(&run, all, 2, 0, 1001, 1, 3003 + i);
    }
    make_run_end(&run, 12345);
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    for (size_t i = 0; i < 20; i++) {
        const struct pm_run_file_thread *thread = pm_run_file_thread(file, i);
        assert_true(thread->wall_ns == thread->end_ns - thread->start_ns);
        assert_true(checked_sum(file, thread) == thread->wall_ns);
    }
    pm_run_file_free(file);
    make_run_release(&run);
}

static void counters_belong_to_their_object(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    make_run_header(&run)->mode = PM_RUN_MODE_COUNT;
    make_run_object(&run, "/a", "", 0, three_nouns, 3);
    make_run_object(&run, "/b", "", 0, three_nouns, 2);
    uint64_t thread = make_run_thread(&run, 100, 1000, 0, 8);
    make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 1, 1000, 0, 0);
    make_run_counts(&run, thread, 1, (uint64_t[]){7, 8}, 2);
    make_run_counts(&run, thread, 0, (uint64_t[]){1, 2, 3, 4}, 4);
    make_run_counts(&run, thread, 9, (uint64_t[]){1}, 1);
    make_run_counts(&run, 4096, 0, (uint64_t[]){1}, 1);
    make_run_end(&run, 2000);
    struct pm_run_file *file = parse(&run, NULL);
    assert_int_equal(pm_run_file_n_counts(file), 2);
    assert_int_equal(pm_run_file_counts(file, 0)->object, 1);
    assert_int_equal(pm_run_file_counts(file, 0)->counts[1], 8);
    assert_int_equal(pm_run_file_counts(file, 1)->n_counts, 3);
    assert_int_equal(pm_run_file_process(file)->n_calls, 21);
    assert_int_equal(pm_run_file_n_complaints(file), 3);
    assert_string_equal(pm_run_file_complaint(file, 0),
                        "run file 'x.pmr' byte 20480: 4 counters for an object of 3 nouns");
    pm_run_file_free(file);
    make_run_release(&run);
}

static void damaged_contexts_keep_their_calls(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    make_run_object(&run, "/a", "", 0, three_nouns, 3);
    make_run_thread(&run, 100, 1000, 2000, 8);
    uint64_t root = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000);
    uint64_t bad_noun = make_run_node(&run, root, 3, 0, 1000, 5, 300);
    make_run_node(&run, bad_noun, 1, 0, 1000, 6, 200);
    uint64_t self = make_run_node(&run, root, 0, 0, 1000, 7, 100);
    make_run_node_at(&run, self)->parent = (uint32_t)(self / 64);
    uint64_t later = make_run_node(&run, root, 0, 0, 1000, 8, 100);
    make_run_node_at(&run, later)->parent = (uint32_t)(later / 64 + 2);
    make_run_node(&run, later, 2, 0, 1000, 9, 10);
    uint64_t between = make_run_node(&run, root, 0, 0, 1000, 10, 100);
    make_run_node_at(&run, between)->parent = (uint32_t)(root / 64 + 1);
    make_run_end(&run, 2000);
    struct pm_run_file *file = parse(&run, NULL);
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    assert_int_equal(pm_run_file_process(file)->n_calls, 45);
    const struct pm_run_file_noun *noun = pm_run_file_noun(file, thread->nodes[1].noun);
    assert_int_equal(noun->id, 0);
    assert_int_equal(noun->object, PM_RUN_FILE_NO_OBJECT);
    assert_int_equal(thread->nodes[1].own_ns, 100);
    assert_int_equal(thread->nodes[2].flags, PM_RUN_NODE_FOLDED); /* its own parent */
    assert_int_equal(thread->nodes[2].parent, 0);
    assert_int_equal(thread->nodes[2].n_calls, 7);
    assert_int_equal(thread->nodes[3].flags, PM_RUN_NODE_FOLDED); /* of two in a circle, one */
    assert_int_equal(thread->nodes[3].n_calls, 9);
    assert_int_equal(thread->nodes[4].n_calls, 10);
    assert_int_equal(thread->nodes[5].parent, 1);
    assert_int_equal(thread->nodes[5].own_ns, 200);
    assert_int_equal(thread->nodes[6].parent, 3);
    assert_int_equal(thread->nodes[6].own_ns, 100);
    assert_int_equal(checked_sum(file, thread), 1000);
    assert_int_equal(pm_run_file_n_complaints(file), 2);
    assert_string_equal(pm_run_file_complaint(file, 0),
                        "run file 'x.pmr' byte 9216: 3 contexts of thread 100 have no valid "
                        "parent; only their calls count");
    assert_string_equal(
        pm_run_file_complaint(file, 1),
        "run file 'x.pmr' byte 8576: 1 contexts of thread 100 have a noun that no object has");
    pm_run_file_free(file);
    make_run_release(&run);
}

static void contexts_in_any_order_and_unmade_ones_are_sorted_out(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    make_run_object(&run, "/a", "", 0, three_nouns, 3);
    make_run_thread(&run, 100, 1000, 2000, 8);
    uint64_t root = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000);
    uint64_t child = make_run_node(&run, root, 2, 0, 1000, 1, 300);
    uint64_t unmade = make_run_node(&run, 0, 0, 0, 0, 0, 0);
    make_run_node_at(&run, unmade)->kind = 0;
    uint64_t parent = make_run_node(&run, root, 1, 0, 1000, 1, 700); /* made first, lies behind */
    make_run_node_at(&run, child)->parent = (uint32_t)(parent / 64);
    make_run_end(&run, 2000);
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    assert_int_equal(thread->n_nodes, 3);
    assert_int_equal(thread->nodes[1].noun, 1);
    assert_int_equal(thread->nodes[1].own_ns, 400);
    assert_int_equal(thread->nodes[2].noun, 2);
    assert_int_equal(thread->nodes[2].parent, 1);
    assert_int_equal(thread->nodes[2].own_ns, 300);
    assert_int_equal(checked_sum(file, thread), 1000);
    pm_run_file_free(file);
    /* Nothing may hang below an unmade one. */
    make_run_node_at(&run, parent)->parent = (uint32_t)(unmade / 64);
    file = parse(&run, NULL);
    assert_int_equal(pm_run_file_n_complaints(file), 1);
    assert_int_equal(pm_run_file_process(file)->n_calls, 2);
    assert_int_equal(checked_sum(file, pm_run_file_thread(file, 0)), 1000);
    pm_run_file_free(file);
    make_run_release(&run);
}

static void unknown_chunks_and_unmade_pages_are_stepped_over(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    make_run_space(&run, 8192);
    make_run_chunk(&run, 999, 8192, 0);
    make_run_object(&run, "/a", "", 0, three_nouns, 3);
    make_run_space(&run, 4096);
    make_run_thread(&run, 100, 1000, 2000, 8);
    make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000);
    make_run_space(&run, 4096);
    make_run_end(&run, 2000);
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    assert_int_equal(pm_run_file_n_objects(file), 1);
    assert_int_equal(pm_run_file_n_threads(file), 1);
    pm_run_file_free(file);
    /* A damaged page costs one complaint, and what follows is found again. */
    memset(run.data + 4096, 'x', 8192);
    file = parse(&run, NULL);
    assert_int_equal(pm_run_file_n_threads(file), 1);
    assert_int_equal(pm_run_file_n_complaints(file), 1);
    assert_string_equal(pm_run_file_complaint(file, 0),
                        "run file 'x.pmr' byte 4096: no chunk starts here (0x78787878)");
    pm_run_file_free(file);
    make_run_release(&run);
}

static uint64_t hz_of(struct make_run *run, const struct pm_run_clock *clock, size_t n_complaints)
{
    struct pm_run_file *file = parse(run, clock);
    uint64_t hz = pm_run_file_process(file)->tsc_hz;
    assert_int_equal(pm_run_file_n_complaints(file), n_complaints);
    pm_run_file_free(file);
    return hz;
}

static void the_clock_rate_is_taken_in_the_stated_order(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    struct pm_run_header *header = make_run_header(&run);
    struct pm_run_clock clock = {.tsc_hz = 3000000000};
    header->tsc_hz = 2000000000;
    assert_true(hz_of(&run, &clock, 0) == 2000000000);
    header->tsc_hz = 3; /* cannot be */
    assert_true(hz_of(&run, &clock, 1) == 3000000000);
    header->tsc_hz = 0;
    assert_true(hz_of(&run, &clock, 0) == 3000000000);
    header->last_tsc = header->start_tsc + 5000;
    header->last_monotonic_ns =
        header->start_monotonic_ns + 2000; /* too short while there is better */
    clock = (struct pm_run_clock){0, 1, 1, 4000000001, 1000000001, 0};
    assert_true(hz_of(&run, &clock, 0) == 4000000000);
    assert_true(hz_of(&run, NULL, 0) == 2500000000);
    make_run_end(&run, 1000 + 2200000);
    header->end_monotonic_ns = header->start_monotonic_ns + 1000000;
    assert_true(hz_of(&run, NULL, 0) == 2200000000);
    header->flags = 0;
    header->last_tsc = 0;
    assert_true(hz_of(&run, NULL, 1) == 1000000000);
    make_run_release(&run);
}

static void refuse(const void *bytes, size_t len, enum pm_status status, const char *message)
{
    struct pm_run_file *file = NULL;
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_run_file_parse("x.pmr", bytes, len, NULL, &err, &file), status);
    assert_string_equal(pm_error_text(&err), message);
    assert_null(file);
    pm_error_release(&err);
}

static void unreadable_headers_are_refused(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    refuse("", 0, PM_ERR_FORMAT, "'x.pmr' is not a run file");
    refuse("PerfMapX........", 16, PM_ERR_FORMAT, "'x.pmr' is not a run file");
    refuse(run.data, 100, PM_ERR_FORMAT,
           "run file 'x.pmr' is cut within its header (100 of 4008 bytes)");
    make_run_header(&run)->header_bytes = 40;
    refuse(run.data, run.len, PM_ERR_FORMAT,
           "run file 'x.pmr' byte 12: header of 40 bytes (expected 4008 to 4096)");
    make_run_header(&run)->version_major = 2;
    refuse(run.data, run.len, PM_ERR_VERSION,
           "run file 'x.pmr' has version 2.1, this perfmap reads version 1");
    make_run_release(&run);
}

static void make_full(struct make_run *run)
{
    make_killed(run);
    for (int i = 0; i < 40; i++)
        make_run_node(run, run->thread + PM_RUN_THREAD_NODES + 128 * (i % 3), (uint32_t)i % 3,
                      i & 1, 1600 + i, 1, 3);
    make_run_counts(run, run->thread, 0, (uint64_t[]){1, 2, 3}, 3);
    make_run_message(run, PM_RUN_MSG_LIMIT, 1700, "contexts");
    uint64_t object = make_run_object(run, "/lib/b.so", "\x05", 1, three_nouns, 2);
    make_run_loaded(run, object, 0x400000, 0x1000, 0, 0);
    const struct pm_run_sample samples[] = {
        {0x400010, 0x400020, (uint32_t)(run->thread + PM_RUN_THREAD_NODES) / 64, 0,
         PM_RUN_SAMPLE_USER, 1, 1, 1000},
        {0x10, 0, 0, 1, PM_RUN_SAMPLE_KERNEL, 0, 2, 2000},
    };
    make_run_samples(run, run->thread, samples, 2);
    make_run_sampling(run, &(struct pm_run_sampling){.source = PM_RUN_SAMPLES_PERF});
    make_run_adapted(run, (struct pm_run_adapted[]){{1, 0, 1700, 1800, 5}}, 1);
    const struct pm_run_heap_site sites[] = {
        {.caller = 0x400020,
         .node = samples[0].node,
         .thread = (uint32_t)(run->thread / 64),
         .n_allocations = 3,
         .allocated_bytes = 300,
         .n_freed = 1,
         .freed_bytes = 100,
         .life_tsc = 50,
         .least_bytes = 50,
         .most_bytes = 150},
    };
    make_run_heap(run, sites, 1, (struct pm_run_heap_block[]){{0x1000, 150, 1600, 1650, 0, 0}}, 1);
}

static void check_heap(const struct pm_run_file *file)
{
    for (size_t i = 0; i < pm_run_file_n_heap_sites(file); i++) {
        const struct pm_run_file_heap_site *site = pm_run_file_heap_site(file, i);
        assert_true(site->thread < pm_run_file_n_threads(file));
        assert_true(site->node < pm_run_file_thread(file, site->thread)->n_nodes);
        assert_true(site->object == PM_RUN_FILE_NO_OBJECT ||
                    site->object < pm_run_file_n_objects(file));
        assert_true(site->n_freed <= site->n_allocations);
        assert_true(site->freed_bytes <= site->allocated_bytes);
        assert_true(site->life_ns <= INT64_MAX);
    }
    for (size_t i = 0; i < pm_run_file_n_heap_blocks(file); i++) {
        const struct pm_run_file_heap_block *block = pm_run_file_heap_block(file, i);
        assert_true(block->site < pm_run_file_n_heap_sites(file));
        assert_true(block->allocated_ns <= pm_run_file_process(file)->end_ns);
    }
}

/* All that a reader may use unchecked. */
static void check_samples(const struct pm_run_file *file)
{
    for (size_t i = 0; i < pm_run_file_n_threads(file); i++) {
        const struct pm_run_file_thread *thread = pm_run_file_thread(file, i);
        for (size_t k = 0; k < thread->n_samples; k++) {
            const struct pm_run_file_sample *sample = &thread->samples[k];
            assert_true(sample->kind >= PM_RUN_SAMPLE_USER && sample->kind <= PM_RUN_SAMPLE_LOST);
            assert_true(sample->node < thread->n_nodes);
            assert_true(sample->time_ns <= INT64_MAX && sample->n_samples <= INT64_MAX);
            assert_true(sample->object == PM_RUN_FILE_NO_OBJECT ||
                        sample->object < pm_run_file_n_objects(file));
            assert_true(sample->caller_object == PM_RUN_FILE_NO_OBJECT ||
                        sample->caller_object < pm_run_file_n_objects(file));
        }
    }
    for (size_t i = 0; i < pm_run_file_n_adapted(file); i++)
        assert_true(pm_run_file_adapted(file, i)->noun < pm_run_file_n_nouns(file));
}

/* Parses from memory of its exact size, so that ASan sees each byte too many, and checks what must
 * hold for any input. */
static void parse_any(const unsigned char *bytes, size_t len)
{
    unsigned char *copy = malloc(len ? len : 1);
    memcpy(copy, bytes, len);
    struct pm_run_file *file = NULL;
    struct pm_error err = PM_ERROR_INIT;
    if (pm_run_file_parse("x.pmr", copy, len, NULL, &err, &file) == PM_OK) {
        for (size_t i = 0; i < pm_run_file_n_threads(file); i++) {
            const struct pm_run_file_thread *thread = pm_run_file_thread(file, i);
            assert_true(checked_sum(file, thread) == thread->wall_ns);
        }
        check_samples(file);
        check_heap(file);
        for (size_t i = 0; i < pm_run_file_n_counts(file); i++) {
            const struct pm_run_file_counts *counts = pm_run_file_counts(file, i);
            assert_true(counts->n_counts <= pm_run_file_object(file, counts->object)->n_nouns);
        }
        pm_run_file_free(file);
    } else {
        assert_true(err.n_causes > 0);
    }
    pm_error_release(&err);
    free(copy);
}

enum { SAMPLED_NODE = (5 * PM_RUN_PAGE + PM_RUN_THREAD_NODES + 128) / 64 };
static const struct pm_run_sample mixed_samples[] = {
    {0x400123, 0, SAMPLED_NODE, 0, PM_RUN_SAMPLE_USER, 0, 3, 6000},
    {0x700800, 0x400200, SAMPLED_NODE, 2, PM_RUN_SAMPLE_USER, PM_RUN_SAMPLE_CALLER_SURE, 1, 2000},
    {0x700800, 0x400200, SAMPLED_NODE, 3, PM_RUN_SAMPLE_USER, 0, 1, 2000},
    {0x701800, 0, SAMPLED_NODE, 3, PM_RUN_SAMPLE_USER, 0, 1, 2000}, /* beyond b.so, a.so is gone */
    {0x10010, 0, 0, 0, PM_RUN_SAMPLE_USER, 0, 1, 2000},
    {0x400124, 0, SAMPLED_NODE, 0, PM_RUN_SAMPLE_KERNEL, 0, 1, 2000},
    {0x999, 0x999, SAMPLED_NODE, 0, PM_RUN_SAMPLE_OFF_CPU, 0, 7, 90000},
    {0x400124, 0, SAMPLED_NODE, 0, PM_RUN_SAMPLE_LOST, 0, 5, 10000},
};

static void make_sampled(struct make_run *run)
{
    make_run_init(run, 100);
    uint64_t heat = make_run_object(run, "/bin/heat", "\x01", 1, three_nouns, 3);
    make_run_loaded(run, heat, 0x400000, 0x1000, 0, 0);
    /* Two libraries that were at one address, one after the other, and one that still is, somewhere else. */
    uint64_t first = make_run_object(run, "/lib/a.so", "", 0, NULL, 0);
    make_run_loaded(run, first, 0x700000, 0x2000, 1, 2);
    uint64_t second = make_run_object(run, "/lib/b.so", "", 0, NULL, 0);
    make_run_loaded(run, second, 0x700000, 0x1000, 3, 0);
    ((struct pm_run_object *)make_run_at(run, second))->first_noun = 0; /* and has no noun */
    uint64_t own = make_run_object(run, "[perfmap]", "", 0, NULL, 0);
    make_run_loaded(run, own, 0x10000, 0x1000, 0, 0);
    ((struct pm_run_object *)make_run_at(run, own))->kind = PM_RUN_OBJECT_RUNTIME;
    uint64_t thread = make_run_thread(run, 100, 1000, 2000, 8);
    uint64_t root = make_run_node(run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000);
    uint64_t node = make_run_node(run, root, 1, 0, 1000, 1, 500);
    assert_int_equal(node / 64, SAMPLED_NODE);
    make_run_samples(run, thread, mixed_samples, 3);
    make_run_samples(run, thread, mixed_samples + 3, 5);
    make_run_sampling(run, &(struct pm_run_sampling){.source = PM_RUN_SAMPLES_PERF,
                                                     .period_ns = 2000000,
                                                     .has_kernel = 1,
                                                     .has_switches = 1,
                                                     .n_samples = 13,
                                                     .n_lost = 5,
                                                     .n_threads = 1,
                                                     .n_switches = 7});
    make_run_adapted(run, (struct pm_run_adapted[]){{2, 0, 1500, 0, 77}, {0, 0, 1600, 1700, 5}}, 2);
    make_run_end(run, 3000);
}

static void samples_find_their_object_by_address_and_generation(void **state)
{
    (void)state;
    struct make_run run;
    make_sampled(&run);
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    static const struct {
        uint32_t object, caller_object, node;
        uint64_t address, caller;
    } expected[] = {
        {0, PM_RUN_FILE_NO_OBJECT, 1, 0x123, 0},
        {1, 0, 1, 0x800, 0x1ff},
        {2, 0, 1, 0x800, 0x1ff},
        {PM_RUN_FILE_NO_OBJECT, PM_RUN_FILE_NO_OBJECT, 1, 0x701800, 0},
        {3, PM_RUN_FILE_NO_OBJECT, 0, 0x10, 0},
        {0, PM_RUN_FILE_NO_OBJECT, 1, 0x124, 0},
        {PM_RUN_FILE_NO_OBJECT, PM_RUN_FILE_NO_OBJECT, 1, 0, 0},
        {PM_RUN_FILE_NO_OBJECT, PM_RUN_FILE_NO_OBJECT, 1, 0, 0},
    };
    const struct pm_run_file_thread *read = pm_run_file_thread(file, 0);
    assert_int_equal(read->n_samples, 8);
    for (size_t i = 0; i < 8; i++) {
        const struct pm_run_file_sample *sample = &read->samples[i];
        assert_int_equal(sample->kind, mixed_samples[i].kind);
        assert_int_equal(sample->object, expected[i].object);
        assert_int_equal(sample->address, expected[i].address);
        assert_int_equal(sample->caller_object, expected[i].caller_object);
        assert_int_equal(sample->caller, expected[i].caller);
        assert_int_equal(sample->node, expected[i].node);
        assert_int_equal(sample->time_ns, mixed_samples[i].time_ns);
        assert_int_equal(sample->n_samples, mixed_samples[i].n_samples);
        assert_int_equal(sample->caller_sure, i == 1);
    }
    assert_int_equal(pm_run_file_object(file, 3)->kind, PM_RUN_OBJECT_RUNTIME);
    pm_run_file_free(file);
    make_run_release(&run);
}

/* PERFMAP_UPDATE=1 writes it; a format that changes needs a version of its own. */
static void the_file_of_version_1_1_is_what_the_writer_makes(void **state)
{
    (void)state;
    static const char path[] = PM_TEST_DATA "/../fuzz/corpus/run_file/version_1_1.pmr";
    struct make_run run;
    struct pm_error err = PM_ERROR_INIT;
    char *golden;
    size_t len;
    make_sampled(&run);
    if (getenv("PERFMAP_UPDATE"))
        assert_true(make_run_write(&run, path));
    assert_int_equal(pm_file_read(path, 1 << 20, &err, &golden, &len), PM_OK);
    assert_int_equal(len, run.len);
    assert_memory_equal(golden, run.data, len);
    free(golden);
    make_run_release(&run);
}

static void how_samples_were_taken_and_what_was_disarmed_is_told(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    make_run_header(&run)->mode = PM_RUN_MODE_ACTIVE;
    make_run_object(&run, "/bin/heat", "\x01", 1, three_nouns, 3);
    make_run_thread(&run, 100, 1000, 2000, 8);
    uint64_t root = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000);
    make_run_node(&run, root, 1, 1, 5, 3, 0); /* still active; its clock means nothing */
    make_run_sampling(&run, &(struct pm_run_sampling){.source = PM_RUN_SAMPLES_TIMER,
                                                      .clock = 1,
                                                      .period_ns = 2004008,
                                                      .has_switches = 1,
                                                      .n_samples = 10,
                                                      .n_lost = 2,
                                                      .n_threads = 1,
                                                      .n_threads_failed = 3,
                                                      .error_no = 13,
                                                      .n_switches = 8});
    const struct pm_run_adapted adapted[] = {{2, 0, 1500, 0, 77}, {0, 0, 1600, 1700, 5}};
    make_run_adapted(&run, adapted, 2);
    make_run_end(&run, 3000);
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    const struct pm_run_file_sampling *sampling = pm_run_file_sampling(file);
    assert_non_null(sampling);
    assert_int_equal(sampling->source, PM_RUN_SAMPLES_TIMER);
    assert_true(sampling->is_wall && !sampling->has_kernel && sampling->has_switches);
    assert_int_equal(sampling->period_ns, 2004008);
    assert_int_equal(sampling->n_samples, 10);
    assert_int_equal(sampling->n_lost, 2);
    assert_int_equal(sampling->n_threads_failed, 3);
    assert_int_equal(sampling->error_no, 13);
    assert_int_equal(pm_run_file_n_adapted(file), 2);
    assert_int_equal(pm_run_file_adapted(file, 0)->noun, 2);
    assert_int_equal(pm_run_file_adapted(file, 0)->disarmed_ns, 500);
    assert_false(pm_run_file_adapted(file, 0)->is_armed_again);
    assert_int_equal(pm_run_file_adapted(file, 1)->armed_ns, 700);
    assert_int_equal(pm_run_file_adapted(file, 1)->n_events, 5);
    assert_int_equal(pm_run_file_thread(file, 0)->nodes[0].own_ns, 1000);
    assert_int_equal(pm_run_file_thread(file, 0)->nodes[1].own_ns, 0);
    pm_run_file_free(file);
    make_run_release(&run);
}

static void complains(const struct pm_run_file *file, const char *part)
{
    for (size_t i = 0; i < pm_run_file_n_complaints(file); i++)
        if (strstr(pm_run_file_complaint(file, i), part))
            return;
    fail_msg("nobody complains: %s", part);
}

static void damaged_samples_are_named_and_their_time_is_kept(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    make_run_object(&run, "/bin/heat", "\x01", 1, three_nouns, 3);
    uint64_t thread = make_run_thread(&run, 100, 1000, 2000, 8);
    make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000);
    const struct pm_run_sample samples[] = {
        {0x10, 0, 0, 0, 9, 0, 1, 100},
        {0x10, 0, 77, 0, PM_RUN_SAMPLE_USER, 0, 1, 200},
        {0x10, 0, 0, 0, PM_RUN_SAMPLE_USER, 0, 1, UINT64_MAX},
    };
    make_run_samples(&run, thread, samples, 3);
    uint64_t last = run.len - PM_RUN_PAGE;
    make_run_samples(&run, 4096 * 77, samples, 3);
    make_run_adapted(&run, (struct pm_run_adapted[]){{55, 0, 1, 1, 1}}, 1);
    make_run_end(&run, 3000);
    struct pm_run_file *file = parse(&run, NULL);
    complains(file, "byte 12288: 1 samples of unknown kind count as lost ones");
    complains(file, "1 samples have a context that is not there; they count to the thread");
    complains(file, "1 samples have impossible times");
    complains(file, "samples of a thread that is not in the file");
    complains(file, "1 disarmed nouns are of no object");
    const struct pm_run_file_thread *read = pm_run_file_thread(file, 0);
    assert_int_equal(read->n_samples, 3);
    assert_int_equal(read->samples[0].time_ns + read->samples[1].time_ns, 300);
    assert_int_equal(pm_run_file_n_adapted(file), 0);
    pm_run_file_free(file);
    ((struct pm_run_chunk *)make_run_at(&run, last))->n_items = 4000;
    file = parse(&run, NULL);
    complains(file, "4000 samples, 100 fit in the chunk");
    pm_run_file_free(file);
    make_run_release(&run);
}

/* A file of version 1.0 has none of it, and what its reserved fields hold is not looked at. */
static void files_of_the_first_version_are_read(void **state)
{
    (void)state;
    struct make_run run;
    make_killed(&run);
    make_run_header(&run)->version_minor = 0;
    struct pm_run_object *object = make_run_at(&run, PM_RUN_PAGE);
    object->kind = object->loaded_generation = object->unloaded_generation = 0xabcdef;
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    assert_int_equal(pm_run_file_object(file, 0)->kind, PM_RUN_OBJECT_ELF);
    assert_int_equal(pm_run_file_object(file, 0)->loaded_generation, 0);
    assert_int_equal(pm_run_file_thread(file, 0)->n_samples, 0);
    pm_run_file_free(file);
    make_run_release(&run);
}

static void files_cut_anywhere_are_used_as_far_as_they_go(void **state)
{
    (void)state;
    struct make_run run;
    make_full(&run);
    for (size_t len = 0; len < run.len; len += 64)
        parse_any(run.data, len);
    make_run_release(&run);
}

static void blocks_of_the_heap_are_read_as_written(void **state)
{
    (void)state;
    struct make_run run;
    make_full(&run);
    struct pm_run_file *file = NULL;
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_run_file_parse("x.pmr", run.data, run.len, NULL, &err, &file), PM_OK);
    assert_int_equal(pm_run_file_n_heap_sites(file), 1);
    const struct pm_run_file_heap_site *site = pm_run_file_heap_site(file, 0);
    assert_int_equal(site->object, 1);
    assert_int_equal(site->caller, 0x1f);
    assert_int_equal(site->n_allocations, 3);
    assert_int_equal(site->allocated_bytes - site->freed_bytes, 200);
    assert_int_equal(site->least_bytes, 50);
    assert_int_equal(site->life_ns, pm_run_file_to_ns(file, 50));
    assert_int_equal(pm_run_file_n_heap_blocks(file), 1);
    const struct pm_run_file_heap_block *block = pm_run_file_heap_block(file, 0);
    assert_int_equal(block->size_bytes, 150);
    assert_true(block->is_freed);
    assert_int_equal(block->freed_ns - block->allocated_ns, pm_run_file_to_ns(file, 50));
    pm_run_file_free(file);
    make_run_release(&run);
}

/* Contexts, numbers and sums that cannot be. */
static void damaged_blocks_of_the_heap_are_named(void **state)
{
    (void)state;
    struct make_run run;
    make_killed(&run);
    const struct pm_run_heap_site sites[] = {
        {.number = 0,
         .thread = 77777,
         .n_allocations = 1,
         .allocated_bytes = 10,
         .n_freed = 2,
         .freed_bytes = 11,
         .life_tsc = UINT64_MAX},
        {.number = 5, .thread = (uint32_t)(run.thread / 64), .node = 99999},
    };
    const struct pm_run_heap_block blocks[] = {{1, 2, 3, 4, 1, 0}, {1, 2, 3, 0, 5, 0}};
    make_run_heap(&run, sites, 2, blocks, 2);
    struct pm_run_file *file = NULL;
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_run_file_parse("x.pmr", run.data, run.len, NULL, &err, &file), PM_OK);
    check_heap(file);
    assert_int_equal(pm_run_file_n_heap_sites(file), 2);
    assert_int_equal(pm_run_file_n_heap_blocks(file), 1);
    assert_int_equal(pm_run_file_heap_block(file, 0)->site, 1);
    assert_int_equal(pm_run_file_n_complaints(file), 2);
    assert_non_null(
        strstr(pm_run_file_complaint(file, 0), "2 places of allocations have a context"));
    assert_non_null(strstr(pm_run_file_complaint(file, 1), "1 blocks are of no place"));
    pm_run_file_free(file);
    make_run_release(&run);
}

static void flipped_bytes_never_break_what_must_hold(void **state)
{
    (void)state;
    struct make_run run;
    make_full(&run);
    static const unsigned char flips[] = {0xff, 0x01, 0x80};
    for (size_t at = 0; at < run.len; at++) {
        if (run.data[at] == 0 && at % 61) /* nearly all is zero: a sample of it */
            continue;
        for (size_t i = 0; i < sizeof flips; i++) {
            run.data[at] ^= flips[i];
            parse_any(run.data, run.len);
            run.data[at] ^= flips[i];
        }
    }
    make_run_release(&run);
}

static void a_file_on_disk_with_a_hole_is_read(void **state)
{
    (void)state;
    struct make_run run;
    make_killed(&run);
    char path[] = "run-file-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, run.data, run.len), run.len);
    assert_int_equal(ftruncate(fd, (off_t)1 << 36), 0); /* 16 million pages, none of them there */
    close(fd);
    struct pm_run_file *file = NULL;
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_run_file_open(path, NULL, &err, &file), PM_OK);
    no_complaints(file);
    assert_int_equal(pm_run_file_thread(file, 0)->n_nodes, 4);
    pm_run_file_free(file);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(pm_run_file_open(path, NULL, &err, &file), PM_ERR_SYSTEM);
    pm_error_release(&err);
    assert_int_equal(pm_run_file_open("/dev/null", NULL, &err, &file), PM_ERR_FORMAT);
    assert_string_equal(pm_error_text(&err), "'/dev/null' is not a run file: not a regular file");
    pm_error_release(&err);
    make_run_release(&run);
}

static void files_that_the_runtime_left_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum pm_run_file_end end_kind;
        size_t n_threads;
        uint64_t n_calls;
    } files[] = {
        {PM_TEST_DATA "/../fuzz/corpus/run_file/two_threads.pmr", PM_RUN_FILE_EXIT, 2, 24005},
        {PM_TEST_DATA "/../fuzz/corpus/run_file/killed.pmr", PM_RUN_FILE_KILLED, 1, 15},
    };
    for (size_t i = 0; i < 2; i++) {
        struct pm_run_file *file;
        struct pm_error err = PM_ERROR_INIT;
        assert_int_equal(pm_run_file_open(files[i].path, NULL, &err, &file), PM_OK);
        no_complaints(file);
        assert_int_equal(pm_run_file_process(file)->end_kind, files[i].end_kind);
        assert_int_equal(pm_run_file_n_threads(file), files[i].n_threads);
        assert_true(pm_run_file_process(file)->n_calls == files[i].n_calls);
        for (size_t k = 0; k < files[i].n_threads; k++)
            assert_true(checked_sum(file, pm_run_file_thread(file, k)) ==
                        pm_run_file_thread(file, k)->wall_ns);
        pm_run_file_free(file);
    }
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    struct make_run run;
    make_full(&run);
    make_run_header(&run)->exe_bytes = 4000; /* one complaint, so that its memory is walked too */
    for (long n = 1;; n++) {
        struct pm_run_file *file = NULL;
        struct pm_error err = PM_ERROR_INIT;
        pm_alloc_fail_at(n);
        enum pm_status status = pm_run_file_parse("x.pmr", run.data, run.len, NULL, &err, &file);
        bool done = pm_alloc_fail_pending();
        pm_alloc_fail_at(0);
        assert_true(status == PM_OK || status == PM_ERR_MEMORY);
        pm_run_file_free(file);
        pm_error_release(&err);
        if (done)
            break;
        assert_true(n < 1000);
    }
    make_run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_ended_is_read_as_written),
        cmocka_unit_test(many_contexts_spread_over_chunks),
        cmocka_unit_test(open_frames_end_with_what_is_known),
        cmocka_unit_test(without_any_later_time_the_last_start_is_the_end),
        cmocka_unit_test(the_end_of_a_killed_process_fits_all_times_in_its_file),
        cmocka_unit_test(an_activation_not_yet_counted_raises_its_parent),
        cmocka_unit_test(more_than_the_wall_time_is_shared_out),
        cmocka_unit_test(a_frame_that_waited_to_be_healed_adds_nothing),
        cmocka_unit_test(foreign_stacks_have_roots_of_their_own),
        cmocka_unit_test(threads_that_shared_a_slot_leave_gaps_out),
        cmocka_unit_test(rounding_loses_no_time),
        cmocka_unit_test(counters_belong_to_their_object),
        cmocka_unit_test(damaged_contexts_keep_their_calls),
        cmocka_unit_test(contexts_in_any_order_and_unmade_ones_are_sorted_out),
        cmocka_unit_test(unknown_chunks_and_unmade_pages_are_stepped_over),
        cmocka_unit_test(the_clock_rate_is_taken_in_the_stated_order),
        cmocka_unit_test(unreadable_headers_are_refused),
        cmocka_unit_test(samples_find_their_object_by_address_and_generation),
        cmocka_unit_test(the_file_of_version_1_1_is_what_the_writer_makes),
        cmocka_unit_test(how_samples_were_taken_and_what_was_disarmed_is_told),
        cmocka_unit_test(damaged_samples_are_named_and_their_time_is_kept),
        cmocka_unit_test(blocks_of_the_heap_are_read_as_written),
        cmocka_unit_test(damaged_blocks_of_the_heap_are_named),
        cmocka_unit_test(files_of_the_first_version_are_read),
        cmocka_unit_test(files_cut_anywhere_are_used_as_far_as_they_go),
        cmocka_unit_test(flipped_bytes_never_break_what_must_hold),
        cmocka_unit_test(a_file_on_disk_with_a_hole_is_read),
        cmocka_unit_test(files_that_the_runtime_left_are_read),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
