/* What the page (page/) shows of an archive, in chunks: the first has the run, its contexts and
 * their costs, each other one a sheet: the rows of one grouping at one level, and which of them
 * each context counts for. The page filters contexts and adds up; what a row is, its names, its
 * reasons and its marks come from here. docs/formats/page.md has the layout.
 *
 *     struct show_page *page;
 *     if (show_page_open(&options, &err, &page) != PM_OK) ...
 *     struct pm_buf bytes = PM_BUF_INIT(SIZE_MAX / 2);
 *     for (uint32_t i = 0; i < show_page_n_chunks(page); i++)
 *         status = show_page_chunk(page, i, &err, &bytes);
 *     show_page_close(page);
 *
 *   page_bytes   columns of a chunk           page_base   the first chunk
 *   page_foci    what contexts are in         page_sheet  a sheet
 *   page_times   when costs were              page_source a file of the source
 */
#ifndef PM_SHOW_PAGE_H
#define PM_SHOW_PAGE_H

#include "page_bytes.h"

#include "mapping/graph/sets.h"
#include "mapping/view/view.h"

struct show_page_options {
    const char *archive_path;
    const char *from,
        *to; /* only what was spent then, as of views; NULL: from the begin, to the end */
    bool folds, no_compensation;
};

/* One of the sheets that an archive may have. */
struct show_page_sheet {
    const char *level; /* as --level takes it; lent */
    enum pm_view_by by;
    bool is_tree; /* call paths */
};

/* Costs of a view by metric, thread and context, zeros left out. */
struct page_cost_list {
    struct pm_cost *items;
    uint32_t n;
};
struct page_costs {
    struct page_cost_list of_threads; /* each of its own thread */
    /* As views have them that tell no threads apart: the sums may be others, for what measuring
     * and other programs took of a time cannot always be told by thread, and calls of what only
     * stands for the construct around are none there. */
    struct page_cost_list merged;
};

/* Of each context the nouns that it is mapped to, or speaks of: distinct sets, and which of them
 * it has. A focus on a noun takes the contexts whose set has it or what lies below it, and all
 * that is below them. */
struct page_foci {
    struct pm_sets sets;
    uint32_t *set_of; /* per context */
};

struct show_page {
    struct show_page_options options;
    struct pm_archive_data *data;
    bool lends_data; /* from the page of the whole run */
    bool is_open;    /* of an interval that the reader chooses: without costs, which it makes */
    struct pm_view first; /* by loop, of all: what the first chunk is made of */
    struct show_page_sheet *sheets;
    uint32_t n_sheets;
    struct page_costs costs; /* of the first view */
    /* In a timed run, of times off the processor: as a view of samples has them. Else empty */
    struct page_costs fine_costs;
    struct page_foci foci; /* of the first view */
    const char **files;    /* of the source, as the archive has them, by name */
    uint32_t n_files;
};

/* Errors as of pm_view_make. ret_page: to be closed. */
PM_MUST_CHECK enum pm_status show_page_open(const struct show_page_options *options,
                                            struct pm_error *err, struct show_page **ret_page);
void show_page_close(struct show_page *page);
/* The same page with what was spent from one time to another only, as options.from and .to;
 * lends from `page`, so it is to be closed before that. from NULL: of an interval that the reader
 * chooses, who makes its costs of what show_page_times_chunk has. Errors as of pm_view_make. */
PM_MUST_CHECK enum pm_status show_page_open_part(const struct show_page *page, const char *from,
                                                 const char *to, struct pm_error *err,
                                                 struct show_page **ret_page);
/* When costs were; 0: nobody knows, or the page is of a part of the run already. */
uint32_t show_page_times_chunk(const struct show_page *page);
/* The last show_page_n_sources of them are files of the source, as they are now. */
uint32_t show_page_n_chunks(const struct show_page *page);
uint32_t show_page_n_sources(const struct show_page *page);
/* Adds one to ret_bytes. Any number of threads. A sheet that the archive has nothing for says why
 * in its directory. */
PM_MUST_CHECK enum pm_status show_page_chunk(struct show_page *page, uint32_t chunk,
                                             struct pm_error *err, struct pm_buf *ret_bytes);
/* The same chunk of `part`, too, which was opened of the page: what is the same in both is left out
 * there. */
PM_MUST_CHECK enum pm_status show_page_chunk_pair(struct show_page *page, struct show_page *part,
                                                  uint32_t chunk, struct pm_error *err,
                                                  struct pm_buf *ret_bytes,
                                                  struct pm_buf *ret_part_bytes);

/* The parts of it. */
PM_MUST_CHECK enum pm_status page_base_write(struct show_page *page, struct pm_error *err,
                                             struct page_chunk *out);
PM_MUST_CHECK enum pm_status page_sheet_write(struct show_page *page, uint32_t sheet,
                                              struct pm_error *err, struct page_chunk *out);
PM_MUST_CHECK enum pm_status page_times_write(struct show_page *page, struct pm_error *err,
                                              struct page_chunk *out);
/* page_source.c: which files there are (false: memory ended), and one of them. */
PM_MUST_CHECK bool page_sources_list(struct show_page *page);
void page_source_write(struct show_page *page, uint32_t number, struct page_chunk *out);
/* A view of the page's archive. */
struct pm_view page_view(const struct show_page *page, const struct show_page_sheet *sheet,
                         enum pm_rule rule);
/* ret_costs: to be released. */
PM_MUST_CHECK enum pm_status page_costs_find(struct pm_view *view, struct pm_error *err,
                                             struct page_costs *ret_costs);
void page_costs_release(struct page_costs *costs);
/* Of one metric; lent. */
struct page_cost_list page_costs_of(const struct page_cost_list *costs, pm_index metric);
bool page_costs_are_equal(const struct page_costs *a, const struct page_costs *b, pm_index metric);
/* Columns "cost_METRIC_thread", "_context", "_value" of one metric; where merged costs add up to
 * others, "merged_METRIC_context" and "_value", too. prefix: before all of these names. False:
 * memory ended. */
PM_MUST_CHECK bool page_costs_put(struct page_chunk *out, const char *prefix, pm_index metric,
                                  const struct page_costs *costs, uint32_t n_contexts);

/* --- foci --- */

PM_MUST_CHECK bool page_foci_find(const struct pm_view *view, struct page_foci *ret_foci);
bool page_foci_are_equal(const struct page_foci *a, const struct page_foci *b, uint32_t n_contexts);
void page_foci_put(struct page_chunk *out, const struct page_foci *foci, uint32_t n_contexts);
void page_foci_release(struct page_foci *foci);

#endif
