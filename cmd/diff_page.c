/* perfmap diff --html: what is compared, as rows and as call paths, in one page. */
#include "diff.h"

#include "cmd/show/diff_html.h"
#include "mapping/base/str.h"
#include "mapping/view/groupings.h"

static void add_words(struct pm_buf *out, const char *option, const char *const *words)
{
    for (; words && *words; words++)
        if (strpbrk(*words, " '\"*?[]$&;()<>|\\"))
            pm_buf_printf(out, "%s--%s '%s'", out->len ? " " : "", option, *words);
        else
            pm_buf_printf(out, "%s--%s %s", out->len ? " " : "", option, *words);
}

/* For the command that the page gives to people; names with quotes are theirs to mend. */
static void add_options(const struct pm_compare_options *options, struct pm_buf *out)
{
    const char *by[] = {pm_view_by_word(options->view.by), NULL};
    const char *metric[] = {options->view.metrics, NULL}, *level[] = {options->view.level, NULL};
    if (options->view.by != PM_VIEW_BY_LOOP)
        add_words(out, "by", by);
    if (strcmp(options->view.level, "source") != 0)
        add_words(out, "level", level);
    add_words(out, "metric", metric);
    add_words(out, "focus", options->view.focus);
    add_words(out, "on", options->view.on);
    if (options->good_only)
        pm_buf_printf(out, "%s--good-only", out->len ? " " : "");
    pm_buf_add_byte(out, 0);
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
    struct pm_buf html = PM_BUF_INIT(SIZE_MAX / 2), words = PM_BUF_INIT(1 << 20);
    add_options(options, &words);
    struct show_diff_page page = {
        .flat = parts->flat, .search = parts->search, .options = words.failed ? "" : words.data};
    if (!parts->tree)
        page.why_no_tree = "The sides have no call path in common.";
    else if (!parts->tree->is_inclusive)
        page.why_no_tree = "Call paths are drawn of what adds up along them, as times do: this "
                           "metric does not.";
    else
        page.tree = parts->tree;
    enum pm_status status = PM_OK;
    if (show_diff_html(&page, &html))
        status = pm_file_write(path, html.data, html.len, err);
    else
        status = pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    pm_buf_release(&html);
    pm_buf_release(&words);
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
