/* The server of `perfmap view`: the page and its chunks, for this machine's browser.
 *
 *     struct view_server server;
 *     if (view_server_open(page, 0, &err, &server) == PM_OK) {
 *         puts(server.address);
 *         status = view_server_run(&server, &err);     // until a byte comes through wake[1]
 *         view_server_close(&server);
 *     }
 *
 * It listens on 127.0.0.1 only. Requests must name it as host, so that no page of another name that
 * leads here can ask, and their path must begin with the token. A connection has one request.
 * One thread.
 */
#ifndef PM_VIEW_SERVER_H
#define PM_VIEW_SERVER_H

#include "cmd/show/html.h"
#include "cmd/show/page_timeline.h"

enum { VIEW_TOKEN_BYTES = 16, VIEW_MAX_CONNECTIONS = 64, VIEW_MAX_PARTS = 4 };

struct view_connection;

/* A part of the run that was asked for: "FROM-TO" in ns. */
struct view_part {
    char name[48], from[24], to[24];
    struct show_page *page; /* NULL: free */
    uint64_t used;          /* the largest one was used last */
};

struct view_server {
    struct show_page *page;
    struct show_timeline *timeline; /* opened when it is asked for */
    struct pm_buf *chunks;          /* [show_page_n_chunks], made when they are asked for */
    struct view_part parts[VIEW_MAX_PARTS];
    uint64_t n_used;
    struct pm_buf html;
    struct view_connection *connections;
    uint32_t n_connections;
    int fd, wake[2];
    uint16_t port;
    char token[2 * VIEW_TOKEN_BYTES + 1];
    char address[96];
};

/* port: 0 any. Errors: PM_ERR_SYSTEM, as of a port in use; PM_ERR_MEMORY. */
PM_MUST_CHECK enum pm_status view_server_open(struct show_page *page, uint16_t port,
                                              struct pm_error *err, struct view_server *ret_server);
PM_MUST_CHECK enum pm_status view_server_run(struct view_server *server, struct pm_error *err);
void view_server_close(struct view_server *server);

#endif
