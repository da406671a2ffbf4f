/* The list of nouns that were in another mode than the program: as a table, as CSV, as JSON. */
#include "show.h"

#include "format/pm_mode.h"
#include "mapping/base/json.h"

#include <stdlib.h>

/* A damaged archive may say anything. */
static double share_pct(const struct pm_view_stay *stay)
{
    double pct = 100 * stay->in_ns / stay->of_ns;
    return pct < 0 ? 0 : pct < 100 ? pct : 100;
}

static void put_seconds(FILE *out, int64_t ns)
{
    if (ns == PM_UNKNOWN)
        fprintf(out, "%11s", "the end");
    else
        fprintf(out, "%9.3f s", (double)ns / 1e9);
}

static bool put_stay(struct pm_view *report, const struct pm_view_stay *stay, FILE *out)
{
    const char *name = pm_view_noun_name(report, stay->noun);
    fprintf(out, "%-6s  %-6s  ", pm_mode_name(stay->mode), stay->is_asked ? "asked" : "budget");
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
static void put_legend(const struct pm_view_stays *stays, FILE *out)
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
            fprintf(out, "%-6s  %s\n", pm_mode_name(mode), meanings[mode]);
    fputs("why: asked by an option or 'perfmap mode', or to keep the budget; calls before: in the "
          "mode before, as far as counted\n",
          out);
}

bool show_modes(struct pm_view *report, const struct show_look *look, FILE *out)
{
    (void)look;
    struct pm_view_stays stays = pm_view_find_stays(report);
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

static void csv_text(struct pm_view *report, FILE *out, const char *text)
{
    const char *printable = pm_text_printable(&report->arena, text);
    fputc(',', out);
    show_csv_text(out, printable ? printable : "");
}

/* The list as `noun_modes` of JSON has it. */
bool show_modes_csv(struct pm_view *report, const struct show_look *look, FILE *out)
{
    (void)look;
    struct pm_view_stays stays = pm_view_find_stays(report);
    fputs("mode,name,kind,file,line_no,reason,from_ns,until_ns,time_pct,n_events_before\n", out);
    for (uint32_t i = 0; i < stays.n; i++) {
        const struct pm_view_stay *stay = &stays.items[i];
        const struct pm_graph_noun *noun =
            &report->data->graph->nouns[pm_view_noun_in_source(report, stay->noun)];
        fputs(pm_mode_name(stay->mode), out);
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
    return true;
}

void show_modes_json(struct pm_view *report, struct pm_json *json)
{
    struct pm_view_stays stays = pm_view_find_stays(report);
    pm_json_array(json, "noun_modes");
    for (uint32_t i = 0; i < stays.n; i++) {
        const struct pm_view_stay *stay = &stays.items[i];
        const struct pm_graph_noun *noun =
            &report->data->graph->nouns[pm_view_noun_in_source(report, stay->noun)];
        pm_json_object(json, NULL);
        pm_json_string(json, "name", noun->name);
        pm_json_string(json, "kind", noun->kind);
        pm_json_string(json, "file", *noun->file ? noun->file : NULL);
        show_known_json(json, "line_no", noun->line_no ? (int64_t)noun->line_no : PM_UNKNOWN);
        pm_json_string(json, "mode", pm_mode_name(stay->mode));
        pm_json_string(json, "reason", stay->is_asked ? "asked" : "budget");
        show_known_json(json, "from_ns", stay->from_ns);
        show_known_json(json, "until_ns", stay->until_ns);
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
