// Each class of a chain has all below it as virtual bases: there are 2^40 ways from the top to the bottom, and one object of each.
struct shared {};
template <int n> struct head : virtual shared {
    static int id;
    head() { id = n; }
};
template <int n> int head<n>::id;
template <int n> struct chain : virtual head<n>, virtual chain<n - 1> {};
template <> struct chain<0> : virtual head<0> {};
chain<40> &instance()
{
    static chain<40> only;
    return only;
}
int main() { return &instance() == nullptr; }
