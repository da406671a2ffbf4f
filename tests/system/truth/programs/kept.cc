// Arrays whose addresses objects of the library keep, and hand on.
#include "parts.h"
#include <array>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

enum { N = 2000 };
static double pushed[N], listed[N], keyed[N], inserted[N], paired[N], tupled[N], optional_[N], varied[N];
static double in_job[N], in_task[N], owned[N], queued[N], chained[N], returned_[N], in_member[N], stepped[N];

struct job {
    double *data;
    int n;
};
class task {
    double *data;

public:
    explicit task(double *d) : data(d) {}
    void step() const;
};
class rows {
    std::vector<double *> all;

public:
    void add(double *row) { all.push_back(row); }
    void step() const;
};

NOINLINE static void step(double *to)
{
    for (int i = 0; i < N; i++)
        to[i] = to[i] * 0.5 + 1;
}

void task::step() const { ::step(data); }
void rows::step() const
{
    for (double *row : all)
        ::step(row);
}

NOINLINE static void step_map(std::map<int, double *> &m)
{
    for (auto &entry : m)
        for (int i = 0; i < N; i++)
            entry.second[i] = entry.second[i] * 0.5 + 1;
}

NOINLINE static void step_names(std::unordered_map<std::string, double *> &m)
{
    double *found = m.at("k");
    for (int i = 0; i < N; i++)
        found[i] = found[i] * 0.5 + 1;
}

NOINLINE static void step_pair(std::pair<double *, int> p)
{
    for (int i = 0; i < p.second; i++)
        p.first[i] = p.first[i] * 0.5 + 1;
}

NOINLINE static void step_jobs(const std::vector<job> &jobs)
{
    for (const job &j : jobs)
        for (int i = 0; i < j.n; i++)
            j.data[i] = j.data[i] * 0.5 + 1;
}

NOINLINE static void step_chain(std::list<std::pair<std::string, double *>> &all)
{
    for (auto &[name, row] : all)
        for (int i = 0; i < N; i++)
            row[i] = row[i] * 0.5 + 1;
}

/* The pointer is read from an array of them. */
NOINLINE static void step_rows(double **all, int n)
{
    for (int k = 0; k < n; k++) {
        double *row = all[k];
        for (int i = 0; i < N; i++)
            row[i] = row[i] * 0.5 + 1;
    }
}

NOINLINE static std::vector<double *> make_rows(double *row)
{
    std::vector<double *> made;
    made.push_back(row);
    return made;
}

/* What is returned is made where the caller wants it. */
NOINLINE static std::vector<double> make_filled(int n)
{
    std::vector<double> filled(n);
    for (int k = 0; k < 40; k++)
        for (int i = 0; i < n; i++)
            filled[i] = filled[i] * 0.5 + k;
    return filled;
}

int main()
{
    double sum = 0;
    std::vector<double *> v;
    v.push_back(pushed);
    std::vector<double *> list = {listed};
    std::map<int, double *> by_key;
    by_key.emplace(3, keyed);
    std::unordered_map<std::string, double *> by_name;
    by_name.insert({"k", inserted});
    auto pair = std::make_pair(paired, int{N});
    std::tuple<double *, int> tuple(tupled, N);
    std::optional<double *> optional = optional_;
    std::variant<int, double *> variant = varied;
    std::vector<job> jobs;
    jobs.push_back({in_job, N});
    std::vector<task> tasks;
    tasks.emplace_back(in_task);
    auto owner = std::make_unique<task>(owned);
    std::queue<double *> queue;
    queue.push(queued);
    std::list<std::pair<std::string, double *>> chain;
    chain.emplace_back("x", chained);
    auto made = make_rows(returned_);
    rows r;
    r.add(in_member);
    double *table[1] = {stepped};

    PART("v", 40, step(v[0]));
    PART("list", 40, for (double *p : list) step(p));
    PART("map", 40, step_map(by_key));
    PART("names", 40, step_names(by_name));
    PART("pair", 40, step_pair(pair));
    PART("tuple", 40, step(std::get<0>(tuple)));
    PART("optional", 40, step(*optional));
    PART("variant", 40, step(*std::get_if<double *>(&variant)));
    PART("jobs", 40, step_jobs(jobs));
    PART("tasks", 40, tasks[0].step());
    PART("owner", 40, owner->step());
    PART("queue", 40, step(queue.front()));
    PART("chain", 40, step_chain(chain));
    PART("made", 40, for (double *p : made) step(p));
    PART("member", 40, r.step());
    PART("table", 40, step_rows(table, 1));
    PART("filled", 40, sum += make_filled(N)[7]);
    print_parts();
    return sum < 0;
}
