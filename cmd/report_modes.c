/* Nouns that were in another mode than the program: which, for how long, and what is therefore not known of them. */
#include "report.h"

#include "mapping/base/json.h"

#include <stdlib.h>

static const char *const mode_words[] = {"off", "count", "active", "exact", "trace"};

static bool is_timed_mode(const char *mode)
{
    return !strcmp(mode, "exact") || !strcmp(mode, "trace");
}

bool report_is_timed_run(const struct report *report)
{
    for (uint32_t i = 0; i < report->data->n_executions; i++)
        if (!is_timed_mode(report->data->executions[i].mode))
            return false;
    return true;
}

/* --- what is known of a noun --- */

enum { HAS_TIME = 1, MARKED_UNTIMED = 2 };

/* A noun without a time was not timed, unless all that was not otherwise marked was. */
enum pm_status report_find_untimed(struct report *report, struct pm_error *err)
{
    const struct pm_archive_data *data = report->data;
    const struct pm_graph *graph = data->graph;
    unsigned char *marks = pm_alloc_array(graph->n_nouns, sizeof *marks);
    report->is_untimed = pm_alloc_array(graph->n_nouns, sizeof *report->is_untimed);
    if (!marks || !report->is_untimed) {
        free(marks);
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    pm_index wall = pm_graph_find_metric(graph, "wall_ns");
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        pm_index noun =
            pm_graph_first_noun(graph, graph->contexts[graph->costs[i].context].sentence);
        if (graph->costs[i].metric == wall && graph->costs[i].value > 0 && noun != PM_NONE)
            marks[noun] |= HAS_TIME;
    }
    for (uint32_t i = 0; i < data->n_noun_modes; i++)
        if (data->noun_modes[i].mode < PM_RUN_MODE_EXACT)
            marks[data->noun_modes[i].noun] |= MARKED_UNTIMED;
    bool timed_run = report_is_timed_run(report);
    for (pm_index n = 0; n < graph->n_nouns; n++)
        report->is_untimed[n] = !(marks[n] & HAS_TIME) && (!timed_run || marks[n] & MARKED_UNTIMED);
    free(marks);
    return PM_OK;
}

bool report_is_untimed(const struct report *report, pm_index context)
{
    const struct pm_graph *graph = report->data->graph;
    pm_index noun = pm_graph_first_noun(graph, graph->contexts[context].sentence);
    return graph->contexts[context].parent != PM_NONE &&
           (noun == PM_NONE || report->is_untimed[noun] ||
            graph->contexts[context].flags & (PM_CONTEXT_INLINED | PM_CONTEXT_SAMPLED));
}

/* --- all of them, by noun --- */

/* All stays of a noun in one mode, over all processes. */
struct stay {
    pm_index noun;
    enum pm_run_mode mode;
    bool is_asked;
    int64_t from_ns, until_ns; /* the first and the last of it; until_ns PM_UNKNOWN: to the end */
    int64_t n_events;
    double in_ns, of_ns; /* how long, and how long the processes were in which it was */
};

struct report_stays {
    struct stay *items;
    uint32_t n;
};

static int compare_modes(const void *a, const void *b)
{
    const struct pm_noun_mode *x = a, *y = b;
    if (x->mode != y->mode)
        return x->mode < y->mode ? -1 : 1;
    if (x->is_asked != y->is_asked)
        return x->is_asked ? 1 : -1;
    if (x->noun != y->noun)
        return x->noun < y->noun ? -1 : 1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* By mode and reason, what had most calls before first. */
static int compare_stays(const void *a, const void *b)
{
    const struct stay *x = a, *y = b;
    if (x->mode != y->mode)
        return x->mode < y->mode ? -1 : 1;
    if (x->is_asked != y->is_asked)
        return x->is_asked ? 1 : -1;
    if (x->n_events != y->n_events)
        return x->n_events > y->n_events ? -1 : 1;
    return (x->noun > y->noun) - (x->noun < y->noun);
}

static void add_stay(struct stay *stay, const struct pm_noun_mode *m, bool same_process,
                     const struct pm_process *process)
{
    bool known = process->start_ns != PM_UNKNOWN && process->end_ns != PM_UNKNOWN;
    int64_t until_ns = m->until_ns != PM_UNKNOWN ? m->until_ns
                       : known                   ? process->end_ns
                                                 : m->from_ns;
    stay->from_ns = m->from_ns < stay->from_ns ? m->from_ns : stay->from_ns;
    if (m->until_ns == PM_UNKNOWN || stay->until_ns == PM_UNKNOWN)
        stay->until_ns = PM_UNKNOWN;
    else
        stay->until_ns = m->until_ns > stay->until_ns ? m->until_ns : stay->until_ns;
    stay->n_events = m->n_events > stay->n_events ? m->n_events : stay->n_events;
    stay->in_ns += (double)until_ns - (double)m->from_ns;
    if (!same_process && known)
        stay->of_ns += (double)process->end_ns - (double)process->start_ns;
}

/* NULL items: none, or no memory. */
static struct report_stays find_stays(const struct report *report)
{
    const struct pm_archive_data *data = report->data;
    struct report_stays stays = {NULL, 0};
    uint32_t n = data->n_noun_modes;
    struct pm_noun_mode *modes = n ? pm_alloc_array(n, sizeof *modes) : NULL;
    if (modes)
        stays.items = pm_alloc_array(n, sizeof *stays.items);
    if (!stays.items) {
        free(modes);
        return stays;
    }
    memcpy(modes, data->noun_modes, n * sizeof *modes);
    qsort(modes, n, sizeof *modes, compare_modes);
    for (uint32_t i = 0; i < n; i++) {
        const struct pm_noun_mode *m = &modes[i], *before = i ? &modes[i - 1] : NULL;
        bool same = before && before->noun == m->noun && before->mode == m->mode &&
                    before->is_asked == m->is_asked;
        if (!same)
            stays.items[stays.n++] = (struct stay){.noun = m->noun,
                                                   .mode = m->mode,
                                                   .is_asked = m->is_asked,
                                                   .from_ns = m->from_ns,
                                                   .until_ns = m->until_ns};
        add_stay(&stays.items[stays.n - 1], m, same && before->process == m->process,
                 &data->processes[m->process]);
    }
    free(modes);
    qsort(stays.items, stays.n, sizeof *stays.items, compare_stays);
    return stays;
}

uint32_t report_n_nouns_in(const struct report *report, enum pm_run_mode mode, bool is_asked)
{
    struct report_stays stays = find_stays(report);
    uint32_t n = 0;
    for (uint32_t i = 0; i < stays.n; i++)
        n += stays.items[i].mode == mode && stays.items[i].is_asked == is_asked;
    free(stays.items);
    return n;
}

/* --- names --- */

/* What a noun of code with sleds is in the source; itself when that is not known. */
static pm_index in_source(const struct report *report, pm_index noun)
{
    const struct pm_graph *graph = report->data->graph;
    for (pm_index s = 0; s < graph->n_sentences; s++) {
        if (pm_graph_first_noun(graph, s) != noun || graph->sentences[s].n_nouns != 1)
            continue;
        for (uint32_t e = graph->out_first[s]; e < graph->out_first[s + 1]; e++) {
            pm_index to = pm_graph_first_noun(graph, graph->mappings[graph->out[e]].destination);
            if (to != PM_NONE &&
                (report_noun_is(report, to, "function") || report_noun_is(report, to, "loop")))
                return to;
        }
    }
    return noun;
}

/* Arena memory; NULL: it ended. */
const char *report_noun_name(struct report *report, pm_index noun)
{
    const struct pm_noun *n = &report->data->graph->nouns[in_source(report, noun)];
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    const char *slash = strrchr(n->name, '/');
    if (!strcmp(n->kind, "loop") && n->line_no)
        pm_buf_printf(&text, "loop %s:%u", report_short_file(report, n->file), n->line_no);
    else if (!strcmp(n->kind, "loopcode") && slash)
        pm_buf_printf(&text, "loop %s", slash + 1);
    else
        pm_buf_add_str(&text, report_without_parameters(&report->arena, n->name));
    const char *name =
        text.failed ? NULL : pm_arena_strndup(&report->arena, text.data ? text.data : "", text.len);
    pm_buf_release(&text);
    return name ? report_printable(&report->arena, name) : NULL;
}

/* --- the header's line --- */

/* A damaged archive may say anything. */
static double share_pct(const struct stay *stay)
{
    double pct = 100 * stay->in_ns / stay->of_ns;
    return pct < 0 ? 0 : pct < 100 ? pct : 100;
}

enum { NAMED = 3 };

/* Stays of one mode to keep the budget. */
struct lowered {
    uint32_t n;
    double least_pct, most_pct; /* of the time; of those of which it is known */
    const struct stay *first[NAMED];
};

static struct lowered find_lowered(const struct report_stays *stays, enum pm_run_mode mode)
{
    struct lowered found = {0, 100, 0, {NULL}};
    for (uint32_t i = 0; i < stays->n; i++) {
        const struct stay *stay = &stays->items[i];
        if (stay->is_asked || stay->mode != mode)
            continue;
        if (found.n < NAMED)
            found.first[found.n] = stay;
        found.n++;
        if (stay->of_ns <= 0)
            continue;
        double pct = share_pct(stay);
        found.least_pct = pct < found.least_pct ? pct : found.least_pct;
        found.most_pct = pct > found.most_pct ? pct : found.most_pct;
    }
    return found;
}

/* " for 85.3 to 99.5 % of the time" */
static void add_time(struct pm_buf *out, const struct lowered *lowered)
{
    char least[32], most[32];
    snprintf(least, sizeof least, "%.1f", lowered->least_pct);
    snprintf(most, sizeof most, "%.1f", lowered->most_pct);
    if (lowered->least_pct > lowered->most_pct)
        return; /* not known */
    if (strcmp(least, most) != 0)
        pm_buf_printf(out, " for %s to %s %% of the time", least, most);
    else
        pm_buf_printf(out, " for %s %% of the time", least);
}

/* Those with most calls before: "mainGtU 98.5 %, loop bzlib.c:220 99.5 %, ..." */
static bool add_names(struct report *report, struct pm_buf *out, const struct lowered *lowered)
{
    for (uint32_t i = 0; i < lowered->n && i < NAMED; i++) {
        const char *name = report_noun_name(report, lowered->first[i]->noun);
        if (!name)
            return false;
        pm_buf_printf(out, "%s%s", i ? ", " : ": ", name);
        if (lowered->n > 1 && lowered->first[i]->of_ns > 0)
            pm_buf_printf(out, " %.1f %%", share_pct(lowered->first[i]));
    }
    if (lowered->n > NAMED)
        pm_buf_add_str(out, ", ...");
    return true;
}

/* What the budget did, for how long, and what was asked for. */
char *report_modes_line(struct report *report, bool utf8)
{
    static const struct {
        enum pm_run_mode mode;
        const char *done;
    } steps[] = {{PM_RUN_MODE_OFF, "left to sampling"},
                 {PM_RUN_MODE_COUNT, "counted only"},
                 {PM_RUN_MODE_ACTIVE, "not timed"}};
    struct report_stays stays = find_stays(report);
    struct pm_buf out = PM_BUF_INIT(1 << 16);
    uint32_t n_asked = 0;
    bool ok = true;
    for (uint32_t i = 0; i < stays.n; i++)
        n_asked += stays.items[i].is_asked;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct lowered lowered = find_lowered(&stays, steps[i].mode);
        if (lowered.n == 0)
            continue;
        pm_buf_printf(&out, out.len ? "; %u %s" : "functions and loops, to keep the budget: %u %s",
                      lowered.n, steps[i].done);
        if (steps[i].mode == PM_RUN_MODE_OFF)
            pm_buf_printf(&out, " (%s)", utf8 ? "≥" : ">=");
        add_time(&out, &lowered);
        if (steps[i].mode == PM_RUN_MODE_OFF)
            ok &= add_names(report, &out, &lowered);
    }
    if (n_asked)
        pm_buf_printf(&out, out.len ? "; %u as asked" : "functions and loops: %u as asked",
                      n_asked);
    if (out.len > 0)
        pm_buf_add_str(&out, "; --modes lists them");
    free(stays.items);
    if (ok)
        return pm_buf_take(&out);
    pm_buf_release(&out);
    return NULL;
}

/* --- the list --- */

static void put_seconds(FILE *out, int64_t ns)
{
    if (ns == PM_UNKNOWN)
        fprintf(out, "%11s", "the end");
    else
        fprintf(out, "%9.3f s", (double)ns / 1e9);
}

static bool put_stay(struct report *report, const struct stay *stay, FILE *out)
{
    const char *name = report_noun_name(report, stay->noun);
    fprintf(out, "%-6s  %-6s  ", mode_words[stay->mode], stay->is_asked ? "asked" : "budget");
    put_seconds(out, stay->from_ns);
    fputs("  ", out);
    put_seconds(out, stay->until_ns);
    if (stay->of_ns > 0)
        fprintf(out, "  %6.1f", share_pct(stay));
    else
        fprintf(out, "  %6s", "");
    fprintf(out, "  %12lld  %s\n", (long long)stay->n_events, name ? name : "");
    return name != NULL;
}

/* What the words of the list mean, those that are in it. */
static void put_legend(const struct report_stays *stays, FILE *out)
{
    static const char *const meanings[] = {
        [PM_RUN_MODE_OFF] = "not followed: no calls, time by samples only, the rest counts in what "
                            "called it",
        [PM_RUN_MODE_COUNT] = "calls are counted, without their callers",
        [PM_RUN_MODE_ACTIVE] = "followed, not timed",
        [PM_RUN_MODE_EXACT] = "every call timed",
        [PM_RUN_MODE_TRACE] = "every call timed and kept",
    };
    bool is_there[PM_RUN_MODE_TRACE + 1] = {false};
    for (uint32_t i = 0; i < stays->n; i++)
        is_there[stays->items[i].mode] = true;
    fputc('\n', out);
    for (int mode = 0; mode <= PM_RUN_MODE_TRACE; mode++)
        if (is_there[mode])
            fprintf(out, "%-6s  %s\n", mode_words[mode], meanings[mode]);
    fputs("why: asked by an option or 'perfmap mode', or to keep the budget; calls before: in the "
          "mode before, as far as counted\n",
          out);
}

bool report_print_modes(struct report *report, FILE *out)
{
    struct report_stays stays = find_stays(report);
    bool ok = true;
    if (stays.n == 0)
        fputs("All functions and loops were in the mode of the run, all the time.\n", out);
    else
        fprintf(out, "%-6s  %-6s  %11s  %11s  %6s  %12s  %s\n", "mode", "why", "from", "until",
                "% time", "calls before", "what");
    for (uint32_t i = 0; i < stays.n && ok; i++)
        ok = put_stay(report, &stays.items[i], out);
    if (stays.n)
        put_legend(&stays, out);
    free(stays.items);
    return ok;
}

static void csv_known(FILE *out, int64_t number)
{
    if (number == PM_UNKNOWN)
        fputc(',', out);
    else
        fprintf(out, ",%lld", (long long)number);
}

static void csv_text(struct report *report, FILE *out, const char *text)
{
    const char *printable = report_printable(&report->arena, text);
    fputc(',', out);
    report_csv_text(out, printable ? printable : "");
}

/* The list as `noun_modes` of JSON has it. */
void report_modes_csv(struct report *report, FILE *out)
{
    struct report_stays stays = find_stays(report);
    fputs("mode,name,kind,file,line_no,reason,from_ns,until_ns,time_pct,n_events_before\n", out);
    for (uint32_t i = 0; i < stays.n; i++) {
        const struct stay *stay = &stays.items[i];
        const struct pm_noun *noun = &report->data->graph->nouns[in_source(report, stay->noun)];
        fputs(mode_words[stay->mode], out);
        csv_text(report, out, noun->name);
        csv_text(report, out, noun->kind);
        csv_text(report, out, noun->file);
        csv_known(out, noun->line_no ? (int64_t)noun->line_no : PM_UNKNOWN);
        fputs(stay->is_asked ? ",asked" : ",budget", out);
        csv_known(out, stay->from_ns);
        csv_known(out, stay->until_ns);
        fputc(',', out);
        if (stay->of_ns > 0)
            fprintf(out, "%.4f", share_pct(stay));
        fprintf(out, ",%lld\n", (long long)stay->n_events);
    }
    free(stays.items);
}

static void known(struct pm_json *json, const char *key, int64_t number)
{
    if (number == PM_UNKNOWN)
        pm_json_null(json, key);
    else
        pm_json_i64(json, key, number);
}

void report_modes_json(struct report *report, struct pm_json *json)
{
    struct report_stays stays = find_stays(report);
    pm_json_array(json, "noun_modes");
    for (uint32_t i = 0; i < stays.n; i++) {
        const struct stay *stay = &stays.items[i];
        const struct pm_noun *noun = &report->data->graph->nouns[in_source(report, stay->noun)];
        pm_json_object(json, NULL);
        pm_json_string(json, "name", noun->name);
        pm_json_string(json, "kind", noun->kind);
        pm_json_string(json, "file", *noun->file ? noun->file : NULL);
        known(json, "line_no", noun->line_no ? (int64_t)noun->line_no : PM_UNKNOWN);
        pm_json_string(json, "mode", mode_words[stay->mode]);
        pm_json_string(json, "reason", stay->is_asked ? "asked" : "budget");
        known(json, "from_ns", stay->from_ns);
        known(json, "until_ns", stay->until_ns);
        if (stay->of_ns > 0)
            pm_json_double(json, "time_pct", share_pct(stay));
        else
            pm_json_null(json, "time_pct");
        pm_json_i64(json, "n_events_before", stay->n_events);
        pm_json_end(json);
    }
    pm_json_end(json);
    free(stays.items);
}
