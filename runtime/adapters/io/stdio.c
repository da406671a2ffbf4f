/* What libc's FILEs ask of the kernel. Stdio does not call write(2) by a name that could be
 * wrapped, and what it writes is often decided by somebody else than who wrote it: a full
 * buffer, a flush in another function, the end of the program.
 *
 * Each FILE leads to a table of functions (`vtable`, behind struct _IO_FILE; libio of glibc has
 * had it since 2.1): reading, writing, closing a descriptor are entries of it. These entries of
 * the tables are ours from the start of the program on, when they are what libc exports under
 * these names, so that no write goes unseen, whoever caused it: fprintf, a macro that was
 * inlined, another library, exit.
 *
 * Bytes that wait in a buffer remember who put them there (pm_capture); when they are written,
 * they are its cost, deferred.
 */
#include "io.h"

#include <gnu/libc-version.h>
#include <link.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_STREAMS = 1024, MAX_PARTS = 128, MAX_TABLES = 4 };

/* Positions in glibc's struct _IO_jump_t. */
enum entry { OVERFLOW = 3, XSPUTN = 7, READ = 14, WRITE = 15, CLOSE = 17, N_ENTRIES = 21 };

struct functions {
    int (*overflow)(FILE *file, int c);
    size_t (*xsputn)(FILE *file, const void *bytes, size_t n);
    ssize_t (*read)(FILE *file, void *bytes, ssize_t n);
    ssize_t (*write)(FILE *file, const void *bytes, ssize_t n);
    int (*close)(FILE *file);
};
static struct functions libc;

/* Tables that are ours now; that of popen closes otherwise. */
static struct table {
    void **entries;
    int (*close)(FILE *file);
} tables[MAX_TABLES];
static uint32_t n_tables;

/* --- on whose behalf --- */

struct part {
    struct pm_cause cause;
    size_t bytes;
};

/* What waits in the buffer of a FILE, by who put it there, in order. Changed under the FILE's
 * lock. */
static struct stream {
    FILE *file;
    uint32_t n_parts;
    size_t known; /* bytes in parts */
    struct part parts[MAX_PARTS];
    uint64_t of_characters; /* cause of single ones that are not yet in a part */
} streams[MAX_STREAMS];

static struct stream *stream_of(FILE *file)
{
    int fd = file->_fileno;
    if (fd < 0 || fd >= MAX_STREAMS)
        return NULL;
    struct stream *s = &streams[fd];
    if (s->file != file) {
        s->file = file;
        s->n_parts = 0;
        s->known = 0;
        s->of_characters = 0;
    }
    return s;
}

static struct pm_cause here(void)
{
    const struct pm_words_api *api = pm_words_of_runtime();
    return api && api->capture ? pm_capture() : (struct pm_cause){0};
}

static size_t waiting(const FILE *file)
{
    return file->_IO_write_ptr > file->_IO_write_base
               ? (size_t)(file->_IO_write_ptr - file->_IO_write_base)
               : 0;
}

/* Its part, a new one where it is not the last's; where there is no room any more one that it
 * has, in another order, or the last one. */
static struct part *part_of(struct stream *s, struct pm_cause cause)
{
    uint32_t i = s->n_parts;
    if (i > 0 && s->parts[i - 1].cause.id == cause.id)
        return &s->parts[i - 1];
    if (i < MAX_PARTS) {
        s->parts[i] = (struct part){cause, 0};
        s->n_parts++;
        return &s->parts[i];
    }
    while (--i > 0)
        if (s->parts[i].cause.id == cause.id)
            return &s->parts[i];
    return &s->parts[MAX_PARTS - 1];
}

/* All that waits and is in no part yet was put there by cause. */
static void note(struct stream *s, struct pm_cause cause)
{
    size_t all = waiting(s->file);
    if (all < s->known) /* thrown away (a seek that failed) */
        s->n_parts = 0, s->known = 0;
    if (all == s->known)
        return;
    part_of(s, cause)->bytes += all - s->known;
    s->known = all;
}

/* Single characters were put there without a call that we saw, or by putc. */
static void note_before(struct stream *s, struct pm_cause now)
{
    struct pm_cause cause = {s->of_characters ? s->of_characters : now.id};
    note(s, cause);
    s->of_characters = 0;
}

/* The first n of the bytes that wait are written: for those who put them there. What is left is
 * the current call's. */
static size_t cost_of_others(struct stream *s, const struct io_call *call, struct pm_cause now,
                             size_t n)
{
    uint32_t done = 0;
    while (done < s->n_parts && n > 0) {
        struct part *part = &s->parts[done];
        size_t bytes = part->bytes < n ? part->bytes : n;
        if (part->cause.id && part->cause.id != now.id) {
            pm_adopt(part->cause);
            pm_cost(io_metrics[call->verb], bytes);
            pm_release(part->cause);
        } else {
            pm_cost(io_metrics[call->verb], bytes);
        }
        n -= bytes;
        s->known -= bytes;
        part->bytes -= bytes;
        done += part->bytes == 0;
    }
    for (uint32_t i = done; i < s->n_parts; i++)
        s->parts[i - done] = s->parts[i];
    s->n_parts -= done;
    return n;
}

/* --- entries of the tables --- */

static ssize_t read_file(FILE *file, void *bytes, ssize_t n)
{
    if (!io_is_measured())
        return libc.read(file, bytes, n);
    const struct io_call call = io_call(io_noun_of(file->_fileno), IO_READ, NULL);
    pm_enter(call.sentence);
    ssize_t result = libc.read(file, bytes, n);
    io_cost(&call, result);
    pm_leave(call.sentence);
    return result;
}

static ssize_t write_file(FILE *file, const void *bytes, ssize_t n)
{
    if (!io_is_measured())
        return libc.write(file, bytes, n);
    const char *first = bytes;
    bool is_buffer = first >= file->_IO_buf_base && first < file->_IO_buf_end;
    struct stream *s = is_buffer ? stream_of(file) : NULL;
    const struct pm_cause now = here();
    if (s)
        note_before(s, now);
    const struct io_call call = io_call(io_noun_of(file->_fileno), IO_WRITE, NULL);
    pm_enter(call.sentence);
    ssize_t result = libc.write(file, bytes, n);
    size_t own = result > 0 ? (size_t)result : 0;
    if (s)
        own = cost_of_others(s, &call, now, own);
    io_cost(&call, result < n ? -1 : 0); /* libc tries until all is written, or nothing can be */
    if (own > 0)
        pm_cost(io_metrics[call.verb], own);
    pm_leave(call.sentence);
    return result;
}

static size_t put_bytes(FILE *file, const void *bytes, size_t n)
{
    struct stream *s = io_is_measured() ? stream_of(file) : NULL;
    if (!s)
        return libc.xsputn(file, bytes, n);
    const struct pm_cause now = here();
    note_before(s, now);
    size_t result = libc.xsputn(file, bytes, n);
    if (s->file == file)
        note(s, now);
    return result;
}

static int put_overflow(FILE *file, int c)
{
    struct stream *s = io_is_measured() ? stream_of(file) : NULL;
    if (!s)
        return libc.overflow(file, c);
    const struct pm_cause now = here();
    note_before(s, now);
    int result = libc.overflow(file, c);
    if (s->file == file)
        note(s, now);
    return result;
}

static void *table_of(FILE *file)
{
    return *(void **)(file + 1);
}

static int close_file(FILE *file)
{
    int (*real)(FILE *) = libc.close;
    for (uint32_t i = 0; i < n_tables; i++)
        if (tables[i].entries == table_of(file))
            real = tables[i].close;
    struct io_noun *noun = io_is_measured() ? io_noun_of_open(file->_fileno) : NULL;
    if (!noun)
        return real(file);
    const struct io_call call = io_call(noun, IO_CLOSE, NULL);
    io_set(file->_fileno, NULL);
    struct stream *s = stream_of(file);
    if (s)
        s->file = NULL;
    pm_enter(call.sentence);
    int result = real(file);
    io_cost(&call, result < 0 ? -1 : 0);
    pm_leave(call.sentence);
    return result;
}

/* --- taking them over --- */

static void *known(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

/* The pages of a table, as far as the loader has made them read-only (RELRO). */
struct pages {
    uintptr_t first, end;
};

static int cut(struct dl_phdr_info *object, size_t bytes, void *data)
{
    struct pages *pages = data;
    uintptr_t mask = ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    (void)bytes;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &object->dlpi_phdr[i];
        uintptr_t from = object->dlpi_addr + p->p_vaddr, to = from + p->p_memsz;
        if (p->p_type != PT_GNU_RELRO || pages->first < from || pages->first >= to)
            continue;
        uintptr_t end = (pages->end + ~mask) & mask, protected_end = to & mask;
        pages->first &= mask;
        pages->end = end < protected_end ? end : protected_end;
        return 1;
    }
    return 0;
}

/* Only a table that is what we know: its functions are those of these names. */
static void take_over(void **entries)
{
    struct table *table = &tables[n_tables];
    struct pages pages = {(uintptr_t)entries, (uintptr_t)(entries + N_ENTRIES)};
    if (n_tables == MAX_TABLES || entries[READ] != (void *)libc.read ||
        entries[WRITE] != (void *)libc.write || !dl_iterate_phdr(cut, &pages))
        return;
    size_t bytes = pages.end > pages.first ? pages.end - pages.first : 0;
    if (bytes > 0 && mprotect((void *)pages.first, bytes, PROT_READ | PROT_WRITE) != 0)
        return;
    *table = (struct table){.entries = entries};
    *(void **)&table->close = entries[CLOSE];
    __atomic_store_n(&n_tables, n_tables + 1, __ATOMIC_RELEASE);
    entries[READ] = (void *)read_file;
    entries[WRITE] = (void *)write_file;
    entries[CLOSE] = (void *)close_file;
    if (entries[XSPUTN] == (void *)libc.xsputn && entries[OVERFLOW] == (void *)libc.overflow) {
        entries[XSPUTN] = (void *)put_bytes;
        entries[OVERFLOW] = (void *)put_overflow;
    }
    if (bytes > 0)
        mprotect((void *)pages.first, bytes, PROT_READ); /* as the loader left it */
}

__attribute__((constructor)) static void take_over_all(void)
{
    void **wide = known("_IO_wfile_jumps");
    *(void **)&libc.overflow = known("_IO_file_overflow");
    *(void **)&libc.xsputn = known("_IO_file_xsputn");
    *(void **)&libc.read = known("_IO_file_read");
    *(void **)&libc.write = known("_IO_file_write");
    *(void **)&libc.close = known("_IO_file_close");
    if (!pm_words_of_runtime() || !libc.read || !libc.write || !libc.close || !libc.xsputn ||
        !libc.overflow)
        return;
    take_over(table_of(stdout));
    if (wide)
        take_over(wide);
}

/* --- what opens --- */

static FILE *opened(uint64_t start_ns, FILE *file, const void *caller)
{
    struct io_noun *noun = file ? io_opened(file->_fileno) : io_named("file", "(cannot be opened)");
    struct io_call call = io_call(noun, IO_OPEN, caller);
    call.start_ns = start_ns;
    pm_enter(call.sentence);
    io_cost(&call, file ? 0 : -1);
    pm_leave(call.sentence);
    return file;
}

#define OPEN(name, parameters, arguments)                                  \
    PM_ADAPTER_LIBC(FILE *, name, parameters)                              \
    PM_ADAPTER_EXPORT FILE *name parameters                                \
    {                                                                      \
        if (!PM_ADAPTER_FOUND(name))                                       \
            return NULL;                                                   \
        if (!io_is_measured())                                             \
            return real_##name arguments;                                  \
        uint64_t start_ns = pm_adapter_now_ns();                           \
        return opened(start_ns, real_##name arguments, PM_ADAPTER_CALLER); \
    }
OPEN(fopen, (const char *restrict path, const char *restrict how), (path, how))
OPEN(fopen64, (const char *restrict path, const char *restrict how), (path, how))
OPEN(freopen, (const char *restrict path, const char *restrict how, FILE *restrict file),
     (path, how, file))
OPEN(freopen64, (const char *restrict path, const char *restrict how, FILE *restrict file),
     (path, how, file))
OPEN(tmpfile, (void), ())
OPEN(tmpfile64, (void), ())

PM_ADAPTER_LIBC(FILE *, popen, (const char *command, const char *how))
PM_ADAPTER_EXPORT FILE *popen(const char *command, const char *how)
{
    FILE *file = PM_ADAPTER_FOUND(popen) ? real_popen(command, how) : NULL;
    if (file && libc.read && pm_words_of_runtime())
        take_over(table_of(file));
    return file;
}

/* --- single characters --- */

/* They may come by the million: only who puts them is noted, and only when that changes is more
 * to be done. */
static void note_character(FILE *file)
{
    struct stream *s = io_is_measured() ? stream_of(file) : NULL;
    if (!s)
        return;
    const struct pm_cause now = here();
    if (s->of_characters == now.id)
        return;
    flockfile(file);
    note_before(s, now);
    s->of_characters = now.id;
    funlockfile(file);
}

#define PUT(name, parameters, arguments, of)                         \
    PM_ADAPTER_LIBC(int, name, parameters)                           \
    PM_ADAPTER_EXPORT int name parameters;                           \
    PM_ADAPTER_EXPORT int name parameters                            \
    {                                                                \
        note_character(of);                                          \
        return PM_ADAPTER_FOUND(name) ? real_##name arguments : EOF; \
    }
#undef putc
#undef putchar
PUT(putc, (int c, FILE *file), (c, file), file)
PUT(fputc, (int c, FILE *file), (c, file), file)
PUT(putchar, (int c), (c), stdout)

/* --- formatted --- */

/* Since glibc 2.37 they put bytes into the buffer themselves, as putc does, when these fit: before,
 * by the table's xsputn, which is ours. Those with a list of arguments do the others' work. */
static bool prints_into_buffers;

__attribute__((constructor)) static void look_at_version(void)
{
    const char *version = gnu_get_libc_version(), *dot = strchr(version, '.');
    long major = strtol(version, NULL, 10), minor = dot ? strtol(dot + 1, NULL, 10) : 0;
    prints_into_buffers = major > 2 || (major == 2 && minor >= 37);
}

static void note_print(FILE *file)
{
    if (prints_into_buffers)
        note_character(file);
}

typedef const char *restrict format_text;
PM_ADAPTER_LIBC(int, vfprintf, (FILE *restrict file, format_text format, va_list list))
PM_ADAPTER_LIBC(int, __vfprintf_chk,
                (FILE *restrict file, int flag, format_text format, va_list list))

PM_ADAPTER_EXPORT int vfprintf(FILE *restrict file, format_text format, va_list list)
{
    note_print(file);
    return PM_ADAPTER_FOUND(vfprintf) ? real_vfprintf(file, format, list) : -1;
}

PM_ADAPTER_EXPORT int __vfprintf_chk(FILE *restrict file, int flag, format_text format,
                                     va_list list);
PM_ADAPTER_EXPORT int __vfprintf_chk(FILE *restrict file, int flag, format_text format,
                                     va_list list)
{
    note_print(file);
    return PM_ADAPTER_FOUND(__vfprintf_chk) ? real___vfprintf_chk(file, flag, format, list) : -1;
}

#undef vprintf
PM_ADAPTER_EXPORT int vprintf(format_text format, va_list list)
{
    return vfprintf(stdout, format, list);
}

PM_ADAPTER_EXPORT int __vprintf_chk(int flag, format_text format, va_list list);
PM_ADAPTER_EXPORT int __vprintf_chk(int flag, format_text format, va_list list)
{
    return __vfprintf_chk(stdout, flag, format, list);
}

#define PRINT(name, parameters, call)      \
    PM_ADAPTER_EXPORT int name parameters; \
    PM_ADAPTER_EXPORT int name parameters  \
    {                                      \
        va_list list;                      \
        va_start(list, format);            \
        int result = call;                 \
        va_end(list);                      \
        return result;                     \
    }
PRINT(fprintf, (FILE *restrict file, format_text format, ...), vfprintf(file, format, list))
PRINT(printf, (format_text format, ...), vfprintf(stdout, format, list))
PRINT(__fprintf_chk, (FILE *restrict file, int flag, format_text format, ...),
      __vfprintf_chk(file, flag, format, list))
PRINT(__printf_chk, (int flag, format_text format, ...), __vfprintf_chk(stdout, flag, format, list))
