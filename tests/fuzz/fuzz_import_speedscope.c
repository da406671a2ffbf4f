/* mapping/import/speedscope.c */
#define FORMAT "speedscope"
#include "import_fuzz.h"
