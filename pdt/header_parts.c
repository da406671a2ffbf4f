/* Which files are the header: those that its makers split it into, and none of other libraries. */
#include "header_internal.h"

#include <stdlib.h>

char *header_file_path(const struct pdt_clang *clang, CXFile file)
{
    CXString name = clang->getFileName(file);
    const char *text = clang->getCString(name);
    char *path = text ? realpath(text, NULL) : NULL;
    clang->disposeString(name);
    return path;
}

size_t header_folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static char *includer_path(const struct pdt_clang *clang, CXSourceLocation place)
{
    CXFile file;
    clang->getExpansionLocation(place, &file, NULL, NULL, NULL);
    return file ? header_file_path(clang, file) : NULL;
}

/* stack: the places that include it, the nearest first. */
static void add_inclusion(CXFile file, CXSourceLocation *stack, unsigned n_stack, CXClientData data)
{
    struct header_reading *reading = data;
    char *path = n_stack ? header_file_path(reading->clang, file) : NULL;
    if (!path)
        return;
    void *grown = pm_grow_array(reading->inclusions, reading->n_inclusions,
                                &reading->cap_inclusions, 64, sizeof *reading->inclusions);
    if (!grown) {
        reading->failed = true;
        free(path);
        return;
    }
    reading->inclusions = grown;
    reading->inclusions[reading->n_inclusions++] = (struct header_inclusion){
        .path = path, .includer = includer_path(reading->clang, stack[0])};
}

/* --- the rule --- */

/* One in the folder of its name beside it (lzma/base.h of lzma.h), one beside it that begins with
 * its name (mpi_proto.h of mpi.h), or, where its name has a folder (curl/curl.h), any of that. */
static bool is_beside(const char *root, const char *file, bool is_of_folder)
{
    size_t folder = header_folder_length(root);
    size_t stem = folder + strcspn(root + folder, ".");
    bool is_same_folder = !strncmp(root, file, folder) && !strchr(file + folder, '/');
    if (is_same_folder && is_of_folder)
        return true;
    return !strncmp(root, file, stem) &&
           (file[stem] == '/' || (file[stem] == '_' && is_same_folder));
}

/* bits/mathcalls.h: libc's own, which no program may include. */
static bool is_of_bits(const char *path)
{
    static const char bits[] = "/bits/";
    size_t folder = header_folder_length(path), len = sizeof bits - 1;
    return folder >= len && !memcmp(path + folder - len, bits, len);
}

static bool has_part(const struct header_reading *reading, const char *path)
{
    for (uint32_t i = 0; path && i < reading->n_inclusions; i++)
        if (reading->inclusions[i].is_part && !strcmp(reading->inclusions[i].path, path))
            return true;
    return false;
}

static bool is_new_part(const struct header_reading *reading, const struct header_inclusion *one)
{
    const char *include = reading->request->include, *own = reading->header->path;
    if (one->is_root || has_part(reading, one->path))
        return true;
    if (is_of_bits(one->path) && has_part(reading, one->includer))
        return true;
    for (uint32_t i = 0; i < reading->n_inclusions; i++) {
        const struct header_inclusion *root = &reading->inclusions[i];
        bool is_of_folder = *include == '<' && strchr(include, '/') && !strcmp(root->path, own);
        if (root->is_root && is_beside(root->path, one->path, is_of_folder))
            return true;
    }
    return false;
}

/* Parts of parts, too. */
static void find_parts(struct header_reading *reading)
{
    for (bool is_more = true; is_more;) {
        is_more = false;
        for (uint32_t i = 0; i < reading->n_inclusions; i++) {
            struct header_inclusion *one = &reading->inclusions[i];
            if (one->is_part || !is_new_part(reading, one))
                continue;
            one->is_part = is_more = true;
        }
    }
}

bool header_parts_read(struct header_reading *reading)
{
    reading->clang->getInclusions(reading->unit, add_inclusion, reading);
    for (uint32_t i = 0; i < reading->n_inclusions; i++)
        if (!strcmp(reading->inclusions[i].path, reading->header->path))
            reading->inclusions[i].is_root = true;
    find_parts(reading);
    return !reading->failed;
}

/* What parts include themselves; not yet what that includes. */
bool header_parts_widen(struct header_reading *reading)
{
    bool is_more = false;
    for (uint32_t i = 0; i < reading->n_inclusions; i++) {
        struct header_inclusion *one = &reading->inclusions[i];
        if (has_part(reading, one->path) || !has_part(reading, one->includer))
            continue;
        one->is_root = is_more = true;
    }
    if (is_more)
        find_parts(reading);
    return is_more;
}

bool header_parts_have(const struct header_reading *reading, const char *path)
{
    return has_part(reading, path);
}

void header_parts_release(struct header_reading *reading)
{
    for (uint32_t i = 0; i < reading->n_inclusions; i++) {
        free(reading->inclusions[i].path);
        free(reading->inclusions[i].includer);
    }
    free(reading->inclusions);
}
