/* Hand-made sleds for tests: what the plugin would leave, by the letter of format/pm_sled.h.
 *
 *     PM_TEST_FUNCTION(fib, 0x101);                     // defines fib, which has sleds and calls
 * fib_body long fib(long n); long fib_body(long n) { ... fib(n - 1) ... } PM_TEST_LOOP_ENTER(1,
 * 0x201); while (...) { } PM_TEST_LOOP_LEAVE(1, 0x201);
 */
#ifndef PM_TESTS_RUNTIME_SLEDS_H
#define PM_TESTS_RUNTIME_SLEDS_H

#define PM_TEST_STRING_(x) #x
#define PM_TEST_STRING(x) PM_TEST_STRING_(x)

#define PM_TEST_RECORD(label, kind, flags, must_save, id)                           \
    ".pushsection __perfmap_sleds,\"a\",@progbits\n"                                \
    ".long " label " - .\n"                                                         \
    ".byte " PM_TEST_STRING(kind) ", " PM_TEST_STRING(                              \
        flags) "\n"                                                                 \
               ".short " PM_TEST_STRING(must_save) "\n"                             \
                                                   ".quad " PM_TEST_STRING(id) "\n" \
                                                                               ".popsection\n"

#define PM_TEST_SLED(label, kind, flags, must_save, id) \
    label ": .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n" PM_TEST_RECORD(label, kind, flags, must_save, id)

/* entry_save, exit_save: must-save masks. Free at entry: rax, r11, r10; at exits: rcx, r11, r10,
 * rsi. */
#define PM_TEST_FUNCTION_SAVING(name, id, flags, entry_save, exit_save)                        \
    __asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name          \
            ":\n" PM_TEST_SLED(                                                                \
                ".Lentry_" #name, 1, flags, entry_save,                                        \
                id) "sub $8, %rsp\n.cfi_startproc\n.cfi_def_cfa_offset 16\ncall " #name        \
                    "_body\nadd $8, %rsp\n" PM_TEST_SLED(".Lexit_" #name, 2, flags, exit_save, \
                                                         id) "ret\n.cfi_endproc\n.size " #name \
                                                             ", .-" #name "\n")
#define PM_TEST_FUNCTION(name, id) PM_TEST_FUNCTION_SAVING(name, id, 0x80, 0xf3fe, 0xf3bd)

/* Leaves by a jump. */
#define PM_TEST_TAIL_FUNCTION(name, id, target)                                       \
    __asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name \
            ":\n.cfi_startproc\n" PM_TEST_SLED(".Lentry_" #name, 1, 0x80, 0xf3fe, id) \
                PM_TEST_SLED(".Ltail_" #name, 3, 0x80, 0xf3fe,                        \
                             id) "jmp " #target "\n.cfi_endproc\n.size " #name ", .-" #name "\n")

#define PM_TEST_LOOP_ENTER(depth, id) \
    __asm__ volatile(PM_TEST_SLED(".Lloop%=", 4, depth, 0xffff, id)::: "memory")
#define PM_TEST_LOOP_LEAVE(depth, id) \
    __asm__ volatile(PM_TEST_SLED(".Lloop%=", 5, depth, 0xffff, id)::: "memory")

#endif
