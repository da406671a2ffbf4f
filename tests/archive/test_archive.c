#include "mapping/archive/archive.h"

#include <setjmp.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char home[4096];

static int enter_folder(void **state)
{
    (void)state;
    static char dir[64];
    snprintf(dir, sizeof dir, "archive-XXXXXX");
    return !getcwd(home, sizeof home) || !mkdtemp(dir) || chdir(dir) != 0 ? -1 : 0;
}

static int leave_folder(void **state)
{
    (void)state;
    char here[4096], command[5000];
    if (!getcwd(here, sizeof here) || chdir(home) != 0)
        return -1;
    snprintf(command, sizeof command, "rm -rf '%s'", here);
    return system(command);
}

static void make_archive(const char *path)
{
    struct pm_archive *archive;
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_archive_create(path, &err, &archive), PM_OK);
    assert_int_equal(sqlite3_exec(pm_archive_db(archive),
                                  "INSERT INTO levels VALUES(1, 'Base', NULL)", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(pm_archive_finish(archive, &err), PM_OK);
}

/* Opens and reads some; the status of what failed first. */
static enum pm_status use(const char *path, struct pm_error *err)
{
    struct pm_archive *archive;
    sqlite3_stmt *query;
    bool has_row;
    enum pm_status status = pm_archive_open(path, err, &archive);
    if (status != PM_OK)
        return status;
    status = pm_archive_prepare(archive, "SELECT name FROM levels", err, &query);
    if (status == PM_OK) {
        do
            status = pm_archive_step(archive, query, err, &has_row);
        while (status == PM_OK && has_row);
        sqlite3_finalize(query);
    }
    pm_archive_close(archive);
    return status;
}

static void refuse(const char *path, enum pm_status status, const char *part)
{
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(use(path, &err), status);
    if (!strstr(pm_error_text(&err), part))
        fail_msg("%s", pm_error_text(&err));
    pm_error_release(&err);
}

static void an_archive_appears_only_when_complete(void **state)
{
    (void)state;
    struct pm_archive *archive;
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_archive_create("a b'.perfmap", &err, &archive), PM_OK);
    assert_int_equal(access("a b'.perfmap", F_OK), -1);
    pm_archive_discard(archive);
    refuse("a b'.perfmap", PM_ERR_NOT_FOUND, "there is no archive 'a b'.perfmap'");
    make_archive("a b'.perfmap");
    assert_int_equal(use("a b'.perfmap", &err), PM_OK);
    assert_int_equal(pm_archive_create("a b'.perfmap", &err, &archive), PM_OK);
    assert_int_equal(use("a b'.perfmap", &err), PM_OK); /* the old one, still */
    pm_archive_discard(archive);
    assert_int_equal(use("a b'.perfmap", &err), PM_OK);
    assert_int_equal(system("test $(ls | wc -l) = 1"), 0);
}

static void one_that_can_be_made_again_is_complete_as_any_other(void **state)
{
    (void)state;
    struct pm_archive *archive;
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_archive_create("again", &err, &archive), PM_OK);
    pm_archive_is_repeatable(archive);
    assert_int_equal(pm_archive_finish(archive, &err), PM_OK);
    assert_int_equal(use("again", &err), PM_OK);
}

static void a_link_to_an_archive_stays_a_link(void **state)
{
    (void)state;
    struct stat st;
    assert_int_equal(mkdir("real", 0777), 0);
    make_archive("real/a");
    assert_int_equal(symlink("real/a", "link"), 0);
    make_archive("link");
    assert_int_equal(lstat("link", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
}

static void other_files_are_told_apart(void **state)
{
    (void)state;
    struct pm_error err = PM_ERROR_INIT;
    refuse("none", PM_ERR_NOT_FOUND, "there is no archive 'none'");
    refuse("/dev/null", PM_ERR_FORMAT, "'/dev/null' is not a regular file");
    assert_int_equal(pm_file_write("x", "", 0, &err), PM_OK);
    refuse("x", PM_ERR_FORMAT, "'x' is not an archive: it is empty");
    assert_int_equal(pm_file_write("x", "hello", 5, &err), PM_OK);
    refuse("x", PM_ERR_FORMAT, "'x' is not an archive: not an SQLite file");
    sqlite3 *db;
    assert_int_equal(sqlite3_open("other", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE nouns(id)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    refuse("other", PM_ERR_FORMAT,
           "'other' is not an archive: an SQLite file of application 0x00000000, not 0x50464d50");
    make_archive("a");
    assert_int_equal(sqlite3_open("a", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "DROP TABLE cost_lists", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    refuse("a", PM_ERR_FORMAT, "archive 'a': no such table: cost_lists");
    assert_int_equal(sqlite3_open("a", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 9", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    refuse("a", PM_ERR_VERSION, "archive 'a' has version 9, this perfmap reads version 8");
    assert_int_equal(sqlite3_open("a", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 2", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    refuse("a", PM_ERR_VERSION,
           "archive 'a' has version 2, this perfmap reads version 8: collect again");
}

static void the_schemas_head_and_the_code_agree(void **state)
{
    (void)state;
    char text[64];
    snprintf(text, sizeof text, "0x%x", PM_ARCHIVE_APPLICATION_ID);
    assert_non_null(strstr(pm_archive_schema(), text));
}

static void cut_archives_are_refused(void **state)
{
    (void)state;
    struct pm_error err = PM_ERROR_INIT;
    char *bytes;
    size_t len;
    make_archive("a");
    assert_int_equal(pm_file_read("a", 1 << 24, &err, &bytes, &len), PM_OK);
    for (size_t cut = 0; cut < len; cut += cut < 1024 ? 64 : 4096) {
        assert_int_equal(pm_file_write("cut", bytes, cut, &err), PM_OK);
        assert_int_equal(use("cut", &err), PM_ERR_FORMAT);
        assert_true(err.n_causes > 0);
        pm_error_release(&err);
    }
    free(bytes);
}

static void damaged_archives_are_an_error_or_read(void **state)
{
    (void)state;
    struct pm_error err = PM_ERROR_INIT;
    char *bytes;
    size_t len;
    make_archive("a");
    assert_int_equal(pm_file_read("a", 1 << 24, &err, &bytes, &len), PM_OK);
    for (size_t at = 0; at < len; at += at < 256 ? 1 : 509) {
        bytes[at] ^= 0x5a;
        FILE *out = fopen("damaged", "wb");
        assert_int_equal(fwrite(bytes, 1, len, out), len);
        fclose(out);
        bytes[at] ^= 0x5a;
        if (use("damaged", &err) != PM_OK)
            assert_true(err.n_causes > 0);
        pm_error_release(&err);
    }
    free(bytes);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(an_archive_appears_only_when_complete),
        IN_FOLDER(one_that_can_be_made_again_is_complete_as_any_other),
        IN_FOLDER(a_link_to_an_archive_stays_a_link),
        IN_FOLDER(other_files_are_told_apart),
        IN_FOLDER(the_schemas_head_and_the_code_agree),
        IN_FOLDER(cut_archives_are_refused),
        IN_FOLDER(damaged_archives_are_an_error_or_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
