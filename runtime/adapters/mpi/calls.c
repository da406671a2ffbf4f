/* The wrappers. Each hands its arguments on as they came. In Fortran all arguments are addresses;
 * behind them come the place of the error and the lengths of texts. */
#include "mpi_words.h"

#include <stdio.h>

enum { MAX_WORDS = 16, ERR_OTHER = 16 };

#define MPI_CALL(C, f, count, is_wide_, the_verb, ...)                                        \
    {                                                                                         \
        .c_name = "MPI_" #C, .fortran_name = "mpi_" #f, .n = (count), .verb = MPI_##the_verb, \
        .is_wide = (is_wide_), __VA_ARGS__                                                    \
    }
#define CALL(C, f, n, ...) \
    static const struct mpi_call call_##C = MPI_CALL(C, f, n, false, __VA_ARGS__, );
#define WIDE(C, f, n, ...)     \
    CALL(C, f, n, __VA_ARGS__) \
    static const struct mpi_call call_##C##_c = MPI_CALL(C##_c, f##_c, n, true, __VA_ARGS__, );
#include "calls.def"
#undef CALL
#undef WIDE

static int pass_on(void *real, unsigned n, const mpi_word *w)
{
    typedef int few(mpi_word, mpi_word, mpi_word, mpi_word, mpi_word, mpi_word);
    typedef int some(mpi_word, mpi_word, mpi_word, mpi_word, mpi_word, mpi_word, mpi_word, mpi_word,
                     mpi_word, mpi_word);
    typedef int many(mpi_word, mpi_word, mpi_word, mpi_word, mpi_word, mpi_word, mpi_word, mpi_word,
                     mpi_word, mpi_word, mpi_word, mpi_word, mpi_word, mpi_word, mpi_word,
                     mpi_word);
    if (n <= 6)
        return ((few *)real)(w[0], w[1], w[2], w[3], w[4], w[5]);
    if (n <= 10)
        return ((some *)real)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9]);
    return ((many *)real)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11],
                          w[12], w[13], w[14], w[15]);
}

/* A program that asks whether its MPI has a function finds the wrapper of it. */
static int not_there(const char *name, const mpi_word *words, unsigned error_at)
{
    dprintf(2, "perfmap: this program's MPI has no %s\n", name);
    if (error_at && words[error_at])
        *(int *)words[error_at] = ERR_OTHER;
    return ERR_OTHER;
}

/* n: of words that are handed on. */
static int wrapped(const struct mpi_call *call, const char *name, void **function, unsigned n,
                   mpi_word *words, enum mpi_language language, uintptr_t sp)
{
    struct mpi_frame frame;
    void *real = mpi_function(name, function);
    if (!real)
        return not_there(name, words, language == MPI_C ? 0 : call->n - call->n_lacking);
    if (!mpi_begin(call, words, language, sp, &frame))
        return pass_on(real, n, words);
    int result = pass_on(real, n, words);
    mpi_end(&frame, result);
    return result;
}

#define PARAMETERS                                                                          \
    mpi_word a, mpi_word b, mpi_word c, mpi_word d, mpi_word e, mpi_word f, mpi_word g,     \
        mpi_word h, mpi_word i, mpi_word j, mpi_word k, mpi_word l, mpi_word m, mpi_word n, \
        mpi_word o, mpi_word p
#define WORDS                                          \
    {                                                  \
        a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p \
    }

/* What is behind a caller's last argument is read, and handed on to nobody who looks at it. */
#define WRAPPER(symbol, call, n_words, language)                               \
    PM_ADAPTER_EXPORT int symbol(PARAMETERS);                                  \
    PM_ADAPTER_EXPORT int symbol(PARAMETERS)                                   \
    {                                                                          \
        static void *real;                                                     \
        mpi_word words[MAX_WORDS] = WORDS;                                     \
        return wrapped(&call_##call, #symbol, &real, n_words, words, language, \
                       pm_stack_pointer());                                    \
    }
/* Fortran's: the error and two lengths more. */
#define CALL(C, f, n, ...)                              \
    WRAPPER(MPI_##C, C, n, MPI_C)                       \
    WRAPPER(mpi_##f##_, C, n + 3, MPI_FORTRAN)          \
    WRAPPER(ompi_##f##_f, C, n + 3, MPI_FORTRAN_2008)   \
    WRAPPER(mpi_##f##_f08_, C, n + 3, MPI_FORTRAN_2008) \
    WRAPPER(mpi_##f##_f08ts_, C, n + 3, MPI_FORTRAN_2008)
#define WIDE(C, f, n, ...)     \
    CALL(C, f, n, __VA_ARGS__) \
    WRAPPER(MPI_##C##_c, C##_c, n, MPI_C)
#include "calls.def"
