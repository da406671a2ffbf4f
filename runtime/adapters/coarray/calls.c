/* The wrappers. */
#include "coarray.h"

#include <stdio.h>
#include <string.h>

#define CALL(symbol, count, the_verb, ...)             \
    static const struct coarray_call call_##symbol = { \
        .name = "_gfortran_caf_" #symbol, .n = (count), .verb = COARRAY_##the_verb, __VA_ARGS__};
#include "calls.def"
#undef CALL

static coarray_word argument(const coarray_word *words, unsigned char number)
{
    return number ? words[number - 1] : 0;
}

static struct pm_noun noun_of(const struct coarray_call *call, const coarray_word *words,
                              const void *site)
{
    if (call->token)
        return coarray_of_token(argument(words, call->token));
    if (call->token_place) {
        coarray_word token = 0;
        if (call->verb == COARRAY_DEALLOCATE)
            memcpy(&token, (const void *)argument(words, call->token_place), sizeof token);
        return token ? coarray_of_token(token) : pm_define_noun(coarray_level, "heap", "heap");
    }
    if (call->array)
        return coarray_of_array((const void *)argument(words, call->array), site);
    return pm_define_noun(coarray_level, "images", "images");
}

static uint64_t moved_by(const struct coarray_call *call, const coarray_word *words)
{
    const struct coarray_description *array = (const void *)argument(words, call->array),
                                     *target = (const void *)argument(words, call->target);
    return coarray_bytes(array && array->rank == 0 && target ? target : array);
}

/* What the call has changed. before: the token that it was given. */
static void changed(const struct coarray_call *call, const coarray_word *words, coarray_word before,
                    const void *site)
{
    if (call->verb == COARRAY_DEALLOCATE)
        coarray_gone(before);
    else if (call->verb == COARRAY_ALLOCATE)
        coarray_made((const coarray_word *)argument(words, call->token_place),
                     (const void *)argument(words, call->array), (size_t)words[0],
                     (unsigned)words[1], site);
    else if (call->array)
        pm_cost(coarray_moved, moved_by(call, words));
}

/* Of locks, events and atomics 0 is the own one. */
static int image_of(int number)
{
    static int (*this_image)(int);
    if (number == 0 &&
        pm_adapter_real(&this_image, "_gfortran_caf_this_image", PM_COARRAY_LIBRARIES))
        return this_image(0);
    return number;
}

static void wrapped(const struct coarray_call *call, void **function, const coarray_word *words,
                    uintptr_t sp, const void *site)
{
    coarray_word before = 0;
    struct pm_noun image = {0};
    if (!pm_adapter_find(function, call->name, PM_COARRAY_LIBRARIES)) {
        dprintf(2, "perfmap: this program's coarrays have no %s\n", call->name);
        return;
    }
    if (!coarray_is_measured()) {
        (void)pm_forward(*function, call->n, words);
        return;
    }
    struct pm_noun noun = noun_of(call, words, site);
    if (call->image)
        image = coarray_image(noun, image_of((int)argument(words, call->image)));
    if (call->verb == COARRAY_DEALLOCATE)
        memcpy(&before, (const void *)words[0], sizeof before);
    struct pm_sentence sentence = pm_called_from(coarray_sentence(call->verb, noun, image), site);
    pm_enter_at(sentence, sp);
    (void)pm_forward(*function, call->n, words);
    changed(call, words, before, site);
    pm_leave_at(sentence, sp);
}

#define CALL(symbol, count, ...)                                                      \
    PM_ADAPTER_EXPORT void _gfortran_caf_##symbol(PM_FORWARD_PARAMETERS);             \
    PM_ADAPTER_EXPORT void _gfortran_caf_##symbol(PM_FORWARD_PARAMETERS)              \
    {                                                                                 \
        static void *real;                                                            \
        const coarray_word words[PM_FORWARD_WORDS] = PM_FORWARD_ARGUMENTS;            \
        wrapped(&call_##symbol, &real, words, pm_stack_pointer(), PM_ADAPTER_CALLER); \
    }
#include "calls.def"
