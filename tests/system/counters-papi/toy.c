#include "toy.h"

#include <sde_lib.h>

long long toy_n_stones, toy_n_bricks;
static void *bricks;

static long long sand(void *data)
{
    (void)data;
    return 3 * toy_n_stones;
}

void toy_stones(long long n)
{
    toy_n_stones += n;
}

void toy_bricks(long long n)
{
    toy_n_bricks += n;
    papi_sde_inc_counter(bricks, n);
}

void toy_begin(void)
{
    papi_handle_t toy = papi_sde_init("TOY");
    papi_sde_register_counter(toy, "stones", PAPI_SDE_RO | PAPI_SDE_DELTA, PAPI_SDE_long_long, &toy_n_stones);
    papi_sde_create_counter(toy, "bricks", PAPI_SDE_DELTA, &bricks);
    papi_sde_register_counter_cb(toy, "sand", PAPI_SDE_RO | PAPI_SDE_DELTA, PAPI_SDE_long_long, sand, 0);
}
