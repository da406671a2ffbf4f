/* Between the parts of the early facts: facts.cc (the pass, functions, writing), facts_loops.cc, facts_nouns.cc. */
#ifndef PM_GCC_FACTS_H
#define PM_GCC_FACTS_H

#include "identity.h"

/* A function's statements in the order of the code, nested ones (of binds, try blocks, OpenMP regions) after the one that holds them. */
struct pm_linear {
    gimple *stmt;
    unsigned end; /* index after the statements nested in it */
    int loop;     /* index of the innermost source loop, -1 none */
};

void pm_linearise(gimple_seq body, std::vector<struct pm_linear> *out);

/* Finds the source loops of the function, tells identity.cc, and sets pm_linear.loop. */
void pm_scan_loops(tree function_decl, std::vector<struct pm_linear> *code);

#endif
