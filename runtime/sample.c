/* Samples: what the program was doing, asked at equal distances of CPU time. */
#include "internal.h"

const volatile uint64_t pm_no_ring = 0;

void pm_sample_process_begin(void) {}

void pm_sample_thread_begin(struct pm_tls *t)
{
    (void)t;
}

void pm_sample_thread_end(struct pm_tls *t)
{
    (void)t;
}

void pm_sample_drain(struct pm_tls *t)
{
    t->ring_seen = *t->ring_head;
}

void pm_sample_fork_child(void) {}

void pm_sample_process_end(void) {}

bool pm_sample_is_on(void)
{
    return pm_process.sample_period_ns != 0;
}
