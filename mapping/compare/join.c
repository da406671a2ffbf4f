/* Constructs that one side computes together and the other apart become one row. */
#include "compare_internal.h"

#include <stdlib.h>

/* A set joins its members when it has this part of itself and the largest of them alone. Of less it
 * stays a row: else some few samples lump loops together that have nothing to do with each other
 * (17 % of SQLite's cost, at -O2 against -O3). */
#define JOINED_PART 0.2

struct joining {
    struct pm_comparison *to;
    const struct compare_parts *parts;
    struct pm_map alone;  /* key -> 1 + row of that construct alone */
    struct pm_map in_set; /* key -> 1 + row, the first set with that construct that joins */
    uint32_t *head;       /* per row: another one of its group; itself */
    uint32_t *order;      /* rows in the order of their places */
};

static bool is_set(const struct joining *j, uint32_t row)
{
    return j->parts[row].n > 1;
}

static bool is_measured(const struct joining *j, uint32_t row, int side)
{
    for (uint32_t i = 0; i < j->to->sides[side].n_runs; i++)
        if (j->to->rows[row].cells[side][i].state == PM_COMPARE_MEASURED)
            return true;
    return false;
}

static double mean_of(const struct joining *j, uint32_t row, int side)
{
    uint32_t n = j->to->sides[side].n_runs;
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += j->to->rows[row].cells[side][i].value;
    return sum / n;
}

static uint32_t head_of(const struct joining *j, uint32_t row)
{
    while (j->head[row] != row)
        row = j->head[row];
    return row;
}

/* Sets are heads: they have the names. */
static void unite(struct joining *j, uint32_t set, uint32_t row)
{
    set = head_of(j, set);
    row = head_of(j, row);
    if (is_set(j, row) && !is_set(j, set))
        j->head[set] = row;
    else
        j->head[row] = set;
}

/* The side that alone has the set; -1: both do, or none. */
static int only_side(const struct joining *j, uint32_t set)
{
    bool a = is_measured(j, set, PM_COMPARE_A), b = is_measured(j, set, PM_COMPARE_B);
    if (a == b)
        return -1;
    return a ? PM_COMPARE_A : PM_COMPARE_B;
}

/* Does the other side have some of its members, and does the set have enough of them? */
static bool joins(const struct joining *j, uint32_t set)
{
    int side = only_side(j, set);
    bool other_has = false;
    double largest = 0;
    for (uint32_t i = 0; side >= 0 && i < j->parts[set].n; i++) {
        uint32_t alone = pm_map_get(&j->alone, j->parts[set].nouns[i]);
        if (!alone)
            continue;
        other_has |= is_measured(j, alone - 1, !side);
        double mean = mean_of(j, alone - 1, side);
        largest = mean > largest ? mean : largest;
    }
    double own = side >= 0 ? mean_of(j, set, side) : 0;
    return other_has && own > 0 && own >= JOINED_PART * (own + largest);
}

static bool find_alone(struct joining *j)
{
    for (uint32_t r = 0; r < j->to->n_rows; r++)
        if (j->parts[r].n == 1 && !pm_map_put(&j->alone, j->parts[r].nouns[0], r + 1))
            return false;
    return true;
}

static bool join_set(struct joining *j, uint32_t set)
{
    for (uint32_t i = 0; i < j->parts[set].n; i++) {
        uint32_t alone = pm_map_get(&j->alone, j->parts[set].nouns[i]);
        uint32_t *other = pm_map_at(&j->in_set, j->parts[set].nouns[i]);
        if (!other)
            return false;
        if (alone)
            unite(j, set, alone - 1);
        if (*other)
            unite(j, *other - 1, set);
        else
            *other = set + 1;
    }
    return true;
}

/* --- what a group has --- */

static void add_cell(struct pm_compare_cell *sum, const struct pm_compare_cell *cell)
{
    bool is_first = sum->state != PM_COMPARE_MEASURED;
    if (cell->state != PM_COMPARE_MEASURED) {
        if (is_first && cell->state < sum->state) /* no cost, absent, not known */
            sum->state = cell->state;
        return;
    }
    sum->value += cell->value;
    sum->is_uncertain = cell->is_uncertain && (is_first || sum->is_uncertain);
    sum->is_at_least |= cell->is_at_least;
    sum->state = PM_COMPARE_MEASURED;
}

static bool add_cells(struct joining *j, struct pm_compare_row *to,
                      const struct pm_compare_row *from, int side)
{
    uint32_t n = j->to->sides[side].n_runs;
    struct pm_compare_cell *sums = pm_arena_alloc(&j->to->arena, (n + 1) * sizeof *sums);
    if (!sums)
        return false;
    memcpy(sums, to->cells[side], n * sizeof *sums);
    for (uint32_t i = 0; i < n; i++)
        add_cell(&sums[i], &from->cells[side][i]);
    to->cells[side] = sums;
    return true;
}

/* "{a, b}", where each is a place or such a list itself. */
static const char *add_place(struct joining *j, const char *places, const char *place)
{
    if (!place || !*place || (places && strstr(places, place)))
        return places;
    if (!places || !*places)
        return place;
    size_t n = strlen(places), n_more = strlen(place);
    bool is_list = *places == '{', is_more = *place == '{';
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    pm_buf_printf(&text, "{%.*s, %.*s}", (int)(n - 2 * is_list), places + is_list,
                  (int)(n_more - 2 * is_more), place + is_more);
    const char *kept = text.failed ? NULL : pm_arena_strndup(&j->to->arena, text.data, text.len);
    pm_buf_release(&text);
    return kept;
}

static bool add_row(struct joining *j, struct pm_compare_row *to, const struct pm_compare_row *from)
{
    for (int side = 0; side < 2; side++) {
        const char *more = from->places[side];
        to->places[side] = add_place(j, to->places[side], more);
        if ((more && !to->places[side]) || !add_cells(j, to, from, side))
            return false;
    }
    return true;
}

/* Which side has the constructs apart. */
static const char *how(const struct joining *j, uint32_t set)
{
    static const char *const texts[] = {"", "B: apart", "A: apart"};
    return texts[1 + only_side(j, set)];
}

static const char *place_of(const struct pm_compare_row *row)
{
    const char *a = row->places[PM_COMPARE_A], *b = row->places[PM_COMPARE_B];
    if (a)
        return a;
    return b ? b : "";
}

static int compare_places(const void *a, const void *b, void *context)
{
    const struct pm_compare_row *rows = context;
    return strverscmp(place_of(&rows[*(const uint32_t *)a]), place_of(&rows[*(const uint32_t *)b]));
}

static bool add_up(struct joining *j)
{
    uint32_t n = j->to->n_rows, n_kept = 0;
    struct pm_compare_row *rows = j->to->rows;
    for (uint32_t r = 0; r < n; r++) /* before the cells of heads are those of all */
        if (head_of(j, r) != r)
            rows[head_of(j, r)].joined = how(j, head_of(j, r));
    for (uint32_t r = 0; r < n; r++)
        j->order[r] = r;
    if (n)
        qsort_r(j->order, n, sizeof *j->order, compare_places, rows);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t r = j->order[i], head = head_of(j, r);
        if (head != r && !add_row(j, &rows[head], &rows[r]))
            return false;
    }
    for (uint32_t r = 0; r < n; r++)
        if (head_of(j, r) == r)
            rows[n_kept++] = rows[r];
    j->to->n_rows = n_kept;
    return true;
}

static bool join_all(struct joining *j)
{
    uint32_t n = j->to->n_rows;
    bool good = j->head && j->order && find_alone(j);
    for (uint32_t r = 0; good && r < n; r++)
        j->head[r] = r;
    for (uint32_t r = 0; good && r < n; r++)
        if (is_set(j, r) && joins(j, r))
            good = join_set(j, r);
    return good && add_up(j);
}

enum pm_status compare_join(struct pm_comparison *to, const struct compare_parts *parts,
                            struct pm_error *err)
{
    struct joining j = {.to = to, .parts = parts};
    if (to->is_inclusive || to->is_tree)
        return PM_OK;
    j.head = pm_alloc_array((size_t)to->n_rows + 1, sizeof *j.head);
    j.order = pm_alloc_array((size_t)to->n_rows + 1, sizeof *j.order);
    bool good = join_all(&j);
    free(j.head);
    free(j.order);
    pm_map_release(&j.alone);
    pm_map_release(&j.in_set);
    return good ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}
