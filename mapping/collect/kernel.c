/* What the kernel wrote of a run's files (mapping/run/kernel_writes.h). It knows inodes, the io
 * adapter says which file is which inode, and its costs say who wrote how many bytes of which
 * file: each gets its part of the blocks, in a context of its own directly below its thread's
 * root that was done on behalf of it, as nobody knows which byte a block is. */
#include "kernel.h"

#include "collector.h"
#include "contexts.h"
#include "costs.h"
#include "process.h"
#include "run_names.h"
#include "words.h"
#include "writer.h"

#include "format/pm_words.h"
#include "mapping/base/arena.h"
#include "mapping/base/map.h"
#include "mapping/run/kernel_writes.h"
#include "mapping/run/run_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum { LARGEST_FILE = 1 << 28 };

struct inode {
    uint64_t bytes; /* of blocks */
};

/* inode: position + 1; file: row of its noun. */
struct inode_of {
    uint32_t inode, file;
};

/* Bytes that somebody wrote of a file. */
struct writer {
    uint32_t file; /* row of its noun */
    uint32_t context, root, root_sentence, thread;
    uint64_t bytes;
};

struct collect_kernel {
    struct inode *inodes;
    uint32_t n_inodes, inodes_cap;
    struct inode_of *files;
    uint32_t n_files, files_cap;
    struct writer *writers;
    uint32_t n_writers, writers_cap;
    struct pm_map by_name;  /* -> position in inodes + 1 */
    struct pm_map contexts; /* of a writer -> done on behalf of it */
    uint32_t metric;
    uint64_t n_nobody, nobody_bytes;
};

void collect_kernel_release(struct collector *c)
{
    struct collect_kernel *k = c->kernel;
    if (!k)
        return;
    pm_map_release(&k->contexts);
    pm_map_release(&k->by_name);
    free(k->inodes);
    free(k->files);
    free(k->writers);
    free(k);
    c->kernel = NULL;
}

/* --- the run folder --- */

/* Strings that are interned are equal when their addresses are. */
static uint64_t key_of(const char *name)
{
    return (uint64_t)(uintptr_t)name;
}

/* "254:0:10953183 8388608 ..." */
static enum pm_status add_line(struct collector *c, const char *line)
{
    struct collect_kernel *k = c->kernel;
    char name[64];
    unsigned long long bytes;
    if (sscanf(line, "%63s %llu ", name, &bytes) != 2)
        return pm_error_set(c->err, PM_ERR_FORMAT, "'%.60s' is no inode and its bytes", line);
    const char *text = pm_intern_add(c->strings, name, strlen(name));
    uint32_t known = text ? pm_map_get(&k->by_name, key_of(text)) : 0;
    if (!known) {
        struct inode *inodes =
            pm_grow_array(k->inodes, k->n_inodes, &k->inodes_cap, 64, sizeof *inodes);
        if (!text || !inodes || !pm_map_put(&k->by_name, key_of(text), k->n_inodes + 1))
            return collect_no_memory(c);
        k->inodes = inodes;
        inodes[k->n_inodes] = (struct inode){0};
        known = ++k->n_inodes;
    }
    if (__builtin_add_overflow(k->inodes[known - 1].bytes, bytes, &k->inodes[known - 1].bytes))
        k->inodes[known - 1].bytes = UINT64_MAX;
    return PM_OK;
}

static enum pm_status read_lines(struct collector *c, FILE *in)
{
    enum pm_status status = PM_OK;
    size_t room = 0;
    char *line = NULL;
    if (getline(&line, &room, in) < 0 || strcmp(line, PM_KERNEL_WRITES_HEAD) != 0)
        status = pm_error_set(c->err, PM_ERR_FORMAT, "it is of another version");
    while (status == PM_OK && getline(&line, &room, in) > 0)
        status = add_line(c, line);
    free(line);
    return status;
}

enum pm_status collect_kernel_start(struct collector *c, const char *run_dir)
{
    struct pm_buf path = PM_BUF_INIT(4 * PATH_MAX);
    pm_buf_printf(&path, "%s/" PM_KERNEL_WRITES_NAME, run_dir);
    int fd = -1;
    uint64_t bytes;
    enum pm_status status = path.failed
                                ? collect_no_memory(c)
                                : pm_file_open(path.data, LARGEST_FILE, c->err, &fd, &bytes);
    if (status == PM_ERR_SYSTEM && errno == ENOENT) {
        pm_error_release(c->err);
        status = PM_OK; /* they were not asked for */
    }
    FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
    if (fd >= 0 && !in) {
        close(fd);
        status = collect_no_memory(c);
    }
    if (in && !(c->kernel = pm_alloc(sizeof *c->kernel)))
        status = collect_no_memory(c);
    else if (in)
        status = read_lines(c, in);
    if (in)
        fclose(in);
    if (status == PM_ERR_FORMAT || status == PM_ERR_LIMIT || status == PM_ERR_SYSTEM) {
        status = collect_mark(c, "%s: %s: what the kernel wrote is left out", path.data,
                              pm_error_text(c->err));
        pm_error_release(c->err);
        collect_kernel_release(c);
    }
    pm_buf_release(&path);
    return status;
}

/* --- run files --- */

enum pm_status collect_kernel_words(struct collector *c, const struct pm_run_file *file,
                                    const struct collect_names *names)
{
    struct collect_kernel *k = c->kernel;
    for (size_t i = 0; k && i < pm_run_file_n_words(file); i++) {
        const struct pm_run_file_word *word = pm_run_file_word(file, i);
        if (word->kind != PM_WORD_NOUN || !word->b || !pm_str_is(word->texts[1], PM_INODE_KIND))
            continue;
        const char *name = pm_intern_add(c->strings, word->texts[0].p, word->texts[0].len);
        uint32_t inode = name ? pm_map_get(&k->by_name, key_of(name)) : 0;
        if (!name)
            return collect_no_memory(c);
        if (!inode)
            continue;
        struct inode_of *files =
            pm_grow_array(k->files, k->n_files, &k->files_cap, 64, sizeof *files);
        if (!files)
            return collect_no_memory(c);
        k->files = files;
        files[k->n_files++] = (struct inode_of){inode, names->words[word->b - 1]};
    }
    return PM_OK;
}

/* "Write": of run files before archives said WriteFile. */
static bool is_writing(struct pm_str verb)
{
    return pm_str_is(verb, "WriteFile") || pm_str_is(verb, "Write");
}

/* The noun's row of the innermost {file WriteFile} around a node; 0: there is none. */
static uint32_t file_around(const struct pm_run_file *file, const struct pm_run_file_thread *thread,
                            uint32_t node, const struct collect_names *names)
{
    for (; node != PM_RUN_FILE_NO_PARENT; node = thread->nodes[node].parent) {
        const struct pm_run_file_node *at = &thread->nodes[node];
        if (at->parent == PM_RUN_FILE_NO_PARENT || at->is_set ||
            !collect_is_spoken(file, pm_run_file_noun(file, at->noun)))
            continue;
        uint64_t number = pm_run_file_noun(file, at->noun)->id;
        const struct pm_run_file_word *word = number > 0 && number <= pm_run_file_n_words(file)
                                                  ? pm_run_file_word(file, number - 1)
                                                  : NULL;
        if (word && word->kind == PM_WORD_CALL)
            word = pm_run_file_word(file, word->a - 1);
        if (word && word->kind == PM_WORD_SENTENCE && word->n_nouns == 1 &&
            is_writing(pm_run_file_word(file, word->a - 1)->texts[0]))
            return names->words[word->nouns[0] - 1];
    }
    return 0;
}

enum pm_status collect_kernel_cost(struct collector *c, const struct pm_run_file *file,
                                   const struct pm_run_file_thread *thread,
                                   const struct pm_run_file_sample *sample,
                                   const struct collect_names *names,
                                   const struct collect_node *nodes, uint32_t context,
                                   uint32_t thread_row)
{
    struct collect_kernel *k = c->kernel;
    uint32_t metric = names->metrics[sample->address - 1], root = sample->node;
    if (strcmp(c->costs->metrics[metric - 1].name, "bytes_written") != 0)
        return PM_OK;
    struct writer writer = {.file = file_around(file, thread, sample->node, names),
                            .context = context,
                            .root_sentence = names->root,
                            .thread = thread_row,
                            .bytes = sample->time_ns};
    while (thread->nodes[root].parent != PM_RUN_FILE_NO_PARENT)
        root = thread->nodes[root].parent;
    writer.root = nodes[root].row;
    if (!writer.file)
        return PM_OK;
    struct writer *writers =
        pm_grow_array(k->writers, k->n_writers, &k->writers_cap, 256, sizeof *writers);
    if (!writers)
        return collect_no_memory(c);
    k->writers = writers;
    writers[k->n_writers++] = writer;
    return PM_OK;
}

/* --- at the end --- */

static enum pm_status behalf_of(struct collector *c, const struct writer *writer,
                                uint32_t *ret_context)
{
    struct collect_kernel *k = c->kernel;
    *ret_context = pm_map_get(&k->contexts, writer->context);
    if (*ret_context)
        return PM_OK;
    enum pm_status status =
        collect_new_context(c, writer->root, writer->root_sentence, CONTEXT_CAUSE, ret_context);
    if (status != PM_OK)
        return status;
    if (!pm_map_put(&k->contexts, writer->context, *ret_context))
        return collect_no_memory(c);
    struct collect_value cause[] = {collect_integer(*ret_context),
                                    collect_integer(writer->context)};
    return collect_add_row(c, TABLE_CAUSES, cause);
}

static int compare_writers(const void *a, const void *b)
{
    const struct writer *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static int compare_files(const void *a, const void *b)
{
    const struct inode_of *x = a, *y = b;
    if (x->inode != y->inode)
        return x->inode < y->inode ? -1 : 1;
    return x->file < y->file ? -1 : x->file > y->file;
}

static bool is_before(const void *writer, const void *file)
{
    return ((const struct writer *)writer)->file < *(const uint32_t *)file;
}

/* The parts of all writers of a file's nouns; they add up to the whole. files: those with one
 * inode. */
static enum pm_status charge(struct collector *c, const struct inode *inode,
                             const struct inode_of *files, size_t n)
{
    struct collect_kernel *k = c->kernel;
    unsigned __int128 sum = 0, before = 0;
    enum pm_status status = PM_OK;
    for (int pass = 0; pass < 2 && status == PM_OK; pass++) {
        for (size_t i = 0; i < n && status == PM_OK; i++) {
            size_t at = pm_lower_bound(k->writers, k->n_writers, sizeof *k->writers, &files[i].file,
                                       is_before);
            if (i > 0 && files[i].file == files[i - 1].file)
                continue;
            for (; at < k->n_writers && k->writers[at].file == files[i].file && status == PM_OK;
                 at++) {
                const struct writer *writer = &k->writers[at];
                uint32_t context = 0;
                if (pass == 0) {
                    sum += writer->bytes;
                    continue;
                }
                uint64_t from = (uint64_t)(inode->bytes * before / sum);
                before += writer->bytes;
                uint64_t to = (uint64_t)(inode->bytes * before / sum);
                if (to > from)
                    status = behalf_of(c, writer, &context);
                if (status == PM_OK && to > from)
                    status = collect_cost(c, context, writer->thread, k->metric, to - from);
            }
        }
        if (sum == 0) {
            k->n_nobody++;
            k->nobody_bytes += inode->bytes;
            break;
        }
    }
    return status;
}

enum pm_status collect_kernel_end(struct collector *c)
{
    struct collect_kernel *k = c->kernel;
    if (!k)
        return PM_OK;
    struct collect_metric metric = {
        "block_bytes_written",
        "bytes",
        "bytes",
        "bytes of blocks that the kernel wrote to disk, of who wrote the files, by their bytes",
        false,
        NULL};
    enum pm_status status = collect_metric(c, &metric, &k->metric);
    if (k->n_writers)
        qsort(k->writers, k->n_writers, sizeof *k->writers, compare_writers);
    if (k->n_files)
        qsort(k->files, k->n_files, sizeof *k->files, compare_files);
    for (size_t i = 0, end; i < k->n_files && status == PM_OK; i = end) {
        for (end = i + 1; end < k->n_files && k->files[end].inode == k->files[i].inode; end++)
            ;
        status = charge(c, &k->inodes[k->files[i].inode - 1], &k->files[i], end - i);
    }
    if (k->n_nobody && status == PM_OK)
        status = collect_mark(
            c,
            "the kernel wrote %llu bytes of %llu files that no measured context wrote: not charged",
            (unsigned long long)k->nobody_bytes, (unsigned long long)k->n_nobody);
    collect_kernel_release(c);
    return status;
}
