#include "trace_block.h"

#include <stdlib.h>
#include <zlib.h>

enum {
    OWN,
    FOREIGN,
    N_STACKS,
    TAG_LEAVE = 0,
    TAG_FLAGS = 1,
    TAG_ENTER = 2,
    FLAG_BACK = 4,
    LARGEST_BLOCK = 64 << 20,
    KEPT_FLAGS = PM_TRACE_CUT | PM_TRACE_FOREIGN | PM_TRACE_SWITCHED,
};

struct frame {
    uint32_t sentence;
    unsigned flags;
    uint64_t ticks, away; /* when it was entered; ticks on foreign stacks up to then */
};

struct stack {
    struct frame *frames;
    size_t n, cap;
};

struct pm_trace_block {
    struct stack stacks[N_STACKS];
    uint64_t clock, away,
        left;            /* left: 1 + when the thread went to foreign stacks; 0: it is not there */
    uint32_t *sentences; /* the dictionary */
    size_t n_sentences, sentences_cap;
    /* writing */
    struct pm_buf head, tags, times, out;
    uint32_t *slots; /* hash table of sentences: number + 1 */
    size_t n_slots;
    uint32_t n_events, n_open;
    bool begun;
    /* reading: the inflated block */
    unsigned char *bytes;
    size_t bytes_cap;
    const unsigned char *tag, *tags_end, *time, *end;
};

struct pm_trace_block *pm_trace_block_new(void)
{
    struct pm_trace_block *block = pm_alloc(sizeof *block);
    if (!block)
        return NULL;
    block->head = (struct pm_buf)PM_BUF_INIT(LARGEST_BLOCK);
    block->tags = (struct pm_buf)PM_BUF_INIT(LARGEST_BLOCK);
    block->times = (struct pm_buf)PM_BUF_INIT(LARGEST_BLOCK);
    block->out = (struct pm_buf)PM_BUF_INIT(2 * LARGEST_BLOCK);
    return block;
}

void pm_trace_block_free(struct pm_trace_block *block)
{
    if (!block)
        return;
    for (int i = 0; i < N_STACKS; i++)
        free(block->stacks[i].frames);
    free(block->sentences);
    free(block->slots);
    pm_buf_release(&block->head);
    pm_buf_release(&block->tags);
    pm_buf_release(&block->times);
    pm_buf_release(&block->out);
    free(block->bytes);
    free(block);
}

static bool grow(void *array_pointer, size_t n, size_t *cap, size_t item_bytes)
{
    void **array = array_pointer;
    if (n < *cap)
        return true;
    size_t larger = *cap ? *cap * 2 : 64;
    void *items = pm_realloc_array(*array, larger, item_bytes);
    if (!items)
        return false;
    *array = items;
    *cap = larger;
    return true;
}

static bool push(struct stack *stack, const struct frame *frame)
{
    if (!grow(&stack->frames, stack->n, &stack->cap, sizeof *frame))
        return false;
    stack->frames[stack->n++] = *frame;
    return true;
}

/* Time spent on foreign stacks up to now. */
static uint64_t away_now(const struct pm_trace_block *block)
{
    return block->away +
           (block->left && block->clock >= block->left ? block->clock - (block->left - 1) : 0);
}

static void change_stack(struct pm_trace_block *block, int to)
{
    if ((to == FOREIGN) == (block->left != 0))
        return;
    if (to == OWN)
        block->away = away_now(block);
    block->left = to == OWN ? 0 : block->clock + 1;
}

/* --- writing --- */

static uint32_t *slot_of(const struct pm_trace_block *block, uint32_t sentence)
{
    size_t mask = block->n_slots - 1, at = (sentence * 0x9e3779b1u >> 7) & mask;
    while (block->slots[at] && block->sentences[block->slots[at] - 1] != sentence)
        at = (at + 1) & mask;
    return &block->slots[at];
}

/* A table of twice the size, at most half full. */
static bool grow_slots(struct pm_trace_block *block)
{
    size_t n = block->n_slots ? block->n_slots * 2 : 256;
    uint32_t *slots = pm_alloc_array(n, sizeof *slots);
    if (!slots)
        return false;
    free(block->slots);
    block->slots = slots;
    block->n_slots = n;
    for (size_t i = 0; i < block->n_sentences; i++)
        *slot_of(block, block->sentences[i]) = (uint32_t)i + 1;
    return true;
}

static bool number_of(struct pm_trace_block *block, uint32_t sentence, uint32_t *ret_number)
{
    if (block->n_sentences * 2 >= block->n_slots && !grow_slots(block))
        return false;
    uint32_t *slot = slot_of(block, sentence);
    if (*slot == 0) {
        if (!grow(&block->sentences, block->n_sentences, &block->sentences_cap,
                  sizeof *block->sentences))
            return false;
        block->sentences[block->n_sentences++] = sentence;
        *slot = (uint32_t)block->n_sentences;
    }
    *ret_number = *slot - 1;
    return true;
}

/* The clock and the frames, but for the dictionary, which is not complete yet. */
static bool begin(struct pm_trace_block *block)
{
    pm_buf_clear(&block->head);
    pm_buf_clear(&block->tags);
    pm_buf_clear(&block->times);
    if (block->slots)
        memset(block->slots, 0, block->n_slots * sizeof *block->slots);
    block->n_sentences = 0;
    block->n_events = 0;
    block->begun = true;
    block->n_open = (uint32_t)(block->stacks[OWN].n + block->stacks[FOREIGN].n);
    pm_buf_add_uleb(&block->head, block->n_open);
    for (unsigned i = 0; i < N_STACKS; i++)
        for (size_t k = 0; k < block->stacks[i].n; k++) {
            const struct frame *frame = &block->stacks[i].frames[k];
            uint32_t number;
            if (!number_of(block, frame->sentence, &number))
                return false;
            pm_buf_add_uleb(&block->head,
                            (uint64_t)number << 2 | i << 1 | (frame->flags & PM_TRACE_CUT));
            pm_buf_add_uleb(&block->head, frame->ticks);
            pm_buf_add_uleb(&block->head, frame->away);
        }
    pm_buf_clear(&block->out);
    pm_buf_add_uleb(&block->out, block->clock);
    pm_buf_add_uleb(&block->out, block->away);
    pm_buf_add_uleb(&block->out, block->left);
    return true;
}

bool pm_trace_block_add(struct pm_trace_block *block, const struct pm_trace_tick *event)
{
    if (!block->begun && !begin(block))
        return false;
    bool is_back = event->ticks < block->clock;
    unsigned flags = (event->flags & KEPT_FLAGS) | (is_back ? FLAG_BACK : 0);
    if (flags) {
        pm_buf_add_byte(&block->tags, TAG_FLAGS);
        pm_buf_add_byte(&block->tags, (unsigned char)flags);
    }
    pm_buf_add_uleb(&block->times,
                    is_back ? block->clock - event->ticks : event->ticks - block->clock);
    block->clock = event->ticks;
    block->n_events++;
    int which = event->flags & PM_TRACE_FOREIGN ? FOREIGN : OWN;
    change_stack(block, which);
    if (event->is_leave) {
        pm_buf_add_byte(&block->tags, TAG_LEAVE);
        PM_ASSERT(block->stacks[which].n > 0);
        block->stacks[which].n--;
        return !block->tags.failed && !block->times.failed;
    }
    uint32_t number;
    struct frame frame = {event->sentence, event->flags, event->ticks, away_now(block)};
    if (!number_of(block, event->sentence, &number) || !push(&block->stacks[which], &frame))
        return false;
    pm_buf_add_uleb(&block->tags, (uint64_t)number + TAG_ENTER);
    return !block->tags.failed && !block->times.failed;
}

uint32_t pm_trace_block_n_events(const struct pm_trace_block *block)
{
    return block->begun ? block->n_events : 0;
}

uint32_t pm_trace_block_n_open(const struct pm_trace_block *block)
{
    return block->n_open;
}

enum pm_status pm_trace_block_end(struct pm_trace_block *block, struct pm_error *err,
                                  const void **ret_data, size_t *ret_len)
{
    if (!block->begun && !begin(block))
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    pm_buf_add_uleb(&block->out, block->n_sentences);
    for (size_t i = 0; i < block->n_sentences; i++)
        pm_buf_add_uleb(&block->out, block->sentences[i]);
    pm_buf_add(&block->out, block->head.data, block->head.len);
    pm_buf_add_uleb(&block->out, block->tags.len);
    pm_buf_add(&block->out, block->tags.data ? block->tags.data : "", block->tags.len);
    pm_buf_add(&block->out, block->times.data ? block->times.data : "", block->times.len);
    uLong bound = compressBound(block->out.len);
    if (block->bytes_cap < bound + 4) {
        free(block->bytes);
        block->bytes = pm_alloc_array(bound + 4, 1);
        block->bytes_cap = block->bytes ? bound + 4 : 0;
    }
    if (block->out.failed || block->head.failed || !block->bytes)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    for (int i = 0; i < 4; i++)
        block->bytes[i] = (unsigned char)(block->out.len >> 8 * i);
    int result = compress2(block->bytes + 4, &bound, (const Bytef *)block->out.data, block->out.len,
                           Z_BEST_SPEED);
    if (result != Z_OK)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    block->begun = false;
    *ret_data = block->bytes;
    *ret_len = bound + 4;
    return PM_OK;
}

/* --- reading --- */

static enum pm_status damaged(struct pm_error *err, const char *what)
{
    return pm_error_set(err, PM_ERR_FORMAT, "block of a trace: %s", what);
}

static bool take_number(const unsigned char **at, const unsigned char *end, uint64_t *ret_number)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        unsigned char byte = *(*at)++;
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *ret_number = number;
            return true;
        }
    }
    return false;
}

static enum pm_status inflate_block(struct pm_trace_block *block, const unsigned char *data,
                                    size_t len, struct pm_error *err)
{
    if (len < 4)
        return damaged(err, "it is cut");
    uLongf n = data[0] | (uLongf)data[1] << 8 | (uLongf)data[2] << 16 | (uLongf)data[3] << 24;
    if (n == 0 || n > LARGEST_BLOCK)
        return damaged(err, "its length cannot be");
    if (block->bytes_cap < n) {
        free(block->bytes);
        block->bytes = pm_alloc_array(n, 1);
        block->bytes_cap = block->bytes ? n : 0;
        if (!block->bytes)
            return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    uLongf got = n;
    int result = uncompress(block->bytes, &got, data + 4, len - 4);
    if (result == Z_MEM_ERROR)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (result != Z_OK || got != n)
        return damaged(err, "it cannot be inflated");
    block->tag = block->bytes;
    block->end = block->bytes + n;
    return PM_OK;
}

static enum pm_status read_dictionary(struct pm_trace_block *block, const unsigned char **at,
                                      struct pm_error *err)
{
    uint64_t n, row;
    if (!take_number(at, block->end, &n) || n > (uint64_t)(block->end - *at))
        return damaged(err, "more sentences than fit");
    block->n_sentences = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (!take_number(at, block->end, &row) || row == 0 || row > UINT32_MAX)
            return damaged(err, "a sentence's row cannot be");
        if (!grow(&block->sentences, block->n_sentences, &block->sentences_cap,
                  sizeof *block->sentences))
            return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
        block->sentences[block->n_sentences++] = (uint32_t)row;
    }
    return PM_OK;
}

static enum pm_status read_frames(struct pm_trace_block *block, const unsigned char **at,
                                  struct pm_error *err)
{
    uint64_t n, word;
    if (!take_number(at, block->end, &n) || n > (uint64_t)(block->end - *at))
        return damaged(err, "more open frames than fit");
    block->stacks[OWN].n = block->stacks[FOREIGN].n = 0;
    for (uint64_t i = 0; i < n; i++) {
        struct frame frame;
        if (!take_number(at, block->end, &word) || !take_number(at, block->end, &frame.ticks) ||
            !take_number(at, block->end, &frame.away) || word >> 2 >= block->n_sentences)
            return damaged(err, "an open frame cannot be");
        frame.sentence = block->sentences[word >> 2];
        frame.flags = word & 3;
        if (!push(&block->stacks[word >> 1 & 1], &frame))
            return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    return PM_OK;
}

enum pm_status pm_trace_block_read(struct pm_trace_block *block, const void *data, size_t len,
                                   struct pm_error *err)
{
    uint64_t n_tags = 0;
    enum pm_status status = inflate_block(block, data, len, err);
    const unsigned char *at = block->bytes;
    if (status == PM_OK && (!take_number(&at, block->end, &block->clock) ||
                            !take_number(&at, block->end, &block->away) ||
                            !take_number(&at, block->end, &block->left)))
        status = damaged(err, "it is cut");
    if (status == PM_OK)
        status = read_dictionary(block, &at, err);
    if (status == PM_OK)
        status = read_frames(block, &at, err);
    if (status == PM_OK &&
        (!take_number(&at, block->end, &n_tags) || n_tags > (uint64_t)(block->end - at)))
        status = damaged(err, "more tags than fit");
    if (status != PM_OK) {
        block->tag = block->tags_end = NULL;
        return status;
    }
    block->tag = at;
    block->tags_end = block->time = at + n_tags;
    return PM_OK;
}

bool pm_trace_block_peek(const struct pm_trace_block *block, uint64_t *ret_ticks)
{
    const unsigned char *tag = block->tag, *at = block->time;
    uint64_t word, flags = 0, time;
    if (tag >= block->tags_end || !take_number(&tag, block->tags_end, &word) ||
        (word == TAG_FLAGS && !take_number(&tag, block->tags_end, &flags)) ||
        !take_number(&at, block->end, &time))
        return false;
    *ret_ticks = flags & FLAG_BACK ? block->clock - time : block->clock + time;
    return true;
}

static enum pm_status leave(struct pm_trace_block *block, int which, struct pm_error *err,
                            struct pm_trace_tick *event)
{
    struct stack *stack = &block->stacks[which];
    if (stack->n == 0)
        return damaged(err, "a leave has no enter");
    const struct frame *frame = &stack->frames[--stack->n];
    uint64_t away = which == OWN ? away_now(block) - frame->away : 0;
    event->is_leave = true;
    event->sentence = frame->sentence;
    event->enter_ticks = frame->ticks;
    event->spent_ticks = event->ticks > frame->ticks ? event->ticks - frame->ticks : 0;
    event->spent_ticks = event->spent_ticks > away ? event->spent_ticks - away : 0;
    return PM_OK;
}

enum pm_status pm_trace_block_next(struct pm_trace_block *block, struct pm_error *err,
                                   struct pm_trace_tick *ret_event, bool *ret_has_event)
{
    uint64_t tag, flags = 0, time;
    *ret_has_event = block->tag < block->tags_end;
    if (!*ret_has_event)
        return PM_OK;
    bool good = take_number(&block->tag, block->tags_end, &tag);
    if (good && tag == TAG_FLAGS)
        good = take_number(&block->tag, block->tags_end, &flags) &&
               take_number(&block->tag, block->tags_end, &tag);
    if (!good || tag == TAG_FLAGS || (tag >= TAG_ENTER && tag - TAG_ENTER >= block->n_sentences))
        return damaged(err, "an event cannot be");
    if (!take_number(&block->time, block->end, &time))
        return damaged(err, "fewer times than events");
    if (flags & FLAG_BACK && time > block->clock)
        return damaged(err, "a time is before the process's start");
    block->clock = flags & FLAG_BACK ? block->clock - time : block->clock + time;
    int which = flags & PM_TRACE_FOREIGN ? FOREIGN : OWN;
    change_stack(block, which);
    struct stack *stack = &block->stacks[which];
    *ret_event = (struct pm_trace_tick){.flags = flags & KEPT_FLAGS, .ticks = block->clock};
    if (tag == TAG_LEAVE) {
        enum pm_status status = leave(block, which, err, ret_event);
        ret_event->depth = (uint32_t)stack->n;
        return status;
    }
    ret_event->sentence = block->sentences[tag - TAG_ENTER];
    ret_event->depth = (uint32_t)stack->n;
    struct frame frame = {ret_event->sentence, ret_event->flags, block->clock, away_now(block)};
    return push(stack, &frame) ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

bool pm_trace_block_open_frame(const struct pm_trace_block *block, size_t i,
                               struct pm_trace_tick *ret_enter)
{
    int which = i < block->stacks[OWN].n ? OWN : FOREIGN;
    size_t at = which == OWN ? i : i - block->stacks[OWN].n;
    if (at >= block->stacks[which].n)
        return false;
    const struct frame *frame = &block->stacks[which].frames[at];
    *ret_enter =
        (struct pm_trace_tick){.flags = (frame->flags & (PM_TRACE_CUT | PM_TRACE_SWITCHED)) |
                                        (which == FOREIGN ? (unsigned)PM_TRACE_FOREIGN : 0u),
                               .sentence = frame->sentence,
                               .depth = (uint32_t)at,
                               .ticks = frame->ticks};
    return true;
}
