/* The parts of a wrapper that come of an annotation (roles.h), as C. */
#ifndef PDT_WRAP_ROLES_H
#define PDT_WRAP_ROLES_H

#include "header.h"
#include "roles.h"

/* PM_ERR_FORMAT: a role names a function or an argument that the header has not, or one that is of
 * another kind than the role needs. */
PM_MUST_CHECK enum pm_status wrap_roles_check(const struct pdt_roles *roles,
                                              const struct pdt_header *header,
                                              struct pm_error *err);

/* Before the function's sentence is entered, before it is called, after that, and after the
 * sentence is left. role may be NULL. Parameters are a0, a1..., the result is `result`. */
void wrap_roles_enter(struct pm_buf *out, const struct pdt_function *function,
                      const struct pdt_role *role);
void wrap_roles_begin(struct pm_buf *out, const struct pdt_function *function,
                      const struct pdt_role *role);
void wrap_roles_end(struct pm_buf *out, const struct pdt_function *function,
                    const struct pdt_role *role);
void wrap_roles_leave(struct pm_buf *out, const struct pdt_role *role);

#endif
