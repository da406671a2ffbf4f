/* Operands of `perfmap diff` that are members of experiments. */
#include "diff.h"

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

static void release_experiment(struct diff_side *side)
{
    pm_experiment_close(side->experiment);
    free(side->chosen.items);
    side->experiment = NULL;
    side->chosen = (struct pm_experiment_selection){0};
}

static enum pm_status add_selected(struct diff_side *side, const char *path, const char *operand,
                                   const char *selection, struct pm_error *err)
{
    release_experiment(side);
    enum pm_status status = pm_experiment_open(path, err, &side->experiment);
    if (status != PM_OK)
        return status;
    status = pm_experiment_select(side->experiment, selection, err, &side->chosen);
    if (status != PM_OK)
        return status;
    uint32_t n = side->n;
    if (!add_members(side, side->experiment, &side->chosen))
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (side->n == n)
        return pm_error_set(err, PM_ERR_USAGE, "'%s' has no member that can be read", operand);
    return PM_OK;
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
        *ret_exit = cmd_refuse(parse, status, &err);
        return false;
    }
    return true;
}

/* Both sides are of one experiment, as it was when the first was looked at, and of nothing else. */
static bool is_of_one(const struct diff_side sides[2], const struct pm_compare_input inputs[2])
{
    const struct pm_experiment *a = sides[0].experiment, *b = sides[1].experiment;
    return a && b && inputs[0].n_paths <= sides[0].chosen.n &&
           inputs[1].n_paths <= sides[1].chosen.n && !strcmp(a->path, b->path) &&
           a->n_members == b->n_members &&
           a->members[a->n_members - 1].id == b->members[b->n_members - 1].id;
}

enum pm_status diff_compare(const struct pm_compare_options *options,
                            const struct diff_side sides[2],
                            const struct pm_compare_input inputs[2], struct pm_error *err,
                            struct pm_comparison **ret)
{
    *ret = NULL;
    if (is_of_one(sides, inputs)) {
        const struct pm_experiment_selection chosen[2] = {sides[0].chosen, sides[1].chosen};
        enum pm_status status =
            pm_experiment_compare(sides[0].experiment, options, chosen, err, ret);
        if (status != PM_OK || *ret)
            return status;
    }
    return pm_compare(options, inputs, NULL, err, ret);
}

void diff_release_side(struct diff_side *side)
{
    release_experiment(side);
    for (uint32_t i = 0; i < side->n; i++)
        free(side->paths[i]);
    free(side->paths);
}
