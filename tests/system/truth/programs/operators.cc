// Vectors and matrices of the user's own classes. At -O0 the time lies in operator[], size() and at(), and in the code that uses the reference that they return.
#include "truth.h"
#include <cstddef>
#include <cstdlib>

enum { N = 4096, SIDE = 64 };
static volatile double sink;

class vec {
    double *data_;
    size_t n_;
  public:
    explicit vec(size_t n) : data_(new double[n]()), n_(n) {}
    ~vec() { delete[] data_; }
    double &operator[](size_t i) { return data_[i]; }
    const double &operator[](size_t i) const { return data_[i]; }
    size_t size() const { return n_; }
};

class matrix {
    double *cells;
    size_t rows_, columns_;
  public:
    matrix(size_t r, size_t c) : cells(new double[r * c]()), rows_(r), columns_(c) {}
    ~matrix() { delete[] cells; }
    double &operator()(size_t i, size_t j) { return cells[i * columns_ + j]; }
    double operator()(size_t i, size_t j) const { return cells[i * columns_ + j]; }
    double *operator[](size_t i) { return cells + i * columns_; }
};

template <class T, size_t M> class fixed {
    T items[M];
  public:
    T &operator[](size_t i) { return items[i]; }
    T &at(size_t i) { if (i >= M) abort(); return items[i]; }
};

NOINLINE static void scale(vec &alpha)
{
    for (size_t i = 0; i < alpha.size(); i++)
        alpha[i] = alpha[i] * 0.5 + 1;
}

NOINLINE static double total(const vec &beta)
{
    double sum = 0;
    for (size_t i = 0; i < beta.size(); i++)
        sum += beta[i];
    return sum;
}

NOINLINE static void relax(matrix &gamma)
{
    for (size_t i = 0; i < SIDE; i++)
        for (size_t j = 0; j < SIDE; j++)
            gamma(i, j) = gamma(i, j) * 0.5 + 1;
}

NOINLINE static void rows(matrix &delta)
{
    for (size_t i = 0; i < SIDE; i++)
        for (size_t j = 0; j < SIDE; j++)
            delta[i][j] = delta[i][j] * 0.5 + 1;
}

NOINLINE static void fill(fixed<double, N> &epsilon)
{
    for (size_t i = 0; i < N; i++)
        epsilon[i] += 1.5;
    for (size_t i = 0; i < N; i++)
        epsilon.at(i) *= 0.5;
}

template <class function> static double measured(int times, function called)
{
    double begin = THREAD_MS();
    while (times-- > 0) {
        AGAIN();
        called();
    }
    return THREAD_MS() - begin;
}

template <class function> static double spent(function called)
{
    double once = measured(20, called);
    int times = int(120 / (once / 20));
    return once + measured(times, called);
}

static fixed<double, N> stat;

int main()
{
    vec a(N), b(N);
    matrix m(SIDE, SIDE), r(SIDE, SIDE);
    double ms[] = {
        spent([&] { scale(a); }),
        spent([&] { sink = total(b); }),
        spent([&] { relax(m); }),
        spent([&] { rows(r); }),
        spent([&] { fill(stat); }),
    };
    static const char *const names[] = {"scaled", "totalled", "relaxed", "rowed", "filled"};
    double all = 0;
    for (double part : ms)
        all += part;
    for (int i = 0; i < 5; i++)
        truth(names[i], 100 * ms[i] / all);
}
