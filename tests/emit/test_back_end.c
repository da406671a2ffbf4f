/* The smallest back end that there can be: one function with one sled, its facts and its map. What
 * a back end has to say, in the order in which it learns it (docs/SOURCE.md, "A back end"). */
#include "plugin/emit/facts_text.h"
#include "plugin/emit/map_sets.h"
#include "plugin/emit/options.h"
#include "plugin/emit/paths.h"
#include "plugin/emit/sled_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static void add_label(struct pm_buf *out, int label)
{
    pm_buf_printf(out, ".L%d", label);
}

/* The assembler text that the compiler emits beside the function's code. */
static void compile(struct pm_buf *text)
{
    /* 1. When the compiler starts. */
    struct pm_error err = PM_ERROR_INIT;
    struct pm_options options;
    assert_int_equal(pm_options_init(&options, &err), PM_OK);
    struct pm_paths *paths = pm_paths_new(NULL);
    struct pm_facts *facts = pm_facts_new("perfmap-smallest 0.1");
    assert_non_null(paths);
    assert_non_null(facts);

    /* 2. From the source: constructs, by their places. */
    struct pm_place place = {.line = 3, .column = 1}, within = {.line = 4, .column = 5};
    assert_true(pm_paths_set_file(paths, "a.x", "/src", &place));
    assert_true(pm_paths_set_file(paths, "a.x", "/src", &within));
    struct pm_source_function *function = pm_source_function_new("f", "f", NULL, &place);

    /* 3. Where code is emitted: its symbol, and what that implements. */
    pm_id symbol = pm_fact_symbol(facts, pm_id_of_symbol("f", NULL), "f");
    pm_fact_mapping(facts, symbol, PM_BASE_EXECUTES, pm_fact_function(facts, function),
                    PM_SOURCE_EXECUTES);
    pm_sled_text(text, "1", "f", true, PM_SLED_ENTRY, PM_SLED_SP_AT_CFA, 0xffff, symbol);

    /* 4. Which range of it is which statement: between labels 1 and 2. */
    struct pm_map_sets *sets = pm_map_sets_new(function);
    struct pm_map_tuple tuple = {.kind = PM_MAP_ORDINARY, .site = -1, .place = within};
    bool is_new;
    struct pm_map_range range = {pm_map_sets_tuple(sets, &tuple, 0, &is_new), 1};
    struct pm_map_part part = {false, 1, 2, &range, 1};
    struct pm_map_function map = pm_map_sets_function(sets, symbol);
    struct pm_map_encoder *encoder = pm_map_encoder_new(facts, add_label);
    struct pm_map_section *section = pm_map_section_new(1, ".L2", "f", ".L1", true);
    pm_map_block_write(encoder, &map, &part, section, text);
    pm_map_ids_write(section, text);

    /* 5. At the end of the file. */
    pm_facts_section(facts, text);

    pm_map_section_free(section);
    pm_map_encoder_free(encoder);
    pm_map_sets_free(sets);
    pm_source_function_free(function);
    pm_facts_free(facts);
    pm_paths_free(paths);
    pm_options_release(&options);
}

static void has_all_three_sections(void **state)
{
    (void)state;
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    compile(&text);
    assert_false(text.failed);
    pm_buf_add_byte(&text, 0);
    assert_non_null(strstr(text.data, PM_SLED_SECTION));
    assert_non_null(strstr(text.data, PM_MAP_SECTION));
    assert_non_null(strstr(text.data, PM_PIF_SECTION));
    pm_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(has_all_three_sections)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
