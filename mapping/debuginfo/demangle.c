#include "debuginfo.h"

#include "../base/cxx_name.h"
#include "../base/str.h"

#include <dlfcn.h>
#include <stdlib.h>

/* __cxa_demangle of libstdc++ (Itanium C++ ABI, section 3.4; <cxxabi.h> is C++). The library is
 * loaded for the first name of C++: its relocations would cost each start of a command 1 ms.
 * Without it names stay as they are. */
typedef char *demangle_fn(const char *mangled, char *buffer, size_t *len, int *ret_status);

static demangle_fn *demangler(void)
{
    static demangle_fn *found;
    static bool looked;
    if (!looked) {
        void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        if (library)
            found = (demangle_fn *)dlsym(library, "__cxa_demangle");
        looked = true;
    }
    return found;
}

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
    demangle_fn *demangle = demangler();
    int status = 0;
    if (!demangle)
        return NULL;
    char *text = demangle(linkage, NULL, NULL, &status);
    if (status != 0) {
        free(text);
        return NULL;
    }
    struct pm_buf coroutine = PM_BUF_INIT(1 << 24);
    if (!pm_cxx_name_coroutine(text, &coroutine)) {
        pm_buf_release(&coroutine);
        return text;
    }
    free(text);
    return pm_buf_take(&coroutine);
}

/* __mod_MOD_proc of GNU Fortran. Module and procedure may hold "_MOD_" only in upper case, which
 * Fortran's names have not. A clone's mark (".constprop.0") is shown as C++'s are. */
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
