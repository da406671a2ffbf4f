/* perfmap annotate: source lines with what they cost. */
#include "cmd/show/annotation.h"
#include "cmd/core/archives.h"

#include "mapping/base/cxx_name.h"
#include "mapping/base/names.h"
#include "mapping/base/suggest.h"
#include "mapping/graph/pattern.h"

#include <stdlib.h>

enum { OPT_ALL = CMD_KEY_FIRST, OPT_CONTEXT, OPT_TOP, OPT_ARRAYS, OPT_FOCUS };
enum { MAX_NAMED = 6, NAME_COLUMNS = 90 };

struct annotate_request {
    struct pm_view_options options;
    struct show_look look;
    struct pm_annotation annotation;
    const char *what;     /* file or function; NULL: all lines */
    char *candidates;     /* one a line, where several are called what; NULL: not so */
    const char *instance; /* which of several functions at one place; NULL: all of them */
    bool json;
};

/* --- which file, which function --- */

struct choice {
    const char *file; /* NULL: none yet */
    pm_index noun;    /* whose lines; PM_NONE: the whole file */
    uint32_t n;       /* how many there are to choose from */
    struct pm_buf names;
};

static bool ends_with_path(const char *file, const char *name)
{
    size_t len = strlen(file), n = strlen(name);
    return n && n <= len && !strcmp(file + len - n, name) && (n == len || file[len - n - 1] == '/');
}

/* Only some candidates, their ends cut. */
static void offer(struct choice *choice, const char *file, pm_index noun, const char *name)
{
    if (choice->n++ == 0) {
        choice->file = file;
        choice->noun = noun;
    }
    bool fits = strlen(name) <= NAME_COLUMNS;
    if (choice->n <= MAX_NAMED)
        pm_buf_printf(&choice->names, "%.*s%s\n", NAME_COLUMNS, name, fits ? "" : "...");
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

static void choose_file(const struct pm_view *report, const char *what, bool exact,
                        struct choice *choice)
{
    const struct pm_graph *graph = report->data->graph;
    for (pm_index n = 0; n < graph->n_nouns; n++)
        if (*graph->nouns[n].file && is_new_file(graph, n, what, exact))
            offer(choice, graph->nouns[n].file, PM_NONE, graph->nouns[n].file);
}

/* Of one place, as instances of a template are. Lines are shown as a whole. */
static bool is_same_place(const struct pm_graph_noun *a, const struct pm_graph_noun *b)
{
    bool functions = !strcmp(a->kind, "function") && !strcmp(b->kind, "function");
    return a->line_no == b->line_no && (!functions || a->column_no == b->column_no) &&
           !strcmp(a->file, b->file);
}

static bool has_lines(const struct pm_view *report, pm_index n)
{
    const struct pm_graph_noun *noun = &report->data->graph->nouns[n];
    return noun->level == report->level && *noun->file && noun->line_no;
}

/* Functions of that name; what KIND: names; loops and statements at a place. */
static bool is_named(const struct pm_view *report, const struct pm_pattern *pattern, pm_index n)
{
    const struct pm_graph_noun *noun = &report->data->graph->nouns[n];
    bool is_any = pattern->kind == PM_PATTERN_ANY;
    if (!has_lines(report, n) || (is_any && pm_view_noun_is_object(report, n)))
        return false;
    if (is_any && strcmp(noun->kind, "function") != 0)
        return (pm_view_noun_is_loop(report, n) || pm_view_noun_is_statement(report, n)) &&
               pm_name_fits_place(&pattern->name, noun->file, noun->line_no, noun->column_no);
    return pm_pattern_fits(pattern, noun);
}

/* in_file: only of files that end so; NULL: of all. */
static void choose_construct(const struct pm_view *report, const char *in_file, const char *what,
                             struct choice *choice)
{
    const struct pm_graph *graph = report->data->graph;
    const struct pm_pattern pattern = pm_pattern_in(what, graph);
    for (pm_index n = 0; n < graph->n_nouns; n++) {
        const struct pm_graph_noun *noun = &graph->nouns[n];
        if ((in_file && !ends_with_path(noun->file, in_file)) || !is_named(report, &pattern, n))
            continue;
        if (choice->n && is_same_place(noun, &graph->nouns[choice->noun]))
            continue; /* an instance, a copy in another binary */
        struct pm_buf name = PM_BUF_INIT(1 << 20);
        pm_buf_printf(&name, "%s:", noun->file);
        if (!strcmp(noun->kind, "function"))
            (void)!pm_cxx_shorten(noun->name, &name);
        else
            pm_buf_printf(&name, "%u:%u", noun->line_no, noun->column_no);
        offer(choice, noun->file, n, name.data ? name.data : noun->name);
        pm_buf_release(&name);
    }
}

static enum pm_status nothing_matches(const struct pm_view *report, const char *what,
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
    const char *near = names ? pm_suggest(what, names) : NULL;
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

/* Only some of the functions at the place were named: reduce<int>, but not reduce<long>. */
static void take_instances(struct annotate_request *request, const struct pm_view *report,
                           const char *what, const struct pm_graph_noun *chosen)
{
    const struct pm_graph *graph = report->data->graph;
    const struct pm_pattern pattern = pm_pattern_in(what, graph);
    const char *named = NULL, *other = NULL;
    request->annotation.n_instances = 0;
    request->annotation.asked = what;
    request->instance = NULL;
    for (pm_index n = 0; n < graph->n_nouns; n++) {
        const struct pm_graph_noun *noun = &graph->nouns[n];
        if (!has_lines(report, n) || strcmp(noun->kind, "function") != 0 ||
            !is_same_place(noun, chosen))
            continue;
        bool is = is_named(report, &pattern, n);
        const char **last = is ? &named : &other;
        request->annotation.n_instances += is && (!named || strcmp(named, noun->name) != 0);
        *last = noun->name;
    }
    if (named && other)
        request->instance = what;
}

static void take_choice(struct annotate_request *request, const struct pm_view *report,
                        const char *what, const struct choice *choice)
{
    struct pm_annotation *a = &request->annotation;
    a->file = choice->file;
    if (choice->noun == PM_NONE)
        return;
    const struct pm_graph_noun *noun = &report->data->graph->nouns[choice->noun];
    bool is_function = !strcmp(noun->kind, "function"), is_line = !noun->end_line_no;
    a->function = noun->name;
    a->first_line_no = noun->line_no;
    a->last_line_no = noun->end_line_no >= noun->line_no ? noun->end_line_no
                      : is_function                      ? UINT32_MAX
                                                         : noun->line_no;
    if (!is_function && is_line && a->context < noun->line_no) { /* a line with those around it */
        a->first_line_no -= (uint32_t)a->context;
        a->last_line_no += (uint32_t)a->context;
    }
    if (is_function)
        take_instances(request, report, what, noun);
}

/* The candidates are said below the error, one a line. */
static enum pm_status say_which(struct annotate_request *request, struct choice *choice,
                                bool is_file, struct pm_error *err)
{
    if (choice->n > MAX_NAMED)
        pm_buf_printf(&choice->names, "... and %u more\n", choice->n - MAX_NAMED);
    request->candidates = pm_buf_take(&choice->names);
    return pm_error_set(err, PM_ERR_USAGE, "there are %u %s named '%s': say which one", choice->n,
                        is_file ? "files" : "constructs", request->what);
}

static int list_candidates(char *candidates, const struct pm_error *err)
{
    cmd_talk("%s:", pm_error_text(err));
    for (char *line = candidates, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = 0;
        cmd_talk("  %s", line);
    }
    return CMD_USAGE;
}

/* "src/heat.c:sweep" names a function of a file. */
static bool choose_in_file(struct annotate_request *request, const struct pm_view *report)
{
    const char *what = request->what, *colon = strchr(what, ':');
    struct choice choice = {.noun = PM_NONE, .names = PM_BUF_INIT(1 << 16)};
    if (!colon || colon[1] == ':' || colon == what)
        return false;
    char *file = pm_strndup(what, (size_t)(colon - what));
    if (file)
        choose_construct(report, file, colon + 1, &choice);
    free(file);
    pm_buf_release(&choice.names);
    if (choice.n)
        take_choice(request, report, colon + 1, &choice);
    return choice.n > 0;
}

static enum pm_status choose(struct annotate_request *request, const struct pm_view *report,
                             struct pm_error *err)
{
    const char *what = request->what;
    struct choice choice = {.noun = PM_NONE, .names = PM_BUF_INIT(1 << 16)};
    const char *file = strncmp(what, "file:", 5) == 0 ? what + 5 : what;
    choose_file(report, file, true, &choice);
    if (!choice.n)
        choose_file(report, file, false, &choice);
    bool is_file = choice.n > 0;
    if (!is_file && choose_in_file(request, report))
        return PM_OK;
    if (!is_file)
        choose_construct(report, NULL, what, &choice);
    enum pm_status status = choice.n > 1 ? say_which(request, &choice, is_file, err)
                            : choice.n   ? PM_OK
                                         : nothing_matches(report, what, err);
    pm_buf_release(&choice.names);
    if (status == PM_OK)
        take_choice(request, report, what, &choice);
    return status;
}

/* --- the command --- */

/* Who names a system header, or a function of one, means the code there. */
static bool is_of_system(const struct annotate_request *request)
{
    const char *file = request->annotation.file;
    return file && pm_name_is_of_system(file);
}

/* The report is made once more where only some instances of a template are meant, whose code
 * alone is counted, and where code of system headers is not to count for what uses it. */
static enum pm_status make(struct annotate_request *request, struct pm_view *report,
                           struct pm_error *err)
{
    enum pm_status status = pm_view_make(report, err);
    if (status == PM_OK && request->what)
        status = choose(request, report, err);
    if (status != PM_OK || (!request->instance && !is_of_system(request)))
        return status;
    struct pm_archive_data *loaded = report->loaded;
    report->loaded = NULL;
    pm_view_release(report);
    *report = (struct pm_view){.options = request->options, .archive = loaded, .loaded = loaded};
    report->options.instance = request->instance;
    report->options.folds = !is_of_system(request);
    status = pm_view_make(report, err);
    return status == PM_OK ? choose(request, report, err) : status;
}

static int annotate(struct cmd_parse *parse, struct annotate_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_view report = {.options = request->options};
    struct pm_annotation *a = &request->annotation;
    a->view = &report;
    int end = CMD_DONE;
    enum pm_status status = make(request, &report, &err);
    if (status == PM_OK)
        status = pm_annotation_collect(a, &err);
    if (status == PM_OK && request->json)
        show_annotation_json(a, stdout);
    else if (status == PM_OK &&
             !(a->top ? show_annotation_top : show_annotation)(a, &request->look, stdout))
        status = pm_error_set(&err, PM_ERR_MEMORY, "out of memory");
    if (status == PM_ERR_USAGE && request->candidates) {
        end = list_candidates(request->candidates, &err);
        pm_error_release(&err);
    } else {
        if (status == PM_ERR_FORMAT)
            cmd_add_file_hint(request->options.archive_path, CMD_FILE_ARCHIVE, &err);
        end = status == PM_OK ? cmd_stdout_done(parse, CMD_DONE) : cmd_refuse(parse, status, &err);
    }
    free(request->candidates);
    pm_annotation_release(a);
    pm_view_release(&report);
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
            if (!pm_view_add_focus(request->options.focus, parse->value))
                cmd_usage_error(parse, "'--focus' at most %d times", PM_VIEW_MAX_FOCI);
            break;
        case CMD_KEY_JSON:
            request->json = true;
            break;
        default:
            if (!cmd_take_interval(parse, key, &request->options.from, &request->options.to))
                cmd_take_look(parse, key, &request->look);
        }
    return !parse->failed;
}

/* The hottest lines may be of all files. */
static bool read_operands(struct cmd_parse *parse, struct annotate_request *request,
                          char **ret_archive)
{
    return cmd_archive_operands(parse, "a source file or a function (or '--top 20' for all)",
                                request->annotation.top != 0, &request->what, ret_archive);
}

static int annotate_main(struct cmd_parse *parse)
{
    struct annotate_request request = {
        .options = {.level = "source", .by = PM_VIEW_BY_LINE, .everything = true},
        .annotation = {.context = 3, .last_line_no = UINT32_MAX}};
    char *archive = NULL;
    if (!read_options(parse, &request) || !read_operands(parse, &request, &archive))
        return CMD_USAGE;
    bool in_order = request.annotation.all || request.annotation.shows_arrays;
    int end;
    if (request.annotation.top && in_order) {
        end = cmd_usage_error(
            parse, "option '--%s' shows lines in their order: it cannot be combined with '--top'",
            request.annotation.all ? "all" : "arrays");
    } else {
        request.options.archive_path = archive;
        request.options.folds = true; /* as in `perfmap report` */
        end = annotate(parse, &request);
    }
    free(archive);
    return end;
}

static const struct cmd_option annotate_options[] = {
    {OPT_ALL, "all", NULL, "show all lines, not only those near one with costs"},
    {OPT_CONTEXT, "context", "NUMBER", "lines shown around each line with costs (default: 3)"},
    {OPT_TOP, "top", "NUMBER",
     "show this many lines, those with the most cost first; of all files if no FILE or FUNCTION is "
     "given"},
    {OPT_ARRAYS, "arrays", NULL,
     "name the arrays that each line's code touches, those with the most time first"},
    {OPT_FOCUS, "focus", "PATTERN",
     "only what happens within this construct, as in 'perfmap report'; several times: all must "
     "hold"},
    CMD_INTERVAL_OPTIONS,
    {CMD_KEY_JSON, "json", NULL, "as JSON; docs/formats/report-json.md has the schema"},
    CMD_LOOK_OPTIONS,
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
    .description =
        "Reads an archive and shows a source file, or one function of it, with the cost "
        "of each line: its own time, its share "
        "of the whole run and the number of samples. Code of system headers counts for the line "
        "that uses it, unless FILE is such a header. FUNCTION may also be KIND:NAME or "
        "FILE:LINE, as '--focus' takes them. Without ARCHIVE, the only "
        "*.perfmap file in the current folder is taken.\n"
        "\n"
        "Lines whose code is one (vectorised together, computed by the same "
        "instructions, ...) are drawn as a bracket, which has "
        "the cost that they share; a number beside a line is its own cost alone. A dash marks a "
        "statement without any code left. '~' marks shares that few samples support.",
    .options = annotate_options,
    .examples = annotate_examples,
    .environment = cmd_look_environment,
    .main = annotate_main,
};
