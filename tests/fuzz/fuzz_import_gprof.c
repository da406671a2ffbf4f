/* mapping/import/gprof.c */
#define FORMAT "gprof"
#define EXE "/bin/true"
#include "import_fuzz.h"
