#include "names.h"

#include "cxx_name.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>

enum { PLACE_BYTES = 4400 }; /* of the longest path, with line and column */

/* Most names are told from a pattern by their first characters. fnmatch makes wide characters of
 * all of both before it looks. */
static bool begins_otherwise(const struct pm_name_pattern *pattern, const char *text)
{
    unsigned char wanted = (unsigned char)*pattern->text, first = (unsigned char)*text;
    if (wanted >= 128 || first >= 128 || strchr("*?[\\", wanted)) /* its end, too */
        return false;
    return pattern->flags & FNM_CASEFOLD ? tolower(wanted) != tolower(first) : wanted != first;
}

bool pm_name_fits(const struct pm_name_pattern *pattern, const char *text)
{
    return *text && !begins_otherwise(pattern, text) &&
           ((pattern->is_plain_too && !strcmp(pattern->text, text)) ||
            fnmatch(pattern->text, text, pattern->flags) == 0);
}

bool pm_name_fits_path(const struct pm_name_pattern *pattern, const char *path)
{
    bool found = pm_name_fits(pattern, path);
    for (const char *slash = strchr(path, '/'); slash && !found; slash = strchr(slash + 1, '/'))
        found = pm_name_fits(pattern, slash + 1);
    return found;
}

bool pm_name_fits_place(const struct pm_name_pattern *pattern, const char *file, uint32_t line_no,
                        uint32_t column_no)
{
    char place[PLACE_BYTES];
    if (!*file || !line_no)
        return false;
    int n = snprintf(place, sizeof place, "%s:%u", file, line_no);
    if (n < 0 || (size_t)n >= sizeof place - 16)
        return false;
    if (pm_name_fits_path(pattern, place))
        return true;
    snprintf(place + n, sizeof place - (size_t)n, ":%u", column_no);
    return column_no && pm_name_fits_path(pattern, place);
}

bool pm_name_fits_part(const struct pm_name_pattern *pattern, const char *name, const char *ends)
{
    size_t len = strcspn(name, ends);
    const char *last = NULL;
    for (const char *p = strstr(name, "::"); p && p < name + len; p = strstr(p + 2, "::"))
        if (pm_name_fits(pattern, last = p + 2))
            return true;
    if (len == 0 || !name[len])
        return false;
    char *plain = pm_strndup(name, len);
    bool found = plain && (pm_name_fits(pattern, plain) ||
                           (last && pm_name_fits(pattern, plain + (last - name))));
    free(plain);
    return found;
}

/* --- names of code and data --- */

enum { MAX_PARTS = 64, NAME_BYTES = 1 << 20, SHORTENED_BYTES = 8192 };

struct parts {
    struct pm_cxx_part of[MAX_PARTS];
    size_t n;
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static bool is_lambda(const struct pm_cxx_part *part)
{
    return part->name.len > 7 && !strncmp(part->name.p + 1, "lambda", 6) &&
           (*part->name.p == '{' || *part->name.p == '<');
}

static bool is_nameless(const struct pm_cxx_part *part)
{
    return pm_str_is(part->name, "(anonymous namespace)") || pm_str_is(part->name, "{anonymous}") ||
           pm_str_is(part->name, "<unnamed>");
}

/* What people leave out: nameless and inline namespaces, the operator() of a lambda. */
static bool may_be_left_out(const struct parts *parts, size_t i)
{
    const struct pm_cxx_part *part = &parts->of[i];
    return is_nameless(part) || pm_str_is(part->name, "__cxx11") || pm_str_is(part->name, "_V2") ||
           pm_str_is(part->name, "__1") ||
           (i > 0 && is_lambda(part - 1) && pm_str_is(part->name, "operator()"));
}

/* Equal but for blanks that separate no words, and for case when flags say so. */
static bool equal_text(struct pm_str a, struct pm_str b, int flags)
{
    size_t i = 0, j = 0;
    char before = 0;
    for (;;) {
        size_t blanks_a = i, blanks_b = j;
        while (i < a.len && a.p[i] == ' ')
            i++;
        while (j < b.len && b.p[j] == ' ')
            j++;
        if (i == a.len || j == b.len)
            return i == a.len && j == b.len;
        bool apart = is_word(before) && is_word(a.p[i]);
        if (apart && (blanks_a == i) != (blanks_b == j))
            return false;
        before = a.p[i];
        bool equal = flags & FNM_CASEFOLD
                         ? tolower((unsigned char)a.p[i]) == tolower((unsigned char)b.p[j])
                         : a.p[i] == b.p[j];
        if (!equal)
            return false;
        i++;
        j++;
    }
}

/* Arguments or parameters: any when the pattern has none, or what tables show for any. */
static bool equal_list(struct pm_str wanted, struct pm_str list, int flags)
{
    if (wanted.len == 0)
        return true;
    struct pm_str inner = {wanted.p + 1, wanted.len - 1};
    if (list.len && (!strncmp(inner.p, "...", 3) || !strncmp(inner.p, "…", strlen("…"))))
        return true;
    return equal_text(wanted, list, flags);
}

/* Of "sweep.constprop.0": sweep. */
static struct pm_str without_mark(struct pm_str name)
{
    const char *dot = memchr(name.p, '.', name.len);
    return dot && dot > name.p ? (struct pm_str){name.p, (size_t)(dot - name.p)} : name;
}

/* {lambda(int)#1} is also `lambda`. */
static bool equal_part(const struct pm_cxx_part *wanted, const struct pm_cxx_part *part, int flags)
{
    bool equal = equal_text(wanted->name, part->name, flags) ||
                 equal_text(wanted->name, without_mark(part->name), flags) ||
                 (is_lambda(part) && pm_str_is(wanted->name, "lambda")) ||
                 (is_nameless(part) && is_nameless(wanted));
    return equal && equal_list(wanted->arguments, part->arguments, flags) &&
           equal_list(wanted->parameters, part->parameters, flags);
}

/* From the right. */
static bool equal_parts(const struct parts *wanted, const struct parts *name, int flags)
{
    size_t i = wanted->n, j = name->n;
    while (i > 0 && j > 0) {
        if (equal_part(&wanted->of[i - 1], &name->of[j - 1], flags))
            i--;
        else if (!may_be_left_out(name, j - 1))
            return false;
        j--;
    }
    return i == 0 && wanted->n > 0;
}

static void split(const char *name, struct parts *ret_parts)
{
    ret_parts->n = pm_cxx_parts(name, strlen(name), ret_parts->of, MAX_PARTS);
}

static void add_text(struct pm_buf *out, struct pm_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        bool stays = text.p[i] != ' ' || (out->len && is_word(out->data[out->len - 1]) &&
                                          i + 1 < text.len && is_word(text.p[i + 1]));
        if (stays)
            pm_buf_add_byte(out, (unsigned char)text.p[i]);
    }
}

/* As the pattern has it: with arguments of templates and parameters, or without. */
static bool fits_glob(const struct pm_name_pattern *pattern, const struct parts *name,
                      bool has_arguments, bool has_parameters, bool leaves_out)
{
    struct pm_buf wanted = PM_BUF_INIT(NAME_BYTES), text = PM_BUF_INIT(NAME_BYTES);
    bool found = false;
    add_text(&wanted, pm_str_of(pattern->text));
    for (size_t first = 0; first < name->n && !found; first++) {
        pm_buf_clear(&text);
        for (size_t i = first; i < name->n; i++) {
            if (leaves_out && may_be_left_out(name, i))
                continue;
            if (text.len)
                pm_buf_add_str(&text, "::");
            add_text(&text, name->of[i].name);
            if (has_arguments)
                add_text(&text, name->of[i].arguments);
            if (has_parameters)
                add_text(&text, name->of[i].parameters);
        }
        found = text.data && wanted.data && !text.failed && !wanted.failed &&
                fnmatch(wanted.data, text.data, pattern->flags) == 0;
    }
    pm_buf_release(&wanted);
    pm_buf_release(&text);
    return found;
}

/* A backslash takes its meaning from a sign. */
static bool is_glob(const char *text)
{
    for (; *text; text += *text == '\\' && text[1] ? 2 : 1)
        if (strchr("*?", *text) || (*text == '[' && strncmp(text, "[abi:", 5) != 0))
            return true;
    return false;
}

/* false: too long */
static bool without_backslashes(const char *text, char *to, size_t size)
{
    for (; *text && size > 1; text++, size--) {
        text += *text == '\\' && text[1];
        *to++ = *text;
    }
    *to = 0;
    return !*text;
}

/* Most names are told from a pattern by its last word, without looking at their parts. */
static bool may_fit(const struct parts *wanted, const char *name, int flags)
{
    if (wanted->n == 0 || flags & FNM_CASEFOLD)
        return wanted->n > 0;
    struct pm_str last = wanted->of[wanted->n - 1].name;
    size_t n = 0;
    while (n < last.len && is_word(last.p[n]))
        n++;
    return n == 0 || memmem(name, strlen(name), last.p, n) != NULL;
}

/* An operator's name means itself, though it has stars. */
static bool means_itself(const struct parts *wanted, const char *text)
{
    const struct pm_cxx_part *last = wanted->n ? &wanted->of[wanted->n - 1] : NULL;
    return last && last->is_operator && strcspn(text, "*?[") >= (size_t)(last->name.p - text);
}

/* plain: the pattern without backslashes, which the parts are of. */
static bool fits_parts(const struct pm_name_pattern *pattern, const char *plain,
                       const struct parts *wanted, const char *name)
{
    struct parts parts;
    split(name, &parts);
    if (!is_glob(pattern->text) || means_itself(wanted, plain))
        return equal_parts(wanted, &parts, pattern->flags);
    bool has_arguments = false, has_parameters = false;
    for (size_t i = 0; i < wanted->n; i++) {
        has_arguments |= wanted->of[i].arguments.len > 0;
        has_parameters |= wanted->of[i].parameters.len > 0;
    }
    return fits_glob(pattern, &parts, has_arguments, has_parameters, false) ||
           fits_glob(pattern, &parts, has_arguments, has_parameters, true);
}

bool pm_name_fits_code(const struct pm_name_pattern *pattern, const char *name)
{
    char plain[PLACE_BYTES];
    if (!*name)
        return false;
    if (!strcmp(pattern->text, name) || !without_backslashes(pattern->text, plain, sizeof plain))
        return !strcmp(pattern->text, name);
    struct parts wanted;
    split(plain, &wanted);
    bool is_exact = !strcmp(plain, name);
    if (is_exact || (!is_glob(pattern->text) && !may_fit(&wanted, name, pattern->flags)))
        return is_exact;
    if (fits_parts(pattern, plain, &wanted, name))
        return true;
    struct pm_buf brief = PM_BUF_INIT(NAME_BYTES);
    bool found = strlen(name) < SHORTENED_BYTES && strstr(name, "std::") &&
                 pm_cxx_shorten(name, &brief) && /* as tables show it */
                 fits_parts(pattern, plain, &wanted, brief.data);
    pm_buf_release(&brief);
    return found;
}

bool pm_name_is_of_system(const char *file)
{
    static const char *const starts[] = {"/usr/include/", "/usr/local/include/", "/usr/lib/gcc/",
                                         "/usr/lib/llvm"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (!strncmp(file, starts[i], strlen(starts[i])))
            return true;
    return strstr(file, "/include/c++/") || strstr(file, "/lib/gcc/");
}
