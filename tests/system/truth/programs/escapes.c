/* Nested functions of GNU C that jump out into the function around: what comes there is its own time, and the loops around the call are
 * left. */
#include "truth.h"

static long n_look, n_drive;

NOINLINE static void drive(int n, void (*visit)(int))
{
    n_drive++;
    for (int i = 0; i < n; i++) { /* @drive */
        BURN(2);
        visit(i);
    }
}

NOINLINE static int behind(int k)
{
    __label__ out;
    int found = 0;
    void look(int i)
    {
        n_look++;
        BURN(5);
        if (i == 3) {
            found = i + k;
            goto out;
        }
    }
    for (int turn = 0; turn < 4; turn++) { /* @within */
        BURN(4);
        drive(8, look);
    }
out:
    BURN(24);
    return found;
}

NOINLINE static int again(int n)
{
    __label__ next;
    int turn = 0;
    void stop(int i)
    {
        BURN(3);
        if (i == 1)
            goto next;
    }
    for (turn = 0; turn < n; turn++) { /* @turns */
        BURN(6);
        drive(4, stop);
    next:
        BURN(10);
    }
    return turn;
}

int main(void)
{
    enum { TURNS = 1200 };
    for (int turn = 0; turn < TURNS; turn++) {
        behind(turn);
        again(2);
    }
    /* drive: 4 and twice 2 rounds; look 4, stop twice 2 */
    double all = 4 + 24 + 4 * 2 + 4 * 5 + 2 * (6 + 10 + 2 * 2 + 2 * 3);
    truth("own_behind", 100 * 28 / all);
    truth("in_behind", 100 * (28 + 8 + 20) / all);
    truth("within", 100 * (4 + 8 + 20) / all);
    truth("own_again", 100 * 32 / all);
    truth("in_again", 100 * 52 / all);
    truth("look", 100 * 20 / all);
    truth("stop", 100 * 12 / all);
    truth("driving", 100 * (16 + 32) / all);
    truth("n_look", (double)n_look);
    truth("n_drive", (double)n_drive);
    truth("n_turns", TURNS);
    return 0;
}
