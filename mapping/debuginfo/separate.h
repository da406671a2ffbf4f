/* Debug information that lies in other files.
 *
 *     // NULL: none, or noted why not
 *     struct pm_elf_file *debug = pm_separate_find(file, notes);
 *     struct pm_elf_file *common = pm_separate_supplement(debug, notes);    // DWZ's
 *
 * Searched as gdb does ("Debugging Information in Separate Files"): by build-id below
 * /usr/lib/debug/.build-id; then the name of .gnu_debuglink beside the file, in .debug/ there,
 * and in the same folder below /usr/lib/debug, its checksum compared. What is found but belongs
 * to another build is noted and not used. The caller closes.
 */
#ifndef PM_SEPARATE_H
#define PM_SEPARATE_H

#include "elf_file.h"
#include "notes.h"

struct pm_elf_file *pm_separate_find(const struct pm_elf_file *file, struct pm_debug_notes *notes);
struct pm_elf_file *pm_separate_supplement(const struct pm_elf_file *file,
                                           struct pm_debug_notes *notes);
/* The .dwo file of a unit: as named, in the unit's folder, or beside the object. NULL: not
 * there. */
struct pm_elf_file *pm_separate_split(const struct pm_elf_file *file, const char *name,
                                      const char *comp_dir);

/* The checksum that .gnu_debuglink holds: CRC-32 of ISO 3309. */
uint32_t pm_separate_crc32(uint32_t crc, const unsigned char *p, size_t len);

#endif
