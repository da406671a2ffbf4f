/* Requests of HTTP, as anybody on the machine may send them to `perfmap view`. */
#include "mapping/base/http.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void touch(struct pm_str text)
{
    volatile char last = 0;
    for (size_t i = 0; i < text.len; i++)
        last = text.p[i];
    (void)last;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* As it comes: in pieces, and each of them without anything behind it. */
    char *bytes = malloc(size ? size : 1);
    struct pm_http_request request;
    if (!bytes)
        return 0;
    if (size)
        memcpy(bytes, data, size);
    enum pm_http_state before = PM_HTTP_MORE;
    for (size_t n = 0; n <= size; n += 1 + n / 3) {
        enum pm_http_state state = pm_http_read(bytes, n, &request);
        if (before != PM_HTTP_MORE && state != before)
            abort(); /* more bytes change nothing */
        before = state;
    }
    if (pm_http_read(bytes, size, &request) == PM_HTTP_DONE) {
        struct pm_str rest;
        touch(request.path);
        touch(request.host);
        struct pm_buf text = PM_BUF_INIT(PM_HTTP_MOST_BYTES);
        if (pm_http_after_token(request.path, "0123456789abcdef", &rest))
            touch(rest);
        if (pm_http_add_text(request.path, &text) && text.len > request.path.len)
            abort(); /* what it stands for is not longer */
        pm_buf_release(&text);
    }
    free(bytes);
    return 0;
}
