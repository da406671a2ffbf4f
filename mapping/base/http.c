/* Requests of HTTP/1.1 (http.h). */
#include "http.h"

#include <strings.h>

static bool is_token_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* The line at the cursor, which ends with CR LF. False: there is none. */
static bool take_line(const char **at, const char *end, struct pm_str *ret_line)
{
    const char *line_end = memmem(*at, (size_t)(end - *at), "\r\n", 2);
    if (!line_end)
        return false;
    *ret_line = (struct pm_str){*at, (size_t)(line_end - *at)};
    *at = line_end + 2;
    return true;
}

static bool is_printable(struct pm_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.p[i] <= ' ' || (unsigned char)text.p[i] >= 0x7f)
            return false;
    return true;
}

/* "GET /path?query HTTP/1.1" */
static bool read_request_line(struct pm_str line, struct pm_http_request *request)
{
    const char *space = memchr(line.p, ' ', line.len);
    if (!space)
        return false;
    struct pm_str method = {line.p, (size_t)(space - line.p)};
    struct pm_str rest = {space + 1, line.len - method.len - 1};
    const char *second = memchr(rest.p, ' ', rest.len);
    if (!second)
        return false;
    struct pm_str target = {rest.p, (size_t)(second - rest.p)};
    struct pm_str version = {second + 1, rest.len - target.len - 1};
    request->is_head = pm_str_is(method, "HEAD");
    if (!request->is_head && !pm_str_is(method, "GET"))
        return false;
    if (!pm_str_is(version, "HTTP/1.1") && !pm_str_is(version, "HTTP/1.0"))
        return false;
    if (target.len == 0 || *target.p != '/' || !is_printable(target))
        return false;
    const char *query = memchr(target.p, '?', target.len);
    request->path = (struct pm_str){target.p, query ? (size_t)(query - target.p) : target.len};
    return true;
}

static bool is_name(struct pm_str name, const char *text)
{
    return name.len == strlen(text) && !strncasecmp(name.p, text, name.len);
}

static struct pm_str trimmed(struct pm_str text)
{
    while (text.len && (*text.p == ' ' || *text.p == '\t')) {
        text.p++;
        text.len--;
    }
    while (text.len && (text.p[text.len - 1] == ' ' || text.p[text.len - 1] == '\t'))
        text.len--;
    return text;
}

/* A body is none of ours: what follows would be read as another request. */
static bool read_header(struct pm_str line, struct pm_http_request *request)
{
    const char *colon = memchr(line.p, ':', line.len);
    if (!colon || colon == line.p)
        return false;
    struct pm_str name = {line.p, (size_t)(colon - line.p)};
    struct pm_str value = trimmed((struct pm_str){colon + 1, line.len - name.len - 1});
    for (size_t i = 0; i < name.len; i++)
        if (!is_token_char(name.p[i]))
            return false;
    if (is_name(name, "transfer-encoding"))
        return false;
    if (is_name(name, "content-length"))
        return pm_str_is(value, "0");
    if (!is_name(name, "host"))
        return true;
    if (request->host.p)
        return false;
    request->host = value;
    return is_printable(value);
}

static enum pm_http_state read_lines(const char *bytes, const char *end,
                                     struct pm_http_request *request)
{
    struct pm_str line;
    const char *at = bytes;
    if (!take_line(&at, end, &line))
        return PM_HTTP_MORE;
    if (!read_request_line(line, request))
        return PM_HTTP_BAD;
    while (take_line(&at, end, &line)) {
        if (line.len == 0)
            return request->host.p ? PM_HTTP_DONE : PM_HTTP_BAD;
        if (!read_header(line, request))
            return PM_HTTP_BAD;
    }
    return PM_HTTP_MORE;
}

enum pm_http_state pm_http_read(const char *bytes, size_t n, struct pm_http_request *ret_request)
{
    struct pm_http_request request = {0};
    enum pm_http_state state = read_lines(bytes, bytes + n, &request);
    if (state == PM_HTTP_MORE && n >= PM_HTTP_MOST_BYTES)
        return PM_HTTP_BAD;
    if (state == PM_HTTP_DONE)
        *ret_request = request;
    return state;
}

bool pm_http_after_token(struct pm_str path, const char *token, struct pm_str *ret_rest)
{
    size_t len = strlen(token);
    unsigned char differs = 0;
    if (path.len < len + 2 || path.p[len + 1] != '/')
        return false;
    for (size_t i = 0; i < len; i++)
        differs |= (unsigned char)(path.p[i + 1] ^ token[i]);
    *ret_rest = (struct pm_str){path.p + len + 2, path.len - len - 2};
    return differs == 0;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    char small = (char)(c | 0x20);
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

bool pm_http_add_text(struct pm_str part, struct pm_buf *ret_text)
{
    for (size_t i = 0; i < part.len; i++) {
        int byte = (unsigned char)part.p[i];
        if (byte == '%') {
            int high = part.len - i > 2 ? digit_of(part.p[i + 1]) : -1;
            int low = high >= 0 ? digit_of(part.p[i + 2]) : -1;
            byte = low >= 0 ? 16 * high + low : 0;
            i += 2;
        }
        if (byte == 0)
            return false;
        pm_buf_add_byte(ret_text, (unsigned char)byte);
    }
    return !ret_text->failed;
}
