#include "mapping/base/json.h"
#include "mapping/base/str.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#include <jansson.h>

#include <cmocka.h>

struct text {
    struct pm_json json;
    char *text;
    size_t len;
};

static void begin(struct text *t)
{
    *t = (struct text){0};
    pm_json_init(&t->json, open_memstream(&t->text, &t->len));
}

/* Ends it; what was written must be JSON whatever happened. */
static json_t *end(struct text *t, bool expected)
{
    assert_int_equal(pm_json_done(&t->json), expected);
    fclose(t->json.out);
    json_error_t error;
    json_t *value = json_loads(t->text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
    if (!value)
        fail_msg("%s in: %s", error.text, t->text);
    free(t->text);
    return value;
}

static void thousandths_have_the_decimals_that_they_need(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        const char *expected;
    } cases[] = {{0, "0\n"},        {5, "0.005\n"},        {10, "0.01\n"},
                 {1000, "1\n"},     {1200300, "1200.3\n"}, {UINT64_MAX, "18446744073709551.615\n"},
                 {100000, "100\n"}, {999, "0.999\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text t;
        begin(&t);
        pm_json_thousandths(&t.json, NULL, cases[i].value);
        assert_true(pm_json_done(&t.json));
        assert_string_equal(t.text, cases[i].expected);
        fclose(t.json.out);
        free(t.text);
    }
}

static void every_kind_of_value_reads_back(void **state)
{
    (void)state;
    struct text t;
    begin(&t);
    pm_json_object(&t.json, NULL);
    pm_json_string(&t.json, "name", "heat.c:42");
    pm_json_string(&t.json, "none", NULL);
    pm_json_string_n(&t.json, "zero", "a\0b", 3);
    pm_json_i64(&t.json, "lowest", INT64_MIN);
    pm_json_double(&t.json, "third", 1.0 / 3);
    pm_json_double(&t.json, "infinite", INFINITY);
    pm_json_bool(&t.json, "yes", true);
    pm_json_array(&t.json, "list");
    pm_json_array(&t.json, NULL);
    pm_json_end(&t.json);
    pm_json_u64(&t.json, NULL, 7);
    pm_json_null(&t.json, NULL);
    pm_json_end(&t.json);
    pm_json_end(&t.json);
    t.json.failed |= fflush(t.json.out) != 0;
    assert_non_null(strstr(t.text, "\"zero\": \"a\\u0000b\""));
    char *at = strstr(t.text, "\\u0000");
    memcpy(at, "\\u0001", 6); /* jansson refuses zero bytes */
    assert_true(pm_json_done(&t.json));
    fclose(t.json.out);
    json_t *value = json_loads(t.text, 0, NULL);
    assert_non_null(value);
    assert_string_equal(json_string_value(json_object_get(value, "name")), "heat.c:42");
    assert_true(json_is_null(json_object_get(value, "none")));
    assert_true(json_is_null(json_object_get(value, "infinite")));
    assert_true(json_integer_value(json_object_get(value, "lowest")) == INT64_MIN);
    assert_true(json_real_value(json_object_get(value, "third")) == 1.0 / 3);
    assert_true(json_is_true(json_object_get(value, "yes")));
    assert_int_equal(json_array_size(json_object_get(value, "list")), 3);
    json_decref(value);
    free(t.text);
}

static void numbers_are_written_in_full(void **state)
{
    (void)state;
    struct text t;
    begin(&t);
    pm_json_u64(&t.json, NULL, UINT64_MAX);
    assert_true(pm_json_done(&t.json));
    fclose(t.json.out);
    assert_string_equal(t.text, "18446744073709551615\n");
    free(t.text);
}

static void any_bytes_make_a_valid_string(void **state)
{
    (void)state;
    char bytes[512];
    for (int i = 0; i < 512; i++)
        bytes[i] = (char)(i % 256 ? i % 256 : 1);
    struct text t;
    begin(&t);
    pm_json_array(&t.json, NULL);
    for (size_t from = 0; from < 512; from += 3)
        pm_json_string_n(&t.json, NULL, bytes + from, 512 - from);
    pm_json_string(&t.json, NULL, "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
    pm_json_string(&t.json, NULL, "x\xff\xc3");
    pm_json_end(&t.json);
    json_t *value = end(&t, true);
    size_t n = json_array_size(value);
    assert_string_equal(json_string_value(json_array_get(value, n - 2)),
                        "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
    assert_string_equal(json_string_value(json_array_get(value, n - 1)),
                        "x\xef\xbf\xbd\xef\xbf\xbd");
    json_decref(value);
}

static void mistakes_fail_and_stay_valid(void **state)
{
    (void)state;
    struct text t;
    begin(&t); /* nothing at all */
    json_decref(end(&t, false));
    begin(&t); /* left open */
    pm_json_object(&t.json, NULL);
    pm_json_array(&t.json, "a");
    json_decref(end(&t, false));
    begin(&t); /* two values at the top */
    pm_json_bool(&t.json, NULL, true);
    pm_json_object(&t.json, NULL);
    pm_json_u64(&t.json, "x", 1);
    pm_json_end(&t.json);
    pm_json_null(&t.json, NULL);
    json_decref(end(&t, false));
    begin(&t); /* an end too many, a key where none may be, none where one must be */
    pm_json_end(&t.json);
    pm_json_array(&t.json, NULL);
    pm_json_u64(&t.json, "key", 1);
    pm_json_object(&t.json, NULL);
    pm_json_u64(&t.json, NULL, 1);
    pm_json_end(&t.json);
    pm_json_end(&t.json);
    json_decref(end(&t, false));
    begin(&t); /* too deep */
    for (int i = 0; i < PM_JSON_MAX_DEPTH + 5; i++)
        pm_json_array(&t.json, NULL);
    pm_json_u64(&t.json, NULL, 1);
    for (int i = 0; i < PM_JSON_MAX_DEPTH + 5; i++)
        pm_json_end(&t.json);
    json_decref(end(&t, false));
}

static void a_full_disk_is_told(void **state)
{
    (void)state;
    FILE *full = fopen("/dev/full", "w");
    struct pm_json json;
    pm_json_init(&json, full);
    pm_json_bool(&json, NULL, true);
    assert_false(pm_json_done(&json));
    fclose(full);
}

/* Where memory ends a number must not become null: nobody would tell it from one that is not known.
 * Writing needs no memory at all. */
static void writing_numbers_takes_no_memory(void **state)
{
    (void)state;
    char text[256];
    struct pm_json json;
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    pm_json_init(&json, out);
    pm_json_array(&json, NULL);
    pm_alloc_fail_at(1);
    pm_json_double(&json, NULL, 0.1);
    pm_json_double(&json, NULL, -2.5e300);
    pm_json_u64(&json, NULL, 7);
    assert_true(pm_alloc_fail_pending());
    pm_alloc_fail_at(0);
    pm_json_end(&json);
    assert_true(pm_json_done(&json));
    fclose(out);
    assert_string_equal(text, "[\n  0.1,\n  -2.5e+300,\n  7\n]\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_value_reads_back),
        cmocka_unit_test(thousandths_have_the_decimals_that_they_need),
        cmocka_unit_test(numbers_are_written_in_full),
        cmocka_unit_test(any_bytes_make_a_valid_string),
        cmocka_unit_test(mistakes_fail_and_stay_valid),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(writing_numbers_takes_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
