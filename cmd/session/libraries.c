/* Which libraries a program is started with: the loader says, where the file alone does not. */
#include "libraries.h"

#include "format/pm_adapters.h"
#include "mapping/base/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Would the loader run it? A program without interpreter would start when it is asked for its
 * libraries. */
static bool has_interpreter(const char *path)
{
    Elf64_Ehdr head;
    Elf64_Phdr segment;
    bool found = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head &&
        !memcmp(head.e_ident, ELFMAG, SELFMAG) && head.e_ident[EI_CLASS] == ELFCLASS64)
        for (unsigned i = 0; i < head.e_phnum && !found; i++)
            found = pread(fd, &segment, sizeof segment,
                          (off_t)(head.e_phoff + i * sizeof segment)) == (ssize_t)sizeof segment &&
                    segment.p_type == PT_INTERP;
    close(fd);
    return found;
}

static void read_all(int fd, struct pm_buf *buf)
{
    char bytes[4096];
    for (ssize_t n; (n = read(fd, bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR);)
        if (n > 0)
            pm_buf_add(buf, bytes, (size_t)n);
}

static void ask_loader(const char *path, int output)
{
    int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(output, 1);
    dup2(null, 2);
    setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
    unsetenv("LD_PRELOAD");
    execl(path, path, (char *)NULL);
    _exit(127);
}

bool session_is_among(const char *list, const char *word, size_t len)
{
    for (const char *p = list; p && *p;) {
        size_t n = strcspn(p, " ");
        if (n == len && !memcmp(p, word, n))
            return true;
        p += n + (p[n] == ' ');
    }
    return false;
}

/* What the file says that it needs. */
struct needs {
    uint64_t names[16]; /* offsets in .dynstr */
    size_t n;
    bool read, others; /* any that are not of the compiler and its C library */
};

static enum pm_status look_at_dynamic(struct needs *needs, struct pm_str bytes)
{
    for (size_t at = 0; at + sizeof(Elf64_Dyn) <= bytes.len; at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        memcpy(&entry, bytes.p + at, sizeof entry);
        if (entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag != DT_NEEDED)
            continue;
        if (needs->n == sizeof needs->names / sizeof *needs->names)
            needs->others = true;
        else
            needs->names[needs->n++] = entry.d_un.d_val;
    }
    needs->read = true;
    return PM_OK;
}

/* Somebody has to look for those that an adapter wraps. */
static bool is_wrapped(const char *name, size_t max_len)
{
#define LIBRARY(NAME, library, ...) library,
    static const char *const wrapped[] = {PM_ADAPTERS(LIBRARY)};
#undef LIBRARY
    size_t len = strnlen(name, max_len);
    for (size_t i = 0; i < sizeof wrapped / sizeof *wrapped; i++)
        if (len < max_len && session_is_among(wrapped[i], name, len))
            return true;
    return false;
}

/* These need only each other. */
static bool is_basic(const char *name, size_t max_len)
{
    static const char *const basic[] = {"libc.so.6",  "libm.so.6",     "libpthread.so.0",
                                        "libdl.so.2", "librt.so.1",    "libgcc_s.so.1",
                                        "libz.so.1",  "libstdc++.so.6"};
    if (is_wrapped(name, max_len))
        return false;
    for (size_t i = 0; i < sizeof basic / sizeof *basic; i++)
        if (strlen(basic[i]) < max_len && !strcmp(name, basic[i]))
            return true;
    return false;
}

static enum pm_status look_at_names(struct needs *needs, struct pm_str bytes)
{
    for (size_t i = 0; i < needs->n; i++) {
        uint64_t at = needs->names[i];
        if (at >= bytes.len || !is_basic(bytes.p + at, bytes.len - at))
            needs->others = true;
    }
    return PM_OK;
}

static enum pm_status look_at_section(void *context, const struct pm_elf_found *section,
                                      struct pm_error *err)
{
    struct pm_str bytes;
    enum pm_status status = pm_elf_load(section, 1 << 26, err, &bytes);
    if (status != PM_OK)
        return status;
    return (!strcmp(section->name, ".dynamic") ? look_at_dynamic : look_at_names)(context, bytes);
}

bool session_needs_only_basics(const char *path)
{
    static const char *const dynamic[] = {".dynamic", NULL}, *const names[] = {".dynstr", NULL};
    struct needs needs = {.n = 0};
    return pm_elf_visit(path, dynamic, look_at_section, &needs, NULL) == PM_OK && needs.read &&
           pm_elf_visit(path, names, look_at_section, &needs, NULL) == PM_OK && !needs.others;
}

enum pm_status session_list_libraries(const char *path, struct pm_error *err, struct pm_buf *text)
{
    int ends[2], state;
    if (!has_interpreter(path))
        return PM_OK;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return pm_error_system(err, errno, "cannot make a pipe");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        ask_loader(path, ends[1]);
    close(ends[1]);
    if (child > 0)
        read_all(ends[0], text);
    close(ends[0]);
    if (child > 0)
        while (waitpid(child, &state, 0) < 0 && errno == EINTR)
            continue;
    return PM_OK;
}

char *session_next_library(char **rest)
{
    for (char *line; (line = strtok_r(NULL, "\n", rest)) != NULL;) {
        char *path = strchr(line, '/'), *end = path ? strstr(path, " (0x") : NULL;
        if (!end)
            continue;
        *end = 0;
        return path;
    }
    return NULL;
}
