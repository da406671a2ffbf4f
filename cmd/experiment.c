/* perfmap experiment */
#include "experiment_run.h"
#include "experiment_trend.h"

#include "mapping/base/suggest.h"
#include "mapping/view/groupings.h"

#include <unistd.h>

enum {
    OPT_SET = CMD_KEY_FIRST,
    OPT_BARE,
    OPT_INPUT,
    OPT_RUN,
    OPT_IGNORE,
    OPT_BY,
    OPT_ROWS,
    OPT_METRIC,
    OPT_FOCUS,
    OPT_ON,
    OPT_MIN,
    OPT_GOOD_ONLY,
    OPT_LIMIT,
    OPT_CSV,
    OPT_FROM,
    OPT_LEVEL
};

enum { DEFAULT_RUNS = 10, MOST_RUNS = 10000, TREND_ROWS = 20, TREND_LEAST_PCT = 2 };

/* Its members are not all as they were. */
enum { EXPERIMENT_LACKS = 3 };

/* --- what all words need --- */

bool experiment_open(struct cmd_parse *parse, const char **ret_selection,
                     struct pm_experiment **ret, int *ret_exit)
{
    struct pm_error err = PM_ERROR_INIT;
    const char *operand = parse->operands[1], *selection;
    char *path = pm_experiment_named(operand, &selection);
    if (path && *selection && !ret_selection) {
        *ret_exit = cmd_usage_error(parse, "'experiment %s' takes no selection of members",
                                    parse->operands[0]);
        free(path);
        return false;
    }
    enum pm_status status = pm_experiment_open(path ? path : operand, &err, ret);
    free(path);
    *ret_exit = CMD_FAILED;
    if (status == PM_ERR_NOT_FOUND)
        pm_error_add(&err, "'perfmap experiment create' makes one");
    if (status != PM_OK) {
        (void)cmd_fail(parse, &err);
        return false;
    }
    if (ret_selection)
        *ret_selection = selection;
    return true;
}

bool experiment_add_set(struct cmd_parse *parse, struct experiment_request *request,
                        const char *text)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_experiment_set *sets =
        pm_realloc_array(request->sets, request->n_sets + 1, sizeof *sets);
    if (!sets) {
        cmd_usage_error(parse, "out of memory");
        return false;
    }
    request->sets = sets;
    enum pm_status status = pm_experiment_set_of(text, &err, &sets[request->n_sets]);
    if (status != PM_OK)
        cmd_usage_error(parse, "%s", pm_error_text(&err));
    pm_error_release(&err);
    request->n_sets += !status;
    parse->failed |= status != PM_OK;
    return !status;
}

const char *experiment_state_word(const struct pm_experiment_member *member)
{
    static const char *const words[] = {"ok", "missing", "changed"};
    return member->poor && !member->state ? "poor" : words[member->state];
}

/* Wrong usage has its own status. */
static int fail(struct cmd_parse *parse, enum pm_status status, struct pm_error *err)
{
    if (status != PM_ERR_USAGE)
        return cmd_fail(parse, err);
    int end = cmd_usage_error(parse, "%s", pm_error_text(err));
    pm_error_release(err);
    return end;
}

/* --- create, add, set, remove --- */

static int create(struct cmd_parse *parse, const struct experiment_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_buf path = PM_BUF_INIT(1 << 16);
    (void)request;
    pm_buf_add_str(&path, parse->operands[1]);
    if (!pm_str_ends_with(parse->operands[1], ".perfexp"))
        pm_buf_add_str(&path, ".perfexp");
    enum pm_status status = path.failed ? pm_error_set(&err, PM_ERR_MEMORY, "out of memory")
                                        : pm_experiment_create(path.data, &err);
    if (!status)
        printf("%s: no members yet\n", path.data);
    pm_buf_release(&path);
    return status != PM_OK ? fail(parse, status, &err) : cmd_stdout_done(parse, CMD_DONE);
}

struct adding {
    uint32_t n_added, n_again, n_as_before, n_failed;
};

static void add_one(struct pm_experiment *experiment, const struct experiment_request *request,
                    const char *path, struct adding *adding)
{
    struct pm_error err = PM_ERROR_INIT;
    enum pm_added added = PM_NOT_ADDED;
    enum pm_status status =
        pm_experiment_add(experiment, path, request->sets, request->n_sets, &err, &added);
    if (status != PM_OK) {
        cmd_talk("%s", pm_error_text(&err));
        pm_error_release(&err);
        adding->n_failed++;
        return;
    }
    adding->n_added += added == PM_ADDED;
    adding->n_again += added == PM_ADDED_AGAIN;
    adding->n_as_before += added == PM_NOT_ADDED;
}

static void print_added(const struct pm_experiment *experiment, const struct adding *adding)
{
    printf("%s: %u added", experiment->path, adding->n_added);
    if (adding->n_again)
        printf(", %u read again", adding->n_again);
    if (adding->n_as_before)
        printf(", %u as before", adding->n_as_before);
    if (adding->n_failed)
        printf(", %u not added", adding->n_failed);
    printf("; %u member%s\n", experiment->n_members, experiment->n_members == 1 ? "" : "s");
}

/* One that cannot be read does not keep out the others. */
static int add(struct cmd_parse *parse, const struct experiment_request *request)
{
    struct pm_experiment *experiment;
    struct pm_error err = PM_ERROR_INIT;
    struct adding adding = {0};
    int end;
    if (!experiment_open(parse, NULL, &experiment, &end))
        return end;
    bool shows = isatty(STDERR_FILENO) && parse->n_operands > 10;
    for (int i = 2; i < parse->n_operands; i++) {
        if (shows)
            fprintf(stderr, "\r[%d/%d]", i - 1, parse->n_operands - 2);
        add_one(experiment, request, parse->operands[i], &adding);
    }
    fputs(shows ? "\r               \r" : "", stderr);
    enum pm_status status = pm_experiment_reload(experiment, &err);
    if (!status)
        print_added(experiment, &adding);
    pm_experiment_close(experiment);
    if (status != PM_OK)
        return fail(parse, status, &err);
    return cmd_stdout_done(parse, adding.n_failed ? CMD_FAILED : CMD_DONE);
}

/* The members that operand 1 selects. */
static bool select_members(struct cmd_parse *parse, struct pm_experiment **ret,
                           struct pm_experiment_selection *ret_selection, int *ret_exit)
{
    const char *text;
    struct pm_error err = PM_ERROR_INIT;
    if (!experiment_open(parse, &text, ret, ret_exit))
        return false;
    enum pm_status status = pm_experiment_select(*ret, text, &err, ret_selection);
    if (!status)
        return true;
    *ret_exit = fail(parse, status, &err);
    pm_experiment_close(*ret);
    return false;
}

static int set(struct cmd_parse *parse, const struct experiment_request *request)
{
    struct pm_experiment *experiment;
    struct pm_experiment_selection chosen;
    struct pm_error err = PM_ERROR_INIT;
    int end;
    if (!select_members(parse, &experiment, &chosen, &end))
        return end;
    enum pm_status status =
        pm_experiment_set(experiment, &chosen, request->sets, request->n_sets, &err);
    if (!status)
        printf("%s: set for %u of %u members\n", experiment->path, chosen.n, experiment->n_members);
    free(chosen.items);
    pm_experiment_close(experiment);
    return status != PM_OK ? fail(parse, status, &err) : cmd_stdout_done(parse, CMD_DONE);
}

static int remove_members(struct cmd_parse *parse, const struct experiment_request *request)
{
    struct pm_experiment *experiment;
    struct pm_experiment_selection chosen;
    struct pm_error err = PM_ERROR_INIT;
    enum pm_status status = PM_OK;
    int end;
    (void)request;
    if (!strchr(parse->operands[1], '?'))
        return cmd_usage_error(parse, "which members? 'E?SELECTION' names them; a file of which "
                                      "all are to go can be deleted");
    if (!select_members(parse, &experiment, &chosen, &end))
        return end;
    status = pm_experiment_remove(experiment, &chosen, &err);
    if (!status)
        printf("%s: %u of %u members removed; their archives stay\n", experiment->path, chosen.n,
               experiment->n_members);
    free(chosen.items);
    pm_experiment_close(experiment);
    return status != PM_OK ? fail(parse, status, &err) : cmd_stdout_done(parse, CMD_DONE);
}

/* --- check --- */

static uint32_t check_members(const struct pm_experiment *experiment,
                              const struct pm_experiment_selection *chosen)
{
    uint32_t n_bad = 0;
    for (uint32_t i = 0; i < chosen->n; i++) {
        const struct pm_experiment_member *member = &experiment->members[chosen->items[i]];
        struct pm_error err = PM_ERROR_INIT;
        enum pm_member_state state;
        enum pm_status status = pm_experiment_check(member, &err, &state);
        const char *what = state == PM_MEMBER_MISSING ? "there is no such file" : NULL;
        if (state == PM_MEMBER_CHANGED)
            what = "another archive, or damaged: 'perfmap experiment add' reads it again";
        if (status != PM_OK)
            what = pm_error_text(&err);
        if (what || member->poor)
            printf("%lld  %s: %s\n", (long long)member->id, member->name,
                   what ? what : member->poor);
        n_bad += what != NULL;
        pm_error_release(&err);
    }
    return n_bad;
}

static int check(struct cmd_parse *parse, const struct experiment_request *request)
{
    struct pm_experiment *experiment;
    struct pm_experiment_selection chosen;
    int end;
    (void)request;
    if (!select_members(parse, &experiment, &chosen, &end))
        return end;
    uint32_t n_bad = check_members(experiment, &chosen);
    printf("%s: %u of %u members are as they were\n", experiment->path, chosen.n - n_bad, chosen.n);
    free(chosen.items);
    pm_experiment_close(experiment);
    return cmd_stdout_done(parse, n_bad ? EXPERIMENT_LACKS : CMD_DONE);
}

/* --- run --- */

static int run_programs(struct cmd_parse *parse, const struct experiment_request *request)
{
    return experiment_run_all(
        parse, &(struct experiment_run){.n = (uint32_t)request->n,
                                        .n_bare = (uint32_t)request->n_bare,
                                        .sets = request->sets,
                                        .n_sets = request->n_sets,
                                        .input = request->input,
                                        .run_options = request->run_options,
                                        .n_run_options = request->n_run_options,
                                        .ignores_failure = request->ignores_failure});
}

/* --- trend --- */

static bool check_trend(struct cmd_parse *parse, const struct experiment_request *request)
{
    const struct pm_view_options *view = &request->compare.view;
    if (!request->key)
        cmd_usage_error(parse,
                        "'experiment trend' needs '--by KEY': the attribute that members are "
                        "in order of");
    else if (view->by == PM_VIEW_BY_LINE || pm_view_grouping_by(view->by)->where)
        cmd_usage_error(parse,
                        "'--rows %s' is no row of several builds: function, loop, "
                        "statement, array, variable, file, process, rank or thread is",
                        pm_view_by_word(view->by));
    else if (view->metrics && strchr(view->metrics, ','))
        cmd_usage_error(parse, "one metric at a time, not '%.200s'", view->metrics);
    else
        return true;
    return false;
}

static int trend(struct cmd_parse *parse, const struct experiment_request *request)
{
    bool is_data = parse->json || request->csv;
    if (!check_trend(parse, request))
        return CMD_USAGE;
    return experiment_show_trend(
        parse,
        &(struct experiment_trend){.key = request->key,
                                   .compare = request->compare,
                                   .least_pct = request->least_pct,
                                   .limit = is_data && !request->limit_given ? 0 : request->limit,
                                   .csv = request->csv,
                                   .look = &request->look});
}

/* --- the command --- */

static const struct word {
    const char *word, *takes;
    int least, most; /* operands behind it; most 0: any number */
    bool sets;       /* --set */
    int (*run)(struct cmd_parse *parse, const struct experiment_request *request);
} words[] = {{"create", "the name of an experiment", 1, 1, false, create},
             {"add", "an experiment and archives", 2, 0, true, add},
             {"run", "an experiment, '--' and a program", 2, 0, true, run_programs},
             {"trend", "an experiment, E or 'E?SELECTION'", 1, 1, false, trend},
             {"list", "an experiment, E or 'E?SELECTION'", 1, 1, false, experiment_list},
             {"set", "an experiment, E or 'E?SELECTION', and KEY=VALUE...", 2, 0, true, set},
             {"check", "an experiment, E or 'E?SELECTION'", 1, 1, false, check},
             {"remove", "members, 'E?SELECTION'", 1, 1, false, remove_members},
             {"overlay", "'--from ARCHIVE', and no operand", 0, 0, false, experiment_overlay}};
enum { N_WORDS = sizeof words / sizeof *words };

static const struct word *find_word(struct cmd_parse *parse)
{
    const char *names[N_WORDS + 1] = {NULL};
    for (int i = 0; i < N_WORDS; i++) {
        names[i] = words[i].word;
        if (parse->n_operands && !strcmp(words[i].word, parse->operands[0]))
            return &words[i];
    }
    const char *near = parse->n_operands ? pm_suggest(parse->operands[0], names) : NULL;
    if (near)
        cmd_usage_error(parse, "unknown word '%.100s'; did you mean '%s'?", parse->operands[0],
                        near);
    else
        cmd_usage_error(parse, "expected create, add, run, list, trend, set, check, remove or "
                               "overlay");
    return NULL;
}

static int run_word(struct cmd_parse *parse, struct experiment_request *request)
{
    const struct word *word = find_word(parse);
    if (!word)
        return CMD_USAGE;
    int n = parse->n_operands - 1;
    if (n < word->least || (word->most && n > word->most))
        return cmd_usage_error(parse, "'experiment %s' takes %s", word->word, word->takes);
    if (request->n_sets && !word->sets)
        return cmd_usage_error(parse, "option '--set' goes with 'experiment add' and 'run'");
    for (int i = 2; i <= n && word->run == set; i++)
        if (!experiment_add_set(parse, request, parse->operands[i]))
            return CMD_USAGE;
    return word->run(parse, request);
}

static void add_run_option(struct cmd_parse *parse, struct experiment_request *request)
{
    const char **options =
        pm_realloc_array(request->run_options, request->n_run_options + 1, sizeof *options);
    parse->failed |= !options;
    if (!options)
        return;
    request->run_options = options;
    options[request->n_run_options++] = parse->value;
}

static void take_min(struct cmd_parse *parse, struct experiment_request *request)
{
    if (!pm_str_to_double(pm_str_of(parse->value), &request->least_pct) ||
        !(request->least_pct >= 0) || request->least_pct > 1000) {
        cmd_usage_error(parse, "option '--min' takes a number of percent, not '%.200s'",
                        parse->value);
        parse->failed = true;
    }
}

/* false: it is another option. */
static bool take_trend_option(struct cmd_parse *parse, int key, struct experiment_request *request)
{
    struct pm_view_options *view = &request->compare.view;
    switch (key) {
    case OPT_BY:
        request->key = parse->value;
        return true;
    case OPT_ROWS:
        view->by = (enum pm_view_by)parse->choice;
        return true;
    case OPT_METRIC:
        view->metrics = parse->value;
        return true;
    case OPT_FOCUS:
        cmd_take_focus(parse, view->focus);
        return true;
    case OPT_ON:
        cmd_take_focus(parse, view->on);
        return true;
    case OPT_MIN:
        take_min(parse, request);
        return true;
    case OPT_GOOD_ONLY:
        request->compare.good_only = true;
        return true;
    case OPT_LIMIT:
        request->limit_given = cmd_number(parse, UINT32_MAX, &request->limit);
        return true;
    case OPT_CSV:
        request->csv = true;
        return true;
    default:
        return false;
    }
}

static void read_options(struct cmd_parse *parse, struct experiment_request *request)
{
    for (int key; (key = cmd_next(parse)) != CMD_END;)
        switch (key) {
        case OPT_FROM:
            request->from = parse->value;
            break;
        case 'o':
            request->output = parse->value;
            break;
        case OPT_LEVEL:
            request->level = parse->value;
            break;
        case OPT_SET:
            experiment_add_set(parse, request, parse->value);
            break;
        case 'n':
            cmd_number(parse, MOST_RUNS, &request->n);
            break;
        case OPT_BARE:
            cmd_number(parse, MOST_RUNS, &request->n_bare);
            break;
        case OPT_INPUT:
            request->input = parse->value;
            break;
        case OPT_RUN:
            add_run_option(parse, request);
            break;
        case OPT_IGNORE:
            request->ignores_failure = true;
            break;
        default:
            if (!take_trend_option(parse, key, request))
                cmd_take_look(parse, key, &request->look);
        }
}

static int experiment_main(struct cmd_parse *parse)
{
    struct experiment_request request = {
        .n = DEFAULT_RUNS,
        .compare = {.view = {.level = "source", .by = PM_VIEW_BY_LOOP, .folds = true}},
        .least_pct = TREND_LEAST_PCT,
        .limit = TREND_ROWS};
    read_options(parse, &request);
    int end = parse->failed ? CMD_USAGE : run_word(parse, &request);
    for (uint32_t i = 0; i < request.n_sets; i++)
        free((char *)request.sets[i].key);
    free(request.sets);
    free(request.run_options);
    return end;
}

static const struct cmd_option experiment_options[] = {
    {OPT_SET, "set", "KEY=VALUE",
     "add: attributes of these members; run: of the first program's. Several times"},
    {'n', "runs", "NUMBER",
     "run: so many of each program, with those that are there (default: 10)"},
    {OPT_BARE, "bare", "NUMBER",
     "run: so many runs of each without measurement, too, for what measuring cost"},
    {OPT_INPUT, "input", "FILE",
     "run: what each run reads from its standard input (default: none)"},
    {OPT_RUN, "run", "OPTION", "run: an option for 'perfmap run', as --run=--mode=exact"},
    {OPT_IGNORE, "ignore-failure", NULL,
     "run: programs may end with another status than 0 (default: stop, and say so)"},
    {OPT_BY, "by", "KEY",
     "trend: the attribute that members are in order of: by number where all are numbers, else as "
     "they were added"},
    {OPT_ROWS, "rows", pm_view_by_words + 1,
     "trend: what a row is, as --by of report (default: loop)"},
    {OPT_METRIC, "metric", "METRIC", "trend: what is shown (default: what reports show first)"},
    {OPT_FOCUS, "focus", "PATTERN", "trend: only what happens within this construct, as of report"},
    {OPT_ON, "on", "RUNNER", "trend: only what these ran, as of report"},
    {OPT_MIN, "min", "PERCENT", "trend: smaller changes are none (default: 2)"},
    {OPT_GOOD_ONLY, "good-only", NULL, "trend: leave out members that were measured badly"},
    {OPT_LIMIT, "limit", "NUMBER",
     "trend: rows to print, 0 for all (default: 20; with --json and --csv all)"},
    {OPT_CSV, "csv", NULL, "trend: as CSV, a line for each row and point"},
    {OPT_FROM, "from", "ARCHIVE",
     "overlay: write one of the files and functions of this archive, to be edited"},
    {OPT_LEVEL, "level", "NAME", "overlay: what its level is called (default: the archive's name)"},
    {'o', "output", "FILE", "overlay: write to this file instead of standard output"},
    {CMD_KEY_JSON, "json", NULL, "list and trend: as JSON"},
    CMD_LOOK_OPTIONS,
    {0}};

static const struct cmd_example experiment_examples[] = {
    {"perfmap experiment create exp && perfmap experiment add exp old*.perfmap --set build=old",
     "archives that belong together, and what tells them apart"},
    {"perfmap experiment run exp -n 10 --set build=new -- ./new 5 --against build=old -- ./old 5",
     "ten runs of each, in turns, and what differs"},
    {"perfmap experiment list 'exp?opt=O2&ranks>=8'", "which were compiled so, with many ranks"},
    {"perfmap diff 'exp?build=old' 'exp?build=new'", "compare them"},
    {"perfmap experiment trend exp --by commit", "since when it is slower, and where"},
    {NULL, NULL}};

static const struct cmd_exit experiment_exits[] = {
    {0, "done"},
    {1, "it failed, or some archive could not be added"},
    {2, "wrong usage"},
    {EXPERIMENT_LACKS, "check: some member is missing, or not as it was"},
    {0, NULL}};

const struct cmd cmd_experiment = {
    .name = "experiment",
    .summary = "keep archives together, with what tells them apart",
    .usage =
        (const char *const[]){
            "experiment create E",
            "experiment run [-n NUMBER] --set KEY=VALUE E -- PROGRAM [ARGUMENT]... [--against "
            "KEY=VALUE -- PROGRAM [ARGUMENT]...]...",
            "experiment add [--set KEY=VALUE]... E FILE...",
            "experiment list [--json] E|'E?SELECTION'",
            "experiment trend --by KEY [OPTION]... E|'E?SELECTION'",
            "experiment set E|'E?SELECTION' KEY=VALUE...", "experiment check E|'E?SELECTION'",
            "experiment remove 'E?SELECTION'",
            "experiment overlay --from ARCHIVE [--level NAME] [-o FILE]", NULL},
    .description =
        "An experiment (E.perfexp) is one file that names archives, its members, and what is known "
        "of each: attributes that 'perfmap run' noted (cpu_model, kernel, load_start, command, "
        "ranks, ...), that the binary says (compiler, opt), and that you set. Archives are never "
        "changed, and may be moved with the file when they lie in its folder.\n"
        "\n"
        "A selection names members by attributes:\n"
        "\n"
        "    opt=O2&ranks>=8          both hold; also <, <=, > and !=, which holds without the\n"
        "                             attribute, too\n"
        "    commit=4f*|5a*           one of several patterns, as of file names\n"
        "    fast&!debug              has the attribute, has it not\n"
        "    state=ok, member<=10     archives that are as they were; by number\n"
        "\n"
        "Quote it: & and > mean something to the shell. 'perfmap diff' takes E and 'E?SELECTION' "
        "wherever it takes archives.\n"
        "\n"
        "'run' measures programs in turns, in random order within each round. A first run of each, "
        "which is no member, shows what the budget leaves out; the others leave out the same from "
        "the start. Archives, and what programs say, go to E.runs beside the file. When it was "
        "interrupted, the same command makes the runs that are missing.\n"
        "\n"
        "'trend' shows the total and rows over members, and at which points they change: by "
        "E-divisive, one in a thousand by chance, in 6 members or more.\n"
        "\n"
        "'add' reads what is new or has changed, so it can be repeated. 'set' with an empty VALUE "
        "takes an attribute away. 'check' reads all bytes of the members.",
    .options = experiment_options,
    .examples = experiment_examples,
    .exits = experiment_exits,
    .environment = cmd_look_environment,
    .main = experiment_main,
};
