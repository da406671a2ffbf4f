/* Statements whose code others have. What is expected of each stands in ./expected, by the lines' marks. */
#include <string.h>
struct s { int a, b, c, d; };
struct bytes { char a, b, c, d; short e; };
struct xy { float x, y; };

/* four stores, one instruction */
void stores(struct s *p)
{
    p->a = 1; /* stores-1 */
    p->b = 2; /* stores-2 */
    p->c = 3; /* stores-3 */
    p->d = 4; /* stores-4 */
}

void narrow(struct bytes *p)
{
    p->a = 1; /* narrow-1 */
    p->b = 2; /* narrow-2 */
    p->c = 3; /* narrow-3 */
    p->d = 4; /* narrow-4 */
}

void slp(float *restrict p, const float *restrict q)
{
    p[0] = q[0] * 2; /* slp-1 */
    p[1] = q[1] * 2; /* slp-2 */
    p[2] = q[2] * 2; /* slp-3 */
    p[3] = q[3] * 2; /* slp-4 */
}

void slp_loop(float *restrict p, const float *restrict q, int n)
{
    for (int i = 0; i < n; i++) {
        p[2 * i] = q[2 * i] + 1;         /* slp_loop-1 */
        p[2 * i + 1] = q[2 * i + 1] + 2; /* slp_loop-2 */
    }
}

/* each line is itself: nothing to say */
void apart(float *restrict p, float *restrict r, const float *restrict q, int n)
{
    for (int i = 0; i < n; i++) {
        p[i] = q[i] + 1; /* apart-1 */
        r[i] = q[i] * 3; /* apart-2 */
    }
}

void clear(double *p, int n)
{
    for (int i = 0; i < n; i++) /* clear-for */
        p[i] = 0;               /* clear-1 */
}

void clear_fields(struct xy *p)
{
    for (int i = 0; i < 1000; i++) { /* clear_fields-for */
        p[i].x = 0;                  /* clear_fields-1 */
        p[i].y = 0;                  /* clear_fields-2 */
    }
}

void copy(double *restrict p, const double *restrict q, int n)
{
    for (int i = 0; i < n; i++) { /* copy-for */
        double t = q[i];          /* copy-1 */
        p[i] = t;                 /* copy-2 */
    }
}

int out(const char *);

int tail(int k, int *g)
{
    int r;
    if (k > 1) {
        out("one");      /* tail-one */
        *g = k + 5;      /* tail-1 */
        r = out("same"); /* tail-2 */
    } else {
        out("two");      /* tail-two */
        *g = k + 5;      /* tail-3 */
        r = out("same"); /* tail-4 */
    }
    return r;
}

double combined(double a, double b, double c)
{
    double t = a * b; /* combined-1 */
    double s = t + c; /* combined-2 */
    return s;
}

/* removed, not combined */
int dead(int a, int *restrict p)
{
    int u = a * 77; /* dead-1 */
    int w = u * a;  /* dead-2 */
    w = 3;
    p[0] = 1; /* dead-3 */
    p[0] = a; /* dead-4 */
    return a + w;
}
