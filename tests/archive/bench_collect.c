/* Makes a run of the size of the SQLite shell's and collects it; prints the minimum of several
 * repetitions.
 *
 *     cc -O2 ... bench_collect.c && ./a.out FOLDER [contexts per thread]
 *
 * PIF: 3000 functions, 2000 loops, 45 000 statements, 20 000 variables, 150 000 mappings. Run: 4
 * threads, each with all of the contexts, which are the same in each thread.
 */
#include "mapping/archive/collect.h"
#include "../run/make_run.h"
#include "make_elf.h"

#include <sys/stat.h>
#include <time.h>

enum {
    N_FUNCTIONS = 3000,
    N_LOOPS = 2000,
    N_STATEMENTS = 45000,
    N_VARIABLES = 20000,
    N_CODE = N_FUNCTIONS + N_LOOPS
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
                                               .column = i % 40,
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

static void make_files(const char *folder, unsigned n_contexts)
{
    char path[4096];
    struct make_run run;
    struct pm_run_noun *nouns = calloc(N_CODE, sizeof *nouns);
    for (unsigned i = 0; i < N_CODE; i++)
        nouns[i] = (struct pm_run_noun){.id = id_of("code", i),
                                        .kind = PM_SLED_ENTRY,
                                        .n_sleds = 2,
                                        .address = 0x1000 + i * 64};
    snprintf(path, sizeof path, "%s/sqlite3", folder);
    struct pm_pif *pif = make_pif();
    printf("%zu nouns, %zu mappings, %s\n", pm_pif_n_nouns(pif), pm_pif_n_mappings(pif),
           make_elf(path, "abcd", pif, NULL, 0) ? "written" : "not written");
    pm_pif_free(pif);
    make_run_init(&run, 100);
    make_run_object(&run, path, "abcd", 4, nouns, N_CODE);
    uint64_t *offsets = calloc(n_contexts + 1, sizeof *offsets);
    for (unsigned t = 0; t < 4; t++) {
        make_run_thread(&run, 100 + t, 1000, 1000000000, 1000);
        offsets[0] = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 999999000);
        for (unsigned i = 1; i <= n_contexts; i++)
            offsets[i] =
                make_run_node(&run, offsets[i / 3], i % N_CODE, 0, 1000, i, 900000000 / (i + t));
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
