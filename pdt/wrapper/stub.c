
/* A function with parameters that C cannot hand on is counted and then jumped to, with all
 * registers and the stack as they came. So it returns to the caller, and nobody sees it end. */
WRAP_INLINE void *wrap_count(struct wrap_function *function)
{
    wrap_leave(wrap_enter(function));
    return function->real;
}

#if !defined(__x86_64__)
#error "functions with any number of parameters are counted on x86-64 only: leave them out"
#endif
/* clang-format off */
#define WRAP_STUB(symbol, count)                                                             \
    __asm__(".pushsection .text\n\t.globl " symbol "\n\t.type " symbol ",@function\n\t"      \
            ".p2align 4\n" symbol ":\n\t.cfi_startproc\n\tendbr64\n\tpush %rbp\n\t"          \
            ".cfi_def_cfa_offset 16\n\t.cfi_offset 6, -16\n\tmov %rsp, %rbp\n\t"             \
            ".cfi_def_cfa_register 6\n\tsub $192, %rsp\n\t"                                  \
            "mov %rdi, (%rsp)\n\tmov %rsi, 8(%rsp)\n\tmov %rdx, 16(%rsp)\n\t"                \
            "mov %rcx, 24(%rsp)\n\tmov %r8, 32(%rsp)\n\tmov %r9, 40(%rsp)\n\t"               \
            "mov %rax, 48(%rsp)\n\tmov %r10, 56(%rsp)\n\t"                                   \
            "movaps %xmm0, 64(%rsp)\n\tmovaps %xmm1, 80(%rsp)\n\tmovaps %xmm2, 96(%rsp)\n\t" \
            "movaps %xmm3, 112(%rsp)\n\tmovaps %xmm4, 128(%rsp)\n\t"                         \
            "movaps %xmm5, 144(%rsp)\n\tmovaps %xmm6, 160(%rsp)\n\t"                         \
            "movaps %xmm7, 176(%rsp)\n\tcall " count "\n\tmov %rax, %r11\n\t"                \
            "mov (%rsp), %rdi\n\tmov 8(%rsp), %rsi\n\tmov 16(%rsp), %rdx\n\t"                \
            "mov 24(%rsp), %rcx\n\tmov 32(%rsp), %r8\n\tmov 40(%rsp), %r9\n\t"               \
            "mov 48(%rsp), %rax\n\tmov 56(%rsp), %r10\n\t"                                   \
            "movaps 64(%rsp), %xmm0\n\tmovaps 80(%rsp), %xmm1\n\tmovaps 96(%rsp), %xmm2\n\t" \
            "movaps 112(%rsp), %xmm3\n\tmovaps 128(%rsp), %xmm4\n\t"                         \
            "movaps 144(%rsp), %xmm5\n\tmovaps 160(%rsp), %xmm6\n\t"                         \
            "movaps 176(%rsp), %xmm7\n\tleave\n\t.cfi_def_cfa 7, 8\n\tjmp *%r11\n\t"         \
            ".cfi_endproc\n\t.size " symbol ", .-" symbol "\n\t.popsection")
/* clang-format on */
