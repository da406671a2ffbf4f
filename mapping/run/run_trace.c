/* Traces: which parts a file has of each thread, and their events in order, made to nest. */
#include "run_internal.h"
#include "run_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* --- loading: where the parts are --- */

enum { LARGEST_PART = 16 << 20 };

static bool add_piece(struct pm_run_file *file, size_t *cap, const struct run_piece *piece)
{
    if (file->n_pieces == *cap) {
        size_t larger = *cap ? *cap * 2 : 64;
        struct run_piece *pieces = pm_realloc_array(file->pieces, larger, sizeof *pieces);
        if (!pieces)
            return false;
        file->pieces = pieces;
        *cap = larger;
    }
    file->pieces[file->n_pieces++] = *piece;
    return true;
}

static uint32_t node_at(const struct run_thread_load *load, uint32_t place)
{
    uint32_t node;
    return place && run_find_node(load, (uint64_t)place * 64, &node) ? node : PM_RUN_TRACE_NONE;
}

/* room: bytes for events. False: memory. */
static bool take_piece(struct pm_run_file *file, size_t *cap, const struct pm_run_trace *raw,
                       uint64_t offset, uint64_t room, bool is_head)
{
    struct run_piece piece = {
        .offset = offset, .number = raw->number, .first_tsc = raw->first_tsc, .is_head = is_head};
    if (!run_find_thread(file, raw->chunk.owner, &piece.thread)) {
        run_complain(file, offset, "events of a thread that is not in the file");
        return true;
    }
    uint64_t n = raw->chunk.n_items, most = room / 8;
    if (n > most)
        run_complain(file, offset, "%llu events, %llu fit in the part", (unsigned long long)n,
                     (unsigned long long)most);
    piece.n_places = (uint32_t)(n < most ? n : most);
    piece.node = node_at(&file->loads[piece.thread], raw->node);
    piece.foreign_node = node_at(&file->loads[piece.thread], raw->foreign_node);
    piece.flags = raw->flags;
    run_note_tsc(file, raw->first_tsc);
    return add_piece(file, cap, &piece);
}

/* A part that was being written when the process died has the trailer of what was there before. */
static bool load_space(struct pm_run_file *file, const struct run_source *source,
                       const struct run_chunk *chunk, size_t *cap)
{
    uint64_t n = chunk->n_items, part = n && chunk->size_bytes > PM_RUN_PAGE
                                            ? (chunk->size_bytes - PM_RUN_PAGE) / n
                                            : 0;
    if (part < PM_RUN_TRACE_DATA + 16 || part > LARGEST_PART || part % 8) {
        run_complain(file, chunk->offset, "%llu parts of a trace in %llu bytes",
                     (unsigned long long)n, (unsigned long long)chunk->size_bytes);
        return true;
    }
    for (uint64_t i = 0; i < n; i++) {
        struct pm_run_trace raw;
        uint64_t offset = chunk->offset + PM_RUN_PAGE + i * part, trailer;
        if (!run_read_at(source, offset, &raw, sizeof raw) ||
            !run_read_at(source, offset + part - 8, &trailer, 8))
            return true; /* the rest was never written */
        if (raw.chunk.magic != PM_RUN_CHUNK_MAGIC || trailer != raw.serial + 1)
            continue;
        if (!take_piece(file, cap, &raw, offset, part - PM_RUN_TRACE_DATA - 8, false))
            return false;
    }
    return true;
}

static bool load_head(struct pm_run_file *file, const struct run_source *source,
                      const struct run_chunk *chunk, size_t *cap)
{
    struct pm_run_trace raw;
    if (chunk->size_bytes < sizeof raw + 8 || chunk->size_bytes > LARGEST_PART ||
        !run_read_at(source, chunk->offset, &raw, sizeof raw)) {
        run_complain(file, chunk->offset, "events of a thread are cut");
        return true;
    }
    if (raw.chunk.n_items == 0)
        return true; /* was being made */
    return take_piece(file, cap, &raw, chunk->offset, chunk->size_bytes - sizeof raw - 8, true);
}

static int compare_pieces(const void *a, const void *b)
{
    const struct run_piece *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->is_head != y->is_head)
        return x->is_head ? 1 : -1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* A head whose part is there was just being emptied. */
static void drop_duplicates(struct pm_run_file *file)
{
    size_t n = 0;
    for (size_t i = 0; i < file->n_pieces; i++) {
        const struct run_piece *piece = &file->pieces[i];
        if (n && file->pieces[n - 1].thread == piece->thread &&
            file->pieces[n - 1].number == piece->number) {
            if (!piece->is_head)
                run_complain(file, piece->offset, "part %llu of a thread's trace is there twice",
                             (unsigned long long)piece->number);
            continue;
        }
        file->pieces[n++] = *piece;
    }
    file->n_pieces = n;
}

enum pm_status run_load_trace(struct pm_run_file *file, const struct run_source *source,
                              const struct run_chunks *list, struct pm_error *err)
{
    size_t cap = 0;
    bool ok = true;
    for (size_t i = 0; i < list->n && ok; i++) {
        const struct run_chunk *chunk = &list->chunks[i];
        if (chunk->kind == PM_RUN_CHUNK_TRACE_SPACE)
            ok = load_space(file, source, chunk, &cap);
        else if (chunk->kind == PM_RUN_CHUNK_TRACE_HEAD)
            ok = load_head(file, source, chunk, &cap);
    }
    if (!ok)
        return run_no_memory(file, err);
    if (file->n_pieces)
        qsort(file->pieces, file->n_pieces, sizeof *file->pieces, compare_pieces);
    drop_duplicates(file);
    return PM_OK;
}

static const struct run_piece *pieces_of(const struct pm_run_file *file, size_t thread,
                                         size_t *ret_n)
{
    size_t low = 0, high = file->n_pieces, n = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (file->pieces[middle].thread < thread)
            low = middle + 1;
        else
            high = middle;
    }
    while (low + n < file->n_pieces && file->pieces[low + n].thread == thread)
        n++;
    *ret_n = n;
    return n ? file->pieces + low : NULL;
}

struct pm_run_trace_size pm_run_trace_size(const struct pm_run_file *file, size_t thread)
{
    struct pm_run_trace_size size = {0};
    const struct run_piece *pieces = pieces_of(file, thread, &size.n_parts);
    if (size.n_parts == 0)
        return size;
    for (size_t i = 0; i < size.n_parts; i++)
        size.n_places += pieces[i].n_places;
    size.n_bytes = size.n_places * 8 + size.n_parts * (PM_RUN_TRACE_DATA + 8);
    size.has_begin = pieces[0].number == 0;
    size.has_end = !(pieces[size.n_parts - 1].flags & PM_RUN_TRACE_STOPPED);
    return size;
}

uint64_t pm_run_trace_ns(const struct pm_run_file *file, uint64_t tsc)
{
    uint64_t start = file->process.start_tsc;
    return tsc > start ? pm_run_file_to_ns(file, tsc - start) : 0;
}

/* --- reading --- */

struct frame {
    uint32_t code; /* as in events */
    uint32_t noun, node;
    uint32_t last_code, last_node; /* the child that was entered last */
    uint64_t tsc, away_tsc;        /* when it was entered; the cursor's away_tsc then */
};

enum { OWN, FOREIGN, N_STACKS };
struct stack {
    struct frame *frames; /* the first is the root */
    size_t n, cap;
    size_t keep;    /* frames from here on have ended at close_tsc */
    size_t n_exact; /* of these, one that an event ended: its position; 0: none */
    uint32_t *path; /* nodes that are open and not entered yet, from path_at on */
    size_t n_path, path_at, path_cap;
    struct frame
        *again; /* frames that are moved, to be entered below another set, from again_at on */
    size_t n_again, again_at, again_cap;
    bool is_moving;
};

struct child {
    uint32_t parent, noun, node;
};

struct pm_run_trace_cursor {
    const struct pm_run_file *file;
    const struct pm_run_file_thread *thread;
    struct run_source source;
    int fd;
    const struct run_piece *pieces;
    size_t n_pieces, piece;
    struct child *children; /* contexts by parent and noun */
    size_t n_children;
    uint64_t *events; /* of the piece at hand */
    size_t n_events, event, events_cap;
    struct stack stacks[N_STACKS];
    int on;
    uint64_t away_tsc; /* spent on foreign stacks so far */
    uint64_t left_tsc; /* when the thread went there; on == FOREIGN */
    uint64_t clock, last_tsc, close_tsc, end_tsc;
    bool close_is_cut, finished;
};

static enum pm_status cursor_no_memory(const struct pm_run_trace_cursor *c, struct pm_error *err)
{
    return run_no_memory(c->file, err);
}

static int compare_children(const void *a, const void *b)
{
    const struct child *x = a, *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->noun != y->noun)
        return x->noun < y->noun ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static bool index_children(struct pm_run_trace_cursor *c)
{
    c->children = pm_alloc_array(c->thread->n_nodes, sizeof *c->children);
    if (!c->children)
        return false;
    for (size_t i = 0; i < c->thread->n_nodes; i++) {
        const struct pm_run_file_node *node = &c->thread->nodes[i];
        if (node->parent != PM_RUN_FILE_NO_PARENT && !(node->flags & PM_RUN_NODE_FOLDED))
            c->children[c->n_children++] = (struct child){node->parent, node->noun, (uint32_t)i};
    }
    if (c->n_children)
        qsort(c->children, c->n_children, sizeof *c->children, compare_children);
    return true;
}

static uint32_t find_child(const struct pm_run_trace_cursor *c, uint32_t parent, uint32_t noun)
{
    size_t low = 0, high = c->n_children;
    const struct child key = {parent, noun, 0};
    if (parent == PM_RUN_TRACE_NONE || noun == PM_RUN_TRACE_NONE)
        return PM_RUN_TRACE_NONE;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_children(&c->children[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->n_children && c->children[low].parent == parent && c->children[low].noun == noun
               ? c->children[low].node
               : PM_RUN_TRACE_NONE;
}

static bool push(struct stack *stack, const struct frame *frame)
{
    if (stack->n == stack->cap) {
        size_t cap = stack->cap ? stack->cap * 2 : 64;
        struct frame *frames = pm_realloc_array(stack->frames, cap, sizeof *frames);
        if (!frames)
            return false;
        stack->frames = frames;
        stack->cap = cap;
    }
    stack->frames[stack->n++] = *frame;
    stack->keep = stack->n;
    return true;
}

static uint32_t foreign_root(const struct pm_run_file_thread *thread)
{
    for (size_t i = 1; i < thread->n_nodes; i++)
        if (thread->nodes[i].parent == PM_RUN_FILE_NO_PARENT)
            return (uint32_t)i;
    return PM_RUN_TRACE_NONE;
}

/* All of pieces fits, for the largest is known. */
static bool prepare(struct pm_run_trace_cursor *c)
{
    for (size_t i = 0; i < c->n_pieces; i++)
        if (c->pieces[i].n_places > c->events_cap)
            c->events_cap = c->pieces[i].n_places;
    c->events = pm_alloc_array(c->events_cap, sizeof *c->events);
    struct frame own = {.noun = PM_RUN_TRACE_NONE, .last_code = PM_RUN_TRACE_NONE}, foreign = own;
    foreign.node = foreign_root(c->thread);
    return c->events && index_children(c) && push(&c->stacks[OWN], &own) &&
           push(&c->stacks[FOREIGN], &foreign);
}

static enum pm_status open_cursor(const struct pm_run_file *file, size_t thread,
                                  const struct run_source *source, struct pm_error *err,
                                  struct pm_run_trace_cursor **ret_cursor)
{
    PM_ASSERT(thread < file->n_threads);
    struct pm_run_trace_cursor *c = pm_alloc(sizeof *c);
    if (!c) {
        if (source->fd >= 0)
            close(source->fd);
        return run_no_memory(file, err);
    }
    c->file = file;
    c->thread = &file->threads[thread];
    c->source = *source;
    c->fd = source->fd;
    c->pieces = pieces_of(file, thread, &c->n_pieces);
    c->end_tsc = file->loads[thread].last_tsc;
    if (!prepare(c)) {
        pm_run_trace_close(c);
        return run_no_memory(file, err);
    }
    *ret_cursor = c;
    return PM_OK;
}

enum pm_status pm_run_trace_open(const char *path, const struct pm_run_file *file, size_t thread,
                                 struct pm_error *err, struct pm_run_trace_cursor **ret_cursor)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
    if (size < 0) {
        int errnum = errno;
        if (fd >= 0)
            close(fd);
        return pm_error_system(err, errnum, "cannot open run file '%s'", path);
    }
    struct run_source source = {fd, NULL, (uint64_t)size};
    return open_cursor(file, thread, &source, err, ret_cursor);
}

enum pm_status pm_run_trace_parse(const void *bytes, size_t len, const struct pm_run_file *file,
                                  size_t thread, struct pm_error *err,
                                  struct pm_run_trace_cursor **ret_cursor)
{
    struct run_source source = {-1, bytes, len};
    return open_cursor(file, thread, &source, err, ret_cursor);
}

void pm_run_trace_close(struct pm_run_trace_cursor *c)
{
    if (!c)
        return;
    if (c->fd >= 0)
        close(c->fd);
    for (int i = 0; i < N_STACKS; i++) {
        free(c->stacks[i].frames);
        free(c->stacks[i].path);
        free(c->stacks[i].again);
    }
    free(c->children);
    free(c->events);
    free(c);
}

/* --- what is open where a piece begins --- */

/* Contexts from below the root to node, in stack->path. */
static bool find_path(const struct pm_run_trace_cursor *c, struct stack *stack, uint32_t node)
{
    const struct pm_run_file_node *nodes = c->thread->nodes;
    size_t n = 0;
    for (uint32_t at = node; at != PM_RUN_TRACE_NONE && nodes[at].parent != PM_RUN_FILE_NO_PARENT;
         at = nodes[at].parent)
        n++;
    if (n > stack->path_cap) {
        uint32_t *path = pm_realloc_array(stack->path, n, sizeof *path);
        if (!path)
            return false;
        stack->path = path;
        stack->path_cap = n;
    }
    stack->n_path = n;
    for (uint32_t at = node; n > 0; at = nodes[at].parent)
        stack->path[--n] = at;
    return true;
}

/* What the stack has and the tree has not, has ended. What the tree has and the stack has not was entered before the trace, when
 * something is missing before this piece; else it is of a noun that is not traced. */
static bool agree(const struct pm_run_trace_cursor *c, struct stack *stack, uint32_t node,
                  bool is_gap)
{
    stack->n_path = stack->path_at = 0;
    if (node == PM_RUN_TRACE_NONE || (!is_gap && stack->frames[stack->n - 1].node == node))
        return true;
    if (!find_path(c, stack, node))
        return false;
    size_t matched = 0, k = 1;
    for (size_t i = 0; i < stack->n_path && k < stack->n; i++)
        if (c->thread->nodes[stack->path[i]].noun == stack->frames[k].noun) {
            k++;
            matched = i + 1;
        }
    stack->keep = k;
    stack->path_at = is_gap ? matched : stack->n_path;
    return true;
}

static enum pm_status next_piece(struct pm_run_trace_cursor *c, struct pm_error *err)
{
    const struct run_piece *piece = &c->pieces[c->piece];
    bool is_gap = c->piece == 0 || piece[-1].number + 1 != piece->number;
    size_t bytes = (size_t)piece->n_places * 8;
    if (!run_read_at(&c->source, piece->offset + PM_RUN_TRACE_DATA, c->events, bytes))
        return pm_error_set(err, PM_ERR_FORMAT,
                            "run file '%s' byte %llu: %zu bytes of events cannot be read",
                            c->file->name, (unsigned long long)piece->offset, bytes);
    c->n_events = piece->n_places;
    c->event = 0;
    c->clock = c->close_tsc = piece->first_tsc;
    c->close_is_cut = true;
    if (is_gap)
        c->last_tsc = piece->first_tsc;
    c->piece++;
    if (!agree(c, &c->stacks[OWN], piece->node, is_gap) ||
        !agree(c, &c->stacks[FOREIGN], piece->foreign_node, is_gap))
        return cursor_no_memory(c, err);
    return PM_OK;
}

/* --- events --- */

/* Time spent on foreign stacks up to then. */
static uint64_t away_until(const struct pm_run_trace_cursor *c, uint64_t tsc)
{
    return c->away_tsc + (c->on == FOREIGN && tsc > c->left_tsc ? tsc - c->left_tsc : 0);
}

/* To the stack of the next event, at its time. */
static void change_stack(struct pm_run_trace_cursor *c, int on)
{
    if (on == c->on)
        return;
    if (on == OWN)
        c->away_tsc = away_until(c, c->clock);
    else
        c->left_tsc = c->clock;
    c->on = on;
}

/* The leave of a frame that has ended. */
static void pop(struct pm_run_trace_cursor *c, int which, struct pm_run_trace_event *event)
{
    struct stack *stack = &c->stacks[which];
    const struct frame *frame = &stack->frames[--stack->n];
    bool is_cut = c->close_is_cut && stack->n != stack->n_exact;
    *event = (struct pm_run_trace_event){
        .is_leave = true,
        .flags = (is_cut ? PM_RUN_TRACE_CUT : 0u) |
                 (which == FOREIGN ? (unsigned)PM_RUN_TRACE_ON_FOREIGN : 0u) |
                 (stack->is_moving ? (unsigned)PM_RUN_TRACE_MOVED : 0u),
        .noun = frame->noun,
        .node = frame->node,
        .depth = (uint32_t)stack->n - 1,
        .tsc = c->close_tsc,
        .enter_tsc = frame->tsc,
    };
    uint64_t away = which == FOREIGN ? 0 : away_until(c, c->close_tsc) - frame->away_tsc;
    event->spent_tsc = event->tsc - event->enter_tsc;
    event->spent_tsc = event->spent_tsc > away ? event->spent_tsc - away : 0;
}

static bool enter(struct pm_run_trace_cursor *c, int which, const struct frame *frame,
                  unsigned flags, struct pm_run_trace_event *event)
{
    struct stack *stack = &c->stacks[which];
    *event = (struct pm_run_trace_event){
        .flags = flags | (which == FOREIGN ? (unsigned)PM_RUN_TRACE_ON_FOREIGN : 0u),
        .noun = frame->noun,
        .node = frame->node,
        .depth = (uint32_t)stack->n - 1,
        .tsc = frame->tsc,
    };
    return push(stack, frame);
}

/* What is open without an event: contexts that the tree had where the piece began. */
static bool enter_path(struct pm_run_trace_cursor *c, int which, struct pm_run_trace_event *event)
{
    struct stack *stack = &c->stacks[which];
    uint32_t node = stack->path[stack->path_at++];
    struct frame frame = {.noun = c->thread->nodes[node].noun,
                          .node = node,
                          .last_code = PM_RUN_TRACE_NONE,
                          .tsc = c->clock,
                          .away_tsc = away_until(c, c->clock),
                          .code = PM_RUN_TRACE_NONE};
    return enter(c, which, &frame, PM_RUN_TRACE_CUT, event);
}

static bool is_set(const struct pm_run_trace_cursor *c, uint32_t noun)
{
    return noun != PM_RUN_TRACE_NONE && c->file->nouns[noun].kind == PM_RUN_AMBIENT_SET;
}

/* What is open goes on below another set. noun: the set's; PM_RUN_TRACE_NONE: below none. */
static bool move_stack(struct pm_run_trace_cursor *c, int which, uint32_t noun)
{
    struct stack *stack = &c->stacks[which];
    if (stack->n + 1 > stack->again_cap) {
        struct frame *again = pm_realloc_array(stack->again, 2 * stack->n + 1, sizeof *again);
        if (!again)
            return false;
        stack->again = again;
        stack->again_cap = 2 * stack->n + 1;
    }
    stack->n_again = stack->again_at = 0;
    if (noun != PM_RUN_TRACE_NONE)
        stack->again[stack->n_again++] = (struct frame){.code = PM_RUN_TRACE_NONE, .noun = noun};
    for (size_t i = 1; i < stack->n; i++)
        if (!is_set(c, stack->frames[i].noun))
            stack->again[stack->n_again++] = stack->frames[i];
    stack->keep = 1;
    stack->is_moving = true;
    c->close_tsc = c->clock;
    c->close_is_cut = false;
    return true;
}

static bool enter_again(struct pm_run_trace_cursor *c, int which, struct pm_run_trace_event *event)
{
    struct stack *stack = &c->stacks[which];
    struct frame frame = stack->again[stack->again_at++];
    frame.node = find_child(c, stack->frames[stack->n - 1].node, frame.noun);
    frame.last_code = PM_RUN_TRACE_NONE;
    frame.tsc = c->clock;
    frame.away_tsc = which == FOREIGN ? 0 : away_until(c, c->clock);
    bool is_call = is_set(c, frame.noun);
    return enter(c, which, &frame, is_call ? 0 : PM_RUN_TRACE_CUT | PM_RUN_TRACE_MOVED, event);
}

static uint32_t noun_of(const struct pm_run_trace_cursor *c, uint32_t code)
{
    uint32_t noun;
    return code != PM_RUN_TRACE_MANY && run_find_noun(c->file, code, &noun) ? noun
                                                                            : PM_RUN_TRACE_NONE;
}

static bool enter_noun(struct pm_run_trace_cursor *c, uint32_t code,
                       struct pm_run_trace_event *event)
{
    struct frame *parent = &c->stacks[c->on].frames[c->stacks[c->on].n - 1];
    struct frame frame = {.code = code,
                          .last_code = PM_RUN_TRACE_NONE,
                          .noun = noun_of(c, code),
                          .tsc = c->clock,
                          .away_tsc = c->away_tsc};
    if (parent->last_code != code) {
        parent->last_node = find_child(c, parent->node, frame.noun);
        parent->last_code = code;
    }
    frame.node = parent->last_node;
    return enter(c, c->on, &frame, 0, event);
}

/* The youngest frame of this noun has ended, and all above it. An enter that was lost, or was before the noun was traced, has no
 * frame. */
static void leave_noun(struct pm_run_trace_cursor *c, uint32_t code)
{
    struct stack *stack = &c->stacks[c->on];
    uint32_t noun = noun_of(c, code);
    for (size_t i = stack->n; i-- > 1;)
        if (stack->frames[i].code == code ||
            (stack->frames[i].code == PM_RUN_TRACE_NONE && stack->frames[i].noun == noun)) {
            stack->keep = stack->n_exact = i;
            c->close_tsc = c->clock;
            c->close_is_cut = true;
            return;
        }
}

static void close_all(struct pm_run_trace_cursor *c, uint64_t tsc, bool is_cut)
{
    c->stacks[OWN].keep = c->stacks[FOREIGN].keep = 1;
    c->close_tsc = tsc;
    c->close_is_cut = is_cut;
}

/* One raw event. *ret_has_event: it is one that comes out at once. */
static bool take_event(struct pm_run_trace_cursor *c, uint64_t raw,
                       struct pm_run_trace_event *event, bool *ret_has_event)
{
    const uint64_t mask = ((uint64_t)1 << 40) - 1, half = (uint64_t)1 << 39;
    uint32_t head = (uint32_t)(raw >> 40), code = head & PM_RUN_TRACE_MANY;
    *ret_has_event = false;
    if (raw >> 62 == 0)
        return true;
    if (raw >> 62 == 1) {
        c->clock = raw & (((uint64_t)1 << 62) - 1);
        return true;
    }
    uint64_t ahead = (raw - c->clock) & mask;
    c->clock += ahead < half ? ahead : ahead - mask - 1;
    if (c->clock > c->last_tsc)
        c->last_tsc = c->clock;
    uint32_t noun = noun_of(c, code);
    if (is_set(c, noun)) /* of either stack, whichever the thread is on */
        return move_stack(c, head & PM_RUN_TRACE_FOREIGN ? FOREIGN : OWN,
                          raw >> 62 == 2 ? noun : PM_RUN_TRACE_NONE);
    change_stack(c, head & PM_RUN_TRACE_FOREIGN ? FOREIGN : OWN);
    if (raw >> 62 == 2) {
        *ret_has_event = true;
        return enter_noun(c, code, event);
    }
    if (code == PM_RUN_TRACE_MARK_END)
        close_all(c, c->clock, false);
    else
        leave_noun(c, code);
    return true;
}

/* What has to come out before the next raw event. */
static bool take_pending(struct pm_run_trace_cursor *c, struct pm_run_trace_event *event,
                         bool *ret_has_event)
{
    *ret_has_event = true;
    for (int i = 0; i < N_STACKS; i++)
        if (c->stacks[i].n > c->stacks[i].keep) {
            pop(c, i, event);
            return true;
        }
    for (int i = 0; i < N_STACKS; i++) {
        c->stacks[i].n_exact = 0;
        c->stacks[i].is_moving = false;
        if (c->stacks[i].again_at < c->stacks[i].n_again)
            return enter_again(c, i, event);
        if (c->stacks[i].path_at < c->stacks[i].n_path)
            return enter_path(c, i, event);
    }
    *ret_has_event = false;
    return true;
}

/* All that is open ends with the thread, or with the trace when that ended before. */
static void finish(struct pm_run_trace_cursor *c)
{
    bool is_stopped = c->n_pieces && c->pieces[c->n_pieces - 1].flags & PM_RUN_TRACE_STOPPED;
    uint64_t end = is_stopped || c->end_tsc < c->last_tsc ? c->last_tsc : c->end_tsc;
    close_all(c, end, true);
    c->finished = true;
}

enum pm_status pm_run_trace_next(struct pm_run_trace_cursor *c, struct pm_error *err,
                                 struct pm_run_trace_event *ret_event, bool *ret_has_event)
{
    enum pm_status status = PM_OK;
    for (;;) {
        bool has_event;
        if (!take_pending(c, ret_event, &has_event))
            return cursor_no_memory(c, err);
        if (has_event || c->finished) {
            *ret_has_event = has_event;
            return PM_OK;
        }
        if (c->event < c->n_events) {
            if (!take_event(c, c->events[c->event++], ret_event, &has_event))
                return cursor_no_memory(c, err);
            if (has_event) {
                *ret_has_event = true;
                return PM_OK;
            }
        } else if (c->piece < c->n_pieces) {
            if ((status = next_piece(c, err)) != PM_OK)
                return status;
        } else {
            finish(c);
        }
    }
}
