/* What known functions of libraries do with their arguments: tables by their names. */
#include "arguments.h"

#include <stddef.h>
#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))

/* Letters are arguments: w is written to, r read from, b both, - something else. The result is
 * not looked at. */
struct known_arguments {
    const char *name, *arguments;
};

static const struct known_arguments memory_functions[] = {
    {"memset", "w"},         {"memcpy", "wr"},        {"memmove", "wr"},     {"mempcpy", "wr"},
    {"memcmp", "rr"},        {"memchr", "r"},         {"memrchr", "r"},      {"rawmemchr", "r"},
    {"bcopy", "rw"},         {"bzero", "w"},          {"bcmp", "rr"},        {"strlen", "r"},
    {"strnlen", "r"},        {"strcpy", "wr"},        {"strncpy", "wr"},     {"stpcpy", "wr"},
    {"strcat", "br"},        {"strncat", "br"},       {"strcmp", "rr"},      {"strncmp", "rr"},
    {"strchr", "r"},         {"strrchr", "r"},        {"strstr", "rr"},      {"strspn", "rr"},
    {"strcspn", "rr"},       {"strpbrk", "rr"},       {"qsort", "b"},        {"qsort_r", "b"},
    {"free", "w"},           {"realloc", "b"},        {"strtol", "rw"},      {"strtod", "rw"},
    {"strcasecmp", "rr"},    {"strncasecmp", "rr"},   {"__memset_chk", "w"}, {"__memcpy_chk", "wr"},
    {"__memmove_chk", "wr"}, {"__strcpy_chk", "wr"},  {"memccpy", "wr"},     {"memmem", "r-r"},
    {"strdup", "r"},         {"strndup", "r"},        {"strtok", "br"},      {"strtok_r", "brb"},
    {"strsep", "br"},        {"strtoul", "rw"},       {"strtoll", "rw"},     {"strtoull", "rw"},
    {"strtof", "rw"},        {"strtold", "rw"},       {"atoi", "r"},         {"atol", "r"},
    {"atof", "r"},           {"bsearch", "rr"},       {"swab", "rw"},        {"strlcpy", "wr"},
    {"strlcat", "br"},       {"__strncpy_chk", "wr"},
};

/* Of files and text: their time is the kernel's and the library's own as well. */
static const struct known_arguments text_functions[] = {
    {"sprintf", "wr"},
    {"snprintf", "w-r"},
    {"vsprintf", "wr"},
    {"vsnprintf", "w-r"},
    {"__sprintf_chk", "w--r"},
    {"__snprintf_chk", "w---r"},
    {"__vsprintf_chk", "w--r"},
    {"__vsnprintf_chk", "w---r"},
    {"sscanf", "rrwwwwwwww"},
    {"__isoc99_sscanf", "rrwwwwwwww"},
    {"fscanf", "-rwwwwwwww"},
    {"__isoc99_fscanf", "-rwwwwwwww"},
    {"scanf", "rwwwwwwww"},
    {"__isoc99_scanf", "rwwwwwwww"},
    {"fread", "w"},
    {"fwrite", "r"},
    {"fputs", "r"},
    {"puts", "r"},
    {"write", "-r"},
    {"pwrite", "-r"},
    {"pwrite64", "-r"},
    {"send", "-r"},
    {"sendto", "-r"},
    {"fgets", "w"},
    {"read", "-w"},
    {"pread", "-w"},
    {"pread64", "-w"},
    {"recv", "-w"},
    {"recvfrom", "-w"},
    {"getline", "w"},
    {"getrandom", "w"},
    {"gethostname", "w"},
    {"getcwd", "w"},
    {"readlink", "rw"},
    {"strftime", "w-rr"},
    {"clock_gettime", "-w"},
    {"gettimeofday", "w"},
    {"stat", "rw"},
    {"fstat", "-w"},
    {"lstat", "rw"},
    {"pipe", "w"},
    {"erand48", "b"},
    {"nrand48", "b"},
    {"rand_r", "b"},
    {"frexp", "-w"},
    {"modf", "-w"},
    {"sincos", "-ww"},
};

/* MPI, by names without the prefix and in small letters: the same in C and in Fortran, where the
 * place of the error comes last. Buffers of calls that do not wait for them are touched later, by
 * the library: they count for the statement that hands them over. */
static const struct known_arguments mpi_functions[] = {
    {"send", "r"},
    {"bsend", "r"},
    {"ssend", "r"},
    {"rsend", "r"},
    {"recv", "w"},
    {"mrecv", "w"},
    {"sendrecv", "r----w"},
    {"sendrecv_replace", "b"},
    {"bcast", "b"},
    {"reduce", "rw"},
    {"allreduce", "rw"},
    {"reduce_local", "rb"},
    {"reduce_scatter", "rwr"},
    {"reduce_scatter_block", "rw"},
    {"scan", "rw"},
    {"exscan", "rw"},
    {"gather", "r--w"},
    {"gatherv", "r--wrr"},
    {"allgather", "r--w"},
    {"allgatherv", "r--wrr"},
    {"scatter", "r--w"},
    {"scatterv", "rrr-w"},
    {"alltoall", "r--w"},
    {"alltoallv", "rrr-wrr"},
    {"alltoallw", "rrrrwrrr"},
    {"neighbor_allgather", "r--w"},
    {"neighbor_allgatherv", "r--wrr"},
    {"neighbor_alltoall", "r--w"},
    {"neighbor_alltoallv", "rrr-wrr"},
    {"neighbor_alltoallw", "rrrrwrrr"},
    {"put", "r"},
    {"get", "w"},
    {"accumulate", "r"},
    {"get_accumulate", "r--w"},
    {"fetch_and_op", "rw"},
    {"compare_and_swap", "rrw"},
    {"pack", "r--w"},
    {"unpack", "r--w"},
    {"file_read", "-w"},
    {"file_read_all", "-w"},
    {"file_read_shared", "-w"},
    {"file_read_ordered", "-w"},
    {"file_read_at", "--w"},
    {"file_read_at_all", "--w"},
    {"file_write", "-r"},
    {"file_write_all", "-r"},
    {"file_write_shared", "-r"},
    {"file_write_ordered", "-r"},
    {"file_write_at", "--r"},
    {"file_write_at_all", "--r"},
};

static const struct known_arguments algorithms[] = {
    {"fill", "ww"},
    {"fill_n", "w"},
    {"iota", "ww"},
    {"generate", "ww"},
    {"sort", "bb"},
    {"copy", "rrw"},
    {"copy_n", "r-w"},
    {"stable_sort", "bb"},
    {"reverse", "bb"},
    {"swap", "bb"},
    {"shuffle", "bb"},
    {"partial_sort", "bbb"},
    {"nth_element", "bbb"},
    {"rotate", "bbb"},
    {"move", "rrw"},
    {"partial_sum", "rrw"},
    {"make_heap", "bb"},
    {"unique", "bb"},
    {"remove", "bb"},
    {"adjacent_difference", "rrw"},
    {"inclusive_scan", "rrw"},
    {"exclusive_scan", "rrw"},
    {"swap_ranges", "bbb"},
    {"iter_swap", "bb"},
    {"copy_if", "rrw"},
    {"copy_backward", "rrw"},
    {"move_backward", "rrw"},
    {"reverse_copy", "rrw"},
    {"rotate_copy", "rrrw"},
    {"remove_copy", "rrw"},
    {"remove_copy_if", "rrw"},
    {"unique_copy", "rrw"},
    {"replace_copy", "rrw"},
    {"replace_copy_if", "rrw"},
    {"partition_copy", "rrww"},
    {"partial_sort_copy", "rrbb"},
    {"sample", "rrw"},
    {"merge", "rrrrw"},
    {"set_union", "rrrrw"},
    {"set_intersection", "rrrrw"},
    {"set_difference", "rrrrw"},
    {"set_symmetric_difference", "rrrrw"},
    {"inplace_merge", "bbb"},
    {"partition", "bb"},
    {"stable_partition", "bb"},
    {"remove_if", "bb"},
    {"erase", "b"}, /* std::erase(v, x), not a method */
    {"erase_if", "b"},
    {"push_heap", "bb"},
    {"pop_heap", "bb"},
    {"sort_heap", "bb"},
    {"next_permutation", "bb"},
    {"prev_permutation", "bb"},
    {"random_shuffle", "bb"},
    {"shift_left", "bb"},
    {"shift_right", "bb"},
    {"replace", "bb"},
    {"replace_if", "bb"},
    {"generate_n", "w"},
    {"uninitialized_copy", "rrw"},
    {"uninitialized_move", "rrw"},
    {"uninitialized_fill", "ww"},
};

/* The beginnings of names: the rest are types. "transfer_integer_write" is of WRITE. The first
 * argument of input and output stands for the text that an internal unit is. */
static const struct known_arguments fortran_library[] = {
    {"transfer_", "rw"},
    {"st_write", "w"},
    {"st_read", "r"},
    {"random_r", "w"},
    {"arandom_r", "w"},
    {"random_seed_", "wrw"},
    {"cpu_time_", "w"},
    {"system_clock_", "www"},
    {"date_and_time", "wwww"},
    {"etime_", "w"},
    {"itime_", "w"},
    {"idate_", "w"},
    {"internal_pack", "r"},
    {"internal_unpack", "wr"},
    {"get_command_argument_", "rw"},
    {"string_index", "-r-r"},
    {"string_scan", "-r-r"},
    {"string_verify", "-r-r"},
    {"string_len_trim", "-r"},
    {"string_trim", "ww-r"},
    {"compare_string", "-r-r"},
    {"concat_string", "-w-r-r"},
    {"adjustl", "w-r"},
    {"adjustr", "w-r"},
};

/* Which arguments the result leads into: their numbers. */
static const struct known_arguments leading_results[] = {
    {"memchr", "0"},    {"memrchr", "0"}, {"rawmemchr", "0"}, {"memmem", "0"},
    {"strchr", "0"},    {"strrchr", "0"}, {"strchrnul", "0"}, {"index", "0"},
    {"rindex", "0"},    {"strstr", "0"},  {"strpbrk", "0"},   {"strcasestr", "0"},
    {"bsearch", "1"},   {"lfind", "1"},   {"lsearch", "1"},   {"memcpy", "0"},
    {"memmove", "0"},   {"mempcpy", "0"}, {"memset", "0"},    {"memccpy", "0"},
    {"strcpy", "0"},    {"strncpy", "0"}, {"stpcpy", "0"},    {"stpncpy", "0"},
    {"strcat", "0"},    {"strncat", "0"}, {"strsep", "0"},    {"strtok", "0"},
    {"strtok_r", "02"}, {"fgets", "0"},   {"realloc", "0"},   {"getcwd", "0"},
    {"basename", "0"},  {"dirname", "0"}, {"strsignal", ""},  {"inet_ntop", "2"},
};

/* Which argument is the address of a pointer that comes to lead into which other: "10" is argument
 * 1 into argument 0. */
static const struct known_arguments filled_pointers[] = {
    {"strtok_r", "20"},  {"strtol", "10"},    {"strtoul", "10"}, {"strtoll", "10"},
    {"strtod", "10"},    {"strtof", "10"},    {"strtold", "10"}, {"strtoull", "10"},
    {"strtoimax", "10"}, {"strtoumax", "10"},
};

/* Which arguments are passed on, as the parameters of the function that is called: "01" is
 * argument 0 as parameter 0, argument 1 as parameter 1. */
static const struct known_arguments calling_back[] = {
    {"qsort", "00"},   {"qsort_r", "004"},      {"bsearch", "01"},    {"lfind", "01"},
    {"lsearch", "01"}, {"pthread_create", "3"}, {"thrd_create", "2"},
};

static const char *arguments_of(const struct known_arguments *functions, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (functions[i].name[0] == name[0] && strcmp(functions[i].name, name) == 0)
            return functions[i].arguments;
    return NULL;
}

/* Of this name, without _init and an i or r in front, which say when it is done. */
static const char *mpi_operation(const char *name)
{
    static const char *const later[] = {"i", "r", "file_i"};
    char plain[64];
    size_t len = strlen(name);
    if (len > strlen("_init") && strcmp(name + len - strlen("_init"), "_init") == 0)
        len -= strlen("_init");
    if (len >= sizeof plain)
        return NULL;
    memcpy(plain, name, len);
    plain[len] = 0;
    const char *known = arguments_of(mpi_functions, N_OF(mpi_functions), plain);
    for (size_t i = 0; !known && i < N_OF(later); i++) {
        size_t n = strlen(later[i]), kept = n - 1; /* of file_i, file_ is the name's */
        if (strncmp(plain, later[i], n) != 0)
            continue;
        memmove(plain + kept, plain + n, len - n + 1);
        known = arguments_of(mpi_functions, N_OF(mpi_functions), plain);
        memcpy(plain, name, len);
        plain[len] = 0;
    }
    return known;
}

/* In C MPI_Send, and MPI_Send_c with counts of 64 bits; in Fortran mpi_send_ and mpi_send_f08_. */
static const char *mpi_arguments(const char *name)
{
    static const char prefix[] = "mpi_";
    static const char *const ends[] = {"_f08ts_", "_f08_", "__", "_", "_c"};
    char plain[64];
    size_t n = strlen(prefix), len = 0;
    name += *name == 'P' || *name == 'p';
    for (; name[len] && len + 1 < sizeof plain; len++)
        plain[len] =
            (char)(name[len] >= 'A' && name[len] <= 'Z' ? name[len] + ('a' - 'A') : name[len]);
    plain[len] = 0;
    if (name[len] || strncmp(plain, prefix, n) != 0)
        return NULL;
    for (size_t i = 0; i < N_OF(ends); i++) {
        size_t end = strlen(ends[i]);
        if (len <= n + end || strcmp(plain + len - end, ends[i]) != 0)
            continue;
        plain[len - end] = 0;
        break;
    }
    return mpi_operation(plain + n);
}

const char *pm_builtin_free_name(const char *linkage)
{
    static const char prefix[] = "__builtin_";
    size_t len = strlen(prefix);
    return strncmp(linkage, prefix, len) == 0 ? linkage + len : linkage;
}

const char *pm_memory_arguments(const char *name)
{
    return arguments_of(memory_functions, N_OF(memory_functions), name);
}

const char *pm_data_arguments(const char *name)
{
    const char *known = pm_memory_arguments(name);
    return known ? known : mpi_arguments(name);
}

const char *pm_library_arguments(const char *name)
{
    const char *known = pm_data_arguments(name);
    return known ? known : arguments_of(text_functions, N_OF(text_functions), name);
}

unsigned pm_argument_use(const char *arguments, unsigned index)
{
    switch (index < strlen(arguments) ? arguments[index] : '-') {
    case 'r':
        return PM_USE_READS;
    case 'w':
        return PM_USE_WRITES;
    case 'b':
        return PM_USE_READS | PM_USE_WRITES;
    default:
        return 0;
    }
}

unsigned pm_algorithm_use(const char *name, unsigned n_arguments, unsigned index)
{
    unsigned last_of_transform = n_arguments == 4 ? 2 : 3;
    if (strcmp(name, "transform") == 0)
        return index == last_of_transform ? PM_USE_WRITES : PM_USE_READS;
    const char *arguments = arguments_of(algorithms, N_OF(algorithms), name);
    unsigned use = arguments ? pm_argument_use(arguments, index) : 0;
    return use != 0 ? use : (unsigned)PM_USE_READS;
}

unsigned pm_algorithm_whole_use(const char *name, unsigned n_arguments, unsigned index)
{
    if (strcmp(name, "transform") == 0)
        return pm_algorithm_use(name, n_arguments, index) & PM_USE_WRITES;
    const char *arguments = arguments_of(algorithms, N_OF(algorithms), name);
    return arguments ? pm_argument_use(arguments, index) : 0;
}

static const char *fortran_arguments(const char *linkage)
{
    static const char prefix[] = "_gfortran_", write[] = "_write";
    if (strncmp(linkage, prefix, strlen(prefix)) != 0)
        return NULL;
    const char *name = linkage + strlen(prefix);
    size_t len = strlen(name);
    for (size_t i = 0; i < N_OF(fortran_library); i++) {
        if (strncmp(name, fortran_library[i].name, strlen(fortran_library[i].name)) != 0)
            continue;
        bool is_write =
            i == 0 && len > strlen(write) && strcmp(name + len - strlen(write), write) == 0;
        return is_write ? "wr" : fortran_library[i].arguments;
    }
    return NULL;
}

unsigned pm_fortran_library_use(const char *linkage, unsigned index)
{
    const char *arguments = fortran_arguments(linkage);
    return arguments ? pm_argument_use(arguments, index) : (unsigned)PM_USE_READS;
}

bool pm_fortran_library_works_on_data(const char *linkage)
{
    return fortran_arguments(linkage) != NULL;
}

bool pm_result_leads_into(const char *name, unsigned argument)
{
    const char *into = arguments_of(leading_results, N_OF(leading_results), name);
    return into && argument < 10 && strchr(into, (int)('0' + argument));
}

bool pm_result_is_remembered(const char *name)
{
    return strcmp(name, "strtok") == 0;
}

bool pm_fills_pointer(const char *name, unsigned *ret_pointer, unsigned *ret_into)
{
    const char *known = arguments_of(filled_pointers, N_OF(filled_pointers), name);
    if (!known)
        return false;
    *ret_pointer = (unsigned)(known[0] - '0');
    *ret_into = (unsigned)(known[1] - '0');
    return true;
}

enum pm_passing pm_passes_argument(const char *linkage, unsigned argument, unsigned parameter)
{
    const char *passed = arguments_of(calling_back, N_OF(calling_back), linkage);
    if (!passed)
        return PM_PASSES_UNKNOWN;
    bool passes = parameter < strlen(passed) && (unsigned)(passed[parameter] - '0') == argument;
    return passes ? PM_PASSES : PM_PASSES_NOT;
}
