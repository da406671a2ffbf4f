/* Programs and objects of the run of which nothing, or not all, was measured: what was never seen
 * may have been active there. */
#include "question_parts.h"

#include "format/pm_run.h"
#include "mapping/base/banned.h"

static bool has_next_image(const struct pm_archive_data *data, const struct pm_process *process)
{
    for (uint32_t i = 0; i < data->n_processes; i++)
        if (data->processes[i].pid == process->pid &&
            data->processes[i].image == process->image + 1)
            return true;
    return false;
}

static bool lacks_programs(const struct pm_archive_data *data)
{
    for (uint32_t i = 0; i < data->n_messages; i++)
        if (data->messages[i].code == PM_RUN_MSG_UNMEASURED)
            return true;
    for (uint32_t i = 0; i < data->n_samplings; i++) {
        const struct pm_process *process = &data->processes[data->samplings[i].process];
        if (!strcmp(process->end_kind, "exec") && !has_next_image(data, process))
            return true;
    }
    return false;
}

static bool lacks_objects(const struct pm_archive_data *data)
{
    for (uint32_t i = 0; i < data->n_messages; i++)
        if (data->messages[i].code == PM_RUN_MSG_OBJECT_WITHOUT_SLEDS ||
            data->messages[i].code == PM_RUN_MSG_DISARMED)
            return true;
    for (uint32_t i = 0; i < data->n_binaries; i++) {
        const struct pm_binary *binary = &data->binaries[i];
        bool lacks_facts = !strcmp(binary->pif_state, "missing") ||
                           !strcmp(binary->pif_state, "changed") ||
                           !strcmp(binary->pif_state, "damaged");
        if (binary->n_bad_sleds > 0 || (binary->n_sleds > 0 && lacks_facts))
            return true;
    }
    return false;
}

static const char *what_is_missing(const struct pm_archive_data *data)
{
    if (lacks_programs(data))
        return "programs of the run were not measured";
    return lacks_objects(data) ? "some code of the run was not measured, or has no facts" : NULL;
}

enum pm_status pm_ask_note_missing(const struct pm_view *view, struct pm_answer *answer,
                                   struct pm_error *err)
{
    const char *what = what_is_missing(view->archive);
    if (!what)
        return PM_OK;
    struct pm_buf text = PM_BUF_INIT(1024);
    uint32_t n = 0;
    for (uint32_t i = 0; i < answer->n_notes; i++) /* "never active" says too much */
        if (answer->is_partial || answer->notes[i].sentence == UINT32_MAX)
            answer->notes[n++] = answer->notes[i];
    answer->n_notes = n;
    pm_ask_mark_answer(answer, PM_ASK_ASKED);
    pm_buf_printf(
        &text, "%s ('perfmap report' warns of that): what was asked for was perhaps active there",
        what);
    enum pm_status status = pm_ask_add_note(answer, &text, err);
    pm_buf_release(&text);
    return status;
}
