/* Calls out: which functions outside of this translation unit are called, and what they are about.
 */

#include "facts.h"

static const char *const memory_names[] = {
    "malloc", "calloc", "realloc", "reallocarray", "free", "cfree", "aligned_alloc",
    "posix_memalign", "memalign", "valloc", "pvalloc", "strdup", "strndup", "mmap", "mmap64",
    "munmap", "mremap", "brk", "sbrk",
    /* operator new and delete, in their forms without and with alignment */
    "_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm", "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t", "_ZdlPvSt11align_val_t", "_ZdaPvSt11align_val_t",
    "_ZdlPvmSt11align_val_t", "_ZdaPvmSt11align_val_t", "_ZnwmRKSt9nothrow_t",
    "_ZnamRKSt9nothrow_t"};

static const char *const io_names[] = {"open",
                                       "open64",
                                       "openat",
                                       "openat64",
                                       "creat",
                                       "close",
                                       "read",
                                       "write",
                                       "pread",
                                       "pread64",
                                       "pwrite",
                                       "pwrite64",
                                       "readv",
                                       "writev",
                                       "preadv",
                                       "pwritev",
                                       "lseek",
                                       "lseek64",
                                       "fsync",
                                       "fdatasync",
                                       "ftruncate",
                                       "ftruncate64",
                                       "sendfile",
                                       "sync",
                                       "socket",
                                       "connect",
                                       "accept",
                                       "accept4",
                                       "send",
                                       "sendto",
                                       "sendmsg",
                                       "recv",
                                       "recvfrom",
                                       "recvmsg",
                                       "poll",
                                       "ppoll",
                                       "select",
                                       "epoll_wait",
                                       "pipe",
                                       "pipe2",
                                       "dup",
                                       "dup2",
                                       "fopen",
                                       "fopen64",
                                       "fdopen",
                                       "freopen",
                                       "freopen64",
                                       "fclose",
                                       "fread",
                                       "fwrite",
                                       "fread_unlocked",
                                       "fwrite_unlocked",
                                       "fgetc",
                                       "fgets",
                                       "fputc",
                                       "fputs",
                                       "getc",
                                       "getchar",
                                       "putc",
                                       "putchar",
                                       "puts",
                                       "ungetc",
                                       "printf",
                                       "fprintf",
                                       "vprintf",
                                       "vfprintf",
                                       "dprintf",
                                       "scanf",
                                       "fscanf",
                                       "vscanf",
                                       "vfscanf",
                                       "fflush",
                                       "fseek",
                                       "fseeko",
                                       "ftell",
                                       "ftello",
                                       "rewind",
                                       "setvbuf",
                                       "getline",
                                       "getdelim",
                                       "perror",
                                       "unlink",
                                       "rename",
                                       "mkdir",
                                       "opendir",
                                       "readdir",
                                       "readdir64",
                                       "closedir",
                                       "stat",
                                       "stat64",
                                       "fstat",
                                       "fstat64",
                                       "lstat",
                                       "lstat64",
                                       "access",
                                       "__printf_chk",
                                       "__fprintf_chk",
                                       "__vprintf_chk",
                                       "__vfprintf_chk",
                                       "__isoc99_scanf",
                                       "__isoc99_fscanf",
                                       "__fgets_chk",
                                       "__read_chk",
                                       "__fread_chk"};

static const struct {
    const char *group, *const *names;
    size_t n;
} name_lists[] = {
    {"memory", memory_names, ARRAY_SIZE(memory_names)},
    {"io", io_names, ARRAY_SIZE(io_names)},
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

/* memory, mpi, openmp, io, coarray, or NULL. */
static const char *group_of(const char *linkage)
{
    for (const auto &list : name_lists) {
        for (size_t i = 0; i < list.n; i++) {
            if (strcmp(linkage, list.names[i]) == 0)
                return list.group;
        }
    }
    for (const auto &prefix : prefixes) {
        if (strncmp(linkage, prefix.prefix, strlen(prefix.prefix)) == 0)
            return prefix.group;
    }
    return NULL;
}

/* Is it a function of the compiler's own that never becomes a call that users know? */
static bool is_internal(const char *linkage)
{
    return strncmp(linkage, "__builtin_", 10) == 0 || strncmp(linkage, "__cxa_", 6) == 0 ||
           strncmp(linkage, "_Unwind_", 8) == 0;
}

static pm_id make_external(tree decl)
{
    const char *linkage = pm_linkage_name(decl);
    if (is_internal(linkage))
        return 0;
    const struct pm_source_function *function = pm_source_function_of(decl);
    const char *group = group_of(linkage);
    struct pm_pif_noun noun = {};
    noun.id = function->id;
    /* gfortran and g++ declare malloc as __builtin_malloc: the symbol is what users know. */
    noun.name = strncmp(function->name, "__builtin_", 10) == 0 ? linkage : function->name;
    noun.level = pm_level_source;
    /* Another translation unit of the user's may define it: then the two are one function. */
    bool foreign = group != NULL || fndecl_built_in_p(decl) ||
                   in_system_header_at(DECL_SOURCE_LOCATION(decl)) ||
                   strncmp(linkage, "_gfortran_", 10) == 0;
    noun.kind = foreign ? "external" : "function";
    noun.linkage = strcmp(linkage, noun.name) != 0 ? linkage : NULL;
    pm_pif_noun(pm_facts_early(), &noun);
    if (group != NULL)
        pm_pif_noun_attribute(pm_facts_early(), noun.id, "group", group);
    return noun.id;
}

pm_id pm_fact_external(tree function_decl)
{
    static std::map<unsigned, pm_id> known;
    if (!TREE_PUBLIC(function_decl) || DECL_STRUCT_FUNCTION(function_decl) != NULL ||
        DECL_INITIAL(function_decl) != NULL_TREE)
        return 0;
    auto found = known.find(DECL_UID(function_decl));
    if (found == known.end())
        found = known.insert({DECL_UID(function_decl), make_external(function_decl)}).first;
    return found->second;
}
