/* A streaming JSON writer.
 *
 *     struct pm_json json;
 *     pm_json_init(&json, stdout);
 *     pm_json_object(&json, NULL);
 *     pm_json_string(&json, "name", "heat.c:42");
 *     pm_json_u64(&json, "n_calls", 3);
 *     pm_json_end(&json);
 *     if (!pm_json_done(&json)) ...        // write error or unbalanced
 *
 * `key` is NULL inside arrays and at the top. Strings may hold any bytes: what is not UTF-8 is
 * written as U+FFFD, and control characters are escaped. Numbers are never rounded: u64 and i64 are
 * written in full; a double that is not finite becomes null. Mistakes (no key in an object, a
 * second value at the top, too deep) set failed and are left out: what is written is JSON all the
 * same.
 */
#ifndef PM_JSON_H
#define PM_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { PM_JSON_MAX_DEPTH = 32 };

struct pm_json {
    FILE *out;
    int depth;
    int n_skipped; /* objects and arrays begun inside what had to be left out */
    bool has_item[PM_JSON_MAX_DEPTH + 1];
    bool is_array[PM_JSON_MAX_DEPTH + 1];
    bool failed;
    bool is_compact; /* no line ends and blanks between values: for what is large */
};

void pm_json_init(struct pm_json *json, FILE *out);
void pm_json_object(struct pm_json *json, const char *key);
void pm_json_array(struct pm_json *json, const char *key);
void pm_json_end(struct pm_json *json); /* the innermost object or array */
/* NULL value: null. */
void pm_json_string(struct pm_json *json, const char *key, const char *value);
void pm_json_string_n(struct pm_json *json, const char *key, const char *value, size_t len);
void pm_json_u64(struct pm_json *json, const char *key, uint64_t value);
void pm_json_i64(struct pm_json *json, const char *key, int64_t value);
/* value / 1000, with all of its decimals but zeros at the end. */
void pm_json_thousandths(struct pm_json *json, const char *key, uint64_t value);
void pm_json_double(struct pm_json *json, const char *key, double value);
void pm_json_bool(struct pm_json *json, const char *key, bool value);
void pm_json_null(struct pm_json *json, const char *key);
/* Ends the line; true when all was written and everything is closed. */
bool pm_json_done(struct pm_json *json);

#endif
