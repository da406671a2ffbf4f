// The same with calls in place of sleds.
#include "unwinds.cc"
