#include "pif_helpers.h"

#include <glob.h>

/* --- golden files: what is read is written back byte for byte --- */

static void golden_files_come_back_unchanged(void **state)
{
    (void)state;
    glob_t files;
    assert_int_equal(glob(PM_TEST_DATA "/*.pif", 0, NULL, &files), 0);
    assert_true(files.gl_pathc >= 3);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct pm_pif *pif = pm_pif_new();
        struct pm_error err = PM_ERROR_INIT;
        char *file;
        size_t len;
        if (pm_pif_read_file(pif, files.gl_pathv[i], &err) != PM_OK)
            fail_msg("%s", pm_error_text(&err));
        assert_int_equal(pm_file_read(files.gl_pathv[i], 1 << 20, NULL, &file, &len), PM_OK);
        assert_text(pif, file);
        /* Reading the same again adds nothing but unknown records. */
        size_t n_nouns = pm_pif_n_nouns(pif), n_mappings = pm_pif_n_mappings(pif);
        assert_int_equal(pm_pif_read_text(pif, "again", file, len, NULL), PM_OK);
        assert_int_equal(pm_pif_n_nouns(pif), n_nouns);
        assert_int_equal(pm_pif_n_mappings(pif), n_mappings);
        struct pm_pif *alone = read_text(file), *again = through_compact(alone);
        assert_same(alone, again);
        /* The compact form groups records by kind; written and read as text, the same is left. */
        char *text = text_of(again);
        struct pm_pif *third = read_text(text), *fourth = through_compact(third);
        char *fourth_text = text_of(fourth);
        assert_string_equal(fourth_text, text);
        free(fourth_text);
        free(text);
        pm_pif_free(fourth);
        pm_pif_free(third);
        pm_pif_free(alone);
        pm_pif_free(again);
        pm_pif_free(pif);
        free(file);
    }
    globfree(&files);
}

static void the_papers_records_mean_what_the_paper_says(void **state)
{
    (void)state;
    struct pm_pif *pif = pm_pif_new();
    assert_int_equal(pm_pif_read_file(pif, PM_TEST_DATA "/paper.pif", NULL), PM_OK);
    struct pm_pif_noun noun;
    struct pm_pif_mapping mapping;
    pm_id line = pm_pif_name_id("CM Fortran", "line1160");
    assert_true(pm_pif_find_noun(pif, line, &noun));
    assert_string_equal(noun.description, "line #1160 in source file /usr/src/prog/main.fcm");
    assert_int_equal(pm_pif_n_nouns(pif), 2); /* cmpe_corr_6_ is only mentioned */
    assert_true(pm_pif_find_noun(pif, pm_pif_name_id("", "cmpe_corr_6_"), &noun));
    assert_int_equal(pm_pif_n_mappings(pif), 1);
    pm_pif_get_mapping(pif, 0, &mapping);
    assert_int_equal(mapping.source.n_nouns, 1);
    assert_true(mapping.source.verb == pm_pif_verb_id("", "CPU Utilization"));
    assert_true(mapping.destination.nouns[0] == line);
    assert_true(mapping.destination.verb == pm_pif_verb_id("CM Fortran", "Executes"));
    assert_true(mapping.weight == 0);
    assert_null(mapping.origin);
    pm_pif_free(pif);
}

static void what_people_type_is_understood(void **state)
{
    (void)state;
    struct pm_pif *pif =
        read_text("\xef\xbb\xbfPIF 1 by hand\r\n"
                  "# a comment\r\n"
                  "\r\n"
                  "MAPPING\r\n"
                  "\tsource={ later ,Executes }\r\n"
                  "\tdestination = {B::\"same, name\", Executes}\r\n"
                  "NOUN\n"
                  "name = later\n"
                  "    abstraction =   A   \n"
                  "NOUN\n  name = same, name\n  abstraction = A\n  parent = below\n"
                  "NOUN\n  name = same, name\n  abstraction = B\n"
                  "NOUN\n  name = std::below\n  abstraction = B\n"
                  "NOUN\n  name = below\n  abstraction = B\n"
                  "NOUN\n  name = below\n  abstraction = A");
    assert_text(
        pif,
        "PIF 1 by hand\n"
        "MAPPING\n  source = {later, Executes}\n  destination = {B::\"same, name\", Executes}\n"
        "NOUN\n  name = later\n  abstraction = A\n"
        "NOUN\n  name = \"same, name\"\n  abstraction = A\n  parent = below\n"
        "NOUN\n  name = \"same, name\"\n  abstraction = B\n"
        "NOUN\n  name = \"std::below\"\n  abstraction = B\n"
        "NOUN\n  name = below\n  abstraction = B\n"
        "NOUN\n  name = below\n  abstraction = A\n");
    struct pm_pif_noun noun;
    assert_true(pm_pif_find_noun(pif, pm_pif_name_id("A", "same, name"), &noun));
    assert_true(noun.parent == pm_pif_name_id("A", "below")); /* its own level is tried first */
    pm_pif_free(pif);
}

static void a_name_means_the_noun_of_its_own_file_first(void **state)
{
    (void)state;
    struct pm_pif *pif = read_text("NOUN\n  name = x\n  abstraction = A\n");
    const char second[] =
        "NOUN\n  name = x\n  abstraction = B\nMAPPING\n  source = {x, v}\n  destination = {y, v}\n";
    const char third[] = "MAPPING\n  source = {y, v}\n  destination = {A::x, v}\n";
    assert_int_equal(pm_pif_read_text(pif, "second", second, sizeof second - 1, NULL), PM_OK);
    assert_int_equal(pm_pif_read_text(pif, "third", third, sizeof third - 1, NULL), PM_OK);
    struct pm_pif_mapping mapping;
    pm_pif_get_mapping(pif, 0, &mapping);
    assert_true(mapping.source.nouns[0] == pm_pif_name_id("B", "x"));
    pm_pif_get_mapping(pif, 1, &mapping);
    assert_true(mapping.destination.nouns[0] == pm_pif_name_id("A", "x"));
    pm_pif_free(pif);
}

/* --- refusals --- */

static const struct {
    const char *text, *error;
} refused[] = {
    {"NUON\n", "PIF file 't.pif' line 1: 'NUON' is not a record; did you mean 'NOUN'?"},
    {"\nMAPING\n", "PIF file 't.pif' line 2: 'MAPING' is not a record; did you mean 'MAPPING'?"},
    {"PIF 2 future\n",
     "PIF file 't.pif' line 1: this is PIF version '2', this program reads version 1"},
    {"PIF\n", "PIF file 't.pif' line 1: this is PIF version '', this program reads version 1"},
    {"# x\n\nPIF 1\nPIF 1 x\n", "PIF file 't.pif' line 4: 'PIF 1 x' may only come first"},
    {"  name = x\n", "PIF file 't.pif' line 1: 'name = x' comes before the first record"},
    {"noun\n", "PIF file 't.pif' line 1: 'noun' is neither a record (NOUN, VERB, MAPPING, LEVEL) "
               "nor 'key = value'"},
    {"NOUN\n  name\n", "PIF file 't.pif' line 2: 'name' is not 'key = value'"},
    {"NOUN\n  9 = x\n", "PIF file 't.pif' line 2: '9 = x' is not 'key = value'"},
    {"NOUN\n  kind = x\n", "PIF file 't.pif' line 1: NOUN record without 'name'"},
    {"VERB\n", "PIF file 't.pif' line 1: VERB record without 'name'"},
    {"LEVEL\n  above = x\n", "PIF file 't.pif' line 1: LEVEL record without 'name'"},
    {"MAPPING\n  source = {v}\n", "PIF file 't.pif' line 1: MAPPING record without 'destination'"},
    {"NOUN\n  name =\n", "PIF file 't.pif' line 2: 'name' is empty"},
    {"NOUN\n  name = a\n  name = b\n",
     "PIF file 't.pif' line 3: 'name' is stated twice (first in line 2)"},
    {"NOUN\n  name = \"a\n",
     "PIF file 't.pif' line 2: quoted name '\"a': the closing quote is missing"},
    {"NOUN\n  name = \"a\\q\"\n",
     "PIF file 't.pif' line 2: quoted name '\"a\\q\"': after a backslash, one of \\ \" n t r or x "
     "and two hex digits was expected"},
    {"NOUN\n  name = \"\\x00\"\n",
     "PIF file 't.pif' line 2: quoted name '\"\\x00\"': a zero byte cannot be in a name or value"},
    {"NOUN\n  name = a\n  line = 4294967296\n",
     "PIF file 't.pif' line 3: line '4294967296' is not a whole number up to 4294967295"},
    {"NOUN\n  name = a\n  line = -1\n",
     "PIF file 't.pif' line 3: line '-1' is not a whole number up to 4294967295"},
    {"NOUN\n  name = a\n  id = 0000000000000000\n",
     "PIF file 't.pif' line 3: id '0000000000000000' is not 16 hex digits other than zero"},
    {"NOUN\n  name = a\n  id = 12\n",
     "PIF file 't.pif' line 3: id '12' is not 16 hex digits other than zero"},
    {"NOUN\n  name = a\n  parent = a\n", "PIF file 't.pif': noun 'a' is its own ancestor"},
    {"NOUN\n  name = a\n  parent = b, c\n",
     "PIF file 't.pif' line 3: parent 'b, c': a name with commas or braces must be in quotes"},
    {"MAPPING\n  source = a\n  destination = {v}\n",
     "PIF file 't.pif' line 2: sentence 'a': '{' was expected"},
    {"MAPPING\n  source = {a\n  destination = {v}\n",
     "PIF file 't.pif' line 2: sentence '{a': ',' or '}' was expected"},
    {"MAPPING\n  source = {}\n  destination = {v}\n",
     "PIF file 't.pif' line 2: sentence '{}': a name was expected"},
    {"MAPPING\n  source = {a,}\n  destination = {v}\n",
     "PIF file 't.pif' line 2: sentence '{a,}': a name was expected"},
    {"MAPPING\n  source = {v} x\n  destination = {v}\n",
     "PIF file 't.pif' line 2: sentence '{v} x': expected nothing after '}'"},
    {"MAPPING\n  source = {std::sort::x, v}\n  destination = {v}\n",
     "PIF file 't.pif' line 2: sentence '{std::sort::x, v}': a name with '::' must be in quotes"},
    {"MAPPING\n  source = {a\"b, v}\n  destination = {v}\n",
     "PIF file 't.pif' line 2: sentence '{a\"b, v}': a name with quotes must be in quotes"},
    {"MAPPING\n  source = {a,b,c,d,e,f,g,h,i,v}\n  destination = {v}\n",
     "PIF file 't.pif' line 2: a sentence has at most 8 nouns"},
    {"MAPPING\n  source = {v}\n  destination = {v}\n  weight = -1\n",
     "PIF file 't.pif' line 4: weight '-1' is not a number of 0 or more"},
    {"NOUN\n  name = x\n  abstraction = A\nNOUN\n  name = x\n  abstraction = B\n"
     "MAPPING\n  source = {x, v}\n  destination = {v}\n",
     "PIF file 't.pif' line 8: more than one noun has the name 'x': write 'level::name' or "
     "'name#id'"},
};

static void each_malformed_record_is_told_with_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct pm_pif *pif = pm_pif_new();
        struct pm_error err = PM_ERROR_INIT;
        enum pm_status status =
            pm_pif_read_text(pif, "t.pif", refused[i].text, strlen(refused[i].text), &err);
        assert_string_equal(pm_error_text(&err), refused[i].error);
        assert_int_equal(status, err.status);
        assert_int_equal(err.n_causes, 1);
        pm_error_release(&err);
        free(text_of(pif)); /* still sound */
        pm_pif_free(pif);
    }
}

static void what_stands_before_the_damage_stays(void **state)
{
    (void)state;
    struct pm_pif *pif = pm_pif_new();
    const char text[] = "NOUN\n  name = a\n  parent = b\nMAPPING\n  source = {a, v}\n  destination "
                        "= {b, v}\nNOUN\n  name = "
                        "b\nNOUN\n  line = x\n  name = c\nNOUN\n  name = d\n";
    assert_int_equal(pm_pif_read_text(pif, "t.pif", text, sizeof text - 1, NULL), PM_ERR_FORMAT);
    assert_text(pif, "NOUN\n  name = a\n  parent = b\nMAPPING\n  source = {a, v}\n  destination = "
                     "{b, v}\nNOUN\n  name = b\n");
    pm_pif_free(pif);
}

static void limits_are_kept(void **state)
{
    (void)state;
    struct pm_pif *pif = pm_pif_new();
    struct pm_buf text = PM_BUF_INIT(4 << 20);
    struct pm_error err = PM_ERROR_INIT;
    pm_buf_add_str(&text, "NOUN\n  name = ");
    while (text.len < (1 << 20) + 5)
        pm_buf_add_byte(&text, 'x');
    assert_int_equal(pm_pif_read_text(pif, "t.pif", text.data, text.len, &err), PM_OK);
    pm_buf_add_byte(&text, 'x');
    assert_int_equal(pm_pif_read_text(pif, "t.pif", text.data, text.len, &err), PM_ERR_LIMIT);
    assert_string_equal(
        pm_error_text(&err),
        "PIF file 't.pif' line 2: the line has 1048577 bytes, at most 1048576 are read");
    pm_error_release(&err);
    assert_int_equal(pm_pif_read_text(pif, "t.pif", "NOUN\n  na\0me = x\n", 17, &err),
                     PM_ERR_FORMAT);
    pm_error_release(&err);
    pm_buf_release(&text);
    pm_pif_free(pif);
}

static void every_cut_and_every_changed_byte_is_survived(void **state)
{
    (void)state;
    char *text;
    size_t len;
    assert_int_equal(pm_file_read(PM_TEST_DATA "/hard_names.pif", 1 << 20, NULL, &text, &len),
                     PM_OK);
    for (size_t i = 0; i < len; i++) {
        struct pm_pif *pif = pm_pif_new();
        (void)!pm_pif_read_text(pif, "cut", text, i, NULL);
        static const char changes[] = "\"\\{},:#=\n \xff";
        char kept = text[i];
        text[i] = changes[i % (sizeof changes - 1)];
        (void)!pm_pif_read_text(pif, "changed", text, len, NULL);
        text[i] = kept;
        free(text_of(pif));
        pm_pif_free(pif);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_files_come_back_unchanged),
        cmocka_unit_test(the_papers_records_mean_what_the_paper_says),
        cmocka_unit_test(what_people_type_is_understood),
        cmocka_unit_test(a_name_means_the_noun_of_its_own_file_first),
        cmocka_unit_test(each_malformed_record_is_told_with_its_line),
        cmocka_unit_test(what_stands_before_the_damage_stays),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(every_cut_and_every_changed_byte_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
