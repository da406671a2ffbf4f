/* What the tests of PIF share. */
#ifndef PM_TEST_PIF_HELPERS_H
#define PM_TEST_PIF_HELPERS_H

#include "mapping/pif/pif.h"

#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

/* The text form; free() it. */
static inline char *text_of(const struct pm_pif *pif)
{
    struct pm_buf buf = PM_BUF_INIT(1 << 28);
    pm_buf_add(&buf, "", 0);
    pm_pif_write_text(pif, &buf);
    assert_false(buf.failed);
    return pm_buf_take(&buf);
}

static inline struct pm_pif *read_text(const char *text)
{
    struct pm_pif *pif = pm_pif_new();
    struct pm_error err = PM_ERROR_INIT;
    if (pm_pif_read_text(pif, "t.pif", text, strlen(text), &err) != PM_OK)
        fail_msg("%s", pm_error_text(&err));
    return pif;
}

static inline void assert_text(const struct pm_pif *pif, const char *expected)
{
    char *text = text_of(pif);
    assert_string_equal(text, expected);
    free(text);
}

/* Through the compact form and back. */
static inline struct pm_pif *through_compact(const struct pm_pif *pif)
{
    struct pm_buf buf = PM_BUF_INIT(1 << 28);
    pm_pif_write_compact(pif, &buf);
    assert_false(buf.failed);
    struct pm_pif *again = pm_pif_new();
    struct pm_error err = PM_ERROR_INIT;
    if (pm_pif_read_compact(again, "t.o", buf.data, buf.len, &err) != PM_OK)
        fail_msg("%s", pm_error_text(&err));
    pm_buf_release(&buf);
    return again;
}

static inline void assert_same_noun(const struct pm_pif_noun *a, const struct pm_pif_noun *b)
{
    const char *const texts[][2] = {{a->name, b->name}, {a->level, b->level},
                                    {a->kind, b->kind}, {a->description, b->description},
                                    {a->type, b->type}, {a->linkage, b->linkage},
                                    {a->file, b->file}, {a->address, b->address}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_true(!texts[i][0] == !texts[i][1]);
        if (texts[i][0])
            assert_string_equal(texts[i][0], texts[i][1]);
    }
    assert_true(a->id == b->id && a->parent == b->parent);
    assert_true(a->line == b->line && a->column == b->column && a->end_line == b->end_line);
}

/* Same nouns, verbs, levels, mappings and attributes in the same order (records of different kinds
 * may be interleaved otherwise). */
static inline void assert_same(const struct pm_pif *a, const struct pm_pif *b)
{
    assert_string_equal(pm_pif_producer(a), pm_pif_producer(b));
    assert_int_equal(pm_pif_n_nouns(a), pm_pif_n_nouns(b));
    assert_int_equal(pm_pif_n_verbs(a), pm_pif_n_verbs(b));
    assert_int_equal(pm_pif_n_levels(a), pm_pif_n_levels(b));
    assert_int_equal(pm_pif_n_mappings(a), pm_pif_n_mappings(b));
    for (size_t i = 0; i < pm_pif_n_nouns(a); i++) {
        struct pm_pif_noun x, y;
        pm_pif_get_noun(a, i, &x);
        pm_pif_get_noun(b, i, &y);
        assert_same_noun(&x, &y);
        const char *kx, *vx, *ky, *vy;
        size_t n = 0;
        for (; pm_pif_nth_attribute(a, x.id, n, &kx, &vx); n++) {
            assert_true(pm_pif_nth_attribute(b, x.id, n, &ky, &vy));
            assert_string_equal(kx, ky);
            assert_string_equal(vx, vy);
        }
        assert_false(pm_pif_nth_attribute(b, x.id, n, &ky, &vy));
    }
    for (size_t i = 0; i < pm_pif_n_verbs(a); i++) {
        struct pm_pif_verb x, y;
        pm_pif_get_verb(a, i, &x);
        pm_pif_get_verb(b, i, &y);
        assert_true(x.id == y.id);
        assert_string_equal(x.name, y.name);
        assert_string_equal(x.level, y.level);
    }
    for (size_t i = 0; i < pm_pif_n_mappings(a); i++) {
        struct pm_pif_mapping x, y;
        pm_pif_get_mapping(a, i, &x);
        pm_pif_get_mapping(b, i, &y);
        assert_memory_equal(&x.source, &y.source, sizeof x.source);
        assert_memory_equal(&x.destination, &y.destination, sizeof x.destination);
        assert_true(x.weight == y.weight);
        assert_true(!x.origin == !y.origin && (!x.origin || !strcmp(x.origin, y.origin)));
    }
}

#endif
