// Particles: array of structures, structure of arrays, expression templates, CRTP, matrix class.
#include "parts.h"
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>
#include <valarray>
#include <algorithm>
#include <numeric>
struct vec3 { double x, y, z; vec3 &operator+=(const vec3 &o) { x += o.x; y += o.y; z += o.z; return *this; } };
inline vec3 operator*(const vec3 &a, double s) { return {a.x * s, a.y * s, a.z * s}; }
struct particle { vec3 pos, vel; double mass; int id; };
struct particles { std::vector<double> x, y, vx, vy; std::vector<float> m; };
enum { N = 2048 };
static std::vector<particle> aos(N);
static particles soa;
template <typename E> struct expr { const E &self() const { return static_cast<const E &>(*this); } };
struct dense : expr<dense> {
    std::vector<double> d;
    explicit dense(size_t n, double v = 0) : d(n, v) {}
    double operator[](size_t i) const { return d[i]; }
    double &operator[](size_t i) { return d[i]; }
    size_t size() const { return d.size(); }
    template <typename E> dense &operator=(const expr<E> &e) { const E &s = e.self(); for (size_t i = 0; i < d.size(); i++) d[i] = s[i]; return *this; }
};
template <typename A, typename B> struct sum_of : expr<sum_of<A, B>> { const A &a; const B &b; sum_of(const A &p, const B &q) : a(p), b(q) {} double operator[](size_t i) const { return a[i] + b[i]; } };
template <typename A> struct scaled : expr<scaled<A>> { const A &a; double s; scaled(const A &p, double q) : a(p), s(q) {} double operator[](size_t i) const { return a[i] * s; } };
template <typename A, typename B> sum_of<A, B> operator+(const expr<A> &a, const expr<B> &b) { return {a.self(), b.self()}; }
template <typename A> scaled<A> operator*(const expr<A> &a, double s) { return {a.self(), s}; }
static dense ea(N, 1), eb(N, 2), ec(N);
template <typename T, size_t R, size_t C> class matrix {
    std::array<T, R * C> cells_{};
public:
    T &operator()(size_t r, size_t c) { return cells_[r * C + c]; }
    const T &operator()(size_t r, size_t c) const { return cells_[r * C + c]; }
};
static matrix<double, 48, 48> ma, mb, mc;
template <typename D> struct solver { NOINLINE void run(int n) { for (int i = 0; i < n; i++) static_cast<D *>(this)->step(i); } };
struct jacobi : solver<jacobi> { std::vector<double> u = std::vector<double>(N, 1), w = std::vector<double>(N); void step(int k) { for (size_t i = 1; i + 1 < u.size(); i++) w[i] = (u[i - 1] + u[i + 1]) * 0.5 + k; } };
static jacobi jac;
static std::valarray<double> va(N), vb(N);
NOINLINE static void drift(double dt) { for (auto &p : aos) p.pos += p.vel * dt; }
NOINLINE static void kick(double k) { for (size_t i = 0; i < aos.size(); ++i) aos[i].vel.x = aos[i].vel.x * 0.5 + k; }
NOINLINE static double mass_of() { return std::accumulate(aos.begin(), aos.end(), 0.0, [](double s, const particle &p) { return s * 0.5 + p.mass; }); }
NOINLINE static void soa_drift(double dt) { for (size_t i = 0; i < soa.x.size(); i++) soa.x[i] = soa.x[i] * 0.5 + soa.vx[i] * dt; }
NOINLINE static void soa_by_ref(particles &s, double dt) { auto &y = s.y; const auto &vy = s.vy; for (size_t i = 0; i < y.size(); i++) y[i] = y[i] * 0.5 + vy[i] * dt; }
NOINLINE static void expression(double k) { ec = ea * k + eb; }
NOINLINE static void product() { for (size_t i = 0; i < 48; i++) for (size_t j = 0; j < 48; j++) { double s = 0; for (size_t k = 0; k < 48; k++) s += ma(i, k) * mb(k, j); mc(i, j) = s; } }
NOINLINE static void val(double k) { va = vb * k + 1.0; }
NOINLINE static void clamp_all() { std::transform(soa.m.begin(), soa.m.end(), soa.m.begin(), [](float v) { return v * 0.5f + 1; }); }
NOINLINE static int find_id(int id) { auto it = std::find_if(aos.begin(), aos.end(), [id](const particle &p) { return p.id == id; }); return it == aos.end() ? -1 : it->id; }
int main()
{
    soa.x.resize(N); soa.y.resize(N); soa.vx.resize(N); soa.vy.resize(N); soa.m.resize(N);
    int k = 0;
    PART("drift", 40, drift(k++));
    PART("kick", 40, kick(k++));
    PART("mass", 40, sink = mass_of());
    PART("soa_drift", 40, soa_drift(k++));
    PART("soa_ref", 40, soa_by_ref(soa, k++));
    PART("expression", 40, expression(k++));
    PART("product", 40, product());
    PART("jacobi", 40, jac.run(4));
    PART("val", 40, val(k++));
    PART("clamp", 40, clamp_all());
    PART("find", 40, sink = find_id(-3));
    print_parts();
}
