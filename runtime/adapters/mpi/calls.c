/* The wrappers. Each hands its arguments on as they came. In Fortran all arguments are addresses;
 * behind them come the place of the error and the lengths of texts. */
#include "mpi_words.h"

#include <stdio.h>

enum { ERR_OTHER = 16 };

#define CALL(C, f, count, the_verb, ...) \
    static const struct mpi_call call_##C = {.n = (count), .verb = MPI_##the_verb, __VA_ARGS__};
#define WIDE(C, f, count, the_verb, ...)          \
    CALL(C, f, count, the_verb, __VA_ARGS__)      \
    static const struct mpi_call call_##C##_c = { \
        .n = (count), .verb = MPI_##the_verb, .is_wide = true, __VA_ARGS__};
#include "calls.def"
#undef CALL
#undef WIDE

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
                   mpi_word *words, enum mpi_language language, struct mpi_caller caller)
{
    struct mpi_frame frame;
    void *real = mpi_function(name, function);
    if (!real)
        return not_there(name, words, language == MPI_C ? 0 : call->n - call->n_lacking);
    bool is_ours = mpi_begin(call, words, language, caller, &frame);
    int result = pm_forward(real, n, words);
    if (!is_ours) {
        mpi_forwarded();
        return result;
    }
    mpi_end(&frame, result);
    return result;
}

#define WRAPPER(symbol, call, n_words, language)                                        \
    PM_ADAPTER_EXPORT int symbol(PM_FORWARD_PARAMETERS);                                \
    PM_ADAPTER_EXPORT int symbol(PM_FORWARD_PARAMETERS)                                 \
    {                                                                                   \
        static void *real;                                                              \
        mpi_word words[PM_FORWARD_WORDS] = PM_FORWARD_ARGUMENTS;                        \
        const struct mpi_caller caller = {pm_stack_pointer(), PM_ADAPTER_CALLER};       \
        return wrapped(&call_##call, #symbol, &real, n_words, words, language, caller); \
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
