/* Names of C++ as people say them, for tables only; JSON and CSV have names in full. */
#include "view.h"

#include "mapping/base/cxx_name.h"

enum { NAME_BYTES = 1 << 20 };

/* What was added to out, kept in the arena; the name itself when nothing was. Releases out. */
static const char *keep(struct pm_arena *arena, struct pm_buf *out, bool good, const char *name)
{
    const char *copy = good ? pm_arena_strndup(arena, out->data, out->len) : NULL;
    pm_buf_release(out);
    return copy ? copy : name;
}

const char *pm_view_short_name(struct pm_arena *arena, const char *printable)
{
    struct pm_buf out = PM_BUF_INIT(NAME_BYTES);
    return strstr(printable, "std::")
               ? keep(arena, &out, pm_cxx_shorten(printable, &out), printable)
               : printable;
}

const char *pm_view_without_parameters(struct pm_arena *arena, const char *printable)
{
    struct pm_buf out = PM_BUF_INIT(NAME_BYTES);
    return keep(arena, &out, pm_cxx_cut_parameters(printable, &out), printable);
}
