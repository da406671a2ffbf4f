/* perfmap wrap */
#include "cmd/core/cmd.h"
#include "cmd/core/paths.h"

#include "pdt/wrap.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPT_LEVEL = CMD_KEY_FIRST };
enum { MAX_FLAGS = 200 };

struct wrap_request {
    const char *output, *level, *header;
    const char *flags[MAX_FLAGS]; /* -I and -D with their values */
    size_t n_flags;
    char *include; /* owned: <zlib.h> or "/home/me/mine.h" */
    char own_level[80];
    char *problem; /* owned: what libclang said first */
};

/* --- the unit that includes the header, in a folder of its own --- */

enum { UNIT, COMMANDS, DATABASE, SOURCE, N_FILES };
static const char *const file_names[N_FILES] = {"unit.c", "compile_commands.json", "unit.pdb",
                                                "words.c"};

struct folder {
    char path[256];
    char files[N_FILES][300];
};

static enum pm_status make_folder(struct pm_error *err, struct folder *ret_folder)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(ret_folder->path, sizeof ret_folder->path, "%.200s/perfmap-wrap-XXXXXX",
             tmp && *tmp == '/' ? tmp : "/tmp");
    if (!mkdtemp(ret_folder->path))
        return pm_error_system(err, errno, "cannot make a folder '%s'", ret_folder->path);
    for (int i = 0; i < N_FILES; i++)
        snprintf(ret_folder->files[i], sizeof ret_folder->files[i], "%s/%s", ret_folder->path,
                 file_names[i]);
    return PM_OK;
}

static void remove_folder(const struct folder *folder)
{
    for (int i = 0; i < N_FILES; i++)
        unlink(folder->files[i]);
    rmdir(folder->path);
}

static void add_json(struct pm_buf *out, const char *text)
{
    pm_buf_add_byte(out, '"');
    for (; *text; text++)
        if (strchr("\"\\", *text) || (unsigned char)*text < ' ')
            pm_buf_printf(out, "\\u%04x", (unsigned char)*text);
        else
            pm_buf_add_byte(out, (unsigned char)*text);
    pm_buf_add_byte(out, '"');
}

/* Headers of the system count as the program's own where their names begin with the header's. */
static void add_commands(const struct wrap_request *request, const struct folder *folder,
                         const char *here, struct pm_buf *out)
{
    struct pm_buf own = PM_BUF_INIT(1 << 16);
    pm_buf_printf(&own, "--no-system-header-prefix=%.*s", (int)strlen(request->include) - 2,
                  request->include + 1);
    pm_buf_add_str(out, "[{\"directory\": ");
    add_json(out, here);
    pm_buf_add_str(out, ", \"file\": ");
    add_json(out, folder->files[UNIT]);
    pm_buf_add_str(out, ", \"arguments\": [\"cc\", ");
    add_json(out, own.data ? own.data : "");
    for (size_t i = 0; i < request->n_flags; i++) {
        pm_buf_add_str(out, ", ");
        add_json(out, request->flags[i]);
    }
    pm_buf_add_str(out, ", \"-c\", ");
    add_json(out, folder->files[UNIT]);
    pm_buf_add_str(out, "]}]\n");
    out->failed |= own.failed;
    pm_buf_release(&own);
}

static enum pm_status write_unit(const struct wrap_request *request, const struct folder *folder,
                                 struct pm_error *err)
{
    struct pm_buf unit = PM_BUF_INIT(1 << 16), commands = PM_BUF_INIT(1 << 20);
    char *here = getcwd(NULL, 0);
    pm_buf_printf(&unit, "#include %s\n", request->include);
    add_commands(request, folder, here ? here : "/", &commands);
    enum pm_status status = PM_OK;
    if (unit.failed || commands.failed)
        status = pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (status != PM_OK)
        goto out;
    status = pm_file_write_unsynced(folder->files[UNIT], unit.data, unit.len, err);
    if (status != PM_OK)
        goto out;
    status = pm_file_write_unsynced(folder->files[COMMANDS], commands.data, commands.len, err);
out:
    free(here);
    pm_buf_release(&unit);
    pm_buf_release(&commands);
    return status;
}

/* "'unit.c' does not compile, ...: unit.c:1: what is wrong": without the file that nobody wrote. */
static void keep_problem(void *context, const char *text)
{
    struct wrap_request *request = context;
    const char *place = strstr(text, " is kept: ");
    text = place ? place + strlen(" is kept: ") : text;
    const char *unit = strstr(text, "/unit.c:");
    const char *what = unit ? strstr(unit, ": ") : NULL;
    text = what ? what + 2 : text;
    if (!request->problem)
        request->problem = pm_strndup(text, strlen(text));
}

static enum pm_status read_header(struct wrap_request *request, const struct folder *folder,
                                  struct pm_error *err)
{
    struct pdt_build build = {.commands = folder->files[COMMANDS],
                              .output = folder->files[DATABASE],
                              .n_threads = 1,
                              .note = keep_problem,
                              .context = request};
    enum pm_status status = write_unit(request, folder, err);
    if (status != PM_OK)
        return status;
    status = pdt_build(&build, err);
    if (status != PM_OK)
        return status;
    if (build.n_with_errors || build.n_failed)
        return pm_error_set(err, PM_ERR_FORMAT,
                            "%s does not compile as C: %s / -I and -D say where its own headers "
                            "are and what it needs",
                            request->include, request->problem ? request->problem : "no reason");
    return PM_OK;
}

/* --- the library --- */

static bool is_library(const char *name)
{
    size_t len = name ? strlen(name) : 0;
    return len > 3 && !strcmp(name + len - 3, ".so");
}

static enum pm_status run_compiler(const char *const *argv, const char *output,
                                   struct pm_error *err)
{
    extern char **environ;
    pid_t child;
    int failed = posix_spawnp(&child, argv[0], NULL, NULL, (char *const *)argv, environ), state;
    if (failed)
        return pm_error_system(err, failed,
                               "cannot start '%s', which makes '%s' (a name that does not end in "
                               ".so gets the C source)",
                               argv[0], output);
    while (waitpid(child, &state, 0) < 0)
        if (errno != EINTR)
            return pm_error_system(err, errno, "cannot wait for '%s'", argv[0]);
    if (state != 0)
        return pm_error_set(err, PM_ERR_FORMAT,
                            "'%s' did not make '%s': see its messages above (a name that does not "
                            "end in .so gets the C source)",
                            argv[0], output);
    return PM_OK;
}

static enum pm_status compile(const struct wrap_request *request, const struct folder *folder,
                              struct pm_error *err)
{
    const char *argv[MAX_FLAGS + 16];
    size_t n = 0;
    char *include = NULL;
    enum pm_status status = cmd_find_include(err, &include);
    if (status != PM_OK)
        return status;
    const char *const first[] = {"cc", "-O2", "-shared", "-fPIC", "-fexceptions", "-I", include};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        argv[n++] = first[i];
    for (size_t i = 0; i < request->n_flags; i++)
        argv[n++] = request->flags[i];
    argv[n++] = folder->files[SOURCE];
    argv[n++] = "-o";
    argv[n++] = request->output;
    argv[n] = NULL;
    status = run_compiler(argv, request->output, err);
    free(include);
    return status;
}

static enum pm_status put_out(const struct wrap_request *request, const struct folder *folder,
                              const struct pm_buf *text, struct pm_error *err)
{
    if (!request->output) {
        fwrite(text->data, 1, text->len, stdout);
        return PM_OK;
    }
    if (!is_library(request->output))
        return pm_file_write(request->output, text->data, text->len, err);
    enum pm_status status =
        pm_file_write_unsynced(folder->files[SOURCE], text->data, text->len, err);
    return status == PM_OK ? compile(request, folder, err) : status;
}

/* --- the command --- */

static void tell(void *context, const char *text)
{
    (void)context;
    cmd_talk("note: left out: %s", text);
}

static enum pm_status make(struct wrap_request *request, const struct folder *folder,
                           struct pdt_wrap *wrap, struct pm_error *err)
{
    struct pm_database *pdb;
    enum pm_status status = read_header(request, folder, err);
    if (status != PM_OK)
        return status;
    status = pdt_open(folder->files[DATABASE], err, &pdb);
    if (status != PM_OK)
        return status;
    status = pdt_wrap_make(pdb, wrap, err);
    pm_database_close(pdb);
    if (status != PM_OK)
        return status;
    return put_out(request, folder, wrap->out, err);
}

static int run(struct cmd_parse *parse, struct wrap_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_buf text = PM_BUF_INIT((size_t)1 << 30);
    struct folder folder;
    struct pdt_wrap wrap = {.header = request->include,
                            .level = request->level,
                            .patterns = (const char *const *)parse->operands + 1,
                            .n_patterns = (size_t)parse->n_operands - 1,
                            .note = tell,
                            .out = &text};
    enum pm_status status = make_folder(&err, &folder);
    if (status != PM_OK)
        return cmd_fail(parse, &err);
    status = make(request, &folder, &wrap, &err);
    remove_folder(&folder);
    pm_buf_release(&text);
    if (status != PM_OK)
        return cmd_fail(parse, &err);
    cmd_talk("%u functions wrapped, as level %s", wrap.n_wrapped, request->level);
    return cmd_stdout_done(parse, CMD_DONE);
}

static bool add_flag(struct cmd_parse *parse, struct wrap_request *request, const char *letter)
{
    if (request->n_flags + 2 > MAX_FLAGS) {
        (void)cmd_usage_error(parse, "option '--%s': too many", parse->option);
        return false;
    }
    request->flags[request->n_flags++] = letter;
    request->flags[request->n_flags++] = parse->value;
    return true;
}

static bool take_option(struct cmd_parse *parse, struct wrap_request *request, int key)
{
    switch (key) {
    case 'o':
        request->output = parse->value;
        return true;
    case OPT_LEVEL:
        request->level = parse->value;
        return true;
    case 'I':
        return add_flag(parse, request, "-I");
    default:
        return add_flag(parse, request, "-D");
    }
}

/* A file that is there is meant, else what the compiler finds. The level is the file's name. */
static bool name_header(struct wrap_request *request)
{
    char path[PATH_MAX];
    struct pm_buf include = PM_BUF_INIT(2 * PATH_MAX);
    const char *header = request->header, *slash = strrchr(header, '/');
    const char *base = slash ? slash + 1 : header;
    snprintf(request->own_level, sizeof request->own_level, "%.*s", (int)strcspn(base, "."), base);
    if (!request->level)
        request->level = request->own_level;
    if (access(header, R_OK) == 0 && realpath(header, path))
        pm_buf_printf(&include, "\"%s\"", path);
    else
        pm_buf_printf(&include, "<%s>", header);
    request->include = pm_buf_take(&include);
    return request->include != NULL;
}

static int wrap_main(struct cmd_parse *parse)
{
    struct wrap_request request = {0};
    for (int key; (key = cmd_next(parse)) != CMD_END;)
        parse->failed |= !take_option(parse, &request, key);
    if (parse->failed)
        return CMD_USAGE;
    if (!parse->n_operands || !*parse->operands[0] || strpbrk(parse->operands[0], "<>\"\n\\"))
        return cmd_usage_error(parse, "expected a header of C, as zlib.h");
    request.header = parse->operands[0];
    if (request.level && !*request.level)
        return cmd_usage_error(parse, "option '--level': the name is empty");
    int status = name_header(&request) ? run(parse, &request) : CMD_FAILED;
    free(request.include);
    free(request.problem);
    return status;
}

static const struct cmd_option wrap_options[] = {
    {'o', "output", "FILE",
     "write to this file instead of standard output: a library, made with cc, if the name ends in "
     ".so, else the source"},
    {OPT_LEVEL, "level", "NAME", "name of the level; otherwise the header's, as zlib"},
    {'I', "include", "FOLDER", "where to look for headers, as for the compiler; several times"},
    {'D', "define", "NAME=VALUE", "a macro, as for the compiler; several times"},
    {0}};

static const struct cmd_example wrap_examples[] = {
    {"perfmap wrap zlib.h -o zlib-words.so", "all functions of zlib, as an adapter"},
    {"perfmap run --adapter ./zlib-words.so ./app", "with the words of zlib"},
    {"perfmap wrap zlib.h -o zlib-words.c", "its source, to change it"},
    {"cc -O2 -shared -fPIC $(pkg-config --cflags perfmap) zlib-words.c -o zlib-words.so",
     "as a library"},
    {"perfmap wrap sqlite3.h 'sqlite3_step' 'sqlite3_bind_*'", "some functions only"},
    {NULL, NULL}};

static const char *const wrap_environment[] = {
    "PERFMAP_LIBCLANG",
    "the libclang that reads the header; otherwise the newest that is installed", NULL};

const struct cmd cmd_wrap = {
    .name = "wrap",
    .summary = "make an adapter for a C library from its header",
    .usage = (const char *const[]){"wrap [-o FILE] [--level NAME] [-I FOLDER] [-D NAME=VALUE] "
                                   "HEADER [PATTERN...]",
                                   NULL},
    .description =
        "Makes a library with a wrapper for each function that the header declares, or its C "
        "source. Preloaded by 'perfmap run --adapter', it reports with perfmap.h which of them "
        "run: "
        "{deflate Executes}, at a level of its own. Programs and the library stay as they are. "
        "Patterns name the functions "
        "that are wrapped; without any all are.\n\n"
        "Left out, each with a note, are functions with any number of parameters, and those whose "
        "types cannot be written. Of the headers that the header includes, only those in a folder "
        "of its name beside it are wrapped, as lzma/base.h of lzma.h. A name that is a file is "
        "this "
        "file; others are found as the compiler finds them.",
    .options = wrap_options,
    .examples = wrap_examples,
    .environment = wrap_environment,
    .main = wrap_main};
