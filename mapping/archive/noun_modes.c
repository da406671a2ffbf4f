#include "noun_modes.h"

#include "archive.h"

static enum pm_status read_rows(struct pm_archive *archive, sqlite3_stmt *row,
                                pm_noun_mode_visit *visit, void *context, struct pm_error *err)
{
    for (bool has_row;;) {
        enum pm_run_mode mode;
        enum pm_status status = pm_archive_step(archive, row, err, &has_row);
        if (status != PM_OK || !has_row)
            return status;
        if (pm_mode_of(pm_archive_text(row, 1), &mode) &&
            !visit(context, (uint64_t)sqlite3_column_int64(row, 0), mode))
            return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
}

enum pm_status pm_archive_noun_modes(const char *path, pm_noun_mode_visit *visit, void *context,
                                     struct pm_error *err)
{
    struct pm_archive *archive;
    sqlite3_stmt *row;
    enum pm_status status = pm_archive_open(path, err, &archive);
    if (status != PM_OK)
        return status;
    status = pm_archive_prepare(
        archive, "SELECT n.pif_id, m.mode FROM noun_modes m JOIN nouns n ON n.id = m.noun", err,
        &row);
    if (!status)
        status = read_rows(archive, row, visit, context, err);
    sqlite3_finalize(row);
    pm_archive_close(archive);
    return status;
}
