#include "export_proto.h"

enum kind { VARINT = 0, FIXED64 = 1, BYTES = 2 };

static void add_key(struct pm_buf *message, uint32_t field, enum kind kind)
{
    pm_buf_add_uleb(message, (uint64_t)field << 3 | (uint64_t)kind);
}

void proto_u64(struct pm_buf *message, uint32_t field, uint64_t value)
{
    add_key(message, field, VARINT);
    pm_buf_add_uleb(message, value);
}

void proto_i64(struct pm_buf *message, uint32_t field, int64_t value)
{
    proto_u64(message, field, (uint64_t)value);
}

void proto_fixed64(struct pm_buf *message, uint32_t field, uint64_t value)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
    add_key(message, field, FIXED64);
    pm_buf_add(message, bytes, sizeof bytes);
}

void proto_double(struct pm_buf *message, uint32_t field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    proto_fixed64(message, field, bits);
}

void proto_bytes(struct pm_buf *message, uint32_t field, const void *bytes, size_t len)
{
    add_key(message, field, BYTES);
    pm_buf_add_uleb(message, len);
    pm_buf_add(message, bytes, len);
}

void proto_text(struct pm_buf *message, uint32_t field, const char *text)
{
    proto_bytes(message, field, text, strlen(text));
}

void proto_message(struct pm_buf *message, uint32_t field, struct pm_buf *inner)
{
    proto_bytes(message, field, inner->data, inner->len);
    message->failed |= inner->failed;
    pm_buf_clear(inner);
}

bool proto_write(FILE *out, uint32_t field, struct pm_buf *message)
{
    unsigned char head[20];
    size_t n = 0;
    uint64_t parts[] = {(uint64_t)field << 3 | BYTES, message->len};
    bool is_whole = !message->failed;
    for (size_t i = 0; i < 2; i++)
        for (uint64_t rest = parts[i], more = 1; more; rest >>= 7) {
            more = rest > 0x7f;
            head[n++] = (unsigned char)((rest & 0x7f) | (more ? 0x80 : 0));
        }
    fwrite_unlocked(head, 1, n, out);
    if (message->len)
        fwrite_unlocked(message->data, 1, message->len, out);
    pm_buf_clear(message);
    return is_whole;
}
