/* JSON in pieces: a cursor over the bytes that are there, of which more may come.
 *
 *     struct import_json json = {text, text + len};
 *     if (import_json_enter(&json, '{'))
 *         while (import_json_key(&json, &key))
 *             if (pm_str_is(key, "name")) import_json_string(&json, &name);
 *             else import_json_skip(&json);
 *     if (json.is_cut) ...            // more bytes are needed: begin again with them
 *     else if (json.is_bad) ...       // it is no JSON at json.p
 *
 * Strings and numbers are as they stand in the text. Nothing is copied or trusted. */
#ifndef PM_IMPORT_JSON_H
#define PM_IMPORT_JSON_H

#include "../base/str.h"

struct import_json {
    const char *p, *end;
    bool is_cut, is_bad; /* either: all further reads fail */
};

bool import_json_enter(struct import_json *json, char bracket); /* '{' or '[' */
/* The next key of an object, whose value comes next; false at its end, which is passed. */
bool import_json_key(struct import_json *json, struct pm_str *ret_key);
/* Is there another item in the array? False at its end, which is passed. */
bool import_json_item(struct import_json *json);
/* Without quotes, with its escapes. */
bool import_json_string(struct import_json *json, struct pm_str *ret_text);
/* A string as above, or a number, true, false or null as it is written. */
bool import_json_scalar(struct import_json *json, struct pm_str *ret_text);
void import_json_skip(struct import_json *json); /* the next value, whatever it is */
char import_json_peek(struct import_json *json); /* its first character; 0: cut */
/* The text of a string with its escapes resolved; lent by buf where there were any. */
struct pm_str import_json_text(struct pm_str raw, struct pm_buf *buf);
/* "12.345" times 10^decimals, rounded; exponents too. False: no number, or too large. */
bool import_json_scaled(struct pm_str number, unsigned decimals, int64_t *ret_value);

#endif
