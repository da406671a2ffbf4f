/* The functions that a C header declares, read with libclang.
 *
 *     const struct pdt_header_request request = {.include = "<zlib.h>"};
 *     struct pdt_header *header;
 *     if (pdt_header_read(&request, &err, &header) == PM_OK)
 *         for (uint32_t i = 0; i < header->n_functions; i++)
 *             puts(header->functions[i].name);
 *     pdt_header_free(header);
 *
 * Only those that other objects can define, in the header itself or a part of it: lzma/base.h of
 * lzma.h, mpi_proto.h of mpi.h, curl/easy.h of curl/curl.h, and libc's bits/ that a part includes.
 * Where these declare none, what they include stands for the header: sys/poll.h for poll.h. One
 * thread at a time per header.
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
    const char *file; /* from the header's folder on, as lzma/base.h, else the whole path; NULL: the
                         header */
    const char *result;
    const char *unwritable;  /* NULL; else why one of its types cannot be written */
    const char *unwrappable; /* NULL; else why nothing may stand between it and who calls it */
    struct pdt_parameter *parameters;
    uint32_t n_parameters, line_no;
    bool is_variadic, has_prototype, is_noreturn, returns_number;
    bool has_complex; /* GCC and clang may mean different types by it, of one form */
    bool is_defined;  /* in the header: static inline, or extern inline */
};

struct pdt_header {
    char *path;        /* owned: where it was found */
    const char *lines; /* that include it, and what it needs in front of it */
    bool has_usual;    /* it does not compile alone, so the usual ones are in front of it */
    bool is_of_others; /* it declares no function, so the functions are those of what it includes */
    struct pdt_function *functions;
    uint32_t n_functions, cap_functions;
    struct pm_arena arena;
};

/* Why such functions are unwrappable. */
extern const char pdt_wide_vectors[];

struct pdt_header_request {
    const char *include;       /* with its <> or quotes */
    const char *const *firsts; /* the same, of what is included before it */
    size_t n_firsts;
    const char *const *flags; /* -I, -D and their values */
    size_t n_flags;
};

/* PM_ERR_FORMAT: the compiler does not find or understand it, and the error says why. The caller
 * frees. */
PM_MUST_CHECK enum pm_status pdt_header_read(const struct pdt_header_request *request,
                                             struct pm_error *err, struct pdt_header **ret_header);
void pdt_header_free(struct pdt_header *header);

/* Of functions whose types nobody knows, those of a library alone. False: memory. */
struct pdt_header *pdt_header_new(void); /* NULL: memory */
PM_MUST_CHECK bool pdt_header_add(struct pdt_header *header, const char *name, const char *symbol);

/* NULL: there is none of this name. */
const struct pdt_function *pdt_header_find(const struct pdt_header *header, const char *name);

#endif
