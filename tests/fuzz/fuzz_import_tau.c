/* mapping/import/tau.c */
#define FORMAT "tau"
#include "import_fuzz.h"
