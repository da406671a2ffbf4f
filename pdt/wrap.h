/* Wrappers of a C library's functions, made from its header: an adapter (docs/ADAPTERS.md) as C
 * source, that says with perfmap.h which of them run.
 *
 *     struct pm_buf text = PM_BUF_INIT(1 << 30);
 *     struct pdt_wrap wrap = {.header = "<zlib.h>", .level = "zlib", .out = &text};
 *     struct pm_database *pdb; // of a unit that includes the header
 *     if (pdt_open("unit.pdb", &err, &pdb) == PM_OK && pdt_wrap_make(pdb, &wrap, &err) == PM_OK)
 *         printf("%u functions\n", wrap.n_wrapped);
 */
#ifndef PDT_WRAP_H
#define PDT_WRAP_H

#include "pdb.h"

struct pdt_wrap {
    const char *header, *level;  /* header: with its <> or quotes */
    const char *const *patterns; /* only functions of these names; n_patterns 0: all */
    size_t n_patterns;
    void (*note)(void *context, const char *text); /* may be NULL: a function that is left out */
    void *context;
    struct pm_buf *out;
    uint32_t n_wrapped, n_left_out; /* filled in */
};

/* Of all functions that the database's own files declare and do not define. PM_ERR_NOT_FOUND:
 * there is none. */
PM_MUST_CHECK enum pm_status pdt_wrap_make(struct pm_database *pdb, struct pdt_wrap *wrap,
                                           struct pm_error *err);

#endif
