/* Statements that are written in assembler, not by a macro: in loops within one another, with values in registers, and with memory that they read
 * and write. */
#include "truth.h"

enum { N = 64, ROUNDS = 400 };

uint64_t cells[N], table[N], kept[N];

NOINLINE static void chained(int n)
{
    for (int i = 0; i < n; i++) { /* @outer */
        for (int k = 0; k < 4; k++) { /* @inner */
            uint64_t count = 2048, value = count | 1;
            __asm__ volatile("1:\timul %1, %1\n\timul %1, %1\n\tdec %0\n\tjnz 1b" : "+r"(count), "+r"(value) : : "cc"); /* @chain */
        }
        BURN(1);
    }
}

NOINLINE static void written(int n)
{
    for (int i = 0; i < n; i++) { /* @written */
        uint64_t count = 4096;
        if (i % 2)
            __asm__ volatile("1:\tincq %1\n\tdec %0\n\tjnz 1b" : "+r"(count), "+m"(cells[i % N]) : : "cc");
        else
            __asm__ volatile("1:\tdecq %1\n\tdec %0\n\tjnz 1b" : "+r"(count), "+m"(cells[i % N]) : : "cc");
    }
}

NOINLINE static uint64_t read_only(int n)
{
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) { /* @read */
        uint64_t count = 8192;
        __asm__ volatile("1:\taddq %2, %1\n\tdec %0\n\tjnz 1b" : "+r"(count), "+r"(sum) : "m"(table[i % N]) : "cc"); /* @adds */
        kept[i % N] = sum;
    }
    return sum;
}

int main(void)
{
    double chain_ms = 0, written_ms = 0, read_ms = 0, before_ms = PROCESS_MS();
    for (int i = 0; i < 10; i++) {
        double begin_ms = THREAD_MS();
        chained(ROUNDS);
        double chained_ms = THREAD_MS();
        written(ROUNDS);
        double end_ms = THREAD_MS();
        kept[0] += read_only(ROUNDS);
        read_ms += THREAD_MS() - end_ms;
        written_ms += end_ms - chained_ms;
        chain_ms += chained_ms - begin_ms;
    }
    double all_ms = PROCESS_MS() - before_ms;
    truth("inner", 80 * chain_ms / all_ms);
    truth("outer", 20 * chain_ms / all_ms);
    truth("written", 100 * written_ms / all_ms);
    truth("read", 100 * read_ms / all_ms);
}
