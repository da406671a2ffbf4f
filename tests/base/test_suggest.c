#include "mapping/base/suggest.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* The definition, without a table: what is left of both words from i and j on. */
static unsigned plain_distance(const char *a, const char *b)
{
    if (*a == 0 || *b == 0)
        return (unsigned)(strlen(a) + strlen(b));
    unsigned best = plain_distance(a + 1, b + 1) + (*a != *b);
    unsigned other = plain_distance(a + 1, b) + 1;
    best = other < best ? other : best;
    other = plain_distance(a, b + 1) + 1;
    best = other < best ? other : best;
    if (a[0] == b[1] && a[1] == b[0] && a[1] != 0) {
        other = plain_distance(a + 2, b + 2) + 1;
        best = other < best ? other : best;
    }
    return best;
}

static void fill(char *word, unsigned max_len)
{
    unsigned len = (unsigned)rand() % (max_len + 1);
    for (unsigned i = 0; i < len; i++)
        word[i] = (char)('a' + rand() % 3);
    word[len] = 0;
}

static void the_distance_is_that_of_the_definition(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 2000; round++) {
        char a[8], b[8];
        fill(a, 6);
        fill(b, 6);
        assert_int_equal(pm_word_distance(a, b, false), plain_distance(a, b));
    }
}

static void letters_of_other_case_are_other_letters_unless_asked_for(void **state)
{
    (void)state;
    assert_int_equal(pm_word_distance("Sweep", "sWeep", true), 0);
    assert_int_equal(pm_word_distance("Sweep", "sWeep", false), 2);
    assert_int_equal(pm_word_distance("ab", "BA", true), 1);
    assert_int_equal(pm_word_distance("@", "`", true), 1);
}

static void long_words_are_far(void **state)
{
    (void)state;
    char word[80];
    memset(word, 'x', sizeof word);
    word[64] = 0;
    assert_int_equal(pm_word_distance(word, word, false), 0);
    word[64] = 'x';
    word[65] = 0;
    assert_int_equal(pm_word_distance(word, word, false), UINT_MAX);
    assert_null(pm_suggest(word, (const char *const[]){word, NULL}));
}

static void what_was_probably_meant_is_suggested(void **state)
{
    (void)state;
    static const char *const words[] = {"report", "run", "annotate", NULL};
    assert_string_equal(pm_suggest("repotr", words), "report");
    assert_string_equal(pm_suggest("rnu", words), "run");
    assert_string_equal(pm_suggest("anno", words), "annotate");
    assert_null(pm_suggest("explain", words));
    assert_null(pm_suggest("", words));
    assert_null(pm_suggest("ru", (const char *const[]){"up", NULL}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_distance_is_that_of_the_definition),
        cmocka_unit_test(letters_of_other_case_are_other_letters_unless_asked_for),
        cmocka_unit_test(long_words_are_far),
        cmocka_unit_test(what_was_probably_meant_is_suggested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
