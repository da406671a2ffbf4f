/* A bit of an archive that has flipped since it was written is noticed, wherever it is; what
 * SQLite has changed since is none. */
#include "mapping/archive/archive.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64], path[128];
static char *bytes;
static size_t len, pages_len;

static int make_archive(void **state)
{
    (void)state;
    struct pm_archive *archive;
    snprintf(folder, sizeof folder, "/tmp/perfmap-sum-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/a.perfmap", folder);
    if (pm_archive_create(path, NULL, &archive) != PM_OK ||
        sqlite3_exec(pm_archive_db(archive),
                     "INSERT INTO levels VALUES (1, 'Base', NULL);"
                     "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)"
                     "INSERT INTO verbs SELECT i, 1, 'verb ' || i, NULL FROM n",
                     NULL, NULL, NULL) != SQLITE_OK ||
        pm_archive_finish(archive, NULL) != PM_OK ||
        pm_file_read(path, 1 << 24, NULL, &bytes, &len) != PM_OK)
        return -1;
    pages_len = len / 16384 * 16384;
    return 0;
}

static int remove_archive(void **state)
{
    (void)state;
    free(bytes);
    unlink(path);
    return rmdir(folder);
}

static enum pm_status open_it(struct pm_error *err)
{
    struct pm_archive *archive;
    enum pm_status status = pm_archive_open(path, err, &archive);
    if (status == PM_OK)
        pm_archive_close(archive);
    return status;
}

static void put_back(size_t size)
{
    int fd = open(path, O_WRONLY | O_TRUNC);
    assert_int_equal(pwrite(fd, bytes, size, 0), (ssize_t)size);
    close(fd);
}

static void expect_noticed(int fd, size_t at, unsigned bit)
{
    unsigned char value = (unsigned char)((unsigned char)bytes[at] ^ 1u << bit);
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pwrite(fd, &value, 1, (off_t)at), 1);
    if (open_it(&err) == PM_OK)
        fail_msg("bit %u of byte %zu of %zu has flipped, and nobody says so", bit, at, len);
    assert_non_null(strstr(pm_error_text(&err), path));
    pm_error_release(&err);
    assert_int_equal(pwrite(fd, &bytes[at], 1, (off_t)at), 1);
}

static void every_flipped_bit_is_noticed(void **state)
{
    (void)state;
    size_t magic_at = len - 32;
    uint64_t random = 42;
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    for (size_t at = 0; at < 128; at++) /* the head, byte by byte */
        expect_noticed(fd, at, at % 8);
    for (size_t at = pages_len; at < len; at++)
        if (at < magic_at || at >= magic_at + 8) /* without it there are no checksums */
            expect_noticed(fd, at, at % 8);
    for (int i = 0; i < 500; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        expect_noticed(fd, (size_t)(random >> 20) % pages_len, random >> 16 & 7);
    }
    close(fd);
    assert_int_equal(open_it(NULL), PM_OK);
}

static void the_message_says_where(void **state)
{
    (void)state;
    struct pm_error err = PM_ERROR_INIT;
    int fd = open(path, O_WRONLY);
    unsigned char value = (unsigned char)((unsigned char)bytes[70000] ^ 1u);
    assert_int_equal(pwrite(fd, &value, 1, 70000), 1);
    close(fd);
    assert_int_equal(open_it(&err), PM_ERR_FORMAT);
    assert_non_null(strstr(pm_error_text(&err), "bytes 65536 to "));
    assert_non_null(strstr(pm_error_text(&err), "damaged"));
    pm_error_release(&err);
    put_back(len);
}

static void what_sqlite_has_changed_is_read(void **state)
{
    (void)state;
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE verbs SET name = 'other'", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(open_it(NULL), PM_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "WITH n(i) AS (SELECT 5000 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)"
                     "INSERT INTO verbs SELECT i, 1, 'verb ' || i, NULL FROM n",
                     NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(open_it(NULL), PM_OK);
    put_back(len);
}

static void what_has_no_checksums_is_read(void **state)
{
    (void)state;
    put_back(pages_len);
    assert_int_equal(open_it(NULL), PM_OK);
    put_back(pages_len + 40); /* half of them */
    assert_int_equal(open_it(NULL), PM_OK);
    put_back(len);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flipped_bit_is_noticed),
        cmocka_unit_test(the_message_says_where),
        cmocka_unit_test(what_sqlite_has_changed_is_read),
        cmocka_unit_test(what_has_no_checksums_is_read),
    };
    return cmocka_run_group_tests(tests, make_archive, remove_archive);
}
