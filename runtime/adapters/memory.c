/* What allocates and frees, at level Base: {heap Allocate}, and {heap Free} by whoever frees,
 * with freed_bytes. malloc and the like are wrapped once, by libperfmap-heap.so (`perfmap run
 * --heap`, which --adapter memory implies): it knows the sizes and which blocks are alive, adds
 * allocations up by place, and calls here before and behind, where this library is loaded. */
#include "adapter.h"

#define MEMORY_VERB(NAME, word) NAME,
enum { PM_MEMORY_VERBS(MEMORY_VERB) N_VERBS };
#undef MEMORY_VERB

static struct pm_sentence sentences[N_VERBS];
static struct pm_metric freed;

/* Definitions are equal whoever makes them, so nobody has to wait. */
static bool is_measured(void)
{
    static uint32_t ready;
    if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
        return true;
    if (!pm_words_of_runtime())
        return false;
    static const char *const names[N_VERBS] = {PM_MEMORY_VERBS(PM_ADAPTER_WORD)};
    struct pm_level base = pm_define_level(PM_BASE_LEVEL, NULL);
    struct pm_noun heap = pm_define_noun(base, "heap", "memory");
    for (int i = 0; i < N_VERBS; i++)
        sentences[i] = pm_define_sentence(pm_define_verb(base, names[i]), &heap, 1);
    freed = pm_define_metric("freed_bytes", "bytes", "bytes");
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
    return true;
}

/* Called by heap/heap.c, in the frame at sp. Returns what pm_memory_leave needs; 0: nothing was
 * entered. */
PM_ADAPTER_EXPORT uint32_t pm_memory_enter(uint32_t verb, uint64_t sp);
PM_ADAPTER_EXPORT uint32_t pm_memory_enter(uint32_t verb, uint64_t sp)
{
    if (!is_measured())
        return 0;
    pm_enter_at(sentences[verb], sp);
    return sentences[verb].id;
}

PM_ADAPTER_EXPORT void pm_memory_leave(uint32_t said, uint64_t sp, uint64_t freed_bytes);
PM_ADAPTER_EXPORT void pm_memory_leave(uint32_t said, uint64_t sp, uint64_t freed_bytes)
{
    if (freed_bytes > 0)
        pm_cost(freed, freed_bytes);
    pm_leave_at((struct pm_sentence){said}, sp);
}
