/* MPI: any program that uses Open MPI, MPICH or one of its kin, in C or Fortran. Level MPI has
 * communicators, the ranks and tags of messages, windows and files, and a verb for each operation.
 *
 *     {MPI_COMM_WORLD, rank 1, tag 7 Send}       while MPI_Send or MPI_Isend works
 *     {MPI_COMM_WORLD AllReduce}                 while MPI_Allreduce works
 *
 * One library serves all MPIs: mpi.h is not read, arguments are passed on as they came
 * (runtime/adapters/common/forward.h), and what differs is in a table of dialects.
 *
 *   calls.def       every function that is wrapped, and what its arguments are
 *   calls.c         the wrappers: C, Fortran, Fortran 2008
 *   dialect.c       what differs between MPIs
 *   call.c          what a call means: sentence, bytes, time
 *   amounts.c       how many bytes a call takes and gives
 *   objects.c       communicators, windows and files by their handles
 *   requests.c      what is under way, and for whom
 *   sentences.c     sentences by what they are about
 *   clock.c         the time
 *   meetings.c      what is told of calls that other ranks take part in
 */
#ifndef PM_ADAPTER_MPI_H
#define PM_ADAPTER_MPI_H

#include "runtime/adapters/adapter.h"
#include "runtime/adapters/common/forward.h"

#include <stddef.h>

typedef pm_forward_word mpi_word; /* an argument: a handle, a number or an address */

#define MPI_VERB(NAME, word) MPI_##NAME,
enum mpi_verb { PM_MPI_VERBS(MPI_VERB) N_MPI_VERBS };
#undef MPI_VERB

/* How often the bytes of a part are taken: once, only at the root, for each rank, ... */
enum mpi_factor {
    MPI_ONCE,
    MPI_AT_ROOT,        /* once, at the root only */
    MPI_NOT_AT_ROOT,    /* once, but not at the root */
    MPI_EACH,           /* once for each rank */
    MPI_EACH_AT_ROOT,   /* the same, at the root only */
    MPI_SUM,            /* counts are an array, one for each rank */
    MPI_SUM_AT_ROOT,    /* the same, at the root only */
    MPI_OWN,            /* of such an array, this rank's */
    MPI_SUM_OF_TYPES,   /* and types are an array, too */
    MPI_NEIGHBOURS_OUT, /* once for each neighbour that is sent to */
    MPI_NEIGHBOURS_IN,  /* once for each that is received from */
    MPI_SUM_OUT,        /* counts are an array, one for each neighbour */
    MPI_SUM_IN,
    MPI_SUM_OF_TYPES_OUT,
    MPI_SUM_OF_TYPES_IN,
};

/* Arguments by their numbers from 1; 0: there is none. */
struct mpi_part {
    unsigned char buffer, count, type, factor;
};
/* What the function is for, beyond its sentence. */
enum mpi_role {
    MPI_PLAIN,
    MPI_STARTS,         /* one persistent request */
    MPI_STARTS_ALL,     /* an array of them: their number, they */
    MPI_COMPLETES,      /* a request: it, (flag,) status */
    MPI_COMPLETES_ALL,  /* number, requests, (flag,) statuses */
    MPI_COMPLETES_ANY,  /* number, requests, index, (flag,) status */
    MPI_COMPLETES_SOME, /* number, requests, number that are complete, indexes, statuses */
    MPI_FREES_REQUEST,
    MPI_MAKES,   /* an object, from `comm` or from nothing */
    MPI_FREES,   /* an object */
    MPI_NAMES,   /* a communicator */
    MPI_MATCHES, /* a message that a later call receives */
};
/* What MPI_MAKES makes. */
enum mpi_sort {
    MPI_COPY,
    MPI_GROUP,
    MPI_PART,
    MPI_GRID,
    MPI_GRAPH,
    MPI_BRIDGE, /* an intercommunicator */
    MPI_UNION,
    MPI_SUBSET, /* other ranks of the communicator have no part in making it */
    MPI_OWN_WINDOW,
    MPI_OWN_FILE,
    N_MPI_SORTS
};
struct mpi_call {
    enum mpi_verb verb;
    enum mpi_role role;
    enum mpi_sort makes;
    struct mpi_part sent, got;
    unsigned char n;         /* of arguments, in C */
    unsigned char n_lacking; /* of these Fortran lacks so many, the first ones */
    unsigned char comm, window, file;
    unsigned char to, from, root; /* ranks */
    unsigned char tag, from_tag;  /* from_tag: of what is received, where it differs */
    unsigned char status, request, flag, made;
    unsigned char message; /* that MPI_Mprobe found */
    bool is_wide;          /* counts are MPI_Count */
    bool is_persistent;    /* the request is only made, and started later */
    bool is_buffered;      /* a send that never waits for its receiver */
};

/* --- dialects --- */

struct mpi_dialect {
    mpi_word world, no_comm, no_request;
    int any_source, no_rank, at_root, any_tag; /* at_root: the root of an intercommunicator */
    mpi_word in_place, no_status, no_statuses;
    unsigned char handle_bytes, status_bytes; /* of requests and of statuses in arrays */
    unsigned char source_at, tag_at;          /* in a status */
    bool has_fortran_handles;                 /* numbers of their own, to be converted */
    int grid_topology, graph_topology;
};
/* NULL: no MPI that is known. Looked up once MPI is there. */
const struct mpi_dialect *mpi_dialect(void);
/* Bytes that a status says were received. */
uint64_t mpi_status_bytes(const struct mpi_dialect *mpi, const void *status);
/* Addresses that Fortran has for MPI_IN_PLACE, MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE. */
bool mpi_is_fortran_in_place(mpi_word word);
bool mpi_is_fortran_no_status(mpi_word word);
/* A function of the library, by its symbol; NULL: it has none. *function: looked up once. */
void *mpi_function(const char *symbol, void **function);
/* There are too many of these to follow, so what is counted of others is at least: said once. */
void mpi_say_limit(const char *what);

/* CLOCK_MONOTONIC; 0 where the program forbids it. */
uint64_t mpi_now_ns(void);

/* --- one call --- */

/* Arguments as they are in the language that called. */
enum mpi_language { MPI_C, MPI_FORTRAN, MPI_FORTRAN_2008 };
struct mpi_arguments {
    const struct mpi_call *call;
    const struct mpi_dialect *mpi; /* NULL: not known, so words are not looked at */
    mpi_word *words;
    bool is_fortran; /* all are addresses */
};
int mpi_int(const struct mpi_arguments *a, unsigned char number);

/* Between a wrapper's begin and end. */
struct mpi_object;
enum { MPI_FEW = 32 };
struct mpi_frame {
    struct mpi_arguments arguments;
    struct pm_sentence outer, inner; /* inner.id 0: there is none */
    uintptr_t sp;
    uint64_t number; /* of the thread's calls: is it the frame that it was? */
    uint64_t start_ns, end_ns;
    struct pm_cause cause;     /* the call, while it works */
    uint32_t order;            /* of the message, or of the group's call */
    struct mpi_object *object; /* that it is about; NULL: not known */
    int peer, tag, inner_peer, inner_tag;
    mpi_word *requests; /* that may complete, as they were before the call */
    int n_requests;
    bool owns_statuses;
    char *statuses; /* ours where the program wants none; NULL: there are none */
    mpi_word few_requests[MPI_FEW];
    uint64_t few_statuses[MPI_FEW * 3];
};
struct mpi_caller {
    uintptr_t sp;     /* the wrapper's */
    const void *code; /* that it returns to */
};
/* words: of the wrapper; some may be changed. false: nothing is to be done at the end. */
bool mpi_begin(const struct mpi_call *call, mpi_word *words, enum mpi_language language,
               struct mpi_caller caller, struct mpi_frame *frame);
/* Behind a call of which mpi_begin said that nothing is to be done. */
void mpi_forwarded(void);
/* result: of C's function; Fortran has it in an argument. */
void mpi_end(struct mpi_frame *frame, int result);

/* --- objects: communicators, windows, files --- */

enum mpi_kind { MPI_COMM, MPI_WINDOW, MPI_FILE, N_MPI_KINDS };
enum { MPI_NAME_BYTES = 256 };
struct mpi_object {
    mpi_word handle;
    enum mpi_kind kind;
    struct pm_noun noun;
    int rank, size, n_others;     /* n_others: of the remote group; 0: no intercommunicator */
    uint64_t id;                  /* equal in all of its ranks; 0: not known */
    uint32_t n_calls;             /* of the whole group */
    uint32_t n_made[N_MPI_SORTS]; /* of each sort, for names of what is made of it */
    struct mpi_object *comm;      /* of a window or file; what a communicator was made of */
    char name[MPI_NAME_BYTES];
};
/* Of what the call is about, or makes. */
static inline enum mpi_kind mpi_kind_of(const struct mpi_call *call)
{
    if (call->window)
        return MPI_WINDOW;
    return call->file ? MPI_FILE : MPI_COMM;
}
/* NULL: no such object, or too many. */
struct mpi_object *mpi_object_of(enum mpi_kind kind, mpi_word handle);
/* An argument that is a handle of one, as C has it. */
mpi_word mpi_object_handle(const struct mpi_arguments *a, enum mpi_kind kind, unsigned char number);
/* The call has made one, or had a part in making one that this rank does not get: handle 0, or the
 * null communicator. */
void mpi_object_made(const struct mpi_arguments *a, struct mpi_object *from, mpi_word handle);
void mpi_object_freed(enum mpi_kind kind, mpi_word handle);
void mpi_object_named(const struct mpi_arguments *a, struct mpi_object *comm);

/* --- amounts --- */

uint64_t mpi_bytes_sent(const struct mpi_arguments *a, const struct mpi_object *comm);
uint64_t mpi_bytes_got(const struct mpi_arguments *a, const struct mpi_object *comm);

/* --- requests --- */

struct mpi_request {
    mpi_word handle;             /* 0: free */
    const struct mpi_call *call; /* that made it */
    int root;                    /* of a group's call; -1: it has none */
    struct pm_cause cause;
    struct mpi_object *comm;
    int peer, tag;
    uint32_t order;    /* of messages, in which they were begun */
    uint64_t asked_ns; /* since when it may come */
    uint64_t bytes;    /* that each start of a persistent one sends */
    bool receives, is_persistent, is_active;
};
/* Where too many are under way it is not followed, which is said. */
void mpi_request_made(const struct mpi_request *request);
bool mpi_request_find(mpi_word handle, struct mpi_request *ret_request);
/* Persistent ones stay, and start again with that cause. */
void mpi_request_started(mpi_word handle, struct pm_cause cause, uint32_t order, uint64_t asked_ns);
void mpi_request_completed(mpi_word handle);
void mpi_request_freed(mpi_word handle);

/* --- meetings: what is told, so that those who waited for each other are found afterwards --- */

/* Before the call: its number. */
void mpi_meeting_begins(struct mpi_frame *frame);
/* After it. source, tag: of the message that came. */
void mpi_meeting_sent(const struct mpi_frame *frame, const struct mpi_request *asked);
void mpi_meeting_received(const struct mpi_frame *frame, const struct mpi_request *asked,
                          int source, int tag);
void mpi_meeting_of_group(const struct mpi_frame *frame);
/* A send, or a group's call, whose request is complete now. */
void mpi_meeting_completed(const struct mpi_frame *frame, const struct mpi_request *request);
/* Which rank the process has in a communicator, under the name that it has now. */
void mpi_meeting_joined(const struct mpi_object *comm);
/* Of a communicator that was made, or of the world. */
uint64_t mpi_group_id(const struct mpi_object *comm, enum mpi_sort sort, unsigned number);

/* --- sentences --- */

extern struct pm_metric mpi_messages, mpi_bytes, mpi_received_bytes, mpi_time;
extern struct pm_level mpi_level;
/* false: nobody measures. */
bool mpi_is_measured(void);
enum { MPI_NO_PEER = -1000, MPI_ANY = -1001 }; /* of peers and tags */
struct pm_sentence mpi_sentence(enum mpi_verb verb, const struct mpi_object *object, int peer,
                                int tag);

#endif
