/* Run files with traces, for tests.
 *
 *     struct make_trace f;
 *     make_trace_init(&f);
 *     make_trace_thread(&f, 100);               // and its contexts; what follows is of this thread
 *     make_trace_space(&f, 2);                  // room for two parts
 *     make_trace_part(&f, 0, 1, 0, 1005, f.nodes[0], events, n);
 *     make_trace_head(&f, 1, 1030, f.nodes[1], events, n);
 */
#ifndef MAKE_TRACE_H
#define MAKE_TRACE_H

#include "make_run.h"

enum { MAKE_TRACE_PLACES = 64 };

/* Nouns f, g, h; contexts: root 0, f 1, g in f 2, h in g 3, h in the root 4. */
struct make_trace {
    struct make_run run;
    uint64_t thread, space, nodes[5];
};

static inline void make_trace_init(struct make_trace *f)
{
    static const struct pm_run_noun nouns[] = {{.id = 1, .kind = PM_SLED_ENTRY, .n_sleds = 2},
                                               {.id = 2, .kind = PM_SLED_ENTRY, .n_sleds = 2},
                                               {.id = 3, .kind = PM_SLED_ENTRY, .n_sleds = 2}};
    make_run_init(&f->run, 100);
    make_run_header(&f->run)->mode = PM_RUN_MODE_TRACE;
    make_run_object(&f->run, "/bin/heat", "\1\2", 2, nouns, 3);
}

static inline void make_trace_thread(struct make_trace *f, uint32_t tid)
{
    f->thread = make_run_thread(&f->run, tid, 1000, 0, 64);
    f->nodes[0] = make_run_node(&f->run, 0, PM_RUN_NOUN_ROOT, 1, 1000, 0, 0);
    f->nodes[1] = make_run_node(&f->run, f->nodes[0], 0, 1, 1010, 0, 0);
    f->nodes[2] = make_run_node(&f->run, f->nodes[1], 1, 1, 1020, 0, 0);
    f->nodes[3] = make_run_node(&f->run, f->nodes[2], 2, 1, 1030, 0, 0);
    f->nodes[4] = make_run_node(&f->run, f->nodes[0], 2, 1, 1040, 0, 0);
}

/* Parts are of whole eights of bytes; the space is a whole number of pages, so the last one is
 * padded. */
static inline void make_trace_space(struct make_trace *f, uint32_t n_parts)
{
    f->space = make_run_chunk(&f->run, PM_RUN_CHUNK_TRACE_SPACE,
                              PM_RUN_PAGE + (size_t)n_parts * PM_RUN_PAGE, 0);
    ((struct pm_run_chunk *)make_run_at(&f->run, f->space))->n_items = n_parts;
}

static inline uint64_t make_trace_event(uint32_t head, uint64_t tsc)
{
    return (uint64_t)head << 40 | (tsc & (((uint64_t)1 << 40) - 1));
}

static inline uint64_t make_trace_enter(uint32_t noun, uint64_t tsc)
{
    return make_trace_event(PM_RUN_TRACE_ENTER | noun, tsc);
}

static inline uint64_t make_trace_leave(uint32_t noun, uint64_t tsc)
{
    return make_trace_event(PM_RUN_TRACE_LEAVE | noun, tsc);
}

static inline struct pm_run_trace *make_trace_fill(struct make_trace *f, struct pm_run_trace *trace,
                                                   uint64_t number, uint64_t first_tsc,
                                                   uint64_t node, const uint64_t *events, size_t n)
{
    trace->chunk.magic = PM_RUN_CHUNK_MAGIC;
    trace->chunk.kind = PM_RUN_CHUNK_TRACE_HEAD;
    trace->chunk.owner = f->thread;
    trace->chunk.n_items = n;
    trace->number = number;
    trace->first_tsc = first_tsc;
    trace->node = (uint32_t)(node / 64);
    memcpy((char *)trace + PM_RUN_TRACE_DATA, events, n * 8);
    return trace;
}

/* The i-th part of the space, which lies on a page of its own. */
static inline struct pm_run_trace *make_trace_part(struct make_trace *f, uint32_t i,
                                                   uint64_t serial, uint64_t number,
                                                   uint64_t first_tsc, uint64_t node,
                                                   const uint64_t *events, size_t n)
{
    uint64_t at = f->space + PM_RUN_PAGE + (uint64_t)i * PM_RUN_PAGE;
    struct pm_run_trace *trace = make_run_at(&f->run, at);
    make_trace_fill(f, trace, number, first_tsc, node, events, n);
    trace->serial = serial;
    uint64_t trailer = serial + 1;
    memcpy(make_run_at(&f->run, at + PM_RUN_PAGE - 8), &trailer, 8);
    return trace;
}

static inline struct pm_run_trace *make_trace_head(struct make_trace *f, uint64_t number,
                                                   uint64_t first_tsc, uint64_t node,
                                                   const uint64_t *events, size_t n)
{
    uint64_t at = make_run_chunk(&f->run, PM_RUN_CHUNK_TRACE_HEAD, PM_RUN_PAGE, f->thread);
    struct pm_run_trace *trace = make_run_at(&f->run, at);
    make_trace_fill(f, trace, number, first_tsc, node, events, n);
    trace->chunk.n_items = MAKE_TRACE_PLACES;
    return trace;
}

/* A walk up and down the contexts f, g in f, h in g. odd: of how many events one is not that of a
 * plain call (0: none). */
struct make_trace_walk {
    uint32_t state, odd, depth;
    uint64_t tsc;
};

static inline uint32_t make_trace_random(struct make_trace_walk *w, uint32_t n)
{
    w->state = w->state * 1664525u + 1013904223u;
    return (w->state >> 8) % n;
}

static inline uint64_t make_trace_step(struct make_trace_walk *w)
{
    const uint64_t foreign = (uint64_t)PM_RUN_TRACE_FOREIGN << 40;
    w->tsc += 1 + make_trace_random(w, 1000);
    if (w->odd && make_trace_random(w, w->odd) == 0) {
        const uint64_t odd[] = {0,
                                (uint64_t)1 << 62 | w->tsc,
                                make_trace_leave(2, w->tsc),
                                make_trace_enter(PM_RUN_TRACE_MANY, w->tsc),
                                make_trace_enter(1, w->tsc) | foreign,
                                make_trace_leave(1, w->tsc) | foreign,
                                make_trace_leave(PM_RUN_TRACE_MARK_END, w->tsc)};
        return odd[make_trace_random(w, sizeof odd / sizeof *odd)];
    }
    bool is_enter = w->depth == 0 || (w->depth < 3 && make_trace_random(w, 2));
    return is_enter ? make_trace_enter(w->depth++, w->tsc) : make_trace_leave(--w->depth, w->tsc);
}

/* A thread that walks, in so many parts; before part `gap` (0: none) one is missing. */
static inline void make_trace_walking(struct make_trace *f, struct make_trace_walk *w,
                                      uint32_t n_parts, uint32_t gap)
{
    enum { PER_PART = 100 };
    make_trace_space(f, n_parts);
    for (uint32_t i = 0; i < n_parts; i++) {
        uint64_t events[PER_PART], node = f->nodes[w->depth], tsc = w->tsc;
        for (int k = 0; k < PER_PART; k++)
            events[k] = make_trace_step(w);
        make_trace_part(f, i, i + 1, i + (gap && i >= gap), tsc, node, events, PER_PART);
    }
}

#endif
