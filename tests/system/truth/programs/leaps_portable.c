/* The same with calls in place of sleds. */
#include "leaps.c"
