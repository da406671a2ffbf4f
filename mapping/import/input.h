/* The bytes of a file that is imported, one after the other: packed ones (gzip, zlib) unpacked, and
 * never more of it in memory than the longest line, or what was asked for.
 *
 *     struct import_input *in;
 *     if (import_input_open(path, &err, &in) != PM_OK) ...
 *     struct pm_str line;
 *     while (import_line(in, &line))
 *         use(line, import_line_no(in));
 *     status = import_input_status(in, &err);   // why it ended
 *     import_input_free(in);
 */
#ifndef PM_IMPORT_INPUT_H
#define PM_IMPORT_INPUT_H

#include "../base/str.h"

enum { IMPORT_MAX_TAKE = 64 << 20 }; /* the longest line, and the most that is had at once */

struct import_input;

/* A regular file, or a pipe that the user names. */
PM_MUST_CHECK enum pm_status import_input_open(const char *path, struct pm_error *err,
                                               struct import_input **ret_in);
/* The same of an open file, which is closed. name: for messages; lent. */
PM_MUST_CHECK enum pm_status import_input_of_fd(int fd, const char *name, struct pm_error *err,
                                                struct import_input **ret_in);
/* Bytes in memory; lent. */
PM_MUST_CHECK enum pm_status import_input_of_bytes(const char *name, const void *bytes, size_t len,
                                                   struct pm_error *err,
                                                   struct import_input **ret_in);
void import_input_free(struct import_input *in);

/* The next line, without its end; lent until the next call. False: there is none. */
bool import_line(struct import_input *in, struct pm_str *ret_line);
/* At least n of the bytes that come next, fewer only at the end; they stay. */
struct pm_str import_peek(struct import_input *in, size_t n);
/* The next n bytes. False: there are fewer, or n is too many. */
bool import_take(struct import_input *in, size_t n, struct pm_str *ret_bytes);
/* The next byte; -1 at the end. */
int import_byte(struct import_input *in);
/* All that is left, as one piece: -1 when that is more than IMPORT_MAX_TAKE. */
bool import_rest(struct import_input *in, struct pm_str *ret_bytes);

uint64_t import_line_no(const struct import_input *in);  /* of the last one, from 1 */
uint64_t import_position(const struct import_input *in); /* bytes before the next one, unpacked */
const char *import_name(const struct import_input *in);
/* PM_OK at the end and before it; else what kept it from being read. */
PM_MUST_CHECK enum pm_status import_input_status(const struct import_input *in,
                                                 struct pm_error *err);

/* "profile 'NAME' line N: ..." and "profile 'NAME' byte N: ...": the places where bad input is
 * told. */
enum pm_status import_refuse_line(const struct import_input *in, struct pm_error *err,
                                  enum pm_status status, const char *format, ...) PM_PRINTF(4, 5);
enum pm_status import_refuse_byte(const struct import_input *in, struct pm_error *err,
                                  enum pm_status status, const char *format, ...) PM_PRINTF(4, 5);
#define IMPORT_SHOWN(text) (int)((text).len < 60 ? (text).len : 60), (text).p

#endif
