/* Which functions a selection list selects. */
#include "selection_internal.h"

#include "banned.h"
#include "cxx_name.h"
#include "names.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>

enum { MAX_RULES = 1000000, SYMBOL_BYTES = 4096 };

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "no memory for a selection");
}

static bool add_section(struct pm_selection *selection)
{
    void *grown = pm_grow_array(selection->sections, selection->n_sections,
                                &selection->cap_sections, 4, sizeof *selection->sections);
    if (!grown)
        return false;
    selection->sections = grown;
    selection->sections[selection->n_sections++] = (struct pm_selection_section){0};
    return true;
}

void pm_selection_free(struct pm_selection *selection)
{
    if (!selection)
        return;
    for (uint32_t i = 0; i < selection->n_rules; i++) {
        free(selection->rules[i].text);
        free(selection->rules[i].bare);
        free(selection->rules[i].file);
    }
    for (uint32_t i = 0; i < selection->n_notes; i++)
        free(selection->notes[i]);
    free(selection->notes);
    free(selection->rules);
    free(selection->sections);
    free(selection->scanned);
    pm_map_release(&selection->by_key);
    free(selection);
}

struct pm_selection *pm_selection_new(void)
{
    struct pm_selection *selection = pm_alloc(sizeof *selection);
    if (selection && (!add_section(selection) || !add_section(selection))) {
        pm_selection_free(selection);
        return NULL;
    }
    if (selection)
        selection->source = "selection list";
    return selection;
}

const char *pm_selection_note(const struct pm_selection *selection, size_t n)
{
    return n < selection->n_notes ? selection->notes[n] : NULL;
}

const char *pm_selection_source(const struct pm_selection *selection)
{
    return selection->source;
}

bool pm_selection_is_everything(const struct pm_selection *selection)
{
    return selection->n_rules == 0;
}

enum pm_status selection_add_note(struct pm_selection *selection, const char *text,
                                  struct pm_error *err)
{
    void *grown = pm_grow_array(selection->notes, selection->n_notes, &selection->cap_notes, 4,
                                sizeof *selection->notes);
    if (!grown)
        return no_memory(err);
    selection->notes = grown;
    char *copy = pm_strndup(text, strlen(text));
    if (!copy)
        return no_memory(err);
    selection->notes[selection->n_notes++] = copy;
    return PM_OK;
}

/* --- keys: by what rules are found --- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static uint64_t key_of(const char *text, size_t len)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a: names are short */
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    return hash;
}

/* Skips what is behind S or T, up to _: its digits are no lengths. */
static const char *skip_substitution(const char *p)
{
    const char *end = p;
    while (isdigit((unsigned char)*end) || isupper((unsigned char)*end))
        end++;
    return *end == '_' ? end + 1 : p;
}

/* Bodies of a constructor or destructor have a symbol each, C1, C2, ..., and compilers name it by
 * different ones: here all are C1 and D1. Lengths of names are followed, for they may have such
 * letters in them. */
static size_t plain_symbol(const char *symbol, char to[SYMBOL_BYTES])
{
    size_t len = strlen(symbol);
    if (len >= SYMBOL_BYTES)
        return 0;
    memcpy(to, symbol, len + 1);
    if (strncmp(symbol, "_Z", 2) != 0)
        return len;
    for (const char *p = symbol + 2; *p;) {
        if (isdigit((unsigned char)*p)) {
            size_t n = 0;
            for (; isdigit((unsigned char)*p); p++)
                n = n < SYMBOL_BYTES ? n * 10 + (size_t)(*p - '0') : n;
            p += n < strlen(p) ? n : strlen(p);
        } else if (*p == 'S' || *p == 'T') {
            p = skip_substitution(p + 1);
        } else if ((*p == 'C' || *p == 'D') && p[1] >= '0' && p[1] <= '5') {
            to[p + 1 - symbol] = '1';
            p += 2;
        } else {
            p++;
        }
    }
    return len;
}

static bool is_function(const struct pm_selection_rule *rule)
{
    return rule->kind == PM_SELECTION_FUNCTION || rule->kind == PM_SELECTION_C;
}

/* Without its backslashes; false: it has wild cards, or is too long. */
static bool plain_text(const char *pattern, char to[SYMBOL_BYTES])
{
    size_t n = 0;
    for (; *pattern && n + 1 < SYMBOL_BYTES; pattern++) {
        if (strchr("*?[", *pattern))
            return false;
        pattern += *pattern == '\\' && pattern[1];
        to[n++] = *pattern;
    }
    to[n] = 0;
    return !*pattern;
}

/* The key that finds it; 0: none does. */
static uint64_t key_of_rule(const struct pm_selection_rule *rule)
{
    char plain[SYMBOL_BYTES];
    struct pm_cxx_part part;
    size_t n = 0;
    if (rule->kind == PM_SELECTION_SYMBOL && (n = plain_symbol(rule->text, plain)) > 0)
        return key_of(plain, n);
    if (rule->kind == PM_SELECTION_MANGLED && plain_text(rule->text, plain) && *plain)
        return key_of(plain, strlen(plain));
    if (!is_function(rule) || !plain_text(rule->text, plain) ||
        pm_cxx_parts(plain, strlen(plain), &part, 1) != 1 || part.is_operator)
        return 0;
    n = 0;
    while (n < part.name.len && is_word(part.name.p[n]))
        n++;
    bool is_own_word = pm_str_is((struct pm_str){part.name.p, n}, "lambda");
    return n && !is_own_word ? key_of(part.name.p, n) : 0;
}

/* --- adding --- */

enum pm_status selection_begin_section(struct pm_selection *selection, struct pm_error *err,
                                       uint32_t *ret_section)
{
    if (!add_section(selection))
        return no_memory(err);
    *ret_section = selection->n_sections - 1;
    return PM_OK;
}

static bool add_scanned(struct pm_selection *selection, uint32_t rule)
{
    void *grown = pm_grow_array(selection->scanned, selection->n_scanned, &selection->cap_scanned,
                                16, sizeof *selection->scanned);
    if (!grown)
        return false;
    selection->scanned = grown;
    selection->scanned[selection->n_scanned++] = rule;
    return true;
}

/* Where its parameters are left out; false: memory. */
static bool make_bare(struct pm_selection_rule *rule)
{
    size_t n = strcspn(rule->text, "(");
    if (!is_function(rule) || !rule->text[n] || n == 0 || strstr(rule->text, "operator"))
        return true;
    while (n > 0 && rule->text[n - 1] == ' ')
        n--;
    rule->bare = n ? pm_strndup(rule->text, n) : NULL;
    return rule->bare || n == 0;
}

static bool find_by_key(struct pm_selection *selection, uint32_t at)
{
    struct pm_selection_rule *rule = &selection->rules[at];
    uint64_t key = key_of_rule(rule);
    if (!key)
        return add_scanned(selection, at);
    uint32_t *row = pm_map_at(&selection->by_key, key);
    if (!row)
        return false;
    rule->previous = *row;
    *row = at + 1;
    return true;
}

enum pm_status selection_add_rule(struct pm_selection *selection, uint32_t section,
                                  enum pm_selection_kind kind, bool include, char *text, char *file,
                                  struct pm_error *err)
{
    struct pm_selection_rule rule = {
        .kind = kind, .include = include, .section = section, .text = text, .file = file};
    bool is_full = selection->n_rules == MAX_RULES;
    void *grown = NULL;
    if (text && !is_full && make_bare(&rule))
        grown = pm_grow_array(selection->rules, selection->n_rules, &selection->cap_rules, 64,
                              sizeof *selection->rules);
    if (!grown) {
        free(text);
        free(file);
        free(rule.bare);
        return is_full ? pm_error_set(err, PM_ERR_LIMIT, "a selection has more than %d patterns",
                                      MAX_RULES)
                       : no_memory(err);
    }
    selection->rules = grown;
    selection->rules[selection->n_rules++] = rule;
    selection->sections[section].n++;
    selection->sections[section].has_include |= include;
    return find_by_key(selection, selection->n_rules - 1) ? PM_OK : no_memory(err);
}

enum pm_status pm_selection_add(struct pm_selection *selection, bool include, const char *pattern,
                                struct pm_error *err)
{
    return selection_add_pattern(selection, include ? 0 : 1, include, pattern, err);
}

/* --- what fits --- */

bool pm_selection_same_file(const char *a, const char *b)
{
    while (!strncmp(a, "./", 2) || !strncmp(a, "../", 3))
        a = strchr(a, '/') + 1;
    while (!strncmp(b, "./", 2) || !strncmp(b, "../", 3))
        b = strchr(b, '/') + 1;
    size_t n = strlen(a), m = strlen(b);
    if (n > m)
        return pm_selection_same_file(b, a);
    return n && !strcmp(a, b + (m - n)) && (n == m || b[m - n - 1] == '/' || *a == '/');
}

bool pm_selection_same_symbol(const char *a, const char *b)
{
    char plain_a[SYMBOL_BYTES], plain_b[SYMBOL_BYTES];
    return !strcmp(a, b) ||
           (plain_symbol(a, plain_a) && plain_symbol(b, plain_b) && !strcmp(plain_a, plain_b));
}

uint64_t pm_selection_symbol_key(const char *symbol)
{
    char plain[SYMBOL_BYTES];
    size_t n = plain_symbol(symbol, plain);
    return n ? key_of(plain, n) : key_of(symbol, strlen(symbol));
}

static bool fits_symbol(const struct pm_selection_rule *rule,
                        const struct pm_selection_subject *subject)
{
    const char *linkage = subject->linkage ? subject->linkage : subject->name;
    if (!linkage || !pm_selection_same_symbol(rule->text, linkage))
        return false;
    if (!rule->file)
        return true;
    const char *file = subject->path ? subject->path : subject->file;
    return file && pm_selection_same_file(rule->file, file);
}

static bool fits_function(const struct pm_selection_rule *rule,
                          const struct pm_selection_subject *subject)
{
    const char *linkage = subject->linkage ? subject->linkage : "", *name = subject->name;
    bool is_mangled = !strncmp(linkage, "_Z", 2);
    const struct pm_name_pattern whole = {.text = rule->text, .is_plain_too = true},
                                 bare = {.text = rule->bare, .is_plain_too = true};
    if (pm_name_fits(&whole, linkage))
        return true;
    if (!name)
        return false;
    /* names of C have no overloads, and each compiler writes types in a way of its own */
    bool is_bare = rule->bare && !is_mangled && (!strchr(name, '(') || !strpbrk(rule->bare, "*?["));
    return pm_name_fits_code(&whole, name) || (is_bare && pm_name_fits_code(&bare, name));
}

/* Names of C are their symbols, those of Fortran are not. */
static bool fits_fortran(const struct pm_selection_rule *rule,
                         const struct pm_selection_subject *subject)
{
    const struct pm_name_pattern pattern = {.text = rule->text, .flags = FNM_CASEFOLD};
    const char *linkage = subject->linkage;
    return subject->name && linkage && *linkage && strncmp(linkage, "_Z", 2) != 0 &&
           strcmp(linkage, subject->name) != 0 && pm_name_fits_code(&pattern, subject->name);
}

static bool fits_file(const struct pm_selection_rule *rule,
                      const struct pm_selection_subject *subject)
{
    /* an end of the path is meant anyway, and a path may be short */
    const char *text = !strncmp(rule->text, "*/", 2) ? rule->text + 2 : rule->text;
    const struct pm_name_pattern pattern = {.text = text, .is_plain_too = true};
    return (subject->file && pm_name_fits_path(&pattern, subject->file)) ||
           (subject->path && pm_name_fits_path(&pattern, subject->path));
}

static bool rule_fits(const struct pm_selection_rule *rule,
                      const struct pm_selection_subject *subject)
{
    const struct pm_name_pattern pattern = {.text = rule->text};
    const char *linkage = subject->linkage ? subject->linkage : subject->name;
    switch (rule->kind) {
    case PM_SELECTION_SYMBOL:
        return fits_symbol(rule, subject);
    case PM_SELECTION_MANGLED:
        return linkage && pm_name_fits(&pattern, linkage);
    case PM_SELECTION_FILE:
        return fits_file(rule, subject);
    case PM_SELECTION_FORTRAN:
        return fits_fortran(rule, subject);
    case PM_SELECTION_C:
        return linkage && strncmp(linkage, "_Z", 2) != 0 && fits_function(rule, subject);
    case PM_SELECTION_FUNCTION:
        return fits_function(rule, subject);
    case PM_SELECTION_ANY:
        break;
    }
    return fits_function(rule, subject) || fits_file(rule, subject);
}

/* Of the section's rules with that key the last one that fits, if it is behind best. 1 + a
 * position; 0: none. */
static uint32_t better_by_key(const struct pm_selection *selection, uint32_t section, uint64_t key,
                              const struct pm_selection_subject *subject, uint32_t best)
{
    uint32_t at = pm_map_get(&selection->by_key, key);
    for (; at > best; at = selection->rules[at - 1].previous)
        if (selection->rules[at - 1].section == section &&
            rule_fits(&selection->rules[at - 1], subject))
            return at;
    return best;
}

/* By each word of the name, and by the linker's name. */
static uint32_t find_by_keys(const struct pm_selection *selection, uint32_t section,
                             const struct pm_selection_subject *subject)
{
    char plain[SYMBOL_BYTES];
    const char *linkage = subject->linkage ? subject->linkage : subject->name;
    uint32_t best = 0;
    size_t n = linkage ? plain_symbol(linkage, plain) : 0;
    if (n)
        best = better_by_key(selection, section, key_of(plain, n), subject, best);
    if (linkage)
        best = better_by_key(selection, section, key_of(linkage, strlen(linkage)), subject, best);
    for (const char *p = subject->name; p && *p; p += n) {
        n = 0;
        while (is_word(p[n]))
            n++;
        if (n)
            best = better_by_key(selection, section, key_of(p, n), subject, best);
        else
            n = 1;
    }
    return best;
}

static bool section_selects(const struct pm_selection *selection, uint32_t section,
                            const struct pm_selection_subject *subject)
{
    uint32_t best = selection->by_key.n ? find_by_keys(selection, section, subject) : 0;
    for (uint32_t i = selection->n_scanned; i-- > 0 && selection->scanned[i] >= best;) {
        const struct pm_selection_rule *rule = &selection->rules[selection->scanned[i]];
        if (rule->section == section && rule_fits(rule, subject)) {
            best = selection->scanned[i] + 1;
            break;
        }
    }
    return best ? selection->rules[best - 1].include : !selection->sections[section].has_include;
}

bool pm_selection_fits(const struct pm_selection *selection,
                       const struct pm_selection_subject *subject)
{
    for (uint32_t i = 0; i < selection->n_sections; i++)
        if (selection->sections[i].n && !section_selects(selection, i, subject))
            return false;
    return true;
}

/* --- as text --- */

void pm_selection_write(const struct pm_selection *selection, struct pm_buf *out)
{
    static const char *const words[] = {[PM_SELECTION_ANY] = "",
                                        [PM_SELECTION_FUNCTION] = "func:",
                                        [PM_SELECTION_C] = "c:",
                                        [PM_SELECTION_FILE] = "file:",
                                        [PM_SELECTION_SYMBOL] = "symbol:",
                                        [PM_SELECTION_MANGLED] = "mangled:",
                                        [PM_SELECTION_FORTRAN] = "fortran:"};
    bool is_first = true;
    for (uint32_t s = 0; s < selection->n_sections; s++) {
        if (selection->sections[s].n == 0)
            continue;
        pm_buf_add_str(out, is_first ? "" : "&\n");
        is_first = false;
        for (uint32_t i = 0; i < selection->n_rules; i++) {
            const struct pm_selection_rule *rule = &selection->rules[i];
            if (rule->section != s)
                continue;
            pm_buf_printf(out, "%c%s%s", rule->include ? '+' : '-', words[rule->kind], rule->text);
            if (rule->file)
                pm_buf_printf(out, " in %s", rule->file);
            pm_buf_add_byte(out, '\n');
        }
    }
}

bool pm_selection_add_symbol_text(struct pm_buf *out, const char *linkage, const char *file)
{
    if (!*linkage || strpbrk(linkage, " \t\r\n") || (file && strpbrk(file, "\r\n")))
        return false;
    pm_buf_printf(out, "symbol:%s", linkage);
    if (file)
        pm_buf_printf(out, " in %s", file);
    return true;
}
