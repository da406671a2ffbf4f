/* mapping/import/chrome.c */
#define FORMAT "chrome"
#include "import_fuzz.h"
