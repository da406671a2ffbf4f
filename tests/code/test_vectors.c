#include "../../mapping/code/vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

/* "addpd xmm0, xmm1; ..." */
static void expect(const char *code, bool is_loop, const char *verdict)
{
    struct pm_vectors vectors = {0};
    struct pm_buf out = PM_BUF_INIT(4096);
    for (const char *p = code; *p; p += strspn(p, "; ")) {
        char mnemonic[32] = "", operands[96] = "";
        size_t len = strcspn(p, ";"), word = strcspn(p, " ;");
        memcpy(mnemonic, p, word);
        memcpy(operands, p + word, len - word);
        pm_vectors_count(&vectors, mnemonic, operands);
        p += len;
    }
    assert_int_equal(pm_vectors_say(&vectors, is_loop, &out), verdict != NULL);
    if (verdict)
        assert_string_equal(out.data, verdict);
    pm_buf_release(&out);
}

static void arithmetic_on_vectors_is_told_with_its_width(void **state)
{
    (void)state;
    expect("movupd xmm1, xmmword ptr [rax]; mulpd xmm1, xmm0; addpd xmm2, xmm1; add rax, 16", true,
           "vectorised: 2 of 4 instructions compute on vectors of 16 bytes (2 doubles)");
    expect("vfmadd231ps ymm0, ymm1, ymmword ptr [rax]; vaddss xmm1, xmm2, xmm3", true,
           "vectorised: 1 of 2 instructions compute on vectors of 32 bytes (8 floats), 1 on single "
           "floating-point numbers");
    expect("paddd xmm0, xmmword ptr [rdi]; vpaddd zmm0, zmm1, zmm2", true,
           "vectorised: 2 of 2 instructions compute on vectors of 64 bytes (16 integers of 4 "
           "bytes)");
    expect("vpsadbw xmm0, xmm1, xmm2", false,
           "vectorised: 1 of 1 instructions compute on vectors of 16 bytes (2 integers of 8 "
           "bytes)");
}

static void single_numbers_in_vector_registers_are_none(void **state)
{
    (void)state;
    expect("mulsd xmm0, xmm1; addsd xmm0, qword ptr [rax]; movapd xmm2, xmm0; xorpd xmm1, xmm1; "
           "unpcklps xmm0, xmm0; cvtps2pd xmm0, xmm0; pxor xmm3, xmm3",
           true,
           "not vectorised: 2 of 7 instructions compute on single floating-point numbers, none on "
           "vectors");
    expect("add eax, ecx; cmp eax, 3; jne 0x10", true,
           "not vectorised: none of 3 instructions computes on vectors");
    expect("add eax, ecx; mulps", false, NULL);
    expect("pcmpistri xmm0, xmm1, 0; psrldq xmm0, 8", false, NULL);
    expect("", true, NULL);
}

static void moves_alone_are_no_arithmetic(void **state)
{
    (void)state;
    expect("movdqu xmm0, xmmword ptr [rsi]; movups xmmword ptr [rdi], xmm0; movaps xmm1, xmm0",
           true, "moves 16 bytes at a time, computes on no vectors");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_on_vectors_is_told_with_its_width),
        cmocka_unit_test(single_numbers_in_vector_registers_are_none),
        cmocka_unit_test(moves_alone_are_no_arithmetic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
