/* What libraries.c loads: -DPREFIX=first or second, with functions at different places. It counts in the three places that it is given:
 * calls, constructors, destructors. */
struct count {
    char name[24];
    long n;
};

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define SEPARATE __attribute__((noinline, noclone))

static struct count *counts;
static long n_started;

long JOIN(PREFIX, call)(long n);
void begin(struct count *place);

#if FACTOR == 5
long padding(long n);
long padding(long n)
{
    volatile long sum = 0;
    for (long i = 0; i < n; i++)
        sum += i;
    return sum;
}
#endif

SEPARATE long JOIN(PREFIX, call)(long n)
{
    __atomic_fetch_add(&counts[0].n, 1, __ATOMIC_RELAXED);
    return n * FACTOR;
}

/* Without sleds: samples in it are known by their place only. */
#define TEXT_(text) #text
#define TEXT(text) TEXT_(text)
#define SPINS TEXT(PREFIX) "_spins"
#if defined(__x86_64__)
__asm__(".text\n.p2align 4\n.globl " SPINS "\n.type " SPINS ", @function\n" SPINS ":\n1: dec %rdi\njnz 1b\nret\n.size " SPINS ", .-" SPINS "\n");
#endif

SEPARATE static void JOIN(PREFIX, start)(void)
{
    n_started++;
}

SEPARATE static void JOIN(PREFIX, end)(void)
{
    if (counts)
        __atomic_fetch_add(&counts[2].n, 1, __ATOMIC_RELAXED);
}

__attribute__((constructor)) static void starts(void)
{
    JOIN(PREFIX, start)();
}

__attribute__((destructor)) static void ends(void)
{
    JOIN(PREFIX, end)();
}

void begin(struct count *place)
{
    counts = place;
    __atomic_fetch_add(&counts[1].n, n_started, __ATOMIC_RELAXED);
    n_started = 0;
}
