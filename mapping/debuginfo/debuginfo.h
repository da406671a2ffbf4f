/* What is known about code without PIF: debug information (DWARF, by libdwarf), else the symbol
 * table.
 *
 *     struct pm_debug *debug;
 *     if (pm_debug_open("/lib/x86_64-linux-gnu/libc.so.6", build_id, &err, &debug) != PM_OK) ...
 *     struct pm_debug_frame frames[16];
 *     size_t n = pm_debug_find(debug, address, frames, 16);   // innermost first
 *     pm_debug_free(debug);
 *
 * Reads DWARF 2 to 5, compressed sections (zlib), relocatable objects, separate debug files (by
 * build-id below /usr/lib/debug/.build-id, by .gnu_debuglink with its checksum, DWZ's
 * .gnu_debugaltlink) and split DWARF as far as this libdwarf goes. What cannot be read is said
 * by pm_debug_problem, not guessed: then symbols answer. An object's sections all lie at 0: of
 * functions at one address one answers. debuginfo_libdwarf.c alone includes libdwarf's headers
 * (Debian 12: the interface of 2021). Nothing in the file is trusted. One thread at a time.
 *
 * The first address of a file takes 10 to 60 ms (SQLite, libc with its debug file), others 0.5
 * us, more when they are the first in their unit or function.
 */
#ifndef PM_DEBUGINFO_H
#define PM_DEBUGINFO_H

#include "../base/status.h"

#include <stddef.h>
#include <stdint.h>

enum pm_debug_source {
    PM_DEBUG_NOTHING, /* neither debug information nor a symbol covers the address */
    PM_DEBUG_SYMBOL,
    PM_DEBUG_DWARF
};

/* Strings live as long as the pm_debug. */
struct pm_debug_frame {
    enum pm_debug_source source;
    /* For people: demangled C++, module::procedure of Fortran; NULL not known. */
    const char *function;
    /* As in the symbol table, or the debug information's linkage name; NULL not known. */
    const char *linkage;
    const char *file; /* absolute where the compilation folder is known; NULL not known */
    /* Innermost frame: of the address; others: of the call that was inlined; 0 not known. */
    uint32_t line_no, column_no;
    uint32_t declared_line_no; /* of the function; 0 not known */
    bool is_inlined;           /* into the frame that follows */
    /* ELF addresses [low, high) of the symbol or of the function's range at this address; 0, 0
     * not known. */
    uint64_t low, high;
};

struct pm_debug;

/* build_id: lower-case hex of the file that ran, NULL unknown. A file with another one is
 * refused: PM_ERR_NOT_FOUND, naming both. PM_ERR_SYSTEM: cannot be read; PM_ERR_FORMAT: no ELF
 * file. Damaged or missing debug information is no error. */
PM_MUST_CHECK enum pm_status pm_debug_open(const char *path, const char *build_id,
                                           struct pm_error *err, struct pm_debug **ret_debug);
void pm_debug_free(struct pm_debug *debug);

/* Frames of an ELF address, innermost first: inlined functions, then the one that has a symbol.
 * Returns their number, at most max (the outermost ones are cut); 0: nothing is known. */
size_t pm_debug_find(struct pm_debug *debug, uint64_t address, struct pm_debug_frame *ret_frames,
                     size_t max);

/* The file that debug information came from; NULL: there is none. */
const char *pm_debug_file(const struct pm_debug *debug);
/* What could not be read and what would help, for people; NULL: nothing. */
const char *pm_debug_problem(const struct pm_debug *debug);

/* "ns::f(int)" for _ZN2ns1fEi, "mod::proc" for __mod_MOD_proc; the name itself otherwise. The
 * caller frees; NULL: no memory. */
char *pm_debug_demangle(const char *linkage);

#endif
