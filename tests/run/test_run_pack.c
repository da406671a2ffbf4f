/* Packed run files: readers see what they saw before, and damage is refused. */
#include "mapping/run/run_pack.h"
#include "read_run.h"

#include <sys/mman.h>
#include <unistd.h>

enum { N_NODES = 20000 };

/* With all that the runtime keeps beside. */
static void fill_runtime_fields(struct make_run *run, uint64_t offset)
{
    struct pm_run_node *node = make_run_node_at(run, offset);
    node->parent_ptr = node->cached_child = 0x7f1234560000u + offset;
    node->first_child = node->next_sibling = 0x7f9876540000u ^ offset;
    node->cached_noun = (uint32_t)offset;
    node->flags |= 0xff000000u;
    memset(node->reserved, (int)offset, sizeof node->reserved);
}

static void make_large(struct make_run *run)
{
    make_run_init(run, 100);
    make_run_object(run, "/a", "\1\2\3", 3, three_nouns, 3);
    make_run_thread(run, 100, 1000, 0, N_NODES);
    uint64_t root = make_run_node(run, 0, PM_RUN_NOUN_ROOT, 0x7000, 1000, 1, 0), last = root;
    for (uint32_t i = 1; i < N_NODES - 100; i++) {
        uint64_t node = make_run_node(run, i % 7 ? last : root, i % 3, 0, 1000 + i, i, 10);
        make_run_node_at(run, node)->flags = PM_RUN_NODE_TIMED;
        fill_runtime_fields(run, node);
        last = i % 50 ? node : root;
    }
    make_run_node_at(run, last)->sp = 0x6000; /* open */
}

/* The same bytes in a file of memory; -1 position at its begin. */
static int file_of(const void *bytes, size_t len)
{
    int fd = memfd_create("run", 0);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, len, 0), len);
    return fd;
}

struct packed {
    unsigned char *bytes;
    size_t len;
};

static struct packed pack(const struct make_run *run)
{
    struct pm_error err = PM_ERROR_INIT;
    int from = file_of(run->data, run->len), to = memfd_create("packed", 0);
    if (pm_run_pack(from, to, NULL, NULL, &err) != PM_OK)
        fail_msg("%s", pm_error_text(&err));
    struct packed packed = {.len = (size_t)lseek(to, 0, SEEK_END)};
    packed.bytes = malloc(packed.len);
    assert_int_equal(pread(to, packed.bytes, packed.len, 0), packed.len);
    close(from);
    close(to);
    return packed;
}

static struct pm_run_file *parse_packed(const struct packed *packed)
{
    struct make_run run = {.data = packed->bytes, .len = packed->len};
    return parse(&run, NULL);
}

static void same_threads(const struct pm_run_file *a, const struct pm_run_file *b)
{
    assert_int_equal(pm_run_file_n_threads(a), pm_run_file_n_threads(b));
    for (size_t i = 0; i < pm_run_file_n_threads(a); i++) {
        const struct pm_run_file_thread *x = pm_run_file_thread(a, i),
                                        *y = pm_run_file_thread(b, i);
        assert_int_equal(x->n_nodes, y->n_nodes);
        assert_int_equal(x->wall_ns, y->wall_ns);
        for (size_t k = 0; k < x->n_nodes; k++) {
            const struct pm_run_file_node *m = &x->nodes[k], *n = &y->nodes[k];
            assert_int_equal(m->noun, n->noun);
            assert_int_equal(m->parent, n->parent);
            assert_int_equal(m->n_calls, n->n_calls);
            assert_int_equal(m->inclusive_ns, n->inclusive_ns);
            assert_int_equal(m->own_ns, n->own_ns);
            assert_int_equal(m->flags, n->flags);
            assert_int_equal(m->timing, n->timing);
            assert_int_equal(m->open, n->open);
            assert_int_equal(m->place, n->place);
        }
    }
}

static void same_when_packed(const struct make_run *run)
{
    struct packed packed = pack(run);
    assert_true(packed.len < run->len / 8);
    struct pm_run_file *a = parse(run, NULL), *b = parse_packed(&packed);
    no_complaints(a);
    no_complaints(b);
    same_threads(a, b);
    assert_int_equal(pm_run_file_process(a)->end_ns, pm_run_file_process(b)->end_ns);
    assert_int_equal(pm_run_file_process(a)->end_kind, pm_run_file_process(b)->end_kind);
    assert_int_equal(pm_run_file_n_nouns(a), pm_run_file_n_nouns(b));
    assert_int_equal(pm_run_file_noun(a, 2)->address, pm_run_file_noun(b, 2)->address);
    assert_true(pm_str_eq(pm_run_file_object(a, 0)->build_id, pm_run_file_object(b, 0)->build_id));
    pm_run_file_free(a);
    pm_run_file_free(b);
    free(packed.bytes);
}

static void a_process_that_ended_reads_the_same(void **state)
{
    (void)state;
    struct make_run run;
    make_large(&run);
    make_run_end(&run, 900000);
    same_when_packed(&run);
    make_run_release(&run);
}

/* Nothing but the times of its contexts tells when it was killed. */
static void a_process_that_was_killed_reads_the_same(void **state)
{
    (void)state;
    struct make_run run;
    make_large(&run);
    same_when_packed(&run);
    make_run_release(&run);
}

/* Its last call began behind the end that the process noted. */
static void a_thread_that_ran_on_reads_the_same(void **state)
{
    (void)state;
    struct make_run run;
    make_large(&run);
    make_run_end(&run, 5000);
    same_when_packed(&run);
    make_run_release(&run);
}

static void refused(const struct packed *packed, size_t len, const char *part)
{
    struct pm_run_file *file = NULL;
    struct pm_error err = PM_ERROR_INIT;
    assert_int_not_equal(pm_run_file_parse("x.pmr", packed->bytes, len, NULL, &err, &file), PM_OK);
    if (!strstr(pm_error_text(&err), part))
        fail_msg("'%s', not '%s'", pm_error_text(&err), part);
    pm_error_release(&err);
}

static void damage_is_refused(void **state)
{
    (void)state;
    struct make_run run;
    make_large(&run);
    struct packed packed = pack(&run);
    struct pm_run_packed *head = (struct pm_run_packed *)(void *)(packed.bytes + PM_RUN_PAGE),
                         good = *head;
    refused(&packed, PM_RUN_PAGE + 10, "is cut (4106 bytes)");
    refused(&packed, packed.len - 1, "is cut (");
    packed.bytes[packed.len / 2] ^= 0x10;
    refused(&packed, packed.len, "is damaged: ");
    packed.bytes[packed.len / 2] ^= 0x10;
    uint64_t sizes[] = {0, PM_RUN_PAGE + 1, PM_RUN_MOST_PACKED + PM_RUN_PAGE, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        head->unpacked_bytes = sizes[i];
        refused(&packed, packed.len, "bytes unpacked");
    }
    head->unpacked_bytes = good.unpacked_bytes + PM_RUN_PAGE;
    refused(&packed, packed.len, "is damaged: it is too short");
    head->unpacked_bytes = good.unpacked_bytes - PM_RUN_PAGE;
    refused(&packed, packed.len, "is damaged: ");
    *head = good;
    head->magic = 0;
    refused(&packed, packed.len, "packed run file 'x.pmr'");
    free(packed.bytes);
    make_run_release(&run);
}

static bool no_time(void *context)
{
    (void)context;
    return false;
}

static enum pm_status try_pack(const struct make_run *run, bool (*go_on)(void *context))
{
    struct pm_error err = PM_ERROR_INIT;
    int from = file_of(run->data, run->len), to = memfd_create("packed", 0);
    enum pm_status status = pm_run_pack(from, to, go_on, NULL, &err);
    pm_error_release(&err);
    close(from);
    close(to);
    return status;
}

static void what_cannot_be_packed_stays(void **state)
{
    (void)state;
    struct make_run run;
    make_large(&run);
    assert_int_equal(try_pack(&run, no_time), PM_ERR_LIMIT);
    struct packed packed = pack(&run);
    struct make_run again = {.data = packed.bytes, .len = packed.len / PM_RUN_PAGE * PM_RUN_PAGE};
    assert_int_equal(try_pack(&again, NULL), PM_ERR_USAGE);
    uint64_t trace = make_run_chunk(&run, PM_RUN_CHUNK_TRACE_HEAD, PM_RUN_PAGE, run.thread);
    assert_int_equal(try_pack(&run, NULL), PM_ERR_USAGE);
    ((struct pm_run_chunk *)make_run_at(&run, trace))->kind = PM_RUN_CHUNK_MESSAGE;
    assert_int_equal(try_pack(&run, NULL), PM_OK);
    ((struct pm_run_chunk *)make_run_at(&run, trace))->size_bytes = 3 * PM_RUN_PAGE;
    assert_int_equal(try_pack(&run, NULL), PM_ERR_USAGE);
    free(packed.bytes);
    make_run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_ended_reads_the_same),
        cmocka_unit_test(a_process_that_was_killed_reads_the_same),
        cmocka_unit_test(a_thread_that_ran_on_reads_the_same),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(what_cannot_be_packed_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
