// Classes, templates, lambdas, exceptions, overloads.
#include <stdexcept>
#include <vector>

namespace ns
{
struct field {
    double *cells;
    int n;
    static int n_fields;
    double sum() const
    {
        double s = 0;
        for (int i = 0; i < n; i++) // loop
            s += cells[i];
        return s;
    }
};
int field::n_fields;
double table[10];

template <class T> T total(const std::vector<T> &v)
{
    T s{};
    for (auto x : v) // loop
        s += x;
    return s;
}

int over(int k) { return k; }
double over(double k) { return k * 2; }
} // namespace ns

struct base {
    explicit base(int n) : n_(n)
    {
        while (n > 3) { // loop
            n--;
            n_ += n * 2;
        }
    }
    virtual ~base() {}
    virtual int f() { return n_; }
    int n_;
};

struct derived : virtual base {
    derived() : base(3)
    {
        for (int i = 0; i < 3; i++) // loop
            parts[i] = i;
    }
    int f() override { return parts[1]; }
    int parts[3];
};

int main(int argc, char **)
{
    std::vector<double> v(10);
    std::vector<int> w{1, 2, 3};
    auto lambda = [&](int k) {
        int s = 0;
        for (int i = 0; i < k; i++) // loop
            s += i * argc
                 + w[i % 3];
        return s;
    };
    ns::field f{v.data(), 10};
    ns::field::n_fields++;
    try {
        if (argc > 5)
            throw std::runtime_error("too many");
        ns::table[argc] = ns::total(v) + ns::total(w) + f.sum() + ns::over(1) + ns::over(2.0);
    } catch (const std::exception &e) {
        return 3;
    }
    derived *d = new derived;
    int n = d->f() + lambda(argc);
    delete d;
    return n == 12345;
}
