/* Filter files of Score-P (its manual, "Filtering") and TAU (its manual, "Selective
 * Instrumentation").
 *
 * Score-P: what files and what names filter are two sections; in each the last rule that fits
 * decides, and what no rule fits stays. TAU: four lists, each a section: what is excluded is out,
 * and of what is included all else is out. Both write types and parameters of C++ as their
 * compiler does: a type that is returned is left out here, and parameters are of no account for
 * names of C, which have no overloads.
 */
#include "selection_internal.h"

#include "banned.h"

#include <ctype.h>
#include <stdlib.h>

enum { MAX_PATTERN = 65536, PATTERN_BYTES = 2 * MAX_PATTERN + 64 }; /* with backslashes */

/* Behind the type that is returned: the last blank before the parameters that is in no template. */
static struct pm_str without_type(struct pm_str text)
{
    size_t end = 0, cut = 0;
    int depth = 0;
    if (memmem(text.p, text.len, "operator", 8))
        return text;
    while (end < text.len && text.p[end] != '(')
        end++;
    while (end > 0 && text.p[end - 1] == ' ')
        end--;
    for (size_t i = 0; i < end; i++) {
        depth += (text.p[i] == '<') - (text.p[i] == '>');
        if (text.p[i] == ' ' && depth == 0)
            cut = i + 1;
    }
    return (struct pm_str){text.p + cut, text.len - cut};
}

/* Of a pattern that a buffer cannot take. */
static enum pm_status no_room(size_t len, struct pm_error *err)
{
    return len > MAX_PATTERN
               ? pm_error_set(err, PM_ERR_LIMIT, "a pattern of more than %d bytes", MAX_PATTERN)
               : pm_error_set(err, PM_ERR_MEMORY, "no memory for a selection");
}

static enum pm_status wrong(struct pm_error *err, struct pm_str word, const char *what)
{
    return pm_error_set(err, PM_ERR_FORMAT, "'%.*s': %s", (int)(word.len < 200 ? word.len : 200),
                        word.p, what);
}

/* --- Score-P --- */

enum block { NO_BLOCK, FILES, REGIONS };

struct scorep {
    struct pm_selection *selection;
    uint32_t section;
    struct pm_error *err;
    enum block wanted; /* the other one is only checked */
    enum block block;
    bool has_sign, include, is_mangled;
    unsigned n_patterns; /* behind the sign */
};

/* The next word of a line; a backslash takes its meaning from a blank and from #. */
static struct pm_str next_word(struct pm_str *line)
{
    const char *p = line->p, *end = line->p + line->len;
    while (p < end && memchr(" \t\r", *p, 3))
        p++;
    const char *start = p;
    while (p < end && !memchr(" \t\r#", *p, 4))
        p += *p == '\\' && p + 1 < end ? 2 : 1;
    bool is_comment = p < end && *p == '#';
    *line = (struct pm_str){p, is_comment ? 0 : (size_t)(end - p)};
    return (struct pm_str){start, (size_t)(p - start)};
}

/* A rule for a pattern; before the first one of a section all are in. */
static enum pm_status add_scorep(struct scorep *reader, struct pm_str word)
{
    struct pm_buf text = PM_BUF_INIT(PATTERN_BYTES);
    struct pm_selection *selection = reader->selection;
    enum pm_selection_kind kind = reader->is_mangled ? PM_SELECTION_MANGLED : PM_SELECTION_FUNCTION;
    enum pm_status status = PM_OK;
    if (reader->block == FILES)
        kind = PM_SELECTION_FILE;
    for (size_t i = 0; i < word.len; i++)
        if (kind != PM_SELECTION_FUNCTION || word.p[i] != '\\' || i + 2 >= word.len ||
            !strchr(" \t#", word.p[i + 1]))
            pm_buf_add_byte(&text, (unsigned char)word.p[i]);
    if (text.failed || word.len > MAX_PATTERN) {
        pm_buf_release(&text);
        return no_room(word.len, reader->err);
    }
    struct pm_str name = {text.data, text.len};
    if (kind == PM_SELECTION_FUNCTION)
        name = without_type(name);
    if (selection->sections[reader->section].n == 0)
        status = selection_add_rule(selection, reader->section, PM_SELECTION_ANY, true,
                                    pm_strndup("*", 1), NULL, reader->err);
    if (status != PM_OK)
        goto out;
    status = selection_add_rule(selection, reader->section, kind, reader->include,
                                pm_strndup(name.p, name.len), NULL, reader->err);
out:
    pm_buf_release(&text);
    return status;
}

static const struct {
    const char *begin, *end;
    enum block block;
} scorep_blocks[] = {{"SCOREP_FILE_NAMES_BEGIN", "SCOREP_FILE_NAMES_END", FILES},
                     {"SCOREP_REGION_NAMES_BEGIN", "SCOREP_REGION_NAMES_END", REGIONS}};

static enum pm_status read_word(struct scorep *reader, struct pm_str word)
{
    bool is_sign = pm_str_is(word, "EXCLUDE") || pm_str_is(word, "INCLUDE");
    for (int i = 0; i < 2; i++)
        if (pm_str_is(word, scorep_blocks[i].begin) && !reader->block) {
            reader->block = scorep_blocks[i].block;
            reader->has_sign = false;
            return PM_OK;
        }
    if (!reader->block)
        return wrong(reader->err, word,
                     "expected SCOREP_FILE_NAMES_BEGIN or SCOREP_REGION_NAMES_BEGIN");
    bool is_end = pm_str_is(word, scorep_blocks[reader->block - FILES].end);
    if ((is_end || is_sign) && reader->has_sign && !reader->n_patterns)
        return wrong(reader->err, word, "EXCLUDE or INCLUDE before it has no pattern");
    if (is_end) {
        reader->block = NO_BLOCK;
    } else if (is_sign) {
        reader->has_sign = true;
        reader->include = *word.p == 'I';
        reader->is_mangled = false;
        reader->n_patterns = 0;
    } else if (!strncmp(word.p, "SCOREP_", word.len < 7 ? word.len : 7) && word.len >= 7) {
        return wrong(reader->err, word, "the block before is not ended");
    } else if (!reader->has_sign) {
        return wrong(reader->err, word, "expected EXCLUDE or INCLUDE before the first pattern");
    } else if (pm_str_is(word, "MANGLED") && reader->block == REGIONS && !reader->n_patterns) {
        reader->is_mangled = true;
    } else {
        reader->n_patterns++;
        return reader->block == reader->wanted ? add_scorep(reader, word) : PM_OK;
    }
    return PM_OK;
}

static enum pm_status read_block(struct pm_selection *selection, struct selection_lines *lines,
                                 enum block wanted, struct pm_error *err)
{
    struct scorep reader = {.selection = selection, .err = err, .wanted = wanted};
    enum pm_status status = selection_begin_section(selection, err, &reader.section);
    if (status != PM_OK)
        return status;
    while (selection_next_line(lines)) {
        struct pm_str rest = lines->line;
        for (struct pm_str word; (word = next_word(&rest)).len > 0;) {
            status = read_word(&reader, word);
            if (status != PM_OK)
                return status;
        }
    }
    if (reader.block)
        return pm_error_set(err, PM_ERR_FORMAT, "the file ends before %s",
                            scorep_blocks[reader.block - FILES].end);
    return PM_OK;
}

enum pm_status selection_read_scorep(struct pm_selection *selection, struct selection_lines *lines,
                                     struct pm_error *err)
{
    struct selection_lines again = *lines;
    enum pm_status status = read_block(selection, lines, FILES, err);
    if (status != PM_OK)
        return status;
    return read_block(selection, &again, REGIONS, err);
}

/* --- TAU --- */

struct tau_list {
    const char *begin, *end;
    enum pm_selection_kind kind;
    bool include;
};
static const struct tau_list tau_lists[] = {
    {"BEGIN_EXCLUDE_LIST", "END_EXCLUDE_LIST", PM_SELECTION_FUNCTION, false},
    {"BEGIN_INCLUDE_LIST", "END_INCLUDE_LIST", PM_SELECTION_FUNCTION, true},
    {"BEGIN_FILE_EXCLUDE_LIST", "END_FILE_EXCLUDE_LIST", PM_SELECTION_FILE, false},
    {"BEGIN_FILE_INCLUDE_LIST", "END_FILE_INCLUDE_LIST", PM_SELECTION_FILE, true},
    {"BEGIN_INSTRUMENT_SECTION", "END_INSTRUMENT_SECTION", PM_SELECTION_ANY, false},
};
enum { N_TAU_LISTS = sizeof tau_lists / sizeof *tau_lists, N_TAU_SECTIONS = N_TAU_LISTS - 1 };

static struct pm_str trim(struct pm_str text)
{
    while (text.len && memchr(" \t\r", *text.p, 3))
        text = (struct pm_str){text.p + 1, text.len - 1};
    while (text.len && memchr(" \t\r", text.p[text.len - 1], 3))
        text.len--;
    return text;
}

/* "int main(int, char **) C [{main.c} {3,1}-{9,1}]": without the place, the language and the type
 * that is returned. */
static struct pm_str tau_name(struct pm_str line, bool *ret_is_c)
{
    const char *place = memmem(line.p, line.len, " [{", 3);
    if (place)
        line.len = (size_t)(place - line.p);
    *ret_is_c = line.len > 2 && !memcmp(line.p + line.len - 2, " C", 2);
    if (*ret_is_c)
        line.len -= 2;
    return without_type(trim(line));
}

/* Fortran's names are in capitals there. */
static bool is_in_capitals(struct pm_str name)
{
    bool has_letter = false;
    for (size_t i = 0; i < name.len; i++) {
        if (islower((unsigned char)name.p[i]) || name.p[i] == '(')
            return false;
        has_letter |= isupper((unsigned char)name.p[i]) != 0;
    }
    return has_letter;
}

/* # is any text in names, * and ? are in those of files. */
static enum pm_status add_tau(struct pm_selection *selection, uint32_t section,
                              const struct tau_list *list, struct pm_str line, struct pm_error *err)
{
    struct pm_buf text = PM_BUF_INIT(PATTERN_BYTES);
    bool is_file = list->kind == PM_SELECTION_FILE, is_c = false;
    if (line.len > 1 && *line.p == '"' && line.p[line.len - 1] == '"')
        line = (struct pm_str){line.p + 1, line.len - 2};
    struct pm_str name = trim(is_file ? line : tau_name(trim(line), &is_c));
    for (size_t i = 0; i < name.len; i++) {
        char c = name.p[i];
        if (!is_file && strchr("*?[\\", c))
            pm_buf_add_byte(&text, '\\');
        pm_buf_add_byte(&text, !is_file && c == '#' ? '*' : (unsigned char)c);
    }
    enum pm_status status = PM_OK;
    if (text.failed || name.len > MAX_PATTERN)
        status = no_room(name.len, err);
    else if (!text.len)
        status = wrong(err, line, "names no routine and no file");
    else
        status = selection_add_rule(selection, section, is_c ? PM_SELECTION_C : list->kind,
                                    list->include, pm_strndup(text.data, text.len), NULL, err);
    if (status != PM_OK || is_file || is_c || !is_in_capitals(name))
        goto out;
    status = selection_add_rule(selection, section, PM_SELECTION_FORTRAN, list->include,
                                pm_strndup(text.data, text.len), NULL, err);
out:
    pm_buf_release(&text);
    return status;
}

static const struct tau_list *find_tau_list(struct pm_str line)
{
    for (int i = 0; i < N_TAU_LISTS; i++)
        if (pm_str_is(line, tau_lists[i].begin))
            return &tau_lists[i];
    return NULL;
}

/* All lists are checked, the wanted one is read. */
static enum pm_status read_tau_list(struct pm_selection *selection, struct selection_lines *lines,
                                    const struct tau_list *wanted, struct pm_error *err)
{
    const struct tau_list *at = NULL;
    uint32_t section;
    enum pm_status status = selection_begin_section(selection, err, &section);
    if (status != PM_OK)
        return status;
    while (selection_next_line(lines)) {
        struct pm_str line = lines->line;
        if (!line.len || *line.p == '#')
            continue;
        const struct tau_list *begun = find_tau_list(line);
        if (at && pm_str_is(line, at->end))
            at = NULL;
        else if (begun && !at)
            at = begun;
        else if (begun)
            status = wrong(err, line, "the list before is not ended");
        else if (!at)
            status = wrong(err, line,
                           "expected BEGIN_EXCLUDE_LIST, BEGIN_INCLUDE_LIST, "
                           "BEGIN_FILE_INCLUDE_LIST or BEGIN_FILE_EXCLUDE_LIST");
        else if (at == wanted)
            status = add_tau(selection, section, at, line, err);
        if (status != PM_OK)
            return status;
    }
    return at ? pm_error_set(err, PM_ERR_FORMAT, "the file ends before %s", at->end) : PM_OK;
}

static enum pm_status note_sections(struct pm_selection *selection, struct selection_lines lines,
                                    struct pm_error *err)
{
    char text[200];
    while (selection_next_line(&lines)) {
        if (!pm_str_is(lines.line, tau_lists[N_TAU_SECTIONS].begin))
            continue;
        snprintf(text, sizeof text,
                 "line %u: BEGIN_INSTRUMENT_SECTION says what TAU puts into code; it selects "
                 "no routine here",
                 lines.line_no);
        enum pm_status status = selection_add_note(selection, text, err);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

enum pm_status selection_read_tau(struct pm_selection *selection, struct selection_lines *lines,
                                  struct pm_error *err)
{
    const struct selection_lines from = *lines;
    for (int i = 0; i < N_TAU_SECTIONS; i++) {
        *lines = from;
        enum pm_status status = read_tau_list(selection, lines, &tau_lists[i], err);
        if (status != PM_OK)
            return status;
    }
    return note_sections(selection, from, err);
}
