/* Heat flowing through a plate: two loop nests over two arrays, one of which is read while the other is written. */
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };

static double u[N][N], v[N][N]; /* temperature now, and one step later */

void init(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            u[i][j] = i == 0 ? 100.0 : 0.0;
}

void step(void)
{
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++)
            v[i][j] = u[i][j] + 0.2 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);

    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++)
            u[i][j] = v[i][j];
}

double sum(void)
{
    double total = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            total += u[i][j];
    return total;
}

int main(int argc, char **argv)
{
    int n_steps = argc > 1 ? atoi(argv[1]) : 1000;
    init();
    for (int t = 0; t < n_steps; t++) {
        step();
        if (t % 250 == 249)
            printf("step %d: heat %.3f\n", t + 1, sum());
    }
    return 0;
}
