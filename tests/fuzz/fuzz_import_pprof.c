/* mapping/import/pprof.c */
#define FORMAT "pprof"
#include "import_fuzz.h"
