/* The words of your own program, for PerfMap: what only a library or a language knows - queries,
 * requests, arrays of an interpreter - as nouns and verbs beside those of the compiler.
 *
 *     #include <perfmap.h>
 *
 *     static struct pm_sentence query;                       // made once, kept
 *     if (!query.id) {
 *         struct pm_level sql = pm_define_level("SQL", "Source");
 *         struct pm_noun noun = pm_define_noun(sql, text, "query");
 *         query = pm_define_sentence(pm_define_verb(sql, "Executes"), &noun, 1);
 *     }
 *     pm_enter(query);                                       // {SELECT... Executes} is active
 *     run_it();
 *     pm_leave(query);
 *
 * Nothing has to be linked. Without `perfmap run` every call is one test of a pointer:
 * definitions return 0, the rest does nothing. With it, costs within enter and leave are kept by
 * sentence: `perfmap report --level SQL`, `perfmap ask '{? Executes}, {u Reads}'`.
 *
 * Definitions: equal ones give equal ids, from any thread; keep the id, looking it up costs
 * about 100 ns. enter and leave nest like calls, on one thread. A sentence that is not left ends
 * with the function that entered it (where that has sleds or its frame is seen to be gone), also
 * by exceptions and longjmp. All functions may be called in signal handlers and from C++.
 */
#ifndef PERFMAP_H
#define PERFMAP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* format/pm_words.h, in the words of C++ as well. */
struct pm_noun_facts {
    const char *name, *kind, *file; /* kind: array, query, lock, ... */
    uint32_t parent;                /* id of the noun that it is a part of; 0: none */
    uint32_t line_no;               /* 0: not known */
    uint64_t address, size_bytes;   /* of its memory; 0: none */
};

struct pm_words_api {
    uint32_t version, bytes;
    uint32_t (*level)(const char *name, const char *above);
    uint32_t (*noun)(uint32_t level, const struct pm_noun_facts *facts);
    uint32_t (*verb)(uint32_t level, const char *name);
    uint32_t (*sentence)(uint32_t verb, const uint32_t *nouns, uint32_t n_nouns);
    void (*map)(uint32_t source, uint32_t destination, const double *weight);
    void (*enter)(uint32_t sentence, uintptr_t sp);
    void (*leave)(uint32_t sentence, uintptr_t sp);
    uint32_t (*metric)(const char *name, const char *unit, const char *kind);
    void (*cost)(uint32_t metric, uint64_t value, uintptr_t sp);
    /* Since version 2. */
    void (*begin)(uint32_t sentence, uint32_t whole_process);
    void (*end)(uint32_t sentence, uint32_t whole_process);
    uint64_t (*capture)(uintptr_t sp);
    void (*adopt)(uint64_t cause, uintptr_t sp);
    void (*release)(uint64_t cause, uintptr_t sp);
    size_t (*export_cause)(uint64_t cause, char *text, size_t text_bytes);
    uint64_t (*import_cause)(const char *text, size_t text_bytes);
    void (*of_other_languages[8])(void);
    uint32_t (*point)(const char *name, const volatile uint8_t **ret_is_on);
    void (*map_at)(uint32_t point, uint32_t source, uint32_t destination, const double *weight);
    void (*meet)(const void *meeting, uint64_t cause); /* for adapters: format/pm_run.h */
    uint32_t (*called_from)(uint32_t sentence, const void *return_address);
    const volatile uint8_t *(*may_be_counted)(uint32_t level); /* for adapters: pm_words.h */
    uint32_t (*counted)(uint32_t sentence, uint32_t n);
};

static struct pm_words_slot {
    char magic[8];
    uint32_t version, bytes;
    const struct pm_words_api *volatile api; /* filled in by another thread or before main */
} pm_words_slot __attribute__((section("__perfmap_words"), used, aligned(8))) = {
    {'P', 'e', 'r', 'f', 'M', 'a', 'p', 'W'}, 2, sizeof(struct pm_words_slot), NULL};

/* Always inlined, so that none of it is a function of your program in any report. */
#define PM_WORDS_INLINE static inline __attribute__((always_inline))

struct pm_level {
    uint32_t id;
};
struct pm_noun {
    uint32_t id;
};
struct pm_verb {
    uint32_t id;
};
struct pm_sentence {
    uint32_t id;
};

PM_WORDS_INLINE const struct pm_words_api *pm_words_of_runtime(void)
{
    return pm_words_slot.api;
}

/* Behind a call: it is never the last thing of a function, done by a jump, for the function's
 * exit would come before it. */
#define PM_WORDS_WITHIN __asm__ volatile("")

PM_WORDS_INLINE uintptr_t pm_stack_pointer(void)
{
    uintptr_t sp;
#if defined(__x86_64__)
    __asm__ volatile("mov %%rsp, %0" : "=r"(sp));
#elif defined(__aarch64__)
    __asm__ volatile("mov %0, sp" : "=r"(sp));
#else
    sp = (uintptr_t)__builtin_frame_address(0);
#endif
    return sp;
}

/* A level of abstraction above another ("Source", "Base", or one of yours; NULL: "Source"). */
PM_WORDS_INLINE struct pm_level pm_define_level(const char *name, const char *above)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    struct pm_level level = {api ? api->level(name, above) : 0};
    return level;
}

/* kind: a word of your choice for nouns of one sort. */
PM_WORDS_INLINE struct pm_noun pm_define_noun(struct pm_level level, const char *name,
                                              const char *kind)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    struct pm_noun_facts facts = {name, kind, NULL, 0, 0, 0, 0};
    struct pm_noun noun = {api ? api->noun(level.id, &facts) : 0};
    return noun;
}

/* With its place in a source, its parent, its memory. Nouns are equal when name, kind, parent,
 * file, line and address are. */
PM_WORDS_INLINE struct pm_noun pm_define_noun_at(struct pm_level level,
                                                 const struct pm_noun_facts *facts)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    struct pm_noun noun = {api ? api->noun(level.id, facts) : 0};
    return noun;
}

PM_WORDS_INLINE struct pm_verb pm_define_verb(struct pm_level level, const char *name)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    struct pm_verb verb = {api ? api->verb(level.id, name) : 0};
    return verb;
}

/* Of 1 to 8 nouns. */
PM_WORDS_INLINE struct pm_sentence pm_define_sentence(struct pm_verb verb,
                                                      const struct pm_noun *nouns, size_t n_nouns)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    struct pm_sentence sentence = {0};
    uint32_t ids[8], n = 0;
    if (!api || n_nouns > 8)
        return sentence;
    for (; n < n_nouns; n++)
        ids[n] = nouns[n].id;
    sentence.id = api->sentence(verb.id, ids, n);
    return sentence;
}

/* Whatever the source costs is done for the destination: a sentence of a higher level. weight:
 * its part among the destinations of the source, 0: not stated. Once for each pair; again does
 * nothing. */
PM_WORDS_INLINE void pm_map(struct pm_sentence source, struct pm_sentence destination,
                            double weight)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    if (api)
        api->map(source.id, destination.id, &weight);
    PM_WORDS_WITHIN;
}

PM_WORDS_INLINE void pm_enter(struct pm_sentence sentence)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    if (__builtin_expect(api != NULL, 0))
        api->enter(sentence.id, pm_stack_pointer());
    PM_WORDS_WITHIN;
}

/* The innermost one of this sentence that is active; those entered within it and not left end,
 * too. */
PM_WORDS_INLINE void pm_leave(struct pm_sentence sentence)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    if (__builtin_expect(api != NULL, 0))
        api->leave(sentence.id, pm_stack_pointer());
    PM_WORDS_WITHIN;
}

struct pm_metric {
    uint32_t id;
};

/* What is counted by pm_cost, and added up: rows, bytes, messages. kind: "count", "bytes" or
 * "time" (nanoseconds); unit as people read it. */
PM_WORDS_INLINE struct pm_metric pm_define_metric(const char *name, const char *unit,
                                                  const char *kind)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    struct pm_metric metric = {api ? api->metric(name, unit, kind) : 0};
    return metric;
}

/* So much was spent just now, on behalf of all that is active here. */
PM_WORDS_INLINE void pm_cost(struct pm_metric metric, uint64_t value)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    if (__builtin_expect(api != NULL, 0))
        api->cost(metric.id, value, pm_stack_pointer());
    PM_WORDS_WITHIN;
}

/* For interpreters: as if called where the stack pointer is sp, the frame in which what the
 * sentence tells of is done. It ends when the stack pointer is above. */
PM_WORDS_INLINE void pm_enter_at(struct pm_sentence sentence, uintptr_t sp)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    if (__builtin_expect(api != NULL, 0))
        api->enter(sentence.id, sp);
    PM_WORDS_WITHIN;
}

PM_WORDS_INLINE void pm_leave_at(struct pm_sentence sentence, uintptr_t sp)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    if (__builtin_expect(api != NULL, 0))
        api->leave(sentence.id, sp);
    PM_WORDS_WITHIN;
}

/* For wrappers of functions: the sentence as the call says it that will return to this address.
 *
 *     struct pm_sentence call = pm_called_from(sentence, __builtin_return_address(0));
 *     pm_enter(call);
 *     ...
 *     pm_leave(call);
 *
 * It is the same sentence, and its costs are those of the statement that calls, too, and of the
 * function that was inlined there. A few nanoseconds. Not for pm_begin, pm_end and pm_map. After
 * 32768 pairs of sentence and call, and in a runtime that does not know of this, it is the sentence
 * itself. */
PM_WORDS_INLINE struct pm_sentence pm_called_from(struct pm_sentence sentence,
                                                  const void *return_address)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    struct pm_sentence call = sentence;
    if (__builtin_expect(api != NULL, 0) &&
        api->bytes > offsetof(struct pm_words_api, called_from) && api->called_from != NULL)
        call.id = api->called_from(sentence.id, return_address);
    return call;
}

/* --- sentences that do not nest --- */

/* The sentence is active in this thread until pm_end, whatever is entered and left meanwhile, in
 * any order: a request that several functions serve in turn, a transaction. Begun twice, it ends
 * with the second pm_end. For `then` of questions it is outside all that is entered. */
PM_WORDS_INLINE void pm_begin(struct pm_sentence sentence)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    if (__builtin_expect(api != NULL, 0))
        api->begin(sentence.id, 0);
    PM_WORDS_WITHIN;
}

PM_WORDS_INLINE void pm_end(struct pm_sentence sentence)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    if (__builtin_expect(api != NULL, 0))
        api->end(sentence.id, 0);
    PM_WORDS_WITHIN;
}

/* The same in all threads of the process at once, those that come later included; any thread may
 * end it. */
PM_WORDS_INLINE void pm_begin_process(struct pm_sentence sentence)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    if (__builtin_expect(api != NULL, 0))
        api->begin(sentence.id, 1);
    PM_WORDS_WITHIN;
}

PM_WORDS_INLINE void pm_end_process(struct pm_sentence sentence)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    if (__builtin_expect(api != NULL, 0))
        api->end(sentence.id, 1);
    PM_WORDS_WITHIN;
}

/* A phase of the program is the process-wide sentence {name Runs} of the level Phases: `perfmap
 * ask '{u Reads} during warmup'`. */
PM_WORDS_INLINE struct pm_sentence pm_define_phase(const char *name)
{
    struct pm_level level = pm_define_level("Phases", "Source");
    struct pm_noun noun = pm_define_noun(level, name, "phase");
    return pm_define_sentence(pm_define_verb(level, "Runs"), &noun, 1);
}

/* --- causes: work that is done later, or elsewhere, on behalf of what is active now --- */

struct pm_cause {
    uint64_t id;
};

/* What is active here. A few nanoseconds; the value may be copied, kept, handed to other
 * threads, adopted any number of times or never. */
PM_WORDS_INLINE struct pm_cause pm_capture(void)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    struct pm_cause cause = {api ? api->capture(pm_stack_pointer()) : 0};
    PM_WORDS_WITHIN;
    return cause;
}

/* Until pm_release, costs count for what was active at pm_capture, too, marked as deferred.
 * Nests like pm_enter. */
PM_WORDS_INLINE void pm_adopt(struct pm_cause cause)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    if (__builtin_expect(api != NULL, 0))
        api->adopt(cause.id, pm_stack_pointer());
    PM_WORDS_WITHIN;
}

PM_WORDS_INLINE void pm_release(struct pm_cause cause)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    if (__builtin_expect(api != NULL, 0))
        api->release(cause.id, pm_stack_pointer());
    PM_WORDS_WITHIN;
}

/* The cause as text that another process on this machine can import: a member of a W3C baggage
 * header, `perfmap=...`, for any protocol. Returns the number of bytes without the ending zero,
 * less than text_bytes; 0: does not fit, or nobody measures. PM_EXPORT_BYTES always suffice. */
#define PM_EXPORT_BYTES 1024
PM_WORDS_INLINE size_t pm_context_export(struct pm_cause cause, char *text, size_t text_bytes)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    return api ? api->export_cause(cause.id, text, text_bytes) : 0;
}

/* text: such a member, or a whole baggage header that has one, from anywhere: what is not well
 * formed gives no cause, which may be adopted all the same. */
PM_WORDS_INLINE struct pm_cause pm_context_import(const char *text, size_t text_bytes)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    struct pm_cause cause = {api ? api->import_cause(text, text_bytes) : 0};
    return cause;
}

/* --- mapping points --- */

/* A place of a library at which it says what maps to what. They are switched on and off as a
 * whole or one by one: `perfmap run --mapping-points`. */
struct pm_point {
    const volatile uint8_t *is_on;
    uint32_t id;
};

/* name: without blanks, commas and * ?; pm_map is the point `default`. */
PM_WORDS_INLINE struct pm_point pm_define_point(const char *name)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    struct pm_point point = {NULL, 0};
    if (api)
        point.id = api->point(name, &point.is_on);
    return point;
}

/* Before work that is done for the mappings only. */
PM_WORDS_INLINE int pm_point_is_on(struct pm_point point)
{
    return __builtin_expect(point.is_on != NULL, 0) && *point.is_on;
}

PM_WORDS_INLINE void pm_map_at(struct pm_point point, struct pm_sentence source,
                               struct pm_sentence destination, double weight)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    if (api && pm_point_is_on(point))
        api->map_at(point.id, source.id, destination.id, &weight);
    PM_WORDS_WITHIN;
}

#ifdef __cplusplus
}

namespace perfmap
{
/* perfmap::active a(sentence); the sentence is active as long as this object lives. */
class active
{
  public:
    explicit __attribute__((always_inline)) active(pm_sentence sentence) : sentence_(sentence)
    {
        pm_enter(sentence);
    }
    __attribute__((always_inline)) ~active() { pm_leave(sentence_); }
    active(const active &) = delete;
    active &operator=(const active &) = delete;

  private:
    pm_sentence sentence_;
};

/* perfmap::adopted a(cause); what this object's life costs counts for the cause. */
class adopted
{
  public:
    explicit __attribute__((always_inline)) adopted(pm_cause cause) : cause_(cause)
    {
        pm_adopt(cause);
    }
    __attribute__((always_inline)) ~adopted() { pm_release(cause_); }
    adopted(const adopted &) = delete;
    adopted &operator=(const adopted &) = delete;

  private:
    pm_cause cause_;
};
} /* namespace perfmap */
#endif
#endif
