/* What must not break: computed goto, jump tables, asm, naked, functions that are folded, tail calls, setjmp. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf place;

__attribute__((noinline)) int machine(const unsigned char *code)
{
    static void *const ways[] = {&&add, &&twice, &&stop};
    int a = 1;
    goto *ways[*code++ % 3];
add:
    a += 3;
    goto *ways[*code++ % 3];
twice:
    a *= 2;
    goto *ways[*code++ % 3];
stop:
    return a;
}

__attribute__((noinline)) int select_one(int k)
{
    switch (k) {
    case 0: return rand();
    case 1: return 17;
    case 2: return printf("two\n");
    case 3: return abs(k);
    case 4: return k * 5;
    case 5: longjmp(place, 3);
    case 6: return 3;
    default: return -1;
    }
}

__attribute__((naked, noinline)) int naked(void)
{
    __asm__("mov $5, %eax\n\tret");
}

__attribute__((noinline)) int mixed(int x)
{
    __asm__ volatile("" ::: "memory");
    __asm__("add $1, %0\n\t"
            ".pushsection .comment\n\t.popsection"
            : "+r"(x));
    return x;
}

__attribute__((noinline)) int first_twin(int *p, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += p[i] * 3;
    return s;
}

static __attribute__((noinline)) int second_twin(int *p, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += p[i] * 3;
    return s;
}

__asm__(".globl by_hand\n\t.type by_hand,@function\nby_hand:\n\tmov $9,%eax\n\tret\n\t.size by_hand,.-by_hand");
int by_hand(void);
__attribute__((weak)) int weakling(int x) { return x + 7; }

int main(int argc, char **argv)
{
    (void)argv;
    unsigned char code[] = {0, 1, 0, 2};
    int v[] = {1, 2, 3};
    if (setjmp(place) == 0)
        select_one(5);
    printf("%d %d %d %d %d\n", machine(code), select_one(argc), naked(), mixed(argc), by_hand());
    printf("%d %d %d\n", first_twin(v, 3), second_twin(v, 2), weakling(1));
    return 0;
}
