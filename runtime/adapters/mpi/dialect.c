/* What differs between MPIs: constants, sizes of handles, where a status has what. Numbers are
 * from the libraries' mpi.h: Open MPI 4 and 5; MPICH 3 and 4, whose binary interface Intel MPI,
 * MVAPICH and Cray MPICH have as well. */
#include "mpi_words.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct mpi_dialect dialects[] = {
    /* Open MPI: addresses of its variables are its handles */
    {.any_source = -1,
     .no_rank = -2,
     .at_root = -4,
     .any_tag = -1,
     .in_place = 1,
     .handle_bytes = 8,
     .status_bytes = 24,
     .source_at = 0,
     .tag_at = 4,
     .has_fortran_handles = true,
     .grid_topology = 1,
     .graph_topology = 2},
    /* MPICH */
    {.world = 0x44000000,
     .no_comm = 0x04000000,
     .no_request = 0x2c000000,
     .any_source = -2,
     .no_rank = -1,
     .at_root = -3,
     .any_tag = -1,
     .in_place = (mpi_word)-1,
     .no_status = 1,
     .no_statuses = 1,
     .handle_bytes = 4,
     .status_bytes = 20,
     .source_at = 8,
     .tag_at = 12,
     .grid_topology = 2,
     .graph_topology = 1},
};

void *mpi_function(const char *symbol, void **function)
{
    return pm_adapter_find(function, symbol, PM_MPI_LIBRARIES)
               ? __atomic_load_n(function, __ATOMIC_RELAXED)
               : NULL;
}

/* Of a variable: the program may have a copy of its own, which then is everybody's. */
static mpi_word address_of(const char *name)
{
    void *address = dlsym(RTLD_DEFAULT, name);
    return (mpi_word)mpi_function(name, &address);
}

static const struct mpi_dialect *find_dialect(void)
{
    static struct mpi_dialect open_mpi;
    int (*version)(char *, int *) = NULL;
    char text[8192] = "";
    int n = 0;
    if (!mpi_function("PMPI_Get_library_version", (void **)&version) || version(text, &n) != 0)
        return NULL;
    if (strstr(text, "Open MPI")) {
        open_mpi = dialects[0];
        open_mpi.world = address_of("ompi_mpi_comm_world");
        open_mpi.no_comm = address_of("ompi_mpi_comm_null");
        open_mpi.no_request = address_of("ompi_request_null");
        return open_mpi.world ? &open_mpi : NULL;
    }
    if (strstr(text, "MPICH") || strstr(text, "Intel(R) MPI") || strstr(text, "MVAPICH"))
        return &dialects[1];
    text[strcspn(text, "\n")] = 0;
    dprintf(2,
            "perfmap: '%.100s' is no MPI that the adapter mpi knows: calls and their time are "
            "counted, but no bytes, ranks and tags\n",
            text);
    return NULL;
}

const struct mpi_dialect *mpi_dialect(void)
{
    static const struct mpi_dialect *found;
    static int state; /* 1: looked for */
    if (!__atomic_load_n(&state, __ATOMIC_ACQUIRE)) {
        const struct mpi_dialect *mpi = find_dialect();
        __atomic_store_n(&found, mpi, __ATOMIC_RELAXED);
        __atomic_store_n(&state, 1, __ATOMIC_RELEASE);
    }
    return __atomic_load_n(&found, __ATOMIC_RELAXED);
}

uint64_t mpi_status_bytes(const struct mpi_dialect *mpi, const void *status)
{
    uint32_t low, high;
    uint64_t bytes;
    if (mpi->has_fortran_handles) { /* Open MPI: _ucount */
        memcpy(&bytes, (const char *)status + 16, sizeof bytes);
        return bytes;
    }
    memcpy(&low, status, sizeof low);
    memcpy(&high, (const char *)status + 4, sizeof high);
    return (uint64_t)(high >> 1) << 32 | low; /* the lowest bit: cancelled */
}

/* Fortran's special values are addresses of variables, under one of several names. */
static bool is_address_of(mpi_word word, const char *const *names, mpi_word *known)
{
    for (size_t i = 0; names[i]; i++) {
        if (!known[i])
            known[i] = address_of(names[i]);
        if (known[i] && known[i] == word)
            return true;
    }
    return false;
}

bool mpi_is_fortran_in_place(mpi_word word)
{
    static const char *const names[] = {"mpi_fortran_in_place_", "mpi_fortran_in_place",
                                        "MPIR_F08_MPI_IN_PLACE", NULL};
    static mpi_word known[3];
    return is_address_of(word, names, known);
}

bool mpi_is_fortran_no_status(mpi_word word)
{
    static const char *const names[] = {"mpi_fortran_status_ignore_",
                                        "mpi_fortran_status_ignore",
                                        "mpi_fortran_statuses_ignore_",
                                        "mpi_fortran_statuses_ignore",
                                        "MPIR_F08_MPI_STATUS_IGNORE_OBJ",
                                        "MPIR_F08_MPI_STATUSES_IGNORE_OBJ",
                                        NULL};
    static mpi_word known[6];
    return is_address_of(word, names, known);
}

void mpi_say_limit(const char *what)
{
    static bool said;
    if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        dprintf(2,
                "perfmap: too many %s of MPI at a time: some are not followed, so bytes, waiting "
                "and names of this process lack theirs\n",
                what);
}
