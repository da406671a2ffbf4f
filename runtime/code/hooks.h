/* Portable mode: guarded calls in place of sleds. */
#ifndef PM_RUNTIME_HOOKS_H
#define PM_RUNTIME_HOOKS_H

#include "runtime/code/object.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* first: the first of this object's hook sections. */
void pm_hooks_open(struct pm_object *object, const struct stat *info, uintptr_t section,
                   size_t bytes, bool first);

#endif
