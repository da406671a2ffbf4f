/* The program's own words in run files. */
#include "read_run.h"

static uint64_t add_word(struct make_run *run, uint64_t at, const struct pm_run_word *word,
                         const uint32_t *nouns, const char *text, uint32_t n_text_bytes)
{
    struct pm_run_word w = *word;
    w.n_text_bytes = n_text_bytes;
    w.bytes = (uint32_t)(sizeof w + 4u * w.n_nouns + n_text_bytes + 7u) / 8u * 8u;
    memcpy(make_run_at(run, at), &w, sizeof w);
    if (w.n_nouns)
        memcpy(make_run_at(run, at + sizeof w), nouns, 4u * w.n_nouns);
    memcpy(make_run_at(run, at + sizeof w + 4u * w.n_nouns), text, n_text_bytes);
    return at + w.bytes;
}

#define TEXT(text) text, sizeof text

/* 1 level SQL, 2 noun, 3 its part, 4 verb, 5 sentence of both, 6 of one, 7 mapping. */
static uint64_t make_words(struct make_run *run)
{
    make_killed(run);
    make_run_version(run, 2);
    uint64_t chunk = make_run_chunk(run, PM_RUN_CHUNK_WORDS, PM_RUN_PAGE, 0),
             at = chunk + PM_RUN_WORDS_DATA;
    at = add_word(run, at, &(struct pm_run_word){.kind = PM_WORD_LEVEL}, NULL, TEXT("SQL\0Source"));
    at = add_word(
        run, at,
        &(struct pm_run_word){
            .kind = PM_WORD_NOUN, .a = 1, .line_no = 7, .address = 0x1000, .size_bytes = 64},
        NULL, TEXT("SELECT 1\0query\0a.sql"));
    at = add_word(run, at, &(struct pm_run_word){.kind = PM_WORD_NOUN, .a = 1, .b = 2}, NULL,
                  TEXT("part"));
    at = add_word(run, at, &(struct pm_run_word){.kind = PM_WORD_VERB, .a = 1}, NULL,
                  TEXT("Executes"));
    at = add_word(run, at, &(struct pm_run_word){.kind = PM_WORD_SENTENCE, .a = 4, .n_nouns = 2},
                  (uint32_t[]){2, 3}, "", 0);
    at = add_word(run, at, &(struct pm_run_word){.kind = PM_WORD_SENTENCE, .a = 4, .n_nouns = 1},
                  (uint32_t[]){3}, "", 0);
    return add_word(run, at,
                    &(struct pm_run_word){.kind = PM_WORD_MAPPING, .a = 6, .b = 5, .weight = 0.5},
                    NULL, "", 0);
}

static void words_are_read_in_their_order(void **state)
{
    (void)state;
    struct make_run run;
    make_words(&run);
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    assert_int_equal(pm_run_file_n_words(file), 7);
    assert_true(pm_str_is(pm_run_file_word(file, 0)->texts[0], "SQL"));
    assert_true(pm_str_is(pm_run_file_word(file, 0)->texts[1], "Source"));
    const struct pm_run_file_word *noun = pm_run_file_word(file, 1),
                                  *part = pm_run_file_word(file, 2);
    assert_true(pm_str_is(noun->texts[0], "SELECT 1") && pm_str_is(noun->texts[1], "query") &&
                pm_str_is(noun->texts[2], "a.sql"));
    assert_true(noun->line_no == 7 && noun->address == 0x1000 && noun->size_bytes == 64);
    assert_true(pm_str_is(part->texts[0], "part") && part->texts[1].len == 0 && part->b == 2);
    assert_int_equal(pm_run_file_word(file, 4)->n_nouns, 2);
    assert_int_equal(pm_run_file_word(file, 4)->nouns[1], 3);
    assert_true(pm_run_file_word(file, 6)->weight == 0.5);
    pm_run_file_free(file);
    make_run_release(&run);
}

static void a_word_that_refers_to_what_it_may_not_is_passed_over_and_keeps_its_number(void **state)
{
    (void)state;
    static const struct pm_run_word bad[] = {
        {.kind = PM_WORD_NOUN, .a = 2},            /* a level that is a noun */
        {.kind = PM_WORD_NOUN, .a = 1, .b = 4},    /* a part of a verb */
        {.kind = PM_WORD_NOUN, .a = 9},            /* of a later word */
        {.kind = PM_WORD_VERB, .a = 0},            /* of none */
        {.kind = PM_WORD_SENTENCE, .a = 4},        /* without nouns */
        {.kind = PM_WORD_MAPPING, .a = 5, .b = 2}, /* to a noun */
        {.kind = PM_WORD_MAPPING, .a = 5, .b = 8}, /* to itself */
        {.kind = 77},
        {.kind = PM_WORD_VERB | PM_WORD_MERGED, .a = 1},
        {.kind = PM_WORD_MAPPING, .a = 5, .b = 6, .line_no = 2}, /* at a point that is a noun */
        {.kind = PM_WORD_SENTENCE, .a = 4, .n_nouns = PM_WORDS_MAX_NOUNS + 1},
        {.kind = PM_WORD_CALL, .a = 4},               /* of a verb */
        {.kind = PM_WORD_CALL, .a = 5, .n_nouns = 1}, /* with a noun */
        {.kind = PM_WORD_CALL, .a = 5, .line_no = 5}, /* below a sentence */
        {.kind = PM_WORD_FRAME, .a = 5},              /* below a sentence */
        {.kind = PM_WORD_FRAME, .n_nouns = 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct make_run run;
        uint32_t nouns[PM_WORDS_MAX_NOUNS + 1] = {2, 2, 2, 2, 2, 2, 2, 2, 2};
        uint64_t at = make_words(&run);
        at = add_word(&run, at, &bad[i], nouns, "", 0);
        add_word(&run, at, &(struct pm_run_word){.kind = PM_WORD_VERB, .a = 1}, NULL,
                 TEXT("Reads"));
        struct pm_run_file *file = parse(&run, NULL);
        complains(file, "1 words refer to words that are not there");
        assert_int_equal(pm_run_file_n_words(file), 9);
        assert_int_equal(pm_run_file_word(file, 7)->kind, 0);
        assert_true(pm_str_is(pm_run_file_word(file, 8)->texts[0], "Reads"));
        pm_run_file_free(file);
        make_run_release(&run);
    }
}

static void a_call_is_of_the_object_at_its_address(void **state)
{
    (void)state;
    static const struct pm_run_word call = {
        .kind = PM_WORD_CALL, .a = 6, .b = 1, .address = 0x2000};
    struct make_run run;
    add_word(&run, make_words(&run), &call, NULL, "", 0);
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    const struct pm_run_file_word *word = pm_run_file_word(file, 7);
    assert_true(word->kind == PM_WORD_CALL && word->a == 6 && word->address == 0x1fff);
    assert_int_equal(word->object, PM_RUN_FILE_NO_OBJECT);
    assert_int_equal(pm_run_file_word(file, 5)->object, PM_RUN_FILE_NO_OBJECT);
    pm_run_file_free(file);
    make_run_release(&run);
}

/* Its function is a noun of the file, or none that the file describes. */
static void a_call_has_the_frames_of_the_functions_around(void **state)
{
    (void)state;
    static const struct pm_run_word words[] = {
        {.kind = PM_WORD_FRAME, .b = 1, .address = 0x3000, .line_no = 12345},
        {.kind = PM_WORD_FRAME, .a = 8, .b = 1, .line_no = 12345},
        {.kind = PM_WORD_CALL, .a = 6, .b = 1, .line_no = 9, .address = 0x2000},
    };
    struct make_run run;
    uint64_t at = make_words(&run);
    for (size_t i = 0; i < 3; i++)
        at = add_word(&run, at, &words[i], NULL, "", 0);
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    const struct pm_run_file_word *outer = pm_run_file_word(file, 7),
                                  *inner = pm_run_file_word(file, 8);
    assert_int_equal(pm_run_file_word(file, 9)->line_no, 9);
    assert_true(inner->kind == PM_WORD_FRAME && inner->a == 8 && inner->address == 0);
    assert_true(outer->a == 0 && outer->address == 0x2fff);
    assert_true(outer->line_no == PM_RUN_NOUN_ROOT && inner->line_no == PM_RUN_NOUN_ROOT);
    pm_run_file_free(file);
    make_run_release(&run);
}

/* Noun 8 counts as 9, which comes later; what is merged into itself, into another kind, or into
 * what is merged, is itself. */
static void a_noun_may_be_merged_into_a_later_one(void **state)
{
    (void)state;
    for (uint64_t target = 0; target < 14; target++) {
        struct make_run run;
        uint64_t at = make_words(&run), nine = 9;
        struct pm_run_word merged = {.kind = PM_WORD_NOUN | PM_WORD_MERGED, .a = 1};
        memcpy(&merged.weight, &target, sizeof target);
        at = add_word(&run, at, &merged, NULL, TEXT("old\0query\0"));
        at = add_word(&run, at, &(struct pm_run_word){.kind = PM_WORD_NOUN, .a = 1}, NULL,
                      TEXT("(others)"));
        memcpy(&merged.weight, &nine, sizeof nine);
        add_word(&run, at, &merged, NULL, TEXT("older\0query\0"));
        struct pm_run_file *file = parse(&run, NULL);
        bool good = target == 2 || target == 3 || target == 9;
        if (good || target == 0)
            no_complaints(file);
        else
            complains(file, "1 words refer to words that are not there");
        const struct pm_run_file_word *word = pm_run_file_word(file, 7);
        assert_int_equal(word->kind, PM_WORD_NOUN);
        assert_int_equal(word->merged, good ? target : 0);
        assert_true(word->weight == 0);
        assert_int_equal(pm_run_file_word(file, 9)->merged, 9);
        pm_run_file_free(file);
        make_run_release(&run);
    }
}

static void a_damaged_length_ends_the_words(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {8, 44, 4096, UINT32_MAX - 7};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct make_run run;
        uint64_t at = make_words(&run);
        uint32_t length = lengths[i];
        memcpy(make_run_at(&run, at), &length, sizeof length);
        struct pm_run_file *file = parse(&run, NULL);
        complains(file, "word 8 is of");
        assert_int_equal(pm_run_file_n_words(file), 7);
        pm_run_file_free(file);
        make_run_release(&run);
    }
}

/* Whatever a byte of them is changed to. */
static void no_change_of_a_byte_does_harm(void **state)
{
    (void)state;
    struct make_run run;
    uint64_t end = make_words(&run);
    for (uint64_t at = end - 400; at < end; at++)
        for (int change = 1; change < 256; change += 37) {
            unsigned char *byte = make_run_at(&run, at), before = *byte;
            *byte = (unsigned char)(before ^ change);
            parse_any(run.data, run.len);
            *byte = before;
        }
    make_run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_read_in_their_order),
        cmocka_unit_test(a_word_that_refers_to_what_it_may_not_is_passed_over_and_keeps_its_number),
        cmocka_unit_test(a_call_is_of_the_object_at_its_address),
        cmocka_unit_test(a_call_has_the_frames_of_the_functions_around),
        cmocka_unit_test(a_noun_may_be_merged_into_a_later_one),
        cmocka_unit_test(a_damaged_length_ends_the_words),
        cmocka_unit_test(no_change_of_a_byte_does_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
