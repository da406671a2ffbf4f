#include "commands.h"
#include "words.h"

#include "mapping/base/str.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILE_BYTES = 1 << 30, MAX_WORD_BYTES = 1 << 20 };

struct reading {
    const char *path;
    struct pdt_commands *commands;
    struct pm_error *err;
};

/* How many words an option takes that says nothing of what is read: 0 when it matters. */
static unsigned left_out(const char *word)
{
    static const char *const with_value[] = {"-o",  "-MF",       "-MT",       "-MQ",
                                             "-MJ", "-aux-info", "-dumpbase", NULL};
    static const char *const alone[] = {"-c",  "-S",    "-MD",         "-MMD", "-MP",
                                        "-MG", "-pipe", "-save-temps", NULL};
    static const char *const begin[] = {"-fplugin",
                                        "-fpass-plugin",
                                        "-Werror",
                                        "-flto",
                                        "-fwhopr",
                                        "-fuse-linker-plugin",
                                        "-save-temps=",
                                        "-fdump-",
                                        "-fdiagnostics-",
                                        "-fmax-errors",
                                        "-fuse-ld=",
                                        "-fno-var-tracking",
                                        NULL};
    for (int i = 0; with_value[i]; i++)
        if (!strcmp(word, with_value[i]))
            return 2;
    for (int i = 0; alone[i]; i++)
        if (!strcmp(word, alone[i]))
            return 1;
    for (int i = 0; begin[i]; i++)
        if (!strncmp(word, begin[i], strlen(begin[i])))
            return 1;
    return !strncmp(word, "-o", 2) ? 1 : 0;
}

static bool ends_with_one(const char *file, const char *const *ends)
{
    for (int i = 0; ends[i]; i++)
        if (pm_str_ends_with(file, ends[i]))
            return true;
    return false;
}

static bool is_cxx_file(const char *file)
{
    static const char *const ends[] = {".cc", ".cpp", ".cxx", ".C", ".c++", ".CPP", ".cp", NULL};
    return ends_with_one(file, ends);
}

static bool is_source(const char *file)
{
    static const char *const ends[] = {".c", ".i", ".ii", NULL};
    return is_cxx_file(file) || ends_with_one(file, ends);
}

/* What the linker takes. */
static bool is_object(const char *file)
{
    static const char *const ends[] = {".o", ".a", ".so", ".lo", ".la", ".obj", NULL};
    return ends_with_one(file, ends) || strstr(file, ".so.");
}

/* Counts it, if it is of another language. */
static bool is_foreign(struct pdt_commands *commands, const char *file)
{
    static const char *const fortran[] = {".f",   ".F",   ".f90", ".F90", ".f95", ".F95", ".f03",
                                          ".F03", ".f08", ".F08", ".for", ".FOR", ".ftn", NULL};
    static const char *const assembler[] = {".s", ".S", ".sx", ".asm", NULL};
    static const char *const others[] = {".m", ".mm", ".cu", ".rs", ".go", ".rc", ".d", NULL};
    bool is_fortran = ends_with_one(file, fortran), is_assembler = ends_with_one(file, assembler);
    bool is_other = ends_with_one(file, others);
    commands->n_fortran += is_fortran;
    commands->n_assembler += is_assembler;
    commands->n_other += is_other;
    return is_fortran || is_assembler || is_other;
}

static const char *absolute(struct reading *reading, const char *folder, const char *name)
{
    return pdt_words_path(&reading->commands->arena, folder, name);
}

/* libclang does not show what lies below directives of OpenMP when it knows OpenMP. Without, the
 * statements are there, and directives are pragmas. */
static const char *replaced(const char *word)
{
    if (!strncmp(word, "-fopenmp-", 9))
        return "-w";
    bool is_openmp = !strcmp(word, "-fopenmp") || !strncmp(word, "-fopenmp=", 9);
    return is_openmp ? "-D_OPENMP=201811" : word;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_launcher(const char *word)
{
    static const char *const names[] = {"ccache", "sccache", "distcc",  "icecc", "buildcache",
                                        "gomacc", "env",     "perfmap", NULL};
    for (int i = 0; names[i]; i++)
        if (!strcmp(last_part(word), names[i]))
            return true;
    return false;
}

/* Programs that start the compiler stand before it, with settings (A=B) of their own: how many
 * words that are. 'perfmap cc' is a compiler itself. */
static uint32_t n_of_launchers(const struct pdt_words *words)
{
    uint32_t n = 0, taken = 0;
    while (n < words->n && is_launcher(words->items[n])) {
        bool is_perfmap = !strcmp(last_part(words->items[n++]), "perfmap");
        while (!is_perfmap && n < words->n &&
               words->items[n][strcspn(words->items[n], "/=")] == '=')
            n++;
        taken = n;
    }
    return taken < words->n ? taken : 0;
}

/* --- shells --- */

static bool is_shell(const struct pdt_words *words)
{
    static const char *const names[] = {"sh", "bash", "dash", "ash", "ksh", "zsh", NULL};
    bool is = false;
    if (words->n < 3 || words->items[1][0] != '-' || !pm_str_ends_with(words->items[1], "c"))
        return false;
    for (int i = 0; names[i]; i++)
        is |= !strcmp(last_part(words->items[0]), names[i]);
    return is;
}

static uint32_t words_to_break(const struct pdt_words *words, uint32_t from)
{
    uint32_t n = 0;
    while (from + n < words->n && words->items[from + n] != pdt_words_break)
        n++;
    return n;
}

static bool names_file(const struct pdt_words *words, uint32_t from, uint32_t n, const char *file)
{
    for (uint32_t i = from; i < from + n; i++)
        if (strstr(words->items[i], last_part(file)) || words->items[i][0] == '@')
            return true;
    return false;
}

/* Of 'cd sub && cc -c a.c' the command that names the file, and the folder. */
static bool choose_part(struct reading *reading, struct pdt_words *words, const char *file,
                        const char **directory)
{
    for (uint32_t i = 0, n; i < words->n; i += n + 1) {
        n = words_to_break(words, i);
        bool is_cd = n == 2 && !strcmp(words->items[i], "cd");
        if (is_cd)
            *directory = absolute(reading, *directory, words->items[i + 1]);
        if (!*directory)
            return false;
        if (!is_cd && n > 0 && (i + n >= words->n || names_file(words, i, n, file))) {
            pdt_words_cut(words, i, n);
            return true;
        }
    }
    return words->n > 0;
}

/* The command of the compiler itself, whatever starts it. */
static bool find_compiler(struct reading *reading, struct pdt_words *words, const char *file,
                          const char **directory)
{
    for (int i = 0; i < 8; i++) {
        if (!choose_part(reading, words, file, directory))
            return false;
        uint32_t begin = n_of_launchers(words);
        pdt_words_cut(words, begin, words->n - begin);
        if (!is_shell(words))
            return words->n > 0;
        const char *text = words->items[2];
        words->n = 0;
        if (!pdt_words_split(words, text, true))
            return false;
    }
    return false;
}

/* --- options --- */

struct choice {
    const char **words, **sources;
    uint32_t n, n_sources;
    const char *missing, *problem; /* a response file; why it cannot be read */
    bool is_cxx, has_moved;        /* has_moved: by cd */
};

/* An option whose value is the next word. */
static bool takes_value(const char *word)
{
    static const char *const names[] = {"-I",
                                        "-D",
                                        "-U",
                                        "-include",
                                        "-imacros",
                                        "-isystem",
                                        "-iquote",
                                        "-idirafter",
                                        "-iprefix",
                                        "-isysroot",
                                        "-x",
                                        "-Xclang",
                                        "-L",
                                        "-l",
                                        "-Xlinker",
                                        "-T",
                                        "-u",
                                        "-z",
                                        "-Xpreprocessor",
                                        "-Xassembler",
                                        "--param",
                                        "-target",
                                        "-arch",
                                        "-mllvm",
                                        "--sysroot",
                                        "-B",
                                        NULL};
    for (int i = 0; names[i]; i++)
        if (!strcmp(word, names[i]))
            return true;
    return false;
}

static const char *problem_of(struct reading *reading, const struct pdt_words *words,
                              const struct choice *choice)
{
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    if (choice->missing)
        pm_buf_printf(&text, "its response file '%s' is not there (ninja -d keeprsp keeps them)",
                      choice->missing);
    else if (strpbrk(words->items[0], "$`"))
        pm_buf_printf(&text, "a shell works out its command: '%s'", words->items[0]);
    const char *copy =
        text.len ? pm_arena_strndup(&reading->commands->arena, text.data, text.len) : NULL;
    pm_buf_release(&text);
    return copy;
}

/* Sources, and what libclang has no use for, are taken out. */
static void choose_word(struct reading *reading, struct choice *choice, const char *word)
{
    if (*word == '-' || !*word)
        choice->words[choice->n++] = replaced(word);
    else if (is_source(word))
        choice->sources[choice->n_sources++] = word;
    else if (!is_object(word) && *word != '>' && !is_foreign(reading->commands, word))
        choice->words[choice->n++] = word;
}

/* The options that matter. Relative names of files are meant from the command's folder. */
static bool choose_words(struct reading *reading, const struct pdt_words *words,
                         struct choice *choice)
{
    struct pm_arena *arena = &reading->commands->arena;
    choice->words = pm_arena_alloc(arena, (words->n + 4u) * sizeof *choice->words);
    choice->sources = pm_arena_alloc(arena, (words->n + 1u) * sizeof *choice->sources);
    if (!choice->words || !choice->sources)
        return false;
    choice->words[choice->n++] = words->items[0];
    choice->words[choice->n++] = "-Wno-everything";
    for (uint32_t i = 1; i < words->n; i++) {
        unsigned skip = left_out(words->items[i]);
        bool has_value = !skip && takes_value(words->items[i]) && i + 1 < words->n;
        if (!skip)
            choose_word(reading, choice, words->items[i]);
        if (has_value)
            choice->words[choice->n++] = words->items[++i];
        i += skip > 1;
    }
    choice->is_cxx = strstr(last_part(words->items[0]), "++") != NULL;
    choice->problem = problem_of(reading, words, choice);
    return true;
}

static const char *text_of(const json_t *entry, const char *key)
{
    return json_string_value(json_object_get(entry, key));
}

static enum pm_status bad_entry(struct reading *reading, size_t i, const char *what)
{
    return pm_error_set(reading->err, PM_ERR_FORMAT, "'%s' entry %zu: %s", reading->path, i + 1,
                        what);
}

/* One command for each source. */
static bool add_command(struct reading *reading, const struct choice *choice, const char *directory,
                        const char *file, const char *source)
{
    struct pdt_commands *commands = reading->commands;
    void *grown =
        pm_grow_array(commands->items, commands->n, &commands->cap, 64, sizeof *commands->items);
    const char **arguments = pm_arena_alloc(&commands->arena, (choice->n + 2u) * sizeof *arguments);
    if (grown)
        commands->items = grown;
    if (!grown || !arguments || !file)
        return false;
    memcpy(arguments, choice->words, choice->n * sizeof *arguments);
    arguments[choice->n] = source;
    commands->items[commands->n++] =
        (struct pdt_command){.directory = directory,
                             .file = file,
                             .arguments = arguments,
                             .n_arguments = choice->n + (source != NULL),
                             .is_cxx = choice->is_cxx || is_cxx_file(file),
                             .problem = choice->problem};
    return true;
}

static bool add_commands(struct reading *reading, const struct choice *choice,
                         const char *directory, const char *file)
{
    bool good = true;
    if (choice->n_sources == 0)
        return add_command(reading, choice, directory, file, NULL);
    if (choice->n_sources == 1 && !choice->has_moved)
        return add_command(reading, choice, directory, file, choice->sources[0]);
    for (uint32_t i = 0; good && i < choice->n_sources; i++)
        good = add_command(reading, choice, directory,
                           absolute(reading, directory, choice->sources[i]), choice->sources[i]);
    return good;
}

static bool read_words(struct pdt_words *words, const json_t *entry)
{
    const char *text = text_of(entry, "command");
    const json_t *list = json_object_get(entry, "arguments"), *item;
    bool good = true;
    size_t k;
    if (!json_is_array(list))
        return pdt_words_split(words, text, true);
    json_array_foreach(list, k, item) good =
        good && json_is_string(item) &&
        pdt_words_add(words, json_string_value(item), json_string_length(item));
    return good;
}

static bool read_command(struct reading *reading, struct pdt_words *words, const char *directory,
                         const char *file)
{
    struct choice choice = {0};
    const char *folder = directory, *path = absolute(reading, directory, file);
    bool good = path && find_compiler(reading, words, file, &folder) &&
                pdt_words_expand(words, folder, &choice.missing) &&
                choose_words(reading, words, &choice);
    choice.has_moved = folder != directory;
    return good && add_commands(reading, &choice, folder, path);
}

static enum pm_status read_entry(struct reading *reading, size_t i, const json_t *entry)
{
    const char *directory = text_of(entry, "directory"), *file = text_of(entry, "file");
    if (!directory || !file)
        return bad_entry(reading, i, "it has no \"directory\" or no \"file\"");
    if (!text_of(entry, "command") && !json_is_array(json_object_get(entry, "arguments")))
        return bad_entry(reading, i, "it has neither \"command\" nor \"arguments\"");
    if (is_foreign(reading->commands, file))
        return PM_OK;
    char here[4096] = "";
    struct pdt_words words = {.arena = &reading->commands->arena};
    bool good = *directory == '/' || getcwd(here, sizeof here);
    directory = good ? absolute(reading, here, directory) : NULL;
    good = directory && read_words(&words, entry) && words.n > 0 &&
           read_command(reading, &words, directory, file);
    free(words.items);
    return good ? PM_OK : bad_entry(reading, i, "its command cannot be read");
}

static enum pm_status read_entries(struct reading *reading, const json_t *all)
{
    const json_t *entry;
    size_t i;
    if (!json_is_array(all))
        return pm_error_set(reading->err, PM_ERR_FORMAT, "'%s' is not a list of commands",
                            reading->path);
    json_array_foreach(all, i, entry)
    {
        enum pm_status status = read_entry(reading, i, entry);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status read_text(struct reading *reading, const char *text, size_t len)
{
    json_error_t problem;
    json_t *all = json_loadb(text, len, JSON_REJECT_DUPLICATES, &problem);
    if (!all)
        return pm_error_set(reading->err, PM_ERR_FORMAT, "'%s' line %d: %s", reading->path,
                            problem.line, problem.text);
    enum pm_status status = read_entries(reading, all);
    json_decref(all);
    if (status != PM_OK || reading->commands->n > 0)
        return status;
    status =
        pm_error_set(reading->err, PM_ERR_FORMAT, "'%s' has no command of C or C++", reading->path);
    if (reading->commands->n_fortran)
        return pm_error_add(reading->err, "%s", PDT_FORTRAN_HINT);
    return status;
}

static enum pm_status not_there(const char *path, struct pm_error *err)
{
    pm_error_set(err, PM_ERR_NOT_FOUND, "there is no '%s'", path);
    return pm_error_add(err, "CMake writes it with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON and Meson "
                             "always; for make, run 'bear -- make'");
}

enum pm_status pdt_commands_read(const char *path, struct pm_error *err,
                                 struct pdt_commands *ret_commands)
{
    struct stat st;
    struct pm_buf name = PM_BUF_INIT(MAX_WORD_BYTES);
    bool is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    pm_buf_printf(&name, "%s%s", path, is_folder ? "/compile_commands.json" : "");
    struct reading reading = {.path = name.data, .commands = ret_commands, .err = err};
    char *text;
    size_t len;
    enum pm_status status = PM_ERR_MEMORY;
    if (!name.data || name.failed)
        pm_error_set(err, status, "out of memory");
    else if (access(name.data, F_OK) != 0 && errno == ENOENT)
        status = not_there(name.data, err);
    else
        status = pm_file_read_named(name.data, MAX_FILE_BYTES, err, &text, &len);
    if (status != PM_OK)
        goto out;
    status = read_text(&reading, text, len);
    free(text);
out:
    pm_buf_release(&name);
    return status;
}

void pdt_commands_release(struct pdt_commands *commands)
{
    free(commands->items);
    pm_arena_release(&commands->arena);
    *commands = (struct pdt_commands){0};
}
