#include "select.h"

#include "../../mapping/base/str.h"

#include <fnmatch.h>
#include <stdlib.h>

enum pattern_subject { SUBJECT_ANY, SUBJECT_FUNCTION, SUBJECT_FILE };

struct pattern {
    char *text; /* owned, without its prefix */
    enum pattern_subject subject;
    bool include;
};

struct pm_select {
    struct pattern *patterns;
    size_t n_patterns;
    bool has_include;
};

enum { MAX_PATTERNS = 100000, MAX_FILE_BYTES = 16 << 20 };

struct pm_select *pm_select_new(void)
{
    return pm_alloc(sizeof(struct pm_select));
}

void pm_select_free(struct pm_select *select)
{
    if (select == NULL)
        return;
    for (size_t i = 0; i < select->n_patterns; i++)
        free(select->patterns[i].text);
    free(select->patterns);
    free(select);
}

static enum pattern_subject pattern_subject_take(const char **pattern)
{
    if (strncmp(*pattern, "func:", 5) == 0)
        return *pattern += 5, SUBJECT_FUNCTION;
    if (strncmp(*pattern, "file:", 5) == 0)
        return *pattern += 5, SUBJECT_FILE;
    return SUBJECT_ANY;
}

enum pm_status pm_select_add(struct pm_select *select, bool include, const char *pattern,
                             struct pm_error *err)
{
    const char *const whole = pattern;
    enum pattern_subject subject = pattern_subject_take(&pattern);
    if (*pattern == 0)
        return pm_error_set(err, PM_ERR_USAGE, "selection pattern '%s' is empty", whole);
    if (select->n_patterns >= MAX_PATTERNS)
        return pm_error_set(err, PM_ERR_LIMIT, "more than %d selection patterns", MAX_PATTERNS);
    char *text = pm_strndup(pattern, strlen(pattern));
    struct pattern *grown =
        pm_realloc_array(select->patterns, select->n_patterns + 1, sizeof *grown);
    if (grown)
        select->patterns = grown;
    if (text == NULL || grown == NULL) {
        free(text);
        return pm_error_set(err, PM_ERR_MEMORY, "no memory for selection pattern '%s'", whole);
    }
    grown[select->n_patterns++] =
        (struct pattern){.text = text, .subject = subject, .include = include};
    select->has_include |= include;
    return PM_OK;
}

/* One line of a selection file, without its line end; zero-ended in place. */
static enum pm_status select_add_line(struct pm_select *select, char *line, struct pm_error *err)
{
    while (*line == ' ' || *line == '\t')
        line++;
    size_t len = strlen(line);
    while (len > 0 && strchr(" \t\r", line[len - 1]))
        line[--len] = 0;
    if (len == 0 || *line == '#')
        return PM_OK;
    if (*line != '+' && *line != '-')
        return pm_error_set(err, PM_ERR_FORMAT,
                            "'%s' does not begin with '+' (include), '-' (exclude) or '#'", line);
    return pm_select_add(select, *line == '+', line + 1, err);
}

enum pm_status pm_select_read_file(struct pm_select *select, const char *path, struct pm_error *err)
{
    char *data;
    size_t len;
    enum pm_status status = pm_file_read_named(path, MAX_FILE_BYTES, err, &data, &len);
    if (status != PM_OK)
        return pm_error_add(err, "cannot read selection file '%s'", path);
    if (data && memchr(data, 0, len)) {
        status = pm_error_set(err, PM_ERR_FORMAT, "selection file '%s' holds a zero byte: not text",
                              path);
        goto out;
    }
    unsigned line_no = 0;
    for (char *line = data, *end; line; line = end ? end + 1 : NULL) {
        end = strchr(line, '\n');
        if (end)
            *end = 0;
        line_no++;
        status = select_add_line(select, line, err);
        if (status != PM_OK) {
            status = pm_error_add(err, "selection file '%s' line %u", path, line_no);
            goto out;
        }
    }
out:
    free(data);
    return status;
}

/* The whole path, or what follows any of its '/'. */
static bool path_matches(const char *pattern, const char *path)
{
    for (; path; path = strchr(path, '/'), path = path ? path + 1 : NULL)
        if (fnmatch(pattern, path, 0) == 0)
            return true;
    return false;
}

static bool pattern_matches(const struct pattern *pattern, const char *file, const char *name,
                            const char *linkage)
{
    if (pattern->subject != SUBJECT_FILE && ((name && fnmatch(pattern->text, name, 0) == 0) ||
                                             (linkage && fnmatch(pattern->text, linkage, 0) == 0)))
        return true;
    return pattern->subject != SUBJECT_FUNCTION && path_matches(pattern->text, file);
}

bool pm_select_is_everything(const struct pm_select *select)
{
    return select->n_patterns == 0;
}

bool pm_select_match(const struct pm_select *select, const char *file, const char *name,
                     const char *linkage)
{
    bool included = !select->has_include;
    for (size_t i = 0; i < select->n_patterns; i++) {
        const struct pattern *pattern = &select->patterns[i];
        if (pattern->include && included)
            continue;
        if (!pattern_matches(pattern, file, name, linkage))
            continue;
        if (!pattern->include)
            return false;
        included = true;
    }
    return included;
}
