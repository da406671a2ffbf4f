/* A measured run by the session alone, without a verb: its steps, their errors, and that it never
 * prints. */
#include "cmd/session/session.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Standard output and error go to a file until `printed` says how much came. */
struct silence {
    int saved_out, saved_err, file;
};

static struct silence listen_to_prints(void)
{
    struct silence s = {dup(1), dup(2), open("printed", O_RDWR | O_CREAT | O_TRUNC, 0600)};
    assert_true(s.file >= 0);
    fflush(NULL);
    dup2(s.file, 1);
    dup2(s.file, 2);
    return s;
}

static off_t printed(struct silence *s)
{
    fflush(NULL);
    dup2(s->saved_out, 1);
    dup2(s->saved_err, 2);
    off_t n = lseek(s->file, 0, SEEK_END);
    close(s->saved_out);
    close(s->saved_err);
    close(s->file);
    return n;
}

static struct session_request request_for(char *const *argv, const char *output)
{
    struct session_request request = {
        .argv = argv, .output = output, .settings = {.runtime = {.mode = PM_RUN_MODE_COUNT}}};
    while (argv[request.n_args])
        request.n_args++;
    return request;
}

static void a_program_that_is_nowhere_ends_with_127(void **state)
{
    (void)state;
    char *argv[] = {"./nowhere", NULL};
    struct session_request request = request_for(argv, "nowhere.run");
    struct session_notes notes = {0};
    struct pm_error err = PM_ERROR_INIT;
    struct session session;
    int exit_status = 0;
    struct silence silence = listen_to_prints();
    enum pm_status status = session_prepare(&request, &notes, &err, &session, &exit_status);
    session_release(&session);
    assert_int_equal(printed(&silence), 0);
    assert_int_equal(status, PM_ERR_SYSTEM);
    assert_int_equal(exit_status, SESSION_NOT_FOUND);
    assert_non_null(strstr(pm_error_text(&err), "./nowhere"));
    assert_int_not_equal(access("nowhere.run", F_OK), 0);
    pm_error_release(&err);
    session_notes_release(&notes);
}

static void a_foreign_file_is_not_replaced(void **state)
{
    (void)state;
    char *argv[] = {"/bin/true", NULL};
    assert_int_equal(pm_file_write("foreign", "mine", 4, NULL), PM_OK);
    struct session_request request = request_for(argv, "foreign");
    struct session_notes notes = {0};
    struct pm_error err = PM_ERROR_INIT;
    struct session session;
    int exit_status = 0;
    assert_int_equal(session_prepare(&request, &notes, &err, &session, &exit_status), PM_ERR_USAGE);
    assert_int_equal(exit_status, SESSION_FAILED);
    session_release(&session);
    pm_error_release(&err);
    session_notes_release(&notes);
    unlink("foreign");
}

static void a_pattern_that_means_nothing_is_wrong_usage(void **state)
{
    (void)state;
    char *argv[] = {"/bin/true", NULL};
    struct session_request request = request_for(argv, "pattern.run");
    struct session_notes notes = {0};
    struct pm_error err = PM_ERROR_INIT;
    struct session session;
    int exit_status = 0;
    assert_true(mode_rules_add(&request.rules, PM_RUN_MODE_EXACT, "func:no_such"));
    assert_int_equal(session_prepare(&request, &notes, &err, &session, &exit_status), PM_ERR_USAGE);
    assert_int_equal(exit_status, SESSION_USAGE);
    session_release(&session);
    mode_rules_release(&request.rules);
    pm_error_release(&err);
    session_notes_release(&notes);
}

static void what_cannot_start_leaves_no_folder(void **state)
{
    (void)state;
    char *argv[] = {"/bin/true", NULL};
    struct session_request request = request_for(argv, "unstarted.run");
    struct session_notes notes = {0};
    struct pm_error err = PM_ERROR_INIT;
    struct session session;
    struct session_end end = {.exit = SESSION_FAILED};
    int exit_status = 0;
    setenv("PERFMAP_LIBDIR", "/nonexistent", 1);
    struct silence silence = listen_to_prints();
    enum pm_status prepared = session_prepare(&request, &notes, &err, &session, &exit_status);
    enum pm_status opened = session_open(&session, &notes, &err);
    bool was_there = access("unstarted.run/control.sock", F_OK) == 0;
    enum pm_status run = session_run(&session, &notes, &err, &end);
    session_release(&session);
    assert_int_equal(printed(&silence), 0);
    unsetenv("PERFMAP_LIBDIR");
    assert_int_equal(prepared, PM_OK);
    assert_int_equal(opened, PM_OK);
    assert_true(was_there);
    assert_int_equal(run, PM_ERR_NOT_FOUND);
    assert_int_equal(end.exit, SESSION_FAILED);
    assert_int_not_equal(access("unstarted.run", F_OK), 0);
    pm_error_release(&err);
    session_notes_release(&notes);
}

#if defined PM_TEST_RUNTIME
static void a_run_ends_with_its_programs_status_and_prints_nothing(void **state)
{
    (void)state;
    char *argv[] = {"/bin/sh", "-c", "exit 7", NULL};
    struct session_request request = request_for(argv, "seven.run");
    struct session_notes notes = {0};
    struct pm_error err = PM_ERROR_INIT;
    struct session session;
    struct session_findings findings;
    struct session_end end = {.exit = SESSION_FAILED};
    int exit_status = 0;
    request.settings.runtime.mode = PM_RUN_MODE_ACTIVE; /* samples: it has no sleds */
    request.settings.runtime.rate_hz = 401;
    setenv("PERFMAP_LIBDIR", PM_TEST_RUNTIME, 1);
    struct silence silence = listen_to_prints();
    enum pm_status status = session_prepare(&request, &notes, &err, &session, &exit_status);
    if (status == PM_OK)
        status = session_open(&session, &notes, &err);
    if (status == PM_OK)
        status = session_run(&session, &notes, &err, &end);
    if (status == PM_OK)
        status = session_finish(&session, &end, &notes, &err, &findings);
    off_t n_printed = printed(&silence);
    unsetenv("PERFMAP_LIBDIR");
    if (status != PM_OK)
        fail_msg("%s", pm_error_text(&err));
    assert_int_equal(n_printed, 0);
    assert_int_equal(end.exit, 7);
    assert_int_equal(session.manifest.exit_status, 7);
    assert_false(end.is_alive);
    assert_int_equal(findings.n_processes, 1);
    assert_false(findings.is_running);
    assert_int_equal(access("seven.run/manifest", R_OK), 0);
    session_release(&session);
    assert_int_not_equal(access("seven.run/control.sock", F_OK), 0);
    session_folder_remove("seven.run", &notes);
    assert_int_not_equal(access("seven.run", F_OK), 0);
    session_notes_release(&notes);
}
#endif

static void the_same_note_is_kept_once(void **state)
{
    (void)state;
    struct session_notes notes = {0};
    session_note_once(&notes, SESSION_WARNS, "full");
    session_note_once(&notes, SESSION_WARNS, "full");
    session_note_once(&notes, SESSION_TELLS, "full");
    session_note(&notes, SESSION_NOTES, "%d of %d", 1, 2);
    assert_int_equal(notes.n, 3);
    assert_string_equal(notes.items[2].text, "1 of 2");
    assert_string_equal(session_note_word(notes.items[0].kind), "warning: ");
    assert_string_equal(session_note_word(notes.items[1].kind), "");
    session_notes_release(&notes);
    assert_int_equal(notes.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_that_is_nowhere_ends_with_127),
        cmocka_unit_test(a_foreign_file_is_not_replaced),
        cmocka_unit_test(a_pattern_that_means_nothing_is_wrong_usage),
        cmocka_unit_test(what_cannot_start_leaves_no_folder),
#if defined PM_TEST_RUNTIME
        cmocka_unit_test(a_run_ends_with_its_programs_status_and_prints_nothing),
#endif
        cmocka_unit_test(the_same_note_is_kept_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
