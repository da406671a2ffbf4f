/* Calls that processes take part in together: who waited for whom, and how long. */
#include "mapping/archive/archive.h"
#include "mapping/archive/load.h"
#include "mapping/collect/collect.h"
#include "../run/make_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "in_folder.h"

enum { WORLD = 77, NOT_ONE_MORE = 0 };

/* Machines of ranks, whose clocks show so much more, and run so much faster. */
enum { MOST_RANKS = 4 };
static struct machine {
    const char *node; /* NULL: not known */
    int64_t ahead_ns;
    double drift;
} machines[MOST_RANKS];

static uint64_t shown(uint32_t rank, uint64_t time_ns)
{
    const struct machine *machine = &machines[rank % MOST_RANKS];
    return time_ns + (uint64_t)(machine->ahead_ns + (int64_t)(machine->drift * (double)time_ns));
}

/* A process whose function (noun 11 + rank) made these calls. n_told: what the chunk says. */
static void write_rank(uint32_t rank, const struct pm_run_meeting *meetings, size_t n,
                       uint64_t n_told)
{
    const struct pm_run_noun code = {.id = 11 + rank, .kind = PM_SLED_ENTRY};
    struct make_run run;
    char path[64];
    make_run_init(&run, 100 + rank);
    if (machines[rank % MOST_RANKS].node)
        make_run_place(&run, machines[rank % MOST_RANKS].node, "");
    make_run_object(&run, "/bin/heat", "", 0, &code, 1);
    make_run_thread(&run, 100 + rank, 1000, 2000, 16);
    uint64_t root = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000),
             f = make_run_node(&run, root, 0, 0, 1000, 1, 0),
             chunk = make_run_chunk(&run, PM_RUN_CHUNK_MEETINGS, PM_RUN_PAGE, 0);
    for (size_t i = 0; i < n; i++) {
        struct pm_run_meeting m = meetings[i];
        m.what = WORLD;
        m.self = (int32_t)rank;
        m.begin_ns = shown(rank, m.begin_ns);
        m.end_ns = shown(rank, m.end_ns);
        m.asked_ns = m.asked_ns ? shown(rank, m.asked_ns) : 0;
        m.place = m.place ? 0 : (uint32_t)(f / 64); /* place 1: nowhere */
        memcpy(make_run_at(&run, chunk + 64 + i * sizeof m), &m, sizeof m);
    }
    ((struct pm_run_chunk *)make_run_at(&run, chunk))->n_items = n_told ? n_told : n;
    make_run_end(&run, 3000);
    snprintf(path, sizeof path, "x.run/%u.0.pmr", (unsigned)(100 + rank));
    assert_true(make_run_write(&run, path));
    make_run_release(&run);
}

#define WRITE(rank, ...)                                              \
    write_rank((rank), (const struct pm_run_meeting[]){__VA_ARGS__},  \
               sizeof((const struct pm_run_meeting[]){__VA_ARGS__}) / \
                   sizeof(struct pm_run_meeting),                     \
               NOT_ONE_MORE)

static bool warns(const char *text)
{
    const char *dirs[] = {"x.run"};
    struct pm_error err = PM_ERROR_INIT;
    struct pm_collect_result result = {0};
    bool found = false;
    if (pm_collect(dirs, 1, "x.perfmap", NULL, &err, &result) != PM_OK)
        fail_msg("%s", pm_error_text(&err));
    for (size_t i = 0; i < result.n_warnings; i++)
        found |= strstr(result.warnings[i], text) != NULL;
    pm_collect_result_release(&result);
    return found;
}

/* So that each report of the archive says it. */
static bool is_marked(const char *text)
{
    struct pm_archive_data *data;
    bool found = false;
    assert_int_equal(pm_archive_load("x.perfmap", 0, NULL, &data), PM_OK);
    for (uint32_t i = 0; i < data->n_messages; i++)
        found |= data->messages[i].process == PM_NONE && strstr(data->messages[i].text, text);
    pm_archive_data_free(data);
    return found;
}

/* What the function of a rank waited; -1: nothing is known. */
static int64_t waited(uint32_t rank)
{
    struct pm_archive *archive;
    sqlite3_stmt *query;
    bool has_row;
    char sql[512];
    snprintf(sql, sizeof sql,
             "SELECT sum(value) FROM costs JOIN metrics m ON m.id = metric JOIN contexts c ON c.id "
             "= context JOIN sentences s ON s.id = c.sentence JOIN named_nouns n ON n.id = s.noun "
             "WHERE m.name = 'mpi_wait_ns' AND n.pif_id = %u",
             (unsigned)(11 + rank));
    assert_int_equal(pm_archive_open("x.perfmap", NULL, &archive), PM_OK);
    assert_int_equal(pm_archive_prepare(archive, sql, NULL, &query), PM_OK);
    assert_int_equal(pm_archive_step(archive, query, NULL, &has_row), PM_OK);
    int64_t got = has_row && sqlite3_column_type(query, 0) != SQLITE_NULL
                      ? sqlite3_column_int64(query, 0)
                      : -1;
    sqlite3_finalize(query);
    pm_archive_close(archive);
    return got;
}

#define SENT(begin, end, to, number)                                                               \
    {                                                                                              \
        .kind = PM_RUN_MEETING_SENT, .begin_ns = (begin), .end_ns = (end), .peer = (to), .tag = 5, \
        .order = (number)                                                                          \
    }
#define RECEIVED(asked, begin, end, from, number)                                  \
    {                                                                              \
        .kind = PM_RUN_MEETING_RECEIVED, .asked_ns = (asked), .begin_ns = (begin), \
        .end_ns = (end), .peer = (from), .tag = 5, .order = (number)               \
    }

static void a_receive_waits_until_it_is_sent(void **state)
{
    (void)state;
    WRITE(0, SENT(500, 510, 1, 1), SENT(900, 910, 1, 2));
    WRITE(1, RECEIVED(100, 100, 520, 0, 1), RECEIVED(950, 950, 960, 0, 2));
    assert_false(warns("no partner"));
    assert_int_equal(waited(1), 400); /* the second was there already */
    assert_int_equal(waited(0), -1);  /* both were sent at once */
}

static void a_send_waits_for_who_asks_late(void **state)
{
    (void)state;
    WRITE(0, SENT(100, 820, 1, 1));
    WRITE(1, RECEIVED(800, 800, 830, 0, 1));
    assert_false(warns("no partner"));
    assert_int_equal(waited(0), 700);
    assert_int_equal(waited(1), -1);
}

/* The first to be asked for gets the first that is sent, also if it is looked at last. */
static void messages_keep_their_order(void **state)
{
    (void)state;
    WRITE(0, SENT(300, 310, 1, 7), SENT(700, 710, 1, 9));
    WRITE(1, RECEIVED(20, 100, 720, 0, 4), RECEIVED(10, 800, 810, 0, 3));
    assert_false(warns("no partner"));
    assert_int_equal(waited(1), 600);
}

static void one_wait_for_several_counts_once(void **state)
{
    (void)state;
    WRITE(0, SENT(300, 310, 2, 1));
    WRITE(1, SENT(450, 460, 2, 1));
    WRITE(2, RECEIVED(10, 100, 500, 0, 1), RECEIVED(11, 100, 500, 1, 2));
    assert_false(warns("no partner"));
    assert_int_equal(waited(2), 350);
}

static void a_started_send_is_waited_for(void **state)
{
    (void)state;
    WRITE(0,
          {.kind = PM_RUN_MEETING_POSTED,
           .begin_ns = 10,
           .end_ns = 20,
           .peer = 1,
           .tag = 5,
           .order = 1},
          {.kind = PM_RUN_MEETING_AWAITED,
           .begin_ns = 30,
           .end_ns = 240,
           .peer = 1,
           .tag = 5,
           .order = 1},
          {.kind = PM_RUN_MEETING_POSTED,
           .begin_ns = 300,
           .end_ns = 310,
           .peer = 1,
           .tag = 5,
           .order = 2},
          {.kind = PM_RUN_MEETING_AWAITED,
           .begin_ns = 320,
           .end_ns = 330,
           .peer = 1,
           .tag = 5,
           .order = 2});
    WRITE(1, RECEIVED(230, 230, 250, 0, 1), RECEIVED(400, 400, 410, 0, 2));
    assert_false(warns("no partner"));
    assert_int_equal(waited(0), 200); /* the second had gone before it was asked for */
}

#define GROUP(the_kind, begin, end, the_root)                                                      \
    {                                                                                              \
        .kind = (the_kind), .asked_ns = (begin), .begin_ns = (begin), .end_ns = (end), .order = 1, \
        .peer = (the_root), .n_members = 3                                                         \
    }

static void a_group_waits_for_its_last_one(void **state)
{
    (void)state;
    WRITE(0, GROUP(PM_RUN_MEETING_ALL, 100, 510, -1));
    WRITE(1, GROUP(PM_RUN_MEETING_ALL, 300, 510, -1));
    WRITE(2, GROUP(PM_RUN_MEETING_ALL, 500, 510, -1));
    assert_false(warns("no partner"));
    assert_int_equal(waited(0), 400);
    assert_int_equal(waited(1), 200);
    assert_int_equal(waited(2), -1);
}

static void roots_are_waited_for_and_wait(void **state)
{
    (void)state;
    WRITE(0, GROUP(PM_RUN_MEETING_FROM_ROOT, 100, 350, 1));
    WRITE(1, GROUP(PM_RUN_MEETING_FROM_ROOT, 300, 310, 1));
    WRITE(2, GROUP(PM_RUN_MEETING_FROM_ROOT, 900, 910, 1));
    assert_false(warns("no partner"));
    assert_int_equal(waited(0), 200);
    assert_int_equal(waited(1), -1);
    assert_int_equal(waited(2), -1);
    WRITE(0, GROUP(PM_RUN_MEETING_TO_ROOT, 100, 120, 1));
    WRITE(1, GROUP(PM_RUN_MEETING_TO_ROOT, 300, 650, 1));
    WRITE(2, GROUP(PM_RUN_MEETING_TO_ROOT, 600, 610, 1));
    assert_false(warns("no partner"));
    assert_int_equal(waited(0), -1);
    assert_int_equal(waited(1), 300);
}

static void who_is_missing_is_said(void **state)
{
    (void)state;
    WRITE(0, GROUP(PM_RUN_MEETING_ALL, 100, 510, -1), SENT(600, 700, 2, 5));
    WRITE(1, GROUP(PM_RUN_MEETING_ALL, 300, 510, -1));
    assert_true(warns("3 of 3 calls of MPI have no partner here"));
    assert_true(is_marked("3 of 3 calls of MPI have no partner here"));
    assert_int_equal(waited(0), 200); /* at least */
}

/* Ends before begins, unknown kinds, calls without a place, and a count beyond the room. */
static void damage_is_left_out(void **state)
{
    (void)state;
    const struct pm_run_meeting some[] = {RECEIVED(100, 900, 520, 0, 1),
                                          {.kind = 99, .end_ns = 5},
                                          {.kind = 0, .end_ns = 5},
                                          {.kind = PM_RUN_MEETING_ALL, .place = 1, .end_ns = 5},
                                          RECEIVED(100, 100, 520, 0, 2)};
    WRITE(0, SENT(500, 510, 1, 1));
    write_rank(1, some, sizeof some / sizeof *some, UINT64_MAX);
    assert_false(warns("no partner"));
    assert_int_equal(waited(1), 400);
}

/* --- clocks --- */

enum { N_ROUNDS = 20, FAST_NS = 3000 };

static void set_machine(uint32_t rank, const char *node, int64_t ahead_ns, double drift)
{
    machines[rank] = (struct machine){node, ahead_ns, drift};
}

/* Each round the first rank sends, for which the second waits 300 us; and the other way, 200 us. */
static void write_rounds(uint32_t first, uint32_t second, bool comes_back)
{
    struct pm_run_meeting a[2 * N_ROUNDS], b[2 * N_ROUNDS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < N_ROUNDS; i++) {
        uint64_t t = 1000000 + (uint64_t)i * 50000000;
        a[n] = (struct pm_run_meeting)SENT(t, t + 2000, (int32_t)second, 2 * i);
        b[n++] = (struct pm_run_meeting)RECEIVED(t - 300000, t - 300000, t + FAST_NS,
                                                 (int32_t)first, 2 * i);
        t += 400000;
        if (!comes_back)
            continue;
        b[n] = (struct pm_run_meeting)SENT(t, t + 2000, (int32_t)first, 2 * i + 1);
        a[n++] = (struct pm_run_meeting)RECEIVED(t - 200000, t - 200000, t + FAST_NS,
                                                 (int32_t)second, 2 * i + 1);
    }
    write_rank(first, a, n, NOT_ONE_MORE);
    write_rank(second, b, n, NOT_ONE_MORE);
}

#define IS_ABOUT(ns, wanted)                                              \
    assert_in_range((uint64_t)(ns), (uint64_t)(wanted)-N_ROUNDS *FAST_NS, \
                    (uint64_t)(wanted) + N_ROUNDS * FAST_NS)

static void messages_both_ways_tell_how_far_clocks_are_apart(void **state)
{
    (void)state;
    static const int64_t ahead[] = {0, 5, 1000000, 77000000000, -300000000000};
    for (size_t i = 0; i < sizeof ahead / sizeof *ahead; i++) {
        set_machine(0, "a", 400000000000, 0);
        set_machine(1, "b", 400000000000 + ahead[i], 0);
        write_rounds(0, 1, true);
        assert_false(warns("clocks"));
        IS_ABOUT(waited(1), N_ROUNDS * 300000);
        IS_ABOUT(waited(0), N_ROUNDS * 200000);
    }
}

/* 40 us in this second: more than a message takes. */
static void clocks_that_drift_are_followed(void **state)
{
    (void)state;
    set_machine(0, "a", 0, 0);
    set_machine(1, "b", 123456789012, 40e-6);
    write_rounds(0, 1, true);
    assert_false(warns("clocks"));
    IS_ABOUT(waited(1), N_ROUNDS * 300000);
    IS_ABOUT(waited(0), N_ROUNDS * 200000);
}

static void clocks_that_no_message_compares_are_said(void **state)
{
    (void)state;
    set_machine(0, "a", 0, 0);
    set_machine(1, "b", 5000000000, 0);
    write_rounds(0, 1, false);
    assert_true(warns("40 of 40 calls of MPI are of machines whose clocks could not be compared"));
    assert_int_equal(waited(1), -1);
}

/* One machine, and no node that is told: as they are. */
static void one_machine_has_one_clock(void **state)
{
    (void)state;
    set_machine(0, "a", 0, 0);
    set_machine(1, "a", 0, 0);
    write_rounds(0, 1, false);
    assert_false(warns("clocks"));
    assert_int_equal(waited(1), N_ROUNDS * 300000);
}

/* Each machine is the last to come in turn. */
static void barriers_tell_how_far_clocks_are_apart(void **state)
{
    (void)state;
    set_machine(0, "a", 0, 0);
    set_machine(1, "b", 9000000000, 10e-6);
    set_machine(2, "c", -2000000000, 0);
    struct pm_run_meeting meetings[N_ROUNDS];
    uint64_t wanted[3] = {0};
    for (uint32_t r = 0; r < 3; r++) {
        for (uint32_t i = 0; i < N_ROUNDS; i++) {
            uint64_t t = 9000000000 + (uint64_t)i * 1000000, early = (r + i) % 3 * 100000;
            meetings[i] =
                (struct pm_run_meeting)GROUP(PM_RUN_MEETING_ALL, t - early, t + FAST_NS, -1);
            meetings[i].order = i;
            wanted[r] += early;
        }
        write_rank(r, meetings, N_ROUNDS, NOT_ONE_MORE);
    }
    assert_false(warns("clocks"));
    for (uint32_t r = 0; r < 3; r++)
        IS_ABOUT(waited(r), wanted[r]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_receive_waits_until_it_is_sent),
        IN_FOLDER(a_send_waits_for_who_asks_late),
        IN_FOLDER(messages_keep_their_order),
        IN_FOLDER(one_wait_for_several_counts_once),
        IN_FOLDER(a_started_send_is_waited_for),
        IN_FOLDER(a_group_waits_for_its_last_one),
        IN_FOLDER(roots_are_waited_for_and_wait),
        IN_FOLDER(who_is_missing_is_said),
        IN_FOLDER(damage_is_left_out),
        IN_FOLDER(barriers_tell_how_far_clocks_are_apart),
        IN_FOLDER(one_machine_has_one_clock),
        IN_FOLDER(clocks_that_no_message_compares_are_said),
        IN_FOLDER(clocks_that_drift_are_followed),
        IN_FOLDER(messages_both_ways_tell_how_far_clocks_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
