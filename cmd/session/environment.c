/* The environment of a measured program (environment.h). */
#include "environment.h"
#include "plan.h"

#include "cmd/core/paths.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void session_preload_release(struct session_preload *preload)
{
    for (int i = 0; i < SESSION_MAX_LIBRARIES; i++) {
        struct pm_buf path = PM_BUF_INIT(4096);
        if (preload->link_dir && preload->libraries[i]) {
            pm_buf_printf(&path, "%s/%s", preload->link_dir, file_name(preload->libraries[i]));
            if (!path.failed)
                unlink(path.data);
        }
        pm_buf_release(&path);
        free(preload->libraries[i]);
    }
    if (preload->link_dir)
        rmdir(preload->link_dir);
    free(preload->link_dir);
    free(preload->list);
}

static enum pm_status make_link_dir(struct session_preload *preload, struct pm_error *err)
{
    char folder[] = "/tmp/perfmap-XXXXXX";
    if (!mkdtemp(folder))
        return pm_error_system(
            err, errno,
            "cannot make a folder in '/tmp' for a link to '%s' (LD_PRELOAD takes no path "
            "with blanks or colons)",
            preload->libraries[0]);
    preload->link_dir = pm_strndup(folder, strlen(folder));
    if (!preload->link_dir) {
        rmdir(folder);
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    return PM_OK;
}

/* LD_PRELOAD separates by blanks and colons and knows no quoting: paths that hold some get links
 * in a folder without. */
enum pm_status session_preload_make(const struct session_settings *settings, struct pm_error *err,
                                    struct session_preload *ret_preload)
{
    struct session_preload preload = {{NULL}, NULL, NULL};
    struct pm_buf list = PM_BUF_INIT(SESSION_MAX_LIBRARIES * PATH_MAX);
    int n = 1;
    enum pm_status status = cmd_find_runtime(err, &preload.libraries[0]);
    const struct {
        const char *name;
        bool is_needed;
    } own[] = {{"libperfmap-heap.so", settings->runtime.heap},
               {"libperfmap-sources.so", settings->counts_libraries}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (status == PM_OK && own[i].is_needed)
            status = cmd_find_library(own[i].name, err, &preload.libraries[n++]);
    for (size_t i = 0; i < settings->adapters.n && status == PM_OK; i++) {
        const char *path = settings->adapters.paths[i];
        preload.libraries[n] = pm_strndup(path, strlen(path));
        if (!preload.libraries[n++])
            status = pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    if (status == PM_OK && strpbrk(preload.libraries[0], " \t\n:;"))
        status = make_link_dir(&preload, err);
    for (int i = 0; i < SESSION_MAX_LIBRARIES && status == PM_OK && preload.libraries[i]; i++) {
        size_t start = list.len + (i > 0);
        if (i)
            pm_buf_add_byte(&list, ':');
        if (!preload.link_dir) {
            pm_buf_add_str(&list, preload.libraries[i]);
            continue;
        }
        pm_buf_printf(&list, "%s/%s", preload.link_dir, file_name(preload.libraries[i]));
        if (!list.failed && symlink(preload.libraries[i], list.data + start) != 0)
            status =
                pm_error_system(err, errno, "cannot make a link to '%s'", preload.libraries[i]);
    }
    if (status == PM_OK && list.failed)
        status = pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (status == PM_OK)
        preload.list = pm_buf_take(&list);
    pm_buf_release(&list);
    if (status == PM_OK)
        *ret_preload = preload;
    else
        session_preload_release(&preload);
    return status;
}

/* Programs built with -fsanitize=address refuse any library loaded before theirs, unless told. */
static bool allow_sanitizer(void)
{
    const char *others = getenv("ASAN_OPTIONS");
    if (others && strstr(others, "verify_asan_link_order"))
        return true;
    struct pm_buf list = PM_BUF_INIT(1 << 20);
    pm_buf_printf(&list, "%s%sverify_asan_link_order=0", others ? others : "",
                  others && *others ? ":" : "");
    bool ok = !list.failed && setenv("ASAN_OPTIONS", list.data, 1) == 0;
    pm_buf_release(&list);
    return ok;
}

static bool preload(const char *preload_list)
{
    const char *others = getenv("LD_PRELOAD");
    struct pm_buf list = PM_BUF_INIT(1 << 20);
    pm_buf_printf(&list, "%s%s%s", preload_list, others && *others ? ":" : "",
                  others ? others : "");
    bool ok = !list.failed && setenv("LD_PRELOAD", list.data, 1) == 0;
    pm_buf_release(&list);
    return ok;
}

void session_settings_texts(const struct session_settings *settings, const char *run_dir,
                            uint32_t run_pid, uint32_t first_pid, struct pm_buf *texts)
{
    struct pm_settings told = settings->runtime;
    char room[PM_SETTING_TEXT_BYTES];
    told.run_dir = run_dir;
    told.run_pid = run_pid;
    told.first_pid = first_pid;
    session_add_adapter_options(&settings->adapters, texts);
    for (size_t i = 0; i < PM_N_SETTINGS; i++) {
        const struct pm_setting *setting = &pm_setting_table[i];
        if (pm_setting_is_given(setting, &told))
            pm_buf_printf(texts, "%s=%s%c", setting->name, pm_setting_text(setting, &told, room),
                          0);
    }
    pm_buf_add_byte(texts, 0);
}

static bool set(const char *text)
{
    const char *value = strchr(text, '=');
    char *name = strndup(text, (size_t)(value - text));
    bool is_set = name && setenv(name, value + 1, 1) == 0;
    free(name);
    return is_set;
}

/* With perfmap run as the one that takes over orphans (child.c), a process whose parent has ended
 * would see another than it expects: by the two numbers the runtime answers 1
 * (runtime/guest/wrap.c). */
bool session_set_environment(const char *preload_list, const char *run_dir,
                             const struct session_settings *settings)
{
    struct pm_buf texts = PM_BUF_INIT(1 << 20);
    session_settings_texts(settings, run_dir, (uint32_t)getppid(), (uint32_t)getpid(), &texts);
    bool ok = !texts.failed && allow_sanitizer() && preload(preload_list);
    for (const char *text = texts.data; ok && *text; text += strlen(text) + 1)
        ok = set(text);
    pm_buf_release(&texts);
    return ok;
}
