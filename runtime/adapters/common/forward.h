/* Wrappers of functions whose types are not known where they are wrapped: arguments are words, each
 * of which came in a register or in eight bytes of the stack, and goes on as it came. (So it is on
 * x86-64 and AArch64 for integers and pointers; numbers in registers of their own are not touched.)
 *
 *     int MPI_Send(PM_FORWARD_PARAMETERS)
 *     {
 *         pm_forward_word words[PM_FORWARD_WORDS] = PM_FORWARD_ARGUMENTS;
 *         return pm_forward(send, 6, words); // send: the MPI library's
 *     }
 *
 * What lies behind a caller's last argument is read, and handed on to nobody who looks at it.
 */
#ifndef PM_ADAPTER_FORWARD_H
#define PM_ADAPTER_FORWARD_H

#include <stdint.h>

typedef uintptr_t pm_forward_word; /* a handle, a number or an address */

enum { PM_FORWARD_WORDS = 16 };
#define PM_FORWARD_PARAMETERS                                                                      \
    pm_forward_word a, pm_forward_word b, pm_forward_word c, pm_forward_word d, pm_forward_word e, \
        pm_forward_word f, pm_forward_word g, pm_forward_word h, pm_forward_word i,                \
        pm_forward_word j, pm_forward_word k, pm_forward_word l, pm_forward_word m,                \
        pm_forward_word n, pm_forward_word o, pm_forward_word p
#define PM_FORWARD_ARGUMENTS                           \
    {                                                  \
        a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p \
    }

/* Calls it with at least n of the words. A result that it has not is nothing. */
static inline int pm_forward(void *function, unsigned n, const pm_forward_word *w)
{
#define WORD pm_forward_word
    typedef int few(WORD, WORD, WORD, WORD, WORD, WORD);
    typedef int some(WORD, WORD, WORD, WORD, WORD, WORD, WORD, WORD, WORD, WORD);
    typedef int many(WORD, WORD, WORD, WORD, WORD, WORD, WORD, WORD, WORD, WORD, WORD, WORD, WORD,
                     WORD, WORD, WORD);
#undef WORD
    if (n <= 6)
        return ((few *)function)(w[0], w[1], w[2], w[3], w[4], w[5]);
    if (n <= 10)
        return ((some *)function)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9]);
    return ((many *)function)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10],
                              w[11], w[12], w[13], w[14], w[15]);
}

#endif
