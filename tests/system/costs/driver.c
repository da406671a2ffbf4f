/* Calls all of ../late-map-fused/fused.c. */
#include <stdlib.h>
struct s;
struct bytes;
struct xy;
void stores(struct s *), narrow(struct bytes *), slp(float *, const float *),
    slp_loop(float *, const float *, int);
void apart(float *, float *, const float *, int), clear(double *, int), clear_fields(struct xy *),
    copy(double *, const double *, int);
int tail(int, int *), dead(int, int *);
double combined(double, double, double);

int out(const char *text)
{
    return text[0];
}

int main(int argc, char **argv)
{
    static float p[4000], q[4000], r[4000];
    static double d[2000], e[2000];
    static int numbers[8];
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    for (int i = 0; i < 20; i++) {
        stores((struct s *)numbers);
        narrow((struct bytes *)numbers);
        slp(p, q);
        slp_loop(p, q, n);
        apart(p, r, q, n);
        clear(d, n);
        clear_fields((struct xy *)p);
        copy(e, d, n);
        numbers[0] += tail(i, numbers + 1) + dead(i, numbers + 2) + (int)combined(i, 2, 3);
    }
    return numbers[0] == 77;
}
