/* perfmap.h, which programs include, and format/pm_words.h, which the runtime does, say the
 * same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define pm_words_slot pmr_words_slot
#include "format/pm_words.h"
#undef pm_words_slot
#include "runtime/include/perfmap.h"

#define SAME_SIZE(name) _Static_assert(sizeof(struct pm_##name) == sizeof(struct pmr_##name), #name)
#define SAME_PLACE(name, member)                                                              \
    _Static_assert(offsetof(struct pm_##name, member) == offsetof(struct pmr_##name, member), \
                   #name "." #member)
#define SAME(name, member)                                                                     \
    SAME_PLACE(name, member);                                                                  \
    _Static_assert(__builtin_types_compatible_p(__typeof__(((struct pm_##name *)0)->member),   \
                                                __typeof__(((struct pmr_##name *)0)->member)), \
                   #name "." #member)

SAME_SIZE(noun_facts);
SAME(noun_facts, name);
SAME(noun_facts, kind);
SAME(noun_facts, file);
SAME(noun_facts, parent);
SAME(noun_facts, line_no);
SAME(noun_facts, address);
SAME(noun_facts, size_bytes);

SAME_SIZE(words_slot);
SAME(words_slot, magic);
SAME(words_slot, version);
SAME(words_slot, bytes);
SAME_PLACE(words_slot, api); /* points to the structs of the same name */

SAME_SIZE(words_api);
SAME(words_api, version);
SAME(words_api, bytes);
SAME(words_api, level);
SAME_PLACE(words_api, noun); /* takes the struct of the same name */
SAME(words_api, verb);
SAME(words_api, sentence);
SAME(words_api, map);
SAME(words_api, enter);
SAME(words_api, leave);
SAME(words_api, metric);
SAME(words_api, cost);
SAME(words_api, begin);
SAME(words_api, end);
SAME(words_api, capture);
SAME(words_api, adopt);
SAME(words_api, release);
SAME(words_api, export_cause);
SAME(words_api, import_cause);
_Static_assert(offsetof(struct pm_words_api, of_other_languages) ==
                   offsetof(struct pmr_words_api, enter_here),
               "of_other_languages");
SAME(words_api, point);
SAME(words_api, map_at);
SAME_PLACE(words_api, meet); /* takes a struct that perfmap.h does not name */
SAME(words_api, called_from);
SAME(words_api, may_be_counted);
SAME(words_api, counted);
/* All members but the first two are pointers: none above is forgotten. */
_Static_assert(sizeof(struct pm_words_api) == 8 + (16 + 8 + 6) * sizeof(void *),
               "a member is not compared");

/* Slots of version 1 end before the members of version 2, and these are in programs that were
 * built long ago. */
_Static_assert(offsetof(struct pm_words_api, begin) == 8 + 9 * sizeof(void *), "version 1");
_Static_assert(sizeof(struct pm_words_slot) == 16 + sizeof(void *), "slot");

extern const char __start___perfmap_words[], __stop___perfmap_words[];

static void the_slot_is_what_the_runtime_looks_for(void **state)
{
    (void)state;
    const char *slot = (const char *)&pm_words_slot;
    assert_memory_equal(pm_words_slot.magic, PM_WORDS_MAGIC, sizeof pm_words_slot.magic);
    assert_int_equal(pm_words_slot.version, PM_WORDS_VERSION);
    assert_int_equal(pm_words_slot.bytes, sizeof(struct pmr_words_slot));
    assert_null(pm_words_slot.api);
    assert_string_equal(PM_WORDS_SECTION, "__perfmap_words");
    assert_true(slot >= __start___perfmap_words);
    assert_true(slot + sizeof pm_words_slot <= __stop___perfmap_words);
}

static void without_a_runtime_nothing_is_done(void **state)
{
    (void)state;
    struct pm_noun noun = pm_define_noun(pm_define_level("Test", NULL), "n", "thing");
    struct pm_sentence sentence =
        pm_define_sentence(pm_define_verb(pm_define_level("Test", NULL), "Does"), &noun, 1);
    char text[PM_EXPORT_BYTES];
    assert_int_equal(noun.id, 0);
    assert_int_equal(sentence.id, 0);
    assert_int_equal(pm_define_phase("warmup").id, 0);
    pm_enter(sentence);
    pm_cost(pm_define_metric("rows", "rows", "count"), 1);
    pm_leave(sentence);
    pm_begin(sentence);
    pm_end(sentence);
    pm_begin_process(sentence);
    pm_end_process(sentence);
    assert_int_equal(pm_capture().id, 0);
    pm_adopt(pm_capture());
    pm_release(pm_capture());
    assert_int_equal(pm_context_export(pm_capture(), text, sizeof text), 0);
    assert_int_equal(pm_context_import("perfmap=1", 9).id, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_slot_is_what_the_runtime_looks_for),
        cmocka_unit_test(without_a_runtime_nothing_is_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
