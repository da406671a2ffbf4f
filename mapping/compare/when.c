/* From runs to bins: by progress, by phases, by time. */
#include "when.h"

#include "when_entries.h"

#include "mapping/base/map.h"
#include "mapping/view/interval.h"

#include <math.h>
#include <stdlib.h>

enum { FINE = 512, MOST_PHASES = 26, LEAST_BINS = 8, USUAL_BINS = 100, SAMPLES_OF_BIN = 128 };
/* Of few runs, a beginning is this part of all bins in a row: a busy machine has slow moments. */
enum { PART_OF_FEW = 32 };

/* What a row has in each of FINE parts of a run. */
struct row_times {
    uint32_t row;
    float *cells;
};

struct run {
    double run_ns;
    struct row_times *rows;
    uint32_t n_rows;
    double total[FINE];
    double phases[MOST_PHASES];
    struct when_entries entries;
};

struct named_row {
    const char *what, *places[2];
};

struct finding {
    struct pm_parting *when;
    struct pm_error *err;
    struct run *runs; /* those of A first */
    uint32_t n_runs, cap_runs;
    struct named_row *rows;
    uint32_t n_row_names, cap_rows;
    struct pm_map row_of; /* key -> 1 + row */
    struct named_row target;
    uint64_t target_key;
    const char *phases[MOST_PHASES];
    uint32_t n_phases;
    const char *metric, *unit; /* over time */
    bool on_cpu;               /* bins are parts of the CPU time */
};

static enum pm_status no_memory(struct finding *f)
{
    return pm_error_set(f->err, PM_ERR_MEMORY, "out of memory");
}

static const char *keep(struct finding *f, const char *text)
{
    return text ? pm_arena_strndup(&f->when->arena, text, strlen(text)) : "";
}

/* --- rows over time --- */

static struct named_row *row_at(struct finding *f, uint64_t key, uint32_t *ret_row)
{
    uint32_t *at = pm_map_at(&f->row_of, key);
    if (!at)
        return NULL;
    if (!*at) {
        struct named_row *rows =
            pm_grow_array(f->rows, f->n_row_names, &f->cap_rows, 256, sizeof *rows);
        if (!rows)
            return NULL;
        f->rows = rows;
        rows[f->n_row_names] = (struct named_row){0};
        *at = ++f->n_row_names;
    }
    *ret_row = *at - 1;
    return &f->rows[*at - 1];
}

static bool has_any(const int64_t *cells)
{
    bool any = false;
    for (uint32_t i = 0; cells && i < FINE; i++)
        any |= cells[i] != 0;
    return any;
}

static bool take_row(struct finding *f, int side, struct pm_view *view, uint32_t r, uint64_t key,
                     struct run *run)
{
    struct pm_view_row *row = &view->rows[r];
    struct row_times *to = &run->rows[run->n_rows];
    if (!has_any(row->over_time))
        return true;
    struct named_row *named = row_at(f, key, &to->row);
    to->cells = pm_alloc_array(FINE, sizeof *to->cells);
    if (!named || !to->cells)
        return false;
    run->n_rows++;
    for (uint32_t i = 0; i < FINE; i++)
        to->cells[i] = (float)row->over_time[i];
    if (named->places[side])
        return true;
    pm_view_name_row(view, row);
    named->what = keep(f, row->what);
    named->places[side] = keep(f, row->place);
    return named->what && named->places[side];
}

static enum pm_status refuse_untimed(const struct finding *f, const struct pm_view *view)
{
    const char *why = pm_view_why_no_times(view->data);
    return pm_error_set(f->err, PM_ERR_NOT_FOUND, "'%s' does not know when its costs were: %s",
                        view->options.archive_path,
                        why ? why : "those of this metric have no times");
}

static enum pm_status take_metric(struct finding *f, const struct pm_view *view)
{
    if (view->over_time.metric == PM_NONE)
        return refuse_untimed(f, view);
    const struct pm_graph_metric *metric = &view->data->graph->metrics[view->over_time.metric];
    if (f->metric && strcmp(f->metric, metric->name) != 0)
        return pm_error_set(f->err, PM_ERR_NOT_FOUND,
                            "'%s' has %s over time, and others have %s: choose one by '--metric'",
                            view->options.archive_path, metric->name, f->metric);
    f->metric = f->metric ? f->metric : keep(f, metric->name);
    f->unit = f->unit ? f->unit : keep(f, metric->unit);
    return f->metric && f->unit ? PM_OK : no_memory(f);
}

static enum pm_status take_rows(struct finding *f, int side, struct pm_view *view,
                                const struct pm_view_key_names *names, struct run *run)
{
    struct pm_view_keys keys = {0};
    enum pm_status status = take_metric(f, view);
    if (status != PM_OK)
        return status;
    status = pm_view_keys_make(view, names, f->err, &keys);
    if (status != PM_OK)
        return status;
    run->rows = pm_alloc_array((size_t)view->n_rows + 1, sizeof *run->rows);
    bool good = run->rows != NULL;
    for (uint32_t r = 0; r < view->n_rows && good; r++)
        good = take_row(f, side, view, r, keys.items[r].hash, run);
    for (uint32_t i = 0; i < FINE && view->total.over_time; i++)
        run->total[i] = (double)view->total.over_time[i];
    pm_view_keys_release(&keys);
    return good ? pm_view_naming_status(view, f->err) : no_memory(f);
}

/* --- phases --- */

/* MOST_PHASES: there are more than that. */
static uint32_t phase_named(struct finding *f, const char *name)
{
    uint32_t i = 0;
    while (i < f->n_phases && strcmp(f->phases[i], name) != 0)
        i++;
    if (i == f->n_phases && i < MOST_PHASES) {
        f->phases[i] = keep(f, name);
        f->n_phases += f->phases[i] != NULL;
    }
    return i;
}

/* The innermost phase that a context is in; PM_NONE. */
static pm_index phase_of(const struct pm_view *view, pm_index context)
{
    const struct pm_graph *graph = view->data->graph;
    for (; context != PM_NONE; context = graph->contexts[context].parent) {
        pm_index sentence = view->sentence_of_focus ? view->sentence_of_focus[context]
                                                    : graph->contexts[context].sentence;
        pm_index noun = pm_graph_first_noun(graph, sentence);
        if (graph->contexts[context].flags & PM_CONTEXT_AMBIENT && noun != PM_NONE &&
            pm_view_noun_is(view, noun, "phase"))
            return noun;
    }
    return PM_NONE;
}

/* In the order in which the first run has them. */
static void order_phases(struct finding *f, const struct pm_view *view)
{
    const struct pm_view_over_time *over = &view->over_time;
    for (uint32_t i = 0; i < FINE; i++)
        for (uint32_t p = 0; p < over->n_phases; p++)
            if (over->phases[p].parts[i] > 0)
                (void)phase_named(f, over->phases[p].name);
}

static void take_phases(struct finding *f, const struct pm_view *view, struct run *run)
{
    const struct pm_graph *graph = view->data->graph;
    if (!f->n_phases)
        order_phases(f, view);
    for (uint32_t i = 0; view->over_time.n_phases && i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (cost->metric != view->over_time.metric || !view->in_focus[cost->context])
            continue;
        pm_index noun = phase_of(view, cost->context);
        uint32_t phase =
            noun == PM_NONE ? (uint32_t)MOST_PHASES : phase_named(f, graph->nouns[noun].name);
        if (phase < MOST_PHASES)
            run->phases[phase] += (double)cost->value;
    }
}

/* --- progress --- */

static bool is_entered(const struct pm_view *view, pm_index noun)
{
    const char *kind = view->data->graph->nouns[noun].kind;
    return view->data->graph->nouns[noun].level == view->level &&
           (!strcmp(kind, "loop") || !strcmp(kind, "function"));
}

/* The pattern, as A's first has it. */
static enum pm_status find_first_target(struct finding *f, const struct pm_view *view,
                                        pm_index *ret_noun)
{
    const char *pattern = f->when->options.progress;
    bool *in;
    enum pm_status status = pm_view_find_named(view, pattern, f->err, &in);
    if (status != PM_OK)
        return status;
    for (pm_index n = 0; n < view->data->graph->n_nouns && *ret_noun == PM_NONE; n++)
        if (in[n] && is_entered(view, n))
            *ret_noun = n;
    free(in);
    if (*ret_noun == PM_NONE)
        return pm_error_set(f->err, PM_ERR_NOT_FOUND, "'%s' is no loop or function of '%s'",
                            pattern, view->options.archive_path);
    f->target_key = pm_view_noun_key(view, NULL, *ret_noun);
    return f->target_key ? PM_OK : no_memory(f);
}

static enum pm_status find_target(struct finding *f, const struct pm_view *view,
                                  const struct pm_view_key_names *names, pm_index *ret_noun)
{
    *ret_noun = PM_NONE;
    if (!f->n_runs)
        return find_first_target(f, view, ret_noun);
    for (pm_index n = 0; n < view->data->graph->n_nouns && *ret_noun == PM_NONE; n++)
        if (is_entered(view, n) && pm_view_noun_key(view, names, n) == f->target_key)
            *ret_noun = n;
    if (*ret_noun != PM_NONE)
        return PM_OK;
    return pm_error_set(f->err, PM_ERR_NOT_FOUND, "'%s' has no '%s' of the first run",
                        view->options.archive_path, f->when->options.progress);
}

static bool name_target(struct finding *f, int side, const struct pm_view *view, pm_index noun)
{
    const struct pm_graph_noun *of = &view->data->graph->nouns[noun];
    struct pm_buf what = PM_BUF_INIT(1 << 20), place = PM_BUF_INIT(1 << 20);
    if (f->target.places[side])
        return true;
    pm_buf_printf(&what, "entries of %s ", of->kind);
    pm_buf_add_printable(&what, of->name, strlen(of->name));
    const char *file = pm_view_base_name(of->file);
    pm_buf_add_printable(&place, file, strlen(file));
    pm_buf_printf(&place, ":%u", of->line_no);
    f->target.what = what.failed ? NULL : keep(f, what.data);
    f->target.places[side] = place.failed ? NULL : keep(f, place.data);
    pm_buf_release(&what);
    pm_buf_release(&place);
    return f->target.what && f->target.places[side];
}

static enum pm_status take_entries(struct finding *f, int side, const struct pm_view *view,
                                   const struct pm_view_key_names *names, struct run *run)
{
    pm_index noun;
    enum pm_status status = find_target(f, view, names, &noun);
    if (status != PM_OK)
        return status;
    const struct pm_graph_noun *of = &view->data->graph->nouns[noun];
    const struct when_target target = {of->kind, of->name, of->file, of->line_no};
    if (!name_target(f, side, view, noun))
        return no_memory(f);
    return when_entries_read(view->options.archive_path, &target, f->err, &run->entries);
}

/* --- a run --- */

static enum pm_status visit(void *context, int side, struct pm_view *view,
                            const struct pm_view_key_names *names, struct pm_error *err)
{
    struct finding *f = context;
    struct run *runs = pm_grow_array(f->runs, f->n_runs, &f->cap_runs, 8, sizeof *runs);
    (void)err; /* the same */
    if (!runs)
        return no_memory(f);
    f->runs = runs;
    struct run *run = &runs[f->n_runs];
    *run = (struct run){.run_ns = (double)pm_view_run_ns(view->data)};
    enum pm_status status = f->when->options.progress ? take_entries(f, side, view, names, run)
                                                      : take_rows(f, side, view, names, run);
    f->n_runs++; /* to be released, in any case */
    if (!status && !f->when->options.progress)
        take_phases(f, view, run);
    return status;
}

/* --- parts --- */

static uint32_t n_of_side(const struct finding *f, int side)
{
    return f->when->comparison->sides[side].n_runs;
}

static double mean_of(const struct finding *f, int side, double (*of)(const struct run *run))
{
    uint32_t first = side ? n_of_side(f, PM_COMPARE_A) : 0;
    double sum = 0;
    for (uint32_t r = first; r < first + n_of_side(f, side); r++)
        sum += of(&f->runs[r]) / n_of_side(f, side);
    return sum;
}

static double run_ns_of(const struct run *run)
{
    return run->run_ns;
}

static double entries_of(const struct run *run)
{
    return run->entries.n;
}

/* A further part, with room for bins. NULL: memory ended. */
static struct pm_when_part *add_part(struct finding *f, enum pm_when_kind kind, uint32_t n_bins)
{
    struct pm_when_part *part = &f->when->parts[f->when->n_parts++];
    struct pm_arena *arena = &f->when->arena;
    bool is_progress = kind == PM_WHEN_PROGRESS;
    part->kind = kind;
    part->what = part->places[0] = part->places[1] = "";
    part->metric = is_progress ? "wall_ns" : f->metric;
    part->unit = is_progress ? "ns" : f->unit;
    part->bins = pm_arena_alloc(arena, (n_bins + 1) * sizeof *part->bins);
    part->edges = pm_arena_alloc(arena, (n_bins + 1) * sizeof *part->edges);
    part->n_bins = n_bins;
    part->run = mean_of(f, PM_COMPARE_A, run_ns_of);
    return part->bins && part->edges ? part : NULL;
}

/* By time only while A goes on. */
static void sum_up_behind(struct pm_when_part *part)
{
    uint32_t end = part->n_bins, first = part->first == PM_NONE ? end : part->first;
    while (part->kind == PM_WHEN_TIME && end > first + 1 && part->edges[end] > part->run)
        end--;
    uint32_t n = end - first;
    for (uint32_t b = first; b < end; b++) {
        part->mean_behind += part->bins[b].difference / n;
        part->mean_ahead_a += part->bins[b].means[0] / n;
    }
}

/* values: [n_runs][n_bins]. */
static enum pm_status compare_bins(struct finding *f, struct pm_when_part *part,
                                   const double *values, double unit, uint32_t n_together)
{
    struct pm_bins bins = {.values = values,
                           .n_bins = part->n_bins,
                           .n_runs = {n_of_side(f, 0), n_of_side(f, 1)},
                           .least_pct = f->when->options.compare.least_pct,
                           .unit = unit,
                           .n_together = n_together};
    enum pm_status status = pm_bins_compare(&bins, f->err, part->bins, &part->first);
    if (!status)
        sum_up_behind(part);
    return status;
}

static uint32_t least_entries(const struct finding *f)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t r = 0; r < f->n_runs; r++)
        least = f->runs[r].entries.n < least ? f->runs[r].entries.n : least;
    return least;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* room: [until - from]. */
static double median_step(const double *times, uint32_t from, uint32_t until, double *room)
{
    uint32_t n = until - from;
    for (uint32_t i = 0; i < n; i++)
        room[i] = times[from + i + 1] - times[from + i];
    qsort(room, n, sizeof *room, compare_doubles);
    return room[n / 2];
}

/* Of each bin the mean time from one entry to the next, and behind all of these the medians. room:
 * for the steps of a bin. */
static void fill_progress(const struct finding *f, const struct pm_when_part *part, double *values,
                          double *room)
{
    for (uint32_t r = 0; r < f->n_runs; r++)
        for (uint32_t b = 0; b < part->n_bins; b++) {
            const double *times = f->runs[r].entries.times_ns;
            uint32_t from = (uint32_t)part->edges[b], until = (uint32_t)part->edges[b + 1];
            double *value = &values[(size_t)r * 2 * part->n_bins + b];
            value[0] = (times[until] - times[from]) / (until - from);
            value[part->n_bins] = median_step(times, from, until, room);
        }
}

static void describe_progress(const struct finding *f, struct pm_when_part *part)
{
    part->what = f->target.what;
    part->places[0] = f->target.places[0];
    part->places[1] = f->target.places[1];
    part->run = part->total[0] = mean_of(f, PM_COMPARE_A, entries_of);
    part->total[1] = mean_of(f, PM_COMPARE_B, entries_of);
    for (uint32_t r = 0; part->first != PM_NONE && r < n_of_side(f, 0); r++)
        part->begin_ns +=
            f->runs[r].entries.times_ns[(uint32_t)part->edges[part->first]] / n_of_side(f, 0);
}

/* Where others have the processor at times the mean step of a bin is noise, and the median is not.
 * A delay of few entries shows in the mean only. With enough runs both are tested at a time, so
 * that chance has no more ways. differences: [2 * n_bins]. */
static void choose_steps(const struct finding *f, struct pm_when_part *part,
                         const struct pm_bin_difference *differences)
{
    bool is_judged = f->when->comparison->is_judged;
    uint32_t n = part->n_bins, together = is_judged ? PM_WHEN_TOGETHER : n / PART_OF_FEW;
    together = together > PM_WHEN_TOGETHER ? together : PM_WHEN_TOGETHER;
    together = together < n ? together : n;
    uint32_t first_mean = pm_bins_first(differences, n, together);
    uint32_t first_median = pm_bins_first(differences + n, n, together);
    part->is_median = is_judged ? first_mean == PM_NONE : first_median != PM_NONE;
    part->first = part->is_median ? first_median : first_mean;
    memcpy(part->bins, differences + (part->is_median ? n : 0), n * sizeof *part->bins);
    sum_up_behind(part);
}

static enum pm_status compare_steps(struct finding *f, struct pm_when_part *part,
                                    const double *values, struct pm_bin_difference *differences)
{
    struct pm_bins bins = {.values = values,
                           .n_bins = 2 * part->n_bins,
                           .n_middle = part->n_bins,
                           .n_runs = {n_of_side(f, 0), n_of_side(f, 1)},
                           .least_pct = f->when->options.compare.least_pct,
                           .n_together = PM_WHEN_TOGETHER};
    enum pm_status status = pm_bins_compare(&bins, f->err, differences, &part->first);
    if (!status)
        choose_steps(f, part, differences);
    return status;
}

static enum pm_status find_progress(struct finding *f)
{
    uint32_t n = least_entries(f), n_bins = f->when->options.n_bins;
    if (n < 2)
        return pm_error_set(f->err, PM_ERR_NOT_FOUND,
                            "'%s' is entered once in some run: of progress there is nothing",
                            f->when->options.progress);
    n_bins = n_bins ? n_bins : PM_WHEN_MOST_BINS;
    n_bins = n_bins < n ? n_bins : n - 1;
    struct pm_when_part *part = add_part(f, PM_WHEN_PROGRESS, n_bins);
    double *values = pm_alloc_array((size_t)n_bins * 2 * f->n_runs + 1, sizeof *values);
    double *room = pm_alloc_array(n, sizeof *room);
    struct pm_bin_difference *differences = pm_alloc_array(2 * (size_t)n_bins, sizeof *differences);
    enum pm_status status = PM_ERR_MEMORY;
    if (part && values && room && differences) {
        for (uint32_t b = 0; b <= n_bins; b++)
            part->edges[b] = floor((double)(n - 1) * b / n_bins);
        fill_progress(f, part, values, room);
        status = compare_steps(f, part, values, differences);
        describe_progress(f, part);
    }
    free(values);
    free(room);
    free(differences);
    return status == PM_ERR_MEMORY ? no_memory(f) : status;
}

/* --- time --- */

static double sum_of(const float *cells)
{
    double sum = 0;
    for (uint32_t i = 0; i < FINE; i++)
        sum += cells[i];
    return sum;
}

/* The row that differs most. sums: room, [n_row_names]. */
static uint32_t choose_row(const struct finding *f, double *sums)
{
    uint32_t best = 0;
    for (uint32_t r = 0; r < f->n_runs; r++) {
        int side = r >= n_of_side(f, PM_COMPARE_A);
        for (uint32_t i = 0; i < f->runs[r].n_rows; i++)
            sums[f->runs[r].rows[i].row] +=
                (side ? 1 : -1) * sum_of(f->runs[r].rows[i].cells) / n_of_side(f, side);
    }
    for (uint32_t i = 1; i < f->n_row_names; i++)
        best = fabs(sums[i]) > fabs(sums[best]) ? i : best;
    return best;
}

/* Of a row, or of all that the focus has: FINE parts; zero where the run has no such row. */
static void fine_cells(const struct finding *f, uint32_t run, uint32_t row, double *ret_cells)
{
    const struct run *of = &f->runs[run];
    memset(ret_cells, 0, FINE * sizeof *ret_cells);
    if (row == PM_NONE)
        memcpy(ret_cells, of->total, FINE * sizeof *ret_cells);
    for (uint32_t i = 0; i < of->n_rows; i++)
        for (uint32_t k = 0; of->rows[i].row == row && k < FINE; k++)
            ret_cells[k] = (double)of->rows[i].cells[k];
}

/* How long each of the FINE parts of a run is: by what all of it spent there, where the metric is
 * CPU time. Then it is no matter when others had the processor. */
static void find_lengths(const struct finding *f, uint32_t run, double *ret_lengths)
{
    for (uint32_t k = 0; k < FINE; k++)
        ret_lengths[k] = f->on_cpu ? f->runs[run].total[k] : f->runs[run].run_ns / FINE;
}

/* What lies between two edges; a part counts by how much of it is in between. */
static void add_between(const double *cells, const double *lengths, const struct pm_when_part *part,
                        double *ret_values)
{
    uint32_t b = 0;
    double from = 0;
    for (uint32_t k = 0; k < FINE; from += lengths[k], k++)
        for (double at = from, until = from + lengths[k]; at < until && b < part->n_bins;) {
            double next = fmin(until, part->edges[b + 1]);
            ret_values[b] += cells[k] * (next - at) / lengths[k];
            b += next >= part->edges[b + 1];
            at = next;
        }
}

static double length_of(const struct finding *f, uint32_t run)
{
    double lengths[FINE], sum = 0;
    find_lengths(f, run, lengths);
    for (uint32_t k = 0; k < FINE; k++)
        sum += lengths[k];
    return sum;
}

static int64_t period_of(const struct finding *f)
{
    int64_t period_ns = 0;
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < n_of_side(f, side); i++) {
            int64_t of = f->when->comparison->sides[side].runs[i].period_ns;
            period_ns = of > period_ns ? of : period_ns;
        }
    return period_ns;
}

static bool is_sampled(const struct finding *f)
{
    return !strcmp(f->metric, "cpu_ns") && period_of(f) > 0;
}

/* So many that a bin of what is looked at has some samples of all runs of a side. */
static uint32_t choose_n_bins(const struct finding *f, uint32_t row)
{
    double cells[FINE], sums[2] = {0};
    if (f->when->options.n_bins)
        return f->when->options.n_bins;
    for (uint32_t r = 0; r < f->n_runs; r++) {
        fine_cells(f, r, row, cells);
        for (uint32_t k = 0; k < FINE; k++)
            sums[r >= n_of_side(f, PM_COMPARE_A)] += cells[k];
    }
    double most = fmax(sums[0], sums[1]);
    double n = is_sampled(f) ? most / (double)period_of(f) / SAMPLES_OF_BIN : USUAL_BINS;
    return (uint32_t)fmin(fmax(n, LEAST_BINS), USUAL_BINS);
}

static void fill_time(const struct finding *f, struct pm_when_part *part, uint32_t row,
                      double *values)
{
    double cells[FINE], lengths[FINE], end_ns = 0;
    for (uint32_t r = 0; r < f->n_runs; r++)
        end_ns = fmax(end_ns, length_of(f, r));
    for (uint32_t b = 0; b <= part->n_bins; b++)
        part->edges[b] = end_ns * b / part->n_bins;
    for (uint32_t r = 0; r < f->n_runs; r++) {
        fine_cells(f, r, row, cells);
        find_lengths(f, r, lengths);
        add_between(cells, lengths, part, values + (size_t)r * part->n_bins);
    }
    part->run = 0;
    for (uint32_t r = 0; r < n_of_side(f, PM_COMPARE_A); r++)
        part->run += length_of(f, r) / n_of_side(f, PM_COMPARE_A);
    part->is_on_cpu = f->on_cpu;
}

/* When A has spent so much, since its start: of its first run. */
static double time_at(const struct finding *f, double spent)
{
    double lengths[FINE], so_far = 0, width = f->runs[0].run_ns / FINE;
    find_lengths(f, 0, lengths);
    for (uint32_t k = 0; k < FINE; so_far += lengths[k], k++)
        if (so_far + lengths[k] >= spent && lengths[k] > 0)
            return width * (k + (spent - so_far) / lengths[k]);
    return f->runs[0].run_ns;
}

static const char *focus_text(struct finding *f)
{
    struct pm_buf text = PM_BUF_INIT(1 << 16), printable = PM_BUF_INIT(1 << 18);
    pm_view_add_foci(f->when->options.compare.view.focus, &text);
    pm_buf_add_str(&printable, "focus ");
    pm_buf_add_printable(&printable, text.len ? text.data : "", text.len);
    const char *kept = text.failed || printable.failed ? NULL : keep(f, printable.data);
    pm_buf_release(&text);
    pm_buf_release(&printable);
    return kept;
}

static bool describe_time(struct finding *f, struct pm_when_part *part, uint32_t row)
{
    if (row == PM_NONE)
        return (part->what = focus_text(f)) != NULL;
    part->what = f->rows[row].what;
    for (int side = 0; side < 2; side++)
        part->places[side] = f->rows[row].places[side] ? f->rows[row].places[side] : "";
    return true;
}

static enum pm_status find_time(struct finding *f)
{
    double *sums = pm_alloc_array((size_t)f->n_row_names + 1, sizeof *sums);
    if (!sums)
        return no_memory(f);
    bool has_focus = f->when->options.compare.view.focus[0] != NULL;
    uint32_t row = has_focus ? (uint32_t)PM_NONE : choose_row(f, sums);
    free(sums);
    if (!has_focus && !f->n_row_names)
        return pm_error_set(f->err, PM_ERR_NOT_FOUND, "no run has %s over time", f->metric);
    f->on_cpu = row != PM_NONE && !strcmp(f->metric, "cpu_ns");
    struct pm_when_part *part = add_part(f, PM_WHEN_TIME, choose_n_bins(f, row));
    double *values =
        part ? pm_alloc_array((size_t)part->n_bins * f->n_runs + 1, sizeof *values) : NULL;
    enum pm_status status = PM_ERR_MEMORY;
    if (values && describe_time(f, part, row)) {
        fill_time(f, part, row, values);
        double unit = is_sampled(f) ? (double)period_of(f) : 0;
        status = compare_bins(f, part, values, unit, PM_WHEN_TOGETHER);
        if (part->first != PM_NONE)
            part->begin_ns = time_at(f, part->edges[part->first]);
    }
    free(values);
    return values ? status : no_memory(f);
}

/* --- phases --- */

static enum pm_status find_phases(struct finding *f)
{
    if (f->n_phases < 2)
        return PM_OK;
    struct pm_when_part *part = add_part(f, PM_WHEN_PHASES, f->n_phases);
    double *values = pm_alloc_array((size_t)f->n_phases * f->n_runs + 1, sizeof *values);
    enum pm_status status = PM_ERR_MEMORY;
    if (part)
        part->names = pm_arena_alloc(&f->when->arena, f->n_phases * sizeof *part->names);
    if (part && values && part->names) {
        for (uint32_t p = 0; p < f->n_phases; p++) {
            part->names[p] = f->phases[p];
            part->edges[p + 1] = p + 1;
            for (uint32_t r = 0; r < f->n_runs; r++)
                values[(size_t)r * f->n_phases + p] = f->runs[r].phases[p];
        }
        status = compare_bins(f, part, values, is_sampled(f) ? (double)period_of(f) : 0, 1);
    }
    free(values);
    return part && part->names ? status : no_memory(f);
}

/* --- all of it --- */

static enum pm_status find(struct finding *f, const struct pm_compare_input inputs[2])
{
    struct pm_when_options *options = &f->when->options;
    const struct pm_compare_visitor visitor = {visit, f};
    options->compare.view.over_time = options->progress ? 0 : FINE;
    options->compare.view.tells_threads = true;
    enum pm_status status =
        pm_compare(&options->compare, inputs, &visitor, f->err, &f->when->comparison);
    if (status != PM_OK)
        return status;
    if (options->progress)
        return find_progress(f);
    status = find_phases(f);
    return status != PM_OK ? status : find_time(f);
}

static void release(struct finding *f)
{
    for (uint32_t r = 0; r < f->n_runs; r++) {
        for (uint32_t i = 0; i < f->runs[r].n_rows; i++)
            free(f->runs[r].rows[i].cells);
        free(f->runs[r].rows);
        free(f->runs[r].entries.times_ns);
    }
    free(f->runs);
    free(f->rows);
    pm_map_release(&f->row_of);
}

enum pm_status pm_when(const struct pm_when_options *options,
                       const struct pm_compare_input inputs[2], struct pm_error *err,
                       struct pm_parting **ret)
{
    struct finding f = {.err = err, .when = pm_alloc(sizeof *f.when)};
    if (!f.when)
        return no_memory(&f);
    f.when->options = *options;
    enum pm_status status = find(&f, inputs);
    release(&f);
    if (status != PM_OK)
        pm_when_free(f.when);
    *ret = status != PM_OK ? NULL : f.when;
    return status;
}

void pm_when_free(struct pm_parting *when)
{
    if (!when)
        return;
    pm_comparison_free(when->comparison);
    pm_arena_release(&when->arena);
    free(when);
}
