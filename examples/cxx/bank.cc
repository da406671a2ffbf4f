// A bank's day in C++: virtual functions, templates, exceptions that leave loops, a recursive search, lambdas.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace bank
{
struct NoMoney : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Account
{
public:
    explicit Account(long cents) : cents_(cents) {}
    virtual ~Account() = default;
    virtual long fee(long amount) const = 0;
    void withdraw(long amount);
    void deposit(long amount) { cents_ += amount; }
    long cents() const { return cents_; }

private:
    long cents_;
};

void Account::withdraw(long amount)
{
    long all = amount + fee(amount);
    if (all > cents_)
        throw NoMoney("account is empty");
    cents_ -= all;
}

class Savings : public Account
{
public:
    using Account::Account;
    long fee(long amount) const override { return 100 + amount / 50; }
};

class Giro : public Account
{
public:
    using Account::Account;
    long fee(long) const override { return 10; }
};

template <typename Key, typename Compute> class Memo
{
public:
    explicit Memo(Compute compute) : compute_(compute) {}
    long operator()(Key key)
    {
        auto found = seen_.find(key);
        if (found != seen_.end())
            return found->second;
        return seen_[key] = compute_(key);
    }

private:
    Compute compute_;
    std::map<Key, long> seen_;
};

// How many ways are there to pay an amount with these coins?
long ways(long amount, const std::vector<long> &coins, size_t from)
{
    if (amount == 0)
        return 1;
    long n = 0;
    for (size_t i = from; i < coins.size(); i++)
        if (coins[i] <= amount)
            n += ways(amount - coins[i], coins, i);
    return n;
}
} // namespace bank

int main(int argc, char **argv)
{
    int n_days = argc > 1 ? std::atoi(argv[1]) : 10000;
    std::vector<std::unique_ptr<bank::Account>> accounts;
    for (int i = 0; i < 500; i++) {
        if (i % 3)
            accounts.push_back(std::make_unique<bank::Giro>(1000L * i));
        else
            accounts.push_back(std::make_unique<bank::Savings>(1500L * i));
    }
    long refused = 0;
    unsigned seed = 1;
    for (int day = 0; day < n_days; day++)
        for (size_t i = 0; i < accounts.size(); i++) {
            seed = seed * 1103515245u + 12345u;
            long amount = seed >> 16 & 0x3fff;
            try {
                accounts[i]->withdraw(amount);
                accounts[seed % accounts.size()]->deposit(amount);
            } catch (const bank::NoMoney &) {
                refused++;
            }
        }
    std::sort(accounts.begin(), accounts.end(),
              [](const auto &a, const auto &b) { return a->cents() > b->cents(); });
    const std::vector<long> coins = {200, 100, 50, 20, 10, 5};
    bank::Memo<long, long (*)(long)> change([](long amount) { return amount / 5 * 5; });
    long n = 0;
    for (long amount = 10; amount <= 600; amount += 10)
        n += bank::ways(change(amount), coins, 0);
    std::printf("refused %ld, richest %ld, ways %ld\n", refused, accounts[0]->cents(), n);
    return 0;
}
