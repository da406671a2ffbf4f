/* What mode exact does not time: helper() is inlined wholly and has 2/4 of all, f() in hot() and has 1/4, the loop of nest() has no sled of its
 * own. deep() calls leaf(), which has the rest, beyond --max-depth 50. */
#include "../truth/programs/truth.h"

static void helper(int n)
{
    BURN(n);
}

static inline void f(int n) /* not the same code, which GCC would fold */
{
    BURN(n + 1);
}

void (*volatile pointer)(int) = f;

NOINLINE static void hot(void)
{
    f(10);
    AGAIN();
}

NOINLINE static void leaf(void)
{
    BURN(10);
}

NOINLINE static int deep(int n)
{
    if (n == 0)
        leaf();
    else
        n = deep(n - 1);
    AGAIN();
    return n + 1;
}

int main(void)
{
    int n = 0;
    for (int i = 0; i < 1000; i++) {
        helper(20);
        hot();
        if (i % 100 == 0)
            pointer(1);
        n += deep(100);
    }
    printf("%d\n", n);
    return 0;
}
