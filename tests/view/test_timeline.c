/* Time lines: whatever steps are asked for, they have the time that the calls have, to the tick,
 * and the archive's coarse steps change nothing. */
#include "mapping/view/timeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    N_EVENTS = 40000,
    EVENTS_PER_BLOCK = 300,
    N_SENTENCES = 40,
    DEEPEST = 30,
    N_QUESTIONS = 400
};

static const struct pm_trace_clock clock_of_test = {.start_ns = 12345, .tick_hz = 2100000000};

static struct pm_trace_tick events[N_EVENTS];
static size_t n_events;

static uint32_t random_number(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Calls of two stacks; bursts, and long sleeps; times may go back. */
static void make_events(void)
{
    uint32_t state = 7, depth[2] = {0, 0}, stacks[2][DEEPEST];
    uint64_t ticks = 1000;
    n_events = 0;
    for (size_t i = 0; i < N_EVENTS; i++) {
        unsigned foreign = random_number(&state) % 60 == 0;
        bool is_leave =
            depth[foreign] > 0 && (random_number(&state) % 2 || depth[foreign] == DEEPEST);
        bool is_slow = i / 2500 % 3 == 1;
        ticks += random_number(&state) % (is_slow ? 60000 : 90);
        if (random_number(&state) % 4000 == 0)
            ticks += 3000000000u;
        if (i % 100 && random_number(&state) % 50 == 0)
            ticks -= 5;
        events[n_events++] =
            (struct pm_trace_tick){.is_leave = is_leave,
                                   .flags = foreign ? PM_TRACE_FOREIGN : 0u,
                                   .ticks = ticks,
                                   .sentence = 1 + random_number(&state) % N_SENTENCES};
        if (is_leave)
            events[i].sentence = stacks[foreign][--depth[foreign]];
        else
            stacks[foreign][depth[foreign]++] = events[i].sentence;
    }
}

/* --- an archive of them --- */

struct making {
    sqlite3 *db;
};

static enum pm_status put_row(void *context, unsigned level, uint64_t first, uint64_t start_ns,
                              uint64_t end_ns, const void *data, size_t len, struct pm_error *err)
{
    struct making *making = context;
    sqlite3_stmt *insert;
    (void)err;
    assert_int_equal(sqlite3_prepare_v2(making->db, "INSERT INTO trace_steps VALUES(1,?,?,?,?,?)",
                                        -1, &insert, NULL),
                     SQLITE_OK);
    sqlite3_bind_int64(insert, 1, level);
    sqlite3_bind_int64(insert, 2, (sqlite3_int64)first);
    sqlite3_bind_int64(insert, 3, (sqlite3_int64)start_ns);
    sqlite3_bind_int64(insert, 4, (sqlite3_int64)end_ns);
    sqlite3_bind_blob(insert, 5, data, (int)len, SQLITE_TRANSIENT);
    assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
    sqlite3_finalize(insert);
    return PM_OK;
}

static void put_block(sqlite3 *db, int number, uint64_t start_ns, uint64_t end_ns, const void *data,
                      size_t len)
{
    sqlite3_stmt *insert;
    assert_int_equal(
        sqlite3_prepare_v2(db, "INSERT INTO trace_blocks VALUES(1,?,?,?,0,0,?)", -1, &insert, NULL),
        SQLITE_OK);
    sqlite3_bind_int(insert, 1, number);
    sqlite3_bind_int64(insert, 2, (sqlite3_int64)start_ns);
    sqlite3_bind_int64(insert, 3, (sqlite3_int64)end_ns);
    sqlite3_bind_blob(insert, 4, data, (int)len, SQLITE_TRANSIENT);
    assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
    sqlite3_finalize(insert);
}

static uint64_t max_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What collect does with a block (mapping/collect/trace_parts.c). */
static void add_block(sqlite3 *db, struct pm_trace_block *done, struct pm_trace_packer *packer,
                      int number, struct pm_trace_steps_writer *steps)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_trace_block_about about = pm_trace_block_about(done);
    struct pm_trace_shares shares = {0};
    const void *data, *bytes;
    size_t len, n_bytes;
    assert_int_equal(pm_trace_block_pack(done, packer, &err, &data, &len), PM_OK);
    put_block(db, number,
              pm_trace_time_of(&clock_of_test, max_of(about.first_ticks, about.before_ticks)),
              pm_trace_time_of(&clock_of_test, max_of(about.latest_ticks, about.before_ticks)),
              data, len);
    struct pm_trace_piece piece = {.begin_ticks =
                                       about.before_ticks ? about.before_ticks : about.first_ticks,
                                   .n_events = about.n_events};
    piece.level = pm_trace_level_of(&clock_of_test, about.latest_ticks - piece.begin_ticks);
    struct pm_trace_stretch stretch = {clock_of_test, piece.level, 0, UINT64_MAX,
                                       about.before_ticks};
    pm_trace_packer_bytes(packer, &bytes, &n_bytes);
    assert_int_equal(
        pm_trace_block_shares(bytes, n_bytes, &stretch, &err, &shares, &piece.end_ticks), PM_OK);
    assert_true(shares.n_steps <= 9);
    assert_int_equal(pm_trace_steps_add(steps, &piece, &shares, &err), PM_OK);
    pm_trace_shares_release(&shares);
}

static void add_blocks(sqlite3 *db)
{
    struct pm_error err = PM_ERROR_INIT;
    struct making making = {db};
    struct pm_trace_block *block = pm_trace_block_new(), *done = pm_trace_block_new();
    struct pm_trace_packer *packer = pm_trace_packer_new();
    struct pm_trace_steps_writer *steps =
        pm_trace_steps_writer_new(&clock_of_test, put_row, &making);
    int number = 0;
    for (size_t i = 0; i < n_events; i++) {
        assert_true(pm_trace_block_add(block, &events[i]));
        if (pm_trace_block_about(block).n_events < EVENTS_PER_BLOCK && i + 1 < n_events)
            continue;
        assert_true(pm_trace_block_hand_over(block, done));
        add_block(db, done, packer, number++, steps);
    }
    assert_int_equal(pm_trace_steps_end(steps, &err), PM_OK);
    pm_trace_steps_writer_free(steps);
    pm_trace_packer_free(packer);
    pm_trace_block_free(done);
    pm_trace_block_free(block);
}

static void make_archive(const char *path, bool has_steps)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_archive *archive;
    assert_int_equal(pm_archive_create(path, &err, &archive), PM_OK);
    sqlite3 *db = pm_archive_db(archive);
    char sql[600];
    snprintf(sql, sizeof sql,
             "INSERT INTO executions(id, name, command, mode) VALUES(1, 'r', 'c', 'trace');"
             "INSERT INTO processes(id, execution, pid, image, exe, end_kind) VALUES(1, 1, 7, 0, "
             "'e', 'exit');"
             "INSERT INTO threads(id, process, tid, n_threads, name) VALUES(1, 1, 7, 1, 't');"
             "INSERT INTO traces VALUES(1, %llu, %llu, 0, 1, %zu, 0, 0, 1, 1, 0)",
             (unsigned long long)clock_of_test.start_ns, (unsigned long long)clock_of_test.tick_hz,
             n_events);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    add_blocks(db);
    if (!has_steps)
        assert_int_equal(sqlite3_exec(db, "DROP TABLE trace_steps", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(pm_archive_finish(archive, &err), PM_OK);
}

/* --- a plain model --- */

/* The innermost call from event i on; 0: nobody. */
static uint32_t *innermost;

static void find_innermost(void)
{
    uint32_t depth[2] = {0, 0}, stacks[2][DEEPEST];
    innermost = calloc(n_events, sizeof *innermost);
    for (size_t i = 0; i < n_events; i++) {
        unsigned which = events[i].flags & PM_TRACE_FOREIGN ? 1 : 0;
        if (events[i].is_leave)
            depth[which]--;
        else
            stacks[which][depth[which]++] = events[i].sentence;
        innermost[i] = depth[which] ? stacks[which][depth[which] - 1] : 0;
    }
}

/* Ticks of each sentence in [from, to). */
static void model(uint64_t from, uint64_t to, uint64_t of[N_SENTENCES + 1])
{
    uint64_t latest = 0;
    memset(of, 0, (N_SENTENCES + 1) * sizeof *of);
    for (size_t i = 0; i + 1 < n_events; i++) {
        latest = max_of(latest, events[i].ticks);
        uint64_t begin = max_of(latest, from), end = max_of(latest, events[i + 1].ticks);
        end = end < to ? end : to;
        if (end > begin)
            of[innermost[i]] += end - begin;
    }
    of[0] = 0;
}

static uint64_t check_step(unsigned level, uint64_t number, const struct pm_trace_shares *shares,
                           const struct pm_trace_step *step)
{
    uint64_t of[N_SENTENCES + 1], got[N_SENTENCES + 1] = {0}, sum = 0;
    model(pm_trace_tick_at(&clock_of_test, number << level),
          pm_trace_tick_at(&clock_of_test, (number + 1) << level), of);
    for (uint32_t i = 0; step && i < step->n; i++)
        got[shares->shares[step->first + i].sentence] = shares->shares[step->first + i].ticks;
    for (size_t s = 0; s <= N_SENTENCES; s++) {
        assert_int_equal(got[s], of[s]);
        sum += got[s];
    }
    return sum;
}

static void check_stretch(struct pm_timeline *line, uint64_t from_ns, uint64_t to_ns, uint32_t n)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_trace_shares shares = {0};
    struct pm_timeline_steps steps = pm_timeline_steps_of(from_ns, to_ns, n);
    assert_true(steps.end - steps.first <= n);
    assert_int_equal(pm_timeline_shares(line, 0, &steps, &err, &shares), PM_OK);
    uint32_t at = 0;
    for (uint64_t number = steps.first; number < steps.end; number++) {
        bool is_there = at < shares.n_steps && shares.steps[at].number == number;
        (void)check_step(steps.level, number, &shares, is_there ? &shares.steps[at] : NULL);
        at += is_there;
    }
    assert_int_equal(at, shares.n_steps);
    pm_trace_shares_release(&shares);
}

static void check_all(const char *path)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_timeline *line;
    uint32_t state = 3;
    uint64_t begin = clock_of_test.start_ns,
             end = pm_trace_time_of(&clock_of_test, events[n_events - 1].ticks);
    assert_int_equal(pm_timeline_open(path, &err, &line), PM_OK);
    for (int i = 0; i < N_QUESTIONS; i++) {
        uint64_t length = (end - begin) >> random_number(&state) % 24;
        uint64_t from = begin + (uint64_t)random_number(&state) * (end - begin) / 0x1000000;
        check_stretch(line, from > length / 2 ? from - length / 2 : 0, from + length / 2,
                      2 + random_number(&state) % 40);
    }
    check_stretch(line, 0, end, 30);
    check_stretch(line, 0, (uint64_t)INT64_MAX, 30);
    pm_timeline_close(line);
}

static void steps_have_the_time_of_the_calls(void **state)
{
    (void)state;
    make_archive("a.perfmap", true);
    check_all("a.perfmap");
}

static void archives_without_steps_have_the_same_time_line(void **state)
{
    (void)state;
    make_archive("b.perfmap", false);
    check_all("b.perfmap");
}

/* Most of the answers must come from there, or the pyramid is none. */
static void coarse_steps_are_there(void **state)
{
    (void)state;
    struct pm_error err = PM_ERROR_INIT;
    struct pm_archive *archive;
    sqlite3_stmt *query;
    bool has_row;
    assert_int_equal(pm_archive_open("a.perfmap", &err, &archive), PM_OK);
    assert_int_equal(
        pm_archive_prepare(archive, "SELECT count(DISTINCT level) FROM trace_steps", &err, &query),
        PM_OK);
    assert_int_equal(pm_archive_step(archive, query, &err, &has_row), PM_OK);
    assert_true(sqlite3_column_int(query, 0) > 8);
    sqlite3_finalize(query);
    pm_archive_close(archive);
}

static void few_events_come_as_they_are(void **state)
{
    (void)state;
    struct pm_error err = PM_ERROR_INIT;
    struct pm_timeline *line;
    struct pm_timeline_events list = {0};
    bool fits;
    uint64_t from = pm_trace_time_of(&clock_of_test, events[20000].ticks),
             to = pm_trace_time_of(&clock_of_test, events[20100].ticks);
    assert_int_equal(pm_timeline_open("a.perfmap", &err, &line), PM_OK);
    assert_int_equal(pm_timeline_events(line, 0, from, to, 1000, &err, &list, &fits), PM_OK);
    assert_true(fits && list.n >= 90 && list.n < 250);
    assert_int_equal(pm_timeline_events(line, 0, from, to, 50, &err, &list, &fits), PM_OK);
    assert_true(!fits && list.n == 0);
    free(list.items);
    pm_timeline_close(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_have_the_time_of_the_calls),
        cmocka_unit_test(archives_without_steps_have_the_same_time_line),
        cmocka_unit_test(coarse_steps_are_there),
        cmocka_unit_test(few_events_come_as_they_are),
    };
    make_events();
    find_innermost();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(innermost);
    return failed;
}
