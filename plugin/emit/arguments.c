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

/* The beginnings of names: the rest are types. "transfer_integer_write" is of WRITE. */
static const struct known_arguments fortran_library[] = {
    {"transfer_", "-w"},
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

const char *pm_library_arguments(const char *name)
{
    const char *known = pm_memory_arguments(name);
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
        return is_write ? "-r" : fortran_library[i].arguments;
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
