/* Requests of HTTP/1.1, as a server for one's own browser needs them: GET and HEAD, without a body.
 *
 *     struct pm_http_request request;
 *     switch (pm_http_read(bytes, n, &request)) {
 *     case PM_HTTP_MORE: ...                      // not all of it is there yet
 *     case PM_HTTP_BAD: ...                       // no such request
 *     case PM_HTTP_DONE: use(request.path, request.host);
 *     }
 *
 * Nothing in the bytes is trusted: a request has at most PM_HTTP_MOST_BYTES, names of headers are
 * read in any case, and what is there twice (Host) or asks for a body is refused. RFC 9112.
 */
#ifndef PM_HTTP_H
#define PM_HTTP_H

#include "str.h"

enum { PM_HTTP_MOST_BYTES = 16384 };

enum pm_http_state { PM_HTTP_MORE, PM_HTTP_BAD, PM_HTTP_DONE };

/* Lent from the bytes. */
struct pm_http_request {
    bool is_head;       /* HEAD: the answer has no body */
    struct pm_str path; /* as it was sent, without query; begins with '/' */
    struct pm_str host; /* of header Host */
};

enum pm_http_state pm_http_read(const char *bytes, size_t n, struct pm_http_request *ret_request);

/* Of a path "/TOKEN/rest": the rest. false: another token. Takes as long for a wrong token as for
 * a right one. */
bool pm_http_after_token(struct pm_str path, const char *token, struct pm_str *ret_rest);

/* Adds to ret_text what percent signs of a part of a path stand for (RFC 3986). False, and
 * something may be added: it is no such text, or has zero bytes. */
bool pm_http_add_text(struct pm_str part, struct pm_buf *ret_text);

#endif
