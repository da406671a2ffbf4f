/* On small files made by compilers, those that fuzzing begins with
 * (tests/fuzz/corpus/debuginfo): line 1 has sq, line 2 f, which inlines sq into its loop (clang
 * computes its sum otherwise), line 3 _start, which inlines sq. */
#include "../../mapping/base/str.h"
#include "../../mapping/debuginfo/debuginfo.h"
#include "../../mapping/debuginfo/elf_file.h"
#include "../../mapping/debuginfo/separate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>

#define CORPUS PM_TEST_FIXTURES "/../fuzz/corpus/debuginfo/"

enum { N_FRAMES = 8 };

static struct pm_debug *opened(const char *path)
{
    struct pm_debug *debug = NULL;
    struct pm_error err = PM_ERROR_INIT;
    if (pm_debug_open(path, NULL, &err, &debug) != PM_OK)
        fail_msg("%s", pm_error_text(&err));
    return debug;
}

/* The first address that belongs to the function; 0: none does. */
static uint64_t address_of(struct pm_debug *debug, const struct pm_elf_file *file,
                           const char *function)
{
    struct pm_debug_frame frames[N_FRAMES];
    for (size_t i = 0; i < file->n_code; i++)
        for (uint64_t at = file->code[i].low; at < file->code[i].high; at++) {
            size_t n = pm_debug_find(debug, at, frames, N_FRAMES);
            if (n > 0 && frames[n - 1].function && !strcmp(frames[n - 1].function, function))
                return at;
        }
    return 0;
}

/* In data, of which it is the only kind of symbol. */
static uint64_t slot_of(struct pm_debug *debug, const struct pm_elf_file *file, const char *name)
{
    struct pm_debug_frame frames[N_FRAMES];
    for (size_t i = 0; i < file->n_sections; i++)
        for (uint64_t at = 0; at < file->sections[i].size_bytes; at += 8) {
            size_t n = pm_debug_find(debug, file->sections[i].address + at, frames, N_FRAMES);
            if (n > 0 && frames[n - 1].function && !strcmp(frames[n - 1].function, name))
                return file->sections[i].address + at;
        }
    return 0;
}

static struct pm_elf_file *opened_file(const char *path)
{
    struct pm_elf_file *file = NULL;
    assert_int_equal(pm_elf_file_open(path, NULL, &file), PM_OK);
    return file;
}

/* sq is somewhere inlined into the function that this line declares and has all code of. */
static void expect_inlined(const char *path, const char *function, uint32_t line_no)
{
    struct pm_debug *debug = opened(path);
    struct pm_elf_file *file = opened_file(path);
    uint64_t low = address_of(debug, file, function);
    size_t n_inlined = 0;
    assert_true(low != 0);
    struct pm_debug_frame frames[N_FRAMES];
    size_t n = pm_debug_find(debug, low, frames, N_FRAMES);
    uint64_t high = frames[n - 1].high;
    assert_int_equal(frames[n - 1].low, low);
    for (uint64_t at = low; at < high; at++) {
        n = pm_debug_find(debug, at, frames, N_FRAMES);
        assert_in_range(n, 1, 2);
        assert_string_equal(frames[n - 1].function, function);
        assert_string_equal(frames[n - 1].linkage, function);
        assert_int_equal(frames[n - 1].declared_line_no, line_no);
        if (frames[n - 1].line_no != 0) /* compilers write 0 for code of no line */
            assert_int_equal(frames[n - 1].line_no, line_no);
        assert_int_equal(frames[n - 1].source, PM_DEBUG_DWARF);
        assert_false(frames[n - 1].is_inlined);
        if (n == 1)
            continue;
        n_inlined++;
        assert_string_equal(frames[0].function, "sq");
        assert_true(frames[0].is_inlined);
        assert_int_equal(frames[0].line_no, 1);
        assert_true(frames[0].low <= at && at < frames[0].high);
        assert_int_equal(pm_debug_find(debug, at, frames, 1), 1);
        assert_string_equal(frames[0].function, "sq");
    }
    assert_true(n_inlined > 0);
    assert_string_equal(pm_debug_file(debug), path);
    assert_null(pm_debug_problem(debug));
    pm_elf_file_close(file);
    pm_debug_free(debug);
}

static void inlined_calls_are_frames_of_their_own(void **state)
{
    (void)state;
    expect_inlined(CORPUS "gcc-2", "f", 2);
    expect_inlined(CORPUS "gcc-4", "f", 2);
    expect_inlined(CORPUS "gcc-5", "f", 2);
    expect_inlined(CORPUS "clang-5", "_start", 3);
    expect_inlined(CORPUS "clang-4-gz", "_start", 3);
}

static void an_object_is_read_relocated(void **state)
{
    (void)state;
    struct pm_debug *debug = opened(CORPUS "cxx.o");
    struct pm_debug_frame frames[N_FRAMES];
    size_t n = pm_debug_find(debug, 0, frames, N_FRAMES);
    assert_int_equal(n, 1);
    assert_non_null(frames[0].file);
    assert_non_null(strstr(frames[0].file, "/s.cc"));
    pm_debug_free(debug);
}

static void without_debug_information_symbols_answer(void **state)
{
    (void)state;
    struct pm_debug *debug = opened(CORPUS "plain.so");
    struct pm_elf_file *file = opened_file(CORPUS "plain.so");
    uint64_t at = address_of(debug, file, "f");
    assert_true(at != 0);
    struct pm_debug_frame frames[N_FRAMES];
    assert_int_equal(pm_debug_find(debug, at, frames, N_FRAMES), 1);
    assert_int_equal(frames[0].source, PM_DEBUG_SYMBOL);
    assert_null(frames[0].file);
    assert_true(address_of(debug, file, "f@plt") != 0);
    assert_true(slot_of(debug, file, "f@got") != 0);
    assert_null(pm_debug_file(debug));
    pm_elf_file_close(file);
    pm_debug_free(debug);
}

static void what_is_missing_is_said(void **state)
{
    (void)state;
    struct pm_debug *debug = opened(CORPUS "link");
    assert_non_null(
        strstr(pm_debug_problem(debug), "is in a file 'link.debug', which was not found"));
    pm_debug_free(debug);
    debug = opened(CORPUS "split");
    struct pm_elf_file *file = opened_file(CORPUS "split");
    uint64_t at = address_of(debug, file, "f");
    assert_true(at != 0);
    struct pm_debug_frame frame;
    assert_int_equal(pm_debug_find(debug, at, &frame, 1), 1);
    assert_true(frame.line_no != 0);
    assert_non_null(strstr(pm_debug_problem(debug), ".dwo files"));
    pm_elf_file_close(file);
    pm_debug_free(debug);
}

static void a_file_of_another_build_is_refused(void **state)
{
    (void)state;
    struct pm_debug *debug = NULL;
    struct pm_error err = PM_ERROR_INIT;
    struct pm_elf_file *file = opened_file(CORPUS "gcc-5");
    assert_int_equal(pm_debug_open(CORPUS "gcc-5", "00ff", &err, &debug), PM_ERR_NOT_FOUND);
    assert_non_null(strstr(pm_error_text(&err), file->build_id));
    assert_non_null(strstr(pm_error_text(&err), "00ff"));
    pm_error_release(&err);
    assert_int_equal(pm_debug_open(CORPUS "gcc-5", file->build_id, NULL, &debug), PM_OK);
    pm_elf_file_close(file);
    pm_debug_free(debug);
    assert_int_equal(pm_debug_open(CORPUS "absent", NULL, NULL, &debug), PM_ERR_SYSTEM);
    assert_int_equal(pm_debug_open(PM_TEST_FIXTURES, NULL, NULL, &debug), PM_ERR_FORMAT);
    assert_int_equal(pm_debug_open(PM_TEST_FIXTURES "/CMakeLists.txt", NULL, NULL, &debug),
                     PM_ERR_FORMAT);
}

static void the_checksum_of_debug_links_is_crc32(void **state)
{
    (void)state;
    const unsigned char check[] = "123456789";
    assert_int_equal(pm_separate_crc32(0, check, 9), 0xcbf43926);
    assert_int_equal(pm_separate_crc32(pm_separate_crc32(0, check, 4), check + 4, 5), 0xcbf43926);
}

/* Whatever allocation fails, there are fewer frames and no crash. */
static void memory_may_end_anywhere(void **state)
{
    (void)state;
    static const char *const files[] = {CORPUS "clang-5", CORPUS "gcc-4", CORPUS "plain.so",
                                        CORPUS "split", CORPUS "link"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct pm_elf_file *file = opened_file(files[i]);
        bool is_ahead = false;
        for (long n = 1; !is_ahead && n < 5000; n++) {
            struct pm_debug *debug = NULL;
            pm_alloc_fail_at(n);
            if (pm_debug_open(files[i], NULL, NULL, &debug) == PM_OK) {
                struct pm_debug_frame frames[N_FRAMES];
                for (uint64_t at = file->code[0].low; at < file->code[0].high; at += 3)
                    (void)pm_debug_find(debug, at, frames, N_FRAMES);
                (void)pm_debug_problem(debug);
                pm_debug_free(debug);
            }
            is_ahead = pm_alloc_fail_pending();
            pm_alloc_fail_at(0);
        }
        assert_true(is_ahead);
        pm_elf_file_close(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inlined_calls_are_frames_of_their_own),
        cmocka_unit_test(an_object_is_read_relocated),
        cmocka_unit_test(without_debug_information_symbols_answer),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(a_file_of_another_build_is_refused),
        cmocka_unit_test(the_checksum_of_debug_links_is_crc32),
        cmocka_unit_test(memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
