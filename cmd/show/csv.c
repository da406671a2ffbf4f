/* The report as CSV (RFC 4180, lines ended by a line feed): docs/report.md has the columns. */
#include "columns.h"
#include "formats.h"
#include "over_time.h"

void show_csv_text(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void csv_head(const struct pm_view *report, const struct show_columns *columns, FILE *out)
{
    fputs(report->options.tree ? "id,parent,depth,kind,what,place,file,line_no,linkage"
                               : "kind,what,place,file,line_no,linkage",
          out);
    for (uint32_t i = 0; i < columns->n; i++)
        fprintf(out, ",%s", columns->items[i].key);
    fprintf(out, "%s,incomplete%s",
            show_has_column(columns, PM_VIEW_COLUMN_CALLS) ? ",n_calls_complete" : "",
            show_tells_uncertain(report, columns) ? ",uncertain" : "");
    show_over_time_csv_head(report, out);
    fputc('\n', out);
}

static void number_csv(const struct pm_view_column *column, struct pm_view_number number, FILE *out)
{
    fputc(',', out);
    if (number.kind == PM_VIEW_INTEGER)
        fprintf(out, "%lld", (long long)number.integer);
    else if (number.kind == PM_VIEW_REAL && pm_view_column_unit(column) == PM_VIEW_UNIT_PERCENT)
        fprintf(out, "%.4f", number.real);
    else if (number.kind == PM_VIEW_REAL)
        fprintf(out, column->id == PM_VIEW_COLUMN_AVERAGE ? "%.15g" : "%.6g", number.real);
    else if (number.kind == PM_VIEW_TEXT)
        show_csv_text(out, number.text);
}

static void csv_numbers(const struct pm_view *report, const struct show_columns *columns,
                        const struct pm_view_row *row, FILE *out)
{
    struct pm_view_number n_calls = {0};
    for (uint32_t i = 0; i < columns->n; i++) {
        const struct pm_view_column *column = &columns->items[i];
        struct pm_view_number number = pm_view_number_of(report, column, row, PM_VIEW_PART_ROW);
        number_csv(column, number, out);
        if (column->id == PM_VIEW_COLUMN_CALLS)
            n_calls = number;
    }
    if (show_has_column(columns, PM_VIEW_COLUMN_CALLS))
        fputs(show_is_complete(n_calls) ? ",1" : ",0", out);
}

/* A symbol's name is the linker's already; `what` shows it as the source has it. */
static const char *linkage_of(struct pm_view *report, const struct pm_graph_noun *noun)
{
    const char *name = noun->linkage && *noun->linkage                   ? noun->linkage
                       : noun->kind && strcmp(noun->kind, "symbol") == 0 ? noun->name
                                                                         : NULL;
    const char *printable = name ? pm_text_printable(&report->arena, name) : NULL;
    return printable ? printable : "";
}

struct csv_list {
    FILE *out;
    int n;
};

static void key_csv(void *context, const char *key)
{
    struct csv_list *list = context;
    fprintf(list->out, "%s%s", list->n++ ? " " : "", key);
}

static void csv_marks(const struct pm_view *report, const struct show_columns *columns,
                      const struct pm_view_row *row, FILE *out)
{
    struct csv_list list = {out, 0};
    fputc(',', out);
    show_each_marked(report, columns, row, PM_VIEW_PART_ROW, SHOW_MARK_AT_LEAST, key_csv, &list);
    list.n = 0;
    if (show_tells_uncertain(report, columns)) {
        fputc(',', out);
        show_each_marked(report, columns, row, PM_VIEW_PART_ROW, SHOW_MARK_UNCERTAIN, key_csv,
                         &list);
    }
}

/* File, line and the linker's name of rows that are one noun. */
static void csv_place(struct pm_view *report, const struct pm_view_row *row, FILE *out)
{
    bool is_file = row->n_groups == 1 && report->groups[row->groups[0]].file;
    bool is_one = row->kind == PM_VIEW_ROW_NOUN || row->kind == PM_VIEW_ROW_UNMAPPED;
    pm_index noun = is_one ? pm_view_row_noun(report, row, 0) : PM_NONE;
    const struct pm_graph_noun *n = noun == PM_NONE ? NULL : &report->data->graph->nouns[noun];
    const char *file = is_file ? report->groups[row->groups[0]].file : n ? n->file : "";
    const char *printable = pm_text_printable(&report->arena, file);
    fputc(',', out);
    show_csv_text(out, printable ? printable : "");
    fputc(',', out);
    if (n && n->line_no && !is_file)
        fprintf(out, "%u", n->line_no);
    fputc(',', out);
    show_csv_text(out, n && !is_file ? linkage_of(report, n) : "");
}

static bool write_csv(struct pm_view *report, const struct show_look *look, FILE *out)
{
    (void)look;
    struct show_columns columns = show_columns_of(report);
    csv_head(report, &columns, out);
    for (uint32_t r = 0; r < report->n_shown; r++) {
        const struct pm_view_row *row = &report->rows[r];
        if (report->options.tree && row->parent_id == PM_NONE)
            fprintf(out, "%u,,%u,", row->id, row->depth);
        else if (report->options.tree)
            fprintf(out, "%u,%u,%u,", row->id, row->parent_id, row->depth);
        show_csv_text(out, show_row_kind(report, row));
        fputc(',', out);
        show_csv_text(out, row->what);
        fputc(',', out);
        show_csv_text(out, row->place);
        csv_place(report, row, out);
        csv_numbers(report, &columns, row, out);
        csv_marks(report, &columns, row, out);
        show_over_time_csv(report, row, out);
        fputc('\n', out);
    }
    return true;
}

const struct show_format show_format_csv = {
    .word = "csv",
    .is_for_programs = true,
    .is_rows_only = true,
    .rows = write_csv,
    .modes = show_modes_csv,
};
