#include <stdio.h>
static double u[1000];
__attribute__((noinline)) double sum(const double *p, int n) { double s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }
__attribute__((noinline)) int odd(int n);
__attribute__((noinline)) int even(int n) { return n == 0 ? 1 : odd(n - 1); }
int odd(int n) { return n == 0 ? 0 : even(n - 1); }
int main(void) { for (int t = 0; t < 100; t++) { for (int i = 0; i < 1000; i++) u[i] += i * t; u[0] += sum(u, 1000); } printf("%g %d\n", u[0], even(10)); }
