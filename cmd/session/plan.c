/* Which nouns a pattern means, and the plan that tells the runtime. What has sleds are nouns of
 * level Base (symbols, code of loops); a pattern means one when it matches its name, or that of
 * a function or loop of the source that it is code of. */
#include "plan.h"
#include "libraries.h"

#include "mapping/base/cxx_name.h"
#include "mapping/base/map.h"
#include "mapping/base/suggest.h"
#include "mapping/graph/pattern.h"
#include "mapping/pif/pif.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* --- rules --- */

/* What modes can be given to; a line means what begins there. */
static bool has_modes(const struct pm_pattern *pattern)
{
    return pattern->kind == PM_PATTERN_ANY || pattern->kind == PM_PATTERN_FUNCTION ||
           pattern->kind == PM_PATTERN_LOOP || pattern->kind == PM_PATTERN_FILE ||
           (pattern->kind == PM_PATTERN_STATEMENT && *pattern->prefix.p == 'l');
}

const char *mode_pattern_problem(const char *text)
{
    struct pm_pattern pattern = pm_pattern_of(text, NULL, NULL);
    if (!has_modes(&pattern))
        return "only functions and loops have modes: func:NAME, loop:FILE:LINE, file:FILE";
    return *pattern.name.text ? NULL : "the pattern is empty";
}

bool mode_rules_add(struct mode_rules *rules, enum pm_run_mode mode, const char *pattern)
{
    if (rules->n == MODE_RULES_MAX)
        return false;
    struct mode_rule *items = pm_realloc_array(rules->items, rules->n + 1, sizeof *items);
    if (!items)
        return false;
    rules->items = items;
    char *copy = pm_strndup(pattern, strlen(pattern));
    if (!copy)
        return false;
    items[rules->n++] = (struct mode_rule){mode, copy};
    return true;
}

void mode_rules_release(struct mode_rules *rules)
{
    for (size_t i = 0; i < rules->n; i++)
        free(rules->items[i].pattern);
    free(rules->items);
    *rules = (struct mode_rules){0};
}

/* --- needs --- */

bool mode_needs_add(struct mode_needs *needs, const struct mode_need *need)
{
    if (needs->n == needs->capacity) {
        size_t capacity = needs->capacity ? needs->capacity * 2 : 256;
        struct mode_need *items = pm_realloc_array(needs->items, capacity, sizeof *items);
        if (!items)
            return false;
        needs->items = items;
        needs->capacity = capacity;
    }
    needs->items[needs->n++] = *need;
    return true;
}

static int compare_needs(const void *a, const void *b)
{
    const struct mode_need *x = a, *y = b;
    return x->id != y->id ? (x->id > y->id) - (x->id < y->id) : (int)y->mode - (int)x->mode;
}

/* Copies of a construct. One that is needed everywhere is. */
static void join(struct mode_need *need, const struct mode_need *other)
{
    if (other->mode != PM_RUN_MODE_OFF)
        need->inside = need->inside && other->inside ? need->inside | other->inside : 0;
    need->terms |= other->terms;
    need->fixed |= other->fixed;
}

void mode_needs_sort(struct mode_needs *needs)
{
    size_t n = 0;
    if (needs->n)
        qsort(needs->items, needs->n, sizeof *needs->items, compare_needs);
    for (size_t i = 0; i < needs->n; i++)
        if (n && needs->items[n - 1].id == needs->items[i].id)
            join(&needs->items[n - 1], &needs->items[i]);
        else
            needs->items[n++] = needs->items[i];
    needs->n = n;
}

static bool has_smaller_id(const void *need, const void *id)
{
    return ((const struct mode_need *)need)->id < *(const uint64_t *)id;
}

const struct mode_need *mode_needs_find(const struct mode_needs *needs, uint64_t id)
{
    size_t at = pm_lower_bound(needs->items, needs->n, sizeof *needs->items, &id, has_smaller_id);
    return at < needs->n && needs->items[at].id == id ? &needs->items[at] : NULL;
}

void mode_needs_release(struct mode_needs *needs)
{
    free(needs->items);
    *needs = (struct mode_needs){0};
}

/* --- names --- */

/* One name of a noun with sleds: its own, or of what it is code of. Strings are the pif's. */
struct mode_name {
    uint64_t id; /* of the noun with sleds */
    const char *name, *linkage, *file;
    uint32_t line, column;
    bool is_loop;
    /* the function of the source that it is, or lies in; name NULL: not known */
    struct pm_selection_subject function;
};

struct mode_names {
    struct pm_pif *pif;
    struct mode_name *items; /* sorted by id */
    size_t n, capacity;
    struct pm_map mapping_of; /* function's id: 1 + the mapping of its symbol */
    char **files;
    size_t n_files;
};

struct mode_names *mode_names_new(void)
{
    struct mode_names *names = pm_alloc(sizeof *names);
    if (names)
        names->pif = pm_pif_new();
    if (names && !names->pif) {
        free(names);
        return NULL;
    }
    return names;
}

void mode_names_free(struct mode_names *names)
{
    if (!names)
        return;
    for (size_t i = 0; i < names->n_files; i++)
        free(names->files[i]);
    free(names->files);
    free(names->items);
    pm_map_release(&names->mapping_of);
    pm_pif_free(names->pif);
    free(names);
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
    return word && (!strcmp(word, a) || !strcmp(word, b));
}

/* Constructors and destructors have several symbols, so their nouns name none. NULL: none known. */
static const char *symbol_of(const struct mode_names *names, uint64_t function)
{
    uint32_t row = pm_map_get(&names->mapping_of, function);
    struct pm_pif_mapping mapping;
    struct pm_pif_noun noun;
    if (!row)
        return NULL;
    pm_pif_get_mapping(names->pif, row - 1, &mapping);
    return pm_pif_find_noun(names->pif, mapping.source.nouns[0], &noun) ? noun.name : NULL;
}

static struct pm_selection_subject function_of(const struct mode_names *names,
                                               struct pm_pif_noun noun)
{
    enum { MOST = 64 }; /* loops in loops; a circle ends, too */
    for (int i = 0; i < MOST && !is_one_of(noun.kind, "function", "symbol"); i++)
        if (!noun.parent || !pm_pif_find_noun(names->pif, noun.parent, &noun))
            return (struct pm_selection_subject){0};
    return (struct pm_selection_subject){.file = noun.file,
                                         .name = noun.name,
                                         .linkage = noun.linkage ? noun.linkage
                                                                 : symbol_of(names, noun.id)};
}

static bool add_name(struct mode_names *names, uint64_t id, const struct pm_pif_noun *noun,
                     bool is_loop)
{
    if (names->n == names->capacity) {
        size_t capacity = names->capacity ? names->capacity * 2 : 1024;
        struct mode_name *items = pm_realloc_array(names->items, capacity, sizeof *items);
        if (!items)
            return false;
        names->items = items;
        names->capacity = capacity;
    }
    names->items[names->n++] = (struct mode_name){.id = id,
                                                  .name = noun->name,
                                                  .linkage = noun->linkage,
                                                  .file = noun->file,
                                                  .line = noun->line,
                                                  .column = noun->column,
                                                  .is_loop = is_loop,
                                                  .function = function_of(names, *noun)};
    return true;
}

static int compare_names(const void *a, const void *b)
{
    uint64_t x = ((const struct mode_name *)a)->id, y = ((const struct mode_name *)b)->id;
    return (x > y) - (x < y);
}

/* Is the mapping from code with sleds to a function or loop of the source? */
static bool get_code(const struct mode_names *names, size_t i, struct pm_pif_noun *ret_code,
                     struct pm_pif_noun *ret_source)
{
    struct pm_pif_mapping mapping;
    pm_pif_get_mapping(names->pif, i, &mapping);
    return mapping.source.n_nouns == 1 && mapping.destination.n_nouns == 1 &&
           pm_pif_find_noun(names->pif, mapping.source.nouns[0], ret_code) &&
           pm_pif_find_noun(names->pif, mapping.destination.nouns[0], ret_source) &&
           is_one_of(ret_code->kind, "symbol", "loopcode") &&
           is_one_of(ret_source->kind, "function", "loop") && !strcmp(ret_code->level, "Base");
}

static bool find_symbols(struct mode_names *names)
{
    struct pm_pif_noun noun, source;
    pm_map_release(&names->mapping_of);
    for (size_t i = 0; i < pm_pif_n_mappings(names->pif); i++)
        if (get_code(names, i, &noun, &source) && !strcmp(noun.kind, "symbol") && !source.linkage &&
            !pm_map_put(&names->mapping_of, source.id, (uint32_t)i + 1))
            return false;
    return true;
}

/* All anew: nouns of one file may be told more of by another's mappings. */
static bool make_names(struct mode_names *names)
{
    names->n = 0;
    struct pm_pif_noun noun, source;
    if (!find_symbols(names))
        return false;
    for (size_t i = 0; i < pm_pif_n_nouns(names->pif); i++) {
        pm_pif_get_noun(names->pif, i, &noun);
        if (!strcmp(noun.level, "Base") && is_one_of(noun.kind, "symbol", "loopcode") &&
            !add_name(names, noun.id, &noun, !strcmp(noun.kind, "loopcode")))
            return false;
    }
    for (size_t i = 0; i < pm_pif_n_mappings(names->pif); i++) {
        if (!get_code(names, i, &noun, &source))
            continue;
        if (!add_name(names, noun.id, &source, !strcmp(noun.kind, "loopcode")))
            return false;
    }
    if (names->n)
        qsort(names->items, names->n, sizeof *names->items, compare_names);
    return true;
}

/* False: memory. */
static bool note_file(struct mode_names *names, const char *path, bool *ret_is_new)
{
    *ret_is_new = false;
    for (size_t i = 0; i < names->n_files; i++)
        if (!strcmp(names->files[i], path))
            return true;
    char **files = pm_realloc_array(names->files, names->n_files + 1, sizeof *files);
    if (!files)
        return false;
    names->files = files;
    files[names->n_files] = pm_strndup(path, strlen(path));
    *ret_is_new = true;
    return files[names->n_files] != NULL && ++names->n_files;
}

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

enum pm_status mode_names_add_file(struct mode_names *names, const char *path, struct pm_error *err)
{
    struct pm_error unread = PM_ERROR_INIT;
    bool is_new;
    if (!note_file(names, path, &is_new))
        return no_memory(err);
    if (!is_new)
        return PM_OK;
    enum pm_status status = pm_pif_read_elf(names->pif, path, &unread, NULL);
    pm_error_release(&unread); /* a script, a library without facts */
    if (status == PM_ERR_MEMORY || (status == PM_OK && !make_names(names)))
        return no_memory(err);
    return PM_OK;
}

/* --- libraries --- */

enum pm_status mode_names_add_program(struct mode_names *names, const char *path,
                                      struct pm_error *err)
{
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    enum pm_status status = mode_names_add_file(names, path, err);
    if (status == PM_OK)
        status = session_list_libraries(path, err, &text);
    char *rest = text.data;
    for (char *library; status == PM_OK && rest && (library = session_next_library(&rest)) != NULL;)
        status = mode_names_add_file(names, library, err);
    pm_buf_release(&text);
    return status;
}

/* --- matching --- */

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static bool pattern_matches(const struct pm_pattern *pattern, const struct mode_name *name)
{
    const struct pm_graph_noun noun = {.name = or_empty(name->name),
                                       .kind = name->is_loop ? "loop" : "function",
                                       .linkage = or_empty(name->linkage),
                                       .file = or_empty(name->file),
                                       .type = "",
                                       .line_no = name->line,
                                       .column_no = name->column};
    bool is_any = pattern->kind == PM_PATTERN_ANY;
    if (pattern->kind == PM_PATTERN_STATEMENT)
        return pm_name_fits_place(&pattern->name, noun.file, noun.line_no, noun.column_no);
    if ((is_any || pattern->kind == PM_PATTERN_FILE) &&
        pm_name_fits_path(&pattern->name, noun.file))
        return true;
    return pm_pattern_fits(pattern, &noun);
}

static struct pm_pattern pattern_of(const struct mode_rule *rule)
{
    return pm_pattern_of(rule->pattern, NULL, NULL);
}

static size_t first_of(const struct mode_names *names, uint64_t id)
{
    size_t low = 0, high = names->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (names->items[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

enum { MAX_TOLD = 6, LONG_NAME = 50 /* goes without its parameters */ };

static bool is_told(const struct mode_names *names, const size_t *told, size_t n, size_t at)
{
    const struct mode_name *name = &names->items[at];
    for (size_t i = 0; i < n; i++) {
        const struct mode_name *other = &names->items[told[i]];
        if (other->line == name->line && !strcmp(or_empty(other->name), or_empty(name->name)))
            return true;
    }
    return false;
}

/* Functions and loops of the source: what the plugin says of machine code has no place. */
bool mode_names_add_several(const struct mode_names *names, const struct mode_rule *rule,
                            struct pm_buf *out)
{
    const struct pm_pattern pattern = pattern_of(rule);
    struct pm_buf list = PM_BUF_INIT(1 << 20);
    size_t told[MAX_TOLD], n = 0, n_more = 0;
    if (strpbrk(rule->pattern, "*?") || pattern.kind == PM_PATTERN_FILE)
        return false;
    for (size_t i = 0; i < names->n; i++) {
        const struct mode_name *name = &names->items[i];
        if (!*or_empty(name->file) || !name->line || !pattern_matches(&pattern, name) ||
            is_told(names, told, n, i))
            continue;
        if (n == MAX_TOLD) {
            n_more++;
            continue;
        }
        const char *slash = strrchr(name->file, '/');
        pm_buf_add_str(&list, n ? ", " : "");
        pm_cxx_add_brief(or_empty(name->name), LONG_NAME, &list);
        pm_buf_printf(&list, " (%s:%u)", slash ? slash + 1 : name->file, name->line);
        told[n++] = i;
    }
    bool several = n > 1 && !list.failed;
    if (several) {
        pm_buf_printf(out, "'%s' names %s%zu: ", rule->pattern, n_more ? "more than " : "", n);
        pm_buf_add_printable(out, list.data, list.len);
    }
    pm_buf_release(&list);
    return several;
}

/* The last pattern that matches; false: none does. */
static bool mode_by_rules(const struct mode_names *names, const struct mode_rules *rules,
                          uint64_t id, enum pm_run_mode *ret_mode, bool *ret_fixed)
{
    size_t first = first_of(names, id);
    for (size_t r = rules->n; r-- > 0;) {
        const struct pm_pattern pattern = pattern_of(&rules->items[r]);
        bool is_all = !strcmp(pattern.name.text, "*") && pattern.kind == PM_PATTERN_ANY;
        bool found = is_all;
        for (size_t i = first; !found && i < names->n && names->items[i].id == id; i++)
            found = pattern_matches(&pattern, &names->items[i]);
        if (found) {
            *ret_mode = rules->items[r].mode;
            *ret_fixed = !is_all;
            return true;
        }
    }
    return false;
}

static bool fits(const struct pm_selection *selection, const struct mode_name *name)
{
    return name->function.name && pm_selection_fits(selection, &name->function);
}

/* By the functions of the source that it is code of; by its symbol when none is known. */
static bool is_selected(const struct mode_names *names, const struct pm_selection *selection,
                        uint64_t id)
{
    bool by_source = false, by_symbol = false, has_source = false;
    for (size_t i = first_of(names, id); i < names->n && names->items[i].id == id; i++) {
        const struct mode_name *name = &names->items[i];
        bool is_source = name->function.name && name->line > 0;
        has_source |= is_source;
        if (is_source)
            by_source |= fits(selection, name);
        else
            by_symbol |= fits(selection, name);
    }
    return has_source ? by_source : by_symbol;
}

/* What no file said anything of: its name is not known. */
static bool selects_unknown(const struct pm_selection *selection)
{
    return pm_selection_fits(selection, &(struct pm_selection_subject){.name = "", .file = ""});
}

void mode_names_count(const struct mode_names *names, const struct pm_selection *selection,
                      size_t *ret_n, size_t *ret_selected)
{
    size_t n = 0, n_selected = 0;
    for (size_t i = 0; i < names->n; i++) {
        bool is_new = i == 0 || names->items[i - 1].id != names->items[i].id;
        if (names->items[i].is_loop || !is_new)
            continue;
        n++;
        n_selected += is_selected(names, selection, names->items[i].id);
    }
    *ret_n = n;
    *ret_selected = n_selected;
}

enum pm_run_mode mode_names_of(const struct mode_names *names, const struct mode_choice *choice,
                               uint64_t id, bool *ret_fixed)
{
    enum pm_run_mode mode = choice->mode;
    bool fixed = false;
    const struct mode_need *need = mode_needs_find(&choice->question, id);
    if (!mode_by_rules(names, &choice->rules, id, &mode, &fixed)) {
        mode = need ? need->mode : mode;
        fixed = need && need->fixed;
        if (choice->selection && !is_selected(names, choice->selection, id))
            mode = PM_RUN_MODE_OFF;
    }
    for (size_t i = 0; i < choice->n_live; i++) {
        need = mode_needs_find(choice->live[i], id);
        if (need && need->mode >= mode && need->mode != PM_RUN_MODE_OFF) {
            fixed |= need->fixed;
            mode = need->mode;
        }
    }
    if (ret_fixed)
        *ret_fixed = fixed;
    return mode;
}

/* --- patterns that match nothing --- */

/* What the pattern could have meant. free() it; NULL: nothing near. */
static char *near_name(const struct mode_names *names, const struct pm_pattern *pattern)
{
    const char **words = pm_alloc_array(names->n + 1, sizeof *words);
    size_t n = 0;
    for (size_t i = 0; words && i < names->n; i++) {
        const struct mode_name *name = &names->items[i];
        bool is_file = pattern->kind == PM_PATTERN_FILE,
             wanted = pattern->kind == PM_PATTERN_ANY ||
                      name->is_loop == (pattern->kind == PM_PATTERN_LOOP);
        if (wanted && !is_file)
            words[n++] = name->name;
        else if (is_file && name->file)
            words[n++] = name->file;
    }
    const char *near = words ? pm_suggest(pattern->name.text, words) : NULL;
    char *copy = near ? pm_strndup(near, strlen(near)) : NULL;
    free(words);
    return copy;
}

/* Is it a loop or function of the source that got no sleds? */
static bool means_without_sleds(const struct mode_names *names, const struct pm_pattern *pattern,
                                const char *kind)
{
    struct pm_pif_noun noun;
    for (size_t i = 0; i < pm_pif_n_nouns(names->pif); i++) {
        pm_pif_get_noun(names->pif, i, &noun);
        const struct mode_name name = {.name = noun.name,
                                       .linkage = noun.linkage,
                                       .file = noun.file,
                                       .line = noun.line,
                                       .column = noun.column,
                                       .is_loop = !strcmp(kind, "loop")};
        if (noun.kind && !strcmp(noun.kind, kind) && pattern->kind != PM_PATTERN_FILE &&
            pattern_matches(pattern, &name))
            return true;
    }
    return false;
}

static enum pm_status refuse(const struct mode_names *names, const struct mode_rule *rule,
                             struct pm_error *err)
{
    const struct pm_pattern pattern = pattern_of(rule);
    if (names->n == 0)
        return pm_error_set(
            err, PM_ERR_USAGE,
            "pattern '%s' of --%s: neither the program nor its libraries were compiled "
            "with PerfMap; --look-in FILE names a library or program that is loaded later",
            rule->pattern, pm_mode_name(rule->mode));
    if (means_without_sleds(names, &pattern, "loop"))
        return pm_error_set(err, PM_ERR_USAGE,
                            "pattern '%s' of --%s: the loop has no sled, like all inner loops and "
                            "small loops that only search memory: compile with "
                            "-fplugin-arg-perfmap-constructs=functions,all-loops to give it one",
                            rule->pattern, pm_mode_name(rule->mode));
    if (means_without_sleds(names, &pattern, "function"))
        return pm_error_set(err, PM_ERR_USAGE,
                            "pattern '%s' of --%s: the function has no sled, for it was inlined "
                            "everywhere, or left out by an option of the plugin: samples have its "
                            "time, and -fno-inline its calls",
                            rule->pattern, pm_mode_name(rule->mode));
    char *near = near_name(names, &pattern);
    enum pm_status status = pm_error_set(
        err, PM_ERR_USAGE, "pattern '%s' of --%s matches no function or loop%s%.*s%s%s",
        rule->pattern, pm_mode_name(rule->mode), near ? "; did you mean '" : "",
        near ? (int)pattern.prefix.len : 0, pattern.prefix.p, near ? near : "",
        near ? "'?" : " of the program and its libraries (--look-in FILE names others)");
    free(near);
    return status;
}

enum pm_status mode_names_check(const struct mode_names *names, const struct mode_rules *rules,
                                struct pm_error *err)
{
    for (size_t r = 0; r < rules->n; r++) {
        const struct pm_pattern pattern = pattern_of(&rules->items[r]);
        bool found = pattern.kind == PM_PATTERN_ANY && !strcmp(pattern.name.text, "*");
        for (size_t i = 0; i < names->n && !found; i++)
            found = pattern_matches(&pattern, &names->items[i]);
        if (!found)
            return refuse(names, &rules->items[r], err);
    }
    return PM_OK;
}

/* --- the plan --- */

static bool add_ids(struct mode_needs *all, const struct mode_needs *needs)
{
    for (size_t i = 0; i < needs->n; i++)
        if (!mode_needs_add(all, &(struct mode_need){needs->items[i].id, needs->items[i].mode}))
            return false;
    return true;
}

/* Of all nouns that something is said of. */
static bool collect_ids(const struct mode_names *names, const struct mode_choice *choice,
                        struct mode_needs *all)
{
    bool good = add_ids(all, &choice->question);
    for (size_t i = 0; i < names->n && good; i++)
        good = mode_needs_add(all, &(struct mode_need){names->items[i].id, PM_RUN_MODE_OFF});
    for (size_t i = 0; i < choice->n_live && good; i++)
        good = add_ids(all, choice->live[i]);
    mode_needs_sort(all);
    return good;
}

static enum pm_run_mode mode_of_others(const struct mode_choice *choice)
{
    enum pm_run_mode others = choice->mode;
    if (choice->selection && !selects_unknown(choice->selection))
        others = PM_RUN_MODE_OFF;
    for (size_t r = 0; r < choice->rules.n; r++)
        if (!strcmp(choice->rules.items[r].pattern, "*"))
            others = choice->rules.items[r].mode;
    return others;
}

static struct pm_plan_noun plan_noun(const struct mode_names *names,
                                     const struct mode_choice *choice, bool fix, uint64_t id)
{
    bool fixed;
    struct pm_plan_noun noun = {.id = id,
                                .mode = (uint32_t)mode_names_of(names, choice, id, &fixed)};
    noun.fixed = fixed && fix;
    const struct mode_need *need = mode_needs_find(&choice->question, id);
    if (!need)
        return noun;
    enum pm_run_mode by_pattern;
    noun.terms = need->terms;
    if (!mode_by_rules(names, &choice->rules, id, &by_pattern, &fixed))
        noun.inside = need->inside;
    return noun;
}

enum pm_status mode_names_write_plan(const struct mode_names *names,
                                     const struct mode_choice *choice, bool fix,
                                     const char *run_dir, struct pm_error *err)
{
    struct pm_buf bytes = PM_BUF_INIT((size_t)1 << 30), path = PM_BUF_INIT(4 * PATH_MAX);
    struct pm_plan plan = {.version = PM_PLAN_VERSION, .mode = (uint32_t)mode_of_others(choice)};
    struct mode_needs all = {0};
    bool good = collect_ids(names, choice, &all);
    memcpy(plan.magic, PM_PLAN_MAGIC, sizeof plan.magic);
    pm_buf_add(&bytes, &plan, sizeof plan);
    for (size_t i = 0; i < all.n; i++) {
        struct pm_plan_noun noun = plan_noun(names, choice, fix, all.items[i].id);
        if (noun.mode == plan.mode && !noun.fixed && !choice->question_has_terms)
            continue;
        pm_buf_add(&bytes, &noun, sizeof noun);
        plan.n_nouns++;
    }
    mode_needs_release(&all);
    pm_buf_printf(&path, "%s/" PM_PLAN_NAME, run_dir);
    enum pm_status status = !good || bytes.failed || path.failed ? no_memory(err) : PM_OK;
    if (status == PM_OK) {
        memcpy(bytes.data, &plan, sizeof plan);
        status = pm_file_write_unsynced(path.data, bytes.data, bytes.len, err);
    }
    pm_buf_release(&bytes);
    pm_buf_release(&path);
    return status;
}
