/* Calls that are not used here, made errors. Force-included by the build for everything but foreign
 * headers' needs. */
#ifndef PM_BANNED_H
#define PM_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef __cplusplus
#pragma GCC poison strcpy strcat sprintf vsprintf strtok atoi atol atoll gets strncpy
#endif

#endif
