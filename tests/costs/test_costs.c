#include "mapping/costs/costs.h"

#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

static struct pm_costs *read_costs(const char *text)
{
    struct pm_costs *costs = NULL;
    struct pm_error err = PM_ERROR_INIT;
    if (pm_costs_read("a.costs", text, strlen(text), &err, &costs) != PM_OK)
        fail_msg("%s", pm_error_text(&err));
    return costs;
}

static void add_references(struct pm_buf *out, const struct pm_imported_cost *cost)
{
    for (unsigned i = 0; i < cost->n_references; i++) {
        const struct pm_pif_reference *reference = &cost->references[i];
        pm_buf_printf(out, "%s%s", i ? ", " : "{", reference->level ? reference->level : "");
        pm_buf_printf(out, "%s%s", reference->level ? "::" : "",
                      reference->name ? reference->name : "");
        if (reference->id)
            pm_buf_printf(out, "#%llx", (unsigned long long)reference->id);
    }
    pm_buf_add_str(out, "}");
}

/* One line a cost. */
static void assert_costs(const struct pm_costs *costs, const char *expected)
{
    struct pm_buf out = PM_BUF_INIT(1 << 20);
    pm_buf_add_str(&out, "");
    for (size_t i = 0; i < pm_costs_n(costs); i++) {
        const struct pm_imported_cost *cost = pm_costs_get(costs, i);
        if (cost->n_references)
            add_references(&out, cost);
        else
            pm_buf_printf(&out, "%s %s %s:%u", cost->object ? cost->object : "-",
                          cost->function ? cost->function : "-", cost->file ? cost->file : "-",
                          cost->line_no);
        if (cost->has_address)
            pm_buf_printf(&out, " at %llx", (unsigned long long)cost->address);
        const struct pm_cost_metric *metric = pm_costs_metric(costs, cost->metric);
        pm_buf_printf(&out, " %s %lld%s%s\n", metric->name, (long long)cost->value,
                      *metric->unit ? " x " : "", metric->unit);
    }
    assert_string_equal(out.data, expected);
    pm_buf_release(&out);
}

static void assert_read(const char *text, const char *expected)
{
    struct pm_costs *costs = read_costs(text);
    assert_costs(costs, expected);
    pm_costs_free(costs);
}

static void assert_refused(enum pm_status status, const char *text, const char *expected)
{
    struct pm_costs *costs = NULL;
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_costs_read("a.costs", text, strlen(text), &err, &costs), status);
    assert_string_equal(pm_error_text(&err), expected);
    pm_error_release(&err);
}

/* --- callgrind --- */

#define HEAD "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\n"
#define ADDRESSES HEAD "positions: instr line\nevents: Ir Dr\nsummary: 1 1\n\n"

static void own_costs_of_addresses_are_taken(void **state)
{
    (void)state;
    assert_read(ADDRESSES "ob=(1) /bin/heat\n"
                          "fl=(1) heat.c\n"
                          "fn=(1) main\n"
                          "0x1000 10 5 1\n"
                          "+4 * 7\n"
                          "+0x10 -2 1 1\n"
                          "fi=(2) inline.h\n"
                          "+4 3 9\n"
                          "fe=(1)\n"
                          "+4 12 1\n"
                          "cob=(3) /lib/libc.so\n"
                          "cfi=(4) memset.S\n"
                          "cfn=(2) memset\n"
                          "calls=1 0x999 100\n"
                          "* * 1000 2000\n"
                          "jcnd=3/4 +8 *\n"
                          "* *\n"
                          "jump=1 0x1000 10\n"
                          "-4 *\n"
                          "* * 3\n"
                          "\n"
                          "fn=(5) again\n"
                          "0x2000 20 2\n"
                          "\n"
                          "ob=(3)\n"
                          "fl=(4)\n"
                          "fn=(2)\n"
                          "0x50 0 4\n"
                          "\n"
                          "totals: 31 2\n",
                "/bin/heat main heat.c:10 at 1000 Ir 5 x instructions\n"
                "/bin/heat main heat.c:10 at 1000 Dr 1 x reads\n"
                "/bin/heat main heat.c:10 at 1004 Ir 7 x instructions\n"
                "/bin/heat main heat.c:8 at 1014 Ir 1 x instructions\n"
                "/bin/heat main heat.c:8 at 1014 Dr 1 x reads\n"
                "/bin/heat main heat.c:12 at 1018 Ir 3 x instructions\n"
                "/bin/heat main inline.h:3 at 1018 Ir 9 x instructions\n"
                "/bin/heat main heat.c:12 at 101c Ir 1 x instructions\n"
                "/bin/heat again heat.c:20 at 2000 Ir 2 x instructions\n"
                "/lib/libc.so memset memset.S:0 at 50 Ir 4 x instructions\n");
}

static void lines_do_without_addresses(void **state)
{
    (void)state;
    struct pm_costs *costs = read_costs(HEAD "events: Ir\n"
                                             "fl=heat.c\n"
                                             "fn=main\n"
                                             "10 5\n"
                                             "+1 6\n"
                                             "-1 1\n"
                                             "fl=???\n"
                                             "fn=???\n"
                                             "0 3\n");
    assert_costs(costs, "- - -:0 Ir 3 x instructions\n"
                        "- main heat.c:10 Ir 6 x instructions\n"
                        "- main heat.c:11 Ir 6 x instructions\n");
    assert_string_equal(pm_costs_producer(costs), "callgrind-3.19.0");
    pm_costs_free(costs);
}

/* What valgrind 3.19 wrote about one small program, linked at 0x401000 and as PIE: 0x1000.
 * Symbols as nm gives them. */
static void addresses_are_those_of_the_elf_file(void **state)
{
    (void)state;
    static const struct {
        const char *path, *object;
        uint64_t base;
    } files[] = {{PM_TEST_DATA "/tiny.callgrind", "tiny", 0x401000},
                 {PM_TEST_DATA "/tinypie.callgrind", "tinypie", 0x1000}};
    static const struct {
        const char *function;
        uint64_t low, high;
    } symbols[] = {{"fill", 0, 0x20}, {"total", 0x20, 0x4c}, {"(below main)", 0x4c, 0x74}};
    static const int64_t totals[] = {530, 66, 66, 2, 0, 5, 2, 0, 5};
    for (size_t i = 0; i < 2; i++) {
        struct pm_costs *costs = NULL;
        struct pm_error err = PM_ERROR_INIT;
        int64_t sums[9] = {0};
        if (pm_costs_read_file(files[i].path, &err, &costs) != PM_OK)
            fail_msg("%s", pm_error_text(&err));
        assert_int_equal(pm_costs_n_metrics(costs), 9);
        for (size_t k = 0; k < pm_costs_n(costs); k++) {
            const struct pm_imported_cost *cost = pm_costs_get(costs, k);
            size_t symbol = 0;
            while (strcmp(symbols[symbol].function, cost->function))
                assert_true(++symbol < 3);
            assert_true(cost->has_address);
            assert_true(cost->address >= files[i].base + symbols[symbol].low &&
                        cost->address < files[i].base + symbols[symbol].high);
            assert_string_equal(cost->object, files[i].object);
            assert_string_equal(cost->file, "tiny.c");
            sums[cost->metric] += cost->value;
        }
        assert_memory_equal(sums, totals, sizeof totals);
        pm_costs_free(costs);
    }
}

static void parts_of_a_file_add_up(void **state)
{
    (void)state;
    assert_read(ADDRESSES "ob=(1) a\nfl=(1) a.c\nfn=(1) f\n0x10 1 5 1\n"
                          "totals: 5 1\n\npart: 2\n\n"
                          "positions: instr line\nevents: Dr Xx\n"
                          "ob=(1) a\nfl=(1) a.c\nfn=(1) f\n0x10 1 5 1\n",
                "a f a.c:1 at 10 Ir 5 x instructions\n"
                "a f a.c:1 at 10 Dr 6 x reads\n"
                "a f a.c:1 at 10 Xx 1 x events\n");
}

static void what_is_no_callgrind_file_is_refused(void **state)
{
    (void)state;
    assert_refused(
        PM_ERR_VERSION, "# callgrind format\nversion: 2\n",
        "cost file 'a.costs' line 2: callgrind format of version '2', this perfmap reads "
        "version 1");
    assert_refused(PM_ERR_FORMAT, HEAD,
                   "cost file 'a.costs': no line 'events:' says what was counted");
    assert_refused(PM_ERR_FORMAT, HEAD "events: Ir\nfn=(7)\n",
                   "cost file 'a.costs' line 5: (7) was not given a name before");
    assert_refused(PM_ERR_FORMAT, HEAD "events: Ir\n1 2 3\n",
                   "cost file 'a.costs' line 5: more costs than the 1 that 'events:' states");
    assert_refused(PM_ERR_FORMAT, HEAD "events: Ir\n-1 2\n",
                   "cost file 'a.costs' line 5: '-1' is not a position");
    assert_refused(PM_ERR_FORMAT, HEAD "events: Ir\n1 0xg\n",
                   "cost file 'a.costs' line 5: '0xg' is not a cost");
    assert_refused(PM_ERR_FORMAT, HEAD "events: Ir\nxx=1\n",
                   "cost file 'a.costs' line 5: 'xx=' is not known");
    assert_refused(
        PM_ERR_FORMAT, HEAD "events: Ir\n!\n",
        "cost file 'a.costs' line 5: '!' is neither 'key: value', 'key=value' nor a line "
        "of costs");
    assert_refused(PM_ERR_LIMIT, HEAD "events: Ir\n1 9223372036854775808\n",
                   "cost file 'a.costs' line 5: a cost is larger than 9223372036854775807");
    assert_refused(PM_ERR_LIMIT, HEAD "events: Ir\n1 9223372036854775807\n1 1\n",
                   "cost file 'a.costs' line 6: the costs of this place add up to more than "
                   "9223372036854775807");
}

/* --- text --- */

static void the_papers_example_can_be_written(void **state)
{
    (void)state;
    struct pm_costs *costs = read_costs("# costs of figure 2\n"
                                        "{cmpe_corr_6_, CPU Utilization} cpu_pct 12.5\n"
                                        "{cmpe_corr_7_, CPU Utilization}\tcpu_pct   3\n"
                                        "{CM Fortran::line1160, CM Fortran::Executes} n_calls 4\n");
    assert_costs(costs, "{cmpe_corr_6_, CPU Utilization} cpu_pct 125 x 0.1\n"
                        "{cmpe_corr_7_, CPU Utilization} cpu_pct 30 x 0.1\n"
                        "{CM Fortran::line1160, CM Fortran::Executes} n_calls 4\n");
    assert_int_equal(pm_costs_metric(costs, 0)->decimals, 1);
    assert_string_equal(pm_costs_metric(costs, 0)->aggregation, "sum");
    assert_string_equal(pm_costs_producer(costs), "user");
    pm_costs_free(costs);
}

static void metrics_are_described(void **state)
{
    (void)state;
    struct pm_costs *costs = read_costs("METRIC\r\n"
                                        "  name = cpu_pct\r\n"
                                        "  unit = % CPU\r\n"
                                        "  aggregation = average\r\n"
                                        "  kind = time\r\n"
                                        "  decimals = 3\r\n"
                                        "  description = of one processor\r\n"
                                        "\r\n"
                                        "{a, b} cpu_pct 1.25\r\n"
                                        "METRIC\n"
                                        "name=size_bytes\n"
                                        "unit=bytes\n"
                                        "{\"x, y\", Source::\"operator, \"#0123456789abcdef, b} "
                                        "size_bytes 7\n"
                                        "{#00000000000000ff, b} size_bytes 7\n"
                                        "{#00000000000000ff, b} size_bytes 7\n");
    assert_costs(costs, "{a, b} cpu_pct 1250 x 0.001 % CPU\n"
                        "{x, y, Source::operator, #123456789abcdef, b} size_bytes 7 x bytes\n"
                        "{#ff, b} size_bytes 7 x bytes\n"
                        "{#ff, b} size_bytes 7 x bytes\n");
    const struct pm_cost_metric *metric = pm_costs_metric(costs, 0);
    assert_string_equal(metric->aggregation, "average");
    assert_string_equal(metric->kind, "time");
    assert_string_equal(metric->description, "of one processor");
    pm_costs_free(costs);
}

static void the_golden_file_is_read(void **state)
{
    (void)state;
    struct pm_costs *costs = NULL;
    struct pm_error err = PM_ERROR_INIT;
    if (pm_costs_read_file(PM_TEST_DATA "/metrics_1.costs", &err, &costs) != PM_OK)
        fail_msg("%s", pm_error_text(&err));
    assert_costs(costs, "{cmpe_corr_6_, CPU Utilization} cpu_pct 1250 x 0.01 % CPU\n"
                        "{CM Fortran::line1160, Executes} cpu_pct 25 x 0.01 % CPU\n"
                        "{x, y, Source::operator, #123456789abcdef, Reads} n_reads 7\n"
                        "{#ff, Reads} n_reads 7\n");
    pm_costs_free(costs);
}

static void nothing_is_read_from_nothing(void **state)
{
    (void)state;
    assert_read("", "");
    assert_read("\n# nothing\n", "");
}

static void malformed_text_is_refused(void **state)
{
    (void)state;
#define LINE_1 "cost file 'a.costs' line 1: "
#define LINE_2 "cost file 'a.costs' line 2: "
    assert_refused(PM_ERR_FORMAT, "cost\n",
                   LINE_1 "'cost' is neither '{noun, verb} METRIC VALUE' nor METRIC nor a comment");
    assert_refused(PM_ERR_FORMAT, "{a, b\n", LINE_1 "sentence '{a, b': ',' or '}' was expected");
    assert_refused(PM_ERR_FORMAT, "{a, } x 1", LINE_1 "sentence '{a, } x 1': a name was expected");
    assert_refused(PM_ERR_FORMAT, "{1,2,3,4,5,6,7,8,9,0} x 1",
                   LINE_1 "sentence '{1,2,3,4,5,6,7,8,9,0} x 1': a sentence has at most 8 nouns");
    assert_refused(PM_ERR_FORMAT, "{a, b} x\n",
                   LINE_1 "expected the name of a metric and a number after the sentence");
    assert_refused(PM_ERR_FORMAT, "{a, b} 12 1\n",
                   LINE_1 "'12' is not the name of a metric: letters, digits, '_', '.' and '-'");
    static const char *const values[] = {"-1", "1.", ".5", "1e3", "1,5", "1.5.5", "x", "1 2"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[64], expected[128];
        snprintf(text, sizeof text, "{a, b} x %s\n", values[i]);
        snprintf(expected, sizeof expected, LINE_1 "value '%s' is not a decimal number from 0",
                 values[i]);
        assert_refused(PM_ERR_FORMAT, text, expected);
    }
    assert_refused(PM_ERR_FORMAT, "{a, b} x 9223372036854775808",
                   LINE_1 "value '9223372036854775808' has too many digits: at most "
                          "9223372036854775807 without its point");
    assert_refused(PM_ERR_LIMIT, "{a, b} x 0.5\n{a, b} x 9223372036854775807",
                   LINE_2 "the value is too large for the 1 decimals of metric 'x'");
    assert_refused(PM_ERR_FORMAT, "\nMETRIC\n{a, b} x 1", LINE_2 "METRIC record without 'name'");
    assert_refused(PM_ERR_FORMAT, "METRIC\n", LINE_1 "METRIC record without 'name'");
    assert_refused(PM_ERR_FORMAT, "METRIC\nunit = s\n",
                   LINE_2 "a METRIC record begins with 'name'");
    assert_refused(PM_ERR_FORMAT, "METRIC\nname = x\nname = y\n",
                   "cost file 'a.costs' line 3: metric 'y' was described before");
    assert_refused(
        PM_ERR_FORMAT, "METRIC\nname = x\naggregation = mean\n",
        "cost file 'a.costs' line 3: 'mean' is not one of sum, average, minimum, maximum");
    assert_refused(PM_ERR_FORMAT, "METRIC\nname = x\ndecimals = 1\n{a, b} x 0.25\n",
                   "cost file 'a.costs' line 4: metric 'x' has 1 decimals, not 2");
    assert_refused(
        PM_ERR_FORMAT, "METRIC\nname = x\nscale = 1\n",
        "cost file 'a.costs' line 3: 'scale' is not one of name, unit, kind, aggregation, "
        "decimals, description");
    struct pm_costs *costs;
    assert_int_equal(pm_costs_read("a.costs", "{a\0, b} x 1", 11, NULL, &costs), PM_ERR_FORMAT);
    assert_int_equal(pm_costs_read_file("/no/such/file", NULL, &costs), PM_ERR_SYSTEM);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const texts[] = {
        ADDRESSES "ob=(1) a\nfl=(1) a.c\nfn=(1) f\n0x10 1 5 1\n+1 +1 1\n",
        "METRIC\nname = x\nunit = %\n{A::a, B::b} x 1.5\n{\"c, \", b} y 2\n"};
    for (size_t i = 0; i < 2; i++) {
        size_t n_failed = 0;
        for (long n = 1;; n++, n_failed++) {
            struct pm_costs *costs = NULL;
            pm_alloc_fail_at(n);
            enum pm_status status =
                pm_costs_read("a.costs", texts[i], strlen(texts[i]), NULL, &costs);
            bool done = pm_alloc_fail_pending();
            pm_alloc_fail_at(0);
            assert_int_equal(status, done ? PM_OK : PM_ERR_MEMORY);
            if (done) {
                pm_costs_free(costs);
                break;
            }
        }
        assert_true(n_failed > 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_costs_of_addresses_are_taken),
        cmocka_unit_test(lines_do_without_addresses),
        cmocka_unit_test(addresses_are_those_of_the_elf_file),
        cmocka_unit_test(parts_of_a_file_add_up),
        cmocka_unit_test(what_is_no_callgrind_file_is_refused),
        cmocka_unit_test(the_papers_example_can_be_written),
        cmocka_unit_test(metrics_are_described),
        cmocka_unit_test(the_golden_file_is_read),
        cmocka_unit_test(nothing_is_read_from_nothing),
        cmocka_unit_test(malformed_text_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
