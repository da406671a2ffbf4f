/* Where in the run two sides begin to differ; docs/when.md explains it. */
#include "when.h"

#include "diff.h"
#include "show.h"

#include "mapping/base/json.h"
#include "mapping/view/interval.h"

#include <math.h>

static const char few_runs[] =
    "with fewer than 4 runs on each side nobody knows what is noise: bins differ that do by more "
    "than samples do by chance, or than neighbouring bins do";

static const char *const kinds[] = {"progress", "phases", "time"};

/* --- text --- */

struct text {
    const struct pm_when_part *part;
    struct show_term term;
    FILE *out;
};

/* "1.200 s" of a metric in ns, else the number. */
static void add_amount(const struct text *t, double value, struct pm_buf *out)
{
    char time[32];
    if (strcmp(t->part->unit, "ns") != 0) {
        pm_buf_printf(out, "%.6g %s", value, t->part->unit);
        return;
    }
    pm_view_put_time((int64_t)fabs(value), t->term.utf8, time);
    pm_buf_printf(out, "%s%s", value < 0 ? "-" : "", time);
}

static void add_time(const struct text *t, double ns, struct pm_buf *out)
{
    char time[32];
    pm_view_put_time((int64_t)ns, t->term.utf8, time);
    pm_buf_add_str(out, time);
}

static void add_edge(const struct text *t, uint32_t bin, struct pm_buf *out)
{
    const struct pm_when_part *part = t->part;
    if (part->kind == PM_WHEN_PROGRESS)
        pm_buf_printf(out, "entry %.0f", part->edges[bin]);
    else if (part->kind == PM_WHEN_PHASES)
        pm_buf_printf(out, "phase '%s'", part->names[bin]);
    else
        add_time(t, part->edges[bin], out);
    if (part->is_on_cpu)
        pm_buf_add_str(out, " of CPU time");
}

static void add_places(const struct text *t, struct pm_buf *out)
{
    const char *a = t->part->places[0], *b = t->part->places[1];
    if (*a && *b && strcmp(a, b) != 0)
        pm_buf_printf(out, " (%s %s %s)", a, t->term.utf8 ? "→" : "->", b);
    else if (*a || *b)
        pm_buf_printf(out, " (%s)", *a ? a : b);
}

static void put_wrapped(const struct text *t, struct pm_buf *text)
{
    if (!text->failed && text->len)
        show_put_wrapped(&t->term, t->out, "", text->data);
    pm_buf_release(text);
}

static void put_title(const struct text *t)
{
    const struct pm_when_part *part = t->part;
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    if (part->kind == PM_WHEN_PROGRESS) {
        pm_buf_printf(&text, "By progress, %s", part->what);
        add_places(t, &text);
        pm_buf_printf(&text,
                      ": A %.0f, B %.0f; wall time from one to the next, the %s of each of %u "
                      "parts",
                      part->total[0], part->total[1], part->is_median ? "median" : "mean",
                      part->n_bins);
    } else if (part->kind == PM_WHEN_TIME) {
        pm_buf_printf(&text, "By time, %s of %s", part->metric, part->what);
        add_places(t, &text);
        pm_buf_printf(&text, ": %u parts of %s", part->n_bins,
                      part->is_on_cpu ? "CPU time of the run, each " : "the run, each ");
        add_time(t, part->edges[1], &text);
    } else {
        pm_buf_printf(&text, "By phases, %s", part->metric);
    }
    put_wrapped(t, &text);
}

static double value_of(const struct pm_bin_difference *bin, int line)
{
    return line == 2 ? bin->difference : bin->means[line];
}

static double largest(const struct pm_when_part *part)
{
    double most = 0;
    for (uint32_t b = 0; b < part->n_bins; b++)
        for (int line = 0; line < 3; line++)
            most = fmax(most, fabs(value_of(&part->bins[b], line)));
    return most;
}

/* A letter for each of `columns` groups of bins, by their mean. */
static void put_spark(const struct text *t, int line, uint32_t columns, double most)
{
    static const char *const high[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
    enum { STEPS = sizeof high / sizeof *high - 1 };
    const struct pm_when_part *part = t->part;
    for (uint32_t i = 0; i < columns; i++) {
        uint32_t from = (uint32_t)((uint64_t)i * part->n_bins / columns);
        uint32_t until = (uint32_t)((uint64_t)(i + 1) * part->n_bins / columns);
        double sum = 0;
        for (uint32_t b = from; b < until; b++)
            sum += value_of(&part->bins[b], line) / (until - from);
        int step = most > 0 ? (int)ceil(fabs(sum) / most * STEPS) : 0;
        step = step > STEPS ? STEPS : step;
        fputs(t->term.utf8 ? high[step] : plain[step], t->out);
    }
}

static void put_sparks(const struct text *t)
{
    enum { MOST_COLUMNS = 90, FRAME = 6 };
    uint32_t columns = t->part->n_bins < MOST_COLUMNS ? t->part->n_bins : MOST_COLUMNS;
    if (t->term.width > FRAME && columns > (uint32_t)t->term.width - FRAME)
        columns = (uint32_t)t->term.width - FRAME;
    const char *const names[] = {"A", "B", t->term.utf8 ? "Δ" : "d"};
    double most = largest(t->part);
    for (int line = 0; line < 3; line++) {
        fprintf(t->out, "  %s |", names[line]);
        put_spark(t, line, columns, most);
        fputs("|\n", t->out);
    }
    if (t->part->first == PM_NONE)
        return;
    uint32_t at = (uint32_t)((uint64_t)t->part->first * columns / t->part->n_bins);
    fprintf(t->out, "     %*s%s\n", (int)at, "", "^");
}

static void put_phases(const struct text *t)
{
    for (uint32_t b = 0; b < t->part->n_bins; b++) {
        const struct pm_bin_difference *bin = &t->part->bins[b];
        struct pm_buf text = PM_BUF_INIT(1 << 16);
        pm_buf_printf(&text, "  %s %s: ", bin->is_out ? "*" : " ", t->part->names[b]);
        add_amount(t, bin->means[0], &text);
        pm_buf_add_str(&text, t->term.utf8 ? " → " : " -> ");
        add_amount(t, bin->means[1], &text);
        put_wrapped(t, &text);
    }
}

static void add_how_much(const struct text *t, struct pm_buf *out)
{
    const struct pm_when_part *part = t->part;
    pm_buf_add_str(out, part->mean_behind > 0 ? ", then B has " : ", then A has ");
    add_amount(t, fabs(part->mean_behind), out);
    const char *each = part->kind == PM_WHEN_PROGRESS ? "for each entry" : "in each part";
    pm_buf_printf(out, " more %s", each);
    if (part->mean_ahead_a > 0)
        pm_buf_printf(out, " (%+.0f %%)", 100 * part->mean_behind / part->mean_ahead_a);
}

static void put_answer(const struct text *t)
{
    const struct pm_when_part *part = t->part;
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    if (part->first == PM_NONE) {
        if (part->kind == PM_WHEN_PHASES)
            pm_buf_add_str(&text, "No difference begins: no phase leaves the band");
        else
            pm_buf_printf(&text, "No difference begins: in no %d parts in a row it leaves the band",
                          PM_WHEN_TOGETHER);
        put_wrapped(t, &text);
        return;
    }
    if (part->kind == PM_WHEN_PHASES) {
        pm_buf_add_str(&text, "The difference begins in ");
        add_edge(t, part->first, &text);
        put_wrapped(t, &text);
        return;
    }
    pm_buf_add_str(&text, part->first ? "Alike up to " : "They differ from the start: from ");
    add_edge(t, part->first, &text);
    if (part->kind == PM_WHEN_PROGRESS || part->is_on_cpu) {
        pm_buf_add_str(&text, ", which A has reached after ");
        add_time(t, part->begin_ns, &text);
    }
    pm_buf_printf(&text, " (%.1f %% of A)", 100 * part->edges[part->first] / part->run);
    add_how_much(t, &text);
    put_wrapped(t, &text);
}

void show_when_text(const struct pm_parting *when, const struct show_look *look, FILE *out)
{
    const struct show_diff_options options = {.heading = "", .few_runs = few_runs};
    show_diff_head(when->comparison, &options, look, out);
    for (uint32_t i = 0; i < when->n_parts; i++) {
        const struct text t = {&when->parts[i], show_term_of(out, look), out};
        if (i)
            fputc('\n', out);
        put_title(&t);
        fputc('\n', out);
        if (t.part->kind == PM_WHEN_PHASES)
            put_phases(&t);
        else
            put_sparks(&t);
        fputc('\n', out);
        put_answer(&t);
    }
}

/* --- for programs --- */

static void json_bin(const struct pm_when_part *part, uint32_t b, struct pm_json *json)
{
    const struct pm_bin_difference *bin = &part->bins[b];
    pm_json_object(json, NULL);
    if (part->names) {
        pm_json_string(json, "phase", part->names[b]);
    } else {
        pm_json_double(json, "from", part->edges[b]);
        pm_json_double(json, "until", part->edges[b + 1]);
    }
    pm_json_double(json, "a", bin->means[0]);
    pm_json_double(json, "b", bin->means[1]);
    pm_json_double(json, "difference", bin->difference);
    pm_json_double(json, "band", bin->band);
    pm_json_bool(json, "differs", bin->is_out);
    pm_json_end(json);
}

static void json_begin(const struct pm_when_part *part, struct pm_json *json)
{
    if (part->first == PM_NONE) {
        pm_json_null(json, "begins");
        return;
    }
    pm_json_object(json, "begins");
    pm_json_u64(json, "bin", part->first);
    if (part->names)
        pm_json_string(json, "phase", part->names[part->first]);
    else
        pm_json_double(json, "from", part->edges[part->first]);
    pm_json_double(json, "of_a_pct",
                   part->names ? NAN : 100 * part->edges[part->first] / part->run);
    bool is_timed = part->kind == PM_WHEN_PROGRESS || part->is_on_cpu;
    pm_json_double(json, "a_reaches_it_ns", is_timed ? part->begin_ns : NAN);
    pm_json_double(json, "mean_difference_behind", part->mean_behind);
    pm_json_end(json);
}

static void json_part(const struct pm_when_part *part, struct pm_json *json)
{
    static const char *const edges[] = {"entries", "phases", "ns since the start"};
    pm_json_object(json, NULL);
    pm_json_string(json, "by", kinds[part->kind]);
    pm_json_string(json, "what", part->what);
    pm_json_string(json, "a_where", part->places[0]);
    pm_json_string(json, "b_where", part->places[1]);
    pm_json_string(json, "metric", part->metric);
    pm_json_string(json, "unit", part->unit);
    pm_json_string(json, "bins_are_in",
                   part->is_on_cpu ? "ns of CPU time of the run" : edges[part->kind]);
    json_begin(part, json);
    pm_json_array(json, "bins");
    for (uint32_t b = 0; b < part->n_bins; b++)
        json_bin(part, b, json);
    pm_json_end(json);
    pm_json_end(json);
}

void show_when_json(const struct pm_parting *when, FILE *out)
{
    struct pm_json json;
    pm_json_init(&json, out);
    pm_json_object(&json, NULL);
    pm_json_string(&json, "format", "perfmap-when");
    pm_json_u64(&json, "version", 1);
    show_diff_json_head(when->comparison, &json);
    pm_json_array(&json, "parts");
    for (uint32_t i = 0; i < when->n_parts; i++)
        json_part(&when->parts[i], &json);
    pm_json_end(&json);
    pm_json_end(&json);
    (void)pm_json_done(&json); /* a failed write shows on the stream */
}

void show_when_csv(const struct pm_parting *when, FILE *out)
{
    fputs("by,what,from,until,a,b,difference,band,differs,begins\n", out);
    for (uint32_t i = 0; i < when->n_parts; i++) {
        const struct pm_when_part *part = &when->parts[i];
        for (uint32_t b = 0; b < part->n_bins; b++) {
            const struct pm_bin_difference *bin = &part->bins[b];
            fprintf(out, "%s,", kinds[part->kind]);
            show_csv_text(out, part->names ? part->names[b] : part->what);
            fprintf(out, ",%.10g,%.10g,%.10g,%.10g,%.10g,%.10g,%d,%d\n", part->edges[b],
                    part->edges[b + 1], bin->means[0], bin->means[1], bin->difference, bin->band,
                    bin->is_out, b == part->first);
        }
    }
}
