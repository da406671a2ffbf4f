/* A writer of protocol buffers: fields of numbers, texts and messages.
 *
 *     struct pm_buf line = PM_BUF_INIT(1 << 20), location = PM_BUF_INIT(1 << 20);
 *     proto_u64(&line, 1, function_id);
 *     proto_u64(&location, 1, id);
 *     proto_message(&location, 4, &line);
 *     proto_write(out, 4, &location);      // a field of the outermost message, to a stream
 *
 * A field is its number and kind, then its value; https://protobuf.dev/programming-guides/encoding.
 * A zero is written as any other number. Failures of memory stay in the buffer.
 */
#ifndef PM_EXPORT_PROTO_H
#define PM_EXPORT_PROTO_H

#include "mapping/base/str.h"

#include <stdio.h>

void proto_u64(struct pm_buf *message, uint32_t field, uint64_t value);
void proto_i64(struct pm_buf *message, uint32_t field, int64_t value);
void proto_fixed64(struct pm_buf *message, uint32_t field, uint64_t value);
void proto_double(struct pm_buf *message, uint32_t field, double value);
void proto_bytes(struct pm_buf *message, uint32_t field, const void *bytes, size_t len);
void proto_text(struct pm_buf *message, uint32_t field, const char *text);
/* Adds what was built as a field, and empties it. */
void proto_message(struct pm_buf *message, uint32_t field, struct pm_buf *inner);
/* The same to a stream. False: the message is not whole, for memory ended. */
bool proto_write(FILE *out, uint32_t field, struct pm_buf *message);

#endif
