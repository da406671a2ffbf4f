/* CSV: the call paths with all columns, as 'perfmap report --tree --csv' has them. */
#include "export.h"

#include "cmd/show/formats.h"

static enum pm_status write_csv(struct pm_profile *profile, const struct export_notes *notes,
                                FILE *out, struct pm_error *err)
{
    struct show_look look = {0};
    (void)notes;
    return show_format_csv.rows(&profile->tree, &look, out)
               ? PM_OK
               : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

const struct export_format export_format_csv = {.word = "csv", .profile = write_csv};
