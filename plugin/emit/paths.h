/* Files of the source: one absolute name, and one pointer for it, however a file is spelt.
 *
 *     struct pm_paths *paths = pm_paths_new(NULL);
 *     struct pm_place place = {.line = 42, .column = 5};
 *     if (!pm_paths_set_file(paths, "../src/heat.c", "/home/me/build", &place))
 *         no_memory();                     // else place.file: "/home/me/src/heat.c"
 *     pm_paths_free(paths);
 *
 * Ids of nouns are hashes of the absolute name, and struct pm_place is compared by pointer. So all
 * names of files, those of debug information too, come from here. A file is shown as it was
 * spelt first: debug information shortens names. One thread at a time.
 */
#ifndef PM_PATHS_H
#define PM_PATHS_H

#include "place.h"

struct pm_paths;

/* What -ffile-prefix-map makes of an absolute name: lent until the next call. */
typedef const char *pm_path_map(const char *path);

/* map NULL: nothing is mapped. NULL: memory. */
struct pm_paths *pm_paths_new(pm_path_map *map);
void pm_paths_free(struct pm_paths *paths);

/* Sets file and shown of the place; both live as long as the paths. folder: what the name is
 * relative to. False: memory. */
bool pm_paths_set_file(struct pm_paths *paths, const char *spelt, const char *folder,
                       struct pm_place *ret_place);
/* The same of names that came out of it in another process. */
bool pm_paths_set_known(struct pm_paths *paths, const char *file, const char *shown,
                        struct pm_place *ret_place);

#endif
