#include "mapping/code/blame.h"
#include "mapping/base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BASE = 0x1000 };

/* A program of one segment whose code begins at BASE. */
static struct pm_blame *open_code(const void *code, size_t len, int machine, const char **ret_path)
{
    static char path[] = "blame-XXXXXX.elf";
    struct {
        Elf64_Ehdr header;
        Elf64_Phdr segment;
    } head = {
        {.e_type = ET_DYN,
         .e_machine = (Elf64_Half)machine,
         .e_phoff = sizeof(Elf64_Ehdr),
         .e_phentsize = sizeof(Elf64_Phdr),
         .e_phnum = 1},
        {.p_type = PT_LOAD,
         .p_flags = PF_R | PF_X,
         .p_offset = sizeof head,
         .p_vaddr = BASE,
         .p_filesz = len,
         .p_memsz = len},
    };
    memcpy(head.header.e_ident, ELFMAG, SELFMAG);
    head.header.e_ident[EI_CLASS] = ELFCLASS64;
    head.header.e_ident[EI_DATA] = ELFDATA2LSB;
    memcpy(path, "blame-XXXXXX.elf", sizeof path);
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, &head, sizeof head), sizeof head);
    assert_int_equal(write(fd, code, len), len);
    close(fd);
    struct pm_error err = PM_ERROR_INIT;
    struct pm_blame *blame = NULL;
    assert_int_equal(pm_blame_open(path, &err, &blame), PM_OK);
    pm_error_release(&err);
    *ret_path = path;
    return blame;
}

static const unsigned char walk[] = {
    0x31, 0xd2,                   /* 1000 xor %edx, %edx */
    0x8b, 0x04, 0x87,             /* 1002 mov (%rdi,%rax,4), %eax: target of the jump below */
    0x8b, 0x04, 0x87,             /* 1005 mov (%rdi,%rax,4), %eax */
    0x48, 0x39, 0xd6,             /* 1008 cmp %rdx, %rsi */
    0x75, 0xf5,                   /* 100b jne 1002 */
    0xc3,                         /* 100d ret */
    0x31, 0xc0,                   /* 100e xor %eax, %eax: reached from elsewhere */
    0x0f, 0x1f, 0x44, 0x00, 0x00, /* 1010 a sled */
    0x74, 0x02,                   /* 1015 je 1019 */
    0x31, 0xc0,                   /* 1017 xor %eax, %eax */
    0xc3,                         /* 1019 ret: target of a jump down */
    0x31, 0xc0,                   /* 101a xor %eax, %eax: target of two jumps up */
    0x75, 0xfc,                   /* 101c jne 101a */
    0x75, 0xfa,                   /* 101e jne 101a */
    0xc3,                         /* 1020 ret */
};

static void time_belongs_to_the_instruction_before(void **state)
{
    (void)state;
    const char *path;
    struct pm_blame *blame = open_code(walk, sizeof walk, EM_X86_64, &path);
    const size_t n = sizeof walk;
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x1005), 0x1002);
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x1008), 0x1005);
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x100b), 0x1005); /* not the comparison */
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x100d), 0x1005); /* nor the jump */
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x1002), 0x1005); /* a loop's head */
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x1010), 0x100e);
    pm_blame_free(blame);
    unlink(path);
}

static const unsigned char repeated[] = {
    0x8b, 0x04, 0x87, /* 1000 mov (%rdi,%rax,4), %eax */
    0xf3, 0x48, 0xa5, /* 1003 rep movsq */
    0x8b, 0x04, 0x87, /* 1006 mov (%rdi,%rax,4), %eax */
    0x48, 0xa5,       /* 1009 movsq: once */
    0xf2, 0xae,       /* 100b repne scasb */
    0xc3,             /* 100d ret */
};

static void repeated_instructions_are_interrupted_themselves(void **state)
{
    (void)state;
    const char *path;
    struct pm_blame *blame = open_code(repeated, sizeof repeated, EM_X86_64, &path);
    const size_t n = sizeof repeated;
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x1003), 0x1003);
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x1006), 0x1003);
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x1009), 0x1006);
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x100b), 0x100b);
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x100d), 0x100b);
    pm_blame_free(blame);
    unlink(path);
}

static const unsigned char brief_heads[] = {
    0x31, 0xd0,       /* 1000 xor %edx, %eax: target of the jump below */
    0x0f, 0xaf, 0xc2, /* 1002 imul %edx, %eax */
    0x0f, 0xaf, 0xc2, /* 1005 imul %edx, %eax */
    0x39, 0xd6,       /* 1008 cmp %edx, %esi */
    0x75, 0xf4,       /* 100a jne 1000 */
    0x31, 0xd0,       /* 100c xor %edx, %eax: target of the jump below */
    0x01, 0xd0,       /* 100e add %edx, %eax */
    0x75, 0xfa,       /* 1010 jne 100c */
    0xc3,             /* 1012 ret */
};

static const unsigned char entered_from_below[] = {
    0x0f, 0xaf, 0xc2, /* 1000 imul %edx, %eax: target of the loop's jump */
    0x83, 0xc0, 0x01, /* 1003 add $1, %eax */
    0x39, 0xd6,       /* 1006 cmp %edx, %esi: where the loop is entered from 1010 */
    0x7e, 0xf6,       /* 1008 jle 1000 */
    0x39, 0xde,       /* 100a cmp %ebx, %esi */
    0x7d, 0x04,       /* 100c jge 1012 */
    0x31, 0xc0,       /* 100e xor %eax, %eax */
    0xeb, 0xf4,       /* 1010 jmp 1006 */
    0xc3,             /* 1012 ret */
};

static void what_enters_a_loop_from_below_did_not_wait_in_it(void **state)
{
    (void)state;
    const char *path;
    struct pm_blame *blame =
        open_code(entered_from_below, sizeof entered_from_below, EM_X86_64, &path);
    const size_t n = sizeof entered_from_below;
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x1006), 0x1000);
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x1003), 0x1000);
    pm_blame_free(blame);
    unlink(path);
}

static void behind_a_brief_head_of_a_loop_its_last_instruction_waited(void **state)
{
    (void)state;
    const char *path;
    struct pm_blame *blame = open_code(brief_heads, sizeof brief_heads, EM_X86_64, &path);
    const size_t n = sizeof brief_heads;
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x1000), 0x1005);
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x1002), 0x1005); /* not the xor */
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x1005), 0x1002);
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x1008), 0x1005);
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x100e), 0x100c); /* the add is brief, too */
    pm_blame_free(blame);
    unlink(path);
}

static const unsigned char sum[] = {
    0xf2, 0x0f, 0x58, 0x07, /* 1000 addsd (%rdi), %xmm0: target of the jump below */
    0x48, 0x83, 0xc7, 0x20, /* 1004 add $32, %rdi */
    0x48, 0x39, 0xc7,       /* 1008 cmp %rax, %rdi */
    0x75, 0xf3,             /* 100b jne 1000 */
    0x83, 0xc2, 0x01,       /* 100d add $1, %edx: target of the jump below */
    0xff, 0xc9,             /* 1010 dec %ecx */
    0x75, 0xf9,             /* 1012 jne 100d */
    0x01, 0xc2,             /* 1014 add %eax, %edx: no constant */
    0xc3,                   /* 1016 ret */
};

static void a_loops_step_retires_with_what_takes_longer(void **state)
{
    (void)state;
    const char *path;
    struct pm_blame *blame = open_code(sum, sizeof sum, EM_X86_64, &path);
    const size_t n = sizeof sum;
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x1004), 0x1000);
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x1008), 0x1000);
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x100b), 0x1000);
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x1000), 0x1000);
    /* a loop that only counts has nothing slower */
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x1012), 0x1010);
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x100d), 0x1010);
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x1016), 0x1014);
    pm_blame_free(blame);
    unlink(path);
}

static void it_stays_where_the_instruction_before_is_not_known(void **state)
{
    (void)state;
    const char *path;
    struct pm_blame *blame = open_code(walk, sizeof walk, EM_X86_64, &path);
    const size_t n = sizeof walk;
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x1000), 0x1000); /* the first */
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x1019), 0x1019); /* a jump's target */
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x101a), 0x101a); /* several jumps' */
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x1003), 0x1003); /* within one */
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x100e), 0x100e); /* behind ret */
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x1015), 0x1015); /* behind a sled */
    assert_int_equal(pm_blame_address(blame, BASE, n, 0x2000), 0x2000); /* outside */
    assert_int_equal(pm_blame_address(blame, BASE, n + 1, 0x1005),
                     0x1005);                                             /* not all in the file */
    assert_int_equal(pm_blame_address(blame, 0x1002, 9, 0x1008), 0x1005); /* another piece */
    pm_blame_free(blame);
    unlink(path);
}

static void other_machines_and_other_files_are_told_apart(void **state)
{
    (void)state;
    const char *path;
    struct pm_blame *blame = open_code(walk, sizeof walk, EM_AARCH64, &path);
    assert_int_equal(pm_blame_address(blame, BASE, sizeof walk, 0x1005), 0x1005);
    pm_blame_free(blame);
    unlink(path);
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_blame_open("/dev/null", &err, &blame), PM_ERR_FORMAT);
    pm_error_release(&err);
    err = (struct pm_error)PM_ERROR_INIT;
    assert_int_equal(pm_blame_open("no-such-file", &err, &blame), PM_ERR_SYSTEM);
    assert_non_null(strstr(pm_error_text(&err), "no-such-file"));
    pm_error_release(&err);
}

/* Any bytes: the answer lies within. */
static void any_bytes_are_decoded(void **state)
{
    (void)state;
    unsigned seed = 7;
    unsigned char bytes[256];
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (unsigned char)((seed = seed * 1103515245u + 12345u) >> 16);
        const char *path;
        struct pm_blame *blame = open_code(bytes, sizeof bytes, EM_X86_64, &path);
        for (uint64_t at = BASE; at < BASE + sizeof bytes; at++) {
            uint64_t found = pm_blame_address(blame, BASE, sizeof bytes, at);
            assert_true(found >= BASE && found < BASE + sizeof bytes);
        }
        pm_blame_free(blame);
        unlink(path);
    }
}

/* The room behind the jump into the middle of a loop is filled up. */
static void loops_are_found_behind_fillers(void **state)
{
    (void)state;
    static const unsigned char code[] = {
        0xeb, 0x0a,             /* 1000 jmp 100c */
        0x0f, 0x1f, 0x40, 0x00, /* 1002 nopl, 4 bytes */
        0xff, 0xc0,             /* 1006 inc %eax: from 100e */
        0xff, 0xca,             /* 1008 dec %edx */
        0x74, 0x08,             /* 100a je 1014 */
        0xa8, 0x40,             /* 100c test $0x40, %al: head; from 1000, 100a, 1012 */
        0x75, 0xf6,             /* 100e jne 1006 */
        0xff, 0xca,             /* 1010 dec %edx */
        0x75, 0xf8,             /* 1012 jne 100c */
        0xc3,                   /* 1014 ret */
    };
    const char *path;
    struct pm_blame *blame = open_code(code, sizeof code, EM_X86_64, &path);
    struct pm_blame_loop loops[4];
    for (uint64_t at = 0; at < sizeof code; at++) {
        bool is_inside = at >= 6 && at < 0x14;
        size_t n = pm_blame_loops(blame, BASE, sizeof code, BASE + at, loops, 4);
        assert_int_equal(n, is_inside);
        if (n) {
            assert_int_equal(loops[0].head, BASE + 0xc);
            assert_int_equal(loops[0].last, BASE + 0x12);
        }
    }
    assert_int_equal(pm_blame_loops(blame, BASE, sizeof code, BASE + sizeof code, loops, 4), 0);
    pm_blame_free(blame);
    unlink(path);
}

static const unsigned char calling[] = {
    0xe8, 0x00, 0x01, 0x00, 0x00, /* 1000 call 1105 */
    0x75, 0x07,                   /* 1005 jne 100e */
    0xff, 0xd0,                   /* 1007 call *%rax */
    0xe9, 0x00, 0x01, 0x00, 0x00, /* 1009 jmp 110e: elsewhere */
    0x31, 0xc0,                   /* 100e xor %eax, %eax */
    0xc3,                         /* 1010 ret */
};

static void calls_and_jumps_to_elsewhere_are_found(void **state)
{
    (void)state;
    static const uint64_t expected[] = {BASE, BASE + 7, BASE + 9};
    const char *path;
    struct pm_blame *blame = open_code(calling, sizeof calling, EM_X86_64, &path);
    uint64_t at = BASE;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++, at++) {
        assert_true(pm_blame_next_call(blame, BASE, sizeof calling, &at));
        assert_int_equal(at, expected[i]);
    }
    assert_false(pm_blame_next_call(blame, BASE, sizeof calling, &at));
    pm_blame_free(blame);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_belongs_to_the_instruction_before),
        cmocka_unit_test(repeated_instructions_are_interrupted_themselves),
        cmocka_unit_test(behind_a_brief_head_of_a_loop_its_last_instruction_waited),
        cmocka_unit_test(what_enters_a_loop_from_below_did_not_wait_in_it),
        cmocka_unit_test(a_loops_step_retires_with_what_takes_longer),
        cmocka_unit_test(it_stays_where_the_instruction_before_is_not_known),
        cmocka_unit_test(other_machines_and_other_files_are_told_apart),
        cmocka_unit_test(any_bytes_are_decoded),
        cmocka_unit_test(loops_are_found_behind_fillers),
        cmocka_unit_test(calls_and_jumps_to_elsewhere_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
