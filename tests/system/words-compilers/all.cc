// Everything that perfmap.h has for C++, from C++11: objects that leave by themselves, in threads, lambdas, templates, and when something is thrown.
#include <perfmap.h>

#include <mutex>
#include <thread>
#include <vector>

namespace
{
pm_sentence sentence()
{
    static std::once_flag once;
    static pm_sentence made;
    std::call_once(once, [] {
        pm_level level = pm_define_level("Words", nullptr);
        pm_noun noun = pm_define_noun(level, "thing", "thing");
        made = pm_define_sentence(pm_define_verb(level, "Uses"), &noun, 1);
    });
    return made;
}

template <typename F> auto within(pm_sentence s, F f) -> decltype(f())
{
    perfmap::active a(s);
    return f();
}

int thrower(bool throws)
{
    perfmap::active a(sentence());
    if (throws)
        throw 1;
    return 1;
}
} // namespace

int main()
{
    std::vector<std::thread> threads;
    pm_cause cause = pm_capture();
    for (int i = 0; i < 8; i++)
        threads.emplace_back([cause, i] {
            perfmap::adopted here(cause);
            for (int k = 0; k < 1000; k++) {
                auto inner = [k] { return within(sentence(), [k] { return k; }); };
                if (inner() != k)
                    return;
                try {
                    thrower(k % 2 == i % 2);
                } catch (int) {
                }
            }
        });
    for (auto &thread : threads)
        thread.join();
    const std::vector<pm_noun> nouns(9);
    return static_cast<int>(pm_define_sentence(pm_verb(), nouns.data(), nouns.size()).id);
}
