/* Symbols of code: .symtab of the file, else of its separate debug file, else .dynsym; and the
 * stubs of the procedure linkage table ("memcpy@plt"; x86-64), with the places that the dynamic
 * linker writes addresses to ("memcpy@got").
 *
 *     struct pm_symbols *symbols = pm_symbols_new(file, debug_file, set);
 *     const struct pm_symbol *symbol = pm_symbols_find(symbols, address);      // NULL: none
 *     pm_symbols_free(symbols);
 */
#ifndef PM_SYMBOLS_H
#define PM_SYMBOLS_H

#include "elf_file.h"

#include "../base/arena.h"

struct pm_symbol {
    const char *name;  /* without version */
    const char *shown; /* demangled; NULL until asked for */
    uint64_t low, high;
};

struct pm_symbols;

/* Names live in set. debug_file may be NULL. NULL: no memory. */
struct pm_symbols *pm_symbols_new(const struct pm_elf_file *file,
                                  const struct pm_elf_file *debug_file, struct pm_intern *set);
void pm_symbols_free(struct pm_symbols *symbols);
struct pm_symbol *pm_symbols_find(const struct pm_symbols *symbols, uint64_t address);

#endif
