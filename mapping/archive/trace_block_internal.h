/* What writing (trace_block_write.c) and reading blocks (trace_block.c, trace_shares.c) share.
 * trace_read.c and trace_take_event() are the only ones that know the bytes of a block. */
#ifndef PM_TRACE_BLOCK_INTERNAL_H
#define PM_TRACE_BLOCK_INTERNAL_H

#include "trace_block.h"

enum {
    TRACE_OWN,
    TRACE_FOREIGN,
    TRACE_N_STACKS,
    TRACE_TAG_LEAVE = 0,
    TRACE_TAG_FLAGS = 1,
    TRACE_TAG_ENTER = 2,
    TRACE_FLAG_BACK = 4,
    TRACE_LARGEST_BLOCK = 64 << 20,
    TRACE_KEPT_FLAGS = PM_TRACE_CUT | PM_TRACE_FOREIGN | PM_TRACE_SWITCHED,
};

struct trace_frame {
    uint32_t sentence;
    unsigned flags;
    uint64_t ticks, away; /* when it was entered; ticks on foreign stacks up to then */
};

struct trace_stack {
    struct trace_frame *frames;
    size_t n, cap;
};

struct trace_bytes {
    unsigned char *p;
    size_t n, cap;
};

/* A block that is being written, or was and is to be packed. */
struct trace_writing {
    bool has_begun;
    uint64_t clock, away, left; /* where it begins */
    struct trace_bytes head, tags, times;
    uint32_t *slots; /* hash table of the dictionary: number + 1 */
    size_t n_slots;
    uint32_t *sentences; /* the dictionary */
    size_t n_sentences, sentences_cap;
    struct pm_trace_block_about about;
};

/* Where the reading of an unpacked block is. While the head is read, `tag` is behind what was. */
struct trace_cursor {
    const unsigned char *tag, *tags_end, *time, *end;
    uint64_t clock; /* of the latest event */
    size_t n_sentences;
};

struct pm_trace_block {
    struct trace_stack stacks[TRACE_N_STACKS];
    uint64_t clock, away,
        left;        /* left: 1 + when the thread went to foreign stacks; 0: it is not there */
    uint64_t latest; /* writing: the largest time so far */
    size_t n_below;  /* apart: frames that were open before and have ended */
    struct trace_writing writing;
    /* reading: the block unpacked */
    uint32_t *sentences; /* the dictionary */
    size_t sentences_cap;
    void *unpacker;
    unsigned char *bytes;
    size_t bytes_cap;
    struct trace_cursor cursor;
};

PM_MUST_CHECK bool trace_grow(void *array_pointer, size_t n, size_t *cap, size_t item_bytes);
/* Each call that begins comes here. */
static inline bool trace_push(struct trace_stack *stack, const struct trace_frame *frame)
{
    if (!trace_grow(&stack->frames, stack->n, &stack->cap, sizeof *frame))
        return false;
    stack->frames[stack->n++] = *frame;
    return true;
}

/* Unsigned LEB128. False: the bytes end, or it has more than 64 bits. */
static inline bool trace_take_number(const unsigned char **at, const unsigned char *end,
                                     uint64_t *ret_number)
{
    uint64_t number = 0;
    if (*at < end && **at < 0x80) { /* most have one byte */
        *ret_number = *(*at)++;
        return true;
    }
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

PM_MUST_CHECK enum pm_status trace_damaged(struct pm_error *err, const char *what);

/* --- trace_read.c: the head of a block, in this order; what is not sound is refused --- */
PM_MUST_CHECK enum pm_status trace_read_start(struct trace_cursor *cursor, const void *bytes,
                                              size_t len, struct pm_error *err, uint64_t *ret_away,
                                              uint64_t *ret_left);
/* So many sentences, then the row of each. */
PM_MUST_CHECK enum pm_status trace_read_n_sentences(struct trace_cursor *cursor,
                                                    struct pm_error *err);
PM_MUST_CHECK enum pm_status trace_read_sentence(struct trace_cursor *cursor, struct pm_error *err,
                                                 uint32_t *ret_row);
/* So many frames, then each. */
struct trace_open {
    size_t number; /* its sentence, in the dictionary */
    int stack;
    unsigned flags;
    uint64_t ticks, away;
};
PM_MUST_CHECK enum pm_status trace_read_n_frames(struct trace_cursor *cursor, struct pm_error *err,
                                                 uint64_t *ret_n);
PM_MUST_CHECK enum pm_status trace_read_frame(struct trace_cursor *cursor, struct pm_error *err,
                                              struct trace_open *ret_frame);
PM_MUST_CHECK enum pm_status trace_read_n_tags(struct trace_cursor *cursor, struct pm_error *err);

/* The next event, of which there has to be one; the cursor's clock is when. ret_tag:
 * TRACE_TAG_LEAVE, or TRACE_TAG_ENTER + its sentence's number. Each event of a trace that is read
 * comes here. */
static inline PM_MUST_CHECK enum pm_status trace_take_event(struct trace_cursor *c,
                                                            struct pm_error *err, uint64_t *ret_tag,
                                                            unsigned *ret_flags)
{
    uint64_t tag, flags = 0, time;
    bool good = trace_take_number(&c->tag, c->tags_end, &tag);
    if (good && tag == TRACE_TAG_FLAGS)
        good = trace_take_number(&c->tag, c->tags_end, &flags) &&
               trace_take_number(&c->tag, c->tags_end, &tag);
    if (!good || tag == TRACE_TAG_FLAGS ||
        (tag >= TRACE_TAG_ENTER && tag - TRACE_TAG_ENTER >= c->n_sentences))
        return trace_damaged(err, "an event cannot be");
    if (!trace_take_number(&c->time, c->end, &time))
        return trace_damaged(err, "fewer times than events");
    if (flags & TRACE_FLAG_BACK && time > c->clock)
        return trace_damaged(err, "a time is before the process's start");
    c->clock = flags & TRACE_FLAG_BACK ? c->clock - time : c->clock + time;
    *ret_tag = tag;
    *ret_flags = (unsigned)flags;
    return PM_OK;
}

/* To the stack of an event, at the block's time. */
void trace_change_stack(struct pm_trace_block *block, int to);
/* Time spent on foreign stacks up to now. */
uint64_t trace_away_now(const struct pm_trace_block *block);
void trace_writing_release(struct trace_writing *writing);

#endif
