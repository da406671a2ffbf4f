/* The parts of the reader of headers: units (header_unit.c), which files are the header
 * (header_parts.c), functions and types (header.c). */
#ifndef PDT_HEADER_INTERNAL_H
#define PDT_HEADER_INTERNAL_H

#include "clang.h"
#include "header.h"

#include "mapping/base/str.h"

/* A file, each time that another one includes it. */
struct header_inclusion {
    char *path, *includer; /* owned; includer: NULL, the unit itself */
    bool is_root, is_part; /* root: it stands for the header, and parts are looked for around it */
};

struct header_reading {
    const struct pdt_clang *clang;
    const struct pdt_header_request *request;
    struct pdt_header *header;
    CXIndex index;
    CXTranslationUnit unit;
    struct header_inclusion *inclusions;
    uint32_t n_inclusions, cap_inclusions;
    bool is_cxx, failed; /* failed: memory */
};

/* --- header_unit.c --- */

/* The header as one unit, with what it needs in front of it. PM_ERR_FORMAT, PM_ERR_NOT_FOUND. */
PM_MUST_CHECK enum pm_status header_unit_open(struct header_reading *reading, struct pm_error *err);
void header_unit_close(struct header_reading *reading);

/* --- header_parts.c --- */

/* Which of the unit's files are the header. False: memory. */
PM_MUST_CHECK bool header_parts_read(struct header_reading *reading);
/* The header only includes others: they stand for it. False: it includes none. */
bool header_parts_widen(struct header_reading *reading);
bool header_parts_have(const struct header_reading *reading, const char *path);
void header_parts_release(struct header_reading *reading);

/* The caller frees. NULL: there is no such file, or memory. */
char *header_file_path(const struct pdt_clang *clang, CXFile file);
/* With its last slash. */
size_t header_folder_length(const char *path);

#endif
