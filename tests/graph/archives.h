/* Archives with the rows that an SQL script inserts. For tests that need an archive to be so and
 * not otherwise. */
#ifndef PM_TEST_ARCHIVES_H
#define PM_TEST_ARCHIVES_H

#include "mapping/archive/archive.h"

#include <stdlib.h>

/* more: further SQL, behind the script's. False: the reason was printed. */
static inline bool make_archive(const char *script, const char *more, const char *name)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_archive *archive = NULL;
    char *sql = NULL;
    size_t len = 0;
    enum pm_status status = pm_file_read(script, 1 << 26, &err, &sql, &len);
    if (status == PM_OK)
        status = pm_archive_create(name, &err, &archive);
    if (status == PM_OK &&
        (sqlite3_exec(pm_archive_db(archive), sql, NULL, NULL, NULL) != SQLITE_OK ||
         sqlite3_exec(pm_archive_db(archive), more, NULL, NULL, NULL) != SQLITE_OK)) {
        status = pm_archive_error(archive, &err);
        pm_archive_discard(archive);
    } else if (status == PM_OK) {
        status = pm_archive_finish(archive, &err);
    }
    free(sql);
    if (status != PM_OK)
        pm_error_print(&err, stderr);
    pm_error_release(&err);
    return status == PM_OK;
}

#endif
