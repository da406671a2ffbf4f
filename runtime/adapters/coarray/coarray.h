/* Coarrays of Fortran, as gfortran and OpenCoarrays have them. Level Coarray has the coarrays (kind
 * `coarray`), what is reduced or broadcast beside them (kind `variable`), the images at the other
 * end, and a verb for each operation.
 *
 *     {bow::tot, image 3 Send}      while a coindexed assignment sends to image 3
 *     {bow::tot CoBroadcast}        while call co_broadcast(tot, 1) works
 *
 * What they do by MPI lies below: {bow::tot CoBroadcast}, {? Broadcast}.
 *
 *   calls.def     the functions that are wrapped    calls.c    the wrappers
 *   arrays.c      what an array is called
 */
#ifndef PM_ADAPTER_COARRAY_H
#define PM_ADAPTER_COARRAY_H

#include "runtime/adapters/adapter.h"
#include "runtime/adapters/common/forward.h"

#include <stddef.h>

typedef pm_forward_word coarray_word;

#define COARRAY_VERB(NAME, word) COARRAY_##NAME,
enum coarray_verb { PM_COARRAY_VERBS(COARRAY_VERB) N_COARRAY_VERBS };
#undef COARRAY_VERB

/* Arguments by their numbers from 1; 0: there is none. */
struct coarray_call {
    const char *name;
    enum coarray_verb verb;
    unsigned char n, token, token_place, image, array;
    unsigned char target; /* array that a scalar is spread over */
};

/* gfortran's description of an array, from GCC 8 on. */
struct coarray_description {
    char *base;
    size_t offset, element_bytes;
    int32_t version;
    signed char rank, type;
    int16_t attribute;
    ptrdiff_t span;
    struct {
        ptrdiff_t stride, low, high;
    } dimensions[15];
};

extern struct pm_level coarray_level;
bool coarray_is_measured(void);
/* site: code that asks; it names what is no variable of the program. */
struct pm_noun coarray_of_token(coarray_word token);
struct pm_noun coarray_of_array(const struct coarray_description *array, const void *site);
struct pm_noun coarray_image(struct pm_noun coarray, int image);
/* place: where the program keeps the token. type: what gfortran registers (a coarray, a lock, ...),
 * by its number. */
void coarray_made(const coarray_word *place, const struct coarray_description *array, size_t bytes,
                  unsigned type, const void *site);
void coarray_gone(coarray_word token);
uint64_t coarray_bytes(const struct coarray_description *array);
struct pm_sentence coarray_sentence(enum coarray_verb verb, struct pm_noun noun,
                                    struct pm_noun image);
extern struct pm_metric coarray_moved;

#endif
