/* Traces: the events of each thread in order, made to nest. run_trace_parts.c finds them,
 * run_trace_part.c reads parts apart from each other. */
#include "run_trace_cursor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { OWN = RUN_TRACE_OWN, FOREIGN = RUN_TRACE_FOREIGN, N_STACKS = RUN_TRACE_N_STACKS };

/* --- reading --- */

static enum pm_status cursor_no_memory(const struct pm_run_trace_cursor *c, struct pm_error *err)
{
    return run_no_memory(c->file, err);
}

static int compare_children(const void *a, const void *b)
{
    const struct run_trace_child *x = a, *y = b;
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
            c->children[c->n_children++] =
                (struct run_trace_child){node->parent, node->noun, (uint32_t)i};
    }
    if (c->n_children)
        qsort(c->children, c->n_children, sizeof *c->children, compare_children);
    return true;
}

static uint32_t find_child(const struct pm_run_trace_cursor *c, uint32_t parent, uint32_t noun)
{
    size_t low = 0, high = c->n_children;
    const struct run_trace_child key = {parent, noun, 0};
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

bool run_trace_push(struct run_trace_stack *stack, const struct run_trace_frame *frame)
{
    if (stack->n == stack->cap) {
        size_t cap = stack->cap ? stack->cap * 2 : 64;
        struct run_trace_frame *frames = pm_realloc_array(stack->frames, cap, sizeof *frames);
        if (!frames)
            return false;
        stack->frames = frames;
        stack->cap = cap;
    }
    stack->frames[stack->n++] = *frame;
    stack->keep = stack->n;
    return true;
}

uint32_t run_trace_node(const struct pm_run_trace_cursor *c, struct run_trace_stack *stack,
                        size_t i)
{
    size_t known = i;
    while (stack->frames[known].node == RUN_TRACE_LATER) /* the root's is always known */
        known--;
    for (; known < i; known++)
        stack->frames[known + 1].node =
            find_child(c, stack->frames[known].node, stack->frames[known + 1].noun);
    return stack->frames[i].node;
}

static uint32_t foreign_root(const struct pm_run_file_thread *thread)
{
    for (size_t i = 1; i < thread->n_nodes; i++)
        if (thread->nodes[i].parent == PM_RUN_FILE_NO_PARENT &&
            !(thread->nodes[i].flags & PM_RUN_NODE_COROUTINE))
            return (uint32_t)i;
    return PM_RUN_TRACE_NONE;
}

static bool list_trees(struct pm_run_trace_cursor *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->thread->n_nodes; i++)
        n += c->thread->nodes[i].parent == PM_RUN_FILE_NO_PARENT;
    c->trees = pm_alloc_array(n ? n : 1, sizeof *c->trees);
    if (!c->trees)
        return false;
    for (size_t i = 0; i < c->thread->n_nodes; i++)
        if (c->thread->nodes[i].parent == PM_RUN_FILE_NO_PARENT)
            c->trees[c->n_trees++].root = (uint32_t)i;
    return true;
}

static bool prepare(struct pm_run_trace_cursor *c)
{
    struct run_trace_frame own = {.noun = PM_RUN_TRACE_NONE, .last_code = PM_RUN_TRACE_NONE},
                           foreign = own;
    foreign.node = foreign_root(c->thread);
    return index_children(c) && list_trees(c) && run_trace_push(&c->stacks[OWN], &own) &&
           run_trace_push(&c->stacks[FOREIGN], &foreign);
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
    c->pieces = run_trace_pieces(file, thread, &c->n_pieces);
    c->end_tsc = file->loads[thread].last_tsc;
    c->last_piece = SIZE_MAX;
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
    struct run_source source = {-1, NULL, 0};
    enum pm_status status = pm_file_open(path, INT64_MAX, err, &source.fd, &source.size_bytes);
    if (status != PM_OK)
        return pm_error_add(err, "cannot read run file '%s'", path);
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
    for (size_t i = 0; i < c->n_trees; i++)
        free(c->trees[i].frames);
    free(c->trees);
    free(c->placed);
    free(c->children);
    free(c->events);
    free(c);
}

/* --- what is open where a piece begins --- */

/* Contexts from below the root to node, in stack->path. */
static bool find_path(const struct pm_run_trace_cursor *c, struct run_trace_stack *stack,
                      uint32_t node)
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

/* What the stack has and the tree has not, has ended. What the tree has and the stack has not
 * was entered before the trace, when something is missing before this piece; else it is of a
 * noun that is not traced. */
static bool agree(const struct pm_run_trace_cursor *c, struct run_trace_stack *stack, uint32_t node,
                  bool is_gap)
{
    stack->n_path = stack->path_at = 0;
    if (node == PM_RUN_TRACE_NONE || (!is_gap && run_trace_node(c, stack, stack->n - 1) == node))
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

static bool reserve_again(struct run_trace_stack *stack, size_t n)
{
    stack->n_again = stack->again_at = 0;
    if (n <= stack->again_cap)
        return true;
    struct run_trace_frame *again = pm_realloc_array(stack->again, n + n / 2, sizeof *again);
    if (!again)
        return false;
    stack->again = again;
    stack->again_cap = n + n / 2;
    return true;
}

static int compare_placed(const void *a, const void *b)
{
    const struct run_trace_placed *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static bool is_placed_before(const void *placed, const void *place)
{
    return ((const struct run_trace_placed *)placed)->place < *(const uint32_t *)place;
}

/* The context at a place in the file; PM_RUN_TRACE_NONE: there is none. False: memory. */
static bool find_placed(struct pm_run_trace_cursor *c, uint32_t place, uint32_t *ret_node)
{
    size_t n = c->thread->n_nodes;
    if (!c->placed) {
        c->placed = pm_alloc_array(n, sizeof *c->placed);
        if (!c->placed)
            return false;
        for (size_t i = 0; i < n; i++)
            c->placed[i] = (struct run_trace_placed){c->thread->nodes[i].place, (uint32_t)i};
        qsort(c->placed, n, sizeof *c->placed, compare_placed);
    }
    size_t at = pm_lower_bound(c->placed, n, sizeof *c->placed, &place, is_placed_before);
    *ret_node =
        at < n && place && c->placed[at].place == place ? c->placed[at].node : PM_RUN_TRACE_NONE;
    return true;
}

static struct run_trace_tree *tree_of(const struct pm_run_trace_cursor *c, uint32_t node)
{
    size_t low = 0, high = c->n_trees;
    while (c->thread->nodes[node].parent != PM_RUN_FILE_NO_PARENT)
        node = c->thread->nodes[node].parent;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->trees[middle].root < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->n_trees && c->trees[low].root == node ? &c->trees[low] : NULL;
}

/* The frames of the stack that is left. */
static bool keep_waiting(const struct pm_run_trace_cursor *c, struct run_trace_tree *tree,
                         struct run_trace_stack *stack)
{
    size_t n = stack->n - 1;
    (void)run_trace_node(c, stack, n); /* of all */
    if (n > tree->cap) {
        struct run_trace_frame *frames = pm_realloc_array(tree->frames, n + n / 2, sizeof *frames);
        if (!frames)
            return false;
        tree->frames = frames;
        tree->cap = n + n / 2;
    }
    if (n)
        memcpy(tree->frames, stack->frames + 1, n * sizeof *tree->frames);
    tree->n = n;
    tree->is_known = true;
    return true;
}

/* The thread goes on in another tree, or the trace does behind what is missing. What has waited
 * there has ended where the tree has it no more; what the tree has beside was entered where the
 * trace did not see it, when the frames are not known, else it is not traced. */
static bool go_to_tree(struct pm_run_trace_cursor *c, struct run_trace_tree *to, uint32_t node,
                       bool is_known)
{
    struct run_trace_stack *stack = &c->stacks[OWN];
    size_t n = 0, i = 0;
    stack->keep = 1;
    stack->frames[0].node = to->root;
    stack->frames[0].last_code = PM_RUN_TRACE_NONE;
    if (!find_path(c, stack, node) || !reserve_again(stack, to->n))
        return false;
    for (size_t k = 0; k < to->n; k++) {
        size_t at = i;
        while (at < stack->n_path && stack->path[at] != to->frames[k].node)
            at++;
        if (at == stack->n_path && to->frames[k].node != PM_RUN_TRACE_NONE)
            break;
        stack->again[n++] = to->frames[k];
        i = at < stack->n_path ? at + 1 : i;
    }
    stack->n_again = n;
    stack->path_at = is_known ? stack->n_path : i;
    return true;
}

static bool switch_to(struct pm_run_trace_cursor *c, uint32_t node, bool is_copied)
{
    struct run_trace_stack *stack = &c->stacks[OWN];
    struct run_trace_tree *to = tree_of(c, node), *from = tree_of(c, stack->frames[0].node);
    if (!to || to == from) /* said already, by a part that began just then */
        return true;
    if (from && !keep_waiting(c, from, stack))
        return false;
    stack->changing = PM_RUN_TRACE_SWITCHED;
    c->close_tsc = c->clock;
    c->close_is_cut = false;
    return go_to_tree(c, to, node, to->is_known && !is_copied);
}

/* The tree that the thread is in where a piece begins. */
static bool agree_on_tree(struct pm_run_trace_cursor *c, uint32_t node, bool is_gap)
{
    if (node == PM_RUN_TRACE_NONE)
        return agree(c, &c->stacks[OWN], node, is_gap);
    struct run_trace_tree *to = tree_of(c, node);
    for (size_t i = 0; i < c->n_trees && is_gap; i++) {
        c->trees[i].n = 0;
        c->trees[i].is_known = false;
    }
    if (!to || to->root == c->stacks[OWN].frames[0].node)
        return agree(c, &c->stacks[OWN], node, is_gap);
    return is_gap ? go_to_tree(c, to, node, false) : switch_to(c, node, false);
}

/* All of pieces fits, for the largest is known. */
static bool make_room(struct pm_run_trace_cursor *c)
{
    if (c->events)
        return true;
    size_t largest = 0;
    for (size_t i = 0; i < c->n_pieces; i++)
        if (c->pieces[i].n_places > largest)
            largest = c->pieces[i].n_places;
    c->events = pm_alloc_array(largest, sizeof *c->events);
    return c->events != NULL;
}

static enum pm_status next_piece(struct pm_run_trace_cursor *c, struct pm_error *err)
{
    const struct run_piece *piece = &c->pieces[c->piece];
    bool is_gap = c->piece == 0 || piece[-1].number + 1 != piece->number;
    size_t bytes = (size_t)piece->n_places * 8;
    if (!make_room(c))
        return cursor_no_memory(c, err);
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
    if (!agree_on_tree(c, piece->node, is_gap) ||
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

static uint32_t known_node(const struct run_trace_frame *frame)
{
    return frame->node == RUN_TRACE_LATER ? PM_RUN_TRACE_NONE : frame->node;
}

/* The leave of a frame that has ended. */
static void pop(struct pm_run_trace_cursor *c, int which, struct pm_run_trace_event *event)
{
    struct run_trace_stack *stack = &c->stacks[which];
    const struct run_trace_frame *frame = &stack->frames[--stack->n];
    bool is_cut = c->close_is_cut && stack->n != stack->n_exact;
    *event = (struct pm_run_trace_event){
        .is_leave = true,
        .flags = stack->changing,
        .noun = frame->noun,
        .node = known_node(frame),
        .depth = (uint32_t)stack->n - 1,
        .tsc = c->close_tsc,
        .enter_tsc = frame->tsc,
    };
    if (is_cut)
        event->flags |= PM_RUN_TRACE_CUT;
    if (which == FOREIGN)
        event->flags |= PM_RUN_TRACE_ON_FOREIGN;
    uint64_t away = which == FOREIGN ? 0 : away_until(c, c->close_tsc) - frame->away_tsc;
    event->spent_tsc = event->tsc > event->enter_tsc ? event->tsc - event->enter_tsc : 0;
    event->spent_tsc = event->spent_tsc > away ? event->spent_tsc - away : 0;
}

static bool enter(struct pm_run_trace_cursor *c, int which, const struct run_trace_frame *frame,
                  unsigned flags, struct pm_run_trace_event *event)
{
    struct run_trace_stack *stack = &c->stacks[which];
    *event = (struct pm_run_trace_event){
        .flags = flags | (which == FOREIGN ? (unsigned)PM_RUN_TRACE_ON_FOREIGN : 0u),
        .noun = frame->noun,
        .node = known_node(frame),
        .depth = (uint32_t)stack->n - 1,
        .tsc = frame->tsc,
    };
    return run_trace_push(stack, frame);
}

/* What is open without an event: contexts that the tree had where the piece began. */
static bool enter_path(struct pm_run_trace_cursor *c, int which, struct pm_run_trace_event *event)
{
    struct run_trace_stack *stack = &c->stacks[which];
    uint32_t node = stack->path[stack->path_at++];
    struct run_trace_frame frame = {.noun = c->thread->nodes[node].noun,
                                    .node = node,
                                    .last_code = PM_RUN_TRACE_NONE,
                                    .tsc = c->clock,
                                    .away_tsc = away_until(c, c->clock),
                                    .code = PM_RUN_TRACE_NONE};
    return enter(c, which, &frame, stack->changing ? stack->changing : PM_RUN_TRACE_CUT, event);
}

static bool is_set(const struct pm_run_trace_cursor *c, uint32_t noun)
{
    return noun != PM_RUN_TRACE_NONE && c->file->nouns[noun].kind == PM_RUN_AMBIENT_SET;
}

/* What is open goes on below another set. noun: the set's; PM_RUN_TRACE_NONE: below none. */
static bool move_stack(struct pm_run_trace_cursor *c, int which, uint32_t noun)
{
    struct run_trace_stack *stack = &c->stacks[which];
    if (!reserve_again(stack, stack->n + 1))
        return false;
    if (noun != PM_RUN_TRACE_NONE)
        stack->again[stack->n_again++] =
            (struct run_trace_frame){.code = PM_RUN_TRACE_NONE, .noun = noun};
    for (size_t i = 1; i < stack->n; i++)
        if (!is_set(c, stack->frames[i].noun))
            stack->again[stack->n_again++] = stack->frames[i];
    stack->keep = 1;
    stack->changing = PM_RUN_TRACE_MOVED;
    c->close_tsc = c->clock;
    c->close_is_cut = false;
    return true;
}

static bool enter_again(struct pm_run_trace_cursor *c, int which, struct pm_run_trace_event *event)
{
    struct run_trace_stack *stack = &c->stacks[which];
    struct run_trace_frame frame = stack->again[stack->again_at++];
    frame.last_code = PM_RUN_TRACE_NONE;
    frame.tsc = c->clock;
    frame.away_tsc = which == FOREIGN ? 0 : away_until(c, c->clock);
    if (stack->changing == PM_RUN_TRACE_SWITCHED)
        return enter(c, which, &frame, PM_RUN_TRACE_SWITCHED, event);
    frame.node = c->nodes_later ? RUN_TRACE_LATER
                                : find_child(c, stack->frames[stack->n - 1].node, frame.noun);
    bool is_call = is_set(c, frame.noun);
    return enter(c, which, &frame, is_call ? 0 : PM_RUN_TRACE_CUT | PM_RUN_TRACE_MOVED, event);
}

static uint32_t noun_of(const struct pm_run_trace_cursor *c, uint32_t code)
{
    uint32_t noun = run_trace_plain_noun(c->file, code);
    if (noun != PM_RUN_TRACE_NONE)
        return noun;
    return code != PM_RUN_TRACE_MANY && run_find_noun(c->file, code, &noun) ? noun
                                                                            : PM_RUN_TRACE_NONE;
}

static bool enter_noun(struct pm_run_trace_cursor *c, uint32_t code,
                       struct pm_run_trace_event *event)
{
    struct run_trace_frame *parent = &c->stacks[c->on].frames[c->stacks[c->on].n - 1];
    struct run_trace_frame frame = {.code = code,
                                    .last_code = PM_RUN_TRACE_NONE,
                                    .noun = noun_of(c, code),
                                    .tsc = c->clock,
                                    .away_tsc = c->away_tsc};
    if (!c->nodes_later && parent->last_code != code) {
        parent->last_node = find_child(c, parent->node, frame.noun);
        parent->last_code = code;
    }
    frame.node = c->nodes_later ? RUN_TRACE_LATER : parent->last_node;
    return enter(c, c->on, &frame, 0, event);
}

/* The youngest frame of this noun has ended, and all above it. An enter that was lost, or was
 * before the noun was traced, has no frame. */
static void leave_noun(struct pm_run_trace_cursor *c, uint32_t code)
{
    struct run_trace_stack *stack = &c->stacks[c->on];
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
    if (head == (PM_RUN_TRACE_LEAVE | PM_RUN_TRACE_MARK_TREE)) {
        uint32_t node;
        return find_placed(c, (uint32_t)raw, &node) &&
               (node == PM_RUN_TRACE_NONE || switch_to(c, node, raw & PM_RUN_TRACE_COPIED));
    }
    uint64_t ahead = (raw - c->clock) & mask;
    c->clock += ahead < half ? ahead : ahead - mask - 1;
    if (c->clock > c->last_tsc)
        c->last_tsc = c->clock;
    uint32_t noun = noun_of(c, code);
    int which = head & PM_RUN_TRACE_FOREIGN ? FOREIGN : OWN;
    if (is_set(c, noun)) /* of either stack, whichever the thread is on */
        return move_stack(c, which, raw >> 62 == 2 ? noun : PM_RUN_TRACE_NONE);
    change_stack(c, which);
    if (raw >> 62 == 2) {
        *ret_has_event = true;
        return enter_noun(c, code, event);
    }
    if (code == PM_RUN_TRACE_MARK_SWITCH)
        return true; /* where to is behind it */
    if (code == PM_RUN_TRACE_MARK_END)
        close_all(c, c->clock, false);
    else
        leave_noun(c, code);
    return true;
}

static bool is_timed(const struct pm_run_trace_cursor *c, uint32_t node)
{
    return c->thread->nodes[node].timing != PM_RUN_FILE_UNTIMED;
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
        struct run_trace_stack *stack = &c->stacks[i];
        stack->n_exact = 0;
        if (stack->again_at < stack->n_again)
            return enter_again(c, i, event);
        while (stack->path_at < stack->n_path)
            if (!stack->changing || is_timed(c, stack->path[stack->path_at]))
                return enter_path(c, i, event);
            else
                stack->path_at++;
        stack->changing = 0;
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
        } else if (c->piece == c->last_piece) {
            *ret_has_event = false;
            return PM_OK;
        } else if (c->piece < c->n_pieces) {
            if ((status = next_piece(c, err)) != PM_OK)
                return status;
        } else {
            finish(c);
        }
    }
}

void pm_run_trace_leave_out_nodes(struct pm_run_trace_cursor *c)
{
    c->nodes_later = true;
}

void pm_run_trace_stop_before(struct pm_run_trace_cursor *c, size_t n)
{
    c->last_piece = n;
}
