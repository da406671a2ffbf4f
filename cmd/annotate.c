/* perfmap annotate: source lines with what they cost. */
#include "annotate.h"
#include "cmd.h"

#include <stdlib.h>

enum { OPT_ALL = CMD_KEY_FIRST, OPT_CONTEXT, OPT_TOP, OPT_ARRAYS, OPT_FOCUS };
enum { MAX_NAMED = 12 };

struct annotate_request {
    struct report_options options;
    struct annotation annotation;
    const char *what; /* file or function; NULL: all lines */
    bool json;
};

/* --- which file, which function --- */

struct choice {
    const char *file; /* NULL: none yet */
    pm_index function;
    uint32_t n; /* how many there are to choose from */
    struct pm_buf names;
};

static bool ends_with_path(const char *file, const char *name)
{
    size_t len = strlen(file), n = strlen(name);
    return n && n <= len && !strcmp(file + len - n, name) && (n == len || file[len - n - 1] == '/');
}

static void offer(struct choice *choice, const char *file, pm_index function, const char *name)
{
    if (choice->n++ == 0) {
        choice->file = file;
        choice->function = function;
    }
    if (choice->n <= MAX_NAMED)
        pm_buf_printf(&choice->names, "%s'%s'", choice->n > 1 ? ", " : "", name);
    else if (choice->n == MAX_NAMED + 1)
        pm_buf_add_str(&choice->names, ", ...");
}

/* Equal names of files are one string in the archive's graph, but not offered twice either way. */
static bool is_new_file(const struct pm_graph *graph, pm_index noun, const char *what, bool exact)
{
    const char *file = graph->nouns[noun].file;
    if (!(exact ? !strcmp(file, what) : ends_with_path(file, what)))
        return false;
    for (pm_index n = 0; n < noun; n++)
        if (graph->nouns[n].file == file)
            return false;
    return true;
}

static void choose_file(const struct report *report, const char *what, bool exact,
                        struct choice *choice)
{
    const struct pm_graph *graph = report->data->graph;
    for (pm_index n = 0; n < graph->n_nouns; n++)
        if (*graph->nouns[n].file && is_new_file(graph, n, what, exact))
            offer(choice, graph->nouns[n].file, PM_NONE, graph->nouns[n].file);
}

static bool is_named(const struct pm_noun *noun, const char *what)
{
    size_t len = strlen(what);
    const char *last = noun->name;
    if (!strcmp(noun->name, what) || !strcmp(noun->linkage, what))
        return true;
    for (const char *p = strstr(noun->name, "::"); p && p < noun->name + strcspn(noun->name, "(");
         p = strstr(p + 2, "::"))
        last = p + 2;
    return (!strncmp(noun->name, what, len) && noun->name[len] == '(') ||
           (!strncmp(last, what, len) && (!last[len] || last[len] == '('));
}

static void choose_function(const struct report *report, const char *what, struct choice *choice)
{
    const struct pm_graph *graph = report->data->graph;
    for (pm_index n = 0; n < graph->n_nouns; n++) {
        const struct pm_noun *noun = &graph->nouns[n];
        if (strcmp(noun->kind, "function") != 0 || !*noun->file || !noun->line_no ||
            !is_named(noun, what))
            continue;
        if (choice->function != PM_NONE && noun->file == choice->file &&
            noun->line_no == graph->nouns[choice->function].line_no) /* a copy in another binary */
            continue;
        struct pm_buf name = PM_BUF_INIT(1 << 16);
        pm_buf_printf(&name, "%s:%s", noun->file, noun->name);
        offer(choice, noun->file, n, name.data ? name.data : noun->name);
        pm_buf_release(&name);
    }
}

static enum pm_status nothing_matches(const struct report *report, const char *what,
                                      struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    const char **names = pm_alloc_array((size_t)2 * graph->n_nouns + 1, sizeof *names);
    uint32_t n_names = 0;
    for (pm_index n = 0; names && n < graph->n_nouns; n++) {
        const char *slash = strrchr(graph->nouns[n].file, '/');
        if (*graph->nouns[n].file)
            names[n_names++] = slash ? slash + 1 : graph->nouns[n].file;
        if (!strcmp(graph->nouns[n].kind, "function") && *graph->nouns[n].file)
            names[n_names++] = graph->nouns[n].name;
    }
    const char *near = names ? cmd_suggest(what, names) : NULL;
    if (near)
        pm_error_set(
            err, PM_ERR_NOT_FOUND,
            "there is no source file and no function '%s' in the archive; did you mean '%s'?", what,
            near);
    else
        pm_error_set(err, PM_ERR_NOT_FOUND,
                     "there is no source file and no function '%s' in the archive; 'perfmap report "
                     "--by file' lists the files",
                     what);
    free(names);
    return PM_ERR_NOT_FOUND;
}

static void take_choice(struct annotate_request *request, const struct report *report,
                        const struct choice *choice)
{
    struct annotation *a = &request->annotation;
    a->file = choice->file;
    if (choice->function == PM_NONE)
        return;
    const struct pm_noun *noun = &report->data->graph->nouns[choice->function];
    a->function = noun->name;
    a->first_line_no = noun->line_no;
    a->last_line_no = noun->end_line_no >= noun->line_no ? noun->end_line_no : UINT32_MAX;
}

static enum pm_status choose(struct annotate_request *request, const struct report *report,
                             struct pm_error *err)
{
    const char *what = request->what;
    struct choice choice = {.function = PM_NONE, .names = PM_BUF_INIT(1 << 16)};
    choose_file(report, what, true, &choice);
    if (!choice.n)
        choose_file(report, what, false, &choice);
    bool is_file = choice.n > 0;
    if (!choice.n)
        choose_function(report, what, &choice);
    enum pm_status status = PM_OK;
    if (!choice.n)
        status = nothing_matches(report, what, err);
    else if (choice.n > 1)
        status = pm_error_set(err, PM_ERR_USAGE, "there are %u %s '%s': say which one: %s",
                              choice.n, is_file ? "files named" : "functions named", what,
                              choice.names.data ? choice.names.data : "");
    pm_buf_release(&choice.names);
    if (status != PM_OK)
        return status;
    take_choice(request, report, &choice);
    return PM_OK;
}

/* "src/heat.c:sweep" names a function of a file: the file goes to the annotation's choice by its path. */
static bool split_file_function(const struct report *report, char *what, struct choice *choice)
{
    const struct pm_graph *graph = report->data->graph;
    char *colon = strchr(what, ':');
    if (!colon || colon[1] == ':' || colon == what)
        return false;
    *colon = 0;
    for (pm_index n = 0; n < graph->n_nouns; n++) {
        const struct pm_noun *noun = &graph->nouns[n];
        bool fits = !strcmp(noun->kind, "function") && noun->line_no &&
                    ends_with_path(noun->file, what) && is_named(noun, colon + 1);
        if (fits && !choice->n)
            offer(choice, noun->file, n, noun->name);
    }
    *colon = ':';
    return choice->n > 0;
}

static enum pm_status choose_any(struct annotate_request *request, const struct report *report,
                                 struct pm_error *err)
{
    struct choice choice = {.function = PM_NONE, .names = PM_BUF_INIT(1 << 16)};
    char *copy = pm_strndup(request->what, strlen(request->what));
    if (!copy)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    bool found = split_file_function(report, copy, &choice);
    free(copy);
    pm_buf_release(&choice.names);
    if (!found)
        return choose(request, report, err);
    take_choice(request, report, &choice);
    return PM_OK;
}

/* --- the command --- */

static int annotate(struct cmd_parse *parse, struct annotate_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    struct report report = {.options = request->options};
    struct annotation *a = &request->annotation;
    a->report = &report;
    int end = CMD_DONE;
    enum pm_status status = report_make(&report, &err);
    if (status == PM_OK && request->what)
        status = choose_any(request, &report, &err);
    if (status == PM_OK)
        status = annotation_collect(a, &err);
    if (status == PM_OK && request->json)
        annotation_print_json(a, stdout);
    else if (status == PM_OK && !(a->top ? annotation_print_top : annotation_print)(a, stdout))
        status = pm_error_set(&err, PM_ERR_MEMORY, "out of memory");
    if (status == PM_ERR_USAGE) {
        end = cmd_usage_error(parse, "%s", pm_error_text(&err));
        pm_error_release(&err);
    } else {
        if (status == PM_ERR_FORMAT)
            cmd_add_file_hint(request->options.archive_path, CMD_FILE_ARCHIVE, &err);
        end = status == PM_OK ? cmd_stdout_done(parse, CMD_DONE) : cmd_fail(parse, &err);
    }
    annotation_release(a);
    report_release(&report);
    return end;
}

static bool read_options(struct cmd_parse *parse, struct annotate_request *request)
{
    for (int key; (key = cmd_next(parse)) != CMD_END;)
        switch (key) {
        case OPT_ALL:
            request->annotation.all = true;
            break;
        case OPT_CONTEXT:
            cmd_number(parse, 100000, &request->annotation.context);
            break;
        case OPT_TOP:
            if (cmd_number(parse, 100000, &request->annotation.top) && !request->annotation.top)
                cmd_usage_error(parse, "option '--top' takes a number from 1 on");
            break;
        case OPT_ARRAYS:
            request->annotation.shows_arrays = true;
            break;
        case OPT_FOCUS:
            request->options.focus = parse->value;
            break;
        case CMD_KEY_JSON:
            request->json = true;
            break;
        default:
            report_take_look(parse, key, &request->options.look);
        }
    return !parse->failed;
}

/* The hottest lines may be of all files. */
static bool read_operands(struct cmd_parse *parse, struct annotate_request *request,
                          char **ret_archive)
{
    int n = parse->n_operands;
    const char *first = n ? parse->operands[0] : NULL;
    if (!request->annotation.top || n > 1 || (n == 1 && cmd_file_kind(first) != CMD_FILE_ARCHIVE))
        return report_operands(parse, "a source file or a function (or '--top 20' for all)",
                               &request->what, ret_archive);
    *ret_archive = n ? pm_strndup(first, strlen(first)) : report_only_archive(parse);
    return *ret_archive != NULL;
}

static int annotate_main(struct cmd_parse *parse)
{
    struct annotate_request request = {
        .options = {.level = "source", .by = REPORT_BY_LINE, .everything = true},
        .annotation = {.context = 3, .last_line_no = UINT32_MAX}};
    char *archive = NULL;
    if (!read_options(parse, &request) || !read_operands(parse, &request, &archive))
        return CMD_USAGE;
    bool in_order = request.annotation.all || request.annotation.shows_arrays;
    int end;
    if (request.annotation.top && in_order) {
        end = cmd_usage_error(parse, "'--%s' is for lines in their order, not for '--top'",
                              request.annotation.all ? "all" : "arrays");
    } else {
        request.options.archive_path = archive;
        end = annotate(parse, &request);
    }
    free(archive);
    return end;
}

static const struct cmd_option annotate_options[] = {
    {OPT_ALL, "all", NULL, "all lines, not only those near one with costs"},
    {OPT_CONTEXT, "context", "NUMBER", "lines shown around each line with costs (default: 3)"},
    {OPT_TOP, "top", "NUMBER",
     "only so many lines, those with the most cost first; without FILE or FUNCTION of all files"},
    {OPT_ARRAYS, "arrays", NULL,
     "name the arrays that the code of each line touches, those with the most time first"},
    {OPT_FOCUS, "focus", "PATTERN",
     "only what happens within this construct, as in 'perfmap report'"},
    {CMD_KEY_JSON, "json", NULL, "as JSON; docs/report.md has the schema"},
    REPORT_LOOK_OPTIONS,
    {0}};

static const char *const annotate_usage[] = {"annotate [OPTION]... FILE|FUNCTION [ARCHIVE]",
                                             "annotate --top NUMBER [OPTION]... [ARCHIVE]", NULL};

static const struct cmd_example annotate_examples[] = {
    {"perfmap annotate heat.c heat.perfmap", "the lines of heat.c with what they cost"},
    {"perfmap annotate --top 10 heat.perfmap", "the ten hottest lines of the program"},
    {"perfmap annotate --arrays sweep heat.perfmap",
     "those of the function sweep, and which arrays they touch"},
    {NULL, NULL}};

const struct cmd cmd_annotate = {
    .name = "annotate",
    .summary = "show source lines with what they cost",
    .usage = annotate_usage,
    .description = "Reads an archive and shows a source file, or one function of it, with the cost "
                   "of each line: its own time, its share "
                   "of the whole run and the number of samples. Without ARCHIVE, the only "
                   "*.perfmap file in the current folder is taken.\n"
                   "\n"
                   "Lines whose code is one (vectorised together, computed by the same "
                   "instructions, ...) are drawn as a bracket, which has "
                   "the cost that they share; what stands beside a line is its own alone. A dash "
                   "stands for a statement of which the "
                   "compiler left no code. '~' marks shares that few samples speak for.",
    .options = annotate_options,
    .examples = annotate_examples,
    .environment = report_environment,
    .main = annotate_main,
};
