/* Names of files without detours. */
#include "path.h"

#include <stdlib.h>
#include <sys/stat.h>

static bool is_name(const char *part, size_t len, const char *name)
{
    return len == strlen(name) && memcmp(part, name, len) == 0;
}

/* Cuts the last part; "/" has none. */
static char *cut_last(char *begin, char *end)
{
    while (end > begin && *--end != '/')
        continue;
    return end;
}

/* Drops "." and "//", and with drops_parents "x/.." of an absolute path. In place. */
static void drop_detours(char *path, bool drops_parents)
{
    char *out = path;
    const char *p = path;
    while (*p != 0) {
        p += strspn(p, "/");
        size_t len = strcspn(p, "/");
        if (drops_parents && is_name(p, len, "..")) {
            out = cut_last(path, out);
        } else if (len != 0 && !is_name(p, len, ".")) {
            *out++ = '/';
            memmove(out, p, len);
            out += len;
        }
        p += len;
    }
    if (out == path)
        *out++ = '/';
    *out = 0;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_ino == other.st_ino &&
           one.st_dev == other.st_dev;
}

/* Where there is no such file (any more), "x/.." is taken for what it looks like. */
static bool is_elsewhere(const char *path, const char *without_parents)
{
    struct stat status;
    return stat(path, &status) == 0 && !is_same_file(path, without_parents);
}

static void add_straight(struct pm_buf *out, char *path)
{
    drop_detours(path, false);
    char *straight = strstr(path, "/../") ? pm_strndup(path, strlen(path)) : NULL;
    if (straight)
        drop_detours(straight, true);
    else if (strstr(path, "/../"))
        out->failed = true;
    pm_buf_add_str(out, straight && !is_elsewhere(path, straight) ? straight : path);
    free(straight);
}

void pm_path_add_absolute(struct pm_buf *out, const char *folder, const char *name)
{
    struct pm_buf whole = PM_BUF_INIT(SIZE_MAX / 2);
    if (name[0] != '/') {
        pm_buf_add_str(&whole, folder);
        pm_buf_add_byte(&whole, '/');
        while (name[0] == '.' && name[1] == '/')
            name += 2;
    }
    pm_buf_add_str(&whole, name);
    pm_buf_add(&whole, "", 0); /* so that there is a text */
    if (whole.failed)
        out->failed = true;
    else if (whole.data[0] == '/')
        add_straight(out, whole.data);
    else
        pm_buf_add(out, whole.data, whole.len);
    pm_buf_release(&whole);
}
