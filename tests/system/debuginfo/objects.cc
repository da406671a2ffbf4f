#include <algorithm>
#include <map>
#include <string>
#include <vector>
namespace ns {
template <class T> struct box {
    T value;
    explicit box(T v) : value(v) {}
    T get() const { return value; }
    static int count(const std::vector<T> &v) { return (int)std::count(v.begin(), v.end(), T()); }
};
namespace {
__attribute__((noinline)) int hidden(int x) { return x * 3 + 1; }
}
int f(int x) { return box<int>(x).get() + hidden(x); }
struct shape { virtual ~shape() {} virtual double area() const = 0; };
struct square : shape { double s; square(double s) : s(s) {} double area() const override { return s * s; } };
}
extern "C" int plain(std::vector<std::string> &v)
{
    std::sort(v.begin(), v.end(), [](const std::string &a, const std::string &b) { return a.size() < b.size(); });
    std::map<std::string, int> m;
    for (auto &s : v) m[s]++;
    return (int)m.size();
}
int main(int argc, char **argv)
{
    std::vector<std::string> v(argv, argv + argc);
    std::vector<int> w(argc, 0);
    ns::shape *s = new ns::square(argc);
    double a = s->area();
    delete s;
    try { if (argc > 5) throw 3; } catch (int e) { return e; }
    return plain(v) + ns::f(argc) + ns::box<int>::count(w) + (int)a;
}
