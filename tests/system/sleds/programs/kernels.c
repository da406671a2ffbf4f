/* Loops that GCC vectorises, nests whose outer loop it vectorises or interchanges, reductions, and calls that it makes of loops. */
enum { N = 512 };
float a[N], b[N], c[N], aa[N][N], bb[N][N], cc[N][N];
int ia[N];

void triad(float s) { for (int i = 0; i < N; i++) a[i] = b[i] + s * c[i]; }
void stencil(void) { for (int i = 1; i < N - 1; i++) a[i] = b[i - 1] + b[i] + b[i + 1]; }
float dot(void) { float s = 0; for (int i = 0; i < N; i++) s += a[i] * b[i]; return s; }
float column_sum(void) { float s = 0; for (int j = 0; j < N; j++) for (int i = 0; i < N; i++) s += aa[i][j]; return s; }
void matrix(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                cc[i][j] += aa[i][k] * bb[k][j];
}
void conditional(void) { for (int i = 0; i < N; i++) if (a[i] > 0) b[i] = a[i] * c[i]; else b[i] = -c[i]; }
void gather(void) { for (int i = 0; i < N; i++) a[i] = b[ia[i]]; }
void clear(void) { for (int i = 0; i < N; i++) a[i] = 0; }
void copy(void) { for (int i = 0; i < N; i++) aa[3][i] = bb[5][i]; }
int count(int x) { int n = 0; for (int i = 0; i < N; i++) n += ia[i] == x; return n; }
void two(void) { for (int i = 0; i < N; i++) a[i] += 1; for (int i = 0; i < N; i++) b[i] *= a[i]; }
float outer(void) { float m = 0; for (int i = 0; i < N; i++) { float s = 0; for (int j = 0; j < N; j++) s += aa[j][i]; m += s * s; } return m; }
