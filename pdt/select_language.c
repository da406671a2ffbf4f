/* The language of selections: the conditions of queries of routines, and those on a measured run.
 *
 *     condition = (of queries)
 *               | P                                      name with * or ?, or in quotes
 *               | "in" FILE | "in" RUN.perfmap           RUN: the run that all is of
 *               | "called" OP N ["times"]
 *               | ("time" | "inclusive") ["each"] OP T   T: N with ns, us, ms, s, or %
 *               | WORDS (N ["times"] | T ["each"])
 *     OP        = "<" | "<=" | "=" | "!=" | ">=" | ">" | WORDS
 *     WORDS     = "more than" | "over" | "above" | "less than" | "under" | "below" | "at least"
 *               | "at most"
 *
 * What the run does not say is NULL, and stays so behind `not`: it selects nothing. So does a bound
 * that leaves it open.
 */
#include "select_internal.h"

#include "mapping/base/names.h"

#include <ctype.h>
#include <stdlib.h>

struct select_context {
    const struct pdt_selection_request *request;
    bool uses_run, uses_times;
};

/* --- names --- */

static void fits_name(sqlite3_context *context, int n, sqlite3_value **values)
{
    const char *text = (const char *)sqlite3_value_text(values[0]),
               *name = (const char *)sqlite3_value_text(values[1]),
               *linkage = (const char *)sqlite3_value_text(values[2]);
    (void)n;
    if (!text || !name)
        return; /* NULL */
    const struct pm_name_pattern pattern = {.text = text, .is_plain_too = true};
    sqlite3_result_int(context, pm_name_fits_code(&pattern, name) ||
                                    (linkage && pm_name_fits(&pattern, linkage)));
}

static void fits_path(sqlite3_context *context, int n, sqlite3_value **values)
{
    const char *text = (const char *)sqlite3_value_text(values[0]),
               *path = (const char *)sqlite3_value_text(values[1]);
    (void)n;
    if (!text || !path)
        return;
    const struct pm_name_pattern pattern = {.text = text, .is_plain_too = true};
    sqlite3_result_int(context, pm_name_fits_path(&pattern, path));
}

enum pm_status select_add_functions(struct pm_database *pdb, struct pm_error *err)
{
    enum { FLAGS = SQLITE_UTF8 | SQLITE_DETERMINISTIC };
    sqlite3 *db = pm_database_db(pdb);
    if (sqlite3_create_function(db, "fits_name", 3, FLAGS, NULL, fits_name, NULL, NULL) !=
            SQLITE_OK ||
        sqlite3_create_function(db, "fits_path", 2, FLAGS, NULL, fits_path, NULL, NULL) !=
            SQLITE_OK)
        return pm_database_error(pdb, err);
    return PM_OK;
}

/* --- words that are read ahead --- */

struct place {
    const char *at, *word_at;
    struct pm_str word;
    bool is_quoted;
};

static struct place place_of(const struct query_parser *parser)
{
    return (struct place){parser->at, parser->word_at, parser->word, parser->is_quoted};
}

static void go_back(struct query_parser *parser, struct place place)
{
    parser->at = place.at;
    parser->word_at = place.word_at;
    parser->word = place.word;
    parser->is_quoted = place.is_quoted;
}

static const struct {
    const char *first, *second, *sql; /* second NULL: there is one word */
} operator_words[] = {{"more", "than", ">"}, {"over", NULL, ">"},  {"above", NULL, ">"},
                      {"less", "than", "<"}, {"under", NULL, "<"}, {"below", NULL, "<"},
                      {"at", "least", ">="}, {"at", "most", "<="}};
enum { N_OPERATOR_WORDS = sizeof operator_words / sizeof *operator_words };

/* An operator in words, which is behind then; *ret_sql NULL: there is none. */
static enum pm_status take_operator_words(struct query_parser *parser, const char **ret_sql)
{
    const struct place before = place_of(parser);
    *ret_sql = NULL;
    for (int i = 0; i < N_OPERATOR_WORDS; i++) {
        if (!query_is_word(parser, operator_words[i].first))
            continue;
        enum pm_status status = query_next(parser);
        if (status != PM_OK)
            return status;
        const char *second = operator_words[i].second;
        if (second && !query_is_word(parser, second)) {
            go_back(parser, before);
            continue;
        }
        *ret_sql = operator_words[i].sql;
        return second ? query_next(parser) : PM_OK;
    }
    return PM_OK;
}

static enum pm_status take_operator(struct query_parser *parser, const char **ret_sql)
{
    enum pm_status status = take_operator_words(parser, ret_sql);
    if (status != PM_OK || *ret_sql)
        return status;
    return query_operator(parser, ret_sql);
}

/* --- amounts --- */

static const struct unit {
    const char *word;
    double ns; /* 0: percent */
} units[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"%", 0}};
enum { N_UNITS = sizeof units / sizeof *units };

static const struct unit *find_unit(struct pm_str word)
{
    for (int i = 0; i < N_UNITS; i++)
        if (pm_str_is(word, units[i].word))
            return &units[i];
    return NULL;
}

/* How much of a word is a number: 1e6 of 1e6ns. */
static size_t number_length(struct pm_str word)
{
    size_t n = 0;
    while (n < word.len && (isdigit((unsigned char)word.p[n]) || word.p[n] == '.'))
        n++;
    size_t sign = n + 1 < word.len && (word.p[n + 1] == '+' || word.p[n + 1] == '-');
    bool has_exponent = n > 0 && n + 1 + sign < word.len &&
                        tolower((unsigned char)word.p[n]) == 'e' &&
                        isdigit((unsigned char)word.p[n + 1 + sign]);
    if (!has_exponent)
        return n;
    n += 1 + sign;
    while (n < word.len && isdigit((unsigned char)word.p[n]))
        n++;
    return n;
}

/* A number, and its unit (NULL: none), which may be a word of its own. */
static enum pm_status take_amount(struct query_parser *parser, double *ret_number,
                                  const struct unit **ret_unit)
{
    struct pm_str word = parser->word;
    size_t n = number_length(word);
    *ret_unit = NULL;
    if (!n || !pm_str_to_double((struct pm_str){word.p, n}, ret_number))
        return query_fail(parser, "expected a number");
    if (n < word.len) {
        *ret_unit = find_unit((struct pm_str){word.p + n, word.len - n});
        if (!*ret_unit)
            return query_fail(parser, "expected a number with ns, us, ms, s or %");
        return query_next(parser);
    }
    enum pm_status status = query_next(parser);
    if (status != PM_OK || parser->is_quoted)
        return status;
    *ret_unit = find_unit(parser->word);
    return *ret_unit ? query_next(parser) : PM_OK;
}

/* --- conditions on the run --- */

static enum pm_status use_run(struct query_parser *parser)
{
    struct select_context *context = parser->context;
    context->uses_run = true;
    if (!context->request->run)
        return query_fail(parser, "this is of a measured run: name its archive as well, as "
                                  "RUN.perfmap");
    return PM_OK;
}

/* value: of the row m; open: when it is a bound only. That settles what lies below it, and at it
 * where the operator says the same of all that is more. */
static void add_measured(struct query_parser *parser, const char *value, const char *open,
                         const char *operator, double number)
{
    struct pm_buf *text = &parser->sql->text;
    bool is_settled_at = !strcmp(operator, ">=") || !strcmp(operator, "<");
    pm_buf_printf(text, "(SELECT CASE WHEN %s AND %s %s ", open, value, is_settled_at ? "<" : "<=");
    pm_buf_add_double(text, number);
    pm_buf_printf(text, " THEN NULL ELSE %s %s ", value, operator);
    pm_buf_add_double(text, number);
    pm_buf_add_str(text, " END FROM temp.measured m WHERE m.routine = r.id)");
}

static enum pm_status add_calls(struct query_parser *parser, const char *operator, double number)
{
    add_measured(parser, "m.n_calls", "m.calls_are_at_least", operator, number);
    return query_is_word(parser, "times") ? query_next(parser) : PM_OK;
}

static enum pm_status add_time(struct query_parser *parser, bool is_inclusive, bool is_each,
                               const char *operator, double number, const struct unit *unit)
{
    struct select_context *context = parser->context;
    context->uses_times = true;
    if (!unit)
        return query_fail(parser, "the time before has no unit: ns, us, ms, s or %");
    if (unit->ns == 0 && is_each)
        return query_fail(parser, "the time of each call is no share of the run: ns, us, ms or s");
    double ns = unit->ns == 0 ? number / 100 * context->request->run->total_ns : number * unit->ns;
    if (is_each) /* of two bounds nothing follows */
        pm_buf_printf(&parser->sql->text,
                      "(SELECT CASE WHEN NOT m.calls_are_at_least AND NOT m.times_are_at_least AND "
                      "m.n_calls > 0 THEN m.%s / m.n_calls %s ",
                      is_inclusive ? "inclusive_ns" : "own_ns", operator);
    else
        add_measured(parser, is_inclusive ? "m.inclusive_ns" : "m.own_ns",
                     "m.times_are_at_least", operator, ns);
    if (!is_each)
        return PM_OK;
    pm_buf_add_double(&parser->sql->text, ns);
    query_add(parser, " END FROM temp.measured m WHERE m.routine = r.id)");
    return PM_OK;
}

/* called OP N, time [each] OP T. */
static enum pm_status parse_measured(struct query_parser *parser)
{
    bool is_calls = query_is_word(parser, "called"), is_each = false,
         is_inclusive = query_is_word(parser, "inclusive");
    const char *operator;
    double number;
    const struct unit *unit;
    enum pm_status status = use_run(parser);
    if (status != PM_OK)
        return status;
    status = query_next(parser);
    if (status != PM_OK)
        return status;
    if (!is_calls && query_is_word(parser, "each")) {
        is_each = true;
        status = query_next(parser);
        if (status != PM_OK)
            return status;
    }
    status = take_operator(parser, &operator);
    if (status != PM_OK)
        return status;
    status = take_amount(parser, &number, &unit);
    if (status != PM_OK)
        return status;
    if (!is_calls)
        return add_time(parser, is_inclusive, is_each, operator, number, unit);
    if (unit)
        return query_fail(parser, "the number of calls before has a unit");
    return add_calls(parser, operator, number);
}

/* "under 100 ns each", "more than 1e6 times": behind the operator. */
static enum pm_status parse_words(struct query_parser *parser, const char *operator)
{
    double number;
    const struct unit *unit;
    enum pm_status status = use_run(parser);
    if (status != PM_OK)
        return status;
    status = take_amount(parser, &number, &unit);
    if (status != PM_OK)
        return status;
    if (!unit)
        return add_calls(parser, operator, number);
    bool is_each = query_is_word(parser, "each");
    status = is_each ? query_next(parser) : PM_OK;
    if (status != PM_OK)
        return status;
    return add_time(parser, false, is_each, operator, number, unit);
}

/* --- the others --- */

static bool is_run(const struct query_parser *parser)
{
    return parser->word.len > 8 && !memcmp(parser->word.p + parser->word.len - 8, ".perfmap", 8);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* in FILE, in RUN.perfmap. Not done: in routine, in class, ... */
static enum pm_status parse_in(struct query_parser *parser, bool *ret_is_done)
{
    static const char *const words[] = {"routine", "file", "class", "namespace", "loop", NULL};
    struct select_context *context = parser->context;
    const struct place before = place_of(parser);
    enum pm_status status = query_next(parser);
    if (status != PM_OK)
        return status;
    for (int i = 0; words[i]; i++)
        if (query_is_word(parser, words[i])) {
            go_back(parser, before);
            return PM_OK;
        }
    *ret_is_done = true;
    if (is_run(parser)) {
        status = use_run(parser);
        if (status != PM_OK)
            return status;
        const char *name = last_part(context->request->run->name);
        if (parser->word.len < strlen(name) ||
            memcmp(parser->word.p + parser->word.len - strlen(name), name, strlen(name)) != 0)
            return query_fail(parser, "all conditions are of one run");
        query_add(parser, "EXISTS (SELECT 1 FROM temp.measured m WHERE m.routine = r.id)");
        return query_next(parser);
    }
    query_add(parser, "coalesce(r.file IN (SELECT y.id FROM main.files y WHERE ");
    status = query_pattern_of(parser, "y.name", NULL, true);
    query_add(parser, "), 0)");
    return status;
}

/* Of conditions that queries have: are the rows of a run not enough for it? */
static bool needs_source(const struct query_parser *parser)
{
    return query_has_word(parser) && !query_is_word(parser, "named") &&
           !query_is_word(parser, "in");
}

static bool is_pattern(const struct query_parser *parser)
{
    return parser->is_quoted || memchr(parser->word.p, '*', parser->word.len) ||
           memchr(parser->word.p, '?', parser->word.len);
}

static bool is_before_words(struct query_parser *parser)
{
    const struct place before = place_of(parser);
    const char *sql = NULL;
    bool is = query_next(parser) == PM_OK && take_operator_words(parser, &sql) == PM_OK && sql;
    go_back(parser, before);
    return is;
}

static enum pm_status select_atom(struct query_parser *parser, bool *ret_is_done)
{
    struct select_context *context = parser->context;
    const char *operator;
    bool is_called = query_is_word(parser, "called") &&
                     (query_is_before_operator(parser) || is_before_words(parser));
    *ret_is_done = true;
    if (is_called || query_is_word(parser, "time") || query_is_word(parser, "inclusive"))
        return parse_measured(parser);
    enum pm_status status = take_operator_words(parser, &operator);
    if (status != PM_OK)
        return status;
    if (operator)
        return parse_words(parser, operator);
    if (is_pattern(parser))
        return query_pattern_of(parser, "r.name", "r.full_name", false);
    *ret_is_done = false;
    if (!context->request->has_source && needs_source(parser))
        return query_fail(parser, "an archive knows names, files, calls and times; for what the "
                                  "source says name a program database too ('perfmap pdb build')");
    return query_is_word(parser, "in") ? parse_in(parser, ret_is_done) : PM_OK;
}

/* --- the whole --- */

static enum pm_status add_condition(const char *text, struct select_context *context,
                                    struct pm_error *err, struct query_sql *sql)
{
    static const struct query_language language = {
        .what = "condition", .has_names = true, .has_unknown = true, .atom = select_atom};
    struct query_parser parser = {.text = text,
                                  .at = text,
                                  .word_at = text,
                                  .noun = query_noun_find(PM_STR("routines")),
                                  .sql = sql,
                                  .err = err,
                                  .language = &language,
                                  .context = context};
    enum pm_status status = query_check_text(text, "condition", err);
    if (status != PM_OK)
        return status;
    status = query_next(&parser);
    if (status != PM_OK)
        return status;
    query_add(&parser, " AND ");
    status = query_parse_any(&parser);
    if (status != PM_OK)
        return status;
    return query_is_at_end(&parser) ? PM_OK : query_fail(&parser, "this cannot stand here");
}

enum pm_status select_to_sql(const struct pdt_selection_request *request, struct pm_error *err,
                             bool *ret_uses_run, bool *ret_uses_times, struct query_sql *ret_sql)
{
    struct select_context context = {.request = request};
    *ret_sql = (struct query_sql){.text = PM_BUF_INIT(1 << 20)};
    pm_buf_add_str(
        &ret_sql->text,
        "SELECT r.id, " QUERY_SIGNATURE(
            "r") ", r.linkage_name, (SELECT f.name FROM "
                 "main.files f WHERE f.id = r.file) AS file, r.line, r.linkage = 'internal', "
                 "r.is_template OR r.linkage_name = '' AND r.usr <> '', m.routine IS NULL, "
                 "m.is_rough, m.calls_are_at_least OR m.times_are_at_least, 1");
    for (size_t i = 0; i < request->n_conditions; i++) {
        enum pm_status status = add_condition(request->conditions[i], &context, err, ret_sql);
        if (status != PM_OK)
            return status;
    }
    pm_buf_add_str(&ret_sql->text,
                   " AS fits FROM main.routines r LEFT JOIN temp.measured m ON m.routine = r.id "
                   "WHERE " SELECT_IS_OWN " AND fits IS NOT 0 ORDER BY file, r.line, r.column, "
                   "r.id");
    *ret_uses_run = context.uses_run;
    *ret_uses_times = context.uses_times;
    return ret_sql->text.failed ? pm_error_set(err, PM_ERR_MEMORY, "out of memory") : PM_OK;
}
