/* Thread i of a team burns (i + 1) * 100 ms of CPU time. */
#define _GNU_SOURCE
#include "burn.h"

#include <omp.h>
#include <unistd.h>

int main(void)
{
#pragma omp parallel num_threads(4)
    burn_at(gettid(), 100 * (omp_get_thread_num() + 1));
    return 0;
}
