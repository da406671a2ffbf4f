/* Callgrind's costs and calls. */
#include "record.h"

#define HEAD "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\nevents: Ir Dr\n"

static void lines_have_costs_and_calls_are_arcs(void **state)
{
    (void)state;
    assert_import(NULL,
                  HEAD "ob=(1) /tmp/heat\nfl=(1) heat.c\nfn=(1) main\n3 5 1\n"
                       "cfn=(2) leaf\ncalls=3 9\n4 30 6\n"
                       "fn=(2)\n9 20 6\n+1 10\n"
                       "cob=(2) /lib/libm.so\ncfn=(3) sin\ncalls=1 0\n10 7\n",
                  "leaf:9(/tmp/heat) instructions 20\nleaf:9(/tmp/heat) dr 6\n"
                  "leaf:10(/tmp/heat) instructions 10\n"
                  "main:3(/tmp/heat) instructions 5\nmain:3(/tmp/heat) dr 1\n"
                  "main(/tmp/heat) -> leaf(/tmp/heat) 3 incl_instructions 30\n"
                  "main(/tmp/heat) -> leaf(/tmp/heat) 0 incl_dr 6\n"
                  "leaf(/tmp/heat) -> sin(/lib/libm.so) 1 incl_instructions 7\n",
                  "producer=callgrind-3.19.0");
}

static void instructions_have_addresses(void **state)
{
    (void)state;
    assert_import(NULL, HEAD "positions: instr line\nob=/tmp/heat\nfn=main\n0x1139 3 5\n",
                  "main@elf:1139:3(/tmp/heat) instructions 5\n", "callgrind");
}

static void a_file_without_costs_says_where_they_are(void **state)
{
    (void)state;
    assert_refused(NULL, HEAD "fn=main\n", "callgrind writes them to files beside it");
    assert_refused(NULL, HEAD "fn=main\ncalls=x 3\n", "'x' is not a number of calls");
    assert_refused(NULL, HEAD "fn=main\n1 2 3 4\n", "more costs than the 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_costs_and_calls_are_arcs),
        cmocka_unit_test(instructions_have_addresses),
        cmocka_unit_test(a_file_without_costs_says_where_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
