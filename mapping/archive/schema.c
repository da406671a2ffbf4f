/* schema.sql as a string. The build makes this file depend on it. */
#include "archive.h"

__asm__(".section .rodata\n"
        ".globl pm_archive_schema_text\n"
        ".hidden pm_archive_schema_text\n"
        "pm_archive_schema_text:\n"
        ".incbin \"mapping/archive/schema.sql\"\n"
        ".byte 0\n"
        ".previous\n");

extern const char pm_archive_schema_text[];

const char *pm_archive_schema(void)
{
    return pm_archive_schema_text;
}
