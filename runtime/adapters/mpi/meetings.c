/* What is told of calls that other ranks take part in, so that those who waited are found when all
 * files are there (mapping/collect/meetings.c). */
#include "mpi_words.h"

#include "format/pm_ranks.h"
#include "format/pm_run.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- ids that are equal in all ranks --- */

static uint64_t add_hash(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ p[i]) * 0x100000001b3u;
    return hash ^ hash >> 31;
}

/* Above us, but for a `perfmap run` that a launcher has started. */
static pid_t launcher(void)
{
    pid_t pid = getppid();
    for (int step = 0; step < 4; step++) {
        char path[64], text[256] = "";
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        long in = pm_adapter_may(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC)
                      ? syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC)
                      : -1;
        if (in < 0)
            break;
        (void)!syscall(SYS_read, in, text, sizeof text - 1);
        syscall(SYS_close, in);
        const char *name = strchr(text, '('), *end = strrchr(text, ')');
        int above;
        if (!name || !end || strncmp(name, "(perfmap)", 9) != 0 ||
            sscanf(end, ") %*c %d", &above) != 1)
            break;
        pid = (pid_t)above;
    }
    return pid;
}

/* The job: what its launcher calls it, or which process that is. */
static uint64_t job(void)
{
    static const char *const names[] = {
#define VARIABLE(name) name,
        PM_JOB_VARIABLES(VARIABLE)
#undef VARIABLE
    };
    static uint64_t hash;
    uint64_t made = 0xcbf29ce484222325u;
    bool is_named = false;
    for (size_t i = 0; !hash && i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value)
            made = add_hash(made, value, strlen(value));
        is_named |= value != NULL;
    }
    pid_t pid = hash || is_named ? 0 : launcher();
    if (!hash)
        hash = add_hash(made, &pid, sizeof pid) | 1;
    return hash;
}

/* The rank in MPI_COMM_WORLD of its first one: halves of a split are made at once. */
static int first_in_world(const struct mpi_object *comm)
{
    static int (*group_of)(mpi_word, mpi_word *),
        (*translate)(mpi_word, int, const int *, mpi_word, int *), (*free_group)(mpi_word *);
    mpi_word group = 0, world = 0;
    int first = 0, rank = -1;
    if (!mpi_function("PMPI_Comm_group", (void **)&group_of) ||
        !mpi_function("PMPI_Group_translate_ranks", (void **)&translate) ||
        !mpi_function("PMPI_Group_free", (void **)&free_group) ||
        group_of(comm->handle, &group) != 0 || group_of(mpi_dialect()->world, &world) != 0)
        return -1;
    if (translate(group, 1, &first, world, &rank) != 0)
        rank = -1;
    (void)free_group(&group);
    (void)free_group(&world);
    return rank;
}

uint64_t mpi_group_id(const struct mpi_object *comm, enum mpi_sort sort, unsigned number)
{
    const struct mpi_dialect *mpi = mpi_dialect();
    uint64_t above = comm->comm ? comm->comm->id : 0;
    if (mpi && comm->handle == mpi->world)
        return job();
    if (!mpi || !above || comm->n_others)
        return 0;
    int first = first_in_world(comm);
    const uint64_t made[] = {above, (uint64_t)sort, number, (uint64_t)(uint32_t)first};
    return first < 0 ? 0 : add_hash(0xcbf29ce484222325u, made, sizeof made) | 1;
}

/* --- calls --- */

static enum pm_run_meeting_kind kind_of_group(const struct mpi_call *call)
{
    bool is_of_neighbours =
        call->sent.factor >= MPI_NEIGHBOURS_OUT || call->got.factor >= MPI_NEIGHBOURS_OUT;
    if (!call->comm || is_of_neighbours)
        return 0;
    switch (call->verb) {
    case MPI_BARRIER:
    case MPI_ALL_GATHER:
    case MPI_ALL_TO_ALL:
    case MPI_ALL_REDUCE:
    case MPI_REDUCE_SCATTER:
        return PM_RUN_MEETING_ALL;
    case MPI_BROADCAST:
    case MPI_SCATTER:
        return PM_RUN_MEETING_FROM_ROOT;
    case MPI_GATHER:
    case MPI_REDUCE:
        return PM_RUN_MEETING_TO_ROOT;
    default:
        return 0;
    }
}

static bool is_told(const struct mpi_object *comm)
{
    return comm && comm->kind == MPI_COMM && comm->id != 0;
}

void mpi_meeting_begins(struct mpi_frame *frame)
{
    static uint32_t n_messages;
    if (is_told(frame->object) && kind_of_group(frame->arguments.call))
        frame->order = __atomic_add_fetch(&frame->object->n_calls, 1, __ATOMIC_RELAXED);
    else
        frame->order = __atomic_add_fetch(&n_messages, 1, __ATOMIC_RELAXED);
}

static const struct pm_words_api *api_of_meetings(void)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    bool has_it = api && api->bytes >= offsetof(struct pm_words_api, meet) + sizeof api->meet;
    return has_it ? api : NULL;
}

void mpi_meeting_joined(const struct mpi_object *comm)
{
    const struct pm_words_api *api = api_of_meetings();
    if (api && comm->rank >= 0 && !comm->n_others)
        api->meet(&(struct pm_run_meeting){.kind = PM_RUN_MEETING_MEMBER,
                                           .what = comm->noun.id,
                                           .self = comm->rank,
                                           .n_members = (uint32_t)comm->size},
                  0);
}

static void tell(const struct mpi_frame *frame, const struct mpi_object *comm,
                 struct pm_run_meeting *meeting)
{
    const struct pm_words_api *api = api_of_meetings();
    if (!api)
        return;
    meeting->begin_ns = frame->start_ns;
    meeting->end_ns = frame->end_ns;
    meeting->what = comm->id;
    meeting->self = comm->rank;
    api->meet(meeting, frame->cause.id);
}

void mpi_meeting_sent(const struct mpi_frame *frame, const struct mpi_request *asked)
{
    const struct mpi_call *call = frame->arguments.call;
    bool may_wait =
        call->verb == MPI_SEND && !call->request && !frame->inner.id && !call->is_buffered;
    if (!is_told(asked->comm) || asked->peer < 0)
        return;
    tell(frame, asked->comm,
         &(struct pm_run_meeting){.kind = may_wait ? PM_RUN_MEETING_SENT : PM_RUN_MEETING_POSTED,
                                  .order = frame->order,
                                  .peer = asked->peer,
                                  .tag = asked->tag});
}

void mpi_meeting_received(const struct mpi_frame *frame, const struct mpi_request *asked,
                          int source, int tag)
{
    if (is_told(asked->comm))
        tell(frame, asked->comm,
             &(struct pm_run_meeting){.kind = PM_RUN_MEETING_RECEIVED,
                                      .order = asked->order,
                                      .asked_ns = asked->asked_ns,
                                      .peer = source,
                                      .tag = tag});
}

static void tell_group(const struct mpi_frame *frame, const struct mpi_object *comm,
                       enum pm_run_meeting_kind kind, uint32_t order, uint64_t asked_ns, int root)
{
    tell(frame, comm,
         &(struct pm_run_meeting){.kind = kind,
                                  .order = order,
                                  .asked_ns = asked_ns,
                                  .peer = root,
                                  .n_members = (uint32_t)comm->size});
}

void mpi_meeting_completed(const struct mpi_frame *frame, const struct mpi_request *request)
{
    enum pm_run_meeting_kind kind = request->call ? kind_of_group(request->call) : 0;
    if (!is_told(request->comm))
        return;
    if (kind)
        tell_group(frame, request->comm, kind, request->order, request->asked_ns, request->root);
    else if (request->peer >= 0)
        tell(frame, request->comm,
             &(struct pm_run_meeting){.kind = PM_RUN_MEETING_AWAITED,
                                      .order = request->order,
                                      .peer = request->peer,
                                      .tag = request->tag});
}

void mpi_meeting_of_group(const struct mpi_frame *frame)
{
    const struct mpi_arguments *a = &frame->arguments;
    enum pm_run_meeting_kind kind = kind_of_group(a->call);
    if (!kind || a->call->request || !is_told(frame->object))
        return;
    tell_group(frame, frame->object, kind, frame->order, frame->start_ns,
               a->call->root ? mpi_int(a, a->call->root) : -1);
}
