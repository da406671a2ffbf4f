/* perfmap wrap */
#include "wrap.h"

#include "cmd/core/cmd.h"
#include "cmd/core/command.h"
#include "cmd/core/paths.h"

#include "pdt/wrap.h"

#include <limits.h>
#include <unistd.h>

enum { OPT_LEVEL = CMD_KEY_FIRST, OPT_LIBRARY, OPT_ANNOTATIONS, OPT_LINK, OPT_CXX, OPT_FIRST };
enum { MAX_ANNOTATIONS_BYTES = 1 << 22 };
enum { MAX_FLAGS = 200, MAX_FIRSTS = 32 };

struct wrap_request {
    const char *output, *level, *header, *library_name, *annotations;
    const char *flags[MAX_FLAGS]; /* -I and -D with their values */
    size_t n_flags;
    char *firsts[MAX_FIRSTS]; /* owned, as include: of headers before it */
    size_t n_firsts;
    bool is_link, is_cxx;
    char *include; /* owned: <zlib.h> or "/home/me/mine.h" */
    char own_level[80];
    struct wrap_library library;
};

/* --- what is made --- */

static bool is_pif(const struct wrap_request *request)
{
    return request->output && pm_str_ends_with(request->output, ".pif");
}

/* Of the names of what is compiled at once. */
static const char *end_of_made(const struct wrap_request *request)
{
    return request->is_link ? ".o" : ".so";
}

static enum pm_status compile(const struct wrap_request *request, const struct pm_buf *text,
                              struct pm_error *err)
{
    const char *argv[MAX_FLAGS + 20];
    size_t n = 0;
    char *include = NULL;
    enum pm_status status = cmd_find_include(err, &include);
    if (status != PM_OK)
        return status;
    const char *const first[] = {
        "cc", "-O2", request->is_link ? "-c" : "-shared", "-fPIC", "-fexceptions", "-I", include};
    const char *const last[] = {"-x", "c", "-", "-o", request->output, NULL};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        argv[n++] = first[i];
    for (size_t i = 0; i < request->n_flags; i++)
        argv[n++] = request->flags[i];
    memcpy(argv + n, last, sizeof last);
    const struct cmd_command command = {.argv = argv, .input = {text->data, text->len}};
    int end = cmd_command_run(&command, err);
    if (end < 0)
        status = pm_error_add(err,
                              "cannot make '%s' (a name that does not end in %s gets the C "
                              "source)",
                              request->output, end_of_made(request));
    else if (end != 0)
        status = pm_error_set(err, PM_ERR_FORMAT,
                              "'%s' did not make '%s': see its messages above (a name that does "
                              "not end in %s gets the C source)",
                              argv[0], request->output, end_of_made(request));
    free(include);
    return status;
}

static enum pm_status put_out(const struct wrap_request *request, const struct pm_buf *text,
                              struct pm_error *err)
{
    if (!request->output) {
        fwrite(text->data, 1, text->len, stdout);
        return PM_OK;
    }
    if (pm_str_ends_with(request->output, end_of_made(request)))
        return compile(request, text, err);
    return pm_file_write(request->output, text->data, text->len, err);
}

/* --- the command --- */

static void tell(void *context, const char *text)
{
    (void)context;
    cmd_talk("note: %s", text);
}

/* A file, or ready ones by name: the library's when the header is a system's. NULL: none. */
static char *annotations_path(const struct wrap_request *request)
{
    const char *named = request->annotations;
    if (named && !strcmp(named, "none"))
        return NULL;
    if (named && (strchr(named, '/') || access(named, R_OK) == 0))
        return pm_strndup(named, strlen(named));
    if (named || (request->include && *request->include == '<'))
        return cmd_find_annotations(named ? named : request->own_level);
    return NULL;
}

static enum pm_status read_annotations(const struct wrap_request *request, struct pm_error *err,
                                       struct pdt_roles **ret_roles)
{
    char *path = annotations_path(request), *text;
    size_t len;
    *ret_roles = NULL;
    if (!path && request->annotations && strcmp(request->annotations, "none") != 0)
        return pm_error_set(err, PM_ERR_NOT_FOUND,
                            "option '--annotations': there is no file and there are no ready "
                            "annotations '%s'",
                            request->annotations);
    if (!path)
        return PM_OK;
    enum pm_status status = pm_file_read_named(path, MAX_ANNOTATIONS_BYTES, err, &text, &len);
    if (status != PM_OK) {
        free(path);
        return status;
    }
    status = pdt_roles_read((struct pm_str){text, len}, path, err, ret_roles);
    free(text);
    free(path);
    return status;
}

static bool is_exported(void *context, const char *symbol)
{
    const struct wrap_request *request = context;
    return wrap_library_has(&request->library, symbol);
}

/* libclang leaves out the folder of the compiler's own headers, as omp.h. Empty: there is none. */
static void find_headers_of_cc(char *folder, size_t size)
{
    static const char *const argv[] = {"cc", "-print-file-name=include", NULL};
    struct pm_buf output = PM_BUF_INIT(1 << 16);
    const struct cmd_command command = {.argv = argv, .output = &output, .timeout_ms = 60000};
    *folder = 0;
    if (cmd_command_run(&command, NULL) == 0 && output.data && *output.data == '/')
        snprintf(folder, size, "%.*s", (int)strcspn(output.data, "\n"), output.data);
    pm_buf_release(&output);
}

/* The compiler's own headers come last: libclang has its own stddef.h. */
static enum pm_status read_header(const struct wrap_request *request, struct pm_error *err,
                                  struct pdt_header **ret_header)
{
    const char *flags[MAX_FLAGS + 2];
    char folder[PATH_MAX];
    struct pdt_header_request header = {.include = request->include,
                                        .firsts = (const char *const *)request->firsts,
                                        .n_firsts = request->n_firsts,
                                        .flags = flags,
                                        .n_flags = request->n_flags};
    if (request->n_flags)
        memcpy(flags, request->flags, request->n_flags * sizeof *flags);
    find_headers_of_cc(folder, sizeof folder);
    if (*folder) {
        flags[header.n_flags++] = "-idirafter";
        flags[header.n_flags++] = folder;
    }
    return pdt_header_read(&header, err, ret_header);
}

static enum pm_status write_text(struct wrap_request *request, struct pdt_wrap *wrap,
                                 struct pm_error *err)
{
    struct pdt_header *header;
    enum pm_status status = PM_OK;
    if (request->library_name) {
        status = wrap_library_open(request->library_name, err, &request->library);
        wrap->is_exported = is_exported;
    }
    if (status != PM_OK)
        return status;
    if (request->is_cxx)
        status = wrap_library_cxx(&request->library, err, &header);
    else
        status = read_header(request, err, &header);
    if (status != PM_OK)
        return status;
    wrap->library = request->library.path;
    status = (is_pif(request) ? pdt_wrap_make_pif : pdt_wrap_make)(header, wrap, err);
    pdt_header_free(header);
    return status;
}

static enum pm_status make(struct wrap_request *request, struct pdt_wrap *wrap,
                           struct pm_error *err)
{
    struct pdt_roles *roles;
    enum pm_status status = read_annotations(request, err, &roles);
    if (status != PM_OK)
        return status;
    wrap->roles = roles;
    status = write_text(request, wrap, err);
    pdt_roles_free(roles);
    if (status != PM_OK)
        return status;
    return put_out(request, wrap->out, err);
}

static int run(struct cmd_parse *parse, struct wrap_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_buf text = PM_BUF_INIT((size_t)1 << 30), options = PM_BUF_INIT((size_t)1 << 30);
    struct pdt_wrap wrap = {.include = request->include,
                            .level = request->level,
                            .patterns = (const char *const *)parse->operands + !request->is_cxx,
                            .n_patterns = (size_t)parse->n_operands - !request->is_cxx,
                            .note = tell,
                            .context = request,
                            .is_link = request->is_link,
                            .out = &text,
                            .options = &options};
    enum pm_status status = make(request, &wrap, &err);
    if (!err.n_causes && options.len)
        fwrite(options.data, 1, options.len, stdout);
    pm_buf_release(&text);
    pm_buf_release(&options);
    if (status != PM_OK)
        return cmd_fail(parse, &err);
    if (wrap.n_not_exported)
        cmd_talk("note: left out: %u function%s of the header that '%s' does not export",
                 wrap.n_not_exported, wrap.n_not_exported == 1 ? "" : "s", request->library.path);
    if (request->is_cxx)
        cmd_talk("note: counted only: functions of C++, whose types a library does not say: their "
                 "time is that of their callers");
    const char *done = is_pif(request) ? "mapped" : "wrapped";
    cmd_talk("%u function%s %s, as level %s", wrap.n_wrapped, wrap.n_wrapped == 1 ? "" : "s", done,
             request->level);
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

/* A file that is there is meant, else what the compiler finds. NULL: memory. */
static char *include_of(const char *header)
{
    char path[PATH_MAX];
    struct pm_buf include = PM_BUF_INIT(2 * PATH_MAX);
    if (access(header, R_OK) == 0 && realpath(header, path))
        pm_buf_printf(&include, "\"%s\"", path);
    else
        pm_buf_printf(&include, "<%s>", header);
    return pm_buf_take(&include);
}

static bool is_header_name(const char *header)
{
    return *header && !strpbrk(header, "<>\"\n\\");
}

static bool add_first(struct cmd_parse *parse, struct wrap_request *request)
{
    const char *wrong = NULL;
    if (!is_header_name(parse->value))
        wrong = "expected a header, as stdio.h";
    else if (request->n_firsts == MAX_FIRSTS)
        wrong = "too many";
    if (wrong) {
        (void)cmd_usage_error(parse, "option '--%s': %s", parse->option, wrong);
        return false;
    }
    char *include = include_of(parse->value);
    if (include)
        request->firsts[request->n_firsts++] = include;
    return include != NULL;
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
    case OPT_ANNOTATIONS:
        request->annotations = parse->value;
        return true;
    case OPT_CXX:
        request->is_cxx = true;
        return true;
    case OPT_LINK:
        request->is_link = true;
        return true;
    case OPT_LIBRARY:
        request->library_name = parse->value;
        return true;
    case OPT_FIRST:
        return add_first(parse, request);
    case 'I':
        return add_flag(parse, request, "-I");
    default:
        return add_flag(parse, request, "-D");
    }
}

/* The level is the file's name. */
static bool name_header(struct wrap_request *request)
{
    const char *header = request->header, *slash = strrchr(header, '/');
    const char *base = slash ? slash + 1 : header;
    snprintf(request->own_level, sizeof request->own_level, "%.*s", (int)strcspn(base, "."), base);
    if (!request->level)
        request->level = request->own_level;
    request->include = include_of(header);
    return request->include != NULL;
}

/* libfoo.so.1 gives the level foo. */
static void name_library(struct wrap_request *request)
{
    const char *slash = strrchr(request->library_name, '/');
    const char *base = slash ? slash + 1 : request->library_name;
    base += strncmp(base, "lib", 3) ? 0 : 3;
    snprintf(request->own_level, sizeof request->own_level, "%.*s", (int)strcspn(base, "."), base);
    if (!request->level)
        request->level = request->own_level;
}

/* 0: all is there. */
static int check_usage(struct cmd_parse *parse, const struct wrap_request *request)
{
    const char *header = parse->n_operands ? parse->operands[0] : "";
    if (request->is_cxx && !request->library_name)
        return cmd_usage_error(parse, "option '--cxx': name the library by --library");
    if (is_pif(request) && (request->is_cxx || request->is_link))
        return cmd_usage_error(parse,
                               "a PIF file is made of a header of C, without --cxx or --link");
    if (request->is_cxx && request->annotations)
        return cmd_usage_error(parse, "option '--annotations': of C++ no arguments are known");
    if (!request->is_cxx && !is_header_name(header))
        return cmd_usage_error(parse, "expected a header of C, as zlib.h");
    if (request->is_link && (!request->output || pm_str_ends_with(request->output, ".so")))
        return cmd_usage_error(parse, "option '--link': name an object or a C source by -o");
    if (request->level && !*request->level)
        return cmd_usage_error(parse, "option '--level': the name is empty");
    return 0;
}

static int wrap_main(struct cmd_parse *parse)
{
    struct wrap_request request = {0};
    for (int key; (key = cmd_next(parse)) != CMD_END;)
        parse->failed |= !take_option(parse, &request, key);
    if (parse->failed)
        return CMD_USAGE;
    int status = check_usage(parse, &request);
    if (status)
        return status;
    request.header = request.is_cxx ? NULL : parse->operands[0];
    if (request.is_cxx)
        name_library(&request);
    status = request.is_cxx || name_header(&request) ? run(parse, &request) : CMD_FAILED;
    for (size_t i = 0; i < request.n_firsts; i++)
        free(request.firsts[i]);
    free(request.include);
    wrap_library_release(&request.library);
    return status;
}

static const struct cmd_option wrap_options[] = {
    {'o', "output", "FILE",
     "write to this file instead of standard output: a library, made with cc, if the name ends in "
     ".so; a PIF file of mappings if it ends in .pif, for a program with sleds that has the "
     "library "
     "built in; else the source"},
    {OPT_LIBRARY, "library", "NAME",
     "wrap only what this library exports: libz.so.1, found as the dynamic loader finds it, or a "
     "path"},
    {OPT_CXX, "cxx", NULL,
     "without a header: count the calls of the library's functions of C++ whose names fit the "
     "patterns, as 'ns::*'"},
    {OPT_LINK, "link", NULL,
     "for programs that have the library built in: an object for the linker's --wrap, whose "
     "options are printed; -o NAME.o makes it with cc"},
    {OPT_ANNOTATIONS, "annotations", "FILE",
     "what arguments are: bytes in and out, handles, counts; a file, the name of ready ones "
     "(zlib, sqlite3, png), or none. Otherwise ready ones of the header's name"},
    {OPT_LEVEL, "level", "NAME", "name of the level; otherwise the header's, as zlib"},
    {OPT_FIRST, "include-first", "HEADER",
     "a header that is included before it, for one that does not compile alone, as stdio.h before "
     "jpeglib.h; several times"},
    {'I', "include", "FOLDER", "where to look for headers, as for the compiler; several times"},
    {'D', "define", "NAME=VALUE", "a macro, as for the compiler; several times"},
    {0}};

static const struct cmd_example wrap_examples[] = {
    {"perfmap wrap zlib.h --library libz.so.1 -o zlib-words.so",
     "all functions of zlib that are in the library, as an adapter"},
    {"perfmap run --adapter ./zlib-words.so ./app", "with the words of zlib"},
    {"perfmap wrap zlib.h -o zlib-words.c", "its source, to change it"},
    {"cc -O2 -shared -fPIC $(pkg-config --cflags perfmap) zlib-words.c -o zlib-words.so",
     "as a library"},
    {"perfmap wrap sqlite3.h -o sqlite3.pif",
     "for a program built with sqlite3.c: perfmap collect --pif sqlite3.pif"},
    {"perfmap wrap --library libre2.so.9 --cxx 're2::RE2::*' -o re2-words.so",
     "calls of a C++ library's functions, by their names without parameters"},
    {"perfmap wrap zlib.h --link --library ./libz.a -o words.o >words.opt",
     "for a program that is linked with libz.a: cc app.o words.o @words.opt libz.a"},
    {"perfmap wrap sqlite3.h 'sqlite3_step' 'sqlite3_bind_*'", "some functions only"},
    {"perfmap wrap --include-first ft2build.h -I /usr/include/freetype2 freetype/freetype.h",
     "a header that needs another one before it"},
    {NULL, NULL}};

static const char *const wrap_environment[] = {
    "PERFMAP_LIBCLANG",
    "the libclang that reads the header; otherwise the newest that is installed", NULL};

const struct cmd cmd_wrap = {
    .name = "wrap",
    .summary = "make an adapter for a C library from its header",
    .usage = (const char *const[]){"wrap [-o FILE] [--library NAME] [--link] [--annotations FILE] "
                                   "[--level NAME] [--include-first HEADER] [-I FOLDER] "
                                   "[-D NAME=VALUE] HEADER [PATTERN...]",
                                   "wrap --cxx --library NAME [-o FILE] [--level NAME] "
                                   "[PATTERN...]",
                                   NULL},
    .description =
        "Makes a library with a wrapper for each function that the header declares, or its C "
        "source. Preloaded by 'perfmap run --adapter', it reports with perfmap.h which of them "
        "run: "
        "{deflate Executes}, at a level of its own. Programs and the library stay as they are. "
        "Patterns name the functions "
        "that are wrapped; without any all are.\n\n"
        "Functions with any number of parameters (gzprintf) call the one that takes them as a list "
        "(gzvprintf). Where there is none, and where a type cannot be written, calls are counted, "
        "but their time is not seen. Left out, each with a note, are functions that do not return, "
        "return twice, as setjmp, are called by another convention (ms_abi), take vectors of more "
        "than 16 bytes, or look at who calls them, as dlsym.\n\n"
        "Of the headers that the header includes, those that are parts of it are wrapped, too: "
        "lzma/base.h of lzma.h, mpi_proto.h of mpi.h, all of its folder with curl/curl.h, libc's "
        "bits/mathcalls.h of math.h. Of one that declares nothing itself, as poll.h, what it "
        "includes is wrapped. A name that is a file is this file; others are found as the "
        "compiler finds them. If a header does not compile alone, stdio.h, stddef.h, stdint.h, "
        "stdarg.h, stdbool.h and setjmp.h are included before it.",
    .options = wrap_options,
    .examples = wrap_examples,
    .environment = wrap_environment,
    .main = wrap_main};
