/* perfmap import: profiles and traces of other tools */
#include "cmd/core/cmd.h"
#include "cmd/session/output.h"

#include "mapping/collect/collect.h"
#include "mapping/import/import.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>

enum { OPT_FORMAT = CMD_KEY_FIRST, OPT_UNIT, OPT_EXE, OPT_PIF };

struct import_request {
    const char *output, *format, *unit, *exe;
    const char **pif_paths; /* owned array of lent strings */
    size_t n_pif_paths;
    char **files;
    size_t n_files;
};

/* perf.data gives perf.data.perfmap: the profile's own name stays. NULL: memory. */
static char *default_output(const char *file)
{
    struct pm_buf name = PM_BUF_INIT(4 * PATH_MAX);
    size_t len = strlen(file);
    while (len > 1 && file[len - 1] == '/')
        len--;
    pm_buf_add(&name, file, len);
    pm_buf_add_str(&name, ".perfmap");
    return pm_buf_take(&name);
}

static int import_all(struct cmd_parse *parse, const struct import_request *request,
                      const char *output)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_collect_result result = {0};
    struct pm_collect_options options = {
        .size = sizeof options,
        .pif_paths = request->pif_paths,
        .n_pif_paths = request->n_pif_paths,
        .profile_paths = (const char *const *)request->files,
        .n_profile_paths = request->n_files,
        .profile_format = request->format,
        .profile_unit = request->unit,
        .profile_exe = request->exe,
    };
    (void)signal(SIGXFSZ, SIG_IGN); /* a limit is an error of the archive */
    if (session_check_archive_place(output, &err) != PM_OK ||
        pm_collect(NULL, 0, output, &options, &err, &result) != PM_OK)
        return cmd_fail(parse, &err);
    for (size_t i = 0; i < result.n_warnings; i++)
        cmd_talk("warning: %s", result.warnings[i]);
    char *quoted = cmd_shell_quote_file(output);
    const char *name = quoted ? quoted : output;
    cmd_talk("wrote %s: threads: %zu, contexts: %zu; try: perfmap report %s", name,
             result.n_threads, result.n_contexts, name);
    free(quoted);
    pm_collect_result_release(&result);
    return CMD_DONE;
}

static int import_main(struct cmd_parse *parse)
{
    struct import_request request = {
        .pif_paths = pm_alloc_array((size_t)parse->argc, sizeof *request.pif_paths)};
    int end = CMD_USAGE;
    for (int key; (key = cmd_next(parse)) != CMD_END;)
        if (key == 'o')
            request.output = parse->value;
        else if (key == OPT_FORMAT)
            request.format = parse->value;
        else if (key == OPT_UNIT)
            request.unit = parse->value;
        else if (key == OPT_EXE)
            request.exe = parse->value;
        else if (key == OPT_PIF && request.pif_paths)
            request.pif_paths[request.n_pif_paths++] = parse->value;
    if (parse->failed)
        goto out;
    request.files = parse->operands;
    request.n_files = (size_t)parse->n_operands;
    if (request.n_files == 0) {
        end = cmd_usage_error(parse, "expected a profile or trace of another tool");
        goto out;
    }
    if (request.n_files > 1 && !request.output) {
        end = cmd_usage_error(parse, "option '--output' is needed with more than one file");
        goto out;
    }
    char *made = request.output ? NULL : default_output(request.files[0]);
    const char *output = request.output ? request.output : made;
    if (output && request.pif_paths) {
        end = import_all(parse, &request, output);
    } else {
        struct pm_error err = PM_ERROR_INIT;
        pm_error_set(&err, PM_ERR_MEMORY, "out of memory");
        end = cmd_fail(parse, &err);
    }
    free(made);
out:
    free(request.pif_paths);
    return end;
}

static const char format_words[] =
#define FORMAT(word) "|" #word
#include "mapping/import/formats.def"
#undef FORMAT
    ;

static const struct cmd_option import_options[] = {
    {'o', "output", "NAME.perfmap",
     "the archive (default: the file's name with .perfmap added); required with several files"},
    {OPT_FORMAT, "format", format_words + 1,
     "what the files are (default: as they begin); see above"},
    {OPT_UNIT, "unit", "UNIT",
     "what the numbers of collapsed stacks are: samples (default), ns, us, ms, s, bytes, or a name "
     "of your own"},
    {OPT_EXE, "exe", "FILE", "the program that gmon.out is of"},
    {OPT_PIF, "pif", "FILE",
     "also read this PIF file, with nouns and mappings of your own; may be given several times"},
    {0}};

static const struct cmd_example import_examples[] = {
    {"perfmap import perf.data -o heat.perfmap",
     "what perf record measured; of a program built with the plugin also by statement and array"},
    {"perf script -F +pid,+period --show-mmap-events | perfmap import /dev/stdin -o heat.perfmap",
     "the same on a machine where perf cannot read perf.data"},
    {"perfmap import --exe ./heat gmon.out", "what gcc -pg measured, and counted"},
    {"perfmap import --unit us stacks.folded", "collapsed stacks, whose numbers are microseconds"},
    {NULL, NULL}};

const struct cmd cmd_import = {
    .name = "import",
    .summary = "read profiles and traces of other tools",
    .usage = (const char *const[]){"import [-o NAME.perfmap] [--format FORMAT] FILE...", NULL},
    .description =
        "Makes an archive of what another tool measured, for all that reads archives: report, "
        "annotate, ask, diff, view, export. Names and numbers are the tool's. What was changed or "
        "left out is told, by each report as well.\n"
        "\n"
        "    perf          perf.data, by running 'perf script'\n"
        "    perf_script   the text that 'perf script' prints\n"
        "    otf2          a folder of Score-P or eztrace, or the NAME.otf2 in it\n"
        "    tau           a folder of TAU's profile.N.C.T, or of MULTI__*, or one of these files\n"
        "    pprof         protocol buffers of Go and pprof\n"
        "    gprof         gmon.out of programs that were compiled with -pg (--exe)\n"
        "    chrome        JSON of trace events, of uftrace, clang -ftime-trace and others\n"
        "    speedscope    JSON of speedscope, of py-spy, rbspy and others\n"
        "    callgrind     counts by instruction or line, and calls\n"
        "    folded        collapsed stacks, 'main;f;g 12', as for flame graphs\n"
        "\n"
        "Addresses are looked up in the binaries, if these are still those that ran (build-id). So "
        "profiles of programs that were compiled with the plugin have statements and arrays. All "
        "files together are one execution. Packed files (gzip) are unpacked. docs/import.md says "
        "what each format becomes, and what is lost.",
    .options = import_options,
    .examples = import_examples,
    .main = import_main};
