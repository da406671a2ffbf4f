// Algorithms that move whole elements of records.
#include "parts.h"
#include <algorithm>
#include <cstring>
#include <list>
#include <numeric>
#include <vector>
enum { N = 1024 };
struct person { int id; double height; long born; };
struct small { int key; int value; };
struct pix { unsigned char r, g, b; };
struct seen { long first, last; };
static std::vector<person> people(N), backup(N);
static small smalls[N], smalls_from[N];
static std::vector<pix> image(N * 4), image_to(N * 4);
static std::vector<seen> seens(N);
static std::vector<long> plain(N);
NOINLINE static void by_id() { std::sort(people.begin(), people.end(), [](const person &a, const person &b) { return a.id < b.id; }); }
NOINLINE static void restore() { std::copy(backup.begin(), backup.end(), people.begin()); }
NOINLINE static void turn() { std::reverse(smalls, smalls + N); }
NOINLINE static void fill_image(pix p) { std::fill(image.begin(), image.end(), p); }
NOINLINE static void take_image() { image_to = image; }
NOINLINE static void rotate_seen() { std::rotate(seens.begin(), seens.begin() + 7, seens.end()); }
NOINLINE static void swap_smalls() { std::swap_ranges(smalls, smalls + N, smalls_from); }
NOINLINE static void shuffle_plain(long k) { for (size_t i = 0; i < plain.size(); i++) plain[i] = (i * 7919 + k) % 1021; std::sort(plain.begin(), plain.end()); }
int main()
{
    for (int i = 0; i < N; i++) backup[i] = {i * 7919 % 1021, 1.0, i};
    long k = 0;
    PART("sorting", 80, restore(); by_id());
    PART("copying", 40, restore());
    PART("turning", 40, turn());
    PART("filling", 40, fill_image({(unsigned char)k++, 2, 3}));
    PART("taking", 40, take_image());
    PART("rotating", 40, rotate_seen());
    PART("swapping", 40, swap_smalls());
    PART("plains", 40, shuffle_plain(k++));
    print_parts();
}
