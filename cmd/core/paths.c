/* Where our own parts are. */
#include "paths.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

/* Places relative to the folder of this executable: the build tree, then install trees. */
static const char *const plugin_places[] = {"../plugin", "../" PERFMAP_INSTALL_LIBDIR "/perfmap",
                                            "../lib/" PERFMAP_TRIPLET "/perfmap", "../lib/perfmap",
                                            NULL};
static const char *const runtime_places[] = {"../runtime", "../" PERFMAP_INSTALL_LIBDIR "/perfmap",
                                             "../lib/" PERFMAP_TRIPLET "/perfmap", "../lib/perfmap",
                                             NULL};

static enum pm_status own_folder(struct pm_error *err, char **ret_folder)
{
    char path[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
    if (len < 0)
        return pm_error_system(err, errno,
                               "cannot read '/proc/self/exe' to find PerfMap's own files");
    while (len > 1 && path[len - 1] != '/')
        len--;
    *ret_folder = pm_strndup(path, (size_t)len - (len > 1));
    return *ret_folder ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* The real path of folder/place/name when it can be read, else NULL. */
static char *try_place(const char *folder, const char *place, const char *name)
{
    struct pm_buf path = PM_BUF_INIT(4 * PATH_MAX);
    pm_buf_printf(&path, "%s/%s/%s", folder, place, name);
    char *found = path.data && !path.failed && access(path.data, R_OK) == 0
                      ? realpath(path.data, NULL)
                      : NULL;
    pm_buf_release(&path);
    return found;
}

static enum pm_status find_part(const char *name, const char *const *places, struct pm_error *err,
                                char **ret_path)
{
    const char *libdir = getenv("PERFMAP_LIBDIR");
    if (libdir && *libdir) {
        *ret_path = try_place(libdir, ".", name);
        return *ret_path ? PM_OK
                         : pm_error_set(err, PM_ERR_NOT_FOUND,
                                        "cannot find '%s' in PERFMAP_LIBDIR '%s'", name, libdir);
    }
    char *folder = NULL;
    if (own_folder(err, &folder) != PM_OK)
        return pm_error_add(err, "cannot find '%s'", name);
    *ret_path = NULL;
    for (const char *const *place = places; *place && !*ret_path; place++)
        *ret_path = try_place(folder, *place, name);
    enum pm_status status = PM_OK;
    if (!*ret_path) /* the first place is the build tree's, the last one any install tree's */
        status = pm_error_set(err, PM_ERR_NOT_FOUND,
                              "cannot find '%s': looked in '%s/%s', '%s/../lib/perfmap' and so on "
                              "(set PERFMAP_LIBDIR to its folder)",
                              name, folder, places[0], folder);
    free(folder);
    return status;
}

enum pm_status cmd_find_plugin(struct pm_error *err, char **ret_path)
{
    return find_part("perfmap.so", plugin_places, err, ret_path);
}

enum pm_status cmd_find_runtime(struct pm_error *err, char **ret_path)
{
    return find_part("libperfmap-rt.so", runtime_places, err, ret_path);
}

enum pm_status cmd_find_library(const char *name, struct pm_error *err, char **ret_path)
{
    return find_part(name, runtime_places, err, ret_path);
}

char *cmd_find_beside_plugin(const char *name)
{
    char *plugin = NULL;
    if (cmd_find_plugin(NULL, &plugin) != PM_OK)
        return NULL;
    char *slash = strrchr(plugin, '/');
    *slash = 0;
    char *found = try_place(plugin, ".", name);
    free(plugin);
    return found;
}

enum pm_status cmd_find_include(struct pm_error *err, char **ret_path)
{
    static const char *const places[] = {"../../../runtime/include", "../include"};
    char *folder = NULL, *header = NULL;
    if (own_folder(err, &folder) != PM_OK)
        return pm_error_add(err, "cannot find 'perfmap.h'");
    for (size_t i = 0; i < sizeof places / sizeof *places && !header; i++)
        header = try_place(folder, places[i], "perfmap.h");
    enum pm_status status = PM_OK;
    if (header)
        *strrchr(header, '/') = 0;
    else
        status = pm_error_set(err, PM_ERR_NOT_FOUND,
                              "cannot find 'perfmap.h': looked in '%s/%s' and '%s/%s'", folder,
                              places[0], folder, places[1]);
    *ret_path = header;
    free(folder);
    return status;
}

char *cmd_find_annotations(const char *library)
{
    static const char *const places[] = {"../../../pdt/annotations", "../share/perfmap/wrap"};
    struct pm_error err = PM_ERROR_INIT;
    struct pm_buf name = PM_BUF_INIT(PATH_MAX);
    char *folder = NULL, *found = NULL;
    pm_buf_printf(&name, "%s.txt", library);
    bool is_name = name.data && !strchr(library, '/');
    if (own_folder(&err, &folder) != PM_OK)
        pm_error_release(&err);
    else if (is_name)
        for (size_t i = 0; i < sizeof places / sizeof *places && !found; i++)
            found = try_place(folder, places[i], name.data);
    pm_buf_release(&name);
    free(folder);
    return found;
}
