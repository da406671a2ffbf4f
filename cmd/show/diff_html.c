/* The page of a comparison: its chunks are JSON, that of `perfmap diff --json` as it is printed, so
 * that the page has no numbers of its own. */
#include "diff_html.h"

#include "diff.h"
#include "html_file.h"
#include "search.h"

#include "mapping/base/json.h"

#include <stdlib.h>

enum { CHUNK_ABOUT, CHUNK_FLAT, CHUNK_TREE, CHUNK_SEARCH };

static void put_chunk(struct pm_json *json, const char *key, const void *is_there, uint64_t chunk)
{
    if (is_there)
        pm_json_u64(json, key, chunk);
    else
        pm_json_null(json, key);
}

static bool write_about(const struct show_diff_page *page, FILE *out)
{
    const struct pm_comparison *c = page->flat;
    struct pm_json json;
    pm_json_init(&json, out);
    pm_json_object(&json, NULL);
    put_chunk(&json, "flat", c, CHUNK_FLAT);
    put_chunk(&json, "tree", page->tree, CHUNK_TREE);
    put_chunk(&json, "search", page->search, CHUNK_SEARCH);
    pm_json_string(&json, "title", show_diff_metric(c));
    pm_json_string(&json, "kind", c->metric.kind);
    pm_json_string(&json, "by", pm_view_by_prose(c->options.view.by));
    pm_json_string(&json, "options_of_rows", page->options_of_rows);
    pm_json_string(&json, "options_of_paths", page->options_of_paths);
    pm_json_string(&json, "options_of_search", page->options_of_search);
    pm_json_double(&json, "least_pct", c->options.least_pct);
    pm_json_bool(&json, "is_judged", c->is_judged);
    pm_json_string(&json, "few_runs", show_diff_few_runs);
    pm_json_string(&json, "why_no_tree", page->why_no_tree);
    pm_json_end(&json);
    return pm_json_done(&json);
}

static bool write_flat(const struct show_diff_page *page, FILE *out)
{
    return show_diff_json(page->flat, &(struct show_diff_options){0}, out);
}

static bool write_tree(const struct show_diff_page *page, FILE *out)
{
    return show_diff_json(page->tree, &(struct show_diff_options){0}, out);
}

static bool write_search(const struct show_diff_page *page, FILE *out)
{
    show_search_json(page->search, &(struct show_diff_options){0}, out);
    return true;
}

typedef bool (*write_fn)(const struct show_diff_page *page, FILE *out);

static bool add_chunk(const struct show_diff_page *page, uint32_t chunk, write_fn write,
                      struct pm_buf *html)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    bool good = out && write(page, out);
    if (out)
        good &= fclose(out) == 0;
    struct pm_buf bytes = PM_BUF_INIT(SIZE_MAX / 2);
    if (good)
        pm_buf_add(&bytes, text, len);
    free(text);
    good = good && !bytes.failed && show_html_pack(&bytes);
    if (good)
        show_html_add_chunk(html, "chunk", chunk, &bytes);
    pm_buf_release(&bytes);
    return good;
}

bool show_diff_html(const struct show_diff_page *page, struct pm_buf *ret_html)
{
    show_html_begin(ret_html, SHOW_HTML_DIFF, false);
    bool good = add_chunk(page, CHUNK_ABOUT, write_about, ret_html) &&
                add_chunk(page, CHUNK_FLAT, write_flat, ret_html) &&
                (!page->tree || add_chunk(page, CHUNK_TREE, write_tree, ret_html)) &&
                (!page->search || add_chunk(page, CHUNK_SEARCH, write_search, ret_html));
    show_html_end(ret_html, SHOW_HTML_DIFF);
    return good && !ret_html->failed;
}
