/* What the arguments of a library's functions are, from a file that `perfmap wrap` reads
 * (docs/formats/annotations.md).
 *
 *     struct pdt_roles *roles;
 *     struct pm_str text = PM_STR("compress2 bytes_in=sourceLen bytes_out=*destLen\n");
 *     if (pdt_roles_read(text, "zlib.txt", &err, &roles) == PM_OK) {
 *         const struct pdt_role *role = pdt_roles_find(roles, "compress2");
 *         printf("%u metrics\n", role->n_metrics);
 *     }
 *     pdt_roles_free(roles);
 *
 * Nothing in the text is trusted. Errors name the file and the line. One thread at a time.
 */
#ifndef PDT_ROLES_H
#define PDT_ROLES_H

#include "mapping/base/arena.h"
#include "mapping/base/str.h"

enum { PDT_MAX_TERMS = 4, PDT_MAX_METRICS = 8 };

/* One number. argument: name or position (from 1) of a parameter; NULL: the result, or 1. */
struct pdt_term {
    enum pdt_term_kind {
        PDT_TERM_PLAIN,   /* ARG */
        PDT_TERM_POINTED, /* *ARG */
        PDT_TERM_FIELD,   /* ARG->FIELD */
        PDT_TERM_LENGTH,  /* length(ARG) */
        PDT_TERM_RETURN,
        PDT_TERM_ONE,
    } kind;
    bool is_growth;
    const char *argument, *field;
};

struct pdt_metric {
    const char *name;
    bool is_bytes;
    struct pdt_term terms[PDT_MAX_TERMS]; /* of a product */
    uint32_t n_terms;
};

/* A line. Texts that are not there are NULL. */
struct pdt_role {
    const char *function;
    uint32_t line_no;
    bool is_optional; /* the function need not be there */
    bool is_skipped;
    const char *forward; /* the function that takes a list */
    struct pdt_term handle;
    bool has_handle, is_closed;
    const char *when_operator; /* of C, between the result and when_number */
    int64_t when_number;
    struct pdt_metric metrics[PDT_MAX_METRICS];
    uint32_t n_metrics;
};

struct pdt_roles {
    char *name; /* owned: of the file */
    struct pdt_role *roles;
    uint32_t n_roles, cap_roles;
    struct pm_arena arena;
};

/* name: for errors. PM_ERR_FORMAT: a line is wrong; PM_ERR_LIMIT: too much. The caller frees. */
PM_MUST_CHECK enum pm_status pdt_roles_read(struct pm_str text, const char *name,
                                            struct pm_error *err, struct pdt_roles **ret_roles);
void pdt_roles_free(struct pdt_roles *roles);

/* NULL: there is no line for it; roles may be NULL. */
const struct pdt_role *pdt_roles_find(const struct pdt_roles *roles, const char *function);

/* An error that names the file and the line of a role. */
enum pm_status pdt_role_error(const struct pdt_roles *roles, const struct pdt_role *role,
                              struct pm_error *err, const char *format, ...) PM_PRINTF(4, 5);

#endif
