/* Changes of modes beside nouns that are just being made, or are not in the run file yet: those
 * are not touched, or not written down. */
#include "made_process.h"
#include "runtime/budget/adapt.h"
#include "runtime/words/words.h"

static void *made_chunk(enum pm_run_chunk_kind kind, uint64_t bytes, uint64_t owner,
                        uint64_t *ret_offset);
#define pm_file_chunk made_chunk
#include "runtime/code/modes.c"
#undef pm_file_chunk

void pm_wrap_resolve(void) {}

enum { N_NOUNS = 10, N_LATE = 1000 };

static struct pm_object object, late;
static bool comes_late; /* within a change, between its looks at all nouns */

static void *made_chunk(enum pm_run_chunk_kind kind, uint64_t bytes, uint64_t owner,
                        uint64_t *ret_offset)
{
    static const struct stat none;
    if (comes_late) {
        comes_late = false;
        late = (struct pm_object){.path = "late", .portable = true, .loaded = true};
        assert_true(pm_object_record(&late, &none, NULL, 0, N_LATE));
    }
    return pm_file_chunk(kind, bytes, owner, ret_offset);
}

static int begin(void **unused)
{
    (void)unused;
    static const struct stat none;
    struct pm_run_noun list[N_NOUNS] = {0};
    _r_debug.r_state = RT_CONSISTENT; /* a program's own copy of it may be of its start */
    made_process("modes", PM_RUN_MODE_EXACT);
    pm_process.max_nouns = 1 << 16;
    assert_true(pm_file_create());
    pm_tls = (struct pm_tls){.current = &pm_sentinel, .ring_head = &pm_no_ring};
    assert_true(pm_thread_begin(&pm_tls, pm_tsc()));
    object = (struct pm_object){.path = "made", .portable = true, .loaded = true};
    for (unsigned i = 0; i < N_NOUNS; i++)
        list[i] = (struct pm_run_noun){.id = 1 + i, .kind = PM_SLED_ENTRY};
    assert_true(pm_object_record(&object, &none, list, N_NOUNS, N_NOUNS));
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    made_process_end();
    return 0;
}

/* The other thread has given itself their numbers and is about to make them. */
static void what_is_being_made_is_not_touched(void **state)
{
    (void)state;
    static const struct pmr_noun nothing[N_LATE];
    struct pm_changed changed;
    comes_late = true;
    pm_noun_at(object.first_noun + 3)->target_plus_1 = 1 + PM_RUN_MODE_COUNT;
    assert_true(pm_modes_apply(PM_RUN_ADAPTED_BUDGET, pm_tsc(), &changed));
    assert_false(comes_late);
    assert_int_equal(changed.n_nouns, 1);
    assert_int_equal(adapted->n_items, 1);
    assert_int_equal(pm_n_nouns(), late.first_noun + N_LATE);
    assert_memory_equal(pm_noun_at(late.first_noun), nothing, sizeof nothing);
}

static const struct pm_run_noun *word_noun(unsigned i)
{
    const struct pm_object *o = pm_words.object;
    return (const struct pm_run_noun *)((const char *)o->chunk + o->chunk->nouns_offset) + i;
}

/* Changes that are written down, of nouns of the words' object. */
static unsigned n_changes_of_words(void)
{
    const struct pm_object *o = pm_words.object;
    const struct pm_run_adapted *items = (const struct pm_run_adapted *)(adapted + 1);
    unsigned n = 0;
    for (uint64_t i = 0; i < adapted->n_items; i++)
        n += items[i].noun - o->first_noun < o->n_nouns;
    return n;
}

/* Room for words has modes, and is no noun of the run file. */
static void spare_room_is_not_written_down(void **state)
{
    (void)state;
    uint32_t level = pm_words_api.level("Level", NULL);
    uint32_t verb = pm_words_api.verb(level, "does");
    struct pmr_noun_facts facts = {.name = "one"}, others = {.name = "other"};
    uint32_t one = pm_words_api.noun(level, &facts), other = pm_words_api.noun(level, &others);
    assert_int_not_equal(pm_words_api.sentence(verb, &one, 1), 0);
    assert_non_null(pm_words.object);
    unsigned n = pm_words.n_in_object;
    assert_int_equal(word_noun(0)->own_mode, 0);
    pm_adapt_without_clock();
    assert_int_equal(n_changes_of_words(), n);
    assert_int_not_equal(pm_words_api.sentence(verb, &other, 1), 0);
    assert_int_equal(pm_words.n_in_object, n + 1);
    assert_int_equal(word_noun(n)->own_mode, 1 + PM_RUN_MODE_ACTIVE);
    pm_modes_fork_child();
    assert_int_equal(n_changes_of_words(), n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_being_made_is_not_touched, begin, end),
        cmocka_unit_test_setup_teardown(spare_room_is_not_written_down, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
