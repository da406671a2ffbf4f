/* What dlmopen loads: objects of namespaces that dl_iterate_phdr does not show to us. Debuggers
 * find them in the loader's list of lists (glibc 2.35 and newer); before, nobody does. Under the
 * loader's lock. */
#ifndef PM_RUNTIME_NAMESPACES_H
#define PM_RUNTIME_NAMESPACES_H

#include "runtime/code/object.h"

#include <stdbool.h>

/* One after the other, until a visitor returns something else than 0. */
int pm_namespaces_walk(pm_object_visitor *visit, void *data);
/* Is nothing about to be loaded or unloaded, in any of them? */
bool pm_namespaces_are_consistent(void);

#endif
