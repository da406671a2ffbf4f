/* One line of a request to a run: each takes its own options, and the rest is refused. */
#include "cmd/session/control.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void is_taken(const char *line, enum control_verb verb)
{
    struct pm_error err = PM_ERROR_INIT;
    struct control_request request;
    if (control_request_parse(pm_str_of(line), &err, &request) != PM_OK)
        fail_msg("'%s': %s", line, pm_error_text(&err));
    assert_int_equal(request.verb, verb);
    control_request_release(&request);
}

static void is_refused(const char *line, const char *why)
{
    struct pm_error err = PM_ERROR_INIT;
    struct control_request request;
    assert_int_equal(control_request_parse(pm_str_of(line), &err, &request), PM_ERR_USAGE);
    if (!strstr(pm_error_text(&err), why))
        fail_msg("'%s': %s", line, pm_error_text(&err));
    pm_error_release(&err);
}

static void each_request_takes_its_own_options(void **state)
{
    (void)state;
    is_taken("perfmap 1 show pid=7 wait_ms=5", CONTROL_SHOW);
    is_taken("perfmap 1 mode set=off exact=func:step pid=7", CONTROL_MODE);
    is_taken("perfmap 1 need set=count ids=00000000000000ff,!0123456789abcdef more=1",
             CONTROL_NEED);
}

static void options_of_others_are_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {"perfmap 1 show set=off",
                                        "perfmap 1 show exact=x",
                                        "perfmap 1 show more=1",
                                        "perfmap 1 mode more=1",
                                        "perfmap 1 need exact=x",
                                        "perfmap 1 need wait_ms=x",
                                        "perfmap 1 mode ids=00000000000000ff"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        is_refused(lines[i], "unknown or wrong option");
}

static void an_unknown_request_is_told_which_there_are(void **state)
{
    (void)state;
    is_refused("perfmap 1 end", "unknown request 'end' (known: show, mode, need)");
    is_refused("perfmap 1", "perfmap VERSION VERB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_request_takes_its_own_options),
        cmocka_unit_test(options_of_others_are_refused),
        cmocka_unit_test(an_unknown_request_is_told_which_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
