/* Nouns of different modes in one run: random programs against the plainest model there is. */
#include "read_run.h"

enum { N_NOUNS = 12, MAX_CONTEXTS = 400, MAX_DEPTH = 30, MAX_STEPS = 1200 };

static uint64_t seed;

static uint32_t random_below(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}

/* A context as the model sees it: its times grow with every step of the clock. */
struct context {
    uint32_t parent, noun; /* noun PM_RUN_NOUN_ROOT: the thread */
    uint64_t n_calls, own, inclusive;
    uint64_t ended, start; /* what the runtime writes: time of ended calls, start of the open one */
    bool open;
};

struct program {
    enum pm_run_mode mode, modes[N_NOUNS]; /* of the process, of its nouns */
    struct context contexts[MAX_CONTEXTS];
    uint32_t n_contexts, stack[MAX_DEPTH], depth; /* contexts that are open, the root first */
    uint64_t counters[N_NOUNS], calls[N_NOUNS];   /* calls: the truth */
    uint64_t clock;
};

static bool is_timed(const struct program *p, uint32_t noun)
{
    return noun == PM_RUN_NOUN_ROOT || p->modes[noun] >= PM_RUN_MODE_EXACT;
}

/* All that is timed and open takes the time, the innermost one as its own. */
static void pass(struct program *p, uint64_t ticks)
{
    bool is_innermost = true;
    p->clock += ticks;
    for (uint32_t i = p->depth; i-- > 0;) {
        struct context *c = &p->contexts[p->stack[i]];
        if (!is_timed(p, c->noun))
            continue;
        c->inclusive += ticks;
        c->own += is_innermost ? ticks : 0;
        is_innermost = false;
    }
}

static void enter(struct program *p, uint32_t noun)
{
    uint32_t parent = p->stack[p->depth - 1], at = 1;
    p->calls[noun]++;
    if (p->modes[noun] == PM_RUN_MODE_COUNT)
        p->counters[noun]++;
    if (p->modes[noun] < PM_RUN_MODE_ACTIVE)
        return;
    while (at < p->n_contexts && (p->contexts[at].parent != parent || p->contexts[at].noun != noun))
        at++;
    if (at == p->n_contexts)
        p->contexts[p->n_contexts++] = (struct context){.parent = parent, .noun = noun};
    struct context *c = &p->contexts[at];
    c->n_calls++;
    c->open = true;
    c->start = p->clock;
    p->stack[p->depth++] = at;
}

static void leave(struct program *p)
{
    struct context *c = &p->contexts[p->stack[--p->depth]];
    c->open = false;
    c->ended += p->clock - c->start;
}

static void run_program(struct program *p, bool is_killed)
{
    static const enum pm_run_mode own[] = {PM_RUN_MODE_OFF, PM_RUN_MODE_COUNT, PM_RUN_MODE_ACTIVE,
                                           PM_RUN_MODE_EXACT, PM_RUN_MODE_TRACE};
    *p = (struct program){.mode = own[random_below(5)], .clock = 1000, .n_contexts = 1, .depth = 1};
    p->contexts[0] = (struct context){.noun = PM_RUN_NOUN_ROOT, .start = 1000, .open = true};
    for (uint32_t i = 0; i < N_NOUNS; i++)
        p->modes[i] = random_below(3) ? own[random_below(5)] : p->mode;
    uint32_t n_steps = random_below(MAX_STEPS);
    for (uint32_t i = 0; i < n_steps && p->n_contexts < MAX_CONTEXTS - 1; i++) {
        pass(p, random_below(4) ? random_below(50) : 0);
        if (p->depth == 1 || (p->depth < MAX_DEPTH && random_below(2)))
            enter(p, random_below(N_NOUNS));
        else
            leave(p);
    }
    while (!is_killed && p->depth > 1) {
        pass(p, random_below(20));
        leave(p);
    }
    pass(p, 1 + random_below(100));
}

static void write_program(const struct program *p, bool is_killed, struct make_run *run)
{
    struct pm_run_noun nouns[N_NOUNS];
    uint64_t offsets[MAX_CONTEXTS] = {0};
    for (uint32_t i = 0; i < N_NOUNS; i++)
        nouns[i] = (struct pm_run_noun){
            .id = i + 1,
            .kind = PM_SLED_ENTRY,
            .own_mode = p->modes[i] == p->mode ? 0 : (uint8_t)(p->modes[i] + 1)};
    make_run_init(run, 100);
    make_run_header(run)->mode = p->mode;
    make_run_object(run, "/bin/heat", "", 0, nouns, N_NOUNS);
    uint64_t thread = make_run_thread(run, 100, 1000, is_killed ? 0 : p->clock, 8);
    for (uint32_t i = 0; i < p->n_contexts; i++) {
        const struct context *c = &p->contexts[i];
        bool is_root = i == 0, timed = is_timed(p, c->noun);
        offsets[i] = make_run_node(run, is_root ? 0 : offsets[c->parent], c->noun,
                                   c->open && (is_killed || !is_root) ? 0x7000 - i : 0,
                                   timed ? c->start : 0, c->n_calls,
                                   is_root && !is_killed ? p->clock - 1000
                                   : timed               ? c->ended
                                                         : 0);
        make_run_node_at(run, offsets[i])->flags = timed && !is_root ? PM_RUN_NODE_TIMED : 0;
    }
    make_run_counts(run, thread, 0, p->counters, N_NOUNS);
    if (is_killed)
        make_run_header(run)->last_tsc = p->clock;
    else
        make_run_end(run, p->clock);
}

static void check_program(const struct program *p, const struct pm_run_file *file)
{
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    uint64_t calls[N_NOUNS] = {0}, all = 0;
    assert_int_equal(thread->n_nodes, p->n_contexts);
    assert_true(checked_sum(file, thread) == thread->wall_ns);
    assert_true(thread->wall_ns == p->clock - 1000);
    for (uint32_t i = 0; i < p->n_contexts; i++) {
        const struct context *c = &p->contexts[i];
        const struct pm_run_file_node *node = &thread->nodes[i];
        bool timed = is_timed(p, c->noun);
        assert_int_equal(node->timing, timed ? PM_RUN_FILE_TIMED : PM_RUN_FILE_UNTIMED);
        assert_int_equal(node->own_ns, timed ? c->own : 0);
        if (timed)
            assert_int_equal(node->inclusive_ns, c->inclusive);
        if (i > 0)
            calls[node->noun] += node->n_calls;
    }
    const struct pm_run_file_counts *counts = pm_run_file_counts(file, 0);
    for (uint32_t i = 0; i < N_NOUNS; i++) {
        assert_int_equal(pm_run_file_noun(file, i)->mode, p->modes[i]);
        calls[i] += counts->counts[i];
        all += calls[i];
        if (p->modes[i] != PM_RUN_MODE_OFF)
            assert_int_equal(calls[i], p->calls[i]);
    }
    assert_int_equal(pm_run_file_process(file)->n_calls, all);
}

static void times_are_those_of_timed_nouns_whatever_lies_between(void **state)
{
    (void)state;
    static struct program program;
    for (uint64_t round = 1; round <= 3000; round++) {
        seed = round * 7919;
        bool is_killed = round % 3 == 0;
        struct make_run run;
        run_program(&program, is_killed);
        write_program(&program, is_killed, &run);
        struct pm_run_file *file = parse(&run, NULL);
        no_complaints(file);
        check_program(&program, file);
        pm_run_file_free(file);
        make_run_release(&run);
    }
}

/* main (timed) -> f (not timed) -> loop (timed for a while): what is known of the loop is its
 * least. */
static void what_was_timed_for_a_while_has_its_least_time(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    make_run_header(&run)->mode = PM_RUN_MODE_ACTIVE;
    make_run_object(&run, "/bin/heat", "", 0, three_nouns, 3);
    make_run_thread(&run, 100, 1000, 2000, 8);
    uint64_t root = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000);
    uint64_t main_node = make_run_node(&run, root, 0, 0, 1100, 1, 800);
    make_run_node_at(&run, main_node)->flags = PM_RUN_NODE_TIMED;
    uint64_t f = make_run_node(&run, main_node, 1, 0, 0, 9, 0);
    make_run_node(&run, f, 2, 0, 1300, 5, 300);
    make_run_end(&run, 3000);
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    const struct pm_run_file_node *nodes = pm_run_file_thread(file, 0)->nodes;
    assert_int_equal(nodes[1].own_ns, 500);
    assert_int_equal(nodes[2].timing, PM_RUN_FILE_UNTIMED);
    assert_int_equal(nodes[2].own_ns, 0);
    assert_int_equal(nodes[2].inclusive_ns, 300);
    assert_int_equal(nodes[3].timing, PM_RUN_FILE_PARTLY_TIMED);
    assert_int_equal(nodes[3].own_ns, 300);
    assert_int_equal(checked_sum(file, pm_run_file_thread(file, 0)), 1000);
    pm_run_file_free(file);
    make_run_release(&run);
}

/* Their modes were those of whole files. */
static void before_version_1_2_all_contexts_are_timed_or_none(void **state)
{
    (void)state;
    for (int active = 0; active < 2; active++) {
        struct make_run run;
        make_killed(&run);
        make_run_version(&run, 1);
        make_run_header(&run)->mode = active ? PM_RUN_MODE_ACTIVE : PM_RUN_MODE_EXACT;
        struct pm_run_file *file = parse(&run, NULL);
        no_complaints(file);
        const struct pm_run_file_node *nodes = pm_run_file_thread(file, 0)->nodes;
        for (int i = 1; i < 4; i++)
            assert_int_equal(nodes[i].timing, active ? PM_RUN_FILE_UNTIMED : PM_RUN_FILE_TIMED);
        assert_int_equal(nodes[3].own_ns, active ? 0 : 60);
        pm_run_file_free(file);
        make_run_release(&run);
    }
}

static void steps_between_modes_are_told(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    make_run_header(&run)->mode = PM_RUN_MODE_ACTIVE;
    make_run_object(&run, "/bin/heat", "", 0, three_nouns, 3);
    make_run_thread(&run, 100, 1000, 2000, 8);
    make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000);
    const struct pm_run_adapted adapted[] = {
        {.noun = 1,
         .mode = PM_RUN_MODE_COUNT,
         .mode_before = 1 + PM_RUN_MODE_ACTIVE,
         .disarmed_tsc = 1200,
         .armed_tsc = 1500,
         .n_events = 7},
        {.noun = 2,
         .mode = PM_RUN_MODE_EXACT,
         .mode_before = 1 + PM_RUN_MODE_OFF,
         .reason = PM_RUN_ADAPTED_ASKED,
         .disarmed_tsc = 1600},
        {.noun = 0, .mode = 77, .mode_before = 99, .disarmed_tsc = 1700},
    };
    make_run_adapted(&run, adapted, 3);
    make_run_end(&run, 3000);
    struct pm_run_file *file = parse(&run, NULL);
    const struct pm_run_file_adapted *first = pm_run_file_adapted(file, 0);
    assert_int_equal(first->mode, PM_RUN_MODE_COUNT);
    assert_int_equal(first->mode_before, PM_RUN_MODE_ACTIVE);
    assert_true(first->is_armed_again && !first->is_asked);
    assert_int_equal(first->armed_ns - first->disarmed_ns, 300);
    const struct pm_run_file_adapted *second = pm_run_file_adapted(file, 1);
    assert_int_equal(second->mode, PM_RUN_MODE_EXACT);
    assert_int_equal(second->mode_before, PM_RUN_MODE_OFF);
    assert_true(second->is_asked && !second->is_armed_again);
    const struct pm_run_file_adapted *damaged = pm_run_file_adapted(file, 2);
    assert_int_equal(damaged->mode, PM_RUN_MODE_OFF);
    assert_int_equal(damaged->mode_before, PM_RUN_MODE_ACTIVE);
    complains(file, "1 nouns were put to a mode that is not known");
    pm_run_file_free(file);
    make_run_release(&run);
}

static void modes_that_cannot_be_are_those_of_the_process(void **state)
{
    (void)state;
    struct pm_run_noun nouns[2] = {three_nouns[0], three_nouns[1]};
    struct make_run run;
    nouns[0].own_mode = 1 + PM_RUN_MODE_TRACE;
    nouns[1].own_mode = 99;
    make_run_init(&run, 100);
    make_run_object(&run, "/bin/heat", "", 0, nouns, 2);
    make_run_end(&run, 3000);
    struct pm_run_file *file = parse(&run, NULL);
    assert_int_equal(pm_run_file_noun(file, 0)->mode, PM_RUN_MODE_TRACE);
    assert_int_equal(pm_run_file_noun(file, 1)->mode, PM_RUN_MODE_EXACT);
    complains(file, "1 nouns have a mode that is not known");
    pm_run_file_free(file);
    make_run_adapted(&run, (struct pm_run_adapted[]){{.noun = 1, .disarmed_tsc = 1500}}, 1);
    make_run_header(&run)->mode = 77; /* nor has the process one */
    file = parse(&run, NULL);
    assert_int_equal(pm_run_file_noun(file, 1)->mode, PM_RUN_MODE_OFF);
    assert_int_equal(pm_run_file_adapted(file, 0)->mode_before, PM_RUN_MODE_OFF);
    complains(file, "mode 77 is not known");
    pm_run_file_free(file);
    make_run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_those_of_timed_nouns_whatever_lies_between),
        cmocka_unit_test(what_was_timed_for_a_while_has_its_least_time),
        cmocka_unit_test(before_version_1_2_all_contexts_are_timed_or_none),
        cmocka_unit_test(steps_between_modes_are_told),
        cmocka_unit_test(modes_that_cannot_be_are_those_of_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
