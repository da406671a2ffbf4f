// Of every second element: vectorised by Clang, with loads and stores that have the place of the loop before LLVM 15.
struct particle {
    double x, v;

    void step(double dt) { x += v * dt; }
};

__attribute__((noinline)) static void advance(particle *particles, double dt)
{
    for (int i = 0; i < 2048; i++) // loop
        particles[i].step(dt);
}

static particle all[2048];

int main()
{
    for (int k = 0; k < 100; k++)
        advance(all, 0.25);
    return all[5].x > 0;
}
