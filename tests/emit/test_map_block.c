#include "plugin/emit/map_block.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

/* Random functions are encoded. The text is read again by what format/pm_map.h says, and must
 * hold what was put in. */

enum { MAX_SITES = 8, MAX_TUPLES = 30, MAX_RANGES = 60, MAX_ALSO = 60, MAX_ACCESSES = 100 };

static const char *const paths[] = {"/src/a.c", "/src/b.c", "/src/c.h"};

struct invented {
    struct pm_map_site sites[MAX_SITES];
    struct pm_access accesses[MAX_ACCESSES];
    struct pm_map_objects objects[10];
    struct pm_map_also also[MAX_ALSO];
    struct pm_map_tuple tuples[MAX_TUPLES];
    struct pm_map_range ranges[MAX_RANGES];
    struct pm_map_part part;
    struct pm_map_function map;
};

static struct pm_source_function *functions[5];

static unsigned below(unsigned n)
{
    return (unsigned)rand() % n;
}

static struct pm_place some_place(void)
{
    const char *path = paths[below(3)];
    return (struct pm_place){path, path + 5, below(20), below(4)};
}

static void invent_tuple(struct invented *invented, uint32_t i, uint32_t *n_also)
{
    struct pm_map_tuple *tuple = &invented->tuples[i];
    *tuple = (struct pm_map_tuple){.kind = (enum pm_map_kind)below(6),
                                   .unnamed = below(2),
                                   .site = (int)below(invented->map.n_sites + 1) - 1,
                                   .place = some_place(),
                                   .loop = below(3) != 0 ? 900 + below(3) : 0,
                                   .objects = below(10),
                                   .first_also = *n_also,
                                   .n_also = below(3)};
    *n_also += tuple->n_also;
}

static void invent(struct invented *invented)
{
    uint32_t n_accesses = 0, n_also = 0;
    for (unsigned i = 1; i < 10; i++) {
        invented->objects[i] = (struct pm_map_objects){n_accesses, 1 + below(9)};
        for (uint32_t k = 0; k < invented->objects[i].n; k++)
            invented->accesses[n_accesses++] = (struct pm_access){500 + below(20), below(8)};
    }
    for (unsigned i = 0; i < MAX_ALSO; i++)
        invented->also[i] = (struct pm_map_also){functions[below(5)], some_place(),
                                                 (enum pm_map_reason)(1 + below(7)), below(2)};
    invented->map = (struct pm_map_function){.symbol = 77,
                                             .function = functions[0],
                                             .sites = invented->sites,
                                             .n_sites = below(MAX_SITES + 1),
                                             .accesses = invented->accesses,
                                             .objects = invented->objects,
                                             .also = invented->also,
                                             .tuples = invented->tuples,
                                             .n_tuples = 1 + below(MAX_TUPLES)};
    for (unsigned i = 0; i < invented->map.n_sites; i++)
        invented->sites[i] =
            (struct pm_map_site){(int)below(i + 1) - 1, functions[below(5)], some_place()};
    for (uint32_t i = 0; i < invented->map.n_tuples; i++)
        invent_tuple(invented, i, &n_also);
    uint32_t n_ranges = 1 + below(MAX_RANGES);
    for (uint32_t i = 0; i < n_ranges; i++)
        invented->ranges[i] =
            (struct pm_map_range){(int)below(invented->map.n_tuples), 100 + (int)i};
    invented->part = (struct pm_map_part){below(2), 100, 999, invented->ranges, n_ranges};
}

static void add_label(struct pm_buf *out, int label)
{
    pm_buf_printf(out, ".L%d", label);
}

/* --- reading --- */

struct decoder {
    const char *p;
    uint64_t ids[5][200]; /* functions, files, loops, objects; the shared ones */
    uint64_t n_ids[5];
    struct {
        uint64_t parent, function, file, column;
        int64_t line;
    } sites[MAX_SITES];
    uint64_t n_sites;
};

static void expect(struct decoder *decoder, const char *text)
{
    if (strncmp(decoder->p, text, strlen(text)) != 0)
        fail_msg("expected '%s', not '%.60s'", text, decoder->p);
    decoder->p += strlen(text);
}

/* A number, whatever separates it from the one before. */
static uint64_t number(struct decoder *decoder)
{
    decoder->p += strspn(decoder->p, ",\n\t");
    if (strncmp(decoder->p, ".uleb128 ", 9) == 0)
        decoder->p += 9;
    assert_true(*decoder->p >= '0' && *decoder->p <= '9');
    char *end;
    uint64_t value = strtoull(decoder->p, &end, 10);
    decoder->p = end;
    return value;
}

static int64_t difference(struct decoder *decoder)
{
    uint64_t value = number(decoder);
    return (value & 1) != 0 ? -(int64_t)(value >> 1) - 1 : (int64_t)(value >> 1);
}

static void read_ids(struct decoder *decoder, int table, bool shares)
{
    decoder->n_ids[table] = number(decoder);
    assert_true(decoder->n_ids[table] < 200);
    for (uint64_t i = 0; i < decoder->n_ids[table]; i++) {
        if (shares) {
            uint64_t at = number(decoder);
            assert_true(at < decoder->n_ids[4]);
            decoder->ids[table][i] = decoder->ids[4][at];
            continue;
        }
        expect(decoder, "\n\t.8byte 0x");
        char *end;
        decoder->ids[table][i] = strtoull(decoder->p, &end, 16);
        decoder->p = end;
    }
}

static void read_sites(struct decoder *decoder)
{
    int64_t line = 0;
    decoder->n_sites = number(decoder);
    for (uint64_t i = 0; i < decoder->n_sites; i++) {
        decoder->sites[i].parent = number(decoder);
        assert_true(decoder->sites[i].parent <= i);
        decoder->sites[i].function = number(decoder);
        decoder->sites[i].file = number(decoder);
        line += difference(decoder);
        decoder->sites[i].line = line;
        decoder->sites[i].column = number(decoder);
    }
}

/* Site `number` of the block (from 1) is the site with this index. */
static void check_site(const struct decoder *decoder, const struct pm_map_function *map,
                       uint64_t number_of, int index)
{
    if (index < 0) {
        assert_int_equal(number_of, 0);
        return;
    }
    assert_in_range(number_of, 1, decoder->n_sites);
    const struct pm_map_site *site = &map->sites[index];
    assert_int_equal(decoder->ids[0][decoder->sites[number_of - 1].function], site->function->id);
    assert_int_equal(decoder->sites[number_of - 1].line, site->call.line);
    assert_int_equal(decoder->sites[number_of - 1].column, site->call.column);
    if (site->call.line != 0)
        assert_int_equal(decoder->ids[1][decoder->sites[number_of - 1].file],
                         pm_id_of_file(site->call.file));
    check_site(decoder, map, decoder->sites[number_of - 1].parent, site->parent);
}

struct tuple_before {
    uint64_t site, column, file, loop;
    int64_t line;
};

static void check_objects(struct decoder *decoder, const struct pm_map_function *map,
                          struct pm_map_objects set, uint64_t flags)
{
    uint64_t n = (flags & PM_MAP_OBJECTS) != 0 ? number(decoder) : 0;
    assert_int_equal(n, set.n);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t object = number(decoder);
        assert_int_equal(decoder->ids[3][object >> 3], map->accesses[set.first + i].noun);
        assert_int_equal(object & 7, map->accesses[set.first + i].access);
    }
}

static void check_also(struct decoder *decoder, const struct pm_map_function *map,
                       const struct pm_map_tuple *tuple, uint64_t flags)
{
    uint64_t n = (flags & PM_MAP_ALSO) != 0 ? number(decoder) : 0;
    assert_int_equal(n, tuple->n_also);
    for (uint64_t i = 0; i < n; i++) {
        const struct pm_map_also *also = &map->also[tuple->first_also + i];
        assert_int_equal(number(decoder), (unsigned)also->reason << 1 | also->inferred);
        assert_int_equal(decoder->ids[0][number(decoder)], also->function->id);
        assert_int_equal(decoder->ids[1][number(decoder)], pm_id_of_file(also->place.file));
        assert_int_equal(difference(decoder) + tuple->place.line, also->place.line);
        assert_int_equal(number(decoder), also->place.column);
    }
}

static void check_tuple(struct decoder *decoder, const struct pm_map_function *map,
                        const struct pm_map_tuple *tuple, struct tuple_before *before)
{
    uint64_t flags = number(decoder);
    assert_int_equal(flags >> PM_MAP_KIND_SHIFT, tuple->kind);
    if (tuple->kind == PM_MAP_SLED || tuple->kind == PM_MAP_PADDING)
        return;
    assert_int_equal((flags & PM_MAP_UNNAMED) != 0, tuple->unnamed);
    if (flags & PM_MAP_SITE)
        before->site = number(decoder);
    if (flags & PM_MAP_PLACE) {
        before->line += difference(decoder);
        before->column = number(decoder);
    }
    if (flags & PM_MAP_FILE)
        before->file = number(decoder);
    if (flags & PM_MAP_LOOP)
        before->loop = number(decoder);
    check_site(decoder, map, before->site, tuple->site);
    assert_int_equal(before->line, tuple->place.line);
    assert_int_equal(before->column, tuple->place.column);
    if (tuple->place.line != 0)
        assert_int_equal(decoder->ids[1][before->file], pm_id_of_file(tuple->place.file));
    assert_int_equal(before->loop != 0 ? decoder->ids[2][before->loop - 1] : 0, tuple->loop);
    check_objects(decoder, map, map->objects[tuple->objects], flags);
    check_also(decoder, map, tuple, flags);
}

static void check_ranges(struct decoder *decoder, const struct invented *invented)
{
    struct tuple_before before = {0};
    int written[MAX_TUPLES], n_written = 0;
    for (uint32_t i = 0; i < invented->part.n_ranges; i++) {
        char length[40];
        bool is_last = i + 1 == invented->part.n_ranges;
        decoder->p += strspn(decoder->p, ",\n\t");
        if (i % 16 == 0)
            expect(decoder, ".uleb128 ");
        snprintf(length, sizeof length, ".L%d-.L%d", is_last ? 999 : 101 + (int)i, 100 + (int)i);
        expect(decoder, length);
        uint64_t reference = number(decoder);
        int tuple = invented->ranges[i].tuple;
        assert_in_range(reference, 0, n_written);
        if (reference != 0) {
            assert_int_equal(written[(uint64_t)n_written - reference], tuple);
            continue;
        }
        written[n_written++] = tuple;
        check_tuple(decoder, &invented->map, &invented->map.tuples[tuple], &before);
    }
}

static void check_block(struct decoder *decoder, const struct invented *invented, unsigned n,
                        bool shares)
{
    char text[200];
    expect(decoder, "\t.pushsection .perfmap.map,\"o?\",@progbits,.Lcode\n");
    snprintf(text, sizeof text, ".Lpm_map%u:\n\t.ascii \"PMmp\"\n\t.2byte 1,%d\n", n,
             (invented->part.is_cold ? PM_MAP_BLOCK_COLD : 0) | (shares ? PM_MAP_BLOCK_SHARED : 0));
    expect(decoder, text);
    snprintf(text, sizeof text, "\t.4byte .Lpm_map_end%u-.Lpm_map%u\n", n, n);
    expect(decoder, text);
    expect(decoder, "\t.8byte main+(.L100-.Lmain),0x4d\n");
    if (shares) {
        snprintf(text, sizeof text, "\t.4byte .Lpm_ids3-.Lpm_map%u\n", n);
        expect(decoder, text);
    }
    for (int table = 0; table < 4; table++)
        read_ids(decoder, table, shares);
    assert_int_equal(decoder->ids[0][0], functions[0]->id);
    read_sites(decoder);
    check_ranges(decoder, invented);
    snprintf(text, sizeof text, "\n.Lpm_map_end%u:\n\t.popsection\n", n);
    expect(decoder, text);
}

static void check_named(const struct decoder *decoder, const struct pm_facts *facts)
{
    struct pm_pif_noun noun;
    for (int table = 0; table < 2; table++)
        for (uint64_t i = 0; i < decoder->n_ids[table]; i++)
            assert_true(pm_pif_find_noun(facts->pif, decoder->ids[table][i], &noun));
}

static void make_functions(void)
{
    static const char *const names[] = {"f", "g", "h", "i", "j"};
    for (int i = 0; i < 5; i++) {
        struct pm_place place = some_place();
        functions[i] = pm_source_function_new(names[i], names[i], NULL, &place);
    }
}

static void free_functions(void)
{
    for (int i = 0; i < 5; i++)
        pm_source_function_free(functions[i]);
}

static void encode_and_read(bool shares)
{
    static struct invented invented[4];
    static struct decoder decoder;
    struct pm_facts *facts = pm_facts_new("test 1");
    struct pm_map_encoder *encoder = pm_map_encoder_new(facts, add_label);
    struct pm_map_section *section = pm_map_section_new(3, ".Lcode", "main", ".Lmain", shares);
    struct pm_buf text = PM_BUF_INIT(1 << 20), ids = PM_BUF_INIT(1 << 20);
    for (int i = 0; i < 4; i++) {
        invent(&invented[i]);
        pm_map_block_write(encoder, &invented[i].map, &invented[i].part, section, &text);
    }
    pm_map_ids_write(section, &ids);
    assert_false(text.failed || ids.failed);
    memset(&decoder, 0, sizeof decoder);
    if (shares) {
        decoder.p = ids.data;
        expect(&decoder, "\t.pushsection .perfmap.map,\"o\",@progbits,.Lcode\n"
                         ".Lpm_ids3:\n\t.ascii \"PMmp\"\n\t.2byte 1,4\n"
                         "\t.4byte .Lpm_ids_end3-.Lpm_ids3\n\t.8byte 0,0x0\n");
        read_ids(&decoder, 4, false);
        expect(&decoder, "\n.Lpm_ids_end3:\n\t.popsection\n");
    } else {
        assert_int_equal(ids.len, 0);
    }
    decoder.p = text.data;
    for (unsigned i = 0; i < 4; i++) {
        check_block(&decoder, &invented[i], i, shares);
        check_named(&decoder, facts);
    }
    assert_int_equal(*decoder.p, 0);
    pm_buf_release(&text);
    pm_buf_release(&ids);
    pm_map_section_free(section);
    pm_map_encoder_free(encoder);
    pm_facts_free(facts);
}

static void what_is_encoded_is_read_again(void **state)
{
    (void)state;
    srand(11);
    make_functions();
    for (int round = 0; round < 200; round++)
        encode_and_read(round % 2 != 0);
    free_functions();
}

static void where_memory_ends_the_text_has_failed(void **state)
{
    (void)state;
    static struct invented invented;
    srand(13);
    make_functions();
    do
        invent(&invented);
    while (invented.map.n_sites < 3);
    bool pending = false;
    for (long n = 1; !pending; n++) {
        struct pm_facts *facts = pm_facts_new("test 1");
        struct pm_buf text = PM_BUF_INIT(1 << 20);
        pm_alloc_fail_at(n);
        struct pm_map_encoder *encoder = pm_map_encoder_new(facts, add_label);
        struct pm_map_section *section = pm_map_section_new(3, ".Lcode", "main", ".Lmain", true);
        if (encoder && section)
            pm_map_block_write(encoder, &invented.map, &invented.part, section, &text);
        pending = pm_alloc_fail_pending();
        pm_alloc_fail_at(0);
        assert_int_equal(!encoder || !section || text.failed || pm_facts_failed(facts), !pending);
        pm_map_section_free(section);
        pm_map_encoder_free(encoder);
        pm_buf_release(&text);
        pm_facts_free(facts);
        assert_true(n < 1000);
    }
    free_functions();
}

static void a_set_of_accesses_has_each_noun_once(void **state)
{
    (void)state;
    struct pm_access set[] = {{7, PM_MAP_READS},
                              {3, PM_MAP_WRITES},
                              {7, PM_MAP_READS | PM_MAP_THROUGH},
                              {7, PM_MAP_WRITES},
                              {3, PM_MAP_WRITES}};
    assert_int_equal(pm_accesses_sort(set, 5), 3);
    assert_int_equal(set[0].noun, 3);
    assert_int_equal(set[0].access, PM_MAP_WRITES);
    assert_int_equal(set[1].noun, 7);
    assert_int_equal(set[1].access, PM_MAP_READS | PM_MAP_WRITES);
    assert_int_equal(set[2].access, PM_MAP_READS | PM_MAP_THROUGH);
    assert_int_equal(pm_accesses_sort(set, 0), 0);
}

static void anchors_are_of_the_symbol_and_its_part(void **state)
{
    (void)state;
    char hot[PM_MAP_ANCHOR_BYTES], other[PM_MAP_ANCHOR_BYTES];
    pm_map_anchor_name(77, false, NULL, "", hot);
    assert_int_equal(strlen(hot), strlen("__perfmap_code_0123456789abcdef"));
    pm_map_anchor_name(77, true, NULL, "", other);
    assert_string_not_equal(hot, other);
    pm_map_anchor_name(77, false, "/src", "-O2", other);
    assert_string_not_equal(hot, other);
    struct pm_buf text = PM_BUF_INIT(1000);
    pm_map_anchor_write("a", ".L1", &text);
    assert_string_equal(text.data, "\t.weak a\n\t.hidden a\n\t.set a,.L1\n"
                                   "\t.type a,@notype\n\t.size a,0\n");
    pm_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_encoded_is_read_again),
        cmocka_unit_test(where_memory_ends_the_text_has_failed),
        cmocka_unit_test(a_set_of_accesses_has_each_noun_once),
        cmocka_unit_test(anchors_are_of_the_symbol_and_its_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
