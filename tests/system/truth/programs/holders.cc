// Arrays that objects of C++17's library hold or that are reached through them.
#include "parts.h"
#include <array>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

enum { N = 4096 };
struct cell { double value; long n; };
struct sheet { double rows[N]; long counts[N]; std::vector<double> extra; };
static std::deque<double> deque_;
static std::map<int, cell> map_;
static std::unordered_map<int, cell> hashed;
static std::list<cell> list_;
static std::set<long> set_;
static std::optional<std::vector<double>> optional_;
static std::variant<std::vector<int>, std::vector<double>> variant_;
static std::tuple<std::vector<double>, int> tuple_;
static std::pair<std::vector<double>, std::vector<double>> pair_;
static std::string text;
static std::array<std::array<double, 64>, 64> square;
static std::unique_ptr<double[]> owned;
static std::shared_ptr<std::vector<double>> shared;
static sheet sheet_;
static std::vector<cell> cells;
static std::vector<std::vector<double>> nested;
static std::vector<bool> bits;

NOINLINE static void in_deque(int k) { for (auto it = deque_.begin(); it != deque_.end(); ++it) *it = *it * 0.5 + k; }
NOINLINE static void in_map(int k) { for (auto &[key, c] : map_) c.value = c.value * 0.5 + key + k; }
NOINLINE static double in_hashed() { double s = 0; for (auto it = hashed.begin(); it != hashed.end(); ++it) s += it->second.value; return s; }
NOINLINE static void in_list(int k) { for (cell &c : list_) c.n = c.n * 3 + k; }
NOINLINE static long in_set() { long s = 0; for (long x : set_) s += x ^ s; return s; }
NOINLINE static void in_optional(int k) { for (double &x : *optional_) x = x * 0.5 + k; }
NOINLINE static void in_variant(int k) { auto &v = std::get<1>(variant_); for (size_t i = 0; i < v.size(); i++) v[i] = v[i] * 0.5 + k; }
NOINLINE static double in_tuple() { double s = 0; const auto &[v, n] = tuple_; for (double x : v) s += x * n; return s; }
NOINLINE static void in_pair(int k) { auto &[a, b] = pair_; for (size_t i = 0; i < a.size(); i++) a[i] = b[i] * 0.5 + k; }
NOINLINE static long in_view(std::string_view v) { long n = 0; for (char c : v) n += c == ' ' ? n & 3 : c; return n; }
NOINLINE static void in_square(int k) { for (auto &row : square) for (double &x : row) x = x * 0.5 + k; }
NOINLINE static void in_owned(int k) { for (int i = 0; i < N; i++) owned[i] = owned[i] * 0.5 + k; }
NOINLINE static void in_shared(int k) { for (auto &x : *shared) x = x * 0.5 + k; }
NOINLINE static void by_member(sheet *s, double (sheet::*rows)[N], int k) { for (int i = 0; i < N; i++) (s->*rows)[i] = (s->*rows)[i] * 0.5 + k; }
NOINLINE static double in_cells(double cell::*what) { double s = 0; for (const cell &c : cells) s += c.*what; return s; }
NOINLINE static void in_nested(int k) { for (auto &row : nested) for (size_t j = row.size(); j-- > 0;) row[j] = row[j] * 0.5 + k; }
NOINLINE static long in_bits() { long n = 0; for (size_t i = 0; i < bits.size(); i++) n += bits[i] ? n & 7 : 1; return n; }
NOINLINE static double backwards(const std::vector<double> &r) { double s = 0; for (auto it = r.rbegin(); it != r.rend(); ++it) s = s * 0.5 + *it; return s; }

int main()
{
    std::vector<double> reversed(N, 1.0);
    deque_.assign(N, 1.0);
    for (int i = 0; i < N; i++) { map_[i] = {1, i}; hashed[i] = {2, i}; list_.push_back({1, i}); set_.insert(i); text += i % 7 ? 'x' : ' '; bits.push_back(i & 1); }
    optional_ = std::vector<double>(N, 1.0);
    variant_ = std::vector<double>(N, 1.0);
    tuple_ = {std::vector<double>(N, 1.0), 2};
    pair_ = {std::vector<double>(N, 1.0), std::vector<double>(N, 2.0)};
    owned.reset(new double[N]());
    shared = std::make_shared<std::vector<double>>(N, 1.0);
    cells.resize(N);
    nested.assign(64, std::vector<double>(64, 1.0));
    int k = 0;
    PART("deque", 40, in_deque(k++));
    PART("map", 40, in_map(k++));
    PART("hashed", 40, sink = in_hashed());
    PART("list", 40, in_list(k++));
    PART("set", 40, sink = in_set());
    PART("optional", 40, in_optional(k++));
    PART("variant", 40, in_variant(k++));
    PART("tuple", 40, sink = in_tuple());
    PART("pair", 40, in_pair(k++));
    PART("text", 40, sink = in_view(text));
    PART("square", 40, in_square(k++));
    PART("owned", 40, in_owned(k++));
    PART("shared", 40, in_shared(k++));
    PART("rows", 40, by_member(&sheet_, &sheet::rows, k++));
    PART("cells", 40, sink = in_cells(&cell::value));
    PART("nested", 40, in_nested(k++));
    PART("bits", 40, sink = in_bits());
    PART("reversed", 40, sink = backwards(reversed));
    print_parts();
    return 0;
}
