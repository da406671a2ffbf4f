/* What the child that reads an OTF2 trace (otf2_library.c) tells its parent (otf2_records.c). The
 * library trusts the files that it reads, so it runs in a process of its own; the parent trusts
 * neither.
 *
 * A record: 1 byte, a tag of the table; its numbers, 8 bytes each, little-endian, as many as the
 * table says; where the table says text, the last number is how many bytes follow. Definitions
 * come first, then RECORD_BEGIN and the events of a location, for each of them; RECORD_END or
 * RECORD_FAILED is the last. References are those of the trace; RECORD_NONE: there is none. */
#ifndef PM_IMPORT_OTF2_RECORDS_H
#define PM_IMPORT_OTF2_RECORDS_H

#include "../base/str.h"

#define RECORD_NONE UINT64_MAX

enum { RECORD_MAX_NUMBERS = 7, RECORD_MAX_TEXT = 1 << 20 };

/* TAG(name, letter, how many numbers, text follows) */
/* clang-format off */
#define RECORD_TAGS(TAG)                                                                           \
    TAG(CREATOR, 'A', 1, true)                                                                     \
    TAG(CLOCK, 'K', 3, false)     /* ticks a second, first tick, how many */                       \
    TAG(STRING, 'S', 2, true)     /* reference */                                                  \
    TAG(NODE, 'T', 4, false)      /* reference, name, class, parent */                             \
    TAG(GROUP, 'G', 4, false)     /* reference, name, is a process, node */                        \
    TAG(LOCATION, 'L', 4, false)  /* reference, name, has a stack, group */                        \
    TAG(RANK, 'W', 2, false)      /* rank among all of MPI, location */                            \
    TAG(REGION, 'R', 5, false)    /* reference, name, linkage name, file, line */                  \
    TAG(MEMBER, 'M', 7, false)    /* reference, name, description, unit, how, base, exponent */    \
    TAG(CLASS, 'C', 3, false)     /* reference, place from 0, metric there */                      \
    TAG(INSTANCE, 'I', 2, false)  /* reference, its class */                                       \
    TAG(BEGIN, 'B', 1, false)     /* location */                                                   \
    TAG(ENTER, '+', 2, false)     /* tick, region */                                               \
    TAG(LEAVE, '-', 2, false)     /* tick, region */                                               \
    TAG(VALUE, 'v', 5, false)     /* tick, class, place, kind, value */                            \
    TAG(SENT, 's', 3, false)      /* messages, bytes taken, bytes received */                      \
    TAG(OTHER, 'o', 1, false)     /* samples that have no stack of enters */                       \
    TAG(END, 'E', 0, false)                                                                        \
    TAG(FAILED, '!', 1, true)
/* clang-format on */

enum {
#define TAG(name, letter, n, has_text) RECORD_##name = letter,
    RECORD_TAGS(TAG)
#undef TAG
};

/* How values of a metric are to be taken. */
enum { RECORD_HOW_ACCUMULATED, RECORD_HOW_RELATIVE, RECORD_HOW_ABSOLUTE };
enum { RECORD_KIND_SIGNED, RECORD_KIND_UNSIGNED, RECORD_KIND_DOUBLE };

struct import;
struct import_input;

/* In the child: reads the trace and writes records to fd. */
void otf2_write_records(const char *path, int fd);
/* In the parent: im->in has the records. */
PM_MUST_CHECK enum pm_status otf2_read_records(struct import *im);

#endif
