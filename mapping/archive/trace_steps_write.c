/* Writing coarser steps of traces. */
#include "trace_steps.h"

#include <stdlib.h>
#include <zstd.h>

enum {
    LEAST_LEVEL = 1,
    MOST_STEPS_LOG2 = 3, /* a block has at most 8 steps, and more than 4 */
    PACK_LEVEL = 3,
    LARGEST_ROW = 64 << 20,
};

/* A step of a level that is being added up. */
struct sum {
    bool is_open, is_broken; /* broken: a block that it touches has coarser steps only */
    uint64_t number, first_block, last_block;
    struct pm_trace_share *shares; /* by rising sentence */
    uint32_t n_shares, shares_cap;
    bool has_closed; /* a step of this level */
};

/* What a row is to have. */
struct pending {
    struct pm_trace_piece pieces[PM_TRACE_PIECES_PER_ROW];
    uint32_t n_pieces;
    struct pm_trace_shares shares;
    uint64_t first, start_ns, end_ns;
};

struct pm_trace_steps_writer {
    struct pm_trace_clock clock;
    pm_trace_steps_put *put;
    void *context;
    uint64_t n_blocks;
    struct sum sums[PM_TRACE_MAX_LEVEL + 1];
    struct pending pending[PM_TRACE_MAX_LEVEL + 1]; /* 0: of blocks */
    uint64_t coarse_until[PM_TRACE_MAX_LEVEL + 1];  /* steps of blocks of a coarser level end */
    struct pm_trace_share *merged;
    uint32_t merged_cap;
    struct pm_buf bytes;
    unsigned char *packed;
    size_t packed_cap;
};

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory for steps of a trace");
}

unsigned pm_trace_level_of(const struct pm_trace_clock *clock, uint64_t ticks)
{
    const struct pm_trace_clock since_zero = {.tick_hz = clock->tick_hz};
    uint64_t ns = pm_trace_time_of(&since_zero, ticks);
    unsigned level = LEAST_LEVEL;
    while (level < PM_TRACE_MAX_LEVEL && ns >> level >= 1u << MOST_STEPS_LOG2)
        level++;
    return level;
}

/* --- begin and end --- */

struct pm_trace_steps_writer *pm_trace_steps_writer_new(const struct pm_trace_clock *clock,
                                                        pm_trace_steps_put *put, void *context)
{
    struct pm_trace_steps_writer *writer = pm_alloc(sizeof *writer);
    if (!writer)
        return NULL;
    writer->clock = *clock;
    writer->put = put;
    writer->context = context;
    writer->bytes = (struct pm_buf)PM_BUF_INIT(LARGEST_ROW);
    return writer;
}

void pm_trace_steps_writer_free(struct pm_trace_steps_writer *writer)
{
    if (!writer)
        return;
    for (unsigned i = 0; i <= PM_TRACE_MAX_LEVEL; i++) {
        free(writer->sums[i].shares);
        pm_trace_shares_release(&writer->pending[i].shares);
    }
    free(writer->merged);
    free(writer->packed);
    pm_buf_release(&writer->bytes);
    free(writer);
}

/* --- rows --- */

static int compare_rows(const void *a_pointer, const void *b_pointer)
{
    uint32_t a = *(const uint32_t *)a_pointer, b = *(const uint32_t *)b_pointer;
    return (a > b) - (a < b);
}

/* All sentences of a row, each once, rising. */
static uint32_t *list_sentences(const struct pm_trace_shares *shares, uint32_t *ret_n)
{
    uint32_t n = 0, *list = pm_alloc_array((size_t)shares->n_shares + 1, sizeof *list);
    if (!list)
        return NULL;
    for (uint32_t i = 0; i < shares->n_shares; i++)
        list[i] = shares->shares[i].sentence;
    qsort(list, shares->n_shares, sizeof *list, compare_rows);
    for (uint32_t i = 0; i < shares->n_shares; i++)
        if (i == 0 || list[i] != list[i - 1])
            list[n++] = list[i];
    *ret_n = n;
    return list;
}

static bool comes_before(const void *item, const void *key)
{
    return *(const uint32_t *)item < *(const uint32_t *)key;
}

static void add_step(struct pm_buf *out, const struct pm_trace_shares *shares, uint32_t step,
                     const uint32_t *sentences, uint32_t n_sentences)
{
    const struct pm_trace_step *s = &shares->steps[step];
    uint64_t before = 0;
    pm_buf_add_uleb(out, s->n);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct pm_trace_share *share = &shares->shares[s->first + i];
        size_t at = pm_lower_bound(sentences, n_sentences, sizeof *sentences, &share->sentence,
                                   comes_before);
        pm_buf_add_uleb(out, at - before);
        pm_buf_add_uleb(out, share->ticks);
        before = at;
    }
}

static void add_pieces(struct pm_buf *out, const struct pending *p, const uint32_t *sentences,
                       uint32_t n_sentences)
{
    uint64_t end = 0;
    uint32_t step = 0;
    pm_buf_add_uleb(out, p->n_pieces);
    for (uint32_t i = 0; i < p->n_pieces; i++) {
        const struct pm_trace_piece *piece = &p->pieces[i];
        uint64_t number = 0;
        pm_buf_add_uleb(out, piece->level);
        pm_buf_add_uleb(out, piece->begin_ticks - end);
        pm_buf_add_uleb(out, piece->end_ticks - piece->begin_ticks);
        pm_buf_add_uleb(out, piece->n_events);
        pm_buf_add_uleb(out, piece->n_steps);
        end = piece->end_ticks;
        for (uint32_t k = 0; k < piece->n_steps; k++, step++) {
            pm_buf_add_uleb(out, p->shares.steps[step].number - number);
            number = p->shares.steps[step].number;
            add_step(out, &p->shares, step, sentences, n_sentences);
        }
    }
}

static bool make_bytes(struct pm_buf *out, const struct pending *p)
{
    uint32_t n = 0, before = 0, *sentences = list_sentences(&p->shares, &n);
    if (!sentences)
        return false;
    pm_buf_clear(out);
    pm_buf_add_uleb(out, n);
    for (uint32_t i = 0; i < n; i++) {
        pm_buf_add_uleb(out, sentences[i] - before);
        before = sentences[i];
    }
    add_pieces(out, p, sentences, n);
    free(sentences);
    return !out->failed;
}

static enum pm_status pack(struct pm_trace_steps_writer *w, struct pm_error *err, size_t *ret_len)
{
    size_t room = ZSTD_compressBound(w->bytes.len) + 4;
    if (room > w->packed_cap) {
        unsigned char *packed = pm_realloc_array(w->packed, room, 1);
        if (!packed)
            return no_memory(err);
        w->packed = packed;
        w->packed_cap = room;
    }
    for (int i = 0; i < 4; i++)
        w->packed[i] = (unsigned char)(w->bytes.len >> 8 * i);
    size_t n =
        ZSTD_compress(w->packed + 4, w->packed_cap - 4, w->bytes.data, w->bytes.len, PACK_LEVEL);
    if (ZSTD_isError(n))
        return pm_error_set(err, PM_ERR_MEMORY, "cannot pack steps of a trace: %s",
                            ZSTD_getErrorName(n));
    *ret_len = n + 4;
    return PM_OK;
}

static enum pm_status put_row(struct pm_trace_steps_writer *w, unsigned level, struct pm_error *err)
{
    struct pending *p = &w->pending[level];
    size_t len = 0;
    if (p->n_pieces == 0)
        return PM_OK;
    if (!make_bytes(&w->bytes, p))
        return no_memory(err);
    enum pm_status status = pack(w, err, &len);
    if (status != PM_OK)
        return status;
    p->n_pieces = 0;
    pm_trace_shares_clear(&p->shares);
    return w->put(w->context, level, p->first, p->start_ns, p->end_ns, w->packed, len, err);
}

static bool append(struct pm_trace_shares *to, uint64_t number, const struct pm_trace_share *shares,
                   uint32_t n)
{
    if (!pm_trace_shares_add_step(to, number))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!pm_trace_shares_add(to, shares[i].sentence, shares[i].ticks))
            return false;
    return true;
}

/* --- steps of several blocks --- */

/* When a step begins; INT64_MAX beyond what has a time. */
static uint64_t begin_of(unsigned level, uint64_t number)
{
    return number > (uint64_t)INT64_MAX >> level ? INT64_MAX : number << level;
}

static enum pm_status put_sum(struct pm_trace_steps_writer *w, unsigned level, struct pm_error *err)
{
    const struct sum *sum = &w->sums[level];
    struct pending *p = &w->pending[level];
    if (p->n_pieces && p->pieces[0].n_steps == PM_TRACE_STEPS_PER_ROW) {
        enum pm_status status = put_row(w, level, err);
        if (status != PM_OK)
            return status;
    }
    if (p->n_pieces == 0) {
        p->n_pieces = 1;
        p->pieces[0] = (struct pm_trace_piece){.level = level};
        p->first = sum->number;
        p->start_ns = begin_of(level, sum->number);
    }
    p->end_ns = begin_of(level, sum->number + 1);
    p->pieces[0].n_steps++;
    return append(&p->shares, sum->number, sum->shares, sum->n_shares) ? PM_OK : no_memory(err);
}

/* shares are added to the sum: two lists of rising sentences become one. */
static bool merge(struct pm_trace_steps_writer *w, struct sum *sum,
                  const struct pm_trace_share *shares, uint32_t n)
{
    uint32_t a = 0, b = 0, k = 0;
    if (sum->n_shares + n > w->merged_cap) {
        uint32_t cap = (sum->n_shares + n) * 2;
        struct pm_trace_share *merged = pm_realloc_array(w->merged, cap, sizeof *merged);
        if (!merged)
            return false;
        w->merged = merged;
        w->merged_cap = cap;
    }
    while (a < sum->n_shares || b < n) {
        bool takes_a =
            b == n || (a < sum->n_shares && sum->shares[a].sentence <= shares[b].sentence);
        struct pm_trace_share share = takes_a ? sum->shares[a++] : shares[b++];
        if (k && w->merged[k - 1].sentence == share.sentence)
            w->merged[k - 1].ticks += share.ticks;
        else
            w->merged[k++] = share;
    }
    struct pm_trace_share *old = sum->shares;
    uint32_t old_cap = sum->shares_cap;
    sum->shares = w->merged;
    sum->shares_cap = w->merged_cap;
    sum->n_shares = k;
    w->merged = old;
    w->merged_cap = old_cap;
    return true;
}

static enum pm_status add_to_level(struct pm_trace_steps_writer *w, unsigned level,
                                   const struct sum *what, struct pm_error *err);

/* The step of a level is complete: it is written, and counts for the one around it. at_end: the
 * level at which all is one step is the last one. */
static enum pm_status close_step(struct pm_trace_steps_writer *w, unsigned level, bool at_end,
                                 struct pm_error *err)
{
    struct sum *sum = &w->sums[level];
    enum pm_status status = PM_OK;
    if (!sum->is_open)
        return PM_OK;
    bool is_last = (at_end && !sum->has_closed) || level == PM_TRACE_MAX_LEVEL;
    sum->is_open = false;
    sum->has_closed = true;
    if (sum->first_block != sum->last_block && !sum->is_broken)
        status = put_sum(w, level, err);
    if (status != PM_OK || is_last)
        return status;
    return add_to_level(w, level + 1, sum, err);
}

static enum pm_status add_to_level(struct pm_trace_steps_writer *w, unsigned level,
                                   const struct sum *what, struct pm_error *err)
{
    struct sum *sum = &w->sums[level];
    if (sum->is_open && sum->number != what->number >> 1) {
        enum pm_status status = close_step(w, level, false, err);
        if (status != PM_OK)
            return status;
    }
    if (!sum->is_open) {
        sum->is_open = true;
        sum->number = what->number >> 1;
        sum->first_block = what->first_block;
        sum->n_shares = 0;
        sum->is_broken = begin_of(level, sum->number) < w->coarse_until[level];
    }
    sum->last_block = what->last_block;
    return merge(w, sum, what->shares, what->n_shares) ? PM_OK : no_memory(err);
}

/* Steps of finer levels that are open touch this block, and so do those that will be where it ends;
 * the block does not know its part of them. */
static enum pm_status break_finer(struct pm_trace_steps_writer *w,
                                  const struct pm_trace_piece *piece, struct pm_error *err)
{
    uint64_t end_ns = pm_trace_time_of(&w->clock, piece->end_ticks);
    for (unsigned level = LEAST_LEVEL; level < piece->level; level++) {
        uint64_t begin = pm_trace_time_of(&w->clock, piece->begin_ticks) >> level;
        if (w->sums[level].is_open && w->sums[level].number == begin)
            w->sums[level].is_broken = true;
        enum pm_status status = close_step(w, level, false, err);
        if (status != PM_OK)
            return status;
        w->coarse_until[level] = end_ns + 1;
    }
    return PM_OK;
}

static enum pm_status add_steps(struct pm_trace_steps_writer *w, const struct pm_trace_piece *piece,
                                const struct pm_trace_shares *shares, struct pm_error *err)
{
    enum pm_status status = break_finer(w, piece, err);
    if (status != PM_OK)
        return status;
    for (uint32_t i = 0; i < shares->n_steps; i++) {
        const struct pm_trace_step *step = &shares->steps[i];
        /* one that is half of it, so to speak: add_to_level halves numbers */
        const struct sum what = {.number = step->number << 1,
                                 .first_block = w->n_blocks,
                                 .last_block = w->n_blocks,
                                 .shares = shares->shares + step->first,
                                 .n_shares = step->n};
        status = add_to_level(w, piece->level, &what, err);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* --- blocks --- */

static enum pm_status add_piece(struct pm_trace_steps_writer *w, const struct pm_trace_piece *piece,
                                const struct pm_trace_shares *shares, struct pm_error *err)
{
    struct pending *p = &w->pending[PM_TRACE_OF_BLOCKS];
    enum pm_status status = PM_OK;
    if (p->n_pieces == PM_TRACE_PIECES_PER_ROW)
        status = put_row(w, PM_TRACE_OF_BLOCKS, err);
    if (status != PM_OK)
        return status;
    if (p->n_pieces == 0) {
        p->first = w->n_blocks;
        p->start_ns = pm_trace_time_of(&w->clock, piece->begin_ticks);
    }
    p->end_ns = pm_trace_time_of(&w->clock, piece->end_ticks);
    p->pieces[p->n_pieces] = *piece;
    p->pieces[p->n_pieces++].n_steps = shares->n_steps;
    for (uint32_t i = 0; i < shares->n_steps; i++)
        if (!append(&p->shares, shares->steps[i].number, shares->shares + shares->steps[i].first,
                    shares->steps[i].n))
            return no_memory(err);
    return PM_OK;
}

enum pm_status pm_trace_steps_add(struct pm_trace_steps_writer *w,
                                  const struct pm_trace_piece *piece,
                                  const struct pm_trace_shares *shares, struct pm_error *err)
{
    PM_ASSERT(piece->level >= LEAST_LEVEL && piece->level <= PM_TRACE_MAX_LEVEL);
    enum pm_status status = add_piece(w, piece, shares, err);
    if (status != PM_OK)
        return status;
    status = add_steps(w, piece, shares, err);
    w->n_blocks++;
    return status;
}

enum pm_status pm_trace_steps_end(struct pm_trace_steps_writer *w, struct pm_error *err)
{
    enum pm_status status;
    if (w->n_blocks < 2)
        return PM_OK;
    for (unsigned level = LEAST_LEVEL; level <= PM_TRACE_MAX_LEVEL; level++) {
        status = close_step(w, level, true, err);
        if (status != PM_OK)
            return status;
    }
    for (unsigned level = 0; level <= PM_TRACE_MAX_LEVEL; level++) {
        status = put_row(w, level, err);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}
