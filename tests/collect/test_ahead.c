/* Run files are read by several threads; the archive and the warnings are those of one. */
#include "mapping/collect/ahead.h"
#include "mapping/collect/collect.h"
#include "../run/make_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "in_folder.h"

enum { N_FILES = 60 };

/* Processes that call functions of their own and one of all; some files are cut, or none. */
static void write_files(void)
{
    char path[64];
    for (uint32_t i = 0; i < N_FILES; i++) {
        const struct pm_run_noun nouns[] = {{.id = 5, .kind = PM_SLED_ENTRY},
                                            {.id = 100 + i, .kind = PM_SLED_ENTRY}};
        struct make_run run;
        make_run_init(&run, 100 + i);
        make_run_header(&run)->start_tsc += i * 7919 % 31;
        make_run_object(&run, "/bin/heat", "", 0, nouns, 2);
        make_run_thread(&run, 100 + i, 1100, 2000, 16);
        uint64_t root = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1100, 0, 900),
                 f = make_run_node(&run, root, 0, 3, 1100, 0, 500);
        make_run_node(&run, f, 1, i, 1100, 0, 100);
        make_run_end(&run, 3000);
        if (i % 10 == 3)
            memset(run.data, 'x', 64);
        if (i % 10 == 7)
            run.len -= 64;
        snprintf(path, sizeof path, "x.run/%u.0.pmr", (unsigned)(100 + i));
        assert_true(make_run_write(&run, path));
        make_run_release(&run);
    }
}

/* The archive, and all warnings in order. */
struct made {
    char *archive, *warnings;
    size_t len;
};

static struct made make(unsigned n_threads)
{
    const char *dirs[] = {"x.run"};
    struct pm_collect_options options = {.size = sizeof options, .n_threads = n_threads};
    struct pm_collect_result result = {0};
    struct pm_error err = PM_ERROR_INIT;
    struct pm_buf warnings = PM_BUF_INIT(1 << 20);
    struct made made;
    if (pm_collect(dirs, 1, "x.perfmap", &options, &err, &result) != PM_OK)
        fail_msg("%s", pm_error_text(&err));
    assert_int_equal(result.n_processes, N_FILES - N_FILES / 10);
    for (size_t i = 0; i < result.n_warnings; i++)
        pm_buf_printf(&warnings, "%s\n", result.warnings[i]);
    pm_collect_result_release(&result);
    assert_int_equal(pm_file_read("x.perfmap", 64 << 20, NULL, &made.archive, &made.len), PM_OK);
    made.warnings = pm_buf_take(&warnings);
    return made;
}

static void release(struct made *made)
{
    free(made->archive);
    free(made->warnings);
}

static void as_many_threads_as_there_are_make_the_same_archive(void **state)
{
    (void)state;
    write_files();
    struct made one = make(1);
    assert_non_null(strstr(one.warnings, "this process is left out"));
    for (unsigned n = 0; n < 8; n++) {
        struct made many = make(n);
        assert_string_equal(many.warnings, one.warnings);
        assert_int_equal(many.len, one.len);
        assert_memory_equal(many.archive, one.archive, one.len);
        release(&many);
    }
    release(&one);
}

/* Whoever reads only some of them leaves nothing behind; errors are those of the file. */
static void reading_may_end_early(void **state)
{
    (void)state;
    struct run_ahead_file files[N_FILES];
    char paths[N_FILES][64];
    const struct pm_run_clock clock = {0};
    struct pm_error err = PM_ERROR_INIT;
    write_files();
    for (uint32_t i = 0; i < N_FILES; i++) {
        snprintf(paths[i], sizeof paths[i], "x.run/%u.0.pmr", (unsigned)(100 + i));
        /* some are too large to be read before their turn */
        files[i] = (struct run_ahead_file){paths[i], i % 9 ? 4096 : (uint64_t)1 << 40};
    }
    for (size_t n_taken = 0; n_taken <= N_FILES; n_taken += 15) {
        struct run_ahead *ahead = run_ahead_new(files, N_FILES, &clock, 4);
        assert_non_null(ahead);
        for (size_t i = 0; i < n_taken; i++) {
            struct pm_run_file *file = NULL;
            enum pm_status status = run_ahead_take(ahead, i, &err, &file);
            assert_int_equal(status, i % 10 == 3 ? PM_ERR_FORMAT : PM_OK);
            if (status == PM_OK)
                assert_int_equal(pm_run_file_process(file)->pid, 100 + i);
            else
                assert_non_null(strstr(pm_error_text(&err), paths[i]));
            pm_run_file_free(file);
            pm_error_release(&err);
        }
        run_ahead_free(ahead);
    }
}

static void memory_that_ends_is_an_error(void **state)
{
    (void)state;
    const char *dirs[] = {"x.run"};
    struct pm_collect_options options = {.size = sizeof options, .n_threads = 3};
    struct pm_error err = PM_ERROR_INIT;
    size_t n_failed = 0;
    write_files();
    for (long n = 1;; n += 1 + n / 10) {
        pm_alloc_fail_at(n);
        enum pm_status status = pm_collect(dirs, 1, "x.perfmap", &options, &err, NULL);
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
        IN_FOLDER(reading_may_end_early),
        IN_FOLDER(memory_that_ends_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
