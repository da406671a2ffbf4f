// Destructors of a library: one body calls another through the dynamic linker's tables.
struct plain {
    virtual ~plain();
};

struct inner : virtual plain {
    ~inner() override;
};

struct outer : inner {
    ~outer() override;
};

static volatile long n_plain, n_inner, n_outer;

plain::~plain()
{
    n_plain = n_plain + 1;
}

inner::~inner()
{
    n_inner = n_inner + 1;
}

outer::~outer()
{
    n_outer = n_outer + 1;
}

static void destroy(plain *p)
{
    delete p;
}

extern "C" void tear_down(long *ret_plain, long *ret_inner, long *ret_outer)
{
    for (int i = 0; i < 3000; i++) {
        destroy(new plain);
        destroy(i % 3 ? new inner : new outer);
        outer in_scope;
    }
    *ret_plain = n_plain;
    *ret_inner = n_inner;
    *ret_outer = n_outer;
}
