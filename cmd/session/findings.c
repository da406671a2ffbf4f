/* After a run: what the runtime had to say, and whether anything was measured at all. */
#include "findings.h"
#include "target.h"

#include "mapping/run/run_file.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <unistd.h>

enum { MAX_TOLD = 64 }; /* different messages; more would hide the first */

/* Messages so far, of all processes: the same one from a hundred of them is one message. */
struct told {
    struct session_notes *notes;
    uint32_t first; /* of ours among them */
};

static void tell_once(struct told *told, enum session_note_kind kind, const char *text)
{
    if (told->notes->n - told->first < MAX_TOLD)
        session_note_once(told->notes, kind, text);
}

static void tell_message(struct told *told, const struct pm_run_file_message *message)
{
    enum session_note_kind kind = SESSION_TELLS;
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    if (message->code == PM_RUN_MSG_OBJECT_WITHOUT_SLEDS) {
        kind = SESSION_WARNS;
        pm_buf_printf(&text,
                      "'%.*s' was compiled with the plugin and holds no sleds: link it with the "
                      "plugin too when you use -flto (-fplugin=$(perfmap plugin-path))",
                      (int)message->text.len, message->text.p);
    } else {
        if (message->code == PM_RUN_MSG_BAD_SLEDS || message->code == PM_RUN_MSG_LIMIT ||
            message->code == PM_RUN_MSG_DISARMED)
            kind = SESSION_WARNS;
        pm_buf_add(&text, message->text.p, message->text.len);
    }
    if (text.data)
        tell_once(told, kind, text.data);
    pm_buf_release(&text);
}

/* What a program or an adapter says is at a level of its own: the first that has sentences. */
static void find_level(const struct pm_run_file *file, struct session_findings *findings)
{
    for (size_t i = 0; i < pm_run_file_n_words(file) && !*findings->level; i++) {
        const struct pm_run_file_word *word = pm_run_file_word(file, i);
        if (word->kind != PM_WORD_SENTENCE)
            continue;
        const struct pm_run_file_word *verb = pm_run_file_word(file, word->a - 1);
        struct pm_str name = pm_run_file_word(file, verb->a - 1)->texts[0];
        if (!pm_str_is(name, "Source") && !pm_str_is(name, "Base") && !pm_str_is(name, "Phases") &&
            name.len < sizeof findings->level && !memchr(name.p, 0, name.len)) {
            memcpy(findings->level, name.p, name.len);
            findings->level[name.len] = 0;
        }
    }
}

static void look_at_file(const char *path, const struct pm_run_clock *clock, bool tell_damage,
                         struct told *told, struct session_findings *findings)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_run_file *file = NULL;
    findings->n_processes++;
    if (pm_run_file_open(path, clock, &err, &file) != PM_OK) {
        findings->n_damaged++;
        if (tell_damage)
            tell_once(told, SESSION_TELLS, pm_error_text(&err));
        pm_error_release(&err);
        return;
    }
    const struct pm_run_file_process *process = pm_run_file_process(file);
    findings->n_damaged += pm_run_file_n_complaints(file) > 0;
    findings->n_sleds += process->n_sleds + (process->flags & PM_RUN_FLAG_PORTABLE ? 1 : 0) +
                         (pm_run_file_n_words(file) ? 1 : 0);
    findings->n_code_sleds += process->n_sleds + (process->flags & PM_RUN_FLAG_PORTABLE ? 1 : 0);
    findings->n_calls += process->n_calls;
    findings->n_execs += (process->flags & PM_RUN_FLAG_EXEC) != 0;
    findings->n_executed += !pm_str_ends_with(path, ".0.pmr");
    find_level(file, findings);
    const struct pm_run_file_sampling *sampling = pm_run_file_sampling(file);
    findings->n_sampled += sampling && sampling->source != PM_RUN_SAMPLES_NONE;
    if (process->end_kind == PM_RUN_FILE_KILLED && process->pid != 0 &&
        session_is_alive(process->pid))
        findings->running_pid = process->pid;
    for (size_t i = 0; i < pm_run_file_n_messages(file); i++)
        tell_message(told, pm_run_file_message(file, i));
    for (size_t i = 0; tell_damage && i < pm_run_file_n_complaints(file); i++)
        if (pm_run_file_complaint(file, i))
            tell_once(told, SESSION_TELLS, pm_run_file_complaint(file, i));
    pm_run_file_free(file);
}

static int is_run_file(const struct dirent *entry)
{
    return pm_str_ends_with(entry->d_name, ".pmr");
}

void session_find(const char *run_dir, const struct pm_manifest *manifest, bool tell_damage,
                  struct session_notes *notes, struct session_findings *ret_findings)
{
    *ret_findings = (struct session_findings){0};
    struct pm_run_clock clock = pm_run_clock_of(manifest);
    struct told told = {notes, notes->n};
    struct dirent **names = NULL;
    int n = scandir(run_dir, &names, is_run_file, versionsort);
    for (int i = 0; i < n; i++) {
        struct pm_buf path = PM_BUF_INIT(4 * PATH_MAX);
        pm_buf_printf(&path, "%s/%s", run_dir, names[i]->d_name);
        if (path.data && !path.failed)
            look_at_file(path.data, &clock, tell_damage, &told, ret_findings);
        pm_buf_release(&path);
        free(names[i]);
    }
    free(names);
}
