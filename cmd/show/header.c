/* Above the table of a report: what header_facts.c tells, in lines of the terminal's width. */
#include "header.h"
#include "over_time.h"

#include "cmd/core/talk.h"

#include <stdlib.h>

struct page {
    const struct show_term *term;
    FILE *out;
    struct pm_buf command, run; /* the first line, until all of it is known */
    bool has_run;               /* it was printed */
};

static const char *color(const struct page *page, const char *code)
{
    return page->term->color ? code : "";
}

/* Columns of text with colours in it. */
static int width_without_colors(const char *text)
{
    int width = pm_text_width(text);
    for (const char *p = text; (p = strchr(p, '\033')) != NULL; p++)
        width -= (int)strcspn(p, "m") + 1;
    return width;
}

/* In one line with the command, which loses its middle for that; below it when hardly any of it
 * would stay. */
static void put_run(struct page *page)
{
    enum { COMMAND_LEAST = 16 };
    const char *sep = page->term->utf8 ? " · " : ", ";
    const char *command = page->command.len ? page->command.data : "",
               *run = page->run.len ? page->run.data : "";
    if (page->has_run)
        return;
    page->has_run = true;
    int width = page->term->width, room = width - pm_text_width(sep) - width_without_colors(run);
    bool one_line = !width || room >= pm_text_width(command) || room >= COMMAND_LEAST;
    fputs(color(page, SHOW_BOLD), page->out);
    show_put_cut_middle(page->term, page->out, command,
                        !width     ? pm_text_width(command)
                        : one_line ? room
                                   : width);
    fputs(color(page, SHOW_RESET), page->out);
    fprintf(page->out, "%s%s\n", one_line ? sep : "\n  ", run);
}

/* "wall 2.345 s · CPU 2.301 s · 1 144 samples · slow-down 0.9 %" */
static void add_to_run(struct page *page, enum show_fact_kind kind, const char *text)
{
    bool is_bad = kind == SHOW_FACT_BAD_END;
    if (page->run.len)
        pm_buf_add_str(&page->run, page->term->utf8 ? " · " : ", ");
    pm_buf_printf(&page->run, "%s%s%s", is_bad ? color(page, SHOW_RED) : "", text,
                  is_bad ? color(page, SHOW_RESET) : "");
}

static const struct {
    const char *label;
    bool wraps;
} lines[SHOW_N_FACT_KINDS] = {
    [SHOW_FACT_MORE_RUNS] = {"  ", false},
    [SHOW_FACT_SAMPLING] = {"  ", false},
    [SHOW_FACT_MACHINE] = {"  ", true},
    [SHOW_FACT_MEASURING] = {"  ", true},
    [SHOW_FACT_PREEMPTED] = {"  ", true},
    [SHOW_FACT_MODES] = {"  ", true},
    [SHOW_FACT_WARNING] = {"  warning: ", true},
    [SHOW_FACT_VIEW] = {"\n", false},
    [SHOW_FACT_FOLDED] = {"", false},
    [SHOW_FACT_FOCUS] = {"", false},
    [SHOW_FACT_NOTE] = {"  note: ", true},
};

static void put_fact(void *context, enum show_fact_kind kind, const char *text)
{
    struct page *page = context;
    if (kind == SHOW_FACT_COMMAND) {
        pm_buf_add_str(&page->command, text);
        return;
    }
    if (kind == SHOW_FACT_RUN || kind == SHOW_FACT_BAD_END) {
        add_to_run(page, kind, text);
        return;
    }
    put_run(page);
    if (lines[kind].wraps)
        show_put_wrapped(page->term, page->out, lines[kind].label, text);
    else
        fprintf(page->out, "%s%s\n", lines[kind].label, text);
}

void show_header(struct pm_view *report, const struct show_term *term, FILE *out)
{
    struct page page = {
        .term = term, .out = out, .command = PM_BUF_INIT(1 << 20), .run = PM_BUF_INIT(1 << 16)};
    show_tell_facts(report, term->utf8, put_fact, &page);
    put_run(&page);
    pm_buf_release(&page.command);
    pm_buf_release(&page.run);
}

static void say_text(char *text)
{
    if (text && *text)
        cmd_talk("note: %s", text);
    free(text);
}

void show_say_measuring(struct pm_view *report)
{
    say_text(show_measuring_text(report, true));
    say_text(pm_view_modes_line(report, true));
    say_text(show_left_out_text(report, true));
    say_text(show_interval_text(report, true));
    say_text(show_times_note(report, true));
}
