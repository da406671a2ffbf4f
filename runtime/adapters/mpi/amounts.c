/* How many bytes a call takes from this rank's memory, and how many it puts there: counts times
 * the size of the datatype. What a library sends for a collective call is its own affair. */
#include "mpi_words.h"

#include <string.h>

int mpi_int(const struct mpi_arguments *a, unsigned char number)
{
    if (!number)
        return 0;
    mpi_word word = a->words[number - 1];
    int value = (int)word;
    if (a->is_fortran)
        memcpy(&value, (const void *)word, sizeof value);
    return value;
}

static mpi_word converted(const struct mpi_arguments *a, unsigned char number, const char *convert,
                          void **function)
{
    if (!a->is_fortran)
        return a->mpi->handle_bytes == 4 ? (uint32_t)a->words[number - 1] : a->words[number - 1];
    int value = mpi_int(a, number);
    if (!a->mpi->has_fortran_handles)
        return (uint32_t)value;
    mpi_word (*f2c)(mpi_word) = NULL;
    void *found = mpi_function(convert, function);
    memcpy(&f2c, &found, sizeof f2c);
    return f2c ? f2c((mpi_word)value) : 0;
}

mpi_word mpi_object_handle(const struct mpi_arguments *a, enum mpi_kind kind, unsigned char number)
{
    static const char *const converts[N_MPI_KINDS] = {"PMPI_Comm_f2c", "PMPI_Win_f2c",
                                                      "PMPI_File_f2c"};
    static void *functions[N_MPI_KINDS];
    return converted(a, number, converts[kind], &functions[kind]);
}

/* An element of an array of handles, or of counts. */
static uint64_t type_bytes(mpi_word type)
{
    static int (*size_of)(mpi_word, int *);
    int bytes = 0;
    if (!mpi_function("PMPI_Type_size", (void **)&size_of) || size_of(type, &bytes) != 0)
        return 0;
    return bytes > 0 ? (uint64_t)bytes : 0;
}

static mpi_word type_at(const struct mpi_arguments *a, unsigned char number, int i)
{
    static void *f2c;
    struct mpi_arguments of_array = *a;
    if (i < 0)
        return converted(a, number, "PMPI_Type_f2c", &f2c);
    mpi_word array = a->words[number - 1], element = 0;
    size_t bytes = a->is_fortran ? 4 : a->mpi->handle_bytes;
    if (a->is_fortran)
        element = array + (mpi_word)i * 4;
    else
        memcpy(&element, (const char *)array + (size_t)i * bytes, bytes);
    of_array.words = &element;
    return converted(&of_array, 1, "PMPI_Type_f2c", &f2c);
}

/* i < 0: it is no array. */
static uint64_t count_at(const struct mpi_arguments *a, unsigned char number, int i)
{
    if (!number)
        return 1;
    mpi_word word = a->words[number - 1];
    int64_t count = a->call->is_wide ? (int64_t)word : (int)word;
    const char *place = (const char *)word;
    int narrow = 0;
    if (i < 0 && !a->is_fortran)
        return count > 0 ? (uint64_t)count : 0;
    i = i < 0 ? 0 : i;
    if (a->call->is_wide)
        memcpy(&count, place + (size_t)i * sizeof count, sizeof count);
    else {
        memcpy(&narrow, place + (size_t)i * sizeof narrow, sizeof narrow);
        count = narrow;
    }
    return count > 0 ? (uint64_t)count : 0;
}

/* --- neighbours of a communicator with a topology --- */

/* At the edge of a grid there is none: the first are told one by one, all others are there. */
enum { MAX_TOLD = 64 };
struct neighbours {
    int n, n_missing;
    bool is_missing[MAX_TOLD];
};

static void add_neighbour(struct neighbours *near, bool is_there)
{
    if (near->n < MAX_TOLD)
        near->is_missing[near->n] = !is_there;
    near->n++;
    near->n_missing += !is_there;
}

static bool is_missing(const struct neighbours *near, int i)
{
    return i < MAX_TOLD && near->is_missing[i];
}

static void neighbours_in_grid(const struct mpi_arguments *a, const struct mpi_object *comm,
                               struct neighbours *ret)
{
    static int (*dimensions)(mpi_word, int *), (*shift)(mpi_word, int, int, int *, int *);
    int n = 0, ranks[2];
    if (!mpi_function("PMPI_Cartdim_get", (void **)&dimensions) ||
        !mpi_function("PMPI_Cart_shift", (void **)&shift) || dimensions(comm->handle, &n) != 0)
        return;
    for (int d = 0; d < n; d++) {
        ranks[0] = ranks[1] = a->mpi->no_rank;
        (void)shift(comm->handle, d, 1, &ranks[0], &ranks[1]);
        add_neighbour(ret, ranks[0] != a->mpi->no_rank);
        add_neighbour(ret, ranks[1] != a->mpi->no_rank);
    }
}

static void neighbours_of(const struct mpi_arguments *a, const struct mpi_object *comm, bool out,
                          struct neighbours *ret)
{
    static int (*test)(mpi_word, int *), (*of_graph)(mpi_word, int, int *),
        (*of_distributed)(mpi_word, int *, int *, int *);
    int kind = 0, n[2] = {0, 0}, is_weighted = 0; /* in, out */
    *ret = (struct neighbours){0};
    if (!mpi_function("PMPI_Topo_test", (void **)&test) || test(comm->handle, &kind) != 0)
        return;
    if (kind == a->mpi->grid_topology) {
        neighbours_in_grid(a, comm, ret);
        return;
    }
    if (kind == a->mpi->graph_topology &&
        mpi_function("PMPI_Graph_neighbors_count", (void **)&of_graph) &&
        of_graph(comm->handle, comm->rank, &n[0]) == 0)
        n[1] = n[0];
    else if (mpi_function("PMPI_Dist_graph_neighbors_count", (void **)&of_distributed))
        (void)of_distributed(comm->handle, &n[0], &n[1], &is_weighted);
    ret->n = n[out];
}

/* --- a part --- */

static bool is_root(const struct mpi_arguments *a, const struct mpi_object *comm)
{
    int root = mpi_int(a, a->call->root);
    return comm->n_others ? root == a->mpi->at_root : root == comm->rank;
}

/* In an intercommunicator neither the root's own group nor who is no rank has a part in it. */
static bool is_not_root(const struct mpi_arguments *a, const struct mpi_object *comm)
{
    int root = mpi_int(a, a->call->root);
    return comm->n_others ? root >= 0 : root != comm->rank;
}

static uint64_t one(const struct mpi_arguments *a, const struct mpi_part *part)
{
    return count_at(a, part->count, -1) * type_bytes(type_at(a, part->type, -1));
}

/* are_types: types are an array, too. among: those that count; NULL: all n. */
static uint64_t sum(const struct mpi_arguments *a, const struct mpi_part *part, int n,
                    bool are_types, const struct neighbours *among)
{
    uint64_t bytes = 0, size = are_types ? 0 : type_bytes(type_at(a, part->type, -1));
    for (int i = 0; i < n; i++) {
        uint64_t count = among && is_missing(among, i) ? 0 : count_at(a, part->count, i);
        if (count)
            bytes += count * (are_types ? type_bytes(type_at(a, part->type, i)) : size);
    }
    return bytes;
}

static uint64_t of_neighbours(const struct mpi_arguments *a, const struct mpi_object *comm,
                              const struct mpi_part *part)
{
    struct neighbours near;
    bool out = part->factor == MPI_NEIGHBOURS_OUT || part->factor == MPI_SUM_OUT ||
               part->factor == MPI_SUM_OF_TYPES_OUT;
    bool are_types = part->factor == MPI_SUM_OF_TYPES_OUT || part->factor == MPI_SUM_OF_TYPES_IN;
    neighbours_of(a, comm, out, &near);
    if (part->factor != MPI_NEIGHBOURS_OUT && part->factor != MPI_NEIGHBOURS_IN)
        return sum(a, part, near.n, are_types, &near);
    return (uint64_t)(near.n - near.n_missing) * one(a, part);
}

static uint64_t bytes_of(const struct mpi_arguments *a, const struct mpi_object *comm,
                         const struct mpi_part *part)
{
    int n = comm->n_others ? comm->n_others : comm->size;
    switch ((enum mpi_factor)part->factor) {
    case MPI_ONCE:
        return one(a, part);
    case MPI_AT_ROOT:
        return is_root(a, comm) ? one(a, part) : 0;
    case MPI_NOT_AT_ROOT:
        return is_not_root(a, comm) ? one(a, part) : 0;
    case MPI_EACH:
        return (uint64_t)n * one(a, part);
    case MPI_EACH_AT_ROOT:
        return is_root(a, comm) ? (uint64_t)n * one(a, part) : 0;
    case MPI_SUM:
        return sum(a, part, n, false, NULL);
    case MPI_SUM_AT_ROOT:
        return is_root(a, comm) ? sum(a, part, n, false, NULL) : 0;
    case MPI_OWN:
        return count_at(a, part->count, comm->rank) * type_bytes(type_at(a, part->type, -1));
    case MPI_SUM_OF_TYPES:
        return sum(a, part, n, true, NULL);
    default:
        return of_neighbours(a, comm, part);
    }
}

/* The buffer is MPI_IN_PLACE: the other one's count and type say what there is. */
static bool is_in_place(const struct mpi_arguments *a, const struct mpi_part *part)
{
    mpi_word buffer = part->buffer ? a->words[part->buffer - 1] : 0;
    if (!a->is_fortran)
        return buffer == a->mpi->in_place;
    if (!a->mpi->has_fortran_handles && buffer) /* it is a descriptor, whose first word is it */
        memcpy(&buffer, (const void *)buffer, sizeof buffer);
    return mpi_is_fortran_in_place(buffer);
}

/* A rooted call's part in place is no message: it stays where it is. */
static uint64_t bytes_in_place(const struct mpi_arguments *a, const struct mpi_object *comm,
                               const struct mpi_part *part, const struct mpi_part *other)
{
    bool is_counted_alike = part->count == other->count; /* reductions */
    struct mpi_part own = *other;
    if (is_counted_alike)
        return bytes_of(a, comm, part);
    if (a->call->root)
        return 0;
    if (part->factor == MPI_ONCE) /* all-gathers: this rank's part */
        own.factor = other->factor == MPI_SUM ? MPI_OWN : MPI_ONCE;
    return bytes_of(a, comm, &own);
}

static uint64_t bytes(const struct mpi_arguments *a, const struct mpi_object *comm,
                      const struct mpi_part *part, const struct mpi_part *other)
{
    if (!a->mpi || !comm || (!part->count && !part->type))
        return 0;
    return is_in_place(a, part) ? bytes_in_place(a, comm, part, other) : bytes_of(a, comm, part);
}

uint64_t mpi_bytes_sent(const struct mpi_arguments *a, const struct mpi_object *comm)
{
    return bytes(a, comm, &a->call->sent, &a->call->got);
}

uint64_t mpi_bytes_got(const struct mpi_arguments *a, const struct mpi_object *comm)
{
    return bytes(a, comm, &a->call->got, &a->call->sent);
}
