/* Who waited for whom. Each process tells of its calls (format/pm_run.h); here are those of all.
 *
 *     a receive      waits from its begin until the send begins      (a late sender)
 *     a send         or the wait for it, from its begin until the receive is asked for, if it ends
 *                    after that                                      (a late receiver)
 *     a group        waits from its begin until the last of those whom it needs begins
 *
 * and no longer than until its own end. The n-th message between two ranks with one tag, as the
 * sender began them, is the n-th there as the receiver asked for them: MPI keeps that order. */
#include "meetings.h"

#include "clocks.h"
#include "collector.h"
#include "contexts.h"
#include "costs.h"
#include "process.h"
#include "run_names.h"
#include "writer.h"

#include "format/pm_words.h"

#include "mapping/run/run_file.h"

#include <stdlib.h>

struct meeting {
    struct pm_run_meeting told;
    uint32_t context, thread; /* rows */
    uint32_t clock;           /* whose times these are; when all are there, the first one's */
    uint64_t waited_ns;
};

struct collect_meetings {
    struct meeting *list; /* of all files */
    uint32_t n, cap;
    const struct pm_run_meeting **of_file; /* by place */
    size_t n_of_file;
    uint32_t clock;            /* of the file */
    uint64_t n_alone, n_apart; /* calls without a partner; of clocks that cannot be compared */
    struct collect_clocks clocks;
    struct extremes *of_clock;
    bool failed; /* memory */
};

void collect_meetings_release(struct collector *c)
{
    if (!c->meetings)
        return;
    free(c->meetings->list);
    free(c->meetings->of_file);
    collect_clocks_release(&c->meetings->clocks);
    free(c->meetings->of_clock);
    free(c->meetings);
    c->meetings = NULL;
}

/* --- files --- */

static int compare_places(const void *a, const void *b)
{
    uint32_t x = (*(const struct pm_run_meeting *const *)a)->place,
             y = (*(const struct pm_run_meeting *const *)b)->place;
    return (x > y) - (x < y);
}

/* A communicator that is made again has the rank of its first one. */
static enum pm_status write_member(struct collector *c, const struct pm_run_meeting *m,
                                   uint32_t communicator)
{
    sqlite3_stmt *insert = c->writer->statements[INSERT_MEMBER];
    bind_number(insert, 1, c->processes->n);
    bind_number(insert, 2, communicator);
    bind_number(insert, 3, (uint64_t)m->self);
    bind_number(insert, 4, m->n_members);
    return collect_insert(c, INSERT_MEMBER);
}

enum pm_status collect_members(struct collector *c, const struct pm_run_file *file,
                               const struct collect_names *names)
{
    for (size_t i = 0; i < pm_run_file_n_meetings(file); i++) {
        const struct pm_run_meeting *m = pm_run_file_meeting(file, i);
        bool is_known = m->kind == PM_RUN_MEETING_MEMBER && m->what > 0 && m->self >= 0 &&
                        m->what <= pm_run_file_n_words(file) &&
                        pm_run_file_word(file, m->what - 1)->kind == PM_WORD_NOUN;
        if (!is_known || !names->words[m->what - 1])
            continue;
        enum pm_status status = write_member(c, m, names->words[m->what - 1]);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

enum pm_status collect_meetings_begin(struct collector *c, const struct pm_run_file *file)
{
    size_t n = pm_run_file_n_meetings(file);
    if (!n && !c->meetings)
        return PM_OK;
    if (!c->meetings && !(c->meetings = pm_alloc(sizeof *c->meetings)))
        return collect_no_memory(c);
    struct collect_meetings *all = c->meetings;
    free(all->of_file);
    all->of_file = pm_alloc_array(n, sizeof(const struct pm_run_meeting *));
    all->n_of_file = n;
    if (!all->of_file)
        return collect_no_memory(c);
    for (size_t i = 0; i < n; i++)
        all->of_file[i] = pm_run_file_meeting(file, i);
    const struct pm_run_file_process *process = pm_run_file_process(file);
    struct pm_str node = {pm_intern_add(c->strings, process->node.p, process->node.len),
                          process->node.len};
    double ns_per_tick = (double)pm_run_file_to_ns(file, 1000000000) / 1e9;
    if (!node.p || !collect_clock_of(&all->clocks, node, process->start_tsc, ns_per_tick,
                                     process->start_monotonic_ns, &all->clock))
        return collect_no_memory(c);
    if (n)
        qsort(all->of_file, n, sizeof *all->of_file, compare_places);
    return PM_OK;
}

static bool is_before_place(const void *meeting, const void *place)
{
    return (*(const struct pm_run_meeting *const *)meeting)->place < *(const uint32_t *)place;
}

static enum pm_status add(struct collector *c, const struct pm_run_meeting *told, uint32_t context,
                          uint32_t thread_row)
{
    struct collect_meetings *all = c->meetings;
    struct meeting *list = pm_grow_array(all->list, all->n, &all->cap, 1024, sizeof *list);
    if (!list)
        return collect_no_memory(c);
    all->list = list;
    list[all->n++] = (struct meeting){
        .told = *told, .context = context, .thread = thread_row, .clock = all->clock};
    return PM_OK;
}

/* Those of the file at that place are from *ret_first on. false: there are none. */
static bool find_place(const struct collect_meetings *all, uint32_t place, size_t *ret_first)
{
    *ret_first =
        pm_lower_bound(all->of_file, all->n_of_file, sizeof *all->of_file, &place, is_before_place);
    return place && *ret_first < all->n_of_file && all->of_file[*ret_first]->place == place;
}

enum pm_status collect_meetings_add(struct collector *c, const struct pm_run_file *file,
                                    const struct pm_run_file_thread *thread, uint32_t thread_row,
                                    const struct collect_names *names,
                                    const struct collect_node *nodes)
{
    struct collect_meetings *all = c->meetings;
    size_t at;
    for (size_t i = 0; all && all->n_of_file && i < thread->n_nodes; i++) {
        uint32_t place = thread->nodes[i].place, node = collect_unfolded(thread, (uint32_t)i);
        if (!find_place(all, place, &at))
            continue;
        uint32_t context = nodes[node].row;
        enum pm_status status = collect_own_context(c, file, thread, node, names,
                                                    collect_stack_flag(nodes[node]), &context);
        if (status != PM_OK)
            return status;
        for (; at < all->n_of_file && all->of_file[at]->place == place; at++)
            if (add(c, all->of_file[at], context, thread_row) != PM_OK)
                return PM_ERR_MEMORY;
    }
    return PM_OK;
}

/* --- who met whom --- */

static bool is_group(const struct pm_run_meeting *m)
{
    return m->kind >= PM_RUN_MEETING_ALL && m->kind <= PM_RUN_MEETING_TO_ROOT;
}

static bool is_receive(const struct pm_run_meeting *m)
{
    return m->kind == PM_RUN_MEETING_RECEIVED;
}

static int32_t sender(const struct pm_run_meeting *m)
{
    return is_receive(m) ? m->peer : m->self;
}

static int32_t receiver(const struct pm_run_meeting *m)
{
    return is_receive(m) ? m->self : m->peer;
}

#define COMPARE(x, y) \
    if ((x) != (y))   \
        return (x) < (y) ? -1 : 1;

/* Groups, by call; then messages, by their two ranks and tag, sends before receives, in the order
 * in which each was begun. */
static int compare_meetings(const void *a, const void *b)
{
    const struct pm_run_meeting *x = &((const struct meeting *)a)->told,
                                *y = &((const struct meeting *)b)->told;
    COMPARE(is_group(y), is_group(x))
    COMPARE(x->what, y->what)
    if (!is_group(x)) {
        COMPARE(sender(x), sender(y))
        COMPARE(receiver(x), receiver(y))
        COMPARE(x->tag, y->tag)
        COMPARE(is_receive(x), is_receive(y))
    }
    COMPARE(x->order, y->order)
    COMPARE(x->begin_ns, y->begin_ns)
    return 0;
}

static bool is_same_message(const struct pm_run_meeting *x, const struct pm_run_meeting *y)
{
    return !is_group(y) && x->what == y->what && sender(x) == sender(y) &&
           receiver(x) == receiver(y) && x->tag == y->tag;
}

static uint64_t waited(const struct pm_run_meeting *m, uint64_t until_ns)
{
    uint64_t end_ns = until_ns < m->end_ns ? until_ns : m->end_ns;
    return end_ns > m->begin_ns ? end_ns - m->begin_ns : 0;
}

/* Can the times be compared? */
static bool agree(const struct collect_meetings *all, const struct meeting *x,
                  const struct meeting *y)
{
    return collect_clocks_agree(&all->clocks, x->clock, y->clock);
}

static bool agree_all(const struct collect_meetings *all, const struct meeting *list, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (!agree(all, &list[0], &list[i]))
            return false;
    return true;
}

/* All calls of one group: waits for its last one, or for its root, or as its root. */
static void meet_in_group(struct collect_meetings *all, struct meeting *list, size_t n)
{
    uint64_t last_ns = 0, root_ns = 0;
    if (!agree_all(all, list, n)) {
        all->n_apart += n;
        return;
    }
    bool is_whole = n == list[0].told.n_members, has_root = false;
    for (size_t i = 0; i < n; i++) {
        const struct pm_run_meeting *m = &list[i].told;
        last_ns = m->asked_ns > last_ns ? m->asked_ns : last_ns;
        if (m->self != m->peer)
            continue;
        root_ns = m->asked_ns;
        has_root = true;
    }
    for (size_t i = 0; i < n; i++) {
        const struct pm_run_meeting *m = &list[i].told;
        if (m->kind == PM_RUN_MEETING_FROM_ROOT && has_root)
            list[i].waited_ns = waited(m, root_ns);
        else if (m->kind == PM_RUN_MEETING_ALL || m->self == m->peer)
            list[i].waited_ns = waited(m, last_ns); /* at least, when some are missing */
    }
    all->n_alone += is_whole ? 0 : n;
}

/* Those that are there of a send, and of the call that waited for it, lie together. */
static void meet(struct collect_meetings *all, struct meeting *send, const struct meeting *end,
                 struct meeting *receive)
{
    const struct pm_run_meeting *r = &receive->told;
    if (!agree(all, send, receive)) {
        all->n_apart += 2;
        return;
    }
    receive->waited_ns = waited(r, send->told.begin_ns);
    for (struct meeting *m = send; m < end && m->told.order == send->told.order; m++)
        if (m->told.kind != PM_RUN_MEETING_POSTED && m->told.end_ns >= r->asked_ns)
            m->waited_ns = waited(&m->told, r->asked_ns);
}

/* The first from there on that is sent, not only waited for. */
static size_t next_send(const struct meeting *list, size_t i, size_t n)
{
    while (i < n && list[i].told.kind == PM_RUN_MEETING_AWAITED)
        i++;
    return i;
}

/* --- clocks --- */

static void note(struct collect_meetings *all, const struct meeting *before, uint64_t before_ns,
                 const struct meeting *after)
{
    if (!collect_clocks_note(&all->clocks, before->clock, (int64_t)before_ns, after->clock,
                             (int64_t)after->told.end_ns))
        all->failed = true;
}

/* Of a clock's members of a group, those that say most: who came last, and who left first. */
struct extremes {
    const struct meeting *last, *first;
};

static void find_extremes(struct extremes *of_clock, const struct meeting *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        of_clock[list[i].clock] = (struct extremes){NULL, NULL};
    for (size_t i = 0; i < n; i++) {
        struct extremes *e = &of_clock[list[i].clock];
        bool is_to_root = list[i].told.kind == PM_RUN_MEETING_TO_ROOT,
             is_from_root = list[i].told.kind == PM_RUN_MEETING_FROM_ROOT,
             is_root = list[i].told.self == list[i].told.peer;
        bool is_needed = !is_from_root || is_root, needs = !is_to_root || is_root;
        if (is_needed && (!e->last || list[i].told.asked_ns > e->last->told.asked_ns))
            e->last = &list[i];
        if (needs && (!e->first || list[i].told.end_ns < e->first->told.end_ns))
            e->first = &list[i];
    }
}

/* Nobody leaves before all have come whom it needs. Each clock is compared with that of the first
 * member, and of the root. */
static void note_group(struct collect_meetings *all, struct meeting *list, size_t n)
{
    struct extremes *of_clock = all->of_clock;
    size_t centre = 0;
    find_extremes(of_clock, list, n);
    for (size_t i = 0; i < n; i++)
        centre = list[i].told.self == list[i].told.peer ? i : centre;
    const struct extremes *c = &of_clock[list[centre].clock];
    for (size_t i = 0; i < n; i++) {
        const struct extremes *e = &of_clock[list[i].clock];
        if (e == c)
            continue;
        if (e->first == &list[i] && c->last)
            note(all, c->last, c->last->told.asked_ns, e->first);
        if (e->last == &list[i] && c->first)
            note(all, e->last, e->last->told.asked_ns, c->first);
    }
}

static void note_message(struct collect_meetings *all, struct meeting *send,
                         const struct meeting *end, struct meeting *receive)
{
    (void)end;
    note(all, send, send->told.begin_ns, receive);
}

/* What is done with those who met. */
struct visit {
    void (*group)(struct collect_meetings *all, struct meeting *list, size_t n);
    void (*message)(struct collect_meetings *all, struct meeting *send, const struct meeting *end,
                    struct meeting *receive);
};

/* All messages of one sender, receiver and tag: the sends, then the receives. Returns how many have
 * no partner. */
static uint64_t meet_by_message(struct collect_meetings *all, const struct visit *visit,
                                struct meeting *list, size_t n)
{
    uint64_t n_alone = 0;
    size_t n_sends = 0;
    while (n_sends < n && !is_receive(&list[n_sends].told))
        n_sends++;
    size_t send = next_send(list, 0, n_sends), receive = n_sends;
    for (; send < n_sends && receive < n; send = next_send(list, send + 1, n_sends))
        visit->message(all, &list[send], &list[n_sends], &list[receive++]);
    for (; send < n_sends; send = next_send(list, send + 1, n_sends))
        n_alone++;
    return n_alone + (n - receive);
}

/* Returns how many messages have no partner. */
static uint64_t meet_all(struct collect_meetings *all, const struct visit *visit)
{
    uint64_t n_alone = 0;
    for (size_t i = 0, end; i < all->n; i = end) {
        const struct pm_run_meeting *first = &all->list[i].told;
        end = i + 1;
        if (is_group(first)) {
            while (end < all->n && is_group(&all->list[end].told) &&
                   all->list[end].told.what == first->what &&
                   all->list[end].told.order == first->order)
                end++;
            visit->group(all, &all->list[i], end - i);
        } else {
            while (end < all->n && is_same_message(first, &all->list[end].told))
                end++;
            n_alone += meet_by_message(all, visit, &all->list[i], end - i);
        }
    }
    return n_alone;
}

static void find_span(struct collect_meetings *all)
{
    struct collect_clocks *clocks = &all->clocks;
    clocks->first_ns = INT64_MAX;
    clocks->last_ns = INT64_MIN;
    for (size_t i = 0; i < all->n; i++) {
        const struct meeting *m = &all->list[i];
        int64_t begin_ns = collect_clock_shift(clocks, m->clock, (int64_t)m->told.begin_ns),
                end_ns = collect_clock_shift(clocks, m->clock, (int64_t)m->told.end_ns);
        clocks->first_ns = begin_ns < clocks->first_ns ? begin_ns : clocks->first_ns;
        clocks->last_ns = end_ns > clocks->last_ns ? end_ns : clocks->last_ns;
    }
}

static uint64_t shifted(const struct collect_clocks *clocks, uint32_t clock, uint64_t time_ns)
{
    int64_t ns = time_ns ? collect_clock_shift(clocks, clock, (int64_t)time_ns) : 0;
    return ns > 0 ? (uint64_t)ns : 0;
}

/* All times become those of one clock, as far as can be. False: memory. */
static bool compare_clocks(struct collect_meetings *all)
{
    static const struct visit visit = {note_group, note_message};
    if (all->clocks.n < 2)
        return true;
    all->of_clock = pm_alloc_array(all->clocks.n, sizeof *all->of_clock);
    if (!all->of_clock)
        return false;
    for (int round = 0; round < 2; round++) {
        meet_all(all, &visit);
        if (all->failed || !collect_clocks_solve(&all->clocks))
            return false;
        if (round == 0)
            find_span(all);
    }
    for (size_t i = 0; i < all->n; i++) {
        struct pm_run_meeting *m = &all->list[i].told;
        m->begin_ns = shifted(&all->clocks, all->list[i].clock, m->begin_ns);
        m->end_ns = shifted(&all->clocks, all->list[i].clock, m->end_ns);
        m->asked_ns = shifted(&all->clocks, all->list[i].clock, m->asked_ns);
    }
    return true;
}

/* --- the costs --- */

static int compare_calls(const void *a, const void *b)
{
    const struct meeting *x = a, *y = b;
    COMPARE(x->thread, y->thread)
    COMPARE(x->context, y->context)
    COMPARE(x->told.begin_ns, y->told.begin_ns)
    COMPARE(y->waited_ns, x->waited_ns)
    return 0;
}

static bool is_same_place(const struct meeting *x, const struct meeting *y)
{
    return x->thread == y->thread && x->context == y->context;
}

/* One call that completes several messages waits for the last of them. */
static enum pm_status charge(struct collector *c, uint32_t metric)
{
    struct collect_meetings *all = c->meetings;
    uint64_t sum_ns = 0;
    qsort(all->list, all->n, sizeof *all->list, compare_calls);
    for (size_t i = 0; i < all->n; i++) {
        const struct meeting *m = &all->list[i];
        bool is_first =
            i == 0 || !is_same_place(m - 1, m) || m[-1].told.begin_ns != m->told.begin_ns;
        sum_ns += is_first ? m->waited_ns : 0;
        if (i + 1 < all->n && is_same_place(m, m + 1))
            continue;
        if (collect_cost(c, m->context, m->thread, metric, sum_ns) != PM_OK)
            return PM_ERR_MEMORY;
        sum_ns = 0;
    }
    return PM_OK;
}

static enum pm_status mark_clocks(struct collector *c)
{
    enum { TOLD_FROM_NS = 100000 };
    const struct collect_meetings *all = c->meetings;
    int64_t doubt_ns = all->clocks.n > 1 ? collect_clocks_doubt_ns(&all->clocks) : 0;
    enum pm_status status = PM_OK;
    if (all->n_apart)
        status = collect_mark(
            c,
            "%llu of %u calls of MPI are of machines whose clocks could not be compared: no "
            "messages go both ways between them; mpi_wait_ns is at least what is shown",
            (unsigned long long)all->n_apart, all->n);
    if (doubt_ns >= TOLD_FROM_NS && status == PM_OK)
        status = collect_mark(
            c,
            "clocks of %u machines are known within %.1f ms, by the messages between them: "
            "so is each wait in mpi_wait_ns",
            all->clocks.n, (double)doubt_ns / 1e6);
    return status;
}

enum pm_status collect_meetings_end(struct collector *c)
{
    static const struct visit visit = {meet_in_group, meet};
    static const struct collect_metric wait = {
        .name = "mpi_wait_ns",
        .unit = "ns",
        .kind = "time",
        .description = "wall time in calls of MPI before those whom they need had come"};
    struct collect_meetings *all = c->meetings;
    uint32_t metric;
    if (!all || !all->n) {
        collect_meetings_release(c);
        return PM_OK;
    }
    enum pm_status status = collect_metric(c, &wait, &metric);
    if (status != PM_OK)
        return status;
    qsort(all->list, all->n, sizeof *all->list, compare_meetings);
    if (!compare_clocks(all))
        return collect_no_memory(c);
    all->n_alone += meet_all(all, &visit);
    status = charge(c, metric);
    if (status == PM_OK)
        status = mark_clocks(c);
    if (all->n_alone && status == PM_OK)
        status = collect_mark(
            c,
            "%llu of %u calls of MPI have no partner here: ranks whose files are missing, or "
            "messages that nobody received, so mpi_wait_ns is at least what is shown",
            (unsigned long long)all->n_alone, all->n);
    collect_meetings_release(c);
    return status;
}
