/* Files of the source: one absolute name, and one pointer for it. */
#include "paths.h"

#include "../../mapping/base/arena.h"
#include "../../mapping/base/map.h"
#include "../../mapping/base/path.h"

#include <stdlib.h>

enum { MAX_BYTES = 1 << 20 };

struct file {
    const char *name, *shown;
};

struct pm_paths {
    pm_path_map *map;
    struct pm_intern *strings;
    /* By the address of a string of `strings`: position in files + 1. */
    struct pm_map by_spelling; /* folder and name */
    struct pm_map by_name;     /* absolute */
    struct file *files;
    uint32_t n, cap;
};

struct pm_paths *pm_paths_new(pm_path_map *map)
{
    struct pm_paths *paths = pm_alloc(sizeof *paths);
    if (!paths)
        return NULL;
    paths->map = map;
    paths->strings = pm_intern_new();
    if (paths->strings)
        return paths;
    free(paths);
    return NULL;
}

void pm_paths_free(struct pm_paths *paths)
{
    if (!paths)
        return;
    pm_intern_free(paths->strings);
    pm_map_release(&paths->by_spelling);
    pm_map_release(&paths->by_name);
    free(paths->files);
    free(paths);
}

/* NULL: memory. The buffer is released. */
static const char *intern(struct pm_paths *paths, struct pm_buf *text)
{
    const char *kept = text->failed ? NULL : pm_intern_add(paths->strings, text->data, text->len);
    pm_buf_release(text);
    return kept;
}

static const char *intern_spelling(struct pm_paths *paths, const char *spelt, const char *folder)
{
    struct pm_buf text = PM_BUF_INIT(MAX_BYTES);
    if (spelt[0] != '/')
        pm_buf_add_str(&text, folder);
    pm_buf_add_byte(&text, '\n');
    pm_buf_add_str(&text, spelt);
    return intern(paths, &text);
}

static const char *absolute_name(struct pm_paths *paths, const char *spelt, const char *folder)
{
    struct pm_buf name = PM_BUF_INIT(MAX_BYTES);
    pm_path_add_absolute(&name, folder, spelt);
    if (name.failed || !paths->map)
        return intern(paths, &name);
    const char *mapped = paths->map(name.data);
    const char *kept = pm_intern_add(paths->strings, mapped, strlen(mapped));
    pm_buf_release(&name);
    return kept;
}

/* 0: memory. */
static uint32_t add_file(struct pm_paths *paths, const char *name, const char *spelt)
{
    struct file *files = pm_grow_array(paths->files, paths->n, &paths->cap, 16, sizeof *files);
    if (!files)
        return 0;
    paths->files = files;
    const char *shown = pm_intern_add(paths->strings, spelt, strlen(spelt));
    if (!shown)
        return 0;
    files[paths->n] = (struct file){name, shown};
    return ++paths->n;
}

/* 0: memory. */
static uint32_t file_named(struct pm_paths *paths, const char *spelt, const char *folder)
{
    const char *name = absolute_name(paths, spelt, folder);
    uint32_t *at = name ? pm_map_at(&paths->by_name, (uintptr_t)name) : NULL;
    if (at && *at == 0)
        *at = add_file(paths, name, spelt);
    return at ? *at : 0;
}

bool pm_paths_set_file(struct pm_paths *paths, const char *spelt, const char *folder,
                       struct pm_place *ret_place)
{
    const char *key = intern_spelling(paths, spelt, folder);
    uint32_t at = key ? pm_map_get(&paths->by_spelling, (uintptr_t)key) : 0;
    if (key && at == 0) {
        at = file_named(paths, spelt, folder);
        if (at == 0 || !pm_map_put(&paths->by_spelling, (uintptr_t)key, at))
            return false;
    }
    if (at == 0)
        return false;
    ret_place->file = paths->files[at - 1].name;
    ret_place->shown = paths->files[at - 1].shown;
    return true;
}

bool pm_paths_set_known(struct pm_paths *paths, const char *file, const char *shown,
                        struct pm_place *ret_place)
{
    const char *name = pm_intern_add(paths->strings, file, strlen(file));
    uint32_t *at = name ? pm_map_at(&paths->by_name, (uintptr_t)name) : NULL;
    if (at && *at == 0)
        *at = add_file(paths, name, shown);
    if (!at || *at == 0)
        return false;
    ret_place->file = paths->files[*at - 1].name;
    ret_place->shown = paths->files[*at - 1].shown;
    return true;
}
