#include "mapping/base/http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static enum pm_http_state read_text(const char *text, struct pm_http_request *request)
{
    return pm_http_read(text, strlen(text), request);
}

static void a_request_of_a_browser_is_read(void **state)
{
    (void)state;
    struct pm_http_request request;
    const char *text =
        "GET /abc/chunk/3?a=b HTTP/1.1\r\nAccept: */*\r\nHOST: \t127.0.0.1:80 \r\n\r\n";
    assert_int_equal(read_text(text, &request), PM_HTTP_DONE);
    assert_true(pm_str_is(request.path, "/abc/chunk/3"));
    assert_true(pm_str_is(request.host, "127.0.0.1:80"));
    assert_false(request.is_head);
    for (size_t n = 0; n < strlen(text); n++)
        assert_int_equal(pm_http_read(text, n, &request), PM_HTTP_MORE);
}

static void what_is_no_such_request_is_refused(void **state)
{
    static const char *const bad[] = {
        "POST /a HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET a HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a\x01 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a HTTP/2\r\nHost: a\r\n\r\n",
        "GET /a HTTP/1.1\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost : a\r\n\r\n",
        "GET /a HTTP/1.1\r\n folded: a\r\n\r\n",
        "\r\n",
    };
    (void)state;
    struct pm_http_request request;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (read_text(bad[i], &request) != PM_HTTP_BAD)
            fail_msg("taken: %s", bad[i]);
}

static void a_request_without_end_is_refused(void **state)
{
    (void)state;
    struct pm_http_request request;
    char *text = malloc(PM_HTTP_MOST_BYTES);
    assert_non_null(text);
    memset(text, 'a', PM_HTTP_MOST_BYTES);
    assert_int_equal(pm_http_read(text, PM_HTTP_MOST_BYTES - 1, &request), PM_HTTP_MORE);
    assert_int_equal(pm_http_read(text, PM_HTTP_MOST_BYTES, &request), PM_HTTP_BAD);
    free(text);
}

static void only_the_token_opens_the_path(void **state)
{
    (void)state;
    struct pm_str rest;
    assert_true(pm_http_after_token(PM_STR("/0f0f/chunk/1"), "0f0f", &rest));
    assert_true(pm_str_is(rest, "chunk/1"));
    assert_true(pm_http_after_token(PM_STR("/0f0f/"), "0f0f", &rest));
    assert_true(pm_str_is(rest, ""));
    assert_false(pm_http_after_token(PM_STR("/0f0e/chunk/1"), "0f0f", &rest));
    assert_false(pm_http_after_token(PM_STR("/0f0f"), "0f0f", &rest));
    assert_false(pm_http_after_token(PM_STR("/0f0fx/"), "0f0f", &rest));
    assert_false(pm_http_after_token(PM_STR("/"), "0f0f", &rest));
}

static void text_of_a_path_is_read(void **state)
{
    static const char *const bad[] = {"%", "%4", "%zz", "a%0", "%00", "%-1", "%4G"};
    (void)state;
    struct pm_buf text = PM_BUF_INIT(64);
    assert_true(pm_http_add_text(PM_STR("%7Bu%20Reads%7d%2f%C3%a9"), &text));
    assert_int_equal(text.len, strlen("{u Reads}/\xc3\xa9"));
    assert_memory_equal(text.data, "{u Reads}/\xc3\xa9", text.len);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (pm_http_add_text(pm_str_of(bad[i]), &text))
            fail_msg("taken: %s", bad[i]);
    pm_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_of_a_browser_is_read),
        cmocka_unit_test(what_is_no_such_request_is_refused),
        cmocka_unit_test(a_request_without_end_is_refused),
        cmocka_unit_test(only_the_token_opens_the_path),
        cmocka_unit_test(text_of_a_path_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
