/* What is to be said of runs and builds that are compared. */
#include "compare_internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

PM_MUST_CHECK static enum pm_status add_note(struct compare *c, const char *format, ...)
    PM_PRINTF(2, 3);

static enum pm_status add_note(struct compare *c, const char *format, ...)
{
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    va_list args;
    va_start(args, format);
    pm_buf_vprintf(&text, format, args);
    va_end(args);
    char **notes = pm_grow_array(c->to->notes, c->to->n_notes, &c->cap_notes, 16, sizeof *notes);
    if (notes)
        c->to->notes = notes;
    char *note = text.failed ? NULL : pm_buf_take(&text);
    pm_buf_release(&text);
    if (!notes || !note) {
        free(note);
        return compare_no_memory(c);
    }
    notes[c->to->n_notes++] = note;
    return PM_OK;
}

static const struct pm_compare_run *first_run(const struct compare *c, int side)
{
    return &c->to->sides[side].runs[0];
}

static enum pm_status note_modes(struct compare *c)
{
    const struct pm_compare_run *first = first_run(c, 0);
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < c->to->sides[side].n_runs; i++) {
            const struct pm_compare_run *run = &c->to->sides[side].runs[i];
            if (strcmp(run->mode, first->mode) != 0)
                return add_note(c,
                                "'%s' was measured in mode %s and '%s' in mode %s: what measuring "
                                "cost differs, too",
                                first->path, first->mode, run->path, run->mode);
        }
    return PM_OK;
}

static double slow_down_of(const struct pm_compare_side *side)
{
    double sum = 0;
    for (uint32_t i = 0; i < side->n_runs; i++)
        sum += side->runs[i].slow_down_pct / side->n_runs;
    return sum;
}

static enum pm_status note_slow_downs(struct compare *c)
{
    double a = slow_down_of(&c->to->sides[0]), b = slow_down_of(&c->to->sides[1]);
    if (!(fabs(a - b) > 1))
        return PM_OK;
    return add_note(c, "measuring slowed A down by about %.1f %%, and B by %.1f %%", a, b);
}

static enum pm_status note_poor(struct compare *c)
{
    const struct pm_compare_run *first = NULL;
    uint32_t n = 0, all = c->to->sides[0].n_runs + c->to->sides[1].n_runs;
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < c->to->sides[side].n_runs; i++) {
            const struct pm_compare_run *run = &c->to->sides[side].runs[i];
            n += run->poor != NULL;
            first = run->poor && !first ? run : first;
        }
    if (!first)
        return PM_OK;
    return add_note(c,
                    "%u of %u runs %s measured badly, '%s' for one: %s; '--good-only' leaves such "
                    "runs out",
                    n, all, n == 1 ? "was" : "were", first->path, first->poor);
}

static enum pm_status note_builds(struct compare *c)
{
    c->to->n_builds = c->n_builds;
    if (!c->to->n_functions_left_out)
        return PM_OK;
    return add_note(c,
                    "%u functions have changed so much that their statements and loops were not "
                    "looked for: they are new ones",
                    c->to->n_functions_left_out);
}

static enum pm_status note_renamed(struct compare *c)
{
    uint32_t n = c->to->n_renamed;
    const char *has = n == 1 ? " has" : "s have";
    if (!n)
        return PM_OK;
    return add_note(c,
                    "%u function%s another name in B, found by what is in it; '~' marks what is "
                    "likely only, and '--map OLD=NEW' and '--map OLD=' say otherwise",
                    n, has);
}

static enum pm_status note_normalised(struct compare *c)
{
    if (!c->to->options.is_normalised)
        return PM_OK;
    if (c->to->sides[PM_COMPARE_A].n_runs > 1 || c->to->sides[PM_COMPARE_B].n_runs > 1)
        return add_note(c, "each run's numbers are multiplied so that its total is the mean of "
                           "B's: shares are compared");
    return add_note(c,
                    "A's numbers are multiplied by %.4g, so that its total is B's: shares are "
                    "compared",
                    c->to->sides[PM_COMPARE_A].runs[0].factor);
}

static enum pm_status note_left_out(struct compare *c)
{
    uint32_t n = c->to->sides[0].n_left_out + c->to->sides[1].n_left_out;
    if (!n)
        return PM_OK;
    return add_note(c, "%u run%s measured badly and left out", n, n == 1 ? " was" : "s were");
}

enum pm_status compare_add_notes(struct compare *c)
{
    static enum pm_status (*const notes[])(struct compare *) = {
        note_normalised, note_modes,   note_slow_downs, note_poor,
        note_left_out,   note_renamed, note_builds};
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        enum pm_status status = notes[i](c);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}
