#include "separate.h"

#include "bytes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define DEBUG_ROOT "/usr/lib/debug"

enum { PATH_MAX_BYTES = 1 << 14, LINK_MAX_BYTES = 1 << 14, READ_BYTES = 1 << 16 };

uint32_t pm_separate_crc32(uint32_t crc, const unsigned char *p, size_t len)
{
    static uint32_t table[256];
    if (table[1] == 0)
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t value = i;
            for (int bit = 0; bit < 8; bit++)
                value = value & 1 ? value >> 1 ^ 0xedb88320 : value >> 1;
            table[i] = value;
        }
    crc = ~crc;
    for (size_t i = 0; i < len; i++)
        crc = crc >> 8 ^ table[(crc ^ p[i]) & 0xff];
    return ~crc;
}

static bool file_crc32(const struct pm_elf_file *file, uint32_t *ret_crc)
{
    unsigned char *buffer = pm_alloc(READ_BYTES);
    uint32_t crc = 0;
    ssize_t n = 0;
    if (!buffer)
        return false;
    for (off_t at = 0; (n = pread(file->fd, buffer, READ_BYTES, at)) > 0; at += n)
        crc = pm_separate_crc32(crc, buffer, (size_t)n);
    free(buffer);
    *ret_crc = crc;
    return n == 0;
}

/* Parts one behind the other; free it. */
static char *path_of(const char *const *parts, size_t n)
{
    struct pm_buf path = PM_BUF_INIT(PATH_MAX_BYTES);
    for (size_t i = 0; i < n; i++)
        pm_buf_add_str(&path, parts[i]);
    if (path.failed) {
        pm_buf_release(&path);
        return NULL;
    }
    return pm_buf_take(&path);
}

static struct pm_elf_file *open_parts(const char *const *parts, size_t n)
{
    struct pm_elf_file *file = NULL;
    char *path = path_of(parts, n);
    if (path && pm_elf_file_open(path, NULL, &file) != PM_OK)
        file = NULL;
    free(path);
    return file;
}

#define OPEN(...)                                  \
    open_parts((const char *const[]){__VA_ARGS__}, \
               sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static bool is_same_file(const struct pm_elf_file *a, const struct pm_elf_file *b)
{
    struct pm_str x = pm_str_of(a->path), y = pm_str_of(b->path);
    return pm_str_eq(x, y);
}

/* The folder of the file, links followed, without the last '/'; free it. */
static char *folder_of(const struct pm_elf_file *file)
{
    char *real = realpath(file->path, NULL);
    char *slash = real ? strrchr(real, '/') : NULL;
    if (slash)
        *slash = '\0';
    return real;
}

static struct pm_elf_file *by_build_id(const char *build_id, struct pm_debug_notes *notes)
{
    if (strlen(build_id) < 3)
        return NULL;
    char first[3] = {build_id[0], build_id[1], '\0'};
    struct pm_elf_file *found = OPEN(DEBUG_ROOT "/.build-id/", first, "/", build_id + 2, ".debug");
    if (!found || !strcmp(found->build_id, build_id))
        return found;
    pm_debug_note(notes, "'%s' is the debug information of another build", found->path);
    pm_elf_file_close(found);
    return NULL;
}

/* .gnu_debuglink: a name, zeros up to a multiple of 4, the checksum. .gnu_debugaltlink: a name,
 * the build-id. Free the bytes. */
static bool read_link(const struct pm_elf_file *file, const char *section_name,
                      struct pm_bytes *ret_bytes)
{
    const struct pm_elf_section *section = pm_elf_file_section(file, section_name);
    struct pm_bytes bytes;
    if (!section || section->size_bytes > LINK_MAX_BYTES ||
        pm_elf_file_load(file, section, &bytes) != PM_LOAD_OK)
        return false;
    size_t len = strnlen((const char *)bytes.p, bytes.len);
    if (len == 0 || len >= bytes.len) {
        free(bytes.p);
        return false;
    }
    *ret_bytes = bytes;
    return true;
}

static struct pm_elf_file *checked(struct pm_elf_file *found, const struct pm_elf_file *file,
                                   uint32_t expected, struct pm_debug_notes *notes)
{
    uint32_t crc = 0;
    if (!found)
        return NULL;
    if (is_same_file(found, file)) { /* a link to itself */
        pm_elf_file_close(found);
        return NULL;
    }
    bool is_right = file_crc32(found, &crc) && crc == expected;
    if (is_right && file->build_id[0] && found->build_id[0])
        is_right = !strcmp(file->build_id, found->build_id);
    if (is_right)
        return found;
    pm_debug_note(notes, "'%s' is the debug information of another build than '%s'", found->path,
                  file->path);
    pm_elf_file_close(found);
    return NULL;
}

static struct pm_elf_file *by_name(const struct pm_elf_file *file, const char *name, uint32_t crc,
                                   struct pm_debug_notes *notes)
{
    char *folder = folder_of(file);
    if (!folder)
        return NULL;
    struct pm_elf_file *found = checked(OPEN(folder, "/", name), file, crc, notes);
    if (!found)
        found = checked(OPEN(folder, "/.debug/", name), file, crc, notes);
    if (!found)
        found = checked(OPEN(DEBUG_ROOT, folder, "/", name), file, crc, notes);
    free(folder);
    return found;
}

struct pm_elf_file *pm_separate_find(const struct pm_elf_file *file, struct pm_debug_notes *notes)
{
    struct pm_elf_file *found = by_build_id(file->build_id, notes);
    struct pm_bytes link;
    if (found || !read_link(file, ".gnu_debuglink", &link))
        return found;
    const char *name = (const char *)link.p;
    uint64_t crc;
    if (!strchr(name, '/') &&
        pm_fixed_at(link.p, link.len, (strlen(name) + 4) / 4 * 4, 4, file->is_big_endian, &crc))
        found = by_name(file, name, (uint32_t)crc, notes);
    if (!found)
        pm_debug_note(notes,
                      "the debug information of '%s' is in a file '%s', which was not found: "
                      "install its debug package",
                      file->path, name);
    free(link.p);
    return found;
}

static void hex_of(const struct pm_bytes *link, char ret_hex[2 * PM_BUILD_ID_MAX_BYTES + 1])
{
    size_t at = strlen((const char *)link->p) + 1;
    ret_hex[0] = '\0';
    if (link->len - at > PM_BUILD_ID_MAX_BYTES)
        return;
    for (size_t i = 0; at + i < link->len; i++)
        snprintf(ret_hex + 2 * i, 3, "%02x", link->p[at + i]);
}

struct pm_elf_file *pm_separate_supplement(const struct pm_elf_file *file,
                                           struct pm_debug_notes *notes)
{
    struct pm_bytes link;
    if (!read_link(file, ".gnu_debugaltlink", &link))
        return NULL;
    const char *name = (const char *)link.p;
    char hex[2 * PM_BUILD_ID_MAX_BYTES + 1];
    hex_of(&link, hex);
    char *folder = folder_of(file);
    struct pm_elf_file *found = NULL;
    if (name[0] == '/')
        found = OPEN(name);
    else if (folder)
        found = OPEN(folder, "/", name);
    if (found && strcmp(found->build_id, hex) != 0) {
        pm_elf_file_close(found);
        found = NULL;
    }
    if (!found)
        found = by_build_id(hex, notes);
    if (!found)
        pm_debug_note(notes,
                      "'%s' shares debug information with others in '%s' (build-id %s), which was "
                      "not found: some names are not known",
                      file->path, name, hex);
    free(folder);
    free(link.p);
    return found;
}

struct pm_elf_file *pm_separate_split(const struct pm_elf_file *file, const char *name,
                                      const char *comp_dir)
{
    struct pm_elf_file *found = NULL;
    if (name[0] == '/')
        found = OPEN(name);
    else if (comp_dir)
        found = OPEN(comp_dir, "/", name);
    char *folder = found ? NULL : folder_of(file);
    const char *slash = strrchr(name, '/');
    if (folder)
        found = OPEN(folder, "/", slash ? slash + 1 : name);
    free(folder);
    return found;
}
