/* What a question needs of a program that is about to be run (question.h). */
#include "question.h"
#include "need.h"
#include "program.h"

#include "mapping/view/formula.h"

#include <errno.h>
#include <unistd.h>

/* Metrics that come from samples; others of the program's own code are counted or timed at its
 * events. */
static const char *const sampled[] = {
    "time",         "cpu",          "cpu_ns",         "samples", "n_samples",
    "waiting",      "waiting_ns",   "preempted",      "off_cpu", "off_cpu_ns",
    "preempted_ns", "sampled_wall", "sampled_wall_ns"};

static bool is_sampled(struct pm_str name)
{
    for (size_t i = 0; i < sizeof sampled / sizeof *sampled; i++)
        if (pm_str_is(name, sampled[i]))
            return true;
    return false;
}

/* Or a word of a formula. */
static bool names_sampled(const char *metrics)
{
    static const char between[] = " \t=+-*/().,";
    for (const char *p = metrics; *p;) {
        struct pm_str item = pm_formula_next(&p);
        bool is_formula = pm_formula_is_one(item);
        if (is_sampled(item))
            return true;
        for (const char *word = item.p; is_formula && word < item.p + item.len; word++) {
            struct pm_str name = {word, strcspn(word, between)};
            if (is_sampled(name))
                return true;
            word += name.len;
        }
    }
    return false;
}

enum pm_status session_question_parse(struct session_question *asked, struct pm_error *err)
{
    enum pm_status status = pm_question_parse(asked->text, err, &asked->question);
    return status == PM_OK ? PM_OK : pm_error_add(err, "option '--ask'");
}

void session_question_release(struct session_question *asked)
{
    pm_question_free(asked->question);
    asked->question = NULL;
}

static enum pm_status find_files(const struct session_sources *sources, struct pm_error *err,
                                 struct need_files *files)
{
    char *path = session_find_program(sources->program);
    enum pm_status status = path ? need_files_add_program(files, path, err) : PM_OK;
    for (size_t i = 0; i < sources->n_look_in && status == PM_OK; i++) {
        const char *file = sources->look_in[i];
        if (access(file, R_OK) != 0)
            status = pm_error_system(err, errno, "option '--look-in': cannot read '%s'", file);
        else
            status = need_files_add_program(files, file, err);
    }
    free(path);
    return status;
}

/* What adapters have words for. */
struct spoken {
    bool *said;  /* per sentence */
    bool is_all; /* every one is */
    struct pm_buf names;
};

static enum pm_status find_spoken(const struct pm_question *question,
                                  const struct session_adapters *adapters, struct pm_error *err,
                                  struct spoken *ret_spoken)
{
    struct spoken spoken = {.said = pm_alloc_array(question->n_sentences, sizeof *spoken.said),
                            .is_all = true,
                            .names = PM_BUF_INIT(256)};
    if (!spoken.said)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    session_adapters_for(adapters, question, spoken.said, &spoken.names);
    for (uint32_t i = 0; i < question->n_sentences; i++)
        spoken.is_all &= spoken.said[i];
    *ret_spoken = spoken;
    return PM_OK;
}

static void note_need(struct session_notes *notes, const struct need *need,
                      const struct spoken *spoken, bool samples)
{
    char inside[64] = "";
    const char *names = spoken->names.len ? spoken->names.data : NULL;
    const char *no_samples = samples ? "" : "; no samples";
    if (need->n_inside)
        snprintf(inside, sizeof inside, ", %u of them only inside others",
                 (unsigned)need->n_inside);
    if (names && spoken->is_all && need->n_sleds == 0)
        session_note(notes, SESSION_TELLS,
                     "adapter %s says what the question asks for; no sleds needed%s", names,
                     no_samples);
    else
        session_note(notes, SESSION_TELLS,
                     "%llu of %llu sleds armed for the question (%u functions and loops%s)%s%s%s",
                     (unsigned long long)need->n_sleds, (unsigned long long)need->n_sleds_all,
                     (unsigned)need->n_followed, inside, names ? ", and adapter " : "",
                     names ? names : "", no_samples);
    if (need->note)
        session_note(notes, SESSION_NOTES, "%s", need->note);
}

enum pm_status session_question_look(struct session_question *asked,
                                     const struct session_sources *sources,
                                     const struct session_settings *settings,
                                     struct session_notes *notes, struct pm_error *err,
                                     struct mode_needs *ret_modes)
{
    struct need_files files = {0};
    struct need need = {0};
    struct spoken spoken = {0};
    enum pm_status status = find_spoken(asked->question, &settings->adapters, err, &spoken);
    files.said = spoken.said;
    if (status == PM_OK)
        status = find_files(sources, err, &files);
    if (status == PM_OK)
        status = need_find(asked->question, &files, settings->runtime.mode,
                           files.has_words || settings->adapters.n != 0, err, &need);
    if (status == PM_ERR_NOT_FOUND) {
        (void)pm_error_add(err, "option '--ask'");
        err->status = status = PM_ERR_USAGE;
    }
    if (status == PM_OK) {
        asked->n_sleds = need.n_sleds;
        asked->n_all_sleds = need.n_sleds_all;
        asked->samples = need.samples || !asked->metrics || names_sampled(asked->metrics);
        note_need(notes, &need, &spoken, asked->samples);
        *ret_modes = need.modes;
        need.modes = (struct mode_needs){0};
    }
    need_release(&need);
    need_files_release(&files);
    pm_buf_release(&spoken.names);
    free(spoken.said);
    return status;
}
