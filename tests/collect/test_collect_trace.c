/* Traces in archives: the same however many threads collect them, and what the run file has. */
#include "mapping/archive/trace.h"
#include "mapping/collect/collect.h"
#include "mapping/run/run_trace.h"
#include "../run/make_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "in_folder.h"

static const char path[] = "x.run/100.0.pmr";

/* Threads of a few parts and of many, with other events than calls, and with parts missing. */
static void write_run(void)
{
    static const struct {
        uint32_t n_parts, odd, gap;
    } threads[] = {{1, 0, 0},   {2, 0, 0},    {3, 0, 0},      {200, 0, 0},
                   {100, 0, 7}, {100, 30, 0}, {100, 2000, 8}, {60, 150, 0}};
    struct make_trace f;
    uint64_t end_tsc = 0;
    make_trace_init(&f);
    for (uint32_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        struct make_trace_walk w = {.state = i, .odd = threads[i].odd, .tsc = 1005};
        make_trace_thread(&f, 100 + i);
        make_trace_walking(&f, &w, threads[i].n_parts, threads[i].gap);
        end_tsc = w.tsc > end_tsc ? w.tsc : end_tsc;
    }
    make_run_end(&f.run, end_tsc + 1000);
    assert_true(make_run_write(&f.run, path));
    make_run_release(&f.run);
}

static enum pm_status collect(unsigned n_threads, const char *archive, struct pm_error *err)
{
    const char *dirs[] = {"x.run"};
    struct pm_collect_options options = {.size = sizeof options, .n_threads = n_threads};
    return pm_collect(dirs, 1, archive, &options, err, NULL);
}

static void collect_well(unsigned n_threads, const char *archive)
{
    struct pm_error err = PM_ERROR_INIT;
    if (collect(n_threads, archive, &err) != PM_OK)
        fail_msg("%s", pm_error_text(&err));
}

static void as_many_threads_as_there_are_make_the_same_archive(void **state)
{
    (void)state;
    char *one, *many;
    size_t one_len, many_len;
    write_run();
    collect_well(1, "1.perfmap");
    assert_int_equal(pm_file_read("1.perfmap", 64 << 20, NULL, &one, &one_len), PM_OK);
    for (unsigned n = 0; n < 10; n++) {
        collect_well(n, "n.perfmap");
        assert_int_equal(pm_file_read("n.perfmap", 64 << 20, NULL, &many, &many_len), PM_OK);
        assert_int_equal(many_len, one_len);
        assert_memory_equal(many, one, one_len);
        free(many);
    }
    free(one);
}

enum { N_WITHOUT_ODD = 5 }; /* threads */

/* An event of the archive is that of the run file. Times never go back there. */
static void same_event(const struct pm_run_file *file, const struct pm_run_trace_event *event,
                       const struct pm_trace_event *got, uint64_t *latest_ns)
{
    unsigned flags = (event->flags & PM_RUN_TRACE_CUT ? PM_TRACE_CUT : 0u) |
                     (event->flags & PM_RUN_TRACE_ON_FOREIGN ? (unsigned)PM_TRACE_FOREIGN : 0u);
    uint64_t ns = pm_run_trace_ns(file, event->tsc);
    *latest_ns = ns > *latest_ns ? ns : *latest_ns;
    assert_int_equal(got->is_leave, event->is_leave);
    assert_int_equal(got->flags, flags);
    assert_int_equal(got->depth, event->depth);
    assert_int_equal(got->time_ns, *latest_ns);
}

static size_t same_thread(const struct pm_run_file *file, struct pm_trace *trace, size_t thread)
{
    struct pm_run_trace_cursor *from;
    struct pm_trace_cursor *cursor;
    struct pm_run_trace_event event;
    struct pm_trace_event got;
    bool has_event, has_got;
    size_t n = 0;
    uint64_t latest_ns = 0;
    assert_int_equal(pm_run_trace_open(path, file, thread, NULL, &from), PM_OK);
    assert_int_equal(pm_trace_seek(trace, thread, 0, NULL, &cursor), PM_OK);
    for (;; n++) {
        assert_int_equal(pm_run_trace_next(from, NULL, &event, &has_event), PM_OK);
        assert_int_equal(pm_trace_next(cursor, NULL, &got, &has_got), PM_OK);
        assert_int_equal(has_event, has_got);
        if (!has_event)
            break;
        same_event(file, &event, &got, &latest_ns);
        if (event.is_leave && thread < N_WITHOUT_ODD) /* no leaves on other stacks without enters */
            assert_int_equal(got.spent_ns, event.spent_tsc); /* a tick is 1 ns */
    }
    pm_run_trace_close(from);
    pm_trace_cursor_free(cursor);
    return n;
}

static void all_events_of_a_run_file_are_in_the_archive(void **state)
{
    (void)state;
    struct pm_run_file *file;
    struct pm_archive *archive;
    struct pm_trace *trace;
    write_run();
    collect_well(3, "x.perfmap");
    assert_int_equal(pm_run_file_open(path, NULL, NULL, &file), PM_OK);
    assert_int_equal(pm_archive_open("x.perfmap", NULL, &archive), PM_OK);
    assert_int_equal(pm_trace_open(archive, NULL, &trace), PM_OK);
    assert_int_equal(pm_trace_n_threads(trace), pm_run_file_n_threads(file));
    for (size_t i = 0; i < pm_trace_n_threads(trace); i++)
        assert_int_equal(same_thread(file, trace, i), pm_trace_thread(trace, i)->n_events);
    pm_trace_free(trace);
    pm_archive_close(archive);
    pm_run_file_free(file);
}

static bool next_above(struct pm_trace_cursor *cursor, uint32_t depth, uint64_t until_ns,
                       struct pm_trace_event *event)
{
    bool has_event;
    do
        assert_int_equal(pm_trace_next(cursor, NULL, event, &has_event), PM_OK);
    while (has_event && event->depth >= depth && event->time_ns <= until_ns);
    return has_event;
}

/* The cursor leaves out what its user would. */
static void deep_calls_are_left_out(void **state)
{
    (void)state;
    struct pm_archive *archive;
    struct pm_trace *trace;
    write_run();
    collect_well(2, "x.perfmap");
    assert_int_equal(pm_archive_open("x.perfmap", NULL, &archive), PM_OK);
    assert_int_equal(pm_trace_open(archive, NULL, &trace), PM_OK);
    size_t n_seen = 0;
    for (unsigned i = 0; i < 5 * pm_trace_n_threads(trace); i++) {
        const struct pm_trace_thread *thread = pm_trace_thread(trace, i / 5);
        uint32_t depth = i % 4;
        uint64_t from_ns = thread->end_ns / 10 * (i % 3), until_ns = thread->end_ns / 7 * (i % 9);
        struct pm_trace_cursor *all, *some;
        struct pm_trace_event expected, got;
        bool has_event = true, has_got;
        assert_int_equal(pm_trace_seek(trace, i / 5, from_ns, NULL, &all), PM_OK);
        assert_int_equal(pm_trace_seek(trace, i / 5, from_ns, NULL, &some), PM_OK);
        pm_trace_leave_out(some, depth, until_ns);
        for (; has_event; n_seen++) {
            has_event = next_above(all, depth, until_ns, &expected);
            assert_int_equal(pm_trace_next(some, NULL, &got, &has_got), PM_OK);
            assert_int_equal(has_got, has_event);
            if (!has_event)
                break;
            assert_true(got.is_leave == expected.is_leave && got.flags == expected.flags);
            assert_true(got.sentence == expected.sentence && got.depth == expected.depth);
            assert_true(got.time_ns == expected.time_ns && got.spent_ns == expected.spent_ns);
            assert_true(!got.is_leave || got.enter_ns == expected.enter_ns);
        }
        pm_trace_cursor_free(all);
        pm_trace_cursor_free(some);
    }
    assert_true(n_seen > 10000);
    pm_trace_free(trace);
    pm_archive_close(archive);
}

/* Whichever allocation fails, in whichever thread: an error, and all threads end. */
static void memory_that_ends_is_an_error(void **state)
{
    (void)state;
    struct pm_error err = PM_ERROR_INIT;
    size_t n_failed = 0;
    write_run();
    for (long n = 1;; n += 1 + n / 20) {
        pm_alloc_fail_at(n);
        enum pm_status status = collect(3, "x.perfmap", &err);
        bool is_pending = pm_alloc_fail_pending();
        pm_alloc_fail_at(0);
        if (status == PM_OK && is_pending)
            break;
        if (status != PM_OK)
            assert_int_equal(status, PM_ERR_MEMORY);
        n_failed += status != PM_OK;
        pm_error_release(&err);
    }
    assert_true(n_failed > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(as_many_threads_as_there_are_make_the_same_archive),
        IN_FOLDER(all_events_of_a_run_file_are_in_the_archive),
        IN_FOLDER(deep_calls_are_left_out),
        IN_FOLDER(memory_that_ends_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
