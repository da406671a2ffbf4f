/* Whatever the bytes are, what a reader of run files may rely on holds. */
#include "read_run.h"

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
           "run file 'x.pmr' is cut within its header (100 of 4096 bytes)");
    make_run_header(&run)->header_bytes = 40;
    refuse(run.data, run.len, PM_ERR_FORMAT,
           "run file 'x.pmr' byte 12: header of 40 bytes (expected 4008 to 4096)");
    make_run_header(&run)->version_major = 3;
    refuse(run.data, run.len, PM_ERR_VERSION,
           "run file 'x.pmr' has version 3.4, this perfmap reads version 1");
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
        cmocka_unit_test(damaged_contexts_keep_their_calls),
        cmocka_unit_test(contexts_in_any_order_and_unmade_ones_are_sorted_out),
        cmocka_unit_test(unknown_chunks_and_unmade_pages_are_stepped_over),
        cmocka_unit_test(unreadable_headers_are_refused),
        cmocka_unit_test(files_cut_anywhere_are_used_as_far_as_they_go),
        cmocka_unit_test(flipped_bytes_never_break_what_must_hold),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
