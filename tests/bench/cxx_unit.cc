/* How long does a C++ program take for a small piece of work: an expression parser with virtual
 * calls, exceptions for one expression in eight, maps, strings, templates and a sort? The same
 * piece many times in one process; prints the shortest in nanoseconds.
 *
 *     cxx_unit [SECONDS [REPETITIONS]]
 */
#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

using Names = std::map<std::string, long>;

struct Node {
    virtual ~Node() = default;
    virtual long value(const Names &names) const = 0;
};

struct Number : Node {
    long n;
    explicit Number(long n) : n(n) {}
    long value(const Names &) const override { return n; }
};

struct Name : Node {
    std::string name;
    explicit Name(std::string name) : name(std::move(name)) {}
    long value(const Names &names) const override { return names.at(name); }
};

template <typename Operation> struct Binary : Node {
    std::unique_ptr<Node> left, right;
    Binary(std::unique_ptr<Node> left, std::unique_ptr<Node> right)
        : left(std::move(left)), right(std::move(right))
    {
    }
    long value(const Names &names) const override
    {
        return Operation()(left->value(names), right->value(names));
    }
};

class Parser
{
    const std::string &text;
    size_t at = 0;

    std::unique_ptr<Node> atom()
    {
        if (at >= text.size())
            throw std::runtime_error("the expression ends too early: " + text);
        char c = text[at];
        if (c == '(') {
            at++;
            auto inner = sum();
            if (at >= text.size() || text[at] != ')')
                throw std::runtime_error("no closing bracket: " + text);
            at++;
            return inner;
        }
        size_t start = at;
        if (c >= '0' && c <= '9') {
            while (at < text.size() && text[at] >= '0' && text[at] <= '9')
                at++;
            return std::make_unique<Number>(std::stol(text.substr(start, at - start)));
        }
        while (at < text.size() && text[at] >= 'a' && text[at] <= 'z')
            at++;
        if (at == start)
            throw std::invalid_argument(std::string("what is ") + c);
        return std::make_unique<Name>(text.substr(start, at - start));
    }

    std::unique_ptr<Node> product()
    {
        auto left = atom();
        while (at < text.size() && text[at] == '*') {
            at++;
            left = std::make_unique<Binary<std::multiplies<long>>>(std::move(left), atom());
        }
        return left;
    }

  public:
    explicit Parser(const std::string &text) : text(text) {}

    std::unique_ptr<Node> sum()
    {
        auto left = product();
        while (at < text.size() && text[at] == '+') {
            at++;
            left = std::make_unique<Binary<std::plus<long>>>(std::move(left), product());
        }
        return left;
    }
};

static long evaluate(const std::string &text, const Names &names)
{
    try {
        return Parser(text).sum()->value(names);
    } catch (const std::runtime_error &error) {
        return (long)std::string(error.what()).size();
    } catch (const std::out_of_range &) {
        return -1;
    }
}

template <typename T, typename Less> static T middle(std::vector<T> all, Less less)
{
    std::sort(all.begin(), all.end(), less);
    return all[all.size() / 2];
}

static long unit()
{
    Names names = {{"a", 3}, {"b", 5}, {"width", 7}, {"height", 11}};
    std::unordered_map<std::string, long> seen;
    std::vector<long> results;
    for (int i = 0; i < 400; i++) {
        std::string n = std::to_string(i * 7919 % 401);
        std::string text = "(a+" + n + ")*b+width*(height+" + n + "*2)";
        if (i % 16 == 3)
            text += "*(b+1";
        if (i % 16 == 11)
            text += "+depth";
        results.push_back(evaluate(text, names));
        seen[text] += results.back();
    }
    long total = middle(results, [](long a, long b) { return a % 1009 < b % 1009; });
    return std::accumulate(seen.begin(), seen.end(), total,
                           [](long sum, const auto &entry) { return sum + entry.second; });
}

int main(int argc, char **argv)
{
    using clock = std::chrono::steady_clock;
    auto end = clock::now() + std::chrono::duration<double>(argc > 1 ? atof(argv[1]) : 1);
    long n_left = argc > 2 ? atol(argv[2]) : LONG_MAX;
    const long expected = unit();
    long long best = -1;
    for (auto start = clock::now(); n_left-- > 0 && start < end; start = clock::now()) {
        if (unit() != expected)
            return 1;
        long long ns =
            std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now() - start).count();
        if (best < 0 || ns < best)
            best = ns;
    }
    printf("%lld\n", best);
    return 0;
}
