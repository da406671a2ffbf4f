/* What the page draws time lines from (page/timeline.js), of a trace: all events if they are few,
 * else windows of it, as chunks (page_bytes.h). docs/formats/page.md has the layout.
 *
 *     struct show_timeline *line;
 *     if (show_timeline_open(data, "heat.perfmap", &err, &line) == PM_OK) {
 *         status = show_timeline_all(line, &err, &bytes);         // for the first picture
 *         status = show_timeline_window(line, &window, &err, &bytes);
 *         show_timeline_close(line);
 *     }
 *
 * One thread at a time. */
#ifndef PM_SHOW_PAGE_TIMELINE_H
#define PM_SHOW_PAGE_TIMELINE_H

#include "page_bytes.h"

#include "mapping/archive/load.h"

enum {
    /* A file has at most so many events: then browsers open it within a second or two. */
    SHOW_TIMELINE_MOST_EVENTS = 1000000,
    SHOW_TIMELINE_MOST_STEPS = 4096, /* of a window */
    SHOW_TIMELINE_MOST_ROWS = 256,
};

struct show_timeline;

/* By the modes of its runs: whether an archive may have a trace. */
bool show_timeline_may_be(const struct pm_archive_data *data);
/* The data must outlive it. */
PM_MUST_CHECK enum pm_status show_timeline_open(const struct pm_archive_data *data,
                                                const char *path, struct pm_error *err,
                                                struct show_timeline **ret_line);
void show_timeline_close(struct show_timeline *line);

/* Who the threads are, and all of their events; if these are too many, coarse steps. */
PM_MUST_CHECK enum pm_status show_timeline_all(struct show_timeline *line, struct pm_error *err,
                                               struct pm_buf *ret_bytes);

struct show_timeline_window {
    uint64_t from_ns, to_ns;
    uint64_t n_steps;  /* at most: 2 to SHOW_TIMELINE_MOST_STEPS */
    uint64_t first, n; /* threads; n: at most SHOW_TIMELINE_MOST_ROWS */
};
/* False: the text "FROM/TO/STEPS/FIRST/N" is none. */
bool show_timeline_read_window(struct pm_str text, struct show_timeline_window *ret_window);
/* Of each thread its events, if they are few for the number of steps, else these. */
PM_MUST_CHECK enum pm_status show_timeline_window(struct show_timeline *line,
                                                  const struct show_timeline_window *window,
                                                  struct pm_error *err, struct pm_buf *ret_bytes);

#endif
