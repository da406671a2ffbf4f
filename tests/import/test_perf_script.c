/* The text of perf script. */
#include "record.h"

#define HEADS                                                                                 \
    "heat 7/7 1.000001: PERF_RECORD_COMM exec: heat:7/7\n"                                    \
    "heat 7/7 1.000002: PERF_RECORD_MMAP2 7/7: [0x5570781d6000(0x1000) @ 0x1000 fe:00 1 2]: " \
    "r-xp /tmp/heat\n"

static void samples_are_stacks_with_periods(void **state)
{
    (void)state;
    assert_import(NULL,
                  HEADS "heat 7/8 1.000003:     250000 cpu-clock:u: \n"
                        "\t            113c leaf+0x13 (/tmp/heat)\n"
                        "\t            11c8 main+0xe (/tmp/heat)\n"
                        "\n",
                  "process 7 /tmp/heat\nthread 8 heat\n"
                  "main@11c8?(/tmp/heat)!;leaf@113c?(/tmp/heat) n_samples 1\n"
                  "main@11c8?(/tmp/heat)!;leaf@113c?(/tmp/heat) cpu_ns 250000\n",
                  NULL);
}

/* Before perf 6.0. */
static void addresses_of_the_process_become_offsets_in_files(void **state)
{
    (void)state;
    assert_import(NULL,
                  HEADS "heat 7/7 1.000003: 9 cycles:ppp: \n"
                        "\t5570781d613c leaf+0x13 (/tmp/heat)\n\n",
                  "process 7 /tmp/heat\nthread 7 heat\n"
                  "leaf@113c(/tmp/heat) n_samples 1\nleaf@113c(/tmp/heat) cycles 9\n",
                  NULL);
}

static void samples_without_call_chain_have_their_frame_behind_the_event(void **state)
{
    (void)state;
    assert_import(NULL, "heat 7/7 1.000003: 9 cycles:  113c leaf+0x13 (/tmp/heat)\n",
                  "process 7 heat\nthread 7 heat\n"
                  "leaf@113c?(/tmp/heat) n_samples 1\nleaf@113c?(/tmp/heat) cycles 9\n",
                  NULL);
}

static void commands_may_have_blanks_and_numbers(void **state)
{
    (void)state;
    assert_import(NULL,
                  "Web Content 1 12/13 [003] 1.000003: 9 cycles: \n\t1 f (/a)\n\n"
                  ":-1 0/0 1.000004: 9 cycles: \n\t1 f (/a)\n",
                  "process 12 Web Content 1\nthread 13 Web Content 1\n"
                  "f@1(/a) n_samples 1\nf@1(/a) cycles 9\n"
                  "2: f@1(/a) n_samples 1\n2: f@1(/a) cycles 9\n",
                  NULL);
}

static void names_of_functions_and_files_may_have_parentheses(void **state)
{
    (void)state;
    assert_import(NULL,
                  "heat 7/7 1.000003: 9 cycles: \n"
                  "\t1 ns::f(int, char const*) const+0x1 (/tmp/a b (deleted))\n"
                  "\t2 [unknown] ([unknown])\n"
                  "\t3 g (inlined)\n"
                  "\tffffffff81 do_syscall_64+0x1 ([kernel.kallsyms])\n",
                  "process 7 heat\nthread 7 heat\n"
                  "do_syscall_64([kernel.kallsyms])!;g!~;!;"
                  "ns::f(int, char const*) const@1?(/tmp/a b) n_samples 1\n"
                  "do_syscall_64([kernel.kallsyms])!;g!~;!;"
                  "ns::f(int, char const*) const@1?(/tmp/a b) cycles 9\n",
                  NULL);
}

static void several_events_are_several_metrics(void **state)
{
    (void)state;
    assert_import(NULL,
                  "a 7/7 1.3: 9 cycles:u: \n\t1 f (/a)\n\n"
                  "a 7/7 1.4: 1 sched:sched_switch: prev_comm=a prev_pid=7\n\t1 f (/a)\n\n"
                  "a 7/7 1.5: 1 cpu/event=0x3c,umask=0x0/: \n\t1 f (/a)\n",
                  "process 7 a\nthread 7 a\nf@1(/a) n_samples 1\nf@1(/a) cycles 9\n"
                  "f@1(/a) n_samples 1\nf@1(/a) sched.sched_switch 1\n"
                  "f@1(/a) n_samples 1\nf@1(/a) cpu_event_0x3c_umask_0x0_ 1\n",
                  NULL);
}

static void lost_records_and_other_lines_are_told(void **state)
{
    (void)state;
    assert_import(
        NULL, "a 7/7 1.3: 9 cycles: \n\t1 f (/a)\n\na 7/7 1.4: PERF_RECORD_LOST lost 12\n",
        "process 7 a\nthread 7 a\nf@1(/a) n_samples 1\nf@1(/a) cycles 9\n", "perf lost 12 records");
    assert_import(NULL, "a 7/7 1.3: 9 cycles: \n\t1 f (/a)\n\nwhat is this\n",
                  "process 7 a\nthread 7 a\nf@1(/a) n_samples 1\nf@1(/a) cycles 9\n",
                  "1 lines of perf script are not understood, and left out: the first is line 4");
}

static void without_processes_threads_are_one_process(void **state)
{
    (void)state;
    assert_import(NULL, "a 7 1.3: 9 cycles: \n\t1 f (/a)\n\na 8 1.3: 9 cycles: \n\t1 f (/a)\n",
                  "thread 7 a\nf@1(/a) n_samples 1\nf@1(/a) cycles 9\n"
                  "thread 8 a\n2: f@1(/a) n_samples 1\n2: f@1(/a) cycles 9\n",
                  "all threads are one process's");
}

static void another_program_begins_with_exec(void **state)
{
    (void)state;
    assert_import(NULL,
                  "sh 7/7 1.1: 9 cycles: \n\t1 f (/bin/sh)\n\n" HEADS
                  "heat 7/7 1.3: 9 cycles: \n\t1 g (/tmp/heat)\n",
                  "process 7 sh\nthread 7 sh\nf@1(/bin/sh) n_samples 1\nf@1(/bin/sh) cycles 9\n"
                  "process 7 /tmp/heat\nthread 7 heat\n"
                  "2: g@1(/tmp/heat) n_samples 1\n2: g@1(/tmp/heat) cycles 9\n",
                  NULL);
}

static void what_is_no_text_of_perf_script_is_refused(void **state)
{
    (void)state;
    assert_refused("perf_script", "hello\n", "line 1: 'hello' is not how a sample of perf script");
    assert_refused("perf_script", "", "has no samples");
    assert_refused("perf_script", "a 7/7 1.3: 18446744073709551615 cycles: \n\t1 f (/a)\n",
                   "the period is too large");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_stacks_with_periods),
        cmocka_unit_test(addresses_of_the_process_become_offsets_in_files),
        cmocka_unit_test(samples_without_call_chain_have_their_frame_behind_the_event),
        cmocka_unit_test(commands_may_have_blanks_and_numbers),
        cmocka_unit_test(names_of_functions_and_files_may_have_parentheses),
        cmocka_unit_test(several_events_are_several_metrics),
        cmocka_unit_test(lost_records_and_other_lines_are_told),
        cmocka_unit_test(without_processes_threads_are_one_process),
        cmocka_unit_test(another_program_begins_with_exec),
        cmocka_unit_test(what_is_no_text_of_perf_script_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
