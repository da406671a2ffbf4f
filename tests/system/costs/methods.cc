// Methods that are called for arrays: inlined into loops over two of them, or called through pointers, for their own object, for what they are passed.
#include <algorithm>
#include <cstdio>

struct Particle {
    double x, v, weights[2];
    void step(double dt) { x += v * dt; }
    __attribute__((noinline, noclone)) void push(double dt);
    __attribute__((noinline, noclone)) void pull(double dt) { x -= v * dt; }
    __attribute__((noinline, noclone)) void turn(double dt);
    __attribute__((noinline, noclone)) void meet(const Particle &other);
    __attribute__((noinline, noclone)) void clip(double most) { x = std::max(std::min(x, most), v); }
};

void Particle::push(double dt)
{
    x += v * dt;
    weights[0] += dt;
}

void Particle::turn(double dt)
{
    v = -v;
    push(dt);
    step(dt);
}

void Particle::meet(const Particle &other)
{
    v += other.v * 0.5;
}

static Particle ones[1000], others[1000], passed[1000];

__attribute__((noinline, noclone)) static void run(Particle *p, int n)
{
    for (int i = 0; i < n; i++)
        p[i].pull(0.5);
}

int main()
{
    for (int k = 0; k < 20; k++) {
        for (int i = 0; i < 1000; i++)
            ones[i].step(0.1);
        for (int i = 0; i < 1000; i += 2)
            others[i].step(0.2);
        run(passed, 1000);
        for (int i = 0; i < 1000; i++) {
            others[i].turn(0.2);
            others[i].meet(ones[i]);
            ones[i].clip(100);
        }
    }
    std::printf("%g %g %g\n", ones[3].x, others[4].x, passed[1].x);
}
