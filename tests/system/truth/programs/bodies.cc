// Destructors have several bodies, of which one calls another, and thunks; a destruction is one call all the same.
#include "truth.h"

static long n_derived, n_base, n_made;
static volatile long sink;

struct base {
    long value;
    explicit base(long x);
    virtual ~base();
};

struct derived : virtual base {
    long more;
    explicit derived(long x);
    ~derived() override;
};

base::base(long x) : value(x)
{
    n_made++;
    sink = sink + x;
}

base::~base()
{
    n_base++;
    sink = sink + 1;
}

derived::derived(long x) : base(x), more(x)
{
    sink = sink - x;
}

derived::~derived()
{
    n_derived++;
    sink = sink + 1;
}

int main()
{
    for (long i = 0; i < 2000; i++) {
        base *b = i % 2 ? new base(i) : new derived(i);
        delete b;
        derived d(i);
        sink = sink + d.more;
    }
    truth("n_derived", (double)n_derived);
    truth("n_base", (double)n_base);
    truth("n_made", (double)n_made);
    return 0;
}
