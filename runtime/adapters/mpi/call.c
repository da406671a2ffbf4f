/* What a call means: which sentence is active, what it sends and receives, and for whom. */
#include "mpi_words.h"

#include <stdlib.h>
#include <string.h>

/* One MPI function may call another through the loader: only the outermost counts. An error handler
 * may have left that by a jump: its frame is gone when other calls have been where it was. */
static __thread const struct mpi_frame *outermost;
static __thread uint64_t n_outermost;

/* Who called Fortran's function, where that calls C's. */
static __thread struct mpi_caller in_fortran;

static bool is_within(uintptr_t sp)
{
    return outermost && sp < (uintptr_t)outermost && outermost->number == n_outermost;
}

/* --- what it is about --- */

/* The handle at an address. */
static mpi_word handle_at(const struct mpi_arguments *a, enum mpi_kind kind, mpi_word place)
{
    struct mpi_arguments there = *a;
    mpi_word handle = 0;
    if (!a->is_fortran)
        memcpy(&handle, (const void *)place, a->mpi->handle_bytes);
    there.words = a->is_fortran ? &place : &handle;
    return mpi_object_handle(&there, kind, 1);
}

static struct mpi_object *object_of(const struct mpi_arguments *a)
{
    const struct mpi_call *call = a->call;
    const unsigned char numbers[N_MPI_KINDS] = {call->comm, call->window, call->file};
    bool makes = call->role == MPI_MAKES; /* the window or file is not there yet */
    enum mpi_kind kind = makes ? MPI_COMM : mpi_kind_of(call);
    unsigned char number = numbers[kind];
    if (!a->mpi || !number)
        return NULL;
    bool is_place = call->role == MPI_FREES; /* C gives the address of the handle, too */
    mpi_word handle =
        is_place ? handle_at(a, kind, a->words[number - 1]) : mpi_object_handle(a, kind, number);
    return handle && handle != a->mpi->no_comm ? mpi_object_of(kind, handle) : NULL;
}

static int peer_of(const struct mpi_arguments *a, unsigned char number)
{
    int rank = a->mpi && number ? mpi_int(a, number) : MPI_NO_PEER;
    if (!number || !a->mpi || rank == a->mpi->no_rank)
        return MPI_NO_PEER;
    return rank == a->mpi->any_source ? MPI_ANY : rank;
}

/* Where nobody is at the other end a tag says nothing. */
static int tag_of(const struct mpi_arguments *a, unsigned char number, int peer)
{
    if (!number || peer == MPI_NO_PEER)
        return MPI_NO_PEER;
    int tag = mpi_int(a, number);
    return tag == a->mpi->any_tag ? MPI_ANY : tag;
}

/* --- requests and messages --- */

/* As the table of requests knows it. Fortran's numbers are not C's handles, if they differ. */
static mpi_word request_at(const struct mpi_arguments *a, unsigned char number, int i)
{
    const mpi_word own_numbers = (mpi_word)1 << 48;
    mpi_word handle = 0;
    bool are_own = a->is_fortran && a->mpi->has_fortran_handles;
    size_t bytes = are_own ? 4 : a->mpi->handle_bytes;
    memcpy(&handle, (const char *)a->words[number - 1] + (size_t)i * bytes, bytes);
    if (are_own)
        return handle + own_numbers;
    return handle == a->mpi->no_request ? 0 : handle;
}

static int number_of_requests(const struct mpi_arguments *a)
{
    switch (a->call->role) {
    case MPI_COMPLETES:
    case MPI_STARTS:
    case MPI_FREES_REQUEST:
        return 1;
    case MPI_COMPLETES_ALL:
    case MPI_COMPLETES_ANY:
    case MPI_COMPLETES_SOME:
    case MPI_STARTS_ALL:
        return mpi_int(a, 1);
    default:
        return 0;
    }
}

/* As they are before the call, which forgets those that complete. */
static void keep_requests(struct mpi_frame *frame)
{
    const struct mpi_arguments *a = &frame->arguments;
    int n = a->mpi ? number_of_requests(a) : 0;
    frame->requests = frame->few_requests;
    if (n > MPI_FEW)
        frame->requests = malloc((size_t)n * sizeof *frame->requests);
    frame->n_requests = frame->requests && n > 0 ? n : 0;
    for (int i = 0; i < frame->n_requests; i++)
        frame->requests[i] = request_at(a, a->call->request, i);
}

/* A wait is about what the first of its requests is about, and with a single one about its peer. */
static void look_at_requests(struct mpi_frame *frame)
{
    struct mpi_request request;
    for (int i = 0; i < frame->n_requests; i++) {
        if (!mpi_request_find(frame->requests[i], &request))
            continue;
        frame->object = request.comm;
        frame->peer = frame->n_requests == 1 ? request.peer : MPI_NO_PEER;
        frame->tag = frame->n_requests == 1 ? request.tag : MPI_NO_PEER;
        return;
    }
}

/* --- statuses --- */

static bool wants_no_status(const struct mpi_arguments *a)
{
    mpi_word status = a->words[a->call->status - 1];
    bool is_array = a->call->role == MPI_COMPLETES_ALL || a->call->role == MPI_COMPLETES_SOME;
    if (a->is_fortran)
        return mpi_is_fortran_no_status(status);
    return status == (is_array ? a->mpi->no_statuses : a->mpi->no_status);
}

/* How much was received only a status tells, so there is one of ours where the program has none. */
static void take_statuses(struct mpi_frame *frame)
{
    const struct mpi_arguments *a = &frame->arguments;
    unsigned char number = a->call->status;
    frame->statuses = NULL;
    frame->owns_statuses = false;
    if (!a->mpi || !number)
        return;
    frame->statuses = (char *)a->words[number - 1];
    if (!wants_no_status(a))
        return;
    frame->statuses = (char *)frame->few_statuses;
    if (frame->n_requests > MPI_FEW)
        frame->statuses = malloc((size_t)frame->n_requests * a->mpi->status_bytes);
    frame->owns_statuses = frame->statuses != NULL;
    if (frame->statuses)
        a->words[number - 1] = (mpi_word)frame->statuses;
}

static int int_in_status(const struct mpi_frame *frame, int i, unsigned char at)
{
    int value;
    const struct mpi_dialect *mpi = frame->arguments.mpi;
    memcpy(&value, frame->statuses + (size_t)i * mpi->status_bytes + at, sizeof value);
    return value;
}

static void cost(struct pm_metric metric, uint64_t value)
{
    if (value)
        pm_cost(metric, value);
}

/* The communicator that counts ranks. */
static const struct mpi_object *comm_of(const struct mpi_frame *frame)
{
    const struct mpi_object *o = frame->object;
    return o && o->kind != MPI_COMM && o->comm ? o->comm : o;
}

static bool is_message(const struct mpi_call *call)
{
    return call->to || call->from;
}

static void sent(const struct mpi_frame *frame)
{
    const struct mpi_arguments *a = &frame->arguments;
    const struct mpi_object *comm = comm_of(frame);
    bool goes_nowhere = is_message(a->call) && frame->peer == MPI_NO_PEER;
    if (!a->mpi || !a->call->sent.type || !comm || goes_nowhere || a->call->is_persistent)
        return;
    struct mpi_request asked = {
        .comm = frame->object, .peer = frame->peer, .tag = frame->tag, .order = frame->order};
    if (is_message(a->call) && frame->object->kind == MPI_COMM)
        mpi_meeting_sent(frame, &asked);
    cost(mpi_messages, is_message(a->call));
    cost(mpi_bytes, mpi_bytes_sent(a, comm));
}

/* --- begin --- */

static void find_subject(struct mpi_frame *frame)
{
    const struct mpi_arguments *a = &frame->arguments;
    const struct mpi_call *call = a->call;
    struct mpi_request found;
    frame->object = object_of(a);
    frame->peer = peer_of(a, call->to ? call->to : call->from);
    frame->tag = call->role == MPI_MAKES ? MPI_NO_PEER : tag_of(a, call->tag, frame->peer);
    frame->inner_peer = call->to && call->from ? peer_of(a, call->from) : MPI_NO_PEER;
    frame->inner_tag = tag_of(a, call->from_tag, frame->inner_peer);
    if (frame->n_requests)
        look_at_requests(frame);
    if (a->mpi && call->message && call->role != MPI_MATCHES &&
        mpi_request_find(request_at(a, call->message, 0) ^ 1, &found)) {
        frame->object = found.comm;
        frame->peer = found.peer;
        frame->tag = found.tag;
    }
}

bool mpi_begin(const struct mpi_call *call, mpi_word *words, enum mpi_language language,
               struct mpi_caller caller, struct mpi_frame *frame)
{
    if (is_within(caller.sp) || !mpi_is_measured())
        return false;
    const struct mpi_dialect *mpi = mpi_dialect();
    if (mpi && language == MPI_FORTRAN && !mpi->has_fortran_handles) {
        in_fortran = caller; /* it calls C's function, which we see */
        return false;
    }
    if (language == MPI_C && caller.sp < in_fortran.sp)
        caller.code = in_fortran.code;
    outermost = frame;
    frame->number = ++n_outermost;
    frame->arguments = (struct mpi_arguments){
        .call = call, .mpi = mpi, .words = words, .is_fortran = language != MPI_C};
    frame->sp = caller.sp;
    keep_requests(frame);
    find_subject(frame);
    take_statuses(frame);
    frame->outer = pm_called_from(mpi_sentence(call->verb, frame->object, frame->peer, frame->tag),
                                  caller.code);
    frame->inner.id = 0;
    if (call->to && call->from)
        frame->inner =
            mpi_sentence(MPI_RECEIVE, frame->object, frame->inner_peer, frame->inner_tag);
    pm_enter_at(frame->outer, frame->sp);
    mpi_meeting_begins(frame);
    if (frame->inner.id) {
        frame->start_ns = frame->end_ns = mpi_now_ns();
        frame->cause = pm_capture();
        sent(frame);
        pm_enter_at(frame->inner, frame->sp);
    }
    frame->start_ns = mpi_now_ns();
    return true;
}

void mpi_forwarded(void)
{
    in_fortran.sp = 0;
}

/* --- end --- */

/* A message that came, whoever it was asked from. */
static void arrived(const struct mpi_frame *frame, const struct mpi_request *asked, int i)
{
    const struct mpi_dialect *mpi = frame->arguments.mpi;
    uint64_t bytes = mpi_status_bytes(mpi, frame->statuses + (size_t)i * mpi->status_bytes);
    int source = int_in_status(frame, i, mpi->source_at),
        tag = int_in_status(frame, i, mpi->tag_at);
    if (asked->peer == MPI_NO_PEER || source < 0)
        return;
    mpi_meeting_received(frame, asked, source, tag);
    if (asked->peer != MPI_ANY && asked->tag != MPI_ANY) {
        cost(mpi_received_bytes, bytes);
        return;
    }
    struct pm_sentence arrival = mpi_sentence(MPI_ARRIVE, asked->comm, source, tag);
    pm_enter(arrival);
    cost(mpi_received_bytes, bytes);
    pm_leave(arrival);
}

/* One of the requests; status: its place among the statuses. */
static void completed(const struct mpi_frame *frame, int i, int status)
{
    struct mpi_request request;
    if (i < 0 || i >= frame->n_requests || !mpi_request_find(frame->requests[i], &request) ||
        (request.is_persistent && !request.is_active))
        return;
    mpi_request_completed(frame->requests[i]);
    if (!request.receives)
        mpi_meeting_completed(frame, &request);
    if (!request.receives || !frame->statuses)
        return;
    pm_adopt(request.cause);
    arrived(frame, &request, status);
    pm_release(request.cause);
}

static bool has_changed(const struct mpi_frame *frame, int i)
{
    const struct mpi_arguments *a = &frame->arguments;
    return i >= 0 && i < frame->n_requests && frame->requests[i] &&
           request_at(a, a->call->request, i) != frame->requests[i];
}

/* The request that an index means. MPICH 4.0's MPI_Waitany counts from 0 in Fortran 2008, and
 * others from 1: what completed is no request any more, except persistent ones. */
static int place_of(const struct mpi_frame *frame, int index)
{
    int i = index - frame->arguments.is_fortran;
    struct mpi_request request;
    if (has_changed(frame, i) || i < -1 || i >= frame->n_requests)
        return i;
    if (i >= 0 && mpi_request_find(frame->requests[i], &request) && request.is_persistent)
        return i;
    return has_changed(frame, index) ? index : i;
}

static void some_completed(const struct mpi_frame *frame)
{
    const struct mpi_arguments *a = &frame->arguments;
    int n, i;
    memcpy(&n, (const void *)a->words[2], sizeof n);
    for (int k = 0; k < n; k++) {
        memcpy(&i, (const char *)a->words[3] + (size_t)k * sizeof i, sizeof i);
        completed(frame, place_of(frame, i), k);
    }
}

static void requests_completed(const struct mpi_frame *frame)
{
    const struct mpi_arguments *a = &frame->arguments;
    int done = 1, i = 0;
    if (a->call->flag)
        memcpy(&done, (const void *)a->words[a->call->flag - 1], sizeof done);
    if (!done)
        return;
    switch (a->call->role) {
    case MPI_COMPLETES:
        completed(frame, 0, 0);
        break;
    case MPI_COMPLETES_ALL:
        for (; i < frame->n_requests; i++)
            completed(frame, i, i);
        break;
    case MPI_COMPLETES_ANY:
        memcpy(&i, (const void *)a->words[2], sizeof i);
        completed(frame, place_of(frame, i), 0);
        break;
    case MPI_COMPLETES_SOME:
        some_completed(frame);
        break;
    default:
        break;
    }
}

static void request_made(const struct mpi_frame *frame)
{
    const struct mpi_arguments *a = &frame->arguments;
    const struct mpi_call *call = a->call;
    struct mpi_request request = {.handle = request_at(a, call->request, 0),
                                  .call = call,
                                  .root = call->root ? mpi_int(a, call->root) : -1,
                                  .comm = frame->object,
                                  .peer = frame->peer,
                                  .tag = frame->tag,
                                  .order = frame->order,
                                  .asked_ns = frame->start_ns,
                                  .receives = (is_message(call) || call->message) &&
                                              !call->window && call->got.type,
                                  .is_persistent = call->is_persistent};
    if (!request.handle)
        return;
    if (request.receives)
        request.cause = frame->cause;
    else if (call->is_persistent)
        request.bytes = frame->object ? mpi_bytes_sent(a, frame->object) : 0;
    mpi_request_made(&request);
}

static void requests_started(const struct mpi_frame *frame)
{
    for (int i = 0; i < frame->n_requests; i++) {
        struct mpi_request request;
        if (!mpi_request_find(frame->requests[i], &request))
            continue;
        mpi_request_started(frame->requests[i], frame->cause, frame->order, frame->start_ns);
        if (request.receives || request.peer == MPI_NO_PEER)
            continue;
        mpi_meeting_sent(frame, &request);
        cost(mpi_messages, 1);
        cost(mpi_bytes, request.bytes);
    }
}

/* A message that a later call will receive is kept beside the requests. */
static void message_matched(const struct mpi_frame *frame)
{
    const struct mpi_arguments *a = &frame->arguments;
    int found = 1;
    if (a->call->flag)
        memcpy(&found, (const void *)a->words[a->call->flag - 1], sizeof found);
    struct mpi_request message = {.comm = frame->object, .peer = frame->peer, .tag = frame->tag};
    if (!found)
        return;
    message.handle = request_at(a, a->call->message, 0) ^ 1;
    mpi_request_made(&message);
}

static void objects_changed(const struct mpi_frame *frame)
{
    const struct mpi_arguments *a = &frame->arguments;
    const struct mpi_call *call = a->call;
    enum mpi_kind kind = mpi_kind_of(call);
    if (call->role == MPI_NAMES && frame->object)
        mpi_object_named(a, frame->object);
    if (call->role == MPI_MAKES && !call->request) /* else it is met when it is used */
        mpi_object_made(a, frame->object, handle_at(a, kind, a->words[call->made - 1]));
}

static void received(const struct mpi_frame *frame)
{
    const struct mpi_arguments *a = &frame->arguments;
    const struct mpi_call *call = a->call;
    const struct mpi_object *comm = comm_of(frame);
    bool has_peer = frame->peer != MPI_NO_PEER;
    bool comes_now = (is_message(call) || call->message) && !call->window && !call->request;
    if (!call->got.type || call->is_persistent)
        return;
    struct mpi_request asked = {.comm = frame->object,
                                .peer = frame->peer,
                                .tag = frame->tag,
                                .order = frame->order,
                                .asked_ns = frame->start_ns};
    if (frame->inner.id) {
        asked.peer = frame->inner_peer;
        asked.tag = frame->inner_tag;
    }
    if (comes_now && frame->statuses)
        arrived(frame, &asked, 0);
    else if (comm && !call->message && (!is_message(call) || (call->window && has_peer)))
        cost(mpi_received_bytes, mpi_bytes_got(a, comm));
}

/* What the call was about is gone. */
static void forget(const struct mpi_frame *frame)
{
    const struct mpi_arguments *a = &frame->arguments;
    if (a->call->role == MPI_FREES_REQUEST && frame->n_requests)
        mpi_request_freed(frame->requests[0]);
    if (a->call->role == MPI_FREES && frame->object)
        mpi_object_freed(frame->object->kind, frame->object->handle);
}

static void account(const struct mpi_frame *frame)
{
    const struct mpi_call *call = frame->arguments.call;
    if (!frame->inner.id)
        sent(frame);
    received(frame);
    mpi_meeting_of_group(frame);
    requests_completed(frame);
    if (call->role == MPI_STARTS || call->role == MPI_STARTS_ALL)
        requests_started(frame);
    else if (call->role == MPI_MATCHES)
        message_matched(frame);
    else if (call->request && call->role == MPI_PLAIN && call->verb != MPI_CANCEL)
        request_made(frame);
    objects_changed(frame);
    forget(frame);
}

static int result_of(const struct mpi_arguments *a, int result)
{
    if (!a->is_fortran)
        return result;
    /* Fortran 2008 may leave it out */
    const int *place = (const int *)a->words[a->call->n - a->call->n_lacking];
    return place ? *place : 0;
}

void mpi_end(struct mpi_frame *frame, int result)
{
    const struct mpi_arguments *a = &frame->arguments;
    frame->end_ns = mpi_now_ns();
    frame->cause = pm_capture();
    if (frame->end_ns > frame->start_ns)
        cost(mpi_time, frame->end_ns - frame->start_ns);
    if (a->mpi && result_of(a, result) == 0)
        account(frame);
    if (frame->inner.id)
        pm_leave_at(frame->inner, frame->sp);
    pm_leave_at(frame->outer, frame->sp);
    if (frame->n_requests > MPI_FEW) {
        free(frame->requests);
        if (frame->owns_statuses)
            free(frame->statuses);
    }
    outermost = NULL;
}
