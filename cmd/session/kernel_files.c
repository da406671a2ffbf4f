/* Whose bytes the kernel wrote: the program's files by what its run files say (the io adapter
 * names their inodes), synced when it has ended, so that what it left in memory is on the disk
 * before the events stop. */
#include "kernel.h"
#include "clock.h"

#include "mapping/run/kernel_writes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { EXT4_MAGIC = 0xef53 }; /* of ext2 and ext3 too, which the same code of the kernel writes */
enum { SYNC_MS = 10000 };     /* after that no further file is synced */

struct inode {
    uint32_t device;
    uint64_t number;
    char *path; /* one of those it was opened by */
};

/* What one thread wrote of one inode. */
struct written {
    size_t inode;
    int32_t thread;
    uint64_t bytes, n, first_ns, last_ns;
};

struct files {
    struct inode *inodes; /* by device, number and path, when all are known */
    uint32_t n_inodes, inodes_cap;
    struct written *written;
    uint32_t n_written, written_cap;
    uint32_t *threads; /* of the program */
    uint32_t n_threads, threads_cap;
    uint32_t n_others; /* of inodes, on other file systems */
    bool failed;       /* no memory */
};

static void release(struct files *files)
{
    for (uint32_t i = 0; i < files->n_inodes; i++)
        free(files->inodes[i].path);
    free(files->inodes);
    free(files->written);
    free(files->threads);
}

/* --- the program's files --- */

static void add_inode(struct files *files, struct pm_str name, struct pm_str path)
{
    char text[64];
    unsigned major, minor;
    unsigned long long number;
    int n = 0;
    snprintf(text, sizeof text, "%.*s", (int)(name.len < 63 ? name.len : 63), name.p);
    if (sscanf(text, "%u:%u:%llu%n", &major, &minor, &number, &n) != 3 || text[n])
        return;
    struct inode *inodes =
        pm_grow_array(files->inodes, files->n_inodes, &files->inodes_cap, 64, sizeof *inodes);
    char *copy = pm_strndup(path.p, path.len);
    files->inodes = inodes ? inodes : files->inodes;
    files->failed |= !inodes || !copy;
    if (inodes && copy)
        inodes[files->n_inodes++] = (struct inode){(uint32_t)major << 20 | minor, number, copy};
    else
        free(copy);
}

static void add_thread(struct files *files, uint32_t thread)
{
    uint32_t *threads =
        pm_grow_array(files->threads, files->n_threads, &files->threads_cap, 64, sizeof *threads);
    files->failed |= !threads;
    if (!threads)
        return;
    files->threads = threads;
    threads[files->n_threads++] = thread;
}

static void read_run_file(struct files *files, const char *path, const struct pm_run_clock *clock)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_run_file *file = NULL;
    if (pm_run_file_open(path, clock, &err, &file) != PM_OK) {
        pm_error_release(&err); /* who collects says so */
        return;
    }
    for (size_t i = 0; i < pm_run_file_n_words(file); i++) {
        const struct pm_run_file_word *word = pm_run_file_word(file, i);
        if (word->kind == PM_WORD_NOUN && word->b && pm_str_is(word->texts[1], PM_INODE_KIND))
            add_inode(files, word->texts[0], pm_run_file_word(file, word->b - 1)->texts[0]);
    }
    for (size_t i = 0; i < pm_run_file_n_threads(file); i++)
        add_thread(files, pm_run_file_thread(file, i)->tid);
    pm_run_file_free(file);
}

static int compare_inodes(const void *a, const void *b)
{
    const struct inode *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int compare_names(const void *a, const void *b)
{
    int order = compare_inodes(a, b);
    return order ? order : strcmp(((const struct inode *)a)->path, ((const struct inode *)b)->path);
}

static void read_run_files(struct files *files, const char *run_dir,
                           const struct pm_run_clock *clock)
{
    DIR *dir = opendir(run_dir);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        size_t len = strlen(entry->d_name);
        struct pm_buf path = PM_BUF_INIT(4 * PATH_MAX);
        pm_buf_printf(&path, "%s/%s", run_dir, entry->d_name);
        if (!path.failed && len > 4 && !strcmp(entry->d_name + len - 4, ".pmr"))
            read_run_file(files, path.data, clock);
        pm_buf_release(&path);
    }
    if (dir)
        closedir(dir);
    if (files->n_inodes)
        qsort(files->inodes, files->n_inodes, sizeof *files->inodes, compare_names);
}

/* --- to the disk --- */

/* What is no longer at its path was removed, or is another file: what it was is written only as
 * far as it has been. */
static void sync_file(struct files *files, const struct inode *inode)
{
    struct stat status;
    struct statfs system;
    int fd = open(inode->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_ino == inode->number &&
        ((uint32_t)major(status.st_dev) << 20 | minor(status.st_dev)) == inode->device)
        (void)fsync(fd);
    if (fstatfs(fd, &system) == 0 && system.f_type != EXT4_MAGIC)
        files->n_others++;
    close(fd);
}

static void sync_files(struct files *files, struct session_kernel *kernel,
                       struct session_notes *notes)
{
    uint64_t until_ns = session_instant_now().monotonic_ns + (uint64_t)SYNC_MS * 1000000u;
    for (uint32_t i = 0; i < files->n_inodes; i++) {
        if (session_instant_now().monotonic_ns > until_ns) {
            session_note(notes, SESSION_WARNS,
                         "%u of the program's %u files were not synced within %d s: what the "
                         "kernel writes of them later is not counted",
                         files->n_inodes - i, files->n_inodes, SYNC_MS / 1000);
            break;
        }
        if (i == 0 || compare_names(&files->inodes[i], &files->inodes[i - 1]) != 0)
            sync_file(files, &files->inodes[i]);
        session_kernel_read(kernel);
    }
    session_kernel_read(kernel);
}

/* --- from events to bytes --- */

static const struct inode *find_inode(const struct files *files, const struct kernel_record *record)
{
    struct inode wanted = {record->device, record->inode, NULL};
    const struct inode *found = files->n_inodes ? bsearch(&wanted, files->inodes, files->n_inodes,
                                                          sizeof *files->inodes, compare_inodes)
                                                : NULL;
    while (found && found > files->inodes && compare_inodes(found - 1, found) == 0)
        found--;
    return found;
}

static void add_bytes(struct files *files, const struct inode *inode,
                      const struct kernel_record *record)
{
    struct written one = {(size_t)(inode - files->inodes),
                          record->thread,
                          record->bytes,
                          1,
                          record->time_ns,
                          record->time_ns};
    struct written *written =
        pm_grow_array(files->written, files->n_written, &files->written_cap, 64, sizeof *written);
    files->failed |= !written;
    if (!written)
        return;
    files->written = written;
    written[files->n_written++] = one;
}

static int compare_written(const void *a, const void *b)
{
    const struct written *x = a, *y = b;
    if (x->inode != y->inode)
        return x->inode < y->inode ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->first_ns < y->first_ns ? -1 : x->first_ns > y->first_ns;
}

static void add_up(struct files *files)
{
    uint32_t n = 0;
    if (files->n_written)
        qsort(files->written, files->n_written, sizeof *files->written, compare_written);
    for (uint32_t i = 0; i < files->n_written; i++) {
        struct written *to = n ? &files->written[n - 1] : NULL, *from = &files->written[i];
        if (!to || to->inode != from->inode || to->thread != from->thread) {
            files->written[n++] = *from;
            continue;
        }
        to->bytes += from->bytes;
        to->n += from->n;
        to->last_ns = from->last_ns;
    }
    files->n_written = n;
}

/* Records by thread and time. Blocks on another device than the file's are the same ones below
 * it (a logical volume's disk). */
static void add_records(struct files *files, const struct kernel_record *records, size_t n)
{
    const struct inode *inode = NULL;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && records[i].thread != records[i - 1].thread)
            inode = NULL;
        if (records[i].event == KERNEL_BEGIN)
            inode = find_inode(files, &records[i]);
        else if (records[i].event == KERNEL_END)
            inode = NULL;
        else if (inode && records[i].device == inode->device)
            add_bytes(files, inode, &records[i]);
    }
}

/* --- the file --- */

static const char *whose(const struct files *files, int32_t thread)
{
    for (uint32_t i = 0; i < files->n_threads; i++)
        if (files->threads[i] == (uint32_t)thread)
            return "program";
    return thread == getpid() ? "perfmap" : "other";
}

static bool write_lines(const struct files *files, const struct pm_run_clock *clock, FILE *out)
{
    fputs(PM_KERNEL_WRITES_HEAD, out);
    for (uint32_t i = 0; i < files->n_written; i++) {
        const struct written *w = &files->written[i];
        const struct inode *inode = &files->inodes[w->inode];
        uint64_t start_ns = clock->start_monotonic_ns;
        fprintf(out, "%u:%u:%llu %llu %llu %llu %llu %d %s ", inode->device >> 20,
                inode->device & 0xfffff, (unsigned long long)inode->number,
                (unsigned long long)w->bytes, (unsigned long long)w->n,
                (unsigned long long)(w->first_ns > start_ns ? w->first_ns - start_ns : 0),
                (unsigned long long)(w->last_ns > start_ns ? w->last_ns - start_ns : 0), w->thread,
                whose(files, w->thread));
        for (const char *p = inode->path; *p; p++)
            fputc(*p == '\n' ? '?' : *p, out);
        fputc('\n', out);
    }
    return fflush(out) == 0 && !ferror(out);
}

static void write_file(const struct files *files, const char *run_dir,
                       const struct pm_run_clock *clock, struct session_notes *notes)
{
    struct pm_buf path = PM_BUF_INIT(4 * PATH_MAX);
    pm_buf_printf(&path, "%s/" PM_KERNEL_WRITES_NAME, run_dir);
    int fd = path.failed ? -1 : open(path.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    bool good = out && write_lines(files, clock, out);
    int errnum = errno;
    if (out)
        fclose(out);
    if (!good)
        session_note(notes, SESSION_WARNS, "the run lacks what the kernel wrote: %s/%s: %s",
                     run_dir, PM_KERNEL_WRITES_NAME, strerror(errnum));
    if (!good && out)
        unlink(path.data);
    pm_buf_release(&path);
}

void session_kernel_end(struct session_kernel *kernel, const char *run_dir,
                        const struct pm_run_clock *clock, struct session_notes *notes)
{
    struct files files = {0};
    size_t n;
    read_run_files(&files, run_dir, clock);
    sync_files(&files, kernel, notes);
    const struct kernel_record *records = session_kernel_records(kernel, &n);
    add_records(&files, records, n);
    add_up(&files);
    if (files.failed)
        session_note(notes, SESSION_WARNS, "the run lacks what the kernel wrote: out of memory");
    else
        write_file(&files, run_dir, clock, notes);
    if (files.n_others)
        session_note(notes, SESSION_WARNS,
                     "%u of the program's files are not on ext4: what the kernel writes of "
                     "them is not available here",
                     files.n_others);
    if (session_kernel_n_lost(kernel))
        session_note(notes, SESSION_WARNS,
                     "%llu events of the kernel's writes were lost: what it wrote of the "
                     "program's files may be more than is shown",
                     (unsigned long long)session_kernel_n_lost(kernel));
    release(&files);
}
