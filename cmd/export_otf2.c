/* OTF2, for Vampir, Scalasca and other tools: a folder. Regions are what events are of, with their
 * roles; nouns are attributes of Enter; sends and receives are MPI's records; processes are
 * location groups, and threads locations. Written by the library of its authors (Debian:
 * libotf2-trace-dev), if it was there when perfmap was built.
 * https://perftools.pages.jsc.fz-juelich.de/cicd/otf2/ */
#include "export_events.h"

#ifdef PERFMAP_HAVE_OTF2

#include "mapping/archive/trace_messages.h"

#include <errno.h>
#include <ftw.h>
#include <otf2/otf2.h>
#include <stdlib.h>
#include <unistd.h>

enum { CHUNK_EVENTS = 1 << 20, CHUNK_DEFINITIONS = 4 << 20 };
enum { LOCATIONS = 2 }; /* of a thread: its own stack, and others */

struct otf2 {
    struct pm_trace *trace;
    struct pm_trace_messages *messages;
    OTF2_Archive *archive;
    OTF2_GlobalDefWriter *definitions;
    OTF2_EvtWriter *writers[LOCATIONS]; /* of the thread at hand; NULL: no event yet */
    OTF2_AttributeList *attributes;
    uint64_t *n_events; /* per location */
    bool *is_there;     /* per thread: it was asked for */
    struct pm_intern *texts;
    struct pm_map string_of; /* by the address of an interned text: its number + 1 */
    struct pm_map attribute_of;
    uint32_t n_strings, n_attributes, n_regions;
    OTF2_ErrorCode error; /* the first one */
    char message[256];
    bool failed; /* memory */
};

/* --- what the library says --- */

/* It would print it. */
static OTF2_ErrorCode take_error(void *context, const char *file, uint64_t line,
                                 const char *function, OTF2_ErrorCode code, const char *format,
                                 va_list args)
{
    struct otf2 *o = context;
    (void)file;
    (void)line;
    (void)function;
    if (o->error == OTF2_SUCCESS && code > OTF2_SUCCESS) {
        o->error = code;
        vsnprintf(o->message, sizeof o->message, format, args);
    }
    return code;
}

static void check(struct otf2 *o, OTF2_ErrorCode code)
{
    if (code != OTF2_SUCCESS && o->error == OTF2_SUCCESS)
        o->error = code;
}

static OTF2_FlushType before_flush(void *context, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool is_final)
{
    (void)context;
    (void)type;
    (void)location;
    (void)caller;
    (void)is_final;
    return OTF2_FLUSH;
}

/* --- memory of the library: it would keep 128 MiB of events before it writes any --- */

enum { MAX_CHUNKS = 4 }; /* of a writer */

struct chunks {
    void *items[MAX_CHUNKS];
    uint32_t n;
};

/* NULL: it writes what there is. */
static void *take_chunk(void *context, OTF2_FileType type, OTF2_LocationRef location,
                        void **of_buffer, uint64_t size_bytes)
{
    struct chunks *chunks = *of_buffer;
    (void)context;
    (void)type;
    (void)location;
    if (!chunks)
        *of_buffer = chunks = pm_alloc(sizeof *chunks);
    if (!chunks || chunks->n == MAX_CHUNKS)
        return NULL;
    void *chunk = pm_alloc(size_bytes);
    if (chunk)
        chunks->items[chunks->n++] = chunk;
    return chunk;
}

static void give_chunks_back(void *context, OTF2_FileType type, OTF2_LocationRef location,
                             void **of_buffer, bool is_final)
{
    struct chunks *chunks = *of_buffer;
    (void)context;
    (void)type;
    (void)location;
    if (!chunks)
        return;
    while (chunks->n > 0)
        free(chunks->items[--chunks->n]);
    if (!is_final)
        return;
    free(chunks);
    *of_buffer = NULL;
}

/* --- definitions --- */

/* The number of a text, which is written once. */
static OTF2_StringRef string_of(struct otf2 *o, const char *text)
{
    const char *kept = pm_intern_add(o->texts, text, strlen(text));
    uint32_t *at = kept ? pm_map_at(&o->string_of, (uint64_t)(uintptr_t)kept) : NULL;
    o->failed |= !at;
    if (!at)
        return OTF2_UNDEFINED_STRING;
    if (!*at) {
        check(o, OTF2_GlobalDefWriter_WriteString(o->definitions, o->n_strings, kept));
        *at = ++o->n_strings;
    }
    return *at - 1;
}

static OTF2_StringRef printable_of(struct otf2 *o, const char *text)
{
    struct pm_buf printable = PM_BUF_INIT(1 << 24);
    pm_buf_add_printable(&printable, text, strlen(text));
    OTF2_StringRef number = string_of(o, printable.data ? printable.data : "");
    o->failed |= printable.failed;
    pm_buf_release(&printable);
    return number;
}

static OTF2_AttributeRef attribute_of(struct otf2 *o, const char *kind)
{
    OTF2_StringRef name = string_of(o, kind);
    uint32_t *at = pm_map_at(&o->attribute_of, name);
    o->failed |= !at;
    if (!at)
        return OTF2_UNDEFINED_ATTRIBUTE;
    if (!*at) {
        check(o, OTF2_GlobalDefWriter_WriteAttribute(o->definitions, o->n_attributes, name,
                                                     string_of(o, ""), OTF2_TYPE_STRING));
        *at = ++o->n_attributes;
    }
    return *at - 1;
}

static const struct role {
    const char *level, *verb; /* NULL: any */
    OTF2_RegionRole role;
} roles[] = {
    {"MPI", "Send", OTF2_REGION_ROLE_POINT2POINT},
    {"MPI", "Receive", OTF2_REGION_ROLE_POINT2POINT},
    {"MPI", "Arrive", OTF2_REGION_ROLE_POINT2POINT},
    {"MPI", "Prepare", OTF2_REGION_ROLE_POINT2POINT},
    {"MPI", "Probe", OTF2_REGION_ROLE_POINT2POINT},
    {"MPI", "Start", OTF2_REGION_ROLE_POINT2POINT},
    {"MPI", "Wait", OTF2_REGION_ROLE_POINT2POINT},
    {"MPI", "Test", OTF2_REGION_ROLE_POINT2POINT},
    {"MPI", "Barrier", OTF2_REGION_ROLE_BARRIER},
    {"MPI", "Broadcast", OTF2_REGION_ROLE_COLL_ONE2ALL},
    {"MPI", "Scatter", OTF2_REGION_ROLE_COLL_ONE2ALL},
    {"MPI", "Gather", OTF2_REGION_ROLE_COLL_ALL2ONE},
    {"MPI", "Reduce", OTF2_REGION_ROLE_COLL_ALL2ONE},
    {"MPI", "AllGather", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"MPI", "AllToAll", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"MPI", "AllReduce", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"MPI", "ReduceScatter", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"MPI", "Scan", OTF2_REGION_ROLE_COLL_OTHER},
    {"MPI", "Put", OTF2_REGION_ROLE_RMA},
    {"MPI", "Get", OTF2_REGION_ROLE_RMA},
    {"MPI", "Accumulate", OTF2_REGION_ROLE_RMA},
    {"OpenMP", "Parallel", OTF2_REGION_ROLE_PARALLEL},
    {"OpenMP", "Loop", OTF2_REGION_ROLE_LOOP},
    {"OpenMP", "Sections", OTF2_REGION_ROLE_SECTIONS},
    {"OpenMP", "Single", OTF2_REGION_ROLE_SINGLE},
    {"OpenMP", "Critical", OTF2_REGION_ROLE_CRITICAL},
    {"OpenMP", "Ordered", OTF2_REGION_ROLE_ORDERED},
    {"OpenMP", "Task", OTF2_REGION_ROLE_TASK},
    {"OpenMP", "Create", OTF2_REGION_ROLE_TASK_CREATE},
    {"OpenMP", "TaskWait", OTF2_REGION_ROLE_TASK_WAIT},
    {"OpenMP", "Barrier", OTF2_REGION_ROLE_BARRIER},
    {NULL, "ReadFile", OTF2_REGION_ROLE_FILE_IO},
    {NULL, "WriteFile", OTF2_REGION_ROLE_FILE_IO},
    {"Base", "Open", OTF2_REGION_ROLE_FILE_IO_METADATA},
    {"Base", "Close", OTF2_REGION_ROLE_FILE_IO_METADATA},
    {"Base", "Sync", OTF2_REGION_ROLE_FILE_IO_METADATA},
    {NULL, "Allocate", OTF2_REGION_ROLE_ALLOCATE},
    {NULL, "Free", OTF2_REGION_ROLE_DEALLOCATE},
};

static OTF2_RegionRole role_of(const struct export_name *name)
{
    if (!strcmp(name->kind, "loop"))
        return OTF2_REGION_ROLE_LOOP;
    if (!strcmp(name->verb, "Executes"))
        return OTF2_REGION_ROLE_FUNCTION;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (!strcmp(roles[i].verb, name->verb) &&
            (!roles[i].level || !strcmp(roles[i].level, name->level)))
            return roles[i].role;
    return OTF2_REGION_ROLE_CODE;
}

static OTF2_Paradigm paradigm_of(const struct export_name *name)
{
    if (!strcmp(name->level, "MPI"))
        return OTF2_PARADIGM_MPI;
    if (!strcmp(name->level, "OpenMP"))
        return OTF2_PARADIGM_OPENMP;
    return name->n_nouns ? OTF2_PARADIGM_USER : OTF2_PARADIGM_COMPILER;
}

/* Regions have the numbers of names, which come in their order. */
static void define_region(struct otf2 *o, const struct export_name *name)
{
    if (name->id <= o->n_regions)
        return;
    o->n_regions = name->id;
    OTF2_StringRef text = string_of(o, name->name), level = string_of(o, name->level);
    OTF2_StringRef file = *name->file ? string_of(o, name->file) : OTF2_UNDEFINED_STRING;
    uint32_t line_no = name->line_no > 0 ? (uint32_t)name->line_no : 0;
    check(o, OTF2_GlobalDefWriter_WriteRegion(
                 o->definitions, name->id - 1, text, text, level, role_of(name), paradigm_of(name),
                 OTF2_REGION_FLAG_NONE, file, line_no, OTF2_UNDEFINED_UINT32));
}

/* The first thread of the process has its group, of the node its node. */
static size_t first_of(const struct otf2 *o, size_t index, bool of_node)
{
    const struct pm_trace_thread *t = pm_trace_thread(o->trace, index);
    for (size_t i = 0; i < index; i++) {
        const struct pm_trace_thread *other = pm_trace_thread(o->trace, i);
        if (of_node ? !strcmp(other->node, t->node) : other->process_row == t->process_row)
            return i;
    }
    return index;
}

/* Numbers of groups and nodes follow each other: how many there are before that of a thread. */
static uint32_t number_of(const struct otf2 *o, size_t index, bool of_node)
{
    size_t first = first_of(o, index, of_node);
    uint32_t n = 0;
    for (size_t i = 0; i < first; i++)
        n += first_of(o, i, of_node) == i;
    return n;
}

static void define_process(struct otf2 *o, size_t index)
{
    const struct pm_trace_thread *t = pm_trace_thread(o->trace, index);
    struct pm_buf name = PM_BUF_INIT(1 << 20);
    if (t->rank >= 0)
        pm_buf_printf(&name, "rank %lld, ", (long long)t->rank);
    pm_buf_printf(&name, "%s %lld", pm_view_base_name(t->exe), (long long)t->pid);
    o->failed |= name.failed;
    check(o, OTF2_GlobalDefWriter_WriteLocationGroup(
                 o->definitions, number_of(o, index, false),
                 printable_of(o, name.data ? name.data : ""), OTF2_LOCATION_GROUP_TYPE_PROCESS,
                 number_of(o, index, true) + 1, OTF2_UNDEFINED_LOCATION_GROUP));
    pm_buf_release(&name);
}

static bool has_location(const struct otf2 *o, size_t index, unsigned which)
{
    return o->is_there[index] && (which == 0 || o->n_events[index * LOCATIONS + which]);
}

static void define_location(struct otf2 *o, size_t index, unsigned which)
{
    const struct pm_trace_thread *t = pm_trace_thread(o->trace, index);
    struct pm_buf name = PM_BUF_INIT(1 << 20);
    pm_buf_printf(&name, "%s %lld%s", t->name, (long long)t->tid, which ? ", other stacks" : "");
    o->failed |= name.failed;
    check(o, OTF2_GlobalDefWriter_WriteLocation(
                 o->definitions, index * LOCATIONS + which,
                 printable_of(o, name.data ? name.data : ""), OTF2_LOCATION_TYPE_CPU_THREAD,
                 o->n_events[index * LOCATIONS + which], number_of(o, index, false)));
    pm_buf_release(&name);
}

/* A machine above all nodes; on them the processes, in these the threads. */
static void define_system(struct otf2 *o)
{
    check(o, OTF2_GlobalDefWriter_WriteSystemTreeNode(o->definitions, 0, string_of(o, "run"),
                                                      string_of(o, "machine"),
                                                      OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (size_t i = 0; i < pm_trace_n_threads(o->trace); i++) {
        if (first_of(o, i, true) == i)
            check(o, OTF2_GlobalDefWriter_WriteSystemTreeNode(
                         o->definitions, number_of(o, i, true) + 1,
                         printable_of(o, pm_trace_thread(o->trace, i)->node), string_of(o, "node"),
                         0));
        if (first_of(o, i, false) == i)
            define_process(o, i);
        for (unsigned which = 0; which < LOCATIONS; which++)
            if (has_location(o, i, which))
                define_location(o, i, which);
    }
}

static void define_communicator(struct otf2 *o, size_t index, const uint64_t *position)
{
    const struct pm_trace_communicator *of = pm_trace_communicator(o->messages, index);
    uint64_t *ranks = pm_alloc_array((size_t)of->n_ranks + 1, sizeof *ranks);
    o->failed |= !ranks;
    if (!ranks)
        return;
    for (uint32_t r = 0; r < of->n_ranks; r++)
        ranks[r] = of->threads[r] == SIZE_MAX ? 0 : position[of->threads[r]];
    OTF2_StringRef name = printable_of(o, of->name);
    check(o, OTF2_GlobalDefWriter_WriteGroup(o->definitions, (OTF2_GroupRef)index + 1, name,
                                             OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                             OTF2_GROUP_FLAG_NONE, of->n_ranks, ranks));
    check(o, OTF2_GlobalDefWriter_WriteComm(o->definitions, (OTF2_CommRef)index, name,
                                            (OTF2_GroupRef)index + 1, OTF2_UNDEFINED_COMM,
                                            OTF2_COMM_FLAG_NONE));
    free(ranks);
}

/* The processes of communicators are a group of locations, and communicators groups of positions in
 * that. A rank without a trace is position 0: no message leads there. */
static void define_communicators(struct otf2 *o)
{
    size_t n_threads = pm_trace_n_threads(o->trace), n = pm_trace_n_communicators(o->messages);
    uint64_t *members = pm_alloc_array(n_threads + 1, sizeof *members);
    uint64_t *position = pm_alloc_array(n_threads + 1, sizeof *position);
    uint32_t n_members = 0;
    o->failed |= !members || !position;
    for (size_t c = 0; !o->failed && c < n; c++) {
        const struct pm_trace_communicator *of = pm_trace_communicator(o->messages, c);
        for (uint32_t r = 0; r < of->n_ranks; r++)
            if (of->threads[r] != SIZE_MAX && o->is_there[of->threads[r]])
                position[of->threads[r]] = 1;
    }
    for (size_t i = 0; !o->failed && i < n_threads; i++) {
        bool is_member = position[i];
        position[i] = is_member ? n_members : 0;
        if (is_member)
            members[n_members++] = i * LOCATIONS;
    }
    if (!o->failed && n_members) {
        check(o, OTF2_GlobalDefWriter_WriteGroup(o->definitions, 0, string_of(o, "processes"),
                                                 OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                                 OTF2_GROUP_FLAG_NONE, n_members, members));
        for (size_t c = 0; c < n; c++)
            define_communicator(o, c, position);
    }
    free(members);
    free(position);
}

static void define_clock(struct otf2 *o)
{
    uint64_t first_ns = UINT64_MAX, last_ns = 0;
    for (size_t i = 0; i < pm_trace_n_threads(o->trace); i++) {
        const struct pm_trace_thread *t = pm_trace_thread(o->trace, i);
        if (!t->n_events)
            continue;
        first_ns = t->start_ns < first_ns ? t->start_ns : first_ns;
        last_ns = t->end_ns > last_ns ? t->end_ns : last_ns;
    }
    first_ns = first_ns < last_ns ? first_ns : last_ns;
    check(o, OTF2_GlobalDefWriter_WriteClockProperties(o->definitions, 1000000000, first_ns,
                                                       last_ns - first_ns + 1,
                                                       OTF2_UNDEFINED_TIMESTAMP));
}

/* --- events --- */

static OTF2_CommRef communicator_of(const struct otf2 *o, uint32_t row)
{
    for (size_t c = 0; c < pm_trace_n_communicators(o->messages); c++)
        if (pm_trace_communicator(o->messages, c)->row == row)
            return (OTF2_CommRef)c;
    return OTF2_UNDEFINED_COMM;
}

/* A send is where it begins, a receive where it ends. The trace does not know how many bytes it
 * had, and the format has no number for that: 0, and a note. */
static void write_message(struct otf2 *o, OTF2_EvtWriter *writer, size_t index,
                          const struct export_event *event)
{
    struct pm_trace_message m;
    if (!event->name->n_nouns ||
        event->flags & (PM_TRACE_CUT | PM_TRACE_BEFORE | PM_TRACE_SWITCHED) ||
        !pm_trace_message_peer(o->messages, index, event->sentence, &m) ||
        m.is_send == event->is_leave)
        return;
    OTF2_CommRef communicator = communicator_of(o, m.communicator);
    if (m.is_send)
        check(o, OTF2_EvtWriter_MpiSend(writer, NULL, event->time_ns, (uint32_t)m.peer_rank,
                                        communicator, m.tag, 0));
    else
        check(o, OTF2_EvtWriter_MpiRecv(writer, NULL, event->time_ns, (uint32_t)m.peer_rank,
                                        communicator, m.tag, 0));
}

static void add_attribute(struct otf2 *o, const char *kind, const char *name)
{
    check(o, OTF2_AttributeList_AddStringRef(o->attributes, attribute_of(o, kind),
                                             string_of(o, name)));
}

static void write_enter(struct otf2 *o, OTF2_EvtWriter *writer, const struct export_event *event)
{
    const struct export_name *name = event->name;
    define_region(o, name);
    for (uint32_t i = 0; i < name->n_nouns; i++)
        add_attribute(o, name->nouns[i].kind, name->nouns[i].name);
    if (name->n_nouns)
        add_attribute(o, "verb", name->verb);
    if (event->flags & PM_TRACE_CUT)
        add_attribute(o, "note", "its begin is not known");
    if (name->n_others)
        add_attribute(o, "note", "or others: this code implements several");
    check(o, OTF2_EvtWriter_Enter(writer, o->attributes, event->time_ns, name->id - 1));
}

static OTF2_EvtWriter *writer_of(struct otf2 *o, size_t index, unsigned which)
{
    if (!o->writers[which])
        o->writers[which] = OTF2_Archive_GetEvtWriter(o->archive, index * LOCATIONS + which);
    check(o, o->writers[which] ? OTF2_SUCCESS : OTF2_ERROR_INVALID);
    return o->writers[which];
}

/* A thread without events has a file, too. */
static void begin_thread(void *context, size_t index, const struct pm_trace_thread *thread)
{
    struct otf2 *o = context;
    (void)thread;
    (void)writer_of(o, index, 0);
    o->is_there[index] = true;
}

static void write_event(void *context, size_t index, const struct pm_trace_thread *thread,
                        const struct export_event *event)
{
    struct otf2 *o = context;
    unsigned which = event->is_foreign;
    (void)thread;
    OTF2_EvtWriter *writer = writer_of(o, index, which);
    if (!writer)
        return;
    if (!event->is_leave)
        write_enter(o, writer, event);
    write_message(o, writer, index, event);
    if (event->is_leave)
        check(o, OTF2_EvtWriter_Leave(writer, NULL, event->time_ns, event->name->id - 1));
}

/* After an error nothing is asked of the library any more: to close what could not be written
 * crashes it (3.0). */
static bool goes_on(void *context)
{
    const struct otf2 *o = context;
    return !o->failed && o->error == OTF2_SUCCESS;
}

static void end_thread(void *context, size_t index, const struct pm_trace_thread *thread)
{
    struct otf2 *o = context;
    (void)thread;
    for (unsigned which = 0; which < LOCATIONS && goes_on(o); which++) {
        if (!o->writers[which])
            continue;
        check(o, OTF2_EvtWriter_GetNumberOfEvents(o->writers[which],
                                                  &o->n_events[index * LOCATIONS + which]));
        check(o, OTF2_Archive_CloseEvtWriter(o->archive, o->writers[which]));
        o->writers[which] = NULL;
    }
}

/* --- the archive --- */

static void add_note(void *context, const char *text)
{
    pm_buf_printf(context, "%s%s", ((struct pm_buf *)context)->len ? "\n" : "", text);
}

static void describe(struct otf2 *o)
{
    struct pm_buf notes = PM_BUF_INIT(1 << 20);
    export_each_dropped(o->trace, add_note, &notes);
    if (pm_trace_messages_any(o->messages))
        add_note(&notes, "lengths of messages are not in the trace: they are 0 here");
    if (notes.len)
        check(o, OTF2_Archive_SetDescription(o->archive, notes.data));
    o->failed |= notes.failed;
    pm_buf_release(&notes);
    check(o, OTF2_Archive_SetCreator(o->archive, "perfmap " PERFMAP_VERSION));
}

/* Each location has a file of definitions, which the format wants, with nothing in it. */
static void write_local_definitions(struct otf2 *o)
{
    check(o, OTF2_Archive_OpenDefFiles(o->archive));
    for (size_t i = 0; i < pm_trace_n_threads(o->trace) * LOCATIONS; i++) {
        if (!goes_on(o) || !has_location(o, i / LOCATIONS, i % LOCATIONS))
            continue;
        OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(o->archive, i);
        check(o, writer ? OTF2_Archive_CloseDefWriter(o->archive, writer) : OTF2_ERROR_INVALID);
    }
    if (goes_on(o))
        check(o, OTF2_Archive_CloseDefFiles(o->archive));
}

static enum pm_status write_files(struct otf2 *o, const struct export_request *request,
                                  struct pm_error *err)
{
    static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = before_flush};
    static const OTF2_MemoryCallbacks memory = {.otf2_allocate = take_chunk,
                                                .otf2_free_all = give_chunks_back};
    struct export_walk walk = {.begin = begin_thread,
                               .event = write_event,
                               .end = end_thread,
                               .goes_on = goes_on,
                               .context = o};
    check(o, OTF2_Archive_SetFlushCallbacks(o->archive, &flush, NULL));
    check(o, OTF2_Archive_SetMemoryCallbacks(o->archive, &memory, NULL));
    check(o, OTF2_Archive_SetSerialCollectiveCallbacks(o->archive));
    describe(o);
    o->definitions = OTF2_Archive_GetGlobalDefWriter(o->archive);
    check(o, OTF2_Archive_OpenEvtFiles(o->archive));
    if (!o->definitions || !goes_on(o))
        return PM_OK; /* the error is there */
    enum pm_status status = export_walk_trace(o->trace, request, &walk, err);
    if (!goes_on(o))
        return status;
    check(o, OTF2_Archive_CloseEvtFiles(o->archive));
    write_local_definitions(o);
    define_system(o);
    define_communicators(o);
    define_clock(o);
    return status;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
    (void)st;
    (void)type;
    (void)walk;
    return remove(path);
}

static enum pm_status write_archive(struct otf2 *o, const struct export_request *request,
                                    const char *folder, struct pm_error *err)
{
    o->texts = pm_intern_new();
    o->attributes = OTF2_AttributeList_New();
    o->n_events = pm_alloc_array(pm_trace_n_threads(o->trace) * LOCATIONS, sizeof *o->n_events);
    o->is_there = pm_alloc_array(pm_trace_n_threads(o->trace), sizeof *o->is_there);
    o->failed |= !o->texts || !o->attributes || !o->n_events || !o->is_there;
    OTF2_ErrorCallback before = OTF2_Error_RegisterCallback(take_error, o);
    if (!o->failed)
        o->archive =
            OTF2_Archive_Open(folder, "traces", OTF2_FILEMODE_WRITE, CHUNK_EVENTS,
                              CHUNK_DEFINITIONS, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    enum pm_status status = PM_OK;
    if (o->archive) {
        status = write_files(o, request, err);
        check(o, goes_on(o) ? OTF2_Archive_Close(o->archive) : OTF2_SUCCESS);
    }
    OTF2_Error_RegisterCallback(before, NULL);
    if (o->attributes)
        (void)OTF2_AttributeList_Delete(o->attributes);
    pm_intern_free(o->texts);
    pm_map_release(&o->string_of);
    pm_map_release(&o->attribute_of);
    free(o->n_events);
    free(o->is_there);
    if (o->failed)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (o->error != OTF2_SUCCESS || !o->archive)
        return pm_error_set(err, PM_ERR_SYSTEM, "cannot write '%s': %s%s%s", request->path,
                            OTF2_Error_GetDescription(o->error), *o->message ? ": " : "",
                            o->message);
    return status;
}

/* Into a folder beside it, which is renamed when all is there. */
static enum pm_status write_folder(struct pm_trace *trace, const struct export_request *request,
                                   struct pm_trace_messages *messages, char *folder,
                                   struct pm_error *err)
{
    struct otf2 o = {.trace = trace, .messages = messages};
    if (!mkdtemp(folder))
        return pm_error_system(err, errno, "cannot make a folder beside '%s'", request->path);
    enum pm_status status = write_archive(&o, request, folder, err);
    if (status != PM_OK)
        goto out;
    if (rename(folder, request->path) == 0)
        return PM_OK;
    status = pm_error_system(err, errno, "cannot write folder '%s'", request->path);
out:
    (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return status;
}

static enum pm_status write_otf2(struct pm_trace *trace, const struct export_request *request,
                                 FILE *out, struct pm_error *err)
{
    struct pm_trace_messages *messages;
    size_t len = strlen(request->path) + sizeof ".XXXXXX";
    (void)out;
    if (access(request->path, F_OK) == 0)
        return pm_error_set(err, PM_ERR_USAGE,
                            "'%s' is there already, and OTF2 makes a folder: name another",
                            request->path);
    enum pm_status status = pm_trace_messages_open(trace, request->open_archive, err, &messages);
    if (status != PM_OK)
        return status;
    char *folder = pm_alloc(len);
    if (folder) {
        snprintf(folder, len, "%s.XXXXXX", request->path);
        status = write_folder(trace, request, messages, folder, err);
    } else {
        status = pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    free(folder);
    pm_trace_messages_free(messages);
    return status;
}

#else

static enum pm_status write_otf2(struct pm_trace *trace, const struct export_request *request,
                                 FILE *out, struct pm_error *err)
{
    (void)trace;
    (void)request;
    (void)out;
    return pm_error_set(err, PM_ERR_UNSUPPORTED,
                        "this perfmap was built without OTF2: install libotf2-trace-dev (Debian) "
                        "and build it again, or use --format perfetto");
}

#endif

const struct export_format export_format_otf2 = {
    .word = "otf2", .has_notes = true, .is_folder = true, .trace = write_otf2};
