/* A cause as text: a member of a W3C baggage header (docs/formats/baggage.md).
 *
 *     perfmap=1.85d1e0f4c5b6a790.4c!SQL:Executes:SELECT%201@query
 *
 * Nothing here needs the rest of the runtime. Any thread, signal handlers too. */
#ifndef PM_BAGGAGE_H
#define PM_BAGGAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PM_BAGGAGE_MAX_BYTES = 65536,  /* of a header; what comes after is not looked at */
    PM_BAGGAGE_MAX_SENTENCES = 64, /* of a member */
    PM_BAGGAGE_SENTENCES_BYTES = 2048,
    /* of a name, before it is encoded; longer ones are cut, and end with `...` */
    PM_BAGGAGE_NAME_BYTES = 192,
    PM_BAGGAGE_HEAD_BYTES = 8 + 2 + 16 + 1 + 8,
};

struct pm_baggage {
    uint64_t process;      /* pm_run_identity, not 0 */
    uint32_t place;        /* of the context in its run file / 64, not 0 */
    const char *sentences; /* each begins with `!`; within the text */
    size_t sentences_bytes;
};

/* The first member `perfmap` that is well formed, in a header with others, or alone. */
bool pm_baggage_find(const char *text, size_t bytes, struct pm_baggage *ret_baggage);
/* Whether one is there that is not well formed. */
bool pm_baggage_is_spoilt(const char *text, size_t bytes);

/* Text that is being written; what has no room leaves it as it was. */
struct pm_baggage_text {
    char *p;
    size_t n, room;
};
bool pm_baggage_put_head(struct pm_baggage_text *to, uint64_t process, uint32_t place);
bool pm_baggage_put_name(struct pm_baggage_text *to, char before, const char *name);
bool pm_baggage_put(struct pm_baggage_text *to, const char *bytes, size_t n);

#endif
