/* perfmap collect */
#include "cmd/core/cmd.h"
#include "cmd/session/output.h"

#include "mapping/collect/collect.h"

#include <limits.h>
#include <signal.h>

enum { OPT_PIF = CMD_KEY_FIRST, OPT_COSTS, MAX_JOBS = 1024 };

struct collect_request {
    const char *output;
    const char **pif_paths; /* owned array of lent strings */
    size_t n_pif_paths;
    const char **costs_paths; /* likewise */
    size_t n_costs_paths;
    char **runs;
    int n_runs;
    uint64_t n_jobs; /* 0: one for each processor */
};

/* heat.run gives heat.perfmap, and heat.perfmap.run.XXXXXX, which `perfmap run` left, does too.
 * NULL: memory. */
static char *default_output(const char *run)
{
    static const char left_behind[] = ".perfmap.run.XXXXXX";
    size_t len = strlen(run), left_len = sizeof left_behind - 1;
    while (len > 1 && run[len - 1] == '/')
        len--;
    if (len > left_len && memcmp(run + len - left_len, left_behind, left_len - 6) == 0)
        len -= left_len;
    else if (len > 4 && memcmp(run + len - 4, ".run", 4) == 0)
        len -= 4;
    struct pm_buf name = PM_BUF_INIT(4 * PATH_MAX);
    pm_buf_add(&name, run, len);
    pm_buf_add_str(&name, ".perfmap");
    return pm_buf_take(&name);
}

static int collect_all(struct cmd_parse *parse, const struct collect_request *request,
                       const char *output)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_collect_result result = {0};
    struct pm_collect_options options = {.size = sizeof options,
                                         .pif_paths = request->pif_paths,
                                         .n_pif_paths = request->n_pif_paths,
                                         .costs_paths = request->costs_paths,
                                         .n_costs_paths = request->n_costs_paths,
                                         .n_threads = (unsigned)request->n_jobs};
    (void)signal(SIGXFSZ, SIG_IGN); /* a limit is an error of the archive */
    if (session_check_archive_place(output, &err) != PM_OK ||
        pm_collect((const char *const *)request->runs, (size_t)request->n_runs, output, &options,
                   &err, &result) != PM_OK) {
        for (int i = 0; i < request->n_runs; i++)
            cmd_add_file_hint(request->runs[i], CMD_FILE_RUN, &err);
        return cmd_fail(parse, &err);
    }
    for (size_t i = 0; i < result.n_warnings; i++)
        cmd_talk("warning: %s", result.warnings[i]);
    if (result.n_sleds == 0 && request->n_runs && !result.n_sampled)
        cmd_talk(
            "warning: nothing inside the program was measured, because it has no sleds: compile it "
            "with -fplugin=$(perfmap plugin-path)");
    char *name = cmd_shell_quote_file(output);
    cmd_talk("wrote %s: %zu execution%s, %zu process%s, %zu contexts; try: perfmap report %s",
             name ? name : output, result.n_executions, result.n_executions == 1 ? "" : "s",
             result.n_processes, result.n_processes == 1 ? "" : "es", result.n_contexts,
             name ? name : output);
    free(name);
    pm_collect_result_release(&result);
    return CMD_DONE;
}

static int collect_main(struct cmd_parse *parse)
{
    struct collect_request request = {
        .pif_paths = pm_alloc_array((size_t)parse->argc, sizeof *request.pif_paths),
        .costs_paths = pm_alloc_array((size_t)parse->argc, sizeof *request.costs_paths)};
    int end = CMD_USAGE;
    for (int key; (key = cmd_next(parse)) != CMD_END;)
        if (key == 'o')
            request.output = parse->value;
        else if (key == OPT_PIF && request.pif_paths)
            request.pif_paths[request.n_pif_paths++] = parse->value;
        else if (key == OPT_COSTS && request.costs_paths)
            request.costs_paths[request.n_costs_paths++] = parse->value;
        else if (key == 'j')
            cmd_number(parse, MAX_JOBS, &request.n_jobs);
    if (parse->failed)
        goto out;
    request.runs = parse->operands;
    request.n_runs = parse->n_operands;
    if (request.n_runs == 0 && request.n_costs_paths == 0) {
        end = cmd_usage_error(parse, "expected a run folder, as 'perfmap run --no-collect' makes");
        goto out;
    }
    if (request.n_runs == 0 && !request.output) {
        end = cmd_usage_error(parse, "option '--output' is needed without a run folder");
        goto out;
    }
    if (request.n_runs > 1 && !request.output) {
        end = cmd_usage_error(parse, "option '--output' is needed with more than one run folder");
        goto out;
    }
    char *made = request.output ? NULL : default_output(request.runs[0]);
    const char *output = request.output ? request.output : made;
    if (output && request.pif_paths && request.costs_paths) {
        end = collect_all(parse, &request, output);
    } else {
        struct pm_error err = PM_ERROR_INIT;
        pm_error_set(&err, PM_ERR_MEMORY, "out of memory");
        end = cmd_fail(parse, &err);
    }
    free(made);
out:
    free(request.pif_paths);
    free(request.costs_paths);
    return end;
}

static const struct cmd_option collect_options[] = {
    {'o', "output", "NAME.perfmap",
     "the archive (default: the run folder's name with .perfmap instead of .run); required with "
     "more than one run folder"},
    {OPT_PIF, "pif", "FILE",
     "also read this PIF file, with nouns and mappings of your own; may be given several times"},
    {OPT_COSTS, "costs", "FILE",
     "add costs that were measured elsewhere: callgrind's output (best made with "
     "--dump-instr=yes), or "
     "lines like '{noun, verb} metric 12.5' (docs/formats/costs.md); may be given several times, "
     "also "
     "without any run"},
    {'j', "jobs", "NUMBER",
     "how many threads read run files and traces (default: as many as processors). The archive "
     "does not depend on it"},
    {0}};

static const struct cmd_example collect_examples[] = {
    {"perfmap collect heat.run -o heat.perfmap",
     "the archive of a run made with perfmap run --no-collect"},
    {"perfmap collect --pif phases.pif heat.run", "with mappings that you wrote"},
    {"perfmap collect --costs callgrind.out.7 -o heat.perfmap",
     "callgrind's counts, at the statements and arrays of the source"},
    {"perfmap collect -o sizes.perfmap n100.run n200.run", "several runs in one archive"},
    {NULL, NULL}};

const struct cmd cmd_collect = {
    .name = "collect",
    .summary = "make one archive of what a run left",
    .usage =
        (const char *const[]){"collect [-o NAME.perfmap] [--pif FILE]... [--costs FILE]... RUN...",
                              "collect [--pif FILE]... --costs FILE... -o NAME.perfmap", NULL},
    .description = "Reads the run folders (of perfmap run --no-collect, or left after a crash) and "
                   "joins them with what the compiler wrote into the measured binaries. It writes "
                   "one archive: an SQLite file that `perfmap report` and any SQLite client can "
                   "read (docs/formats/archive.md).\n\nThe binaries should still be where they "
                   "were when they ran, unchanged. A warning names what is missing, changed or "
                   "damaged, and all else is collected. An archive that exists is replaced when "
                   "the new one is complete; any other file of that name is refused.",
    .options = collect_options,
    .examples = collect_examples,
    .main = collect_main};
