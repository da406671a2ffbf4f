/* Functions that promise more than the ABI, or less; with -mgeneral-regs-only. Prints one checksum. */
#include <stdint.h>
#include <stdio.h>

static volatile uint64_t sink;

__attribute__((noipa, no_caller_saved_registers)) static void keeps_all(void)
{
    for (int i = 0; i < 3; i++)
        sink += 5;
}

__attribute__((noipa)) static uint64_t holds_all(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
    uint64_t g = a * 3, h = b * 5;
    keeps_all();
    return a + b * 3 + c * 5 + d * 7 + e * 11 + f * 13 + g + h;
}

struct frame {
    uint64_t v[5];
};
__attribute__((interrupt)) void handler(struct frame *frame) { sink += frame->v[0]; }

__attribute__((naked)) void without_frame(void) { __asm__("ret"); }

/* -mfunction-return= and friends change how a function returns. */
__attribute__((noipa)) static uint64_t returns_both_ways(uint64_t x)
{
    if (x & 1)
        return holds_all(x, 1, 2, 3, 4, 5);
    return x + sink;
}

__attribute__((no_instrument_function, noipa)) static uint64_t not_instrumented(uint64_t x)
{
    for (uint64_t i = 0; i < x; i++)
        sink += i;
    return sink;
}

/* An ifunc's resolver runs while the program is being relocated. */
static int chosen(void) { return 7; }
static int (*choose(void))(void) { return chosen; }
int by_ifunc(void) __attribute__((ifunc("choose")));

int main(void)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 20; i++)
        sum = sum * 31 + holds_all(i, 2, 3, 4, 5, 6) + returns_both_ways(i) + not_instrumented(i);
    without_frame();
    printf("%016lx\n", sum + (uint64_t)by_ifunc());
}
