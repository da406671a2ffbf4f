/* Our own lists: a pattern a line.
 *
 *     list    = { line }
 *     line    = "#" anything | ("+" | "-") pattern | "&"
 *     pattern = ["func:" | "file:" | "mangled:" | "c:" | "fortran:"] P
 *             | "symbol:" NAME [" in " FILE]
 */
#include "selection_internal.h"

#include <stdlib.h>

#include "banned.h"

enum { MAX_FILE_BYTES = 64 << 20 };

bool selection_next_line(struct selection_lines *lines)
{
    if (lines->rest.len == 0)
        return false;
    const char *end = memchr(lines->rest.p, '\n', lines->rest.len);
    size_t len = end ? (size_t)(end - lines->rest.p) : lines->rest.len;
    struct pm_str line = {lines->rest.p, len};
    len += end != NULL;
    lines->rest = (struct pm_str){lines->rest.p + len, lines->rest.len - len};
    while (line.len && memchr(" \t", *line.p, 2))
        line = (struct pm_str){line.p + 1, line.len - 1};
    while (line.len && memchr(" \t\r", line.p[line.len - 1], 3))
        line.len--;
    lines->line = line;
    lines->line_no++;
    return true;
}

static const struct prefix {
    const char *text;
    enum pm_selection_kind kind;
} prefixes[] = {{"func:", PM_SELECTION_FUNCTION},
                {"function:", PM_SELECTION_FUNCTION},
                {"c:", PM_SELECTION_C},
                {"file:", PM_SELECTION_FILE},
                {"symbol:", PM_SELECTION_SYMBOL},
                {"mangled:", PM_SELECTION_MANGLED},
                {"fortran:", PM_SELECTION_FORTRAN}};

static enum pm_status empty(const char *pattern, struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_USAGE, "selection pattern '%s' is empty", pattern);
}

/* NAME or NAME in FILE. */
static enum pm_status add_symbol(struct pm_selection *selection, uint32_t section, bool include,
                                 const char *whole, const char *text, struct pm_error *err)
{
    size_t len = strcspn(text, " \t");
    const char *rest = text + len + strspn(text + len, " \t");
    char *file = NULL;
    if (*rest) {
        if (strncmp(rest, "in ", 3) != 0)
            return pm_error_set(err, PM_ERR_USAGE,
                                "selection pattern '%s': behind the symbol 'in FILE' may stand, "
                                "nothing else; func: is for names with blanks",
                                whole);
        rest += 3 + strspn(rest + 3, " \t");
        if (!*rest)
            return empty(whole, err);
        file = pm_strndup(rest, strlen(rest));
        if (!file)
            return pm_error_set(err, PM_ERR_MEMORY, "no memory for a selection");
    }
    return selection_add_rule(selection, section, PM_SELECTION_SYMBOL, include,
                              pm_strndup(text, len), file, err);
}

enum pm_status selection_add_pattern(struct pm_selection *selection, uint32_t section, bool include,
                                     const char *pattern, struct pm_error *err)
{
    enum pm_selection_kind kind = PM_SELECTION_ANY;
    const char *text = pattern;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(pattern, prefixes[i].text, strlen(prefixes[i].text))) {
            kind = prefixes[i].kind;
            text = pattern + strlen(prefixes[i].text);
            break;
        }
    if (!*text || (kind == PM_SELECTION_SYMBOL && strchr(" \t", *text)))
        return empty(pattern, err);
    if (kind == PM_SELECTION_SYMBOL)
        return add_symbol(selection, section, include, pattern, text, err);
    return selection_add_rule(selection, section, kind, include, pm_strndup(text, strlen(text)),
                              NULL, err);
}

static enum pm_status add_line(struct pm_selection *selection, struct pm_str line,
                               uint32_t *section, struct pm_error *err)
{
    if (pm_str_is(line, "&"))
        return selection_begin_section(selection, err, section);
    if (*line.p != '+' && *line.p != '-')
        return pm_error_set(err, PM_ERR_FORMAT,
                            "'%.*s' does not begin with '+' (include), '-' (exclude), '&' (and "
                            "also) or '#'",
                            (int)(line.len < 200 ? line.len : 200), line.p);
    char *pattern = pm_strndup(line.p + 1, line.len - 1);
    if (!pattern)
        return pm_error_set(err, PM_ERR_MEMORY, "no memory for a selection");
    enum pm_status status =
        selection_add_pattern(selection, *section, *line.p == '+', pattern, err);
    free(pattern);
    return status;
}

static enum pm_status read_own(struct pm_selection *selection, struct selection_lines *lines,
                               struct pm_error *err)
{
    uint32_t section;
    enum pm_status status = selection_begin_section(selection, err, &section);
    if (status != PM_OK)
        return status;
    while (selection_next_line(lines)) {
        if (!lines->line.len || *lines->line.p == '#')
            continue;
        status = add_line(selection, lines->line, &section, err);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static bool begins(struct pm_str line, const char *word)
{
    return line.len >= strlen(word) && !memcmp(line.p, word, strlen(word));
}

/* By the first line that says something. */
static const char *source_of(struct pm_str text)
{
    struct selection_lines lines = {.rest = text};
    while (selection_next_line(&lines))
        if (lines.line.len && *lines.line.p != '#') {
            if (begins(lines.line, "SCOREP_"))
                return "filter file of Score-P";
            if (begins(lines.line, "BEGIN_"))
                return "filter file of TAU";
            break;
        }
    return "selection list";
}

enum pm_status pm_selection_read(struct pm_selection *selection, struct pm_str text,
                                 const char *name, struct pm_error *err)
{
    struct selection_lines lines = {.rest = text};
    selection->source = source_of(text);
    const char *source = selection->source;
    if (text.len && memchr(text.p, 0, text.len))
        return pm_error_set(err, PM_ERR_FORMAT, "selection file '%s' holds a zero byte: not text",
                            name);
    enum pm_status status;
    if (strstr(source, "Score-P"))
        status = selection_read_scorep(selection, &lines, err);
    else if (strstr(source, "TAU"))
        status = selection_read_tau(selection, &lines, err);
    else
        status = read_own(selection, &lines, err);
    if (status != PM_OK)
        return pm_error_add(err, "selection file '%s' line %u", name, lines.line_no);
    return PM_OK;
}

enum pm_status pm_selection_read_file(struct pm_selection *selection, const char *path,
                                      struct pm_error *err)
{
    char *data;
    size_t len;
    enum pm_status status = pm_file_read_named(path, MAX_FILE_BYTES, err, &data, &len);
    if (status != PM_OK)
        return pm_error_add(err, "cannot read selection file '%s'", path);
    status = pm_selection_read(selection, (struct pm_str){data, data ? len : 0}, path, err);
    free(data);
    return status;
}
