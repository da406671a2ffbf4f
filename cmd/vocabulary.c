/* perfmap levels, nouns, verbs, sentences: what can be asked of an archive. */
#include "cmd/core/archives.h"

#include "mapping/base/json.h"
#include "mapping/view/question.h"

#include <fnmatch.h>
#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <unistd.h>

enum { OPT_LEVEL = CMD_KEY_FIRST, OPT_KIND, OPT_ACTIVE, OPT_LIMIT };
enum { TABLE_LIMIT = 200, MAX_COLUMNS = 6, TEXT_BYTES = 1 << 20 };

struct request {
    const char *pattern, *archive_path, *level, *kind;
    uint64_t limit;
    bool only_active, json, limit_given;
};

/* One list while it is made: rows of texts, written when all is known. */
struct list {
    struct cmd_parse *parse;
    struct request request;
    struct pm_view report;    /* data and arena */
    bool *is_active;          /* per sentence: on the path of a cost, or reached from there */
    const char *const *names; /* of the columns, as in JSON */
    int n_columns;
    struct libscols_table *table;
    struct pm_json json;
    uint64_t n_rows, n_hidden;
    bool failed;
};

static bool fits(const char *pattern, const char *text)
{
    if (!pattern)
        return true;
    return strpbrk(pattern, "*?") ? fnmatch(pattern, text, FNM_CASEFOLD) == 0
                                  : strcasestr(text, pattern) != NULL;
}

/* --- what is active --- */

static bool find_active(struct list *list)
{
    const struct pm_graph *graph = list->report.data->graph;
    pm_index *waiting = pm_alloc_array(graph->n_sentences + 1u, sizeof *waiting);
    uint32_t n = 0;
    list->is_active = pm_alloc_array(graph->n_sentences + 1u, sizeof *list->is_active);
    if (!waiting || !list->is_active) {
        free(waiting);
        return false;
    }
    for (uint32_t c = 0; c < graph->n_contexts; c++) {
        pm_index s = graph->contexts[c].sentence;
        if (!list->is_active[s])
            waiting[n++] = s;
        list->is_active[s] = true;
    }
    while (n > 0) {
        pm_index s = waiting[--n];
        for (uint32_t i = graph->out_first[s]; i < graph->out_first[s + 1]; i++) {
            pm_index next = graph->mappings[graph->out[i]].destination;
            if (!list->is_active[next])
                waiting[n++] = next;
            list->is_active[next] = true;
        }
    }
    free(waiting);
    return true;
}

/* --- rows --- */

static void begin(struct list *list, const char *const *names, int n)
{
    list->names = names;
    list->n_columns = n;
    if (list->request.json) {
        pm_json_init(&list->json, stdout);
        pm_json_object(&list->json, NULL);
        pm_json_string(&list->json, "format", "perfmap-vocabulary");
        pm_json_u64(&list->json, "version", 1);
        pm_json_array(&list->json, list->parse->cmd->name);
        return;
    }
    list->table = scols_new_table();
    list->failed = !list->table;
    for (int i = 0; !list->failed && i < n; i++) {
        bool is_number = !strncmp(names[i], "n_", 2);
        char head[64];
        snprintf(head, sizeof head, "%s", names[i] + (is_number ? 2 : 0));
        for (char *p = head; *p; p++)
            *p = *p == '_' ? ' ' : (char)(*p >= 'a' && *p <= 'z' ? *p - 32 : *p);
        list->failed =
            !scols_table_new_column(list->table, head, 0, is_number ? SCOLS_FL_RIGHT : 0);
    }
    if (!list->failed) {
        scols_table_set_stream(list->table, stdout);
        scols_table_enable_noencoding(list->table, 1); /* cells are printable already */
    }
}

/* cells: a number's text in columns named n_..., else any; NULL: unknown. */
static void add_row(struct list *list, const char *const *cells)
{
    if (list->failed)
        return;
    if (list->request.limit && list->n_rows == list->request.limit) {
        list->n_hidden++;
        return;
    }
    list->n_rows++;
    if (list->request.json) {
        pm_json_object(&list->json, NULL);
        for (int i = 0; i < list->n_columns; i++)
            if (cells[i] && !strncmp(list->names[i], "n_", 2))
                pm_json_u64(&list->json, list->names[i], strtoull(cells[i], NULL, 10));
            else
                pm_json_string(&list->json, list->names[i],
                               cells[i] && *cells[i] ? cells[i] : NULL);
        pm_json_end(&list->json);
        return;
    }
    struct libscols_line *line = scols_table_new_line(list->table, NULL);
    list->failed = !line;
    for (int i = 0; !list->failed && i < list->n_columns; i++) {
        const char *text = pm_text_printable(&list->report.arena, cells[i] ? cells[i] : "");
        list->failed = !text || scols_line_set_data(line, (size_t)i, text) != 0;
    }
}

/* --- not on a terminal --- */

/* Names of C++ may be any long: those beyond this push the rest of their line to the right, not
 * all lines. */
enum { MAX_PADDED = 40 };

static const char *cell_text(struct libscols_line *line, int column)
{
    const char *text = scols_cell_get_data(scols_line_get_cell(line, (size_t)column));
    return text ? text : "";
}

static void put_cell(const struct list *list, int column, const char *text, int width)
{
    bool is_number = !strncmp(list->names[column], "n_", 2),
         is_last = column + 1 == list->n_columns;
    int room = width > pm_text_width(text) ? width - pm_text_width(text) : 0;
    printf("%*s%s%*s%s", is_number ? room : 0, "", text, is_number || is_last ? 0 : room, "",
           is_last ? "\n" : " ");
}

static void put_plain(const struct list *list)
{
    const char *heads[MAX_COLUMNS];
    int widths[MAX_COLUMNS];
    struct libscols_line *line;
    for (int i = 0; i < list->n_columns; i++) {
        heads[i] = scols_column_get_name(scols_table_get_column(list->table, (size_t)i));
        widths[i] = pm_text_width(heads[i]);
        for (size_t r = 0; (line = scols_table_get_line(list->table, r)) != NULL; r++) {
            int width = pm_text_width(cell_text(line, i));
            if (width <= MAX_PADDED && width > widths[i])
                widths[i] = width;
        }
    }
    for (int i = 0; i < list->n_columns; i++)
        put_cell(list, i, heads[i], widths[i]);
    for (size_t r = 0; (line = scols_table_get_line(list->table, r)) != NULL; r++)
        for (int i = 0; i < list->n_columns; i++)
            put_cell(list, i, cell_text(line, i), widths[i]);
}

static void say_none(const struct request *request)
{
    if (request->pattern)
        printf("nothing fits '%s': a pattern is a part of a name, in any case, or with * and ? all "
               "of it\n",
               request->pattern);
    else
        puts(request->level || request->kind || request->only_active ? "nothing fits"
                                                                     : "there are none");
}

static enum pm_status end(struct list *list, struct pm_error *err)
{
    if (list->request.json) {
        pm_json_end(&list->json);
        pm_json_u64(&list->json, "n_hidden", list->n_hidden);
        pm_json_end(&list->json);
        (void)pm_json_done(&list->json);
        return PM_OK;
    }
    if (!list->failed && list->n_rows && !isatty(STDOUT_FILENO))
        put_plain(list);
    else if (!list->failed && list->n_rows)
        list->failed = scols_print_table(list->table) != 0;
    if (!list->failed && !list->n_rows)
        say_none(&list->request);
    if (!list->failed && list->n_hidden)
        printf("and %llu more (--limit 0 shows all)\n", (unsigned long long)list->n_hidden);
    scols_unref_table(list->table);
    return list->failed ? pm_error_set(err, PM_ERR_MEMORY, "out of memory") : PM_OK;
}

static void count_text(char text[24], uint64_t n)
{
    snprintf(text, 24, "%llu", (unsigned long long)n);
}

/* Arrays and variables as questions and reports mean them. */
static bool kind_fits(const struct list *list, const struct pm_graph_noun *noun)
{
    const char *kind = list->request.kind;
    return !kind                       ? true
           : !strcmp(kind, "array")    ? pm_noun_is_array(noun)
           : !strcmp(kind, "variable") ? pm_noun_is_data(noun)
                                       : !strcmp(noun->kind, kind);
}

static bool level_fits(const struct list *list, pm_index level)
{
    return !list->request.level ||
           !strcasecmp(list->report.data->graph->levels[level].name, list->request.level);
}

/* --- the four lists --- */

static void list_levels(struct list *list)
{
    static const char *const names[] = {"level", "above", "n_nouns", "n_verbs", "n_sentences"};
    const struct pm_graph *graph = list->report.data->graph;
    begin(list, names, 5);
    for (pm_index l = 0; l < graph->n_levels; l++) {
        uint64_t n[3] = {0};
        char texts[3][24];
        for (pm_index i = 0; i < graph->n_nouns; i++)
            n[0] += graph->nouns[i].level == l;
        for (pm_index i = 0; i < graph->n_verbs; i++)
            n[1] += graph->verbs[i].level == l;
        for (pm_index i = 0; i < graph->n_sentences; i++)
            n[2] += pm_graph_sentence_level(graph, i) == l;
        for (int i = 0; i < 3; i++)
            count_text(texts[i], n[i]);
        pm_index above = graph->levels[l].above;
        if (fits(list->request.pattern, graph->levels[l].name))
            add_row(list, (const char *const[]){graph->levels[l].name,
                                                above == PM_NONE ? "" : graph->levels[above].name,
                                                texts[0], texts[1], texts[2]});
    }
}

static void list_verbs(struct list *list)
{
    static const char *const names[] = {"verb", "level", "n_sentences", "n_active", "example"};
    const struct pm_graph *graph = list->report.data->graph;
    begin(list, names, 5);
    for (pm_index v = 0; v < graph->n_verbs; v++) {
        uint64_t n[2] = {0};
        char texts[2][24];
        struct pm_buf example = PM_BUF_INIT(TEXT_BYTES);
        bool has_active = false;
        if (!level_fits(list, graph->verbs[v].level) ||
            !fits(list->request.pattern, graph->verbs[v].name))
            continue;
        for (pm_index s = 0; s < graph->n_sentences; s++) {
            const struct pm_graph_sentence *sentence = &graph->sentences[s];
            if (sentence->verb != v)
                continue;
            n[0]++;
            n[1] += list->is_active[s];
            if (!example.len || (list->is_active[s] && !has_active)) {
                pm_buf_clear(&example);
                pm_ask_add_sentence(&example, graph, v,
                                    graph->sentence_nouns + sentence->first_noun,
                                    sentence->n_nouns);
                has_active = list->is_active[s];
            }
        }
        count_text(texts[0], n[0]);
        count_text(texts[1], n[1]);
        /* Adapters declare more verbs than a run has sentences for. */
        if (n[0] && (!list->request.only_active || n[1]))
            add_row(list, (const char *const[]){graph->verbs[v].name,
                                                graph->levels[graph->verbs[v].level].name, texts[0],
                                                texts[1], example.data});
        pm_buf_release(&example);
    }
}

/* Which nouns stand in a sentence that was active, and those that have such parts. */
static bool *active_nouns(const struct list *list)
{
    const struct pm_graph *graph = list->report.data->graph;
    bool *active = pm_alloc_array(graph->n_nouns + 1u, sizeof *active);
    for (pm_index s = 0; active && s < graph->n_sentences; s++)
        for (uint32_t i = 0; list->is_active[s] && i < graph->sentences[s].n_nouns; i++)
            for (pm_index n = graph->sentence_nouns[graph->sentences[s].first_noun + i];
                 n != PM_NONE && !active[n]; n = graph->nouns[n].parent)
                active[n] = true;
    return active;
}

static bool wants_threads(const struct list *list)
{
    return list->request.kind && !strcmp(list->request.kind, "thread");
}

/* No nouns, but what '... on thread NAME' may name. */
static void list_threads(struct list *list)
{
    const struct pm_archive_data *data = list->report.data;
    for (uint32_t i = 0; i < data->n_threads && !list->failed; i++) {
        const struct pm_thread *thread = &data->threads[i];
        const struct pm_process *process = &data->processes[thread->process];
        struct pm_buf word = PM_BUF_INIT(TEXT_BYTES);
        char tid[32], exe[96];
        if (!fits(list->request.pattern, thread->name))
            continue;
        pm_ask_add_word(&word, data->graph, thread->name);
        snprintf(tid, sizeof tid, "tid %lld", (long long)thread->tid);
        snprintf(exe, sizeof exe, "%.60s, pid %lld", pm_view_base_name(process->exe),
                 (long long)process->pid);
        add_row(list, (const char *const[]){word.data, "thread", "", tid, exe});
        pm_buf_release(&word);
    }
}

static void add_noun_row(struct list *list, pm_index n)
{
    const struct pm_graph *graph = list->report.data->graph;
    const struct pm_graph_noun *noun = &graph->nouns[n];
    struct pm_buf word = PM_BUF_INIT(TEXT_BYTES), place = PM_BUF_INIT(TEXT_BYTES);
    pm_ask_add_noun(&word, graph, n);
    pm_ask_add_place(&place, &list->report, n);
    add_row(list, (const char *const[]){
                      word.data, noun->kind, graph->levels[noun->level].name, place.data,
                      noun->parent == PM_NONE ? "" : graph->nouns[noun->parent].name});
    pm_buf_release(&word);
    pm_buf_release(&place);
}

/* People ask about their functions, loops and arrays; statements, most of which are named by
 * their place, come after these, machine code last. */
enum { TURN_NAMED, TURN_STATEMENTS, TURN_MACHINE_CODE, N_TURNS };

static unsigned turn_of(const struct pm_graph *graph, const struct pm_graph_noun *noun)
{
    return !strcmp(graph->levels[noun->level].name, "Base") ? TURN_MACHINE_CODE
           : !strcmp(noun->kind, "statement")               ? TURN_STATEMENTS
                                                            : TURN_NAMED;
}

static void list_nouns(struct list *list)
{
    static const char *const names[] = {"noun", "kind", "level", "place", "part_of"};
    const struct pm_graph *graph = list->report.data->graph;
    bool *active = list->request.only_active ? active_nouns(list) : NULL;
    begin(list, names, 5);
    if (wants_threads(list))
        list_threads(list);
    list->failed |= list->request.only_active && !active;
    for (uint64_t i = 0; i < (uint64_t)N_TURNS * graph->n_nouns && !list->failed; i++) {
        pm_index n = (pm_index)(i % graph->n_nouns);
        const struct pm_graph_noun *noun = &graph->nouns[n];
        if (turn_of(graph, noun) == i / graph->n_nouns && level_fits(list, noun->level) &&
            fits(list->request.pattern, noun->name) && kind_fits(list, noun) &&
            (!active || active[n]))
            add_noun_row(list, n);
    }
    free(active);
}

static void list_sentences(struct list *list)
{
    static const char *const names[] = {"sentence", "level", "place", "active"};
    const struct pm_graph *graph = list->report.data->graph;
    begin(list, names, 4);
    for (pm_index s = 0; s < graph->n_sentences && !list->failed; s++) {
        const struct pm_graph_sentence *sentence = &graph->sentences[s];
        pm_index level = pm_graph_sentence_level(graph, s), noun = pm_graph_first_noun(graph, s);
        if (!level_fits(list, level) || (list->request.only_active && !list->is_active[s]) ||
            (list->request.kind && (noun == PM_NONE || !kind_fits(list, &graph->nouns[noun]))))
            continue;
        struct pm_buf text = PM_BUF_INIT(TEXT_BYTES), place = PM_BUF_INIT(TEXT_BYTES);
        pm_ask_add_sentence(&text, graph, sentence->verb,
                            graph->sentence_nouns + sentence->first_noun, sentence->n_nouns);
        if (noun != PM_NONE)
            pm_ask_add_place(&place, &list->report, noun);
        if (text.data && fits(list->request.pattern, text.data))
            add_row(list, (const char *const[]){text.data, graph->levels[level].name, place.data,
                                                list->is_active[s] ? "yes" : "no"});
        pm_buf_release(&text);
        pm_buf_release(&place);
    }
}

static void list_points(struct list *list)
{
    static const char *const names[] = {"point", "asked_for", "n_mappings"};
    const struct pm_archive_data *data = list->report.data;
    begin(list, names, 3);
    for (uint32_t i = 0; i < data->n_mapping_points; i++) {
        const struct pm_mapping_point *point = &data->mapping_points[i];
        char n[24];
        count_text(n, (uint64_t)point->n_mappings);
        if (fits(list->request.pattern, point->name))
            add_row(list, (const char *const[]){point->name, point->is_on ? "yes" : "no", n});
    }
}

/* --- the commands --- */

static enum pm_status check_words(const struct list *list, struct pm_error *err)
{
    const struct pm_graph *graph = list->report.data->graph;
    bool level = !list->request.level, kind = !list->request.kind || wants_threads(list);
    struct pm_buf levels = PM_BUF_INIT(4096);
    for (pm_index l = 0; l < graph->n_levels; l++) {
        level |= level_fits(list, l);
        pm_buf_printf(&levels, "%s%s", l ? ", " : "", graph->levels[l].name);
    }
    for (pm_index n = 0; n < graph->n_nouns && !kind; n++)
        kind = kind_fits(list, &graph->nouns[n]);
    enum pm_status status =
        !level
            ? pm_error_set(err, PM_ERR_USAGE, "there is no level '%s' in the archive; levels: %s",
                           list->request.level, levels.data ? levels.data : "none")
        : !kind ? pm_error_set(err, PM_ERR_USAGE,
                               "there are no nouns of kind '%s' in the archive (column KIND of "
                               "'perfmap nouns' has those there are)",
                               list->request.kind)
                : PM_OK;
    pm_buf_release(&levels);
    return status;
}

static int print_list(struct cmd_parse *parse, const struct request *request,
                      void (*fill)(struct list *))
{
    struct pm_error err = PM_ERROR_INIT;
    struct list list = {.parse = parse, .request = *request};
    list.report.options.archive_path = request->archive_path;
    enum pm_status status = pm_view_load(
        &list.report, PM_ARCHIVE_LOAD_ALL | PM_ARCHIVE_LOAD_CAUSES | PM_ARCHIVE_LOAD_MERGED, &err);
    if (status == PM_OK)
        status = check_words(&list, &err);
    if (status == PM_OK && !find_active(&list))
        status = pm_error_set(&err, PM_ERR_MEMORY, "out of memory");
    if (status == PM_OK) {
        fill(&list);
        status = end(&list, &err);
    }
    int result;
    result = status == PM_OK ? cmd_stdout_done(parse, CMD_DONE) : cmd_refuse(parse, status, &err);
    free(list.is_active);
    pm_view_release(&list.report);
    return result;
}

static int vocabulary(struct cmd_parse *parse, void (*fill)(struct list *))
{
    struct request request = {.limit = TABLE_LIMIT};
    for (int key; (key = cmd_next(parse)) != CMD_END;)
        switch (key) {
        case OPT_LEVEL:
            request.level = parse->value;
            break;
        case OPT_KIND:
            request.kind = parse->value;
            break;
        case OPT_ACTIVE:
            request.only_active = true;
            break;
        case OPT_LIMIT:
            request.limit_given = cmd_number(parse, UINT32_MAX, &request.limit);
            break;
        case CMD_KEY_JSON:
            request.json = true;
            break;
        }
    if (parse->failed)
        return CMD_USAGE;
    char *archive;
    if (!cmd_archive_operands(parse, "at most a pattern", true, &request.pattern, &archive))
        return CMD_USAGE;
    if (request.json && !request.limit_given)
        request.limit = 0;
    request.archive_path = archive;
    int result = print_list(parse, &request, fill);
    free(archive);
    return result;
}

static int levels_main(struct cmd_parse *parse)
{
    return vocabulary(parse, list_levels);
}

static int nouns_main(struct cmd_parse *parse)
{
    return vocabulary(parse, list_nouns);
}

static int verbs_main(struct cmd_parse *parse)
{
    return vocabulary(parse, list_verbs);
}

static int sentences_main(struct cmd_parse *parse)
{
    return vocabulary(parse, list_sentences);
}

static int points_main(struct cmd_parse *parse)
{
    return vocabulary(parse, list_points);
}

#define LEVEL_OPTION                                                     \
    {                                                                    \
        OPT_LEVEL, "level", "LEVEL", "of this level of abstraction only" \
    }
#define KIND_OPTION(what)              \
    {                                  \
        OPT_KIND, "kind", "KIND", what \
    }
#define ACTIVE_OPTION                                                 \
    {                                                                 \
        OPT_ACTIVE, "active", NULL, "only what was active in the run" \
    }
#define COMMON_OPTIONS                                                                          \
    {OPT_LIMIT, "limit", "NUMBER", "rows to print, 0 for all (default: 200; with --json all)"}, \
        {CMD_KEY_JSON, "json", NULL, "as JSON; docs/questions.md has the schema"},              \
    {                                                                                           \
        0                                                                                       \
    }

static const struct cmd_option levels_options[] = {COMMON_OPTIONS};
static const struct cmd_option nouns_options[] = {
    LEVEL_OPTION,
    KIND_OPTION("of this kind only: function, loop, array, ...; thread: what 'on thread' may name"),
    ACTIVE_OPTION, COMMON_OPTIONS};
static const struct cmd_option verbs_options[] = {LEVEL_OPTION, ACTIVE_OPTION, COMMON_OPTIONS};
static const struct cmd_option sentences_options[] = {
    LEVEL_OPTION, KIND_OPTION("whose first noun is of this kind only"), ACTIVE_OPTION,
    COMMON_OPTIONS};

static const char *const points_usage[] = {"points [OPTION]... [PATTERN] [ARCHIVE]", NULL};
static const struct cmd_example points_examples[] = {
    {"perfmap run --mapping-points 'sql-*' -- ./app && perfmap points app.perfmap",
     "what maps to what is said at points of the SQL adapter only"},
    {NULL, NULL}};
static const char *const levels_usage[] = {"levels [OPTION]... [PATTERN] [ARCHIVE]", NULL};
static const char *const nouns_usage[] = {"nouns [OPTION]... [PATTERN] [ARCHIVE]", NULL};
static const char *const verbs_usage[] = {"verbs [OPTION]... [PATTERN] [ARCHIVE]", NULL};
static const char *const sentences_usage[] = {"sentences [OPTION]... [PATTERN] [ARCHIVE]", NULL};

static const struct cmd_example nouns_examples[] = {
    {"perfmap nouns --kind array --active heat.perfmap", "the arrays that the run touched"},
    {NULL, NULL}};
static const struct cmd_example sentences_examples[] = {
    {"perfmap sentences Reads --active", "all that was read, as questions have it"}, {NULL, NULL}};

#define PATTERN_TEXT                                                                           \
    "PATTERN is a part of the name, in any case, or with * and ? all of it. Without ARCHIVE, " \
    "the only *.perfmap file in the current folder is taken."

const struct cmd cmd_levels = {
    .name = "levels",
    .summary = "list the levels of abstraction that an archive knows",
    .usage = levels_usage,
    .description = "What 'perfmap report --level' and LEVEL:: in questions can name. " PATTERN_TEXT,
    .options = levels_options,
    .main = levels_main,
};

const struct cmd cmd_nouns = {
    .name = "nouns",
    .summary = "list the program elements that can be asked about",
    .usage = nouns_usage,
    .description = "Functions, loops, statements, arrays, files and what else the archive knows, "
                   "as 'perfmap ask' has them. " PATTERN_TEXT,
    .options = nouns_options,
    .examples = nouns_examples,
    .main = nouns_main,
};

const struct cmd cmd_verbs = {
    .name = "verbs",
    .summary = "list what is done in a program",
    .usage = verbs_usage,
    .description = "Verbs with the number of their sentences, of those that were active in the "
                   "run, and an example. " PATTERN_TEXT,
    .options = verbs_options,
    .main = verbs_main,
};

const struct cmd cmd_sentences = {
    .name = "sentences",
    .summary = "list the sentences that can be asked about",
    .usage = sentences_usage,
    .description = "All sentences of the archive as 'perfmap ask' takes them. " PATTERN_TEXT,
    .options = sentences_options,
    .examples = sentences_examples,
    .main = sentences_main,
};

const struct cmd cmd_points = {
    .name = "points",
    .summary = "list the points where a program reports mappings",
    .usage = points_usage,
    .description =
        "Mapping points of the program, its libraries and adapters: places at which they say "
        "that what one sentence costs is spent for another (pm_map_at in perfmap.h; "
        "'default' is pm_map), with the number of mappings that were said there. 'perfmap run "
        "--mapping-points' switches them on and off. " PATTERN_TEXT,
    .options = levels_options,
    .examples = points_examples,
    .main = points_main,
};
