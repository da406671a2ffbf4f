/* Names of SQL statements: what SQLite's own tokens say is a value, a name, a comment, an end. */
#include "runtime/adapters/sql/text.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const char TRIGGER[] =
    "create temp trigger \"it's; END;\" AFTER INSERT ON t BEGIN /* ; END; */ "
    "UPDATE t SET a = CASE b WHEN 1 THEN 'x; END;' END; SELECT 2; END";

static void assert_named(const char *sql, const char *name)
{
    char text[TEXT_BYTES];
    sql_normalise(sql, text);
    assert_string_equal(text, name);
}

static void values_are_left_out(void **state)
{
    (void)state;
    assert_named("SELECT 1, -2, 3.5e-7, 0x1F, .5, 'it''s', x'0aff'",
                 "SELECT ?, -?, ?, ?, ?, ?, x?");
    assert_named("VALUES (?1, :a1, @b2, $c3, ?)", "VALUES (?, :a1, @b2, $c3, ?)");
    assert_named("SELECT 1+2-3", "SELECT ?+?-?");
    assert_named("SELECT 'not closed", "SELECT ?");
}

static void names_stay(void **state)
{
    (void)state;
    assert_named("SELECT t1.a2, \"it's 3\", `x'4`, [5 o'clock], größe7 FROM t_8",
                 "SELECT t1.a2, \"it's 3\", `x'4`, [5 o'clock], größe7 FROM t_8");
}

static void blanks_and_comments_are_one_blank(void **state)
{
    (void)state;
    assert_named(" ;\t\nSELECT\r\n  a -- don't; 5\n\n,b/* it's\n6 */ FROM t ; -- end",
                 "SELECT a ,b FROM t");
    assert_named("-- nothing", "");
    assert_named("/* not closed", "");
    assert_named("", "");
}

static void long_texts_end_between_tokens(void **state)
{
    (void)state;
    char sql[3 * TEXT_BYTES] = "", text[TEXT_BYTES];
    static const char name[] = "größe,";
    for (size_t n = 0; n + sizeof name < sizeof sql; n += sizeof name - 1)
        memcpy(sql + n, name, sizeof name);
    sql_normalise(sql, text);
    assert_in_range(strlen(text), TEXT_BYTES - 10, TEXT_BYTES - 1);
    assert_memory_equal(sql, text, strlen(text));
    assert_true(strchr(",e", text[strlen(text) - 1]));
    memset(sql, 'a', sizeof sql - 1); /* no end at all: its beginning */
    sql[sizeof sql - 1] = 0;
    sql_normalise(sql, text);
    assert_int_equal(strlen(text), TEXT_BYTES - 1);
}

static size_t first_of(const char *sql, const char *rest)
{
    char both[1000];
    snprintf(both, sizeof both, "%s;%s", sql, rest);
    assert_int_equal(sql_first_statement(both), strlen(sql));
    return sql_first_statement(sql);
}

static void the_first_statement_ends_at_its_own_semicolon(void **state)
{
    (void)state;
    static const char *const statements[] = {"SELECT 1",
                                             "SELECT ';', \";\", [;], `;` -- ;\n, 2 /* ; */",
                                             "BEGIN",
                                             "",
                                             "SELECT CASE a WHEN 1 THEN 2 END",
                                             TRIGGER};
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        assert_int_equal(first_of(statements[i], ""), strlen(statements[i]));
        first_of(statements[i], " SELECT 2; END;");
    }
    char explained[400];
    snprintf(explained, sizeof explained, "EXPLAIN QUERY PLAN %s", TRIGGER);
    first_of(explained, "SELECT 3");
}

static void utf16_is_read(void **state)
{
    (void)state;
    static const uint16_t wide[] = {'a', 0xe4, 0x20ac, 0xd83d, 0xde00, 'z', 0};
    char text[32];
    sql_from_utf16(wide, -1, text, sizeof text);
    assert_string_equal(text, "aä€😀z");
    sql_from_utf16(wide, 4, text, sizeof text);
    assert_string_equal(text, "aä");
    sql_from_utf16(wide, 5, text, sizeof text); /* half a character */
    assert_string_equal(text, "aä");
    sql_from_utf16(wide, -1, text, 6); /* no room for another one of any size */
    assert_string_equal(text, "aä");
}

static void any_bytes_are_survived(void **state)
{
    (void)state;
    static const char bytes[] = "'\"`[]-/*;.e+ \n0xaE?ENDTRIGGERCREATE\xc3\x28";
    unsigned seed = 1;
    for (int round = 0; round < 20000; round++) {
        size_t n = (size_t)rand_r(&seed) % 60;
        char *sql = malloc(n + 1), text[TEXT_BYTES]; /* with its end where the sanitizer sees it */
        assert_non_null(sql);
        for (size_t i = 0; i < n; i++)
            sql[i] = bytes[(size_t)rand_r(&seed) % (sizeof bytes - 1)];
        sql[n] = 0;
        assert_in_range(sql_first_statement(sql), 0, n);
        sql_normalise(sql, text);
        assert_in_range(strlen(text), 0, n);
        free(sql);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_left_out),
        cmocka_unit_test(names_stay),
        cmocka_unit_test(blanks_and_comments_are_one_blank),
        cmocka_unit_test(long_texts_end_between_tokens),
        cmocka_unit_test(the_first_statement_ends_at_its_own_semicolon),
        cmocka_unit_test(utf16_is_read),
        cmocka_unit_test(any_bytes_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
