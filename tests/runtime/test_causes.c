/* Causes: ids that come back, what is active by them, chains that stay bounded, text in and out.
 * Stack pointers are invented; what the runtime leaves is read back with the reader of
 * mapping/run. */
#include "mapping/run/run_file.h"
#include "made_process.h"
#include "runtime/words/baggage.h"
#include "runtime/words/causes.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void pm_wrap_resolve(void) {}

enum { N_NOUNS = 64 };
static uint64_t stack_start;

static int begin(void **unused)
{
    (void)unused;
    made_process("causes", PM_RUN_MODE_ACTIVE);
    pm_process.max_nouns = 1u << 12;
    pm_process.max_depth = 100000;
    pm_process.next_noun = N_NOUNS;
    pm_process.start_tsc = 1;
    assert_true(pm_file_create());
    stack_start = (uint64_t)__builtin_frame_address(0);
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    unlink(pm_process.file.path);
    rmdir(pm_process.run_dir);
    return 0;
}

static unsigned depth;

static void send(enum pm_sled_kind kind, uint32_t noun, unsigned at)
{
    struct pm_probe probe = {.mode = PM_RUN_MODE_ACTIVE, .noun = noun, .kind = (uint8_t)kind};
    pm_slow(&probe, stack_start - 64 * (at + 1), 0);
}

static uintptr_t here(void)
{
    return stack_start - 64 * depth - 32;
}

static void call(uint32_t noun)
{
    send(PM_SLED_ENTRY, noun, depth++);
}

static void leave(uint32_t noun)
{
    send(PM_SLED_RETURN, noun, --depth);
}

static uint32_t n_contexts(void)
{
    return pm_process.n_contexts;
}

static void ids_that_were_never_given_out_do_nothing(void **unused)
{
    (void)unused;
    call(1);
    uint64_t good = pm_cause_capture(here());
    assert_true(good != 0);
    const struct pm_node *node = pm_tls.current;
    uint32_t n = n_contexts();
    for (uint32_t i = 0; i < 100000; i++) {
        uint64_t bad = (uint64_t)rand() << 33 ^ (uint64_t)rand() << 11 ^ i;
        bad = i % 2 ? good ^ (uint64_t)1 << (1 + i % 63) : bad; /* near misses, too */
        pm_cause_adopt(bad, here());
        assert_ptr_equal(pm_tls.current, node);
        pm_cause_release(bad, here());
    }
    pm_cause_adopt(0, here());
    assert_ptr_equal(pm_tls.current, node);
    assert_int_equal(n_contexts(), n);
    leave(1);
}

/* Who has the lock would wait for itself without end. */
static void an_id_of_nobody_is_known_without_the_lock(void **unused)
{
    (void)unused;
    uint64_t bad = 0x1234567811111111, imported = (uint64_t)1 << 63 | bad;
    call(1);
    pm_cause_adopt(bad, here());
    pm_cause_adopt(imported, here());
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        pm_words_lock();
        for (int i = 0; i < 100; i++) {
            pm_cause_adopt(bad, here());
            pm_cause_release(imported, here());
        }
        _exit(7);
    }
    int status = 0, waited_ms = 0;
    while (waitpid(child, &status, WNOHANG) == 0 && waited_ms++ < 20000)
        usleep(1000);
    kill(child, SIGKILL);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    leave(1);
}

static void what_was_not_adopted_is_not_released(void **unused)
{
    (void)unused;
    call(1);
    call(2);
    uint64_t cause = pm_cause_capture(here());
    const struct pm_node *node = pm_tls.current;
    pm_cause_release(cause, here());
    assert_ptr_equal(pm_tls.current, node);
    pm_cause_adopt(cause, here());
    assert_ptr_equal(pm_tls.current->parent, node);
    assert_int_equal(pm_tls.current->kind, PM_RUN_CAUSE_ENTER);
    pm_cause_adopt(cause, here()); /* again is one */
    assert_ptr_equal(pm_tls.current->parent, node);
    assert_int_equal(pm_tls.current->n_calls, 2);
    pm_cause_release(cause, here());
    assert_ptr_equal(pm_tls.current, node);
    pm_cause_release(cause, here());
    assert_ptr_equal(pm_tls.current, node);
    pm_cause_adopt(cause, here()); /* what is not released ends with the function */
    leave(2);
    assert_int_equal(pm_tls.current->noun, 1);
    leave(1);
    assert_int_equal(pm_process.file.header->n_unmatched, 0);
}

static void a_thread_begins_within_its_cause_and_cannot_release_it(void **unused)
{
    (void)unused;
    call(3);
    uint64_t cause = pm_cause_capture(here());
    leave(3);
    pm_tls = (struct pm_tls){.current = &pm_sentinel, .ring_head = &pm_no_ring};
    pm_cause_thread_begins(cause);
    call(4);
    const struct pm_node *start = pm_tls.current->parent;
    assert_int_equal(start->kind, PM_RUN_CAUSE_START);
    assert_null(start->parent->parent);
    pm_cause_release(cause, here());
    assert_int_equal(pm_tls.current->noun, 4);
    pm_cause_adopt(cause, here());
    pm_cause_release(cause, here());
    pm_cause_release(cause, here());
    assert_int_equal(pm_tls.current->noun, 4);
    leave(4);
    assert_ptr_equal(pm_tls.current, start);
}

/* Works on behalf of that, in a function, and hands on what is active there. */
static uint64_t pass_on(uint64_t cause, uint32_t noun)
{
    pm_cause_adopt(cause, here());
    call(noun);
    uint64_t next = pm_cause_capture(here());
    leave(noun);
    pm_cause_release(cause, here());
    return next;
}

static void what_goes_round_makes_few_contexts(void **unused)
{
    (void)unused;
    for (uint32_t n_around = 1; n_around <= 5; n_around++) {
        uint64_t cause = 0;
        uint32_t before = n_contexts(), settled = 0;
        for (uint32_t i = 0; i < 10000; i++) {
            cause = pass_on(cause, 10 + i % n_around);
            if (i == 100)
                settled = n_contexts();
        }
        assert_int_equal(n_contexts(), settled);
        assert_in_range(settled - before, 1, 8 * n_around);
    }
}

static void a_long_chain_begins_anew(void **unused)
{
    (void)unused;
    uint64_t cause = 0;
    uint32_t n = n_contexts();
    for (uint32_t i = 0; i < 40; i++)
        cause = pass_on(cause, 20 + i);
    assert_in_range(n_contexts() - n, 40, 80);
    pm_cause_adopt(cause, here());
    struct pm_run_file *file = NULL;
    assert_int_equal(pm_run_file_open(pm_process.file.path, NULL, NULL, &file), PM_OK);
    uint32_t n_causes = 0, n_alone = 0;
    for (size_t i = 0; i < pm_run_file_n_words(file); i++) {
        const struct pm_run_file_word *word = pm_run_file_word(file, i);
        if (word->kind != PM_WORD_CAUSE)
            continue;
        n_causes++;
        n_alone += word->b;
        assert_true(word->address == pm_run_file_process(file)->identity);
    }
    assert_true(n_causes >= 40 && n_alone >= 1 && n_alone <= 4);
    pm_run_file_free(file);
    pm_cause_release(cause, here());
}

static void text_comes_back_as_the_same_cause(void **unused)
{
    (void)unused;
    char text[1024], header[2048];
    call(5);
    uint64_t cause = pm_cause_capture(here());
    size_t n = pm_cause_export(cause, text, sizeof text);
    assert_int_equal(n, strlen(text));
    assert_true(pm_cause_import(text, n) == cause);
    snprintf(header, sizeof header, "Baggage: a=b;c , \t%.7s\t= %s ;ttl=3;x=y,perfmapx=1.1.1", text,
             text + 8);
    assert_true(pm_cause_import(header, strlen(header)) == cause);
    assert_int_equal(pm_cause_export(cause, text, n), 0); /* no room for the end */
    assert_int_equal(pm_cause_export(cause ^ 1, text, sizeof text), 0);
    leave(5);
}

static void what_another_process_told_is_kept_and_passed_on(void **unused)
{
    (void)unused;
    static const char told[] = "perfmap=1.00000000000000ab.000000cd!SQL:Executes:SELECT%201@query";
    char text[1024];
    uint64_t cause = pm_cause_import(told, sizeof told - 1);
    assert_true(cause != 0);
    assert_true(pm_cause_import(told, sizeof told - 1) == cause);
    assert_int_equal(pm_cause_export(cause, text, sizeof text), sizeof told - 1);
    assert_string_equal(text, told);
    uint64_t next = pass_on(cause, 6);
    assert_true(pm_cause_export(next, text, sizeof text) > 0);
    assert_non_null(strstr(text, "!SQL:Executes:SELECT%201@query"));
    assert_null(strstr(text, "00000000000000ab"));
}

static void text_that_is_not_well_formed_is_no_cause(void **unused)
{
    (void)unused;
    static const char *const bad[] = {"",
                                      "perfmap",
                                      "perfmap=",
                                      "perfmap=1",
                                      "perfmap=1.",
                                      "perfmap=1.a",
                                      "perfmap=1.a.",
                                      "perfmap=1.0.1",
                                      "perfmap=1.1.0",
                                      "perfmap=2.1.1",
                                      "Perfmap=1.1.1",
                                      "perfmap=1.11111111111111111.1",
                                      "perfmap=1.1.111111111",
                                      "perfmap=1.A.1",
                                      "perfmap=1.1.1!",
                                      "perfmap=1.1.1!a",
                                      "perfmap=1.1.1!a:b",
                                      "perfmap=1.1.1!a:b:",
                                      "perfmap=1.1.1!a::c",
                                      "perfmap=1.1.1!a:b:c!",
                                      "perfmap=1.1.1!a:b:c%0",
                                      "perfmap=1.1.1!a:b:c%00",
                                      "perfmap=1.1.1!a:b:c%zz",
                                      "perfmap=1.1.1!a:b@k:c",
                                      "perfmap=1.1.1!a:b:c@k@k",
                                      "perfmap=1.1.1!a:b:1:2:3:4:5:6:7:8:9",
                                      "perfmap=1.1.1!a:b:c d",
                                      "perfmap=1.1.1x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (pm_cause_import(bad[i], strlen(bad[i])) != 0)
            fail_msg("'%s' is taken for a cause", bad[i]);
    assert_int_equal(pm_cause_import(NULL, 10), 0);
    assert_true(pm_cause_import("perfmap=1.x.1, perfmap=1.1.1", 28) != 0); /* one that is, behind */
    char *large = malloc(1 << 20);
    memset(large, ',', 1 << 20);
    assert_int_equal(pm_cause_import(large, 1 << 20), 0);
    free(large);
}

/* Whoever sends a new cause with each request gets no more memory than anybody. */
/* Each within six of the step before: without end, if every way from one to another were walked. */
static void what_is_handed_on_within_many_is_told_once(void **unused)
{
    (void)unused;
    enum { AT_ONCE = 6, STEPS = 15 };
    char text[1024];
    uint64_t causes[AT_ONCE] = {0}, next[AT_ONCE];
    uint64_t first = 0;
    for (unsigned step = 0; step < STEPS; step++) {
        for (unsigned i = 0; i < AT_ONCE; i++) {
            for (unsigned k = 0; k < AT_ONCE; k++) {
                call(40 + k % 2);
                pm_cause_adopt(causes[(unsigned)rand() % AT_ONCE], here());
            }
            call(50 + i);
            next[i] = pm_cause_capture(here());
            leave(50 + i);
            for (unsigned k = AT_ONCE; k-- > 0;)
                leave(40 + k % 2);
        }
        memcpy(causes, next, sizeof causes);
        first = first != 0 ? first : causes[0];
    }
    assert_true(pm_cause_export(first, text, sizeof text) > 0);
    assert_true(pm_cause_export(causes[AT_ONCE - 1], text, sizeof text) > 0);
}

static void a_flood_of_causes_is_bounded(void **unused)
{
    (void)unused;
    char text[128];
    uint64_t last = 0;
    for (uint32_t i = 1; i <= 60000; i++) {
        int n = snprintf(text, sizeof text, "perfmap=1.%x.%x!App:Serves:%s", i * 7919, i,
                         i % 2 ? "a" : "b");
        last = pm_cause_import(text, (size_t)n);
        assert_true(last != 0);
    }
    for (uint32_t i = 60001; i < 60100; i += 2) {
        int n = snprintf(text, sizeof text, "perfmap=1.%x.%x!App:Serves:b", i * 7919, i);
        assert_true(pm_cause_import(text, (size_t)n) == last);
    }
    pm_cause_adopt(last, here());
    assert_int_equal(pm_tls.current->kind, PM_RUN_CAUSE_ENTER);
    pm_cause_release(last, here());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_that_were_never_given_out_do_nothing),
        cmocka_unit_test(an_id_of_nobody_is_known_without_the_lock),
        cmocka_unit_test(what_was_not_adopted_is_not_released),
        cmocka_unit_test(a_thread_begins_within_its_cause_and_cannot_release_it),
        cmocka_unit_test(what_goes_round_makes_few_contexts),
        cmocka_unit_test(a_long_chain_begins_anew),
        cmocka_unit_test(text_comes_back_as_the_same_cause),
        cmocka_unit_test(what_another_process_told_is_kept_and_passed_on),
        cmocka_unit_test(text_that_is_not_well_formed_is_no_cause),
        cmocka_unit_test(what_is_handed_on_within_many_is_told_once),
        cmocka_unit_test(a_flood_of_causes_is_bounded),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
