/* Operands of `perfmap diff` that are members of experiments. */
#include "diff.h"

#include "mapping/experiment/experiment.h"

static bool add_path(struct diff_side *side, const char *path)
{
    char **paths = pm_grow_array(side->paths, side->n, &side->cap, 16, sizeof *paths);
    if (!paths)
        return false;
    side->paths = paths;
    paths[side->n] = pm_strndup(path, strlen(path));
    return paths[side->n++] != NULL;
}

/* What is not there, or not what was added, is said: nothing is left out silently. */
static bool add_members(struct diff_side *side, const struct pm_experiment *experiment,
                        const struct pm_experiment_selection *chosen)
{
    uint32_t n_missing = 0, n_changed = 0;
    for (uint32_t i = 0; i < chosen->n; i++) {
        const struct pm_experiment_member *member = &experiment->members[chosen->items[i]];
        n_missing += member->state == PM_MEMBER_MISSING;
        n_changed += member->state == PM_MEMBER_CHANGED;
        if (!member->state && !add_path(side, member->path))
            return false;
    }
    if (n_missing + n_changed)
        cmd_talk("note: %u of %u members of '%s' left out: %u missing, %u changed ('perfmap "
                 "experiment check' names them)",
                 n_missing + n_changed, chosen->n, experiment->path, n_missing, n_changed);
    return true;
}

static enum pm_status add_selected(struct diff_side *side, const char *path, const char *operand,
                                   const char *selection, struct pm_error *err)
{
    struct pm_experiment *experiment;
    struct pm_experiment_selection chosen;
    enum pm_status status = pm_experiment_open(path, err, &experiment);
    if (status != PM_OK)
        return status;
    status = pm_experiment_select(experiment, selection, err, &chosen);
    if (status != PM_OK)
        goto out;
    uint32_t n = side->n;
    if (!add_members(side, experiment, &chosen))
        status = pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    else if (side->n == n)
        status = pm_error_set(err, PM_ERR_USAGE, "'%s' has no member that can be read", operand);
    free(chosen.items);
out:
    pm_experiment_close(experiment);
    return status;
}

static enum pm_status add_operand(struct diff_side *side, const char *operand, struct pm_error *err)
{
    const char *selection;
    char *path = pm_experiment_named(operand, &selection);
    if (path) {
        enum pm_status status = add_selected(side, path, operand, selection, err);
        free(path);
        return status;
    }
    return add_path(side, operand) ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

bool diff_expand(struct cmd_parse *parse, struct diff_side sides[2],
                 struct pm_compare_input inputs[2], int *ret_exit)
{
    struct pm_error err = PM_ERROR_INIT;
    bool is_one_side = inputs[0].paths == inputs[1].paths; /* whose parts are compared */
    for (int s = 0; s < 2; s++) {
        if (s && is_one_side) {
            inputs[s] = inputs[0];
            break;
        }
        enum pm_status status = PM_OK;
        for (uint32_t i = 0; i < inputs[s].n_paths && !status; i++)
            status = add_operand(&sides[s], inputs[s].paths[i], &err);
        inputs[s] = (struct pm_compare_input){(const char *const *)sides[s].paths, sides[s].n};
        if (!status)
            continue;
        *ret_exit = status == PM_ERR_USAGE ? cmd_usage_error(parse, "%s", pm_error_text(&err))
                                           : cmd_fail(parse, &err);
        pm_error_release(&err);
        return false;
    }
    return true;
}

void diff_release_side(struct diff_side *side)
{
    for (uint32_t i = 0; i < side->n; i++)
        free(side->paths[i]);
    free(side->paths);
}
