#include "pif_helpers.h"

#include <zlib.h>

static struct pm_buf compact_of(const struct pm_pif *pif)
{
    struct pm_buf buf = PM_BUF_INIT(1 << 28);
    pm_pif_write_compact(pif, &buf);
    assert_false(buf.failed);
    return buf;
}

static pm_id place_id(const char *kind, pm_id function, const char *path, unsigned line,
                      unsigned column)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, kind);
    pm_id_hash_id(&hash, function);
    pm_id_hash_string(&hash, path);
    pm_id_hash_number(&hash, line);
    pm_id_hash_number(&hash, column);
    return pm_id_hash_done(&hash);
}

/* A program as a compiler tells it: 20 functions, each with a loop and 50 statements that read and
 * write 10 variables. */
struct program {
    struct pm_pif *pif;
    size_t n_statements, n_mappings;
};

static struct program make_program(bool with_statements, bool with_mappings)
{
    struct program program = {.pif = pm_pif_new()};
    struct pm_pif *pif = program.pif;
    const char *path = "/build/heat/heat.c";
    pm_id verbs[] = {
        pm_pif_verb(pif, &(struct pm_pif_verb){.name = "Reads", .level = "Source"}),
        pm_pif_verb(pif, &(struct pm_pif_verb){.name = "Writes", .level = "Source"}),
        pm_pif_verb(pif, &(struct pm_pif_verb){.name = "Executes", .level = "Source"})};
    pm_id file = pm_pif_noun(
        pif, &(struct pm_pif_noun){.name = path, .level = "Source", .kind = "file", .file = path});
    unsigned line = 10;
    for (int f = 0; f < 20; f++) {
        char name[64];
        pm_id variables[10];
        snprintf(name, sizeof name, "function_%d", f);
        pm_id function = pm_pif_noun(pif, &(struct pm_pif_noun){.name = name,
                                                                .level = "Source",
                                                                .kind = "function",
                                                                .parent = file,
                                                                .file = path,
                                                                .line = line,
                                                                .end_line = line + 110});
        snprintf(name, sizeof name, "heat.c:%u", line + 1);
        pm_id loop = pm_pif_noun(
            pif, &(struct pm_pif_noun){.id = place_id("loop", function, path, line + 1, 5),
                                       .name = name,
                                       .level = "Source",
                                       .kind = "loop",
                                       .parent = function,
                                       .file = path,
                                       .line = line + 1,
                                       .column = 5,
                                       .end_line = line + 109});
        for (int v = 0; v < 10; v++) {
            snprintf(name, sizeof name, "function_%d/v%d", f, v);
            variables[v] = pm_pif_noun(pif, &(struct pm_pif_noun){.name = name,
                                                                  .level = "Source",
                                                                  .kind = "variable",
                                                                  .type = "double",
                                                                  .parent = function,
                                                                  .file = path,
                                                                  .line = line});
        }
        for (unsigned s = 0; with_statements && s < 50; s++) {
            unsigned column = 9 + s % 3;
            line += 2;
            snprintf(name, sizeof name, "heat.c:%u:%u", line, column);
            pm_id statement = pm_pif_noun(
                pif, &(struct pm_pif_noun){.id = place_id("stmt", function, path, line, column),
                                           .name = name,
                                           .level = "Source",
                                           .kind = "statement",
                                           .parent = loop,
                                           .file = path,
                                           .line = line,
                                           .column = column});
            program.n_statements++;
            for (unsigned m = 0; with_mappings && m < 3; m++)
                pm_pif_mapping(pif,
                               &(struct pm_pif_mapping){
                                   .source = {verbs[2], 1, {statement}},
                                   .destination = {verbs[m == 0], 1, {variables[(s + m * 3) % 10]}},
                                   .origin = "compiler"});
        }
        line += 10;
    }
    program.n_mappings = pm_pif_n_mappings(pif);
    return program;
}

static size_t compact_size(struct program program)
{
    struct pm_buf buf = compact_of(program.pif);
    size_t len = buf.len;
    pm_buf_release(&buf);
    pm_pif_free(program.pif);
    return len;
}

static void statements_and_mappings_take_few_bytes(void **state)
{
    (void)state;
    struct program all = make_program(true, true);
    size_t n_statements = all.n_statements, n_mappings = all.n_mappings;
    assert_int_equal(n_statements, 1000);
    assert_int_equal(n_mappings, 3000);
    size_t with_all = compact_size(all), with_statements = compact_size(make_program(true, false)),
           without = compact_size(make_program(false, false));
    print_message("%.1f bytes for each statement, %.1f for each mapping\n",
                  (double)(with_statements - without) / (double)n_statements,
                  (double)(with_all - with_statements) / (double)n_mappings);
    assert_true(with_statements - without <= 6 * n_statements);
    assert_true(with_all - with_statements <= 5 * n_mappings);
}

static void a_whole_program_comes_back(void **state)
{
    (void)state;
    struct program program = make_program(true, true);
    struct pm_pif *again = through_compact(program.pif);
    assert_same(program.pif, again);
    struct pm_buf first = compact_of(program.pif), second = compact_of(again);
    assert_int_equal(first.len, second.len);
    assert_memory_equal(first.data, second.data, first.len);
    char *text = text_of(program.pif), *text_again = text_of(again);
    struct pm_pif *from_text = read_text(text);
    assert_same(program.pif, from_text);
    free(text);
    free(text_again);
    pm_buf_release(&first);
    pm_buf_release(&second);
    pm_pif_free(from_text);
    pm_pif_free(again);
    pm_pif_free(program.pif);
}

enum { LONG_NAME_BYTES = 900 };

/* As C++ names functions of templates, and their variables and symbols. */
static void long_names_with_one_beginning_take_few_bytes(void **state)
{
    enum { N_FUNCTIONS = 100 };
    (void)state;
    struct pm_pif *pif = pm_pif_new();
    for (int f = 0; f < N_FUNCTIONS; f++) {
        char name[LONG_NAME_BYTES + 64], linkage[64], variable[LONG_NAME_BYTES + 80];
        int length = snprintf(name, sizeof name, "f%0*d", LONG_NAME_BYTES, f * 7 % N_FUNCTIONS);
        assert_int_equal(length, LONG_NAME_BYTES + 1);
        snprintf(linkage, sizeof linkage, "_Z%d", f);
        snprintf(variable, sizeof variable, "%s::u", name);
        pm_id function = pm_pif_noun(
            pif, &(struct pm_pif_noun){.name = name, .level = "Source", .linkage = linkage});
        pm_pif_noun(pif,
                    &(struct pm_pif_noun){.name = variable, .level = "Source", .parent = function});
    }
    struct pm_buf buf = compact_of(pif);
    assert_in_range(buf.len, 1, LONG_NAME_BYTES + N_FUNCTIONS * 60);
    struct pm_pif *again = through_compact(pif);
    assert_same(pif, again);
    pm_buf_release(&buf);
    pm_pif_free(again);
    pm_pif_free(pif);
}

/* NAME_1.section is NAME.pif as version 1 wrote it, NAME_2.section a compressed chunk, and must
 * be readable for ever. */
static void sections_of_released_versions_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int version;
    } files[] = {{"every_key", 1}, {"hard_names", 1}, {"templates", 2}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[500], *bytes;
        size_t len;
        struct pm_pif *section = pm_pif_new(), *text = pm_pif_new();
        snprintf(path, sizeof path, "%s/%s_%d.section", PM_TEST_DATA, files[i].name,
                 files[i].version);
        assert_int_equal(pm_file_read(path, 1 << 20, NULL, &bytes, &len), PM_OK);
        assert_int_equal(pm_pif_read_compact(section, path, bytes, len, NULL), PM_OK);
        snprintf(path, sizeof path, "%s/%s.pif", PM_TEST_DATA, files[i].name);
        assert_int_equal(pm_pif_read_file(text, path, NULL), PM_OK);
        assert_same(text, section);
        free(bytes);
        pm_pif_free(section);
        pm_pif_free(text);
    }
}

static void the_widest_values_come_back(void **state)
{
    (void)state;
    struct pm_pif *pif = pm_pif_new();
    pm_id id = pm_pif_noun(pif, &(struct pm_pif_noun){.id = UINT64_MAX,
                                                      .name = "4294967295:4294967295",
                                                      .level = "\xff\n",
                                                      .kind = "statement",
                                                      .file = "",
                                                      .line = UINT32_MAX,
                                                      .column = UINT32_MAX,
                                                      .end_line = 1,
                                                      .parent = 12345});
    for (int i = 0; i < 5; i++) {
        char name[64];
        snprintf(name, sizeof name, "x%d.c:1:%u", i % 2, 7u + (unsigned)i);
        pm_pif_noun(pif, &(struct pm_pif_noun){
                             .name = name, .line = 1, .column = 7 + (unsigned)i, .parent = id});
        snprintf(name, sizeof name, "11%d1",
                 i); /* holds the line only as a part of other numbers */
        pm_pif_noun(pif, &(struct pm_pif_noun){.name = name, .line = 1, .end_line = UINT32_MAX});
    }
    pm_pif_verb(pif, &(struct pm_pif_verb){.id = UINT64_MAX, .name = "v", .description = "d"});
    struct pm_pif_mapping mapping = {.source = {UINT64_MAX, 8, {1, 2, 3, 4, 5, 6, 7, UINT64_MAX}},
                                     .destination = {77, 0, {0}},
                                     .weight = 5e-324};
    pm_pif_mapping(pif, &mapping);
    mapping.weight = 0;
    mapping.origin = "user";
    pm_pif_mapping(pif, &mapping);
    struct pm_pif *again = through_compact(pif);
    assert_same(pif, again);
    pm_pif_free(again);
    pm_pif_free(pif);
}

/* --- sections --- */

static void chunks_join_with_zeros_between(void **state)
{
    (void)state;
    struct pm_pif *a =
        read_text("NOUN\n  name = a\n  id = 00000000000000aa\n"
                  "MAPPING\n  source = {a, v}\n  destination = {#00000000000000bb, v}\n");
    struct pm_pif *b = read_text("NOUN\n  name = b\n  id = 00000000000000bb\nTOOL\n  x = y\n");
    struct pm_pif *joined = pm_pif_new();
    struct pm_buf buf = PM_BUF_INIT(1 << 20);
    pm_pif_write_compact(a, &buf);
    pm_buf_add(&buf, "\0\0\0\0\0", 5);
    pm_pif_write_compact(b, &buf);
    pm_buf_add(&buf, "\0", 1);
    pm_pif_write_compact(a, &buf); /* the same facts again: COMDAT, partial links */
    assert_int_equal(pm_pif_read_compact(joined, "t.o", buf.data, buf.len, NULL), PM_OK);
    assert_int_equal(pm_pif_read_compact(joined, "t.o", NULL, 0, NULL), PM_OK);
    assert_int_equal(pm_pif_read_compact(joined, "t.o", "\0\0\0", 3, NULL), PM_OK);
    assert_int_equal(pm_pif_n_nouns(joined), 2);
    assert_text(joined, "NOUN\n  name = a\n  id = 00000000000000aa\n"
                        "MAPPING\n  source = {a, v}\n  destination = {b, v}\n"
                        "NOUN\n  name = b\n  id = 00000000000000bb\nTOOL\n  x = y\n");
    pm_buf_release(&buf);
    pm_pif_free(joined);
    pm_pif_free(a);
    pm_pif_free(b);
}

static void assert_refused(const void *bytes, size_t len, enum pm_status status, const char *text)
{
    struct pm_pif *pif = pm_pif_new();
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_pif_read_compact(pif, "t.o", bytes, len, &err), status);
    assert_string_equal(pm_error_text(&err), text);
    pm_error_release(&err);
    pm_pif_free(pif);
}

static void damage_is_told_with_its_offset(void **state)
{
    (void)state;
    struct pm_pif *pif = read_text("NOUN\n  name = a\n");
    struct pm_buf buf = compact_of(pif);
    assert_refused("\0\0PIX", 5, PM_ERR_FORMAT,
                   "PIF section of 't.o' byte 2: no chunk begins here ('PIFc' and 16 bytes of "
                   "header were expected)");
    char text[200];
    snprintf(text, sizeof text,
             "PIF section of 't.o' byte 0: the chunk has %zu bytes, only %zu are there",
             buf.len - 16, buf.len - 17);
    assert_refused(buf.data, buf.len - 1, PM_ERR_FORMAT, text);
    buf.data[20] ^= 1;
    snprintf(text, sizeof text,
             "PIF section of 't.o' byte 0: the checksum of the chunk's %zu bytes is wrong",
             buf.len - 16);
    assert_refused(buf.data, buf.len, PM_ERR_FORMAT, text);
    buf.data[4] = 3;
    assert_refused(buf.data, buf.len, PM_ERR_VERSION,
                   "PIF section of 't.o' byte 0: this chunk is of version 3, this program reads "
                   "versions 1 and 2");
    pm_buf_release(&buf);
    pm_pif_free(pif);
}

static void fix_checksum(char *chunk, size_t len)
{
    uint32_t sum = XXH32(chunk + 16, len - 16, 0), size = (uint32_t)(len - 16);
    for (int i = 0; i < 4; i++) {
        chunk[8 + i] = (char)(size >> (8 * i));
        chunk[12 + i] = (char)(sum >> (8 * i));
    }
}

/* Names as C++ has them: long, and alike in their middle. */
static struct pm_pif *make_templates(int n)
{
    struct pm_pif *pif = pm_pif_new();
    for (int i = 0; i < n; i++) {
        char name[400], linkage[200];
        snprintf(name, sizeof name,
                 "container%d<std::map<std::__cxx11::basic_string<char>, value_%d>, "
                 "allocator<std::pair<const "
                 "std::__cxx11::basic_string<char>, value_%d> > >::insert(value_%d&&)",
                 i % 7, i, i, i);
        snprintf(linkage, sizeof linkage,
                 "_ZN9container%dISt3mapINSt7__cxx1112basic_stringIcEE7value_%dESaISt4pairIKS3_S4_"
                 "EEE6insertEOS4_",
                 i % 7, i);
        pm_pif_noun(pif,
                    &(struct pm_pif_noun){
                        .name = name, .linkage = linkage, .level = "Source", .kind = "function"});
    }
    return pif;
}

static void names_of_templates_are_compressed(void **state)
{
    (void)state;
    struct pm_pif *pif = make_templates(200), *again = pm_pif_new();
    struct pm_buf plain = compact_of(pif), compressed = PM_BUF_INIT(1 << 20);
    pm_pif_write_compressed(pif, &compressed);
    assert_int_equal(plain.data[4], 1);
    assert_int_equal(compressed.data[4], 2);
    assert_true(compressed.len < plain.len / 3);
    assert_int_equal(pm_pif_read_compact(again, "t.o", compressed.data, compressed.len, NULL),
                     PM_OK);
    assert_same(pif, again);
    pm_buf_release(&plain);
    pm_buf_release(&compressed);
    pm_pif_free(again);
    pm_pif_free(pif);
}

static void what_gains_little_is_not_compressed(void **state)
{
    (void)state;
    struct pm_pif *statements = make_program(true, true).pif, *few = make_templates(3);
    struct pm_pif *const pifs[] = {statements, few};
    for (size_t i = 0; i < 2; i++) {
        struct pm_buf plain = compact_of(pifs[i]), compressed = PM_BUF_INIT(1 << 20);
        pm_pif_write_compressed(pifs[i], &compressed);
        assert_int_equal(plain.len, compressed.len);
        assert_memory_equal(plain.data, compressed.data, plain.len);
        pm_buf_release(&plain);
        pm_buf_release(&compressed);
        pm_pif_free(pifs[i]);
    }
}

/* Payload behind the header of a compressed chunk; the message's %zu is the length of the
 * stream. */
static void assert_compressed_refused(const char *payload, size_t len, uint32_t size,
                                      enum pm_status status, const char *text)
{
    struct pm_buf chunk = PM_BUF_INIT(1 << 20);
    uLongf compressed_len = compressBound(len);
    Bytef *compressed = malloc(compressed_len);
    assert_int_equal(compress2(compressed, &compressed_len, (const Bytef *)payload, len, 9), Z_OK);
    pm_buf_add(&chunk, "PIFc\2\0\0\0\0\0\0\0\0\0\0\0", 16);
    for (int i = 0; i < 4; i++)
        pm_buf_add_byte(&chunk, (unsigned char)(size >> (8 * i)));
    pm_buf_add(&chunk, compressed, compressed_len);
    fix_checksum(chunk.data, chunk.len);
    char message[200], *number = strstr(text, "%zu");
    snprintf(message, sizeof message, "%.*s", number ? (int)(number - text) : (int)strlen(text),
             text);
    if (number)
        snprintf(message + strlen(message), sizeof message - strlen(message), "%zu%s",
                 (size_t)compressed_len, number + 3);
    assert_refused(chunk.data, chunk.len, status, message);
    free(compressed);
    pm_buf_release(&chunk);
}

static void damage_of_a_compressed_chunk_is_told(void **state)
{
    static const char zeros[100000];
    (void)state;
    assert_compressed_refused(
        "\1\3\1", 3, 4, PM_ERR_FORMAT,
        "PIF section of 't.o' byte 16: the chunk's %zu bytes do not decompress to 4");
    assert_compressed_refused(
        "\1\3\1", 3, 3, PM_ERR_FORMAT,
        "PIF section of 't.o' byte 0, decompressed byte 1: length of a block is 3, "
        "at most 2 is possible");
    assert_compressed_refused(
        zeros, sizeof zeros, sizeof zeros, PM_ERR_FORMAT,
        "PIF section of 't.o' byte 16: the chunk would decompress from %zu bytes to 100000");
    assert_compressed_refused(
        zeros, 3, 0, PM_ERR_FORMAT,
        "PIF section of 't.o' byte 16: the chunk would decompress from %zu bytes to 0");
}

/* Few bytes cannot be made many without bound. */
static void strings_unfold_to_64_times_their_bytes_only(void **state)
{
    enum { FIRST_BYTES = 4096 };
    (void)state;
    struct pm_pif *pif = pm_pif_new();
    char first[FIRST_BYTES];
    memset(first, 'a', sizeof first);
    for (int n_more = 10; n_more <= 1000; n_more *= 10) {
        struct pm_buf block = PM_BUF_INIT(1 << 20), chunk = PM_BUF_INIT(1 << 20);
        pm_buf_add_uleb(&block, (uint64_t)n_more + 1);
        pm_buf_add_uleb(&block, 0);
        pm_buf_add_uleb(&block, FIRST_BYTES);
        pm_buf_add(&block, first, sizeof first);
        for (int i = 0; i < n_more; i++) {
            pm_buf_add_uleb(&block, FIRST_BYTES - (unsigned)(i % 2));
            pm_buf_add_uleb(&block, i % 2);
            pm_buf_add(&block, "b", (size_t)(i % 2));
        }
        pm_buf_add(&chunk, "PIFc\1\0\0\0\0\0\0\0\0\0\0\0", 16);
        pm_buf_add_uleb(&chunk, 1);
        pm_buf_add_uleb(&chunk, block.len);
        pm_buf_add(&chunk, block.data, block.len);
        fix_checksum(chunk.data, chunk.len);
        struct pm_error err = PM_ERROR_INIT;
        assert_int_equal(pm_pif_read_compact(pif, "t.o", chunk.data, chunk.len, &err),
                         n_more < 50 ? PM_OK : PM_ERR_FORMAT);
        pm_error_release(&err);
        pm_buf_release(&block);
        pm_buf_release(&chunk);
    }
    pm_pif_free(pif);
}

static void a_block_of_a_later_version_is_passed_over(void **state)
{
    (void)state;
    struct pm_pif *pif = read_text("NOUN\n  name = a\n"), *again = pm_pif_new();
    struct pm_buf buf = compact_of(pif);
    pm_buf_add(&buf, "\x7f\x03xyz", 5);
    buf.data[6] = 9; /* minor version */
    fix_checksum(buf.data, buf.len);
    assert_int_equal(pm_pif_read_compact(again, "t.o", buf.data, buf.len, NULL), PM_OK);
    assert_same(pif, again);
    pm_buf_release(&buf);
    pm_pif_free(pif);
    pm_pif_free(again);
}

static void a_damaged_chunk_leaves_no_trace(void **state)
{
    (void)state;
    struct pm_pif *a = read_text("NOUN\n  name = a\n"), *b = read_text("NOUN\n  name = b\n"),
                  *joined = pm_pif_new();
    struct pm_buf buf = compact_of(a);
    size_t at = buf.len;
    pm_pif_write_compact(b, &buf);
    buf.data[buf.len - 1] ^= 1;
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_pif_read_compact(joined, "t.o", buf.data, buf.len, &err), PM_ERR_FORMAT);
    char text[100];
    snprintf(text, sizeof text, "PIF section of 't.o' byte %zu: ", at);
    assert_int_equal(strncmp(pm_error_text(&err), text, strlen(text)), 0);
    assert_text(joined, "NOUN\n  name = a\n");
    pm_error_release(&err);
    pm_buf_release(&buf);
    pm_pif_free(a);
    pm_pif_free(b);
    pm_pif_free(joined);
}

/* Each byte of a sound chunk is given other values, with a checksum that is right again: what the
 * checksum would hide must hold too. */
static void every_changed_byte_is_survived(void **state)
{
    (void)state;
    static const char *const files[] = {PM_TEST_DATA "/every_key.pif",
                                        PM_TEST_DATA "/hard_names.pif"};
    static const unsigned char values[] = {0, 1, 2, 3, 0x3f, 0x40, 0x7f, 0x80, 0xff};
    for (size_t f = 0; f < 2; f++) {
        struct pm_pif *pif = pm_pif_new();
        assert_int_equal(pm_pif_read_file(pif, files[f], NULL), PM_OK);
        struct pm_buf buf = compact_of(pif);
        size_t n_refused = 0;
        for (size_t i = 16; i < buf.len; i++) {
            char kept = buf.data[i];
            for (size_t v = 0; v < sizeof values; v++) {
                buf.data[i] = (char)values[v];
                fix_checksum(buf.data, buf.len);
                struct pm_pif *again = pm_pif_new();
                struct pm_error err = PM_ERROR_INIT;
                if (pm_pif_read_compact(again, "t.o", buf.data, buf.len, &err) != PM_OK) {
                    assert_true(err.status == PM_ERR_FORMAT || err.status == PM_ERR_LIMIT);
                    assert_int_equal(err.n_causes, 1);
                    n_refused++;
                } else {
                    free(text_of(again));
                }
                pm_error_release(&err);
                pm_pif_free(again);
            }
            buf.data[i] = kept;
        }
        assert_true(n_refused > buf.len);
        for (size_t len = 0; len < buf.len; len++) {
            struct pm_pif *again = pm_pif_new();
            if (len > 16)
                fix_checksum(buf.data, len);
            (void)!pm_pif_read_compact(again, "t.o", buf.data, len, NULL);
            pm_pif_free(again);
        }
        pm_buf_release(&buf);
        pm_pif_free(pif);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_and_mappings_take_few_bytes),
        cmocka_unit_test(a_whole_program_comes_back),
        cmocka_unit_test(long_names_with_one_beginning_take_few_bytes),
        cmocka_unit_test(strings_unfold_to_64_times_their_bytes_only),
        cmocka_unit_test(names_of_templates_are_compressed),
        cmocka_unit_test(what_gains_little_is_not_compressed),
        cmocka_unit_test(damage_of_a_compressed_chunk_is_told),
        cmocka_unit_test(sections_of_released_versions_are_read),
        cmocka_unit_test(the_widest_values_come_back),
        cmocka_unit_test(chunks_join_with_zeros_between),
        cmocka_unit_test(damage_is_told_with_its_offset),
        cmocka_unit_test(a_block_of_a_later_version_is_passed_over),
        cmocka_unit_test(a_damaged_chunk_leaves_no_trace),
        cmocka_unit_test(every_changed_byte_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
