/* Names of files as one file should have one: absolute, and without detours.
 *
 *     struct pm_buf path = PM_BUF_INIT(1 << 16);
 *     pm_path_add_absolute(&path, "/home/me/build", "./../src/heat.c");   // "/home/me/src/heat.c"
 *
 * Compilers and debug information spell one header as "../src/a.h", "/home/me/build/../src/a.h"
 * and "../src/./a.h". Whoever tells files apart by name needs one spelling. Any thread.
 */
#ifndef PM_PATH_H
#define PM_PATH_H

#include "str.h"

/* Appends the absolute form of a name that is relative to a folder, without "//", "." and "x/..".
 * Where x is a symbolic link, "x/.." is another folder: then ".." stays. A name is only joined to
 * a folder that is not absolute itself: -ffile-prefix-map and -fdebug-compilation-dir make such
 * ones. */
void pm_path_add_absolute(struct pm_buf *out, const char *folder, const char *name);

#endif
