#include "trace_shares.h"

#include "trace_block_internal.h"

#include <stdlib.h>

enum { NOBODY = -1 };

uint64_t pm_trace_tick_at(const struct pm_trace_clock *clock, uint64_t ns)
{
    if (ns <= clock->start_ns)
        return 0;
    unsigned __int128 ticks = (unsigned __int128)(ns - clock->start_ns) * clock->tick_hz;
    ticks = (ticks + 999999999u) / 1000000000u;
    return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

static uint64_t to_ns(const struct pm_trace_clock *clock, uint64_t ticks)
{
    uint64_t s = ticks / clock->tick_hz, rest = ticks % clock->tick_hz;
    if (rest <= UINT64_MAX / 1000000000u && s < INT64_MAX / 1000000000u) /* 64 bits will do */
        return s * 1000000000u + rest * 1000000000u / clock->tick_hz;
    unsigned __int128 ns = (unsigned __int128)ticks * 1000000000u / clock->tick_hz;
    return ns > INT64_MAX ? INT64_MAX : (uint64_t)ns;
}

uint64_t pm_trace_time_of(const struct pm_trace_clock *clock, uint64_t ticks)
{
    uint64_t ns = to_ns(clock, ticks);
    if (clock->start_ns > INT64_MAX || ns > INT64_MAX - clock->start_ns)
        return INT64_MAX;
    return clock->start_ns + ns;
}

/* --- lists --- */

void pm_trace_shares_clear(struct pm_trace_shares *shares)
{
    shares->n_steps = shares->n_shares = 0;
}

void pm_trace_shares_release(struct pm_trace_shares *shares)
{
    free(shares->steps);
    free(shares->shares);
    free(shares->ticks_of);
    free(shares->touched);
    free(shares->open[0]);
    free(shares->open[1]);
    free(shares->sentences);
    *shares = (struct pm_trace_shares){0};
}

bool pm_trace_shares_add_step(struct pm_trace_shares *shares, uint64_t number)
{
    struct pm_trace_step *steps =
        pm_grow_array(shares->steps, shares->n_steps, &shares->steps_cap, 16, sizeof *steps);
    if (!steps)
        return false;
    shares->steps = steps;
    steps[shares->n_steps++] = (struct pm_trace_step){number, shares->n_shares, 0};
    return true;
}

bool pm_trace_shares_add(struct pm_trace_shares *shares, uint32_t sentence, uint64_t ticks)
{
    struct pm_trace_step *step = &shares->steps[shares->n_steps - 1];
    struct pm_trace_share *latest = shares->shares + shares->n_shares;
    if (step->n && latest[-1].sentence == sentence) { /* blocks that list it twice are damaged */
        latest[-1].ticks += ticks;
        return true;
    }
    struct pm_trace_share *list =
        pm_grow_array(shares->shares, shares->n_shares, &shares->shares_cap, 256, sizeof *list);
    if (!list)
        return false;
    shares->shares = list;
    list[shares->n_shares++] = (struct pm_trace_share){sentence, ticks};
    step->n++;
    return true;
}

/* --- a block --- */

struct walk {
    const struct pm_trace_stretch *stretch;
    struct pm_trace_shares *shares;
    struct trace_cursor cursor;
    uint32_t n_open[2], n_touched;
    bool is_away;    /* on foreign stacks */
    uint64_t latest; /* up to here time was given to somebody */
    uint64_t step, step_end_ticks;
    int64_t innermost; /* its number; NOBODY */
};

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory for shares of a trace");
}

/* Room for n numbers. */
static bool room(uint32_t **array, uint32_t *cap, uint64_t n)
{
    if (n <= *cap)
        return true;
    uint32_t *larger = pm_realloc_array(*array, n + n / 2, sizeof **array);
    if (!larger)
        return false;
    *array = larger;
    *cap = (uint32_t)(n + n / 2);
    return true;
}

static bool room_for_sentences(struct pm_trace_shares *shares, uint64_t n)
{
    if (shares->ticks_of && n <= shares->sentences_cap)
        return true;
    free(shares->ticks_of);
    free(shares->touched);
    shares->ticks_of = NULL;
    shares->touched = NULL;
    if (!room(&shares->sentences, &shares->sentences_cap, n + 1))
        return false;
    shares->ticks_of = pm_alloc_array(shares->sentences_cap, sizeof *shares->ticks_of);
    shares->touched = pm_alloc_array(shares->sentences_cap, sizeof *shares->touched);
    return shares->ticks_of && shares->touched;
}

static enum pm_status read_dictionary(struct walk *w, struct pm_error *err)
{
    enum pm_status status = trace_read_n_sentences(&w->cursor, err);
    if (status == PM_OK && !room_for_sentences(w->shares, w->cursor.n_sentences))
        return no_memory(err);
    for (size_t i = 0; status == PM_OK && i < w->cursor.n_sentences; i++)
        status = trace_read_sentence(&w->cursor, err, &w->shares->sentences[i]);
    return status;
}

static inline bool push(struct walk *w, int which, uint32_t number)
{
    struct pm_trace_shares *s = w->shares;
    if (w->n_open[which] == s->open_cap[which] &&
        !room(&s->open[which], &s->open_cap[which], (uint64_t)w->n_open[which] + 64))
        return false;
    s->open[which][w->n_open[which]++] = number;
    return true;
}

static enum pm_status read_frames(struct walk *w, struct pm_error *err)
{
    uint64_t n;
    enum pm_status status = trace_read_n_frames(&w->cursor, err, &n);
    for (uint64_t i = 0; status == PM_OK && i < n; i++) {
        struct trace_open open;
        status = trace_read_frame(&w->cursor, err, &open);
        if (status == PM_OK && !push(w, open.stack, (uint32_t)open.number))
            return no_memory(err);
    }
    return status;
}

static inline void find_innermost(struct walk *w)
{
    int which = w->is_away ? TRACE_FOREIGN : TRACE_OWN;
    uint32_t n = w->n_open[which];
    w->innermost = n ? (int64_t)w->shares->open[which][n - 1] : NOBODY;
}

static enum pm_status begin(struct walk *w, const void *bytes, size_t len, struct pm_error *err)
{
    uint64_t away, left;
    enum pm_status status = trace_read_start(&w->cursor, bytes, len, err, &away, &left);
    if (status != PM_OK)
        return status;
    status = read_dictionary(w, err);
    if (status != PM_OK)
        return status;
    status = read_frames(w, err);
    if (status != PM_OK)
        return status;
    w->is_away = left != 0;
    find_innermost(w);
    return trace_read_n_tags(&w->cursor, err);
}

/* --- steps --- */

static uint64_t time_of_step(const struct pm_trace_stretch *stretch, uint64_t step)
{
    unsigned __int128 ns = (unsigned __int128)step << stretch->level;
    return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

/* The step that begins at w->latest, or has begun. */
static void enter_step(struct walk *w)
{
    const struct pm_trace_stretch *stretch = w->stretch;
    w->step = pm_trace_time_of(&stretch->clock, w->latest) >> stretch->level;
    w->step_end_ticks = pm_trace_tick_at(&stretch->clock, time_of_step(stretch, w->step + 1));
    if (w->step_end_ticks <= w->latest) /* beyond what has a time */
        w->step_end_ticks = UINT64_MAX;
}

static int compare_numbers(const void *a_pointer, const void *b_pointer, void *context)
{
    const uint32_t *sentences = context;
    uint32_t a = sentences[*(const uint32_t *)a_pointer],
             b = sentences[*(const uint32_t *)b_pointer];
    return (a > b) - (a < b);
}

static bool end_step(struct walk *w)
{
    struct pm_trace_shares *s = w->shares;
    bool good = true, is_wanted = w->step >= w->stretch->first_step &&
                                  w->step < w->stretch->end_step && w->n_touched;
    if (is_wanted) {
        qsort_r(s->touched, w->n_touched, sizeof *s->touched, compare_numbers, s->sentences);
        good = pm_trace_shares_add_step(s, w->step);
    }
    for (uint32_t i = 0; i < w->n_touched; i++) {
        uint32_t number = s->touched[i];
        good = good &&
               (!is_wanted || pm_trace_shares_add(s, s->sentences[number], s->ticks_of[number]));
        s->ticks_of[number] = 0;
    }
    w->n_touched = 0;
    return good;
}

static inline void give(struct walk *w, uint64_t ticks)
{
    if (w->innermost == NOBODY || ticks == 0)
        return;
    uint64_t *of = &w->shares->ticks_of[w->innermost];
    if (*of == 0)
        w->shares->touched[w->n_touched++] = (uint32_t)w->innermost;
    *of += ticks;
}

/* Before the first step that is wanted there may be many. */
static bool skip_steps(struct walk *w, uint64_t until)
{
    const struct pm_trace_stretch *stretch = w->stretch;
    uint64_t wanted, ticks = until;
    if (w->step < stretch->first_step)
        wanted = stretch->first_step;
    else if (w->step < stretch->end_step && w->innermost != NOBODY)
        return false;
    else
        wanted = UINT64_MAX;
    if (wanted != UINT64_MAX)
        ticks = pm_trace_tick_at(&stretch->clock, time_of_step(stretch, wanted));
    ticks = ticks < until ? ticks : until;
    if (ticks <= w->latest)
        return false;
    w->latest = ticks;
    return true;
}

static bool pass_steps(struct walk *w, uint64_t until)
{
    while (until >= w->step_end_ticks) {
        give(w, w->step_end_ticks - w->latest);
        w->latest = w->step_end_ticks;
        if (!end_step(w))
            return false;
        enter_step(w);
        if (until >= w->step_end_ticks && skip_steps(w, until))
            enter_step(w);
    }
    return true;
}

static inline bool pass(struct walk *w, uint64_t until)
{
    if (until <= w->latest)
        return true;
    if (until >= w->step_end_ticks && !pass_steps(w, until))
        return false;
    give(w, until - w->latest);
    w->latest = until;
    return true;
}

/* --- events --- */

static inline enum pm_status change(struct walk *w, uint64_t tag, unsigned flags,
                                    struct pm_error *err)
{
    int which = flags & PM_TRACE_FOREIGN ? TRACE_FOREIGN : TRACE_OWN;
    w->is_away = which == TRACE_FOREIGN;
    if (tag != TRACE_TAG_LEAVE) {
        if (!push(w, which, (uint32_t)(tag - TRACE_TAG_ENTER)))
            return no_memory(err);
    } else if (w->n_open[which]-- == 0) {
        return trace_damaged(err, "a leave has no enter");
    }
    find_innermost(w);
    return PM_OK;
}

static enum pm_status walk_events(struct walk *w, struct pm_error *err)
{
    while (w->cursor.tag < w->cursor.tags_end) {
        uint64_t tag = 0;
        unsigned flags = 0;
        enum pm_status status = trace_take_event(&w->cursor, err, &tag, &flags);
        if (status != PM_OK)
            return status;
        if (!pass(w, w->cursor.clock))
            return no_memory(err);
        status = change(w, tag, flags, err);
        if (status != PM_OK)
            return status;
    }
    return end_step(w) ? PM_OK : no_memory(err);
}

enum pm_status pm_trace_block_shares(const void *bytes, size_t len,
                                     const struct pm_trace_stretch *stretch, struct pm_error *err,
                                     struct pm_trace_shares *shares, uint64_t *ret_latest_ticks)
{
    struct walk w = {.stretch = stretch, .shares = shares};
    PM_ASSERT(stretch->level <= PM_TRACE_MAX_LEVEL && stretch->clock.tick_hz > 0);
    enum pm_status status = begin(&w, bytes, len, err);
    if (status != PM_OK)
        return status;
    w.latest = stretch->before_ticks ? stretch->before_ticks : w.cursor.clock;
    enter_step(&w);
    status = walk_events(&w, err);
    if (status != PM_OK && shares->ticks_of) /* what was begun is nobody's */
        memset(shares->ticks_of, 0, shares->sentences_cap * sizeof *shares->ticks_of);
    *ret_latest_ticks = w.latest;
    return status;
}
