/* mapping/import/perf_script.c */
#define FORMAT "perf_script"
#include "import_fuzz.h"
