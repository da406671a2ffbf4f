/* What differs, by how much, and whether that can be chance. */
#include "compare.h"

#include "statistics.h"

#include <math.h>
#include <stdlib.h>

#define WRONG_PART 0.05 /* of the rows that are called different, at most */
#define SAME_LEVEL 0.90 /* two one-sided tests at 5 % */

struct judging {
    struct pm_comparison *c;
    struct pm_error *err;
    double *values[2]; /* room: [n_runs] of a side */
    double *p;         /* of rows that are tested */
    uint32_t *tested;  /* their positions */
    bool *significant;
    struct pm_welch *welch; /* per row */
    uint32_t n_tested;
};

static bool is_time(const struct pm_comparison *c)
{
    return strcmp(c->metric.kind, "time") == 0;
}

const char *pm_verdict_word(enum pm_verdict verdict, const struct pm_graph_metric *metric)
{
    bool is_of_time = strcmp(metric->kind, "time") == 0;
    switch (verdict) {
    case PM_VERDICT_LESS:
        return is_of_time ? "faster" : "less";
    case PM_VERDICT_MORE:
        return is_of_time ? "slower" : "more";
    case PM_VERDICT_SAME:
        return "same";
    case PM_VERDICT_CANNOT_TELL:
        return "cannot tell";
    case PM_VERDICT_UNDEFINED:
        return "undefined";
    case PM_VERDICT_NONE:
        break;
    }
    return "";
}

/* --- means --- */

static void summarise_side(const struct pm_comparison *c, struct pm_compare_row *row, int side)
{
    uint32_t n = c->sides[side].n_runs;
    double sum = 0, scaled = 0;
    row->states[side] = PM_COMPARE_UNKNOWN;
    for (uint32_t i = 0; i < n; i++) {
        const struct pm_compare_cell *cell = &row->cells[side][i];
        if (cell->state < row->states[side])
            row->states[side] = cell->state;
        row->is_at_least[side] |= cell->is_at_least;
        row->is_uncertain[side] |= cell->is_uncertain;
        if (cell->state == PM_COMPARE_UNKNOWN)
            sum = scaled = NAN;
        sum += cell->value;
        scaled += cell->value / c->sides[side].runs[i].speed;
    }
    row->means[side] = sum / n;
    row->scaled_means[side] = scaled / n;
}

static const struct pm_compare_cell *own_cells(const struct pm_compare_row *row, int side)
{
    return row->own_cells[side] ? row->own_cells[side] : row->cells[side];
}

static double own_mean(const struct pm_comparison *c, const struct pm_compare_row *row, int side)
{
    uint32_t n = c->sides[side].n_runs;
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct pm_compare_cell *cell = &own_cells(row, side)[i];
        sum += cell->state == PM_COMPARE_UNKNOWN ? (double)NAN : cell->value;
    }
    return sum / n;
}

static void summarise(const struct pm_comparison *c, struct pm_compare_row *row)
{
    row->reason = "";
    summarise_side(c, row, PM_COMPARE_A);
    summarise_side(c, row, PM_COMPARE_B);
    for (int side = 0; side < 2; side++)
        row->own_means[side] = own_mean(c, row, side);
    row->own_difference = row->own_means[1] - row->own_means[0];
    row->difference = row->means[1] - row->means[0];
    double change = row->scaled_means[1] - row->scaled_means[0];
    row->change_pct = row->scaled_means[0] > 0 ? 100 * change / row->scaled_means[0] : NAN;
    row->low_pct = row->high_pct = row->seen_pct = row->p = NAN;
}

/* --- how fast each run was --- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, uint32_t n)
{
    qsort(values, n, sizeof *values, compare_doubles);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* The mean logarithm over all runs of both sides; NAN: some run has nothing, or too little. Of own
 * costs, for what is slower in a row is so in all that this lies in. */
static double mean_log(const struct pm_comparison *c, const struct pm_compare_row *row)
{
    uint32_t n = c->sides[0].n_runs + c->sides[1].n_runs;
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        const struct pm_compare_cell *cells = own_cells(row, side);
        if (!(row->own_means[side] >= c->total.means[side] * PM_COMPARE_JUDGED_PCT / 100))
            return NAN;
        for (uint32_t i = 0; i < c->sides[side].n_runs; i++)
            sum += cells[i].value > 0 ? log(cells[i].value) / n : NAN;
    }
    return sum;
}

/* Of the rows that all runs have. logs: their means; room: as many numbers. */
static void find_speed(struct pm_comparison *c, int side, uint32_t run, const double *logs,
                       double *room)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < c->n_rows; r++)
        if (!isnan(logs[r]))
            room[n++] = log(own_cells(&c->rows[r], side)[run].value) - logs[r];
    c->sides[side].runs[run].speed = exp(median(room, n));
}

static bool find_speeds(struct pm_comparison *c)
{
    enum { LEAST_ROWS = 5 }; /* of fewer each may be what differs */
    double *logs = pm_alloc_array((size_t)c->n_rows + 1, sizeof *logs);
    double *room = pm_alloc_array((size_t)c->n_rows + 1, sizeof *room);
    bool good = logs && room;
    uint32_t n = 0;
    for (uint32_t r = 0; good && r < c->n_rows; r++) {
        logs[r] = mean_log(c, &c->rows[r]);
        n += !isnan(logs[r]);
    }
    c->is_scaled = good && n >= LEAST_ROWS;
    for (int side = 0; c->is_scaled && side < 2; side++)
        for (uint32_t i = 0; i < c->sides[side].n_runs; i++)
            find_speed(c, side, i, logs, room);
    free(logs);
    free(room);
    return good;
}

/* --- rows --- */

/* What costs nothing of this metric on either side is no row. */
static bool is_empty(const struct pm_compare_row *row)
{
    return row->means[0] == 0 && row->means[1] == 0; /* NAN: not known, and kept */
}

/* Times of small rows are noise. Counts are none. */
static bool is_large(const struct pm_comparison *c, const struct pm_compare_row *row)
{
    bool is = !is_time(c) && !is_empty(row);
    for (int side = 0; side < 2; side++)
        is |= row->means[side] >= c->total.means[side] * PM_COMPARE_JUDGED_PCT / 100 &&
              row->means[side] > 0;
    return is;
}

static const char *why_undefined(const struct pm_compare_row *row)
{
    if (isnan(row->difference))
        return "not measured in some run";
    if (row->is_at_least[0] || row->is_at_least[1])
        return "at least, in some run";
    return NULL;
}

/* Samples are counts: no side varies less than chance does. */
static void raise_variance(const struct pm_comparison *c, int side, struct pm_sample *sample)
{
    int64_t period_ns = 0;
    for (uint32_t i = 0; i < c->sides[side].n_runs; i++)
        if (c->sides[side].runs[i].period_ns > period_ns)
            period_ns = c->sides[side].runs[i].period_ns;
    /* where nothing was found there may have been some: as of one sample */
    double least_ns = sample->mean > (double)period_ns ? sample->mean : (double)period_ns;
    double least = (double)period_ns * least_ns;
    if (c->is_sampled && sample->variance < least)
        sample->variance = least;
}

static struct pm_sample sample_of(const struct judging *j, const struct pm_compare_row *row,
                                  int side)
{
    const struct pm_compare_side *of = &j->c->sides[side];
    for (uint32_t i = 0; i < of->n_runs; i++)
        j->values[side][i] = row->cells[side][i].value / of->runs[i].speed;
    struct pm_sample sample = pm_sample_of(j->values[side], of->n_runs);
    raise_variance(j->c, side, &sample);
    return sample;
}

/* Is |by| what users call a difference? */
static bool is_effect(const struct judging *j, const struct pm_compare_row *row, double by)
{
    double of_row = row->scaled_means[0] * j->c->options.least_pct / 100;
    double of_total = j->c->total.scaled_means[0] * PM_COMPARE_JUDGED_PCT / 100;
    return fabs(by) >= fmin(of_row, of_total);
}

static void test_row(struct judging *j, uint32_t r)
{
    struct pm_compare_row *row = &j->c->rows[r];
    struct pm_sample a = sample_of(j, row, 0), b = sample_of(j, row, 1);
    struct pm_welch welch = pm_welch_test(&a, &b, 0.95);
    j->welch[r] = pm_welch_test(&a, &b, SAME_LEVEL);
    row->p = welch.p;
    if (a.mean > 0) {
        row->low_pct = 100 * welch.low / a.mean;
        row->high_pct = 100 * welch.high / a.mean;
        row->seen_pct = 100 * pm_welch_detectable(&welch) / a.mean;
    }
    j->p[j->n_tested] = welch.p;
    j->tested[j->n_tested++] = r;
}

static enum pm_verdict verdict_of(const struct judging *j, const struct pm_compare_row *row,
                                  const struct pm_welch *welch, bool is_significant)
{
    double by = row->scaled_means[1] - row->scaled_means[0];
    double within = row->scaled_means[0] * j->c->options.least_pct / 100;
    bool never_varies = welch->error <= 0; /* counts: each difference is one */
    if (is_significant && by != 0 && (never_varies || is_effect(j, row, by)))
        return by > 0 ? PM_VERDICT_MORE : PM_VERDICT_LESS;
    if (welch->low >= -within && welch->high <= within)
        return PM_VERDICT_SAME;
    return PM_VERDICT_CANNOT_TELL;
}

/* Each is tested, or has a reason why not. */
static void test_rows(struct judging *j)
{
    for (uint32_t r = 0; r < j->c->n_rows; r++) {
        struct pm_compare_row *row = &j->c->rows[r];
        const char *why = why_undefined(row);
        row->verdict = why ? PM_VERDICT_UNDEFINED : PM_VERDICT_NONE;
        if (why)
            row->reason = why;
        else if (!row->is_judged)
            row->reason = "less than 0.5 % of the total";
        else
            test_row(j, r);
    }
}

static enum pm_status judge_rows(struct judging *j)
{
    test_rows(j);
    enum pm_status status =
        pm_benjamini_hochberg(j->p, j->n_tested, WRONG_PART, j->err, j->significant);
    if (status != PM_OK)
        return status;
    for (uint32_t i = 0; i < j->n_tested; i++) {
        struct pm_compare_row *row = &j->c->rows[j->tested[i]];
        row->verdict = verdict_of(j, row, &j->welch[j->tested[i]], j->significant[i]);
    }
    return PM_OK;
}

/* --- the total, as measured --- */

static enum pm_status judge_total(struct judging *j)
{
    struct pm_compare_row *total = &j->c->total;
    struct pm_shift shift = {0};
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < j->c->sides[side].n_runs; i++)
            j->values[side][i] = total->cells[side][i].value;
    enum pm_status status = pm_shift_test(j->values[0], j->c->sides[0].n_runs, j->values[1],
                                          j->c->sides[1].n_runs, j->err, &shift);
    if (status != PM_OK || !(total->means[0] > 0))
        return status;
    struct pm_sample a = pm_sample_of(j->values[0], j->c->sides[0].n_runs);
    struct pm_sample b = pm_sample_of(j->values[1], j->c->sides[1].n_runs);
    struct pm_welch welch = pm_welch_test(&a, &b, 0.95);
    total->p = shift.p;
    total->change_pct = 100 * total->difference / total->means[0];
    total->low_pct = 100 * shift.low / total->means[0];
    total->high_pct = 100 * shift.high / total->means[0];
    total->seen_pct = 100 * pm_welch_detectable(&welch) / total->means[0];
    double least = j->c->options.least_pct;
    if (shift.p < 0.05 && shift.shift != 0)
        total->verdict = shift.shift > 0 ? PM_VERDICT_MORE : PM_VERDICT_LESS;
    else
        total->verdict = total->low_pct >= -least && total->high_pct <= least
                             ? PM_VERDICT_SAME
                             : PM_VERDICT_CANNOT_TELL;
    return PM_OK;
}

/* --- order --- */

static int rank_of(const struct pm_compare_row *row)
{
    if (row->verdict == PM_VERDICT_MORE || row->verdict == PM_VERDICT_LESS)
        return 0;
    return row->is_judged ? 1 : 2;
}

static double known(double value)
{
    return isnan(value) ? 0 : fabs(value);
}

static const char *place_of(const struct pm_compare_row *row, int side)
{
    return row->places[side] ? row->places[side] : "";
}

static int compare_rows(const void *a_pointer, const void *b_pointer)
{
    const struct pm_compare_row *a = a_pointer, *b = b_pointer;
    if (rank_of(a) != rank_of(b))
        return rank_of(a) < rank_of(b) ? -1 : 1;
    if (known(a->difference) != known(b->difference))
        return known(a->difference) > known(b->difference) ? -1 : 1;
    double size_a = known(a->means[0]) + known(a->means[1]);
    double size_b = known(b->means[0]) + known(b->means[1]);
    if (size_a != size_b)
        return size_a > size_b ? -1 : 1;
    int by_name = strcmp(a->what, b->what);
    for (int side = 0; side < 2 && !by_name; side++)
        by_name = strcmp(place_of(a, side), place_of(b, side));
    return by_name;
}

/* --- all of it --- */

static bool make_room(struct judging *j)
{
    size_t n = (size_t)j->c->n_rows + 1;
    for (int side = 0; side < 2; side++)
        j->values[side] =
            pm_alloc_array((size_t)j->c->sides[side].n_runs + 1, sizeof *j->values[side]);
    j->p = pm_alloc_array(n, sizeof *j->p);
    j->tested = pm_alloc_array(n, sizeof *j->tested);
    j->significant = pm_alloc_array(n, sizeof *j->significant);
    j->welch = pm_alloc_array(n, sizeof *j->welch);
    return j->values[0] && j->values[1] && j->p && j->tested && j->significant && j->welch;
}

static void release(struct judging *j)
{
    free(j->values[0]);
    free(j->values[1]);
    free(j->p);
    free(j->tested);
    free(j->significant);
    free(j->welch);
}

bool pm_compare_is_of_one_side(const struct pm_compare_row *row)
{
    bool is_of_a = row->states[0] == PM_COMPARE_MEASURED;
    bool is_of_b = row->states[1] == PM_COMPARE_MEASURED;
    return is_of_a != is_of_b;
}

/* What lies in a row comes after it: where that goes, it lies in the one around it. */
static bool drop_empty(struct pm_comparison *c)
{
    uint32_t n = 0, *now = pm_alloc_array((size_t)c->n_rows + 1, sizeof *now);
    for (uint32_t r = 0; now && r < c->n_rows; r++) {
        uint32_t up = c->rows[r].parent;
        c->rows[r].parent = c->is_tree && up != PM_NONE ? now[up] : (uint32_t)PM_NONE;
        now[r] = is_empty(&c->rows[r]) ? c->rows[r].parent : n;
        if (now[r] == n)
            c->rows[n++] = c->rows[r];
    }
    c->n_rows = now ? n : c->n_rows;
    free(now);
    return now != NULL;
}

static void summarise_rows(struct pm_comparison *c)
{
    c->n_judged = 0;
    for (uint32_t r = 0; r < c->n_rows; r++) {
        summarise(c, &c->rows[r]);
        c->rows[r].is_judged = is_large(c, &c->rows[r]);
        c->n_judged += c->rows[r].is_judged;
    }
}

static void summarise_all(struct pm_comparison *c)
{
    summarise(c, &c->total);
    summarise_rows(c);
}

static enum pm_status judge(struct judging *j)
{
    if (!make_room(j) || (is_time(j->c) && !find_speeds(j->c)))
        return pm_error_set(j->err, PM_ERR_MEMORY, "out of memory");
    summarise_all(j->c); /* with the speeds, which are none of the total's */
    j->c->total.scaled_means[0] = j->c->total.means[0];
    j->c->total.scaled_means[1] = j->c->total.means[1];
    enum pm_status status = judge_rows(j);
    return status != PM_OK ? status : judge_total(j);
}

enum pm_status pm_compare_judge(struct pm_comparison *comparison, struct pm_error *err)
{
    struct judging j = {.c = comparison, .err = err};
    comparison->is_judged = comparison->sides[0].n_runs >= PM_COMPARE_LEAST_RUNS &&
                            comparison->sides[1].n_runs >= PM_COMPARE_LEAST_RUNS;
    summarise_all(comparison);
    if (!drop_empty(comparison))
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    enum pm_status status = comparison->is_judged ? judge(&j) : PM_OK;
    release(&j);
    if (status != PM_OK)
        return status;
    if (comparison->is_tree)
        return pm_compare_order_tree(comparison, compare_rows, err);
    if (comparison->n_rows)
        qsort(comparison->rows, comparison->n_rows, sizeof *comparison->rows, compare_rows);
    return PM_OK;
}

enum pm_status pm_compare_judge_in_order(struct pm_comparison *comparison, struct pm_error *err)
{
    struct judging j = {.c = comparison, .err = err};
    comparison->is_judged = comparison->sides[0].n_runs >= PM_COMPARE_LEAST_RUNS &&
                            comparison->sides[1].n_runs >= PM_COMPARE_LEAST_RUNS;
    summarise_all(comparison);
    enum pm_status status = comparison->is_judged ? judge(&j) : PM_OK;
    release(&j);
    return status;
}

enum pm_status pm_compare_judge_rows(struct pm_comparison *comparison, struct pm_error *err)
{
    struct judging j = {.c = comparison, .err = err};
    summarise_rows(comparison);
    if (!comparison->is_judged)
        return PM_OK;
    enum pm_status status =
        make_room(&j) ? judge_rows(&j) : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    release(&j);
    return status;
}
