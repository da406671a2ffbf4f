#include "pif_helpers.h"

#include <math.h>

static void the_first_stated_fact_stays_and_others_fill_in(void **state)
{
    (void)state;
    struct pm_pif *pif = pm_pif_new();
    pm_id id =
        pm_pif_noun(pif, &(struct pm_pif_noun){.id = 7, .name = "a", .level = "L", .line = 3});
    assert_int_equal(id, 7);
    assert_int_equal(pm_pif_noun(pif,
                                 &(struct pm_pif_noun){
                                     .id = 7, .name = "b", .kind = "loop", .line = 4, .parent = 9}),
                     7);
    struct pm_pif_noun noun;
    assert_int_equal(pm_pif_n_nouns(pif), 1);
    pm_pif_get_noun(pif, 0, &noun);
    assert_string_equal(noun.name, "a");
    assert_string_equal(noun.level, "L");
    assert_string_equal(noun.kind, "loop");
    assert_int_equal(noun.line, 3);
    assert_int_equal(noun.parent, 9);
    assert_null(noun.file);
    assert_false(pm_pif_find_noun(pif, 9, &noun));
    pm_pif_free(pif);
}

static void ids_follow_from_level_and_name(void **state)
{
    (void)state;
    struct pm_pif *pif = pm_pif_new();
    pm_id noun = pm_pif_noun(pif, &(struct pm_pif_noun){.name = "a", .level = "L"});
    pm_id verb = pm_pif_verb(pif, &(struct pm_pif_verb){.name = "a", .level = "L"});
    assert_true(noun == pm_pif_name_id("L", "a") && verb == pm_pif_verb_id("L", "a") &&
                noun != verb);
    assert_true(pm_pif_name_id("", "a") == pm_pif_name_id(NULL, "a"));
    assert_true(pm_pif_name_id("L", "a") != pm_pif_name_id("La", ""));
    pm_pif_free(pif);
}

static void an_exact_repetition_of_a_mapping_is_ignored(void **state)
{
    (void)state;
    struct pm_pif *pif = pm_pif_new();
    struct pm_pif_mapping mapping = {.source = {1, 2, {3, 4}}, .destination = {1, 1, {3}}};
    pm_pif_mapping(pif, &mapping);
    pm_pif_mapping(pif, &mapping);
    assert_int_equal(pm_pif_n_mappings(pif), 1);
    mapping.weight = 0.5;
    pm_pif_mapping(pif, &mapping);
    mapping.origin = "run";
    pm_pif_mapping(pif, &mapping);
    mapping.source.n_nouns = 1;
    pm_pif_mapping(pif, &mapping);
    pm_pif_mapping(pif, &mapping);
    assert_int_equal(pm_pif_n_mappings(pif), 4);
    mapping.weight = NAN; /* no weight */
    pm_pif_mapping(pif, &mapping);
    struct pm_pif_mapping got;
    pm_pif_get_mapping(pif, 4, &got);
    assert_true(got.weight == 0);
    assert_string_equal(got.origin, "run");
    assert_int_equal(got.source.n_nouns, 1);
    assert_int_equal(got.destination.nouns[0], 3);
    pm_pif_free(pif);
}

static void attributes_are_pairs_and_kept_in_order(void **state)
{
    (void)state;
    struct pm_pif *pif = pm_pif_new();
    pm_id id = pm_pif_noun(pif, &(struct pm_pif_noun){.name = "a"});
    pm_pif_noun_attribute(pif, id, "dimension", "10");
    pm_pif_noun_attribute(pif, id, "dimension", "20");
    pm_pif_noun_attribute(pif, id, "dimension", "10");
    pm_pif_noun_attribute(pif, id, "kind", "loop");       /* has a member */
    pm_pif_noun_attribute(pif, id, "a = b", "x");         /* no key */
    pm_pif_noun_attribute(pif, id + 1, "dimension", "x"); /* no noun */
    const char *key, *value;
    assert_string_equal(pm_pif_get_attribute(pif, id, "dimension"), "10");
    assert_true(pm_pif_nth_attribute(pif, id, 1, &key, &value));
    assert_string_equal(value, "20");
    assert_false(pm_pif_nth_attribute(pif, id, 2, &key, &value));
    assert_null(pm_pif_get_attribute(pif, id, "kind"));
    pm_pif_free(pif);
}

static void a_mentioned_noun_takes_the_name_of_its_record(void **state)
{
    (void)state;
    struct pm_pif *pif =
        read_text("MAPPING\n  source = {x#00000000000000aa, v}\n  destination = {y, v}\n"
                  "MAPPING\n  source = {x#00000000000000bb, v}\n  destination = {y, v}\n");
    pm_pif_noun(pif, &(struct pm_pif_noun){.id = 0xaa, .name = "true name", .level = "L"});
    pm_pif_noun(pif, &(struct pm_pif_noun){.id = 0xbb, .name = "other name", .level = "L"});
    assert_text(pif, "MAPPING\n  source = {true name, v}\n  destination = {y, v}\n"
                     "MAPPING\n  source = {other name, v}\n  destination = {y, v}\n"
                     "NOUN\n  name = true name\n  abstraction = L\n  id = 00000000000000aa\n"
                     "NOUN\n  name = other name\n  abstraction = L\n  id = 00000000000000bb\n");
    pm_pif_free(pif);
}

static void circles_over_several_files_are_refused(void **state)
{
    (void)state;
    struct pm_pif *pif =
        read_text("NOUN\n  name = a\n  parent = b\nNOUN\n  name = b\n  parent = c\n");
    struct pm_error err = PM_ERROR_INIT;
    const char text[] = "NOUN\n  name = d\n  parent = a\nNOUN\n  name = c\n  parent = a\n";
    assert_int_equal(pm_pif_read_text(pif, "u.pif", text, sizeof text - 1, &err), PM_ERR_FORMAT);
    pm_error_release(&err);
    for (size_t i = 0; i < pm_pif_n_nouns(pif); i++) {
        struct pm_pif_noun noun;
        pm_pif_get_noun(pif, i, &noun);
        for (int n = 0; noun.parent; n++) {
            assert_true(n < 10);
            assert_true(pm_pif_find_noun(pif, noun.parent, &noun));
        }
    }
    pm_pif_free(pif);
}

/* --- the n-th allocation fails, for all n --- */

/* Text to set to both forms and back. False: memory ended somewhere, and every step said so. */
static bool all_of_it(const char *text, size_t len, struct pm_buf *compact, struct pm_buf *written)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_pif *pif = pm_pif_new(), *again = pm_pif_new();
    bool done = pif && again;
    if (done && pm_pif_read_text(pif, "t.pif", text, len, &err) != PM_OK) {
        assert_int_equal(err.status, PM_ERR_MEMORY);
        assert_true(*pm_error_text(&err));
        done = false;
    }
    if (done) {
        pm_pif_write_compact(pif, compact);
        pm_pif_write_text(pif, written);
        done = !compact->failed && !written->failed;
    }
    if (done && pm_pif_read_compact(again, "t.o", compact->data, compact->len, &err) != PM_OK) {
        assert_int_equal(err.status, PM_ERR_MEMORY);
        done = false;
    }
    pm_error_release(&err);
    pm_pif_free(pif);
    pm_pif_free(again);
    return done;
}

static void memory_may_end_at_any_allocation(void **state)
{
    (void)state;
    static const char *const files[] = {PM_TEST_DATA "/every_key.pif",
                                        PM_TEST_DATA "/hard_names.pif"};
    for (size_t i = 0; i < 2; i++) {
        char *text;
        size_t len;
        long n_failed = 0;
        assert_int_equal(pm_file_read(files[i], 1 << 20, NULL, &text, &len), PM_OK);
        for (long n = 1;; n++) {
            struct pm_buf compact = PM_BUF_INIT(1 << 20), written = PM_BUF_INIT(1 << 20);
            pm_alloc_fail_at(n);
            bool done = all_of_it(text, len, &compact, &written);
            bool reached = !pm_alloc_fail_pending();
            pm_alloc_fail_at(0);
            n_failed += !done;
            assert_true(done || reached);
            if (done)
                assert_memory_equal(written.data, text, len);
            pm_buf_release(&compact);
            pm_buf_release(&written);
            if (!reached)
                break;
        }
        assert_true(n_failed > 20);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_stated_fact_stays_and_others_fill_in),
        cmocka_unit_test(ids_follow_from_level_and_name),
        cmocka_unit_test(an_exact_repetition_of_a_mapping_is_ignored),
        cmocka_unit_test(attributes_are_pairs_and_kept_in_order),
        cmocka_unit_test(a_mentioned_noun_takes_the_name_of_its_record),
        cmocka_unit_test(circles_over_several_files_are_refused),
        cmocka_unit_test(memory_may_end_at_any_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
