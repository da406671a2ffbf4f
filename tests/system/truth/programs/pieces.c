/* Data of C by uncommon ways. */
#include "parts.h"
#include <stdlib.h>
#include <string.h>
enum { N = 4096 };
struct point { double x, y; int tag : 5, kind : 11; };
struct flex { int n; double values[]; };
struct both { union { double d[N]; long l[N]; } u; int which; };
struct node { struct node *next; double load; char pad[40]; };
struct outer { struct { double deep[N]; struct point pts[N]; } in; };
static struct point points[N], others[N];
static struct flex *flexible;
static struct both either;
static struct node *chain;
static struct outer outer_;
static double table[N], **rows, matrix[64][64], cube[16][16][16];
static const double weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static unsigned cnt;
static int histogram[256];
static unsigned char bytes[N];
static double left[N], right[N];
static double (*slices)[64];
typedef void (*stepper)(double *, int);

NOINLINE static void in_points(int k) { for (int i = 0; i < N; i++) points[i].x = points[i].x * 0.5 + k; }
NOINLINE static void in_bits(int k) { for (struct point *p = others; p < others + N; p++) p->kind = p->kind * 3 + k; }
NOINLINE static void in_flex(struct flex *f, int k) { for (int i = 0; i < f->n; i++) f->values[i] = f->values[i] * 0.5 + k; }
NOINLINE static void in_union(int k) { struct both *b = &either; for (int i = 0; i < N; i++) b->u.l[i] = b->u.l[i] * 3 + k; }
NOINLINE static double in_chain(void) { double s = 0; for (struct node *n = chain; n; n = n->next) s += n->load; return s; }
NOINLINE static void in_deep(int k) { for (int i = 0; i < N; i++) outer_.in.deep[i] = outer_.in.deep[i] * 0.5 + k; }
NOINLINE static double in_pts(const struct outer *o) { double s = 0; for (int i = 0; i < N; i++) s += o->in.pts[i].y; return s; }
NOINLINE static void in_rows(int k) { for (int r = 0; r < 64; r++) for (int j = 0; j < 64; j++) rows[r][j] = rows[r][j] * 0.5 + k; }
NOINLINE static void in_matrix(double m[][64], int n, int k) { for (int r = 0; r < n; r++) for (int j = 0; j < 64; j++) m[r][j] = m[r][j] * 0.5 + k; }
NOINLINE static void in_vla(int n, double m[n][n][n], int k) { for (int a = 0; a < n; a++) for (int b = 0; b < n; b++) for (int c = 0; c < n; c++) m[a][b][c] = m[a][b][c] * 0.5 + k; }
NOINLINE static void count(void) { for (int i = 0; i < N; i++) histogram[bytes[i]]++; }
NOINLINE static void step(double *p, int k) { for (int i = 0; i < N; i++) p[i] = p[i] * 0.5 + k; }
NOINLINE static void by_pointer(stepper f, double *p, int k) { f(p, k); }
NOINLINE static void swapped(int k) { double *a = left, *b = right; for (int i = 0; i < 2; i++) { double *t = a; a = b; b = t; for (int j = 0; j < N / 2; j++) a[j] = b[j] * 0.5 + k; } }
NOINLINE static void in_slices(int k) { double (*s)[64] = slices; for (int r = 0; r < 64; r++) for (double *p = s[r], *e = p + 64; p != e; p++) *p = *p * 0.5 + k; }
NOINLINE static double weigh(void) { static double state[N]; double s = 0; state[cnt++ & 7] += 1; for (int i = 0; i < N; i++) s += state[i] * weights[i & 7]; return s; }

int main(void)
{
    flexible = calloc(1, sizeof *flexible + N * sizeof(double));
    flexible->n = N;
    for (int i = 0; i < N; i++) { struct node *n = calloc(1, sizeof *n); n->next = chain; chain = n; bytes[i] = i * 7; }
    rows = malloc(64 * sizeof *rows);
    for (int i = 0; i < 64; i++) rows[i] = calloc(64, sizeof **rows);
    slices = calloc(64, sizeof *slices);
    int k = 0;
    PART("points", 40, in_points(k++));
    PART("bitfields", 40, in_bits(k++));
    PART("flex", 40, in_flex(flexible, k++));
    PART("unions", 40, in_union(k++));
    PART("chained", 40, sink = in_chain());
    PART("deeply", 40, in_deep(k++));
    PART("pts", 40, sink = in_pts(&outer_));
    PART("rows", 40, in_rows(k++));
    PART("matrix", 40, in_matrix(matrix, 64, k++));
    PART("cube", 40, in_vla(16, cube, k++));
    PART("counted", 40, count());
    PART("pointer", 40, by_pointer(step, table, k++));
    PART("swapped", 40, swapped(k++));
    PART("slices", 40, in_slices(k++));
    PART("weighed", 40, sink = weigh());
    print_parts();
    return 0;
}
