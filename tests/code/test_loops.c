#include "mapping/code/loops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { ON = PM_LOOPS_GOES_ON, STOP = PM_LOOPS_STOPS, TABLE = PM_LOOPS_JUMPS_ANYWHERE };

static void expect(const struct pm_loops *loops, uint32_t at, uint32_t head, uint32_t last)
{
    assert_true(loops->innermost[at] > 0 && loops->innermost[at] <= loops->n);
    assert_int_equal(loops->loops[loops->innermost[at] - 1].head, head);
    assert_int_equal(loops->loops[loops->innermost[at] - 1].last, last);
}

static void code_without_jumps_back_has_no_loop(void **state)
{
    (void)state;
    const unsigned char ends[] = {ON, ON, ON, STOP};
    const struct pm_loops_jump jumps[] = {{0, 2}, {1, 3}};
    struct pm_loops loops;
    assert_true(pm_loops_find(4, ends, jumps, 2, &loops));
    assert_int_equal(loops.n, 0);
    pm_loops_release(&loops);
    assert_true(pm_loops_find(0, ends, jumps, 0, &loops));
    pm_loops_release(&loops);
}

static void loops_lie_in_each_other(void **state)
{
    (void)state;
    /* 0 / 1 outer head / 2-3 inner / 4 outer's end / 5 out */
    const unsigned char ends[] = {ON, ON, ON, ON, ON, STOP};
    const struct pm_loops_jump jumps[] = {{4, 1}, {3, 2}};
    struct pm_loops loops;
    assert_true(pm_loops_find(6, ends, jumps, 2, &loops));
    assert_int_equal(loops.n, 2);
    assert_int_equal(loops.innermost[0], 0);
    assert_int_equal(loops.innermost[5], 0);
    expect(&loops, 1, 1, 4);
    expect(&loops, 2, 2, 3);
    expect(&loops, 3, 2, 3);
    expect(&loops, 4, 1, 4);
    assert_int_equal(loops.loops[loops.innermost[2] - 1].parent, loops.innermost[1]);
    assert_int_equal(loops.loops[loops.innermost[1] - 1].parent, 0);
    pm_loops_release(&loops);
}

static void a_loop_has_all_its_jumps_back(void **state)
{
    (void)state;
    /* for (;;) { if (..) continue; .. }, tested at its end, which is entered first */
    const unsigned char ends[] = {STOP, ON, ON, STOP, ON, ON, STOP};
    const struct pm_loops_jump jumps[] = {{0, 5}, {2, 4}, {3, 5}, {5, 1}};
    struct pm_loops loops;
    assert_true(pm_loops_find(7, ends, jumps, 4, &loops));
    assert_int_equal(loops.n, 1);
    for (uint32_t i = 1; i <= 5; i++)
        expect(&loops, i, 5, 4);
    assert_int_equal(loops.innermost[6], 0);
    pm_loops_release(&loops);
}

static void what_has_two_entries_is_no_loop(void **state)
{
    (void)state;
    const unsigned char ends[] = {ON, ON, ON, STOP};
    const struct pm_loops_jump jumps[] = {{0, 2}, {2, 1}};
    struct pm_loops loops;
    assert_true(pm_loops_find(4, ends, jumps, 2, &loops));
    assert_int_equal(loops.n, 0);
    pm_loops_release(&loops);
}

static void what_a_table_leads_to_is_in_the_loop(void **state)
{
    (void)state;
    /* 0 / 1 head / 2 jump through a table / 3-4 and 5-6 cases that go back / 7 out, by the
     * head's jump */
    const unsigned char ends[] = {ON, ON, TABLE, ON, STOP, ON, STOP, STOP};
    const struct pm_loops_jump jumps[] = {{1, 7}, {4, 1}, {6, 1}};
    struct pm_loops loops;
    assert_true(pm_loops_find(8, ends, jumps, 3, &loops));
    assert_int_equal(loops.n, 1);
    for (uint32_t i = 1; i <= 6; i++)
        expect(&loops, i, 1, 6);
    assert_int_equal(loops.innermost[7], 0);
    pm_loops_release(&loops);
}

static void a_loop_of_one_instruction_is_one(void **state)
{
    (void)state;
    const unsigned char ends[] = {ON, ON, STOP};
    const struct pm_loops_jump jumps[] = {{1, 1}};
    struct pm_loops loops;
    assert_true(pm_loops_find(3, ends, jumps, 1, &loops));
    expect(&loops, 1, 1, 1);
    pm_loops_release(&loops);
}

/* Against a slow, plain model: h dominates b when b cannot be reached without h; the body is
 * what reaches the jump back without h. */
enum { MAX = 24 };
struct model {
    uint32_t n, n_jumps;
    unsigned char ends[MAX];
    struct pm_loops_jump jumps[MAX];
};

static void walk(const struct model *m, uint32_t from, uint32_t without, bool back, bool *seen)
{
    bool changed = true;
    memset(seen, 0, m->n);
    if (from == without)
        return;
    seen[from] = true;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < m->n_jumps + m->n; i++) {
            uint32_t a = i < m->n_jumps ? m->jumps[i].from : i - m->n_jumps,
                     b = i < m->n_jumps ? m->jumps[i].to : a + 1;
            if (b >= m->n || (i >= m->n_jumps && m->ends[a] != ON))
                continue;
            uint32_t x = back ? b : a, y = back ? a : b;
            if (seen[x] && !seen[y] && y != without)
                changed = seen[y] = true;
        }
    }
}

static void random_code_has_the_loops_of_a_plain_model(void **state)
{
    (void)state;
    srand(7);
    int n_found = 0;
    for (int round = 0; round < 20000; round++) {
        struct model m = {.n = 3 + (uint32_t)rand() % (MAX - 3), .n_jumps = (uint32_t)rand() % 8};
        bool reached[MAX], around[MAX], body[MAX] = {false};
        for (uint32_t i = 0; i < m.n; i++)
            m.ends[i] = rand() % 8 == 0 || i + 1 == m.n ? STOP : ON;
        for (uint32_t i = 0; i < m.n_jumps; i++)
            m.jumps[i] = (struct pm_loops_jump){(uint32_t)rand() % m.n, (uint32_t)rand() % m.n};
        walk(&m, 0, MAX, false, reached);
        for (uint32_t i = 0; i < m.n; i++) /* the model knows no exceptions */
            if (!reached[i] && (i == 0 || m.ends[i - 1] != ON))
                goto next;
        struct pm_loops loops;
        assert_true(pm_loops_find(m.n, m.ends, m.jumps, m.n_jumps, &loops));
        for (uint32_t at = 0; at < m.n; at++) {
            uint32_t best = MAX + 1, head = MAX;
            for (uint32_t h = 0; h < m.n; h++) {
                bool is_loop = false;
                memset(body, 0, sizeof body);
                walk(&m, 0, h, false, around); /* what h does not dominate */
                for (uint32_t i = 0; i < m.n_jumps + m.n; i++) {
                    uint32_t a = i < m.n_jumps ? m.jumps[i].from : i - m.n_jumps,
                             b = i < m.n_jumps ? m.jumps[i].to : a + 1;
                    if (b != h || (i >= m.n_jumps && m.ends[a] != ON) || around[a] || !reached[a])
                        continue;
                    bool part[MAX];
                    is_loop = true;
                    body[h] = true;
                    walk(&m, a, h, true, part);
                    for (uint32_t k = 0; k < m.n; k++)
                        body[k] |= part[k] && reached[k];
                }
                uint32_t size = 0;
                for (uint32_t k = 0; k < m.n; k++)
                    size += body[k];
                if (is_loop && body[at] && size < best) {
                    best = size;
                    head = h;
                }
            }
            uint32_t found = loops.n ? loops.innermost[at] : 0;
            assert_int_equal(found ? loops.loops[found - 1].head : MAX, head);
            n_found += found != 0;
        }
        pm_loops_release(&loops);
    next:;
    }
    assert_true(n_found > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_without_jumps_back_has_no_loop),
        cmocka_unit_test(loops_lie_in_each_other),
        cmocka_unit_test(a_loop_has_all_its_jumps_back),
        cmocka_unit_test(what_has_two_entries_is_no_loop),
        cmocka_unit_test(what_a_table_leads_to_is_in_the_loop),
        cmocka_unit_test(a_loop_of_one_instruction_is_one),
        cmocka_unit_test(random_code_has_the_loops_of_a_plain_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
