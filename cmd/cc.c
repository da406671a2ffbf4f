/* perfmap cc, c++, fortran: the compiler with the plugin added */
#include "cmd/core/cmd.h"
#include "cmd/core/paths.h"

#include <errno.h>
#include <unistd.h>

enum { MAX_COMPILER_WORDS = 32 };

/* Words of a command ("ccache gcc-12"), separated by blanks, made in place. Returns their number, 0
 * for too many. */
static int split_words(char *text, char **words)
{
    int n = 0;
    char *rest = text;
    for (char *word; (word = strsep(&rest, " \t")) != NULL;) {
        if (!*word)
            continue;
        if (n == MAX_COMPILER_WORDS)
            return 0;
        words[n++] = word;
    }
    return n;
}

/* Preprocessing alone has nothing to measure; the plugin stays out so that configure's many checks
 * are quick. */
static bool only_preprocesses(char *const *args, int n_args)
{
    for (int i = 0; i < n_args; i++)
        if (strcmp(args[i], "-E") == 0 || strcmp(args[i], "-M") == 0 || strcmp(args[i], "-MM") == 0)
            return true;
    return false;
}

static bool has_argument(const struct cmd_parse *parse, const char *begin, const char *part)
{
    for (int i = 0; i < parse->n_operands; i++)
        if (strncmp(parse->operands[i], begin, strlen(begin)) == 0 &&
            (!part || strstr(parse->operands[i], part)))
            return true;
    return false;
}

/* Clang's driver tells no linker of the plugin. NULL: no linker makes code. */
static const char *option_of_linker(const struct cmd_parse *parse, char *const *words, int n_words)
{
    static const char *const no_link[] = {"-c", "-S", "-fsyntax-only"};
    bool is_clang = false;
    for (int i = 0; i < n_words; i++)
        is_clang |= strstr(words[i], "clang") != NULL;
    if (!is_clang || !has_argument(parse, "-flto", NULL))
        return NULL;
    for (int i = 0; i < parse->n_operands; i++)
        for (size_t j = 0; j < sizeof no_link / sizeof *no_link; j++)
            if (strcmp(parse->operands[i], no_link[j]) == 0)
                return NULL;
    return has_argument(parse, "-fuse-ld=", "lld") ? "-Wl,--load-pass-plugin=" : "-Wl,--plugin=";
}

/* The plugin is added to every other call: where nothing is compiled (linking, assembling,
 * --version) the driver does not load it, and an LTO link needs it, for there the code is made. */
static int compile_with(struct cmd_parse *parse, const char *variable, const char *usual)
{
    struct pm_error err = PM_ERROR_INIT;
    const char *compiler = getenv(variable);
    if (!compiler || !compiler[strspn(compiler, " \t")])
        compiler = usual;
    char *words[MAX_COMPILER_WORDS], *text = pm_strndup(compiler, strlen(compiler)), *plugin = NULL;
    char **args = pm_alloc_array((size_t)parse->n_operands + MAX_COMPILER_WORDS + 3, sizeof *args);
    struct pm_buf option = PM_BUF_INIT(1 << 16), of_linker = PM_BUF_INIT(1 << 16);
    int n = text ? split_words(text, words) : 0;
    if (!text || !args) {
        pm_error_set(&err, PM_ERR_MEMORY, "out of memory");
    } else if (n == 0) {
        pm_error_set(&err, PM_ERR_USAGE, "%s holds too many words (at most %d)", variable,
                     MAX_COMPILER_WORDS);
    } else if (cmd_find_plugin(&err, &plugin) == PM_OK) {
        pm_buf_printf(&option, "-fplugin=%s", plugin);
        memcpy(args, words, (size_t)n * sizeof *args);
        const char *link = option_of_linker(parse, words, n);
        if (!only_preprocesses(parse->operands, parse->n_operands))
            args[n++] = option.data;
        if (link) {
            pm_buf_printf(&of_linker, "%s%s", link, plugin);
            args[n++] = of_linker.data;
        }
        memcpy(args + n, parse->operands, (size_t)parse->n_operands * sizeof *args);
        execvp(args[0], args);
        pm_error_system(&err, errno, "cannot start compiler '%s' (set %s to another)", args[0],
                        variable);
    }
    pm_buf_release(&option);
    pm_buf_release(&of_linker);
    free(plugin);
    free(args);
    free(text);
    return cmd_fail(parse, &err);
}

static int cc_main(struct cmd_parse *parse)
{
    return compile_with(parse, "PERFMAP_CC", "gcc");
}

static int cxx_main(struct cmd_parse *parse)
{
    return compile_with(parse, "PERFMAP_CXX", "g++");
}

static int fortran_main(struct cmd_parse *parse)
{
    return compile_with(parse, "PERFMAP_FC", "gfortran");
}

#define CC_DESCRIPTION(variable, compiler)                                                         \
    "Runs the compiler (" compiler ", or the command in " variable                                 \
    ") with the given arguments and -fplugin=... in "                                              \
    "front of them. For build systems that only take the name of a compiler. All arguments go to " \
    "the compiler, "                                                                               \
    "also --version; only --help or -h as the only argument is taken by PerfMap. Calls that only " \
    "preprocess (-E, -M, "                                                                         \
    "-MM) are passed on as they are. With Clang and -flto the linker gets the plugin, too.\n\n"    \
    "Options of the plugin are given to the compiler, for example "                                \
    "-fplugin-arg-perfmap-constructs=functions. "                                                  \
    "Compile with -g: PerfMap does not need it, but places in headers and of variables are "       \
    "better with it."

static const struct cmd_exit cc_exits[] = {{0, "the compiler's own exit status"},
                                           {1, "the plugin or the compiler was not found"},
                                           {0, NULL}};

static const struct cmd_example cc_examples[] = {
    {"perfmap cc -O2 -g heat.c -o heat", "compile and link"},
    {"./configure CC='perfmap cc' && make", "a whole project"},
    {"PERFMAP_CC='ccache gcc-11' perfmap cc -O2 -c heat.c", "another compiler"},
    {NULL, NULL}};

const struct cmd cmd_cc = {
    .name = "cc",
    .summary = "compile C with the plugin",
    .usage = (const char *const[]){"cc [ARGUMENT]...", NULL},
    .description = CC_DESCRIPTION("PERFMAP_CC", "gcc"),
    .examples = cc_examples,
    .exits = cc_exits,
    .environment = (const char *const[]){"PERFMAP_CC",
                                         "the compiler to run, with leading words such as ccache",
                                         "PERFMAP_LIBDIR", "folder with perfmap.so", NULL},
    .flags = CMD_RAW,
    .main = cc_main};

static const struct cmd_example cxx_examples[] = {
    {"perfmap c++ -O2 -g sim.cpp -o sim", "compile and link"},
    {"cmake -B build -DCMAKE_CXX_FLAGS=-fplugin=$(perfmap plugin-path)",
     "CMake takes the option better than another compiler name"},
    {NULL, NULL}};

const struct cmd cmd_cxx = {
    .name = "c++",
    .summary = "compile C++ with the plugin",
    .usage = (const char *const[]){"c++ [ARGUMENT]...", NULL},
    .description = CC_DESCRIPTION("PERFMAP_CXX", "g++"),
    .examples = cxx_examples,
    .exits = cc_exits,
    .environment = (const char *const[]){"PERFMAP_CXX",
                                         "the compiler to run, with leading words such as ccache",
                                         "PERFMAP_LIBDIR", "folder with perfmap.so", NULL},
    .flags = CMD_RAW,
    .main = cxx_main};

static const struct cmd_example fortran_examples[] = {
    {"perfmap fortran -O2 -g solver.f90 -o solver", "compile and link"}, {NULL, NULL}};

const struct cmd cmd_fortran = {
    .name = "fortran",
    .summary = "compile Fortran with the plugin",
    .usage = (const char *const[]){"fortran [ARGUMENT]...", NULL},
    .description = CC_DESCRIPTION("PERFMAP_FC", "gfortran"),
    .examples = fortran_examples,
    .exits = cc_exits,
    .environment = (const char *const[]){"PERFMAP_FC",
                                         "the compiler to run, with leading words such as ccache",
                                         "PERFMAP_LIBDIR", "folder with perfmap.so", NULL},
    .flags = CMD_RAW,
    .main = fortran_main};
