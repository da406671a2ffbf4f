/* What a coarray is called: the variable that holds its token, or its descriptor, else the function
 * that made it. */
#include "coarray.h"
#include "runtime/adapters/common/symbols.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { MAX_COARRAYS = 1024 };

static struct coarray {
    coarray_word token; /* 0: free */
    uintptr_t start, end;
    struct pm_noun noun;
} coarrays[MAX_COARRAYS];
static uint32_t n_coarrays; /* entries that were ever used */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct pm_level coarray_level;
struct pm_metric coarray_moved;
static struct pm_verb verbs[N_COARRAY_VERBS];
static struct pm_noun others;

static void define_words(void)
{
    static const char *const names[N_COARRAY_VERBS] = {PM_COARRAY_VERBS(PM_ADAPTER_WORD)};
    coarray_level = pm_define_level(PM_COARRAY_LEVEL, NULL);
    for (int i = 0; i < N_COARRAY_VERBS; i++)
        verbs[i] = pm_define_verb(coarray_level, names[i]);
    others = pm_define_noun(coarray_level, "(other coarrays)", "coarray");
    coarray_moved = pm_define_metric("coarray_bytes", "B", "bytes");
}

bool coarray_is_measured(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!pm_words_of_runtime())
        return false;
    pthread_once(&once, define_words);
    return true;
}

/* --- names --- */

/* "_F.caf_token__bow_MOD_tot+8" is bow::tot, "corner_" corner. */
static void read_name(char *name)
{
    static const char prefix[] = "_F.caf_token";
    char text[PM_ADAPTER_NAME_BYTES];
    name[strcspn(name, "+")] = 0;
    snprintf(text, sizeof text, "%s",
             strncmp(name, prefix, sizeof prefix - 1) == 0 ? name + sizeof prefix - 1 : name);
    memcpy(name, text, strlen(text) + 1);
    pm_adapter_source_name(name);
}

/* gfortran's own names of what has none in the source. */
static bool is_of_program(const char *name)
{
    return strchr(name, '.') == NULL && strncmp(name, "program", 7) != 0;
}

static struct pm_noun named(uintptr_t variable, const void *site, const char *kind)
{
    char name[PM_ADAPTER_NAME_BYTES], whole[PM_ADAPTER_NAME_BYTES + 32];
    if (pm_adapter_name_of(variable, false, name)) {
        read_name(name);
        if (is_of_program(name))
            return pm_define_noun(coarray_level, name, kind);
    }
    if (!pm_adapter_name_of((uintptr_t)site - 1, true, name))
        snprintf(name, sizeof name, "unknown code");
    if (strncmp(name, "_caf_init", sizeof "_caf_init" - 1) == 0) {
        static unsigned n_saved; /* of the main program: made in one order in all images */
        snprintf(whole, sizeof whole, "%s %u of the program", kind,
                 __atomic_add_fetch(&n_saved, 1, __ATOMIC_RELAXED));
        return pm_define_noun(coarray_level, whole, kind);
    }
    read_name(name);
    snprintf(whole, sizeof whole, "%s of %s", kind, name);
    return pm_define_noun(coarray_level, whole, kind);
}

/* --- coarrays --- */

void coarray_made(const coarray_word *place, const struct coarray_description *array, size_t bytes,
                  unsigned type, const void *site)
{
    static const char *const kinds[] = {"coarray",  "coarray", "lock", "lock",
                                        "critical", "event",   "event"};
    const char *kind = type < sizeof kinds / sizeof *kinds ? kinds[type] : "coarray";
    struct coarray made = {.token = *place, .noun = named((uintptr_t)place, site, kind)};
    made.start = array ? (uintptr_t)array->base : 0;
    made.end = made.start + bytes;
    pthread_mutex_lock(&lock);
    uint32_t i = 0;
    while (i < n_coarrays && coarrays[i].token != 0 && coarrays[i].token != made.token)
        i++;
    if (i < MAX_COARRAYS) {
        coarrays[i] = made;
        n_coarrays += i == n_coarrays;
    }
    pthread_mutex_unlock(&lock);
}

void coarray_gone(coarray_word token)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < n_coarrays; i++)
        if (coarrays[i].token == token)
            coarrays[i] = (struct coarray){0};
    pthread_mutex_unlock(&lock);
}

struct pm_noun coarray_of_token(coarray_word token)
{
    struct pm_noun noun = others;
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < n_coarrays; i++)
        if (coarrays[i].token == token)
            noun = coarrays[i].noun;
    pthread_mutex_unlock(&lock);
    return noun;
}

struct pm_noun coarray_of_array(const struct coarray_description *array, const void *site)
{
    struct pm_noun noun = {0};
    uintptr_t at = array ? (uintptr_t)array->base : 0;
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; at && i < n_coarrays; i++)
        if (at >= coarrays[i].start && at < coarrays[i].end)
            noun = coarrays[i].noun;
    pthread_mutex_unlock(&lock);
    return noun.id ? noun : named(at, site, "variable");
}

struct pm_noun coarray_image(struct pm_noun coarray, int image)
{
    char name[32];
    struct pm_noun_facts facts = {.name = name, .kind = "image", .parent = coarray.id};
    snprintf(name, sizeof name, "image %d", image);
    return pm_define_noun_at(coarray_level, &facts);
}

uint64_t coarray_bytes(const struct coarray_description *array)
{
    uint64_t n = array ? array->element_bytes : 0;
    for (int i = 0; array && i < array->rank && i < 15; i++) {
        ptrdiff_t extent = array->dimensions[i].high - array->dimensions[i].low + 1;
        n *= extent > 0 ? (uint64_t)extent : 0;
    }
    return n;
}

struct pm_sentence coarray_sentence(enum coarray_verb verb, struct pm_noun noun,
                                    struct pm_noun image)
{
    struct pm_noun nouns[2] = {noun, image};
    return pm_define_sentence(verbs[verb], nouns, image.id ? 2 : 1);
}
