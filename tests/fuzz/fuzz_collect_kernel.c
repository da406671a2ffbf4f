/* kernel-writes.txt of a run folder, with a run file of a program that wrote the files of inodes
 * 1:2:3 and 1:2:4: the archive is made whatever the text is, can be read, and is charged with
 * what the text has of these inodes. */
#include "mapping/collect/collect.h"
#include "mapping/archive/load.h"
#include "mapping/run/kernel_writes.h"
#include "format/pm_words.h"
#include "tests/run/make_run.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], run_dir[80], archive_path[96], text_path[128];

static void remove_folder(void)
{
    char path[160];
    snprintf(path, sizeof path, "%s/100.0.pmr", run_dir);
    unlink(path);
    unlink(text_path);
    unlink(archive_path);
    rmdir(run_dir);
    rmdir(folder);
}

/* Returns its number. */
static uint32_t add_word(struct make_run *run, uint64_t *at, struct pm_run_word word, uint32_t noun,
                         const char *texts, size_t len)
{
    static uint32_t n;
    word.n_nouns = noun != 0;
    word.n_text_bytes = (uint32_t)len;
    word.bytes = (uint32_t)(sizeof word + 4u * word.n_nouns + len + 7u) / 8u * 8u;
    memcpy(make_run_at(run, *at), &word, sizeof word);
    if (noun)
        memcpy(make_run_at(run, *at + sizeof word), &noun, 4);
    memcpy(make_run_at(run, *at + sizeof word + 4u * word.n_nouns), texts, len);
    *at += word.bytes;
    return ++n;
}

#define TEXTS(texts) texts, sizeof texts

static bool write_run(void)
{
    char path[160];
    struct make_run run;
    make_run_init(&run, 100);
    uint64_t at = make_run_chunk(&run, PM_RUN_CHUNK_WORDS, PM_RUN_PAGE, 0) + PM_RUN_WORDS_DATA;
    struct pm_run_word noun = {.kind = PM_WORD_NOUN}, verb = {.kind = PM_WORD_VERB},
                       sentence = {.kind = PM_WORD_SENTENCE};
    noun.a = verb.a =
        add_word(&run, &at, (struct pm_run_word){.kind = PM_WORD_LEVEL}, 0, TEXTS("IO\0Source"));
    sentence.a = add_word(&run, &at, verb, 0, TEXTS("WriteFile"));
    uint32_t metric = add_word(&run, &at, (struct pm_run_word){.kind = PM_WORD_METRIC}, 0,
                               TEXTS("bytes_written\0bytes\0bytes"));
    struct pm_run_noun nouns[2] = {{.kind = PM_RUN_SENTENCE_ENTER},
                                   {.kind = PM_RUN_SENTENCE_ENTER}};
    static const char files[2][12] = {"/a.dat\0file", "/b.dat\0file"};
    static const char inodes[2][12] = {"1:2:3\0inode", "1:2:4\0inode"};
    for (int i = 0; i < 2; i++) {
        noun.b = 0;
        uint32_t file = add_word(&run, &at, noun, 0, TEXTS(files[i]));
        noun.b = file;
        add_word(&run, &at, noun, 0, TEXTS(inodes[i]));
        nouns[i].id = add_word(&run, &at, sentence, file, "", 0);
    }
    uint64_t object = make_run_object(&run, "[words]", "", 0, nouns, 2);
    ((struct pm_run_object *)make_run_at(&run, object))->kind = PM_RUN_OBJECT_WORDS;
    uint64_t thread = make_run_thread(&run, 100, 1000, 2000, 16);
    uint64_t root = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 1, 1000);
    struct pm_run_sample costs[3] = {{0}};
    uint64_t above = root;
    for (uint32_t i = 0; i < 3; i++) { /* /a.dat, /b.dat, and below that /a.dat again */
        uint64_t node = make_run_node(&run, i == 2 ? above : root, i == 1, 0, 1000, 1, 10);
        make_run_node_at(&run, node)->kind = PM_RUN_SENTENCE_ENTER;
        costs[i] = (struct pm_run_sample){.address = metric,
                                          .node = (uint32_t)(node / 64),
                                          .kind = PM_RUN_SAMPLE_COST,
                                          .n_samples = 1,
                                          .time_ns = 1000u * (i + 1)};
        above = node;
    }
    make_run_samples(&run, thread, costs, 3);
    make_run_end(&run, 3000);
    snprintf(path, sizeof path, "%s/100.0.pmr", run_dir);
    bool good = make_run_write(&run, path);
    make_run_release(&run);
    return good;
}

static bool begin(void)
{
    snprintf(folder, sizeof folder, "%s/perfmap-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder) || atexit(remove_folder) != 0)
        return false;
    snprintf(run_dir, sizeof run_dir, "%s/x.run", folder);
    snprintf(archive_path, sizeof archive_path, "%s/x.perfmap", folder);
    snprintf(text_path, sizeof text_path, "%s/" PM_KERNEL_WRITES_NAME, run_dir);
    return mkdir(run_dir, 0700) == 0 && write_run();
}

static int64_t charged(const struct pm_graph *graph)
{
    pm_index metric = pm_graph_find_metric(graph, "block_bytes_written");
    int64_t sum = 0;
    for (uint32_t i = 0; metric != PM_NONE && i < graph->n_costs; i++)
        if (graph->costs[i].metric == metric &&
            __builtin_add_overflow(sum, graph->costs[i].value, &sum))
            sum = INT64_MAX;
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool begun;
    const char *runs[] = {run_dir};
    struct pm_error err = PM_ERROR_INIT;
    struct pm_collect_result result = {0};
    struct pm_archive_data *loaded = NULL;
    if (!begun && !(begun = begin()))
        abort();
    int fd = open(text_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
    enum pm_status status = pm_collect(runs, 1, archive_path, NULL, &err, &result);
    if (status == PM_OK)
        status = pm_archive_load(archive_path, PM_ARCHIVE_LOAD_CAUSES, &err, &loaded);
    if (status != PM_OK) {
        fprintf(stderr, "%s\n", pm_error_text(&err));
        abort();
    }
    static const char known[] = PM_KERNEL_WRITES_HEAD "1:2:3 1000 ";
    const size_t n_known = sizeof known - 1; /* and it is the only line */
    bool is_known = size > n_known && !memcmp(data, known, n_known) && data[size - 1] == '\n' &&
                    !memchr(data + n_known, '\n', size - 1 - n_known);
    PM_ASSERT(!is_known || charged(loaded->graph) == 1000);
    pm_archive_data_free(loaded);
    pm_collect_result_release(&result);
    pm_error_release(&err);
    return 0;
}
