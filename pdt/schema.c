/* schema.sql as a string. The build makes this file depend on it. */
#include "pdb.h"

__asm__(".section .rodata\n"
        ".globl pdt_schema_text\n"
        ".hidden pdt_schema_text\n"
        "pdt_schema_text:\n"
        ".incbin \"pdt/schema.sql\"\n"
        ".byte 0\n"
        ".previous\n");

extern const char pdt_schema_text[];

const char *pdt_schema(void)
{
    return pdt_schema_text;
}
