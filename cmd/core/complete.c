/* perfmap complete TEXT ARCHIVE: how the question that begins so may go on, one way a line, for
 * the shell (help.c, complete_shells.c). Not in the list of commands.
 *
 * Asks the archive's tables for no more than it needs: to load the graph of a large one takes
 * longer than a person who has pressed a key waits.
 */
#include "complete.h"

#include "mapping/archive/archive.h"
#include "mapping/base/arena.h"

#include <ctype.h>
#include <stdlib.h>

enum { MAX_WAYS = 2000, FEW_WAYS = 200, TEXT_BYTES = 1 << 16 };

struct completion {
    struct pm_archive *archive;
    struct pm_error *err;
    struct pm_arena arena;
    const char *text;
    /* Where it ends: the word that is being written begins at `begin`. */
    size_t begin;
    bool in_braces, after_comma;
    const char *before,
        *before_that;         /* words, as they are meant; in braces: since the brace; NULL: none */
    const char *word;         /* as it is meant, without level and kind */
    const char *level, *kind; /* that stand before it; NULL: none */
    size_t head_bytes;        /* of these, as written */
    char **ways;
    size_t n, cap;
    bool whole;      /* names are not cut where parts of them begin */
    bool as_written; /* no names: nothing is to be quoted */
    FILE *out;
};

/* --- where are we? --- */

static size_t end_of_word(const char *text, size_t at, bool in_braces)
{
    const char *ends = in_braces ? " \t\n,{}" : " \t\n,{}()";
    bool quoted = false;
    for (; text[at] && (quoted || !strchr(ends, text[at])); at++) {
        quoted ^= text[at] == '"';
        at += text[at] == '\\' && text[at + 1];
    }
    return at;
}

/* Without its quotes. */
static char *meant(struct completion *c, const char *word, size_t len)
{
    char *text = pm_arena_strndup(&c->arena, word, len);
    size_t n = 0;
    for (size_t i = 0; text && i < len; i++) {
        bool is_escaped = text[i] == '\\' && i + 1 < len;
        i += is_escaped;
        if (text[i] != '"' || is_escaped)
            text[n++] = text[i];
    }
    if (text)
        text[n] = 0;
    return text;
}

static bool find_place(struct completion *c)
{
    const char *text = c->text;
    size_t at = 0;
    c->begin = strlen(text);
    while (text[at]) {
        bool is_word = !strchr(" \t\n,{}()", text[at]) || (c->in_braces && strchr("()", text[at]));
        size_t end = is_word ? end_of_word(text, at, c->in_braces) : at + 1;
        if (is_word && !text[end]) {
            c->begin = at;
            break;
        }
        if (is_word || strchr("{})(", text[at]) || (text[at] == ',' && !c->in_braces)) {
            c->before_that = text[at] == '{' ? NULL : c->before;
            c->before = text[at] == '{' ? NULL : meant(c, text + at, end - at);
            if (text[at] != '{' && !c->before)
                return false;
        }
        c->in_braces = text[at] == '{' || (c->in_braces && text[at] != '}');
        c->after_comma = text[at] == ',' || (c->after_comma && !is_word);
        at = end;
    }
    return (c->word = meant(c, text + c->begin, strlen(text) - c->begin)) != NULL;
}

/* --- ways --- */

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static enum pm_status add(struct completion *c, const char *way)
{
    if (c->n == c->cap) {
        size_t cap = c->cap ? 2 * c->cap : 256;
        char **ways = pm_realloc_array(c->ways, cap, sizeof *ways);
        if (!ways)
            return pm_error_set(c->err, PM_ERR_MEMORY, "out of memory");
        c->ways = ways;
        c->cap = cap;
    }
    char *copy = pm_arena_strndup(&c->arena, way, strlen(way));
    if (copy)
        c->ways[c->n++] = copy;
    return copy ? PM_OK : pm_error_set(c->err, PM_ERR_MEMORY, "out of memory");
}

static enum pm_status add_fitting(struct completion *c, const char *way)
{
    return begins_with(way, c->word) ? add(c, way) : PM_OK;
}

static enum pm_status add_words(struct completion *c, const char *const *words)
{
    enum pm_status status = PM_OK;
    c->as_written = true;
    for (; *words && status == PM_OK; words++)
        status = add_fitting(c, *words);
    return status;
}

typedef enum pm_status (*row_use)(struct completion *c, sqlite3_stmt *row);

/* ?1, ?2: texts; NULL: NULL. */
static enum pm_status each_row(struct completion *c, const char *sql, const char *a, const char *b,
                               row_use use)
{
    sqlite3_stmt *query = NULL;
    enum pm_status status = pm_archive_prepare(c->archive, sql, c->err, &query);
    if (status != PM_OK)
        return status;
    if (sqlite3_bind_parameter_count(query) > 0)
        sqlite3_bind_text(query, 1, a, -1, SQLITE_STATIC);
    if (sqlite3_bind_parameter_count(query) > 1)
        sqlite3_bind_text(query, 2, b, -1, SQLITE_STATIC);
    bool has_row = false;
    while (status == PM_OK &&
           (status = pm_archive_step(c->archive, query, c->err, &has_row)) == PM_OK && has_row)
        status = use(c, query);
    sqlite3_finalize(query);
    return status;
}

static enum pm_status use_text(struct completion *c, sqlite3_stmt *row)
{
    return add_fitting(c, pm_archive_text(row, 0));
}

static bool must_be_quoted(const char *name)
{
    return strpbrk(name, " \t\n\r,{}\"*?\\") != NULL;
}

/* Up to where parts of it begin, as folders are completed: locals of a function, what was
 * inlined into it. */
static enum pm_status add_part(struct completion *c, const char *name)
{
    size_t typed = strlen(c->word);
    const char *colons = strstr(name + typed, "::"), *slash = strchr(name + typed, '/');
    const char *end = colons ? colons + 2 : NULL;
    if (slash && (!end || slash < end))
        end = slash + 1;
    if (c->whole || !end || !*end || must_be_quoted(name))
        return add(c, name);
    char part[512];
    snprintf(part, sizeof part, "%.*s", (int)(end - name), name);
    return add(c, part);
}

/* As questions have them: the whole name, its last part, places without their folders. */
static enum pm_status use_noun(struct completion *c, sqlite3_stmt *row)
{
    const char *name = pm_archive_text(row, 0), *kind = pm_archive_text(row, 1), *part = name;
    bool is_place = !strcmp(kind, "statement") || !strcmp(kind, "line") || !strcmp(kind, "loop");
    if (is_place || !strcmp(kind, "file"))
        part = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    if (is_place && !c->kind && !strchr(c->word, '.'))
        return PM_OK; /* far too many */
    if (begins_with(part, c->word))
        return add_part(c, part);
    for (const char *p = part; *c->word && (p = strstr(p, "::")) != NULL; p += 2)
        if (begins_with(p + 2, c->word) && !strchr(p + 2, '('))
            return add_part(c, p + 2);
    return PM_OK;
}

/* LEVEL:: and KIND: before the word are those of the archive. */
static enum pm_status use_level(struct completion *c, sqlite3_stmt *row)
{
    const char *name = pm_archive_text(row, 0);
    size_t len = strlen(name);
    if (strncasecmp(c->word, name, len) || strncmp(c->word + len, "::", 2))
        return PM_OK;
    c->level = pm_arena_strndup(&c->arena, name, len);
    c->word += len + 2;
    return PM_OK;
}

static enum pm_status use_kind(struct completion *c, sqlite3_stmt *row)
{
    const char *name = pm_archive_text(row, 0);
    size_t len = strlen(name);
    if (!len || c->kind || strncmp(c->word, name, len) || c->word[len] != ':' ||
        c->word[len + 1] == ':')
        return PM_OK;
    c->kind = pm_arena_strndup(&c->arena, name, len);
    c->word += len + 1;
    return PM_OK;
}

static enum pm_status use_head(struct completion *c, sqlite3_stmt *row)
{
    char head[256];
    snprintf(head, sizeof head, "%.250s%s", pm_archive_text(row, 0), pm_archive_text(row, 1));
    return add_fitting(c, head);
}

static const char levels_sql[] = "SELECT name FROM levels";
static const char kinds_sql[] =
    "SELECT DISTINCT kind FROM nouns WHERE kind NOT IN ('type', 'code', 'loopcode')";

static const char nouns_sql[] =
    "SELECT name, kind FROM temp.nouns_in_full WHERE name != '' AND kind NOT IN ('type', 'code', "
    "'loopcode') AND "
    "(?1 IS NULL OR level = (SELECT id FROM levels WHERE name = ?1)) AND (?2 IS NULL OR kind = ?2)";

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_ways(struct completion *c)
{
    size_t n = 0;
    if (c->n)
        qsort(c->ways, c->n, sizeof *c->ways, by_text);
    for (size_t i = 0; i < c->n; i++)
        if (n == 0 || strcmp(c->ways[n - 1], c->ways[i]) != 0)
            c->ways[n++] = c->ways[i];
    c->n = n;
}

static enum pm_status add_nouns(struct completion *c)
{
    const char *written = c->word;
    enum pm_status status = each_row(c, levels_sql, NULL, NULL, use_level);
    if (status == PM_OK && strchr(c->word, ':'))
        status = each_row(c, kinds_sql, NULL, NULL, use_kind);
    c->head_bytes = (size_t)(c->word - written);
    if (status == PM_OK)
        status = each_row(c, nouns_sql, c->level, c->kind, use_noun);
    sort_ways(c);
    if (status == PM_OK && c->n == 1 && strchr(":/", c->ways[0][strlen(c->ways[0]) - 1])) {
        c->whole = true;
        c->n = 0;
        status = each_row(c, nouns_sql, c->level, c->kind, use_noun);
    }
    if (status != PM_OK || c->head_bytes)
        return status;
    if (!*c->word && c->n > FEW_WAYS) { /* what narrows it */
        c->n = 0;
        c->as_written = true;
    }
    if (c->n && !c->as_written) /* or they would all be quoted */
        return status;
    c->as_written = true;
    return each_row(
        c,
        "SELECT name, '::' FROM levels UNION SELECT DISTINCT kind, ':' FROM nouns WHERE "
        "kind NOT IN ('', 'type', 'code', 'loopcode')",
        NULL, NULL, use_head);
}

/* Of the noun's sentences, when it is one by name: with its level or kind, or without. */
static enum pm_status add_verbs(struct completion *c, const char *noun)
{
    enum pm_status status = PM_OK;
    for (const char *name = noun; status == PM_OK && name && c->n == 0;
         name = strchr(name, ':') ? strchr(name, ':') + 1 : NULL)
        status = each_row(
            c,
            "SELECT DISTINCT name FROM verbs WHERE id IN (SELECT verb FROM sentences WHERE noun IN "
            "(SELECT id FROM temp.nouns_in_full WHERE name = ?1 OR "
            "substr(name, -length(?1) - 2) = '::' || ?1))",
            name, NULL, use_text);
    if (status == PM_OK && c->n == 0)
        status = each_row(c, "SELECT DISTINCT name FROM verbs", NULL, NULL, use_text);
    return status;
}

static bool is(const char *word, const char *what)
{
    return word && !strcasecmp(word, what);
}

/* Outside braces. */
static enum pm_status add_between(struct completion *c)
{
    static const char *const first[] = {"{", "not ", "(", NULL};
    static const char *const next[] = {"and ", "or ", "then ", "during ", "outside ", "on ", NULL};
    static const char *const where[] = {"thread ", "process ", "rank ", "node ", NULL};
    if (is(c->before, "on"))
        return add_words(c, where);
    if (is(c->before, "during") || is(c->before, "outside"))
        return each_row(c, "SELECT name FROM nouns WHERE kind = 'phase'", NULL, NULL, use_text);
    if (is(c->before_that, "on"))
        return each_row(c,
                        is(c->before, "thread") ? "SELECT DISTINCT name FROM threads"
                        : is(c->before, "rank") ? "SELECT DISTINCT rank FROM ranks"
                        : is(c->before, "node")
                            ? "SELECT host FROM executions UNION SELECT node FROM nodes"
                            : "SELECT DISTINCT pid FROM processes",
                        NULL, NULL, use_text);
    bool begins = !c->before || c->after_comma || is(c->before, "(") || is(c->before, "and") ||
                  is(c->before, "or") || is(c->before, "then") || is(c->before, "not");
    return add_words(c, begins ? first : next);
}

/* --- writing --- */

static void add_quoted(struct pm_buf *out, const char *name)
{
    pm_buf_add_byte(out, '"');
    for (; *name; name++) {
        if (*name == '"' || *name == '\\')
            pm_buf_add_byte(out, '\\');
        pm_buf_add_byte(out, (unsigned char)*name);
    }
    pm_buf_add_byte(out, '"');
}

/* A name that is cut where its parts begin goes on within its quotes. */
static void add_way(struct pm_buf *out, const char *way, bool quote)
{
    if (!quote) {
        pm_buf_add_str(out, way);
        return;
    }
    add_quoted(out, way);
    if (*way && strchr(":/", way[strlen(way) - 1]) && !out->failed)
        out->len--;
}

/* Quotes for all or none: the shell looks for what they have in common. */
static void print_ways(const struct completion *c, const char *behind)
{
    bool quote = c->text[c->begin + c->head_bytes] == '"';
    for (size_t i = 0; i < c->n; i++)
        quote |= must_be_quoted(c->ways[i]);
    for (size_t i = 0; i < c->n; i++) {
        struct pm_buf line = PM_BUF_INIT(TEXT_BYTES);
        pm_buf_add(&line, c->text, c->begin + c->head_bytes);
        add_way(&line, c->ways[i], quote && !c->as_written);
        pm_buf_add_str(&line, behind);
        if (!line.failed && !memchr(line.data, '\n', line.len))
            fprintf(c->out, "%.*s\n", (int)line.len, line.data);
        pm_buf_release(&line);
    }
}

/* The only noun there is: its sentences, lest the shell closes the quote behind it. */
static enum pm_status print_sentences(struct completion *c)
{
    struct pm_buf text = PM_BUF_INIT(TEXT_BYTES);
    const char *noun = c->ways[0];
    pm_buf_add(&text, c->text, c->begin + c->head_bytes);
    if (must_be_quoted(noun) || c->text[c->begin + c->head_bytes] == '"')
        add_quoted(&text, noun);
    else
        pm_buf_add_str(&text, noun);
    pm_buf_add_byte(&text, ' ');
    if (text.failed) {
        pm_buf_release(&text);
        return pm_error_set(c->err, PM_ERR_MEMORY, "out of memory");
    }
    c->text = text.data;
    c->begin = text.len;
    c->head_bytes = 0;
    c->word = "";
    c->n = 0;
    enum pm_status status = add_verbs(c, noun);
    if (status == PM_OK) {
        sort_ways(c);
        print_ways(c, "}");
    }
    c->text = "";
    c->begin = 0;
    pm_buf_release(&text);
    return status;
}

static enum pm_status complete(struct completion *c, bool may_go_on);

/* The only word there is between sentences: with what may follow. */
static enum pm_status go_on(struct completion *c)
{
    struct completion next = {.archive = c->archive, .err = c->err, .out = c->out};
    struct pm_buf text = PM_BUF_INIT(TEXT_BYTES);
    pm_buf_add(&text, c->text, c->begin);
    pm_buf_add_str(&text, c->ways[0]);
    next.text = text.data;
    enum pm_status status =
        text.failed ? pm_error_set(c->err, PM_ERR_MEMORY, "out of memory") : complete(&next, false);
    if (status == PM_OK && next.n == 0)
        print_ways(c, "");
    pm_arena_release(&next.arena);
    free(next.ways);
    pm_buf_release(&text);
    return status;
}

static enum pm_status complete(struct completion *c, bool may_go_on)
{
    if (!find_place(c))
        return pm_error_set(c->err, PM_ERR_MEMORY, "out of memory");
    bool is_verb = c->in_braces && c->before && !c->after_comma;
    enum pm_status status = is_verb        ? add_verbs(c, c->before)
                            : c->in_braces ? add_nouns(c)
                                           : add_between(c);
    if (status != PM_OK)
        return status;
    sort_ways(c);
    if (c->n > MAX_WAYS) { /* with the last, what all have in common stays right */
        c->ways[MAX_WAYS - 1] = c->ways[c->n - 1];
        c->n = MAX_WAYS;
    }
    if (c->n == 1 && c->in_braces && !is_verb && !c->as_written)
        return print_sentences(c);
    if (c->n == 1 && may_go_on && !c->in_braces && c->as_written &&
        c->ways[0][strlen(c->ways[0]) - 1] == ' ')
        return go_on(c);
    print_ways(c, is_verb ? "}" : "");
    return PM_OK;
}

enum pm_status complete_question(const char *text, const char *archive, FILE *out,
                                 struct pm_error *err)
{
    struct completion c = {.err = err, .text = text, .out = out};
    enum pm_status status = pm_archive_open(archive, err, &c.archive);
    if (status == PM_OK)
        status = complete(&c, true);
    pm_archive_close(c.archive);
    pm_arena_release(&c.arena);
    free(c.ways);
    return status;
}

/* --- the command --- */

enum { OPT_WORDS = CMD_KEY_FIRST };

static int complete_main(struct cmd_parse *parse)
{
    struct pm_error err = PM_ERROR_INIT;
    bool words = false;
    while (cmd_next(parse) != CMD_END)
        words = true;
    if (parse->failed)
        return CMD_USAGE;
    if (words && parse->n_operands < 2)
        return cmd_usage_error(parse, "expected 'perfmap' and the words behind it");
    if (!words && parse->n_operands != 2)
        return cmd_usage_error(parse, "expected the beginning of a question, and an archive");
    enum pm_status status =
        words ? complete_words(parse->perfmap, parse->operands, parse->n_operands, &err)
              : complete_question(parse->operands[0], parse->operands[1], stdout, &err);
    return status == PM_OK ? cmd_stdout_done(parse, CMD_DONE) : cmd_fail(parse, &err);
}

static const struct cmd_option complete_options[] = {
    {OPT_WORDS, "words", NULL,
     "what the last word of a command line may be, with a tab and its meaning; :files stands for "
     "any file"},
    {0}};

const struct cmd cmd_complete = {
    .name = "complete",
    .summary = "how a question or a command line may go on, for the shell",
    .usage =
        (const char *const[]){"complete TEXT ARCHIVE", "complete --words -- perfmap WORD...", NULL},
    .description = "One way a line. 'perfmap help --completion=bash' (zsh, fish) makes the shell "
                   "ask.",
    .options = complete_options,
    .main = complete_main,
};
