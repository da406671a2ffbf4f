#include "pif_helpers.h"

#include "format/pm_sled.h"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

static char path[64];

static const char names[] = "\0.shstrtab\0" PM_PIF_SECTION "\0" PM_SLED_SECTION "\0.text";
enum {
    NAME_TABLE = 1,
    NAME_PIF = 11,
    NAME_SLEDS = NAME_PIF + sizeof PM_PIF_SECTION,
    NAME_TEXT = NAME_SLEDS + sizeof PM_SLED_SECTION
};

static Elf_Scn *add_section(Elf *elf, unsigned name, unsigned type, const void *bytes, size_t len)
{
    Elf_Scn *section = elf_newscn(elf);
    Elf_Data *data = elf_newdata(section);
    GElf_Shdr header;
    data->d_buf = (void *)(uintptr_t)bytes;
    data->d_size = len;
    data->d_align = 1;
    assert_non_null(gelf_getshdr(section, &header));
    header.sh_name = name;
    header.sh_type = type;
    assert_true(gelf_update_shdr(section, &header));
    return section;
}

static struct pm_buf chunk_of(const char *text)
{
    struct pm_pif *pif = read_text(text);
    struct pm_buf buf = PM_BUF_INIT(1 << 20);
    pm_pif_write_compact(pif, &buf);
    pm_pif_free(pif);
    return buf;
}

/* A file of the class with a PIF section for each text that is not NULL, the first of them packed
 * if asked, and sleds. */
static void make_elf(int class, const char *const texts[2], bool packed, size_t n_sleds)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0 && elf_version(EV_CURRENT) != EV_NONE);
    Elf *elf = elf_begin(fd, ELF_C_WRITE, NULL);
    assert_true(gelf_newehdr(elf, class));
    GElf_Ehdr header;
    assert_non_null(gelf_getehdr(elf, &header));
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_REL;
    header.e_machine = class == ELFCLASS64 ? EM_X86_64 : EM_386;
    header.e_version = EV_CURRENT;
    header.e_shstrndx = 1;
    assert_true(gelf_update_ehdr(elf, &header));
    add_section(elf, NAME_TABLE, SHT_STRTAB, names, sizeof names);
    add_section(elf, NAME_TEXT, SHT_PROGBITS, "\x90", 1);
    struct pm_buf chunks[2] = {PM_BUF_INIT(1), PM_BUF_INIT(1)};
    for (int i = 0; i < 2; i++)
        if (texts[i]) {
            chunks[i] = chunk_of(texts[i]);
            Elf_Scn *section =
                add_section(elf, NAME_PIF, SHT_PROGBITS, chunks[i].data, chunks[i].len);
            if (packed && i == 0) {
                assert_true(elf_update(elf, ELF_C_NULL) > 0);
                assert_int_equal(elf_compress(section, ELFCOMPRESS_ZLIB, ELF_CHF_FORCE), 1);
            }
        }
    static const struct pm_sled_record sleds[8];
    if (n_sleds)
        add_section(elf, NAME_SLEDS, SHT_PROGBITS, sleds, n_sleds * sizeof *sleds);
    if (elf_update(elf, ELF_C_WRITE) < 0)
        fail_msg("%s", elf_errmsg(-1));
    elf_end(elf);
    close(fd);
    pm_buf_release(&chunks[0]);
    pm_buf_release(&chunks[1]);
}

static const char one[] =
    "NOUN\n  name = a\n  description = "
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n";
static const char two[] = "NOUN\n  name = b\n";

static void sections_of_both_classes_are_found(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        make_elf(i % 2 ? ELFCLASS64 : ELFCLASS32, (const char *const[]){one, two}, i / 2, 5);
        struct pm_pif *pif = pm_pif_new();
        struct pm_error err = PM_ERROR_INIT;
        size_t n_sleds = 0;
        if (pm_pif_read_elf(pif, path, &err, &n_sleds) != PM_OK)
            fail_msg("%s", pm_error_text(&err));
        assert_int_equal(pm_pif_n_nouns(pif), 2);
        assert_int_equal(n_sleds, 5);
        pm_pif_free(pif);
    }
}

static void assert_status(enum pm_status expected, const char *file, const char *text)
{
    struct pm_pif *pif = pm_pif_new();
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_pif_read_elf(pif, file, &err, NULL), expected);
    assert_non_null(strstr(pm_error_text(&err), file));
    assert_non_null(strstr(pm_error_text(&err), text));
    pm_error_release(&err);
    pm_pif_free(pif);
}

static void other_files_are_told(void **state)
{
    (void)state;
    make_elf(ELFCLASS64, (const char *const[]){NULL, NULL}, false, 2);
    assert_status(PM_ERR_NOT_FOUND, path,
                  "' has no section .perfmap.pif: it was not compiled with -fplugin=perfmap.so");
    assert_int_equal(pm_file_write(path, "#!/bin/sh\n", 10, NULL), PM_OK);
    assert_status(PM_ERR_FORMAT, path, "' is not an ELF file");
    assert_int_equal(pm_file_write(path, "", 0, NULL), PM_OK);
    assert_status(PM_ERR_FORMAT, path, "' is not an ELF file");
    assert_status(PM_ERR_FORMAT, "/tmp", "' is not a regular file");
    unlink(path);
    assert_status(PM_ERR_SYSTEM, path, "': No such file or directory");
}

static void a_damaged_file_is_survived(void **state)
{
    (void)state;
    for (int packed = 0; packed < 2; packed++) {
        char *data;
        size_t len, n_refused = 0;
        make_elf(ELFCLASS64, (const char *const[]){one, two}, packed, 2);
        assert_int_equal(pm_file_read(path, 1 << 20, NULL, &data, &len), PM_OK);
        int fd = open(path, O_RDWR);
        assert_true(fd >= 0);
        for (size_t i = 0; i < len; i++) {
            static const unsigned char changes[] = {0, 1, 0x7f, 0x80, 0xff};
            for (size_t v = 0; v < sizeof changes; v++) {
                assert_int_equal(pwrite(fd, &changes[v], 1, (off_t)i), 1);
                struct pm_pif *pif = pm_pif_new();
                n_refused += pm_pif_read_elf(pif, path, NULL, NULL) != PM_OK;
                pm_pif_free(pif);
            }
            assert_int_equal(pwrite(fd, data + i, 1, (off_t)i), 1);
        }
        assert_true(n_refused > 100);
        while (len--) {
            assert_int_equal(ftruncate(fd, (off_t)len), 0);
            struct pm_pif *pif = pm_pif_new();
            assert_int_not_equal(pm_pif_read_elf(pif, path, NULL, NULL), PM_OK);
            pm_pif_free(pif);
        }
        close(fd);
        free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_of_both_classes_are_found),
        cmocka_unit_test(other_files_are_told),
        cmocka_unit_test(a_damaged_file_is_survived),
    };
    snprintf(path, sizeof path, "/tmp/perfmap-test-elf-%ld", (long)getpid());
    int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return n_failed;
}
