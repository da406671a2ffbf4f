/* Between the files of this folder: what a reader is given, and what it says of itself. */
#ifndef PM_IMPORT_READER_H
#define PM_IMPORT_READER_H

#include "import.h"
#include "input.h"

struct import {
    struct import_input *in; /* NULL: the format opens its files itself */
    const char *path;
    const struct pm_import_options *options;
    struct pm_import_sink *sink;
    struct pm_error *err;
};

enum { IMPORT_HEAD_BYTES = 4096 };

struct import_format {
    /* Does it begin so? head: up to IMPORT_HEAD_BYTES, unpacked; of a folder none. */
    bool (*is)(struct pm_str head, const char *path);
    enum pm_status (*read)(struct import *im);
    bool opens_itself;
};

enum pm_status import_no_memory(const struct import *im);

/* --- helpers of several readers --- */

uint64_t import_hash(const void *bytes, size_t len, uint64_t seed);

/* "12" and nothing else, also with blanks around it. */
bool import_number(struct pm_str text, uint64_t *ret_number);
bool import_hex(struct pm_str text, uint64_t *ret_number); /* with or without 0x */
struct pm_str import_trimmed(struct pm_str text);
bool import_begins(struct pm_str text, const char *with);
/* Up to the next blank, which is passed; "" at the end. */
struct pm_str import_word(struct pm_str *rest);
const char *import_base_name(const char *path);

/* The metric of values in a unit: ns, us, ms and s are cpu_ns, times ret_factor. */
enum pm_status import_unit_metric(struct import *im, const char *unit, uint32_t *ret_metric,
                                  uint64_t *ret_factor);
/* A metric's name: what is no letter, digit, '_', '-' or '.' becomes '_', and ':' a '.'. */
void import_metric_name(struct pm_str text, char *out, size_t max);
/* value * factor; an error when that is too large. */
enum pm_status import_scaled(struct import *im, uint64_t value, uint64_t factor,
                             uint64_t *ret_value);

#endif
