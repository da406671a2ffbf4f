/* The parts of `perfmap wrap`. */
#ifndef PM_CMD_WRAP_H
#define PM_CMD_WRAP_H

#include "mapping/base/exports.h"
#include "mapping/base/str.h"

struct pdt_header;

/* A library that is wrapped. Zero-initialised is empty. */
struct wrap_library {
    char *path;             /* owned */
    const char **functions; /* the names, owned, sorted */
    uint32_t n_functions, cap_functions;
    bool failed; /* memory */
};

/* name: a path, or what the dynamic loader finds. PM_ERR_NOT_FOUND, PM_ERR_FORMAT. */
PM_MUST_CHECK enum pm_status wrap_library_open(const char *name, struct pm_error *err,
                                               struct wrap_library *ret_library);
/* Its functions of C++, by their names without parameters, of any type. The caller frees. */
PM_MUST_CHECK enum pm_status wrap_library_cxx(const struct wrap_library *library,
                                              struct pm_error *err, struct pdt_header **ret_header);
bool wrap_library_has(const struct wrap_library *library, const char *symbol);
void wrap_library_release(struct wrap_library *library);

#endif
