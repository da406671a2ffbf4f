/* Parts of traces on their own: read before it is known what is open there, joined when it is. */
#include "run_trace_cursor.h"

#include <stdlib.h>
#include <unistd.h>

enum { CALLS = 512 }; /* 8 KiB: they stay in the first cache from one loop to the next */

struct pm_run_trace_reader {
    const struct pm_run_file *file;
    struct run_source source;
    int fd;
    uint64_t *events;
    size_t events_cap;
    struct pm_run_trace_call calls[CALLS];
};

struct opened {
    uint64_t tsc;
    uint32_t code;
};

struct pm_run_trace_part {
    const struct run_piece *piece;
    uint64_t clock, last_tsc; /* last_tsc: 0, or the largest time of an event */
    uint32_t *left;           /* codes of frames that were open before and end here */
    struct opened *opened;    /* frames that begin here and are open behind */
    size_t n_left, n_opened;  /* at most one for each event, so there is room */
    size_t left_cap, opened_cap;
};

static struct pm_run_trace_reader *reader_of(const struct pm_run_file *file,
                                             const struct run_source *source)
{
    struct pm_run_trace_reader *reader = pm_alloc(sizeof *reader);
    if (reader)
        *reader = (struct pm_run_trace_reader){.file = file, .source = *source, .fd = source->fd};
    return reader;
}

enum pm_status pm_run_trace_reader_open(const char *path, const struct pm_run_file *file,
                                        struct pm_error *err,
                                        struct pm_run_trace_reader **ret_reader)
{
    struct run_source source = {-1, NULL, 0};
    enum pm_status status = pm_file_open(path, INT64_MAX, err, &source.fd, &source.size_bytes);
    if (status != PM_OK)
        return pm_error_add(err, "cannot read run file '%s'", path);
    struct pm_run_trace_reader *reader = reader_of(file, &source);
    if (!reader) {
        close(source.fd);
        return run_no_memory(file, err);
    }
    *ret_reader = reader;
    return PM_OK;
}

struct pm_run_trace_reader *pm_run_trace_reader_parse(const void *bytes, size_t len,
                                                      const struct pm_run_file *file)
{
    return reader_of(file, &(struct run_source){-1, bytes, len});
}

void pm_run_trace_reader_close(struct pm_run_trace_reader *reader)
{
    if (!reader)
        return;
    if (reader->fd >= 0)
        close(reader->fd);
    free(reader->events);
    free(reader);
}

struct pm_run_trace_part *pm_run_trace_part_new(void)
{
    return pm_alloc(sizeof(struct pm_run_trace_part));
}

void pm_run_trace_part_free(struct pm_run_trace_part *part)
{
    if (!part)
        return;
    free(part->left);
    free(part->opened);
    free(part);
}

/* --- reading --- */

static bool make_room(void *array_pointer, size_t *cap, size_t n, size_t item_bytes)
{
    void **array = array_pointer;
    if (n <= *cap)
        return true;
    free(*array);
    *array = pm_alloc_array(n, item_bytes); /* what is not used is no memory */
    *cap = *array ? n : 0;
    return *array != NULL;
}

/* What ends a piece's being plain: marks, sets, foreign stacks, nouns that are not known, and a
 * leave that is not that of the youngest frame. */
enum kind { CLOCK_1 = 2, CLOCK_2 = 3, ENTER = 4, LEAVE = 6 }; /* bits 63..61 */

static bool is_event(uint32_t kind)
{
    return (kind | 2) == LEAVE;
}

/* Events from *at on, until there are CALLS or no more. False: not plain. */
static bool read_calls(struct pm_run_trace_reader *reader, struct pm_run_trace_part *part,
                       size_t *at, size_t *ret_n)
{
    const uint32_t *nouns = reader->file->trace_nouns, n_nouns = reader->file->n_trace_nouns;
    const uint64_t *events = reader->events;
    struct pm_run_trace_call *call = reader->calls;
    struct opened *opened = part->opened;
    size_t i = *at, n = part->piece->n_places, n_opened = part->n_opened;
    uint64_t clock = part->clock, last_tsc = part->last_tsc;
    for (; i < n && call < reader->calls + CALLS; i++) {
        uint64_t raw = events[i];
        uint32_t kind = (uint32_t)(raw >> 61), code = (uint32_t)(raw >> 40) & PM_RUN_TRACE_MANY;
        if (!is_event(kind)) {
            if (kind == CLOCK_1 || kind == CLOCK_2)
                clock = raw & (((uint64_t)1 << 62) - 1);
            else if (kind > CLOCK_2)
                return false;
            continue;
        }
        if (code >= n_nouns || nouns[code] == 0)
            return false;
        clock += (uint64_t)((int64_t)((raw - clock) << 24) >> 24); /* 40 bits, with their sign */
        last_tsc = clock > last_tsc ? clock : last_tsc;
        if (kind == ENTER)
            opened[n_opened++] = (struct opened){clock, code};
        else if (n_opened == 0)
            part->left[part->n_left++] = code;
        else if (opened[--n_opened].code != code)
            return false;
        *call++ = (struct pm_run_trace_call){clock, nouns[code] - 1, kind == LEAVE};
    }
    part->n_opened = n_opened;
    part->clock = clock;
    part->last_tsc = last_tsc;
    *at = i;
    *ret_n = (size_t)(call - reader->calls);
    return true;
}

bool pm_run_trace_read_part(struct pm_run_trace_reader *reader, size_t thread, size_t i,
                            struct pm_run_trace_part *part, pm_run_trace_taker take, void *context,
                            bool *ret_is_plain)
{
    size_t n_pieces, n = 0, at = 0;
    const struct run_piece *piece = run_trace_pieces(reader->file, thread, &n_pieces);
    PM_ASSERT(i < n_pieces);
    piece += i;
    *ret_is_plain = false;
    if (i == 0 || piece[-1].number + 1 != piece->number)
        return true; /* something is missing before it */
    if (!make_room(&reader->events, &reader->events_cap, piece->n_places, sizeof(uint64_t)) ||
        !make_room(&part->left, &part->left_cap, piece->n_places, sizeof *part->left) ||
        !make_room(&part->opened, &part->opened_cap, piece->n_places, sizeof *part->opened))
        return false;
    if (!run_read_at(&reader->source, piece->offset + PM_RUN_TRACE_DATA, reader->events,
                     (size_t)piece->n_places * 8))
        return true;
    part->piece = piece;
    part->clock = piece->first_tsc;
    part->last_tsc = 0;
    part->n_left = part->n_opened = 0;
    while (at < piece->n_places) {
        if (!read_calls(reader, part, &at, &n))
            return true;
        if (n && !take(context, reader->calls, n))
            return false;
    }
    *ret_is_plain = true;
    return true;
}

/* --- joining --- */

/* Nothing is to be told before the part, or made up where it begins. */
static bool stands_before(struct pm_run_trace_cursor *c, const struct pm_run_trace_part *part)
{
    struct run_trace_stack *own = &c->stacks[RUN_TRACE_OWN],
                           *foreign = &c->stacks[RUN_TRACE_FOREIGN];
    const struct run_piece *piece = part->piece;
    return &c->pieces[c->piece] == piece && c->event == c->n_events && c->on == RUN_TRACE_OWN &&
           (piece->node == PM_RUN_TRACE_NONE ||
            run_trace_node(c, own, own->n - 1) == piece->node) &&
           (piece->foreign_node == PM_RUN_TRACE_NONE ||
            run_trace_node(c, foreign, foreign->n - 1) == piece->foreign_node);
}

static bool leaves_what_is_open(const struct pm_run_trace_cursor *c,
                                const struct pm_run_trace_part *part)
{
    const struct run_trace_stack *own = &c->stacks[RUN_TRACE_OWN];
    if (part->n_left >= own->n) /* the root stays */
        return false;
    const struct run_trace_frame *frame = &own->frames[own->n];
    for (size_t i = 0; i < part->n_left; i++) {
        uint32_t code = part->left[i];
        frame--;
        if (frame->code != code && (frame->code != PM_RUN_TRACE_NONE ||
                                    frame->noun != run_trace_plain_noun(c->file, code)))
            return false;
    }
    return true;
}

bool pm_run_trace_join(struct pm_run_trace_cursor *c, const struct pm_run_trace_part *part,
                       bool *ret_fits)
{
    struct run_trace_stack *own = &c->stacks[RUN_TRACE_OWN];
    *ret_fits = stands_before(c, part) && leaves_what_is_open(c, part);
    if (!*ret_fits)
        return true;
    own->n -= part->n_left;
    own->keep = own->n;
    for (size_t i = 0; i < part->n_opened; i++) {
        uint32_t code = part->opened[i].code;
        struct run_trace_frame frame = {.code = code,
                                        .last_code = PM_RUN_TRACE_NONE,
                                        .noun = run_trace_plain_noun(c->file, code),
                                        .node = RUN_TRACE_LATER,
                                        .tsc = part->opened[i].tsc,
                                        .away_tsc = c->away_tsc};
        if (!run_trace_push(own, &frame))
            return false;
    }
    c->clock = part->clock;
    c->last_tsc = part->last_tsc > c->last_tsc ? part->last_tsc : c->last_tsc;
    c->piece++;
    return true;
}
