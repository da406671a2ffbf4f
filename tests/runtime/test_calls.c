/* Sentences as calls say them: equal pairs are one word, found again without the lock; what there
 * is no room for is the sentence itself. Addresses are invented; the run file is read back. */
#include "mapping/run/run_file.h"
#include "made_process.h"
#include "runtime/tree/noun.h"
#include "runtime/words/words.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

void pm_wrap_resolve(void) {}

enum { N_SENTENCES = 40, N_CALLS = 1000 };
static uint32_t sentences[N_SENTENCES];

static const void *address_of(uintptr_t i)
{
    return (const void *)(0x400000 + 16 * i);
}

static int begin(void **unused)
{
    (void)unused;
    made_process("calls", PM_RUN_MODE_ACTIVE);
    pm_process.max_nouns = 1u << 12;
    pm_process.next_noun = 64;
    pm_process.generation = 3;
    assert_true(pm_file_create());
    uint32_t level = pm_words_api.level("Test", NULL), verb = pm_words_api.verb(level, "Sends");
    for (uint32_t i = 0; i < N_SENTENCES; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%u", i);
        uint32_t noun = pm_words_api.noun(level, &(struct pmr_noun_facts){.name = name});
        sentences[i] = pm_words_api.sentence(verb, &noun, 1);
        assert_int_not_equal(sentences[i], 0);
    }
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    made_process_end();
    return 0;
}

static void each_pair_is_one_word(void **unused)
{
    (void)unused;
    uint32_t first = pm_words_called_from(sentences[0], address_of(1)),
             other_call = pm_words_called_from(sentences[0], address_of(2)),
             other_sentence = pm_words_called_from(sentences[1], address_of(1));
    assert_true(first != sentences[0] && first != other_call && first != other_sentence);
    assert_int_equal(pm_words_called_from(sentences[0], address_of(1)), first);
    pm_process.generation = 4; /* something else may be there now */
    uint32_t later = pm_words_called_from(sentences[0], address_of(1));
    pm_process.generation = 3;
    assert_int_not_equal(later, first);
    assert_int_equal(pm_words_called_from(sentences[0], address_of(1)), first);
}

static void what_is_no_call_is_the_sentence(void **unused)
{
    (void)unused;
    uint32_t call = pm_words_called_from(sentences[0], address_of(1));
    assert_int_equal(pm_words_called_from(sentences[0], NULL), sentences[0]);
    assert_int_equal(pm_words_called_from(0, address_of(1)), 0);
    assert_int_equal(pm_words_called_from(call, address_of(7)), call); /* it is one already */
    assert_int_equal(pm_words_called_from(1u << 30, address_of(1)), 1u << 30);
}

static void *ask(void *ret)
{
    uint32_t(*told)[N_CALLS] = ret;
    for (int round = 0; round < 3; round++)
        for (uint32_t s = 0; s < 4; s++)
            for (uint32_t i = 0; i < N_CALLS; i++)
                told[s][i] = pm_words_called_from(sentences[s], address_of(100 + i));
    return NULL;
}

static void threads_get_the_same(void **unused)
{
    (void)unused;
    enum { N_THREADS = 3 };
    static uint32_t told[N_THREADS][4][N_CALLS];
    pthread_t threads[N_THREADS];
    for (int t = 0; t < N_THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, ask, told[t]), 0);
    for (int t = 0; t < N_THREADS; t++)
        pthread_join(threads[t], NULL);
    for (int t = 1; t < N_THREADS; t++)
        assert_memory_equal(told[t], told[0], sizeof told[0]);
    for (uint32_t s = 0; s < 4; s++)
        for (uint32_t i = 1; i < N_CALLS; i++)
            assert_int_not_equal(told[0][s][i], told[0][s][i - 1]);
}

/* Its place is one of the process: no object is there, and nothing is complained of. */
static void calls_are_in_the_file(void **unused)
{
    (void)unused;
    uint32_t call = pm_words_called_from(sentences[5], address_of(9));
    struct pm_run_file *file = NULL;
    struct pm_error err = {0};
    assert_int_equal(pm_run_file_open(pm_process.file.path, NULL, &err, &file), PM_OK);
    assert_int_equal(pm_run_file_n_complaints(file), 0);
    const struct pm_run_file_word *word = pm_run_file_word(file, call - 1);
    assert_true(word->kind == PM_WORD_CALL && word->a == sentences[5] && word->b == 3);
    assert_int_equal(word->address, (uintptr_t)address_of(9) - 1);
    assert_int_equal(word->object, PM_RUN_FILE_NO_OBJECT);
    pm_run_file_free(file);
}

/* --- frames of functions --- */

enum { FIRST_NOUN = 8 }; /* of functions; nothing describes them in the file */

static void event(uint32_t noun, uint8_t kind, void *frame)
{
    struct pm_probe probe = {.mode = PM_RUN_MODE_ACTIVE, .noun = noun, .kind = kind};
    pm_slow(&probe, (uintptr_t)frame + 8, 0); /* where its return address is */
}
__attribute__((noinline)) static uint32_t say(void)
{
    event(FIRST_NOUN, PM_SLED_ENTRY, __builtin_frame_address(0));
    uint32_t call = pm_words_called_from(sentences[7], address_of(1));
    event(FIRST_NOUN, PM_SLED_RETURN, __builtin_frame_address(0));
    return call;
}

/* Two calls of itself: the second one has something behind it that the compiler keeps. */
__attribute__((noinline)) static uint32_t down(uint32_t noun, int depth)
{
    uint32_t call;
    event(FIRST_NOUN + noun, PM_SLED_ENTRY, __builtin_frame_address(0));
    if (depth == 0)
        call = say();
    else if (depth % 2 == 0)
        call = down(noun, depth - 1);
    else {
        call = down(noun, depth - 1);
        __asm__ volatile("" : "+r"(call));
    }
    event(FIRST_NOUN + noun, PM_SLED_RETURN, __builtin_frame_address(0));
    return call;
}

static const struct pm_run_word *frame_of(uint32_t word)
{
    return word != 0 ? pm_words.by_number[word] : NULL;
}

static uint32_t n_frames(uint32_t call)
{
    uint32_t n = 0;
    for (uint32_t frame = pm_words.by_number[call]->line_no; frame != 0; frame = frame_of(frame)->a)
        n++;
    return n;
}

#if defined(__x86_64__)
static void calls_know_where_functions_were_called(void **unused)
{
    (void)unused;
    uint32_t calls[2], again[2];
    for (volatile int i = 0; i < 2; i++) /* not unrolled */
        calls[i] = say(), again[i] = down(1, 0);
    assert_int_equal(calls[0], calls[1]); /* the same call, twice */
    assert_int_equal(again[0], again[1]);
    uint32_t other = say();
    assert_true(other != calls[0] && other != again[0] && calls[0] != again[0]);
    const struct pm_run_word *inner = frame_of(pm_words.by_number[again[0]]->line_no),
                             *outer = frame_of(inner->a);
    assert_true(inner->kind == PM_WORD_FRAME && inner->line_no == FIRST_NOUN && inner->b == 3);
    assert_true(outer->line_no == FIRST_NOUN + 1 && outer->a == 0);
    uintptr_t here = (uintptr_t)down;
    assert_true(inner->address > here && inner->address < here + 4096);
}

/* Each of the two calls of itself is told once, and its outermost call. */
static void calls_of_itself_are_told_once(void **unused)
{
    (void)unused;
    uint32_t shallow = down(2, 4), deep = down(2, 40);
    assert_int_equal(n_frames(shallow), 4); /* say, two calls of itself, down */
    assert_int_equal(n_frames(deep), 4);
    assert_int_equal(n_frames(down(2, 1)), 3);
}

static void more_functions_than_there_is_room_for(void **unused)
{
    (void)unused;
    assert_int_equal(n_frames(down(3, 1000)), 0); /* not known, and nothing is lost */
}
#endif

static void beyond_the_limit_the_sentence_stands_for_its_calls(void **unused)
{
    (void)unused;
    uint32_t n = 0, same = 0;
    for (uint32_t s = 0; s < N_SENTENCES; s++)
        for (uint32_t i = 0; i < N_CALLS; i++) {
            uint32_t call = pm_words_called_from(sentences[s], address_of(5000 + i));
            n += call != sentences[s];
            same += call == sentences[s];
        }
    assert_true(n > PM_WORDS_MAX_CALLS - 5 * N_CALLS && n <= PM_WORDS_MAX_CALLS);
    assert_true(same > 0);
    assert_int_equal(pm_words_called_from(sentences[N_SENTENCES - 1], address_of(90000)),
                     sentences[N_SENTENCES - 1]);
}

static uint32_t sentence_of(const char *level_name, bool may_be_counted)
{
    uint32_t level = pm_words_api.level(level_name, NULL);
    if (may_be_counted)
        assert_int_equal(*pm_words_api.may_be_counted(level), 0);
    uint32_t noun = pm_words_api.noun(level, &(struct pmr_noun_facts){.name = "lock"});
    return pm_words_api.sentence(pm_words_api.verb(level, "Acquires"), &noun, 1);
}

static struct pmr_noun *noun_of(uint32_t sentence)
{
    struct pmr_noun *noun = pm_noun_at(pm_words.spoken[sentence].noun);
    assert_non_null(noun);
    return noun;
}

static void the_budget_lowers_only_what_an_adapter_lets_it(void **unused)
{
    (void)unused;
    uint32_t own = sentence_of("Own", false), adapter = sentence_of("Adapter", true);
    uint32_t call = pm_words_called_from(adapter, address_of(7));
    assert_true(noun_of(own)->flags & PM_NOUN_FIXED);
    assert_false(noun_of(adapter)->flags & PM_NOUN_FIXED);
    assert_false(noun_of(call)->flags & PM_NOUN_FIXED);
    assert_int_equal(pm_words_api.counted(adapter, 1), 0);
    noun_of(call)->mode = PM_RUN_MODE_COUNT;
    assert_int_equal(pm_words_api.counted(adapter, 1), 0);
    assert_int_equal(pm_words_api.counted(call, 1), 1);
    assert_int_equal(pm_words_api.counted(call, 0), 1);
    assert_int_equal(pm_words_api.counted(0, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_pair_is_one_word),
        cmocka_unit_test(the_budget_lowers_only_what_an_adapter_lets_it),
        cmocka_unit_test(what_is_no_call_is_the_sentence),
        cmocka_unit_test(threads_get_the_same),
        cmocka_unit_test(calls_are_in_the_file),
#if defined(__x86_64__)
        cmocka_unit_test(calls_know_where_functions_were_called),
        cmocka_unit_test(calls_of_itself_are_told_once),
        cmocka_unit_test(more_functions_than_there_is_room_for),
#endif
        cmocka_unit_test(beyond_the_limit_the_sentence_stands_for_its_calls),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
