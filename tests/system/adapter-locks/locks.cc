// Locks of C++'s library by their names.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <thread>

namespace shop
{
std::mutex till;
std::shared_mutex prices;
std::condition_variable opened;
struct customer {
    std::recursive_mutex purse;
};
} // namespace shop

static void buy(shop::customer &who)
{
    for (int i = 0; i < 500; i++) {
        std::lock_guard<std::mutex> guard(shop::till);
        std::shared_lock<std::shared_mutex> reading(shop::prices);
        std::lock_guard<std::recursive_mutex> own(who.purse), again(who.purse);
    }
}

int main()
{
    static shop::customer first;
    bool is_open = false;
    std::thread keeper([&] {
        std::unique_lock<std::mutex> lock(shop::till);
        is_open = true;
        shop::opened.notify_all();
    });
    {
        std::unique_lock<std::mutex> lock(shop::till);
        shop::opened.wait(lock, [&] { return is_open; });
    }
    keeper.join();
    std::thread one(buy, std::ref(first)), two(buy, std::ref(first));
    one.join();
    two.join();
    std::unique_lock<std::shared_mutex> writing(shop::prices);
    std::puts("done");
}
