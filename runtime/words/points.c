/* Mapping points: which of them are asked for. `perfmap run --mapping-points` names them; after
 * Irvin and Miller, who let a tool switch a run-time library's mapping points like any other
 * instrumentation.
 */
#include "runtime/words/api.h"

#include <string.h>

/* pattern: up to `end`, with * for any number of characters. */
static bool matches(const char *pattern, const char *end, const char *name)
{
    const char *star = NULL, *again = NULL;
    while (*name != 0) {
        if (pattern < end && *pattern == '*') {
            star = ++pattern;
            again = name;
        } else if (pattern < end && *pattern == *name) {
            pattern++;
            name++;
        } else if (star != NULL) {
            pattern = star;
            name = ++again;
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == '*')
        pattern++;
    return pattern == end;
}

bool pm_words_point_is_asked(const char *name)
{
    for (const char *p = pm_process.mapping_points; *p != 0;) {
        const char *end = p;
        while (*end != 0 && *end != ',')
            end++;
        if (matches(p, end, name))
            return true;
        p = *end != 0 ? end + 1 : end;
    }
    return false;
}
