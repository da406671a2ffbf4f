/* What statements write and read, and so what code is for that does not say it itself. */
#ifndef PM_COLLECT_TOUCHES_H
#define PM_COLLECT_TOUCHES_H

#include "format/pm_id.h"
#include "mapping/base/status.h"
#include "mapping/code/code_map.h"

struct collect_binary;
struct collect_code;
struct collector;

/* The innermost place that is not in the compiler's or the system's headers, where one calls the
 * other. */
struct pm_code_place collect_user_place(const struct collect_binary *binary,
                                        const struct pm_code_tuple *tuple, bool *ret_in_header);
/* Is it code of a function that a system header holds: of C++'s library? What the compiler made
 * of it has facts and no sleds. */
bool collect_is_library(const struct collect_code *code);
/* Maps a sentence to all that statements of a function or loop touch, as possible: it does
 * something for them, and which is not known. */
PM_MUST_CHECK enum pm_status collect_map_any_of(struct collector *c, struct collect_binary *binary,
                                                pm_id of, uint32_t sentence);
/* Maps a sentence of code that the caller called in C++'s library to what the call passes there. */
PM_MUST_CHECK enum pm_status collect_map_passed(struct collector *c,
                                                const struct collect_code *caller,
                                                uint32_t sentence);
/* Maps code to what it touches: first what the map says, then what is inferred of it. */
PM_MUST_CHECK enum pm_status collect_map_objects(struct collector *c, struct collect_code *code,
                                                 const struct pm_code_range *range,
                                                 const char *reason);

#endif
