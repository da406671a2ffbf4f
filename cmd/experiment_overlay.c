/* perfmap experiment overlay */
#include "experiment.h"

#include "mapping/archive/load.h"
#include "mapping/overlay/overlay.h"

#include <stdlib.h>

/* heat of runs/heat.perfmap; to be freed. NULL: memory ended. */
static char *level_named_for(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t len = strlen(name);
    if (pm_str_ends_with(name, ".perfmap"))
        len -= strlen(".perfmap");
    return pm_strndup(name, len);
}

static enum pm_status write_text(const struct experiment_request *request,
                                 const struct pm_buf *text, struct pm_error *err)
{
    if (request->output)
        return pm_file_write(request->output, text->data, text->len, err);
    fwrite(text->data, 1, text->len, stdout);
    return PM_OK;
}

static enum pm_status write_overlay(const struct experiment_request *request, struct pm_error *err)
{
    struct pm_archive_data *data;
    struct pm_buf text = PM_BUF_INIT(PM_OVERLAY_MOST_BYTES);
    char *level = request->level ? pm_strndup(request->level, strlen(request->level))
                                 : level_named_for(request->from);
    if (!level)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    enum pm_status status = pm_archive_load(request->from, PM_ARCHIVE_LOAD_MERGED, err, &data);
    if (!status) {
        status = pm_overlay_write(data->graph, level, err, &text);
        pm_archive_data_free(data);
    }
    if (!status)
        status = write_text(request, &text, err);
    pm_buf_release(&text);
    free(level);
    return status;
}

int experiment_overlay(struct cmd_parse *parse, const struct experiment_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    if (!request->from || parse->n_operands > 1)
        return cmd_usage_error(parse,
                               "'experiment overlay' takes '--from ARCHIVE', and no operand");
    if (write_overlay(request, &err) != PM_OK)
        return cmd_fail(parse, &err);
    return cmd_stdout_done(parse, CMD_DONE);
}
