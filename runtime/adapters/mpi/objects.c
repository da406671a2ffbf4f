/* Communicators, windows and files. A made one is called after what it was made of, and numbered
 * there: "part 2 of MPI_COMM_WORLD" is the same one in all ranks, for making is collective. */
#include "mpi_words.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { MAX_OBJECTS = 1 << 12, TABLE_ENTRIES = 4 * MAX_OBJECTS, MAX_NUMBERED = 64 };

/* By handle; those that were freed leave a mark, so that what lies behind them is found. */
static struct mpi_object *table[TABLE_ENTRIES];
static struct mpi_object pool[MAX_OBJECTS], gone;
static struct mpi_object *free_list[MAX_OBJECTS];
static uint32_t n_pool, n_free, generation;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t first_entry(enum mpi_kind kind, mpi_word handle)
{
    return (uint32_t)((handle * 0x9e3779b97f4a7c15u + (mpi_word)kind) >> 40);
}

/* ret_entry: where it is, or where a new one goes; UINT32_MAX: nowhere. */
static struct mpi_object *look_up(enum mpi_kind kind, mpi_word handle, uint32_t *ret_entry)
{
    uint32_t place = UINT32_MAX;
    for (uint32_t n = 0, i = first_entry(kind, handle); n < TABLE_ENTRIES; n++, i++) {
        struct mpi_object *o = table[i % TABLE_ENTRIES];
        if (place == UINT32_MAX && (!o || o == &gone))
            place = i % TABLE_ENTRIES;
        if (!o)
            break;
        if (o->handle == handle && o->kind == kind && o != &gone) {
            *ret_entry = i % TABLE_ENTRIES;
            return o;
        }
    }
    *ret_entry = place;
    return NULL;
}

static struct mpi_object *add(const struct mpi_object *object)
{
    uint32_t entry;
    pthread_mutex_lock(&lock);
    struct mpi_object *o = look_up(object->kind, object->handle, &entry);
    if (!o && entry != UINT32_MAX && (n_free || n_pool < MAX_OBJECTS))
        table[entry] = o = n_free ? free_list[--n_free] : &pool[n_pool++];
    if (o)
        *o = *object;
    generation++;
    pthread_mutex_unlock(&lock);
    if (!o)
        mpi_say_limit("communicators, windows and files");
    return o;
}

static int ask(const char *name, mpi_word handle, int otherwise)
{
    int (*function)(mpi_word, int *) = NULL;
    int value = otherwise;
    if (!mpi_function(name, (void **)&function) || function(handle, &value) != 0)
        return otherwise;
    return value;
}

static void look_at_comm(struct mpi_object *o)
{
    o->rank = ask("PMPI_Comm_rank", o->handle, -1);
    o->size = ask("PMPI_Comm_size", o->handle, 0);
    if (ask("PMPI_Comm_test_inter", o->handle, 0))
        o->n_others = ask("PMPI_Comm_remote_size", o->handle, 0);
}

static struct pm_noun define_noun(enum mpi_kind kind, const char *name)
{
    static const char *const kinds[N_MPI_KINDS] = {"communicator", "window", "file"};
    return pm_define_noun(mpi_level, name, kinds[kind]);
}

/* One that nobody saw being made. */
static struct mpi_object *find_out(enum mpi_kind kind, mpi_word handle)
{
    int (*get_name)(mpi_word, char *, int *) = NULL;
    struct mpi_object o = {.handle = handle, .kind = kind};
    int n = 0;
    if (kind == MPI_COMM) {
        look_at_comm(&o);
        o.id = mpi_group_id(&o, MPI_COPY, 0);
        if (!mpi_function("PMPI_Comm_get_name", (void **)&get_name) ||
            get_name(handle, o.name, &n) != 0)
            o.name[0] = 0;
    }
    if (!*o.name)
        snprintf(o.name, sizeof o.name, "(unknown)");
    o.noun = define_noun(kind, o.name);
    if (kind == MPI_COMM)
        mpi_meeting_joined(&o);
    return add(&o);
}

struct mpi_object *mpi_object_of(enum mpi_kind kind, mpi_word handle)
{
    static __thread struct {
        mpi_word handle;
        uint32_t generation;
        struct mpi_object *object;
    } last[N_MPI_KINDS];
    uint32_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE), entry;
    if (last[kind].handle == handle && last[kind].generation == now && last[kind].object)
        return last[kind].object;
    pthread_mutex_lock(&lock);
    now = generation;
    struct mpi_object *o = look_up(kind, handle, &entry);
    pthread_mutex_unlock(&lock);
    if (!o)
        return find_out(kind, handle);
    last[kind].handle = handle;
    last[kind].generation = now;
    last[kind].object = o;
    return o;
}

/* Which of `from` it is, of that sort: equal in all ranks, those included that get none of it. */
static unsigned number_of(struct mpi_object *from, enum mpi_sort sort)
{
    return __atomic_add_fetch(&from->n_made[sort], 1, __ATOMIC_RELAXED);
}

/* The second argument. In Fortran its length is behind all others. */
static void read_text(const struct mpi_arguments *a, char text[MPI_NAME_BYTES])
{
    mpi_word length = a->is_fortran ? a->words[a->call->n + 1] : MPI_NAME_BYTES;
    size_t room = length < MPI_NAME_BYTES ? (size_t)length : MPI_NAME_BYTES - 1;
    size_t n = strnlen((const char *)a->words[1], room);
    memcpy(text, (const char *)a->words[1], n);
    while (a->is_fortran && n > 0 && text[n - 1] == ' ')
        n--;
    text[n] = 0;
}

static void choose_name(const struct mpi_arguments *a, struct mpi_object *o, unsigned number)
{
    static const char *const words[N_MPI_SORTS] = {
        [MPI_COPY] = "copy",     [MPI_GROUP] = "group",   [MPI_PART] = "part",
        [MPI_GRID] = "grid",     [MPI_GRAPH] = "graph",   [MPI_BRIDGE] = "bridge",
        [MPI_UNION] = "union",   [MPI_SUBSET] = "subset", [MPI_OWN_WINDOW] = "window",
        [MPI_OWN_FILE] = "file",
    };
    const char *word = words[a->call->makes], *from = o->comm ? o->comm->name : NULL;
    if (o->kind == MPI_FILE)
        read_text(a, o->name);
    else if (!from)
        snprintf(o->name, sizeof o->name, "%s of %d ranks", word, o->size);
    else if (a->call->makes == MPI_SUBSET) /* others do not know of it, so it has no number */
        snprintf(o->name, sizeof o->name, "%s of %.200s", word, from);
    else if (number <= MAX_NUMBERED)
        snprintf(o->name, sizeof o->name, "%s %u of %.200s", word, number, from);
    else /* these are one noun */
        snprintf(o->name, sizeof o->name, "a later %s of %.200s", word, from);
}

void mpi_object_made(const struct mpi_arguments *a, struct mpi_object *from, mpi_word handle)
{
    unsigned number = from ? number_of(from, a->call->makes) : 0;
    struct mpi_object o = {.handle = handle, .comm = from, .kind = mpi_kind_of(a->call)};
    if (handle == 0 || handle == a->mpi->no_comm)
        return; /* this rank has no part in it */
    if (o.kind == MPI_COMM) {
        look_at_comm(&o);
        o.id = a->call->makes != MPI_SUBSET ? mpi_group_id(&o, a->call->makes, number) : 0;
    }
    choose_name(a, &o, number);
    o.noun = define_noun(o.kind, o.name);
    if (o.kind == MPI_COMM)
        mpi_meeting_joined(&o);
    (void)add(&o);
}

void mpi_object_freed(enum mpi_kind kind, mpi_word handle)
{
    uint32_t entry;
    pthread_mutex_lock(&lock);
    struct mpi_object *o = look_up(kind, handle, &entry);
    if (o) {
        table[entry] = &gone;
        free_list[n_free++] = o;
        generation++;
    }
    pthread_mutex_unlock(&lock);
}

void mpi_object_named(const struct mpi_arguments *a, struct mpi_object *comm)
{
    char name[MPI_NAME_BYTES];
    read_text(a, name);
    if (!*name)
        return;
    memcpy(comm->name, name, sizeof name);
    comm->noun = define_noun(MPI_COMM, comm->name);
    mpi_meeting_joined(comm);
}
