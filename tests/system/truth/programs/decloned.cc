// As -Os does it: one body that all others call.
#include "bodies.cc"
