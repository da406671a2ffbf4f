/* What every wrapper that `perfmap wrap` makes begins with. This file is its text (wrap.c). */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <perfmap.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WRAP_EXPORT __attribute__((visibility("default")))
#define WRAP_INLINE static inline __attribute__((always_inline, unused))
#define WRAP_SELDOM static __attribute__((noinline, cold, unused))

struct wrap_function {
    void *real; /* the function behind, NULL: not looked for yet */
    struct pm_sentence sentence;
    uint32_t line_no;
    const char *name, *symbol, *file;
};

#ifndef WRAP_LINK
/* Of a library that was loaded for somebody else only, as a module of an interpreter. */
WRAP_SELDOM void *wrap_find_anywhere(const char *symbol)
{
    struct link_map *map = NULL;
    Dl_info own, other;
    void *here = dlopen(NULL, RTLD_LAZY), *found = NULL;
    if (!here || dlinfo(here, RTLD_DI_LINKMAP, &map) != 0 || !dladdr(&wrap_find_anywhere, &own))
        return NULL;
    for (; map && !found; map = map->l_next) {
        void *handle = *map->l_name ? dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        if (!handle)
            continue;
        found = dlsym(handle, symbol);
        if (found && dladdr(found, &other) && other.dli_fbase == own.dli_fbase)
            found = NULL;
        dlclose(handle);
    }
    return found;
}

/* A program that asks whether there is one finds the wrapper: calling what its library lacks ends
 * it, as the loader does. */
WRAP_SELDOM void *wrap_find(const char *symbol)
{
    int kept = errno;
    void *found = dlsym(RTLD_NEXT, symbol);
    if (!found)
        found = wrap_find_anywhere(symbol);
    errno = kept;
    if (!found) {
        dprintf(2, "wrapper: the library has no function '%s'\n", symbol);
        _exit(127);
    }
    return found;
}
#endif

/* Equal sentences have one id, so threads may do it at the same time. */
WRAP_SELDOM struct pm_sentence wrap_define(struct wrap_function *function)
{
    struct pm_level level = pm_define_level(WRAP_LEVEL, "Source");
    struct pm_noun_facts facts = {
        function->name, "function", function->file, 0, function->line_no, 0, 0};
    struct pm_noun noun = pm_define_noun_at(level, &facts);
    struct pm_sentence sentence = pm_define_sentence(pm_define_verb(level, "Executes"), &noun, 1);
    __atomic_store_n(&function->sentence.id, sentence.id, __ATOMIC_RELAXED);
    return sentence;
}

WRAP_INLINE struct pm_sentence wrap_enter(struct wrap_function *function)
{
    struct pm_sentence sentence = {0};
#ifndef WRAP_LINK /* else the linker knows it */
    if (__builtin_expect(!__atomic_load_n(&function->real, __ATOMIC_RELAXED), 0))
        __atomic_store_n(&function->real, wrap_find(function->symbol), __ATOMIC_RELAXED);
#endif
    if (!pm_words_of_runtime())
        return sentence;
    sentence.id = __atomic_load_n(&function->sentence.id, __ATOMIC_RELAXED);
    if (__builtin_expect(!sentence.id, 0))
        sentence = wrap_define(function);
    sentence = pm_called_from(sentence, __builtin_return_address(0));
    pm_enter(sentence);
    return sentence;
}

WRAP_INLINE void wrap_leave(struct pm_sentence sentence)
{
    if (sentence.id)
        pm_leave(sentence);
}
