#include "names.h"

#include "str.h"

#include <fnmatch.h>
#include <stdlib.h>

enum { PLACE_BYTES = 4400 }; /* of the longest path, with line and column */

bool pm_name_fits(const struct pm_name_pattern *pattern, const char *text)
{
    return *text && ((pattern->is_plain_too && !strcmp(pattern->text, text)) ||
                     fnmatch(pattern->text, text, pattern->flags) == 0);
}

bool pm_name_fits_path(const struct pm_name_pattern *pattern, const char *path)
{
    bool found = pm_name_fits(pattern, path);
    for (const char *slash = strchr(path, '/'); slash && !found; slash = strchr(slash + 1, '/'))
        found = pm_name_fits(pattern, slash + 1);
    return found;
}

bool pm_name_fits_place(const struct pm_name_pattern *pattern, const char *file, uint32_t line_no,
                        uint32_t column_no)
{
    char place[PLACE_BYTES];
    if (!*file || !line_no)
        return false;
    int n = snprintf(place, sizeof place, "%s:%u", file, line_no);
    if (n < 0 || (size_t)n >= sizeof place - 16)
        return false;
    if (pm_name_fits_path(pattern, place))
        return true;
    snprintf(place + n, sizeof place - (size_t)n, ":%u", column_no);
    return column_no && pm_name_fits_path(pattern, place);
}

bool pm_name_fits_part(const struct pm_name_pattern *pattern, const char *name, const char *ends)
{
    size_t len = strcspn(name, ends);
    const char *last = NULL;
    for (const char *p = strstr(name, "::"); p && p < name + len; p = strstr(p + 2, "::"))
        if (pm_name_fits(pattern, last = p + 2))
            return true;
    if (len == 0 || !name[len])
        return false;
    char *plain = pm_strndup(name, len);
    bool found = plain && (pm_name_fits(pattern, plain) ||
                           (last && pm_name_fits(pattern, plain + (last - name))));
    free(plain);
    return found;
}
