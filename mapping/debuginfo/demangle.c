#include "debuginfo.h"

#include "../base/str.h"

#include <stdlib.h>

/* Of libstdc++ (Itanium C++ ABI, section 3.4). Declared here, for <cxxabi.h> is C++. */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *len, int *ret_status);

/* A longer name is shown as it is: with back references its text may be exponentially longer. */
enum { MANGLED_MAX_BYTES = 8192, REFERENCES_MAX = 1024 };

/* Back references of types (S_, S0_, ...) and template arguments (T_, ...). */
static size_t n_references(const char *mangled)
{
    size_t n = 0;
    for (const char *p = mangled; *p; p++)
        n += (*p == 'S' || *p == 'T') && (p[1] == '_' || (p[1] >= '0' && p[1] <= '9'));
    return n;
}

static char *cplusplus(const char *linkage)
{
    if (strlen(linkage) > MANGLED_MAX_BYTES || n_references(linkage) > REFERENCES_MAX)
        return NULL;
    int status = 0;
    char *text = __cxa_demangle(linkage, NULL, NULL, &status);
    if (status == 0)
        return text;
    free(text);
    return NULL;
}

/* __mod_MOD_proc of GNU Fortran. Module and procedure may hold "_MOD_" only in upper case, which Fortran's names have not. A clone's mark
 * (".constprop.0") is shown as C++'s are. */
static char *fortran(const char *linkage)
{
    const char *module = linkage + 2, *mark = strstr(module, "_MOD_");
    if (!mark || mark == module || mark[5] == '\0')
        return NULL;
    const char *procedure = mark + 5, *clone = strchr(procedure, '.');
    struct pm_buf text = PM_BUF_INIT(2 * MANGLED_MAX_BYTES);
    pm_buf_add(&text, module, (size_t)(mark - module));
    pm_buf_add_str(&text, "::");
    pm_buf_add(&text, procedure, clone ? (size_t)(clone - procedure) : strlen(procedure));
    if (clone)
        pm_buf_printf(&text, " [clone %s]", clone);
    if (text.failed) {
        pm_buf_release(&text);
        return NULL;
    }
    return pm_buf_take(&text);
}

char *pm_debug_demangle(const char *linkage)
{
    char *text = NULL;
    if (!strncmp(linkage, "_Z", 2))
        text = cplusplus(linkage);
    else if (!strncmp(linkage, "__", 2))
        text = fortran(linkage);
    return text ? text : pm_strndup(linkage, strlen(linkage));
}
