/* Sentences by what they are about. Looking one up takes no lock. */
#include "mpi_words.h"

#include <pthread.h>
#include <stdio.h>

enum { TABLE_ENTRIES = 1 << 14, MAX_DETAILED = 1 << 12 }; /* with ranks and tags */

struct entry {
    uint64_t about, peer; /* valid once sentence is there */
    uint32_t sentence;
};
static struct entry table[TABLE_ENTRIES];
static uint32_t n_sentences;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct pm_level mpi_level;
struct pm_metric mpi_messages, mpi_bytes, mpi_received_bytes, mpi_time;
static struct pm_verb verbs[N_MPI_VERBS];
static struct pm_noun library;

static void define_words(void)
{
    static const char *const names[N_MPI_VERBS] = {PM_MPI_VERBS(PM_ADAPTER_WORD)};
    mpi_level = pm_define_level(PM_MPI_LEVEL, NULL);
    for (int i = 0; i < N_MPI_VERBS; i++)
        verbs[i] = pm_define_verb(mpi_level, names[i]);
    library = pm_define_noun(mpi_level, "MPI", "library");
    mpi_messages = pm_define_metric("messages", "messages", "count");
    mpi_bytes = pm_define_metric("message_bytes", "B", "bytes");
    mpi_received_bytes = pm_define_metric("received_bytes", "B", "bytes");
    mpi_time = pm_define_metric("mpi_ns", "ns", "time");
}

bool mpi_is_measured(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!pm_words_of_runtime())
        return false;
    pthread_once(&once, define_words);
    return true;
}

static struct pm_noun part_of(struct pm_noun noun, const char *what, const char *kind, int number)
{
    char name[64];
    struct pm_noun_facts facts = {.name = name, .kind = kind, .parent = noun.id};
    if (number == MPI_ANY)
        snprintf(name, sizeof name, "any %s", what);
    else
        snprintf(name, sizeof name, "%s %d", what, number);
    return pm_define_noun_at(mpi_level, &facts);
}

static struct pm_sentence define(enum mpi_verb verb, struct pm_noun noun, int peer, int tag)
{
    struct pm_noun nouns[3] = {noun};
    size_t n = 1;
    if (peer != MPI_NO_PEER)
        nouns[n++] = part_of(noun, "rank", "peer", peer);
    if (tag != MPI_NO_PEER)
        nouns[n++] = part_of(noun, "tag", "tag", tag);
    return pm_define_sentence(verbs[verb], nouns, n);
}

static struct entry *slot_of(uint64_t about, uint64_t peer)
{
    uint64_t hash = (about * 0x9e3779b97f4a7c15u ^ peer) * 0xd6e8feb86659fd93u;
    for (uint32_t i = (uint32_t)(hash >> 40);; i++) {
        struct entry *e = &table[i % TABLE_ENTRIES];
        uint32_t sentence = __atomic_load_n(&e->sentence, __ATOMIC_ACQUIRE);
        if (!sentence || (e->about == about && e->peer == peer))
            return e;
    }
}

static struct pm_sentence add(uint64_t about, uint64_t peer_and_tag, enum mpi_verb verb,
                              struct pm_noun noun, int peer, int tag)
{
    pthread_mutex_lock(&lock);
    struct entry *e = slot_of(about, peer_and_tag);
    if (!e->sentence && n_sentences < TABLE_ENTRIES / 2) {
        __atomic_store_n(&n_sentences, n_sentences + 1, __ATOMIC_RELAXED);
        e->about = about;
        e->peer = peer_and_tag;
        __atomic_store_n(&e->sentence, define(verb, noun, peer, tag).id, __ATOMIC_RELEASE);
    }
    struct pm_sentence sentence = {e->sentence};
    pthread_mutex_unlock(&lock);
    return sentence;
}

struct pm_sentence mpi_sentence(enum mpi_verb verb, const struct mpi_object *object, int peer,
                                int tag)
{
    struct pm_noun noun = object ? object->noun : library;
    uint64_t about = (uint64_t)verb << 32 | noun.id;
    uint64_t peer_and_tag = (uint64_t)(uint32_t)peer << 32 | (uint32_t)tag;
    const struct entry *e = slot_of(about, peer_and_tag);
    uint32_t sentence = __atomic_load_n(&e->sentence, __ATOMIC_ACQUIRE);
    if (sentence)
        return (struct pm_sentence){sentence};
    bool is_full = __atomic_load_n(&n_sentences, __ATOMIC_RELAXED) >= MAX_DETAILED;
    if (is_full && (peer != MPI_NO_PEER || tag != MPI_NO_PEER))
        return mpi_sentence(verb, object, MPI_NO_PEER, MPI_NO_PEER);
    return add(about, peer_and_tag, verb, noun, peer, tag);
}
