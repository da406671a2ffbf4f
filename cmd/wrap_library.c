/* What a library exports, and where the loader finds it. */
#include "wrap.h"

#include "cmd/core/command.h"

#include "pdt/header.h"

#include "mapping/base/cxx_name.h"
#include "mapping/debuginfo/debuginfo.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* "\tlibz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x...)" */
static char *path_in(const char *text, const char *name)
{
    size_t len = strlen(name);
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += strspn(line, "\n\t ");
        if (strncmp(line, name, len) != 0 || strncmp(line + len, " => /", 5) != 0)
            continue;
        const char *path = line + len + 4;
        return pm_strndup(path, strcspn(path, " \n"));
    }
    return NULL;
}

/* Asks the loader itself, which lists what it would load with the library in front of a program
 * of ours. */
static enum pm_status ask_loader(const char *name, struct pm_error *err, char **ret_path)
{
    char own[PATH_MAX], preload[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", own, sizeof own - 1);
    if (len < 0)
        return pm_error_system(err, errno, "cannot read '/proc/self/exe'");
    own[len] = 0;
    if (!*name || strpbrk(name, " :;\n\t") ||
        (size_t)snprintf(preload, sizeof preload, "LD_PRELOAD=%s", name) >= sizeof preload)
        return pm_error_set(err, PM_ERR_USAGE, "'%s' is no name of a library", name);
    const char *const argv[] = {"env", "LD_TRACE_LOADED_OBJECTS=1", preload, own, NULL};
    struct pm_buf output = PM_BUF_INIT(1 << 20);
    const struct cmd_command command = {.argv = argv, .output = &output, .timeout_ms = 60000};
    int end = cmd_command_run(&command, err);
    *ret_path = output.data ? path_in(output.data, name) : NULL;
    pm_buf_release(&output);
    if (end < 0)
        return pm_error_add(err, "cannot ask the loader for '%s'", name);
    return *ret_path
               ? PM_OK
               : pm_error_set(err, PM_ERR_NOT_FOUND,
                              "the loader finds no library '%s' (a name with '/' is a path)", name);
}

static void add(void *context, const struct pm_export *one)
{
    struct wrap_library *library = context;
    char *name = one->is_hidden ? NULL : pm_strndup(one->name, strlen(one->name));
    void *grown = name ? pm_grow_array(library->functions, library->n_functions,
                                       &library->cap_functions, 256, sizeof *library->functions)
                       : NULL;
    library->failed |= !grown && !one->is_hidden;
    if (!grown) {
        free(name);
        return;
    }
    library->functions = grown;
    library->functions[library->n_functions++] = name;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum pm_status read_library(const char *name, struct pm_error *err,
                                   struct wrap_library *library)
{
    enum pm_status status = PM_OK;
    if (!strchr(name, '/'))
        status = ask_loader(name, err, &library->path);
    else if (!(library->path = pm_strndup(name, strlen(name))))
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (status != PM_OK)
        return status;
    status = pm_exports_visit(library->path, add, library, err);
    if (status != PM_OK)
        return status;
    return library->failed ? pm_error_set(err, PM_ERR_MEMORY, "out of memory") : PM_OK;
}

enum pm_status wrap_library_open(const char *name, struct pm_error *err,
                                 struct wrap_library *ret_library)
{
    struct wrap_library library = {0};
    enum pm_status status = read_library(name, err, &library);
    if (status != PM_OK) {
        wrap_library_release(&library);
        return pm_error_add(err, "option '--library': cannot use '%s'", name);
    }
    if (library.n_functions)
        qsort(library.functions, library.n_functions, sizeof *library.functions, compare);
    *ret_library = library;
    return PM_OK;
}

bool wrap_library_has(const struct wrap_library *library, const char *symbol)
{
    return library->n_functions && bsearch(&symbol, library->functions, library->n_functions,
                                           sizeof *library->functions, compare);
}

/* ns::sum<int> of "int ns::sum<int>(int*)"; empty: what the compiler made beside functions. */
static struct pm_str plain_name(const char *demangled)
{
    enum { MAX_PARTS = 32 };
    static const char *const made[] = {"virtual thunk to ", "non-virtual thunk to ",
                                       "covariant return thunk to ", "TLS init function for ",
                                       "TLS wrapper function for "};
    struct pm_cxx_part parts[MAX_PARTS];
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (!strncmp(demangled, made[i], strlen(made[i])))
            return PM_STR("");
    size_t n = pm_cxx_parts(demangled, strlen(demangled), parts, MAX_PARTS);
    if (!n || !parts[0].name.len)
        return PM_STR("");
    const struct pm_str last =
        parts[n - 1].arguments.len ? parts[n - 1].arguments : parts[n - 1].name;
    const char *from = parts[0].name.p;
    return (struct pm_str){from, (size_t)(last.p + last.len - from)};
}

/* The symbol becomes C and assembler: any other byte in it is none of a compiler's. */
static bool is_cxx(const char *symbol)
{
    size_t n = 0;
    while (isalnum((unsigned char)symbol[n]) || symbol[n] == '_')
        n++;
    return !strncmp(symbol, "_Z", 2) && !symbol[n];
}

/* "Dv4_d", by value: the name says so of parameters that are vectors themselves. */
static bool has_wide_vector(const char *symbol)
{
    enum { REGISTER_BYTES = 16 };
    static const char *const of_bytes[] = {"", "abch", "st", "", "fij", "", "", "", "dlmxy"};
    for (const char *at = strstr(symbol, "Dv"); at; at = strstr(at + 1, "Dv")) {
        char *end;
        unsigned long n = strtoul(at + 2, &end, 10), size = 8;
        if (end == at + 2 || *end != '_' || (at > symbol && strchr("PROK", at[-1])))
            continue;
        while (size > 1 && !(end[1] && strchr(of_bytes[size], end[1])))
            size--;
        if (n > REGISTER_BYTES / size)
            return true;
    }
    return false;
}

static bool add_cxx(struct pdt_header *header, const char *symbol)
{
    char *demangled = is_cxx(symbol) ? pm_debug_demangle(symbol) : NULL;
    struct pm_str plain = demangled ? plain_name(demangled) : PM_STR("");
    char *name = plain.len ? pm_strndup(plain.p, plain.len) : NULL;
    bool good = !plain.len || (name && pdt_header_add(header, name, symbol));
    if (good && plain.len && has_wide_vector(symbol))
        header->functions[header->n_functions - 1].unwrappable = pdt_wide_vectors;
    free(name);
    free(demangled);
    return good;
}

enum pm_status wrap_library_cxx(const struct wrap_library *library, struct pm_error *err,
                                struct pdt_header **ret_header)
{
    struct pdt_header *header = pdt_header_new();
    bool good = header != NULL;
    for (uint32_t i = 0; good && i < library->n_functions; i++)
        good = add_cxx(header, library->functions[i]);
    if (!good) {
        pdt_header_free(header);
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory for '%s'", library->path);
    }
    *ret_header = header;
    return PM_OK;
}

void wrap_library_release(struct wrap_library *library)
{
    for (uint32_t i = 0; i < library->n_functions; i++)
        free((char *)library->functions[i]);
    free(library->functions);
    free(library->path);
}
