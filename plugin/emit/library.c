/* What functions of libraries are about, by their linkage names. */
#include "library.h"

#include <stddef.h>
#include <string.h>

/* clang-format off */
static const char *const memory_names[] = {
    "malloc", "calloc", "realloc", "reallocarray", "free", "cfree", "aligned_alloc",
    "posix_memalign", "memalign", "valloc", "pvalloc", "strdup", "strndup", "mmap", "mmap64",
    "munmap", "mremap", "brk", "sbrk",
    /* operator new and delete, in their forms without and with alignment */
    "_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm", "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t", "_ZdlPvSt11align_val_t", "_ZdaPvSt11align_val_t",
    "_ZdlPvmSt11align_val_t", "_ZdaPvmSt11align_val_t", "_ZnwmRKSt9nothrow_t",
    "_ZnamRKSt9nothrow_t"};

static const char *const io_names[] = {
    "open", "open64", "openat", "openat64", "creat", "close", "read", "write", "pread", "pread64",
    "pwrite", "pwrite64", "readv", "writev", "preadv", "pwritev", "lseek", "lseek64", "fsync",
    "fdatasync", "ftruncate", "ftruncate64", "sendfile", "sync", "socket", "connect", "accept",
    "accept4", "send", "sendto", "sendmsg", "recv", "recvfrom", "recvmsg", "poll", "ppoll",
    "select", "epoll_wait", "pipe", "pipe2", "dup", "dup2", "fopen", "fopen64", "fdopen",
    "freopen", "freopen64", "fclose", "fread", "fwrite", "fread_unlocked", "fwrite_unlocked",
    "fgetc", "fgets", "fputc", "fputs", "getc", "getchar", "putc", "putchar", "puts", "ungetc",
    "printf", "fprintf", "vprintf", "vfprintf", "dprintf", "scanf", "fscanf", "vscanf", "vfscanf",
    "fflush", "fseek", "fseeko", "ftell", "ftello", "rewind", "setvbuf", "getline", "getdelim",
    "perror", "unlink", "rename", "mkdir", "opendir", "readdir", "readdir64", "closedir", "stat",
    "stat64", "fstat", "fstat64", "lstat", "lstat64", "access", "__printf_chk", "__fprintf_chk",
    "__vprintf_chk", "__vfprintf_chk", "__isoc99_scanf", "__isoc99_fscanf", "__fgets_chk",
    "__read_chk", "__fread_chk",
};
/* clang-format on */

#define N_OF(array) (sizeof(array) / sizeof *(array))

static const struct {
    const char *group, *const *names;
    size_t n;
} name_lists[] = {
    {"memory", memory_names, N_OF(memory_names)},
    {"io", io_names, N_OF(io_names)},
};

static const struct {
    const char *prefix, *group;
} prefixes[] = {
    {"MPI_", "mpi"},
    {"PMPI_", "mpi"},
    {"mpi_", "mpi"},
    {"pmpi_", "mpi"},
    {"GOMP_", "openmp"},
    {"omp_", "openmp"},
    {"_gfortran_st_", "io"},
    {"_gfortran_transfer_", "io"},
    {"_gfortran_caf_", "coarray"},
};

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

const char *pm_library_group(const char *linkage)
{
    for (size_t list = 0; list < N_OF(name_lists); list++)
        for (size_t i = 0; i < name_lists[list].n; i++)
            if (strcmp(linkage, name_lists[list].names[i]) == 0)
                return name_lists[list].group;
    for (size_t i = 0; i < N_OF(prefixes); i++)
        if (begins_with(linkage, prefixes[i].prefix))
            return prefixes[i].group;
    return NULL;
}

static const char builtin_prefix[] = "__builtin_";

bool pm_library_is_internal(const char *linkage)
{
    return begins_with(linkage, builtin_prefix) || begins_with(linkage, "__cxa_") ||
           begins_with(linkage, "_Unwind_");
}

bool pm_library_is_fortran(const char *linkage)
{
    return begins_with(linkage, "_gfortran_");
}

const char *pm_library_name(const char *name, const char *linkage)
{
    return begins_with(name, builtin_prefix) ? linkage : name;
}
