#include <vector>

namespace geo
{
class Shape
{
  public:
    virtual ~Shape() {}
    virtual double area() const = 0;
    int id() const { return id_; }

  protected:
    int id_ = 0;
    static int count_;
};
int Shape::count_ = 0;

class Square final : public Shape
{
  public:
    explicit Square(double side) : side_(side) { count_++; }
    double area() const override { return side_ * side_; }
    operator double() const { return side_; }

  private:
    double side_;
};

template <typename T> T sum(const std::vector<T> &v)
{
    T all{};
    for (const T &x : v)
        all += x;
    return all;
}
} // namespace geo

static void fill(double &to)
{
    to = 1;
}

double total(const geo::Shape *const *shapes, int n)
{
    double all = 0, parts[4] = {0};
    for (int i = 0; i < n; i++)
        all += shapes[i]->area();
    auto add = [&](int k) { parts[k] += all; };
    add(1);
    fill(parts[2]);
    return all + geo::sum(std::vector<double>(3, 1.0));
}

int main()
{
    geo::Square s(2);
    const geo::Shape *p = &s;
    return total(&p, 1) > s.id();
}
