/* perfmap select */
#include "select.h"

#include "mapping/base/json.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPT_EXCLUDE = CMD_KEY_FIRST, OPT_FROM, OPT_FROM_SCOREP, OPT_FROM_TAU };

struct select_request {
    const char *output, *pdb_path, *archive_path;
    const char **conditions; /* of the operands */
    size_t n_conditions;
    struct pm_selection *filter;
    bool has_filter, excludes;
    char *run_name; /* owned: the archive of "in RUN.perfmap" */
};

/* --- what the operands are --- */

enum operand { CONDITION, DATABASE, ARCHIVE, FILTER };

static bool ends_in(const char *text, const char *end)
{
    return pm_str_ends_with(text, end) && !strpbrk(text, " \t(");
}

/* Of SQLite, whose it is: offset 68, big-endian. */
static uint32_t application_of(const char *path)
{
    unsigned char head[72] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head);
    if (fd >= 0)
        close(fd);
    if (n != (ssize_t)sizeof head)
        return 0;
    return (uint32_t)head[68] << 24 | (uint32_t)head[69] << 16 | (uint32_t)head[70] << 8 | head[71];
}

static enum operand kind_of(const char *text)
{
    struct stat st;
    if (ends_in(text, ".pdb"))
        return DATABASE;
    if (ends_in(text, ".perfmap"))
        return ARCHIVE;
    if (stat(text, &st) != 0 || !S_ISREG(st.st_mode))
        return CONDITION;
    if (cmd_file_kind(text) == CMD_FILE_ARCHIVE)
        return application_of(text) == PDT_APPLICATION_ID ? DATABASE : ARCHIVE;
    return strpbrk(text, "./") ? FILTER : CONDITION; /* words are conditions, whatever lies here */
}

/* wanted: of which tool it has to be; NULL: any. */
static enum pm_status read_filter(struct pm_selection *filter, const char *path, const char *wanted,
                                  struct pm_error *err)
{
    enum pm_status status = pm_selection_read_file(filter, path, err);
    if (status != PM_OK)
        return status;
    const char *source = pm_selection_source(filter);
    if (wanted && !strstr(source, wanted))
        return pm_error_set(err, PM_ERR_USAGE,
                            "'%s' is no filter file of %s but a %s: --from reads any", path, wanted,
                            source);
    for (size_t i = 0; pm_selection_note(filter, i); i++)
        cmd_talk("note: '%s' %s", path, pm_selection_note(filter, i));
    return PM_OK;
}

static bool add_filter(struct cmd_parse *parse, struct select_request *request, const char *path,
                       const char *wanted)
{
    struct pm_error err = PM_ERROR_INIT;
    bool good = read_filter(request->filter, path, wanted, &err) == PM_OK;
    if (!good)
        (void)cmd_usage_error(parse, "%s", pm_error_text(&err));
    pm_error_release(&err);
    request->has_filter = true;
    return good;
}

static bool set_once(struct cmd_parse *parse, const char **to, const char *path, const char *what)
{
    if (*to)
        (void)cmd_usage_error(parse, "'%s' and '%s': there is one %s at most", *to, path, what);
    bool is_first = !*to;
    *to = path;
    return is_first;
}

static bool take_operand(struct cmd_parse *parse, struct select_request *request, char *text)
{
    switch (kind_of(text)) {
    case DATABASE:
        return set_once(parse, &request->pdb_path, text, "program database");
    case ARCHIVE:
        return set_once(parse, &request->archive_path, text, "archive");
    case FILTER:
        return add_filter(parse, request, text, NULL);
    case CONDITION:
        break;
    }
    request->conditions[request->n_conditions++] = text;
    return true;
}

/* RUN.perfmap of "in RUN.perfmap" in a condition. */
static void find_run(struct select_request *request)
{
    for (size_t i = 0; i < request->n_conditions && !request->archive_path; i++)
        for (const char *p = request->conditions[i]; *p && !request->archive_path;) {
            p += strspn(p, " \t\n()\"");
            size_t len = strcspn(p, " \t\n()\"");
            char *word = pm_strndup(p, len);
            p += len;
            if (word && pm_str_ends_with(word, ".perfmap"))
                request->archive_path = request->run_name = word;
            else
                free(word);
        }
}

/* --- the list --- */

static void add_argument(struct pm_buf *out, const char *text)
{
    bool is_plain =
        *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789_-+./=:,@%")];
    if (is_plain) {
        pm_buf_add_str(out, text);
        return;
    }
    pm_buf_add_byte(out, '\'');
    for (; *text; text++)
        if (*text == '\'')
            pm_buf_add_str(out, "'\\''");
        else
            pm_buf_add_printable(out, text, 1);
    pm_buf_add_byte(out, '\'');
}

/* How it was made, on one line whatever the arguments hold. */
static void add_command(struct cmd_parse *parse, struct pm_buf *out)
{
    struct pm_buf line = PM_BUF_INIT(1 << 20);
    for (int i = 1; i < parse->argc; i++) {
        pm_buf_add_byte(&line, ' ');
        add_argument(&line, parse->argv[i]);
    }
    pm_buf_add_str(out, "# perfmap select");
    if (line.data)
        pm_buf_add_printable(out, line.data, line.len);
    pm_buf_add_byte(out, '\n');
    out->failed |= line.failed;
    pm_buf_release(&line);
}

static enum pm_status put(const struct select_request *request, const struct pm_buf *list,
                          struct pm_error *err)
{
    if (list->failed)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory for the list");
    if (request->output)
        return pm_file_write(request->output, list->data, list->len, err);
    fwrite(list->data, 1, list->len, stdout);
    return PM_OK;
}

/* Beside a list on standard output it is talk. */
static void say(const struct select_request *request, const char *text)
{
    if (request->output)
        puts(text);
    else
        cmd_talk("%s", text);
}

/* --- what was selected --- */

static void add_count(const struct select_request *request, const struct pdt_selected *selected,
                      struct pm_buf *out)
{
    pm_buf_printf(out, "selected %u of %u %s", selected->n_selected, selected->n_routines,
                  request->pdb_path ? "routines" : "functions");
}

static void note_what_is_open(const struct select_request *request,
                              const struct pdt_selected *selected)
{
    if (selected->uses_run && selected->n_unknown)
        cmd_talk("note: '%s' says nothing of %u of them: no condition on it selects those",
                 request->archive_path, selected->n_unknown);
    if (selected->n_open)
        cmd_talk("note: bounds (≥) leave it open whether %u more fit, such as '%s'; they were "
                 "not followed all the time, so name them, or run with a higher --budget",
                 selected->n_open, selected->open_name ? selected->open_name : "?");
    if (selected->uses_times && selected->n_rough)
        cmd_talk(
            "note: the times of %u selected ones are rough: few samples, or short next to what "
            "measuring costs",
            selected->n_rough);
    if (selected->n_templates)
        cmd_talk("note: templates are among the selected ones: %u; the list names all their "
                 "instances, in any file",
                 selected->n_templates);
    if (!selected->n_selected && !request->excludes)
        cmd_talk("warning: the list selects nothing, so nothing would be measured");
}

static void show_json(const struct pdt_selected *selected)
{
    struct pm_json json;
    pm_json_init(&json, stdout);
    pm_json_object(&json, NULL);
    pm_json_u64(&json, "n_routines", selected->n_routines);
    pm_json_array(&json, "selected");
    for (uint32_t i = 0; i < selected->n_selected; i++) {
        const struct pdt_selected_routine *routine = &selected->routines[i];
        pm_json_object(&json, NULL);
        pm_json_string(&json, "name", routine->name);
        pm_json_string(&json, "symbol", *routine->linkage ? routine->linkage : NULL);
        pm_json_string(&json, "file", routine->file);
        pm_json_u64(&json, "line", routine->line);
        pm_json_bool(&json, "is_template", routine->is_template);
        pm_json_end(&json);
    }
    pm_json_end(&json);
    pm_json_end(&json);
    (void)pm_json_done(&json); /* a failed write shows on the stream */
}

static enum pm_status show(struct cmd_parse *parse, const struct select_request *request,
                           const struct pdt_selected *selected, struct pm_error *err)
{
    struct pm_buf list = PM_BUF_INIT((size_t)1 << 30), text = PM_BUF_INIT(1 << 16);
    enum pm_status status = PM_OK;
    add_count(request, selected, &text);
    list.failed |= text.failed;
    add_command(parse, &list);
    pm_buf_printf(&list, "# %s\n", text.data ? text.data : "");
    pdt_selected_write(selected, !request->excludes, &list);
    if (request->output || !parse->json)
        status = put(request, &list, err);
    if (status != PM_OK)
        goto out;
    if (parse->json)
        show_json(selected);
    else
        say(request, text.data ? text.data : "");
    note_what_is_open(request, selected);
out:
    pm_buf_release(&list);
    pm_buf_release(&text);
    return status;
}

static enum pm_status open_database(const struct select_request *request, const struct pdt_run *run,
                                    struct pm_error *err, struct pm_database **ret_pdb)
{
    if (!request->pdb_path)
        return pdt_select_database(run, err, ret_pdb);
    enum pm_status status = pdt_open(request->pdb_path, err, ret_pdb);
    if (status == PM_ERR_NOT_FOUND)
        pm_error_add(err, "'perfmap pdb build' makes one");
    return status;
}

static enum pm_status select_of(struct cmd_parse *parse, const struct select_request *request,
                                const struct pdt_run *run, struct pm_error *err)
{
    struct pm_database *pdb;
    struct pdt_selected *selected;
    const struct pdt_selection_request asked = {.conditions = request->conditions,
                                                .n_conditions = request->n_conditions,
                                                .filter = request->filter,
                                                .run = run,
                                                .has_source = request->pdb_path != NULL};
    enum pm_status status = open_database(request, run, err, &pdb);
    if (status != PM_OK)
        return status;
    status = pdt_select(pdb, &asked, err, &selected);
    if (status != PM_OK)
        goto out;
    status = show(parse, request, selected, err);
    pdt_selected_free(selected);
out:
    pm_database_close(pdb);
    return status;
}

/* A filter file of another tool, as a list of ours. */
static enum pm_status convert(struct cmd_parse *parse, const struct select_request *request,
                              struct pm_error *err)
{
    struct pm_buf list = PM_BUF_INIT((size_t)1 << 30);
    add_command(parse, &list);
    pm_selection_write(request->filter, &list);
    enum pm_status status = put(request, &list, err);
    pm_buf_release(&list);
    if (status != PM_OK)
        return status;
    say(request,
        "converted; with a program database the list would have names in place of patterns");
    return PM_OK;
}

static enum pm_status select_with_run(struct cmd_parse *parse, const struct select_request *request,
                                      struct pm_error *err)
{
    struct select_run measured;
    enum pm_status status = select_run_load(request->archive_path, err, &measured);
    if (status != PM_OK)
        goto out;
    status = select_of(parse, request, &measured.run, err);
out:
    select_run_release(&measured);
    return status;
}

static int run(struct cmd_parse *parse, struct select_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    enum pm_status status;
    if (request->archive_path)
        status = select_with_run(parse, request, &err);
    else if (request->pdb_path)
        status = select_of(parse, request, NULL, &err);
    else
        status = convert(parse, request, &err);
    return status != PM_OK ? cmd_refuse(parse, status, &err) : cmd_stdout_done(parse, CMD_DONE);
}

/* --- the command --- */

static int check_usage(struct cmd_parse *parse, struct select_request *request)
{
    bool has_source = request->pdb_path || request->archive_path;
    if (!has_source && !request->has_filter)
        return cmd_usage_error(parse,
                               "expected a program database ('perfmap pdb build' makes one), "
                               "the archive of a run, or a filter file");
    if (!has_source && request->n_conditions)
        return cmd_usage_error(parse,
                               "condition '%s': there is nothing that it could be of: name a "
                               "program database or an archive",
                               request->conditions[0]);
    if (has_source && !request->n_conditions && !request->has_filter)
        return cmd_usage_error(parse, "expected a condition, as 'reaches MPI_*' or "
                                      "'statements > 10'");
    if (!has_source && (request->excludes || parse->json))
        return cmd_usage_error(parse, "option '--%s' needs a program database or an archive",
                               parse->json ? "json" : "exclude");
    return CMD_DONE;
}

static bool take_option(struct cmd_parse *parse, struct select_request *request, int key)
{
    switch (key) {
    case 'o':
        request->output = parse->value;
        return true;
    case OPT_EXCLUDE:
        return request->excludes = true;
    case OPT_FROM:
        return add_filter(parse, request, parse->value, NULL);
    case OPT_FROM_SCOREP:
        return add_filter(parse, request, parse->value, "Score-P");
    case OPT_FROM_TAU:
        return add_filter(parse, request, parse->value, "TAU");
    default: /* --json */
        return true;
    }
}

static int no_memory(struct cmd_parse *parse)
{
    struct pm_error err = PM_ERROR_INIT;
    (void)pm_error_set(&err, PM_ERR_MEMORY, "out of memory");
    return cmd_fail(parse, &err);
}

static int read_usage(struct cmd_parse *parse, struct select_request *request)
{
    for (int key; (key = cmd_next(parse)) != CMD_END;)
        parse->failed |= !take_option(parse, request, key);
    if (parse->failed)
        return CMD_USAGE;
    request->conditions =
        pm_alloc_array((size_t)parse->n_operands + 1, sizeof *request->conditions);
    if (!request->conditions)
        return no_memory(parse);
    for (int i = 0; i < parse->n_operands; i++)
        if (!take_operand(parse, request, parse->operands[i]))
            return CMD_USAGE;
    find_run(request);
    return check_usage(parse, request);
}

static int select_main(struct cmd_parse *parse)
{
    struct select_request request = {.filter = pm_selection_new()};
    int status = request.filter ? read_usage(parse, &request) : no_memory(parse);
    if (status == CMD_DONE)
        status = run(parse, &request);
    pm_selection_free(request.filter);
    free(request.conditions);
    free(request.run_name);
    return status;
}

static const struct cmd_option select_options[] = {
    {'o', "output", "FILE", "write the list to this file instead of standard output"},
    {OPT_EXCLUDE, "exclude", NULL,
     "what is selected is left out by the list; without, the list leaves out all else"},
    {OPT_FROM, "from", "FILE",
     "what this file selects only: a selection list, or a filter file of Score-P or TAU. An "
     "operand "
     "that is such a file does the same"},
    {OPT_FROM_SCOREP, "from-scorep", "FILE", "the same; anything but Score-P's is refused"},
    {OPT_FROM_TAU, "from-tau", "FILE", "the same; anything but TAU's is refused"},
    {CMD_KEY_JSON, "json", NULL, "what is selected, with places, as JSON on standard output"},
    {0}};

static const struct cmd_example select_examples[] = {
    {"perfmap select app.pdb 'reaches MPI_*' 'not inline' 'statements > 10' -o list.txt",
     "what leads to communication and is worth measuring"},
    {"perfmap select app.pdb 'called > 1e6 and time each < 100ns in last.perfmap' --exclude -o "
     "list.txt",
     "leave out what is called often and does little"},
    {"perfmap select last.perfmap 'time > 1%' -o list.txt", "without the program's source"},
    {"perfmap run --select list.txt ./app", "measure what the list selects"},
    {"perfmap select app.pdb --from-scorep scorep.filter -o list.txt",
     "the names that a filter means in this program"},
    {NULL, NULL}};

const struct cmd cmd_select = {
    .name = "select",
    .summary = "say which functions are to be measured",
    .usage =
        (const char *const[]){"select [--exclude] [-o FILE] FILE.pdb [ARCHIVE] CONDITION...",
                              "select [--exclude] [-o FILE] ARCHIVE CONDITION...",
                              "select [-o FILE] --from FILTER [FILE.pdb] [CONDITION...]", NULL},
    .description =
        "Writes a list of functions, which the plugin reads (-fplugin-arg-perfmap-select=FILE) and "
        "'perfmap run --select FILE'. A program database says what the source is like, an archive "
        "what was measured. A function is selected when all conditions are true:\n\n"
        "    P, named P, in FILE, in class|namespace|routine P\n"
        "    reaches P, reached from P, calls P, called by P\n"
        "    inline, static, virtual, template, external, taken, ...\n"
        "    statements|loops|calls|lines|callers|callees|parameters|returns > N\n"
        "    called > N, time > T, time each < T, inclusive > T, in RUN.perfmap\n\n"
        "P is a name as in all commands: sweep is also heat::sweep(int); * and ? are any. P alone "
        "has one of these, or double quotes. N may be 1e6. T has ns, us, ms or s behind it, or % "
        "of the run. time is what a function needs without those it calls, inclusive with them. "
        "'called more than 1e6 times and under 100 ns each' says the same in words. Conditions are "
        "joined by 'and', which may be left out, 'or', 'not' and parentheses.\n\n"
        "What the run does not tell selects nothing: functions that it did not see, and bounds "
        "that leave a condition open.",
    .options = select_options,
    .examples = select_examples,
    .main = select_main};
