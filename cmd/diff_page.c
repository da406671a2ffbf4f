/* perfmap diff --html: what is compared, as rows and as call paths, in one page. */
#include "diff.h"

#include "cmd/show/diff_html.h"
#include "mapping/compare/build.h"
#include "mapping/view/groupings.h"

static void add_word(struct pm_buf *out, const char *option, const char *word)
{
    const char *quote = strpbrk(word, " '\"*?[]$&;()<>|\\") ? "'" : "";
    pm_buf_printf(out, " --%s %s%s%s", option, quote, word, quote);
}

static void add_words(struct pm_buf *out, const char *option, const char *const *words)
{
    for (; *words; words++)
        add_word(out, option, *words);
}

/* What rows, paths and parts are made by; names with quotes are people's to mend. */
static void add_common(const struct pm_compare_options *options, struct pm_buf *out)
{
    if (strcmp(options->view.level, "source") != 0)
        add_word(out, "level", options->view.level);
    add_words(out, "focus", options->view.focus);
    add_words(out, "on", options->view.on);
    if (options->view.from)
        add_word(out, "from", options->view.from);
    if (options->view.to)
        add_word(out, "to", options->view.to);
    for (uint32_t i = 0; i < options->n_maps; i++)
        pm_buf_printf(out, " --map '%s=%s'", options->maps[i].old_name, options->maps[i].new_name);
    if (options->least_pct != 5)
        pm_buf_printf(out, " --min %g", options->least_pct);
    if (options->good_only)
        pm_buf_add_str(out, " --good-only");
    pm_buf_add_byte(out, 0);
}

/* Of the command that prints the same rows, for people; to be released. */
static struct pm_buf words_of(const struct pm_compare_options *options)
{
    struct pm_buf out = PM_BUF_INIT(1 << 20);
    if (options->view.tree)
        pm_buf_add_str(&out, " --tree");
    else if (options->inclusive)
        pm_buf_add_str(&out, " --inclusive");
    if (options->view.by != PM_VIEW_BY_LOOP)
        add_word(&out, "by", pm_view_by_word(options->view.by));
    if (options->view.metrics)
        add_word(&out, "metric", options->view.metrics);
    add_common(options, &out);
    return out;
}

static struct pm_buf words_of_search(const struct pm_compare_options *options)
{
    struct pm_buf out = PM_BUF_INIT(1 << 20);
    if (options->view.metrics)
        add_word(&out, "search", options->view.metrics);
    add_common(options, &out);
    return out;
}

/* Rows of data and of processes have no calls: their paths are those of loops. */
static struct pm_compare_options options_of_tree(const struct pm_compare_options *options)
{
    struct pm_compare_options tree = *options;
    const struct pm_view_grouping *grouping = pm_view_grouping_by(options->view.by);
    tree.view.tree = true;
    if (grouping->is_object || grouping->runner || options->view.by == PM_VIEW_BY_STATEMENT)
        tree.view.by = PM_VIEW_BY_LOOP;
    return tree;
}

static enum pm_status compare(const struct pm_compare_options *options,
                              const struct pm_search_options *search_options,
                              const struct pm_compare_input inputs[2], struct pm_error *err,
                              struct diff_parts *ret)
{
    struct pm_compare_options tree = options_of_tree(options);
    enum pm_status status = pm_compare(options, inputs, NULL, err, &ret->flat);
    if (status != PM_OK)
        return status;
    struct pm_error no_tree = PM_ERROR_INIT;
    status = pm_compare(&tree, inputs, NULL, &no_tree, &ret->tree);
    if (status != PM_OK && status != PM_ERR_NOT_FOUND) { /* rows of processes may be all there is */
        *err = no_tree;
        return status;
    }
    pm_error_release(&no_tree);
    if (!search_options)
        return PM_OK;
    return pm_search(search_options, inputs, err, &ret->search);
}

static enum pm_status write_page(const struct pm_compare_options *options, const char *path,
                                 const struct diff_parts *parts, struct pm_error *err)
{
    struct pm_buf html = PM_BUF_INIT(SIZE_MAX / 2);
    struct pm_compare_options tree = options_of_tree(options);
    struct pm_buf rows = words_of(options), paths = words_of(&tree);
    struct pm_buf search = words_of_search(options);
    struct show_diff_page page = {.flat = parts->flat, .search = parts->search};
    bool good = !rows.failed && !paths.failed && !search.failed;
    page.options_of_rows = rows.data;
    page.options_of_paths = paths.data;
    page.options_of_search = search.data;
    if (!parts->tree)
        page.why_no_tree = "The sides have no call path in common.";
    else if (!parts->tree->is_inclusive)
        page.why_no_tree = "Call paths are drawn of what adds up along them, as times do: this "
                           "metric does not.";
    else
        page.tree = parts->tree;
    enum pm_status status = PM_OK;
    if (good && show_diff_html(&page, &html))
        status = pm_file_write(path, html.data, html.len, err);
    else
        status = pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    pm_buf_release(&html);
    pm_buf_release(&rows);
    pm_buf_release(&paths);
    pm_buf_release(&search);
    return status;
}

enum pm_status diff_write_page(const struct pm_compare_options *options,
                               const struct pm_search_options *search,
                               const struct pm_compare_input inputs[2], const char *path,
                               struct pm_error *err, struct diff_parts *ret_parts)
{
    *ret_parts = (struct diff_parts){0};
    enum pm_status status = compare(options, search, inputs, err, ret_parts);
    if (status != PM_OK)
        return status;
    return write_page(options, path, ret_parts, err);
}

void diff_release_parts(struct diff_parts *parts)
{
    pm_comparison_free(parts->flat);
    pm_comparison_free(parts->tree);
    pm_search_free(parts->search);
}
