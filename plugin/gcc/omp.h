/* What omp.cc tells omp_places.cc of constructs. */
#ifndef PM_GCC_OMP_H
#define PM_GCC_OMP_H

/* Does the statement begin to tell of a construct, whose place it has? */
bool pm_omp_is_telling(const gimple *stmt);

/* Before it is expanded: its calls of the library will have its place. */
void pm_omp_note_construct(const gimple *construct);

/* The same where a parallel region consists of it, and begins with no telling. */
void pm_omp_note_combined(const gimple *region, const gimple *construct);

void pm_omp_places_register(const char *plugin_name);

#endif
