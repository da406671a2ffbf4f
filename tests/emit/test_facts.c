#include "plugin/emit/facts.h"
#include "plugin/emit/facts_text.h"
#include "plugin/emit/library.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

static const char path[] = "/src/heat.c";

static struct pm_place at(unsigned line, unsigned column)
{
    return (struct pm_place){path, "heat.c", line, column};
}

static struct pm_source_function *new_function(const char *name, bool is_local)
{
    struct pm_place place = at(10, 6);
    struct pm_source_function *function =
        pm_source_function_new(name, name, is_local ? path : NULL, &place);
    assert_non_null(function);
    function->end_line = 60;
    struct pm_place outer = at(20, 5), inner = at(21, 9);
    assert_int_equal(pm_source_loop_add(function, &outer, -1), 0);
    assert_int_equal(pm_source_loop_add(function, &inner, 0), 1);
    function->loops[0].last = (struct pm_text_point){30, 1};
    function->loops[1].last = (struct pm_text_point){29, 1};
    assert_true(pm_source_loops_sort(function));
    return function;
}

static struct pm_pif_noun noun_of(const struct pm_facts *facts, pm_id id)
{
    struct pm_pif_noun noun;
    assert_true(pm_pif_find_noun(facts->pif, id, &noun));
    return noun;
}

static void a_loop_brings_what_it_lies_in(void **state)
{
    (void)state;
    struct pm_facts *facts = pm_facts_new("test 1");
    struct pm_source_function *function = new_function("sweep", true);
    struct pm_pif_noun loop = noun_of(facts, pm_fact_loop(facts, function, 1));
    assert_string_equal(loop.name, "heat.c:21");
    assert_string_equal(loop.kind, "loop");
    assert_string_equal(loop.level, "Source");
    assert_int_equal(loop.end_line, 29);
    struct pm_pif_noun outer = noun_of(facts, loop.parent);
    assert_string_equal(outer.name, "heat.c:20");
    struct pm_pif_noun of = noun_of(facts, outer.parent);
    assert_string_equal(of.name, "sweep");
    assert_null(of.linkage);
    assert_int_equal(of.end_line, 60);
    assert_string_equal(pm_pif_get_attribute(facts->pif, of.id, "local"), "yes");
    struct pm_pif_noun file = noun_of(facts, of.parent);
    assert_string_equal(file.name, "heat.c");
    assert_string_equal(pm_pif_get_attribute(facts->pif, file.id, "path"), path);
    assert_int_equal(pm_pif_n_nouns(facts->pif), 4);
    assert_int_equal(pm_fact_loop(facts, function, 1), loop.id);
    assert_int_equal(pm_pif_n_nouns(facts->pif), 4);
    pm_source_function_free(function);
    pm_facts_free(facts);
}

static void loops_without_a_table_are_known_by_their_place(void **state)
{
    (void)state;
    struct pm_facts *facts = pm_facts_new("test 1");
    struct pm_source_function *function = new_function("sweep", false);
    struct pm_buf name = PM_BUF_INIT(100);
    struct pm_place place = at(70, 3);
    pm_id known = pm_fact_loop_of(facts, function, function->loops[1].id, &place, &name);
    assert_int_equal(known, function->loops[1].id);
    assert_string_equal(name.data, "heat.c:21");
    pm_buf_clear(&name);
    struct pm_pif_noun loop = noun_of(facts, pm_fact_loop_of(facts, function, 77, &place, &name));
    assert_string_equal(name.data, "heat.c:70");
    assert_string_equal(loop.name, "heat.c:70");
    assert_int_equal(loop.parent, function->id);
    pm_buf_release(&name);
    pm_source_function_free(function);
    pm_facts_free(facts);
}

static void statements_and_regions_are_named_by_their_place(void **state)
{
    (void)state;
    struct pm_facts *facts = pm_facts_new("test 1");
    struct pm_source_function *function = new_function("sweep", false);
    struct pm_place place = at(22, 7);
    struct pm_pif_noun noun =
        noun_of(facts, pm_fact_statement(facts, function, &place, 24, function->id));
    assert_string_equal(noun.name, "heat.c:22:7");
    assert_int_equal(noun.end_line, 24);
    struct pm_place next = at(25, 7);
    noun = noun_of(facts, pm_fact_statement(facts, function, &next, 25, function->id));
    assert_int_equal(noun.end_line, 0);
    noun = noun_of(facts, pm_fact_region(facts, function, &place, "parallel", function->id));
    assert_string_equal(noun.name, "heat.c:22 omp parallel");
    assert_string_equal(noun.kind, "region");
    pm_source_function_free(function);
    pm_facts_free(facts);
}

static bool has_mapping(const struct pm_facts *facts, pm_id source, enum pm_fact_verb source_verb,
                        pm_id destination, enum pm_fact_verb destination_verb)
{
    for (size_t i = 0; i < pm_pif_n_mappings(facts->pif); i++) {
        struct pm_pif_mapping mapping;
        pm_pif_get_mapping(facts->pif, i, &mapping);
        if (mapping.source.verb == pm_verb_id(source_verb) && mapping.source.nouns[0] == source &&
            mapping.destination.verb == pm_verb_id(destination_verb) &&
            mapping.destination.nouns[0] == destination)
            return true;
    }
    return false;
}

static void code_is_mapped_to_what_it_implements(void **state)
{
    (void)state;
    struct pm_facts *facts = pm_facts_new("test 1");
    struct pm_source_function *function = new_function("sweep", false),
                              *folded = new_function("other", false);
    pm_id symbol = pm_fact_symbol(facts, pm_id_of_symbol("sweep", NULL), "sweep");
    pm_id loop = pm_fact_loop(facts, function, 1);
    pm_id code = pm_fact_loopcode(facts, symbol, "sweep", loop, "heat.c:21");
    assert_string_equal(noun_of(facts, code).name, "sweep/heat.c:21");
    assert_int_equal(noun_of(facts, code).parent, symbol);
    assert_true(has_mapping(facts, code, PM_BASE_EXECUTES, loop, PM_SOURCE_EXECUTES));
    pm_id rest = pm_fact_loop_rest(facts, symbol, "sweep", loop, "heat.c:21");
    assert_int_not_equal(rest, code);
    assert_string_equal(noun_of(facts, rest).name, "sweep/heat.c:21 rest");
    assert_true(has_mapping(facts, rest, PM_BASE_EXECUTES, loop, PM_SOURCE_EXECUTES));
    pm_fact_folded_loop(facts, code, function, loop, folded);
    assert_true(
        has_mapping(facts, code, PM_BASE_EXECUTES, folded->loops[1].id, PM_SOURCE_EXECUTES));
    struct pm_place place = at(22, 7);
    pm_id call = pm_fact_callcode(facts, symbol, "sweep", function, &place);
    pm_id statement = pm_id_of_statement(function->id, path, pm_place_point(&place));
    assert_string_equal(noun_of(facts, call).name, "sweep/call heat.c:22");
    assert_int_equal(noun_of(facts, statement).parent, loop);
    assert_true(has_mapping(facts, call, PM_BASE_EXECUTES, statement, PM_SOURCE_EXECUTES));
    assert_true(has_mapping(facts, call, PM_BASE_EXECUTES, loop, PM_SOURCE_EXECUTES));
    pm_fact_bare(facts, code, true);
    assert_string_equal(pm_pif_get_attribute(facts->pif, code, "bare calls"), "yes");
    pm_source_function_free(function);
    pm_source_function_free(folded);
    pm_facts_free(facts);
}

static void called_functions_are_the_programs_own_or_a_librarys(void **state)
{
    (void)state;
    static const struct {
        const char *name, *linkage;
        bool is_library;
        const char *kind, *shown, *group;
    } cases[] = {
        {"helper(int)", "_Z6helperi", false, "function", "helper(int)", NULL},
        {"__builtin_malloc", "malloc", true, "external", "malloc", "memory"},
        {"fopen64", "fopen64", false, "external", "fopen64", "io"},
        {"mpi_send_", "mpi_send_", false, "external", "mpi_send_", "mpi"},
        {"_gfortran_matmul_r8", "_gfortran_matmul_r8", false, "external", "_gfortran_matmul_r8",
         NULL},
        {"sin", "sin", true, "external", "sin", NULL},
    };
    struct pm_facts *facts = pm_facts_new("test 1");
    struct pm_place place = at(1, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pm_source_function *function =
            pm_source_function_new(cases[i].linkage, cases[i].name, NULL, &place);
        pm_id id = pm_fact_called(facts, function, cases[i].linkage, cases[i].is_library);
        struct pm_pif_noun noun = noun_of(facts, id);
        assert_string_equal(noun.kind, cases[i].kind);
        assert_string_equal(noun.name, cases[i].shown);
        const char *group = pm_pif_get_attribute(facts->pif, id, "group");
        assert_int_equal(group != NULL, cases[i].group != NULL);
        if (group)
            assert_string_equal(group, cases[i].group);
        pm_source_function_free(function);
    }
    struct pm_source_function *function =
        pm_source_function_new("__cxa_throw", "__cxa_throw", NULL, &place);
    assert_int_equal(pm_fact_called(facts, function, "__cxa_throw", true), 0);
    pm_source_function_free(function);
    pm_facts_free(facts);
}

/* What gas makes of the .ascii lines. */
static size_t assemble(const char *text, char *ret_bytes)
{
    size_t n = 0;
    for (const char *p = strstr(text, "\t.ascii \""); p; p = strstr(p, "\t.ascii \"")) {
        for (p += strlen("\t.ascii \""); *p != '"'; p++) {
            if (*p != '\\') {
                ret_bytes[n++] = *p;
                continue;
            }
            unsigned byte = 0;
            for (int digit = 0; digit < 3 && p[1] >= '0' && p[1] <= '9'; digit++)
                byte = byte * 8 + (unsigned)(*++p - '0');
            ret_bytes[n++] = (char)byte;
        }
    }
    return n;
}

static void the_section_holds_the_facts(void **state)
{
    (void)state;
    struct pm_facts *facts = pm_facts_new("test 1");
    struct pm_source_function *function = new_function("sweep", false);
    pm_fact_loop(facts, function, 1);
    for (unsigned i = 0; i < 300; i++) {
        char name[40];
        snprintf(name, sizeof name, "\"v\\%u\x01%u", i, i);
        pm_fact_data(facts, &(struct pm_data){.kind = PM_DATA_ARRAY, .id = i + 1, .name = name});
    }
    struct pm_buf text = PM_BUF_INIT(1 << 20), chunk = PM_BUF_INIT(1 << 20);
    pm_facts_section(facts, &text);
    assert_false(text.failed);
    assert_non_null(strstr(text.data, "\t.pushsection .perfmap.pif,\"\",@progbits\n"));
    assert_string_equal(text.data + text.len - strlen("\t.popsection\n"), "\t.popsection\n");
    pm_pif_write_compressed(facts->pif, &chunk);
    char *bytes = malloc(text.len);
    assert_int_equal(assemble(text.data, bytes), chunk.len);
    assert_memory_equal(bytes, chunk.data, chunk.len);
    free(bytes);
    pm_buf_release(&text);
    pm_buf_release(&chunk);
    pm_source_function_free(function);
    pm_facts_free(facts);
}

static void expect_file(const char *dir, const char *output, const char *expected)
{
    char *folder = dir ? strdup(dir) : NULL;
    struct pm_options options = {.pif_dir = folder};
    struct pm_buf name = PM_BUF_INIT(100);
    assert_int_equal(pm_facts_file_name(&options, "src/heat.c", output, &name), expected != NULL);
    if (expected)
        assert_string_equal(name.data, expected);
    options.pif_none = true;
    assert_false(pm_facts_file_name(&options, "src/heat.c", output, &name));
    pm_buf_release(&name);
    free(folder);
}

static void the_file_is_named_as_the_object(void **state)
{
    (void)state;
    expect_file(NULL, "build/heat.o", "build/heat.pif");
    expect_file(NULL, "heat", "heat.pif");
    expect_file(NULL, "a.b/heat", "a.b/heat.pif");
    expect_file(NULL, ".heat", ".heat.pif");
    expect_file(NULL, "a/.heat", "a/.heat.pif");
    expect_file("/tmp/d", "a/b.c/heat.o", "/tmp/d/a#b.c#heat.pif");
}

static void without_an_object_there_is_only_one_in_a_folder_of_its_own(void **state)
{
    (void)state;
    static const char *const outputs[] = {"", "-", "/dev/null"};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        expect_file(NULL, outputs[i], NULL);
        expect_file("/tmp/d", outputs[i], "/tmp/d/src#heat.pif");
    }
}

static void files_for_the_database_have_one_name_for_each_object(void **state)
{
    (void)state;
    char dir[] = "/d";
    struct pm_options options = {.pdb_dir = dir};
    struct pm_buf a = PM_BUF_INIT(1000), b = PM_BUF_INIT(1000), whole = PM_BUF_INIT(8192);
    char here[4096];
    assert_non_null(getcwd(here, sizeof here));
    pm_buf_printf(&whole, "%s/src/heat.o", here);
    assert_true(pm_facts_pdb_name(&options, "heat.c", "src/heat.o", &a));
    assert_true(pm_facts_pdb_name(&options, "heat.c", whole.data, &b));
    assert_string_equal(a.data, b.data);
    assert_memory_equal(a.data, "/d/heat-", 8);
    pm_buf_clear(&b);
    assert_true(pm_facts_pdb_name(&options, "heat.c", "other/heat.o", &b));
    assert_string_not_equal(a.data, b.data);
    options.pdb_dir = NULL;
    assert_false(pm_facts_pdb_name(&options, "heat.c", "heat.o", &a));
    pm_buf_release(&a);
    pm_buf_release(&b);
    pm_buf_release(&whole);
}

static void a_file_that_cannot_be_written_leaves_nothing(void **state)
{
    (void)state;
    struct pm_facts *facts = pm_facts_new("test 1");
    struct pm_source_function *function = new_function("sweep", false);
    struct pm_options options = {0};
    struct pm_buf warning = PM_BUF_INIT(1000);
    assert_true(pm_facts_keep(facts, &options, "facts.c", "facts.o", &warning));
    assert_int_not_equal(access("facts.pif", R_OK), 0); /* there are no facts */
    pm_fact_function(facts, function);
    assert_true(pm_facts_keep(facts, &options, "facts.c", "", &warning));
    assert_int_not_equal(access("facts.pif", R_OK), 0);
    assert_true(pm_facts_keep(facts, &options, "facts.c", "facts.o", &warning));
    assert_int_equal(access("facts.pif", R_OK), 0);
    assert_int_equal(warning.len, 0);
    assert_false(pm_facts_keep(facts, &options, "facts.c", "no-such-folder/facts.o", &warning));
    assert_string_equal(warning.data,
                        "perfmap: warning: cannot write 'no-such-folder/facts.pif': No such file "
                        "or directory; the facts are in the object all the same (pif=none: no "
                        "such files)");
    assert_int_equal(unlink("facts.pif"), 0);
    pm_buf_release(&warning);
    pm_source_function_free(function);
    pm_facts_free(facts);
}

static void late_facts_join_the_early_ones(void **state)
{
    (void)state;
    struct pm_facts *early = pm_facts_new("test 1"), *late = pm_facts_new("test 1");
    struct pm_source_function *function = new_function("sweep", false);
    pm_fact_function(early, function);
    pm_id loop = pm_fact_loop(late, function, 0);
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_facts_join(early, late, &err), PM_OK);
    assert_string_equal(noun_of(early, loop).name, "heat.c:20");
    assert_int_equal(pm_pif_n_nouns(early->pif), 3);
    pm_source_function_free(function);
    pm_facts_free(early);
    pm_facts_free(late);
}

static void where_memory_ends_the_facts_say_so(void **state)
{
    (void)state;
    struct pm_source_function *function = new_function("sweep", true);
    bool pending = false;
    for (long n = 1; !pending; n++) {
        pm_alloc_fail_at(n);
        struct pm_facts *facts = pm_facts_new("test 1");
        if (facts)
            pm_fact_loopcode(facts, 5, "sweep", pm_fact_loop(facts, function, 1), "heat.c:21");
        pending = pm_alloc_fail_pending();
        pm_alloc_fail_at(0);
        assert_int_equal(!facts || pm_facts_failed(facts), !pending);
        pm_facts_free(facts);
        assert_true(n < 1000);
    }
    pm_source_function_free(function);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_brings_what_it_lies_in),
        cmocka_unit_test(loops_without_a_table_are_known_by_their_place),
        cmocka_unit_test(statements_and_regions_are_named_by_their_place),
        cmocka_unit_test(code_is_mapped_to_what_it_implements),
        cmocka_unit_test(called_functions_are_the_programs_own_or_a_librarys),
        cmocka_unit_test(the_section_holds_the_facts),
        cmocka_unit_test(the_file_is_named_as_the_object),
        cmocka_unit_test(without_an_object_there_is_only_one_in_a_folder_of_its_own),
        cmocka_unit_test(files_for_the_database_have_one_name_for_each_object),
        cmocka_unit_test(a_file_that_cannot_be_written_leaves_nothing),
        cmocka_unit_test(late_facts_join_the_early_ones),
        cmocka_unit_test(where_memory_ends_the_facts_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
