/* Makes a run of the size of the SQLite shell's and collects it; prints the minimum of several
 * repetitions.
 *
 *     cc -O2 ... bench_collect.c && ./a.out FOLDER [contexts per thread]
 *
 * PIF: 3000 functions, 2000 loops, 45 000 statements, 20 000 variables, 150 000 mappings. Late
 * map: 20 statements in each symbol, each of which touches 4 variables. Run: 4 threads, each
 * with all of the contexts, which are the same in each thread, and a sample of each statement's
 * code: 100 000 codes with a million mappings.
 */
#include "mapping/collect/collect.h"
#include "format/pm_map.h"
#include "../run/make_run.h"
#include "make_elf.h"

#include <sys/stat.h>
#include <time.h>

enum {
    N_FUNCTIONS = 3000,
    N_LOOPS = 2000,
    N_STATEMENTS = 45000,
    N_VARIABLES = 20000,
    N_CODE = N_FUNCTIONS + N_LOOPS,
    N_TUPLES = 20,
    N_OBJECTS = 4,
    RANGE_BYTES = 3,
    CODE_BYTES = 64
};

static pm_id id_of(const char *kind, unsigned n)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, kind);
    pm_id_hash_number(&hash, n);
    return pm_id_hash_done(&hash);
}

static struct pm_pif *make_pif(void)
{
    struct pm_pif *pif = pm_pif_new();
    char name[64], type[32];
    pm_pif_level(pif, "Source", "Base");
    pm_id base = pm_pif_verb(pif, &(struct pm_pif_verb){.name = "Executes", .level = "Base"});
    pm_id source = pm_pif_verb(pif, &(struct pm_pif_verb){.name = "Executes", .level = "Source"});
    pm_id reads = pm_pif_verb(pif, &(struct pm_pif_verb){.name = "Reads", .level = "Source"});
    pm_pif_noun(pif, &(struct pm_pif_noun){.id = id_of("file", 0),
                                           .name = "/build/sqlite3-3.40.1/sqlite3.c",
                                           .level = "Source",
                                           .kind = "file"});
    for (unsigned i = 0; i < N_CODE; i++) {
        snprintf(name, sizeof name, "sqlite3Function%u", i);
        pm_pif_noun(pif,
                    &(struct pm_pif_noun){
                        .id = id_of("code", i), .name = name, .level = "Base", .kind = "symbol"});
        pm_pif_noun(pif, &(struct pm_pif_noun){.id = id_of("func", i),
                                               .name = name,
                                               .level = "Source",
                                               .kind = "function",
                                               .file = "/build/sqlite3-3.40.1/sqlite3.c",
                                               .line = i * 40 + 1,
                                               .end_line = i * 40 + 30});
        pm_pif_mapping(pif,
                       &(struct pm_pif_mapping){.source = {base, 1, {id_of("code", i)}},
                                                .destination = {source, 1, {id_of("func", i)}}});
    }
    for (unsigned i = 0; i < N_STATEMENTS; i++) {
        snprintf(name, sizeof name, "sqlite3.c:%u:%u", i * 4, i % 40);
        pm_pif_noun(pif, &(struct pm_pif_noun){.id = id_of("stmt", i),
                                               .name = name,
                                               .level = "Source",
                                               .kind = "statement",
                                               .file = "/build/sqlite3-3.40.1/sqlite3.c",
                                               .line = i * 4,
                                               .column = 1 + i % 40,
                                               .parent = id_of("func", i % N_CODE)});
        pm_pif_mapping(pif,
                       &(struct pm_pif_mapping){.source = {base, 1, {id_of("code", i % N_CODE)}},
                                                .destination = {source, 1, {id_of("stmt", i)}}});
    }
    for (unsigned i = 0; i < N_VARIABLES; i++) {
        snprintf(name, sizeof name, "pVariable%u", i);
        snprintf(type, sizeof type, "struct T%u *", i % 500);
        pm_pif_noun(pif, &(struct pm_pif_noun){.id = id_of("var", i),
                                               .name = name,
                                               .level = "Source",
                                               .kind = "variable",
                                               .type = type,
                                               .file = "/build/sqlite3-3.40.1/sqlite3.c",
                                               .line = i * 8,
                                               .parent = id_of("func", i % N_CODE)});
    }
    for (unsigned i = 0; i < 100000; i++)
        pm_pif_mapping(pif, &(struct pm_pif_mapping){
                                .source = {source, 1, {id_of("stmt", i % N_STATEMENTS)}},
                                .destination = {reads, 1, {id_of("var", (i * 7) % N_VARIABLES)}}});
    return pif;
}

static void add_bytes(struct pm_buf *map, uint64_t value, int n)
{
    for (int i = 0; i < n; i++)
        pm_buf_add_byte(map, (unsigned char)(value >> 8 * i));
}

static void add_block(struct pm_buf *map, unsigned code)
{
    struct pm_buf body = PM_BUF_INIT(1 << 16);
    pm_buf_add_uleb(&body, 1);
    add_bytes(&body, id_of("func", code), 8);
    pm_buf_add_uleb(&body, 1);
    add_bytes(&body, id_of("file", 0), 8);
    pm_buf_add_uleb(&body, 0); /* loops */
    pm_buf_add_uleb(&body, N_TUPLES * N_OBJECTS);
    for (unsigned i = 0; i < N_TUPLES * N_OBJECTS; i++)
        add_bytes(&body, id_of("var", (code * 13 + i * 7) % N_VARIABLES), 8);
    pm_buf_add_uleb(&body, 0); /* sites */
    for (unsigned i = 0; i < N_TUPLES; i++) {
        pm_buf_add_uleb(&body, RANGE_BYTES);
        pm_buf_add_uleb(&body, 0);
        pm_buf_add_uleb(&body, PM_MAP_PLACE | PM_MAP_OBJECTS);
        /* Statements of the function: its own, in turn. */
        pm_buf_add_sleb(&body, i == 0       ? (int)code * 4
                               : i % 9 == 0 ? -(int)(8 * N_CODE * 4)
                                            : N_CODE * 4);
        pm_buf_add_uleb(&body, 0);
        pm_buf_add_uleb(&body, N_OBJECTS);
        for (unsigned k = 0; k < N_OBJECTS; k++)
            pm_buf_add_uleb(&body, (i * N_OBJECTS + k) << 3 | PM_MAP_READS | PM_MAP_WRITES);
    }
    pm_buf_add(map, PM_MAP_MAGIC, 4);
    add_bytes(map, PM_MAP_VERSION, 2);
    add_bytes(map, 0, 2);
    add_bytes(map, PM_MAP_BLOCK_HEADER + body.len, 4);
    add_bytes(map, 0x1000 + code * CODE_BYTES, 8);
    add_bytes(map, id_of("code", code), 8);
    pm_buf_add(map, body.data, body.len);
    pm_buf_release(&body);
}

static void add_samples(struct make_run *run, uint64_t thread, const uint64_t *offsets,
                        unsigned n_contexts)
{
    struct pm_run_sample *samples = calloc((size_t)N_CODE * N_TUPLES, sizeof *samples);
    for (unsigned i = 0; i < N_CODE * N_TUPLES; i++)
        samples[i] = (struct pm_run_sample){
            .address = 0x1000 + i / N_TUPLES * CODE_BYTES + i % N_TUPLES * RANGE_BYTES,
            .node = (uint32_t)(offsets[1 + i / N_TUPLES % n_contexts] / 64),
            .kind = PM_RUN_SAMPLE_USER,
            .n_samples = 1,
            .time_ns = 2000000};
    make_run_samples(run, thread, samples, (size_t)N_CODE * N_TUPLES);
    free(samples);
}

static void make_files(const char *folder, unsigned n_contexts)
{
    char path[4096];
    struct make_run run;
    struct pm_run_noun *nouns = calloc(N_CODE, sizeof *nouns);
    for (unsigned i = 0; i < N_CODE; i++)
        nouns[i] = (struct pm_run_noun){.id = id_of("code", i),
                                        .kind = PM_SLED_ENTRY,
                                        .n_sleds = 2,
                                        .address = 0x1000 + i * CODE_BYTES};
    snprintf(path, sizeof path, "%s/sqlite3", folder);
    struct pm_pif *pif = make_pif();
    struct pm_buf map = PM_BUF_INIT(1 << 28);
    for (unsigned i = 0; i < N_CODE; i++)
        add_block(&map, i);
    printf("%zu nouns, %zu mappings, %s\n", pm_pif_n_nouns(pif), pm_pif_n_mappings(pif),
           make_elf_with_map(path, "abcd", pif, &map, NULL, 0) ? "written" : "not written");
    pm_buf_release(&map);
    pm_pif_free(pif);
    make_run_init(&run, 100);
    make_run_loaded(&run, make_run_object(&run, path, "abcd", 4, nouns, N_CODE), 0, 1 << 24, 0, 0);
    uint64_t *offsets = calloc(n_contexts + 1, sizeof *offsets);
    for (unsigned t = 0; t < 4; t++) {
        uint64_t thread = make_run_thread(&run, 100 + t, 1000, 1000000000, 1000);
        offsets[0] = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 999999000);
        for (unsigned i = 1; i <= n_contexts; i++)
            offsets[i] =
                make_run_node(&run, offsets[i / 3], i % N_CODE, 0, 1000, i, 900000000 / (i + t));
        add_samples(&run, thread, offsets, n_contexts);
    }
    make_run_end(&run, 1000000000);
    snprintf(path, sizeof path, "%s/x.run", folder);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/x.run/100.0.pmr", folder);
    make_run_write(&run, path);
    make_run_release(&run);
    free(offsets);
    free(nouns);
}

static double now_s(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    make_files(argv[1], argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 50000);
    char run[4096], archive[4096];
    snprintf(run, sizeof run, "%s/x.run", argv[1]);
    snprintf(archive, sizeof archive, "%s/x.perfmap", argv[1]);
    const char *runs[] = {run};
    double best = 1e9, best_cpu = 1e9;
    for (int i = 0; i < 5; i++) {
        struct pm_collect_result result = {0};
        struct pm_error err = PM_ERROR_INIT;
        double start = now_s(CLOCK_MONOTONIC), start_cpu = now_s(CLOCK_PROCESS_CPUTIME_ID);
        if (pm_collect(runs, 1, archive, NULL, &err, &result) != PM_OK) {
            pm_error_print(&err, stderr);
            return 1;
        }
        double took = now_s(CLOCK_MONOTONIC) - start,
               cpu = now_s(CLOCK_PROCESS_CPUTIME_ID) - start_cpu;
        best = took < best ? took : best;
        best_cpu = cpu < best_cpu ? cpu : best_cpu;
        printf("%.3f s, %zu contexts, %zu nouns, %zu mappings, %zu warnings\n", took,
               result.n_contexts, result.n_nouns, result.n_mappings, result.n_warnings);
        pm_collect_result_release(&result);
    }
    printf("minimum %.3f s, CPU time %.3f s\n", best, best_cpu);
    return 0;
}
