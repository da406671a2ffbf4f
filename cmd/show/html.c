/* The page of an archive, with its data as one file. */
#include "html.h"

#include "html_file.h"
#include "page_timeline.h"

#include "mapping/base/threads.h"

#include <stdatomic.h>
#include <stdlib.h>

struct chunks {
    struct pm_buf *whole, *parts; /* [n]; of an interval: empty where there is none */
    uint32_t n;
    struct pm_buf timeline; /* empty: there is none */
};

static void add_chunks(struct pm_buf *out, const struct chunks *chunks)
{
    for (uint32_t i = 0; i < chunks->n; i++) {
        show_html_add_chunk(out, "chunk", i, &chunks->whole[i]);
        if (chunks->parts[i].len)
            show_html_add_chunk(out, "part", i, &chunks->parts[i]);
    }
    if (chunks->timeline.len)
        show_html_add_chunk(out, "timeline", 0, &chunks->timeline);
}

bool show_html_served(struct pm_buf *ret_html)
{
    show_html_begin(ret_html, SHOW_HTML_REPORT, true);
    show_html_end(ret_html, SHOW_HTML_REPORT);
    return !ret_html->failed;
}

/* --- chunks, by all processors --- */

struct work {
    struct show_page *page, *part; /* part: NULL: it is not known when costs were */
    struct chunks chunks;
    struct pm_error *errors;
    enum pm_status *statuses;
    uint64_t most_bytes;
    atomic_uint next;
    atomic_ullong n_bytes;
};

static enum pm_status make_chunk(struct work *work, uint32_t i)
{
    struct pm_buf *whole = &work->chunks.whole[i], *part = &work->chunks.parts[i];
    struct pm_error *err = &work->errors[i];
    enum pm_status status = work->part
                                ? show_page_chunk_pair(work->page, work->part, i, err, whole, part)
                                : show_page_chunk(work->page, i, err, whole);
    atomic_fetch_add(&work->n_bytes, whole->len + part->len);
    if (status != PM_OK)
        return status;
    return show_html_pack(whole) && (!part->len || show_html_pack(part)) ? PM_OK : PM_ERR_MEMORY;
}

static void take_chunks(void *context, unsigned number)
{
    struct work *work = context;
    struct chunks *chunks = &work->chunks;
    (void)number;
    for (;;) {
        uint32_t i = atomic_fetch_add(&work->next, 1);
        if (i >= chunks->n || atomic_load(&work->n_bytes) > work->most_bytes)
            return;
        work->statuses[i] = make_chunk(work, i);
    }
}

static enum pm_status first_failure(struct work *work, struct pm_error *err)
{
    for (uint32_t i = 0; i < work->chunks.n; i++)
        if (work->statuses[i] != PM_OK) {
            pm_error_release(err);
            *err = work->errors[i];
            work->errors[i] = (struct pm_error)PM_ERROR_INIT;
            return work->statuses[i];
        }
    if (atomic_load(&work->n_bytes) > work->most_bytes)
        return pm_error_set(err, PM_ERR_LIMIT,
                            "'%s' is too large for one file: its data would have more than %llu "
                            "MB; 'perfmap view' shows it",
                            work->page->options.archive_path,
                            (unsigned long long)work->most_bytes >> 20);
    return PM_OK;
}

static enum pm_status make_chunks(struct work *work, struct pm_error *err)
{
    if (show_page_times_chunk(work->page)) {
        enum pm_status status = show_page_open_part(work->page, NULL, NULL, err, &work->part);
        if (status != PM_OK)
            return status;
    }
    struct pm_threads *threads = pm_threads_start(pm_n_processors() - 1, take_chunks, work);
    take_chunks(work, 0);
    pm_threads_join(threads);
    return first_failure(work, err);
}

static enum pm_status make_timeline(const struct show_page *page, struct pm_error *err,
                                    struct pm_buf *ret_bytes)
{
    struct show_timeline *line;
    if (!show_timeline_may_be(page->data))
        return PM_OK;
    enum pm_status status = show_timeline_open(page->data, page->options.archive_path, err, &line);
    if (status != PM_OK)
        return status;
    status = show_timeline_all(line, err, ret_bytes);
    show_timeline_close(line);
    if (status != PM_OK)
        return status;
    return show_html_pack(ret_bytes) ? PM_OK : PM_ERR_MEMORY;
}

static bool begin_work(struct work *work)
{
    uint32_t n = work->chunks.n;
    work->chunks.whole = pm_alloc_array(n, sizeof *work->chunks.whole);
    work->chunks.parts = pm_alloc_array(n, sizeof *work->chunks.parts);
    work->chunks.timeline = (struct pm_buf)PM_BUF_INIT(SIZE_MAX / 2);
    work->errors = pm_alloc_array(n, sizeof *work->errors);
    work->statuses = pm_alloc_array(n, sizeof *work->statuses);
    if (!work->chunks.whole || !work->chunks.parts || !work->errors || !work->statuses)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        work->chunks.whole[i] = (struct pm_buf)PM_BUF_INIT(SIZE_MAX / 2);
        work->chunks.parts[i] = (struct pm_buf)PM_BUF_INIT(SIZE_MAX / 2);
        work->errors[i] = (struct pm_error)PM_ERROR_INIT;
    }
    return true;
}

static void end_work(struct work *work, bool has_begun)
{
    for (uint32_t i = 0; has_begun && i < work->chunks.n; i++) {
        pm_buf_release(&work->chunks.whole[i]);
        pm_buf_release(&work->chunks.parts[i]);
        pm_error_release(&work->errors[i]);
    }
    show_page_close(work->part);
    pm_buf_release(&work->chunks.timeline);
    free(work->chunks.whole);
    free(work->chunks.parts);
    free(work->errors);
    free(work->statuses);
}

enum pm_status show_html_write(struct show_page *page, bool embeds_sources, uint64_t most_bytes,
                               struct pm_error *err, struct pm_buf *ret_html)
{
    uint32_t n = show_page_n_chunks(page) - (embeds_sources ? 0 : show_page_n_sources(page));
    struct work work = {.page = page, .chunks.n = n, .most_bytes = most_bytes};
    bool has_begun = begin_work(&work);
    enum pm_status status = has_begun ? make_chunks(&work, err) : PM_ERR_MEMORY;
    if (status != PM_OK)
        goto out;
    status = make_timeline(page, err, &work.chunks.timeline);
    if (status != PM_OK)
        goto out;
    show_html_begin(ret_html, SHOW_HTML_REPORT, false);
    add_chunks(ret_html, &work.chunks);
    show_html_end(ret_html, SHOW_HTML_REPORT);
    if (ret_html->failed)
        status = PM_ERR_MEMORY;
out:
    end_work(&work, has_begun);
    if (status == PM_ERR_MEMORY)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    return status;
}
