/* mapping/import/folded.c */
#define FORMAT "folded"
#include "import_fuzz.h"
