/* Tail calls of code without sleds that jumps on: thunks, as compilers make them for C++, which adjust the first argument; other code. */
#include "truth.h"

static long n_behind;

void behind(int n);
void adjusted(int n);
void adjusted_twice(int n);
void plain(int n);

__asm__(".text\n"
        ".type adjusted, @function\n"
        "adjusted:\n"
        "    subq $16, %rdi\n"
        "    jmp behind\n"
        ".size adjusted, . - adjusted\n"
        ".type adjusted_twice, @function\n"
        "adjusted_twice:\n"
        "    endbr64\n"
        "    subq $1000, %rdi\n"
        "    addq $8, %rdi\n"
        "    jmp behind\n"
        ".size adjusted_twice, . - adjusted_twice\n"
        ".type plain, @function\n"
        "plain:\n"
        "    leal (%rdi,%rdi), %edi\n"
        "    jmp behind\n"
        ".size plain, . - plain\n");

__attribute__((noinline, noclone, used)) void behind(int n)
{
    n_behind++;
    BURN(n);
}

NOINLINE static void through(int n)
{
    BURN(1);
    adjusted(n + 16);
}

NOINLINE static void in_steps(int n)
{
    BURN(1);
    adjusted_twice(n + 992);
}

NOINLINE static void through_plain(int n)
{
    BURN(1);
    plain(n / 2);
}

int main(void)
{
    for (int i = 0; i < 4000; i++) {
        through(9);
        in_steps(14);
        behind(5);
        through_plain(18);
        behind(1);
    }
    truth("n_behind", (double)n_behind);
    truth("through", 100 * 10 / 50.0);
    truth("in_steps", 100 * 15 / 50.0);
    truth("through_plain", 100 * 19 / 50.0);
    return 0;
}
