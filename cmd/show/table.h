/* What drawing a table (table.c) and finding room for it (table_room.c) have in common. */
#ifndef PM_SHOW_TABLE_H
#define PM_SHOW_TABLE_H

#include "cells.h"
#include "show.h"

enum {
    TABLE_MAX_COLUMNS = PM_VIEW_MAX_COLUMNS + 2, /* and the bar, and what rows had over time */
    TABLE_GAP = 2,
    TABLE_NAME_MIN = 20,
    TABLE_SOURCE_LEAST = 12,     /* columns for the text of the source beside a name */
    TABLE_MAX_MARGIN_DEPTH = 256 /* more than the widest terminal has */
};

#define TABLE_SPARK "over time"

struct table_column {
    const struct show_cell_column *cell; /* NULL: the bar, or the spark line */
    bool is_spark;
    enum pm_view_turn turn;
    int width; /* 0: there is no room for it */
};

struct table {
    struct pm_view *report;
    struct pm_view_label *labels; /* [n_shown] */
    struct show_term term;
    FILE *out;
    struct show_cells cells;
    struct table_column columns[TABLE_MAX_COLUMNS];
    int n_columns;
    int place_width, what_width; /* 0: no places */
    int marks_width;             /* letters left of names; 0: none */
    bool has_places;
    int margin_unit, margin_most; /* tree: columns a level, and left of names at most */
    double bar_full_pct;          /* share of a full bar */
    char below[64];               /* of rows that were folded for they round to nothing */
};

/* Widths of all columns, and texts in the room they have. false: memory ended. */
bool table_fit(struct table *table);
/* The left margin of a row in a tree: what it takes, and what it would. */
int table_margin_width(const struct table *table, const struct pm_view_row *row);
int table_margin_wanted(const struct table *table, const struct pm_view_row *row);
/* What letters take beside the gap between places and names. */
int table_marks_room(const struct table *table);
int table_n_letters(const struct pm_view_label *label);

static inline int table_between(int low, int number, int high)
{
    return number < low ? low : number > high ? high : number;
}

static inline int table_larger(int a, int b)
{
    return a > b ? a : b;
}

#endif
