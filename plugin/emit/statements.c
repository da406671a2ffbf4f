/* Where the statements of a function begin and end, and which of them a place is of. */
#include "statements.h"

#include <limits.h>
#include <stdlib.h>

/* "(" of if, while and switch: GCC's places are before the condition's text by so much. */
enum { MAX_PARENTHESES = 1 };

void pm_range_widen(struct pm_range *range, const struct pm_place *place)
{
    struct pm_text_point point = pm_place_point(place);
    if (!range->file)
        *range = (struct pm_range){place->file, point, point};
    if (range->file != place->file)
        return;
    if (pm_text_point_less(point, range->first))
        range->first = point;
    if (pm_text_point_less(range->last, point))
        range->last = point;
}

bool pm_statements_add(struct pm_statements *statements, const struct pm_range *range)
{
    struct pm_range *list =
        pm_grow_array(statements->list, statements->n, &statements->cap, 4, sizeof *list);
    if (!list)
        return false;
    statements->list = list;
    list[statements->n++] = *range;
    return true;
}

void pm_statements_release(struct pm_statements *statements)
{
    free(statements->list);
    *statements = (struct pm_statements){0};
}

/* --- their order --- */

/* With the number by which it came. */
struct numbered {
    struct pm_range range;
    uint32_t number;
};

static int compare_ranges(const void *a, const void *b)
{
    const struct numbered *one = a, *other = b;
    if (pm_text_point_less(one->range.first, other->range.first))
        return -1;
    if (pm_text_point_less(other->range.first, one->range.first))
        return 1;
    if (pm_text_point_less(other->range.last, one->range.last))
        return -1;
    if (pm_text_point_less(one->range.last, other->range.last))
        return 1;
    return one->number < other->number ? -1 : 1;
}

static void keep_outermost(struct pm_statements *statements, const struct numbered *sorted)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < statements->n; i++) {
        const struct pm_range *range = &sorted[i].range;
        const struct pm_range *outer = n > 0 ? &statements->list[n - 1] : NULL;
        bool within =
            outer && outer->file == range->file && !pm_text_point_less(outer->last, range->last);
        if (!within)
            statements->list[n++] = *range;
    }
    statements->n = n;
}

bool pm_statements_sort(struct pm_statements *statements)
{
    if (statements->n < 2)
        return true;
    struct numbered *sorted = pm_alloc_array(statements->n, sizeof *sorted);
    if (!sorted)
        return false;
    for (uint32_t i = 0; i < statements->n; i++)
        sorted[i] = (struct numbered){statements->list[i], i};
    qsort(sorted, statements->n, sizeof *sorted, compare_ranges);
    keep_outermost(statements, sorted);
    free(sorted);
    return true;
}

static bool begins_at(const struct pm_range *range, const struct pm_place *place)
{
    return range->file == place->file && pm_text_point_same(range->first, pm_place_point(place));
}

void pm_statements_cut_coroutine(struct pm_statements *statements, const struct pm_place *name)
{
    bool is_coroutine = false;
    struct pm_text_point end = {0, 0};
    for (uint32_t i = 0; i < statements->n; i++) {
        const struct pm_range *range = &statements->list[i];
        is_coroutine = is_coroutine || begins_at(range, name);
        if (range->file == name->file && pm_text_point_less(end, range->last))
            end = range->last;
    }
    for (uint32_t i = 0; is_coroutine && i < statements->n; i++) {
        struct pm_range *range = &statements->list[i];
        if (range->file == name->file && pm_text_point_same(range->last, end))
            range->last = range->first;
    }
}

/* --- which one --- */

static bool begins_at_most_at(const void *item, const void *point)
{
    const struct pm_range *range = item;
    return !pm_text_point_less(*(const struct pm_text_point *)point, range->first);
}

static int statement_holding(const struct pm_statements *statements, const struct pm_place *place)
{
    struct pm_text_point point = {place->line, statements->by_line ? UINT_MAX : place->column};
    if (statements->n == 0)
        return -1;
    size_t after = pm_lower_bound(statements->list, statements->n, sizeof *statements->list, &point,
                                  begins_at_most_at);
    if (after == 0)
        return -1;
    const struct pm_range *range = &statements->list[after - 1];
    bool holds = statements->by_line ? range->first.line == place->line
                                     : !pm_text_point_less(range->last, point);
    return holds && range->file == place->file ? (int)after - 1 : -1;
}

int pm_statement_at(const struct pm_statements *statements, const struct pm_place *place)
{
    struct pm_place inside = *place;
    int at = statement_holding(statements, &inside);
    for (int i = 0; i < MAX_PARENTHESES && at < 0 && !statements->by_line; i++) {
        inside.column++;
        at = statement_holding(statements, &inside);
    }
    return at;
}

static bool is_head(const struct pm_source_function *function, const struct pm_place *place)
{
    const struct pm_place *head = &function->place;
    return !function->in_macro && place->line == head->line && place->column == head->column &&
           place->file == head->file;
}

bool pm_statement_begin(const struct pm_source_function *function,
                        const struct pm_statements *texts, struct pm_place *place,
                        struct pm_text_point *ret_last)
{
    if (is_head(function, place))
        return false;
    int at = texts ? pm_statement_at(texts, place) : -1;
    *ret_last = pm_place_point(place);
    if (at < 0)
        return true;
    place->line = texts->list[at].first.line;
    place->column = texts->list[at].first.column;
    *ret_last = texts->list[at].last;
    return true;
}
