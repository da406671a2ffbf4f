/* The level: constructs by their places, what is said of them, and when bodies begin and end. */
#include "openmp.h"
#include "runtime/adapters/common/symbols.h"
#include "runtime/adapters/common/table.h"

#include <link.h>
#include <pthread.h>
#include <stdlib.h>

enum {
    MAX_CONSTRUCTS = 8192, /* sentences that are told apart */
    TABLE_ENTRIES = 2 * MAX_CONSTRUCTS,
};

/* What was said of a place: the key is there first, the sentence when it is defined. */
static struct construct {
    uintptr_t key; /* first, 0: free (common/table.h) */
    uint32_t sentence;
    uint32_t acquire; /* of a critical section: of coming into it */
    const char *function;
} constructs[TABLE_ENTRIES], others[N_OMP_THINGS];
static uint32_t n_constructs;

__thread struct omp_thread omp_here __attribute__((tls_model("initial-exec")));
struct pm_metric omp_wait_ns, omp_chunks, omp_iterations;
struct pm_adapter_ticks omp_ticks;
uintptr_t omp_library_start, omp_library_end;
bool omp_is_defined;
static const uint8_t none_is_counted;
const volatile uint8_t *omp_any_is_counted = &none_is_counted;
static struct pm_level level;
static struct pm_verb verbs[N_OMP_VERBS];

static const struct thing {
    const char *word, *kind;
    enum omp_verb verb;
    enum omp_place place;
} things[] = {
#define THING(NAME, word, kind, VERB, PLACE) {word, kind, OMP_##VERB, OMP_PLACE_##PLACE},
    OMP_THINGS(THING)
#undef THING
};

static void define_words(void)
{
    static const char *const names[N_OMP_VERBS] = {PM_OPENMP_VERBS(PM_ADAPTER_WORD)};
    const struct pm_words_api *api = pm_words_of_runtime();
    level = pm_define_level(PM_OPENMP_LEVEL, NULL);
    if (api && api->bytes > offsetof(struct pm_words_api, counted) && api->may_be_counted)
        omp_any_is_counted = api->may_be_counted(level.id);
    for (int i = 0; i < N_OMP_VERBS; i++)
        verbs[i] = pm_define_verb(level, names[i]);
    omp_wait_ns = pm_define_metric("omp_wait_ns", "ns", "time");
    omp_chunks = pm_define_metric("omp_chunks", "", "count");
    omp_iterations = pm_define_metric("omp_iterations", "", "count");
    pm_adapter_learn(&omp_ticks, pm_adapter_now_ns());
    __atomic_store_n(&omp_is_defined, true, __ATOMIC_RELEASE);
}

void omp_library_is(const void *function)
{
    struct dl_find_object found;
    if (omp_library_end != 0 || _dl_find_object((void *)(uintptr_t)function, &found) != 0)
        return;
    omp_library_start = (uintptr_t)found.dlfo_map_start;
    omp_library_end = (uintptr_t)found.dlfo_map_end;
}

void omp_define(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, define_words);
}

/* --- names --- */

/* Where a construct is, and what is known of it. */
struct where {
    uintptr_t site, caller; /* caller: code that has called what is there, or is it */
    const char *source;     /* NULL: not known */
    const char *kind;       /* of the noun; NULL: what the thing is */
    char function[PM_ADAPTER_NAME_BYTES];
    bool is_here; /* the site is code of the construct */
};

static bool is_known(const char *source)
{
    static const char unknown[] = ";unknown;";
    return source && strncmp(source, unknown, sizeof unknown - 1) != 0;
}

/* The function of an address: "work._omp_fn.0" (GCC), "work.omp_outlined" (Clang 19) and
 * "__m_MOD_work" are work and m::work; false: ".omp_outlined..3" (Clang 14) is of any function. */
static bool read_function(uintptr_t address, char name[PM_ADAPTER_NAME_BYTES])
{
    if (!pm_adapter_name_of(address, true, name))
        return false;
    for (const char *mark = "._omp_fn.\0.omp_\0.part.\0.constprop.\0.isra.\0"; *mark;
         mark += strlen(mark) + 1) {
        char *found = strstr(name, mark);
        if (found == name)
            return false;
        if (found)
            *found = 0;
    }
    if (pm_adapter_has_fortran(address))
        pm_adapter_source_name(name);
    return true;
}

static bool is_in(const void *ours, uintptr_t site)
{
    struct dl_find_object found;
    return _dl_find_object((void *)(uintptr_t)ours, &found) == 0 &&
           site - (uintptr_t)found.dlfo_map_start <
               (uintptr_t)found.dlfo_map_end - (uintptr_t)found.dlfo_map_start;
}

/* What the call that returns to the site has called; 0: nobody can tell. If that is a function of
 * the program's, and no entry of a table of calls, it has left by a jump to us. */
static uintptr_t called_before(uintptr_t site)
{
    int32_t distance;
#ifdef __x86_64__
    if (*(const unsigned char *)(site - 5) != 0xe8)
        return 0;
    memcpy(&distance, (const void *)(site - 4), sizeof distance);
    return site + (uintptr_t)(intptr_t)distance;
#else
    (void)distance;
    return 0;
#endif
}

static void find_code(struct where *where)
{
    char *name = where->function;
    bool is_body = where->site != where->caller;
    uintptr_t called = is_body ? 0 : called_before(where->site);
    where->is_here = is_body || !is_in((const void *)find_code, where->caller);
    if (is_body && read_function(where->site - 1, name))
        return;
    if (called && read_function(called, name) && !strstr(name, "+0x")) {
        where->is_here = false;
        return;
    }
    if (!is_in((const void *)find_code, where->caller) && read_function(where->caller - 1, name))
        return;
    snprintf(name, PM_ADAPTER_NAME_BYTES, "%s",
             omp_here.function ? omp_here.function : "unknown code");
}

/* ";file;function;line;column;;" */
static void read_source(struct where *where, char file[PM_ADAPTER_NAME_BYTES], unsigned *line_no)
{
    const char *p = where->source + 1;
    size_t n = strcspn(p, ";");
    snprintf(file, PM_ADAPTER_NAME_BYTES, "%.*s", (int)n, p);
    p += n + (p[n] == ';');
    n = strcspn(p, ";");
    snprintf(where->function, sizeof where->function, "%.*s", (int)n, p);
    p += n + (p[n] == ';');
    *line_no = (unsigned)strtoul(p, NULL, 10);
}

/* By an address of one byte: an instruction that has a line only if one begins with it. */
static void tell_place(const struct where *where, enum omp_place place, struct pm_noun_facts *facts)
{
    if (!where->is_here || place == OMP_PLACE_NONE)
        return;
    facts->address = where->site - 1;
    if (place == OMP_PLACE_CALL) {
        facts->address = where->site - (called_before(where->site) ? 5 : 6);
        facts->size_bytes = 1;
    }
}

/* In the file. */
static unsigned long offset_of(uintptr_t site)
{
    struct dl_find_object found;
    if (_dl_find_object((void *)site, &found) != 0)
        return site;
    return site - found.dlfo_link_map->l_addr;
}

static uint32_t define(enum omp_thing thing, struct where *where, const char *name)
{
    char whole[PM_ADAPTER_NAME_BYTES + 64], file[PM_ADAPTER_NAME_BYTES];
    const struct thing *t = &things[thing];
    struct pm_noun_facts facts = {.name = name ? name : whole, .kind = t->kind};
    if (where->kind)
        facts.kind = where->kind;
    if (where->source) {
        read_source(where, file, &facts.line_no);
        facts.file = file;
    } else if (name) {
        facts.address = thing == THING_LOCKED_ACQUIRE ? where->site : 0; /* a variable's */
    } else {
        find_code(where);
        tell_place(where, t->place, &facts);
    }
    if (!name && !where->source && t->place == OMP_PLACE_NONE)
        snprintf(whole, sizeof whole, "%s at 0x%lx in %s", t->word, offset_of(where->site),
                 where->function);
    else
        snprintf(whole, sizeof whole, "%s in %s", t->word, where->function);
    struct pm_noun noun = pm_define_noun_at(level, &facts);
    return pm_define_sentence(verbs[t->verb], &noun, 1).id;
}

static struct construct *entry_of(uintptr_t key)
{
    return pm_adapter_entry_of(constructs, TABLE_ENTRIES, sizeof *constructs, &n_constructs,
                               MAX_CONSTRUCTS, key);
}

/* name: of what has one of its own, else NULL. */
__attribute__((noinline)) static void define_construct(struct construct *c, enum omp_thing thing,
                                                       struct where *where, const char *name)
{
    if (c == &others[thing]) {
        name = "(other constructs)";
        *where = (struct where){0};
    }
    uint32_t sentence = define(thing, where, name);
    char *function = *where->function ? strdup(where->function) : NULL;
    const char *none = NULL; /* several may define it at once */
    if (function && !__atomic_compare_exchange_n(&c->function, &none, function, false,
                                                 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        free(function);
    __atomic_store_n(&c->sentence, sentence, __ATOMIC_RELEASE);
}

/* The entry of what is told by its source, or its code. */
static inline struct construct *construct_at(enum omp_thing thing, uintptr_t site,
                                             const char *source)
{
    uintptr_t key = source ? (uintptr_t)source : site;
    struct construct *c = entry_of(key * 64 + thing + 1);
    _Static_assert(N_OMP_THINGS < 64, "a place has a key for each");
    return c ? c : &others[thing];
}

static inline bool is_defined(const struct construct *c)
{
    return __builtin_expect(__atomic_load_n(&c->sentence, __ATOMIC_ACQUIRE) != 0, 1);
}

/* caller: as in struct where. */
static struct construct *construct_of(enum omp_thing thing, uintptr_t site, uintptr_t caller,
                                      const char *source, const char *name)
{
    source = is_known(source) ? source : NULL;
    struct construct *c = construct_at(thing, site, source);
    if (is_defined(c))
        return c;
    struct where where = {.site = site, .caller = caller, .source = source};
    define_construct(c, thing, &where, name);
    return c;
}

struct pm_sentence omp_sentence(enum omp_thing thing, uintptr_t site, const char *name)
{
    return (struct pm_sentence){construct_of(thing, site, site, NULL, name)->sentence};
}

struct pm_sentence omp_sentence_of(enum omp_thing thing, const void *body, uintptr_t site)
{
    uintptr_t at = (uintptr_t)body + 1;
    return (struct pm_sentence){construct_of(thing, at, site, NULL, NULL)->sentence};
}

struct pm_sentence omp_sentence_at(enum omp_thing thing, uintptr_t site, const char *source)
{
    return (struct pm_sentence){construct_of(thing, site, site, source, NULL)->sentence};
}

static struct pm_sentence loop_at(enum omp_thing thing, uintptr_t site, uintptr_t caller,
                                  const char *source, const char *schedule)
{
    struct construct *c = construct_at(thing, site, source);
    if (!is_defined(c)) {
        struct where where = {.site = site, .caller = caller, .source = source, .kind = schedule};
        define_construct(c, thing, &where, NULL);
    }
    return (struct pm_sentence){c->sentence};
}

struct pm_sentence omp_loop_at(uintptr_t site, const char *source, const char *schedule)
{
    enum omp_thing thing = source ? THING_WORK : THING_GCC_WORK;
    return loop_at(thing, site, site, is_known(source) ? source : NULL, schedule);
}

struct pm_sentence omp_loop_of(const void *body, uintptr_t site, const char *schedule)
{
    return loop_at(THING_WORK, (uintptr_t)body + 1, site, NULL, schedule);
}

struct pm_sentence omp_known(enum omp_thing thing, uintptr_t site)
{
    const struct construct *c = entry_of(site * 64 + thing + 1);
    if (!c)
        c = &others[thing];
    return (struct pm_sentence){__atomic_load_n(&c->sentence, __ATOMIC_ACQUIRE)};
}

void omp_forget(enum omp_thing thing, uintptr_t site)
{
    struct construct *c = entry_of(site * 64 + thing + 1);
    if (c)
        __atomic_store_n(&c->sentence, 0, __ATOMIC_RELEASE);
}

struct pm_sentence omp_sentence_for(enum omp_thing thing, uintptr_t address, uintptr_t site)
{
    struct construct *c = entry_of(address * 64 + thing + 1);
    if (!c)
        return omp_sentence(thing, address, NULL);
    struct pm_sentence said = omp_sentence(thing, site, NULL);
    __atomic_store_n(&c->sentence, said.id, __ATOMIC_RELEASE);
    return said;
}

/* ".gomp_critical_user_NAME" (GCC), ".gomp_critical_user_NAME.var" (Clang); without a name
 * Clang has one that is empty, GCC no variable. */
static void name_critical(const void *variable, char name[PM_ADAPTER_NAME_BYTES])
{
    static const char prefix[] = ".gomp_critical_user_";
    char text[PM_ADAPTER_NAME_BYTES] = "";
    if (variable == OMP_ATOMIC) {
        snprintf(name, PM_ADAPTER_NAME_BYTES, "(atomic)");
        return;
    }
    if (variable && !pm_adapter_name_of((uintptr_t)variable, false, text))
        snprintf(text, sizeof text, "critical at %p", variable);
    const char *own =
        strncmp(text, prefix, sizeof prefix - 1) == 0 ? text + sizeof prefix - 1 : text;
    size_t n = strlen(own);
    if (n >= 4 && strcmp(own + n - 4, ".var") == 0)
        n -= 4;
    if (n == 0)
        snprintf(name, PM_ADAPTER_NAME_BYTES, "(unnamed critical)");
    else
        snprintf(name, PM_ADAPTER_NAME_BYTES, "%.*s", (int)n, own);
}

static struct omp_exclusive define_critical(struct construct *c, const void *variable)
{
    char name[PM_ADAPTER_NAME_BYTES] = "(other constructs)";
    struct where where = {0};
    if (c != &others[THING_MUTUAL])
        name_critical(variable, name);
    struct omp_exclusive said = {{define(THING_MUTUAL_ACQUIRE, &where, name)},
                                 {define(THING_MUTUAL, &where, name)}};
    __atomic_store_n(&c->acquire, said.acquire.id, __ATOMIC_RELAXED);
    __atomic_store_n(&c->sentence, said.hold.id, __ATOMIC_RELEASE);
    return said;
}

struct omp_exclusive omp_critical(const void *variable)
{
    struct construct *c = entry_of((uintptr_t)variable * 64 + THING_MUTUAL + 1);
    if (!c)
        c = &others[THING_MUTUAL];
    uint32_t hold = __atomic_load_n(&c->sentence, __ATOMIC_ACQUIRE);
    if (__builtin_expect(hold == 0, 0))
        return define_critical(c, variable);
    return (struct omp_exclusive){{__atomic_load_n(&c->acquire, __ATOMIC_RELAXED)}, {hold}};
}

/* --- regions and tasks --- */

struct omp_region omp_region_of(void *body, void *data, uintptr_t site, const char *source)
{
    uintptr_t at = (uintptr_t)body + 1;
    const struct construct *c = construct_of(THING_REGION, at, site, source, NULL),
                           *end = construct_of(THING_REGION_END, at, site, source, NULL);
    const char *inner = omp_here.inner;
    omp_here.inner = NULL;
    return (struct omp_region){.body = body,
                               .inner = inner,
                               .data = data,
                               .function = c->function,
                               .region = {c->sentence},
                               .end = {end->sentence},
                               .cause = pm_capture(),
                               .primary = &omp_here};
}

struct omp_task omp_task_of(enum omp_thing thing, const void *body, uintptr_t site,
                            const char *source)
{
    uintptr_t at = (uintptr_t)body + 1;
    enum omp_thing create = thing == THING_JOBS ? THING_JOBS_CREATE : THING_JOB_CREATE;
    const struct construct *c = construct_of(thing, at, site, source, NULL);
    return (struct omp_task){.function = c->function,
                             .task = {c->sentence},
                             .create = {construct_of(create, at, site, source, NULL)->sentence},
                             .cause = pm_capture()};
}
