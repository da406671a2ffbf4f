/* Text to SQL. Words of a query become text of ours, patterns become values that are bound.
 *
 *     query     = noun [pattern] [any]
 *     any       = all { "or" all }
 *     all       = one { ["and"] one }
 *     one       = "not" one | "(" any ")" | condition
 *     condition = "named" P | "in" ("routine"|"file"|"class"|"namespace") P | "in" "loop"
 *               | "calling" P | "called" "by" P | "to" P | "reaching" P | "reached" "from" P
 *               | "reading" P | "writing" P | "read" "by" P | "written" "by" P | "of" "type" P
 *               | number-word ("<" | "<=" | "=" | "!=" | ">=" | ">") N | flag-word
 */
#include "query_internal.h"

#include "mapping/base/suggest.h"

#include <ctype.h>

enum { MAX_DEPTH = 50, MAX_WORDS = 64 };

static const struct query_language query_language = {.what = "query"};

/* --- words --- */

enum pm_status query_fail(const struct query_parser *parser, const char *what)
{
    size_t column = (size_t)(parser->word_at - parser->text) + 1;
    if (!parser->word.len && !parser->is_quoted)
        return pm_error_set(parser->err, PM_ERR_USAGE, "%s column %zu, at its end: %s",
                            parser->language->what, column, what);
    return pm_error_set(parser->err, PM_ERR_USAGE, "%s column %zu, at '%.60s': %s",
                        parser->language->what, column, parser->word_at, what);
}

static bool is_operator(char c)
{
    return c == '<' || c == '>' || c == '=' || c == '!';
}

enum pm_status query_next(struct query_parser *parser)
{
    const char *p = parser->at + strspn(parser->at, " \t\n\r");
    parser->word_at = p;
    parser->is_quoted = *p == '"';
    if (parser->is_quoted) {
        const char *end = strchr(p + 1, '"');
        parser->word = (struct pm_str){p + 1, end ? (size_t)(end - p - 1) : 0};
        parser->at = end ? end + 1 : p + strlen(p);
        return end ? PM_OK : query_fail(parser, "this quote is not closed");
    }
    size_t len = 0;
    if (*p == '(' || *p == ')')
        len = 1;
    else if (is_operator(*p))
        len = is_operator(p[1]) ? 2 : 1;
    else
        while (p[len] && !strchr(" \t\n\r()\"", p[len]) && !is_operator(p[len]))
            len++;
    parser->word = (struct pm_str){p, len};
    parser->at = p + len;
    return PM_OK;
}

bool query_is_before_operator(const struct query_parser *parser)
{
    return is_operator(parser->at[strspn(parser->at, " \t\n\r")]);
}

bool query_is_word(const struct query_parser *parser, const char *word)
{
    return !parser->is_quoted && pm_str_is(parser->word, word);
}

bool query_is_at_end(const struct query_parser *parser)
{
    return !parser->word.len && !parser->is_quoted;
}

void query_add(struct query_parser *parser, const char *sql)
{
    pm_buf_add_str(&parser->sql->text, sql);
}

/* --- patterns --- */

/* ^ and $ hold the ends, * and ? are any; without them a part of the name is meant, in any case. */
static bool is_glob(struct pm_str word)
{
    return word.len > 0 && (word.p[0] == '^' || word.p[word.len - 1] == '$' ||
                            memchr(word.p, '*', word.len) || memchr(word.p, '?', word.len));
}

static int add_pattern(struct query_parser *parser, struct pm_str word, bool is_glob,
                       bool is_path_end)
{
    struct pm_buf *pattern = &parser->sql->patterns[parser->sql->n_patterns++];
    bool begins = is_glob && word.p[0] == '^';
    bool ends = is_glob && word.len > begins && word.p[word.len - 1] == '$';
    bool is_open = is_glob && (begins || ends); /* at the other end */
    *pattern = (struct pm_buf)PM_BUF_INIT(8 * QUERY_MAX_BYTES);
    if (is_open && !begins)
        pm_buf_add_byte(pattern, '*');
    else if (is_path_end)
        pm_buf_add_str(pattern, "*/");
    for (size_t i = begins; i < word.len - ends; i++)
        if (is_glob && word.p[i] == '[')
            pm_buf_add_str(pattern, "[[]");
        else
            pm_buf_add_byte(pattern, (unsigned char)word.p[i]);
    pm_buf_add_str(pattern, is_open && !ends ? "*" : "");
    return parser->sql->n_patterns;
}

static void add_fit(struct query_parser *parser, const char *name, int pattern, bool is_any)
{
    if (is_any)
        pm_buf_printf(&parser->sql->text, "%s GLOB ?%d", name, pattern);
    else
        pm_buf_printf(&parser->sql->text, "instr(lower(%s), lower(?%d)) > 0", name, pattern);
}

/* A pattern that means what names mean in all commands. Routines have their parameters and the
 * linker's name, too. */
static enum pm_status add_name_fit(struct query_parser *parser, const char *name, const char *other,
                                   bool is_path)
{
    struct pm_buf *text = &parser->sql->text;
    struct pm_buf *pattern = &parser->sql->patterns[parser->sql->n_patterns++];
    int n = parser->sql->n_patterns;
    *pattern = (struct pm_buf)PM_BUF_INIT(8 * QUERY_MAX_BYTES);
    pm_buf_add(pattern, parser->word.p, parser->word.len);
    if (is_path)
        pm_buf_printf(text, "fits_path(?%d, %s)", n, name);
    else if (other && pm_str_ends_with(other, ".full_name"))
        pm_buf_printf(text, "fits_name(?%d, " QUERY_SIGNATURE("%c") ", %c.linkage_name)", n, *other,
                      *other, *other, *other);
    else
        pm_buf_printf(text, "fits_name(?%d, %s, '')", n, name);
    return query_next(parser);
}

/* The token at hand is a pattern, of this name or the other; what follows is next. Paths fit by
 * their ends, too. */
enum pm_status query_pattern_of(struct query_parser *parser, const char *name, const char *other,
                                bool is_path)
{
    if (query_is_at_end(parser))
        return query_fail(parser, "a name or a pattern is missing");
    if (parser->sql->n_patterns + 2 > QUERY_MAX_PATTERNS)
        return query_fail(parser, "at most 64 patterns can be asked for at once");
    if (parser->language->has_names)
        return add_name_fit(parser, name, other, is_path);
    bool is_any = !parser->is_quoted && is_glob(parser->word);
    int pattern = add_pattern(parser, parser->word, is_any, false);
    query_add(parser, "(");
    add_fit(parser, name, pattern, is_any);
    if (other) {
        query_add(parser, " OR ");
        add_fit(parser, other, pattern, is_any);
    }
    if (is_path && is_any) {
        query_add(parser, " OR ");
        add_fit(parser, name, add_pattern(parser, parser->word, true, true), true);
    }
    query_add(parser, ")");
    return query_next(parser);
}

static enum pm_status routines_that_fit(struct query_parser *parser)
{
    query_add(parser, "(SELECT y.id FROM main.routines y WHERE ");
    enum pm_status status = query_pattern_of(parser, "y.name", "y.full_name", false);
    query_add(parser, ")");
    return status;
}

static enum pm_status variables_that_fit(struct query_parser *parser)
{
    query_add(parser, "(SELECT y.id FROM main.variables y WHERE ");
    enum pm_status status = query_pattern_of(parser, "y.name", NULL, false);
    query_add(parser, ")");
    return status;
}

/* --- conditions --- */

static enum pm_status has_none(const struct query_parser *parser, const char *what)
{
    char text[120];
    snprintf(text, sizeof text, "'%s' have no such thing: %s", parser->noun->word, what);
    return query_fail(parser, text);
}

/* In a namespace lies all that its name begins, also of its classes and inner namespaces. The
 * pattern is of whole names, "b" also of a::b. Of system headers only the
 * scopes of routines are known. */
static enum pm_status parse_namespace(struct query_parser *parser)
{
    struct pm_str word = parser->word;
    if (query_is_at_end(parser))
        return query_fail(parser, "a name or a pattern is missing");
    if (parser->sql->n_patterns + 2 > QUERY_MAX_PATTERNS)
        return query_fail(parser, "at most 64 patterns can be asked for at once");
    if (word.len && word.p[0] == '^')
        word = (struct pm_str){word.p + 1, word.len - 1};
    if (word.len && word.p[word.len - 1] == '$')
        word.len--;
    int n = add_pattern(parser, word, true, false);
    pm_buf_printf(&parser->sql->text,
                  "(EXISTS (SELECT 1 FROM main.namespaces y WHERE (y.name GLOB ?%d OR y.name GLOB "
                  "'*::' || ?%d) AND substr(r.full_name, 1, length(y.name) + 2) = y.name || '::') "
                  "OR r.is_system AND r.full_name GLOB ?%d || '::*')",
                  n, n, n);
    return query_next(parser);
}

static enum pm_status parse_in(struct query_parser *parser)
{
    static const char *const words[] = {"routine", "file", "class", "namespace", "loop", NULL};
    const struct query_noun *noun = parser->noun;
    const char *of[] = {noun->routine, noun->file, noun->class,
                        noun->sort == NOUN_ROUTINE ? noun->other_name : NULL, noun->loop};
    int i = 0;
    while (words[i] && !query_is_word(parser, words[i]))
        i++;
    if (!words[i])
        return query_fail(parser, "expected 'routine', 'file', 'class', 'namespace' or 'loop'");
    if (!of[i])
        return has_none(parser, words[i]);
    enum pm_status status = query_next(parser);
    if (status != PM_OK)
        return status;
    if (i == 4) {
        pm_buf_printf(&parser->sql->text, "%s IS NOT NULL", of[i]);
        return PM_OK;
    }
    if (i == 3)
        return parse_namespace(parser);
    pm_buf_printf(&parser->sql->text, "%s IN ", of[i]);
    if (i == 0)
        return routines_that_fit(parser);
    query_add(parser, i == 1 ? "(SELECT y.id FROM main.files y WHERE "
                             : "(SELECT y.id FROM main.classes y WHERE ");
    status = query_pattern_of(parser, "y.name", NULL, i == 1);
    query_add(parser, ")");
    return status;
}

/* All loops around a set of calls or accesses. */
static void begin_loops(struct query_parser *parser, const char *inner)
{
    pm_buf_printf(&parser->sql->text, "%s IN (WITH RECURSIVE around(id) AS (%s", parser->noun->id,
                  inner);
}

static void end_loops(struct query_parser *parser)
{
    query_add(parser, " UNION SELECT l2.parent FROM main.loops l2 JOIN around ON l2.id = around.id "
                      "WHERE l2.parent IS NOT NULL) SELECT id FROM around)");
}

static enum pm_status parse_calling(struct query_parser *parser)
{
    enum pm_status status;
    if (parser->noun->sort == NOUN_ROUTINE) {
        pm_buf_printf(&parser->sql->text, "%s IN (SELECT e.caller FROM edges e WHERE e.callee IN ",
                      parser->noun->id);
        status = routines_that_fit(parser);
        query_add(parser, ")");
        return status;
    }
    if (parser->noun->sort != NOUN_LOOP)
        return has_none(parser, "only routines and loops call");
    begin_loops(parser, "SELECT c2.loop FROM main.calls c2 JOIN edges e ON e.call = c2.id WHERE "
                        "c2.loop IS NOT NULL AND e.callee IN ");
    status = routines_that_fit(parser);
    end_loops(parser);
    return status;
}

static enum pm_status parse_called_by(struct query_parser *parser)
{
    if (parser->noun->sort != NOUN_ROUTINE)
        return has_none(parser, "only routines are called");
    pm_buf_printf(&parser->sql->text, "%s IN (SELECT e.callee FROM edges e WHERE e.caller IN ",
                  parser->noun->id);
    enum pm_status status = routines_that_fit(parser);
    query_add(parser, ")");
    return status;
}

static enum pm_status parse_to(struct query_parser *parser)
{
    if (parser->noun->sort != NOUN_CALL)
        return has_none(parser, "only calls go to routines");
    pm_buf_printf(&parser->sql->text, "%s IN (SELECT e.call FROM edges e WHERE e.callee IN ",
                  parser->noun->id);
    enum pm_status status = routines_that_fit(parser);
    query_add(parser, ")");
    return status;
}

/* Calls by pointers go by way of their type, which is a negative id: calls and targets are added
 * and not multiplied. */
static const char reach_to[] =
    "SELECT e.caller FROM named_edges e WHERE e.callee IN (SELECT id FROM fit) UNION "
    "SELECT -t.type FROM main.pointer_targets t WHERE t.routine IN (SELECT id FROM fit) UNION "
    "SELECT e.caller FROM named_edges e JOIN reach ON e.callee = reach.id UNION "
    "SELECT -t.type FROM main.pointer_targets t JOIN reach ON t.routine = reach.id UNION "
    "SELECT c.routine FROM main.calls c JOIN reach ON c.type = -reach.id WHERE c.kind = 'pointer'";
static const char reach_from[] =
    "SELECT e.callee FROM named_edges e WHERE e.caller IN (SELECT id FROM fit) UNION "
    "SELECT -c.type FROM main.calls c WHERE c.routine IN (SELECT id FROM fit) AND "
    "c.kind = 'pointer' UNION "
    "SELECT e.callee FROM named_edges e JOIN reach ON e.caller = reach.id UNION "
    "SELECT -c.type FROM main.calls c JOIN reach ON c.routine = reach.id WHERE "
    "c.kind = 'pointer' UNION "
    "SELECT t.routine FROM main.pointer_targets t JOIN reach ON t.type = -reach.id";

static enum pm_status parse_reach(struct query_parser *parser, bool is_to)
{
    if (parser->noun->sort != NOUN_ROUTINE)
        return has_none(parser, "only routines reach others");
    pm_buf_printf(&parser->sql->text, "%s IN (WITH RECURSIVE fit(id) AS ", parser->noun->id);
    enum pm_status status = routines_that_fit(parser);
    query_add(parser, ", reach(id) AS (");
    query_add(parser, is_to ? reach_to : reach_from);
    query_add(parser, ") SELECT id FROM reach WHERE id > 0)");
    return status;
}

static enum pm_status parse_touching(struct query_parser *parser, const char *modes)
{
    enum pm_status status;
    if (parser->noun->sort != NOUN_ROUTINE && parser->noun->sort != NOUN_LOOP)
        return has_none(parser, "only routines and loops read and write");
    if (parser->noun->sort == NOUN_ROUTINE) {
        pm_buf_printf(&parser->sql->text,
                      "%s IN (SELECT a2.routine FROM main.accesses a2 WHERE a2.mode IN %s AND "
                      "a2.variable IN ",
                      parser->noun->id, modes);
        status = variables_that_fit(parser);
        query_add(parser, ")");
        return status;
    }
    begin_loops(parser, "SELECT a2.loop FROM main.accesses a2 WHERE a2.loop IS NOT NULL AND "
                        "a2.mode IN ");
    pm_buf_printf(&parser->sql->text, "%s AND a2.variable IN ", modes);
    status = variables_that_fit(parser);
    end_loops(parser);
    return status;
}

static enum pm_status parse_touched_by(struct query_parser *parser, const char *modes)
{
    if (parser->noun->sort != NOUN_VARIABLE)
        return has_none(parser, "only arrays and variables are read and written");
    pm_buf_printf(&parser->sql->text,
                  "%s IN (SELECT a2.variable FROM main.accesses a2 WHERE a2.mode IN %s AND "
                  "a2.routine IN ",
                  parser->noun->id, modes);
    enum pm_status status = routines_that_fit(parser);
    query_add(parser, ")");
    return status;
}

static enum pm_status parse_type(struct query_parser *parser)
{
    if (!parser->noun->type)
        return has_none(parser, "type");
    pm_buf_printf(&parser->sql->text, "%s IN (SELECT y.id FROM main.types y WHERE ",
                  parser->noun->type);
    enum pm_status status = query_pattern_of(parser, "y.name", "y.canonical", false);
    query_add(parser, ")");
    return status;
}

static enum pm_status parse_named(struct query_parser *parser)
{
    return query_pattern_of(parser, parser->noun->name, parser->noun->other_name,
                            !strcmp(parser->noun->word, "files"));
}

enum pm_status query_operator(struct query_parser *parser, const char **ret_operator)
{
    static const char *const operators[] = {"<", "<=", "=", "==", "!=", ">=", ">", NULL};
    int i = 0;
    while (operators[i] && !query_is_word(parser, operators[i]))
        i++;
    if (!operators[i])
        return query_fail(parser, "expected one of < <= = != >= >");
    *ret_operator = operators[i];
    return query_next(parser);
}

static enum pm_status parse_number(struct query_parser *parser, const char *sql)
{
    const char *operator;
    double number;
    enum pm_status status = query_operator(parser, &operator);
    if (status != PM_OK)
        return status;
    if (!pm_str_to_double(parser->word, &number) || number < 0)
        return query_fail(parser, "expected a number");
    pm_buf_printf(&parser->sql->text, "coalesce(%s, 0) %s ", sql, operator);
    pm_buf_add_double(&parser->sql->text, number);
    return query_next(parser);
}

static const char *find_field(const struct query_field *fields, const struct query_parser *parser)
{
    for (; fields && fields->word; fields++)
        if (query_is_word(parser, fields->word))
            return fields->sql;
    return NULL;
}

#define READS "('read', 'update')"
#define WRITES "('write', 'update')"

enum condition {
    NAMED,
    IN,
    CALLING,
    CALLED,
    TO,
    REACHING,
    REACHED,
    READING,
    WRITING,
    READ,
    WRITTEN,
    OF,
    N_CONDITIONS
};
static const char *const condition_words[] = {"named",    "in",      "calling", "called",  "to",
                                              "reaching", "reached", "reading", "writing", "read",
                                              "written",  "of",      NULL};

static bool is_condition(const struct query_parser *parser, int i)
{
    return query_is_word(parser, condition_words[i]) ||
           (i == REACHING && query_is_word(parser, "reaches")) ||
           (i == CALLING && query_is_word(parser, "calls"));
}

/* Those of two words; NULL: it has one. */
static const char *second_word(enum condition condition)
{
    static const char *const words[N_CONDITIONS] = {
        [CALLED] = "by", [READ] = "by", [WRITTEN] = "by", [REACHED] = "from", [OF] = "type"};
    return words[condition];
}

static enum pm_status unknown_word(const struct query_parser *parser)
{
    const char *words[MAX_WORDS + 1];
    char word[80], text[200];
    int n = 0;
    for (int i = 0; condition_words[i]; i++)
        words[n++] = condition_words[i];
    for (const struct query_field *f = parser->noun->numbers; f && f->word && n < MAX_WORDS; f++)
        words[n++] = f->word;
    for (const struct query_field *f = parser->noun->flags; f && f->word && n < MAX_WORDS; f++)
        words[n++] = f->word;
    words[n] = NULL;
    snprintf(word, sizeof word, "%.*s", (int)(parser->word.len < 64 ? parser->word.len : 64),
             parser->word.p);
    const char *near = pm_suggest(word, words);
    if (near)
        snprintf(text, sizeof text, "not a condition of %s; did you mean '%s'?", parser->noun->word,
                 near);
    else
        snprintf(text, sizeof text,
                 "not a condition of %s, as 'named PATTERN' or 'in file PATTERN'",
                 parser->noun->word);
    return query_fail(parser, text);
}

/* A flat switch. */
static enum pm_status parse_condition(struct query_parser *parser, enum condition condition)
{
    enum pm_status status = query_next(parser);
    const char *second = second_word(condition);
    char text[60];
    if (status != PM_OK)
        return status;
    if (second) {
        snprintf(text, sizeof text, "expected '%s %s'", condition_words[condition], second);
        status = query_is_word(parser, second) ? query_next(parser) : query_fail(parser, text);
    }
    if (status != PM_OK)
        return status;
    switch (condition) {
    case NAMED:
        return parse_named(parser);
    case IN:
        return parse_in(parser);
    case CALLING:
        return parse_calling(parser);
    case CALLED:
        return parse_called_by(parser);
    case TO:
        return parse_to(parser);
    case REACHING:
    case REACHED:
        return parse_reach(parser, condition == REACHING);
    case READING:
        return parse_touching(parser, READS);
    case WRITING:
        return parse_touching(parser, WRITES);
    case READ:
        return parse_touched_by(parser, READS);
    case WRITTEN:
        return parse_touched_by(parser, WRITES);
    default:
        return parse_type(parser);
    }
}

bool query_has_word(const struct query_parser *parser)
{
    for (int i = 0; i < N_CONDITIONS; i++)
        if (is_condition(parser, i))
            return true;
    return find_field(parser->noun->flags, parser) || find_field(parser->noun->numbers, parser);
}

/* `read` and `written` are flags of accesses and conditions of arrays. `calls` is a number, and a
 * condition where no operator follows. */
static enum pm_status parse_atom(struct query_parser *parser)
{
    const char *flag = find_field(parser->noun->flags, parser);
    const char *number = find_field(parser->noun->numbers, parser);
    bool is_done = false;
    if (query_is_at_end(parser))
        return query_fail(parser, "a condition is missing");
    if (parser->language->atom) {
        enum pm_status status = parser->language->atom(parser, &is_done);
        if (status != PM_OK || is_done)
            return status;
    }
    if (number && !query_is_before_operator(parser) && query_is_word(parser, "calls"))
        number = NULL; /* calls f */
    if (flag || number) {
        enum pm_status status = query_next(parser);
        if (status != PM_OK || number)
            return status != PM_OK ? status : parse_number(parser, number);
        pm_buf_printf(&parser->sql->text, "coalesce(%s, 0)", flag);
        return PM_OK;
    }
    for (int i = 0; i < N_CONDITIONS; i++) {
        if (!is_condition(parser, i))
            continue;
        if (!parser->language->has_unknown)
            return parse_condition(parser, (enum condition)i);
        query_add(parser, "coalesce(");
        enum pm_status status = parse_condition(parser, (enum condition)i);
        query_add(parser, ", 0)");
        return status;
    }
    return unknown_word(parser);
}

static enum pm_status parse_group(struct query_parser *parser)
{
    enum pm_status status = query_next(parser);
    if (status != PM_OK)
        return status;
    status = query_parse_any(parser);
    if (status != PM_OK)
        return status;
    return query_is_word(parser, ")") ? query_next(parser) : query_fail(parser, "expected ')'");
}

static enum pm_status parse_one(struct query_parser *parser)
{
    enum pm_status status;
    if (++parser->depth > MAX_DEPTH)
        return query_fail(parser, "too many 'not' and '('");
    if (query_is_word(parser, "not")) {
        /* what is NULL (the class of a function without one) is not so */
        query_add(parser, parser->language->has_unknown ? "NOT (" : "NOT coalesce(");
        status = query_next(parser);
        if (status != PM_OK)
            return status;
        status = parse_one(parser);
        query_add(parser, parser->language->has_unknown ? ")" : ", 0)");
    } else if (query_is_word(parser, "(")) {
        status = parse_group(parser);
    } else {
        query_add(parser, "(");
        status = parse_atom(parser);
        query_add(parser, ")");
    }
    parser->depth--;
    return status;
}

static enum pm_status parse_all(struct query_parser *parser)
{
    for (;;) {
        enum pm_status status = parse_one(parser);
        if (status != PM_OK || query_is_at_end(parser) || query_is_word(parser, "or") ||
            query_is_word(parser, ")"))
            return status;
        query_add(parser, " AND ");
        if (query_is_word(parser, "and") && (status = query_next(parser)) != PM_OK)
            return status;
    }
}

enum pm_status query_parse_any(struct query_parser *parser)
{
    query_add(parser, "(");
    for (;;) {
        enum pm_status status = parse_all(parser);
        if (status != PM_OK)
            return status;
        if (!query_is_word(parser, "or"))
            break;
        query_add(parser, " OR ");
        status = query_next(parser);
        if (status != PM_OK)
            return status;
    }
    query_add(parser, ")");
    return PM_OK;
}

/* --- the query --- */

static enum pm_status unknown_noun(const struct query_parser *parser)
{
    char word[80], text[200];
    snprintf(word, sizeof word, "%.*s", (int)(parser->word.len < 64 ? parser->word.len : 64),
             parser->word.p);
    const char *near = pm_suggest(word, pdt_query_nouns);
    if (near)
        snprintf(text, sizeof text, "nothing that can be asked for; did you mean '%s'?", near);
    else
        snprintf(text, sizeof text,
                 "expected what is asked for, as 'routines', 'loops', 'arrays' "
                 "or 'calls'");
    return query_fail(parser, text);
}

/* `named` may be left out where it cannot be a word of ours. */
static bool is_pattern(const struct query_parser *parser)
{
    return parser->is_quoted || (is_glob(parser->word) && !query_is_word(parser, "("));
}

static enum pm_status parse_query(struct query_parser *parser)
{
    enum pm_status status = query_next(parser);
    if (status != PM_OK)
        return status;
    parser->noun = query_noun_find(parser->word);
    if (!parser->noun)
        return unknown_noun(parser);
    pm_buf_printf(&parser->sql->text, "SELECT %s FROM %s WHERE %s", parser->noun->columns,
                  parser->noun->from, parser->noun->where ? parser->noun->where : "1");
    status = query_next(parser);
    if (status != PM_OK)
        return status;
    if (is_pattern(parser)) {
        query_add(parser, " AND ");
        status = parse_named(parser);
        if (status != PM_OK)
            return status;
        if (query_is_word(parser, "and") && (status = query_next(parser)) != PM_OK)
            return status;
    }
    if (!query_is_at_end(parser)) {
        query_add(parser, " AND ");
        status = query_parse_any(parser);
        if (status != PM_OK)
            return status;
    }
    if (!query_is_at_end(parser))
        return query_fail(parser, "this cannot stand here");
    pm_buf_printf(&parser->sql->text, " ORDER BY %s", parser->noun->order);
    return PM_OK;
}

enum pm_status query_check_text(const char *text, const char *what, struct pm_error *err)
{
    if (strlen(text) > QUERY_MAX_BYTES)
        return pm_error_set(err, PM_ERR_LIMIT, "a %s has at most %d bytes", what, QUERY_MAX_BYTES);
    for (const char *p = text; *p; p++)
        if (iscntrl((unsigned char)*p) && !isspace((unsigned char)*p))
            return pm_error_set(err, PM_ERR_USAGE, "%s column %zu: a control byte", what,
                                (size_t)(p - text) + 1);
    return PM_OK;
}

enum pm_status query_to_sql(const char *text, struct pm_error *err,
                            const struct query_noun **ret_noun, struct query_sql *ret_sql)
{
    struct query_parser parser = {.text = text,
                                  .at = text,
                                  .word_at = text,
                                  .sql = ret_sql,
                                  .err = err,
                                  .language = &query_language};
    *ret_sql = (struct query_sql){.text = PM_BUF_INIT(1 << 20)};
    enum pm_status status = query_check_text(text, "query", err);
    if (status != PM_OK)
        return status;
    status = parse_query(&parser);
    *ret_noun = parser.noun;
    if (status != PM_OK)
        return status;
    return ret_sql->text.failed ? pm_error_set(err, PM_ERR_MEMORY, "out of memory") : PM_OK;
}

void query_sql_release(struct query_sql *sql)
{
    for (int i = 0; i < sql->n_patterns; i++)
        pm_buf_release(&sql->patterns[i]);
    pm_buf_release(&sql->text);
}
