template <class T> __attribute__((noinline)) T total(const T *p, int n)
{
    T s = 0;
    for (int i = 0; i < n; i++)
        s += p[i] * p[i];
    return s;
}

struct counter {
    int n = 0;
    virtual ~counter() { n--; }
    virtual void add(int by)
    {
        if (by < 0)
            throw by;
        n += by;
    }
};
