/* Blocks of traces: what goes in comes out, and damage is refused. */
#include "mapping/archive/trace_block.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

enum { N_EVENTS = 20000 };

static uint32_t random_number(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* A walk over calls on two stacks; times may go back. */
static size_t make_events(struct pm_trace_tick *events)
{
    uint32_t state = 1, depth[2] = {0, 0}, stacks[2][64];
    uint64_t ticks = 1000, entered[2][64];
    for (size_t i = 0; i < N_EVENTS; i++) {
        unsigned foreign = random_number(&state) % 50 == 0;
        bool is_leave = depth[foreign] > 0 && (random_number(&state) % 2 || depth[foreign] == 60);
        ticks +=
            random_number(&state) % 7 == 0 ? random_number(&state) : random_number(&state) % 300;
        if (random_number(&state) % 100 == 0)
            ticks -= 7;
        uint32_t sentence = 1 + random_number(&state) % (i % 1000 < 500 ? 3 : 70000);
        events[i] = (struct pm_trace_tick){
            .is_leave = is_leave,
            .flags = (foreign ? PM_TRACE_FOREIGN : 0u) |
                     (random_number(&state) % 500 == 0 ? (unsigned)PM_TRACE_CUT : 0u),
            .ticks = ticks};
        if (is_leave) {
            depth[foreign]--;
            events[i].sentence = stacks[foreign][depth[foreign]];
            events[i].enter_ticks = entered[foreign][depth[foreign]];
        } else {
            events[i].sentence = sentence;
            stacks[foreign][depth[foreign]] = sentence;
            entered[foreign][depth[foreign]] = ticks;
        }
        events[i].depth = is_leave ? depth[foreign] : depth[foreign]++;
    }
    return N_EVENTS;
}

static void blocks_hold_what_was_put_in(void **state)
{
    (void)state;
    struct pm_trace_tick *events = calloc(N_EVENTS, sizeof *events), got;
    struct pm_trace_block *writer = pm_trace_block_new(), *reader = pm_trace_block_new();
    struct pm_trace_block *done = pm_trace_block_new();
    struct pm_trace_packer *packer = pm_trace_packer_new();
    struct pm_error err = PM_ERROR_INIT;
    size_t n = make_events(events), read = 0, n_blocks = 0;
    for (size_t i = 0; i < n; i++) {
        assert_true(pm_trace_block_add(writer, &events[i]));
        if (pm_trace_block_about(writer).n_events < 1777 && i + 1 < n)
            continue;
        const void *data;
        size_t len;
        bool has_event;
        uint64_t ticks;
        uint32_t n_open = pm_trace_block_about(writer).n_open;
        assert_true(pm_trace_block_hand_over(writer, done));
        assert_int_equal(pm_trace_block_pack(done, packer, &err, &data, &len), PM_OK);
        assert_int_equal(pm_trace_block_read(reader, data, len, &err), PM_OK);
        size_t open = 0;
        while (pm_trace_block_open_frame(reader, open, &got))
            open++;
        assert_int_equal(open, n_open);
        for (;;) {
            bool has_next = pm_trace_block_peek(reader, &ticks);
            assert_int_equal(pm_trace_block_next(reader, &err, &got, &has_event), PM_OK);
            assert_int_equal(has_event, has_next);
            if (!has_event)
                break;
            const struct pm_trace_tick *put = &events[read++];
            assert_int_equal(got.ticks, ticks);
            assert_int_equal(got.ticks, put->ticks);
            assert_int_equal(got.is_leave, put->is_leave);
            assert_int_equal(got.flags, put->flags);
            assert_int_equal(got.sentence, put->sentence);
            assert_int_equal(got.depth, put->depth);
            assert_int_equal(got.enter_ticks, put->enter_ticks);
        }
        assert_int_equal(read, i + 1);
        n_blocks++;
    }
    assert_int_equal(read, n);
    assert_true(n_blocks > 10);
    pm_trace_block_free(writer);
    pm_trace_block_free(done);
    pm_trace_packer_free(packer);
    pm_trace_block_free(reader);
    free(events);
}

static void time_on_foreign_stacks_is_not_the_own_stacks(void **state)
{
    (void)state;
    static const struct pm_trace_tick events[] = {
        {.sentence = 1, .ticks = 100},
        {.sentence = 2, .ticks = 110, .flags = PM_TRACE_FOREIGN},
        {.is_leave = true, .ticks = 130, .flags = PM_TRACE_FOREIGN},
        {.sentence = 3, .ticks = 150},
        {.is_leave = true, .ticks = 155},
        {.is_leave = true, .ticks = 160},
    };
    static const uint64_t spent[] = {0, 0, 20, 0, 5, 20};
    struct pm_trace_block *block = pm_trace_block_new(), *reader = pm_trace_block_new();
    struct pm_trace_block *done = pm_trace_block_new();
    struct pm_trace_packer *packer = pm_trace_packer_new();
    struct pm_error err = PM_ERROR_INIT;
    /* The same when a block ends at any place. */
    for (size_t cut = 1; cut <= 6; cut++) {
        size_t read = 0;
        for (size_t i = 0; i < 6; i++) {
            const void *data;
            size_t len;
            bool has_event;
            struct pm_trace_tick got;
            assert_true(pm_trace_block_add(block, &events[i]));
            if (i + 1 != cut && i + 1 != 6)
                continue;
            assert_true(pm_trace_block_hand_over(block, done));
            assert_int_equal(pm_trace_block_pack(done, packer, &err, &data, &len), PM_OK);
            assert_int_equal(pm_trace_block_read(reader, data, len, &err), PM_OK);
            while (pm_trace_block_next(reader, &err, &got, &has_event) == PM_OK && has_event)
                assert_int_equal(got.spent_ticks, spent[read++]);
        }
        assert_int_equal(read, 6);
        pm_trace_block_free(block);
        block = pm_trace_block_new();
    }
    pm_trace_block_free(block);
    pm_trace_block_free(done);
    pm_trace_packer_free(packer);
    pm_trace_block_free(reader);
}

/* Calls of the own stack from event `at` on, up to n or to what is none. */
static size_t calls_from(const struct pm_trace_tick *events, size_t at, size_t n,
                         struct pm_trace_call *calls)
{
    size_t k = 0;
    for (; at + k < N_EVENTS && k < n && events[at + k].flags == 0; k++)
        calls[k] = (struct pm_trace_call){events[at + k].ticks,
                                          events[at + k].is_leave ? 0 : events[at + k].sentence};
    return k;
}

/* What blocks that were written apart and joined hold is what one thread would have written. */
static void blocks_that_were_written_apart_are_joined(void **state)
{
    (void)state;
    struct pm_trace_tick *events = calloc(N_EVENTS, sizeof *events), got;
    struct pm_trace_call *calls = calloc(N_EVENTS, sizeof *calls);
    struct pm_trace_block *line = pm_trace_block_new(), *reader = pm_trace_block_new();
    struct pm_trace_block *done = pm_trace_block_new();
    struct pm_trace_packer *packer = pm_trace_packer_new();
    struct pm_error err = PM_ERROR_INIT;
    size_t n_joined = 0, n_of_joined = 0;
    make_events(events);
    for (size_t at = 0, n; at < N_EVENTS; at += n) {
        const void *data;
        size_t len;
        bool has_event;
        n = calls_from(events, at, 300, calls);
        pm_trace_block_begin_apart(done);
        assert_true(pm_trace_block_add_calls(done, calls, n / 2));
        assert_true(pm_trace_block_add_calls(done, calls + n / 2, n - n / 2));
        if (n && pm_trace_block_may_join(line, done)) {
            assert_true(pm_trace_block_join(line, done));
            n_joined++;
            n_of_joined += n;
        } else {
            n = 1; /* to another stack, or back */
            assert_true(pm_trace_block_add(line, &events[at]));
            assert_true(pm_trace_block_hand_over(line, done));
        }
        struct pm_trace_block_about about = pm_trace_block_about(done);
        assert_int_equal(about.n_events, n);
        assert_int_equal(about.first_ticks, events[at].ticks);
        assert_int_equal(pm_trace_block_pack(done, packer, &err, &data, &len), PM_OK);
        assert_int_equal(pm_trace_block_read(reader, data, len, &err), PM_OK);
        size_t n_open = 0;
        while (pm_trace_block_open_frame(reader, n_open, &got))
            n_open++;
        assert_int_equal(n_open, about.n_open);
        for (size_t k = 0; k < n; k++) {
            const struct pm_trace_tick *put = &events[at + k];
            assert_int_equal(pm_trace_block_next(reader, &err, &got, &has_event), PM_OK);
            assert_true(has_event && got.is_leave == put->is_leave && got.flags == put->flags);
            assert_true(got.ticks == put->ticks && got.sentence == put->sentence);
            assert_true(got.depth == put->depth && got.enter_ticks == put->enter_ticks);
            assert_true(put->ticks <= about.latest_ticks);
        }
        assert_int_equal(pm_trace_block_next(reader, &err, &got, &has_event), PM_OK);
        assert_false(has_event);
    }
    assert_true(n_joined > 100 && n_of_joined > N_EVENTS / 2);
    pm_trace_block_free(line);
    pm_trace_block_free(done);
    pm_trace_block_free(reader);
    pm_trace_packer_free(packer);
    free(events);
    free(calls);
}

/* Archives of version 5 have zlib streams. */
static void blocks_of_earlier_versions_are_read(void **state)
{
    (void)state;
    struct pm_trace_tick *events = calloc(N_EVENTS, sizeof *events), got;
    struct pm_trace_block *block = pm_trace_block_new(), *reader = pm_trace_block_new();
    struct pm_trace_packer *packer = pm_trace_packer_new();
    struct pm_error err = PM_ERROR_INIT;
    const void *data;
    size_t len;
    bool has_event;
    make_events(events);
    for (size_t i = 0; i < 500; i++)
        assert_true(pm_trace_block_add(block, &events[i]));
    assert_int_equal(pm_trace_block_pack(block, packer, &err, &data, &len), PM_OK);
    const unsigned char *bytes = data;
    size_t n = bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16;
    uLongf old_len = compressBound(n);
    unsigned char *plain = malloc(n), *old = malloc(4 + old_len);
    assert_int_equal(ZSTD_decompress(plain, n, bytes + 4, len - 4), n);
    memcpy(old, bytes, 4);
    assert_int_equal(compress(old + 4, &old_len, plain, n), Z_OK);
    assert_int_equal(pm_trace_block_read(reader, old, 4 + old_len, &err), PM_OK);
    for (size_t i = 0; i < 500; i++) {
        assert_int_equal(pm_trace_block_next(reader, &err, &got, &has_event), PM_OK);
        assert_true(has_event && got.ticks == events[i].ticks);
    }
    assert_int_equal(pm_trace_block_next(reader, &err, &got, &has_event), PM_OK);
    assert_false(has_event);
    free(plain);
    free(old);
    free(events);
    pm_trace_block_free(block);
    pm_trace_block_free(reader);
    pm_trace_packer_free(packer);
}

static void damaged_blocks_are_refused_or_end(void **state)
{
    (void)state;
    struct pm_trace_tick *events = calloc(N_EVENTS, sizeof *events), got;
    struct pm_trace_block *writer = pm_trace_block_new(), *reader = pm_trace_block_new();
    struct pm_trace_packer *packer = pm_trace_packer_new();
    const void *data;
    size_t len, n_refused = 0;
    struct pm_error err = PM_ERROR_INIT;
    make_events(events);
    for (size_t i = 0; i < 500; i++)
        assert_true(pm_trace_block_add(writer, &events[i]));
    assert_int_equal(pm_trace_block_pack(writer, packer, &err, &data, &len), PM_OK);
    unsigned char *copy = malloc(len);
    for (size_t i = 0; i < len; i++)
        for (unsigned bit = 0; bit < 8; bit += 3) {
            bool has_event = true;
            memcpy(copy, data, len);
            copy[i] ^= (unsigned char)(1u << bit);
            enum pm_status status = pm_trace_block_read(reader, copy, len, &err);
            while (status == PM_OK && has_event)
                status = pm_trace_block_next(reader, &err, &got, &has_event);
            n_refused += status != PM_OK;
            pm_error_release(&err);
        }
    assert_true(n_refused > len); /* a checksum sees most of it */
    for (size_t i = 0; i < len; i += 7) {
        assert_int_not_equal(pm_trace_block_read(reader, copy, i, &err), PM_OK);
        pm_error_release(&err);
    }
    free(copy);
    free(events);
    pm_trace_block_free(writer);
    pm_trace_packer_free(packer);
    pm_trace_block_free(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_hold_what_was_put_in),
        cmocka_unit_test(blocks_that_were_written_apart_are_joined),
        cmocka_unit_test(time_on_foreign_stacks_is_not_the_own_stacks),
        cmocka_unit_test(blocks_of_earlier_versions_are_read),
        cmocka_unit_test(damaged_blocks_are_refused_or_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
