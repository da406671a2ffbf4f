/* Built twice, with different names: LIBRARY. */
#include "../../runtime/sleds.h"

#include <stdint.h>

PM_TEST_FUNCTION(library_burn, LIBRARY);
void library_burn(uint64_t n);
void library_burn_body(uint64_t n);
void library_burn_body(uint64_t n)
{
    for (volatile uint64_t i = 0; i < n; i++)
        ;
}
