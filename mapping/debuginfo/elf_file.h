/* An ELF file as this folder needs it: sections by name, their unpacked and relocated bytes,
 * build-id, where code lies.
 *
 *     struct pm_elf_file *file;
 *     if (pm_elf_file_open(path, &err, &file) != PM_OK) ...
 *     // finds .zdebug_info too
 *     const struct pm_elf_section *info = pm_elf_file_section(file, ".debug_info");
 *     struct pm_bytes bytes;
 *     // free(bytes.p)
 *     if (info != NULL && pm_elf_file_load(file, info, &bytes) == PM_LOAD_OK) ...
 *     pm_elf_file_close(file);
 *
 * Nothing in the file is trusted. One thread at a time.
 */
#ifndef PM_ELF_FILE_H
#define PM_ELF_FILE_H

#include "../base/status.h"

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

/* p[len .. len + PM_BYTES_PADDING) is zero: a reader that runs over the end by a few bytes, as
 * libdwarf's may, or by a string without end, stays inside. */
enum { PM_BYTES_PADDING = 64 };

struct pm_bytes {
    unsigned char *p;
    size_t len;
};

struct pm_elf_section {
    const char *name; /* lives as long as the file */
    uint64_t address, offset, size_bytes, flags;
    uint32_t type, link, info, index;
};

struct pm_elf_code {
    uint64_t low, high;
};

enum { PM_BUILD_ID_MAX_BYTES = 64, PM_ELF_CODE_MAX = 16 };

struct pm_elf_file {
    char *path;
    int fd;
    Elf *elf;
    struct pm_elf_section *sections;
    size_t n_sections;
    uint64_t size_bytes;
    uint16_t type, machine;
    bool is_big_endian;
    uint8_t address_bytes;
    char build_id[2 * PM_BUILD_ID_MAX_BYTES + 1]; /* "": none */
    struct pm_elf_code code[PM_ELF_CODE_MAX]; /* executable sections; not of relocatable objects */
    size_t n_code;
};

enum pm_load {
    PM_LOAD_OK,
    PM_LOAD_EMPTY,   /* no bytes in this file */
    PM_LOAD_ZSTD,    /* compressed in a way that this libelf cannot undo */
    PM_LOAD_DAMAGED, /* lies outside of the file, does not unpack */
    PM_LOAD_LIMIT,   /* larger than what is read */
    PM_LOAD_MEMORY
};

/* PM_ERR_SYSTEM: cannot be read; PM_ERR_FORMAT: no ELF file; PM_ERR_MEMORY. */
PM_MUST_CHECK enum pm_status pm_elf_file_open(const char *path, struct pm_error *err,
                                              struct pm_elf_file **ret_file);
void pm_elf_file_close(struct pm_elf_file *file);

/* The first one of that name, before those that belong to groups; ".zdebug_info" for
 * ".debug_info". NULL: none. */
const struct pm_elf_section *pm_elf_file_section(const struct pm_elf_file *file, const char *name);

/* Debug sections of relocatable objects come relocated, sections taken to lie at their addresses
 * (0 in objects). */
enum pm_load pm_elf_file_load(const struct pm_elf_file *file, const struct pm_elf_section *section,
                              struct pm_bytes *ret_bytes);

/* May code lie at this address? What linkers dropped is left in debug information with addresses
 * such as 0 or -1. */
bool pm_elf_file_is_code(const struct pm_elf_file *file, uint64_t address);

#endif
