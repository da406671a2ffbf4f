#include "options.h"

#include "../../mapping/base/selection.h"
#include "../../mapping/base/str.h"
#include "../../mapping/base/suggest.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* "no option 'x': did you mean 'y'?", or the list of what there is. */
static enum pm_status refuse_word(struct pm_error *err, const char *what, const char *word,
                                  const char *const *words)
{
    const char *meant = pm_suggest(word, words);
    if (meant)
        return pm_error_set(err, PM_ERR_USAGE, "%s '%s' does not exist; did you mean '%s'?", what,
                            word, meant);
    struct pm_buf list = PM_BUF_INIT(1024);
    for (const char *const *w = words; *w; w++)
        pm_buf_printf(&list, "%s%s", w == words ? "" : ", ", *w);
    pm_error_set(err, PM_ERR_USAGE, "%s '%s' does not exist; there are: %s", what, word,
                 list.data ? list.data : "");
    pm_buf_release(&list);
    return PM_ERR_USAGE;
}

typedef enum pm_status option_setter(struct pm_options *options, const char *value,
                                     struct pm_error *err);

static enum pm_status constructs_add(struct pm_options *options, const char *word,
                                     struct pm_error *err)
{
    static const char *const words[] = {"functions", "loops", "search-loops",
                                        "all-loops", "none",  NULL};
    if (strcmp(word, "functions") == 0)
        options->functions = true;
    else if (strcmp(word, "loops") == 0)
        options->loops = true;
    else if (strcmp(word, "search-loops") == 0)
        options->loops = options->search_loops = true;
    else if (strcmp(word, "all-loops") == 0)
        options->loops = options->search_loops = options->all_loops = true;
    else if (strcmp(word, "none") != 0)
        return refuse_word(err, "construct", word, words);
    return PM_OK;
}

static enum pm_status set_constructs(struct pm_options *options, const char *value,
                                     struct pm_error *err)
{
    options->functions = options->loops = options->search_loops = options->all_loops = false;
    bool is_last = false;
    for (const char *word = value; !is_last; word += strcspn(word, ",") + 1) {
        size_t len = strcspn(word, ",");
        is_last = word[len] == 0;
        char *copy = pm_strndup(word, len);
        if (copy == NULL)
            return pm_error_set(err, PM_ERR_MEMORY, "no memory for option 'constructs'");
        enum pm_status status = constructs_add(options, copy, err);
        free(copy);
        if (status != PM_OK)
            return pm_error_add(err, "option 'constructs=%s'", value);
    }
    return PM_OK;
}

static enum pm_status set_include(struct pm_options *options, const char *value,
                                  struct pm_error *err)
{
    return pm_selection_add(options->selection, true, value, err);
}

static enum pm_status set_exclude(struct pm_options *options, const char *value,
                                  struct pm_error *err)
{
    return pm_selection_add(options->selection, false, value, err);
}

static enum pm_status set_select(struct pm_options *options, const char *value,
                                 struct pm_error *err)
{
    return pm_selection_read_file(options->selection, value, err);
}

static enum pm_status set_pif(struct pm_options *options, const char *value, struct pm_error *err)
{
    struct stat st;
    char *dir = NULL;
    options->pif_none = strcmp(value, "none") == 0;
    if (!options->pif_none && strcmp(value, "auto") != 0) {
        if (stat(value, &st) != 0 || !S_ISDIR(st.st_mode))
            return pm_error_set(err, PM_ERR_USAGE, "option 'pif=%s' is not auto, none or a folder",
                                value);
        dir = pm_strndup(value, strlen(value));
        if (dir == NULL)
            return pm_error_set(err, PM_ERR_MEMORY, "no memory for option 'pif'");
    }
    free(options->pif_dir);
    options->pif_dir = dir;
    return PM_OK;
}

/* Of a build's many compilers the first makes the folder. */
static enum pm_status set_pdb(struct pm_options *options, const char *value, struct pm_error *err)
{
    struct stat st;
    if (mkdir(value, 0777) != 0 && errno != EEXIST)
        return pm_error_set(err, PM_ERR_USAGE, "option 'pdb=%s': cannot make the folder: %s", value,
                            strerror(errno));
    if (stat(value, &st) != 0 || !S_ISDIR(st.st_mode))
        return pm_error_set(err, PM_ERR_USAGE, "option 'pdb=%s' is not a folder", value);
    if (access(value, W_OK | X_OK) != 0)
        return pm_error_set(err, PM_ERR_USAGE, "option 'pdb=%s': cannot write there: %s", value,
                            strerror(errno));
    char *dir = pm_strndup(value, strlen(value));
    if (dir == NULL)
        return pm_error_set(err, PM_ERR_MEMORY, "no memory for option 'pdb'");
    free(options->pdb_dir);
    options->pdb_dir = dir;
    return PM_OK;
}

static enum pm_status yes_or_no(const char *key, const char *value, bool *ret_yes,
                                struct pm_error *err)
{
    if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
        return pm_error_set(err, PM_ERR_USAGE, "option '%s=%s' is neither yes nor no", key, value);
    *ret_yes = strcmp(value, "yes") == 0;
    return PM_OK;
}

static enum pm_status set_section(struct pm_options *options, const char *value,
                                  struct pm_error *err)
{
    return yes_or_no("section", value, &options->section, err);
}

static enum pm_status set_map(struct pm_options *options, const char *value, struct pm_error *err)
{
    return yes_or_no("map", value, &options->map, err);
}

static enum pm_status set_portable(struct pm_options *options, const char *value,
                                   struct pm_error *err)
{
    (void)value, (void)err;
    options->portable = true;
    return PM_OK;
}

static enum pm_status set_verbose(struct pm_options *options, const char *value,
                                  struct pm_error *err)
{
    (void)value, (void)err;
    options->verbose = true;
    return PM_OK;
}

static const struct option {
    const char *key, *value_name; /* value_name NULL: takes none */
    option_setter *set;
} option_table[] = {
    {"constructs", "LIST", set_constructs}, {"include", "PATTERN", set_include},
    {"exclude", "PATTERN", set_exclude},    {"select", "FILE", set_select},
    {"pif", "DIR|auto|none", set_pif},      {"pdb", "DIR", set_pdb},
    {"section", "yes|no", set_section},     {"map", "yes|no", set_map},
    {"portable", NULL, set_portable},       {"verbose", NULL, set_verbose},
};

enum { N_OPTIONS = sizeof option_table / sizeof *option_table };

enum pm_status pm_options_init(struct pm_options *options, struct pm_error *err)
{
    *options = (struct pm_options){.functions = true, .loops = true, .section = true, .map = true};
    options->selection = pm_selection_new();
    if (options->selection == NULL)
        return pm_error_set(err, PM_ERR_MEMORY, "no memory for the options");
    /* For a whole build, whose flags may be hard to reach; an option on the command line goes
     * before it. */
    const char *pif = getenv("PERFMAP_PIF");
    if (pif == NULL || *pif == 0)
        return PM_OK;
    enum pm_status status = set_pif(options, strcmp(pif, "no") == 0 ? "none" : pif, err);
    if (status != PM_OK)
        pm_options_release(options);
    return status;
}

enum pm_status pm_options_set(struct pm_options *options, const char *key, const char *value,
                              struct pm_error *err)
{
    for (int i = 0; i < N_OPTIONS; i++) {
        const struct option *option = &option_table[i];
        if (strcmp(option->key, key) != 0)
            continue;
        if (option->value_name && (value == NULL || *value == 0))
            return pm_error_set(err, PM_ERR_USAGE, "option '%s' needs a value: %s=%s", key, key,
                                option->value_name);
        if (option->value_name == NULL && value)
            return pm_error_set(err, PM_ERR_USAGE, "option '%s' takes no value, but '%s' is given",
                                key, value);
        return option->set(options, value, err);
    }
    const char *keys[N_OPTIONS + 1] = {NULL};
    for (int i = 0; i < N_OPTIONS; i++)
        keys[i] = option_table[i].key;
    return refuse_word(err, "option", key, keys);
}

void pm_options_release(struct pm_options *options)
{
    pm_selection_free(options->selection);
    free(options->pif_dir);
    free(options->pdb_dir);
    options->selection = NULL;
    options->pif_dir = options->pdb_dir = NULL;
}
