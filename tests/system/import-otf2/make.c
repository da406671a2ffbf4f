/* A trace with what no producer in Debian writes: a clock that has to be set right by offsets, tick
 * rates that are no nanoseconds, regions with other numbers in one location, counters, machines
 * with two processes each, a location that is only there for metrics.
 *
 *     make FOLDER          writes FOLDER/made.otf2 and its files */
#include <otf2/otf2.h>
#include <stdio.h>

static OTF2_FlushType before_flush(void *user, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool is_final)
{
    (void)user;
    (void)type;
    (void)location;
    (void)caller;
    (void)is_final;
    return OTF2_FLUSH;
}

static OTF2_TimeStamp after_flush(void *user, OTF2_FileType type, OTF2_LocationRef location)
{
    (void)user;
    (void)type;
    (void)location;
    return 0;
}

enum { HZ = 3000000000u, FIRST = 1000, N_LOCATIONS = 4 };

static const char *const names[] = {"",     "cluster", "machine", "node1", "node2",
                                    "node", "proc",    "thread",  "main",  "work(int)",
                                    "_Z4worki", "work.cc", "CYCLES", "# of cycles", "seconds"};
enum { MAIN = 8, WORK, WORK_LINKAGE, FILE_NAME, CYCLES };

static void write_location(OTF2_Archive *archive, uint64_t location)
{
    OTF2_EvtWriter *w = OTF2_Archive_GetEvtWriter(archive, location);
    OTF2_Type type = OTF2_TYPE_UINT64;
    uint32_t turn = location == 3 ? 1 : 0; /* its regions are numbered the other way round */
    uint64_t at = FIRST + location;
    for (uint64_t i = 0; i < 1000 + location; i++) {
        OTF2_MetricValue value = {.unsigned_int = at * 7};
        OTF2_EvtWriter_Metric(w, NULL, at, 0, 1, &type, &value);
        OTF2_EvtWriter_Enter(w, NULL, at, 0 ^ turn);
        at += 1 + i % 7;
        OTF2_EvtWriter_Enter(w, NULL, at, 1 ^ turn);
        at += 2 + i % 5;
        value.unsigned_int = at * 7;
        OTF2_EvtWriter_Metric(w, NULL, at, 0, 1, &type, &value);
        OTF2_EvtWriter_Leave(w, NULL, at, 1 ^ turn);
        at += i % 3;
        OTF2_EvtWriter_Leave(w, NULL, at, 0 ^ turn);
    }
    OTF2_Archive_CloseEvtWriter(archive, w);
}

/* Clocks of odd locations are late, and go wrong by 10 % more from one end to the other. */
static void write_own_definitions(OTF2_Archive *archive, uint64_t location)
{
    OTF2_DefWriter *w = OTF2_Archive_GetDefWriter(archive, location);
    if (location & 1) {
        OTF2_DefWriter_WriteClockOffset(w, FIRST, 500, 0.0);
        OTF2_DefWriter_WriteClockOffset(w, FIRST + 10000, 1500, 0.0);
    }
    if (location == 3) {
        OTF2_IdMap *map = OTF2_IdMap_Create(OTF2_ID_MAP_DENSE, 2);
        OTF2_IdMap_AddIdPair(map, 0, 1);
        OTF2_IdMap_AddIdPair(map, 1, 0);
        OTF2_DefWriter_WriteMappingTable(w, OTF2_MAPPING_REGION, map);
        OTF2_IdMap_Free(map);
    }
    OTF2_Archive_CloseDefWriter(archive, w);
}

static void write_definitions(OTF2_Archive *archive)
{
    OTF2_GlobalDefWriter *w = OTF2_Archive_GetGlobalDefWriter(archive);
    const uint64_t members[] = {0, 2};
    const OTF2_MetricMemberRef metrics[] = {0};
    OTF2_GlobalDefWriter_WriteClockProperties(w, HZ, FIRST, 100000, OTF2_UNDEFINED_TIMESTAMP);
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        OTF2_GlobalDefWriter_WriteString(w, i, names[i]);
    OTF2_GlobalDefWriter_WriteSystemTreeNode(w, 0, 1, 2, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    OTF2_GlobalDefWriter_WriteSystemTreeNode(w, 1, 3, 5, 0);
    OTF2_GlobalDefWriter_WriteSystemTreeNode(w, 2, 4, 5, 0);
    for (uint32_t i = 0; i < 2; i++)
        OTF2_GlobalDefWriter_WriteLocationGroup(w, i, 6, OTF2_LOCATION_GROUP_TYPE_PROCESS, 1 + i,
                                                OTF2_UNDEFINED_LOCATION_GROUP);
    for (uint32_t i = 0; i < N_LOCATIONS; i++)
        OTF2_GlobalDefWriter_WriteLocation(w, i, 7, OTF2_LOCATION_TYPE_CPU_THREAD, 5, i / 2);
    OTF2_GlobalDefWriter_WriteLocation(w, N_LOCATIONS, 7, OTF2_LOCATION_TYPE_METRIC, 0, 0);
    OTF2_GlobalDefWriter_WriteRegion(w, 0, MAIN, MAIN, 0, OTF2_REGION_ROLE_FUNCTION,
                                     OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, FILE_NAME, 3, 9);
    OTF2_GlobalDefWriter_WriteRegion(w, 1, WORK, WORK_LINKAGE, 0, OTF2_REGION_ROLE_FUNCTION,
                                     OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, FILE_NAME, 12, 19);
    OTF2_GlobalDefWriter_WriteGroup(w, 0, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, 2, members);
    OTF2_GlobalDefWriter_WriteMetricMember(w, 0, CYCLES, CYCLES + 1, OTF2_METRIC_TYPE_PAPI,
                                           OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64,
                                           OTF2_BASE_DECIMAL, 0, 0);
    OTF2_GlobalDefWriter_WriteMetricClass(w, 0, 1, metrics, OTF2_METRIC_SYNCHRONOUS_STRICT,
                                          OTF2_RECORDER_KIND_CPU);
}

int main(int argc, char **argv)
{
    OTF2_FlushCallbacks flush = {.otf2_pre_flush = before_flush, .otf2_post_flush = after_flush};
    OTF2_Archive *archive =
        argc == 2 ? OTF2_Archive_Open(argv[1], "made", OTF2_FILEMODE_WRITE, 1 << 18, 1 << 18,
                                      OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE)
                  : NULL;
    if (!archive)
        return 1;
    OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(archive);
    OTF2_Archive_SetCreator(archive, "a test of perfmap");
    OTF2_Archive_OpenEvtFiles(archive);
    for (uint64_t i = 0; i < N_LOCATIONS; i++)
        write_location(archive, i);
    OTF2_Archive_CloseEvtWriter(archive, OTF2_Archive_GetEvtWriter(archive, N_LOCATIONS));
    OTF2_Archive_CloseEvtFiles(archive);
    OTF2_Archive_OpenDefFiles(archive);
    for (uint64_t i = 0; i <= N_LOCATIONS; i++)
        write_own_definitions(archive, i);
    OTF2_Archive_CloseDefFiles(archive);
    write_definitions(archive);
    return OTF2_Archive_Close(archive) != OTF2_SUCCESS;
}
