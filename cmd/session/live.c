#include "live.h"

#include "client.h"
#include "mapping/collect/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static enum pm_status make_folder(struct live_run *run, struct pm_error *err)
{
    const char *place = getenv("TMPDIR");
    struct pm_buf folder = PM_BUF_INIT(PATH_MAX), archive = PM_BUF_INIT(PATH_MAX);
    enum pm_status status = PM_OK;
    pm_buf_printf(&folder, "%s/perfmap-live-XXXXXX", place && *place ? place : "/tmp");
    if (folder.failed)
        goto no_memory;
    if (!mkdtemp(folder.data)) {
        status = pm_error_system(err, errno, "cannot make a folder '%s'", folder.data);
        pm_buf_release(&folder);
        return status;
    }
    pm_buf_printf(&archive, "%s/live.perfmap", folder.data);
    run->folder = pm_buf_take(&folder);
    run->archive = archive.failed ? NULL : pm_buf_take(&archive);
    pm_buf_release(&archive);
    if (run->folder && run->archive)
        return PM_OK;
no_memory:
    pm_buf_release(&folder);
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

enum pm_status live_run_open(uint64_t pid, struct pm_error *err, struct live_run *ret_run)
{
    *ret_run = (struct live_run){0};
    enum pm_status status = session_client_find(pid, err, ret_run->dir);
    return status != PM_OK ? status : make_folder(ret_run, err);
}

enum pm_status live_run_collect(const struct live_run *run, struct pm_error *err)
{
    const char *runs[] = {run->dir};
    struct pm_collect_options options = {.size = sizeof options};
    struct pm_collect_result result = {0};
    enum pm_status status = pm_collect(runs, 1, run->archive, &options, err, &result);
    pm_collect_result_release(&result); /* its warnings are told when the run is over */
    return status;
}

void live_run_close(struct live_run *run)
{
    if (run->archive)
        unlink(run->archive);
    if (run->folder)
        rmdir(run->folder);
    free(run->archive);
    free(run->folder);
    *run = (struct live_run){0};
}
