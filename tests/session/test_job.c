/* Ranks that `perfmap run` measures one by one, and the archive's folder that the last one leaves.
 * Here one process is every rank in turn: the environment says which. */
#include "cmd/session/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct rank {
    struct session_job job;
    struct pm_manifest manifest;
    char *folder;
};

static void be_rank(const char *rank, const char *n_ranks)
{
    setenv("OMPI_COMM_WORLD_RANK", rank, 1);
    setenv("OMPI_COMM_WORLD_SIZE", n_ranks, 1);
}

static int enter_job(void **state)
{
    (void)state;
    unsetenv("PMI_RANK");
    return setenv("PMIX_NAMESPACE", "job", 1);
}

/* It has run for as many seconds as its number plus one, and has written one run file. */
static struct rank begin(const char *output, const char *number, const char *n_ranks,
                         const char *file)
{
    struct rank rank = {0};
    char path[512];
    be_rank(number, n_ranks);
    assert_true(session_job_find(output, &rank.job));
    assert_int_equal(session_job_join(&rank.job, NULL), PM_OK);
    rank.folder = session_job_folder(&rank.job);
    assert_non_null(rank.folder);
    assert_int_equal(mkdir(rank.folder, 0700), 0);
    snprintf(path, sizeof path, "%s/%s", rank.folder, file);
    assert_int_equal(pm_file_write(path, number, strlen(number), NULL), PM_OK);
    pm_manifest_init(&rank.manifest);
    rank.manifest.has_usage = true;
    rank.manifest.user_cpu_ns = (rank.job.rank + 1) * 1000000000ull;
    rank.manifest.start_monotonic_ns = 100 + rank.job.rank;
    rank.manifest.end_monotonic_ns = 200 + rank.job.rank;
    rank.manifest.exit_status = rank.job.rank == 1 ? 7 : 0;
    return rank;
}

static bool leave(struct rank *rank, struct session_notes *notes)
{
    struct pm_error err = PM_ERROR_INIT;
    bool is_last;
    assert_int_equal(
        session_job_leave(&rank->job, rank->folder, &rank->manifest, notes, &err, &is_last), PM_OK);
    pm_error_release(&err);
    return is_last;
}

static void release(struct rank *rank)
{
    char command[512];
    snprintf(command, sizeof command, "rm -rf '%s' '%s'", rank->folder, rank->job.path);
    assert_int_equal(system(command), 0);
    pm_manifest_release(&rank->manifest);
    session_job_release(&rank->job);
    free(rank->folder);
}

static void assert_holds(const char *folder, const char *file, const char *text)
{
    char path[512], bytes[16] = "";
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fread(bytes, 1, sizeof bytes - 1, f), strlen(text));
    assert_string_equal(bytes, text);
    fclose(f);
}

static void one_rank_alone_is_no_job(void **state)
{
    (void)state;
    struct session_job job;
    static const char *const not [][2] = {{"0", "1"},  {"3", "3"}, {"", "2"},
                                          {"-1", "2"}, {"x", "2"}, {"0", "2x"}};
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++) {
        be_rank(not [i][0], not [i][1]);
        assert_false(session_job_find("alone", &job));
    }
}

static void the_last_one_has_everything(void **state)
{
    (void)state;
    struct session_notes notes = {0};
    struct rank ranks[] = {begin("all", "0", "3", "a.pmr"), begin("all", "1", "3", "b.pmr"),
                           begin("all", "2", "3", "c.pmr")};
    assert_false(leave(&ranks[1], &notes));
    assert_false(leave(&ranks[0], &notes));
    assert_true(leave(&ranks[2], &notes));
    assert_holds(ranks[2].folder, "a.pmr", "0");
    assert_holds(ranks[2].folder, "b.pmr", "1");
    assert_holds(ranks[2].folder, "c.pmr", "2");
    assert_int_equal(ranks[2].manifest.user_cpu_ns, 6000000000);
    assert_int_equal(ranks[2].manifest.start_monotonic_ns, 100);
    assert_int_equal(ranks[2].manifest.end_monotonic_ns, 202);
    assert_int_equal(ranks[2].manifest.exit_status, 7); /* that of the one which failed */
    assert_int_equal(notes.n, 0);
    assert_int_not_equal(access(ranks[0].folder, F_OK), 0);
    assert_int_not_equal(access(ranks[2].job.path, F_OK), 0);
    for (int i = 0; i < 3; i++)
        release(&ranks[i]);
    session_notes_release(&notes);
}

/* Process numbers of two machines. */
static void files_of_one_name_are_all_kept(void **state)
{
    (void)state;
    struct session_notes notes = {0};
    struct rank ranks[] = {begin("same", "0", "3", "a-1.pmr"), begin("same", "1", "3", "a-1.pmr"),
                           begin("same", "2", "3", "a-1.pmr")};
    assert_false(leave(&ranks[2], &notes));
    assert_false(leave(&ranks[1], &notes));
    assert_true(leave(&ranks[0], &notes));
    assert_holds(ranks[0].folder, "a-1.pmr", "0");
    assert_holds(ranks[0].folder, "1-a-1.pmr", "1");
    assert_holds(ranks[0].folder, "2-a-1.pmr", "2");
    for (int i = 0; i < 3; i++)
        release(&ranks[i]);
    session_notes_release(&notes);
}

static void a_rank_without_perfmap_is_waited_for_and_told(void **state)
{
    (void)state;
    struct session_notes notes = {0};
    struct rank rank = begin("some", "1", "2", "b.pmr");
    assert_true(leave(&rank, &notes));
    assert_int_equal(notes.n, 1);
    assert_string_equal(notes.items[0].text, "1 of the job's 2 ranks were run by 'perfmap run'");
    assert_int_equal(rank.manifest.user_cpu_ns, 2000000000);
    release(&rank);
    session_notes_release(&notes);
}

static void another_jobs_ranks_are_not_taken(void **state)
{
    (void)state;
    struct session_notes notes = {0};
    struct rank mine = begin("two", "0", "2", "a.pmr");
    setenv("PMIX_NAMESPACE", "another", 1);
    struct rank other = begin("two", "1", "2", "b.pmr");
    assert_string_not_equal(mine.job.path, other.job.path);
    assert_true(leave(&other, &notes)); /* of its own job the only one that came */
    assert_holds(mine.folder, "a.pmr", "0");
    release(&mine);
    release(&other);
    session_notes_release(&notes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(one_rank_alone_is_no_job, enter_job),
        cmocka_unit_test_setup(the_last_one_has_everything, enter_job),
        cmocka_unit_test_setup(files_of_one_name_are_all_kept, enter_job),
        cmocka_unit_test_setup(a_rank_without_perfmap_is_waited_for_and_told, enter_job),
        cmocka_unit_test_setup(another_jobs_ranks_are_not_taken, enter_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
