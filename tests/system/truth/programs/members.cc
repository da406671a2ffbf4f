/* Members that methods write through `this`, containers of containers, arrays of classes. Each method or function has the whole time of one. */
#include "truth.h"

#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <valarray>
#include <vector>

enum { N = 2048 };

static volatile double sink;

class field
{
    double b[N] = {};
    std::array<float, N> level = {};
    std::vector<int> marks = std::vector<int>(N);
    std::unique_ptr<long[]> owned = std::make_unique<long[]>(N);
    std::vector<std::vector<double>> rows =
        std::vector<std::vector<double>>(32, std::vector<double>(N / 32, 1.0));

  public:
    NOINLINE void relax()
    {
        for (int i = 1; i < N; i++)
            b[i] = b[i - 1] * 0.5 + i;
    }
    NOINLINE void raise(float by)
    {
        for (int i = 0; i < N; i++)
            level[i] += by;
    }
    NOINLINE void mark(int value)
    {
        for (size_t i = 0; i < marks.size(); i++)
            marks[i] = value + int(i);
    }
    NOINLINE void own(long value)
    {
        for (int i = 0; i < N; i++)
            owned[i] ^= value;
    }
    NOINLINE void nest()
    {
        for (size_t i = 0; i < rows.size(); i++)
            for (size_t k = 0; k < rows[i].size(); k++)
                rows[i][k] = rows[i][k] * 0.75 + 1;
    }
};

struct particle {
    double x, v;

    void step(double dt) { x += v * dt; }
};

/* Its elements are its member's: of which object, the code does not say. */
struct image {
    double cells[N];

    NOINLINE image &operator=(const image &from)
    {
        for (int i = 0; i < N; i++)
            cells[i] = from.cells[i] * 0.5 + 1;
        return *this;
    }
    NOINLINE void restore(const image &from)
    {
        *this = from;
        AGAIN();
    }
};

NOINLINE static void move(particle *particles, double dt)
{
    for (int i = 0; i < N; i++)
        particles[i].step(dt);
}

NOINLINE static void tally(std::unordered_map<int, int> &counts)
{
    for (int i = 0; i < N; i++)
        counts[i & 255]++;
}

NOINLINE static void spell(std::string &text)
{
    for (size_t i = 0; i < text.size(); i++)
        text[i] = char('a' + i % 26);
}

NOINLINE static void blend(std::valarray<double> &blended, const std::valarray<double> &other)
{
    blended = blended * 0.5 + other;
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

/* As often as takes 100 ms. */
template <class function> static double spent(function called)
{
    double once = measured(20, called);
    int times = int(100 / (once / 20));
    return once + measured(times, called);
}

int main()
{
    auto f = std::make_unique<field>();
    auto particles = std::make_unique<particle[]>(N);
    std::unordered_map<int, int> counts;
    std::string text(N, 'x');
    static image current, kept;
    std::valarray<double> blended(1.0, N), other(2.0, N);
    int k = 0;
    double ms[] = {
        spent([&] { f->relax(); }),
        spent([&] { f->raise(0.5f); }),
        spent([&] { f->mark(k++); }),
        spent([&] { f->own(k++); }),
        spent([&] { f->nest(); }),
        spent([&] { move(particles.get(), 0.25); }),
        spent([&] { tally(counts); }),
        spent([&] { spell(text); }),
        spent([&] { blend(blended, other); }),
        spent([&] { current.restore(kept); }),
    };
    static const char *const names[] = {"b",     "level",  "marks", "owned",   "rows",
                                        "moved", "counts", "text",  "blended", "restored"};
    double all = 0;
    for (double part : ms)
        all += part;
    for (int i = 0; i < 10; i++)
        truth(names[i], 100 * ms[i] / all);
    sink = all;
    return 0;
}
