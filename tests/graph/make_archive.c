/* make_archive SCRIPT.sql ARCHIVE: an archive with the rows that an SQL script inserts. For tests
 * that need an archive to be so and not otherwise. */
#include "mapping/archive/archive.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_archive *archive = NULL;
    char *sql = NULL;
    size_t len = 0;
    if (argc != 3) {
        fputs("usage: make_archive SCRIPT.sql ARCHIVE\n", stderr);
        return 2;
    }
    enum pm_status status = pm_file_read(argv[1], 1 << 26, &err, &sql, &len);
    if (status == PM_OK)
        status = pm_archive_create(argv[2], &err, &archive);
    if (status == PM_OK &&
        sqlite3_exec(pm_archive_db(archive), sql, NULL, NULL, NULL) != SQLITE_OK) {
        status = pm_archive_error(archive, &err);
        pm_archive_discard(archive);
    } else if (status == PM_OK) {
        status = pm_archive_finish(archive, &err);
    }
    free(sql);
    if (status != PM_OK)
        pm_error_print(&err, stderr);
    pm_error_release(&err);
    return status != PM_OK;
}
