/* The table of groupings. */
#include "groupings.h"

static bool is_file(const struct pm_view *view, pm_index noun)
{
    return pm_view_noun_is(view, noun, "file");
}

static bool is_loop_or_code(const struct pm_view *view, pm_index noun)
{
    return pm_view_noun_is_code(view, noun) || pm_view_noun_is_loop(view, noun) ||
           pm_view_noun_is(view, noun, "region") || pm_view_noun_is_machine_code(view, noun) ||
           pm_view_noun_is(view, noun, "inline");
}

static bool is_statement_or_code(const struct pm_view *view, pm_index noun)
{
    return is_loop_or_code(view, noun) || pm_view_noun_is_statement(view, noun);
}

static bool is_outermost(const struct pm_view *view, pm_index noun)
{
    return view->data->graph->nouns[noun].parent == PM_NONE;
}

static const struct pm_view_grouping groupings[] = {
    [PM_VIEW_BY_LOOP] = {.ends_at = is_loop_or_code,
                         .shares_lines = pm_view_noun_is_loop,
                         .nests = true,
                         .counts_all = true},
    [PM_VIEW_BY_STATEMENT] = {.ends_at = is_statement_or_code,
                              .shares_lines = pm_view_noun_is_statement,
                              .needs_samples = "their statements",
                              .is_fine = true,
                              .has_text = true,
                              .counts_all = true},
    [PM_VIEW_BY_ARRAY] = {.ends_at = is_loop_or_code,
                          .is_object = pm_view_noun_is_array,
                          .shares_lines = pm_view_noun_is_loop,
                          .no_object = "(no array)",
                          .not_known = "(arrays not known: code without the plugin's map)",
                          .needs_samples = "what they touch",
                          .is_named = true,
                          .is_fine = true},
    [PM_VIEW_BY_VARIABLE] = {.ends_at = is_loop_or_code,
                             .is_object = pm_view_noun_is_object,
                             .shares_lines = pm_view_noun_is_loop,
                             .no_object = "(no variable)",
                             .not_known = "(variables not known: code without the plugin's map)",
                             .needs_samples = "what they touch",
                             .is_named = true,
                             .is_fine = true},
    [PM_VIEW_BY_FUNCTION] = {.ends_at = pm_view_noun_is_code,
                             .shares_lines = pm_view_noun_is_loop,
                             .is_named = true,
                             .by_callee = true},
    [PM_VIEW_BY_FILE] = {.ends_at = is_file,
                         .shares_lines = pm_view_noun_is_loop,
                         .key = PM_VIEW_GROUP_BY_FILE,
                         .by_callee = true},
    [PM_VIEW_BY_LINE] = {.ends_at = is_statement_or_code,
                         .shares_lines = pm_view_noun_is_loop,
                         .key = PM_VIEW_GROUP_BY_LINE,
                         .is_fine = true,
                         .has_text = true},
    [PM_VIEW_BY_OPERATION] = {.ends_at = is_outermost,
                              .shares_lines = pm_view_noun_is_loop,
                              .key = PM_VIEW_GROUP_BY_OPERATION,
                              .is_named = true},
    [PM_VIEW_BY_PROCESS] = {.ends_at = is_loop_or_code,
                            .shares_lines = pm_view_noun_is_loop,
                            .runner = PM_RUNNER_PROCESS},
    [PM_VIEW_BY_MACHINE] = {.ends_at = is_loop_or_code,
                            .shares_lines = pm_view_noun_is_loop,
                            .where = PM_VIEW_WHERE_MACHINE},
    [PM_VIEW_BY_CODE] = {.ends_at = is_loop_or_code,
                         .shares_lines = pm_view_noun_is_loop,
                         .where = PM_VIEW_WHERE_CODE,
                         .counts_all = true},
    [PM_VIEW_BY_DATA] = {.ends_at = is_loop_or_code,
                         .is_object = pm_view_noun_is_object,
                         .shares_lines = pm_view_noun_is_loop,
                         .no_object = "(no variable)",
                         .not_known = "(variables not known: code without the plugin's map)",
                         .needs_samples = "what they touch",
                         .where = PM_VIEW_WHERE_DATA,
                         .is_named = true,
                         .is_fine = true},
    [PM_VIEW_BY_MPI] = {.ends_at = is_outermost,
                        .shares_lines = pm_view_noun_is_loop,
                        .where = PM_VIEW_WHERE_MPI,
                        .is_named = true},
    [PM_VIEW_BY_SYNC] = {.ends_at = is_loop_or_code,
                         .shares_lines = pm_view_noun_is_loop,
                         .where = PM_VIEW_WHERE_SYNC,
                         .is_named = true},
    [PM_VIEW_BY_NODE] = {.ends_at = is_loop_or_code,
                         .shares_lines = pm_view_noun_is_loop,
                         .runner = PM_RUNNER_NODE},
    [PM_VIEW_BY_RANK] = {.ends_at = is_loop_or_code,
                         .shares_lines = pm_view_noun_is_loop,
                         .runner = PM_RUNNER_RANK},
    [PM_VIEW_BY_THREAD] = {.ends_at = is_loop_or_code,
                           .shares_lines = pm_view_noun_is_loop,
                           .runner = PM_RUNNER_THREAD},
};

static const struct pm_view_grouping code_with_statements = {.ends_at = is_statement_or_code,
                                                             .shares_lines =
                                                                 pm_view_noun_is_statement,
                                                             .where = PM_VIEW_WHERE_CODE,
                                                             .is_fine = true,
                                                             .counts_all = true};

const struct pm_view_grouping *pm_view_grouping_by(enum pm_view_by by)
{
    return &groupings[by];
}

const struct pm_view_grouping *pm_view_grouping(const struct pm_view *view)
{
    bool has_statements = view->options.has_statements && view->options.by == PM_VIEW_BY_CODE;
    return has_statements ? &code_with_statements : &groupings[view->options.by];
}
