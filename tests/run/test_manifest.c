#include "mapping/run/manifest.h"

#include <setjmp.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    char *argv[] = {"./a b", "", "100%", "new\nline", "\xff\xfe'\"", NULL};
    struct pm_manifest out, in;
    char dir[] = "manifest-XXXXXX";
    struct pm_error err = PM_ERROR_INIT;
    assert_non_null(mkdtemp(dir));
    pm_manifest_init(&out);
    pm_manifest_init(&in);
    assert_true(pm_manifest_set_argv(&out, argv, 5));
    assert_true(pm_manifest_set_text(&out.cwd, "/tmp/a b\x01%"));
    assert_true(pm_manifest_set_text(&out.mode, "exact"));
    out.pid = 77;
    out.start_tsc = UINT64_MAX;
    out.tsc_hz = 2596000000;
    out.end_tsc = 5;
    out.has_usage = true;
    out.system_cpu_ns = 9;
    out.exit_status = 0;
    assert_int_equal(pm_manifest_write(dir, &out, &err), PM_OK);
    assert_int_equal(pm_manifest_read(dir, &in, &err), PM_OK);
    assert_int_equal(in.n_args, 5);
    for (int i = 0; i < 5; i++)
        assert_string_equal(in.argv[i], argv[i]);
    assert_null(in.argv[5]);
    assert_string_equal(in.cwd, out.cwd);
    assert_string_equal(in.mode, "exact");
    assert_null(in.host);
    assert_int_equal(in.pid, 77);
    assert_true(in.start_tsc == UINT64_MAX);
    assert_true(in.tsc_hz == 2596000000);
    assert_true(in.has_usage);
    assert_int_equal(in.user_cpu_ns, 0);
    assert_int_equal(in.system_cpu_ns, 9);
    assert_int_equal(in.exit_status, 0);
    assert_int_equal(in.exit_signal, -1);
    pm_manifest_release(&in);
    pm_manifest_release(&out);
    char path[64];
    snprintf(path, sizeof path, "%s/manifest", dir);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

static enum pm_status parse(const char *text, struct pm_manifest *manifest, struct pm_error *err)
{
    pm_manifest_init(manifest);
    return pm_manifest_parse("m", text, strlen(text), manifest, err);
}

static void keys_of_later_versions_are_kept(void **state)
{
    (void)state;
    struct pm_manifest manifest;
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(parse("version=1\nranks=4%41\npid=3\n", &manifest, &err), PM_OK);
    assert_int_equal(manifest.n_other, 1);
    assert_string_equal(manifest.other[0], "ranks=4%41");
    assert_int_equal(manifest.pid, 3);
    assert_false(manifest.has_usage);
    pm_manifest_release(&manifest);
}

static void refuse(const char *text, enum pm_status status, const char *message)
{
    struct pm_manifest manifest;
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(parse(text, &manifest, &err), status);
    assert_string_equal(pm_error_text(&err), message);
    pm_error_release(&err);
    pm_manifest_release(&manifest);
}

static void malformed_lines_are_named(void **state)
{
    (void)state;
    refuse("", PM_ERR_FORMAT, "manifest 'm' is empty");
    refuse("pid=1\n", PM_ERR_FORMAT, "manifest 'm' line 1: does not begin with a version");
    refuse("version=2\n", PM_ERR_VERSION, "manifest 'm' has version 2, this perfmap reads up to 1");
    refuse("version=0\n", PM_ERR_FORMAT, "manifest 'm' line 1: version is not a number from 1");
    refuse("version=1\n\nhello\n", PM_ERR_FORMAT, "manifest 'm' line 3: no '='");
    refuse("version=1\npid=x\n", PM_ERR_FORMAT, "manifest 'm' line 2: value of 'pid' is malformed");
    refuse("version=1\nstart_tsc=18446744073709551616\n", PM_ERR_FORMAT,
           "manifest 'm' line 2: value of 'start_tsc' is malformed");
    refuse("version=1\ncwd=%4\n", PM_ERR_FORMAT,
           "manifest 'm' line 2: value of 'cwd' is malformed");
    refuse("version=1\ncwd=%00\n", PM_ERR_FORMAT,
           "manifest 'm' line 2: value of 'cwd' is malformed");
    refuse("version=1\ncommand=a %g0\n", PM_ERR_FORMAT,
           "manifest 'm' line 2: value of 'command' is malformed");
    refuse("version=1\nexit_status=256\n", PM_ERR_FORMAT,
           "manifest 'm' line 2: value of 'exit_status' is malformed");
}

static void a_folder_without_manifest_is_told_apart(void **state)
{
    (void)state;
    struct pm_manifest manifest;
    struct pm_error err = PM_ERROR_INIT;
    pm_manifest_init(&manifest);
    assert_int_equal(pm_manifest_read("/nonexistent", &manifest, &err), PM_ERR_NOT_FOUND);
    assert_string_equal(pm_error_text(&err), "run folder '/nonexistent' has no manifest");
    pm_error_release(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(keys_of_later_versions_are_kept),
        cmocka_unit_test(malformed_lines_are_named),
        cmocka_unit_test(a_folder_without_manifest_is_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
