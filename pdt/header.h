/* The functions that a C header declares, read with libclang.
 *
 *     struct pdt_header *header;
 *     if (pdt_header_read("<zlib.h>", NULL, 0, &err, &header) == PM_OK)
 *         for (uint32_t i = 0; i < header->n_functions; i++)
 *             puts(header->functions[i].name);
 *     pdt_header_free(header);
 *
 * Only those that the header itself declares, or one that is a part of it (lzma/base.h of lzma.h,
 * mpi_proto.h of mpi.h, curl/easy.h of curl/curl.h), that other objects can define, and that it
 * does not define itself. One thread at a
 * time per header.
 */
#ifndef PDT_HEADER_H
#define PDT_HEADER_H

#include "mapping/base/arena.h"
#include "mapping/base/status.h"

#include <stddef.h>
#include <stdint.h>

struct pdt_parameter {
    const char *type, *name; /* name: "" where the header gives none */
    bool is_pointer, is_number, points_to_number;
};

/* Types are C text that __typeof__(...) takes. */
struct pdt_function {
    const char *name, *symbol; /* symbol: what the linker calls it, after __asm__("...") too */
    const char *id;            /* a name for C: the symbol where the name is one of C++ */
    const char *file;          /* from the header's folder on, as lzma/base.h; NULL: the header */
    const char *result;
    const char *unwritable; /* NULL; else why one of its types cannot be written */
    struct pdt_parameter *parameters;
    uint32_t n_parameters, line_no;
    bool is_variadic, has_prototype, is_noreturn, returns_number;
    bool is_defined; /* in the header: static inline, or extern inline */
};

struct pdt_header {
    char *path; /* owned: where it was found */
    struct pdt_function *functions;
    uint32_t n_functions, cap_functions;
    struct pm_arena arena;
};

/* include: with its <> or quotes. flags: -I, -D and their values. PM_ERR_FORMAT: the compiler does
 * not find or understand it, and the error says why. The caller frees. */
PM_MUST_CHECK enum pm_status pdt_header_read(const char *include, const char *const *flags,
                                             size_t n_flags, struct pm_error *err,
                                             struct pdt_header **ret_header);
void pdt_header_free(struct pdt_header *header);

/* Of functions whose types nobody knows, those of a library alone. False: memory. */
struct pdt_header *pdt_header_new(void); /* NULL: memory */
PM_MUST_CHECK bool pdt_header_add(struct pdt_header *header, const char *name, const char *symbol);

/* NULL: there is none of this name. */
const struct pdt_function *pdt_header_find(const struct pdt_header *header, const char *name);

#endif
