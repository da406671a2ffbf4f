/* mapping/import/callgrind.c */
#define FORMAT "callgrind"
#include "import_fuzz.h"
