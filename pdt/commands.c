#include "commands.h"

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

struct words {
    const char **items;
    uint32_t n, cap;
};

static enum pm_status no_memory(struct reading *reading)
{
    return pm_error_set(reading->err, PM_ERR_MEMORY, "out of memory for '%s'", reading->path);
}

static bool add_word(struct reading *reading, struct words *words, const char *p, size_t len)
{
    void *grown = pm_grow_array(words->items, words->n, &words->cap, 32, sizeof *words->items);
    const char *copy = pm_arena_strndup(&reading->commands->arena, p, len);
    if (grown)
        words->items = grown;
    if (grown && copy)
        words->items[words->n++] = copy;
    return grown && copy;
}

/* Words as a shell separates them: blanks, '...', "...", and backslashes. */
static bool split(struct reading *reading, const char *text, struct words *words)
{
    struct pm_buf word = PM_BUF_INIT(MAX_WORD_BYTES);
    bool good = true;
    while (good && *text) {
        bool in_word = false;
        char quote = 0;
        pm_buf_clear(&word);
        for (text += strspn(text, " \t\n\r"); *text; text++) {
            if (!quote && strchr(" \t\n\r", *text))
                break;
            in_word = true;
            if (*text == '\\' && quote != '\'' && text[1] && (!quote || strchr("\"\\$`", text[1])))
                pm_buf_add_byte(&word, (unsigned char)*++text);
            else if (!quote && (*text == '\'' || *text == '"'))
                quote = *text;
            else if (quote && *text == quote)
                quote = 0;
            else
                pm_buf_add_byte(&word, (unsigned char)*text);
        }
        if (in_word)
            good = !word.failed && add_word(reading, words, word.data ? word.data : "", word.len);
    }
    pm_buf_release(&word);
    return good;
}

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

static bool is_cxx_file(const char *file)
{
    static const char *const ends[] = {".cc", ".cpp", ".cxx", ".C", ".c++", ".CPP", ".cp", NULL};
    for (int i = 0; ends[i]; i++)
        if (pm_str_ends_with(file, ends[i]))
            return true;
    return false;
}

static const char *absolute(struct reading *reading, const char *folder, const char *name)
{
    struct pm_buf path = PM_BUF_INIT(MAX_WORD_BYTES);
    if (*name != '/')
        pm_buf_printf(&path, "%s/", folder);
    pm_buf_add_str(&path, name);
    const char *copy = path.data && !path.failed
                           ? pm_arena_strndup(&reading->commands->arena, path.data, path.len)
                           : NULL;
    pm_buf_release(&path);
    return copy;
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
static uint32_t n_of_launchers(const struct words *words)
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

/* The options that matter. Relative names of files are meant from the command's folder. */
static bool choose_words(struct reading *reading, const struct words *words,
                         struct pdt_command *command)
{
    uint32_t n = 0, skip = 0, begin = n_of_launchers(words);
    const char **chosen =
        pm_arena_alloc(&reading->commands->arena, (words->n + 4u) * sizeof *chosen);
    if (!chosen)
        return false;
    for (uint32_t i = begin; i < words->n; i++) {
        if (skip > 0 || (i > begin && (skip = left_out(words->items[i])) > 0)) {
            skip--;
            continue;
        }
        chosen[n++] = replaced(words->items[i]);
        if (i == begin)
            chosen[n++] = "-Wno-everything";
    }
    command->arguments = chosen;
    command->n_arguments = n;
    const char *compiler = begin < words->n ? last_part(words->items[begin]) : "";
    command->is_cxx = is_cxx_file(command->file) || strstr(compiler, "++") != NULL;
    return n > 0;
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

static bool is_foreign(const char *file)
{
    static const char *const ends[] = {".f",   ".F",  ".f90", ".F90", ".f95", ".f03",
                                       ".f08", ".s",  ".S",   ".asm", ".m",   ".mm",
                                       ".cu",  ".rs", ".go",  ".rc",  ".d",   NULL};
    for (int i = 0; ends[i]; i++)
        if (pm_str_ends_with(file, ends[i]))
            return true;
    return false;
}

static enum pm_status read_entry(struct reading *reading, size_t i, const json_t *entry)
{
    struct pdt_commands *commands = reading->commands;
    const char *directory = text_of(entry, "directory"), *file = text_of(entry, "file");
    const char *text = text_of(entry, "command");
    const json_t *list = json_object_get(entry, "arguments"), *item;
    if (!directory || !file)
        return bad_entry(reading, i, "it has no \"directory\" or no \"file\"");
    if (!text && !json_is_array(list))
        return bad_entry(reading, i, "it has neither \"command\" nor \"arguments\"");
    if (is_foreign(file)) {
        commands->n_foreign++;
        return PM_OK;
    }
    struct pdt_command *command = &commands->items[commands->n];
    struct words words = {0};
    bool good = true;
    size_t k;
    if (json_is_array(list)) {
        json_array_foreach(list, k, item) good =
            good && json_is_string(item) &&
            add_word(reading, &words, json_string_value(item), json_string_length(item));
    } else {
        good = split(reading, text, &words);
    }
    char here[4096];
    if (*directory != '/' && !getcwd(here, sizeof here))
        good = false;
    command->directory = absolute(reading, here, directory);
    command->file = command->directory ? absolute(reading, command->directory, file) : NULL;
    good = good && command->file && words.n > 0 && choose_words(reading, &words, command);
    free(words.items);
    if (!good)
        return bad_entry(reading, i, "its command cannot be read");
    commands->n++;
    return PM_OK;
}

static enum pm_status read_entries(struct reading *reading, const json_t *all)
{
    const json_t *entry;
    size_t i;
    if (!json_is_array(all))
        return pm_error_set(reading->err, PM_ERR_FORMAT, "'%s' is not a list of commands",
                            reading->path);
    reading->commands->items =
        pm_alloc_array(json_array_size(all) + 1, sizeof *reading->commands->items);
    if (!reading->commands->items)
        return no_memory(reading);
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
    return pm_error_set(reading->err, PM_ERR_FORMAT, "'%s' has no command of C or C++",
                        reading->path);
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
