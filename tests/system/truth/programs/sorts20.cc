// Algorithms of std::ranges that move whole elements; projections; erase_if; containers that are moved, swapped and sorted by members.
#include "parts.h"
#include <algorithm>
#include <list>
#include <ranges>
#include <set>
#include <span>
#include <vector>
enum { N = 1024 };
struct person { int id; double height; long born; };
struct small { int key; int value; };
struct move_ { long a, b; };
static std::vector<person> people(N), backup(N);
static std::vector<small> smalls(N), others(N);
static std::list<small> listed;
static std::vector<move_> moves(N);
static std::multiset<int> tree;
NOINLINE static void restore() { std::ranges::copy(backup, people.begin()); }
NOINLINE static void by_id() { std::ranges::sort(people, {}, &person::id); }
NOINLINE static void turn() { std::ranges::reverse(smalls); }
NOINLINE static void filter_out(int k) { others = smalls; std::erase_if(others, [k](const small &s) { return s.key % 7 == k % 7; }); }
NOINLINE static void sort_list(int k) { for (auto &s : listed) s.key = (s.key * 31 + k) % 1009; listed.sort([](const small &a, const small &b) { return a.key < b.key; }); }
NOINLINE static void insert_front() { for (int i = 0; i < 4; i++) moves.insert(moves.begin(), move_{1, 2}); moves.resize(N); }
NOINLINE static double tallest() { return std::ranges::max_element(people, {}, &person::height)->height; }
int main()
{
    for (int i = 0; i < N; i++) { backup[i] = {i * 7919 % 1021, 1.0, i}; smalls[i] = {i, i}; listed.push_back({i * 17 % 1009, i}); }
    int k = 0;
    PART("sorting", 80, restore(); by_id());
    PART("turning", 40, turn());
    PART("erasing", 40, filter_out(k++));
    PART("listing", 60, sort_list(k++));
    PART("inserting", 40, insert_front());
    PART("tallest", 40, sink = tallest());
    print_parts();
}
