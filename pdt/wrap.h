/* Wrappers of a C library's functions, made from its header: an adapter (docs/ADAPTERS.md) as C
 * source, that says with perfmap.h which of them run.
 *
 *     struct pm_buf text = PM_BUF_INIT(1 << 30);
 *     struct pdt_wrap wrap = {.include = "<zlib.h>", .level = "zlib", .out = &text};
 *     const struct pdt_header_request request = {.include = "<zlib.h>"};
 *     struct pdt_header *header;
 *     if (pdt_header_read(&request, &err, &header) == PM_OK &&
 *         pdt_wrap_make(header, &wrap, &err) == PM_OK)
 *         printf("%u functions\n", wrap.n_wrapped);
 */
#ifndef PDT_WRAP_H
#define PDT_WRAP_H

#include "header.h"
#include "roles.h"

#include "mapping/base/str.h"

struct pdt_wrap {
    const char *include, *level; /* include: with its <> or quotes; NULL: there is no header */
    const char *library;         /* without a header: where the functions are */
    const char *const *patterns; /* only functions of these names; n_patterns 0: all */
    size_t n_patterns;
    /* NULL: all symbols are there; else is this one in the library? */
    bool (*is_exported)(void *context, const char *symbol);
    bool is_link;                  /* for the linker's --wrap: __wrap_NAME calls __real_NAME */
    const struct pdt_roles *roles; /* what arguments are; NULL: nothing is known */
    void (*note)(void *context, const char *text); /* may be NULL: of a function that is left out,
                                                      or only counted */
    void *context;
    struct pm_buf *out, *options; /* options: of the linker, with is_link, a line each */
    uint32_t n_wrapped, n_left_out, n_not_exported; /* filled in */
};

/* Of all functions that the header declares and does not define. PM_ERR_NOT_FOUND: there is
 * none. PM_ERR_FORMAT: roles do not fit. */
PM_MUST_CHECK enum pm_status pdt_wrap_make(const struct pdt_header *header, struct pdt_wrap *wrap,
                                           struct pm_error *err);

/* Instead of wrappers, for programs that have the library built in and sleds: a PIF file that maps
 * each function of level Source to the same sentence of the level, as wrappers enter it. */
PM_MUST_CHECK enum pm_status pdt_wrap_make_pif(const struct pdt_header *header,
                                               struct pdt_wrap *wrap, struct pm_error *err);

#endif
