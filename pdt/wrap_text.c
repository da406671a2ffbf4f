/* The parts that every wrapper has, as strings. The build makes this file depend on them. */
#include "wrap_text.h"

#define TEXT(name, file)                    \
    __asm__(".section .rodata\n"            \
            ".globl " name "\n"             \
            ".hidden " name "\n" name ":\n" \
            ".incbin \"" file "\"\n"        \
            ".byte 0\n"                     \
            ".previous\n")

TEXT("pdt_wrap_head", "pdt/wrapper/head.c");
TEXT("pdt_wrap_stub", "pdt/wrapper/stub.c");
TEXT("pdt_wrap_role", "pdt/wrapper/roles.c");
