#include "read_run.h"

#include <unistd.h>

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

static void the_node_and_the_job_are_told_since_version_1_3(void **state)
{
    static const char longest[] =
        "a.name.of.sixty-four.bytes.that.fills.all.of.its.place.in.the.fi";
    (void)state;
    for (uint16_t minor = 2; minor <= 3; minor++) {
        struct make_run run;
        make_run_init(&run, 100);
        make_run_place(&run, longest, "4711");
        make_run_version(&run, minor);
        make_run_end(&run, 2000);
        struct pm_run_file *file = parse(&run, NULL);
        no_complaints(file);
        const struct pm_run_file_process *process = pm_run_file_process(file);
        assert_true(pm_str_is(process->node, minor < 3 ? "" : longest));
        assert_true(pm_str_is(process->job, minor < 3 ? "" : "4711"));
        pm_run_file_free(file);
        make_run_release(&run);
    }
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
    /* Portable mode adds nouns as they are met: there is room for more, and so it is in the
     * counters. */
    uint64_t portable = make_run_object(&run, "/portable", "", 0, three_nouns, 2);
    ((struct pm_run_object *)make_run_at(&run, portable))->n_sleds = 0;
    make_run_counts(&run, thread, 2, (uint64_t[]){5, 6, 0, 0}, 4);
    make_run_end(&run, 2000);
    struct pm_run_file *file = parse(&run, NULL);
    assert_int_equal(pm_run_file_n_counts(file), 3);
    assert_int_equal(pm_run_file_counts(file, 2)->n_counts, 2);
    assert_int_equal(pm_run_file_counts(file, 0)->object, 1);
    assert_int_equal(pm_run_file_counts(file, 0)->counts[1], 8);
    assert_int_equal(pm_run_file_counts(file, 1)->n_counts, 3);
    assert_int_equal(pm_run_file_process(file)->n_calls, 21 + 11);
    assert_int_equal(pm_run_file_n_complaints(file), 3);
    assert_string_equal(pm_run_file_complaint(file, 0),
                        "run file 'x.pmr' byte 20480: 4 counters for an object of 3 nouns");
    pm_run_file_free(file);
    make_run_release(&run);
}

/* A file of version 1.0 has none of it, and what its reserved fields hold is not looked at. */
static void files_of_the_first_version_are_read(void **state)
{
    (void)state;
    struct make_run run;
    make_killed(&run);
    make_run_version(&run, 0);
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
    assert_string_equal(pm_error_text(&err),
                        "'/dev/null' is not a regular file / cannot read run file '/dev/null'");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_ended_is_read_as_written),
        cmocka_unit_test(the_node_and_the_job_are_told_since_version_1_3),
        cmocka_unit_test(many_contexts_spread_over_chunks),
        cmocka_unit_test(counters_belong_to_their_object),
        cmocka_unit_test(files_of_the_first_version_are_read),
        cmocka_unit_test(a_file_on_disk_with_a_hole_is_read),
        cmocka_unit_test(files_that_the_runtime_left_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
