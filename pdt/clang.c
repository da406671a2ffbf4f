#include "clang.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { NEWEST = 30, OLDEST = 14, OLDEST_SONAME = 13 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pdt_clang loaded;
static bool is_loaded;

/* Debian's names: libclang-19.so.19, libclang-14.so.13; others have libclang.so.N. */
static void *open_any(void)
{
    char name[64];
    for (int n = NEWEST; n >= OLDEST_SONAME; n--)
        for (int form = 0; form < 3; form++) {
            if (form == 0)
                snprintf(name, sizeof name, "libclang-%d.so.%d", n,
                         n == OLDEST ? OLDEST_SONAME : n);
            else if (form == 1)
                snprintf(name, sizeof name, "libclang-%d.so.1", n);
            else
                snprintf(name, sizeof name, "libclang.so.%d", n);
            void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
            if (library)
                return library;
        }
    void *library = dlopen("libclang.so.1", RTLD_NOW | RTLD_LOCAL);
    return library ? library : dlopen("libclang.so", RTLD_NOW | RTLD_LOCAL);
}

static enum pm_status find_functions(void *library, struct pm_error *err)
{
    if (!dlsym(library, "clang_createIndex"))
        return pm_error_set(err, PM_ERR_UNSUPPORTED, "PERFMAP_LIBCLANG: this is no libclang");
#define X(name)                                                            \
    loaded.name = (__typeof__(loaded.name))dlsym(library, "clang_" #name); \
    if (!loaded.name)                                                      \
        return pm_error_set(err, PM_ERR_UNSUPPORTED,                       \
                            "libclang has no function 'clang_" #name       \
                            "': it is older than version 14");
    PDT_CLANG_FUNCTIONS(X)
#undef X
    loaded.binary_operator = (int (*)(CXCursor))dlsym(library, "clang_getCursorBinaryOperatorKind");
    loaded.unary_operator = (int (*)(CXCursor))dlsym(library, "clang_getCursorUnaryOperatorKind");
    CXString version = loaded.getClangVersion();
    snprintf(loaded.version, sizeof loaded.version, "%s", loaded.getCString(version));
    loaded.disposeString(version);
    return PM_OK;
}

static enum pm_status load(struct pm_error *err)
{
    const char *named = getenv("PERFMAP_LIBCLANG");
    void *library = named && *named ? dlopen(named, RTLD_NOW | RTLD_LOCAL) : open_any();
    if (!library && named && *named)
        return pm_error_set(err, PM_ERR_UNSUPPORTED, "PERFMAP_LIBCLANG: %s", dlerror());
    if (!library)
        return pm_error_set(err, PM_ERR_UNSUPPORTED,
                            "there is no libclang, which reads C and C++: install libclang1-19 (or "
                            "libclang1-14, or that of another version), or name one in "
                            "PERFMAP_LIBCLANG");
    enum pm_status status = find_functions(library, err);
    if (status != PM_OK)
        dlclose(library);
    return status;
}

enum pm_status pdt_clang_load(struct pm_error *err, const struct pdt_clang **ret_clang)
{
    pthread_mutex_lock(&lock);
    enum pm_status status = is_loaded ? PM_OK : load(err);
    is_loaded = !status;
    pthread_mutex_unlock(&lock);
    if (status != PM_OK)
        return status;
    *ret_clang = &loaded;
    return PM_OK;
}

static bool is_name_of_clang(const char *name)
{
    return strstr(name, "__size_t") || strstr(name, "__signed_size_t") ||
           strstr(name, "__ptrdiff_t");
}

CXString pdt_type_spelling(const struct pdt_clang *clang, CXType type)
{
    CXString spelling = clang->getTypeSpelling(type);
    const char *text = clang->getCString(spelling);
    if (!text || !is_name_of_clang(text))
        return spelling;
    clang->disposeString(spelling);
    return clang->getTypeSpelling(clang->getCanonicalType(type));
}
