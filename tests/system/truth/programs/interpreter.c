/* An interpreter with computed goto, and the same with a switch: each instruction's work stands at its line. */
#include "truth.h"

enum op { ADD, MULTIPLY, SHIFT, HALT };

static const unsigned char code[] = {ADD, MULTIPLY, ADD, SHIFT, MULTIPLY, ADD, HALT};

NOINLINE static long threaded(long x)
{
    static const void *const labels[] = {&&add, &&multiply, &&shift, &&halt};
    const unsigned char *pc = code;
    goto *labels[*pc++];
add:
    BURN(2); /* @add */
    x += 3;
    goto *labels[*pc++];
multiply:
    BURN(5); /* @multiply */
    x *= 7;
    goto *labels[*pc++];
shift:
    BURN(4); /* @shift */
    x ^= x >> 3;
    goto *labels[*pc++];
halt:
    return x;
}

NOINLINE static long switched(long x)
{
    for (const unsigned char *pc = code;; pc++)
        switch (*pc) {
        case ADD:
            BURN(2); /* @case_add */
            x += 3;
            break;
        case MULTIPLY:
            BURN(5); /* @case_multiply */
            x *= 7;
            break;
        case SHIFT:
            BURN(4); /* @case_shift */
            x ^= x >> 3;
            break;
        default:
            return x;
        }
}

int main(void)
{
    enum { TURNS = 2500, UNITS = 2 * (3 * 2 + 2 * 5 + 4) };
    volatile long x = 1;
    for (int i = 0; i < TURNS; i++) {
        x += threaded(x);
        x += switched(x);
    }
    truth("add", 100 * 6. / UNITS);
    truth("multiply", 100 * 10. / UNITS);
    truth("shift", 100 * 4. / UNITS);
    truth("half", 50);
    truth("n_turns", TURNS);
    return 0;
}
