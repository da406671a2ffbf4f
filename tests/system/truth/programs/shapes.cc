// Virtual functions, a thunk of multiple inheritance, destructors, functions of one name in several classes.
#include "truth.h"

#include <memory>
#include <vector>

namespace {
long n_circle, n_square, n_drop, n_save;

struct shape {
    virtual ~shape() = default;
    virtual void draw(int n) = 0;
};
struct saved {
    virtual ~saved() = default;
    virtual void save() = 0;
};

struct circle final : shape, saved {
    NOINLINE void draw(int n) override
    {
        n_circle++;
        BURN(n);
    }
    NOINLINE void save() override
    {
        n_save++;
        BURN(4);
    }
};

struct square : shape {
    NOINLINE ~square() override
    {
        n_drop++;
        BURN(1);
    }
    NOINLINE void draw(int n) override
    {
        n_square++;
        BURN(2 * n);
    }
};

NOINLINE void draw_all(const std::vector<std::unique_ptr<shape>> &shapes)
{
    for (const auto &each : shapes)
        each->draw(3);
}

NOINLINE void save_all(const std::vector<saved *> &all)
{
    for (saved *each : all)
        each->save();
}
} // namespace

int main()
{
    for (int turn = 0; turn < 200; turn++) {
        std::vector<std::unique_ptr<shape>> shapes;
        std::vector<saved *> all;
        for (int i = 0; i < 50; i++) {
            if (i % 5 == 0) {
                auto made = std::make_unique<circle>();
                all.push_back(made.get());
                shapes.push_back(std::move(made));
            } else {
                shapes.push_back(std::make_unique<square>());
            }
        }
        draw_all(shapes);
        save_all(all);
    }
    // a turn: 10 circles of 3, 40 squares of 6, 10 saved of 4, 40 dropped of 1: 30 + 240 + 40 + 40
    truth("circle", 100 * 30 / 350.0);
    truth("square", 100 * 240 / 350.0);
    truth("saving", 100 * 40 / 350.0);
    truth("drop", 100 * 40 / 350.0);
    truth("n_circle", n_circle);
    truth("n_square", n_square);
    truth("n_save", n_save);
    truth("n_drop", n_drop);
    return 0;
}
