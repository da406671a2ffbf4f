/* Between pif.c and pif_map.c. */
#ifndef CMD_PIF_H
#define CMD_PIF_H

#include "mapping/code/code_map.h"
#include "mapping/pif/pif.h"

/* Prints the late map of a binary, or the part of it that at names (NULL: all): an address, or a
 * symbol or function; names come from pif. path is for messages. PM_ERR_NOT_FOUND: there is no
 * such code in it. */
PM_MUST_CHECK enum pm_status pif_map_print(const char *path, const struct pm_code_map *map,
                                           const struct pm_pif *pif, const char *at, bool json,
                                           FILE *out, struct pm_error *err);

#endif
