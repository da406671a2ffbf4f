/* Checks every sled record of a linked ELF file against format/pm_sled.h, and its id against the
 * file's compact PIF:
 *
 *     check_records [-n] FILE     prints "RECORDS ENTRIES RETURNS TAILS ENTERS LEAVES"; -n: none is
 * fine too
 *
 * Exit 0: all records point to the no-operation in an executable section, each to another one, with
 * sound kind, mask and depth, and each construct that has an exit has an entry; every id is a
 * symbol or loopcode of the PIF. Exit 1: what is wrong on standard error.
 */
#include "../../../format/pm_sled.h"
#include "../../../mapping/pif/pif.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static const unsigned char no_operation[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
static const unsigned char *file;
static int n_errors;
static bool none_is_fine, keeping_all_is_fine;

struct sled {
    uint64_t address, id;
    unsigned kind;
};

static void complain(const char *what, uint64_t address, uint64_t id)
{
    fprintf(stderr, "record of sled 0x%lx, id %016lx: %s\n", address, id, what);
    n_errors++;
}

static const Elf64_Shdr *section_at(uint64_t address)
{
    const Elf64_Ehdr *header = (const void *)file;
    const Elf64_Shdr *sections = (const void *)(file + header->e_shoff);
    for (int i = 0; i < header->e_shnum; i++)
        if ((sections[i].sh_flags & SHF_ALLOC) && address >= sections[i].sh_addr &&
            address + sizeof no_operation <= sections[i].sh_addr + sections[i].sh_size)
            return &sections[i];
    return NULL;
}

static bool is_of_loop(unsigned kind)
{
    return kind == PM_SLED_LOOP_ENTER || kind == PM_SLED_LOOP_LEAVE;
}

static void check_target(const struct sled *sled)
{
    const Elf64_Shdr *section = section_at(sled->address);
    if (section == NULL || !(section->sh_flags & SHF_EXECINSTR))
        complain("target is not in an executable section", sled->address, sled->id);
    else if (memcmp(file + section->sh_offset + (sled->address - section->sh_addr), no_operation,
                    sizeof no_operation) != 0)
        complain("target is not the no-operation", sled->address, sled->id);
}

static void check_record(const struct pm_sled_record *record, const struct sled *sled)
{
    bool is_loop = is_of_loop(record->kind);
    /* rbx, rsp, rbp, r12..r15 belong to the caller */
    unsigned always = 1u << 3 | 1u << 4 | 1u << 5 | 0xf000;
    check_target(sled);
    if (record->kind < PM_SLED_ENTRY || record->kind > PM_SLED_LAND)
        complain("unknown kind", sled->address, sled->id);
    if (record->id == 0)
        complain("id 0", sled->address, sled->id);
    if ((record->must_save & always) != always)
        complain("a callee-saved register is called free", sled->address, sled->id);
    if (record->kind == PM_SLED_LAND) {
        if (record->flags & ~(PM_SLED_DEPTH_MASK | PM_SLED_BY_SETJMP))
            complain("landing with other flags than its depth", sled->address, sled->id);
    } else if (!is_loop && record->flags != PM_SLED_SP_AT_CFA)
        complain("function sled without SP_AT_CFA", sled->address, sled->id);
    if (is_loop && (record->flags & ~PM_SLED_DEPTH_MASK))
        complain("loop sled with other flags than its depth", sled->address, sled->id);
    if (is_loop && (record->flags & PM_SLED_DEPTH_MASK) == 0)
        complain("loop sled of depth 0", sled->address, sled->id);
    if (record->kind == PM_SLED_ENTRY && record->must_save == 0xffff && !keeping_all_is_fine)
        complain("function entry without a free register", sled->address, sled->id);
}

static int by_address(const void *a, const void *b)
{
    const struct sled *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

static int by_id(const void *a, const void *b)
{
    const struct sled *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (int)x->kind - (int)y->kind;
}

static void check_all(struct sled *sleds, size_t n)
{
    qsort(sleds, n, sizeof *sleds, by_address);
    for (size_t i = 1; i < n; i++)
        if (sleds[i].address == sleds[i - 1].address)
            complain("two records for one address", sleds[i].address, sleds[i].id);
    qsort(sleds, n, sizeof *sleds, by_id);
    for (size_t i = 0; i < n; i++) {
        bool is_first = i == 0 || sleds[i].id != sleds[i - 1].id;
        if (is_first && sleds[i].kind != PM_SLED_ENTRY && sleds[i].kind != PM_SLED_LOOP_ENTER)
            complain("construct has exits but no entry", sleds[i].address, sleds[i].id);
        if (!is_first && is_of_loop(sleds[i].kind) != is_of_loop(sleds[i - 1].kind))
            complain("one id for a function and a loop", sleds[i].address, sleds[i].id);
    }
}

static void check_ids(const struct sled *sleds, size_t n, const char *path)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_pif *pif = pm_pif_new();
    if (pm_pif_read_elf(pif, path, &err, NULL) != PM_OK) {
        pm_error_print(&err, stderr);
        n_errors++;
    }
    for (size_t i = 0; i < n; i++) {
        bool is_loop = is_of_loop(sleds[i].kind);
        struct pm_pif_noun noun;
        if (!pm_pif_find_noun(pif, sleds[i].id, &noun))
            complain("id is not in the PIF", sleds[i].address, sleds[i].id);
        else if (strcmp(noun.level, "Base") != 0 ||
                 !(is_loop ? !strcmp(noun.kind, "loopcode") || !strcmp(noun.kind, "callcode")
                           : !strcmp(noun.kind, "symbol")))
            complain("id is of another kind or level in the PIF", sleds[i].address, sleds[i].id);
    }
    pm_pif_free(pif);
    pm_error_release(&err);
}

static const Elf64_Shdr *sled_section(void)
{
    const Elf64_Ehdr *header = (const void *)file;
    const Elf64_Shdr *sections = (const void *)(file + header->e_shoff);
    const char *names = (const char *)file + sections[header->e_shstrndx].sh_offset;
    for (int i = 0; i < header->e_shnum; i++)
        if (strcmp(names + sections[i].sh_name, PM_SLED_SECTION) == 0)
            return &sections[i];
    return NULL;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc - 1; i++) {
        none_is_fine |= strcmp(argv[i], "-n") == 0;
        keeping_all_is_fine |= strcmp(argv[i], "-k") == 0;
    }
    struct stat st;
    int fd = open(argv[argc - 1], O_RDONLY);
    if (argc < 2 || fd < 0 || fstat(fd, &st) != 0)
        return perror(argv[argc - 1]), 2;
    file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    const Elf64_Shdr *section = sled_section();
    if (section == NULL)
        return puts("0 0 0 0 0 0"), none_is_fine ? 0 : (fputs("no sleds\n", stderr), 1);
    if (section->sh_size % sizeof(struct pm_sled_record) || (section->sh_flags & SHF_WRITE))
        return fputs("size is no multiple of 16, or writable\n", stderr), 1;
    size_t n = section->sh_size / sizeof(struct pm_sled_record), n_kinds[6] = {0};
    const struct pm_sled_record *records = (const void *)(file + section->sh_offset);
    struct sled *sleds = calloc(n + 1, sizeof *sleds);
    for (size_t i = 0; i < n; i++) {
        uint64_t address = section->sh_addr + i * sizeof *records + (uint64_t)records[i].offset;
        sleds[i] = (struct sled){address, records[i].id, records[i].kind};
        check_record(&records[i], &sleds[i]);
        n_kinds[records[i].kind < 6 ? records[i].kind : 0]++;
    }
    check_all(sleds, n);
    check_ids(sleds, n, argv[argc - 1]);
    printf("%zu %zu %zu %zu %zu %zu\n", n, n_kinds[1], n_kinds[2], n_kinds[3], n_kinds[4],
           n_kinds[5]);
    free(sleds);
    return n_errors != 0;
}
