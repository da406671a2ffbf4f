/* perfmap doctor */
#include "doctor.h"

#include "cmd/core/command.h"

#include "mapping/base/json.h"

#include <errno.h>
#include <ftw.h>
#include <libsmartcols/libsmartcols.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const state_words[] = {
    [DOCTOR_WORKS] = "works",   [DOCTOR_FAILS] = "fails",     [DOCTOR_MISSING] = "missing",
    [DOCTOR_UNUSED] = "unused", [DOCTOR_UNTRIED] = "untried",
};

char *doctor_text(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    return len < 0 ? NULL : text;
}

void doctor_add(struct doctor *doctor, const char *group, const char *name, enum doctor_state state,
                char *finding, char *advice)
{
    if (doctor->n_checks == doctor->cap) {
        size_t cap = doctor->cap ? 2 * doctor->cap : 32;
        struct doctor_check *grown = pm_realloc_array(doctor->checks, cap, sizeof *grown);
        if (!grown) {
            doctor->failed = true;
            free(finding);
            free(advice);
            return;
        }
        doctor->checks = grown;
        doctor->cap = cap;
    }
    struct doctor_check *check = &doctor->checks[doctor->n_checks++];
    *check = (struct doctor_check){pm_strndup(group, strlen(group)), pm_strndup(name, strlen(name)),
                                   state, finding, advice};
    doctor->failed |= !check->group || !check->name || !check->finding;
}

/* --- commands --- */

int doctor_command(const char *folder, char *const *argv, struct pm_buf *ret_output)
{
    const struct cmd_command command = {.argv = (const char *const *)argv,
                                        .folder = folder,
                                        .output = ret_output,
                                        .is_quiet = true,
                                        .timeout_ms = 60000};
    return cmd_command_run(&command, NULL);
}

char *doctor_first_error(const struct pm_buf *output)
{
    const char *text = output->data ? output->data : "";
    const char *error = strstr(text, "error");
    const char *line = error ? error : text;
    while (line > text && line[-1] != '\n')
        line--;
    size_t len = strcspn(line, "\n");
    return len ? doctor_text("%.*s", len < 300 ? (int)len : 300, line)
               : doctor_text("failed without a message");
}

/* --- the folder for trials --- */

static enum pm_status make_folder(struct pm_error *err, char **ret_folder)
{
    const char *parent = getenv("TMPDIR");
    const char *place = parent && *parent == '/' ? parent : "/tmp";
    char *folder = doctor_text("%s/perfmap-doctor-XXXXXX", place);
    if (!folder)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (!mkdtemp(folder)) {
        enum pm_status status =
            pm_error_system(err, errno, "cannot make a folder for trials in '%s'", place);
        free(folder);
        return status;
    }
    *ret_folder = folder;
    return PM_OK;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)walk;
    return type == FTW_DP ? rmdir(path) : unlink(path);
}

static void doctor_release(struct doctor *doctor)
{
    for (size_t i = 0; i < doctor->n_checks; i++) {
        free(doctor->checks[i].group);
        free(doctor->checks[i].name);
        free(doctor->checks[i].finding);
        free(doctor->checks[i].advice);
    }
    free(doctor->checks);
    if (doctor->folder)
        (void)nftw(doctor->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    free(doctor->folder);
    free(doctor->program);
}

/* --- what it says --- */

/* Enough works to measure a program: a compiler and the runtime. */
static bool enough_works(const struct doctor *doctor)
{
    bool compiler = false, runtime = false;
    for (size_t i = 0; i < doctor->n_checks; i++) {
        const struct doctor_check *check = &doctor->checks[i];
        bool works = check->state == DOCTOR_WORKS;
        compiler |=
            works && strcmp(check->group, "compiler") == 0 && strcmp(check->name, "plugin") != 0;
        runtime |= works && strcmp(check->group, "runtime") == 0;
    }
    return compiler && runtime;
}

static void print_json(const struct doctor *doctor)
{
    struct pm_json json;
    pm_json_init(&json, stdout);
    pm_json_object(&json, NULL);
    pm_json_string(&json, "version", PERFMAP_VERSION);
    pm_json_bool(&json, "works", enough_works(doctor));
    pm_json_array(&json, "checks");
    for (size_t i = 0; i < doctor->n_checks; i++) {
        const struct doctor_check *check = &doctor->checks[i];
        pm_json_object(&json, NULL);
        pm_json_string(&json, "group", check->group);
        pm_json_string(&json, "name", check->name);
        pm_json_string(&json, "state", state_words[check->state]);
        pm_json_string(&json, "finding", check->finding);
        pm_json_string(&json, "advice", check->advice);
        pm_json_end(&json);
    }
    pm_json_end(&json);
    pm_json_end(&json);
    (void)pm_json_done(&json);
}

static bool print_table(const struct doctor *doctor)
{
    struct libscols_table *table = scols_new_table();
    bool ok = table && scols_table_new_column(table, "GROUP", 0, 0) &&
              scols_table_new_column(table, "NAME", 0, 0) &&
              scols_table_new_column(table, "STATE", 0, 0) &&
              scols_table_new_column(table, "FINDING", 0, SCOLS_FL_WRAP);
    for (size_t i = 0; ok && i < doctor->n_checks; i++) {
        const struct doctor_check *check = &doctor->checks[i];
        struct libscols_line *line = scols_table_new_line(table, NULL);
        ok = line && scols_line_set_data(line, 0, check->group) == 0 &&
             scols_line_set_data(line, 1, check->name) == 0 &&
             scols_line_set_data(line, 2, state_words[check->state]) == 0 &&
             scols_line_set_data(line, 3, check->finding) == 0;
    }
    if (ok) {
        scols_table_set_stream(table, stdout);
        ok = scols_print_table(table) == 0;
    }
    scols_unref_table(table);
    bool headed = false;
    for (size_t i = 0; ok && i < doctor->n_checks; i++) {
        if (!doctor->checks[i].advice)
            continue;
        if (!headed)
            puts("\nwhat to do:");
        headed = true;
        printf("  %s: %s\n", doctor->checks[i].name, doctor->checks[i].advice);
    }
    if (ok)
        puts(enough_works(doctor) ? "\nPerfMap works here."
                                  : "\nPerfMap cannot measure programs here yet: it needs a "
                                    "compiler and the runtime.");
    return ok;
}

static int doctor_main(struct cmd_parse *parse)
{
    while (cmd_next(parse) != CMD_END)
        ;
    if (parse->failed)
        return CMD_USAGE;
    if (parse->n_operands > 0)
        return cmd_usage_error(parse, "unexpected argument '%s'", parse->operands[0]);

    struct pm_error err = PM_ERROR_INIT;
    struct doctor doctor = {0};
    if (make_folder(&err, &doctor.folder) != PM_OK)
        return cmd_fail(parse, &err);
    doctor_compilers(&doctor);
    doctor_runtime(&doctor);
    doctor_machine(&doctor);
    bool ok = !doctor.failed;
    if (ok && parse->json)
        print_json(&doctor);
    else if (ok)
        ok = print_table(&doctor);
    int end = enough_works(&doctor) ? CMD_DONE : CMD_FAILED;
    doctor_release(&doctor);
    if (!ok) {
        pm_error_set(&err, PM_ERR_MEMORY, "out of memory");
        return cmd_fail(parse, &err);
    }
    return cmd_stdout_done(parse, end);
}

static const struct cmd_option doctor_options[] = {{CMD_KEY_JSON, "json", NULL, "as JSON"}, {0}};

static const struct cmd_exit doctor_exits[] = {
    {0, "a compiler and the runtime work"},
    {1, "one of them does not, or the trials could not be made"},
    {2, "wrong usage"},
    {0, NULL}};

const struct cmd cmd_doctor = {
    .name = "doctor",
    .summary = "find out what works on this machine",
    .usage = (const char *const[]){"doctor [--json]", NULL},
    .description = "Tries everything that PerfMap needs or could use, and says what to do about "
                   "what does not work: the compilers in "
                   "PATH (a small program is compiled with the plugin in each), the runtime (that "
                   "program is run and measured), the "
                   "clock, live patching, samples, what the kernel tells of its writes.\n\n"
                   "States: works (tried), fails (tried in vain), missing, unused (there, but this "
                   "version does nothing with it), "
                   "untried (something else has to work first). The trials are made in a folder "
                   "below TMPDIR or /tmp, which is removed.",
    .options = doctor_options,
    .exits = doctor_exits,
    .environment =
        (const char *const[]){"PERFMAP_LIBDIR", "folder with perfmap.so and libperfmap-rt.so",
                              "TMPDIR", "where the trials are made", NULL},
    .main = doctor_main};
