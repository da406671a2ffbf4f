// C++: sentences that live as long as an object, also when an exception ends it; a mapping to a sentence above.
#include <cstdio>
#include <perfmap.h>
#include <stdexcept>

static volatile double sink;

static void work(int n)
{
    for (int i = 0; i < n; i++)
        sink = sink + i;
}

int main()
{
    pm_level plan = pm_define_level("Plan", "Source"), sql = pm_define_level("SQL", "Plan");
    pm_noun scan = pm_define_noun(plan, "scan of t", "operator"), q = pm_define_noun(sql, "SELECT * FROM t", "query");
    pm_sentence scans = pm_define_sentence(pm_define_verb(plan, "Scans"), &scan, 1), executes = pm_define_sentence(pm_define_verb(sql, "Executes"), &q, 1);
    pm_map(scans, executes, 0);
    int caught = 0;
    for (int i = 0; i < 300; i++)
        try {
            perfmap::active a(scans);
            work(100000);
            if (i % 3 == 0)
                throw std::runtime_error("stop");
        } catch (const std::exception &) {
            caught++;
            work(100000); // not in the scan
        }
    std::printf("%d\n", caught);
    return caught == 100 ? 0 : 1;
}
