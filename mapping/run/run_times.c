/* Times of a run file: which clock, where open frames end, and own times that add up. run_file.h
 * states the rules. */
#include "run_internal.h"

#include <stdlib.h>

typedef unsigned __int128 u128;

enum { NS_PER_S = 1000000000 };
static const uint64_t pair_min_ns = 1000000, hz_min = 1000000, hz_max = 100000000000;
static const uint64_t longest_run_s = UINT64_C(10) * 366 * 86400;
static const uint64_t longest_end_s = 60; /* from a process's note of its end to its threads' */

struct pm_run_clock pm_run_clock_of(const struct pm_manifest *manifest)
{
    return (struct pm_run_clock){
        .tsc_hz = manifest->tsc_hz,
        .start_tsc = manifest->start_tsc,
        .start_monotonic_ns = manifest->start_monotonic_ns,
        .end_tsc = manifest->end_tsc,
        .end_monotonic_ns = manifest->end_monotonic_ns,
        .first_pid = manifest->pid,
        .node = manifest->host,
        .start_realtime_ns = manifest->start_realtime_ns,
    };
}

/* Ticks per second from two readings of both clocks; 0: cannot be told. */
static uint64_t pair_hz(uint64_t tsc_0, uint64_t ns_0, uint64_t tsc_1, uint64_t ns_1,
                        uint64_t min_ns)
{
    if (tsc_0 == 0 || tsc_1 <= tsc_0 || ns_1 <= ns_0 || ns_1 - ns_0 < min_ns)
        return 0;
    u128 hz = (u128)(tsc_1 - tsc_0) * NS_PER_S / (ns_1 - ns_0);
    return hz >= hz_min && hz <= hz_max ? (uint64_t)hz : 0;
}

static uint64_t header_pair_hz(const struct pm_run_header *header, uint64_t min_ns)
{
    uint64_t hz = 0;
    if (header->flags & PM_RUN_FLAG_ENDED)
        hz = pair_hz(header->start_tsc, header->start_monotonic_ns, header->end_tsc,
                     header->end_monotonic_ns, min_ns);
    return hz ? hz
              : pair_hz(header->start_tsc, header->start_monotonic_ns, header->last_tsc,
                        header->last_monotonic_ns, min_ns);
}

static uint64_t find_hz(struct pm_run_file *file)
{
    const struct pm_run_header *header = &file->header;
    const struct pm_run_clock *clock = &file->clock;
    if (header->tsc_hz >= hz_min && header->tsc_hz <= hz_max)
        return header->tsc_hz;
    if (header->tsc_hz)
        run_complain(file, offsetof(struct pm_run_header, tsc_hz), "clock rate %llu Hz cannot be",
                     (unsigned long long)header->tsc_hz);
    if (clock->tsc_hz >= hz_min && clock->tsc_hz <= hz_max)
        return clock->tsc_hz;
    uint64_t hz = header_pair_hz(header, pair_min_ns);
    if (!hz)
        hz = pair_hz(clock->start_tsc, clock->start_monotonic_ns, clock->end_tsc,
                     clock->end_monotonic_ns, pair_min_ns);
    if (!hz)
        hz = header_pair_hz(header, 1);
    if (hz)
        return hz;
    run_complain(file, offsetof(struct pm_run_header, tsc_hz),
                 "the clock's rate is not known: times are clock ticks, not nanoseconds");
    return NS_PER_S;
}

uint64_t pm_run_file_to_ns(const struct pm_run_file *file, uint64_t ticks)
{
    u128 ns = (u128)ticks * NS_PER_S / file->process.tsc_hz;
    return ns > INT64_MAX ? INT64_MAX : (uint64_t)ns;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static void hand_up(uint32_t parent, uint64_t bound, uint64_t spent, uint64_t *bounds,
                    uint64_t *sums)
{
    bounds[parent] = bound > bounds[parent] ? bound : bounds[parent];
    sums[parent] += sums[parent] > UINT64_MAX - spent ? 0 : spent;
}

/* The earliest time at which each node's last activation can have ended, from the last node to
 * the first: an activation ends after all that was active within it, and where it is the node's
 * only one, all times of its children lie within it, one after the other; through what is not
 * timed. Returns the latest of them up to limit. room: two numbers per node, zeroed. */
static uint64_t latest_in_thread(const struct pm_run_file_thread *thread,
                                 const struct run_raw_node *raw, uint64_t limit, uint64_t *room,
                                 bool *has_odd)
{
    uint64_t *bounds = room, *sums = room + thread->n_nodes, latest = 0;
    for (size_t i = thread->n_nodes; i-- > 0;) {
        const struct pm_run_file_node *node = &thread->nodes[i];
        if (node->timing == PM_RUN_FILE_UNTIMED) {
            hand_up(node->parent, bounds[i], sums[i], bounds, sums);
            continue;
        }
        uint64_t start = raw[i].start_tsc, spent = raw[i].inclusive_tsc, within = spent;
        bool is_only = node->n_calls <= 1 && !thread->has_sets;
        if (node->open)
            within = is_only && spent == 0 ? sums[i] : 0;
        else if (!is_only)
            within = 0;
        if (start > limit || within > limit - start || spent > limit) {
            *has_odd = true;
            continue;
        }
        uint64_t bound = start + within > bounds[i] ? start + within : bounds[i];
        if (node->open && bound > start)
            spent += bound - start;
        latest = bound > latest ? bound : latest;
        if (node->parent != PM_RUN_FILE_NO_PARENT)
            hand_up(node->parent, bound, spent, bounds, sums);
    }
    return latest;
}

/* Times after `limit` are damage. */
static uint64_t limit_after(const struct pm_run_file *file, uint64_t tsc, uint64_t seconds)
{
    if (file->process.tsc_hz > UINT64_MAX / seconds ||
        file->process.tsc_hz * seconds > UINT64_MAX - tsc)
        return UINT64_MAX;
    return tsc + file->process.tsc_hz * seconds;
}

/* The latest of the times that are of no context. */
static uint64_t latest_known(const struct pm_run_file *file, uint64_t latest, uint64_t limit,
                             bool *has_odd)
{
    uint64_t known[2] = {file->last_tsc, file->header.last_tsc};
    for (int i = 0; i < 2; i++) {
        *has_odd |= known[i] > limit;
        if (known[i] > latest && known[i] <= limit)
            latest = known[i];
    }
    return latest;
}

/* The latest time that the file tells of, when nothing says when its process ended. Times that lie
 * years ahead are damage. */
static enum pm_status latest_tsc(struct pm_run_file *file, struct pm_error *err, uint64_t *ret_tsc)
{
    uint64_t start = file->process.start_tsc, limit = limit_after(file, start, longest_run_s);
    bool has_odd = false;
    uint64_t latest = latest_known(file, start, limit, &has_odd);
    for (size_t i = 0; i < file->n_threads; i++) {
        uint64_t *room = pm_alloc_array(file->threads[i].n_nodes, 2 * sizeof *room);
        if (!room)
            return run_no_memory(file, err);
        uint64_t last =
            latest_in_thread(&file->threads[i], file->loads[i].raw, limit, room, &has_odd);
        latest = last > latest ? last : latest;
        free(room);
    }
    if (has_odd)
        run_complain(file, 0,
                     "holds times more than ten years after its start, which are not used");
    *ret_tsc = latest;
    return PM_OK;
}

/* At least until when a thread ran on after its process had noted its end: the last activation
 * of each context had begun, and the ended ones of each, and of those below the root together,
 * lie one after the other within the root's time. Holds for all stacks. */
static uint64_t latest_after_end(const struct pm_run_file_thread *thread,
                                 const struct run_raw_node *raw, uint64_t limit)
{
    uint64_t latest = 0, most = 0, sum = 0;
    for (size_t i = 1; i < thread->n_nodes; i++) {
        const struct pm_run_file_node *node = &thread->nodes[i];
        if (node->timing == PM_RUN_FILE_UNTIMED || node->flags & PM_RUN_NODE_FOREIGN_STACK)
            continue;
        if (raw[i].start_tsc > latest && raw[i].start_tsc <= limit)
            latest = raw[i].start_tsc;
        uint64_t spent = raw[i].inclusive_tsc <= limit ? raw[i].inclusive_tsc : 0;
        most = spent > most ? spent : most;
        sum += node->parent == 0 && sum <= limit ? spent : 0;
    }
    most = minus(sum > most ? sum : most, raw[0].inclusive_tsc);
    bool is_known =
        thread->nodes[0].open && raw[0].start_tsc <= limit && most <= limit - raw[0].start_tsc;
    return is_known && raw[0].start_tsc + most > latest ? raw[0].start_tsc + most : latest;
}

/* It ended before the process, nobody knows when: with its last event, for all that is known. */
static bool has_left(const struct pm_run_file_thread *thread, const struct run_thread_load *load)
{
    return load->end_tsc != 0 && thread->nodes[0].open && load->raw[0].start_tsc == load->end_tsc;
}

/* Other threads run on until exit or exec has ended them, and their contexts hold that time:
 * their ends are later than the process's own note of it. */
static uint64_t threads_after_end(struct pm_run_file *file, uint64_t noted_tsc)
{
    uint64_t limit = limit_after(file, noted_tsc, longest_end_s);
    bool has_odd = false;
    uint64_t end = latest_known(file, noted_tsc, limit, &has_odd);
    for (size_t i = 0; i < file->n_threads; i++) {
        struct run_thread_load *load = &file->loads[i];
        uint64_t latest = latest_after_end(&file->threads[i], load->raw, limit);
        load->last_tsc = latest > noted_tsc ? latest : noted_tsc;
        if (has_left(&file->threads[i], load) && latest > load->end_tsc)
            load->end_tsc = latest;
        end = latest > end ? latest : end;
    }
    return end;
}

static enum pm_status find_end(struct pm_run_file *file, struct pm_error *err, uint64_t *ret_tsc)
{
    const struct pm_run_header *header = &file->header;
    uint64_t start = file->process.start_tsc;
    if (header->flags & PM_RUN_FLAG_ENDED) {
        if (header->end_tsc >= start) {
            file->process.end_kind =
                header->flags & PM_RUN_FLAG_EXEC ? PM_RUN_FILE_EXEC : PM_RUN_FILE_EXIT;
            *ret_tsc = threads_after_end(file, header->end_tsc);
            return PM_OK;
        }
        run_complain(file, offsetof(struct pm_run_header, end_tsc),
                     "the process ends %llu ticks before it starts",
                     (unsigned long long)(start - header->end_tsc));
    }
    file->process.end_kind = PM_RUN_FILE_KILLED;
    if (file->clock.first_pid == header->pid && file->clock.end_tsc >= start &&
        file->clock.end_tsc) {
        *ret_tsc = file->clock.end_tsc;
        return PM_OK;
    }
    return latest_tsc(file, err, ret_tsc);
}

/* Whether the open activation of a node lies in one of each context above. A child's cannot
 * begin before its parent's: where it seems to, the parent's was renewed while the child's frame
 * waited to be healed, and had ended by then. The nearest timed context above tells that; it may
 * be the root. */
static bool lies_within(const struct pm_run_file_thread *thread, const struct run_raw_node *raw,
                        size_t index)
{
    uint32_t above = thread->nodes[index].parent;
    while (above != PM_RUN_FILE_NO_PARENT) {
        const struct pm_run_file_node *node = &thread->nodes[above];
        if (!node->open)
            return false;
        if (node->timing != PM_RUN_FILE_UNTIMED && raw[above].start_tsc != 0)
            return raw[index].start_tsc >= raw[above].start_tsc;
        above = node->parent;
    }
    return true;
}

/* Ticks of a node over all its activations, the open one up to end_tsc when it has a time. */
static uint64_t inclusive_ticks(const struct pm_run_file_thread *thread,
                                const struct run_raw_node *raw, size_t index, uint64_t end_tsc)
{
    const struct pm_run_file_node *node = &thread->nodes[index];
    uint64_t ticks = raw[index].inclusive_tsc;
    bool has_start = raw[index].start_tsc != 0;
    if (!node->open || !has_start || !lies_within(thread, raw, index))
        return ticks;
    uint64_t open = minus(end_tsc, raw[index].start_tsc);
    return ticks > UINT64_MAX - open ? UINT64_MAX : ticks + open;
}

/* Inclusive times as the file has them, at most wall_ns. */
static void measure_nodes(struct pm_run_file *file, size_t index, uint64_t end_tsc)
{
    struct pm_run_file_thread *thread = &file->threads[index];
    struct pm_run_file_node *nodes = file->loads[index].nodes;
    const struct run_raw_node *raw = file->loads[index].raw;
    size_t n_beyond = 0;
    nodes[0].inclusive_ns = thread->wall_ns;
    for (size_t i = 1; i < thread->n_nodes; i++) {
        if (nodes[i].timing == PM_RUN_FILE_UNTIMED || nodes[i].flags & PM_RUN_NODE_FOREIGN_STACK)
            continue; /* they get their children's sum */
        uint64_t ns = pm_run_file_to_ns(file, inclusive_ticks(thread, raw, i, end_tsc));
        if (ns > thread->wall_ns) {
            n_beyond++;
            ns = 0;
        }
        nodes[i].inclusive_ns = ns;
    }
    if (n_beyond)
        run_complain(file, file->loads[index].chunk_offset,
                     "%zu contexts of thread %u have more time than the thread, %llu ns", n_beyond,
                     thread->tid, (unsigned long long)thread->wall_ns);
}

/* Parents come before their children, so one pass backwards raises, and one forwards hands out. */
static void balance_nodes(struct pm_run_file_thread *thread, struct pm_run_file_node *nodes,
                          u128 *child_sum, u128 *seen)
{
    size_t n = thread->n_nodes;
    for (size_t i = n; i-- > 0;) {
        bool is_root = nodes[i].parent == PM_RUN_FILE_NO_PARENT;
        /* A thread's root stays as it is; on a foreign stack nothing but the sum is known. */
        if (i > 0 && child_sum[i] > nodes[i].inclusive_ns)
            nodes[i].inclusive_ns = child_sum[i] > INT64_MAX ? INT64_MAX : (uint64_t)child_sum[i];
        if (!is_root)
            child_sum[nodes[i].parent] += nodes[i].inclusive_ns;
    }
    for (size_t i = 1; i < n; i++)
        if (nodes[i].parent ==
            PM_RUN_FILE_NO_PARENT) { /* it was there instead of on its own stack */
            if (nodes[i].inclusive_ns > nodes[0].inclusive_ns)
                nodes[i].inclusive_ns = nodes[0].inclusive_ns;
            nodes[0].inclusive_ns -= nodes[i].inclusive_ns;
        }
    for (size_t i = 0; i < n; i++) {
        uint32_t parent = nodes[i].parent;
        if (parent == PM_RUN_FILE_NO_PARENT) {
            nodes[i].own_ns = nodes[i].inclusive_ns;
            continue;
        }
        uint64_t budget = nodes[parent].inclusive_ns, share = nodes[i].inclusive_ns;
        if (child_sum[parent] > budget) {
            /* Shares from the running sum, so that rounding loses nothing; both factors are below
             * 2^95 and 2^63, so in long double (64-bit mantissa), which is monotonic in the running
             * sum. */
            u128 before = seen[parent], after = before + share;
            seen[parent] = after;
            uint64_t to = (uint64_t)((long double)after / (long double)child_sum[parent] *
                                     (long double)budget);
            uint64_t from = (uint64_t)((long double)before / (long double)child_sum[parent] *
                                       (long double)budget);
            share = minus(to < budget ? to : budget, from);
        }
        if (share > nodes[parent].own_ns)
            share = nodes[parent].own_ns;
        nodes[i].inclusive_ns = nodes[i].own_ns = share;
        nodes[parent].own_ns -= share;
    }
}

/* The root's time is less than from start to end where several threads were one after the other,
 * and where the runtime took out what it did itself; 0: it does not tell. */
static uint64_t root_ticks(const struct pm_run_file_thread *thread,
                           const struct run_thread_load *load, uint64_t start, uint64_t end)
{
    const struct run_raw_node *root = &load->raw[0];
    uint64_t open = load->nodes[0].open ? minus(end, root->start_tsc) : 0;
    if (thread->n_threads > 1)
        return root->inclusive_tsc ? root->inclusive_tsc + open : 0;
    bool is_sound = root->start_tsc >= start && root->start_tsc <= end && !thread->has_sets;
    return is_sound ? root->inclusive_tsc + open : 0;
}

static enum pm_status make_thread_times(struct pm_run_file *file, size_t index,
                                        uint64_t process_end, struct pm_error *err)
{
    struct pm_run_file_thread *thread = &file->threads[index];
    struct run_thread_load *load = &file->loads[index];
    uint64_t process_start = file->process.start_tsc;
    uint64_t start = load->start_tsc, end = load->end_tsc;
    if (start < process_start || start > process_end)
        start = process_start;
    if (end < start || end > process_end)
        end = load->last_tsc >= start && load->last_tsc != 0 ? load->last_tsc : process_end;
    load->last_tsc = end;
    uint64_t wall = end - start;
    uint64_t told = root_ticks(thread, load, start, end);
    wall = told && told < wall ? told : wall;
    thread->start_ns = pm_run_file_to_ns(file, start - process_start);
    thread->end_ns = pm_run_file_to_ns(file, end - process_start);
    /* The difference of the rounded ends is at least the rounded difference. */
    thread->wall_ns =
        wall == end - start ? thread->end_ns - thread->start_ns : pm_run_file_to_ns(file, wall);
    measure_nodes(file, index, end);
    u128 *sums = pm_alloc_array(thread->n_nodes, 2 * sizeof *sums);
    if (!sums)
        return pm_error_set(err, PM_ERR_MEMORY, "no memory for %zu contexts of run file '%s'",
                            thread->n_nodes, file->name);
    balance_nodes(thread, load->nodes, sums, sums + thread->n_nodes);
    free(sums);
    for (size_t i = 1; i < thread->n_nodes; i++)
        if (load->nodes[i].parent == PM_RUN_FILE_NO_PARENT)
            thread->foreign_ns += load->nodes[i].inclusive_ns;
    return PM_OK;
}

enum pm_status run_make_times(struct pm_run_file *file, struct pm_error *err)
{
    file->process.tsc_hz = find_hz(file);
    file->process.start_tsc = file->header.start_tsc;
    uint64_t end = 0;
    enum pm_status status = find_end(file, err, &end);
    if (status != PM_OK)
        return status;
    file->process.end_ns = pm_run_file_to_ns(file, end - file->process.start_tsc);
    for (size_t i = 0; i < file->n_threads; i++) {
        status = make_thread_times(file, i, end, err);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}
