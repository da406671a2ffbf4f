
/* --- what arguments are --- */

/* Numbers count for the outermost annotated function, for inner ones work for it: compress2 calls
 * deflate, and so does gzclose. The address of its frame; what lies above it is gone. */
static __thread uintptr_t wrap_outermost __attribute__((tls_model("initial-exec"), unused));

WRAP_INLINE int wrap_is_inner(void)
{
    return wrap_outermost > (uintptr_t)__builtin_frame_address(0);
}

WRAP_INLINE int wrap_begin(struct pm_sentence sentence)
{
    if (!sentence.id || wrap_is_inner()) /* nobody measures, or it is an inner one */
        return 0;
    wrap_outermost = (uintptr_t)__builtin_frame_address(0);
    return 1;
}

/* Also when an exception passes. */
WRAP_INLINE void wrap_end(const int *is_outermost)
{
    if (*is_outermost)
        wrap_outermost = 0;
}

struct wrap_metric {
    struct pm_metric metric;
    const char *name, *unit, *kind;
};

WRAP_INLINE void wrap_cost(struct wrap_metric *metric, int64_t value)
{
    struct pm_metric known = {__atomic_load_n(&metric->metric.id, __ATOMIC_RELAXED)};
    if (value <= 0 || !pm_words_of_runtime())
        return;
    if (!known.id) {
        known = pm_define_metric(metric->name, metric->unit, metric->kind);
        __atomic_store_n(&metric->metric.id, known.id, __ATOMIC_RELAXED);
    }
    pm_cost(known, (uint64_t)value);
}

/* -1: one of them says that something failed, or it is too large to be true. */
WRAP_INLINE int64_t wrap_times(int64_t a, int64_t b)
{
    int64_t product;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? -1 : product;
}

/* Handles are numbered as they are first seen: {gzFile 1 Serves}. A pointer that was closed and
 * comes again is another one. Those that an annotated function opens for itself have no number:
 * compress2 has a stream of its own in each call. */
enum { WRAP_HANDLES = 1 << 12, WRAP_PROBES = 16, WRAP_NAMED_HANDLES = 1000 };
static struct wrap_handle {
    const void *pointer;
    struct pm_sentence sentence; /* 0: closed, or new */
} wrap_handles[WRAP_HANDLES];
static uint32_t wrap_n_handles __attribute__((unused));

WRAP_SELDOM struct pm_sentence wrap_define_handle(const char *type, struct wrap_handle *handle)
{
    uint32_t number = 0;
    char name[128];
    if (handle)
        number = __atomic_add_fetch(&wrap_n_handles, 1, __ATOMIC_RELAXED);
    if (number == 0 || number > WRAP_NAMED_HANDLES)
        snprintf(name, sizeof name, "%.100s (other)", type);
    else
        snprintf(name, sizeof name, "%.100s %u", type, number);
    struct pm_level level = pm_define_level(WRAP_LEVEL, "Source");
    struct pm_noun noun = pm_define_noun(level, name, "handle");
    struct pm_sentence sentence = pm_define_sentence(pm_define_verb(level, "Serves"), &noun, 1);
    if (handle)
        __atomic_store_n(&handle->sentence.id, sentence.id, __ATOMIC_RELAXED);
    return sentence;
}

/* NULL: the table is full around it. */
WRAP_INLINE struct wrap_handle *wrap_find_handle(const void *pointer)
{
    uint64_t hash = ((uintptr_t)pointer >> 4) * 0x9e3779b97f4a7c15u;
    for (uint32_t i = 0; i < WRAP_PROBES; i++) {
        struct wrap_handle *handle = &wrap_handles[((hash >> 40) + i) % WRAP_HANDLES];
        const void *there = __atomic_load_n(&handle->pointer, __ATOMIC_RELAXED);
        if (there == pointer)
            return handle;
        if (!there && (__atomic_compare_exchange_n(&handle->pointer, &there, pointer, 0,
                                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
                       there == pointer))
            return handle;
    }
    return NULL;
}

WRAP_INLINE struct pm_sentence wrap_enter_handle(const char *type, const void *pointer)
{
    struct pm_sentence sentence = {0};
    if (!pointer || wrap_is_inner() || !pm_words_of_runtime())
        return sentence;
    struct wrap_handle *handle = wrap_find_handle(pointer);
    if (handle)
        sentence.id = __atomic_load_n(&handle->sentence.id, __ATOMIC_RELAXED);
    if (__builtin_expect(!sentence.id, 0))
        sentence = wrap_define_handle(type, handle);
    pm_enter(sentence);
    return sentence;
}

WRAP_INLINE void wrap_close_handle(const void *pointer)
{
    struct wrap_handle *handle = pointer && !wrap_is_inner() ? wrap_find_handle(pointer) : NULL;
    if (handle)
        __atomic_store_n(&handle->sentence.id, 0, __ATOMIC_RELAXED);
}
