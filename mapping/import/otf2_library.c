/* The child's part (otf2_records.h): all that calls the OTF2 library. It ends with a record that
 * says so, or not at all. Nothing is freed: the process ends. */
#include "otf2_records.h"

#ifdef PERFMAP_HAVE_OTF2

#include <endian.h>
#include <errno.h>
#include <otf2/otf2.h>
#include <stdlib.h>
#include <unistd.h>

enum { OUT_BYTES = 1 << 16 };

struct child {
    int fd;
    OTF2_Reader *reader;
    uint64_t *locations;
    uint32_t n_locations, locations_cap;
    char message[256];
    size_t n_out;
    unsigned char out[OUT_BYTES];
};

/* --- records --- */

static void flush(struct child *c)
{
    for (size_t done = 0; done < c->n_out;) {
        ssize_t n = write(c->fd, c->out + done, c->n_out - done);
        if (n < 0 && errno != EINTR)
            _exit(1);
        done += n > 0 ? (size_t)n : 0;
    }
    c->n_out = 0;
}

static void put(struct child *c, const void *bytes, size_t len)
{
    const unsigned char *from = bytes;
    while (len) {
        size_t room = OUT_BYTES - c->n_out, n = len < room ? len : room;
        memcpy(c->out + c->n_out, from, n);
        c->n_out += n;
        from += n;
        len -= n;
        if (c->n_out == OUT_BYTES)
            flush(c);
    }
}

static void put_record(struct child *c, char tag, size_t n, const uint64_t *numbers)
{
    put(c, &tag, 1);
    for (size_t i = 0; i < n; i++) {
        uint64_t number = htole64(numbers[i]);
        put(c, &number, sizeof number);
    }
}

#define RECORD(c, tag, ...)                                                  \
    put_record(c, tag, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), \
               (uint64_t[]){__VA_ARGS__})

/* The end of a record; its last number was its length. */
static size_t text_len(const char *text)
{
    size_t len = strlen(text);
    return len < RECORD_MAX_TEXT ? len : RECORD_MAX_TEXT;
}

static _Noreturn void fail(struct child *c, const char *what)
{
    char text[400];
    snprintf(text, sizeof text, "%s%s%s", what, *c->message ? ": " : "", c->message);
    RECORD(c, RECORD_FAILED, text_len(text));
    put(c, text, text_len(text));
    flush(c);
    _exit(0);
}

/* The first one says most. */
static OTF2_ErrorCode take_error(void *context, const char *file, uint64_t line,
                                 const char *function, OTF2_ErrorCode code, const char *format,
                                 va_list args)
{
    struct child *c = context;
    (void)file;
    (void)line;
    (void)function;
    if (!*c->message && code > OTF2_SUCCESS)
        vsnprintf(c->message, sizeof c->message, format, args);
    return code;
}

/* A reference of 32 bits: its own "none" is all ones. */
static uint64_t ref(uint32_t number)
{
    return number == OTF2_UNDEFINED_UINT32 ? RECORD_NONE : number;
}

/* --- definitions --- */

static OTF2_CallbackCode on_clock(void *context, uint64_t hz, uint64_t first, uint64_t length,
                                  uint64_t realtime)
{
    (void)realtime;
    RECORD(context, RECORD_CLOCK, hz, first, length);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_string(void *context, OTF2_StringRef self, const char *text)
{
    RECORD(context, RECORD_STRING, self, text_len(text));
    put(context, text, text_len(text));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_node(void *context, OTF2_SystemTreeNodeRef self, OTF2_StringRef name,
                                 OTF2_StringRef class_name, OTF2_SystemTreeNodeRef parent)
{
    RECORD(context, RECORD_NODE, self, ref(name), ref(class_name), ref(parent));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_group(void *context, OTF2_LocationGroupRef self, OTF2_StringRef name,
                                  OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef node,
                                  OTF2_LocationGroupRef creator)
{
    (void)creator;
    RECORD(context, RECORD_GROUP, self, ref(name), type == OTF2_LOCATION_GROUP_TYPE_PROCESS,
           ref(node));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location(void *context, OTF2_LocationRef self, OTF2_StringRef name,
                                     OTF2_LocationType type, uint64_t n_events,
                                     OTF2_LocationGroupRef group)
{
    struct child *c = context;
    (void)n_events; /* not to be trusted: eztrace 2.0 says 2 of each */
    uint64_t *locations =
        pm_grow_array(c->locations, c->n_locations, &c->locations_cap, 64, sizeof *locations);
    if (!locations)
        return OTF2_CALLBACK_INTERRUPT;
    c->locations = locations;
    locations[c->n_locations++] = self;
    RECORD(c, RECORD_LOCATION, self, ref(name), type != OTF2_LOCATION_TYPE_METRIC, ref(group));
    return OTF2_CALLBACK_SUCCESS;
}

/* The processes of MPI, in the order of their ranks. */
static OTF2_CallbackCode on_members(void *context, OTF2_GroupRef self, OTF2_StringRef name,
                                    OTF2_GroupType type, OTF2_Paradigm paradigm,
                                    OTF2_GroupFlag flags, uint32_t n, const uint64_t *members)
{
    (void)self;
    (void)name;
    (void)flags;
    if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS && paradigm == OTF2_PARADIGM_MPI)
        for (uint32_t i = 0; i < n; i++)
            RECORD(context, RECORD_RANK, i, members[i]);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_region(void *context, OTF2_RegionRef self, OTF2_StringRef name,
                                   OTF2_StringRef linkage, OTF2_StringRef description,
                                   OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t first_line,
                                   uint32_t last_line)
{
    (void)description;
    (void)role;
    (void)paradigm;
    (void)flags;
    (void)last_line;
    RECORD(context, RECORD_REGION, self, ref(name), ref(linkage), ref(file),
           first_line == OTF2_UNDEFINED_UINT32 ? 0 : first_line);
    return OTF2_CALLBACK_SUCCESS;
}

static uint64_t how_of(OTF2_MetricMode mode)
{
    switch (mode & OTF2_METRIC_VALUE_MASK) {
    case OTF2_METRIC_VALUE_ACCUMULATED:
        return RECORD_HOW_ACCUMULATED;
    case OTF2_METRIC_VALUE_RELATIVE: /* a value of what comes is no cost of what was */
        return (mode & OTF2_METRIC_TIMING_MASK) == OTF2_METRIC_TIMING_NEXT ? RECORD_HOW_ABSOLUTE
                                                                           : RECORD_HOW_RELATIVE;
    default:
        return RECORD_HOW_ABSOLUTE;
    }
}

static OTF2_CallbackCode on_member(void *context, OTF2_MetricMemberRef self, OTF2_StringRef name,
                                   OTF2_StringRef description, OTF2_MetricType type,
                                   OTF2_MetricMode mode, OTF2_Type value_type, OTF2_Base base,
                                   int64_t exponent, OTF2_StringRef unit)
{
    (void)type;
    (void)value_type;
    RECORD(context, RECORD_MEMBER, self, ref(name), ref(description), ref(unit), how_of(mode),
           base == OTF2_BASE_BINARY ? 2 : 10, (uint64_t)exponent);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_class(void *context, OTF2_MetricRef self, uint8_t n,
                                  const OTF2_MetricMemberRef *members,
                                  OTF2_MetricOccurrence occurrence, OTF2_RecorderKind recorder)
{
    (void)occurrence;
    (void)recorder;
    for (uint8_t i = 0; i < n; i++)
        RECORD(context, RECORD_CLASS, self, i, ref(members[i]));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_instance(void *context, OTF2_MetricRef self, OTF2_MetricRef of,
                                     OTF2_LocationRef recorder, OTF2_MetricScope scope_kind,
                                     uint64_t scope)
{
    (void)recorder;
    (void)scope_kind;
    (void)scope;
    RECORD(context, RECORD_INSTANCE, self, ref(of));
    return OTF2_CALLBACK_SUCCESS;
}

static void read_definitions(struct child *c)
{
    OTF2_GlobalDefReaderCallbacks *calls = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReader *definitions = OTF2_Reader_GetGlobalDefReader(c->reader);
    uint64_t n_read;
    if (!calls || !definitions)
        fail(c, "its definitions cannot be read");
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(calls, on_clock);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(calls, on_string);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(calls, on_node);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(calls, on_group);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(calls, on_location);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(calls, on_members);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(calls, on_region);
    OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(calls, on_member);
    OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(calls, on_class);
    OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(calls, on_instance);
    if (OTF2_Reader_RegisterGlobalDefCallbacks(c->reader, definitions, calls, c) != OTF2_SUCCESS ||
        OTF2_Reader_ReadAllGlobalDefinitions(c->reader, definitions, &n_read) != OTF2_SUCCESS)
        fail(c, "its definitions are damaged");
}

/* --- events --- */

#define EVENT                                                                         \
    OTF2_LocationRef location, OTF2_TimeStamp tick, uint64_t position, void *context, \
        OTF2_AttributeList *attributes
#define IGNORED (void)location, (void)tick, (void)position, (void)attributes

static OTF2_CallbackCode on_enter(EVENT, OTF2_RegionRef region)
{
    IGNORED;
    RECORD(context, RECORD_ENTER, tick, ref(region));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_leave(EVENT, OTF2_RegionRef region)
{
    IGNORED;
    RECORD(context, RECORD_LEAVE, tick, ref(region));
    return OTF2_CALLBACK_SUCCESS;
}

static uint64_t kind_of(OTF2_Type type)
{
    switch (type) {
    case OTF2_TYPE_UINT64:
        return RECORD_KIND_UNSIGNED;
    case OTF2_TYPE_DOUBLE:
        return RECORD_KIND_DOUBLE;
    default:
        return RECORD_KIND_SIGNED;
    }
}

static OTF2_CallbackCode on_metric(EVENT, OTF2_MetricRef metric, uint8_t n, const OTF2_Type *types,
                                   const OTF2_MetricValue *values)
{
    IGNORED;
    for (uint8_t i = 0; i < n; i++) {
        uint64_t value;
        memcpy(&value, &values[i], sizeof value);
        RECORD(context, RECORD_VALUE, tick, ref(metric), i, kind_of(types[i]), value);
    }
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_send(EVENT, uint32_t receiver, OTF2_CommRef communicator, uint32_t tag,
                                 uint64_t bytes)
{
    IGNORED;
    (void)receiver;
    (void)communicator;
    (void)tag;
    RECORD(context, RECORD_SENT, 1, bytes, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_isend(EVENT, uint32_t receiver, OTF2_CommRef communicator, uint32_t tag,
                                  uint64_t bytes, uint64_t request)
{
    (void)request;
    return on_send(location, tick, position, context, attributes, receiver, communicator, tag,
                   bytes);
}

static OTF2_CallbackCode on_receive(EVENT, uint32_t sender, OTF2_CommRef communicator, uint32_t tag,
                                    uint64_t bytes)
{
    IGNORED;
    (void)sender;
    (void)communicator;
    (void)tag;
    RECORD(context, RECORD_SENT, 0, 0, bytes);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_ireceive(EVENT, uint32_t sender, OTF2_CommRef communicator,
                                     uint32_t tag, uint64_t bytes, uint64_t request)
{
    (void)request;
    return on_receive(location, tick, position, context, attributes, sender, communicator, tag,
                      bytes);
}

static OTF2_CallbackCode on_collective(EVENT, OTF2_CollectiveOp op, OTF2_CommRef communicator,
                                       uint32_t root, uint64_t sent, uint64_t received)
{
    IGNORED;
    (void)op;
    (void)communicator;
    (void)root;
    RECORD(context, RECORD_SENT, 0, sent, received);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_put(EVENT, OTF2_RmaWinRef window, uint32_t remote, uint64_t bytes,
                                uint64_t matching)
{
    IGNORED;
    (void)window;
    (void)remote;
    (void)matching;
    RECORD(context, RECORD_SENT, 0, bytes, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_get(EVENT, OTF2_RmaWinRef window, uint32_t remote, uint64_t bytes,
                                uint64_t matching)
{
    IGNORED;
    (void)window;
    (void)remote;
    (void)matching;
    RECORD(context, RECORD_SENT, 0, 0, bytes);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_sample(EVENT, OTF2_CallingContextRef calling, uint32_t unwind,
                                   OTF2_InterruptGeneratorRef generator)
{
    IGNORED;
    (void)calling;
    (void)unwind;
    (void)generator;
    RECORD(context, RECORD_OTHER, 1);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_context(EVENT, OTF2_CallingContextRef calling, uint32_t unwind)
{
    IGNORED;
    (void)calling;
    (void)unwind;
    RECORD(context, RECORD_OTHER, 1);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_EvtReaderCallbacks *event_calls(struct child *c)
{
    OTF2_EvtReaderCallbacks *calls = OTF2_EvtReaderCallbacks_New();
    if (!calls)
        fail(c, "out of memory");
    OTF2_EvtReaderCallbacks_SetEnterCallback(calls, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(calls, on_leave);
    OTF2_EvtReaderCallbacks_SetMetricCallback(calls, on_metric);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(calls, on_send);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(calls, on_isend);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(calls, on_receive);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(calls, on_ireceive);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(calls, on_collective);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(calls, on_put);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(calls, on_get);
    OTF2_EvtReaderCallbacks_SetCallingContextSampleCallback(calls, on_sample);
    OTF2_EvtReaderCallbacks_SetCallingContextEnterCallback(calls, on_context);
    return calls;
}

/* One location after the other: of one only is there more than a piece in memory. Its own
 * definitions have its clock's offsets and the numbers that it uses, which the library applies. */
static void read_location(struct child *c, uint64_t location, bool has_definitions,
                          OTF2_EvtReaderCallbacks *calls)
{
    uint64_t n_read;
    OTF2_DefReader *own = has_definitions ? OTF2_Reader_GetDefReader(c->reader, location) : NULL;
    if (own && OTF2_Reader_ReadAllLocalDefinitions(c->reader, own, &n_read) != OTF2_SUCCESS)
        fail(c, "the definitions of a location are damaged");
    if (own)
        (void)OTF2_Reader_CloseDefReader(c->reader, own);
    RECORD(c, RECORD_BEGIN, location);
    OTF2_EvtReader *events = OTF2_Reader_GetEvtReader(c->reader, location);
    if (!events || OTF2_Reader_RegisterEvtCallbacks(c->reader, events, calls, c) != OTF2_SUCCESS ||
        OTF2_Reader_ReadAllLocalEvents(c->reader, events, &n_read) != OTF2_SUCCESS)
        fail(c, "the events of a location are damaged or missing");
    (void)OTF2_Reader_CloseEvtReader(c->reader, events);
}

static void read_events(struct child *c)
{
    for (uint32_t i = 0; i < c->n_locations; i++)
        if (OTF2_Reader_SelectLocation(c->reader, c->locations[i]) != OTF2_SUCCESS)
            fail(c, "a location cannot be chosen");
    bool has_definitions = OTF2_Reader_OpenDefFiles(c->reader) == OTF2_SUCCESS;
    if (OTF2_Reader_OpenEvtFiles(c->reader) != OTF2_SUCCESS)
        fail(c, "its events cannot be opened");
    *c->message = 0; /* without definitions of its own a location is read all the same */
    OTF2_EvtReaderCallbacks *calls = event_calls(c);
    for (uint32_t i = 0; i < c->n_locations; i++)
        read_location(c, c->locations[i], has_definitions, calls);
}

void otf2_write_records(const char *path, int fd)
{
    static struct child child; /* large, and once in a process */
    struct child *c = &child;
    char *creator = NULL;
    c->fd = fd;
    (void)OTF2_Error_RegisterCallback(take_error, c);
    c->reader = OTF2_Reader_Open(path);
    if (!c->reader || OTF2_Reader_SetSerialCollectiveCallbacks(c->reader) != OTF2_SUCCESS)
        fail(c, "it cannot be opened");
    if (OTF2_Reader_GetCreator(c->reader, &creator) == OTF2_SUCCESS && creator) {
        RECORD(c, RECORD_CREATOR, text_len(creator));
        put(c, creator, text_len(creator));
    }
    read_definitions(c);
    read_events(c);
    put_record(c, RECORD_END, 0, NULL);
    flush(c);
}

#endif
