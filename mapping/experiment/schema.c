/* schema.sql as a string. The build makes this file depend on it. */
#include "experiment_internal.h"

__asm__(".section .rodata\n"
        ".globl pm_experiment_schema_text\n"
        ".hidden pm_experiment_schema_text\n"
        "pm_experiment_schema_text:\n"
        ".incbin \"mapping/experiment/schema.sql\"\n"
        ".byte 0\n"
        ".previous\n");

extern const char pm_experiment_schema_text[];

const char *pm_experiment_schema(void)
{
    return pm_experiment_schema_text;
}
