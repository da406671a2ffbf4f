#include "trace_parts.h"

#include "mapping/base/threads.h"
#include "mapping/run/run_trace.h"

#include <pthread.h>
#include <stdlib.h>

/* A part has 32751 events. A block of two is as large as one that is cut by EVENTS_PER_BLOCK; with
 * blocks of one the archive would be larger by a tenth, for SQLite's pages. */
enum { EVENTS_PER_BLOCK = 65536, PARTS = 2, CALLS = 512 };

/* An item goes through these, one after the other. Who is at work on it has set ..ING under the
 * lock, and has it alone then. */
enum state { FRESH, READING, READ, JOINING, JOINED, PACKING, PACKED };

struct item {
    enum state state;
    size_t thread, first_part, n_parts;
    bool is_last;   /* of its thread */
    size_t n_plain; /* parts, from the first one, that the block has the calls of */
    struct pm_run_trace_part *parts[PARTS];
    struct pm_trace_block *block;
    bool has_block; /* it has events that are not packed */
    struct trace_packed *packed;
    uint32_t n_packed, packed_cap;
    enum pm_status status;
    struct pm_error err;
};

/* A thread of the program: what is open behind the parts that were joined. Whoever joins its next
 * part has it alone. */
struct line {
    struct pm_run_trace_cursor *cursor;
    struct pm_trace_block *block;
};

struct worker {
    struct pm_run_trace_reader *reader;
    struct pm_trace_packer *packer;
    struct pm_trace_call calls[CALLS];
};

struct trace_parts {
    struct trace_parts_setting setting;
    struct line *lines; /* one for each thread of the file */
    struct worker *workers;
    unsigned n_workers;
    struct pm_threads *threads;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* a ring: the item to be given out next, and those that are in work behind it */
    struct item *items;
    size_t n_items, first, n_used, given;
    size_t next_thread, next_part; /* to begin with */
    bool stop;
    enum pm_status status; /* of the first step that failed */
    struct pm_error err;
    pthread_mutex_t caller; /* held by the caller but while it waits */
    uint32_t unknown;       /* row; 0: not needed so far; guarded by `caller` */
};

static struct item *item_at(const struct trace_parts *p, size_t i)
{
    return &p->items[(p->first + i) % p->n_items];
}

static bool no_memory(struct item *item)
{
    item->status = pm_error_set(&item->err, PM_ERR_MEMORY, "out of memory for traces");
    return false;
}

/* --- reading a part --- */

struct taking {
    const struct trace_parts *parts;
    struct worker *worker;
    struct item *item;
};

static bool take_calls(void *context, const struct pm_run_trace_call *calls, size_t n)
{
    const struct taking *taking = context;
    const struct trace_parts_setting *setting = &taking->parts->setting;
    struct pm_trace_call *out = taking->worker->calls;
    const uint32_t *sentences = setting->sentences;
    uint64_t start_tsc = setting->start_tsc;
    size_t k = 0;
    PM_ASSERT(n <= CALLS);
    for (size_t i = 0; i < n; i++) {
        uint32_t sentence = sentences[calls[i].noun];
        out[k].ticks = calls[i].tsc > start_tsc ? calls[i].tsc - start_tsc : 0;
        out[k].sentence = calls[i].is_leave ? 0 : sentence;
        k += sentence != 0;
    }
    return pm_trace_block_add_calls(taking->item->block, out, k);
}

static bool open_reader(const struct trace_parts *p, struct worker *worker, struct item *item)
{
    if (!worker->reader)
        item->status =
            pm_run_trace_reader_open(p->setting.path, p->setting.file, &item->err, &worker->reader);
    return item->status == PM_OK;
}

/* The first n parts, or all of them before the first that is not plain. */
static bool read_parts(const struct trace_parts *p, struct worker *worker, struct item *item,
                       size_t n)
{
    struct taking taking = {p, worker, item};
    bool is_plain = true;
    pm_trace_block_begin_apart(item->block);
    for (item->n_plain = 0; item->n_plain < n && is_plain; item->n_plain += is_plain)
        if (!pm_run_trace_read_part(worker->reader, item->thread, item->first_part + item->n_plain,
                                    item->parts[item->n_plain], take_calls, &taking, &is_plain))
            return no_memory(item);
    /* the block has some of the calls of the one that is not plain */
    return is_plain || item->n_plain == 0 || read_parts(p, worker, item, item->n_plain);
}

/* --- packing --- */

/* Whose time it was, of what was packed last. */
static bool find_shares(const struct pm_trace_clock *clock, const struct pm_trace_packer *packer,
                        struct item *item, struct trace_packed *packed)
{
    const struct pm_trace_block_about *about = &packed->about;
    struct pm_trace_piece *piece = &packed->piece;
    const void *bytes;
    size_t len;
    piece->begin_ticks = about->before_ticks ? about->before_ticks : about->first_ticks;
    piece->n_events = about->n_events;
    uint64_t latest = about->latest_ticks;
    piece->level =
        pm_trace_level_of(clock, latest > piece->begin_ticks ? latest - piece->begin_ticks : 0);
    const struct pm_trace_stretch stretch = {.clock = *clock,
                                             .level = piece->level,
                                             .end_step = UINT64_MAX,
                                             .before_ticks = about->before_ticks};
    pm_trace_packer_bytes(packer, &bytes, &len);
    item->status =
        pm_trace_block_shares(bytes, len, &stretch, &item->err, &packed->shares, &piece->end_ticks);
    if (item->status != PM_OK)
        return false;
    return true;
}

static bool pack(const struct pm_trace_clock *clock, struct worker *worker, struct item *item)
{
    const void *data;
    size_t len;
    if (!item->has_block)
        return true;
    item->has_block = false;
    struct trace_packed packed = {.about = pm_trace_block_about(item->block)};
    struct trace_packed *list =
        pm_grow_array(item->packed, item->n_packed, &item->packed_cap, 2, sizeof *item->packed);
    if (!list)
        return no_memory(item);
    item->packed = list;
    item->status = pm_trace_block_pack(item->block, worker->packer, &item->err, &data, &len);
    if (item->status != PM_OK)
        return false;
    packed.data = pm_alloc_array(len, 1);
    if (!packed.data)
        return no_memory(item);
    memcpy(packed.data, data, len);
    packed.len = len;
    item->packed[item->n_packed++] = packed;
    return find_shares(clock, worker->packer, item, &item->packed[item->n_packed - 1]);
}

/* --- joining --- */

static bool open_line(const struct trace_parts *p, struct item *item, struct line *line)
{
    line->block = pm_trace_block_new();
    if (!line->block)
        return no_memory(item);
    item->status = pm_run_trace_open(p->setting.path, p->setting.file, item->thread, &item->err,
                                     &line->cursor);
    if (item->status != PM_OK)
        return false;
    pm_run_trace_leave_out_nodes(line->cursor);
    return true;
}

static void close_line(struct line *line)
{
    pm_run_trace_close(line->cursor);
    pm_trace_block_free(line->block);
    *line = (struct line){0};
}

/* What was written to the line becomes a block of the item. */
static bool hand_over(const struct pm_trace_clock *clock, struct worker *worker, struct item *item,
                      struct line *line)
{
    if (pm_trace_block_about(line->block).n_events == 0)
        return true;
    if (!pack(clock, worker, item))
        return false;
    if (!pm_trace_block_hand_over(line->block, item->block))
        return no_memory(item);
    item->has_block = true;
    return true;
}

static bool find_unknown(struct trace_parts *p, struct item *item, uint32_t *ret_sentence)
{
    pthread_mutex_lock(&p->caller);
    if (p->unknown == 0)
        item->status = p->setting.unknown(p->setting.context, &item->err, &p->unknown);
    *ret_sentence = p->unknown;
    pthread_mutex_unlock(&p->caller);
    return item->status == PM_OK;
}

static unsigned flags_of(const struct pm_run_trace_event *event)
{
    unsigned flags = 0;
    if (event->flags & PM_RUN_TRACE_CUT)
        flags |= PM_TRACE_CUT;
    if (event->flags & PM_RUN_TRACE_ON_FOREIGN)
        flags |= PM_TRACE_FOREIGN;
    if (event->flags & PM_RUN_TRACE_SWITCHED)
        flags |= PM_TRACE_SWITCHED;
    return flags;
}

static bool add_event(struct trace_parts *p, struct worker *worker, struct item *item,
                      struct line *line, const struct pm_run_trace_event *event)
{
    const struct trace_parts_setting *setting = &p->setting;
    bool is_known = event->noun != PM_RUN_TRACE_NONE;
    struct pm_trace_tick tick = {.is_leave = event->is_leave, .flags = flags_of(event)};
    tick.sentence = is_known ? setting->sentences[event->noun] : 0;
    tick.ticks = event->tsc > setting->start_tsc ? event->tsc - setting->start_tsc : 0;
    /* Traces show what is entered and left. That something was begun or ended meanwhile changes
     * nothing there. */
    if (event->flags & PM_RUN_TRACE_MOVED || (is_known && tick.sentence == 0))
        return true;
    if (!is_known && !event->is_leave && !find_unknown(p, item, &tick.sentence))
        return false;
    if (!pm_trace_block_add(line->block, &tick))
        return no_memory(item);
    return pm_trace_block_about(line->block).n_events < EVENTS_PER_BLOCK ||
           hand_over(&setting->clock, worker, item, line);
}

/* Events up to part n, one by one. */
static bool add_events(struct trace_parts *p, struct worker *worker, struct item *item,
                       struct line *line, size_t n)
{
    struct pm_run_trace_event event;
    bool has_event = true;
    pm_run_trace_stop_before(line->cursor, n);
    for (;;) {
        item->status = pm_run_trace_next(line->cursor, &item->err, &event, &has_event);
        if (item->status != PM_OK)
            return false;
        if (!has_event)
            return hand_over(&p->setting.clock, worker, item, line);
        if (!add_event(p, worker, item, line, &event))
            return false;
    }
}

/* The parts that were read on their own. *ret_n: how many go with what is open. */
static bool join_plain(const struct trace_parts *p, struct worker *worker, struct item *item,
                       struct line *line, size_t *ret_n)
{
    size_t n = 0;
    bool fits = pm_trace_block_may_join(line->block, item->block);
    while (n < item->n_plain && fits) {
        if (!pm_run_trace_join(line->cursor, item->parts[n], &fits))
            return no_memory(item);
        n += fits;
    }
    *ret_n = n;
    if (n == 0)
        return true;
    if (n < item->n_plain && (!open_reader(p, worker, item) || !read_parts(p, worker, item, n)))
        return false;
    if (item->n_plain != n) {
        item->status = pm_error_set(&item->err, PM_ERR_FORMAT,
                                    "run file '%s' was changed while it was read", p->setting.path);
        return false;
    }
    if (!pm_trace_block_join(line->block, item->block))
        return no_memory(item);
    item->has_block = pm_trace_block_about(item->block).n_events != 0;
    return true;
}

static void join(struct trace_parts *p, struct worker *worker, struct item *item)
{
    struct line *line = &p->lines[item->thread];
    size_t n = 0;
    bool good =
        (item->first_part > 0 || open_line(p, item, line)) && join_plain(p, worker, item, line, &n);
    if (good && item->is_last)
        good = add_events(p, worker, item, line, SIZE_MAX); /* and what ends with the trace */
    else if (good && n < item->n_parts)
        good = add_events(p, worker, item, line, item->first_part + item->n_parts);
    if (item->is_last)
        close_line(line);
}

/* --- who does what --- */

static bool may_join(const struct trace_parts *p, size_t i)
{
    if (item_at(p, i)->first_part == 0)
        return true;
    /* what is before the first item was given out */
    return i == 0 || item_at(p, i - 1)->state >= JOINED;
}

/* Work for one thread; the oldest first. NULL: there is none. */
static struct item *find_work(const struct trace_parts *p)
{
    for (size_t i = 0; i < p->n_used; i++) {
        struct item *item = item_at(p, i);
        if (item->state == FRESH || item->state == JOINED ||
            (item->state == READ && may_join(p, i)))
            return item;
    }
    return NULL;
}

static void do_step(struct trace_parts *p, struct worker *worker, struct item *item)
{
    if (item->state == READING)
        (void)(open_reader(p, worker, item) && read_parts(p, worker, item, item->n_parts));
    else if (item->state == JOINING)
        join(p, worker, item);
    else
        (void)pack(&p->setting.clock, worker, item); /* the item has the status */
}

/* The first failure ends it all. */
static void note_failure(struct trace_parts *p, const struct item *item)
{
    p->stop = true;
    if (p->status == PM_OK)
        p->status = pm_error_set(&p->err, item->status, "%s", pm_error_text(&item->err));
}

/* One step of an item, without the lock. */
static void work_on(struct trace_parts *p, unsigned number, struct item *item)
{
    item->state++;
    pthread_mutex_unlock(&p->lock);
    do_step(p, &p->workers[number], item);
    pthread_mutex_lock(&p->lock);
    item->state++;
    if (item->status != PM_OK)
        note_failure(p, item);
    pthread_cond_broadcast(&p->changed);
}

static void work(void *context, unsigned number)
{
    struct trace_parts *p = context;
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        struct item *item = find_work(p);
        if (item)
            work_on(p, number, item);
        else
            pthread_cond_wait(&p->changed, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
}

/* --- giving out --- */

static void empty_item(struct item *item)
{
    for (uint32_t i = 0; i < item->n_packed; i++) {
        free(item->packed[i].data);
        pm_trace_shares_release(&item->packed[i].shares);
    }
    item->n_packed = 0;
    item->has_block = false;
    pm_error_release(&item->err);
}

/* Items for parts that have none yet, as far as there is room. */
static void fill(struct trace_parts *p)
{
    size_t n_threads = pm_run_file_n_threads(p->setting.file);
    while (p->n_used < p->n_items && p->next_thread < n_threads) {
        size_t n_parts = pm_run_trace_n_parts(p->setting.file, p->next_thread);
        if (p->next_part == n_parts) {
            p->next_thread++;
            p->next_part = 0;
            continue;
        }
        struct item *item = item_at(p, p->n_used++);
        item->state = FRESH;
        item->thread = p->next_thread;
        item->first_part = p->next_part;
        item->n_parts = n_parts - p->next_part < PARTS ? n_parts - p->next_part : PARTS;
        p->next_part += item->n_parts;
        item->is_last = p->next_part == n_parts;
    }
}

/* The oldest item when it is ready; works meanwhile. */
static struct item *wait_for_first(struct trace_parts *p)
{
    struct item *first = item_at(p, 0);
    while (first->state != PACKED && !p->stop) {
        struct item *item = find_work(p);
        if (item)
            work_on(p, 0, item);
        else
            pthread_cond_wait(&p->changed, &p->lock);
    }
    return first;
}

enum pm_status trace_parts_next(struct trace_parts *p, size_t thread, struct pm_error *err,
                                const struct trace_packed **ret_block)
{
    enum pm_status status = PM_OK;
    *ret_block = NULL;
    pthread_mutex_unlock(&p->caller);
    pthread_mutex_lock(&p->lock);
    while (p->n_used && item_at(p, 0)->thread == thread) {
        struct item *first = wait_for_first(p);
        if (p->status != PM_OK) {
            status = pm_error_set(err, p->status, "%s", pm_error_text(&p->err));
            break;
        }
        if (p->given < first->n_packed) {
            *ret_block = &first->packed[p->given++];
            break;
        }
        empty_item(first);
        p->given = 0;
        p->first = (p->first + 1) % p->n_items;
        p->n_used--;
        fill(p);
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    pthread_mutex_lock(&p->caller);
    return status;
}

/* --- begin and end --- */

static bool make(struct trace_parts *p, unsigned n_workers)
{
    p->n_items = 2 * (size_t)n_workers + 4;
    p->lines = pm_alloc_array(pm_run_file_n_threads(p->setting.file), sizeof *p->lines);
    p->items = pm_alloc_array(p->n_items, sizeof *p->items);
    p->workers = pm_alloc_array(n_workers, sizeof *p->workers);
    if (!p->lines || !p->items || !p->workers)
        return false;
    p->n_workers = n_workers;
    for (unsigned i = 0; i < n_workers; i++)
        if (!(p->workers[i].packer = pm_trace_packer_new()))
            return false;
    for (size_t i = 0; i < p->n_items; i++) {
        if (!(p->items[i].block = pm_trace_block_new()))
            return false;
        for (size_t k = 0; k < PARTS; k++)
            if (!(p->items[i].parts[k] = pm_run_trace_part_new()))
                return false;
    }
    return true;
}

static unsigned workers_for(const struct trace_parts_setting *setting)
{
    enum { MOST = 64 };
    size_t n_parts = 0, n = setting->n_threads ? setting->n_threads : pm_n_processors();
    for (size_t i = 0; i < pm_run_file_n_threads(setting->file) && n_parts < n; i++)
        n_parts += pm_run_trace_n_parts(setting->file, i);
    n = n < n_parts ? n : n_parts;
    if (n == 0)
        return 1;
    return n < MOST ? (unsigned)n : MOST;
}

enum pm_status trace_parts_open(const struct trace_parts_setting *setting, struct pm_error *err,
                                struct trace_parts **ret_parts)
{
    struct trace_parts *p = pm_alloc(sizeof *p);
    if (!p)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory for traces");
    p->setting = *setting;
    pthread_mutex_init(&p->lock, NULL);
    pthread_mutex_init(&p->caller, NULL);
    pthread_cond_init(&p->changed, NULL);
    pthread_mutex_lock(&p->caller);
    if (!make(p, workers_for(setting))) {
        trace_parts_close(p);
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory for traces");
    }
    fill(p);
    p->threads = pm_threads_start(p->n_workers - 1, work, p);
    *ret_parts = p;
    return PM_OK;
}

static void stop_threads(struct trace_parts *p)
{
    pthread_mutex_unlock(&p->caller); /* one may wait for it */
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pm_threads_join(p->threads);
}

void trace_parts_close(struct trace_parts *p)
{
    if (!p)
        return;
    stop_threads(p);
    for (size_t i = 0; p->lines && i < pm_run_file_n_threads(p->setting.file); i++)
        close_line(&p->lines[i]);
    for (unsigned i = 0; i < p->n_workers; i++) {
        pm_run_trace_reader_close(p->workers[i].reader);
        pm_trace_packer_free(p->workers[i].packer);
    }
    for (size_t i = 0; p->items && i < p->n_items; i++) {
        empty_item(&p->items[i]);
        free(p->items[i].packed);
        for (size_t k = 0; k < PARTS; k++)
            pm_run_trace_part_free(p->items[i].parts[k]);
        pm_trace_block_free(p->items[i].block);
    }
    free(p->lines);
    free(p->workers);
    free(p->items);
    pm_error_release(&p->err);
    pthread_mutex_destroy(&p->lock);
    pthread_mutex_destroy(&p->caller);
    pthread_cond_destroy(&p->changed);
    free(p);
}
