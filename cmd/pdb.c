/* perfmap pdb */
#include "pdb.h"

#include "mapping/base/suggest.h"
#include "mapping/base/text.h"
#include "pdt/export.h"

#include <unistd.h>

enum { OPT_ANEW = CMD_KEY_FIRST, OPT_FROM, OPT_TO, OPT_DEPTH, OPT_FORMAT, OPT_LIMIT, OPT_FACTS };
enum { MAX_JOBS = 256, MAX_DEPTH = 1000 };

struct pdb_request {
    const char *output, *root, *facts;
    bool is_anew, has_depth, has_format, has_limit, json;
    uint64_t n_jobs, depth, limit;
    enum pdt_direction direction;
    int format;
};

/* --- build --- */

struct talk {
    bool shows_progress;
    size_t width; /* of the line that is there */
};

static void clear_line(struct talk *talk)
{
    if (talk->width)
        fprintf(stderr, "\r%*s\r", (int)talk->width, "");
    talk->width = 0;
}

static void progress(void *context, unsigned n_done, unsigned n_units, const char *file)
{
    struct talk *talk = context;
    struct pm_arena arena = {0};
    if (!talk->shows_progress)
        return;
    const char *name = pm_text_printable(&arena, pdb_short_path(file));
    clear_line(talk);
    int n = fprintf(stderr, "[%u/%u] %.60s", n_done, n_units, name ? name : "");
    talk->width = n > 0 ? (size_t)n : 0;
    pm_arena_release(&arena);
}

static void note(void *context, const char *text)
{
    clear_line(context);
    cmd_talk("warning: %s", text);
}

static void print_built(const struct pdt_build *work)
{
    if (work->commands)
        printf("%s: %u files compiled (%u read, %u as before", work->output, work->n_units,
               work->n_read, work->n_kept);
    else
        printf("%s: ", work->output);
    if (work->n_with_errors)
        printf(", %u with errors", work->n_with_errors);
    if (work->n_failed)
        printf(", %u not read", work->n_failed);
    fputs(work->commands ? ")" : "", stdout);
    if (work->facts)
        printf("%s%u files of facts", work->commands ? ", " : "", work->n_facts);
    if (work->n_damaged)
        printf(" (%u damaged)", work->n_damaged);
    printf("; %llu routines, %llu loops, %llu calls, %llu accesses\n",
           (unsigned long long)work->n_routines, (unsigned long long)work->n_loops,
           (unsigned long long)work->n_calls, (unsigned long long)work->n_accesses);
}

static int build(struct cmd_parse *parse, const struct pdb_request *request)
{
    struct talk talk = {.shows_progress = isatty(STDERR_FILENO)};
    struct pm_error err = PM_ERROR_INIT;
    struct pdt_build work = {.commands = parse->n_operands > 1 ? parse->operands[1] : NULL,
                             .facts = request->facts,
                             .output = request->output,
                             .n_threads = (unsigned)request->n_jobs,
                             .is_anew = request->is_anew,
                             .progress = progress,
                             .note = note,
                             .context = &talk};
    enum pm_status status = pdt_build(&work, &err);
    clear_line(&talk);
    if (status != PM_OK)
        return cmd_fail(parse, &err);
    print_built(&work);
    return cmd_stdout_done(parse, CMD_DONE);
}

/* --- the others --- */

static enum pm_status open_file(const char *path, struct pm_error *err, struct pm_database **ret)
{
    enum pm_status status = pdt_open(path, err, ret);
    if (status == PM_ERR_NOT_FOUND)
        pm_error_add(err, "'perfmap pdb build' makes one");
    return status;
}

static enum pm_status query(const char *path, const char *text, const struct pdb_request *request,
                            struct pm_error *err)
{
    struct pm_database *pdb;
    struct pdt_rows *rows;
    enum pm_status status = open_file(path, err, &pdb);
    if (status != PM_OK)
        return status;
    status = pdt_query(pdb, text, request->limit, err, &rows);
    if (status != PM_OK)
        goto out;
    status = pdb_show_rows(rows, request->json, err);
    pdt_rows_free(rows);
out:
    pm_database_close(pdb);
    return status;
}

static enum pm_status tree(const char *path, const struct pdb_request *request,
                           struct pm_error *err)
{
    struct pm_database *pdb;
    struct pdt_tree *made;
    enum pm_status status = open_file(path, err, &pdb);
    if (status != PM_OK)
        return status;
    status =
        pdt_tree_make(pdb, request->root, request->direction, (uint32_t)request->depth, err, &made);
    if (status != PM_OK)
        goto out;
    pdb_show_tree(made, request->direction, request->json);
    pdt_tree_free(made);
out:
    pm_database_close(pdb);
    return status;
}

static enum pm_status export(const char *path, const struct pdb_request *request,
                             struct pm_error *err) {
    struct pm_database *pdb; struct pm_buf text = PM_BUF_INIT((size_t)4 << 30);
    enum pm_status status = open_file(path, err, &pdb);
    if (status != PM_OK) return status;
    status = request->format == 0 ? pdt_export_pdb(pdb, &text, err)
                                  : pdt_export_pif(pdb, &text, err);
    if (status != PM_OK) goto out;
    if (request->output)
        status = pm_file_write(request->output, text.data ? text.data : "", text.len, err);
    else if (text.len) fwrite(text.data, 1, text.len, stdout);
    out : pm_buf_release(&text);
    pm_database_close(pdb);
    return status;
}

/* --- the command --- */

enum action { BUILD, QUERY, TREE, EXPORT };
static const char *const action_words[] = {"build", "query", "tree", "export", NULL};

static int check_usage(struct cmd_parse *parse, const struct pdb_request *request,
                       enum action action)
{
    static const char *const operands[] = {"compile_commands.json, or the folder that has it",
                                           "a program database and a query", "a program database",
                                           "a program database"};
    int wanted = action == QUERY ? 3 : 2;
    bool is_facts_alone = action == BUILD && request->facts && parse->n_operands == 1;
    if (parse->n_operands != wanted && !is_facts_alone)
        return cmd_usage_error(parse, "'pdb %s' takes %s", action_words[action], operands[action]);
    if (action == BUILD && !request->output)
        return cmd_usage_error(parse, "'pdb build' needs '-o FILE'");
    if (action == TREE && !request->root)
        return cmd_usage_error(parse, "'pdb tree' needs '--calls-from' or '--calls-to'");
    if (action != TREE && (request->root || request->has_depth))
        return cmd_usage_error(
            parse, "options '--calls-from', '--calls-to' and '--depth' go with 'pdb tree'");
    if (action != EXPORT && request->has_format)
        return cmd_usage_error(parse, "option '--format' goes with 'pdb export'");
    if (action != QUERY && request->has_limit)
        return cmd_usage_error(parse, "option '--limit' goes with 'pdb query'");
    if (action != BUILD && (request->is_anew || request->n_jobs || request->facts))
        return cmd_usage_error(parse,
                               "options '--jobs', '--anew' and '--facts' go with 'pdb build'");
    if (action != BUILD && action != EXPORT && request->output)
        return cmd_usage_error(parse, "option '--output' goes with 'pdb build' and 'pdb export'");
    if ((action == BUILD || action == EXPORT) && request->json)
        return cmd_usage_error(parse, "option '--json' goes with 'pdb query' and 'pdb tree'");
    return CMD_DONE;
}

static int run(struct cmd_parse *parse, const struct pdb_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    int action = 0;
    if (parse->n_operands == 0)
        return cmd_usage_error(parse, "expected 'build', 'query', 'tree' or 'export'");
    while (action_words[action] && strcmp(action_words[action], parse->operands[0]) != 0)
        action++;
    if (!action_words[action]) {
        const char *near = pm_suggest(parse->operands[0], action_words);
        return near ? cmd_usage_error(parse, "unknown word '%s'; did you mean '%s'?",
                                      parse->operands[0], near)
                    : cmd_usage_error(parse, "unknown word '%s'", parse->operands[0]);
    }
    int usage = check_usage(parse, request, (enum action)action);
    if (usage != CMD_DONE)
        return usage;
    if (action == BUILD)
        return build(parse, request);
    bool is_swapped = action == QUERY && cmd_file_kind(parse->operands[1]) != CMD_FILE_ARCHIVE &&
                      cmd_file_kind(parse->operands[2]) == CMD_FILE_ARCHIVE;
    const char *path = parse->operands[is_swapped ? 2 : 1];
    enum pm_status status;
    if (action == QUERY)
        status = query(path, parse->operands[is_swapped ? 1 : 2], request, &err);
    else if (action == TREE)
        status = tree(path, request, &err);
    else
        status = export(path, request, &err);
    bool is_usage = status == PM_ERR_USAGE;
    if (status != PM_OK)
        return cmd_fail(parse, &err) == CMD_FAILED && is_usage ? CMD_USAGE : CMD_FAILED;
    return cmd_stdout_done(parse, CMD_DONE);
}

static int pdb_main(struct cmd_parse *parse)
{
    struct pdb_request request = {.depth = 10};
    for (int key; (key = cmd_next(parse)) != CMD_END;)
        switch (key) {
        case 'o':
            request.output = parse->value;
            break;
        case 'j':
            cmd_number(parse, MAX_JOBS, &request.n_jobs);
            break;
        case OPT_ANEW:
            request.is_anew = true;
            break;
        case OPT_FACTS:
            request.facts = parse->value;
            break;
        case OPT_FROM:
        case OPT_TO:
            request.root = parse->value;
            request.direction = key == OPT_FROM ? PDT_CALLS_FROM : PDT_CALLS_TO;
            break;
        case OPT_DEPTH:
            request.has_depth = cmd_number(parse, MAX_DEPTH, &request.depth);
            break;
        case OPT_FORMAT:
            request.has_format = true;
            request.format = parse->choice;
            break;
        case OPT_LIMIT:
            request.has_limit = cmd_number(parse, UINT32_MAX, &request.limit);
            break;
        }
    if (parse->failed)
        return CMD_USAGE;
    request.json = parse->json;
    return run(parse, &request);
}

static const struct cmd_option pdb_options[] = {
    {'o', "output", "FILE",
     "build: the program database. It is replaced as a whole, and files that did not change are "
     "not read again. export: write to this file instead of standard output"},
    {'j', "jobs", "NUMBER",
     "build: how many files to read at a time (default: as many as processors)"},
    {OPT_ANEW, "anew", NULL, "build: read all files again"},
    {OPT_FACTS, "facts", "DIR",
     "build: with what the plugins wrote to DIR (-fplugin-arg-perfmap-pdb=DIR): Fortran, and files "
     "of C and C++ that are not in COMPILE_COMMANDS"},
    {OPT_FROM, "calls-from", "ROUTINE",
     "tree: what this routine calls, and so on; ^, $, * and ? as in queries"},
    {OPT_TO, "calls-to", "ROUTINE", "tree: what calls this routine, and so on"},
    {OPT_DEPTH, "depth", "NUMBER", "tree: how deep (default: 10)"},
    {OPT_FORMAT, "format", "pdb|pif",
     "export: text of the Program Database Toolkit (PDB 3.0, default), or PIF"},
    {OPT_LIMIT, "limit", "NUMBER", "query: at most so many rows; 0, the default, is all"},
    {CMD_KEY_JSON, "json", NULL, "query and tree: as JSON"},
    {0}};

static const struct cmd_example pdb_examples[] = {
    {"perfmap pdb build build/compile_commands.json -o app.pdb", "read the program's source"},
    {"perfmap pdb build --facts build/facts -o app.pdb", "of what the plugin wrote in a build"},
    {"perfmap pdb query app.pdb 'loops in routine ^solve'", "loops, with what they call"},
    {"perfmap pdb query app.pdb 'routines reaching MPI_* not inline statements > 10'",
     "routines that lead to communication"},
    {"perfmap pdb query app.pdb 'arrays written by sweep'", "what a routine writes"},
    {"perfmap pdb tree app.pdb --calls-from main --depth 4", "who calls whom"},
    {NULL, NULL}};

static const char *const pdb_environment[] = {
    "PERFMAP_LIBCLANG", "the libclang that reads C and C++; otherwise the newest that is installed",
    NULL};

const struct cmd cmd_pdb = {
    .name = "pdb",
    .summary = "build and ask the program database of a source tree",
    .usage =
        (const char *const[]){
            "pdb build [-j NUMBER] [--anew] [--facts DIR] -o FILE.pdb [COMPILE_COMMANDS]",
            "pdb query [--limit NUMBER] [--json] FILE.pdb QUERY",
            "pdb tree --calls-from|--calls-to ROUTINE [--depth NUMBER] [--json] "
            "FILE.pdb",
            "pdb export [--format pdb|pif] [-o FILE] FILE.pdb", NULL},
    .description =
        "Reads all files that compile_commands.json names with libclang, and keeps what the "
        "source is made of: routines, loops, classes, types, arrays and where they are read and "
        "written, calls, macros, OpenMP directives and calls of MPI. Nothing is compiled. Facts "
        "that the plugins wrote in a build "
        "add Fortran.\n\n"
        "A query names what is asked for, and then conditions:\n\n"
        "    routines|loops|arrays|variables|accesses|reads|writes|calls|mpi|openmp|files|\n"
        "    types|classes|templates|fields|macros|namespaces|enums|typedefs|pragmas|\n"
        "    includes|units\n"
        "    named P, in routine|file|class|namespace P, in loop, of type P\n"
        "    calling P, called by P, to P, reaching P, reached from P\n"
        "    reading P, writing P, read by P, written by P\n"
        "    statements > 10, depth = 2, ...; defined, inline, virtual, static, ...\n\n"
        "Conditions are joined by 'and', which may be left out, 'or', 'not' and parentheses. A "
        "pattern P is a part of a name, in any case; with ^ or $ at an end or * and ? in it, the "
        "name itself.",
    .options = pdb_options,
    .examples = pdb_examples,
    .environment = pdb_environment,
    .main = pdb_main};
