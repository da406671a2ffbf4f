/* What tests of run files share: reading one from memory, and what must hold for every file. */
#ifndef READ_RUN_H
#define READ_RUN_H

#include "mapping/run/run_file.h"
#include "make_run.h"

#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

static const struct pm_run_noun three_nouns[] = {
    {.id = 11, .kind = PM_SLED_ENTRY, .n_sleds = 2, .address = 0x10},
    {.id = 12, .kind = PM_SLED_ENTRY, .n_sleds = 2, .address = 0x20},
    {.id = 13, .kind = PM_SLED_LOOP_ENTER, .n_sleds = 2, .address = 0x30},
};

static inline struct pm_run_file *parse(const struct make_run *run,
                                        const struct pm_run_clock *clock)
{
    struct pm_run_file *file = NULL;
    struct pm_error err = PM_ERROR_INIT;
    enum pm_status status = pm_run_file_parse("x.pmr", run->data, run->len, clock, &err, &file);
    if (status != PM_OK)
        fail_msg("%s", pm_error_text(&err));
    return file;
}

static inline void no_complaints(const struct pm_run_file *file)
{
    if (pm_run_file_n_complaints(file))
        fail_msg("%s", pm_run_file_complaint(file, 0));
}

static inline void complains(const struct pm_run_file *file, const char *part)
{
    for (size_t i = 0; i < pm_run_file_n_complaints(file); i++)
        if (strstr(pm_run_file_complaint(file, i), part))
            return;
    fail_msg("nobody complains: %s", part);
}

/* Sum of own times over the thread's own tree; checks what every thread must hold. */
static inline uint64_t checked_sum(const struct pm_run_file *file,
                                   const struct pm_run_file_thread *thread)
{
    uint64_t sum = 0, foreign = 0;
    uint64_t *children = calloc(thread->n_nodes, sizeof *children);
    bool *is_foreign = calloc(thread->n_nodes, sizeof *is_foreign);
    for (size_t i = 0; i < thread->n_nodes; i++) {
        const struct pm_run_file_node *node = &thread->nodes[i];
        if (node->parent == PM_RUN_FILE_NO_PARENT) {
            is_foreign[i] = i > 0;
            assert_int_equal(node->noun, PM_RUN_NOUN_ROOT);
        } else {
            assert_true(node->parent < i);
            is_foreign[i] = is_foreign[node->parent];
            children[node->parent] += node->inclusive_ns;
            assert_true(node->noun < pm_run_file_n_nouns(file));
        }
        *(is_foreign[i] ? &foreign : &sum) += node->own_ns;
    }
    for (size_t i = 0; i < thread->n_nodes; i++)
        assert_true(thread->nodes[i].inclusive_ns == children[i] + thread->nodes[i].own_ns);
    assert_true(foreign == thread->foreign_ns);
    free(children);
    free(is_foreign);
    return sum;
}

/* main (open since 1200) -> f (open since 1500, 100 before) -> loop (ended, 60). */
static inline void make_killed(struct make_run *run)
{
    make_run_init(run, 100);
    make_run_object(run, "/bin/heat", "", 0, three_nouns, 3);
    make_run_thread(run, 100, 1000, 0, 8);
    uint64_t root = make_run_node(run, 0, PM_RUN_NOUN_ROOT, 1, 1000, 0, 0);
    uint64_t main_node = make_run_node(run, root, 0, 0x7000, 1200, 1, 0);
    uint64_t f = make_run_node(run, main_node, 1, 0x6000, 1500, 2, 100);
    make_run_node(run, f, 2, 0, 1600, 3, 60);
}

static inline void make_full(struct make_run *run)
{
    make_killed(run);
    for (int i = 0; i < 40; i++)
        make_run_node(run, run->thread + PM_RUN_THREAD_NODES + 128 * (i % 3), (uint32_t)i % 3,
                      i & 1, 1600 + i, 1, 3);
    for (int i = 5; i < 20; i++) /* some without times, some with times of some calls */
        make_run_node_at(run, run->thread + PM_RUN_THREAD_NODES + 128 * i)->flags = 0;
    for (int i = 5; i < 12; i++)
        make_run_node_at(run, run->thread + PM_RUN_THREAD_NODES + 128 * i)->inclusive_tsc = 0;
    make_run_counts(run, run->thread, 0, (uint64_t[]){1, 2, 3}, 3);
    make_run_message(run, PM_RUN_MSG_LIMIT, 1700, "contexts");
    uint64_t object = make_run_object(run, "/lib/b.so", "\x05", 1, three_nouns, 2);
    make_run_loaded(run, object, 0x400000, 0x1000, 0, 0);
    const struct pm_run_sample samples[] = {
        {0x400010, 0x400020, (uint32_t)(run->thread + PM_RUN_THREAD_NODES) / 64, 0,
         PM_RUN_SAMPLE_USER, 1, 1, 1000},
        {0x10, 0, 0, 1, PM_RUN_SAMPLE_KERNEL, 0, 2, 2000},
    };
    make_run_samples(run, run->thread, samples, 2);
    make_run_sampling(run, &(struct pm_run_sampling){.source = PM_RUN_SAMPLES_PERF});
    make_run_adapted(run,
                     (struct pm_run_adapted[]){{.noun = 1,
                                                .mode = PM_RUN_MODE_COUNT,
                                                .mode_before = 1 + PM_RUN_MODE_EXACT,
                                                .disarmed_tsc = 1700,
                                                .armed_tsc = 1800,
                                                .n_events = 5}},
                     1);
    make_run_overhead(run, &(struct pm_run_overhead){.cpu_ns = 1000, .events_ns = 20});
    const struct pm_run_heap_site sites[] = {
        {.caller = 0x400020,
         .node = samples[0].node,
         .thread = (uint32_t)(run->thread / 64),
         .n_allocations = 3,
         .allocated_bytes = 300,
         .n_freed = 1,
         .freed_bytes = 100,
         .life_tsc = 50,
         .least_bytes = 50,
         .most_bytes = 150},
    };
    make_run_heap(run, sites, 1, (struct pm_run_heap_block[]){{0x1000, 150, 1600, 1650, 0, 0}}, 1);
}

/* All that a reader may use unchecked. */
static inline void check_samples(const struct pm_run_file *file)
{
    for (size_t i = 0; i < pm_run_file_n_threads(file); i++) {
        const struct pm_run_file_thread *thread = pm_run_file_thread(file, i);
        for (size_t k = 0; k < thread->n_samples; k++) {
            const struct pm_run_file_sample *sample = &thread->samples[k];
            assert_true(sample->kind >= PM_RUN_SAMPLE_USER && sample->kind <= PM_RUN_SAMPLE_COST);
            assert_true(sample->node < thread->n_nodes);
            assert_true(sample->time_ns <= INT64_MAX && sample->n_samples <= INT64_MAX);
            assert_true(sample->object == PM_RUN_FILE_NO_OBJECT ||
                        sample->object < pm_run_file_n_objects(file));
            assert_true(sample->caller_object == PM_RUN_FILE_NO_OBJECT ||
                        sample->caller_object < pm_run_file_n_objects(file));
        }
    }
    for (size_t i = 0; i < pm_run_file_n_adapted(file); i++) {
        const struct pm_run_file_adapted *adapted = pm_run_file_adapted(file, i);
        assert_true(adapted->noun < pm_run_file_n_nouns(file));
        assert_true(adapted->mode <= PM_RUN_MODE_TRACE &&
                    adapted->mode_before <= PM_RUN_MODE_TRACE);
    }
}

static inline void check_heap(const struct pm_run_file *file)
{
    for (size_t i = 0; i < pm_run_file_n_heap_sites(file); i++) {
        const struct pm_run_file_heap_site *site = pm_run_file_heap_site(file, i);
        assert_true(site->thread < pm_run_file_n_threads(file));
        assert_true(site->node < pm_run_file_thread(file, site->thread)->n_nodes);
        assert_true(site->object == PM_RUN_FILE_NO_OBJECT ||
                    site->object < pm_run_file_n_objects(file));
        assert_true(site->n_freed <= site->n_allocations);
        assert_true(site->freed_bytes <= site->allocated_bytes);
        assert_true(site->life_ns <= INT64_MAX);
    }
    for (size_t i = 0; i < pm_run_file_n_heap_blocks(file); i++) {
        const struct pm_run_file_heap_block *block = pm_run_file_heap_block(file, i);
        assert_true(block->site < pm_run_file_n_heap_sites(file));
        assert_true(block->allocated_ns <= pm_run_file_process(file)->end_ns);
    }
}

static inline void check_words(const struct pm_run_file *file)
{
    for (size_t i = 0; i < pm_run_file_n_words(file); i++) {
        const struct pm_run_file_word *word = pm_run_file_word(file, i);
        assert_true(word->kind == 0 || word->a <= i);
        assert_true(word->b <= i && word->n_nouns <= PM_WORDS_MAX_NOUNS);
        for (uint32_t n = 0; n < word->n_nouns; n++)
            assert_int_equal(pm_run_file_word(file, word->nouns[n] - 1)->kind, PM_WORD_NOUN);
    }
}

/* Parses from memory of its exact size, so that ASan sees each byte too many, and checks what must
 * hold for any input. */
static inline void parse_any(const unsigned char *bytes, size_t len)
{
    unsigned char *copy = malloc(len ? len : 1);
    memcpy(copy, bytes, len);
    struct pm_run_file *file = NULL;
    struct pm_error err = PM_ERROR_INIT;
    if (pm_run_file_parse("x.pmr", copy, len, NULL, &err, &file) == PM_OK) {
        for (size_t i = 0; i < pm_run_file_n_threads(file); i++) {
            const struct pm_run_file_thread *thread = pm_run_file_thread(file, i);
            assert_true(checked_sum(file, thread) + thread->foreign_ns == thread->wall_ns);
        }
        check_samples(file);
        check_heap(file);
        check_words(file);
        for (size_t i = 0; i < pm_run_file_n_counts(file); i++) {
            const struct pm_run_file_counts *counts = pm_run_file_counts(file, i);
            assert_true(counts->n_counts <= pm_run_file_object(file, counts->object)->n_nouns);
        }
        pm_run_file_free(file);
    } else {
        assert_true(err.n_causes > 0);
    }
    pm_error_release(&err);
    free(copy);
}

#endif
