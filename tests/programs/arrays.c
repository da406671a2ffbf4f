/* Arrays, pointers, struct fields: who reads and who writes. */
#include <stdlib.h>

struct grid {
    double *data;
    int n_rows, n_columns;
    struct {
        int id;
    } inner;
    double halo[4];
};

static double u[8][4];
double v[8];
static int counter;

void rows(int n, double w[n][n], struct grid *g, double *p)
{
    double row[n];
    for (int i = 0; i < n; i++) { /* loop */
        row[i] = v[i] * 2;
        u[i][1] = w[i][i]
                  + row[i];
        g->data[i] = p[i] * g->halo[i & 3];
        *p++ = g->n_rows + g->inner.id;
    }
    counter += n;
}

void aliases(struct grid g, double **pp)
{
    double *q = *pp;
    q[1] = g.halo[2];
    (*pp)[2] = 3;
    {
        int i = counter;
        {
            int i = 3;
            g.n_rows = i;
        }
        g.n_columns = i;
    }
    static int calls;
    calls++;
}

int main(void)
{
    double w[3][3] = {{0}}, p[8] = {0}, *q = p;
    struct grid g = {.data = malloc(8 * sizeof(double)), .n_rows = 3};
    rows(3, w, &g, p);
    aliases(g, &q);
    free(g.data);
    return counter != 3;
}
