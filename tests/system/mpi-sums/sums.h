/* Functions that are not inlined, in two units. */
#define KEPT __attribute__((noinline))
double sum_elsewhere(const double *values, int n);
void send_one(double value);
